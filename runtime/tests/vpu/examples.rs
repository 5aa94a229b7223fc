//! The programs of `examples/vpu`, each compared with its own computation, in both ways of running and with several
//! seeds.

use isaforge_runtime::vpu::picture::{self, Pixel};
use isaforge_runtime::vpu::scene::Scene;
use isaforge_runtime::vpu::{Config, Machine, Report, assemble};

use crate::model::exact::{self, add, from_integer, multiply};

fn read(name: &str) -> String {
    let path = format!("{}/../examples/vpu/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn scene(name: &str) -> Scene {
    Scene::from_json(&read(&format!("{name}.json"))).unwrap_or_else(|e| panic!("{name}.json: {e}"))
}

fn words(name: &str) -> Vec<u64> {
    assemble(&read(&format!("{name}.vpu"))).unwrap_or_else(|errors| panic!("{name}.vpu: {}", errors[0]))
}

/// Runs an example in several ways, and passes each machine to `judge`.
fn check(name: &str, judge: impl Fn(&Scene, &Machine, &Report)) {
    let (scene, words) = (scene(name), words(name));
    // Without optimization, one seed takes long enough.
    let seeds: &[u64] = if cfg!(debug_assertions) { &[3] } else { &[0, 3] };
    for &seed in seeds {
        for run in [Machine::run, Machine::run_cycles] {
            let config = Config { seed, ..Config::default() };
            let mut machine = scene.machine(&words, &config).expect("the machine takes it");
            let report = run(&mut machine).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(machine.warnings(), [], "{name}");
            judge(&scene, &machine, &report);
        }
    }
}

fn element(machine: &Machine, buffer: usize, x: usize, y: usize) -> [u16; 4] {
    let size = machine.tile_size();
    machine.tiles(0).expect("core 0 exists")[buffer].data[y * size.width() + x]
}

const ONE: u16 = 0x3c00;

#[test]
fn triangles_cover_the_pixels_inside_with_blended_colours() {
    const TRIANGLES: [[(i32, i32); 3]; 3] =
        [[(4, 6), (58, 14), (20, 58)], [(40, 4), (60, 40), (30, 50)], [(6, 60), (28, 34), (50, 62)]];
    // Twice the area; positive if the corners are in clockwise order on a screen whose y grows downwards.
    let turn = |a: (i32, i32), b: (i32, i32), c: (i32, i32)| (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0);
    let pixel = |p: (i32, i32)| {
        let mut colour = [0; 4];
        for [a, b, c] in TRIANGLES {
            let weights = [turn(b, c, p), turn(c, a, p), turn(a, b, p)];
            if weights.iter().all(|w| *w >= 0) {
                let scale = exact::divide(ONE, from_integer(turn(a, b, c) as u16));
                let part = |w: i32| multiply(from_integer(w as u16), scale);
                colour = [part(weights[0]), part(weights[1]), part(weights[2]), ONE];
            }
        }
        colour
    };
    check("triangle", |_, machine, _| {
        let mut covered = 0;
        for y in 0..64 {
            for x in 0..64 {
                let expected = pixel((x, y));
                covered += usize::from(expected[3] != 0);
                assert_eq!(element(machine, 0, x as usize, y as usize), expected, "({x}, {y})");
            }
        }
        assert!((1500..3000).contains(&covered), "{covered} pixels are covered");
        let picture = picture::tile(&machine.tiles(0).expect("core 0 exists")[0], machine.tile_size(), Pixel::Float);
        assert_eq!((picture.width, picture.height, picture.rgba.len()), (64, 64, 64 * 64 * 4));
        assert_eq!(picture.rgba[..4], [0, 0, 0, 0], "the corner is not covered");
        let weights: u32 = picture.rgba[4 * (26 * 64 + 27)..][..3].iter().map(|v| u32::from(*v)).sum();
        assert!((253..=257).contains(&weights), "weights of a pixel add up to one: {weights}");
    });
}

#[test]
fn the_textured_rectangle_has_colours_and_palette_entries() {
    check("texture", |scene, machine, _| {
        for y in 0..32usize {
            for x in 0..64usize {
                // 0.375 and 0.75 texels per pixel, sampled at pixel centres; these numbers are exact in binary.
                let (u, v) = ((2 * x + 1) * 3 / 16 % 16, (2 * y + 1) * 3 / 8 % 16);
                let texel = v * 16 + u;
                let expected = if x < 30 {
                    let colour = u16::from_le_bytes([scene.external[2 * texel], scene.external[2 * texel + 1]]);
                    let channel = |n: u16| exact::divide(from_integer(n % 32), from_integer(31));
                    [
                        channel(colour >> 10),
                        channel(colour >> 5),
                        channel(colour),
                        if colour >> 15 == 1 { ONE } else { 0 },
                    ]
                } else {
                    let index = scene.external[512 + texel];
                    scene.palettes[0].as_ref().expect("the scene has it")[usize::from(index)]
                };
                assert_eq!(element(machine, 0, x, y), expected, "({x}, {y})");
            }
        }
    });
}

/// The number of steps until |z| reaches 2, with a rounding after every operation, as in the program.
fn steps_in_half(x: u16, y: u16) -> u16 {
    let (step, left, top) = (exact::divide(from_integer(5), from_integer(256)), 0xbf80, 0xbd00);
    let c = (add(multiply(from_integer(x), step), left), add(multiply(from_integer(y), step), top));
    let (mut re, mut im) = (0, 0);
    for n in 0..48 {
        let (re2, im2, product) = (multiply(re, re), multiply(im, im), multiply(re, im));
        let distance = add(add(re2, im2), 0xc400);
        if distance < 0x8000 {
            return n;
        }
        (re, im) = (add(add(re2, im2 ^ 0x8000), c.0), add(multiply(product, 0x4000), c.1));
    }
    48
}

fn steps_in_double(x: u16, y: u16) -> u16 {
    let c = (f64::from(x) * 5.0 / 256.0 - 1.875, f64::from(y) * 5.0 / 256.0 - 1.25);
    let (mut re, mut im) = (0.0, 0.0);
    for n in 0..48 {
        if re * re + im * im >= 4.0 {
            return n;
        }
        (re, im) = (re * re - im * im + c.0, 2.0 * re * im + c.1);
    }
    48
}

#[test]
fn the_mandelbrot_set_is_that_of_half_precision() {
    let expected: Vec<u16> = (0..128 * 128).map(|i| steps_in_half(i % 128, i / 128)).collect();
    check("mandelbrot", |scene, machine, _| {
        let palette = scene.palettes[0].as_ref().expect("the scene has it");
        for (i, steps) in expected.iter().enumerate() {
            let (x, y) = (i % 128, i / 128);
            assert_eq!(element(machine, 0, x, y), [*steps; 4], "({x}, {y})");
            assert_eq!(element(machine, 1, x, y), palette[usize::from(*steps)], "({x}, {y})");
        }
    });
    // The effect of eleven bits of precision: most pixels agree with double precision, but not those near the border.
    let different = (0..128 * 128).filter(|i| expected[usize::from(*i)] != steps_in_double(i % 128, i / 128)).count();
    assert!((150..600).contains(&different), "{different} of 16384 pixels differ from double precision");
    let inside = expected.iter().filter(|n| **n == 48).count();
    assert!((3000..5000).contains(&inside), "{inside} pixels are inside");
}

#[test]
fn overlapping_groups_blend_every_layer_once() {
    check("blend", |_, machine, _| {
        for y in 0..32 {
            for x in 0..32 {
                // Four columns and three rows of layers. All sums are multiples of 1/512 below 1, and therefore exact.
                let sum = |at: usize, count: usize| (0..count).map(|n| (at + 32 * n) & 0x7c).sum::<usize>();
                let of_2048ths = |n: usize| exact::divide(from_integer(n as u16), from_integer(2048));
                let through = exact::divide(ONE, from_integer(4096));
                let expected = [of_2048ths(3 * sum(x, 4)), of_2048ths(4 * sum(y, 3)), of_2048ths(12 * 16), through];
                assert_eq!(element(machine, 0, x, y), expected, "({x}, {y})");
            }
        }
        assert!(machine.tiles(0).expect("core 0 exists")[0].locked.iter().all(|l| !l), "all locks are released");
    });
}

#[test]
fn without_locks_layers_would_get_lost() {
    let text = read("blend.vpu")
        .replace("ReadLockLocalTile0", "ReadLocalTile0")
        .replace("WriteUnlockLocalTile0", "WriteLocalTile0");
    let mut machine =
        scene("blend").machine(&assemble(&text).expect("it assembles"), &Config::default()).expect("it is possible");
    machine.run_cycles().expect("it ends");
    let through = exact::divide(ONE, from_integer(4096));
    let lost = machine.tiles(0).expect("core 0 exists")[0].data.iter().filter(|e| e[3] != through).count();
    assert!(lost > 100, "only {lost} elements lost a layer: the example shows nothing");
}

#[test]
fn the_histogram_counts_every_pixel() {
    check("histogram", |scene, machine, _| {
        let memory = machine.memory().bytes();
        assert_eq!(memory[..1024], scene.external[..1024], "the image is as it was");
        for value in 0..256usize {
            let expected = scene.external[..1024].iter().filter(|b| usize::from(**b) == value).count() as u64;
            let found: [u8; 8] = std::array::from_fn(|i| memory[1024 + 8 * value + i]);
            assert_eq!(u64::from_le_bytes(found), expected, "value {value}");
        }
    });
}

/// Fills a square as the groups should: with the value of a square that is inside, outside, or small and on the edge.
fn quarter(picture: &mut [[u16; 32]; 32], x: usize, y: usize, size: usize, groups: &mut u64) {
    *groups += 1;
    let inside = |x: usize, y: usize| {
        let (dx, dy) = (x as i32 - 16, y as i32 - 15);
        dx * dx + dy * dy < 144
    };
    let end = size - 1;
    let corners = [inside(x, y), inside(x + end, y), inside(x, y + end), inside(x + end, y + end)];
    let value = match corners {
        [true, true, true, true] => 255,
        [false, false, false, false] => 40,
        _ if size == 4 => 140,
        _ => {
            let half = size / 2;
            for (dx, dy) in [(0, 0), (half, 0), (0, half), (half, half)] {
                quarter(picture, x + dx, y + dy, half, groups);
            }
            return;
        }
    };
    picture[y..y + size].iter_mut().for_each(|row| row[x..x + size].fill(value));
}

#[test]
fn the_quad_tree_spawns_its_own_children() {
    // The first group always splits the whole.
    let (mut expected, mut groups) = ([[0; 32]; 32], 1);
    for (x, y) in [(0, 0), (16, 0), (0, 16), (16, 16)] {
        quarter(&mut expected, x, y, 16, &mut groups);
    }
    assert!((40..80).contains(&groups) && expected[15][16] == 255 && expected[0][0] == 40, "{groups} groups");
    check("quadtree", |_, machine, report| {
        assert_eq!(report.groups, groups);
        for (y, row) in expected.iter().enumerate() {
            for (x, value) in row.iter().enumerate() {
                assert_eq!(element(machine, 0, x, y), [*value; 4], "({x}, {y})");
            }
        }
    });
}
