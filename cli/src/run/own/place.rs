//! What a launch file sets and shows: registers, and the states of a machine.

use std::fmt;

use isaforge_core::machine::{Hardware, Machine, Register};
use isaforge_core::semantics::evaluate::Column;

use super::Set;

/// A register, or an element of a state.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// A register of a bank.
    Register(Register),
    /// An element of a state.
    State {
        /// The name of the state.
        name: &'static str,
        /// The number of the element.
        element: u32,
        /// Whether it has more than one element.
        is_array: bool,
        /// The width of an element in bits.
        width: u32,
    },
}

impl Place {
    /// Finds a register by its name, or a state: `acc`, or `stack[3]` for an element of several.
    pub fn named((_, semantics, hardware): Set, text: &str) -> Option<Self> {
        if let Some(register) = hardware.register(text) {
            return Some(Place::Register(register));
        }
        // A state whose bits are flags of lanes has no value of its own.
        let is_stored = |index: usize| hardware.bits.iter().all(|(bits, _)| usize::from(*bits) != index);
        semantics.states.iter().enumerate().filter(|(index, _)| is_stored(*index)).find_map(|(_, state)| {
            let rest = text.strip_prefix(state.name)?;
            let (element, is_array) = match rest {
                "" => (0, false),
                _ => {
                    let digits = rest.strip_prefix('[')?.strip_suffix(']')?;
                    // `parse` would also accept `+1`.
                    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
                    (digits.parse().ok().filter(|_| is_number)?, true)
                }
            };
            let is_there = element < state.count && is_array == (state.count > 1);
            is_there.then(|| Place::State { name: state.name, element, is_array, width: state.ty.size() })
        })
    }

    /// Returns its value in a lane.
    pub fn read<const L: usize>(self, machine: &Machine<L>, lane: usize) -> Option<u64> {
        match self {
            Place::Register(register) => machine.read(register, lane),
            Place::State { name, element, .. } => machine.read_state(name, element.into(), lane),
        }
    }

    /// Sets its value in a lane.
    pub fn write<const L: usize>(self, machine: &mut Machine<L>, lane: usize, value: u64) -> Option<()> {
        match self {
            Place::Register(register) => machine.write(register, lane, value),
            Place::State { name, element, .. } => machine.write_state(name, element.into(), lane, value),
        }
    }

    /// Formats its values in the lanes of a mask, after its name.
    pub fn line<const L: usize>(self, hardware: &Hardware, column: &Column<L>, mask: u64) -> String {
        let width = match self {
            Place::Register(register) => {
                hardware.banks.get(usize::from(register.bank)).map_or(32, |bank| bank.width.into())
            }
            Place::State { width, .. } => width,
        };
        format!("{} = {}", Name(self, hardware), lanes(column, mask, width.div_ceil(4) as usize))
    }
}

/// The name of a place.
struct Name<'a>(Place, &'a Hardware);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Place::Register(register) => write!(f, "{}", self.1.name(register)),
            Place::State { name, element, is_array: true, .. } => write!(f, "{name}[{element}]"),
            Place::State { name, .. } => f.write_str(name),
        }
    }
}

/// Formats one value if all lanes of the mask have the same, else a value per lane, each after the lane's number.
fn lanes<const L: usize>(value: &Column<L>, mask: u64, digits: usize) -> String {
    let chosen: Vec<(usize, u64)> =
        value.iter().copied().enumerate().filter(|(lane, _)| mask >> lane & 1 != 0).collect();
    match chosen.split_first() {
        Some(((_, first), rest)) if rest.iter().all(|(_, other)| other == first) => format!("{first:0digits$x}"),
        _ => {
            let one = |(lane, value): &(usize, u64)| format!("{lane}:{value:0digits$x}");
            chosen.iter().map(one).collect::<Vec<_>>().join(",")
        }
    }
}
