#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| isaforge_fuzz::targets::assemble_streams(data));
