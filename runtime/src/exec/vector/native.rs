//! Compiles consecutive operations to machine code, for when all lanes of all parts are active.
//!
//! Values stay in registers from one operation to the next, and unread values are never stored. An operation without
//! instructions here ends the run, and its handler executes it.

use std::sync::Arc;

use iced_x86::Code;
use isaforge_core::semantics::Semantics;

use super::handler::{Handler, Micro, NO_ROW};
use super::rule::{self, Each, Rule, word};
use super::{Family, half, integer};
use crate::exec::jit::lanes::emit::{Emitted, Segment, Wanted};
use crate::exec::jit::lanes::function::BlockFn;
use crate::exec::jit::lanes::graph::{Graph, Shifted, Value};
use crate::exec::jit::lanes::row::COLUMN;
use crate::level::Level;

/// Consecutive operations that become a function.
#[derive(Debug)]
pub(crate) struct Run<const K: usize, F: Family<K>> {
    graph: Graph,
    /// The rows that they write.
    written: Vec<u16>,
    family: std::marker::PhantomData<F>,
}

impl<const K: usize, F: Family<K>> Run<K, F> {
    /// Creates an empty run.
    pub(crate) fn new(semantics: &Semantics, level: Level) -> Self {
        Run { graph: Graph::new(semantics, level), written: Vec::new(), family: std::marker::PhantomData }
    }

    /// Declares that a row has the same word in all slots.
    pub(crate) fn know(&mut self, row: u16, slot: u64) {
        if slot as u32 == (slot >> 32) as u32 {
            let value = self.graph.splat(slot as u32);
            self.graph.write(row.into(), value);
        }
    }

    /// Returns the word that is currently in both halves of all slots of a row, if that is known.
    pub(crate) fn constant(&mut self, row: u16) -> Option<u32> {
        let value = self.graph.read(row.into());
        self.graph.constant(value)
    }

    /// Puts the same word into both halves of all slots of a row.
    pub(crate) fn put(&mut self, row: u16, word: u32) {
        let value = self.graph.splat(word);
        self.graph.write(row.into(), value);
        self.written.push(row);
    }

    /// Adds an operation. Returns false if there are no instructions for it.
    pub(crate) fn add(&mut self, micro: &Micro<K, F>) -> bool {
        if micro.high != NO_ROW || micro.to == NO_ROW || F::SLOT != 64 {
            return false;
        }
        let mut from = [Value::of(0); 3];
        for (value, row) in from.iter_mut().zip(micro.read()) {
            *value = self.graph.read((*row).into());
        }
        self.graph.take_missing();
        match instructions(&mut self.graph, micro.handler, from, micro.number) {
            Some(value) if !self.graph.take_missing() => {
                self.graph.write(micro.to.into(), value);
                self.written.push(micro.to);
                true
            }
            _ => false,
        }
    }

    /// Compiles the function. It writes the rows that are wanted.
    pub(crate) fn compile(mut self, level: Level, is_wanted: impl Fn(u16) -> bool) -> Option<BlockFn> {
        let columns = F::PARTS * K * size_of::<u64>() / COLUMN;
        let is_wanted = |row: u32| u16::try_from(row).is_ok_and(|row| self.written.contains(&row) && is_wanted(row));
        let written = self.graph.written().filter(|(row, value)| is_wanted(*row) && !self.graph.is_row(*value, *row));
        let mut rows: Vec<(u32, Value)> = written.collect();
        rows.sort_unstable_by_key(|(row, _)| *row);
        let segment = Segment { nodes: self.graph.end_segment(), rows, mask: None, sets: vec![] };
        let wanted = Wanted { graph: Arc::new(self.graph), segment, columns, again: None };
        BlockFn::new(&Emitted::full(&wanted, &[])?, level)
    }
}

/// Returns the value of an operation; `None` if there are no instructions for it.
fn instructions<const K: usize, F: Family<K>>(
    graph: &mut Graph,
    handler: Handler<K, F>,
    [a, b, c]: [Value; 3],
    number: u64,
) -> Option<Value> {
    fn is<R: Rule, const K: usize, F: Family<K>>(handler: Handler<K, F>) -> bool {
        handler.is_of::<Each<R>>()
    }
    use integer::{doubles, halves, words};
    use rule::slots64;
    let by = number as u8;
    let pairs: [(bool, Code); 13] = [
        (is::<halves::Add, K, F>(handler), Code::EVEX_Vpaddw_zmm_k1z_zmm_zmmm512),
        (is::<halves::Sub, K, F>(handler), Code::EVEX_Vpsubw_zmm_k1z_zmm_zmmm512),
        (is::<halves::Mul, K, F>(handler), Code::EVEX_Vpmullw_zmm_k1z_zmm_zmmm512),
        (is::<halves::MulHigh, K, F>(handler), Code::EVEX_Vpmulhuw_zmm_k1z_zmm_zmmm512),
        (is::<halves::MulHighSigned, K, F>(handler), Code::EVEX_Vpmulhw_zmm_k1z_zmm_zmmm512),
        (is::<halves::Min, K, F>(handler), Code::EVEX_Vpminuw_zmm_k1z_zmm_zmmm512),
        (is::<halves::MinSigned, K, F>(handler), Code::EVEX_Vpminsw_zmm_k1z_zmm_zmmm512),
        (is::<halves::Max, K, F>(handler), Code::EVEX_Vpmaxuw_zmm_k1z_zmm_zmmm512),
        (is::<halves::MaxSigned, K, F>(handler), Code::EVEX_Vpmaxsw_zmm_k1z_zmm_zmmm512),
        (is::<words::Add, K, F>(handler), Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32),
        (is::<words::Sub, K, F>(handler), Code::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32),
        (is::<words::Mul, K, F>(handler), Code::EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32),
        (is::<doubles::Add, K, F>(handler), Code::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64),
    ];
    if let Some((_, code)) = pairs.iter().find(|(is_it, _)| *is_it) {
        return Some(graph.apply(*code, &[a, b]));
    }
    let (equal, less, at_most, different) = (0, 1, 2, 4);
    let tests: [(bool, [Code; 3], usize, u8); 14] = [
        (is::<halves::Equal, K, F>(handler), SIGNED, 0, equal),
        (is::<halves::NotEqual, K, F>(handler), SIGNED, 0, different),
        (is::<halves::Less, K, F>(handler), UNSIGNED, 0, less),
        (is::<halves::LessEqual, K, F>(handler), UNSIGNED, 0, at_most),
        (is::<halves::LessSigned, K, F>(handler), SIGNED, 0, less),
        (is::<halves::LessEqualSigned, K, F>(handler), SIGNED, 0, at_most),
        (is::<words::Equal, K, F>(handler), SIGNED, 1, equal),
        (is::<words::NotEqual, K, F>(handler), SIGNED, 1, different),
        (is::<words::Less, K, F>(handler), UNSIGNED, 1, less),
        (is::<words::LessEqual, K, F>(handler), UNSIGNED, 1, at_most),
        (is::<words::LessSigned, K, F>(handler), SIGNED, 1, less),
        (is::<words::LessEqualSigned, K, F>(handler), SIGNED, 1, at_most),
        (is::<doubles::Equal, K, F>(handler), SIGNED, 2, equal),
        (is::<doubles::NotEqual, K, F>(handler), SIGNED, 2, different),
    ];
    if let Some((_, codes, width, relation)) = tests.iter().find(|(is_it, ..)| *is_it) {
        let [ones, zeros] = [u32::MAX, 0].map(|word| graph.splat(word));
        let mask = graph.test(codes[*width], &[a, b], Some(*relation));
        return Some(graph.blend(BLENDS[*width], mask, ones, zeros));
    }
    if let Some(value) = through_singles(graph, handler, [a, b], number) {
        return Some(value);
    }
    Some(match handler {
        _ if is::<word::Copy, K, F>(handler) => a,
        _ if is::<word::And, K, F>(handler) => graph.and(a, b),
        _ if is::<word::Or, K, F>(handler) => graph.or(a, b),
        _ if is::<word::Xor, K, F>(handler) => graph.xor(a, b),
        _ if is::<word::Select, K, F>(handler) => match graph.constant(a) {
            Some(u32::MAX) => b,
            Some(0) => c,
            _ if b == c => b,
            // For each bit: the second operand where the first is set, else the third.
            _ => graph.logic(0b1100_1010, a, b, c),
        },
        _ if is::<words::Shl, K, F>(handler) => graph.shift(Shifted::Left, a, b),
        _ if is::<words::Shr, K, F>(handler) => graph.shift(Shifted::Right, a, b),
        _ if is::<words::ShrSigned, K, F>(handler) => graph.shift(Shifted::Arithmetic, a, b),
        _ if is::<slots64::Extract, K, F>(handler) => {
            let down = shifted(graph, Code::EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8, a, by & 63);
            graph.and(down, b)
        }
        _ if is::<slots64::ExtractSigned, K, F>(handler) => {
            let up = shifted(graph, Code::EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8, a, by & 63);
            shifted(graph, Code::EVEX_Vpsraq_zmm_k1z_zmmm512b64_imm8, up, (number >> 8) as u8 & 63)
        }
        _ if is::<slots64::Join, K, F>(handler) => {
            let up = shifted(graph, Code::EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8, b, by & 63);
            graph.or(a, up)
        }
        _ if is::<slots64::Raise, K, F>(handler) => {
            shifted(graph, Code::EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8, a, by & 63)
        }
        _ if is::<slots64::FourBits, K, F>(handler) => {
            let [one, two] = [1, 2].map(|word| graph.splat(word));
            let next = shifted(graph, Code::EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8, a, 15);
            let (even, odd) = (graph.and(a, one), graph.and(next, two));
            let low = graph.or(even, odd);
            let high = shifted(graph, Code::EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8, low, 30);
            let all = graph.or(low, high);
            let up = shifted(graph, Code::EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8, all, 60);
            shifted(graph, Code::EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8, up, 60)
        }
        _ if rule::swizzle(number, 64).is_some_and(|(swizzle, _)| handler.is_same(swizzle)) => {
            let low = graph.apply_immediate(Code::EVEX_Vpshuflw_zmm_k1z_zmmm512_imm8, &[a], by);
            graph.apply_immediate(Code::EVEX_Vpshufhw_zmm_k1z_zmmm512_imm8, &[low], by)
        }
        _ => return None,
    })
}

/// Comparisons of half words, words and double words.
const SIGNED: [Code; 3] = [
    Code::EVEX_Vpcmpw_kr_k1_zmm_zmmm512_imm8,
    Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8,
    Code::EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8,
];
const UNSIGNED: [Code; 3] = [
    Code::EVEX_Vpcmpuw_kr_k1_zmm_zmmm512_imm8,
    Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8,
    Code::EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8,
];
/// Blends of half words, words and double words.
const BLENDS: [Code; 3] = [
    Code::EVEX_Vpblendmw_zmm_k1z_zmm_zmmm512,
    Code::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32,
    Code::EVEX_Vpblendmq_zmm_k1z_zmm_zmmm512b64,
];

fn shifted(graph: &mut Graph, code: Code, a: Value, by: u8) -> Value {
    if by == 0 { a } else { graph.apply_immediate(code, &[a], by) }
}

/// Computes operations on halves in single precision, where double rounding gives the same result. Every NaN becomes
/// the canonical one, which is the number.
fn through_singles<const K: usize, F: Family<K>>(
    graph: &mut Graph,
    handler: Handler<K, F>,
    [a, b]: [Value; 2],
    number: u64,
) -> Option<Value> {
    let single = if handler.is_of::<Each<half::Add>>() {
        Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er
    } else if handler.is_of::<Each<half::Sub>>() {
        Code::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er
    } else if handler.is_of::<Each<half::Mul>>() {
        Code::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er
    } else if handler.is_of::<Each<half::FromSigned>>() {
        Code::EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er
    } else if handler.is_of::<Each<half::Canonical>>() {
        return Some(canonical(graph, a, number));
    } else {
        return None;
    };
    let converts = single == Code::EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er;
    let [below, above] = [false, true].map(|is_above| {
        let wide = |graph: &mut Graph, value: Value| {
            let upper = Code::EVEX_Vextracti32x8_ymmm256_k1z_zmm_imm8;
            let part = if is_above { graph.apply_immediate(upper, &[value], 1) } else { value };
            let widen = match converts {
                true => Code::EVEX_Vpmovsxwd_zmm_k1z_ymmm256,
                false => Code::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae,
            };
            graph.apply(widen, &[part])
        };
        let x = wide(graph, a);
        let result = if converts {
            graph.apply(single, &[x])
        } else {
            let y = wide(graph, b);
            graph.apply(single, &[x, y])
        };
        graph.apply_immediate(Code::EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae, &[result], 0)
    });
    let both = graph.apply_immediate(Code::EVEX_Vinserti32x8_zmm_k1z_zmm_ymmm256_imm8, &[below, above], 1);
    Some(if converts { both } else { canonical(graph, both, number) })
}

/// Makes the NaNs of halves canonical.
fn canonical(graph: &mut Graph, value: Value, nan: u64) -> Value {
    let both = |half: u64| half as u32 & 0xffff | (half as u32) << 16;
    let [nan, magnitude, infinity] = [nan, 0x7fff, 0x7c00].map(|half| graph.splat(both(half)));
    let magnitude = graph.and(value, magnitude);
    let greater = 6;
    let mask = graph.test(Code::EVEX_Vpcmpuw_kr_k1_zmm_zmmm512_imm8, &[magnitude, infinity], Some(greater));
    graph.blend(Code::EVEX_Vpblendmw_zmm_k1z_zmm_zmmm512, mask, nan, value)
}

#[cfg(all(test, feature = "vpu"))]
mod tests {
    use isaforge_core::sample::Random;
    use isaforge_core::semantics::{Comparison, Op};
    use isaforge_vpu::semantics::SEMANTICS;

    use super::*;
    use crate::exec::jit::lanes::row::Row;
    use crate::exec::jit::lanes::window::Nowhere;
    use crate::exec::vector::tests::{Bundle, Lanes, ROWS};
    use crate::exec::vector::{Member, float};

    const PART: usize = 8;
    const PARTS: usize = 10;
    type Found = (Handler<PART, Groups>, u8);
    type Groups = Bundle<64, { PART * PARTS }>;

    /// Executes machine code for all lanes.
    fn execute(lanes: &mut Lanes<PART, 64, { PART * PARTS }>, machine: &BlockFn) {
        let rows = lanes.rows.as_chunks::<PARTS>().0;
        let mut rows: Vec<Row<PARTS>> = rows.iter().map(|row| Row(bytemuck::cast(*row))).collect();
        let _ = machine.run(&mut rows, &[0; PARTS], (1 << PARTS) - 1, &mut [0; PARTS], &mut Nowhere, 1);
        lanes.rows = rows.iter().flat_map(|row| bytemuck::cast::<_, [[u64; PART]; PARTS]>(row.0)).collect();
    }

    /// Returns handlers that have instructions, each with a valid number.
    fn handlers() -> Vec<(Found, u64)> {
        let mut all: Vec<(Found, u64)> = Vec::new();
        let ops = [Op::Add, Op::Sub, Op::Mul, Op::MulHigh, Op::Min, Op::Max, Op::Shl, Op::Shr];
        for (bits, signed) in [16, 32, 64].into_iter().flat_map(|bits| [(bits, false), (bits, true)]) {
            all.extend(ops.iter().filter_map(|op| integer::arithmetic(*op, bits, signed)).map(|found| (found, 0)));
            let hows = [Comparison::Equal, Comparison::NotEqual, Comparison::Less, Comparison::LessEqual];
            all.extend(hows.iter().filter_map(|how| integer::compare(*how, bits, signed)).map(|found| (found, 0)));
        }
        for op in [Op::Add, Op::Sub, Op::Mul, Op::Div] {
            all.extend(float::arithmetic(op, 16).map(|found| (found, 0x7e00)));
        }
        all.extend(float::plain(Op::Canonical, 16).map(|found| (found, 0x7e00)));
        all.push((rule::of::<half::FromSigned, PART, Groups>(), 0));
        all.push((rule::of::<word::Copy, PART, Groups>(), 0));
        all.push((rule::of::<word::And, PART, Groups>(), 0));
        all.push((rule::of::<word::Or, PART, Groups>(), 0));
        all.push((rule::of::<word::Xor, PART, Groups>(), 0));
        all.push((rule::of::<word::Select, PART, Groups>(), 0));
        for by in [0, 5, 16, 48] {
            all.extend([(rule::extract(), by), (rule::join(), by), (rule::raise(), by)]);
            all.push((rule::extract_signed(), by | 48 << 8));
        }
        all.push((rule::four_bits(), 0));
        let orders = [0b00_00_00_00, 0b01_01_01_01, 0b10_10_10_10, 0b11_11_11_11, 0b01_00_01_00, 0b11_10_11_10, 0x1b];
        all.extend(orders.iter().filter_map(|order| Some((rule::swizzle(*order, 64)?, *order))));
        all
    }

    #[test]
    fn machine_code_computes_what_handlers_do() {
        const SPECIAL: [u64; 8] = [0, 0x8000, 1, 0x7c00, 0xfc00, 0x7e01, 0x3ff, 0xffff];
        let mut random = Random(11);
        for level in Level::available().into_iter().filter(|level| level.compiles()) {
            let mut compiled = 0;
            for ((handler, reads), number) in handlers() {
                let from = [1, 2, 3, 1, 1, 1, 1, 1];
                let micro =
                    |to| Micro { handler, to, high: NO_ROW, keep: [false; 2], reads, looks_up: false, from, number };
                let mut run = Run::<PART, Groups>::new(SEMANTICS, level.eager());
                if !run.add(&micro(4)) {
                    continue;
                }
                let machine = run.compile(level.eager(), |_| true).expect("one operation fits");
                compiled += 1;
                let rows = vec![[0; PART]; ROWS * PARTS];
                let mut lanes = Lanes { rows, active: u64::MAX, set: 0, stored: vec![] };
                for _ in 0..20 {
                    for (row, part) in (1..4).flat_map(|row| (0..PARTS).map(move |part| (row, part))) {
                        lanes.part_mut(row, part).fill_with(|| {
                            let special = |random: &mut Random| SPECIAL[random.below(8) as usize];
                            let halves = (0..4).fold(0, |all, _| all << 16 | special(&mut random));
                            if random.below(2) == 0 { halves } else { random.next() }
                        });
                    }
                    micro(5).run(level, &[], std::slice::from_mut(&mut lanes));
                    execute(&mut lanes, &machine);
                    for part in 0..PARTS {
                        let read = [1, 2, 3].map(|row| *lanes.part(row, part));
                        assert_eq!(lanes.part(4, part), lanes.part(5, part), "{handler:?} {number:#x} {read:x?}");
                    }
                }
            }
            assert!(level.name() == "avx2" || compiled > 60, "{compiled} at {}", level.name());
        }
    }
}
