//! What holds for all programs of an instruction set: what they find in registers, what the flow of instructions does.

use isaforge_core::Isa;
use isaforge_core::explain::words::affixes;
use isaforge_core::semantics::Semantics;
use isaforge_core::table::{Enum, Type};

use crate::paint::{BOLD, DIM, paint, wrap};

/// The overview, wrapped at `width`.
pub fn overview(isa: &'static Isa, semantics: Option<&'static Semantics>, width: usize) -> String {
    let mut out = format!("{}\n", paint(BOLD, isa.name));
    wrap(isa.doc, width.saturating_sub(2)).iter().for_each(|line| out.push_str(&format!("  {line}\n")));
    let Some(semantics) = semantics else { return out };
    let (before, after) = affixes(isa, 0).unwrap_or(("", ""));
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
    let name = |modifier: &str, value: u64| {
        let mut found = isa.forms.iter().flat_map(|form| form.modifiers).filter(|m| m.name == modifier);
        found.find_map(|m| match m.ty {
            Type::Enum(e) => isa.enums[usize::from(e)].values.iter().find(|v| v.bits == value).map(|v| v.name),
            _ => None,
        })
    };
    let slots = |what: &str, slots: u8| {
        let slots: Vec<String> = (0..8).filter(|slot| slots >> slot & 1 != 0).map(|slot| slot.to_string()).collect();
        if slots.is_empty() { String::new() } else { format!("{what} {}", slots.join(", ")) }
    };
    let mut before = None;
    for does in semantics.flow {
        if before.replace(does.modifier) != Some(does.modifier) {
            out.push_str(&format!("\n{}\n", paint(BOLD, &format!("after an instruction, by its {}", does.modifier))));
        }
        let [sends, waits] =
            [slots("a message is under way in slot", does.sends), slots("waits for slots", does.waits)];
        let parts = [
            sends.as_str(),
            waits.as_str(),
            if does.reconverges { "threads that have parted meet" } else { "" },
            if does.discards { "threads that only help end" } else { "" },
            if does.ends { "the thread ends" } else { "" },
        ];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        out.push_str(&format!("  {:12} {}\n", name(does.modifier, does.value).unwrap_or("?"), parts.join("; ")));
    }
    out
}

/// What an enum chooses between, wrapped at `width`.
pub fn choices(of: &Enum, width: usize) -> String {
    let mut out = format!("{}\n", paint(BOLD, of.name));
    wrap(of.doc, width.saturating_sub(2)).iter().for_each(|line| out.push_str(&format!("  {line}\n")));
    let name = of.values.iter().map(|value| value.name.len()).max().unwrap_or(0);
    for value in of.values {
        let default = if of.default == Some(value.bits) { " (not written)" } else { "" };
        let lines = wrap(value.doc, width.saturating_sub(name + 10).max(24));
        let (first, rest) = lines.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
        let line = format!(
            "  {:>4}  {}  {first}{}",
            value.bits,
            paint(BOLD, &format!("{:name$}", value.name)),
            paint(DIM, default)
        );
        out.push_str(&format!("{}\n", line.trim_end()));
        rest.iter().for_each(|line| out.push_str(&format!("  {:>4}  {:name$}  {line}\n", "", "")));
    }
    out
}
