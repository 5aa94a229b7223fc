//! Random programs whose lanes diverge and reconverge, run on the machine and one thread at a time.
//!
//! A program is a flat list of operations, made from nested loops and branches. It is printed as assembly, and executed
//! by [`Alone`] for a single thread that has only a program counter and registers.

use std::fmt::Write as _;

use isaforge_runtime::{Launch, Level, Memory, RunError, valhall};

use super::{OUT, assemble, to_words};

/// The registers in which programs compute; loop counters are above them.
const DATA: u8 = 8;
const COUNTERS: u8 = 20;
/// The register with the thread's number.
const SELF: u8 = 50;
const THREADS: usize = 36;

/// An operation. Registers are 32 bits wide.
#[derive(Clone, Copy, Debug)]
enum Op {
    Set(u8, u32),
    Copy(u8, u8),
    Add(u8, u8, u8),
    Mul(u8, u8, u8),
    Xor(u8, u8, u8),
    /// All ones if less, unsigned.
    Less(u8, u8, u8),
    /// The low bits of a register.
    Low(u8, u8, u32),
    /// Branches to a label if the register is zero, or if it is not zero.
    Branch {
        register: u8,
        if_zero: bool,
        label: usize,
    },
    Label(usize),
    /// Writes a register to the thread's slot in workgroup memory.
    Give(u8),
    /// Reads the slot of the thread that is this many threads later, wrapping around.
    Take(u8, u32),
    Barrier,
    /// Writes four registers to the thread's slot in memory, and ends.
    End,
}

impl Op {
    fn text(self) -> String {
        match self {
            Op::Set(r, value) => format!("IADD_IMM.i32 r{r}, 0x0, #{value:#x}"),
            Op::Copy(r, a) => format!("MOV.i32 r{r}, r{a}"),
            Op::Add(r, a, b) => format!("IADD.u32 r{r}, r{a}, r{b}"),
            Op::Mul(r, a, b) => format!("IMUL.i32 r{r}, r{a}, r{b}"),
            Op::Xor(r, a, b) => format!("LSHIFT_XOR.i32 r{r}, r{a}, 0x0.b00, r{b}"),
            Op::Less(r, a, b) => format!("ICMP.u32.lt.m1 r{r}, r{a}, r{b}, 0x0"),
            Op::Low(r, a, bits) => {
                format!("IADD_IMM.i32 r40, 0x0, #{:#x}\nLSHIFT_AND.i32 r{r}, r{a}, 0x0.b00, r40", (1u32 << bits) - 1)
            }
            Op::Branch { register, if_zero, label } => {
                let condition = if if_zero { ".eq" } else { "" };
                format!("BRANCHZ{condition}.reconverge r{register}, offset:l{label}")
            }
            Op::Label(label) => format!("l{label}:"),
            Op::Give(r) => format!("MOV.i32 r41, r{r}\nSTORE.i32.slot0 @r41, r44, offset:0"),
            Op::Take(r, further) => format!(
                "IADD_IMM.i32 r40, r{SELF}, #{further:#x}
                ICMP.u32.lt.m1 r41, r40, u2, 0x0
                MUX.i32.int_zero r41, u2, 0x0, r41
                ISUB.u32 r40, r40, r41
                SHADDX.u64 r46, workgroup_local_pointer.w0, r40.w0, shift:0x2
                LOAD.i32.unsigned.slot0.wait0 @r{r}, r46, offset:0"
            ),
            Op::Barrier => "BARRIER.slot7.wait".into(),
            Op::End => "STORE.i128.slot0.end @r0:r1:r2:r3, r48, offset:0".into(),
        }
    }

    /// The number of its instructions.
    fn instructions(self) -> u64 {
        self.text().lines().filter(|line| !line.ends_with(':')).count() as u64
    }
}

fn source(program: &[Op]) -> String {
    let mut text = format!(
        "U16_TO_U32 r{SELF}, r55.h00
        SHADDX.u64 r48, u0, r{SELF}.w0, shift:0x4
        SHADDX.u64 r44, workgroup_local_pointer.w0, r{SELF}.w0, shift:0x2\n"
    );
    for op in program {
        let _ = writeln!(text, "{}", op.text());
    }
    text
}

/// A thread that executes by itself.
#[derive(Clone)]
struct Alone {
    pc: usize,
    registers: [u32; 64],
    ended: bool,
}

/// The results of all threads, or their failure.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Done {
        memory: Vec<u32>,
        instructions: u64,
    },
    /// Some threads wait at a barrier, and others have ended or wait at another one.
    Stuck,
}

/// Runs every thread separately from barrier to barrier.
fn one_at_a_time(program: &[Op]) -> Outcome {
    let mut label = vec![0; program.len()];
    for (at, op) in program.iter().enumerate() {
        if let Op::Label(number) = op {
            label[*number] = at;
        }
    }
    let mut threads = vec![Alone { pc: 0, registers: [0; 64], ended: false }; THREADS];
    let (mut given, mut memory) = (vec![0; THREADS], vec![0; 4 * THREADS]);
    let mut instructions = 3 * THREADS as u64;
    for (number, thread) in threads.iter_mut().enumerate() {
        thread.registers[SELF as usize] = number as u32;
    }
    loop {
        for (number, thread) in threads.iter_mut().enumerate().filter(|(_, thread)| !thread.ended) {
            loop {
                let op = program[thread.pc];
                thread.pc += 1;
                instructions += op.instructions();
                let r = &mut thread.registers;
                let get = |register: u8| r[register as usize];
                let (to, value) = match op {
                    Op::Set(to, value) => (to, value),
                    Op::Copy(to, a) => (to, get(a)),
                    Op::Add(to, a, b) => (to, get(a).wrapping_add(get(b))),
                    Op::Mul(to, a, b) => (to, get(a).wrapping_mul(get(b))),
                    Op::Xor(to, a, b) => (to, get(a) ^ get(b)),
                    Op::Less(to, a, b) => (to, if get(a) < get(b) { u32::MAX } else { 0 }),
                    Op::Low(to, a, bits) => (to, get(a) & ((1 << bits) - 1)),
                    Op::Take(to, further) => (to, given[(number + further as usize) % THREADS]),
                    Op::Give(a) => {
                        given[number] = get(a);
                        continue;
                    }
                    Op::Branch { register, if_zero, label: to } => {
                        if (get(register) == 0) == if_zero {
                            thread.pc = label[to];
                        }
                        continue;
                    }
                    Op::Label(_) => continue,
                    Op::Barrier => break,
                    Op::End => {
                        memory[4 * number..][..4].copy_from_slice(&r[..4]);
                        thread.ended = true;
                        break;
                    }
                };
                r[to as usize] = value;
            }
        }
        if threads.iter().all(|thread| thread.ended) {
            return Outcome::Done { memory, instructions };
        }
        if threads.iter().any(|thread| thread.ended || thread.pc != threads[0].pc) {
            return Outcome::Stuck;
        }
    }
}

/// Runs the program on the machine by both engines, and by the fast path with all loops compiled too.
fn on_warps(program: &[Op]) -> Result<Outcome, RunError> {
    let launch = Launch {
        program: assemble(&source(program)),
        local_size: [THREADS as u32, 1, 1],
        uniforms: vec![OUT as u32, 0, THREADS as u32],
        shared_bytes: 4 * THREADS as u32,
        budget: 10_000_000,
        ..Launch::default()
    };
    type Run = fn(&Launch, &mut Memory) -> Result<isaforge_runtime::Outcome, RunError>;
    let eager: Run = |launch, memory| valhall::fast::run(launch, memory, Level::best().eager());
    let [plain, fast, eager] = [valhall::reference::run, valhall::run, eager].map(|run| {
        let mut memory = Memory::new();
        memory.map(OUT, vec![0; 16 * THREADS]).unwrap();
        let outcome = run(&launch, &mut memory)?;
        let memory = to_words(memory.region(OUT).unwrap());
        Ok(Outcome::Done { memory, instructions: outcome.thread_instructions })
    });
    assert_eq!(plain, fast);
    assert_eq!(plain, eager);
    plain
}

/// Generates programs. This is the only source of random numbers (splitmix64).
struct Maker {
    seed: u64,
    program: Vec<Op>,
    labels: usize,
}

/// The context of a place in a program.
#[derive(Clone, Copy, Default)]
struct Place {
    depth: u8,
    /// The labels of the next round of the innermost loop, of its end, and of the end of the outermost loop.
    inside: Option<(usize, usize, usize)>,
    may_end: bool,
    may_wait: bool,
}

impl Maker {
    fn below(&mut self, n: u64) -> u64 {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    fn register(&mut self) -> u8 {
        self.below(DATA.into()) as u8
    }

    fn label(&mut self) -> usize {
        self.labels += 1;
        self.labels - 1
    }

    fn compute(&mut self) {
        let (to, a, b) = (self.register(), self.register(), self.register());
        let op = match self.below(8) {
            0 => Op::Set(to, self.below(1 << 32) as u32),
            1 => Op::Copy(to, SELF),
            2 | 3 => Op::Add(to, a, b),
            4 => Op::Mul(to, a, b),
            5 => Op::Xor(to, a, b),
            6 => Op::Less(to, a, b),
            _ => Op::Add(to, a, SELF),
        };
        self.program.push(op);
    }

    /// Branches to a label if some bits of a register are zero, or if they are not.
    fn branch(&mut self, label: usize) {
        let (register, bits) = (self.register(), self.below(3) as u32 + 1);
        self.program.push(Op::Low(42, register, bits));
        let if_zero = self.below(2) == 0;
        self.program.push(Op::Branch { register: 42, if_zero, label });
    }

    fn block(&mut self, place: Place) {
        for _ in 0..1 + self.below(4) {
            self.statement(place);
        }
    }

    fn statement(&mut self, place: Place) {
        let inner = Place { depth: place.depth + 1, ..place };
        match (self.below(10), place.inside) {
            (0..=2, _) if place.depth < 4 => self.either(inner),
            (3 | 4, _) if place.depth < 3 => self.repeat(inner),
            (5, Some((next, leave, leave_all))) => {
                let label = [next, leave, leave_all][self.below(3) as usize];
                self.branch(label);
            }
            (6, _) if place.may_end && self.below(3) == 0 => {
                let on = self.label();
                self.branch(on);
                self.program.extend([Op::End, Op::Label(on)]);
            }
            (7, _) if place.may_wait => self.program.push(Op::Barrier),
            _ => self.compute(),
        }
    }

    fn either(&mut self, place: Place) {
        let (other, join) = (self.label(), self.label());
        self.branch(other);
        self.block(place);
        if self.below(2) == 0 {
            // This branch is always taken.
            self.program.push(Op::Set(43, 0));
            self.program.push(Op::Branch { register: 43, if_zero: true, label: join });
            self.program.push(Op::Label(other));
            self.block(place);
        } else {
            self.program.push(Op::Label(other));
        }
        self.program.push(Op::Label(join));
    }

    /// Adds a loop of up to seven rounds, given by a register.
    fn repeat(&mut self, place: Place) {
        let counter = COUNTERS + place.depth;
        let (again, next, leave) = (self.label(), self.label(), self.label());
        let rounds = self.register();
        self.program.push(Op::Low(counter, rounds, 3));
        self.program.push(Op::Branch { register: counter, if_zero: true, label: leave });
        self.program.push(Op::Label(again));
        let outermost = place.inside.map_or(leave, |(_, _, outermost)| outermost);
        self.block(Place { inside: Some((next, leave, outermost)), ..place });
        self.program.extend([Op::Label(next), Op::Set(43, u32::MAX), Op::Add(counter, counter, 43)]);
        self.program.extend([Op::Branch { register: counter, if_zero: false, label: again }, Op::Label(leave)]);
    }

    /// Builds blocks between which all threads meet and read each other's values.
    fn uniform(seed: u64, place: Place) -> Vec<Op> {
        let mut maker = Maker { seed, program: Vec::new(), labels: 0 };
        for register in 0..DATA {
            maker.program.push(Op::Copy(register, SELF));
            maker.compute();
        }
        for _ in 0..maker.below(3) {
            maker.block(Place { may_end: false, ..place });
            let (to, from, further) = (maker.register(), maker.register(), maker.below(THREADS as u64) as u32);
            // The second barrier protects reads from later writes.
            maker.program.extend([Op::Give(from), Op::Barrier, Op::Take(to, further), Op::Barrier]);
        }
        maker.block(place);
        maker.program.push(Op::End);
        maker.program
    }
}

/// The number of random programs of each kind.
const PROGRAMS: u64 = 1500;

#[test]
fn warps_do_what_their_threads_would_do_alone() {
    for seed in 0..PROGRAMS {
        let program = Maker::uniform(seed, Place { may_end: true, ..Place::default() });
        let alone = one_at_a_time(&program);
        assert!(matches!(alone, Outcome::Done { .. }), "program {seed} is not uniform");
        match on_warps(&program) {
            Ok(together) => assert!(together == alone, "program {seed}:\n{}", source(&program)),
            Err(error) => panic!("program {seed}: {error}\n{}", source(&program)),
        }
    }
}

#[test]
fn barriers_anywhere_work_or_are_named() {
    let (mut done, mut named) = (0, 0);
    for seed in 0..PROGRAMS {
        let program = Maker::uniform(seed, Place { may_end: true, may_wait: true, ..Place::default() });
        let alone = one_at_a_time(&program);
        match on_warps(&program) {
            Ok(together) => {
                assert!(together == alone, "program {seed}:\n{}", source(&program));
                done += 1;
            }
            // If threads come to a barrier at different times, it is in divergent flow, even if all of them come.
            Err(error @ (RunError::DivergentBarrier { .. } | RunError::Deadlock { .. })) => {
                let place = error.place().unwrap();
                assert_eq!(place.text, "BARRIER.slot7.wait", "program {seed}");
                let (divergent, lane) = (matches!(error, RunError::DivergentBarrier { .. }), place.lane);
                assert_eq!(divergent, lane.is_some(), "program {seed}");
                named += 1;
            }
            Err(error) => panic!("program {seed}: {error}"),
        }
    }
    assert!(done > PROGRAMS / 10 && named > PROGRAMS / 10, "{done} {named}");
}
