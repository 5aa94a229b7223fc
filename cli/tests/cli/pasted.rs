//! Machine code that users paste: source code, logs, listings.

use super::*;

const MOV: &str = "MOV.i32 r1, r2\n";
const TWO: &str = "MOV.i32 r1, r2\nMOV.i32 r3, r4\n";

fn dis(text: impl AsRef<[u8]>) -> Run {
    isaforge_with(&["dis", "valhall"], text)
}

#[test]
fn what_stands_beside_a_list_in_braces_is_read_or_reported() {
    let run = dis("int a[] = {0x00000002, 0x0091c100};\n0x0091c30000000004\n").expect(0);
    assert_eq!((run.out(), run.err.as_str()), (TWO, ""));
    let run = dis("// 0x1\nint a[] = {0x00000002, 0x0091c100};\nint entry = 0x10;\n").expect(0);
    assert_eq!(run.out(), MOV);
    let note = "<stdin>: note: skipped 1 line outside of lists and strings, the first is line 3: `int entry = 0x10;`\n";
    assert_eq!(run.err, note);
    let run = dis("int a[] = {0x00000002, 0x0091c100};\n02 00 00 00 00 c1 91 00    MOV.i32 r1, r2\n").expect(1);
    assert!(run.out().is_empty() && run.err.starts_with("<stdin>:2:1: error: `02 00 00"), "{}{}", run.out(), run.err);
    // What a log says about a shader is not its code.
    let fact = "source_sha1: {0xabcdef01, 0x12345678}\n";
    let run = dis(format!("{fact}02 00 00 00 00 c1 91 00    MOV.i32 r1, r2\n")).expect(0);
    assert_eq!(run.out(), MOV);
    assert!(run.err.contains("skipped 1 line without bytes, the first is line 1: `source_sha1: {0x"), "{}", run.err);
    let run = dis(fact).expect(1);
    assert!(run.out().is_empty() && run.err.contains("is neither hexadecimal digits nor"), "{}", run.err);
}

#[test]
fn records_of_intel_hex_are_read_with_their_address() {
    let sum = |record: &str| {
        let bytes =
            (0..record.len() / 2).map(|at| u8::from_str_radix(&record[2 * at..2 * at + 2], 16).expect("digits"));
        format!(":{record}{:02X}\n", bytes.fold(0u8, u8::wrapping_add).wrapping_neg())
    };
    let (upper, end) = (sum("020000041000"), sum("00000001"));
    let (first, second) = (sum("081000000200000000C19100"), sum("081008000400000000C39100"));
    let whole = format!("{upper}{first}{second}{end}");
    let run = dis(&whole).expect(0);
    assert_eq!((run.out(), run.err.as_str()), (TWO, ""));
    let objects = json::objects(&isaforge_with(&["dis", "valhall", "--json"], &whole).expect(0));
    assert_eq!(objects[1]["address"], 0x1000_1008);
    let far = sum("081010000400000000C39100");
    let run = dis(format!("{first}{far}{end}")).expect(1);
    assert_eq!(run.out().lines().count(), 3, "the gap is zeros: {}", run.out());
    let explained = isaforge_with(&["explain", "valhall", "-"], &whole).expect(0);
    assert_eq!(explained.out().matches("MOV.i32").count(), 4, "{}", explained.out());
    let damaged = first.replace("C191", "C192");
    for (text, part) in [
        (format!("{damaged}{end}"), "<stdin>:1:1: error: the checksum of the record is wrong"),
        (format!("{first}{}", &second[..9]), "<stdin>:2:1: error: the record"),
        (format!("{second}{first}"), "<stdin>:2:1: error: the record does not follow the one before it"),
        (format!("{first}{end}{second}"), "<stdin>:3:1: error: something follows the record that ends the file"),
        (format!("{first}nothing\n"), "<stdin>:2:1: error: this is no record"),
        (sum("08000002FFFFFFFFFFFFFFFF") + &first, "<stdin>:1:1: error: the record has another length than its kind"),
        (sum("00000006") + &first, "<stdin>:1:1: error: there are no records of kind 6"),
        (
            format!("{first}{}{second}{}{second}", sum("0200000400F0"), sum("0200000401E0")),
            "<stdin>:5:1: error: the record does not follow the one before it",
        ),
    ] {
        let run = dis(&text).expect(1);
        assert!(run.out().is_empty() && run.err.starts_with(part), "{text}\n{}{}", run.out(), run.err);
    }
}

#[test]
fn base64_is_read_if_all_of_it_is_code() {
    let text = "AgAAAADBkQAEAAAAAMORAA==\n";
    let run = dis(text).expect(0);
    assert_eq!((run.out(), run.err.as_str()), (TWO, "<stdin>: note: read as base64\n"));
    let wrapped = "AgAAAADBkQAE\nAAAAAMORAA==\n";
    assert_eq!(dis(wrapped).expect(0).out(), TWO);
    assert!(isaforge(&["explain", "valhall", "AgAAAADBkQA="]).expect(0).out().contains("MOV.i32 r1, r2"));
    // Digits stay digits, and names stay names.
    assert_eq!(dis("0091c10000000002").expect(0).out(), MOV);
    let other = dis("AgAAAADBkQD/////////").expect(1);
    assert!(other.out().is_empty() && other.err.contains("is neither hexadecimal digits nor"), "{}", other.err);
    let assembly = dis("BARRIERBARRIER==\n").expect(1);
    assert!(assembly.out().is_empty(), "{}", assembly.out());
}

#[test]
fn listings_of_ida_and_ghidra_are_read() {
    for lines in [
        ".text:0000000000001000 02 00 00 00 00 C1 91 00\n.text:0000000000001008 04 00 00 00 00 C3 91 00\n",
        ".text:00001000  02 00 00 00 00 C1 91 00    MOV r1, r2\n.text:00001008  04 00 00 00 00 C3 91 00    MOV r3, r4\n",
        "        ram:00101000 02 00 00 00 00 c1 91 00     MOV r1,r2\n        \
         ram:00101008 04 00 00 00 00 c3 91 00     MOV r3,r4\n",
        "00101000 02 00 00 00 00 c1 91 00     ??\n00101008 04 00 00 00 00 c3 91 00     ??\n",
    ] {
        assert_eq!(dis(lines).expect(0).out(), TWO, "{lines}");
    }
    let explained = isaforge_with(&["explain", "valhall", "-"], ".text:1000 02 00 00 00 00 C1 91 00\n").expect(0);
    assert!(explained.out().contains("MOV.i32 r1, r2"), "{}", explained.out());
    // Addresses that go back are no listing, and labels are no segments.
    dis(".text:1008 02 00 00 00 00 C1 91 00\n.text:1000 04 00 00 00 00 C3 91 00\n").expect(1);
    let label = dis("l:fadd.f32 r2, r2, u0\n").expect(1);
    assert!(label.err.contains("this is assembly"), "{}", label.err);
}

#[test]
fn a_number_with_0x_ends_with_its_digits() {
    let run = dis("0x91c10000000002\n".repeat(8)).expect(0);
    assert_eq!((run.out(), run.err.as_str()), (MOV.repeat(8).as_str(), ""));
    let run = dis("0x91c10000000002, 0x91c30000000004").expect(0);
    assert_eq!((run.out(), run.err.as_str()), (TWO, ""));
    let run = dis("0x91c10000000002").expect(0);
    assert_eq!((run.out(), run.err.as_str()), (MOV, ""));
    // Bytes, and halves of words.
    let run = dis("0x2, 0x0, 0x0, 0x0, 0x0, 0xc1, 0x91, 0x0\n0x4,0,0,0,0,0xc3,0x91,0").expect(0);
    assert_eq!((run.out(), run.err.as_str()), (TWO, ""));
    let run = dis("0x2 0x91c100\n0x4 0x91c300\n").expect(0);
    assert_eq!(run.out(), TWO);
    assert!(run.err.contains("note: read every two numbers as the halves of a word, the low one first"), "{}", run.err);
    let run = dis("0x00000002, 0x0091c100, 0x00000004, 0x0091c300\n");
    assert_eq!(run.out(), TWO);
    for (text, part) in [
        ("0x91c10000000002, 0x10091c30000000004\n", "<stdin>:1:19: error: `0x10091c30000000004` has 17 digits"),
        ("0x91c10000000002\n145,\n", "<stdin>:2:1: error: `145` has no `0x`"),
        ("0x2, 0x91c100, 0x4\n", "<stdin>:1:16: error: 3 numbers of at most 8 digits are not a whole number of words"),
    ] {
        let run = dis(text).expect(1);
        assert!(run.out().is_empty() && run.err.starts_with(part), "{text}\n{}{}", run.out(), run.err);
    }
    let run = isaforge_with(&["translate", "valhall", "valhall", "--in", "hex"], "0x91c10000000002\n").expect(0);
    assert_eq!(run.out(), "0091c10000000002\n");
    let run = isaforge_with(&["dis", "usc"], "0x44 0xa0 0x80 0x5 0x0 0x0 0x0 0xff").expect(0);
    assert_eq!(run.out(), isaforge_with(&["dis", "usc"], "44a08005000000ff").out());
}

#[test]
fn a_column_of_text_is_never_digits() {
    for text in ["FADD.f32 r1, r2, r3", "ADD r1", "FADD r1, r2", "FADD    r1", "ADD", "FADD", "DEAD.BEEF", "fade, 0"] {
        for gap in [" ", "  ", "\t"] {
            for before in ["", "0x0: "] {
                let run = dis(format!("{before}0091c10000000002{gap}{text}\n").repeat(4)).expect(0);
                assert_eq!((run.out(), run.err.as_str()), (MOV.repeat(4).as_str(), ""), "{before}{gap}{text}");
            }
        }
    }
    // A slip is not a text.
    let run = dis("0091c10000000002 0091c3000000000g\n").expect(1);
    assert!(run.err.contains("`g` is not a hexadecimal digit"), "{}", run.err);
    let run = dis("0000  02000000 00c19100  ........\n0008  ffffffff ffffffff  ........\n").expect(1);
    assert!(run.out().starts_with("MOV.i32 r1, r2\n.word 0xffffffffffffffff"), "{}", run.out());
}

#[test]
fn white_space_of_unicode_is_white_space_and_text_is_never_raw() {
    let run = dis("0091\u{a0}c10000000002\u{2003}\n0091c300\u{3000}00000004").expect(0);
    assert_eq!((run.out(), run.err.as_str()), (TWO, ""));
    let run = dis("0091c10000000002 // größer\n").expect(0);
    assert_eq!((run.out(), run.err.as_str()), (MOV, ""));
    let run = dis("größer\n").expect(1);
    assert!(run.out().is_empty() && run.err.contains("is neither hexadecimal digits"), "{}{}", run.out(), run.err);
    let run = dis("0091c1000000000ä\n").expect(1);
    assert!(run.err.starts_with("<stdin>:1:16: error: `ä` is not a hexadecimal digit"), "{}", run.err);
    assert_eq!(isaforge_with(&["dis", "valhall", "--raw"], "größer\n").expect(1).out().lines().count(), 1);
}

#[test]
fn numbers_and_strings_of_source_code_are_read() {
    for text in [
        "{\"words\":[\"0091c10000000002\", \"0091c30000000004\"]}",
        "{\n  \"isa\": \"valhall\",\n  \"count\": 2,\n  \"words\": [\n    \"0x91c10000000002\",\n    \"0x91c30000000004\"\n  ]\n}\n",
        "['0091c10000000002', '0091c30000000004']",
        "{\"code\": \"0091c100000000020091c30000000004\"}",
        "[0x91c10000000002, 0x91c30000000004]",
        "[2, 0, 0, 0, 0, 193, 145, 0, 4, 0, 0, 0, 0, 195, 145, 0]",
        "const char *a = \"\\x02\\x00\\x00\\x00\\x00\\xc1\\x91\\x00\"\n  \"\\x04\\0\\0\\0\\0\\xc3\\x91\\0\";\n",
        "code = b'\\x02\\x00\\x00\\x00\\x00\\xc1\\x91\\x00\\x04\\x00\\x00\\x00\\x00\\xc3\\x91\\x00'\n",
        "[0] = 0x0091c10000000002,\n[1] = 0x0091c30000000004,\n",
        "a[0] = 0x91c10000000002;\na[1] = 0x91c30000000004ull;\n",
        "uint64_t a[] = { [0] = 0x0091c10000000002, [1] = 0x0091c30000000004 };\n",
        "uint32_t a[2][2] = {{0x2, 0x91c100}, {0x4, 0x91c300}};\n",
        "0x0091c10000000002ULL, 0x0091c30000000004ULL\n",
        "0x91c10000000002u64,\n0x0091c30000000004l,\n",
    ] {
        let run = dis(text).expect(0);
        assert_eq!((run.out(), run.err.as_str()), (TWO, ""), "{text}");
    }
    // Printable bytes are themselves in Python, and an escape of C takes as many digits as there are.
    let run = dis("b'\\x02\\x00\\x00\\x00\\x00\\xc1\\x91\\x00A\\x00\\x00\\x00\\x00\\xc1\\x91\\x00'").expect(0);
    assert_eq!(run.out(), "MOV.i32 r1, r2\nMOV.i32 r1, ^r1\n");
    for (text, part) in [
        ("{0x0091c10000000002, -1}", "1:22: error: `-1` in a list of numbers is not a number"),
        ("{0x0091c10000000002, SIZE}", "1:22: error: `SIZE` in a list of numbers"),
        ("{0x0091c10000000002, 0x0091c10000000002", "1:1: error: this list has no end"),
        ("a[0] = 0x0091c10000000002;\na[2] = 0x0091c10000000002;\n", "2:2: error: element 2 follows element 0"),
        ("uint8_t a[] = {0x2, 0x100};", "1:21: error: `0x100` has more than the 1 byte of an element"),
        ("\"\\x02\\x00a\"", "1:6: error: `\\x00a` in a string is not one byte"),
        ("\"\\x02\\q\"", "1:6: error: `\\q` in a string"),
        ("[\"0091c10000000002\", 7]", "1:22: error: a list has both numbers and strings"),
    ] {
        let run = dis(text).expect(1);
        assert!(run.out().is_empty() && run.err.starts_with(&format!("<stdin>:{part}")), "{text}\n{}", run.err);
    }
}

#[test]
fn only_text_with_names_of_instructions_is_called_assembly() {
    for text in [
        "[   12.345678] mali: 0091c10000000002\n",
        "const char *a = \"nothing\";\n",
        "{\"words\": []}\n",
        "<html>\n",
        "words:\n  - zero\n",
        "\"\"\n",
    ] {
        let run = dis(text).expect(1);
        assert!(run.out().is_empty() && !run.err.contains("this is assembly"), "{text}\n{}", run.err);
        assert!(run.err.contains("is neither hexadecimal digits nor a line of a dump"), "{text}\n{}", run.err);
        assert!(run.err.contains("is read as") && !run.err.contains("``"), "{text}\n{}", run.err);
        assert!(isaforge_with(&["asm", "valhall"], text).status == 1);
    }
    for text in ["start: FADD.f32 r0, u0\n", "FADD.f32 r0\nwords\n", "FADDED.f32 r0, u0\n"] {
        assert!(dis(text).expect(1).err.contains("this is assembly, which `isaforge asm` reads"), "{text}");
    }
    let run = isaforge_with(&["asm", "valhall"], "{\"words\"}\n").expect(1);
    assert!(run.err.contains("expected the name of an instruction, found `{\"words\"}`"), "{}", run.err);
}

#[test]
fn a_word_that_decodes_in_both_orders_has_a_note() {
    let run = dis("38c04c6c00cc5001\n").expect(0);
    assert!(run.err.contains("`--order memory` selects that"), "{}", run.err);
    for arguments in [&["--order", "value"][..], &["--order", "memory"]] {
        let run = isaforge_with(&[&["dis", "valhall"], arguments].concat(), "38c04c6c00cc5001\n").expect(0);
        assert_eq!(run.err, "");
    }
    assert_eq!(dis("0x38c04c6c00cc5001\n").expect(0).err, "");
    assert_eq!(dis("38c04c6c00cc5001\n0091c10000000002\n").expect(0).err, "");
}

#[test]
fn exact_text_is_accepted_by_the_assembler() {
    let word = "00b2c10400c09b99\n";
    let run = dis(word).expect(0);
    assert!(run.out().starts_with("FMA.f32 "), "{}", run.out());
    let note =
        "<stdin>: note: 1 instruction breaks a limit of the assembler; `--exact` writes such instructions as `.word`\n";
    assert_eq!(run.err, note);
    let text = run.out().to_owned();
    let run = isaforge_with(&["dis", "valhall", "--exact"], word).expect(0);
    assert_eq!((run.out(), run.err.as_str()), (format!(".word 0x00b2c10400c09b99 // {text}").as_str(), ""));
    assert_eq!(isaforge_with(&["asm", "valhall"], run.out()).expect(0).out(), word);
    let rows = isaforge_with(&["dis", "valhall", "--exact", "--tsv"], word).expect(0);
    let bytes = isaforge_with(&["asm", "valhall", "--tsv", "--order", "memory"], rows.out()).expect(0);
    assert_eq!(bytes.out(), "999bc00004c1b200\n");
}

#[test]
fn random_words_are_the_same_after_exact_text() {
    let mut random = isaforge_core::sample::Random(seed::seed(23));
    let sets = [isaforge_valhall::ISA, isaforge_valhall_2021::ISA, isaforge_vpu::ISA];
    for (name, isa) in ["valhall", "valhall-2021", "vpu"].into_iter().zip(sets) {
        let words = (0..20_000).map(|number| {
            let opcode = random.below(isa.forms.len() as u64) as u16;
            let word = isaforge_core::sample::sample(isa, opcode, &mut random);
            // Samples break no limits.
            if number % 2 == 0 { word } else { word ^ random.next() & 0xff_ffff }
        });
        let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        let exact = isaforge_with(&["dis", name, "--exact", "--raw"], &bytes);
        let refused = exact.out().lines().filter(|line| line.starts_with(".word") && line.contains(" // F")).count();
        assert!(refused > 0 || isa.limits.is_empty(), "{name}");
        let back = isaforge_with(&["asm", name, "--out", "bin"], exact.out()).expect(0);
        assert!(back.out == bytes, "{name}");
    }
}

#[test]
fn rows_without_an_instruction_stand_for_their_bytes() {
    let words = "0091c10000000002\n91b7000000000000\n";
    let arguments = ["asm", "valhall", "--tsv", "--order", "memory"];
    let rows = isaforge_with(&["dis", "valhall", "--tsv"], words).expect(1);
    let expected = "020000000 0c19100\n000000000000b791\n".replace(' ', "");
    assert_eq!(isaforge_with(&arguments, rows.out()).expect(0).out(), expected);
    let rows = isaforge_with(&["dis", "valhall", "--tsv", "--order", "memory"], &expected).expect(1);
    assert_eq!(isaforge_with(&arguments, rows.out()).expect(0).out(), expected);
    // Without an instruction, the order of the bytes is not known.
    let rows = isaforge_with(&["dis", "valhall", "--tsv"], "91b7000000000000\n").expect(1);
    let run = isaforge_with(&arguments, rows.out()).expect(1);
    assert!(run.out().starts_with("\tinvalid\tthis row of `dis` has no instruction"), "{}", run.out());
}

#[test]
fn numbers_of_another_kind_are_accepted_or_have_a_hint() {
    let asm = |text: &str| isaforge_with(&["asm", "valhall"], text);
    let run = asm("FADD_IMM.f32 r1, r2, #1.0\n").expect(1);
    assert!(run.err.contains("`1.0` is a float") && run.err.contains("write `#0x3f800000`"), "{}", run.err);
    let run = asm("FADD_IMM.f32 r1, r2, #-1.5e1\n").expect(1);
    assert!(run.err.contains("write `#0xc1700000`"), "{}", run.err);
    let all = asm("IADD_IMM.i32 r1, r2, #0xffffffff\n").expect(0);
    assert_eq!(asm("IADD_IMM.i32 r1, r2, #-1\n").expect(0).out(), all.out());
    let run = asm("IADD_IMM.i32 r1, r2, #-2147483649\n").expect(1);
    assert!(run.err.contains("is out of range for `constant`"), "{}", run.err);
    for (text, help) in
        [(".word\n", "write it like"), (".word 1, 2\n", "a line for each number"), (".word 1 2\n", "a line for")]
    {
        let run = asm(text).expect(1);
        assert!(
            run.err.contains("`.word` needs one number of at most 64 bits") && run.err.contains(help),
            "{}",
            run.err
        );
    }
    let run = asm("ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOP r1\n").expect(1);
    assert!(run.err.contains("`ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEF…`"), "{}", run.err);
}

#[test]
fn numbers_of_a_stream_are_values_or_bytes_as_they_decode() {
    const RISCV: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");
    let listed = |text: &str| isaforge_with(&["dis", "--spec", RISCV], text).expect(0);
    let expected = "lui a0, 0x1\nadd a0, a0, 1\n";
    for text in [
        "0x00001537\n0x00150513\n",
        "0x00001537, 0x00150513",
        "0: 00001537\n4: 00150513\n",
        "000000 00001537 00150513\n000008\n",
        "000000 37 15 00 00 13 05 15 00\n000008\n",
        "0000000 0015051300001537\n0000010\n",
    ] {
        assert_eq!(listed(text).out(), expected, "{text}");
    }
    assert_eq!(listed("0x37 0x15 0 0 0x13 5 0x15 0").out(), expected);
    let turned = listed("00001537\n00150513\n");
    assert!(turned.out() == expected && turned.err.contains("`--order value` selects this"), "{}", turned.err);
    assert_eq!(listed("37150000 13051500").out(), expected);
}

#[test]
fn objects_of_dis_are_read_back() {
    for (arguments, digits) in [
        (&["valhall"][..], "0091c10000000002\n00b4c00119c0c87c\n"),
        (&["usc"], "44 a0 80 05 00 00 00 00 ff\n"),
        (&["--spec", concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv")], "37150000 13051500\n"),
    ] {
        let objects = isaforge_with(&[&["dis", "--json"], arguments].concat(), digits);
        let again = isaforge_with(&[&["dis", "--json"], arguments].concat(), &objects.out);
        assert_eq!(again.out(), objects.out(), "{}", again.err);
    }
}

#[test]
fn what_cannot_be_read_so_is_refused_by_name() {
    let raw = isaforge_with(&["dis", "valhall", "--raw", "--tsv", "--order", "memory"], [2, 0, 0, 0, 0, 0xc1, 0x91, 0]);
    assert!(raw.expect(2).err.contains("the input is read as raw bytes"));
    // `translate` reads no containers, and lists no thousands of mistakes.
    let elf = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv/programs/sort.elf");
    let run = isaforge(&["translate", "valhall", "valhall-2021", elf]).expect(2);
    assert!(run.err.contains("is an ELF file") && run.err.contains("dis --exact"), "{}", run.err);
    let run = isaforge_with(&["translate", "valhall", "valhall-2021", "--in", "bin"], vec![0xff; 8 * 300]).expect(1);
    assert_eq!(run.err.lines().count(), 101, "{}", run.err);
    assert!(run.err.contains("300 mistakes, 200 not shown"), "{}", run.err);
    // Every file that was not replayed is named.
    let files = ["Cargo.toml", "src/main.rs"].map(|file| format!("{}/{file}", env!("CARGO_MANIFEST_DIR")));
    let run = isaforge(&["conform", "usc", &files[0], &files[1]]).expect(2);
    assert!(run.err.contains("Cargo.toml`, `") && run.err.contains("src/main.rs` were not replayed"), "{}", run.err);
}

#[test]
fn comments_may_stand_before_numbers() {
    for text in [
        "/*0000*/ 0x0091c10000000002,\n/*0008*/ 0x0091c10000000002\n",
        "/* a word\n   twice */\n0091c10000000002 /* or so */\n0091c10000000002 // and on\n",
    ] {
        let run = isaforge_with(&["dis", "valhall"], text).expect(0);
        assert_eq!(run.out(), "MOV.i32 r1, r2\nMOV.i32 r1, r2\n", "{text}");
    }
    let run = isaforge_with(&["dis", "valhall"], "/* a word */\n0091c1000000000g\n").expect(1);
    assert!(run.err.contains("<stdin>:2:"), "{}", run.err);
}
