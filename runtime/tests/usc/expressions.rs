//! Random expressions and random control flow, compiled to groups by a small compiler here, and compared with an
//! evaluation of the same trees. The fast path, the whole data path and the levels of the processor must agree bit for
//! bit.

use std::fmt::Write as _;

use isaforge_core::group::listing::assemble_program;
use isaforge_runtime::Level;
use isaforge_runtime::usc::{LANES, Machine, Program, Register, Software, Task};

use crate::seed::seed;
use crate::support::Random;

/// The number of inputs, r0 to r7; intermediate values are in the registers after them.
const INPUTS: usize = 8;

#[derive(Clone, Debug)]
enum Tree {
    Input(usize),
    Shared(usize),
    Node(usize, Vec<Tree>),
}

/// An operation: the number of operands, its groups with `{a}`, `{b}`, `{c}` and `{t}`, and the function that it
/// computes.
type Operation = (usize, &'static str, fn(u32, u32, u32) -> u32);

fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

/// The bits of a float result, with the canonical NaN.
fn b(x: f32) -> u32 {
    if x.is_nan() { 0x7fc0_0000 } else { x.to_bits() }
}

/// For operations that accept no shared registers, operands are moved to r100 to r102.
const OPERATIONS: [Operation; 30] = [
    (3, "1 : fmad ft0, {a}, {b}, {c}\n mov {t}, ft0\n", |x, y, z| b(f(x).mul_add(f(y), f(z)))),
    (3, "1 : fmad ft0, {a}.neg, {b}.abs, {c}.neg\n mov {t}, ft0\n", |x, y, z| b((-f(x)).mul_add(f(y).abs(), -f(z)))),
    (2, "1 : fadd ft0, {a}, {b}\n mov {t}, ft0\n", |x, y, _| b(f(x) + f(y))),
    (2, "1 : fadd ft0, {a}.abs.neg, {b}\n mov {t}, ft0\n", |x, y, _| b(-f(x).abs() + f(y))),
    (2, "1 : fadd ft0, {a}.flr, {b}.abs\n mov {t}, ft0\n", |x, y, _| b(f(x).floor() + f(y).abs())),
    (2, "1 : fmul.sat ft0, {a}, {b}\n mov {t}, ft0\n", |x, y, _| {
        let product = f(x) * f(y);
        (if product > 0.0 { product.min(1.0) } else { 0.0 }).to_bits()
    }),
    (1, "1 : frcp {t}, {a}\n", |x, _, _| b(1.0 / f(x))),
    (1, "1 : mbyp ft0, {a}.neg\n mov {t}, ft0\n", |x, _, _| x ^ 0x8000_0000),
    (3, "1 : umadd32 ft0, {a}, {b}, {c}, _\n mov {t}, ft0\n", |x, y, z| x.wrapping_mul(y).wrapping_add(z)),
    (3, "1 : smadd32 ft0, {a}, {b}.neg, {c}.abs, _\n mov {t}, ft0\n", |x, y, z| {
        x.wrapping_mul(y.wrapping_neg()).wrapping_add((z as i32).wrapping_abs() as u32)
    }),
    (3, "1 : umadd64 ft0, {a}, {b}, {c}, c0, _\n mov.w1 {t}, fte\n", |x, y, z| {
        ((u64::from(x) * u64::from(y) + u64::from(z)) >> 32) as u32
    }),
    (3, "1 : smadd64 ft0, {a}, {b}, {c}, c0, _\n mov.w1 {t}, fte\n", |x, y, z| {
        ((i64::from(x as i32) * i64::from(y as i32) + i64::from(z)) >> 32) as u32
    }),
    (
        2,
        "1 : byp ft0, ft1, c0, c0\n byp ft2, {a}\n cbs ft3, ft2\n and ft4, _, ft2, _, {b}\n mov {t}, ft4\n",
        |x, y, _| x & y,
    ),
    (
        2,
        "1 : byp ft0, ft1, c0, c0\n byp ft2, {a}\n cbs ft3, ft2\n xor ft4, _, ft2, _, {b}\n mov {t}, ft4\n",
        |x, y, _| x ^ y,
    ),
    (
        2,
        "1 : byp ft0, ft1, c0, c0\n byp ft2, {a}\n cbs ft3, ft2\n nor ft4, _, ft2, _, {b}\n mov {t}, ft4\n",
        |x, y, _| !(x | y),
    ),
    (
        3,
        "1 : byp ft0, ft1, c0, c0\n byp ft2, {a}\n cbs ft3, ft2\n or ft4, _, ft2, _, {b}\n lsl ft5, ft4, {c}\n mov {t}, ft5\n",
        |x, y, z| (x | y) << (z & 31),
    ),
    (
        3,
        "1 : byp ft0, ft1, c0, c0\n byp ft2, {a}\n cbs ft3, ft2\n and ft4, _, ft2, _, {b}\n shr ft5, ft4, {c}\n mov {t}, ft5\n",
        |x, y, z| (x & y) >> (z & 31),
    ),
    (
        2,
        "1 : byp ft0, ft1, c0, c0\n byp ft2, {a}\n cbs ft3, ft2\n or ft4, _, ft2, _, c0\n asr.twb ft5, ft4, {b}\n mov {t}, ft5\n",
        |x, y, _| (x as i32 >> (y & 31)) as u32,
    ),
    (
        2,
        "1 : byp ft0, ft1, c0, c0\n byp ft2, {a}\n cbs ft3, ft2\n or ft4, _, ft2, _, c0\n rol ft5, ft4, {b}\n mov {t}, ft5\n",
        |x, y, _| x.rotate_left(y & 31),
    ),
    // A field of 9 bits of the first operand, from bit 5, combined with the rest of the second.
    (
        2,
        "1 : msk ft0, ft1, c9, c5\n byp ft2, {a}\n cbs ft3, ft2\n or ft4, ft1, ft2, ft1.invert, {b}\n mov {t}, ft4\n",
        |x, y, _| (x & 0x3fe0) | (y & !0x3fe0),
    ),
    // The same field, shifted down with the sign of the mask's top bit.
    (
        1,
        "1 : msk ft0, ft1, c9, c5\n byp ft2, {a}\n cbs ft3, ft2\n or ft4, ft1, ft2, _, c0\n asr.mtb ft5, ft4, c5\n mov {t}, ft5\n",
        |x, _, _| ((x << 18) as i32 >> 23) as u32,
    ),
    (1, "1 : byp ft0, ft1, c0, c0\n byp ft2, {a}\n cbs ft3, ft2\n mov {t}, ft3\n", |x, _, _| x.count_ones()),
    (1, "1 : byp ft0, ft1, c0, c0\n byp ft2, {a}\n ftb ft3, ft2\n mov {t}, ft3\n", |x, _, _| {
        (0..32).rev().find(|i| x >> i & 1 != 0).unwrap_or(u32::MAX)
    }),
    (1, "1 : byp ft0, ft1, c0, c0\n rev ft2, {a}\n byp ft3, ft2\n mov {t}, ft3\n", |x, _, _| {
        (0..32).fold(0, |r, i| r | (x >> i & 1) << (31 - i))
    }),
    (2, "1 : byp ft0, ft1, c0, {b}\n shfl ft2, {a}, {b}\n byp ft3, ft2\n mov {t}, ft3\n", |x, y, _| {
        (0..16).fold(0, |r, i| r | (x >> i & 1) << (2 * i) | (y >> i & 1) << (2 * i + 1))
    }),
    (
        3,
        "1 : mbyp ft0, {a}\n mbyp ft1, {b}\n tstl.f32 ftt, _, ft0, ft1\n mov {t}.e0.e1.e2.e3, ft1, ftt, ft0, ft1\n",
        |x, y, _| {
            if f(x) < f(y) { x } else { y }
        },
    ),
    (
        3,
        "1 : mbyp ft0, {a}\n mbyp ft1, {b}\n tstg.s32 ftt, _, ft0, ft1\n mov {t}.e0.e1.e2.e3, ft1, ftt, ft0, ft1\n",
        |x, y, _| (x as i32).max(y as i32) as u32,
    ),
    (1, "1 : pck.u8888.scale ft2, {a}\n mov {t}, ft2\n", |x, _, _| {
        (f(x).clamp(0.0, 1.0) * 255.0).round_ties_even() as u32
    }),
    (1, "1 : pck.s32.roundzero ft2, {a}\n mov {t}, ft2\n", |x, _, _| f(x) as i32 as u32),
    (1, "1 : unpck.s32 ft0, {a}.e0\n mov {t}, ft0\n", |x, _, _| (x as i32 as f32).to_bits()),
];

impl Tree {
    fn new(random: &mut Random, depth: u32) -> Tree {
        match random.below(if depth == 0 { 2 } else { 8 }) {
            0 => Tree::Input(random.below(INPUTS as u32) as usize),
            1 => Tree::Shared(random.below(4) as usize),
            _ => {
                let operation = random.below(OPERATIONS.len() as u32) as usize;
                let operands = (0..OPERATIONS[operation].0).map(|_| Tree::new(random, depth - 1)).collect();
                Tree::Node(operation, operands)
            }
        }
    }

    fn evaluate(&self, inputs: &[u32], shared: &[u32]) -> u32 {
        match self {
            Tree::Input(n) => inputs[*n],
            Tree::Shared(n) => shared[*n],
            Tree::Node(operation, operands) => {
                let value = |i: usize| operands.get(i).map_or(0, |tree| tree.evaluate(inputs, shared));
                OPERATIONS[*operation].2(value(0), value(1), value(2))
            }
        }
    }

    /// Writes groups, and returns the register with the result.
    fn compile(&self, text: &mut String, next: &mut usize) -> String {
        match self {
            Tree::Input(n) => format!("r{n}"),
            Tree::Shared(n) => {
                // Few sources accept shared registers, but all accept temporaries.
                let to = format!("r{next}");
                *next += 1;
                write!(text, "1 : mbyp ft0, sh{n}\n mov {to}, ft0\n").expect("a string");
                to
            }
            Tree::Node(operation, operands) => {
                let names: Vec<String> = operands.iter().map(|tree| tree.compile(text, next)).collect();
                let to = format!("r{next}");
                *next += 1;
                let name = |i: usize| names.get(i).cloned().unwrap_or_default();
                let groups = OPERATIONS[*operation].1.replace("{a}", &name(0)).replace("{b}", &name(1));
                text.push_str(&groups.replace("{c}", &name(2)).replace("{t}", &to));
                to
            }
        }
    }
}

fn program(text: &str) -> Program {
    let text = format!("{text}1 : nop.end\n");
    let bytes = assemble_program(isaforge_usc::ISA, &text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    Program::load(&bytes).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn register(n: usize) -> Register {
    Register::temporary(n as u32).expect("a temporary")
}

/// Machines for all ways of running, the fastest first.
fn machines(shared: &[u32]) -> Vec<Machine<Software>> {
    let machine = || Machine::new(Software::default());
    let mut all: Vec<Machine<Software>> =
        Level::available().into_iter().map(|level| machine().at_level(level)).collect();
    all.push(machine().without_fast_path());
    all.push(machine().at_level(Level::portable()).without_fast_path());
    for machine in &mut all {
        for (n, value) in shared.iter().enumerate() {
            machine.set(format!("sh{n}").parse().expect("a register"), *value).expect("it can be set");
        }
    }
    all
}

#[test]
fn every_operation_computes_what_it_says() {
    expressions(900, 12, 1);
}

#[test]
fn expressions_compute_what_they_say() {
    expressions(400, 10, 3);
}

fn expressions(programs: u32, rounds: u32, depth: u32) {
    let mut random = Random::new(seed(u64::from(depth)));
    for number in 0..programs {
        let tree = Tree::new(&mut random, depth);
        let (mut text, mut next) = (String::new(), 20);
        let result = tree.compile(&mut text, &mut next);
        let program = program(&text);
        let result: Register = result.parse().expect("a register");
        let shared: Vec<u32> = (0..4).map(|_| random.word()).collect();
        let mut machines = machines(&shared);
        for round in 0..rounds {
            let inputs = inputs(&mut random, 1 + (number + round) as usize % MAX_TASKS, INPUTS);
            let tasks: Vec<Task> = inputs.iter().map(|inputs| task(inputs, LANES)).collect();
            // The first inputs are run in all ways, the others in the fastest.
            for machine in machines.iter_mut().take(if round < 2 { usize::MAX } else { 1 }) {
                let mut tasks = tasks.clone();
                machine.run(&program, &mut tasks, BUDGET).unwrap_or_else(|e| panic!("{text}{e}"));
                for (task, inputs) in tasks.iter().zip(&inputs) {
                    for (i, own) in inputs.iter().enumerate() {
                        let (found, wanted) = (task.get(result, i), tree.evaluate(own, &shared));
                        // Values that are only passed on may be other NaNs.
                        let same = found == Some(wanted) || found.is_some_and(|x| f(x).is_nan() && f(wanted).is_nan());
                        assert!(same, "program {number}\n{text}{own:x?} {shared:x?}: {found:x?}, not {wanted:08x}");
                    }
                }
            }
        }
    }
}

/// The maximum number of tasks of a launch, which is more than advance together.
const MAX_TASKS: usize = 11;
/// The number of groups after which a run fails, which is enough for all tasks that advance together.
const BUDGET: u64 = 1 << 24;

/// Random values for each instance of each task.
fn inputs(random: &mut Random, tasks: usize, count: usize) -> Vec<Vec<Vec<u32>>> {
    let mut own = || (0..count).map(|_| random.word()).collect();
    let mut task = || (0..LANES).map(|_| own()).collect();
    (0..tasks).map(|_| task()).collect()
}

/// Creates a task with these values in the registers from r0 on.
fn task(inputs: &[Vec<u32>], instances: usize) -> Task {
    let mut task = Task::new(instances).expect("1 to 32");
    for (i, own) in inputs.iter().enumerate().take(instances) {
        own.iter().enumerate().for_each(|(n, value)| task.set(register(n), i, *value).expect("it can be set"));
    }
    task
}

/// A statement of a small language.
#[derive(Clone, Debug)]
enum Statement {
    /// r8 = r8 * 5 + r(input) + constant.
    Mix(usize, u32),
    /// Branches on bit `n` of r8.
    If(u32, Vec<Statement>, Vec<Statement>),
    /// A loop with a maximum number of rounds; it also ends when the bits of r8 under a mask are clear.
    Loop(u32, u32, Vec<Statement>),
}

impl Statement {
    fn list(random: &mut Random, depth: u32) -> Vec<Statement> {
        (0..1 + random.below(3)).map(|_| Statement::new(random, depth)).collect()
    }

    fn new(random: &mut Random, depth: u32) -> Statement {
        match random.below(if depth == 0 { 1 } else { 3 }) {
            0 => Statement::Mix(random.below(INPUTS as u32) as usize, random.below(32)),
            1 => {
                let then = Statement::list(random, depth - 1);
                let other = if random.below(2) == 0 { Vec::new() } else { Statement::list(random, depth - 1) };
                Statement::If(random.below(8), then, other)
            }
            _ => Statement::Loop(1 + random.below(5), 1 + random.below(7), Statement::list(random, depth - 1)),
        }
    }

    fn execute(&self, value: &mut u32, inputs: &[u32]) {
        match self {
            Statement::Mix(input, constant) => {
                *value = value.wrapping_mul(5).wrapping_add(inputs[*input]).wrapping_add(*constant);
            }
            Statement::If(bit, then, other) => {
                let chosen = if *value >> bit & 1 != 0 { then } else { other };
                chosen.iter().for_each(|s| s.execute(value, inputs));
            }
            Statement::Loop(rounds, mask, body) => {
                for _ in 0..*rounds {
                    if *value & mask == 0 {
                        break;
                    }
                    body.iter().for_each(|s| s.execute(value, inputs));
                }
            }
        }
    }

    /// `depth` is the number of enclosing loops. Each loop has a register of its own for its rounds.
    fn compile(&self, text: &mut String, labels: &mut usize, depth: usize) {
        let mut say = |line: String| text.push_str(&line);
        let bits = |mask: u32| {
            format!(
                "1 : byp ft0, ft1, c0, c0\n byp ft2, r8\n cbs ft3, ft2\n and ft4, _, ft2, _, c{mask}\n lsl ft5, ft4, c0\n tz p0, ft5\n"
            )
        };
        match self {
            Statement::Mix(input, constant) => say(format!(
                "1 : umadd32 ft0, r8, c5, r{input}, _\n mov r8, ft0\n1 : umadd32 ft0, r8, c1, c{constant}, _\n mov r8, ft0\n"
            )),
            Statement::If(bit, then, other) => {
                let (label, end) = (*labels, *labels + 1);
                *labels += 2;
                // The constants 1, 2, 4 ... 128 are integers only up to 31, so the bit is shifted down.
                say(format!(
                    "1 : byp ft0, ft1, c0, c0\n byp ft2, r8\n cbs ft3, ft2\n or ft4, _, ft2, _, c0\n shr ft5, ft4, c{bit}\n mov r9, ft5\n\
                     1 : byp ft0, ft1, c0, c0\n byp ft2, r9\n cbs ft3, ft2\n and ft4, _, ft2, _, c1\n lsl ft5, ft4, c0\n tz p0, ft5\n\
                     1 : (ignorepe)\n cndst 3, r90, r90, 1\n1 : br.allinst else{label}\n"
                ));
                then.iter().for_each(|s| s.compile(text, labels, depth));
                text.push_str(&format!(
                    "else{label}:\n1 : (ignorepe)\n cndef 0, r90, r90, 1\n1 : br.allinst end{end}\n"
                ));
                other.iter().for_each(|s| s.compile(text, labels, depth));
                text.push_str(&format!("end{end}:\n1 : (ignorepe)\n cndend r90, r90, 1\n"));
            }
            Statement::Loop(rounds, mask, body) => {
                let label = *labels;
                *labels += 1;
                let counter = 91 + depth;
                say(format!(
                    "1 : mbyp ft0, c{rounds}\n mov r{counter}, ft0\n1 : (ignorepe)\n cndst 0, r90, r90, 2\n1 : br.allinst out{label}\ntop{label}:\n"
                ));
                // Instances without a bit under the mask leave. They need two ends to resume.
                say(bits(*mask));
                say("1 : (ignorepe)\n cndsm 1, r90, r90, c2\n".to_owned());
                body.iter().for_each(|s| s.compile(text, labels, depth + 1));
                text.push_str(&format!(
                    "1 : umadd32 ft0, r{counter}, c1, c143, _\n mov r{counter}, ft0\n\
                     1 : byp ft0, ft1, c0, c0\n byp ft2, r{counter}\n cbs ft3, ft2\n or ft4, _, ft2, _, c0\n lsl ft5, ft4, c0\n tnz p0, ft5\nout{label}:\n\
                     1 : (ignorepe)\n cndlt 1, r90, p0, r90, 2\n1 : if(p0)\n br top{label}\n"
                ));
            }
        }
    }
}

#[test]
fn ifs_and_loops_go_where_each_instance_wants() {
    let mut random = Random::new(seed(7));
    for number in 0..150 {
        let statements = Statement::list(&mut random, 3);
        let (mut text, mut labels) = ("1 : (ignorepe)\n cndst 0, r90, c0, 1\n".to_owned(), 0);
        statements.iter().for_each(|s| s.compile(&mut text, &mut labels, 0));
        let program = program(&text);
        for round in 0..4 {
            let inputs = inputs(&mut random, 1 + (number + round) % MAX_TASKS, INPUTS + 1);
            let instances = |t: usize| if t % 3 == 1 { LANES } else { 1 + (number * 7 + round * 5 + t) % LANES };
            let tasks: Vec<Task> = inputs.iter().enumerate().map(|(t, inputs)| task(inputs, instances(t))).collect();
            for machine in machines(&[]).iter_mut().take(if round < 2 { usize::MAX } else { 1 }) {
                let mut tasks = tasks.clone();
                machine.run(&program, &mut tasks, BUDGET).unwrap_or_else(|e| panic!("{text}{e}"));
                for (t, (task, inputs)) in tasks.iter().zip(&inputs).enumerate() {
                    for (i, own) in inputs.iter().enumerate().take(instances(t)) {
                        let mut wanted = own[8];
                        statements.iter().for_each(|s| s.execute(&mut wanted, own));
                        let what = || format!("program {number}, task {t}, instance {i}\n{statements:?}\n{text}");
                        assert_eq!(task.get(register(8), i), Some(wanted), "{}", what());
                        assert!(task.runs(i), "the instance runs at the end: {}", what());
                    }
                }
            }
        }
    }
}
