//! The tables of words, and types that all tables use.

use super::{Data, Reader, Writer, choices, records};
use crate::bits::{Bits, Piece};
use crate::table::*;
use crate::text::{Label, Text};

impl Data for Text {
    fn write(&self, to: &mut Writer) {
        self.str.write(to);
    }

    fn read(from: &mut Reader) -> Option<Self> {
        Data::read(from).map(Text::new)
    }
}

impl Data for Label {
    fn write(&self, to: &mut Writer) {
        to.bytes.push(0);
    }

    fn read(from: &mut Reader) -> Option<Self> {
        u8::read(from).map(|_| Label::new(""))
    }
}

/// Scripts are left out; without one, an instruction prints by its syntax.
impl Data for Script {
    fn write(&self, _: &mut Writer) {}

    fn read(_: &mut Reader) -> Option<Self> {
        Some(Script { mask: 0, value: 1, short: &[], long: &[], scans: false })
    }
}

/// Texts of operands are left out; without them, operands print by their readings.
impl Data for Kind {
    fn write(&self, to: &mut Writer) {
        let Kind { name, doc, width, alternatives, texts: _, limited_mask, limited_value, slots: _ } = self;
        (*name, *doc, *width).write(to);
        alternatives.write(to);
        (*limited_mask, *limited_value).write(to);
    }

    fn read(from: &mut Reader) -> Option<Self> {
        let (name, doc, width) = Data::read(from)?;
        let alternatives = Data::read(from)?;
        let (limited_mask, limited_value) = Data::read(from)?;
        Some(Kind { name, doc, width, alternatives, texts: &[], limited_mask, limited_value, slots: &[] })
    }
}

records! {
    Isa {
        name, doc, word_bits, enums, constants, banks, kinds, shared, forms, decoder, names, usual_mask, usual_value, labels,
        limits,
    }
    Enum { name, doc, values, dotted, default }
    Value { bits, name, text, doc }
    Constants { name, doc, values }
    Constant { value, doc }
    Bank { name, doc, count, width }
    Field { name, bits, ty }
    Shared { name, bits, default, printed, words }
    Alternative { name, doc, mask, value, when, uses, fields, text, also }
    Spelling { text, with }
    Modifier { name, doc, bits, ty, default, flag, also }
    Count { bits, name, plus }
    Target { base, unit }
    Operand { name, doc, access, size, shape, suffixes, quiet_mask, quiet_value }
    Form {
        name, title, doc, unit, source, provenance, note, match_mask, match_value, fixed_mask, fixed_value, ignored, initial,
        modifiers, quiet_mask, quiet_value, operands, syntax, placed, limits, script,
    }
    Decoder { nodes, branches }
    Node { shift, width, first }
    Names { slots, dots }
    Limit { name, doc, kind, alternatives, drop }
    Bits { low, high }
    Piece { at, width, shared }
}

choices! {
    Provenance { 0: Document {}, 1: VendorBinary {}, 2: Driver {}, 3: Assumed {} }
    Type {
        0: Flag {}, 1: Decimal {}, 2: Hex {}, 3: Signed {}, 4: Enum { 0: a }, 5: Constant { 0: a }, 6: Register { 0: a }
    }
    Access { 0: None {}, 1: Read {}, 2: Write {}, 3: ReadWrite {} }
    Shape {
        0: One { kind: a, at: b },
        1: List { kind: a, at: b, count: c, open: d, separator: e, align: f },
        2: Number { bits: a, ty: b, prefix: c, target: d },
    }
    Base { 0: This {}, 1: Next {}, 2: Fixed { 0: a } }
    Token {
        0: Text { 0: a }, 1: Field { 0: a }, 2: Mnemonic {}, 3: Modifiers {}, 4: Modifier { 0: a }, 5: Operand { 0: a }
    }
}
