//! Texts with one operator replaced by another, which the recorded results must distinguish from the correct ones.

use isaforge_core::semantics::{Comparison, Node, Op, Operation, Semantics};
use isaforge_valhall::ISA;
use isaforge_valhall::semantics::SEMANTICS;

use super::{Engine, Valhall, split};
use crate::file::{Answer, Group};
use crate::set::groups;

/// The maximum number of operators of an instruction that are replaced, one at a time.
const MUTANTS: usize = 6;

impl Valhall {
    /// Returns the first case of an instruction whose result with other semantics differs from the recorded one.
    fn first_difference(&mut self, semantics: &'static Semantics, group: &Group) -> Option<usize> {
        group.inputs.iter().zip(&group.answers).position(|(input, answer)| {
            let (word, state) = split(input);
            let found = self.execute(Engine::Texts(semantics), word, state).0;
            match answer {
                Answer::Full(expected) => *expected != found,
                Answer::Hash(hash) => *hash != found.hash(),
            }
        })
    }
}

/// Breaks every `every`-th instruction in several ways, and checks how many of them the recorded results detect.
pub fn check(valhall: &mut Valhall, every: usize) {
    let groups = groups::<Valhall>();
    let (mut broken, mut noticed) = (0, 0);
    let mut silent = vec![];
    for (number, group) in groups.iter().enumerate().filter(|(number, _)| number % every == 0) {
        let opcode = ISA.forms.iter().position(|form| form.name.str == group.name).expect("a group is an instruction");
        let mutants = mutants(&SEMANTICS.operations[opcode]);
        if mutants.is_empty() {
            continue;
        }
        assert_eq!(valhall.first_difference(SEMANTICS, group), None, "{} as it is", group.name);
        let (count, mut found) = (mutants.len(), 0);
        // An instruction that is not broken has no differences.
        let other = &groups[(number + 1) % groups.len()];
        for nodes in mutants {
            let semantics = with(opcode, nodes);
            assert_eq!(valhall.first_difference(semantics, other), None, "{}, with {} broken", other.name, group.name);
            found += usize::from(valhall.first_difference(semantics, group).is_some());
        }
        broken += count;
        noticed += found;
        if found == 0 {
            silent.push(group.name.as_str());
        }
    }
    println!("{noticed} of {broken} exchanged operators were noticed");
    assert!(broken > 0 && silent.is_empty(), "nobody notices when these are broken: {silent:?}");
}

/// Variants of the graph of an operation with one operator replaced.
fn mutants(operation: &Operation) -> Vec<Vec<Node>> {
    let candidates: Vec<(usize, Node)> =
        operation.nodes.iter().enumerate().filter_map(|(at, node)| Some((at, exchanged(*node)?))).collect();
    let step = candidates.len().div_ceil(MUTANTS).max(1);
    let mutant = |(at, node): &(usize, Node)| {
        let mut nodes = operation.nodes.to_vec();
        nodes[*at] = *node;
        nodes
    };
    // The last operators are those of the instruction itself, the first ones those of reading its operands.
    candidates.iter().rev().step_by(step).map(mutant).collect()
}

/// Returns a node with another operator of the same types.
fn exchanged(node: Node) -> Option<Node> {
    let [a, b, c, d] = node.args;
    let with = |op: Op| Some(Node { op, ..node });
    match node.op {
        Op::Add | Op::Mul => with(Op::Sub),
        Op::Sub => with(Op::Add),
        Op::And => with(Op::Or),
        Op::Or | Op::Xor => with(Op::And),
        Op::Shl => with(Op::Shr),
        Op::Shr => with(Op::Shl),
        Op::Min => with(Op::Max),
        Op::Max => with(Op::Min),
        Op::AddSat | Op::MulSat => with(Op::SubSat),
        Op::SubSat => with(Op::AddSat),
        Op::AddHalf => with(Op::AddHalfUp),
        Op::AddHalfUp => with(Op::AddHalf),
        Op::Neg => with(Op::Abs),
        Op::Abs => with(Op::Neg),
        Op::LeadingZeros | Op::ReverseBits => with(Op::CountOnes),
        Op::CountOnes => with(Op::LeadingZeros),
        Op::Zext => with(Op::Sext),
        Op::Sext => with(Op::Zext),
        Op::Fma => Some(Node { args: [c, b, a, d], ..node }),
        Op::Div | Op::Concat => Some(Node { args: [b, a, c, d], ..node }),
        Op::Select => Some(Node { args: [a, c, b, d], ..node }),
        Op::Compare => {
            let other = match Comparison::ALL.get(usize::from(node.imm))? {
                Comparison::Equal => Comparison::NotEqual,
                Comparison::Less => Comparison::LessEqual,
                Comparison::LessEqual => Comparison::Less,
                _ => Comparison::Equal,
            };
            Some(Node { imm: other as u16, ..node })
        }
        // The next rounding mode.
        Op::Convert | Op::RoundIntegral | Op::Ldexp | Op::FmaScaled => Some(Node { imm: (node.imm + 1) % 4, ..node }),
        _ => None,
    }
}

/// The semantics of the specification, with another graph for one instruction.
fn with(opcode: usize, nodes: Vec<Node>) -> &'static Semantics {
    let mut operations = SEMANTICS.operations.to_vec();
    operations[opcode].nodes = nodes.leak();
    Box::leak(Box::new(Semantics { operations: operations.leak(), ..*SEMANTICS }))
}
