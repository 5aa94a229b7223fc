//! The rules for descriptions of groups, on a small instruction set defined here.

use isaforge_core::group::{assemble, canonical, decode, encode, print};
use isaforge_core::text::Line;

use crate::support::compiled;

/// Groups of two to eight bytes: a header, an optional move, an optional note, a number.
const TINY: &str = "
isa: tiny
doc: Small groups.
enums:
  Kind: { values: [quiet, loud, ~, both], doc: How it sounds. }
choices:
  head:
    fields:
      size: { number: decimal, wrap: true }
      kind: { enum: Kind }
      last: { doc: Ends the program. }
    records:
      short: { bytes: 1, fixed: { 7..6: 0 }, fields: { size: 2..0, kind: 4..3, last: 5 }, implies: {} }
      long: { bytes: 2, fixed: { 7..6: 0b10, 15..8: 0 }, fields: { size: 2..0, kind: 4..3, last: 5 } }
  move:
    fields: { to: { number: decimal }, far: { doc: Moves far. }, done: { doc: No note follows. } }
    records:
      near: { bytes: 1, fixed: { 7..6: 0b10 }, fields: { to: 5..0 } }
      far: { bytes: 2, fixed: { 7..6: 0b11, 15..11: 0 }, fields: { to: [10, 5..0], far: 8, done: 9 } }
  note:
    fields: { tone: { number: decimal, minus: 1, default: 1 } }
    records: { note: { bytes: 1, fixed: { 7..6: 0 }, fields: { tone: 5..0 } } }
  number:
    fields: { n: { number: hex } }
    records: { number: { bytes: 1, fields: { n: 7..0 } } }
group:
  unit: 2
  longest: 8
  slots:
    head: { choice: head }
    move: { choice: move, when: { kind: [loud, both] }, chain: voice, ends: done }
    note: { choice: note, when: { kind: [loud, both] }, chain: voice }
    number: { choice: number, when: { kind: [quiet, both] } }
  derived: [{ field: size, length: true }]
  padding: { odd: 0xee, first: 0xd0, rest: 0xee }
  program: { align: 4, ends: { last: true } }
operations:
  MOVE: { doc: Moves., slots: move, syntax: \"move{far} {to}\" }
  NOTE: { doc: Sounds., slots: note, syntax: \"note {tone}\" }
  NUMBER: { doc: Counts., slots: number, syntax: \"number {n}\" }
  head: { doc: The head., slots: head, syntax: \"{last:|last}\" }
";

#[test]
fn a_small_instruction_set_works_both_ways() {
    let isa = compiled(TINY).expect("a specification").lowered.groups().expect("groups");
    // kind loud, three units: a far move that is marked as last, padded to six bytes.
    let bytes = [0b0000_1011, 0b1100_0101, 0b0000_0110, 0xee, 0xd1, 0xee, 1, 2];
    let group = decode(isa, &bytes).expect("a group");
    assert_eq!(group.as_bytes(), &bytes[..6]);
    assert_eq!((group.get(isa, 1, 0), group.get(isa, 1, 2)), (69, 1));
    assert_eq!(encode(isa, &group.values(isa), &group.form()), Ok(group));
    let short = canonical(isa, &group.values(isa)).expect("a group");
    assert_eq!(short.as_bytes(), [0b0000_1010, 0b1100_0101, 0b0000_0110, 0xee]);
    let mut line = Line::new();
    print(isa, &group, " | ", &mut line);
    assert_eq!(line.as_str(), "move 69 | with length=6");
    let read = assemble(isa, "move.far 3 | note 64 | number 0xff").expect("text");
    let built = read.encode(isa).expect("a group");
    assert_eq!(decode(isa, built.as_bytes()), Ok(built));
    for (text, error) in [
        (&[0b0001_0001u8, 0, 0, 0][..], "byte 0: reserved value 2 in `kind` of head (short)"),
        (&[0b0000_0001, 7, 0, 0], ""),
        (&[0b0000_1001, 0b1000_0001, 0, 0], "the parts take 3 bytes, the header says 2"),
        (&[0b0000_0010, 7, 0xee, 0xee], "byte 2: padding must be 0xd1, found 0xee"),
        (&[0b0000_1001, 0b0100_0000], "byte 1: no record of `chain` starts with 0x40"),
        (&[1], "the group needs 2 bytes, found 1"),
        (&[], "the group needs 1 byte, found 0"),
    ] {
        assert_eq!(decode(isa, text).map_or_else(|e| e.to_string(), |_| String::new()), error, "{text:x?}");
    }
}

#[test]
fn mistakes_are_found_where_they_are() {
    let cases = [
        ("fixed: { 7..6: 0 }, fields: { size: 2..0", "fixed: { 6: 0 }, fields: { size: 2..0", "E0105"),
        ("number: { bytes: 1, fields: { n: 7..0 } }", "number: { bytes: 1, fields: { n: 8..0 } }", "E0104"),
        ("fixed: { 7..6: 0 }, fields: { tone: 5..0 }", "fixed: { 7..5: 0 }, fields: { tone: 5..0 }", "E0107"),
        ("fixed: { 7..6: 0 }, fields: { tone: 5..0 }", "fixed: { 7..6: 2 }, fields: { tone: 5..0 }", "E0301"),
        ("far: { bytes: 2, fixed: { 7..6: 0b11", "far: { bytes: 2, fixed: { 7..6: 0b10", "E0301"),
        ("minus: 1, default: 1", "minus: 1, wrap: true", "E0061"),
        ("values: [quiet, loud, ~, both]", "values: [~, loud, quiet, both]", "E0302"),
        ("implies: {}", "implies: { last: true }", "E0302"),
        ("kind: [loud, both] }, chain: voice, ends", "kind: [lout, both] }, chain: voice, ends", "E0101"),
        ("choice: note,", "choice: nope,", "E0101"),
        ("longest: 8", "longest: 9", "E0062"),
        ("unit: 2", "unit: 0", "E0062"),
        ("align: 4", "align: 0", "E0062"),
        ("bytes: 2, fixed: { 7..6: 0b10,", "bytes: 9, fixed: { 7..6: 0b10,", "E0062"),
        ("derived: [{ field: size, length: true }]", "derived: []", "E0304"),
        ("slots: head, syntax", "syntax", "E0022"),
        ("note: { bytes: 1, fixed", "note: { bytes: 1, no encoding: true, fixed", "E0061"),
        ("\\\"note {tone}\\\"", "\\\"note {tone\\\"", "E0063"),
        ("note {tone}", "note {ton}", "E0101"),
        ("unit: 2", "unit: 2\n  units: 3", "E0021"),
    ];
    for (was, is, code) in cases {
        let was = was.replace("\\\"", "\"");
        assert!(TINY.contains(&was), "{was}");
        let error = match compiled(&TINY.replacen(&was, &is.replace("\\\"", "\""), 1)) {
            Ok(_) => panic!("{is}: no error"),
            Err(error) => error,
        };
        assert!(error.contains(code), "{is}: {error}");
        assert!(error.contains("isa.yaml:"), "{is}: {error}");
    }
}
