//! Programs of one's own sets: `run --spec` with launch files.

use super::*;

/// Sixteen lanes with words of 16 bits.
const LANES: &str = "isa: lanes
doc: Sixteen lanes.
word: 16
provenance: document
banks: { r: { count: 8, width: 16, prints: \"r{n}\" } }
semantics:
  pc: u32
  states:
    p: { type: bool, doc: A predicate. }
    mask: { type: u16, bits of: p, doc: The predicates of all lanes. }
    lc: { type: u16, uniform: true, doc: A counter. }
instructions:
  nop: { doc: Nothing., fixed: { 15..0: 0 }, does: nop }
  end: { doc: Ends., fixed: { 15..0: 1 }, does: end() }
  leave: { doc: Ends some lanes., fixed: { 15..0: 2 }, does: \"if lane < 4 { end() }\" }
  put: { doc: Stores a byte., fixed: { 15..3: 8 }, operands: { a: { bank: r, bits: 2..0 } }, does: \"store(u8, zext(u32, a) + 3, a.b0)\" }
  mask: { doc: Takes all predicates., fixed: { 15..3: 9 }, operands: { d: { bank: r, bits: 2..0, access: write } }, does: d = mask }
  go:
    doc: Goes elsewhere.
    fixed: { 15..12: 8 }
    operands: { to: { immediate: hex, bits: 11..0, prefix: \"\", target: { from: 0, unit: 2 } } }
    does: branch(to)
machine: { lanes: 16, divergence: lowest first, unit: 2 }
";

/// Instructions of several lengths, with absolute targets.
const CALLS: &str = "isa: calls
doc: A stream of bytes.
word: [8, 16, 32]
provenance: document
banks: { r: { count: 4, width: 16, prints: \"r{n}\" } }
semantics:
  pc: u32
instructions:
  nop: { doc: Nothing., word: 8, fixed: { 7..0: 0 }, does: nop }
  end: { doc: Ends., word: 8, fixed: { 7..0: 1 }, does: end() }
  ldi: { doc: Loads., word: 16, fixed: { 7..2: 2 }, operands: { r: { bank: r, bits: 1..0, access: write }, n: { immediate: decimal, bits: 15..8 } }, does: \"r = trunc(u16, n)\" }
  call:
    doc: Branches.
    word: 32
    fixed: { 15..0: 3 }
    operands: { to: { immediate: hex, bits: 31..16, prefix: \"\", target: { from: FROM, unit: 1 } } }
    does: BRANCH
machine: {}
";

/// Runs a launch file with a specification.
fn launched(spec: &str, launch: &str, arguments: &[&str]) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [("isa.yaml", spec), ("launch.yaml", launch)] {
        fs::write(folder.path().join(name), text).expect("it is written");
    }
    isaforge_in(folder.path(), &[&["run", "--spec", "isa.yaml", "launch.yaml"], arguments].concat(), b"")
}

#[test]
fn numbers_of_registers_fit_or_are_refused_with_their_place() {
    let run = |registers: &str| {
        launched(
            LANES,
            &format!("program: |\n  end\nregisters: {{ {registers} }}\nshow: [r1, r2, lc, p]\n"),
            &["--quiet"],
        )
    };
    let found = run("r1: 65535, r2: -32768, lc: -1, p: 1").expect(0);
    assert_eq!(found.out(), "r1 = ffff\nr2 = 8000\nlc = ffff\np = 1\n");
    // A float has the width of its register.
    let found = run("r1: 1.5, r2: 0.1, lc: -2.0").expect(0);
    assert_eq!(found.out(), "r1 = 3e00\nr2 = 2e66\nlc = c000\np = 0\n");
    for (registers, place, message, fits) in [
        ("r1: 70000", "3:18", "`70000` does not fit 16 bits", "expected 0 to 65535, or -32768 to -1"),
        ("r2: -70000", "3:18", "`-70000` does not fit 16 bits", "expected 0 to 65535, or -32768 to -1"),
        ("lc: 65536", "3:18", "`65536` does not fit 16 bits", "expected 0 to 65535, or -32768 to -1"),
        ("p: 2", "3:17", "`2` does not fit one bit", "expected 0 or 1"),
        ("p: 1.0", "3:17", "there are no floats of one bit", "expected a whole number"),
        ("r1: 1.0e6", "3:18", "does not fit a float of 16 bits", "expected -65504.0 to 65504.0"),
        ("r1: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 65536]", "3:64", "`65536` does not fit", "expected 0 to"),
        ("lc: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]", "3:14", "all lanes share `lc`", "give it one number"),
    ] {
        let err = run(registers).expect(1).err;
        assert!(err.contains(place) && err.contains(message) && err.contains(fits), "{registers}: {err}");
    }
}

#[test]
fn races_name_the_first_byte_that_both_sides_touch() {
    let launch =
        "program: |\n  put r3\n  end\nregisters: { r3: 0x1004 }\nbuffers: { out: { address: 0x1000, size: 64 } }\n";
    let text = launched(LANES, launch, &["--races"]).expect(1);
    assert!(text.out().starts_with("race at 0x1007: "), "{}", text.out());
    let object = launched(LANES, launch, &["--races", "--json"]).expect(1);
    let object: serde_json::Value = serde_json::from_str(object.out().lines().next().expect("a race")).expect("JSON");
    assert_eq!(object["address"], 0x1007);
}

#[test]
fn a_mask_is_shown_and_set_like_other_states_and_leaves_out_lanes_that_have_ended() {
    let launch = "program: |\n  leave\n  mask r1\nregisters: { mask: 0x0ff3 }\nshow: [mask, r1, p]\n";
    let run = launched(LANES, launch, &["--quiet"]).expect(0);
    let [mask, _, p] = run.out().lines().collect::<Vec<_>>()[..] else { panic!("{}", run.out()) };
    assert_eq!(mask, "mask = 0ff0");
    assert!(run.out().contains("4:0ff0,5:0ff0"), "{}", run.out());
    assert!(p.contains("0:1,1:1,2:0,3:0,4:1"), "{p}");
    let trace = launched(LANES, launch, &["--quiet", "--trace"]).expect(0);
    assert!(trace.out().contains("mask=0ff0"), "{}", trace.out());
    // Once all lanes have ended, none of them has a bit.
    let ended = launched(LANES, "program: |\n  end\nregisters: { p: 1 }\nshow: [mask]\n", &["--quiet"]).expect(0);
    assert_eq!(ended.out(), "mask = 0000\n");
}

#[test]
fn a_mask_has_a_bit_for_each_lane() {
    let spec = LANES.replace("{ type: u16, bits of", "{ type: u8, bits of").replace("d = mask", "d = zext(u16, mask)");
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("isa.yaml"), spec).expect("it is written");
    let err = isaforge_in(folder.path(), &["check", "isa.yaml"], b"").expect(1).err;
    assert!(err.contains("`mask` has 8 bits, but there are 16 lanes") && err.contains("type `u16`"), "{err}");
}

#[test]
fn a_program_is_assembled_for_its_address() {
    let program = "program: |\n  call fun\n  end\n  nop\n  fun: ldi r1, #7\n  end\naddress: 0x300\nshow: [r1]\n";
    for (from, does, number) in [("0", "branch(to)", "0x306"), ("0x300", "branch(to + 0x300)", "0x6")] {
        let spec = CALLS.replace("FROM", from).replace("BRANCH", does);
        assert_eq!(launched(&spec, program, &["--quiet"]).expect(0).out(), "r1 = 0007\n", "{from}");
        let trace = launched(&spec, program, &["--quiet", "--trace"]).expect(0);
        assert!(trace.out().contains(&format!("call {number}  → fun")), "{}", trace.out());
        let stop = launched(&spec, program, &["--quiet", "--break", "fun"]).expect(0);
        assert!(stop.out().contains("0x306"), "{}", stop.out());
    }
    // A text and a target that contradict each other: the trace tells where the program went.
    let spec = CALLS.replace("FROM", "this").replace("BRANCH", "branch(next + to)");
    let astray = "program: |\n  call over\n  over: nop\n  nop\n  nop\n  nop\n  end\naddress: 0x100\n";
    let trace = launched(&spec, astray, &["--quiet", "--trace"]).expect(0);
    assert!(trace.out().contains("call 0x4  → over (went to 0x108)"), "{}", trace.out());
    let words =
        "program: |\n  go over\n  end\n  over: mask r1\n  end\naddress: 0x100\nregisters: { mask: 5 }\nshow: [r1]\n";
    assert_eq!(launched(LANES, words, &["--quiet"]).expect(0).out(), "r1 = 0005\n");
    assert!(launched(LANES, words, &["--trace"]).expect(0).out().contains("go 0x82  → over"));
}

#[test]
fn buffers_do_not_overlap_the_program() {
    let buffers = |buffers: &str| format!("program: |\n  nop\n  end\nbuffers: {{ {buffers} }}\n");
    let err = launched(LANES, &buffers("a: { address: 2, size: 16 }"), &[]).expect(1).err;
    for part in ["launch.yaml:4:26", "overlaps the program, which is at 0x0 to 0x3", "the program", "`address:`"] {
        assert!(err.contains(part), "{part} is missing in {err}");
    }
    launched(LANES, &buffers("a: { address: 4, size: 16 }"), &[]).expect(0);
    // An address that is chosen avoids the program, too.
    let chosen = format!("{}address: 0x100000\n", buffers("a: { size: 16 }"));
    launched(LANES, &chosen, &[]).expect(0);
}

#[test]
fn numbers_of_all_widths_are_printed_and_so_are_bytes_that_are_left() {
    let print = |size: u32, output: &str| {
        let buffer = format!("a: {{ address: 0x1000, words: [0x3c00fe01], size: {size} }}");
        let launch =
            format!("program: |\n  end\nbuffers: {{ {buffer} }}\noutputs: [{{ print: {{ buffer: a, {output} }} }}]\n");
        launched(LANES, &launch, &["--quiet"])
    };
    for (format, expected) in [
        ("u8", "1 254 0 60"),
        ("i8", "1 -2 0 60"),
        ("u16", "65025 15360"),
        ("i16", "-511 15360"),
        ("f16", "NaN 1"),
        ("hex", "3c00fe01"),
    ] {
        let run = print(4, &format!("as: {format}")).expect(0);
        let words: Vec<&str> = run.out().split_whitespace().skip(4).collect();
        assert_eq!(words.join(" "), expected, "{}", run.out());
    }
    let run = print(6, "as: hex").expect(0);
    assert!(run.out().ends_with("0:  3c00fe01\n   bytes:  00  00\n"), "{}", run.out());
    let err = print(6, "as: u16, count: 4").expect(1).err;
    assert!(err.contains("the buffer has only 3 numbers of 16 bits"), "{err}");
}
