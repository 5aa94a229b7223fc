//! Samples: the requests of an instruction to the host, and the results of the software host.

use half::f16;
use isaforge_core::group::listing::assemble_program;
use isaforge_runtime::usc::host::{Level, Raw, Sample};
use isaforge_runtime::usc::texture::Texture;
use isaforge_runtime::usc::{Host, Instance, Machine, Program, Software, Task};

use crate::seed::seed;
use crate::support::{Random, register};

fn program(text: &str) -> Program {
    let text = format!("1 : {text}\n1 : wdf drc0\n1 : nop.end\n");
    let bytes = assemble_program(isaforge_usc::ISA, &text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    Program::load(&bytes).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Records the requests.
#[derive(Default)]
struct Asked(Vec<(usize, Sample)>);

impl Host for Asked {
    fn sample(&mut self, who: Instance, sample: &Sample) -> Result<[u32; 4], String> {
        self.0.push((who.instance, sample.clone()));
        Ok([1.0, 2.0, 3.0, 4.0].map(f32::to_bits))
    }

    fn write_texel(&mut self, who: Instance, sample: &Sample, value: [u32; 4]) -> Result<(), String> {
        assert_eq!(value, [91, 92, 93, 94]);
        self.sample(who, sample).map(|_| ())
    }
}

/// Data words are in the order of Mesa's compiler.
#[test]
fn data_are_taken_in_order() {
    let mut random = Random::new(seed(51));
    for round in 0..1500 {
        let mut flag = || random.below(2) == 0;
        let dimensions = 1 + round % 3;
        let (proj, array, comparison, tao, soo, sno, write) = (flag(), flag(), flag(), flag(), flag(), flag(), flag());
        let (lod, pplod) =
            ([("", false), (".bias", flag()), (".replace", flag()), (".gradient", false)])[round / 3 % 4];
        let (mut data, mut next) = (Vec::new(), 1.0f32);
        let mut value = |data: &mut Vec<u32>| {
            next += 1.25;
            data.push(next.to_bits());
            next
        };
        let mut wanted = Sample { dimensions: dimensions as u32, normalise: true, ..Sample::default() };
        for d in 0..dimensions {
            wanted.coordinates[d] = value(&mut data);
        }
        if proj {
            let divisor = value(&mut data);
            wanted.coordinates = wanted.coordinates.map(|x| x / divisor);
        }
        wanted.layer = array.then(|| value(&mut data).round_ties_even() as u32);
        wanted.reference = comparison.then(|| value(&mut data));
        let shared = 7.5;
        let level = if pplod { value(&mut data) } else { shared };
        wanted.level = match lod {
            ".bias" => Level::Bias(level),
            ".replace" => Level::Replace(level),
            ".gradient" => {
                for n in 0..2 * dimensions {
                    wanted.gradients[n] = value(&mut data);
                }
                Level::Gradients
            }
            _ => Level::Implicit,
        };
        if tao {
            data.extend([0x89ab_cdef, 0x12]);
            wanted.address = Some(0x12_89ab_cdef);
        }
        if soo || sno {
            let offset = [random.below(64) as i32 - 32, random.below(64) as i32 - 32, random.below(16) as i32 - 8];
            let number = random.below(8);
            data.push(
                offset[0] as u32 & 63 | (offset[1] as u32 & 63) << 6 | (offset[2] as u32 & 15) << 12 | number << 16,
            );
            if soo {
                wanted.offset = offset;
            }
            wanted.sample = sno.then_some(number);
        }
        if write {
            data.extend([91, 92, 93, 94]);
        }
        let word = |is: bool, text: &str| if is { format!(".{text}") } else { String::new() };
        let text = format!(
            "smp{dimensions}d{}.fcnorm{lod}{}{}{}{}{}{}{} drc0, sh0, r1, sh4, sh8, r40, 4",
            word(proj, "proj"),
            word(pplod, "pplod"),
            word(tao, "tao"),
            word(soo, "soo"),
            word(sno, "sno"),
            word(write, "wrt"),
            word(array, "array"),
            word(comparison, "comparison"),
        );
        let mut machine = Machine::new(Asked::default());
        let mut task = Task::new(1).expect("one");
        for (n, word) in data.iter().enumerate() {
            task.set(register(&format!("r{}", 1 + n)), 0, *word).expect("a register");
        }
        for n in 0..8 {
            machine.set(register(&format!("sh{n}")), 100 + n).expect("a shared register");
        }
        machine.set(register("sh8"), shared.to_bits()).expect("a shared register");
        (wanted.texture, wanted.sampler) = ([100, 101, 102, 103], [104, 105, 106, 107]);
        machine.run(&program(&text), &mut [task], 10).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(machine.host.0, [(0, wanted)], "{text}");
    }
}

/// Integers are passed unchanged; a register holds two halves, and words between them start a new register.
#[test]
fn data_may_be_integers_or_halves() {
    let ask = |text: &str, data: &[u32]| {
        let mut machine = Machine::new(Asked::default());
        let mut task = Task::new(1).expect("one");
        for (n, word) in data.iter().enumerate() {
            task.set(register(&format!("r{}", 1 + n)), 0, *word).expect("a register");
        }
        machine.run(&program(text), &mut [task], 10).unwrap_or_else(|e| panic!("{text}: {e}"));
        machine.host.0.remove(0).1
    };
    let sample = ask("smp2d.proj.integer.array drc0, sh0, r1, sh4, sh8, r40, 4", &[40, -9i32 as u32, 4, 3]);
    assert_eq!(sample.coordinates.map(|x| x.to_bits() as i32), [10, -2, 0]);
    assert_eq!(sample.layer, Some(3));
    let half = |x: f32| u32::from(f16::from_f32(x).to_bits());
    let text = "smp2d.replace.pplod.soo.f16input drc0, sh0, r1, sh4, sh8, r40, 4";
    let sample = ask(text, &[half(0.5) | half(-0.25) << 16, half(3.0) | 0xffff << 16, 5 | 2 << 6]);
    assert_eq!((sample.coordinates, sample.level, sample.offset), ([0.5, -0.25, 0.0], Level::Replace(3.0), [5, 2, 0]));
}

/// The requested number of channels is returned, as floats or as two halves per register.
#[test]
fn channels_come_back() {
    for chan in 1..=4usize {
        for (form, half) in [("", false), (".f16", true)] {
            let mut machine = Machine::new(Asked::default());
            let mut tasks = [Task::new(2).expect("two")];
            for n in 40..44 {
                tasks[0].fill(register(&format!("r{n}")), 0xeeee_eeee).expect("a register");
            }
            machine
                .run(&program(&format!("smp2d{form} drc0, sh0, r1, sh4, _, r40, {chan}")), &mut tasks, 10)
                .expect("it ends");
            let found: Vec<u32> =
                (40..44).map(|n| tasks[0].get(register(&format!("r{n}")), 1).expect("a register")).collect();
            let mut wanted = vec![0xeeee_eeee; 4];
            for c in 0..chan {
                let value = c as f32 + 1.0;
                if !half {
                    wanted[c] = value.to_bits();
                } else {
                    let bits = u32::from(f16::from_f32(value).to_bits());
                    wanted[c / 2] = if c % 2 == 0 { bits } else { wanted[c / 2] | bits << 16 };
                }
            }
            assert_eq!(found, wanted, "{chan}{form}");
        }
    }
}

/// A texture whose level `n` is `n` everywhere: 16 x 8 texels and five levels.
fn numbered() -> Texture {
    let level = |n: u32| vec![[n as f32, 10.0 * n as f32, 0.5, 1.0]; ((16 >> n).max(1) * (8u32 >> n).max(1)) as usize];
    Texture { levels: (1..5).map(level).collect(), ..Texture::new(16, 8, level(0)) }
}

/// Runs a sample for four instances, a quad, with their data from r1 on, and returns r40 of each.
fn quad(
    text: &str,
    texture: Texture,
    sampler: [u32; 2],
    instances: usize,
    data: impl Fn(usize) -> Vec<f32>,
) -> Vec<f32> {
    let mut machine = Machine::new(Software { textures: vec![texture], ..Software::default() });
    for n in 0..9 {
        machine.set(register(&format!("sh{n}")), 0).expect("a shared register");
    }
    machine.set(register("sh4"), sampler[0]).expect("a shared register");
    machine.set(register("sh5"), sampler[1]).expect("a shared register");
    let mut task = Task::new(instances).expect("so many");
    for i in 0..instances {
        for (n, value) in data(i).iter().enumerate() {
            task.set(register(&format!("r{}", 1 + n)), i, value.to_bits()).expect("a register");
        }
    }
    let mut tasks = [task];
    machine.run(&program(text), &mut tasks, 10).unwrap_or_else(|e| panic!("{text}: {e}"));
    (0..instances).map(|i| f32::from_bits(tasks[0].get(register("r40"), i).expect("a register"))).collect()
}

const BLEND: u32 = 1 << 6;

#[test]
fn levels_are_those_that_are_asked_for() {
    let text = "smp2d.replace.pplod drc0, sh0, r1, sh4, _, r40, 1";
    for (level, near, between) in [
        (0.0, 0.0, 0.0),
        (0.4, 0.0, 0.4),
        (0.5, 1.0, 0.5),
        (2.75, 3.0, 2.75),
        (4.0, 4.0, 4.0),
        (9.0, 4.0, 4.0),
        (-3.0, 0.0, 0.0),
    ] {
        let data = |_| vec![0.3, 0.6, level];
        assert_eq!(quad(text, numbered(), [0, 0], 1, data), [near], "{level}");
        let blended = quad(text, numbered(), [BLEND, 0], 1, data)[0];
        assert!((blended - between).abs() < 1e-6, "{level}: {blended}");
    }
    // Derivatives: 4 texels in x and 1 in y; then 2 in each direction of y.
    let text = "smp2d.gradient drc0, sh0, r1, sh4, _, r40, 1";
    let data = |_| vec![0.3, 0.6, 4.0 / 16.0, 0.0, 0.0, 1.0 / 8.0];
    assert_eq!(quad(text, numbered(), [BLEND, 0], 1, data), [2.0]);
    let data = |_| vec![0.3, 0.6, 0.0, 2.0 / 16.0, 0.0, 2.0 / 8.0];
    let found = quad(text, numbered(), [BLEND, 0], 1, data)[0];
    assert!((found - 1.5).abs() < 1e-6, "the longer of the two: {found}");
    // The sampler's bias applies if the level is not given.
    let data = |_| vec![0.3, 0.6, 4.0 / 16.0, 0.0, 0.0, 0.0];
    assert_eq!(quad(text, numbered(), [BLEND, 1.0f32.to_bits()], 1, data), [3.0]);
}

#[test]
fn levels_follow_from_the_neighbours() {
    // 4 texels per pixel in x, 2 in y.
    let across = |i: usize| vec![0.1 + (i % 2) as f32 * 0.25, 0.1 + (i / 2) as f32 * 0.25, 1.0];
    for (text, wanted) in [
        ("smp2d drc0, sh0, r1, sh4, _, r40, 1", 2.0),
        ("smp2d.bias.pplod drc0, sh0, r1, sh4, _, r40, 1", 3.0),
        // The shared level is 0.
        ("smp2d.bias drc0, sh0, r1, sh4, sh8, r40, 1", 2.0),
        ("smp2d.nncoords drc0, sh0, r1, sh4, _, r40, 1", 0.0),
    ] {
        for found in quad(text, numbered(), [BLEND, 0], 4, across) {
            assert!((found - wanted).abs() < 1e-5, "{text}: {found}");
        }
    }
    // A projection divides first.
    let data = |i: usize| across(i)[..2].iter().map(|x| x * 2.0).chain([2.0]).collect();
    assert_eq!(quad("smp2d.proj drc0, sh0, r1, sh4, _, r40, 1", numbered(), [0, 0], 4, data), [2.0; 4]);
    // Without neighbours the derivatives are 0; with a single row, those of the row are used.
    assert_eq!(quad("smp2d drc0, sh0, r1, sh4, _, r40, 1", numbered(), [0, 0], 1, across), [0.0]);
    let narrow = |i: usize| vec![0.1 + (i % 2) as f32 / 16.0 * 2.0, 0.1 + (i / 2) as f32];
    assert_eq!(quad("smp2d drc0, sh0, r1, sh4, _, r40, 1", numbered(), [0, 0], 2, narrow), [1.0; 2]);
}

/// Generated levels hold means.
#[test]
fn levels_are_means_of_what_they_cover() {
    let texels = (0..16).map(|n| [n as f32, 0.0, 0.0, 1.0]).collect();
    let texture = Texture::new(4, 4, texels).with_levels();
    assert_eq!(texture.levels.iter().map(Vec::len).collect::<Vec<_>>(), [4, 1]);
    assert_eq!(texture.levels[0].iter().map(|t| t[0]).collect::<Vec<_>>(), [2.5, 4.5, 10.5, 12.5]);
    assert_eq!(texture.levels[1], [[7.5, 0.0, 0.0, 1.0]]);
}

/// The raw texels of a footprint are in the order in which a gather uses them, followed by the coefficients.
#[test]
fn samples_may_bypass_the_filter() {
    let texels: Vec<[f32; 4]> = (0..16).map(|n| [0.0, 100.0, 200.0, 300.0].map(|c| c + n as f32)).collect();
    // Between columns 1 and 2 and rows 2 and 3.
    let (u, v) = (0.45f32, 0.8f32);
    for (mode, chan) in [("data", 4), ("data", 1), ("info", 1), ("both", 1), ("both", 3)] {
        let mut machine =
            Machine::new(Software { textures: vec![Texture::new(4, 4, texels.clone())], ..Software::default() });
        machine.set(register("sh9"), 0).expect("a shared register");
        let mut task = Task::new(1).expect("one");
        for (n, value) in [u, v, 0.75].iter().enumerate() {
            task.set(register(&format!("r{}", 1 + n)), 0, value.to_bits()).expect("a register");
        }
        let mut tasks = [task];
        let text = format!("smp2d.replace.pplod.{mode} drc0, sh0, r1, sh4, _, r40, {chan}");
        machine.run(&program(&text), &mut tasks, 10).unwrap_or_else(|e| panic!("{text}: {e}"));
        let word = |n: usize| f32::from_bits(tasks[0].get(register(&format!("r{}", 40 + n)), 0).expect("a register"));
        let mut at = 0;
        if mode != "info" {
            for (x, y) in [(1, 2), (1, 3), (2, 2), (2, 3)] {
                for (c, wanted) in texels[y * 4 + x].iter().enumerate().take(chan) {
                    assert_eq!(word(at), *wanted, "{mode}, texel {x}, {y}, channel {c}");
                    at += 1;
                }
            }
        }
        if mode != "data" {
            // As Mesa decodes them: the level that is used, and the level before clamping.
            let used = 255.0 * word(at) + 255.0 / 256.0 * word(at + 2);
            let asked = 255.0 * word(at + 1) - 128.0 + 255.0 / 256.0 * word(at + 3);
            assert!(used.abs() < 1e-4 && (asked - 0.75).abs() < 1e-4, "{used} {asked}");
            assert!((word(at + 4) - (u * 4.0 - 1.5)).abs() < 1e-6 && (word(at + 5) - (v * 4.0 - 2.5)).abs() < 1e-6);
            at += Raw::COEFFICIENTS;
        }
        assert_eq!(word(at), 0.0, "nothing more is written");
    }
}

/// A linear filter interpolates; a reference is compared with every texel before.
#[test]
fn filters_mix_and_compare() {
    let mut random = Random::new(seed(52));
    let texels: Vec<[f32; 4]> = (0..64).map(|_| [random.below(100) as f32 / 100.0; 4]).collect();
    let texture = Texture::new(8, 8, texels.clone());
    let texel = |x: i64, y: i64, mode: u32| {
        let place = |n: i64| match mode {
            1 => n.rem_euclid(8),
            2 => [0, 1, 2, 3, 4, 5, 6, 7, 7, 6, 5, 4, 3, 2, 1, 0][n.rem_euclid(16) as usize],
            _ => n.clamp(0, 7),
        };
        texels[(place(y) * 8 + place(x)) as usize][0]
    };
    for mode in 0..3 {
        for _ in 0..200 {
            let (u, v) = (random.below(4000) as f32 / 1000.0 - 1.5, random.below(4000) as f32 / 1000.0 - 1.5);
            let reference = random.below(100) as f32 / 100.0 + 0.005;
            let (x, y) = (u * 8.0 - 0.5, v * 8.0 - 0.5);
            let (part_x, part_y) = (x - x.floor(), y - y.floor());
            let mixed = |of: &dyn Fn(f32) -> f32| {
                let t = |dx: i64, dy: i64| of(texel(x.floor() as i64 + dx, y.floor() as i64 + dy, mode));
                let upper = t(0, 0) * (1.0 - part_x) + t(1, 0) * part_x;
                upper * (1.0 - part_y) + (t(0, 1) * (1.0 - part_x) + t(1, 1) * part_x) * part_y
            };
            let sampler = 1 | mode << 1 | 4 << 3;
            let data = |_| vec![u, v, reference];
            let found = quad("smp2d drc0, sh0, r1, sh4, _, r40, 1", texture.clone(), [sampler, 0], 1, data)[0];
            assert!((found - mixed(&|t| t)).abs() < 1e-4, "{u}, {v}, {mode}: {found}");
            // The reference is greater: mode 4.
            let found =
                quad("smp2d.comparison drc0, sh0, r1, sh4, _, r40, 1", texture.clone(), [sampler, 0], 1, data)[0];
            let wanted = mixed(&|t| if reference > t { 1.0 } else { 0.0 });
            assert!((found - wanted).abs() < 1e-4, "{reference} at {u}, {v}, {mode}: {found}, not {wanted}");
        }
    }
}

/// A direction selects the face that it intersects, at the coordinates of GLSL's table.
#[test]
fn directions_find_the_faces_of_a_cube() {
    // Each face has 2 x 2 texels with 10 times the face plus the texel's number.
    let texels = (0..24).map(|n| [(n / 4 * 10 + n % 4) as f32; 4]).collect();
    let cube = Texture { size: [2, 2, 1], layers: 6, texels, cube: true, ..Texture::default() };
    for (direction, wanted) in [
        ([1.0, 0.5, 0.5], 0.0),
        ([2.0, -1.0, -1.0], 3.0),
        ([-1.0, 0.5, 0.5], 11.0),
        ([0.5, 1.0, 0.5], 23.0),
        ([-0.5, 1.0, -0.5], 20.0),
        ([0.5, -1.0, 0.5], 31.0),
        ([0.5, 0.5, 1.0], 41.0),
        ([0.5, 0.5, -1.0], 50.0),
        ([-0.5, -0.5, -4.0], 53.0),
    ] {
        let data = |_| direction.to_vec();
        let found = quad("smp3d drc0, sh0, r1, sh4, _, r40, 1", cube.clone(), [0, 0], 1, data);
        assert_eq!(found, [wanted], "{direction:?}");
    }
}

/// A layer is selected by its number or by its address.
#[test]
fn layers_are_found_by_number_and_by_address() {
    let texels = (0..12).map(|n| [n as f32; 4]).collect();
    let array = Texture { size: [2, 2, 1], layers: 3, texels, address: 0x5_0000_0000, ..Texture::default() };
    for layer in 0..4u32 {
        let last = (4 * layer.min(2) + 3) as f32;
        let data = |_| vec![0.75, 0.75, layer as f32];
        assert_eq!(quad("smp2d.array drc0, sh0, r1, sh4, _, r40, 1", array.clone(), [0, 0], 1, data), [last]);
        let data = |_| vec![0.75, 0.75, f32::from_bits(layer * 64), f32::from_bits(5)];
        assert_eq!(quad("smp2d.tao drc0, sh0, r1, sh4, _, r40, 1", array.clone(), [0, 0], 1, data), [last]);
    }
}

#[test]
fn texels_are_written_and_fetched() {
    let mut machine = Machine::new(Software { textures: vec![numbered()], ..Software::default() });
    let mut task = Task::new(1).expect("one");
    // x, y, the level, four values.
    for (n, word) in [3, 1, 1f32.to_bits(), 11, 12, 13, 14].into_iter().enumerate() {
        task.set(register(&format!("r{}", 1 + n)), 0, word).expect("a register");
    }
    let mut tasks = [task];
    let text = "smp2d.replace.pplod.wrt.integer drc0, sh0, r1, sh4, _, r40, 4\n1 : smp2d.replace.pplod.integer drc0, sh0, r1, sh4, _, r40, 4";
    machine.run(&program(text), &mut tasks, 10).expect("it ends");
    let found: Vec<u32> = (40..44).map(|n| tasks[0].get(register(&format!("r{n}")), 0).expect("a register")).collect();
    assert_eq!(found, [11, 12, 13, 14]);
    assert_eq!(machine.host.textures[0].texels, numbered().texels, "the other levels stay");
}

/// Iterated coordinates: the level follows from the planes; the divisor and the reference are the last planes.
#[test]
fn iterated_samples_have_levels_divisors_and_references() {
    let run = |text: &str, planes: &[[f32; 3]]| {
        let mut machine = Machine::new(Asked::default());
        let mut task = Task::new(1).expect("one");
        task.place(0, 10, 20).expect("an instance");
        for (n, plane) in planes.iter().enumerate() {
            for (c, value) in plane.iter().enumerate() {
                task.fill(register(&format!("cf{}", 4 + 4 * n + c)), value.to_bits()).expect("a coefficient");
            }
        }
        machine.run(&program(text), &mut [task], 10).unwrap_or_else(|e| panic!("{text}: {e}"));
        machine.host.0.remove(0).1
    };
    let near = |a: [f32; 6], b: [f32; 6]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5);
    let text = "itrsmp2d.pixel.proj.comparison r40, 0, drc0, cf4, sh4, sh0, 4, cf0,";
    let sample = run(text, &[[0.25, 0.0, 0.0], [0.0, 0.5, 1.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.75]]);
    assert_eq!(sample.coordinates, [10.5 * 0.25 / 2.0, (20.5 * 0.5 + 1.0) / 2.0, 0.0]);
    assert_eq!((sample.reference, sample.level), (Some(0.75), Level::Implicit));
    assert!(near(sample.gradients, [0.125, 0.0, 0.0, 0.25, 0.0, 0.0]), "{:?}", sample.gradients);
}

/// Any flags and values yield a result or an error, never a panic.
#[test]
fn wild_samples_end() {
    let mut random = Random::new(seed(53));
    let mut ended = 0;
    for round in 0..3000 {
        let some = |random: &mut Random, text: &'static str| if random.below(3) == 0 { text } else { "" };
        let flags: String = [".proj", ".fcnorm", ".nncoords"].map(|text| some(&mut random, text)).concat();
        let level = ["", ".bias", ".replace", ".gradient"][random.below(4) as usize];
        let more = [".pplod", ".tao", ".soo", ".sno", ".wrt"].map(|text| some(&mut random, text)).concat();
        let bypass = ["", "", ".data", ".info", ".both"][random.below(5) as usize];
        let last =
            [".array", ".integer", ".comparison", ".f16", ".f16input"].map(|text| some(&mut random, text)).concat();
        let text = format!(
            "smp{}d{flags}{level}{more}{bypass}{last} drc0, sh0, r1, sh4, sh8, r40, {}",
            1 + round % 3,
            1 + round % 4
        );
        let textures = [numbered(), Texture::default(), Texture { cube: true, layers: 6, ..numbered() }];
        let host = Software { textures: vec![textures[random.below(3) as usize].clone()], ..Software::default() };
        let mut machine = Machine::new(host);
        for n in 1..9 {
            machine.set(register(&format!("sh{n}")), random.word()).expect("a shared register");
        }
        let mut task = Task::new(4).expect("4");
        for (n, i) in (1..20).flat_map(|n| (0..4).map(move |i| (n, i))) {
            task.set(register(&format!("r{n}")), i, random.word()).expect("a register");
        }
        ended += usize::from(machine.run(&program(&text), &mut [task], 10).is_ok());
    }
    assert!(ended > 2900, "{ended} end");
}
