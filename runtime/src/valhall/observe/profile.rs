//! Execution counts of instructions, by lanes, and their memory traffic.

use std::ops::ControlFlow;

use isaforge_valhall::{Instruction, Opcode};

use super::{Moment, Observer};
use crate::observe::{Profile, Terms, Traffic};
use crate::valhall::warp::LANES;

/// The bytes that one lane moves with an instruction.
pub fn traffic(instruction: Instruction) -> Traffic {
    let (read, written) = match instruction.opcode() {
        Opcode::LoadI8 | Opcode::LdBufferI8 => (1, 0),
        Opcode::LoadI16 | Opcode::LdBufferI16 => (2, 0),
        Opcode::LoadI24 | Opcode::LdBufferI24 => (3, 0),
        Opcode::LoadI32 | Opcode::LdBufferI32 => (4, 0),
        Opcode::LoadI48 | Opcode::LdBufferI48 => (6, 0),
        Opcode::LoadI64 | Opcode::LdBufferI64 => (8, 0),
        Opcode::LoadI96 | Opcode::LdBufferI96 => (12, 0),
        Opcode::LoadI128 | Opcode::LdBufferI128 => (16, 0),
        Opcode::StoreI8 => (0, 1),
        Opcode::StoreI16 => (0, 2),
        Opcode::StoreI24 => (0, 3),
        Opcode::StoreI32 => (0, 4),
        Opcode::StoreI48 => (0, 6),
        Opcode::StoreI64 => (0, 8),
        Opcode::StoreI96 => (0, 12),
        Opcode::StoreI128 => (0, 16),
        Opcode::AtomI32 | Opcode::AtomReturnI32 | Opcode::Atom1ReturnI32 => (4, 4),
        Opcode::AtomI64 | Opcode::AtomReturnI64 | Opcode::Atom1ReturnI64 => (8, 8),
        _ => (0, 0),
    };
    Traffic { read, written }
}

/// The machine's terminology.
pub const TERMS: Terms = Terms { instruction: "instruction", step: "instruction", thread: "thread", warp: "warp" };

/// Creates a profile of Valhall's instructions.
pub fn profile() -> Profile {
    Profile::new(Opcode::ALL.iter().map(|opcode| opcode.mnemonic()), LANES, TERMS)
}

impl Observer for Profile {
    fn after(&mut self, moment: &Moment<'_>) -> ControlFlow<()> {
        let (lanes, instruction) = (moment.lanes.count(), moment.instruction);
        self.count(instruction.opcode() as usize, 1, lanes, traffic(instruction).times(lanes.into()));
        self.occupy(lanes);
        ControlFlow::Continue(())
    }
}
