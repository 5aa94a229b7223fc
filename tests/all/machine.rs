//! A machine behind the macro: programs run with not one line of semantics by hand.

isaforge::isa!("examples/riscv/isa.yaml");

mod lane_set {
    isaforge::isa!("examples/lanes/isa.yaml");
}

use isaforge::core::machine::{Host, Stop};

#[derive(Default)]
struct Console(Vec<u8>);

impl Host<1> for Console {
    fn write(&mut self, _: u64, bytes: &[u8]) -> Result<(), String> {
        self.0.extend(bytes);
        Ok(())
    }
}

/// The bytes of a program, from its texts.
fn code(lines: &[&str]) -> Vec<u8> {
    let instruction =
        |line: &&str| line.parse::<riscv::Instruction>().unwrap_or_else(|error| panic!("{line}: {error}"));
    let bytes = |line| {
        let found = instruction(line);
        found.bytes()[..found.len()].to_vec()
    };
    lines.iter().flat_map(bytes).collect()
}

#[test]
fn a_machine_has_registers_memory_and_a_program_that_ends() {
    let mut machine = riscv::Machine::new();
    let program = [
        "c.add a0, a1",
        "sw a0, 0(a2)",
        "c.mv a1, a2",
        "c.li a2, 1",
        "li a7, 64",
        "ecall",
        "li a0, 5",
        "li a7, 93",
        "ecall",
    ];
    machine.memory.map(0x100, code(&program), false).unwrap();
    machine.memory.map(0x800, vec![0; 4], true).unwrap();
    for (name, value) in [("a0", 60), ("x11", 5), ("a2", 0x800)] {
        let register = machine.register(name).unwrap();
        machine.write(register, 0, value).unwrap();
    }
    machine.set_pc(0x100);
    let mut console = Console::default();
    assert_eq!(machine.run(&mut console, 100), Ok(Stop::Exit(5)));
    assert_eq!((console.0.as_slice(), machine.executed()), (&b"A"[..], 9));
    assert_eq!(machine.memory.read(0x800, 4), Ok(65));
    assert_eq!(machine.text(0x800 + 4).as_deref(), None, "nothing is mapped there");
    assert_eq!(machine.text(0x102).as_deref(), Some("sw a0, 0(a2)"));
}

#[test]
fn a_machine_of_lanes_has_as_many_as_its_specification_says() {
    let mut machine = lane_set::lanes::Machine::new();
    let lines = ["lane r1", "mul r1, r1, #3", "end"];
    let words = lines.map(|line| line.parse::<lane_set::lanes::Instruction>().expect("an instruction").encode());
    machine.memory.map(0, words.iter().flat_map(|word| word.to_le_bytes()).collect(), true).unwrap();
    assert_eq!(machine.run(&mut (), 10), Ok(Stop::Ended));
    let register = machine.register("r1").unwrap();
    let values: Vec<u64> = (0..32).filter_map(|lane| machine.read(register, lane)).collect();
    assert_eq!(values, (0..32).map(|lane| lane * 3).collect::<Vec<_>>());
    assert_eq!(machine.read(register, 32), None);
}
