//! Operands and modifiers of a layout: fields with their suffixes, and how they are written.

use isaforge_core::semantics::Comparison;

use super::{Draft, Parts};
use crate::diagnostic::Diagnostic;
use crate::resolve::resolver::Resolver;
use crate::source::Spanned;
use crate::spec::{self, Constant, ModifierSpec, OperandSpec};
use crate::stream::model::{self, Expr, Token, Type};

impl Resolver<'_> {
    /// Adds an operand with its suffixes.
    pub(in crate::stream) fn stream_operand(
        &mut self,
        draft: &mut Draft,
        name: &Spanned<String>,
        spec: &OperandSpec,
    ) -> Option<()> {
        let target = self.target_of(spec.target, spec.bits.as_ref());
        let parts = Parts {
            bits: spec.bits.as_ref(),
            at: spec.at.as_ref(),
            bank: spec.bank.as_ref(),
            kind: spec.kind.as_ref(),
            names: spec.r_enum.as_ref(),
            number: spec.immediate.as_ref(),
            value: spec.value.as_ref(),
            encode: spec.encode.as_ref(),
            default: spec.default.as_ref(),
            with: spec.with.as_ref(),
            target,
        };
        let is_number = spec.bank.is_none() && spec.kind.is_none();
        let prefix = spec.prefix.clone().unwrap_or_else(|| if is_number { "#".to_owned() } else { String::new() });
        let index = self.add(draft, name, spec.doc.clone().unwrap_or_default(), &parts, &prefix)?;
        let of_kind = self.suffixes_of_kind(spec)?;
        let own = spec.suffixes.iter().flat_map(|s| s.iter().cloned());
        for (suffix, spec) in of_kind.into_iter().chain(own) {
            let name = Spanned::new(format!("{}.{}", name.value, suffix.value), suffix.span);
            let prints = spec.prints.clone().unwrap_or_else(|| suffix.value.clone());
            let suffix = self.add_modifier(draft, &name, &prints, &spec)?;
            let tokens = draft.shown[suffix].clone();
            draft.shown[index].extend(tokens);
        }
        let width = match draft.layout.fields[index].ty {
            Type::Register(bank) => self.isa.stream().map_or(0, |stream| stream.banks[bank].width),
            Type::Set(..) => 32,
            _ => 0,
        };
        let access = spec.access.unwrap_or(if is_number { spec::Access::None } else { spec::Access::Read });
        let (size, sized) = match &spec.size {
            None => (width, None),
            Some(Constant::Number(size)) => (size.value, None),
            Some(Constant::Name(name)) => {
                let fields = draft.layout.fields.iter().map(|f| (f.name.as_str(), Some(f.span)));
                (width, Some(Resolver::find(self.out, "field", name, fields)?))
            }
        };
        draft.layout.operands.push(model::Operand { field: index, access, size, sized });
        Some(())
    }

    /// The suffixes of an operand's kind, with their bits relative to the instruction.
    fn suffixes_of_kind(&mut self, spec: &OperandSpec) -> Option<Vec<(Spanned<String>, ModifierSpec)>> {
        let Some(kind) = &spec.kind else { return Some(Vec::new()) };
        let kinds = self.all(|file| &file.kinds);
        let suffixes = kinds.into_iter().find(|(name, _)| name.value == kind.value).and_then(|(_, kind)| kind.suffixes);
        let Some(suffixes) = suffixes else { return Some(Vec::new()) };
        let Some(at) = &spec.at else {
            let message =
                format!("operands of the kind `{}` are followed by suffixes, so they need a position", kind.value);
            self.out.push(Diagnostic::error("E0022", kind.span, message).help("give its start: `at: 0`"));
            return None;
        };
        let moved = |(name, spec): &(Spanned<String>, ModifierSpec)| {
            let mut spec = spec.clone();
            for piece in &mut spec.bits.pieces {
                if let spec::Piece::Run { high, low } = &mut piece.value {
                    (*high, *low) = (high.saturating_add(at.value), low.saturating_add(at.value));
                }
            }
            (name.clone(), spec)
        };
        Some(suffixes.iter().map(moved).collect())
    }

    /// Adds a modifier and returns its index.
    pub(in crate::stream) fn stream_modifier(
        &mut self,
        draft: &mut Draft,
        name: &Spanned<String>,
        spec: &ModifierSpec,
    ) -> Option<usize> {
        let prints = spec.prints.clone().unwrap_or_else(|| name.value.clone());
        let index = self.add_modifier(draft, name, &prints, spec)?;
        draft.modifiers.push(index);
        Some(index)
    }

    fn add_modifier(
        &mut self,
        draft: &mut Draft,
        name: &Spanned<String>,
        prints: &str,
        spec: &ModifierSpec,
    ) -> Option<usize> {
        let parts = Parts { bits: Some(&spec.bits), names: spec.r_enum.as_ref(), ..Parts::default() };
        let index = self.add(draft, name, spec.doc.clone().unwrap_or_default(), &parts, "")?;
        draft.layout.modifiers.push(index);
        let mut default = None;
        if let Type::Enum(e, _) = draft.layout.fields[index].ty {
            let names = &self.isa.enums[e];
            default = match &spec.default {
                Some(word) => match names.values.iter().find(|value| value.name == word.value) {
                    Some(value) => Some(value.bits),
                    None => {
                        let message = format!("`{}` has no value called `{}`", names.name, word.value);
                        self.out.push(Diagnostic::error("E0101", word.span, message));
                        return None;
                    }
                },
                None => names.default,
            };
        }
        let text = match draft.layout.fields[index].ty {
            Type::Enum(..) => vec![Token::Text(".".to_owned()), Token::Field(index)],
            _ => vec![Token::Text(format!(".{prints}"))],
        };
        let is_flag = !matches!(draft.layout.fields[index].ty, Type::Enum(..));
        if spec.prints.is_some() && !is_flag {
            self.no_meaning(name.span.to(spec.span), "prints", "a choice, whose values have words of their own");
        }
        if spec.implied.is_some() {
            self.no_meaning(name.span.to(spec.span), "implied", "a modifier outside of an `xml` section");
        }
        draft.layout.fields[index].default = default.unwrap_or(0);
        draft.shown[index] = match default.or(is_flag.then_some(0)) {
            Some(quiet) => {
                let text_of = format!("{} != {quiet}", name.value);
                vec![Token::If(Expr::compares(index, Comparison::NotEqual, quiet, text_of), text)]
            }
            None => text,
        };
        Some(index)
    }
}
