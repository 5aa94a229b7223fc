//! What one sets before a run and looks at after it: registers, and the states of a machine.

use std::fmt;
use std::ops::Range;

use isaforge_core::machine::{Hardware, Machine, Register};
use isaforge_core::registers::RegisterName;
use isaforge_core::semantics::evaluate::Column;
use isaforge_core::semantics::{Semantics, State};

use super::Bank;

/// A register of a described machine, or an element of a state. It is formatted as its name: `a0`, `acc`, `stack[3]`.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    of: Of,
    /// In bits.
    pub width: u32,
    /// Whether all lanes share it.
    pub shared: bool,
}

#[derive(Clone, Copy, Debug)]
enum Of {
    Register(Register, RegisterName),
    /// A state, and the number of the element.
    State(&'static State, u32),
}

impl Variable {
    /// What a name stands for: a register; a state, or an element of one, such as `stack[3]`; or all elements of the
    /// array `stack`.
    ///
    /// # Errors
    /// A message and help when there is no such name.
    pub fn named(text: &str, semantics: &Semantics, hardware: &Hardware) -> Result<Vec<Self>, (String, String)> {
        let register = hardware.register(text).and_then(|register| Self::register(register, hardware));
        if let Some(register) = register {
            return Ok(vec![register]);
        }
        let found = semantics.states.iter().zip(0..).find_map(|(state, number)| {
            let elements = match Bank::of_state(state).index(text) {
                _ if text == state.name => 0..state.count,
                Some(element) if state.count > 1 => element..element + 1,
                _ => return None,
            };
            Some(Self::elements(state, number, elements, hardware).collect())
        });
        let unknown = || format!("there is no register or state `{text}`");
        found.ok_or_else(|| (unknown(), "write a register as instructions do".to_owned()))
    }

    /// The register, state, or element of a state with this name.
    ///
    /// # Errors
    /// A message and help when there is no such name, or it is that of an array.
    pub fn one(text: &str, semantics: &Semantics, hardware: &Hardware) -> Result<Self, (String, String)> {
        match Self::named(text, semantics, hardware)?[..] {
            [one] => Ok(one),
            [first, .., last] => Err((format!("`{text}` is an array"), format!("name one of `{first}` to `{last}`"))),
            [] => Err((format!("`{text}` has no elements"), String::new())),
        }
    }

    /// All registers, and all states but those that alias one.
    pub fn all(semantics: &Semantics, hardware: &Hardware) -> impl Iterator<Item = Self> {
        let banks = hardware.banks.iter().zip(0..);
        let registers = banks.flat_map(|(known, bank)| (0..known.count).map(move |index| Register { bank, index }));
        let aliases = |number: u16| hardware.aliases.iter().any(|(alias, _)| *alias == number);
        let own = semantics.states.iter().zip(0..).filter(move |(_, number)| !aliases(*number));
        let states = own.flat_map(|(state, number)| Self::elements(state, number, 0..state.count, hardware));
        registers.filter_map(|register| Self::register(register, hardware)).chain(states)
    }

    fn register(register: Register, hardware: &Hardware) -> Option<Self> {
        let bank = hardware.banks.get(usize::from(register.bank))?;
        let of = Of::Register(register, hardware.name(register));
        Some(Variable { of, width: bank.width.into(), shared: bank.uniform })
    }

    fn elements(
        state: &'static State,
        number: u16,
        elements: Range<u32>,
        hardware: &Hardware,
    ) -> impl Iterator<Item = Self> + use<> {
        let shared = hardware.uniform.contains(&number) || hardware.bits.iter().any(|(bits, _)| *bits == number);
        let width = state.ty.size();
        elements.map(move |element| Variable { of: Of::State(state, element), width, shared })
    }

    /// Whether it is the register of its bank that is always zero.
    pub fn is_zero(&self, hardware: &Hardware) -> bool {
        let Of::Register(register, _) = self.of else { return false };
        let bank = hardware.banks.get(usize::from(register.bank));
        bank.is_some_and(|bank| bank.zero == Some(register.index))
    }

    /// Returns its value in a lane.
    pub fn read<const L: usize>(&self, machine: &Machine<L>, lane: usize) -> Option<u64> {
        match self.of {
            Of::Register(register, _) => machine.read(register, lane),
            Of::State(state, element) => machine.read_state(state.name, element.into(), lane),
        }
    }

    /// Checks that it can be set to this number of values: one for all lanes, or one for each.
    ///
    /// # Errors
    /// When it cannot; the message names it.
    pub fn takes(&self, values: usize, hardware: &Hardware) -> Result<(), String> {
        let lanes = usize::from(hardware.lanes.max(1));
        match values {
            1 => Ok(()),
            _ if lanes == 1 => Err(format!("`{self}` takes one value, but there are {values}")),
            _ if self.shared => Err(format!("all lanes share `{self}`, but there are {values} values")),
            _ if values == lanes => Ok(()),
            _ => Err(format!("there are {lanes} lanes, but values of `{self}` for {values}")),
        }
    }

    /// Sets it to one value in all lanes, or to a value for each. Lanes without a value are set to zero.
    pub fn set<const L: usize>(&self, machine: &mut Machine<L>, values: &[u64]) {
        for lane in 0..L {
            let value = if let [one] = values { *one } else { values.get(lane).copied().unwrap_or(0) };
            // A lane that the machine does not have cannot be set.
            let _ = match self.of {
                Of::Register(register, _) => machine.write(register, lane, value),
                Of::State(state, element) => machine.write_state(state.name, element.into(), lane, value),
            };
        }
    }

    /// Formats its values in the lanes of a mask, after its name.
    pub fn line<const L: usize>(&self, machine: &Machine<L>, mask: u64) -> String {
        let column: Column<L> = std::array::from_fn(|lane| self.read(machine, lane).unwrap_or(0));
        format!("{self} = {}", lanes(&column, mask, self.width.div_ceil(4) as usize))
    }
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.of {
            Of::Register(_, name) => name.fmt(f),
            Of::State(State { name, count: 1, .. }, _) => f.write_str(name),
            Of::State(State { name, .. }, element) => write!(f, "{name}[{element}]"),
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
