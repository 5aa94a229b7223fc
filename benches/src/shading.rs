//! Fragment programs, a vertex program and a kernel with images for Valhall, and the same computations as loops for the
//! host. `benches/peers/shade.c` has the same shaders in GLSL.

mod native;

use std::num::NonZero;

use isaforge_runtime::valhall::host::{
    Attribute, Buffer, Component, Filter, Format, Handle, Image, Plane, Resources, Sampler, Shape, Target, Texel,
    Texture, Varying, Wrap, table,
};
use isaforge_runtime::valhall::{self, Fragments, Vertices, fast};
use isaforge_runtime::{Execution, Launch, Level, Memory, Outcome};

use super::kernels::{IN, OUT};

/// A program and the threads to run it on.
pub enum Work {
    /// A thread for each pixel.
    Fragments(Fragments),
    /// A thread for each vertex.
    Vertices(Vertices),
    /// A thread for each texel.
    Groups(Launch),
}

/// A program with everything that it accesses.
pub struct Shading {
    /// The program and its threads.
    pub work: Work,
    /// The memory that it accesses.
    pub memory: Memory,
    /// The resources that it names.
    pub host: Resources,
    /// The texels or attributes that it reads: the levels of a texture one after another, or four words for each
    /// vertex.
    pub input: Vec<u32>,
    /// Computes the [results](Shading::results) from the input.
    pub native: fn(&mut [u32], &[u32]),
}

impl Shading {
    /// Runs the program.
    pub fn run(&mut self, execution: Execution) -> Outcome {
        let (memory, host) = (&mut self.memory, &mut self.host);
        let ended = match &self.work {
            Work::Fragments(fragments) => valhall::draw_on(execution, fragments, memory, host),
            Work::Vertices(vertices) => valhall::run_vertices_on(execution, vertices, memory, host),
            Work::Groups(launch) => valhall::run_hosted(execution, launch, memory, host),
        };
        ended.expect("programs end")
    }

    /// Runs the program on several threads.
    pub fn run_parallel(&mut self, threads: NonZero<usize>) -> Outcome {
        let (memory, host, level) = (&mut self.memory, &mut self.host, Level::best());
        let ended = match &self.work {
            Work::Fragments(fragments) => fast::draw_parallel(fragments, memory, host, level, threads),
            Work::Vertices(vertices) => fast::run_vertices_parallel(vertices, memory, host, level, threads),
            Work::Groups(launch) => fast::run_parallel_with(launch, memory, host, level, threads),
        };
        ended.expect("programs end")
    }

    /// The results: a word of four bytes for each pixel or texel, red in the lowest, or eight floats for each vertex.
    pub fn results(&self) -> Vec<u32> {
        match self.host.targets.first() {
            Some(Some(target)) => target.pixels().iter().map(|pixel| packed(pixel.map(f32::from_bits))).collect(),
            _ => {
                let bytes = self.memory.region(OUT).expect("programs write here").as_chunks().0;
                bytes.iter().map(|&word| u32::from_le_bytes(word)).collect()
            }
        }
    }

    /// The mean of each channel from 0 to 1, or of each of the eight floats.
    pub fn means(&self, results: &[u32]) -> Vec<f64> {
        let mean = |count: usize, sum: f64| sum / count as f64;
        match self.work {
            Work::Vertices(_) => {
                let vertices = results.as_chunks::<8>().0;
                let sum = |at: usize| vertices.iter().map(|floats| f64::from(f32::from_bits(floats[at]))).sum();
                (0..8).map(|at| mean(vertices.len(), sum(at))).collect()
            }
            _ => {
                let sum = |at: usize| results.iter().map(|word| f64::from(word.to_le_bytes()[at]) / 255.0).sum();
                (0..4).map(|at| mean(results.len(), sum(at))).collect()
            }
        }
    }
}

/// A program for squares of any size.
pub struct Workload {
    /// The name, which includes the size.
    pub name: &'static str,
    /// Pixels, texels or vertices along a side of the square that is measured.
    pub side: u32,
    /// Creates it for a side, which is a multiple of 16.
    pub sized: fn(u32) -> Shading,
}

/// All that is measured.
pub const ALL: [Workload; 5] = [
    Workload { name: "tiles 2,048², fragments", side: 2048, sized: tiles },
    Workload { name: "sphere 2,048², fragments", side: 2048, sized: sphere },
    Workload { name: "sphere 2,048², branching", side: 2048, sized: branching_sphere },
    Workload { name: "vertices", side: 1000, sized: vertices },
    Workload { name: "image blur", side: 1024, sized: blur },
];

fn assembled(text: &str) -> Vec<u64> {
    isaforge_core::program::assemble(isaforge_valhall::ISA, text).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

/// Rounds a colour to four bytes.
fn packed(colour: [f32; 4]) -> u32 {
    u32::from_le_bytes(colour.map(|channel| (channel * 255.0).round() as u8))
}

fn to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Pseudorandom bits.
fn noise(index: u32) -> u32 {
    index.wrapping_mul(0x9e37_79b1).rotate_left(13).wrapping_mul(0x85eb_ca6b)
}

/// A square picture with one varying, whose two components go from `from` to 1 over the picture, and a repeated texture
/// with these levels, the first of `size` texels a side.
fn drawing(
    (program, side, uniforms): (&str, u32, &[f32]),
    from: f32,
    (size, levels): (u32, Vec<Vec<u32>>),
    mip: Option<Filter>,
    native: fn(&mut [u32], &[u32]),
) -> Shading {
    let uniforms = uniforms.iter().map(|uniform| uniform.to_bits()).collect();
    let fragments = Fragments { uniforms, ..Fragments::new(assembled(program), side, side) };
    let step = (1.0 - from) / side as f32;
    let planes = [Plane { origin: from, dx: step, dy: 0.0 }, Plane { origin: from, dx: 0.0, dy: step }];
    let target = Target::new(Format::RGBA8, side, side, Texel::floats([0.0; 4]));
    let mut host = Resources { targets: vec![target], ..Resources::default() };
    host.varyings.0.push(Varying { offset: 0, components: planes.map(Component::Plane).to_vec() });
    let bytes = levels.iter().map(|level| to_bytes(level)).collect();
    let texture = Texture::new(Shape::Two, [size, size, 1], 1, Format::RGBA8, bytes).expect("levels halve in size");
    host.textures.insert(Handle::new(table::TEXTURES, 0), texture);
    let (min, mag, wrap) = (Filter::Linear, Filter::Linear, [Wrap::Repeat; 3]);
    host.samplers.insert(Handle::new(table::SAMPLERS, 0), Sampler { min, mag, mip, wrap, ..Sampler::default() });
    Shading { work: Work::Fragments(fragments), memory: Memory::new(), host, input: levels.concat(), native }
}

/// The picture of `examples/valhall/tiles.yaml`.
pub fn tiles(side: u32) -> Shading {
    let file = include_str!("../../examples/valhall/tiles.yaml");
    let word = |line: &str| u32::from_str_radix(line.trim().strip_prefix("- 0x")?, 16).ok();
    let texels = file.lines().filter_map(word).collect();
    let program = include_str!("../../examples/valhall/tiles.s");
    drawing((program, side, &[6.0, 0.5]), 0.0, (4, vec![texels]), None, native::tiles)
}

/// Texels along a side of the sphere's texture.
const TEXELS: u32 = 64;
/// Pixels for each repetition of the texture in the middle of the sphere, where texels are as large as pixels.
const REPEATED: f32 = 64.0;
/// The direction of the light.
const LIGHT: [f32; 3] = [-0.48, 0.6, 0.64];
/// How much light comes from that direction, and how much from everywhere.
const DIFFUSE: [f32; 2] = [0.85, 0.15];
/// The lowest square of z, where the sphere seems to end.
const RIM: f32 = 1e-6;

/// Loads x and y, and computes the square of z in r2, which is negative outside the sphere. The four registers from BACK0
/// to BACK3 become the background.
const SPHERE: &str = "
    LD_VAR_BUF_IMM.f32.slot0.v2.src_f32.center.store.wait0 @r0:r1, r61, index:0x0
    FMA.f32 r2, r0.neg, r0, 0x3F800000
    FMA.f32 r2, r1.neg, r1, r2
    IADD_IMM.i32 BACK0, 0x0, #0x3DCCCCCD
    IADD_IMM.i32 BACK1, 0x0, #0x3DCCCCCD
    IADD_IMM.i32 BACK2, 0x0, #0x3E4CCCCD
    MOV.i32 BACK3, 0x3F800000
";

/// Computes the colour of the sphere in r12 to r15: z in r3, the place in the texture by a stereographic projection in
/// r8 and r9, the light in r5.
const SURFACE: &str = "
    FMAX.f32 r3, r2, u1
    FRSQ.f32 r4, r3
    FMA.f32 r3, r3, r4, 0x0.neg
    FADD.f32 r4, r3, 0x3F800000
    FRCP.f32 r4, r4
    FMA.f32 r4, r4, u0, 0x0.neg
    FMA.f32 r8, r0, r4, 0x0.neg
    FMA.f32 r9, r1, r4, 0x0.neg
    IADD_IMM.i32 r10, 0x0, #0x20001800
    MOV.i32 r11, 0x0
    TEX_SINGLE.slot1.f.32.2d.computed.wait1 @r12:r13:r14:r15, @r8:r9, r10
    FMA.f32 r5, r0, u2, 0x0.neg
    FMA.f32 r5, r1, u3, r5
    FMA.f32.clamp_0_1 r5, r3, u4, r5
    FMA.f32 r5, r5, u6, u7
    FMA.f32 r12, r12, r5, 0x0.neg
    FMA.f32 r13, r13, r5, 0x0.neg
    FMA.f32 r14, r14, r5, 0x0.neg
";

/// Draws r12 to r15.
const DRAW: &str = "
    ATEST @r60, r60, r15, atest_datum.w0
    BLEND.slot0.v4.f32.end @r12:r13:r14:r15, blend_descriptor_0.w0, r60, target:0x0
";

/// A lit sphere with a texture in all levels of detail, before a background that is selected at the end.
pub fn sphere(side: u32) -> Shading {
    let select = |at: u32| format!("CSEL.f32.gt r{0}, r2, 0x0, r{0}, r{1}\n", 12 + at, 16 + at);
    let selects: String = (0..3).map(select).collect();
    sphere_by(&format!("{}{SURFACE}{selects}{DRAW}", start(16)), side)
}

/// The same sphere, whose surface is computed only where it is seen.
pub fn branching_sphere(side: u32) -> Shading {
    let branch = "FCMP.f32.gt.m1 r7, r2, 0x0, 0x0\nBRANCHZ.eq.reconverge r7, offset:draw";
    sphere_by(&format!("{}{branch}{SURFACE}NOP.reconverge\ndraw: {}", start(12), DRAW.trim_start()), side)
}

/// [`SPHERE`] with the background in the four registers from `back`.
fn start(back: u32) -> String {
    (0..4).fold(SPHERE.to_owned(), |text, at| text.replace(&format!("BACK{at}"), &format!("r{}", back + at)))
}

fn sphere_by(program: &str, side: u32) -> Shading {
    let [x, y, z] = LIGHT;
    let uniforms = [side as f32 / REPEATED, RIM, x, y, z, 0.0, DIFFUSE[0], DIFFUSE[1]];
    drawing((program, side, &uniforms), -1.0, (TEXELS, levels()), Some(Filter::Linear), native::sphere)
}

/// Squares of eight texels with noise, in all levels: each texel is the rounded mean of four of the level before.
fn levels() -> Vec<Vec<u32>> {
    let texel = |at: u32| {
        let (bits, square) = (noise(at), (at % TEXELS / 8 + at / TEXELS / 8) % 2);
        let [base, blue] = [0x38 + 0x90 * square, 0xa0 - 0x50 * square];
        (base + (bits & 31)) | (base + (bits >> 5 & 31)) << 8 | (blue + (bits >> 10 & 63)) << 16 | 0xff << 24
    };
    let mut levels = vec![(0..TEXELS * TEXELS).map(texel).collect::<Vec<u32>>()];
    let mut size = TEXELS as usize;
    while size > 1 {
        let above = levels.last().expect("there is the first");
        let half = size / 2;
        let mean = |at: usize| {
            let corner = at / half * 2 * size + at % half * 2;
            let four = [corner, corner + 1, corner + size, corner + size + 1].map(|at| above[at].to_le_bytes());
            let channel = |c: usize| ((four.iter().map(|texel| u32::from(texel[c])).sum::<u32>() + 2) / 4) as u8;
            u32::from_le_bytes(std::array::from_fn(channel))
        };
        levels.push((0..half * half).map(mean).collect());
        size = half;
    }
    levels
}

/// The rows of the matrix of the vertex program.
const MATRIX: [[f32; 4]; 4] =
    [[0.8, -0.36, 0.48, 0.1], [0.0, 0.8, 0.6, -0.2], [-0.6, -0.48, 0.64, 3.0], [-0.6, -0.48, 0.64, 4.0]];

/// Transforms positions by a matrix and passes colours on, for side² vertices.
pub fn vertices(side: u32) -> Shading {
    let row = |row: u32| {
        let (to, first) = (8 + row, 4 * row);
        format!(
            "FMA.f32 r{to}, r2, u{}, u{}\nFMA.f32 r{to}, r1, u{}, r{to}\nFMA.f32 r{to}, r0, u{first}, r{to}\n",
            first + 2,
            first + 3,
            first + 1
        )
    };
    let rows: String = (0..4).map(row).collect();
    let text = format!(
        "LD_ATTR_IMM.v3.f32.slot0 @r0:r1:r2, r60, r61, index:0x0, table:0x1
        LD_ATTR_IMM.v4.f32.slot0 @r4:r5:r6:r7, r60, r61, index:0x1, table:0x1
        LEA_BUF_IMM.slot1.wait01 @r16:r17, r59, table:0xD, index:0x0
        {rows}
        STORE.i128.istream.slot0 @r8:r9:r10:r11, r16, offset:0
        STORE.i128.istream.slot0.end @r4:r5:r6:r7, r16, offset:16"
    );
    let count = side * side;
    let place = |number: u32, of: u32| (number as f32 * (2.0 / of as f32) - 1.0).to_bits();
    let vertex = |at: u32| [place(at % side, side), place(at / side, side), place(noise(at) >> 22, 1024), noise(at)];
    let input: Vec<u32> = (0..count).flat_map(vertex).collect();
    let uniforms = MATRIX.as_flattened().iter().map(|entry| entry.to_bits()).collect();
    let vertices = Vertices { uniforms, ..Vertices::new(assembled(&text), count) };

    let mut memory = Memory::new();
    memory.map(IN, to_bytes(&input)).expect("it fits");
    memory.map(OUT, vec![0; 32 * count as usize]).expect("it fits");
    let mut host = Resources::default();
    let positions = Format::parse("RGB32F").expect("there is such a format");
    for (index, address, format) in [(0, IN, positions), (1, IN + 12, Format::RGBA8)] {
        let attribute = Attribute { address, stride: 16, per_instance: false, format };
        host.attributes.insert(Handle::new(table::ATTRIBUTES, index), attribute);
    }
    // Table 61 is what the program calls 0xD.
    let len = 32 * u64::from(count);
    host.buffers.insert(Handle::new(61, 0), Buffer { address: OUT, len, stride: 32 });
    Shading { work: Work::Vertices(vertices), memory, host, input, native: native::vertices }
}

/// The mean of nine texels of an image, for each texel of another; texels beyond the edges are 0.
pub fn blur(side: u32) -> Shading {
    let mut text = "MKVEC.v2i16 r0, r60.h00, r61.h00\n".to_owned();
    let neighbours = [-1i16, 0, 1].iter().flat_map(|y| [-1i16, 0, 1].map(|x| (x, *y)));
    for (at, (x, y)) in neighbours.enumerate() {
        let to = if at == 0 { 8 } else { 4 };
        let step = u32::from(y as u16) << 16 | u32::from(x as u16);
        text += &format!(
            "IADD_IMM.v2i16 r1, r0, #{step:#x}
            LD_TEX_IMM.v4.f32.slot0.wait0 @r{to}:r{}:r{}:r{}, r1, 0x0, index:0x0, table:0x5\n",
            to + 1,
            to + 2,
            to + 3
        );
        if at != 0 {
            text.extend((8..12).map(|sum| format!("FADD.f32 r{sum}, r{sum}, r{}\n", sum - 4)));
        }
    }
    text.extend((8..12).map(|sum| format!("FMA.f32 r{sum}, r{sum}, u0, 0x0.neg\n")));
    text += "LEA_TEX_IMM.slot0.wait0 @r4:r5:r6, r0, 0x0, table:0x5, index:0x1
        ST_CVT.v4.f32.slot0.end @r8:r9:r10:r11, r4, r6, offset:0x0";
    let launch = Launch {
        program: assembled(&text),
        groups: [side / 16, side / 8, 1],
        local_size: [16, 8, 1],
        uniforms: vec![(1.0f32 / 9.0).to_bits()],
        ..Launch::default()
    };
    let input: Vec<u32> = (0..side * side).map(noise).collect();
    let mut memory = Memory::new();
    memory.map(IN, to_bytes(&input)).expect("it fits");
    memory.map(OUT, vec![0; 4 * input.len()]).expect("it fits");
    let mut host = Resources::default();
    for (index, address) in [(0, IN), (1, OUT)] {
        let image = Image { address, size: [side, side, 1], format: Format::RGBA8 };
        host.images.insert(Handle::new(table::IMAGES, index), image);
    }
    Shading { work: Work::Groups(launch), memory, host, input, native: native::blur }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pixels along the side of small pictures.
    const SIDE: u32 = 48;

    #[test]
    fn every_engine_gives_the_bits_of_the_reference() {
        for workload in ALL {
            let run = |execution: Execution| {
                let mut shading = (workload.sized)(SIDE);
                (shading.run(execution), shading.results())
            };
            let expected = run(Execution::reference());
            let all = Execution::available();
            for execution in all.iter().copied().chain(all.iter().map(|execution| execution.eager())) {
                assert!(run(execution) == expected, "{}: {execution}", workload.name);
            }
        }
    }

    #[test]
    fn native_code_computes_the_same() {
        for workload in ALL {
            let mut shading = (workload.sized)(SIDE);
            shading.run(Execution::best());
            let results = shading.results();
            let mut native = vec![0; results.len()];
            (shading.native)(&mut native, &shading.input);
            let far = |(a, b): (&u32, &u32)| match shading.work {
                Work::Vertices(_) => (f32::from_bits(*a) - f32::from_bits(*b)).abs() > 1e-5,
                _ => a.to_le_bytes().iter().zip(b.to_le_bytes()).any(|(a, b)| a.abs_diff(b) > 2),
            };
            let far = results.iter().zip(&native).filter(|&pair| far(pair)).count();
            // At the rim of the sphere, the level of detail changes quickly.
            let most = if workload.name.starts_with("sphere") { results.len() / 50 } else { 0 };
            assert!(far <= most, "{}: {far} of {}", workload.name, results.len());
            let means = [results, native].map(|words| shading.means(&words));
            let near = means[0].iter().zip(&means[1]).all(|(a, b)| (a - b).abs() < 1.0 / 255.0);
            assert!(near && means[0][0] != 0.0, "{}: {means:?}", workload.name);
        }
    }
}
