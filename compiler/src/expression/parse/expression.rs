//! The grammar of expressions: operators by precedence, parts, calls, `if` and `match`.

use super::{Parser, Result};
use crate::diagnostic::Diagnostic;
use crate::expression::lexer::Token;
use crate::expression::syntax::{Arm, ArmValue, Binary, Block, Expr, ExprKind, Statement, Unary};
use crate::source::Spanned;

/// The maximum nesting of expressions.
const MAX_DEPTH: usize = 100;

/// The maximum length of a chain of operators such as `a + b + c`, which also nests in the tree.
const MAX_CHAIN: usize = 100;

impl Parser {
    pub(super) fn expression(&mut self) -> Result<Expr> {
        self.binary(0)
    }

    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == MAX_DEPTH {
            let message = format!("expressions nest deeper than {MAX_DEPTH}");
            return Err(Diagnostic::error("E0127", self.span(), message).label("too deep from here on"));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Counts an operator applied to the expression just parsed.
    fn link(&mut self) -> Result<()> {
        self.chain += 1;
        if self.chain > MAX_CHAIN {
            let message = format!("more than {MAX_CHAIN} operators are chained");
            return Err(Diagnostic::error("E0127", self.before(), message).label("this is one too many"));
        }
        Ok(())
    }

    pub(super) fn binary(&mut self, least: u8) -> Result<Expr> {
        self.deeper(|p| {
            let beside = std::mem::take(&mut p.chain);
            let mut left = p.unary()?;
            let mut compared = false;
            while let Some(operator) = p.operator().filter(|o| o.precedence() > least) {
                if operator.compares() && compared {
                    let error = Diagnostic::error("E0120", p.span(), "comparisons cannot be chained");
                    return Err(error.help("join them: `a < b && b < c`"));
                }
                compared = operator.compares();
                p.at += 1;
                let right = p.binary(operator.precedence())?;
                p.link()?;
                let span = left.span.to(right.span);
                left = Expr { kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)), span };
            }
            p.chain = p.chain.max(beside);
            Ok(left)
        })
    }

    fn operator(&self) -> Option<Binary> {
        use Binary::*;
        let Token::Sign(sign) = self.peek() else { return None };
        [LogicalOr, LogicalAnd, Eq, Ne, Lt, Le, Gt, Ge, Or, Xor, And, Shl, Shr, Add, Sub, Mul, Div, Rem]
            .into_iter()
            .find(|operator| operator.as_str() == *sign)
    }

    fn unary(&mut self) -> Result<Expr> {
        let span = self.span();
        let operator = match self.peek() {
            Token::Sign("-") => Unary::Neg,
            Token::Sign("~") => Unary::Not,
            Token::Sign("!") => Unary::LogicalNot,
            _ => return self.postfix(),
        };
        self.at += 1;
        let inner = self.deeper(Self::unary)?;
        let span = span.to(inner.span);
        Ok(Expr { kind: ExprKind::Unary(operator, Box::new(inner)), span })
    }

    fn postfix(&mut self) -> Result<Expr> {
        let mut expression = self.primary()?;
        loop {
            let start = expression.span;
            let kind = if self.take(".") {
                let span = self.span();
                let name = match self.peek() {
                    Token::Name(name) | Token::Quoted(name) => name.clone(),
                    _ => return Err(self.wrong("the name of a part")),
                };
                self.at += 1;
                let optional = self.take("?");
                ExprKind::Member(Box::new(expression), Spanned::new(name, span), optional)
            } else if self.take("[") {
                let first = self.expression()?;
                let kind = if self.take(":") {
                    let low = self.expression()?;
                    ExprKind::Slice(Box::new(expression), Box::new(first), Box::new(low))
                } else {
                    ExprKind::Index(Box::new(expression), Box::new(first))
                };
                self.expect("]")?;
                kind
            } else if self.take_word("as") {
                let ty = self.name("a type")?;
                ExprKind::As(Box::new(expression), ty)
            } else {
                return Ok(expression);
            };
            self.link()?;
            expression = Expr { kind, span: start.to(self.before()) };
        }
    }

    fn primary(&mut self) -> Result<Expr> {
        let start = self.span();
        let kind = match self.peek().clone() {
            Token::Int(value, text) => {
                self.at += 1;
                ExprKind::Int(value, text.starts_with("0x") || text.starts_with("0b") || text.starts_with("0o"))
            }
            Token::Float(value) => {
                self.at += 1;
                ExprKind::Float(value)
            }
            Token::Sign("(") => {
                self.at += 1;
                let inner = self.expression()?;
                self.expect(")")?;
                return Ok(Expr { span: start.to(self.before()), ..inner });
            }
            Token::Sign("[") => {
                self.at += 1;
                self.vector()?
            }
            Token::Sign("{") => ExprKind::Block(self.block()?),
            Token::Name(name) => match name.as_str() {
                "true" | "false" => {
                    self.at += 1;
                    ExprKind::Bool(name == "true")
                }
                "if" => {
                    self.at += 1;
                    self.deeper(Self::branch)?
                }
                "match" => {
                    self.at += 1;
                    self.deeper(Self::arms)?
                }
                _ => {
                    let name = self.name("a value")?;
                    if self.take("(") { ExprKind::Call(name, self.list(")")?) } else { ExprKind::Name(name.value) }
                }
            },
            Token::Sign("=") => {
                return Err(self.wrong("a value").help("an assignment is one `=`: `n += 1` is written `n = n + 1`"));
            }
            Token::Quoted(text) if text.starts_with(|c: char| c.is_ascii_digit()) => {
                let message = format!("`{text}` is not a number");
                let error = Diagnostic::error("E0120", start, message);
                return Err(match text.split_once(['e', 'E']) {
                    Some((number, power)) if (number.to_owned() + power).bytes().all(|b| b.is_ascii_digit()) => {
                        error.help(format!("a number with an exponent has a point: `{number}.0e{power}`"))
                    }
                    _ => error.help("digits are decimal, or follow `0x`, `0o` or `0b`"),
                });
            }
            _ => return Err(self.wrong("a value")),
        };
        Ok(Expr { kind, span: start.to(self.before()) })
    }

    fn vector(&mut self) -> Result<ExprKind> {
        if self.take_word("for") {
            let (name, from, to) = self.range()?;
            self.expect(":")?;
            let body = self.expression()?;
            self.expect("]")?;
            return Ok(ExprKind::Comprehension(name, Box::new(from), Box::new(to), Box::new(body)));
        }
        Ok(ExprKind::Vector(self.list("]")?))
    }

    fn list(&mut self, close: &str) -> Result<Vec<Expr>> {
        let mut list = Vec::new();
        while !self.take(close) {
            list.push(self.expression()?);
            if !self.take(",") {
                self.expect(close)?;
                break;
            }
        }
        Ok(list)
    }

    fn branch(&mut self) -> Result<ExprKind> {
        let condition = self.expression()?;
        let then = self.block()?;
        let otherwise = if self.take_word("else") {
            if self.is_word("if") {
                let start = self.span();
                self.at += 1;
                let kind = self.deeper(Self::branch)?;
                let span = start.to(self.before());
                let value = Some(Box::new(Expr { kind, span }));
                Some(Block { statements: Vec::new(), value, span })
            } else {
                Some(self.block()?)
            }
        } else {
            None
        };
        Ok(ExprKind::If(Box::new(condition), then, otherwise))
    }

    fn arms(&mut self) -> Result<ExprKind> {
        if self.is("{") {
            return Err(self.wrong("a modifier or a number"));
        }
        let subject = self.expression()?;
        self.expect("{")?;
        let mut arms = Vec::new();
        while !self.take("}") {
            let start = self.span();
            let mut values = Vec::new();
            if !self.take("_") {
                loop {
                    values.push(self.arm_value()?);
                    if !self.take("|") {
                        break;
                    }
                }
            }
            let span = start.to(self.before());
            self.expect("=>")?;
            let body = self.arm_body()?;
            let is_block = matches!(body.kind, ExprKind::Block(_));
            arms.push(Arm { values, body, span });
            if !self.take(",") && !is_block {
                self.expect("}")?;
                break;
            }
        }
        Ok(ExprKind::Match(Box::new(subject), arms))
    }

    fn arm_value(&mut self) -> Result<ArmValue> {
        let start = self.span();
        let negative = self.take("-");
        let (text, number) = match self.peek().clone() {
            Token::Int(value, text) if negative => (format!("-{text}"), Some(-i128::from(value))),
            Token::Int(value, text) => (text, Some(value.into())),
            Token::Name(text) | Token::Quoted(text) if !negative => (text, None),
            _ => return Err(self.wrong("the name of a value, a number, or `_`")),
        };
        self.at += 1;
        Ok(ArmValue { text, number, span: start.to(self.before()) })
    }

    /// Parses the body of an arm, which may be an assignment without braces.
    fn arm_body(&mut self) -> Result<Expr> {
        let start = self.span();
        let expression = self.expression()?;
        if !self.take("=") {
            return Ok(expression);
        }
        let statement = Statement::Assign(expression, self.expression()?);
        let span = start.to(self.before());
        let block = Block { statements: vec![statement], value: None, span };
        Ok(Expr { kind: ExprKind::Block(block), span })
    }
}
