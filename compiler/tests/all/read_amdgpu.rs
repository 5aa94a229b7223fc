//! LLVM's records of AMD GPUs as a document.

mod accesses;

use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use isaforge_compiler::diagnostic::Diagnostics;
use isaforge_compiler::model::Isa;
use isaforge_compiler::read::{Request, format_of};
use isaforge_compiler::source::Sources;
use isaforge_compiler::{Settings, check_spec};
use isaforge_core::stream::Engine;
use isaforge_core::text::Line;

use crate::support::{bytes, shared};

/// The engine of a document for one generation, without the checks of a specification.
fn open(path: &Path, generation: &str) -> Result<Engine, String> {
    let isa = model(path, generation)?;
    let stream = isa.stream().ok_or("it is no stream")?;
    let tables = isaforge_compiler::stream::lower::lower_exact(&isa, stream);
    Ok(Engine { stream: tables, generation: stream.generations.0 })
}

/// The model of a document for one generation.
fn model(path: &Path, generation: &str) -> Result<Isa, String> {
    let format = format_of(path).ok_or("no format has this document")?;
    let (mut sources, mut out) = (Sources::new(), Diagnostics::default());
    let request = Request { path, generation: Some(generation), sources: &mut sources, out: &mut out };
    let isa = (format.read)(request).filter(|_| !out.has_errors());
    isa.ok_or_else(|| out.render(&sources, Default::default()))
}

fn text(engine: Engine, bytes: &[u8]) -> Result<String, String> {
    let decoded = engine.decode(bytes).map_err(|error| error.to_string())?;
    if usize::from(decoded.len) != bytes.len() {
        return Err(format!("{} bytes of {}", decoded.len, bytes.len()));
    }
    let mut line = Line::new();
    engine.print(&decoded, &mut line);
    Ok(line.as_str().to_owned())
}

fn assembled(engine: Engine, text: &str) -> Result<String, String> {
    let parsed = engine.parse(text).map_err(|error| error.to_string())?;
    let bytes = engine.store(parsed.decoded.word);
    Ok(bytes[..usize::from(parsed.decoded.len)].iter().map(|byte| format!("{byte:02x}")).collect())
}

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/amdgpu.jsonl")
}

#[test]
fn our_own_records_read_both_ways() {
    let settings = Settings { generation: Some("gfx1100".to_owned()), ..Settings::new(fixture()) };
    assert!(check_spec(&settings).is_ok(), "what the command asks first");
    let engine = open(&fixture(), "gfx1100").unwrap_or_else(|why| panic!("{why}"));
    let rows = [
        ("01028083", "s_join_b32 s0, s1, s2"),
        ("c1028083", "s_join_b32 s0, -1, s2"),
        ("ff02808364000000", "s_join_b32 s0, 0x64, s2"),
        ("ff02808301000000", "s_join_b32 s0, lit(0x1), s2"),
        ("05060a7e", "v_turn_f32_e32 v5, s5"),
        ("ff060a7e000080bf", "v_turn_f32_e32 v5, lit(0xbf800000)"),
        ("e9060a7e01773905", "v_turn_f32_dpp v5, v1 dpp8:[7,6,5,4,3,2,1,0]"),
        ("ea060a7e01773905", "v_turn_f32_dpp v5, v1 dpp8:[7,6,5,4,3,2,1,0] fi:1"),
        ("050183d501010020", "v_turn_f32_e64 v5, -|v1|"),
        ("058083d5f2000030", "v_turn_f32_e64 v5, neg(1.0) clamp mul:4"),
        ("ff0f6ce000050303", "buffer_keep_b64 v[5:6], off, s[12:15], s3 offset:4095"),
        ("01406ce000050380", "buffer_keep_b64 v[5:6], off, s[12:15], 0 offset:1 glc"),
    ];
    for (hex, expected) in rows {
        let found = text(engine, &bytes(hex));
        assert_eq!(found.as_deref(), Ok(expected), "{hex}");
        assert_eq!(assembled(engine, expected).as_deref(), Ok(hex), "{expected}");
    }
    // A register pair that is not aligned, a bit that the encoder leaves 0, and a missing literal.
    for hex in ["ff0f6ce0000503d1", "050183d501031020", "ff028083"] {
        assert!(text(engine, &bytes(hex)).is_err(), "{hex}");
    }
}

#[test]
fn mistakes_of_a_document_have_places() {
    let good = std::fs::read_to_string(fixture()).expect("the fixture is there");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("read_amdgpu");
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let message = |name: &str, text: &str, generation: &str| {
        let path = folder.join(format!("{name}.jsonl"));
        std::fs::write(&path, text).expect("the file can be written");
        open(&path, generation).err().unwrap_or_default()
    };
    let cases = [
        ("class", good.replace("SCSrc_b32:", "Nonsense:"), "gfx1100", "class `Nonsense`", ":5:"),
        (
            "bit",
            good.replace("0, 1, 1, 1, 1, 1, 1, vdst{7}", "0, 1, 1, 2, 1, 1, 1, vdst{7}"),
            "gfx1100",
            "`2` is not a bit",
            ":2:",
        ),
        ("size", good.replace("\"Size\":\"4\"", "\"Size\":\"5\""), "gfx1100", "32 bits for 5 bytes", ":1:"),
        ("cut", good[..good.len() / 4].to_owned(), "gfx1100", "not a record", ":2:"),
        ("none", good.clone(), "gfx1030", "no record of this document belongs to `gfx1030`", ":1:"),
        ("name", good.clone(), "gfx1101", "did you mean `gfx1100`?", ""),
    ];
    for (name, text, generation, expected, place) in cases {
        let found = message(name, &text, generation);
        assert!(found.contains(expected) && found.contains(place), "{name}: {found}");
    }
}

/// A record of an image instruction with `addresses` addresses, which take `words` words besides the first two.
fn image(addresses: usize, words: u8) -> String {
    let field =
        |name: &str, bits: std::ops::Range<u8>| bits.rev().map(|i| format!("{name}{{{i}}}, ")).collect::<String>();
    let bits = format!(
        "0, 0, ?, ?, ?, ?, 0, 0, 0, 0, 0, {}{}{}1, 1, 1, 1, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, ?, 0, 0, {}0, ?, {}{}, {}, 0",
        field("srsrc", 2..7),
        field("vdata", 0..8),
        field("vaddr0", 0..8),
        field("dmask", 0..4),
        field("dim", 0..3),
        words >> 1,
        words & 1
    );
    let list = |before: &str, after: &str| {
        (0..addresses).map(|i| format!("{before}vaddr{i}{after}")).collect::<Vec<_>>().join(", ")
    };
    format!(
        r#"{{"name":"IMAGE_LOOK_C_B_O_V1_V{addresses}_nsa_gfx10","cls":[],"Inst":"{{ {bits} }}","Size":"8","DecoderNamespace":"\"GFX10\"","OutOperandList":"(outs VGPROp_32:$vdata)","InOperandList":"(ins {}, SReg_256_XNULL:$srsrc, DMask:$dmask, Dim:$dim)","AsmString":"\"image_look_c_b_o $vdata, [{}], $srsrc$dmask$dim\""}}
"#,
        list("VGPROp_32:$", ""),
        list("$", "")
    )
}

#[test]
fn an_image_instruction_is_as_long_as_its_word_says() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("read_amdgpu");
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let path = folder.join("images.jsonl");
    std::fs::write(&path, image(5, 1) + &image(7, 2)).expect("the file can be written");
    let engine = open(&path, "gfx1010").unwrap_or_else(|why| panic!("{why}"));
    let plain = "image_look_c_b_o v1, [v2, v3, v4, v5, v6], s[8:15] dmask:0x1 dim:SQ_RSRC_IMG_2D";
    let cube = "image_look_c_b_o v1, [v2, v3, v4, v5, v6, v7], s[8:15] dmask:0x1 dim:SQ_RSRC_IMG_3D";
    let rows = [("0a0154f10201020003040506", plain), ("140154f1020102000304050607000000", cube)];
    for (hex, expected) in rows {
        assert_eq!(text(engine, &bytes(hex)).as_deref(), Ok(expected), "{hex}");
        assert_eq!(assembled(engine, expected).as_deref(), Ok(hex), "{expected}");
    }
    // One word more than five addresses need: the text is the same, and the assembler uses the shorter encoding.
    assert_eq!(text(engine, &bytes("0c0154f1020102000304050600000000")).as_deref(), Ok(plain));
    // Six addresses do not fit in one word, and an unneeded word must not hold an address.
    for hex in ["120154f10201020003040506", "0c0154f1020102000304050600000007"] {
        assert!(text(engine, &bytes(hex)).is_err(), "{hex}");
    }
}

#[test]
fn a_record_is_for_processors_that_fulfil_its_predicate() {
    let good = std::fs::read_to_string(fixture()).expect("the fixture is there");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("read_amdgpu");
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let path = folder.join("predicate.jsonl");
    let word = bytes("01028083");
    for (predicate, there) in [("TruePredicate", true), ("isGFX1250Plus", false), ("isNotGFX1250Plus", true)] {
        let marked = good.replacen("{\"name\":", &format!("{{\"SubtargetPredicate\":\"{predicate}\",\"name\":"), 1);
        std::fs::write(&path, marked).expect("the file can be written");
        let engine = open(&path, "gfx1100").unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(text(engine, &word).is_ok(), there, "{predicate}");
    }
}

/// A record with the bits of `parts`, highest first: constant bits, `?` for an open one, or `NAME:HIGH:LOW` for those
/// of an operand.
fn record(name: &str, table: &str, parts: &str, outs: &str, ins: &str, text: &str) -> String {
    let mut bits = Vec::new();
    for part in parts.split(' ') {
        match part.split(':').collect::<Vec<_>>()[..] {
            [name, high, low] => {
                let (high, low) = (high.parse::<u8>().expect("a number"), low.parse().expect("a number"));
                bits.extend((low..=high).rev().map(|bit: u8| format!("{name}{{{bit}}}")));
            }
            [name] if name.starts_with(char::is_alphabetic) => bits.push(name.to_owned()),
            _ => bits.extend(part.chars().map(String::from)),
        }
    }
    let size = bits.len() / 8;
    let bits = bits.join(", ");
    format!(
        r#"{{"name":"{name}","Inst":"{{ {bits} }}","Size":"{size}","DecoderNamespace":"\"{table}\"","OutOperandList":"(outs{outs})","InOperandList":"(ins{ins})","AsmString":"\"{text}\""}}
"#
    )
}

/// Another key of a record.
fn with(key: &str, value: &str, record: String) -> String {
    record.replacen('{', &format!("{{\"{key}\":\"{value}\","), 1)
}

/// A document with these records.
fn document(name: &str, records: &[String]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("read_amdgpu");
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let path = folder.join(format!("{name}.jsonl"));
    std::fs::write(&path, records.concat()).expect("the file can be written");
    path
}

/// The engine of a document with these records.
fn of(name: &str, records: &[String], generation: &str) -> Engine {
    open(&document(name, records), generation).unwrap_or_else(|why| panic!("{why}"))
}

/// A scalar instruction of two registers, with an opcode of eight bits.
fn scalar(name: &str, table: &str, opcode: &str, text: &str) -> String {
    let parts = format!("101111101 sdst:6:0 {opcode} ssrc0:7:0");
    record(name, table, &parts, " SReg_32:$sdst", " SReg_32:$ssrc0", &format!("{text} $sdst, $ssrc0"))
}

#[test]
fn records_of_gfx9_precede_those_it_shares_with_gfx8() {
    let both = [scalar("S_OLD_vi", "GFX8", "00000111", "s_old"), scalar("S_NEW_gfx9", "GFX9", "00000111", "s_new")];
    for generation in ["gfx908", "gfx90a", "gfx942", "gfx950"] {
        let engine = of("precedence", &both, generation);
        assert_eq!(text(engine, &bytes("020781be")).as_deref(), Ok("s_new s1, s2"), "{generation}");
    }
}

#[test]
fn processors_lack_records_by_their_names() {
    let records =
        [scalar("S_KEEP_vi", "GFX8", "00000001", "s_keep"), scalar("S_TAKE_LATE_gfx940", "GFX9", "00000010", "s_take")];
    for (generation, there) in [("gfx908", false), ("gfx90a", false), ("gfx942", true), ("gfx950", true)] {
        let engine = of("names", &records, generation);
        assert!(text(engine, &bytes("020181be")).is_ok(), "{generation}");
        assert_eq!(text(engine, &bytes("020281be")).is_ok(), there, "{generation}");
        assert_eq!(assembled(engine, "s_take s1, s2").is_ok(), there, "{generation}");
    }
}

#[test]
fn of_two_names_for_the_same_word_the_last_is_printed_and_both_are_read() {
    let records = [
        scalar("S_SAME_I32_vi", "GFX8", "00000011", "s_same_i32"),
        scalar("S_SAME_U32_vi", "GFX8", "00000011", "s_same_u32"),
    ];
    let engine = of("renamed", &records, "gfx908");
    assert_eq!(text(engine, &bytes("020381be")).as_deref(), Ok("s_same_u32 s1, s2"));
    for name in ["s_same_i32", "s_same_u32"] {
        assert_eq!(assembled(engine, &format!("{name} s1, s2")).as_deref(), Ok("020381be"), "{name}");
    }
}

#[test]
fn any_operand_may_have_modifiers() {
    let parts = "1100111101010 ? srcX_modifiers dst:7:0 srcX:8:0";
    let ins = " FP32VCSrcInputMods:$srcX_modifiers, VCSrc_f32:$srcX";
    let engine = of(
        "modifiers",
        &[record("V_TWO_gfx12", "GFX12", parts, " VGPROp_32:$dst", ins, "v_two $dst, $srcX_modifiers")],
        "gfx1200",
    );
    for (hex, expected) in [("060350cf", "v_two v1, v6"), ("060352cf", "v_two v1, -v6")] {
        assert_eq!(text(engine, &bytes(hex)).as_deref(), Ok(expected), "{hex}");
        assert_eq!(assembled(engine, expected).as_deref(), Ok(hex), "{expected}");
    }
}

#[test]
fn operands_with_an_index_are_listed_by_name() {
    let parts = "1011111110000001 simm16:15:0";
    let engine =
        of("indexed", &[record("S_MARK_vi", "GFX8", parts, "", " GPRIdxMode:$simm16", "s_mark $simm16")], "gfx908");
    let rows = [
        ("000081bf", "s_mark gpr_idx()"),
        ("050081bf", "s_mark gpr_idx(SRC0,SRC2)"),
        ("0f0081bf", "s_mark gpr_idx(SRC0,SRC1,SRC2,DST)"),
        ("080081bf", "s_mark gpr_idx(DST)"),
        ("1f0081bf", "s_mark 0x1f"),
    ];
    for (hex, expected) in rows {
        assert_eq!(text(engine, &bytes(hex)).as_deref(), Ok(expected), "{hex}");
        assert_eq!(assembled(engine, expected).as_deref(), Ok(hex), "{expected}");
    }
}

#[test]
fn several_vector_registers_begin_at_an_even_one_since_gfx90a() {
    let take = record(
        "V_TAKE_vi",
        "GFX8",
        "0111111 dst:7:0 01010101 src:8:0",
        " VGPROp_64:$dst",
        " VSrc_f64:$src",
        "v_take $dst, $src",
    );
    let load =
        record("LOAD_vi", "GFX8", "1101110001 data:9:9 0000000000000 data:7:0", " AVLdSt_64:$data", "", "load $data");
    for (generation, odd, accumulators) in [("gfx908", true, false), ("gfx90a", false, true), ("gfx942", false, true)] {
        let engine = of("even", &[take.clone(), load.clone()], generation);
        assert_eq!(text(engine, &bytes("04ab047e")).as_deref(), Ok("v_take v[2:3], v[4:5]"), "{generation}");
        for hex in ["04ab027e", "05ab047e", "030040dc"] {
            assert_eq!(text(engine, &bytes(hex)).is_ok(), odd, "{generation} {hex}");
        }
        assert_eq!(text(engine, &bytes("040040dc")).as_deref(), Ok("load v[4:5]"), "{generation}");
        assert_eq!(text(engine, &bytes("040060dc")).is_ok(), accumulators, "{generation}");
    }
}

#[test]
fn constants_are_not_destinations_of_comparisons() {
    let parts = "11010101010101010000 00 ? sdst:7:0 ?";
    let engine =
        of("compare", &[record("V_CMP_gfx10", "GFX10", parts, " VOPDstS64orS32:$sdst", "", "v_cmp$sdst")], "gfx1030");
    assert_eq!(text(engine, &bytes("060055d5")).as_deref(), Ok("v_cmp s3"));
    assert!(text(engine, &bytes("060155d5")).is_err(), "0x83 is 3");
}

/// Processors, and the minimum share of their rows that match in both directions.
const PROCESSORS: [(&str, f64); 10] = [
    ("gfx908", 0.96),
    ("gfx90a", 0.98),
    ("gfx942", 0.98),
    ("gfx950", 0.97),
    ("gfx1010", 0.997),
    ("gfx1030", 0.995),
    ("gfx1100", 0.999),
    ("gfx1150", 0.999),
    ("gfx1200", 0.999),
    ("gfx1250", 0.97),
];

/// Replays the rows of one processor; `ISAFORGE_AMDGPU=gfx1100` writes the differences to standard error.
#[test]
fn rows_of_llvm_read_both_ways() {
    let (Some(document), Some(rows)) =
        (shared("documents/llvm-tablegen-amdgpu/amdgpu-instructions.jsonl.gz"), shared("corpora/other/amdgpu.tsv.gz"))
    else {
        eprintln!("skipped: there are no rows beside the project");
        return;
    };
    let mut all = String::new();
    let file = std::fs::File::open(rows).expect("the rows can be read");
    MultiGzDecoder::new(file).read_to_string(&mut all).expect("the rows are text");
    let told = std::env::var("ISAFORGE_AMDGPU").ok();
    for (processor, least) in PROCESSORS {
        if told.as_ref().is_some_and(|told| told != processor) {
            continue;
        }
        let started = std::time::Instant::now();
        let engine = open(&document, processor).unwrap_or_else(|why| panic!("{why}"));
        eprintln!("{processor}: {} layouts in {:?}", engine.stream.layouts.len(), started.elapsed());
        let (mut count, mut right, mut back) = (0, 0, 0);
        let started = std::time::Instant::now();
        for row in all.lines().filter(|row| !row.starts_with('#')) {
            let cells: Vec<&str> = row.split('\t').collect();
            if cells[3] != processor || cells[1].contains("/*Invalid") {
                continue;
            }
            count += 1;
            let found = text(engine, &bytes(cells[0]));
            if found.as_deref() == Ok(cells[1]) {
                right += 1;
            } else if told.is_some() {
                eprintln!("DIS\t{}\t{}\t{found:?}", cells[0], cells[1]);
            }
            let again = assembled(engine, cells[1]);
            if again.as_deref() == Ok(cells[0]) {
                back += 1;
            } else if told.is_some() {
                eprintln!("ASM\t{}\t{}\t{again:?}", cells[0], cells[1]);
            }
        }
        eprintln!("{processor}: {right} of {count} decode, {back} assemble, in {:?}", started.elapsed());
        assert!(right as f64 >= least * count as f64 && back as f64 >= least * count as f64, "{processor}");
    }
}
