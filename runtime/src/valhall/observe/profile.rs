//! What is executed how often, on how many lanes, and how much memory it moves.

use std::ops::{AddAssign, ControlFlow};

use isaforge_valhall::{Instruction, Opcode};

use super::{Moment, Observer};
use crate::valhall::warp::LANES;

/// Bytes moved between registers and memory. An atomic moves its word both ways. What the texture, varying and attribute
/// units and the framebuffer move is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// From memory.
    pub read: u64,
    /// To memory.
    pub written: u64,
}

impl Traffic {
    /// What one lane moves with an instruction.
    pub fn of(instruction: Instruction) -> Self {
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

    /// The same, so many times.
    pub fn times(self, count: u64) -> Self {
        Traffic { read: self.read * count, written: self.written * count }
    }
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Traffic) {
        self.read += other.read;
        self.written += other.written;
    }
}

/// What was seen of one instruction of the instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name.
    pub mnemonic: &'static str,
    /// How often warps executed it.
    pub warps: u64,
    /// How often threads did.
    pub threads: u64,
    /// What it moved.
    pub traffic: Traffic,
}

/// Counts instructions, lanes and bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// By opcode: warps, threads, bytes.
    opcodes: Vec<(u64, u64, Traffic)>,
    /// Warp instructions by the number of lanes that took part; index 0 stays 0.
    pub occupancy: [u64; LANES + 1],
}

impl Default for Profile {
    fn default() -> Self {
        Profile { opcodes: vec![Default::default(); Opcode::COUNT], occupancy: [0; LANES + 1] }
    }
}

impl Profile {
    /// Everything that was executed, what most threads did first.
    pub fn rows(&self) -> Vec<Row> {
        let row = |(opcode, &(warps, threads, traffic)): (&Opcode, &(u64, u64, Traffic))| Row {
            mnemonic: opcode.mnemonic(),
            warps,
            threads,
            traffic,
        };
        let mut rows: Vec<Row> = Opcode::ALL.iter().zip(&self.opcodes).map(row).filter(|row| row.warps > 0).collect();
        rows.sort_by(|a, b| b.threads.cmp(&a.threads).then(a.mnemonic.cmp(b.mnemonic)));
        rows
    }

    /// All rows added up.
    pub fn total(&self) -> Row {
        let mut total = Row { mnemonic: "all", warps: 0, threads: 0, traffic: Traffic::default() };
        for (warps, threads, traffic) in &self.opcodes {
            total.warps += warps;
            total.threads += threads;
            total.traffic += *traffic;
        }
        total
    }
}

impl Observer for Profile {
    fn after(&mut self, moment: &Moment<'_>) -> ControlFlow<()> {
        let lanes = moment.lanes.count();
        // An opcode is an index below `COUNT`, and there are at most `LANES` lanes.
        let (warps, threads, traffic) = &mut self.opcodes[moment.instruction.opcode() as usize];
        *warps += 1;
        *threads += u64::from(lanes);
        *traffic += Traffic::of(moment.instruction).times(lanes.into());
        self.occupancy[lanes as usize] += 1;
        ControlFlow::Continue(())
    }
}
