//! Finds what to compile together: the blocks that are reachable from a hot place through known code.
//!
//! Code that was never executed is left to the evaluator: much of what a program reaches runs once or never, and takes
//! longer to compile than to execute.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use isaforge_core::machine::{Instruction, Machine};
use isaforge_core::semantics::Op as Pure;

use crate::exec::bind::{Binder, Lower};
use crate::exec::ir::{Block, End, Op, Value};
use crate::exec::simplify::dead_writes;

/// The maximum number of instructions of a region.
const MAX_REGION: usize = 512;
/// The maximum number of instructions of a block, which are taken from the budget at once.
const MAX_BLOCK: usize = 64;

/// The blocks to compile together; execution begins at the first.
#[derive(Debug)]
pub struct Region {
    /// The blocks; those that often follow each other are adjacent.
    pub blocks: Vec<Block>,
    /// The index of the block at each address.
    pub at: HashMap<u64, usize>,
    /// The targets of computed jumps so far, by the address of the jump.
    pub targets: HashMap<u64, Vec<u64>>,
    /// The bytes of the instructions, with their addresses.
    pub bytes: Vec<(u64, Vec<u8>)>,
}

/// Where control flow continues after an instruction.
enum Flow {
    Next,
    To(Vec<u64>),
    /// Only the evaluator can tell.
    Refused,
}

/// Finds the blocks that are reachable from an address. `targets` holds the known targets of computed jumps. Without
/// `ahead`, code that was never fetched is left out.
///
/// `None` if there is nothing to compile.
pub fn region(
    machine: &mut Machine<1>,
    lower: &dyn Lower,
    head: u64,
    targets: &HashMap<u64, Vec<u64>>,
    ahead: bool,
) -> Option<Region> {
    let mut known: BTreeMap<u64, Option<Instruction>> = BTreeMap::new();
    let mut leaders = BTreeSet::from([head]);
    let mut open = vec![head];
    let mut seen = 0;
    while let Some(start) = open.pop() {
        let mut pc = start;
        while seen < MAX_REGION
            && !known.contains_key(&pc)
            && !machine.breakpoints.contains(&pc)
            && (ahead || pc == head || machine.has_fetched(pc))
        {
            let Ok(instruction) = machine.instruction(pc).cloned() else { break };
            seen += 1;
            let (flow, following) =
                (flow(machine, lower, pc, &instruction, targets), pc.wrapping_add(instruction.length));
            let refused = matches!(flow, Flow::Refused);
            known.insert(pc, (!refused).then_some(instruction));
            match flow {
                Flow::Next => pc = following,
                Flow::To(list) => {
                    leaders.extend(&list);
                    // The first target is visited next.
                    open.extend(list.into_iter().rev());
                    break;
                }
                Flow::Refused => break,
            }
        }
    }
    let mut region = Region { blocks: vec![], at: HashMap::new(), targets: targets.clone(), bytes: vec![] };
    let mut open = vec![head];
    while let Some(start) = open.pop() {
        if region.at.contains_key(&start) {
            continue;
        }
        let block = block(machine, lower, start, &known, &leaders);
        if block.instructions.is_empty() {
            continue;
        }
        match block.end {
            End::Goto(to) => open.push(to),
            End::Branch(_, then, otherwise) => open.extend([then, otherwise]),
            End::Indirect(_) => {
                let jump = block.instructions.last().and_then(|jump| targets.get(jump));
                open.extend(jump.into_iter().flatten());
            }
            End::Leave(_) => {}
        }
        for pc in &block.instructions {
            let length = known.get(pc).and_then(|known| known.as_ref()).map_or(0, |known| known.length);
            let bytes = machine.memory.bytes(*pc, length)?;
            match region.bytes.last_mut() {
                Some((from, known)) if from.checked_add(known.len() as u64) == Some(*pc) => known.extend(bytes),
                _ => region.bytes.push((*pc, bytes.to_vec())),
            }
        }
        region.at.insert(start, region.blocks.len());
        region.blocks.push(block);
    }
    region.at.contains_key(&head).then_some(region)
}

fn flow(
    machine: &Machine<1>,
    lower: &dyn Lower,
    pc: u64,
    instruction: &Instruction,
    targets: &HashMap<u64, Vec<u64>>,
) -> Flow {
    let mut binder = Binder::new(machine, lower);
    let Ok(next) = binder.instruction(pc, instruction) else { return Flow::Refused };
    match end(&binder, next) {
        End::Goto(to) if to == pc.wrapping_add(instruction.length) => Flow::Next,
        End::Goto(to) => Flow::To(vec![to]),
        End::Branch(_, then, otherwise) => Flow::To(vec![otherwise, then]),
        End::Indirect(_) => Flow::To(targets.get(&pc).cloned().unwrap_or_default()),
        End::Leave(_) => Flow::Refused,
    }
}

/// Returns where execution continues, given the value of the next address.
fn end(binder: &Binder<'_>, next: Value) -> End {
    let graph = &binder.block.graph;
    let node = graph.node(next);
    match (node.op, node.args) {
        (Op::Const(to), _) => End::Goto(to),
        (Op::Pure(Pure::Select, _), [Some(condition), Some(then), Some(otherwise)]) => {
            match (graph.number(then), graph.number(otherwise)) {
                (Some(then), Some(otherwise)) => End::Branch(condition, then, otherwise),
                _ => End::Indirect(next),
            }
        }
        _ => End::Indirect(next),
    }
}

/// Builds the block that begins at an address.
fn block(
    machine: &Machine<1>,
    lower: &dyn Lower,
    start: u64,
    known: &BTreeMap<u64, Option<Instruction>>,
    leaders: &BTreeSet<u64>,
) -> Block {
    let mut binder = Binder::new(machine, lower);
    let mut pc = start;
    loop {
        let full = binder.block.instructions.len() >= MAX_BLOCK || (pc != start && leaders.contains(&pc));
        let Some(instruction) = known.get(&pc).filter(|_| !full) else {
            binder.block.end = End::Goto(pc);
            break;
        };
        let next = instruction.as_ref().map(|instruction| (binder.instruction(pc, instruction), instruction.length));
        let Some((Ok(next), length)) = next else {
            binder.block.end = End::Leave(pc);
            break;
        };
        binder.block.end = end(&binder, next);
        match binder.block.end {
            End::Goto(to) if to == pc.wrapping_add(length) => pc = to,
            _ => break,
        }
    }
    dead_writes(&mut binder.block.effects);
    binder.block
}
