//! Instructions of a stream, with their aliases.

use isaforge_core::bits::ones;
use isaforge_core::stream::{Role, Wide};

use super::{names_of, with_value};
use crate::diagnostic::Diagnostic;
use crate::resolve::resolver::Resolver;
use crate::source::Spanned;
use crate::spec::{AliasSpec, InstructionSpec, Unused};
use crate::stream::fields::Draft;
use crate::stream::model::{Instruction, Layout, Piece, Source};

/// The maximum number of aliases of an instruction: each is compared with every text.
const MAX_ALIASES: usize = 1000;

/// The syntax of instructions, unless the specification defines another.
const DEFAULT_SYNTAX: &str = "{mnemonic}{modifiers} {operands}";

impl Resolver<'_> {
    pub(super) fn stream_instruction(
        &mut self,
        name: &Spanned<String>,
        spec: &InstructionSpec,
        family: &[(Piece, u64)],
    ) -> Option<()> {
        let stream = self.isa.stream()?;
        let (unit, longest, opcode) = (stream.unit, u16::from(stream.longest) * 8, stream.instructions.len());
        let bits = spec.word.as_ref().map_or(longest, |word| word.value);
        if bits == 0 || bits > longest || !bits.is_multiple_of(u16::from(unit) * 8) {
            let span = spec.word.as_ref().map_or(name.span, |word| word.span);
            let message = format!("no instruction has {bits} bits");
            self.out.push(Diagnostic::error("E0032", span, message).help("name the length under `word` of the file"));
            return None;
        }
        let mut layout = Layout::new(name, opcode, bits, Role::Own);
        (layout.since, layout.until) = self.lifetime(spec.since.as_ref(), spec.until.as_ref());
        self.constant(&mut layout, &spec.fixed.clone().unwrap_or_default(), true);
        for (piece, value) in family {
            let mut constant = Wide::ZERO;
            constant.set(piece.at.into(), piece.width.into(), *value);
            let mask = Layout::bits_of(&[*piece]);
            layout.mask |= mask;
            layout.value |= constant;
            layout.fixed_mask |= mask;
            layout.fixed_value |= constant;
        }
        for piece in spec.ignored.iter().flat_map(|i| i.iter()) {
            let list = crate::spec::BitList { span: piece.span, pieces: vec![piece.clone()] };
            let bits = Layout::bits_of(&self.pieces(&list)?);
            layout.ignored_at.push((bits, list.span));
            layout.ignored |= bits;
        }
        let every: Vec<_> = self.files.iter().filter_map(|(_, f)| f.every.clone()).collect();
        for every in &every {
            self.constant(&mut layout, &every.fixed.clone().unwrap_or_default(), false);
        }
        let mut draft = Draft::new(layout);
        for (name, field) in spec.fields.iter().flat_map(|f| f.iter()) {
            self.stream_field(&mut draft, name, field)?;
        }
        let every_modifier = every.iter().flat_map(|e| e.modifiers.iter().flat_map(|m| m.iter()));
        for (name, modifier) in spec.modifiers.iter().flat_map(|m| m.iter()).chain(every_modifier) {
            self.stream_modifier(&mut draft, name, modifier)?;
        }
        for (name, operand) in spec.operands.iter().flat_map(|o| o.iter()) {
            self.stream_operand(&mut draft, name, operand)?;
        }
        self.settle(&mut draft)?;
        let rest = draft.layout.undefined();
        match self.unused_bits() {
            Some(Unused::Zero) => draft.layout.fixed_mask |= rest,
            Some(Unused::Ignored) => draft.layout.ignored |= rest,
            None => {}
        }
        draft.layout.conditions = self.stream_conditions(&draft, spec.r_where.iter().flat_map(|w| w.iter()))?;
        if let Some(length) = &spec.length {
            draft.layout.length = Some(self.number_of(&draft, length)?);
        }
        let common = self.files.iter().find_map(|(_, f)| f.syntax.clone());
        let syntax =
            spec.syntax.clone().or(common).unwrap_or_else(|| Spanned::new(DEFAULT_SYNTAX.to_owned(), name.span));
        draft.layout.text = self.tokens(&draft, &syntax, name.span, &name.value, &[])?;
        draft.layout.text_span = syntax.span;
        let mut layouts = vec![draft.layout.clone()];
        for (number, (alias, of)) in spec.aliases.iter().flat_map(|a| a.iter()).enumerate() {
            if number == MAX_ALIASES {
                let message = format!("an instruction has at most {MAX_ALIASES} aliases");
                self.out.push(Diagnostic::error("E0033", alias.span, message));
                return None;
            }
            layouts.push(self.alias(&draft, alias, of)?);
        }
        let note = self.note(spec);
        let instruction = Instruction {
            name: name.value.clone(),
            title: spec.title.clone().unwrap_or_default(),
            doc: spec.doc.clone().unwrap_or_default(),
            unit: spec.unit.clone().unwrap_or_default(),
            span: name.span,
            source: self.place(name.span),
            provenance: spec.provenance.unwrap_or_else(|| self.default_provenance()),
            note,
        };
        let stream = self.isa.stream_mut()?;
        stream.instructions.push(instruction);
        stream.sets[0].layouts.extend(layouts);
        Some(())
    }

    fn alias(&mut self, draft: &Draft, name: &Spanned<String>, spec: &AliasSpec) -> Option<Layout> {
        let role = if spec.prints.unwrap_or(false) { Role::Preferred } else { Role::Assembler };
        let mut layout = Layout { role, span: name.span, name: name.value.clone(), ..draft.layout.clone() };
        layout.conditions.extend(self.stream_conditions(draft, spec.r_where.iter().flat_map(|w| w.iter()))?);
        let mut said = Vec::new();
        for (field, value) in spec.with.iter().flat_map(|w| w.iter()) {
            let index = Resolver::find(self.out, "field", field, names_of(&draft.layout))?;
            let known = &draft.layout.fields[index];
            let whole = i128::from(ones(known.width.into()));
            let least = if known.signed { -(whole / 2) - 1 } else { 0 };
            let number = self.constant_of(known, value)?;
            if matches!(known.source, Source::Bits(_)) && !(least..=whole).contains(&number) {
                let message = format!("{number} does not fit the {} bits of `{}`", known.width, known.name);
                self.out.push(Diagnostic::error("E0108", value.span(), message).secondary(known.span, "the field"));
            }
            with_value(&mut layout, index, number as u64);
            said.push(index);
        }
        let syntax = spec.syntax.clone().unwrap_or_else(|| Spanned::new("{mnemonic} {operands}".to_owned(), name.span));
        layout.text = self.tokens(draft, &syntax, name.span, &name.value, &said)?;
        layout.text_span = syntax.span;
        Some(layout)
    }
}
