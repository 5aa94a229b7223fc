//! The operations that are timed. Each returns a value that depends on all of its work.

use std::fmt::Write;

use disarm64::InsnDisplay;
use disarm64::decoder::{self, Opcode};
use iced_x86::{Decoder, DecoderOptions, FastFormatter, Instruction as X86Instruction};
use isaforge_compiler::diagnostic::Diagnostics;
use isaforge_compiler::model::Isa;
use isaforge_compiler::resolve::resolve;
use isaforge_compiler::source::Sources;
use isaforge_compiler::{Checked, Compiled, Settings};
use isaforge_core::print::{Style, print};
use isaforge_core::text::Line;
use isaforge_valhall::{ISA, Instruction, decode};

use crate::code::X86;

/// Decodes every word and adds up the opcodes.
pub fn valhall_sum(words: &[u64]) -> u64 {
    words.iter().map(|word| decode(*word).map_or(0, |i| i.opcode() as u64)).sum()
}

/// Decodes every word into `into`.
pub fn valhall_list(words: &[u64], into: &mut Vec<Instruction>) -> u64 {
    into.clear();
    for word in words {
        if let Ok(instruction) = decode(*word) {
            into.push(instruction);
        }
    }
    into.len() as u64
}

/// Decodes and prints every word.
pub fn valhall_print(words: &[u64]) -> u64 {
    let mut line = Line::new();
    let mut bytes = 0;
    for word in words {
        if let Ok(instruction) = decode(*word) {
            line.clear();
            print(ISA, instruction.opcode() as u16, instruction.encode(), Style::Customary, &mut line);
            bytes += std::hint::black_box(line.as_bytes()).len() as u64;
        }
    }
    bytes
}

/// The text of all words, one instruction per line.
pub fn valhall_text(words: &[u64]) -> String {
    let mut text = String::new();
    isaforge_core::program::disassemble(ISA, words, Style::Exact, &mut text).expect("a text takes everything");
    text
}

/// Assembles a text, and returns the number of words.
pub fn valhall_assemble(text: &str) -> u64 {
    isaforge_core::program::assemble(ISA, text).map_or(0, |words| words.len() as u64)
}

fn x86_decoder(code: &X86) -> Decoder<'_> {
    Decoder::with_ip(64, &code.bytes, code.address, DecoderOptions::NONE)
}

/// The number of instructions of the code.
pub fn x86_count(code: &X86) -> u64 {
    x86_decoder(code).iter().count() as u64
}

/// Decodes all code and adds up the instructions' codes.
pub fn x86_sum(code: &X86) -> u64 {
    let mut decoder = x86_decoder(code);
    let mut instruction = X86Instruction::default();
    let mut sum = 0;
    while decoder.can_decode() {
        decoder.decode_out(&mut instruction);
        sum += instruction.code() as u64;
    }
    sum
}

/// Decodes all code into `into`.
pub fn x86_list(code: &X86, into: &mut Vec<X86Instruction>) -> u64 {
    into.clear();
    let mut decoder = x86_decoder(code);
    while decoder.can_decode() {
        into.push(decoder.decode());
    }
    into.len() as u64
}

/// Decodes and prints all code with iced's fastest formatter.
pub fn x86_print(code: &X86) -> u64 {
    let mut decoder = x86_decoder(code);
    let mut formatter = FastFormatter::new();
    let mut instruction = X86Instruction::default();
    let mut line = String::with_capacity(256);
    let mut bytes = 0;
    while decoder.can_decode() {
        decoder.decode_out(&mut instruction);
        line.clear();
        formatter.format(&instruction, &mut line);
        bytes += std::hint::black_box(line.as_bytes()).len() as u64;
    }
    bytes
}

/// Decodes every word and adds up the instructions' numbers.
pub fn a64_sum(words: &[u32]) -> u64 {
    words.iter().map(|word| decoder::decode(*word).map_or(0, |opcode| opcode.id() as u64)).sum()
}

/// Decodes every word into `into`.
pub fn a64_list(words: &[u32], into: &mut Vec<Opcode>) -> u64 {
    into.clear();
    for word in words {
        if let Some(opcode) = decoder::decode(*word) {
            into.push(opcode);
        }
    }
    into.len() as u64
}

/// Decodes and prints every word.
pub fn a64_print(words: &[u32]) -> u64 {
    let mut line = String::with_capacity(256);
    let mut bytes = 0;
    for (i, word) in words.iter().enumerate() {
        if let Some(opcode) = decoder::decode(*word) {
            line.clear();
            let _ = write!(line, "{}", opcode.display_at(4 * i as u64));
            bytes += std::hint::black_box(line.as_bytes()).len() as u64;
        }
    }
    bytes
}

/// The specification that the benchmarks compile.
pub fn specification() -> Settings {
    Settings::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/valhall/isa.yaml"))
}

/// Reads, resolves and checks the specification.
pub fn check(settings: &Settings) -> Checked {
    isaforge_compiler::check_spec(settings).unwrap_or_else(|failure| panic!("{failure}"))
}

/// Compiles the specification to tables.
pub fn compile(settings: &Settings) -> Compiled {
    isaforge_compiler::compile(settings).unwrap_or_else(|failure| panic!("{failure}"))
}

/// A model of 1,000 instructions, with opcodes in several places; the last one matches a word of the first.
pub fn thousand_instructions() -> Isa {
    let mut text = String::from("isa: thousand\nword: 64\nevery: { unused: ignored }\ninstructions:\n");
    for i in 0..999 {
        let (primary, secondary) = (i / 4, i % 4);
        // As in real encodings, the position of the secondary opcode depends on the primary one.
        let at = 4 * (primary % 9);
        let _ = writeln!(text, "  I{i}: {{ fixed: {{ 56..48: {primary}, {}..{at}: {secondary} }} }}", at + 1);
    }
    text.push_str("  I999: { fixed: { 56..48: 0, 4: 1, 0: 0, 2: 0, 1: 0 } }\n");
    let path = std::env::temp_dir().join(format!("isaforge-benches-{}.yaml", std::process::id()));
    std::fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (mut sources, mut found) = (Sources::new(), Diagnostics::new());
    let isa = resolve(&path, &mut sources, &mut found);
    let _ = std::fs::remove_file(&path);
    isa.unwrap_or_else(|| panic!("{}", found.render(&sources, Default::default())))
}
