//! Machines on which lanes that do not follow a branch are masked: where some lanes may be.

use isaforge_core::machine::Divergence;

use crate::effects::When;
use crate::entry::Instruction;
use crate::program::Program;

impl Program<'_> {
    /// Masked lanes keep what an instruction overwrites, and go on after an instruction at which the others end.
    pub(crate) fn mask_lanes(&mut self) {
        let Some(hardware) = self.set.hardware.filter(|hardware| hardware.divergence == Divergence::Masked) else {
            return;
        };
        let unmasks = |one: &Instruction| hardware.unmasks.is_some_and(|unmasks| one.calls(unmasks));
        let masked = self.maybe_masked(&unmasks);
        for (entry, _) in self.entries.iter_mut().zip(masked).filter(|(_, masked)| *masked) {
            let Ok(one) = &mut entry.instruction else { continue };
            if !unmasks(one) {
                one.writes.iter_mut().for_each(|(_, whole)| *whole = false);
                one.flow.masked = true;
            }
        }
    }

    /// For each entry: whether some lanes may be masked before it. Execution may start anywhere that nothing else leads
    /// to, with all lanes.
    fn maybe_masked(&self, unmasks: &impl Fn(&Instruction) -> bool) -> Vec<bool> {
        let mut found: Vec<Option<bool>> = vec![None; self.entries.len()];
        let mut open: Vec<(usize, bool)> = Vec::new();
        for start in 0..self.entries.len() {
            open.extend(found[start].is_none().then_some((start, false)));
            while let Some((entry, before)) = open.pop() {
                let Some(known) = found.get_mut(entry).filter(|known| known.is_none_or(|known| !known && before))
                else {
                    continue;
                };
                *known = Some(before);
                let Some(one) = self.instruction(entry) else { continue };
                let masked = before && !unmasks(one);
                let flow = &one.flow;
                if flow.branch != When::Never {
                    let after = masked || flow.branch == When::Sometimes;
                    match flow.target {
                        Some(target) => open.extend(self.place(target).map(|entry| (entry, after))),
                        None if one.callee.is_some() => {}
                        None => return vec![true; self.entries.len()],
                    }
                }
                if flow.falls_through() || masked && flow.end != When::Never {
                    open.push((entry + 1, masked));
                }
            }
        }
        found.into_iter().map(|found| found == Some(true)).collect()
    }
}
