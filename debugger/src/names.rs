//! What conditions and commands may name.

use std::collections::BTreeMap;

use isaforge_runtime::machine::{Bank, Register};

/// Finds a register by name, and its bank.
pub fn register<'b>(banks: &'b [Bank], name: &str) -> Option<(Register, &'b Bank)> {
    let found =
        |(bank, known): (usize, &'b Bank)| Some((Register { bank: bank as u16, index: known.index(name)? }, known));
    banks.iter().enumerate().find_map(found)
}

/// What conditions may name.
#[derive(Clone, Copy, Debug)]
pub struct Names<'b> {
    /// The banks of registers.
    pub banks: &'b [Bank],
    /// The states that registers hold, by name.
    pub states: &'b BTreeMap<String, Register>,
    /// The number of lanes.
    pub lanes: usize,
    /// The address spaces with a memory of their own.
    pub spaces: &'b [&'static str],
}

impl<'b> Names<'b> {
    /// Finds a register by its name or that of a state that it holds, and its bank.
    pub fn register(&self, name: &str) -> Option<(Register, &'b Bank)> {
        register(self.banks, name).or_else(|| {
            let found = *self.states.get(name)?;
            Some((found, self.banks.get(usize::from(found.bank))?))
        })
    }

    /// The registers that a name stands for: one, or all elements of an array of states.
    ///
    /// # Errors
    /// When there is nothing with this name.
    pub fn registers(&self, name: &str) -> Result<Vec<Register>, String> {
        match (self.register(name), self.array(name)) {
            (Some((register, _)), _) => Ok(vec![register]),
            (None, Some((bank, array))) => {
                Ok((0..array.count).map(|index| Register { bank: bank as u16, index }).collect())
            }
            (None, None) => Err(self.missing(name)),
        }
    }

    /// Why there is no single register with this name.
    pub fn missing(&self, name: &str) -> String {
        match self.array(name) {
            Some((_, array)) => {
                let (count, first, last) = (array.count, array.name(0), array.name(array.count.saturating_sub(1)));
                format!("`{name}` is an array of {count} elements; name one of `{first}` to `{last}`")
            }
            None => {
                let known = self.banks.iter().map(|bank| match bank.count {
                    0 | 1 => bank.name(0),
                    count => format!("{} to {}", bank.name(0), bank.name(count - 1)),
                });
                format!("there is no register `{name}`, only {}", known.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// The bank of an array of states.
    fn array(&self, name: &str) -> Option<(usize, &'b Bank)> {
        let is_called = |bank: &Bank| bank.open.strip_suffix('[') == Some(name) && bank.close == "]";
        self.banks.iter().enumerate().find(|(_, bank)| is_called(bank) && bank.names.is_empty())
    }
}
