//! Operations without a public encoding, executed from typed values and compared with a computation in each test.

use half::f16;
use isaforge_runtime::Memory;
use isaforge_runtime::usc::texture::Texture;
use isaforge_runtime::usc::{LoadError, Machine, Program, Software, Task, Trap};
use isaforge_usc::Parts;

use crate::seed::seed;
use crate::support::{Random, register, run};

fn parts(text: &str) -> Parts {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// A program of groups, given as texts, with its end.
fn program(groups: &[&str]) -> Program {
    let mut all: Vec<Parts> = groups.iter().map(|text| parts(text)).collect();
    all.push(parts("nop.end"));
    Program::of_parts(&all).unwrap_or_else(|e| panic!("{groups:?}: {e}"))
}

fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

#[test]
fn roots_are_those_of_the_number() {
    let root = program(&["fsqrt r0, sh0"]);
    let small = program(&["fsqrt r0, r1.abs.neg"]);
    let mut random = Random::new(seed(1));
    for _ in 0..2000 {
        let x = random.word();
        let found = run(&root, &[("sh0", x)], &["r0"])[0];
        let wanted = (f64::from(f(x)).sqrt() as f32).to_bits();
        assert!(found == wanted || (f(found).is_nan() && f(wanted).is_nan()), "{x:08x}: {found:08x}");
        let found = f(run(&small, &[("r1", x)], &["r0"])[0]);
        assert!(found.is_nan() || f(x) == 0.0 && found == 0.0, "the root of -|x| of {x:08x}: {found}");
    }
}

#[test]
fn functions_of_one_source_read_and_write_halves() {
    type Of = fn(f64) -> f64;
    let functions: [(&str, Of, f64); 7] = [
        ("frcp", |x| 1.0 / x, 1e-3),
        ("frsq", |x| 1.0 / x.sqrt(), 1e-3),
        ("flog", f64::log2, 1e-3),
        ("fexp", f64::exp2, 1e-3),
        ("fsqrt", f64::sqrt, 1e-3),
        // The sRGB curve and its inverse.
        ("gcmp", |x| if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 }, 2e-3),
        ("gexp", |x| if x <= 0.040_45 { x / 12.92 } else { ((x + 0.055) / 1.055).powf(2.4) }, 2e-3),
    ];
    let mut random = Random::new(seed(11));
    for (name, of, bound) in functions {
        let [low, high] = ["e0", "e1"].map(|e| program(&[&format!("{name} r0.f16, sh0.{e}.abs")]));
        let (wide, narrow) = (program(&[&format!("{name} r0, sh0.e1")]), program(&[&format!("{name} r0.f16, sh0")]));
        for _ in 0..500 {
            // From 0.06 to 4, next to any bits in the other half.
            let half = 0x2c00 + random.below(0x1800);
            let x = f16::from_bits(half as u16).to_f64();
            let x = if name.starts_with('g') { x / 4.0 } else { x };
            let half = u32::from(f16::from_f64(x).to_bits());
            let wanted = of(f16::from_bits(half as u16).to_f64());
            let near = |found: f64| (found - wanted).abs() <= bound * wanted.abs().max(0.1);
            let other = random.word();
            let inputs = [half | 0x8000 | other << 16, (half | 0x8000) << 16 | other & 0xffff];
            for (program, input) in [&low, &high].into_iter().zip(inputs) {
                let found = run(program, &[("sh0", input)], &["r0"])[0];
                assert_eq!(found >> 16, found & 0xffff, "{name} of {input:08x}: {found:08x}");
                let found = f16::from_bits(found as u16).to_f64();
                assert!(near(found), "{name} of {x}: {found}, not {wanted}");
            }
            let exact = run(&wide, &[("sh0", half << 16 | other & 0xffff)], &["r0"])[0];
            assert!(
                (f64::from(f(exact)) - wanted).abs() <= 1e-5 * wanted.abs().max(0.1),
                "{name} of {x}: {}",
                f(exact)
            );
            let word = f16::from_bits(half as u16).to_f32().to_bits();
            let found = run(&narrow, &[("sh0", word)], &["r0"])[0];
            assert_eq!(found, u32::from(f16::from_f32(f(exact)).to_bits()) * 0x1_0001, "{name} of {x}");
        }
    }
    // None of these operations has a public encoding.
    let error = parts("frcp r0.f16, sh0").encode().expect_err("there are no bits");
    assert!(error.to_string().contains("no public encoding"), "{error}");
}

#[test]
fn doubles_come_from_words_and_become_words() {
    let mut random = Random::new(seed(2));
    for (kind, to, from) in [
        ("f32", (|x: u32| f64::from(f(x))) as fn(u32) -> f64, (|d: f64| (d as f32).to_bits()) as fn(f64) -> u32),
        ("s32", |x| f64::from(x as i32), |d| d.trunc().clamp(-2147483648.0, 2147483647.0) as i64 as u32),
        ("u32", |x| f64::from(x), |d| d.trunc().clamp(0.0, 4294967295.0) as u64 as u32),
    ] {
        let there = program(&[&format!("converttof64.{kind} ft0, ft2, sh0\nmov r0, ft0\nmov r1, ft2")]);
        let back = program(&[&format!("convertfromf64.{kind} ft0, sh0, r1\nmov r0, ft0")]);
        for _ in 0..2000 {
            let x = random.word();
            let found = run(&there, &[("sh0", x)], &["r0", "r1"]);
            let found = f64::from_bits(u64::from(found[1]) << 32 | u64::from(found[0]));
            assert!(found == to(x) || found.is_nan() && to(x).is_nan(), "{kind} {x:08x}: {found}");
            let double = match random.below(3) {
                0 => f64::from_bits(u64::from(random.word()) << 32 | u64::from(random.word())),
                1 => f64::from(random.word() as i32) * 0.75,
                _ => f64::from(f(random.word())),
            };
            let bits = double.to_bits();
            let found = run(&back, &[("sh0", bits as u32), ("r1", (bits >> 32) as u32)], &["r0"])[0];
            let wanted = from(double);
            let both = kind == "f32" && f(found).is_nan() && f(wanted).is_nan();
            assert!(both || found == wanted, "{kind} of {double}: {found:08x}, not {wanted:08x}");
        }
    }
}

#[test]
fn tests_for_minimum_and_maximum_choose() {
    let choose = |test: &str| {
        program(&[&format!(
            "mbyp ft0, sh0\nmbyp ft1, sh1\n{test} ftt, p0, ft0, ft1\nmov r0.e0.e1.e2.e3, ft1, ftt, ft0, ft1"
        )])
    };
    type Holds = fn(u32, u32) -> bool;
    let table: [(&str, Holds); 6] = [
        ("tstmin.f32", |a, b| f(a) < f(b)),
        ("tstmax.f32", |a, b| f(a) >= f(b)),
        ("tstmin.s32", |a, b| (a as i32) < b as i32),
        ("tstmax.u32", |a, b| a >= b),
        ("tstmin.u8", |a, b| (a as u8) < b as u8),
        ("tstmax.s16", |a, b| a as i16 >= b as i16),
    ];
    let mut random = Random::new(seed(3));
    for (test, holds) in table {
        let program = choose(test);
        for _ in 0..1000 {
            let (a, b) = (random.word(), random.word());
            let b = if random.below(8) == 0 { a } else { b };
            let found = run(&program, &[("sh0", a), ("sh1", b)], &["r0"])[0];
            assert_eq!(found, if holds(a, b) { a } else { b }, "{test} of {a:08x} and {b:08x}");
        }
    }
}

#[test]
fn sums_and_products_of_phase_2() {
    let mut random = Random::new(seed(10));
    let plain = "mbyp ft0, r0\nmbyp ft1, r3\n{} ft2, ft1.abs.neg, r2.abs@S2\nmov r8, ft2\nmov r9, ft0";
    type Of = fn(f32, f32) -> f32;
    for (name, of) in
        [("fadd", (|a, b| a + b) as Of), ("fmul", |a, b| a * b), ("fadd.sat", |a, b| a + b), ("fmul.sat", |a, b| a * b)]
    {
        let program = program(&[&plain.replace("{}", name).replace("r2.abs@S2", "r2.abs")]);
        for _ in 0..500 {
            let (a, b, c) = (random.word(), random.word(), random.word());
            let found = run(&program, &[("r0", c), ("r3", a), ("r2", b)], &["r8", "r9"]);
            let exact = of(-f(a).abs(), f(b).abs());
            let wanted = match name.ends_with("sat") {
                true if exact > 0.0 => exact.min(1.0),
                true => 0.0,
                false => exact,
            };
            let same = found[0] == wanted.to_bits() || f(found[0]).is_nan() && wanted.is_nan();
            assert!(same && found[1] == c, "{name} of {a:08x} and {b:08x}: {found:x?}");
        }
    }
}

/// Compared with the reference's own loops.
#[test]
fn top_bits_are_found_as_the_reference_counts() {
    let signed = program(&["ftb_shi ft3, r2\nmov r0, ft3"]);
    let from_top = program(&["byp ft0, ft1, c0, c0\nbyp ft2, r2\nftb_msb ft3, ft2\nmov r0, ft3"]);
    let mut random = Random::new(seed(4));
    let powers = (0..32).flat_map(|n| [1u32 << n, !(1 << n), u32::MAX << n]);
    for x in powers.chain((0..2000).map(|_| random.word())).collect::<Vec<_>>() {
        let folded = if x >> 31 != 0 { !x } else { x };
        let count = (0..=32).find(|c| *c == 32 || folded >> c == 0).expect("a count");
        assert_eq!(run(&signed, &[("r2", x)], &["r0"])[0], (count as u32).wrapping_sub(1), "{x:08x}");
        let place = (0..32).find(|n| x << n >> 31 != 0).map_or(u32::MAX, |n| n);
        assert_eq!(run(&from_top, &[("r2", x)], &["r0"])[0], place, "{x:08x}");
    }
}

fn half(x: f64) -> u32 {
    // Finds the nearest half by search, with ties to even.
    if x.is_nan() {
        return 0x7e00;
    }
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    let x = x.abs();
    let (mut low, mut high) = (0u16, 0x7c00u16);
    while low + 1 < high {
        let middle = (low + high) / 2;
        if f16::from_bits(middle).to_f64() <= x {
            low = middle;
        } else {
            high = middle;
        }
    }
    let above = if high == 0x7c00 { 65536.0 } else { f16::from_bits(high).to_f64() };
    let (down, up) = (x - f16::from_bits(low).to_f64(), above - x);
    let nearest = if down < up || (down == up && low % 2 == 0) { low } else { high };
    sign | u32::from(nearest)
}

fn value(bits: u32) -> f64 {
    f16::from_bits(bits as u16).to_f64()
}

/// A small float, so that halves of it are finite.
fn small(random: &mut Random) -> u32 {
    ((random.below(4001) as f32 - 2000.0) / 128.0).to_bits()
}

/// The example of F16SOP: `a16 * b16 + c16` for two components at once.
#[test]
fn a_sum_of_products_is_the_glsl_beside_it() {
    let text = "f16sop r0.joutj, r1.koutk, _, sh4, i3, add, sh8, 0.oneminus, sh5, i1, add, i0, 0.oneminus, _";
    let program = program(&[text]);
    let mut random = Random::new(seed(5));
    for _ in 0..2000 {
        let [a, b, c, d, e, g] = [(); 6].map(|()| small(&mut random));
        let inputs = [("sh4", a), ("i3", b), ("sh8", c), ("sh5", d), ("i1", e), ("i0", g)];
        let h = |x: u32| value(half(f64::from(f(x))));
        let wanted = [h(a) * h(b) + h(c), h(d) * h(e) + h(g)].map(|x| (value(half(x)) as f32).to_bits());
        assert_eq!(run(&program, &inputs, &["r0", "r1"]), wanted);
    }
}

#[test]
fn sums_of_products_combine_and_place_their_results() {
    let mut random = Random::new(seed(6));
    type Combine = fn(f64, f64) -> f64;
    let ways: [(&str, Combine); 5] = [
        ("add", |x, y| x + y),
        ("sub", |x, y| x - y),
        ("rsub", |x, y| y - x),
        ("min", |x, y| if x < y { x } else { y }),
        ("max", |x, y| if x >= y { x } else { y }),
    ];
    for (jop, join) in ways {
        for (kop, other) in ways {
            // Both results are in one register, the first above the second; S3 goes to the second destination.
            let text = format!(
                "f16sop r0.e1.joutj, r0.koutk, r1, r2.f16.e1.neg, r3.f16.abs, {jop}, r4.f16, r3.f16.e1.oneminus, \
                 r2.f16.clamp.neg, z, {kop}, r4.f16.e1.flr, r2.f16.e1, r5"
            );
            let text =
                text.replace("r2", "r2@S2").replace("r3", "r3@S1").replace("r4", "r4@S0").replace(", r5", ", r5@S3");
            let program = program(&[&text.replace("r5@S3", "r5")]);
            for _ in 0..200 {
                let pack =
                    |random: &mut Random| half(f64::from(f(small(random)))) | half(f64::from(f(small(random)))) << 16;
                let [p, q, r] = [(); 3].map(|()| pack(&mut random));
                let (lo, hi) = (|x: u32| value(x & 0xffff), |x: u32| value(x >> 16));
                // z reads sources 0 and 1 as 32-bit floats.
                let whole = |x: u32| value(half(f64::from(f(x))));
                let (q0, r0) = (whole(q), 1.0 - whole(r));
                let z = if q0 < r0 { q0 } else { r0 };
                let j = join(-hi(p) * lo(q).abs(), lo(r) * (1.0 - hi(q)));
                let k = other(-lo(p).clamp(0.0, 1.0) * z, hi(r).floor() * hi(p));
                let found = run(&program, &[("r2", p), ("r3", q), ("r4", r), ("r5", 0x1234_5678)], &["r0", "r1"]);
                let wanted = half(j) << 16 | half(k);
                let same = |found: u32, wanted: u32| found == wanted || value(found).is_nan() && value(wanted).is_nan();
                assert!(
                    same(found[0] >> 16, wanted >> 16) && same(found[0] & 0xffff, wanted & 0xffff),
                    "{text}: {p:08x} {q:08x} {r:08x}: {:08x}, not {wanted:08x}",
                    found[0]
                );
                assert_eq!(found[1], 0x1234_5678);
            }
        }
    }
}

#[test]
fn multiply_adds_fill_halves_and_bytes() {
    let operands = "r2.f16, r3.f16, r4.f16, r2.f16.e1, r3.f16.e1, r4.f16.e1, r2.f16.neg, r3.f16.e1, r4.f16, r2.f16.e1, r3.f16, r4.f16.e1";
    let halves = program(&[&format!("f16sop.mad r0.e0, r0.e1, r1.e0, r1.e1, {operands}")]);
    let clamped = program(&[&format!("f16sop.mad.clampa.clampd r0.e0, r0.e1, r1.e0, r1.e1, {operands}")]);
    let bytes =
        program(&[&format!("f16sop.u8mad r0.e0, r0.e1, r0.e2, r0.e3, r1, {operands}, r5").replace(", r5", ", r2")]);
    let mut random = Random::new(seed(7));
    for round in 0..2000 {
        let mut pack = || {
            let mut one =
                || if round % 2 == 0 { small(&mut random) } else { (random.below(100) as f32 / 100.0).to_bits() };
            half(f64::from(f(one()))) | half(f64::from(f(one()))) << 16
        };
        let [p, q, r] = [pack(), pack(), pack()];
        let (lo, hi) = (|x: u32| value(x & 0xffff), |x: u32| value(x >> 16));
        // The operands of the text are, in order, a e v, c g x, b f w, d h y; x is added to b and w to c.
        let a = lo(p) * lo(q) + lo(r);
        let b = -lo(p) * hi(q) + hi(r);
        let c = hi(p) * hi(q) + lo(r);
        let d = hi(p) * lo(q) + hi(r);
        let inputs = [("r2", p), ("r3", q), ("r4", r)];
        let wanted = [half(a) | half(c) << 16, half(b) | half(d) << 16];
        assert_eq!(run(&halves, &inputs, &["r0", "r1"]), wanted, "{p:08x} {q:08x} {r:08x}");
        let unit = |x: f64| if x > 0.0 { x.min(1.0) } else { 0.0 };
        let wanted = [half(unit(a)) | half(c) << 16, half(b) | half(unit(d)) << 16];
        assert_eq!(run(&clamped, &inputs, &["r0", "r1"]), wanted);
        let byte = |x: f64| (value(half(unit(x))) * 255.0).round_ties_even() as u8;
        assert_eq!(run(&bytes, &inputs, &["r0", "r1"]), [u32::from_le_bytes([byte(a), byte(c), byte(b), byte(d)]), p]);
    }
}

#[test]
fn bytes_are_fractions_and_other_bytes_stay() {
    // W0 would otherwise be the value that selector 4 chooses: 0.
    let program =
        program(&["f16sop.u8.u8a.u8b r0.e1.joutjc, r0.e3.koutkc, r1, r2.u8.e3, r3.u8.e1, add, r2.u8, 0, r2.u8.e2, \
                             r3.u8.oneminus, add, r2.u8, 0, r5"]);
    let mut random = Random::new(seed(8));
    for _ in 0..2000 {
        let (p, q) = (random.word(), random.word());
        let part = |x: u32, n: u32| value(half(f64::from(x >> (8 * n) & 0xff) / 255.0));
        let byte = |x: f64| (value(half(x.clamp(0.0, 1.0))) * 255.0).round_ties_even() as u32;
        let wanted = byte(part(p, 3) * part(q, 1)) << 8 | byte(part(p, 2) * (1.0 - part(q, 0))) << 24;
        let found = run(&program, &[("r2", p), ("r3", q), ("r5", 77)], &["r0", "r1"]);
        assert_eq!(found, [wanted, 77], "{p:08x} {q:08x}");
    }
}

#[test]
fn moves_beside_sums_pass_their_source() {
    for (text, source) in [("sopmov r1, r5", "r5"), ("sopu8madmov r1, r5", "r5"), ("sopmov.u8 r0, r1, r5", "r5")] {
        assert_eq!(run(&program(&[text]), &[(source, 0xdead_beef)], &["r1"]), [0xdead_beef], "{text}");
    }
}

#[test]
fn a_texel_is_stored_where_its_address_was_computed() {
    let mut memory = Memory::new();
    memory.map(0x12_0000_1000, vec![0; 16 * 12]).expect("free");
    let textures = vec![Texture::default(), Texture::new(4, 3, Vec::new())];
    let mut machine = Machine::new(Software { memory, textures, ..Software::default() });
    for (n, value) in [(0, 1), (1, 0x1000), (2, 0x12), (3, 0), (8, 0xaaaa), (9, 0xbbbb), (10, 0xcccc), (11, 0xdddd)] {
        machine.set(register(&format!("sh{n}")), value).expect("a shared register");
    }
    let mut task = Task::new(3).expect("three");
    for (i, (u, v)) in [(0, 0), (3, 2), (4, 0)].into_iter().enumerate() {
        task.set(register("r1"), i, u).expect("u");
        task.set(register("r4"), i, v).expect("v");
    }
    let mut tasks = [task];
    let groups =
        ["gta r8, r9, p0, c0, sh0, r1, r4, c0", "if(!p0)\nmbyp ft0, r8\nmbyp ft1, r9\nst.texelmode sh8, ft1, drc0"];
    machine.run(&program(&groups), &mut tasks, 10).expect("it ends");
    let texel = |n: usize| {
        let bytes = machine.host.memory.region(0x12_0000_1000).expect("mapped");
        bytes[n * 16..n * 16 + 16]
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect::<Vec<_>>()
    };
    assert_eq!([tasks[0].predicate(0), tasks[0].predicate(1), tasks[0].predicate(2)], [false, false, true]);
    assert_eq!(texel(0), [0xaaaa, 0xbbbb, 0xcccc, 0xdddd]);
    assert_eq!(texel(11), [0xaaaa, 0xbbbb, 0xcccc, 0xdddd]);
    assert_eq!(texel(4), [0; 4], "what is outside is not stored");
}

#[test]
fn the_tessellator_is_told() {
    let program = program(&["mbyp ft0, r3\ntessw ft0, 9"]);
    let mut machine = Machine::new(Software::default());
    let mut task = Task::new(2).expect("two");
    task.set(register("r3"), 1, 5).expect("a register");
    machine.run(&program, &mut [task], 10).expect("it ends");
    let told: Vec<_> = machine.host.tessellated.iter().map(|(who, at, value)| (who.instance, *at, *value)).collect();
    assert_eq!(told, [(0, 9, 0), (1, 9, 5)]);
}

#[test]
fn a_breakpoint_returns_where_the_host_says() {
    let groups = ["bpret", "mbyp ft0, c1\nmov r0, ft0", "mbyp ft0, c2\nmov r1, ft0"];
    let program = program(&groups);
    let length = parts(groups[1]).encode().expect("it has an encoding").as_bytes().len() as u32;
    let mut machine = Machine::new(Software::default());
    let mut task = Task::new(1).expect("one");
    let refused = machine.run(&program, &mut [task.clone()], 10).expect_err("there is no breakpoint");
    assert_eq!((refused.trap, refused.text.as_str()), (Trap::Breakpoint, "bpret"));
    // A group without an encoding counts as 4 bytes.
    task.break_from(4 + length);
    let mut tasks = [task];
    machine.run(&program, &mut tasks, 10).expect("it ends");
    assert_eq!([tasks[0].get(register("r0"), 0), tasks[0].get(register("r1"), 0)], [Some(0), Some(2)]);
}

#[test]
fn what_cannot_be_a_program_is_refused() {
    assert!(matches!(Program::of_parts(&[]), Err(LoadError::Empty)));
    for name in ["uniq", "fetch"] {
        let error = Program::of_parts(&[parts(name)]).expect_err("nothing is known of it");
        assert_eq!(error.to_string(), format!("group 0x0, `{name}`: only its name is public, not what it does"));
    }
    let alone = Parts { p0: None, p1: parts("mbyp ft0, r0").p0, ..parts("mbyp ft0, r0\nmov r1, ft0") };
    assert!(matches!(Program::of_parts(&[alone]), Err(LoadError::Build { at: 0, .. })));
}

/// Typed groups with an encoding behave like their bytes.
#[test]
fn typed_groups_are_the_same_program_as_their_bytes() {
    let groups =
        ["fmad ft0, r0, r1, r2\nmov r3, ft0", "tstg.f32 ftt, p0, r3, ft1\nmbyp ft0, r3\nmbyp ft1, r0", "nop.end"];
    let typed: Vec<Parts> = groups.iter().map(|text| parts(text)).collect();
    let bytes: Vec<u8> = typed.iter().flat_map(|p| p.encode().expect("encodings").as_bytes().to_vec()).collect();
    let inputs = [("r0", 0x4000_0000), ("r1", 0x4040_0000), ("r2", 0x3f80_0000)];
    let loaded = Program::load(&bytes).expect("it loads");
    let typed = Program::of_parts(&typed).expect("it is a program");
    assert_eq!(run(&loaded, &inputs, &["r3"]), run(&typed, &inputs, &["r3"]));
    assert_eq!(loaded.text(0), typed.text(0));
}

/// Parts with any values yield a program or an error, and the program ends.
#[test]
fn wild_parts_end() {
    let texts = [
        "mbyp ft0, r0\ntstmin.u8 ftt, p0, ft0.e2, ft1\nmov r2.e0, ft0",
        "f16sop r0.joutj, r1.koutk, _, r2, r3, add, r4, 0.oneminus, r5, z, add, r6, r3, r7",
        "f16sop.u8mad r0.e0, r0.e1, r0.e2, r0.e3, r1, r2, r3, r4, r2, r3, r4, r2, r3, r4, r2, r3, r4, r2",
        "gta r0, r1, p0, r3, r0, r1, r4, r5",
        "converttof64.s32 ft0, ft2, r0\nmov r0, ft0\nmov r1, ft2",
        "byp ft0, ft1, r0, r1\nbyp ft2, r2\nftb_msb ft3, ft2\nmov r1, ft3",
        "tessw r0, 3",
        "st.texelmode r2, r5, drc0",
        "fsqrt r1, r0\nld r3, drc0, 5, r4@S4",
        "fsqrt r1, cf4\nfitr.pixel r3, drc0, cf4, 3",
        "bpret",
    ];
    let mut random = Random::new(seed(9));
    let (mut made, mut ended) = (0, 0);
    for _ in 0..4000 {
        let mut group = parts(texts[random.below(texts.len() as u32) as usize]);
        group.header.rpt = random.word();
        if let Some(tst) = &mut group.tst {
            tst.elem = random.word();
        }
        if let Some(backend) = &mut group.backend {
            (backend.imm_addr, backend.burstlen, backend.count) = (random.word(), random.word(), random.word());
        }
        if let Some(sop) = &mut group.sop {
            (sop.formats, sop.clamps, sop.am, sop.em, sop.vm) =
                (random.word(), random.word(), random.word(), random.word(), random.word());
        }
        if let Some(lower) = &mut group.lower
            && random.below(4) == 0
        {
            (lower.n, lower.s0, lower.s1) = (random.word(), random.word(), random.below(300));
        }
        let Ok(program) = Program::of_parts(&[group, group, parts("nop.end")]) else { continue };
        made += 1;
        let mut memory = Memory::new();
        memory.map(0x1000, vec![0; 4096]).expect("free");
        let textures = vec![Texture::new(4, 4, Vec::new())];
        let mut machine = Machine::new(Software { memory, textures, ..Software::default() });
        let mut task = Task::new(3).expect("three");
        for n in 0..8 {
            let value = if random.below(2) == 0 { 0x1000 * random.below(2) } else { random.word() };
            task.fill(register(&format!("r{n}")), value).expect("a register");
        }
        ended += usize::from(machine.run(&program, &mut [task], 10).is_ok());
    }
    assert!(made > 500 && ended > 300, "{made} are programs, {ended} end by themselves");
}
