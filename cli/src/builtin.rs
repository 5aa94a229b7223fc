//! The instruction sets that the command knows by name.

use isaforge_compiler::suggest::{did_you_mean, one_of};
use isaforge_core::Isa;
pub use isaforge_core::Tables;
use isaforge_core::machine::Hardware;
use isaforge_core::semantics::Semantics;
use isaforge_runtime::valhall::measure::{Worst, worst};

use crate::conform::judges::{self, Judges};

/// A built-in instruction set.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// Its name on the command line.
    pub name: &'static str,
    /// Other names that are accepted.
    pub aliases: &'static [&'static str],
    /// Names that users may try but that are not accepted, each list with the reason.
    pub not: &'static [(&'static [&'static str], &'static str)],
    /// A description of one line.
    pub description: &'static str,
    /// Its tables.
    pub tables: Tables,
    /// Its semantics, if the specification defines them.
    pub semantics: Option<&'static Semantics>,
    /// The machine that the specification describes, if any.
    pub hardware: Option<&'static Hardware>,
    /// What a launch file must say besides the set and the program; `None` if programs cannot be run.
    pub launch: Option<&'static str>,
    /// Returns the largest measured error of an instruction, if any was measured.
    pub measured: Option<fn(&str) -> Option<Worst>>,
    /// The judges of recorded cases in its own formats, if it has such formats.
    pub judges: Option<&'static Judges>,
}

impl Builtin {
    /// The tables, if its instructions are words.
    pub fn words(&self) -> Option<&'static Isa> {
        match self.tables {
            Tables::Words(isa) => Some(isa),
            Tables::Groups(_) | Tables::Streams(_) => None,
        }
    }
}

/// All built-in instruction sets. A new one needs an entry here and a dependency in `Cargo.toml`; if it has launch
/// files of its own, also their reader in `run/readers.rs`.
pub static ALL: &[Builtin] = &[
    Builtin {
        name: "valhall",
        aliases: &["mali", "panfrost", "v9", "valhall-v9"],
        not: &[
            (
                &["arm"],
                "the only built-in Arm set is `valhall`, GPU architecture v9; `--spec` reads a specification of another set",
            ),
            (
                &["bifrost", "v6", "v7", "v8"],
                "Bifrost, architectures v6 to v8, is older than `valhall` and encoded differently; `--spec ISA.xml` reads the document of \
                 Mesa's Bifrost compiler",
            ),
            (
                &["midgard", "v4", "v5"],
                "Midgard, architectures v4 and v5, is older than `valhall` and encoded differently; `--spec` reads a specification of \
                 another set",
            ),
            (
                &["g57", "g68", "g77", "g78", "mali-g57", "mali-g68", "mali-g77", "mali-g78"],
                "`valhall` is the set of Mali-G57, G68, G77 and G78",
            ),
            (
                &["v10", "v11", "v12", "v13"],
                "`valhall` is the nearest: it describes v9, without the changes of later architectures",
            ),
        ],
        description: "Arm Mali Valhall, architecture v9",
        tables: Tables::Words(isaforge_valhall::ISA),
        semantics: Some(isaforge_valhall::semantics::SEMANTICS),
        hardware: Some(isaforge_valhall::semantics::HARDWARE),
        launch: Some(""),
        measured: Some(worst),
        judges: Some(&judges::VALHALL),
    },
    Builtin {
        name: "valhall-2021",
        aliases: &["valhall-v9-2021"],
        not: &[],
        description: "Arm Mali Valhall as first described, in 2021",
        tables: Tables::Words(isaforge_valhall_2021::ISA),
        semantics: Some(isaforge_valhall_2021::semantics::SEMANTICS),
        hardware: Some(isaforge_valhall_2021::semantics::HARDWARE),
        launch: Some(""),
        measured: None,
        judges: None,
    },
    Builtin {
        name: "vpu",
        aliases: &[],
        not: &[],
        description: "VPU, groups of four threads on vectors of four 16-bit components",
        tables: Tables::Words(isaforge_vpu::ISA),
        semantics: Some(isaforge_vpu::semantics::SEMANTICS),
        hardware: Some(isaforge_vpu::semantics::HARDWARE),
        launch: Some("rectangle: [0, 0, 32, 32]\n"),
        measured: None,
        judges: Some(&judges::VPU),
    },
    Builtin {
        name: "usc",
        aliases: &["rogue", "powervr", "pvr", "imagination"],
        not: &[(&["img"], "`usc` is the built-in set of Imagination")],
        description: "Imagination PowerVR Rogue, groups of 4 to 32 bytes with up to six operations",
        tables: Tables::Groups(isaforge_usc::ISA),
        semantics: Some(isaforge_usc::semantics::SEMANTICS),
        hardware: Some(isaforge_usc::semantics::HARDWARE),
        launch: Some(""),
        measured: None,
        judges: Some(&judges::USC),
    },
];

/// Finds an instruction set by name or alias, ignoring case.
pub fn find(name: &str) -> Option<&'static Builtin> {
    let is = |known: &str| known.eq_ignore_ascii_case(name);
    ALL.iter().find(|found| is(found.name) || found.aliases.iter().any(|alias| is(alias)))
}

/// Why a name that a user may try is not a built-in instruction set.
pub fn why_not(name: &str) -> Option<&'static str> {
    let mut all = ALL.iter().flat_map(|found| found.not);
    let (_, why) = all.find(|(names, _)| names.iter().any(|known| known.eq_ignore_ascii_case(name)))?;
    Some(why)
}

/// The suggestion for an unknown name.
pub fn instead_of(name: &str) -> String {
    let known = || ALL.iter().flat_map(|found| found.aliases.iter().copied().chain([found.name]));
    match (why_not(name), did_you_mean(name, known())) {
        (Some(why), _) => why.to_owned(),
        (None, Some(near)) => format!("did you mean `{near}`?"),
        (None, None) => format!("expected {}", one_of(ALL.iter().map(|found| found.name))),
    }
}

/// The message for an unknown name on the command line: the nearest name, all names, and the other way to name a set.
pub fn unknown(name: &str) -> String {
    let known = ALL.iter().flat_map(|found| found.aliases.iter().copied().chain([found.name]));
    let starts = |known: &&str| known.to_lowercase().starts_with(&name.to_lowercase()) && !name.is_empty();
    let near = did_you_mean(name, known.clone()).or_else(|| known.clone().find(starts));
    let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    let mut text = format!("there is no built-in instruction set `{name}`{near}\n\n");
    for Builtin { name, aliases, description, .. } in ALL {
        let also = if aliases.is_empty() { String::new() } else { format!("; also {}", aliases.join(", ")) };
        text.push_str(&format!("  {name:13}{description}{also}\n"));
    }
    text + "  --spec FILE  the set of a specification of your own\n"
}
