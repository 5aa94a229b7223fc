//! Helpers shared by the tests of the USC.

use isaforge_runtime::usc::{Machine, Program, Register, Software, Task};

/// A register by its name.
pub fn register(name: &str) -> Register {
    name.parse().unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Runs a program with values of shared registers and of registers of one instance, and returns the given outputs.
#[allow(dead_code, reason = "some tests run many instances")]
pub fn run(program: &Program, inputs: &[(&str, u32)], outputs: &[&str]) -> Vec<u32> {
    let mut machine = Machine::new(Software::default());
    let mut task = Task::new(1).expect("one");
    for (name, value) in inputs {
        match register(name) {
            shared @ Register::Shared(_) => machine.set(shared, *value).expect("a shared register"),
            own => task.set(own, 0, *value).expect("a register"),
        }
    }
    let mut tasks = [task];
    machine.run(program, &mut tasks, 100).unwrap_or_else(|e| panic!("{e}"));
    outputs.iter().map(|name| tasks[0].get(register(name), 0).expect("a register")).collect()
}

/// A deterministic random number generator.
pub struct Random(u64);

#[allow(dead_code, reason = "not every test needs every kind of number")]
impl Random {
    pub fn new(seed: u64) -> Random {
        Random(0x9e37_79b9_7f4a_7c15 ^ seed.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as u32
    }

    pub fn below(&mut self, end: u32) -> u32 {
        self.next() % end
    }

    /// Any word, often a critical one.
    pub fn word(&mut self) -> u32 {
        const SPECIAL: [u32; 16] = [
            0,
            1,
            31,
            0x80,
            0x8000,
            0xffff,
            0x8000_0000,
            0x7fff_ffff,
            0xffff_ffff,
            0x3f80_0000,
            0xbf80_0000,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            0x8040_0000,
            0x3880_0000,
        ];
        match self.below(4) {
            0 => SPECIAL[self.below(16) as usize],
            1 => (self.below(2000) as f32 / 16.0 - 60.0).to_bits(),
            2 => ((self.below(2400) as f32 - 1200.0) / 1000.0).to_bits(),
            _ => self.next(),
        }
    }
}
