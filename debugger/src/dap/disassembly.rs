//! The disassembly that an editor shows around a place.

use std::iter::{repeat_n, successors};

use isaforge_core::explain::hex;
use isaforge_core::number;
use serde_json::{Value, json};

use super::first::First;
use super::paths::Paths;
use super::state;
use crate::code::Found;
use crate::memory::Address;
use crate::session::{Session, Stop};

/// The maximum number of instructions in an answer.
const MOST: u64 = 1 << 16;

/// Instructions around the one that a reference names. There are as many as the editor asks for: those that do not exist
/// have the address `-1`.
pub(super) fn disassemble(
    session: &Session<'_>,
    stop: &Stop<'_>,
    arguments: &Value,
    with: (First, Paths),
) -> Result<Value, String> {
    let text = arguments["memoryReference"].as_str().ok_or("the request has no `memoryReference`")?;
    let count = arguments["instructionCount"].as_u64().ok_or("the request has no `instructionCount`")?;
    let count = count.min(MOST) as usize;
    let bytes = arguments["offset"].as_i64().unwrap_or(0);
    let unit = i64::try_from(session.machine.unit()).unwrap_or(1).max(1);
    let base = number::parse(text).ok_or_else(|| format!("`{text}` is not the address of an instruction"))?;
    let pc = base.checked_add_signed(bytes / unit);
    let pc = pc.ok_or_else(|| format!("`{text}` with the offset {bytes} is not an address"))?;
    let skip = arguments["instructionOffset"].as_i64().unwrap_or(0);
    let before = usize::try_from(skip.saturating_neg()).unwrap_or(0);
    let after = usize::try_from(skip).unwrap_or(0);
    let (lines, listed) = (&session.listing.lines, session.listing.at(pc));
    let mut found: Vec<Option<Found<'_>>> = Vec::new();
    match listed {
        Some(index) => {
            let missing = before.saturating_sub(index).min(count);
            let first = index.saturating_sub(before).saturating_add(after);
            let rest = lines.iter().skip(first).take(count - missing);
            found.extend(repeat_n(None, missing));
            found.extend(rest.map(|line| session.listing.find(stop.view, line.pc).or(Some(Found::Listed(line)))));
        }
        // The instructions before it are unknown.
        None => {
            found.extend(repeat_n(None, before.min(count)));
            let next = |line: &Found<'_>| session.listing.find(stop.view, line.next);
            let all = successors(session.listing.find(stop.view, pc), next);
            found.extend(all.skip(after).take(count - found.len()).map(Some));
        }
    }
    found.resize_with(count, || None);
    let shown: Vec<Value> = found.iter().map(|line| instruction(session, stop, line.as_ref(), with)).collect();
    Ok(json!({ "instructions": shown }))
}

fn instruction(
    session: &Session<'_>,
    stop: &Stop<'_>,
    line: Option<&Found<'_>>,
    (first, paths): (First, Paths),
) -> Value {
    let Some(found) = line else {
        return json!({ "address": "-1", "instruction": "", "presentationHint": "invalid" });
    };
    let mut shown = json!({ "address": format!("{:#x}", found.pc), "instruction": found.text });
    if let Some(bytes) = bytes(session, stop, found) {
        shown["instructionBytes"] = hex(&bytes).into();
    }
    if let Some(label) = &found.label {
        shown["symbol"] = label.as_str().into();
    }
    if let (Some(source), Some(line)) = (state::source(session, found.line, paths), found.line) {
        shown["location"] = source;
        shown["line"] = first.shown_line(line).into();
    }
    shown
}

/// The bytes of an instruction: those of the program, or what is in memory now.
fn bytes(session: &Session<'_>, stop: &Stop<'_>, found: &Found<'_>) -> Option<Vec<u8>> {
    let machine = session.machine;
    let size = usize::try_from(found.next.checked_sub(found.pc)?.checked_mul(machine.unit())?).ok()?;
    match found {
        Found::Listed(line) => {
            let start = usize::try_from(line.pc.checked_sub(machine.base())?.checked_mul(machine.unit())?).ok()?;
            machine.code().get(start..start.checked_add(size)?).map(<[u8]>::to_vec)
        }
        Found::Fetched(line) => {
            let mut bytes = vec![0; size];
            let address = Address { space: None, at: line.pc };
            (address.read_mapped(stop.view, 0, &mut bytes) == size).then_some(bytes)
        }
    }
}
