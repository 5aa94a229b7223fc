//! USC programs: tasks that advance together, compared with tasks run one after another through the whole data path,
//! with loops, memory, mutexes and errors, at each level of the processor. Registers, outputs, memory, counts and
//! errors are compared.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use isaforge_core::group::listing::assemble_program;
use isaforge_core::sample::Random;
use isaforge_runtime::Level;
use isaforge_runtime::machine::{Observer, View};
use isaforge_runtime::usc::watch::{Watch, profile};
use isaforge_runtime::usc::{LANES, Machine, Program, Register, Report, RunError, Software, Task, Trap};

/// The address and the size of memory.
const MEMORY: (u64, usize) = (0x4000, 256);

/// Random choices for programs.
trait Choose {
    /// Returns an index below `end`.
    fn index(&mut self, end: usize) -> usize;
    /// Returns an item of a list.
    fn of<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T;
    /// Returns any word, often a small one.
    fn word(&mut self) -> u32;
}

impl Choose for Random {
    fn index(&mut self, end: usize) -> usize {
        self.below(end as u64) as usize
    }

    fn of<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.index(list.len())]
    }

    fn word(&mut self) -> u32 {
        match self.below(4) {
            0 => self.below(40) as u32,
            1 => self.of(&[&0x8000_0000u32, &u32::MAX, &0x7f80_0000, &0x7fc0_0000, &0x3f80_0000]).to_owned(),
            2 => (self.below(4000) as f32 / 16.0 - 90.0).to_bits(),
            _ => self.next() as u32,
        }
    }
}

/// Groups written by Mesa's compiler, as text.
pub fn pool() -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../compiler/tests/data/usc/pco-random-groups.txt");
    let text = std::fs::read_to_string(path).expect("the groups are there");
    let groups = text.lines().filter_map(|line| {
        let byte = |i: usize| u8::from_str_radix(line.get(i..i + 2)?, 16).ok();
        let bytes: Vec<u8> = (0..line.len() / 2).map_while(|i| byte(2 * i)).collect();
        // Groups that cannot be executed cannot be compared, and last groups would end programs too early.
        Program::load(&bytes).ok()?;
        let group = isaforge_usc::decode(&bytes).ok().filter(|group| !group.is_last())?;
        Some(group.to_string())
    });
    groups.collect()
}

/// Groups that concern only the task itself. `{r}` is a register, `{n}` a small number, `{p}` a target in the program.
const OWN: [&str; 28] = [
    "fmad ft0, {r}, {r}, {r}.neg\n fmad ft1, {r}.abs, {r}, {r}\n mov {r}, ft0\n mov {r}, ft1",
    "repeat 3\n fadd ft0, {r}.flr, {r}\n mov {r}, ft0",
    "repeat 2\n fmul.sat ft0, {r}, {r}\n fmul ft1, {r}, {r}\n mov {r}, ft0\n mov {r}, ft1",
    "if(p0)\n umadd32 ft0, {r}, {r}, {r}, _\n mov {r}, ft0",
    "if(!p0)\n smadd32 ft0, {r}, {r}.neg, {r}.abs, _\n mov {r}, ft0",
    "mbyp ft0, sh{n}\n mov {r}, ft0",
    "fadd ft0, sh{n}, {r}\n mov {r}, ft0",
    "fmad ft0, {r}, cf{n}, sh{n}\n mov {r}, ft0",
    "frcp {r}, {r}",
    "byp ft0, ft1, c0, c0\n byp ft2, {r}\n cbs ft3, ft2\n xor ft4, _, ft2, _, {r}\n mov {r}, ft4",
    "mbyp ft0, {r}\n mbyp ft1, {r}\n tstl.u32 ftt, p0, ft0, ft1",
    "mbyp ft0, {r}\n mbyp ft1, {r}\n tstg.f32 ftt, _, ft0, ft1\n mov {r}.e0.e1.e2.e3, ft1, ftt, ft0, ft1",
    "if(p0)\n br {p}",
    "br.allinst {p}",
    "br.anyinst {p}",
    "if(!p0)\n brl {p}",
    "savl {r}",
    "(ignorepe)\n cndst 1, r90, r90, 1",
    "(ignorepe)\n cndef 0, r90, r90, 1",
    "(ignorepe)\n cndsm 3, r90, r90, c2",
    "(ignorepe)\n cndlt 1, r90, p0, r90, 2",
    "(ignorepe)\n cndend r90, r90, 1",
    "if(p0)\n cndst 2, r90, r90, 1",
    "unpck.s32 ft0, {r}.e0\n mov {r}, ft0",
    "pck.u8888.scale ft2, {r}\n mov {r}, ft2",
    "mov ft0, c{n}\n mov idx0[idx1], ft0",
    // Each result overwrites a source of the other one.
    "mov ft0, r1\n mov ft1, r2\n mov r2, ft0\n mov r1, ft1",
    "fmad ft0, r1, r2, r3\n fmad ft1, r2, r4, r3\n mov r2, ft0\n mov r1, ft1",
];

/// Groups that others observe, or that depend on others.
const OUTSIDE: [&str; 16] = [
    "st {r}@S3, 2, drc0, 1, r80@S4",
    "ld {r}, drc0, 1, r80",
    "atom.add {r}, drc0, r80",
    "atom.xor {r}, drc0, r80",
    "mbyp ft0, {r}\n mov sh{n}, ft0",
    "mbyp ft0, {r}\n mov cf{n}, ft0",
    "mbyp ft0, sr160\n mov {r}, ft0",
    "sbo.shared {n}",
    "mutex.lock {n}",
    "mutex.release {n}",
    "mutex.release_wakeup {n}",
    "mutex.release_sleep {n}",
    "mov ft0, {r}\n mov ft0.e0.e1.e2.e3, ft0\n uvsw.write ft0, {n}",
    "lapc",
    "mov ft0, r16[idx1]\n mov {r}, ft0",
    "mov ft0, {r}\n mov sh8[idx0], ft0",
];

fn program(random: &mut Random, pool: &[String]) -> (String, Program) {
    let groups = 4 + random.index(24);
    let outside = random.index(3);
    let mut text = String::new();
    for at in 0..groups {
        let template = match random.index(12) {
            0..=2 => random.of(&pool.iter().collect::<Vec<_>>()).clone(),
            3 if outside > 0 => random.of(&OUTSIDE).to_owned(),
            4 if outside > 1 => random.of(&OUTSIDE).to_owned(),
            _ => random.of(&OWN).to_owned(),
        };
        let mut group = template;
        for (mark, most) in [("{r}", 20), ("{n}", 8)] {
            while group.contains(mark) {
                let number =
                    if mark == "{r}" { format!("r{}", random.index(most)) } else { random.index(most).to_string() };
                group = group.replacen(mark, &number, 1);
            }
        }
        // Branches are mostly forward, so that most programs end.
        let place = if random.index(4) == 0 { random.index(groups) } else { at + 1 + random.index(groups - at) };
        writeln!(text, "l{at}:\n1 : {}", group.replace("{p}", &format!("l{place}"))).expect("a string");
    }
    writeln!(text, "l{groups}:\n1 : nop.end").expect("a string");
    let bytes = assemble_program(isaforge_usc::ISA, &text).unwrap_or_else(|error| panic!("{text}{error:?}"));
    let program = Program::load(&bytes).unwrap_or_else(|error| panic!("{text}{error}"));
    (text, program)
}

/// Everything that can be observed of a run.
#[derive(PartialEq, Debug)]
struct Left {
    ended: Result<Report, RunError>,
    tasks: Vec<(Vec<Option<u32>>, u64, [u32; 2])>,
    shared: Vec<Option<u32>>,
    memory: Vec<u8>,
    outputs: String,
}

/// A way to run the tasks.
type Run<'a> = &'a mut dyn FnMut(&mut Machine<Software>, &mut [Task]) -> Result<Report, RunError>;

fn run(mut machine: Machine<Software>, tasks: &[Task], run: Run<'_>) -> Left {
    let mut tasks = tasks.to_vec();
    let ended = run(&mut machine, &mut tasks);
    let names: Vec<Register> = (0..100)
        .map(|n| format!("r{n}"))
        .chain((0..8).flat_map(|n| [format!("i{n}"), format!("po{n}"), format!("cf{n}"), format!("vi{n}")]))
        .chain(["idx0".to_owned(), "idx1".to_owned()])
        .map(|name| name.parse().expect("a register"))
        .collect();
    let mask = |of: &dyn Fn(usize) -> bool| (0..LANES).fold(0, |mask, i| mask | u32::from(of(i)) << i);
    let seen = |task: &Task| {
        let values = names.iter().flat_map(|name| (0..LANES).map(|i| task.get(*name, i))).collect();
        (values, task.groups(), [mask(&|i| task.predicate(i)), mask(&|i| task.runs(i))])
    };
    let mut memory = vec![0; MEMORY.1];
    machine.host.memory.read(MEMORY.0, &mut memory).expect("it is mapped");
    let Software { vertex_outputs, emitted, depths, discarded, pixels, .. } = &machine.host;
    Left {
        // After an error, other tasks may have advanced further.
        tasks: if ended.is_ok() { tasks.iter().map(seen).collect() } else { Vec::new() },
        shared: (0..32).map(|n| machine.get(format!("sh{n}").parse().expect("a register"))).collect(),
        memory,
        outputs: format!("{vertex_outputs:?} {emitted:?} {depths:?} {discarded:?} {pixels:?}"),
        ended,
    }
}

fn machine(random: &mut Random) -> Machine<Software> {
    let mut host = Software::default();
    host.memory.map(MEMORY.0, vec![0; MEMORY.1]).expect("there is room");
    let mut machine = Machine::new(host);
    for n in 0..16 {
        machine.set(format!("sh{n}").parse().expect("a register"), random.word()).expect("it can be set");
    }
    machine
}

fn tasks(random: &mut Random, count: usize) -> Vec<Task> {
    let one = |random: &mut Random| {
        let instances = if random.index(3) == 0 { 1 + random.index(LANES) } else { LANES };
        let mut task = Task::new(instances).expect("1 to 32");
        for name in (0..20).map(|n| format!("r{n}")) {
            let register: Register = name.parse().expect("a register");
            for i in 0..instances {
                task.set(register, i, random.word()).expect("it can be set");
            }
        }
        for i in 0..instances {
            // An address, rarely an invalid one, followed by the operand of atomics.
            let wild = random.index(300) == 0;
            let address = MEMORY.0 as u32 + 4 * random.index(16) as u32 + if wild { 0x10_0000 } else { 0 };
            for (n, value) in [(80, address), (81, 0), (82, random.word())] {
                task.set(Register::temporary(n).expect("a temporary"), i, value).expect("it can be set");
            }
        }
        for n in 0..8 {
            task.fill(format!("cf{n}").parse().expect("a register"), random.word()).expect("it can be set");
        }
        task
    };
    (0..count).map(|_| one(random)).collect()
}

/// Counts groups.
struct Groups(u64);

impl Observer for Groups {
    fn after(&mut self, _: &dyn View) -> ControlFlow<()> {
        self.0 += 1;
        ControlFlow::Continue(())
    }
}

fn watched(program: &Program, machine: &Machine<Software>, tasks: &[Task], budget: u64) -> Left {
    let mut counted = Groups(0);
    let left = run(machine.clone(), tasks, &mut |machine, tasks| {
        let mut watch = Watch::default();
        watch.observer = Some(&mut counted);
        watch.profile = Some(profile());
        machine.run_watched(program, tasks, budget, &mut watch)
    });
    assert!(left.ended.as_ref().map_or(true, |report| report.groups == counted.0), "{} {left:?}", counted.0);
    left
}

fn compare(program: &Program, text: &str, machine: &Machine<Software>, tasks: &[Task], budget: u64) -> Left {
    let plainly: Run<'_> = &mut |machine, tasks| machine.run(program, tasks, budget);
    let wanted = run(machine.clone().at_level(Level::portable()).without_fast_path(), tasks, plainly);
    let levels = Level::available()
        .into_iter()
        .flat_map(|level| [level, level.eager()])
        .map(|level| (level.name(), run(machine.clone().at_level(level), tasks, plainly)));
    // An observer changes nothing, and sees every group. It is run for short runs only, since printing each group takes
    // time.
    let few = budget < 1000 || wanted.ended.as_ref().is_ok_and(|report| report.groups < 1000);
    let watched = few.then(|| watched(program, machine, tasks, budget));
    for (name, found) in levels.chain(watched.map(|left| ("watched", left))) {
        let what = format!("{name}, {} tasks, budget {budget}\n{text}", tasks.len());
        assert_eq!(found.ended, wanted.ended, "{what}");
        assert_eq!(found.outputs, wanted.outputs, "{what}");
        assert!(found.shared == wanted.shared && found.memory == wanted.memory, "{what}");
        for (number, (found, wanted)) in found.tasks.iter().zip(&wanted.tasks).enumerate() {
            assert_eq!((found.1, found.2), (wanted.1, wanted.2), "task {number}, {what}");
            let other = found.0.iter().zip(&wanted.0).position(|(a, b)| a != b);
            let other = other.map(|at| (at / LANES, at % LANES, found.0[at], wanted.0[at]));
            assert_eq!(other, None, "task {number}, {what}");
        }
    }
    wanted
}

/// Runs one program on some tasks at every level. Returns how it ends.
///
/// # Panics
/// When the results at a level differ from those of tasks run one after another.
pub fn agree(random: &mut Random, pool: &[String]) -> Result<Report, RunError> {
    let (text, program) = program(random, pool);
    let count = 1 + random.index(10);
    let (machine, tasks) = (machine(random), tasks(random, count));
    // Tasks advance together only if the budget does not end soon. Programs that do not end take long at each level, so
    // most of them get a smaller budget.
    let few = 100 * count as u64;
    let ends = |budget| {
        let ended = machine.clone().run(&program, &mut tasks.clone(), budget);
        !ended.is_err_and(|error| matches!(error.trap, Trap::Budget(_)))
    };
    let budget = match random.index(16) {
        0..4 => random.below(200),
        4..15 if !ends(few) => few,
        _ => 4096 * (count as u64 + 2),
    };
    compare(&program, &text, &machine, &tasks, budget).ended
}
