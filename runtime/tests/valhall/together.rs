//! Messages that all lanes send at once do what the lanes would do one after the other: random pictures on all engines.

use isaforge_core::sample::Random;
use isaforge_runtime::valhall::host::{
    Attribute, Component, Filter, Format, Handle, Image, Plane, Resources, Sampler, Shape, Target, Texel, Texture,
    Varying, Wrap, table,
};
use isaforge_runtime::valhall::{self, Fragments};
use isaforge_runtime::{Execution, Launch, Memory};

use super::assemble;
use super::seed::{rounds, seed};

pub fn pick<T: Clone>(random: &mut Random, of: &[T]) -> T {
    of[random.below(of.len() as u64) as usize].clone()
}

/// A number that is sometimes far away or none at all.
fn number(random: &mut Random, near: f32) -> f32 {
    match random.below(40) {
        0 => pick(random, &[f32::NAN, f32::INFINITY, -1e30, 3e9, -2.5e9, 1e-40, -0.0]),
        _ => (random.below(1 << 12) as f32 / 2048.0 - 1.0) * near,
    }
}

fn component(random: &mut Random, near: f32) -> Component {
    let mut plane =
        || Plane { origin: number(random, near), dx: number(random, near / 4.0), dy: number(random, near / 4.0) };
    let (value, reciprocal) = (plane(), plane());
    match random.below(5) {
        0 => Component::Flat(number(random, near).to_bits()),
        1 => Component::Perspective { value, reciprocal },
        _ => Component::Plane(value),
    }
}

fn texture(random: &mut Random) -> Texture {
    let shape = pick(random, &[Shape::One, Shape::Two, Shape::Two]);
    let side = |random: &mut Random| pick(random, &[1u32, 2, 3, 4, 5, 8]);
    let size = [side(random), if shape == Shape::One { 1 } else { side(random) }, 1];
    let layers = side(random);
    let format =
        pick(random, &["RGBA8", "RGBA8", "RGBA8", "SRGBA8", "RG16F", "RGBA32F", "R8_SNORM", "RGB565", "RG8UI"]);
    let format = Format::parse(format).unwrap();
    let most = size.iter().max().unwrap().ilog2() + 1;
    let levels = (0..1 + random.below(most.into()) as u32).map(|level| {
        let texels: u32 = size.iter().map(|n| (n >> level).max(1)).product::<u32>() * layers;
        (0..texels as usize * format.size()).map(|_| random.next() as u8).collect()
    });
    let levels = levels.collect();
    Texture::new(shape, size, layers, format, levels).unwrap()
}

fn sampler(random: &mut Random) -> Sampler {
    let filters = [Filter::Nearest, Filter::Linear];
    let wraps = [Wrap::Clamp, Wrap::Repeat, Wrap::Mirror, Wrap::MirrorOnce, Wrap::Border];
    Sampler {
        min: pick(random, &filters),
        mag: pick(random, &filters),
        mip: pick(random, &[None, Some(Filter::Nearest), Some(Filter::Linear)]),
        wrap: [0; 3].map(|_| pick(random, &wraps)),
        compare: None,
        lod_bias: pick(random, &[0.0, 0.5, -1.25]),
        lod_range: [pick(random, &[-1000.0, 0.25]), pick(random, &[1000.0, 1.5])],
        border: [0; 4].map(|_| number(random, 2.0).to_bits()),
    }
}

pub fn resources(random: &mut Random, width: u32, height: u32) -> Resources {
    let format = pick(random, &["RGBA8", "RGBA8", "RGBA32F", "SRGBA8", "RG8", "RGBA16F", "RGBA32UI"]);
    let clear = Texel::floats([0.25; 4]);
    let samples = pick(random, &[1, 1, 1, 4]);
    let mut target = Target::multisampled(Format::parse(format).unwrap(), [width, height], samples, clear).unwrap();
    if random.below(6) == 0 {
        target.write = [0; 4].map(|_| random.below(2) == 0);
    }
    let near = pick(random, &[1.0, 1.0, 4.0]);
    let components = (0..random.below(3) + 2).map(|_| component(random, near)).collect();
    let mut resources = Resources { targets: vec![Some(target)], ..Resources::default() };
    resources.varyings.0.push(Varying { offset: 0, components });
    if random.below(20) > 0 {
        resources.textures.insert(Handle::new(table::TEXTURES, 0), texture(random));
    }
    resources.textures.insert(Handle::new(table::TEXTURES, 1), texture(random));
    (0..2).for_each(|index| {
        resources.samplers.insert(Handle::new(table::SAMPLERS, index), sampler(random));
    });
    resources
}

/// A program that looks up a texture in some lanes, and draws the result.
pub fn program(random: &mut Random, resources: &Resources) -> String {
    let index = random.below(2) as u32;
    let found = resources.textures.get(&Handle::new(table::TEXTURES, index));
    let one = found.is_some_and(|texture| texture.shape() == Shape::One) != (random.below(30) == 0);
    let (array, offset) = (random.below(3) == 0, random.below(3) == 0);
    let mode = pick(random, &["zero", "computed", "computed", "computed_bias", "explicit"]);
    let mut words = vec!["MOV.i32 r@, r0".to_owned()];
    if !one {
        words.push("MOV.i32 r@, r1".to_owned());
    }
    if array {
        words.push(pick(random, &["MOV.i32 r@, r2", "IADD_IMM.i32 r@, 0x0, #0x3fa00000"]).to_owned());
    }
    if offset {
        words.push(format!("IADD_IMM.i32 r@, 0x0, #{:#x}", random.next() as u32 & 0x0007_0707 | 0x00f0_f800));
    }
    if !matches!(mode, "zero" | "computed") {
        words.push("F32_TO_S32 r@, r3".to_owned());
    }
    let moves: String = words.iter().zip(8..).map(|(word, r)| word.replace('@', &r.to_string()) + "\n").collect();
    let list: Vec<String> = (8..8 + words.len()).map(|r| format!("r{r}")).collect();
    let handle = match random.below(5) {
        // Lanes name different textures.
        0 => "IADD_IMM.i32 r21, 0x0, #0x1\nLSHIFT_AND.i32 r20, r59, 0x0.b00, r21".to_owned(),
        _ => format!("IADD_IMM.i32 r20, 0x0, #{index:#x}"),
    };
    let format = pick(random, &["f.32", "f.32", "f.32", "f.16", "u.32"]);
    let mask = pick(random, &["", "", ".ba", ".g"]);
    let dimension = if one { "1d" } else { "2d" };
    let (array, offset) = (if array { ".array_enable" } else { "" }, if offset { ".texel_offset" } else { "" });
    let registers = match (format, mask) {
        ("f.16", "") => "r4:r5",
        ("f.16", _) => "r4",
        (_, "") => "r4:r5:r6:r7",
        (_, ".ba") => "r4:r5",
        _ => "r4",
    };
    let look = format!(
        "{moves}{handle}\nIADD_IMM.i32 r20, r20, #0x20001800\n\
         TEX_SINGLE.slot1.{format}{mask}.{dimension}{array}{offset}.{mode} @{registers}, @{}, r20\n",
        list.join(":")
    );
    let look = match random.below(3) {
        0 => format!("FCMP.f32.gt.m1 r21, r0, r1, 0x0\nBRANCHZ.eq.reconverge r21, over\n{look}over: NOP\n"),
        1 => format!("DISCARD.f32.gt r0, r1\n{look}"),
        _ => look,
    };
    let count = 1 + random.below(4);
    let colours = ["r4", "r4:r5", "r4:r5:r6", "r4:r5:r6:r7"][count as usize - 1];
    let width = ["", ".v2", ".v3", ".v4"][count as usize - 1];
    let spot = pick(random, &["center", "centroid", "sample"]);
    format!(
        "LD_VAR_BUF_IMM.f32.slot0.v4.src_f32.{spot}.store.wait0 @r0:r1:r2:r3, r61, index:0x0
         IADD_IMM.i32 r4, 0x0, #0x3f000000\nMOV.i32 r5, r0\nMOV.i32 r6, r1\nMOV.i32 r7, r2
         {look}ATEST @r60, r60, r4, atest_datum.w0
         BLEND.slot0{width}.{}.end @{colours}, blend_descriptor_0.w0, r60, target:0x0",
        pick(random, &["f32", "f32", "auto", "u32"])
    )
}

#[test]
fn random_pictures_are_the_same_on_all_engines() {
    let mut random = Random(seed(41));
    let (mut drawn, mut failed) = (0, 0);
    for _ in 0..300 * rounds() {
        let [width, height] = [0; 2].map(|_| 1 + random.below(20) as u32);
        let resources = resources(&mut random, width, height);
        let text = program(&mut random, &resources);
        let mut fragments = Fragments::new(assemble(&text), width, height);
        let holes = random.below(4);
        for coverage in &mut fragments.coverage {
            *coverage = if holes > 0 && random.below(holes + 1) == 0 { 0 } else { random.next() as u16 | 1 };
        }
        let draw = |execution: Execution| {
            let mut on = resources.clone();
            (valhall::draw_on(execution, &fragments, &mut Memory::new(), &mut on), on.targets)
        };
        let expected = draw(Execution::reference());
        *(if expected.0.is_ok() { &mut drawn } else { &mut failed }) += 1;
        for execution in Execution::available() {
            for execution in [execution, execution.eager()] {
                let found = draw(execution);
                assert_eq!(found.0, expected.0, "{execution}\n{text}\n{resources:#?}");
                assert!(found.1 == expected.1, "{execution}: another picture\n{text}\n{resources:#?}");
            }
        }
    }
    assert!(drawn > failed && failed > 0, "{drawn} pictures, {failed} failures");
}

/// A program whose threads load a texel of an image or an attribute, change it, and store it to another image.
fn texel_program(random: &mut Random) -> String {
    let load = match random.below(3) {
        0 => "LD_ATTR_IMM.v4.f32.slot0.wait0 @r4:r5:r6:r7, r0, r1, index:0x0, table:0x1",
        1 => "LD_TEX_IMM.v4.f32.slot0.wait0 @r4:r5:r6:r7, r2, r3, index:0x0, table:0x5",
        _ => "LD_TEX_IMM.v2.auto.slot0.wait0 @r4:r5, r2, r3, index:0x0, table:0x5",
    };
    let load = match random.below(3) {
        0 => format!("ICMP.u32.lt.m1 r8, r0, r1, 0x0\nBRANCHZ.eq.reconverge r8, over\n{load}\nover: NOP"),
        _ => load.to_owned(),
    };
    let registers = pick(random, &["f32", "f32", "auto", "u32"]);
    let (lowest, highest) = (random.below(4), 1 + random.below(8));
    format!(
        "IADD_IMM.i32 r8, 0x0, #{highest:#x}\nLSHIFT_AND.i32 r0, r60, 0x0.b00, r8\nLSHIFT_AND.i32 r1, r61, 0x0.b00, r8
         MKVEC.v2i16 r2, r0.h00, r1.h00\nIADD_IMM.i32 r3, 0x0, #{lowest:#x}
         MOV.i32 r4, r0\nMOV.i32 r5, r1\nMOV.i32 r6, r2\nIADD_IMM.i32 r7, 0x0, #0x3f000000
         {load}\nFADD.f32 r5, r5, r7
         LEA_TEX_IMM.slot0.wait0 @r8:r9:r10, r2, 0x0, table:0x5, index:0x1
         ST_CVT.v4.{registers}.slot0.end @r4:r5:r6:r7, r8, r10, offset:0x0"
    )
}

#[test]
fn random_texels_are_loaded_and_stored_alike_on_all_engines() {
    let mut random = Random(seed(42));
    let (mut ended, mut failed) = (0, 0);
    for _ in 0..300 * rounds() {
        let formats = ["RGBA8", "RGBA8", "RGBA32F", "RGB32F", "RG8", "RGBA16F", "RGBA8_SNORM", "SRGBA8", "RGBA8UI"];
        let mut memory = Memory::new();
        let mut host = Resources::default();
        // Some texels are beyond the memory of their image.
        let (lacking, mut output) = (if random.below(4) == 0 { 16 } else { 0 }, 0);
        for index in 0..2 {
            let format = Format::parse(pick(&mut random, &formats)).unwrap();
            let size = [pick(&mut random, &[1, 4, 5, 8]), pick(&mut random, &[1, 4, 5, 8]), pick(&mut random, &[1, 3])];
            let bytes = (size.iter().product::<u32>() as usize * format.size()).saturating_sub(lacking).max(1);
            // Some images are larger than their memory, and their offsets than words.
            let size = if random.below(8) == 0 { [0x8000, 0x1_0000, 4] } else { size };
            let (base, shift) = (0x1_0000 * (u64::from(index) + 1), pick(&mut random, &[0, 0, 0, 1]));
            let address = base + shift as u64;
            memory.map(base, (0..bytes + shift).map(|_| random.next() as u8).collect::<Vec<u8>>()).unwrap();
            host.images.insert(Handle::new(table::IMAGES, index), Image { address, size, format });
            output = base;
            let (per_instance, stride) = (random.below(2) == 0, 4 * random.below(5) as u32);
            let attribute = Attribute { address, stride, per_instance, format };
            host.attributes.insert(Handle::new(table::ATTRIBUTES, index), attribute);
        }
        let text = texel_program(&mut random);
        let launch = Launch { program: assemble(&text), groups: [2, 2, 1], local_size: [9, 5, 1], ..Launch::default() };
        let run = |execution: Execution| {
            let (mut memory, mut host) = (memory.clone(), host.clone());
            let outcome = valhall::run_hosted(execution, &launch, &mut memory, &mut host);
            // What other warps have stored before a fault differs.
            let stored = outcome.is_ok().then(|| memory.region(output).map(<[u8]>::to_vec));
            (outcome, stored)
        };
        let expected = run(Execution::reference());
        *(if expected.0.is_ok() { &mut ended } else { &mut failed }) += 1;
        for execution in Execution::available() {
            for execution in [execution, execution.eager()] {
                assert_eq!(run(execution), expected, "{execution}\n{text}\n{host:#?}");
            }
        }
    }
    assert!(ended > failed && failed > 0, "{ended} launches ended, {failed} failed");
}
