//! The model: a layout for each encoding.

use std::collections::HashMap;

use isaforge_core::bits::ones;
use isaforge_core::stream::{Piece, Role, Wide};

use super::instruction::{Encoding, GENERATIONS, Instruction, Variable};
use super::operands::Draft;
use super::syntax::Syntax;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{Enum, Isa, Value};
use crate::source::{Sources, Span, Spanned};
use crate::spec::Provenance;
use crate::stream::model::{self, Bank, Layout, Set, Stream};

/// The maximum number of members of a family.
const MAX_MEMBERS: u64 = 64;

/// The instruction set of all documents.
pub(super) fn isa(
    span: Span,
    instructions: &[Instruction],
    syntax: &Syntax,
    sources: &Sources,
    out: &mut Diagnostics,
) -> Isa {
    let mut builder = Builder { syntax, sources, out, layouts: Vec::new(), opcodes: Vec::new(), known: HashMap::new() };
    let (aliases, own): (Vec<_>, Vec<_>) = instructions.iter().partition(|i| syntax.is_alias(&i.name.value));
    own.iter().for_each(|instruction| builder.instruction(instruction, Role::Own));
    aliases.iter().for_each(|instruction| builder.instruction(instruction, Role::Assembler));
    let Builder { layouts, opcodes, .. } = builder;
    let stream = Stream {
        sequence: None,
        unit: 2,
        longest: 4,
        swap: 1,
        generations: (0, GENERATIONS.len() as u32 - 1),
        generation_names: GENERATIONS.iter().zip(0..).map(|((name, _), number)| ((*name).to_owned(), number)).collect(),
        exclusive: false,
        banks: syntax.registers.iter().map(|(name, registers)| bank(name, registers)).collect(),
        sets: vec![Set {
            name: "instructions".to_owned(),
            doc: String::new(),
            span,
            bits: 0,
            parameters: Vec::new(),
            layouts,
            first_wins: false,
        }],
        instructions: opcodes,
    };
    Isa {
        name: "riscv".to_owned(),
        doc: "RISC-V with all ratified extensions whose words do not exclude each other.".to_owned(),
        span: Some(span),
        enums: syntax.lists.iter().map(|list| names(list, syntax, span)).collect(),
        encoding: crate::model::Encoding::Stream(stream),
        ..Isa::default()
    }
}

fn bank(name: &Spanned<String>, registers: &[String]) -> Bank {
    Bank {
        name: name.value.clone(),
        doc: String::new(),
        span: name.span,
        count: registers.len() as u32,
        width: 64,
        prints: (name.value.clone(), String::new()),
        names: registers.to_vec(),
        also: Vec::new(),
    }
}

/// The enum for several lists of names combined.
fn names(list: &[String], syntax: &Syntax, span: Span) -> Enum {
    let of = |name: &String| syntax.names.iter().find(|(known, _)| known.value == *name).map(|(_, values)| values);
    let mut values: Vec<&(u64, String)> = list.iter().filter_map(of).flatten().collect();
    values.sort();
    let value = |(bits, text): &(u64, String)| Value {
        name: text.clone(),
        text: text.clone(),
        also: Vec::new(),
        bits: *bits,
        doc: String::new(),
        span,
    };
    Enum {
        name: list.join(" and "),
        doc: String::new(),
        span,
        bits: None,
        values: values.into_iter().map(value).collect(),
        default: None,
        implied: false,
        listed: 0,
        open: false,
    }
}

struct Builder<'a> {
    syntax: &'a Syntax,
    sources: &'a Sources,
    out: &'a mut Diagnostics,
    layouts: Vec<Layout>,
    opcodes: Vec<model::Instruction>,
    /// Opcodes by name.
    known: HashMap<String, usize>,
}

impl Builder<'_> {
    fn instruction(&mut self, instruction: &Instruction, role: Role) {
        let mut generations = instruction.encodings.iter().peekable();
        while let Some((first, encoding)) = generations.next() {
            let same_rules = |variable: &Variable, a: usize, b: usize| {
                let rule = |generation: usize| {
                    self.syntax
                        .rule(&instruction.name.value, variable, GENERATIONS[generation].1)
                        .map(std::ptr::from_ref)
                };
                rule(a) == rule(b)
            };
            let mut last = *first;
            while let Some((next, other)) = generations.peek()
                && other == encoding
                && encoding.variables.iter().all(|variable| same_rules(variable, *first, *next))
            {
                last = *next;
                generations.next();
            }
            self.members(instruction, encoding, role, (*first, last));
        }
    }

    /// Adds the layouts of an instruction; a family has one for each of its numbers.
    fn members(&mut self, instruction: &Instruction, encoding: &Encoding, role: Role, range: (usize, usize)) {
        let Some((start, step)) = self.syntax.family(&instruction.name.value, self.out) else {
            self.layout(instruction, &instruction.written, encoding, role, range);
            return;
        };
        let number = |variable: &Variable| variable.name == "n";
        let Some(variable) = encoding.variables.iter().find(|variable| number(variable)) else {
            let message = format!("`{}` has no variable `n`", instruction.name.value);
            self.out.push(Diagnostic::error("E0101", encoding.span, message));
            return;
        };
        for value in 0..(ones(variable.width().into()) + 1).min(MAX_MEMBERS) {
            let mut member = encoding.clone();
            member.variables.retain(|variable| !number(variable));
            let mut rest = value;
            for Piece { at, width } in &variable.pieces {
                member.mask |= ones((*width).into()) << at;
                member.value |= (rest & ones((*width).into())) << at;
                rest >>= width;
            }
            let stem = instruction.written.strip_suffix('n').unwrap_or(&instruction.written);
            self.layout(instruction, &format!("{stem}{}", start + step * value), &member, role, range);
        }
    }

    fn layout(
        &mut self,
        instruction: &Instruction,
        written: &str,
        encoding: &Encoding,
        role: Role,
        (first, last): (usize, usize),
    ) {
        let name = Spanned::new(written.to_owned(), instruction.name.span);
        let mut layout = Layout::new(&name, 0, encoding.bits, role);
        (layout.since, layout.until) = (first as u32, last as u32);
        (layout.mask, layout.value) = (Wide::new(encoding.mask), Wide::new(encoding.value));
        (layout.fixed_mask, layout.fixed_value) = (layout.mask, layout.value);
        let named = |variable: &&Variable| {
            let mut words = instruction.assembly.value.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            words.any(|word| word == variable.name)
                || self.syntax.suffixes.iter().any(|(variables, _)| variables.contains(&variable.name))
        };
        let (shown, hidden): (Vec<_>, Vec<_>) = encoding.variables.iter().partition(named);
        // Variables that the text omits must be zero, as assemblers set them; otherwise the text would lose them.
        for variable in hidden {
            layout.fixed_mask |= Layout::bits_of(&variable.pieces);
        }
        let xlen = GENERATIONS[first].1;
        let mut draft = Draft::new(layout, self.syntax, self.out);
        let own = instruction.name.value.as_str();
        let shown: Vec<Variable> = shown.into_iter().cloned().collect();
        let made = shown.iter().try_for_each(|variable| draft.variable(own, variable, xlen));
        let made = made.and_then(|()| draft.text(own, written, &instruction.assembly, &shown, xlen));
        if made.and_then(|()| draft.implied(own)).is_none() {
            return;
        }
        let mut layout = draft.layout;
        layout.text_span = instruction.assembly.span;
        layout.opcode = match role {
            Role::Own => self.opcode(instruction, written),
            _ => match self.containing(&layout) {
                Some(opcode) => opcode,
                // No other instruction has these words.
                None => {
                    layout.role = Role::Own;
                    self.opcode(instruction, written)
                }
            },
        };
        self.layouts.push(layout);
    }

    /// The instruction that the words of an alias belong to.
    fn containing(&self, alias: &Layout) -> Option<usize> {
        let contains = |layout: &&Layout| {
            layout.role == Role::Own
                && layout.bits == alias.bits
                && layout.since <= alias.since
                && alias.until <= layout.until
                && alias.value.matches(&layout.mask, &layout.value)
                && (layout.mask & !alias.mask).is_zero()
        };
        self.layouts.iter().filter(contains).max_by_key(|layout| layout.mask.count_ones()).map(|layout| layout.opcode)
    }

    fn opcode(&mut self, instruction: &Instruction, name: &str) -> usize {
        let next = self.opcodes.len();
        let opcode = *self.known.entry(name.to_owned()).or_insert(next);
        if opcode == next {
            let place = instruction.name.span;
            self.opcodes.push(model::Instruction {
                name: name.to_owned(),
                title: instruction.title.clone(),
                doc: instruction.doc.clone(),
                unit: String::new(),
                span: instruction.span,
                source: format!("{}:{}", self.sources.path(place.file).display(), self.sources.line_column(place).0),
                provenance: Provenance::Document,
                note: String::new(),
            });
        }
        opcode
    }
}
