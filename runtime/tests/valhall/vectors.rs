//! Single operations with known results.
//!
//! Most are instructions and are run as such. What v9 cannot encode (rotations, `mask`, `FLUSH`, rounding away from zero,
//! propagated NaNs) is asked of the rules directly.

use isaforge_runtime::valhall::rules::float32::{self, Flush, Nans};
use isaforge_runtime::valhall::rules::rounding::{F16, F32, Rounding};
use isaforge_runtime::valhall::rules::shift::{Logic, Shift, shift_logic};
use isaforge_runtime::valhall::rules::{convert, float16, integer, shift};
use isaforge_valhall::InactiveResult;

use super::{OUT, assemble, data, to_words};
use isaforge_runtime::{Launch, Memory, valhall};

/// What a row is: the text of instructions that must all give its result, or the result of a rule.
enum Check {
    Run(Vec<String>),
    Rule(u64),
}

fn rounding(word: &str) -> (&'static str, Rounding) {
    match word {
        "none" => ("", Rounding::NearestEven),
        "round_up" => (".rtp", Rounding::Up),
        "round_down" => (".rtn", Rounding::Down),
        "round_zero" => (".rtz", Rounding::Zero),
        "round_na" => ("?", Rounding::NearestAway),
        _ => panic!("no rounding is called {word}"),
    }
}

fn check(op: &str, modifiers: &str, inputs: &[u64]) -> Check {
    let run = |text: String| Check::Run(vec![text]);
    let word = |i: usize| inputs[i] as u32;
    let (base, ty) = op.split_once('.').unwrap_or((op, ""));
    let saturate = if modifiers == "sat" { ".saturate" } else { "" };
    match base {
        "IADD" | "ISUB" | "IMUL" => run(format!("{op}{saturate} r20, r0, r2")),
        "HADD" => run(format!("{op}{} r20, r0, r2", if modifiers == "rhadd" { ".rhadd" } else { "" })),
        "IABS" | "BITREV" | "POPCOUNT" | "FRCP" | "FRSQ" | "FSIN_TABLE" | "FCOS_TABLE" => run(format!("{op} r20, r0")),
        "CLZ" if modifiers == "mask" => {
            let lanes = match ty {
                "u32" => integer::U32,
                "v2u16" => integer::U16,
                _ => integer::U8,
            };
            Check::Rule(integer::leading_zeros(lanes, word(0), true).into())
        }
        "CLZ" => run(format!("{op} r20, r0")),
        "LROT_OR" | "LROT_XOR" | "LROT_AND" | "RROT_OR" | "RROT_XOR" | "RROT_AND" => {
            let kind = if base.starts_with('L') { Shift::RotateLeft } else { Shift::RotateRight };
            let logic = match &base[5..] {
                "OR" => Logic::Or,
                "XOR" => Logic::Xor,
                _ => Logic::And,
            };
            let counts = word(1).to_le_bytes();
            assert_eq!(shift::shift(kind, 32, inputs[0], 0), inputs[0]);
            Check::Rule(shift_logic(kind, logic, 32, inputs[0], counts, inputs[2], modifiers == "not_result"))
        }
        _ if base.contains("SHIFT_") => {
            let signed = if base.starts_with('A') { ".signed" } else { "" };
            let not = if modifiers == "not_result" { ".not_result" } else { "" };
            let lanes = if ty == "v2i16" { ".b02" } else { ".b00" };
            run(format!("{}.{ty}{signed}{not} r20, r0, r2{lanes}, r4", base.trim_start_matches('A')))
        }
        "MUX" => run(format!("{op}.{modifiers} r20, r0, r2, r4")),
        "IDPADD" => run(format!("IDP.{ty}{saturate} r20, r0, r2, r4")),
        "MKVEC" if ty == "v2i8" => run(format!("{op} r20, r0.b0, r2.b0, r4")),
        "MKVEC" => run(format!("{op} r20, r0.h00, r2.h00")),
        "SHADDX" => run(format!("{op} r20, r0, r2.w0, shift:0x{}", modifiers.trim_start_matches("shift="))),
        "IMUL 32x32->64 u" => run("IMULD.u64 r20, r0, r2".into()),
        "IMUL 32x32->64 s" => Check::Rule(integer::multiply_wide(word(0), word(1), true)),
        "FCMP" => run(format!("{op}.{modifiers} r20, r0, r2, 0x0")),
        "ICMP" => {
            let (condition, third) = modifiers.split_once(' ').unwrap_or((modifiers, ""));
            let and = if third.starts_with("(and") { ".and" } else { "" };
            let source = if third.is_empty() { "0x0" } else { "r4" };
            run(format!("{op}.{condition}{and} r20, r0, r2, {source}"))
        }
        "ICMP_MULTI" => {
            let condition = if modifiers == "c" { "eq.u1" } else { modifiers };
            run(format!("ICMP.{ty}.{condition}.seq r20, r0, r2, r4"))
        }
        "FMIN" | "FMAX" if modifiers == "nan_suppress" => run(format!("{op} r20, r0, r2")),
        "FMIN" => Check::Rule(float32::min(word(0), word(1), Nans::Propagate).into()),
        "FMAX" => Check::Rule(float32::max(word(0), word(1), Nans::Propagate).into()),
        "FROUND" if modifiers == "round_na" => Check::Rule(convert::round_f32(word(0), Rounding::NearestAway).into()),
        "FROUND" | "F32_TO_S32" | "F32_TO_U32" => run(format!("{op}{} r20, r0", rounding(modifiers).0)),
        "F32_TO_F16 (narrowing FADD/FMA write)" => {
            let (text, mode) = rounding(modifiers);
            let mut texts = vec![format!("V2F32_TO_V2F16{text} r20.h0, r0, r0")];
            if mode == Rounding::NearestEven {
                texts.push("FADD.f32 r20.h0, r0, 0x0.neg".into());
                texts.push("FMA.f32 r20.h0, r0, 0x3F800000, 0x0.neg".into());
            }
            Check::Run(texts)
        }
        "F16_TO_F32" => run(format!("{op} r20, r0.h0")),
        "FLUSH" => {
            let what =
                Flush { infinities: modifiers == "flush_inf", nans: modifiers == "flush_nan", subnormals: false };
            Check::Rule(float32::flush(word(0), what).into())
        }
        "FADD_LSCALE" => run("FADD_LSCALE.f32 r20, r0, r2".into()),
        "CUBEFACE1" | "CUBEFACE2" => run(format!("{op} r20, r0, r2, r4")),
        "CLPER inactive result" => {
            let code: usize = modifiers.trim_start_matches("code ").parse().unwrap();
            let name = InactiveResult::ALL[code];
            // Lane 7 of a workgroup of one thread.
            run(format!("CLPER.i32.{name} r20, r0, 0x07060504.b3"))
        }
        _ => panic!("{op} {modifiers}"),
    }
}

/// Executes one instruction with its inputs in r0, r2 and r4 (and the next ones, for 64 bits). Gives r20 and r21.
fn execute(text: &str, inputs: &[u64]) -> u64 {
    let mut uniforms = vec![OUT as u32, 0];
    let mut program = String::new();
    for (i, &input) in inputs.iter().enumerate() {
        for (half, word) in [input as u32, (input >> 32) as u32].into_iter().enumerate() {
            program += &format!("MOV.i32 r{}, u{}\n", 2 * i + half, uniforms.len());
            uniforms.push(word);
        }
    }
    program += &format!("{text}\nSTORE.i64.slot0.end @r20:r21, u0, offset:0\n");
    let mut memory = Memory::new();
    memory.map(OUT, vec![0; 8]).unwrap();
    valhall::run(&Launch { program: assemble(&program), uniforms, ..Launch::default() }, &mut memory).unwrap();
    let found = to_words(memory.region(OUT).unwrap());
    u64::from(found[1]) << 32 | u64::from(found[0])
}

/// Distance in units of the last place, zeros of both signs one apart.
fn distance(a: u32, b: u32) -> u32 {
    let key = |bits: u32| if bits >> 31 == 0 { i64::from(bits) } else { -1 - i64::from(bits & 0x7fff_ffff) };
    u32::try_from(key(a).abs_diff(key(b))).unwrap_or(u32::MAX)
}

#[test]
fn operations_give_their_known_results() {
    let (mut executed, mut asked) = (0, 0);
    for line in data("semantic-vectors.tsv").lines().filter(|line| !line.starts_with('#')) {
        let [op, modifiers, inputs, expected, basis] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let (op, basis): (&str, &str) = (op.trim_end_matches(" with src0 = -0"), basis);
        let numbers = |text: &str| u64::from_str_radix(text, 16).unwrap_or(0);
        let inputs: Vec<u64> = inputs.split(',').map(numbers).collect();
        let good = |found: u64| {
            let single = found as u32;
            match expected {
                "NaN" => F32.is_nan(single),
                _ if expected.starts_with("~0") => f32::from_bits(single).abs() < 1e-6,
                _ if expected.len() == 4 => found as u16 == numbers(expected) as u16,
                _ if basis.contains("ulp") => distance(single, numbers(expected) as u32) <= 1,
                _ if expected.len() == 16 => found == numbers(expected),
                _ => single == numbers(expected) as u32,
            }
        };
        match check(op, modifiers, &inputs) {
            Check::Rule(found) => {
                assert!(good(found), "{line}\nfound {found:x}");
                asked += 1;
            }
            Check::Run(texts) => {
                for text in texts {
                    let found = execute(&text, &inputs);
                    assert!(good(found), "{line}\n{text}\nfound {found:x}");
                }
                executed += 1;
            }
        }
    }
    assert_eq!((executed, asked), (398, 45));
}

#[test]
fn halves_convert_to_integers_and_back() {
    assert_eq!(execute("V2F16_TO_V2S16.rtz r20, r0", &[0xfc00_4248]), 0x8000_0003);
    assert_eq!(execute("V2F16_TO_V2U16 r20, r0", &[0x7e00_bc00]), 0);
    assert_eq!(execute("F16_TO_S32.rtn r20, r0.h10", &[0xc248_0000]), 0xffff_fffc);
    assert_eq!(execute("V2S16_TO_V2F16 r20, r0", &[0x8000_0801]), 0xf800_6800);
    assert_eq!(execute("V2U16_TO_V2F16 r20, r0", &[0xffff_0803]), 0x7c00_6802);
    assert_eq!(execute("V2U16_TO_V2F16.rtz r20, r0", &[0xffff_0803]), 0x7bff_6801);
    assert_eq!(execute("S32_TO_F32.rtp r20, r0", &[0x0100_0001]), 0x4b80_0001);
    assert_eq!(execute("S32_TO_F32 r20, r0.h1", &[0xffff_0000]), 0xbf80_0000);
    assert_eq!(execute("U32_TO_F32 r20, r0", &[0xffff_ffff]), 0x4f80_0000);
    assert_eq!(execute("U32_TO_F32.rtz r20, r0", &[0xffff_ffff]), 0x4f7f_ffff);
    assert_eq!(execute("S8_TO_F32 r20, r0.b3", &[0x8000_0000]), 0xc300_0000);
}

#[test]
fn modifiers_of_sources_apply_in_order() {
    // Half, then magnitude, then sign.
    assert_eq!(execute("FADD.f32 r20, r0.neg.abs.h1, 0x0.neg", &[0xbc00_0000]), 0xbf80_0000);
    assert_eq!(execute("FADD.v2f16 r20, r0.neg.h10, 0x0.neg", &[0xbc00_4000]), 0xc000_3c00);
    assert_eq!(execute("FMA.v2f16.clamp_0_1 r20, r0, r2.h11, 0x0.neg", &[0x7e00_4000, 0x3c00_0000]), 0x0000_3c00);
    assert_eq!(execute("IADD.s32 r20, r0.b3, 0x0", &[0x8000_0000]), 0xffff_ff80);
    assert_eq!(execute("IADD.u32 r20, r0.b3, 0x0", &[0x8000_0000]), 0x80);
    assert_eq!(execute("IADD.s64 r20, r0.h1, r2", &[0x8000_0000, 0]), 0xffff_ffff_ffff_8000);
    assert_eq!(execute("LSHIFT_AND.i32 r20, r0, 0x0.b00, r2.not", &[0xff, 0x0f]), 0xf0);
    assert_eq!(execute("MOV.i32 r20.h1, r0", &[0x1234_5678]), 0x1234_0000);
    assert_eq!(execute("FADD.f32 r20.h1, r0, r0", &[0x3f80_0000]), 0x4000_0000);
}

#[test]
fn sixty_four_bits_hang_together() {
    let (a, b) = (0x1234_5678_9abc_def0, 0x0fed_cba9_8765_4321);
    assert_eq!(execute("IADD.u64 r20, r0, r2", &[a, b]), a + b);
    assert_eq!(execute("ISUB.s64 r20, r2, r0", &[a, b]), b.wrapping_sub(a));
    assert_eq!(execute("RSHIFT_OR.i64 r20, r0, r2.b00, 0x0", &[a, 20]), a >> 20);
    assert_eq!(execute("RSHIFT_OR.i64.signed r20, r0, r2.b00, 0x0", &[!a, 84]), !(a >> 20));
    assert_eq!(execute("LSHIFT_XOR.i64.not_result r20, r0, r4.b11, r2", &[a, b, 0x2100]), !((a << 33) ^ b));
    assert_eq!(execute("NOT_OLD.i64 r20, r0", &[a]), !a);
    assert_eq!(execute("SHADDX.s64 r20, r0, r2.w0, shift:0x3", &[a, 0xffff_ffff]), a - 8);
    assert_eq!(execute("SHADDX.u64 r20, r0, r2.w0, shift:0x3", &[a, 0xffff_ffff]), a + 0x7_ffff_fff8);
    assert_eq!(execute("SEG_ADD.u64.neg r20, r0, r2", &[a, b]), a - b);
    assert_eq!(execute("SEG_ADD.u64.preserve_null r20, r0, r2", &[0, b]), 0);
    assert_eq!(execute("SEG_ADD.u64 r20, r0, r2", &[0, b]), b);
}

#[test]
fn scaled_products_round_once() {
    assert_eq!(execute("FMA_RSCALE.f32 r20, r0, r0, 0x0.neg, r2", &[0x4000_0000, 0xffff_fffe]), 0x3f80_0000);
    assert_eq!(execute("FMA_RSCALE_N.f32 r20, r0, r2, 0x3F800000, 0x0", &[0x8000_0000, 0x7f80_0000]), 0x3f80_0000);
    assert_eq!(execute("FMA_RSCALE_LEFT.f32 r20, r0, r2, 0x0.neg, 0x0", &[0x7f80_0000, 0]), 0x7f80_0000);
    assert_eq!(execute("LDEXP.f32 r20, r0, r2", &[0x3f80_0000, 0xffff_ff6b]), 1);
    assert_eq!(execute("LDEXP.v2f16 r20, r0, r2", &[0x3c00_3c00, 0xffe8_000f]), 0x0001_7800);
    assert_eq!(execute("LDEXP.v2f16.rtz r20, r0, r2", &[0x3c00_3c00, 0x8000_7fff]), 0x0000_7bff);
    assert_eq!(execute("FREXPE.f32.sqrt r20, r0", &[0x3f80_0000]), 1);
    assert_eq!(execute("FREXPM.f32.sqrt r20, r0", &[0x3f80_0000]), 0x3e80_0000);
    assert_eq!(execute("FREXPE.v2f16 r20, r0", &[0x0001_4400]), 0xffe9_0003);
}

#[test]
fn half_arithmetic_is_rounded_once() {
    // A product of 22 bits and an addend far below it: rounding in between would lose the addend.
    for (a, b, c) in [(0x3c01, 0x3c01, 0x0001), (0x7bff, 0x0401, 0x8001), (0x1401, 0x1401, 0x9001)] {
        let exact = f64::from(half::f16::from_bits(a)) * f64::from(half::f16::from_bits(b))
            + f64::from(half::f16::from_bits(c));
        let found = float16::fma(a, b, c);
        let value = |bits: u16| f64::from(half::f16::from_bits(bits));
        assert!((value(found) - exact).abs() <= (value(found ^ 1) - exact).abs());
        assert!(!F16.is_nan(found.into()));
        let text = "FMA.v2f16 r20, r0.h00, r2, r4.h11";
        assert_eq!(execute(text, &[a.into(), u64::from(b) << 16, u64::from(c) << 16]) >> 16, u64::from(found));
    }
}

#[test]
fn helpers_whose_function_is_chosen_read_and_write_like_the_others() {
    assert_eq!(execute("FPCLASS.f32 r20, r0.neg.abs", &[0x3f80_0000]), 1 << 3);
    assert_eq!(execute("FPCLASS.f32 r20, r0.h1", &[0x7c01_0000]), 1);
    assert_eq!(execute("FPCLASS.f16 r20, r0.h10", &[0x0001_fc00]), 0x0004_0080);
    assert_eq!(execute("FRCP_APPROX.f32 r20, r0", &[0x4080_0000]), 0x4000_0000);
    assert_eq!(execute("FRSQ_APPROX.f32 r20, r0", &[0x4080_0000]), 0x4000_0000);
    assert_eq!(execute("FLOG_TABLE.f32 r20.h1, r0.neg", &[0x4080_0000]), 0xbc00_0000);
    assert_eq!(execute("FEXP_TABLE.u4 r20, r0", &[0xfff8]), u64::from(2f32.sqrt().to_bits()));
    assert_eq!(execute("FSINCOS_OFFSET.u6 r20, r0", &[0x50]), u64::from(std::f32::consts::FRAC_PI_2.to_bits()));
    assert_eq!(execute("FATAN_ASSIST.f32 r20, r0, r2", &[0xbf80_0000, 0xc000_0000]), 0x3800_0003);
    assert_eq!(execute("FATAN_ASSIST.f32.second r20, r0, r2", &[0x3f80_0000, 0]), 0x3fc9_0fdb);
}
