//! Programs, decoded once to the steps that the interpreter executes.

use std::collections::HashMap;
use std::sync::OnceLock;

use isaforge_core::group::Values;
use isaforge_core::semantics::{Shape, compose};
use isaforge_usc::semantics::SEMANTICS;
use isaforge_usc::{
    Backend, BeOp, BuildError, Cc, Extra, Group, GroupError, ISA, Operation, Parts, Regbank, Srcsel, Unit, decode,
};

use crate::usc::error::Trap;
use crate::usc::read::Reader;
use crate::usc::register::Register;
use crate::usc::together::Code;

/// The maximum size of a program in bytes.
pub const MAX_PROGRAM: usize = 1 << 24;

/// The reason why bytes or groups are not a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The program has no groups.
    #[error("the program is empty")]
    Empty,
    /// The program is longer than [`MAX_PROGRAM`].
    #[error("the program has {0} bytes, at most {MAX_PROGRAM} are allowed")]
    TooLong(usize),
    /// Some bytes do not decode to a group.
    #[error("the bytes at {at:#x} are not a group: {reason}")]
    Decode {
        /// The offset of the bytes.
        at: usize,
        /// The reason.
        reason: GroupError,
    },
    /// A group names a register that does not exist.
    #[error("group {at:#x}, `{text}`: there is no register {number} in the bank {bank:?}")]
    Register {
        /// The offset of the group.
        at: usize,
        /// The text of the group.
        text: String,
        /// The bank.
        bank: Regbank,
        /// The number as it is encoded.
        number: u32,
    },
    /// A repetition steps past the end of a bank.
    #[error("group {at:#x}, `{text}`: repetition {by} steps past the end of a bank")]
    Steps {
        /// The offset of the group.
        at: usize,
        /// The text of the group.
        text: String,
        /// The index of the repetition, from 0.
        by: u16,
    },
    /// A group writes to a constant or a system value.
    #[error("group {at:#x}, `{text}`: special register {number} cannot be written")]
    Fixed {
        /// The offset of the group.
        at: usize,
        /// The text of the group.
        text: String,
        /// The number of the special register.
        number: u32,
    },
    /// The parts of a group do not fit together.
    #[error("group {at:#x}, `{text}`: {reason}")]
    Build {
        /// The offset of the group.
        at: usize,
        /// The text of the group.
        text: String,
        /// The reason.
        reason: BuildError,
    },
    /// The behaviour of an operation is unknown.
    #[error("group {at:#x}, `{text}`: {what}")]
    Unsupported {
        /// The offset of the group.
        at: usize,
        /// The text of the group.
        text: String,
        /// The reason.
        what: &'static str,
    },
}

/// A program that can be run.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) steps: Vec<Step>,
    pub(super) code: Code,
    /// Whether it decides which fragments are kept.
    pub(super) feeds_back: bool,
    /// The index of the step that starts at an offset.
    starts: HashMap<u32, u32>,
    bytes: Vec<u8>,
    /// The groups of a program that was built from parts.
    typed: Vec<Parts>,
}

/// The size in bytes, for offsets, of a group without an encoding.
const WITHOUT: usize = 4;

/// A group of a program.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The offset in bytes.
    pub at: u32,
    /// The length in bytes.
    pub length: u32,
    /// The condition by which instances execute it.
    pub condition: Cc,
    /// The number of repetitions.
    pub repeat: u16,
    /// Whether its instances execute it one at a time.
    pub atomic: bool,
    /// Whether the program ends after it.
    pub last: bool,
    /// Its action.
    pub action: Action,
    /// Its fields.
    pub values: Box<Values>,
    /// The graph, composed on first use.
    pub shape: OnceLock<Option<Shape>>,
}

impl Step {
    /// Returns the graph of the group.
    ///
    /// # Errors
    /// When the specification does not define it.
    pub fn shape(&self) -> Result<&Shape, Trap> {
        let shape = self.shape.get_or_init(|| compose(SEMANTICS, ISA, &self.values).ok());
        shape.as_ref().ok_or(Trap::Unknown)
    }

    /// Whether it reads or writes through an index register.
    pub fn names_index(&self) -> bool {
        let (sources, reads) = match &self.action {
            Action::Main(main) => (&main.sources, main.reads),
            Action::Bitwise(bitwise) => (&bitwise.sources, bitwise.reads),
            Action::Control(control) => (&control.sources, 0x3f),
        };
        (0..6).any(|i| reads >> i & 1 != 0 && matches!(sources[i], Register::Indexed { .. }))
    }

    /// The offset of a branch's target.
    pub fn goal(&self) -> Option<i64> {
        match &self.action {
            Action::Control(control) => {
                let branch = control.parts.branch?;
                Some(i64::from(branch.offset) + if branch.abs { 0 } else { i64::from(self.at) })
            }
            _ => None,
        }
    }
}

/// The action of a group.
#[derive(Clone, Debug)]
pub(super) enum Action {
    /// Float and integer arithmetic, tests, packing, and requests to other units.
    Main(Box<Main>),
    /// Bitwise operations.
    Bitwise(Box<Bitwise>),
    /// Control flow.
    Control(Box<Control>),
}

/// A main group.
#[derive(Clone, Debug)]
pub(super) struct Main {
    /// The sources; those that are not read are special register 0.
    pub sources: [Register; 6],
    /// A bit for each source that is read.
    pub reads: u8,
    /// The additional operation of phase 2.
    pub extra: Option<Extra>,
    /// The backend phase.
    pub backend: Option<Backend>,
    /// The destinations.
    pub results: [Option<Register>; 2],
    /// Whether repetitions step through the elements of source 0 instead of registers.
    pub unpacks: bool,
}

/// A bitwise group.
#[derive(Clone, Debug)]
pub(super) struct Bitwise {
    pub sources: [Register; 6],
    pub reads: u8,
    pub results: [Option<Register>; 2],
}

/// A control group.
#[derive(Clone, Debug)]
pub(super) struct Control {
    pub sources: [Register; 6],
    pub result: Option<Register>,
    /// The step that a branch leads to, if any.
    pub target: Option<usize>,
    pub parts: Parts,
}

impl Program {
    /// Decodes a program. Groups after the last one are decoded too, since branches may lead there.
    ///
    /// # Errors
    /// The first group that does not decode or cannot be executed.
    pub fn load(bytes: &[u8]) -> Result<Program, LoadError> {
        Program::load_with_slots(bytes, 0)
    }

    /// Decodes a program for a machine with 0 to 8 slot registers, which reduce the number of internal registers.
    ///
    /// # Errors
    /// As for [`load`](Program::load).
    pub fn load_with_slots(bytes: &[u8], slots: u16) -> Result<Program, LoadError> {
        if bytes.is_empty() {
            return Err(LoadError::Empty);
        }
        if bytes.len() > MAX_PROGRAM {
            return Err(LoadError::TooLong(bytes.len()));
        }
        let mut program = Program { bytes: bytes.to_vec(), ..Program::nothing() };
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let group = decode(rest).map_err(|reason| LoadError::Decode { at, reason })?;
            let length = group.as_bytes().len();
            program.add(&Reader { at, length, slots, parts: &group.parts(), text: &group })?;
            at += length;
        }
        Ok(program.linked())
    }

    /// Builds a program from groups given as parts, which need not have an encoding: see [`Parts`]. `parse` turns text
    /// into parts.
    ///
    /// Groups are placed one after another as their encodings would be; a group without an encoding counts as 4 bytes.
    ///
    /// # Errors
    /// The first group whose parts do not fit together, or that cannot be executed.
    pub fn of_parts(groups: &[Parts]) -> Result<Program, LoadError> {
        if groups.is_empty() {
            return Err(LoadError::Empty);
        }
        if groups.len() > MAX_PROGRAM / WITHOUT {
            return Err(LoadError::TooLong(groups.len().saturating_mul(WITHOUT)));
        }
        let mut program = Program { typed: groups.to_vec(), ..Program::nothing() };
        let mut at = 0;
        for parts in groups {
            let (parts, length) = match parts.encode() {
                Ok(group) => (group.parts(), group.as_bytes().len()),
                Err(BuildError::NoEncoding { .. } | BuildError::Unusable { .. }) => (placed(parts), WITHOUT),
                Err(reason) => return Err(LoadError::Build { at, text: parts.to_string(), reason }),
            };
            program.add(&Reader { at, length, slots: 0, parts: &parts, text: &parts })?;
            at += length;
        }
        Ok(program.linked())
    }

    fn nothing() -> Program {
        Program {
            steps: Vec::new(),
            code: Code::default(),
            feeds_back: false,
            starts: HashMap::new(),
            bytes: Vec::new(),
            typed: Vec::new(),
        }
    }

    fn add(&mut self, reader: &Reader<'_>) -> Result<(), LoadError> {
        self.starts.insert(reader.at as u32, self.steps.len() as u32);
        let step = reader.step()?;
        self.feeds_back |= matches!(&step.action, Action::Main(main) if main.backend.as_ref().is_some_and(feeds_back));
        self.steps.push(step);
        Ok(())
    }

    /// Resolves the targets of branches, and prepares the fast path.
    fn linked(mut self) -> Program {
        let targets: Vec<Option<usize>> = self.steps.iter().map(|step| self.step_at(step.goal()?)).collect();
        for (step, target) in self.steps.iter_mut().zip(targets) {
            if let Action::Control(control) = &mut step.action {
                control.target = target;
            }
        }
        self.code = Code::new(&self.steps);
        self
    }

    /// Returns the index of the step at an offset.
    pub(super) fn step_at(&self, offset: i64) -> Option<usize> {
        self.starts.get(&u32::try_from(offset).ok()?).map(|index| *index as usize)
    }

    /// Whether the fast path executes a step by itself.
    pub(super) fn is_fast(&self, step: usize) -> bool {
        self.code.is_own(step)
    }

    /// The number of groups.
    pub fn groups(&self) -> usize {
        self.steps.len()
    }

    /// Returns the group that starts at an offset. `None` when there is none, or the program was not decoded from
    /// bytes.
    pub fn group(&self, offset: u32) -> Option<Group> {
        let step = self.steps.get(self.step_at(offset.into())?)?;
        decode(self.bytes.get(step.at as usize..)?).ok()
    }

    /// Returns the text of the group that starts at an offset; empty if there is none.
    pub fn text(&self, offset: u32) -> String {
        let typed = || self.typed.get(self.step_at(offset.into())?).map(Parts::to_string);
        self.group(offset).map(|group| group.to_string()).or_else(typed).unwrap_or_default()
    }

    /// Returns the machine code compiled so far as text: each function of the host after the groups that it implements.
    pub fn listing(&self) -> String {
        let text = |step: u64| {
            let at = self.steps.get(step as usize).map_or(0, |step| step.at);
            format!("{at:#x}: {}", self.text(at))
        };
        self.code.listing(text)
    }

    /// Returns the operations of the group that starts at an offset.
    pub(super) fn operations(&self, offset: u32) -> Vec<Operation> {
        let typed = || self.step_at(offset.into()).and_then(|index| self.typed.get(index).copied());
        let parts = self.group(offset).map(|group| group.parts()).or_else(typed);
        let all = parts.iter().flat_map(|parts| parts.operations().map(|(_, operation)| operation));
        all.filter(|operation| !operation.info().remark).collect()
    }

    /// The bytes of the program; empty if it was built from parts.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Sets the unit of parts without an encoding, for which it is not computed otherwise, and brings numbers into the
/// range that their fields could have.
fn placed(parts: &Parts) -> Parts {
    let mut placed = *parts;
    if let Some(tst) = &mut placed.tst {
        tst.elem &= 3;
    }
    if let Some(backend) = &mut placed.backend {
        backend.imm_addr &= 0xff;
        backend.burstlen = backend.burstlen.clamp(1, 16);
        backend.count = backend.count.clamp(1, 16);
    }
    if parts.b0.is_some() || parts.b1.is_some() || parts.b2.is_some() {
        placed.header.unit = Unit::Bitwise;
    } else if parts.bpret.is_some() || parts.uniq.is_some() || parts.fetch.is_some() {
        placed.header.unit = Unit::Control;
    } else {
        placed.header.unit = Unit::Main;
    }
    placed
}

/// Whether an operation decides if a fragment is kept.
fn feeds_back(backend: &Backend) -> bool {
    backend.op == BeOp::Depthf || (backend.op == BeOp::Atst && !backend.ifb)
}

/// The index of the source that a field selects.
pub(super) fn source_of(field: Srcsel) -> usize {
    field.number() as usize % 6
}
