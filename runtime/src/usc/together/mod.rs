//! Tasks that advance side by side.
//!
//! When a program is loaded, the graphs of its groups are covered with handlers, which are operations on columns, as
//! far as possible. A task may execute groups that concern only itself before its turn, since this is not observable.
//! Whenever a task reaches such groups, the tasks after it that are at such groups too advance together with it, at
//! most by what they may execute in their next turn. In that turn these groups are already done. State shared by tasks
//! (memory, shared registers that a program writes, mutexes, outputs, the time) is accessed in turns only, in the order
//! in which [`Machine::run`](super::Machine::run) schedules tasks. The results are therefore the same as if tasks ran
//! one after another, including errors; only tasks that did not fail may have executed more.
//!
//! - `bind`: binds registers, states and constants in graphs to columns
//! - `member`: tasks as operations on columns access them
//! - `code`: the kind of each group of a program
//! - `flow`: regions compiled to machine code

mod bind;
pub(super) mod code;
pub(super) mod flow;
pub(super) mod member;
