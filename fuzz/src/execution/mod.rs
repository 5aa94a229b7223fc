//! Random programs on every engine, whose results must be those of the reference.
//!
//! [`valhall`], [`usc`] and [`vpu`] are the built-in machines, and [`shared`] is Valhall with memory shared by threads;
//! [`own`] tests machines of specifications with semantics.

pub mod own;
pub mod shared;
pub mod usc;
pub mod valhall;
pub mod vpu;

use std::path::Path;

use isaforge_compiler::lower::Lowered;
use isaforge_compiler::{Settings, compile};
use isaforge_core::machine::Encoding;
use isaforge_core::sample::Random;

/// The sources of programs for all machines.
#[derive(Debug)]
pub struct Engines {
    pool: Vec<String>,
    sets: Vec<own::Set>,
}

impl Engines {
    /// Reads the necessary files of the project.
    ///
    /// # Panics
    /// When a file is missing.
    pub fn new() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let set = |path: &str| {
            let compiled = compile(&Settings::new(root.join(path))).unwrap_or_else(|failure| panic!("{failure}"));
            let encoding = match compiled.lowered {
                Lowered::Words(words) => Encoding::from(words.isa),
                Lowered::Stream(stream) => Encoding::from(stream),
                Lowered::Groups(_) => panic!("groups have campaigns of their own"),
            };
            (encoding, compiled.semantics.expect("it has meanings"), compiled.hardware.expect("it is a machine"))
        };
        let sets = [
            "examples/riscv/isa.yaml",
            "runtime/tests/data/wide.yaml",
            "examples/lanes/isa.yaml",
            "runtime/tests/data/warp.yaml",
        ]
        .map(set);
        Engines { pool: usc::pool(), sets: sets.into() }
    }

    /// Runs one program on every engine of a machine, and returns the name of the machine.
    ///
    /// # Panics
    /// When the results of an engine differ from those of the reference.
    pub fn agree(&self, random: &mut Random) -> &'static str {
        match random.below(8) {
            0..2 => {
                valhall::agree(random);
                "Valhall"
            }
            2 => {
                let _ = shared::agree(random);
                "Valhall"
            }
            3 => {
                let _ = usc::agree(random, &self.pool);
                "USC"
            }
            4 => {
                vpu::agree(random, |_| true);
                "VPU"
            }
            _ => {
                self.own(random);
                "machines of specifications"
            }
        }
    }

    /// Runs one program of a specification's machine. Returns the number of its instructions that the
    /// evaluator did not execute.
    ///
    /// # Panics
    /// When the results of an engine differ from those of the reference.
    pub fn own(&self, random: &mut Random) -> u64 {
        own::agree(self.sets[random.below(self.sets.len() as u64) as usize], random)
    }
}

impl Default for Engines {
    fn default() -> Self {
        Engines::new()
    }
}
