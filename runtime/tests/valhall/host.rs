//! Accesses of programs to their host: varyings, attributes, buffers, images and render targets.

use isaforge_runtime::valhall::host::{
    Attribute, Buffer, Compare, Component, Filter, Format, Handle, Host, Image, Plane, Resources, Sampler, Shape,
    Target, Texel, Texture, Varying, Wrap, table,
};
use isaforge_runtime::valhall::{self, Fragments, Vertices};
use isaforge_runtime::{Launch, Memory, Outcome, RunError};

use super::seed::seed;
use super::{assemble, to_bytes, to_words};

/// Loads the centre of a pixel into r0 and r1, in pixels, and the handles of texture 0 and sampler 0 into r20.
const START: &str = "
    LD_VAR_BUF_IMM.f32.slot0.v2.src_f32.center.store @r0:r1, r61, index:0x0
    IADD_IMM.i32 r20, 0x0, #0x20001800
";
/// Draws r4 to r7.
const END: &str = "
    BLEND.slot0.v4.f32.end @r4:r5:r6:r7, blend_descriptor_0.w0, r60, target:0x0
";

pub fn plane(origin: f32, dx: f32, dy: f32) -> Component {
    Component::Plane(Plane { origin, dx, dy })
}

/// Resources with a target, and the position of pixels as the varying at byte 0.
pub fn resources(width: u32, height: u32) -> Resources {
    let target = Target::new(Format::RGBA32F, width, height, Texel::floats([-1.0; 4]));
    let mut resources = Resources { targets: vec![target], ..Resources::default() };
    let components = vec![plane(0.0, 1.0, 0.0), plane(0.0, 0.0, 1.0)];
    resources.varyings.0.push(Varying { offset: 0, components });
    resources
}

/// Adds texture 0, with these values in one channel, and sampler 0.
pub fn with_texture(
    resources: &mut Resources,
    shape: Shape,
    size: [u32; 3],
    layers: u32,
    levels: &[&[f32]],
    sampler: Sampler,
) {
    let levels = levels.iter().map(|level| level.iter().flat_map(|value| value.to_le_bytes()).collect()).collect();
    let texture = Texture::new(shape, size, layers, Format::R32F, levels).unwrap();
    resources.textures.insert(Handle::new(table::TEXTURES, 0), texture);
    resources.samplers.insert(Handle::new(table::SAMPLERS, 0), sampler);
}

pub fn draw(body: &str, resources: &mut Resources) -> Result<Vec<[f32; 4]>, RunError> {
    let [width, height] = resources.targets[0].as_ref().unwrap().size();
    let fragments = Fragments::new(assemble(&format!("{START}{body}{END}")), width, height);
    valhall::draw(&fragments, &mut Memory::new(), resources)?;
    Ok(colours(resources, 0))
}

fn colours(resources: &Resources, target: usize) -> Vec<[f32; 4]> {
    resources.targets[target].as_ref().unwrap().pixels().iter().map(|pixel| pixel.map(f32::from_bits)).collect()
}

/// Returns one channel of all pixels.
pub fn channel(colours: &[[f32; 4]], channel: usize) -> Vec<f32> {
    colours.iter().map(|colour| colour[channel]).collect()
}

#[test]
fn a_place_in_the_pixel_can_be_given_and_remembered() {
    let mut resources = resources(2, 1);
    // A quarter to the right and three quarters up from the corner; then the same position again.
    let body = "IADD_IMM.i32 r2, 0x0, #0xC00040
        LD_VAR_BUF_IMM.f32.slot0.v2.src_f32.explicit.store @r4:r5, r2, index:0x0
        LD_VAR_BUF_IMM.f32.slot0.v2.src_f32.center.retrieve @r6:r7, 0x0, index:0x0";
    assert_eq!(draw(body, &mut resources).unwrap(), [[0.25, 0.75, 0.25, 0.75], [1.25, 0.75, 1.25, 0.75]]);
    let body = "LD_VAR_BUF_IMM.f32.slot0.v2.src_f32.centroid.clobber @r4:r5, r61, index:0x0
        LD_VAR_BUF_IMM.f16.slot0.v2.src_f32.center.store @r8, r61, index:0x0
        F16_TO_F32 r6, r8.h0\nF16_TO_F32 r7, r8.h1";
    assert_eq!(draw(body, &mut resources).unwrap()[1], [1.5, 0.5, 1.5, 0.5]);
}

#[test]
fn every_sample_lies_in_the_centre() {
    let mut resources = resources(1, 1);
    // The position of sample 3, as compiled programs load it.
    let body = "IADD_IMM.i32 r2, sample.w0, #0xC
        IADD.u32 r3, sample.w1, 0x0
        LOAD.i32.unsigned.slot0 @r8, r2, offset:0
        S16_TO_F32 r4, r8.h00\nS16_TO_F32 r5, r8.h11\nMOV.i32 r6, 0x0\nMOV.i32 r7, 0x0";
    assert_eq!(draw(body, &mut resources).unwrap(), [[128.0, 128.0, 0.0, 0.0]]);
    let error = draw(&body.replace("LOAD.i32.unsigned", "STORE.i32"), &mut resources).unwrap_err();
    assert!(matches!(error, RunError::Memory { .. }), "{error}");
}

#[test]
fn varyings_are_found_in_buffers_and_tables() {
    let mut resources = resources(1, 1);
    let flat = |words: &[u32]| words.iter().map(|&word| Component::Flat(word)).collect();
    resources.varyings.0.push(Varying { offset: 48, components: flat(&[7, 0xffff_fffe, 9]) });
    resources.depth_and_w = [Some(plane(0.25, 0.0, 0.0)), Some(Component::Flat(4.0f32.to_bits()))];
    let converted = "\nS32_TO_F32 r4, r4\nS32_TO_F32 r5, r5\nS32_TO_F32 r6, r6\nMOV.i32 r7, 0x0";
    for load in [
        "LD_VAR_BUF_IMM.f32.slot0.v3.src_flat32.center.store @r4:r5:r6, r61, index:0x30",
        "IADD_IMM.i32 r8, 0x0, #0x30\nLD_VAR_BUF.f32.slot0.v3.src_flat32.center.store @r4:r5:r6, r61, r8",
        "LD_VAR_FLAT_IMM.slot0.v3.s32 @r4:r5:r6, table:0x2, index:0x3",
        "IADD_IMM.i32 r8, 0x0, #0x3\nLD_VAR_FLAT.slot0.v3.auto @r4:r5:r6, r8",
        "LD_VAR_IMM.slot0.v3.u32.center.store @r4:r5:r6, r61, table:0x2, index:0x3",
        "IADD_IMM.i32 r8, 0x0, #0x3\nLD_VAR.slot0.v3.s32.center.store @r4:r5:r6, r61, r8",
    ] {
        let found = draw(&format!("{load}{converted}"), &mut resources).unwrap();
        assert_eq!(found, [[7.0, -2.0, 9.0, 0.0]], "{load}");
    }
    let body = "LD_VAR_BUF_IMM.f16.slot0.v2.src_flat32.center.store @r8, r61, index:0x30
        S16_TO_F32 r4, r8.h00\nS16_TO_F32 r5, r8.h11
        LD_VAR_SPECIAL.f32.center.clobber.slot0 @r6, 0x0, index:0x3
        LD_VAR_SPECIAL.f32.center.clobber.slot0 @r7, 0x0, index:0x2";
    assert_eq!(draw(body, &mut resources).unwrap(), [[7.0, -2.0, 0.25, 4.0]]);
}

#[test]
fn helper_lanes_compute_but_do_nothing_that_can_be_seen() {
    let mut memory = Memory::new();
    memory.map(0x1000, vec![0; 64]).unwrap();
    // Every lane adds 1, and subtracts its own x * x from that of its neighbour along x.
    let program = assemble(&format!(
        "{START}
         IADD_IMM.i32 r2, 0x0, #0x1000\nMOV.i32 r3, 0x0
         ATOM1_RETURN.i32.slot0.ainc @r8, r2, offset:0x0
         STORE.i32.slot0 @r1, r2, offset:4
         LOAD.i32.unsigned.slot0 @r9, r0, offset:0
         FMA.f32 r10, r0, r0, 0x0.neg
         IADD_IMM.i32 r12, 0x0, #0x1
         CLPER.i32.subgroup4.xor r11, r10, r12
         FADD.f32 r4, r11, r10.neg
         U32_TO_F32 r5, r8
         MOV.i32 r6, 0x0
         MOV.i32 r7, r61{END}"
    ));
    let mut resources = resources(3, 3);
    let mut fragments = Fragments::new(program.clone(), 3, 3);
    fragments.coverage = vec![0; 9];
    fragments.coverage[1] = 1;
    // A load from an unmapped address ends the run unless the lane is a helper.
    let error = valhall::draw(&fragments, &mut memory.clone(), &mut resources).unwrap_err();
    assert!(matches!(&error, RunError::Memory { .. }), "{error}");
    assert_eq!(error.place().and_then(|place| place.thread), Some([1, 0, 0]));
    assert!(error.to_string().contains(", pixel (1, 0), lane 1: "), "{error}");
    fragments.program = program.into_iter().filter(|&word| !valhall_text(word).starts_with("LOAD")).collect();
    valhall::draw(&fragments, &mut memory, &mut resources).unwrap();
    let colours = colours(&resources, 0);
    assert_eq!(colours.iter().filter(|colour| colour[0] != -1.0).count(), 1);
    // 0.25 - 2.25 from the helper on its left; the counter was 0.
    assert_eq!(colours[1][..2], [-2.0, 0.0]);
    assert_eq!(to_words(memory.region(0x1000).unwrap())[..2], [1, 0.5f32.to_bits()]);
}

fn valhall_text(word: u64) -> String {
    isaforge_valhall::decode(word).map_or(String::new(), |instruction| instruction.to_string())
}

/// Tests loops of different lengths, derivatives, discards, counters in memory, thread memory, and reads of the
/// picture.
#[test]
fn eight_warps_in_step_draw_what_each_would_alone() {
    let head = "
        LD_VAR_BUF_IMM.f32.slot0.v2.src_f32.center.store @r0:r1, r61, index:0x0
        IADD_IMM.i32 r21, 0x0, #0x3F7F0000
        IADD_IMM.i32 r22, 0x0, #0x1
        FMA.f32 r4, r0, r1, 0x0.neg
        MOV.i32 r2, 0x0
        IADD_IMM.i32 r3, 0x0, #0xF
        LSHIFT_AND.i32 r3, r59, 0x0.b00, r3
        again: FMA.f32 r4, r4, r21, 0x3F800000
        IADD_IMM.i32 r2, r2, #0x1
        ICMP.u32.lt.m1 r5, r2, r3, 0x0
        BRANCHZ.reconverge r5, offset:again
        CLPER.i32.subgroup4.xor r6, r4, r22
        FADD.f32 r5, r6, r4.neg";
    let counting = "
        IADD_IMM.i32 r8, 0x0, #0x1000\nMOV.i32 r9, 0x0
        ATOM1_RETURN.i32.slot0.ainc @r10, r8, offset:0
        STORE.i32.slot0 @r10, r8, offset:4";
    let discarding = "DISCARD.f32.gt r5, 0x0";
    let own = "
        STORE.i32.slot0 @r5, thread_local_pointer.w0, offset:16
        LOAD.i32.unsigned.slot0 @r6, thread_local_pointer.w0, offset:16";
    let tail = "
        IADD_IMM.i32 r10, 0x0, #0xFF000000
        LD_TILE.v4.f32.slot0 @r12:r13:r14:r15, r10, r60, r0
        U16_TO_F32 r7, framebuffer_size.w0.h00
        FADD.f32 r7, r7, r12
        BARRIER.slot7.wait
        ATEST @r60, r60, r5, atest_datum.w0
        BLEND.slot0.v4.f32.end @r4:r5:r6:r7, blend_descriptor_0.w0, r60, target:0x0";
    for parts in [
        [head, "", "", tail],
        [head, counting, discarding, tail],
        [head, discarding, own, tail],
        [head, own, counting, tail],
    ] {
        let mut fragments = Fragments::new(assemble(&parts.join("\n")), 37, 21);
        fragments.coverage = (0..37 * 21).map(|index| (index % 5 != 0 && index % 7 != 3).into()).collect();
        let run = |draw: fn(&Fragments, &mut Memory, &mut dyn Host) -> Result<Outcome, RunError>| {
            let (mut memory, mut resources) = (Memory::new(), resources(37, 21));
            memory.map(0x1000, vec![0; 8]).unwrap();
            let outcome = draw(&fragments, &mut memory, &mut resources).unwrap_or_else(|error| panic!("{error}"));
            (outcome, memory.region(0x1000).unwrap().to_vec(), resources.targets)
        };
        assert_eq!(run(valhall::draw), run(valhall::reference::draw));
    }
}

#[test]
fn a_picture_that_never_ends_uses_up_its_budget() {
    let program = assemble("again: IADD_IMM.i32 r0, r0, #0x1\nBRANCHZ.eq 0x0, offset:again\nNOP.end");
    for budget in [100, 1 << 22] {
        let fragments = Fragments { budget, ..Fragments::new(program.clone(), 40, 8) };
        let error = valhall::draw(&fragments, &mut Memory::new(), &mut Resources::default()).unwrap_err();
        assert!(matches!(error, RunError::Budget { .. }), "{error}");
        assert!(error.to_string().contains(", pixel (0, 0), lane 0: "), "{error}");
    }
}

#[test]
fn a_discarded_lane_goes_on_as_a_helper() {
    let mut resources = resources(2, 2);
    // Discards x > 1, then computes derivatives along x, which need the discarded lanes.
    let body = "IADD_IMM.i32 r8, 0x0, #0x1
        DISCARD.f32.gt r0, 0x3F800000
        CLPER.i32.subgroup4.xor r4, r0, r8
        MOV.i32 r5, r1\nMOV.i32 r6, 0x0\nMOV.i32 r7, 0x3F800000";
    let found = draw(body, &mut resources).unwrap();
    let untouched = [-1.0; 4];
    assert_eq!(found, [[1.5, 0.5, 0.0, 1.0], untouched, [1.5, 1.5, 0.0, 1.0], untouched]);
    let error = valhall::run(
        &Launch { program: assemble("DISCARD.f32.eq r0, r0\nNOP.end"), ..Launch::default() },
        &mut Memory::new(),
    );
    assert!(error.unwrap_err().to_string().ends_with("a discard outside a fragment program is not supported"));
}

#[test]
fn blending_skips_the_call_of_a_blend_shader_and_converts() {
    let mut resources = resources(1, 1);
    let whole = Target::new(Format::parse("RGBA16UI").unwrap(), 1, 1, Texel::floats([0.0; 4]));
    resources.targets.push(whole);
    // The word after the first BLEND would draw something else, but is skipped. Halves are converted, and integers stay
    // integers.
    let body = "IADD_IMM.i32 r8, 0x0, #0x3C003800\nIADD_IMM.i32 r9, 0x0, #0xC0004000
        BLEND.slot0.v4.f16 @r8:r9, blend_descriptor_0.w0, r60, target:0x1
        BLEND.slot0.v4.f32.end @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x0
        LD_TILE.v4.f32.slot0 @r4:r5:r6:r7, r10, r60, r0
        ST_TILE.v4.f32.slot0 @r0:r1:r2:r3, r10, 0x0, r0
        IADD_IMM.i32 r12, 0x0, #0x12345\nIADD_IMM.i32 r13, 0x0, #0x7\nMOV.i32 r14, 0x0\nMOV.i32 r15, 0x0
        BLEND.slot0.v4.u32 @r12:r13:r14:r15, blend_descriptor_1.w0, r60, target:0x0
        FADD.f32 r4, r4, 0x3F800000";
    let body = format!("IADD_IMM.i32 r10, 0x0, #0xFF000000\n{body}");
    assert_eq!(draw(&body, &mut resources).unwrap(), [[1.5, 1.0, 2.0, -2.0]]);
    assert_eq!(resources.targets[1].as_ref().unwrap().pixels(), [[0xffff, 7, 0, 0]]);
    let body = "IADD_IMM.i32 r10, 0x0, #0xFF000000
        IADD_IMM.i32 r12, 0x0, #0x3F000000
        ST_TILE.f32.slot0 @r12, r10, r60, r0
        LD_TILE.v4.f32.slot0 @r4:r5:r6:r7, r10, r60, r0";
    assert_eq!(draw(body, &mut resources).unwrap(), [[0.5, 0.0, 0.0, 1.0]]);
}

#[test]
fn depth_and_stencil_are_written_where_the_pixel_is_covered() {
    let mut resources = resources(2, 1);
    resources.depth = Target::new(Format::R32F, 2, 1, Texel::floats([1.0; 4]));
    resources.stencil = Target::new(Format::parse("R8UI").unwrap(), 2, 1, Texel::floats([0.0; 4]));
    let program = format!(
        "{START}IADD_IMM.i32 r8, 0x0, #0x15
         ZS_EMIT.z.stencil.slot0 @r60, r0, r8, r60
         MOV.i32 r4, 0x0\nMOV.i32 r5, 0x0\nMOV.i32 r6, 0x0\nMOV.i32 r7, 0x0{END}"
    );
    let mut fragments = Fragments::new(assemble(&program), 2, 1);
    fragments.coverage = vec![1, 0];
    valhall::draw(&fragments, &mut Memory::new(), &mut resources).unwrap();
    assert_eq!(channel(&depth(&resources), 0), [0.5, 1.0]);
    assert_eq!(resources.stencil.unwrap().pixels().iter().map(|pixel| pixel[0]).collect::<Vec<_>>(), [0x15, 0]);
}

fn depth(resources: &Resources) -> Vec<[f32; 4]> {
    resources.depth.as_ref().unwrap().pixels().iter().map(|pixel| pixel.map(f32::from_bits)).collect()
}

#[test]
fn images_and_buffers_are_read_and_written_in_memory() {
    let mut memory = Memory::new();
    memory.map(0x1000, to_bytes(&[0x0403_0201, 0x0807_0605, 0, 0])).unwrap();
    memory.map(0x2000, vec![0; 64]).unwrap();
    let mut host = Resources::default();
    let format = Format::parse("RGBA8UI").unwrap();
    host.images.insert(Handle::new(table::IMAGES, 0), Image { address: 0x1000, size: [2, 2, 1], format });
    host.buffers.insert(Handle::new(0, 1), Buffer { address: 0x1000, len: 8, stride: 4 });
    let program = "
        IADD_IMM.i32 r0, 0x0, #0x1
        LD_TEX_IMM.v4.u32.slot0 @r4:r5:r6:r7, r0, 0x0, index:0x0, table:0x5
        IADD_IMM.i32 r1, 0x0, #0x10001
        LEA_TEX_IMM.slot0 @r8:r9:r10, r1, 0x0, table:0x5, index:0x0
        ST_CVT.slot0.v4.auto @r4:r5:r6:r7, r8, r10, offset:0x0
        IADD_IMM.i32 r1, 0x0, #0x2
        LD_TEX_IMM.v4.u32.slot0 @r12:r13:r14:r15, r1, 0x0, index:0x0, table:0x5
        LEA_TEX_IMM.slot0 @r8:r9:r10, r1, 0x0, table:0x5, index:0x0
        ST_CVT.slot0.v4.auto @r4:r5:r6:r7, r8, r10, offset:0x0
        IADD_IMM.i32 r2, 0x0, #0x4
        LD_BUFFER.i16.w0.unsigned.slot0 @r16, r2, r0
        MOV.i32 r17, r15
        STORE.i64.slot0 @r16:r17, u0, offset:0
        LEA_BUF_IMM.slot0 @r18:r19, r0, table:0x0, index:0x1
        STORE.i64.slot0.end @r18:r19, u0, offset:8";
    let launch = Launch { program: assemble(program), uniforms: vec![0x2000, 0], ..Launch::default() };
    valhall::run_with(&launch, &mut memory, &mut host, ()).unwrap();
    assert_eq!(to_words(memory.region(0x1000).unwrap()), [0x0403_0201, 0x0807_0605, 0, 0x0807_0605]);
    // Outside the image, loads return zeros, and stores have no effect.
    assert_eq!(to_words(memory.region(0x2000).unwrap())[..4], [0x0605, 0, 0x1004, 0]);
    let beyond = Launch {
        program: assemble(
            "IADD_IMM.i32 r0, 0x0, #0x1\nIADD_IMM.i32 r2, 0x0, #0x6\nLD_BUFFER.i32.unsigned.slot0 @r4, r2, r0\nNOP.end",
        ),
        ..Launch::default()
    };
    let error = valhall::run_with(&beyond, &mut memory, &mut host, ()).unwrap_err().to_string();
    assert!(error.ends_with("lane 0: 4 bytes at 0x6 reach beyond buffer 1 in table 0, which has 8"), "{error}");
}

#[test]
fn attributes_come_by_vertex_or_instance() {
    let mut memory = Memory::new();
    memory.map(0x1000, vec![0, 255, 51, 102]).unwrap();
    memory.map(0x1100, to_bytes(&[5, 6, 7])).unwrap();
    memory.map(0x2000, vec![0; 32 * 3]).unwrap();
    let mut host = Resources::default();
    let attribute = |address, stride, per_instance, format| Attribute {
        address,
        stride,
        per_instance,
        format: Format::parse(format).unwrap(),
    };
    host.attributes.insert(Handle::new(1, 0), attribute(0x1000, 1, false, "R8"));
    host.attributes.insert(Handle::new(1, 1), attribute(0x1100, 4, true, "R32UI"));
    host.buffers.insert(Handle::new(61, 0), Buffer { address: 0x2000, len: 96, stride: 32 });
    let program = "
        NOP.end
        LD_ATTR_IMM.v4.f32.slot0 @r0:r1:r2:r3, r60, r61, index:0x0, table:0x1
        LD_ATTR_IMM.v4.u32.slot0 @r4:r5:r6:r7, r60, r61, index:0x1, table:0x1
        LEA_BUF_IMM.slot0 @r8:r9, r59, table:0xD, index:0x0
        STORE.i128.slot0 @r0:r1:r2:r3, r8, offset:0
        STORE.i128.slot0.end @r4:r5:r6:r7, r8, offset:16";
    let vertices = Vertices { start: 1, instance: 2, ..Vertices::new(assemble(program), 3) };
    valhall::run_vertices(&vertices, &mut memory, &mut host).unwrap();
    let words = to_words(memory.region(0x2000).unwrap());
    let floats = |at: usize| [0, 1, 2, 3].map(|i| f32::from_bits(words[at + i]));
    assert_eq!([floats(0), floats(8), floats(16)], [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0], [0.2, 0.0, 0.0, 1.0]]);
    assert_eq!([&words[4..8], &words[12..16], &words[20..24]], [[7, 0, 0, 1]; 3]);
    let far = Vertices { count: 5, ..vertices };
    let error = valhall::run_vertices(&far, &mut memory, &mut host).unwrap_err().to_string();
    assert!(error.contains(", vertex 4, lane 4: nothing is mapped at 0x1004"), "{error}");
}

/// A simple deterministic random number generator.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

#[test]
fn no_message_and_no_coordinate_brings_the_runtime_down() {
    let mut random = Random(seed(0x9e37_79b9_7f4a_7c15));
    let mut ended = 0;
    let opcodes = [
        0x041, 0x054, 0x055, 0x056, 0x05c, 0x05d, 0x05e, 0x064, 0x066, 0x067, 0x06a, 0x06c, 0x06d, 0x071, 0x076, 0x077,
        0x078, 0x079, 0x07d, 0x07e, 0x07f, 0x125, 0x128, 0x129, 0x12f, 0x130, 0x131, 0x132, 0x137, 0x138, 0x139, 0x13a,
        0x13f, 0x020,
    ];
    for round in 0..3000u64 {
        let mut resources = resources(3, 2);
        let shapes = [
            (Shape::One, [5, 1, 1], 2),
            (Shape::Two, [3, 2, 1], 2),
            (Shape::Three, [2, 3, 2], 1),
            (Shape::Cube, [2, 2, 1], 12),
        ];
        let (shape, size, layers) = shapes[round as usize % 4];
        let texels = (size[0] * size[1] * size[2] * layers) as usize;
        let modes = [Wrap::Clamp, Wrap::Repeat, Wrap::Mirror, Wrap::MirrorOnce, Wrap::Border];
        let filter = |bit: u64| if round >> bit & 1 == 0 { Filter::Linear } else { Filter::Nearest };
        let sampler = Sampler {
            min: filter(2),
            mag: filter(3),
            mip: Some(filter(4)),
            wrap: [modes[round as usize % 5]; 3],
            compare: (round % 3 == 0).then_some(Compare::Less),
            ..Sampler::default()
        };
        with_texture(&mut resources, shape, size, layers, &[&vec![0.5; texels]], sampler);
        let image = Image { address: 0x1000, size: [2, 2, 2], format: Format::RGBA8 };
        let attribute = Attribute { address: 0x1000, stride: 4, per_instance: false, format: Format::RGBA8 };
        for index in 0..16 {
            resources.images.insert(Handle::new(5, index), image);
            resources.attributes.insert(Handle::new(1, index), attribute);
            resources.buffers.insert(Handle::new(0, index), Buffer { address: 0x1000, len: 64, stride: 16 });
        }
        let mut memory = Memory::new();
        memory.map(0x1000, vec![0; 64]).unwrap();
        // Registers hold all classes of numbers, and the handle of the texture where handles are used.
        let mut words = Vec::new();
        for register in 0..16u64 {
            let value = match random.next() % 6 {
                0 => 0x7fc0_0000 | random.next() as u32 & 0x8000_0001,
                1 => 0x7f80_0000 | random.next() as u32 & 0x8000_0000,
                2 => random.next() as u32,
                3 => 0x3f00_0000,
                4 => random.next() as u32 & 7,
                _ => 0x20001800,
            };
            words.push(0x0110_c000_0000_00c0 | register << 40 | u64::from(value) << 8);
        }
        for _ in 0..4 {
            let opcode = opcodes[random.next() as usize % opcodes.len()];
            let word = random.next() & 0x0000_0fff_fff0_0f0f | opcode << 48;
            words.extend((0..64).map(|bits| word ^ bits << 26).find(|&word| isaforge_valhall::decode(word).is_ok()));
        }
        words.extend(assemble("NOP.end"));
        let fragments = Fragments { budget: 1 << 12, ..Fragments::new(words, 3, 2) };
        let (mut memory_too, mut resources_too) = (memory.clone(), resources.clone());
        let result = valhall::draw(&fragments, &mut memory, &mut resources);
        assert_eq!(result, valhall::reference::draw(&fragments, &mut memory_too, &mut resources_too));
        if result.is_ok() {
            ended += 1;
            assert_eq!(
                (memory.region(0x1000), &resources.targets),
                (memory_too.region(0x1000), &resources_too.targets)
            );
        }
    }
    assert!((100..2900).contains(&ended), "{ended} runs came to their end");
}
