//! Unused parts of a specification that are not visible in the model.

use std::collections::HashSet;

use super::resolver::Resolver;
use crate::diagnostic::Diagnostic;
use crate::model::Shape;
use crate::suggest::did_you_mean;

impl Resolver<'_> {
    /// Warns of rulings that no instruction depends on (W0202), of limits that never apply (W0206), and of missing
    /// provenance (W0208). After an error, only rulings are checked.
    pub(crate) fn unused(&mut self) {
        // The uses of rulings are known from the files, whatever else is wrong, and an unused ruling may be one whose
        // name is misspelt.
        self.unused_rulings();
        if !self.out.has_errors() {
            self.unused_limits();
            self.missing_provenance();
        }
    }

    /// Warns if the provenance of facts is missing (W0208): neither the specification nor every instruction states it.
    fn missing_provenance(&mut self) {
        if self.files.iter().any(|(_, f)| f.provenance.is_some()) {
            return;
        }
        let instructions = self.files.iter().flat_map(|(_, f)| f.instructions.iter().flat_map(|n| n.iter()));
        let silent = instructions.filter(|(_, spec)| spec.provenance.is_none()).count();
        let from_xml = self.files.iter().any(|(_, f)| f.xml.is_some());
        let Some(span) = self.isa.span.filter(|_| silent > 0 || from_xml) else { return };
        let warning =
            Diagnostic::warning("W0208", span, format!("`{}` does not give the source of its facts", self.isa.name));
        let words = crate::spec::Provenance::ALL.iter().map(|word| word.as_str());
        self.out.push(warning.help(format!("write `provenance:` {} at the top", crate::suggest::one_of(words))));
    }

    fn unused_rulings(&mut self) {
        let own = self.files.iter().flat_map(|(_, f)| f.instructions.iter().flat_map(|n| n.iter()));
        let own = own.flat_map(|(_, i)| i.rulings.iter().flatten());
        let every = self.files.iter().filter_map(|(_, f)| f.every.as_ref()?.rulings.as_ref()).flatten();
        let kinds = self.files.iter().flat_map(|(_, f)| f.kinds.iter().flat_map(|n| n.iter()));
        let kinds = kinds.flat_map(|(_, k)| k.rulings.iter().flatten());
        let used: HashSet<&str> = own.chain(every).chain(kinds).map(|name| name.value.as_str()).collect();
        for (name, _) in self.files.iter().filter_map(|(_, f)| f.rulings.as_ref()).flat_map(|n| n.iter()) {
            if !used.contains(name.value.as_str()) && !self.bases.contains(&name.span.file) {
                let message = format!("the ruling `{}` is never used", name.value);
                self.out.push(Diagnostic::warning("W0202", name.span, message));
            }
        }
    }

    fn unused_limits(&mut self) {
        for limit in self.isa.limits.clone() {
            let counted = |form: &crate::model::Form| {
                let is_counted = |shape: &Shape| matches!(shape, Shape::One { kind, .. } if *kind == limit.kind);
                form.operands.iter().filter(|operand| is_counted(&operand.shape)).count()
            };
            let most = self.isa.forms.iter().map(counted).max().unwrap_or(0);
            let least = limit.except.iter().map(|(_, at_most)| *at_most).chain([limit.at_most]).min().unwrap_or(0);
            if most <= usize::from(least) {
                let kind = &self.isa.kinds[limit.kind].name;
                let operands = if most == 1 { "operand" } else { "operands" };
                let message = format!(
                    "this limit never binds: no instruction has more than {most} {operands} of the kind `{kind}`"
                );
                self.never_applies(limit.span, &message, None);
            }
            let units: HashSet<String> = self.isa.forms.iter().map(|form| form.unit.clone()).collect();
            for unit in limit.except.iter().flat_map(|(units, _)| units).filter(|unit| !units.contains(&unit.value)) {
                let mut names: Vec<&str> = units.iter().map(String::as_str).collect();
                names.sort_unstable();
                let near = did_you_mean(unit, names);
                self.never_applies(unit.span, &format!("no instruction is executed by a unit `{}`", unit.value), near);
            }
        }
    }
}
