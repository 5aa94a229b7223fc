//! Random instructions, for tests.

use super::decode::Engine;
use super::table::Role;
use super::wide::Wide;
use crate::sample::Random;
use crate::text::Line;

/// Words of a layout: with all non-constant bits zero, with all of them one, and then random ones. They need not be
/// valid.
pub fn words(layout: &'static super::Layout, count: u64) -> impl Iterator<Item = Wide> {
    let mut random = Random(u64::from(layout.opcode) << 32 | u64::from(layout.bits));
    let own = Wide::ones(layout.bits.into()) & !layout.fixed_mask & !layout.ignored;
    (0..count).map(move |turn| {
        let word = match turn {
            0 => Wide::ZERO,
            1 => !Wide::ZERO,
            _ => Wide(core::array::from_fn(|_| random.next())),
        };
        word & own | layout.fixed_value
    })
}

/// Checks, for `rounds` words of every layout, that the text of a valid word parses to an instruction that has the same
/// text.
///
/// # Panics
/// When this does not hold: this is the body of a test.
pub fn check_identities(engine: Engine, rounds: u64) {
    let mut found = 0;
    for layout in engine.stream.layouts_of(0).iter().filter(|layout| layout.role != Role::Assembler) {
        for word in words(layout, rounds) {
            let bytes = engine.store(word);
            let Ok(decoded) = engine.decode(&bytes) else { continue };
            found += 1;
            assert_eq!(engine.store(decoded.word)[..decoded.len.into()], bytes[..decoded.len.into()]);
            let (mut line, mut again) = (Line::new(), Line::new());
            engine.print(&decoded, &mut line);
            let read = match engine.parse(line.as_str()) {
                Ok(read) => read.decoded,
                Err(error) => panic!("{line:?} does not read back: {error}"),
            };
            engine.print(&read, &mut again);
            assert_eq!(line.as_str(), again.as_str());
        }
    }
    assert!(found > 0, "no word of any layout is valid");
}
