//! Groups without side effects, and branches among them, as machine code.
//!
//! All instances of a task branch together, and groups that concern no other task may be executed before the task's
//! turn. A loop of such groups is therefore one function for a task, which returns at the end of the task's turn. A
//! region ends at groups that vector operations do not implement or that concern other tasks; the
//! `Bundle` of the machine executes those.

use std::fmt::Write;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use isaforge_core::semantics::{Special, Type};
use isaforge_usc::Cc;
use isaforge_usc::semantics::SEMANTICS;

use crate::exec::jit::lanes::emit::{Flow, FlowBlock, FlowState, To};
use crate::exec::jit::lanes::function::FlowFn;
use crate::exec::jit::lanes::graph::Graph;
use crate::exec::jit::lanes::host::Host;
use crate::exec::jit::lanes::row;
use crate::exec::jit::lanes::select::{Access, Binding, Location, Target, Truth, select};
use crate::level::Level;
use crate::usc::lanes::{LANES, Mask};
use crate::usc::names::{Set, operand, set_of};
use crate::usc::register::{Register, constant};
use crate::usc::step::Step;
use crate::usc::task::Task;

use super::bind::Spreads;
use super::code::{Code, Kind, changes_instances};

/// How often tasks reach a group before the region that begins there is compiled.
const OFTEN: u32 = 32;
/// The maximum numbers of groups of a loop, and of another region.
const LOOP: usize = 512;
const RUN: usize = 128;
/// The maximum number of groups of a program that are compiled.
const COMPILED: usize = 1 << 13;
/// The set of the instances that exist, numbered after those that groups know.
const VALID: u16 = 5;

/// The regions of a program.
#[derive(Debug, Default)]
pub(in crate::usc) struct Regions {
    /// For each group, the region that begins there.
    entries: Vec<Entry>,
    compiled: AtomicUsize,
}

#[derive(Debug, Default)]
struct Entry {
    /// How often a task came here.
    visits: AtomicU32,
    /// The region for each host for which a program may be executed.
    regions: [OnceLock<Option<Box<Region>>>; Host::COUNT],
}

/// Groups that are compiled to one function.
#[derive(Debug)]
pub(in crate::usc) struct Region {
    groups: Range<usize>,
    /// The function for tasks whose 32 instances all run, and the function for any task.
    whole: OnceLock<Option<FlowFn>>,
    any: OnceLock<Option<FlowFn>>,
}

/// What a task has executed of a region.
#[derive(Clone, Copy, Debug)]
pub(in crate::usc) struct Executed {
    pub groups: u64,
    pub instance_groups: u64,
}

impl Regions {
    /// Creates an empty set of regions for a program of `groups` groups.
    pub fn new(groups: usize) -> Self {
        Regions { entries: (0..groups).map(|_| Entry::default()).collect(), compiled: AtomicUsize::new(0) }
    }

    /// Returns the region that begins at a group. `None` until tasks have reached the group often.
    pub fn at(&self, steps: &[Step], code: &Code, pc: usize, level: Level) -> Option<&Region> {
        let often = level.compiles_after(OFTEN)?;
        let entry = self.entries.get(pc)?;
        let kept = entry.regions.get(Host::of(level)? as usize)?;
        if let Some(region) = kept.get() {
            return region.as_deref();
        }
        if entry.visits.fetch_add(1, Ordering::Relaxed) < often {
            return None;
        }
        let make = || {
            let groups = extent(steps, code, pc, level)?;
            let before = self.compiled.fetch_add(groups.len(), Ordering::Relaxed);
            let region = || Box::new(Region { groups, whole: OnceLock::new(), any: OnceLock::new() });
            (before < COMPILED).then(region)
        };
        kept.get_or_init(make).as_deref()
    }

    /// Returns the machine code of all regions as text; `text` returns the text of a group.
    pub fn listing(&self, text: impl Fn(u64) -> String) -> String {
        let mut listed = String::new();
        for region in self.entries.iter().flat_map(|entry| &entry.regions).filter_map(|region| region.get()?.as_deref())
        {
            for function in [&region.whole, &region.any].into_iter().filter_map(|function| function.get()?.as_ref()) {
                let Range { start, end } = region.groups;
                let _ = writeln!(listed, "region {start}: {} groups\n{}", end - start, function.listing(&text));
            }
        }
        listed
    }
}

impl Region {
    /// Lets a task execute at most `most` groups of the region. `None` when it has executed none.
    pub fn run(
        &self,
        steps: &[Step],
        code: &Code,
        level: Level,
        task: &mut Task,
        state: &mut FlowState,
        most: u64,
    ) -> Option<Executed> {
        let all = task.valid & task.running == Mask::MAX;
        let make = |whole: bool| move || function(steps, code, self.groups.clone(), whole, level);
        let whole = if all { self.whole.get_or_init(make(true)).as_ref() } else { None };
        let function = match whole {
            Some(function) => function,
            None => self.any.get_or_init(make(false)).as_ref()?,
        };
        let room = u32::try_from(most).unwrap_or(u32::MAX).min(i32::MAX as u32);
        for (set, lanes) in sets(task) {
            state.sets[set as usize] = (*lanes).into();
        }
        state.sets[usize::from(VALID)] = task.valid.into();
        (state.room, state.lanes) = (room, 0);
        if !function.run(task.columns.all_mut(), state) || state.room >= room {
            return None;
        }
        for (set, lanes) in sets(task) {
            *lanes = state.sets[set as usize] as Mask;
        }
        task.pc = state.place as usize;
        Some(Executed { groups: (room - state.room).into(), instance_groups: state.lanes })
    }
}

/// The sets of a task that groups may change.
fn sets(task: &mut Task) -> [(Set, &mut Mask); 4] {
    let Task { predicate, running, kept, failed, .. } = task;
    [(Set::Predicate, predicate), (Set::Runs, running), (Set::Kept, kept), (Set::Failed, failed)]
}

/// The groups of the region that begins at a group: up to the last jump back to it, or else up to the first group that
/// is not compiled. Later loops are regions of their own, since the groups before them may change which instances run.
/// `None` when the region is a single group, which the bundle executes equally fast.
fn extent(steps: &[Step], code: &Code, pc: usize, level: Level) -> Option<Range<usize>> {
    let mut graph = Graph::new(SEMANTICS, level);
    let mut is_compiled = |at: usize| {
        graph.clear();
        match code.at(at).0 {
            Kind::Branch { link, .. } => link.is_none(),
            Kind::Plain(_) | Kind::ForAll => {
                Conditions { whole: false }.add(code, &steps[at], at, &mut graph).is_some()
            }
            Kind::Own | Kind::Outside => false,
        }
    };
    let last = steps.len().min(pc + LOOP);
    let end = (pc..last).find(|&at| !is_compiled(at)).unwrap_or(last);
    let target = |at: usize| match code.at(at).0 {
        Kind::Branch { target, .. } => Some(target),
        _ => None,
    };
    let end = match (pc..end).rev().find(|&at| target(at) == Some(pc)) {
        Some(last) => last + 1,
        None => {
            let loops = (pc..end).filter_map(|at| target(at).filter(|to| (pc + 1..=at).contains(to)));
            loops.min().unwrap_or(end).min(pc + RUN)
        }
    };
    (end > pc + 1).then_some(pc..end)
}

/// Compiles groups to a function. `None` when they run out of registers.
fn function(steps: &[Step], code: &Code, groups: Range<usize>, whole: bool, level: Level) -> Option<FlowFn> {
    FlowFn::compile(level, |longest| flow((steps, code), groups.clone(), (whole, level), longest))
}

/// Builds the flow of some groups, in blocks.
fn flow(
    (steps, code): (&[Step], &Code),
    groups: Range<usize>,
    (whole, level): (bool, Level),
    longest: usize,
) -> Option<Flow> {
    let is_target =
        |at: usize| groups.clone().any(|from| matches!(code.at(from).0, Kind::Branch { target, .. } if target == at));
    let starts_anew = |at: usize| {
        let [(before, condition), (this, next)] = [code.at(at - 1), code.at(at)];
        let is_alike = matches!((before, this), (Kind::Plain(_), Kind::Plain(_)) | (Kind::ForAll, Kind::ForAll));
        !is_alike || condition != next || changes_instances(&steps[at - 1]) || is_target(at)
    };
    let mut starts = vec![groups.start];
    for at in groups.clone().skip(1) {
        let last = starts.last().copied().unwrap_or(groups.start);
        if at - last >= longest || starts_anew(at) {
            starts.push(at);
        }
    }
    let to = |at: usize| starts.binary_search(&at).map_or(To::Exit(at as u32), To::Block);
    let conditions = Conditions { whole };
    let mut graph = Graph::new(SEMANTICS, level);
    let mut blocks = Vec::new();
    for (index, &start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(groups.end);
        let (kind, condition) = code.at(start);
        let mask = conditions.mask(condition, &mut graph);
        let mut branch = None;
        if let Kind::Branch { target, unless, .. } = kind {
            branch = Some((to(target), unless));
        } else {
            for (at, step) in steps.iter().enumerate().take(end).skip(start) {
                graph.begin(at as u64);
                conditions.add(code, step, at, &mut graph)?;
            }
        }
        let words = (start as u32, (end - start) as u32);
        blocks.push(FlowBlock::end(&mut graph, words, mask, branch, to(end)));
    }
    Some(Flow { graph, columns: LANES / row::LANES, blocks, reaches: Vec::new() })
}

/// Determines which instances execute groups.
#[derive(Clone, Copy)]
struct Conditions {
    /// Whether all 32 instances exist and run.
    whole: bool,
}

impl Conditions {
    /// The instances that execute a group with a condition.
    fn active(self, condition: Cc, graph: &mut Graph) -> Truth {
        let predicate = |graph: &mut Graph| graph.read_set(Set::Predicate as u16);
        if self.whole {
            return match condition {
                Cc::ExZx | Cc::E1Zx => Truth::Known(true),
                Cc::E1Z1 => Truth::of(predicate(graph)),
                Cc::E1Z0 => Truth::of(predicate(graph)).not(),
            };
        }
        let valid = graph.read_set(VALID);
        if condition == Cc::ExZx {
            return Truth::of(valid);
        }
        let runs = graph.read_set(Set::Runs as u16);
        let runs = graph.both(valid, runs);
        Truth::of(match condition {
            Cc::E1Z1 => {
                let predicate = predicate(graph);
                graph.both(runs, predicate)
            }
            Cc::E1Z0 => {
                let predicate = predicate(graph);
                graph.without(runs, predicate)
            }
            _ => runs,
        })
    }

    /// The instances that execute a group as a mask. `None` when it is all of them.
    fn mask(self, condition: Cc, graph: &mut Graph) -> Option<crate::exec::jit::lanes::graph::Value> {
        match self.active(condition, graph) {
            Truth::Mask { mask, inverted: true, .. } => Some(graph.not_mask(mask)),
            Truth::Mask { mask, .. } => Some(mask),
            Truth::Known(_) => None,
        }
    }

    /// Adds the operations of a group to a graph. `None` when vectors do not support them.
    fn add(self, code: &Code, step: &Step, at: usize, graph: &mut Graph) -> Option<()> {
        let (kind, condition) = code.at(at);
        let executes = self.active(condition, graph);
        let active = match kind {
            Kind::ForAll => self.active(Cc::ExZx, graph),
            _ => executes,
        };
        let mut columns = Columns { step, spreads: code.spreads(), whole: self.whole, executes, active };
        let selected = select(SEMANTICS, step.shape().ok()?, &mut columns, graph)?;
        (selected.branch.is_none() && !selected.accesses).then_some(())
    }
}

/// Binds the graph of a group to registers and sets.
struct Columns<'a> {
    step: &'a Step,
    spreads: &'a Spreads,
    whole: bool,
    /// The instances that execute the group, and those for which it is evaluated.
    executes: Truth,
    active: Truth,
}

impl Binding for Columns<'_> {
    fn active(&self) -> Option<Truth> {
        Some(self.active)
    }

    fn operand(&mut self, number: u16, element: u16, ty: Type) -> Option<[Location; 2]> {
        let register = operand(self.step, number, element).ok().filter(|_| ty.size() == 32)?;
        let known = match register {
            Register::Column(column) => constant(column.into()),
            _ => None,
        };
        let place = match known {
            Some(value) => Location::Number(value),
            None => Location::Row(self.spreads.known(register)?.into()),
        };
        Some([place, Location::Number(0)])
    }

    fn target(&mut self, number: u16, element: u16) -> Option<Target> {
        match operand(self.step, number, element).ok()? {
            register @ Register::Column(column) if register.is_writable() => Some(Target::Row(column.into())),
            _ => None,
        }
    }

    fn set(&mut self, state: u16, graph: &mut Graph) -> Option<Truth> {
        Some(match set_of(state)? {
            Set::Executes => self.executes,
            Set::Runs if self.whole => Truth::Known(true),
            set => Truth::of(graph.read_set(set as u16)),
        })
    }

    fn set_target(&mut self, state: u16) -> Option<u16> {
        let set = set_of(state).filter(|set| set.is_writable())?;
        (set != Set::Runs || !self.whole).then_some(set as u16)
    }

    fn state(&mut self, _: u16) -> Option<Location> {
        None
    }

    fn special(&mut self, _: Special) -> Option<[Location; 2]> {
        None
    }

    fn access(&mut self, _: Access) -> Option<usize> {
        None
    }
}
