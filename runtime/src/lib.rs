//! Runs the programs of generated instruction sets: lanes, warps, memory and the semantics of every instruction.
//!
//! A [`Launch`] gives the program and the number of threads, a [`Memory`] holds the data that the threads read and
//! write, and [`valhall::run`] executes the launch:
//!
//! ```
//! use isaforge_runtime::{Launch, Memory, valhall};
//!
//! let source = "
//!     IADD_IMM.i32 r0, 0x0, #0x2a
//!     STORE.i32.slot0.end @r0, u0, offset:0
//! ";
//! let program = isaforge_core::program::assemble(isaforge_valhall::ISA, source).unwrap();
//! let mut memory = Memory::new();
//! memory.map(0x1000, vec![0; 4])?;
//! let outcome = valhall::run(&Launch { program, uniforms: vec![0x1000, 0], ..Launch::default() }, &mut memory)?;
//! assert_eq!(memory.region(0x1000), Some(&[0x2a, 0, 0, 0][..]));
//! assert_eq!(outcome.thread_instructions, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Fragment and vertex programs of Valhall, and compute programs with textures or images, access their resources
//! through a [`Host`](valhall::host::Host): [`valhall::draw`] runs a fragment program for the pixels of a picture.
//! `docs/valhall-shaders.png` shows what compiled shaders draw.
//!
//! Each set is a feature: `valhall`, `usc` and `vpu`, all enabled by default. What the machines share needs no feature.
//!
//! A program is untrusted input. Whatever it contains, a run ends: with an [`Outcome`], or with a [`RunError`] that
//! names the instruction and the thread. Execution counts against [`Launch::budget`], every address is checked, and the
//! resources of a launch are limited.

#![deny(unsafe_code)]
// Each machine uses only a part of the shared code.
#![cfg_attr(not(all(feature = "valhall", feature = "usc", feature = "vpu")), allow(dead_code, unused_imports))]

mod bits;
mod deadline;
mod engine;
pub mod exec;
mod guarded;
mod level;
pub mod machine;
pub mod memory;
pub mod observe;
#[cfg(feature = "usc")]
pub mod usc;
#[cfg(feature = "valhall")]
pub mod valhall;
#[cfg(feature = "vpu")]
pub mod vpu;
pub mod watched;
mod wide;

pub use deadline::Deadline;
pub use engine::{Engine, Execution, NoExecution};
pub use guarded::Guarded;
pub use level::Level;
pub use memory::{MapError, Memory, MemoryFault};
#[cfg(feature = "valhall")]
pub use valhall::launch::{FragmentOutcome, Launch, Outcome, Place, RunError, Stage};
