//! From tokens to syntax trees.
//!
//! [`GRAMMAR`] is the grammar. Tokens become expressions, and these the statements of a block.
//!
//! - here: texts, signatures, blocks and statements
//! - `expression`: expressions

mod expression;

use super::lexer::{Token, tokens};
use super::syntax::{Block, Expr, ExprKind, Statement};
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

/// Parses a text that need not be in a file; `span` is the place to report. Where it is as long as the text, it is
/// that text itself, and parts of it are reported.
///
/// # Errors
/// At the first violation of the grammar (E0120).
pub fn parse_raw(raw: &str, span: Span) -> Result<Block> {
    let mut parser = match span.end as usize - span.start as usize == raw.len() {
        true => Parser::new(raw, span)?,
        false => Parser::at_one_place(raw, span)?,
    };
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
}
