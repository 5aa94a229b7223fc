//! A group of four threads.

/// A component of a thread's register at index `4 * thread + component`.
pub(crate) type Lanes = [u16; 16];

/// Threads in a group.
pub const THREADS: usize = 4;

/// Registers and flags of a group, as a host sets and reads them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    /// X, Y, Z, W of each thread's local registers.
    pub local: [[[u16; 4]; 16]; THREADS],
    /// X, Y, Z, W of the shared registers.
    pub shared: [[u16; 4]; 16],
    /// Each thread's flags, bit 0 for X up to bit 3 for W.
    pub flags: [u8; THREADS],
}

/// A group as it runs.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// Counts the groups of a core, in the order of their start.
    pub serial: u64,
    pub pc: u16,
    /// Bit `t`: thread `t` lives.
    pub living: u8,
    /// Bit `t`: thread `t` is not masked.
    pub active: u8,
    /// Bit `4 * t + c`.
    pub flags: u16,
    pub local: [Lanes; 16],
    pub shared: [[u16; 4]; 16],
    pub x: u16,
    pub y: u16,
    /// The bank it reads.
    pub bank: u8,
    /// The bank that Allocate has reserved for the next launch.
    pub reserved: Option<u8>,
    /// Threads with a result pending, and the results.
    pub pending: u8,
    pub result: Lanes,
    /// The cycle from which on the results are there.
    pub ready: u64,
    /// Issued instructions.
    pub steps: u64,
    /// The host wants to see what it leaves.
    pub watched: bool,
}

impl Group {
    pub(crate) fn new(start: Start, serial: u64) -> Self {
        let mut group = Group {
            serial,
            pc: start.entry & 1023,
            living: start.living,
            active: start.living,
            flags: 0,
            local: [[0; 16]; 16],
            shared: [[0; 4]; 16],
            x: start.x & !3,
            y: start.y,
            bank: start.bank,
            reserved: None,
            pending: 0,
            result: [0; 16],
            ready: 0,
            steps: 0,
            watched: start.registers.is_some(),
        };
        if let Some(registers) = &start.registers {
            for (t, thread) in registers.local.iter().enumerate() {
                for (register, value) in group.local.iter_mut().zip(thread) {
                    register[4 * t..4 * t + 4].copy_from_slice(value);
                }
            }
            group.shared = registers.shared;
            group.flags = registers.flags.iter().enumerate().fold(0, |all, (t, f)| all | u16::from(f & 15) << (4 * t));
        }
        group
    }

    pub(crate) fn registers(&self) -> Registers {
        let thread = |t: usize| std::array::from_fn(|r| std::array::from_fn(|c| self.local[r][4 * t + c]));
        Registers { local: std::array::from_fn(thread), shared: self.shared, flags: self.flags_by_thread() }
    }

    pub(crate) fn flags_by_thread(&self) -> [u8; THREADS] {
        std::array::from_fn(|t| (self.flags >> (4 * t)) as u8 & 15)
    }
}

/// A group that waits to become active.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub entry: u16,
    pub x: u16,
    pub y: u16,
    pub living: u8,
    /// Held for the group already.
    pub bank: u8,
    pub registers: Option<Box<Registers>>,
}
