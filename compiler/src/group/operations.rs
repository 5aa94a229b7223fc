//! Resolves operations, operands and names of registers.

use isaforge_core::group::table::Type;

use crate::diagnostic::Diagnostic;
use crate::group::model::{Groups, Operand, OperandKind, Operation, RegisterName, RegisterPlace, Token};
use crate::group::resolve::{fields, slot_names};
use crate::group::spec::{GroupSpec, OperationSpec, WireSpec};
use crate::resolve::resolver::Resolver;
use crate::source::Spanned;

impl Resolver<'_> {
    /// Resolves everything needed for text.
    pub(super) fn operations(&mut self, spec: &GroupSpec, groups: &mut Groups) {
        let operands = self.all(|f| &f.operands);
        // Operands may refer to later ones.
        let names: Vec<Spanned<String>> = operands.iter().map(|(name, _)| name.clone()).collect();
        for (name, operand) in operands {
            if let Some(kind) = self.operand_kind(&operand, &names, groups) {
                groups.operands.push(Operand {
                    name: name.value,
                    span: name.span,
                    doc: operand.doc.unwrap_or_default(),
                    kind,
                });
            }
        }
        if groups.operands.len() != names.len() {
            return;
        }
        for (slot, (_, given)) in spec.slots.iter().enumerate() {
            for (role, operand) in given.roles.iter().flat_map(|r| r.iter()) {
                let found = Resolver::find(
                    self.out,
                    "operand",
                    operand,
                    names.iter().map(|name| (name.as_str(), Some(name.span))),
                );
                if let (Some(found), Some(slot)) = (found, groups.slots.get_mut(slot)) {
                    slot.roles.push((role.value.clone(), found));
                }
            }
        }
        let slots = groups.slots.clone();
        for name in spec.order.iter().flatten() {
            groups.order.extend(Resolver::find(self.out, "slot", name, slot_names(&slots)));
        }
        let rest: Vec<usize> = (0..groups.slots.len()).filter(|i| !groups.order.contains(i)).collect();
        groups.order.extend(rest);
        self.register_names(groups);
        for (name, operation) in self.all(|f| &f.operations) {
            if let Some(operation) = self.operation(name, operation, groups) {
                groups.operations.push(operation);
            }
        }
    }

    /// Binds `slot.field`.
    fn slot_field(&mut self, name: &Spanned<String>, groups: &Groups) -> Option<(usize, usize)> {
        let Some((slot, field)) = name.value.split_once('.') else {
            let error =
                Diagnostic::error("E0063", name.span, format!("`{}` does not name a field of a slot", name.value));
            self.out.push(error.help("write `slot.field`"));
            return None;
        };
        let slot = Spanned::new(slot.to_owned(), name.span);
        let slot = Resolver::find(self.out, "slot", &slot, slot_names(&groups.slots))?;
        let field = Spanned::new(field.to_owned(), name.span);
        Some((slot, self.field_of(slot, &field, groups)?))
    }

    fn field_of(&mut self, slot: usize, field: &Spanned<String>, groups: &Groups) -> Option<usize> {
        let choice = &groups.choices[groups.slots[slot].choice];
        Resolver::find(self.out, "field of this slot", field, fields(choice))
    }

    fn operand_kind(&mut self, spec: &WireSpec, names: &[Spanned<String>], groups: &Groups) -> Option<OperandKind> {
        let field = spec.select.as_ref().or(spec.follow.as_ref());
        match (&spec.wire, &spec.register, field) {
            (Some(wire), None, None) => Some(OperandKind::Wire(wire.clone())),
            (None, Some(places), None) => {
                let mut found = Vec::new();
                for place in places.iter() {
                    let slot = Resolver::find(self.out, "slot", &place.slot, slot_names(&groups.slots))?;
                    let bank = self.field_of(slot, &place.bank, groups)?;
                    let number = self.field_of(slot, &place.number, groups)?;
                    let count = match &place.count {
                        Some(count) => {
                            Some((self.field_of(slot, count, groups)?, i64::from(place.at_least.unwrap_or(1))))
                        }
                        None => None,
                    };
                    found.push(RegisterPlace { slot, bank, number, count });
                }
                Some(OperandKind::Register(found))
            }
            (None, None, Some(field)) => {
                let (slot, field) = self.slot_field(field, groups)?;
                let choice = groups.choices[groups.slots[slot].choice].fields[field].clone();
                let mut options = Vec::new();
                for (value, operand) in spec.from.iter().flat_map(|f| f.iter()) {
                    let operand = Resolver::find(
                        self.out,
                        "operand",
                        operand,
                        names.iter().map(|name| (name.as_str(), Some(name.span))),
                    )?;
                    options.push((self.value_of(&choice, value)?, operand));
                }
                Some(OperandKind::Select(slot, field, options, spec.select.is_some()))
            }
            _ => {
                self.one_of(spec.span, "an operand", &["wire", "register", "select", "follow"]);
                None
            }
        }
    }

    fn register_names(&mut self, groups: &mut Groups) {
        let names: Vec<_> = self.files.iter().filter_map(|(_, f)| f.registers.clone()).flatten().collect();
        for spec in names {
            let Some(banks) = self.enum_index(&spec.r_enum) else { continue };
            let known = self.isa.enums[banks].values.iter().map(|v| (v.name.as_str(), Some(v.span)));
            let Some(bank) = Resolver::find(self.out, "bank", &spec.bank, known) else { continue };
            let Some((before, after)) = spec.prints.value.split_once("{n}") else {
                let message = format!("`{}` has no place for the number", spec.prints.value);
                self.out.push(Diagnostic::error("E0040", spec.prints.span, message).help("write `{n}` for it"));
                continue;
            };
            let from = i64::from(spec.from.unwrap_or(0));
            let operands = || groups.operands.iter().map(|o| (o.name.as_str(), Some(o.span)));
            let given = spec.through.iter().flatten();
            let through = given.filter_map(|name| Resolver::find(self.out, "operand", name, operands())).collect();
            groups.registers.push(RegisterName {
                bank: self.isa.enums[banks].values[bank].bits as i64,
                range: (from, spec.to.map_or(i64::from(u32::MAX), i64::from)),
                first: spec.first.map_or(from, i64::from),
                low: (spec.low.unwrap_or(0).min(16), i64::from(spec.is.unwrap_or(0))),
                through,
                prints: (before.to_owned(), after.to_owned()),
                at: spec.at.map(|register| (register, spec.index)),
            });
        }
    }

    fn operation(&mut self, name: Spanned<String>, spec: OperationSpec, groups: &Groups) -> Option<Operation> {
        let slot_names = slot_names(&groups.slots);
        let mut slots = Vec::new();
        for slot in spec.slots.iter() {
            slots.push(Resolver::find(self.out, "slot", slot, slot_names.clone())?);
        }
        let no_encoding = spec.no_encoding.unwrap_or_default();
        let mut is = Vec::new();
        for (field, words) in spec.is.iter().flat_map(|i| i.iter()) {
            let (slot, index) = self.token_field(field, &slots, groups)?;
            let at = slot.or(slots.first().copied())?;
            let described = groups.choices[groups.slots[at].choice].fields[index].clone();
            let values: Option<Vec<i64>> = words.iter().map(|w| self.value_of(&described, w)).collect();
            is.push((slot, index, values?));
        }
        let unless = match &spec.unless {
            Some(operand) => Some(Resolver::find(
                self.out,
                "operand",
                operand,
                groups.operands.iter().map(|o| (o.name.as_str(), Some(o.span))),
            )?),
            None => None,
        };
        let known = || groups.operands.iter().map(|o| (o.name.as_str(), Some(o.span)));
        let given = spec.writes.iter().flat_map(|w| w.iter());
        let writes = given.filter_map(|name| Resolver::find(self.out, "operand", name, known())).collect();
        let mut syntax = Vec::new();
        for template in std::iter::once(&spec.syntax).chain(spec.also.iter().flat_map(|a| a.iter())) {
            syntax.push(self.template(template, &slots, groups)?);
        }
        Some(Operation {
            source: self.place(name.span),
            name: name.value,
            doc: spec.doc,
            span: name.span,
            slots,
            part: spec.part.unwrap_or_default(),
            is,
            unless,
            remark: spec.remark.unwrap_or(false),
            writes,
            syntax,
            no_encoding,
            provenance: spec.provenance.unwrap_or_else(|| self.default_provenance()),
            note: spec.note.unwrap_or_default(),
        })
    }

    /// Binds a field of the operation's own slot, or `slot.field`.
    fn token_field(
        &mut self,
        name: &Spanned<String>,
        slots: &[usize],
        groups: &Groups,
    ) -> Option<(Option<usize>, usize)> {
        if name.value.contains('.') {
            return self.slot_field(name, groups).map(|(slot, field)| (Some(slot), field));
        }
        Some((None, self.field_of(*slots.first()?, name, groups)?))
    }

    fn template(&mut self, text: &Spanned<String>, slots: &[usize], groups: &Groups) -> Option<Vec<Token>> {
        let mut tokens = Vec::new();
        let mut rest = text.value.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            if !before.is_empty() {
                tokens.push(Token::Text(before.to_owned()));
            }
            let Some((inner, after)) = after.split_once('}') else {
                self.out.push(Diagnostic::error("E0063", text.span, "a brace is not closed"));
                return None;
            };
            tokens.push(self.token(inner, text, slots, groups)?);
            rest = after;
        }
        if !rest.is_empty() {
            tokens.push(Token::Text(rest.to_owned()));
        }
        Some(tokens)
    }

    fn token(&mut self, inner: &str, text: &Spanned<String>, slots: &[usize], groups: &Groups) -> Option<Token> {
        let here = |name: &str| Spanned::new(name.to_owned(), text.span);
        if let Some(operand) = groups.operands.iter().position(|o| o.name == inner) {
            return Some(Token::Operand(operand));
        }
        if slots.iter().all(|s| groups.slots[*s].roles.iter().any(|(role, _)| role == inner)) {
            return Some(Token::Role(inner.to_owned()));
        }
        if let Some((name, words)) = inner.split_once("?:") {
            let (slot, field) = self.token_field(&here(name), slots, groups)?;
            return Some(Token::Optional(slot, field, words.to_owned()));
        }
        let list = |words: &str| words.split('|').map(str::to_owned).collect();
        if let Some((name, words)) = inner.split_once(':') {
            let (slot, field) = self.token_field(&here(name), slots, groups)?;
            return Some(Token::Words(slot, field, list(words)));
        }
        if let Some((name, words)) = inner.split_once('#') {
            let (slot, field) = self.token_field(&here(name), slots, groups)?;
            return Some(Token::Bits(slot, field, list(words)));
        }
        if let Some(name) = inner.strip_prefix('.') {
            let (name, optional) = name.strip_suffix('?').map_or((name, false), |n| (n, true));
            let (slot, field) = self.token_field(&here(name), slots, groups)?;
            return Some(Token::Suffix(slot, field, optional));
        }
        let (name, shown) = inner.split_once('=').unwrap_or((inner, inner));
        let (slot, field) = self.token_field(&here(name), slots, groups)?;
        let at = slot.or(slots.first().copied())?;
        let flag = groups.choices[groups.slots[at].choice].fields[field].ty == Type::Flag;
        Some(if flag { Token::Flag(slot, field, format!(".{shown}")) } else { Token::Value(slot, field) })
    }
}
