//! Completion at the cursor.
//!
//! The assembler decides: it parses the line up to the cursor and reports what it expected there, or accepts or rejects
//! candidate names.

use std::collections::{BTreeSet, HashSet};
use std::time::{Duration, Instant};

use isaforge_analysis::Register;
use isaforge_core::Tables;
use isaforge_core::error::{ParseReason, modifier_words};
use isaforge_core::group::GroupIsa;
use isaforge_core::group::parse::mnemonic;
use isaforge_core::group::table::{Operand as GroupOperand, OperandKind, Operation, Token as Part, Type as GroupType};
use isaforge_core::group::text::named_bits;
use isaforge_core::parse::{Labels, parse_at};
use isaforge_core::stream::{self, Engine, Token};
use isaforge_core::table::{Isa, Shape};
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionList, CompletionResponse, CompletionTextEdit, Documentation,
    Position, TextEdit,
};

use super::registers::registers;
use super::{Source, is_word};

/// A name with its description.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Offer {
    /// The name.
    pub name: String,
    /// A title of a few words.
    pub title: &'static str,
    /// A description.
    pub doc: &'static str,
}

impl Offer {
    fn plain(name: &str) -> Offer {
        Offer { name: name.to_owned(), title: "", doc: "" }
    }
}

/// The mnemonics of a set, each once.
pub fn mnemonics(tables: Tables) -> Vec<Offer> {
    let mut found: Vec<Offer> = match tables {
        Tables::Words(isa) => {
            let offer = |form: &isaforge_core::table::Form| Offer {
                name: form.name.str.to_owned(),
                title: form.title,
                doc: form.doc,
            };
            isa.forms.iter().map(offer).collect()
        }
        Tables::Groups(isa) => {
            let operations = isa.operations.iter().filter(|operation| !operation.remark);
            let offer = |operation: &Operation| {
                Some(Offer { name: mnemonic(operation.syntax)?.to_owned(), title: "", doc: operation.doc })
            };
            operations.filter_map(offer).collect()
        }
        Tables::Streams(engine) => {
            let offer = |layout: &stream::Layout| {
                let instruction = engine.stream.instructions.get(usize::from(layout.opcode))?;
                let Some(Token::Text(text)) = layout.text.first() else { return None };
                let name = text.str.split_whitespace().next()?.to_owned();
                Some(Offer { name, title: instruction.title, doc: instruction.doc })
            };
            engine.stream.layouts_of(0).iter().filter_map(offer).collect()
        }
    };
    found.sort();
    found.dedup_by(|b, a| a.name == b.name);
    found
}

/// Resolves every label to the start.
struct Any<'s>(&'s Source);

impl Any<'_> {
    fn find(&self, name: &str) -> Option<u64> {
        self.0.has_label(name).then_some(0)
    }
}

impl Labels for Any<'_> {
    fn resolve(&self, name: &str) -> Option<u64> {
        self.find(name)
    }
}

impl stream::Labels for Any<'_> {
    fn resolve(&self, name: &str) -> Option<u64> {
        self.find(name)
    }
}

/// A character that never occurs in assembly.
const PROBE: &str = "\u{1}";

/// The maximum number of names that are offered at once.
pub const MAX_OFFERED: usize = 500;
/// How long names are tried.
const TIME: Duration = Duration::from_millis(300);

/// The names that are possible at a position, each with the edit that inserts it. If there are too many, the answer
/// says that it is incomplete.
pub fn complete(source: &Source, position: Position) -> CompletionResponse {
    let (items, complete) = found(source, position);
    match complete {
        true => CompletionResponse::Array(items),
        false => CompletionResponse::List(CompletionList { is_incomplete: true, items }),
    }
}

/// The names, and whether they are all.
fn found(source: &Source, position: Position) -> (Vec<CompletionItem>, bool) {
    let line = position.line as usize;
    let byte = source.text.byte(position);
    let Some(code) = source.code(line).get(..byte) else { return (Vec::new(), true) };
    let start = source.statement(code);
    let text = code.get(start..).unwrap_or_default();
    let first = !text.trim_start().contains(char::is_whitespace);
    let word = text.trim_end_matches(|c: char| is_word(c) || c == '.').len();
    let (mut found, mut complete) = (Vec::new(), true);
    let mut names = HashSet::new();
    let mut add = |offers: &mut dyn Iterator<Item = Offer>, from: usize, kind: CompletionItemKind| {
        let typed = text.get(from..).unwrap_or_default();
        let range = source.text.range(line, start + from..byte);
        for offer in offers.filter(|offer| starts(&offer.name, typed)) {
            if !names.insert((from, offer.name.clone())) {
                continue;
            }
            if found.len() == MAX_OFFERED {
                complete = false;
                break;
            }
            found.push(item(offer, range, kind));
        }
    };
    if first {
        let from = text.len() - text.trim_start().len();
        add(&mut mnemonics(source.set.tables).into_iter(), from, CompletionItemKind::FUNCTION);
    }
    if let Some(dot) = text.get(word..).and_then(|typed| typed.rfind('.')) {
        let dot = word + dot + 1;
        let before = text.get(..dot).unwrap_or_default();
        let offers = match source.set.tables {
            Tables::Words(isa) => suffixes(source, isa, before),
            Tables::Groups(isa) => parts(isa, text, true),
            Tables::Streams(_) => Vec::new(),
        };
        add(&mut offers.into_iter(), dot, CompletionItemKind::ENUM_MEMBER);
    }
    let mut all_tried = true;
    if !first {
        // A prefix of a register, such as a mark, is a part of its operand.
        let from = text.rfind([' ', '\t', ',']).map_or(0, |at| at + 1);
        let before = text.get(..from).unwrap_or_default();
        let kind = CompletionItemKind::VARIABLE;
        match source.set.tables {
            Tables::Words(isa) => add(&mut operands(source, isa, before).into_iter(), from, kind),
            Tables::Groups(isa) => {
                // The first registers of every bank matter most.
                let mut named: Vec<&(String, Register)> = source.spellings().iter().collect();
                named.sort_by_key(|(_, register)| register.index);
                let named = named.into_iter().map(|(name, _)| Offer::plain(name));
                add(&mut parts(isa, text, false).into_iter().chain(labels(source)).chain(named), from, kind);
            }
            Tables::Streams(engine) => {
                let (before, typed) = text.split_at(word);
                let (offers, tried) = accepted(source, engine, before, typed);
                all_tried = tried;
                add(&mut offers.into_iter(), word, kind);
            }
        }
    }
    (found, complete && all_tried)
}

fn starts(name: &str, typed: &str) -> bool {
    name.get(..typed.len()).is_some_and(|start| start.eq_ignore_ascii_case(typed))
}

fn item(offer: Offer, range: lsp_types::Range, kind: CompletionItemKind) -> CompletionItem {
    CompletionItem {
        label: offer.name.clone(),
        kind: Some(kind),
        detail: (!offer.title.is_empty()).then(|| offer.title.to_owned()),
        documentation: (!offer.doc.is_empty()).then(|| Documentation::String(offer.doc.to_owned())),
        filter_text: Some(offer.name.clone()),
        text_edit: Some(CompletionTextEdit::Edit(TextEdit::new(range, offer.name))),
        ..CompletionItem::default()
    }
}

fn labels(source: &Source) -> impl Iterator<Item = Offer> {
    source.assembly.labels.iter().map(|label| Offer::plain(&label.name))
}

/// The modifiers of an instruction, or of the operand that ends here.
fn suffixes(source: &Source, isa: &'static Isa, before: &str) -> Vec<Offer> {
    let Err(error) = parse_at(isa, &format!("{before}{PROBE}"), 0, &Any(source)) else { return Vec::new() };
    let modifiers = match error.reason {
        ParseReason::UnknownModifier(form) => isa.forms.get(usize::from(form)).map(|form| form.modifiers),
        ParseReason::UnknownSuffix(form, operand) => {
            let operand = isa.forms.get(usize::from(form)).and_then(|form| form.operands.get(usize::from(operand)));
            operand.map(|operand| operand.suffixes)
        }
        _ => None,
    };
    let offer = |modifier: &'static isaforge_core::table::Modifier| {
        modifier_words(isa, modifier).map(|word| Offer {
            name: word.to_owned(),
            title: modifier.name,
            doc: modifier.doc,
        })
    };
    modifiers.unwrap_or_default().iter().flat_map(offer).collect()
}

/// The texts of the operand that is expected after a text.
fn operands(source: &Source, isa: &'static Isa, before: &str) -> Vec<Offer> {
    let Err(error) = parse_at(isa, &format!("{before}{PROBE}"), 0, &Any(source)) else { return Vec::new() };
    let ParseReason::Operand(form, operand) = error.reason else { return Vec::new() };
    let operand = isa.forms.get(usize::from(form)).and_then(|form| form.operands.get(usize::from(operand)));
    let texts_of = |kind: u16| {
        let texts = isa.kinds.get(usize::from(kind)).map_or(&[][..], |kind| kind.texts);
        let texts: Vec<String> = texts.iter().map(|text| text.str.to_owned()).collect();
        if texts.is_empty() { registers(&source.set).into_iter().map(|(name, _)| name).collect() } else { texts }
    };
    match operand.map(|operand| &operand.shape) {
        Some(Shape::One { kind, .. }) => {
            let texts: BTreeSet<String> = texts_of(*kind).into_iter().filter(|text| !text.is_empty()).collect();
            texts.iter().map(|name| Offer::plain(name)).collect()
        }
        Some(Shape::List { kind, open, separator, .. }) => {
            let lists = lists(&texts_of(*kind), open, separator);
            let takes = |list: &String| {
                let text = format!("{before}{list}");
                parse_at(isa, &text, 0, &Any(source)).map_or_else(|error| error.at >= text.len(), |_| true)
            };
            lists.into_iter().filter(takes).map(|list| Offer::plain(&list)).collect()
        }
        Some(Shape::Number { target: Some(_), .. }) => labels(source).collect(),
        _ => Vec::new(),
    }
}

/// The maximum length of a list that is offered.
const MAX_LIST: usize = 16;

/// Lists of consecutive registers, short ones first.
fn lists(registers: &[String], open: &str, separator: &str) -> Vec<String> {
    let runs = (1..=MAX_LIST).flat_map(|len| registers.windows(len));
    let runs = runs.filter(|run| run.iter().all(|name| !name.is_empty()));
    runs.map(|run| format!("{open}{}", run.join(separator))).collect()
}

/// What operations with the name at the start of a part may contain: modifiers, or names of wires.
fn parts(isa: &'static GroupIsa, text: &str, modifiers: bool) -> Vec<Offer> {
    let name = text.trim_start().split(|c: char| !is_word(c)).next().unwrap_or_default();
    let is_called =
        |operation: &&Operation| mnemonic(operation.syntax).is_some_and(|known| known.eq_ignore_ascii_case(name));
    let wire = |operand: &'static GroupOperand| match operand.kind {
        OperandKind::Wire(wire) => Some(wire),
        _ => None,
    };
    let found = match modifiers {
        true => words_of_groups(isa, isa.operations.iter().filter(is_called)),
        false => isa.operands.iter().filter_map(wire).filter(|wire| !wire.is_empty()).collect(),
    };
    found.into_iter().map(Offer::plain).collect()
}

/// The words that may follow a dot in the text of these operations.
pub(crate) fn words_of_groups(
    isa: &'static GroupIsa,
    operations: impl IntoIterator<Item = &'static Operation>,
) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    for operation in operations {
        let field = |at: u8, field: u8| {
            let slots = (0..isa.slots.len()).filter(|slot| operation.slots >> slot & 1 != 0);
            let slot = if at == Part::OWN { slots.min()? } else { usize::from(at) };
            isa.choices.get(usize::from(isa.slots.get(slot)?.choice))?.fields.get(usize::from(field))
        };
        if let Some(Part::Text(text)) = operation.syntax.first() {
            found.extend(text.split(' ').next().into_iter().flat_map(|name| name.split('.').skip(1)));
        }
        for token in operation.syntax {
            match *token {
                Part::Flag(_, _, text) => found.extend([text]),
                Part::Words(_, _, words) => found.extend(words),
                Part::Bits(_, _, words) => found.extend(named_bits(words).1),
                Part::Suffix(at, index, _) => {
                    let named = field(at, index).and_then(|field| match field.ty {
                        GroupType::Enum(index) => isa.enums.get(usize::from(index)),
                        _ => None,
                    });
                    found.extend(named.iter().flat_map(|named| named.values).map(|value| value.text));
                }
                _ => {}
            }
        }
    }
    let words = found.into_iter().map(|word| word.trim_start_matches('.'));
    words.filter(|word| !word.is_empty() && word.chars().all(is_word)).collect()
}

/// The maximum number of names that are tried.
const TRIED: usize = 2000;

/// The names in a stream's set that the assembler accepts after a text, and whether all were tried.
fn accepted(source: &Source, engine: Engine, before: &str, typed: &str) -> (Vec<Offer>, bool) {
    let named = source.spellings().iter().map(|(name, _)| Offer::plain(name));
    let value =
        |value: &'static isaforge_core::table::Value| Offer { name: value.text.to_owned(), title: "", doc: value.doc };
    let values = engine.stream.enums.iter().flat_map(|found| found.values).map(value);
    let all = named.chain(values).chain(labels(source));
    let mut fitting = all.filter(|offer| !offer.name.is_empty() && starts(&offer.name, typed));
    let all: BTreeSet<Offer> = fitting.by_ref().take(TRIED).collect();
    let mut complete = fitting.next().is_none();
    let takes = |offer: &Offer| {
        let text = format!("{before}{}", offer.name);
        match engine.parse_at(text.trim_start(), 0, 0, &Any(source)) {
            Ok(_) => true,
            Err(error) => error.at + (text.len() - text.trim_start().len()) >= text.len(),
        }
    };
    let until = Instant::now() + TIME;
    let mut found = Vec::new();
    for offer in all {
        if Instant::now() > until {
            complete = false;
            break;
        }
        found.extend(Some(offer).filter(takes));
    }
    (found, complete)
}
