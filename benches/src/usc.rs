//! The loops of the USC's benchmarks: sixteen chains, so that neither side waits for a result.

use isaforge_core::group::listing::assemble_program;
use isaforge_runtime::Level;
use isaforge_runtime::usc::{LANES, Machine, Program, Software, Task};

/// How often a loop goes round.
pub const ROUNDS: u32 = 2000;
/// Chains of a round.
pub const CHAINS: usize = 16;
/// Operations of a chain in a round.
pub const TIMES: usize = 4;

fn program(body: &str) -> Program {
    let text = format!(
        "mov ft0, c0\nmov r20, ft0\n0 : (ignorepe)\n cndst 0, r21, c0, 1\nround:\n{body}\
         1 : umadd32 ft0, r20, c1, c1, _\n tstl.u32 ftt, p0, ft0, sh0\n mov r20, ft0\n2 : if(p0)\n br round\n3 : nop.end"
    );
    Program::load(&assemble_program(isaforge_usc::ISA, &text).expect("it is a program")).expect("it loads")
}

/// r0 to r15 each times r16 plus r17, two in a group.
///
/// # Panics
/// When it is no program.
pub fn multiply_adds() -> Program {
    let pair = |n: usize| {
        let m = n + 1;
        format!("1 : fmad ft0, r{n}, r16, r17\n fmad ft1, r{m}, r16, r17\n mov r{n}, ft0\n mov r{m}, ft1\n")
    };
    program(&(0..TIMES).flat_map(|_| (0..CHAINS).step_by(2)).map(pair).collect::<String>())
}

/// r0 to r15 each times r16 plus r17, then with r18 crossed out.
///
/// # Panics
/// When it is no program.
pub fn integers() -> Program {
    let one = |n: usize| {
        format!(
            "1 : umadd32 ft0, r{n}, r16, r17, _\n mov r{n}, ft0\n\
             1 : byp ft0, ft1, c0, c0\n byp ft2, r{n}\n byp ft3, c0\n xor ft4, _, ft2, _, r18\n mov r{n}, ft4\n"
        )
    };
    let text: String = (0..TIMES / 2).flat_map(|_| 0..CHAINS).map(one).collect();
    program(&text.replace("byp ft3, c0", "cbs ft3, ft2"))
}

/// A machine that goes round as often as the benchmark wants.
///
/// # Panics
/// Never: the register exists.
pub fn machine(level: Level) -> Machine<Software> {
    let mut machine = Machine::new(Software::default()).at_level(level);
    machine.set("sh0".parse().expect("a register"), ROUNDS).expect("it can be set");
    machine
}

/// Tasks of 32 instances.
///
/// # Panics
/// Never: a task has room for 32.
pub fn tasks(count: usize) -> Vec<Task> {
    vec![Task::new(LANES).expect("32 instances"); count]
}
