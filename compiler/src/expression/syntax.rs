//! Texts as syntax trees with places, before names are bound.

use crate::source::{Span, Spanned};

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its kind.
    pub kind: ExprKind,
    /// Where it is written.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A whole number, and whether its digits are bits rather than a quantity: hexadecimal, octal or binary.
    Int(u64, bool),
    /// A number with a fraction.
    Float(f64),
    /// `true` or `false`.
    Bool(bool),
    /// A name.
    Name(String),
    /// A prefix operator.
    Unary(Unary, Box<Expr>),
    /// An infix operator.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `x.name`, or `x.name?` for a part that may be absent.
    Member(Box<Expr>, Spanned<String>, bool),
    /// `x[i]`.
    Index(Box<Expr>, Box<Expr>),
    /// `x[high:low]`.
    Slice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `x as type`.
    As(Box<Expr>, Spanned<String>),
    /// `function(arguments)`.
    Call(Spanned<String>, Vec<Expr>),
    /// `[a, b]`.
    Vector(Vec<Expr>),
    /// `[for i in from..to: body]`.
    Comprehension(Spanned<String>, Box<Expr>, Box<Expr>, Box<Expr>),
    /// `if condition { … } else { … }`.
    If(Box<Expr>, Block, Option<Block>),
    /// `match value { … }`.
    Match(Box<Expr>, Vec<Arm>),
    /// `{ … }`.
    Block(Block),
}

/// One arm of a `match`.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The values that select it; empty for `_`.
    pub values: Vec<ArmValue>,
    /// Its value or effect.
    pub body: Expr,
    /// Where its values are written.
    pub span: Span,
}

/// A value that selects an arm.
#[derive(Clone, Debug)]
pub struct ArmValue {
    /// How it is written: the name of a value, or a number.
    pub text: String,
    /// The number, if it is one.
    pub number: Option<i128>,
    /// Where it is written.
    pub span: Span,
}

/// Statements, optionally followed by a value.
#[derive(Clone, Debug)]
pub struct Block {
    /// The statements.
    pub statements: Vec<Statement>,
    /// The value.
    pub value: Option<Box<Expr>>,
    /// Where it is written.
    pub span: Span,
}

/// One statement.
#[derive(Clone, Debug)]
pub enum Statement {
    /// `let name = value`.
    Let(Spanned<String>, Expr),
    /// `place = value`.
    Assign(Expr, Expr),
    /// `for i in from..to { … }`.
    For(Spanned<String>, Expr, Expr, Block),
    /// An expression that is evaluated for its effects.
    Do(Expr),
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-`
    Neg,
    /// `~`
    Not,
    /// `!`
    LogicalNot,
}

/// Infix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `||`
    LogicalOr,
    /// `&&`
    LogicalAnd,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `|`
    Or,
    /// `^`
    Xor,
    /// `&`
    And,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
}

impl Binary {
    /// The precedence; operators with higher numbers bind more tightly.
    pub const fn precedence(self) -> u8 {
        match self {
            Binary::LogicalOr => 1,
            Binary::LogicalAnd => 2,
            Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge => 3,
            Binary::Or => 4,
            Binary::Xor => 5,
            Binary::And => 6,
            Binary::Shl | Binary::Shr => 7,
            Binary::Add | Binary::Sub => 8,
            Binary::Mul | Binary::Div | Binary::Rem => 9,
        }
    }

    /// Whether it is a comparison.
    pub const fn compares(self) -> bool {
        self.precedence() == 3
    }

    /// How it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Binary::LogicalOr => "||",
            Binary::LogicalAnd => "&&",
            Binary::Eq => "==",
            Binary::Ne => "!=",
            Binary::Lt => "<",
            Binary::Le => "<=",
            Binary::Gt => ">",
            Binary::Ge => ">=",
            Binary::Or => "|",
            Binary::Xor => "^",
            Binary::And => "&",
            Binary::Shl => "<<",
            Binary::Shr => ">>",
            Binary::Add => "+",
            Binary::Sub => "-",
            Binary::Mul => "*",
            Binary::Div => "/",
            Binary::Rem => "%",
        }
    }
}
