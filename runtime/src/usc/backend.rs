//! Backend operations: the requests of a group to the units around the ALUs.

use isaforge_usc::Backend;

use crate::machine::AccessKind;
use crate::usc::error::Trap;
use crate::usc::exec::Cpu;
use crate::usc::host::{Host, Instance};
use crate::usc::lanes::Mask;
use crate::usc::register::Register;
use crate::usc::sample::Iteration;

/// The number of words of a texture's or a sampler's state.
const STATE: u16 = 4;

impl<H: Host> Cpu<'_, H> {
    pub(super) fn who(&self, instance: usize) -> Instance {
        Instance { task: self.number, instance }
    }

    /// Returns the register `by` places after the one that a source names, for one instance.
    pub(super) fn nth(&self, register: Register, by: u32, instance: usize) -> Result<Register, Trap> {
        let register = u16::try_from(by).ok().and_then(|by| register.plus(by)).ok_or(Trap::Burst(by))?;
        self.resolve(register, instance)
    }

    pub(super) fn take(&self, register: Register, by: u32, instance: usize) -> Result<u32, Trap> {
        Ok(self.read_one(self.nth(register, by, instance)?, instance))
    }

    pub(super) fn give(&mut self, register: Register, by: u32, instance: usize, value: u32) -> Result<(), Trap> {
        let register = self.nth(register, by, instance)?;
        if !register.is_writable() {
            return Err(Trap::Fixed);
        }
        self.write_one(register, instance, value);
        Ok(())
    }

    pub(super) fn take_state(&self, register: Register, instance: usize) -> Result<[u32; 4], Trap> {
        let mut state = [0; STATE as usize];
        for (i, word) in state.iter_mut().enumerate() {
            *word = self.take(register, i as u32, instance)?;
        }
        Ok(state)
    }

    /// Iterates values as a backend operation specifies.
    pub(super) fn iterate_values(
        &mut self,
        op: &Backend,
        to: Register,
        planes: Register,
        w: Option<Register>,
        active: Mask,
    ) -> Result<(), Trap> {
        let iteration = Iteration {
            to,
            planes,
            w,
            count: op.count,
            mode: op.iter_mode,
            perspective: op.p,
            saturate: op.sat,
            half: false,
        };
        self.iterate(&iteration, active)
    }

    /// Loads words into consecutive registers.
    pub(super) fn load(&mut self, address: u64, to: Register, count: u32, i: usize) -> Result<(), Trap> {
        let mut bytes = vec![0; count as usize * 4];
        self.host.load(address, &mut bytes).map_err(|fault| Trap::Memory { instance: i, fault })?;
        self.access(AccessKind::Load, i, address, bytes.len(), None);
        self.traffic.read += bytes.len() as u64;
        for (n, word) in bytes.chunks_exact(4).enumerate() {
            self.give(to, n as u32, i, u32::from_le_bytes([word[0], word[1], word[2], word[3]]))?;
        }
        Ok(())
    }

    /// Stores the low bytes of consecutive registers.
    pub(super) fn store(
        &mut self,
        address: u64,
        data: Register,
        count: u32,
        width: usize,
        i: usize,
    ) -> Result<(), Trap> {
        let width = width.min(4);
        let mut bytes = Vec::with_capacity(count as usize * width);
        for n in 0..count {
            bytes.extend_from_slice(&self.take(data, n, i)?.to_le_bytes()[..width]);
        }
        let whole = || bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        self.access(AccessKind::Store, i, address, bytes.len(), (bytes.len() <= 8).then(whole));
        self.traffic.written += bytes.len() as u64;
        self.host.store(address, &bytes).map_err(|fault| Trap::Memory { instance: i, fault })
    }
}
