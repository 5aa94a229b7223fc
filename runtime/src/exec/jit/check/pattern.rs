//! Vector instructions that are recognized by their bytes.

use iced_x86::{Decoder, DecoderOptions, Instruction};

/// Patterns of instructions that have been decoded before, and that compute in vectors and masks without memory.
///
/// Most instructions of a function differ from others only in the numbers of their vector registers, and nothing that is
/// checked depends on those. Comparing bytes takes less time than decoding them.
pub(super) struct Patterns(Box<[Pattern; Patterns::PLACES]>);

/// The bytes of an instruction with an EVEX prefix and without an operand in memory, whatever its vector registers are.
#[derive(Clone, Copy)]
struct Pattern {
    /// The prefix, the opcode and the ModRM byte, the first byte lowest, without the bits that may differ.
    bytes: u64,
    /// The bits that may not differ.
    mask: u64,
    /// In bytes.
    length: u8,
    /// What the processor must support: a bit for each of the features of steps.
    needs: u32,
}

/// The bits of prefix, opcode and ModRM byte.
const ALL: u64 = 0xffff_ffff_ffff;

/// The bits that encode a register each: in the ModRM byte as `reg` or `rm`, or in the prefix alone. Those of the prefix
/// are inverted.
const REGISTERS: [u64; 4] = [0x3800_0000_9000, MASK, 0x0700_0000_6000, 0x0878_0000];

/// The bits that encode a mask register as `reg`.
const MASK: u64 = 0x3800_0000_0000;

/// The bits that the prefix contributes to [`REGISTERS`].
const PREFIX: u64 = 0xffff_ffff;

/// All other bits, which encode the operation.
const OPERATION: u64 = ALL & !(REGISTERS[0] | REGISTERS[1] | REGISTERS[2] | REGISTERS[3]);

/// The mode of the ModRM byte: all of its bits are set if no operand is in memory.
const MODE: u64 = 0xc000_0000_0000;

impl Pattern {
    /// It is equal to no bytes.
    const NONE: Self = Pattern { bytes: 1, mask: 0, length: 0, needs: 0 };

    fn is_known(&self) -> bool {
        self.mask != 0
    }
}

impl Default for Patterns {
    fn default() -> Self {
        Patterns(Box::new([Pattern::NONE; Patterns::PLACES]))
    }
}

impl Patterns {
    const PLACES: usize = 512;

    fn place(bytes: u64) -> usize {
        // The upper bits of a product depend on all bits of its factors.
        ((bytes & OPERATION).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 55) as usize
    }

    /// Returns the length of the instruction at the start of the code, if it has a known pattern and needs nothing that
    /// the processor [lacks](super::step::lacking).
    #[inline(always)]
    pub(super) fn length(&self, code: &[u8], lacking: u32) -> Option<usize> {
        let bytes = u64::from_le_bytes(*code.first_chunk()?);
        let pattern = &self.0[Self::place(bytes)];
        (bytes & pattern.mask == pattern.bytes && pattern.needs & lacking == 0).then_some(pattern.length.into())
    }

    /// Adds the pattern of an instruction that computes in vectors and masks without memory, given the code from it on
    /// and what it needs. Instructions with other prefixes are left out.
    pub(super) fn learn(&mut self, code: &[u8], instruction: &Instruction, needs: u32) {
        let Some(first) = code.first_chunk() else { return };
        let bytes = u64::from_le_bytes(*first);
        let place = &mut self.0[Self::place(bytes)];
        if place.is_known() || bytes & 0xff != 0x62 || bytes & MODE != MODE {
            return;
        }
        let decode = |bytes: u64| {
            let code = bytes.to_le_bytes();
            let decoded = Decoder::new(64, &code, DecoderOptions::NONE).decode();
            (decoded.code() == instruction.code() && decoded.len() == instruction.len()).then_some(decoded)
        };
        // Inverting a register's bits shows which operand they encode.
        let is_register = |bits: &u64| {
            let Some(other) = decode(bytes ^ bits) else { return false };
            let operands =
                (0..instruction.op_count()).map(|operand| [instruction, &other].map(|i| i.op_register(operand)));
            let mut changed = operands.filter(|[one, other]| one != other);
            let inverted = changed.next().is_some_and(|pair| match *bits {
                MASK => pair.iter().all(|register| register.is_k()),
                _ => pair.iter().all(|register| register.is_vector_register()),
            });
            inverted && changed.next().is_none()
        };
        let free = REGISTERS.iter().filter(|bits| is_register(bits)).fold(0, |all, bits| all | bits);
        // Few instructions require different registers.
        let same = bytes & !free | free & PREFIX;
        if decode(same).is_some() {
            let mask = ALL & !free;
            *place = Pattern { bytes: bytes & mask, mask, length: instruction.len() as u8, needs };
        }
    }
}
