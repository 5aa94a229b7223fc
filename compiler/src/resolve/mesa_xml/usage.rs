//! Entries of an `xml` section that are invalid or unused.

use crate::diagnostic::Diagnostic;
use crate::resolve::resolver::Resolver;
use crate::source::{Span, Spanned};
use crate::spec::{Erratum, Opcode2Rule, XmlSpec};
use crate::suggest::did_you_mean;
use crate::xml::Element;

impl Resolver<'_> {
    /// Checks the numbers of a section, whether or not an instruction uses them.
    pub(super) fn xml_section(&mut self, spec: &XmlSpec) {
        let last = u64::from(self.isa.word_bits).saturating_sub(1);
        for rule in spec.opcode2.iter().flatten() {
            self.in_range("the mask of a secondary opcode", &rule.mask, 1, u64::MAX);
            self.in_range("the lowest bit of a field", &rule.at, 0, last);
            let reach = u64::from(rule.at.value) + u64::from(64 - rule.mask.value.leading_zeros());
            if u64::from(rule.at.value) <= last && reach > last + 1 {
                let message =
                    format!("the mask {:#x} reaches bit {}, but the last bit is {last}", rule.mask.value, reach - 1);
                self.out
                    .push(Diagnostic::error("E0104", rule.mask.span, message).secondary(rule.at.span, "from this bit"));
            }
        }
        let staging = &spec.staging;
        let fields = spec.sources.attributes.iter().flat_map(|(_, fields)| fields.iter());
        let places = spec.sources.at.iter().chain([&spec.destination.at, &staging.read, &staging.write]);
        for at in places.chain(fields.clone().flat_map(|field| field.at.iter())) {
            self.in_range("the lowest bit of a field", at, 0, last);
        }
        if let Some(align) = &staging.align {
            self.in_range("an alignment", align, 1, 255);
        }
    }

    /// Warns of unused entries of a section, and reports rules that never apply because earlier ones take precedence.
    pub(super) fn xml_unused(&mut self, spec: &XmlSpec, root: &Element) {
        let applied = self.applied.clone();
        let mut elements: Vec<&str> = Vec::new();
        names_inside(root, &mut elements);
        for (index, rule) in spec.opcode2.iter().flatten().enumerate().filter(|(_, rule)| !applied.contains(&rule.span))
        {
            if let Some(other) = spec.opcode2.iter().flatten().take(index).find(|other| is_implied(other, rule)) {
                let message = "this rule is unreachable: an earlier one applies wherever it does";
                let error =
                    Diagnostic::error("E0118", rule.span, message).secondary(other.span, "this one comes first");
                self.out.push(error.help("move it before that one, or remove it"));
            } else {
                self.unused_rule(rule, &elements, spec);
            }
        }
        // After a mistake in an instruction, other entries may only seem to be unused.
        if self.out.has_errors() {
            return;
        }
        for rule in spec.sizes.iter().flatten().filter(|rule| !applied.contains(&rule.span)) {
            let mut earlier = spec.sizes.iter().flatten().take_while(|other| other.span != rule.span);
            let suffix = rule.suffix.as_deref().unwrap_or("");
            if let Some(shadow) = earlier.find(|other| other.covers(rule)) {
                let message = format!("no name is left for `{suffix}`: an earlier suffix takes them all");
                let error = Diagnostic::error("E0118", rule.span, message).secondary(shadow.span, "this one");
                self.out.push(error.help("put the longer suffix first"));
                continue;
            }
            let starts = rule.names.iter().flatten().map(|name| format!("starts with `{}`", name.value));
            let ends = rule.suffix.iter().map(|suffix| format!("ends with `{suffix}`"));
            let what: Vec<String> = starts.chain(ends).collect();
            self.never_applies(rule.span, &format!("no instruction's name {}", what.join(" or ")), None);
        }
        for (name, _) in spec.modifiers.iter().filter(|(name, _)| !applied.contains(&name.span)) {
            let near = did_you_mean(name, elements.iter().copied());
            self.never_applies(name.span, &format!("no instruction has `<{}/>`", name.value), near);
        }
        for (name, _) in spec.sources.attributes.iter() {
            if !applied.contains(&name.span) {
                self.never_applies(name.span, &format!("no source has the attribute `{}`", name.value), None);
            }
        }
        for (name, _) in spec.immediates.prefixes.iter().flat_map(|p| p.iter()) {
            if !applied.contains(&name.span) {
                self.never_applies(name.span, &format!("no immediate is called `{}`", name.value), None);
            }
        }
        for target in spec.immediates.targets.iter().flatten().filter(|target| !applied.contains(&target.span)) {
            let names = self.isa.forms.iter().map(|form| form.name.as_str());
            let near = did_you_mean(&target.instruction, names).map(str::to_owned);
            let near = near.as_deref().filter(|near| *near != target.instruction.value);
            let message = format!("`{}` has no immediate `{}`", target.instruction.value, target.immediate.value);
            self.never_applies(target.span, &message, near);
        }
    }

    /// An unused rule may be meant for another file, but the names in it must exist.
    fn unused_rule(&mut self, rule: &Opcode2Rule, elements: &[&str], spec: &XmlSpec) {
        if let Some(modifier) = &rule.modifier
            && !elements.contains(&modifier.as_str())
        {
            let near = did_you_mean(modifier, elements.iter().copied());
            self.never_applies(modifier.span, &format!("no instruction has a modifier `{}`", modifier.value), near);
        }
        for name in rule.names.iter().flatten() {
            if !self.names.iter().any(|known| known.starts_with(name.as_str())) {
                self.never_applies(name.span, &format!("no instruction's name starts with `{}`", name.value), None);
            }
        }
        for attribute in rule.second.iter().flatten() {
            let known = spec.sources.attributes.iter().map(|(name, _)| name.as_str());
            if !known.clone().any(|name| name == attribute.as_str()) {
                let near = did_you_mean(attribute, known);
                self.never_applies(attribute.span, &format!("no source has the attribute `{}`", attribute.value), near);
            }
        }
        if let Some(opcode) = &rule.opcode
            && !self.opcodes.contains(&opcode.value)
        {
            self.never_applies(opcode.span, &format!("no instruction has the opcode {:#x}", opcode.value), None);
        }
    }

    /// Warns of an entry without effect. Entries of a base do not concern the specification that builds on it.
    pub(crate) fn never_applies(&mut self, span: Span, message: &str, near: Option<&str>) {
        if self.bases.contains(&span.file) {
            return;
        }
        let warning = Diagnostic::warning("W0206", span, message);
        self.out.push(match near {
            Some(near) => warning.help(format!("did you mean `{near}`?")),
            None => warning,
        });
    }

    /// Warns of corrections without effect, and of unknown instructions in them.
    pub(super) fn unused_errata(&mut self, errata: &[Erratum], matched: &[usize]) {
        if self.out.has_errors() {
            return;
        }
        for (erratum, matched) in errata.iter().zip(matched) {
            if *matched == 0 {
                let warning = Diagnostic::warning("W0201", erratum.span, "this correction has no effect");
                self.out.push(warning.note("no instruction of the file has the value under `was`"));
                continue;
            }
            for name in &erratum.instructions {
                let names = self.isa.forms.iter().map(|form| form.name.as_str());
                if self.bases.contains(&name.span.file) || names.clone().any(|form| form == name.value) {
                    continue;
                }
                let warning = Diagnostic::warning(
                    "W0201",
                    name.span,
                    format!("there is no instruction `{}` to correct", name.value),
                );
                self.out.push(match did_you_mean(name, names) {
                    Some(near) => warning.help(format!("did you mean `{near}`?")),
                    None => warning,
                });
            }
        }
    }
}

/// Whether a rule applies to everything that another rule applies to.
fn is_implied(rule: &Opcode2Rule, other: &Opcode2Rule) -> bool {
    let starts = |name: &Spanned<String>| rule.names.iter().flatten().any(|start| name.starts_with(start.as_str()));
    let among = |name: &Spanned<String>| rule.second.iter().flatten().any(|known| known.value == name.value);
    rule.modifier.as_ref().is_none_or(|own| other.modifier.as_ref().is_some_and(|m| m.value == own.value))
        && (rule.names.is_none() || other.names.as_ref().is_some_and(|names| names.iter().all(starts)))
        && rule.opcode.as_ref().is_none_or(|own| other.opcode.as_ref().is_some_and(|o| o.value == own.value))
        && rule
            .sources
            .as_ref()
            .is_none_or(|own| other.sources.as_ref().is_some_and(|s| s.iter().all(|n| own.contains(n))))
        && (rule.second.is_none() || other.second.as_ref().is_some_and(|names| names.iter().all(among)))
}

/// The names of all elements within an element, and of the modifiers that `<mod>` declares.
fn names_inside<'x>(element: &'x Element, names: &mut Vec<&'x str>) {
    for child in &element.children {
        names.push(child.name.as_str());
        if let ("mod" | "va_mod", Some(name)) = (child.name.as_str(), child.attribute("name")) {
            names.push(&name.value);
        }
        names_inside(child, names);
    }
}
