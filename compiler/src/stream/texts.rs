//! The texts of instructions.
//!
//! E0133: a text that does not parse back. W0213: two words of the same length with the same text, or two values of a
//! kind. They are searched for in words that [`sample`] draws for each layout, and in words for each outcome of the
//! conditions in its text.

use std::collections::HashMap;
use std::panic::resume_unwind;

use isaforge_core::stream::program::{ends_with_semicolons, mistaken_for};
use isaforge_core::stream::{self as core, Engine, NoPlaces, Role, Scope, Source, Token, Wide, sample};
use isaforge_core::text::Line;

use super::model::Set;
use super::rules::{SAMPLES, bits_of_fields, engine_for, report, spread};
use super::validity::{Validity, by_significance};
use crate::diagnostic::{Diagnostic, Diagnostics};

/// The maximum width of a kind for which all values are compared.
const ALL_BITS: u16 = 10;
/// The maximum number of bits a computed value may depend on for all its values to be compared.
const MAX_COMPARED_BITS: u32 = 8;
/// How many of the words for the outcomes of conditions are parsed as the assembler does, with all instructions; the
/// others are parsed as their own instruction.
const SEARCHED: usize = 8;
/// How many words are compared with those that differ in one bit.
const COMPARED: usize = 3;

/// A mistake in a text.
enum Mistake {
    /// The text does not parse back, with the reason.
    Lost(String),
    /// The assembler takes a part of the text for something else, with what that is.
    Misread(&'static str),
    /// Two words have the same text; with the opcode of the second.
    Shared([Wide; 2], u16),
}

/// Warns of two values of a kind with the same text. Returns the kinds that have them.
fn kinds(stream: &'static core::Stream, sets: &[Set], out: &mut Diagnostics) -> Vec<u16> {
    let engine = Engine { stream, generation: stream.generations.1 };
    let mut told = Vec::new();
    for (index, set) in (0u16..).zip(sets).skip(1) {
        let layouts = stream.layouts_of(index.into());
        // Parameters affect the text, and an instruction may represent them elsewhere in its text.
        if layouts.iter().flat_map(|layout| layout.fields).any(|field| matches!(field.source, Source::Outer(_))) {
            continue;
        }
        let few = if set.bits <= ALL_BITS { 1u64 << set.bits } else { 0 };
        let samples = layouts.iter().flat_map(|layout| sample::words(layout, SAMPLES));
        let mut texts: HashMap<String, (Wide, &core::Layout)> = HashMap::new();
        for word in (0..few).map(Wide::new).chain(samples) {
            let scope = |layout: &'static core::Layout| Scope { engine, layout, word: &word, len: 0, outer: None };
            let Some(layout) = layouts.iter().find(|layout| layout.role == Role::Own && scope(layout).fits()) else {
                continue;
            };
            if scope(layout).validate().is_err() {
                continue;
            }
            let mut line = Line::new();
            scope(layout).print_at(0, &NoPlaces, &mut line);
            let (other, of) = *texts.entry(line.as_str().to_owned()).or_insert((word, layout));
            if ((other ^ word) & !(silent(layout) & silent(of))).is_zero() {
                continue;
            }
            let place =
                |of: &core::Layout| set.layouts.iter().find(|l| l.name == of.name).map_or(set.span, |l| l.text_span);
            let message =
                format!("`{}` is the text of two values of a `{}`: {other:#x} and {word:#x}", line.as_str(), set.name);
            let mut warning = Diagnostic::warning("W0213", place(layout), message);
            if of.name != layout.name {
                warning = warning.secondary(place(of), "the other one");
            }
            out.push(warning.help("make the text show what differs in the bits"));
            told.push(index);
            break;
        }
    }
    told
}

/// Whether two words of a layout differ only in operands of some kinds.
fn differ_in(layout: &'static core::Layout, difference: Wide, kinds: &[u16]) -> bool {
    let operands = layout.fields.iter().zip(0u64..).filter(|(field, _)| match field.ty {
        core::Type::Set(set, _) => kinds.contains(&set),
        _ => false,
    });
    let leaves = operands.fold(0, |leaves, (field, _)| leaves | field.leaves);
    (difference & !bits_of_fields(layout, leaves)).is_zero()
}

/// Checks the texts of the instructions.
pub(super) fn check(stream: &'static core::Stream, sets: &[Set], out: &mut Diagnostics) {
    let Some(set) = sets.first() else { return };
    let kinds = if stream.exclusive { Vec::new() } else { kinds(stream, sets, out) };
    let mut validity = Validity::new(stream);
    let layouts = (0u16..).zip(stream.layouts_of(0)).filter(|(_, layout)| layout.role != Role::Assembler);
    let layouts: Vec<_> = layouts
        .filter_map(|(index, layout)| {
            let engine = engine_for(stream, &[layout])?;
            Some((engine, layout, cases(&mut validity, engine, index, layout)))
        })
        .collect();
    // Layouts of all generations count.
    let semicolon = ends_with_semicolons(Engine { stream, generation: stream.generations.1 });
    // Parsing texts is the most expensive check, and layouts are independent.
    let found = parallel(&layouts, |(engine, layout, cases)| {
        let (text, mistake) = mistake((*engine, semicolon), layout, cases, &kinds)?;
        Some((*layout, text, mistake))
    });
    let place = |opcode: u16, name: &str| {
        let layout = set.layouts.iter().find(|l| l.name == name && l.opcode == usize::from(opcode));
        layout.map_or(set.span, |l| l.text_span)
    };
    let (lost, shared): (Vec<_>, Vec<_>) =
        found.into_iter().flatten().partition(|(.., mistake)| !matches!(mistake, Mistake::Shared(..)));
    for mistakes in [lost, shared] {
        let told = mistakes.iter().map(|(layout, text, mistake)| {
            let span = place(layout.opcode, layout.name);
            let told = match mistake {
                Mistake::Lost(why) => {
                    let message = format!("`{text}` is printed but does not read back: {why}");
                    // Ambiguous texts of a foreign decoder are a fact, and no reason to reject its description.
                    match stream.exclusive {
                        true => Diagnostic::warning("E0133", span, message),
                        false => Diagnostic::error("E0133", span, message),
                    }
                }
                Mistake::Misread(why) => {
                    let message = format!("`{text}` is printed but does not read back: {why}");
                    return Diagnostic::error("E0133", span, message).help("print something else there");
                }
                Mistake::Shared([one, other], opcode) => {
                    let message = format!("`{text}` is the text of two words: {one:#x} and {other:#x}");
                    let warning = Diagnostic::warning("W0213", span, message);
                    let others =
                        stream.layouts_of(0).iter().filter(|l| l.opcode == *opcode && *opcode != layout.opcode);
                    match others.map(|layout| place(*opcode, layout.name)).find(|place| *place != span) {
                        Some(place) => warning.secondary(place, "the other one"),
                        None => warning,
                    }
                }
            };
            told.help("make the text show what differs in the bits")
        });
        report(mistakes.len(), told, out);
    }
}

/// A word with others that may have the same text.
struct Case {
    word: Wide,
    others: Vec<Wide>,
}

/// A word for each outcome of a condition in the text of a layout, if one is found, with others that have the same
/// outcome and differ only in fields that decide it.
fn cases(validity: &mut Validity, engine: Engine, index: u16, layout: &'static core::Layout) -> Vec<Case> {
    // The texts of a foreign decoder are not checked in detail.
    if engine.stream.exclusive || validity.is_spent() {
        return Vec::new();
    }
    let mut conditions = Vec::new();
    conditions_of(layout.text, &mut conditions);
    let leaves_of = |condition: u16| core::solve::leaves_of(engine, layout, condition);
    let all = layout.conditions.iter().chain(layout.otherwise).chain(&conditions);
    let leaves = all.fold(0, |all, condition| all | leaves_of(*condition));
    validity.turn(engine.generation);
    validity.reorder(by_significance(&[(layout, leaves)]));
    let Some(place) = validity.place(index, layout.fixed_mask, layout.fixed_value) else { return Vec::new() };
    let own = validity.own(&place);
    let mut cases = Vec::new();
    cases.extend(validity.word_of(own).map(|word| Case { word: word | layout.fixed_value, others: Vec::new() }));
    for condition in conditions {
        let holds = validity.condition(&place, condition);
        let open = bits_of_fields(layout, leaves_of(condition)) & !layout.fixed_mask;
        for value in [true, false] {
            let is = validity.diagrams.is(holds, value);
            let case = validity.diagrams.and(own, is);
            let Some(word) = validity.word_of(case).map(|word| word | layout.fixed_value) else { continue };
            let Some(place) = validity.place(index, !open, word) else { continue };
            let (own, holds) = (validity.own(&place), validity.condition(&place, condition));
            let is = validity.diagrams.is(holds, value);
            let alike = validity.diagrams.and(own, is);
            let bits = open.runs().flat_map(|(at, width)| at..at + width);
            let others = bits.filter_map(|bit| {
                let differs = validity.diagrams.is(place.own_bit(bit as u16), word.get(bit, 1) == 0);
                let other = validity.diagrams.and(alike, differs);
                Some(validity.word_of(other)? | word & !open)
            });
            cases.push(Case { word, others: others.collect() });
        }
    }
    cases
}

fn conditions_of(tokens: &[Token], conditions: &mut Vec<u16>) {
    for token in tokens {
        if let Token::If(condition, _) = token {
            conditions.push(*condition);
        }
        if let Token::If(_, tokens) | Token::Aside(tokens) = token {
            conditions_of(tokens, conditions);
        }
    }
}

/// A text of a layout with a mistake.
fn mistake(
    (engine, semicolon): (Engine, bool),
    layout: &'static core::Layout,
    cases: &[Case],
    kinds: &[u16],
) -> Option<(String, Mistake)> {
    let mut line = Line::new();
    let searched = cases.len().clamp(1, SEARCHED);
    let decode = |word: Wide| engine.decode(&engine.store(word)).ok();
    let words = cases.iter().map(|case| (case.word, &case.others[..]));
    let words = words.chain(sample::words(layout, SAMPLES).map(|word| (word, &[][..])));
    let words = words.filter_map(|(word, others)| Some((decode(word)?, others)));
    for (turn, (decoded, others)) in words.enumerate() {
        line.clear();
        engine.print(&decoded, &mut line);
        let text = line.as_str();
        let scope = engine.scope(&decoded);
        let own = scope.layout.opcode;
        // The text of an alias is checked where the alias is.
        if layout.role == Role::Own {
            let mut plain = Line::new();
            scope.print_at(0, &NoPlaces, &mut plain);
            if plain.as_str() != text {
                continue;
            }
        }
        if let Some(why) = mistaken_for(semicolon, text).filter(|_| !engine.stream.exclusive) {
            return Some((text.to_owned(), Mistake::Misread(why)));
        }
        let read =
            if turn < searched { None } else { engine.parse_as(own, text).filter(|read| has_text(engine, read, text)) };
        let read = match read {
            Some(read) => read,
            None => match engine.parse(text) {
                Ok(parsed) if has_text(engine, &parsed.decoded, text) => parsed.decoded,
                Ok(_) => return Some((text.to_owned(), Mistake::Lost("it reads as another instruction".to_owned()))),
                Err(error) => return Some((text.to_owned(), Mistake::Lost(error.to_string()))),
            },
        };
        if engine.stream.exclusive {
            continue;
        }
        // An alias omits fields of its instruction, but not their meaning.
        let own = engine.scope(&decoded).layout;
        let ignored = silent(own);
        let open = Wide::ones(own.bits.into()) & !own.fixed_mask & !ignored;
        let bits = open.runs().flat_map(|(at, width)| at..at + width);
        let near = bits.filter(|_| turn < COMPARED).filter_map(|bit| {
            let mut one = Wide::ZERO;
            one.set(bit, 1, 1);
            decode(decoded.word ^ one)
        });
        let others = others.iter().filter_map(|other| decode(*other));
        let same = |other: &core::Decoded| {
            let difference = (other.word ^ decoded.word) & !ignored;
            other.len == decoded.len
                && !difference.is_zero()
                && !(other.layout == decoded.layout && differ_in(own, difference, kinds))
                && has_text(engine, other, text)
        };
        if let Some(other) = std::iter::once(read).chain(near).chain(others).find(same) {
            let opcode = engine.scope(&other).layout.opcode;
            return Some((text.to_owned(), Mistake::Shared([decoded.word, other.word], opcode)));
        }
        if turn == 0
            && let Some((text, words)) = same_values(engine, &decoded)
        {
            return Some((text, Mistake::Shared(words, own.opcode)));
        }
    }
    None
}

/// Two words with the same text that differ in the few bits that a computed value depends on.
fn same_values(engine: Engine, decoded: &core::Decoded) -> Option<(String, [Wide; 2])> {
    let layout = engine.scope(decoded).layout;
    let computed = layout.fields.iter().filter(|field| matches!(field.source, Source::Computed { inverse: [], .. }));
    let bits = computed.map(|field| bits_of_fields(layout, field.leaves) & !layout.fixed_mask);
    bits.filter(|bits| bits.count_ones() <= MAX_COMPARED_BITS).find_map(|bits| {
        let mut texts: HashMap<String, Wide> = HashMap::new();
        (0..1u64 << bits.count_ones()).find_map(|value| {
            let other = engine.decode(&engine.store(decoded.word & !bits | spread(bits, value))).ok()?;
            if other.layout != decoded.layout {
                return None;
            }
            let mut line = Line::new();
            engine.print(&other, &mut line);
            let first = texts.insert(line.as_str().to_owned(), other.word)?;
            Some((line.as_str().to_owned(), [first, other.word]))
        })
    })
}

/// The bits that a text need not represent: ignored ones, and those for which a given inverse chooses a value.
fn silent(layout: &'static core::Layout) -> Wide {
    let chosen = layout.fields.iter().filter(|f| matches!(f.source, Source::Computed { inverse: [_, ..], .. }));
    let chosen = chosen.fold(0, |chosen, field| chosen | field.leaves);
    layout.ignored | bits_of_fields(layout, chosen)
}

/// Whether an instruction prints as this text.
fn has_text(engine: Engine, decoded: &core::Decoded, text: &str) -> bool {
    let mut line = Line::new();
    engine.print(decoded, &mut line);
    line.as_str() == text
}

/// Applies `work` to each item on all available processors, and returns the results in order.
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
