//! What an editor shows of a stop: frames, registers by bank and lane, and memory.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use isaforge_runtime::machine::{Bank, Register};
use serde_json::{Value, json};

use super::first::First;
use super::paths::Paths;
use crate::command::{bank_name, first_lane};
use crate::listing::format_pc;
use crate::memory::Address;
use crate::session::{Session, Stop};

/// The id of the only stack frame.
pub(super) const FRAME: u64 = 1;
/// The reference to the only source that is not a file.
pub(super) const DISASSEMBLY: u64 = 1;
/// The first reference to a bank.
const BANKS: u64 = 1 << 16;
/// The first reference to a register: those of all banks are counted through.
const REGISTERS: u64 = 1 << 17;
/// The greatest reference.
const MAX_REFERENCE: u64 = (1 << 31) - 1;
/// The maximum number of bytes read at once.
const MAX_BYTES: usize = 1 << 20;
/// A bank with more registers takes long to show.
const MANY: u32 = 512;

/// The stack: its only frame, unless the editor wants others.
pub(super) fn stack(
    session: &Session<'_>,
    stop: &Stop<'_>,
    arguments: &Value,
    (first, paths): (First, Paths),
) -> Value {
    if stop.ended {
        return json!({ "stackFrames": [], "totalFrames": 0 });
    }
    let pc = stop.view.at().pc;
    let index = session.listing.at(pc);
    let line = index.and_then(|index| session.listing.lines[index].line);
    let mut frame = json!({
        "id": FRAME, "name": format!("{} {}", format_pc(session.machine, pc), session.text(stop.view, pc)),
        "line": line.or(index.map(|index| index + 1)).map_or(0, |line| first.shown_line(line)),
        "column": first.shown_column(0), "instructionPointerReference": format!("{pc:#x}"),
    });
    let disassembly = || json!({ "name": "disassembly", "sourceReference": DISASSEMBLY });
    frame["source"] = source(session, line, paths).unwrap_or_else(disassembly);
    let frames = if arguments["startFrame"].as_u64().unwrap_or(0) == 0 { vec![frame] } else { Vec::new() };
    json!({ "stackFrames": frames, "totalFrames": 1 })
}

/// The file with a line of the program's source. `None` if it has no such file.
pub(super) fn source(session: &Session<'_>, line: Option<usize>, paths: Paths) -> Option<Value> {
    let path = session.listing.path.as_ref().filter(|_| line.is_some())?;
    let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
    Some(json!({ "name": path.file_name().map(|name| name.to_string_lossy()), "path": paths.write(&path) }))
}

/// The banks of registers.
pub(super) fn scopes(session: &Session<'_>) -> Value {
    let scope = |(bank, known): (usize, &Bank)| {
        json!({
            "name": if known.title.is_empty() { bank_name(known) } else { known.title.clone() },
            "presentationHint": "registers", "variablesReference": BANKS + bank as u64,
            "expensive": known.count > MANY,
        })
    };
    let scopes: Vec<Value> = session.machine.banks().iter().enumerate().map(scope).collect();
    json!({ "scopes": scopes })
}

/// The registers of a bank that the program names or that are not 0 in all lanes, or the lanes of a register.
pub(super) fn variables(session: &Session<'_>, stop: &Stop<'_>, reference: u64) -> Value {
    json!({ "variables": listed(session, stop, reference) })
}

fn listed(session: &Session<'_>, stop: &Stop<'_>, reference: u64) -> Vec<Value> {
    let banks = session.machine.banks();
    let live: Vec<usize> = (0..session.machine.lanes()).filter(|lane| stop.view.at().live >> lane & 1 != 0).collect();
    let show = |name: String, value: u64, width: u32| {
        let mut shown = json!({ "name": name, "value": session.format.show(value, width), "variablesReference": 0 });
        refer(stop, &mut shown, Some(Address { space: None, at: value }));
        shown
    };
    if let Some(register) = inside(banks, reference) {
        let width = banks.get(usize::from(register.bank)).map_or(32, |bank| bank.width);
        let variable = |lane: &usize| Some(show(format!("lane {lane}"), stop.view.read(register, *lane)?, width));
        return live.iter().filter_map(variable).collect();
    }
    let Some(bank) = reference.checked_sub(BANKS).and_then(|bank| u16::try_from(bank).ok()) else { return Vec::new() };
    let Some(known) = banks.get(usize::from(bank)) else { return Vec::new() };
    let variable = |index: u32| {
        let register = Register { bank, index };
        let lanes = if known.uniform { &live[..live.len().min(1)] } else { &live[..] };
        let values: Option<Vec<u64>> = lanes.iter().map(|lane| stop.view.read(register, *lane)).collect();
        let is_shown =
            |values: &Vec<u64>| values.iter().any(|value| *value != 0) || session.listing.registers.contains(&register);
        let values = values.filter(|values| !values.is_empty()).filter(is_shown)?;
        let same = values.iter().all(|value| *value == values[0]);
        let mut shown = show(known.name(index), values[0], known.width);
        if !same {
            shown = json!({ "name": known.name(index), "value": "differs by lane" });
        }
        shown["variablesReference"] = if known.uniform { 0 } else { reference_of(banks, register) }.into();
        Some(shown)
    };
    (0..known.count).filter_map(variable).collect()
}

/// Adds to a value the address that it may be, if memory is mapped there.
pub(super) fn refer(stop: &Stop<'_>, shown: &mut Value, address: Option<Address>) {
    if let Some(address) = address.filter(|address| address.read(stop.view, first_lane(stop), &mut [0]).is_some()) {
        shown["memoryReference"] = address.to_string().into();
    }
}

/// The reference to the lanes of a register; 0 if the machine has more registers than there are references.
fn reference_of(banks: &[Bank], register: Register) -> u64 {
    let before = banks.iter().take(register.bank.into()).map(|bank| u64::from(bank.count));
    let reference = REGISTERS + before.sum::<u64>() + u64::from(register.index);
    if reference > MAX_REFERENCE { 0 } else { reference }
}

/// Returns the register whose lanes a reference stands for.
pub(super) fn inside(banks: &[Bank], reference: u64) -> Option<Register> {
    let mut index = reference.checked_sub(REGISTERS)?;
    for (bank, known) in banks.iter().enumerate() {
        match index.checked_sub(known.count.into()) {
            Some(rest) => index = rest,
            None => return Some(Register { bank: bank as u16, index: index as u32 }),
        }
    }
    None
}

/// Memory from an address on, up to the first byte that is not mapped.
pub(super) fn memory(session: &Session<'_>, stop: &Stop<'_>, arguments: &Value) -> Result<Value, String> {
    let text = arguments["memoryReference"].as_str().ok_or("the request has no `memoryReference`")?;
    let base = Address::parse(text, session.machine.spaces())?;
    let offset = arguments["offset"].as_i64().unwrap_or(0);
    let at = base.at.checked_add_signed(offset);
    let at = at.ok_or_else(|| format!("`{text}` with the offset {offset} is not an address"))?;
    let address = Address { at, ..base };
    let count = arguments["count"].as_u64().ok_or("the request has no `count` of bytes")?;
    let mut bytes = vec![0; usize::try_from(count).unwrap_or(MAX_BYTES).min(MAX_BYTES)];
    let mapped = address.read_mapped(stop.view, 0, &mut bytes);
    let mut body = json!({ "address": format!("{at:#x}") });
    if mapped > 0 || bytes.is_empty() {
        body["data"] = STANDARD.encode(&bytes[..mapped]).into();
    }
    if mapped < bytes.len() {
        let is_mapped = |byte: &usize| {
            let at = at.checked_add(*byte as u64);
            at.is_some_and(|at| Address { at, ..base }.read(stop.view, 0, &mut [0]).is_some())
        };
        let next = (mapped..bytes.len()).find(is_mapped).unwrap_or(bytes.len());
        body["unreadableBytes"] = (next - mapped).into();
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_to_registers_fit_in_31_bits_and_lead_back() {
        let banks = [Bank::new("a", 3, 32), Bank::new("b", 1 << 30, 32), Bank::new("c", u32::MAX, 32)];
        for (bank, index) in [(0, 0), (0, 2), (1, 0), (1, (1 << 30) - 1), (2, 5)] {
            let register = Register { bank, index };
            let reference = reference_of(&banks, register);
            assert!((REGISTERS..=MAX_REFERENCE).contains(&reference), "{reference}");
            assert_eq!(inside(&banks, reference), Some(register));
        }
        assert_eq!(reference_of(&banks, Register { bank: 2, index: u32::MAX - 1 }), 0);
        assert_eq!((inside(&banks, BANKS), inside(&banks, u64::MAX)), (None, None));
    }
}
