//! A TextMate grammar for highlighting, which most editors and sites support.

use std::collections::BTreeSet;

use isaforge_analysis::Set;
use isaforge_core::Tables;
use isaforge_core::error::modifier_words;
use isaforge_core::group::GroupIsa;
use isaforge_core::group::table::{Operation, Token as Part, Type as GroupType};
use isaforge_core::group::text::named_bits;
use isaforge_core::stream::{Layout, Type};
use serde_json::{Value, json};

use crate::assembly::complete::mnemonics;
use crate::assembly::registers::spellings;
use crate::assembly::{comments, is_sequence, is_word};

/// The grammar of the assembly of a set: its instructions, modifiers and registers by name.
///
/// # Examples
///
/// ```
/// use isaforge_analysis::Set;
/// use isaforge_core::Tables;
///
/// let grammar = isaforge_lsp::grammar::grammar(&Set::new(Tables::Words(isaforge_valhall::ISA), None, None));
/// assert_eq!(grammar["scopeName"], "source.isaforge.valhall");
/// assert!(grammar["repository"]["instruction"]["match"].as_str().unwrap().contains(r"FMA\.f32"));
/// ```
pub fn grammar(set: &Set) -> Value {
    let name = set.tables.name();
    let line = match set.tables {
        Tables::Groups(_) => None,
        tables => (!is_sequence(tables)).then(|| "^\\s*#.*$".to_owned()),
    };
    let comments = line.into_iter().chain(comments(set.tables).iter().map(|mark| format!("{mark}.*$")));
    let comments: Vec<Value> = comments.map(|text| json!({ "name": "comment.line", "match": text })).collect();
    let names = mnemonics(set.tables).into_iter().map(|offer| escaped(&offer.name));
    let modifiers = modifiers(set.tables).into_iter().map(|word| escaped(&word));
    let banks: BTreeSet<String> = spellings(set).iter().map(|(name, _)| numbered(name)).collect();
    let parts = ["comment", "label", "directive", "instruction", "modifier", "register", "number"];
    let parts: Vec<Value> = parts.iter().map(|part| json!({ "include": format!("#{part}") })).collect();
    json!({
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": format!("{name} assembly"),
        "scopeName": format!("source.isaforge.{name}"),
        "fileTypes": [name],
        "patterns": parts,
        "repository": {
            "comment": { "patterns": comments },
            "label": { "name": "entity.name.label", "match": "^\\s*[A-Za-z_.$][\\w.$]*(?=\\s*:)" },
            "directive": { "name": "keyword.control.directive", "match": "(?<![\\w.])\\.(?:word|byte)\\b" },
            "instruction": {
                "name": "keyword.mnemonic",
                "match": format!("(?<![\\w.])(?:{})(?!\\w)", alternatives(names)),
            },
            "modifier": {
                "name": "storage.modifier",
                "match": format!("(?<=\\.)(?:{})(?!\\w)", alternatives(modifiers)),
            },
            "register": {
                "name": "variable.language.register",
                "match": format!("(?<!\\w)(?:{})(?!\\w)", alternatives(banks.into_iter())),
            },
            "number": {
                "name": "constant.numeric",
                "match": "(?<![\\w.])#?-?(?:0x[0-9A-Fa-f_]+|0b[01_]+|\\d[\\d_]*(?:\\.\\d+)?)(?!\\w)",
            },
        },
    })
}

/// An alternation of these words, longest first, since the first match wins.
fn alternatives(words: impl Iterator<Item = String>) -> String {
    let mut words: Vec<String> = words.collect::<BTreeSet<String>>().into_iter().collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    words.join("|")
}

/// Escapes a text, so that the expression matches it literally.
fn escaped(text: &str) -> String {
    let escape = |c: char| if c.is_alphanumeric() || c == '_' { String::new() } else { "\\".to_owned() };
    text.chars().map(|c| escape(c) + &c.to_string()).collect()
}

/// An expression for a register name, with any number in place of its own.
fn numbered(name: &str) -> String {
    let digit = |c: char| c.is_ascii_digit();
    let Some(start) = name.find(digit) else { return escaped(name) };
    let end = name[start..].find(|c| !digit(c)).map_or(name.len(), |len| start + len);
    format!("{}\\d+{}", escaped(&name[..start]), escaped(&name[end..]))
}

fn of_enum(ty: Type) -> Option<u16> {
    match ty {
        Type::Enum(index, _) => Some(index),
        _ => None,
    }
}

/// The words that can follow a dot.
fn modifiers(tables: Tables) -> BTreeSet<String> {
    match tables {
        Tables::Words(isa) => {
            let of_forms = isa.forms.iter().flat_map(|form| form.modifiers);
            let suffixes = isa.forms.iter().flat_map(|form| form.operands).flat_map(|operand| operand.suffixes);
            of_forms.chain(suffixes).flat_map(|modifier| modifier_words(isa, modifier)).map(str::to_owned).collect()
        }
        Tables::Groups(isa) => words_of_groups(isa, isa.operations).into_iter().map(str::to_owned).collect(),
        Tables::Streams(engine) => {
            // Values of other generations are in enums that only other layouts use.
            let known = |layout: &&Layout| (layout.since..=layout.until).contains(&engine.generation);
            let fields = engine.stream.layouts.iter().filter(known).flat_map(|layout| layout.fields);
            let enums: BTreeSet<u16> = fields.filter_map(|field| of_enum(field.ty)).collect();
            let enums = enums.iter().filter_map(|index| engine.stream.enums.get(usize::from(*index)));
            let values = enums.flat_map(|found| found.values);
            let words = values.map(|value| value.text.trim_start_matches('.'));
            words.filter(|word| word.starts_with(|c: char| c.is_alphabetic())).map(str::to_owned).collect()
        }
    }
}

/// The words that may follow a dot in the text of these operations.
fn words_of_groups(
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
