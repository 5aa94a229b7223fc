//! Checks machine code before it may be executed: decodes it again and verifies what its callers rely on.
//!
//! ```text
//! bytes ──decode──▶ steps ──link──▶ labels ──walk, iterated to a fixed point──▶ accepted or refused
//! ```
//!
//! The check shares no code with the code generator. The walk follows the code as far as possible, and keeps at each
//! label the meet over all paths to it. A jump back that knows less repeats it. `Rules` define what is known after an
//! instruction, and what it may do.
//!
//! - `pattern`: vector instructions that are like others, which need not be decoded
//! - `step`: an instruction, and what it writes
//! - [`scalar`]: the rules for code in general registers; `lanes` has its own rules for vector code

mod pattern;
pub mod scalar;
mod step;
#[cfg(test)]
mod tests;

use std::cell::RefCell;

use iced_x86::{Code, CpuidFeature, Decoder, DecoderOptions, FlowControl, Instruction, OpKind, Register};
use thiserror::Error;

use pattern::Patterns;
use step::Codes;
pub(crate) use step::{Step, gpr};

/// Why code was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("machine code at {at:#x}, `{code:?}`: {what}")]
pub struct Refused {
    /// The offset of the instruction in the code.
    at: u64,
    /// The instruction.
    code: Code,
    /// What is wrong with the instruction.
    pub(crate) what: &'static str,
}

impl Refused {
    pub(crate) fn new(instruction: &Instruction, what: &'static str) -> Self {
        Refused { at: instruction.ip(), code: instruction.code(), what }
    }
}

/// What one kind of code may do.
pub(crate) trait Rules {
    /// What is known at a point in the code.
    type State: Clone;

    /// Whether the processor supports a feature.
    fn has(&self, feature: CpuidFeature) -> bool;

    /// Returns what is known at the entry of the code.
    fn entry(&self) -> Self::State;

    /// Merges the state of another path to the same point into `state`. Returns whether less is known now.
    fn meet(state: &mut Self::State, other: &Self::State) -> bool;

    /// Inspects all steps before any of them is followed.
    ///
    /// # Errors
    /// The first step that must not occur in this code.
    fn whole(&mut self, _steps: &[Step]) -> Result<(), Refused> {
        Ok(())
    }

    /// Forgets what is known of the flags, which instructions on vectors and masks may change.
    fn forget_flags(state: &mut Self::State);

    /// Forgets what code does not need after it has jumped back to this point, so that it is followed only once.
    fn repeats(_state: &mut Self::State) {}

    /// Follows an instruction that continues with the next one.
    ///
    /// # Errors
    /// The forbidden thing that the instruction may do.
    fn step(&mut self, step: &Step, state: &mut Self::State) -> Result<(), &'static str>;

    /// Returns what is known if a jump is taken, or `None` if the jump adds no knowledge.
    fn taken(&self, _jump: &Instruction, _state: &Self::State) -> Option<Self::State> {
        None
    }

    /// Adds what is known if a jump is not taken.
    fn not_taken(&self, _jump: &Instruction, _state: &mut Self::State) {}

    /// Whether a register holds the address of one of the loaded labels.
    fn is_label(&self, _register: Register, _state: &Self::State) -> bool {
        false
    }

    /// Checks a return to the caller.
    ///
    /// # Errors
    /// What is not restored for the caller.
    fn leaves(&self, _state: &Self::State) -> Result<(), &'static str> {
        Ok(())
    }
}

/// A byte at which no instruction starts.
const NOWHERE: u32 = u32::MAX;

/// Memory that checks use again, as a check takes less time than allocating it would.
#[derive(Default)]
struct Scratch {
    codes: Codes,
    patterns: Patterns,
    steps: Vec<Step>,
    /// For each byte of the code at which an instruction starts, the number of its step or of the next one.
    starts: Vec<u32>,
    /// The steps that may jump or load the address of a label.
    jumps: Vec<u32>,
}

/// Checks code.
///
/// # Errors
/// The first instruction that may do something forbidden.
pub(crate) fn check<R: Rules>(code: &[u8], rules: &mut R) -> Result<(), Refused> {
    thread_local! {
        static SCRATCH: RefCell<Scratch> = RefCell::default();
    }
    SCRATCH.with_borrow_mut(|scratch| check_with(scratch, code, rules))
}

fn check_with<R: Rules>(scratch: &mut Scratch, code: &[u8], rules: &mut R) -> Result<(), Refused> {
    let Scratch { codes, patterns, steps, starts, jumps } = scratch;
    let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    starts.clear();
    starts.resize(code.len(), NOWHERE);
    steps.clear();
    jumps.clear();
    // Decoded in place: the last step is that of the next instruction.
    steps.push(Step::default());
    let (mut next, lacking) = (0, step::lacking(|feature| rules.has(feature)));
    let mut at = 0;
    while at < code.len() {
        let step = &mut steps[next];
        starts[at] = next as u32;
        // Most instructions compute in vectors without memory. They need not be followed.
        if let Some(length) = patterns.length(&code[at..], lacking) {
            step.after_vectors = true;
            at += length;
            continue;
        }
        if decoder.set_position(at).is_err() {
            break;
        }
        decoder.set_ip(at as u64);
        decoder.decode_out(&mut step.instruction);
        let needs = step.look(codes, lacking).map_err(|what| Refused::new(&step.instruction, what))?;
        if step.is_vector && step.bytes == 0 {
            step.after_vectors = true;
            patterns.learn(&code[at..], &step.instruction, needs);
        } else {
            if step.flow != FlowControl::Next || step.instruction.code() == Code::Lea_r64_m {
                jumps.push(next as u32);
            }
            steps.push(Step::default());
            next += 1;
        }
        at = decoder.position();
    }
    if let Some(rest) = steps.pop()
        && steps.is_empty()
    {
        return Err(Refused::new(&rest.instruction, "runs past the end"));
    }
    let (labels, loaded) = link(steps, starts, jumps)?;
    rules.whole(steps)?;
    let mut walk = Walk { rules, steps, labels, loaded, again: true };
    while walk.again {
        walk.again = false;
        walk.pass()?;
    }
    Ok(())
}

/// A jump target.
struct Label<S> {
    /// What all paths that have reached it agree on.
    known: Option<S>,
    /// Whether a backward jump leads here. Then `known` is kept for the next pass.
    back: bool,
}

/// Numbers the labels of the code, given the steps that follow the starts of instructions and those that may jump.
/// Returns the labels, and the steps whose addresses are loaded for indirect jumps.
fn link<S>(steps: &mut [Step], starts: &[u32], jumps: &[u32]) -> Result<(Vec<Label<S>>, Vec<u32>), Refused> {
    let (mut labels, mut loaded) = (Vec::with_capacity(jumps.len()), Vec::new());
    for from in jumps.iter().map(|from| *from as usize) {
        let instruction = &steps[from].instruction;
        let loads = instruction.code() == Code::Lea_r64_m && instruction.is_ip_rel_memory_operand();
        let target = match instruction.op0_kind() {
            OpKind::NearBranch64 => instruction.near_branch64(),
            _ if loads => instruction.ip_rel_memory_address(),
            _ => continue,
        };
        let start = usize::try_from(target).ok().and_then(|target| starts.get(target));
        let Some(to) = start.filter(|to| **to != NOWHERE).map(|to| *to as usize) else {
            return Err(Refused::new(instruction, "jumps out of the code"));
        };
        if to == steps.len() {
            return Err(Refused::new(instruction, "runs past the end"));
        }
        let label = *steps[to].label.get_or_insert_with(|| {
            labels.push(Label { known: None, back: false });
            labels.len() as u32 - 1
        });
        labels[label as usize].back |= loads || to <= from;
        steps[from].target = Some(to as u32);
        if loads && !loaded.contains(&(to as u32)) {
            loaded.push(to as u32);
        }
    }
    Ok((labels, loaded))
}

/// The walk through the code.
struct Walk<'a, R: Rules> {
    rules: &'a mut R,
    steps: &'a [Step],
    labels: Vec<Label<R::State>>,
    loaded: Vec<u32>,
    /// Whether a backward jump reached a label with less known than assumed, so that another pass is needed.
    again: bool,
}

impl<R: Rules> Walk<'_, R> {
    /// Follows all instructions in order.
    fn pass(&mut self) -> Result<(), Refused> {
        // The current state, and whether this point is reachable at all.
        let (mut state, mut reached) = (self.rules.entry(), true);
        for (at, step) in self.steps.iter().enumerate() {
            if let Some(label) = step.label {
                let Label { known, back } = &mut self.labels[label as usize];
                match known {
                    Some(agreed) => {
                        if reached {
                            R::meet(agreed, &state);
                        }
                        if *back {
                            R::repeats(agreed);
                            state.clone_from(agreed);
                        } else if let Some(agreed) = known.take() {
                            state = agreed;
                        }
                        reached = true;
                    }
                    None if *back && reached => {
                        R::repeats(&mut state);
                        *known = Some(state.clone());
                    }
                    None => {}
                }
            }
            if step.after_vectors {
                R::forget_flags(&mut state);
            }
            // Skips code that no path has reached yet. If a later jump leads here, there is another pass.
            if reached {
                reached = self.step(at, step, &mut state).map_err(|what| Refused::new(&step.instruction, what))?;
            }
        }
        match self.steps.last() {
            Some(last) if reached => Err(Refused::new(&last.instruction, "runs past the end")),
            _ => Ok(()),
        }
    }

    /// Follows an instruction. Returns whether execution may continue with the next one.
    fn step(&mut self, at: usize, step: &Step, state: &mut R::State) -> Result<bool, &'static str> {
        let instruction = &step.instruction;
        match step.flow {
            FlowControl::Next => self.rules.step(step, state).map(|()| true),
            FlowControl::Return => self.rules.leaves(state).map(|()| false),
            FlowControl::IndirectBranch => {
                if instruction.op0_kind() != OpKind::Register || !self.rules.is_label(instruction.op0_register(), state)
                {
                    return Err("jumps to an unknown place");
                }
                // The jump may lead to any loaded label, before or after it.
                for loaded in 0..self.loaded.len() {
                    self.arrive(at, self.loaded[loaded], state);
                }
                Ok(false)
            }
            flow => {
                let to = step.target.ok_or("has no target in the code")?;
                match self.rules.taken(instruction, state) {
                    Some(taken) => self.arrive(at, to, &taken),
                    None => self.arrive(at, to, state),
                }
                let goes_on = flow == FlowControl::ConditionalBranch;
                if goes_on {
                    self.rules.not_taken(instruction, state);
                }
                Ok(goes_on)
            }
        }
    }

    /// Follows a jump. Only a backward jump needs another pass, because code further on is visited later anyway.
    fn arrive(&mut self, from: usize, to: u32, state: &R::State) {
        let Some(label) = self.steps[to as usize].label else { return };
        let known = &mut self.labels[label as usize].known;
        let changed = match known {
            Some(known) => R::meet(known, state),
            None => {
                *known = Some(state.clone());
                true
            }
        };
        self.again |= changed && to as usize <= from;
    }
}
