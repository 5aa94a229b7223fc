//! The built-in functions of the language.
//!
//! Each is one operation of `isaforge_core::semantics`, or a few. The reference prints [`BUILTINS`].

mod special;

use isaforge_core::float::Round;
use isaforge_core::semantics::{AtomicOp, Class, Comparison, NONE, Op, Type};

use super::build::{Builder, Stop};
use super::scope::Parameter;
use super::syntax::{Expr, ExprKind};
use super::value::Value;
use crate::diagnostic::Diagnostic;
use crate::source::{Span, Spanned};
use crate::suggest::did_you_mean;

/// Parses the name of a rounding.
pub(super) fn rounding(name: &str) -> Option<Round> {
    Some(match name {
        "rne" => Round::NearestEven,
        "rtp" => Round::Up,
        "rtn" => Round::Down,
        "rtz" => Round::Zero,
        "rna" => Round::Away,
        _ => return None,
    })
}

fn immediate(round: Round) -> u16 {
    match round {
        Round::NearestEven => 0,
        Round::Up => 1,
        Round::Down => 2,
        Round::Zero => 3,
        Round::Away => 4,
    }
}

/// The parameters of a built-in function.
#[derive(Clone, Copy, Debug)]
enum Takes {
    /// Values of one type, which is also that of the result; numbers of any type.
    Same(Op, usize),
    /// The same, for integers only.
    Integers(Op, usize),
    /// The same, for floats only, optionally followed by a rounding.
    Floats(Op, usize),
    /// A value and a count.
    Count(Op),
    /// A type and a value to convert.
    Converts(Op),
    /// Two values to compare.
    Compares(Comparison),
    /// Arithmetic with a rounding.
    Rounded(Op),
    /// A special form.
    Own(Own),
}

#[derive(Clone, Copy, Debug)]
enum Own {
    Cvt,
    Widen,
    Ldexp,
    FmaScaled,
    Select,
    Sum,
    Any,
    AllOf,
    Concat,
    Splat,
    IsNan,
    Permute,
    Ballot,
    Bits,
    Read,
    Load,
    LoadPart,
    Store,
    StorePart,
    Atomic(AtomicOp),
    CompareExchange,
    Branch,
    Barrier,
    End,
    Fault,
}

/// A built-in function.
pub struct Builtin {
    /// Its name.
    pub name: &'static str,
    /// Its signature.
    pub call: &'static str,
    /// Its result or effect.
    pub doc: &'static str,
    takes: Takes,
}

macro_rules! builtins {
    ($( $name:literal $call:literal $takes:expr, $doc:literal; )*) => {
        /// All built-in functions.
        pub const BUILTINS: &[Builtin] = &[$( Builtin { name: $name, call: $call, doc: $doc, takes: $takes } ),*];
    };
}

builtins! {
    "abs" "abs(x)" Takes::Same(Op::Abs, 1), "Magnitude; a float loses its sign bit.";
    "min" "min(a, b)" Takes::Same(Op::Min, 2), "The lesser; -0 is less than +0, a NaN loses.";
    "max" "max(a, b)" Takes::Same(Op::Max, 2), "The greater; +0 is greater than -0, a NaN loses.";
    "mulhi" "mulhi(a, b)" Takes::Integers(Op::MulHigh, 2), "The high half of the product.";
    "sat_add" "sat_add(a, b)" Takes::Integers(Op::AddSat, 2), "The sum, limited to what the type holds.";
    "sat_sub" "sat_sub(a, b)" Takes::Integers(Op::SubSat, 2), "The difference, limited.";
    "sat_mul" "sat_mul(a, b)" Takes::Integers(Op::MulSat, 2), "The product, limited.";
    "hadd" "hadd(a, b)" Takes::Integers(Op::AddHalf, 2), "Half of the sum, rounded down, without overflow.";
    "rhadd" "rhadd(a, b)" Takes::Integers(Op::AddHalfUp, 2), "Half of the sum, rounded up, without overflow.";
    "clz" "clz(x)" Takes::Integers(Op::LeadingZeros, 1), "Zeros above the highest one; the width for 0.";
    "ctz" "ctz(x)" Takes::Integers(Op::TrailingZeros, 1), "Zeros below the lowest one; the width for 0.";
    "popcount" "popcount(x)" Takes::Integers(Op::CountOnes, 1), "The number of ones.";
    "bitrev" "bitrev(x)" Takes::Integers(Op::ReverseBits, 1), "The bits in reverse order.";
    "rotl" "rotl(x, n)" Takes::Count(Op::RotateLeft), "Rotated to the left by n modulo the width.";
    "rotr" "rotr(x, n)" Takes::Count(Op::RotateRight), "Rotated to the right by n modulo the width.";
    "zext" "zext(type, x)" Takes::Converts(Op::Zext), "A wider integer with zeros above; a truth value as 0 or 1.";
    "sext" "sext(type, x)" Takes::Converts(Op::Sext), "A wider integer with copies of the top bit above.";
    "trunc" "trunc(type, x)" Takes::Converts(Op::Trunc), "The low bits.";
    "cvt" "cvt(type, x, rounding)" Takes::Own(Own::Cvt), "The number in another type: floats to floats, to integers (limited, NaN is 0), from integers. Rounds to nearest even unless told otherwise.";
    "widen" "widen(type, x)" Takes::Own(Own::Widen), "A float in a wider format; a NaN keeps its sign and payload, and whether it is quiet.";
    "fma" "fma(a, b, c, rounding)" Takes::Floats(Op::Fma, 3), "a * b + c, rounded once.";
    "fma_scaled" "fma_scaled(a, b, c, e, rounding)" Takes::Own(Own::FmaScaled), "(a * b + c) * 2^e, rounded once.";
    "sqrt" "sqrt(x, rounding)" Takes::Floats(Op::Sqrt, 1), "The square root.";
    "round" "round(x, rounding)" Takes::Floats(Op::RoundIntegral, 1), "To an integral value.";
    "ldexp" "ldexp(x, e, rounding)" Takes::Own(Own::Ldexp), "x * 2^e, rounded once.";
    "add" "add(a, b, rounding)" Takes::Rounded(Op::Add), "The sum with a rounding.";
    "sub" "sub(a, b, rounding)" Takes::Rounded(Op::Sub), "The difference with a rounding.";
    "mul" "mul(a, b, rounding)" Takes::Rounded(Op::Mul), "The product with a rounding.";
    "div" "div(a, b, rounding)" Takes::Rounded(Op::Div), "The quotient with a rounding.";
    "canonical" "canonical(x)" Takes::Floats(Op::Canonical, 1), "Any NaN replaced by the instruction set's canonical one.";
    "apart" "apart(a, b)" Takes::Compares(Comparison::Apart), "Less or greater; false with a NaN.";
    "unordered" "unordered(a, b)" Takes::Compares(Comparison::Unordered), "One of them is a NaN.";
    "total_le" "total_le(a, b)" Takes::Compares(Comparison::TotalLessEqual), "Less or equal in the total order of IEEE 754.";
    "is_nan" "is_nan(x)" Takes::Own(Own::IsNan), "Whether it is a NaN.";
    "select" "select(c, a, b)" Takes::Own(Own::Select), "a where c holds, b elsewhere, component by component.";
    "sum" "sum(type, x)" Takes::Own(Own::Sum), "The sum of the components, each converted to the wider type first.";
    "any" "any(x)" Takes::Own(Own::Any), "Whether some component holds.";
    "all" "all(x)" Takes::Own(Own::AllOf), "Whether all components hold.";
    "concat" "concat(high, …, low)" Takes::Own(Own::Concat), "The bits of all arguments, the highest first.";
    "splat" "splat(type, x)" Takes::Own(Own::Splat), "x in every component.";
    "bits" "bits(modifier)" Takes::Own(Own::Bits), "How the modifier is encoded, as a u32.";
    "read" "read(type, operand)" Takes::Own(Own::Read), "An operand read in another size than its own, as it was before the instruction.";
    "permute" "permute(x, lane)" Takes::Own(Own::Permute), "x as another lane of the warp has it, active or not; 0 where there is no such lane.";
    "ballot" "ballot(c)" Takes::Own(Own::Ballot), "A u64 with a bit for each active lane in which c holds.";
    "load" "load(type, space?, address)" Takes::Own(Own::Load), "Memory at an address.";
    "store" "store(type, space?, address, value)" Takes::Own(Own::Store), "Writes memory.";
    "load_part" "load_part(type, space?, address, from, size)" Takes::Own(Own::LoadPart), "Memory from byte `from` of an access of `size` bytes at the address, which faults as a whole.";
    "store_part" "store_part(type, space?, address, from, size, value)" Takes::Own(Own::StorePart), "Writes a part of an access of `size` bytes at the address; the parts follow one another.";
    "atomic_exchange" "atomic_exchange(type, space?, address, value, expected?)" Takes::Own(Own::Atomic(AtomicOp::Exchange)), "Replaces memory and returns the old value.";
    "atomic_add" "atomic_add(type, space?, address, value, expected?)" Takes::Own(Own::Atomic(AtomicOp::Add)), "Adds to memory and returns the old value.";
    "atomic_sub" "atomic_sub(type, space?, address, value, expected?)" Takes::Own(Own::Atomic(AtomicOp::Sub)), "Subtracts from memory and returns the old value.";
    "atomic_and" "atomic_and(type, space?, address, value, expected?)" Takes::Own(Own::Atomic(AtomicOp::And)), "Ands memory and returns the old value.";
    "atomic_or" "atomic_or(type, space?, address, value, expected?)" Takes::Own(Own::Atomic(AtomicOp::Or)), "Ors memory and returns the old value.";
    "atomic_xor" "atomic_xor(type, space?, address, value, expected?)" Takes::Own(Own::Atomic(AtomicOp::Xor)), "Exclusive-ors memory and returns the old value.";
    "atomic_min" "atomic_min(type, space?, address, value, expected?)" Takes::Own(Own::Atomic(AtomicOp::Min)), "Keeps the lesser and returns the old value.";
    "atomic_max" "atomic_max(type, space?, address, value, expected?)" Takes::Own(Own::Atomic(AtomicOp::Max)), "Keeps the greater and returns the old value.";
    "compare_exchange" "compare_exchange(type, space?, address, expected, value)" Takes::Own(Own::CompareExchange), "Replaces memory if it is as expected, and returns the old value.";
    "branch" "branch(target)" Takes::Own(Own::Branch), "Continues at the target.";
    "barrier" "barrier()" Takes::Own(Own::Barrier), "Waits for all threads of the workgroup.";
    "end" "end()" Takes::Own(Own::End), "Ends the thread.";
    "fault" "fault(name, datum?)" Takes::Own(Own::Fault), "Stops with a fault.";
}

impl Builder<'_> {
    /// Builds a call.
    pub(super) fn call(
        &mut self,
        name: &Spanned<String>,
        arguments: &[Expr],
        expected: Option<Type>,
        span: Span,
    ) -> Result<Value, Stop> {
        let library = self.scope.library;
        if let Some((_, slot)) = self.scope.slots.iter().find(|(slot, _)| *slot == name.value) {
            if !arguments.is_empty() {
                return Err(self.count(name, 0, arguments.len(), None));
            }
            self.call_slot(*slot);
            return Ok(Value::Nothing);
        }
        if let Some(function) = library.functions.get(&name.value) {
            if function.parameters.len() != arguments.len() {
                return Err(self.count(name, function.parameters.len(), arguments.len(), Some(function.span)));
            }
            let mut values = Vec::with_capacity(arguments.len());
            for argument in arguments {
                values.push(self.expression(argument, None)?);
            }
            return self.expand(name, function, values, expected);
        }
        if let Some(intrinsic) = library.intrinsics.iter().position(|i| i.name == name.value) {
            return self.call_intrinsic(name, intrinsic, arguments);
        }
        match BUILTINS.iter().find(|builtin| builtin.name == name.value) {
            Some(builtin) => self.builtin(builtin, name, arguments, expected, span),
            None => {
                let error = Diagnostic::error("E0121", name.span, format!("no function named `{}`", name.value));
                let known = library
                    .functions
                    .keys()
                    .map(String::as_str)
                    .chain(library.intrinsics.iter().map(|i| i.name.as_str()))
                    .chain(BUILTINS.iter().map(|b| b.name));
                let error = match did_you_mean(&name.value, known) {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => error.help("`semantics: { functions: … }` and `intrinsics: …` declare functions"),
                };
                Err(self.error(error))
            }
        }
    }

    fn count(&mut self, name: &Spanned<String>, wanted: usize, found: usize, defined: Option<Span>) -> Stop {
        let plural = if wanted == 1 { "" } else { "s" };
        let message = format!("`{}` takes {wanted} argument{plural}, found {found}", name.value);
        let error = Diagnostic::error("E0123", name.span, message);
        let error = match (defined, BUILTINS.iter().find(|b| b.name == name.value)) {
            (Some(span), _) => error.secondary(span, "defined here"),
            (None, Some(builtin)) => error.help(format!("write `{}`", builtin.call)),
            (None, None) => error,
        };
        self.error(error)
    }

    fn call_intrinsic(&mut self, name: &Spanned<String>, at: usize, arguments: &[Expr]) -> Result<Value, Stop> {
        let info = &self.scope.library.intrinsics[at];
        if info.parameters.len() != arguments.len() {
            return Err(self.count(name, info.parameters.len(), arguments.len(), Some(info.span)));
        }
        let mut nodes = Vec::with_capacity(arguments.len());
        for (argument, parameter) in arguments.iter().zip(&info.parameters) {
            nodes.push(match parameter {
                Parameter::Value(ty) => {
                    let value = self.expression(argument, Some(*ty))?;
                    self.typed(&value, *ty, argument.span)?
                }
                Parameter::Operand => match self.expression(argument, None)? {
                    Value::Operand(operand) => self.pass_operand(operand, argument.span),
                    _ => {
                        let error = Diagnostic::error("E0123", argument.span, "expected an operand");
                        return Err(self.error(error.secondary(info.span, "this parameter is an `operand`")));
                    }
                },
            });
        }
        self.use_intrinsic(at);
        let when = self.when();
        let ty = info.result.unwrap_or(Type::BOOL);
        let node = self.graph.with_list(Op::Intrinsic, 0, ty, [at as u16, NONE, NONE, when], &nodes);
        Ok(if info.result.is_some() { Value::Node(node) } else { Value::Nothing })
    }

    fn builtin(
        &mut self,
        builtin: &Builtin,
        name: &Spanned<String>,
        arguments: &[Expr],
        expected: Option<Type>,
        span: Span,
    ) -> Result<Value, Stop> {
        let takes = |b: &mut Self, least: usize, most: usize| {
            if (least..=most).contains(&arguments.len()) {
                Ok(())
            } else {
                Err(b.count(name, least, arguments.len(), None))
            }
        };
        match builtin.takes {
            Takes::Same(op, n) | Takes::Integers(op, n) => {
                takes(self, n, n)?;
                let (nodes, ty) = self.alike(arguments, expected)?;
                let fits = match builtin.takes {
                    Takes::Integers(..) => ty.is_integer(),
                    _ => ty.class != Class::Bool,
                };
                if !fits {
                    return Err(self.does_not_apply(name, ty, arguments[0].span));
                }
                let node = self.graph.node(op, 0, ty, nodes);
                Ok(Value::Node(if op == Op::Abs { node } else { self.canonical(node) }))
            }
            Takes::Floats(op, n) => {
                takes(self, n, n + usize::from(op != Op::Canonical))?;
                let (nodes, ty) = self.alike(&arguments[..n], expected)?;
                if !ty.is_float() {
                    return Err(self.does_not_apply(name, ty, arguments[0].span));
                }
                let round = self.round_argument(arguments.get(n))?;
                self.rounded(op, ty, nodes, round)
            }
            Takes::Rounded(op) => {
                takes(self, 3, 3)?;
                let (nodes, ty) = self.alike(&arguments[..2], expected)?;
                if !ty.is_float() {
                    return Err(self.does_not_apply(name, ty, arguments[0].span));
                }
                let round = self.round_argument(arguments.get(2))?;
                self.rounded(op, ty, nodes, round)
            }
            Takes::Count(op) => {
                takes(self, 2, 2)?;
                let x = self.node(&arguments[0], expected)?;
                let count = self.node(&arguments[1], Some(Type::U32))?;
                let (ty, count_ty) = (self.graph.ty(x), self.graph.ty(count));
                if !ty.is_integer() || count_ty.class != Class::Unsigned {
                    return Err(self.does_not_apply(name, if ty.is_integer() { count_ty } else { ty }, span));
                }
                Ok(Value::Node(self.graph.node(op, 0, ty, [x, count, NONE, NONE])))
            }
            Takes::Converts(op) => {
                takes(self, 2, 2)?;
                let ty = self.type_argument(&arguments[0])?;
                let x = self.node(&arguments[1], None)?;
                self.change_width(op, ty, x, name, arguments[1].span).map(Value::Node)
            }
            Takes::Compares(how) => {
                takes(self, 2, 2)?;
                let (nodes, ty) = self.alike(arguments, None)?;
                Ok(Value::Node(self.graph.node(Op::Compare, how as u16, ty.truth(), nodes)))
            }
            Takes::Own(own) => self.own(own, name, arguments, expected),
        }
    }

    fn does_not_apply(&mut self, name: &Spanned<String>, ty: Type, span: Span) -> Stop {
        let message = format!("`{}` does not apply to `{ty}`", name.value);
        self.error(Diagnostic::error("E0122", span, message))
    }

    /// Builds up to three arguments of the same type.
    fn alike(&mut self, arguments: &[Expr], expected: Option<Type>) -> Result<([u16; 4], Type), Stop> {
        let mut values = Vec::with_capacity(arguments.len());
        let mut known = expected;
        let mut waiting = Vec::new();
        for (k, argument) in arguments.iter().enumerate() {
            let before = self.graph.nodes.len();
            match self.expression(argument, known) {
                Err(Stop::NeedsType(place)) => {
                    self.again(before, place)?;
                    waiting.push(k);
                    values.push(Value::Nothing);
                }
                value => {
                    let value = value?;
                    if let Value::Node(id) = &value {
                        known = Some(self.graph.ty(*id));
                    } else if let Value::Operand(operand) = &value {
                        known = Some(self.scope.operands[*operand].ty);
                    }
                    values.push(value);
                }
            }
        }
        for k in waiting {
            let Some(ty) = known else { return Err(Stop::NeedsType(arguments[k].span)) };
            values[k] = self.expression(&arguments[k], Some(ty))?;
        }
        let Some(ty) = known else {
            return Err(Stop::NeedsType(arguments.first().map_or(arguments[0].span, |a| a.span)));
        };
        let mut nodes = [NONE; 4];
        for (k, value) in values.iter().enumerate() {
            nodes[k] = self.typed(value, ty, arguments[k].span)?;
        }
        Ok((nodes, ty))
    }

    fn type_argument(&mut self, argument: &Expr) -> Result<Type, Stop> {
        match &argument.kind {
            ExprKind::Name(name) => self.type_named(&Spanned::new(name.clone(), argument.span)),
            _ => Err(self.error(Diagnostic::error("E0122", argument.span, "expected a type"))),
        }
    }

    fn round_argument(&mut self, argument: Option<&Expr>) -> Result<Value, Stop> {
        let Some(argument) = argument else { return Ok(Value::Round(vec![(Vec::new(), Round::NearestEven)], None)) };
        match self.expression(argument, None)? {
            round @ Value::Round(..) => Ok(round),
            _ => {
                let error = Diagnostic::error("E0123", argument.span, "expected a rounding");
                Err(self.error(error.help("roundings are `rne`, `rtp`, `rtn`, `rtz` and `rna`")))
            }
        }
    }

    /// Builds a node for each rounding that a modifier may select.
    fn rounded(&mut self, op: Op, ty: Type, nodes: [u16; 4], round: Value) -> Result<Value, Stop> {
        let Value::Round(modes, modifier) = round else { return Err(Stop::Reported) };
        let mut arms = Vec::new();
        for (values, round) in modes {
            let node = self.graph.node(op, immediate(round), ty, nodes);
            arms.push((values, self.canonical(node)));
        }
        Ok(Value::Node(match modifier {
            Some(modifier) => self.pick(&modifier, ty, &arms),
            None => arms[0].1,
        }))
    }

    fn change_width(&mut self, op: Op, ty: Type, x: u16, name: &Spanned<String>, span: Span) -> Result<u16, Stop> {
        let from = self.graph.ty(x);
        let integers = (from.is_integer() || from.class == Class::Bool && op != Op::Trunc) && ty.is_integer();
        if !integers || from.lanes != ty.lanes {
            let message = format!("`{}` cannot make `{ty}` from `{from}`", name.value);
            return Err(self.error(Diagnostic::error("E0122", span, message)));
        }
        let wider = ty.bits >= from.bits;
        if wider != (op != Op::Trunc) && ty.bits != from.bits {
            let other = if wider { "`zext` or `sext`" } else { "`trunc`" };
            let message = format!("`{}` from `{from}` to `{ty}`", name.value);
            return Err(self.error(Diagnostic::error("E0122", span, message).help(format!("this is {other}"))));
        }
        Ok(if ty.bits == from.bits { self.bits(x, ty) } else { self.graph.node(op, 0, ty, [x, NONE, NONE, NONE]) })
    }
}
