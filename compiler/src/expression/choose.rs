//! `match`: a choice by a modifier, whose value is known once a word is decoded, or by a number.

use isaforge_core::bits::ones;
use isaforge_core::semantics::{Class, Comparison, NONE, Op, Type};

use super::build::{Builder, Stop};
use super::scope::Choices;
use super::syntax::{Arm, ArmValue, Expr, ExprKind, Unary};
use super::value::Value;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::suggest::{did_you_mean, one_of};

/// The maximum width of numbers that are tabulated, and the number of entries up to which a table does not pay off.
const TABLE_BITS: u32 = 8;
const FEW: usize = 4;

/// What a `match` depends on.
enum Subject {
    /// A modifier or a suffix.
    Modifier(Value),
    /// A number.
    Number(u16),
}

/// An arm with the values that select it; empty for an arm that takes all other numbers.
type Reached<'e> = (Vec<u64>, &'e Expr);

/// The numbers that a `match` chooses by.
#[derive(Clone, Copy)]
struct Numbers {
    bits: u8,
    signed: bool,
    /// The bits that may be 1, and those that are.
    may: u64,
    must: u64,
}

impl Numbers {
    /// The numbers of a width, with the bits that may be 1, and those that are.
    fn new(bits: u8, signed: bool, (may, must): (u64, u64)) -> Self {
        let all = ones(bits.into());
        Numbers { bits, signed, may: may & all, must: must & all }
    }

    /// Whether it may be this number, given as its bits.
    fn contain(self, number: u64) -> bool {
        let number = number & ones(self.bits.into());
        number & !self.may == 0 && number & self.must == self.must
    }

    /// The numbers that it may be, in ascending order, without some of them.
    fn without(self, some: &[i128]) -> impl Iterator<Item = i128> {
        let (all, sign) = (ones(self.bits.into()), 1u64 << (self.bits - 1));
        let free = self.may & !self.must;
        // Negative numbers come first.
        let turned = if self.signed { free & sign } else { 0 };
        let next = move |chosen: &u64| Some((chosen | !free).wrapping_add(1) & free).filter(|next| *next != 0);
        let number = move |chosen: u64| {
            let bits = (self.must | chosen) ^ turned;
            i128::from(bits) - if self.signed && bits & sign != 0 { i128::from(all) + 1 } else { 0 }
        };
        std::iter::successors(Some(0), next).map(number).filter(|number| !some.contains(number))
    }
}

impl Builder<'_> {
    pub(super) fn choose(
        &mut self,
        of: &Expr,
        arms: &[Arm],
        expected: Option<Type>,
        span: Span,
    ) -> Result<Value, Stop> {
        let value = self.expression(of, None)?;
        let name = if let ExprKind::Name(name) = &of.kind { format!("`{name}`") } else { "this".to_owned() };
        let (subject, reached) = match value {
            Value::Absent => {
                let Some(arm) = arms.iter().find(|arm| arm.values.is_empty()) else {
                    let error = Diagnostic::error("E0124", span, "no arm for an absent modifier");
                    return Err(self.error(error.help("add `_ => …`")));
                };
                self.reach(arm, true);
                return self.expression(&arm.body, expected);
            }
            Value::Int(number) => {
                let takes = |arm: &&Arm| arm.values.is_empty() || arm.values.iter().any(|v| v.number == Some(number));
                let Some(arm) = arms.iter().find(takes) else {
                    let error =
                        Diagnostic::error("E0124", span, format!("no arm for {number}, the value of {name} here"));
                    return Err(self.error(error.help("add one, or `_ => …`")));
                };
                arms.iter().for_each(|other| self.reach(other, std::ptr::eq(other, arm)));
                return self.expression(&arm.body, expected);
            }
            Value::Modifier(_) | Value::Suffix(..) => {
                let info = self.modifier_info(&value);
                match info.choices {
                    Choices::Number(bits) => {
                        let node = self.modifier_bits(&value);
                        let of = Numbers::new(bits, false, self.graph.possible(node));
                        (Subject::Number(node), self.arms_of_number(&name, of, arms, span)?)
                    }
                    _ => {
                        let choices = info.choices.named();
                        (
                            Subject::Modifier(value),
                            self.arms_of_names(&format!("`{}`", info.name), &choices, arms, span)?,
                        )
                    }
                }
            }
            _ => {
                let node = self.node_of(&value, None, of.span)?;
                let ty = self.graph.ty(node);
                if !ty.is_integer() || ty.lanes > 1 {
                    let message = format!("`match` needs a modifier or an integer, but {name} is of type `{ty}`");
                    let error = Diagnostic::error("E0122", of.span, message);
                    return Err(self.error(error.help("use `if` for other values")));
                }
                let choices = match value {
                    Value::Operand(operand) => &self.scope.operands[operand].choices,
                    _ => &Choices::Number(ty.bits),
                };
                let reached = match choices {
                    Choices::Number(bits) => {
                        let signed = ty.class == Class::Signed;
                        let of = Numbers::new(*bits, signed, self.graph.possible(node));
                        self.arms_of_number(&name, of, arms, span)?
                    }
                    choices => self.arms_of_names(&name, &choices.named(), arms, span)?,
                };
                (Subject::Number(node), reached)
            }
        };
        if let Some(ty) = expected.filter(|ty| self.scope.in_encoding && ty.is_integer()) {
            let most = ones(u32::from(ty.bits)) >> u32::from(ty.class == Class::Signed);
            let least = if ty.class == Class::Signed { -i128::from(most) - 1 } else { 0 };
            let fits = |number| (least..=most.into()).contains(&number);
            if let Some((_, body)) = reached.iter().find(|(_, body)| literal(body).is_some_and(|number| !fits(number)))
            {
                let error = Diagnostic::error("E0125", body.span, "this value is negative, and others are too large");
                return Err(self.error(error.help("a value has 64 bits, signed or unsigned")));
            }
        }
        if let Subject::Number(node) = subject
            && let Some(table) = literals(&reached)
            && expected.is_none_or(|ty| ty.is_integer() && ty.lanes == 1)
        {
            return self.table(node, &table, expected.ok_or(Stop::NeedsType(span))?);
        }
        self.arms(&subject, &reached, expected)
    }

    /// Records whether an arm is reachable.
    fn reach(&mut self, arm: &Arm, reached: bool) {
        *self.scope.library.usage.borrow_mut().arms.entry(arm.span).or_default() |= reached;
    }

    /// The value of the arm that is selected, or the effects of all arms, each under its condition.
    fn arms(&mut self, subject: &Subject, reached: &[Reached<'_>], expected: Option<Type>) -> Result<Value, Stop> {
        let mut holds: Vec<u16> = Vec::new();
        let mut results: Vec<Result<Value, Stop>> = Vec::new();
        let mut known = expected;
        // Numbers have the type of the other arms.
        let is_mixed = reached.iter().any(|(_, body)| literal(body).is_none());
        for (values, body) in reached {
            let node = match subject {
                Subject::Modifier(modifier) => self.is(modifier, values),
                Subject::Number(_) if values.is_empty() => {
                    let any = self.any(&holds);
                    self.graph.node(Op::Not, 0, Type::BOOL, [any, NONE, NONE, NONE])
                }
                Subject::Number(number) => {
                    let equal: Vec<u16> = values.iter().map(|value| self.equals(*number, *value)).collect();
                    self.any(&equal)
                }
            };
            holds.push(node);
            if is_mixed && literal(body).is_some() {
                results.push(Err(Stop::NeedsType(body.span)));
                continue;
            }
            let before = self.graph.nodes.len();
            let result = self.under(node, |b| b.expression(body, known));
            match &result {
                Err(Stop::NeedsType(place)) => self.again(before, *place)?,
                Err(Stop::Reported) => return Err(Stop::Reported),
                Ok(value) => {
                    let ty = match value {
                        Value::Node(id) => Some(self.graph.ty(*id)),
                        Value::Operand(operand) => Some(self.scope.operands[*operand].ty),
                        _ => None,
                    };
                    known = ty.filter(|ty| known.is_none_or(|known| known.is_integer() && ty.is_integer())).or(known);
                }
            }
            results.push(result);
        }
        if results.iter().all(|result| matches!(result, Ok(Value::Nothing))) {
            return Ok(Value::Nothing);
        }
        if let Subject::Modifier(modifier) = subject
            && results.iter().all(|result| matches!(result, Ok(Value::Round(..))))
        {
            return Ok(roundings(reached, results, modifier.clone()));
        }
        let mut nodes: Vec<(Vec<u64>, u16)> = Vec::new();
        for (((values, body), holds), result) in reached.iter().zip(&holds).zip(results) {
            let value = match result {
                Err(Stop::NeedsType(place)) => {
                    let Some(ty) = known else { return Err(Stop::NeedsType(place)) };
                    self.under(*holds, |b| b.expression(body, Some(ty)))?
                }
                result => result?,
            };
            let node = self.node_of(&value, known, body.span)?;
            if let Some((_, first)) = nodes.first() {
                let (ty, found) = (self.graph.ty(*first), self.graph.ty(node));
                if ty != found {
                    return Err(self.mismatch(body.span, ty, found));
                }
            }
            nodes.push((values.clone(), node));
        }
        let ty = nodes.first().map_or(Type::BOOL, |(_, node)| self.graph.ty(*node));
        if let Subject::Modifier(modifier) = subject {
            return Ok(Value::Node(self.pick(modifier, ty, &nodes)));
        }
        // One arm is always taken: the last one, if no other is.
        let choices = nodes.into_iter().zip(holds).rev();
        let chosen = choices.fold(NONE, |rest, ((_, node), holds)| match rest {
            NONE => node,
            rest => self.graph.node(Op::Select, 0, ty, [holds, node, rest, NONE]),
        });
        Ok(Value::Node(chosen))
    }

    fn any(&mut self, nodes: &[u16]) -> u16 {
        let mut nodes = nodes.iter().copied();
        let first = nodes.next().unwrap_or_else(|| self.graph.constant(Type::BOOL, 0));
        nodes.fold(first, |any, next| self.graph.node(Op::Or, 0, Type::BOOL, [any, next, NONE, NONE]))
    }

    fn equals(&mut self, number: u16, value: u64) -> u16 {
        let constant = self.graph.constant(self.graph.ty(number), value);
        self.graph.node(Op::Compare, Comparison::Equal as u16, Type::BOOL, [number, constant, NONE, NONE])
    }

    /// The arms that names select, with the values of the names.
    fn arms_of_names<'e>(
        &mut self,
        of: &str,
        choices: &[(&str, u64)],
        arms: &'e [Arm],
        span: Span,
    ) -> Result<Vec<Reached<'e>>, Stop> {
        let mut left = choices.to_vec();
        let mut reached = Vec::new();
        for arm in arms {
            let mut bits = Vec::new();
            for value in &arm.values {
                if let Some(at) = left.iter().position(|(name, _)| *name == value.text) {
                    bits.push(left.remove(at).1);
                } else if !self.in_function() {
                    if choices.iter().any(|(name, _)| *name == value.text) {
                        return Err(self.taken(value));
                    }
                    let message = format!("{of} has no value `{}`", value.text);
                    let error = Diagnostic::error("E0124", value.span, message).label("not one of its values");
                    let names = || choices.iter().map(|(name, _)| *name);
                    return Err(self.error(match did_you_mean(&value.text, names()) {
                        Some(near) => error.help(format!("did you mean `{near}`?")),
                        None => error.help(format!("write one of its values: {}", one_of(names()))),
                    }));
                }
            }
            if arm.values.is_empty() {
                bits.extend(left.drain(..).map(|(_, bits)| bits));
            }
            self.reach(arm, !bits.is_empty());
            if !bits.is_empty() {
                reached.push((bits, &arm.body));
            }
        }
        self.all_reached(of, &left.iter().map(|(name, _)| *name).collect::<Vec<_>>(), span)?;
        Ok(reached)
    }

    /// The arms that numbers select.
    fn arms_of_number<'e>(
        &mut self,
        of: &str,
        numbers: Numbers,
        arms: &'e [Arm],
        span: Span,
    ) -> Result<Vec<Reached<'e>>, Stop> {
        let Numbers { bits, signed, .. } = numbers;
        let least = if signed { -(1i128 << (bits - 1)) } else { 0 };
        let end = least + (1i128 << bits);
        let mut seen: Vec<i128> = Vec::new();
        let mut rest = false;
        let mut reached = Vec::new();
        for arm in arms {
            let mut values = Vec::new();
            for value in &arm.values {
                let Some(number) = value.number else {
                    let error = Diagnostic::error("E0124", value.span, format!("{of} is a number and has no names"));
                    return Err(self.error(error.help("write the number")));
                };
                if !(least..end).contains(&number) {
                    let message = format!("{of} is never {number}: it is {least} to {}", end - 1);
                    let error = Diagnostic::error("E0124", value.span, message).label("never reached");
                    return Err(self.error(match signed && (end..2 * end).contains(&number) {
                        true => error.help(format!("it is in two's complement: write {}", number - 2 * end)),
                        false => error,
                    }));
                }
                if rest || seen.contains(&number) {
                    return Err(self.taken(value));
                }
                seen.push(number);
                values.push(number as u64);
            }
            let any = arm.values.is_empty() && !rest && (seen.len() as i128) < end - least;
            rest |= any;
            let left = any && numbers.without(&seen).next().is_some();
            self.reach(arm, left || values.iter().any(|number| numbers.contain(*number)));
            if any || !values.is_empty() {
                reached.push((values, &arm.body));
            }
        }
        if !rest {
            let missing = numbers.without(&seen).take(8).map(|number| number.to_string());
            self.all_reached(of, &missing.collect::<Vec<_>>(), span)?;
        }
        Ok(reached)
    }

    fn taken(&mut self, value: &ArmValue) -> Stop {
        let message = format!("`{}` is already matched by an earlier arm", value.text);
        self.error(Diagnostic::error("E0124", value.span, message).label("never reached"))
    }

    /// Reports a `match` with values that have no arm.
    fn all_reached(&mut self, of: &str, left: &[impl AsRef<str>], span: Span) -> Result<(), Stop> {
        if left.is_empty() {
            return Ok(());
        }
        let names = one_of(left.iter().take(8).map(AsRef::as_ref));
        let message = format!("{of} may also be {names}");
        let error = Diagnostic::error("E0124", span, message).label("values without an arm");
        Err(self.error(error.help("add arms for them, or `_ => …`")))
    }

    /// Maps numbers to numbers by shifting a few constants: a condition for each number would take many more
    /// operations.
    fn table(&mut self, of: u16, table: &Table, ty: Type) -> Result<Value, Stop> {
        let least = table.values().map(|(value, _)| value).min().unwrap_or(0);
        for (value, place) in table.values() {
            self.literal(value, ty, place)?;
        }
        let number = self.word_of(of);
        let offset = |value: i128| (value - least) as u64;
        let greatest = table.values().map(|(value, _)| offset(value)).max().unwrap_or(0);
        // An entry has `2^width` bits, and a constant holds `2^many` entries.
        let width = (64 - greatest.leading_zeros()).max(1).next_power_of_two().trailing_zeros();
        let many = (6 - width).min(table.bits);
        let other = offset(table.other.map_or(least, |(value, _)| value));
        let mut constants = vec![0u64; 1 << (table.bits - many)];
        for index in 0..1u64 << table.bits {
            let entry = table.entries.iter().find(|(number, ..)| *number == index);
            let value = entry.map_or(other, |(_, value, _)| offset(*value));
            constants[(index >> many) as usize] |= value << ((index & ones(many)) << width);
        }
        let mut nodes: Vec<u16> = constants.iter().map(|value| self.graph.constant(Type::U64, *value)).collect();
        for bit in many..table.bits {
            let is_set = self.graph.node(Op::Slice, bit as u16, Type::unsigned(1), [number, NONE, NONE, NONE]);
            let is_set = self.bits(is_set, Type::BOOL);
            nodes = nodes.chunks(2).map(|pair| self.select(is_set, pair[1], pair[0])).collect();
        }
        let mut value = nodes[0];
        if many > 0 {
            let mask = self.graph.constant(Type::U64, ones(many));
            let within = self.graph.node(Op::And, 0, Type::U64, [number, mask, NONE, NONE]);
            let by = self.graph.constant(Type::U64, width.into());
            let count = self.graph.node(Op::Shl, 0, Type::U64, [within, by, NONE, NONE]);
            let shifted = self.graph.node(Op::Shr, 0, Type::U64, [value, count, NONE, NONE]);
            let mask = self.graph.constant(Type::U64, ones(1 << width));
            value = self.graph.node(Op::And, 0, Type::U64, [shifted, mask, NONE, NONE]);
        }
        if table.is_open {
            let end = self.graph.constant(Type::U64, 1 << table.bits);
            let within = [number, end, NONE, NONE];
            let within = self.graph.node(Op::Compare, Comparison::Less as u16, Type::BOOL, within);
            let other = self.graph.constant(Type::U64, other);
            value = self.select(within, value, other);
        }
        if least != 0 {
            let least = self.graph.constant(Type::U64, least as u64);
            value = self.graph.node(Op::Add, 0, Type::U64, [value, least, NONE, NONE]);
        }
        let unsigned = Type::unsigned(ty.bits);
        if ty.bits < 64 {
            value = self.graph.node(Op::Trunc, 0, unsigned, [value, NONE, NONE, NONE]);
        }
        Ok(Value::Node(self.bits(value, ty)))
    }

    /// Converts an integer to `u64`, with zeros in the upper bits.
    fn word_of(&mut self, node: u16) -> u16 {
        let bits = self.graph.ty(node).bits;
        let node = self.bits(node, Type::unsigned(bits));
        if bits == 64 { node } else { self.graph.node(Op::Zext, 0, Type::U64, [node, NONE, NONE, NONE]) }
    }

    fn select(&mut self, condition: u16, yes: u16, no: u16) -> u16 {
        let ty = self.graph.ty(yes);
        if yes == no { yes } else { self.graph.node(Op::Select, 0, ty, [condition, yes, no, NONE]) }
    }
}

/// A map from numbers to numbers.
struct Table {
    /// How many low bits distinguish the numbers.
    bits: u32,
    /// Whether numbers with higher bits are possible, too.
    is_open: bool,
    /// The low bits of each number, its result, and the place of the result.
    entries: Vec<(u64, i128, Span)>,
    /// The result for all other numbers.
    other: Option<(i128, Span)>,
}

impl Table {
    fn values(&self) -> impl Iterator<Item = (i128, Span)> {
        self.entries.iter().map(|(_, value, span)| (*value, *span)).chain(self.other)
    }
}

/// The value of an expression that is a literal number.
fn literal(e: &Expr) -> Option<i128> {
    match &e.kind {
        ExprKind::Int(value, _) => Some((*value).into()),
        ExprKind::Unary(Unary::Neg, inner) => literal(inner).map(|value| -value),
        _ => None,
    }
}

/// Arms that are all literal numbers as a table; `None` if they are few or the table would be too large.
fn literals(reached: &[Reached<'_>]) -> Option<Table> {
    let mut table = Table { bits: 1, is_open: false, entries: Vec::new(), other: None };
    for (values, body) in reached {
        let value = literal(body)?;
        if values.is_empty() {
            (table.is_open, table.other) = (true, Some((value, body.span)));
        }
        table.entries.extend(values.iter().map(|number| (*number, value, body.span)));
    }
    let all = table.entries.iter().fold(1, |all, (number, ..)| all | number);
    table.bits = 64 - all.leading_zeros();
    (table.entries.len() > FEW && table.bits <= TABLE_BITS).then_some(table)
}

fn roundings(reached: &[Reached<'_>], results: Vec<Result<Value, Stop>>, modifier: Value) -> Value {
    let mut modes = Vec::new();
    for ((bits, _), result) in reached.iter().zip(results) {
        if let Ok(Value::Round(inner, None)) = result {
            modes.extend(inner.into_iter().map(|(_, round)| (bits.clone(), round)));
        }
    }
    Value::Round(modes, Some(Box::new(modifier)))
}
