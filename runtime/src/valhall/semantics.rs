//! What each instruction does: its sources, its rule, its destination.

use isaforge_valhall::{self as v, Clamp, Lane16Bit, RegisterList, Semantics, Swizzles16BitFirst4, Widen};

use super::host::VaryingSource;
use super::messages::{
    Atomic, Interpolation, Into, Lods, Names, Output, Query, VaryingQuery, channels, immediate, widths,
};
use super::operate::{both, exact};
use super::rules::float32::{Nans, ZeroProduct};
use super::rules::rounding::Rounding;
use super::rules::shift::{Logic, Shift};
use super::rules::special::Mantissa;
use super::rules::{chosen, compare, convert, cube, float16, float32, integer, lanes as cross, shift, special};
use super::source::{extend, number};
use super::step::{Control, Done, Fault, Step};
use super::warp::{Column, lanes};

impl Semantics for Step<'_> {
    type Output = Done;

    fn nop(&mut self, _: v::Nop) -> Done {
        Done::NEXT
    }

    // Jumps and barriers.

    fn branchz(&mut self, i: v::Branchz) -> Done {
        let taken = self.taken(i.src0(), i.src0_combine(), i.eq());
        let target = i64::from(self.warp.pc) + 1 + i64::from(i.offset());
        Done(self.jump(taken, |_| Ok(target)))
    }

    fn branchzi(&mut self, i: v::Branchzi) -> Done {
        let taken = self.taken(i.src0(), i.src0_combine(), i.eq());
        let (targets, next) = (self.word(i.src1()), i64::from(self.warp.pc) + 1);
        Done(self.jump(taken, |lane| match targets[lane] {
            distance if !i.absolute() => Ok(next + i64::from(distance as i32)),
            address if address % 8 == 0 => Ok(i64::from(address / 8)),
            address => Err(Fault::Misaligned { lane, address: address.into() }),
        }))
    }

    fn barrier(&mut self, _: v::Barrier) -> Done {
        Done(Ok(Control::Barrier))
    }

    // Pixels.

    fn discard_f32(&mut self, i: v::DiscardF32) -> Done {
        let (a, b, condition) = (float!(self, i, 0), float!(self, i, 1), i.cmp());
        let discarded = |lane: &usize| compare::holds_f32(condition, a[*lane], b[*lane]);
        let discarded = lanes(self.warp.active).filter(discarded).fold(0, |mask, lane| mask | 1 << lane);
        Done(self.discard(discarded))
    }

    fn atest(&mut self, i: v::Atest) -> Done {
        self.test_alpha(i.sr(), i.src0());
        Done::NEXT
    }

    fn zs_emit(&mut self, i: v::ZsEmit) -> Done {
        let (depth, stencil) = (i.z().then(|| i.src0()), i.stencil().then(|| i.src1()));
        Done(Ok(self.emit_depth(i.sr(), depth, stencil, i.src2())))
    }

    fn blend(&mut self, i: v::Blend) -> Done {
        let colour = (i.regfmt().into(), channels(i.vecsize()));
        Done(self.blend_colour(i.sr(), (i.src0(), i.src1()), colour, i.target(), i.flow()))
    }

    fn ld_tile(&mut self, i: v::LdTile) -> Done {
        Done(self.load_tile(i.sr(), i.src0(), i.regfmt().into(), channels(i.vecsize())))
    }

    fn st_tile(&mut self, i: v::StTile) -> Done {
        Done(self.store_tile(i.sr(), (i.src0(), i.src1()), i.regfmt().into(), channels(i.vecsize())))
    }

    // Floats.

    floats! {
        fadd_f32 FaddF32 (float 0 float 1) clamp |_, [a, b]: [u32; 2]| float32::add(a, b);
        fmin_f32 FminF32 (float 0 float 1) clamp |_, [a, b]: [u32; 2]| float32::min(a, b, Nans::Suppress);
        fmax_f32 FmaxF32 (float 0 float 1) clamp |_, [a, b]: [u32; 2]| float32::max(a, b, Nans::Suppress);
        fma_f32 FmaF32 (float 0 float 1 float 2) clamp |_, [a, b, c]: [u32; 3]| float32::fma(a, b, c);
        fadd_lscale_f32 FaddLscaleF32 (whole 0 whole 1) clamp |_, [a, b]: [u32; 2]| float32::add_lscale(a, b);
        fround_f32 FroundF32 (float 0) free |i: v::FroundF32, [a]: [u32; 1]| convert::round_f32(a, i.roundmode().into());
        frcp_f32 FrcpF32 (float 0) free |_, [a]: [u32; 1]| special::reciprocal_f32(a);
        frsq_f32 FrsqF32 (float 0) free |_, [a]: [u32; 1]| special::reciprocal_root_f32(a);
        flogd_f32 FlogdF32 (float 0) free |_, [a]: [u32; 1]| special::log_slope(a);
        frcp_approx_f32 FrcpApproxF32 (float 0) free |_, [a]: [u32; 1]| chosen::reciprocal_of_mantissa(a);
        frsq_approx_f32 FrsqApproxF32 (float 0) free |_, [a]: [u32; 1]| chosen::root_of_mantissa(a);
        flog_table_f32 FlogTableF32 (float 0) free |_, [a]: [u32; 1]| chosen::reciprocal_of_log_mantissa(a);
        cubeface1 Cubeface1 (whole 0 whole 1 whole 2) free |_, [x, y, z]: [u32; 3]| cube::face_divisor(x, y, z);
    }

    half_floats! {
        fadd_v2f16 FaddV2f16 (0 1) clamp |_, [a, b]: [u16; 2]| float16::add(a, b);
        fmin_v2f16 FminV2f16 (0 1) clamp |_, [a, b]: [u16; 2]| float16::min(a, b, Nans::Suppress);
        fmax_v2f16 FmaxV2f16 (0 1) clamp |_, [a, b]: [u16; 2]| float16::max(a, b, Nans::Suppress);
        fma_v2f16 FmaV2f16 (0 1 2) clamp |_, [a, b, c]: [u16; 3]| float16::fma(a, b, c);
        fround_v2f16 FroundV2f16 (0) free |i: v::FroundV2f16, [a]: [u16; 1]| convert::round_f16(a, i.roundmode().into());
        frcp_f16 FrcpF16 (0) free |_, [a]: [u16; 1]| special::reciprocal_f16(a);
        frsq_f16 FrsqF16 (0) free |_, [a]: [u16; 1]| special::reciprocal_root_f16(a);
    }

    fn ldexp_f32(&mut self, i: v::LdexpF32) -> Done {
        let (a, b, rounding) = (float!(self, i, 0), self.word(i.src1()), i.roundmode().into());
        let values = self.each([&a, &b], |[a, b]| float32::ldexp(a, b as i32, rounding));
        self.put_float(i.dest(), i.dest_half(), Clamp::None, &values)
    }

    fn ldexp_v2f16(&mut self, i: v::LdexpV2f16) -> Done {
        let (a, b, rounding) = (halves!(self, i, 0), self.word(i.src1()), i.roundmode().into());
        let values = self.each_half([&a, &b], |[a, b]| float16::ldexp(a, (b as i16).into(), rounding));
        self.put(i.dest(), i.dest_half(), &values)
    }

    fn fatan_assist_f32(&mut self, i: v::FatanAssistF32) -> Done {
        let rule = if i.second() { chosen::atan_table } else { chosen::atan_assist };
        let values = self.each([&self.word(i.src0()), &self.word(i.src1())], |[y, x]| rule(y, x));
        // The table's angle is a float; the assistant's two halves are not.
        if i.second() {
            return self.put_float(i.dest(), i.dest_half(), Clamp::None, &values);
        }
        self.put(i.dest(), i.dest_half(), &values)
    }

    fn fexp_f32(&mut self, i: v::FexpF32) -> Done {
        let (a, b) = (self.word(i.src0()), whole!(self, i, 1));
        let values = self.each([&a, &b], |[a, b]| special::exp2(a, b));
        self.put_float(i.dest(), i.dest_half(), i.clamp(), &values)
    }

    rscales! {
        fma_rscale_f32 FmaRscaleF32 Ieee 32;
        fma_rscale_n_f32 FmaRscaleNF32 Zero 32;
        fma_rscale_left_f32 FmaRscaleLeftF32 Left 32;
        fma_rscale_scale16_f32 FmaRscaleScale16F32 Ieee 16;
    }

    singles! {
        fsin_table_u6 FsinTableU6 float |s, i| s.word(i.src0()), |_, a| special::sine(a);
        fcos_table_u6 FcosTableU6 float |s, i| s.word(i.src0()), |_, a| special::cosine(a);
        fsincos_offset_u6 FsincosOffsetU6 float |s, i| s.word(i.src0()), |_, a| chosen::sincos_offset(a);
        fexp_table_u4 FexpTableU4 float |s, i| s.word(i.src0()), |_, a| chosen::exp_table(a);
        fpclass_f32 FpclassF32 bits |s, i| float!(s, i, 0), |_, a| chosen::class_f32(a);
        fpclass_f16 FpclassF16 bits |s, i| halves!(s, i, 0), |_, a| both(a, chosen::class_f16);
        fadd_imm_f32 FaddImmF32 float |s, i| s.word(i.src0()), |i: v::FaddImmF32, a| float32::add(a, i.constant());
        frexpm_f32 FrexpmF32 float |s, i| s.float(i.src0(), i.src0_swizzle(), false, false),
            |i: v::FrexpmF32, a| special::mantissa_f32(a, Mantissa::new(i.sqrt(), i.log()));
        frexpe_f32 FrexpeF32 bits |s, i| s.float(i.src0(), i.src0_swizzle(), false, false),
            |i: v::FrexpeF32, a| special::exponent_f32(a, Mantissa::new(i.sqrt(), i.log()));
        frexpm_v2f16 FrexpmV2f16 bits |s, i| s.halves(i.src0(), i.src0_swizzle(), false, false),
            |i: v::FrexpmV2f16, a| both(a, |h| special::mantissa_f16(h, Mantissa::new(i.sqrt(), i.log())));
        frexpe_v2f16 FrexpeV2f16 bits |s, i| s.halves(i.src0(), i.src0_swizzle(), false, false),
            |i: v::FrexpeV2f16, a| both(a, |h| special::exponent_f16(h, Mantissa::new(i.sqrt(), i.log())));
    }

    fn fadd_imm_v2f16(&mut self, i: v::FaddImmV2f16) -> Done {
        let (a, b) = (self.word(i.src0()), [i.constant(); 16]);
        let values = self.each_half([&a, &b], |[a, b]| float16::add(a, b));
        self.put(i.dest(), i.dest_half(), &values)
    }

    // Conversions.

    singles! {
        f32_to_s32 F32ToS32 bits |s, i| whole!(s, i, 0), |i: v::F32ToS32, a| convert::f32_to_s32(a, i.roundmode().into());
        f32_to_u32 F32ToU32 bits |s, i| whole!(s, i, 0), |i: v::F32ToU32, a| convert::f32_to_u32(a, i.roundmode().into());
        f16_to_s32 F16ToS32 bits |s, i| halves!(s, i, 0),
            |i: v::F16ToS32, a| convert::f16_to_s32(a as u16, i.roundmode().into());
        f16_to_u32 F16ToU32 bits |s, i| halves!(s, i, 0),
            |i: v::F16ToU32, a| convert::f16_to_u32(a as u16, i.roundmode().into());
        v2f16_to_v2s16 V2f16ToV2s16 bits |s, i| halves!(s, i, 0),
            |i: v::V2f16ToV2s16, a| both(a, |h| convert::f16_to_s16(h, i.roundmode().into()));
        v2f16_to_v2u16 V2f16ToV2u16 bits |s, i| halves!(s, i, 0),
            |i: v::V2f16ToV2u16, a| both(a, |h| convert::f16_to_u16(h, i.roundmode().into()));
        s32_to_f32 S32ToF32 float |s, i| s.integer(i.src0(), i.src0_widen(), true),
            |i: v::S32ToF32, a| convert::integer_to_f32(number(a, 32, true), i.roundmode().into());
        u32_to_f32 U32ToF32 float |s, i| s.integer(i.src0(), i.src0_widen(), false),
            |i: v::U32ToF32, a: u32| convert::integer_to_f32(a.into(), i.roundmode().into());
        v2s16_to_v2f16 V2s16ToV2f16 bits |s, i| s.shorts(i.src0(), i.src0_widen(), true),
            |i: v::V2s16ToV2f16, a| both(a, |h| convert::integer_to_f16((h as i16).into(), i.roundmode().into()));
        v2u16_to_v2f16 V2u16ToV2f16 bits |s, i| s.shorts(i.src0(), i.src0_widen(), false),
            |i: v::V2u16ToV2f16, a| both(a, |h| convert::integer_to_f16(h.into(), i.roundmode().into()));
        s16_to_s32 S16ToS32 bits |s, i| s.halves(i.src0(), i.src0_swizzle(), false, false), |_, a| extend(a, 16, true);
        u16_to_u32 U16ToU32 bits |s, i| s.halves(i.src0(), i.src0_swizzle(), false, false), |_, a| extend(a, 16, false);
        s16_to_f32 S16ToF32 float |s, i| s.halves(i.src0(), i.src0_swizzle(), false, false), |_, a| exact(a, 16, true);
        u16_to_f32 U16ToF32 float |s, i| s.halves(i.src0(), i.src0_swizzle(), false, false), |_, a| exact(a, 16, false);
        s8_to_s32 S8ToS32 bits |s, i| s.byte(i.src0(), i.src0_lane()), |_, a| extend(a, 8, true);
        u8_to_u32 U8ToU32 bits |s, i| s.byte(i.src0(), i.src0_lane()), |_, a| extend(a, 8, false);
        s8_to_f32 S8ToF32 float |s, i| s.byte(i.src0(), i.src0_lane()), |_, a| exact(a, 8, true);
        u8_to_f32 U8ToF32 float |s, i| s.byte(i.src0(), i.src0_lane()), |_, a| exact(a, 8, false);
        v2s8_to_v2s16 V2s8ToV2s16 bits |s, i| s.byte_pair(i.src0(), i.src0_halfswizzle(), true), |_, a| a;
        v2u8_to_v2u16 V2u8ToV2u16 bits |s, i| s.byte_pair(i.src0(), i.src0_halfswizzle(), false), |_, a| a;
        v2s8_to_v2f16 V2s8ToV2f16 bits |s, i| s.byte_pair(i.src0(), i.src0_halfswizzle(), true),
            |_, a| both(a, |h| convert::integer_to_f16((h as i16).into(), Rounding::NearestEven));
        v2u8_to_v2f16 V2u8ToV2f16 bits |s, i| s.byte_pair(i.src0(), i.src0_halfswizzle(), false),
            |_, a| both(a, |h| convert::integer_to_f16(h.into(), Rounding::NearestEven));
    }

    fn f16_to_f32(&mut self, i: v::F16ToF32) -> Done {
        let swizzle = if i.src0_lane() == Lane16Bit::H1 { Swizzles16BitFirst4::H11 } else { Swizzles16BitFirst4::H00 };
        let source = self.halves(i.src0(), swizzle, i.src0_abs(), i.src0_neg());
        let values = self.each([&source], |[a]| convert::f16_to_f32(a as u16));
        self.put_float(i.dest(), i.dest_half(), Clamp::None, &values)
    }

    fn v2f32_to_v2f16(&mut self, i: v::V2f32ToV2f16) -> Done {
        let (a, b, limit, rounding) = (whole!(self, i, 0), whole!(self, i, 1), i.clamp(), i.roundmode().into());
        let narrow = |value| u32::from(float16::narrow(float32::clamp(value, limit), rounding));
        let values = self.each([&a, &b], |[a, b]| integer::pack_halves(narrow(a), narrow(b)));
        self.put(i.dest(), i.dest_half(), &values)
    }

    // Integers.

    integers! {
        U32 integer: iadd_u32 IaddU32 add saturate, isub_u32 IsubU32 subtract saturate,
            imul_i32 ImulI32 multiply saturate, hadd_u32 HaddU32 halving_add rhadd;
        S32 integer: iadd_s32 IaddS32 add saturate, isub_s32 IsubS32 subtract saturate,
            imul_s32 ImulS32 multiply saturate, hadd_s32 HaddS32 halving_add rhadd;
        U16 shorts: iadd_v2u16 IaddV2u16 add saturate, isub_v2u16 IsubV2u16 subtract saturate,
            imul_v2i16 ImulV2i16 multiply saturate, hadd_v2u16 HaddV2u16 halving_add rhadd;
        S16 shorts: iadd_v2s16 IaddV2s16 add saturate, isub_v2s16 IsubV2s16 subtract saturate,
            imul_v2s16 ImulV2s16 multiply saturate, hadd_v2s16 HaddV2s16 halving_add rhadd;
        U8 bytes: iadd_v4u8 IaddV4u8 add saturate, isub_v4u8 IsubV4u8 subtract saturate,
            imul_v4i8 ImulV4i8 multiply saturate, hadd_v4u8 HaddV4u8 halving_add rhadd;
        S8 bytes: iadd_v4s8 IaddV4s8 add saturate, isub_v4s8 IsubV4s8 subtract saturate,
            imul_v4s8 ImulV4s8 multiply saturate, hadd_v4s8 HaddV4s8 halving_add rhadd;
    }

    longs! {
        iadd_u64 IaddU64 false |[a, b]| a.wrapping_add(b);
        iadd_s64 IaddS64 true |[a, b]| a.wrapping_add(b);
        isub_u64 IsubU64 false |[a, b]| a.wrapping_sub(b);
        isub_s64 IsubS64 true |[a, b]| a.wrapping_sub(b);
        imuld_u64 ImuldU64 false |[a, b]| integer::multiply_wide(a as u32, b as u32, false);
    }

    fn shaddx_u64(&mut self, i: v::ShaddxU64) -> Done {
        let (a, b, shift) = (self.pair(i.src0()), self.long(i.src1(), i.src1_widen(), false), i.shift().into());
        let values = self.each([&a, &b], |[a, b]| integer::shifted_add(a, b, shift));
        self.put_long(i.dest(), i.dest_half(), &values)
    }

    fn shaddx_s64(&mut self, i: v::ShaddxS64) -> Done {
        let (a, b, shift) = (self.pair(i.src0()), self.long(i.src1(), i.src1_widen(), true), i.shift().into());
        let values = self.each([&a, &b], |[a, b]| integer::shifted_add(a, b, shift));
        self.put_long(i.dest(), i.dest_half(), &values)
    }

    fn seg_add_u64(&mut self, i: v::SegAddU64) -> Done {
        let (a, b) = (self.pair(i.src0()), self.long(i.src1(), i.src1_widen(), false));
        let values = self.each([&a, &b], |[a, b]| integer::segment_add(a, b, i.neg(), i.preserve_null()));
        self.put_long(i.dest(), i.dest_half(), &values)
    }

    fn not_old_i64(&mut self, i: v::NotOldI64) -> Done {
        let values = self.pair(i.src0()).map(|value| !value);
        self.put_long(i.dest(), i.dest_half(), &values)
    }

    words! {
        mov_i32 MovI32 (src0) |_, [a]: [u32; 1]| a;
        not_old_i32 NotOldI32 (src0) |_, [a]: [u32; 1]| !a;
        clz_u32 ClzU32 (src0) |_, [a]: [u32; 1]| integer::leading_zeros(integer::U32, a, false);
        clz_v2u16 ClzV2u16 (src0) |_, [a]: [u32; 1]| integer::leading_zeros(integer::U16, a, false);
        clz_v4u8 ClzV4u8 (src0) |_, [a]: [u32; 1]| integer::leading_zeros(integer::U8, a, false);
        iabs_v4s8 IabsV4s8 (src0) |_, [a]: [u32; 1]| integer::absolute(integer::S8, a);
        popcount_i32 PopcountI32 (src0) |_, [a]: [u32; 1]| a.count_ones();
        bitrev_i32 BitrevI32 (src0) |_, [a]: [u32; 1]| a.reverse_bits();
        iadd_imm_i32 IaddImmI32 (src0) |i: v::IaddImmI32, [a]: [u32; 1]| a.wrapping_add(i.constant());
        iadd_imm_v2i16 IaddImmV2i16 (src0)
            |i: v::IaddImmV2i16, [a]: [u32; 1]| integer::add(integer::U16, a, i.constant(), false);
        iadd_imm_v4i8 IaddImmV4i8 (src0) |i: v::IaddImmV4i8, [a]: [u32; 1]| integer::add(integer::U8, a, i.constant(), false);
        idp_v4s8 IdpV4s8 (src0 src1 src2)
            |i: v::IdpV4s8, [a, b, c]: [u32; 3]| integer::dot_product_add(integer::S8, a, b, c, i.saturate());
        idp_v4u8 IdpV4u8 (src0 src1 src2)
            |i: v::IdpV4u8, [a, b, c]: [u32; 3]| integer::dot_product_add(integer::U8, a, b, c, i.saturate());
        mux_i32 MuxI32 (src0 src1 src2) |i: v::MuxI32, [a, b, c]: [u32; 3]| compare::mux(integer::U32, i.mux(), a, b, c);
        mux_v4i8 MuxV4i8 (src0 src1 src2) |i: v::MuxV4i8, [a, b, c]: [u32; 3]| compare::mux(integer::U8, i.mux(), a, b, c);
        csel_f32 CselF32 (src0 src1 src2 src3) |i: v::CselF32, all| compare::select_f32(i.cmp(), all);
        csel_v2f16 CselV2f16 (src0 src1 src2 src3) |i: v::CselV2f16, all| compare::select_f16(i.cmp(), all);
        csel_u32 CselU32 (src0 src1 src2 src3) |i: v::CselU32, all| compare::select_integers(integer::U32, i.cmp(), all);
        csel_s32 CselS32 (src0 src1 src2 src3) |i: v::CselS32, all| compare::select_integers(integer::S32, i.cmp(), all);
        csel_v2u16 CselV2u16 (src0 src1 src2 src3)
            |i: v::CselV2u16, all| compare::select_integers(integer::U16, i.cmp(), all);
        csel_v2s16 CselV2s16 (src0 src1 src2 src3)
            |i: v::CselV2s16, all| compare::select_integers(integer::S16, i.cmp(), all);
    }

    singles! {
        iabs_s32 IabsS32 bits |s, i| s.integer(i.src0(), i.src0_widen(), true), |_, a| integer::absolute(integer::S32, a);
        iabs_v2s16 IabsV2s16 bits |s, i| s.shorts(i.src0(), i.src0_widen(), true), |_, a| integer::absolute(integer::S16, a);
    }

    fn mkvec_v2i16(&mut self, i: v::MkvecV2i16) -> Done {
        let a = self.halves(i.src0(), i.src0_swizzle(), false, false);
        let b = self.halves(i.src1(), i.src1_swizzle(), false, false);
        let values = self.each([&a, &b], |[a, b]| integer::pack_halves(a, b));
        self.put(i.dest(), i.dest_half(), &values)
    }

    fn mkvec_v2i8(&mut self, i: v::MkvecV2i8) -> Done {
        let (a, b) = (self.byte(i.src0(), i.src0_lane()), self.byte(i.src1(), i.src1_lane()));
        let values = self.each([&a, &b, &self.word(i.src2())], |[a, b, cd]| integer::pack_bytes(a, b, cd));
        self.put(i.dest(), i.dest_half(), &values)
    }

    fn mux_v2i16(&mut self, i: v::MuxV2i16) -> Done {
        let a = self.halves(i.src0(), i.src0_swizzle(), false, false);
        let b = self.halves(i.src1(), i.src1_swizzle(), false, false);
        let c = self.halves(i.src2(), i.src2_swizzle(), false, false);
        let values = self.each([&a, &b, &c], |[a, b, c]| compare::mux(integer::U16, i.mux(), a, b, c));
        self.put(i.dest(), i.dest_half(), &values)
    }

    shifts! {
        lshift_and_i32 LshiftAndI32 left And 32 integer;
        lshift_and_v2i16 LshiftAndV2i16 left And 16 shorts;
        lshift_and_v4i8 LshiftAndV4i8 left And 8 bytes;
        lshift_and_i64 LshiftAndI64 left And 64 long;
        lshift_or_i32 LshiftOrI32 left Or 32 integer;
        lshift_or_v2i16 LshiftOrV2i16 left Or 16 shorts;
        lshift_or_v4i8 LshiftOrV4i8 left Or 8 bytes;
        lshift_or_i64 LshiftOrI64 left Or 64 long;
        lshift_xor_i32 LshiftXorI32 left Xor 32 integer;
        lshift_xor_v2i16 LshiftXorV2i16 left Xor 16 shorts;
        lshift_xor_v4i8 LshiftXorV4i8 left Xor 8 bytes;
        lshift_xor_i64 LshiftXorI64 left Xor 64 long;
        rshift_and_i32 RshiftAndI32 right And 32 integer;
        rshift_and_v2i16 RshiftAndV2i16 right And 16 shorts;
        rshift_and_v4i8 RshiftAndV4i8 right And 8 bytes;
        rshift_and_i64 RshiftAndI64 right And 64 long;
        rshift_or_i32 RshiftOrI32 right Or 32 integer;
        rshift_or_v2i16 RshiftOrV2i16 right Or 16 shorts;
        rshift_or_v4i8 RshiftOrV4i8 right Or 8 bytes;
        rshift_or_i64 RshiftOrI64 right Or 64 long;
        rshift_xor_i32 RshiftXorI32 right Xor 32 integer;
        rshift_xor_v2i16 RshiftXorV2i16 right Xor 16 shorts;
        rshift_xor_v4i8 RshiftXorV4i8 right Xor 8 bytes;
        rshift_xor_i64 RshiftXorI64 right Xor 64 long;
    }

    // Comparisons.

    compares! {
        icmp_u32 IcmpU32 U32 integer;
        icmp_s32 IcmpS32 S32 integer;
        icmp_v2u16 IcmpV2u16 U16 shorts;
        icmp_v2s16 IcmpV2s16 S16 shorts;
        icmp_v4u8 IcmpV4u8 U8 bytes;
        icmp_v4s8 IcmpV4s8 S8 bytes;
    }

    fn fcmp_f32(&mut self, i: v::FcmpF32) -> Done {
        let sources = [&float!(self, i, 0), &float!(self, i, 1), &self.word(i.src2())];
        let rule = |[a, b, c]: [u32; 3]| compare::compare_f32(i.cmp(), i.and(), i.result_type(), a, b, c);
        let values = self.each(sources, rule);
        self.put(i.dest(), i.dest_half(), &values)
    }

    fn fcmp_v2f16(&mut self, i: v::FcmpV2f16) -> Done {
        let sources = [&halves!(self, i, 0), &halves!(self, i, 1), &self.word(i.src2())];
        let rule = |[a, b, c]: [u32; 3]| compare::compare_f16(i.cmp(), i.and(), i.result_type(), a, b, c);
        let values = self.each(sources, rule);
        self.put(i.dest(), i.dest_half(), &values)
    }

    // Cube maps.

    fn cubeface2(&mut self, i: v::Cubeface2) -> Done {
        let sources = [&whole!(self, i, 0), &whole!(self, i, 1), &whole!(self, i, 2)];
        let values = self.each(sources, |[x, y, z]| cube::face(x, y, z));
        self.put(i.dest(), i.dest_half(), &values)
    }

    fn cube_ssel(&mut self, i: v::CubeSsel) -> Done {
        let sources = [&whole!(self, i, 0), &whole!(self, i, 1), &self.word(i.src2())];
        let values = self.each(sources, |[z, x, face]| cube::horizontal(z, x, face));
        self.put(i.dest(), i.dest_half(), &values)
    }

    fn cube_tsel(&mut self, i: v::CubeTsel) -> Done {
        let sources = [&whole!(self, i, 0), &whole!(self, i, 1), &self.word(i.src2())];
        let values = self.each(sources, |[y, z, face]| cube::vertical(y, z, face));
        self.put(i.dest(), i.dest_half(), &values)
    }

    // Across lanes.

    permutes! {
        clper_i32 ClperI32 U32 integer;
        clper_s32 ClperS32 S32 integer;
        clper_v2u16 ClperV2u16 U16 shorts;
        clper_v2s16 ClperV2s16 S16 shorts;
        clper_v4u8 ClperV4u8 U8 bytes;
        clper_v4s8 ClperV4s8 S8 bytes;
    }

    long_permutes! {
        clper_u64 ClperU64 false;
        clper_s64 ClperS64 true;
    }

    fn wmask(&mut self, i: v::Wmask) -> Done {
        let source = self.word(i.src0());
        let votes = lanes(self.warp.active).filter(|&lane| source[lane] != 0).fold(0, |mask, lane| mask | 1 << lane);
        let values = std::array::from_fn(|lane| cross::ballot(lane, i.subgroup(), votes));
        self.put(i.dest(), i.dest_half(), &values)
    }

    // Memory.

    memory! {
        load load_i8 LoadI8 1 |i| i.load_lane_8_bit().into();
        load load_i16 LoadI16 2 |i| i.load_lane_16_bit().into();
        load load_i24 LoadI24 3 |i| Into::Words(1);
        load load_i32 LoadI32 4 |i| i.load_lane_32_bit().into();
        load load_i48 LoadI48 6 |i| Into::Words(2);
        load load_i64 LoadI64 8 |i| Into::Words(2);
        load load_i96 LoadI96 12 |i| Into::Words(3);
        load load_i128 LoadI128 16 |i| Into::Words(4);
        store store_i8 StoreI8 1;
        store store_i16 StoreI16 2;
        store store_i24 StoreI24 3;
        store store_i32 StoreI32 4;
        store store_i48 StoreI48 6;
        store store_i64 StoreI64 8;
        store store_i96 StoreI96 12;
        store store_i128 StoreI128 16;
        buffer ld_buffer_i8 LdBufferI8 1 |i| i.load_lane_8_bit().into();
        buffer ld_buffer_i16 LdBufferI16 2 |i| i.load_lane_16_bit().into();
        buffer ld_buffer_i24 LdBufferI24 3 |i| Into::Words(1);
        buffer ld_buffer_i32 LdBufferI32 4 |i| i.load_lane_32_bit().into();
        buffer ld_buffer_i48 LdBufferI48 6 |i| Into::Words(2);
        buffer ld_buffer_i64 LdBufferI64 8 |i| Into::Words(2);
        buffer ld_buffer_i96 LdBufferI96 12 |i| Into::Words(3);
        buffer ld_buffer_i128 LdBufferI128 16 |i| Into::Words(4);
    }

    fn lea_buf_imm(&mut self, i: v::LeaBufImm) -> Done {
        Done(self.buffer_address(i.sr(), immediate(i.table(), i.index()), i.src0()))
    }

    resources! {
        load_attribute ld_attr_imm LdAttrImm ld_attr LdAttr;
        load_image ld_tex_imm LdTexImm ld_tex LdTex;
        attribute_address lea_attr_imm LeaAttrImm lea_attr LeaAttr;
        image_address lea_tex_imm LeaTexImm lea_tex LeaTex;
    }

    fn st_cvt(&mut self, i: v::StCvt) -> Done {
        let texel = (i.regfmt().into(), channels(i.vecsize()));
        Done(self.store_converted(i.sr(), (i.src0(), i.offset()), i.src1(), texel, i.memory_access()))
    }

    // Varyings.

    varyings! {
        ld_var_buf_imm_f32 LdVarBufImmF32 ld_var_buf_f32 LdVarBufF32 false;
        ld_var_buf_imm_f16 LdVarBufImmF16 ld_var_buf_f16 LdVarBufF16 true;
    }

    fn ld_var(&mut self, i: v::LdVar) -> Done {
        let sources = self.handles(i.src1()).map(VaryingSource::Table);
        let how = Interpolation::new(i.sample(), i.update(), i.src0());
        Done(self.varying(i.sr(), &sources, how, i.regfmt().into(), channels(i.vecsize())))
    }

    fn ld_var_imm(&mut self, i: v::LdVarImm) -> Done {
        let sources = [VaryingSource::Table(immediate(i.table(), i.index())); 16];
        let how = Interpolation::new(i.sample(), i.update(), i.src0());
        Done(self.varying(i.sr(), &sources, how, i.regfmt().into(), channels(i.vecsize())))
    }

    fn ld_var_flat(&mut self, i: v::LdVarFlat) -> Done {
        let sources = self.handles(i.src0()).map(VaryingSource::Table);
        Done(self.flat_varying(i.sr(), &sources, i.regfmt().into(), channels(i.vecsize())))
    }

    fn ld_var_flat_imm(&mut self, i: v::LdVarFlatImm) -> Done {
        let sources = [VaryingSource::Table(immediate(i.table(), i.index())); 16];
        Done(self.flat_varying(i.sr(), &sources, i.regfmt().into(), channels(i.vecsize())))
    }

    fn ld_var_special(&mut self, i: v::LdVarSpecial) -> Done {
        let how = Interpolation::new(i.sample(), i.update(), i.src0());
        Done(self.special_varying(i.sr(), i.index(), how, i.regfmt().into(), channels(i.vecsize())))
    }

    // Textures.

    textures! {
        tex_single TexSingle |i| i.shadow(), Lods::Filter(i.lod_mode());
        tex_fetch TexFetch |i| false, Lods::Fetch;
        tex_gather TexGather |i| i.shadow(),
            Lods::Gather { channel: i.fetch_component().bits() as usize, integer: i.integer_coordinates() };
    }

    fn tex_dual(&mut self, i: v::TexDual) -> Done {
        if i.wide_indices() {
            return Done(Err(Fault::Unsupported("a dual look-up with wide indices")));
        }
        let query = query!(i, i.texel_offset(), i.shadow(), Lods::Filter(i.lod_mode()));
        let names = self.pair(i.src0());
        let first = Output::new(i.sr_write(), i.register_type(), i.register_width(), i.write_mask().bits());
        let outputs = [first, first.second(i.secondary_register_width())];
        let names = [0, 32].map(|shift| names.map(|pair| Names::narrow((pair >> shift) as u32)));
        Done(self.texture(query, [Some(&names[0]), Some(&names[1])], i.sr_read(), outputs))
    }

    varying_textures! {
        single var_tex_single VarTexSingle true |i| Lods::Filter(i.lod_mode());
        single var_tex_buf_single VarTexBufSingle false |i| Lods::Filter(i.lod_mode());
        single var_tex_gather VarTexGather true
            |i| Lods::Gather { channel: i.fetch_component().bits() as usize, integer: i.integer_coordinates() };
        single var_tex_buf_gather VarTexBufGather false
            |i| Lods::Gather { channel: i.fetch_component().bits() as usize, integer: i.integer_coordinates() };
        single var_tex_gradient VarTexGradient true
            |i| Lods::Gradient { bias: !i.lod_bias_disable(), range: !i.lod_clamp_disable() };
        single var_tex_buf_gradient VarTexBufGradient false
            |i| Lods::Gradient { bias: !i.lod_bias_disable(), range: !i.lod_clamp_disable() };
        dual var_tex_dual VarTexDual true |i| Lods::Filter(i.lod_mode());
        dual var_tex_buf_dual VarTexBufDual false |i| Lods::Filter(i.lod_mode());
    }

    atomics! {
        atom_i32 AtomI32 false |i| Atomic::With(i.atom_opc()), RegisterList::new(0, 0), i.sr();
        atom_i64 AtomI64 true |i| Atomic::With(i.atom_opc()), RegisterList::new(0, 0), i.sr();
        atom1_return_i32 Atom1ReturnI32 false |i| Atomic::WithOne(i.atom_opc_1()), i.sr(), RegisterList::new(0, 0);
        atom1_return_i64 Atom1ReturnI64 true |i| Atomic::WithOne(i.atom_opc_1()), i.sr(), RegisterList::new(0, 0);
        atom_return_i32 AtomReturnI32 false |i| Atomic::new(i.atom_opc(), i.compare()), i.sr_write(), i.sr_read();
        atom_return_i64 AtomReturnI64 true |i| Atomic::new(i.atom_opc(), i.compare()), i.sr_write(), i.sr_read();
    }
}
