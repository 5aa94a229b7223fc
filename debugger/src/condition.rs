//! Conditions of breakpoints: `r2 > 1.0`, `r0 == 3 && r1:i32 < 0 in lane 4`, `[0x1000] != 0 in all lanes`.
//!
//! ```text
//! condition  = or [ "in" ( "any lane" | "all lanes" | "lane" NUMBER ) ]
//! or         = and { "||" and }
//! and        = comparison { "&&" comparison }
//! comparison = term ( "==" | "!=" | "<=" | ">=" | "<" | ">" ) term | "(" or ")"
//! term       = ( REGISTER [ "." part ] | "[" [ SPACE ":" ] ADDRESS "]" | "lane" | NUMBER ) [ ":" kind ]
//! part       = "x" | "y" | "z" | "w" | "h0" | "h1" | "h2" | "h3"
//! kind       = "u32" | "i32" | "f32" | "f16"
//! ```
//!
//! A part is 16 bits of a register, lowest first. Without a kind, a comparison is in floats if a number has a decimal
//! point, signed if a number is negative, and unsigned otherwise. In floats, a number is rounded to the format of the
//! comparison, so that a register equals the number it is shown as. A condition holds if it holds in any lane that
//! executes the instruction, unless it specifies lanes.

use half::f16;
use isaforge_core::float::{Format, Round, convert};
use isaforge_core::number;
use isaforge_runtime::machine::{Register, View};

use crate::memory::Address;
use crate::names::Names;
use crate::value::{half, signed};

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The condition as it was written.
    pub text: String,
    tree: Tree,
    lanes: Lanes,
}

#[derive(Clone, Debug, PartialEq)]
enum Lanes {
    Any,
    All,
    One(usize),
}

#[derive(Clone, Debug, PartialEq)]
enum Tree {
    Or(Vec<Tree>),
    And(Vec<Tree>),
    Compare(Term, Op, Term),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Equal,
    Differs,
    AtMost,
    AtLeast,
    Less,
    Greater,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Register { register: Register, width: u32, part: Option<u32> },
    Memory(Address),
    Lane,
    Whole(i128),
    Float(f64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Term(What, Option<Kind>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Unsigned,
    Signed,
    F32,
    F16,
}

impl Kind {
    /// Rounds a number as it was written to the format.
    fn round(self, number: f64) -> f64 {
        match self {
            Kind::F32 => f64::from(number as f32),
            // `f16::from_f64` rounds twice.
            Kind::F16 => {
                let half = convert(Format::F64, Format::F16, number.to_bits(), Round::NearestEven);
                f16::from_bits(half as u16).to_f64()
            }
            Kind::Unsigned | Kind::Signed => number,
        }
    }
}

impl Condition {
    /// Parses a condition for a machine with these names.
    ///
    /// # Errors
    /// The error in the condition.
    pub fn parse(text: &str, names: Names<'_>) -> Result<Condition, String> {
        let tokens = tokens(text)?;
        let mut parser = Parser { tokens: &tokens, names };
        let tree = parser.or(0)?;
        let lanes = match parser.tokens {
            [] => Lanes::Any,
            ["in", "any", "lane"] => Lanes::Any,
            ["in", "all", "lanes"] => Lanes::All,
            ["in", "lane", lane] => match number::parse(lane) {
                Some(lane) if lane < names.lanes.min(64) as u64 => Lanes::One(lane as usize),
                _ => return Err(format!("there is no lane `{lane}`, only 0 to {}", names.lanes.max(1) - 1)),
            },
            ["in", ..] => return Err("`in` must be followed by `any lane`, `all lanes` or `lane N`".to_owned()),
            [other, ..] => return Err(format!("`{other}` is not expected; write `&&`, `||` or `in any lane`")),
        };
        Ok(Condition { text: text.trim().to_owned(), tree, lanes })
    }

    /// Whether the condition holds.
    pub fn holds(&self, view: &dyn View) -> bool {
        let active = view.at().active;
        let mut lanes = (0..64).filter(|lane| active >> lane & 1 != 0);
        match self.lanes {
            Lanes::Any => lanes.any(|lane| self.tree.holds(view, lane)),
            Lanes::All => active != 0 && lanes.all(|lane| self.tree.holds(view, lane)),
            Lanes::One(one) => active >> one & 1 != 0 && self.tree.holds(view, one),
        }
    }
}

impl Tree {
    fn holds(&self, view: &dyn View, lane: usize) -> bool {
        match self {
            Tree::Or(trees) => trees.iter().any(|tree| tree.holds(view, lane)),
            Tree::And(trees) => trees.iter().all(|tree| tree.holds(view, lane)),
            Tree::Compare(left, op, right) => {
                let kind = left.1.or(right.1).unwrap_or_else(|| implied(left, right));
                let (Some(left), Some(right)) = (left.value(kind, view, lane), right.value(kind, view, lane)) else {
                    return false;
                };
                match op {
                    Op::Equal => left == right,
                    Op::Differs => left != right,
                    Op::AtMost => left <= right,
                    Op::AtLeast => left >= right,
                    Op::Less => left < right,
                    Op::Greater => left > right,
                }
            }
        }
    }
}

fn implied(left: &Term, right: &Term) -> Kind {
    let of = |test: fn(&What) -> bool| test(&left.0) || test(&right.0);
    if of(|what| matches!(what, What::Float(_))) {
        let small = of(|what| matches!(what, What::Register { part: Some(_), .. }));
        return if small { Kind::F16 } else { Kind::F32 };
    }
    if of(|what| matches!(what, What::Whole(number) if *number < 0)) { Kind::Signed } else { Kind::Unsigned }
}

/// A value in a comparison. Values of different kinds are unordered.
#[derive(PartialEq, PartialOrd)]
enum Value {
    Whole(i128),
    Float(f64),
}

impl Term {
    fn value(&self, kind: Kind, view: &dyn View, lane: usize) -> Option<Value> {
        let (bits, width) = match self.0 {
            What::Register { register, width, part: None } => (view.read(register, lane)?, width),
            What::Register { register, part: Some(part), .. } => {
                (view.read(register, lane)? >> (16 * part) & 0xffff, 16)
            }
            What::Memory(address) => {
                let mut bytes = [0; 4];
                address.read(view, lane, &mut bytes)?;
                (u32::from_le_bytes(bytes).into(), 32)
            }
            What::Lane => (lane as u64, 32),
            What::Whole(number) => {
                return Some(match kind {
                    Kind::F32 | Kind::F16 => Value::Float(kind.round(number as f64)),
                    _ => Value::Whole(number),
                });
            }
            What::Float(number) => return Some(Value::Float(kind.round(number))),
        };
        Some(match kind {
            Kind::Unsigned => Value::Whole(bits.into()),
            Kind::Signed => Value::Whole(signed(bits, width).into()),
            Kind::F32 => Value::Float(f32::from_bits(bits as u32).into()),
            Kind::F16 => Value::Float(half(bits)),
        })
    }
}

/// Splits a condition into words, numbers and operators.
fn tokens(text: &str) -> Result<Vec<&str>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let signs = ["&&", "||", "==", "!=", "<=", ">="];
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
        let length = if let Some(sign) = signs.iter().find(|sign| rest.starts_with(**sign)) {
            sign.len()
        } else if matches!(first, '<' | '>' | '(' | ')' | '[' | ']' | ':' | '-') {
            1
        } else if is_word(first) {
            let mut end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            // `1e-5` is a single number.
            if first.is_ascii_digit()
                && !rest.starts_with("0x")
                && rest[..end].ends_with(['e', 'E'])
                && rest[end..].starts_with(['-', '+'])
            {
                let tail = &rest[end + 1..];
                end += 1 + tail.find(|c| !is_word(c)).unwrap_or(tail.len());
            }
            end
        } else {
            return Err(format!("`{first}` is not allowed in a condition"));
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

struct Parser<'t, 'b> {
    tokens: &'t [&'t str],
    names: Names<'b>,
}

/// The maximum nesting of conditions.
const DEPTH: usize = 32;

impl<'t> Parser<'t, '_> {
    fn take(&mut self) -> Option<&'t str> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    fn skip(&mut self, token: &str) -> bool {
        let found = self.tokens.first() == Some(&token);
        if found {
            self.tokens = &self.tokens[1..];
        }
        found
    }

    fn or(&mut self, depth: usize) -> Result<Tree, String> {
        if depth > DEPTH {
            return Err(format!("there are more than {DEPTH} nested parentheses"));
        }
        let mut trees = vec![self.and(depth)?];
        while self.skip("||") {
            trees.push(self.and(depth)?);
        }
        Ok(Tree::Or(trees))
    }

    fn and(&mut self, depth: usize) -> Result<Tree, String> {
        let mut trees = vec![self.comparison(depth)?];
        while self.skip("&&") {
            trees.push(self.comparison(depth)?);
        }
        Ok(Tree::And(trees))
    }

    fn comparison(&mut self, depth: usize) -> Result<Tree, String> {
        if self.skip("(") {
            let tree = self.or(depth + 1)?;
            return if self.skip(")") { Ok(tree) } else { Err("a `)` is missing".to_owned()) };
        }
        let left = self.term()?;
        let op = match self.take() {
            Some("==") => Op::Equal,
            Some("!=") => Op::Differs,
            Some("<=") => Op::AtMost,
            Some(">=") => Op::AtLeast,
            Some("<") => Op::Less,
            Some(">") => Op::Greater,
            other => {
                let found = other.map_or("the condition ends".to_owned(), |other| format!("`{other}` was found"));
                return Err(format!("a comparison such as `==` or `<` is expected, but {found}"));
            }
        };
        let right = self.term()?;
        let kind = left.1.or(right.1).unwrap_or_else(|| implied(&left, &right));
        for (number, other) in [(&left.0, &right.0), (&right.0, &left.0)] {
            fits(number, other, kind)?;
        }
        Ok(Tree::Compare(left, op, right))
    }

    fn term(&mut self) -> Result<Term, String> {
        let negative = self.skip("-");
        let token = self.take().ok_or("a register or a number is expected, but the condition ends")?;
        let what = match token {
            "[" => {
                let end = self.tokens.iter().position(|token| *token == "]").ok_or("a `]` is missing")?;
                let (inside, rest) = self.tokens.split_at(end);
                self.tokens = &rest[1..];
                let text = if let [space, ":", at] = inside { format!("{space}:{at}") } else { inside.join(" ") };
                What::Memory(Address::parse(&text, self.names.spaces)?)
            }
            "lane" => What::Lane,
            _ if token.starts_with(|c: char| c.is_ascii_digit() || c == '.') => literal(token, negative)?,
            _ => self.register(token)?,
        };
        if negative && !matches!(what, What::Whole(_) | What::Float(_)) {
            return Err("`-` is only allowed before a number".to_owned());
        }
        let kind = match self.skip(":").then(|| self.take()) {
            None => None,
            Some(Some("u32" | "u")) => Some(Kind::Unsigned),
            Some(Some("i32" | "i")) => Some(Kind::Signed),
            Some(Some("f32" | "f")) => Some(Kind::F32),
            Some(Some("f16" | "h")) => Some(Kind::F16),
            Some(_) => return Err("`:` must be followed by u32, i32, f32 or f16".to_owned()),
        };
        Ok(Term(what, kind))
    }

    fn register(&mut self, token: &str) -> Result<What, String> {
        let mut name = token.to_owned();
        // An element of a state: `stack[3]`.
        if self.tokens.first() == Some(&"[") && self.names.register(token).is_none() {
            self.skip("[");
            name = format!("{token}[{}]", self.take().unwrap_or_default());
            self.skip("]");
        }
        let whole = self.names.register(&name);
        let (name, part) = match name.rsplit_once('.') {
            Some((name, part)) if whole.is_none() => (name, Some(part)),
            _ => (name.as_str(), None),
        };
        let Some((register, bank)) = whole.or_else(|| self.names.register(name)) else {
            return Err(self.names.missing(name));
        };
        let part = match part {
            None => None,
            Some("x" | "h0") => Some(0),
            Some("y" | "h1") => Some(1),
            Some("z" | "h2") => Some(2),
            Some("w" | "h3") => Some(3),
            Some(other) => return Err(format!("a register has no part `{other}`; write .h0 to .h3, or .x to .w")),
        };
        match part {
            Some(part) if 16 * part >= bank.width => {
                Err(format!("`{name}` has {} bits, and the part .h{part} starts at bit {}", bank.width, 16 * part))
            }
            part => Ok(What::Register { register, width: bank.width, part }),
        }
    }
}

/// Reports a whole number that the other side of a comparison never holds.
fn fits(number: &What, other: &What, kind: Kind) -> Result<(), String> {
    let (number, width) = match (number, other) {
        (What::Whole(number), What::Register { width, part, .. }) => (*number, part.map_or(*width, |_| 16)),
        (What::Whole(number), What::Memory(_)) => (*number, 32),
        _ => return Ok(()),
    };
    let (least, most) = match kind {
        Kind::Unsigned => (0, (1i128 << width) - 1),
        Kind::Signed => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
        Kind::F32 | Kind::F16 => return Ok(()),
    };
    if (least..=most).contains(&number) {
        return Ok(());
    }
    Err(format!("`{number}` is compared with {width} bits, which hold {least} to {most}"))
}

fn literal(token: &str, negative: bool) -> Result<What, String> {
    let sign: i128 = if negative { -1 } else { 1 };
    if let Some(whole) = number::parse(token) {
        return Ok(What::Whole(sign * i128::from(whole)));
    }
    if !token.contains(['.', 'e', 'E']) {
        return Err(format!("`{token}` is not a number"));
    }
    let float: f64 = token.trim_end_matches('f').parse().map_err(|_| format!("`{token}` is not a number"))?;
    Ok(What::Float(sign as f64 * float))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use isaforge_runtime::machine::{At, Bank};

    use super::*;

    /// Two lanes; lane n has 0.5 + n in r1 and -n in r2; memory has 7 at 0x10.
    struct Two;

    impl View for Two {
        fn at(&self) -> At {
            At { warp: 0, pc: 0, live: 3, active: 3 }
        }

        fn origin(&self) -> String {
            String::new()
        }

        fn thread(&self, lane: usize) -> [u32; 3] {
            [lane as u32, 0, 0]
        }

        fn read(&self, register: Register, lane: usize) -> Option<u64> {
            Some(match register.index {
                1 => u64::from((0.5 + lane as f32).to_bits()),
                2 => u64::from((lane as u32).wrapping_neg()),
                3 => 0x4000_3c00,
                4 => 0x3dcc_cccd,
                5 => 0x2e66,
                6 => u64::MAX,
                _ => 0,
            })
        }

        fn memory(&self, _: usize, address: u64, into: &mut [u8]) -> Option<()> {
            (address == 0x10).then(|| into.copy_from_slice(&[7, 0, 0, 0]))
        }
    }

    fn parse(text: &str) -> Result<Condition, String> {
        let stack = Bank { close: "]".to_owned(), ..Bank::new("stack[", 4, 32) };
        let banks = [Bank::new("r", 8, 32), Bank::new("q", 8, 64), stack];
        let states = BTreeMap::from([("top".to_owned(), Register { bank: 0, index: 2 })]);
        Condition::parse(text, Names { banks: &banks, states: &states, lanes: 32, spaces: &["tile"] })
    }

    fn holds(text: &str) -> bool {
        parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).holds(&Two)
    }

    #[test]
    fn a_number_is_rounded_to_a_half_once() {
        // Just above the middle between two halves.
        assert_eq!(Kind::F16.round(1.000_488_281_25_f64.next_up()), 1.000_976_562_5);
    }

    #[test]
    fn conditions_hold_as_they_read() {
        for (text, expected) in [
            ("r1 > 1.0", true),
            ("r1 > 1.0 in any lane", true),
            ("r1 > 1.0 in all lanes", false),
            ("r1 > 1.0 in lane 0", false),
            ("r1 > 1.0 in lane 1", true),
            ("r1 > 1.0 in lane 5", false),
            ("r1 == 0x3f000000", true),
            ("r2 < 0", false),
            ("r2 == -1", true),
            ("r2:i32 < 0", true),
            ("r2 < -0", false),
            ("lane == 1 && r2:i32 == -1", true),
            ("lane == 0 && r2:i32 == -1", false),
            ("(lane == 0 || lane == 1) && r1 >= 1.5", true),
            ("[0x10] == 7", true),
            ("[0x14] == 0", false),
            ("r3.h0 == 1.0 && r3.y == 2.0", true),
            ("r1 > 1e-5 in all lanes", true),
            ("2 != r0 in all lanes", true),
            ("r4 == 0.1 in all lanes", true),
            ("r4 == 0.1:f32 && r4 <= 0.1 && r4 >= 0.1", true),
            ("r4 > 0.1 || r4 < 0.1", false),
            ("r5.h0 == 0.1 && r5:f16 == 0.1", true),
            ("q6 == 0xffffffffffffffff && q6:i32 == -1", true),
            ("top == -1", true),
            ("r0 == 0 in lane 31", false),
        ] {
            assert_eq!(holds(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_condition_is_told_why() {
        for (text, expected) in [
            ("", "a register or a number is expected"),
            ("r1", "a comparison such as"),
            ("r9 == 1", "there is no register `r9`"),
            ("stack == 1", "`stack` is an array of 4 elements; name one of `stack[0]` to `stack[3]`"),
            ("r1 = 1", "`=` is not allowed"),
            ("r1 == 1 in lanes", "`in` must be followed by"),
            ("r1 == 1 r2", "`r2` is not expected"),
            ("r1.h2 == 1", "`r1` has 32 bits, and the part .h2 starts at bit 32"),
            ("r1 == 1 in lane 32", "there is no lane `32`, only 0 to 31"),
            ("r9.x == 1", "there is no register `r9`"),
            ("(r1 == 1", "a `)` is missing"),
            ("r1 == 99999999999999999999", "is not a number"),
            ("r1:f64 == 1", "`:` must be followed by"),
            ("r1 == 4294967296", "`4294967296` is compared with 32 bits, which hold 0 to 4294967295"),
            ("-2147483649 < r1", "which hold -2147483648 to 2147483647"),
            ("r3.h1 == 65536", "is compared with 16 bits"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
        let deep = "(".repeat(100_000) + "r1 == 1";
        assert!(parse(&deep).is_err());
    }
}
