//! Mutexes.

use isaforge_usc::Lr;

use crate::machine::AccessKind;
use crate::usc::common::MUTEXES;
use crate::usc::exec::Cpu;
use crate::usc::host::Host;
use crate::usc::task::State;

impl<H: Host> Cpu<'_, H> {
    /// Releases or acquires a mutex; the action is numbered as it is encoded.
    pub(super) fn mutex(&mut self, action: u32, id: u32) {
        let Some(action) = Lr::from_number(action.into()) else { return };
        let number = self.number;
        let holder = &mut self.common.mutexes[id as usize % MUTEXES];
        let mine = *holder == Some(number);
        let ordered = mine || action == Lr::Lock && holder.is_none();
        match action {
            Lr::Lock => match *holder {
                None => *holder = Some(number),
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
        if ordered {
            let instances = 0..self.task.instances();
            instances.for_each(|instance| self.access(AccessKind::Atomic, instance, id.into(), 0, None));
        }
    }
}
