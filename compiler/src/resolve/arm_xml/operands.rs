//! Operands: destinations, sources, staging registers, numbers, labels.

use isaforge_core::bits::ones;
use isaforge_core::table::{Base, Target};

use super::document::{only, required, unknown_element};
use super::instruction::Build;
use super::members::{Holds, Step};
use crate::diagnostic::Diagnostic;
use crate::model::{
    Alternative, Bits, Constants, Count, Field, Fixed, Kind, Modifier, Operand, Piece, Shape, Token, Type,
};
use crate::resolve::resolver::Resolver;
use crate::source::{Span, Spanned};
use crate::spec::Access;
use crate::xml::Element;

/// The fields of destinations and staging registers, which the schema finds by name.
const DESTINATION: &str = "dest_register_index";
const STAGING: &str = "staging_register_index";
const STAGING_WRITE: &str = "staging_register_write_index";
const COUNT: &str = "sr_count";
const COUNT_WRITE: &str = "sr_write_count";

/// Elements that are numbers.
const NUMBERS: [&str; 8] =
    ["uint", "int", "float", "V2F16", "V2I16", "V4I8", "pc_rel_label_signed", "pc_rel_label_unsigned"];

/// The maximum width of a number whose values are tabulated.
const MAX_TABLE_BITS: u32 = 10;

fn operand(name: &str, span: Span, access: Access, size: u16, shape: Shape, suffixes: Vec<Modifier>) -> Operand {
    Operand { name: name.to_owned(), doc: String::new(), span, declared: None, access, size, shape, suffixes }
}

impl Resolver<'_> {
    pub(super) fn arm_operand(&mut self, build: &mut Build<'_>, place: usize, child: &Element) -> Option<()> {
        let spec = build.document.spec.clone();
        let known = ["name", "dest", "src", "staging"];
        match child.name.as_str() {
            "dest" => {
                only(child, &[], &spec, self.out);
                let index = build.member(&Spanned::new(DESTINATION.to_owned(), child.span), self.out)?;
                let shape = self.arm_register(build, index)?;
                let suffixes = self.arm_modifiers(build, place, child);
                build.form.operands.push(operand("dest", child.span, Access::Write, 32, shape, suffixes));
            }
            "src" => {
                only(child, &["name"], &spec, self.out);
                let name = required(child, "name", self.out)?;
                let index = build.member(name, self.out)?;
                let (shape, size) = self.arm_source(build, index, name)?;
                let suffixes = self.arm_modifiers(build, place, child);
                build.form.operands.push(operand(&name.value, child.span, Access::Read, size, shape, suffixes));
            }
            "staging" => {
                only(child, &["name", "direction"], &spec, self.out);
                self.arm_staging(build, child)?;
            }
            number if NUMBERS.contains(&number) => {
                only(child, &["name"], &spec, self.out);
                let name = required(child, "name", self.out)?;
                let index = build.member(name, self.out)?;
                let shape = self.arm_number(build, index)?;
                let size = build.get(index).width().max(1) as u16;
                build.form.operands.push(operand(&name.value, child.span, Access::None, size, shape, Vec::new()));
            }
            _ => unknown_element(child, "a syntax", &[&known[..], &NUMBERS[..]].concat(), self.out),
        }
        Some(())
    }

    /// A field that holds a register number.
    fn arm_register(&mut self, build: &mut Build<'_>, index: usize) -> Option<Shape> {
        build.used[index] = true;
        let (kind, at) = self.arm_register_kind(build, index)?;
        Some(Shape::One { kind, at })
    }

    fn arm_register_kind(&mut self, build: &Build<'_>, index: usize) -> Option<(usize, u8)> {
        let member = build.get(index);
        let bank = self.bank_index(&build.document.spec.registers)?;
        let (at, width) = member
            .place
            .filter(|_| matches!(member.holds, Holds::Number) && build.group(index).is_none())
            .or_else(|| {
                let message = format!("`{}` is not a register number", member.name.value);
                self.out.push(Diagnostic::error("E0083", member.span, message));
                None
            })?;
        let registers = member.greatest.unwrap_or(ones(u32::from(width))).saturating_add(1);
        if registers != u64::from(self.isa.banks[bank].count) {
            let bank = &self.isa.banks[bank];
            let message =
                format!("`{}` can name {registers} registers, but there are {}", member.name.value, bank.count);
            self.out.push(Diagnostic::error("E0084", member.span, message).secondary(bank.span, "the bank"));
            return None;
        }
        Some((self.bank_kind(bank, &Bits::run(0, width)), at))
    }

    fn arm_staging(&mut self, build: &mut Build<'_>, child: &Element) -> Option<()> {
        let (name, direction) = (required(child, "name", self.out)?, required(child, "direction", self.out)?);
        let output = match direction.value.as_str() {
            "output" => true,
            "input" => false,
            other => {
                let error = Diagnostic::error("E0023", direction.span, format!("unknown value `{other}`"));
                self.out.push(error.label("expected `output` or `input`"));
                return None;
            }
        };
        let own = if output { build.members.find(STAGING_WRITE) } else { None };
        let index = match own {
            Some(index) => index,
            None => build.member(&Spanned::new(STAGING.to_owned(), child.span), self.out)?,
        };
        let (kind, at) = self.arm_register_kind(build, index)?;
        build.used[index] = true;
        let own = if output { build.members.find(COUNT_WRITE) } else { None };
        let count = match own {
            Some(count) => count,
            None => build.member(&Spanned::new(COUNT.to_owned(), child.span), self.out)?,
        };
        let count = self.arm_count(build, count)?;
        let staging = &build.document.spec.staging;
        let shape = Shape::List {
            kind,
            at,
            count,
            open: staging.open.clone(),
            separator: staging.separator.clone(),
            align: staging.align.unwrap_or(1),
        };
        let access = if output { Access::Write } else { Access::Read };
        build.form.operands.push(operand(&name.value, child.span, access, 32, shape, Vec::new()));
        Some(())
    }

    /// The number of registers that a field stands for. The words of its enum end in that number: `write1` is one
    /// register.
    fn arm_count(&mut self, build: &mut Build<'_>, index: usize) -> Option<Count> {
        let member = build.get(index);
        let Holds::Enum(from) = &member.holds else {
            let message = format!("`{}` does not give a number of registers", member.name.value);
            self.out.push(Diagnostic::error("E0083", member.span, message));
            return None;
        };
        let digits = |word: &str| {
            let start = word.trim_end_matches(|c: char| c.is_ascii_digit()).len();
            word[start..].parse::<u64>().ok()
        };
        let mut plus = from.values.iter().map(|v| digits(&v.name.value)?.checked_sub(v.value));
        let first = plus.next().flatten();
        let plus =
            first.filter(|first| *first <= 64 && plus.all(|p| p == Some(*first))).and_then(|p| u8::try_from(p).ok());
        let Some(plus) = plus else {
            let message = format!("the words of `{}` do not count registers", member.name.value);
            let error = Diagnostic::error("E0083", member.span, message);
            self.out.push(error.note("each must end in its number of registers, the same amount above its value"));
            return None;
        };
        let constant =
            |value: u64| Count { bits: None, name: String::new(), plus: plus.saturating_add(value.min(255) as u8) };
        if let Some(exact) = member.exact {
            return Some(constant(exact));
        }
        if let Some(group) = build.group(index) {
            if let [only] = &build.tied[group].rows[..] {
                return only.value(index).map(constant);
            }
            // A modifier claims these bits, and they also count the registers.
            return Some(Count { bits: Some(member.bits()), name: String::new(), plus });
        }
        if member.allowed.is_some() {
            let message = format!("`{}` is restricted, which a count of registers cannot be", member.name.value);
            self.out.push(Diagnostic::error("E0083", member.span, message));
            return None;
        }
        let count = Count { bits: Some(member.bits()), name: member.name.value.clone(), plus };
        build.used[index] = true;
        Some(count)
    }

    fn arm_source(&mut self, build: &mut Build<'_>, index: usize, name: &Spanned<String>) -> Option<(Shape, u16)> {
        build.used[index] = true;
        let member = build.get(index);
        let Holds::Source(ty) = &member.holds else {
            let error = Diagnostic::error("E0083", name.span, format!("`{}` is not a source", name.value));
            self.out.push(error.secondary(member.span, "its type is not among `arm: sources:`"));
            return None;
        };
        let source = build.document.spec.sources.get(ty)?.clone();
        let kind = self.kind_index(&source.kind)?;
        let size = source.size.unwrap_or(32);
        let width = u32::from(self.isa.kinds[kind].width);
        let wrong = |own: u32, r: &mut Self| {
            let message = format!("`{}` has {own} bits, but a `{}` has {width}", name.value, source.kind.value);
            r.out.push(Diagnostic::error("E0084", member.span, message).secondary(source.kind.span, "declared here"));
        };
        if let (Some((at, own)), None) = (member.place, build.group(index)) {
            if u32::from(own) != width {
                wrong(u32::from(own), self);
                return None;
            }
            return Some((Shape::One { kind, at }, size));
        }
        // In pieces: each bit of the source is one bit of the word.
        let group = build.group(index)?;
        let tied = &build.tied[group];
        let own = tied.width(&build.members);
        let alone = build.shown_of(group).len() == 1;
        let complete = tied.rows.len() as u64 == 1 << own;
        let pieces = tied.bits(&build.members);
        let place = |stored: u32| {
            let mut rest = stored;
            pieces.0.iter().find_map(|p| match rest.checked_sub(u32::from(p.width)) {
                None => Some(p.at + rest as u8),
                Some(above) => {
                    rest = above;
                    None
                }
            })
        };
        let mut bits: Vec<(u32, u8)> = Vec::new();
        for stored in 0..own {
            let row = tied.rows.iter().find(|r| r.bits == 1 << stored);
            let value = row.and_then(|r| r.value(index)).filter(|v| v.is_power_of_two());
            bits.extend(value.and_then(|v| Some((v.trailing_zeros(), place(stored)?))));
        }
        bits.sort_unstable();
        let dense = bits.iter().enumerate().all(|(i, (logical, _))| *logical == i as u32);
        let joined = |stored: u64| {
            let set = bits.iter().filter(|(_, at)| (0..own).any(|b| stored >> b & 1 == 1 && place(b) == Some(*at)));
            set.fold(0u64, |value, (logical, _)| value | 1 << logical)
        };
        let linear = tied.rows.iter().all(|r| r.value(index) == Some(joined(r.bits)));
        if !alone || !complete || !dense || !linear || bits.len() != own as usize {
            let error = Diagnostic::error(
                "E0082",
                member.span,
                format!("`{}` is not made of bits of other fields", name.value),
            );
            self.out
                .push(error.note("a source in pieces is its pieces, shifted and joined, and each piece a slice of it"));
            return None;
        }
        if own != width {
            wrong(own, self);
            return None;
        }
        tied.members.iter().for_each(|m| build.used[*m] = true);
        let order: Vec<u8> = bits.iter().map(|(_, at)| *at).collect();
        let at = order.iter().copied().min().unwrap_or(0);
        Some((Shape::One { kind: self.scattered(kind, &order, at), at }, size))
    }

    /// The kind `of` with its bits, in ascending order, at these positions in the word, which become relative to `at`.
    fn scattered(&mut self, of: usize, order: &[u8], at: u8) -> usize {
        let place = |bit: u8| order.get(usize::from(bit)).map_or(0, |p| p - at);
        let mask = |mask: u64| (0..64u8).filter(|b| mask >> b & 1 == 1).fold(0, |m, b| m | 1 << place(b));
        let bits = |bits: &Bits| {
            let mut pieces: Vec<Piece> = Vec::new();
            for piece in &bits.0 {
                if piece.shared.is_some() {
                    pieces.push(*piece);
                    continue;
                }
                for bit in piece.at..piece.at + piece.width {
                    match pieces.last_mut() {
                        Some(last) if last.shared.is_none() && last.at + last.width == place(bit) => last.width += 1,
                        _ => pieces.push(Piece { at: place(bit), width: 1, shared: None }),
                    }
                }
            }
            Bits(pieces)
        };
        let kind = &self.isa.kinds[of];
        let ends: Vec<String> = order.iter().map(u8::to_string).collect();
        let name = format!("{} in bits {}", kind.name, ends.join(" "));
        if let Some(known) = self.isa.kinds.iter().position(|k| k.name == name) {
            return known;
        }
        let alternative = |a: &Alternative| Alternative {
            // The kind's own place marks it as made for operands, which are checked themselves.
            span: kind.span,
            mask: mask(a.mask),
            value: mask(a.value),
            fields: a.fields.iter().map(|f| Field { bits: bits(&f.bits), ..f.clone() }).collect(),
            ..a.clone()
        };
        let width = order.iter().map(|p| p - at + 1).max().unwrap_or(1);
        let scattered = Kind {
            name,
            doc: kind.doc.clone(),
            span: kind.span,
            width,
            alternatives: kind.alternatives.iter().map(alternative).collect(),
            suffixes: Vec::new(),
        };
        self.isa.kinds.push(scattered);
        self.isa.kinds.len() - 1
    }

    fn arm_number(&mut self, build: &mut Build<'_>, index: usize) -> Option<Shape> {
        build.used[index] = true;
        let prefix = build.document.spec.prefix.clone().unwrap_or_else(|| "#".to_owned());
        let member = build.get(index);
        if let Some(group) = build.group(index) {
            return self.arm_tied_number(build, group, index, &prefix);
        }
        let unable = |r: &mut Self, why: String| {
            let message = format!("`{}` is a number that the tables cannot hold: {why}", member.name.value);
            r.out.push(Diagnostic::error("E0083", member.span, message));
            None
        };
        let Some((at, width)) = member.place.filter(|_| member.exact.is_none()) else {
            return unable(self, "no bits store it".to_owned());
        };
        let wide = u32::from(width);
        if let Holds::Label { signed } = member.holds {
            let bytes = u32::from(self.isa.word_bits / 8);
            let target = match member.step {
                Step::Shift(shift) if 1 << shift == bytes => Some(Target { base: Base::Next, unit: bytes as u16 }),
                Step::Same => None,
                _ => return unable(self, format!("a distance is counted in bytes or in words of {bytes} bytes")),
            };
            let scale = if target.is_some() { bytes.trailing_zeros() } else { 0 };
            let bounded =
                member.least.is_some_and(|l| l != 0) || member.greatest.is_some_and(|g| g >> scale != ones(wide));
            if bounded && !signed {
                return unable(self, "it has bounds of its own".to_owned());
            }
            let ty = if signed { Type::Signed } else { Type::Decimal };
            return Some(Shape::Number { bits: Bits::run(at, width), ty, prefix, target });
        }
        let signed = match member.holds {
            Holds::Number => false,
            Holds::Signed => true,
            _ => return unable(self, "its type is not a number".to_owned()),
        };
        let bounded = member.least.is_some_and(|l| l != 0) || member.greatest.is_some_and(|g| g != ones(wide));
        if member.step == Step::Same && !bounded {
            let ty = if signed { Type::Signed } else { Type::Hex };
            return Some(Shape::Number { bits: Bits::run(at, width), ty, prefix, target: None });
        }
        // Bits that are always zero are constants; the others count steps.
        let (low, meant): (u32, Box<dyn Fn(u64) -> u64>) = match member.step {
            Step::Same => (0, Box::new(|n| n)),
            Step::Align(n) => (n.trailing_zeros(), Box::new(move |steps| steps.saturating_mul(n))),
            Step::Shift(n) => (0, Box::new(move |stored| stored << n)),
            Step::Minus(n) => (0, Box::new(move |stored| stored.saturating_add(n))),
        };
        let (least, greatest) = (member.least.unwrap_or(0), member.greatest.unwrap_or(u64::MAX));
        if signed || low >= wide || wide - low > MAX_TABLE_BITS {
            return unable(self, format!("steps and bounds are for at most {MAX_TABLE_BITS} bits without sign"));
        }
        let values: Vec<u64> = (0..=ones(wide - low)).map(&meant).collect();
        let kept: Vec<u64> = values.iter().copied().take_while(|v| *v <= greatest).collect();
        if kept.first().is_none_or(|v| *v < least) {
            return unable(self, format!("it does not start at {least}"));
        }
        if low > 0 {
            let span = member.span;
            build.form.fixed.push(Fixed { mask: ones(low) << at, value: 0, matches: false, span, declared: None });
        }
        let at = at + low as u8;
        let kind = self.arm_table(&kept, Bits::run(0, width - low as u8), &prefix, build.get(index).span);
        Some(Shape::One { kind, at })
    }

    /// A number computed from bits: a table with its value for each combination of the bits.
    fn arm_tied_number(&mut self, build: &mut Build<'_>, group: usize, index: usize, prefix: &str) -> Option<Shape> {
        let tied = &build.tied[group];
        let member = build.get(index);
        let values: Option<Vec<u64>> = tied.rows.iter().map(|r| r.value(index)).collect();
        let dense = tied.rows.iter().enumerate().all(|(i, r)| r.bits == i as u64);
        let alone = build.shown_of(group).len() == 1 && member.step == Step::Same;
        let Some(values) = values.filter(|_| alone && dense && tied.width(&build.members) <= MAX_TABLE_BITS) else {
            let message = format!("`{}` cannot be determined from the bits it is computed from", member.name.value);
            self.out.push(
                Diagnostic::error("E0082", member.span, message)
                    .note(format!("in the instruction `{}`", build.form.name)),
            );
            return None;
        };
        let bits = tied.bits(&build.members);
        let span = member.span;
        tied.members.iter().for_each(|m| build.used[*m] = true);
        let at = bits.0.iter().map(|p| p.at).min().unwrap_or(0);
        let kind = self.arm_table(&values, bits.moved_down(at), prefix, span);
        Some(Shape::One { kind, at })
    }

    /// The kind of a number from a table.
    fn arm_table(&mut self, values: &[u64], bits: Bits, prefix: &str, span: Span) -> usize {
        let shown: Vec<String> = values.iter().take(3).map(u64::to_string).collect();
        let name = format!("number {} to {}", shown.join(" "), values.last().copied().unwrap_or(0));
        let same = |c: &Constants| c.values.iter().map(|v| v.0).eq(values.iter().copied());
        let table = match self.isa.constants.iter().position(same) {
            Some(known) => known,
            None => {
                let values = values.iter().map(|v| (*v, String::new())).collect();
                self.isa.constants.push(Constants {
                    name: name.clone(),
                    doc: "Numbers in steps.".to_owned(),
                    span,
                    values,
                });
                self.isa.constants.len() - 1
            }
        };
        let is_known = |k: &Kind| matches!(&k.alternatives[..], [Alternative { fields, .. }] if matches!(&fields[..], [f] if f.ty == Type::Constant(table) && f.bits == bits));
        if let Some(known) = self.isa.kinds.iter().position(is_known) {
            return known;
        }
        let alternative = Alternative {
            name: "value".to_owned(),
            doc: String::new(),
            span,
            text_span: span,
            mask: 0,
            value: 0,
            when: Vec::new(),
            fields: vec![Field { name: "value".to_owned(), bits: bits.clone(), ty: Type::Constant(table), span }],
            text: vec![Token::Text(prefix.to_owned()), Token::Field(0)],
            also: Vec::new(),
        };
        let width = bits.end(0).min(64) as u8;
        self.isa.kinds.push(Kind {
            name,
            doc: String::new(),
            span,
            width,
            alternatives: vec![alternative],
            suffixes: Vec::new(),
        });
        self.isa.kinds.len() - 1
    }
}
