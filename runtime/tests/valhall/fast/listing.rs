//! The machine code of a loop, as text.

use super::*;

/// Points of the Mandelbrot set: a loop that lanes leave at two places.
const PICTURE: &str = "
    SHADDX.u64 r62, u0, r60.w0, shift:0x2
    U32_TO_F32 r4, r60
    FMA.f32 r4, r4, u2, u3
    MOV.i32 r5, u3
    MOV.i32 r0, 0x0
    MOV.i32 r1, 0x0
    MOV.i32 r10, 0x0
    again: FMA.f32 r2, r0, r0, 0x0.neg
    FMA.f32 r3, r1, r1, 0x0.neg
    FADD.f32 r6, r2, r3
    FCMP.f32.gt.m1 r7, r6, u4, 0x0
    BRANCHZ.reconverge r7, offset:done
    FADD.f32 r8, r2, r3.neg
    FADD.f32 r9, r0, r0
    FMA.f32 r1, r9, r1, r5
    FADD.f32 r0, r8, r4
    IADD_IMM.i32 r10, r10, #0x1
    ICMP.u32.lt.m1 r7, r10, u5, 0x0
    BRANCHZ.reconverge r7, offset:again
    done: STORE.i32.slot0.end @r10, r62, offset:0";

/// `UPDATE_GOLDENS=1` rewrites the listings of the levels that this processor has.
#[test]
fn the_machine_code_of_a_loop_is_as_recorded() {
    let launch = Launch {
        program: assemble(PICTURE),
        local_size: [128, 1, 1],
        uniforms: vec![OUT as u32, 0, 0.01f32.to_bits(), (-0.7f32).to_bits(), 4.0f32.to_bits(), 50],
        ..Launch::default()
    };
    let levels = Level::available().into_iter().filter(|level| level.compiles());
    let mut known = Vec::new();
    for level in levels {
        let mut memory = memory(128, &mut Random(seed(25)));
        let (_, listing) = fast::run_listed(&launch, &mut memory, &mut Resources::default(), level.eager()).unwrap();
        let start = listing.find("loop ").expect("the loop is compiled");
        let listing = listing[start..].split("\n\n").next().expect("a listing").trim_end().to_owned() + "\n";
        // The level with half-precision arithmetic does not need it here.
        let name = level.name().trim_end_matches("fp16");
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/valhall/{name}.listing"));
        if std::env::var_os("UPDATE_GOLDENS").is_some() {
            std::fs::write(&path, &listing).unwrap();
        }
        let golden = std::fs::read_to_string(&path).unwrap();
        assert_eq!(
            listing, golden,
            "review `UPDATE_GOLDENS=1 cargo test -p isaforge-runtime --test valhall -- listing`"
        );
        known.push(name);
    }
    for missing in ["avx2", "avx512"].iter().filter(|name| !known.contains(name)) {
        println!("NOT RUN: this processor has no {missing}");
    }
}
