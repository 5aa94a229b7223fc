//! Single operations with known results.

use isaforge_runtime::valhall::conform::{VectorError, vector};
use isaforge_runtime::{Launch, Memory, valhall};

use super::seed::seed;
use super::{OUT, assemble, data, to_words};

/// Executes one instruction with its inputs in r0, r2 and r4 (and the next registers, for 64 bits). Returns r20 and
/// r21.
pub fn execute(text: &str, inputs: &[u64]) -> u64 {
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

#[test]
fn operations_give_their_known_results() {
    let data = data("semantic-vectors.tsv");
    let rows: Vec<&str> = data.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(rows.len(), 443);
    for row in rows {
        vector(row).unwrap_or_else(|error| panic!("{row}: {error}"));
    }
}

#[test]
fn rows_of_every_kind_are_understood() {
    for row in [
        "IADD.s32\tsrc0.b3\t80000000,00000001\tFFFFFF81\t",
        "ISUB.u64\t\t0000000000000000,1\tFFFFFFFFFFFFFFFF\t",
        "IADD.s64\t\t0000000000000000,FFFFFFFF\tFFFFFFFFFFFFFFFF\t",
        "SHADDX.u64\tshift=7\t0000000000000001,FFFFFFFF\t0000007FFFFFFF81\t",
        "IMUL.u32\tsat\tFFFFFFFF,2\tFFFFFFFF\t",
        "IMUL.v4u8\t\t02030405,02020202\t0406080A\t",
        "ARSHIFT_XOR.v4i8\tnot_result\t80808080,03020100,00000000\t0F1F3F7F\t",
        "LSHIFT_AND.i64\t\t0000000000000001,21,FFFFFFFFFFFFFFFF\t0000000200000000\t",
        "RROT_OR.v2i16\t\t80010001,00010004,00000000\tC0001000\t",
        "LROT_OR.v4i8\t\t81818181,03020100,00000000\t0C060381\t",
        "LROT_XOR.i64\t\t8000000000000001,04,0000000000000001\t0000000000000019\t",
        "FCMP.v2f16\tgtlt.m1 (or, accum=1)\t7E003C00,3C003C00,00010000\tFFFF0000\t",
        "FCMP_AND.f32\tge.i1\t40000000,3F800000,5\t1\t",
        "ICMP_OR.u32\teq.m1\t1,2,1\tFFFFFFFF\t",
        "ICMP_MULTI.s32\tgt.m1\t1,1,1\tFFFFFFFF\t",
        "ICMP.v4u8\tlt.i1\t01020304,04030201\t01010000\t",
        "CSEL.s32\tlt\tFFFFFFFF,0,1,2\t00000001\t",
        "CSEL.v2f16\tne\t7E003C00,7E003C00,11112222,33334444\t11114444\t",
        "MUX.v2i16\tneg\t11112222,33334444,80000000\t11114444\t",
        "CLPER inactive result\tcode 1\t-\tFFFFFFFF\t",
        "FADD.f32\tclamp_0_1\t3F800000,3F800000\t3F800000\t",
        "FADD.v2f16\t\t7BFF3C00,7BFF3C00\t7C004000\t",
        "FMUL.f32\t\t00000000,BF800000\t80000000\t",
        "FNEG.v2f16\t\t3C00BC00\tBC003C00\t",
        "FABS.f32\t\tBF800000\t3F800000\t",
        "FMAX.v2f16\tnan_propagate\t7E000000,3C008000\t7E000000\t",
        "FMAX.f32\tnan_propagate clamp_0_1\t7FC00000,3F800000\t00000000\t",
        "FADD.f32\tround_up\t3F800000,33000000\t3F800001\t",
        "FADD.f32\tround_down\t3F800000,BF800000\t80000000\t",
        "FMUL.f32\tround_down\t00000000,BF800000\t80000000\t",
        "FMUL.v2f16\tround_zero\t3C017BFF,3C014000\t3C027BFF\t",
        "FMA.f32\tround_up.clamp_0_1\t3F800001,3F800001,3F800000\t3F800000\t",
        "FROUND.v2f16\tround_na\t3800B800\t3C00BC00\t",
        "FROUND.v2f16\tround_up\t3800B800\t3C008000\t",
        "F32_TO_F16\tnone\t7FC00001\tNaN\t",
        "FRSQ.f32\t\t40800000\t3F000001\trule (2 ulp)",
        "FEXP.f32\t\t01000000,3F800000\t40000000\t",
        "LDEXP.f32\tround_zero\t3F800000,0000007F\t7F000000\t",
        "S16_TO_F32\t\t0000FFFF\tBF800000\t",
        "FREXPE.f32\tlog\t40000000\t00000001\t",
        "FLUSH.f32\tftz.quiet_nan\t80000001\t80000000\t",
        "FMA_RSCALE.f32\t\t40000000,40000000,80000000,FFFFFFFE\t3F800000\t",
    ] {
        vector(row).unwrap_or_else(|error| panic!("{row}: {error}"));
    }
}

#[test]
fn rows_that_are_wrong_say_how() {
    let says = |row: &str, text: &str| {
        let error = vector(row).unwrap_err();
        assert!(error.to_string().contains(text), "{row}: {error}");
        error
    };
    let error = says("IADD.s32\tsat\t7FFFFFFF,1\t80000000\t", "`IADD.s32.saturate r20, r0, r2`");
    assert!(matches!(error, VectorError::Different { found, .. } if found == "7FFFFFFF"));
    says("CLZ.u32\tmask\t00000001\t00000000\t", "`CLZ.u32.mask` gives 0000001F, not 00000000");
    says("FRCP.f32\t\t40000000\tNaN\t", "gives 3F000000, not NaN");
    says("IADD.s32\t\t1,1\t2", "5 columns (operation, modifiers, inputs, expected, basis), not 4");
    says("", "not 1");
    says("IAD.s32\t\t1,1\t2\t", "no operation `IAD.s32`; did you mean `IADD.s32`?");
    says("\t\t\t0\t", "no operation ``");
    says("IADD.s32\trhadd\t1,1\t2\t", "IADD.s32 has no modifier `rhadd`");
    says("LROT_OR.i32\trhadd\t1,1,1\t2\t", "LROT_OR.i32 has no modifier `rhadd`");
    says("FADD.f32\tround_up rhadd\t1,1\t2\t", "FADD.f32 has no modifier `rhadd`");
    says("SHADDX.u64\tshift=9\t1,1\t2\t", "has no modifier `shift=9`");
    says("CLPER inactive result\tcode 16\t-\t0\t", "has no modifier `inactive_result=16`");
    says("IADD.s32\t\t1\t2\t", "IADD.s32 takes 2 inputs, not 1");
    says("CLZ.u32\tmask\t1,2\t2\t", "CLZ.u32 takes 1 inputs, not 2");
    says("IADD.s32\t\t1,+1\t2\t", "`+1` is not an input");
    says("IADD.s32\t\t1,00000000000000001\t2\t", "is not an input");
    says("IADD.s32\t\t1,1\ttwo\t", "`two` is not a result");
    says("IADD.s32\t\t1,1\t\t", "`` is not a result");
    says("STORE.i32\t\t1\t2\t", "STORE.i32");
    says("NOP\t\t-\t2\t", "NOP gives no result to compare");
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
    // First the half is selected, then the magnitude, then the sign.
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
    // A product of 22 bits, and an addend far below it that an intermediate rounding would lose.
    for (a, b, c) in [(0x3c01, 0x3c01, 0x0001), (0x7bff, 0x0401, 0x8001), (0x1401, 0x1401, 0x9001)] {
        let exact = f64::from(half::f16::from_bits(a)) * f64::from(half::f16::from_bits(b))
            + f64::from(half::f16::from_bits(c));
        let text = "FMA.v2f16 r20, r0.h00, r2, r4.h11";
        let found = (execute(text, &[a.into(), u64::from(b) << 16, u64::from(c) << 16]) >> 16) as u16;
        let value = |bits: u16| f64::from(half::f16::from_bits(bits));
        assert!((value(found) - exact).abs() <= (value(found ^ 1) - exact).abs());
        assert!(!half::f16::from_bits(found).is_nan());
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

#[test]
fn rows_with_anything_in_them_are_judged_or_refused() {
    let data = data("semantic-vectors.tsv");
    let rows: Vec<&str> = data.lines().filter(|line| !line.starts_with('#')).collect();
    let pieces: Vec<&str> = rows.iter().flat_map(|row| row.split(['\t', ',', ' ', '.'])).collect();
    let mut random = isaforge_core::sample::Random(seed(3));
    let mut below = |n: usize| random.below(n as u64) as usize;
    let (mut judged, mut refused) = (0, 0);
    for _ in 0..20_000 {
        // A column of another row, a word of another column, or another character.
        let mut columns: Vec<String> = rows[below(rows.len())].split('\t').map(str::to_owned).collect();
        let at = below(columns.len());
        let column = &mut columns[at];
        match below(4) {
            0 => *column = rows[below(rows.len())].split('\t').nth(at).unwrap_or_default().to_owned(),
            1 => {
                *column = [pieces[below(pieces.len())], pieces[below(pieces.len())]].join(["", ".", ",", " "][below(4)])
            }
            2 => column.extend(['é', '.', '=', '\t', '0', ' ', '\u{0}'].get(below(7))),
            _ => *column = column.chars().filter(|_| below(8) > 0).collect(),
        }
        match vector(&columns.join("\t")) {
            Ok(()) | Err(VectorError::Different { .. }) => judged += 1,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
        }
    }
    assert!(judged > 1000 && refused > 1000, "{judged} {refused}");
}
