//! The VPU: cores that run groups of four threads on registers of four 16-bit components.
//!
//! A [`Machine`] has a program, cores and external memory. A core has 20 active groups and a queue of 28, 48 global
//! banks, four tile buffers with a lock for each position, and a spawner that covers rectangles of the screen with
//! groups. The machine runs to completion ([`Machine::run`]) or cycle by cycle ([`Machine::run_cycles`],
//! [`Machine::run_observed`]).
//!
//! ```
//! use isaforge_runtime::vpu::{Config, Machine, Rectangle, assemble};
//!
//! // Every thread writes its position to tile buffer 0.
//! let program = assemble("LoadPosition r0.xyzw\nWriteLocalTile0.xy__ r0.xyzw\nExit").unwrap();
//! let mut machine = Machine::new(&Config::default())?;
//! machine.load(&program)?;
//! machine.start_rectangle(0, Rectangle { x: 0, y: 0, width: 32, height: 32 }, 0, 0)?;
//! let report = machine.run()?;
//! assert_eq!(report.groups, 32 * 32 / 4);
//! assert_eq!(machine.tiles(0).unwrap()[0].data[5 * 32 + 9], [9, 5, 0, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The semantics of instructions are defined by the specification in `specs/vpu`, with rulings for what its document
//! leaves open; this module provides the machine state that they access, and the schedule.
//! The timing model is limited to this: a core issues one instruction per cycle, active groups take turns, a taken
//! branch costs the core one cycle, data of loads and fetches arrives some cycles after their issue (sooner if it is
//! in the L2 cache), and a stalled instruction is retried at its group's next turn.

mod bind;
pub mod conform;
mod environment;
mod error;
mod exec;
mod group;
mod instructions;
mod machine;
mod memory;
mod name;
mod op;
mod operand;
pub mod picture;
mod processor;
mod program;
pub mod scene;
mod seen;
mod side;
pub mod single;
mod tiles;
mod together;
pub mod watched;
mod world;

pub use error::{Misuse, Place, RunError, SetupError, Wait, Warning};
pub use group::{ACTIVE, Registers, THREADS};
pub use instructions::PROGRAM;
pub use machine::{Config, Machine, Report};
pub use memory::{MAX_MEMORY, Memory};
pub use processor::{Ended, Rectangle};
pub use program::{assemble, disassemble, refusal, text};
pub use tiles::{MAX_TILE, TILE_BUFFERS, Tile, TileSize};
pub use world::{BANKS, Bank, Palette, QUEUE};
