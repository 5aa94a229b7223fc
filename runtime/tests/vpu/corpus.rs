//! The conformance corpus of the VPU: a selection of its programs, with all their words. `ISAFORGE_VPU_CORPUS` names a
//! folder with the whole corpus.

use std::path::PathBuf;

use isaforge_runtime::Execution;
use isaforge_runtime::vpu::{Config, conform};

fn text(name: &str) -> String {
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/vpu");
    let folder = std::env::var_os("ISAFORGE_VPU_CORPUS").map_or_else(|| PathBuf::from(kept), PathBuf::from);
    std::fs::read_to_string(folder.join(name)).expect("the corpus is there")
}

fn programs_pass(config: &Config) {
    let mut bad = Vec::new();
    let text = text("programs.jsonl");
    for line in text.lines() {
        let verdict =
            conform::program_with(Execution::best(), line, config).expect("a line of the corpus is understood");
        if !verdict.passes() {
            bad.push(format!("{}:\n  {}", verdict.name, verdict.problems.join("\n  ")));
        }
    }
    assert!(bad.is_empty(), "{} of {} programs fail:\n{}", bad.len(), text.lines().count(), bad.join("\n"));
    assert!(text.lines().count() > 30, "there are programs");
}

#[test]
fn every_program_ends_as_expected_to_completion_and_cycle_by_cycle() {
    programs_pass(&Config::default());
}

#[test]
fn no_seed_and_no_number_of_cores_changes_a_result() {
    for seed in 1..6 {
        programs_pass(&Config { seed, cores: 1 + seed as usize % 3, ..Config::default() });
    }
}

fn lines_pass(name: &str, check: fn(&str) -> Result<(), String>) {
    let text = text(name);
    let lines = || text.lines().filter(|line| !conform::is_blank(line));
    let bad: Vec<String> = lines().filter_map(|line| check(line).err()).collect();
    assert!(bad.is_empty(), "{} of {} lines fail:\n{}", bad.len(), lines().count(), bad.join("\n"));
    assert!(lines().count() > 100, "there are lines");
}

#[test]
fn valid_words_decode_to_their_fields() {
    lines_pass("valid.tsv", conform::valid);
}

#[test]
fn invalid_words_are_refused_for_their_reason() {
    lines_pass("invalid.tsv", conform::invalid);
}

#[test]
fn a_program_that_ends_otherwise_fails() {
    let text = text("programs.jsonl");
    let line = text.lines().next().expect("there are programs");
    let fails = |from: &str, to: &str| {
        let at = line.find("\"expect\"").expect("there is an end");
        let (before, end) = line.split_at(at);
        let changed = format!("{before}{}", end.replacen(from, to, 1));
        assert!(changed != line, "{from} is there");
        let verdict = conform::program(&changed).expect("it is still understood");
        // One problem for each way of running.
        assert_eq!(verdict.problems.len(), 2, "{:?}", verdict.problems);
    };
    fails("\"steps\":", "\"steps\":1");
    fails("\"flags\":[[1,", "\"flags\":[[0,");
}

#[test]
fn lines_that_are_no_programs_are_errors() {
    for line in [
        "",
        "{}",
        "[1]",
        "{\"words\":[]}",
        "{\"words\":[\"xy\"],\"expect\":{}}",
        "{\"words\":[\"0\"],\"expect\":{},\"start\":{\"rect\":[0,0,1]}}",
    ] {
        assert!(conform::program(line).is_err(), "{line}");
    }
    for line in ["", "zz\tExit", "0000000000000000\tExit", "0\t1\t2"] {
        assert!(conform::valid(line).is_err() && conform::invalid(line).is_err(), "{line}");
    }
}
