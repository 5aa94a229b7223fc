//! The registers that instructions access without showing them.
//!
//! LLVM's records have them as `Uses` and `Defs`, which the document leaves out; `implied.tsv` lists them by names of
//! records. They become operands that no text has.

use super::generation::WAVES_OF_32;
use super::instruction::Maker;
use crate::read::pattern::matches;
use crate::spec::{Access, BankSpec, Constant, OperandSpec};

/// Registers, accesses, and names of records.
const TABLE: &str = include_str!("implied.tsv");
/// The bank of the registers with names.
pub(super) const BANK: &str = "special";
/// The end of the name of a register that holds the lower half of a mask of lanes.
const LOWER: &str = "_lo";

/// The implied registers of a record, and how it accesses them.
fn of(record: &str) -> Vec<(&'static str, Access)> {
    let mut found: Vec<(&'static str, Access)> = Vec::new();
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let [register, access, names] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        if found.iter().all(|(known, _)| *known != register) && names.split(' ').any(|name| matches(name, record)) {
            let access = match access {
                "read" => Access::Read,
                "write" => Access::Write,
                "read-write" => Access::ReadWrite,
                _ => Access::None,
            };
            found.push((register, access));
        }
    }
    found.retain(|(_, access)| *access != Access::None);
    found
}

/// The number of a register with a name, and how many registers it is on a processor.
fn number(bank: &BankSpec, register: &str, generation: u32) -> Option<(usize, u16)> {
    let names = bank.names.as_ref()?;
    let lower = format!("{register}{LOWER}");
    let at = names.iter().position(|name| name.value == register || name.value == lower)?;
    let is_mask = names[at].value == lower;
    Some((at, if is_mask && generation < WAVES_OF_32 { 2 } else { 1 }))
}

impl Maker<'_> {
    /// Adds the registers that the instruction accesses without showing them.
    pub fn implied(&mut self) {
        for (register, access) in of(&self.record.name) {
            let Some((at, count)) =
                self.kinds.special.as_ref().and_then(|bank| number(bank, register, self.generation))
            else {
                continue;
            };
            let (value, bank) = (Some(self.spanned(at.to_string())), Some(self.spanned(BANK)));
            let size = Some(Constant::Number(self.bits_of(count)));
            let spec = OperandSpec { value, bank, ..self.operand_spec(access, size) };
            self.operands.push((self.spanned(register), spec));
        }
    }
}
