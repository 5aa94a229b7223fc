use super::*;

#[test]
fn every_instruction_is_in_the_table() {
    let run = isaforge(&["fidelity", "valhall", "--tsv"]).expect(0);
    let rows: Vec<Vec<&str>> = run.out().lines().map(|line| line.split('\t').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == 6));
    let isa = isaforge_valhall::ISA;
    let (named, known): (Vec<&str>, Vec<&str>) =
        (rows.iter().skip(1).map(|row| row[0]).collect(), isa.forms.iter().map(|form| form.name.str).collect());
    assert_eq!(named, known);
    let row = rows.iter().find(|row| row[0] == "FRCP.f32").expect("it is there");
    assert_eq!(row[1..5], ["approximate", "within 1 ulp", "tested on GPUs by Mesa, within 1 ulp", "0.5"]);
    let json = isaforge(&["fidelity", "valhall", "--json"]).expect(0);
    let json: serde_json::Value = serde_json::from_str(json.out()).expect("it is JSON");
    assert_eq!(json.as_array().map(Vec::len), Some(isa.forms.len()));
}

/// The table of the USC lists every operation, even those without an encoding; unsupported ones say why.
#[test]
fn every_operation_is_in_the_table() {
    let run = isaforge(&["fidelity", "usc", "--tsv"]).expect(0);
    let rows: Vec<Vec<&str>> = run.out().lines().skip(1).map(|line| line.split('\t').collect()).collect();
    let named: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    let known: Vec<&str> = isaforge_usc::Operation::ALL.iter().map(|operation| operation.info().name).collect();
    assert_eq!(named, known);
    let refused: Vec<&str> = rows.iter().filter(|row| row[1] == "unsupported").map(|row| row[0]).collect();
    assert_eq!(refused, ["UNIQ", "FETCH"]);
    assert!(rows.iter().all(|row| row[1] == "exact" || !row[2].is_empty()));
}

#[test]
fn a_summary_names_each_instruction_once() {
    let run = isaforge(&["fidelity", "valhall"]).expect(0);
    let count = |class: &str| {
        let run = isaforge(&["fidelity", "valhall", class, "--tsv"]).expect(0);
        run.out().lines().count() - 1
    };
    for class in ["exact", "approximate", "choice"] {
        let title = format!("{class} ({} instructions)\n", count(class));
        assert!(run.out().contains(&title), "{title}{}", run.out());
    }
    assert_eq!(run.out().split_whitespace().filter(|word| *word == "FADD.f32").count(), 1);
}

#[test]
fn names_and_classes_choose() {
    let run = isaforge(&["fidelity", "valhall", "FPCLASS", "FRSQ.f32"]).expect(0);
    let lines: Vec<&str> = run.out().lines().collect();
    assert_eq!(lines[0], "FRSQ.f32  approximate");
    assert!(run.out().contains("    At most 0.5 ulp from the function, over all inputs"), "{}", run.out());
    assert!(run.out().contains("FPCLASS.f16  choice\n    Here: "), "{}", run.out());
    let run = isaforge(&["fidelity", "valhall", "NOPE"]).expect(1);
    assert!(run.err.contains("`NOPE` is neither a class nor an instruction of valhall"), "{}", run.err);
    let run = isaforge(&["fidelity", "vpu"]).expect(2);
    assert!(run.err.contains("does not give the accuracy of its instructions"), "{}", run.err);
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/valhall");
    let [by_spec, built_in] = [&["--spec", spec][..], &["valhall"]]
        .map(|set| isaforge(&[&["fidelity"], set, &["FPCLASS"]].concat()).expect(0));
    assert_eq!(by_spec.out(), built_in.out());
    isaforge(&["fidelity", "valhall", "--tsv", "--json"]).expect(2);
}

#[test]
fn a_run_says_what_it_met() {
    let folder = tempfile::tempdir().expect("a folder");
    let content =
        "isa: valhall\nprogram: |\n  FRCP.f32 r0, r60\n  FPCLASS.f32 r0, r0\n  NOP\n  NOP.end\nlocal size: 3\n";
    fs::write(folder.path().join("launch.yaml"), content).expect("the file is written");
    let run = isaforge_in(folder.path(), &["run", "launch.yaml", "--fidelity", "--quiet"], b"").expect(0);
    let expected = "exact (1 instruction)\n  NOP(6)\n\
        approximate (1 instruction)\n  FRCP.f32(3)\n      within 1 ulp\n\
        choice (1 instruction)\n  FPCLASS.f32(3)\n      one of ten bits, in the order of LLVM's is.fpclass\n";
    assert_eq!(run.out(), expected);
    // The same of a specification.
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/valhall");
    let content = content.replace("isa: valhall\n", "").replace("local size: 3\n", "");
    fs::write(folder.path().join("launch.yaml"), content).expect("the file is written");
    let run = isaforge_in(folder.path(), &["run", "--spec", spec, "launch.yaml", "--fidelity", "--quiet"], b"");
    assert!(run.out().contains("approximate (1 instruction)\n  FRCP.f32("), "{}{}", run.out(), run.err);
}
