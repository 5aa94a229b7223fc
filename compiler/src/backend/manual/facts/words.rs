//! Instructions of one word.

use isaforge_core::annotate::Role;
use isaforge_core::decode::decode;
use isaforge_core::explain::bits_text;
use isaforge_core::explain::words::{affixes, example, fields};
use isaforge_core::parse::parse;
use isaforge_core::print::{Style, print};
use isaforge_core::sample::{Random, sample};
use isaforge_core::table::{self, Form, Isa, Modifier, Operand, Shape, Token, Type};
use isaforge_core::text::Line;

use super::book::{
    Bank, Book, Entry, Example, Kind, Layout, Opcode, Part, Piece, Reading, Run, Values, access, complete, digits,
    names, range,
};

pub fn book(isa: &'static Isa) -> Book {
    let opcodes = isa.forms.iter().enumerate();
    Book {
        name: isa.name.to_owned(),
        doc: isa.doc.to_owned(),
        shape: format!("{}-bit words", isa.word_bits),
        entries: (0..isa.forms.len() as u16).map(|opcode| entry(isa, opcode)).collect(),
        enums: isa.enums.iter().map(names).collect(),
        kinds: isa.kinds.iter().map(|kind| self::kind(isa, kind)).collect(),
        banks: isa.banks.iter().zip(0..).map(|(bank, index)| self::bank(isa, bank, index)).collect(),
        slots: Vec::new(),
        opcodes: opcodes.map(|(entry, f)| Opcode { entry, mask: f.match_mask, value: f.match_value }).collect(),
    }
}

fn bank(isa: &'static Isa, bank: &'static table::Bank, index: u16) -> Bank {
    let name = |number: u32| match affixes(isa, index) {
        Some((before, after)) => format!("{before}{number}{after}"),
        None => number.to_string(),
    };
    Bank {
        name: bank.name.to_owned(),
        doc: bank.doc.to_owned(),
        count: bank.count,
        width: bank.width,
        ends: (name(0), name(bank.count.saturating_sub(1))),
    }
}

fn entry(isa: &'static Isa, opcode: u16) -> Entry {
    let form = &isa.forms[usize::from(opcode)];
    let word = example(isa, opcode);
    let mut parts: Vec<Part> = form.modifiers.iter().map(|modifier| part(modifier, "", Role::Modifier)).collect();
    for operand in form.operands {
        parts.push(operand_part(isa, operand));
        parts.extend(operand.suffixes.iter().map(|suffix| part(suffix, operand.name, Role::Suffix)));
    }
    Entry {
        name: form.name.str.to_owned(),
        title: form.title.to_owned(),
        doc: form.doc.to_owned(),
        unit: form.unit.to_owned(),
        source: form.source.to_owned(),
        provenance: form.provenance.as_str(),
        note: form.note.to_owned(),
        layouts: vec![Layout {
            bits: isa.word_bits.into(),
            runs: runs(isa, opcode, word),
            syntax: syntax(form),
            ..Layout::default()
        }],
        parts,
        examples: examples(isa, opcode, word),
        ..Entry::default()
    }
}

fn runs(isa: &'static Isa, opcode: u16, word: u64) -> Vec<Run> {
    let mut runs = Vec::new();
    for field in fields(isa, opcode, word) {
        let role = field.role.unwrap_or(Role::Ignored);
        let constant = matches!(role, Role::Opcode | Role::Fixed);
        for (high, low) in &field.runs {
            let value = word >> low;
            runs.push(Run {
                high: (*high).into(),
                low: (*low).into(),
                role,
                name: if constant || role == Role::Ignored { String::new() } else { field.full_name() },
                digits: if constant { digits(value, u32::from(high - low) + 1) } else { String::new() },
            });
        }
    }
    complete(runs, isa.word_bits.into())
}

fn bits(bits: isaforge_core::bits::Bits, base: u8) -> String {
    let mut runs: Vec<(u16, u16)> = bits
        .pieces()
        .filter(|(piece, _)| piece.width > 0)
        .map(|(piece, _)| {
            let at = u16::from(piece.at) + if piece.shared { 0 } else { u16::from(base) };
            (at + u16::from(piece.width) - 1, at)
        })
        .collect();
    runs.reverse();
    bits_text(runs)
}

fn part(modifier: &'static Modifier, owner: &str, role: Role) -> Part {
    let name = if owner.is_empty() { modifier.name.to_owned() } else { format!("{owner}.{}", modifier.name) };
    Part {
        name,
        role,
        bits: bits(modifier.bits, 0),
        doc: modifier.doc.to_owned(),
        access: "",
        size: 0,
        values: match modifier.ty {
            Type::Enum(index) => Values::Enum(index.into()),
            _ => Values::Flag(modifier.flag.str.to_owned()),
        },
        default: modifier.default,
    }
}

fn operand_part(isa: &'static Isa, operand: &'static Operand) -> Part {
    let (place, values) = match &operand.shape {
        Shape::One { kind, at } => {
            let kind_of = &isa.kinds[usize::from(*kind)];
            let mask = kind_of.own_bits();
            let place = match mask.checked_shl((*at).into()) {
                Some(mask) if mask != 0 => (63 - mask.leading_zeros() as u16, mask.trailing_zeros() as u16),
                _ => (0, 0),
            };
            (bits_text([place]), Values::Kind((*kind).into()))
        }
        Shape::List { kind, at, count, align, .. } => {
            let field = isa.kinds[usize::from(*kind)].alternatives.first().and_then(|a| a.fields.first());
            let aligned = if *align > 1 { format!(", the first a multiple of {align}") } else { String::new() };
            let counted = match count.bits {
                Some(bits) => format!(
                    "a list of {} to {} registers{aligned}",
                    count.plus,
                    u64::from(count.plus) + isaforge_core::bits::ones(bits.width())
                ),
                None => format!("a list of {} registers{aligned}", count.plus),
            };
            (field.map_or(String::new(), |field| bits(field.bits, *at)), Values::Text(counted))
        }
        Shape::Number { bits: place, ty, target, .. } => {
            let mut text = range(place.width(), *ty == Type::Signed);
            if let Some(target) = target {
                text = format!("a label, {target}: {text}");
            }
            (bits(*place, 0), Values::Text(text))
        }
    };
    Part {
        name: operand.name.to_owned(),
        role: Role::Operand,
        bits: place,
        doc: operand.doc.to_owned(),
        access: access(operand.access),
        size: operand.size,
        values,
        default: None,
    }
}

fn syntax(form: &'static Form) -> Vec<Piece> {
    let fixed = |text: &str| Piece { text: text.to_owned(), part: String::new() };
    let modifier = |modifier: &Modifier| {
        let text = match modifier.ty {
            Type::Flag => modifier.flag.str.to_owned(),
            _ => format!(".{}", modifier.name),
        };
        let text = if modifier.default.is_some() { format!("[{text}]") } else { text };
        Piece { text, part: modifier.name.to_owned() }
    };
    let mut pieces = Vec::new();
    for token in form.syntax {
        match token {
            Token::Text(text) => pieces.push(fixed(text.str)),
            Token::Field(_) => {}
            Token::Mnemonic => pieces.push(fixed(form.name.str)),
            Token::Modifiers => {
                let free = form.modifiers.iter().enumerate().filter(|(index, _)| form.placed >> index & 1 == 0);
                pieces.extend(free.map(|(_, found)| modifier(found)));
            }
            Token::Modifier(index) => pieces.extend(form.modifiers.get(usize::from(*index)).map(modifier)),
            Token::Operand(index) => {
                let Some(operand) = form.operands.get(usize::from(*index)) else { continue };
                pieces.push(Piece { text: operand.name.to_owned(), part: operand.name.to_owned() });
                pieces.extend(
                    operand
                        .suffixes
                        .iter()
                        .map(|suffix| Piece { part: format!("{}.{}", operand.name, suffix.name), ..modifier(suffix) }),
                );
            }
        }
    }
    pieces
}

/// Examples: the plain word and random ones, if their text assembles to the same word.
fn examples(isa: &'static Isa, opcode: u16, plain: u64) -> Vec<Example> {
    let mut random = Random(0x6d61_6e75 ^ u64::from(opcode));
    let digits = usize::from(isa.word_bits).div_ceil(4);
    let mut found: Vec<Example> = Vec::new();
    let drawn = std::iter::repeat_with(|| sample(isa, opcode, &mut random)).take(60);
    for word in std::iter::once(plain).chain(drawn) {
        let mut line = Line::new();
        if decode(isa, word) != Ok(opcode) {
            continue;
        }
        print(isa, opcode, word, Style::Customary, &mut line);
        if parse(isa, line.as_str()) != Ok((opcode, word)) {
            continue;
        }
        let example =
            Example { text: line.as_str().to_owned(), code: format!("{word:0digits$x}"), picture: String::new() };
        if found.iter().all(|known| known.text != example.text) {
            found.push(example);
        }
        if found.len() == 3 {
            break;
        }
    }
    found
}

fn kind(isa: &'static Isa, kind: &'static table::Kind) -> Kind {
    Kind {
        name: kind.name.to_owned(),
        slug: String::new(),
        doc: kind.doc.to_owned(),
        width: kind.width.into(),
        readings: kind.alternatives.iter().map(|reading| self::reading(isa, kind, reading)).collect(),
    }
}

fn reading(isa: &'static Isa, kind: &'static table::Kind, reading: &'static table::Alternative) -> Reading {
    let mut letters: Vec<char> = (0..kind.width)
        .map(|bit| match (reading.mask >> bit & 1, reading.value >> bit & 1) {
            (0, _) => '·',
            (_, 0) => '0',
            _ => '1',
        })
        .collect();
    let mut constants = Vec::new();
    for field in reading.fields {
        let letter = field.name.chars().next().unwrap_or('x');
        for (piece, _) in field.bits.pieces().filter(|(piece, _)| !piece.shared) {
            let bits = usize::from(piece.at)..usize::from(piece.at) + usize::from(piece.width);
            letters.get_mut(bits).into_iter().flatten().for_each(|to| *to = letter);
        }
        match field.ty {
            Type::Constant(index) => {
                let list = &isa.constants[usize::from(index)];
                constants.extend(
                    list.values
                        .iter()
                        .zip(0..)
                        .map(|(it, index)| (index, format!("{:#x}", it.value), it.doc.to_owned())),
                );
            }
            Type::Enum(index) => constants.extend(names(&isa.enums[usize::from(index)]).values),
            _ => {}
        }
    }
    letters.reverse();
    let when: Vec<String> = reading
        .when
        .iter()
        .filter_map(|(shared, value)| Some(format!("{} = {value}", isa.shared.get(usize::from(*shared))?.name)))
        .collect();
    let when = if when.is_empty() { String::new() } else { format!(" when {}", when.join(", ")) };
    Reading {
        name: reading.name.to_owned(),
        text: reading
            .text
            .iter()
            .map(|token| match token {
                Token::Text(text) => text.str.to_owned(),
                Token::Field(index) => {
                    reading.fields.get(usize::from(*index)).map_or(String::new(), |field| format!("⟨{}⟩", field.name))
                }
                _ => String::new(),
            })
            .collect(),
        bits: format!("{}{when}", letters.into_iter().collect::<String>()),
        doc: reading.doc.to_owned(),
        constants,
    }
}
