//! Loads, stores, atomics, workgroup memory and thread memory.

use super::{OUT, OWN_WORD, assemble, launch, run, to_words};
use isaforge_runtime::{Launch, Memory, RunError, valhall};

/// Runs one thread on the bytes `89 ab cd ef 01 02 .. 0f` at `OUT`. Returns r0 to r3, which it stores after these
/// bytes.
fn registers_after(body: &str) -> [u32; 4] {
    let bytes: Vec<u8> = [0x89, 0xab, 0xcd, 0xef].into_iter().chain(1..=15).chain([0; 45]).collect();
    let mut memory = Memory::new();
    memory.map(OUT, bytes).unwrap();
    let text = format!("{body}\nSTORE.i128.slot0.end @r0:r1:r2:r3, u0, offset:32\n");
    let launch = Launch { program: assemble(&text), uniforms: vec![OUT as u32, 0], ..Launch::default() };
    valhall::run(&launch, &mut memory).unwrap();
    to_words(&memory.region(OUT).unwrap()[32..48]).try_into().unwrap()
}

#[test]
fn loads_put_their_bytes_where_the_lane_says() {
    let first =
        |load: &str| registers_after(&format!("IADD_IMM.i32 r0, 0x0, #0x11111111\n{load} @r0, u0, offset:0"))[0];
    assert_eq!(first("LOAD.i8.unsigned.slot0"), 0x1111_1189);
    assert_eq!(first("LOAD.i8.b2.unsigned.slot0"), 0x1189_1111);
    // The hardware bug: odd bytes act as even ones.
    assert_eq!(first("LOAD.i8.b1.unsigned.slot0"), 0x1111_1189);
    assert_eq!(first("LOAD.i8.b3.unsigned.slot0"), 0x1189_1111);
    assert_eq!(first("LOAD.i8.h0.unsigned.slot0"), 0x1111_0089);
    assert_eq!(first("LOAD.i8.h1.slot0"), 0xff89_1111);
    assert_eq!(first("LOAD.i8.w0.slot0"), 0xffff_ff89);
    assert_eq!(first("LOAD.i16.unsigned.slot0"), 0x1111_ab89);
    assert_eq!(first("LOAD.i16.h1.unsigned.slot0"), 0xab89_1111);
    assert_eq!(first("LOAD.i16.w0.slot0"), 0xffff_ab89);
    assert_eq!(first("LOAD.i24.unsigned.slot0"), 0x00cd_ab89);
    assert_eq!(first("LOAD.i32.unsigned.slot0"), 0xefcd_ab89);
}

#[test]
fn wide_loads_fill_their_registers_in_order() {
    let wide = |load: &str| registers_after(&format!("{load}, u0, offset:2"));
    assert_eq!(wide("LOAD.i8.d0.slot0 @r0:r1"), [0xffff_ffcd, 0xffff_ffff, 0, 0]);
    assert_eq!(wide("LOAD.i32.d0.unsigned.slot0 @r0:r1"), [0x0201_efcd, 0, 0, 0]);
    assert_eq!(wide("LOAD.i48.unsigned.slot0 @r0:r1"), [0x0201_efcd, 0x0403, 0, 0]);
    assert_eq!(wide("LOAD.i64.unsigned.slot0 @r0:r1"), [0x0201_efcd, 0x0605_0403, 0, 0]);
    assert_eq!(wide("LOAD.i96.unsigned.slot0 @r0:r1:r2"), [0x0201_efcd, 0x0605_0403, 0x0a09_0807, 0]);
    assert_eq!(wide("LOAD.i128.unsigned.slot0 @r0:r1:r2:r3"), [0x0201_efcd, 0x0605_0403, 0x0a09_0807, 0x0e0d_0c0b]);
}

#[test]
fn stores_write_only_their_bytes() {
    let stored = |store: &str| {
        let text = format!(
            "IADD_IMM.i32 r0, 0x0, #0x89abcdef\nIADD_IMM.i32 r1, 0x0, #0x1234567\n{store}, u0, offset:1\nNOP.end\n"
        );
        run(&launch(1, &text), 4).unwrap().1
    };
    assert_eq!(stored("STORE.i8.slot0 @r0"), [0x0000_ef00, 0, 0, 0]);
    assert_eq!(stored("STORE.i16.slot0 @r0"), [0x00cd_ef00, 0, 0, 0]);
    assert_eq!(stored("STORE.i24.slot0 @r0"), [0xabcd_ef00, 0, 0, 0]);
    assert_eq!(stored("STORE.i32.slot0 @r0"), [0xabcd_ef00, 0x89, 0, 0]);
    assert_eq!(stored("STORE.i48.slot0 @r0:r1"), [0xabcd_ef00, 0x0045_6789, 0, 0]);
    assert_eq!(stored("STORE.i64.slot0 @r0:r1"), [0xabcd_ef00, 0x2345_6789, 0x01, 0]);
    assert_eq!(stored("STORE.i96.slot0 @r0:r1:r2"), [0xabcd_ef00, 0x2345_6789, 0x01, 0]);
}

#[test]
fn atomics_happen_in_the_order_of_lanes() {
    let text = format!(
        "{OWN_WORD}
        IADD_IMM.i32 r4, 0x0, #0x3
        ATOM_RETURN.i32.slot0.aadd.wait0 @r6, @r4, u0, offset:0x80
        STORE.i32.slot0 @r6, r2, offset:0
        ATOM1_RETURN.i32.slot0.ainc @, u0, offset:0x84
        ATOM.i32.slot0.aumax @r50, u0, offset:0x88
        ATOM.i64.slot0.aadd @r50:r51, u0, offset:0x90
        NOP.end"
    );
    let (_, values) = run(&launch(20, &text), 40).unwrap();
    assert_eq!(values[..20], (0..20).map(|lane| 3 * lane).collect::<Vec<u32>>());
    assert_eq!([values[32], values[33], values[34], values[36]], [60, 20, 19, 190]);
}

#[test]
fn compare_and_exchange_needs_the_expected_value() {
    let text = "
        IADD_IMM.i32 r4, 0x0, #0x9
        IADD_IMM.i32 r5, 0x0, #0x0
        ATOM_RETURN.i32.slot0.compare.axchg.wait0 @r6, @r4:r5, u0, offset:0x0
        ATOM_RETURN.i32.slot0.compare.axchg.wait0 @r7, @r4:r5, u0, offset:0x0
        STORE.i64.slot0.end @r6:r7, u0, offset:4";
    assert_eq!(run(&launch(1, text), 3).unwrap().1, [9, 0, 9]);
}

#[test]
fn workgroup_memory_is_shared_and_starts_at_zero_in_each_group() {
    // Each thread adds its number to the shared word; after the barrier all threads read the sum.
    let text = "
        U16_TO_U32 r50, r55.h00
        MOV.i32 r4, workgroup_local_pointer.w0
        MOV.i32 r5, workgroup_local_pointer.w1
        ATOM.i32.slot0.aadd.wait0 @r50, r4, offset:0x4
        BARRIER.slot7.wait
        LOAD.i32.unsigned.slot0.wait0 @r0, r4, offset:4
        SHADDX.u64 r2, u0, r60.w0, shift:0x2
        STORE.i32.slot0.end @r0, r2, offset:0";
    let launch = Launch { groups: [3, 1, 1], shared_bytes: 8, ..launch(50, text) };
    assert_eq!(run(&launch, 150).unwrap().1, [49 * 50 / 2; 150]);
}

#[test]
fn a_thread_has_memory_of_its_own() {
    let text = format!(
        "{OWN_WORD}
        MOV.i32 r4, thread_local_pointer.w0
        MOV.i32 r5, thread_local_pointer.w1
        STORE.i32.slot0 @r50, r4, offset:4092
        BARRIER.slot7.wait
        LOAD.i32.unsigned.slot0.wait0 @r0, r4, offset:4092
        LOAD.i32.unsigned.slot0.wait0 @r1, r4, offset:0
        IADD.u32 r0, r0, r1
        STORE.i32.slot0.end @r0, r2, offset:0"
    );
    let (_, values) = run(&launch(33, &text), 33).unwrap();
    assert_eq!(values, (0..33).collect::<Vec<u32>>());
    for offset in [4093, 4096, -1] {
        let beyond = text.replace("offset:4092\n        BARRIER", &format!("offset:{offset}\n        BARRIER"));
        assert!(matches!(run(&launch(33, &beyond), 33), Err(RunError::Memory { .. })), "{offset}");
    }
}
