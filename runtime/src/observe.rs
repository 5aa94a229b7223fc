//! What observers of any machine share: profiles, and the notation for the values of lanes.

use std::fmt;
use std::ops::AddAssign;

/// Bytes moved between registers and memory. An atomic counts its word as both read and written. Accesses by textures,
/// varyings and the like are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes read from memory.
    pub read: u64,
    /// Bytes written to memory.
    pub written: u64,
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Traffic) {
        self.read += other.read;
        self.written += other.written;
    }
}

/// The counts of one instruction of the instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The mnemonic.
    pub mnemonic: &'static str,
    /// How often warps executed it.
    pub warps: u64,
    /// How often threads executed it.
    pub threads: u64,
    /// The bytes that it moved.
    pub traffic: Traffic,
}

/// The terminology of a machine, in the singular.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The unit that profiles count by name.
    pub instruction: &'static str,
    /// The unit that is executed at once; it may hold several instructions.
    pub step: &'static str,
    /// The unit that runs in a lane.
    pub thread: &'static str,
    /// The unit that consists of lanes.
    pub warp: &'static str,
}

/// Counts instructions, lanes and bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The machine's terminology.
    pub terms: Terms,
    /// One row for each instruction.
    rows: Vec<Row>,
    /// How often each number of lanes was active together, indexed by that number.
    pub occupancy: Vec<u64>,
}

impl Profile {
    /// Creates an empty profile for instructions with these names and warps of `lanes` lanes.
    pub fn new(names: impl IntoIterator<Item = &'static str>, lanes: usize, terms: Terms) -> Self {
        let row = |mnemonic| Row { mnemonic, warps: 0, threads: 0, traffic: Traffic::default() };
        Profile { terms, rows: names.into_iter().map(row).collect(), occupancy: vec![0; lanes + 1] }
    }

    /// Counts `times` executions of an instruction, given as the index of its name, each on `lanes` lanes.
    pub fn count(&mut self, instruction: usize, times: u64, lanes: u32, traffic: Traffic) {
        if let Some(row) = self.rows.get_mut(instruction) {
            row.warps += times;
            row.threads += times * u64::from(lanes);
            row.traffic += traffic;
        }
    }

    /// Counts one step with this number of active lanes.
    pub fn occupy(&mut self, lanes: u32) {
        if let Some(times) = self.occupancy.get_mut(lanes as usize) {
            *times += 1;
        }
    }

    /// Returns the rows of all instructions that were executed, those executed by most threads first.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = self.rows.iter().copied().filter(|row| row.warps > 0).collect();
        rows.sort_by(|a, b| b.threads.cmp(&a.threads).then(a.mnemonic.cmp(b.mnemonic)));
        rows
    }

    /// Returns the sum of all rows.
    pub fn total(&self) -> Row {
        let mut total = Row { mnemonic: "all", warps: 0, threads: 0, traffic: Traffic::default() };
        for row in &self.rows {
            total.warps += row.warps;
            total.threads += row.threads;
            total.traffic += row.traffic;
        }
        total
    }
}

/// Writes the values of the lanes in a mask: a single value if several lanes share it, else each with its lane.
pub(crate) fn write_values(f: &mut fmt::Formatter<'_>, values: &[u32], mask: u32) -> fmt::Result {
    let mut values = values.iter().enumerate().filter(|(lane, _)| mask.checked_shr(*lane as u32).unwrap_or(0) & 1 != 0);
    let Some((first, value)) = values.next() else { return Ok(()) };
    let rest: Vec<(usize, &u32)> = values.collect();
    if rest.iter().all(|(_, other)| *other == value) && !rest.is_empty() {
        return write!(f, "{value:08x}");
    }
    write!(f, "{first}:{value:08x}")?;
    rest.iter().try_for_each(|(lane, value)| write!(f, " {lane}:{value:08x}"))
}
