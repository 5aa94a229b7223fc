//! Streams of instructions.

use isaforge_core::annotate::Role;
use isaforge_core::explain::streams::{enums, example};
use isaforge_core::explain::{bits_text, hex};
use isaforge_core::stream::{
    Bank as StreamBank, Engine, Field, Instruction, Layout as Table, Notation, Role as Use, Source, Token, Type,
};
use isaforge_core::text::Line;

use super::book::{
    Bank, Book, Entry, Example, Kind, Layout, Opcode, Part, Piece, Reading, Run, Values, access, complete, digits,
    names, range,
};
use crate::stream::STORED;

pub fn book(engine: Engine) -> Book {
    let stream = engine.stream;
    let layouts = stream.layouts_of(0);
    let own = |opcode: usize| layouts.iter().find(move |l| usize::from(l.opcode) == opcode && l.role == Use::Own);
    let opcode = |entry: usize| {
        let layout = own(entry)?;
        Some(Opcode { entry, mask: layout.mask.get(0, 64), value: layout.value.get(0, 64) })
    };
    let shape = match layouts.iter().map(|layout| layout.bits).max() {
        Some(bits) if layouts.iter().all(|layout| layout.bits == bits) => format!("{bits}-bit instructions"),
        _ => format!("instructions of {} to {} bytes", stream.unit, stream.longest),
    };
    let mut book = Book {
        name: stream.name.to_owned(),
        doc: stream.doc.to_owned(),
        shape,
        entries: stream.instructions.iter().zip(0..).map(|(found, opcode)| entry(engine, found, opcode)).collect(),
        enums: enums(engine).map(|(_, found)| names(&found)).collect(),
        kinds: stream.sets.iter().enumerate().skip(1).map(|(index, _)| kind(engine, index)).collect(),
        banks: stream.banks.iter().map(bank).collect(),
        slots: Vec::new(),
        opcodes: (0..stream.instructions.len()).filter_map(opcode).collect(),
    };
    if let Some(sequence) = stream.sequence {
        book.shape = "sequences of 32-bit units".to_owned();
        for operation in sequence.operations {
            let piece = |text: &str| Piece { text: text.to_owned(), part: String::new() };
            book.entries.push(Entry {
                name: operation.name.to_owned(),
                doc: format!("Code {}, with {} operands.", operation.code, operation.operands.len()),
                layouts: vec![Layout { syntax: vec![piece(operation.name)], ..Layout::default() }],
                provenance: "document",
                ..Entry::default()
            });
        }
    }
    book
}

fn bank(bank: &'static StreamBank) -> Bank {
    let name = |number: u32| bank.name(number.into()).to_string();
    Bank {
        name: bank.name.to_owned(),
        doc: bank.doc.to_owned(),
        count: bank.count,
        width: bank.width,
        ends: (name(0), name(bank.count.saturating_sub(1))),
    }
}

fn entry(engine: Engine, instruction: &'static Instruction, opcode: u16) -> Entry {
    let of_it = engine.stream.layouts_of(0).iter().filter(|layout| layout.opcode == opcode);
    let there = of_it.filter(|layout| (layout.since..=layout.until).contains(&engine.generation));
    let mut layouts: Vec<&'static Table> = there.collect();
    layouts.sort_by_key(|layout| layout.role != Use::Own);
    let mut parts: Vec<Part> = Vec::new();
    for layout in layouts.iter().filter(|layout| layout.role == Use::Own) {
        for (index, field) in layout.fields.iter().enumerate() {
            if !field.name.ends_with(STORED) && parts.iter().all(|part| part.name != field.name) {
                parts.push(part(engine, layout, field, index as u8));
            }
        }
    }
    Entry {
        name: instruction.name.to_owned(),
        title: instruction.title.to_owned(),
        doc: instruction.doc.to_owned(),
        unit: instruction.unit.to_owned(),
        source: instruction.source.to_owned(),
        provenance: instruction.provenance.as_str(),
        note: instruction.note.to_owned(),
        examples: layouts.iter().filter_map(|layout| example_of(engine, layout)).take(3).collect(),
        layouts: layouts.iter().take(64).map(|layout| self::layout(engine, layout, instruction.name)).collect(),
        parts,
        ..Entry::default()
    }
}

fn example_of(engine: Engine, layout: &'static Table) -> Option<Example> {
    let word = example(engine, layout);
    let decoded = engine.decode(&engine.store(word)).ok()?;
    let mut line = Line::new();
    engine.print(&decoded, &mut line);
    let read = engine.parse(line.as_str()).ok()?.decoded;
    let bytes = engine.store(decoded.word);
    let code = hex(&bytes[..usize::from(decoded.len)]);
    let own = engine.stream.layouts.get(usize::from(decoded.layout)).is_some_and(|found| found.opcode == layout.opcode);
    (own && read.word == decoded.word).then(|| Example { text: line.as_str().to_owned(), code, picture: String::new() })
}

fn layout(engine: Engine, layout: &'static Table, name: &str) -> Layout {
    let mut runs = Vec::new();
    for (at, width) in layout.fixed_mask.runs() {
        // One digit per bit, in runs of at most 64 bits.
        let mut from = at;
        while from < at + width {
            let part = (at + width - from).min(64 - from % 64);
            let told = layout.mask.get(from, part) != 0;
            runs.push(Run {
                high: (from + part - 1) as u16,
                low: from as u16,
                role: if told { Role::Opcode } else { Role::Fixed },
                name: String::new(),
                digits: digits(layout.fixed_value.get(from, part), part),
            });
            from += part;
        }
    }
    for (index, field) in layout.fields.iter().enumerate() {
        let Source::Bits(pieces) = field.source else { continue };
        for piece in pieces.iter().filter(|piece| piece.width > 0) {
            if layout.fixed_mask.get(piece.at.into(), piece.width.into()) != 0 {
                continue;
            }
            runs.push(Run {
                high: piece.at + u16::from(piece.width) - 1,
                low: piece.at,
                role: role(layout, index as u8),
                name: field.name.to_owned(),
                digits: String::new(),
            });
        }
    }
    let texts = |indices: &[u16]| {
        indices
            .iter()
            .filter_map(|index| engine.stream.expressions.get(usize::from(*index)))
            .map(|expression| expression.text.to_owned())
            .collect()
    };
    let mut syntax = Vec::new();
    pieces(layout, layout.text, &mut syntax);
    let role = match layout.role {
        Use::Own => "",
        Use::Preferred => "An alias: words that fit it print like this.",
        Use::Assembler => "An alternative spelling, accepted but never printed.",
    };
    Layout {
        name: if layout.name == name { String::new() } else { layout.name.to_owned() },
        doc: role.to_owned(),
        bits: layout.bits,
        runs: complete(runs, layout.bits),
        syntax,
        conditions: texts(layout.conditions),
    }
}

fn role(layout: &'static Table, field: u8) -> Role {
    let operand = layout.operands.iter().any(|operand| operand.field == field);
    if operand { Role::Operand } else { Role::Modifier }
}

/// Whether the text of every word has the field, even if it has its default.
fn is_always_written(layout: &'static Table, field: u8) -> bool {
    layout.text.iter().any(|token| matches!(token, Token::Field(index) | Token::Bits(index, _) if *index == field))
}

fn pieces(layout: &'static Table, tokens: &'static [Token], out: &mut Vec<Piece>) {
    let fixed = |text: &str| Piece { text: text.to_owned(), part: String::new() };
    for token in tokens {
        match token {
            Token::Text(text) => out.push(fixed(text.str)),
            Token::Field(index) | Token::Bits(index, _) => {
                let name = layout.fields.get(usize::from(*index)).map_or("", |field| field.name);
                out.push(Piece { text: name.to_owned(), part: name.to_owned() });
            }
            Token::Column(_) => out.push(fixed(" ")),
            Token::If(_, tokens) => {
                out.push(fixed("["));
                pieces(layout, tokens, out);
                out.push(fixed("]"));
            }
            Token::Aside(_) => {}
        }
    }
}

fn part(engine: Engine, layout: &'static Table, field: &'static Field, index: u8) -> Part {
    let operand = layout.operands.iter().find(|operand| operand.field == index);
    let place = match field.source {
        Source::Bits(pieces) => {
            let runs = pieces.iter().filter(|piece| piece.width > 0);
            bits_text(runs.rev().map(|piece| (piece.at + u16::from(piece.width) - 1, piece.at)))
        }
        Source::Computed { value, .. } => {
            engine.stream.expressions.get(usize::from(value)).map_or(String::new(), |found| format!("= {}", found.text))
        }
        Source::Outer(_) => String::new(),
    };
    let number = |notation: Notation| match notation.target {
        // A computed value has no bits of its own from which to derive a range.
        Some(target) if matches!(field.source, Source::Computed { .. }) => format!("a label, {target}"),
        Some(target) => format!("a label, {target}: {}", range(field.width.into(), field.signed)),
        None => range(field.width.into(), field.signed),
    };
    let values = match field.ty {
        Type::Number(notation) => Values::Text(number(notation)),
        Type::Enum(index, _) => {
            Values::Enum(enums(engine).position(|(at, _)| at == usize::from(index)).unwrap_or(usize::MAX))
        }
        Type::Register(bank) => Values::Text(match engine.stream.banks.get(usize::from(bank)) {
            Some(bank) => {
                let ends = self::bank(bank).ends;
                format!("a register of the bank {}: {} to {}", bank.name, ends.0, ends.1)
            }
            None => "a register".to_owned(),
        }),
        Type::Set(set, _) => Values::Kind(usize::from(set).saturating_sub(1)),
        Type::Float(bits) => Values::Text(format!("a float of {bits} bits")),
    };
    Part {
        name: field.name.to_owned(),
        role: role(layout, index),
        bits: place,
        doc: field.doc.to_owned(),
        access: operand.map_or("", |operand| access(operand.access)),
        size: operand.map_or(0, |operand| operand.size),
        values,
        default: (operand.is_none() && !is_always_written(layout, index)).then_some(field.default),
    }
}

fn kind(engine: Engine, index: usize) -> Kind {
    let set = &engine.stream.sets[index];
    let reading = |layout: &'static Table| {
        let mut syntax = Vec::new();
        pieces(layout, layout.text, &mut syntax);
        let bits = (0..u32::from(layout.bits).min(256)).rev().map(|bit| {
            let letter = layout.fields.iter().find(|field| match field.source {
                Source::Bits(pieces) => {
                    pieces.iter().any(|p| (u32::from(p.at)..u32::from(p.at) + u32::from(p.width)).contains(&bit))
                }
                _ => false,
            });
            match (layout.fixed_mask.get(bit, 1), layout.fixed_value.get(bit, 1)) {
                (0, _) => letter.and_then(|field| field.name.chars().next()).unwrap_or('·'),
                (_, 0) => '0',
                _ => '1',
            }
        });
        Reading {
            name: layout.name.to_owned(),
            bits: bits.collect(),
            text: syntax.into_iter().map(|piece| piece.text).collect(),
            doc: String::new(),
            constants: Vec::new(),
        }
    };
    Kind {
        name: set.name.to_owned(),
        slug: String::new(),
        doc: set.doc.to_owned(),
        width: set.bits,
        readings: engine.stream.layouts_of(index).iter().take(512).map(reading).collect(),
    }
}
