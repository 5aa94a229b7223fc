//! Groups, banks, the queue, locks, time, and the ends of runs.

use std::ops::ControlFlow;

use isaforge_core::sample::{Random, sample};
use isaforge_runtime::machine::{At, Observer, Register, View};
use isaforge_runtime::vpu::{
    BANKS, Config, Machine, Misuse, Rectangle, Registers, Report, RunError, SetupError, TileSize, Wait, assemble,
};

use crate::seed::seed;

fn program(text: &str) -> Vec<u64> {
    assemble(text).unwrap_or_else(|errors| panic!("{}", errors[0]))
}

fn machine(text: &str, config: &Config) -> Machine {
    let mut machine = Machine::new(config).expect("the configuration is possible");
    machine.load(&program(text)).expect("the program fits");
    machine
}

fn group(text: &str) -> Machine {
    let mut machine = machine(text, &Config { memory: 256, ..Config::default() });
    machine.start_group(0, 0, (8, 3), 0, Registers::default()).expect("there is room");
    machine
}

fn rectangle(machine: &mut Machine, width: u32, height: u32) {
    machine.start_rectangle(0, Rectangle { x: 0, y: 0, width, height }, 0, 0).expect("core 0 and bank 0 exist");
}

/// Calls a function after every instruction.
struct After<F>(F);

impl<F: FnMut(&dyn View)> Observer for After<F> {
    fn after(&mut self, view: &dyn View) -> ControlFlow<()> {
        (self.0)(view);
        ControlFlow::Continue(())
    }
}

/// Runs a machine to the end. Returns where every instruction was executed.
fn trace(machine: &mut Machine) -> (Vec<At>, Report) {
    let mut places = Vec::new();
    let report = machine.run_observed(&mut After(|view: &dyn View| places.push(view.at()))).expect("it ends");
    (places, report)
}

type Run = fn(&mut Machine) -> Result<Report, RunError>;

const BOTH: [Run; 2] = [Machine::run, Machine::run_cycles];

#[test]
fn a_lock_that_no_one_releases_is_a_deadlock_that_names_the_groups() {
    for run in BOTH {
        let mut machine = group("ReadLockLocalTile1 r0.xyzw\nReadLockLocalTile1.zero r1.xyzw\nExit");
        let error = run(&mut machine).expect_err("it waits for itself");
        let RunError::Deadlock(places) = &error else { panic!("{error}") };
        assert_eq!((places.len(), places[0].pc, places[0].wait), (1, 1, Some(Wait::Lock)));
        assert_eq!(
            error.to_string(),
            "deadlock: every live group is waiting\n  core 0 group 0 at (8, 3), instruction 1: ReadLockLocalTile1.zero r1.xyzw (a tile lock is held)"
        );
    }
}

#[test]
fn a_lock_held_while_waiting_for_memory_is_no_deadlock() {
    let text = "
        ReadLockLocalTile0 r0.xyzw
        IssueExternalLoad g0.xyzw
        FinishExternalLoad r1.xyzw
        AddInt16 r0.xyzw, r0.xyzw, r1.xyzw
        WriteUnlockLocalTile0.xyzw r0.xyzw
        Exit";
    for seed in 0..20 {
        for run in BOTH {
            let tile_size = TileSize::new(4, 1).expect("4 x 1 is possible");
            let mut machine = machine(text, &Config { tile_size, memory: 8, seed, ..Config::default() });
            machine.memory().write(0, &[1, 0, 2, 0, 3, 0, 4, 0]);
            rectangle(&mut machine, 40, 5);
            run(&mut machine).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            assert_eq!(machine.tiles(0).expect("core 0 exists")[0].data, [[50, 100, 150, 200]; 4]);
        }
    }
}

#[test]
fn endless_programs_end_with_the_budget() {
    for run in BOTH {
        let mut endless = machine("again: Sync\nBranch again", &Config { budget: 1000, ..Config::default() });
        rectangle(&mut endless, 8, 1);
        let error = run(&mut endless).expect_err("it never ends");
        let RunError::Budget { budget, running } = &error else { panic!("{error}") };
        assert_eq!((*budget, running.len()), (1000, 2));
        assert!(error.to_string().contains("core 0 group 1 at (4, 0), instruction "), "{error}");
    }
}

#[test]
fn a_word_that_is_no_instruction_stops_the_run_only_when_it_is_fetched() {
    for run in BOTH {
        group("Branch over\n.word 0x2F00000000000000\nover: Exit").run().expect("the word is never reached");
        let error = run(&mut group("Sync\n.word 0x1000000000000801")).expect_err("the word is reached");
        assert_eq!(
            error.to_string(),
            "core 0 group 0 at (8, 3), instruction 1: .word 0x1000000000000801: reserved bit 11,0 set in the standard layout"
        );
    }
}

#[test]
fn harmless_misuse_is_warned_of_and_changes_nothing() {
    let cases = [
        ("FinishExternalLoad.zero r0.xyzw\nExit", Misuse::FinishWithoutIssue),
        ("IssueExternalLoad r0.xyzw\nIssueExternalLoad r0.xyzw\nFinishExternalLoad r0.xyzw\nExit", Misuse::PendingLost),
        ("ExternalWrite g0.xyzw, r0.xyzw\nExit", Misuse::OutsideMemory),
        ("WriteUnlockLocalTile0.____ r0.xyzw\nExit", Misuse::UnlockNotHeld),
        ("ThreadGroupAllocate\nThreadGroupAllocate\nThreadGroupLaunch.xyzw g1.xyzw\nExit", Misuse::SecondAllocate),
        ("ThreadGroupLaunch.xyzw r0.xyzw\nExit", Misuse::LaunchWithoutBank),
        ("And new.g3.xyzw, g0.xyzw, g0.xyzw\nExit", Misuse::SpawnedWriteWithoutBank),
        ("ThreadGroupAllocate\nExit", Misuse::BankNeverLaunched),
        ("ThreadGroupAllocate\nThreadGroupLaunch.____ g1.xyzw\nExit", Misuse::EmptyLaunch),
    ];
    for (text, misuse) in cases {
        for run in BOTH {
            let mut machine = group(text);
            // An address far outside memory, and the address of an Exit.
            machine.bank_mut(0, 0).expect("bank 0 exists")[..2].copy_from_slice(&[[0, 1, 0, 0], [900, 0, 0, 0]]);
            run(&mut machine).expect("nothing goes wrong");
            let warnings = machine.warnings();
            assert_eq!(warnings.len(), 1, "{text}: {warnings:?}");
            assert_eq!(warnings[0].misuse, misuse);
            assert_eq!(machine.ended(0)[0].registers, Registers::default(), "{text}");
            assert!(machine.memory().bytes().iter().all(|b| *b == 0));
        }
    }
}

#[test]
fn a_taken_branch_costs_one_bubble() {
    let mut machine = group("Branch next\nnext: Branch.x never\nnever: Exit");
    let (places, report) = trace(&mut machine);
    assert_eq!(places.iter().map(|at| at.pc).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(report.cycles, 4, "only the first branch is taken");
}

#[test]
fn data_comes_later_and_sooner_from_the_cache() {
    let parts = [
        "IssueExternalLoad g0.xyzw\nFinishExternalLoad r1.xyzw\n",
        "IssueExternalLoad g0.xyzw\nFinishExternalLoad r2.xyzw\n",
        "IssueExternalFetchOr g0.xyzw, r0.xyzw\nFinishExternalLoad r3.xyzw\n",
    ];
    // The cycles in which nothing is issued, for as many of the parts.
    let idle = |count: usize| {
        let mut machine = group(&(parts[..count].concat() + "Exit"));
        machine.memory().write(0, &[1, 0, 2, 0, 3, 0, 4, 0]);
        let report = machine.run_cycles().expect("it ends");
        assert_eq!(machine.ended(0)[0].registers.local[3][count], [1, 2, 3, 4]);
        report.cycles - report.steps
    };
    let [first, both, all] = [1, 2, 3].map(idle);
    let (cached, atomic) = (both - first, all - both);
    assert!(first > cached && cached > 0 && atomic > cached, "first {first}, cached {cached}, atomic {atomic}");
}

#[test]
fn other_groups_issue_while_one_waits_for_memory() {
    let text = "IssueExternalLoad g0.xyzw\nFinishExternalLoad r1.xyzw\nExit";
    let cycles = |width| {
        let mut machine = machine(text, &Config { memory: 64, ..Config::default() });
        rectangle(&mut machine, width, 1);
        machine.run_cycles().expect("it ends").cycles
    };
    let (one, ten) = (cycles(4), cycles(40));
    assert!(ten < one + 40, "ten groups overlap: {ten} cycles, one alone takes {one}");
}

#[test]
fn observers_see_writes_flags_and_masks() {
    let mut machine = machine(
        "
        LoadPosition.zero r0.x_z_
        Branch.x 2
        AddInt16 s3.x___, r0.xxxx, r0.xxxx
        Sync
        WriteLocalTile2._y__ g1.xyzw
        Exit",
        &Config::default(),
    );
    machine.bank_mut(0, 0).expect("bank 0 exists")[1] = [1, 2, 3, 4];
    machine.set_tile(0, 2, &[[9; 4]; 32 * 32]).expect("core 0 exists");
    // What is not written keeps its content.
    let registers = Registers { local: [[[7; 4]; 16]; 4], flags: [15; 4], ..Registers::default() };
    machine.start_group(0, 0, (8, 3), 0, registers).expect("there is room");
    let mut seen = Vec::new();
    let mut observer = After(|view: &dyn View| {
        let values = |bank| [0, 1, 2, 3].map(|lane| view.read(Register { bank, index: 0 }, lane).expect("it exists"));
        seen.push((view.origin(), view.at(), values(0), values(3)));
    });
    machine.run_observed(&mut observer).expect("it ends");
    let (origin, at, registers, flags) = &seen[0];
    assert_eq!((&origin[..], at.pc, at.live, at.active), ("core 0 group 0 at (8,3)", 0, 15, 15));
    assert_eq!(*registers, [8, 9, 10, 11].map(|x| 0x0007_0000_0007_0000 | x << 32 | x));
    // The two components that are written are not 0.
    assert_eq!(*flags, [0b1010; 4]);
    for (index, element) in machine.tiles(0).expect("core 0 exists")[2].data.iter().enumerate() {
        let written = (3 * 32 + 8..3 * 32 + 12).contains(&index);
        assert_eq!(*element, [9, if written { 2 } else { 9 }, 9, 9], "element {index}");
    }
    let (_, at, ..) = &seen[5];
    assert_eq!((at.pc, at.live, at.active), (5, 0, 0));
}

#[test]
fn one_seed_gives_one_run() {
    let run = |seed| {
        let text = "
            LoadPosition r0.xyzw
            IssueExternalFetchAdd32 g0.xyzw, g1.xyzw
            FinishExternalLoad r1.xyzw
            IssueExternalLoad r0.xyzw
            FinishExternalLoad r2.xyzw
            Exit";
        let mut machine = machine(text, &Config { seed, cores: 2, memory: 4096, ..Config::default() });
        machine.bank_mut(0, 0).expect("bank 0 exists")[1] = [1, 0, 0, 0];
        rectangle(&mut machine, 64, 4);
        machine.start_rectangle(1, Rectangle { x: 64, y: 0, width: 9, height: 3 }, 0, 0).expect("core 1 exists");
        let after = trace(&mut machine);
        (after, machine.memory().bytes())
    };
    assert_eq!(run(0), run(0));
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6), "seeds vary what latency there is");
}

/// A parent that passes its position to a child, which adds it to a sum in memory.
const FAMILY: &str = "
    parent: ThreadGroupAllocate
            LoadPosition new.g1.xyzw                ; thread 3 is the last to write
            And new.g2.xyzw, g2.xyzw, g2.xyzw
            AddInt16 r1.x___, g0.xxxx, g2.yyyy      ; the child's entry
            LoadPosition r1._y__
            And r1._y__, r1.yyyy, g2.yyyy
            ThreadGroupLaunch.x_z_ r1.xyzw
            Exit
    child:  IssueExternalFetchAdd32 g2.yyyy, g1.xwxw
            FinishExternalLoad r0.xyzw
            Exit";

#[test]
fn launched_groups_run_against_what_was_written_for_them() {
    for run in BOTH {
        let mut machine = machine(FAMILY, &Config { memory: 64, ..Config::default() });
        machine.bank_mut(0, 0).expect("bank 0 exists")[0] = [8, 0, 0, 0];
        rectangle(&mut machine, 512, 3);
        let report = run(&mut machine).expect("it ends");
        assert_eq!(report.groups, 2 * 128 * 3, "each group has launched another");
        let sum = machine.memory().read(0, 4);
        // Two lanes of each child add the x of thread 3 of its parent.
        let expected: u32 = 3 * (0..128).map(|g| 2 * (4 * g + 3)).sum::<u32>();
        let [a, b, c, d] = sum[..] else { panic!("four bytes") };
        assert_eq!(u32::from_le_bytes([a, b, c, d]) & 0xffff, expected & 0xffff);
        assert_eq!(machine.warnings(), []);
    }
}

#[test]
fn groups_that_only_launch_end_in_a_deadlock_on_the_queue_or_the_banks() {
    let text = "again: ThreadGroupAllocate\nThreadGroupLaunch.xyzw g1.xyzw\nBranch again";
    for run in BOTH {
        let mut machine = machine(text, &Config::default());
        rectangle(&mut machine, 4, 1);
        let error = run(&mut machine).expect_err("no group ever ends");
        let RunError::Deadlock(places) = &error else { panic!("{error}") };
        assert_eq!(places.len(), 20);
        assert!(places.iter().all(|p| matches!(p.wait, Some(Wait::Queue | Wait::Bank))), "{error}");
        assert!(error.to_string().contains("and 12 more"), "{error}");
    }
}

#[test]
fn the_lowest_free_bank_is_reserved_and_free_again_afterwards() {
    // A chain: each group launches another one in a bank of its own, counting down.
    let text = "
        ThreadGroupAllocate
        AddInt16.zero new.g0.x___, g0.xxxx, g0.yyyy
        And new.g0._y__, g0.yyyy, g0.yyyy
        Branch.x done
        ThreadGroupLaunch.xyzw r0.xyzw
        done: Exit";
    for run in BOTH {
        let mut machine = machine(text, &Config::default());
        machine.bank_mut(0, 0).expect("bank 0 exists")[0] = [500, 0xffff, 0, 0];
        rectangle(&mut machine, 4, 1);
        assert_eq!(run(&mut machine).expect("it ends").groups, 500);
        let used = (0..BANKS).filter(|b| machine.bank_mut(0, *b).expect("it exists")[0] != [0; 4]).count();
        assert!(used <= 4, "{used} banks were used in turns");
    }
}

#[test]
fn lanes_outside_the_rectangle_start_dead() {
    let mut machine = machine("LoadPosition r0.xyzw\nWriteLocalTile0.xyzw g0.xxxx\nExit", &Config::default());
    machine.bank_mut(0, 0).expect("bank 0 exists")[0] = [1; 4];
    machine.start_rectangle(0, Rectangle { x: 3, y: 2, width: 6, height: 2 }, 0, 0).expect("core 0 exists");
    machine.run().expect("it ends");
    for (i, element) in machine.tiles(0).expect("core 0 exists")[0].data.iter().enumerate() {
        let inside = (3..9).contains(&(i % 32)) && (2..4).contains(&(i / 32));
        assert_eq!(element[0], u16::from(inside), "({}, {})", i % 32, i / 32);
    }
}

#[test]
fn several_cores_share_memory_on_threads_or_without() {
    let text = "IssueExternalFetchAdd32 g0.xyzw, g1.xyzw\nFinishExternalLoad r0.xyzw\nExit";
    for parallel in [false, true] {
        let mut machine = machine(text, &Config { cores: 3, memory: 8, ..Config::default() });
        for core in 0..3 {
            machine.bank_mut(core, 0).expect("it exists")[1] = [1, 0, 2, 0];
            machine.start_rectangle(core, Rectangle { x: 0, y: 0, width: 100, height: 10 }, 0, 0).expect("it exists");
        }
        let report = if parallel { machine.run_parallel() } else { machine.run() }.expect("it ends");
        assert_eq!(report.groups, 3 * 250);
        assert_eq!(machine.memory().bytes(), [3000u32.to_le_bytes(), 6000u32.to_le_bytes()].concat());
    }
}

#[test]
fn a_rectangle_can_be_spread_over_the_cores() {
    let mut machine = machine("Exit", &Config { cores: 3, ..Config::default() });
    machine.spread_rectangle(Rectangle { x: 2, y: 5, width: 6, height: 10 }, 0, 0).expect("bank 0 exists");
    assert_eq!(machine.run_parallel().expect("it ends").groups, 20, "two runs in each of ten rows");
    let high = Rectangle { x: 0, y: 0xffff, width: 4, height: 1 << 30 };
    assert!(matches!(machine.spread_rectangle(high, 0, 0), Err(SetupError::Rectangle(_))));
}

#[test]
fn the_host_can_start_more_when_a_run_has_ended() {
    let mut machine = machine("LoadPosition r0.xyzw\nWriteLocalTile0.xyzw r0.xyzw\nExit", &Config::default());
    for round in 0..100u16 {
        // If the host's banks were not freed, more banks than exist would be needed.
        let bank = usize::from(round) % BANKS;
        let at = Rectangle { x: 4 * (round % 8), y: round, width: 4, height: 1 };
        machine.start_rectangle(0, at, 0, bank).expect("core 0 exists");
        machine.run().expect("it ends");
        let tile = &machine.tiles(0).expect("core 0 exists")[0];
        assert_eq!(tile.data[usize::from(round % 32) * 32 + usize::from(at.x)][1], round);
    }
}

#[test]
fn a_machine_refuses_what_it_cannot_be() {
    let refused = |config: Config| Machine::new(&config).err();
    assert_eq!(refused(Config { cores: 0, ..Config::default() }), Some(SetupError::Cores(0)));
    assert_eq!(refused(Config { memory: usize::MAX, ..Config::default() }), Some(SetupError::Memory(usize::MAX)));
    let mut machine = Machine::new(&Config::default()).expect("the default is possible");
    assert_eq!(machine.load(&[0; 1025]), Err(SetupError::Program(1025)));
    let wide = Rectangle { x: 1, y: 0, width: 65536, height: 1 };
    assert_eq!(machine.start_rectangle(0, wide, 0, 0), Err(SetupError::Rectangle(65537)));
    assert_eq!(machine.start_rectangle(0, wide, 0, 48), Err(SetupError::Bank(48)));
    assert_eq!(machine.start_group(1, 0, (0, 0), 0, Registers::default()), Err(SetupError::Core(1)));
    for (width, height) in [(2, 8), (12, 8), (8, 0), (1024, 128), (0, 0), (1 << 31, 1 << 31)] {
        assert_eq!(TileSize::new(width, height), None, "{width} x {height}");
    }
    assert!(TileSize::new(4, 1 << 14).is_some());
}

/// Any program behaves the same in both ways; none panics or runs forever.
#[test]
fn random_programs_agree_both_ways() {
    let mut random = Random(seed(11));
    for round in 0..400u64 {
        let length = 1 + random.below(40);
        let words: Vec<u64> = (0..length)
            .map(|_| {
                let word = sample(isaforge_vpu::ISA, random.below(69) as u16, &mut random);
                // Branches are short, and instructions that end or block everything are rare.
                if word >> 56 == 0x80 { word & !(0x3ff << 32) | random.below(length + 2) << 32 } else { word }
            })
            .collect();
        let local = std::array::from_fn(|_| std::array::from_fn(|_| std::array::from_fn(|_| random.below(200) as u16)));
        let registers = Registers { local, flags: [1, 2, 4, 15], ..Registers::default() };
        let run = |way: Run| {
            let config = Config { memory: 300, budget: 3000, seed: round % 3, ..Config::default() };
            let mut machine = Machine::new(&config).expect("it is possible");
            machine.load(&words).expect("it fits");
            machine.start_group(0, 0, (4, 4), 0, registers.clone()).expect("there is room");
            let result = way(&mut machine).map(|r| (r.steps, r.groups)).map_err(|e| std::mem::discriminant(&e));
            (result, machine.ended(0).to_vec(), machine.memory().bytes())
        };
        let (fast, slow) = (run(Machine::run), run(Machine::run_cycles));
        // Groups that spawn each other may reach the limits in another order.
        let spawns = words.iter().any(|w| w >> 56 == 5);
        if !spawns {
            assert_eq!(fast, slow, "round {round}");
        }
    }
}
