//! Every bit of every instruction means exactly one thing.
//!
//! E0104: bits outside the word or the operand. E0105: bits that nothing accounts for. E0107: bits that two things claim.

use std::collections::{BTreeMap, HashMap};

use isaforge_core::bits::ones;

use crate::check::layout::draw;
use crate::check::{bits_text, hubs, more, runs_text};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{Alternative, Bits, Form, Isa, Kind, Part, Piece, Shape};
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
    /// Where its bits are said, if that is elsewhere.
    pub declared: Option<Span>,
    /// What constant bits are.
    pub constant: Option<u64>,
    /// Whether it is a shared field, which is judged once and not in every instruction.
    pub shared: bool,
}

impl Claim {
    fn new(bits: &Bits, what: String, span: Span, declared: Option<Span>) -> Self {
        Claim { mask: bits.own_mask(0), end: bits.end(0), what, span, declared, constant: None, shared: false }
    }

    /// Where to point for its bits.
    fn place(&self) -> Span {
        self.declared.unwrap_or(self.span)
    }
}

/// Everything that says something about bits of a form.
pub fn claims(isa: &Isa, form: &Form) -> Vec<Claim> {
    let constant = |f: &crate::model::Fixed| Claim {
        mask: f.mask,
        end: 64 - f.mask.leading_zeros(),
        what: "constant bits".to_owned(),
        span: f.span,
        declared: f.declared,
        constant: Some(f.value),
        shared: false,
    };
    let mut claims: Vec<Claim> = form.fixed.iter().map(constant).collect();
    let printed = |span: Span| isa.shared.iter().any(|s| s.span == span);
    for m in &form.modifiers {
        let shared = printed(m.span);
        claims.push(Claim { shared, ..Claim::new(&m.bits, format!("`{}`", m.name), m.span, m.declared) });
        if shared && let Some(claim) = claims.last_mut() {
            claim.mask = m.bits.mask(0);
        }
    }
    for operand in &form.operands {
        let what = format!("`{}`", operand.name);
        let claim = |bits: &Bits, what: String| Claim::new(bits, what, operand.span, operand.declared);
        match &operand.shape {
            Shape::One { kind, at } => claims.push(claim(&operand_bits(&isa.kinds[*kind], *at), what)),
            Shape::List { kind, at, count, .. } => {
                claims.extend(register_of(&isa.kinds[*kind]).map(|bits| claim(&bits.moved(*at), what)));
                // Two lists may be counted by one field.
                // A count without a name is said by a modifier, whose bits these are.
                if let Some(bits) = count.bits.as_ref().filter(|_| !count.name.is_empty()) {
                    let declared = isa.places.of(operand.span, Part::Count).first().map(|(_, span)| *span);
                    let what = format!("the count `{}`", count.name);
                    claims.push(Claim::new(bits, what, operand.span, declared.or(operand.declared)));
                }
            }
            Shape::Number { bits, .. } => claims.push(claim(bits, what)),
        }
        for suffix in &operand.suffixes {
            let what = format!("`{}` of `{}`", suffix.name, operand.name);
            claims.push(Claim::new(&suffix.bits, what, suffix.span, suffix.declared));
        }
    }
    // An instruction may fix a shared field.
    let fixed = form.fixed.iter().fold(0, |mask, f| mask | f.mask);
    for shared in isa.shared.iter().filter(|s| s.printed.is_none() && s.bits.mask(0) & !fixed != 0) {
        let what = format!("the shared field `{}`", shared.name);
        claims.push(Claim {
            mask: shared.bits.mask(0),
            shared: true,
            ..Claim::new(&shared.bits, what, shared.span, None)
        });
    }
    claims
}

/// The field of a register in a list.
fn register_of(kind: &Kind) -> Option<&Bits> {
    Some(&kind.alternatives.first()?.fields.first()?.bits)
}

/// The bits of an operand of a kind: a register of a bank may be in pieces, anything else is a run.
fn operand_bits(kind: &Kind, at: u8) -> Bits {
    match &kind.alternatives[..] {
        [only] if only.mask == 0 && only.fields.len() == 1 => only.fields[0].bits.moved(at),
        alternatives => {
            // In pieces: all readings leave the same bits to others.
            let own = |a: &Alternative| a.fields.iter().fold(a.mask, |mask, f| mask | f.bits.own_mask(0));
            let mask = alternatives.iter().fold(0, |mask, a| mask | own(a));
            if alternatives.iter().any(|a| own(a) != mask) {
                return Bits::run(at, kind.width);
            }
            Bits(runs(mask).map(|(low, width)| Piece { at: low + at, width, shared: None }).collect())
        }
    }
}

/// The runs of set bits of a mask: lowest bit and width.
fn runs(mut mask: u64) -> impl Iterator<Item = (u8, u8)> {
    std::iter::from_fn(move || {
        let low = mask.checked_ilog2().map(|_| mask.trailing_zeros())?;
        let width = (mask >> low).trailing_ones();
        mask &= !(ones(width) << low);
        Some((low as u8, width as u8))
    })
}

/// Applies the rules to all instructions and kinds.
pub fn check(isa: &Isa, out: &mut Diagnostics) {
    for kind in &isa.kinds {
        // The kind of a plain register is made for an operand, which is judged itself.
        if kind.alternatives.first().is_none_or(|alternative| alternative.span != kind.span) {
            check_kind(isa, kind, out);
        }
    }
    for (i, shared) in isa.shared.iter().enumerate() {
        outside(shared.bits.end(0), isa.word_bits, &format!("`{}`", shared.name), shared.span, out);
        for other in &isa.shared[..i] {
            let both = shared.bits.mask(0) & other.bits.mask(0);
            if both != 0 {
                let message = format!("{} of `{}` {} `{}`", bits_text(both), shared.name, overlap(both), other.name);
                out.push(
                    Diagnostic::error("E0107", shared.span, message).secondary(other.span, "the other shared field"),
                );
            }
        }
    }
    let mut layout = Layout::default();
    for form in &isa.forms {
        layout.form(isa, form);
    }
    layout.report(isa, out);
}

fn outside(end: u32, width: u8, what: &str, span: Span, out: &mut Diagnostics) -> bool {
    if end <= u32::from(width) {
        return false;
    }
    let message = format!("bit {} of {what} is outside: the last bit is {}", end - 1, width.saturating_sub(1));
    out.push(Diagnostic::error("E0104", span, message));
    true
}

/// A claim as the mistakes of several instructions share it.
#[derive(PartialEq, Eq, Hash, Clone)]
struct Node {
    place: Span,
    what: String,
}

/// An overlap: the bits, the first instruction with it, where that one makes the two claims, how many have it.
struct Overlap {
    bits: u64,
    form: String,
    uses: (Span, Span),
    forms: usize,
}

/// What is wrong with the words of all instructions. A mistake in what many have in common is collected once.
#[derive(Default)]
struct Layout {
    nodes: Vec<Node>,
    index: HashMap<Node, usize>,
    overlaps: BTreeMap<(usize, usize), Overlap>,
    /// Claims beyond the word: where, what, the last bit, the first instruction, how many.
    beyond: Vec<(Node, u32, String, usize)>,
    missing: Vec<Missing>,
}

/// Bits that nothing accounts for.
struct Missing {
    mask: u64,
    drawing: String,
    /// What lies beside them in the first of the instructions.
    near: Vec<(Span, String)>,
    /// The instructions in which they are missing.
    forms: Vec<(String, Span)>,
}

impl Layout {
    fn node(&mut self, claim: &Claim) -> usize {
        let node = Node { place: claim.place(), what: claim.what.clone() };
        *self.index.entry(node).or_insert_with_key(|node| {
            self.nodes.push(node.clone());
            self.nodes.len() - 1
        })
    }

    fn form(&mut self, isa: &Isa, form: &Form) {
        let mut claims = claims(isa, form);
        let known = claims.iter().fold(form.ignored, |mask, claim| mask | claim.mask);
        let ignored = |span| Claim::new(&Bits::default(), "bits declared ignored".to_owned(), span, None);
        let places = isa.places.of(form.span, Part::Ignored);
        claims.extend(places.iter().map(|(mask, span)| Claim { mask: mask & form.ignored, ..ignored(*span) }));
        let elsewhere = places.iter().fold(form.ignored, |mask, (said, _)| mask & !said);
        claims.push(Claim { mask: elsewhere, ..ignored(form.span) });
        let mut sound = true;
        for (i, claim) in claims.iter().enumerate() {
            if claim.end > u32::from(isa.word_bits) && !claim.shared {
                sound = false;
                let node = Node { place: claim.place(), what: claim.what.clone() };
                match self.beyond.iter_mut().find(|(known, end, ..)| *known == node && *end == claim.end) {
                    Some((.., forms)) => *forms += 1,
                    None => self.beyond.push((node, claim.end, form.name.clone(), 1)),
                }
            }
            for other in &claims[..i] {
                let bits = claim.mask & other.mask;
                let counted = claim.what == other.what && claim.what.starts_with("the count");
                if bits == 0 || counted || (claim.shared && other.shared) {
                    continue;
                }
                sound = false;
                let key = (self.node(other), self.node(claim));
                let overlap = Overlap { bits, form: form.name.clone(), uses: (other.span, claim.span), forms: 0 };
                self.overlaps.entry(key).or_insert(overlap).forms += 1;
            }
        }
        let missing = ones(u32::from(isa.word_bits)) & !known;
        if missing != 0 && sound {
            let this = (form.name.clone(), isa.places.first(form.span, Part::Whole));
            match self.missing.iter_mut().find(|known| known.mask == missing) {
                Some(known) => known.forms.push(this),
                None => {
                    let drawing = draw(isa.word_bits, form, &claims);
                    let beside = missing << 1 & !missing | missing >> 1 & !missing;
                    let near = claims.iter().filter(|claim| claim.mask & beside != 0);
                    let near = near.map(|claim| (claim.place(), claim.what.clone())).collect();
                    self.missing.push(Missing { mask: missing, drawing, near, forms: vec![this] });
                }
            }
        }
    }

    fn report(self, isa: &Isa, out: &mut Diagnostics) {
        for (node, end, form, forms) in &self.beyond {
            let last = isa.word_bits.saturating_sub(1);
            let message = format!("bit {} of {} is outside of the word: the last bit is {last}", end - 1, node.what);
            out.push(Diagnostic::error("E0104", node.place, message).note(in_the_instruction(form, *forms)));
        }
        let edges: Vec<(usize, usize)> = self.overlaps.keys().copied().filter(|(a, b)| a != b).collect();
        let same = self.overlaps.keys().copied().filter(|(a, b)| a == b).map(|(a, _)| (a, vec![a]));
        for (hub, near) in hubs(&edges).into_iter().chain(same) {
            self.overlap(hub, &near, out);
        }
        for Missing { mask, drawing, near, forms } in &self.missing {
            let Some((name, span)) = forms.first() else { continue };
            let mut error = Diagnostic::error(
                "E0105",
                *span,
                format!("nothing says what {} of `{name}` {}", runs_text(*mask), are(*mask)),
            );
            for (place, what) in near.iter().take(4) {
                error = error.secondary(*place, format!("beside: {what}"));
            }
            if let Some(rest) = more(forms.len(), 1) {
                let names: Vec<String> = forms[1..].iter().take(4).map(|(name, _)| format!("`{name}`")).collect();
                let dots = more(rest, 4).map_or_else(String::new, |rest| format!(" and {rest} more"));
                error = error.note(format!("the same bits are missing in {}{dots}", names.join(", ")));
            }
            out.push(error.note(drawing.as_str()).help(
                "add them to `fixed` (constant), to `ignored`, or say `every: { unused: zero }` for all instructions",
            ));
        }
    }

    /// One claim and those that it overlaps.
    fn overlap(&self, hub: usize, near: &[usize], out: &mut Diagnostics) {
        const SHOWN: usize = 4;
        let between = |other: usize| {
            let forward = self.overlaps.get(&(hub, other)).map(|found| (found, found.uses.0, found.uses.1));
            forward.or_else(|| self.overlaps.get(&(other, hub)).map(|found| (found, found.uses.1, found.uses.0)))
        };
        let Some((first, own_use, _)) = near.first().and_then(|other| between(*other)) else { return };
        let Node { place, what } = &self.nodes[hub];
        let mut names: Vec<&str> = near.iter().map(|other| self.nodes[*other].what.as_str()).collect();
        names.dedup();
        let rest = more(names.len(), SHOWN).map_or_else(String::new, |rest| format!(" and {rest} more"));
        let names = names[..names.len().min(SHOWN)].join(", ");
        let bits = near.iter().filter_map(|other| between(*other)).fold(0, |mask, (found, ..)| mask | found.bits);
        let message = format!("{} of {what} {} {names}{rest}", bits_text(bits), overlap(bits));
        let mut error = Diagnostic::error("E0107", *place, message).label(format!("{what} here"));
        if own_use != *place {
            error = error.secondary(own_use, format!("{what} of `{}`", first.form));
        }
        for other in near.iter().take(SHOWN) {
            let Some((_, _, use_)) = between(*other) else { continue };
            let node = &self.nodes[*other];
            if node.place != *place {
                error = error.secondary(node.place, format!("{} here", node.what));
            }
            if use_ != node.place {
                error = error.secondary(use_, format!("{} of `{}`", node.what, first.form));
            }
        }
        out.push(error.note(in_the_instruction(&first.form, first.forms)));
    }
}

/// `overlap` or `overlaps`, for bits as [`bits_text`] names them.
fn overlap(bits: u64) -> &'static str {
    if bits.count_ones() == 1 { "overlaps" } else { "overlap" }
}

/// `is` or `are`, likewise.
fn are(bits: u64) -> &'static str {
    if bits.count_ones() == 1 { "is" } else { "are" }
}

fn in_the_instruction(name: &str, forms: usize) -> String {
    match forms {
        0 | 1 => format!("in the instruction `{name}`"),
        2 => format!("in the instruction `{name}` and in one more"),
        _ => format!("in the instruction `{name}` and in {} more", forms - 1),
    }
}

fn check_kind(isa: &Isa, kind: &Kind, out: &mut Diagnostics) {
    for alternative in &kind.alternatives {
        check_alternative(isa, kind, alternative, out);
    }
    for suffix in &kind.suffixes {
        outside(suffix.bits.end(0), 64, &format!("`{}`", suffix.name), suffix.span, out);
    }
}

fn check_alternative(isa: &Isa, kind: &Kind, alternative: &Alternative, out: &mut Diagnostics) {
    let beyond = |mask: u64| mask & !ones(u32::from(kind.width)) != 0;
    let mut sound = !beyond(alternative.mask);
    let fixed = isa.places.of(alternative.span, Part::Fixed);
    if !sound {
        let place = fixed.iter().find(|(mask, _)| beyond(*mask)).map_or(alternative.span, |(_, span)| *span);
        let last = kind.width.saturating_sub(1);
        let message =
            format!("the constant bits of `{}` reach beyond bit {last}, the last of the operand", alternative.name);
        out.push(Diagnostic::error("E0104", place, message).secondary(kind.span, "the kind says how wide it is"));
    }
    let constant = |(mask, span): &(u64, Span)| (*mask, "the constant bits".to_owned(), *span);
    let mut claimed: Vec<(u64, String, Span)> = fixed.iter().map(constant).collect();
    if claimed.is_empty() {
        claimed.push((alternative.mask, "the constant bits".to_owned(), alternative.span));
    }
    for field in &alternative.fields {
        let mask = field.bits.own_mask(0);
        let own = field.bits.0.iter().filter(|p| p.shared.is_none());
        let end = own.map(|p| u32::from(p.at) + u32::from(p.width)).max().unwrap_or(0);
        sound &= !outside(end, kind.width, &format!("`{}`", field.name), field.span, out);
        for (other, what, span) in claimed.iter().filter(|(other, ..)| other & mask != 0) {
            sound = false;
            let message = format!(
                "{} of `{}` {} {what} of `{}`",
                bits_text(mask & other),
                field.name,
                overlap(mask & other),
                alternative.name
            );
            out.push(Diagnostic::error("E0107", field.span, message).secondary(*span, format!("{what} here")));
        }
        claimed.push((mask, format!("`{}`", field.name), field.span));
    }
    let missing = ones(u32::from(kind.width)) & !claimed.iter().fold(0, |known, (mask, ..)| known | mask);
    if missing != 0 && sound {
        let message = format!("nothing says what {} of `{}` {}", runs_text(missing), alternative.name, are(missing));
        let mut error = Diagnostic::error("E0105", isa.places.first(alternative.span, Part::Whole), message);
        let beside = missing << 1 & !missing | missing >> 1 & !missing;
        for (_, what, span) in claimed.iter().filter(|(mask, ..)| mask & beside != 0) {
            error = error.secondary(*span, format!("beside: {what}"));
        }
        out.push(
            error
                .note(format!("an operand of the kind `{}` has {} bits", kind.name, kind.width))
                .help("add a field, or constant bits under `fixed`"),
        );
    }
}
