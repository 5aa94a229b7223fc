use std::fs;
use std::process::{Command, Stdio};

use crate::support::{command, fine, made, refused, shaders};

#[test]
fn every_example_of_the_help_is_a_command_line() {
    use clap::CommandFactory;
    let whole = isaforge_corpus::args::Cli::command();
    let commands = std::iter::once(&whole).chain(whole.get_subcommands());
    let mut count = 0;
    for command in commands {
        let help = command.get_after_help().map(|help| help.to_string()).unwrap_or_default();
        for line in help.replace(" \\\n      ", " ").replace("\n      ", " ").lines() {
            let Some((_, example)) = line.split_once("isaforge-corpus ") else { continue };
            if !line.starts_with("  ") {
                continue;
            }
            let words = words(example.split(" < ").next().unwrap());
            let parsed = isaforge_corpus::args::Cli::command()
                .try_get_matches_from(std::iter::once("isaforge-corpus".to_owned()).chain(words));
            assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
            count += 1;
        }
    }
    assert!(count >= 15, "{count}");
}

/// Splits a command line like a shell.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.into_iter().chain(word).collect()
}

#[test]
fn answers_are_for_people_and_for_programs() {
    let sql =
        "SELECT mnemonic, count(*) AS n FROM instructions WHERE mnemonic IN ('MOV.i32', 'NOP') GROUP BY 1 ORDER BY 1";
    let (table, _) = fine(&["query", shaders(), sql]);
    assert!(table.contains("| mnemonic | n"), "{table}");
    let of = |format: &str| fine(&["query", shaders(), sql, "--format", format]).0;
    let csv = of("csv");
    let count = csv.lines().nth(1).unwrap().strip_prefix("MOV.i32,").unwrap().to_owned();
    assert_eq!(of("tsv").lines().nth(1).unwrap(), format!("MOV.i32\t{count}"));
    assert!(of("json").starts_with(&format!("[{{\"mnemonic\":\"MOV.i32\",\"n\":{count}}}")), "{}", of("json"));
    assert!(of("ndjson").starts_with(&format!("{{\"mnemonic\":\"MOV.i32\",\"n\":{count}}}\n")));
    assert!(of("svg").starts_with("<svg xmlns"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("answer.parquet");
    let (out, _) = fine(&["query", shaders(), sql, "--format", "parquet", "-o", file.to_str().unwrap()]);
    assert_eq!((out.as_str(), &fs::read(&file).unwrap()[..4]), ("", &b"PAR1"[..]));
    let lists =
        "SELECT dst, src, bytes, isa_histogram(X'02000000') AS h FROM instructions WHERE mnemonic = 'FMA.f32' LIMIT 1";
    let (csv, _) = fine(&["query", shaders(), lists, "--format", "csv"]);
    assert_eq!(csv.lines().count(), 2, "{csv}");
}

#[test]
fn questions_come_from_standard_input_and_closed_pipes_are_no_failure() {
    let start = |arguments: &[&str]| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_isaforge-corpus"));
        child.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut child = start(&["query", shaders(), "-", "--format", "csv"]);
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"SELECT 1 AS one").unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"one\n1\n");
    let mut child = start(&["query", shaders(), "SELECT * FROM instructions", "--format", "csv"]);
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn two_lakes_are_asked_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p.hex");
    fs::write(&file, "0091c10000000002\n").unwrap();
    let (_lake, lake) = made("valhall", &[&file]);
    let attached = format!("all={}", shaders());
    let sql = "SELECT count(*) FROM all.programs UNION ALL SELECT count(*) FROM programs ORDER BY 1";
    let sql = sql.replace("all.", "\"all\".");
    let (out, _) = fine(&["query", &lake, &sql, "--attach", &attached, "--format", "csv"]);
    assert_eq!(out.lines().nth(1), Some("1"));
    assert!(refused(&["query", &lake, "SELECT 1", "--attach", "x"], 2).contains("does not name a lake"));
}

#[test]
fn examples_of_queries_are_queries() {
    use clap::CommandFactory;
    let whole = isaforge_corpus::args::Cli::command();
    let query = whole.get_subcommands().find(|command| command.get_name() == "query").unwrap();
    let help = query.get_after_help().unwrap().to_string();
    let mut count = 0;
    let help = help.replace(" \\\n      ", " ");
    for line in help.lines().filter_map(|line| line.strip_prefix("  isaforge-corpus query ")) {
        let Some(sql) = words(line).into_iter().find(|word| word.starts_with("SELECT ")) else { continue };
        fine(&["query", shaders(), &sql, "--attach", &format!("old={}", shaders())]);
        count += 1;
    }
    assert!(count >= 5, "{count}");
}

#[test]
fn an_answer_goes_through_links_and_to_devices() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let ask = |file: &str| fine(&["query", shaders(), "SELECT 1 AS n", "--format", "csv", "-o", file]).0;
    assert_eq!(ask("-"), "n\n1\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::write(at("target"), "old").unwrap();
        std::os::unix::fs::symlink(at("target"), at("link")).unwrap();
        ask(at("link").to_str().unwrap());
        assert!(at("link").is_symlink() && fs::read_to_string(at("target")).unwrap() == "n\n1\n");
        assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        let reader = std::thread::spawn({
            let pipe = at("pipe");
            move || fs::read_to_string(pipe).unwrap()
        });
        ask(at("pipe").to_str().unwrap());
        assert_eq!(reader.join().unwrap(), "n\n1\n");
        fs::write(at("plain"), "").unwrap();
        ask(at("new").to_str().unwrap());
        let mode = |name: &str| fs::metadata(at(name)).unwrap().permissions().mode();
        assert_eq!(mode("new"), mode("plain"));
    }
}

#[test]
fn answers_have_the_same_keys_and_no_control_characters() {
    let of = |sql: &str, format: &str| fine(&["query", shaders(), sql, "--format", format]).0;
    let sql = "SELECT 1 AS a, NULL AS b UNION ALL SELECT 2, 'x' ORDER BY a";
    assert_eq!(of(sql, "ndjson"), "{\"a\":1,\"b\":null}\n{\"a\":2,\"b\":\"x\"}\n");
    assert_eq!(of(sql, "json"), "[{\"a\":1,\"b\":null},{\"a\":2,\"b\":\"x\"}]\n");
    let sql = "SELECT 'a' || chr(27) || '[31m' AS t, 1 AS n";
    for format in ["table", "svg"] {
        assert!(of(sql, format).chars().all(|c| c == '\n' || !c.is_control()), "{format}");
    }
    assert_eq!(of("SELECT * FROM results", "csv").lines().count(), 1);
    let said = refused(&["query", shaders(), "SELECT isa_count(code, 'FMA.f32', 'clamp_0_2') FROM programs"], 2);
    assert!(said.contains("there is no modifier `clamp_0_2`; did you mean `clamp_0_1`?"), "{said}");
}

#[test]
fn the_command_says_what_it_can_do() {
    let (help, _) = fine(&["--help"]);
    for name in ["import", "query", "diff", "unseen", "run", "scheduler", "executor", "completions"] {
        assert!(help.contains(name), "{name}");
    }
    assert!(fine(&["completions", "bash"]).0.contains("isaforge-corpus"));
    assert_eq!(command(&["nonsense"]).status.code(), Some(2));
}
