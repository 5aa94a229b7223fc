//! Built-in functions with special forms: choices, lanes, memory, flow.

use isaforge_core::semantics::primitive::WIDEN;
use isaforge_core::semantics::{AtomicOp, Class, Comparison, NONE, Op, Part, Type};

use super::Own;
use crate::diagnostic::Diagnostic;
use crate::expression::build::{Builder, Stop};
use crate::expression::syntax::{Expr, ExprKind};
use crate::expression::value::Value;
use crate::source::Spanned;

impl Builder<'_> {
    pub(super) fn own(
        &mut self,
        own: Own,
        name: &Spanned<String>,
        arguments: &[Expr],
        expected: Option<Type>,
    ) -> Result<Value, Stop> {
        let wanted = |b: &mut Self, least: usize, most: usize| {
            if (least..=most).contains(&arguments.len()) {
                Ok(())
            } else {
                Err(b.count(name, least, arguments.len(), None))
            }
        };
        match own {
            Own::Cvt => {
                wanted(self, 2, 3)?;
                let ty = self.type_argument(&arguments[0])?;
                let x = self.node(&arguments[1], None)?;
                let from = self.graph.ty(x);
                if from.lanes != ty.lanes
                    || !(from.is_float() || ty.is_float())
                    || [from, ty].iter().any(|t| t.class == Class::Bool)
                {
                    let message = format!("`cvt` cannot make `{ty}` from `{from}`");
                    return Err(self.error(Diagnostic::error("E0122", arguments[1].span, message)));
                }
                let round = self.round_argument(arguments.get(2))?;
                self.rounded(Op::Convert, ty, [x, NONE, NONE, NONE], round)
            }
            Own::Widen => {
                wanted(self, 2, 2)?;
                let ty = self.type_argument(&arguments[0])?;
                let x = self.node(&arguments[1], None)?;
                let from = self.graph.ty(x);
                if !(from.is_float() && ty.is_float() && from.lanes == ty.lanes && from.bits < ty.bits) {
                    let message = format!("`widen` cannot make `{ty}` from `{from}`");
                    return Err(self.error(Diagnostic::error("E0122", arguments[1].span, message)));
                }
                Ok(Value::Node(self.graph.node(Op::Convert, WIDEN, ty, [x, NONE, NONE, NONE])))
            }
            Own::Ldexp => {
                wanted(self, 2, 3)?;
                let x = self.node(&arguments[0], expected)?;
                let ty = self.graph.ty(x);
                let exponent = self.exponent(&arguments[1], ty)?;
                if !ty.is_float() {
                    return Err(self.does_not_apply(name, ty, arguments[0].span));
                }
                let round = self.round_argument(arguments.get(2))?;
                self.rounded(Op::Ldexp, ty, [x, exponent, NONE, NONE], round)
            }
            Own::FmaScaled => {
                wanted(self, 4, 5)?;
                let (mut nodes, ty) = self.alike(&arguments[..3], expected)?;
                nodes[3] = self.exponent(&arguments[3], ty)?;
                if !ty.is_float() {
                    return Err(self.does_not_apply(name, ty, arguments[0].span));
                }
                let round = self.round_argument(arguments.get(4))?;
                self.rounded(Op::FmaScaled, ty, nodes, round)
            }
            Own::Select => {
                wanted(self, 3, 3)?;
                let c = self.node(&arguments[0], None)?;
                let (nodes, ty) = self.alike(&arguments[1..], expected)?;
                let condition = self.graph.ty(c);
                if condition.class != Class::Bool || condition.lanes != 1 && condition.lanes != ty.lanes {
                    return Err(self.mismatch(arguments[0].span, ty.truth(), condition));
                }
                Ok(Value::Node(self.graph.node(Op::Select, 0, ty, [c, nodes[0], nodes[1], NONE])))
            }
            Own::Sum => {
                wanted(self, 2, 2)?;
                let ty = self.type_argument(&arguments[0])?;
                let x = self.node(&arguments[1], None)?;
                let from = self.graph.ty(x);
                let op = if from.class == Class::Signed { Op::Sext } else { Op::Zext };
                let mut sum = None;
                for i in 0..u16::from(from.lanes) {
                    let part = self.get(x, i);
                    let part = if from.component() == ty {
                        part
                    } else {
                        self.change_width(op, ty, part, name, arguments[1].span)?
                    };
                    sum = Some(match sum {
                        None => part,
                        Some(sum) => {
                            let node = self.graph.node(Op::Add, 0, ty, [sum, part, NONE, NONE]);
                            self.canonical(node)
                        }
                    });
                }
                Ok(sum.map_or(Value::Nothing, Value::Node))
            }
            Own::Any | Own::AllOf => {
                wanted(self, 1, 1)?;
                let x = self.node(&arguments[0], None)?;
                let ty = self.graph.ty(x);
                if ty.class != Class::Bool {
                    return Err(self.does_not_apply(name, ty, arguments[0].span));
                }
                let whole = Type::unsigned(ty.lanes);
                let bits = self.bits(x, whole);
                let (how, value) = match own {
                    Own::Any => (Comparison::NotEqual, 0),
                    _ => (Comparison::Equal, whole.mask()),
                };
                let value = self.graph.constant(whole, value);
                Ok(Value::Node(self.graph.node(Op::Compare, how as u16, Type::BOOL, [bits, value, NONE, NONE])))
            }
            Own::Concat => {
                wanted(self, 2, 64)?;
                let mut low: Option<u16> = None;
                for argument in arguments.iter().rev() {
                    let part = self.node(argument, None)?;
                    let ty = self.graph.ty(part);
                    let part = self.bits(part, Type::unsigned(ty.size() as u8));
                    low = Some(match low {
                        None => part,
                        Some(low) => {
                            let size = self.graph.ty(low).size() + ty.size();
                            if size > 64 {
                                let message = format!("{size} bits, but a value has at most 64");
                                return Err(self.error(Diagnostic::error("E0122", argument.span, message)));
                            }
                            self.graph.node(Op::Concat, 0, Type::unsigned(size as u8), [low, part, NONE, NONE])
                        }
                    });
                }
                Ok(low.map_or(Value::Nothing, Value::Node))
            }
            Own::Splat => {
                wanted(self, 2, 2)?;
                let ty = self.type_argument(&arguments[0])?;
                let value = self.expression(&arguments[1], Some(ty.component()))?;
                let x = self.typed(&value, ty.component(), arguments[1].span)?;
                Ok(Value::Node(self.graph.node(Op::Splat, 0, ty, [x, NONE, NONE, NONE])))
            }
            Own::IsNan => {
                wanted(self, 1, 1)?;
                let x = self.node(&arguments[0], None)?;
                let ty = self.graph.ty(x);
                if !ty.is_float() {
                    return Err(self.does_not_apply(name, ty, arguments[0].span));
                }
                let how = Comparison::Unordered as u16;
                Ok(Value::Node(self.graph.node(Op::Compare, how, ty.truth(), [x, x, NONE, NONE])))
            }
            Own::Bits => {
                wanted(self, 1, 1)?;
                match self.expression(&arguments[0], None)? {
                    modifier @ (Value::Modifier(_) | Value::Suffix(..)) => {
                        Ok(Value::Node(self.modifier_bits(&modifier)))
                    }
                    _ => Err(self.error(Diagnostic::error("E0123", arguments[0].span, "expected a modifier"))),
                }
            }
            Own::Read => {
                wanted(self, 2, 2)?;
                let ty = self.type_argument(&arguments[0])?;
                match self.expression(&arguments[1], None)? {
                    Value::Operand(operand) => Ok(Value::Node(self.read_operand_as(operand, ty, arguments[1].span))),
                    _ => Err(self.error(Diagnostic::error("E0123", arguments[1].span, "expected an operand"))),
                }
            }
            Own::Permute => {
                wanted(self, 2, 2)?;
                let x = self.node(&arguments[0], expected)?;
                let value = self.expression(&arguments[1], Some(Type::U32))?;
                let lane = self.typed(&value, Type::U32, arguments[1].span)?;
                let ty = self.graph.ty(x);
                Ok(Value::Node(self.graph.node(Op::Permute, 0, ty, [x, lane, NONE, NONE])))
            }
            Own::Ballot => {
                wanted(self, 1, 1)?;
                let value = self.expression(&arguments[0], None)?;
                let c = self.truth(&value, arguments[0].span)?;
                Ok(Value::Node(self.graph.node(Op::Ballot, 0, Type::U64, [c, NONE, NONE, NONE])))
            }
            Own::Load => {
                wanted(self, 2, 3)?;
                let (ty, space, address, _) = self.access(arguments, 1)?;
                let when = self.when();
                Ok(Value::Node(self.graph.node(Op::Load, space, ty, [address, when, NONE, NONE])))
            }
            Own::Store => {
                wanted(self, 3, 4)?;
                let (ty, space, address, rest) = self.access(arguments, 2)?;
                let value = self.stored(&rest[0], ty)?;
                let when = self.when();
                self.graph.node(Op::Store, space, ty, [address, value, when, NONE]);
                Ok(Value::Nothing)
            }
            Own::LoadPart => {
                wanted(self, 4, 5)?;
                let (ty, space, address, rest) = self.access(arguments, 3)?;
                let part = self.part(ty, &rest[0], &rest[1])?;
                let when = self.when();
                Ok(Value::Node(self.graph.node(Op::Load, part | space, ty, [address, when, NONE, NONE])))
            }
            Own::StorePart => {
                wanted(self, 5, 6)?;
                let (ty, space, address, rest) = self.access(arguments, 4)?;
                let part = self.part(ty, &rest[0], &rest[1])?;
                let value = self.stored(&rest[2], ty)?;
                let when = self.when();
                self.graph.node(Op::Store, part | space, ty, [address, value, when, NONE]);
                Ok(Value::Nothing)
            }
            Own::Atomic(op) => {
                wanted(self, 3, 5)?;
                // With four arguments, either the second is an address space or the last is the expected value.
                let named =
                    matches!(&arguments[1].kind, ExprKind::Name(name) if self.scope.library.spaces.contains(name));
                let (ty, space, address, rest) = self.access(arguments, arguments.len() - 1 - usize::from(named))?;
                if !(1..=2).contains(&rest.len()) {
                    return Err(self.count(name, 3, arguments.len(), None));
                }
                let value = self.stored(&rest[0], ty)?;
                let expected = rest.get(1).map_or(Ok(NONE), |expected| self.stored(expected, ty))?;
                self.atomic(op, space, ty, [address, value, expected])
            }
            Own::CompareExchange => {
                wanted(self, 4, 5)?;
                let (ty, space, address, rest) = self.access(arguments, 3)?;
                let expected = self.stored(&rest[0], ty)?;
                let value = self.stored(&rest[1], ty)?;
                self.atomic(AtomicOp::Exchange, space, ty, [address, value, expected])
            }
            Own::Branch => {
                wanted(self, 1, 1)?;
                let Some(pc) = self.scope.library.pc else {
                    let error = Diagnostic::error("E0121", name.span, "the program counter has no type");
                    return Err(self.error(error.help("declare its width: `semantics: { pc: u32 }`")));
                };
                let value = self.expression(&arguments[0], Some(pc))?;
                let target = self.typed(&value, pc, arguments[0].span)?;
                let when = self.when();
                self.graph.node(Op::Branch, 0, pc, [target, when, NONE, NONE]);
                Ok(Value::Nothing)
            }
            Own::Barrier | Own::End => {
                wanted(self, 0, 0)?;
                let when = self.when();
                let op = if let Own::End = own { Op::End } else { Op::Barrier };
                self.graph.node(op, 0, Type::BOOL, [when, NONE, NONE, NONE]);
                Ok(Value::Nothing)
            }
            Own::Fault => {
                wanted(self, 1, 2)?;
                let fault = match &arguments[0].kind {
                    ExprKind::Name(fault) => self.scope.library.faults.iter().position(|f| f == fault),
                    _ => None,
                };
                let Some(fault) = fault else {
                    let error = Diagnostic::error("E0121", arguments[0].span, "no such fault");
                    return Err(self.error(error.help("declare it: `semantics: { faults: [name] }`")));
                };
                let datum = match arguments.get(1) {
                    Some(datum) => self.node(datum, Some(Type::U64))?,
                    None => self.graph.constant(Type::U64, 0),
                };
                let (when, ty) = (self.when(), self.graph.ty(datum));
                self.graph.node(Op::Fault, fault as u16, ty, [datum, when, NONE, NONE]);
                Ok(Value::Nothing)
            }
        }
    }

    /// The part of an access, as encoded in `imm` above the address space.
    fn part(&mut self, ty: Type, from: &Expr, size: &Expr) -> Result<u16, Stop> {
        let (first, bytes) = (self.whole(from)?, self.whole(size)?);
        let fits =
            (0..bytes).contains(&first) && first + i128::from(ty.size() / 8) <= bytes && bytes <= Part::MAX_BYTES;
        match Part::new(first.max(0) as u16, bytes.max(0) as u16).filter(|_| fits && ty.size().is_multiple_of(32)) {
            Some(part) => Ok(part.immediate()),
            None => {
                let message = format!(
                    "bytes {first} to {} of {bytes} are not a part of an access",
                    first + i128::from(ty.size() / 8)
                );
                let error = Diagnostic::error("E0125", from.span.to(size.span), message);
                Err(self.error(error.help("parts are whole words within an access of at most 60 bytes")))
            }
        }
    }

    fn exponent(&mut self, argument: &Expr, of: Type) -> Result<u16, Stop> {
        let wanted = Type::signed(32);
        let value = self.expression(argument, Some(wanted))?;
        let node = self.node_of(&value, Some(wanted), argument.span)?;
        let ty = self.graph.ty(node);
        if ty.class == Class::Signed && (ty.lanes == 1 || ty.lanes == of.lanes) {
            return Ok(node);
        }
        Err(self.mismatch(argument.span, wanted, ty))
    }

    fn atomic(&mut self, op: AtomicOp, space: u16, ty: Type, [a, b, c]: [u16; 3]) -> Result<Value, Stop> {
        let when = self.when();
        Ok(Value::Node(self.graph.node(Op::Atomic, (op as u16) << 8 | space, ty, [a, b, c, when])))
    }

    fn stored(&mut self, argument: &Expr, ty: Type) -> Result<u16, Stop> {
        let value = self.expression(argument, Some(ty))?;
        let node = self.node_of(&value, Some(ty), argument.span)?;
        let found = self.graph.ty(node);
        if found.size() != ty.size() {
            return Err(self.mismatch(argument.span, ty, found));
        }
        Ok(self.bits(node, ty))
    }

    /// The type, address space and address of an access, and the remaining arguments. `plain` is how many arguments
    /// follow the type if no address space is given.
    fn access<'e>(&mut self, arguments: &'e [Expr], plain: usize) -> Result<(Type, u16, u16, &'e [Expr]), Stop> {
        let ty = self.type_argument(&arguments[0])?;
        let mut rest = &arguments[1..];
        let mut space = 0;
        if rest.len() > plain {
            let found = match &rest[0].kind {
                ExprKind::Name(name) => self.scope.library.spaces.iter().position(|s| s == name),
                _ => None,
            };
            let Some(found) = found else {
                let error = Diagnostic::error("E0121", rest[0].span, "no such address space");
                return Err(self.error(error.help("declare it: `semantics: { spaces: [name] }`")));
            };
            (space, rest) = (found as u16, &rest[1..]);
        }
        let address = self.node(&rest[0], Some(Type::U64))?;
        let found = self.graph.ty(address);
        if !found.is_integer() || found.lanes != 1 {
            return Err(self.mismatch(rest[0].span, Type::U64, found));
        }
        Ok((ty, space, address, &rest[1..]))
    }
}
