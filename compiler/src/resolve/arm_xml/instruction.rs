//! An instruction: constants, modifiers, and fields that remain.

use isaforge_core::bits::ones;

use super::document::{Document, NONE, only, required, unknown_element};
use super::members::{Holds, Member, Members};
use super::tied::{Tied, tied};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{Bits, Fixed, Form, Modifier, Type, Value};
use crate::resolve::resolver::Resolver;
use crate::source::{Span, Spanned};
use crate::suggest::did_you_mean;
use crate::xml::Element;

/// The field that the schema finds by name: the page of special values that sources refer to.
const PAGE: &str = "fau_page_index";

/// An instruction under construction.
pub(super) struct Build<'a> {
    pub document: &'a Document,
    pub members: Members,
    pub tied: Vec<Tied>,
    /// The fields in the syntax: position of the element, member, and place of the name.
    pub shown: Vec<(usize, usize, Span)>,
    /// Members that are represented in the form.
    pub used: Vec<bool>,
    /// Groups of dependent fields that already have a modifier.
    done: Vec<usize>,
    pub form: Form,
}

impl Build<'_> {
    /// Finds a member by name; reports an unknown name.
    pub(super) fn member(&self, name: &Spanned<String>, out: &mut Diagnostics) -> Option<usize> {
        let found = self.members.find(&name.value);
        if found.is_none() {
            let message = format!("`{}` has no field called `{}`", self.form.name, name.value);
            let mut error = Diagnostic::error("E0101", name.span, message);
            if let Some(near) = did_you_mean(&name.value, self.members.list.iter().map(|m| m.name.as_str())) {
                error = error.help(format!("did you mean `{near}`?"));
            }
            out.push(error);
        }
        found
    }

    pub(super) fn get(&self, member: usize) -> &Member {
        &self.members.list[member]
    }

    /// The group of dependent fields that a member belongs to.
    pub(super) fn group(&self, member: usize) -> Option<usize> {
        self.tied.iter().position(|t| t.members.contains(&member))
    }

    /// The members of a group that the syntax contains.
    pub(super) fn shown_of(&self, group: usize) -> Vec<(usize, usize, Span)> {
        self.shown.iter().copied().filter(|(_, m, _)| self.tied[group].members.contains(m)).collect()
    }

    fn use_group(&mut self, group: usize) {
        for m in &self.tied[group].members {
            self.used[*m] = true;
        }
    }
}

impl Resolver<'_> {
    pub(super) fn arm_instruction(&mut self, document: &Document, element: &Element) -> Option<()> {
        let before = self.out.failures();
        let known = ["name", "variant", "alias", "alias_variant", "exec_unit", "exec_time", "since", "until"];
        only(element, &known, &document.spec, self.out);
        let name = required(element, "name", self.out)?;
        let members = Members::read(document, element, self.isa.word_bits, self.out);
        let mut syntaxes = element.children.iter().filter(|c| c.name.value == "syntax");
        let (syntax, more) = (syntaxes.next(), syntaxes.next());
        let Some(syntax) = syntax.filter(|_| more.is_none()) else {
            let error = Diagnostic::error("E0051", element.span, format!("`{}` needs one `<syntax>`", name.value));
            self.out.push(error);
            return None;
        };
        let tied = tied(&members, self.out)?;
        if self.out.failures() > before {
            return None;
        }
        let used = members.list.iter().map(|m| m.exact.is_some()).collect();
        let form = self.arm_form(element, name);
        let mut build = Build { document, members, tied, shown: Vec::new(), used, done: Vec::new(), form };
        self.arm_constants_of(&mut build);
        self.arm_shown(&mut build, syntax);
        for (place, child) in syntax.children.iter().enumerate() {
            match child.name.as_str() {
                "name" => {
                    only(child, &[], &document.spec, self.out);
                    let modifiers = self.arm_modifiers(&mut build, place, child);
                    build.form.modifiers.extend(modifiers);
                }
                _ => drop(self.arm_operand(&mut build, place, child)),
            }
        }
        self.arm_account(&mut build);
        if self.out.failures() == before {
            self.finish(build.form, None);
        }
        Some(())
    }

    fn arm_form(&self, element: &Element, name: &Spanned<String>) -> Form {
        let text = |key: &str| element.attribute(key).map(|a| a.value.as_str());
        let full = |name: &str, variant: Option<&str>| variant.map_or(name.to_owned(), |v| format!("{name}.{v}"));
        let unit = text("exec_unit").unwrap_or_default();
        // The schema has no descriptions; its facts serve as a title.
        let mut title = if unit.is_empty() { "instruction".to_owned() } else { format!("{unit} instruction") };
        if let Some(time) = text("exec_time") {
            title.push_str(&format!(", {time} cycles"));
        }
        if let Some(alias) = text("alias") {
            title.push_str(&format!("; a special case of `{}`", full(alias, text("alias_variant"))));
        }
        Form {
            name: full(&name.value, text("variant")),
            title,
            doc: String::new(),
            unit: unit.to_owned(),
            span: name.span,
            source: self.place(name.span),
            provenance: self.default_provenance(),
            note: String::new(),
            fixed: Vec::new(),
            ignored: 0,
            syntax_span: name.span,
            modifiers: Vec::new(),
            operands: Vec::new(),
            syntax: Vec::new(),
            limits: Vec::new(),
        }
    }

    /// Adds constant bits: those of the pattern, reserved ones, and results of expressions that are constant.
    fn arm_constants_of(&mut self, build: &mut Build<'_>) {
        build.form.fixed.append(&mut build.members.zero);
        build.form.ignored = build.members.ignored;
        for member in &build.members.list {
            if let (Some(value), Some((at, width))) = (member.exact, member.place) {
                let mask = ones(u32::from(width)) << at;
                build.form.fixed.push(Fixed {
                    mask,
                    value: value << at,
                    matches: true,
                    span: member.span,
                    declared: None,
                });
            }
        }
        for group in &build.tied {
            let [only] = &group.rows[..] else { continue };
            let mut rest = only.bits;
            for m in &group.stored {
                let member = &build.members.list[*m];
                let Some((at, width)) = member.place else { continue };
                let mask = ones(u32::from(width));
                let value = (rest & mask) << at;
                build.form.fixed.push(Fixed {
                    mask: mask << at,
                    value,
                    matches: false,
                    span: member.span,
                    declared: None,
                });
                rest >>= width;
            }
            group.members.iter().for_each(|m| build.used[*m] = true);
        }
    }

    /// Collects the fields in the syntax.
    fn arm_shown(&mut self, build: &mut Build<'_>, syntax: &Element) {
        for (place, child) in syntax.children.iter().enumerate() {
            let own = child.attribute("name").filter(|_| child.name.value != "staging");
            let modifiers =
                child.children.iter().filter(|c| c.name.value == "modifier").filter_map(|c| c.attribute("name"));
            for name in own.into_iter().chain(modifiers) {
                if let Some(member) = build.members.find(&name.value) {
                    build.shown.push((place, member, name.span));
                }
            }
        }
    }

    /// The modifiers of the instruction's name, or of an operand.
    pub(super) fn arm_modifiers(&mut self, build: &mut Build<'_>, place: usize, element: &Element) -> Vec<Modifier> {
        let mut modifiers = Vec::new();
        for child in &element.children {
            if child.name.value != "modifier" {
                unknown_element(child, &format!("`<{}>`", element.name.value), &["modifier"], self.out);
                continue;
            }
            only(child, &["name"], &build.document.spec, self.out);
            let Some(name) = required(child, "name", self.out) else { continue };
            let Some(member) = build.member(name, self.out) else { continue };
            modifiers.extend(self.arm_modifier(build, place, member, name.span));
        }
        modifiers
    }

    fn arm_modifier(&mut self, build: &mut Build<'_>, place: usize, index: usize, span: Span) -> Option<Modifier> {
        build.used[index] = true;
        let member = build.get(index);
        let Holds::Enum(from) = member.holds.clone() else {
            let message = format!("`{}` is not a modifier: it has no words", member.name.value);
            self.out.push(Diagnostic::error("E0080", span, message).secondary(member.span, "its type is not an enum"));
            return None;
        };
        let modifier = |name: &str, bits: Bits, e: usize, default: Option<u64>| Modifier {
            name: name.to_owned(),
            doc: String::new(),
            bits,
            ty: Type::Enum(e),
            default,
            prints: name.to_owned(),
            span,
            declared: None,
        };
        let name = member.name.value.clone();
        // A word that is always printed takes no bits; its constant bits are added elsewhere.
        if let Some(exact) = member.exact {
            let word = from.named(exact).map(|v| v.name.clone())?;
            if word.value == NONE {
                return None;
            }
            let value = Value {
                name: word.value.clone(),
                text: word.value.clone(),
                also: Vec::new(),
                bits: 0,
                doc: String::new(),
                span: word.span,
            };
            let e = self.arm_plain_enum(&format!("always {}", word.value), vec![value], None, word.span);
            return Some(modifier(&name, Bits::default(), e, None));
        }
        if let Some(group) = build.group(index) {
            return self
                .arm_tied_modifier(build, place, group, span)
                .map(|(bits, e, default)| modifier(&name, bits, e, default));
        }
        let allowed: Vec<u64> = from.values.iter().map(|v| v.value).filter(|v| member.admits(*v)).collect();
        let default = member.unwritten().filter(|d| allowed.contains(d));
        let bits = member.bits();
        let e = self.arm_enum(&from, Some(&allowed));
        Some(modifier(&name, bits, e, default))
    }

    /// The single modifier for a group of dependent fields, when one of them occurs first.
    fn arm_tied_modifier(
        &mut self,
        build: &mut Build<'_>,
        place: usize,
        group: usize,
        span: Span,
    ) -> Option<(Bits, usize, Option<u64>)> {
        let shown = build.shown_of(group);
        if let Some((.., elsewhere)) = shown.iter().find(|(p, ..)| *p != place) {
            let message = "fields that depend on each other are shown in different places";
            let error = Diagnostic::error("E0082", span, message).secondary(*elsewhere, "and here");
            self.out.push(error.note(format!("in the instruction `{}`", build.form.name)));
            return None;
        }
        if build.done.contains(&group) {
            return None;
        }
        build.done.push(group);
        build.use_group(group);
        let tied = &build.tied[group];
        if tied.rows.len() == 1 {
            // The fields are constant after all, so their words never vary.
            return None;
        }
        let (mut values, mut default): (Vec<Value>, Option<u64>) = (Vec::new(), None);
        for row in &tied.rows {
            let words = |all: bool| -> Vec<&str> {
                let word = |(_, m, _): &(usize, usize, Span)| {
                    let (member, value) = (build.get(*m), row.value(*m)?);
                    member.word(value).filter(|_| all || member.unwritten() != Some(value))
                };
                shown.iter().filter_map(word).collect()
            };
            let written = words(false);
            if written.is_empty() {
                default.get_or_insert(row.bits);
            }
            let text = if written.is_empty() {
                words(true).first().copied().unwrap_or(NONE).to_owned()
            } else {
                written.join(".")
            };
            if values.iter().any(|v| v.text == text) {
                let names: Vec<String> =
                    tied.members.iter().map(|m| format!("`{}`", build.get(*m).name.value)).collect();
                let message = format!("`.{text}` can stand for two values of {}", names.join(", "));
                self.out.push(
                    Diagnostic::error("E0082", span, message).note(format!("in the instruction `{}`", build.form.name)),
                );
                return None;
            }
            values.push(Value { name: text.clone(), text, also: Vec::new(), bits: row.bits, doc: String::new(), span });
        }
        let names: Vec<&str> = shown.iter().map(|(_, m, _)| build.get(*m).name.as_str()).collect();
        let (bits, name) = (tied.bits(&build.members), names.join(" and "));
        let e = self.arm_plain_enum(&name, values, default, span);
        Some((bits, e, default))
    }

    /// The index of an enum with these values: an existing one, or a new one under a free name.
    fn arm_plain_enum(&mut self, name: &str, values: Vec<Value>, default: Option<u64>, span: Span) -> usize {
        let key = |values: &[Value]| values.iter().map(|v| (v.bits, v.text.clone())).collect::<Vec<_>>();
        let wanted = key(&values);
        let mut free = name.to_owned();
        for n in 2.. {
            match self.isa.enums.iter().position(|e| e.name == free) {
                Some(known)
                    if key(&self.isa.enums[known].values) == wanted && self.isa.enums[known].default == default =>
                {
                    return known;
                }
                Some(_) => free = format!("{name} {n}"),
                None => break,
            }
        }
        self.add_plain_enum(free, span, values, default)
    }

    /// Reports fields that are not represented in the form.
    fn arm_account(&mut self, build: &mut Build<'_>) {
        for (i, member) in build.members.list.iter().enumerate().filter(|(i, _)| !build.used[*i]) {
            if member.name.value == PAGE && build.group(i).is_none() {
                let Some(page) = &build.document.spec.page else {
                    let message = format!("the shared field for `{PAGE}` is not given");
                    self.out.push(Diagnostic::error("E0084", member.span, message).help("name it under `arm: page:`"));
                    continue;
                };
                let names = self.isa.shared.iter().map(|s| (s.name.as_str(), Some(s.span)));
                let Some(shared) = Resolver::find(self.out, "shared field", page, names) else { continue };
                let shared = &self.isa.shared[shared];
                if shared.bits != member.bits() {
                    let message = format!("`{PAGE}` does not lie where `{}` does", shared.name);
                    self.out.push(
                        Diagnostic::error("E0084", member.span, message).secondary(shared.span, "the shared field"),
                    );
                }
                continue;
            }
            let message = format!("the text of `{}` does not show `{}`", build.form.name, member.name.value);
            let error = Diagnostic::error("E0080", member.span, message).label("it is neither constant nor written");
            self.out.push(error.help("add it to the `<syntax>`, or give it an `exact` value"));
        }
    }
}
