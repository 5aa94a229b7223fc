//! What this processor can do, detected once.

/// The instructions of the host that may be used. One exists only for what was detected, so that whoever has a level may
/// call functions compiled for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    kind: Kind,
    /// Whether machine code computes with halves: `avx512fp16`.
    halves: bool,
    compiles: Compiles,
    /// Whether machine code is checked before it is executed.
    checks: bool,
}

/// When what can be compiled while it runs becomes machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compiles {
    Never,
    /// After it has run often.
    Often,
    /// The first time.
    Always,
}

/// The levels there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What every processor has.
    Portable,
    /// `avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt`.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// These and `avx512f,avx512bw,avx512dq,avx512vl`.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// Those that this processor has, the best first.
    pub fn available() -> Vec<Level> {
        let mut levels = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("f16c")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt");
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

    /// The best of them.
    pub fn best() -> Level {
        Level::available().first().copied().unwrap_or(Level::portable())
    }

    /// What any processor has.
    pub fn portable() -> Level {
        Level::of(Kind::Portable)
    }

    /// The level with a name, if this processor has it.
    pub fn named(name: &str) -> Option<Level> {
        Level::available().into_iter().find(|level| level.name() == name)
    }

    fn of(kind: Kind) -> Level {
        Level { kind, halves: false, compiles: Compiles::Often, checks: true }
    }

    /// The same without machine code that is made while a program runs.
    pub fn without_machine_code(self) -> Level {
        Level { compiles: Compiles::Never, ..self }
    }

    /// The same; machine code is executed as it was made, and not decoded again and checked before.
    pub fn unchecked(self) -> Level {
        Level { checks: false, ..self }
    }

    pub(crate) fn checks(self) -> bool {
        self.checks
    }

    /// Whether it makes machine code while a program runs.
    pub fn compiles(self) -> bool {
        self.compiles_after(0).is_some()
    }

    /// The same, for tests: what becomes machine code when it has run often does so the first time. These are runs of
    /// Valhall's and the VPU's instructions and of the USC's groups; where no machine code is made there is no difference.
    pub fn eager(self) -> Level {
        Level { compiles: Compiles::Always, ..self }
    }

    /// How often a run of instructions is executed before it is compiled; `None` where it never is.
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

    /// Whether machine code may compute with halves.
    pub(crate) fn computes_halves(self) -> bool {
        self.halves
    }

    /// Which it is.
    pub(crate) fn kind(self) -> Kind {
        self.kind
    }
}
