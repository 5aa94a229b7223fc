//! Registers, lists of them and sets of them.

use std::collections::HashMap;

/// A register of a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register {
    /// Index into the banks of the instruction set; for groups, the bank's number.
    pub bank: u16,
    /// Its number within the bank.
    pub index: u32,
}

impl Register {
    /// The register of a preload. Preloads refer to the first bank.
    pub(crate) fn preload(index: u32) -> Register {
        Register { bank: 0, index }
    }
}

/// Registers of a bank that follow each other.
pub(crate) fn run(bank: u16, first: u16, count: u16) -> impl Iterator<Item = Register> + Clone {
    (u32::from(first)..u32::from(first) + u32::from(count)).map(move |index| Register { bank, index })
}

/// Adds an item unless the list contains it.
pub(crate) fn once<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// Adds a written register; it counts as overwritten completely if any of its writes does so.
pub(crate) fn write(list: &mut Vec<(Register, bool)>, register: Register, whole: bool) {
    match list.iter_mut().find(|(known, _)| *known == register) {
        Some((_, known)) => *known |= whole,
        None => list.push((register, whole)),
    }
}

/// A set of registers, by their indices in a [`Liveness`](crate::liveness::Liveness).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Registers(Vec<u64>);

impl Registers {
    pub(crate) fn new(count: usize) -> Self {
        Registers(vec![0; count.div_ceil(64)])
    }

    pub(crate) fn all(count: usize) -> Self {
        let mut all = Registers::new(count);
        (0..count).for_each(|index| all.insert(index));
        all
    }

    pub(crate) fn insert(&mut self, index: usize) {
        self.0[index / 64] |= 1 << (index % 64);
    }

    pub(crate) fn remove(&mut self, index: usize) {
        self.0[index / 64] &= !(1 << (index % 64));
    }

    pub(crate) fn has(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 != 0
    }

    /// Adds the registers of another set. Returns whether the set changed.
    pub(crate) fn add(&mut self, others: &Registers) -> bool {
        let mut changed = false;
        for (word, other) in self.0.iter_mut().zip(&others.0) {
            changed |= *other & !*word != 0;
            *word |= other;
        }
        changed
    }

    pub(crate) fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }
}

/// Numbers registers from 0, in order of their first occurrence.
pub(crate) fn numbers(registers: impl IntoIterator<Item = Register>) -> HashMap<Register, usize> {
    let mut numbers = HashMap::new();
    for register in registers {
        let next = numbers.len();
        numbers.entry(register).or_insert(next);
    }
    numbers
}
