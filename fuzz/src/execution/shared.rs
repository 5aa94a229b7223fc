//! Valhall programs whose threads share memory, on every engine: divergent lanes, barriers, regular and irregular
//! addresses, atomics, and the bounds of memory. No thread reads what another thread writes without a barrier in
//! between.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::num::NonZero;
use std::ops::ControlFlow;

use isaforge_core::program::assemble;
use isaforge_core::sample::Random;
use isaforge_runtime::machine::{Access, AccessKind, AccessObserver, Accesses, Machine, Observer, View};
use isaforge_runtime::valhall::compare::compare;
use isaforge_runtime::valhall::host::Resources;
use isaforge_runtime::valhall::watched::Watched;
use isaforge_runtime::valhall::{fast, reference};
use isaforge_runtime::{Deadline, Execution, Launch, Level, Memory};
use isaforge_valhall::ISA;

/// The addresses from which threads read, to which each thread writes a word at times and one at its end, and at which
/// atomics count.
const IN: u64 = 0x10_0000;
const OWN: u64 = 0x20_0000;
const OUT: u64 = 0x30_0000;
const COUNTS: u64 = 0x40_0000;
/// An address near which the low words of addresses wrap around.
const WRAPS: u64 = 0xffff_e000;

/// Runs one program on every engine, on one and on two host threads. Returns whether it runs to its end.
///
/// # Panics
/// When the results of an engine differ from those of the reference.
pub fn agree(random: &mut Random) -> bool {
    let local = [128, 256, 128, 100, 40, 16][random.below(6) as usize];
    // If all workgroups take the same path, those after the first few follow a plan.
    let groups = if random.below(3) == 0 { 4 + random.below(9) } else { 1 + random.below(3) } as u32;
    let mut program = Program::new(local, random);
    program.text();
    let Program { text, after, counts, .. } = program;
    let words = assemble(ISA, &text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
    let shared_bytes = after * if counts { 4 } else { 1 + u32::from(random.below(8) > 0) };
    let base = if random.below(4) == 0 { WRAPS } else { IN };
    let further = [0, 4, 64, 512, 0x1000][random.below(5) as usize];
    let rounds = if random.below(16) == 0 { 150 } else { 1 + random.below(4) as u32 };
    let launch = Launch {
        program: words,
        local_size: [local, 1, 1],
        groups: [groups, 1, 1],
        uniforms: [IN, OUT, base, OWN, COUNTS]
            .into_iter()
            .flat_map(|address| [address as u32, 0])
            .chain([further, 0, rounds, 3 * after])
            .collect(),
        shared_bytes,
        // If several workgroups run together, the budget may be exhausted at another place.
        budget: if local > 40 && random.below(8) == 0 { 1000 + random.below(50_000) } else { 1 << 24 },
        ..Launch::default()
    };
    let threads = (local * groups) as usize;
    let mut memory = Memory::new();
    let bytes = |count: usize, random: &mut Random| (0..count).map(|_| random.next() as u8).collect::<Vec<u8>>();
    // In rare cases, some threads read unmapped memory.
    let read = if random.below(16) == 0 { 2 * threads } else { 4 * threads + 0x2000 };
    let mapped = memory
        .map(IN, bytes(read, random))
        .and_then(|()| memory.map(WRAPS, bytes(0x8000, random)))
        .and_then(|()| memory.map(OWN, vec![0; 4 * threads]))
        .and_then(|()| memory.map(OUT, vec![0; 4 * threads]))
        .and_then(|()| memory.map(COUNTS, bytes(0x400, random)));
    mapped.unwrap_or_else(|error| panic!("{error}"));
    let outcome = compare(&launch, &memory, &Execution::available());
    let outcome = outcome.unwrap_or_else(|difference| panic!("{difference}\n{launch:?}\n{text}"));
    if outcome.is_ok() && random.below(4) == 0 {
        let mut expected = memory.clone();
        _ = reference::run(&launch, &mut expected);
        let (level, two) = (Level::best().eager(), NonZero::new(2).expect("it is two"));
        let found = fast::run_parallel(&launch, &mut memory, level, two);
        assert_eq!(found, outcome, "two threads of the host\n{launch:?}\n{text}");
        let left = |memory: &Memory| [OWN, OUT, COUNTS].map(|base| memory.region(base).map(<[u8]>::to_vec));
        assert!(left(&memory) == left(&expected), "two threads of the host\n{launch:?}\n{text}");
    } else if outcome.is_ok() {
        let executions = Execution::available();
        let execution = executions[random.below(executions.len() as u64) as usize];
        let machine = Watched::launch(launch, memory, Resources::default());
        let [mut expected, mut found] = [Accessed::default(), Accessed::default()];
        let ended = machine.run(&mut expected).and(machine.run_accesses(&mut found, execution, Deadline::NONE));
        assert_eq!(ended, Ok(()), "{text}");
        assert!(expected.sorted() == found.sorted(), "accesses observed on {execution}\n{text}");
    }
    outcome.is_ok()
}

/// A word that a lane accesses: its warp, the barriers that the workgroup had passed, the instruction, the lane, the
/// address in words, and the kind of access.
type Word = (u64, u64, u64, u8, u64, u8);

/// The accesses of a run.
#[derive(Default)]
struct Accessed {
    words: Vec<Word>,
    barriers: HashMap<u64, u64>,
}

impl Accessed {
    fn add(&mut self, (warp, group, pc): (u64, u64, u64), lane: usize, access: (AccessKind, u64, u8)) {
        let passed = self.barriers.get(&group).copied().unwrap_or(0);
        let (kind, address, size) = access;
        let words = address / 4..(address + u64::from(size)).div_ceil(4);
        self.words.extend(words.map(|word| (warp, passed, pc, lane as u8, word, kind as u8)));
    }

    fn sorted(mut self) -> (Vec<Word>, HashMap<u64, u64>) {
        self.words.sort_unstable();
        (self.words, self.barriers)
    }
}

impl Observer for Accessed {
    fn after(&mut self, view: &dyn View) -> ControlFlow<()> {
        let (at, group) = (view.at(), view.group());
        for &Access { lane, kind, address, size, .. } in view.accesses() {
            self.add((at.warp, group, at.pc), lane.into(), (kind, address, size));
        }
        ControlFlow::Continue(())
    }

    fn barrier(&mut self, group: u64) {
        *self.barriers.entry(group).or_default() += 1;
    }
}

impl AccessObserver for Accessed {
    fn accesses(&mut self, accesses: &Accesses<'_>) {
        let &Accesses { warp, group, pc, kind, size, lanes, addresses, .. } = accesses;
        for lane in (0..64).filter(|lane| lanes >> lane & 1 != 0) {
            self.add((warp, group, pc), lane, (kind, addresses[lane], size));
        }
    }

    fn barrier(&mut self, group: u64) {
        *self.barriers.entry(group).or_default() += 1;
    }
}

/// A program under construction.
struct Program<'r> {
    text: String,
    random: &'r mut Random,
    /// The number of threads of a workgroup.
    local: u32,
    /// The offset in workgroup memory of the words that are private to threads.
    after: u32,
    /// The only kind of atomics in use, so that the order of warps does not matter.
    atomic: Option<&'static str>,
    /// Whether workgroup memory has words for atomics, too.
    counts: bool,
    labels: u32,
}

impl<'r> Program<'r> {
    fn new(local: u32, random: &'r mut Random) -> Self {
        let atomics = ["aadd", "asmin", "aumax", "aor", "axor"];
        let atomic = (random.below(4) == 0).then(|| atomics[random.below(5) as usize]);
        let counts = atomic.is_some() && random.below(2) == 0;
        Program { text: String::new(), random, local, after: 4 * local + 1024, atomic, counts, labels: 0 }
    }

    fn line(&mut self, line: impl AsRef<str>) {
        writeln!(self.text, "{}", line.as_ref()).expect("a string takes everything");
    }

    fn is(&mut self, one_in: u64) -> bool {
        self.random.below(one_in) == 0
    }

    fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.random.below(list.len() as u64) as usize]
    }

    fn text(&mut self) {
        // r46: the thread's own word of workgroup memory; r44: its first word; r40 and r42: a word for each warp, and
        // one for each lane; r36: the words of a warp and as many after them; r38: any address. r28 and r30: words for
        // atomics.
        self.line(
            "SHADDX.u64 r46, workgroup_local_pointer.w0, r55.w0, shift:0x2
            SHADDX.u64 r44, workgroup_local_pointer.w0, 0x0.w0, shift:0x0
            IADD_IMM.i32 r21, 0x0, #0xf
            LSHIFT_AND.i32 r20, r55, 0x0.b00, r21
            SHADDX.u64 r42, workgroup_local_pointer.w0, r20.w0, shift:0x2
            RSHIFT_OR.i32 r22, r55, 0x07060504.b00, 0x0
            IADD_IMM.i32 r23, 0x0, #0x40
            IMUL.i32 r24, r22, r23
            SHADDX.u64 r40, workgroup_local_pointer.w0, r24.w0, shift:0x0
            SHADDX.u64 r36, r42, r24.w0, shift:0x1
            IADD_IMM.i32 r25, 0x0, #0x35
            IMUL.i32 r26, r55, r25
            IADD_IMM.i32 r27, 0x0, #0x7f
            LSHIFT_AND.i32 r26, r26, 0x0.b00, r27
            SHADDX.u64 r38, workgroup_local_pointer.w0, r26.w0, shift:0x2
            SHADDX.u64 r28, r42, u13.w0, shift:0x0
            SHADDX.u64 r30, r38, u13.w0, shift:0x0
            SHADDX.u64 r50, u8, r20.w0, shift:0x2
            SHADDX.u64 r52, u8, r26.w0, shift:0x2
            SHADDX.u64 r48, u0, 0x0.w0, shift:0x0
            SHADDX.u64 r58, u4, r60.w0, shift:0x2
            SHADDX.u64 r56, u6, r60.w0, shift:0x2
            SHADDX.u64 r62, u2, r60.w0, shift:0x2
            LOAD.i32.unsigned.slot0.wait0 @r5, r58, offset:0
            STORE.i32.slot0.wait0 @r5, r46, offset:0
            MOV.i32 r10, 0x0
            MOV.i32 r6, 0x0
            MOV.i32 r1, 0x0
            MOV.i32 r2, 0x0
            MOV.i32 r3, 0x0
            MOV.i32 r4, 0x0",
        );
        // Without barriers, threads may repeat the loop any number of times.
        let uniform = !self.is(5);
        let rounds = if uniform || self.is(2) { "u12" } else { "r11" };
        self.line("IADD_IMM.i32 r11, 0x0, #0x3\nLSHIFT_AND.i32 r11, r5, 0x0.b00, r11");
        if uniform {
            self.line("BARRIER.slot7.wait");
        }
        self.line("again: NOP");
        for _ in 0..1 + self.random.below(3) {
            for _ in 0..1 + self.random.below(4) {
                self.item(uniform, 0);
            }
            if uniform {
                self.line("BARRIER.slot7.wait");
                self.write();
                self.line("BARRIER.slot7.wait");
            }
        }
        if !self.is(4) {
            self.line("IADD.u64 r58, r58, u10.w0");
        }
        self.line(format!(
            "IADD_IMM.i32 r10, r10, #0x1
            ICMP.u32.lt.m1 r7, r10, {rounds}, 0x0
            BRANCHZ.reconverge r7, offset:again
            IADD.u32 r5, r5, r6
            IADD.u32 r5, r5, r3"
        ));
        if self.counts {
            self.line(
                "BARRIER.slot7.wait
                LOAD.i32.unsigned.slot0.wait0 @r2, r28, offset:0
                IADD.u32 r5, r5, r2",
            );
        }
        self.line("STORE.i32.slot0.end @r5, r62, offset:0");
    }

    /// Adds accesses to words that other threads do not write at the same time.
    fn item(&mut self, uniform: bool, depth: u32) {
        match self.random.below(8) {
            0..3 if depth < 2 => {
                let (label, offset) = (self.labels, self.offset());
                self.labels += 1;
                self.condition(offset);
                let jump = self.one_of(&[
                    "BRANCHZ.eq.reconverge",
                    "BRANCHZ.eq.reconverge",
                    "BRANCHZ.eq",
                    "BRANCHZ.reconverge",
                ]);
                self.line(format!("{jump} r7, offset:over{label}"));
                if uniform {
                    self.line(format!("LOAD.i32.unsigned.slot0.wait0 @r1, r46, offset:{offset}"));
                }
                for _ in 0..self.random.below(4) {
                    self.item(uniform, depth + 1);
                }
                self.line(format!("over{label}: NOP"));
            }
            0..4 if uniform => self.read(),
            0..5 => self.stream(),
            5 => self.own(),
            6 if self.atomic.is_some() => self.count(),
            _ => self.compute(),
        }
    }

    /// An offset to the words of other threads.
    fn offset(&mut self) -> i32 {
        let near = 4 * self.random.below(48) as i32 * self.one_of(&[1, 1, 4]);
        if self.is(2) { near } else { -near }
    }

    /// Selects lanes in r7, mostly those for which the word at an offset exists.
    fn condition(&mut self, offset: i32) {
        let local = self.local as i32;
        let (lanes, at) = match offset {
            _ if self.is(16) => (self.one_of(&["lt", "ge", "eq", "ne"]), self.random.below(self.local.into()) as i32),
            0.. => ("lt", local - offset / 4),
            _ => ("ge", -offset / 4),
        };
        self.line(format!("IADD_IMM.i32 r8, 0x0, #{at:#x}\nICMP.u32.{lanes}.m1 r7, r55, r8, 0x0"));
        if self.is(3) {
            self.line("LSHIFT_AND.i32 r7, r7, 0x0.b00, r5");
        }
    }

    /// Reads words of workgroup memory.
    fn read(&mut self) {
        let (address, most) = self.one_of(&[("r46", 0), ("r44", 64), ("r42", 32), ("r40", 16), ("r36", 1), ("r38", 0)]);
        let offset = 4 * self.random.below(most + 1);
        let wide = self.is(6);
        self.line(match wide {
            true => format!("LOAD.i64.unsigned.slot0.wait0 @r2:r3, {address}, offset:{offset}"),
            false => format!("LOAD.i32.unsigned.slot0.wait0 @r2, {address}, offset:{offset}"),
        });
        self.combine();
    }

    /// Reads words that no thread writes.
    fn stream(&mut self) {
        let (address, load) = (
            self.one_of(&["r58", "r58", "r48"]),
            self.one_of(&["LOAD.i32.unsigned.slot0.wait0 @r2", "LOAD.i64.unsigned.slot0.wait0 @r2:r3"]),
        );
        let offset = 4 * self.random.below(16);
        self.line(format!("{load}, {address}, offset:{offset}"));
        self.combine();
    }

    /// Accesses words that are private to threads.
    fn own(&mut self) {
        let after = self.after;
        let line = match self.random.below(4) {
            0 => "STORE.i32.slot0.wait0 @r5, r56, offset:0".to_owned(),
            1 => format!("LOAD.i32.unsigned.slot0.wait0 @r4, r46, offset:{after}\nIADD.u32 r6, r6, r4"),
            _ => format!("STORE.i32.slot0.wait0 @r5, r46, offset:{after}\nIADD.u32 r6, r6, r5"),
        };
        self.line(line);
    }

    /// Adds an atomic on a word that no thread reads.
    fn count(&mut self) {
        let Some(kind) = self.atomic else { return };
        let address =
            self.one_of(if self.counts { &["r50", "r52", "u8", "r28", "r30"] } else { &["r50", "r52", "u8"] });
        let offset = 4 * self.random.below(8);
        self.line(format!("ATOM.i32.slot0.{kind}.wait0 @r5, {address}, offset:{offset}"));
    }

    fn combine(&mut self) {
        let line = self.one_of(&[
            "IADD.u32 r5, r5, r2",
            "LSHIFT_XOR.i32 r5, r5, 0x07060504.b00, r2",
            "LSHIFT_XOR.i32 r5, r2, 0x0.b00, r5\nLSHIFT_XOR.i32 r5, r1, 0x0.b00, r5",
            "IMUL.i32 r6, r5, r2",
        ]);
        self.line(line);
    }

    fn compute(&mut self) {
        let line = self.one_of(&[
            "IADD.u32 r5, r5, r55",
            "IADD.u32 r3, r6, r1",
            "FADD.f32 r3, r5, r2",
            "FMA.f32 r3, r5, r1, r3",
            "MOV.i32 r1, r5",
            "NOP",
        ]);
        self.line(line);
    }

    /// Lets all or some of the threads write their words.
    fn write(&mut self) {
        let partly = self.is(4);
        if partly {
            let label = self.labels;
            self.labels += 1;
            self.condition(4);
            self.line(format!(
                "BRANCHZ.eq.reconverge r7, offset:over{label}
                STORE.i32.slot0.wait0 @r5, r46, offset:0
                over{label}: NOP"
            ));
        } else {
            self.line("STORE.i32.slot0.wait0 @r5, r46, offset:0");
        }
    }
}
