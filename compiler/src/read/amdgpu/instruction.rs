//! Converts a record to an instruction of a specification.

use std::collections::HashSet;

use super::choose::{Chosen, choose};
use super::flow::Flows;
use super::generation::Generation;
use super::images::{Counts, counts};
use super::operands::{IMMEDIATE, Kinds, UNREAD};
use super::records::{Bit, Record};
use super::template::{Piece, Suffixes, pieces};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::keys::{Named, OneOrMany};
use crate::source::Spanned;
use crate::spec::{self, AliasSpec, BitList, FieldSpec, Fixed, FixedBits, InstructionSpec, OperandSpec};

/// The width of a literal after an instruction in bits.
pub(super) const LITERAL: u8 = 32;
/// The value of a source that a literal follows.
const FOLLOWS: u64 = 255;
/// Bits that are 1 in instructions that leave them open: the bits of the pattern, their value, and the bits to set.
const UNUSED: &str = include_str!("unused.tsv");

/// The first processor on which the last listed address may be the first of several registers.
const REST_SINCE: u32 = 1100;

/// How many mistakes of a kind are reported.
const TOLD: usize = 20;

/// The instructions of a generation.
pub(super) fn all(
    records: &[Record],
    generation: &Generation,
    kinds: &Kinds,
    flows: &Flows,
    out: &mut Diagnostics,
) -> Named<InstructionSpec> {
    let suffixes = Suffixes::of(records);
    let mut told = HashSet::new();
    let mut made = Vec::new();
    let chosen = choose(records, generation);
    let single = chosen.iter().map(|chosen| chosen.record).filter(|record| record.class("vaddr1").is_none());
    let alone: HashSet<&str> = single.map(|record| record.split().0).collect();
    for Chosen { record, also } in chosen {
        let make = |record: &Record| {
            let maker = Maker::new(record, kinds, generation.number, alone.contains(record.split().0));
            let made = maker.make(pieces(record, &suffixes, generation));
            made.map(|made| InstructionSpec { does: flows.of(record), ..made })
        };
        match make(record) {
            Ok(mut instruction) => {
                let aliases = also.into_iter().filter_map(|other| Some(alias(other, make(other).ok()?)));
                instruction.aliases = Some(Named(aliases.collect())).filter(|aliases| !aliases.0.is_empty());
                made.push((Spanned::new(record.name.clone(), record.span), instruction));
            }
            // Instructions that no kind can print yet are omitted on purpose, so that their words are invalid.
            Err(class) if class == UNREAD => {}
            Err(class) => {
                if told.insert(class.clone()) && told.len() <= TOLD {
                    let message = format!("no syntax for operands of the class `{class}`");
                    let error = Diagnostic::error("E0101", record.text_span, message);
                    out.push(error.help("name the class in `operands.tsv` of the reader"));
                }
            }
        }
    }
    Named(made)
}

/// Another name of an instruction for the assembler.
fn alias(record: &Record, instruction: InstructionSpec) -> (Spanned<String>, AliasSpec) {
    let spec =
        AliasSpec { span: record.span, doc: None, with: None, r_where: None, syntax: instruction.syntax, prints: None };
    (Spanned::new(record.name.clone(), record.span), spec)
}

pub(super) struct Maker<'r> {
    pub record: &'r Record,
    pub kinds: &'r Kinds,
    /// The number of the processor.
    pub generation: u32,
    pub fields: Vec<(Spanned<String>, FieldSpec)>,
    pub operands: Vec<(Spanned<String>, OperandSpec)>,
    /// Sources that a literal may follow.
    pub literals: Vec<String>,
    pub constants: HashSet<u64>,
    pub fixed: Vec<Fixed>,
    pub conditions: Vec<Spanned<String>>,
    /// Operands whose modifiers are in the text, so that they are printed with them.
    pub shown: HashSet<String>,
    /// The register counts of an image instruction.
    pub images: Option<Counts>,
    /// Whether another record represents a single address.
    alone: bool,
    pub selects: bool,
    pub packed: bool,
}

impl<'r> Maker<'r> {
    fn new(record: &'r Record, kinds: &'r Kinds, generation: u32, alone: bool) -> Self {
        let has = |name: &str| record.text.contains(&format!("${name}"));
        let modifiers = record.ins.iter().filter(|operand| has(&operand.name));
        let shown =
            modifiers.filter_map(|operand| operand.name.strip_suffix("_modifiers")).map(str::to_owned).collect();
        // A comparison lists the bit, although it has none.
        let compares = record.class("sdst").is_some() && record.bits.len() == 64;
        let chooses = record.place("src0_modifiers", 3).is_some() || compares;
        let selects = !record.outs.is_empty() && !has("op_sel_hi") && chooses;
        Maker {
            record,
            kinds,
            generation,
            fields: Vec::new(),
            operands: Vec::new(),
            literals: Vec::new(),
            constants: HashSet::new(),
            fixed: Vec::new(),
            conditions: Vec::new(),
            packed: !record.text.contains("_modifiers"),
            shown,
            images: None,
            alone,
            selects,
        }
    }

    pub fn spanned(&self, text: impl Into<String>) -> Spanned<String> {
        Spanned::new(text.into(), self.record.text_span)
    }

    /// Makes the instruction; fails with the class of an operand that no kind prints.
    fn make(mut self, text: Vec<Piece>) -> Result<InstructionSpec, String> {
        let record = self.record;
        let mut template = String::new();
        let mnemonic = match text.first() {
            Some(Piece::Text(text)) => text.trim_end().to_owned(),
            _ => String::new(),
        };
        let images = counts(record, &mnemonic, self.generation);
        if let Some(Counts { data, address, listed }) = &images {
            for (name, value) in [("values", Some(data)), ("addresses", address.as_ref())] {
                let Some(value) = value else { continue };
                let field = FieldSpec { value: Some(self.spanned(value.clone())), ..self.field() };
                self.add(name, field);
            }
            if *listed > 0 {
                let field = FieldSpec {
                    value: Some(self.spanned(format!(
                        "(if addresses > {listed} {{ addresses - {listed} + 1 }} else {{ 1 as u64 }}) & 31"
                    ))),
                    ..self.field()
                };
                self.add("rest", field);
            }
        }
        self.images = images;
        // What follows the mnemonic or a comma is an operand; what is attached to one is a modifier.
        let mut separated = false;
        for piece in &text {
            match piece {
                Piece::Text(text) => {
                    separated = text.contains(',') || template.is_empty() && text.ends_with(' ');
                    let mut text = text.replace('{', "{{").replace('}', "}}");
                    // If no other record represents a single address, this one does, then without brackets.
                    if self.lists() && !self.alone {
                        text = text.replace('[', "{?addresses > 1|[}").replace(']', "{?addresses > 1|]}");
                    }
                    template.push_str(&text);
                }
                Piece::Operand(name) => {
                    let name = name.strip_suffix("_modifiers").unwrap_or(name);
                    let shown = self.operand(name, &mnemonic, std::mem::take(&mut separated))?;
                    match self.listed(name) {
                        Some(place) => {
                            template.truncate(template.trim_end_matches([',', ' ']).len());
                            template.push_str(&format!("{{?addresses > {place}|, {shown}}}"));
                        }
                        None => template.push_str(&shown),
                    }
                }
            }
        }
        self.implied();
        let size = record.bits.len() as u16;
        let (mut word, mut length) = (size, None);
        let mut conditions = std::mem::take(&mut self.conditions);
        if let Some(extra) = self.extra_addresses() {
            word += extra;
        } else if !self.literals.is_empty() && record.places(IMMEDIATE).is_empty() {
            word += u16::from(LITERAL);
            let follows: Vec<String> = self.literals.iter().map(|field| format!("{field} == {FOLLOWS}")).collect();
            let text = format!("if {} {{ {} }} else {{ {} }}", follows.join(" || "), word / 8, size / 8);
            length = Some(self.spanned(text));
        }
        // If addresses can be listed separately, a single one is written without a list.
        if self.images.as_ref().is_some_and(|images| images.listed == 0) && record.bits.len() > 64 {
            conditions.push(self.spanned("addresses == 1"));
        }
        if let Some(Counts { listed: listed @ 1.., .. }) = self.images {
            conditions.push(self.spanned(if self.alone { "addresses > 1" } else { "addresses > 0" }));
            if self.generation < REST_SINCE {
                conditions.push(self.spanned(format!("addresses <= {listed}")));
            }
            for place in 1..listed {
                conditions.push(self.spanned(format!("addresses > {place} || vaddr{place} == 256")));
            }
        }
        self.constant_bits();
        let template = template.trim_end().to_owned();
        Ok(InstructionSpec {
            span: record.span,
            family: None,
            title: None,
            doc: None,
            unit: None,
            does: None,
            fixed: Some(FixedBits(self.fixed)),
            ignored: None,
            modifiers: None,
            operands: Some(Named(self.operands)),
            syntax: Some(Spanned::new(template, record.text_span)),
            provenance: None,
            note: None,
            rulings: None,
            like: None,
            rows: None,
            word: Some(Spanned::new(word, record.span)),
            length,
            since: None,
            until: None,
            r_where: Some(OneOrMany(conditions)),
            aliases: None,
            fields: Some(Named(self.fields)),
        })
    }

    /// Adds constant bits, and open bits that are always 1.
    fn constant_bits(&mut self) {
        let span = self.record.span;
        let one = |at: usize, value: u64| Fixed { high: at as u8, low: at as u8, value, span };
        let constant = self.record.bits.iter().enumerate().filter_map(|(at, bit)| match bit {
            Bit::Is(value) => Some(one(at, u64::from(*value))),
            _ => None,
        });
        self.fixed.extend(constant);
        for line in UNUSED.lines().filter(|line| !line.starts_with('#')) {
            let mut cells = line.split('\t');
            let named = cells.next().is_some_and(|start| self.record.name.starts_with(start))
                && cells.next().is_some_and(|part| self.record.name.contains(part));
            let cells: Vec<u64> = cells.filter_map(|cell| cell.parse().ok()).collect();
            let ([high, low, value, bits @ ..], true) = (&cells[..], named) else { continue };
            let is = |at: u64| matches!(self.record.bits.get(at as usize), Some(Bit::Is(true)));
            if (*low..=*high).all(|at| is(at) == (value >> (at - low) & 1 != 0)) {
                let open = bits.iter().filter(|at| self.record.bits.get(**at as usize) == Some(&Bit::Open));
                let open: Vec<Fixed> = open.map(|at| one(*at as usize, 1)).collect();
                self.fixed.extend(open);
            }
        }
    }

    /// Whether addresses have registers of their own.
    fn lists(&self) -> bool {
        self.images.as_ref().is_some_and(|images| images.listed > 0)
    }

    /// The index of an address with its own register, if it is not the first.
    fn listed(&self, name: &str) -> Option<usize> {
        let place = name.strip_prefix("vaddr")?.parse().ok()?;
        self.images.as_ref().filter(|images| place > 0 && images.listed > 0).map(|_| place)
    }

    /// The width in bits of the words with further addresses after the instruction, one byte for each, if an image
    /// instruction has them.
    fn extra_addresses(&self) -> Option<u16> {
        let extra = (1..16).take_while(|i| self.record.class(&format!("vaddr{i}")).is_some()).count() as u16;
        let placed = !self.record.places("vaddr1").is_empty();
        (extra > 0 && !placed).then(|| 32 * extra.div_ceil(4))
    }

    /// The positions of an operand's bits, lowest first, including those that the record does not define.
    pub fn places(&self, name: &str) -> Vec<(u8, u8)> {
        let places = self.record.places(name);
        match name.strip_prefix("vaddr").and_then(|number| number.parse::<u8>().ok()) {
            Some(number @ 1..) if places.is_empty() => {
                let first = self.record.bits.len() as u8 + 8 * (number - 1);
                (0..8).map(|i| (i, first + i)).collect()
            }
            _ => places,
        }
    }

    pub fn field(&self) -> FieldSpec {
        FieldSpec {
            span: self.record.text_span,
            doc: None,
            bits: None,
            value: None,
            encode: None,
            default: None,
            kind: None,
            with: None,
            bank: None,
            r_enum: None,
            constants: None,
            number: None,
            target: None,
        }
    }

    pub fn add(&mut self, name: &str, field: FieldSpec) {
        let name = self.spanned(name);
        if !self.has_field(&name.value) {
            self.fields.push((name, field));
        }
    }

    /// Whether a field or an operand has this name.
    pub fn has_field(&self, name: &str) -> bool {
        let operands = self.operands.iter().map(|(known, _)| known);
        self.fields.iter().map(|(known, _)| known).chain(operands).any(|known| known.value == name)
    }

    pub fn bits(&self, places: &[u8]) -> BitList {
        let span = self.record.text_span;
        let mut runs: Vec<(u8, u8)> = Vec::new();
        for at in places {
            match runs.last_mut() {
                Some((high, _)) if *high + 1 == *at => *high = *at,
                _ => runs.push((*at, *at)),
            }
        }
        let piece = |(high, low): (u8, u8)| Spanned::new(spec::Piece::Run { high, low }, span);
        BitList { span, pieces: runs.into_iter().rev().map(piece).collect() }
    }
}
