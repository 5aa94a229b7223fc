//! Bifrost's document: a small one in its schema, and Mesa's if it is present next to the project.

use std::path::Path;

use isaforge_core::stream::Engine;
use isaforge_core::text::Line;

use crate::support::{assembled, bytes, open_both};

fn text(engine: Engine, hex: &str) -> Result<String, String> {
    let decoded = engine.decode(&bytes(hex)).map_err(|error| error.to_string())?;
    let mut line = Line::new();
    engine.print(&decoded, &mut line);
    Ok(line.as_str().to_owned())
}

const OWN: &str = include_str!("../data/bifrost.xml");

fn own() -> [Engine; 2] {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/bifrost.xml");
    open_both(&path).unwrap_or_else(|why| panic!("{why}"))
}

/// The errors of the small document with a part replaced.
fn broken(name: &str, old: &str, new: &str) -> String {
    assert!(OWN.contains(old), "{old}");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("read_bifrost");
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let path = folder.join(format!("{name}.xml"));
    std::fs::write(&path, OWN.replacen(old, new, 1)).expect("the file can be written");
    open_both(&path).err().unwrap_or_default()
}

#[test]
fn tuples_of_both_units_read_both_ways() {
    let [fma, add] = own();
    for (engine, bits, expected) in [
        (fma, "0a0020", "SUM.i32 t0, r3, r2, shift:0"),
        (fma, "4a1f20", "SUM.i32.clip t0, r3.low, r2, shift:15"),
        (fma, "8a0020", "SUM.i32 t0, r3.reserved, r2, shift:0"),
        (fma, "f61720", "SUM.i32.clip t0, t0.high, t0, shift:11"),
        (add, "012001", "SUM.i32 t1, r2, @r5"),
        (add, "1b2001", "SPECIAL.i32 t1"),
        (add, "804003", "PACK.low t1, r1"),
        (add, "004403", "PACK.high.up t1, r1"),
        (add, "434c03", "PACK.high.down t1, t.neg"),
        (add, "086005", "ORDER.a t1, r1, r2"),
        (add, "486005", "ORDER.b t1, r1, r2"),
        (add, "016005", "ORDER.c t1, r2, r1"),
        (add, "416005", "ORDER.reserved t1, r2, r1"),
        (add, "108007", "PLACE.far t1, r1"),
        (add, "208007", "PLACE.wide t1, r1"),
    ] {
        assert_eq!(text(engine, bits).as_deref(), Ok(expected), "{bits}");
        assert_eq!(assembled(engine, expected).as_deref(), Ok(bits), "{expected}");
    }
}

#[test]
fn what_no_unit_has_is_refused() {
    let [fma, add] = own();
    for (engine, bits, why) in [
        (add, "0a0020", "no instruction"),
        (fma, "1a0020", "`source1`"),
        (fma, "0a00a0", "bit"),
        (add, "804803", "no instruction"),
    ] {
        let error = text(engine, bits).expect_err(bits);
        assert!(error.contains(why), "{bits}: {error}");
    }
    for unread in ["SUM.i32 t0, r3, #0, shift:0", "PACK.low t1, r1.neg", "ORDER.d t1, r1, r2", "PLACE.far.wide t1, r1"]
    {
        assert!(assembled(fma, unread).is_err() && assembled(add, unread).is_err(), "{unread}");
    }
}

#[test]
fn every_valid_tuple_of_ours_keeps_its_bits() {
    for (engine, bits) in own().into_iter().zip([23, 20]) {
        let mut valid = 0;
        for word in 0u32..1 << bits {
            let Ok(decoded) = engine.decode(&word.to_le_bytes()[..3]) else { continue };
            assert_eq!(engine.store(decoded.word)[..3], word.to_le_bytes()[..3]);
            valid += 1;
        }
        assert!(valid > 1000, "{valid}");
    }
}

#[test]
fn mistakes_of_a_document_are_told() {
    for (name, old, new, code) in [
        ("unknown_element", "<immediate ", "<immediat ", "E0050"),
        ("missing_name", "name=\"clip\" ", "", "E0051"),
        ("unknown_attribute", "staging=", "stagin=", "E0052"),
        ("no_number", "start=\"9\"", "start=\"nine\"", "E0053"),
        ("no_place", "<copy name=\"far\" start=\"4\"/>", "", "E0058"),
        ("no_unit", "unit=\"fma\"", "unit=\"fmb\"", "E0059"),
        ("no_modifier", "left=\"part\"", "left=\"parts\"", "E0101"),
        ("two_patterns", "<ins name=\"PACK\"", "<ins name=\"PACK\" mask=\"1\" exact=\"0\"", "E0102"),
        ("too_wide", "mask=\"0x7fe000\"", "mask=\"0xffe000\"", "E0104"),
        ("twice", "start=\"8\" size=\"1\" opt=\"clip\"", "start=\"7\" size=\"1\" opt=\"clip\"", "E0107"),
        ("too_much", "<derived start=\"6\" size=\"1\">", "<derived start=\"6\" size=\"60\">", "E0033"),
    ] {
        let told = broken(name, old, new);
        assert!(told.contains(&format!("error[{code}]")), "{name}: {told}");
    }
}

#[test]
fn every_recorded_tuple_reads_both_ways() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let rows = shared.join("corpora/other/bifrost-tuples.tsv");
    let Ok(rows) = std::fs::read_to_string(&rows) else {
        println!("skipped: no {} beside the project", rows.display());
        return;
    };
    let engines =
        open_both(&shared.join("documents/mali-mesa-25.0.7/bifrost-ISA.xml")).unwrap_or_else(|why| panic!("{why}"));
    let mut wrong = Vec::new();
    let mut count = 0;
    for row in rows.lines().filter(|row| !row.starts_with('#')) {
        let mut columns = row.split('\t');
        let (Some(bits), Some(expected), Some(unit)) = (columns.next(), columns.next(), columns.next()) else {
            panic!("{row} has no three columns");
        };
        let engine = engines[usize::from(unit == "add")];
        count += 1;
        let printed = text(engine, bits);
        if printed.as_deref() != Ok(expected) {
            wrong.push(format!("{bits} {unit}: {printed:?} and not {expected:?}"));
            continue;
        }
        let again = assembled(engine, expected).and_then(|bits| text(engine, &bits));
        if again.as_deref() != Ok(expected) {
            wrong.push(format!("{bits} {unit}: {expected} assembles to {again:?}"));
        }
    }
    assert!(count > 6000, "{count} rows");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}
