//! Every bit of every instruction has exactly one meaning.
//!
//! E0104: bits outside the word or the operand. E0105: bits that are not defined. E0107: bits that are defined twice.

use std::cell::LazyCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use isaforge_core::bits::ones;

use super::text::{bits_text, more, runs_text};
use crate::check::layout::draw;
use crate::check::suspect::{Finding, Habits, Standing, judge};
use crate::diagnostic::{Diagnostic, Diagnostics, count};
use crate::model::{Alternative, Bits, Form, Isa, Kind, Part, Piece, Shape};
use crate::source::Span;

pub use crate::check::layout::Claim;

/// The maximum width of a word in bits.
const MAX_BITS: usize = 64;

/// All claims on bits of a form.
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
                // One field may count the registers of two lists. A count without a name belongs to a modifier, which
                // claims the bits.
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

/// The bits of an operand of a kind. A register of a bank may be in pieces; other operands are one run.
fn operand_bits(kind: &Kind, at: u8) -> Bits {
    match &kind.alternatives[..] {
        [only] if only.mask == 0 && only.fields.len() == 1 => only.fields[0].bits.moved(at),
        alternatives => {
            // The operand is in pieces if all alternatives leave the same bits free.
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
    // The kind of a plain register was made for an operand, which is checked itself.
    let declared = |kind: &&Kind| kind.alternatives.first().is_none_or(|alternative| alternative.span != kind.span);
    let kinds: Vec<&Kind> = isa.kinds.iter().filter(declared).collect();
    let parts: Vec<Vec<Claim>> =
        kinds.iter().flat_map(|kind| &kind.alternatives).map(|alternative| parts(isa, alternative)).collect();
    let habits = LazyCell::new(|| habits(&parts));
    let mut rest = parts.iter();
    for kind in kinds {
        for (alternative, parts) in kind.alternatives.iter().zip(&mut rest) {
            check_alternative(isa, (kind, alternative), parts, &habits, out);
        }
        for suffix in &kind.suffixes {
            outside(suffix.bits.end(0), 64, &format!("`{}`", suffix.name), suffix.span, out);
        }
    }
    for (i, shared) in isa.shared.iter().enumerate() {
        outside(shared.bits.end(0), isa.word_bits, &format!("`{}`", shared.name), shared.span, out);
        for other in &isa.shared[..i] {
            let both = shared.bits.mask(0) & other.bits.mask(0);
            if both != 0 {
                let message = format!("{} of `{}` {} `{}`", bits_text(both), shared.name, overlap(both), other.name);
                out.push(Diagnostic::error("E0107", shared.span, message).rival(other.span, "the other shared field"));
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
    let message = format!("bit {} of {what} is out of range: the last bit is {}", end - 1, width.saturating_sub(1));
    out.push(Diagnostic::error("E0104", span, message));
    true
}

/// A claim, as the key under which mistakes of several instructions are merged.
#[derive(PartialEq, Eq, Hash, Clone)]
struct Node {
    place: Span,
    what: String,
    mask: u64,
}

impl Node {
    fn new(claim: &Claim) -> Self {
        Node { place: claim.place(), what: claim.what.clone(), mask: claim.mask }
    }
}

/// An overlap: the bits, the first instruction with it, where that instruction makes the two claims, and how many
/// instructions have it.
struct Overlap {
    bits: u64,
    form: String,
    uses: (Span, Span),
    forms: usize,
}

/// The mistakes in the words of all instructions. A mistake in a part that many instructions share is collected once.
#[derive(Default)]
struct Layout {
    nodes: Vec<Node>,
    index: HashMap<Node, usize>,
    overlaps: BTreeMap<(usize, usize), Overlap>,
    /// Claims beyond the word: claim, highest bit, first instruction, number of instructions.
    beyond: Vec<(Node, u32, String, usize)>,
    missing: Vec<Missing>,
}

/// Bits that are not defined.
struct Missing {
    mask: u64,
    drawing: String,
    /// Their neighbours in the first of the instructions.
    near: Vec<(Span, String)>,
    /// The instructions that do not define them.
    forms: Vec<(String, Span)>,
}

impl Layout {
    fn node(&mut self, claim: &Claim) -> usize {
        let node = Node::new(claim);
        *self.index.entry(node).or_insert_with_key(|node| {
            self.nodes.push(node.clone());
            self.nodes.len() - 1
        })
    }

    /// All claims on bits of a form, including ignored bits.
    fn all_claims(isa: &Isa, form: &Form) -> Vec<Claim> {
        let mut claims = claims(isa, form);
        let ignored = |span| Claim::new(&Bits::default(), "bits declared ignored".to_owned(), span, None);
        let places = isa.places.of(form.span, Part::Ignored);
        claims.extend(places.iter().map(|(mask, span)| Claim { mask: mask & form.ignored, ..ignored(*span) }));
        let elsewhere = places.iter().fold(form.ignored, |mask, (said, _)| mask & !said);
        claims.push(Claim { mask: elsewhere, ..ignored(form.span) });
        claims
    }

    fn form(&mut self, isa: &Isa, form: &Form) {
        let claims = Self::all_claims(isa, form);
        let known = claims.iter().fold(0, |mask, claim| mask | claim.mask);
        let mut sound = true;
        for (i, claim) in claims.iter().enumerate() {
            if claim.end > u32::from(isa.word_bits) && !claim.shared {
                sound = false;
                let node = Node::new(claim);
                match self.beyond.iter_mut().find(|(known, end, ..)| *known == node && *end == claim.end) {
                    Some((.., forms)) => *forms += 1,
                    None => self.beyond.push((node, claim.end, form.name.clone(), 1)),
                }
            }
            // A word has no more bits, so if there are more claims, some of these overlap.
            for other in &claims[..i.min(MAX_BITS)] {
                let bits = claim.mask & other.mask;
                if !clash(claim, other) {
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
            let message = format!("bit {} of {} is outside the word: the last bit is {last}", end - 1, node.what);
            out.push(Diagnostic::error("E0104", node.place, message).note(in_the_instruction(form, *forms)));
        }
        self.overlapping(isa, out);
        for Missing { mask, drawing, near, forms } in &self.missing {
            let Some((name, span)) = forms.first() else { continue };
            let mut error = Diagnostic::error("E0105", *span, format!("undefined {} in `{name}`", runs_text(*mask)));
            for (place, what) in near.iter().take(4) {
                error = error.secondary(*place, format!("adjacent: {what}"));
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

    /// Reports overlaps at the claim that is likely wrong.
    fn overlapping(&self, isa: &Isa, out: &mut Diagnostics) {
        if self.overlaps.is_empty() {
            return;
        }
        let all: Vec<Vec<Claim>> = isa.forms.iter().map(|form| Self::all_claims(isa, form)).collect();
        let mut habits = Habits::default();
        // Instructions of a group share their elements and count as one place.
        let body = |form: &Form| form.operands.last().map_or(form.span, |operand| operand.span);
        let mut sound: HashSet<(&str, u64, Span)> = HashSet::new();
        let mut conflicts: Vec<HashSet<Span>> = vec![HashSet::new(); self.nodes.len()];
        for (form, claims) in isa.forms.iter().zip(&all) {
            for (i, claim) in claims.iter().enumerate() {
                let (what, mask) = (claim.what.as_str(), claim.mask);
                if claims.iter().enumerate().any(|(j, other)| i != j && clash(claim, other)) {
                    if let Some(node) = self.index.get(&Node::new(claim)) {
                        conflicts[*node].insert(body(form));
                    }
                } else if sound.insert((what, mask, body(form))) {
                    habits.add(what, mask);
                }
            }
        }
        let conflicts = |node: usize| conflicts[node].len();
        let standing = |node: usize| {
            let Node { what, mask, .. } = &self.nodes[node];
            habits.standing(what, *mask, conflicts(node))
        };
        let edges: Vec<(usize, usize)> = self.overlaps.keys().copied().filter(|(a, b)| a != b).collect();
        let same = self.overlaps.keys().filter(|(a, b)| a == b);
        let same = same.map(|(a, _)| Finding { wrong: *a, others: vec![*a], even: true });
        for finding in judge(&edges, standing).into_iter().chain(same) {
            self.overlap(&finding, |node| conflicts(node) == 1 && standing(node) == Standing::BorneOut, out);
        }
    }

    /// Reports a claim and those that it overlaps. If a claim is correct elsewhere, its use is marked.
    fn overlap(&self, finding: &Finding, is_right_elsewhere: impl Fn(usize) -> bool, out: &mut Diagnostics) {
        const SHOWN: usize = 4;
        let Finding { wrong, others, .. } = finding;
        // Claims that are made in the same place count as one side.
        let mut places = others.iter().map(|other| self.nodes[*other].place);
        let first = places.next();
        let even = finding.even || others.len() > 1 && places.all(|place| Some(place) == first);
        let between = |other: usize| {
            let forward = self.overlaps.get(&(*wrong, other)).map(|found| (found, found.uses.0, found.uses.1));
            forward.or_else(|| self.overlaps.get(&(other, *wrong)).map(|found| (found, found.uses.1, found.uses.0)))
        };
        let Some((first, own_use, _)) = others.first().and_then(|other| between(*other)) else { return };
        let mut names: Vec<&str> = others.iter().map(|other| self.nodes[*other].what.as_str()).collect();
        names.dedup();
        let rest = more(names.len(), SHOWN).map_or_else(String::new, |rest| format!(" and {rest} more"));
        let names = names[..names.len().min(SHOWN)].join(", ");
        let bits = others.iter().filter_map(|other| between(*other)).fold(0, |mask, (found, ..)| mask | found.bits);
        let message = format!("{} of {} {} {names}{rest}", bits_text(bits), self.nodes[*wrong].what, overlap(bits));
        // The place to mark first, and another one if the claim is defined and used in different places.
        let marks = |node: usize, used: Span| {
            let Node { place, what, .. } = &self.nodes[node];
            let (lies, made) = ((*place, format!("{what} here")), (used, format!("{what} of `{}`", first.form)));
            match used == *place {
                true => (lies, None),
                false if is_right_elsewhere(node) => (made, Some(lies)),
                false => (lies, Some(made)),
            }
        };
        let ((place, label), more) = marks(*wrong, own_use);
        let mut error = Diagnostic::error("E0107", place, message).label(label);
        error = more.into_iter().fold(error, |error, (place, text)| error.secondary(place, text));
        for other in others.iter().take(SHOWN) {
            let Some((_, _, used)) = between(*other) else { continue };
            let ((place, label), more) = marks(*other, used);
            error = if even { error.rival(place, label) } else { error.secondary(place, label) };
            error = more.into_iter().fold(error, |error, (place, text)| error.secondary(place, text));
        }
        out.push(error.note(in_the_instruction(&first.form, first.forms)));
    }
}

/// Whether two claims of a form exclude each other.
fn clash(a: &Claim, b: &Claim) -> bool {
    // One field may count the registers of two lists.
    let counted = a.what == b.what && a.what.starts_with("the count");
    a.mask & b.mask != 0 && !counted && !(a.shared && b.shared)
}

/// `overlap` or `overlaps`, to agree with the number of bits in [`bits_text`].
fn overlap(bits: u64) -> &'static str {
    if bits.count_ones() == 1 { "overlaps" } else { "overlap" }
}

fn in_the_instruction(name: &str, forms: usize) -> String {
    match forms {
        0 | 1 => format!("in the instruction `{name}`"),
        2 => format!("in the instruction `{name}` and in one more"),
        _ => format!("in the instruction `{name}` and in {} more", forms - 1),
    }
}

/// The claims on bits of an alternative: its constants, then its fields.
fn parts(isa: &Isa, alternative: &Alternative) -> Vec<Claim> {
    let constant = |mask: u64, span: Span| Claim {
        mask,
        ..Claim::new(&Bits::default(), "the constant bits".to_owned(), span, None)
    };
    let fixed = isa.places.of(alternative.span, Part::Fixed);
    let mut parts: Vec<Claim> = fixed.iter().map(|(mask, span)| constant(*mask, *span)).collect();
    if parts.is_empty() {
        parts.push(constant(alternative.mask, alternative.span));
    }
    parts.extend(alternative.fields.iter().map(|field| {
        let own = Bits(field.bits.0.iter().filter(|piece| piece.shared.is_none()).copied().collect());
        Claim::new(&own, format!("`{}`", field.name), field.span, None)
    }));
    parts
}

/// The positions of those parts of alternatives that are not in conflict.
fn habits(all: &[Vec<Claim>]) -> Habits<'_> {
    let mut habits = Habits::default();
    for parts in all {
        for (i, part) in parts.iter().enumerate() {
            if !parts.iter().enumerate().any(|(j, other)| i != j && part.mask & other.mask != 0) {
                habits.add(&part.what, part.mask);
            }
        }
    }
    habits
}

fn check_alternative<'a>(
    isa: &Isa,
    (kind, alternative): (&Kind, &Alternative),
    parts: &[Claim],
    habits: &LazyCell<Habits<'a>, impl FnOnce() -> Habits<'a>>,
    out: &mut Diagnostics,
) {
    let beyond = |mask: u64| mask & !ones(u32::from(kind.width)) != 0;
    let mut sound = !beyond(alternative.mask);
    let constants = parts.len() - alternative.fields.len();
    if !sound {
        let place = parts[..constants].iter().find(|part| beyond(part.mask)).map_or(alternative.span, |part| part.span);
        let last = kind.width.saturating_sub(1);
        let message =
            format!("the constant bits of `{}` reach beyond bit {last}, the last of the operand", alternative.name);
        out.push(Diagnostic::error("E0104", place, message).secondary(kind.span, "width declared here"));
    }
    let mut pairs = Vec::new();
    for (i, part) in parts.iter().enumerate().skip(constants) {
        sound &= !outside(part.end, kind.width, &part.what, part.span, out);
        pairs.extend((0..i).filter(|j| parts[*j].mask & part.mask != 0).map(|j| (j, i)));
    }
    for Finding { wrong, others, even } in judge(&pairs, |i| habits.standing(&parts[i].what, parts[i].mask, 1)) {
        sound = false;
        let wrong = &parts[wrong];
        let mask = others.iter().fold(0, |mask, other| mask | parts[*other].mask & wrong.mask);
        let names: Vec<&str> = others.iter().map(|other| parts[*other].what.as_str()).collect();
        let (bits, names) = (bits_text(mask), names.join(", "));
        let message = format!("{bits} of {} {} {names} of `{}`", wrong.what, overlap(mask), alternative.name);
        let mut error = Diagnostic::error("E0107", wrong.span, message).label(format!("{} here", wrong.what));
        for Claim { what, span, .. } in others.iter().map(|other| &parts[*other]) {
            let label = format!("{what} here");
            error = if even { error.rival(*span, label) } else { error.secondary(*span, label) };
        }
        out.push(error);
    }
    let missing = ones(u32::from(kind.width)) & !parts.iter().fold(0, |known, part| known | part.mask);
    if missing != 0 && sound {
        let message = format!("undefined {} in `{}`", runs_text(missing), alternative.name);
        let mut error = Diagnostic::error("E0105", isa.places.first(alternative.span, Part::Whole), message);
        let beside = missing << 1 & !missing | missing >> 1 & !missing;
        for part in parts.iter().filter(|part| part.mask & beside != 0) {
            error = error.secondary(part.span, format!("adjacent: {}", part.what));
        }
        out.push(
            error
                .note(format!("an operand of the kind `{}` has {}", kind.name, count(kind.width.into(), "bit")))
                .help("add a field, or constant bits under `fixed`"),
        );
    }
}
