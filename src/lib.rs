//! isaforge turns the description of a GPU instruction set into Rust: typed instructions, an encoder and a decoder, an
//! assembler and a disassembler, tables of everything in the description, and stubs for the semantics of each
//! instruction.
//!
//! This is the only crate that a project needs: [`isa!`] compiles a specification into a module, and [`core`] is the
//! small library on which the module depends. `tests/specs/blink.yaml` in the repository describes a made-up machine
//! with sixteen-bit words that drive eight lamps:
//!
//! ```
//! isaforge::isa! { "tests/specs/blink.yaml" }
//!
//! use blink::{Instruction, SetU8, Lamp, When};
//!
//! // Text, typed values and words are three views of one instruction.
//! let instruction: Instruction = "SET.u8.lit l3, #200".parse()?;
//! assert_eq!(instruction.encode(), 0x2dc8);
//! assert_eq!(blink::decode(0x2dc8)?, instruction);
//! assert_eq!(instruction.to_string(), "SET.u8.lit l3, #200");
//!
//! if let Instruction::SetU8(set) = instruction {
//!     assert_eq!((set.dst().index(), set.level(), set.when()), (3, 200, When::Lit));
//!     assert_eq!(set.with_level(7).with_when(When::Always).encode(), 0x2c07);
//! }
//!
//! // Semantics are a trait with one method per instruction.
//! struct Lamps([u8; Lamp::COUNT]);
//!
//! impl blink::Semantics for Lamps {
//!     type Output = Result<(), isaforge::Unimplemented>;
//!
//!     fn set_u8(&mut self, i: SetU8) -> Self::Output {
//!         self.0[i.dst().index()] = i.level();
//!         Ok(())
//!     }
//! }
//!
//! let mut lamps = Lamps([0; Lamp::COUNT]);
//! blink::dispatch(instruction, &mut lamps)?;
//! assert_eq!(lamps.0, [0, 0, 0, 200, 0, 0, 0, 0]);
//!
//! // Decoding is strict and reports what is wrong.
//! let error = blink::decode(0x2fc8).unwrap_err();
//! assert_eq!(error.to_string(), "SET.u8: reserved value 3 in `when`");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Instructions may be wide or of several lengths, and where the specification defines their semantics, programs can be
//! executed:
//!
//! ```
//! isaforge::isa! { "examples/riscv/isa.yaml" }
//!
//! use isaforge::core::machine::Stop;
//!
//! let mut program = Vec::new();
//! for line in ["c.add a0, a1", "slli a0, a0, 1", "li a7, 93", "ecall"] {
//!     let instruction: riscv::Instruction = line.parse()?;
//!     program.extend(&instruction.bytes()[..instruction.len()]);
//! }
//! assert_eq!(riscv::stream(&program).map(|(at, _)| at).collect::<Vec<_>>(), [0, 2, 6, 10]);
//!
//! let mut machine = riscv::Machine::new();
//! machine.boot(&program)?;
//! for (name, value) in [("a0", 20), ("a1", 1)] {
//!     let register = machine.register(name).unwrap();
//!     machine.write(register, 0, value).unwrap();
//! }
//! // The program exits with the status in a0.
//! assert_eq!(machine.run(&mut (), 100)?, Stop::Exit(42));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`core`] also provides the algorithms on the tables of any set, for tools that work with every set: `core::program`
//! and its counterparts for groups and streams list whole programs, `core::explain` explains each bit, and
//! `core::machine` executes.
//!
//! # Three ways to use it
//!
//! - The macro [`isa!`], as above.
//! - A build script, if you want to see the generated code: see [`include_isa!`].
//! - The command `isaforge gen specs/mine.yaml -o mine`, which writes a crate to check in. The crate depends on
//!   `isaforge-core` alone.
//!
//! All three call the same function of the compiler and give the same code.
#![no_std]
#![forbid(unsafe_code)]

pub use isaforge_core as core;
pub use isaforge_core::{DecodeError, EncodeError, ParseError, Unimplemented};
pub use isaforge_macros::isa;

/// Includes a module from `OUT_DIR`, where a build script has generated it.
///
/// The build script, with `isaforge-compiler` among `[build-dependencies]`:
///
/// ```text
/// fn main() {
///     isaforge_compiler::build::generate("specs/blink.yaml");
/// }
/// ```
///
/// The crate, which then has a module `blink`:
///
/// ```text
/// isaforge::include_isa!("blink");
/// ```
#[macro_export]
macro_rules! include_isa {
    ($name:literal) => {
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/", $name, ".rs"));
    };
}
