//! An interpreter of the VPU written by hand in the plainest way: group by group, each word decoded when it is executed,
//! thread by thread and component by component. It is the peer of the benchmarks, and a witness of the results of the
//! specification, from which it takes nothing.
//!
//! It models neither time nor other groups: locks are never held by another group, and programs that launch groups
//! are refused.

use half::f16;

use isaforge_runtime::vpu::scene::{Scene, Work};
use isaforge_runtime::vpu::{Bank, Palette, Rectangle, TileSize, refusal};

/// The state that programs run on, and their progress.
#[derive(Clone, Debug)]
pub struct Naive {
    words: Vec<u64>,
    global: Bank,
    size: TileSize,
    /// The elements of the four tile buffers.
    pub tiles: [Vec<[u16; 4]>; 4],
    /// External memory.
    pub memory: Vec<u8>,
    palettes: [Palette; 2],
    /// The number of instructions issued.
    pub steps: u64,
}

#[derive(Clone, Default)]
struct Thread {
    local: [[u16; 4]; 16],
    flags: [bool; 4],
    pending: Option<[u16; 4]>,
    lives: bool,
    active: bool,
}

struct Group {
    threads: [Thread; 4],
    shared: [[u16; 4]; 16],
    x: u16,
    y: u16,
}

fn field(word: u64, high: u32, low: u32) -> usize {
    (word >> low & ((1 << (high - low + 1)) - 1)) as usize
}

impl Naive {
    /// Runs a scene's rectangle.
    ///
    /// # Errors
    /// A word that is not an instruction or launches groups, a scene without a rectangle, or an exhausted budget.
    pub fn run(scene: &Scene, words: &[u64], budget: u64) -> Result<Naive, String> {
        let Work::Rectangle { rectangle, entry } = scene.work else { return Err("the scene has no rectangle".into()) };
        let mut naive = Naive {
            words: words.to_vec(),
            global: scene.global,
            size: scene.tile_size,
            tiles: std::array::from_fn(|_| vec![[0; 4]; scene.tile_size.elements()]),
            memory: scene.external.clone(),
            palettes: scene.palettes.each_ref().map(|p| p.as_ref().map_or([[0; 4]; 256], |p| **p)),
            steps: 0,
        };
        for (buffer, data) in &scene.tiles {
            naive.tiles[*buffer].clone_from(data);
        }
        let Rectangle { x, y, width, height } = rectangle;
        let (left, right) = (u32::from(x), u32::from(x) + width);
        for y in u32::from(y)..u32::from(y) + height {
            for x in (left & !3..right).step_by(4) {
                let thread = |t: u32| Thread { lives: (left..right).contains(&(x + t)), ..Thread::default() };
                let threads = [0, 1, 2, 3].map(thread).map(|t| Thread { active: t.lives, ..t });
                let group = Group { threads, shared: [[0; 4]; 16], x: x as u16, y: y as u16 };
                naive.group(group, usize::from(entry), budget)?;
            }
        }
        Ok(naive)
    }

    fn group(&mut self, mut group: Group, entry: usize, budget: u64) -> Result<(), String> {
        let mut pc = entry;
        while group.threads.iter().any(|t| t.lives) {
            if self.steps == budget {
                return Err("the budget is used up".into());
            }
            self.steps += 1;
            let word = self.words.get(pc).copied().unwrap_or(0);
            if let Some(reason) = refusal(word) {
                return Err(reason);
            }
            pc = (pc + 1) % 1024;
            match word >> 56 {
                0x00 => {
                    group.threads.iter_mut().filter(|t| t.active).for_each(|t| (t.lives, t.active) = (false, false))
                }
                0x01 => group.threads.iter_mut().for_each(|t| t.active = t.lives),
                0x04 | 0x05 => return Err("this interpreter launches no groups".into()),
                0x80 => {
                    let mask = field(word, 55, 52);
                    let goes = |t: &Thread| t.active && (mask == 0 || (0..4).any(|c| mask >> c & 1 == 1 && t.flags[c]));
                    if group.threads.iter().any(goes) {
                        group.threads.iter_mut().for_each(|t| t.active = goes(t));
                        pc = field(word, 41, 32);
                    }
                }
                _ => self.execute(word, &mut group),
            }
        }
        Ok(())
    }

    fn source(&self, group: &Group, thread: usize, register: usize, swizzle: usize) -> [u16; 4] {
        let value = match register {
            0..16 => group.threads[thread].local[register],
            16..32 => group.shared[register - 16],
            _ => self.global[register - 32],
        };
        [6, 4, 2, 0].map(|shift| value[swizzle >> shift & 3])
    }

    fn load(&self, at: usize) -> [u16; 4] {
        let byte = |i: usize| self.memory.get(at + i).copied().unwrap_or(0);
        [0, 2, 4, 6].map(|i| u16::from_le_bytes([byte(i), byte(i + 1)]))
    }

    fn store(&mut self, at: usize, value: [u16; 4]) {
        for (i, byte) in value.iter().flat_map(|v| v.to_le_bytes()).enumerate() {
            if let Some(to) = self.memory.get_mut(at + i) {
                *to = byte;
            }
        }
    }

    fn execute(&mut self, word: u64, group: &mut Group) {
        let opcode = field(word, 63, 56);
        let operands = [0, 1, 2, 3].map(|t| {
            let a = self.source(group, t, field(word, 27, 22), field(word, 21, 14));
            (a, self.source(group, t, field(word, 41, 36), field(word, 35, 28)))
        });
        for (t, (a, b)) in operands.into_iter().enumerate() {
            if !group.threads[t].active {
                continue;
            }
            let old = group.threads[t].flags;
            let writes = |c: usize| match field(word, 49 - 2 * c as u32, 48 - 2 * c as u32) {
                0 => old[c],
                1 => !old[c],
                mode => mode == 3,
            };
            let (x, y) = (group.x | t as u16, group.y);
            let (width, elements) = (self.size.width(), self.size.elements());
            let (tile_x, tile_y) = (usize::from(x) % width, usize::from(y) % self.size.height());
            let indexed = usize::from(a[0] & !3 | t as u16) % elements;
            let element = if opcode & 4 == 0 { tile_y * width + tile_x } else { indexed };
            let address = usize::from(b[0]) | usize::from(b[1]) << 16;
            let result = match opcode {
                0x07 => [x, y, tile_x as u16, tile_y as u16],
                0x08..=0x0c => {
                    let [x, y, z, w] = old;
                    group.threads[t].flags = match opcode {
                        0x08 => [x & y & z & w; 4],
                        0x09 => [x | y | z | w; 4],
                        0x0a => [x & y, x & y, z & w, z & w],
                        0x0b => [x | y, x | y, z | w, z | w],
                        _ => [x; 4],
                    };
                    continue;
                }
                0x40..=0x4f => self.tiles[opcode & 3][element],
                0x50..=0x5f => {
                    (0..4).filter(|c| writes(*c)).for_each(|c| self.tiles[opcode & 3][element][c] = b[c]);
                    continue;
                }
                0x70..=0x73 | 0x78..=0x7c => {
                    let value = self.issue(opcode, address, a);
                    group.threads[t].pending = Some(value);
                    continue;
                }
                0x74 => match group.threads[t].pending.take() {
                    Some(value) => value,
                    None => continue,
                },
                0x7f => {
                    self.store(address & !7, a);
                    continue;
                }
                _ => arithmetic(opcode, a, b),
            };
            for c in (0..4).filter(|c| writes(*c)) {
                let thread = &mut group.threads[t];
                match (field(word, 55, 55), field(word, 54, 50)) {
                    (1, _) => {}
                    (_, n @ 0..16) => thread.local[n][c] = result[c],
                    (_, n) => group.shared[n - 16][c] = result[c],
                }
                let zero_bits = if (0x10..=0x16).contains(&opcode) { 0x7fff } else { 0xffff };
                let (sign, zero) = (result[c] >> 15 == 1, result[c] & zero_bits == 0);
                thread.flags[c] = match field(word, 13, 12) {
                    0 => old[c],
                    1 => sign,
                    2 => zero,
                    _ => sign || zero,
                };
            }
        }
    }

    fn issue(&mut self, opcode: usize, address: usize, a: [u16; 4]) -> [u16; 4] {
        match opcode {
            0x71 => {
                let colour = self.load(address & !1)[0];
                let channel = |n: u16| f16::from_f32(f32::from(n & 31) / 31.0).to_bits();
                [
                    channel(colour >> 10),
                    channel(colour >> 5),
                    channel(colour),
                    if colour >> 15 == 1 { 0x3c00 } else { 0 },
                ]
            }
            0x72 | 0x73 => self.palettes[opcode & 1][usize::from(self.load(address)[0] & 255)],
            _ => {
                let old = self.load(address & !7);
                let each = |f: fn(u16, u16) -> u16| [0, 1, 2, 3].map(|c| f(old[c], a[c]));
                let new = match opcode {
                    0x78 => a,
                    0x79 => arithmetic(0x22, old, a),
                    0x7a => each(|x, y| x | y),
                    0x7b => each(|x, y| x ^ y),
                    0x7c => each(|x, y| x & y),
                    _ => return old,
                };
                self.store(address & !7, new);
                old
            }
        }
    }
}

fn arithmetic(opcode: usize, a: [u16; 4], b: [u16; 4]) -> [u16; 4] {
    let each = |f: fn(u16, u16) -> u16| [0, 1, 2, 3].map(|c| f(a[c], b[c]));
    let float = |f: fn(f16, f16) -> f16| [0, 1, 2, 3].map(|c| plain(f(f16::from_bits(a[c]), f16::from_bits(b[c]))));
    let pairs = |f: &dyn Fn(usize) -> u32| [f(0) as u16, (f(0) >> 16) as u16, f(2) as u16, (f(2) >> 16) as u16];
    let pair = |v: [u16; 4], c: usize| u32::from(v[c]) | u32::from(v[c + 1]) << 16;
    // The cast saturates, rounds towards zero, and converts NaN to 0.
    let integer = |v: u16| f16::from_bits(v).to_f32() as i16 as u16;
    match opcode {
        0x10 => float(|a, b| a + b),
        0x11 => float(|a, b| a * b),
        0x15 => {
            let [_, y, z, w] = float(|a, b| a * b);
            [float(|a, b| a / b)[0], y, z, w]
        }
        0x16 => a.map(|v| f16::from_f32(f32::from(v as i16)).to_bits()),
        0x20 => a.map(integer),
        0x21 => each(u16::wrapping_add),
        0x22 => pairs(&|c| pair(a, c).wrapping_add(pair(b, c))),
        0x28 | 0x2c => each(u16::wrapping_mul),
        0x2a => pairs(&|c| u32::from(a[c]) * u32::from(b[c])),
        0x2e => pairs(&|c| (i32::from(a[c] as i16) * i32::from(b[c] as i16)) as u32),
        0x30 => each(|x, y| x & y),
        0x31 => each(|x, y| x | y),
        0x32 => each(|x, y| x ^ y),
        _ => [0, 1, 2, 3].map(|c| integer(a[c]) & b[c]),
    }
}

fn plain(value: f16) -> u16 {
    if value.is_nan() { 0x7e00 } else { value.to_bits() }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use isaforge_runtime::vpu::{Config, assemble};

    use super::*;

    fn example(name: &str, ending: &str) -> String {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/vpu");
        std::fs::read_to_string(folder.join(format!("{name}.{ending}"))).expect("the example exists")
    }

    fn both(name: &str) -> (Scene, Vec<u64>) {
        let scene = Scene::from_json(&example(name, "json")).expect("the example is a scene");
        (scene, assemble(&example(name, "vpu")).expect("the example is a program"))
    }

    #[test]
    fn the_machine_agrees() {
        for name in ["triangle", "texture", "mandelbrot", "blend", "histogram"] {
            let (scene, words) = both(name);
            let naive = Naive::run(&scene, &words, u64::MAX).unwrap_or_else(|e| panic!("{name}: {e}"));
            let mut machine = scene.machine(&words, &Config::default()).expect("the machine takes it");
            let report = machine.run().expect("it ends");
            assert_eq!(report.steps, naive.steps, "{name}");
            assert!(machine.memory().bytes() == naive.memory, "{name}: memory");
            for (n, tile) in machine.tiles(0).expect("core 0 exists").iter().enumerate() {
                assert!(tile.data == naive.tiles[n], "{name}: tile buffer {n}");
            }
        }
        let (scene, words) = both("quadtree");
        let refused = Naive::run(&scene, &words, u64::MAX).expect_err("it launches groups");
        assert_eq!(refused, "this interpreter launches no groups");
    }
}
