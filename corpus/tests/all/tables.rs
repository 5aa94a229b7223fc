use std::collections::{BTreeMap, HashMap};

use isaforge_arrow::{Decoder, Set};
use isaforge_core::Tables;
use isaforge_core::print::Style;

use crate::support::{ask, made, one, project, shaders, text};

/// Rows of `word<TAB>ok<TAB>text` or `word<TAB>invalid<TAB>reason`, as `isaforge dis --tsv` prints them.
fn dis(isa: &'static isaforge_core::Isa, words: &[u64]) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    isaforge_cli::dis::table(isa, words, Style::Customary, "", &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn texts_and_errors_are_those_of_dis() {
    let listing = text("tests/data/valhall/random-words.tsv.gz");
    let words: Vec<u64> = listing
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| u64::from_str_radix(line.split('\t').next().unwrap(), 16).unwrap())
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("random.hex");
    std::fs::write(&file, words.iter().map(|word| format!("{word:016x}\n")).collect::<String>()).unwrap();
    let (_folder, lake) = made("valhall", &[&file]);
    let sql = "SELECT word, CASE WHEN error IS NULL THEN 'ok' ELSE 'invalid' END, coalesce(text, error)
               FROM instructions ORDER BY pc";
    let mut found = ask(&lake, sql);
    for row in &mut found {
        row[0] = format!("{:016x}", row[0].parse::<u64>().unwrap());
    }
    assert_eq!(found, dis(isaforge_valhall::ISA, &words));
}

#[test]
fn groups_are_those_of_dis() {
    let listing = text("compiler/tests/data/usc/programs.tsv");
    let (_folder, lake) = made("usc", &[&project("compiler/tests/data/usc/programs.tsv")]);
    let programs: Vec<(&str, &str)> = listing
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| (line.split('\t').next().unwrap(), line.rsplit('\t').next().unwrap()))
        .collect();
    assert_eq!(one(&lake, "SELECT count(*) FROM origins"), programs.len().to_string());
    let texts: HashMap<String, String> = ask(&lake, "SELECT hash, isa_text(code) FROM programs")
        .into_iter()
        .map(|row| (row[0].clone(), row[1].clone()))
        .collect();
    let hashes: HashMap<String, String> =
        ask(&lake, "SELECT name, hash FROM origins").into_iter().map(|row| (row[0].clone(), row[1].clone())).collect();
    for (name, digits) in programs {
        let bytes: Vec<u8> =
            (0..digits.len() / 2).map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap()).collect();
        let expected = isaforge_core::group::listing::disassemble(isaforge_usc::ISA, &bytes);
        assert_eq!(texts[&hashes[name]], expected, "{name}");
    }
    assert_eq!(one(&lake, "SELECT count(*) FROM instructions WHERE error IS NOT NULL"), "0");
    // A group has several operations, each of which is a form.
    let rows = ask(
        &lake,
        "SELECT f.mnemonic FROM forms f JOIN (SELECT unnest(isa_histogram(code)) AS h FROM programs) p
         ON p.h['mnemonic'] = f.mnemonic GROUP BY 1",
    );
    assert!(rows.len() > 20, "{}", rows.len());
    let filtered =
        one(&lake, "SELECT count(*) FROM instructions WHERE mnemonic LIKE '%FMAD%' OR mnemonic LIKE '%fmad%'");
    let plain = ask(&lake, "SELECT mnemonic FROM instructions");
    let plain = plain.iter().filter(|row| row[0].contains("FMAD") || row[0].contains("fmad")).count();
    assert_eq!(filtered, plain.to_string());
}

/// The distinct programs of the shipped corpus, by their words.
fn plain() -> Vec<Vec<u64>> {
    let listing = text("tests/data/valhall/shaders.tsv.gz");
    let mut codes: Vec<&str> =
        listing.lines().filter(|line| !line.starts_with('#')).map(|line| line.rsplit('\t').next().unwrap()).collect();
    codes.sort_unstable();
    codes.dedup();
    let words = |code: &str| code.split(' ').map(|word| u64::from_str_radix(word, 16).unwrap()).collect();
    codes.into_iter().map(words).collect()
}

pub fn valhall() -> std::sync::Arc<Set> {
    use isaforge_valhall::semantics::{HARDWARE, SEMANTICS};
    let analysis = isaforge_analysis::Set::new(Tables::Words(isaforge_valhall::ISA), Some(SEMANTICS), Some(HARDWARE));
    Set::new("valhall", analysis, Decoder::Exact)
}

fn counted(rows: Vec<Vec<String>>) -> BTreeMap<String, u64> {
    rows.into_iter().map(|row| (row[0].clone(), row[1].parse().unwrap())).collect()
}

#[test]
fn a_histogram_is_the_same_by_table_by_function_and_by_a_plain_loop() {
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for word in plain().into_iter().flatten() {
        let found = isaforge_valhall::decode(word).expect("the corpus is valid");
        *expected.entry(found.info().name.str.to_owned()).or_default() += 1;
    }
    let table = ask(shaders(), "SELECT mnemonic, count(*) FROM instructions GROUP BY 1");
    assert_eq!(counted(table), expected);
    let function = ask(
        shaders(),
        "SELECT h['mnemonic'], sum(h['count']) FROM (SELECT unnest(isa_histogram(code)) AS h FROM programs) GROUP BY 1",
    );
    assert_eq!(counted(function), expected);
}

#[test]
fn a_count_with_modifiers_is_the_same_by_table_by_function_and_by_a_plain_loop() {
    let mut expected = 0;
    for word in plain().into_iter().flatten() {
        let text = isaforge_valhall::decode(word).expect("the corpus is valid").to_string();
        expected += usize::from(text.starts_with("FMA.f32.") && text.split(' ').next().unwrap().contains(".clamp_0_1"));
    }
    assert!(expected > 0);
    let table = "SELECT count(*) FROM instructions WHERE mnemonic = 'FMA.f32' AND array_has(modifiers, 'clamp_0_1')";
    assert_eq!(one(shaders(), table), expected.to_string());
    let function = "SELECT sum(isa_count(code, 'FMA.f32', 'clamp_0_1')) FROM programs";
    assert_eq!(one(shaders(), function), expected.to_string());
}

#[test]
fn registers_and_pressure_are_those_of_the_crate_and_of_liveness() {
    let set = valhall();
    let mut reads: BTreeMap<String, u64> = BTreeMap::new();
    let mut pressures: BTreeMap<String, u64> = BTreeMap::new();
    for words in plain() {
        for word in &words {
            let found = isaforge_valhall::decode(*word).expect("the corpus is valid");
            let mut names: Vec<String> = found
                .reads()
                .flat_map(|run| {
                    (run.first..run.first + run.count)
                        .map(move |index| isaforge_analysis::Register { bank: run.bank, index: index.into() })
                })
                .map(|register| set.analysis.name(register))
                .collect();
            names.sort();
            names.dedup();
            names.into_iter().for_each(|name| *reads.entry(name).or_default() += 1);
        }
        let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let program = isaforge_analysis::Program::read(&set.analysis, &code);
        let graph = isaforge_analysis::Graph::new(&program);
        let live = isaforge_analysis::Liveness::new(&program, &graph);
        let reachable = (0..words.len()).filter(|entry| graph.is_reachable(*entry));
        let most = reachable.map(|entry| live.pressure(entry)).max().unwrap_or(0);
        *pressures.entry(most.to_string()).or_default() += 1;
    }
    let table = ask(shaders(), "SELECT r, count(*) FROM (SELECT unnest(src) AS r FROM instructions) GROUP BY 1");
    assert_eq!(counted(table), reads);
    let table = ask(shaders(), "SELECT isa_pressure(code), count(*) FROM programs GROUP BY 1");
    assert_eq!(counted(table), pressures);
}

#[test]
fn filters_on_columns_of_every_kind_take_the_rows_that_they_describe() {
    let all = ask(shaders(), "SELECT program, hash, pc, mnemonic, opcode, flow FROM instructions ORDER BY hash, pc");
    let check = |filter: &str, holds: &dyn Fn(&[String]) -> bool| {
        let sql = format!(
            "SELECT program, hash, pc, mnemonic, opcode, flow FROM instructions WHERE {filter} ORDER BY hash, pc"
        );
        let expected: Vec<&Vec<String>> = all.iter().filter(|row| holds(row)).collect();
        let found = ask(shaders(), &sql);
        assert!(!expected.is_empty(), "{filter}");
        assert!(found.iter().eq(expected.iter().copied()), "{filter}: {} and {}", found.len(), expected.len());
    };
    let name = all[0][0].clone();
    check("mnemonic = 'MOV.i32'", &|row| row[3] == "MOV.i32");
    check("mnemonic LIKE 'F%' AND opcode > 20", &|row| row[3].starts_with('F') && row[4].parse::<u32>().unwrap() > 20);
    check("mnemonic NOT IN ('MOV.i32', 'NOP') AND pc < 16", &|row| {
        !["MOV.i32", "NOP"].contains(&row[3].as_str()) && row[2].parse::<u32>().unwrap() < 16
    });
    check(&format!("program = '{name}'"), &|row| row[0] == name);
    check(&format!("program = '{name}' AND mnemonic <> 'MOV.i32'"), &|row| row[0] == name && row[3] != "MOV.i32");
    check("flow = 'end'", &|row| row[5] == "end");
    for column in ["mnemonic", "program", "hash", "isa", "flow"] {
        for lacks in [
            format!("{column} NOT IN ('x', NULL)"),
            format!("NOT ({column} IN ('x', NULL))"),
            format!("{column} = NULL"),
        ] {
            assert_eq!(one(shaders(), &format!("SELECT count(*) FROM instructions WHERE {lacks}")), "0", "{lacks}");
        }
    }
    assert_eq!(one(shaders(), "SELECT count(*) FROM instructions WHERE opcode NOT IN (76, NULL)"), "0");
    check("hash < '2' AND isa = 'valhall'", &|row| row[1].as_str() < "2");
    assert_eq!(one(shaders(), "SELECT count(*) FROM instructions WHERE isa = 'usc'"), "0");
    assert_eq!(ask(shaders(), "SELECT pc FROM instructions LIMIT 10").len(), 10);
    assert_eq!(ask(shaders(), "SELECT 1 FROM instructions WHERE mnemonic = 'MOV.i32' LIMIT 3").len(), 3);
}
