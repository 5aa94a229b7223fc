//! The instruction sets that the command knows by name.

use isaforge_core::Isa;

use crate::machine::{self, Judges, Machine};

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
    /// What judges recorded cases of its own forms, if there are such forms.
    pub judges: Option<&'static Judges>,
}

/// All of them. A new instruction set is one more line here and one more dependency in `Cargo.toml`.
pub static ALL: &[Builtin] = &[
    Builtin {
        name: "valhall",
        description: "Arm Mali Valhall, architecture v9",
        isa: isaforge_valhall::ISA,
        machine: Some(&machine::VALHALL),
        judges: Some(&machine::VALHALL_CASES),
    },
    Builtin {
        name: "valhall-2021",
        description: "Arm Mali Valhall as first described, in 2021",
        isa: isaforge_valhall_2021::ISA,
        machine: None,
        judges: None,
    },
    Builtin {
        name: "vpu",
        description: "VPU, groups of four threads on vectors of four 16-bit components",
        isa: isaforge_vpu::ISA,
        machine: None,
        judges: Some(&machine::VPU_CASES),
    },
];

/// The instruction set with this name.
pub fn find(name: &str) -> Option<&'static Builtin> {
    ALL.iter().find(|found| found.name == name)
}
