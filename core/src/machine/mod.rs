//! A machine that executes any instruction set whose specification says what its instructions do.
//!
//! ```text
//! memory ──fetch, decode──▶ word ──once──▶ shape, operands ──evaluate──▶ registers, states, memory, pc
//! ```
//!
//! A [`Machine`] has the register banks and the states of the specification, a program counter in bytes, and [`Memory`] made
//! of mapped regions. [`run`](Machine::run) executes until the program ends, comes to a breakpoint, or cannot go on; then a
//! [`Trap`] says where and why. The surroundings, a [`Host`], take what the program writes, execute intrinsics, and may look
//! on.
//!
//! With `L` above 1 that many lanes execute one program: registers have a value for each lane, and the lanes at the lowest
//! address go first where [`Divergence::LowestFirst`] lets them part, and those that leave the others are masked where it is
//! [`Divergence::Masked`].
//!
//! [`boot`](Machine::boot) loads a program and prepares what the specification says of the memories and of the start.
//!
//! [`Hardware`] is what the section `machine` of a specification says.

#[cfg(feature = "alloc")]
mod code;
#[cfg(feature = "alloc")]
mod encoding;
#[cfg(feature = "alloc")]
mod environment;
#[cfg(feature = "std")]
pub mod functions;
#[cfg(feature = "alloc")]
mod host;
#[cfg(feature = "alloc")]
mod memory;
#[cfg(feature = "alloc")]
mod operands;
#[cfg(feature = "alloc")]
mod processor;
mod table;
#[cfg(feature = "alloc")]
mod trap;

#[cfg(feature = "alloc")]
pub use code::{Execution, Instruction, Place, part_of};
#[cfg(feature = "alloc")]
pub use encoding::Encoding;
#[cfg(feature = "alloc")]
pub use host::{Executed, Host, Intrinsic, Touched};
#[cfg(feature = "alloc")]
pub use memory::{Access, Bytes, MapError, Memory, MemoryFault, Span, SpanBytes};
#[cfg(feature = "alloc")]
pub use processor::{Machine, Parts};
pub use table::{Bank, Burst, Call, Divergence, Hardware, Named, Performed, Reading, Register, Service, Space};
#[cfg(feature = "alloc")]
pub use trap::{Reason, Stop, Trap};

/// Defines `Machine`, a [`Machine`](machine::Machine) of one instruction set; generated code calls it.
#[cfg(feature = "alloc")]
#[doc(hidden)]
#[macro_export]
macro_rules! define_machine {
    ($(#[$doc:meta])* $isa:path, $semantics:path, $hardware:path, $lanes:literal) => {
        /// A machine that executes programs of the instruction set.
        $(#[$doc])*
        #[derive(Debug)]
        pub struct Machine($crate::machine::Machine<$lanes>);

        impl Machine {
            /// A machine with empty memory, all registers and the program counter zero.
            pub fn new() -> Self {
                Machine($crate::machine::Machine::new($isa, $semantics, $hardware))
            }
        }

        impl Default for Machine {
            fn default() -> Self {
                Machine::new()
            }
        }

        impl ::core::ops::Deref for Machine {
            type Target = $crate::machine::Machine<$lanes>;

            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }

        impl ::core::ops::DerefMut for Machine {
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.0
            }
        }
    };
}

/// Without an allocator there is no machine.
#[cfg(not(feature = "alloc"))]
#[doc(hidden)]
#[macro_export]
macro_rules! define_machine {
    ($(#[$doc:meta])* $isa:path, $semantics:path, $hardware:path, $lanes:literal) => {};
}
