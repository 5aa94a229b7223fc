//! Loads, stores and atomics by address.

use isaforge_valhall::{
    AtomicOperation, AtomicOperationWith1, LoadLane8Bit, LoadLane16Bit, LoadLane32Bit, MemoryAccess, RegisterList,
    Source,
};

use crate::valhall::step::{Control, Fault, Step};
use crate::valhall::warp::lanes;

/// Where a load puts its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::valhall) enum Into {
    /// One byte of a register, from this bit; the others stay.
    Byte(u32),
    /// One half of a register, from this bit, extended to 16 bits; the other stays.
    Half(u32),
    /// This many registers, extended to their full width.
    Words(usize),
}

impl From<LoadLane8Bit> for Into {
    fn from(lane: LoadLane8Bit) -> Self {
        match lane {
            // The odd bytes are a bug of all known hardware: they act as the even ones below them (tested).
            LoadLane8Bit::B0 | LoadLane8Bit::B1 => Into::Byte(0),
            LoadLane8Bit::B2 | LoadLane8Bit::B3 => Into::Byte(16),
            LoadLane8Bit::H0 => Into::Half(0),
            LoadLane8Bit::H1 => Into::Half(16),
            LoadLane8Bit::W0 => Into::Words(1),
            LoadLane8Bit::D0 => Into::Words(2),
        }
    }
}

impl From<LoadLane16Bit> for Into {
    fn from(lane: LoadLane16Bit) -> Self {
        match lane {
            LoadLane16Bit::H0 => Into::Half(0),
            LoadLane16Bit::H1 => Into::Half(16),
            LoadLane16Bit::W0 => Into::Words(1),
            LoadLane16Bit::D0 => Into::Words(2),
        }
    }
}

impl From<LoadLane32Bit> for Into {
    fn from(lane: LoadLane32Bit) -> Self {
        match lane {
            LoadLane32Bit::W0 => Into::Words(1),
            LoadLane32Bit::D0 => Into::Words(2),
        }
    }
}

/// What an atomic does with memory.
#[derive(Clone, Copy, Debug)]
pub(in crate::valhall) enum Atomic {
    /// With an operand.
    With(AtomicOperation),
    /// With an operand, if memory holds the value that the registers after it say.
    IfEqual(AtomicOperation),
    /// With the operand 1.
    WithOne(AtomicOperationWith1),
}

impl Atomic {
    /// The operation, perhaps only where memory is as expected.
    pub fn new(operation: AtomicOperation, compare: bool) -> Self {
        if compare { Atomic::IfEqual(operation) } else { Atomic::With(operation) }
    }

    /// What replaces `old`; both values have `bits` bits.
    fn apply(self, bits: u32, old: u64, operand: u64, expected: u64) -> u64 {
        let operation = match self {
            Atomic::IfEqual(_) if old != expected => return old,
            Atomic::With(operation) | Atomic::IfEqual(operation) => operation,
            Atomic::WithOne(operation) => return apply_one(operation, bits, old),
        };
        let signed = |value: u64| (value << (64 - bits)) as i64;
        match operation {
            AtomicOperation::Aadd => old.wrapping_add(operand),
            AtomicOperation::Asmin => {
                if signed(old) <= signed(operand) {
                    old
                } else {
                    operand
                }
            }
            AtomicOperation::Asmax => {
                if signed(old) >= signed(operand) {
                    old
                } else {
                    operand
                }
            }
            AtomicOperation::Aumin => old.min(operand),
            AtomicOperation::Aumax => old.max(operand),
            AtomicOperation::Aand => old & operand,
            AtomicOperation::Aor => old | operand,
            AtomicOperation::Axor => old ^ operand,
            AtomicOperation::Axchg => operand,
        }
    }
}

fn apply_one(operation: AtomicOperationWith1, bits: u32, old: u64) -> u64 {
    let with = |operation| Atomic::With(operation).apply(bits, old, 1, 0);
    match operation {
        AtomicOperationWith1::Ainc => with(AtomicOperation::Aadd),
        AtomicOperationWith1::Adec => old.wrapping_sub(1),
        AtomicOperationWith1::Aumax1 => with(AtomicOperation::Aumax),
        AtomicOperationWith1::Asmax1 => with(AtomicOperation::Asmax),
        AtomicOperationWith1::Aor1 => with(AtomicOperation::Aor),
    }
}

impl Step<'_> {
    /// Loads `size` bytes (1 to 16) and extends them with zeros or the sign.
    pub fn load(
        &mut self,
        list: RegisterList,
        address: (Source, i16),
        size: usize,
        into: Into,
        unsigned: bool,
    ) -> Result<Control, Fault> {
        let base = self.pair(address.0);
        for lane in lanes(self.warp.active) {
            let at = base[lane].wrapping_add_signed(address.1.into());
            let bytes = self.excused(lane, self.read_bytes(lane, at, size))?;
            self.fill(list, lane, bytes, size, into, unsigned);
        }
        Ok(Control::Next)
    }

    /// Reads `size` bytes (at most 16) for a lane.
    pub fn read_bytes(&self, lane: usize, address: u64, size: usize) -> Result<[u8; 16], Fault> {
        let mut bytes = [0; 16];
        self.space.read(lane, address, &mut bytes[..size]).map_err(|fault| Fault::Memory { lane, fault })?;
        Ok(bytes)
    }

    /// Extends `size` loaded bytes and puts them into registers.
    pub fn fill(&mut self, list: RegisterList, lane: usize, bytes: [u8; 16], size: usize, into: Into, unsigned: bool) {
        let unused = 128 - 8 * size as u32;
        let raw = u128::from_le_bytes(bytes);
        let value = if unsigned { raw } else { ((raw << unused) as i128 >> unused) as u128 };
        match into {
            Into::Byte(shift) => self.load_part(list, lane, 0xff << shift, (value as u32) << shift),
            Into::Half(shift) => self.load_part(list, lane, 0xffff << shift, (value as u32) << shift),
            Into::Words(count) => {
                for (word, register) in list.iter().take(count).enumerate() {
                    self.set_lane(register, lane, u32::MAX, (value >> (32 * word)) as u32);
                }
            }
        }
    }

    fn load_part(&mut self, list: RegisterList, lane: usize, mask: u32, value: u32) {
        for register in list.iter().take(1) {
            self.set_lane(register, lane, mask, value);
        }
    }

    /// Stores the low `size` bytes (1 to 16) of a list. Helper lanes store only when forced to.
    pub fn store(
        &mut self,
        list: RegisterList,
        address: (Source, i16),
        size: usize,
        access: MemoryAccess,
    ) -> Result<Control, Fault> {
        let base = self.pair(address.0);
        let storing = if access == MemoryAccess::Force { self.warp.active } else { self.drawing() };
        for lane in lanes(storing) {
            let [a, b, c, d] = self.staged(list, lane).map(u128::from);
            let bytes = (a | b << 32 | c << 64 | d << 96).to_le_bytes();
            let at = base[lane].wrapping_add_signed(address.1.into());
            self.space.write(lane, at, &bytes[..size]).map_err(|fault| Fault::Memory { lane, fault })?;
        }
        Ok(Control::Next)
    }

    /// Changes memory lane by lane, from the lowest, and gives what was there before.
    pub fn atomic(
        &mut self,
        atomic: Atomic,
        wide: bool,
        results: RegisterList,
        operands: RegisterList,
        address: (Source, u8),
    ) -> Result<Control, Fault> {
        let base = self.pair(address.0);
        let (size, bits) = if wide { (8, 64) } else { (4, 32) };
        for lane in lanes(self.warp.active) {
            if self.warp.helpers >> lane & 1 != 0 {
                // Nothing happens to memory, and 0 comes back (documented).
                self.put_words(results, 0, lane, &[0, 0][..size / 4]);
                continue;
            }
            let [a, b, c, d] = self.staged(operands, lane).map(u64::from);
            let (operand, expected) = if wide { (a | b << 32, c | d << 32) } else { (a, b) };
            let at = base[lane].wrapping_add(address.1.into());
            let fault = |fault| Fault::Memory { lane, fault };
            let mut bytes = [0; 8];
            self.space.read(lane, at, &mut bytes[..size]).map_err(fault)?;
            let old = u64::from_le_bytes(bytes);
            let new = atomic.apply(bits, old, operand, expected).to_le_bytes();
            self.space.write(lane, at, &new[..size]).map_err(fault)?;
            self.put_words(results, 0, lane, &[old as u32, (old >> 32) as u32][..size / 4]);
        }
        Ok(Control::Next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atomics_work_in_their_width() {
        let with = |operation, bits, old, operand| Atomic::With(operation).apply(bits, old, operand, 0);
        assert_eq!(with(AtomicOperation::Asmin, 32, 0xffff_ffff, 1), 0xffff_ffff);
        assert_eq!(with(AtomicOperation::Asmax, 32, 0xffff_ffff, 1), 1);
        assert_eq!(with(AtomicOperation::Asmin, 64, 0xffff_ffff, 1), 1);
        assert_eq!(with(AtomicOperation::Aumin, 32, 0xffff_ffff, 1), 1);
        assert_eq!(with(AtomicOperation::Aadd, 32, 0xffff_ffff, 1) as u32, 0);
        let swap = Atomic::IfEqual(AtomicOperation::Axchg);
        assert_eq!([swap.apply(32, 5, 9, 5), swap.apply(32, 5, 9, 6)], [9, 5]);
        assert_eq!(Atomic::WithOne(AtomicOperationWith1::Adec).apply(32, 0, 0, 0) as u32, u32::MAX);
        assert_eq!(Atomic::WithOne(AtomicOperationWith1::Asmax1).apply(32, 0x8000_0000, 0, 0), 1);
    }

    #[test]
    fn every_operation_leaves_what_its_name_says() {
        const LEAST: u64 = 1 << 31;
        for (operation, left) in [
            (AtomicOperation::Aadd, LEAST + 4),
            (AtomicOperation::Asmin, LEAST + 1),
            (AtomicOperation::Asmax, 3),
            (AtomicOperation::Aumin, 3),
            (AtomicOperation::Aumax, LEAST + 1),
            (AtomicOperation::Aand, 1),
            (AtomicOperation::Aor, LEAST + 3),
            (AtomicOperation::Axor, LEAST + 2),
            (AtomicOperation::Axchg, 3),
        ] {
            let atomic = |atomic: Atomic, expected| atomic.apply(32, LEAST + 1, 3, expected);
            assert_eq!(atomic(Atomic::With(operation), 0), left, "{operation:?}");
            // Compared with what is there, any operation happens or not.
            assert_eq!(atomic(Atomic::IfEqual(operation), LEAST + 1), left, "{operation:?}");
            assert_eq!(atomic(Atomic::IfEqual(operation), 1), LEAST + 1, "{operation:?}");
        }
        for (operation, left) in [
            (AtomicOperationWith1::Ainc, [1, 3, LEAST + 1]),
            (AtomicOperationWith1::Adec, [u64::MAX, 1, LEAST - 1]),
            (AtomicOperationWith1::Aumax1, [1, 2, LEAST]),
            (AtomicOperationWith1::Asmax1, [1, 2, 1]),
            (AtomicOperationWith1::Aor1, [1, 3, LEAST + 1]),
        ] {
            let found = [0, 2, LEAST].map(|old| Atomic::WithOne(operation).apply(32, old, 0, 0));
            assert_eq!(found.map(|word| word as u32), left.map(|word| word as u32), "{operation:?}");
        }
    }
}
