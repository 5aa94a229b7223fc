//! From syntax to the model of a stream.

use isaforge_core::bits::ones;
use isaforge_core::semantics::Comparison;
use isaforge_core::stream::{Notation, Role, Wide};

use super::fields::Draft;
use super::model::{Bank, Expr, Field, Instruction, Layout, Set, Source, Stream, Token, Type};
use super::template::{Part, parts, unknown};
use crate::diagnostic::Diagnostic;
use crate::model::Encoding;
use crate::resolve::Resolver;
use crate::source::{Span, Spanned};
use crate::spec::{
    AliasSpec, AlternativeSpec, BankSpec, Constant, FixedBits, GenerationsSpec, InstructionSpec, KindSpec, NumberSpec,
    Unused,
};

/// The maximum number of aliases of an instruction: each is compared with every text.
const MOST_ALIASES: usize = 1000;

/// The syntax of instructions, unless the specification defines another.
const DEFAULT_SYNTAX: &str = "{mnemonic}{modifiers} {operands}";

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
            stream.banks.extend(self.stream_bank(name, spec));
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
        for (index, (_, spec)) in kinds.iter().enumerate() {
            for (name, alternative) in spec.alternatives.iter() {
                self.reading(index + 1, spec, name, alternative);
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
        let names = spec.names.unwrap_or_default();
        if names.len() > spec.count.value as usize {
            let message = format!("{} names for {} registers", names.len(), spec.count.value);
            self.out.push(Diagnostic::error("E0108", name.span, message));
            return None;
        }
        let prints = self.register_text(&name, spec.prints.as_ref())?;
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
            names,
            also,
        })
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

    /// Reports a text that repeats the prefix of a register's name before the register: `r{n}` would print `rr5`.
    fn named_once(&mut self, layout: &Layout, tokens: &[Token], span: Span) -> Option<()> {
        let banks = &self.isa.stream()?.banks;
        let twice = tokens.windows(2).find_map(|pair| {
            let [Token::Text(text), Token::Field(index)] = pair else { return None };
            let field = layout.fields.get(*index)?;
            let Type::Register(bank) = field.ty else { return None };
            let first = banks[bank].prints.0.as_str();
            let before = text.strip_suffix(first).filter(|_| !first.is_empty())?;
            (!before.ends_with(char::is_alphanumeric)).then_some((first, field.name.as_str()))
        });
        let Some((first, name)) = twice else { return Some(()) };
        let message =
            format!("`{first}{{{name}}}` writes `{first}` twice: `{{{name}}}` is the whole name of a register");
        self.out.push(Diagnostic::error("E0046", span, message).help(format!("write `{{{name}}}`")));
        None
    }

    fn stream_instruction(
        &mut self,
        name: &Spanned<String>,
        spec: &InstructionSpec,
        family: &[(super::model::Piece, u64)],
    ) -> Option<()> {
        let stream = self.isa.stream()?;
        let (unit, longest, opcode) = (stream.unit, u16::from(stream.longest) * 8, stream.instructions.len());
        let bits = spec.word.as_ref().map_or(longest, |word| word.value);
        if bits == 0 || bits > longest || !bits.is_multiple_of(u16::from(unit) * 8) {
            let span = spec.word.as_ref().map_or(name.span, |word| word.span);
            let message = format!("no instruction has {bits} bits");
            self.out.push(Diagnostic::error("E0032", span, message).help("name the length under `word` of the file"));
            return None;
        }
        let mut layout = Layout::new(name, opcode, bits, Role::Own);
        (layout.since, layout.until) = self.lifetime(spec.since.as_ref(), spec.until.as_ref());
        self.constant(&mut layout, &spec.fixed.clone().unwrap_or_default(), true);
        for (piece, value) in family {
            let mut constant = Wide::ZERO;
            constant.set(piece.at.into(), piece.width.into(), *value);
            let mask = Layout::bits_of(&[*piece]);
            layout.mask |= mask;
            layout.value |= constant;
            layout.fixed_mask |= mask;
            layout.fixed_value |= constant;
        }
        for piece in spec.ignored.iter().flat_map(|i| i.iter()) {
            let list = crate::spec::BitList { span: piece.span, pieces: vec![piece.clone()] };
            let bits = Layout::bits_of(&self.pieces(&list)?);
            layout.said.push((bits, list.span));
            layout.ignored |= bits;
        }
        let every: Vec<_> = self.files.iter().filter_map(|(_, f)| f.every.clone()).collect();
        for every in &every {
            self.constant(&mut layout, &every.fixed.clone().unwrap_or_default(), false);
        }
        let mut draft = Draft::new(layout);
        for (name, field) in spec.fields.iter().flat_map(|f| f.iter()) {
            self.stream_field(&mut draft, name, field)?;
        }
        let every_modifier = every.iter().flat_map(|e| e.modifiers.iter().flat_map(|m| m.iter()));
        for (name, modifier) in spec.modifiers.iter().flat_map(|m| m.iter()).chain(every_modifier) {
            self.stream_modifier(&mut draft, name, modifier)?;
        }
        for (name, operand) in spec.operands.iter().flat_map(|o| o.iter()) {
            self.stream_operand(&mut draft, name, operand)?;
        }
        self.settle(&mut draft)?;
        if let Some(unused) = every.iter().find_map(|e| e.unused) {
            let rest = Wide::ones(bits.into()) & !super::check::accounted(&draft.layout);
            match unused {
                Unused::Zero => draft.layout.fixed_mask |= rest,
                Unused::Ignored => draft.layout.ignored |= rest,
            }
        }
        draft.layout.conditions = self.stream_conditions(&draft, spec.r_where.iter().flat_map(|w| w.iter()))?;
        if let Some(length) = &spec.length {
            draft.layout.length = Some(self.number_of(&draft, length)?);
        }
        let common = self.files.iter().find_map(|(_, f)| f.syntax.clone());
        let syntax =
            spec.syntax.clone().or(common).unwrap_or_else(|| Spanned::new(DEFAULT_SYNTAX.to_owned(), name.span));
        draft.layout.text = self.tokens(&draft, &syntax, name.span, &name.value, &[])?;
        draft.layout.text_span = syntax.span;
        let mut layouts = vec![draft.layout.clone()];
        for (number, (alias, of)) in spec.aliases.iter().flat_map(|a| a.iter()).enumerate() {
            if number == MOST_ALIASES {
                let message = format!("an instruction has at most {MOST_ALIASES} aliases");
                self.out.push(Diagnostic::error("E0033", alias.span, message));
                return None;
            }
            layouts.push(self.alias(&draft, alias, of)?);
        }
        let note = self.note(spec);
        let instruction = Instruction {
            name: name.value.clone(),
            title: spec.title.clone().unwrap_or_default(),
            doc: spec.doc.clone().unwrap_or_default(),
            unit: spec.unit.clone().unwrap_or_default(),
            span: name.span,
            source: self.place(name.span),
            provenance: spec.provenance.unwrap_or_else(|| self.default_provenance()),
            note,
        };
        let stream = self.isa.stream_mut()?;
        stream.instructions.push(instruction);
        stream.sets[0].layouts.extend(layouts);
        Some(())
    }

    fn alias(&mut self, draft: &Draft, name: &Spanned<String>, spec: &AliasSpec) -> Option<Layout> {
        let role = if spec.prints.unwrap_or(false) { Role::Preferred } else { Role::Assembler };
        let mut layout = Layout { role, span: name.span, name: name.value.clone(), ..draft.layout.clone() };
        layout.conditions.extend(self.stream_conditions(draft, spec.r_where.iter().flat_map(|w| w.iter()))?);
        let mut said = Vec::new();
        for (field, value) in spec.with.iter().flat_map(|w| w.iter()) {
            let index = Resolver::find(self.out, "field", field, names_of(&draft.layout))?;
            let known = &draft.layout.fields[index];
            let whole = i128::from(ones(known.width.into()));
            let least = if known.signed { -(whole / 2) - 1 } else { 0 };
            let number = self.constant_of(known, value)?;
            if matches!(known.source, Source::Bits(_)) && !(least..=whole).contains(&number) {
                let message = format!("{number} does not fit the {} bits of `{}`", known.width, known.name);
                self.out.push(Diagnostic::error("E0108", value.span(), message).secondary(known.span, "the field"));
            }
            with_value(&mut layout, index, number as u64);
            said.push(index);
        }
        let syntax = spec.syntax.clone().unwrap_or_else(|| Spanned::new("{mnemonic} {operands}".to_owned(), name.span));
        layout.text = self.tokens(draft, &syntax, name.span, &name.value, &said)?;
        layout.text_span = syntax.span;
        Some(layout)
    }

    /// The tokens of a template; `{operands}` stands for the operands not in `said`.
    fn tokens(
        &mut self,
        draft: &Draft,
        template: &Spanned<String>,
        owner: Span,
        mnemonic: &str,
        said: &[usize],
    ) -> Option<Vec<Token>> {
        let parts = parts(template, self.out)?;
        let mut tokens = self.bind(draft, template.span, owner, mnemonic, said, &parts)?;
        // A general template leaves a trailing blank if an instruction has no operands.
        if let Some(Token::Text(last)) = tokens.last_mut() {
            *last = last.trim_end().to_owned();
            if last.is_empty() {
                tokens.pop();
            }
        }
        Some(tokens)
    }

    fn bind(
        &mut self,
        draft: &Draft,
        template: Span,
        owner: Span,
        mnemonic: &str,
        said: &[usize],
        parts: &[Part],
    ) -> Option<Vec<Token>> {
        let mut tokens: Vec<Token> = Vec::new();
        let text = |tokens: &mut Vec<Token>, text: &str| match tokens.last_mut() {
            _ if text.is_empty() => {}
            Some(Token::Text(last)) => last.push_str(text),
            _ => tokens.push(Token::Text(text.to_owned())),
        };
        let extend = |tokens: &mut Vec<Token>, more: &[Token]| {
            for token in more {
                match token {
                    Token::Text(more) => text(tokens, more),
                    token => tokens.push(token.clone()),
                }
            }
        };
        for part in parts {
            match part {
                Part::Text(more) => text(&mut tokens, more),
                Part::Column(column) => tokens.push(Token::Column(*column)),
                Part::If(condition, inner) => {
                    let condition = self.stream_conditions(draft, std::iter::once(condition))?.pop()?;
                    let inner = self.bind(draft, template, owner, mnemonic, said, inner)?;
                    tokens.push(Token::If(condition, inner));
                }
                Part::Name(name) => match (name.as_str(), draft.find(name)) {
                    (_, Some(field)) => extend(&mut tokens, &draft.shown[field]),
                    ("mnemonic", _) if !mnemonic.is_empty() => text(&mut tokens, mnemonic),
                    ("modifiers", _) if !mnemonic.is_empty() => {
                        let placed = |m: &usize| {
                            parts.iter().any(|p| matches!(p, Part::Name(n) if *n == draft.layout.fields[*m].name))
                        };
                        for modifier in draft.modifiers.iter().filter(|m| !placed(m)) {
                            extend(&mut tokens, &draft.shown[*modifier]);
                        }
                    }
                    ("operands", _) if !mnemonic.is_empty() => {
                        let open = draft.layout.operands.iter().filter(|o| !said.contains(&o.field));
                        for (i, operand) in open.enumerate() {
                            text(&mut tokens, if i > 0 { ", " } else { "" });
                            extend(&mut tokens, &draft.shown[operand.field]);
                        }
                    }
                    _ => {
                        let fixed = ["mnemonic", "modifiers", "operands"];
                        let fields =
                            draft.layout.fields.iter().zip(&draft.shown).filter(|(_, shown)| !shown.is_empty());
                        let fields = fields.map(|(field, _)| field.name.as_str());
                        let names: Vec<&str> =
                            fixed.into_iter().filter(|_| !mnemonic.is_empty()).chain(fields).collect();
                        unknown(self.out, template, owner, name, &names);
                        return None;
                    }
                },
            }
        }
        Some(tokens)
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
            let mut rest = value;
            for piece in pieces.clone() {
                let mask = Layout::bits_of(&[piece]);
                let mut bits = Wide::ZERO;
                bits.set(piece.at.into(), piece.width.into(), rest);
                rest = rest.checked_shr(piece.width.into()).unwrap_or(0);
                layout.mask |= mask;
                layout.fixed_mask |= mask;
                layout.value = layout.value & !mask | bits;
                layout.fixed_value = layout.fixed_value & !mask | bits;
            }
            let width = field.width;
            layout.fields[index].default = value & ones(width.into());
        }
        _ => layout.conditions.push(Expr::compares(index, Comparison::Equal, value, text)),
    }
}

fn greatest_common_divisor(a: u8, b: u8) -> u8 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
