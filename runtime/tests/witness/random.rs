//! A fixed random number generator, and a hash.
//!
//! Recorded vectors hold only results; the states that belong to them are generated again. The numbers must therefore
//! never change: this is a copy of known algorithms rather than a library.

/// splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator from numbers that identify its purpose.
    pub fn new(names: &[u64]) -> Self {
        let mut random = Random(0);
        for name in names {
            random.0 = random.0.wrapping_add(*name);
            random.0 = random.next();
        }
        random
    }

    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// The next 32 bits.
    pub fn word(&mut self) -> u32 {
        (self.next() >> 32) as u32
    }

    /// A number below `n`, which must not be 0.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// True with a probability of 1 in `n`.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// An item of a list.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// FNV-1a, 64 bits.
#[derive(Clone, Copy, Debug)]
pub struct Hash(pub u64);

impl Hash {
    pub fn new() -> Self {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    pub fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }

    /// Adds a word at once, since a step for each byte would take most of the time of a test.
    pub fn word(&mut self, word: u32) {
        self.0 = (self.0 ^ u64::from(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 29;
    }

    pub fn of(bytes: &[u8]) -> u64 {
        let mut hash = Hash::new();
        bytes.iter().for_each(|byte| hash.byte(*byte));
        hash.0
    }
}
