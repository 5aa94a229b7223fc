//! Instructions written in YAML.

use super::resolver::Resolver;
use crate::check::text::bits_text;
use crate::diagnostic::Diagnostic;
use crate::model::{Alternative, Bank, Bits, Field, Fixed, Form, Kind, Modifier, Operand, Part, Shape, Token, Type};
use crate::resolve::common::number_type;
use crate::resolve::syntax::{name_registers, parse_template};
use crate::source::{Span, Spanned};
use crate::spec::{self, Access, Constant, InstructionSpec, OperandSpec, Provenance, Unused};

/// The syntax of instructions, unless the specification defines another.
const DEFAULT_SYNTAX: &str = "{mnemonic}{modifiers} {operands}";

impl Resolver<'_> {
    pub(crate) fn instructions(&mut self) {
        for (name, spec) in self.all(|f| &f.instructions) {
            let before = self.isa.forms.len();
            let made = self.whole(&name.clone(), |r| {
                match spec.family.clone() {
                    Some(family) => r.family(&name, &spec, &family),
                    None => r.instruction(name, spec, Vec::new()),
                }
                Some(())
            });
            if made.is_none() {
                self.isa.forms.truncate(before);
            }
        }
    }

    pub(crate) fn instruction(&mut self, name: Spanned<String>, spec: InstructionSpec, mut fixed: Vec<Fixed>) {
        fixed.extend(self.fixed(&spec.fixed.clone().unwrap_or_default(), true));
        let note = self.note(&spec);
        self.isa.places.add(name.span, Part::Whole, 0, name.span.to(spec.span));
        let mut modifiers = Vec::new();
        for (name, spec) in spec.modifiers.unwrap_or_default().iter() {
            modifiers.extend(self.whole(name, |r| r.modifier(name, spec)));
        }
        let mut operands = Vec::new();
        for (name, spec) in spec.operands.unwrap_or_default().iter() {
            operands.extend(self.whole(name, |r| r.operand(name, spec)));
        }
        let mut ignored = 0;
        for piece in spec.ignored.iter().flat_map(|i| i.iter()) {
            let list = spec::BitList { span: piece.span, pieces: vec![piece.clone()] };
            let Some(bits) = self.bits(&list) else { continue };
            if bits.end(0) > u32::from(self.isa.word_bits) {
                let message = format!(
                    "bit {} of the ignored bits is out of range: the last bit is {}",
                    bits.end(0) - 1,
                    self.isa.word_bits - 1
                );
                self.out.push(Diagnostic::error("E0104", piece.span, message));
            }
            self.isa.places.add(name.span, Part::Ignored, bits.mask(0), piece.span);
            if ignored & bits.mask(0) != 0 {
                let message = format!("{} ignored twice", bits_text(ignored & bits.mask(0)));
                self.out.push(Diagnostic::error("E0107", piece.span, message));
            }
            ignored |= bits.mask(0);
        }
        let form = Form {
            title: spec.title.unwrap_or_default(),
            doc: spec.doc.unwrap_or_default(),
            unit: spec.unit.unwrap_or_default(),
            span: name.span,
            source: self.place(name.span),
            provenance: spec.provenance.unwrap_or_else(|| self.default_provenance()),
            note,
            fixed,
            ignored,
            syntax_span: name.span,
            modifiers,
            operands,
            syntax: Vec::new(),
            limits: Vec::new(),
            name: name.value,
        };
        self.finish(form, spec.syntax);
    }

    pub(crate) fn default_provenance(&self) -> Provenance {
        self.files.iter().find_map(|(_, f)| f.provenance).unwrap_or(Provenance::Document)
    }

    /// `file:line`, with only the name of the file: generated code must not depend on the location of the
    /// specification.
    pub(crate) fn place(&self, span: Span) -> String {
        let path = self.sources.path(span.file);
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        format!("{name}:{}", self.sources.line_column(span).0)
    }

    /// Adds the parts that every instruction has, and the syntax.
    pub(crate) fn finish(&mut self, mut form: Form, syntax: Option<Spanned<String>>) {
        for shared in &self.isa.shared {
            if let Some(e) = shared.printed {
                form.modifiers.push(Modifier {
                    name: shared.name.clone(),
                    doc: self.isa.enums[e].doc.clone(),
                    bits: Bits(shared.bits.0.clone()),
                    ty: Type::Enum(e),
                    default: Some(shared.default),
                    prints: shared.name.clone(),
                    span: shared.span,
                    declared: None,
                });
            }
        }
        let every: Vec<_> = self.files.iter().filter_map(|(_, f)| f.every.clone()).collect();
        for every in &every {
            form.fixed.extend(self.fixed(&every.fixed.clone().unwrap_or_default(), false));
            for (name, spec) in every.modifiers.iter().flat_map(|m| m.iter()) {
                form.modifiers.extend(self.modifier(name, spec));
            }
        }
        if let Some((every, unused)) = every.iter().find_map(|e| Some((e, e.unused?))) {
            let rest = isaforge_core::bits::ones(u32::from(self.isa.word_bits)) & !self.accounted(&form);
            match unused {
                Unused::Zero => {
                    form.fixed.push(Fixed { mask: rest, value: 0, matches: false, span: every.span, declared: None })
                }
                Unused::Ignored => form.ignored |= rest,
            }
        }
        let common = self.files.iter().find_map(|(_, f)| f.syntax.clone());
        let syntax = syntax.or(common).unwrap_or_else(|| Spanned::new(DEFAULT_SYNTAX.to_owned(), form.span));
        form.syntax_span = syntax.span;
        form.syntax = self.syntax(&form, &syntax);
        self.isa.forms.push(form);
    }

    /// The bits that a form defines.
    pub(crate) fn accounted(&self, form: &Form) -> u64 {
        crate::check::coverage::claims(&self.isa, form).iter().fold(form.ignored, |mask, claim| mask | claim.mask)
    }

    fn syntax(&mut self, form: &Form, template: &Spanned<String>) -> Vec<Token> {
        const ALL_OPERANDS: usize = usize::MAX;
        let own = form.operands.iter().map(|o| o.name.as_str()).chain(form.modifiers.iter().map(|m| m.name.as_str()));
        let names: Vec<&str> = ["mnemonic", "modifiers", "operands"].into_iter().chain(own).collect();
        let whole = self.isa.places.first(form.span, Part::Whole);
        let tokens = parse_template(self.out, template, whole, &names, &|word| match word {
            "mnemonic" => Some(Token::Mnemonic),
            "modifiers" => Some(Token::Modifiers),
            "operands" => Some(Token::Operand(ALL_OPERANDS)),
            _ => {
                let operand = form.operands.iter().position(|o| o.name == word).map(Token::Operand);
                operand.or_else(|| form.modifiers.iter().position(|m| m.name == word).map(Token::Modifier))
            }
        });
        let mut syntax = Vec::new();
        for token in tokens {
            if token != Token::Operand(ALL_OPERANDS) {
                syntax.push(token);
                continue;
            }
            if form.operands.is_empty() && matches!(syntax.last(), Some(Token::Text(t)) if t.trim().is_empty()) {
                syntax.pop();
            }
            for i in 0..form.operands.len() {
                if i > 0 {
                    syntax.push(Token::Text(", ".to_owned()));
                }
                syntax.push(Token::Operand(i));
            }
        }
        syntax
    }

    fn operand(&mut self, name: &Spanned<String>, spec: &OperandSpec) -> Option<Operand> {
        let given = [spec.bank.is_some(), spec.kind.is_some(), spec.immediate.is_some()];
        if given.iter().filter(|g| **g).count() != 1 {
            self.one_of(name.span, "an operand", &["bank", "kind", "immediate"]);
            return None;
        }
        let span = name.span.to(spec.span);
        let is_number = spec.immediate.is_some();
        for (key, given, read) in [
            ("bits", spec.bits.is_some(), spec.kind.is_none()),
            ("at", spec.at.is_some(), spec.kind.is_some()),
            ("prefix", spec.prefix.is_some(), is_number),
            ("target", spec.target.is_some(), is_number),
        ] {
            if given && !read {
                self.no_meaning(
                    span,
                    key,
                    if is_number {
                        "a number"
                    } else if spec.kind.is_some() {
                        "an operand of a kind"
                    } else {
                        "a register of a bank"
                    },
                );
            }
        }
        let mut suffixes = Vec::new();
        let (shape, access, size) = if let Some(kind) = &spec.kind {
            let kind = self.kind_index(kind)?;
            let Some(at) = &spec.at else {
                let error = Diagnostic::error("E0022", spec.span, "the key `at` is missing");
                self.out.push(error.help("give the bit at which the operand starts"));
                return None;
            };
            suffixes = self.kind_suffixes(kind, at.value);
            (Shape::One { kind, at: at.value }, Access::Read, 32)
        } else {
            let Some(bits) = &spec.bits else {
                let error = Diagnostic::error("E0022", spec.span, "the key `bits` is missing");
                self.out.push(error.help("give its position: `bits: 7..0`"));
                return None;
            };
            let bits = self.bits(bits)?;
            match (&spec.bank, &spec.immediate) {
                (Some(bank), _) => {
                    let bank = self.bank_index(bank)?;
                    let width = self.isa.banks[bank].width;
                    // Relative to its lowest bit, so that registers at different positions share a kind.
                    let at = bits.0.iter().filter(|p| p.shared.is_none()).map(|p| p.at).min().unwrap_or(0);
                    let bits = bits.moved_down(at);
                    (Shape::One { kind: self.bank_kind(bank, &bits), at }, Access::Read, width)
                }
                (None, notation) => {
                    let ty = number_type(notation.as_ref().map_or(spec::Notation::Decimal, |number| number.word()));
                    let prefix = spec.prefix.clone().unwrap_or_else(|| "#".to_owned());
                    let size = bits.width() as u16;
                    if let Some(target) = spec.target {
                        target.doubt(bits.0.len(), u16::from(self.isa.word_bits / 8), self.out);
                    }
                    (
                        Shape::Number { bits, ty, prefix, target: spec.target.map(|t| t.target(self.isa.word_bits)) },
                        Access::None,
                        size,
                    )
                }
            }
        };
        for (name, spec) in spec.suffixes.iter().flat_map(|s| s.iter()) {
            suffixes.extend(self.modifier(name, spec));
        }
        Some(Operand {
            name: name.value.clone(),
            doc: spec.doc.clone().unwrap_or_default(),
            span,
            declared: None,
            access: spec.access.unwrap_or(access),
            size: spec.size.as_ref().and_then(Constant::number).unwrap_or(size),
            shape,
            suffixes,
        })
    }

    /// The suffixes of a kind for an operand that starts at bit `at`.
    pub(crate) fn kind_suffixes(&self, kind: usize, at: u8) -> Vec<Modifier> {
        let moved = |m: &Modifier| Modifier { bits: m.bits.moved(at), ..m.clone() };
        self.isa.kinds[kind].suffixes.iter().map(moved).collect()
    }

    /// The kind of a plain register of a bank at these bits; registers with the same bank and bits share one.
    pub(crate) fn bank_kind(&mut self, bank: usize, bits: &Bits) -> usize {
        let known = self.isa.kinds.iter().position(|k| {
            k.alternatives.len() == 1
                && k.suffixes.is_empty()
                && matches!(&k.alternatives[0].fields[..], [f] if f.ty == Type::Register(bank) && f.bits == *bits)
        });
        if let Some(kind) = known {
            return kind;
        }
        let Bank { name, doc, span, .. } = self.isa.banks[bank].clone();
        let fields = vec![Field { name: name.clone(), bits: bits.clone(), ty: Type::Register(bank), span }];
        let text = name_registers(&self.isa.banks, &fields, vec![Token::Field(0)]);
        let alternative = Alternative {
            name: name.clone(),
            doc: doc.clone(),
            span,
            text_span: span,
            mask: 0,
            value: 0,
            when: Vec::new(),
            fields,
            text,
            also: Vec::new(),
        };
        let kind = Kind {
            name,
            doc,
            span,
            width: bits.end(0).min(64) as u8,
            alternatives: vec![alternative],
            suffixes: Vec::new(),
        };
        self.isa.kinds.push(kind);
        self.isa.kinds.len() - 1
    }
}
