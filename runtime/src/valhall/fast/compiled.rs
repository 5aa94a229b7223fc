//! Consecutive words as machine code, with a variant for each case. [`jit`](super::jit) compiles and executes it.
//!
//! - [`access`]: the memory that it accesses
//! - [`counter`]: what tells how often a loop is executed

pub mod access;
pub mod counter;

use std::cell::Cell;
use std::ops::Range;
use std::sync::OnceLock;

use super::fields::Fields;
use super::log::Record;
use super::row::bit;
use crate::exec::jit::lanes::emit::{Emitted, Segment, Wanted};
use crate::exec::jit::lanes::function::BlockFn;
use crate::exec::jit::lanes::window::Window;
use crate::level::Level;
use access::Access;
use counter::Counter;

/// A variant of a function's machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// For full bundles.
    Full,
    /// For all other bundles.
    Part,
    /// For full bundles that execute it a known number of times.
    Counted,
}

/// Handlers that were compiled to one function.
#[derive(Debug)]
pub struct Function {
    pub wanted: Wanted,
    /// Its words, whose handlers are executed if there is no machine code for a case.
    pub words: Range<usize>,
    pub level: Level,
    /// The code for full bundles; if it accesses memory, in the pattern of the first one.
    pub full: OnceLock<Option<BlockFn>>,
    /// The code for other bundles, created when first needed.
    pub part: OnceLock<Option<BlockFn>>,
    /// The code for full bundles that execute it a known number of times.
    pub counted: Option<Counted>,
    /// The operands of the handler that splits the lanes, if it ends with a branch that only some lanes take.
    pub branch: Option<Fields>,
    /// The memory that it accesses.
    pub accesses: Vec<Access>,
    /// What is recorded of each execution, if accesses are observed, with the index of the access.
    pub records: Vec<(Record, usize)>,
    /// The registers that it writes, as bits, and pairs of them that are increased by a constant.
    pub writes: u64,
    pub moved: Vec<(u32, u64)>,
}

/// A loop with a known number of iterations.
#[derive(Debug)]
pub struct Counted {
    pub counter: Counter,
    pub wanted: Wanted,
    pub machine: OnceLock<Option<BlockFn>>,
}

impl Function {
    /// Returns the bytes by which an access advances with each execution.
    pub fn stride(&self, access: usize) -> u32 {
        self.wanted.again.as_ref().and_then(|again| again.strides.get(access)).copied().unwrap_or(0)
    }

    /// Returns the index of the access for each recorded pattern.
    pub fn recorded(&self) -> impl Iterator<Item = usize> {
        self.records.iter().map(|(_, access)| *access)
    }

    /// Returns the variant of its machine code, once it was compiled.
    pub fn compiled(&self, form: Form) -> &OnceLock<Option<BlockFn>> {
        match (form, &self.counted) {
            (Form::Counted, Some(counted)) => &counted.machine,
            (Form::Part, _) => &self.part,
            _ => &self.full,
        }
    }

    /// Returns what a variant of its machine code computes.
    pub fn wanted(&self, form: Form) -> &Wanted {
        match (form, &self.counted) {
            (Form::Counted, Some(counted)) => &counted.wanted,
            _ => &self.wanted,
        }
    }

    /// Returns a variant of its machine code.
    #[inline(always)]
    pub fn machine(&self, form: Form) -> Option<&BlockFn> {
        self.compiled(form).get()?.as_ref()
    }

    /// Returns the registers that its results depend on, as bits; with `branches`, also those that its branch depends
    /// on.
    pub fn reads(&self, branches: bool) -> u64 {
        let Wanted { graph, segment, again, .. } = &self.wanted;
        let (read, mask) = (Cell::new(0), segment.mask.filter(|_| branches));
        Segment { mask, ..segment.clone() }.reads(graph, |row| {
            read.set(read.get() | bit(row));
            false
        });
        let ends = again.iter().flat_map(|again| {
            let pairs = again.pairs.iter().flat_map(|(row, _)| [*row, row + 1]);
            pairs.chain(again.words.iter().map(|(row, _)| *row))
        });
        let counter = self.counted.as_ref().map(|counted| counted.counter.row);
        ends.chain(counter).fold(read.get(), |all, row| all | bit(row))
    }

    /// Whether it may be executed several times by one call.
    pub fn repeats(&self) -> bool {
        self.wanted.again.is_some() || self.counted.is_some()
    }

    /// Returns the machine code as text.
    pub fn listing(&self, text: &impl Fn(u64) -> String) -> String {
        let counted = self.counted.as_ref().and_then(|counted| counted.machine.get());
        let variants = [self.full.get(), counted, self.part.get()];
        variants.into_iter().flatten().flatten().map(|code| code.listing(text)).collect()
    }

    /// Whether it changes memory.
    pub fn stores(&self) -> bool {
        !self.wanted.graph.stores().is_empty()
    }

    /// Compiles a variant of a function without accesses to memory.
    pub fn compile(&self, form: Form) -> Option<&BlockFn> {
        self.compiled(form).get_or_init(|| compile(self.wanted(form), &[], self.level, form)).as_ref()
    }
}

/// Returns a variant of the code that accesses these windows.
#[cold]
pub fn compile(wanted: &Wanted, windows: &[Window], level: Level, form: Form) -> Option<BlockFn> {
    let emitted = match form {
        Form::Part => Emitted::part(wanted, windows)?,
        Form::Counted if windows.is_empty() => Emitted::counted(wanted)?,
        Form::Full | Form::Counted => Emitted::full(wanted, windows)?,
    };
    BlockFn::new(&emitted, level)
}
