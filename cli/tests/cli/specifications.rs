use std::io::{BufRead, BufReader};
use std::time::Duration;

use super::*;

fn path(name: &str) -> String {
    data(name).to_str().expect("the path is text").to_owned()
}

#[test]
fn the_schema_for_editors_is_json() {
    let run = isaforge(&["check", "--schema"]).expect(0);
    let schema: serde_json::Value = serde_json::from_str(run.out()).expect("JSON");
    assert_eq!(schema["$defs"]["BankSpec"]["required"], serde_json::json!(["count"]));
    isaforge(&["check", "--schema", "tests/data/blink.yaml"]).expect(2);
}

#[test]
fn a_good_specification_gets_a_line_of_summary() {
    let run = isaforge(&["check", "tests/data/blink.yaml"]).expect(0);
    assert_eq!(run.out(), "tests/data/blink.yaml: ok: 1 instruction, 1 enum, no warnings\n");
    assert_eq!(run.err, "");
}

#[test]
fn mistakes_are_drawn_and_counted_with_status_1() {
    let run = isaforge(&["check", "tests/data/wrong.yaml"]).expect(1);
    assert!(run.out.is_empty());
    assert!(run.err.contains("tests/data/wrong.yaml:") && run.err.contains("^"), "{}", run.err);
    assert!(run.err.trim_end().ends_with("failed: 1 error"), "{}", run.err);
    assert!(!run.err.contains('\x1b'));
    assert!(isaforge(&["check", "tests/data/wrong.yaml", "--color", "always"]).expect(1).err.contains('\x1b'));
}

#[test]
fn a_warning_fails_only_when_denied() {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = text_of("blink.yaml").replace("enums:\n", "enums:\n  Spare: { doc: Nobody uses it., values: [a, b] }\n");
    fs::write(folder.path().join("isa.yaml"), spec).expect("the file is written");
    let run = isaforge_in(folder.path(), &["check", "."], b"").expect(0);
    assert!(run.out().ends_with("ok: 1 instruction, 2 enums, 1 warning\n"), "{}", run.out());
    assert!(run.err.contains("warning["), "{}", run.err);
    let run = isaforge_in(folder.path(), &["check", ".", "--deny-warnings"], b"").expect(1);
    assert!(run.err.contains("error["), "{}", run.err);
}

#[test]
fn a_crate_is_written_once_and_found_up_to_date() {
    let folder = tempfile::tempdir().expect("a folder");
    let (spec, output) = (path("blink.yaml"), folder.path().join("blink-isa"));
    let output = output.to_str().expect("the path is text");
    let run = isaforge(&["gen", &spec, "-o", output, "--check"]).expect(1);
    assert!(run.err.contains("does not exist"), "{}", run.err);
    isaforge(&["gen", &spec, "-o", output]).expect(0);
    let manifest = fs::read_to_string(Path::new(output).join("Cargo.toml")).expect("the manifest is written");
    assert!(manifest.contains("name = \"blink-isa\"") && manifest.contains("isaforge-core = { version"), "{manifest}");
    assert!(!manifest.contains("path ="), "{manifest}");
    let source = fs::read_to_string(Path::new(output).join("src/lib.rs")).expect("the source is written");
    assert!(source.contains("use blink_isa::{Instruction"), "the front page shows how to use it");
    assert!(source.contains("pub enum Instruction") && source.contains("@generated"));
    isaforge(&["gen", &spec, "-o", output, "--check"]).expect(0);
    // A manifest of the user's own is as good as ours, but there must be one.
    let manifest = Path::new(output).join("Cargo.toml");
    fs::write(&manifest, "[package]\nname = \"mine\"\n").expect("the folder is writable");
    isaforge(&["gen", &spec, "-o", output, "--check"]).expect(0);
    fs::remove_file(&manifest).expect("the manifest can be removed");
    let run = isaforge(&["gen", &spec, "-o", output, "--check"]).expect(1);
    assert!(run.err.contains("Cargo.toml does not exist") && run.err.contains("run: isaforge gen "), "{}", run.err);
}

#[test]
fn crates_with_the_core_of_a_checkout_build_and_their_front_pages_are_true() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = |name: &str| folder.path().join(name).to_str().expect("the path is text").to_owned();
    let wrong = isaforge(&["gen", &path("blink.yaml"), "-o", &output("none"), "--core", "path=nowhere"]).expect(2);
    assert!(wrong.err.contains("there is no package in `nowhere`"), "{}", wrong.err);
    let root = format!("{}/..", env!("CARGO_MANIFEST_DIR"));
    // A set of words and a stream of bytes.
    for (name, spec) in [("my-blink", path("blink.yaml")), ("my-riscv", format!("{root}/examples/riscv"))] {
        isaforge(&["gen", &spec, "-o", &output(name), "--core", &format!("path={root}/core")]).expect(0);
        let test = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()))
            .args(["test", "--offline", "--quiet"])
            .current_dir(output(name))
            .env("CARGO_TARGET_DIR", folder.path().join("target"))
            .output()
            .expect("cargo runs");
        assert!(test.status.success(), "{name}: {}", String::from_utf8_lossy(&test.stderr));
        let found = String::from_utf8_lossy(&test.stdout);
        assert!(found.contains("all doctests ran") || found.matches("running 1 test\n").count() > 0, "{found}");
    }
}

#[test]
fn a_stale_crate_fails_with_the_command_that_mends_it() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("blink.yaml"), text_of("blink.yaml")).expect("the file is written");
    isaforge_in(folder.path(), &["gen", "blink.yaml", "-o", "a crate", "--semantics", "required"], b"").expect(0);
    let manifest = folder.path().join("a crate/Cargo.toml");
    fs::write(&manifest, "mine").expect("the file is written");
    let source = folder.path().join("a crate/src/lib.rs");
    let old = fs::read_to_string(&source).expect("the source is there");
    fs::write(&source, old.replacen("lamps", "lights", 1)).expect("the file is written");
    let check = ["gen", "blink.yaml", "-o", "a crate", "--semantics", "required", "--check"];
    let run = isaforge_in(folder.path(), &check, b"").expect(1);
    assert!(run.err.contains("line 1 differs"), "{}", run.err);
    assert!(run.err.contains("run: isaforge gen blink.yaml -o 'a crate' --semantics required\n"), "{}", run.err);
    isaforge_in(folder.path(), &check[..6], b"").expect(0);
    assert_eq!(fs::read_to_string(&source).expect("the source is there"), old);
    assert_eq!(fs::read_to_string(&manifest).expect("it is there"), "mine", "a manifest that is there is not touched");
    isaforge_in(folder.path(), &check, b"").expect(0);
}

#[test]
fn all_specifications_of_a_project_are_generated_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["blink", "wink"] {
        fs::create_dir_all(folder.path().join("specs").join(name)).expect("the folder is made");
        let spec = text_of("blink.yaml").replace("isa: blink", &format!("isa: {name}"));
        fs::write(folder.path().join("specs").join(name).join("isa.yaml"), spec).expect("the file is written");
    }
    isaforge_in(folder.path(), &["gen", "--all"], b"").expect(0);
    isaforge_in(&folder.path().join("specs"), &["gen", "--all", "--check"], b"").expect(0);
    fs::write(folder.path().join("generated/wink/src/lib.rs"), "").expect("the file is written");
    let run = isaforge_in(folder.path(), &["gen", "--all", "--check"], b"").expect(1);
    assert!(run.err.contains("generated/blink/src/lib.rs: up to date"), "{}", run.err);
    assert!(run.err.contains("run: isaforge gen --all\n"), "{}", run.err);
    // The project is no workspace that gives its members a version.
    let manifest = folder.path().join("generated/wink/Cargo.toml");
    let text = || fs::read_to_string(&manifest).expect("it is there");
    assert!(!text().contains("workspace = true"), "{}", text());
    // A manifest that is there is kept, and its line named.
    let core = concat!("path=", env!("CARGO_MANIFEST_DIR"), "/../core");
    let run = isaforge_in(folder.path(), &["gen", "--all", "--core", core], b"").expect(0);
    assert!(run.err.contains("Cargo.toml is kept") && run.err.contains("/core\" }"), "{}", run.err);
    fs::remove_file(&manifest).expect("it is there");
    isaforge_in(folder.path(), &["gen", "--all", "--core", core], b"").expect(0);
    assert!(text().contains("/core\" }"), "{}", text());
}

#[test]
fn a_specification_with_mistakes_generates_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("out");
    isaforge(&["gen", &path("wrong.yaml"), "-o", output.to_str().expect("the path is text")]).expect(1);
    assert!(!output.exists());
}

/// Every code in a message has a page.
#[test]
fn the_code_of_a_message_leads_to_its_page() {
    let run = isaforge(&["check", "tests/data/wrong.yaml"]).expect(1);
    let code = run.err.split("error[").nth(1).and_then(|rest| rest.split(']').next()).expect("it has a code");
    isaforge(&["check", "--explain", code]).expect(0);
}

#[test]
fn codes_have_pages() {
    let run = isaforge(&["check", "--explain", "L0003"]).expect(0);
    for part in [
        "L0003: An impossible size or content\n\n",
        "\nwrong: launch.yaml\n  | isa: valhall\n",
        "\nright: launch.yaml\n",
    ] {
        assert!(run.out().contains(part), "{part} is missing in\n{}", run.out());
    }
    assert_eq!(isaforge(&["check", "--explain", "l0003"]).expect(0).out(), run.out());
    let list = isaforge(&["check", "--explain", "list"]).expect(0);
    for part in ["E0101  ", "W0201  ", "L0003  An impossible size"] {
        assert!(list.out().contains(part), "{part} is missing in\n{}", list.out());
    }
    for line in list.out().lines() {
        let (code, title) = line.split_once("  ").expect("a code and a title");
        let page = isaforge(&["check", "--explain", code]).expect(0);
        assert!(page.out().contains(title), "{code}: {}", page.out());
    }
    let run = isaforge(&["check", "--explain", "L9999"]).expect(2);
    assert!(run.err.contains("no error or warning has the code `L9999`"), "{}", run.err);
    let run = isaforge(&["check", "--explain", "E0052"]).expect(0);
    assert!(run.out().contains("`isaforge check --explain document.yaml` shows document.yaml"), "{}", run.out());
    assert!(isaforge(&["check", "--explain", "document.yaml"]).expect(0).out().contains("  | isa: "));
    isaforge(&["check", "--explain", "L0003", "tests/data/blink.yaml"]).expect(2);
    isaforge(&["check"]).expect(2);
}

#[test]
fn a_watched_specification_is_compiled_again_with_what_changed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let spec = folder.path().join("blink.yaml");
    let text = text_of("blink.yaml");
    fs::write(&spec, &text).expect("the folder is writable");
    let mut child = Command::new(env!("CARGO_BIN_EXE_isaforge"))
        .args(["gen", "blink.yaml", "-o", "blink", "--watch"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let (sender, lines) = std::sync::mpsc::channel();
    let pipes: [Box<dyn std::io::Read + Send>; 2] =
        [Box::new(child.stdout.take().expect("it is piped")), Box::new(child.stderr.take().expect("it is piped"))];
    for pipe in pipes {
        let sender = sender.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
    }
    let expect = |part: &str| {
        let mut seen = Vec::new();
        loop {
            let line = lines.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|e| panic!("{part}: {e}: {seen:#?}"));
            if line.contains(part) {
                return;
            }
            seen.push(line);
        }
    };
    expect("watching 1 file");
    // An error is shown, and then the changes since the last valid revision.
    fs::write(&spec, text.replace("word:", "wort:")).expect("the folder is writable");
    expect("did you mean `word`?");
    // Editors and version control may remove a file for a moment.
    fs::remove_file(&spec).expect("it is there");
    expect("is not there; waiting for it");
    let renamed = text.replace("SET.u8", "DIM.u8");
    assert_ne!(text, renamed);
    fs::write(&spec, &renamed).expect("the folder is writable");
    expect("wrote");
    expect("DIM");
    child.kill().expect("it runs until it is ended");
    child.wait().expect("it ends");
    let code = fs::read_to_string(folder.path().join("blink/src/lib.rs")).expect("the crate is there");
    assert!(code.contains("DIM") && !code.contains("SET.u8"), "the crate is that of the last revision");
}

#[test]
fn a_document_alone_is_told_its_mistakes_and_what_it_needs() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("isa.xml"), "<!-- old -->\n<valhall>\n  <desc>this & that</desc>\n</valhall>\n")
        .expect("written");
    let run = isaforge_in(folder.path(), &["check", "isa.xml"], b"").expect(1);
    assert!(run.err.contains("error[E0011]") && run.err.contains("isa.xml:3:14"), "{}", run.err);
    assert!(run.err.contains("this is XML, but a specification begins with YAML"), "{}", run.err);
    assert!(run.err.contains("write an `isa.yaml` beside it"), "{}", run.err);
}

/// A third-party document from the compiler's fixtures.
fn document(name: &str) -> String {
    format!("{}/../compiler/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn crates_of_the_documents_of_others_build() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = |name: &str| folder.path().join(name).to_str().expect("the path is text").to_owned();
    let core = format!("path={}/../core", env!("CARGO_MANIFEST_DIR"));
    let documents = [
        ("isaspec/loom.xml", None),
        ("bifrost.xml", Some("fma")),
        ("riscv-unified-db", None),
        ("riscv-unified-db", Some("rv32")),
        ("amdgpu.jsonl", Some("gfx1100")),
        ("amd.xml", None),
    ];
    for (index, (name, generation)) in documents.into_iter().enumerate() {
        let output = output(&format!("document-{index}"));
        let document = document(name);
        let mut arguments = vec!["gen", &document, "-o", &output, "--core", &core];
        arguments.extend(generation.into_iter().flat_map(|generation| ["--generation", generation]));
        isaforge(&arguments).expect(0);
        let check = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()))
            .args(["check", "--offline", "--quiet"])
            .current_dir(&output)
            .env("CARGO_TARGET_DIR", folder.path().join("target"))
            .output()
            .expect("cargo runs");
        assert!(check.status.success(), "{name}: {}", String::from_utf8_lossy(&check.stderr));
    }
}

#[test]
fn a_grammar_of_sequences_has_no_crate() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("spirv");
    let run = isaforge(&["gen", &document("spirv.json"), "-o", output.to_str().expect("the path is text")]).expect(1);
    assert!(run.err.contains("error[E0035]: cannot generate a crate"), "{}", run.err);
    assert!(run.err.contains("spirv.json:1:1") && run.err.contains("isaforge dis"), "{}", run.err);
    assert!(!output.exists());
}

#[test]
fn a_crate_is_of_one_generation_where_that_is_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = folder.path().join("tiny.yaml");
    fs::write(&spec, revisions::STREAM).expect("the file is written");
    let generate = |arguments: &[&str], status| {
        isaforge_in(folder.path(), &[&["gen", "tiny.yaml", "-o", "tiny"], arguments].concat(), b"").expect(status)
    };
    let source = || fs::read_to_string(folder.path().join("tiny/src/lib.rs")).expect("the source is there");
    generate(&[], 0);
    assert!(source().contains("`halt`") && source().contains("LAST_GENERATION: u32 = 2"));
    generate(&["--generation", "1"], 0);
    assert!(!source().contains("`halt`") && source().contains("LAST_GENERATION: u32 = 1"));
    generate(&["--generation", "1", "--check"], 0);
    let run = generate(&["--generation", "2", "--check"], 1);
    assert!(run.err.contains("run: isaforge gen tiny.yaml -o tiny --generation 2\n"), "{}", run.err);
    let run = generate(&["--generation", "3"], 1);
    assert!(
        run.err.contains("`tiny` has no generation 3") && run.err.contains("its generations are 1 to 2"),
        "{}",
        run.err
    );
    fs::write(&spec, text_of("blink.yaml")).expect("the file is written");
    assert!(generate(&["--generation", "1"], 1).err.contains("has no generations"));
    let missing = isaforge(&["gen", &document("amdgpu.jsonl"), "-o", "nowhere"]).expect(1);
    assert!(missing.err.contains("a generation must select one"), "{}", missing.err);
}

/// Specifications that newcomers wrote from the documentation alone, if they are available next to the project.
#[test]
fn specifications_of_newcomers_are_understood_or_answered() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/repro");
    if !folder.is_dir() {
        println!("not replayed: ../shared/repro is not there");
        return;
    }
    let run = |arguments: &[&str], input: &str| isaforge_in(&folder, arguments, input.as_bytes());
    // `check` warns about the unit of labels, and so do commands on programs with labels.
    let checked = run(&["check", "rv32.yaml"], "").expect(0);
    assert_eq!(checked.err.matches("warning[W0211]").count(), 2, "{}", checked.err);
    assert!(checked.err.contains("`{ from: this, unit: 2 }`"), "{}", checked.err);
    assert!(run(&["asm", "--spec", "rv32.yaml", "t.s"], "").expect(0).err.contains("warning[W0211]"));
    // Lengths that no bits encode are rejected before memory is exhausted.
    for (name, word) in [
        ("gcn.yaml", "ff020e7e78563412"),
        ("gcn.yaml", "01824bd501050e4c"),
        ("rvc2.yaml", "1305b0ff"),
        ("single.yaml", "01"),
    ] {
        for arguments in [&["check", name][..], &["explain", "--spec", name, word]] {
            let run = run(arguments, "").expect(1);
            assert!(
                run.err.contains("error[E0304]") && run.err.contains("write a stream: `word: [16, 32]`"),
                "{}",
                run.err
            );
        }
    }
    let output = tempfile::tempdir().expect("a folder");
    let refused = run(&["gen", "single.yaml", "-o", output.path().join("x").to_str().expect("text")], "").expect(1);
    assert!(refused.err.contains("error[E0304]"), "{}", refused.err);
    // Printed text assembles.
    assert_eq!(run(&["dis", "--spec", "prefix.yaml", "-"], "31\n").expect(0).out(), "mov #1, lsl #4\n");
    assert_eq!(run(&["asm", "--spec", "prefix.yaml", "-"], "mov #1, lsl #4\n").expect(0).out(), "31\n");
    for name in ["prefix.yaml", "two.yaml", "a64.yaml.gz"] {
        run(&["check", name], "").expect(0);
    }
    let special = run(&["check", "alias.yaml"], "").expect(1);
    assert!(
        special.err.contains("error[E0106]") && special.err.contains("make it one of its `aliases`"),
        "{}",
        special.err
    );
}
