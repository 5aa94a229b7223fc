//! From tokens to syntax trees.
//!
//! [`GRAMMAR`] is the grammar.

use super::lexer::{Token, tokens};
use super::syntax::{Arm, ArmValue, Binary, Block, Expr, ExprKind, Statement, Unary};
use crate::diagnostic::Diagnostic;
use crate::source::{Sources, Span, Spanned};

/// The grammar of texts, as printed in the reference.
pub const GRAMMAR: &str = "\
text       := block without braces
block      := '{' (statement ';')* expression? '}'
statement  := 'let' name '=' expression | place '=' expression | 'for' name 'in' n '..' n block | expression
expression := 'if' expression block ('else' (block | if))? | 'match' expression '{' arm,* '}'
            | expression operator expression | ('-' | '~' | '!') expression | expression 'as' type
            | expression '.' name '?'? | expression '[' expression (':' expression)? ']'
            | name '(' expression,* ')' | '(' expression ')' | '[' expression,* ']'
            | '[' 'for' name 'in' n '..' n ':' expression ']' | block | number | name
arm        := (value ('|' value)* | '_') '=>' expression
";

/// The maximum nesting of expressions.
const MAX_DEPTH: usize = 100;

/// The maximum length of a chain of operators such as `a + b + c`, which also nests in the tree.
const MAX_CHAIN: usize = 100;

/// Words that cannot be names.
pub const KEYWORDS: [&str; 9] = ["let", "if", "else", "match", "for", "in", "as", "true", "false"];

type Result<T> = std::result::Result<T, Diagnostic>;

struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
    depth: usize,
    /// The longest chain of operators within the current expression so far.
    chain: usize,
}

/// Parses a text: statements, optionally followed by a value.
///
/// # Errors
/// At the first violation of the grammar (E0120).
pub fn parse_text(sources: &Sources, text: &Spanned<String>) -> Result<Block> {
    let (raw, span) = (sources.snippet(text.span), text.span);
    // Text filled in from a row comes from elsewhere in the file, so all tokens get the place of the whole text.
    let mut parser = match raw.contains('$') {
        true => Parser::at_one_place(&text.value, span)?,
        false => Parser::new(raw, span)?,
    };
    let block = parser.statements(span)?;
    parser.end()?;
    Ok(block)
}

/// Parses a text that need not be in a file; `span` is the place to report.
///
/// # Errors
/// At the first violation of the grammar (E0120).
pub fn parse_raw(raw: &str, span: Span) -> Result<Block> {
    let mut parser = Parser::new(raw, span)?;
    let block = parser.statements(span)?;
    parser.end()?;
    Ok(block)
}

/// Parses one expression.
///
/// # Errors
/// At the first violation of the grammar (E0120).
pub fn parse_expression(sources: &Sources, span: Span) -> Result<Expr> {
    let mut parser = Parser::new(sources.snippet(span), span)?;
    let expression = parser.expression()?;
    parser.end()?;
    Ok(expression)
}

/// The signature of a function, an intrinsic or a writer.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Its name.
    pub name: Spanned<String>,
    /// Its parameters: names, or types in an intrinsic.
    pub parameters: Vec<Spanned<String>>,
    /// The names of an intrinsic's parameters, if given: `name: type`.
    pub names: Vec<Option<String>>,
    /// The name after `=` for the value to write.
    pub value: Option<Spanned<String>>,
    /// The type after `->`.
    pub result: Option<Spanned<String>>,
}

/// Parses `name(a, b)`, `name(a) = value`, `name(u32, f32) -> f32` or `name(angle: f32) -> f32`.
///
/// # Errors
/// At the first violation of the grammar (E0120).
pub fn parse_signature(sources: &Sources, span: Span) -> Result<Signature> {
    let mut parser = Parser::new(sources.snippet(span), span)?;
    let name = parser.name("a name")?;
    let mut signature = Signature { name, parameters: Vec::new(), names: Vec::new(), value: None, result: None };
    if parser.take("(") {
        while !parser.take(")") {
            let first = parser.name("the name of a parameter")?;
            if parser.take(":") {
                signature.names.push(Some(first.value));
                signature.parameters.push(parser.name("a type")?);
            } else {
                signature.names.push(None);
                signature.parameters.push(first);
            }
            if !parser.take(",") {
                parser.expect(")")?;
                break;
            }
        }
    }
    if parser.take("=") {
        signature.value = Some(parser.name("a name for the value that is written")?);
    } else if parser.take("->") {
        signature.result = Some(parser.name("a type")?);
    }
    parser.end()?;
    Ok(signature)
}

impl Parser {
    fn new(raw: &str, span: Span) -> Result<Parser> {
        Ok(Parser { tokens: tokens(raw, span)?, at: 0, depth: 0, chain: 0 })
    }

    fn at_one_place(text: &str, span: Span) -> Result<Parser> {
        let mut parser = Parser::new(text, span).map_err(|error| Diagnostic { primary: Some(span), ..error })?;
        parser.tokens.iter_mut().for_each(|(_, place)| *place = span);
        Ok(parser)
    }

    fn peek(&self) -> &Token {
        // The last token is the end of the text, which is never consumed.
        &self.tokens[self.at.min(self.tokens.len() - 1)].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at.min(self.tokens.len() - 1)].1
    }

    fn before(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].1
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(found) if *found == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Name(found) if found == word)
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        self.at += usize::from(found);
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    fn wrong(&self, expected: &str) -> Diagnostic {
        let message = format!("expected {expected}, found {}", self.peek().describe());
        Diagnostic::error("E0120", self.span(), message).label(format!("expected {expected}"))
    }

    fn expect(&mut self, sign: &str) -> Result<()> {
        if self.take(sign) { Ok(()) } else { Err(self.wrong(&format!("`{sign}`"))) }
    }

    fn end(&self) -> Result<()> {
        if *self.peek() == Token::End { Ok(()) } else { Err(self.wrong("the end of the text")) }
    }

    fn name(&mut self, expected: &str) -> Result<Spanned<String>> {
        let span = self.span();
        match self.peek() {
            Token::Name(name) if !KEYWORDS.contains(&name.as_str()) => {
                let name = Spanned::new(name.clone(), span);
                self.at += 1;
                Ok(name)
            }
            _ => Err(self.wrong(expected)),
        }
    }

    fn block(&mut self) -> Result<Block> {
        let start = self.span();
        self.expect("{")?;
        let mut block = self.statements(start)?;
        self.expect("}")?;
        block.span = start.to(self.before());
        Ok(block)
    }

    fn statements(&mut self, span: Span) -> Result<Block> {
        let mut block = Block { statements: Vec::new(), value: None, span };
        loop {
            while self.take(";") {}
            if self.is("}") || *self.peek() == Token::End {
                return Ok(block);
            }
            let statement = self.statement()?;
            let closed = matches!(
                &statement,
                Statement::For(..) | Statement::Do(Expr { kind: ExprKind::If(..) | ExprKind::Match(..), .. })
            );
            if self.take(";") || closed && !(self.is("}") || *self.peek() == Token::End) {
                block.statements.push(statement);
            } else {
                if let Token::Name(_) = self.peek() {
                    return Err(self.wrong("`;`").help("statements are separated by `;`"));
                }
                match statement {
                    Statement::Do(value) => block.value = Some(Box::new(value)),
                    statement => block.statements.push(statement),
                }
                return Ok(block);
            }
        }
    }

    fn statement(&mut self) -> Result<Statement> {
        if self.take_word("let") {
            let name = self.name("a name")?;
            self.expect("=")?;
            return Ok(Statement::Let(name, self.expression()?));
        }
        if self.take_word("for") {
            let (name, from, to) = self.range()?;
            return Ok(Statement::For(name, from, to, self.block()?));
        }
        let expression = self.expression()?;
        if self.take("=") {
            return Ok(Statement::Assign(expression, self.expression()?));
        }
        Ok(Statement::Do(expression))
    }

    fn range(&mut self) -> Result<(Spanned<String>, Expr, Expr)> {
        let name = self.name("a name for the number")?;
        if !self.take_word("in") {
            return Err(self.wrong("`in`"));
        }
        let from = self.binary(8)?;
        self.expect("..")?;
        Ok((name, from, self.binary(8)?))
    }

    fn expression(&mut self) -> Result<Expr> {
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

    fn binary(&mut self, least: u8) -> Result<Expr> {
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
            Token::Int(value, _) => {
                self.at += 1;
                ExprKind::Int(value)
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
