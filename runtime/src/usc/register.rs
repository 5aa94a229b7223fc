//! The registers, their owners, and their stepping when a group repeats.

use std::fmt;
use std::str::FromStr;

use isaforge_usc::{ISA, Regbank};

/// The number of temporaries, and of vertex inputs, of an instance.
pub const TEMPORARIES: usize = 248;
/// The number of shared registers of a machine, of coefficients of a task, and of its alternate coefficients.
pub const SHARED: usize = 4096;
/// The number of internal registers of an instance.
pub const INTERNALS: usize = 8;
/// The number of pixel outputs of an instance.
pub const PIXEL_OUTPUTS: usize = 8;
/// The number of global registers, which all tasks share.
pub const GLOBALS: usize = 8;
/// The number of dynamic constants of a machine.
pub const DYNAMIC: usize = 16384;
/// The number of special registers that can be named.
pub const SPECIALS: usize = 240;

/// The range of internal registers among the special registers.
const FIRST_INTERNAL: u16 = 36;
const LAST_INTERNAL: u16 = FIRST_INTERNAL + INTERNALS as u16 - 1;

/// The first columns of a task's banks. Columns are registers of individual instances, and constants.
const TEMP: u16 = 256;
const VERTEX: u16 = TEMP + TEMPORARIES as u16;
const INDEX: u16 = VERTEX + TEMPORARIES as u16;
/// The number of columns of a task.
pub(super) const COLUMNS: usize = INDEX as usize + 2;

/// A bank that can be accessed through an index register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Temporaries.
    Temporary,
    /// Vertex inputs.
    Vertex,
    /// Coefficients.
    Coefficient,
    /// Alternate coefficients.
    Alternate,
    /// Shared registers.
    Shared,
    /// Pixel outputs.
    Pixel,
    /// Dynamic constants.
    Dynamic,
}

/// A register named by a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// A column: a register of individual instances, or a constant.
    Column(u16),
    /// A coefficient of the task.
    Coefficient(u16),
    /// An alternate coefficient of the task.
    Alternate(u16),
    /// A shared register.
    Shared(u16),
    /// A global register.
    Global(u16),
    /// A slot register, shared by the instances of a task.
    Slot(u16),
    /// A dynamic constant, which programs can only access through an index.
    Dynamic(u16),
    /// The timer.
    Timer,
    /// The register selected by an index register plus an offset.
    Indexed {
        /// The number of the index register.
        index: u8,
        /// The bank.
        reach: Reach,
        /// The offset.
        offset: u16,
    },
}

/// The meaning of a special register, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Special {
    Constant,
    Pixel(u16),
    Internal(u16),
    Global(u16),
    Timer,
    TileStore,
    System,
}

/// Returns the value of a constant, by the number of its special register. `None` when it is not a constant.
///
/// The constants are in three runs of 32, 64 apart; the specification has a table for each.
pub fn constant(number: usize) -> Option<u32> {
    let table = ISA.constants.get(number / 64)?;
    table.values.get(number % 64).map(|constant| constant.value as u32)
}

fn special(number: u32) -> Option<Special> {
    Some(match number {
        _ if constant(number as usize).is_some() => Special::Constant,
        32..=35 => Special::Pixel(number as u16 - 32),
        36..=43 => Special::Internal(number as u16 - 36),
        44..=53 | 62 | 63 | 96..=98 | 100..=103 | 112 | 114..=118 | 127 => Special::System,
        54..=57 | 119..=122 => Special::System,
        58..=61 | 123..=126 => Special::TileStore,
        104..=111 => Special::Global(number as u16 - 104),
        160 => Special::Timer,
        164..=167 => Special::Pixel(number as u16 - 160),
        _ => return None,
    })
}

/// Returns the special register of a pixel output. Outputs 0 to 3 and 4 to 7 are in separate ranges.
pub fn pixel(number: u16) -> u16 {
    if number < 4 { 32 + number } else { 160 + number }
}

impl Register {
    /// Creates the register with this bank and number. `None` when it does not exist.
    pub fn new(bank: Regbank, number: u32) -> Option<Register> {
        let below = |limit: usize| ((number as usize) < limit).then_some(number as u16);
        let indexed = |index: u8| {
            let reach = match number & 7 {
                0 => Reach::Temporary,
                1 => Reach::Vertex,
                2 => Reach::Coefficient,
                3 => Reach::Shared,
                4 => Reach::Dynamic,
                5 => return (number >> 3 == 0).then_some(Register::Column(INDEX + u16::from(index))),
                6 => Reach::Alternate,
                _ => Reach::Pixel,
            };
            Some(Register::Indexed { index, reach, offset: (number >> 3) as u16 })
        };
        match bank {
            Regbank::Special => match special(number)? {
                Special::Global(n) => Some(Register::Global(n)),
                Special::Timer => Some(Register::Timer),
                _ => Some(Register::Column(number as u16)),
            },
            Regbank::Temp => below(TEMPORARIES).map(|n| Register::Column(TEMP + n)),
            Regbank::Vtxin => below(TEMPORARIES).map(|n| Register::Column(VERTEX + n)),
            Regbank::Coeff => below(SHARED).map(Register::Coefficient),
            Regbank::CoeffAlt => below(SHARED).map(Register::Alternate),
            Regbank::Shared => below(SHARED).map(Register::Shared),
            Regbank::Idx0 => indexed(0),
            Regbank::Idx1 => indexed(1),
        }
    }

    /// Creates the special register with this number.
    pub fn special(number: u32) -> Option<Register> {
        Register::new(Regbank::Special, number)
    }

    /// Creates the special register with this number, unless programs name it as a constant or in another bank.
    pub(super) fn unnamed(number: u32) -> Option<Register> {
        let is_unnamed = matches!(special(number)?, Special::System | Special::TileStore | Special::Timer);
        is_unnamed.then(|| Register::special(number)).flatten()
    }

    /// Creates the temporary with this number.
    pub fn temporary(number: u32) -> Option<Register> {
        Register::new(Regbank::Temp, number)
    }

    /// Returns the register in a machine with a number of slot registers. They replace internal registers, from the
    /// last one downwards: slot 0 is internal register 7.
    pub(super) fn with_slots(self, slots: u16) -> Register {
        let Register::Column(column @ FIRST_INTERNAL..=LAST_INTERNAL) = self else { return self };
        let slot = LAST_INTERNAL - column;
        if slot < slots { Register::Slot(slot) } else { self }
    }

    /// Returns the register `by` places later in its bank; constants and system values stay the same.
    pub fn plus(self, by: u16) -> Option<Register> {
        if by == 0 {
            return Some(self);
        }
        match self {
            Register::Column(column) => match column {
                0..TEMP => match special(column.into())? {
                    Special::Pixel(n) => (usize::from(n + by) < PIXEL_OUTPUTS).then(|| Register::Column(pixel(n + by))),
                    Special::Internal(n) => (usize::from(n + by) < INTERNALS).then_some(Register::Column(column + by)),
                    _ => Some(self),
                },
                TEMP..VERTEX => Some(Register::Column(column + by)).filter(|_| column + by < VERTEX),
                VERTEX..INDEX => Some(Register::Column(column + by)).filter(|_| column + by < INDEX),
                _ => Some(Register::Column(column + by)).filter(|_| usize::from(column + by) < COLUMNS),
            },
            Register::Coefficient(n) => inside(n, by).map(Register::Coefficient),
            Register::Alternate(n) => inside(n, by).map(Register::Alternate),
            Register::Shared(n) => inside(n, by).map(Register::Shared),
            Register::Global(n) => Some(Register::Global(n + by)).filter(|_| usize::from(n + by) < GLOBALS),
            Register::Slot(n) => Some(Register::Slot(n + by)).filter(|_| usize::from(n + by) < INTERNALS),
            Register::Dynamic(n) => Some(Register::Dynamic(n + by)).filter(|_| usize::from(n + by) < DYNAMIC),
            Register::Timer => Some(self),
            Register::Indexed { index, reach, offset } => {
                Some(Register::Indexed { index, reach, offset: offset.checked_add(by)? })
            }
        }
    }

    /// Whether a program may write the register: constants and system values are fixed.
    pub fn is_writable(self) -> bool {
        match self {
            Register::Column(column) if column < TEMP => {
                !matches!(special(column.into()), Some(Special::Constant | Special::System) | None)
            }
            Register::Timer | Register::Dynamic(_) | Register::Indexed { reach: Reach::Dynamic, .. } => false,
            _ => true,
        }
    }
}

fn inside(number: u16, by: u16) -> Option<u16> {
    Some(number + by).filter(|n| usize::from(*n) < SHARED)
}

impl Reach {
    /// The number of registers that an index can reach.
    pub(super) fn size(self) -> usize {
        match self {
            Reach::Temporary | Reach::Vertex => TEMPORARIES,
            Reach::Pixel => PIXEL_OUTPUTS,
            Reach::Coefficient | Reach::Alternate | Reach::Shared => SHARED,
            Reach::Dynamic => DYNAMIC,
        }
    }

    /// Returns the register with this number in the bank, which must be below [`size`](Reach::size).
    pub(super) fn register(self, number: u16) -> Register {
        match self {
            Reach::Temporary => Register::Column(TEMP + number),
            Reach::Vertex => Register::Column(VERTEX + number),
            Reach::Coefficient => Register::Coefficient(number),
            Reach::Alternate => Register::Alternate(number),
            Reach::Shared => Register::Shared(number),
            Reach::Pixel => Register::Column(pixel(number)),
            Reach::Dynamic => Register::Dynamic(number),
        }
    }
}

/// Parses `vi3`, `r0`, `sh4`, `cf2`, `i0`, `sl0`, `dc5`, `sr53`, `po0`, `idx0`.
impl FromStr for Register {
    type Err = UnknownRegister;

    fn from_str(text: &str) -> Result<Self, UnknownRegister> {
        let unknown = || UnknownRegister(text.chars().take(40).collect());
        let digits = text.find(|c: char| c.is_ascii_digit()).ok_or_else(unknown)?;
        let (name, number) = text.split_at(digits);
        let number: u32 = number.parse().map_err(|_| unknown())?;
        let found = match name {
            "vi" => Register::new(Regbank::Vtxin, number),
            "r" => Register::new(Regbank::Temp, number),
            "sh" => Register::new(Regbank::Shared, number),
            "cf" => Register::new(Regbank::Coeff, number),
            "cfa" => Register::new(Regbank::CoeffAlt, number),
            "sr" | "sc" | "c" => Register::new(Regbank::Special, number),
            "i" if number < INTERNALS as u32 => Register::special(36 + number),
            "po" | "o" if number < PIXEL_OUTPUTS as u32 => Register::special(pixel(number as u16).into()),
            "sl" if number < INTERNALS as u32 => Some(Register::Slot(number as u16)),
            "dc" if number < DYNAMIC as u32 => Some(Register::Dynamic(number as u16)),
            "g" if number < GLOBALS as u32 => Some(Register::Global(number as u16)),
            "idx" if number < 2 => Some(Register::Column(INDEX + number as u16)),
            _ => None,
        };
        found.ok_or_else(unknown)
    }
}

/// Writes the syntax that is parsed; an indexed register has the name of its bank in front, as in `sh4[idx0]`.
impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Register::Column(column @ TEMP..VERTEX) => write!(f, "r{}", column - TEMP),
            Register::Column(column @ VERTEX..INDEX) => write!(f, "vi{}", column - VERTEX),
            Register::Column(column @ INDEX..) => write!(f, "idx{}", column - INDEX),
            Register::Column(column) => match special(column.into()) {
                Some(Special::Pixel(n)) => write!(f, "po{n}"),
                Some(Special::Internal(n)) => write!(f, "i{n}"),
                _ => write!(f, "sr{column}"),
            },
            Register::Coefficient(n) => write!(f, "cf{n}"),
            Register::Alternate(n) => write!(f, "cfa{n}"),
            Register::Shared(n) => write!(f, "sh{n}"),
            Register::Global(n) => write!(f, "g{n}"),
            Register::Slot(n) => write!(f, "sl{n}"),
            Register::Dynamic(n) => write!(f, "dc{n}"),
            Register::Timer => f.write_str("sr160"),
            Register::Indexed { index, reach, offset } => {
                let bank = match reach {
                    Reach::Temporary => "r",
                    Reach::Vertex => "vi",
                    Reach::Coefficient => "cf",
                    Reach::Alternate => "cfa",
                    Reach::Shared => "sh",
                    Reach::Pixel => "po",
                    Reach::Dynamic => "dc",
                };
                write!(f, "{bank}{offset}[idx{index}]")
            }
        }
    }
}

/// A text that does not name a register.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a register: there are r0 to r247, vi0 to vi247, sh, cf, cfa (0 to 4095), dc (0 to 16383), i, sl, \
     po, g (0 to 7), idx0, idx1, sr"
)]
pub struct UnknownRegister(String);

impl Register {
    /// Creates an index register.
    pub(super) fn index(number: u8) -> Register {
        Register::Column(INDEX + u16::from(number & 1))
    }
}
