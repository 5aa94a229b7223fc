//! A program, decoded once before it runs.

use std::sync::LazyLock;

use isaforge_core::bits::Bits;
use isaforge_core::table::Access;
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
        let slots: Vec<Slot> = words.iter().map(|&word| slot(word, &FORMS)).collect();
        let mut line = Line::new();
        let uses_thread_memory = slots.iter().any(|slot| match slot {
            Slot::Ready(instruction, _) => names_thread_memory(*instruction, &mut line),
            _ => false,
        });
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
    let form = forms.get(instruction.opcode() as usize).copied().unwrap_or_default();
    // Lists cannot go beyond the last register, pairs can. Those that are only read are left alone: the instruction may
    // need just the low word.
    if form.writes_pairs {
        let written = instruction.writes().filter(|used| used.bank == REGISTERS && used.count > 0);
        let last = written.map(|used| used.first + used.count - 1).max();
        if let Some(register) = last.filter(|&last| last > LAST_REGISTER) {
            return Slot::Register(register);
        }
    }
    let flow = form.flow.and_then(|bits| Flow::from_bits(bits.get(word, 0)));
    Slot::Ready(instruction, if flow == Some(Flow::End) { After::End } else { After::Next })
}

/// What the tables say of all words of an instruction, found once: words are many.
#[derive(Clone, Copy, Debug, Default)]
struct Form {
    /// Where its flow lies. All have one, but the generated accessors are methods of the single forms.
    flow: Option<Bits>,
    /// Whether it writes values of more than one register.
    writes_pairs: bool,
}

static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let isa = isaforge_valhall::ISA;
    let width = isa.banks[REGISTERS as usize].width;
    let form = |form: &isaforge_core::table::Form| Form {
        flow: form.modifiers.iter().find(|modifier| modifier.name == "flow").map(|modifier| modifier.bits),
        writes_pairs: form
            .operands
            .iter()
            .any(|operand| matches!(operand.access, Access::Write | Access::ReadWrite) && operand.size > width),
    };
    isa.forms.iter().map(form).collect()
});

/// The bank of general registers among `ISA.banks`; a test holds it to that.
const REGISTERS: u16 = 0;
const LAST_REGISTER: u16 = 63;
/// The field among `ISA.shared` that says the page of special values, and the page of the thread-local pointer; a test
/// holds them to that.
const PAGE: usize = 0;
const THREAD_PAGE: u64 = 1;

/// Whether a source is the thread-local pointer. Few words name its page, and only those are worth printing.
fn names_thread_memory(instruction: Instruction, line: &mut Line) -> bool {
    if isaforge_valhall::ISA.shared[PAGE].bits.get(instruction.encode(), 0) != THREAD_PAGE {
        return false;
    }
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
    fn thread_memory_is_found_where_it_is_named() {
        let uses = |text: &str| {
            let words = isaforge_core::program::assemble(isaforge_valhall::ISA, text).unwrap();
            Program::new(&words).uses_thread_memory
        };
        assert!(uses("MOV.i32 r4, thread_local_pointer.w0"));
        assert!(!uses("MOV.i32 r4, workgroup_local_pointer.w0\nMOV.i32 r4, lane_id.w0\nMOV.i32 r4, u0"));
    }
}
