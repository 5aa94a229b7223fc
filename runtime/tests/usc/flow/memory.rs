//! Memory and atomics.

use super::*;

/// An atomic group is executed by one instance after another; each reads what the previous one wrote.
#[test]
fn atomic_groups_add_up() {
    let text = "1 : atomic\numadd32 ft0, sh0, c1, r0, _\nmov r1, sh0\nmov sh0, ft0";
    let mut machine = Machine::new(Software::default());
    machine.set(register("sh0"), 1000).expect("a shared register");
    let mut tasks = [task(32, &[("r0", &|i| 1 + i as u32)]), task(2, &[("r0", &|_| 5)])];
    machine.run(&program(text), &mut tasks, 10).expect("it ends");
    assert_eq!(machine.get(register("sh0")), Some(1000 + 32 * 33 / 2 + 10));
    let before: Vec<u32> = (0..32).map(|i| 1000 + i * (i + 1) / 2).collect();
    assert_eq!(values(&tasks[0], "r1"), before);
    // Without `atomic`, all instances read the same value.
    let mut machine = Machine::new(Software::default());
    machine
        .run(&program(&text.replace("atomic\n", "")), &mut [task(3, &[("r0", &|i| 1 + i as u32)])], 10)
        .expect("it ends");
    assert_eq!(machine.get(register("sh0")), Some(3));
}

/// Atomic operations on memory return the old value and store the new one.
#[test]
fn memory_is_changed_atomically() {
    type Combine = fn(u32, u32) -> u32;
    let table: [(&str, Combine); 10] = [
        ("add", |a, b| a.wrapping_add(b)),
        ("sub", |a, b| a.wrapping_sub(b)),
        ("xchg", |_, b| b),
        ("umin", |a, b| if a < b { a } else { b }),
        ("imin", |a, b| if (a as i32) < b as i32 { a } else { b }),
        ("umax", |a, b| if a > b { a } else { b }),
        ("imax", |a, b| if (a as i32) > b as i32 { a } else { b }),
        ("and", |a, b| a & b),
        ("or", |a, b| a | b),
        ("xor", |a, b| a ^ b),
    ];
    let mut random = Random::new(seed(42));
    for (name, combine) in table {
        let operands: Vec<u32> = (0..32).map(|_| random.word()).collect();
        let start = random.word();
        let mut memory = Memory::new();
        memory.map(0x3_0000_0010, start.to_le_bytes().to_vec()).expect("free");
        let mut machine = Machine::new(Software { memory, ..Software::default() });
        // The low and the high word of the address, then the operand.
        let mut tasks = [task(32, &[("r10", &|_| 0x10), ("r11", &|_| 3), ("r12", &|i| operands[i])])];
        machine
            .run(&program(&format!("1 : atom.{name} r20, drc0, r10\n1 : wdf drc0")), &mut tasks, 10)
            .expect("it ends");
        let mut value = start;
        for (i, operand) in operands.iter().enumerate() {
            assert_eq!(tasks[0].get(register("r20"), i), Some(value), "{name}, instance {i}");
            value = combine(value, *operand);
        }
        assert_eq!(machine.host.memory.region(0x3_0000_0010), Some(&value.to_le_bytes()[..]), "{name}");
    }
}

/// Loads and stores: sizes, bursts from the record and from a register, the coverage of tiled stores.
#[test]
fn bursts_go_to_memory_and_back() {
    let given: Vec<u32> = (0..16).map(|n| 0x1122_3344u32.wrapping_mul(n + 1)).collect();
    for (size, width) in [(0, 1), (1, 2), (2, 4)] {
        for (count, length) in [(1, "1"), (5, "5"), (16, "16"), (7, "r3")] {
            for (tiled, mask) in [("", ""), (".tiled", ", r4")] {
                let mut memory = Memory::new();
                memory.map(0x4000, vec![0xee; 64 * 2]).expect("free");
                let mut machine = Machine::new(Software { memory, ..Software::default() });
                for (n, value) in given.iter().enumerate() {
                    machine.set(register(&format!("sh{n}")), *value).expect("a shared register");
                }
                let text = format!(
                    "1 : st{tiled} sh0, {size}, drc0, {length}, r0{mask}\n1 : idf drc0, r0\n1 : wdf drc0\n1 : ld r20, drc0, 16, r0\n1 : wdf drc0"
                );
                let task = task(2, &[("r0", &|i| 0x4000 + 64 * i as u32), ("r3", &|_| 7), ("r4", &|i| 1 - i as u32)]);
                let mut tasks = [task];
                machine.run(&program(&text), &mut tasks, 10).expect("it ends");
                let region = machine.host.memory.region(0x4000).expect("mapped").to_vec();
                for i in 0..2 {
                    let stored: Vec<u8> =
                        given[..count].iter().flat_map(|v| v.to_le_bytes()[..width].to_vec()).collect();
                    let mut wanted = vec![0xee; 64];
                    if tiled.is_empty() || i == 0 {
                        wanted[..stored.len()].copy_from_slice(&stored);
                    }
                    assert_eq!(region[64 * i..64 * i + 64], wanted, "{text}, instance {i}");
                    let words: Vec<u32> =
                        wanted.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
                    let loaded: Vec<u32> =
                        (20..36).map(|n| tasks[0].get(register(&format!("r{n}")), i).expect("a register")).collect();
                    assert_eq!(loaded, words, "{text}, instance {i}");
                }
            }
        }
    }
}
