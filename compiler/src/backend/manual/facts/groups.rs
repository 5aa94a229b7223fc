//! Sets of groups: one entry for each operation.

use isaforge_core::annotate::Role;
use isaforge_core::explain::groups::example;
use isaforge_core::explain::picture::picture;
use isaforge_core::explain::{bits_text, hex};
use isaforge_core::group::parse::write_syntax;
use isaforge_core::group::table::{Choice, Encoding, Operation, Record, Token, Type};
use isaforge_core::group::text::SEPARATOR;
use isaforge_core::group::{GroupIsa, assemble, print};
use isaforge_core::semantics::Semantics;
use isaforge_core::text::Line;

use super::book::{
    Bank, Book, Entry, Example, Kind, Layout, Part, Piece, Reading, Run, Slot, Values, complete, digits, names,
};

pub fn book(isa: &'static GroupIsa, semantics: Option<&Semantics>) -> Book {
    let slot = |slot: &isaforge_core::group::table::Slot| Slot {
        name: slot.name.to_owned(),
        doc: slot.doc.to_owned(),
        kind: slot.choice.into(),
        operations: slot.operations.iter().map(|index| usize::from(*index)).collect(),
    };
    let bank = |bank: &isaforge_core::table::Bank| Bank {
        name: bank.name.to_owned(),
        doc: bank.doc.to_owned(),
        count: bank.count,
        width: bank.width,
        ends: ("0".to_owned(), bank.count.saturating_sub(1).to_string()),
    };
    Book {
        name: isa.name.to_owned(),
        doc: isa.doc.to_owned(),
        shape: format!("groups of up to {} bytes", isa.longest),
        entries: isa.operations.iter().map(|operation| entry(isa, semantics, operation)).collect(),
        enums: isa.enums.iter().map(names).collect(),
        kinds: isa.choices.iter().map(kind).collect(),
        banks: isa.banks.iter().map(bank).collect(),
        slots: isa.slots.iter().map(slot).collect(),
        opcodes: Vec::new(),
    }
}

fn entry(isa: &'static GroupIsa, semantics: Option<&Semantics>, operation: &'static Operation) -> Entry {
    let mut layouts = Vec::new();
    let mut parts: Vec<Part> = Vec::new();
    for (index, slot) in isa.slots.iter().enumerate().filter(|(index, _)| operation.slots >> index & 1 != 0) {
        let Some(choice) = isa.choices.get(usize::from(slot.choice)) else { continue };
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = write_syntax(isa, operation, index, &mut text);
        let syntax = vec![Piece { text, part: String::new() }];
        let records: Vec<&Record> =
            slot.records.iter().filter_map(|record| choice.records.get(usize::from(*record))).collect();
        let fitting = records.into_iter().filter(|record| fits(choice, record, operation));
        let first = layouts.len();
        layouts.extend(fitting.map(|record| Layout {
            name: format!("{} as {}", slot.name, record.name),
            doc: [record.doc, record.note].join(" ").trim().to_owned(),
            bits: u16::from(record.bytes) * 8,
            runs: runs(choice, record, operation),
            syntax: syntax.clone(),
            conditions: Vec::new(),
        }));
        if layouts.len() == first {
            layouts.push(Layout { name: slot.name.to_owned(), syntax, ..Layout::default() });
        }
        for field in tokens(operation).filter_map(|field| choice.fields.get(usize::from(field))) {
            if parts.iter().any(|part| part.name == field.name) {
                continue;
            }
            parts.push(Part {
                name: field.name.to_owned(),
                role: Role::Modifier,
                bits: String::new(),
                doc: field.doc.to_owned(),
                access: "",
                size: 0,
                values: match field.ty {
                    Type::Enum(index) => Values::Enum(index.into()),
                    Type::Flag => Values::Flag(format!(".{}", field.name)),
                    _ => Values::Text("a number".to_owned()),
                },
                default: u64::try_from(field.default).ok(),
            });
        }
    }
    let group = example(isa, operation);
    let example = group.and_then(|group| {
        let mut line = Line::new();
        print(isa, &group, SEPARATOR, &mut line);
        let read = assemble(isa, line.as_str()).ok()?.encode(isa).ok()?;
        let code = hex(group.as_bytes());
        let picture = picture(isa, semantics, &group);
        (read.as_bytes() == group.as_bytes()).then(|| Example { text: line.as_str().to_owned(), code, picture })
    });
    let none = match operation.no_encoding {
        "" => String::new(),
        why => format!("It has no public encoding: {why}."),
    };
    Entry {
        name: operation.name.to_owned(),
        title: operation
            .doc
            .split_once(". ")
            .map_or(operation.doc, |(first, _)| first)
            .trim_end_matches('.')
            .to_owned(),
        doc: [operation.doc, &none].join(" ").trim().to_owned(),
        unit: operation.part.to_owned(),
        source: operation.source.to_owned(),
        provenance: operation.provenance.as_str(),
        note: operation.note.to_owned(),
        layouts,
        parts,
        examples: example.into_iter().collect(),
        ..Entry::default()
    }
}

/// The fields of its own slot that the syntax of an operation contains.
fn tokens(operation: &'static Operation) -> impl Iterator<Item = u8> {
    operation.syntax.iter().filter_map(|token| match *token {
        Token::Flag(Token::OWN, field, _)
        | Token::Suffix(Token::OWN, field, _)
        | Token::Value(Token::OWN, field)
        | Token::Words(Token::OWN, field, _)
        | Token::Optional(Token::OWN, field, _)
        | Token::Bits(Token::OWN, field, _) => Some(field),
        _ => None,
    })
}

/// Whether a record can store the values that make a slot this operation.
fn fits(choice: &Choice, record: &Record, operation: &Operation) -> bool {
    if record.bytes == 0 || !record.unusable.is_empty() || record.no_encoding {
        return false;
    }
    operation.is.iter().filter(|(slot, ..)| *slot == Token::OWN).all(|(_, field, allowed)| {
        let said = record.implies.iter().chain(record.needs).find(|(index, _)| index == field).map(|(_, value)| *value);
        match (record.places.iter().any(|place| place.field == *field), said) {
            (true, _) => true,
            (false, Some(value)) => allowed.contains(&value),
            (false, None) => {
                choice.fields.get(usize::from(*field)).is_some_and(|field| allowed.contains(&field.default))
            }
        }
    })
}

/// The bits of a record. Fields that identify the operation are constant.
fn runs(choice: &Choice, record: &Record, operation: &Operation) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut rest = record.mask;
    while rest != 0 {
        let low = rest.trailing_zeros();
        let width = (rest >> low).trailing_ones();
        runs.push(Run {
            high: (low + width - 1) as u16,
            low: low as u16,
            role: Role::Fixed,
            name: String::new(),
            digits: digits(record.value >> low, width),
        });
        rest &= !(isaforge_core::bits::ones(width) << low);
    }
    for place in record.places {
        let Some(field) = choice.fields.get(usize::from(place.field)) else { continue };
        let width = place.bits.width();
        let chosen = operation.is.iter().find(|(slot, index, _)| *slot == Token::OWN && *index == place.field);
        let stored = match chosen {
            Some((_, _, [value])) => field.encoding.stored(*value, width),
            _ => None,
        };
        for (piece, shift) in place.bits.pieces() {
            runs.push(Run {
                high: u16::from(piece.at + piece.width - 1),
                low: piece.at.into(),
                role: if stored.is_some() { Role::Opcode } else { Role::Modifier },
                name: if stored.is_some() { String::new() } else { field.name.to_owned() },
                digits: stored.map_or(String::new(), |stored| digits(stored >> shift, piece.width.into())),
            });
        }
    }
    complete(runs, u16::from(record.bytes) * 8)
}

/// A choice as a kind, with its records as alternatives.
fn kind(choice: &'static Choice) -> Kind {
    let reading = |record: &'static Record| {
        let mut letters: Vec<char> = (0..u32::from(record.bytes) * 8)
            .map(|bit| match (record.mask >> bit & 1, record.value >> bit & 1) {
                (0, _) => '·',
                (_, 0) => '0',
                _ => '1',
            })
            .collect();
        let mut held: Vec<String> = Vec::new();
        for place in record.places {
            let Some(field) = choice.fields.get(usize::from(place.field)) else { continue };
            let letter = field.name.chars().next().unwrap_or('x');
            let mut pieces = Vec::new();
            for (piece, _) in place.bits.pieces() {
                let bits = usize::from(piece.at)..usize::from(piece.at) + usize::from(piece.width);
                letters.get_mut(bits).into_iter().flatten().for_each(|to| *to = letter);
                pieces.push((u16::from(piece.at + piece.width - 1), u16::from(piece.at)));
            }
            pieces.reverse();
            let how = match field.encoding {
                Encoding::Plain => String::new(),
                Encoding::Minus(n) => format!(" (stored less {n})"),
                Encoding::Wrap => " (0 stands for one more than the greatest value)".to_owned(),
                Encoding::Times(n) | Encoding::SignedTimes(n) => format!(" (in units of {n})"),
            };
            held.push(format!("{} {}{how}", field.name, bits_text(pieces)));
        }
        letters.reverse();
        let bytes: Vec<String> = letters.chunks(8).map(|byte| byte.iter().collect()).collect();
        let why = match record.unusable {
            "" => String::new(),
            why => format!("Not used: {why}."),
        };
        Reading {
            name: record.name.to_owned(),
            text: held.join("; "),
            bits: bytes.join(" "),
            doc: [record.doc, record.note, &why].join(" ").trim().to_owned(),
            constants: Vec::new(),
        }
    };
    Kind {
        name: choice.name.to_owned(),
        slug: String::new(),
        doc: choice.doc.to_owned(),
        width: 0,
        readings: choice.records.iter().map(reading).collect(),
    }
}
