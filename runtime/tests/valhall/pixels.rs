//! Less common inputs and outputs of fragment programs: helpers, interpolation positions, halves, coverage.

use isaforge_runtime::valhall::host::{
    Component, Filter, Format, Handle, Resources, Sampler, Shape, Target, Texel, Texture, Varying, table,
};
use isaforge_runtime::valhall::{self, Fragments};
use isaforge_runtime::{Launch, Memory, RunError};

use super::host::{draw, resources, with_texture};
use super::{assemble, to_bytes, to_words};

/// Draws r4 to r7 in the second pixel of a row whose first pixel is a helper. Returns the memory at 0x1000.
fn beside_a_helper(body: &str, resources: &mut Resources) -> Vec<u32> {
    let program = format!(
        "IADD_IMM.i32 r2, 0x0, #0x1000\nMOV.i32 r3, 0x0\n{body}
         BLEND.slot0.v4.f32.end @r4:r5:r6:r7, blend_descriptor_0.w0, r60, target:0x0"
    );
    let mut fragments = Fragments::new(assemble(&program), 2, 1);
    fragments.coverage = vec![0, 1];
    let mut memory = Memory::new();
    memory.map(0x1000, vec![0; 32]).unwrap();
    valhall::draw(&fragments, &mut memory, resources).unwrap();
    to_words(memory.region(0x1000).unwrap())
}

fn drawn(resources: &Resources) -> Vec<[f32; 4]> {
    resources.targets[0].as_ref().unwrap().pixels().iter().map(|pixel| pixel.map(f32::from_bits)).collect()
}

#[test]
fn helpers_get_nothing_from_atomics_and_store_only_what_they_must() {
    for (atomic, first) in [
        ("ATOM1_RETURN.i32.slot0.ainc @r8, r2, offset:0x0", 1),
        ("ATOM_RETURN.i32.slot0.aadd @r8, @r8, r2, offset:0x0", 7),
        ("ATOM_RETURN.i64.slot0.axchg @r8:r9, @r8:r9, r2, offset:0x0", 7),
    ] {
        // Each lane stores its number plus 1 to its own word, then reads the result of its neighbour's atomic.
        let body = |access: &str| {
            format!(
                "IADD_IMM.i32 r8, 0x0, #0x7\nIADD_IMM.i32 r9, 0x0, #0x9\nMOV.i32 r10, lane_id.w0
                 SHADDX.u64 r12, r2, r10.w0, shift:0x2\nIADD_IMM.i32 r11, r10, #0x1
                 STORE.i32{access}.slot0 @r11, r12, offset:16\n{atomic}
                 IADD_IMM.i32 r14, 0x0, #0x1\nCLPER.i32.subgroup4.xor r4, r8, r14\nCLPER.i32.subgroup4.xor r5, r9, r14
                 U32_TO_F32 r4, r4\nU32_TO_F32 r5, r5\nU32_TO_F32 r6, r8\nMOV.i32 r7, 0x0"
            )
        };
        let mut resources = resources(2, 1);
        let found = beside_a_helper(&body(""), &mut resources);
        assert_eq!((found[0], &found[4..]), (first, &[0, 2, 0, 0][..]), "{atomic}");
        // The second register is only written by 64-bit atomics.
        let second = if atomic.contains("i64") { 0.0 } else { 9.0 };
        assert_eq!(drawn(&resources)[1][..3], [0.0, second, 0.0], "{atomic}");
        let found = beside_a_helper(&body(".force"), &mut resources);
        assert_eq!(found[4..], [1, 2, 3, 4], "{atomic}");
    }
}

#[test]
fn the_size_of_the_picture_is_told_less_one() {
    let body = "MOV.i32 r8, framebuffer_size.w0\nMOV.i32 r6, framebuffer_size.w1
        U16_TO_F32 r4, r8.h00\nU16_TO_F32 r5, r8.h11\nU32_TO_F32 r6, r6\nMOV.i32 r7, 0x0";
    assert_eq!(draw(body, &mut resources(5, 3)).unwrap()[14], [4.0, 2.0, 0.0, 0.0]);
}

#[test]
fn a_place_is_kept_by_flat_varyings_and_forgotten_when_it_is_clobbered() {
    let mut resources = resources(1, 1);
    resources.varyings.0.push(Varying { offset: 16, components: vec![Component::Flat(3)] });
    let place = "IADD_IMM.i32 r2, 0x0, #0xC00040\n";
    let again = "LD_VAR_BUF_IMM.f32.slot0.v2.src_f32.center.retrieve @r6:r7, 0x0, index:0x0";
    let kept = format!(
        "{place}LD_VAR_BUF_IMM.f32.slot0.v2.src_f32.explicit.store @r4:r5, r2, index:0x0
         LD_VAR_FLAT_IMM.slot0.u32 @r8, table:0x2, index:0x1\n{again}"
    );
    assert_eq!(draw(&kept, &mut resources).unwrap(), [[0.25, 0.75, 0.25, 0.75]]);
    let clobbered =
        format!("{place}LD_VAR_BUF_IMM.f32.slot0.v2.src_f32.explicit.clobber @r4:r5, r2, index:0x0\n{again}");
    assert_eq!(draw(&clobbered, &mut resources).unwrap(), [[0.25, 0.75, 0.5, 0.5]]);
}

#[test]
fn the_second_of_two_look_ups_stands_behind_the_packed_results_of_the_first() {
    let mut resources = resources(1, 1);
    let plain = Sampler { min: Filter::Nearest, ..Sampler::default() };
    with_texture(&mut resources, Shape::Two, [1, 1, 1], 1, &[&[2.0]], plain);
    let second = Texture::new(Shape::Two, [1, 1, 1], 1, Format::R32F, vec![to_bytes(&[5.0f32.to_bits()])]).unwrap();
    resources.textures.insert(Handle::new(table::TEXTURES, 1), second);
    // Four halves take two registers.
    let body = "IADD_IMM.i32 r21, 0x0, #0x20011800\nMOV.i32 r2, r0\nMOV.i32 r3, r1
        TEX_DUAL.slot1.f.16.32.2d.zero @r8:r9:r10:r11:r12:r13, @r2:r3, r20
        F16_TO_F32 r4, r8.h0\nF16_TO_F32 r5, r9.h1\nMOV.i32 r6, r10\nMOV.i32 r7, r13";
    assert_eq!(draw(body, &mut resources).unwrap(), [[2.0, 1.0, 5.0, 1.0]]);
}

#[test]
fn depth_and_stencil_heed_the_coverage_that_the_program_gives() {
    let mut resources = resources(2, 1);
    resources.depth = Target::new(Format::R32F, 2, 1, Texel::floats([1.0; 4]));
    resources.stencil = Target::new(Format::parse("R8UI").unwrap(), 2, 1, Texel::floats([0.0; 4]));
    // The lowest bit of x is the coverage; only the low 8 bits of a stencil value count.
    let body = "IADD_IMM.i32 r8, 0x0, #0x1\nLSHIFT_AND.i32 r9, r59, 0x0.b00, r8\nIADD_IMM.i32 r10, 0x0, #0x1F5
        ZS_EMIT.z.stencil.slot0 @r11, r1, r10, r9
        U32_TO_F32 r4, r11\nMOV.i32 r5, 0x0\nMOV.i32 r6, 0x0\nMOV.i32 r7, 0x0";
    let found = draw(body, &mut resources).unwrap();
    assert_eq!([found[0][0], found[1][0]], [0.0, 1.0]);
    let first = |target: &Option<Target>| target.as_ref().unwrap().pixels().iter().map(|p| p[0]).collect::<Vec<_>>();
    assert_eq!(first(&resources.depth), [1.0f32, 0.5].map(f32::to_bits));
    assert_eq!(first(&resources.stencil), [0, 0xf5]);
}

#[test]
fn halves_of_whole_numbers_are_extended_and_saturate() {
    let mut resources = resources(1, 1);
    for (name, clear) in [("RGBA32I", -70_000), ("RGBA32UI", 70_000)] {
        let format = Format::parse(name).unwrap();
        let clear = Texel { channels: [clear as u32; 4], class: format.class() };
        resources.targets.push(Target::new(format, 1, 1, clear));
    }
    // Loads the initial colour as halves of both kinds, then stores four halves to the signed target.
    let body = "IADD_IMM.i32 r8, 0x0, #0xFF000100\nIADD_IMM.i32 r9, 0x0, #0xFF000200
        LD_TILE.v2.s16.slot0 @r10, r8, r60, r0\nLD_TILE.v2.u16.slot0 @r11, r9, r60, r0
        S16_TO_F32 r4, r10.h00\nS16_TO_F32 r5, r10.h11\nU16_TO_F32 r6, r11.h00\nU16_TO_F32 r7, r11.h11
        IADD_IMM.i32 r12, 0x0, #0x7FFF8000\nIADD_IMM.i32 r13, 0x0, #0xFFFF
        BLEND.slot0.v4.s16 @r12:r13, blend_descriptor_1.w0, r60, target:0x0";
    assert_eq!(draw(body, &mut resources).unwrap(), [[-32768.0, -32768.0, 65535.0, 65535.0]]);
    let found = resources.targets[1].as_ref().unwrap().pixels()[0].map(|word| word as i32);
    assert_eq!(found, [-32768, 32767, -1, 0]);
}

#[test]
fn a_divergent_barrier_names_a_lane_that_waits_there() {
    // Lane 0 takes another path.
    let program = assemble(
        "MOV.i32 r4, lane_id.w0\nIADD_IMM.i32 r4, r4, #0x0
         BRANCHZ.eq.reconverge r4, offset:1\nBARRIER.slot7.wait\nNOP.end",
    );
    let launch = Launch { program, local_size: [16, 1, 1], ..Launch::default() };
    let mut memory = Memory::new();
    let errors = [valhall::run(&launch, &mut memory), valhall::run_observed(&launch, &mut memory, ())];
    for error in errors.map(Result::unwrap_err) {
        assert!(matches!(error, RunError::DivergentBarrier { elsewhere: 4, .. }), "{error}");
        assert_eq!(error.place().and_then(|place| place.lane), Some(1), "{error}");
    }
}

#[test]
fn a_colour_without_coverage_is_not_drawn() {
    let mut resources = resources(2, 1);
    // The lowest bit of x is the coverage.
    let body = "IADD_IMM.i32 r8, 0x0, #0x1\nLSHIFT_AND.i32 r60, r59, 0x0.b00, r8
        MOV.i32 r4, 0x0\nMOV.i32 r5, 0x0\nMOV.i32 r6, 0x0\nMOV.i32 r7, 0x0";
    assert_eq!(draw(body, &mut resources).unwrap(), [[-1.0; 4], [0.0; 4]]);
}
