//! Expressions as written in the documents: those of C, with `{FIELD}` for the value of a field.

/// The maximum nesting of an expression.
const MAX_DEPTH: usize = 64;

/// The maximum number of operators in an expression.
const MAX_OPERATORS: usize = 500;

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum C {
    /// A number.
    Number(u64),
    /// The value of a field.
    Field(String),
    /// The generation of the hardware.
    Generation,
    /// `!a`.
    Not(Box<C>),
    /// `~a`.
    Invert(Box<C>),
    /// `a op b`.
    Binary(Operator, Box<C>, Box<C>),
}

/// A binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Mul,
    Add,
    Sub,
    ShiftLeft,
    ShiftRight,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Xor,
    Or,
    BothTrue,
    OneTrue,
}

impl C {
    /// The names of the fields it uses.
    pub fn names(&self, names: &mut Vec<String>) {
        match self {
            C::Field(name) => names.push(name.clone()),
            C::Not(a) | C::Invert(a) => a.names(names),
            C::Binary(_, a, b) => {
                a.names(names);
                b.names(names);
            }
            C::Number(_) | C::Generation => {}
        }
    }
}

/// The operators with their precedence; higher ones bind more tightly. Operators come before their prefixes.
const OPERATORS: [(&str, u8, Operator); 16] = [
    ("||", 1, Operator::OneTrue),
    ("&&", 2, Operator::BothTrue),
    ("|", 3, Operator::Or),
    ("^", 4, Operator::Xor),
    ("&", 5, Operator::And),
    ("==", 6, Operator::Equal),
    ("!=", 6, Operator::NotEqual),
    ("<<", 8, Operator::ShiftLeft),
    (">>", 8, Operator::ShiftRight),
    ("<=", 7, Operator::LessEqual),
    (">=", 7, Operator::GreaterEqual),
    ("<", 7, Operator::Less),
    (">", 7, Operator::Greater),
    ("+", 9, Operator::Add),
    ("-", 9, Operator::Sub),
    ("*", 10, Operator::Mul),
];

/// Parses an expression.
///
/// # Errors
/// When it is not an expression, or uses parts of C that the documents do not need: division, `?:`, or functions other
/// than `ISA_GPU_ID()`.
pub(super) fn parse(text: &str) -> Result<C, String> {
    let mut reader = Reader { rest: text, depth: 0, operators: 0 };
    let found = reader.binary(0)?;
    reader.blanks();
    if reader.rest.is_empty() { Ok(found) } else { Err(reader.unexpected()) }
}

struct Reader<'t> {
    rest: &'t str,
    depth: usize,
    operators: usize,
}

impl Reader<'_> {
    fn unexpected(&self) -> String {
        match self.rest.split_whitespace().next() {
            Some(word) => format!("`{word}` is unexpected"),
            None => "it ends too early".to_owned(),
        }
    }

    fn blanks(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            match self.rest.strip_prefix("/*").and_then(|inside| inside.split_once("*/")) {
                Some((_, tail)) => self.rest = tail,
                None => return,
            }
        }
    }

    fn takes(&mut self, text: &str) -> bool {
        self.blanks();
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn binary(&mut self, above: u8) -> Result<C, String> {
        let mut left = self.unary()?;
        loop {
            self.blanks();
            let found = OPERATORS.iter().find(|(text, _, _)| self.rest.starts_with(text));
            let Some((text, rank, operator)) = found.filter(|(_, rank, _)| *rank > above) else { return Ok(left) };
            self.rest = &self.rest[text.len()..];
            // Each operator may nest the expression before it.
            self.operators += 1;
            if self.operators > MAX_OPERATORS {
                return Err(format!("it has more than {MAX_OPERATORS} operators"));
            }
            left = C::Binary(*operator, Box::new(left), Box::new(self.binary(*rank)?));
        }
    }

    fn unary(&mut self) -> Result<C, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("it nests more than {MAX_DEPTH} deep"));
        }
        let found = self.atom();
        self.depth -= 1;
        found
    }

    fn atom(&mut self) -> Result<C, String> {
        if self.takes("ISA_GPU_ID()") {
            return Ok(C::Generation);
        }
        if self.takes("!") {
            return Ok(C::Not(Box::new(self.unary()?)));
        }
        if self.takes("~") {
            return Ok(C::Invert(Box::new(self.unary()?)));
        }
        if self.takes("(") {
            let inner = self.binary(0)?;
            return if self.takes(")") { Ok(inner) } else { Err(self.unexpected()) };
        }
        if self.takes("{") {
            let (name, tail) = self.rest.split_once('}').ok_or("a brace is not closed")?;
            self.rest = tail;
            return Ok(C::Field(name.trim().to_owned()));
        }
        let word = self.rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let (digits, tail) = self.rest.split_at(word);
        let plain = digits.trim_end_matches(['u', 'U', 'l', 'L']);
        let number = match plain.strip_prefix("0x").or_else(|| plain.strip_prefix("0X")) {
            Some(hex) => u64::from_str_radix(hex, 16),
            // As in C, this is an octal number.
            None if plain.len() > 1 && plain.starts_with('0') => u64::from_str_radix(plain, 8),
            None => plain.parse(),
        };
        match number {
            Ok(number) => {
                self.rest = tail;
                Ok(C::Number(number))
            }
            Err(_) => Err(self.unexpected()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{parse as read, *};

    fn field(name: &str) -> Box<C> {
        Box::new(C::Field(name.to_owned()))
    }

    #[test]
    fn operators_bind_as_in_c() {
        let shift = C::Binary(Operator::ShiftLeft, field("A"), Box::new(C::Number(1)));
        assert_eq!(read("{A} << 1 | {B}"), Ok(C::Binary(Operator::Or, Box::new(shift), field("B"))));
        let equal = C::Binary(Operator::Equal, field("B"), Box::new(C::Number(0x10)));
        assert_eq!(read("{A} & {B} == 0x10"), Ok(C::Binary(Operator::And, field("A"), Box::new(equal))));
        let less = C::Binary(Operator::Sub, Box::new(C::Number(3)), Box::new(C::Number(2)));
        assert_eq!(
            read("3 - 2 - 1ULL /* left */"),
            Ok(C::Binary(Operator::Sub, Box::new(less), Box::new(C::Number(1))))
        );
        assert_eq!(read("!{A}"), Ok(C::Not(field("A"))));
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for text in ["", "1 +", "{A", "(1", "1 ? 2 : 3", "{A} / 2", "f(1)", "1 2", "0xg"] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read(&"(".repeat(100_000)).is_err());
        assert!(read(&"!".repeat(100_000)).is_err());
        assert_eq!(read(&format!("1{}", " + 1".repeat(100_000))), Err("it has more than 500 operators".to_owned()));
    }
}
