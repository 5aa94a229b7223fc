//! Malicious input: the command ends soon, with an exit status and a message about the problem.

use std::time::{Duration, Instant};

use super::*;

/// A command that takes longer counts as hanging. Test machines may be slow.
const LONG: Duration = Duration::from_secs(60);

/// Like [`isaforge_in`], with a time limit.
fn soon(folder: &Path, arguments: &[&str], stdin: &[u8]) -> Run {
    let started = Instant::now();
    let (sender, receiver) = std::sync::mpsc::channel();
    let (folder, stdin) = (folder.to_owned(), stdin.to_owned());
    let owned: Vec<String> = arguments.iter().map(|argument| argument.to_string()).collect();
    std::thread::spawn(move || {
        let arguments: Vec<&str> = owned.iter().map(String::as_str).collect();
        let _ = sender.send(isaforge_in(&folder, &arguments, &stdin));
    });
    let run = receiver.recv_timeout(LONG).unwrap_or_else(|_| panic!("{arguments:?} does not end"));
    assert!(!run.err.contains("panicked"), "{}", run.err);
    assert!(started.elapsed() < LONG);
    run
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("the file is written");
    }
    folder
}

#[cfg(unix)]
#[test]
fn nobody_waits_for_a_pipe() {
    let launch = "isa: valhall\nprogram: NOP.end\nbuffers: { b: { file: pipe } }\n";
    let scene = "isa: vpu\nprogram: |\n  Exit\nscene: pipe\n";
    let files =
        [("buffer.yaml", launch), ("scene.yaml", scene), ("p.yaml", "isa: valhall\nprogram: { file: pipe.s }\n")];
    let folder = folder(&files);
    for name in ["pipe", "pipe.s", "pipe.yaml"] {
        let made = Command::new("mkfifo").arg(folder.path().join(name)).status().expect("mkfifo is there");
        assert!(made.success());
    }
    for (arguments, status) in [
        (&["asm", "valhall", "pipe.s"][..], 2),
        (&["dis", "valhall", "pipe"], 2),
        (&["dis", "usc", "pipe"], 2),
        (&["check", "pipe.yaml"], 2),
        (&["asm", "--spec", "pipe.yaml"], 2),
        (&["gen", "pipe.yaml", "-o", "out"], 2),
        (&["run", "pipe.yaml"], 2),
        (&["run", "buffer.yaml"], 1),
        (&["run", "scene.yaml"], 1),
        (&["run", "p.yaml"], 1),
        (&["dis", "valhall", "/dev/zero"], 2),
    ] {
        let run = soon(folder.path(), arguments, b"").expect(status);
        assert!(run.err.contains("not a regular file"), "{arguments:?}: {}", run.err);
    }
    // A file that the shell has opened is read.
    let read = soon(folder.path(), &["asm", "valhall", "/dev/stdin"], b"MOV.i32 r1, r2").expect(0);
    assert_eq!(read.out(), "0091c10000000002\n");
}

#[test]
fn a_line_of_megabytes_is_a_mistake_like_another() {
    let here = tempfile::tempdir().expect("a folder");
    let long = "x".repeat(8 << 20);
    let labels: String = (0..100_000).map(|n| format!("l{n}: ")).collect();
    for text in
        [long.clone(), format!("MOV.i32 r1, {long}"), "MOV.i32 r1, r2, ".repeat(1 << 19), "((((".repeat(1 << 20)]
    {
        for isa in ["valhall", "usc", "vpu"] {
            let run = soon(here.path(), &["asm", isa], text.as_bytes()).expect(1);
            assert!(run.err.len() < 100_000, "{} bytes of messages", run.err.len());
        }
    }
    soon(here.path(), &["asm", "valhall"], format!("{labels}MOV.i32 r1, r2").as_bytes()).expect(0);
    soon(here.path(), &["dis", "valhall"], "0 ".repeat(1 << 20).as_bytes()).expect(1);
}

#[test]
fn what_cannot_be_seen_is_not_printed() {
    let text = "MOV.i32 r1, \u{202e}r2 // \u{2066}\nMOV\0.i32 r1, r2\n\u{1b}[31m\n\u{7}: \u{7}:\n";
    let here = tempfile::tempdir().expect("a folder");
    let launch = format!("isa: valhall\nprogram: |\n  {}\n\u{202e}: 1\n", text.replace('\n', "\n  "));
    fs::write(here.path().join("launch.yaml"), launch).expect("the file is written");
    fs::write(here.path().join("isa.yaml"), format!("isa: \"x\u{202e}\"\ndoc: {text}")).expect("the file is written");
    for (arguments, stdin) in [
        (&["asm", "valhall"][..], text),
        (&["asm", "usc"], text),
        (&["dis", "valhall"], "12 \u{202e}34"),
        (&["run", "launch.yaml"], ""),
        (&["check", "isa.yaml"], ""),
    ] {
        let run = soon(here.path(), arguments, stdin.as_bytes()).expect(1);
        for hidden in ['\u{202e}', '\u{2066}', '\0', '\u{1b}', '\u{7}'] {
            let printed = run.err.contains(hidden) || run.out().contains(hidden);
            assert!(!printed, "{arguments:?} prints U+{:04X}: {}", u32::from(hidden), run.err);
        }
        assert!(!run.err.is_empty() || !run.out().is_empty());
    }
}

#[test]
fn depth_is_no_way_to_the_end_of_the_stack() {
    let deep = 100_000;
    let spec = |doc: String| format!("isa: x\nword: 8\nprovenance: document\n{doc}\n");
    let does = |text: String| {
        format!(
            "isa: x\nword: 8\nprovenance: document\nbanks: {{ r: {{ count: 8, width: 32, prints: 'r{{n}}' }} }}\ninstructions:\n  \
             A: {{ doc: x, fixed: {{ 7..3: 7 }}, operands: {{ d: {{ bank: r, bits: 2..0, access: write }} }}, does: \"{text}\" }}\n"
        )
    };
    let mut files = vec![
        ("list.yaml".to_owned(), spec(format!("doc: {}", "[".repeat(deep)))),
        ("map.yaml".to_owned(), spec(format!("doc: {}", "{a: ".repeat(deep)))),
        ("indent.yaml".to_owned(), (0..3000).map(|n| format!("{}a:\n", " ".repeat(n))).collect()),
        ("brackets.yaml".to_owned(), does(format!("d = {}1{}", "(".repeat(deep), ")".repeat(deep)))),
        ("minus.yaml".to_owned(), does(format!("d = {}1", "- ".repeat(deep)))),
        ("not.yaml".to_owned(), does(format!("d = {}1", "~".repeat(deep)))),
        ("if.yaml".to_owned(), does("if 1 { ".repeat(deep))),
        ("else.yaml".to_owned(), does(format!("d = {}1", "if 1 == 1 { 1 } else ".repeat(deep)))),
        ("sum.yaml".to_owned(), does(format!("d = 1{}", " + 1".repeat(deep)))),
        ("isa.xml".to_owned(), format!("<isa>{}", "<bitset>".repeat(deep))),
    ];
    for (name, key) in [("import", "import"), ("base", "base")] {
        for n in 0..3000 {
            let head = if n == 0 { "isa: x\nword: 8\n" } else { "" };
            files.push((format!("{name}{n}.yaml"), format!("{head}{key}: {name}{}.yaml\n", n + 1)));
        }
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let folder = folder(&files);
    for name in files.iter().map(|(name, _)| *name).filter(|name| !name.contains(|c: char| c.is_ascii_digit())) {
        let run = soon(folder.path(), &["check", name], b"").expect(1);
        assert!(run.err.contains("error"), "{name}: {}", run.err);
    }
    for name in ["import0.yaml", "base0.yaml"] {
        let run = soon(folder.path(), &["check", name], b"").expect(1);
        assert!(run.err.contains("more than 64 deep"), "{name}: {}", run.err);
    }
}

#[test]
fn a_launch_file_asks_for_what_there_is() {
    let most = u64::from(u32::MAX);
    for (key, value) in [
        ("groups", format!("[{most}, {most}, {most}]")),
        ("local size", format!("[{most}, {most}, {most}]")),
        ("local size", "[1024, 1024, 64]".to_owned()),
        ("shared bytes", most.to_string()),
        ("uniforms", format!("[{}]", "0, ".repeat(1 << 20))),
        ("textures", "[{ width: 4294967295, height: 4294967295, format: rgba8 }]".to_owned()),
        ("buffers", "{ a: { size: 18446744073709551615 } }".to_owned()),
        ("buffers", "{ a: { size: 4096, address: 18446744073709551615 } }".to_owned()),
        ("buffers", "{ a: { size: 16, address: 18446462598732840960 } }".to_owned()),
    ] {
        let text = format!("isa: valhall\nprogram: NOP.end\nbudget: 100000\n{key}: {value}\n");
        let folder = folder(&[("launch.yaml", &text)]);
        let run = soon(folder.path(), &["run", "launch.yaml", "--time-limit", "5"], b"").expect(1);
        assert!(!run.err.is_empty(), "{key}: {value}");
    }
}

/// Each of these instructions takes as long as thousands of others.
#[test]
fn long_instructions_end_with_the_time_limit() {
    let spec = "isa: slow\nword: 32\nprovenance: document\nmachine: { lanes: 1 }\n\
        banks: { r: { count: 8, width: 32, prints: 'r{n}' } }\nsemantics: { pc: u64 }\ninstructions:\n\
        \u{20} many: { doc: x, fixed: { 31..3: 1 }, operands: { d: { bank: r, bits: 2..0, access: read-write } },\n\
        \u{20}   does: 'for i in 0..250 { for j in 0..70 { d = d + 1 } }' }\n\
        \u{20} again: { doc: x, fixed: { 31..29: 7, 28..0: 0 }, does: 'branch(0)' }\n";
    let folder = folder(&[("slow.yaml", spec), ("launch.yaml", "program: |\n  many r0\n  again\n")]);
    for engine in [&[][..], &["--engine", "reference"]] {
        let arguments = [&["run", "--spec", "slow.yaml", "launch.yaml", "--time-limit", "0.2"][..], engine].concat();
        let run = soon(folder.path(), &arguments, b"").expect(1);
        assert!(run.err.contains("the time limit was reached"), "{}", run.err);
    }
}

/// The launch of the demo's size, within the address space of a 32-bit program.
#[cfg(target_os = "linux")]
#[test]
fn a_launch_fits_in_four_gibibytes() {
    let here = tempfile::tempdir().expect("a folder");
    let text = text_of("launch.yaml").replace("size: 32 }", "size: 32 }\n  large: { size: 1073741792 }");
    fs::write(here.path().join("launch.yaml"), text).expect("the file is written");
    let limited = Command::new("sh")
        .args(["-c", "ulimit -v 4194304 && exec \"$0\" run launch.yaml", env!("CARGO_BIN_EXE_isaforge")])
        .current_dir(here.path())
        .output()
        .expect("there is a shell");
    let errors = String::from_utf8_lossy(&limited.stderr);
    assert!(limited.status.success(), "{errors}");
    assert!(String::from_utf8_lossy(&limited.stdout).contains("42  43"), "{errors}");
}

#[test]
fn a_container_unpacks_to_so_much_and_no_more() {
    // Items of Mesa's cache that claim to unpack to 60 MiB each. 1 GiB has room for 17.
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&[0; 1 << 10]).expect("memory takes it");
    let mut item = b"\x01panfrost\0Mali-G57\0\x08\0\0\0\0\0\0\0\0".to_vec();
    item.resize(item.len().next_multiple_of(4), 0);
    item.extend([0, 0x1234, 60 << 20].map(u32::to_le_bytes).concat());
    item.extend(packed.finish().expect("memory takes it"));
    let record = [&[5; 24][..], &(item.len() as u32).to_le_bytes(), &item].concat();
    let file = [&b"MESA_DB\0\x01\0\0\0........"[..], &record.repeat(40)].concat();
    let here = tempfile::tempdir().expect("a folder");
    fs::write(here.path().join("cache.db"), file).expect("the file is written");
    for command in ["dis", "lint", "graph"] {
        let run = soon(here.path(), &[command, "valhall", "cache.db"], b"").expect(2);
        assert!(run.err.contains("23 parts not unpacked") && run.err.contains("1 GiB"), "{command}: {}", run.err);
    }
}

#[test]
fn a_cache_of_many_parts_is_searched_for_so_long_and_no_longer() {
    // Each instruction is also a length, of 17 MiB of good instructions before a bad one.
    let instruction = 0x0110_c000_0000_0100_u64;
    let mut content = instruction.to_le_bytes().repeat(5 << 19);
    let bad = (instruction >> 32) as usize - 4096;
    content[bad..bad + 8].fill(0xff);
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&content).expect("memory takes it");
    let mut item = b"\x01panfrost\0Mali-G57\0\x08\0\0\0\0\0\0\0\0".to_vec();
    item.extend([0, 0, content.len() as u32].map(u32::to_le_bytes).concat());
    item.extend(packed.finish().expect("memory takes it"));
    let record = [&[5; 24][..], &(item.len() as u32).to_le_bytes(), &item].concat();
    let file = [&b"MESA_DB\0\x01\0\0\0........"[..], &record.repeat(50)].concat();
    let run = soon(Path::new("."), &["dis", "valhall"], &file).expect(2);
    assert!(run.err.contains("50 parts not searched to the end, for time: 0505"), "{}", run.err);
}

#[cfg(unix)]
#[test]
fn a_launch_quotes_no_line_of_a_file_that_a_link_leads_to() {
    let files = [("secret", "root:hunter2\n"), ("real.s", "NOP.end\n")];
    let folder = folder(&files);
    for (name, status) in [("pw.s", 1), ("pw.hex", 1), ("pw.bin", 1), ("linked.s", 0)] {
        let to = if status == 0 { "real.s" } else { "secret" };
        std::os::unix::fs::symlink(to, folder.path().join(name)).expect("a link");
        let launch = format!("isa: valhall\nprogram: {{ file: {name} }}\n");
        fs::write(folder.path().join("launch.yaml"), launch).expect("the file is written");
        let run = soon(folder.path(), &["run", "launch.yaml"], b"").expect(status);
        assert!(!run.err.contains("hunter2"), "{name}: {}", run.err);
        assert_eq!(
            run.err.contains("is a link to a file that is not named like a program"),
            status == 1,
            "{}",
            run.err
        );
    }
}

#[test]
fn a_name_of_a_file_or_an_argument_is_printed_without_what_cannot_be_seen() {
    const SPEC: &str =
        "isa: lamp\nword: 8\nprovenance: document\ninstructions: { A: { doc: x, fixed: { 7..0: 7 } } }\n";
    let files = [
        ("a\u{202e}.yaml", SPEC),
        ("b\u{202e}.yaml", "isa: lamp\n"),
        ("c\u{3164}.s", "MOV.i33 r1, r2\n"),
        ("d\u{202e}.s", "MOV.i32 r1, r2\nNOP.end\n"),
        ("e\u{202e}.hex", "0091c10000000002 1\n"),
        ("f\u{202e}.yaml", "isa: valhall\nprogram: |\n  MOV.i33 r1, r2\n"),
    ];
    let folder = folder(&files);
    for arguments in [
        &["check", "a\u{202e}.yaml"][..],
        &["check", "b\u{202e}.yaml"],
        &["check", "b\u{202e}.yaml", "--json"],
        &["check", "--explain", "E\u{202e}"],
        &["gen", "a\u{202e}.yaml", "-o", "out\u{202e}"],
        &["asm", "valhall", "c\u{3164}.s"],
        &["asm", "valhall", "c\u{3164}.s", "--json"],
        &["asm", "v\u{202e}a", "x"],
        &["asm", "valhall", "missing\u{202e}.s"],
        &["dis", "valhall", "e\u{202e}.hex"],
        &["lint", "valhall", "d\u{202e}.s"],
        &["graph", "valhall", "d\u{202e}.s"],
        &["graph", "valhall", "c\u{3164}.s"],
        &["list", "valhall", "\u{202e}"],
        &["list", "--frob\u{202e}"],
        &["translate", "valhall", "valhall-2021", "c\u{3164}.s"],
        &["run", "f\u{202e}.yaml"],
    ] {
        let run = soon(folder.path(), arguments, b"");
        for hidden in ['\u{202e}', '\u{3164}'] {
            assert!(
                !run.err.contains(hidden) && !run.out().contains(hidden),
                "{arguments:?}: {}{}",
                run.out(),
                run.err
            );
        }
    }
    let run = soon(folder.path(), &["check", "b\u{202e}.yaml", "--json"], b"").expect(1);
    assert!(run.out().contains(r#""file":"b\u202e.yaml""#), "{}", run.out());
}

#[test]
fn a_name_of_megabytes_is_not_printed_whole() {
    let long = "a".repeat(10 << 20);
    let (spec, brackets) = (format!("isa: {long}\n"), "(".repeat(100_000));
    let expression = format!("<isa>\n<expr name=\"#x\">{brackets}</expr>\n<bitset name=\"#i\" size=\"8\">\n");
    let expression = format!(
        "{expression}<pattern low=\"0\" high=\"6\">0000000</pattern>\n<derived name=\"D\" expr=\"#x\" type=\"uint\" width=\"4\"/>\n</bitset></isa>"
    );
    let launch = format!("isa: {long}\nprogram: {long}\n");
    let folder = folder(&[("isa.yaml", &spec), ("isa.xml", &expression), ("launch.yaml", &launch)]);
    for arguments in [["check", "isa.yaml"], ["check", "isa.xml"], ["run", "launch.yaml"]] {
        let run = soon(folder.path(), &arguments, b"");
        assert!((1..20_000).contains(&run.err.len()), "{arguments:?}: {} bytes of messages", run.err.len());
    }
}

#[test]
fn a_crate_does_not_take_a_name_that_code_cannot_use() {
    const SPEC: &str =
        "isa: lamp\nword: 8\nprovenance: document\ninstructions: { A: { doc: x, fixed: { 7..0: 7 } } }\n";
    let folder = folder(&[("lamp.yaml", SPEC)]);
    for name in ["isaforge-core", "core", "std", "test", "fn", "self", "Self"] {
        soon(folder.path(), &["gen", "lamp.yaml", "-o", name], b"").expect(0);
        let read = |file: &str| fs::read_to_string(folder.path().join(name).join(file)).expect("it is written");
        assert!(read("Cargo.toml").contains("name = \"isa-lamp\""), "{}", read("Cargo.toml"));
        assert!(read("src/lib.rs").contains("use isa_lamp::"), "{name}");
    }
}
