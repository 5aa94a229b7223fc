//! Words that are no instruction: what is said of their bits is true.

use isaforge_compiler::lower::words;
use isaforge_core::Isa;
use isaforge_core::bits::ones;
use isaforge_core::decode::decode;
use isaforge_core::error::DecodeError;
use isaforge_core::sample::Random;
use isaforge_core::unknown::Reason;

use crate::seed;
use crate::support::checked;

/// Checks that no instruction has the bits that the message names, but that one has those it is said to share.
fn is_true(isa: &'static Isa, word: u64) -> bool {
    let Err(DecodeError::UnknownOpcode(unknown)) = decode(isa, word) else { return false };
    let Reason { given: (mask, value), bits: (high, low), found } = unknown.reason();
    let own = ones(u32::from(high - low) + 1) << low;
    assert_eq!((word & mask, (word & own) >> low), (value, found), "{}: {word:#x}", isa.name);
    let fits = |bits: u64| isa.forms.iter().any(|form| (word ^ form.match_value) & form.match_mask & bits == 0);
    assert!(!fits(mask | own), "{}: an instruction has these bits of {word:#x}", isa.name);
    assert!(mask == 0 || fits(mask) && fits(own), "{}: either would do for {word:#x}", isa.name);
    true
}

#[test]
fn no_instruction_has_the_bits_of_an_unknown_opcode() {
    let mut random = Random(seed::seed(105));
    for isa in [isaforge_valhall::ISA, isaforge_valhall_2021::ISA, isaforge_vpu::ISA] {
        let mut unknown = 0;
        for _ in 0..2000 {
            let form = &isa.forms[(random.next() % isa.forms.len() as u64) as usize];
            // Words that differ little from an instruction, and any words.
            let near = form.match_value ^ 1 << (random.next() % 64) ^ (random.next() & !form.match_mask);
            unknown += usize::from(is_true(isa, near)) + usize::from(is_true(isa, random.next()));
        }
        assert!(unknown > 100, "{}: {unknown}", isa.name);
    }
}

#[test]
fn the_primary_opcode_is_named_before_others() {
    let text = "isa: ops\nword: 16\nprovenance: document\ninstructions:\n  \
                A: { doc: A., fixed: { 15..12: 1 }, ignored: 11..0 }\n  \
                B: { doc: B., fixed: { 15..12: 5, 3..0: 0 }, ignored: 11..4 }\n  \
                C: { doc: C., fixed: { 15..12: 5, 3..0: 3 }, ignored: 11..4 }\n  \
                D: { doc: D., fixed: { 15..12: 6, 3..0: 2 }, ignored: 11..4 }\n";
    let checked = checked(text).unwrap_or_else(|failure| panic!("{failure}"));
    let isa = words(&checked.isa).isa;
    for (word, message) in [
        (0xd3c8, "unknown opcode: no instruction has 0xd in bits 15..12"),
        (0x5002, "unknown opcode: no instruction with 0x5 in bits 15..12 has 0x2 in bits 3..0"),
        (0x1008, "fine"),
    ] {
        assert_eq!(decode(isa, word).map_or_else(|error| error.to_string(), |_| "fine".to_owned()), message);
    }
}
