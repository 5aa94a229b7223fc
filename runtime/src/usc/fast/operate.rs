//! Operations on columns, each for all tasks of a bundle.

use std::marker::PhantomData;

use isaforge_usc::{Cndinst, Pcnd, Shift1Op, Shift2Op, SnglOp};

use crate::usc::flow::Ask;
use crate::usc::lanes::{HALF, LANES, Mask, ROWS, Rows, blend, holds};
use crate::usc::rules::{bits, float, special};

use super::bundle::Member;
use super::handler::{Body, Handler};
use super::pair::{Second, Twin};

/// How the sign of a float operand changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sign {
    pub clear: u32,
    pub flip: u32,
}

impl Sign {
    #[inline(always)]
    fn apply(self, bits: u32) -> u32 {
        (bits & !self.clear) ^ self.flip
    }
}

/// No column.
pub(super) const NOWHERE: u16 = u16::MAX;

/// An operation on columns, and what it works on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub handler: Handler,
    /// The columns that it reads.
    pub sources: [u16; 3],
    /// How many of them.
    pub reads: u8,
    /// The column that it writes, or [`NOWHERE`].
    pub to: u16,
    pub signs: [Sign; 3],
    /// A number that the handler knows how to use.
    pub number: u32,
    pub twin: Option<Twin>,
    /// The second operation of a pair.
    pub second: Second,
}

impl Op {
    /// The columns that it reads.
    pub fn read(&self) -> &[u16] {
        &self.sources[..usize::from(self.reads).min(3)]
    }
}

/// What an operation computes in a lane of up to three operands.
pub(super) trait Lane {
    const OPERANDS: u8;
    /// What two of them in a row are, if that is worth a handler.
    const TWIN: Option<Twin>;

    fn value(op: &Op, operands: [u32; 3]) -> u32;
}

/// A lane's operation on all lanes.
struct Lanes<L>(PhantomData<L>);

/// The number of a column as an index that needs no check.
#[inline(always)]
pub(super) fn row(number: u16) -> u16 {
    number & (ROWS - 1) as u16
}

/// Half of the lanes of a column, by value: what is written meanwhile does not change it.
pub(super) type Half = [u32; HALF];

/// What an operation gives for half of the lanes.
#[inline(always)]
pub(super) fn compute<L: Lane>(op: &Op, [a, b, c]: [Half; 3]) -> Half {
    let mut value = [0; HALF];
    for i in 0..HALF {
        value[i] = L::value(op, [a[i], b[i], c[i]]);
    }
    value
}

/// Writes half of the lanes of a column, as far as instances are active.
#[inline(always)]
pub(super) fn put<const WHOLE: bool>(columns: &mut Rows, to: u16, half: usize, value: &Half, active: Mask) {
    let to = columns.half_mut(to, half);
    if WHOLE {
        *to = *value;
        return;
    }
    let mask = active >> (half * HALF);
    // A blend and a whole store: a masked store would keep the next load waiting.
    for i in 0..HALF {
        let keep = if mask & 1 << i != 0 { 0 } else { u32::MAX };
        to[i] = (to[i] & keep) | (value[i] & !keep);
    }
}

impl<L: Lane> Lanes<L> {
    #[inline(always)]
    fn execute<const WHOLE: bool>(op: &Op, members: &mut [Member<'_>]) {
        let (sources, to) = (op.sources.map(row), row(op.to));
        for Member { task, active, .. } in members.iter_mut().filter(|member| WHOLE || member.active != 0) {
            let columns = &mut *task.columns;
            for half in 0..LANES / HALF {
                let value = compute::<L>(op, sources.map(|source| *columns.half(source, half)));
                put::<WHOLE>(columns, to, half, &value, *active);
            }
        }
    }
}

impl<L: Lane> Body for Lanes<L> {
    #[inline(always)]
    fn run(op: &Op, members: &mut [Member<'_>], whole: bool) {
        if whole { Self::execute::<true>(op, members) } else { Self::execute::<false>(op, members) }
    }
}

/// An operation of lanes.
pub(super) fn lanes<L: Lane>(sources: &[u16], to: u16) -> Op {
    let mut all = [0; 3];
    all[..sources.len()].copy_from_slice(sources);
    debug_assert_eq!(sources.len(), usize::from(L::OPERANDS));
    let handler = Handler::of::<Lanes<L>>();
    Op {
        handler,
        sources: all,
        reads: L::OPERANDS,
        to,
        signs: [Sign::default(); 3],
        number: 0,
        twin: L::TWIN,
        second: Second::default(),
    }
}

macro_rules! twin {
    () => {
        None
    };
    ($twin:ident) => {
        Some(Twin::$twin)
    };
}

macro_rules! lane_operations {
    ($($(#[$doc:meta])* $name:ident $operands:literal $($twin:ident)? |$op:pat_param, $values:pat_param| $value:expr;)*) => { $(
        $(#[$doc])*
        pub(super) struct $name;
        impl Lane for $name {
            const OPERANDS: u8 = $operands;
            const TWIN: Option<Twin> = twin!($($twin)?);

            #[inline(always)]
            fn value($op: &Op, $values: [u32; 3]) -> u32 {
                $value
            }
        }
    )* };
}

lane_operations! {
    Move 1 |_, [a, ..]| a;
    Mad 3 Mad |_, [a, b, c]| float::mad(a, b, c);
    Add 2 Add |_, [a, b, _]| float::add(a, b);
    Mul 2 Mul |_, [a, b, _]| float::mul(a, b);
    // The same with signs changed first.
    MoveSigned 1 |op, [a, ..]| op.signs[0].apply(a);
    MadSigned 3 |op, [a, b, c]| float::mad(op.signs[0].apply(a), op.signs[1].apply(b), op.signs[2].apply(c));
    AddSigned 2 |op, [a, b, _]| float::add(op.signs[0].apply(a), op.signs[1].apply(b));
    MulSigned 2 |op, [a, b, _]| float::mul(op.signs[0].apply(a), op.signs[1].apply(b));
    Floor 1 |_, [a, ..]| float::Modifiers { floor: true, abs: false, neg: false }.apply(a);
    Saturate 1 |_, [a, ..]| float::saturate(a);
    Reciprocal 1 |_, [a, ..]| unary(SnglOp::Rcp, a);
    ReciprocalRoot 1 |_, [a, ..]| unary(SnglOp::Rsq, a);
    Logarithm 1 |_, [a, ..]| unary(SnglOp::Log, a);
    Power 1 |_, [a, ..]| unary(SnglOp::Exp, a);
    Arctangent 1 |_, [a, ..]| unary(SnglOp::Arctanc, a);
    /// The low word of an integer product and sum.
    MadInteger 3 MadInteger |_, [a, b, c]| a.wrapping_mul(b).wrapping_add(c);
    Absolute 1 |_, [a, ..]| (a as i32).wrapping_abs() as u32;
    Negate 1 |_, [a, ..]| a.wrapping_neg();
    Or 2 |_, [a, b, _]| a | b;
    And 2 |_, [a, b, _]| a & b;
    Xor 2 |_, [a, b, _]| a ^ b;
    Nor 2 |_, [a, b, _]| !(a | b);
    Nand 2 |_, [a, b, _]| !(a & b);
    Xnor 2 |_, [a, b, _]| !(a ^ b);
    AndNot 2 |_, [a, b, _]| a & !b;
    Left 2 |_, [a, b, _]| a << (b & 31);
    Right 2 |_, [a, b, _]| a >> (b & 31);
    RightSigned 2 |_, [a, b, _]| (a as i32 >> (b & 31)) as u32;
    Rotate 2 |_, [a, b, _]| a.rotate_left(b & 31);
    /// Shifts right with the sign in the bit that the third operand says.
    RightFrom 3 |_, [a, b, c]| bits::second_shift(Shift2Op::AsrMtb, a, b, c, 0, false);
    Reverse 1 |_, [a, ..]| a.reverse_bits();
    Shuffle 2 |_, [a, b, _]| bits::first_shift(Shift1Op::Shfl, a, b);
    BitMask 2 |_, [width, at, _]| bits::mask(width, at).1;
    BitMaskTop 2 |_, [width, at, _]| bits::mask(width, at).0;
    Ones 1 |_, [a, ..]| a.count_ones();
    TopBit 1 |_, [a, ..]| bits::top_bit(a);
    TopBitSigned 1 |_, [a, ..]| bits::top_bit_signed(a);
    TopBitFromTop 1 |_, [a, ..]| bits::top_bit_from_top(a);
    /// The second where the first is ones, the third where it is zeros.
    Select 3 |_, [mask, a, b]| (a & mask) | (b & !mask);
    /// As `Select`, with a mask that is the same everywhere.
    SelectBytes 2 |op, [a, b, _]| (a & op.number) | (b & !op.number);
}

#[inline(always)]
fn unary(op: SnglOp, bits: u32) -> u32 {
    special::unary(op, bits).unwrap_or(bits)
}

/// A relation of two words.
pub(super) trait Relation {
    fn holds(a: u32, b: u32) -> bool;
}

/// Ones where a relation holds, zeros elsewhere.
pub(super) struct Found<R>(PhantomData<R>);

impl<R: Relation> Lane for Found<R> {
    const OPERANDS: u8 = 2;
    const TWIN: Option<Twin> = None;

    #[inline(always)]
    fn value(_: &Op, [a, b, _]: [u32; 3]) -> u32 {
        if R::holds(a, b) { u32::MAX } else { 0 }
    }
}

/// P0 says whether a relation holds.
struct Predicate<R>(PhantomData<R>);

impl<R: Relation> Body for Predicate<R> {
    #[inline(always)]
    fn run(op: &Op, members: &mut [Member<'_>], _: bool) {
        let [x, y, _] = op.sources.map(row);
        for Member { task, active, .. } in members {
            let found = holds(task.columns.at(x), task.columns.at(y), R::holds);
            task.predicate = (task.predicate & !*active) | (found & *active);
        }
    }
}

/// A test of two columns: ones where it holds, and what sets P0.
pub(super) fn relation<R: Relation>(a: u16, b: u16, to: u16) -> [Op; 2] {
    let found = lanes::<Found<R>>(&[a, b], to);
    [found, Op { handler: Handler::of::<Predicate<R>>(), to: NOWHERE, ..found }]
}

macro_rules! relations {
    ($($name:ident |$a:pat_param, $b:pat_param| $holds:expr;)*) => { $(
        pub(super) struct $name;
        impl Relation for $name {
            #[inline(always)]
            fn holds($a: u32, $b: u32) -> bool {
                $holds
            }
        }
    )* };
}

relations! {
    Equal |a, b| a == b;
    NotEqual |a, b| a != b;
    Above |a, b| a > b;
    AboveOrEqual |a, b| a >= b;
    Below |a, b| a < b;
    BelowOrEqual |a, b| a <= b;
    Greater |a, b| a as i32 > b as i32;
    GreaterOrEqual |a, b| a as i32 >= b as i32;
    Less |a, b| (a as i32) < b as i32;
    LessOrEqual |a, b| a as i32 <= b as i32;
    FloatEqual |a, b| f32::from_bits(a) == f32::from_bits(b);
    FloatNotEqual |a, b| f32::from_bits(a) != f32::from_bits(b);
    FloatGreater |a, b| f32::from_bits(a) > f32::from_bits(b);
    FloatGreaterOrEqual |a, b| f32::from_bits(a) >= f32::from_bits(b);
    FloatLess |a, b| f32::from_bits(a) < f32::from_bits(b);
    FloatLessOrEqual |a, b| f32::from_bits(a) <= f32::from_bits(b);
}

/// A conditional instruction; `number` is what counters change by.
struct Conditional<C>(PhantomData<C>);

/// Which one, and its condition.
trait Condition {
    const INSTRUCTION: Cndinst;
    const WHEN: Pcnd;
}

impl<C: Condition> Body for Conditional<C> {
    #[inline(always)]
    fn run(op: &Op, members: &mut [Member<'_>], _: bool) {
        let ([counters, values, _], to) = (op.sources.map(row), row(op.to));
        for Member { task, active, .. } in members {
            if *active == 0 {
                continue;
            }
            let condition = match C::WHEN {
                Pcnd::Always => Mask::MAX,
                Pcnd::P0True => task.predicate,
                Pcnd::Never => 0,
                Pcnd::P0False => !task.predicate,
            };
            let someone_loops = condition & task.running & *active != 0;
            let (counter, value) = (task.columns.at(counters), task.columns.at(values));
            let (mut result, mut runs) = ([0; LANES], [0; LANES]);
            for i in 0..LANES {
                let holds = condition >> i & 1 != 0;
                let ask = Ask {
                    holds,
                    counter: counter[i],
                    value: value[i],
                    adjust: op.number,
                    someone_loops,
                    is_chosen: false,
                };
                let (counter, goes) = ask.answer(C::INSTRUCTION);
                (result[i], runs[i]) = (counter, u32::from(goes));
            }
            let running = holds(&runs, &runs, |runs, _| runs != 0);
            task.running = (task.running & !*active) | (running & *active);
            if C::INSTRUCTION == Cndinst::Lt {
                let all = if someone_loops { Mask::MAX } else { 0 };
                task.predicate = (task.predicate & !*active) | (all & *active);
            }
            blend(task.columns.at_mut(to), &result, *active);
        }
    }
}

macro_rules! conditions {
    ($($instruction:ident: $($name:ident $when:ident),*;)*) => {
        $($(
            struct $name;
            impl Condition for $name {
                const INSTRUCTION: Cndinst = Cndinst::$instruction;
                const WHEN: Pcnd = Pcnd::$when;
            }
        )*)*

        /// The handler of a conditional instruction; those that concern the link register have none.
        pub(super) fn conditional(instruction: Cndinst, when: Pcnd) -> Option<Handler> {
            match (instruction, when) {
                $($((Cndinst::$instruction, Pcnd::$when) => Some(Handler::of::<Conditional<$name>>()),)*)*
                _ => None,
            }
        }
    };
}

conditions! {
    St: StAlways Always, StTrue P0True, StNever Never, StFalse P0False;
    Ef: EfAlways Always, EfTrue P0True, EfNever Never, EfFalse P0False;
    Sm: SmAlways Always, SmTrue P0True, SmNever Never, SmFalse P0False;
    Lt: LtAlways Always, LtTrue P0True, LtNever Never, LtFalse P0False;
    End: EndAlways Always, EndTrue P0True, EndNever Never, EndFalse P0False;
}
