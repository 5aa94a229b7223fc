//! Each unit of the ALUs with all of its fields, compared with computations of this file.

use isaforge_core::semantics::facts::FidelityClass;
use isaforge_runtime::usc::{Machine, Program, Software, Task};
use isaforge_usc::semantics::SEMANTICS;
use isaforge_usc::{
    Alu, AluOp, BitmaskSrcOp, Bw0, Bw1, Bw2, BwTstOp, BwTstSrc, CountOp, CountSrc, Dual, Int8_16Fmt, Int8_16Op, Is4Sel,
    Iss, LogicalOp, Lower, Operation, Parts, Regbank, S01ch, S2ch, Shift1Op, Shift2Op, Upper,
};

use crate::seed::seed;
use crate::support::{Random, register};

fn parts(text: &str) -> Parts {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Runs groups for 32 instances with and without the fast path, with r0 to r5 of each instance and the predicates.
/// Returns r8, r9 and the predicate of each instance.
fn run(groups: &[Parts], inputs: &[[u32; 6]; 32], predicates: u32) -> Vec<(u32, u32, bool)> {
    let before = [parts("mbyp ft0, r7\ntstgz.u32 ftt, p0, ft0")];
    let program = Program::of_parts(&[&before, groups, &[parts("nop.end")]].concat());
    let program = program.unwrap_or_else(|e| panic!("{e}"));
    let results = [true, false].map(|fast| {
        let machine = Machine::new(Software::default());
        let mut machine = if fast { machine } else { machine.without_fast_path() };
        let mut task = Task::new(32).expect("32");
        for (i, values) in inputs.iter().enumerate() {
            for (n, value) in values.iter().enumerate() {
                task.set(register(&format!("r{n}")), i, *value).expect("a register");
            }
            task.set(register("r7"), i, predicates >> i & 1).expect("a register");
        }
        let mut tasks = [task];
        machine.run(&program, &mut tasks, 100).unwrap_or_else(|e| panic!("{e}"));
        let value = |name: &str, i: usize| tasks[0].get(register(name), i).expect("a register");
        (0..32).map(|i| (value("r8", i), value("r9", i), tasks[0].predicate(i))).collect::<Vec<_>>()
    });
    let [fast, full] = results;
    assert_eq!(fast, full, "both paths give the same");
    full
}

fn inputs(random: &mut Random) -> [[u32; 6]; 32] {
    std::array::from_fn(|_| {
        let mut values = std::array::from_fn(|_| random.word());
        // Often two values are equal, or have equal parts.
        match random.below(4) {
            0 => values[1] = values[0],
            1 => values[1] = values[0] ^ 0xff << (8 * random.below(4)),
            _ => {}
        }
        values
    })
}

fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

/// Uses r0 to r5 as the sources.
fn sources() -> (Option<Lower>, Option<Upper>) {
    let temp = Regbank::Temp;
    let lower = Lower { n: 3, sb0: temp, s0: 0, sb1: temp, s1: 1, sb2: temp, s2: 2, ..Lower::default() };
    let upper = Upper { n: 3, sb3: temp, s3: 3, sb4: temp, s4: 4, sb5: temp, s5: 5 };
    (Some(lower), Some(upper))
}

fn both_results() -> Option<Dual> {
    Some(Dual { db0: Regbank::Temp, d0: 8, db1: Regbank::Temp, d1: 9 })
}

#[test]
fn tests_compare_parts_of_every_type() {
    let mut random = Random::new(seed(31));
    for (kind, bits, signed) in [
        ("f32", 32, false),
        ("u32", 32, false),
        ("s32", 32, true),
        ("u16", 16, false),
        ("s16", 16, true),
        ("u8", 8, false),
        ("s8", 8, true),
    ] {
        for test in ["z", "gz", "gez", "e", "ne", "g", "ge", "l", "le"] {
            for element in 0..32 / bits {
                let part = if element == 0 { String::new() } else { format!(".e{element}") };
                let right = if ["z", "gz", "gez"].contains(&test) { "" } else { ", ft1" };
                let group = parts(&format!(
                    "mbyp ft0, r0\nmbyp ft1, r1\ntst{test}.{kind} ftt, p0, ft0{part}{right}\nmovc r8.e0.e1.e2.e3, r9, ftt, ft0, ft1, ft1, ft0"
                ));
                let alone = parts(&format!("mbyp ft0, r0\nmbyp ft1, r1\ntst{test}.{kind} ftt, p0, ft0{part}{right}"));
                let given = inputs(&mut random);
                let number = |word: u32| {
                    let unused = 64 - bits;
                    let part = i64::from(word >> (element * bits)) << unused;
                    if signed { part >> unused } else { (part as u64 >> unused) as i64 }
                };
                let holds = |a: u32, b: u32| {
                    let (order, zero) = if kind == "f32" {
                        (f(a).partial_cmp(&f(b)), f(a).partial_cmp(&0.0))
                    } else {
                        (number(a).partial_cmp(&number(b)), number(a).partial_cmp(&0))
                    };
                    match test {
                        "z" => zero.is_some_and(|o| o.is_eq()),
                        "gz" => zero.is_some_and(|o| o.is_gt()),
                        "gez" => zero.is_some_and(|o| o.is_ge()),
                        "e" => order.is_some_and(|o| o.is_eq()),
                        "ne" => order.is_none_or(|o| o.is_ne()),
                        "g" => order.is_some_and(|o| o.is_gt()),
                        "ge" => order.is_some_and(|o| o.is_ge()),
                        "l" => order.is_some_and(|o| o.is_lt()),
                        _ => order.is_some_and(|o| o.is_le()),
                    }
                };
                for (values, found) in given.iter().zip(run(&[group], &given, 0)) {
                    let [a, b, ..] = *values;
                    let wanted = if holds(a, b) { (a, b, true) } else { (b, a, false) };
                    assert_eq!(found, wanted, "tst{test}.{kind} e{element} of {a:08x} and {b:08x}");
                }
                for (values, found) in given.iter().zip(run(&[alone], &given, u32::MAX)) {
                    assert_eq!(found.2, holds(values[0], values[1]), "tst{test}.{kind} e{element} of {values:08x?}");
                }
            }
        }
    }
}

/// The mask unit as in the reference, bit by bit.
fn mask(width: u32, at: u32) -> (u32, u32) {
    let (width, at) = (width & 63, at & 63);
    let bits = (0..32).filter(|n| (at..at + width).contains(n)).fold(0, |mask, n| mask | 1 << n);
    ((width + at + 63) & 63, bits)
}

/// Evaluates a bitwise group, unit by unit.
fn bitwise(b0: Option<&Bw0>, b1: Option<&Bw1>, b2: Option<&Bw2>, s: [u32; 6], held: bool) -> (u32, u32, bool) {
    let (mut ft0, mut ft1, mut ft2, mut ft3) = (s[0], s[1], s[2], s[2]);
    if let Some(b0) = b0 {
        match b0.imm {
            16 => ft1 = b0.imm16,
            32 => ft1 = b0.imm32,
            _ if b0.bitmask_src_op == BitmaskSrcOp::Msk => (ft0, ft1) = mask(s[0], s[1]),
            _ => {}
        }
        ft2 = match b0.shift1_op {
            Shift1Op::Byp => s[2],
            Shift1Op::Shfl => (0..16).fold(0, |r, n| r | (s[2] >> n & 1) << (2 * n) | (s[1] >> n & 1) << (2 * n + 1)),
            Shift1Op::Rev => (0..32).fold(0, |r, n| r | (s[2] >> n & 1) << (31 - n)),
            Shift1Op::Lsl => (0..s[1] & 31).fold(s[2], |r, _| r.wrapping_add(r)),
        };
        let counted = if b0.count_src == CountSrc::S2 { s[2] } else { ft2 };
        ft3 = match b0.count_op {
            CountOp::Cbs => (0..32).map(|n| counted >> n & 1).sum(),
            CountOp::Ftb => (0..32).rev().find(|n| counted >> n & 1 != 0).unwrap_or(u32::MAX),
            _ => counted,
        };
    }
    let mut ft4 = ft1;
    if let Some(b1) = b1 {
        let a = if b1.mska { ft1 & ft2 } else { ft2 };
        let b = if b1.mskb { !ft1 & s[3] } else { s[3] };
        ft4 = match b1.logical_op {
            LogicalOp::Or => a | b,
            LogicalOp::And => a & b,
            LogicalOp::Xor => (a | b) & !(a & b),
            LogicalOp::Nor => !a & !b,
            LogicalOp::Nand => !a | !b,
            LogicalOp::Xnor => (a & b) | (!a & !b),
            LogicalOp::Byp => ft1,
        };
    }
    let Some(b2) = b2 else { return (ft4, ft3, held) };
    let by = s[4] & 31;
    let arithmetic = |top: u32| {
        // The sign bit is shifted down with the rest; bits above it are ignored.
        let top = top & 31;
        let value = (0..=top).fold(0i64, |r, n| r | i64::from(ft4 >> n & 1) << n);
        let value = if ft4 >> top & 1 != 0 { value - (1i64 << (top + 1)) } else { value };
        (value >> by) as u32
    };
    let ft5 = match b2.shift2_op {
        Shift2Op::Lsl => (u64::from(ft4) << by) as u32,
        Shift2Op::Shr => (u64::from(ft4) >> by) as u32,
        Shift2Op::Rol => (u64::from(ft4) << by | u64::from(ft4) >> (32 - by)) as u32,
        Shift2Op::Cps => (s[4] & !ft4) | if held { ft4 } else { 0 },
        Shift2Op::AsrTwb => arithmetic(31),
        Shift2Op::AsrPwb => arithmetic(15),
        Shift2Op::AsrMtb => arithmetic(ft0),
        Shift2Op::AsrFtb => arithmetic(ft3),
    };
    let tested = if b2.tst_src == BwTstSrc::Ft5 { ft5 } else { ft3 };
    let zero = (tested == 0) == (b2.bw_tst_op == BwTstOp::Z);
    (ft5, ft3, if b2.pwen { zero } else { held })
}

#[test]
fn bitwise_groups_of_every_form() {
    let mut random = Random::new(seed(32));
    let (lower, upper) = sources();
    let pick = |random: &mut Random, n: usize| random.below(n as u32) as usize;
    for round in 0..6000 {
        let imm = [0, 0, 16, 32][pick(&mut random, 4)];
        let b0 = Bw0 {
            imm,
            ph0: true,
            count_src: [CountSrc::S2, CountSrc::Ft2][pick(&mut random, 2)],
            count_op: [CountOp::Cbs, CountOp::Ftb, CountOp::Byp][pick(&mut random, 3)],
            bitmask_src_op: if imm == 0 {
                [BitmaskSrcOp::Byp, BitmaskSrcOp::Msk][pick(&mut random, 2)]
            } else {
                BitmaskSrcOp::Byp
            },
            shift1_op: Shift1Op::ALL[pick(&mut random, Shift1Op::ALL.len())],
            imm16: if imm == 16 { random.word() & 0xffff } else { 0 },
            imm32: if imm == 32 { random.word() } else { 0 },
        };
        let b1 = Bw1 {
            mska: random.below(2) == 0,
            mskb: random.below(2) == 0,
            logical_op: LogicalOp::ALL[pick(&mut random, LogicalOp::ALL.len())],
        };
        let pwen = random.below(2) == 0;
        let b2 = Bw2 {
            pwen,
            tst_src: if pwen { [BwTstSrc::Ft5, BwTstSrc::Ft3][pick(&mut random, 2)] } else { BwTstSrc::Ft5 },
            bw_tst_op: if pwen { [BwTstOp::Z, BwTstOp::Nz][pick(&mut random, 2)] } else { BwTstOp::Z },
            shift2_op: Shift2Op::ALL[pick(&mut random, Shift2Op::ALL.len())],
        };
        let phases = 1 + round % 7;
        let b0 = Some(b0).filter(|_| phases & 1 != 0);
        let b1 = Some(b1).filter(|_| phases & 2 != 0);
        let b2 = Some(b2).filter(|_| phases & 4 != 0);
        let group = Parts { b0, b1, b2, lower, upper, w01: both_results(), ..Parts::default() };
        // Some widths and amounts are small.
        let mut given = inputs(&mut random);
        for values in &mut given {
            for n in [0, 1, 4] {
                if random.below(2) == 0 {
                    values[n] = random.below(70);
                }
            }
        }
        let predicates = random.word();
        for (i, (values, found)) in given.iter().zip(run(&[group], &given, predicates)).enumerate() {
            let wanted = bitwise(b0.as_ref(), b1.as_ref(), b2.as_ref(), *values, predicates >> i & 1 != 0);
            assert_eq!(found, wanted, "{group}\n{values:08x?}");
        }
    }
}

/// Parts of words with modifiers, selected parts and saturation. No encoding tells the part; typed values do.
#[test]
fn bytes_and_halves_of_every_part() {
    let mut random = Random::new(seed(33));
    let (lower, upper) = sources();
    for _ in 0..4000 {
        let pick = |random: &mut Random, n: usize| random.below(n as u32) as usize;
        let byte = random.below(2) == 0;
        let op = Int8_16Op::ALL[pick(&mut random, 4)];
        let alu = Alu {
            op: AluOp::Int8_16,
            int8_16_op: op,
            f: if byte { Int8_16Fmt::_8bit } else { Int8_16Fmt::_16bit },
            s: random.below(2) == 0,
            sat: random.below(2) == 0,
            s0neg: random.below(2) == 0,
            s0abs: random.below(2) == 0,
            s1abs: random.below(2) == 0,
            s2neg: random.below(2) == 0,
            s2abs: random.below(2) == 0,
            s0ch: S01ch::ALL[pick(&mut random, if byte { 4 } else { 2 })],
            s1ch: S01ch::ALL[pick(&mut random, if byte { 4 } else { 2 })],
            s2ch: S2ch::ALL[pick(&mut random, 2)],
            ..Alu::default()
        };
        let group = Parts { p0: Some(alu), lower, upper, w01: both_results(), ..Parts::default() };
        let given = inputs(&mut random);
        let bits = if byte { 8 } else { 16 };
        let part = |word: u32, element: u32, abs: bool, neg: bool| {
            let bytes = word.to_le_bytes();
            let at = element as usize * bits / 8 % 4;
            let value = match (byte, alu.s) {
                (true, true) => i64::from(bytes[at] as i8),
                (true, false) => i64::from(bytes[at]),
                (false, true) => i64::from(i16::from_le_bytes([bytes[at], bytes[at + 1]])),
                (false, false) => i64::from(u16::from_le_bytes([bytes[at], bytes[at + 1]])),
            };
            let value = if abs { value.abs() } else { value };
            if neg { -value } else { value }
        };
        let upper = u32::from(alu.s2ch == S2ch::Ehi) + if op == Int8_16Op::Mad2_3 { 2 } else { 0 };
        for (values, found) in given.iter().zip(run(&[group], &given, 0)) {
            let a = part(values[0], alu.s0ch.number() as u32, alu.s0abs, alu.s0neg);
            let b = part(values[1], alu.s1ch.number() as u32, alu.s1abs, false);
            let c = part(values[2], upper, alu.s2abs, alu.s2neg);
            let exact = match op {
                Int8_16Op::Add => a + b,
                Int8_16Op::Mul => a * b,
                _ => a * b + c,
            };
            let wanted = match (byte, alu.s, alu.sat) {
                (true, true, true) => exact.clamp(-128, 127) as u32,
                (true, true, false) => exact as i8 as u32,
                (true, false, true) => exact.clamp(0, 255) as u32,
                (true, false, false) => u32::from(exact as u8),
                (false, true, true) => exact.clamp(-32768, 32767) as u32,
                (false, true, false) => exact as i16 as u32,
                (false, false, true) => exact.clamp(0, 65535) as u32,
                (false, false, false) => u32::from(exact as u16),
            };
            assert_eq!(found.0, wanted, "{group} of {values:08x?}");
        }
    }
}

/// Words and pairs of words, with modifiers, carry in and carry out, in 128-bit arithmetic.
#[test]
fn wide_integers_carry() {
    let mut random = Random::new(seed(34));
    for (name, pairs) in
        [("umadd32", 0), ("smadd32", 0), ("umadd64", 1), ("smadd64", 1), ("add64", 2), ("uadd6432", 3), ("sadd6432", 3)]
    {
        for _ in 0..150 {
            let modifier = |random: &mut Random| ["", ".abs", ".neg", ".abs.neg"][random.below(4) as usize];
            let modifiers = [(); 3].map(|()| modifier(&mut random));
            let carries = random.below(2) == 0;
            let high = if matches!(pairs, 1 | 2) { ", r3" } else { "" };
            let carry = if carries { "p0" } else { "_" };
            let text = format!(
                "{name} ft0, r0{}, r1{}, r2{}{high}, {carry}\ntstc.u32 ftt, p0\nmov r8, ft0\nmov r9, {}",
                modifiers[0],
                modifiers[1],
                modifiers[2],
                if pairs == 0 { "ft0" } else { "fte" }
            );
            let group = parts(&text);
            let (given, predicates) = (inputs(&mut random), random.word());
            let signed = name.starts_with('s');
            for (i, (values, found)) in given.iter().zip(run(&[group], &given, predicates)).enumerate() {
                let word = |n: usize| {
                    let x = if modifiers[n].contains("abs") { (values[n] as i32).unsigned_abs() } else { values[n] };
                    if modifiers[n].contains("neg") { 0u32.wrapping_sub(x) } else { x }
                };
                let (a, b, c) = (word(0), word(1), word(2));
                // Operands are extended to 64 bits before they are negated.
                let extend = |n: usize| {
                    let extended = match (modifiers[n].contains("abs"), signed) {
                        (true, _) => i128::from((values[n] as i32).unsigned_abs()),
                        (false, true) => i128::from(values[n] as i32),
                        (false, false) => i128::from(values[n]),
                    };
                    if modifiers[n].contains("neg") { -extended } else { extended }
                };
                let pair = |low: u32, high: u32| i128::from(u64::from(high) << 32 | u64::from(low));
                let (first, second, bits) = match pairs {
                    0 => (i128::from(a.wrapping_mul(b)), i128::from(c), 32),
                    1 => (extend(0) * extend(1), pair(c, values[3]), 64),
                    2 => (pair(a, b), pair(c, values[3]), 64),
                    _ => (pair(a, b), extend(2), 64),
                };
                let ones = (1i128 << bits) - 1;
                let sum = (first & ones) + (second & ones) + i128::from(carries && predicates >> i & 1 != 0);
                let wide = (sum & ones) as u64;
                let second = if pairs == 0 { wide as u32 } else { (wide >> 32) as u32 };
                assert_eq!(found, (wide as u32, second, sum >> bits != 0), "{text}\n{values:08x?}");
            }
        }
    }
}

#[test]
fn moves_take_the_bytes_that_their_mask_names() {
    let mut random = Random::new(seed(35));
    for mask in 1..16u32 {
        let elements: String = (0..4).filter(|n| mask >> n & 1 != 0).map(|n| format!(".e{n}")).collect();
        let bytes = (0..4).filter(|n| mask >> n & 1 != 0).fold(0u32, |m, n| m | 0xff << (8 * n));
        let given = inputs(&mut random);
        let always = parts(&format!("mbyp ft0, r0\nmbyp ft1, r3\nmov r8{elements}, ft1"));
        for (values, found) in given.iter().zip(run(&[always], &given, 0)) {
            assert_eq!(found.0, (values[3] & bytes) | (values[0] & !bytes), "{elements}");
        }
        let chosen = parts(&format!(
            "mbyp ft0, r0\nmbyp ft1, r3\ntstgez.s32 ftt, _, ft0\nmovc r8{elements}, r9, ftt, ft1, ft0, ft0, ft1"
        ));
        for (values, found) in given.iter().zip(run(&[chosen], &given, 0)) {
            let wanted = if (values[0] as i32) >= 0 {
                ((values[3] & bytes) | (values[0] & !bytes), values[0])
            } else {
                (values[0], values[3])
            };
            assert_eq!((found.0, found.1), wanted, "{elements} of {values:08x?}");
        }
    }
}

/// A complex operation leaves the other phase free, and drives W0 independent of the selector.
#[test]
fn complex_operations_drive_the_first_result() {
    let mut random = Random::new(seed(36));
    let given = inputs(&mut random);
    let texts =
        [("gexp r8, r0\nmbyp ft1, r3", 0), ("gcmp r8, r0\nmbyp ft1, r3", 0), ("fadd ft0, r0, r1\nfrcp.p1 r8, r3", 3)];
    for (text, source) in texts {
        let group = parts(text);
        let iss = Some(Iss { is4: if source == 0 { Is4Sel::Ft1 } else { Is4Sel::Ft0 }, ..Iss::default() });
        let found = run(&[Parts { iss, ..group }], &given, 0);
        let alone =
            text.lines().find(|line| line.contains("r8")).expect("it writes r8").replace(".p1", "").replace("r3", "r0");
        let moved: [[u32; 6]; 32] = std::array::from_fn(|i| [given[i][source], 0, 0, 0, 0, 0]);
        for (found, wanted) in found.iter().zip(run(&[parts(&alone)], &moved, 0)) {
            assert_eq!(found.0, wanted.0, "{text}");
        }
    }
}

/// Converts linear light to sRGB and back.
#[test]
fn gamma_is_that_of_srgb() {
    let given: [[u32; 6]; 32] = std::array::from_fn(|i| [(i as f32 / 31.0).to_bits(), 0, 0, 0, 0, 0]);
    for (i, found) in run(&[parts("gcmp r8, r0")], &given, 0).iter().enumerate() {
        let x = i as f64 / 31.0;
        let wanted = if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 };
        assert!((f64::from(f(found.0)) - wanted).abs() < 1e-6, "of {x}: {}", f(found.0));
    }
    for (i, found) in run(&[parts("gexp r8, r0")], &given, 0).iter().enumerate() {
        let x = i as f64 / 31.0;
        let wanted = if x <= 0.040_45 { x / 12.92 } else { ((x + 0.055) / 1.055).powf(2.4) };
        assert!((f64::from(f(found.0)) - wanted).abs() < 1e-6, "of {x}: {}", f(found.0));
    }
    let specials = [0xff80_0001, 0x7fc0_0000, 0x8000_0000, 0x7f80_0000].map(|bits| [bits, 0, 0, 0, 0, 0]);
    let given: [[u32; 6]; 32] = std::array::from_fn(|i| specials[i % 4]);
    for text in ["gcmp r8, r0", "gexp r8, r0"] {
        let found: Vec<u32> = run(&[parts(text)], &given, 0)[..4].iter().map(|found| found.0).collect();
        assert_eq!(found, [0x7fc0_0000, 0x7fc0_0000, 0x8000_0000, 0x7f80_0000], "{text}");
    }
}

/// Modifiers apply in the order floor, absolute value, negation; saturation is to the range from +0 to 1.
#[test]
fn float_modifiers_come_in_their_order() {
    let mut random = Random::new(seed(37));
    type Of = fn(&[f32; 6]) -> f32;
    let table: [(&str, Of); 6] = [
        ("fadd ft0, r0.abs.neg.flr, r1.abs\nmov r8, ft0", |v| -v[0].floor().abs() + v[1].abs()),
        ("fmul ft0, r0.neg.flr, r1.abs\nmov r8, ft0", |v| -v[0].floor() * v[1].abs()),
        ("fmad ft0, r0.abs, r1.neg, r2.abs.neg.flr\nmov r8, ft0", |v| v[0].abs().mul_add(-v[1], -v[2].floor().abs())),
        ("fmad.sat ft0, r0, r1, r2\nmov r8, ft0", |v| sat(v[0].mul_add(v[1], v[2]))),
        ("fmul.sat ft0, r0.abs, r1\nmov r8, ft0", |v| sat(v[0].abs() * v[1])),
        ("mbyp ft0, r0\nfadd.sat ft1, r3.flr, r4\nmov r8, ft1", |v| sat(v[3].floor() + v[4])),
    ];
    fn sat(x: f32) -> f32 {
        if x > 1.0 {
            1.0
        } else if x > 0.0 {
            x
        } else {
            0.0
        }
    }
    for (text, of) in table {
        for _ in 0..20 {
            let given = inputs(&mut random);
            for (values, found) in given.iter().zip(run(&[parts(text)], &given, 0)) {
                let wanted = of(&values.map(f));
                let same = found.0 == wanted.to_bits() || f(found.0).is_nan() && wanted.is_nan();
                assert!(same, "{text}\n{values:08x?}: {:08x}, not {:08x}", found.0, wanted.to_bits());
            }
        }
    }
}

#[test]
fn just_the_operations_that_are_called_unsupported_are_refused() {
    for (number, operation) in Operation::ALL.iter().enumerate() {
        let info = operation.info();
        let fidelity = SEMANTICS.fidelity_of(number as u16).expect("the specification speaks of every operation");
        if fidelity.class == FidelityClass::Unsupported {
            let parts: Parts = info.name.to_lowercase().parse().expect("it is written as its name");
            assert!(Program::of_parts(&[parts]).is_err(), "{}", info.name);
        }
    }
}
