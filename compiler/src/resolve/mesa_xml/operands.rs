//! Operands: destinations, staging registers, sources, immediates.

use std::collections::HashMap;

use super::{Instruction, derived_name, encoded};
use crate::diagnostic::Diagnostic;
use crate::keys::OneOrMany;
use crate::model::{Bits, Count, Fixed, Form, Modifier, Operand, Part, Shape, Type};
use crate::resolve::resolver::Resolver;
use crate::source::Spanned;
use crate::spec::{Access, SourceField, XmlSpec};
use crate::suggest::one_of;
use crate::xml::Element;

impl Resolver<'_> {
    /// `dests` and `<sr>`: the registers that an instruction writes, and the staging registers of messages.
    pub(super) fn xml_registers(
        &mut self,
        spec: &XmlSpec,
        instruction: &Instruction<'_>,
        counts: &HashMap<&str, Bits>,
        form: &mut Form,
    ) {
        let body = instruction.body;
        let staging: Vec<&Element> = encoded(body).filter(|c| c.name.as_str() == "sr").collect();
        let dests = instruction.own.attribute("dests").or(body.attribute("dests"));
        let has_destination = dests.is_some_and(|d| !matches!(d.value.as_str(), "0" | "0x0" | "0x00"))
            || body.children.iter().any(|c| c.name.as_str() == "dest");
        if has_destination {
            let Some(kind) = self.kind_index(&spec.destination.kind) else { return };
            let at = spec.destination.at.value;
            form.operands.push(Operand {
                name: "dest".to_owned(),
                doc: String::new(),
                span: instruction.name.span,
                declared: Some(spec.destination.span),
                access: Access::Write,
                size: if instruction.size == 64 { 64 } else { 32 },
                shape: Shape::One { kind, at },
                suffixes: self.kind_suffixes(kind, at),
            });
        }
        for (index, sr) in staging.iter().enumerate() {
            self.xml_staging(spec, sr, (index, staging.len()), counts, form);
        }
        if !has_destination && staging.is_empty() {
            let modifiers = form.modifiers.iter().fold(0, |m, f| m | f.bits.mask(0));
            for mut fixed in self.fixed(&spec.destination.absent.clone().unwrap_or_default(), false) {
                fixed.mask &= !modifiers;
                fixed.value &= !modifiers;
                form.fixed.push(fixed);
            }
        }
    }

    fn xml_staging(
        &mut self,
        spec: &XmlSpec,
        sr: &Element,
        (index, total): (usize, usize),
        counts: &HashMap<&str, Bits>,
        form: &mut Form,
    ) {
        let staging = &spec.staging;
        self.xml_attributes(sr, &["read", "write", "flags", "count"], &spec.ignore.clone().unwrap_or_default());
        let says = |key: &str| sr.attribute(key).map(|v| v.value.as_str());
        let (read, write) = (self.xml_flag(sr, "read"), self.xml_flag(sr, "write"));
        let flags = self.xml_word(sr, "flags", &["rw", "true", "false"]);
        let elsewhere = write && flags == Some("false");
        let second = staging.second.as_ref().filter(|_| index > 0);
        let register = match second {
            Some(second) => &second.register,
            None if elsewhere => &staging.result,
            None => &staging.register,
        };
        let Some(bits) = self.bits(register) else { return };
        let Some(bank) = self.bank_index(&staging.bank) else { return };
        // The kind is relative to the operand, so that both positions share it.
        let at = bits.0.iter().filter(|p| p.shared.is_none()).map(|p| p.at).min().unwrap_or(0);
        let relative = bits.moved_down(at);
        let kind = self.bank_kind(bank, &relative);
        let count = match says("count").map(str::parse::<u8>) {
            Some(Ok(n)) => Count { bits: None, name: String::new(), plus: n },
            Some(Err(_)) => {
                let span = sr.attribute("count").map_or(sr.span, |c| c.span);
                self.out.push(Diagnostic::error("E0053", span, "the count of staging registers is not a number"));
                return;
            }
            None => {
                let result = counts.get(staging.result_count.as_str()).filter(|_| write);
                let named = result.map(|b| (b, &staging.result_count.value, staging.result_plus.unwrap_or(0)));
                let plain = || counts.get(staging.count.as_str()).map(|b| (b, &staging.count.value, 0));
                match named.or_else(plain) {
                    Some((bits, name, plus)) => Count { bits: Some(bits.clone()), name: name.clone(), plus },
                    None => Count { bits: None, name: String::new(), plus: 1 },
                }
            }
        };
        let bit = |at: &Spanned<u8>, value: bool| {
            let shifted = |value: u64| value.checked_shl(u32::from(at.value)).unwrap_or(0);
            Fixed {
                mask: shifted(1),
                value: shifted(u64::from(value)),
                matches: false,
                span: sr.span,
                declared: Some(at.span),
            }
        };
        match flags {
            _ if second.is_some() => {
                let fixed = second.and_then(|s| s.fixed.clone()).unwrap_or_default();
                form.fixed.extend(self.fixed(&fixed, false));
            }
            Some("rw") => form.fixed.extend([bit(&staging.read, true), bit(&staging.write, true)]),
            Some("false") => {}
            _ => form.fixed.extend([bit(&staging.read, read), bit(&staging.write, write)]),
        }
        let counter = spec.modifiers.iter().find(|(key, _)| key.value == count.name);
        if let Some((_, declared)) = counter {
            self.isa.places.add(sr.span, Part::Count, 0, declared.span);
        }
        let name = match total {
            1 => "sr",
            _ if write => "sr_write",
            _ => "sr_read",
        };
        form.operands.push(Operand {
            name: name.to_owned(),
            doc: sr.text.value.clone(),
            span: sr.span,
            declared: Some(register.span),
            access: match (read, write) {
                (true, true) => Access::ReadWrite,
                (_, true) => Access::Write,
                _ => Access::Read,
            },
            size: 32,
            shape: Shape::List {
                kind,
                at,
                count,
                open: staging.open.clone(),
                separator: staging.separator.clone(),
                align: staging.align.as_ref().map_or(1, |align| align.value),
            },
            suffixes: Vec::new(),
        });
    }

    pub(super) fn xml_sources(&mut self, spec: &XmlSpec, instruction: &Instruction<'_>, form: &mut Form) {
        let sources = &spec.sources;
        let Some(kind) = self.kind_index(&sources.kind) else { return };
        let mut known = vec!["size"];
        known.extend(sources.attributes.iter().map(|(name, _)| name.as_str()));
        let elements: Vec<&Element> = encoded(instruction.body).filter(|c| c.name.as_str() == "src").collect();
        for two in elements.windows(2).filter(|two| is_same(two[0], two[1])) {
            let message = format!("duplicate source `{}`", two[1].text.value);
            let warning = Diagnostic::warning("W0210", two[1].span, message).label("again here; it counts twice");
            self.out.push(warning.secondary(two[0].span, "first here"));
        }
        let mut place = 0;
        for (index, src) in elements.into_iter().enumerate() {
            self.xml_attributes(src, &known, &spec.ignore.clone().unwrap_or_default());
            let size = match src.attribute("size") {
                Some(text) => match self.xml_number(text) {
                    Some(size) if (8..=1024).contains(&size.value) && size.value.is_power_of_two() => size.value as u16,
                    Some(size) => {
                        let message = format!("a source cannot have {} bits", size.value);
                        let error = Diagnostic::error("E0033", size.span, message);
                        self.out.push(error.label("expected a power of two from 8 to 1024"));
                        continue;
                    }
                    None => continue,
                },
                None => instruction.size,
            };
            let Some(at) = sources.at.get(place) else {
                let message = format!("`{}` has more sources than there are positions", instruction.name.value);
                let error = Diagnostic::error("E0057", src.span, message).label("no position is left for this one");
                let places = sources.at.first().map_or(sources.span, |at| at.span);
                self.out.push(error.secondary(places, format!("the {} places", sources.at.len())));
                return;
            };
            let (at, declared) = (at.value, Some(at.span));
            place += if sources.pair == Some(size) && instruction.size != size { 2 } else { 1 };
            let mut suffixes = self.kind_suffixes(kind, at);
            for (attribute, fields) in sources.attributes.iter() {
                if let Some(value) = src.attribute(attribute).filter(|v| !matches!(v.as_str(), "" | "false")) {
                    self.applied.insert(attribute.span);
                    self.xml_suffixes(fields, value, size, index, &mut suffixes);
                }
            }
            form.operands.push(Operand {
                name: format!("src{index}"),
                doc: src.text.value.clone(),
                span: src.span,
                declared,
                access: Access::Read,
                size,
                shape: Shape::One { kind, at },
                suffixes,
            });
        }
    }

    fn xml_suffixes(
        &mut self,
        fields: &OneOrMany<SourceField>,
        value: &Spanned<String>,
        size: u16,
        index: usize,
        suffixes: &mut Vec<Modifier>,
    ) {
        let own = match value.as_str() {
            "true" => None,
            number => match number.parse::<u8>() {
                Ok(number) => Some(number),
                Err(_) => {
                    let message = format!("this attribute cannot be `{number}`");
                    let error = Diagnostic::error("E0059", value.span, message);
                    self.out.push(
                        error.label(format!("expected {}, or the number of its lowest bit", one_of(["true", "false"]))),
                    );
                    return;
                }
            },
        };
        let mut applied = false;
        for field in fields.iter().filter(|f| f.size.is_none_or(|s| s == size)) {
            applied = true;
            self.applied.insert(field.span);
            let place = field.at.get(index).or(field.at.last());
            let at = own.or_else(|| place.map(|at| at.value)).unwrap_or(0);
            let width = field.width.unwrap_or(1);
            let (ty, default) = match &field.r_enum {
                None => (Type::Flag, Some(0)),
                Some(name) => {
                    let mut name = name.clone().map(|n| n.replace("{size}", &size.to_string()));
                    if let Some(first) = &field.first {
                        name.value = derived_name(&name.value, first.value);
                    }
                    let Some(e) = self.enum_index(&name) else { continue };
                    (Type::Enum(e), self.isa.enums[e].default)
                }
            };
            suffixes.push(Modifier {
                name: field.name.clone(),
                doc: String::new(),
                bits: Bits::run(at, width),
                ty,
                default,
                prints: field.name.clone(),
                span: value.span,
                declared: Some(field.span),
            });
        }
        if !applied {
            let message = format!("this attribute has no encoding for a source of {size} bits");
            let error = Diagnostic::error("E0058", value.span, message);
            self.out.push(match fields.first() {
                Some(field) => error.secondary(field.span, "the encodings for other sizes"),
                None => error,
            });
        }
    }

    pub(super) fn xml_immediates(&mut self, spec: &XmlSpec, instruction: &Instruction<'_>, form: &mut Form) {
        for imm in encoded(instruction.body).filter(|c| c.name.as_str() == "imm") {
            self.xml_attributes(imm, &["name", "start", "size", "signed"], &spec.ignore.clone().unwrap_or_default());
            let Some(name) = self.xml_name(imm) else { continue };
            let start = self.xml_attribute(imm, "start").and_then(|t| self.xml_number(t));
            let size = self.xml_attribute(imm, "size").and_then(|t| self.xml_number(t));
            let (Some(start), Some(size)) = (start, size) else { continue };
            let word = u64::from(self.isa.word_bits);
            if size.value == 0 || start.value.saturating_add(size.value) > word {
                let message = format!("the immediate `{}` has bits outside the word", name.value);
                let error = Diagnostic::error("E0104", start.span.to(size.span), message);
                self.out.push(error.label(format!("the last bit is {}", word - 1)));
                continue;
            }
            let signed = self.xml_flag(imm, "signed");
            let rules = &spec.immediates;
            let general = if signed { &rules.signed } else { &rules.unsigned };
            let own = rules.prefixes.iter().flat_map(|p| p.iter()).find(|(known, _)| known.value == name.value);
            self.applied.extend(own.map(|(known, _)| known.span));
            let own = own.map(|(_, prefix)| prefix);
            let target = rules
                .targets
                .iter()
                .flatten()
                .find(|t| t.instruction.value == instruction.name.value && t.immediate.value == name.value);
            self.applied.extend(target.map(|target| target.span));
            form.operands.push(Operand {
                doc: imm.text.value.clone(),
                span: imm.span,
                declared: None,
                access: Access::None,
                size: size.value as u16,
                shape: Shape::Number {
                    bits: Bits::run(start.value as u8, size.value as u8),
                    ty: if signed { Type::Signed } else { Type::Hex },
                    prefix: own.unwrap_or(general).replace("{name}", &name.value),
                    target: target.map(|t| t.target.target(self.isa.word_bits)),
                },
                suffixes: Vec::new(),
                name: name.value,
            });
        }
    }
}

/// Whether two elements have the same attributes and text, and are not empty.
fn is_same(a: &Element, b: &Element) -> bool {
    let values = |e: &Element| -> Vec<(String, String)> {
        e.attributes.iter().map(|a| (a.name.value.clone(), a.value.value.clone())).collect()
    };
    !a.text.value.is_empty() && a.text.value == b.text.value && values(a) == values(b)
}
