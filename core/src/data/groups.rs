//! The tables of groups.

use super::{Data, Reader, Writer, choices, records};
use crate::group::table::{
    Check, Choice, Derive, Derived, Encoding, Field, GroupIsa, Operand, OperandKind, Operation, Padding, Place, Plan,
    PlannedField, Program, Record, RegisterName, RegisterPlace, Rule, Slot, Target, Test, Token, Type,
};

records! {
    GroupIsa {
        name, doc, unit, longest, enums, constants, banks, choices, slots, plans, derived, rules, padding, program, operations,
        operands, registers, order, aliases, defaults, fillers, chains, computed,
    }
    Choice { name, doc, fields, records }
    Field { name, doc, ty, encoding, default, form }
    Place { field, bits, allowed }
    Check { field, bits, allowed }
    Record {
        name, doc, bytes, mask, value, places, implies, needs, checks, unusable, no_encoding, says, provenance, note, source,
    }
    Slot { name, doc, choice, records, without, first, tests, fields, chain, ends, filler, operations, roles }
    Test { mask, value, checks, record, bytes, last }
    Plan { key, slots, any, derived, rules }
    PlannedField { bits, encoding, rule, field }
    Derived { slot, field, headers, rule }
    Rule { doc, headers, when, need }
    Padding { odd, first, rest }
    Target { slot, field, absolute }
    Program { align, ends, targets }
    Operation {
        name, doc, slots, part, is, unless, remark, writes, syntax, also, no_encoding, provenance, note, source,
    }
    Operand { name, doc, kind }
    RegisterPlace { slot, bank, number, count }
    RegisterName { bank, from, to, first, low, is, through, before, after }
}

choices! {
    Type { 0: Flag {}, 1: Decimal {}, 2: Hex {}, 3: Enum { 0: a } }
    Encoding { 0: Plain {}, 1: Minus { 0: a }, 2: Wrap {}, 3: Times { 0: a }, 4: SignedTimes { 0: a } }
    Derive { 0: Length {}, 1: Offset { slot: a, if_any: b } }
    Token {
        0: Text { 0: a }, 1: Flag { 0: a, 1: b, 2: c }, 2: Suffix { 0: a, 1: b, 2: c }, 3: Value { 0: a, 1: b },
        4: Words { 0: a, 1: b, 2: c }, 5: Optional { 0: a, 1: b, 2: c }, 6: Bits { 0: a, 1: b, 2: c }, 7: Operand { 0: a },
        8: Role { 0: a },
    }
    OperandKind { 0: Wire { 0: a }, 1: Register { 0: a }, 2: Select { slot: a, field: b, options: c, sets: d } }
}
