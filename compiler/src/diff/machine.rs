//! Changes of the machine: what lanes, registers and states are, whatever the instructions.
//!
//! Structs are taken apart without `..`, so that a new field must be compared, or left out for a reason.

use isaforge_core::machine::{Bank, Burst, Call, Divergence, Hardware, Performed, Register, Service, Space};
use isaforge_core::semantics::facts::{Callee, Preload};
use isaforge_core::semantics::{Semantics, State, instantiate, show};

use super::change::{How, Subject, change};
use super::difference::{DefinitionDiff, Sort};
use super::revision::Revision;

/// Compares two machines. `None` if they are the same, or one of them is not known. A revision comes with the names of
/// its banks.
pub(super) fn machine<T>(
    name: &str,
    (old, old_banks): (Revision<T>, &[&str]),
    (new, new_banks): (Revision<T>, &[&str]),
) -> Option<DefinitionDiff> {
    let before = facts(old_banks, old.semantics?, old.hardware?);
    let after = facts(new_banks, new.semantics?, new.hardware?);
    let find = |facts: &[(String, String)], name: &str| {
        facts.iter().find(|(known, _)| known == name).map_or("none".to_owned(), |(_, value)| value.clone())
    };
    let added = after.iter().filter(|(name, _)| before.iter().all(|(known, _)| known != name));
    let names = before.iter().chain(added).map(|(name, _)| name);
    let changes: Vec<_> = names
        .map(|name| (name, find(&before, name), find(&after, name)))
        .filter(|(_, old, new)| old != new)
        .map(|(name, old, new)| change(Subject::Property, How::Changed, name, old, new))
        .collect();
    let name = name.to_owned();
    let changed = DefinitionDiff { sort: Sort::Machine, how: How::Changed, name, renamed: String::new(), changes };
    (!changed.changes.is_empty()).then_some(changed)
}

/// The properties of a machine, by name.
fn facts(banks: &[&str], semantics: &'static Semantics, hardware: &Hardware) -> Vec<(String, String)> {
    [of_semantics(semantics), of_hardware(banks, semantics, hardware)].concat()
}

fn yes(is: bool, what: &str) -> Option<String> {
    is.then(|| what.to_owned())
}

fn listed(parts: impl IntoIterator<Item = Option<String>>) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Those that come with what instructions do.
fn of_semantics(semantics: &'static Semantics) -> Vec<(String, String)> {
    let Semantics {
        // Compared in every instruction that refers to them.
        operations: _,
        intrinsics: _,
        spaces: _,
        faults: _,
        flow: _,
        nan16: _,
        nan32: _,
        nan64: _,
        // Compared with the machine, which may give them further properties.
        states: _,
        // Compared with the header of groups.
        path: _,
        // How well the behaviour is known, not what it is.
        fidelity: _,
        pc_bits,
        preloads,
        callees,
        last_read,
    } = *semantics;
    let mut facts = vec![("program counter".to_owned(), format!("{pc_bits} bits"))];
    for preload in preloads {
        let Preload { name, doc: _, first, values, uniform } = *preload;
        let same = uniform.iter().map(|register| Some(register.to_string()));
        let parts = [
            Some(format!("from register {first}: {}", listed(values.iter().map(|(name, _)| yes(true, name))))),
            (!uniform.is_empty()).then(|| format!("the same in a workgroup: {}", listed(same))),
        ];
        facts.push((format!("preload {name}"), listed(parts)));
    }
    for callee in callees {
        let Callee { name, doc: _, instruction, target, addresses: _, link, clobbers } = *callee;
        let addresses = callee.targets().map(|value| yes(true, value));
        let parts = [
            Some(format!("{instruction} with the {target} {}", listed(addresses))),
            Some(format!("returns to register {link}")),
            Some(format!("overwrites {}", listed(clobbers.iter().map(|register| Some(register.to_string()))))),
        ];
        facts.push((format!("callee {name}"), listed(parts)));
    }
    facts.extend(yes(!last_read.is_empty(), last_read).map(|name| ("last read".to_owned(), name)));
    facts
}

fn of_hardware(names: &[&str], semantics: &'static Semantics, hardware: &Hardware) -> Vec<(String, String)> {
    let Hardware {
        lanes,
        divergence,
        unit,
        aligned,
        elf,
        program,
        banks,
        aliases: _,
        bits: _,
        uniform: _,
        // Compared in every instruction with such operands.
        readings: _,
        discards: _,
        spaces,
        calls,
        intrinsics,
        bursts,
        unmasks,
        ref start,
        // Compared with the spellings of the registers that groups name.
        named: _,
    } = *hardware;
    let divergence = match divergence {
        Divergence::Refused => "refused",
        Divergence::LowestFirst => "lowest first",
        Divergence::Masked => "masked",
        Divergence::Together => "together",
    };
    let mut facts = vec![
        ("lanes".to_owned(), lanes.to_string()),
        ("divergence".to_owned(), divergence.to_owned()),
        ("unit".to_owned(), unit.to_string()),
        ("aligned".to_owned(), aligned.to_string()),
        ("program memory".to_owned(), program.to_string()),
    ];
    let state = |index: u16| semantics.states.get(usize::from(index)).map_or("", |state| state.name);
    facts.extend(names.iter().zip(banks).map(|(name, known)| (format!("registers {name}"), bank(known, state))));
    facts.extend(states(semantics, hardware));
    for space in spaces {
        let Space { space, size, open } = *space;
        let name = semantics.spaces.get(usize::from(space)).copied().unwrap_or_default();
        let beyond = if open { ", zeros beyond" } else { "" };
        facts.push((format!("space {name}"), format!("{size} bytes{beyond}")));
    }
    let intrinsic = |index: u16| semantics.intrinsics.get(usize::from(index)).map_or("", |known| known.name);
    for performed in intrinsics {
        let Performed { intrinsic: index, operation } = performed;
        let shape = instantiate(semantics, operation, |_| 0);
        facts.push((format!("intrinsic {}", intrinsic(*index)), show(semantics, &shape, |_| "argument")));
    }
    for call in calls {
        let Call { intrinsic: index, number, services } = *call;
        let name = format!("call {}", intrinsic(index));
        facts.push((name.clone(), format!("the service in {}", hardware.name(number))));
        let texts = services.iter().map(|(number, known)| (format!("{name} {number}"), service(hardware, *known)));
        facts.extend(texts);
    }
    facts.extend(unmasks.map(|unmasks| ("unmasks".to_owned(), intrinsic(unmasks).to_owned())));
    facts.extend(elf.map(|machine| ("machine number in ELF files".to_owned(), machine.to_string())));
    for burst in bursts {
        let Burst { intrinsic: index, stores } = *burst;
        let way = if stores { "stores" } else { "loads" };
        facts.push((format!("burst {}", intrinsic(index)), way.to_owned()));
    }
    if let Some(start) = start {
        let shape = instantiate(semantics, start, |_| 0);
        facts.push(("start".to_owned(), show(semantics, &shape, |_| "?")));
    }
    facts
}

fn bank(bank: &Bank, state: impl Fn(u16) -> &'static str) -> String {
    let Bank {
        // Compared with the definition of the bank.
        count: _,
        open: _,
        close: _,
        names: _,
        also: _,
        width,
        zero,
        uniform,
        holds,
        fixed,
        stays,
        live_out,
        plus,
    } = *bank;
    listed([
        Some(format!("{width} bits")),
        zero.map(|zero| format!("register {zero} is zero")),
        yes(uniform, "uniform"),
        yes(fixed, "fixed"),
        yes(stays, "stays"),
        yes(live_out, "live out"),
        plus.map(|plus| format!("plus {}", state(plus))),
        (!holds.is_empty()).then(|| format!("holds {holds:x?}")),
    ])
}

fn states(semantics: &'static Semantics, hardware: &Hardware) -> Vec<(String, String)> {
    let described = |(state, number): (&State, u16)| {
        let State { name, doc: _, ty, count } = *state;
        let alias = hardware.aliases.iter().find(|(alias, _)| *alias == number);
        let bits = hardware.bits.iter().find(|(bits, _)| *bits == number);
        let of = bits.and_then(|(_, of)| semantics.states.get(usize::from(*of)));
        let parts = [
            Some(ty.to_string()),
            (count != 1).then(|| format!("{count} elements")),
            yes(hardware.uniform.contains(&number), "uniform"),
            alias.map(|(_, register)| format!("register {}", hardware.name(*register))),
            of.map(|of| format!("the bits of {}", of.name)),
        ];
        (format!("state {name}"), listed(parts))
    };
    semantics.states.iter().zip(0..).map(described).collect()
}

fn service(hardware: &Hardware, service: Service) -> String {
    let name = |register: Register| hardware.name(register).to_string();
    match service {
        Service::Write { stream, address, size, result } => listed([
            Some(format!("writes {} bytes at {}", name(size), name(address))),
            stream.map(|stream| format!("stream {}", name(stream))),
            result.map(|result| format!("result {}", name(result))),
        ]),
        Service::Exit { status } => format!("exits with {}", name(status)),
    }
}
