//! The handlers of each instruction, as the generated stubs ask for them.

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

    fn fadd_v2f16(&mut self, i: v::FaddV2f16) -> Lowered {
        let (Signed(a, x), Signed(b, y)) = (halves!(self, i, 0), halves!(self, i, 1));
        self.put_halves::<half::Add<0>>(i.dest(), i.dest_half(), i.clamp(), &[a, b], [x | y << 2, 0])
    }

    fn fma_v2f16(&mut self, i: v::FmaV2f16) -> Lowered {
        let (Signed(a, x), Signed(b, y)) = (halves!(self, i, 0), halves!(self, i, 1));
        let Signed(c, z) = halves!(self, i, 2);
        self.put_halves::<half::Fma<0>>(i.dest(), i.dest_half(), i.clamp(), &[a, b, c], [x | y << 2 | z << 4, 0])
    }

    fn fadd_imm_v2f16(&mut self, i: v::FaddImmV2f16) -> Lowered {
        let a = take!(self.word(i.src0()));
        self.put::<half::AddImmediate>(i.dest(), i.dest_half(), &[a], [i.constant(), 0])
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
        Lowered(None)
    }

    fn u32_to_f32(&mut self, i: v::U32ToF32) -> Lowered {
        let a = take!(self.integer(0, i.src0(), i.src0_widen(), false));
        let (dest, half) = (i.dest(), i.dest_half());
        if i.roundmode() == RoundMode::Rte {
            return self.put_float::<float::FromUnsigned>(dest, half, Clamp::None, &[a], [0; 2]);
        }
        Lowered(None)
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
        Lowered(None)
    }

    // Integers.

    integers! {
        iadd_u32 IaddU32 integer false saturate Add;
        iadd_s32 IaddS32 integer true saturate Add;
        isub_u32 IsubU32 integer false saturate Subtract;
        isub_s32 IsubS32 integer true saturate Subtract;
        imul_i32 ImulI32 integer false saturate Multiply;
        imul_s32 ImulS32 integer true saturate Multiply;
        iadd_v2u16 IaddV2u16 shorts false saturate AddHalves;
        iadd_v2s16 IaddV2s16 shorts true saturate AddHalves;
        isub_v2u16 IsubV2u16 shorts false saturate SubtractHalves;
        isub_v2s16 IsubV2s16 shorts true saturate SubtractHalves;
        imul_v2i16 ImulV2i16 shorts false saturate MultiplyHalves;
        imul_v2s16 ImulV2s16 shorts true saturate MultiplyHalves;
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

    words! {
        mov_i32 MovI32 (src0) integer::Copy;
        not_old_i32 NotOldI32 (src0) integer::Not;
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

    selects! {
        csel_f32 CselF32 float;
        csel_u32 CselU32 unsigned;
        csel_s32 CselS32 signed;
    }

    compares! {
        icmp_u32 IcmpU32 false unsigned;
        icmp_s32 IcmpS32 true signed;
    }

    fn fcmp_f32(&mut self, i: v::FcmpF32) -> Lowered {
        let (a, b) = (float!(self, i, 0), float!(self, i, 1));
        let (a, b) = (self.settle::<float::Sign>(0, a), self.settle::<float::Sign>(1, b));
        let c = take!(self.word(i.src2()));
        compare!(self, i, a, b, c, float)
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

    fn load_i32(&mut self, i: v::LoadI32) -> Lowered {
        match i.load_lane_32_bit() {
            LoadLane32Bit::W0 => self.load::<1>(i.sr(), i.src0(), i.offset()),
            LoadLane32Bit::D0 => Lowered(None),
        }
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
