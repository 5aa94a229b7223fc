use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use isaforge_corpus::import;
use isaforge_corpus::lake::Lake;
use isaforge_corpus::sets::Known;

use crate::support::{ask, command, fine, made, one, project, refused, shaders, text};

#[test]
fn the_shipped_corpus_is_imported_whole() {
    let listing = text("tests/data/valhall/shaders.tsv.gz");
    let lines: Vec<Vec<&str>> =
        listing.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect()).collect();
    let mut codes: Vec<&str> = lines.iter().map(|fields| fields[4]).collect();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(one(shaders(), "SELECT count(*) FROM origins"), lines.len().to_string());
    assert_eq!(one(shaders(), "SELECT count(*) FROM programs"), codes.len().to_string());
    let words: usize = codes.iter().map(|code| code.split(' ').filter(|word| !word.is_empty()).count()).sum();
    assert_eq!(one(shaders(), "SELECT sum(words) FROM programs"), words.to_string());
    assert_eq!(one(shaders(), "SELECT count(*) FROM instructions"), words.to_string());
    let [name, stage, source] = [lines[0][2], lines[0][3], lines[0][1]];
    let sql = format!("SELECT source, isa_text(code), isa FROM programs WHERE name = '{name}' AND stage = '{stage}'");
    let row = &ask(shaders(), &sql)[0];
    assert_eq!((row[0].as_str(), row[2].as_str()), (source, "valhall"));
    assert_eq!(row[1].lines().filter(|line| !line.ends_with(':')).count(), lines[0][4].split(' ').count());
}

#[test]
fn what_the_lake_has_is_not_added_again() {
    let path = project("tests/data/valhall/shaders.tsv.gz");
    let (_folder, lake) = made("valhall", &[&path]);
    let files = || fs::read_dir(format!("{lake}/programs")).unwrap().count();
    let (before, programs) = (files(), one(&lake, "SELECT count(*) FROM programs"));
    let (_, said) = fine(&["import", "--isa", "valhall", path.to_str().unwrap(), "-o", &lake]);
    assert!(said.contains("2,499 programs in 1 file, 0 new"), "{said}");
    assert_eq!((files(), one(&lake, "SELECT count(*) FROM programs")), (before, programs));
}

#[test]
fn every_form_of_code_is_the_same_program() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join("in").join(name);
    fs::create_dir_all(at("deep/er")).unwrap();
    let words = [0x0090_c000_0019_003c_u64, 0x0091_c100_0000_0002];
    let raw: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let pairs: Vec<String> = raw.iter().map(|byte| format!("{byte:02x}")).collect();
    fs::write(at("raw.bin"), &raw).unwrap();
    fs::write(at("numbers.hex"), "0090c0000019003c\n0091c10000000002\n").unwrap();
    fs::write(at("deep/er/xxd.frag.txt"), format!("00000000: {}  ..\n", pairs.join(" "))).unwrap();
    fs::write(at("text.s"), "U32_TO_F32 r0, r60\nMOV.i32 r1, r2\n").unwrap();
    fs::write(at("array.h"), "const uint64_t code[] = { 0x0090c0000019003cull, 0x0091c10000000002 };\n").unwrap();
    fs::write(
        at("many.tsv"),
        "# name\tstage\twords\na\tvertex\t0090c0000019003c 0091c10000000002\nb\t\t0091c10000000002\n",
    )
    .unwrap();
    fs::write(
        at("objects.jsonl"),
        "{\"name\":\"c\",\"stage\":\"compute\",\"words\":[\"0090c0000019003c\",\"0091c10000000002\"]}\n",
    )
    .unwrap();
    let log = format!(
        "shader: MESA_SHADER_FRAGMENT\nname: GLSL3\nblock block_0:\n{}    U32_TO_F32 r0, r60\n\n{}    MOV.i32 r1, r2\n\n\
         shaders/1.shader_test - MESA_SHADER_FRAGMENT shader: 2 inst, 0 loops\n",
        pairs[..8].join(" "),
        pairs[8..].join(" ")
    );
    fs::write(at("db.log"), log).unwrap();
    let lake = folder.path().join("lake").display().to_string();
    let (_, said) = fine(&["import", "--isa", "valhall", at("").to_str().unwrap(), "-o", &lake]);
    assert!(said.contains("9 programs in 8 files, 2 new"), "{said}");
    let rows = ask(
        &lake,
        "SELECT name, stage FROM origins WHERE hash = (SELECT hash FROM programs WHERE words = 2) ORDER BY name",
    );
    let rows: Vec<(&str, &str)> = rows.iter().map(|row| (row[0].as_str(), row[1].as_str())).collect();
    let expected = [
        ("a", "vertex"),
        ("array.h", ""),
        ("c", "compute"),
        ("deep/er/xxd.frag.txt", "fragment"),
        ("numbers.hex", ""),
        ("raw.bin", ""),
        ("shaders/1.shader_test", "fragment"),
        ("text.s", ""),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn a_container_holds_as_many_programs_as_it_has_shaders() {
    // Output of Arm's offline compiler: a block with a size, a version, and blocks with code.
    let block = |word: u64| [&b"OBJC"[..], &8u32.to_le_bytes(), &word.to_le_bytes()].concat();
    let blocks = [block(0x0091_c100_0000_0002), block(0x0091_c200_0000_0003)].concat();
    let file = [&b"MBS2"[..], &(blocks.len() as u32 + 4).to_le_bytes(), &1u32.to_le_bytes(), &blocks].concat();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.mbs");
    fs::write(&path, file).unwrap();
    let (_folder, lake) = made("valhall", &[&path]);
    let rows = ask(&lake, "SELECT program, text FROM instructions ORDER BY program");
    let texts: Vec<&str> = rows.iter().map(|row| row[1].as_str()).collect();
    assert_eq!(texts, ["MOV.i32 r1, r2", "MOV.i32 r2, r3"]);
    assert!(rows.iter().all(|row| row[0].starts_with("two.mbs: ")), "{rows:?}");
}

#[test]
fn databases_and_caches_hold_as_many_programs_as_they_have_shaders() {
    let numbers = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    // An item in Mesa's cache for Panfrost: the size of the shader, its code, and its metadata.
    let item = |word: u64| {
        let content = [&numbers(&[8])[..], &word.to_le_bytes(), &[7; 40]].concat();
        let mut item = [b"\x01panfrost\0Mali-G57\0\x08".as_slice(), &[0; 8]].concat();
        item.resize(item.len().next_multiple_of(4), 0);
        [item, numbers(&[0, 0x1234, content.len() as u32]), content].concat()
    };
    let items = [item(0x0091_c100_0000_0002), item(0x0091_c200_0000_0003)];
    let mut fossils = b"\x81FOSSILIZEDB\0\0\0\x06".to_vec();
    let mut database = [b"MESA_DB\0".as_slice(), &numbers(&[1, 7, 8])].concat();
    for (key, item) in (0xa1u8..).zip(&items) {
        let size = item.len() as u32;
        fossils.extend([format!("{key:02x}").repeat(20).as_bytes(), &numbers(&[size, 1, 0, size]), item].concat());
        database.extend([&[key; 20], &numbers(&[0, size])[..], item].concat());
    }
    // An item from an application is not machine code: it is skipped, while the shaders next to it are imported.
    fossils.extend(format!("{}04{}", "0".repeat(22), "0123456789abcdef").bytes());
    fossils.extend([numbers(&[8, 1, 0, 8]), b"\x03\x02\x23\x07more".to_vec()].concat());
    let content = [&[7; 20][..], &numbers(&[8]), &0x0091_c300_0000_0004_u64.to_le_bytes(), &numbers(&[0, 0])].concat();
    let mut cache = numbers(&[32, 1, 0x13b5, 0x9091, 1, 2, 3, 4, 1, u32::MAX, 5, content.len() as u32]);
    cache.extend([0xaa; 5]);
    cache.resize(cache.len().next_multiple_of(8), 0);
    cache.extend(content);
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join("in").join(name);
    fs::create_dir(at("")).unwrap();
    fs::write(at("mesa.foz"), &fossils).unwrap();
    fs::write(at("mesa_cache.db"), database).unwrap();
    fs::write(at("item"), &items[0]).unwrap();
    fs::write(at("pipelines.bin"), cache).unwrap();
    // A database that contains only SPIR-V has no code of the set, and is reported.
    let spirv = fossils[..16].iter().chain(&fossils[fossils.len() - 64..]).copied().collect::<Vec<u8>>();
    fs::write(at("steam.foz"), spirv).unwrap();
    let lake = folder.path().join("lake").display().to_string();
    let said = refused(&["import", "--isa", "valhall", at("").to_str().unwrap(), "-o", &lake], 1);
    assert!(said.contains("6 programs in 5 files, 3 new"), "{said}");
    assert!(said.contains("steam.foz` is a Fossilize database, and holds no code of this instruction set"), "{said}");
    let key = |digits: &str| digits.repeat(20);
    let rows = ask(
        &lake,
        "SELECT split_part(o.name, ' at ', 1), isa_text(p.code) FROM origins o JOIN programs p USING (hash) ORDER BY 1",
    );
    let expected = [
        ("item".to_owned(), "MOV.i32 r1, r2\n"),
        (format!("mesa.foz: {}", key("a1")), "MOV.i32 r1, r2\n"),
        (format!("mesa.foz: {}", key("a2")), "MOV.i32 r2, r3\n"),
        (format!("mesa_cache.db: {}", key("a1")), "MOV.i32 r1, r2\n"),
        (format!("mesa_cache.db: {}", key("a2")), "MOV.i32 r2, r3\n"),
        ("pipelines.bin".to_owned(), "MOV.i32 r3, r4\n"),
    ];
    let found: Vec<(String, &str)> = rows.iter().map(|row| (row[0].clone(), row[1].as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn an_import_that_was_killed_goes_on() {
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in");
    fs::create_dir_all(&input).unwrap();
    for number in 0..400u64 {
        let words: Vec<u8> =
            (0..200).flat_map(|at| (0x0110_c000_0000_00c0 | (number * 200 + at) << 8).to_le_bytes()).collect();
        fs::write(input.join(format!("{number:03}.bin")), words).unwrap();
    }
    let lake = folder.path().join("lake").display().to_string();
    let arguments = ["import", "--isa", "valhall", input.to_str().unwrap(), "-o", &lake];
    let mut child =
        Command::new(env!("CARGO_BIN_EXE_isaforge-corpus")).args(arguments).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(80));
    child.kill().unwrap();
    child.wait().unwrap();
    fine(&arguments);
    let count = |sql: &str| one(&lake, sql);
    assert_eq!(count("SELECT count(*) FROM programs"), count("SELECT count(DISTINCT hash) FROM programs"));
    assert_eq!(count("SELECT count(*) FROM origins"), "400");
    assert_eq!(count("SELECT count(*) FROM instructions"), "80000");
}

#[test]
fn a_lake_has_any_path() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p.hex");
    fs::create_dir(folder.path().join("below")).unwrap();
    let names = ["a b", "a%20b", "a#b", "a?b", r"a\b", "a[b]*", "ä", "below/../c"];
    for (number, name) in (1..).zip(names) {
        let words = (0..number).map(|register| format!("{:016x}\n", 0x0091_c100_0000_0002_u64 | register << 40));
        fs::write(&file, words.collect::<String>()).unwrap();
        let lake = format!("{}/{name}/", folder.path().display());
        fine(&["import", "-q", "--isa", "valhall", file.to_str().unwrap(), "-o", &lake]);
        for lake in [lake.as_str(), lake.trim_end_matches('/')] {
            assert_eq!(one(lake, "SELECT words FROM programs"), number.to_string(), "{lake}");
            assert_eq!(one(lake, "SELECT count(*) FROM instructions"), number.to_string(), "{lake}");
        }
    }
    let nowhere = format!("{}/none/../c", folder.path().display());
    assert!(refused(&["query", &nowhere, "SELECT 1"], 2).contains("a folder before `..` does not exist"));
}

#[test]
fn only_one_process_writes_to_a_lake() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().unwrap();
    let lake = folder.path().join("lake").display().to_string();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let lock = runtime.block_on(Lake::at(&lake).unwrap().lock(|| true)).unwrap();
    assert!(lock.is_some() && runtime.block_on(Lake::at(&lake).unwrap().lock(|| true)).unwrap().is_none());
    let mut child = Command::new(env!("CARGO_BIN_EXE_isaforge-corpus"))
        .args([
            "import",
            "--isa",
            "valhall",
            project("tests/data/valhall/shaders.tsv.gz").to_str().unwrap(),
            "-o",
            &lake,
        ])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(said.next().unwrap().unwrap().contains("waiting for another process that writes to it"));
    drop(lock);
    assert!(child.wait().unwrap().success());
    assert_eq!(one(&lake, "SELECT count(*) FROM origins"), "2499");
}

#[test]
fn an_interrupted_import_says_so_and_goes_on() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let folder = tempfile::tempdir().unwrap();
    let lake = Lake::at(folder.path().to_str().unwrap()).unwrap();
    let known = Known::open(Path::new("valhall"), None).unwrap();
    let paths = [project("tests/data/valhall/shaders.tsv.gz")];
    let import = |interrupted| {
        let request = import::Request { known: &known, paths: &paths, progress: false, interrupted };
        tokio::runtime::Runtime::new().unwrap().block_on(import::import(&lake, &request)).unwrap()
    };
    // In the only file.
    let summary = import(|| ASKED.fetch_add(1, Ordering::Relaxed) >= 100);
    assert!(summary.interrupted && (50..101).contains(&summary.found), "{summary:?}");
    let summary = import(|| false);
    assert!(!summary.interrupted && summary.found == 2499, "{summary:?}");
    assert_eq!(one(&lake.name, "SELECT count(*) FROM origins"), "2499");
    assert_eq!(one(&lake.name, "SELECT count(*) - count(DISTINCT hash) FROM programs"), "0");
}

#[test]
fn objects_are_programs_in_lists_and_in_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p.json");
    let [one, other] = ["0091c10000000002", "0091c20000000003"];
    let memory = "03 00 00 00 00 c2 91 00";
    for text in [
        format!(r#"[{{"name":"a","words":["{one}"]}},{{"name":"b","words":"{other}"}}]"#),
        format!("{{\"name\":\"a\",\"words\":[\"{one}\"]}}\n{{\"name\":\"b\",\"bytes\":\"{memory}\"}}\n"),
        format!(
            "[\n {{\n  \"name\": \"a\",\n  \"words\": \"{one}\"\n }},\n {{ \"name\": \"b\", \"bytes\": \"{memory}\" }}\n]"
        ),
    ] {
        fs::write(&file, &text).unwrap();
        let (_lake, lake) = made("valhall", &[&file]);
        let rows = ask(&lake, "SELECT program, text FROM instructions ORDER BY program");
        assert_eq!(rows, [["a", "MOV.i32 r1, r2"], ["b", "MOV.i32 r2, r3"]], "{text}");
    }
}

#[test]
fn assembly_is_read_in_every_form() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().unwrap();
    let text = "loop:\nMOV.i32 r1, r2\nBRANCHZ r1, loop\n";
    let [zipped, plain] = ["p.s.gz", "p.S"].map(|name| folder.path().join(name));
    fs::write(&plain, text).unwrap();
    fs::write(zipped.with_extension(""), text).unwrap();
    assert!(Command::new("gzip").arg(zipped.with_extension("")).status().unwrap().success());
    for path in [&zipped, &plain] {
        let (_lake, lake) = made("valhall", &[path]);
        assert_eq!(one(&lake, "SELECT count(*) FROM instructions WHERE error IS NULL"), "2", "{path:?}");
    }
    let lake = folder.path().join("lake").display().to_string();
    let mut child = Command::new(env!("CARGO_BIN_EXE_isaforge-corpus"))
        .args(["import", "-q", "--isa", "valhall", "-", "-o", &lake])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(one(&lake, "SELECT count(*) FROM instructions"), "2");
}

#[test]
fn standard_input_is_a_program() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().unwrap();
    let lake = folder.path().join("lake").display().to_string();
    let mut child = Command::new(env!("CARGO_BIN_EXE_isaforge-corpus"))
        .args(["import", "--isa", "valhall", "-", "-o", &lake])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"0091c10000000002\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(ask(&lake, "SELECT program, text FROM instructions"), [["<stdin>", "MOV.i32 r1, r2"]]);
}

#[test]
fn wrong_sets_and_lakes_are_named() {
    assert!(refused(&["import", "--isa", "valhal", "x", "-o", "y"], 2).contains("did you mean `valhall`?"));
    assert!(refused(&["query", "/nowhere", "SELECT 1"], 2).contains("`/nowhere` is not a lake"));
    assert!(command(&["import"]).status.code() == Some(2));
}
