use std::fs;

use crate::support::{ask, fine, made, one, project, refused};

#[test]
fn a_lake_has_programs_of_several_sets() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("mali.hex"), "0091c10000000002\n").unwrap();
    fs::write(at("vpu.hex"), "2a00004000800000\n").unwrap();
    fs::write(at("rogue.hex"), "44a08005000000ff\n").unwrap();
    fs::write(at("older.hex"), "0091c1000000008a\n").unwrap();
    let (_lake, lake) = made("mali", &[&at("mali.hex")]);
    for (isa, file) in [("vpu", "vpu.hex"), ("usc", "rogue.hex"), ("valhall-2021", "older.hex")] {
        fine(&["import", "--isa", isa, at(file).to_str().unwrap(), "-o", &lake]);
    }
    let rows = ask(&lake, "SELECT isa, program, text FROM instructions ORDER BY isa");
    let isas: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(isas, ["usc", "valhall", "valhall-2021", "vpu"]);
    assert_eq!(rows[1][2], "MOV.i32 r1, r2");
    assert_eq!(ask(&lake, "SELECT count(DISTINCT isa) FROM forms"), [["4"]]);
    let said = refused(&["query", &lake, "SELECT isa_text(code) FROM programs"], 2);
    assert!(said.contains("name the set of the code: `isa_text(code [, isa])`"), "{said}");
    assert_eq!(one(&lake, "SELECT count(*) FROM programs WHERE isa_text(code, isa) <> ''"), "4");
    assert_eq!(one(&lake, "SELECT sum(isa_count(code, 'MOV.i32', '', isa)) FROM programs"), "2");
    assert_eq!(one(&lake, "SELECT count(*) FROM instructions WHERE mnemonic = 'MOV.i32'"), "2");
    // Names of several sets in one list column, including long ones.
    let counted = "SELECT isa, h['mnemonic'], h['count'] FROM
                   (SELECT isa, unnest(isa_histogram(code, isa)) AS h FROM (SELECT * FROM programs ORDER BY isa)) ORDER BY 1, 2";
    let grouped =
        "SELECT isa, f, count(*) FROM (SELECT isa, unnest(string_to_array(mnemonic, ' | ')) AS f FROM instructions)
                   GROUP BY 1, 2 ORDER BY 1, 2";
    assert_eq!(ask(&lake, counted), ask(&lake, grouped));
    fine(&["unseen", &lake]);
}

#[test]
fn functions_know_the_sets_of_attached_lakes() {
    let folder = tempfile::tempdir().unwrap();
    let [words, other] = ["new.hex", "old.hex"].map(|name| folder.path().join(name));
    fs::write(&words, "0091c10000000002\n").unwrap();
    fs::write(&other, "0091c10000000002\n").unwrap();
    let (_new, new) = made("valhall", &[&words]);
    let (_old, old) = made("valhall-2021", &[&other]);
    let text = |lake: &str| one(lake, "SELECT isa_text(code) FROM programs");
    let attached = format!("o={old}");
    let attached = ["--attach", &attached, "--format", "csv"];
    let ask = |sql| [&["query", &new, sql], attached.as_slice()].concat();
    for (sql, expected) in [
        ("SELECT isa_text(code, isa) AS t FROM o.programs", text(&old)),
        ("SELECT isa_text(code, isa) AS t FROM programs", text(&new)),
    ] {
        let (found, _) = fine(&ask(sql));
        assert_eq!(found.replace('"', "").trim(), format!("t\n{}", expected.trim()), "{sql}");
    }
    let said = refused(&ask("SELECT isa_text(code) FROM o.programs"), 2);
    assert!(said.contains("programs of `valhall` or `valhall-2021`; name the set"), "{said}");
    // Two sets of one name.
    let spec = |name: &str| {
        let from = fs::read_to_string(project("tests/specs/blink.yaml")).unwrap();
        let path = folder.path().join(name).join("blink.yaml");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, from + &format!("# {name}\n")).unwrap();
        path
    };
    let [(_one, one), (_two, two)] = ["one", "two"].map(|name| made(spec(name).to_str().unwrap(), &[]));
    let sql = "SELECT isa_text(code, isa) FROM a.programs UNION SELECT isa_text(x'00', 'blink') AS t";
    let said = refused(&["query", &one, sql, "--attach", &format!("a={two}")], 2);
    assert!(said.contains("the lakes have programs of different `blink`"), "{said}");
    fine(&["query", &one, "SELECT count(*) FROM a.programs", "--attach", &format!("a={two}")]);
    for name in ["", "A", "public", "a"] {
        let given = format!("{name}={two}");
        let said = refused(&["query", &one, "SELECT 1", "--attach", &format!("a={two}"), "--attach", &given], 2);
        assert!(said.contains("cannot be attached as"), "{name}: {said}");
    }
}

#[test]
fn a_specification_is_kept_with_its_programs() {
    let folder = tempfile::tempdir().unwrap();
    let spec = folder.path().join("blink.yaml");
    fs::write(
        &spec,
        "isa: blink\nword: 16\nbanks: { lamp: { count: 8, prints: \"l{n}\" } }\n\
         enums: { When: { values: [always, lit, dark, ~], default: always } }\n\
         instructions:\n  SET.u8:\n    fixed: { 15..13: 0b001 }\n    modifiers: { when: { enum: When, bits: 12..11 } }\n    \
         operands: { dst: { bank: lamp, bits: 10..8, access: write }, level: { immediate: decimal, bits: 7..0 } }\n",
    )
    .unwrap();
    let program = folder.path().join("p.s");
    fs::write(&program, "SET.u8.lit l3, #200\nSET.u8 l1, #1\n").unwrap();
    let (_lake, lake) = made(spec.to_str().unwrap(), &[&program]);
    fs::remove_file(&spec).unwrap();
    let rows = ask(&lake, "SELECT text, dst, modifiers, word, isa FROM instructions ORDER BY pc");
    assert_eq!(rows[0], ["SET.u8.lit l3, #200", "l3", "lit", "11208", "blink"]);
    let (out, _) = fine(&["unseen", &lake, "--format", "tsv"]);
    assert_eq!(out, "isa\tmnemonic\tmodifier\ttext\nblink\tSET.u8\twhen\tdark\n");
    // Another specification of the same name is another set.
    fs::write(&spec, "isa: blink\nword: 16\ninstructions:\n  NOP: { fixed: { 15..0: 0 } }\n").unwrap();
    let said = refused(&["import", "--isa", spec.to_str().unwrap(), program.to_str().unwrap(), "-o", &lake], 2);
    assert!(said.contains("has programs of a different `blink`"), "{said}");
}

#[test]
fn streams_have_rows_too() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("p.s");
    fs::write(&program, "addi a0, a0, 5\nadd a1, a0, a0\n").unwrap();
    let spec = project("examples/riscv");
    let (_lake, lake) = made(spec.to_str().unwrap(), &[&program]);
    let rows = ask(&lake, "SELECT mnemonic, dst, src, flow FROM instructions ORDER BY pc");
    assert_eq!(rows, [["addi", "a0", "a0", "next"], ["add", "a1", "a0", "next"]]);
    assert_eq!(one(&lake, "SELECT isa_count(code, 'addi') FROM programs"), "1");
}
