#![no_main]

use std::sync::OnceLock;

use isaforge_core::sample::Random;
use isaforge_fuzz::execution::Engines;

static ENGINES: OnceLock<Engines> = OnceLock::new();

// Each eight bytes are the seed of a program.
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let engines = ENGINES.get_or_init(Engines::new);
    for chunk in data.chunks(8).take(4) {
        let seed = chunk.iter().fold(0, |seed, byte| seed << 8 | u64::from(*byte));
        engines.agree(&mut Random(seed));
    }
});
