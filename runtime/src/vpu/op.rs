//! Instructions ready to run: the text of a word's instruction, folded to a shape, and where its operands are.

use isaforge_core::semantics::{self, Shape, instantiate};
use isaforge_core::table::{self, Type};
use isaforge_vpu::semantics::SEMANTICS;
use isaforge_vpu::{ISA, decode};

use crate::vpu::error::Wait;

/// Where an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A register of the thread.
    Local(u8),
    /// A register of the group.
    Shared(u8),
    /// Read: a register of the group's bank. Written: one of the bank of the group being prepared.
    Global(u8),
    /// In the word.
    Number(u64),
    /// Nowhere: only its fields count.
    Nowhere,
}

/// An instruction ready to run.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub shape: Shape,
    pub places: Vec<Place>,
    /// What it may have to wait for.
    pub waits: Option<Wait>,
    /// Masked threads execute it, too.
    pub unmasks: bool,
    /// It may end threads.
    pub ends: bool,
    /// Its result goes to the group being prepared.
    pub spawns: bool,
}

impl Op {
    /// A word as it runs; `None` if it is no instruction.
    pub(crate) fn new(word: u64) -> Option<Op> {
        let opcode = decode(word).ok()?.opcode() as usize;
        let form = &ISA.forms[opcode];
        let operation = SEMANTICS.operations.get(opcode)?;
        let modifier = |index: u16| {
            let modifier = operation.modifiers.get(usize::from(index));
            modifier.map_or(0, |modifier| modifier.bits(ISA, form, word))
        };
        let places: Vec<Place> = form.operands.iter().map(|operand| place(operand, word)).collect();
        let written = |(operand, place): (&table::Operand, &Place)| {
            operand.access == table::Access::Write && matches!(place, Place::Global(_))
        };
        let shape = instantiate(SEMANTICS, operation, modifier);
        Some(Op {
            ends: shape.nodes.iter().any(|node| node.op == semantics::Op::End),
            shape,
            waits: operation.intrinsics.iter().find_map(|intrinsic| waits(*intrinsic)),
            unmasks: operation.intrinsics.contains(&name::UNMASK),
            spawns: form.operands.iter().zip(&places).any(written),
            places,
        })
    }
}

fn waits(intrinsic: u16) -> Option<Wait> {
    match intrinsic {
        name::LOCK => Some(Wait::Lock),
        name::WAIT_FOR_RESULT => Some(Wait::Memory),
        name::ALLOCATE => Some(Wait::Bank),
        name::LAUNCH => Some(Wait::Queue),
        _ => None,
    }
}

fn place(operand: &table::Operand, word: u64) -> Place {
    match operand.shape {
        table::Shape::One { kind, at } => {
            let fits = |a: &&table::Alternative| word >> at & a.mask == a.value;
            let reading = ISA.kinds[usize::from(kind)].alternatives.iter().find(fits);
            let register = reading.into_iter().flat_map(|reading| reading.fields).find_map(|field| match field.ty {
                Type::Register(bank) => Some((ISA.banks[usize::from(bank)].name, field.bits.get(word, at) as u8)),
                _ => None,
            });
            match register {
                Some(("local", index)) => Place::Local(index & 15),
                Some(("shared", index)) => Place::Shared(index & 15),
                Some((_, index)) => Place::Global(index & 31),
                None => Place::Nowhere,
            }
        }
        table::Shape::Number { bits, .. } => Place::Number(bits.get(word, 0)),
        table::Shape::List { .. } => Place::Nowhere,
    }
}

/// The numbers of what the specification names; a name that it does not have is an error of compilation.
pub(crate) mod name {
    use isaforge_vpu::semantics::SEMANTICS;

    const fn same(a: &str, b: &str) -> bool {
        let (a, b) = (a.as_bytes(), b.as_bytes());
        let mut i = 0;
        while i < a.len() && i < b.len() && a[i] == b[i] {
            i += 1;
        }
        i == a.len() && i == b.len()
    }

    macro_rules! numbers {
        ($list:ident, $found:ident => $name:expr; $($constant:ident = $text:literal),* $(,)?) => {
            $(pub(crate) const $constant: u16 = {
                let mut i = 0;
                while {
                    let $found = &SEMANTICS.$list[i];
                    !same($name, $text)
                } {
                    i += 1;
                }
                i as u16
            };)*
        };
    }

    numbers! { states, state => state.name;
    FLAG = "flag", POSITION = "position", TILE_SIZE = "tile_size", PENDING = "pending", RESULT = "result" }
    numbers! { spaces, space => space; EXTERNAL = "external", TILE = "tile", PALETTE = "palette" }
    numbers! { intrinsics, intrinsic => intrinsic.name;
    UNMASK = "unmask", LOCK = "lock", UNLOCK = "unlock", WAIT_FOR_RESULT = "wait_for_result",
    ALLOCATE = "allocate", LAUNCH = "launch" }
}
