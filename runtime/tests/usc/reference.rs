//! The examples of the reference: each gives the result of the GLSL next to it.
//!
//! An example is a part of a program. The results of what precedes it (a load, an interpolation) are given in
//! registers.

use std::f32::consts::{FRAC_PI_2, PI};

use isaforge_core::group::listing::assemble_program;
use isaforge_runtime::usc::texture::Texture;
use isaforge_runtime::usc::{Machine, Program, Software, Task};
use isaforge_usc::Parts;

use crate::support::{register, run};

mod textures;

/// Critical inputs: signed zeros, infinities, NaNs, denormals, limits of integers.
const SPECIAL: [u32; 24] = [
    0,
    1,
    2,
    31,
    32,
    255,
    0x7f,
    0x80,
    0xffff,
    0x8000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x0040_0000,
    0x4b80_0001,
    0xc020_0000,
    0x3f00_0000,
    0x4049_0fdb,
    0x7f7f_ffff,
];

fn program(text: &str) -> Program {
    let text: String = text.split('\n').map(|line| format!("{line}\n")).collect();
    let bytes = assemble_program(isaforge_usc::ISA, &text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    let bytes = [bytes, assemble_program(isaforge_usc::ISA, "nop.end").expect("the end")].concat();
    Program::load(&bytes).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Values for `count` inputs: all pairs of special values with the rest derived from them, and random values.
fn inputs(count: usize) -> impl Iterator<Item = Vec<u32>> {
    let mut state = 0x1234_5678_9abc_def1u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as u32
    };
    let special = (0..SPECIAL.len() * SPECIAL.len()).map(move |n| {
        (0..count).map(|i| SPECIAL[(n / SPECIAL.len().pow(i as u32 % 2) + i / 2) % SPECIAL.len()]).collect()
    });
    let others = (0..500).map(move |_| (0..count).map(|_| random()).collect());
    special.chain(others)
}

/// An example, its input registers, its output register, and the function of its GLSL.
type Example = (&'static str, &'static [&'static str], &'static str, fn(&[u32]) -> u32);

fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

fn check(examples: &[Example]) {
    for (text, names, output, meaning) in examples {
        let program = program(text);
        for values in inputs(names.len()) {
            let given: Vec<(&str, u32)> = names.iter().copied().zip(values.iter().copied()).collect();
            let found = run(&program, &given, &[output])[0];
            let wanted = meaning(&values);
            let both_nan = f(found).is_nan() && f(wanted).is_nan();
            assert!(found == wanted || both_nan, "{text}\n{values:x?}: {found:08x}, not {wanted:08x}");
        }
    }
}

#[test]
fn floats_and_their_modifiers() {
    check(&[
        ("mov ft0, sh0\nmov r0.e0.e1.e2.e3, ft0\nmov r1, sh1;", &["sh0", "sh1"], "r1", |v| v[1]),
        ("mov ft0, sh0\nmov r0.e0.e1.e2.e3, ft0\nmov r1, sh1;", &["sh0", "sh1"], "r0", |v| v[0]),
        ("mov ft0, c64\nmov r0.e0.e1.e2.e3, ft0\nmov r1, c64;", &["sh0"], "r1", |_| 1.0f32.to_bits()),
        ("mov ft0, sh0.abs\nmov ft1, sh1.abs\nmov r0, ft0;\nmov r1, ft1;", &["sh0", "sh1"], "r1", |v| {
            f(v[1]).abs().to_bits()
        }),
        ("mov ft0, sh0.neg\nmov ft1, sh1.neg\nmov r0, ft0;\nmov r1, ft1;", &["sh0", "sh1"], "r0", |v| {
            (-f(v[0])).to_bits()
        }),
        ("fadd ft0, sh0.flr, c0\nfadd ft1, sh1.flr, c0\nmov r0, ft0;\nmov r1, ft1;", &["sh0", "sh1"], "r1", |v| {
            (f(v[1]).floor() + 0.0).to_bits()
        }),
        ("fadd.sat ft0, sh0, c0\nfadd.sat ft1, sh1, c0\nmov r0, ft0;\nmov r1, ft1;", &["sh0", "sh1"], "r0", |v| {
            if f(v[0]).is_nan() { 0 } else { (f(v[0]) + 0.0).clamp(0.0, 1.0).to_bits() }
        }),
        (
            "fmad ft0, sh5, i3, sh9\nfmad ft1, sh4, i1, i0\nmov r0, ft1;\nmov r1, ft0;",
            &["sh5", "i3", "sh9"],
            "r1",
            |v| f(v[0]).mul_add(f(v[1]), f(v[2])).to_bits(),
        ),
        (
            "fmad ft0, sh5, i3, sh9\nfmad ft1, sh4, i1, i0\nmov r0, ft1;\nmov r1, ft0;",
            &["sh4", "i1", "i0"],
            "r0",
            |v| f(v[0]).mul_add(f(v[1]), f(v[2])).to_bits(),
        ),
        ("fmad ft0, sh4, c64, sh0\nfadd ft1, sh5, i0\nmov r0, ft0;\nmov r1, ft1;", &["sh4", "sh0"], "r0", |v| {
            (f(v[0]) + f(v[1])).to_bits()
        }),
        ("fmul ft0, sh4, i1\nfmul ft1, sh5, i0\nmov r0, ft0;\nmov r1, ft1;", &["sh5", "i0"], "r1", |v| {
            (f(v[0]) * f(v[1])).to_bits()
        }),
    ]);
}

#[test]
fn functions_of_one_float() {
    check(&[
        ("frcp r0, sh0", &["sh0"], "r0", |v| (1.0 / f(v[0])).to_bits()),
        ("frsq r0, sh0", &["sh0"], "r0", |v| ((1.0 / f64::from(f(v[0])).sqrt()) as f32).to_bits()),
        ("flog r0, sh0", &["sh0"], "r0", |v| {
            let x = f64::from(f(v[0]));
            (if x == 0.0 { f64::NEG_INFINITY } else { x.log2() } as f32).to_bits()
        }),
        ("fexp r0, sh0", &["sh0"], "r0", |v| (f64::from(f(v[0])).exp2() as f32).to_bits()),
    ]);
    // NaN results are positive.
    for text in
        ["frcp r0, sh0", "frsq r0, sh0", "flog r0, sh0", "fexp r0, sh0", "fsinc r0, p0, sh0", "farctanc r0, sh0"]
    {
        assert_eq!(run(&program(text), &[("sh0", 0xffc0_1234)], &["r0"]), [0x7fc0_0000], "{text}");
    }
    assert_eq!(run(&program("frsq r0, sh0"), &[("sh0", 0x8000_0000)], &["r0"]), [0xff80_0000]);
    assert_eq!(run(&program("frcp r0, sh0"), &[("sh0", 0xff80_0000)], &["r0"]), [0x8000_0000]);
    assert_eq!(run(&program("farctanc r0, sh0"), &[("sh0", 0x39bf_ffff)], &["r0"]), [0x3f80_0000]);
    assert_eq!(run(&program("fsinc r0, p0, sh0"), &[("sh0", 0x337f_ffff)], &["r0"]), [FRAC_PI_2.to_bits()]);
}

/// The example of FRED is the first two groups of a sine; the product follows if P0 is set.
#[test]
fn sine_in_three_groups_and_a_product() {
    let text = "0 : fred.sin i1, i0, _, 0, sh0,\n1 : fred.sin.partb i0, ft0, _, 0, sh0, i0\n2 : fsinc r0, p0, i0\n\
                3 : if(p0)\n    fmul ft0, r0, i0\n    mov r0, ft0";
    let sine = program(text);
    let cosine = program(&text.replace("fred.sin", "fred.cos"));
    for n in -4000..4000 {
        let x = n as f32 * 0.037;
        for (program, wanted) in [(&sine, f64::from(x).sin()), (&cosine, f64::from(x).cos())] {
            let found = f64::from(f(run(program, &[("sh0", x.to_bits())], &["r0"])[0]));
            assert!((found - wanted).abs() < 2e-7, "of {x}: {found}, not {wanted}");
        }
    }
    for x in [1e10f32, -1e20, 3e38, PI, 1e-30, -0.0] {
        let found = f(run(&sine, &[("sh0", x.to_bits())], &["r0"])[0]);
        assert!((f64::from(found) - f64::from(x).sin()).abs() < 2e-7, "of {x}: {found}");
        assert_eq!(found.is_sign_negative(), f64::from(x).sin().is_sign_negative(), "of {x}: {found}");
    }
    assert!(f(run(&sine, &[("sh0", 0x7f80_0000)], &["r0"])[0]).is_nan());
}

/// The example of FARCTANC is a part of an arc tangent: for |x| <= 1 its product with x is the result.
#[test]
fn arc_tangent() {
    let program = program("0 : farctanc i0, i1\n1 : fmul ft0, i0, i1\n    mov r0, ft0");
    for n in -1000..=1000 {
        let x = n as f32 / 1000.0;
        let found = f64::from(f(run(&program, &[("i1", x.to_bits())], &["r0"])[0]));
        assert!((found - f64::from(x).atan()).abs() < 1e-7, "of {x}: {found}");
    }
}

#[test]
fn conversions() {
    let convert = "0 : pck.s32.rndzero ft2, sh0\n    mov i0, ft2;\n1 : unpck.s32 ft0, i0.e0\n    mov r0.e0.e1.e2.e3, ft0\n    mov r1, ft0;";
    check(&[
        (convert, &["sh0"], "r0", |v| (f(v[0]) as i32 as f32).to_bits()),
        (convert, &["sh0"], "r1", |v| (f(v[0]) as i32 as f32).to_bits()),
        ("unpck.s1616 ft0, sh0.e0\nmov r0.e0.e1.e2.e3, ft0\nmov r1, ft0;", &["sh0"], "r0", |v| {
            f32::from(v[0] as i16).to_bits()
        }),
        ("unpck.u8888 ft0, sh0.e0\nmov r0, ft0", &["sh0"], "r0", |v| f32::from(v[0] as u8).to_bits()),
    ]);
}

#[test]
fn parts_of_words() {
    check(&[
        ("uadd8 ft0, sh1.e0, i0.e0\nmov i0, ft0;", &["sh1", "i0"], "i0", |v| v[0].wrapping_add(v[1]) & 0xff),
        ("umul8 ft0, sh1.e0, i0.e0\nmov i0, ft0;", &["sh1", "i0"], "i0", |v| v[0].wrapping_mul(v[1]) & 0xff),
        ("umad8 ft0, sh1.e0, i0.e0, sh2.e0\nmov i0, ft0;", &["sh1", "i0", "sh2"], "i0", |v| {
            v[0].wrapping_mul(v[1]).wrapping_add(v[2]) & 0xff
        }),
        ("iadd8 ft0, sh1.e0, i0.e0\nmov i0, ft0;", &["sh1", "i0"], "i0", |v| v[0].wrapping_add(v[1]) as i8 as u32),
        ("imul8 ft0, sh1.e0, i0.e0\nmov i0, ft0;", &["sh1", "i0"], "i0", |v| v[0].wrapping_mul(v[1]) as i8 as u32),
        ("imad8 ft0, sh1.e0, i0.e0, sh2.e0\nmov i0, ft0;", &["sh1", "i0", "sh2"], "i0", |v| {
            v[0].wrapping_mul(v[1]).wrapping_add(v[2]) as i8 as u32
        }),
        ("uadd16 ft0, sh1.e0, i0.e0\nmov i0, ft0;", &["sh1", "i0"], "i0", |v| v[0].wrapping_add(v[1]) & 0xffff),
        ("umul16 ft0, sh1.e0, i0.e0\nmov i0, ft0;", &["sh1", "i0"], "i0", |v| v[0].wrapping_mul(v[1]) & 0xffff),
        ("umad16 ft0, sh1.e0, i0.e0, sh2.e0\nmov i0, ft0;", &["sh1", "i0", "sh2"], "i0", |v| {
            v[0].wrapping_mul(v[1]).wrapping_add(v[2]) & 0xffff
        }),
        ("iadd16 ft0, sh1.e0, i0.e0\nmov i0, ft0;", &["sh1", "i0"], "i0", |v| v[0].wrapping_add(v[1]) as i16 as u32),
        ("imul16 ft0, sh1.e0, i0.e0\nmov i0, ft0;", &["sh1", "i0"], "i0", |v| v[0].wrapping_mul(v[1]) as i16 as u32),
        ("imad16 ft0, sh1.e0, i0.e0, sh2.e0\nmov i0, ft0;", &["sh1", "i0", "sh2"], "i0", |v| {
            v[0].wrapping_mul(v[1]).wrapping_add(v[2]) as i16 as u32
        }),
        // The saturating forms that the reference describes next to its examples.
        ("uadd8.sat ft0, sh1.e0, i0.e0\nmov i0, ft0;", &["sh1", "i0"], "i0", |v| {
            (v[0] as u8).saturating_add(v[1] as u8).into()
        }),
        ("iadd8.sat ft0, sh1.e0, i0.e0\nmov i0, ft0;", &["sh1", "i0"], "i0", |v| {
            (v[0] as i8).saturating_add(v[1] as i8) as u32
        }),
        ("uadd16.sat ft0, sh1.e0, i0.e0\nmov i0, ft0;", &["sh1", "i0"], "i0", |v| {
            (v[0] as u16).saturating_add(v[1] as u16).into()
        }),
        ("iadd16.sat ft0, sh1.e0, i0.e0\nmov i0, ft0;", &["sh1", "i0"], "i0", |v| {
            (v[0] as i16).saturating_add(v[1] as i16) as u32
        }),
    ]);
}

#[test]
fn words_and_pairs_of_words() {
    fn pair(low: u32, high: u32) -> u64 {
        u64::from(high) << 32 | u64::from(low)
    }
    check(&[
        ("umadd32 ft0, sh1, i0, sh2, \nmov i0, ft0;", &["sh1", "i0", "sh2"], "i0", |v| {
            v[0].wrapping_mul(v[1]).wrapping_add(v[2])
        }),
        ("smadd32 ft0, sh1, i0, sh2, \nmov i0, ft0;", &["sh1", "i0", "sh2"], "i0", |v| {
            v[0].wrapping_mul(v[1]).wrapping_add(v[2])
        }),
        ("add64 ft0, sh0, r1, r2, r3, _\nmov i0, ft0\nmov i1, fte", &["sh0", "r1", "r2", "r3"], "i1", |v| {
            (pair(v[0], v[1]).wrapping_add(pair(v[2], v[3])) >> 32) as u32
        }),
        ("uadd6432 ft0, sh0, r1, r2, _\nmov i0, ft0\nmov i1, fte", &["sh0", "r1", "r2"], "i1", |v| {
            (pair(v[0], v[1]).wrapping_add(v[2].into()) >> 32) as u32
        }),
        ("sadd6432 ft0, sh0, r1, r2, _\nmov i0, ft0\nmov i1, fte", &["sh0", "r1", "r2"], "i1", |v| {
            (pair(v[0], v[1]).wrapping_add(v[2] as i32 as i64 as u64) >> 32) as u32
        }),
        ("umadd64 ft0, sh0, r1, r2, r3, _\nmov i0, ft0\nmov i1, fte", &["sh0", "r1", "r2", "r3"], "i1", |v| {
            ((u64::from(v[0]) * u64::from(v[1])).wrapping_add(pair(v[2], v[3])) >> 32) as u32
        }),
        ("smadd64 ft0, sh0, r1, r2, r3, _\nmov i0, ft0\nmov i1, fte", &["sh0", "r1", "r2", "r3"], "i1", |v| {
            let product = i64::from(v[0] as i32) * i64::from(v[1] as i32);
            ((product as u64).wrapping_add(pair(v[2], v[3])) >> 32) as u32
        }),
        // A carry from one addition to the next: 64 bits in two groups.
        (
            "0 : umadd32 ft0, sh0, c1, r2, _\n    tstc.u32 ftt, p0\n    mov i0, ft0\n1 : umadd32 ft0, sh1, c1, r3, p0\n    mov i1, ft0",
            &["sh0", "r2", "sh1", "r3"],
            "i1",
            |v| (pair(v[0], v[2]).wrapping_add(pair(v[1], v[3])) >> 32) as u32,
        ),
    ]);
}

#[test]
fn tests_that_choose() {
    let choose = |test: &str| {
        format!("mov ft0, sh1\nmov ft1, sh2\n{test}.s32 ftt, _, sh0\nmov i0.e0.e1.e2.e3, ft1, ftt, ft0, ft1")
    };
    let two = |test: &str| {
        format!("mov ft0, sh0\nmov ft1, sh1\n{test}.s32 ftt, _, ft0, ft1\nmov i0.e0.e1.e2.e3, ft1, ftt, ft0, ft1")
    };
    let against = |test: &str| {
        format!("mov ft0, sh2\nmov ft1, sh0\n{test}.s32 ftt, _, sh1, ft1\nmov i0.e0.e1.e2.e3, ft0, ftt, ft1, ft0")
    };
    type Holds = fn(i32, i32) -> bool;
    let one: [(&str, Holds); 3] = [("tstz", |a, _| a == 0), ("tstgz", |a, _| a > 0), ("tstgez", |a, _| a >= 0)];
    for (test, holds) in one {
        let program = program(&choose(test));
        for v in inputs(3) {
            let found = run(&program, &[("sh0", v[0]), ("sh1", v[1]), ("sh2", v[2])], &["i0"])[0];
            assert_eq!(found, if holds(v[0] as i32, 0) { v[1] } else { v[2] }, "{test} of {v:x?}");
        }
    }
    let both: [(&str, Holds); 6] = [
        ("tste", |a, b| a == b),
        ("tstne", |a, b| a != b),
        ("tstg", |a, b| a > b),
        ("tstge", |a, b| a >= b),
        ("tstl", |a, b| a < b),
        ("tstle", |a, b| a <= b),
    ];
    for (test, holds) in both {
        let program = program(&two(test));
        for v in inputs(2) {
            let found = run(&program, &[("sh0", v[0]), ("sh1", v[1])], &["i0"])[0];
            assert_eq!(found, if holds(v[0] as i32, v[1] as i32) { v[0] } else { v[1] }, "{test} of {v:x?}");
        }
    }
    // The examples of TSTE and TSTG test sh1 against sh0 and select sh0 or sh2. TSTG's GLSL tests a > b with a in sh1.
    for (test, holds) in [("tste", both[0].1), ("tstg", both[2].1)] {
        let program = program(&against(test));
        for v in inputs(3) {
            let found = run(&program, &[("sh0", v[0]), ("sh1", v[1]), ("sh2", v[2])], &["i0"])[0];
            assert_eq!(found, if holds(v[1] as i32, v[0] as i32) { v[0] } else { v[2] }, "{test} of {v:x?}");
        }
    }
}

#[test]
fn bits() {
    let logic = |op: &str| {
        format!(
            "mov ft0, ft1, c0, c0\nmov ft2, sh1\ncbs ft3, sh1\n{op} ft4, _, ft2, _, sh0\nlsl ft5, ft4, c0\nmov i0, ft5;"
        )
    };
    let shift = |op: &str| {
        format!(
            "mov ft0, ft1, c0, c0\nmov ft2, sh0\ncbs ft3, sh0\nor ft4, _, ft2, _, c0\n{op} ft5, ft4, i0\nmov i0, ft5;"
        )
    };
    type Op = fn(u32, u32) -> u32;
    let table: [(String, [&str; 2], Op); 10] = [
        (logic("and"), ["sh0", "sh1"], |a, b| a & b),
        (logic("or"), ["sh0", "sh1"], |a, b| a | b),
        (logic("xor"), ["sh0", "sh1"], |a, b| a ^ b),
        (logic("nand"), ["sh0", "sh1"], |a, b| !(a & b)),
        (logic("nor"), ["sh0", "sh1"], |a, b| !(a | b)),
        (logic("xnor"), ["sh0", "sh1"], |a, b| !(a ^ b)),
        (shift("lsl"), ["sh0", "i0"], |a, b| a << (b & 31)),
        (shift("shr"), ["sh0", "i0"], |a, b| a >> (b & 31)),
        (shift("asr.twb"), ["sh0", "i0"], |a, b| (a as i32 >> (b & 31)) as u32),
        (shift("rol"), ["sh0", "i0"], |a, b| a.rotate_left(b & 31)),
    ];
    for (text, names, meaning) in table {
        let program = program(&text);
        for v in inputs(2) {
            let found = run(&program, &[(names[0], v[0]), (names[1], v[1])], &["i0"])[0];
            assert_eq!(found, meaning(v[0], v[1]), "{text}\n{v:x?}");
        }
    }
}

#[test]
fn a_position_goes_to_the_vertex_output() {
    let program = program("0 : mov ft0, vi3\n    mov ft0.e0.e1.e2.e3, ft0\n    uvsw.write ft0, 3;");
    let mut machine = Machine::new(Software::default());
    let mut task = Task::new(32).expect("32");
    for i in 0..32 {
        task.set(register("vi3"), i, 1000 + i as u32).expect("a vertex input");
    }
    machine.run(&program, &mut [task], 10).expect("it ends");
    let found: Vec<(usize, u32, u32)> =
        machine.host.vertex_outputs.iter().map(|(who, output, value)| (who.instance, *output, *value)).collect();
    assert_eq!(found, (0..32).map(|i| (i as usize, 3, 1000 + i)).collect::<Vec<_>>());
}

/// The examples whose operations have no public encoding, run from their parts.
#[test]
fn examples_without_an_encoding() {
    let parts = |text: &str| text.parse::<Parts>().unwrap_or_else(|e| panic!("{text}: {e}"));
    let of = |text: &str| Program::of_parts(&[parts(text), parts("nop.end")]).expect("a program");
    let root = of("0    : fsqrt r0, sh0");
    // The two lines `sop` of the example are the two sums of one F16SOP.
    let sop = of("2    : f16sop r0.joutj, r1.koutk, _, sh4, i3, add, sh8, 0.oneminus, sh5, i1, add, i0, 0.oneminus, _");
    let names = ["sh4", "i3", "sh8", "sh5", "i1", "i0"];
    for values in inputs(6) {
        let found = run(&root, &[("sh0", values[0])], &["r0"])[0];
        let wanted = f(values[0]).sqrt();
        assert!(found == wanted.to_bits() || f(found).is_nan() && wanted.is_nan(), "{values:x?}");
        let given: Vec<(&str, u32)> = names.iter().copied().zip(values.iter().copied()).collect();
        let found = run(&sop, &given, &["r0", "r1"]);
        // In half precision, as `mediump` allows.
        let h = |n: usize| f64::from(half::f16::from_f32(f(values[n])));
        for (n, bits) in found.into_iter().enumerate() {
            let wanted = h(3 * n) * h(3 * n + 1) + h(3 * n + 2);
            let step = (wanted.abs() / 2048.0).max(2f64.powi(-25));
            let off = (f64::from(f(bits)) - wanted).abs();
            let large = wanted.abs() >= 65520.0 && f(bits).is_infinite() && (f(bits) > 0.0) == (wanted > 0.0);
            assert!(
                off <= step || large || wanted.is_nan() && f(bits).is_nan(),
                "{values:x?}: {} of {wanted}",
                f(bits)
            );
        }
    }
}
