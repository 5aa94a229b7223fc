//! What must hold of a stream.
//!
//! E0104: bits outside of an instruction. E0105: bits that nothing accounts for. E0106: two instructions that one word is
//! both of. E0107: bits that two things claim. E0110: two readings of an operand. E0131: a value that is computed from
//! itself. E0132: a value from which no way back is found. E0133: a text that does not read back.

use std::panic::resume_unwind;

use isaforge_core::sample::Random;
use isaforge_core::stream::{self as core, Engine, Role, Scope, Wide, sample};
use isaforge_core::text::Line;

use super::lower::lower_exact;
use super::model::{Layout, Set, Source, Stream, Type};
use crate::check::more;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::Isa;
use crate::source::Span;

/// How many words of a layout are tried.
pub(super) const SAMPLES: u64 = 24;
/// How many of these are read as the assembler does, which looks at all instructions; the others as what they are.
const SEARCHED: usize = 1;
/// How many words of two layouts are tried to find one that is both, where their conditions look at many bits.
const TRIED: u32 = 20_000;
/// How many words are tried for all pairs of instructions together.
const TRIED_IN_ALL: u64 = 1 << 24;
/// How many mistakes of one sort are told one by one.
pub(super) const TOLD: usize = 20;
/// How many places are marked that take part in one mistake.
const MARKED: usize = 4;

/// The bits of a layout that something says something about.
pub(crate) fn accounted(layout: &Layout) -> Wide {
    let fields =
        layout.fields.iter().filter_map(|f| if let Source::Bits(pieces) = &f.source { Some(pieces) } else { None });
    fields.fold(layout.fixed_mask | layout.ignored, |all, pieces| all | Layout::bits_of(pieces))
}

/// What says something about bits of a layout: the bits, the place, and the name where it is a field.
fn said(layout: &Layout) -> impl Iterator<Item = (Wide, Span, Option<&str>)> {
    let constants = layout.said.iter().map(|(bits, span)| (*bits, *span, None));
    let fields = layout.fields.iter().filter_map(|field| match &field.source {
        Source::Bits(pieces) => {
            let name = field.name.strip_suffix(" in bits").unwrap_or(&field.name);
            Some((Layout::bits_of(pieces), field.span, Some(name)))
        }
        _ => None,
    });
    constants.chain(fields)
}

/// Checks a stream.
pub fn check(isa: &Isa, stream: &Stream, out: &mut Diagnostics) {
    for layout in stream.sets.iter().flat_map(|set| &set.layouts) {
        coverage(layout, out);
        circles(layout, out);
    }
    for (index, set) in stream.sets.iter().enumerate() {
        if let Some(field) = holding_itself(stream, index) {
            let message = format!("`{}` is an operand of itself", set.name);
            out.push(
                Diagnostic::error("E0131", field, message)
                    .help("let the operand have fewer bits, and a kind of its own"),
            );
        }
    }
    if out.has_errors() {
        return;
    }
    // Where the order decides, the document is the table of another's decoder: its reader is tested on that one's texts.
    let ordered = stream.sets.first().is_some_and(|set| set.first_wins);
    if ordered && stream.sets.iter().all(|set| set.first_wins) {
        return;
    }
    let tables = lower_exact(isa, stream);
    // Where two that fit are none, there is no one to choose from.
    let checked = |set: &Set| !set.first_wins && !stream.exclusive;
    for (index, set) in stream.sets.iter().enumerate().filter(|(_, set)| checked(set)) {
        ambiguity(tables, index, set, out);
    }
    if out.has_errors() || ordered {
        return;
    }
    super::ways::check(tables, stream, out);
    if out.has_errors() {
        return;
    }
    texts(tables, &stream.sets[0], out);
    super::aliases::check(tables, &stream.sets[0], out);
}

/// The tables with the first generation that has all of some layouts; `None` when there is none.
pub(super) fn engine_for(stream: &'static core::Stream, layouts: &[&core::Layout]) -> Option<Engine> {
    let (first, last) = stream.generations;
    let since = layouts.iter().map(|layout| layout.since).max().unwrap_or(first).max(first);
    let until = layouts.iter().map(|layout| layout.until).min().unwrap_or(last).min(last);
    (since <= until).then_some(Engine { stream, generation: since })
}

fn bits_text(bits: Wide) -> String {
    let runs: Vec<String> = bits
        .runs()
        .map(|(at, width)| if width == 1 { at.to_string() } else { format!("{}..{at}", at + width - 1) })
        .collect();
    let one = bits.count_ones() == 1;
    format!("{} {}", if one { "bit" } else { "bits" }, runs.join(", "))
}

fn coverage(layout: &Layout, out: &mut Diagnostics) {
    let whole = Wide::ones(layout.bits.into());
    let mut claimed = layout.fixed_mask;
    // The fields of an alias may have certain values.
    let alias = layout.role != Role::Own;
    for field in &layout.fields {
        let Source::Bits(pieces) = &field.source else { continue };
        let bits = Layout::bits_of(pieces);
        if !(bits & !whole).is_zero() {
            let message = format!(
                "{} of `{}` outside: the last bit is {}",
                bits_text(bits & !whole),
                field.name,
                layout.bits - 1
            );
            out.push(Diagnostic::error("E0104", field.span, message));
        } else if !(bits & claimed).is_zero() && !alias {
            let message = format!(
                "{} of `{}` in `{}` mean something else, too",
                bits_text(bits & claimed),
                field.name,
                layout.name
            );
            // Nothing tells which of the two is right.
            let mut error = Diagnostic::error("E0107", field.span, message);
            let others = said(layout).filter(|(other, span, _)| !(*other & bits).is_zero() && *span != field.span);
            for (_, span, name) in others.take(MARKED) {
                error = error.rival(span, name.map_or("constant bits".to_owned(), |name| format!("`{name}`")));
            }
            out.push(error);
        }
        claimed |= bits;
    }
    let rest = whole & !accounted(layout);
    if !rest.is_zero() && !alias {
        let message = format!("nothing says what {} of `{}` mean", bits_text(rest), layout.name);
        let help = "add them to `fixed`, `ignored` or a field, or say `every: { unused: zero }`";
        // A part next to them may be too small, or lie beside its place.
        let mut beside = Wide::ZERO;
        for (at, width) in rest.runs() {
            beside.set(at.saturating_sub(1), 1, 1);
            beside.set((at + width).min(Wide::BITS - 1), 1, 1);
        }
        let mut next = said(layout).filter(|(bits, ..)| !(*bits & beside & !rest).is_zero()).take(MARKED);
        let error = match next.next() {
            Some((_, span, _)) => {
                let error = Diagnostic::error("E0105", span, message).label("next to them");
                next.fold(error, |error, (_, span, _)| error.rival(span, "next to them"))
                    .secondary(layout.span, "in this")
            }
            None => Diagnostic::error("E0105", layout.span, message),
        };
        out.push(error.help(help));
    }
}

/// The field by which a kind of operand holds one of the same kind, perhaps in others.
fn holding_itself(stream: &Stream, kind: usize) -> Option<Span> {
    let held = |set: usize| {
        let fields = stream.sets.get(set).into_iter().flat_map(|set| &set.layouts).flat_map(|layout| &layout.fields);
        fields.filter_map(|field| if let Type::Set(set, _) = field.ty { Some((set, field.span)) } else { None })
    };
    let mut seen = vec![false; stream.sets.len()];
    for (first, span) in held(kind) {
        let mut open = vec![first];
        while let Some(next) = open.pop() {
            if next == kind {
                return Some(span);
            }
            if !std::mem::replace(&mut seen[next], true) {
                open.extend(held(next).map(|(set, _)| set));
            }
        }
    }
    None
}

fn circles(layout: &Layout, out: &mut Diagnostics) {
    let needs = |i: usize| match &layout.fields[i].source {
        Source::Computed { value, .. } => value
            .inputs
            .iter()
            .filter_map(|input| match input {
                core::Input::Field(field) => Some(usize::from(*field)),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    for (i, field) in layout.fields.iter().enumerate() {
        let mut seen = vec![false; layout.fields.len()];
        let mut open = needs(i);
        while let Some(next) = open.pop() {
            if next == i {
                let message = format!("`{}` is computed from itself", field.name);
                out.push(
                    Diagnostic::error("E0131", field.span, message)
                        .help("compute it from fields with bits of their own"),
                );
                break;
            }
            if !std::mem::replace(&mut seen[next], true) {
                open.extend(needs(next));
            }
        }
    }
}

/// A word of two layouts, if there is one: tried on all values of the bits that conditions look at, where they are few. What
/// is tried is taken from `left`.
fn word_of_both(engine: Engine, a: &'static core::Layout, b: &'static core::Layout, left: &mut u64) -> Option<Wide> {
    let mask = a.mask | b.mask;
    let base = a.value & a.mask | b.value & b.mask;
    let looked = |layout: &'static core::Layout| {
        let leaves = layout
            .conditions
            .iter()
            .fold(0, |leaves, condition| leaves | core::solve::leaves_of(engine, layout, *condition));
        layout.fields.iter().enumerate().filter(|(i, _)| leaves >> i & 1 != 0).fold(Wide::ZERO, |bits, (_, field)| {
            match field.source {
                core::Source::Bits(pieces) => bits | Layout::bits_of(pieces),
                _ => bits,
            }
        })
    };
    let open = (looked(a) | looked(b)) & !mask;
    let fits = |layout: &'static core::Layout, word: &Wide| {
        Scope { engine, layout, word, len: (a.bits / 8) as u8, outer: None }.fits()
    };
    let both = |word: &Wide| fits(a, word) && fits(b, word);
    let outer =
        |layout: &core::Layout| layout.fields.iter().any(|field| matches!(field.source, core::Source::Outer(_)));
    if outer(a) || outer(b) {
        // What parameters are is not known here: only conditions that hold whatever they are tell the two apart, and order does.
        return None;
    }
    let scatter = |value: u64| {
        let mut word = base;
        let mut rest = value;
        for (at, width) in open.runs() {
            word.set(at, width, rest);
            rest = rest.checked_shr(width).unwrap_or(0);
        }
        word
    };
    let few = open.count_ones() <= 14;
    let mut both = |word: &Wide| {
        *left = left.saturating_sub(1);
        both(word)
    };
    if few {
        return (0..1u64 << open.count_ones()).map(scatter).find(&mut both);
    }
    let mut random = Random(1);
    (0..TRIED).map(|_| base | Wide(std::array::from_fn(|_| random.next())) & open).find(&mut both)
}

fn ambiguity(stream: &'static core::Stream, index: usize, set: &Set, out: &mut Diagnostics) {
    let layouts: Vec<&'static core::Layout> =
        stream.layouts_of(index).iter().filter(|layout| layout.role == Role::Own).collect();
    let (mut told, mut left) = (0, TRIED_IN_ALL);
    for (i, b) in layouts.iter().enumerate() {
        for a in &layouts[..i] {
            let same_pattern = ((a.value ^ b.value) & a.mask & b.mask).is_zero();
            // One contains the other: the more special one wins. Layouts of one instruction are tried in their order.
            let contained = if a.mask == b.mask {
                a.conditions.is_empty() != b.conditions.is_empty()
            } else {
                (a.mask & b.mask) == a.mask || (a.mask & b.mask) == b.mask
            };
            let variants = index == 0 && a.opcode == b.opcode;
            if !same_pattern || contained || variants || told >= TOLD {
                continue;
            }
            let Some(engine) = engine_for(stream, &[a, b]) else { continue };
            let word = word_of_both(engine, a, b, &mut left);
            let found = |of: &core::Layout| {
                set.layouts.iter().find(|l| l.name == of.name && l.since == of.since && l.value == of.value)
            };
            let span = |of: &core::Layout| found(of).map_or(set.span, |layout| layout.span);
            if word.is_none() && left == 0 {
                let message = format!("too many have the constant bits of `{}` and differ by conditions alone", b.name);
                let error = Diagnostic::error("E0111", span(b), message);
                out.push(error.help("tell some of them apart by constant bits"));
                return;
            }
            let Some(word) = word else { continue };
            told += 1;
            // The bits that both have constant are those that should differ.
            let common = a.mask & b.mask;
            let constants = |of: &core::Layout| {
                let said = found(of).map_or(&[][..], |layout| &layout.said).iter();
                said.filter(|(bits, _)| !(*bits & common).is_zero())
                    .map(|(_, span)| *span)
                    .take(MARKED)
                    .collect::<Vec<_>>()
            };
            let code = if index == 0 { "E0106" } else { "E0110" };
            let what = if index == 0 {
                "match the same word".to_owned()
            } else {
                format!("read the same bits of a `{}`", set.name)
            };
            let error = Diagnostic::error(code, span(b), format!("`{}` and `{}` {what}", b.name, a.name));
            let error = error.rival(span(a), "the other one");
            let marks = constants(b)
                .into_iter()
                .map(|span| (span, &b.name))
                .chain(constants(a).into_iter().map(|span| (span, &a.name)));
            let error =
                marks.fold(error, |error, (span, name)| error.rival(span, format!("constant bits of `{name}`")));
            let error = error.note(format!("for example {word:#x} is both"));
            out.push(
                error.help("give them different `fixed` bits, or conditions of which one at most holds: `where: …`"),
            );
        }
    }
}

fn texts(stream: &'static core::Stream, set: &Set, out: &mut Diagnostics) {
    let layouts: Vec<_> = stream.layouts_of(0).iter().filter(|layout| layout.role != Role::Assembler).collect();
    // Reading a text costs more than all else that is checked, and no layout waits for another.
    let lost = parallel(&layouts, |layout| Some((*layout, lost_text(stream, layout)?)));
    let lost: Vec<_> = lost.into_iter().flatten().collect();
    let count = lost.len();
    for (i, (layout, (text, why))) in lost.into_iter().enumerate().take(TOLD) {
        let span = set.layouts.iter().find(|l| l.name == layout.name).map_or(set.span, |l| l.text_span);
        let message = format!("`{text}` prints and does not read back: {why}");
        // What another's decoder writes alike is a fact about it, and no reason to refuse its description.
        let mut error = match stream.exclusive {
            true => Diagnostic::warning("E0133", span, message),
            false => Diagnostic::error("E0133", span, message),
        };
        if i + 1 == TOLD
            && let Some(rest) = more(count, TOLD)
        {
            error = error.note(format!("and {rest} more"));
        }
        out.push(error.help("write what differs in the bits differently in the text"));
    }
}

/// A text of a layout that does not read back, and why.
fn lost_text(stream: &'static core::Stream, layout: &'static core::Layout) -> Option<(String, String)> {
    let engine = engine_for(stream, &[layout])?;
    let mut line = Line::new();
    let words = sample::words(layout, SAMPLES).filter_map(|word| engine.decode(&engine.store(word)).ok());
    for (turn, decoded) in words.enumerate() {
        line.clear();
        engine.print(&decoded, &mut line);
        let text = line.as_str();
        let own = engine.scope(&decoded).layout.opcode;
        if turn >= SEARCHED && engine.parse_as(own, text).is_some_and(|read| same_text(engine, &read, text)) {
            continue;
        }
        let why = match engine.parse(text) {
            Ok(parsed) if same_text(engine, &parsed.decoded, text) => continue,
            Ok(_) => "it reads as another instruction".to_owned(),
            Err(error) => error.to_string(),
        };
        return Some((text.to_owned(), why));
    }
    None
}

/// What `work` makes of each item, in their order, computed on as many threads as the machine runs at once.
fn parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(items.len()).max(1);
    let share = |first: usize| items.iter().skip(first).step_by(threads).map(&work).collect::<Vec<_>>();
    let mut shares: Vec<_> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|first| scope.spawn(move || share(first))).collect();
        let own = share(0);
        let joined = others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        std::iter::once(own).chain(joined).map(Vec::into_iter).collect()
    });
    (0..items.len()).filter_map(|at| shares[at % threads].next()).collect()
}

/// Whether an instruction prints as this text.
fn same_text(engine: Engine, decoded: &core::Decoded, text: &str) -> bool {
    let mut line = Line::new();
    engine.print(decoded, &mut line);
    line.as_str() == text
}
