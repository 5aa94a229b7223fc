//! Machine-readable output.

use serde_json::Value;

use super::*;

/// Validates objects against the output of a command's `--json-schema`.
pub(crate) fn valid(command: &[&str], objects: &[Value]) {
    let mut arguments = command.to_vec();
    arguments.push("--json-schema");
    let schema: Value = serde_json::from_str(isaforge(&arguments).expect(0).out()).expect("it is JSON");
    // The `$id` ends with the version.
    assert!(schema["$id"].as_str().is_some_and(|id| id.ends_with("-1.json")), "{schema}");
    let mut compiler = boon::Compiler::new();
    let mut schemas = boon::Schemas::new();
    compiler.add_resource("schema.json", schema).expect("it is a schema");
    let index = compiler.compile("schema.json", &mut schemas).expect("it compiles");
    assert!(!objects.is_empty(), "{command:?}");
    for object in objects {
        schemas.validate(object, index).unwrap_or_else(|error| panic!("{object}: {error}"));
    }
}

pub(crate) fn objects(run: &Run) -> Vec<Value> {
    run.out().lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect()
}

#[test]
fn instruction_sets_are_objects() {
    let found = objects(&isaforge(&["isas", "--json"]).expect(0));
    valid(&["isas"], &found);
    assert_eq!((&found[0]["name"], &found[0]["kind"]), (&Value::from("valhall"), &Value::from("words")));
    assert!(found.iter().any(|set| set["kind"] == "groups" && set["semantics"] == true));
}

#[test]
fn assembly_gives_instructions_or_mistakes_as_objects() {
    let found = objects(&isaforge_with(&["asm", "valhall", "--json"], "// text\n\nl: MOV.i32 r1, r2\n").expect(0));
    valid(&["asm", "valhall"], &found);
    assert_eq!((&found[0]["line"], &found[0]["word"]), (&Value::from(3), &Value::from("0091c10000000002")));
    let found =
        objects(&isaforge_with(&["asm", "valhall", "--json"], "MOV.i32 r1, r2\n  MOVE\nMOV.i32 r1\n").expect(1));
    valid(&["check"], &found);
    valid(&["asm", "valhall"], &found);
    assert_eq!((found.len(), &found[0]["line"], &found[0]["column"]), (2, &Value::from(2), &Value::from(3)));
}

#[test]
fn explanations_are_objects_for_names_words_texts_and_searches() {
    for (set, what) in [
        ("valhall", "MOV.i32"),
        ("valhall", "0091c10000000002"),
        ("valhall", "MOV.i32 r1, r2"),
        ("usc", "FMAD"),
        ("usc", "44a08005000000ff"),
        ("vpu", "MultiplyHiInt16u"),
    ] {
        let found = objects(&isaforge(&["explain", set, what, "--json"]).expect(0));
        valid(&["explain", set], &found);
        assert!(found[0]["fields"].as_array().is_some_and(|fields| fields.len() > 3), "{set} {what}: {}", found[0]);
    }
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");
    let found = objects(&isaforge(&["explain", "--spec", spec, "addi", "--json"]).expect(0));
    assert!(found[0]["fields"].as_array().is_some_and(|fields| fields.len() > 3), "{}", found[0]);
    let found = objects(&isaforge(&["explain", "valhall", "convert", "float", "--json"]).expect(0));
    assert!(found.len() > 3 && found.iter().all(|one| one["mnemonic"].is_string()));
    for (set, what) in [
        ("valhall", &["convert", "float"][..]),
        ("valhall", &["FMA"]),
        ("valhall", &["Flow"]),
        ("valhall", &["FMA.f32", "clamp"]),
        ("valhall", &["FMA.f32", "neg"]),
        ("valhall", &["FMA.f32", "src0"]),
        ("usc", &["FMAD", "s0neg"]),
        ("usc", &["fma"]),
    ] {
        let found = objects(&isaforge(&[&["explain", set, "--json"], what].concat()).expect(0));
        valid(&["explain", set], &found);
    }
    let found = objects(&isaforge(&["list", "valhall", "--json"]).expect(0));
    valid(&["list", "valhall"], &found);
    let found = objects(&isaforge(&["explain", "--spec", spec, "Order", "--json"]).expect(0));
    assert_eq!((&found[0]["kind"], &found[0]["values"][2]["name"]), (&Value::from("enum"), &Value::from("r")));
    let found = objects(&isaforge(&["explain", "valhall", "ffffffffffffffff", "--json"]).expect(1));
    valid(&["explain", "valhall"], &found);
    assert!(isaforge(&["explain", "valhall", "frobnicate", "--json"]).expect(1).out.is_empty());
}

#[test]
fn diagnostics_are_objects() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("isa.yaml");
    let text = "isa: tiny\nword: 16\ninstructions:\n  NOP:\n    fixed: { 15..0: 0 }\n    modifiers: { when: { enum: When, bits: 3..0 } }\n";
    fs::write(&file, text).expect("it can be written");
    let found = objects(&isaforge(&["check", "--json", file.to_str().expect("a path")]).expect(1));
    valid(&["check"], &found);
    let about = found.iter().find(|one| one["message"].as_str().is_some_and(|message| message.contains("When")));
    assert!(about.is_some_and(|one| one["line"] == 6 && one["severity"] == "error"), "{found:?}");
    assert!(isaforge(&["check", "--json", "../specs/valhall"]).expect(0).out.is_empty());
}

#[test]
fn reports_on_cases_are_objects() {
    let file = data("words.tsv");
    let found = objects(&isaforge(&["conform", "valhall", "--json", file.to_str().expect("a path")]).expect(0));
    valid(&["conform", "valhall"], &found);
    assert!(
        found.len() == 1 && found[0]["failed"] == 0 && found[0]["passed"].as_u64().is_some_and(|passed| passed > 20)
    );
}

#[test]
fn a_run_is_steps_stops_and_a_result_as_objects() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("launch.yaml"), text_of("launch.yaml")).expect("the file is written");
    let run = |arguments: &[&str]| {
        objects(&isaforge_in(folder.path(), &[&["run", "launch.yaml", "--json"], arguments].concat(), b"").expect(0))
    };
    let found = run(&["--trace", "--break", "3"]);
    valid(&["run"], &found);
    let kinds: Vec<&str> = found.iter().map(|object| object["kind"].as_str().expect("a text")).collect();
    assert_eq!(kinds, [vec!["step"; 10], vec!["stop"; 2], vec!["result"]].concat());
    assert_eq!(found[1]["changes"]["r2"]["1"], "00100004");
    assert_eq!(
        (&found[9]["stores"][0]["address"], &found[10]["registers"]["r2"]["3"]),
        (&Value::from(0x10_0010), &Value::from("0010000c"))
    );
    let result = &found[12];
    assert_eq!(
        (&result["threads"], &result["warps"], &result["error"]),
        (&Value::from(40), &Value::from(2), &Value::Null)
    );
    assert_eq!((&result["memory"][0]["address"], &result["partial"]), (&Value::from(0x10_0000), &Value::from(false)));
    assert_eq!(result["memory"][0]["bytes"].as_str().map(str::len), Some(64));
    assert!(!folder.path().join("numbers.bin").exists());
    let failing = "isa: valhall\nprogram: |\n  NOP\n  LOAD.i32.unsigned.slot0.end @r0, r0, offset:0\n";
    fs::write(folder.path().join("launch.yaml"), failing).expect("the file is written");
    let found = objects(&isaforge_in(folder.path(), &["run", "--json", "launch.yaml"], b"").expect(1));
    valid(&["run"], &found);
    assert!(found[0]["error"].as_str().is_some_and(|error| error.contains("word 1")), "{}", found[0]);
    assert_eq!((&found[0]["places"][0]["warps"], &found[0]["places"][1]["warps"]), (&Value::from(1), &Value::from(0)));
}

#[test]
fn keys_are_sorted_and_a_line_is_an_instruction() {
    let run = isaforge_with(&["dis", "valhall", "--json"], "0091c10000000002\nffffffffffffffff\n").expect(1);
    let lines: Vec<&str> = run.out().lines().collect();
    let expected = concat!(
        r#"{"address":0,"bytes":"0200000000c19100","errors":[],"flow":{"barrier":false,"conditional":false,"discards":false,"#,
        r#""kind":"next","reconverges":false,"waits":[]},"label":null,"mnemonic":"MOV.i32","modifiers":[],"operands":"#,
        r#"[{"kind":"register","name":"dest","text":"r1","value":1},{"kind":"register","name":"src0","text":"r2","value":2}],"#,
        r#""reads":["r2"],"target":null,"target_address":null,"text":"MOV.i32 r1, r2","word":"0091c10000000002","writes":["r1"]}"#,
    );
    assert_eq!(lines[0], expected);
    assert!(lines[1].starts_with(r#"{"address":8,"bytes":"ffffffffffffffff","errors":["#), "{}", lines[1]);
    assert!(lines[1].contains(r#""flow":null,"label":null,"mnemonic":null,"modifiers":[],"operands":[],"reads":[]"#));
}

/// Constants and modifiers decide what an instruction does, also if the same instruction came before with others.
#[test]
fn effects_are_those_of_each_instruction() {
    let text = "l: BRANCHZ.eq 0x0, l\nBRANCHZ r1, l\nBRANCHZ.eq 0x0, l\nBRANCHZ.eq r1, l\nBRANCHZ 0x0, l\n";
    let found = objects(&isaforge_with(&["asm", "valhall", "--json"], text).expect(0));
    let kinds: Vec<&str> = found.iter().filter_map(|one| one["flow"]["kind"].as_str()).collect();
    assert_eq!(kinds, ["jump", "branch", "jump", "branch", "next"]);
}

#[test]
fn every_instruction_has_an_operation_or_an_intrinsic() {
    for (set, least) in [("valhall", 188), ("valhall-2021", 150), ("usc", 85), ("vpu", 40)] {
        let found = objects(&isaforge(&["list", set, "--json"]).expect(0));
        let has = |one: &Value, key: &str| one[key].as_str().is_some_and(|text| !text.trim().is_empty());
        for one in &found {
            let named = one["intrinsics"].as_array().is_some_and(|names| !names.is_empty());
            assert!(has(one, "mnemonic") && has(one, "title"), "{one}");
            assert!(has(one, "operation") || named, "{one}");
        }
        let texts = found.iter().filter(|one| has(one, "operation")).count();
        assert!(texts >= least, "{set} has {texts} texts");
    }
}

#[test]
fn an_explanation_has_the_operation_and_what_remains_of_it() {
    let riscv = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");
    let usc = "0 : fmad.sat ft0, r5.abs.neg, r1, r9 | mov r0, ft0";
    for (set, what, operation, here) in [
        (&["valhall"][..], "FMA.f32.clamp_0_1 r0, r1, r2.neg, r3", "limit(fma(", "min(max(fma("),
        (&["valhall"], "FMA.f32", "limit(fma(", "= fma("),
        (&["--spec", riscv], "sub a2, a0, a1", "rd = rs1 - rs2", "rd = rs1 - rs2"),
        (&["usc"], usc, "T = saturated(", "-abs(S0 as f32)"),
        (&["vpu"], "Exit", "end()", "end()"),
    ] {
        let found = objects(&isaforge(&[&["explain", "--json"], set, &[what]].concat()).expect(0));
        valid(&["explain", "valhall"], &found);
        for (key, part) in [("operation", operation), ("here", here)] {
            assert!(found[0][key].as_str().is_some_and(|text| text.contains(part)), "{what}, {key}: {}", found[0]);
        }
    }
    let found = objects(&isaforge(&["explain", "valhall", "--json", "0091c10000000102"]).expect(1));
    assert!(found[0]["operation"].is_null() && found[0]["here"].is_null(), "{}", found[0]);
}

#[test]
fn a_set_is_an_object_with_its_calling_convention() {
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");
    for set in [&["valhall"][..], &["usc"], &["vpu"], &["--spec", spec]] {
        let found = objects(&isaforge(&[&["explain", "--json"], set].concat()).expect(0));
        valid(&[&["explain"], set].concat(), &found);
        assert_eq!((found.len(), &found[0]["kind"]), (1, &Value::from("overview")), "{set:?}");
    }
    let found = objects(&isaforge(&["explain", "valhall", "--json"]).expect(0));
    let register = &found[0]["preloads"][0]["registers"][5];
    assert_eq!((&register["register"], &register["name"]), (&Value::from("r60"), &Value::from("global_x")));
    let ends = found[0]["flow"].as_array().into_iter().flatten().find(|after| after["ends"] == true);
    assert!(ends.is_some_and(|after| after["name"] == "end"), "{}", found[0]);
}

#[test]
fn findings_and_accuracies_have_schemas() {
    let text = "MOV.i32 r1, r2\nMOV.i32.end r3, r2\n";
    let found = objects(&isaforge_with(&["lint", "valhall", "-", "--json"], text).expect(1));
    valid(&["lint", "valhall"], &found);
    let machine_code = isaforge_with(&["asm", "valhall"], text).expect(0);
    let found = objects(&isaforge_with(&["lint", "valhall", "-", "--json"], machine_code.out()).expect(1));
    valid(&["lint", "valhall"], &found);
    for set in ["valhall", "usc"] {
        let run = isaforge(&["fidelity", set, "--json"]).expect(0);
        valid(&["fidelity", set], &[serde_json::from_str(run.out()).expect("it is JSON")]);
    }
}

#[test]
fn operations_of_groups_have_units_and_operands() {
    let found = objects(&isaforge(&["list", "usc", "--json"]).expect(0));
    valid(&["list", "usc"], &found);
    assert!(found.iter().all(|one| one["unit"] != ""));
    for (name, unit, reads, writes) in [
        // Roles are other operands in each phase, and phases drive wires.
        ("FADD", "p0/p1", &["S0/S3", "S1/S4"][..], &["FT0/FT1"][..]),
        ("FRCP", "p0/p1", &["S0/S3"], &["W0"]),
        // Its specification says that it writes a source.
        ("LD", "backend", &["ADD"], &["S3"]),
        ("MSK", "b0 mask", &["S0", "S1"], &[]),
    ] {
        let one = found.iter().find(|one| one["mnemonic"] == name).expect("it is there");
        let expected = serde_json::json!([unit, reads, writes]);
        assert_eq!(serde_json::json!([one["unit"], one["reads"], one["writes"]]), expected, "{name}");
    }
    let table = isaforge(&["list", "usc", "FADD"]).expect(0);
    assert!(table.out().contains("FT0/FT1 ← S0/S3, S1/S4"), "{}", table.out());
}

#[test]
fn races_are_objects() {
    let folder = tempfile::tempdir().expect("a folder");
    let launch = "isa: valhall\nlocal size: [32]\nprogram: |\n  MOV.i32 r4, r60\n  STORE.i32.slot0.end @r4, u0, offset:0\n\
                  uniforms: [{ address: word }]\nbuffers: { word: { size: 4 } }\n";
    fs::write(folder.path().join("launch.yaml"), launch).expect("it is written");
    let found = objects(&isaforge_in(folder.path(), &["run", "--races", "--json", "launch.yaml"], b"").expect(1));
    valid(&["run"], &found);
    let expected = serde_json::json!({
        "thread": [0, 0, 0], "access": "store", "pc": 1, "text": "STORE.i32.slot0.end @r4, u0, offset:0",
    });
    assert_eq!((&found[0]["kind"], &found[0]["sides"][0]), (&Value::from("race"), &expected));
}
