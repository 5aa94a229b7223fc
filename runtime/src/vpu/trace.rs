//! Events of a run, cycle by cycle.

use std::fmt;

use crate::machine::Access;
use crate::vpu::error::Wait;
use crate::vpu::group::THREADS;

/// A location that an instruction wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// A local register.
    Local(u8),
    /// A shared register.
    Shared(u8),
    /// A register of a global bank, through bit 55.
    Global {
        /// The bank.
        bank: u8,
        /// The register.
        index: u8,
    },
    /// An element of a tile buffer.
    Tile {
        /// The buffer.
        buffer: u8,
        /// The element.
        element: u32,
    },
    /// A word of external memory.
    Memory(u32),
}

/// A write by one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// The thread.
    pub thread: u8,
    /// The location.
    pub to: Written,
    /// The components written.
    pub value: [Option<u16>; 4],
}

impl fmt::Display for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{} ", self.thread)?;
        match self.to {
            Written::Local(index) => write!(f, "r{index}")?,
            Written::Shared(index) => write!(f, "s{index}")?,
            Written::Global { bank, index } => write!(f, "bank {bank} g{index}")?,
            Written::Tile { buffer, element } => write!(f, "tile{buffer}[{element}]")?,
            Written::Memory(address) => write!(f, "[{address:#x}]")?,
        }
        f.write_str("=")?;
        for (i, value) in self.value.iter().enumerate() {
            let gap = if i == 0 { "" } else { "," };
            match value {
                Some(value) => write!(f, "{gap}{value:04x}")?,
                None => write!(f, "{gap}_")?,
            }
        }
        Ok(())
    }
}

/// What a core does in a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// An instruction issues.
    Issue {
        /// The group, counted in the order in which the core's groups became active.
        group: u64,
        /// The instruction's address.
        pc: u16,
        /// Its text.
        text: String,
        /// Its writes, in order.
        writes: Vec<Write>,
        /// The flags of each thread afterwards, bit 0 for X.
        flags: [u8; THREADS],
        /// The threads that live afterwards, bit 0 for thread 0.
        living: u8,
        /// The threads that are active afterwards.
        active: u8,
    },
    /// An instruction does not issue.
    Stall {
        /// The group.
        group: u64,
        /// The instruction's address.
        pc: u16,
        /// Its text.
        text: String,
        /// The reason.
        wait: Wait,
    },
    /// The fetch after a taken branch was wasted.
    Bubble,
    /// All active groups wait for memory.
    Idle,
}

/// A cycle of a core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The number of the cycle, from 0.
    pub cycle: u64,
    /// The core.
    pub core: usize,
    /// What the core does.
    pub event: Event,
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>6} core {} ", self.cycle, self.core)?;
        match &self.event {
            Event::Issue { group, pc, text, writes, flags, living, active } => {
                write!(f, "group {group:<3} {pc:>4}: {text}  |")?;
                for (i, write) in writes.iter().enumerate() {
                    write!(f, "{}{write}", if i == 0 { " " } else { "; " })?;
                }
                write!(f, " | flags")?;
                for flags in flags {
                    let set = |c: usize, name: char| if flags >> c & 1 == 1 { name } else { '-' };
                    write!(f, " {}{}{}{}", set(0, 'x'), set(1, 'y'), set(2, 'z'), set(3, 'w'))?;
                }
                write!(f, " | threads ")?;
                (0..THREADS).try_for_each(|t| {
                    let sign = if active >> t & 1 == 1 {
                        '+'
                    } else if living >> t & 1 == 1 {
                        '.'
                    } else {
                        'x'
                    };
                    write!(f, "{sign}")
                })
            }
            Event::Stall { group, pc, text, wait } => write!(f, "group {group:<3} {pc:>4}: {text}  | stall: {wait}"),
            Event::Bubble => f.write_str("bubble"),
            Event::Idle => f.write_str("idle"),
        }
    }
}

/// Records writes and accesses, or ignores them.
pub(crate) trait Sink {
    /// Whether anything is recorded. If not, the caller may skip preparing it.
    const ON: bool;
    fn write(&mut self, write: Write);
    fn access(&mut self, access: Access);
}

/// Records nothing.
pub(crate) struct Quiet;

impl Sink for Quiet {
    const ON: bool = false;
    fn write(&mut self, _: Write) {}
    fn access(&mut self, _: Access) {}
}

impl Sink for Vec<Write> {
    const ON: bool = true;

    fn write(&mut self, write: Write) {
        self.push(write);
    }

    fn access(&mut self, _: Access) {}
}

/// What an instruction did.
#[derive(Default)]
pub(crate) struct Noted {
    pub writes: Vec<Write>,
    /// The accesses to external memory.
    pub accesses: Vec<Access>,
}

impl Sink for Noted {
    const ON: bool = true;

    fn write(&mut self, write: Write) {
        self.writes.push(write);
    }

    fn access(&mut self, access: Access) {
        self.accesses.push(access);
    }
}
