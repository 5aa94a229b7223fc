//! The built-in instruction sets.

use isaforge_core::Tables;
use isaforge_core::machine::Hardware;
use isaforge_core::semantics::Semantics;

/// Returns the opcode of a valid word; `None` for any other word.
pub type Opcode = fn(u64) -> Option<u16>;

/// A built-in set.
pub struct Builtin {
    /// Its names, the canonical one first.
    pub names: &'static [&'static str],
    /// Its tables.
    pub tables: Tables,
    /// The generated decoder, for sets of words.
    pub opcode: Option<Opcode>,
    /// The meaning of its instructions.
    pub semantics: &'static Semantics,
    /// The machine that executes its programs.
    pub hardware: &'static Hardware,
    /// Whether its programs run as launches of Valhall: workgroups of threads, on the engines of the runtime.
    pub launches: bool,
}

/// All built-in sets, in the order of `isaforge isas`.
pub static ALL: &[Builtin] = &[
    Builtin {
        names: &["valhall", "mali", "panfrost", "v9", "valhall-v9"],
        tables: Tables::Words(isaforge_valhall::ISA),
        opcode: Some(|word| isaforge_valhall::decode(word).ok().map(|found| found.opcode() as u16)),
        semantics: isaforge_valhall::semantics::SEMANTICS,
        hardware: isaforge_valhall::semantics::HARDWARE,
        launches: true,
    },
    Builtin {
        names: &["valhall-2021", "valhall-v9-2021"],
        tables: Tables::Words(isaforge_valhall_2021::ISA),
        opcode: Some(|word| isaforge_valhall_2021::decode(word).ok().map(|found| found.opcode() as u16)),
        semantics: isaforge_valhall_2021::semantics::SEMANTICS,
        hardware: isaforge_valhall_2021::semantics::HARDWARE,
        launches: false,
    },
    Builtin {
        names: &["vpu"],
        tables: Tables::Words(isaforge_vpu::ISA),
        opcode: Some(|word| isaforge_vpu::decode(word).ok().map(|found| found.opcode() as u16)),
        semantics: isaforge_vpu::semantics::SEMANTICS,
        hardware: isaforge_vpu::semantics::HARDWARE,
        launches: false,
    },
    Builtin {
        names: &["usc", "rogue", "powervr", "pvr", "imagination"],
        tables: Tables::Groups(isaforge_usc::ISA),
        opcode: None,
        semantics: isaforge_usc::semantics::SEMANTICS,
        hardware: isaforge_usc::semantics::HARDWARE,
        launches: false,
    },
];
