use super::*;

/// The names of a table, in its order.
fn named(rows: &[Vec<&str>]) -> Vec<String> {
    rows.iter().map(|row| row[0].to_owned()).collect()
}

#[test]
fn every_instruction_is_in_the_table() {
    for set in ["valhall", "valhall-2021", "usc", "vpu"] {
        let run = isaforge(&["fidelity", set, "--tsv"]).expect(0);
        let rows: Vec<Vec<&str>> = run.out().lines().skip(1).map(|line| line.split('\t').collect()).collect();
        assert!(rows.iter().all(|row| row.len() == 6 && (row[1] == "exact" || !row[2].is_empty())), "{set}");
        let list = json::objects(&isaforge(&["list", set, "--json"]).expect(0));
        let known: Vec<&str> = list.iter().filter_map(|one| one["mnemonic"].as_str()).collect();
        assert_eq!(named(&rows), known, "{set}");
        assert!(list.iter().all(|one| one["fidelity"].is_string()), "{set}");
        let json = isaforge(&["fidelity", set, "--json"]).expect(0);
        let json: serde_json::Value = serde_json::from_str(json.out()).expect("it is JSON");
        assert_eq!(json.as_array().map(Vec::len), Some(known.len()), "{set}");
    }
    let run = isaforge(&["fidelity", "valhall", "FRCP.f32", "--tsv"]).expect(0);
    let row: Vec<&str> = run.out().lines().last().into_iter().flat_map(|line| line.split('\t')).collect();
    assert_eq!(row[1..5], ["approximate", "within 1 ulp", "tested on GPUs by Mesa, within 1 ulp", "0.5"]);
}

#[test]
fn what_is_not_supported_is_an_intrinsic_that_faults() {
    let unsupported = [
        ("usc", &["UNIQ", "FETCH"][..]),
        ("valhall-2021", &["ST_IMAGE", "TODO.ATOM_C1", "TODO.ATOM_C", "TODO.VAR_TEX"]),
        ("vpu", &[]),
        ("valhall", &[]),
    ];
    for (set, expected) in unsupported {
        let list = json::objects(&isaforge(&["list", set, "--json"]).expect(0));
        let refused: Vec<_> = list.iter().filter(|one| one["fidelity"] == "unsupported").collect();
        let names: Vec<&str> = refused.iter().filter_map(|one| one["mnemonic"].as_str()).collect();
        assert_eq!(names, expected, "{set}");
        for one in refused {
            let intrinsic = one["intrinsics"][0].as_str();
            assert!(intrinsic.is_some_and(|name| name.starts_with("unexplained")), "{one}");
        }
    }
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
    let riscv = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");
    let run = isaforge(&["fidelity", "--spec", riscv]).expect(2);
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
