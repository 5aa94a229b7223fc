//! The operands of an operation in a group: which of them it reads, and which it writes.

use isaforge_core::group::GroupIsa;
use isaforge_core::group::table::{OperandKind, Operation, Token};
use isaforge_core::semantics::{Node, Op};

/// An operand that an operation reads or writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    /// Its name in the specification. A role is a different operand in each slot: their names, with `/` between them.
    pub name: String,
    /// Whether it is written.
    pub writes: bool,
}

/// The operands of an operation in the order of its syntax. `slots` are the slots that may contain it, and `graph` is
/// what it does, if that is known.
pub fn operands(isa: &'static GroupIsa, operation: &Operation, slots: &[usize], graph: &[Node]) -> Vec<Used> {
    // Graphs number roles after the operands, sorted by name.
    let mut roles: Vec<&str> = isa.slots.iter().flat_map(|slot| slot.roles).map(|(name, _)| *name).collect();
    roles.sort_unstable();
    roles.dedup();
    let does = |op: Op, number: usize| graph.iter().any(|node| node.op == op && usize::from(node.args[0]) == number);
    let used = |token: &Token| {
        let (number, found): (usize, Vec<u8>) = match *token {
            Token::Operand(index) => (index.into(), vec![index]),
            Token::Role(role) => {
                let of_slot = |slot: &usize| isa.slots.get(*slot)?.roles.iter().find(|(name, _)| *name == role);
                let found = slots.iter().filter_map(of_slot).map(|(_, index)| *index).collect();
                (isa.operands.len() + roles.iter().position(|name| *name == role)?, found)
            }
            _ => return None,
        };
        let first = usize::from(*found.first()?);
        let stated = operation.writes >> (first & 63) & 1 != 0;
        let writes = stated || is_result(isa, first, MAX_DEPTH) || does(Op::Write, number);
        // A wire that the operation does not use only distinguishes texts.
        let is_wire = matches!(isa.operands.get(first)?.kind, OperandKind::Wire(_));
        if is_wire && !writes && !does(Op::Operand, number) {
            return None;
        }
        let mut names: Vec<&str> = Vec::new();
        for index in found {
            let name = isa.operands.get(usize::from(index))?.name;
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Some(Used { name: names.join("/"), writes })
    };
    operation.syntax.iter().filter_map(used).collect()
}

/// Selected operands may be selections themselves, up to this depth.
const MAX_DEPTH: u32 = 8;

/// Whether an operand is a register for results, which has several possible places.
fn is_result(isa: &GroupIsa, index: usize, depth: u32) -> bool {
    match isa.operands.get(index).map(|operand| &operand.kind) {
        Some(OperandKind::Register(places)) => places.len() > 1,
        Some(OperandKind::Select { options, .. }) if depth > 0 && !options.is_empty() => {
            options.iter().all(|(_, option)| is_result(isa, usize::from(*option), depth - 1))
        }
        _ => false,
    }
}
