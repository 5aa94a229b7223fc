//! Differences between revisions of a set of groups.

use std::path::Path;

use isaforge_compiler::diff::{Decoding, Diff, Reading, Revision, diff_groups};
use isaforge_compiler::load::{Loaded, load};
use isaforge_core::Tables;
use isaforge_core::group::text::{SEPARATOR, is};
use isaforge_core::group::{Group, GroupIsa, canonical, decode, print};
use isaforge_core::text::Line;

use crate::support::{bytes, folder, replaced, settings};
use crate::usc::{all_groups, arbitrary, numbers};

fn revision(of: &Loaded) -> Revision<&'static GroupIsa> {
    let Tables::Groups(tables) = of.tables else { panic!("a set of groups") };
    Revision { tables, semantics: of.semantics, hardware: of.hardware }
}

/// The USC specification with texts of its files replaced: file, old text, new text.
fn usc(replacements: &[(&str, &str, &str)]) -> Loaded {
    let of = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/usc");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(of).expect("the specification") {
        let path = entry.expect("a file").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        let text = std::fs::read_to_string(&path).expect("text");
        let own = replacements.iter().filter(|(file, ..)| *file == name).map(|(_, from, to)| (*from, *to));
        let text = replaced(&text, &own.collect::<Vec<_>>());
        files.push((name, text));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    load(&settings(&folder(&files))).unwrap_or_else(|refusal| panic!("{refusal}"))
}

fn text_of(isa: &GroupIsa, group: &Group) -> String {
    let mut line = Line::new();
    print(isa, group, SEPARATOR, &mut line);
    line.as_str().to_owned()
}

fn read(isa: &GroupIsa, bytes: &[u8]) -> Option<String> {
    let group = decode(isa, bytes).ok().filter(|group| group.len() == bytes.len())?;
    Some(text_of(isa, &group))
}

/// Checks every example on both revisions.
fn check_examples(diff: &Diff, old: &GroupIsa, new: &GroupIsa) {
    for example in diff.instructions.iter().flat_map(|entry| &entry.examples) {
        for (isa, reading) in [(old, &example.old), (new, &example.new)] {
            match reading {
                Reading::Text(text) => assert_eq!(read(isa, &bytes(&example.word)).as_ref(), Some(text)),
                Reading::Invalid(_) => assert_eq!(read(isa, &bytes(&example.word)), None),
            }
        }
        assert_ne!(example.old, example.new);
    }
}

/// Checks groups whose operations are all said to read the same. Returns how many such operations there are.
fn check_alike(diff: &Diff, old: &'static GroupIsa, new: &'static GroupIsa) -> usize {
    let alike = |name: &str| {
        let entry = diff.instructions.iter().find(|entry| entry.old.as_ref().is_some_and(|old| old.name == name));
        entry.is_none_or(|entry| entry.decoding == Some(Decoding::Alike))
    };
    if !alike(old.slots[0].name) {
        return 0;
    }
    let mut random = numbers();
    let drawn: Vec<_> = (0..3000).filter_map(|_| canonical(old, &arbitrary(old, &mut random)).ok()).collect();
    let known = all_groups().into_iter().filter_map(|(_, bytes)| decode(old, &bytes).ok());
    let mut count = 0;
    for group in known.chain(drawn) {
        let values = group.values(old);
        let has = |name| {
            old.operations
                .iter()
                .filter(|o| o.name == name)
                .any(|o| (0..32).any(|s| group.has(s) && is(old, o, s, &values)))
        };
        if old.operations.iter().all(|operation| alike(operation.name) || !has(operation.name)) {
            assert_eq!(read(new, group.as_bytes()), Some(text_of(old, &group)), "{group:?}");
            count += 1;
        }
    }
    count
}

#[test]
fn a_revision_is_the_same_as_itself() {
    let both = [usc(&[]), usc(&[])];
    let found = diff_groups(revision(&both[0]), revision(&both[1]));
    assert!(found.is_empty() && found.decodes_alike(), "{}", found.to_text());
    assert_eq!((found.alike, found.old.instructions), (160, 160));
}

/// One change of the USC specification: file, old text and new text of each place; lines of the report; how many
/// instructions are reported, and how many have words that read differently or could not be decided.
type Case<'a> = (&'a [(&'a str, &'a str, &'a str)], &'a [&'a str], usize, (usize, usize));

const OPCODE: (&str, &str, &str) = ("bitwise.yaml", "- nor\n      - nand\n", "- nand\n      - nor\n");
const FIELD: (&str, &str, &str) = ("bitwise.yaml", "imm16: 23..8, ph0", "imm16: [15..8, 23..16], ph0");
const VALUE: (&str, &str, &str) = ("bitwise.yaml", "- ~\n      - nor", "- andn\n      - nor");
const ADDED: (&str, &str, &str) = (
    "operations-bitwise.yaml",
    "  XNOR:\n",
    "  ANDN: { doc: Bits that are clear., slots: [b1], is: { logical_op: andn }, does: \"ft4 = masked() & ~other()\", \
     syntax: \"andn ft4, {mska:_|ft1}, ft2, {mskb:_|ft1.invert}, {S3}\" }\n  XNOR:\n",
);
const REMOVED: (&str, &str, &str) = (
    "operations-bitwise.yaml",
    "  ROL:\n    doc: \"Rotates left.\"\n    slots: [b2]\n    is: { shift2_op: rol }\n    part: shift\n    \
     does: \"ft5 = rotl(ft4, S4)\"\n    syntax: \"rol ft5, ft4, {S4}\"\n",
    "",
);
const TEXT: (&str, &str, &str) = ("operations-bitwise.yaml", "\"rev ft2, {S2}\"", "\"bitrev ft2, {S2}\"");
const DOES: (&str, &str, &str) = ("operations-bitwise.yaml", "ft5 = ft4 >> S4", "ft5 = ft4 << S4");
const SOURCE: (&str, &str, &str) =
    ("sources.yaml", "sb0: 6, s0: 5..0, sb1: 13, s1: 12..8", "sb0: 13, s0: 5..0, sb1: 6, s1: 12..8");
const PRESENCE: [(&str, &str, &str); 2] = [
    (
        "isa.yaml",
        "{ choice: sbo, when: { unit: control, ctrlop: sbo } }",
        "{ choice: sbo, when: { unit: control, ctrlop: ditr } }",
    ),
    (
        "isa.yaml",
        "{ choice: ditr, when: { unit: control, ctrlop: ditr } }",
        "{ choice: ditr, when: { unit: control, ctrlop: sbo } }",
    ),
];

#[test]
fn each_difference_is_named_with_what_changed() {
    let cases: &[Case<'_>] = &[
        (
            &[OPCODE],
            &[
                "moved instructions: 2",
                "  NAND\n    opcode bits: 7..6 = 0x1, 4 = 0, 2..0 = 0x5 → 7..6 = 0x1, 4 = 0, 2..0 = 0x4\n",
                "  enum `logical_op` changed\n    value `nor` moved: 4 → 5\n",
                "old: nor ft4, _, ft2, _",
                "new: nand ft4, _, ft2, _",
            ],
            2,
            (2, 0),
        ),
        (
            &[FIELD],
            &["  BYP.imm16\n    field `imm16` moved: bits 23..8 of `phase0_imm16` → \
                 bits [15..8, 23..16] of `phase0_imm16`\n"],
            1,
            (1, 0),
        ),
        (
            &[VALUE],
            &["    value `andn` added: 3", "old: (invalid: byte 3: reserved value 3 in `logical_op`"],
            1,
            (0, 0),
        ),
        (&[VALUE, ADDED], &["added instructions: 1\n  ANDN\n", "    value `andn` added: 3"], 1, (0, 0)),
        (
            &[REMOVED, ("fidelity.yaml", "ROL, ", "")],
            &["removed instructions: 1\n  ROL\n", "old: rol ft5, ft4, ", "new: with b2, b2.shift2_op=rol"],
            2,
            (1, 0),
        ),
        (
            &[TEXT],
            &["  REV\n    syntax changed: `rev ft2, {S2}` → `bitrev ft2, {S2}`\n", "| rev ft2", "| bitrev ft2"],
            1,
            (1, 0),
        ),
        (
            &[DOES],
            &[
                "  SHR\n    operation changed: `ft5 = ft4 >> S4` → `ft5 = ft4 << S4`",
                "1 instruction does something else.",
            ],
            1,
            (0, 0),
        ),
        (
            &[SOURCE],
            &[
                "  FADD\n    ",
                "choice `lower` changed\n    field `sb0` moved: bit 6 of `2lo_1b6i_1b5i` → bit 13 of `2lo_1b6i_1b5i`\n",
            ],
            89,
            (79, 10),
        ),
        (
            &PRESENCE,
            &["  header\n    conditions `sbo` changed: in `control` where `ctrlop` is `sbo` → \
                 in `control` where `ctrlop` is `ditr`\n"],
            1,
            (1, 0),
        ),
    ];
    let first = usc(&[]);
    let old = revision(&first);
    let mut failures = Vec::new();
    for (replacements, lines, count, decoding) in cases {
        let second = usc(replacements);
        let new = revision(&second);
        let found = diff_groups(old, new);
        let text = found.to_text();
        failures.extend(lines.iter().filter(|line| !text.contains(**line)).map(|line| format!("{line}: {text}")));
        let counted = (found.instructions.len(), (found.different, found.unproven));
        if counted != (*count, *decoding) {
            failures.push(format!("{counted:?}: {text}"));
        }
        assert_eq!(found.decodes_alike(), counted.1 == (0, 0));
        check_examples(&found, old.tables, new.tables);
        let alike = check_alike(&found, old.tables, new.tables);
        if alike < 500 && found.instructions.iter().all(|entry| entry.name() != "header") {
            failures.push(format!("only {alike} groups read alike: {text}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
