//! Traces a program: one line or JSON object for each instruction that a warp executes.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use isaforge_core::number;
use isaforge_runtime::machine::{At, Bank, Machine, Observer, Register, View};
use serde_json::{Map, Value, json};

use crate::code::Found;
use crate::listing::{Line, Listing, format_pc};
use crate::memory::Address;
use crate::names::Names;
use crate::value::Format;

/// What a trace shows. Empty lists do not restrict it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only instructions that one of these threads executes, with the values of these threads only.
    pub threads: Vec<[u32; 3]>,
    /// Only instructions at these places.
    pub places: Vec<u64>,
    /// Only instructions that change one of these registers, with these registers only.
    pub registers: Vec<Register>,
}

impl Filter {
    /// Parses threads (`3`, `1,2`), places (a label, a word index, an address) and register names.
    ///
    /// # Errors
    /// Which of them is invalid.
    pub fn parse(
        machine: &dyn Machine,
        listing: &Listing,
        (threads, places, registers): (&[String], &[String], &[String]),
    ) -> Result<Filter, String> {
        let thread = |text: &String| {
            let parts: Option<Vec<u32>> =
                text.split(',').map(|part| number::parse(part.trim())?.try_into().ok()).collect();
            match parts.as_deref() {
                Some([x]) => Ok([*x, 0, 0]),
                Some([x, y]) => Ok([*x, *y, 0]),
                Some([x, y, z]) => Ok([*x, *y, *z]),
                _ => Err(format!("`{text}` is not a {}; write its place, as in `3` or `1,2`", machine.terms().thread)),
            }
        };
        let named = |name: &String| {
            let (banks, lanes, spaces) = (machine.banks(), machine.lanes(), machine.spaces());
            let names = Names { banks, states: &listing.states, lanes, spaces };
            names.registers(name)
        };
        let registers: Vec<Vec<Register>> = registers.iter().map(named).collect::<Result<_, _>>()?;
        Ok(Filter {
            threads: threads.iter().map(thread).collect::<Result<_, _>>()?,
            places: places.iter().map(|text| listing.place(text)).collect::<Result<_, _>>()?,
            registers: registers.concat(),
        })
    }

    /// The lanes to show for a warp at an instruction. `None` when the instruction is not shown.
    fn lanes(&self, view: &dyn View, at: At) -> Option<u64> {
        if !self.places.is_empty() && !self.places.contains(&at.pc) {
            return None;
        }
        if self.threads.is_empty() {
            return Some(u64::MAX);
        }
        let active = (0..64).filter(|lane| at.active >> lane & 1 != 0);
        let lanes =
            active.filter(|lane| self.threads.contains(&view.thread(*lane))).fold(0, |all, lane| all | 1 << lane);
        (lanes != 0).then_some(lanes)
    }
}

/// Values by lane.
pub type Values = Vec<(usize, u64)>;

/// A store of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store {
    /// The address space, if it has a memory of its own.
    pub space: Option<&'static str>,
    /// The address.
    pub address: u64,
    /// The size in bytes, at most 8.
    pub size: u8,
    /// The lane.
    pub lane: u8,
    /// What it leaves in memory.
    pub value: u64,
}

/// An instruction that a warp has executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// A description of the warp.
    pub origin: String,
    /// The warp, its place and its lanes, before the instruction.
    pub at: At,
    /// The label of the instruction.
    pub label: Option<String>,
    /// Its text, as it was when it was executed.
    pub text: String,
    /// Where a branch went, if that is not the place that its text names.
    pub went: Option<u64>,
    /// The registers that changed, with the new values in the lanes where they did. A register that lanes share has one
    /// lane.
    pub changes: Vec<(Register, Values)>,
    /// The stores.
    pub stores: Vec<Store>,
}

/// Calls a function for every instruction that passes a filter. The run ends if the function returns `Break`.
pub struct Trace<'t> {
    listing: &'t Listing,
    filter: Filter,
    /// The registers to compare, each with its number of distinct lanes.
    registers: Vec<(Register, usize)>,
    before: Vec<u64>,
    /// The lanes to show, the warp and the instruction, if it is shown.
    shown: Option<(u64, At, Option<Found<'t>>)>,
    tell: &'t mut dyn FnMut(&Step) -> ControlFlow<()>,
    /// The threads of the filter that have not executed anything yet.
    absent: Vec<[u32; 3]>,
}

impl std::fmt::Debug for Trace<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trace").field("filter", &self.filter).finish_non_exhaustive()
    }
}

impl<'t> Trace<'t> {
    /// A trace of a machine's program.
    pub fn new(
        machine: &dyn Machine,
        listing: &'t Listing,
        filter: Filter,
        tell: &'t mut dyn FnMut(&Step) -> ControlFlow<()>,
    ) -> Self {
        let lanes = |bank: &Bank| if bank.uniform { 1 } else { machine.lanes() };
        let all = machine.banks().iter().enumerate().flat_map(|(index, bank)| {
            (0..bank.count).map(move |number| (Register { bank: index as u16, index: number }, lanes(bank)))
        });
        let wanted =
            |(register, _): &(Register, usize)| filter.registers.is_empty() || filter.registers.contains(register);
        let registers = all.filter(wanted).collect();
        let absent = filter.threads.clone();
        Trace { listing, filter, registers, before: Vec::new(), shown: None, tell, absent }
    }

    /// A thread of the filter that has not executed anything: after a run to the end, one that does not exist.
    pub fn absent(&self) -> Option<[u32; 3]> {
        self.absent.first().copied()
    }

    fn changes(&self, view: &dyn View, shown: u64) -> Vec<(Register, Values)> {
        let (mut old, mut found) = (&self.before[..], Vec::new());
        for (register, lanes) in &self.registers {
            let (own, rest) = old.split_at(*lanes);
            old = rest;
            let now = own.iter().enumerate().map(|(lane, old)| (lane, *old, view.read(*register, lane).unwrap_or(0)));
            let changed = now.filter(|(lane, old, new)| old != new && (*lanes == 1 || shown >> lane & 1 != 0));
            let values: Values = changed.map(|(lane, _, new)| (lane, new)).collect();
            if !values.is_empty() {
                found.push((*register, values));
            }
        }
        found
    }
}

impl Observer for Trace<'_> {
    fn before(&mut self, view: &dyn View) -> ControlFlow<()> {
        let at = view.at();
        if !self.absent.is_empty() {
            let active = (0..64).filter(|lane| at.active >> lane & 1 != 0);
            let executing: Vec<[u32; 3]> = active.map(|lane| view.thread(lane)).collect();
            self.absent.retain(|thread| !executing.contains(thread));
        }
        self.shown = self.filter.lanes(view, at).map(|lanes| (lanes, at, self.listing.find(view, at.pc)));
        if self.shown.is_some() {
            self.before.clear();
            for (register, lanes) in &self.registers {
                self.before.extend((0..*lanes).map(|lane| view.read(*register, lane).unwrap_or(0)));
            }
        }
        ControlFlow::Continue(())
    }

    fn after(&mut self, view: &dyn View) -> ControlFlow<()> {
        let Some((lanes, at, line)) = self.shown.take() else { return ControlFlow::Continue(()) };
        let changes = self.changes(view, lanes);
        if !self.filter.registers.is_empty() && changes.is_empty() {
            return ControlFlow::Continue(());
        }
        let accesses = view.accesses().iter();
        let stored = accesses.filter(|access| access.stores() && lanes >> access.lane & 1 != 0);
        let stores = stored.filter_map(|access| {
            let mut bytes = [0; 8];
            let size = usize::from(access.size).min(8);
            let value = match access.stored {
                Some(value) => value,
                None => {
                    let address = Address { space: access.space, at: access.address };
                    address.read(view, access.lane.into(), &mut bytes[..size])?;
                    u64::from_le_bytes(bytes)
                }
            };
            Some(Store { space: access.space, address: access.address, size: size as u8, lane: access.lane, value })
        });
        let went = line.as_deref().and_then(|line| went_elsewhere(view, at, lanes, line));
        let (label, text) = line.map_or_else(Default::default, |line| (line.label.clone(), line.text.clone()));
        let step = Step { origin: view.origin(), at, label, text, went, changes, stores: stores.collect() };
        (self.tell)(&step)
    }
}

/// Where a lane went that has neither followed a branch nor gone on after it. Text and meaning of an instruction come
/// from different parts of a specification, which may contradict each other.
fn went_elsewhere(view: &dyn View, at: At, lanes: u64, line: &Line) -> Option<u64> {
    let target = line.target?;
    let executed = (0..64).filter(|lane| (at.active & lanes) >> lane & 1 != 0);
    executed.filter_map(|lane| view.place_of(lane)).find(|place| ![target, line.next].contains(place))
}

impl Step {
    /// The text, with where a branch went if it says something else.
    fn whole_text(&self, machine: &dyn Machine) -> String {
        match self.went {
            Some(place) => format!("{} (went to {})", self.text, format_pc(machine, place)),
            None => self.text.clone(),
        }
    }

    /// The step in one line of at most `width` characters: warp, place, lanes (`+` executes, `.` is elsewhere, `x` has
    /// ended or does not exist), text, changed values.
    pub fn line(&self, machine: &dyn Machine, width: Option<usize>) -> String {
        let (At { pc, live, active, .. }, single) = (self.at, machine.lanes() == 1);
        let place = if machine.unit() == 1 { format!("{pc:#06x}") } else { format!("{pc:>4}") };
        let mut text =
            if single { place } else { format!("{} {place} {} ", self.origin, signs(machine, live, active)) };
        let _ = write!(text, "{}{}", if single { "  " } else { "" }, self.whole_text(machine));
        let changes = self.changes.iter().map(|(register, values)| {
            let bank = &machine.banks()[usize::from(register.bank)];
            let alone = single || bank.uniform;
            format!("{}={}", bank.name(register.index), shown(values, bank.width, alone))
        });
        let stores = self.stores.iter().map(|&Store { space, address, size, lane, value }| {
            let lane = if single { String::new() } else { format!("{lane}:") };
            let space = space.map_or(String::new(), |space| format!("{space}:"));
            format!("[{space}{address:08x}]={lane}{}", Format::Hex.show(value, u32::from(size) * 8))
        });
        for (index, part) in changes.chain(stores).enumerate() {
            let _ = write!(text, "{}{part}", if index == 0 { "  | " } else { "; " });
        }
        match width
            .and_then(|width| Some((text.char_indices().nth(width)?, text.char_indices().nth(width.max(1) - 1)?)))
        {
            Some((_, (end, _))) => format!("{}…", &text[..end]),
            None => text,
        }
    }

    /// The step as a JSON object.
    pub fn json(&self, machine: &dyn Machine) -> Value {
        let mut object = place("step", &self.origin, self.at, (self.label.as_deref(), &self.whole_text(machine)));
        let changes = self.changes.iter().map(|(register, values)| {
            let bank = &machine.banks()[usize::from(register.bank)];
            (bank.name(register.index), lanes(values, bank.width))
        });
        object.insert("changes".into(), Value::Object(changes.collect()));
        let store = |&Store { space, address, size, lane, value }: &Store| {
            let value = Format::Hex.show(value, u32::from(size) * 8);
            json!({ "space": space, "address": address, "size": size, "lane": lane, "value": value })
        };
        object.insert("stores".into(), self.stores.iter().map(store).collect());
        Value::Object(object)
    }
}

/// The position of a warp, with the label and the text of its instruction, as the start of a JSON object.
pub fn place(kind: &str, origin: &str, at: At, (label, text): (Option<&str>, &str)) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("kind".into(), json!(kind));
    object.insert("warp".into(), json!(origin));
    object.insert("pc".into(), json!(at.pc));
    object.insert("label".into(), json!(label));
    object.insert("text".into(), json!(text));
    object.insert("live".into(), json!(format!("{:x}", at.live)));
    object.insert("active".into(), json!(format!("{:x}", at.active)));
    object
}

/// Values as a JSON object, by lane number.
pub fn lanes(values: &[(usize, u64)], width: u32) -> Value {
    let one = |(lane, value): &(usize, u64)| (lane.to_string(), json!(Format::Hex.show(*value, width)));
    Value::Object(values.iter().map(one).collect())
}

/// One character for each lane: `+` executes, `.` is elsewhere, `x` has ended or does not exist.
pub fn signs(machine: &dyn Machine, live: u64, active: u64) -> String {
    let sign = |lane: usize| match (active >> lane & 1 != 0, live >> lane & 1 != 0) {
        (true, _) => '+',
        (_, true) => '.',
        _ => 'x',
    };
    (0..machine.lanes()).map(sign).collect()
}

/// A single value if all lanes agree, otherwise each lane's value after its number.
fn shown(values: &[(usize, u64)], width: u32, alone: bool) -> String {
    let show = |value: u64| Format::Hex.show(value, width);
    match values {
        [(_, value)] if alone => show(*value),
        [(_, first), rest @ ..] if !rest.is_empty() && rest.iter().all(|(_, value)| value == first) => show(*first),
        _ => values.iter().map(|(lane, value)| format!("{lane}:{}", show(*value))).collect::<Vec<_>>().join(" "),
    }
}
