//! What `accesses` lists is what an instruction reads and writes.

use std::time::{SystemTime, UNIX_EPOCH};

use isaforge_analysis::entry::{Instruction, Register, entries};
use isaforge_analysis::{Access, Set};
use isaforge_core::explain::words::example;
use isaforge_core::{Isa, Tables};

/// Checks that the accesses cover these registers, each at least once, and nothing else but states.
fn check(set: &Set, instruction: &Instruction, registers: &[Register], write: bool) {
    let text = &instruction.text;
    let named = |name: &str| registers.iter().find(|register| set.name(**register) == name).copied();
    let mut covered: Vec<Register> = Vec::new();
    for Access { name, by } in instruction.accesses(set, write) {
        let ends = name.split_once("..").or_else(|| name.split_once(':')).unwrap_or((&name, &name));
        match (named(ends.0), named(ends.1)) {
            (Some(first), Some(last)) => {
                assert!(!by.is_empty(), "{text}: nothing accesses {name}");
                covered.extend((first.index..=last.index).map(|index| Register { bank: first.bank, index }));
            }
            _ => {
                let implied = instruction.implied(set, write);
                assert!(implied.iter().any(|implied| implied.name == name), "{text}: {name} is not accessed");
            }
        }
    }
    let order = |register: &Register| (register.bank, register.index);
    let mut registers = registers.to_vec();
    registers.sort_by_key(order);
    covered.sort_by_key(order);
    covered.dedup();
    assert_eq!(covered, registers, "{text}, write: {write}");
}

#[test]
fn every_register_is_listed_with_what_names_it() {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_nanos() as u64 | 1;
    println!("seed {seed}");
    let mut state = seed;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let sets: [(&'static Isa, _, _); 2] = [
        (isaforge_valhall::ISA, isaforge_valhall::semantics::SEMANTICS, isaforge_valhall::semantics::HARDWARE),
        (isaforge_vpu::ISA, isaforge_vpu::semantics::SEMANTICS, isaforge_vpu::semantics::HARDWARE),
    ];
    for (isa, semantics, hardware) in sets {
        let set = Set::new(Tables::Words(isa), Some(semantics), Some(hardware));
        let mut checked = 0;
        for opcode in 0..isa.forms.len() {
            let example = example(isa, opcode as u16);
            for changed in std::iter::once(0).chain((0..40).map(|_| 1 << (random() & 63) | 1 << (random() & 63))) {
                let found = entries(&set, &(example ^ changed).to_le_bytes()).next();
                let Some(Ok(instruction)) = found.map(|entry| entry.instruction) else { continue };
                let writes: Vec<Register> = instruction.writes.iter().map(|(register, _)| *register).collect();
                check(&set, &instruction, &instruction.reads, false);
                check(&set, &instruction, &writes, true);
                checked += 1;
            }
        }
        assert!(checked > 10 * isa.forms.len(), "{checked} words of {} instructions", isa.forms.len());
    }
}

/// What the first instruction of a text reads, as `explain` shows it.
fn read(set: &Set, text: &str) -> Vec<String> {
    let code = set.tables.assemble(text);
    assert!(code.errors.is_empty(), "{text}");
    let instruction = entries(set, &code.bytes).next().and_then(|entry| entry.instruction.ok()).expect("it assembles");
    instruction.accesses(set, false).iter().map(ToString::to_string).collect()
}

#[test]
fn a_list_counts_as_far_as_it_is_accessed_and_a_repetition_names_its_operand() {
    let (semantics, hardware) = (isaforge_valhall::semantics::SEMANTICS, isaforge_valhall::semantics::HARDWARE);
    let valhall = Set::new(Tables::Words(isaforge_valhall::ISA), Some(semantics), Some(hardware));
    // Three registers are named, one is stored.
    let bytes = 0x5261_7406_9a5e_c2e6_u64.to_le_bytes();
    let instruction = entries(&valhall, &bytes).next().and_then(|entry| entry.instruction.ok()).expect("it decodes");
    assert_eq!(instruction.accesses(&valhall, false)[0].to_string(), "r52 (sr)", "{}", instruction.text);

    let (semantics, hardware) = (isaforge_usc::semantics::SEMANTICS, isaforge_usc::semantics::HARDWARE);
    let usc = Set::new(Tables::Groups(isaforge_usc::ISA), Some(semantics), Some(hardware));
    assert_eq!(read(&usc, "repeat 3 | fadd ft0, r4, c64 | mov r8, ft0"), ["r4 (S0)", "c64 (S1)", "r5:r6 (S0)"]);
}
