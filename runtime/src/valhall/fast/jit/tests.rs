//! Which operations of the processor words are compiled to, and which words cannot be compiled.

use std::collections::BTreeSet;

use isaforge_core::program::assemble;

use super::live::Live;
use super::sequence::Sequence;
use crate::exec::jit::lanes::graph::{Node, Value};
use crate::level::Level;
use crate::valhall::fast::code::Code;
use crate::valhall::program::Program;

/// Returns the operations that some words need to write their registers, which are read as `live` says; `None` if
/// they cannot be compiled.
fn operations(text: &str, live: Live) -> Option<Vec<String>> {
    operations_at(Level::portable(), text, live)
}

/// The same for a level.
fn operations_at(level: Level, text: &str, live: Live) -> Option<Vec<String>> {
    let words = assemble(isaforge_valhall::ISA, text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    let program = Program::new(&words);
    let code = Code::new(&program, &[0x4048_f5c3, 5], 1, level);
    let mut sequence = Sequence::new(&code);
    (0..words.len()).try_for_each(|pc| sequence.add(pc))?;
    let (segment, branch) = sequence.end_segment(live);
    let nodes = sequence.graph.nodes();
    let mut wanted: Vec<Value> = segment.rows.iter().map(|(_, value)| *value).collect();
    wanted.extend(branch.map(|branch| branch.mask));
    let mut needed = BTreeSet::new();
    while let Some(value) = wanted.pop() {
        if needed.insert(value.index()) {
            wanted.extend(nodes[value.index()].arguments());
        }
    }
    let name = |index: &usize| match &nodes[*index] {
        Node::Operation(operation) => Some(format!("{:?}", operation.code.mnemonic()).to_lowercase()),
        _ => None,
    };
    Some(needed.iter().filter_map(name).collect())
}

/// Every bit is read.
const EXACT: Live = Live { read: u64::MAX, exact: u64::MAX };
/// Only numbers are read, so any NaN will do.
const NUMBERS: Live = Live { read: u64::MAX, exact: 0 };

#[test]
fn signs_and_nans_cost_nothing_where_nobody_sees_them() {
    for (text, expected) in [
        ("FMA.f32 r0, r1, r2, r3", "vfmadd213ps"),
        ("FMA.f32 r0, r1, r2.neg, r3.neg", "vfnmsub213ps"),
        ("FMA.f32 r0, r1.neg, r2.neg, r3", "vfmadd213ps"),
        ("FMA.f32 r0, r1, r2, 0x0.neg", "vmulps"),
        ("FADD.f32 r0, r1, r2.neg", "vsubps"),
        ("FADD.f32.clamp_0_1 r0, r1, r2", "vaddps vmaxps vminps"),
        ("FMA.f32 r0, r1, r2, r3\nFADD.f32 r0, r0, r4", "vfmadd213ps vaddps"),
    ] {
        assert_eq!(operations(text, NUMBERS).map(|codes| codes.join(" ")).as_deref(), Some(expected), "{text}");
    }
    let exact = operations("FADD.f32 r0, r1, r2", EXACT).map(|codes| codes.join(" "));
    assert_eq!(exact.as_deref(), Some("vaddps vcmpps vpblendmd"));
}

#[test]
fn halves_are_computed_by_one_instruction_where_the_processor_has_it() {
    let Some(level) = Level::named("avx512fp16") else { return };
    for (text, expected) in [
        ("FMA.v2f16 r0, r1, r2, r3", "vfmadd213ph"),
        ("FMA.v2f16 r0, r1.neg, r2, r3.neg", "vfnmsub213ph"),
        ("FMA.v2f16 r0, r1, r2, 0x0.neg", "vmulph"),
        ("FADD.v2f16 r0, r1, r2.neg", "vsubph"),
    ] {
        let exact = format!("{expected} vcmpph vpblendmw");
        let found = operations_at(level, text, EXACT).map(|codes| codes.join(" "));
        assert_eq!(found, Some(exact), "{text}");
    }
}

#[test]
fn parts_of_words_meet_in_one_operation() {
    for (text, expected) in [
        ("MOV.i32 r0, r1", ""),
        ("MKVEC.v2i16 r0, r1.h00, r2.h00", "vpslld vpternlogd"),
        ("MKVEC.v2i16 r0, r1.h10, r1.h00", "vprold"),
        ("LSHIFT_XOR.i32 r0, r1, 0x03020100.b11, r2", "vpslld vpxord"),
        ("LSHIFT_AND.i32.not_result r0, r1, 0x0.b00, r2", "vpternlogd"),
        ("MUX.i32.bit r0, r1, r2, r3", "vpternlogd"),
        ("IADD.v2u16 r0, r1, r2", "vpaddw"),
    ] {
        assert_eq!(operations(text, EXACT).map(|codes| codes.join(" ")).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn what_asks_others_is_left_to_handlers() {
    for text in ["CLPER.i32 r0, r1, 0x0", "FSIN_TABLE.u6 r0, r1", "LD_BUFFER.i32.unsigned.slot0 @r0, r1, 0x0"] {
        assert_eq!(operations(text, EXACT), None, "{text}");
    }
}

#[test]
fn loops_over_words_in_memory_are_one_function() {
    let text = "LOAD.i32.unsigned.slot0 @r0, r62, offset:0
        LOAD.i32.unsigned.slot0 @r1, r58, offset:0
        FMA.f32 r0, r1, r2, r0
        STORE.i32.slot0 @r0, r62, offset:0";
    assert_eq!(operations(text, NUMBERS).map(|codes| codes.join(" ")).as_deref(), Some("vfmadd213ps"));

    let words = assemble(isaforge_valhall::ISA, &format!("{text}\nIADD.u64 r62, r62, u0.w0\nIADD.u64 r58, r58, u0.w0"))
        .unwrap_or_else(|error| panic!("{error:?}"));
    let program = Program::new(&words);
    let code = Code::new(&program, &[0x400, 0], 1, Level::portable());
    let mut sequence = Sequence::new(&code);
    assert_eq!((0..words.len()).try_for_each(|pc| sequence.add(pc)), Some(()));
    assert_eq!(sequence.accesses.iter().map(|access| access.writes).collect::<Vec<_>>(), [true, false]);
    // Each iteration advances by what the words add to their addresses.
    assert_eq!(sequence.again().map(|again| again.strides), Some(vec![0x400, 0x400]));
}
