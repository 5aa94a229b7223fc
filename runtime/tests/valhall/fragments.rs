//! Fragments on every engine: samples, primitives, derivatives, failures; and hosts of programs for other stages.

use std::num::NonZero;

use isaforge_runtime::valhall::host::{
    Attribute, Blend, Buffer, Equation, Factor, Format, Handle, Image, Line, Operation, Point, Primitive, Resources,
    Target, Texel, Texture, Triangle, Varying, table,
};
use isaforge_runtime::valhall::{self, Fragments, Vertices, fast};
use isaforge_runtime::{Execution, Launch, Level, Memory, Outcome, RunError};

use super::host::{channel, plane, resources};
use super::{assemble, to_bytes, to_words};

/// Draws r4 to r7 with the coverage in r60.
const END: &str = "\nBLEND.slot0.v4.f32.end @r4:r5:r6:r7, blend_descriptor_0.w0, r60, target:0x0";
/// Loads the position of a pixel's centre into r0 and r1.
const CENTRE: &str = "LD_VAR_BUF_IMM.f32.slot0.v2.src_f32.center.store @r0:r1, r61, index:0x0\n";

/// Returns all engines of this processor, also with code compiled the first time.
fn executions() -> Vec<Execution> {
    let all = Execution::available();
    let eager = all.iter().map(|execution| execution.eager());
    all.iter().copied().chain(eager).collect()
}

/// Draws on every engine, checks that the results agree, and returns them.
fn draw(fragments: &Fragments, resources: &Resources) -> (Result<Outcome, RunError>, Resources) {
    let run = |execution: Execution| {
        let mut drawn = resources.clone();
        (valhall::draw_on(execution, fragments, &mut Memory::new(), &mut drawn), drawn)
    };
    let (ended, expected) = run(Execution::reference());
    for execution in executions() {
        let (other, found) = run(execution);
        assert_eq!(other, ended, "{execution}");
        assert_eq!(found.targets, expected.targets, "{execution}");
        assert_eq!((&found.depth, &found.stencil), (&expected.depth, &expected.stencil), "{execution}");
    }
    (ended, expected)
}

/// Resources with the position of pixels as the varying at byte 0, and a target with `samples` samples.
fn multisampled(width: u32, height: u32, samples: u32) -> Resources {
    let target = Target::multisampled(Format::RGBA32F, [width, height], samples, Texel::floats([-1.0; 4]));
    Resources { targets: vec![target], ..resources(width, height) }
}

fn colours(resources: &Resources) -> Vec<[f32; 4]> {
    resources.targets[0].as_ref().unwrap().pixels().iter().map(|pixel| pixel.map(f32::from_bits)).collect()
}

#[test]
fn a_colour_goes_to_the_samples_that_are_covered_and_chosen() {
    let resources = multisampled(2, 1, 4);
    // Samples 0 and 2 of the first pixel are covered, and none of the second.
    let triangle = Primitive::Triangle(Triangle([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]));
    let program = |mask: u32| {
        let text = format!(
            "U32_TO_F32 r4, r60\nU32_TO_F32 r5, r61\nIADD_IMM.i32 r8, 0x0, #{mask:#x}
             LSHIFT_AND.i32 r60, r60, 0x0.b00, r8\nU32_TO_F32 r6, r60\nMOV.i32 r7, 0x0
             ATEST @r60, r60, r5, atest_datum.w0{END}"
        );
        Fragments::of(&triangle, 4, assemble(&text), 2, 1)
    };
    let untouched = [-1.0; 4];
    let (ended, drawn) = draw(&program(0xf), &resources);
    let colour = [5.0, 5.0, 5.0, 0.0];
    let found = colours(&drawn);
    assert_eq!(found[..4], [colour, untouched, colour, untouched]);
    assert_eq!(found[4..], [untouched; 4]);
    assert!(ended.is_ok());
    let (_, drawn) = draw(&program(0b1100), &resources);
    assert_eq!(colours(&drawn)[..4], [untouched, untouched, [5.0, 5.0, 4.0, 0.0], untouched]);
    let resolved = drawn.targets[0].as_ref().unwrap().resolved();
    assert_eq!(resolved.pixel([0, 0]), Some(Texel::floats([0.5, 0.5, 0.25, -0.75])));
    // An empty coverage draws nothing, and full coverage draws all samples.
    let (_, drawn) = draw(&program(0), &resources);
    assert_eq!(colours(&drawn), [untouched; 8]);
    let whole = Fragments::new(program(0xf).program, 2, 1);
    assert_eq!(colours(&draw(&whole, &resources).1), [[15.0, 15.0, 15.0, 0.0]; 8]);
}

#[test]
fn a_program_asks_for_centroids_samples_and_their_places() {
    let resources = multisampled(1, 1, 4);
    let triangle = Primitive::Triangle(Triangle([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]));
    let one = |body: &str| {
        let text = format!("{body}{END}");
        colours(&draw(&Fragments::of(&triangle, 4, assemble(&text), 1, 1), &resources).1)[0]
    };
    // The mean position of samples 0 and 2; the same position again; then sample 0 itself.
    let found = one("LD_VAR_BUF_IMM.f32.slot0.v2.src_f32.centroid.store @r4:r5, r61, index:0x0
        LD_VAR_BUF_IMM.f32.slot0.v2.src_f32.center.retrieve @r6:r7, 0x0, index:0x0");
    assert_eq!(found, [0.25, 0.375, 0.25, 0.375]);
    let found = one("LD_VAR_BUF_IMM.f32.slot0.v2.src_f32.sample.store @r4:r5, r61, index:0x0
        LD_VAR_BUF_IMM.f32.slot0.v2.src_f32.center.store @r6:r7, r61, index:0x0");
    assert_eq!(found, [0.375, 0.125, 0.5, 0.5]);
    // The positions of samples 3 and 4, as compiled programs load them. Sample 4 does not exist.
    let found = one("IADD_IMM.i32 r2, sample.w0, #0xC\nIADD.u32 r3, sample.w1, 0x0
        LOAD.i64.unsigned.slot0 @r8:r9, r2, offset:0
        S16_TO_F32 r4, r8.h00\nS16_TO_F32 r5, r8.h11\nS16_TO_F32 r6, r9.h00\nS16_TO_F32 r7, r9.h11");
    assert_eq!(found, [160.0, 224.0, 128.0, 128.0]);
}

#[test]
fn samples_of_the_pixel_are_read_and_set_one_by_one() {
    let resources = multisampled(1, 1, 4);
    // Sample 2 of target 0; then the last sample, for a number beyond it.
    let text = format!(
        "MOV.i32 r4, 0x3F800000\nMOV.i32 r5, 0x0\nMOV.i32 r6, 0x0\nMOV.i32 r7, 0x0
         IADD_IMM.i32 r10, 0x0, #0xFF000002
         ST_TILE.v4.f32.slot0 @r4:r5:r6:r7, r10, r60, r0
         IADD_IMM.i32 r10, 0x0, #0xFF000009
         LD_TILE.v4.f32.slot0 @r4:r5:r6:r7, r10, r60, r0
         IADD_IMM.i32 r60, 0x0, #0x1{END}"
    );
    let fragments = Fragments::new(assemble(&text), 1, 1);
    let found = channel(&colours(&draw(&fragments, &resources).1), 0);
    assert_eq!(found, [-1.0, -1.0, 1.0, -1.0]);
}

#[test]
fn points_know_the_place_in_them() {
    let point = Point { place: [2.0, 2.0], size: 4.0 };
    let resources = Resources { point: Some(point), ..resources(6, 6) };
    let text = format!(
        "LD_VAR_SPECIAL.f32.v2.center.clobber.slot0 @r4:r5, 0x0, index:0x0\n{CENTRE}MOV.i32 r6, r0\nMOV.i32 r7, r1{END}"
    );
    let found = colours(&draw(&Fragments::of(&Primitive::Point(point), 1, assemble(&text), 6, 6), &resources).1);
    for y in 0..6u32 {
        for x in 0..6u32 {
            let [cx, cy] = [x, y].map(|n| n as f32 + 0.5);
            let inside = [cx / 4.0, 1.0 - cy / 4.0, cx, cy];
            let expected = if x < 4 && y < 4 { inside } else { [-1.0; 4] };
            assert_eq!(found[(6 * y + x) as usize], expected, "({x}, {y})");
        }
    }
}

#[test]
fn values_along_a_line_are_interpolated() {
    let mut resources = resources(8, 4);
    let line = Primitive::Line(Line([[0.5, 0.5], [7.5, 2.5]]));
    let along = line.component(|vertex| [0.0, 7.0][vertex]);
    resources.varyings.0.push(Varying { offset: 16, components: vec![along] });
    let text = format!(
        "LD_VAR_BUF_IMM.f32.slot0.src_f32.center.store @r4, r61, index:0x10\nMOV.i32 r5, 0x0\nMOV.i32 r6, 0x0\nMOV.i32 r7, 0x0{END}"
    );
    let found = colours(&draw(&Fragments::of(&line, 1, assemble(&text), 8, 4), &resources).1);
    let drawn: Vec<(usize, f32)> =
        found.iter().enumerate().filter(|(_, colour)| colour[0] >= 0.0).map(|(at, colour)| (at, colour[0])).collect();
    assert_eq!(drawn.iter().map(|(at, _)| at % 8).collect::<Vec<_>>().len(), 7, "{drawn:?}");
    for (at, value) in drawn {
        let [x, y] = [at % 8, at / 8].map(|n| n as f64);
        // The foot of the perpendicular on the line from (0, 0) to (7, 2).
        let expected = 7.0 * (7.0 * x + 2.0 * y) / 53.0;
        assert!((f64::from(value) - expected).abs() < 1e-5, "({x}, {y}): {value} {expected}");
    }
}

#[test]
fn helper_lanes_have_what_derivatives_need() {
    let mut resources = resources(13, 9);
    resources.varyings.0.push(Varying { offset: 16, components: vec![plane(3.0, 0.25, -2.0)] });
    // Derivatives along x and y of a varying and of its square; each lane uses those of its own row and column.
    let text = format!(
        "LD_VAR_BUF_IMM.f32.slot0.src_f32.center.store @r8, r61, index:0x10
         FMA.f32 r9, r8, r8, 0x0.neg
         IADD_IMM.i32 r10, 0x0, #0x1\nIADD_IMM.i32 r11, 0x0, #0x2
         CLPER.i32.subgroup4.xor r4, r8, r10\nFADD.f32 r4, r4, r8.neg
         CLPER.i32.subgroup4.xor r5, r8, r11\nFADD.f32 r5, r5, r8.neg
         CLPER.i32.subgroup4.xor r6, r9, r10\nFADD.f32 r6, r6, r9.neg
         MOV.i32 r7, r8{END}"
    );
    let program = assemble(&text);
    let primitives = [
        Primitive::Triangle(Triangle([[0.3, 0.2], [12.7, 3.1], [4.4, 8.9]])),
        Primitive::Line(Line([[0.5, 8.5], [12.5, 1.5]])),
        Primitive::Point(Point { place: [5.5, 5.5], size: 3.0 }),
    ];
    for primitive in primitives {
        let found = colours(&draw(&Fragments::of(&primitive, 1, program.clone(), 13, 9), &resources).1);
        let mut drawn = 0;
        for (at, [dx, dy, square, value]) in found.into_iter().enumerate().filter(|(_, colour)| colour[3] != -1.0) {
            let [x, y] = [at % 13, at / 13];
            let sign = |odd: usize| if odd.is_multiple_of(2) { 1.0 } else { -1.0 };
            assert_eq!([dx, dy], [0.25 * sign(x), -2.0 * sign(y)], "({x}, {y}) {primitive:?}");
            let other = value + dx;
            assert_eq!(square, other * other - value * value);
            drawn += 1;
        }
        assert!(drawn >= 9, "{primitive:?}");
    }
}

/// The order of a pixel: quads row by row, then the pixels of a quad.
fn order(x: u32, y: u32) -> [u32; 4] {
    [y / 2, x / 2, y % 2, x % 2]
}

#[test]
fn a_failing_fragment_leaves_no_pixel_of_later_ones_behind() {
    let (width, height) = (37, 9);
    let mut resources = resources(width, height);
    resources.depth = Target::new(Format::R32F, width, height, Texel::floats([0.5; 4]));
    resources.stencil = Target::new(Format::parse("R8UI").unwrap(), width, height, Texel::floats([0.0; 4]));
    resources.targets.push(Target::multisampled(Format::RGBA8, [width, height], 1, Texel::floats([0.0; 4])));
    resources.targets[1].as_mut().unwrap().write = [false, true, true, true];
    let add = Equation { operation: Operation::Add, source: Factor::One, destination: Factor::One };
    resources.targets[0].as_mut().unwrap().blend = Some(Blend { colour: add, alpha: add, constant: [0.0; 4] });
    // All pixels are drawn, some of them twice, before one of them fails: by an address, the number of a target, or the
    // index of another pixel. Pixels on the left take another path, which comes first.
    let start = format!(
        "{CENTRE}MOV.i32 r4, 0x3F800000\nMOV.i32 r5, r0\nMOV.i32 r6, r1\nMOV.i32 r7, 0x3F800000
         IADD_IMM.i32 r8, 0x0, #0x15
         ICMP.u32.lt.m1 r9, r59.h0, u1, 0x0
         BRANCHZ.reconverge r9, offset:left
         ZS_EMIT.z.stencil.slot0 @r60, r0, r8, r60
         BLEND.slot0.v4.f32 @r4:r5:r6:r7, blend_descriptor_0.w0, r60, target:0x0
         left: BLEND.slot0.v4.f32 @r4:r5:r6:r7, blend_descriptor_1.w0, r60, target:0x0
         BLEND.slot0.v4.f32 @r4:r5:r6:r7, blend_descriptor_0.w0, r60, target:0x0
         ICMP.u32.eq.m1 r10, r59, u0, 0x0
         BRANCHZ.eq.reconverge r10, offset:beyond"
    );
    let failures = [
        "LOAD.i32.unsigned.slot0 @r9, r12, offset:0",
        "BLEND.slot0.v4.f32 @r4:r5:r6:r7, blend_descriptor_5.w0, r60, target:0x0",
        "ST_TILE.v4.f32.slot0 @r4:r5:r6:r7, r12, r60, r0",
    ];
    for (failure, [fx, fy]) in failures.iter().cycle().zip([[0, 0], [36, 8], [17, 3], [16, 3], [5, 4], [30, 0], [2, 7]])
    {
        let program = assemble(&format!("{start}\n{failure}\nbeyond: NOP.end"));
        let uniforms = vec![fx | fy << 16, 9];
        let fragments = Fragments { uniforms, ..Fragments::new(program, width, height) };
        let (ended, drawn) = draw(&fragments, &resources);
        let error = ended.unwrap_err();
        assert_eq!(error.place().and_then(|place| place.thread), Some([fx, fy, 0]), "{error}");
        let found = colours(&drawn);
        for y in 0..height {
            for x in 0..width {
                let at = (width * y + x) as usize;
                let is_drawn = order(x, y) <= order(fx, fy);
                assert_eq!(found[at] != [-1.0; 4], is_drawn, "({x}, {y}) with {error}");
                let second = drawn.targets[1].as_ref().unwrap().pixel([x, y]).unwrap();
                assert_eq!(second.channels[3] != 0, is_drawn, "({x}, {y})");
                let depth = drawn.depth.as_ref().unwrap().pixel([x, y]).unwrap().channels[0];
                let expected = if is_drawn && x >= 9 { x as f32 + 0.5 } else { 0.5 };
                assert_eq!(f32::from_bits(depth), expected, "({x}, {y})");
                let stencil = drawn.stencil.as_ref().unwrap().pixel([x, y]).unwrap().channels[0];
                assert_eq!(stencil, if is_drawn && x >= 9 { 0x15 } else { 0 });
            }
        }
    }
    // A word that does not decode fails for the warp, which leaves nothing.
    let program = [assemble(&start[..start.find("ICMP.u32.eq").unwrap()]), vec![u64::MAX]].concat();
    let fragments = Fragments { uniforms: vec![0, 9], ..Fragments::new(program, width, height) };
    let (ended, drawn) = draw(&fragments, &resources);
    assert!(matches!(ended, Err(RunError::Undecodable { .. })), "{ended:?}");
    assert!(colours(&drawn).iter().all(|colour| *colour == [-1.0; 4]));
}

#[test]
fn targets_of_whole_numbers_keep_all_their_bits() {
    let target = |name: &str| Target::new(Format::parse(name).unwrap(), 3, 1, Texel::floats([0.0; 4]));
    let mut resources = resources(3, 1);
    resources.targets = vec![target("RGBA32UI"), target("RG16I"), target("RGB10_A2UI"), target("R8I")];
    let text = "
        IADD_IMM.i32 r4, 0x0, #0xFFFFFFFF\nIADD_IMM.i32 r5, 0x0, #0x12345678\nMOV.i32 r6, r59\nIADD_IMM.i32 r7, 0x0, #0xFFFFFFFD
        BLEND.slot0.v4.u32 @r4:r5:r6:r7, blend_descriptor_0.w0, r60, target:0x0
        BLEND.slot0.v4.s32 @r7:r5:r6:r4, blend_descriptor_1.w0, r60, target:0x0
        BLEND.slot0.v4.u32 @r6:r5:r6:r4, blend_descriptor_2.w0, r60, target:0x0
        BLEND.slot0.v4.s32.end @r7:r7:r7:r7, blend_descriptor_3.w0, r60, target:0x0";
    let text = text.replace("@r7:r5:r6:r4", "@r8:r9:r10:r11").replace("@r6:r5:r6:r4", "@r12:r13:r14:r15");
    let text = text.replace("@r7:r7:r7:r7", "@r8:r9:r10:r11").replace(
        "BLEND.slot0.v4.u32 @r4",
        "MOV.i32 r8, r7\nMOV.i32 r9, r5\nMOV.i32 r10, r6\nMOV.i32 r11, r4\nMOV.i32 r12, r6\nMOV.i32 r13, r5\nMOV.i32 r14, r6\nMOV.i32 r15, r4\nBLEND.slot0.v4.u32 @r4",
    );
    let (ended, drawn) = draw(&Fragments::new(assemble(&text), 3, 1), &resources);
    ended.unwrap();
    let last = |target: usize| drawn.targets[target].as_ref().unwrap().pixels()[2];
    assert_eq!(last(0), [u32::MAX, 0x1234_5678, 2, 0xffff_fffd]);
    assert_eq!(last(1), [-3i32 as u32, 0x7fff, 0, 1]);
    assert_eq!(last(2), [2, 1023, 2, 3]);
    assert_eq!(last(3), [-3i32 as u32, 0, 0, 1]);
}

/// Resources with a compressed texture, an image and a buffer, and memory for them.
fn with_resources() -> (Resources, Memory) {
    let mut memory = Memory::new();
    memory.map(0x1000, to_bytes(&(0..64).map(|n| n * 3 + 1).collect::<Vec<u32>>())).unwrap();
    memory.map(0x2000, vec![0; 4 * 4096]).unwrap();
    memory.map(0x9000, vec![0; 4 * 1024]).unwrap();
    let mut host = Resources::default();
    host.buffers.insert(Handle::new(table::UNIFORMS, 0), Buffer { address: 0x1000, len: 256, stride: 0 });
    let format = Format::parse("R32UI").unwrap();
    host.images.insert(Handle::new(table::IMAGES, 0), Image { address: 0x9000, size: [1024, 1, 1], format });
    let attribute = Attribute { address: 0x1000, stride: 4, per_instance: false, format };
    host.attributes.insert(Handle::new(table::ATTRIBUTES, 0), attribute);
    host.buffers.insert(Handle::new(61, 0), Buffer { address: 0x2000, len: 4 * 4096, stride: 16 });
    (host, memory)
}

/// The memory that a run has changed.
fn left(memory: &Memory) -> [Vec<u32>; 2] {
    [0x2000, 0x9000].map(|base| to_words(memory.region(base).unwrap()))
}

#[test]
fn compute_programs_with_resources_run_on_every_engine_and_on_several_threads() {
    let (host, memory) = with_resources();
    // Thread n loads word n % 64 of the buffer, sets texel n of the image, and adds to a word shared by all threads.
    let text = "
        IADD_IMM.i32 r8, 0x0, #0x3F\nLSHIFT_AND.i32 r9, r60, 0x0.b00, r8
        IADD_IMM.i32 r1, 0x0, #0x0\nLSHIFT_OR.i32 r2, r9, 0x2.b00, 0x0
        IADD.u32 r2, r9, r9\nIADD.u32 r2, r2, r2
        LD_BUFFER.i32.unsigned.slot0 @r4, r2, r1
        IADD.u32 r4, r4, r60
        LEA_TEX_IMM.slot0 @r8:r9:r10, r60, 0x0, table:0x5, index:0x0
        ST_CVT.slot0.u32 @r4, r8, r10, offset:0x0
        SHADDX.u64 r12, u0, r60.w0, shift:0x2
        STORE.i32.slot0 @r4, r12, offset:16
        ATOM.i32.slot0.aadd @r4, u0, offset:0
        NOP.end"
        .replace("LSHIFT_OR.i32 r2, r9, 0x2.b00, 0x0", "MOV.i32 r2, r9");
    let launch = Launch {
        program: assemble(&text),
        groups: [7, 2, 1],
        local_size: [50, 1, 1],
        uniforms: vec![0x2000, 0],
        ..Launch::default()
    };
    let run = |run: &dyn Fn(&mut Memory) -> Result<Outcome, RunError>| {
        let mut memory = memory.clone();
        (run(&mut memory), left(&memory))
    };
    let expected = run(&|memory| valhall::run_with(&launch, memory, &mut host.clone(), ()));
    let outcome = expected.0.as_ref().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(outcome.thread_instructions, 700 * launch.program.len() as u64);
    assert_eq!(expected.1[1][349], (349 % 64) * 3 + 1 + 349);
    for execution in executions() {
        let found = run(&|memory| valhall::run_hosted(execution, &launch, memory, &mut host.clone()));
        assert_eq!(found, expected, "{execution}");
    }
    for threads in [1, 2, 3, 20].map(|threads| NonZero::new(threads).unwrap()) {
        let found = run(&|memory| fast::run_parallel_with(&launch, memory, &host, Level::best(), threads));
        assert_eq!(found, expected, "{threads} threads");
    }
    // A program that fails does so at the same place.
    let far = Launch { uniforms: vec![0x5f00, 0], ..launch.clone() };
    let error = valhall::run_with(&far, &mut memory.clone(), &mut host.clone(), ()).unwrap_err();
    let two = NonZero::new(2).unwrap();
    assert_eq!(fast::run_parallel_with(&far, &mut memory.clone(), &host, Level::best(), two), Err(error));
}

#[test]
fn vertex_programs_run_on_every_engine_and_on_several_threads() {
    let (host, memory) = with_resources();
    // The code before the start word is not executed.
    let text = "
        IADD_IMM.i32 r60, 0x0, #0x7
        NOP.end
        IADD_IMM.i32 r8, 0x0, #0x3F\nLSHIFT_AND.i32 r9, r60, 0x0.b00, r8
        LD_ATTR_IMM.v4.u32.slot0 @r0:r1:r2:r3, r9, r61, index:0x0, table:0x1
        IADD.u32 r0, r0, r60
        LEA_BUF_IMM.slot0 @r4:r5, r59, table:0xD, index:0x0
        STORE.i128.slot0 @r0:r1:r2:r3, r4, offset:0
        IADD_IMM.i32 r6, 0x0, #0x9000\nMOV.i32 r7, 0x0
        ATOM.i32.slot0.aumax @r0, r6, offset:4
        NOP.end";
    let vertices = Vertices { start: 2, instance: 3, ..Vertices::new(assemble(text), 1000) };
    let run = |run: &dyn Fn(&mut Memory) -> Result<Outcome, RunError>| {
        let mut memory = memory.clone();
        (run(&mut memory), left(&memory))
    };
    let by = |execution| {
        run(&|memory: &mut Memory| valhall::run_vertices_on(execution, &vertices, memory, &mut host.clone()))
    };
    let expected = by(Execution::reference());
    let outcome = expected.0.as_ref().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(outcome.thread_instructions, 1000 * (vertices.program.len() as u64 - 2));
    assert_eq!((&expected.1[0][4 * 77..][..4], expected.1[1][1]), (&[13 * 3 + 1 + 77, 0, 0, 1][..], 1149));
    for execution in executions() {
        assert_eq!(by(execution), expected, "{execution}");
    }
    for threads in [1, 2, 3, 100].map(|threads| NonZero::new(threads).unwrap()) {
        let found = run(&|memory| fast::run_vertices_parallel(&vertices, memory, &host, Level::best(), threads));
        assert_eq!(found, expected, "{threads} threads");
    }
}

#[test]
fn a_compressed_texture_is_looked_up_as_its_texels() {
    // Columns of red and blue, and two rows of blocks.
    let block = [0x00, 0xf8, 0x1f, 0x00, 0x44, 0x44, 0x44, 0x44];
    let storage = valhall::host::Storage::parse("RGBA_S3TC_DXT1").unwrap();
    let texture = Texture::new(valhall::host::Shape::Two, [4, 8, 1], 1, storage, vec![block.repeat(2)]).unwrap();
    let mut resources = resources(4, 8);
    resources.textures.insert(Handle::new(table::TEXTURES, 0), texture);
    resources.samplers.insert(Handle::new(table::SAMPLERS, 0), valhall::host::Sampler::default());
    let text = format!(
        "{CENTRE}IADD_IMM.i32 r20, 0x0, #0x20001800\nIADD_IMM.i32 r21, 0x0, #0x3E800000\nIADD_IMM.i32 r22, 0x0, #0x3E000000
         FMA.f32 r0, r0, r21, 0x0.neg\nFMA.f32 r1, r1, r22, 0x0.neg
         TEX_SINGLE.slot0.f.32.2d.zero @r4:r5:r6:r7, @r0:r1, r20{END}"
    );
    let found = colours(&draw(&Fragments::new(assemble(&text), 4, 8), &resources).1);
    let expected = [[1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]];
    assert!(found.iter().enumerate().all(|(at, colour)| *colour == expected[at % 2]), "{found:?}");
}

#[test]
fn a_recorded_case_may_have_compressed_textures() {
    let words = assemble(&format!(
        "IADD_IMM.i32 r20, 0x0, #0x20001800\nTEX_SINGLE.slot0.f.32.2d.zero @r4:r5:r6:r7, @r0:r1, r20{END}"
    ));
    let words: Vec<String> = words.iter().map(|word| format!("{word:016x}")).collect();
    let case = |format: &str| {
        serde_json::json!({
            "name": "blocks", "stage": "fragment", "words": words, "fau": [], "width": 2, "height": 1,
            "textures": [{
                "name": "t", "dim": "2d", "size": [4, 4, 1], "format": format, "data": ["00f81f0044444444"],
                "table": 4, "index": 0,
                "sampler": { "table": 3, "index": 0, "min": "nearest", "mag": "nearest", "wrap_s": "clamp" },
            }],
            "expected": { "rts": [{
                "target": 0, "format": "RGBA32F", "clear": "0".repeat(32),
                "rows": ["3f80000000000000000000003f800000".repeat(2)],
            }] },
        })
        .to_string()
    };
    let case = |format: &str| valhall::cases::Case::read(&case(format)).unwrap();
    for execution in executions() {
        let finished = case("COMPRESSED_RGB_S3TC_DXT1_EXT").run_on(execution).unwrap();
        assert_eq!(finished.problems, [""; 0], "{execution}");
    }
    let error = case("BC9").run(()).unwrap_err().to_string();
    assert!(error.contains("`BC9` is not a format"), "{error}");
    let error = case("RGBA8_ETC2_EAC").run(()).unwrap_err().to_string();
    assert!(error.contains("level 0 has 8 bytes, not 16"), "{error}");
}
