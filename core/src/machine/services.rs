//! Calls of the host: services that a register selects.

use super::access::no_access;
use super::environment::Running;
use super::host::{Host, Touched};
use super::memory::{Access, MemoryFault};
use super::registers::Registers;
use super::table::{Register, Service};
use super::trap::Reason;

impl<const L: usize, H: Host<L>> Running<'_, L, H> {
    /// Performs a system call, lane by lane.
    pub(super) fn serve(&mut self, number: Register, services: &[(u64, Service)], mask: u64) -> Result<(), Reason> {
        for lane in (0..L).filter(|lane| mask >> lane & 1 != 0) {
            let get = |registers: &Registers<L>, register| registers.get(register).map_or(0, |column| column[lane]);
            let wanted = get(self.registers, number);
            let Some((_, service)) = services.iter().find(|(number, _)| *number == wanted) else {
                return Err(Reason::NoService(wanted));
            };
            match *service {
                Service::Exit { status } => {
                    self.flow.exit = Some(get(self.registers, status));
                    return Ok(());
                }
                Service::Write { stream, address, size, result } => {
                    let stream = stream.map_or(1, |stream| get(self.registers, stream));
                    let (address, size) = (get(self.registers, address), get(self.registers, size));
                    let fault = no_access(Access::Read, address, size);
                    let bytes = self.memory.bytes(address, size).ok_or_else(|| fault(MemoryFault::Unmapped))?;
                    let refused = |reason| Reason::Intrinsic("write", reason);
                    self.host.write(stream, bytes).map_err(refused)?;
                    if let Some(result) = result {
                        self.registers.set(result, &[size; L], 1 << lane);
                        self.touch(|| Touched::Written(result, [size; L], 1 << lane));
                    }
                }
            }
        }
        Ok(())
    }
}
