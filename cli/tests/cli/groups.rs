//! The commands on instruction sets of groups.

use isaforge_usc::{
    Alu, AluOp, Body, BuildError, Header, Iss, Lower, MainOporg, MainW1pW0p, Parts, Regbank, Single, SnglOp, Upper,
};

use super::*;

/// Two groups compiled by Mesa, and one of the vendor that ends a program.
const GROUPS: &str = "36 82 00 c0 c0 4b 02 44 00 00 49 ff\n56a000b004c4401 0c04000ff\n44a0800500 0000ff\n";

#[test]
fn bytes_become_a_program_and_back() {
    let run = isaforge_with(&["dis", "usc"], GROUPS).expect(0);
    assert!(run.out().starts_with("0 : fmad ft0, r0, c75, r4\n    mov r9, ft0\n"), "{}", run.out());
    let hex: String = GROUPS.split_whitespace().collect();
    let back = isaforge_with(&["asm", "usc"], run.out()).expect(0);
    assert_eq!(back.out().split_whitespace().collect::<String>(), hex);
    let raw = isaforge_with(&["asm", "usc", "--out", "bin"], run.out()).expect(0).out;
    assert_eq!(raw.len(), hex.len() / 2);
    assert_eq!(isaforge_with(&["dis", "usc", "--in", "bin"], raw).expect(0).out(), run.out());
    let spec = isaforge_with(&["dis", "--spec", "../specs/usc", "-"], GROUPS).expect(0);
    assert_eq!(spec.out(), run.out(), "the specification says what the generated crate does");
}

#[test]
fn bytes_that_are_no_group_stay_in_the_text() {
    let hex = "44a08005000000ff\n44a0800500000000\n3682\n56a000b004c44010c04000ff\n";
    let run = isaforge_with(&["dis", "usc"], hex).expect(1);
    let reason = ".byte 0x44 0xa0 0x80 0x05 0x00 0x00 0x00 0x00   # byte 7: padding must be 0xff, found 0x00\n";
    assert!(run.out().contains(reason), "{}", run.out());
    let back = isaforge_with(&["asm", "usc"], run.out()).expect(0);
    assert_eq!(back.out().split_whitespace().collect::<String>(), hex.replace('\n', ""));
    let table = isaforge_with(&["dis", "usc", "--tsv"], hex).expect(1);
    let rows: Vec<Vec<&str>> = table.out().lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[0], ["44a08005000000ff", "ok", "end | uvsw.emit.endtask"]);
    assert_eq!(rows[1], ["44a0800500000000", "invalid", "byte 7: padding must be 0xff, found 0x00"]);
    assert_eq!((rows[2][1], rows[3][1], rows.len()), ("invalid", "ok", 4));
}

#[test]
fn every_row_of_a_table_is_assembled_to_its_bytes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut programs = String::new();
    for name in ["img-groups", "pco-multiphase-groups", "pco-random-groups", "pco-shader-groups"] {
        let path = root.join(format!("compiler/tests/data/usc/{name}.txt"));
        programs.push_str(&fs::read_to_string(path).expect("it is there"));
    }
    let packed = fs::read(root.join("runtime/tests/data/usc/programs.jsonl.gz")).expect("it is there");
    let mut lines = String::new();
    std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(&packed[..]), &mut lines)
        .expect("it is packed");
    for line in lines.lines() {
        let program: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
        programs.push_str(&format!("{}\n", program["bytes"].as_str().expect("a text")));
    }
    let table = isaforge_with(&["dis", "usc", "--tsv", "--exact"], &programs);
    let rows: Vec<Vec<&str>> = table.out().lines().map(|line| line.split('\t').collect()).collect();
    assert!(rows.len() > 1000 && rows.iter().any(|row| row[2].starts_with("end")), "{}", rows.len());
    let back = isaforge_with(&["asm", "usc", "--tsv", "--order", "memory"], table.out());
    assert_eq!(back.out().lines().count(), rows.len());
    for (row, back) in rows.iter().zip(back.out().lines()).filter(|(row, _)| row[1] == "ok") {
        assert_eq!(back, row[0], "{}", row[2]);
    }
    // The text column alone gives the same result.
    let texts: String = rows.iter().filter(|row| row[1] == "ok").map(|row| format!("{}\n", row[2])).collect();
    let back = isaforge_with(&["asm", "usc", "--tsv", "--order", "memory"], &texts).expect(0);
    let bytes: String = rows.iter().filter(|row| row[1] == "ok").map(|row| format!("{}\n", row[0])).collect();
    assert!(back.out() == bytes);
}

#[test]
fn mistakes_have_a_place_and_nothing_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out.hex");
    let out = out.to_str().expect("the path is text");
    let text = "0 : fadd ft0, r0\n1 : fad ft0, r0, r1\n2 : br nowhere\n3 : fsqrt r0, r1\n";
    let run = isaforge_with(&["asm", "usc", "-", "-o", out], text).expect(1);
    for message in [
        "<stdin>:1:5: error: these are not the operands of `fadd`",
        "<stdin>:2:5: error: unknown operation `fad ft0, r0, r1`",
        "<stdin>:3:8: error: there is no label `nowhere`",
        "<stdin>:4:5: error: ",
        "error: 4 mistakes",
    ] {
        assert!(run.err.contains(message), "{message}\n{}", run.err);
    }
    assert!(run.err.contains("no public encoding"), "{}", run.err);
    assert!(!Path::new(out).exists());
}

#[test]
fn every_record_and_operation_of_a_group_is_explained() {
    let run = isaforge(&["explain", "usc", "368200c0c04b02440000 49ff"]).expect(0);
    for text in
        ["bytes 0..2 header (main)", "byte 3 p0 (fmad)", "bytes 4..7 lower (3lo_2b7i_2b7i_2b6i_2m)", "FMAD", "padding"]
    {
        assert!(run.out().contains(text), "{text}\n{}", run.out());
    }
    assert!(run.out().contains("reads     r0 (S0), c75 (S1), r4 (S2)"), "{}", run.out());
    assert!(run.out().contains("main.yaml:"), "{}", run.out());
    let same = isaforge(&["explain", "usc", "fmad ft0, r0, c75, r4 | mov r9, ft0"]).expect(0);
    assert!(same.out().contains("byte 2 p0 (fmad)"), "{}", same.out());
    assert!(isaforge(&["explain", "usc", "FMAD"]).expect(0).out().contains("{.sat} ft0, <S0>"));
    assert!(isaforge(&["explain", "usc", "fsqrt"]).expect(0).out().contains("no public encoding"));
    assert!(isaforge(&["explain", "usc", "36820000"]).expect(1).out().contains("not a group"));
}

#[test]
fn an_operation_of_a_group_says_what_it_does() {
    let text = "0 : fmad.sat ft0, r5.abs.neg, r1, r9 | mov r0, ft0";
    let whole = "\n  does      T = saturated(fma(first(), second(), third()))\n";
    let here = "\n  here      let a = fma(-abs(S0 as f32), S1 as f32, S2 as f32)\n            \
                W0 = (if 0.0 < a { if a < 1.0 { a } else { 1.0 } } else { 0.0 }) as u32\n";
    let run = isaforge(&["explain", "usc", text]).expect(0);
    assert!(run.out().contains(whole) && run.out().contains(here), "{}", run.out());
    let plain = isaforge(&["explain", "usc", "0 : fmad ft0, r5, r1, r9 | mov r0, ft0"]).expect(0);
    let here = "\n  here      W0 = fma(S0 as f32, S1 as f32, S2 as f32) as u32\n";
    assert!(plain.out().contains(whole) && plain.out().contains(here), "{}", plain.out());
    // The data path of an example is not what the user asked for.
    let named = isaforge(&["explain", "usc", "FMAD"]).expect(0);
    assert!(named.out().contains(whole) && !named.out().contains("\n  here "), "{}", named.out());
    for operation in isaforge_usc::Operation::ALL {
        let name = operation.info().name;
        let run = isaforge(&["explain", "usc", name]).expect(0);
        assert!(run.out().contains("\n  does      "), "{name}\n{}", run.out());
    }
}

#[test]
fn fields_of_operations_show_what_they_change() {
    let sat = isaforge(&["explain", "usc", "FMAD", "sat"]).expect(0);
    assert!(sat.out().contains("fmad.sat ft0") && sat.out().contains("T = (if 0.0 < a "), "{}", sat.out());
    assert!(sat.out().contains("T = fma(A as f32, B as f32, C as f32) as u32"), "{}", sat.out());
    let object = json::objects(&isaforge(&["explain", "usc", "FMAD", "sat", "--json"]).expect(0)).remove(0);
    assert!(object["values"][1]["operation"].as_str().is_some_and(|text| text.contains("T = ")), "{object}");
}

#[test]
fn recorded_groups_records_and_programs_are_replayed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, content: &str| {
        let path = folder.path().join(name);
        fs::write(&path, content).expect("the file is written");
        path.to_str().expect("the path is text").to_owned()
    };
    let groups = file("groups.tsv", "file\thex\nx\t44 a0 80 05 00 00 00 ff\nx\t44 a0 80 05 00 00 00 00\n");
    let heading = "source\trecord\tfields\thex_mesa\thex_corrected\n";
    let rows = "m\tmain.fmad\ts0neg=1 s0abs=0 s2neg=0 sat=1\tc9\tc9\nm\tctrl.lapc\t\t\t\nm\tmain.sngl\tsngl_op=gamma\t86\t86\n\
        m\tmain.fmad\ts0neg=0 s0abs=0 s2neg=0 sat=1\tc9\tc9\n";
    let records = file("records.tsv", &format!("{heading}{rows}"));
    let programs = file("programs.jsonl", "{\"bytes\": \"44a08005000000ff\"}\n");
    let hex = file("program.hex", "44 a0 80 05 00 00 00 ff");
    let run = isaforge(&["conform", "usc", &groups, &records, &programs, &hex, "--failures", "2"]).expect(1);
    let counts: Vec<&str> = run.out().lines().filter_map(|line| line.split_once(": ")).map(|(_, rest)| rest).collect();
    assert!(run.out().contains("groups.tsv: 1 passed, 1 failed"), "{}", run.out());
    assert!(run.out().contains("records.tsv: 3 passed, 1 failed"), "{counts:?}");
    assert!(run.out().contains("`s0neg` is read as 1, not as 0"), "{}", run.out());
    assert!(run.out().ends_with("6 passed, 2 failed\n"), "{}", run.out());
}

/// The specification of USC with a text of one of its files replaced.
fn changed_usc(file: &str, from: &str, to: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    for entry in fs::read_dir("../specs/usc").expect("the specification is there") {
        let path = entry.expect("a file").path();
        let text = fs::read_to_string(&path).expect("the file is text");
        let own = path.file_name().expect("a name");
        let text = if own == file { text.replace(from, to) } else { text };
        fs::write(folder.path().join(own), text).expect("the file is written");
    }
    let spec = folder.path().to_str().expect("the path is text").to_owned();
    (folder, spec)
}

#[test]
fn revisions_of_groups_are_compared_with_the_exit_status_of_other_sets() {
    let run = isaforge(&["diff", "usc", "../specs/usc"]).expect(0);
    assert!(run.out().contains("Old binaries decode the same (proved for every instruction)."), "{}", run.out());
    assert!(run.out().contains(" 0 affected, 160 the same; definitions: 0 differ"), "{}", run.out());
    let (_folder, does) = changed_usc("operations-bitwise.yaml", "ft5 = ft4 >> S4", "ft5 = ft4 << S4");
    let run = isaforge(&["diff", "usc", &does]).expect(0);
    assert!(run.out().contains("1 instruction does something else."), "{}", run.out());
    let (_folder, text) = changed_usc("operations-bitwise.yaml", "\"rev ft2, {S2}\"", "\"bitrev ft2, {S2}\"");
    let run = isaforge(&["diff", "usc", &text, "--format", "json"]).expect(1);
    let json: serde_json::Value = serde_json::from_str(run.out()).expect("it is JSON");
    assert_eq!(json["decoding"], serde_json::json!({ "alike": 159, "different": 1, "unproven": 0 }));
    let entry = &json["instructions"][0];
    assert_eq!((&entry["name"], &entry["decoding"]), (&"REV".into(), &"different".into()));
    assert_eq!(entry["changes"][0]["new"], "`bitrev ft2, {S2}`");
    assert_eq!(entry["old"]["mask"].as_str().map(str::len), Some(64));
    let run = isaforge(&["diff", "usc", &text, "--format", "markdown"]).expect(1);
    assert!(run.out().contains("- `REV`\n  - syntax changed: "), "{}", run.out());
    let (_folder, wrong) = changed_usc("isa.yaml", "choice: header", "choice: nothing");
    isaforge(&["diff", "usc", &wrong]).expect(2);
}

#[test]
fn groups_are_compared_with_groups_only_and_not_translated() {
    for arguments in
        [&["diff", "usc", "valhall"][..], &["diff", "valhall", "../specs/usc"], &["translate", "usc", "usc"]]
    {
        let run = isaforge(arguments).expect(2);
        assert!(run.err.contains("are groups of bytes"), "{}", run.err);
        assert!(run.err.contains("groups are compared with groups by `diff`, and not translated"), "{}", run.err);
    }
    assert!(isaforge(&["check", "../specs/usc"]).expect(0).out().contains(" operations, "));
    assert!(isaforge(&["isas"]).expect(0).out().contains("\nusc "));
}

#[test]
fn runs_of_recorded_programs_are_replayed_and_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("programs.jsonl");
    // Adds 1 to a vertex input: `smadd32` and a write that ends the task, as assembled by the command.
    let text =
        "0 : end\n    smadd32 ft0, vi0, c1, c1, _\n    mov ft0.e0.e1.e2.e3, ft0\n    uvsw.write.emit.endtask ft0, 0\n";
    let bytes: String = isaforge_with(&["asm", "usc"], text).expect(0).out().split_whitespace().collect();
    let run = |input: &str, wanted: &str| {
        format!(
            "{{\"inputs\": {{\"vi0\": \"{input}\"}}, \"shared\": {{}}, \
             \"expect\": [{{\"output\": 0, \"hex32\": \"{wanted}\", \"tolerance\": 0}}]}}"
        )
    };
    let runs = [run("00000001", "00000002"), run("ffffffff", "00000000"), run("00000001", "00000003")].join(", ");
    let outputs = "[{\"via\": \"uvsw.write\", \"address\": 0}]";
    let line = format!("{{\"name\": \"add\", \"bytes\": \"{bytes}\", \"outputs\": {outputs}, \"runs\": [{runs}]}}\n");
    fs::write(&path, line).expect("the file is written");
    let path = path.to_str().expect("the path is text");
    let run = isaforge(&["conform", "usc", path, "--failures", "3"]).expect(1);
    assert!(run.out().ends_with("2 passed, 1 failed\n"), "{}", run.out());
    assert!(run.out().contains("add, run 2: output 0: 00000002"), "{}", run.out());
}

#[test]
fn a_group_is_built_from_parts_that_go_together() {
    let p0 = Alu { op: AluOp::Sngl, sngl_op: SnglOp::Byp, ..Alu::default() };
    let body = Body::Main {
        oporg: MainOporg::P0 { p0 },
        w1p_w0p: MainW1pW0p::W0p { w0: Single { db: Regbank::Temp, d: 7 } },
        lower: Lower { sb0: Regbank::Shared, s0: 3, ..Lower::default() },
        upper: Upper::default(),
        iss: Iss::default(),
    };
    let parts = Parts::of(Header::default(), body);
    let group = parts.encode().expect("a group");
    assert_eq!(group.to_string(), "mbyp ft0, sh3 | mov r7, ft0");
    assert_eq!(group.parts().body(), Some(body));
    // Parts combined by hand may be incompatible; this is detected, and encoding them is an error.
    let alone = Parts { p0: None, p1: Some(p0), ..parts };
    assert_eq!(alone.body(), None);
    assert_eq!(alone.encode(), Err(BuildError::Parts { slot: "p1" }));
    let none = "fsqrt r0, sh1.abs".parse::<Parts>().expect("parts");
    assert_eq!(none.to_string(), "fsqrt r0, sh1.abs");
    assert!(matches!(none.encode(), Err(BuildError::NoEncoding { operation: "FSQRT", .. })));
    // The operations that drive the results are kept, too.
    let driven = "converttof64.f32 ft0, ft2, sh0@S0 | mov r0, ft0 | mov r1, ft2";
    assert_eq!(driven.parse::<Parts>().expect("parts").to_string(), driven);
}

#[test]
fn the_wire_behind_a_64_bit_sum_is_its_high_word() {
    let text = "0 : end\n    add64 ft0, r0, r1, r2, r3, _\n    mov r4, ft0\n    mov r5, fte\n";
    let hex = isaforge_with(&["asm", "usc"], text).expect(0).out().to_owned();
    let back = isaforge_with(&["dis", "usc"], hex).expect(0);
    assert!(back.out().contains("mov r5, fte"), "{}", back.out());
}

#[test]
fn what_ends_the_task_ends_the_flow() {
    let text = "0 : uvsw.emit.endtask\n1 : nop.end\n";
    let hex = isaforge_with(&["asm", "usc"], text).expect(0).out().to_owned();
    let first = isaforge_with(&["dis", "usc", "--json"], hex).expect(0).out().lines().next().unwrap().to_owned();
    let first: serde_json::Value = serde_json::from_str(&first).unwrap();
    assert_eq!((&first["flow"]["kind"], &first["flow"]["conditional"]), (&"end".into(), &false.into()), "{first}");
}

#[test]
fn a_write_behind_a_repeated_pack_goes_where_it_says() {
    let text = "0 : repeat 4\n    mbyp ft0, vi0\n    pck.u8888 ft2, ft0\n    uvsw.write ft2, 4\n1 : end\n    mbyp ft0, vi0\n    mov _.e0.e1.e2.e3, ft0\n    uvsw.write.emit.endtask ft0, 0\n";
    let hex: String = isaforge_with(&["asm", "usc"], text).expect(0).out().split_whitespace().collect();
    let inputs =
        ["vi0", "vi1", "vi2", "vi3"].map(|register| serde_json::json!({ "register": register, "meaning": "" }));
    let program = serde_json::json!({
        "name": "pack", "stage": "vertex", "glsl": "", "bytes": hex, "groups": 2, "temps": 3, "ops": [], "compiler": "",
        "inputs": inputs, "shared": {},
        "outputs": [
            { "via": "uvsw.write", "address": 0, "meaning": "" }, { "via": "uvsw.write", "address": 4, "meaning": "" },
        ],
        "runs": [{
            "inputs": { "vi0": "3f800000", "vi1": "40000000", "vi2": "40400000", "vi3": "40800000" }, "shared": {},
            "expect": [
                { "output": 0, "hex32": "3f800000", "tolerance": 0 },
                { "output": 1, "hex32": "04030201", "tolerance": 0 },
            ],
        }],
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pack.jsonl");
    fs::write(&path, format!("{program}\n")).unwrap();
    isaforge(&["conform", "usc", path.to_str().unwrap()]).expect(0);
}

#[test]
fn a_sample_may_overwrite_its_coordinates() {
    let texels: Vec<String> =
        (0..64).map(|at| format!("{}.0, 0.0, 0.0, 0.0", if (at / 8 + at % 8) % 2 == 1 { 64 } else { 0 })).collect();
    let place = |axis: usize| {
        let of = |i: usize| if axis == 0 { 2 * (i / 4) + (i & 1) } else { i >> 1 & 1 };
        (0..8).map(|i| format!("{}", (of(i) as f32 + 0.5) / 8.0)).collect::<Vec<_>>().join(", ")
    };
    let run = |to: &str| {
        let launch = format!(
            "isa: usc\nprogram: |\n  0 : smp2d.fcnorm drc0, sh0, r1, sh4, _, {to}, 4\n  1 : wdf drc0\n  2 : nop.end\ninstances: 8\nregisters:\n  \
             - {{ register: r1, f32: [{}], each: true }}\n  - {{ register: r2, f32: [{}], each: true }}\n  \
             - {{ register: sh0, words: [0] }}\n  - {{ register: sh4, words: [0] }}\n\
             textures: [{{ size: [8, 8], f32: [{}], levels: true }}]\noutputs: [{{ print: {{ register: {to}, as: f32 }} }}]\n",
            place(0),
            place(1),
            texels.join(", ")
        );
        let run = isaforge_with(&["run", "-q", "-"], launch).expect(0);
        let row = run.out().lines().find_map(|line| line.trim().strip_prefix("0:")).map(str::to_owned);
        row.unwrap_or_else(|| panic!("{}", run.out())).split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    // The nearest texel of each instance: none is between levels.
    assert_eq!(run("r8"), ["0", "64", "64", "0", "0", "64", "64", "0"]);
    assert_eq!(run("r0"), run("r8"));
}
