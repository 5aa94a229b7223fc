//! Bits: the positions of fields, and constant bits.

use crate::diagnostic::{Diagnostic, count};
use crate::keys::{Accepts, FromNode, Reader};
use crate::source::{Span, Spanned};
use crate::yaml::{Node, Value};

/// A run of bits or the name of a shared field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Bits `high` down to `low`.
    Run {
        /// Highest bit.
        high: u8,
        /// Lowest bit.
        low: u8,
    },
    /// The bits of a shared field.
    Shared(String),
}

/// The position of a field: `7..0`, `5`, or a list with the most significant piece first.
#[derive(Clone, Debug)]
pub struct BitList {
    /// Where the value is written.
    pub span: Span,
    /// The pieces, most significant first.
    pub pieces: Vec<Spanned<Piece>>,
}

/// The inputs that [`parse_run`] accepts, as a regular expression.
const RUN: &str = r"^\s*[0-9]+\s*(\.\.\s*[0-9]+\s*)?$";

/// Parses `high..low` or `bit`. `None` when the text is neither; an error when the bits are not acceptable.
pub fn parse_run(text: &str) -> Option<Result<(u8, u8), String>> {
    let number = |t: &str| t.trim().parse::<u32>().ok();
    let (high, low) = match text.split_once("..") {
        Some((high, low)) => (number(high)?, number(low)?),
        None => (number(text)?, number(text)?),
    };
    Some(if high < low {
        Err(format!("write the high bit first: `{low}..{high}`"))
    } else if high > 255 {
        Err("bits are numbered 0 to 255".to_owned())
    } else if high - low > 63 {
        Err("a run has at most 64 bits; write two".to_owned())
    } else {
        Ok((high as u8, low as u8))
    })
}

impl FromNode for Spanned<Piece> {
    const EXPECTED: &'static str = "a run of bits such as `7..0`, or a bit number";

    fn accepts() -> Accepts {
        Accepts::Either(vec![Accepts::Number(0, 255), Accepts::Text])
    }

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        let text = match &node.value {
            Value::Int(n) => n.to_string(),
            Value::Text(text) => text.clone(),
            _ => {
                r.wrong_kind(node, Self::EXPECTED);
                return None;
            }
        };
        match parse_run(&text) {
            Some(Ok((high, low))) => Some(Spanned::new(Piece::Run { high, low }, node.span)),
            Some(Err(help)) => {
                r.out.push(Diagnostic::error("E0030", node.span, format!("`{text}` is not a run of bits")).help(help));
                None
            }
            None => Some(Spanned::new(Piece::Shared(text), node.span)),
        }
    }
}

impl FromNode for BitList {
    const EXPECTED: &'static str = "bits such as `7..0`, a bit number, or a list of them";

    fn accepts() -> Accepts {
        let piece = Spanned::<Piece>::accepts();
        Accepts::Either(vec![piece.clone(), Accepts::List(Box::new(piece))])
    }

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        let pieces = match &node.value {
            Value::List(items) if !items.is_empty() => {
                items.iter().map(|item| Spanned::<Piece>::from_node(item, r)).collect::<Option<_>>()?
            }
            Value::Int(_) | Value::Text(_) => vec![Spanned::<Piece>::from_node(node, r)?],
            _ => {
                r.wrong_kind(node, Self::EXPECTED);
                return None;
            }
        };
        Some(BitList { span: node.span, pieces })
    }
}

/// Constant bits: a map from runs to values, `{ 15..12: 0b0001, 3: 0 }`.
#[derive(Clone, Debug, Default)]
pub struct FixedBits(pub Vec<Fixed>);

/// One run of constant bits.
#[derive(Clone, Debug)]
pub struct Fixed {
    /// Highest bit.
    pub high: u8,
    /// Lowest bit.
    pub low: u8,
    /// The value of the bits.
    pub value: u64,
    /// Where the run is written.
    pub span: Span,
}

impl FromNode for FixedBits {
    const EXPECTED: &'static str = "a map from bits to their value, such as `{ 15..12: 0b0001 }`";

    fn accepts() -> Accepts {
        // The value may be text, since it may be a parameter of a row.
        Accepts::Keyed(RUN, Box::new(Accepts::Either(vec![u64::accepts(), Accepts::Text])))
    }

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        let Value::Map(entries) = &node.value else {
            r.wrong_kind(node, Self::EXPECTED);
            return None;
        };
        let mut fixed = Vec::new();
        let mut ok = true;
        for (key, value) in entries {
            let run = match parse_run(&key.value) {
                Some(Ok(run)) => Some(run),
                other => {
                    let help = match other {
                        Some(Err(help)) => help,
                        _ => "write the highest and the lowest bit: `15..12`, or one bit: `3`".to_owned(),
                    };
                    let message = format!("`{}` is not a run of bits", key.value);
                    r.out.push(Diagnostic::error("E0030", key.span, message).help(help));
                    None
                }
            };
            match (run, u64::from_node(value, r)) {
                (Some((high, low)), Some(number)) => {
                    let width = u32::from(high - low) + 1;
                    if number > isaforge_core::bits::ones(width) {
                        let message = format!("{number:#b} does not fit {}", count(width as usize, "bit"));
                        r.out.push(Diagnostic::error("E0031", value.span, message).secondary(key.span, "these bits"));
                        ok = false;
                    }
                    fixed.push(Fixed { high, low, value: number, span: key.span.to(value.span) });
                }
                _ => ok = false,
            }
        }
        ok.then_some(FixedBits(fixed))
    }
}
