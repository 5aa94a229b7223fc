//! Execution counts of instructions, by lanes, and their memory traffic.

use std::ops::ControlFlow;

use isaforge_valhall::Opcode;

use super::{Moment, Observer};
use crate::machine::{Access, AccessKind};
use crate::observe::{Profile, Terms, Traffic};
use crate::valhall::warp::LANES;

/// The machine's terminology.
pub const TERMS: Terms = Terms { instruction: "instruction", step: "instruction", thread: "thread", warp: "warp" };

/// Creates a profile of Valhall's instructions.
pub fn profile() -> Profile {
    Profile::new(Opcode::ALL.iter().map(|opcode| opcode.mnemonic()), LANES, TERMS)
}

impl Observer for Profile {
    fn after(&mut self, moment: &Moment<'_>) -> ControlFlow<()> {
        let lanes = moment.lanes.count();
        if let Some(instruction) = moment.instruction {
            self.count(instruction.opcode() as usize, 1, lanes, traffic(moment.accesses));
        }
        self.occupy(lanes);
        ControlFlow::Continue(())
    }
}

/// The bytes that accesses read and write.
fn traffic(accesses: &[Access]) -> Traffic {
    let mut traffic = Traffic::default();
    for access in accesses {
        let bytes = u64::from(access.size);
        traffic.read += if access.kind == AccessKind::Store { 0 } else { bytes };
        traffic.written += if access.kind == AccessKind::Load { 0 } else { bytes };
    }
    traffic
}
