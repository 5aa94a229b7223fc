//! Definitions that instructions refer to: enums, constants, banks, shared fields, kinds, limits.

use crate::diagnostic::Diagnostic;
use crate::model::{
    Alternative, Bank, Bits, Constants, Enum, Field, Fixed, Kind, Limit, Modifier, Piece, Shared, Type, Value,
};
use crate::resolve::Resolver;
use crate::resolve::syntax::parse_template;
use crate::source::{Span, Spanned};
use crate::spec::{self, BitList, FieldSpec, FixedBits, ModifierSpec, Notation};

impl Resolver<'_> {
    pub(crate) fn definitions(&mut self) {
        for (name, spec) in self.all(|f| &f.enums) {
            self.add_enum(name, spec);
        }
        for (name, spec) in self.all(|f| &f.constants) {
            let values = spec.values.into_iter().map(|c| (c.value, c.doc.unwrap_or_default())).collect();
            let doc = spec.doc.unwrap_or_default();
            self.isa.constants.push(Constants { name: name.value, doc, span: name.span, values });
        }
        for (name, spec) in self.all(|f| &f.banks) {
            let prints = spec.prints.map(|p| (p.span, p.value));
            let prints = match &prints {
                Some((span, text)) => match text.split_once("{n}") {
                    Some((before, after)) => (before.to_owned(), after.to_owned()),
                    None => {
                        let message = format!("`{text}` does not say where the number goes");
                        self.out.push(Diagnostic::error("E0040", *span, message).help("write `{n}` for it"));
                        continue;
                    }
                },
                None => (name.value.clone(), String::new()),
            };
            let doc = spec.doc.unwrap_or_default();
            let width = spec.width.unwrap_or(32);
            self.isa.banks.push(Bank { name: name.value, doc, span: name.span, count: spec.count.value, width, prints });
        }
        for (name, spec) in self.all(|f| &f.shared) {
            let Some(bits) = self.bits(&spec.bits) else { continue };
            let default = spec.default.unwrap_or(0);
            let printed = match &spec.r_enum {
                Some(e) => self.enum_index(e),
                None => None,
            };
            self.isa.shared.push(Shared { name: name.value, span: name.span, bits, default, printed });
        }
    }

    fn add_enum(&mut self, name: Spanned<String>, spec: spec::EnumSpec) {
        let mut values = Vec::new();
        let mut next = 0;
        for value in spec.values {
            let bits = value.value.map_or(next, |v| v.value);
            next = bits.wrapping_add(1);
            if let Some(word) = value.name {
                let text = value.prints.unwrap_or_else(|| word.value.clone());
                values.push(Value { name: word.value, text, bits, doc: value.doc.unwrap_or_default(), span: value.span });
            }
        }
        if let Some(then) = &spec.then {
            let Some(index) = self.enum_index(then) else { return };
            let follow = |v: &Value| Value { bits: next.wrapping_add(v.bits), ..v.clone() };
            values.extend(self.isa.enums[index].values.iter().map(follow));
        }
        let default = spec.default.and_then(|d| {
            let index = Resolver::find(self.out, "value", &d, values.iter().map(|v| v.name.as_str()))?;
            Some(values[index].bits)
        });
        let bits = spec.bits.map(|b| b.value);
        self.isa.enums.push(Enum { name: name.value, doc: spec.doc.unwrap_or_default(), span: name.span, bits, values, default });
    }

    /// Binds the pieces of a field.
    pub(crate) fn bits(&mut self, list: &BitList) -> Option<Bits> {
        let mut pieces = Vec::new();
        for piece in list.pieces.iter().rev() {
            match &piece.value {
                spec::Piece::Run { high, low } => pieces.push(Piece { at: *low, width: high - low + 1, shared: None }),
                spec::Piece::Shared(name) => {
                    let name = Spanned::new(name.clone(), piece.span);
                    let names = self.isa.shared.iter().map(|s| s.name.as_str());
                    let index = Resolver::find(self.out, "shared field", &name, names)?;
                    let mine = |p: &Piece| Piece { shared: Some(index), ..*p };
                    pieces.extend(self.isa.shared[index].bits.0.iter().map(mine));
                }
            }
        }
        Some(Bits(pieces))
    }

    pub(crate) fn enum_index(&mut self, name: &Spanned<String>) -> Option<usize> {
        Resolver::find(self.out, "enum", name, self.isa.enums.iter().map(|e| e.name.as_str()))
    }

    pub(crate) fn kind_index(&mut self, name: &Spanned<String>) -> Option<usize> {
        Resolver::find(self.out, "kind", name, self.isa.kinds.iter().map(|k| k.name.as_str()))
    }

    pub(crate) fn bank_index(&mut self, name: &Spanned<String>) -> Option<usize> {
        Resolver::find(self.out, "bank", name, self.isa.banks.iter().map(|b| b.name.as_str()))
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
                let index = Resolver::find(self.out, "value", word, values.iter().map(|v| v.name.as_str()))?;
                Some(values[index].bits)
            }
            (None, Type::Enum(e)) => self.isa.enums[e].default,
            (Some(word), _) => {
                let error = Diagnostic::error("E0041", word.span, "a flag has no other default than not being set");
                self.out.push(error.help("remove `default`, or give an enum"));
                return None;
            }
            (None, _) => Some(0),
        };
        let prints = spec.prints.clone().unwrap_or_else(|| name.value.clone());
        let doc = spec.doc.clone().unwrap_or_default();
        Some(Modifier { name: name.value.clone(), doc, bits, ty, default, prints, span: name.span.to(spec.span) })
    }

    pub(crate) fn fixed(&self, bits: &FixedBits, matches: bool) -> Vec<Fixed> {
        let one = |f: &spec::Fixed| {
            let width = u32::from(f.high - f.low) + 1;
            Fixed { mask: isaforge_core::bits::ones(width) << f.low, value: f.value << f.low, matches, span: f.span }
        };
        bits.0.iter().map(one).collect()
    }

    pub(crate) fn kinds_and_limits(&mut self) {
        for (name, spec) in self.all(|f| &f.kinds) {
            let mut alternatives = Vec::new();
            for (name, spec) in spec.alternatives.0 {
                alternatives.extend(self.alternative(name, spec));
            }
            let suffixes = spec.suffixes.unwrap_or_default();
            let suffixes = suffixes.iter().filter_map(|(name, spec)| self.modifier(name, spec)).collect();
            let doc = spec.doc.unwrap_or_default();
            let width = spec.width.value;
            self.isa.kinds.push(Kind { name: name.value, doc, span: name.span, width, alternatives, suffixes });
        }
        let limits: Vec<_> = self.files.iter().filter_map(|(_, f)| f.limits.clone()).flatten().collect();
        for spec in limits {
            let Some(kind) = self.kind_index(&spec.kind) else { continue };
            let mut alternatives = 0;
            for name in &spec.alternatives {
                let names = self.isa.kinds[kind].alternatives.iter().map(|a| a.name.as_str());
                alternatives |= Resolver::find(self.out, "alternative", name, names).map_or(0, |i| 1 << i);
            }
            self.isa.limits.push(Limit {
                name: spec.name,
                doc: spec.doc.unwrap_or_default(),
                kind,
                alternatives,
                drop: spec.drop.unwrap_or(0),
                at_most: spec.at_most,
                except: spec.except.map(|e| (e.units, e.at_most)),
            });
        }
    }

    fn alternative(&mut self, name: Spanned<String>, spec: spec::AlternativeSpec) -> Option<Alternative> {
        let fixed = self.fixed(&spec.fixed.unwrap_or_default(), true);
        let (mask, value) = fixed.iter().fold((0, 0), |(m, v), f| (m | f.mask, v | f.value));
        let mut when = Vec::new();
        for (shared, value) in spec.when.unwrap_or_default().iter() {
            let names = self.isa.shared.iter().map(|s| s.name.as_str());
            when.push((Resolver::find(self.out, "shared field", shared, names)?, *value));
        }
        let mut fields = Vec::new();
        for (name, spec) in spec.fields.unwrap_or_default().0 {
            fields.push(self.field(name, spec)?);
        }
        let text = parse_template(self.out, &spec.text, &|word| {
            fields.iter().position(|f: &Field| f.name == word).map(crate::model::Token::Field)
        });
        let doc = spec.doc.unwrap_or_default();
        Some(Alternative { name: name.value, doc, span: name.span, mask, value, when, fields, text })
    }

    fn field(&mut self, name: Spanned<String>, spec: FieldSpec) -> Option<Field> {
        let bits = self.bits(&spec.bits)?;
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
            let names = self.isa.constants.iter().map(|c| c.name.as_str());
            Type::Constant(Resolver::find(self.out, "table of constants", table, names)?)
        } else {
            number_type(spec.number.unwrap_or(Notation::Decimal))
        };
        Some(Field { name: name.value, bits, ty, span: name.span })
    }

    pub(crate) fn one_of(&mut self, span: Span, what: &str, keys: &[&str]) {
        let message = format!("{what} needs exactly one of {}", crate::suggest::one_of(keys.iter().copied()));
        self.out.push(Diagnostic::error("E0042", span, message));
    }

    pub(crate) fn apply_limits(&mut self) {
        let isa = &mut self.isa;
        for form in &mut isa.forms {
            form.limits = isa.limits.iter().map(|l| match &l.except {
                Some((units, at_most)) if units.contains(&form.unit) => *at_most,
                _ => l.at_most,
            }).collect();
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
