//! Which instances execute which groups: conditions, branches, links, mutexes; and the owners of registers.

use isaforge_core::group::listing::assemble_program;
use isaforge_runtime::Memory;
use isaforge_runtime::usc::{LANES, LoadError, Machine, Program, Register, RunError, Software, Task, Trap};

use crate::seed::seed;
use crate::support::{Random, register};

/// Assembles a program from groups and labels, with a line for each part, and appends its end.
fn assemble(text: &str) -> Vec<u8> {
    let text = format!("{text}\n1 : nop.end\n");
    assemble_program(isaforge_usc::ISA, &text).unwrap_or_else(|e| panic!("{text}: {e:?}"))
}

fn program(text: &str) -> Program {
    Program::load(&assemble(text)).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn task(instances: usize, registers: &[(&str, &dyn Fn(usize) -> u32)]) -> Task {
    let mut task = Task::new(instances).expect("so many");
    for (name, value) in registers {
        for i in 0..instances {
            task.set(register(name), i, value(i)).expect("a register");
        }
    }
    task
}

fn values(task: &Task, name: &str) -> Vec<u32> {
    (0..task.instances()).map(|i| task.get(register(name), i).expect("a register")).collect()
}

fn run(text: &str, task: Task) -> Task {
    let mut tasks = [task];
    Machine::new(Software::default())
        .run(&program(text), &mut tasks, 100_000)
        .unwrap_or_else(|e| panic!("{text}: {e}"));
    let [task] = tasks;
    task
}

fn refused(text: &str, task: Task) -> RunError {
    Machine::new(Software::default()).run(&program(text), &mut [task], 1000).expect_err("it cannot run")
}

/// The state of one instance for conditional instructions, as in the reference.
struct One {
    counter: u32,
    runs: bool,
    predicate: bool,
}

/// Executes a conditional instruction by the reference's text, with the corrections to CNDLT.
fn condition(name: &str, all: &mut [One], condition: &dyn Fn(&One) -> bool, s2: &[u32], adjust: u32, link: &mut u32) {
    let someone = all.iter().any(|one| condition(one) && one.runs);
    let first = all.iter().position(|one| one.runs);
    if let (Some(first), "cndsetl.b") = (first, name) {
        *link = s2[first];
    }
    for (i, one) in all.iter_mut().enumerate() {
        let holds = condition(one);
        let s0 = one.counter;
        let mut set = |counter: u32, runs: bool| (one.counter, one.runs) = (counter, runs);
        match name {
            "cndst" => {
                if holds && s0 == 0 {
                    set(0, true);
                } else {
                    set(s0 + adjust, false);
                }
            }
            "cndef" => {
                if s0 == 0 {
                    set(s0 + adjust, adjust == 0);
                } else if holds && s0 == 1 {
                    set(0, true);
                } else {
                    set(s0, false);
                }
            }
            "cndsm" => {
                if holds && s0 == 0 {
                    set(s2[i], s2[i] == 0);
                } else {
                    set(s0, s0 == 0);
                }
            }
            "cndlt" => {
                if !someone {
                    if s0 > adjust {
                        set(s0 - adjust, false);
                    } else {
                        set(0, true);
                    }
                } else if !holds && s0 == 0 {
                    set(adjust, false);
                } else {
                    set(s0, s0 == 0);
                }
                one.predicate = someone;
            }
            "cndend" => {
                if s0 > adjust {
                    set(s0 - adjust, false);
                } else {
                    set(0, true);
                }
            }
            "cndsetl.a" => {}
            "cndsetl.b" => {
                if s0 == 0 && first.is_some_and(|first| s2[i] != s2[first]) {
                    set(1, false);
                } else {
                    set(s0, s0 == 0);
                }
            }
            _ => match s0 {
                0 => set(2, false),
                1 => set(0, true),
                _ => set(s0, false),
            },
        }
    }
}

/// Tests sequences of conditional instructions with 1 to 32 instances.
#[test]
fn conditional_instructions_do_what_the_reference_says() {
    const NAMES: [&str; 8] = ["cndst", "cndef", "cndsm", "cndlt", "cndend", "cndsetl.a", "cndsetl.b", "cndlpc"];
    let mut random = Random::new(seed(41));
    for round in 0..400 {
        let instances = 1 + round % LANES;
        let mut text = "1 : (ignorepe)\ncndst 0, r90, c0, 1".to_owned();
        let (s2, bits): (Vec<u32>, Vec<u32>) = (0..instances).map(|_| (random.below(3), random.word())).unzip();
        let mut all: Vec<One> = (0..instances).map(|_| One { counter: 0, runs: true, predicate: false }).collect();
        let mut link = 0;
        for step in 0..12 {
            // P0 of the running instances is a bit of r1.
            if random.below(2) == 0 {
                text += &format!(
                    "\n1 : byp ft0, ft1, c0, c0\nbyp ft2, r1\nbyp ft3, ft2\nor ft4, _, ft2, _, c0\nshr ft5, ft4, c{step}\nmov r2, ft5\
                     \n1 : byp ft0, ft1, c0, c0\nbyp ft2, r2\nbyp ft3, ft2\nand ft4, _, ft2, _, c1\nlsl ft5, ft4, c0\ntnz p0, ft5"
                );
                for (one, bits) in all.iter_mut().zip(&bits).filter(|(one, _)| one.runs) {
                    one.predicate = bits >> step & 1 != 0;
                }
            }
            let name = NAMES[random.below(8) as usize];
            let (pcnd, adjust) = (random.below(4), random.below(4));
            text += "\n1 : (ignorepe)\n";
            text += &match name {
                "cndst" | "cndef" => format!("{name} {pcnd}, r90, r90, {adjust}"),
                "cndlt" => format!("{name} {pcnd}, r90, p0, r90, {adjust}"),
                "cndsm" => format!("{name} {pcnd}, r90, r90, r3"),
                "cndend" => format!("{name} r90, r90, {adjust}"),
                "cndlpc" => format!("{name} r90, r90"),
                _ => format!("{name} r90, r90, r3"),
            };
            let holds: &dyn Fn(&One) -> bool = match pcnd {
                0 => &|_| true,
                1 => &|one| one.predicate,
                2 => &|_| false,
                _ => &|one| !one.predicate,
            };
            condition(name, &mut all, holds, &s2, adjust, &mut link);
        }
        text += "\n1 : (ignorepe)\nsavl r4";
        let task = run(&text, task(instances, &[("r1", &|i| bits[i]), ("r3", &|i| s2[i])]));
        for (i, one) in all.iter().enumerate() {
            let found = (task.get(register("r90"), i), task.runs(i), task.predicate(i));
            assert_eq!(found, (Some(one.counter), one.runs, one.predicate), "instance {i} of {instances}\n{text}");
        }
        assert_eq!(values(&task, "r4"), vec![link; instances], "{text}");
    }
}

/// The offset of each group of a program.
fn starts(bytes: &[u8]) -> Vec<u32> {
    isaforge_usc::walk(bytes).map(|(at, _)| at as u32).collect()
}

/// Instances call the functions whose addresses they hold; instances with the same address call the function together.
#[test]
fn instances_call_the_function_that_they_name() {
    let text = "top:\n1 : (ignorepe)\ncndsetl.a r90, r90, r0\n1 : (ignorepe)\ncndsetl.b r90, r90, r0\n1 : lapc\n\
                1 : umadd32 ft0, r1, c3, c1, _\nmov r1, ft0\n1 : br back\n\
                1 : umadd32 ft0, r1, c5, c2, _\nmov r1, ft0\n1 : br back\n\
                1 : umadd32 ft0, r1, c7, c4, _\nmov r1, ft0\n\
                back:\n1 : (ignorepe)\ncndlpc r90, r90\n1 : br.anyinst top\n1 : (ignorepe)\ncndend r90, r90, 2";
    let bytes = assemble(text);
    let starts = starts(&bytes);
    // The functions are groups 3, 5 and 7; addresses are in units of 2 bytes.
    let functions = [3, 5, 7].map(|n| starts[n] / 2);
    let which = |i: usize| [0, 2, 1, 0, 2, 2, 1][i * 5 % 7];
    let mut tasks = [task(32, &[("r0", &|i| functions[which(i)]), ("r1", &|i| 100 + i as u32)])];
    let mut machine = Machine::new(Software::default());
    machine.run(&Program::load(&bytes).expect("it loads"), &mut tasks, 1000).expect("it ends");
    let wanted: Vec<u32> = (0..32)
        .map(|i| {
            let x = 100 + i as u32;
            [x * 3 + 1, x * 5 + 2, x * 7 + 4][which(i)]
        })
        .collect();
    assert_eq!(values(&tasks[0], "r1"), wanted);
    assert!((0..32).all(|i| tasks[0].runs(i)), "all run again");
}

#[test]
fn links_lead_back() {
    let text = "1 : mbyp ft0, c0\nmov r1, ft0\n1 : brl far\n1 : umadd32 ft0, r1, c1, c1, _\nmov r1, ft0\n\
                1 : bal far\n1 : umadd32 ft0, r1, c1, c8, _\nmov r1, ft0\n1 : ba out\n\
                far:\n1 : savl r2\n1 : umadd32 ft0, r1, c2, r2, _\nmov r1, ft0\n1 : lapc\nout:\n1 : mbyp ft0, c1\nmov r3, ft0";
    let starts = starts(&assemble(text));
    // The links are the addresses of the groups after the two calls.
    let (first, second) = (starts[2] / 2, starts[4] / 2);
    let mut x = first + 1;
    x = x * 2 + second + 8;
    let task = run(text, task(3, &[]));
    assert_eq!((values(&task, "r1"), values(&task, "r2")), (vec![x; 3], vec![second; 3]));
    assert_eq!(values(&task, "r3"), [1; 3]);
    // SETL takes the link from a result.
    let text = "1 : mbyp ft0, r5\nmov r6.e0.e1.e2.e3, ft0\nsetl w0\n1 : lapc\n1 : mbyp ft0, c1\nmov r3, ft0\n1 : mbyp ft0, c1\nmov r4, ft0";
    let to = self::starts(&assemble(text))[3] / 2;
    let task = run(text, self::task(2, &[("r5", &|_| to)]));
    assert_eq!((values(&task, "r3"), values(&task, "r4")), (vec![0; 2], vec![1; 2]));
    let error =
        refused("1 : mbyp ft0, r5\nmov r6.e0.e1.e2.e3, ft0\nsetl w0\n1 : lapc", self::task(1, &[("r5", &|_| 3)]));
    assert_eq!(error.trap, Trap::Target(6));
}

/// A branch on a condition or with ANYINST is taken if any instance meets the condition; with ALLINST, if none does.
#[test]
fn branches_ask_all_instances() {
    for (branch, wanted) in [("br", true), ("br.anyinst", true), ("br.allinst", false)] {
        for (some, all_off) in [(true, false), (false, true)] {
            let text = format!(
                "1 : mbyp ft0, r0\ntstgz.u32 ftt, p0, ft0\n1 : if(p0)\n{branch} out\n1 : (ignorepe)\nmbyp ft0, c1\nmov r1, ft0\nout:"
            );
            let task = run(&text, task(5, &[("r0", &|i| u32::from(some && i == 3))]));
            let taken = if wanted { !all_off } else { all_off };
            assert_eq!(values(&task, "r1"), vec![u32::from(!taken); 5], "{branch}, some: {some}");
        }
    }
}

/// The instances that execute a group: by Pe and P0, or all of them.
#[test]
fn conditions_of_groups_choose_instances() {
    let set = "1 : byp ft0, ft1, c0, c0\nbyp ft2, r0\nbyp ft3, ft2\nand ft4, _, ft2, _, c1\nlsl ft5, ft4, c0\ntnz p0, ft5\n\
               1 : (ignorepe)\ncndst 0, r90, c0, 1\n\
               1 : (ignorepe)\ncndsm 0, r90, r90, r2";
    for (condition, wanted) in
        [("", [1, 1, 0, 0]), ("if(p0)", [0, 1, 0, 0]), ("if(!p0)", [1, 0, 0, 0]), ("(ignorepe)", [1; 4])]
    {
        let text = format!("{set}\n1 : {condition}\nmbyp ft0, c1\nmov r1, ft0");
        // The upper two instances do not run, and every second one has P0.
        let task = run(&text, task(4, &[("r0", &|i| i as u32), ("r2", &|i| u32::from(i >= 2))]));
        assert_eq!(values(&task, "r1"), wanted, "{condition}");
    }
}

/// Tasks take a mutex in turns. The sum that they keep in a register is correct, although each is interrupted between
/// reading and writing it.
#[test]
fn one_task_at_a_time_holds_a_mutex() {
    let text = |lock: &str, unlock: &str| {
        format!(
            "1 : mbyp ft0, c5\nmov r2, ft0\nagain:\n{lock}1 : mbyp ft0, sh0\nmov r0, ft0\n1 : mbyp ft0, c31\nmov r3, ft0\n\
             inner:\n1 : mbyp ft0, r6\nmov r6, ft0\n1 : mbyp ft0, c31\nmov r4, ft0\n\
             deep:\n1 : umadd32 ft0, r4, c1, c143, _\ntstgz.s32 ftt, p0, ft0\nmov r4, ft0\n1 : if(p0)\nbr deep\n\
             1 : umadd32 ft0, r3, c1, c143, _\ntstgz.s32 ftt, p0, ft0\nmov r3, ft0\n1 : if(p0)\nbr inner\n\
             1 : umadd32 ft0, r0, c1, r1, _\nmov sh0, ft0\n{unlock}\
             1 : umadd32 ft0, r2, c1, c143, _\ntstgz.s32 ftt, p0, ft0\nmov r2, ft0\n1 : if(p0)\nbr again"
        )
    };
    let sum = |text: &str| {
        let mut tasks: Vec<Task> = (0..7).map(|n| task(1, &[("r1", &|_| 1 << n)])).collect();
        let mut machine = Machine::new(Software::default());
        machine.run(&program(text), &mut tasks, 10_000_000).expect("it ends");
        machine.get(register("sh0"))
    };
    assert_eq!(sum(&text("1 : mutex.lock 3\n", "1 : mutex.release 3\n")), Some(5 * 127));
    assert_ne!(sum(&text("", "")), Some(5 * 127), "without it updates are lost");
}

/// The barrier of the vendor's compute shaders: all tasks but the last sleep, and the last one wakes them.
#[test]
fn sleepers_go_on_when_they_are_woken() {
    let text = "1 : mutex.lock 4\n1 : mbyp ft0, sh0\nmov r0, ft0\n1 : umadd32 ft0, r0, c1, c1, _\nmov sh0, ft0\nmov.w1 r0, ft0\n\
                1 : umadd32 ft0, r0, c1, r9, _\ntstz.u32 ftt, p0, ft0\n1 : if(p0)\nbr last\n1 : mutex.release_sleep 4\n1 : br on\n\
                last:\n1 : mutex.release_wakeup 4\non:\n1 : mbyp ft0, sh0\nmov r1, ft0";
    let text = text.replace("mov sh0, ft0\nmov.w1 r0, ft0", "mov sh0, ft0\n1 : mbyp ft0, sh0\nmov r0, ft0");
    let mut tasks: Vec<Task> = (0..6).map(|_| task(2, &[("r9", &|_| 0u32.wrapping_sub(6))])).collect();
    Machine::new(Software::default()).run(&program(&text), &mut tasks, 10_000).expect("it ends");
    assert!(tasks.iter().all(|task| values(task, "r1") == [6, 6]), "nobody goes on before all have come");
    // With one task too few nobody wakes them, which is reported.
    let mut tasks: Vec<Task> = (0..5).map(|_| task(2, &[("r9", &|_| 0u32.wrapping_sub(6))])).collect();
    let error = Machine::new(Software::default()).run(&program(&text), &mut tasks, 10_000).expect_err("all sleep");
    assert_eq!(error.trap, Trap::Deadlock(4));
}

/// A wake of one mutex is not lost after a wake of another, and does not wake tasks that fall asleep later.
#[test]
fn every_wake_counts() {
    let text = "1 : mbyp ft0, r0\ntstz.u32 ftt, p0, ft0\n1 : if(p0)\nbr wakes\n\
                1 : umadd32 ft0, r0, c1, c143, _\ntstz.u32 ftt, p0, ft0\n1 : if(p0)\nbr first\n\
                1 : mutex.lock 2\n1 : mutex.release_sleep 2\n1 : br on\nfirst:\n1 : mutex.lock 1\n1 : mutex.release_sleep 1\n1 : br on\n\
                wakes:\n1 : mutex.lock 1\n1 : mutex.release_wakeup 1\n1 : mutex.lock 2\n1 : mutex.release_wakeup 2\n\
                on:\n1 : mbyp ft0, c1\nmov r1, ft0";
    let mut tasks: Vec<Task> = [1, 2, 0].iter().map(|n| task(1, &[("r0", &|_| *n)])).collect();
    Machine::new(Software::default()).run(&program(text), &mut tasks, 1000).expect("both sleepers wake");
    let alone = "1 : mutex.lock 1\n1 : mutex.release_wakeup 1\n1 : mutex.lock 1\n1 : mutex.release_sleep 1";
    assert_eq!(refused(alone, task(1, &[])).trap, Trap::Deadlock(1));
}

/// Each instance has index registers of its own. They reach every bank, and trap beyond its end.
#[test]
fn indexes_reach_into_every_bank() {
    for (bank, size) in [("r", 248), ("vi", 248), ("cf", 4096), ("cfa", 4096), ("sh", 4096), ("dc", 16384)] {
        for index in ["idx0", "idx1"] {
            let text =
                format!("1 : mbyp ft0, r0\nmov idx{}[{index}], ft0\n1 : mbyp ft0, {bank}12[{index}]\nmov r1, ft0", 0);
            let mut machine = Machine::new(Software::default());
            let mut task = task(32, &[("r0", &|i| 3 + (i as u32 * 7) % 32)]);
            let value = |n: u32| n.wrapping_mul(0x9e37_79b9);
            for n in 10..60 {
                let to = register(&format!("{bank}{n}"));
                if matches!(to, Register::Shared(_) | Register::Dynamic(_)) {
                    machine.set(to, value(n)).expect("the machine's");
                } else {
                    task.fill(to, value(n)).expect("the task's");
                }
            }
            let mut tasks = [task];
            machine.run(&program(&text), &mut tasks, 10).expect("it ends");
            let wanted: Vec<u32> = (0..32).map(|i| value(12 + 3 + (i * 7) % 32)).collect();
            assert_eq!(values(&tasks[0], "r1"), wanted, "{text}");
            let past = self::task(2, &[("r0", &|i| i as u32 * (size - 12))]);
            let error = refused(&text, past);
            let outside = matches!(error.trap, Trap::Index { instance: 1, number, .. } if number == u64::from(size));
            assert!(outside, "{bank}: {error}");
        }
    }
    // Writes through an index work too, except to constants.
    let text = "1 : mbyp ft0, r0\nmov idx0[idx1], ft0\n1 : mbyp ft0, c9\nmov r20[idx1], ft0\n1 : mbyp ft0, c7\nmov o1[idx1], ft0";
    let task = run(text, task(4, &[("r0", &|i| i as u32)]));
    assert_eq!([0, 1, 2, 3].map(|i| task.get(register(&format!("r{}", 20 + i)), i)), [Some(9); 4]);
    assert_eq!([0, 1, 2, 3].map(|i| task.pixel_outputs(i)[1 + i]), [7; 4]);
    let error = Program::load(&assemble("1 : mbyp ft0, c9\nmov dc1[idx0], ft0")).expect_err("constants are read only");
    assert!(matches!(error, LoadError::Fixed { .. }), "{error}");
}

/// Slot registers replace internal registers from the last one downwards, and all instances share them.
#[test]
fn slots_are_shared_by_a_task() {
    let text = "1 : if(p0)\nmbyp ft0, r0\nmov i7, ft0\n1 : if(p0)\nmbyp ft0, r0\nmov i0, ft0\n1 : mbyp ft0, i7\nmbyp ft1, i0\nmov r1, ft0\nmov r2, ft1";
    let text = format!("1 : mbyp ft0, r3\ntstgz.u32 ftt, p0, ft0\n{text}");
    let bytes = assemble(&text);
    let given = task(4, &[("r0", &|i| 40 + i as u32), ("r3", &|i| u32::from(i == 2))]);
    for (slots, wanted) in [(0, [0, 0, 42, 0]), (1, [42; 4]), (7, [42; 4])] {
        let mut tasks = [given.clone()];
        let program = Program::load_with_slots(&bytes, slots).expect("it loads");
        Machine::new(Software::default()).run(&program, &mut tasks, 10).expect("it ends");
        assert_eq!(values(&tasks[0], "r1"), wanted, "{slots} slots");
        assert_eq!(values(&tasks[0], "r2"), [0, 0, 42, 0], "internal register 0 is each instance's own");
        assert_eq!(tasks[0].get(register("sl0"), 0), Some(if slots > 0 { 42 } else { 0 }));
    }
}

/// A repetition does not step from internal registers into slots.
#[test]
fn slots_end_the_internal_registers() {
    let bytes = assemble("1 : repeat 2\nmbyp ft0, r0\nmov i5, ft0");
    assert!(Program::load_with_slots(&bytes, 1).is_ok());
    let error = Program::load_with_slots(&bytes, 2).expect_err("i6 is a slot");
    assert!(matches!(error, LoadError::Steps { by: 1, .. }), "{error}");
}

/// An atomic group is executed by one instance after another; each reads what the previous one wrote.
#[test]
fn atomic_groups_add_up() {
    let text = "1 : atomic\numadd32 ft0, sh0, c1, r0, _\nmov r1, sh0\nmov sh0, ft0";
    let mut machine = Machine::new(Software::default());
    machine.set(register("sh0"), 1000).expect("a shared register");
    let mut tasks = [task(32, &[("r0", &|i| 1 + i as u32)]), task(2, &[("r0", &|_| 5)])];
    machine.run(&program(text), &mut tasks, 10).expect("it ends");
    assert_eq!(machine.get(register("sh0")), Some(1000 + 32 * 33 / 2 + 10));
    let before: Vec<u32> = (0..32).map(|i| 1000 + i * (i + 1) / 2).collect();
    assert_eq!(values(&tasks[0], "r1"), before);
    // Without `atomic`, all instances read the same value.
    let mut machine = Machine::new(Software::default());
    machine
        .run(&program(&text.replace("atomic\n", "")), &mut [task(3, &[("r0", &|i| 1 + i as u32)])], 10)
        .expect("it ends");
    assert_eq!(machine.get(register("sh0")), Some(3));
}

/// Atomic operations on memory return the old value and store the new one.
#[test]
fn memory_is_changed_atomically() {
    type Combine = fn(u32, u32) -> u32;
    let table: [(&str, Combine); 10] = [
        ("add", |a, b| a.wrapping_add(b)),
        ("sub", |a, b| a.wrapping_sub(b)),
        ("xchg", |_, b| b),
        ("umin", |a, b| if a < b { a } else { b }),
        ("imin", |a, b| if (a as i32) < b as i32 { a } else { b }),
        ("umax", |a, b| if a > b { a } else { b }),
        ("imax", |a, b| if (a as i32) > b as i32 { a } else { b }),
        ("and", |a, b| a & b),
        ("or", |a, b| a | b),
        ("xor", |a, b| a ^ b),
    ];
    let mut random = Random::new(seed(42));
    for (name, combine) in table {
        let operands: Vec<u32> = (0..32).map(|_| random.word()).collect();
        let start = random.word();
        let mut memory = Memory::new();
        memory.map(0x3_0000_0010, start.to_le_bytes().to_vec()).expect("free");
        let mut machine = Machine::new(Software { memory, ..Software::default() });
        // The low and the high word of the address, then the operand.
        let mut tasks = [task(32, &[("r10", &|_| 0x10), ("r11", &|_| 3), ("r12", &|i| operands[i])])];
        machine
            .run(&program(&format!("1 : atom.{name} r20, drc0, r10\n1 : wdf drc0")), &mut tasks, 10)
            .expect("it ends");
        let mut value = start;
        for (i, operand) in operands.iter().enumerate() {
            assert_eq!(tasks[0].get(register("r20"), i), Some(value), "{name}, instance {i}");
            value = combine(value, *operand);
        }
        assert_eq!(machine.host.memory.region(0x3_0000_0010), Some(&value.to_le_bytes()[..]), "{name}");
    }
}

/// Loads and stores: sizes, bursts from the record and from a register, the coverage of tiled stores.
#[test]
fn bursts_go_to_memory_and_back() {
    let given: Vec<u32> = (0..16).map(|n| 0x1122_3344u32.wrapping_mul(n + 1)).collect();
    for (size, width) in [(0, 1), (1, 2), (2, 4)] {
        for (count, length) in [(1, "1"), (5, "5"), (16, "16"), (7, "r3")] {
            for (tiled, mask) in [("", ""), (".tiled", ", r4")] {
                let mut memory = Memory::new();
                memory.map(0x4000, vec![0xee; 64 * 2]).expect("free");
                let mut machine = Machine::new(Software { memory, ..Software::default() });
                for (n, value) in given.iter().enumerate() {
                    machine.set(register(&format!("sh{n}")), *value).expect("a shared register");
                }
                let text = format!(
                    "1 : st{tiled} sh0, {size}, drc0, {length}, r0{mask}\n1 : idf drc0, r0\n1 : wdf drc0\n1 : ld r20, drc0, 16, r0\n1 : wdf drc0"
                );
                let task = task(2, &[("r0", &|i| 0x4000 + 64 * i as u32), ("r3", &|_| 7), ("r4", &|i| 1 - i as u32)]);
                let mut tasks = [task];
                machine.run(&program(&text), &mut tasks, 10).expect("it ends");
                let region = machine.host.memory.region(0x4000).expect("mapped").to_vec();
                for i in 0..2 {
                    let stored: Vec<u8> =
                        given[..count].iter().flat_map(|v| v.to_le_bytes()[..width].to_vec()).collect();
                    let mut wanted = vec![0xee; 64];
                    if tiled.is_empty() || i == 0 {
                        wanted[..stored.len()].copy_from_slice(&stored);
                    }
                    assert_eq!(region[64 * i..64 * i + 64], wanted, "{text}, instance {i}");
                    let words: Vec<u32> =
                        wanted.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
                    let loaded: Vec<u32> =
                        (20..36).map(|n| tasks[0].get(register(&format!("r{n}")), i).expect("a register")).collect();
                    assert_eq!(loaded, words, "{text}, instance {i}");
                }
            }
        }
    }
}

/// A repeated group steps its registers; constants stay the same.
#[test]
fn repetitions_step_registers() {
    let text = "1 : repeat 4\nfmad ft0, r0, c66, r10\nmov r20, ft0\n1 : repeat 3\nuvsw.write sh5, 9\n\
                1 : repeat 2\nmbyp ft0, i2\nmov o2, ft0\n1 : repeat 2\nmbyp ft0, r20\nmbyp ft1, c64\nmov r30, ft0\nmov r32, ft1";
    let mut machine = Machine::new(Software::default());
    let mut given = task(2, &[("i2", &|i| 70 + i as u32), ("i3", &|i| 80 + i as u32)]);
    for n in 0..4u32 {
        given.fill(register(&format!("r{n}")), (n as f32).to_bits()).expect("a register");
        given.fill(register(&format!("r{}", 10 + n)), 100f32.to_bits()).expect("a register");
        machine.set(register(&format!("sh{}", 5 + n)), 500 + n).expect("a shared register");
    }
    let mut tasks = [given];
    machine.run(&program(text), &mut tasks, 10).expect("it ends");
    let at = |name: &str| tasks[0].get(register(name), 1).expect("a register");
    assert_eq!([20, 21, 22, 23].map(|n| at(&format!("r{n}"))), [100.0, 104.0, 108.0, 112.0].map(f32::to_bits));
    assert_eq!([at("r30"), at("r31"), at("r32"), at("r33")], [100.0, 104.0, 1.0, 1.0].map(f32::to_bits));
    assert_eq!(tasks[0].pixel_outputs(1)[..4], [0, 0, 71, 81]);
    let written: Vec<_> =
        machine.host.vertex_outputs.iter().filter(|w| w.0.instance == 0).map(|w| (w.1, w.2)).collect();
    assert_eq!(written, [(9, 500), (10, 501), (11, 502)]);
    // Stepping past the end of a bank is an error of the program.
    let error = Program::load(&assemble("1 : repeat 4\nmbyp ft0, r245\nmov r0, ft0")).expect_err("r248 does not exist");
    assert!(matches!(error, LoadError::Steps { by: 3, .. }), "{error}");
}

/// Vertices and strips: each form of UVSW.
#[test]
fn vertices_are_emitted_and_strips_cut() {
    let text = "1 : uvsw.write r0, r1@S2\n1 : uvsw.emit 2\n1 : uvsw.cut 1\n1 : uvsw.emit.cut 3\n1 : uvsw.write.emit.endtask c5, 7\n1 : uvsw.emit";
    let mut machine = Machine::new(Software::default());
    let mut tasks = [task(2, &[("r0", &|i| 30 + i as u32), ("r1", &|i| 12 + i as u32)])];
    let report = machine.run(&program(text), &mut tasks, 20).expect("it ends");
    let written: Vec<_> = machine.host.vertex_outputs.iter().map(|w| (w.0.instance, w.1, w.2)).collect();
    assert_eq!(written, [(0, 12, 30), (1, 13, 31), (0, 7, 5), (1, 7, 5)]);
    let emitted: Vec<_> = machine.host.emitted.iter().filter(|e| e.0.instance == 1).map(|e| (e.1, e.2, e.3)).collect();
    assert_eq!(emitted, [(2, true, false), (1, false, true), (3, true, true), (0, true, false)]);
    assert_eq!(report.groups, 5, "the task ends where it says");
}

/// A fragment is kept if a test passes; without tests all are kept. Tests with IFB only return their result.
#[test]
fn tests_decide_which_fragments_stay() {
    let compare: [fn(f32, f32) -> bool; 8] = [
        |_, _| false,
        |data, reference| data < reference,
        |data, reference| data == reference,
        |data, reference| data <= reference,
        |data, reference| data > reference,
        |data, reference| data != reference,
        |data, reference| data >= reference,
        |_, _| true,
    ];
    for (state, passes) in compare.iter().enumerate() {
        for (form, says) in [("atst", true), ("atst.ifb", false)] {
            let mut machine = Machine::new(Software::default());
            let given = task(3, &[("r0", &|i| [0.25f32, 0.5, 0.75][i].to_bits()), ("r1", &|_| 0.5f32.to_bits())]);
            let mut tasks = [given];
            // The reference value comes first, then the data, then the state.
            machine.run(&program(&format!("1 : {form} p0, r1, r0, c{state}")), &mut tasks, 10).expect("it ends");
            let passed = [0.25, 0.5, 0.75].map(|data| passes(data, 0.5));
            assert_eq!([0, 1, 2].map(|i| tasks[0].predicate(i)), passed, "{form} {state}");
            let lost: Vec<usize> = machine.host.discarded.iter().map(|who| who.instance).collect();
            let wanted: Vec<usize> = (0..3).filter(|i| says && !passed[*i]).collect();
            assert_eq!(lost, wanted, "{form} {state}");
        }
    }
    // As Mesa discards fragments: only those that are kept execute the test, which always passes, or feed back their
    // depth.
    for says in ["atst _, c0, c0, c7", "mbyp ft0, r0\nmov r6.e0.e1.e2.e3, ft0\ndepthf r6"] {
        let text = format!("1 : mbyp ft0, r0\ntstz.u32 ftt, p0, ft0\n1 : if(p0)\n{says}\n1 : wdf drc0");
        let mut machine = Machine::new(Software::default());
        machine.run(&program(&text), &mut [task(4, &[("r0", &|i| u32::from(i % 2 == 0))])], 10).expect("it ends");
        assert_eq!(machine.host.discarded.iter().map(|who| who.instance).collect::<Vec<_>>(), [0, 2], "{says}");
    }
    // A failed comparison of a shadow does not affect the fragment.
    let mut machine = Machine::new(Software::default());
    let text = "1 : atst.ifb p0, c64, c0, c2\n1 : atst _, c0, c0, c7";
    machine.run(&program(text), &mut [task(4, &[])], 10).expect("it ends");
    assert_eq!(machine.host.discarded, []);
    let mut machine = Machine::new(Software::default());
    machine.run(&program("1 : mbyp ft0, c1\nmov o0, ft0"), &mut [task(4, &[])], 10).expect("it ends");
    assert_eq!((machine.host.discarded.len(), machine.host.pixels.len()), (0, 4));
}

/// Masks of instances, and moves of masks.
#[test]
fn masks_name_instances() {
    let masked = |mode: &str| {
        let text = format!(
            "1 : (ignorepe)\ncndst 0, r90, c0, 1\n1 : (ignorepe)\ncndsm 0, r90, r90, r0\n1 : savmsk.{mode} r1, r2\n1 : (ignorepe)\nmbyp ft0, r1\nmov r3, ft0"
        );
        let mut task = task(5, &[("r0", &|i| u32::from(i % 2 == 1))]);
        for i in 0..5 {
            task.place(i, 10 + i as u32, 20).expect("an instance");
        }
        let task = run(&text, task);
        (values(&task, "r1")[0], values(&task, "r2")[2])
    };
    assert_eq!(masked("vm"), (0b11111, 0));
    assert_eq!(masked("icm"), (0b10101, 0));
    assert_eq!(masked("icmi"), (0b01010, 0));
    assert_eq!(masked("icmoc"), (0b10101, 0));
    assert_eq!(masked("caxy"), (0b10101, 20 << 16 | 12));
    // The moved mask determines the instances that run.
    let task = run("1 : movmsk.sm r0\n1 : mbyp ft0, c1\nmov r1, ft0", task(4, &[("r0", &|_| 0b0110)]));
    assert_eq!(values(&task, "r1"), [0, 1, 1, 0]);
}

/// A phase change continues at an address, or ends the task.
#[test]
fn phases_follow_one_another() {
    let text = "1 : phas r0, inst, 0\n1 : mbyp ft0, c1\nmov r1, ft0\n1 : mbyp ft0, c2\nmov r2, ft0\n1 : phas.end c0, inst, 0\n1 : mbyp ft0, c3\nmov r3, ft0";
    let to = starts(&assemble(text))[2];
    let task = run(text, task(2, &[("r0", &|_| to)]));
    assert_eq!([values(&task, "r1"), values(&task, "r2"), values(&task, "r3")], [[0, 0], [2, 2], [0, 0]]);
}

/// The constants of the reference's appendix.
#[test]
fn special_constants_are_those_of_the_appendix() {
    let powers = (0..11).map(|n| f32::powi(2.0, n).to_bits()).chain((1..15).map(|n| f32::powi(2.0, -n).to_bits()));
    let others: [u32; 39] = [
        0x402df854, 0x3ebc5ab2, 0x3fb504f3, 0x3f3504f3, 0x3f490fdb, 0x3fc90fdb, 0x40490fdb, 0x3ea2f983, 0x3f22f983,
        0x3fa2f983, 0x40c90fdb, 0x41490fdb, 0x41c90fdb, 0x37800000, 0x38000000, 0x3b4d2e1c, 0x414eb852, 0x3ed55555,
        0x3f870a3d, 0x3d6147ae, 0x80000000, 0x7f800000, 0xffffffff, 0x7fff7fff, 0x3e9a209b, 0x3f317218, 0x0000007f,
        0x7f7fffff, 0x4b000000, 0x4b800000, 0x3f860a92, 0x3eaaaaab, 0x3e2aaaab, 0x40549a78, 0x3fb8aa3b, 0x3d25aee6,
        0x3d9e8391, 0x3f72a76f, 0x4019999a,
    ];
    let numbers = (0..32).chain(64..96).chain(128..160);
    let all: Vec<(u32, u32)> = numbers.zip((0..32).chain(powers).chain(others)).collect();
    assert_eq!(all.len(), 96);
    for (number, value) in all {
        let task = run(&format!("1 : mbyp ft0, c{number}\nmov r0, ft0"), task(2, &[]));
        assert_eq!(values(&task, "r0"), [value; 2], "c{number}");
        assert!(Task::new(1).expect("one").set(Register::special(number).expect("it is there"), 0, 1).is_err());
        let write =
            assemble_program(isaforge_usc::ISA, &format!("1 : mbyp ft0, r0\nmov c{number}, ft0\n1 : nop.end\n"));
        assert!(write.map_or(true, |bytes| Program::load(&bytes).is_err()), "c{number} is read only");
    }
}

/// Banks have the right sizes and owners.
#[test]
fn banks_end_where_they_say_and_are_shared_as_they_say() {
    for (inside, outside) in [("r247", "r248"), ("vi247", "vi248")] {
        assert!(Program::load(&assemble(&format!("1 : mbyp ft0, {inside}\nmov r0, ft0"))).is_ok());
        let error = Program::load(&assemble(&format!("1 : mbyp ft0, {outside}\nmov r0, ft0"))).expect_err("too far");
        assert!(matches!(error, LoadError::Register { number: 248, .. }), "{error}");
    }
    // Instances write their own temporaries, coefficients of the task, and registers shared by all tasks.
    let text = "1 : mbyp ft0, r0\nmov r1, ft0\n1 : mbyp ft0, r0\nmov cf3, ft0\n1 : mbyp ft0, r0\nmov cfa3, ft0\n\
                1 : mbyp ft0, r0\nmov sh3, ft0\n1 : mbyp ft0, r0\nmov g3, ft0";
    let mut machine = Machine::new(Software::default());
    let mut tasks = [task(3, &[("r0", &|i| 10 + i as u32)]), task(2, &[("r0", &|i| 20 + i as u32)])];
    machine.run(&program(text), &mut tasks, 100).expect("it ends");
    assert_eq!(values(&tasks[0], "r1"), [10, 11, 12]);
    for name in ["cf3", "cfa3"] {
        assert_eq!(tasks.each_ref().map(|task| task.get(register(name), 0)), [Some(12), Some(21)], "{name}");
    }
    assert_eq!([machine.get(register("sh3")), machine.get(register("g3"))], [Some(21); 2]);
}

/// SBO sets the base of coefficients and shared registers.
#[test]
fn bases_are_added_to_numbers() {
    let text = "1 : sbo.shared 100\n1 : mbyp ft0, sh3\nmov r0, ft0\n1 : mbyp ft0, c9\nmov sh4, ft0\n1 : sbo.coeff 8\n\
                1 : mbyp ft0, cf1\nmov r1, ft0\n1 : sbo.shared 0\n1 : mbyp ft0, sh3\nmov r2, ft0";
    let mut machine = Machine::new(Software::default());
    machine.set(register("sh103"), 77).expect("a shared register");
    machine.set(register("sh3"), 66).expect("a shared register");
    let mut tasks = [task(1, &[])];
    tasks[0].fill(register("cf9"), 55).expect("a coefficient");
    machine.run(&program(text), &mut tasks, 100).expect("it ends");
    assert_eq!(["r0", "r1", "r2"].map(|name| tasks[0].get(register(name), 0)), [Some(77), Some(55), Some(66)]);
    assert_eq!(machine.get(register("sh104")), Some(9));
}
