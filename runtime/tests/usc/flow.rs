//! Which instances execute which groups: conditions, branches, links, mutexes; and the owners of registers.

use isaforge_core::group::listing::assemble_program;
use isaforge_runtime::Memory;
use isaforge_runtime::usc::{LANES, LoadError, Machine, Program, Register, RunError, Software, Task, Trap};

use crate::seed::seed;
use crate::support::{Random, register};

mod conditions;
mod memory;
mod registers;

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
