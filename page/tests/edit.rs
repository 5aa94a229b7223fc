//! Tests of changes to a program in the page: targets, values of fields, notations, and the source that is kept.

mod sets;

use std::path::Path;

use isaforge_compiler::backend::manual::facts::Book;
use isaforge_compiler::backend::manual::{Subject, engine, search};
use isaforge_compiler::{Settings, check_spec};
use isaforge_page::Page;
use serde_json::Value;

/// The page of an example specification.
fn example(name: &str) -> Page {
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name).join("isa.yaml");
    let isa = check_spec(&Settings::new(spec)).expect("the example has no mistakes").isa;
    let subject = Subject {
        tables: isaforge_compiler::lower::lower(&isa).tables(),
        semantics: isa.semantics.as_ref().map(isaforge_compiler::semantics::lower),
        hardware: isaforge_compiler::machine::lower(&isa),
        since: None,
    };
    Page::new(&engine::data(&subject, &search::records(&Book::new(&subject)))).expect("the bytes are a manual's data")
}

/// The page of a built-in set.
fn built_in(name: &str) -> Page {
    sets::page(&sets::subjects().iter().find(|(set, _)| *set == name).expect("one of them").1)
}

fn ask(page: &mut Page, command: &str, about: &str) -> Value {
    serde_json::from_str(&page.answer(&format!("{command}\n{about}"))).expect("JSON")
}

fn codes(page: &mut Page, text: &str) -> Vec<String> {
    let found = ask(page, "program", text);
    let rows = found["rows"].as_array().unwrap_or_else(|| panic!("{text}: {found}"));
    rows.iter().map(|row| row["code"].as_str().expect("a code").to_owned()).collect()
}

/// Changes an instruction and returns the whole source.
fn edited(page: &mut Page, source: &str, index: usize, code: &str, text: &str) -> String {
    let change = ask(page, "edit", &format!("{index}\n{code}\n{text}\n{source}"));
    let units: Vec<u16> = source.encode_utf16().collect();
    let place = |name: &str| change[name].as_u64().unwrap_or_else(|| panic!("{source}: {change}")) as usize;
    let part = |range: &[u16]| String::from_utf16(range).expect("characters");
    let text = change["text"].as_str().unwrap_or_else(|| panic!("{source}: {change}"));
    format!("{}{text}{}", part(&units[..place("from")]), part(&units[place("to")..]))
}

#[test]
fn targets_are_those_of_the_command() {
    for (set, source, row, target) in [
        ("vpu", "805002c800000000", 0, 5696),
        ("valhall-2021", "2a7f440612e9eaa3", 0, 1880),
        ("valhall", "NOP\nBRANCHZ.eq r0, offset:-5", 1, -24),
    ] {
        let found = ask(&mut built_in(set), "program", source);
        assert_eq!(found["rows"][row]["target"], target, "{set}: {found}");
    }
    let found = ask(&mut example("riscv"), "program", "b1302102");
    assert_eq!((&found["rows"][0]["target"], &found["rows"][0]["to"]), (&Value::from(-1972), &Value::from("-0x7b4")));
}

#[test]
fn a_value_that_does_not_fit_is_refused_with_the_reason() {
    let mut page = built_in("valhall");
    let code = "0091c10000000002";
    for (value, why) in
        [("abc", "is no number"), ("", "is no number"), ("16", "from -8 to 15"), ("-9", "from -8 to 15")]
    {
        let found = ask(&mut page, "set", &format!("{code}\n3 0\n{value}"));
        assert!(found["refused"].as_str().is_some_and(|text| text.contains(why)), "{value}: {found}");
        assert_eq!(found["code"], Value::Null, "{value}");
    }
    for (value, digit) in [("15", "f"), ("0XF", "f"), ("0b1_010", "a"), ("-1", "f"), ("-8", "8"), ("0x_7", "7")] {
        let found = ask(&mut page, "set", &format!("{code}\n3 0\n{value}"));
        assert_eq!(found["code"], format!("0091c1000000000{digit}"), "{value}");
    }
}

#[test]
fn a_negative_value_has_its_sign() {
    let mut page = built_in("valhall");
    let code = codes(&mut page, "BRANCHZ.eq r0, offset:-5").remove(0);
    let found = ask(&mut page, "explain", &code);
    let fields = found["parts"][0]["fields"].as_array().expect("fields");
    assert!(fields.iter().any(|field| field["value"] == "-5"), "{found}");
}

#[test]
fn the_byte_order_stays_when_it_is_named() {
    let mut page = built_in("valhall");
    let swapped = "020000000000c1910200000000c19100";
    assert_eq!(ask(&mut page, "program", "02000000 00c19100")["swapped"], true);
    assert_eq!(ask(&mut page, "program plain", "0200000000c19100")["swapped"], false);
    let found = ask(&mut page, "program swapped", swapped);
    assert_eq!((&found["swapped"], &found["rows"][0]["code"]), (&Value::from(true), &Value::from("91c1000000000002")));
}

#[test]
fn a_change_of_digits_leaves_everything_else_of_the_source() {
    let mut page = built_in("valhall");
    let new = "0091c10000000503";
    for (source, expected) in [
        (
            "// größer\n0091c10000000002 // kept\n0091c10000000002",
            "// größer\n0091c10000000503 // kept\n0091c10000000002",
        ),
        ("02 00 00 00 00 c1 91 00", "03 05 00 00 00 c1 91 00"),
        ("02000000_00c19100 ; kept", "03050000_00c19100 ; kept"),
        ("0x00000002 0x0091c100 0x2 0x91c100", "0x00000503 0x0091c100 0x2 0x91c100"),
        ("uint64_t s[] = { 0x0091c10000000002ULL, };", "uint64_t s[] = { 0x0091c10000000503ULL, };"),
        ("0x91c10000000002", "0x91c10000000503"),
        ("0000000 0002 0000 c100 0091\n0000008", "0000000 0503 0000 c100 0091\n0000008"),
    ] {
        assert_eq!(codes(&mut page, source)[0], "0091c10000000002", "{source}");
        assert_eq!(edited(&mut page, source, 0, new, ""), expected);
    }
    let leading = edited(&mut page, "0x2 0x91c100", 0, "1091c10010000002", "");
    assert_eq!(leading, "0x10000002 0x1091c100");
}

#[test]
fn a_change_of_assembly_leaves_labels_and_comments() {
    let mut page = built_in("valhall");
    let source = "// start\nloop: MOV.i32 r1, r2 // a copy\nBRANCHZ.eq r1, loop ; again\nNOP.end\n";
    let code = codes(&mut page, "MOV.i32 r1, r3").remove(0);
    let expected = source.replace("r1, r2 //", "r1, r3 //");
    assert_eq!(edited(&mut page, source, 0, &code, ""), expected);
    assert_eq!(edited(&mut page, source, 0, "", "MOV.i32 r1, r3"), expected);
    assert_eq!(edited(&mut page, source, 1, "", "BRANCHZ.eq r5, loop"), source.replace("r1, loop", "r5, loop"));
    // Bits that are no instruction have a line of assembly, too.
    let invalid = edited(&mut page, source, 0, "ffffffffffffffff", "");
    assert_eq!(invalid, source.replace("MOV.i32 r1, r2", ".word 0xffffffffffffffff"));
    assert_eq!(edited(&mut page, &invalid, 0, &code, ""), expected);
    let wrong = ask(&mut page, "edit", &format!("0\n\nMOV.i32 r1 r1\n{source}"));
    assert!(wrong["errors"][0]["message"].is_string(), "{wrong}");
}

#[test]
fn lines_of_streams_and_groups_are_changed_alone() {
    let mut page = example("riscv");
    let source = "start: addi x5, x5, -1 // one\nbne x5, x0, start\n";
    let code = codes(&mut page, "addi x6, x6, -1").remove(0);
    let new = edited(&mut page, source, 0, &code, "");
    assert!(new.starts_with("start: ") && new.ends_with(" // one\nbne x5, x0, start\n"), "{new}");
    assert_eq!(codes(&mut page, &new)[0], code, "{new}");
    let mut page = built_in("usc");
    let source = "# a program\n0 : mbyp ft0, sr51\n    mov r1, ft0\n1 : fexp r3, r2\n";
    let code = codes(&mut page, &source.replace("mov r1", "mov r2")).remove(0);
    let new = edited(&mut page, source, 0, &code, "");
    assert!(new.starts_with("# a program\n0 : ") && new.ends_with("\n1 : fexp r3, r2\n"), "{new}");
    assert_eq!(codes(&mut page, &new)[0], code, "{new}");
}

#[test]
fn a_change_beyond_the_listed_rows_loses_nothing() {
    let mut page = built_in("valhall");
    let source = vec!["0091c10000000002"; 20_001].join("\n");
    let found = ask(&mut page, "program", &source);
    assert_eq!((&found["count"], found["rows"].as_array().map(Vec::len)), (&Value::from(20_001), Some(20_000)));
    assert_eq!(edited(&mut page, &source, 0, "0091c10000000003", "").len(), source.len());
}

#[test]
fn what_the_command_reads_is_read() {
    let mut page = built_in("valhall");
    let [one, two] = ["0091c10000000002", "0091c10000000503"];
    for source in [
        "00000000  02 00 00 00 00 c1 91 00  03 05 00 00 00 c1 91 00  |................|\n00000010\n",
        "0000000 0002 0000 c100 0091 0503 0000 c100 0091\n0000010\n",
        "0000000 02 00 00 00 00 c1 91 00 03 05 00 00 00 c1 91 00\n0000020\n",
        "0x00000002 0x0091c100 0x00000503 0x0091c100",
        "uint64_t s[] = { 0x0091c10000000002ULL, 0x0091c10000000503ULL, };",
        "0091c10000000002 ; the first\n# all\n0091c10000000503 # the second",
        "0091c10000000002\tok\tMOV.i32 r1, r2\n0091c10000000503\tok\tMOV.i32 r5, r3\n",
        "0x91c10000000002\n0x91c10000000503",
        "0091c10000000002; 0091c10000000503",
    ] {
        assert_eq!(codes(&mut page, source), [one, two], "{source}");
    }
    // A number of a stream is a value, its lowest byte first.
    let mut page = example("riscv");
    assert_eq!(codes(&mut page, "0x00500293"), ["93025000"]);
    assert_eq!(codes(&mut page, "93025000"), ["93025000"]);
}

#[test]
fn what_is_nearly_machine_code_has_the_reason() {
    let mut page = built_in("valhall");
    for (source, line, why) in [
        ("0091c10000000002\n0091c1000000zz02", 2, "not hexadecimal because of `0091c1000000zz02`"),
        ("0091c1000000000", 1, "15 digits are not a whole number of 16 digits"),
    ] {
        let found = ask(&mut page, "program", source);
        assert_eq!(found["errors"][0]["line"], line, "{found}");
        assert!(found["errors"][0]["message"].as_str().is_some_and(|text| text.contains(why)), "{found}");
    }
}

#[test]
fn fields_end_with_their_instruction() {
    for set in ["g13", "riscv"] {
        let mut page = example(set);
        for first in 0..=255 {
            let code = codes(&mut page, &format!("{first:02x}{}", "00".repeat(15))).remove(0);
            let found = ask(&mut page, "explain", &code);
            for part in found["parts"].as_array().expect("parts") {
                for field in part["fields"].as_array().expect("fields") {
                    let mut runs = field["runs"].as_array().expect("runs").iter();
                    assert!(runs.all(|run| run[0].as_u64() < part["bits"].as_u64()), "{set}, {code}: {field}");
                }
            }
        }
    }
}

#[test]
fn registers_that_no_operand_names_are_listed() {
    for (mut page, code, access, register) in
        [(example("riscv"), "b130", "writes", "ra"), (built_in("vpu"), "805002c800000000", "reads", "flag")]
    {
        let found = ask(&mut page, "explain", code);
        let list = found[access].as_array().expect("a list").iter().filter_map(Value::as_str);
        assert!(list.clone().any(|text| text.split(' ').next() == Some(register)), "{code}: {found}");
    }
}
