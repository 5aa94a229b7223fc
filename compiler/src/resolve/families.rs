//! Entries that stand for several instructions, and the notes that rulings make.

use std::collections::HashSet;

use crate::diagnostic::Diagnostic;
use crate::model::Fixed;
use crate::resolve::Resolver;
use crate::source::Spanned;
use crate::spec::{FamilySpec, InstructionSpec, RulingSpec};

/// The most instructions a family may have.
const LARGEST_FAMILY: u16 = 1024;

impl Resolver<'_> {
    /// Adds the instructions of a family.
    pub(crate) fn family(&mut self, name: &Spanned<String>, spec: &InstructionSpec, family: &FamilySpec) {
        let Some(bits) = self.bits(&family.bits) else { return };
        let mark = format!("{{{}}}", family.parameter);
        let count = family.count.value;
        let most = 1u64.checked_shl(bits.width()).unwrap_or(u64::MAX);
        if count == 0 || count > LARGEST_FAMILY || u64::from(count) > most {
            let message = format!("a family of {count} does not fit {} bits", bits.width());
            self.out.push(Diagnostic::error("E0108", family.count.span, message).secondary(family.bits.span, "these bits"));
            return;
        }
        if !name.value.contains(&mark) {
            let message = format!("all instructions of the family would be called `{}`", name.value);
            self.out.push(Diagnostic::error("E0044", name.span, message).help(format!("write `{mark}` for the number")));
            return;
        }
        for number in 0..u64::from(count) {
            let with = |text: &Option<String>| text.as_ref().map(|t| t.replace(&mark, &number.to_string()));
            let member = InstructionSpec {
                title: with(&spec.title),
                doc: with(&spec.doc),
                note: with(&spec.note),
                ..spec.clone()
            };
            let mut rest = number;
            let mut fixed = Vec::new();
            for piece in &bits.0 {
                let ones = isaforge_core::bits::ones(u32::from(piece.width));
                let (mask, value) = (ones << piece.at, (rest & ones) << piece.at);
                fixed.push(Fixed { mask, value, matches: true, span: family.bits.span });
                rest = rest.checked_shr(u32::from(piece.width)).unwrap_or(0);
            }
            let name = Spanned::new(name.value.replace(&mark, &number.to_string()), name.span);
            self.instruction(name, member, fixed);
        }
    }

    /// A note with the rulings that an instruction rests on, a line each: its own after those that all rest on.
    pub(crate) fn note<'r>(
        &mut self,
        note: Option<String>,
        own: impl Iterator<Item = &'r Spanned<String>>,
    ) -> String {
        let rulings: Vec<(Spanned<String>, RulingSpec)> = self.all(|f| &f.rulings);
        let every = self.files.iter().filter_map(|(_, f)| f.every.as_ref()?.rulings.clone()).flatten();
        let named: Vec<Spanned<String>> = every.collect::<Vec<_>>().into_iter().chain(own.cloned()).collect();
        let mut lines: Vec<String> = note.into_iter().collect();
        for name in named {
            let names = rulings.iter().map(|(n, _)| n.value.as_str());
            if let Some(index) = Resolver::find(self.out, "ruling", &name, names) {
                let RulingSpec { rule, reason, .. } = &rulings[index].1;
                lines.push(format!("{} (assumed): {rule} Reason: {reason}", name.value));
            }
        }
        lines.join("\n")
    }

    /// Warns of rulings that no instruction rests on.
    pub(crate) fn unused_rulings(&mut self) {
        let own = self.files.iter().flat_map(|(_, f)| f.instructions.iter().flat_map(|n| n.iter()));
        let own = own.flat_map(|(_, i)| i.rulings.iter().flatten());
        let every = self.files.iter().filter_map(|(_, f)| f.every.as_ref()?.rulings.as_ref()).flatten();
        let used: HashSet<&str> = own.chain(every).map(|name| name.value.as_str()).collect();
        for (name, _) in self.files.iter().filter_map(|(_, f)| f.rulings.as_ref()).flat_map(|n| n.iter()) {
            if !used.contains(name.value.as_str()) {
                let message = format!("nothing rests on the ruling `{}`", name.value);
                self.out.push(Diagnostic::warning("W0202", name.span, message));
            }
        }
    }
}
