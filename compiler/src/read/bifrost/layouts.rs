//! The model: a layout for each encoding.

use std::collections::HashMap;

use isaforge_core::stream::{Input, Notation, Piece, Role, Wide};

use super::context::{STAGING, UNITS};
use super::document::{Encoding, Instruction, Modifier, RESERVED};
use super::logic::{Packing, unpack};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::expression::Choices;
use crate::model::{Enum, Isa, Value};
use crate::source::{Sources, Span, Spanned};
use crate::spec::{Access, Provenance};
use crate::stream::expressions::{Name, Want, expression};
use crate::stream::model::{self, Expr, Field, Layout, Operand, Set, Source, Stream, Token, Type};
use crate::xml::Element;

/// The width of a source in bits.
const SOURCE_BITS: u8 = 3;
/// The field that consists of all packed fields of an encoding.
const PACKED: &str = "packed";

/// The instruction set of a document.
pub(super) fn isa(root: &Element, instructions: &[Instruction], sources: &Sources, out: &mut Diagnostics) -> Isa {
    let mut builder = Builder { isa: Isa::default(), enums: HashMap::new(), layouts: Vec::new(), out };
    let mut opcodes: Vec<model::Instruction> = Vec::new();
    for instruction in instructions {
        let (name, unit) = (&instruction.name, UNITS[instruction.unit].name);
        let known = opcodes.iter().position(|known| known.name == name.value);
        let opcode = known.unwrap_or(opcodes.len());
        match opcodes.get_mut(opcode) {
            // Both units may have it.
            Some(known) => known.unit = format!("{}, {unit}", known.unit),
            None => opcodes.push(model::Instruction {
                name: name.value.clone(),
                title: String::new(),
                doc: String::new(),
                unit: unit.to_owned(),
                span: name.span,
                source: format!("{}:{}", sources.path(name.span.file).display(), sources.line_column(name.span).0),
                provenance: Provenance::Driver,
                note: String::new(),
            }),
        }
        for encoding in &instruction.encodings {
            let layout = builder.layout(instruction, encoding, opcode);
            builder.layouts.extend(layout);
        }
    }
    let Builder { mut isa, layouts, .. } = builder;
    isa.name = "bifrost".to_owned();
    isa.doc = "Tuples of Bifrost, each by itself.".to_owned();
    isa.span = Some(root.name.span);
    isa.encoding = crate::model::Encoding::Stream(Stream {
        unit: 3,
        longest: 3,
        swap: 1,
        generations: (0, UNITS.len() as u32 - 1),
        sequence: None,
        generation_names: UNITS.iter().zip(0..).map(|(unit, number)| (unit.name.to_owned(), number)).collect(),
        exclusive: false,
        banks: Vec::new(),
        sets: vec![Set {
            name: "instructions".to_owned(),
            doc: String::new(),
            span: root.name.span,
            bits: 0,
            parameters: Vec::new(),
            layouts,
            // The document's own decoder takes the first match.
            first_wins: true,
        }],
        instructions: opcodes,
    });
    isa
}

struct Builder<'a> {
    isa: Isa,
    /// Enums by their words.
    enums: HashMap<Vec<(u64, String)>, usize>,
    layouts: Vec<Layout>,
    out: &'a mut Diagnostics,
}

/// A layout under construction, with the names of its fields.
struct Draft {
    layout: Layout,
    names: Vec<Name>,
}

impl Draft {
    fn push(&mut self, name: &str, span: Span, source: Source, width: u8, default: u64, ty: Type) -> usize {
        let index = self.layout.fields.len();
        let input = Input::Field(index as u8);
        self.names.push(Name { name: name.to_owned(), signed: false, choices: Choices::Number(64), input, span });
        let (name, doc) = (name.to_owned(), String::new());
        self.layout.fields.push(Field { name, doc, span, source, width, signed: false, default, ty });
        index
    }
}

impl Builder<'_> {
    fn layout(&mut self, instruction: &Instruction, encoding: &Encoding, opcode: usize) -> Option<Layout> {
        let unit = &UNITS[instruction.unit];
        let packing = unpack(instruction, encoding, self.out)?;
        let name = Spanned::new(instruction.name.value.clone(), encoding.span);
        let mut layout = Layout::new(&name, opcode, 24, Role::Own);
        (layout.since, layout.until) = (instruction.unit as u32, instruction.unit as u32);
        (layout.mask, layout.value) = (Wide::new(encoding.mask), Wide::new(encoding.exact));
        // A tuple is stored in whole bytes.
        let mut above = Wide::ZERO;
        above.set(unit.bits.into(), 24 - u32::from(unit.bits), u64::MAX);
        (layout.fixed_mask, layout.fixed_value) = (layout.mask | above, layout.value);
        let mut draft = Draft { layout, names: Vec::new() };

        for (number, source) in instruction.sources.iter().enumerate() {
            let words = unit.sources.iter().zip(0u64..).filter(|(_, code)| source.allowed >> code & 1 != 0);
            let words = words.map(|(word, code)| (code, (*word).to_owned(), (*word).to_owned()));
            let ty = Type::Enum(self.names(&format!("{} source", unit.name), source.span, words.collect()), None);
            let place = self.place(&draft, encoding, source.at, SOURCE_BITS, source.span)?;
            let default = u64::from(source.allowed.trailing_zeros());
            let name = format!("source{number}");
            let field = draft.push(&name, source.span, place, SOURCE_BITS, default, ty);
            draft.layout.operands.push(Operand { field, access: Access::Read, size: 32, sized: None });
        }
        self.packed(&mut draft, encoding, &packing)?;
        let mut shown = Vec::new();
        for index in 0..instruction.modifiers.len() {
            shown.push(self.modifier(&mut draft, instruction, encoding, &packing, index)?);
        }

        draft.layout.push_text(&instruction.name.value);
        // The digit at the end of a name is the number of the source it belongs to.
        let digit = |modifier: &Modifier| modifier.name.value.chars().last().and_then(|last| last.to_digit(10));
        let of = |modifier: &Modifier| digit(modifier).filter(|n| *n < 4).map(|n| n as usize);
        let sources = instruction.sources.len();
        let show = |draft: &mut Draft, wanted: Option<usize>| {
            for (modifier, token) in instruction.modifiers.iter().zip(&shown) {
                if of(modifier).filter(|number| *number < sources) == wanted {
                    match token {
                        Token::Text(text) => draft.layout.push_text(text),
                        token => draft.layout.text.push(token.clone()),
                    }
                }
            }
        };
        show(&mut draft, None);
        draft.layout.push_text(" ");
        draft.layout.push_text(unit.destination);
        for number in 0..sources {
            draft.layout.push_text(", ");
            draft.layout.text.push(Token::Field(number));
            show(&mut draft, Some(number));
        }
        for immediate in &instruction.immediates {
            let source = Source::Bits(vec![Piece { at: immediate.at, width: immediate.bits }]);
            let (name, ty) = (&immediate.name, Type::Number(Notation::DECIMAL));
            let field = draft.push(&name.value, name.span, source, immediate.bits, 0, ty);
            draft.layout.push_text(&format!(", {}:", name.value));
            draft.layout.text.push(Token::Field(field));
        }
        if instruction.staging {
            draft.layout.push_text(", ");
            draft.layout.push_text(STAGING);
        }
        let mut layout = draft.layout;
        // The document's own decoder ignores bits that are not described.
        layout.ignored = layout.undefined();
        Some(layout)
    }

    /// The position of a field. If all of its bits are constant, it is a computed constant.
    fn place(&mut self, draft: &Draft, encoding: &Encoding, at: u16, width: u8, span: Span) -> Option<Source> {
        let bits = isaforge_core::bits::ones(width.into());
        if encoding.mask >> at & bits != bits {
            return Some(Source::Bits(vec![Piece { at, width }]));
        }
        let value = format!("{} as u64", encoding.exact >> at & bits);
        let value = self.expression(draft, value, span, Want::Number)?;
        Some(Source::Computed { value, inverse: Vec::new() })
    }

    /// Adds the packed fields as one, and the condition that it has no reserved value.
    fn packed(&mut self, draft: &mut Draft, encoding: &Encoding, packing: &Packing) -> Option<()> {
        let width: u8 = encoding.derived.iter().map(|derived| derived.bits).sum();
        if width == 0 {
            return Some(());
        }
        let pieces = encoding.derived.iter().map(|derived| Piece { at: derived.at, width: derived.bits }).collect();
        // The assembler must start with a value that some combination packs to.
        let default = packing.tables[0].iter().position(Option::is_some).unwrap_or(0) as u64;
        let ty = Type::Number(Notation::DECIMAL);
        draft.push(PACKED, encoding.span, Source::Bits(pieces), width, default, ty);
        let mut at = 0;
        for derived in &encoding.derived {
            let values = derived.options.iter().zip(0u32..).filter(|(option, _)| option.is_some());
            let known = values.fold(0u64, |known, (_, value)| known | 1 << value);
            if known != isaforge_core::bits::ones(1 << derived.bits) {
                let value = format!("(({PACKED} >> {at}) & {})", isaforge_core::bits::ones(derived.bits.into()));
                let condition = format!("((({known:#x} as u64) >> {value}) & 1) != 0");
                draft.layout.conditions.push(self.expression(draft, condition, encoding.span, Want::Condition)?);
            }
            at += derived.bits;
        }
        Some(())
    }

    /// Adds the field of a modifier, and returns how it is printed.
    fn modifier(
        &mut self,
        draft: &mut Draft,
        instruction: &Instruction,
        encoding: &Encoding,
        packing: &Packing,
        index: usize,
    ) -> Option<Token> {
        let modifier = &instruction.modifiers[index];
        let (name, span) = (modifier.name.value.as_str(), modifier.name.span);
        let text = |value: usize| match modifier.option(value) {
            option if modifier.default.as_deref() == Some(option) => String::new(),
            option => format!(".{option}"),
        };
        let word = |value: usize| match modifier.options.get(value) {
            Some(option) if option != RESERVED => option.clone(),
            _ => format!("{RESERVED}{value}"),
        };
        let quiet = |value: &u64| modifier.default.as_deref() == Some(modifier.option(*value as usize));
        let copy = encoding.copies.iter().find(|(copied, _)| copied.value == name).map(|(_, at)| *at);
        if let Some(at) = copy.or(modifier.at) {
            let values = (0..1usize << modifier.bits).map(|value| (value as u64, text(value), word(value))).collect();
            let ty = Type::Enum(self.names(name, span, values), None);
            let default = (0..1u64 << modifier.bits).find(quiet).unwrap_or(0);
            let source = self.place(draft, encoding, at, modifier.bits, span)?;
            return Some(Token::Field(draft.push(name, span, source, modifier.bits, default, ty)));
        }
        let Some(place) = packing.modifiers.iter().position(|known| *known == index) else {
            let error = Diagnostic::error("E0058", span, format!("`{name}` has no encoding"));
            self.out.push(error.secondary(encoding.span, "not here").help("give it a `start`, or pack it"));
            return None;
        };
        // Bits that no combination packs to are reserved values.
        let lost = 1usize << modifier.bits;
        let value = |state: &Option<Vec<usize>>| state.as_ref().map_or(lost, |values| values[place]);
        let tables: Vec<Vec<usize>> = packing.tables.iter().map(|table| table.iter().map(value).collect()).collect();
        let first = tables[0][0];
        if tables.iter().flatten().all(|value| *value == first) {
            return Some(Token::Text(text(first)));
        }
        let used: std::collections::BTreeSet<usize> = tables.iter().flatten().copied().collect();
        let values = used.iter().map(|value| (*value as u64, text(*value), word(*value))).collect();
        let ty = Type::Enum(self.names(name, span, values), None);
        let width = modifier.bits + 1;
        let texts: Vec<String> = tables.iter().map(|table| choose(table, width)).collect();
        let condition = match &texts[..] {
            [below, above] if packing.ordered => format!("if source0 > source1 {{ {above} }} else {{ {below} }}"),
            texts => texts[0].clone(),
        };
        let value = self.expression(draft, condition, span, Want::Number)?;
        let source = Source::Computed { value, inverse: Vec::new() };
        Some(Token::Field(draft.push(name, span, source, width, 0, ty)))
    }

    fn expression(&mut self, draft: &Draft, text: String, span: Span, want: Want) -> Option<Expr> {
        expression(&Spanned::new(text, span), &draft.names, want, self.out).map(|(expr, _)| expr)
    }

    /// The enum for values, their texts and their names; enums with the same texts are shared.
    fn names(&mut self, name: &str, span: Span, values: Vec<(u64, String, String)>) -> usize {
        let key: Vec<(u64, String)> = values.iter().map(|(bits, text, _)| (*bits, text.clone())).collect();
        let index = self.isa.enums.len();
        if let Some(known) = self.enums.get(&key) {
            return *known;
        }
        self.enums.insert(key, index);
        let plain = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let taken = |name: &str| self.isa.enums.iter().any(|known| known.name == name);
        let mut unique = plain.to_owned();
        let mut number = 1;
        while taken(&unique) {
            number += 1;
            unique = format!("{plain} {number}");
        }
        let values = values.into_iter().map(|(bits, text, name)| Value {
            name,
            text,
            also: Vec::new(),
            bits,
            doc: String::new(),
            span,
        });
        self.isa.enums.push(Enum {
            name: unique,
            doc: String::new(),
            span,
            bits: None,
            values: values.collect(),
            default: None,
            implied: false,
            listed: 0,
            open: false,
        });
        index
    }
}

/// An expression for the entry of a table at the index given by the packed fields; runs of entries are combined to one
/// number each.
fn choose(table: &[usize], width: u8) -> String {
    let run = (64 / usize::from(width)).next_power_of_two() / 2;
    let mut runs = table.chunks(run.max(1)).enumerate().rev();
    let number = |(index, entries): (usize, &[usize])| {
        let packed = entries.iter().rev().fold(0u64, |all, entry| all << width | *entry as u64);
        let from = index * run.max(1);
        let mask = isaforge_core::bits::ones(width.into());
        (from, format!("((({packed:#x} as u64) >> (({PACKED} - {from}) * {width})) & {mask})"))
    };
    let Some(last) = runs.next().map(number) else { return "0".to_owned() };
    runs.map(number)
        .fold(last, |(bound, rest), (from, text)| {
            (from, format!("if {PACKED} < {bound} {{ {text} }} else {{ {rest} }}"))
        })
        .1
}
