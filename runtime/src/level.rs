//! The capabilities of this processor, detected once.

/// The host instructions that may be used. A level is constructed only after it was detected, so its owner may call
/// functions compiled for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    kind: Kind,
    /// Whether machine code uses half-precision arithmetic: `avx512fp16`.
    halves: bool,
    compiles: Compiles,
    /// Whether machine code is checked before it is executed.
    checks: bool,
}

/// When code is compiled at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compiles {
    Never,
    /// Once it has run often.
    Often,
    /// The first time it runs.
    Always,
}

/// The kinds of levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Supported by every processor.
    Portable,
    /// `avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt`.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// The features of `Avx2`, and `avx512f,avx512bw,avx512dq,avx512vl`.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// Whether this processor has the features of [`Kind::Avx2`].
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

impl Level {
    /// Returns the levels that this processor supports, the best first.
    pub fn available() -> Vec<Level> {
        let mut levels = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = has_avx2();
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if avx2 && avx512 && is_x86_feature_detected!("avx512fp16") {
                levels.push(Level { halves: true, ..Level::of(Kind::Avx512) });
            }
            if avx2 && avx512 {
                levels.push(Level::of(Kind::Avx512));
            }
            if avx2 {
                levels.push(Level::of(Kind::Avx2));
            }
        }
        levels.push(Level::of(Kind::Portable));
        levels
    }

    /// Returns the best level that this processor supports.
    pub fn best() -> Level {
        Level::available().first().copied().unwrap_or(Level::portable())
    }

    /// Returns the level that every processor supports.
    pub fn portable() -> Level {
        Level::of(Kind::Portable)
    }

    /// Returns the level with this name. `None` when this processor does not support it.
    pub fn named(name: &str) -> Option<Level> {
        Level::available().into_iter().find(|level| level.name() == name)
    }

    fn of(kind: Kind) -> Level {
        Level { kind, halves: false, compiles: Compiles::Often, checks: true }
    }

    /// Returns the level without machine code generated at run time.
    pub fn without_machine_code(self) -> Level {
        Level { compiles: Compiles::Never, ..self }
    }

    /// Returns the level with checks off: machine code is not decoded again and checked before it is executed.
    pub fn unchecked(self) -> Level {
        Level { checks: false, ..self }
    }

    pub(crate) fn checks(self) -> bool {
        self.checks
    }

    /// Whether machine code is generated at run time.
    pub fn compiles(self) -> bool {
        self.compiles_after(0).is_some()
    }

    /// Returns the level, for tests, that compiles the first time what otherwise is compiled once it has run often:
    /// runs of Valhall's and the VPU's instructions and of the USC's groups. It makes no difference where no machine
    /// code is generated.
    pub fn eager(self) -> Level {
        Level { compiles: Compiles::Always, ..self }
    }

    /// How often a run of instructions is executed before it is compiled. `None` when it is never compiled.
    pub(crate) fn compiles_after(self, times: u32) -> Option<u32> {
        match self.compiles {
            _ if self.kind == Kind::Portable => None,
            Compiles::Never => None,
            Compiles::Often => Some(times),
            Compiles::Always => Some(0),
        }
    }

    /// The names of all levels, the best first.
    pub const NAMES: [&str; 4] = ["avx512fp16", "avx512", "avx2", "portable"];

    /// The name of the level, one of [`Level::NAMES`].
    pub fn name(self) -> &'static str {
        match self.kind {
            Kind::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 if self.halves => "avx512fp16",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => "avx512",
        }
    }

    /// Whether machine code may use half-precision arithmetic.
    pub(crate) fn computes_halves(self) -> bool {
        self.halves
    }

    /// The kind of the level.
    pub(crate) fn kind(self) -> Kind {
        self.kind
    }
}
