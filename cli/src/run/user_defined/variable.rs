//! What a launch file sets and shows: registers, and the states of a machine.

use isaforge_core::machine::{Machine, Register};
use isaforge_core::semantics::evaluate::Column;
use isaforge_runtime::machine::Bank;

use super::Set;

/// A register, or an element of a state.
#[derive(Debug)]
pub struct Variable {
    of: Of,
    /// Its name.
    pub name: String,
    /// In bits.
    pub width: u32,
    /// Whether all lanes share it.
    pub shared: bool,
}

#[derive(Clone, Copy, Debug)]
enum Of {
    Register(Register),
    /// The name of a state, and the number of the element.
    State(&'static str, u32),
}

impl Variable {
    /// Finds a register by its name, or a state: `acc`, or `stack[3]` for an element of several.
    pub fn named((_, semantics, hardware): Set, text: &str) -> Option<Self> {
        if let Some(register) = hardware.register(text) {
            let bank = &hardware.banks[usize::from(register.bank)];
            let (width, shared, name) = (bank.width.into(), bank.uniform, hardware.name(register).to_string());
            return Some(Variable { of: Of::Register(register), name, width, shared });
        }
        semantics.states.iter().zip(0..).find_map(|(state, index)| {
            let bank = Bank::of_state(state);
            let element = bank.index(text).filter(|_| state.count > 1 || text == state.name)?;
            let shared = hardware.uniform.contains(&index) || hardware.bits.iter().any(|(bits, _)| *bits == index);
            Some(Variable { of: Of::State(state.name, element), name: bank.name(element), width: bank.width, shared })
        })
    }

    /// The places that a name stands for: one, or all elements of an array of states. Empty if there are none.
    pub fn all(set: Set, text: &str) -> Vec<Self> {
        let one = Variable::named(set, text);
        let array = set.1.states.iter().find(|state| one.is_none() && state.name == text);
        let elements = array.map_or(0..0, |state| 0..state.count);
        one.into_iter().chain(elements.filter_map(|index| Variable::named(set, &format!("{text}[{index}]")))).collect()
    }

    /// Returns its value in a lane.
    fn read<const L: usize>(&self, machine: &Machine<L>, lane: usize) -> Option<u64> {
        match self.of {
            Of::Register(register) => machine.read(register, lane),
            Of::State(name, element) => machine.read_state(name, element.into(), lane),
        }
    }

    /// Sets its value in a lane.
    pub fn write<const L: usize>(&self, machine: &mut Machine<L>, lane: usize, value: u64) -> Option<()> {
        match self.of {
            Of::Register(register) => machine.write(register, lane, value),
            Of::State(name, element) => machine.write_state(name, element.into(), lane, value),
        }
    }

    /// Formats its values in the lanes of a mask, after its name.
    pub fn line<const L: usize>(&self, machine: &Machine<L>, mask: u64) -> String {
        let column: Column<L> = std::array::from_fn(|lane| self.read(machine, lane).unwrap_or(0));
        format!("{} = {}", self.name, lanes(&column, mask, self.width.div_ceil(4) as usize))
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
