//! Which handlers execute an instruction. What is missing here is executed by the reference.
//!
//! Modifiers of sources that handlers do not know become handlers of their own, which write to scratch rows; on constants
//! and uniforms they are applied at once.

use isaforge_core::Unimplemented;
use isaforge_valhall::{
    self as v, Clamp, Combine, Condition, FauSpecialPage0, FauSpecialPage1, FauSpecialPage3, Lanes8Bit, LoadLane32Bit,
    Mux, Register, RegisterList, ResultType, RoundMode, Semantics, Source, Swizzles16Bit, Swizzles16BitFirst4,
    Swizzles32Bit, Swizzles64Bit, Widen, WrittenHalf,
};

use super::super::program::register;
use super::super::source::descriptor;
use super::super::space;
use super::bundle::{Branch, Test, tests};
use super::code::{Constants, Exit, row};
use super::handler::{Body, Fields, Handler, handler};
use super::integer::{logic, shift};
use super::op::Op;
use super::rule::{Long, LongRule, Rule, Word};
use super::{float, half, integer};
use crate::exec::vector::exact::Exact;
use crate::level::Level;

/// Whether there are handlers for an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Lowered(pub Option<Exit>);

impl From<Unimplemented> for Lowered {
    fn from(_: Unimplemented) -> Self {
        Lowered(None)
    }
}

const NEXT: Lowered = Lowered(Some(Exit::Next));

/// Where a handler finds a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operand {
    Row(u32),
    Value(u32),
}

/// A source with signs that its handler applies: bit 0 takes the magnitude, bit 1 negates.
#[derive(Clone, Copy, Debug)]
struct Signed(Operand, u32);

/// The handlers so far.
#[derive(Debug)]
pub struct Lowering<'a> {
    level: Level,
    uniforms: &'a [u32],
    warps: u32,
    words: u32,
    /// The special value; 0 without a host.
    pub framebuffer_size: u64,
    pc: u32,
    pub ops: Vec<Op>,
    pub constants: Constants,
    /// Registers that handlers may read before they are written.
    pub registers: u64,
    /// Whether all threads execute every word so far.
    straight: bool,
    /// Registers that such words have written.
    pub written: u64,
    /// What operations on rows look up.
    pub exact: Vec<Exact>,
    /// The rows of stores with many words.
    pub stored: Vec<u16>,
}

/// What there was before a word.
#[derive(Clone, Copy, Debug)]
pub struct Before {
    /// How many handlers.
    pub ops: usize,
    written: u64,
}

impl<'a> Lowering<'a> {
    /// For a program of `words` words and workgroups of `warps` warps.
    pub fn new(level: Level, uniforms: &'a [u32], warps: u32, words: u32) -> Self {
        let constants = Constants::default();
        let ops = Vec::with_capacity(words as usize);
        Lowering {
            level,
            uniforms,
            warps,
            words,
            framebuffer_size: 0,
            pc: 0,
            ops,
            constants,
            registers: 0,
            straight: true,
            written: 0,
            exact: Vec::new(),
            stored: Vec::new(),
        }
    }

    /// Turns to a word.
    #[inline(always)]
    pub fn begin(&mut self, pc: u32) -> Before {
        self.pc = pc;
        Before { ops: self.ops.len(), written: self.written }
    }

    /// What follows a word, after which threads may end; handlers of a word that cannot be lowered after all are taken
    /// back.
    #[inline(always)]
    pub fn finish(&mut self, before: Before, ends: bool, Lowered(exit): Lowered) -> Option<Exit> {
        let exit = match exit {
            Some(Exit::Next) if !ends => return exit,
            Some(Exit::Next) => Some(Exit::End),
            Some(Exit::Barrier) => exit,
            Some(_) if !ends => exit,
            _ => {
                self.ops.truncate(before.ops);
                self.written = before.written;
                None
            }
        };
        self.straight = false;
        exit
    }

    #[inline(always)]
    fn emit<B: Body>(&mut self, dest: u32, sources: &[Operand], numbers: [u32; 2]) {
        self.push(handler::<B>(self.level), dest, sources, numbers);
    }

    /// Inlined, so that the number of sources is known.
    #[inline(always)]
    fn push(&mut self, handler: Handler, dest: u32, sources: &[Operand], numbers: [u32; 2]) {
        if let Some(from) = sources.first_chunk::<4>() {
            self.push_with(handler, dest, from, numbers);
        } else if let Some(from) = sources.first_chunk::<3>() {
            self.push_with(handler, dest, from, numbers);
        } else if let Some(from) = sources.first_chunk::<2>() {
            self.push_with(handler, dest, from, numbers);
        } else if let Some(from) = sources.first_chunk::<1>() {
            self.push_with(handler, dest, from, numbers);
        } else {
            self.push_with(handler, dest, &[], numbers);
        }
    }

    #[inline(never)]
    fn push_with<const N: usize>(&mut self, handler: Handler, dest: u32, from: &[Operand; N], numbers: [u32; 2]) {
        // Calls, of which nothing comes back here, leave the usual way without anything to be saved.
        if self.ops.len() == self.ops.capacity() {
            return self.push_slowly(handler, dest, from, numbers);
        }
        let (mut sources, mut read) = ([row::RESULT; 4], registers(dest, handler.reads()));
        for (source, operand) in sources.iter_mut().zip(from) {
            *source = match *operand {
                Operand::Row(row) => {
                    read |= registers(row, 1);
                    row
                }
                Operand::Value(word) => match self.constants.known(word) {
                    Some(row) => row,
                    None => return self.push_slowly(handler, dest, from, numbers),
                },
            };
        }
        self.registers |= read & !self.written;
        if self.straight {
            self.written |= registers(dest, handler.writes());
        }
        self.ops.push(Op::Call(handler.with(Fields { dest, sources, numbers, pc: self.pc })));
    }

    /// As [`Lowering::push_with`], when there is no room or a row for a constant yet.
    #[cold]
    #[inline(never)]
    fn push_slowly<const N: usize>(&mut self, handler: Handler, dest: u32, from: &[Operand; N], numbers: [u32; 2]) {
        self.ops.reserve(1);
        let rows = from.map(|operand| match operand {
            Operand::Row(_) => operand,
            Operand::Value(word) => Operand::Row(self.constants.row(word)),
        });
        self.push_with(handler, dest, &rows, numbers);
    }

    // Sources.

    /// A 64-bit source: its low and its high word.
    fn pair(&mut self, source: Source) -> Option<[Operand; 2]> {
        let value = |value: u64| [Operand::Value(value as u32), Operand::Value((value >> 32) as u32)];
        Some(match source {
            Source::Uniform(u) => [u.index(), u.index() + 1].map(|index| Operand::Value(self.uniform(index))),
            Source::Constant(c) => value(c.value()),
            Source::Special0 { name: FauSpecialPage0::WarpId, .. } => {
                [Operand::Row(row::WARP), Operand::Value(self.warps.saturating_sub(1))]
            }
            Source::Special0 { name: FauSpecialPage0::FramebufferSize, .. } => value(self.framebuffer_size),
            Source::Special0 { name, .. } => value(descriptor(name)),
            Source::Special1 { name, .. } => match name {
                FauSpecialPage1::ThreadLocalPointer => [Operand::Row(row::THREAD), Operand::Row(row::THREAD + 1)],
                FauSpecialPage1::WorkgroupLocalPointer => value(space::WORKGROUP),
                FauSpecialPage1::ResourceTablePointer => value(0),
            },
            Source::Special3 { name, .. } => match name {
                FauSpecialPage3::LaneId => [Operand::Row(row::LANE), Operand::Value(0)],
                FauSpecialPage3::CoreId => value(0),
                // Every word has its own, so it is no constant to keep a row for.
                FauSpecialPage3::ProgramCounter => {
                    let bytes = 8 * u64::from(self.pc);
                    self.emit::<Word<integer::Number>>(row::COUNTER, &[], [bytes as u32, 0]);
                    [Operand::Row(row::COUNTER), Operand::Value((bytes >> 32) as u32)]
                }
            },
            _ => {
                let low = register(source)? as u32;
                let next = low + 1;
                [Operand::Row(low), if next < row::REGISTERS { Operand::Row(next) } else { Operand::Value(0) }]
            }
        })
    }

    /// A 32-bit source.
    #[inline(always)]
    fn word(&mut self, source: Source) -> Option<Operand> {
        match source {
            Source::Register(register) | Source::LastUse(register) => Some(Operand::Row(register.index() as u32)),
            _ => self.given(source),
        }
    }

    /// A 32-bit source that is no register.
    #[inline(never)]
    fn given(&mut self, source: Source) -> Option<Operand> {
        match source {
            Source::Uniform(uniform) => Some(Operand::Value(self.uniform(uniform.index()))),
            Source::Constant(constant) => Some(Operand::Value(constant.value() as u32)),
            _ => self.special(source),
        }
    }

    /// A word of a special value.
    #[inline(never)]
    fn special(&mut self, source: Source) -> Option<Operand> {
        match source {
            Source::Special0 { word, .. } | Source::Special1 { word, .. } | Source::Special3 { word, .. } => {
                Some(self.pair(source)?[usize::from(word & 1)])
            }
            _ => None,
        }
    }

    fn uniform(&self, index: usize) -> u32 {
        self.uniforms.get(index).copied().unwrap_or(0)
    }

    /// A source after a rule of its own; `index` says whose scratch row it may use.
    fn prepare<R: Rule>(&mut self, index: u32, operand: Operand, numbers: [u32; 2]) -> Operand {
        match operand {
            Operand::Value(word) => Operand::Value(R::lane([word, 0, 0, 0], numbers)),
            Operand::Row(_) => {
                let to = row::SCRATCH + 2 * index;
                self.emit::<Word<R>>(to, &[operand], numbers);
                Operand::Row(to)
            }
        }
    }

    /// A part of a source: `bits` of them from `at` on.
    fn part(&mut self, index: u32, operand: Operand, at: u32, bits: u32, sign: bool) -> Operand {
        let numbers = [32 - bits - at, 32 - bits];
        if sign {
            self.prepare::<integer::Signed>(index, operand, numbers)
        } else {
            self.prepare::<integer::Unsigned>(index, operand, numbers)
        }
    }

    #[inline(always)]
    fn float(&mut self, index: u32, source: Source, widen: Widen, abs: bool, neg: bool) -> Option<Signed> {
        let word = self.word(source)?;
        let word = if widen == Widen::None { word } else { self.widened(index, word, widen == Widen::H1) };
        Some(Signed::new::<float::Sign>(word, abs, neg))
    }

    #[inline(never)]
    fn widened(&mut self, index: u32, word: Operand, high: bool) -> Operand {
        if high {
            self.prepare::<float::WidenHigh>(index, word, [0; 2])
        } else {
            self.prepare::<float::WidenLow>(index, word, [0; 2])
        }
    }

    #[inline(always)]
    fn halves(
        &mut self,
        index: u32,
        source: Source,
        swizzle: Swizzles16BitFirst4,
        abs: bool,
        neg: bool,
    ) -> Option<Signed> {
        let word = self.word(source)?;
        let whole = swizzle == Swizzles16BitFirst4::H01;
        let word = if whole { word } else { self.swizzled(index, word, swizzle) };
        Some(Signed::new::<half::Sign>(word, abs, neg))
    }

    #[inline(never)]
    fn swizzled(&mut self, index: u32, word: Operand, swizzle: Swizzles16BitFirst4) -> Operand {
        match swizzle {
            Swizzles16BitFirst4::H01 => word,
            Swizzles16BitFirst4::H00 => self.prepare::<half::Low>(index, word, [0; 2]),
            Swizzles16BitFirst4::H10 => self.prepare::<half::Swapped>(index, word, [0; 2]),
            Swizzles16BitFirst4::H11 => self.prepare::<half::High>(index, word, [0; 2]),
        }
    }

    /// A source whose handler knows no signs.
    fn settle<S: Rule>(&mut self, index: u32, Signed(operand, signs): Signed) -> Operand {
        if signs == 0 { operand } else { self.prepare::<S>(index, operand, [signs, 0]) }
    }

    #[inline(always)]
    fn integer(&mut self, index: u32, source: Source, widen: Swizzles32Bit, sign: bool) -> Option<Operand> {
        let word = self.word(source)?;
        Some(if widen == Swizzles32Bit::None { word } else { self.extended(index, word, widen, sign) })
    }

    #[inline(never)]
    fn extended(&mut self, index: u32, word: Operand, widen: Swizzles32Bit, sign: bool) -> Operand {
        let (at, bits) = match widen {
            Swizzles32Bit::None => return word,
            Swizzles32Bit::H0 => (0, 16),
            Swizzles32Bit::H1 => (16, 16),
            Swizzles32Bit::B0 => (0, 8),
            Swizzles32Bit::B1 => (8, 8),
            Swizzles32Bit::B2 => (16, 8),
            Swizzles32Bit::B3 => (24, 8),
        };
        self.part(index, word, at, bits, sign)
    }

    #[inline(always)]
    fn shorts(&mut self, index: u32, source: Source, widen: Swizzles16Bit, sign: bool) -> Option<Operand> {
        let word = self.word(source)?;
        Some(if widen == Swizzles16Bit::H01 { word } else { self.extended_shorts(index, word, widen, sign) })
    }

    #[inline(never)]
    fn extended_shorts(&mut self, index: u32, word: Operand, widen: Swizzles16Bit, sign: bool) -> Operand {
        let (low, high) = match widen {
            Swizzles16Bit::H01 => return word,
            Swizzles16Bit::H00 => return self.prepare::<half::Low>(index, word, [0; 2]),
            Swizzles16Bit::H10 => return self.prepare::<half::Swapped>(index, word, [0; 2]),
            Swizzles16Bit::H11 => return self.prepare::<half::High>(index, word, [0; 2]),
            Swizzles16Bit::B00 => (0, 0),
            Swizzles16Bit::B20 => (2, 0),
            Swizzles16Bit::B02 => (0, 2),
            Swizzles16Bit::B22 => (2, 2),
            Swizzles16Bit::B11 => (1, 1),
            Swizzles16Bit::B31 => (3, 1),
            Swizzles16Bit::B13 => (1, 3),
            Swizzles16Bit::B33 => (3, 3),
            Swizzles16Bit::B01 => (0, 1),
            Swizzles16Bit::B23 => (2, 3),
        };
        let numbers = [8 * low, 8 * high];
        if sign {
            self.prepare::<integer::SignedBytes>(index, word, numbers)
        } else {
            self.prepare::<integer::UnsignedBytes>(index, word, numbers)
        }
    }

    fn long(&mut self, index: u32, source: Source, widen: Swizzles64Bit, sign: bool) -> Option<[Operand; 2]> {
        let (at, bits) = match widen {
            Swizzles64Bit::None => return self.pair(source),
            Swizzles64Bit::W0 => (0, 32),
            Swizzles64Bit::H0 => (0, 16),
            Swizzles64Bit::H1 => (16, 16),
            Swizzles64Bit::B0 => (0, 8),
            Swizzles64Bit::B1 => (8, 8),
            Swizzles64Bit::B2 => (16, 8),
            Swizzles64Bit::B3 => (24, 8),
        };
        let word = self.word(source)?;
        if !sign && bits == 32 {
            return Some([word, Operand::Value(0)]);
        }
        let numbers = [64 - bits - at, 64 - bits];
        Some(if sign {
            self.prepare_long::<integer::Extend<true>>(index, word, numbers)
        } else {
            self.prepare_long::<integer::Extend<false>>(index, word, numbers)
        })
    }

    fn prepare_long<R: LongRule>(&mut self, index: u32, operand: Operand, numbers: [u32; 2]) -> [Operand; 2] {
        match operand {
            Operand::Value(word) => {
                let value = R::lane([word, 0, 0, 0], numbers);
                [Operand::Value(value as u32), Operand::Value((value >> 32) as u32)]
            }
            Operand::Row(_) => {
                let to = row::SCRATCH + 2 * index;
                self.emit::<Long<R>>(to, &[operand], numbers);
                [Operand::Row(to), Operand::Row(to + 1)]
            }
        }
    }

    /// An f32 source, limited.
    fn limited(&mut self, index: u32, operand: Operand, limit: Clamp) -> Operand {
        match limit {
            Clamp::None => operand,
            Clamp::Clamp0Inf => self.prepare::<float::Limit<{ float::limit::POSITIVE }>>(index, operand, [0; 2]),
            Clamp::ClampM1_1 => self.prepare::<float::Limit<{ float::limit::SIGNED }>>(index, operand, [0; 2]),
            Clamp::Clamp0_1 => self.prepare::<float::Limit<{ float::limit::UNIT }>>(index, operand, [0; 2]),
        }
    }

    // Results.

    /// A result as it is, into a register or the halves of one that are written.
    #[inline(always)]
    fn put<R: Rule>(&mut self, dest: Register, half: WrittenHalf, sources: &[Operand], numbers: [u32; 2]) -> Lowered {
        let handler = handler::<Word<R>>(self.level);
        if half == WrittenHalf::Both {
            self.push(handler, dest.index() as u32, sources, numbers);
            return NEXT;
        }
        self.put_part(handler, dest, half, sources, numbers)
    }

    #[inline(never)]
    fn put_part(
        &mut self,
        handler: Handler,
        dest: Register,
        half: WrittenHalf,
        sources: &[Operand],
        numbers: [u32; 2],
    ) -> Lowered {
        let to = if half == WrittenHalf::Both { dest.index() as u32 } else { row::RESULT };
        self.push(handler, to, sources, numbers);
        self.merge(dest, half)
    }

    /// An f32, limited; half a register takes it as an f16.
    #[inline(always)]
    fn put_float<R: Rule>(
        &mut self,
        dest: Register,
        half: WrittenHalf,
        limit: Clamp,
        sources: &[Operand],
        numbers: [u32; 2],
    ) -> Lowered {
        let handler = handler::<Word<R>>(self.level);
        if half == WrittenHalf::Both && limit == Clamp::None {
            self.push(handler, dest.index() as u32, sources, numbers);
            return NEXT;
        }
        self.put_limited(handler, dest, half, limit, sources, numbers)
    }

    #[inline(never)]
    fn put_limited(
        &mut self,
        handler: Handler,
        dest: Register,
        half: WrittenHalf,
        limit: Clamp,
        sources: &[Operand],
        numbers: [u32; 2],
    ) -> Lowered {
        let to = if half == WrittenHalf::Both { dest.index() as u32 } else { row::RESULT };
        self.push(handler, to, sources, numbers);
        let there = [Operand::Row(to)];
        match limit {
            Clamp::None => {}
            Clamp::Clamp0Inf => self.emit::<Word<float::Limit<{ float::limit::POSITIVE }>>>(to, &there, [0; 2]),
            Clamp::ClampM1_1 => self.emit::<Word<float::Limit<{ float::limit::SIGNED }>>>(to, &there, [0; 2]),
            Clamp::Clamp0_1 => self.emit::<Word<float::Limit<{ float::limit::UNIT }>>>(to, &there, [0; 2]),
        }
        if half == WrittenHalf::Both {
            return NEXT;
        }
        self.emit::<Word<float::NarrowBoth>>(to, &there, [0; 2]);
        self.merge(dest, half)
    }

    /// Two f16, limited.
    #[inline(always)]
    fn put_halves<R: Rule>(
        &mut self,
        dest: Register,
        half: WrittenHalf,
        limit: Clamp,
        sources: &[Operand],
        numbers: [u32; 2],
    ) -> Lowered {
        let handler = handler::<Word<R>>(self.level);
        if half == WrittenHalf::Both && limit == Clamp::None {
            self.push(handler, dest.index() as u32, sources, numbers);
            return NEXT;
        }
        self.put_limited_halves(handler, dest, half, limit, sources, numbers)
    }

    #[inline(never)]
    fn put_limited_halves(
        &mut self,
        handler: Handler,
        dest: Register,
        half: WrittenHalf,
        limit: Clamp,
        sources: &[Operand],
        numbers: [u32; 2],
    ) -> Lowered {
        let to = if half == WrittenHalf::Both { dest.index() as u32 } else { row::RESULT };
        self.push(handler, to, sources, numbers);
        let there = [Operand::Row(to)];
        match limit {
            Clamp::None => {}
            Clamp::Clamp0Inf => self.emit::<Word<half::Limit<{ float::limit::POSITIVE }>>>(to, &there, [0; 2]),
            Clamp::ClampM1_1 => self.emit::<Word<half::Limit<{ float::limit::SIGNED }>>>(to, &there, [0; 2]),
            Clamp::Clamp0_1 => self.emit::<Word<half::Limit<{ float::limit::UNIT }>>>(to, &there, [0; 2]),
        }
        self.merge(dest, half)
    }

    /// Puts the halves that are written in their place, if not both are there.
    fn merge(&mut self, dest: Register, half: WrittenHalf) -> Lowered {
        self.merge_row(row::RESULT, dest.index() as u32, half);
        NEXT
    }

    fn merge_row(&mut self, from: u32, dest: u32, half: WrittenHalf) {
        let merged = [Operand::Row(from), Operand::Row(dest)];
        match half {
            WrittenHalf::Both => {}
            WrittenHalf::H0 => self.emit::<Word<half::MergeLow>>(dest, &merged, [0; 2]),
            WrittenHalf::H1 => self.emit::<Word<half::MergeHigh>>(dest, &merged, [0; 2]),
        }
    }

    /// 64 bits into a pair of registers, or the halves of both that are written.
    #[inline(always)]
    fn put_long<R: LongRule>(
        &mut self,
        dest: Register,
        half: WrittenHalf,
        sources: &[Operand],
        numbers: [u32; 2],
    ) -> Lowered {
        let handler = handler::<Long<R>>(self.level);
        if half == WrittenHalf::Both {
            self.push(handler, dest.index() as u32, sources, numbers);
            return NEXT;
        }
        self.put_long_part(handler, dest, half, sources, numbers)
    }

    #[inline(never)]
    fn put_long_part(
        &mut self,
        handler: Handler,
        dest: Register,
        half: WrittenHalf,
        sources: &[Operand],
        numbers: [u32; 2],
    ) -> Lowered {
        let to = if half == WrittenHalf::Both { dest.index() as u32 } else { row::RESULT };
        self.push(handler, to, sources, numbers);
        for word in 0..2 {
            self.merge_row(row::RESULT + word, dest.index() as u32 + word, half);
        }
        NEXT
    }

    // Families.

    fn branch<T: Test>(&mut self, source: Operand, target: u32, if_zero: bool) -> Lowered {
        if let Operand::Value(word) = source {
            return Lowered(Some(if T::holds(word) == if_zero { Exit::Next } else { Exit::Jump(target) }));
        }
        let inverted = if if_zero { u32::MAX } else { 0 };
        self.emit::<Branch<T>>(row::RESULT, &[source], [target, inverted]);
        Lowered(Some(Exit::Branch(target)))
    }
}

/// The registers among rows, which are bits from a first one on.
#[inline(always)]
fn registers(first: u32, rows: u64) -> u64 {
    if first < row::REGISTERS { rows << first } else { 0 }
}

/// Ones for a flag that is set.
fn ones(flag: bool) -> u32 {
    if flag { u32::MAX } else { 0 }
}

impl Signed {
    /// Constants get their signs at once.
    fn new<S: Rule>(operand: Operand, abs: bool, neg: bool) -> Self {
        let signs = u32::from(abs) | u32::from(neg) << 1;
        match operand {
            Operand::Value(word) => Signed(Operand::Value(S::lane([word, 0, 0, 0], [signs, 0])), 0),
            Operand::Row(_) => Signed(operand, signs),
        }
    }
}

mod cover;
#[macro_use]
mod macros;
mod memory;
mod semantics;
