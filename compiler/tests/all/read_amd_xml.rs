//! AMD's descriptions: a small document in their schema, written for this test.

use std::fs;
use std::path::{Path, PathBuf};

use isaforge_core::stream::Engine;
use isaforge_core::stream::listing::disassemble;
use isaforge_core::stream::program::assemble;
use isaforge_core::text::Line;

use crate::support::open;

fn own() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/amd.xml")
}

fn text(engine: Engine, bytes: &[u8]) -> Result<String, String> {
    let decoded = engine.decode(bytes).map_err(|error| error.to_string())?;
    assert_eq!(usize::from(decoded.len), bytes.len());
    let mut line = Line::new();
    engine.print(&decoded, &mut line);
    Ok(line.as_str().to_owned())
}

#[test]
fn words_of_our_own_document_read_both_ways() {
    let engine = open(&own(), 0).unwrap_or_else(|why| panic!("{why}"));
    for (bytes, expected) in [
        (&0xa010_2100u32.to_le_bytes()[..], "t_knot t1, t0"),
        (&0xa010_3101u32.to_le_bytes(), "t_knot t1, t1 clamp:1"),
        (&0x0000_0007_a010_20ffu64.to_le_bytes(), "t_knot t1, src_literal literal:7"),
        (&0x6000_0010_a150_2101u64.to_le_bytes(), "t_knot_long t1, t1, t0 neg:3"),
        (&0xa020_4102u32.to_le_bytes(), "t_cut t2, shears, t2"),
        (&0xa200_fffeu32.to_le_bytes(), "l_jump -2"),
        (&0xa201_0000u32.to_le_bytes(), "l_rest"),
        (&0xa201_0003u32.to_le_bytes(), "l_rest simm16:3"),
    ] {
        assert_eq!(text(engine, bytes).as_deref(), Ok(expected));
        let parsed = engine.parse(expected).unwrap_or_else(|why| panic!("{expected}: {why}"));
        assert_eq!(engine.store(parsed.decoded.word)[..usize::from(parsed.decoded.len)], *bytes, "{expected}");
    }
    // A source without a name, a thread that does not exist, a bit outside all fields, an unused opcode.
    for word in [0xa010_2001u32, 0xa010_8100, 0xa010_2300, 0xa030_2100] {
        assert!(text(engine, &word.to_le_bytes()).is_err(), "{word:08x}");
    }
}

#[test]
fn branches_have_labels() {
    let engine = open(&own(), 0).unwrap_or_else(|why| panic!("{why}"));
    let listing = "l0:\nl_rest\nl_jump l3\nl_jump l0\nl3:\nl_rest\n";
    let made = assemble(engine, listing).unwrap_or_else(|errors| panic!("{}", errors[0]));
    assert_eq!(made[4..12], [1, 0, 0, 0xa2, 0xfd, 0xff, 0, 0xa2]);
    let mut again = String::new();
    assert_eq!(disassemble(engine, &made, &mut again), 0);
    assert_eq!(again, listing);
}

#[test]
fn mistakes_of_a_document_have_places() {
    let whole = fs::read_to_string(own()).expect("the document is there");
    let made = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("amd");
    fs::create_dir_all(&made).expect("the folder can be made");
    for (number, (from, to, code)) in [
        ("<Encodings>", "<Encoding>", "E0013"),
        ("</Encodings>", "<Codings></Codings></Encodings>", "E0050"),
        ("<BitCount>32</BitCount>\n        <EncodingI", "<EncodingI", "E0051"),
        ("<BitCount>9</BitCount>", "<BitCount>nine</BitCount>", "E0053"),
        ("<BitOffset>61</BitOffset>", "<BitOffset>62</BitOffset>", "E0104"),
        ("<BitOffset>13</BitOffset>", "<BitOffset>12</BitOffset>", "E0107"),
        (
            "<EncodingName>ENC_LONG</EncodingName>\n            <EncodingC",
            "<EncodingName>ENC_LANG</EncodingName>\n            <EncodingC",
            "E0101",
        ),
        (
            "<FieldName>SRC1</FieldName>\n                <Data",
            "<FieldName>SRC2</FieldName>\n                <Data",
            "E0101",
        ),
        ("<OperandType>OPR_THREAD</OperandType>", "<OperandType>OPR_THRAED</OperandType>", "E0101"),
        ("<EncodingCondition>has_lit</EncodingCondition>", "<EncodingCondition>has_lid</EncodingCondition>", "E0101"),
        ("<Opcode Radix=\"10\">5</Opcode>", "<Opcode Radix=\"10\">6</Opcode>", "E0058"),
    ]
    .into_iter()
    .enumerate()
    {
        let text = whole.replacen(from, to, 1);
        assert_ne!(text, whole, "{from} is in the document");
        let path = made.join(format!("wrong{number}.xml"));
        fs::write(&path, text).expect("the file can be written");
        let told = open(&path, 0).err().unwrap_or_else(|| panic!("{to} is taken"));
        assert!(told.contains(code), "{to}: {told}");
    }
}
