//! What an observer sees of a group.

use crate::machine::{Access, At, Register, View};
use crate::vpu::group::{Group, row, word};
use crate::vpu::memory::Memory;
use crate::vpu::world::World;

/// A group at an instruction.
pub(crate) struct Seen<'a> {
    pub group: &'a Group,
    pub world: &'a World,
    pub memory: &'a Memory,
    pub core: usize,
    pub pc: u16,
    pub accesses: &'a [Access],
}

impl View for Seen<'_> {
    fn at(&self) -> At {
        let Group { serial, living, active, .. } = *self.group;
        let warp = (self.core as u64) << 48 | serial;
        At { warp, pc: self.pc.into(), live: living.into(), active: (active & living).into() }
    }

    fn origin(&self) -> String {
        format!("core {} group {} at ({},{})", self.core, self.group.serial, self.group.x, self.group.y)
    }

    fn thread(&self, lane: usize) -> [u32; 3] {
        [u32::from(self.group.x) + lane as u32, self.group.y.into(), 0]
    }

    fn read(&self, register: Register, lane: usize) -> Option<u64> {
        let number = register.index as u16;
        match register.bank {
            0 => self.group.row(row::LOCAL + number).get(lane).copied(),
            1 => self.group.row(row::SHARED + number).first().copied(),
            2 => Some(word(*self.world.banks.get(usize::from(self.group.bank))?.get(usize::from(number))?)),
            _ => self.group.flags_by_thread().get(lane).map(|flags| u64::from(*flags)),
        }
    }

    fn memory(&self, _: usize, address: u64, into: &mut [u8]) -> Option<()> {
        read(self.memory, address, into)
    }

    fn accesses(&self) -> &[Access] {
        self.accesses
    }
}

/// Fills `into` from memory. `None` if the address is past its end.
pub(crate) fn read(memory: &Memory, address: u64, into: &mut [u8]) -> Option<()> {
    let address = usize::try_from(address).ok().filter(|address| *address < memory.len())?;
    into.copy_from_slice(&memory.read(address, into.len()));
    Some(())
}
