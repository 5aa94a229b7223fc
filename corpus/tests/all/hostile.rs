use std::fs;
use std::path::Path;

use crate::support::{ask, command, made, one, refused};

#[test]
fn what_is_no_code_is_named_and_counted_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in");
    fs::create_dir_all(&input).unwrap();
    let good = 0x0091_c100_0000_0002_u64.to_le_bytes();
    let bad = u64::MAX.to_le_bytes();
    fs::write(input.join("empty.bin"), "").unwrap();
    fs::write(input.join("invalid.bin"), [good, bad, good].concat()).unwrap();
    fs::write(input.join("odd.bin"), [&good[..], &good[..], &[1, 2, 3]].concat()).unwrap();
    fs::write(input.join("picture.png"), b"\x89PNG\r\n\x1a\n and more").unwrap();
    fs::write(input.join("words.txt"), "some words that are no digits\n").unwrap();
    fs::write(input.join("lines.tsv"), "# name\twords\ngood\t0091c10000000002\nbad\t0091zz\n").unwrap();
    let lake = folder.path().join("lake").display().to_string();
    let said = refused(&["import", "--isa", "valhall", input.to_str().unwrap(), "-o", &lake], 1);
    for line in [
        "picture.png: not imported: `",
        "words.txt: not imported",
        "lines.tsv: not imported completely: line 3",
        "4 programs in 6 files, 4 new",
        "no instructions: 2 words in 2 programs",
        "truncated within a word: 1 program",
        "without any code: 1 program",
        "not imported: 2 files",
        "not imported completely: 1 file",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let errors = "SELECT program, pc, word, bytes, error FROM instructions WHERE error IS NOT NULL ORDER BY program";
    let rows = ask(&lake, errors);
    assert_eq!(rows[0][..4], ["invalid.bin", "8", "18446744073709551615", ""]);
    assert_eq!(rows[1][..4], ["odd.bin", "16", "", "010203"]);
    assert_eq!(rows[1][4], "a word has 8 bytes, but there are 3");
    assert_eq!(one(&lake, "SELECT count(*) FROM instructions"), "7");
    assert_eq!(ask(&lake, "SELECT name, words FROM programs WHERE words = 0"), [["empty.bin", "0"]]);
    assert_eq!(one(&lake, "SELECT isa_text(code) FROM programs WHERE words = 0"), "");
    // A second import adds no programs, and reports the same about the files.
    let again = refused(&["import", "--isa", "valhall", input.to_str().unwrap(), "-o", &lake], 1);
    assert!(again.contains("4 programs in 6 files, 0 new"), "{again}");
}

#[test]
fn words_of_json_that_are_no_texts_are_named_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("words.jsonl");
    let good = r#"{"name":"good","words":["0091c10000000002"]}"#;
    for (line, expected) in [
        (r#"{"name":"a","words":["0091c10000000002",5,null]}"#, "2 of 3 words are not texts; the first is `5`"),
        (r#"{"name":"a","words":[[1,2]]}"#, "1 of 1 words are not texts; the first is `[1,2]`"),
        (r#"{"name":"a","words":5}"#, "`words` is neither a text nor a list of texts: `5`"),
        (r#"{"name":"a","words":null}"#, "it has neither `words` nor `bytes`"),
        (r#"{"name":7,"words":["0091c10000000002"]}"#, "`name` is not a text: `7`"),
        (r#"{"name":"a","words":["0091zz"]}"#, "`z` is not a hexadecimal digit"),
        (r#"{"name":"a","words":["0091c10000000002"]"#, "EOF"),
        (r#"["words"]"#, "it has neither `words` nor `bytes`"),
    ] {
        fs::write(&file, format!("{good}\n{line}\n{good}\n")).unwrap();
        let lake = folder.path().join("lake").display().to_string();
        let said = refused(&["import", "--isa", "valhall", file.to_str().unwrap(), "-o", &lake], 1);
        assert!(said.contains("line 2: ") && said.contains(expected), "{line}: {said}");
        assert!(said.contains("2 programs in 1 file") && said.contains("not imported completely: 1 file"), "{said}");
        assert_eq!(ask(&lake, "SELECT name, words FROM programs"), [["good", "1"]]);
    }
}

#[test]
fn a_parquet_file_of_somebody_else_is_named() {
    let (_folder, lake) = made("vpu", &[]);
    let other = format!("{lake}/programs/other.parquet");
    fs::copy(format!("{lake}/forms/vpu.parquet"), &other).unwrap();
    let said = refused(&["query", &lake, "SELECT * FROM instructions"], 2);
    assert!(said.contains("other.parquet` does not belong to the table `programs`: it has no column `name`"), "{said}");
    fs::write(&other, "PAR1 and no more").unwrap();
    let said = refused(&["query", &lake, "SELECT * FROM instructions"], 2);
    assert!(said.contains("other.parquet` does not belong to the table"), "{said}");
    fs::remove_file(other).unwrap();
    fs::write(format!("{lake}/sets/vpu.json"), "{\"name\": 1}").unwrap();
    assert!(refused(&["query", &lake, "SELECT 1"], 2).contains("is damaged"));
}

#[test]
fn hidden_files_are_named() {
    let (_lake, lake) = made("valhall", &[]);
    for content in [b"x".as_slice(), b""] {
        let hidden = Path::new(&lake).join("programs/.copy.parquet");
        fs::write(&hidden, content).unwrap();
        let said = refused(&["query", &lake, "SELECT 1"], 2);
        assert!(said.contains("`programs/.copy.parquet` does not belong") && said.contains("it is hidden"), "{said}");
    }
}

#[test]
fn a_damaged_set_is_called_damaged() {
    let (_lake, lake) = made("valhall", &[]);
    let set = Path::new(&lake).join("sets/valhall.json");
    let content = fs::read_to_string(&set).unwrap();
    let import = ["import", "-q", "--isa", "valhall", lake.as_str(), "-o", &lake];
    fs::write(&set, content.replacen('{', "{ \"later\": 1,", 1)).unwrap();
    let said = String::from_utf8(command(&import).stderr).unwrap();
    assert!(!said.contains("different"), "{said}");
    fs::write(&set, "{").unwrap();
    assert!(refused(&import, 2).contains("`sets/valhall.json` is damaged"));
}

#[test]
fn wrong_questions_say_what_is_wrong() {
    let (_folder, lake) = made("valhall", &[]);
    for (sql, expected) in [
        ("SELEC 1", "SELEC"),
        ("SELECT opcod FROM instructions", "opcod"),
        ("SELECT isa_text(name) FROM programs", "argument 1 must be code"),
        ("SELECT * FROM program", "did you mean `programs`?"),
        ("SELECT * FROM nothing", "expected `programs`"),
        (
            "SELECT isa_count(code) FROM programs",
            "error: expected `isa_count(code, form [, modifiers [, isa]])`, found 1 argument\n",
        ),
        ("SELECT isa_text(X'00', 'usc')", "the lake has no set `usc`"),
        ("SELECT isa_count(X'00', 'FMA.f23')", "did you mean `FMA.f"),
        ("CREATE TABLE x AS SELECT 1", "DDL"),
        ("COPY (SELECT 1) TO 'x.csv'", "DML"),
        ("SET datafusion.execution.batch_size = 1", "Statement"),
    ] {
        let said = refused(&["query", &lake, sql], 2);
        assert!(said.contains(expected), "{sql}: {said}");
    }
    let deep = format!("SELECT {}1{}", "(".repeat(20_000), ")".repeat(20_000));
    let output = command(&["query", &lake, &deep]);
    assert_eq!(output.status.code(), Some(2), "a question that is too deep is refused");
    for part in ["1 + ", "1+", "NOT ", "2 > 1 AND "] {
        let long = format!("SELECT {}1 > 0", part.repeat(5_000));
        assert!(refused(&["query", &lake, &long], 2).contains("more than 2000 operators"), "{part}");
    }
    let list: Vec<String> = (0..5_000).map(|number| format!("'{number:x}'")).collect();
    assert_eq!(one(&lake, &format!("SELECT count(*) FROM programs WHERE hash IN ({})", list.join(", "))), "0");
}

#[test]
fn specifications_stay_in_their_folder() {
    let (_folder, lake) = made("vpu", &[]);
    let recipe = r#"{"name":"own","specification":{"entry":"../own.yaml","generation":null,"files":[["../own.yaml","isa: own"]]}}"#;
    fs::write(format!("{lake}/sets/own.json"), recipe).unwrap();
    let said = refused(&["query", &lake, "SELECT 1"], 2);
    assert!(said.contains("leads out of the folder"), "{said}");
}
