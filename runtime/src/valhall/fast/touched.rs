//! Records where atomics have changed memory.

use crate::memory::Memory;

/// One bit for each byte of memory at which an atomic has changed something.
#[derive(Debug)]
pub struct Touched {
    /// The start addresses of regions in ascending order, with their bits.
    regions: Vec<(u64, Vec<u64>)>,
}

impl Touched {
    /// Creates an empty record for a memory.
    pub fn new(memory: &Memory) -> Self {
        let bits = |(base, len): (u64, usize)| (base, vec![0; len.div_ceil(64)]);
        Touched { regions: memory.regions().map(bits).collect() }
    }

    /// Marks an address that an atomic changes. Does nothing if memory has no such address.
    pub fn mark(&mut self, address: u64) {
        let at = self.regions.partition_point(|&(base, _)| base <= address);
        if let Some((base, bits)) = at.checked_sub(1).and_then(|at| self.regions.get_mut(at)) {
            let offset = address - *base;
            if let Some(word) = usize::try_from(offset / 64).ok().and_then(|at| bits.get_mut(at)) {
                *word |= 1 << (offset % 64);
            }
        }
    }

    /// Returns the marked addresses in ascending order.
    pub fn addresses(&self) -> impl Iterator<Item = u64> {
        self.regions.iter().flat_map(|(base, bits)| {
            let words = bits.iter().enumerate().filter(|(_, word)| **word != 0);
            words.flat_map(move |(index, word)| {
                (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| base + 64 * index as u64 + bit)
            })
        })
    }

    /// Adds the marks of another record.
    pub fn add(&mut self, other: &Touched) {
        for ((_, bits), (_, more)) in self.regions.iter_mut().zip(&other.regions) {
            bits.iter_mut().zip(more).for_each(|(word, more)| *word |= more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_in_order() {
        let mut memory = Memory::new();
        memory.map(0x1000, vec![0; 65]).unwrap();
        memory.map(0x2000, vec![0; 8]).unwrap();
        let mut touched = Touched::new(&memory);
        [0x2004, 0x1040, 0x1000, 0x2000, 0x3000, 0x10, 0x1000].into_iter().for_each(|address| touched.mark(address));
        assert_eq!(touched.addresses().collect::<Vec<_>>(), [0x1000, 0x1040, 0x2000, 0x2004]);
        let mut all = Touched::new(&memory);
        all.mark(0x1001);
        all.add(&touched);
        assert_eq!(all.addresses().count(), 5);
    }
}
