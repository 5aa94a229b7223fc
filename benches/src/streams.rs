//! Sets that are decoded from a stream of bytes: RV32IMC from the example and, if they are present next to the project,
//! sets from other projects' documents, on words with known text.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::io::Read;
use std::path::{Path, PathBuf};

use isaforge_compiler::{Settings, compile};
use isaforge_core::stream::Engine;

/// A set with code for it.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The name of the set.
    pub name: &'static str,
    /// Its tables.
    pub engine: Engine,
    /// The code: contiguous instructions.
    pub code: Vec<u8>,
    /// The number of instructions.
    pub count: u64,
}

/// Returns the sets that are present, and prints which are missing.
///
/// # Panics
/// When a document has errors.
pub fn streams() -> Vec<Stream> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let shared = own.join("../shared");
    let words = |name| own.join("compiler/tests/data").join(name);
    let rows = |name| shared.join("corpora/other").join(name);
    let documents = shared.join("documents");
    let cases: [(_, PathBuf, PathBuf, &[&str]); 5] = [
        ("RV32IMC", own.join("examples/riscv/isa.yaml"), words("riscv-binutils.tsv"), &[]),
        ("SM75", own.join("examples/sm75/isa.yaml"), words("sm75.tsv"), &[]),
        ("ir3", documents.join("isaspec-mesa-25.0.7/ir3/ir3.xml"), rows("ir3.tsv"), &["600", "630"]),
        (
            "RDNA3",
            documents.join("llvm-tablegen-amdgpu/amdgpu-instructions.jsonl.gz"),
            rows("amdgpu.tsv.gz"),
            &["gfx1100"],
        ),
        (
            "CDNA1",
            documents.join("llvm-tablegen-amdgpu/amdgpu-instructions.jsonl.gz"),
            rows("amdgpu.tsv.gz"),
            &["gfx908"],
        ),
    ];
    cases
        .into_iter()
        .filter_map(|(name, document, rows, generations)| stream(name, &document, &rows, generations))
        .collect()
}

fn stream(name: &'static str, document: &Path, rows: &Path, generations: &[&str]) -> Option<Stream> {
    if !document.exists() || !rows.exists() {
        println!("not measured: {name}, there is no {} with its words", document.display());
        return None;
    }
    let settings =
        Settings { generation: generations.last().map(|name| (*name).to_owned()), ..Settings::new(document) };
    // The tables contain only the wanted generation.
    let compiled = compile(&settings).unwrap_or_else(|failure| panic!("{failure}"));
    let stream = compiled.lowered.stream().expect("it is a stream");
    let engine = Engine { stream, generation: stream.generations.1 };
    let text = unpacked(std::fs::read(rows).expect("the words can be read"));
    let generations: BTreeSet<&str> = generations.iter().copied().collect();
    let (mut code, mut count) = (Vec::new(), 0);
    for cells in text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect::<Vec<_>>()) {
        let bytes = bytes(cells[0]);
        let meant = generations.is_empty() || cells.iter().any(|cell| generations.contains(cell));
        if meant && engine.decode(&bytes).is_ok_and(|decoded| usize::from(decoded.len) == bytes.len()) {
            code.extend(bytes);
            count += 1;
        }
    }
    Some(Stream { name, engine, code, count })
}

fn unpacked(bytes: Vec<u8>) -> String {
    let mut text = String::new();
    let read = if bytes.starts_with(&[0x1f, 0x8b]) {
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text)
    } else {
        bytes.as_slice().read_to_string(&mut text)
    };
    read.expect("it is text");
    text
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().as_chunks::<2>().0.iter();
    digits.filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// Decodes all code and adds up the layout numbers.
pub fn sum(stream: &Stream) -> u64 {
    let (mut at, mut sum) = (0, 0);
    while let Some(rest) = stream.code.get(at..).filter(|rest| !rest.is_empty()) {
        let Ok(decoded) = black_box(stream.engine.decode(rest)) else { break };
        sum += u64::from(decoded.layout);
        at += usize::from(decoded.len);
    }
    sum
}
