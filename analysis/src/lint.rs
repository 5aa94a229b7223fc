//! Mistakes that can be found without running the program.
//!
//! Each check reports only facts that hold on every path, so that a finding is a mistake or an instruction without
//! effect.
//!
//! - `finding`: what a check finds, and its code
//! - `unwritten`, `messages`, `discarded`, `diverged`: the checks that follow values through a program

mod discarded;
mod diverged;
mod finding;
mod messages;
mod unwritten;

use isaforge_core::error::ParseReason;
use isaforge_core::parse::parse;
use isaforge_core::semantics::Op;
use isaforge_core::{EncodeError, Tables};

pub use finding::{Check, Finding};

use crate::effects::When;
use crate::entry::{Entry, Instruction, List};
use crate::graph::{Block, Graph};
use crate::liveness::Liveness;
use crate::program::Program;

/// Runs all checks and sorts the findings by address. The preloads of the instruction set say which registers are
/// initialised when a program starts; without any preloads, reads of unwritten registers are not reported.
pub fn lint(program: &Program<'_>, graph: &Graph) -> Vec<Finding> {
    let liveness = Liveness::new(program, graph);
    let mut found = Vec::new();
    places(program, graph, &mut found);
    unread(program, graph, &liveness, &mut found);
    unwritten::check(program, graph, &mut found);
    limits(program, graph, &mut found);
    lengths(program, graph, &mut found);
    messages::check(program, graph, &mut found);
    discarded::check(program, graph, &mut found);
    diverged::check(program, graph, &mut found);
    found.sort_by_key(|finding| (finding.entry, finding.check.code()));
    found
}

/// Whether a block is an instruction that only ends the thread, as compilers put behind programs: it does not matter
/// that nothing leads there.
fn is_padding(program: &Program<'_>, block: &Block) -> bool {
    let [Entry { instruction: Ok(one), .. }] = &program.entries[block.entries.clone()] else { return false };
    let ends = one.flow.end == When::Always && !one.flow.masked;
    ends && one.operands.is_empty() && one.modifiers.is_empty() && one.writes.is_empty()
}

/// Whether the specification says how programs end.
fn can_end(program: &Program<'_>) -> bool {
    let Some(semantics) = program.set.semantics else { return false };
    let nodes = semantics.operations.iter().flat_map(|operation| operation.nodes);
    let intrinsics = 0..semantics.intrinsics.len() as u16;
    semantics.flow.iter().any(|fact| fact.ends)
        || nodes.into_iter().any(|node| node.op == Op::End)
        || intrinsics.into_iter().any(|intrinsic| program.set.exits(intrinsic))
}

/// Whether execution may leave the program after an instruction other than by its end, or by what it calls.
fn runs_off(program: &Program<'_>, index: usize, one: &Instruction) -> bool {
    let end = program.entries.len();
    let falls = index + 1 == end && one.flow.falls_through() && one.flow.end == When::Never && !one.stops;
    let branches = one.flow.target.is_some_and(|target| program.place(target) == Some(end));
    one.flow.known && (falls || branches)
}

fn places(program: &Program<'_>, graph: &Graph, found: &mut Vec<Finding>) {
    let mut add = |check, entry, message| found.push(Finding { check, entry, message });
    let mut before = true;
    for block in &graph.blocks {
        if !block.reachable && is_padding(program, block) {
            continue;
        }
        if !block.reachable && before {
            add(Check::Unreachable, block.entries.start, "this is never reached".to_owned());
        }
        before = block.reachable;
    }
    let ends = can_end(program);
    for (index, entry) in program.entries.iter().enumerate() {
        match &entry.instruction {
            Ok(one) if ends && graph.is_reachable(index) && runs_off(program, index, one) => {
                add(Check::Invalid, index, "execution may go on after the end of the program".to_owned());
            }
            Err(reason) if graph.is_reachable(index) => add(Check::Invalid, index, reason.clone()),
            Ok(instruction) => {
                if let Some(target) = instruction.flow.target
                    && program.place(target).is_none()
                {
                    let address = program.set.address(target);
                    let message = format!("no instruction of the program starts at the branch target {address:#x}");
                    add(Check::Astray, index, message);
                }
            }
            Err(_) => {}
        }
    }
}

fn unread(program: &Program<'_>, graph: &Graph, liveness: &Liveness, found: &mut Vec<Finding>) {
    for (index, entry) in program.entries.iter().enumerate() {
        let Ok(instruction) = &entry.instruction else { continue };
        let flows = instruction.flow.name() != "next" || instruction.flow.waits != 0;
        if !instruction.pure || instruction.writes.is_empty() || flows || !graph.is_reachable(index) {
            continue;
        }
        if instruction.writes.iter().all(|(register, _)| !liveness.is_live_after(index, *register)) {
            let names: Vec<String> = instruction.writes.iter().map(|(r, _)| program.set.name(*r)).collect();
            let message = format!("the value written to {} is never read", names.join(", "));
            found.push(Finding { check: Check::Unread, entry: index, message });
        }
    }
}

/// Reports lists that name more or fewer registers than the operation accesses.
fn lengths(program: &Program<'_>, graph: &Graph, found: &mut Vec<Finding>) {
    for (index, entry) in program.entries.iter().enumerate().filter(|(index, _)| graph.is_reachable(*index)) {
        let lists = entry.instruction.iter().flat_map(|instruction| &instruction.lists);
        found.extend(lists.map(|List { operand, named, accessed }| {
            let registers = if *accessed == 1 { "register" } else { "registers" };
            let message =
                format!("the instruction accesses {accessed} {registers} of the list `{operand}`, which names {named}");
            Finding { check: Check::Length, entry: index, message }
        }));
    }
}

/// Reports instructions that decode and print but that the assembler rejects.
fn limits(program: &Program<'_>, graph: &Graph, found: &mut Vec<Finding>) {
    let Tables::Words(isa) = program.set.tables else { return };
    if isa.limits.is_empty() {
        return;
    }
    for (index, entry) in program.entries.iter().enumerate().filter(|(index, _)| graph.is_reachable(*index)) {
        let Ok(instruction) = &entry.instruction else { continue };
        if let Err(error) = parse(isa, &instruction.text)
            && matches!(error.reason, ParseReason::Encode(EncodeError::Limit { .. }))
        {
            found.push(Finding { check: Check::Limit, entry: index, message: error.to_string() });
        }
    }
}
