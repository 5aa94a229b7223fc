//! Definitions that instructions refer to: enums, constants, banks, shared fields, kinds, limits.

use super::resolver::Resolver;
use crate::check::enums::distinct;
use crate::check::text::bits_text;
use crate::diagnostic::{Diagnostic, count};
use crate::model::{
    Alternative, Bank, Bits, Constants, Enum, Field, Fixed, Kind, Limit, Modifier, Part, Piece, Shared, Spelling,
    Token, Type, Value,
};
use crate::resolve::syntax::{name_registers, parse_template};
use crate::source::{Span, Spanned};
use crate::spec::{self, BitList, FieldSpec, FixedBits, ModifierSpec, Notation};

impl Resolver<'_> {
    /// Resolves the definitions that a stream uses from here.
    pub(crate) fn stream_definitions(&mut self) {
        for (name, spec) in self.all(|f| &f.enums) {
            // No `match` can tell values with the same number apart. Those of different generations may share one.
            let dated = spec.values.iter().any(|value| value.since.is_some() || value.until.is_some());
            let made =
                self.whole(&name.clone(), |r| r.enumeration(name, spec).filter(|made| dated || distinct(made, r.out)));
            self.isa.enums.extend(made);
        }
    }

    pub(crate) fn definitions(&mut self) {
        self.stream_definitions();
        for (name, spec) in self.all(|f| &f.constants) {
            if let (Some(first), Some(last)) = (spec.values.first(), spec.values.last()) {
                self.isa.places.add(name.span, Part::List, 0, first.span.to(last.span));
            }
            let values = spec.values.into_iter().map(|c| (c.value, c.doc.unwrap_or_default())).collect();
            let doc = spec.doc.unwrap_or_default();
            self.isa.constants.push(Constants { name: name.value, doc, span: name.span, values });
        }
        for (name, spec) in self.all(|f| &f.banks) {
            let made = self.whole(&name.clone(), |r| r.bank(name, spec));
            self.isa.banks.extend(made);
        }
        for (name, spec) in self.all(|f| &f.shared) {
            let made = self.whole(&name.clone(), |r| r.shared(name, spec));
            self.isa.shared.extend(made);
        }
    }

    /// Runs a definition of `name`. If it has a mistake, the name is marked as broken, so that its uses are not
    /// reported as further mistakes.
    pub(crate) fn whole<T>(
        &mut self,
        name: &Spanned<String>,
        define: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        let before = self.out.failures();
        let made = define(self);
        if self.out.failures() == before {
            return made;
        }
        self.out.mark_broken(&name.value);
        None
    }

    /// Reports a number outside of the valid range `least..=most`.
    pub(crate) fn in_range<N: Copy + Into<u64>>(&mut self, what: &str, number: &Spanned<N>, least: u64, most: u64) {
        let value: u64 = number.value.into();
        if (least..=most).contains(&value) {
            return;
        }
        let message = format!("{what} cannot be {value}");
        let range = if most == u64::MAX { format!("at least {least}") } else { format!("from {least} to {most}") };
        self.out.push(Diagnostic::error("E0033", number.span, message).label(format!("expected a number {range}")));
    }

    fn bank(&mut self, name: Spanned<String>, spec: spec::BankSpec) -> Option<Bank> {
        self.in_range("the count of a bank", &spec.count, 1, 1 << 16);
        let prints = self.register_text(&name, spec.prints.as_ref())?;
        let (doc, width) = (spec.doc.unwrap_or_default(), spec.width.unwrap_or(32));
        Some(Bank { name: name.value, doc, span: name.span, count: spec.count.value, width, prints })
    }

    /// The text before and after the number when a register of a bank is written.
    pub(crate) fn register_text(
        &mut self,
        bank: &Spanned<String>,
        prints: Option<&Spanned<String>>,
    ) -> Option<(String, String)> {
        let Some(text) = prints else { return Some((bank.value.clone(), String::new())) };
        let number = |name: &str| (name == "n").then_some(Token::Field(0));
        let before = self.out.failures();
        let tokens = parse_template(self.out, text, bank.span, &["n"], &number);
        if self.out.failures() > before {
            return None;
        }
        let text_of = |tokens: &[Token]| match tokens {
            [Token::Text(text)] => text.clone(),
            _ => String::new(),
        };
        let places = tokens.iter().filter(|token| matches!(token, Token::Field(_))).count();
        let mut sides = tokens.split(|token| matches!(token, Token::Field(_))).map(text_of);
        if let (1, Some(before), Some(after)) = (places, sides.next(), sides.next()) {
            return Some((before, after));
        }
        let (message, help) = match places {
            0 => (format!("`{}` has no place for the number", text.value), "write `{n}` for it"),
            _ => (format!("`{}` has {places} places for the number", text.value), "write `{n}` once"),
        };
        self.out.push(Diagnostic::error("E0040", text.span, message).help(help));
        None
    }

    fn shared(&mut self, name: Spanned<String>, spec: spec::SharedSpec) -> Option<Shared> {
        let bits = self.bits(&spec.bits)?;
        let default = spec.default.unwrap_or(0);
        let printed = match &spec.r_enum {
            Some(e) => Some(self.enum_index(e)?),
            None => None,
        };
        if default > isaforge_core::bits::ones(bits.width()) {
            let width = count(bits.width() as usize, "bit");
            let message = format!("the default {default} of `{}` does not fit {width}", name.value);
            self.out.push(Diagnostic::error("E0108", name.span, message).rival(spec.bits.span, "these bits"));
        }
        let most = isaforge_core::bits::ones(bits.width());
        let mut words = Vec::new();
        for (word, value) in spec.words.iter().flat_map(|words| words.iter()) {
            self.in_range("this field", value, 0, most);
            words.push((word.value.clone(), value.value, word.span));
        }
        Some(Shared { name: name.value, span: name.span, bits, default, printed, words })
    }

    fn enumeration(&mut self, name: Spanned<String>, spec: spec::EnumSpec) -> Option<Enum> {
        if let Some(bits) = &spec.bits {
            self.in_range("the width of a field", bits, 1, 64);
        }
        let mut values = Vec::new();
        let mut next = 0;
        // Values after a trailing `~` are reserved as well.
        let mut open = spec.values.last().is_some_and(|value| value.name.is_none());
        if let (Some(first), Some(last)) = (spec.values.first(), spec.values.last()) {
            self.isa.places.add(name.span, Part::List, 0, first.span.to(last.span));
        }
        for value in spec.values {
            let bits = value.value.map_or(next, |v| v.value);
            next = bits.wrapping_add(1);
            if let Some(word) = value.name {
                let text = value.prints.unwrap_or_else(|| word.value.clone());
                values.push(Value {
                    name: word.value,
                    text,
                    also: value.also,
                    bits,
                    doc: value.doc.unwrap_or_default(),
                    span: value.span,
                });
            }
        }
        if let Some(then) = &spec.then {
            let index = self.enum_index(then)?;
            self.isa.enums[index].implied = true;
            let list = self.isa.places.first(self.isa.enums[index].span, Part::List);
            self.isa.places.add(name.span, Part::List, 0, list);
            let follow = |v: &Value| Value { bits: next.wrapping_add(v.bits), ..v.clone() };
            values.extend(self.isa.enums[index].values.iter().map(follow));
            next = self.isa.enums[index]
                .values
                .iter()
                .map(|v| v.bits)
                .max()
                .map_or(next, |last| next.wrapping_add(last).wrapping_add(1));
            // An enum from a document is open because it is not maintained here. That does not make an enum of another
            // file open.
            let then = &self.isa.enums[index];
            open |= then.open && then.span.file == name.span.file;
        }
        let default = match spec.default {
            Some(word) => {
                let index =
                    Resolver::find(self.out, "value", &word, values.iter().map(|v| (v.name.as_str(), Some(v.span))))?;
                Some(values[index].bits)
            }
            None => None,
        };
        let (doc, bits) = (spec.doc.unwrap_or_default(), spec.bits.map(|b| b.value));
        Some(Enum { name: name.value, doc, span: name.span, bits, values, default, implied: false, listed: next, open })
    }

    /// Resolves the pieces of a field.
    pub(crate) fn bits(&mut self, list: &BitList) -> Option<Bits> {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut claimed: Vec<(bool, u64, Span)> = Vec::new();
        for piece in list.pieces.iter().rev() {
            let before = pieces.len();
            match &piece.value {
                spec::Piece::Run { high, .. } if *high > 63 => {
                    let error = Diagnostic::error("E0030", piece.span, format!("there is no bit {high}"));
                    self.out.push(error.help("bits are numbered 0 to 63"));
                    return None;
                }
                spec::Piece::Run { high, low } => pieces.push(Piece { at: *low, width: high - low + 1, shared: None }),
                spec::Piece::Shared(name) => {
                    let name = Spanned::new(name.clone(), piece.span);
                    let names = self.isa.shared.iter().map(|s| (s.name.as_str(), Some(s.span)));
                    let index = Resolver::find(self.out, "shared field", &name, names)?;
                    pieces.extend(self.isa.shared[index].bits.0.iter().map(|p| Piece { shared: Some(index), ..*p }));
                }
            }
            // Shared bits are relative to the word, others to the operand: only bits of the same sort can overlap.
            let shared = matches!(piece.value, spec::Piece::Shared(_));
            let mask = Bits(pieces[before..].iter().map(|p| Piece { shared: None, ..*p }).collect()).mask(0);
            if let Some((_, other, at)) = claimed.iter().find(|(sort, other, _)| *sort == shared && other & mask != 0) {
                let message = format!("{} twice in one field", bits_text(other & mask));
                self.out.push(Diagnostic::error("E0107", piece.span, message).label("here").secondary(*at, "and here"));
                return None;
            }
            claimed.push((shared, mask, piece.span));
        }
        Some(Bits(pieces))
    }

    pub(crate) fn enum_index(&mut self, name: &Spanned<String>) -> Option<usize> {
        if let Some(found) = self.indexes.enums.find(name, &self.isa.enums, |e| &e.name) {
            self.out.note_use(self.isa.enums[found].span);
            return Some(found);
        }
        Resolver::find(self.out, "enum", name, self.isa.enums.iter().map(|e| (e.name.as_str(), Some(e.span))))
    }

    pub(crate) fn kind_index(&mut self, name: &Spanned<String>) -> Option<usize> {
        let declared = &self.isa.kinds[..self.declared_kinds.min(self.isa.kinds.len())];
        if let Some(found) = self.indexes.kinds.find(name, declared, |k| &k.name) {
            self.out.note_use(declared[found].span);
            return Some(found);
        }
        Resolver::find(self.out, "kind", name, declared.iter().map(|k| (k.name.as_str(), Some(k.span))))
    }

    pub(crate) fn bank_index(&mut self, name: &Spanned<String>) -> Option<usize> {
        if let Some(found) = self.indexes.banks.find(name, &self.isa.banks, |b| &b.name) {
            self.out.note_use(self.isa.banks[found].span);
            return Some(found);
        }
        Resolver::find(self.out, "bank", name, self.isa.banks.iter().map(|b| (b.name.as_str(), Some(b.span))))
    }

    pub(crate) fn modifier(&mut self, name: &Spanned<String>, spec: &ModifierSpec) -> Option<Modifier> {
        let bits = self.bits(&spec.bits)?;
        let ty = match &spec.r_enum {
            Some(name) => Type::Enum(self.enum_index(name)?),
            None => Type::Flag,
        };
        let default = match (&spec.default, ty) {
            (Some(word), Type::Enum(e)) => {
                let values = &self.isa.enums[e].values;
                let index =
                    Resolver::find(self.out, "value", word, values.iter().map(|v| (v.name.as_str(), Some(v.span))))?;
                Some(values[index].bits)
            }
            (None, Type::Enum(e)) => self.isa.enums[e].default,
            (Some(word), _) => {
                let error = Diagnostic::error("E0041", word.span, "a flag has no default other than being clear");
                self.out.push(error.help("remove `default`, or give an enum"));
                return None;
            }
            (None, _) => Some(0),
        };
        if spec.prints.is_some() && ty != Type::Flag {
            self.no_meaning(name.span.to(spec.span), "prints", "a choice, whose values have words of their own");
        }
        if spec.implied.is_some() && name.span.file == spec.span.file {
            self.no_meaning(name.span.to(spec.span), "implied", "a modifier outside of an `xml` section");
        }
        let prints = spec.prints.clone().unwrap_or_else(|| name.value.clone());
        let doc = spec.doc.clone().unwrap_or_default();
        let span = name.span.to(spec.span);
        // An element of an XML file and the definition of its bits are in different places.
        let declared = (name.span.file != spec.span.file).then_some(spec.span);
        Some(Modifier { name: name.value.clone(), doc, bits, ty, default, prints, span, declared })
    }

    pub(crate) fn fixed(&mut self, bits: &FixedBits, matches: bool) -> Vec<Fixed> {
        for beyond in bits.0.iter().filter(|f| f.high > 63) {
            let error = Diagnostic::error("E0030", beyond.span, format!("there is no bit {}", beyond.high));
            self.out.push(error.help("bits are numbered 0 to 63"));
        }
        let one = |f: &spec::Fixed| {
            let width = u32::from(f.high - f.low) + 1;
            Fixed {
                mask: isaforge_core::bits::ones(width) << f.low,
                value: f.value << f.low,
                matches,
                span: f.span,
                declared: None,
            }
        };
        bits.0.iter().filter(|f| f.high <= 63).map(one).collect()
    }

    pub(crate) fn kinds_and_limits(&mut self) {
        for (name, spec) in self.all(|f| &f.kinds) {
            if let Some(kind) = self.whole(&name.clone(), |r| r.kind(name, spec)) {
                self.isa.kinds.push(kind);
                self.declared_kinds = self.isa.kinds.len();
            }
        }
        let limits: Vec<_> = self.files.iter().filter_map(|(_, f)| f.limits.clone()).flatten().collect();
        for spec in limits {
            let name = Spanned::new(spec.name.clone(), spec.span);
            if let Some(limit) = self.whole(&name, |r| r.limit(spec)) {
                self.isa.limits.push(limit);
            }
        }
    }

    fn kind(&mut self, name: Spanned<String>, spec: spec::KindSpec) -> Option<Kind> {
        self.in_range("the width of a kind", &spec.width, 1, 64);
        if spec.alternatives.is_empty() {
            self.nothing_listed(name.span, "a kind needs at least one alternative");
        }
        let mut alternatives = Vec::new();
        for (name, spec) in spec.alternatives.0 {
            alternatives.extend(self.alternative(name, spec));
        }
        let suffixes = spec.suffixes.unwrap_or_default();
        let suffixes = suffixes.iter().filter_map(|(name, spec)| self.modifier(name, spec)).collect();
        let doc = spec.doc.unwrap_or_default();
        Some(Kind { name: name.value, doc, span: name.span, width: spec.width.value, alternatives, suffixes })
    }

    fn limit(&mut self, spec: spec::LimitSpec) -> Option<Limit> {
        if spec.alternatives.is_empty() {
            self.nothing_listed(spec.span, "a limit needs the alternatives that count");
        }
        let kind = self.kind_index(&spec.kind)?;
        let mut alternatives = 0u32;
        for name in &spec.alternatives {
            let names = self.isa.kinds[kind].alternatives.iter().map(|a| (a.name.as_str(), Some(a.span)));
            let found = Resolver::find(self.out, "alternative", name, names);
            let bit = found.and_then(|i| 1u32.checked_shl(i as u32)).unwrap_or(0);
            if alternatives & bit != 0 {
                let message = format!("the alternative `{}` is listed twice", name.value);
                self.out.push(Diagnostic::error("E0102", name.span, message));
            }
            alternatives |= bit;
        }
        self.in_range("how many values are allowed", &spec.at_most, 1, u64::MAX);
        if let Some(except) = &spec.except {
            self.in_range("how many values are allowed", &except.at_most, 1, u64::MAX);
        }
        if let Some(drop) = &spec.drop {
            let most = u64::from(self.isa.kinds[kind].width).saturating_sub(1);
            self.in_range("how many bits do not count", drop, 0, most);
        }
        Some(Limit {
            name: spec.name,
            doc: spec.doc.unwrap_or_default(),
            span: spec.span,
            kind,
            alternatives,
            drop: spec.drop.map_or(0, |drop| drop.value),
            at_most: spec.at_most.value,
            except: spec.except.map(|e| (e.units, e.at_most.value)),
        })
    }

    /// Reports an empty list that must not be empty.
    pub(crate) fn nothing_listed(&mut self, span: Span, message: &str) {
        self.out.push(Diagnostic::error("E0034", span, message));
    }

    fn alternative(&mut self, name: Spanned<String>, spec: spec::AlternativeSpec) -> Option<Alternative> {
        let whole = name.span.to(spec.span);
        self.isa.places.add(name.span, Part::Whole, 0, whole);
        let fixed = self.fixed(&spec.fixed.unwrap_or_default(), true);
        self.fixed_once(&fixed);
        fixed.iter().for_each(|f| self.isa.places.add(name.span, Part::Fixed, f.mask, f.span));
        let (mask, value) = fixed.iter().fold((0, 0), |(m, v), f| (m | f.mask, v | f.value));
        let mut when = Vec::new();
        for (shared, value) in spec.when.unwrap_or_default().iter() {
            let names = self.isa.shared.iter().map(|s| (s.name.as_str(), Some(s.span)));
            let Some(index) = Resolver::find(self.out, "shared field", shared, names) else { continue };
            let Shared { name, bits, span, .. } = &self.isa.shared[index];
            if *value > isaforge_core::bits::ones(bits.width()) {
                let message = format!("{value} does not fit the {} of `{name}`", count(bits.width() as usize, "bit"));
                self.out.push(Diagnostic::error("E0108", shared.span, message).rival(*span, "the shared field"));
            }
            when.push((index, *value));
        }
        let mut fields = Vec::new();
        let before = self.out.failures();
        for (name, spec) in spec.fields.unwrap_or_default().0 {
            fields.extend(self.field(name, spec));
        }
        if self.out.failures() > before {
            return None;
        }
        let names: Vec<&str> = fields.iter().map(|f: &Field| f.name.as_str()).collect();
        let field = |word: &str| names.iter().position(|name| *name == word).map(Token::Field);
        let text = parse_template(self.out, &spec.text, whole, &names, &field);
        let text = name_registers(&self.isa.banks, &fields, text);
        let mut also = Vec::new();
        for spelling in spec.also.iter().flat_map(|also| also.iter()) {
            let mut with = Vec::new();
            for (name, value) in spelling.with.iter() {
                let known = fields.iter().map(|f| (f.name.as_str(), Some(f.span)));
                let Some(index) = Resolver::find(self.out, "field", name, known) else { continue };
                let most = isaforge_core::bits::ones(fields[index].bits.width());
                self.in_range("this field", value, 0, most);
                with.push((index, value.value));
            }
            let text = parse_template(self.out, &spelling.text, whole, &names, &field);
            let text = name_registers(&self.isa.banks, &fields, text);
            also.push(Spelling { text, span: spelling.text.span, with });
        }
        let doc = spec.doc.unwrap_or_default();
        Some(Alternative {
            name: name.value,
            doc,
            span: name.span,
            text_span: spec.text.span,
            mask,
            value,
            when,
            fields,
            text,
            also,
        })
    }

    /// Reports bits that have two constants in one map.
    fn fixed_once(&mut self, fixed: &[Fixed]) {
        for (i, one) in fixed.iter().enumerate() {
            if let Some(other) = fixed[..i].iter().find(|other| other.mask & one.mask != 0) {
                let message = format!("{} given two constants", bits_text(one.mask & other.mask));
                self.out.push(
                    Diagnostic::error("E0107", one.span, message).label("here").secondary(other.span, "and here"),
                );
            }
        }
    }

    fn field(&mut self, name: Spanned<String>, spec: FieldSpec) -> Option<Field> {
        let Some(bits) = &spec.bits else {
            let error = Diagnostic::error("E0022", spec.span, "the key `bits` is missing");
            self.out.push(error.help("give its position: `bits: 7..0`"));
            return None;
        };
        let bits = self.bits(bits)?;
        let given = [spec.bank.is_some(), spec.r_enum.is_some(), spec.constants.is_some(), spec.number.is_some()];
        if given.iter().filter(|g| **g).count() != 1 {
            self.one_of(name.span.to(spec.span), "a field", &["bank", "enum", "constants", "number"]);
            return None;
        }
        let ty = if let Some(bank) = &spec.bank {
            Type::Register(self.bank_index(bank)?)
        } else if let Some(e) = &spec.r_enum {
            Type::Enum(self.enum_index(e)?)
        } else if let Some(table) = &spec.constants {
            let names = self.isa.constants.iter().map(|c| (c.name.as_str(), Some(c.span)));
            Type::Constant(Resolver::find(self.out, "table of constants", table, names)?)
        } else {
            number_type(spec.number.map_or(Notation::Decimal, |number| number.word()))
        };
        Some(Field { name: name.value, bits, ty, span: name.span })
    }

    pub(crate) fn one_of(&mut self, span: Span, what: &str, keys: &[&str]) {
        let message = format!("{what} needs exactly one of {}", crate::suggest::one_of(keys.iter().copied()));
        self.out.push(Diagnostic::error("E0042", span, message));
    }

    /// Reports a known key that does not apply to this sort of definition.
    pub(crate) fn no_meaning(&mut self, span: Span, key: &str, what: &str) {
        let message = format!("`{key}` does not apply to {what}");
        self.out.push(Diagnostic::error("E0045", span, message).help(format!("remove `{key}`")));
    }

    pub(crate) fn apply_limits(&mut self) {
        let isa = &mut self.isa;
        for form in &mut isa.forms {
            form.limits = isa
                .limits
                .iter()
                .map(|l| match &l.except {
                    Some((units, at_most)) if units.iter().any(|unit| unit.value == form.unit) => *at_most,
                    _ => l.at_most,
                })
                .collect();
        }
    }
}

pub(crate) fn number_type(notation: Notation) -> Type {
    match notation {
        Notation::Decimal => Type::Decimal,
        Notation::Hex => Type::Hex,
        Notation::Signed => Type::Signed,
    }
}
