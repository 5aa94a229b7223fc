//! Instructions described by an XML file in the schema of Mesa's Valhall description.
//!
//! The reader knows the schema's words (`ins`, `group`, `src`, `sr`, `imm`, `mod`, …) and how groups expand. Every bit
//! position comes from the `xml` section of the specification.

use std::collections::HashMap;

use crate::diagnostic::Diagnostic;
use crate::model::{Bits, Constants, Count, Enum, Fixed, Form, Modifier, Operand, Shape, Type, Value};
use crate::reader::OneOrMany;
use crate::resolve::Resolver;
use crate::source::Spanned;
use crate::spec::{Access, Erratum, SourceField, XmlSpec};
use crate::suggest::did_you_mean;
use crate::xml::{Element, read_xml};

/// Elements of the schema inside an instruction, beside the names of modifiers.
const PARTS: [&str; 9] = ["desc", "ins", "src", "dest", "sr", "imm", "mod", "va_mod", "opcode"];

/// The schema compares enum names without punctuation: "Load lane (8-bit)" is `load_lane_8_bit`.
fn safe_name(name: &str) -> String {
    let kept = name.chars().filter(|c| !"[]():.,=>#&*\"+'".contains(*c));
    kept.map(|c| if " /-".contains(c) { '_' } else { c.to_ascii_lowercase() }).collect()
}

fn is_true(value: Option<&Spanned<String>>) -> bool {
    value.is_some_and(|v| !v.value.is_empty())
}

/// An instruction after its group has been expanded.
struct Instruction<'x> {
    name: Spanned<String>,
    /// The `opcode` attribute; later documents list `<op>`s instead.
    opcode: Option<Spanned<u64>>,
    opcode2: Option<Spanned<u64>>,
    /// Constant bits from `<opcode><op val start mask/></opcode>`.
    ops: Vec<Fixed>,
    /// The element that has the operands: the instruction itself or its group.
    body: &'x Element,
    /// The instruction's own element.
    own: &'x Element,
    size: u16,
    correction: Option<Erratum>,
}

impl Resolver<'_> {
    fn xml_specs(&self) -> Vec<XmlSpec> {
        self.files.iter().filter_map(|(_, f)| f.xml.clone()).collect()
    }

    /// Reads the XML files and takes their enums and constants; the instructions wait until kinds exist.
    pub(crate) fn xml_definitions(&mut self) {
        for spec in self.xml_specs() {
            let file = match self.sources.load(&self.beside(&spec.file)) {
                Ok(file) => file,
                Err(error) => {
                    self.out.push(Diagnostic::error("E0003", spec.file.span, error.to_string()));
                    continue;
                }
            };
            let Some(root) = read_xml(self.sources, file, self.out) else { continue };
            for element in &root.children {
                match element.name.as_str() {
                    "enum" => self.xml_enum(element),
                    "lut" => self.xml_constants(element),
                    "ins" | "group" | "desc" => {}
                    other => {
                        let message = format!("unknown element `<{other}>`");
                        let mut error = Diagnostic::error("E0050", element.name.span, message);
                        if let Some(near) = did_you_mean(other, ["enum", "lut", "ins", "group"]) {
                            error = error.help(format!("did you mean `<{near}>`?"));
                        }
                        self.out.push(error);
                    }
                }
            }
            self.xml_roots.push((spec, root));
        }
    }

    /// Adds the enums that narrow fields need, now that all others are known.
    pub(crate) fn xml_derived_enums(&mut self) {
        for spec in self.xml_specs() {
            self.derived_enums(&spec);
        }
    }

    fn xml_name(&mut self, element: &Element) -> Option<Spanned<String>> {
        self.xml_attribute(element, "name").cloned()
    }

    fn xml_attribute<'x>(&mut self, element: &'x Element, name: &str) -> Option<&'x Spanned<String>> {
        let found = element.attribute(name);
        if found.is_none() {
            let message = format!("`<{}>` needs the attribute `{name}`", element.name.value);
            self.out.push(Diagnostic::error("E0051", element.span, message));
        }
        found
    }

    /// Reports attributes that are neither known nor declared to carry no encoding.
    fn xml_attributes(&mut self, element: &Element, known: &[&str], ignore: &[String]) {
        for attribute in &element.attributes {
            let name = attribute.name.as_str();
            if !known.contains(&name) && !ignore.iter().any(|i| i == name) {
                let message = format!("`<{}>` has an unknown attribute `{name}`", element.name.value);
                let mut error = Diagnostic::error("E0052", attribute.name.span, message);
                if let Some(near) = did_you_mean(name, known.iter().copied()) {
                    error = error.help(format!("did you mean `{near}`?"));
                }
                self.out.push(error.note("list it under `xml: ignore:` if it says nothing about bits"));
            }
        }
    }

    fn xml_number(&mut self, text: &Spanned<String>) -> Option<Spanned<u64>> {
        let value = text.value.trim();
        let parsed = match value.strip_prefix("0x").or_else(|| value.strip_prefix("0X")) {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => value.parse(),
        };
        match parsed {
            Ok(number) => Some(Spanned::new(number, text.span)),
            Err(_) => {
                let message = format!("`{value}` is not a number");
                self.out.push(Diagnostic::error("E0053", text.span, message).help("write decimal, or `0x` and hexadecimal digits"));
                None
            }
        }
    }

    fn xml_enum(&mut self, element: &Element) {
        let Some(name) = self.xml_name(element) else { return };
        self.xml_attributes(element, &["name", "implied"], &[]);
        let mut values: Vec<Value> = Vec::new();
        let (mut doc, mut default, mut bits) = (String::new(), None, 0);
        for child in &element.children {
            match child.name.as_str() {
                "desc" => {
                    doc.clone_from(&child.text.value);
                    continue;
                }
                "value" => {
                    self.xml_attributes(child, &["name", "desc", "default"], &[]);
                    if is_true(child.attribute("default")) {
                        default = Some(bits);
                    }
                    let meaning = child.attribute("desc").or(child.attribute("name"));
                    let doc = meaning.map(|m| m.value.clone()).unwrap_or_default();
                    values.push(Value { name: child.text.value.clone(), text: child.text.value.clone(), bits, doc, span: child.span.to(child.text.span) });
                }
                "reserved" => {}
                other => {
                    let message = format!("unknown element `<{other}>` in an enum");
                    let error = Diagnostic::error("E0050", child.name.span, message);
                    self.out.push(error.help("an enum has `<value>`, `<reserved/>` and `<desc>`"));
                    continue;
                }
            }
            bits += 1;
        }
        self.isa.enums.push(Enum { name: name.value, doc, span: name.span, bits: None, values, default });
    }

    fn xml_constants(&mut self, element: &Element) {
        let Some(name) = self.xml_name(element) else { return };
        let (mut doc, mut values) = (String::new(), Vec::new());
        for child in &element.children {
            match child.name.as_str() {
                "desc" => doc.clone_from(&child.text.value),
                "constant" => {
                    let meaning = child.attribute("desc").map(|d| d.value.clone()).unwrap_or_default();
                    if let Some(value) = self.xml_number(&child.text) {
                        values.push((value.value, meaning));
                    }
                }
                other => {
                    let message = format!("unknown element `<{other}>` in a table of constants");
                    self.out.push(Diagnostic::error("E0050", child.name.span, message).help("write `<constant>`"));
                }
            }
        }
        self.isa.constants.push(Constants { name: name.value, doc, span: name.span, values });
    }

    /// Fields narrower than their enum choose from its first values: an enum of its own.
    fn derived_enums(&mut self, spec: &XmlSpec) {
        for field in spec.sources.attributes.iter().flat_map(|(_, fields)| fields.iter()) {
            let (Some(name), Some(first)) = (&field.r_enum, field.first) else { continue };
            let Some(index) = self.enum_index(name) else { continue };
            let mut derived = self.isa.enums[index].clone();
            derived.name = derived_name(&name.value, first);
            derived.values.retain(|v| v.bits < first);
            if !self.isa.enums.iter().any(|e| e.name == derived.name) {
                self.isa.enums.push(derived);
            }
        }
    }

    pub(crate) fn xml_instructions(&mut self) {
        let errata: Vec<Erratum> = self.files.iter().filter_map(|(_, f)| f.errata.clone()).flatten().collect();
        let mut matched = vec![0; errata.len()];
        for (spec, root) in std::mem::take(&mut self.xml_roots) {
            let safe: HashMap<String, usize> =
                self.isa.enums.iter().enumerate().map(|(i, e)| (safe_name(&e.name), i)).collect();
            for element in &root.children {
                let instructions = match element.name.as_str() {
                    "ins" => vec![(element, element)],
                    "group" => element.children.iter().filter(|c| c.name.as_str() == "ins").map(|own| (own, element)).collect(),
                    _ => continue,
                };
                for (own, body) in instructions {
                    let Some(mut instruction) = self.xml_header(&spec, own, body) else { continue };
                    self.correct(&mut instruction, &errata, &mut matched);
                    self.xml_instruction(&spec, &safe, instruction);
                }
            }
        }
        for (erratum, _) in errata.iter().zip(&matched).filter(|(_, n)| **n == 0) {
            let error = Diagnostic::warning("W0201", erratum.span, "this correction corrects nothing");
            self.out.push(error.note("no instruction of the file has the value under `was`"));
        }
    }

    fn xml_header<'x>(&mut self, spec: &XmlSpec, own: &'x Element, body: &'x Element) -> Option<Instruction<'x>> {
        let name = self.xml_name(own)?;
        let known = ["name", "title", "opcode", "opcode2", "unit", "dests", "srcs"];
        self.xml_attributes(own, &known, &spec.ignore.clone().unwrap_or_default());
        if !std::ptr::eq(own, body) {
            self.xml_attributes(body, &known, &spec.ignore.clone().unwrap_or_default());
        }
        let number = |r: &mut Self, key: &str| {
            let text = own.attribute(key).or(body.attribute(key))?;
            r.xml_number(text)
        };
        let opcode = number(self, "opcode");
        let opcode2 = number(self, "opcode2");
        let ops = self.xml_ops(spec, own, body);
        if opcode.is_none() && ops.is_empty() {
            if own.attribute("opcode").or(body.attribute("opcode")).is_none() {
                let message = format!("`{}` has no opcode", name.value);
                let error = Diagnostic::error("E0051", own.span, message);
                self.out.push(error.help("add `opcode=\"0x…\"`, or `<opcode><op val=… start=… mask=…/></opcode>`"));
            }
            return None;
        }
        let rule = spec.sizes.iter().flatten().find(|rule| name.value.ends_with(&rule.suffix));
        let size = rule.map_or(spec.size, |rule| rule.size);
        Some(Instruction { name, opcode, opcode2, ops, body, own, size, correction: None })
    }

    /// `<opcode><op val start mask/></opcode>` of an instruction and of its group: what is under `mask` from bit `start`
    /// is `val`.
    fn xml_ops(&mut self, spec: &XmlSpec, own: &Element, body: &Element) -> Vec<Fixed> {
        let mut fixed: Vec<Fixed> = Vec::new();
        let bodies = if std::ptr::eq(own, body) { vec![own] } else { vec![own, body] };
        let lists = bodies.into_iter().flat_map(|e| &e.children).filter(|c| c.name.as_str() == "opcode");
        for op in lists.flat_map(|list| &list.children) {
            self.xml_attributes(op, &["val", "start", "mask"], &spec.ignore.clone().unwrap_or_default());
            let mut number = |key| self.xml_attribute(op, key).and_then(|t| self.xml_number(t)).map(|n| n.value);
            let (Some(value), Some(start), Some(mask)) = (number("val"), number("start"), number("mask")) else { continue };
            if value & !mask != 0 || start >= 64 || (mask << start) >> start != mask {
                let message = format!("{value:#x} under the mask {mask:#x} from bit {start} is not possible");
                self.out.push(Diagnostic::error("E0031", op.span, message));
                continue;
            }
            fixed.push(Fixed { mask: mask << start, value: value << start, matches: true, span: op.span });
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
                    self.out.push(Diagnostic::error("E0054", erratum.attribute.span, message).help("write `opcode` or `opcode2`"));
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
            title: instruction.own.attribute("title").or(body.attribute("title")).map(|t| t.value.clone()).unwrap_or_default(),
            doc: doc(body).unwrap_or_default(),
            unit: instruction.own.attribute("unit").or(body.attribute("unit")).map(|u| u.value.clone()).unwrap_or_default(),
            span: instruction.name.span,
            source: self.place(instruction.name.span),
            provenance: instruction.correction.as_ref().map_or_else(|| self.default_provenance(), |c| c.provenance),
            note: instruction.correction.as_ref().map(|c| c.reason.clone()).unwrap_or_default(),
            fixed: Vec::new(),
            ignored: 0,
            modifiers: Vec::new(),
            operands: Vec::new(),
            syntax: Vec::new(),
            limits: Vec::new(),
        };
        let mut placeholders = Vec::new();
        let mut counts: HashMap<&str, Bits> = HashMap::new();
        for child in &body.children {
            let name = child.name.as_str();
            if name == "mod" || name == "va_mod" {
                self.xml_mod(spec, safe, child, &mut form, &mut placeholders);
            } else if let Some(declared) = spec.modifiers.get(name) {
                self.xml_attributes(child, &[], &spec.ignore.clone().unwrap_or_default());
                if form.modifiers.iter().any(|m| m.name == name) || counts.contains_key(name) {
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

    fn xml_unknown(&mut self, spec: &XmlSpec, child: &Element) {
        let name = child.name.as_str();
        let message = format!("`<{name}/>` has no place: `xml: modifiers:` does not say where its bits are");
        let mut error = Diagnostic::error("E0055", child.name.span, message);
        let known = spec.modifiers.iter().map(|(n, _)| n.as_str()).chain(PARTS);
        if let Some(near) = did_you_mean(name, known) {
            error = error.help(format!("did you mean `<{near}/>`?"));
        }
        self.out.push(error.help(format!("or add `{name}: {{ bits: … }}` under `xml: modifiers:` of the specification")));
    }

    /// `<mod name start size>`: a flag, an enum called like it, or a placeholder beyond the word.
    fn xml_mod(
        &mut self,
        spec: &XmlSpec,
        safe: &HashMap<String, usize>,
        child: &Element,
        form: &mut Form,
        placeholders: &mut Vec<String>,
    ) {
        self.xml_attributes(child, &["name", "start", "size", "implied"], &spec.ignore.clone().unwrap_or_default());
        let Some(name) = self.xml_name(child) else { return };
        let start = self.xml_attribute(child, "start").and_then(|t| self.xml_number(t));
        let size = self.xml_attribute(child, "size").and_then(|t| self.xml_number(t));
        let (Some(start), Some(size)) = (start, size) else { return };
        if start.value >= u64::from(self.isa.word_bits) {
            placeholders.push(name.value);
            return;
        }
        if size.value == 0 || start.value + size.value > u64::from(self.isa.word_bits) {
            let message = format!("`{}` has no bits inside the word", name.value);
            self.out.push(Diagnostic::error("E0104", start.span.to(size.span), message));
            return;
        }
        let ty = match size.value {
            1 => Type::Flag,
            _ => match safe.get(&safe_name(&name.value)) {
                Some(index) => Type::Enum(*index),
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
        form.modifiers.push(Modifier {
            name: name.value.clone(),
            doc: String::new(),
            bits: Bits::run(start.value as u8, size.value as u8),
            ty,
            default,
            prints: name.value,
            span: child.span,
        });
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
            if opcode.value > isaforge_core::bits::ones(bits.width()) {
                let message = format!("the opcode {:#x} does not fit {} bits", opcode.value, bits.width());
                self.out.push(Diagnostic::error("E0031", opcode.span, message).secondary(spec.opcode.span, "these bits"));
            } else {
                fixed.push(place_value(&bits, opcode));
            }
        }
        let Some(opcode2) = &instruction.opcode2 else { return fixed };
        let sources: Vec<&Element> = instruction.body.children.iter().filter(|c| c.name.as_str() == "src").collect();
        let applies = |rule: &&crate::spec::Opcode2Rule| {
            let has = |m: &String| placeholders.contains(m) || form.modifiers.iter().any(|f| f.name == *m);
            rule.modifier.as_ref().is_none_or(has)
                && rule.names.as_ref().is_none_or(|n| n.iter().any(|n| instruction.name.value.starts_with(n)))
                && rule.opcode.is_none_or(|o| instruction.opcode.as_ref().is_some_and(|own| own.value == o))
                && rule.sources.as_ref().is_none_or(|n| n.contains(&(sources.len() as u64)))
                && rule.second.as_ref().is_none_or(|a| {
                    sources.get(1).is_some_and(|s| a.iter().any(|a| is_true(s.attribute(a))))
                })
        };
        let Some(rule) = spec.opcode2.iter().flatten().find(applies) else {
            let message = format!("no rule says where the secondary opcode of `{}` lies", instruction.name.value);
            self.out.push(Diagnostic::error("E0056", opcode2.span, message).secondary(spec.span, "add a rule under `opcode2`"));
            return fixed;
        };
        if opcode2.value & !rule.mask != 0 {
            let message = format!("the secondary opcode {:#x} does not fit the mask {:#x}", opcode2.value, rule.mask);
            self.out.push(Diagnostic::error("E0031", opcode2.span, message).secondary(rule.span, "by this rule"));
            return fixed;
        }
        let shift = |v: u64| v.checked_shl(u32::from(rule.at)).unwrap_or(0);
        fixed.push(Fixed { mask: shift(rule.mask), value: shift(opcode2.value), matches: true, span: opcode2.span });
        fixed
    }

    /// `dests` and `<sr>`: the registers an instruction writes, and the staging registers of messages.
    fn xml_registers(&mut self, spec: &XmlSpec, instruction: &Instruction<'_>, counts: &HashMap<&str, Bits>, form: &mut Form) {
        let body = instruction.body;
        let staging: Vec<&Element> = body.children.iter().filter(|c| c.name.as_str() == "sr").collect();
        let dests = instruction.own.attribute("dests").or(body.attribute("dests"));
        let has_destination = dests.is_some_and(|d| d.value != "0") || body.children.iter().any(|c| c.name.as_str() == "dest");
        if has_destination {
            let Some(kind) = self.kind_index(&spec.destination.kind) else { return };
            let at = spec.destination.at;
            form.operands.push(Operand {
                name: "dest".to_owned(),
                doc: String::new(),
                span: instruction.name.span,
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
        let (read, write) = (says("read") == Some("true"), says("write") == Some("true"));
        let flags = says("flags");
        let elsewhere = write && flags == Some("false");
        let second = staging.second.as_ref().filter(|_| index > 0);
        let register = match second {
            Some(second) => &second.register,
            None if elsewhere => &staging.result,
            None => &staging.register,
        };
        let Some(bits) = self.bits(register) else { return };
        let Some(bank) = self.bank_index(&staging.bank) else { return };
        // The kind is relative to the operand, so that both places share it.
        let at = bits.0.iter().map(|p| p.at).min().unwrap_or(0);
        let relative = Bits(bits.0.iter().map(|p| crate::model::Piece { at: p.at - at, ..*p }).collect());
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
        let bit = |at: u8, value: bool| Fixed { mask: 1 << at, value: u64::from(value) << at, matches: false, span: sr.span };
        match flags {
            _ if second.is_some() => {
                let fixed = second.and_then(|s| s.fixed.clone()).unwrap_or_default();
                form.fixed.extend(self.fixed(&fixed, false));
            }
            Some("rw") => form.fixed.extend([bit(staging.read, true), bit(staging.write, true)]),
            Some("false") => {}
            _ => form.fixed.extend([bit(staging.read, read), bit(staging.write, write)]),
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
                align: staging.align.unwrap_or(1),
            },
            suffixes: Vec::new(),
        });
    }

    fn xml_sources(&mut self, spec: &XmlSpec, instruction: &Instruction<'_>, form: &mut Form) {
        let sources = &spec.sources;
        let Some(kind) = self.kind_index(&sources.kind) else { return };
        let mut known = vec!["size"];
        known.extend(sources.attributes.iter().map(|(name, _)| name.as_str()));
        let mut place = 0;
        for (index, src) in instruction.body.children.iter().filter(|c| c.name.as_str() == "src").enumerate() {
            self.xml_attributes(src, &known, &spec.ignore.clone().unwrap_or_default());
            let size = match src.attribute("size") {
                Some(text) => match self.xml_number(text) {
                    Some(size) => size.value as u16,
                    None => continue,
                },
                None => instruction.size,
            };
            let Some(&at) = sources.at.get(place) else {
                let message = format!("`{}` has more sources than there are places", instruction.name.value);
                self.out.push(Diagnostic::error("E0057", src.span, message).secondary(sources.span, "the places"));
                return;
            };
            place += if sources.pair == Some(size) && instruction.size != size { 2 } else { 1 };
            let mut suffixes = self.kind_suffixes(kind, at);
            for (attribute, fields) in sources.attributes.iter() {
                if let Some(value) = src.attribute(attribute).filter(|v| !v.value.is_empty()) {
                    self.xml_suffixes(fields, value, size, index, &mut suffixes);
                }
            }
            form.operands.push(Operand {
                name: format!("src{index}"),
                doc: src.text.value.clone(),
                span: src.span,
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
        let mut applied = false;
        for field in fields.iter().filter(|f| f.size.is_none_or(|s| s == size)) {
            applied = true;
            let own = value.value.parse::<u8>().ok();
            let at = own.or_else(|| field.at.get(index).or(field.at.last()).copied()).unwrap_or(0);
            let width = field.width.unwrap_or(1);
            let (ty, default) = match &field.r_enum {
                None => (Type::Flag, Some(0)),
                Some(name) => {
                    let mut name = name.clone().map(|n| n.replace("{size}", &size.to_string()));
                    if let Some(first) = field.first {
                        name.value = derived_name(&name.value, first);
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
            });
        }
        if !applied {
            let message = format!("nothing says how this attribute is encoded for a source of {size} bits");
            self.out.push(Diagnostic::error("E0058", value.span, message));
        }
    }

    fn xml_immediates(&mut self, spec: &XmlSpec, instruction: &Instruction<'_>, form: &mut Form) {
        for imm in instruction.body.children.iter().filter(|c| c.name.as_str() == "imm") {
            self.xml_attributes(imm, &["name", "start", "size", "signed"], &spec.ignore.clone().unwrap_or_default());
            let Some(name) = self.xml_name(imm) else { continue };
            let start = self.xml_attribute(imm, "start").and_then(|t| self.xml_number(t));
            let size = self.xml_attribute(imm, "size").and_then(|t| self.xml_number(t));
            let (Some(start), Some(size)) = (start, size) else { continue };
            if size.value == 0 || start.value.saturating_add(size.value) > u64::from(self.isa.word_bits) {
                let message = format!("the immediate `{}` leaves the word", name.value);
                self.out.push(Diagnostic::error("E0104", start.span.to(size.span), message));
                continue;
            }
            let signed = is_true(imm.attribute("signed"));
            let rules = &spec.immediates;
            let general = if signed { &rules.signed } else { &rules.unsigned };
            let own = rules.prefixes.as_ref().and_then(|p| p.get(&name.value));
            let target = rules.targets.iter().flatten().find(|t| {
                t.instruction.value == instruction.name.value && t.immediate.value == name.value
            });
            form.operands.push(Operand {
                doc: imm.text.value.clone(),
                span: imm.span,
                access: Access::None,
                size: size.value as u16,
                shape: Shape::Number {
                    bits: Bits::run(start.value as u8, size.value as u8),
                    ty: if signed { Type::Signed } else { Type::Hex },
                    prefix: own.unwrap_or(general).replace("{name}", &name.value),
                    target: target.map(|t| t.target),
                },
                suffixes: Vec::new(),
                name: name.value,
            });
        }
    }
}

fn derived_name(name: &str, first: u64) -> String {
    format!("{name}, first {first}")
}

fn place_value(bits: &Bits, value: &Spanned<u64>) -> Fixed {
    let mut shift = 0;
    let mut placed = 0;
    for piece in &bits.0 {
        let part = (value.value >> shift) & isaforge_core::bits::ones(u32::from(piece.width));
        placed |= part << piece.at;
        shift += u32::from(piece.width);
    }
    Fixed { mask: bits.mask(0), value: placed, matches: true, span: value.span }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_enums_lose_their_punctuation() {
        assert_eq!(safe_name("Load lane (8-bit)"), "load_lane_8_bit");
        assert_eq!(safe_name("Swizzles (16-bit)"), "swizzles_16_bit");
    }
}

