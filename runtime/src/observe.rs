//! What looking on at a run gives, whatever the machine: profiles, and how the values of lanes are written.

use std::fmt;
use std::ops::AddAssign;

/// Bytes moved between registers and memory. An atomic moves its word both ways. What textures, varyings and the like
/// move is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// From memory.
    pub read: u64,
    /// To memory.
    pub written: u64,
}

impl Traffic {
    /// The same, a number of times.
    pub fn times(self, count: u64) -> Self {
        Traffic { read: self.read * count, written: self.written * count }
    }
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Traffic) {
        self.read += other.read;
        self.written += other.written;
    }
}

/// What was seen of one instruction of the instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name.
    pub mnemonic: &'static str,
    /// How often warps executed it.
    pub warps: u64,
    /// How often threads did.
    pub threads: u64,
    /// What it moved.
    pub traffic: Traffic,
}

/// What a machine calls things, in the singular.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// What is counted by name.
    pub instruction: &'static str,
    /// What is executed at once; it may hold several of these.
    pub step: &'static str,
    /// What runs in a lane.
    pub thread: &'static str,
    /// What has several lanes.
    pub warp: &'static str,
}

/// Counts instructions, lanes and bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The machine's words.
    pub terms: Terms,
    /// An instruction each.
    rows: Vec<Row>,
    /// How often a number of lanes took part together, by that number.
    pub occupancy: Vec<u64>,
}

impl Profile {
    /// One in which nothing is counted, for instructions with these names and warps of `lanes` lanes.
    pub fn new(names: impl IntoIterator<Item = &'static str>, lanes: usize, terms: Terms) -> Self {
        let row = |mnemonic| Row { mnemonic, warps: 0, threads: 0, traffic: Traffic::default() };
        Profile { terms, rows: names.into_iter().map(row).collect(), occupancy: vec![0; lanes + 1] }
    }

    /// Counts an instruction, by its place among the names: how often, and on how many lanes each time.
    pub fn count(&mut self, instruction: usize, times: u64, lanes: u32, traffic: Traffic) {
        if let Some(row) = self.rows.get_mut(instruction) {
            row.warps += times;
            row.threads += times * u64::from(lanes);
            row.traffic += traffic;
        }
    }

    /// Counts how many lanes took part together.
    pub fn occupy(&mut self, lanes: u32) {
        if let Some(times) = self.occupancy.get_mut(lanes as usize) {
            *times += 1;
        }
    }

    /// Everything that was executed, what most threads did first.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = self.rows.iter().copied().filter(|row| row.warps > 0).collect();
        rows.sort_by(|a, b| b.threads.cmp(&a.threads).then(a.mnemonic.cmp(b.mnemonic)));
        rows
    }

    /// All rows added up.
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

/// Writes values that begin with the one of all lanes in a mask, or with each lane's.
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
