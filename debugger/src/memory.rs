//! Addresses, and memory of which only a part may be mapped.

use std::fmt;

use isaforge_core::number;
use isaforge_runtime::machine::View;

/// An address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    /// The address space, if it has a memory of its own; `None` for the common memory.
    pub space: Option<&'static str>,
    /// The number of the byte in that memory.
    pub at: u64,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.space.map_or(Ok(()), |space| write!(f, "{space}:"))?;
        write!(f, "{:#x}", self.at)
    }
}

impl Address {
    /// Parses `0x1000`, or `shared:0x10` for an address space of a machine.
    ///
    /// # Errors
    /// When it is neither, or the machine has no such address space.
    pub fn parse(text: &str, spaces: &[&'static str]) -> Result<Self, String> {
        let (space, digits) = match text.split_once(':') {
            Some((space, digits)) => (Some(named(space, spaces)?), digits),
            None => (None, text),
        };
        let at = number::parse(digits).ok_or_else(|| format!("`{text}` is not an address"))?;
        Ok(Address { space, at })
    }

    /// The address this many bytes on; that after the last one is 0.
    pub fn plus(self, bytes: u64) -> Self {
        Address { at: self.at.wrapping_add(bytes), ..self }
    }

    /// Fills `into` with memory as a lane sees it. Returns `None` when the bytes are not mapped.
    pub fn read(self, view: &dyn View, lane: usize, into: &mut [u8]) -> Option<()> {
        match self.space {
            Some(space) => view.space_memory(space, self.at, into),
            None => view.memory(lane, self.at, into),
        }
    }

    /// Fills the start of `into` with memory as a lane sees it. Returns the number of bytes before the first that is
    /// not mapped.
    pub fn read_mapped(self, view: &dyn View, lane: usize, into: &mut [u8]) -> usize {
        let fits = (into.len() as u64).checked_sub(1).is_some_and(|last| self.at.checked_add(last).is_some());
        if fits && self.read(view, lane, into).is_some() {
            return into.len();
        }
        if into.len() < 2 {
            return 0;
        }
        // Neighbouring regions cannot be read at once.
        let (left, right) = into.split_at_mut(into.len() / 2);
        let done = self.read_mapped(view, lane, left);
        match self.at.checked_add(done as u64) {
            Some(at) if done == left.len() => done + Address { at, ..self }.read_mapped(view, lane, right),
            _ => done,
        }
    }
}

/// The address space with a name.
fn named(name: &str, spaces: &[&'static str]) -> Result<&'static str, String> {
    spaces.iter().copied().find(|known| *known == name).ok_or_else(|| {
        let help = match spaces {
            [] => "the machine has one memory".to_owned(),
            _ => format!("expected `{}`, or no name for the common memory", spaces.join("`, `")),
        };
        format!("there is no address space `{name}` with a memory of its own; {help}")
    })
}
