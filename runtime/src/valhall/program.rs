//! Programs, decoded once before they run.

use std::sync::{LazyLock, OnceLock};

use isaforge_core::Isa;
use isaforge_core::table::{Access, Alternative, Field, Form, Operand, Shape, Type};
use isaforge_core::text::Line;
use isaforge_valhall::semantics::SEMANTICS;
use isaforge_valhall::{DecodeError, FauSpecialPage1, Instruction, Opcode, Source};

use super::operation::Operation;
use super::step::Fault;
use super::warp::LANES;
use crate::valhall::launch::{Origin, Place, RunError};

/// A word of a program.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// An instruction and its effect on the thread's flow.
    Ready(Instruction, After),
    /// Not an instruction. It is an error only when a thread reaches it, since programs are padded with such words.
    /// Boxed, because the other slots are far smaller.
    Undecodable(Box<DecodeError>),
    /// An instruction that names a register beyond the last, by the number of the register.
    Register(u16),
}

/// The flow after an instruction, except for waiting on messages: messages are always complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// The thread continues with the next instruction.
    Next,
    /// The thread ends.
    End,
}

/// The words of a program and the properties of the whole program.
#[derive(Debug)]
pub(super) struct Program<'a> {
    pub words: &'a [u64],
    slots: OnceLock<Vec<Slot>>,
    operations: OnceLock<Vec<OnceLock<Option<Operation>>>>,
    /// Whether any instruction uses thread memory.
    pub uses_thread_memory: bool,
}

impl<'a> Program<'a> {
    pub fn new(words: &'a [u64]) -> Self {
        let Decoder { page, thread_page, .. } = Decoder::get();
        // Printing is slow. Few programs name the page, and only in few of their words, so only those are printed.
        let mut line = Line::new();
        let names_page = |word: &&u64| *word & page == *thread_page;
        let uses_thread_memory = words.iter().fold(false, |any, word| any | names_page(&word))
            && words.iter().filter(names_page).any(|&word| names_thread_memory(word, &mut line));
        Program { words, slots: OnceLock::new(), operations: OnceLock::new(), uses_thread_memory }
    }

    /// Returns all words, decoded on the first call; for callers that execute each word many times.
    pub fn slots(&self) -> &[Slot] {
        self.slots.get_or_init(|| self.words.iter().map(|&word| slot(word)).collect())
    }

    /// Returns the operation of the instruction at `pc`. It is looked up when the instruction is first executed.
    pub fn operation(&self, pc: usize, instruction: Instruction) -> Option<&Operation> {
        let operations = self.operations.get_or_init(|| self.words.iter().map(|_| OnceLock::new()).collect());
        operations.get(pc)?.get_or_init(|| Operation::new(instruction)).as_ref()
    }

    /// Decodes a single word. `None` beyond the last word.
    pub fn slot(&self, pc: usize) -> Option<Slot> {
        self.words.get(pc).map(|&word| slot(word))
    }

    /// Returns the text of a word, for errors.
    pub fn text(&self, pc: usize) -> String {
        let Some(&word) = self.words.get(pc) else { return String::new() };
        match isaforge_valhall::decode(word) {
            Ok(instruction) => instruction.to_string(),
            Err(_) => format!(".word {word:#018x}"),
        }
    }

    /// Converts a fault of the instruction at `pc` to an error. `first_thread` is the index of lane 0's thread in its
    /// group.
    pub fn error(&self, fault: Fault, pc: usize, group: &impl Origin, first_thread: usize) -> RunError {
        let place = |lane: usize| self.place(pc, group, Some(first_thread + lane));
        match fault {
            Fault::Unsupported(what) => RunError::Unsupported { place: self.place(pc, group, None), what },
            Fault::Memory { lane, fault } => RunError::Memory { place: place(lane), fault },
            Fault::Host { lane, error } => RunError::Host { place: place(lane), error },
            Fault::PixelIndex { lane, index } => RunError::PixelIndex { place: place(lane), index },
            Fault::Misaligned { lane, address } => RunError::Misaligned { place: place(lane), address },
            Fault::OutOfProgram { lane, target } => {
                RunError::OutOfProgram { place: place(lane), target, words: self.words.len() }
            }
        }
    }

    /// Describes the place of a word, for errors.
    pub fn place(&self, pc: usize, group: &impl Origin, thread: Option<usize>) -> Box<Place> {
        Box::new(Place {
            pc,
            stage: group.stage(),
            group: group.group(),
            thread: thread.map(|index| group.thread(index)),
            lane: thread.map(|index| (index % LANES) as u8),
            text: self.text(pc),
        })
    }
}

fn slot(word: u64) -> Slot {
    match Decoder::get().decode(word) {
        Some((instruction, after)) => Slot::Ready(instruction, after),
        None => match isaforge_valhall::decode(word) {
            Ok(instruction) => Slot::Register(beyond(instruction).unwrap_or_default()),
            Err(error) => Slot::Undecodable(Box::new(error)),
        },
    }
}

/// Decodes words that can be executed, by properties that the tables give for all words.
#[derive(Debug)]
pub(super) struct Decoder {
    /// The bits of the flow modifier, and their value where threads end. All instructions have them at the same place,
    /// but the generated accessors are methods of the individual forms.
    flow: u64,
    end: u64,
    /// For each form, the bits that are set in every word whose result of several registers may begin at the last
    /// register;
    /// `None` if the form has no such result.
    pairs: Vec<Option<u64>>,
    /// The bits that all these have in common.
    last: u64,
    /// The bits of the page of special values, and their value for the page of the thread-local pointer.
    page: u64,
    thread_page: u64,
}

impl Decoder {
    /// Returns the only decoder.
    pub fn get() -> &'static Self {
        &DECODER
    }

    /// Decodes an instruction and its flow. `None` when the word is not an instruction, or names a register beyond the
    /// last.
    #[inline(always)]
    pub fn decode(&self, word: u64) -> Option<(Instruction, After)> {
        let instruction = isaforge_valhall::decode(word).ok()?;
        if self.may_go_beyond(word) && self.goes_beyond(instruction, word) {
            return None;
        }
        Some((instruction, if word & self.flow == self.end { After::End } else { After::Next }))
    }

    /// Whether a word may name a register beyond the last. Most words cannot.
    #[inline(always)]
    pub fn may_go_beyond(&self, word: u64) -> bool {
        word & self.last == self.last
    }

    #[inline(never)]
    fn goes_beyond(&self, instruction: Instruction, word: u64) -> bool {
        let bits = self.pairs.get(instruction.opcode() as usize).copied().flatten();
        bits.is_some_and(|bits| word & bits == bits) && beyond(instruction).is_some()
    }
}

/// Returns the last register that an instruction writes, if that register does not exist. Lists cannot extend beyond
/// the last register, but pairs can. Registers that are only read are not checked: the instruction may need just the
/// low word.
#[inline(never)]
fn beyond(instruction: Instruction) -> Option<u16> {
    let written = instruction.writes().filter(|used| used.bank == REGISTERS && used.count > 0);
    written.map(|used| used.first + used.count - 1).max().filter(|&last| last > LAST_REGISTER)
}

/// The bits that hold the register number of an operand; 0 if the operand may be something else.
fn number(isa: &Isa, operand: &Operand) -> u64 {
    let Shape::One { kind, at } = operand.shape else { return 0 };
    match isa.kinds.get(usize::from(kind)).map(|kind| kind.alternatives) {
        Some([Alternative { fields: [Field { bits, ty: Type::Register(_), .. }], .. }]) => bits.mask(at),
        _ => 0,
    }
}

static DECODER: LazyLock<Decoder> = LazyLock::new(|| {
    let isa = isaforge_valhall::ISA;
    let width = isa.banks[REGISTERS as usize].width;
    let pairs = |form: &Form| {
        let written = |operand: &&Operand| matches!(operand.access, Access::Write | Access::ReadWrite);
        let mut pairs = form.operands.iter().filter(written).filter(|operand| operand.size > width);
        match (pairs.next()?, pairs.next()) {
            (operand, None) if operand.size == 2 * width => Some(number(isa, operand)),
            // Any word of the form may do so.
            _ => Some(0),
        }
    };
    // Without a flow modifier, no word ends a thread.
    let (flow, end) = isa.forms.iter().find_map(flow).unwrap_or((0, 1));
    let pairs: Vec<_> = isa.forms.iter().map(pairs).collect();
    let last = pairs.iter().flatten().fold(u64::MAX, |all, bits| all & bits);
    let page = isa.shared[PAGE].bits;
    Decoder { flow, end, pairs, last, page: page.mask(0), thread_page: page.set(0, 0, THREAD_PAGE) }
});

/// The bits of a form's flow modifier, and their value where threads end. A test checks that all forms agree.
fn flow(form: &Form) -> Option<(u64, u64)> {
    let end = SEMANTICS.flow.iter().find(|does| does.ends)?;
    let flow = form.modifiers.iter().find(|modifier| modifier.name == end.modifier)?;
    Some((flow.bits.mask(0), flow.bits.set(0, 0, end.value)))
}

/// The index of the bank of general registers in `ISA.banks`, checked by a test.
pub(super) const REGISTERS: u16 = 0;
const LAST_REGISTER: u16 = 63;
/// The index in `ISA.shared` of the field for the page of special values, and the page of the thread-local pointer,
/// both checked by a test.
const PAGE: usize = 0;
const THREAD_PAGE: u64 = 1;

/// Whether a source is the thread-local pointer.
#[cold]
fn names_thread_memory(word: u64, line: &mut Line) -> bool {
    let Some((instruction, _)) = Decoder::get().decode(word) else { return false };
    line.clear();
    instruction.print(line);
    line.as_str().contains(FauSpecialPage1::ThreadLocalPointer.as_str())
}

/// Counts how often each instruction was executed.
#[derive(Debug)]
pub(super) struct Profile {
    counts: [u64; Opcode::COUNT],
    /// The opcodes with counts above 0; they are few.
    executed: Vec<Opcode>,
}

impl Profile {
    pub fn new() -> Self {
        Profile { counts: [0; Opcode::COUNT], executed: Vec::new() }
    }

    pub fn count(&mut self, instruction: Instruction, threads: u64) {
        let opcode = instruction.opcode();
        // An opcode is an index below `COUNT`.
        if let Some(count) = self.counts.get_mut(opcode as usize) {
            if *count == 0 && threads > 0 {
                self.executed.push(opcode);
            }
            *count += threads;
        }
    }

    pub fn sorted(&self) -> Vec<(&'static str, u64)> {
        let count = |opcode: &Opcode| (opcode.mnemonic(), self.counts[*opcode as usize]);
        let mut counts: Vec<_> = self.executed.iter().map(count).collect();
        counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        counts
    }
}

/// The register of a source, if it is one.
pub(super) fn register(source: Source) -> Option<usize> {
    match source {
        Source::Register(r) | Source::LastUse(r) => Some(r.index()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_register_bank_is_where_it_is_expected() {
        let bank = &isaforge_valhall::ISA.banks[REGISTERS as usize];
        assert_eq!((bank.name, bank.count), ("register", u32::from(LAST_REGISTER) + 1));
    }

    #[test]
    fn all_instructions_have_their_flow_in_the_same_place() {
        let expected = Some((DECODER.flow, DECODER.end));
        assert!(isaforge_valhall::ISA.forms.iter().all(|form| flow(form) == expected));
    }

    #[test]
    fn a_pair_may_not_begin_in_the_last_register() {
        let highest = |text: &str| {
            let words = isaforge_core::program::assemble(isaforge_valhall::ISA, text).unwrap();
            let opcode = isaforge_valhall::decode(words[0]).unwrap().opcode() as usize;
            // The bits of the destination, which here names the last register.
            let destination = DECODER.pairs[opcode].unwrap();
            assert_eq!(destination.count_ones(), 6);
            let moved = words[0] & !destination | 5 << destination.trailing_zeros();
            [words[0], moved].map(|word| matches!(slot(word), Slot::Register(64)))
        };
        assert_eq!(highest("IADD.u64 r63, r0, r2"), [true, false]);
        assert_eq!(highest("SHADDX.u64 r63, u0, r60.w0, shift:0x2"), [true, false]);
    }

    #[test]
    fn thread_memory_is_found_where_it_is_named() {
        let uses = |text: &str| {
            let words = isaforge_core::program::assemble(isaforge_valhall::ISA, text).unwrap();
            Program::new(&words).uses_thread_memory
        };
        assert!(uses("MOV.i32 r4, thread_local_pointer.w0"));
        assert!(!uses("MOV.i32 r4, workgroup_local_pointer.w0\nMOV.i32 r4, lane_id.w0\nMOV.i32 r4, u0"));
    }
}
