use std::fs;

use crate::support::{ask, fine, made, project, shaders};

fn cells(text: &str) -> Vec<Vec<String>> {
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn a_diff_names_what_was_added_removed_and_changed() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, rows: &str| {
        let path = folder.path().join(name);
        fs::write(&path, format!("# name\tstage\twords\n{rows}")).unwrap();
        path
    };
    let old = write(
        "old.tsv",
        "same\tfragment\t0091c10000000002\nlonger\tvertex\t0091c10000000002 0091c10000000003\ngone\t\t0091c10000000004\n",
    );
    let new = write(
        "new.tsv",
        "same\tfragment\t0091c10000000002\nlonger\tvertex\t0091c10000000002 0091c10000000003 0091c20000000005\nnew\t\t0091c10000000006\n",
    );
    let ((_old, old), (_new, new)) = (made("valhall", &[&old]), made("valhall", &[&new]));
    let (out, _) = fine(&["diff", &old, &new, "--format", "tsv"]);
    let rows = cells(&out);
    assert_eq!(rows[0][..7], ["change", "program", "stage", "old_words", "new_words", "words", "pressure"]);
    assert_eq!(rows[1][..6], ["added", "new", "", "", "1", ""]);
    assert_eq!(rows[2][..6], ["changed", "longer", "vertex", "2", "3", "1"]);
    assert_eq!(rows[3][..6], ["removed", "gone", "", "1", "", ""]);
    assert_eq!(rows.len(), 4);
    let (out, _) = fine(&["diff", &old, &new, "--forms", "--format", "tsv"]);
    assert_eq!(cells(&out)[1..], [["valhall", "MOV.i32", "4", "5", "1"]]);
    let (out, _) = fine(&["diff", &old, &old, "--format", "ndjson"]);
    assert_eq!(out, "");
    // Programs of one name are paired, not multiplied.
    let same = |count: u64, first: u64| {
        let row = |index| format!("same\tfragment\t{:016x}\n", 0x0091_c100_0000_0000_u64 | (first + index));
        made("valhall", &[&write("many.tsv", &(0..count).map(row).collect::<String>())])
    };
    let ((_old, old), (_new, new)) = (same(3, 2), same(5, 12));
    let rows = cells(&fine(&["diff", &old, &new, "--format", "tsv"]).0);
    let count = |change: &str| rows.iter().filter(|row| row[0] == change).count();
    assert_eq!((count("changed"), count("added"), count("removed")), (3, 2, 0));
}

#[test]
fn what_is_unseen_is_what_no_program_has() {
    let (out, _) = fine(&["unseen", shaders(), "--format", "tsv"]);
    let rows = cells(&out);
    assert_eq!(rows[0], ["isa", "mnemonic", "modifier", "text"]);
    let forms = |rows: &[Vec<String>]| -> Vec<String> {
        rows.iter().filter(|row| row[2].is_empty()).map(|row| row[1].clone()).collect()
    };
    let seen: Vec<String> =
        ask(shaders(), "SELECT DISTINCT mnemonic FROM instructions").into_iter().map(|row| row[0].clone()).collect();
    let all: Vec<&str> = isaforge_valhall::ISA.forms.iter().map(|form| form.name.str).collect();
    let expected: Vec<&str> = all.into_iter().filter(|name| !seen.iter().any(|seen| seen == name)).collect();
    assert_eq!(forms(&rows[1..]), expected);
    assert!(rows[1..].iter().all(|row| row[2].is_empty() || seen.contains(&row[1])));
    // A value that is unseen occurs in no text.
    let value = rows.iter().find(|row| row[1] == "FMA.f32" && row[2] == "clamp").map(|row| row[3].clone());
    if let Some(value) = value {
        let sql =
            format!("SELECT count(*) FROM instructions WHERE mnemonic = 'FMA.f32' AND array_has(modifiers, '{value}')");
        assert_eq!(ask(shaders(), &sql), [["0"]]);
    }
    let (_folder, lake) = made("usc", &[&project("compiler/tests/data/usc/programs.tsv")]);
    let (out, _) = fine(&["unseen", &lake, "--format", "csv"]);
    assert!(out.lines().count() > 5, "{out}");
}
