//! Machines: what a specification says runs.

use std::path::Path;

use isaforge_compiler::{Compiled, Settings, compile};
use isaforge_core::machine::{Access, Host, Machine, MemoryFault, Reason, Stop};
use isaforge_core::program::assemble;

fn compiled(source: &str) -> Result<Compiled, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("isa.yaml");
    std::fs::write(&path, source).unwrap();
    compile(&Settings { root: Some(folder.path().to_owned()), ..Settings::new(&path) }).map_err(|f| f.to_string())
}

fn example(name: &str) -> Compiled {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name).join("isa.yaml");
    compile(&Settings::new(path)).unwrap_or_else(|failure| panic!("{failure}"))
}

/// A machine with a program at address 0.
fn loaded<const L: usize>(compiled: &Compiled, program: &str) -> Machine<L> {
    let isa = compiled.tables.isa;
    let words = assemble(isa, program).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let mut machine = Machine::new(isa, compiled.semantics.unwrap(), compiled.hardware.unwrap());
    let bytes = usize::from(isa.word_bits / 8);
    let code = words.iter().flat_map(|word| word.to_le_bytes()[..bytes].to_vec()).collect();
    machine.memory.map(0, code, true).unwrap();
    machine
}

fn get<const L: usize>(machine: &Machine<L>, register: &str) -> u64 {
    machine.read(machine.register(register).unwrap(), 0).unwrap()
}

fn set<const L: usize>(machine: &mut Machine<L>, register: &str, value: u64) {
    machine.write(machine.register(register).unwrap(), 0, value).unwrap();
}

#[derive(Default)]
struct Console(Vec<u8>);

impl<const L: usize> Host<L> for Console {
    fn write(&mut self, _: u64, bytes: &[u8]) -> Result<(), String> {
        self.0.extend(bytes);
        Ok(())
    }
}

#[test]
fn division_has_the_corners_of_the_manual() {
    let text = "div x5, x1, x2\ndivu x6, x1, x2\nrem x7, x1, x2\nremu x8, x1, x2\nmulh x9, x1, x2\nmulhsu x10, x1, x2\nmulhu x11, x1, x2\n";
    let riscv = example("riscv");
    let min = 0x8000_0000u32;
    for (a, b) in [(7u32, 0u32), (min, u32::MAX), (min, 0), (u32::MAX - 6, 2), (7, u32::MAX - 1), (min, min), (0, 5)] {
        let mut machine = loaded::<1>(&riscv, text);
        set(&mut machine, "x1", a.into());
        set(&mut machine, "x2", b.into());
        assert!(matches!(machine.run(&mut (), 7).unwrap_err().reason, Reason::Budget(7)));
        let (sa, sb) = (a as i32, b as i32);
        let expected = [
            if b == 0 { u32::MAX } else { sa.wrapping_div(sb) as u32 },
            a.checked_div(b).unwrap_or(u32::MAX),
            if b == 0 { a } else { sa.wrapping_rem(sb) as u32 },
            a.checked_rem(b).unwrap_or(a),
            ((i64::from(sa) * i64::from(sb)) >> 32) as u32,
            ((i64::from(sa) * i64::from(b)) >> 32) as u32,
            ((u64::from(a) * u64::from(b)) >> 32) as u32,
        ];
        let found: Vec<u64> = (5..12).map(|n| get(&machine, &format!("x{n}"))).collect();
        assert_eq!(found, expected.map(u64::from), "{a:#x} and {b:#x}");
    }
}

#[test]
fn zero_stays_zero() {
    let mut machine = loaded::<1>(&example("riscv"), "addi x0, x0, 5\naddi x1, x0, 3\n");
    let _ = machine.run(&mut (), 2);
    assert_eq!((get(&machine, "x0"), get(&machine, "x1")), (0, 3));
}

#[test]
fn a_program_writes_and_ends_with_its_status() {
    let text = "addi x17, x0, 64\naddi x11, x0, 40\naddi x12, x0, 2\necall\naddi x5, x10, 0\naddi x10, x0, 300\naddi x17, x0, 93\n\
                ecall\n.word 0\n.word 0\n.word 0x0a41\n";
    let mut machine = loaded::<1>(&example("riscv"), text);
    let mut console = Console::default();
    assert_eq!(machine.run(&mut console, 100), Ok(Stop::Exit(300)));
    assert_eq!(console.0, b"A\n");
    assert_eq!((get(&machine, "x5"), machine.executed()), (2, 8));
}

#[test]
fn traps_say_what_and_where() {
    let riscv = example("riscv");
    let trap = |text: &str| {
        let mut machine = loaded::<1>(&riscv, text);
        set(&mut machine, "x2", 0x10_0002);
        machine.run(&mut (), 100).unwrap_err()
    };
    let unmapped = Reason::Memory { access: Access::Read, fault: MemoryFault::Unmapped, address: 0x10_0000, size: 4 };
    let found = trap("addi x1, x0, 1\nlw x3, -2(x2)\n");
    assert_eq!((found.pc, &found.reason), (4, &unmapped));
    assert_eq!(found.to_string(), "at 0x4: 4 bytes at 0x100000 cannot be read: nothing is mapped there");
    assert!(matches!(trap("jalr x1, 0(x2)\n").reason, Reason::Misaligned { access: Access::Fetch, .. }));
    assert!(matches!(trap(".word 0\n").reason, Reason::Undecodable { word: 0, .. }));
    assert_eq!(trap("ebreak\n").reason, Reason::Fault("breakpoint", 0));
    assert_eq!(trap("csrrw x1, 0xc00, x0\n").reason, Reason::Fault("illegal_instruction", 0));
    assert_eq!(trap("ecall\n").reason, Reason::NoService(0));
    assert_eq!(trap("jal x0, 0\n").reason, Reason::Budget(100));
}

#[test]
fn what_is_stored_over_code_is_executed() {
    // The word at 12 becomes `addi x1, x0, 7` before the second pass.
    let text = "lw x5, 32(x0)\naddi x6, x6, 1\naddi x7, x0, 2\naddi x1, x0, 1\nsw x5, 12(x0)\nbne x6, x7, -8\necall\n.word 0\n\
                .word 0x00700093\n";
    let mut machine = loaded::<1>(&example("riscv"), text);
    assert!(matches!(machine.run(&mut (), 100).unwrap_err().reason, Reason::NoService(0)));
    assert_eq!(get(&machine, "x1"), 7);
}

#[test]
fn a_breakpoint_stops_before_its_instruction_and_lets_go_on() {
    let mut machine = loaded::<1>(&example("riscv"), "addi x1, x1, 1\njal x0, -2\n");
    machine.breakpoints.insert(4);
    for turn in 1..4 {
        assert_eq!(machine.run(&mut (), 100), Ok(Stop::Breakpoint(4)));
        assert_eq!((get(&machine, "x1"), machine.pc()), (turn, 4));
    }
}

#[test]
fn every_mistake_in_a_machine_is_marked() {
    let head = "isa: t\nword: 8\nprovenance: document\nbanks: { r: { count: 4, width: 8, zero: 4 } }\n\
                semantics: { pc: u32, intrinsics: { \"call()\": { doc: Calls., effects: [flow] } }, states: { s: { type: u8, register: r9 } } }\n\
                kinds: { k: { width: 2, alternatives: { a: { fields: { n: { bits: 1..0, bank: r } }, value: m, text: \"{n}\" } } } }\n\
                instructions: { C: { doc: Calls., fixed: { 7..2: 1 }, operands: { k: { kind: k, at: 0 } }, does: \"s = trunc(u8, k); call()\" } }\n\
                machine: { lanes: 65, calls: { call: { number: q1, services: { 1: {} } }, cal: { number: r1, services: {} } } }\n";
    let message = compiled(head).err().unwrap();
    for (code, words) in [
        ("E0033", "the number of the register cannot be 4"),
        ("E0033", "the number of lanes cannot be 65"),
        ("E0101", "there is no register called `r9`"),
        ("E0101", "there is no register called `q1`"),
        ("E0101", "there is no intrinsic called `cal`"),
        ("E0121", "`m`"),
    ] {
        assert!(message.contains(code) && message.contains(words), "{words}: {message}");
    }
    let message = compiled(&head.replace("number: q1", "number: r1")).err().unwrap();
    assert!(message.contains("a service needs exactly one of `write` or `exit`"), "{message}");
    let nothing = "isa: t\nword: 8\nprovenance: document\nmachine: {}\ninstructions: { N: { doc: Nothing., fixed: { 7..0: 0 } } }\n";
    assert!(compiled(nothing).err().unwrap().contains("a machine that has nothing to execute"));
}
