//! A machine that executes any instruction set whose specification defines the semantics of its instructions.
//!
//! ```text
//! memory ──fetch, decode──▶ word ──once──▶ shape, operands ──evaluate──▶ registers, states, memory, pc
//! ```
//!
//! A [`Machine`] has the register banks and states of the specification, a program counter in bytes, and [`Memory`]
//! that consists of mapped regions. [`run`](Machine::run) executes until the program ends, reaches a breakpoint, or
//! cannot continue; a [`Trap`] then tells where and why. The surroundings, a [`Host`], receive the program's output,
//! execute intrinsics, and may observe execution.
//!
//! If `L` is above 1, that many lanes execute one program, and registers have a value for each lane. With
//! [`Divergence::LowestFirst`], the lanes at the lowest address execute first; with [`Divergence::Masked`], lanes that
//! do not follow a branch are masked.
//!
//! [`boot`](Machine::boot) loads a program and sets up memories and initial state as the specification defines them.
//!
//! [`Hardware`] is the section `machine` of a specification.

#[cfg(feature = "alloc")]
mod access;
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
mod location;
#[cfg(feature = "alloc")]
mod memory;
#[cfg(feature = "alloc")]
mod operands;
#[cfg(feature = "alloc")]
mod processor;
#[cfg(feature = "alloc")]
mod registers;
#[cfg(feature = "alloc")]
mod services;
mod table;
#[cfg(feature = "alloc")]
mod trap;

#[cfg(feature = "alloc")]
pub use code::{Execution, Instruction};
#[cfg(feature = "alloc")]
pub use encoding::{Encoding, group_register, register_of};
#[cfg(feature = "alloc")]
pub use environment::Running;
#[cfg(feature = "alloc")]
pub use host::{Executed, Host, Intrinsic, Touched};
#[cfg(feature = "alloc")]
pub use location::{Location, part_of};
#[cfg(feature = "alloc")]
pub use memory::{Access, Bytes, MapError, Memory, MemoryFault, Span, SpanBytes};
#[cfg(feature = "alloc")]
pub use processor::{Machine, Parts};
pub use table::{Bank, Burst, Call, Divergence, Hardware, Named, Performed, Reading, Register, Service, Space};
#[cfg(feature = "alloc")]
pub use trap::{Reason, Stop, Trap};

/// Defines `Machine`, a [`Machine`](machine::Machine) of one instruction set. Generated code uses it.
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
            /// A machine with empty memory, whose registers and program counter are zero.
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

/// The items given: there is a machine if there is an allocator.
#[cfg(feature = "alloc")]
#[doc(hidden)]
#[macro_export]
macro_rules! with_machine {
    ($($item:item)*) => { $($item)* };
}

/// Nothing: there is no machine without an allocator.
#[cfg(not(feature = "alloc"))]
#[doc(hidden)]
#[macro_export]
macro_rules! with_machine {
    ($($item:item)*) => {};
}

/// There is no machine without an allocator.
#[cfg(not(feature = "alloc"))]
#[doc(hidden)]
#[macro_export]
macro_rules! define_machine {
    ($(#[$doc:meta])* $isa:path, $semantics:path, $hardware:path, $lanes:literal) => {};
}
