//! An instruction as plain data.

use isaforge_core::stream::Piece;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{Span, Spanned};
use crate::yaml::{Node, Value};

/// The register widths, which are the generations.
pub(super) const GENERATIONS: [(&str, u64); 2] = [("rv32", 32), ("rv64", 64)];

/// An instruction.
pub(super) struct Instruction {
    /// The name in the document.
    pub name: Spanned<String>,
    /// The name in assembly.
    pub written: String,
    pub title: String,
    pub doc: String,
    pub span: Span,
    pub assembly: Spanned<String>,
    /// Its encoding in each generation that has it, with the index of the generation.
    pub encodings: Vec<(usize, Encoding)>,
}

/// An encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Encoding {
    pub bits: u16,
    pub mask: u64,
    pub value: u64,
    pub variables: Vec<Variable>,
    pub span: Span,
}

/// A variable in an encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variable {
    pub name: String,
    /// The pieces, least significant first.
    pub pieces: Vec<Piece>,
    pub shift: u64,
    pub signed: bool,
    /// Values that are not allowed, after shifting.
    pub not: Vec<u64>,
    pub span: Span,
}

impl Variable {
    /// Its width in bits.
    pub fn width(&self) -> u8 {
        self.pieces.iter().map(|piece| piece.width).sum()
    }
}

/// Parses runs of bits, `31|7|30-25|11-8`, most significant first; returns them least significant first.
pub(super) fn location(node: &Node, bits: u16, out: &mut Diagnostics) -> Option<Vec<Piece>> {
    let text = match node.value {
        Value::Int(_) | Value::Text(_) => node.text(out)?.value,
        _ => String::new(),
    };
    let run = |part: &str| {
        let (high, low) = part.split_once('-').unwrap_or((part, part));
        let (high, low): (u16, u16) = (high.trim().parse().ok()?, low.trim().parse().ok()?);
        (low <= high && high < bits).then(|| Piece { at: low, width: (high - low + 1) as u8 })
    };
    let pieces: Option<Vec<Piece>> = text.split('|').rev().map(run).collect();
    let width = pieces.iter().flatten().map(|piece| u32::from(piece.width)).sum::<u32>();
    if pieces.is_none() || width > 32 {
        let error = Diagnostic::error("E0030", node.span, format!("`{text}` names no bits"));
        out.push(error.help(format!("write runs such as `31|7|30-25|11-8`, of bits below {bits}")));
        return None;
    }
    pieces
}
