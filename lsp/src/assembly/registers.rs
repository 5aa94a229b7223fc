//! The registers of a set and how they are written.

use isaforge_analysis::{Register, Set};
use isaforge_core::Tables;
use isaforge_core::group::table::RegisterName;

/// The maximum number of registers of a bank that are offered or searched for.
const MAX_REGISTERS: u32 = 1024;

/// The registers of a set with the names that listings have for them.
pub(crate) fn registers(set: &Set) -> Vec<(String, Register)> {
    let in_banks = |banks: usize| {
        let all = (0..banks as u16)
            .flat_map(|bank| (0..set.count(bank).min(MAX_REGISTERS)).map(move |index| Register { bank, index }));
        all.map(|register| (set.name(register), register)).collect()
    };
    let mut found: Vec<(String, Register)> = match set.tables {
        Tables::Words(isa) => in_banks(isa.banks.len()),
        Tables::Streams(engine) => in_banks(engine.stream.banks.len()),
        Tables::Groups(isa) => isa.registers.iter().flat_map(of_group).collect(),
    };
    found.retain(|(name, _)| !name.is_empty());
    found
}

/// The registers of a set with all names that the assembler accepts.
pub(crate) fn spellings(set: &Set) -> Vec<(String, Register)> {
    let mut found = registers(set);
    if let Tables::Streams(engine) = set.tables {
        for (index, bank) in (0_u16..).zip(engine.stream.banks) {
            let also = bank.also.iter().map(|(name, number)| ((*name).to_owned(), *number));
            // Registers with names of their own can be written with their number, too.
            let named = (0..bank.count.min(MAX_REGISTERS)).zip(bank.names).filter(|(_, name)| !name.is_empty());
            let numbered = named.map(|(number, _)| (format!("{}{number}{}", bank.open, bank.close), number));
            found.extend(also.chain(numbered).map(|(name, number)| (name, Register { bank: index, index: number })));
        }
    }
    found
}

/// The registers that a spelling in a set of groups stands for.
pub(crate) fn of_group(name: &'static RegisterName) -> impl Iterator<Item = (String, Register)> {
    let numbers = (name.from..=name.to).take(MAX_REGISTERS as usize);
    numbers.filter_map(|number| {
        let bank = u16::try_from(name.bank).ok()?;
        let index = u32::try_from(number.checked_shl(name.low.min(16).into())? | name.is).ok()?;
        let shown = number - name.from + name.first;
        Some((format!("{}{shown}{}", name.before, name.after), Register { bank, index }))
    })
}
