//! Disassembles whole programs: one instruction per line, with labels at branch targets.
//!
//! A label is `l` followed by its address in units of the set, which is the instruction's index if all instructions
//! have the same length. Targets of calls have the prefix `fxn` instead. Only targets that the text of a branch shows
//! have labels, and only where an instruction starts.

use alloc::collections::BTreeMap;
use alloc::string::String;
use core::cell::RefCell;
use core::fmt::Write;

use super::decode::{Decoded, Engine};
use super::error::DecodeError;
use super::print::Places;
use super::table::{Layout, Type};
use crate::print::Style;
use crate::text::Line;

/// A part of a program: an instruction, or a unit of bytes that is not an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Part<'b> {
    /// The offset from the start of the program in bytes.
    pub at: usize,
    /// Its bytes.
    pub bytes: &'b [u8],
    /// The instruction, or the error.
    pub decoded: Result<Decoded, DecodeError>,
}

/// The parts of a program, in order. After bytes that are not an instruction, decoding continues at the next unit.
pub fn parts(engine: Engine, bytes: &[u8]) -> impl Iterator<Item = Part<'_>> {
    let unit = usize::from(engine.stream.unit.max(1));
    let mut at = 0;
    core::iter::from_fn(move || {
        let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
        let decoded = engine.decode(rest);
        let len = decoded.as_ref().map_or(unit, |decoded| decoded.len.into()).clamp(1, rest.len());
        let part = Part { at, bytes: rest.get(..len)?, decoded };
        at += len;
        Some(part)
    })
}

/// How a place is reached.
#[derive(Clone, Copy, Default)]
struct Reached {
    branched: bool,
    called: bool,
}

/// The branch targets of a program.
struct Map {
    unit: u64,
    /// The address of the first byte.
    base: u64,
    places: BTreeMap<u64, Reached>,
}

/// Collects branch targets while printing without labels.
struct Collector(RefCell<BTreeMap<u64, Reached>>);

impl Places for Collector {
    fn write(&self, address: u64, call: bool, _: &mut Line) -> bool {
        let mut places = self.0.borrow_mut();
        let place = places.entry(address).or_default();
        place.called |= call;
        place.branched |= !call;
        false
    }
}

impl Places for Map {
    fn write(&self, address: u64, call: bool, line: &mut Line) -> bool {
        if !self.places.contains_key(&address) {
            return false;
        }
        line.push_str(if call { "fxn" } else { "l" });
        line.push_decimal(self.number(address));
        true
    }
}

impl Map {
    /// The number in the label of an address.
    fn number(&self, address: u64) -> u64 {
        address.wrapping_sub(self.base) / self.unit
    }

    fn new(engine: Engine, bytes: &[u8], base: u64) -> Map {
        let mut map = Map { unit: engine.stream.unit.max(1).into(), base, places: BTreeMap::new() };
        let branches = |layout: &Layout| {
            layout.fields.iter().any(|field| matches!(field.ty, Type::Number(notation) if notation.target.is_some()))
        };
        if !engine.stream.layouts.iter().any(branches) {
            return map;
        }
        let collector = Collector(RefCell::default());
        let mut line = Line::new();
        for part in parts(engine, bytes) {
            if let Ok(decoded) = part.decoded {
                line.clear();
                engine.print_at(&decoded, base.wrapping_add(part.at as u64), &collector, &mut line);
            }
        }
        let mut reached = collector.0.into_inner();
        for part in parts(engine, bytes) {
            if reached.is_empty() {
                break;
            }
            let address = base.wrapping_add(part.at as u64);
            if let Some(place) = reached.remove(&address) {
                map.places.insert(address, place);
            }
        }
        map
    }
}

/// Prints a program, one instruction per line. Branch targets are preceded by a line `label:`, and targets of calls
/// also by an empty line. Bytes that are not an instruction print as `.byte`, followed by the reason. Returns the
/// number of such parts.
pub fn disassemble(engine: Engine, bytes: &[u8], out: &mut String) -> usize {
    disassemble_at(engine, bytes, 0, Style::Customary, out)
}

/// Does the same in a given style, for a program whose first byte has the address `base`, which matters to branches with
/// absolute targets. Text in the exact style assembles to the same bytes.
pub fn disassemble_at(engine: Engine, bytes: &[u8], base: u64, style: Style, out: &mut String) -> usize {
    let map = Map::new(engine, bytes, base);
    let mut line = Line::new();
    let mut invalid = 0;
    for part in parts(engine, bytes) {
        let address = base.wrapping_add(part.at as u64);
        if let Some(place) = map.places.get(&address) {
            if place.called {
                let _ = writeln!(out, "\nfxn{}:", map.number(address));
            }
            if place.branched {
                let _ = writeln!(out, "l{}:", map.number(address));
            }
        }
        line.clear();
        match part.decoded {
            Ok(decoded) => {
                match style {
                    Style::Customary => engine.print_at(&decoded, address, &map, &mut line),
                    Style::Exact => engine.print_exact_at(&decoded, address, &map, &mut line),
                }
                out.push_str(line.as_str());
            }
            Err(error) => {
                invalid += 1;
                out.push_str(".byte ");
                for (index, byte) in part.bytes.iter().enumerate() {
                    let _ = write!(out, "{}{byte:#04x}", if index == 0 { "" } else { ", " });
                }
                let _ = write!(out, " // {error}");
            }
        }
        out.push('\n');
    }
    invalid
}
