//! Entries that define several instructions, and the notes that result from rulings.

use std::collections::{HashMap, HashSet};

use super::resolver::{Resolver, Rulings};
use crate::diagnostic::{self, Diagnostic};
use crate::model::Fixed;
use crate::source::Spanned;
use crate::spec::{FamilySpec, InstructionSpec, RulingSpec};

/// The maximum number of instructions in a family.
const MAX_FAMILY: u16 = 1024;

impl Resolver<'_> {
    /// Adds the instructions of a family.
    pub(crate) fn family(&mut self, name: &Spanned<String>, spec: &InstructionSpec, family: &FamilySpec) {
        let Some(bits) = self.bits(&family.bits) else { return };
        let mark = format!("{{{}}}", family.parameter);
        let count = family.count.value;
        let most = 1u64.checked_shl(bits.width()).unwrap_or(u64::MAX);
        if count == 0 || count > MAX_FAMILY || u64::from(count) > most {
            let message =
                format!("a family of {count} does not fit {}", diagnostic::count(bits.width() as usize, "bit"));
            self.out
                .push(Diagnostic::error("E0108", family.count.span, message).secondary(family.bits.span, "these bits"));
            return;
        }
        if !name.value.contains(&mark) {
            let message = format!("all instructions of the family would be called `{}`", name.value);
            self.out
                .push(Diagnostic::error("E0102", name.span, message).help(format!("write `{mark}` for the number")));
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
                fixed.push(Fixed { mask, value, matches: true, span: family.bits.span, declared: None });
                rest = rest.checked_shr(u32::from(piece.width)).unwrap_or(0);
            }
            let name = Spanned::new(name.value.replace(&mark, &number.to_string()), name.span);
            self.isa.parameters.insert(name.value.clone(), (family.parameter.clone(), number));
            self.instruction(name, member, fixed);
        }
    }

    /// The note of an instruction, with the rulings it depends on, one per line: those of all instructions, those of
    /// its operands' kinds, and its own.
    pub(crate) fn note(&mut self, spec: &InstructionSpec) -> String {
        let known = match &self.rulings {
            Some(known) => known.clone(),
            None => self.rulings.insert(rulings(self).into()).clone(),
        };
        let Rulings { rulings, of_kinds } = &*known;
        let used = spec.operands.iter().flat_map(|o| o.iter()).filter_map(|(_, o)| o.kind.as_ref());
        let of_kinds = used.filter_map(|used| of_kinds.get(&used.value)).flatten();
        let every: Vec<_> =
            self.files.iter().filter_map(|(_, f)| f.every.as_ref()?.rulings.clone()).flatten().collect();
        let mut lines: Vec<String> = spec.note.iter().cloned().collect();
        let mut seen = HashSet::new();
        for name in every.iter().chain(of_kinds).chain(spec.rulings.iter().flatten()) {
            let names = rulings.iter().map(|(n, _)| (n.value.as_str(), Some(n.span)));
            if let Some(index) = Resolver::find(self.out, "ruling", name, names)
                && seen.insert(index)
            {
                let RulingSpec { rule, reason, .. } = &rulings[index].1;
                lines.push(format!("{} (assumed): {rule} Reason: {reason}", name.value));
            }
        }
        lines.join("\n")
    }
}

fn rulings(resolver: &Resolver<'_>) -> Rulings {
    let mut of_kinds: HashMap<String, Vec<Spanned<String>>> = HashMap::new();
    let kinds = resolver.files.iter().filter_map(|(_, f)| f.kinds.as_ref()).flat_map(|kinds| kinds.iter());
    for (name, kind) in kinds {
        if let Some(rulings) = &kind.rulings {
            of_kinds.entry(name.value.clone()).or_default().extend(rulings.iter().cloned());
        }
    }
    Rulings { rulings: resolver.all(|f| &f.rulings), of_kinds }
}
