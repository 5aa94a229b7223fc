//! `<expression>`: how a field is computed from others.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{Span, Spanned};
use crate::suggest::{did_you_mean, one_of};
use crate::xml::Element;

/// An expression in 32-bit arithmetic.
#[derive(Clone, Debug)]
pub(super) enum Expression {
    /// The value of a field.
    Name(Spanned<String>),
    /// A constant.
    Number(u32),
    /// An operator with its arguments.
    Apply(Operator, Vec<Expression>),
}

/// An operator: its name, and the minimum and maximum number of arguments.
type Row = (&'static str, Operator, usize, usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    If,
    And,
    Or,
    Xor,
    Add,
    Sub,
    ShiftLeft,
    ShiftRight,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Both,
    Inside,
    CountOnes,
    Mask,
    Slice,
}

const MANY: usize = usize::MAX;

const OPERATORS: [Row; 19] = [
    ("if", Operator::If, 3, MANY),
    ("bitwise_and", Operator::And, 2, MANY),
    ("bitwise_or", Operator::Or, 2, MANY),
    ("add", Operator::Add, 2, MANY),
    ("bitwise_xor", Operator::Xor, 2, 2),
    ("equal", Operator::Equal, 2, 2),
    ("not_equal", Operator::NotEqual, 2, 2),
    ("less_than", Operator::Less, 2, 2),
    ("less_equal", Operator::LessEqual, 2, 2),
    ("greater_than", Operator::Greater, 2, 2),
    ("greater_equal", Operator::GreaterEqual, 2, 2),
    ("logical_and", Operator::Both, 2, 2),
    ("sub", Operator::Sub, 2, 2),
    ("rshift", Operator::ShiftRight, 2, 2),
    ("lshift", Operator::ShiftLeft, 2, 2),
    ("inside", Operator::Inside, 2, MANY),
    ("countones", Operator::CountOnes, 1, 1),
    ("mask", Operator::Mask, 1, 1),
    ("slice", Operator::Slice, 3, 3),
];

/// Looks up the number of an enum's value, given the enum and the value.
pub(super) type Named<'a> = dyn Fn(&Spanned<String>, &Spanned<String>, &mut Diagnostics) -> Option<u64> + 'a;

impl Expression {
    /// Reads an `<expression>`.
    pub(super) fn read(element: &Element, named: &Named<'_>, out: &mut Diagnostics) -> Option<Expression> {
        let attribute = |name: &str| element.attribute(name);
        match (attribute("identifier"), attribute("literal"), attribute("operator")) {
            (Some(name), None, None) => Some(Expression::Name(name.clone())),
            (None, Some(literal), None) => {
                let value = match attribute("enum") {
                    Some(of) => named(of, literal, out)?,
                    None => super::document::number(literal, out)?,
                };
                match u32::try_from(value) {
                    Ok(value) => Some(Expression::Number(value)),
                    Err(_) => {
                        out.push(Diagnostic::error(
                            "E0031",
                            literal.span,
                            format!("`{}` does not fit 32 bits", literal.value),
                        ));
                        None
                    }
                }
            }
            (None, None, Some(operator)) => {
                let Some((word, op, least, most)) = OPERATORS.iter().find(|(word, ..)| *word == operator.value) else {
                    let error =
                        Diagnostic::error("E0081", operator.span, format!("unknown operator `{}`", operator.value));
                    let near = did_you_mean(&operator.value, OPERATORS.iter().map(|(word, ..)| *word));
                    let error = match near {
                        Some(near) => error.help(format!("did you mean `{near}`?")),
                        None => error,
                    };
                    out.push(
                        error.note(format!("the operators are {}", one_of(OPERATORS.iter().map(|(word, ..)| *word)))),
                    );
                    return None;
                };
                let arguments: Vec<_> =
                    element.children.iter().map(|child| Expression::read(child, named, out)).collect();
                let arguments: Vec<Expression> = arguments.into_iter().collect::<Option<_>>()?;
                let odd = *op != Operator::If || arguments.len() % 2 == 1;
                if arguments.len() < *least || arguments.len() > *most || !odd {
                    let message = format!("`{word}` cannot have {} arguments", arguments.len());
                    out.push(Diagnostic::error("E0081", element.span, message));
                    return None;
                }
                Some(Expression::Apply(*op, arguments))
            }
            _ => {
                let error = Diagnostic::error("E0081", element.span, "an expression with no content, or with too much");
                out.push(error.help("give it exactly one of `identifier`, `literal` and `operator`"));
                None
            }
        }
    }

    /// The names that occur in it.
    pub(super) fn names(&self) -> Vec<&Spanned<String>> {
        match self {
            Expression::Name(name) => vec![name],
            Expression::Number(_) => Vec::new(),
            Expression::Apply(_, arguments) => arguments.iter().flat_map(Expression::names).collect(),
        }
    }

    /// Its value; `None` if `value_of` does not know a name that matters.
    pub(super) fn value(&self, value_of: &dyn Fn(&str) -> Option<u32>) -> Option<u32> {
        let (operator, arguments) = match self {
            Expression::Name(name) => return value_of(&name.value),
            Expression::Number(value) => return Some(*value),
            Expression::Apply(operator, arguments) => (*operator, arguments),
        };
        if operator == Operator::If {
            let mut rest = &arguments[..];
            while let [condition, then, more @ ..] = rest {
                if condition.value(value_of)? != 0 {
                    return then.value(value_of);
                }
                rest = more;
            }
            return rest.first()?.value(value_of);
        }
        let values: Vec<u32> = arguments.iter().map(|a| a.value(value_of)).collect::<Option<_>>()?;
        let (first, rest) = values.split_first()?;
        let a = *first;
        let b = rest.first().copied().unwrap_or(0);
        Some(match operator {
            Operator::And => rest.iter().fold(a, |x, y| x & y),
            Operator::Or => rest.iter().fold(a, |x, y| x | y),
            Operator::Add => rest.iter().fold(a, |x, y| x.wrapping_add(*y)),
            Operator::Xor => a ^ b,
            Operator::Sub => a.wrapping_sub(b),
            Operator::ShiftLeft => a.checked_shl(b).unwrap_or(0),
            Operator::ShiftRight => a.checked_shr(b).unwrap_or(0),
            Operator::Equal => u32::from(a == b),
            Operator::NotEqual => u32::from(a != b),
            Operator::Less => u32::from(a < b),
            Operator::LessEqual => u32::from(a <= b),
            Operator::Greater => u32::from(a > b),
            Operator::GreaterEqual => u32::from(a >= b),
            Operator::Both => u32::from(a != 0 && b != 0),
            Operator::Inside => u32::from(rest.contains(&a)),
            Operator::CountOnes => a.count_ones(),
            Operator::Mask => isaforge_core::bits::ones(a.min(32)) as u32,
            Operator::Slice => {
                let (high, low) = (b, rest.get(1).copied().unwrap_or(0));
                let width = high.checked_sub(low)?.saturating_add(1);
                a.checked_shr(low).unwrap_or(0) & isaforge_core::bits::ones(width.min(32)) as u32
            }
            Operator::If => return None,
        })
    }

    /// The place of the first name, for messages.
    pub(super) fn span(&self) -> Option<Span> {
        self.names().first().map(|name| name.span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(operator: Operator, arguments: &[u32]) -> Option<u32> {
        Expression::Apply(operator, arguments.iter().map(|n| Expression::Number(*n)).collect()).value(&|_| None)
    }

    #[test]
    fn operators_compute_in_32_bits() {
        assert_eq!(apply(Operator::If, &[0, 1, 1, 2, 3]), Some(2));
        assert_eq!(apply(Operator::If, &[0, 1, 0, 2, 3]), Some(3));
        assert_eq!(apply(Operator::Slice, &[0x1fe, 8, 8]), Some(1));
        assert_eq!(apply(Operator::Slice, &[0x1fe, 7, 0]), Some(0xfe));
        assert_eq!(apply(Operator::Slice, &[1, 0, 5]), None);
        assert_eq!(apply(Operator::Mask, &[32]), Some(u32::MAX));
        assert_eq!(apply(Operator::ShiftLeft, &[1, 99]), Some(0));
        assert_eq!(apply(Operator::Sub, &[0, 1]), Some(u32::MAX));
        assert_eq!(apply(Operator::Inside, &[5, 1, 5]), Some(1));
    }

    #[test]
    fn a_branch_that_is_not_taken_needs_no_value() {
        let unknown = || Expression::Apply(Operator::CountOnes, Vec::new());
        let branch = vec![Expression::Number(1), Expression::Number(7), unknown()];
        assert_eq!(Expression::Apply(Operator::If, branch).value(&|_| None), Some(7));
    }
}
