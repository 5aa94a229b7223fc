//! From syntax to the model of a stream.
//!
//! - here: the stream as a whole, its banks, and the alternatives of its kinds
//! - `instructions`: instructions and their aliases
//! - `text`: binds the names in templates, for alternatives and instructions
//!
//! Banks and kinds come before the instructions that refer to them. The fields of each come before its text.

mod instructions;
mod text;

use std::collections::HashMap;

use isaforge_core::bits::ones;
use isaforge_core::semantics::Comparison;
use isaforge_core::stream::{Notation, Role, Wide, insert};

use super::fields::Draft;
use super::model::{Bank, Expr, Field, Layout, Set, Source, Stream, Token, Type};
use crate::diagnostic::Diagnostic;
use crate::keys::Named;
use crate::model::Encoding;
use crate::resolve::resolver::Resolver;
use crate::source::{Span, Spanned};
use crate::spec::{AlternativeSpec, BankSpec, Constant, FixedBits, GenerationsSpec, KindSpec, NumberSpec, Unused};

impl Resolver<'_> {
    /// The first place where a specification uses something that sets of words cannot represent.
    pub(crate) fn beyond_words(&self) -> Option<Span> {
        self.files.iter().find_map(|(_, file)| {
            let words = file.word.as_ref().map(|word| &word.0[..]).unwrap_or_default();
            let wide = match words {
                [] => None,
                [only] => (!matches!(only.value, 8 | 16 | 32 | 64)).then_some(only.span),
                [first, ..] => Some(first.span),
            };
            let general =
                file.swap.as_ref().map(|s| s.span).or(file.generations.as_ref().and_then(GenerationsSpec::span));
            let values = file.enums.iter().flat_map(|n| n.iter()).flat_map(|(_, e)| &e.values);
            let dated = values.filter(|v| v.since.is_some() || v.until.is_some()).map(|value| value.span).next();
            let banks = file.banks.iter().flat_map(|n| n.iter());
            let bank = banks.filter(|(_, b)| b.names.is_some() || b.also.is_some()).map(|(name, _)| name.span).next();
            let full = |number: &Option<NumberSpec>| matches!(number, Some(NumberSpec::Full(_)));
            let kinds = file.kinds.iter().flat_map(|n| n.iter());
            let kind = kinds.filter(|(_, k)| {
                k.parameters.is_some()
                    || k.alternatives.iter().any(|(_, a)| {
                        a.r_where.is_some() || a.since.is_some() || a.until.is_some() || {
                            let mut fields = a.fields.iter().flat_map(|f| f.iter());
                            fields.any(|(_, f)| {
                                f.value.is_some() || f.kind.is_some() || f.target.is_some() || full(&f.number)
                            })
                        }
                    })
            });
            let kind = kind.map(|(name, _)| name.span).next();
            let instructions = file.instructions.iter().flat_map(|n| n.iter());
            let instruction = instructions.filter(|(_, i)| {
                i.word.is_some()
                    || i.length.is_some()
                    || i.since.is_some()
                    || i.until.is_some()
                    || i.r_where.is_some()
                    || i.aliases.is_some()
                    || i.fields.is_some()
                    || i.operands.iter().flat_map(|o| o.iter()).any(|(_, o)| {
                        let sized = matches!(o.size, Some(Constant::Name(_)));
                        sized || o.value.is_some() || o.r_enum.is_some() || o.with.is_some() || full(&o.immediate)
                    })
            });
            let instruction = instruction.map(|(name, _)| name.span).next();
            wide.or(general).or(dated).or(bank).or(kind).or(instruction)
        })
    }

    /// Resolves the specification as a stream.
    pub(crate) fn stream(&mut self) -> Option<()> {
        self.isa.word_bits = 0;
        self.words_only();
        let mut stream = self.stream_head()?;
        for (name, spec) in self.all(|f| &f.banks) {
            stream.banks.extend(self.whole(&name.clone(), |r| r.stream_bank(name, spec)));
        }
        let (name, doc) = (self.isa.name.clone(), "The instructions.".to_owned());
        let span = self.isa.span.unwrap_or(self.files.first()?.1.span);
        stream.sets.push(Set {
            name,
            doc,
            span,
            bits: 0,
            parameters: Vec::new(),
            layouts: Vec::new(),
            first_wins: false,
        });
        // Kinds may refer to each other, so all get an index before any is resolved.
        let kinds = self.all(|f| &f.kinds);
        for (name, spec) in &kinds {
            self.in_range("the width of a kind", &spec.width, 1, 64);
            stream.sets.push(Set {
                name: name.value.clone(),
                doc: spec.doc.clone().unwrap_or_default(),
                span: name.span,
                bits: u16::from(spec.width.value.min(64)),
                parameters: spec.parameters.iter().flatten().map(|p| p.value.clone()).collect(),
                layouts: Vec::new(),
                first_wins: false,
            });
        }
        self.isa.encoding = Encoding::Stream(stream);
        for (index, (name, spec)) in kinds.iter().enumerate() {
            let before = self.out.failures();
            for (name, alternative) in spec.alternatives.iter() {
                self.reading(index + 1, spec, name, alternative);
            }
            // Instructions with such operands are left out: what they read is unknown.
            if self.out.failures() > before {
                self.out.mark_broken(name);
            }
        }
        for (name, spec) in self.all(|f| &f.instructions) {
            match &spec.family {
                None => drop(self.stream_instruction(&name, &spec, &[])),
                Some(family) => {
                    let Some(pieces) = self.pieces(&family.bits) else { continue };
                    let width: u32 = pieces.iter().map(|p| u32::from(p.width)).sum();
                    let most = ones(width.min(10)) + 1;
                    self.in_range("the count of a family", &family.count, 1, most);
                    let mark = format!("{{{}}}", family.parameter);
                    for number in 0..u64::from(family.count.value).min(most) {
                        let text = |text: &str| text.replace(&mark, &number.to_string());
                        let mut member = spec.clone();
                        for part in [&mut member.title, &mut member.doc, &mut member.note] {
                            *part = part.as_deref().map(text);
                        }
                        let mut rest = number;
                        let bits = pieces.iter().map(|piece| {
                            let fixed = (*piece, rest & ones(piece.width.into()));
                            rest = rest.checked_shr(piece.width.into()).unwrap_or(0);
                            fixed
                        });
                        let bits: Vec<_> = bits.collect();
                        let name = Spanned::new(text(&name.value), name.span);
                        let _ = self.stream_instruction(&name, &member, &bits);
                    }
                }
            }
        }
        Some(())
    }

    /// Reports keys that only sets with one word length support.
    fn words_only(&mut self) {
        let mut found = Vec::new();
        for (_, file) in &self.files {
            let first = |name: Option<&Spanned<String>>| name.map(|name| name.span);
            let shared = file.shared.as_ref().and_then(|n| first(n.iter().map(|(name, _)| name).next()));
            let constants = file.constants.as_ref().and_then(|n| first(n.iter().map(|(name, _)| name).next()));
            let limits = file.limits.as_ref().and_then(|limits| limits.first().map(|limit| limit.span));
            found.extend(shared.map(|span| ("shared", span)));
            found.extend(constants.map(|span| ("constants", span)));
            found.extend(limits.map(|span| ("limits", span)));
            found.extend(file.xml.as_ref().map(|xml| ("xml", xml.span)));
            found.extend(file.arm.as_ref().map(|arm| ("arm", arm.span)));
            found.extend(file.group.as_ref().map(|group| ("group", group.span)));
        }
        let because = self.beyond_words();
        for (key, span) in found {
            let error = Diagnostic::error("E0130", span, format!("a stream has no `{key}`"));
            let error = error.help(match key {
                "shared" => "give the kind a parameter, and a condition on it: `where: …`",
                "constants" => "compute the value: `value: \"match bits { 0 => 1, 1 => 10, _ => 0 }\"`",
                "limits" => "state what the operands must satisfy: `where: …`",
                "group" => "a set has groups or is a stream; describe the other in a file of its own",
                _ => "describe the instructions in YAML, or leave out what makes the set a stream",
            });
            self.out.push(match because {
                Some(because) => error.secondary(because, "this makes the set a stream"),
                None => error,
            });
        }
    }

    fn stream_head(&mut self) -> Option<Stream> {
        let (_, entry) = self.files.first()?;
        let (words, swap, generations) = (entry.word.clone(), entry.swap.clone(), entry.generations.clone());
        let words = words.map(|words| words.0).unwrap_or_default();
        for word in &words {
            if word.value == 0 || word.value % 8 != 0 || u32::from(word.value) > Wide::BITS {
                let message = format!("a word cannot have {} bits", word.value);
                self.out.push(
                    Diagnostic::error("E0032", word.span, message)
                        .help("write 8, 16, 32 or 64; other multiples of 8 up to 256 make a stream"),
                );
                return None;
            }
        }
        let twice = words.iter().enumerate().find(|(at, word)| words.iter().take(*at).any(|w| w.value == word.value));
        if let Some((_, word)) = twice {
            let message = format!("the length {} is given twice", word.value);
            self.out.push(Diagnostic::error("E0102", word.span, message).help("write each length once"));
        }
        let lengths = words.iter().map(|word| (word.value / 8) as u8);
        let unit = lengths.clone().reduce(greatest_common_divisor)?;
        let longest = lengths.max()?;
        if let Some(swap) = swap.as_ref().filter(|swap| swap.value == 0 || !unit.is_multiple_of(swap.value)) {
            let message = format!("bytes cannot come in groups of {}", swap.value);
            self.out
                .push(Diagnostic::error("E0033", swap.span, message).help("write a number that divides all lengths"));
            return None;
        }
        let (generations, generation_names) = self.generations(generations.as_ref())?;
        let swap = swap.map_or(1, |swap| swap.value);
        Some(Stream { unit, longest, swap, generations, generation_names, ..Stream::default() })
    }

    fn stream_bank(&mut self, name: Spanned<String>, spec: BankSpec) -> Option<Bank> {
        self.in_range("the count of a bank", &spec.count, 1, 1 << 16);
        let mut names = spec.names.unwrap_or_default();
        if let Some(excess) = names.get(spec.count.value as usize) {
            let message = format!("{} names for {} registers", names.len(), spec.count.value);
            self.out.push(Diagnostic::error("E0108", excess.span, message).secondary(spec.count.span, "the count"));
            names.truncate(spec.count.value as usize);
        }
        let prints = self.register_text(&name, spec.prints.as_ref())?;
        self.distinct_names(&prints, spec.count.value, &names, spec.also.as_ref());
        let mut also = Vec::new();
        for (word, number) in spec.also.iter().flat_map(|also| also.iter()) {
            self.in_range("the number of a register", number, 0, u64::from(spec.count.value.max(1)) - 1);
            also.push((word.value.clone(), number.value));
        }
        Some(Bank {
            name: name.value,
            doc: spec.doc.unwrap_or_default(),
            span: name.span,
            count: spec.count.value,
            width: spec.width.unwrap_or(32),
            prints,
            names: names.into_iter().map(|name| name.value).collect(),
            also,
        })
    }

    /// Reports names shared by two registers of a bank: the assembler could only ever choose one of them.
    fn distinct_names(
        &mut self,
        prints: &(String, String),
        count: u32,
        names: &[Spanned<String>],
        also: Option<&Named<Spanned<u32>>>,
    ) {
        // The register that each name is printed for, and its place if it is listed.
        let mut known: HashMap<&str, (u32, Span)> = HashMap::new();
        let number_of = |name: &str| {
            let digits = name.strip_prefix(prints.0.as_str())?.strip_suffix(prints.1.as_str())?;
            digits.parse().ok().filter(|number: &u32| *number < count && number.to_string() == digits)
        };
        let help = "give every register a name of its own; an empty name keeps the number";
        for (name, number) in names.iter().zip(0..).filter(|(name, _)| !name.value.is_empty()) {
            let error = |other: u32| {
                let message = format!("`{}` names two registers: {other} and {number}", name.value);
                Diagnostic::error("E0102", name.span, message).help(help)
            };
            if let Some((other, place)) = known.get(name.value.as_str()) {
                self.out.push(error(*other).label("again here").secondary(*place, "first here"));
                continue;
            }
            known.insert(&name.value, (number, name.span));
            // A register without a name of its own is printed with its number.
            let plain = |other: &u32| names.get(*other as usize).is_none_or(|name| name.value.is_empty());
            if let Some(other) = number_of(&name.value).filter(plain) {
                self.out.push(error(other).label(format!("how register {other} is printed")));
            }
        }
        for (name, number) in also.into_iter().flat_map(|also| also.iter()) {
            let listed = known.get(name.value.as_str()).map(|(other, place)| (*other, Some(*place)));
            let taken = listed.or_else(|| Some((number_of(&name.value)?, None)));
            let Some((other, place)) = taken.filter(|(other, _)| *other != number.value) else { continue };
            let message = format!("`{}` is already the name of register {other}", name.value);
            let error = Diagnostic::error("E0102", name.span, message).label(format!("never read as {}", number.value));
            let error = place.into_iter().fold(error, |error, place| error.secondary(place, "first here"));
            self.out.push(error.help("give this register another name"));
        }
    }

    /// Adds constant bits to a layout; `matches` tells whether they distinguish it from others.
    fn constant(&mut self, layout: &mut Layout, bits: &FixedBits, matches: bool) {
        for fixed in &bits.0 {
            let mut mask = Wide::ZERO;
            let mut value = Wide::ZERO;
            let width = u32::from(fixed.high - fixed.low) + 1;
            mask.set(fixed.low.into(), width, u64::MAX);
            value.set(fixed.low.into(), width, fixed.value);
            if u16::from(fixed.high) >= layout.bits {
                let message = format!("bit {} is out of range: the last bit is {}", fixed.high, layout.bits - 1);
                self.out.push(Diagnostic::error("E0104", fixed.span, message));
                continue;
            }
            if !(mask & layout.fixed_mask).is_zero() {
                let message = "these bits are given two constants";
                self.out.push(Diagnostic::error("E0107", fixed.span, message));
                continue;
            }
            layout.said.push((mask, fixed.span));
            layout.fixed_mask |= mask;
            layout.fixed_value |= value;
            if matches {
                layout.mask |= mask;
                layout.value |= value;
            }
        }
    }

    /// What `every` says of bits that nothing defines.
    fn unused_bits(&self) -> Option<Unused> {
        self.files.iter().find_map(|(_, file)| file.every.as_ref()?.unused)
    }

    fn reading(&mut self, set: usize, kind: &KindSpec, name: &Spanned<String>, spec: &AlternativeSpec) -> Option<()> {
        if let Some((shared, _)) = spec.when.iter().flat_map(|when| when.iter()).next() {
            let error = Diagnostic::error("E0130", shared.span, "a stream has no `shared` fields");
            self.out.push(error.help("give the kind a parameter, and a condition on it: `where: …`"));
            return None;
        }
        let mut layout = Layout::new(name, 0, u16::from(kind.width.value.min(64)), Role::Own);
        (layout.since, layout.until) = self.lifetime(spec.since.as_ref(), spec.until.as_ref());
        layout.text_span = spec.text.span;
        self.constant(&mut layout, &spec.fixed.clone().unwrap_or_default(), true);
        let mut draft = Draft::new(layout);
        for (index, parameter) in kind.parameters.iter().flatten().enumerate() {
            let field = Field {
                name: parameter.value.clone(),
                doc: String::new(),
                span: parameter.span,
                source: Source::Outer(index),
                width: 64,
                signed: false,
                default: 0,
                ty: Type::Number(Notation::DECIMAL),
            };
            draft.layout.fields.push(field);
            draft.shown.push(vec![Token::Field(index)]);
        }
        for (name, field) in spec.fields.iter().flat_map(|f| f.iter()) {
            self.stream_field(&mut draft, name, field)?;
        }
        self.settle(&mut draft)?;
        if let Some(Unused::Zero) = self.unused_bits() {
            draft.layout.fixed_mask |= draft.layout.undefined();
        }
        draft.layout.conditions = self.stream_conditions(&draft, spec.r_where.iter().flat_map(|w| w.iter()))?;
        let also = spec.also.iter().flat_map(|also| also.iter());
        let mut made = Vec::new();
        let own = self.tokens(&draft, &spec.text, name.span, "", &[])?;
        self.named_once(&draft.layout, &own, spec.text.span)?;
        made.push(Layout { text: own, ..draft.layout.clone() });
        for spelling in also {
            let text = self.tokens(&draft, &spelling.text, name.span, "", &[])?;
            let mut layout = Layout { text, role: Role::Assembler, ..draft.layout.clone() };
            layout.text_span = spelling.text.span;
            for (field, value) in spelling.with.iter() {
                let field = Resolver::find(self.out, "field", field, names_of(&draft.layout))?;
                with_value(&mut layout, field, value.value);
            }
            made.push(layout);
        }
        self.isa.stream_mut()?.sets[set].layouts.extend(made);
        Some(())
    }
}

pub(super) fn entry_span(resolver: &Resolver<'_>) -> Span {
    resolver.files[0].1.span
}

fn names_of(layout: &Layout) -> impl Iterator<Item = (&str, Option<Span>)> + Clone {
    layout.fields.iter().map(|field| (field.name.as_str(), Some(field.span)))
}

/// Fixes the value of a field: as constant bits if the field is stored, and always as a condition.
fn with_value(layout: &mut Layout, index: usize, value: u64) {
    let field = &layout.fields[index];
    let text = format!("{} == {value}", field.name);
    match &field.source {
        Source::Bits(pieces) => {
            let (mask, mut bits, width) = (Layout::bits_of(pieces), Wide::ZERO, field.width);
            insert(&mut bits, pieces, value);
            layout.mask |= mask;
            layout.fixed_mask |= mask;
            layout.value = layout.value & !mask | bits;
            layout.fixed_value = layout.fixed_value & !mask | bits;
            layout.fields[index].default = value & ones(width.into());
        }
        _ => layout.conditions.push(Expr::compares(index, Comparison::Equal, value, text)),
    }
}

fn greatest_common_divisor(a: u8, b: u8) -> u8 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
