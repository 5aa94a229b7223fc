//! The instruction sets that the command knows by name.

use isaforge_core::Isa;

use crate::machine::{self, Machine};

/// A built-in instruction set.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// What to write on the command line.
    pub name: &'static str,
    /// What it is, in one line.
    pub description: &'static str,
    /// Its tables.
    pub isa: &'static Isa,
    /// What executes its programs, if anything does.
    pub machine: Option<&'static Machine>,
}

/// All of them. A new instruction set is one more line here and one more dependency in `Cargo.toml`.
pub static ALL: &[Builtin] = &[
    Builtin {
        name: "valhall",
        description: "Arm Mali Valhall, architecture v9",
        isa: isaforge_valhall::ISA,
        machine: Some(&machine::VALHALL),
    },
    Builtin {
        name: "valhall-2021",
        description: "Arm Mali Valhall as first described, in 2021",
        isa: isaforge_valhall_2021::ISA,
        machine: None,
    },
];

/// The instruction set with this name.
pub fn find(name: &str) -> Option<&'static Builtin> {
    ALL.iter().find(|found| found.name == name)
}
