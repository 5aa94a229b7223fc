//! Changes of the machine: what lanes, registers and states are, whatever the instructions.

use isaforge_core::machine::{Divergence, Hardware};
use isaforge_core::semantics::{Semantics, instantiate, show};

use super::change::{How, Subject, change};
use super::difference::{DefinitionDiff, Sort};

/// Compares two machines. `None` if they are the same, or one of them is not known.
pub(super) fn machine(
    name: &str,
    old: (Option<&'static Semantics>, Option<&'static Hardware>),
    new: (Option<&'static Semantics>, Option<&'static Hardware>),
) -> Option<DefinitionDiff> {
    let (old, new) = (facts(old.0?, old.1?), facts(new.0?, new.1?));
    let find = |facts: &[(String, String)], name: &str| {
        facts.iter().find(|(known, _)| known == name).map_or("none".to_owned(), |(_, value)| value.clone())
    };
    let added = new.iter().filter(|(name, _)| old.iter().all(|(known, _)| known != name));
    let names = old.iter().chain(added).map(|(name, _)| name);
    let changes: Vec<_> = names
        .map(|name| (name, find(&old, name), find(&new, name)))
        .filter(|(_, old, new)| old != new)
        .map(|(name, old, new)| change(Subject::Property, How::Changed, name, old, new))
        .collect();
    let name = name.to_owned();
    let changed = DefinitionDiff { sort: Sort::Machine, how: How::Changed, name, renamed: String::new(), changes };
    (!changed.changes.is_empty()).then_some(changed)
}

/// The properties of a machine, by name.
fn facts(semantics: &'static Semantics, hardware: &'static Hardware) -> Vec<(String, String)> {
    let divergence = match hardware.divergence {
        Divergence::Refused => "refused",
        Divergence::LowestFirst => "lowest first",
        Divergence::Masked => "masked",
        Divergence::Together => "together",
    };
    let yes = |is: bool, what: &str| is.then(|| what.to_owned());
    let listed = |parts: Vec<Option<String>>| parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let mut facts = vec![
        ("lanes".to_owned(), hardware.lanes.to_string()),
        ("divergence".to_owned(), divergence.to_owned()),
        ("unit".to_owned(), hardware.unit.to_string()),
        ("aligned".to_owned(), hardware.aligned.to_string()),
        ("program memory".to_owned(), hardware.program.to_string()),
        ("program counter".to_owned(), format!("{} bits", semantics.pc_bits)),
    ];
    for bank in hardware.banks {
        let parts = vec![
            Some(format!("{} bits", bank.width)),
            bank.zero.map(|zero| format!("register {zero} is zero")),
            yes(bank.uniform, "uniform"),
            yes(bank.fixed, "fixed"),
            yes(bank.stays, "stays"),
            (!bank.holds.is_empty()).then(|| format!("holds {:x?}", bank.holds)),
        ];
        facts.push((format!("registers {}n{}", bank.open, bank.close), listed(parts)));
    }
    for (state, number) in semantics.states.iter().zip(0..) {
        let alias = hardware.aliases.iter().find(|(alias, _)| *alias == number);
        let bits = hardware.bits.iter().find(|(bits, _)| *bits == number);
        let of = bits.and_then(|(_, of)| semantics.states.get(usize::from(*of)));
        let parts = vec![
            Some(state.ty.to_string()),
            (state.count != 1).then(|| format!("{} elements", state.count)),
            yes(hardware.uniform.contains(&number), "uniform"),
            alias.map(|(_, register)| format!("register {}", hardware.name(*register))),
            of.map(|of| format!("the bits of {}", of.name)),
        ];
        facts.push((format!("state {}", state.name), listed(parts)));
    }
    for space in hardware.spaces {
        let name = semantics.spaces.get(usize::from(space.space)).copied().unwrap_or_default();
        let beyond = if space.open { ", zeros beyond" } else { "" };
        facts.push((format!("space {name}"), format!("{} bytes{beyond}", space.size)));
    }
    let intrinsic = |index: u16| semantics.intrinsics.get(usize::from(index)).map_or("", |known| known.name);
    for performed in hardware.intrinsics {
        let shape = instantiate(semantics, &performed.operation, |_| 0);
        let name = format!("intrinsic {}", intrinsic(performed.intrinsic));
        facts.push((name, show(semantics, &shape, |_| "argument")));
    }
    facts.extend(hardware.unmasks.map(|unmasks| ("unmasks".to_owned(), intrinsic(unmasks).to_owned())));
    facts.extend(hardware.elf.map(|machine| ("machine number in ELF files".to_owned(), machine.to_string())));
    for burst in hardware.bursts {
        let way = if burst.stores { "stores" } else { "loads" };
        facts.push((format!("burst {}", intrinsic(burst.intrinsic)), way.to_owned()));
    }
    if let Some(start) = &hardware.start {
        let shape = instantiate(semantics, start, |_| 0);
        facts.push(("start".to_owned(), show(semantics, &shape, |_| "?")));
    }
    facts
}
