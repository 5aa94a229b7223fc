//! Every word has at most one meaning.
//!
//! E0106: two instructions match the same word. E0110: two alternatives of an operand match the same bits. Both are
//! proved: either the constant bits of the two patterns differ somewhere, or a word with both patterns is the witness.

use std::collections::{HashMap, HashSet};

use isaforge_core::bits::ones;

use super::text::{more, runs_text};
use crate::check::suspect::{Finding, Habits, Standing, judge};
use crate::check::witness::witness;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{Alternative, Fixed, Form, Isa, Kind, Part};
use crate::source::Span;

/// How many pairs are collected at most: with this many, something is wrong with all instructions at once.
const MAX_PAIRS: usize = 1 << 18;
/// How many instructions a message lists.
const SHOWN: usize = 4;

/// All pairs of instructions whose constant bits are compatible, as indices into [`Isa::forms`], the lower index first.
///
/// Instructions are grouped by the bits that are constant in all of them, so that only those with the same opcode are
/// compared with each other.
pub fn pairs(isa: &Isa) -> Vec<(usize, usize)> {
    let patterns: Vec<(u64, u64)> = isa.forms.iter().map(Form::pattern).collect();
    let common =
        patterns.iter().map(|(mask, _)| *mask).filter(|mask| *mask != 0).fold(u64::MAX, |all, mask| all & mask);
    let mut buckets: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut found = Vec::new();
    // Instructions without constant bits match every word.
    let mut bare = Vec::new();
    for (i, &(mask, value)) in patterns.iter().enumerate() {
        let bucket = buckets.entry(value & common).or_default();
        if mask == 0 {
            found.extend((0..i).map(|j| (j, i)));
            bare.push(i);
        } else {
            let special =
                |other: u64| isa.special_cases && other != mask && (other & mask == mask || other & mask == other);
            let matches =
                |j: &&usize| (value ^ patterns[**j].1) & mask & patterns[**j].0 == 0 && !special(patterns[**j].0);
            found.extend(bucket.iter().filter(matches).chain(&bare).map(|&j| (j, i)));
            bucket.push(i);
        }
        if found.len() > MAX_PAIRS {
            break;
        }
    }
    found
}

/// Checks all pairs.
pub fn check(isa: &Isa, out: &mut Diagnostics) {
    let pairs = pairs(isa);
    if !pairs.is_empty() {
        instructions(isa, &pairs, out);
    }
    for kind in &isa.kinds {
        check_kind(isa, kind, out);
    }
}

fn instructions(isa: &Isa, pairs: &[(usize, usize)], out: &mut Diagnostics) {
    let clashing: HashSet<usize> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
    let mut habits = Habits::default();
    let mut opcodes = Opcodes::default();
    for (i, form) in isa.forms.iter().enumerate() {
        for fixed in form.fixed.iter().filter(|fixed| fixed.matches) {
            if clashing.contains(&i) {
                *opcodes.users.entry(fixed.span).or_default() += 1;
            } else {
                habits.add(CONSTANT, fixed.mask);
                opcodes.sound.insert(fixed.span);
            }
        }
    }
    let standing = |form: usize| {
        let matching = isa.forms[form].fixed.iter().filter(|fixed| fixed.matches);
        matching.map(|fixed| habits.standing(CONSTANT, fixed.mask, 1)).max().unwrap_or(Standing::Unknown)
    };
    for finding in judge(pairs, standing) {
        let form = &isa.forms[finding.wrong];
        let (mask, _) = form.pattern();
        if mask == 0 {
            let message = format!("`{}` has no constant bits that tell it from others", form.name);
            let whole = isa.places.first(form.span, Part::Whole);
            out.push(Diagnostic::error("E0106", whole, message).help("add its opcode to `fixed`"));
        } else {
            ambiguous(isa, &finding, &opcodes, out);
        }
    }
}

/// The name of all constant bits, for comparing their positions.
const CONSTANT: &str = "constant bits";

/// The constants of instructions that match the same words.
#[derive(Default)]
struct Opcodes {
    /// How many of these instructions use a constant.
    users: HashMap<Span, usize>,
    /// Constants that other instructions use without conflict.
    sound: HashSet<Span>,
}

impl Opcodes {
    /// The constant of an instruction to point at: one that only instructions in conflict use, and most of them; if
    /// several qualify, the widest.
    fn suspect<'f>(&self, form: &'f Form) -> Option<&'f Fixed> {
        let own = form.fixed.iter().filter(|fixed| fixed.matches && !self.sound.contains(&fixed.span));
        own.rev().max_by_key(|fixed| (self.users.get(&fixed.span), fixed.mask.count_ones()))
    }
}

fn ambiguous(isa: &Isa, finding: &Finding, opcodes: &Opcodes, out: &mut Diagnostics) {
    let form = &isa.forms[finding.wrong];
    let others: Vec<&Form> = finding.others.iter().map(|i| &isa.forms[*i]).collect();
    let Some(other) = others.first() else { return };
    let names = match more(others.len(), 1) {
        None => format!("`{}` and `{}` match the same word", form.name, other.name),
        Some(1) => format!("`{}` matches words of `{}` and of one more instruction", form.name, other.name),
        Some(rest) => format!("`{}` matches words of `{}` and of {rest} more instructions", form.name, other.name),
    };
    let digits = usize::from(isa.word_bits.div_ceil(4));
    let found = witness(isa, form, other);
    let value_of = |fixed: &Fixed| {
        let value = (fixed.value & fixed.mask) >> fixed.mask.trailing_zeros().min(63);
        format!("{} {} {value:#x}", runs_text(fixed.mask), if fixed.mask.count_ones() == 1 { "is" } else { "are" })
    };
    let whole = |form: &Form| (isa.places.first(form.span, Part::Whole), String::new());
    let mark = |form: &Form| opcodes.suspect(form).map_or_else(|| whole(form), |fixed| (fixed.span, value_of(fixed)));
    let (place, label) = mark(form);
    let mut error = Diagnostic::error("E0106", place, names).label(label);
    let (rival, label) = mark(other);
    // Instructions that share a constant count as one side.
    if others.iter().all(|other| mark(other).0 == rival) && (finding.even || others.len() > 1) {
        error = error.rival(rival, label);
    }
    let text = found.map_or_else(|| format!("`{}`", form.name), |word| format!("matches 0x{word:0digits$x}"));
    error = error.secondary(form.span, text);
    for (i, other) in others.iter().take(SHOWN).enumerate() {
        let text = if i == 0 && found.is_some() { "and so does this" } else { "and this" };
        error = error.secondary(other.span, if found.is_some() { text } else { "the other one" });
    }
    let mut marked: Vec<Span> = error.suspects().chain([form.span, other.span]).collect();
    for fixed in form.fixed.iter().chain(&other.fixed).filter(|fixed| fixed.matches) {
        let declared = fixed.declared.map(|span| (span, "position declared here".to_owned()));
        for (span, text) in [(fixed.span, value_of(fixed))].into_iter().chain(declared) {
            if !marked.contains(&span) {
                marked.push(span);
                error = error.secondary(span, text);
            }
        }
    }
    error = error.note(match found {
        Some(word) => format!("0x{word:0digits$x} is a valid word of both"),
        None => "no word valid for both was found, but the bits that select the instruction are the same".to_owned(),
    });
    // If one is a special case of the other and no valid word is common to both, both may be correct, and a key must
    // say how they are related.
    if found.is_none()
        && let Some((special, general)) = special_case(form, other)
    {
        error = error.help(format!(
            "`{0}` is a special case of `{1}`: if it is another text for words of `{1}`, make it one of its `aliases`; if \
             `{1}` does not have these words, say so with `where`, and the one with more constant bits wins",
            special.name, general.name
        ));
        return out.push(error);
    }
    out.push(error.help(how_to_tell_apart(isa, form, other)));
}

/// Of two instructions, the one that has all constant bits of the other and more, followed by the other.
fn special_case<'f>(form: &'f Form, other: &'f Form) -> Option<(&'f Form, &'f Form)> {
    [(form, other), (other, form)].into_iter().find(|(special, general)| {
        let ((mask, value), (wider, same)) = (general.pattern(), special.pattern());
        mask & !wider == 0 && mask != wider && value == same & mask
    })
}

/// Suggests bits that could distinguish two instructions.
fn how_to_tell_apart(isa: &Isa, form: &Form, other: &Form) -> String {
    let ((mask, value), (other_mask, other_value)) = (form.pattern(), other.pattern());
    if mask == other_mask {
        return format!("give one of them another value in {}, or make them one instruction", runs_text(mask));
    }
    let (only, only_other) = (mask & !other_mask, other_mask & !mask);
    let mut ways = Vec::new();
    for (bits, value, from, to) in [(only, value, form, other), (only_other, other_value, other, form)] {
        if bits != 0 {
            let low = bits.trailing_zeros();
            let run = ones((bits >> low).trailing_ones()) << low;
            let value = (value & run) >> low;
            ways.push(format!("{} of `{}`, which `{}` has at {value:#b}", runs_text(run), to.name, from.name));
        }
    }
    let free = ones(u32::from(isa.word_bits)) & !mask & !other_mask;
    let free = if free == 0 { String::new() } else { format!(", or {} of both", runs_text(free)) };
    format!("different constants here could tell them apart: {}{free}", ways.join("; "))
}

fn check_kind(isa: &Isa, kind: &Kind, out: &mut Diagnostics) {
    let mut pairs = Vec::new();
    for (i, a) in kind.alternatives.iter().enumerate() {
        for (j, b) in kind.alternatives[..i].iter().enumerate() {
            let by_bits = (a.value ^ b.value) & a.mask & b.mask != 0;
            let by_shared = a.when.iter().any(|(s, v)| b.when.iter().any(|(t, w)| s == t && v != w));
            if !by_bits && !by_shared {
                pairs.push((j, i));
            }
        }
    }
    for Finding { wrong, others, even } in judge(&pairs, |_| Standing::Unknown) {
        let a = &kind.alternatives[wrong];
        let others: Vec<_> = others.iter().map(|i| &kind.alternatives[*i]).collect();
        let Some(b) = others.first() else { continue };
        let rest = more(others.len(), 1).map_or_else(String::new, |rest| format!(" (and {rest} more)"));
        let message = format!("`{}` and `{}`{rest} read the same bits of a `{}`", a.name, b.name, kind.name);
        let mark = |of: &Alternative| match isa.places.of(of.span, Part::Fixed).first() {
            Some((_, span)) => (*span, format!("constant bits of `{}`", of.name)),
            None => (of.span, "no constant bits".to_owned()),
        };
        let (place, label) = mark(a);
        let mut error = Diagnostic::error("E0110", place, message).label(label);
        if even {
            let (place, label) = mark(b);
            error = error.rival(place, label);
        }
        let mut marked: Vec<Span> = error.suspects().collect();
        for alternative in std::iter::once(a).chain(others.iter().copied().take(SHOWN)) {
            for (_, span) in isa.places.of(alternative.span, Part::Fixed) {
                if !marked.contains(span) {
                    marked.push(*span);
                    error = error.secondary(*span, format!("constant bits of `{}`", alternative.name));
                }
            }
        }
        let shared = isa.shared.first().map(|s| format!(", or a different `when: {{ {}: … }}`", s.name));
        error = error.note(format!("for example {:#x} is both", a.value | b.value));
        out.push(error.help(format!("give them different `fixed` bits{}", shared.unwrap_or_default())));
    }
}
