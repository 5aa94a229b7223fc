//! The handlers of each instruction, as the generated stubs ask for them.

use super::super::super::rules::lanes as cross;
use super::memory::Place;
use super::sources::{ones, sequence, subgroup, towards, truth};
use super::*;

impl Lowering<'_> {
    /// The counts of a shift: in the low bits of each component, which is all that a handler looks at.
    fn counts(&mut self, source: Source, lanes: Lanes8Bit, halves: bool) -> Option<Operand> {
        let word = self.word(source)?;
        // The bytes for the components' lowest bytes.
        let (low, high) = match lanes {
            Lanes8Bit::B02 => (0, 2),
            Lanes8Bit::B00 => (0, 0),
            Lanes8Bit::B11 => (1, 1),
            Lanes8Bit::B22 => (2, 2),
            Lanes8Bit::B33 => (3, 3),
            Lanes8Bit::B01 => (0, 1),
            Lanes8Bit::B23 => (2, 3),
        };
        Some(match (halves, low, high) {
            (false, 0, _) | (true, 0, 2) => word,
            (false, ..) => self.part(1, word, 8 * low, 8, false),
            (true, ..) => self.prepare::<integer::UnsignedBytes>(1, word, [8 * low, 8 * high]),
        })
    }
}

impl Semantics for Lowering<'_> {
    type Output = Lowered;

    fn nop(&mut self, _: v::Nop) -> Lowered {
        NEXT
    }

    fn branchz(&mut self, i: v::Branchz) -> Lowered {
        let target = i64::from(self.pc) + 1 + i64::from(i.offset());
        let Some(target) = u32::try_from(target).ok().filter(|&pc| pc < self.words) else { return Lowered(None) };
        let condition = take!(self.word(i.src0()));
        match i.src0_combine() {
            Combine::None => self.branch::<tests::Word>(condition, target, i.eq()),
            Combine::H0 => self.branch::<tests::Low>(condition, target, i.eq()),
            Combine::H1 => self.branch::<tests::High>(condition, target, i.eq()),
            Combine::And => self.branch::<tests::Ones>(condition, target, i.eq()),
            Combine::Lowbits => self.branch::<tests::Middle>(condition, target, i.eq()),
        }
    }

    fn barrier(&mut self, _: v::Barrier) -> Lowered {
        Lowered(Some(Exit::Barrier))
    }

    // Floats.

    fn fadd_f32(&mut self, i: v::FaddF32) -> Lowered {
        use float::{Add, limit, signs};
        let (Signed(a, x), Signed(b, y)) = (float!(self, i, 0), float!(self, i, 1));
        let (dest, half, clamp) = (i.dest(), i.dest_half(), i.clamp());
        let (sources, numbers) = ([a, b], [x | y << 2, 0]);
        match numbers[0] {
            signs::PLAIN => {
                self.put_float::<Add<{ signs::PLAIN }, { limit::NONE }>>(dest, half, clamp, &sources, numbers)
            }
            signs::NEGATE_0 => {
                self.put_float::<Add<{ signs::NEGATE_0 }, { limit::NONE }>>(dest, half, clamp, &sources, numbers)
            }
            signs::NEGATE_1 => {
                self.put_float::<Add<{ signs::NEGATE_1 }, { limit::NONE }>>(dest, half, clamp, &sources, numbers)
            }
            _ => self.put_float::<Add<{ signs::DYNAMIC }, { limit::NONE }>>(dest, half, clamp, &sources, numbers),
        }
    }

    fn fma_f32(&mut self, i: v::FmaF32) -> Lowered {
        use float::{Fma, limit, signs};
        const BOTH: u32 = signs::NEGATE_0 | signs::NEGATE_2;
        let (Signed(a, x), Signed(b, y), Signed(c, z)) = (float!(self, i, 0), float!(self, i, 1), float!(self, i, 2));
        let (dest, half, clamp) = (i.dest(), i.dest_half(), i.clamp());
        // Only the sign of the product matters, so that one factor can take the negation of both.
        let (x, y) = if (x | y) & 1 == 0 { (x ^ y, 0) } else { (x, y) };
        let (sources, numbers) = ([a, b, c], [x | y << 2 | z << 4, 0]);
        if (c, z) == (Operand::Value(1 << 31), 0) {
            return match numbers[0] {
                signs::PLAIN => {
                    self.put_float::<float::Multiply<{ signs::PLAIN }>>(dest, half, clamp, &sources, numbers)
                }
                _ => self.put_float::<float::Multiply<{ signs::DYNAMIC }>>(dest, half, clamp, &sources, numbers),
            };
        }
        match numbers[0] {
            signs::PLAIN => {
                self.put_float::<Fma<{ signs::PLAIN }, { limit::NONE }>>(dest, half, clamp, &sources, numbers)
            }
            signs::NEGATE_0 => {
                self.put_float::<Fma<{ signs::NEGATE_0 }, { limit::NONE }>>(dest, half, clamp, &sources, numbers)
            }
            signs::NEGATE_2 => {
                self.put_float::<Fma<{ signs::NEGATE_2 }, { limit::NONE }>>(dest, half, clamp, &sources, numbers)
            }
            BOTH => self.put_float::<Fma<BOTH, { limit::NONE }>>(dest, half, clamp, &sources, numbers),
            _ => self.put_float::<Fma<{ signs::DYNAMIC }, { limit::NONE }>>(dest, half, clamp, &sources, numbers),
        }
    }

    fn fmin_f32(&mut self, i: v::FminF32) -> Lowered {
        let (a, b) = (float!(self, i, 0), float!(self, i, 1));
        let sources = [self.settle::<float::Sign>(0, a), self.settle::<float::Sign>(1, b)];
        self.put_float::<float::Min>(i.dest(), i.dest_half(), i.clamp(), &sources, [0; 2])
    }

    fn fmax_f32(&mut self, i: v::FmaxF32) -> Lowered {
        let (a, b) = (float!(self, i, 0), float!(self, i, 1));
        let sources = [self.settle::<float::Sign>(0, a), self.settle::<float::Sign>(1, b)];
        self.put_float::<float::Max>(i.dest(), i.dest_half(), i.clamp(), &sources, [0; 2])
    }

    fn fadd_lscale_f32(&mut self, i: v::FaddLscaleF32) -> Lowered {
        let (a, b) = (whole!(self, i, 0), whole!(self, i, 1));
        let sources = [self.settle::<float::Sign>(0, a), self.settle::<float::Sign>(1, b)];
        self.put_float::<float::AddReduced>(i.dest(), i.dest_half(), i.clamp(), &sources, [0; 2])
    }

    fn fadd_imm_f32(&mut self, i: v::FaddImmF32) -> Lowered {
        let a = take!(self.word(i.src0()));
        self.put_float::<float::AddImmediate>(i.dest(), i.dest_half(), Clamp::None, &[a], [i.constant(), 0])
    }

    fn fround_f32(&mut self, i: v::FroundF32) -> Lowered {
        let a = float!(self, i, 0);
        let sources = [self.settle::<float::Sign>(0, a)];
        let (dest, half) = (i.dest(), i.dest_half());
        rounded!(self, i.roundmode(), put_float(dest, half, Clamp::None, &sources, [0; 2]),
            RoundEven RoundUp RoundDown RoundZero)
    }

    fn frcp_f32(&mut self, i: v::FrcpF32) -> Lowered {
        let a = float!(self, i, 0);
        let sources = [self.settle::<float::Sign>(0, a)];
        self.put_float::<float::Reciprocal>(i.dest(), i.dest_half(), Clamp::None, &sources, [0; 2])
    }

    fn frsq_f32(&mut self, i: v::FrsqF32) -> Lowered {
        let a = float!(self, i, 0);
        let sources = [self.settle::<float::Sign>(0, a)];
        self.put_float::<float::ReciprocalRoot>(i.dest(), i.dest_half(), Clamp::None, &sources, [0; 2])
    }

    fn fadd_v2f16(&mut self, i: v::FaddV2f16) -> Lowered {
        let (Signed(a, x), Signed(b, y)) = (halves!(self, i, 0), halves!(self, i, 1));
        self.put_halves::<half::Add<0>>(i.dest(), i.dest_half(), i.clamp(), &[a, b], [x | y << 2, 0])
    }

    fn fma_v2f16(&mut self, i: v::FmaV2f16) -> Lowered {
        let (Signed(a, x), Signed(b, y)) = (halves!(self, i, 0), halves!(self, i, 1));
        let Signed(c, z) = halves!(self, i, 2);
        self.put_halves::<half::Fma<0>>(i.dest(), i.dest_half(), i.clamp(), &[a, b, c], [x | y << 2 | z << 4, 0])
    }

    fn fmin_v2f16(&mut self, i: v::FminV2f16) -> Lowered {
        let (a, b) = (halves!(self, i, 0), halves!(self, i, 1));
        let sources = [self.settle::<half::Sign>(0, a), self.settle::<half::Sign>(1, b)];
        self.put_halves::<half::Min>(i.dest(), i.dest_half(), i.clamp(), &sources, [0; 2])
    }

    fn fmax_v2f16(&mut self, i: v::FmaxV2f16) -> Lowered {
        let (a, b) = (halves!(self, i, 0), halves!(self, i, 1));
        let sources = [self.settle::<half::Sign>(0, a), self.settle::<half::Sign>(1, b)];
        self.put_halves::<half::Max>(i.dest(), i.dest_half(), i.clamp(), &sources, [0; 2])
    }

    fn fadd_imm_v2f16(&mut self, i: v::FaddImmV2f16) -> Lowered {
        let a = take!(self.word(i.src0()));
        self.put::<half::AddImmediate>(i.dest(), i.dest_half(), &[a], [i.constant(), 0])
    }

    float_functions! {
        flogd_f32 FlogdF32 float special::LogSlope;
        frcp_approx_f32 FrcpApproxF32 float special::MantissaReciprocal;
        frsq_approx_f32 FrsqApproxF32 float special::MantissaRoot;
        flog_table_f32 FlogTableF32 float special::LogReciprocal;
        fpclass_f32 FpclassF32 bits special::Class;
    }

    word_functions! {
        fsin_table_u6 FsinTableU6 float special::Sine;
        fcos_table_u6 FcosTableU6 float special::Cosine;
        fsincos_offset_u6 FsincosOffsetU6 float special::Angle;
        fexp_table_u4 FexpTableU4 float special::ExponentialTable;
    }

    half_functions! {
        frcp_f16 FrcpF16 special::ReciprocalHalves;
        frsq_f16 FrsqF16 special::ReciprocalRootHalves;
        fpclass_f16 FpclassF16 special::ClassHalves;
    }

    scaled_products! {
        fma_rscale_f32 FmaRscaleF32 IEEE 32;
        fma_rscale_n_f32 FmaRscaleNF32 ZERO 32;
        fma_rscale_left_f32 FmaRscaleLeftF32 LEFT 32;
        fma_rscale_scale16_f32 FmaRscaleScale16F32 IEEE 16;
    }

    mantissas! {
        frexpm_f32 FrexpmF32 float Mantissa;
        frexpe_f32 FrexpeF32 bits Exponent;
    }

    half_mantissas! {
        frexpm_v2f16 FrexpmV2f16 MantissaHalves;
        frexpe_v2f16 FrexpeV2f16 ExponentHalves;
    }

    cubes! {
        cubeface1 Cubeface1 number FaceDivisor float;
        cubeface2 Cubeface2 bits Face float;
        cube_ssel CubeSsel bits Horizontal face;
        cube_tsel CubeTsel bits Vertical face;
    }

    fn fexp_f32(&mut self, i: v::FexpF32) -> Lowered {
        let (a, b) = (take!(self.word(i.src0())), whole!(self, i, 1));
        let sources = [a, self.settle::<float::Sign>(1, b)];
        self.put_float::<special::Exponential>(i.dest(), i.dest_half(), i.clamp(), &sources, [0; 2])
    }

    fn ldexp_f32(&mut self, i: v::LdexpF32) -> Lowered {
        let (a, b) = (float!(self, i, 0), take!(self.word(i.src1())));
        let sources = [self.settle::<float::Sign>(0, a), b];
        let numbers = [towards(i.roundmode()), 0];
        self.put_float::<special::Scaled>(i.dest(), i.dest_half(), Clamp::None, &sources, numbers)
    }

    fn ldexp_v2f16(&mut self, i: v::LdexpV2f16) -> Lowered {
        let (a, b) = (halves!(self, i, 0), take!(self.word(i.src1())));
        let sources = [self.settle::<half::Sign>(0, a), b];
        self.put::<special::ScaledHalves>(i.dest(), i.dest_half(), &sources, [towards(i.roundmode()), 0])
    }

    fn fatan_assist_f32(&mut self, i: v::FatanAssistF32) -> Lowered {
        let sources = [take!(self.word(i.src0())), take!(self.word(i.src1()))];
        if i.second() {
            return settled!(float, self, i, special::ArcTangentTable, &sources);
        }
        settled!(bits, self, i, special::ArcTangentAssist, &sources)
    }

    // Conversions.

    half_conversions! {
        halves fround_v2f16 FroundV2f16 RoundHalves;
        halves v2f16_to_v2s16 V2f16ToV2s16 HalvesToSigned;
        halves v2f16_to_v2u16 V2f16ToV2u16 HalvesToUnsigned;
        shorts v2s16_to_v2f16 V2s16ToV2f16 true HalvesFromSigned;
        shorts v2u16_to_v2f16 V2u16ToV2f16 false HalvesFromUnsigned;
    }

    byte_pairs! {
        integer v2s8_to_v2s16 V2s8ToV2s16 true;
        integer v2u8_to_v2u16 V2u8ToV2u16 false;
        float v2s8_to_v2f16 V2s8ToV2f16 true HalvesFromSigned;
        float v2u8_to_v2f16 V2u8ToV2f16 false HalvesFromUnsigned;
    }

    fn f16_to_s32(&mut self, i: v::F16ToS32) -> Lowered {
        let a = halves!(self, i, 0);
        let a = self.settle::<half::Sign>(0, a);
        let sources = [self.widened(0, a, false)];
        let (dest, half) = (i.dest(), i.dest_half());
        rounded!(self, i.roundmode(), put(dest, half, &sources, [0; 2]),
            ToSignedEven ToSignedUp ToSignedDown ToSignedZero)
    }

    fn f16_to_u32(&mut self, i: v::F16ToU32) -> Lowered {
        let a = halves!(self, i, 0);
        let a = self.settle::<half::Sign>(0, a);
        let sources = [self.widened(0, a, false)];
        let (dest, half) = (i.dest(), i.dest_half());
        rounded!(self, i.roundmode(), put(dest, half, &sources, [0; 2]),
            ToUnsignedEven ToUnsignedUp ToUnsignedDown ToUnsignedZero)
    }

    fn f32_to_s32(&mut self, i: v::F32ToS32) -> Lowered {
        let a = whole!(self, i, 0);
        let sources = [self.settle::<float::Sign>(0, a)];
        let (dest, half) = (i.dest(), i.dest_half());
        rounded!(self, i.roundmode(), put(dest, half, &sources, [0; 2]),
            ToSignedEven ToSignedUp ToSignedDown ToSignedZero)
    }

    fn f32_to_u32(&mut self, i: v::F32ToU32) -> Lowered {
        let a = whole!(self, i, 0);
        let sources = [self.settle::<float::Sign>(0, a)];
        let (dest, half) = (i.dest(), i.dest_half());
        rounded!(self, i.roundmode(), put(dest, half, &sources, [0; 2]),
            ToUnsignedEven ToUnsignedUp ToUnsignedDown ToUnsignedZero)
    }

    fn s32_to_f32(&mut self, i: v::S32ToF32) -> Lowered {
        let a = take!(self.integer(0, i.src0(), i.src0_widen(), true));
        let (dest, half) = (i.dest(), i.dest_half());
        if i.roundmode() == RoundMode::Rte {
            return self.put_float::<float::FromSigned>(dest, half, Clamp::None, &[a], [0; 2]);
        }
        directed!(self, i.roundmode(), put_float::<FromSigned>(dest, half, Clamp::None, &[a], [0; 2]))
    }

    fn u32_to_f32(&mut self, i: v::U32ToF32) -> Lowered {
        let a = take!(self.integer(0, i.src0(), i.src0_widen(), false));
        let (dest, half) = (i.dest(), i.dest_half());
        if i.roundmode() == RoundMode::Rte {
            return self.put_float::<float::FromUnsigned>(dest, half, Clamp::None, &[a], [0; 2]);
        }
        directed!(self, i.roundmode(), put_float::<FromUnsigned>(dest, half, Clamp::None, &[a], [0; 2]))
    }

    fn s16_to_s32(&mut self, i: v::S16ToS32) -> Lowered {
        let Signed(a, _) = take!(self.halves(0, i.src0(), i.src0_swizzle(), false, false));
        self.put::<integer::Signed>(i.dest(), i.dest_half(), &[a], [16, 16])
    }

    fn u16_to_u32(&mut self, i: v::U16ToU32) -> Lowered {
        let Signed(a, _) = take!(self.halves(0, i.src0(), i.src0_swizzle(), false, false));
        self.put::<integer::Unsigned>(i.dest(), i.dest_half(), &[a], [16, 16])
    }

    fn s16_to_f32(&mut self, i: v::S16ToF32) -> Lowered {
        let Signed(a, _) = take!(self.halves(0, i.src0(), i.src0_swizzle(), false, false));
        let a = self.part(0, a, 0, 16, true);
        self.put_float::<float::FromSigned>(i.dest(), i.dest_half(), Clamp::None, &[a], [0; 2])
    }

    fn u16_to_f32(&mut self, i: v::U16ToF32) -> Lowered {
        let Signed(a, _) = take!(self.halves(0, i.src0(), i.src0_swizzle(), false, false));
        let a = self.part(0, a, 0, 16, false);
        self.put_float::<float::FromUnsigned>(i.dest(), i.dest_half(), Clamp::None, &[a], [0; 2])
    }

    fn s8_to_s32(&mut self, i: v::S8ToS32) -> Lowered {
        let (a, at) = (take!(self.word(i.src0())), 8 * i.src0_lane().bits() as u32);
        self.put::<integer::Signed>(i.dest(), i.dest_half(), &[a], [24 - at, 24])
    }

    fn u8_to_u32(&mut self, i: v::U8ToU32) -> Lowered {
        let (a, at) = (take!(self.word(i.src0())), 8 * i.src0_lane().bits() as u32);
        self.put::<integer::Unsigned>(i.dest(), i.dest_half(), &[a], [24 - at, 24])
    }

    fn s8_to_f32(&mut self, i: v::S8ToF32) -> Lowered {
        let a = take!(self.word(i.src0()));
        let a = self.part(0, a, 8 * i.src0_lane().bits() as u32, 8, true);
        self.put_float::<float::FromSigned>(i.dest(), i.dest_half(), Clamp::None, &[a], [0; 2])
    }

    fn u8_to_f32(&mut self, i: v::U8ToF32) -> Lowered {
        let a = take!(self.word(i.src0()));
        let a = self.part(0, a, 8 * i.src0_lane().bits() as u32, 8, false);
        self.put_float::<float::FromUnsigned>(i.dest(), i.dest_half(), Clamp::None, &[a], [0; 2])
    }

    fn f16_to_f32(&mut self, i: v::F16ToF32) -> Lowered {
        let high = i.src0_lane() == v::Lane16Bit::H1;
        let swizzle = if high { Swizzles16BitFirst4::H11 } else { Swizzles16BitFirst4::H00 };
        let a = take!(self.halves(0, i.src0(), swizzle, i.src0_abs(), i.src0_neg()));
        let sources = [self.settle::<half::Sign>(0, a)];
        self.put_float::<float::Convert>(i.dest(), i.dest_half(), Clamp::None, &sources, [0; 2])
    }

    fn v2f32_to_v2f16(&mut self, i: v::V2f32ToV2f16) -> Lowered {
        let (a, b) = (whole!(self, i, 0), whole!(self, i, 1));
        let (a, b) = (self.settle::<float::Sign>(0, a), self.settle::<float::Sign>(1, b));
        let sources = [self.limited(0, a, i.clamp()), self.limited(1, b, i.clamp())];
        if i.roundmode() == RoundMode::Rte {
            return self.put::<half::Narrow>(i.dest(), i.dest_half(), &sources, [0; 2]);
        }
        directed!(self, i.roundmode(), put::<Narrow>(i.dest(), i.dest_half(), &sources, [0; 2]))
    }

    // Integers.

    integers! {
        iadd_u32 IaddU32 integer false saturate Add integer AddUnsignedSaturating;
        iadd_s32 IaddS32 integer true saturate Add integer AddSignedSaturating;
        isub_u32 IsubU32 integer false saturate Subtract integer SubtractUnsignedSaturating;
        isub_s32 IsubS32 integer true saturate Subtract integer SubtractSignedSaturating;
        imul_i32 ImulI32 integer false saturate Multiply parts MultiplyUnsignedSaturating;
        imul_s32 ImulS32 integer true saturate Multiply parts MultiplySignedSaturating;
        iadd_v2u16 IaddV2u16 shorts false saturate AddHalves each Add;
        iadd_v2s16 IaddV2s16 shorts true saturate AddHalves each Add;
        isub_v2u16 IsubV2u16 shorts false saturate SubtractHalves each Subtract;
        isub_v2s16 IsubV2s16 shorts true saturate SubtractHalves each Subtract;
        imul_v2i16 ImulV2i16 shorts false saturate MultiplyHalves each Multiply;
        imul_v2s16 ImulV2s16 shorts true saturate MultiplyHalves each Multiply;
    }

    byte_arithmetic! {
        iadd_v4u8 IaddV4u8 false Add;
        iadd_v4s8 IaddV4s8 true Add;
        isub_v4u8 IsubV4u8 false Subtract;
        isub_v4s8 IsubV4s8 true Subtract;
        imul_v4i8 ImulV4i8 false Multiply;
        imul_v4s8 ImulV4s8 true Multiply;
    }

    halving_sums! {
        hadd_u32 HaddU32 integer false parts::HalveUnsigned;
        hadd_s32 HaddS32 integer true parts::HalveSigned;
        hadd_v2u16 HaddV2u16 shorts false Each<16, false, parts::Halve>;
        hadd_v2s16 HaddV2s16 shorts true Each<16, true, parts::Halve>;
        hadd_v4u8 HaddV4u8 bytes false Each<8, false, parts::Halve>;
        hadd_v4s8 HaddV4s8 bytes true Each<8, true, parts::Halve>;
    }

    fn seg_add_u64(&mut self, i: v::SegAddU64) -> Lowered {
        let [a, b] = take!(self.pair(i.src0()));
        let [c, d] = take!(self.long(1, i.src1(), i.src1_widen(), false));
        let numbers = [i.neg().into(), i.preserve_null().into()];
        self.put_long::<long::SegmentAdd>(i.dest(), i.dest_half(), &[a, b, c, d], numbers)
    }

    fn iadd_u64(&mut self, i: v::IaddU64) -> Lowered {
        let [a, b] = take!(self.long(0, i.src0(), i.src0_widen(), false));
        let [c, d] = take!(self.long(1, i.src1(), i.src1_widen(), false));
        self.put_long::<integer::LongAdd>(i.dest(), i.dest_half(), &[a, b, c, d], [0; 2])
    }

    fn iadd_s64(&mut self, i: v::IaddS64) -> Lowered {
        let [a, b] = take!(self.long(0, i.src0(), i.src0_widen(), true));
        let [c, d] = take!(self.long(1, i.src1(), i.src1_widen(), true));
        self.put_long::<integer::LongAdd>(i.dest(), i.dest_half(), &[a, b, c, d], [0; 2])
    }

    fn isub_u64(&mut self, i: v::IsubU64) -> Lowered {
        let [a, b] = take!(self.long(0, i.src0(), i.src0_widen(), false));
        let [c, d] = take!(self.long(1, i.src1(), i.src1_widen(), false));
        self.put_long::<integer::LongSubtract>(i.dest(), i.dest_half(), &[a, b, c, d], [0; 2])
    }

    fn isub_s64(&mut self, i: v::IsubS64) -> Lowered {
        let [a, b] = take!(self.long(0, i.src0(), i.src0_widen(), true));
        let [c, d] = take!(self.long(1, i.src1(), i.src1_widen(), true));
        self.put_long::<integer::LongSubtract>(i.dest(), i.dest_half(), &[a, b, c, d], [0; 2])
    }

    fn imuld_u64(&mut self, i: v::ImuldU64) -> Lowered {
        let [a, _] = take!(self.long(0, i.src0(), i.src0_widen(), false));
        let [b, _] = take!(self.long(1, i.src1(), i.src1_widen(), false));
        self.put_long::<integer::LongMultiply>(i.dest(), i.dest_half(), &[a, b], [0; 2])
    }

    fn shaddx_u64(&mut self, i: v::ShaddxU64) -> Lowered {
        let [a, b] = take!(self.pair(i.src0()));
        let [c, d] = take!(self.long(1, i.src1(), i.src1_widen(), false));
        self.put_long::<integer::ShiftedAdd>(i.dest(), i.dest_half(), &[a, b, c, d], [i.shift().into(), 0])
    }

    fn shaddx_s64(&mut self, i: v::ShaddxS64) -> Lowered {
        let [a, b] = take!(self.pair(i.src0()));
        let [c, d] = take!(self.long(1, i.src1(), i.src1_widen(), true));
        self.put_long::<integer::ShiftedAdd>(i.dest(), i.dest_half(), &[a, b, c, d], [i.shift().into(), 0])
    }

    fn not_old_i64(&mut self, i: v::NotOldI64) -> Lowered {
        let words = take!(self.pair(i.src0()));
        self.put_long::<integer::LongNot>(i.dest(), i.dest_half(), &words, [0; 2])
    }

    words! {
        mov_i32 MovI32 (src0) integer::Copy;
        not_old_i32 NotOldI32 (src0) integer::Not;
        clz_u32 ClzU32 (src0) integer::LeadingZeros;
        popcount_i32 PopcountI32 (src0) integer::Population;
        bitrev_i32 BitrevI32 (src0) integer::Reversed;
    }

    fn iadd_imm_i32(&mut self, i: v::IaddImmI32) -> Lowered {
        let a = take!(self.word(i.src0()));
        self.put::<integer::AddImmediate>(i.dest(), i.dest_half(), &[a], [i.constant(), 0])
    }

    fn iadd_imm_v2i16(&mut self, i: v::IaddImmV2i16) -> Lowered {
        let a = take!(self.word(i.src0()));
        self.put::<integer::AddImmediateHalves>(i.dest(), i.dest_half(), &[a], [i.constant(), 0])
    }

    fn iabs_s32(&mut self, i: v::IabsS32) -> Lowered {
        let a = take!(self.integer(0, i.src0(), i.src0_widen(), true));
        self.put::<integer::Absolute>(i.dest(), i.dest_half(), &[a], [0; 2])
    }

    fn iadd_imm_v4i8(&mut self, i: v::IaddImmV4i8) -> Lowered {
        let sources = [take!(self.word(i.src0())), Operand::Value(i.constant())];
        let limits = parts::limits(8, false, false);
        self.put::<Each<8, false, parts::Add>>(i.dest(), i.dest_half(), &sources, limits)
    }

    fn iabs_v2s16(&mut self, i: v::IabsV2s16) -> Lowered {
        let a = take!(self.shorts(0, i.src0(), i.src0_widen(), true));
        self.put::<Each<16, true, parts::Absolute>>(i.dest(), i.dest_half(), &[a], [0; 2])
    }

    fn iabs_v4s8(&mut self, i: v::IabsV4s8) -> Lowered {
        let a = take!(self.word(i.src0()));
        self.put::<Each<8, true, parts::Absolute>>(i.dest(), i.dest_half(), &[a], [0; 2])
    }

    fn clz_v2u16(&mut self, i: v::ClzV2u16) -> Lowered {
        let a = take!(self.word(i.src0()));
        self.put::<Each<16, false, parts::LeadingZeros>>(i.dest(), i.dest_half(), &[a], [16, 0])
    }

    fn clz_v4u8(&mut self, i: v::ClzV4u8) -> Lowered {
        let a = take!(self.word(i.src0()));
        self.put::<Each<8, false, parts::LeadingZeros>>(i.dest(), i.dest_half(), &[a], [24, 0])
    }

    fn mkvec_v2i8(&mut self, i: v::MkvecV2i8) -> Lowered {
        let sources = [take!(self.word(i.src0())), take!(self.word(i.src1())), take!(self.word(i.src2()))];
        let numbers = [8 * i.src0_lane().bits() as u32, 8 * i.src1_lane().bits() as u32];
        self.put::<parts::PackBytes>(i.dest(), i.dest_half(), &sources, numbers)
    }

    fn mux_v4i8(&mut self, i: v::MuxV4i8) -> Lowered {
        let sources = [take!(self.word(i.src0())), take!(self.word(i.src1())), take!(self.word(i.src2()))];
        let (dest, half) = (i.dest(), i.dest_half());
        match i.mux() {
            Mux::Neg => self.put::<Each<8, true, parts::MuxNegative>>(dest, half, &sources, [0; 2]),
            Mux::IntZero => self.put::<Each<8, true, parts::MuxZero>>(dest, half, &sources, [0; 2]),
            Mux::FpZero => self.put::<Each<8, true, parts::MuxFloatZero>>(dest, half, &sources, [0; 2]),
            Mux::Bit => self.put::<integer::MuxBits>(dest, half, &sources, [0; 2]),
        }
    }

    fn idp_v4s8(&mut self, i: v::IdpV4s8) -> Lowered {
        let sources = [take!(self.word(i.src0())), take!(self.word(i.src1())), take!(self.word(i.src2()))];
        if i.saturate() {
            return self.put::<parts::DotSignedSaturating>(i.dest(), i.dest_half(), &sources, [0; 2]);
        }
        self.put::<integer::DotSigned>(i.dest(), i.dest_half(), &sources, [0; 2])
    }

    fn idp_v4u8(&mut self, i: v::IdpV4u8) -> Lowered {
        let sources = [take!(self.word(i.src0())), take!(self.word(i.src1())), take!(self.word(i.src2()))];
        if i.saturate() {
            return self.put::<parts::DotUnsignedSaturating>(i.dest(), i.dest_half(), &sources, [0; 2]);
        }
        self.put::<integer::DotUnsigned>(i.dest(), i.dest_half(), &sources, [0; 2])
    }

    fn mkvec_v2i16(&mut self, i: v::MkvecV2i16) -> Lowered {
        let Signed(a, _) = take!(self.halves(0, i.src0(), i.src0_swizzle(), false, false));
        let Signed(b, _) = take!(self.halves(1, i.src1(), i.src1_swizzle(), false, false));
        self.put::<half::Pack>(i.dest(), i.dest_half(), &[a, b], [0; 2])
    }

    fn mux_i32(&mut self, i: v::MuxI32) -> Lowered {
        let sources = [take!(self.word(i.src0())), take!(self.word(i.src1())), take!(self.word(i.src2()))];
        let (dest, half) = (i.dest(), i.dest_half());
        match i.mux() {
            Mux::Neg => self.put::<integer::MuxNegative>(dest, half, &sources, [0; 2]),
            Mux::IntZero => self.put::<integer::MuxZero>(dest, half, &sources, [0; 2]),
            Mux::FpZero => self.put::<integer::MuxFloatZero>(dest, half, &sources, [0; 2]),
            Mux::Bit => self.put::<integer::MuxBits>(dest, half, &sources, [0; 2]),
        }
    }

    fn mux_v2i16(&mut self, i: v::MuxV2i16) -> Lowered {
        let Signed(a, _) = take!(self.halves(0, i.src0(), i.src0_swizzle(), false, false));
        let Signed(b, _) = take!(self.halves(1, i.src1(), i.src1_swizzle(), false, false));
        let Signed(c, _) = take!(self.halves(2, i.src2(), i.src2_swizzle(), false, false));
        let (dest, half, sources) = (i.dest(), i.dest_half(), [a, b, c]);
        match i.mux() {
            Mux::Neg => self.put::<integer::MuxHalvesNegative>(dest, half, &sources, [0; 2]),
            Mux::IntZero => self.put::<integer::MuxHalvesZero>(dest, half, &sources, [0; 2]),
            Mux::FpZero => self.put::<integer::MuxHalvesFloatZero>(dest, half, &sources, [0; 2]),
            Mux::Bit => self.put::<integer::MuxBits>(dest, half, &sources, [0; 2]),
        }
    }

    selects! {
        csel_f32 CselF32 float;
        csel_u32 CselU32 unsigned;
        csel_s32 CselS32 signed;
    }

    half_selects! {
        csel_v2f16 CselV2f16 float AsFloat;
        csel_v2u16 CselV2u16 unsigned AsUnsigned;
        csel_v2s16 CselV2s16 signed AsSigned;
    }

    compares! {
        icmp_u32 IcmpU32 integer 32 false compare!(unsigned);
        icmp_s32 IcmpS32 integer 32 true compare!(signed);
        icmp_v2u16 IcmpV2u16 shorts 16 false compare_halves!(unsigned AsUnsigned);
        icmp_v2s16 IcmpV2s16 shorts 16 true compare_halves!(signed AsSigned);
        icmp_v4u8 IcmpV4u8 bytes 8 false compare_bytes!(unsigned false);
        icmp_v4s8 IcmpV4s8 bytes 8 true compare_bytes!(signed true);
    }

    fn fcmp_f32(&mut self, i: v::FcmpF32) -> Lowered {
        let (a, b) = (float!(self, i, 0), float!(self, i, 1));
        let (a, b) = (self.settle::<float::Sign>(0, a), self.settle::<float::Sign>(1, b));
        let c = take!(self.word(i.src2()));
        compare!(self, i, a, b, c, float)
    }

    fn fcmp_v2f16(&mut self, i: v::FcmpV2f16) -> Lowered {
        let (a, b) = (halves!(self, i, 0), halves!(self, i, 1));
        let (a, b) = (self.settle::<half::Sign>(0, a), self.settle::<half::Sign>(1, b));
        let c = take!(self.word(i.src2()));
        compare_halves!(self, i, a, b, c, float AsFloat)
    }

    shifts! {
        lshift_and_i32 LshiftAndI32 left AND integer Shift;
        lshift_or_i32 LshiftOrI32 left OR integer Shift;
        lshift_xor_i32 LshiftXorI32 left XOR integer Shift;
        rshift_and_i32 RshiftAndI32 right AND integer Shift;
        rshift_or_i32 RshiftOrI32 right OR integer Shift;
        rshift_xor_i32 RshiftXorI32 right XOR integer Shift;
        lshift_and_v2i16 LshiftAndV2i16 left AND shorts ShiftHalves;
        lshift_or_v2i16 LshiftOrV2i16 left OR shorts ShiftHalves;
        lshift_xor_v2i16 LshiftXorV2i16 left XOR shorts ShiftHalves;
        rshift_and_v2i16 RshiftAndV2i16 right AND shorts ShiftHalves;
        rshift_or_v2i16 RshiftOrV2i16 right OR shorts ShiftHalves;
        rshift_xor_v2i16 RshiftXorV2i16 right XOR shorts ShiftHalves;
    }

    byte_shifts! {
        lshift_and_v4i8 LshiftAndV4i8 left AND;
        lshift_or_v4i8 LshiftOrV4i8 left OR;
        lshift_xor_v4i8 LshiftXorV4i8 left XOR;
        rshift_and_v4i8 RshiftAndV4i8 right AND;
        rshift_or_v4i8 RshiftOrV4i8 right OR;
        rshift_xor_v4i8 RshiftXorV4i8 right XOR;
    }

    long_shifts! {
        lshift_and_i64 LshiftAndI64 left AND;
        lshift_or_i64 LshiftOrI64 left OR;
        lshift_xor_i64 LshiftXorI64 left XOR;
        rshift_and_i64 RshiftAndI64 right AND;
        rshift_or_i64 RshiftOrI64 right OR;
        rshift_xor_i64 RshiftXorI64 right XOR;
    }

    // Across lanes.

    permutes! {
        clper_i32 ClperI32 32 integer false;
        clper_s32 ClperS32 32 integer true;
        clper_v2u16 ClperV2u16 16 shorts false;
        clper_v2s16 ClperV2s16 16 shorts true;
        clper_v4u8 ClperV4u8 8 bytes false;
        clper_v4s8 ClperV4s8 8 bytes true;
    }

    long_permutes! {
        clper_u64 ClperU64 false;
        clper_s64 ClperS64 true;
    }

    fn wmask(&mut self, i: v::Wmask) -> Lowered {
        let a = take!(self.word(i.src0()));
        let handler = handler::<Ballot>(self.level);
        self.put_part(handler, i.dest(), i.dest_half(), &[a], [subgroup(i.subgroup()), 0])
    }

    // Memory.

    fn load_i8(&mut self, i: v::LoadI8) -> Lowered {
        self.load_part::<1>(i.sr(), i.src0(), i.offset(), i.load_lane_8_bit().into(), i.unsigned())
    }

    fn load_i16(&mut self, i: v::LoadI16) -> Lowered {
        self.load_part::<2>(i.sr(), i.src0(), i.offset(), i.load_lane_16_bit().into(), i.unsigned())
    }

    fn load_i24(&mut self, i: v::LoadI24) -> Lowered {
        self.load_part::<3>(i.sr(), i.src0(), i.offset(), Place::Words(1), i.unsigned())
    }

    fn load_i32(&mut self, i: v::LoadI32) -> Lowered {
        match i.load_lane_32_bit() {
            LoadLane32Bit::W0 => self.load::<1>(i.sr(), i.src0(), i.offset()),
            LoadLane32Bit::D0 => self.load_part::<4>(i.sr(), i.src0(), i.offset(), Place::Words(2), i.unsigned()),
        }
    }

    fn load_i48(&mut self, i: v::LoadI48) -> Lowered {
        self.load_part::<6>(i.sr(), i.src0(), i.offset(), Place::Words(2), i.unsigned())
    }

    fn load_i64(&mut self, i: v::LoadI64) -> Lowered {
        self.load::<2>(i.sr(), i.src0(), i.offset())
    }

    fn load_i96(&mut self, i: v::LoadI96) -> Lowered {
        self.load::<3>(i.sr(), i.src0(), i.offset())
    }

    fn load_i128(&mut self, i: v::LoadI128) -> Lowered {
        self.load::<4>(i.sr(), i.src0(), i.offset())
    }

    fn store_i8(&mut self, i: v::StoreI8) -> Lowered {
        self.store_part::<1>(i.sr(), i.src0(), i.offset())
    }

    fn store_i16(&mut self, i: v::StoreI16) -> Lowered {
        self.store_part::<2>(i.sr(), i.src0(), i.offset())
    }

    fn store_i24(&mut self, i: v::StoreI24) -> Lowered {
        self.store_part::<3>(i.sr(), i.src0(), i.offset())
    }

    fn store_i48(&mut self, i: v::StoreI48) -> Lowered {
        self.store_part::<6>(i.sr(), i.src0(), i.offset())
    }

    fn store_i32(&mut self, i: v::StoreI32) -> Lowered {
        self.store::<1>(i.sr(), i.src0(), i.offset())
    }

    fn store_i64(&mut self, i: v::StoreI64) -> Lowered {
        self.store::<2>(i.sr(), i.src0(), i.offset())
    }

    fn store_i96(&mut self, i: v::StoreI96) -> Lowered {
        self.store::<3>(i.sr(), i.src0(), i.offset())
    }

    fn store_i128(&mut self, i: v::StoreI128) -> Lowered {
        self.store::<4>(i.sr(), i.src0(), i.offset())
    }
}
