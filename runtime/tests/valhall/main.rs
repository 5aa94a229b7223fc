//! Tests of the Valhall runtime: programs with known results, and faulty programs.

#[path = "../seed/mod.rs"]
mod seed;

#[path = "../../../fuzz/src/execution/valhall.rs"]
mod execution;

#[path = "../../../fuzz/src/execution/shared.rs"]
mod shared;

mod bands;
mod barriers;
mod constants;
mod differential;
mod divergence;
mod fast;
mod fidelity;
mod flow;
mod forms;
mod fragments;
mod host;
mod images;
mod kernels;
mod lanes;
mod lookups;
mod messages;
mod misuse;
mod observing;
mod piglit;
mod pixels;
mod textures;
mod together;
mod vectors;

use isaforge_runtime::{Launch, Memory, Outcome, RunError, valhall};

/// The address to which the programs of these tests write.
const OUT: u64 = 0x1000;

fn assemble(text: &str) -> Vec<u64> {
    isaforge_core::program::assemble(isaforge_valhall::ISA, text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

/// Creates a launch of one workgroup along x. The uniforms u0 and u1 hold the address `OUT`.
fn launch(threads: u32, text: &str) -> Launch {
    Launch { program: assemble(text), local_size: [threads, 1, 1], uniforms: vec![OUT as u32, 0], ..Launch::default() }
}

/// Runs a launch with `words` words of memory at `OUT`, initially zero.
fn run(launch: &Launch, words: usize) -> Result<(Outcome, Vec<u32>), RunError> {
    let mut memory = Memory::new();
    memory.map(OUT, vec![0; words * 4]).unwrap();
    let outcome = valhall::run(launch, &mut memory)?;
    Ok((outcome, to_words(memory.region(OUT).unwrap())))
}

fn to_words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect()
}

fn to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn data(path: &str) -> String {
    let path = format!("{}/tests/data/valhall/{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Computes the address of the thread's own word in r2 and r3, from its index along x.
const OWN_WORD: &str = "
    U16_TO_U32 r50, r55.h00
    SHADDX.u64 r2, u0, r50.w0, shift:0x2
";
