//! The text of USC groups: the examples of the published reference, operations without an encoding, errors.

use std::path::Path;

use isaforge_compiler::{Settings, compile};
use isaforge_core::group::text::{SEPARATOR, describe};
use isaforge_core::group::{BuildError, GroupIsa, Values, assemble, canonical, print};
use isaforge_core::text::Line;

fn isa() -> &'static GroupIsa {
    let settings = Settings::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/usc/isa.yaml"));
    let compiled = compile(&settings).unwrap_or_else(|failure| panic!("{failure}"));
    assert!(compiled.checked.diagnostics.is_empty(), "the specification has no warnings");
    compiled.lowered.groups().expect("USC is an instruction set of groups")
}

fn data(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/usc").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The outcome of an example: its bytes and its text, or the reason why it has none.
fn outcome(isa: &GroupIsa, text: &str) -> String {
    let read = match assemble(isa, text) {
        Ok(read) => read,
        Err(error) => return format!("! {error}\n"),
    };
    match read.encode(isa) {
        Err(error) => format!("! {error}\n"),
        Ok(group) => {
            let mut line = Line::new();
            print(isa, &group, SEPARATOR, &mut line);
            let again = assemble(isa, line.as_str()).map(|read| read.encode(isa));
            assert!(matches!(again, Ok(Ok(again)) if again == group), "{}", line.as_str());
            let bytes: Vec<String> = group.as_bytes().iter().map(|b| format!("{b:02x}")).collect();
            format!("= {}\n= {}\n", bytes.join(" "), line.as_str())
        }
    }
}

/// Each example of the reference with its encoding; examples that contradict the reference are rejected.
#[test]
fn examples_of_the_reference_assemble() {
    let isa = isa();
    let golden = data("examples.txt");
    let mut fresh = String::new();
    let mut refused = Vec::new();
    for example in golden.split("\n\n") {
        let text: String = example.lines().filter(|l| !l.starts_with(['=', '!'])).map(|l| format!("{l}\n")).collect();
        let outcome = outcome(isa, &text);
        if outcome.starts_with('!') {
            refused.push(text.lines().next().unwrap_or_default().to_owned());
        }
        fresh.push_str(&format!("{text}{outcome}\n"));
    }
    let fresh = format!("{}\n", fresh.trim_end());
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/usc/examples.txt"), &fresh)
            .expect("can be written");
    } else {
        assert_eq!(fresh, golden, "UPDATE_GOLDENS=1 cargo test -p isaforge-compiler --test all usc_text examples");
    }
    // Section 3 uses names without an entry; `sop` is F16SOP, which has no encoding, like FSQRT.
    assert_eq!(refused, ["if (p0)", "lsl ft2, s2, s1", "fsqrt r0, sh0", "sop r0.joutj, sh4, i3, add, sh8, 0.oneminus"]);
}

#[test]
fn every_entry_of_the_reference_and_of_mesa_is_there() {
    let isa = isa();
    let (mut reference, mut mesa, mut without) = (0, 0, 0);
    for line in data("operations.tsv").lines() {
        let (name, status) = line.split_once('\t').expect("name and status");
        let mut found = isa
            .operations
            .iter()
            .filter(|o| o.name == name || o.name.strip_prefix(name).is_some_and(|r| r.starts_with('.')));
        let operation = found.next().unwrap_or_else(|| panic!("there is no {name}"));
        assert!(!operation.doc.is_empty(), "{name}");
        assert_eq!(operation.no_encoding.is_empty(), matches!(status, "encoded" | "mesa"), "{name}");
        match status {
            "mesa" | "mesa-name" => mesa += 1,
            _ => reference += 1,
        }
        without += usize::from(status == "none");
    }
    // Sixteen have no encoding, and two more (FTB_SHI, FTB_MSB) have one that is not confirmed.
    assert_eq!((reference, mesa, without), (118, 11, 18));
}

/// They have operands and modifiers, text becomes values and values become text; only bytes do not exist.
#[test]
fn an_operation_without_public_encoding_is_a_value_and_encoding_it_a_named_error() {
    let isa = isa();
    let texts = [
        ("FSQRT", "fsqrt r0, sh0.abs.neg"),
        (
            "F16SOP",
            "f16sop r0.e1.jouta, r0.koutk, r1, r2.e1.neg, 0.oneminus, mad, sh1, r3.oneminus, vi2, r2, rsub, r3, 0.oneminus, r4",
        ),
        (
            "F16SOP.MAD",
            "f16sop.mad.f16b.clampa r0.e0, r0.e1, r1.e0, r1.e1, r2.u8.e3.neg.abs, 0.oneminus.clamp, sh0.f16.flr, \
             r2, r3, 0, r2, r3, 0, r2, r3, 0",
        ),
        (
            "F16SOP.U8",
            "f16sop.u8.u8a.zabs.zclamp r0.joutjc, r0.e3.koutkc, r1, r2.u8, 0, add, r3.f16.e1.clamp, 0, r2, r3, sub, r2, 0.abs, c5",
        ),
        (
            "F16SOP.U8MAD",
            "f16sop.u8mad.u8a.u8d.clampb r0.e0, r0.e1, r0.e2, r0.e3, r1, r2, r2, 0, r3, 0, 0, r2, r3, 0, r2, r3, 0, r2",
        ),
        ("SOPMOV", "sopmov r3, r4"),
        ("SOPMOV.U8", "sopmov.u8.zabs r2, r3, r4"),
        ("SOPU8MADMOV", "sopu8madmov r3, cf4"),
        ("CONVERTTOF64", "converttof64.s32 ft0, ft2, ft1"),
        ("CONVERTFROMF64", "convertfromf64.u32 ft0, r1, r2"),
        ("GTA", "gta.array r0, r1, p0, r2, r3, r4, r5, r6"),
        ("TSTMIN", "mbyp ft0, r0 | tstmin.s16 ftt, p0, ft0.e1, ft1"),
        ("TSTMAX", "tstmax ftt, _, ft0, c1"),
        ("TESSW", "tessw ft0, 9"),
        ("ST.TEXELMODE", "st.texelmode r5, ft0, drc1"),
        ("BPRET", "bpret"),
        ("FTB_SHI", "byp ft0, ft1, c0, c1 | byp ft2, r1 | ftb_shi ft3, r1"),
        ("FTB_MSB", "byp ft0, ft1, c0, c1 | rev ft2, r1 | ftb_msb ft3, ft2"),
        ("FADD.second", "mbyp ft0, r0 | fadd.sat ft2, ft0.abs.neg, r1.abs"),
        ("FMUL.second", "mbyp ft0, r0 | fmul ft2, ft0.neg, r1"),
        ("UNIQ", "uniq"),
        ("FETCH", "if(p0) | fetch"),
    ];
    let write = |values: &Values, hints: bool| {
        let mut line = Line::new();
        describe(isa, values, SEPARATOR, hints, &mut line);
        line.as_str().to_owned()
    };
    for (name, text) in texts {
        let read = assemble(isa, text).unwrap_or_else(|error| panic!("{name}: {error} ({})", error.help(isa)));
        assert_eq!(write(&read.values, false), text, "{name}");
        let hinted = write(&read.values, true);
        let again = assemble(isa, &hinted).unwrap_or_else(|error| panic!("{hinted}: {error}"));
        assert_eq!(again.values, read.values, "{hinted}");
        let operation = isa.operations.iter().find(|o| o.name == name).unwrap_or_else(|| panic!("no {name}"));
        let expected = BuildError::NoEncoding { operation: name, reason: operation.no_encoding };
        assert_eq!(read.encode(isa), Err(expected), "{name}");
        assert_eq!(canonical(isa, &read.values), Err(expected), "{name}");
    }
    let without = isa.operations.iter().filter(|o| !o.no_encoding.is_empty()).count();
    assert_eq!(without, texts.len(), "every one of them is tried");
}

#[test]
fn parts_that_do_not_go_together_are_named() {
    let isa = isa();
    let slot = |name: &str| isa.slots.iter().position(|s| s.name == name).unwrap_or_else(|| panic!("no slot {name}"));
    let with = |parts: &[&str]| {
        let mut values = Values::new(isa);
        parts.iter().for_each(|p| values.insert(slot(p)));
        canonical(isa, &values)
    };
    for legal in [
        &["p0"][..],
        &["p0", "p1"],
        &["p0", "p1", "mov", "tst", "pck", "backend", "w01"],
        &["b2"],
        &["cnd", "w0"],
        &["nop"],
    ] {
        assert!(with(legal).is_ok(), "{legal:?}: {:?}", with(legal));
    }
    for illegal in [
        &["p1"][..],
        &["p0", "backend"],
        &["mov", "backend"],
        &["p0", "b0"],
        &["nop", "p0"],
        &["branch", "w0"],
        &["w0"],
        &["w0", "w1", "p0"],
    ] {
        assert!(matches!(with(illegal), Err(BuildError::Parts { .. })), "{illegal:?}: {:?}", with(illegal));
    }
    let refuse = |text: &str| match assemble(isa, text) {
        Ok(read) => read.encode(isa).expect_err(text).to_string(),
        Err(error) => error.to_string(),
    };
    assert_eq!(
        refuse("uadd8 ft0, r0.e1, r1.e0"),
        "p0 would need `int8_16_ext_sel`: no public bit tells it from the form without a choice of parts"
    );
    assert_eq!(refuse("fadd ft0, r0, r1 | fadd ft0, r2, r3"), "`fadd` conflicts with another part of the group");
    assert_eq!(refuse("fadd ft0, r0, sh1"), "no encoding of lower holds 4 in `sb1`");
    assert_eq!(refuse("fadd ft0, r0"), "these are not the operands of `fadd`");
    assert_eq!(refuse("fadd ft0, r0, r5000"), "no encoding of lower holds 5000 in `s1`");
    assert_eq!(refuse("fad ft0, r0, r1"), "unknown operation `fad ft0, r0, r1`");
    assert_eq!(refuse("nop | with header.miscctl=1, lower.x=1"), "`lower.x=1` is not a mark");
    assert_eq!(refuse("br 3"), "these are not the operands of `br`");
}

/// Text made of pieces of valid text never causes a panic.
#[test]
fn arbitrary_text_never_panics() {
    let isa = isa();
    let words = data("examples.txt");
    let words: Vec<&str> = words.split_inclusive([' ', ',', '.', '\n']).collect();
    let mut state = 7u64;
    let mut random = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize
    };
    for _ in 0..20_000 {
        let mut text: String = (0..random() % 12).map(|_| words[random() % words.len()]).collect();
        text.push_str(["", "@S1", "with ", "é", "\u{0}", "bytes 00"][random() % 6]);
        if let Ok(read) = assemble(isa, &text) {
            let _ = read.encode(isa);
        }
    }
}
