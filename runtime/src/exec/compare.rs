//! Runs a program by the evaluator and by another engine, and finds where they first differ.

use std::fmt;

use isaforge_core::machine::{Hardware, Host, Machine, Reason, Register, SpanBytes, Stop, Trap};

use super::Executor;

/// The number of instructions between two comparisons.
const SLICE: u64 = 1 << 16;

/// How an engine differs from the evaluator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The number of instructions executed when it was found; after one less, both agree.
    pub executed: u64,
    /// The last of these instructions in the evaluator, with its address, where it is known.
    pub place: Option<(u64, String)>,
    /// The difference.
    pub what: What,
}

/// What differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A register.
    Register {
        /// Its name, with the lane if there are several.
        name: String,
        /// Its content in the engine.
        found: u64,
        /// Its content in the evaluator.
        expected: u64,
    },
    /// A byte of memory.
    Memory {
        /// Its address.
        address: u64,
        /// Its content in the engine.
        found: u8,
        /// Its content in the evaluator.
        expected: u8,
    },
    /// A state, the order of execution, the output to a stream, or how the program ended.
    Other {
        /// In the engine.
        found: String,
        /// In the evaluator.
        expected: String,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "differs after instruction {}", self.executed)?;
        if let Some((pc, text)) = &self.place {
            write!(f, ", at {pc:#x}: {text}")?;
        }
        match &self.what {
            What::Register { name, found, expected } => {
                write!(f, ": {name} is {found:#x}, in the reference {expected:#x}")
            }
            What::Memory { address, found, expected } => {
                write!(f, ": the byte at {address:#x} is {found:#04x}, in the reference {expected:#04x}")
            }
            What::Other { found, expected } => write!(f, ": {found}, in the reference {expected}"),
        }
    }
}

/// The output of a program to streams: the number of bytes, and a hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Written {
    bytes: u64,
    hash: u64,
}

impl<const L: usize> Host<L> for Written {
    fn write(&mut self, stream: u64, bytes: &[u8]) -> Result<(), String> {
        self.bytes += bytes.len() as u64;
        for byte in stream.to_le_bytes().iter().chain(bytes) {
            // FNV-1a.
            self.hash = (self.hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
        Ok(())
    }
}

/// How a program ended. [`Reason::Budget`] means that it is still running.
type Ended = Result<Stop, Trap>;

fn goes_on(ended: &Ended) -> bool {
    matches!(ended, Err(Trap { reason: Reason::Budget(_), .. }))
}

/// A program on both engines.
struct Pair<const L: usize, E> {
    reference: (Machine<L>, Written),
    other: (Machine<L>, Written),
    engine: E,
}

impl<const L: usize, E: Executor<L>> Pair<L, E> {
    fn new(machine: &mut impl FnMut() -> Machine<L>, engine: E) -> Self {
        Pair { reference: (machine(), Written::default()), other: (machine(), Written::default()), engine }
    }

    fn run(&mut self, budget: u64) -> (Ended, Ended) {
        let Pair { reference, other, engine } = self;
        let expected = reference.0.run(&mut reference.1, budget);
        (engine.run(&mut other.0, &mut other.1, budget), expected)
    }

    /// Returns the difference, if there is one.
    fn difference(&mut self, (found, expected): &(Ended, Ended)) -> Option<What> {
        let (ours, theirs) = (&mut self.other.0, &mut self.reference.0);
        let hardware = theirs.hardware();
        if ours.parts().values != theirs.parts().values {
            let all = registers(hardware).flat_map(|register| (0..L).map(move |lane| (register, lane)));
            let differs = all.into_iter().find_map(|(register, lane)| {
                let (found, expected) = (ours.read(register, lane)?, theirs.read(register, lane)?);
                let place = if L > 1 { format!(" in lane {lane}") } else { String::new() };
                let name = || format!("{}{place}", hardware.name(register));
                (found != expected).then(|| What::Register { name: name(), found, expected })
            });
            let other = || What::Other { found: "a state differs".into(), expected: "it does not".into() };
            return Some(differs.unwrap_or_else(other));
        }
        for (ours, theirs) in ours.parts().memory.spans().zip(theirs.parts().memory.spans()) {
            let (found, expected) = (bytes(&ours.bytes), bytes(&theirs.bytes));
            if found != expected {
                let at = found.iter().zip(expected).position(|(found, expected)| found != expected)?;
                let address = ours.base.wrapping_add(at as u64);
                return Some(What::Memory { address, found: found[at], expected: expected[at] });
            }
        }
        if self.other.1 != self.reference.1 {
            let told = |written: Written| format!("{} bytes were written", written.bytes);
            return Some(What::Other { found: told(self.other.1), expected: told(self.reference.1) });
        }
        let place = |machine: &Machine<L>| (machine.pc(), machine.executed());
        let places = (place(ours), place(theirs));
        let lanes = |machine: &Machine<L>| {
            let pcs: [_; L] = std::array::from_fn(|lane| machine.pc_of(lane));
            (machine.live(), machine.waiting(), machine.masked(), pcs)
        };
        if places.0 == places.1 && lanes(ours) != lanes(theirs) {
            let told =
                |machine: &Machine<L>| format!("the lanes are at {:x?}", lanes(machine).3.map(|pc| pc.unwrap_or(0)));
            return Some(What::Other { found: told(ours), expected: told(theirs) });
        }
        if !(found == expected || goes_on(found) && goes_on(expected)) || places.0 != places.1 {
            let told = |ended: &Ended, (pc, executed): (u64, u64)| match ended {
                ended if goes_on(ended) => format!("at {pc:#x} after {executed} instructions"),
                Ok(stop) => format!("{stop:?} at {pc:#x} after {executed} instructions"),
                Err(trap) => trap.to_string(),
            };
            return Some(What::Other { found: told(found, places.0), expected: told(expected, places.1) });
        }
        None
    }
}

fn bytes<'a>(span: &'a SpanBytes<'_>) -> &'a [u8] {
    match span {
        SpanBytes::Read(bytes) => bytes,
        SpanBytes::Write(bytes) => bytes,
    }
}

fn registers(hardware: &Hardware) -> impl Iterator<Item = Register> {
    let banks = hardware.banks.iter().zip(0..);
    banks.flat_map(|(bank, number)| (0..bank.count).map(move |index| Register { bank: number, index }))
}

/// Runs a program on both engines until it ends, `budget` instructions have been executed, or `continues` returns
/// false, which counts as [`Stop::Host`]. Returns how the reference ended, and after how many instructions; the other
/// engine ended in the same way.
///
/// # Errors
/// The first difference. Machine code executes whole blocks, so the named instruction may be the last one of a block.
pub fn compare<const L: usize, E: Executor<L>>(
    mut machine: impl FnMut() -> Machine<L>,
    engine: impl Fn() -> E,
    budget: u64,
    mut continues: impl FnMut() -> bool,
) -> Result<(Ended, u64), Difference> {
    let mut pair = Pair::new(&mut machine, engine());
    let mut left = budget;
    loop {
        let slice = left.min(SLICE);
        let ended = pair.run(slice);
        if pair.difference(&ended).is_some() {
            return Err(first(&mut machine, &engine, budget - left, slice));
        }
        left -= slice;
        let (pc, executed) = (pair.reference.0.pc(), pair.reference.0.executed());
        match ended.1 {
            ended if !goes_on(&ended) => return Ok((ended, executed)),
            _ if left == 0 => return Ok((Err(Trap { pc, reason: Reason::Budget(budget) }), executed)),
            _ if !continues() => return Ok((Ok(Stop::Host), executed)),
            _ => {}
        }
    }
}

/// Finds the first difference within `slice` instructions, given that both agree after `before`.
fn first<const L: usize, E: Executor<L>>(
    machine: &mut impl FnMut() -> Machine<L>,
    engine: &impl Fn() -> E,
    before: u64,
    slice: u64,
) -> Difference {
    let mut after = |count: u64| {
        let mut pair = Pair::new(machine, engine());
        let mut left = before;
        while left > 0 {
            _ = pair.run(left.min(SLICE));
            left -= left.min(SLICE);
        }
        // Executes the last instruction alone, to find its address.
        let (reference, written) = &mut pair.reference;
        let mut expected = reference.run(written, count - 1);
        let (at, text) = (reference.pc(), reference.text(reference.pc()));
        if goes_on(&expected) {
            expected = reference.run(written, 1);
        }
        let found = pair.engine.run(&mut pair.other.0, &mut pair.other.1, count);
        let what = pair.difference(&(found, expected));
        what.map(|what| Difference { executed: before + count, place: text.map(|text| (at, text)), what })
    };
    let (mut same, mut differs) = (0, slice);
    while differs - same > 1 {
        let middle = same + (differs - same) / 2;
        if after(middle).is_some() { differs = middle } else { same = middle }
    }
    let unseen = What::Other { found: "it differs".into(), expected: "not when executed again".into() };
    after(differs).unwrap_or(Difference { executed: before + slice, place: None, what: unseen })
}
