//! FP16 arithmetic of the VPU's instructions, compared with exact arithmetic: unary operations for every operand,
//! binary operations for operands from special values, a grid and random numbers.

use isaforge_core::sample::Random;
use isaforge_runtime::vpu::single::{State, execute};
use isaforge_runtime::vpu::{BANKS, Memory, Registers, Tile, TileSize, assemble};

use crate::model::exact;
use crate::seed::seed;

/// X, Y, Z and W of the four threads.
type Lanes = [u16; 16];

/// An instruction that computes `r2` from `r0` and `r1`.
struct Instruction {
    word: u64,
    state: State,
}

impl Instruction {
    fn new(text: &str) -> Self {
        let word = assemble(text).expect("the text is an instruction")[0];
        let tile = || Tile { data: vec![[0; 4]; 4], locked: vec![false; 4] };
        let state = State {
            registers: Registers::default(),
            pc: 0,
            living: 15,
            active: 15,
            position: (0, 0),
            bank: 0,
            reserved: None,
            pending: 0,
            results: [[0; 4]; 4],
            ready: 0,
            clock: None,
            banks: vec![[[0; 4]; 32]; BANKS],
            holders: [0; BANKS],
            queue: vec![],
            tile_size: TileSize::new(4, 1).expect("four elements"),
            tiles: std::array::from_fn(|_| tile()),
            palettes: Box::new([[[0; 4]; 256]; 2]),
            memory: Memory::new(0),
            warnings: vec![],
        };
        Instruction { word, state }
    }

    fn run(&mut self, a: &Lanes, b: &Lanes) -> Lanes {
        for (t, thread) in self.state.registers.local.iter_mut().enumerate() {
            thread[0].copy_from_slice(&a[4 * t..4 * t + 4]);
            thread[1].copy_from_slice(&b[4 * t..4 * t + 4]);
        }
        execute(None, self.word, &mut self.state).expect("it is an instruction");
        std::array::from_fn(|i| self.state.registers.local[i / 4][2][i % 4])
    }

    fn agrees(&mut self, a: &Lanes, b: &Lanes, expected: impl Fn(usize, u16, u16) -> u16) {
        let found = self.run(a, b);
        for i in 0..16 {
            assert_eq!(found[i], expected(i, a[i], b[i]), "{:016x}({:04x}, {:04x})", self.word, a[i], b[i]);
        }
    }
}

fn binary(name: &str) -> Instruction {
    Instruction::new(&format!("{name} r2.xyzw, r0.xyzw, r1.xyzw"))
}

#[test]
fn conversions_are_exact_for_every_operand() {
    let mut to_float = Instruction::new("ConvertToFloat16 r2.xyzw, r0.xyzw");
    let mut to_integer = Instruction::new("ConvertToInt16 r2.xyzw, r0.xyzw");
    for first in (0..=u16::MAX).step_by(16) {
        let a = std::array::from_fn(|i| first + i as u16);
        to_float.agrees(&a, &a, |_, a, _| exact::from_integer(a));
        to_integer.agrees(&a, &a, |_, a, _| exact::to_integer(a));
    }
}

/// Signed zeros, the ends of the denormals and of the normals, numbers around 1 and around 1/2, infinities, NaNs, odd
/// fractions.
const SPECIAL: [u16; 26] = [
    0x0000, 0x8000, 0x0001, 0x8001, 0x0002, 0x03ff, 0x83ff, 0x0400, 0x0401, 0x3800, 0x3bff, 0x3c00, 0xbc00, 0x3c01,
    0x4000, 0x4248, 0x5555, 0xaaaa, 0x6400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0xffff,
];

/// Pairs of operands: special values with special values, then numbers of all binades, near each other or not.
fn pairs(mut each: impl FnMut(&Lanes, &Lanes)) {
    for a in SPECIAL {
        for b in SPECIAL {
            each(&[a; 16], &[b; 16]);
        }
    }
    let mut random = Random(seed(7));
    for _ in 0..if cfg!(debug_assertions) { 2_000 } else { 60_000 } {
        let a: Lanes = std::array::from_fn(|_| random.next() as u16);
        let near = random.next() & 1 == 0;
        let b =
            a.map(|a| if near { (a ^ 0x8000).wrapping_add(random.next() as u16 % 4096) } else { random.next() as u16 });
        each(&a, &b);
    }
}

#[test]
fn sums_and_products_are_correctly_rounded() {
    let (mut add, mut multiply) = (binary("AddFloat16"), binary("MultiplyFloat16"));
    pairs(|a, b| {
        add.agrees(a, b, |_, a, b| exact::add(a, b));
        multiply.agrees(a, b, |_, a, b| exact::multiply(a, b));
    });
}

#[test]
fn quotients_are_correctly_rounded_in_x_and_the_rest_are_products() {
    let mut divide = binary("DivideFloat16");
    pairs(|a, b| {
        divide.agrees(a, b, |i, a, b| if i % 4 == 0 { exact::divide(a, b) } else { exact::multiply(a, b) });
    });
}

/// Tests the exact model itself, on values that can be checked by hand.
#[test]
fn the_model_knows_some_plain_facts() {
    assert_eq!(exact::add(0x3c00, 0x3c00), 0x4000, "1 + 1 = 2");
    assert_eq!(exact::divide(0x3c00, 0x4200), 0x3555, "1 / 3");
    assert_eq!(exact::multiply(0x7bff, 0x4000), 0x7c00, "65504 * 2 overflows");
    assert_eq!(exact::add(0x7bff, 0x4bff), 0x7bff, "65504 + 15.99 rounds down");
    assert_eq!(exact::add(0x7bff, 0x4c00), 0x7c00, "65504 + 16 is a tie and goes to the even infinity");
    assert_eq!(exact::to_integer(0xbe00), 0xffff, "-1.5 truncates to -1");
    assert_eq!(exact::from_integer(2049), 0x6800, "2049 is a tie and goes to 2048");
}
