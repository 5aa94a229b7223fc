//! A program, decoded once before it runs.

use std::sync::LazyLock;

use isaforge_core::Isa;
use isaforge_core::table::{Access, Alternative, Field, Operand, Shape, Type};
use isaforge_core::text::Line;
use isaforge_valhall::{DecodeError, FauSpecialPage1, Flow, Instruction, Opcode, Source};

/// A word of a program.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// An instruction and what happens after it.
    Ready(Instruction, After),
    /// Not an instruction. An error only when a thread comes here, for programs are padded with such words. In a box, for
    /// the other slots are far smaller.
    Undecodable(Box<DecodeError>),
    /// An instruction that names a register beyond the last.
    Register(u16),
}

/// What happens after an instruction, besides waiting for messages: those are always complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// The next instruction.
    Next,
    /// The thread is done.
    End,
}

/// The decoded words and what can be said of them as a whole.
#[derive(Debug)]
pub(super) struct Program<'a> {
    pub words: &'a [u64],
    pub slots: Vec<Slot>,
    /// Whether any instruction asks for thread memory.
    pub uses_thread_memory: bool,
}

impl<'a> Program<'a> {
    pub fn new(words: &'a [u64]) -> Self {
        let Facts { forms, page, thread_page } = &*FACTS;
        let mut slots = Vec::with_capacity(words.len());
        slots.extend(words.iter().map(|&word| slot(word, forms)));
        // Few words name the page, and only those are worth printing.
        let mut line = Line::new();
        let mut named = words.iter().zip(&slots).filter(|(word, _)| *word & page == *thread_page);
        let uses_thread_memory = named.any(|(_, slot)| names_thread_memory(slot, &mut line));
        Program { words, slots, uses_thread_memory }
    }

    /// The text of a word, for errors.
    pub fn text(&self, pc: usize) -> String {
        let Some(&word) = self.words.get(pc) else { return String::new() };
        match self.slots.get(pc) {
            Some(Slot::Ready(instruction, _)) => instruction.to_string(),
            _ => match isaforge_valhall::decode(word) {
                Ok(instruction) => instruction.to_string(),
                Err(_) => format!(".word {word:#018x}"),
            },
        }
    }
}

/// Inlined, so that a slot is written where it stays and not copied.
#[inline(always)]
fn slot(word: u64, forms: &[Form]) -> Slot {
    let instruction = match isaforge_valhall::decode(word) {
        Ok(instruction) => instruction,
        Err(error) => return Slot::Undecodable(Box::new(error)),
    };
    let form = forms.get(instruction.opcode() as usize).unwrap_or(&Form::NONE);
    if form.writes_pairs
        && word & form.highest == form.highest
        && let Some(register) = beyond(instruction)
    {
        return Slot::Register(register);
    }
    Slot::Ready(instruction, if word & form.flow == form.end { After::End } else { After::Next })
}

/// The last register that an instruction writes, if there is none such. Lists cannot go beyond the last register, pairs can.
/// Those that are only read are left alone: the instruction may need just the low word.
#[inline(never)]
fn beyond(instruction: Instruction) -> Option<u16> {
    let written = instruction.writes().filter(|used| used.bank == REGISTERS && used.count > 0);
    written.map(|used| used.first + used.count - 1).max().filter(|&last| last > LAST_REGISTER)
}

/// What the tables say of all words of an instruction, found once: words are many.
#[derive(Clone, Copy, Debug)]
struct Form {
    /// The bits of its flow, which all have, but the generated accessors are methods of the single forms.
    flow: u64,
    /// What they are where threads end.
    end: u64,
    /// Whether it writes values of more than one register.
    writes_pairs: bool,
    /// Bits that are set where such a value begins in the last register; none where it cannot be said so simply.
    highest: u64,
}

impl Form {
    /// Nothing: the bits of no flow are never what they should be.
    const NONE: Form = Form { flow: 0, end: 1, writes_pairs: false, highest: 0 };
}

/// What the tables say of all words.
struct Facts {
    forms: Vec<Form>,
    /// The bits of the page of special values, and what they are where the page is that of the thread-local pointer.
    page: u64,
    thread_page: u64,
}

/// The bits of an operand that say which register it is, if it is always one.
fn number(isa: &Isa, operand: &Operand) -> u64 {
    let Shape::One { kind, at } = operand.shape else { return 0 };
    match isa.kinds.get(usize::from(kind)).map(|kind| kind.alternatives) {
        Some([Alternative { fields: [Field { bits, ty: Type::Register(_), .. }], .. }]) => bits.mask(at),
        _ => 0,
    }
}

static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let isa = isaforge_valhall::ISA;
    let width = isa.banks[REGISTERS as usize].width;
    let form = |form: &isaforge_core::table::Form| {
        let flow = form.modifiers.iter().find(|modifier| modifier.name == "flow").map(|modifier| modifier.bits);
        let written = |operand: &&Operand| matches!(operand.access, Access::Write | Access::ReadWrite);
        let mut pairs = form.operands.iter().filter(written).filter(|operand| operand.size > width);
        let (first, others) = (pairs.next(), pairs.next());
        let highest = match (first, others) {
            (Some(operand), None) if operand.size == 2 * width => number(isa, operand),
            _ => 0,
        };
        let unending = Form { writes_pairs: first.is_some(), highest, ..Form::NONE };
        flow.map_or(unending, |bits| Form { flow: bits.mask(0), end: bits.set(0, 0, Flow::End.bits()), ..unending })
    };
    let page = isa.shared[PAGE].bits;
    Facts { forms: isa.forms.iter().map(form).collect(), page: page.mask(0), thread_page: page.set(0, 0, THREAD_PAGE) }
});

/// The bank of general registers among `ISA.banks`; a test holds it to that.
const REGISTERS: u16 = 0;
const LAST_REGISTER: u16 = 63;
/// The field among `ISA.shared` that says the page of special values, and the page of the thread-local pointer; a test
/// holds them to that.
const PAGE: usize = 0;
const THREAD_PAGE: u64 = 1;

/// Whether a source is the thread-local pointer.
#[cold]
fn names_thread_memory(slot: &Slot, line: &mut Line) -> bool {
    let Slot::Ready(instruction, _) = slot else { return false };
    line.clear();
    instruction.print(line);
    line.as_str().contains(FauSpecialPage1::ThreadLocalPointer.as_str())
}

/// How often each instruction was executed.
#[derive(Debug)]
pub(super) struct Profile([u64; Opcode::COUNT]);

impl Profile {
    pub fn new() -> Self {
        Profile([0; Opcode::COUNT])
    }

    pub fn count(&mut self, instruction: Instruction, threads: u64) {
        // An opcode is an index below `COUNT`.
        if let Some(count) = self.0.get_mut(instruction.opcode() as usize) {
            *count += threads;
        }
    }

    pub fn sorted(&self) -> Vec<(&'static str, u64)> {
        let mut counts: Vec<_> = Opcode::ALL
            .into_iter()
            .zip(self.0)
            .filter(|&(_, count)| count > 0)
            .map(|(opcode, count)| (opcode.mnemonic(), count))
            .collect();
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
    fn a_pair_may_not_begin_in_the_last_register() {
        let highest = |text: &str| {
            let words = isaforge_core::program::assemble(isaforge_valhall::ISA, text).unwrap();
            let Facts { forms, .. } = &*FACTS;
            let opcode = isaforge_valhall::decode(words[0]).unwrap().opcode() as usize;
            assert!(forms[opcode].writes_pairs);
            // The bits of the destination, which is the last register here.
            let moved = words[0] & !forms[opcode].highest | 5 << forms[opcode].highest.trailing_zeros();
            [words[0], moved].map(|word| matches!(Program::new(&[word]).slots[0], Slot::Register(64)))
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
