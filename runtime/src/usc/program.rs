//! Programs, decoded once to the steps that the interpreter executes.

use std::collections::HashMap;
use std::sync::Arc;

use isaforge_usc::{Backend, BeOp, BuildError, Group, Operation, Parts, Unit, decode};

use crate::usc::error::{LoadError, MAX_PROGRAM};
use crate::usc::read::Reader;
use crate::usc::step::{Action, Step};
use crate::usc::together::code::Code;
use crate::usc::together::flow::Regions;

/// A program that can be run.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) steps: Vec<Step>,
    pub(super) code: Code,
    /// The regions compiled to machine code.
    pub(super) regions: Arc<Regions>,
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
            regions: Arc::default(),
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
        self.regions = Regions::new(self.steps.len()).into();
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
        self.regions.listing(text)
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
