//! A second implementation of the VPU, thread by thread and component by component, for single groups without branches.
//! It shares only the layout of words with the machine.

pub mod exact;

/// Memory and registers of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub local: [[[u16; 4]; 16]; 4],
    pub shared: [[u16; 4]; 16],
    pub global: [[u16; 4]; 32],
    pub spawned: [[u16; 4]; 32],
    pub flags: [[bool; 4]; 4],
    pub active: [bool; 4],
    pub pending: [Option<[u16; 4]>; 4],
    pub x: u16,
    pub y: u16,
    pub width: usize,
    pub height: usize,
    pub tiles: Vec<Vec<[u16; 4]>>,
    pub memory: Vec<u8>,
    pub palettes: [[[u16; 4]; 256]; 2],
}

fn bits(word: u64, high: u32, low: u32) -> usize {
    (word >> low & ((1 << (high - low + 1)) - 1)) as usize
}

impl Model {
    fn source(&self, thread: usize, register: usize, swizzle: usize) -> [u16; 4] {
        let value = match register {
            0..16 => self.local[thread][register],
            16..32 => self.shared[register - 16],
            _ => self.global[register - 32],
        };
        [value[swizzle >> 6 & 3], value[swizzle >> 4 & 3], value[swizzle >> 2 & 3], value[swizzle & 3]]
    }

    fn element(&self, opcode: usize, thread: usize, a: [u16; 4]) -> usize {
        if opcode & 4 != 0 {
            return (usize::from(a[0]) / 4 * 4 + thread) % (self.width * self.height);
        }
        usize::from(self.y) % self.height * self.width + (usize::from(self.x) + thread) % self.width
    }

    fn load(&self, at: usize) -> [u16; 4] {
        let byte = |i: usize| u16::from(self.memory.get(at + i).copied().unwrap_or(0));
        [0, 2, 4, 6].map(|i| byte(i) | byte(i + 1) << 8)
    }

    fn store(&mut self, at: usize, value: [u16; 4]) {
        for (i, half) in value.iter().enumerate() {
            for (j, byte) in half.to_le_bytes().into_iter().enumerate() {
                if let Some(to) = self.memory.get_mut(at + 2 * i + j) {
                    *to = byte;
                }
            }
        }
    }

    /// Runs a program from instruction 0 until all threads have ended. Returns the number of instructions executed.
    /// `None` when there would be more than `most`.
    pub fn run(&mut self, words: &[u64], most: u64) -> Option<u64> {
        let mut living = [true; 4];
        let mut pc = 0;
        for steps in 1..=most {
            let word = words.get(pc).copied().unwrap_or(0);
            pc = (pc + 1) % 1024;
            match bits(word, 63, 56) {
                0x00 => {
                    (0..4).for_each(|t| living[t] &= !self.active[t]);
                    self.active = [false; 4];
                    if living == [false; 4] {
                        return Some(steps);
                    }
                }
                0x01 => self.active = living,
                0x80 => {
                    let mask = bits(word, 55, 52);
                    let goes = |t: usize| mask == 0 || (0..4).any(|c| mask >> c & 1 == 1 && self.flags[t][c]);
                    let takers: [bool; 4] = std::array::from_fn(|t| self.active[t] && goes(t));
                    if takers != [false; 4] {
                        self.active = takers;
                        pc = bits(word, 41, 32);
                    }
                }
                _ => self.execute(word),
            }
        }
        None
    }

    /// Executes an instruction other than control flow.
    pub fn execute(&mut self, word: u64) {
        let opcode = bits(word, 63, 56);
        let read = |m: &Model, t: usize| {
            let a = m.source(t, bits(word, 27, 22), bits(word, 21, 14));
            let b = m.source(t, bits(word, 41, 36), bits(word, 35, 28));
            (a, b)
        };
        let operands = [0, 1, 2, 3].map(|t| read(self, t));
        let modes = [bits(word, 49, 48), bits(word, 47, 46), bits(word, 45, 44), bits(word, 43, 42)];
        let old = self.flags;
        let allowed = |t: usize, c: usize| match modes[c] {
            0 => old[t][c],
            1 => !old[t][c],
            2 => false,
            _ => true,
        };
        let mut results = [None; 4];
        for t in 0..4 {
            if !self.active[t] {
                continue;
            }
            let (a, b) = operands[t];
            let address = usize::from(b[0]) + usize::from(b[1]) * 65536;
            results[t] = match opcode {
                0x07 => {
                    let x = self.x + t as u16;
                    Some([x, self.y, x % self.width as u16, self.y % self.height as u16])
                }
                0x08..=0x0c => {
                    let [x, y, z, w] = old[t];
                    self.flags[t] = match opcode {
                        0x08 => [x && y && z && w; 4],
                        0x09 => [x || y || z || w; 4],
                        0x0a => [x && y, x && y, z && w, z && w],
                        0x0b => [x || y, x || y, z || w, z || w],
                        _ => [x; 4],
                    };
                    None
                }
                0x10..=0x33 => Some(arithmetic(opcode, a, b)),
                0x40..=0x4f => Some(self.tiles[opcode & 3][self.element(opcode, t, a)]),
                0x50..=0x5f => {
                    let at = self.element(opcode, t, a);
                    for c in (0..4).filter(|c| allowed(t, *c)) {
                        self.tiles[opcode & 3][at][c] = b[c];
                    }
                    None
                }
                0x70 => {
                    self.pending[t] = Some(self.load(address / 8 * 8));
                    None
                }
                0x71 => {
                    let colour = self.load(address / 2 * 2)[0];
                    let part = |n: u16| exact::divide(exact::from_integer(n % 32), exact::from_integer(31));
                    let alpha = if colour >= 0x8000 { 0x3c00 } else { 0 };
                    self.pending[t] = Some([part(colour / 1024), part(colour / 32), part(colour), alpha]);
                    None
                }
                0x72 | 0x73 => {
                    let index = self.load(address)[0] % 256;
                    self.pending[t] = Some(self.palettes[opcode - 0x72][usize::from(index)]);
                    None
                }
                0x74 => self.pending[t].take(),
                0x78..=0x7c => {
                    let at = address / 8 * 8;
                    let was = self.load(at);
                    let pick = |f: fn(u16, u16) -> u16| [0, 1, 2, 3].map(|c| f(was[c], a[c]));
                    let new = match opcode {
                        0x78 => a,
                        0x79 => arithmetic(0x22, was, a),
                        0x7a => pick(|x, y| x | y),
                        0x7b => pick(|x, y| x ^ y),
                        _ => pick(|x, y| x & y),
                    };
                    self.store(at, new);
                    self.pending[t] = Some(was);
                    None
                }
                0x7f => {
                    self.store(address / 8 * 8, a);
                    None
                }
                other => panic!("the model does not know opcode {other:#04x}"),
            };
        }
        let (spawned, destination, control) = (bits(word, 55, 55) == 1, bits(word, 54, 50), bits(word, 13, 12));
        for (t, result) in results.iter().enumerate() {
            let Some(result) = result else { continue };
            for c in (0..4).filter(|c| allowed(t, *c)) {
                let register = match (spawned, destination) {
                    (true, n) => &mut self.spawned[n],
                    (false, n @ 0..16) => &mut self.local[t][n],
                    (false, n) => &mut self.shared[n - 16],
                };
                register[c] = result[c];
                let sign = result[c] >= 0x8000;
                let zero = if matches!(opcode, 0x10..=0x16) { result[c] % 0x8000 == 0 } else { result[c] == 0 };
                self.flags[t][c] = match control {
                    0 => continue,
                    1 => sign,
                    2 => zero,
                    _ => sign || zero,
                };
            }
        }
    }
}

fn arithmetic(opcode: usize, a: [u16; 4], b: [u16; 4]) -> [u16; 4] {
    let each = |f: fn(u16, u16) -> u16| [0, 1, 2, 3].map(|c| f(a[c], b[c]));
    let split = |x: u32, z: u32| [(x % 65536) as u16, (x / 65536) as u16, (z % 65536) as u16, (z / 65536) as u16];
    let pair = |v: [u16; 4], c: usize| u32::from(v[c]) + 65536 * u32::from(v[c + 1]);
    match opcode {
        0x10 => each(exact::add),
        0x11 => each(exact::multiply),
        0x15 => {
            let mut result = each(exact::multiply);
            result[0] = exact::divide(a[0], b[0]);
            result
        }
        0x16 => a.map(exact::from_integer),
        0x20 => a.map(exact::to_integer),
        0x21 => each(|x, y| (u32::from(x) + u32::from(y)) as u16),
        0x22 => {
            let sum = |c| (u64::from(pair(a, c)) + u64::from(pair(b, c))) as u32;
            split(sum(0), sum(2))
        }
        0x28 | 0x2c => each(|x, y| (u32::from(x) * u32::from(y)) as u16),
        0x2a => split(u32::from(a[0]) * u32::from(b[0]), u32::from(a[2]) * u32::from(b[2])),
        0x2e => {
            let product = |c: usize| (i64::from(a[c] as i16) * i64::from(b[c] as i16)) as u32;
            split(product(0), product(2))
        }
        0x30 => each(|x, y| x & y),
        0x31 => each(|x, y| x | y),
        0x32 => each(|x, y| x ^ y),
        0x33 => [0, 1, 2, 3].map(|c| exact::to_integer(a[c]) & b[c]),
        other => panic!("the model does not know opcode {other:#04x}"),
    }
}
