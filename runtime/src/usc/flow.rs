//! Mutexes, and what conditional instructions answer.

use isaforge_usc::{Cndinst, Lr};

use crate::usc::exec::Cpu;
use crate::usc::host::Host;
use crate::usc::machine::{MUTEXES, State};

impl<H: Host> Cpu<'_, H> {
    /// Gives back or takes a mutex; the action is numbered as it is encoded.
    pub(super) fn mutex(&mut self, action: u32, id: u32) {
        let Some(action) = Lr::from_number(action.into()) else { return };
        let holder = &mut self.common.mutexes[id as usize % MUTEXES];
        let mine = *holder == Some(self.number);
        match action {
            Lr::Lock => match *holder {
                None => *holder = Some(self.number),
                Some(_) if mine => {}
                Some(_) => self.task.state = State::Wants(id),
            },
            Lr::Release | Lr::ReleaseSleep | Lr::ReleaseWakeup => {
                if mine {
                    *holder = None;
                }
                match action {
                    Lr::ReleaseSleep => self.task.state = State::Sleeps(id),
                    Lr::ReleaseWakeup => self.woken = Some(id),
                    Lr::Release | Lr::Lock => {}
                }
            }
        }
    }
}

/// What a conditional instruction knows of an instance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    /// Whether its condition holds.
    pub holds: bool,
    /// The mask counter: 0 for an instance that runs.
    pub counter: u32,
    /// The second operand.
    pub value: u32,
    /// What the counter changes by.
    pub adjust: u32,
    /// Whether some running instance wants another round of a loop.
    pub someone_loops: bool,
    /// Whether its second operand is that of the first running instance, if one runs.
    pub is_chosen: bool,
}

impl Ask {
    /// The new counter, and whether the instance runs.
    #[inline(always)]
    pub(super) fn answer(self, instruction: Cndinst) -> (u32, bool) {
        let Ask { holds, counter, value, adjust, someone_loops, is_chosen } = self;
        let stay = (counter, counter == 0);
        let ends = if counter > adjust { (counter - adjust, false) } else { (0, true) };
        match instruction {
            Cndinst::St if holds && counter == 0 => (0, true),
            Cndinst::St => (counter.wrapping_add(adjust), false),
            Cndinst::Ef if counter == 0 => (adjust, adjust == 0),
            Cndinst::Ef if holds && counter == 1 => (0, true),
            Cndinst::Ef => (counter, false),
            Cndinst::Sm if holds && counter == 0 => (value, value == 0),
            Cndinst::Sm => stay,
            Cndinst::Lt if !someone_loops => ends,
            Cndinst::Lt if !holds && counter == 0 => (adjust, false),
            Cndinst::Lt => stay,
            Cndinst::End => ends,
            Cndinst::SetlB if counter == 0 && !is_chosen => (1, false),
            Cndinst::SetlB => stay,
            Cndinst::Lpc if counter == 0 => (2, false),
            Cndinst::Lpc if counter == 1 => (0, true),
            Cndinst::Lpc => (counter, false),
            Cndinst::SetlA => stay,
        }
    }
}
