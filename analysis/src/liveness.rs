//! Liveness: which registers are read later, at every point of a program.

use std::collections::BTreeSet;

use crate::dataflow::Open;
use crate::entry::Instruction;
use crate::graph::Graph;
use crate::program::Program;
use crate::registers::{Register, once};

pub use crate::registers::Registers;

/// The live registers of a program.
///
/// Only banks that some instruction of the program writes are considered, since the constants of a launch are always
/// live, and no registers that programs cannot change.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// In ascending order.
    registers: Vec<Register>,
    /// The live registers before each entry.
    before: Vec<Registers>,
    after: Vec<Registers>,
}

impl Liveness {
    /// Computes liveness. At a branch that may lead anywhere or to another program every register is live, and where
    /// the program may end, those of banks that are `live out`.
    pub fn new(program: &Program<'_>, graph: &Graph) -> Liveness {
        let mut banks: Vec<u16> = Vec::new();
        for (register, _) in program.instructions().flat_map(|instruction| &instruction.writes) {
            once(&mut banks, register.bank);
        }
        let named = program.instructions().flat_map(Instruction::registers);
        let varies = |register: &Register| banks.contains(&register.bank) && !program.set.is_fixed(*register);
        let registers: BTreeSet<Register> = named.filter(varies).collect();
        let registers: Vec<Register> = registers.into_iter().collect();
        let count = registers.len();
        let mut found = Liveness {
            registers,
            before: vec![Registers::new(count); program.entries.len()],
            after: vec![Registers::new(count); program.entries.len()],
        };
        let mut outputs = Registers::new(count);
        let live_out = |(_, register): &(usize, &Register)| program.set.is_live_out(**register);
        found.registers.iter().enumerate().filter(live_out).for_each(|(number, _)| outputs.insert(number));
        let mut into = vec![Registers::new(count); graph.blocks.len()];
        let mut open = Open::all(graph, true);
        while let Some(block) = open.pop() {
            let mut live = match graph.blocks[block].indirect {
                true => Registers::all(count),
                false => Registers::new(count),
            };
            if graph.blocks[block].leaves || graph.successors(block).next().is_none() {
                live.add(&outputs);
            }
            for (next, _) in graph.successors(block) {
                live.add(&into[next]);
            }
            let first = found.block(program, graph.blocks[block].entries.clone(), live);
            if into[block].add(&first) {
                graph.predecessors(block).for_each(|before| open.push(before));
            }
        }
        found
    }

    /// The index of a register in the sets of live ones.
    fn number(&self, register: Register) -> Option<usize> {
        self.registers.binary_search(&register).ok()
    }

    /// Walks backwards through a block.
    fn block(&mut self, program: &Program<'_>, entries: std::ops::Range<usize>, mut live: Registers) -> Registers {
        for index in entries.rev() {
            if let Some(instruction) = program.instruction(index) {
                // A register whose last read is marked here is dead afterwards.
                for register in instruction.last.iter().filter(|register| !instruction.writes_to(**register)) {
                    if let Some(number) = self.number(*register) {
                        live.remove(number);
                    }
                }
            }
            self.after[index].clone_from(&live);
            if let Ok(instruction) = &program.entries[index].instruction {
                if instruction.callee.is_some() {
                    live = Registers::all(self.registers.len());
                }
                for (register, whole) in &instruction.writes {
                    if let Some(number) = self.number(*register).filter(|_| *whole) {
                        live.remove(number);
                    }
                }
                for number in instruction.reads.iter().filter_map(|register| self.number(*register)) {
                    live.insert(number);
                }
                for (bank, range) in &instruction.may_read {
                    let number = |index| {
                        let register = Register { bank: *bank, index };
                        self.registers.partition_point(|known| *known < register)
                    };
                    (number(range.start)..number(range.end)).for_each(|number| live.insert(number));
                }
            }
            self.before[index].clone_from(&live);
        }
        live
    }

    /// Whether a register is read after an entry before it is overwritten.
    pub fn is_live_after(&self, entry: usize, register: Register) -> bool {
        match (self.number(register), self.after.get(entry)) {
            (Some(number), Some(live)) => live.has(number),
            _ => false,
        }
    }

    /// The number of registers that are live before an entry.
    pub fn pressure(&self, entry: usize) -> usize {
        self.before.get(entry).map_or(0, Registers::count)
    }

    /// The registers that are live before an entry.
    pub fn live(&self, entry: usize) -> impl Iterator<Item = Register> {
        let before = self.before.get(entry);
        let live = move |number: &usize| before.is_some_and(|live| live.has(*number));
        (0..self.registers.len()).filter(live).map(|number| self.registers[number])
    }
}
