//! The tables of streams.

use super::{Data, Reader, Writer, choices, records};
use crate::stream::sequence::{Enumerant, ExtendedSet, HeaderUnit, Kind, Operation, Says, Sequence, Slot, Times};
use crate::stream::{
    Bank, Branch, Engine, Expression, Field, Input, Instruction, Layout, Notation, Operand, Piece, Quick, Role, Set,
    Source, Stream, Tested, Token, Tree, Type, Wide,
};

/// Fast tests are left out; without them every word takes the exact path. Only empty lists of them are written.
macro_rules! left_out {
    ($($name:ident)*) => {$(
        impl Data for $name {
            fn write(&self, _: &mut Writer) {}

            fn read(_: &mut Reader) -> Option<Self> {
                None
            }
        }
    )*};
}

left_out!(Quick Tested);

impl Data for Wide {
    fn write(&self, to: &mut Writer) {
        self.0.write(to);
    }

    fn read(from: &mut Reader) -> Option<Self> {
        Data::read(from).map(Wide)
    }
}

impl Data for Engine {
    fn write(&self, to: &mut Writer) {
        Stream { quick: &[], tested: &[], ..*self.stream }.write(to);
        self.generation.write(to);
    }

    fn read(from: &mut Reader) -> Option<Self> {
        Some(Engine { stream: Data::read(from)?, generation: Data::read(from)? })
    }
}

records! {
    Stream {
        name, doc, unit, longest, swap, generations, generation_names, exclusive, asides, sequence, enums, banks, sets, layouts,
        instructions, expressions, quick, tested,
    }
    Bank { name, doc, count, width, open, close, names, also }
    Set { name, doc, bits, parameters, first, count, tree }
    Tree { root, branches, lists }
    Instruction { name, title, doc, unit, source, provenance, note, preferred }
    Layout {
        name, opcode, role, bits, length, since, until, mask, value, fixed_mask, fixed_value, ignored, conditions, otherwise,
        fields, text, key, operands, simple,
    }
    Field { name, doc, source, width, signed, default, ty, leaves }
    Piece { at, width }
    Notation { radix, upper, digits, prefix, plus, quiet_zero, wraps, target, call }
    Operand { field, access, size, sized }
    Expression { text, nodes, lists, constants, inputs }
    Sequence { operations, sets, kinds, header }
    Operation { name, also, short, code, operands, says }
    ExtendedSet { name, operations }
    Slot { kind, times }
    Enumerant { name, also, value, parameters }
}

choices! {
    Branch { 0: Nothing {}, 1: One { 0: a }, 2: List { 0: a }, 3: Look { shift: a, width: b, first: c } }
    Role { 0: Own {}, 1: Preferred {}, 2: Assembler {} }
    Source { 0: Bits { 0: a }, 1: Computed { value: a, inverse: b }, 2: Outer { 0: a } }
    Type { 0: Number { 0: a }, 1: Enum { 0: a, 1: b }, 2: Register { 0: a }, 3: Set { 0: a, 1: b }, 4: Float { 0: a } }
    Token {
        0: Text { 0: a }, 1: Field { 0: a }, 2: Column { 0: a }, 3: If { 0: a, 1: b }, 4: Bits { 0: a, 1: b }, 5: Aside { 0: a }
    }
    Input { 0: Field { 0: a }, 1: Generation {}, 2: Length {} }
    HeaderUnit { 0: Is { 0: a }, 1: Any { 0: a }, 2: Bound {} }
    Says { 0: Nothing {}, 1: Integers { 0: a, 1: b }, 2: Floats { 0: a }, 3: Imports { 0: a } }
    Times { 0: Once {}, 1: Maybe {}, 2: Any {} }
    Kind {
        0: Id {}, 1: ResultType {}, 2: Result {}, 3: Number {}, 4: Text {}, 5: Float {}, 6: OfResult {}, 7: OfFirst {},
        8: Value { 0: a }, 9: Bits { 0: a }, 10: Pair { 0: a, 1: b }, 11: Nested {}, 12: Extended {},
    }
}
