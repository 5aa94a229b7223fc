//! `lint` over shaders that a good compiler made: each finding is known, and `analysis/README.md` says what it is.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::GzDecoder;

use super::*;

/// The codes and addresses of the findings in a shader, and the addresses at which further programs start: the ones
/// that `lint` suggests, until it suggests none.
fn findings(words: &str) -> (Vec<(String, u64)>, Vec<String>) {
    let mut entries: Vec<String> = Vec::new();
    loop {
        let options = entries.iter().flat_map(|entry| ["--entry", entry]);
        let arguments: Vec<&str> = ["lint", "valhall", "-", "--json"].into_iter().chain(options).collect();
        let run = isaforge_with(&arguments, words);
        assert!(run.err.is_empty(), "{}", run.err);
        let found = run.out().lines().map(|line| {
            let one: serde_json::Value = serde_json::from_str(line).expect("it is an object");
            (one["code"].as_str().expect("a code").to_owned(), one["address"].as_u64().expect("an address"))
        });
        let found: Vec<(String, u64)> = found.collect();
        assert_eq!(run.status, i32::from(!found.is_empty()));
        match found.iter().find(|(code, _)| code == "P0004") {
            Some((_, address)) if entries.len() < 2 => entries.push(format!("{address:#x}")),
            _ => return (found, entries),
        }
    }
}

#[test]
fn findings_in_compiled_shaders_are_those_that_the_documentation_lists() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/valhall/shaders.tsv.gz");
    let mut text = String::new();
    GzDecoder::new(fs::File::open(path).expect("the data is there")).read_to_string(&mut text).expect("it is text");
    let shaders: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let judge = |line: &&str| {
        let [name, _, _, stage, words] = line.split('\t').collect::<Vec<&str>>()[..] else { panic!("{line}") };
        let (found, entries) = findings(words);
        (name.to_owned(), stage.to_owned(), found, entries.len())
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let judged: Vec<_> = std::thread::scope(|scope| {
        let parts = shaders.chunks(shaders.len().div_ceil(threads));
        let parts: Vec<_> = parts.map(|part| scope.spawn(move || part.iter().map(judge).collect::<Vec<_>>())).collect();
        parts.into_iter().flat_map(|part| part.join().expect("it does not panic")).collect()
    });
    // The shaders of each stage, and those that hold further programs.
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (_, stage, _, entries) in &judged {
        let (all, several) = counts.entry(stage).or_default();
        *all += 1;
        *several += usize::from(*entries > 0);
    }
    assert_eq!(counts, BTreeMap::from([("compute", (48, 0)), ("fragment", (1603, 0)), ("vertex", (848, 808))]));
    let found: Vec<(&str, &str, u64)> = judged
        .iter()
        .flat_map(|(name, _, found, _)| found.iter().map(move |(code, at)| (name.as_str(), code.as_str(), *at)))
        .collect();
    let known = [
        ("S00266", "P0008", 0x10),
        ("S00268", "P0008", 0x10),
        ("S01525", "P0003", 0x100),
        ("S02448", "P0003", 0x90),
        ("S02513", "P0008", 0x10),
    ];
    assert_eq!(found, known);
}
