//! Words of the VPU: which are rejected and why, and the text of the others.

use isaforge_runtime::vpu::{assemble, refusal, text};
use isaforge_vpu::{ISA, decode};

const OPCODES: [u8; 37] = [
    0x00, 0x01, 0x04, 0x05, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x10, 0x11, 0x15, 0x16, 0x20, 0x21, 0x22, 0x28, 0x2a,
    0x2c, 0x2e, 0x30, 0x31, 0x32, 0x33, 0x70, 0x71, 0x72, 0x73, 0x74, 0x78, 0x79, 0x7a, 0x7b, 0x7c, 0x7f, 0x80,
];

fn is_defined(opcode: u8) -> bool {
    OPCODES.contains(&opcode) || (0x40..0x60).contains(&opcode)
}

fn list(bits: u64) -> String {
    (0..64).rev().filter(|b| bits >> b & 1 == 1).map(|b| b.to_string()).collect::<Vec<_>>().join(",")
}

/// Tests every set of standard reserved bits with every opcode, and for branches all single bits, pairs and runs.
#[test]
fn all_opcodes_with_all_reserved_bits_are_refused_for_the_right_reason() {
    let fields = 0x0055_aaff_00ff_3000_u64 & !0xfff;
    for opcode in 0..=255u8 {
        for reserved in 0..1u64 << 12 {
            let word = u64::from(opcode) << 56 | fields | reserved;
            let expected = match (is_defined(opcode), opcode) {
                (false, _) => Some(format!("undefined opcode 0x{opcode:02X}")),
                (true, 0x80) => Some(format!("reserved bit {} set in the branch layout", list(word & BRANCH_RESERVED))),
                (true, _) if reserved != 0 => {
                    Some(format!("reserved bit {} set in the standard layout", list(reserved)))
                }
                (true, _) => None,
            };
            assert_eq!(refusal(word), expected, "{word:016x}");
            assert_eq!(decode(word).is_err(), expected.is_some(), "{word:016x}");
        }
    }
}

const BRANCH_RESERVED: u64 = 0x000f_fc00_ffff_ffff;

#[test]
fn reserved_bits_of_a_branch_are_refused_one_by_one_in_pairs_and_in_runs() {
    let bits: Vec<u32> = (0..64).filter(|b| BRANCH_RESERVED >> b & 1 == 1).collect();
    let base = 0x80a0_0155_0000_0000;
    assert_eq!(refusal(base), None);
    for (i, a) in bits.iter().enumerate() {
        let mut run = 0;
        for b in &bits[i..] {
            run |= 1 << b;
            for set in [1 << a | 1 << b, run] {
                let expected = format!("reserved bit {} set in the branch layout", list(set));
                assert_eq!(refusal(base | set).as_deref(), Some(expected.as_str()));
            }
        }
    }
}

#[test]
fn there_are_sixty_nine_instructions() {
    assert_eq!(ISA.forms.len(), 69);
    assert_eq!((0..=255).filter(|o| is_defined(*o)).count(), 69);
}

#[test]
fn text_says_write_modes_flags_swizzles_and_the_spawned_group() {
    let same = [
        "AddFloat16.sign r3.xy?_w!, r1.xyzw, g4.xxxx",
        "MultiplyHiInt16u.sign_or_zero s15.____, s0.wzyx, r15.yyyy",
        "LoadPosition new.g31.x?y!z_",
        "ThreadGroupLaunch.xyzw! r0.xyzw",
        "Branch 1023",
        "Branch.xzw 7",
        "ReadLockTile3.zero r0.xyzw, r2.xyzw",
        "WriteUnlockTile0.x___ r2.xyzw, g0.xyzw",
        "IssueExternalFetchAdd32 r4.xyxy, g1.xyzw",
        "Exit",
    ];
    for line in same {
        let words = assemble(line).unwrap_or_else(|e| panic!("{line}: {}", e[0]));
        assert_eq!(text(words[0]), line);
    }
}

#[test]
fn ignored_bits_survive_the_exact_text_only() {
    let word = 0x009e_c75f_f199_d000;
    let exit = decode(word).expect("Exit ignores its fields");
    assert_eq!(exit.encode(), word);
    assert_eq!(format!("{exit}"), "Exit");
    assert_eq!(format!("{exit:#}"), "Exit ~0x9EC75FF199D000");
    assert_eq!(assemble("Exit ~0x9EC75FF199D000"), Ok(vec![word]));
    let errors = assemble("Exit ~0x1").expect_err("bit 0 is reserved, not ignored");
    assert!(errors[0].message.contains("ignores"), "{}", errors[0].message);
}

#[test]
fn notes_name_the_rulings_with_reasons() {
    let form = ISA.forms.iter().find(|f| f.name.str == "DivideFloat16").expect("it is specified");
    for ruling in ["Q02 (assumed): ", "registers (assumed): ", "Q34 (assumed): "] {
        let line =
            form.note.lines().find(|l| l.starts_with(ruling)).unwrap_or_else(|| panic!("{ruling} in {}", form.note));
        assert!(line.contains("Reason: "), "{line}");
    }
}

#[test]
fn mistakes_in_the_text_are_placed() {
    let wrong = [
        ("AddFloat16 r16.xyzw, r0.xyzw, r0.xyzw", 13),
        ("AddFloat16 r1.xyz, r0.xyzw, r0.xyzw", 12),
        ("AddFloat16 r1.xyzw, r0.xyz, r0.xyzw", 21),
        ("AddFloat r1.xyzw, r0.xyzw, r0.xyzw", 1),
        ("Branch.xy nowhere", 11),
        ("Branch.yx 1", 8),
        ("AddFloat16 g1.xyzw, r0.xyzw, r0.xyzw", 12),
    ];
    for (line, column) in wrong {
        let errors = assemble(line).expect_err(line);
        assert_eq!((errors.len(), errors[0].column), (1, column), "{line}: {}", errors[0]);
    }
}

/// The indented blocks of the document are programs, except for the grammar.
#[test]
fn the_examples_of_the_document_assemble() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/vpu/README.md");
    let document = std::fs::read_to_string(path).expect("specs/vpu/README.md is part of the repository");
    let mut blocks = vec![String::new()];
    for line in document.lines() {
        match line.strip_prefix("    ") {
            Some(code) => *blocks.last_mut().expect("it starts with one") += &format!("{code}\n"),
            None if line.is_empty() || blocks.last().is_some_and(String::is_empty) => {}
            None => blocks.push(String::new()),
        }
    }
    let programs: Vec<&String> = blocks.iter().filter(|b| !b.is_empty() && !b.contains(" = ")).collect();
    assert_eq!(programs.len(), 4, "{programs:?}");
    for program in programs {
        assemble(program).unwrap_or_else(|errors| panic!("{}:\n{program}", errors[0]));
    }
}
