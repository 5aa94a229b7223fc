//! Tasks side by side.
//!
//! When a program is loaded its groups become operations on columns as far as they can: the graph of a group, covered
//! with handlers. What concerns only the task itself may be executed before its turn: nobody sees it. So whenever a task comes to such groups, the tasks behind it
//! that stand at such groups, too, advance together with it, at most by what they may execute in their next turn. There
//! they find it done. What tasks share (memory, shared registers that a program writes, mutexes, outputs, the time) is
//! touched in the turns only, in the order in which [`Machine::run`](super::Machine::run) lets tasks take turns.
//! Therefore everything is as if they ran one after another, errors included; only of the tasks that did not fail more
//! may have been executed.
//!
//! - `bind`: where the graph of a group finds registers, states and constants
//! - `code`: what each group of a program is
//! - `flow`: loops of them as machine code
//! - `bundle`: the tasks that advance

mod bind;
mod bundle;
mod code;
mod flow;

pub(super) use bundle::{Ahead, Bundle};
pub(super) use code::{Code, active};
