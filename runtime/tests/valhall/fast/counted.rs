//! Loops that only compute, whose lanes all iterate equally often, or nearly so.

use super::*;

/// The counter, and the register of the comparison.
const COUNTER: u8 = 59;
const COMPARED: u8 = 58;

/// Returns an instruction that computes, perhaps from the counter.
fn operation(random: &mut Random) -> String {
    let [to, a, b] = [0; 3].map(|_| random.below(6));
    match random.below(8) {
        0 => computing(random),
        1 => format!("IADD.u32 r{to}, r{COUNTER}, r{a}"),
        2 => format!("IMUL.i32 r{to}, r{a}, r{b}"),
        3 => format!("MOV.i32 r{to}, r{a}"),
        4 => format!("FADD.f32 r{to}, r{a}, u4"),
        5 => format!("LSHIFT_XOR.i32 r{to}, r{a}, 0x03020100.b{0}{0}, r{b}", random.below(4)),
        _ => format!("FMA.f32 r{to}, r{a}, r{b}, r{to}"),
    }
}

/// Returns a loop whose counter starts at a number, or at a register's lowest bits plus it.
fn counting(random: &mut Random, start: u64, register: Option<u64>) -> String {
    let mut lines = match register {
        Some(register) => vec![
            format!("IADD_IMM.i32 r{COUNTER}, 0x0, #0x3"),
            format!("LSHIFT_AND.i32 r{COUNTER}, r{register}, 0x0.b00, r{COUNTER}"),
            format!("IADD_IMM.i32 r{COUNTER}, r{COUNTER}, #{start:#x}"),
        ],
        None => vec![format!("IADD_IMM.i32 r{COUNTER}, 0x0, #{start:#x}")],
    };
    let (counts_up, compares) = (random.below(3) == 0, random.below(2) == 0);
    if counts_up {
        // The counter wraps around on its way.
        lines.push(format!("IADD_IMM.i32 r{COUNTER}, r{COUNTER}, #0xfffff000"));
    }
    lines.push("again: NOP".to_owned());
    lines.extend((0..1 + random.below(6)).map(|_| operation(random)));
    if random.below(4) == 0 {
        // Some lanes leave in the middle.
        lines.push(format!("BRANCHZ r{}.h0, offset:out", random.below(6)));
    }
    let step = if counts_up { 1 + random.below(8) as u32 } else { u32::MAX };
    lines.push(format!("IADD_IMM.i32 r{COUNTER}, r{COUNTER}, #{step:#x}"));
    let mut tested = COUNTER;
    if counts_up || compares {
        lines.push(format!("ICMP.u32.lt.m1 r{COMPARED}, u7, r{COUNTER}, 0x0"));
        tested = COMPARED;
    }
    lines.push(format!("BRANCHZ.reconverge r{tested}, offset:again"));
    lines.push("out: NOP".to_owned());
    lines.extend([0; 2].map(|_| operation(random)));
    lines.join("\n")
}

#[test]
fn loops_that_lanes_iterate_equally_often_stop_where_turns_and_budgets_end() {
    let mut random = Random(seed(23));
    until_ended(20 * ROUNDS, |round| {
        // Some of them take longer than a turn.
        let start = 1 + random.below([8, 8, 1 << 11][round as usize % 3]);
        let register = (round % 4 == 3).then(|| random.below(6));
        let mut text = counting(&mut random, start, register);
        if round % 5 == 4 {
            // A lane is not there from the beginning.
            text = format!("BRANCHZ r3, offset:over\n{text}\nover: NOP");
        }
        let threads = [128, 256, 40][(round / 2) as usize % 3];
        let mut launch = launch(threads, &assemble(&text));
        if round % 8 == 7 {
            launch.budget = 2_000 + random.below(1 << 19);
        }
        agree(&launch, &memory(threads, &mut random))
    });
}
