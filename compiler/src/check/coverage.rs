//! Every bit of every instruction means exactly one thing.
//!
//! E0104: bits outside the word or the operand. E0105: bits that nothing accounts for. E0107: bits that two things claim.

use isaforge_core::bits::ones;

use crate::check::{bits_text, runs_text};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{Bits, Form, Isa, Kind, Modifier, Shape};
use crate::source::Span;

/// Something that says what certain bits mean.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The bits.
    pub mask: u64,
    /// One above the highest bit, which may be beyond the word.
    pub end: u32,
    /// What claims them, for messages.
    pub what: String,
    /// Where it says so.
    pub span: Span,
}

/// Everything that says something about bits of a form.
pub fn claims(isa: &Isa, form: &Form) -> Vec<Claim> {
    let constant = |f: &crate::model::Fixed| Claim {
        mask: f.mask,
        end: 64 - f.mask.leading_zeros(),
        what: "constant bits".to_owned(),
        span: f.span,
    };
    let mut claims: Vec<Claim> = form.fixed.iter().map(constant).collect();
    let mut claim = |bits: &Bits, at: u8, what: String, span: Span| {
        claims.push(Claim { mask: bits.own_mask(at), end: bits.end(at), what, span });
    };
    for modifier in &form.modifiers {
        claim(&modifier.bits, 0, format!("`{}`", modifier.name), modifier.span);
    }
    for operand in &form.operands {
        let what = format!("`{}`", operand.name);
        match &operand.shape {
            Shape::One { kind, at } => {
                let kind = &isa.kinds[*kind];
                let first = operand_bits(kind, *at);
                claim(&first, 0, what, operand.span);
            }
            Shape::List { kind, at, count, .. } => {
                claim(&isa.kinds[*kind].alternatives[0].fields[0].bits, *at, what, operand.span);
                // Two lists may be counted by one field.
                if let Some(bits) = &count.bits {
                    claim(bits, 0, format!("the count `{}`", count.name), operand.span);
                }
            }
            Shape::Number { bits, .. } => claim(bits, 0, what, operand.span),
        }
        for suffix in &operand.suffixes {
            claim(&suffix.bits, 0, format!("`{}` of `{}`", suffix.name, operand.name), suffix.span);
        }
    }
    for shared in isa.shared.iter().filter(|s| s.printed.is_none()) {
        claims.push(Claim {
            mask: shared.bits.mask(0),
            end: shared.bits.end(0),
            what: format!("the shared field `{}`", shared.name),
            span: shared.span,
        });
    }
    claims
}

/// The bits of an operand of a kind: a register of a bank may be in pieces, anything else is a run.
fn operand_bits(kind: &Kind, at: u8) -> Bits {
    match &kind.alternatives[..] {
        [only] if only.mask == 0 && only.fields.len() == 1 => only.fields[0].bits.moved(at),
        _ => Bits::run(at, kind.width),
    }
}

/// Applies the rules to all instructions and kinds.
pub fn check(isa: &Isa, out: &mut Diagnostics) {
    for kind in &isa.kinds {
        check_kind(kind, out);
    }
    for shared in &isa.shared {
        outside(shared.bits.end(0), isa.word_bits, &format!("`{}`", shared.name), shared.span, out);
    }
    for form in &isa.forms {
        check_form(isa, form, out);
    }
}

fn outside(end: u32, width: u8, what: &str, span: Span, out: &mut Diagnostics) -> bool {
    if end <= u32::from(width) {
        return false;
    }
    let message = format!("{what} reaches bit {}, but the last bit is {}", end - 1, width - 1);
    out.push(Diagnostic::error("E0104", span, message));
    true
}

fn check_form(isa: &Isa, form: &Form, out: &mut Diagnostics) {
    let claims = claims(isa, form);
    let mut beyond = false;
    for claim in &claims {
        beyond |= outside(claim.end, isa.word_bits, &claim.what, claim.span, out);
    }
    let mut overlapping = false;
    for (i, claim) in claims.iter().enumerate() {
        for other in &claims[..i] {
            let both = claim.mask & other.mask;
            // One field may count two lists: then both claims are the same text of the same operand's count.
            if both == 0 || (claim.what == other.what && claim.what.starts_with("the count")) {
                continue;
            }
            overlapping = true;
            let message = format!("{} of {} overlap {}", bits_text(both), claim.what, other.what);
            out.push(
                Diagnostic::error("E0107", claim.span, message)
                    .label(format!("{} here", claim.what))
                    .secondary(other.span, format!("{} here", other.what))
                    .note(format!("in the instruction `{}`", form.name)),
            );
        }
        let both = claim.mask & form.ignored;
        if both != 0 {
            overlapping = true;
            let message = format!("{} of {} are declared ignored", bits_text(both), claim.what);
            out.push(Diagnostic::error("E0107", claim.span, message).note(format!("in the instruction `{}`", form.name)));
        }
    }
    let known = claims.iter().fold(form.ignored, |mask, claim| mask | claim.mask);
    let missing = ones(u32::from(isa.word_bits)) & !known;
    if missing != 0 && !overlapping && !beyond {
        let message = format!("nothing says what {} of `{}` are", runs_text(missing), form.name);
        out.push(
            Diagnostic::error("E0105", form.span, message)
                .note(draw(isa.word_bits, known))
                .help("add them to `fixed` (constant), to `ignored`, or say `every: { unused: zero }` for all instructions"),
        );
    }
}

/// A drawing of a word: `.` for a bit that is accounted for, `?` for one that is not, from the top.
fn draw(width: u8, known: u64) -> String {
    let mut text = String::from("the word, from the top bit: ");
    for bit in (0..width).rev() {
        text.push(if known >> bit & 1 == 1 { '.' } else { '?' });
        if bit % 8 == 0 && bit > 0 {
            text.push(' ');
        }
    }
    text
}

fn check_kind(kind: &Kind, out: &mut Diagnostics) {
    for alternative in &kind.alternatives {
        let fields = alternative.fields.iter().map(|f| (f.bits.own_mask(0), f.bits.0.iter(), f));
        let mut known = alternative.mask;
        let mut bad = alternative.mask & !ones(u32::from(kind.width)) != 0;
        if bad {
            let message = format!("the constant bits of `{}` leave the {} bits of the operand", alternative.name, kind.width);
            out.push(Diagnostic::error("E0104", alternative.span, message));
        }
        for (mask, pieces, field) in fields {
            let end = pieces.filter(|p| p.shared.is_none()).map(|p| u32::from(p.at) + u32::from(p.width)).max().unwrap_or(0);
            bad |= outside(end, kind.width, &format!("`{}`", field.name), field.span, out);
            if mask & known != 0 {
                bad = true;
                let message = format!("{} of `{}` overlap other bits of `{}`", bits_text(mask & known), field.name, alternative.name);
                out.push(Diagnostic::error("E0107", field.span, message).secondary(alternative.span, "in this reading"));
            }
            known |= mask;
        }
        let missing = ones(u32::from(kind.width)) & !known;
        let plain = kind.alternatives.len() == 1 && alternative.mask == 0 && alternative.fields.len() == 1;
        if missing != 0 && !bad && !plain {
            let message = format!("nothing says what {} of `{}` are", runs_text(missing), alternative.name);
            out.push(Diagnostic::error("E0105", alternative.span, message).help("add a field, or constant bits under `fixed`"));
        }
    }
    for Modifier { name, bits, span, .. } in &kind.suffixes {
        outside(bits.end(0), 64, &format!("`{name}`"), *span, out);
    }
}
