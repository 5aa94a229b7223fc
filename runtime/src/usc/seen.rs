//! What an observer sees of a task.

use isaforge_usc::Regbank;

use crate::machine::{self, Access, At, View};
use crate::usc::common::{Common, value};
use crate::usc::host::Host;
use crate::usc::lanes::{LANES, Mask};
use crate::usc::register::{
    DYNAMIC, GLOBALS, INTERNALS, PIXEL_OUTPUTS, Register, SHARED, SPECIALS, TEMPORARIES, constant, pixel,
};
use crate::usc::task::Task;

/// Returns the register with this number in a bank. `None` when it does not exist.
pub type Numbered = fn(u32) -> Option<Register>;

/// The banks: the prefix of the registers' names, what they are called, their number, whether instances share them, and
/// the register with a given number.
pub const BANKS: [(&str, &str, usize, bool, Numbered); 12] = [
    ("r", "temporaries", TEMPORARIES, false, Register::temporary),
    ("i", "internal registers", INTERNALS, false, |n| Register::special(36 + n)),
    ("o", "pixel outputs", PIXEL_OUTPUTS, false, |n| Register::special(pixel(n as u16).into())),
    ("vi", "vertex inputs", TEMPORARIES, false, |n| Register::new(Regbank::Vtxin, n)),
    ("idx", "index registers", 2, false, |n| Register::new(if n == 0 { Regbank::Idx0 } else { Regbank::Idx1 }, 5)),
    ("sr", "special registers", SPECIALS, false, Register::unnamed),
    ("sl", "slots", INTERNALS, true, |n| Some(Register::Slot(n as u16))),
    ("g", "globals", GLOBALS, true, |n| Some(Register::Global(n as u16))),
    ("sh", "shared registers", SHARED, true, |n| Some(Register::Shared(n as u16))),
    ("cf", "coefficients", SHARED, true, |n| Some(Register::Coefficient(n as u16))),
    ("dc", "dynamic constants", DYNAMIC, true, |n| Some(Register::Dynamic(n as u16))),
    (CONSTANTS, "constants", SPECIALS, true, |n| constant(n as usize).and_then(|_| Register::special(n))),
];
/// The bank of constants.
pub const CONSTANTS: &str = "c";
/// The first bank after these, which is the predicate; the next one is Pe, whether an instance runs.
const PREDICATE: u16 = BANKS.len() as u16;

/// A task at a group.
pub(super) struct Seen<'a, H> {
    pub task: &'a Task,
    pub common: &'a Common,
    pub host: &'a H,
    /// The number of the task, and whether its instances are pixels.
    pub who: (usize, bool),
    pub at: u32,
    pub active: Mask,
    pub accesses: &'a [Access],
    /// Whether the group has been executed and was the last one of its task.
    pub ended: bool,
}

impl<H: Host> View for Seen<'_, H> {
    fn at(&self) -> At {
        let live = if self.ended || self.task.has_ended() { 0 } else { self.task.valid };
        At { warp: self.who.0 as u64, pc: self.at.into(), live: live.into(), active: self.active.into() }
    }

    fn origin(&self) -> String {
        format!("task {}", self.who.0)
    }

    fn thread(&self, lane: usize) -> [u32; 3] {
        let special =
            |number| Register::special(number).and_then(|register| self.task.get(register, lane)).unwrap_or(0);
        match self.who {
            (_, true) => [special(97), special(100), 0],
            (task, false) => [(task * LANES + lane) as u32, 0, 0],
        }
    }

    fn read(&self, register: machine::Register, lane: usize) -> Option<u64> {
        if lane >= LANES {
            return None;
        }
        let number = register.index;
        let bit = |mask: Mask| Some(u64::from(mask >> lane & 1));
        match register.bank.checked_sub(PREDICATE) {
            Some(0) => return bit(self.task.predicate),
            Some(_) => return bit(self.task.running),
            None => {}
        }
        let (.., register) = BANKS.get(usize::from(register.bank))?;
        Some(value(self.task, self.common, register(number)?, lane).into())
    }

    fn memory(&self, _: usize, address: u64, into: &mut [u8]) -> Option<()> {
        self.host.peek(address, into)
    }

    fn accesses(&self) -> &[Access] {
        self.accesses
    }
}
