//! The properties shared by all programs of an instruction set: initial register contents and control flow.

use isaforge_core::Tables;
use isaforge_core::group::GroupIsa;
use isaforge_core::stream::{Bank, Engine, Role};
use isaforge_core::table::{Enum, Value};
use serde_json::json;

use crate::json::slot_numbers;
use crate::names::affixes_of;
use crate::output::count;
use crate::paint::{BOLD, DIM, paint, wrap};
use crate::target::Target;

/// The name, the description and the structure of a set.
fn general(tables: Tables) -> (&'static str, &'static str, Vec<(&'static str, String)>) {
    match tables {
        Tables::Words(isa) => (isa.name, isa.doc, Vec::new()),
        Tables::Groups(isa) => (isa.name, isa.doc, of_groups(isa)),
        Tables::Streams(engine) => (engine.stream.name, engine.stream.doc, of_stream(engine)),
    }
}

/// The overview as a JSON object according to `overview.schema.json`.
pub fn object(target: &Target) -> serde_json::Value {
    let (name, doc, rows) = general(target.tables);
    let (before, after) = affixes_of(target.tables);
    let structure = rows.iter().map(|(name, text)| json!({ "name": name, "text": text }));
    let preloads = target.semantics.map_or(&[][..], |semantics| semantics.preloads).iter().map(|preload| {
        let register = |((name, doc), number): (&(&str, &str), u32)| {
            json!({ "register": format!("{before}{number}{after}"), "name": name, "doc": doc })
        };
        let registers: Vec<_> = preload.values.iter().zip(u32::from(preload.first)..).map(register).collect();
        json!({ "programs": preload.name, "doc": preload.doc, "registers": registers })
    });
    let callees = target.semantics.map_or(&[][..], |semantics| semantics.callees).iter().map(|callee| {
        let register = |number: &u16| format!("{before}{number}{after}");
        json!({
            "name": callee.name,
            "doc": callee.doc,
            "instruction": callee.instruction,
            "addresses": callee.targets().collect::<Vec<_>>(),
            "link": register(&callee.link),
            "clobbers": callee.clobbers.iter().map(register).collect::<Vec<_>>(),
        })
    });
    let flow = target.semantics.map_or(&[][..], |semantics| semantics.flow).iter().map(|does| {
        json!({
            "instruction": does.instruction,
            "modifier": does.modifier,
            "value": does.value,
            "name": does.name,
            "sends": slot_numbers(does.sends),
            "waits": slot_numbers(does.waits),
            "waits_for_itself": does.waits_for_itself,
            "reconverges": does.reconverges,
            "discards": does.discards,
            "ends": does.ends,
        })
    });
    json!({
        "kind": "overview",
        "name": name,
        "doc": doc,
        "structure": structure.collect::<Vec<_>>(),
        "preloads": preloads.collect::<Vec<_>>(),
        "callees": callees.collect::<Vec<_>>(),
        "flow": flow.collect::<Vec<_>>(),
    })
}

/// Formats the overview, wrapped at `width`.
pub fn overview(target: &Target, width: usize) -> String {
    let (name, doc, rows) = general(target.tables);
    let mut out = format!("{}\n", paint(BOLD, name));
    wrap(doc, width.saturating_sub(2)).iter().for_each(|line| out.push_str(&format!("  {line}\n")));
    let column = rows.iter().map(|(head, _)| head.len()).max().unwrap_or(0);
    for (number, (head, text)) in rows.iter().enumerate() {
        let lines = wrap(text, width.saturating_sub(column + 4).max(24));
        let separated = if number == 0 { "\n" } else { "" };
        for (number, line) in lines.iter().enumerate() {
            let head = if number == 0 { paint(DIM, &format!("{head:column$}")) } else { " ".repeat(column) };
            out.push_str(&format!("{}  {head}  {line}\n", if number == 0 { separated } else { "" }));
        }
    }
    let Some(semantics) = target.semantics else { return out };
    let (before, after) = affixes_of(target.tables);
    for preload in semantics.preloads {
        out.push_str(&format!(
            "\n{}  {}\n",
            paint(BOLD, &format!("At the start of {} programs", preload.name)),
            preload.doc
        ));
        for ((name, doc), register) in preload.values.iter().zip(preload.first..) {
            let register = format!("{before}{register}{after}");
            out.push_str(&format!("  {register:5} {:16} {}\n", *name, paint(DIM, doc)));
        }
    }
    for callee in semantics.callees {
        let register = |number: &u16| format!("{before}{number}{after}");
        let clobbers: Vec<String> = callee.clobbers.iter().map(register).collect();
        let addresses: Vec<&str> = callee.targets().collect();
        let rows = [
            ("called by", format!("{} to {}", callee.instruction, addresses.join(", "))),
            ("returns to", format!("the address in {}, or not at all if it is 0", register(&callee.link))),
            ("overwrites", clobbers.join(", ")),
        ];
        out.push_str(&format!("\n{}  {}\n", paint(BOLD, &format!("Call of a {}", callee.name)), callee.doc));
        for (head, text) in rows {
            for (number, line) in wrap(&text, width.saturating_sub(14).max(24)).iter().enumerate() {
                let head = if number == 0 { head } else { "" };
                out.push_str(&format!("  {}  {line}\n", paint(DIM, &format!("{head:10}"))));
            }
        }
    }
    let slots = |what: &str, slots: u8| {
        let slots: Vec<String> = slot_numbers(slots).iter().map(u32::to_string).collect();
        if slots.is_empty() { String::new() } else { format!("{what} {}", slots.join(", ")) }
    };
    let mut before = None;
    for does in semantics.flow {
        if before.replace((does.instruction, does.modifier)) != Some((does.instruction, does.modifier)) {
            let by = if does.modifier.is_empty() { String::new() } else { format!(", by its {}", does.modifier) };
            let instruction = if does.instruction.is_empty() { "an instruction" } else { does.instruction };
            let title = format!("after {instruction}{by}");
            out.push_str(&format!("\n{}\n", paint(BOLD, &title)));
        }
        let [sends, waits] =
            [slots("a message is in flight in slot", does.sends), slots("waits for slots", does.waits)];
        let mut parts = vec![sends, waits];
        parts.retain(|part| !part.is_empty());
        parts.extend(does.effects().map(str::to_owned));
        out.push_str(&format!("  {:12} {}\n", does.name, parts.join("; ")));
    }
    out
}

/// The structure of groups.
fn of_groups(isa: &GroupIsa) -> Vec<(&'static str, String)> {
    let slots = isa.slots.iter().map(|slot| slot.name).collect::<Vec<_>>().join(", ");
    let registers = isa.banks.iter().map(|bank| format!("{} {}", bank.count, bank.name)).collect::<Vec<_>>().join(", ");
    vec![
        ("a group", format!("up to {} bytes in steps of {}", isa.longest, isa.unit)),
        ("slots", slots),
        ("operations", count(isa.operations.len() as u64, "operation")),
        ("registers", registers),
    ]
}

/// The properties shared by all instructions of a stream.
fn of_stream(engine: Engine) -> Vec<(&'static str, String)> {
    let stream = engine.stream;
    let own = stream.layouts_of(0).iter().filter(|layout| layout.role == Role::Own && engine.has(layout));
    let (mut opcodes, mut lengths) = (Vec::new(), Vec::new());
    for layout in own {
        opcodes.push(layout.opcode);
        // If the length is encoded in the instruction, every length up to the longest is possible.
        lengths.push(if layout.length.is_some() { u16::from(stream.longest) } else { layout.bits / 8 });
    }
    opcodes.sort_unstable();
    opcodes.dedup();
    lengths.sort_unstable();
    lengths.dedup();
    let lengths = lengths.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
    let mut rows = vec![
        ("instructions", count(opcodes.len() as u64, "instruction")),
        ("length", format!("{lengths} bytes, in units of {}", stream.unit)),
    ];
    if stream.generations.0 != stream.generations.1 {
        let name = |(name, number): &(&str, u32)| format!("{name} ({number})");
        let names = stream.generation_names.iter().map(name).collect::<Vec<_>>().join(", ");
        let all = format!("{} to {}", stream.generations.0, stream.generations.1);
        let all = if names.is_empty() { all } else { names };
        rows.push(("generation", format!("{} of {all}", engine.generation)));
    }
    rows.extend(stream.banks.iter().map(|bank| ("registers", of_bank(bank))));
    rows
}

/// Describes a bank of registers in one line.
fn of_bank(bank: &Bank) -> String {
    let name = |number: u32| bank.name(number.into());
    let last = bank.count.saturating_sub(1);
    let doc = if bank.doc.is_empty() { String::new() } else { format!(": {}", bank.doc) };
    format!("{} to {}, {} of {} bits{doc}", name(0), name(last), bank.count, bank.width)
}

/// Lists the values of an enum, wrapped at `width`.
pub fn choices(of: &Enum, width: usize) -> String {
    let mut out = format!("{}\n", paint(BOLD, of.name));
    wrap(of.doc, width.saturating_sub(2)).iter().for_each(|line| out.push_str(&format!("  {line}\n")));
    let name = of.values.iter().map(|value| value.name.len()).max().unwrap_or(0);
    let first = |value: &Value| of.values.iter().position(|other| other.bits == value.bits);
    for (at, value) in of.values.iter().enumerate().filter(|(at, value)| first(value) == Some(*at)) {
        let default = if of.default == Some(value.bits) { " (not written)" } else { "" };
        let others = of.values[at + 1..].iter().filter(|other| other.bits == value.bits);
        let others: String = others.map(|other| format!(" (also `{}`)", other.text)).collect();
        let default = format!("{default}{others}");
        let lines = wrap(value.doc, width.saturating_sub(name + 10).max(24));
        let (first, rest) = lines.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
        let line = format!(
            "  {:>4}  {}  {first}{}",
            value.bits,
            paint(BOLD, &format!("{:name$}", value.name)),
            paint(DIM, &default)
        );
        out.push_str(&format!("{}\n", line.trim_end()));
        rest.iter().for_each(|line| out.push_str(&format!("  {:>4}  {:name$}  {line}\n", "", "")));
    }
    out
}
