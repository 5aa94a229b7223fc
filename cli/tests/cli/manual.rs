use super::*;

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const TINY: &str = "isa: tiny\nword: 8\ninstructions: { HALT: { title: stops, fixed: { 7..0: 0 } } }\n";

#[test]
fn a_manual_of_a_name_or_of_a_specification_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let written = isaforge_in(folder.path(), &["manual", "vpu", "-o", "vpu"], b"").expect(0);
    assert!(written.err.contains("vpu/index.html"), "{}", written.err);
    let page = fs::read_to_string(folder.path().join("vpu/i/addfloat16.html")).expect("a page");
    assert!(page.contains("AddFloat16") && page.contains("manual.css"), "{page}");

    fs::write(folder.path().join("tiny.yaml"), TINY).expect("a specification");
    isaforge_in(folder.path(), &["manual", "tiny.yaml", "-o", "tiny"], b"").expect(0);
    let page = fs::read_to_string(folder.path().join("tiny/i/halt.html")).expect("a page");
    assert!(page.contains("stops") && page.contains("0 0 0 0 0 0 0 0"), "{page}");
}

#[test]
fn a_manual_says_what_changed_since_another_revision() {
    let folder = tempfile::tempdir().expect("a folder");
    isaforge_in(folder.path(), &["manual", "valhall", "-o", "new", "--since", "valhall-2021"], b"").expect(0);
    let page = fs::read_to_string(folder.path().join("new/since.html")).expect("a page");
    assert!(page.contains("Changes since valhall-2021"), "{page}");
    let refused = isaforge_in(folder.path(), &["manual", "usc", "-o", "usc", "--since", "valhall"], b"").expect(2);
    assert!(refused.err.contains("cannot be compared"), "{}", refused.err);
}

/// One document per reader: isaspec, Mesa's Bifrost, SPIR-V, AMD, LLVM, RISC-V, Arm.
#[test]
fn documents_of_others_get_a_manual() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../compiler/tests/data");
    for (document, generation) in [
        ("isaspec/loom.xml", "6"),
        ("bifrost.xml", "fma"),
        ("spirv.json", ""),
        ("amd.xml", ""),
        ("amdgpu.jsonl", "gfx1100"),
        ("riscv-unified-db", "rv32"),
        ("arm/v10.yaml", ""),
    ] {
        let path = data.join(document).display().to_string();
        let mut arguments = vec!["manual", path.as_str(), "-o", "out"];
        if !generation.is_empty() {
            arguments.extend(["--generation", generation]);
        }
        isaforge_in(folder.path(), &arguments, b"").expect(0);
        let out = folder.path().join("out");
        let pages = fs::read_dir(out.join("i")).expect("pages of instructions").count();
        let index = fs::read_to_string(out.join("index.html")).expect("a first page");
        assert!(pages > 0 && index.matches("href=\"i/").count() == pages, "{document}: {pages} pages");
        assert!(out.join("engine.js").exists(), "{document}");
        let mut list = vec!["list", "--json", "--spec", path.as_str()];
        list.extend(&arguments[4..]);
        assert_eq!(isaforge(&list).expect(0).out().lines().count(), pages, "{document}: of this generation alone");
        fs::remove_dir_all(out).expect("the folder was there");
    }
}

#[test]
fn what_is_no_set_and_no_file_gets_no_manual() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = isaforge_in(folder.path(), &["manual", "valhal", "-o", "out"], b"").expect(2);
    assert!(refused.err.contains("did you mean `valhall`?"), "{}", refused.err);
    assert!(!folder.path().join("out").exists());
    fs::write(folder.path().join("bad.yaml"), "isa: bad\nword: 8\ninstructionz: {}\n").expect("a specification");
    isaforge_in(folder.path(), &["manual", "bad.yaml", "-o", "out"], b"").expect(1);
    isaforge_in(folder.path(), &["manual", "vpu"], b"").expect(2);
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

#[test]
fn a_served_manual_follows_its_specification() {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = folder.path().join("tiny.yaml");
    fs::write(&spec, TINY).expect("a specification");
    let mut child = Command::new(env!("CARGO_BIN_EXE_isaforge"))
        .args(["manual", "tiny.yaml", "--serve", "0"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let messages = BufReader::new(child.stderr.take().expect("messages"));
    let mut lines = messages.lines().map_while(Result::ok);
    let line = lines.by_ref().find(|line| line.contains("http://")).expect("an address");
    let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).expect("an address").to_owned();
    assert!(get(&address, "/").contains("HALT"));
    assert!(get(&address, "/i/halt.html").starts_with("HTTP/1.1 200"));
    assert!(get(&address, "/../tiny.yaml").starts_with("HTTP/1.1 404"));
    let before = get(&address, "/edition");
    // The watch may start shortly after the address is printed, so the text differs each time.
    let start = Instant::now();
    for round in 0.. {
        fs::write(&spec, TINY.replace("stops", &format!("ends {round}"))).expect("a specification");
        std::thread::sleep(Duration::from_millis(500));
        if get(&address, "/i/halt.html").contains("ends") {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "the edit is not shown");
    }
    assert_ne!(get(&address, "/edition"), before);
    child.kill().expect("it ends");
    child.wait().expect("it ends");
}
