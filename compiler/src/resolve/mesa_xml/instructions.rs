//! Instructions: headers, opcodes, modifiers, corrections.

use std::collections::HashMap;

use isaforge_core::bits::ones;

use super::{Instruction, PARTS, encoded, is_given, place_value, safe_name};
use crate::diagnostic::{Diagnostic, count};
use crate::model::{Bits, Enum, Fixed, Form, Modifier, Part, Type, Value};
use crate::resolve::resolver::Resolver;
use crate::source::{Span, Spanned};
use crate::spec::{Erratum, XmlSpec};
use crate::suggest::did_you_mean;
use crate::xml::Element;

/// Modifiers at this bit or above are placeholders without bits.
const PLACEHOLDERS: u64 = 128;

/// Attributes of `<ins>` and `<group>`.
const HEADER: [&str; 7] = ["name", "title", "opcode", "opcode2", "unit", "dests", "srcs"];

impl Resolver<'_> {
    pub(crate) fn xml_instructions(&mut self) {
        let errata: Vec<Erratum> = self.files.iter().filter_map(|(_, f)| f.errata.clone()).flatten().collect();
        let mut matched = vec![0; errata.len()];
        for (spec, root) in std::mem::take(&mut self.xml_roots) {
            let safe: HashMap<String, usize> =
                self.isa.enums.iter().enumerate().map(|(i, e)| (safe_name(&e.name), i)).collect();
            self.xml_section(&spec);
            for element in &root.children {
                let instructions = match element.name.as_str() {
                    "ins" => vec![(element, element)],
                    "group" => {
                        element.children.iter().filter(|c| c.name.as_str() == "ins").map(|own| (own, element)).collect()
                    }
                    _ => continue,
                };
                for (own, body) in instructions {
                    if is_given(own.attribute("pseudo")) || is_given(body.attribute("pseudo")) {
                        continue;
                    }
                    let (before, forms) = (self.out.failures(), self.isa.forms.len());
                    if let Some(mut instruction) = self.xml_header(&spec, own, body) {
                        self.correct(&mut instruction, &errata, &mut matched);
                        self.xml_instruction(&spec, &safe, instruction);
                    }
                    if self.out.failures() > before {
                        self.isa.forms.truncate(forms);
                        own.attribute("name").iter().for_each(|name| self.out.mark_broken(&name.value));
                    }
                }
            }
            self.xml_too_wide(&spec);
            self.xml_unused(&spec, &root);
        }
        self.unused_errata(&errata, &matched);
    }

    fn xml_header<'x>(&mut self, spec: &XmlSpec, own: &'x Element, body: &'x Element) -> Option<Instruction<'x>> {
        let before = self.out.failures();
        let ignore = spec.ignore.clone().unwrap_or_default();
        self.xml_attributes(own, &HEADER, &ignore);
        if !std::ptr::eq(own, body) {
            self.xml_attributes(body, &HEADER, &ignore);
        }
        let name = self.xml_name(own)?;
        self.names.insert(name.value.clone());
        let last = own.children.last().map_or(own.span, |last| last.span);
        self.isa.places.add(name.span, Part::Whole, 0, own.span.to(last));
        let number = |r: &mut Self, key: &str| {
            let text = own.attribute(key).or(body.attribute(key))?;
            r.xml_number(text)
        };
        let opcode = number(self, "opcode");
        let opcode2 = number(self, "opcode2");
        self.opcodes.extend(opcode.as_ref().map(|opcode| opcode.value));
        let _ = (number(self, "dests"), number(self, "srcs"));
        let ops = self.xml_ops(spec, own, body);
        if opcode.is_none() && ops.is_empty() {
            if own.attribute("opcode").or(body.attribute("opcode")).is_none() && self.out.failures() == before {
                let message = format!("`{}` has no opcode", name.value);
                let error = Diagnostic::error("E0051", own.span, message);
                self.out.push(error.help("add `opcode=\"0x…\"`, or `<opcode><op val=… start=… mask=…/></opcode>`"));
            }
            return None;
        }
        let rule = spec.sizes.iter().flatten().find(|rule| rule.applies(&name.value));
        self.applied.extend(rule.map(|rule| rule.span));
        let size = rule.map_or(spec.size, |rule| rule.size);
        Some(Instruction { name, opcode, opcode2, ops, body, own, size, correction: None })
    }

    /// The constants in `<opcode><op val start mask/></opcode>` of an instruction and of its group: the bits under
    /// `mask`, from bit `start`, are `val`.
    fn xml_ops(&mut self, spec: &XmlSpec, own: &Element, body: &Element) -> Vec<Fixed> {
        let mut fixed: Vec<Fixed> = Vec::new();
        let bodies = if std::ptr::eq(own, body) { vec![own] } else { vec![own, body] };
        let lists = bodies.into_iter().flat_map(|e| &e.children).filter(|c| c.name.as_str() == "opcode");
        for op in lists.flat_map(|list| &list.children) {
            self.xml_attributes(op, &["val", "start", "mask"], &spec.ignore.clone().unwrap_or_default());
            let mut number = |key| self.xml_attribute(op, key).and_then(|t| self.xml_number(t)).map(|n| n.value);
            let (Some(value), Some(start), Some(mask)) = (number("val"), number("start"), number("mask")) else {
                continue;
            };
            let fits = start < u64::from(self.isa.word_bits) && mask <= ones(u32::from(self.isa.word_bits)) >> start;
            if value & !mask != 0 || !fits {
                let message = format!("{value:#x} under the mask {mask:#x} from bit {start} is not possible");
                self.out.push(Diagnostic::error("E0031", op.span, message));
                continue;
            }
            fixed.push(Fixed {
                mask: mask << start,
                value: value << start,
                matches: true,
                span: op.span,
                declared: None,
            });
        }
        fixed
    }

    /// Applies the errata that name the instruction.
    fn correct(&mut self, instruction: &mut Instruction<'_>, errata: &[Erratum], matched: &mut [usize]) {
        for (erratum, matched) in errata.iter().zip(matched) {
            if !erratum.instructions.iter().any(|n| n.value == instruction.name.value) {
                continue;
            }
            let target = match erratum.attribute.as_str() {
                "opcode" => &mut instruction.opcode,
                "opcode2" => &mut instruction.opcode2,
                other => {
                    let message = format!("`{other}` cannot be corrected");
                    self.out.push(
                        Diagnostic::error("E0054", erratum.attribute.span, message).help("write `opcode` or `opcode2`"),
                    );
                    continue;
                }
            };
            if let Some(target) = target.as_mut().filter(|t| t.value == erratum.was) {
                *matched += 1;
                target.value = erratum.is;
                instruction.correction = Some(erratum.clone());
            }
        }
    }

    fn xml_instruction(&mut self, spec: &XmlSpec, safe: &HashMap<String, usize>, instruction: Instruction<'_>) {
        let body = instruction.body;
        let doc = |e: &Element| e.children.iter().find(|c| c.name.as_str() == "desc").map(|d| d.text.value.clone());
        let mut form = Form {
            name: instruction.name.value.clone(),
            title: instruction
                .own
                .attribute("title")
                .or(body.attribute("title"))
                .map(|t| t.value.clone())
                .unwrap_or_default(),
            doc: doc(body).unwrap_or_default(),
            unit: instruction
                .own
                .attribute("unit")
                .or(body.attribute("unit"))
                .map(|u| u.value.clone())
                .unwrap_or_default(),
            span: instruction.name.span,
            source: self.place(instruction.name.span),
            provenance: instruction.correction.as_ref().map_or_else(|| self.default_provenance(), |c| c.provenance),
            note: instruction.correction.as_ref().map(|c| c.reason.clone()).unwrap_or_default(),
            fixed: Vec::new(),
            ignored: 0,
            modifiers: Vec::new(),
            operands: Vec::new(),
            syntax: Vec::new(),
            syntax_span: instruction.name.span,
            limits: Vec::new(),
        };
        let mut placeholders = Vec::new();
        let mut counts: HashMap<&str, Bits> = HashMap::new();
        for child in encoded(body) {
            let name = child.name.as_str();
            if name == "mod" || name == "va_mod" {
                self.xml_mod(spec, safe, (child, &instruction.ops), &mut form, &mut placeholders);
            } else if let Some((key, declared)) = spec.modifiers.iter().find(|(key, _)| key.value == name) {
                self.applied.insert(key.span);
                self.xml_attributes(child, &[], &spec.ignore.clone().unwrap_or_default());
                if counts.contains_key(name) {
                    continue;
                }
                if let Some(first) = form.modifiers.iter().find(|m| m.name == name) {
                    let message = format!("duplicate `<{name}/>` in `{}`", form.name);
                    let warning = Diagnostic::warning("W0210", child.span, message).label("again here; it counts once");
                    self.out.push(warning.secondary(first.span, "first here"));
                    continue;
                }
                let Some(modifier) = self.modifier(&child.name, declared) else { continue };
                match declared.implied {
                    Some(true) => drop(counts.insert(name, modifier.bits)),
                    _ => form.modifiers.push(modifier),
                }
            } else if !PARTS.contains(&name) {
                self.xml_unknown(spec, child);
            }
        }
        form.fixed.extend(self.xml_opcode(spec, &instruction, &form, &placeholders));
        self.xml_registers(spec, &instruction, &counts, &mut form);
        self.xml_sources(spec, &instruction, &mut form);
        self.xml_immediates(spec, &instruction, &mut form);
        self.finish(form, None);
    }

    /// Reports an element for which the section defines no position: each time if it is misspelt, else once, since the
    /// section may lack it.
    fn xml_unknown(&mut self, spec: &XmlSpec, child: &Element) {
        let name = child.name.as_str();
        if self.out.pass_over(name) {
            return;
        }
        let message = format!("`<{name}/>` has no position: `xml: modifiers:` does not define its bits");
        let mut error = Diagnostic::error("E0055", child.name.span, message);
        let known = spec.modifiers.iter().map(|(n, _)| n.as_str()).chain(PARTS);
        let near = did_you_mean(name, known);
        if let Some(near) = near {
            error = error.help(format!("did you mean `<{near}/>`?"));
        }
        if let (Some(first), Some(last)) = (spec.modifiers.first(), spec.modifiers.last()) {
            let (all, text) = (first.0.span.to(last.1.span), "the elements with a position");
            error = if near.is_some() { error.secondary(all, text) } else { error.rival(all, text) };
        }
        if near.is_none() {
            self.out.mark_broken(name);
        }
        self.out
            .push(error.help(format!("or add `{name}: {{ bits: … }}` under `xml: modifiers:` of the specification")));
    }

    /// `<mod name start size>`: a flag, an enum of the same name, or a placeholder beyond the word.
    fn xml_mod(
        &mut self,
        spec: &XmlSpec,
        safe: &HashMap<String, usize>,
        (child, ops): (&Element, &[Fixed]),
        form: &mut Form,
        placeholders: &mut Vec<String>,
    ) {
        self.xml_attributes(child, &["name", "start", "size", "implied"], &spec.ignore.clone().unwrap_or_default());
        let implied = self.xml_flag(child, "implied");
        let Some(name) = self.xml_name(child) else { return };
        let start = self.xml_attribute(child, "start").and_then(|t| self.xml_number(t));
        let size = self.xml_attribute(child, "size").and_then(|t| self.xml_number(t));
        let (Some(start), Some(size)) = (start, size) else { return };
        let word = u64::from(self.isa.word_bits);
        if start.value >= word && (implied || start.value == PLACEHOLDERS) {
            placeholders.push(name.value);
            return;
        }
        if size.value == 0 || start.value.saturating_add(size.value) > word {
            let message = format!("`{}` has bits outside the word", name.value);
            let error = Diagnostic::error("E0104", start.span.to(size.span), message)
                .label(format!("the last bit is {}", word - 1));
            self.out.push(error.help("a modifier without bits starts at 128"));
            return;
        }
        let ty = match size.value {
            1 => Type::Flag,
            _ => match safe.get(&safe_name(&name.value)) {
                Some(index) => {
                    self.out.note_use(self.isa.enums[*index].span);
                    Type::Enum(*index)
                }
                None if self.out.pass_over(&safe_name(&name.value)) => return,
                None => {
                    let message = format!("the modifier `{}` needs an enum of that name", name.value);
                    let mut error = Diagnostic::error("E0101", name.span, message);
                    if let Some(near) = did_you_mean(&name.value, safe.keys().map(String::as_str)) {
                        error = error.help(format!("did you mean `{near}`?"));
                    }
                    self.out.push(error);
                    return;
                }
            },
        };
        let default = match ty {
            Type::Enum(e) => self.isa.enums[e].default,
            _ => Some(0),
        };
        let mut modifier = Modifier {
            name: name.value.clone(),
            doc: String::new(),
            bits: Bits::run(start.value as u8, size.value as u8),
            ty,
            default,
            prints: name.value,
            span: child.span,
            declared: None,
        };
        let (mask, value) = ops.iter().fold((0, 0), |(m, v), op| (m | op.mask, v | op.value));
        if modifier.bits.mask(0) & !mask == 0 && !self.xml_settled(&mut modifier, value) {
            return;
        }
        form.modifiers.push(modifier);
    }

    /// Handles a modifier all of whose bits belong to the opcode: instructions that differ only in it are listed
    /// separately, but keep the element. It is printed always or never; returns whether it is printed.
    fn xml_settled(&mut self, modifier: &mut Modifier, word: u64) -> bool {
        let mask = modifier.bits.mask(0);
        let value = (word & mask) >> mask.trailing_zeros().min(63);
        if modifier.default == Some(value) {
            return false;
        }
        let text = match modifier.ty {
            Type::Enum(e) => self.isa.enums[e].values.iter().find(|v| v.bits == value).map(|v| v.text.clone()),
            _ => Some(modifier.prints.clone()),
        };
        let Some(text) = text else { return true };
        let name = format!("always {text}");
        let known = self.isa.enums.iter().position(|e| e.name == name);
        let span = modifier.span;
        let value =
            || Value { name: text.clone(), text: text.clone(), also: Vec::new(), bits: 0, doc: String::new(), span };
        let index = known.unwrap_or_else(|| {
            let (doc, values) = ("A word that is always written.".to_owned(), vec![value()]);
            self.isa.enums.push(Enum {
                name,
                doc,
                span,
                bits: None,
                values,
                default: None,
                implied: false,
                listed: 1,
                open: true,
            });
            self.isa.enums.len() - 1
        });
        (modifier.bits, modifier.ty, modifier.default) = (Bits::default(), Type::Enum(index), None);
        true
    }

    fn xml_opcode(
        &mut self,
        spec: &XmlSpec,
        instruction: &Instruction<'_>,
        form: &Form,
        placeholders: &[String],
    ) -> Vec<Fixed> {
        let mut fixed = instruction.ops.clone();
        if let (Some(bits), Some(opcode)) = (self.bits(&spec.opcode), &instruction.opcode) {
            if opcode.value > ones(bits.width()) {
                // The opcode of a group is visited for each of its instructions.
                if self.told.insert(opcode.span) {
                    self.too_wide.push(opcode.clone());
                }
                self.out.fail_silently();
            } else {
                fixed.push(place_value(&bits, opcode, spec.opcode.span));
            }
        }
        let Some(opcode2) = &instruction.opcode2 else { return fixed };
        let sources: Vec<&Element> = encoded(instruction.body).filter(|c| c.name.as_str() == "src").collect();
        let all_sources = || sources.iter().map(|source| source.span).reduce(Span::to).unwrap_or(instruction.body.span);
        let all_parts = || {
            let parts = instruction.body.children.iter().map(|part| part.span);
            parts.reduce(Span::to).unwrap_or(instruction.body.span)
        };
        let counted = match sources.len() {
            0 => "no sources".to_owned(),
            1 => "the 1 source".to_owned(),
            count => format!("the {count} sources"),
        };
        // The conditions of a rule that an instruction does not satisfy: place and description of each.
        let against = |rule: &crate::spec::Opcode2Rule| {
            let has = |m: &Spanned<String>| {
                placeholders.contains(&m.value) || form.modifiers.iter().any(|f| f.name == m.value)
            };
            let starts =
                |names: &Vec<Spanned<String>>| names.iter().any(|n| instruction.name.value.starts_with(n.as_str()));
            let second = |given: &Vec<Spanned<String>>| {
                sources.get(1).is_some_and(|s| given.iter().any(|a| is_given(s.attribute(a))))
            };
            let primary = instruction.opcode.as_ref();
            let is_primary = |o: &Spanned<u64>| primary.is_some_and(|own| own.value == o.value);
            let opcode = primary.map_or(instruction.own.span, |opcode| opcode.span);
            let met = [
                rule.modifier.as_ref().is_none_or(has),
                rule.names.as_ref().is_none_or(starts),
                rule.opcode.as_ref().is_none_or(is_primary),
                rule.sources.as_ref().is_none_or(|n| n.contains(&(sources.len() as u64))),
                rule.second.as_ref().is_none_or(second),
            ];
            let parts = [
                (all_parts(), "its modifiers"),
                (instruction.name.span, "its name"),
                (opcode, "the primary opcode"),
                (all_sources(), counted.as_str()),
                (sources.get(1).map_or(instruction.body.span, |s| s.span), "the second source"),
            ];
            parts.into_iter().zip(met).filter(|(_, met)| !met).map(|(part, _)| part).collect::<Vec<_>>()
        };
        // Either the secondary opcode is wrong, or the only thing that keeps a matching rule from applying.
        let context = |mut error: Diagnostic| {
            let holds = |rule: &&crate::spec::Opcode2Rule| opcode2.value & !rule.mask.value == 0;
            let nearly = spec.opcode2.iter().flatten().filter(holds).find_map(|rule| match against(rule)[..] {
                [part] => Some((part, rule.span)),
                _ => None,
            });
            if let Some(((place, what), rule)) = nearly {
                error = error.rival(place, what).secondary(rule, "without what is marked, this rule would apply");
            }
            let opcode = instruction.opcode.as_ref().map(|opcode| (opcode.span, "the primary opcode"));
            let sources = Some((all_sources(), counted.as_str()));
            let unmarked: Vec<_> = error.suspects().collect();
            let rest = opcode.into_iter().chain(sources).filter(|(place, _)| !unmarked.contains(place));
            rest.fold(error, |error, (place, what)| error.secondary(place, what))
        };
        let Some(rule) = spec.opcode2.iter().flatten().find(|rule| against(rule).is_empty()) else {
            let message = format!("no rule gives the position of the secondary opcode of `{}`", instruction.name.value);
            if !self.told.insert(opcode2.span) {
                self.out.fail_silently();
                return fixed;
            }
            let error = Diagnostic::error("E0056", opcode2.span, message);
            let rules = spec.opcode2.iter().flatten().map(|rule| rule.span).reduce(Span::to).unwrap_or(spec.span);
            self.out.push(context(error).secondary(rules, "add a rule under `opcode2`"));
            return fixed;
        };
        self.applied.insert(rule.span);
        if opcode2.value & !rule.mask.value != 0 {
            let message =
                format!("the secondary opcode {:#x} does not fit the mask {:#x}", opcode2.value, rule.mask.value);
            if !self.told.insert(opcode2.span) {
                self.out.fail_silently();
                return fixed;
            }
            let error = Diagnostic::error("E0031", opcode2.span, message);
            self.out.push(context(error.secondary(rule.span, "by this rule")));
            return fixed;
        }
        let shift = |v: u64| v.checked_shl(u32::from(rule.at.value)).unwrap_or(0);
        fixed.push(Fixed {
            mask: shift(rule.mask.value),
            value: shift(opcode2.value),
            matches: true,
            span: opcode2.span,
            declared: Some(rule.span),
        });
        fixed
    }

    /// Reports opcodes that do not fit into their bits. A single opcode is wrong itself; with several, the bits are.
    fn xml_too_wide(&mut self, spec: &XmlSpec) {
        const SHOWN: usize = 4;
        let too_wide = std::mem::take(&mut self.too_wide);
        let Some(bits) = self.bits(&spec.opcode).filter(|_| !too_wide.is_empty()) else { return };
        let width = count(bits.width() as usize, "bit");
        let error = match &too_wide[..] {
            [opcode] => {
                let message = format!("the opcode {:#x} does not fit {width}", opcode.value);
                Diagnostic::error("E0031", opcode.span, message).secondary(spec.opcode.span, "these bits")
            }
            all => {
                let message = format!("{} opcodes do not fit {width}", all.len());
                let error = Diagnostic::error("E0031", spec.opcode.span, message);
                let place = |opcode: &Spanned<u64>| (opcode.span, format!("this is {:#x}", opcode.value));
                all.iter().take(SHOWN).map(place).fold(error, |error, (place, text)| error.secondary(place, text))
            }
        };
        self.out.push(error);
    }
}
