//! What rules compute, as operations on values.

use iced_x86::{Code, RoundingControl};

use super::super::float::{limit, signs};
use super::super::integer::{Order, logic, shift};
use super::graph::{Graph, Kind, Ordering, Relation, Shifted, Value};

/// How a handler's result is computed from its sources and numbers.
#[derive(Debug)]
pub enum Recipe {
    /// One word from words.
    Word(fn(&mut Graph, [Value; 4], [u32; 2]) -> Value),
    /// One word from floats, whose NaNs may be any.
    Float(fn(&mut Graph, [Value; 4], [u32; 2]) -> Value),
    /// One word from two floats and two words.
    Choice(fn(&mut Graph, [Value; 4], [u32; 2]) -> Value),
    /// One word from pairs of halves, whose NaNs may be any.
    Halves(fn(&mut Graph, [Value; 4], [u32; 2]) -> Value),
    /// Two words: the sum of two pairs.
    Sum(fn(&mut Graph, [Value; 4], [u32; 2]) -> [Value; 2]),
    /// Two words.
    Long(fn(&mut Graph, [Value; 4], [u32; 2]) -> [Value; 2]),
    /// A word from memory, the address being in two rows and the offset in the first number.
    Load,
    /// A word to memory, from the row that other recipes write.
    Store,
    /// The mask of lanes in which a word passes the test of a branch.
    Branch(fn(&mut Graph, Value) -> Value),
}

impl Recipe {
    /// How many rows are written.
    pub fn results(&self) -> u32 {
        match self {
            Recipe::Long(_) | Recipe::Sum(_) => 2,
            Recipe::Branch(_) | Recipe::Store => 0,
            _ => 1,
        }
    }

    /// Whether it only computes, or branches: then nothing can go wrong.
    pub fn is_safe(&self) -> bool {
        !matches!(self, Recipe::Load | Recipe::Store)
    }

    /// How a source is read.
    pub fn takes(&self, source: usize) -> Kind {
        match self {
            Recipe::Float(_) => Kind::Float,
            Recipe::Choice(_) if source < 2 => Kind::Float,
            Recipe::Halves(_) => Kind::Halves,
            _ => Kind::Word,
        }
    }
}

const SIGN: u32 = 1 << 31;

macro_rules! recipes {
    ($($(#[$doc:meta])* $name:ident($g:ident $(, $source:ident)*; $numbers:pat) $result:expr;)*) => { $(
        $(#[$doc])*
        pub fn $name($g: &mut Graph, sources: [Value; 4], $numbers: [u32; 2]) -> Value {
            let [$($source,)* ..] = sources;
            $result
        }
    )* };
}

// Integers.

recipes! {
    copy(_g, a; _) a;
    not(g, a; _) g.not(a);
    add(g, a, b; _) g.add(a, b);
    subtract(g, a, b; _) g.subtract(a, b);
    multiply(g, a, b; _) g.apply(Code::EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32, &[a, b]);
    add_immediate(g, a; [n, _]) {
        let n = g.splat(n);
        g.add(a, n)
    };
    add_halves(g, a, b; _) g.apply(Code::EVEX_Vpaddw_zmm_k1z_zmm_zmmm512, &[a, b]);
    subtract_halves(g, a, b; _) g.apply(Code::EVEX_Vpsubw_zmm_k1z_zmm_zmmm512, &[a, b]);
    multiply_halves(g, a, b; _) g.apply(Code::EVEX_Vpmullw_zmm_k1z_zmm_zmmm512, &[a, b]);
    add_immediate_halves(g, a; [n, _]) {
        let n = g.splat(n);
        g.apply(Code::EVEX_Vpaddw_zmm_k1z_zmm_zmmm512, &[a, n])
    };
    absolute(g, a; _) g.apply(Code::EVEX_Vpabsd_zmm_k1z_zmmm512b32, &[a]);
    /// `a & c | b & !c`.
    mux_bits(g, a, b, c; _) g.logic(0b1110_0100, a, b, c);
    mux_negative(g, a, b, c; _) {
        let zero = g.splat(0);
        let mask = g.compare_signed(Relation::Less, c, zero);
        g.select(mask, a, b)
    };
    mux_zero(g, a, b, c; _) {
        let mask = g.meets(c, c);
        g.select(mask, b, a)
    };
    mux_float_zero(g, a, b, c; _) {
        let magnitude = g.splat(!SIGN);
        let mask = g.meets(c, magnitude);
        g.select(mask, b, a)
    };
    unsigned_part(g, a; [up, down]) {
        let raised = g.shift_by(Shifted::Left, a, up & 31);
        g.shift_by(Shifted::Right, raised, down & 31)
    };
    signed_part(g, a; [up, down]) {
        let raised = g.shift_by(Shifted::Left, a, up & 31);
        g.shift_by(Shifted::Arithmetic, raised, down & 31)
    };
    unsigned_bytes(g, a; [low, high]) {
        let (byte, above) = (g.splat(0xff), g.splat(0xff_0000));
        let low = g.shift_by(Shifted::Right, a, low & 31);
        let low = g.and(low, byte);
        let high = if high & 31 < 16 {
            g.shift_by(Shifted::Left, a, 16 - (high & 31))
        } else {
            g.shift_by(Shifted::Right, a, (high & 31) - 16)
        };
        let high = g.and(high, above);
        g.or(low, high)
    };
    low_twice(g, a; _) {
        let (below, above) = (g.splat(0xffff), g.shift_by(Shifted::Left, a, 16));
        g.logic(BITS_WHERE, below, a, above)
    };
    high_twice(g, a; _) {
        let (below, low) = (g.splat(0xffff), g.shift_by(Shifted::Right, a, 16));
        g.logic(BITS_WHERE, below, low, a)
    };
    swapped(g, a; _) g.apply_immediate(Code::EVEX_Vprold_zmm_k1z_zmmm512b32_imm8, &[a], 16);
    pack(g, a, b; _) {
        let (below, above) = (g.splat(0xffff), g.shift_by(Shifted::Left, b, 16));
        g.logic(BITS_WHERE, below, a, above)
    };
    merge_low(g, new, old; _) {
        let below = g.splat(0xffff);
        g.logic(BITS_WHERE, below, new, old)
    };
    merge_high(g, new, old; _) {
        let below = g.splat(0xffff);
        g.logic(BITS_WHERE, below, old, new)
    };
}

/// `a ? b : c` for each bit.
const BITS_WHERE: u8 = 0b1100_1010;

/// `(a shift b) logic c`, as [`Shift`](super::super::integer::Shift).
pub fn shift<const KIND: u32, const LOGIC: u32>(g: &mut Graph, [a, b, c, _]: [Value; 4], nots: [u32; 2]) -> Value {
    let shifted = match way::<KIND>() {
        Some(way) => g.shift(way, a, b),
        None => a,
    };
    combine::<LOGIC>(g, shifted, c, nots)
}

/// As [`shift`] on halves.
pub fn shift_halves<const KIND: u32, const LOGIC: u32>(
    g: &mut Graph,
    [a, b, c, _]: [Value; 4],
    nots: [u32; 2],
) -> Value {
    let code = match way::<KIND>() {
        Some(Shifted::Left) => Code::EVEX_Vpsllvw_zmm_k1z_zmm_zmmm512,
        Some(Shifted::Right) => Code::EVEX_Vpsrlvw_zmm_k1z_zmm_zmmm512,
        Some(Shifted::Arithmetic) => Code::EVEX_Vpsravw_zmm_k1z_zmm_zmmm512,
        None => return combine::<LOGIC>(g, a, c, nots),
    };
    let low = g.splat(0xf_000f);
    let count = g.and(b, low);
    let shifted = g.apply(code, &[a, count]);
    combine::<LOGIC>(g, shifted, c, nots)
}

fn way<const KIND: u32>() -> Option<Shifted> {
    match KIND {
        shift::LEFT => Some(Shifted::Left),
        shift::RIGHT => Some(Shifted::Right),
        shift::ARITHMETIC => Some(Shifted::Arithmetic),
        _ => None,
    }
}

fn combine<const LOGIC: u32>(g: &mut Graph, a: Value, b: Value, nots: [u32; 2]) -> Value {
    if nots == [0; 2] {
        return match LOGIC {
            logic::AND => g.and(a, b),
            logic::OR => g.or(a, b),
            _ => g.xor(a, b),
        };
    }
    // The columns of a table of three bits, of which the last does not matter.
    let [x, y] = [0b1111_0000u8, 0b1100_1100];
    let y = y ^ nots[0] as u8;
    let table = match LOGIC {
        logic::AND => x & y,
        logic::OR => x | y,
        _ => x ^ y,
    };
    g.logic(table ^ nots[1] as u8, a, b, b)
}

// 64 bits in two words.

macro_rules! long_recipes {
    ($($(#[$doc:meta])* $name:ident($g:ident $(, $source:ident)*; $numbers:pat) $result:expr;)*) => { $(
        $(#[$doc])*
        pub fn $name($g: &mut Graph, sources: [Value; 4], $numbers: [u32; 2]) -> [Value; 2] {
            let [$($source,)* ..] = sources;
            $result
        }
    )* };
}

long_recipes! {
    long_add(g, a, b, c, d; _) {
        let (low, high) = (g.add(a, c), g.add(b, d));
        let carry = g.compare_unsigned(Relation::Less, low, a);
        let one = g.splat(1);
        let more = g.add(high, one);
        [low, g.select(carry, more, high)]
    };
    long_subtract(g, a, b, c, d; _) {
        let (low, high) = (g.subtract(a, c), g.subtract(b, d));
        let borrow = g.compare_unsigned(Relation::Less, a, c);
        let one = g.splat(1);
        let less = g.subtract(high, one);
        [low, g.select(borrow, less, high)]
    };
    shifted_add(g, a, b, c, d; [shift, _]) {
        let shift = shift & 31;
        let low = g.shift_by(Shifted::Left, c, shift);
        let high = g.shift_by(Shifted::Left, d, shift);
        let high = if shift == 0 {
            high
        } else {
            let across = g.shift_by(Shifted::Right, c, 32 - shift);
            g.or(high, across)
        };
        long_add(g, [a, b, low, high], [0; 2])
    };
}

// Comparisons.

/// The first number where the condition holds, else 0.
pub fn compare<O: Order>(g: &mut Graph, [a, b, ..]: [Value; 4], [value, _]: [u32; 2]) -> Value {
    let mask = O::mask(g, a, b);
    let (value, zero) = (g.splat(value), g.splat(0));
    g.select(mask, value, zero)
}

/// As [`compare`], with what the third source says.
pub fn compare_joined<O: Order>(g: &mut Graph, [a, b, c, _]: [Value; 4], [value, and]: [u32; 2]) -> Value {
    let (mask, other) = (O::mask(g, a, b), g.meets(c, c));
    let (value, zero) = (g.splat(value), g.splat(0));
    let here = g.select(mask, value, zero);
    if and != 0 { g.select(other, here, zero) } else { g.select(other, value, here) }
}

/// An integer whose order is that of floats.
fn key(g: &mut Graph, value: Value) -> Value {
    let magnitude = g.splat(!SIGN);
    let negative = g.shift_by(Shifted::Arithmetic, value, 31);
    // value ^ (negative & magnitude)
    g.logic(0b0111_1000, value, negative, magnitude)
}

/// The lanes in which one float is below another or like it in the order of their bits as signed
/// magnitudes.
pub fn in_order(g: &mut Graph, a: Value, b: Value) -> Value {
    let [a, b] = [a, b].map(|value| key(g, value));
    g.compare_signed(Relation::LessOrEqual, a, b)
}

/// `c` where the condition holds, else `d`.
pub fn select<O: Order>(g: &mut Graph, [a, b, c, d]: [Value; 4], _: [u32; 2]) -> Value {
    let mask = O::mask(g, a, b);
    g.select(mask, c, d)
}

// Single precision.

/// A source with its sign as `signs` says.
fn signed(g: &mut Graph, value: Value, index: u32, signs: u32) -> Value {
    let flags = signs >> (2 * index);
    let value = if flags & 1 != 0 {
        let magnitude = g.splat(!SIGN);
        g.and(value, magnitude)
    } else {
        value
    };
    if flags & 2 != 0 {
        let sign = g.splat(SIGN);
        g.xor(value, sign)
    } else {
        value
    }
}

/// Signs that are not in the type are in the first number.
fn chosen(all: u32, numbers: [u32; 2]) -> u32 {
    if all == signs::DYNAMIC { numbers[0] } else { all }
}

/// Limits a result; NaN becomes the low bound, for these instructions give their second operand then.
fn clamp(g: &mut Graph, value: Value, limited: u32) -> Value {
    if limited == limit::NONE {
        return value;
    }
    let low = g.splat(if limited == limit::SIGNED { (-1.0f32).to_bits() } else { 0 });
    let raised = g.apply(Code::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae, &[value, low]);
    if limited == limit::POSITIVE {
        return raised;
    }
    let one = g.splat(1.0f32.to_bits());
    g.apply(Code::EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae, &[raised, one])
}

/// `a + b`, as [`Add`](super::super::float::Add).
pub fn float_add<const SIGNS: u32, const LIMIT: u32>(
    g: &mut Graph,
    [a, b, ..]: [Value; 4],
    numbers: [u32; 2],
) -> Value {
    let signs = chosen(SIGNS, numbers);
    let a = signed(g, a, 0, signs);
    let sum = if signs >> 2 & 3 == 2 {
        g.apply(Code::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er, &[a, b])
    } else {
        let b = signed(g, b, 1, signs);
        g.apply(Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er, &[a, b])
    };
    let sum = g.rough(sum, Kind::Float);
    clamp(g, sum, LIMIT)
}

/// `a · b + c`, as [`Fma`](super::super::float::Fma).
pub fn float_fma<const SIGNS: u32, const LIMIT: u32>(
    g: &mut Graph,
    [a, b, c, _]: [Value; 4],
    numbers: [u32; 2],
) -> Value {
    let signs = chosen(SIGNS, numbers);
    let negates = |index: u32| signs >> (2 * index) & 2 != 0;
    // Negations are in the instruction.
    let [a, b, c] = [(a, 0), (b, 1), (c, 2)].map(|(value, index)| signed(g, value, index, signs & 0b01_0101));
    let code = match (negates(0) ^ negates(1), negates(2)) {
        (false, false) => Code::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
        (false, true) => Code::EVEX_Vfmsub213ps_zmm_k1z_zmm_zmmm512b32_er,
        (true, false) => Code::EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
        (true, true) => Code::EVEX_Vfnmsub213ps_zmm_k1z_zmm_zmmm512b32_er,
    };
    let sum = g.apply(code, &[a, b, c]);
    let sum = g.rough(sum, Kind::Float);
    clamp(g, sum, LIMIT)
}

/// `a · b`, as [`Multiply`](super::super::float::Multiply).
pub fn float_multiply<const SIGNS: u32>(g: &mut Graph, [a, b, ..]: [Value; 4], numbers: [u32; 2]) -> Value {
    let signs = chosen(SIGNS, numbers);
    let (a, b) = (signed(g, a, 0, signs), signed(g, b, 1, signs));
    let product = g.apply(Code::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er, &[a, b]);
    g.rough(product, Kind::Float)
}

/// Limits what is there.
pub fn float_limit<const LIMIT: u32>(g: &mut Graph, [a, ..]: [Value; 4], _: [u32; 2]) -> Value {
    clamp(g, a, LIMIT)
}

/// The lesser or, with `GREATER`, the greater; a NaN loses, and a zero with the sign that is asked for wins.
pub fn float_pick<const GREATER: bool>(g: &mut Graph, [a, b, ..]: [Value; 4], _: [u32; 2]) -> Value {
    let first = if GREATER { in_order(g, b, a) } else { in_order(g, a, b) };
    let number = g.select(first, a, b);
    let nan_a = g.compare_floats(Ordering::Unordered, a, a);
    let unless_a = g.select(nan_a, b, number);
    let nan_b = g.compare_floats(Ordering::Unordered, b, b);
    let picked = g.select(nan_b, a, unless_a);
    g.canonical(picked)
}

/// A float with its sign changed.
pub fn float_sign(g: &mut Graph, [a, ..]: [Value; 4], numbers: [u32; 2]) -> Value {
    signed(g, a, 0, numbers[0])
}

/// A float rounded to an integral one, in a way of the instruction.
pub fn float_round<const WAY: u8>(g: &mut Graph, [a, ..]: [Value; 4], _: [u32; 2]) -> Value {
    let rounded = g.apply_immediate(Code::EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae, &[a], WAY);
    g.rough(rounded, Kind::Float)
}

/// To a signed integer, rounded in a way of the instruction; what lies outside becomes the nearest, NaN 0.
pub fn float_to_signed<const WAY: u8>(g: &mut Graph, [a, ..]: [Value; 4], _: [u32; 2]) -> Value {
    let rounded = g.apply_immediate(Code::EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae, &[a], WAY);
    let number = g.apply(Code::EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae, &[rounded]);
    let bound = g.splat(2_147_483_648f32.to_bits());
    let above = g.compare_floats(Ordering::LessOrEqual, bound, rounded);
    let (most, zero) = (g.splat(i32::MAX as u32), g.splat(0));
    let number = g.select(above, most, number);
    let unordered = g.compare_floats(Ordering::Unordered, a, a);
    g.select(unordered, zero, number)
}

/// The same to an unsigned integer: the instruction gives ones for what lies above.
pub fn float_to_unsigned<const WAY: u8>(g: &mut Graph, [a, ..]: [Value; 4], _: [u32; 2]) -> Value {
    let rounded = g.apply_immediate(Code::EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae, &[a], WAY);
    let zero = g.splat(0);
    let positive = g.apply(Code::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae, &[rounded, zero]);
    g.apply(Code::EVEX_Vcvttps2udq_zmm_k1z_zmmm512b32_sae, &[positive])
}

recipes! {
    from_signed(g, a; _) g.apply(Code::EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er, &[a]);
    from_unsigned(g, a; _) g.apply(Code::EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er, &[a]);
    float_add_immediate(g, a; [n, _]) {
        let n = g.splat(n);
        let sum = g.apply(Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er, &[a, n]);
        g.rough(sum, Kind::Float)
    };
}

/// A subnormal becomes a zero of its sign.
fn flush(g: &mut Graph, value: Value) -> Value {
    let (exponent, sign) = (g.splat(0x7f80_0000), g.splat(SIGN));
    let (normal, zero) = (g.meets(value, exponent), g.and(value, sign));
    g.select(normal, value, zero)
}

/// `1 / a`, as [`Reciprocal`](super::super::float::Reciprocal).
pub fn float_reciprocal(g: &mut Graph, [a, ..]: [Value; 4], _: [u32; 2]) -> Value {
    let (a, one) = (flush(g, a), g.splat(1.0f32.to_bits()));
    let quotient = g.apply(Code::EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er, &[one, a]);
    let quotient = g.canonical(quotient);
    flush(g, quotient)
}

/// What was made of the f16 in the high half of a word, with its NaNs as they were.
fn widened(g: &mut Graph, raised: Value, wide: Value) -> Value {
    let (fields, ones) = (g.shift_by(Shifted::Arithmetic, raised, 3), g.splat(0x7000_0000));
    // Copies of the sign lie where the exponent needs ones; what lay below the half is cut off.
    let below = g.splat(!0x1fff);
    let nan = g.logic(BITS_WHERE_OR, fields, below, ones);
    let unordered = g.compare_floats(Ordering::Unordered, wide, wide);
    let exact = g.select(unordered, nan, wide);
    g.loosely(exact, wide)
}

/// `a & b | c`.
const BITS_WHERE_OR: u8 = 0b1110_1010;

recipes! {
    /// The f16 in the low half of a word as f32, every NaN as the one NaN.
    convert_low(g, a; _) {
        let halves = g.apply(Code::EVEX_Vpmovdw_ymmm256_k1z_zmm, &[a]);
        let wide = g.apply(Code::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae, &[halves]);
        g.rough(wide, Kind::Float)
    };
    /// The f16 in the low half of a word as f32. A NaN keeps its sign and payload, and stays signalling: the instruction
    /// would make it quiet.
    widen_low(g, a; _) {
        let wide = convert_low(g, [a; 4], [0; 2]);
        let raised = g.shift_by(Shifted::Left, a, 16);
        widened(g, raised, wide)
    };
    /// The f16 in the high half of a word as f32, as [`widen_low`].
    widen_high(g, a; _) {
        let low = g.shift_by(Shifted::Right, a, 16);
        let wide = convert_low(g, [low; 4], [0; 2]);
        widened(g, a, wide)
    };
    /// An f32 as f16 in the low half, to the nearest.
    narrow_low(g, a; _) {
        let a = g.canonical(a);
        let halves = g.apply_immediate(Code::EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae, &[a], 0);
        g.apply(Code::EVEX_Vpmovzxwd_zmm_k1z_ymmm256, &[halves])
    };
    /// The same in both halves.
    narrow_both(g, a; _) {
        let low = narrow_low(g, [a; 4], [0; 2]);
        let high = g.shift_by(Shifted::Left, low, 16);
        g.or(low, high)
    };
    /// Two f32 as f16.
    narrow_two(g, a, b; _) {
        let (low, high) = (narrow_low(g, [a; 4], [0; 2]), narrow_low(g, [b; 4], [0; 2]));
        let high = g.shift_by(Shifted::Left, high, 16);
        g.or(low, high)
    };
}

// Half precision. Elements do not leave their places when a register is taken apart into its low and its high half, and
// put together again, so it does not matter which of them make a word.

/// The sixteen low and the sixteen high f16 of a register as f32.
fn widen(g: &mut Graph, a: Value) -> [Value; 2] {
    let above = match g.constant(a) {
        Some(_) => a,
        None => g.apply_immediate(Code::EVEX_Vextracti32x8_ymmm256_k1z_zmm_imm8, &[a], 1),
    };
    [a, above].map(|part| g.apply(Code::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae, &[part]))
}

/// The reverse, rounded to the nearest.
fn narrow(g: &mut Graph, parts: [Value; 2]) -> Value {
    let [below, above] = parts.map(|part| g.apply_immediate(Code::EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae, &[part], 0));
    let both = g.apply_immediate(Code::EVEX_Vinserti32x8_zmm_k1z_zmm_ymmm256_imm8, &[below, above], 1);
    g.rough(both, Kind::Halves)
}

/// A source with the signs of both halves as `signs` says.
fn signed_halves(g: &mut Graph, value: Value, index: u32, signs: u32) -> Value {
    let flags = signs >> (2 * index);
    let sign = SIGN | 1 << 15;
    let value = if flags & 1 != 0 {
        let magnitude = g.splat(!sign);
        g.and(value, magnitude)
    } else {
        value
    };
    if flags & 2 != 0 {
        let sign = g.splat(sign);
        g.xor(value, sign)
    } else {
        value
    }
}

/// `a + b` on halves: single precision holds more than twice the digits, so that rounding twice is rounding once.
pub fn half_add(g: &mut Graph, [a, b, ..]: [Value; 4], [signs, _]: [u32; 2]) -> Value {
    let (a, b) = (signed_halves(g, a, 0, signs), signed_halves(g, b, 1, signs));
    let ([a, x], [b, y]) = (widen(g, a), widen(g, b));
    let sums = [(a, b), (x, y)].map(|(a, b)| g.apply(Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er, &[a, b]));
    narrow(g, sums)
}

/// `a · b + c` on halves. Of the two neighbours of the exact sum the odd one leaves the second rounding what it needs to
/// know; where both are the same, it is exact. The one below would be the wrong zero.
pub fn half_fma(g: &mut Graph, [a, b, c, _]: [Value; 4], [signs, _]: [u32; 2]) -> Value {
    let [a, b, c] = [(a, 0), (b, 1), (c, 2)].map(|(value, index)| signed_halves(g, value, index, signs));
    let ([a, x], [b, y], [c, z]) = (widen(g, a), widen(g, b), widen(g, c));
    let sums = [[a, b, c], [x, y, z]].map(|factors| {
        let code = Code::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er;
        let below = g.apply_rounded(code, &factors, RoundingControl::RoundDown);
        let above = g.apply_rounded(code, &factors, RoundingControl::RoundUp);
        let one = g.splat(1);
        let odd = g.meets(below, one);
        g.select(odd, below, above)
    });
    narrow(g, sums)
}

/// A number added to halves.
pub fn half_add_immediate(g: &mut Graph, [a, ..]: [Value; 4], [n, _]: [u32; 2]) -> Value {
    let n = g.splat(n);
    half_add(g, [a, n, n, n], [0; 2])
}

/// Tests of branches, in the names of their rules.
pub mod tests {
    use super::{Graph, Relation, Value};

    /// Any bit of the word.
    pub fn word(g: &mut Graph, word: Value) -> Value {
        g.meets(word, word)
    }

    /// Any bit of the low half.
    pub fn low(g: &mut Graph, word: Value) -> Value {
        let half = g.splat(0xffff);
        g.meets(word, half)
    }

    /// Any bit of the high half.
    pub fn high(g: &mut Graph, word: Value) -> Value {
        let half = g.splat(0xffff_0000);
        g.meets(word, half)
    }

    /// All bits.
    pub fn ones(g: &mut Graph, word: Value) -> Value {
        let ones = g.splat(u32::MAX);
        g.compare_unsigned(Relation::Equal, word, ones)
    }

    /// Some of the middle bits, but not all.
    pub fn middle(g: &mut Graph, word: Value) -> Value {
        let (bits, least, most) = (g.splat(0x1f_fff8), g.splat(8), g.splat(0x1f_fff8 - 8));
        let middle = g.and(word, bits);
        let above = g.subtract(middle, least);
        g.compare_unsigned(Relation::Less, above, most)
    }
}
