//! Machine-readable output.

use serde_json::Value;

use super::*;

/// Validates objects against the output of a command's `--json-schema`.
fn valid(command: &[&str], objects: &[Value]) {
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

fn objects(run: &Run) -> Vec<Value> {
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
