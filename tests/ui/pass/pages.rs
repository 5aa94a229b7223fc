//! What the pages of the catalogue say is right.
#![allow(dead_code, reason = "it need only compile")]

/// E0001: Invalid YAML.
mod e0001 {
    isaforge::isa! { "specs/pages/e0001/isa.yaml" }
}

/// E0002: A key is given twice.
mod e0002 {
    isaforge::isa! { "specs/pages/e0002/isa.yaml" }
}

/// E0003: A file cannot be read.
mod e0003 {
    isaforge::isa! { "specs/pages/e0003/isa.yaml" }
}

/// E0005: Unmatched quote.
mod e0005 {
    isaforge::isa! { "specs/pages/e0005/isa.yaml" }
}

/// E0006: An invisible character.
mod e0006 {
    isaforge::isa! { "specs/pages/e0006/isa.yaml" }
}

/// E0010: Unterminated markup in the XML file.
mod e0010 {
    isaforge::isa! { "specs/pages/e0010/isa.yaml" }
}

/// E0011: A bare `&` in the XML file.
mod e0011 {
    isaforge::isa! { "specs/pages/e0011/isa.yaml" }
}

/// E0012: A bare `<` in the XML file.
mod e0012 {
    isaforge::isa! { "specs/pages/e0012/isa.yaml" }
}

/// E0013: A closing tag is missing or closes something else.
mod e0013 {
    isaforge::isa! { "specs/pages/e0013/isa.yaml" }
}

/// E0014: An attribute is given twice.
mod e0014 {
    isaforge::isa! { "specs/pages/e0014/isa.yaml" }
}

/// E0016: Unknown entity.
mod e0016 {
    isaforge::isa! { "specs/pages/e0016/isa.yaml" }
}

/// E0017: Content outside the root element.
mod e0017 {
    isaforge::isa! { "specs/pages/e0017/isa.yaml" }
}

/// E0020: A value of the wrong kind.
mod e0020 {
    isaforge::isa! { "specs/pages/e0020/isa.yaml" }
}

/// E0033: A number that makes no sense here.
mod e0033 {
    isaforge::isa! { "specs/pages/e0033/isa.yaml" }
}

/// E0034: An empty list where an entry is required.
mod e0034 {
    isaforge::isa! { "specs/pages/e0034/isa.yaml" }
}

/// E0035: Not a valid name for a crate.
mod e0035 {
    isaforge::isa! { "specs/pages/e0035/isa.yaml" }
}

/// E0041: A flag cannot have another default.
mod e0041 {
    isaforge::isa! { "specs/pages/e0041/isa.yaml" }
}

/// E0043: Unmatched brace.
mod e0043 {
    isaforge::isa! { "specs/pages/e0043/isa.yaml" }
}

/// E0044: Unknown name in a template.
mod e0044 {
    isaforge::isa! { "specs/pages/e0044/isa.yaml" }
}

/// E0045: A key that does not apply here.
mod e0045 {
    isaforge::isa! { "specs/pages/e0045/isa.yaml" }
}

/// E0046: A text writes the name of a register twice.
mod e0046 {
    isaforge::isa! { "specs/pages/e0046/isa.yaml" }
}

/// E0050: An unknown element.
mod e0050 {
    isaforge::isa! { "specs/pages/e0050/isa.yaml" }
}

/// E0053: Not a number.
mod e0053 {
    isaforge::isa! { "specs/pages/e0053/isa.yaml" }
}

/// E0054: This cannot be corrected.
mod e0054 {
    isaforge::isa! { "specs/pages/e0054/isa.yaml" }
}

/// E0055: An element without a position.
mod e0055 {
    isaforge::isa! { "specs/pages/e0055/isa.yaml" }
}

/// E0056: No rule for the position of a secondary opcode.
mod e0056 {
    isaforge::isa! { "specs/pages/e0056/isa.yaml" }
}

/// E0057: More sources than positions.
mod e0057 {
    isaforge::isa! { "specs/pages/e0057/isa.yaml" }
}

/// E0058: An attribute without an encoding.
mod e0058 {
    isaforge::isa! { "specs/pages/e0058/isa.yaml" }
}

/// E0059: An attribute cannot have this value.
mod e0059 {
    isaforge::isa! { "specs/pages/e0059/isa.yaml" }
}

/// E0060: Not a value of the field.
mod e0060 {
    isaforge::isa! { "specs/pages/e0060/isa.yaml" }
}

/// E0061: Keys that exclude each other.
mod e0061 {
    isaforge::isa! { "specs/pages/e0061/isa.yaml" }
}

/// E0062: Unsupported size of a group.
mod e0062 {
    isaforge::isa! { "specs/pages/e0062/isa.yaml" }
}

/// E0063: Incomplete syntax of an operation.
mod e0063 {
    isaforge::isa! { "specs/pages/e0063/isa.yaml" }
}

/// E0071: A group without instructions.
mod e0071 {
    isaforge::isa! { "specs/pages/e0071/isa.yaml" }
}

/// E0080: The text of an instruction does not show a field.
mod e0080 {
    isaforge::isa! { "specs/pages/e0080/isa.yaml" }
}

/// E0081: An expression cannot be computed.
mod e0081 {
    isaforge::isa! { "specs/pages/e0081/isa.yaml" }
}

/// E0082: Fields that depend on each other do not fit.
mod e0082 {
    isaforge::isa! { "specs/pages/e0082/isa.yaml" }
}

/// E0083: Unsupported way to store a number.
mod e0083 {
    isaforge::isa! { "specs/pages/e0083/isa.yaml" }
}

/// E0084: The file and the specification do not match.
mod e0084 {
    isaforge::isa! { "specs/pages/e0084/isa.yaml" }
}

/// E0102: A name is defined twice.
mod e0102 {
    isaforge::isa! { "specs/pages/e0102/isa.yaml" }
}

/// E0103: Two values have the same bits.
mod e0103 {
    isaforge::isa! { "specs/pages/e0103/isa.yaml" }
}

/// E0105: Undefined bits.
mod e0105 {
    isaforge::isa! { "specs/pages/e0105/isa.yaml" }
}

/// E0106: Two instructions match the same word.
mod e0106 {
    isaforge::isa! { "specs/pages/e0106/isa.yaml" }
}

/// E0109: Two modifiers print alike.
mod e0109 {
    isaforge::isa! { "specs/pages/e0109/isa.yaml" }
}

/// E0111: Limit of the tables exceeded.
mod e0111 {
    isaforge::isa! { "specs/pages/e0111/isa.yaml" }
}

/// E0113: The assembler cannot read this name.
mod e0113 {
    isaforge::isa! { "specs/pages/e0113/isa.yaml" }
}

/// E0114: Text that cannot be read back.
mod e0114 {
    isaforge::isa! { "specs/pages/e0114/isa.yaml" }
}

/// E0115: An instruction is named like another one with a modifier.
mod e0115 {
    isaforge::isa! { "specs/pages/e0115/isa.yaml" }
}

/// E0116: A default that is not one of the values.
mod e0116 {
    isaforge::isa! { "specs/pages/e0116/isa.yaml" }
}

/// E0118: Unreachable rule.
mod e0118 {
    isaforge::isa! { "specs/pages/e0118/isa.yaml" }
}

/// E0120: Syntax error in a text.
mod e0120 {
    isaforge::isa! { "specs/pages/e0120/isa.yaml" }
}

/// E0122: Mismatched types.
mod e0122 {
    isaforge::isa! { "specs/pages/e0122/isa.yaml" }
}

/// E0123: Wrong arguments to a function.
mod e0123 {
    isaforge::isa! { "specs/pages/e0123/isa.yaml" }
}

/// E0124: Arms that do not fit the values of a `match`.
mod e0124 {
    isaforge::isa! { "specs/pages/e0124/isa.yaml" }
}

/// E0125: A number that its type cannot hold.
mod e0125 {
    isaforge::isa! { "specs/pages/e0125/isa.yaml" }
}

/// E0126: Invalid assignment, or an unused value.
mod e0126 {
    isaforge::isa! { "specs/pages/e0126/isa.yaml" }
}

/// E0127: A text that expands beyond the limits of an instruction.
mod e0127 {
    isaforge::isa! { "specs/pages/e0127/isa.yaml" }
}

/// E0128: A destination that is never written.
mod e0128 {
    isaforge::isa! { "specs/pages/e0128/isa.yaml" }
}

/// E0130: A key that a stream does not have.
mod e0130 {
    isaforge::isa! { "specs/pages/e0130/isa.yaml" }
}

/// E0131: A value is computed from itself.
mod e0131 {
    isaforge::isa! { "specs/pages/e0131/isa.yaml" }
}

/// E0132: No inverse from a value to its bits.
mod e0132 {
    isaforge::isa! { "specs/pages/e0132/isa.yaml" }
}

/// E0133: A text that is printed but does not read back.
mod e0133 {
    isaforge::isa! { "specs/pages/e0133/isa.yaml" }
}

/// E0134: It cannot be decided whether two instructions match the same word.
mod e0134 {
    isaforge::isa! { "specs/pages/e0134/isa.yaml" }
}

/// E0301: Two records start alike.
mod e0301 {
    isaforge::isa! { "specs/pages/e0301/isa.yaml" }
}

/// E0303: No record fits in a slot.
mod e0303 {
    isaforge::isa! { "specs/pages/e0303/isa.yaml" }
}

/// E0304: A header that does not determine its group.
mod e0304 {
    isaforge::isa! { "specs/pages/e0304/isa.yaml" }
}

/// W0201: A correction without effect.
mod w0201 {
    isaforge::isa! { "specs/pages/w0201/isa.yaml" }
}

/// W0204: An assumption without a reason.
mod w0204 {
    isaforge::isa! { "specs/pages/w0204/isa.yaml" }
}

/// W0205: A field never varies.
mod w0205 {
    isaforge::isa! { "specs/pages/w0205/isa.yaml" }
}

/// W0206: An entry that applies to nothing.
mod w0206 {
    isaforge::isa! { "specs/pages/w0206/isa.yaml" }
}

/// W0209: A list of values ends early.
mod w0209 {
    isaforge::isa! { "specs/pages/w0209/isa.yaml" }
}

/// W0210: Duplicate element.
mod w0210 {
    isaforge::isa! { "specs/pages/w0210/isa.yaml" }
}

/// W0211: A scattered branch target without a defined unit.
mod w0211 {
    isaforge::isa! { "specs/pages/w0211/isa.yaml" }
}

/// W0212: An entry that is never read or written.
mod w0212 {
    isaforge::isa! { "specs/pages/w0212/isa.yaml" }
}

/// W0221: A modifier that the text never reads.
mod w0221 {
    isaforge::isa! { "specs/pages/w0221/isa.yaml" }
}

/// W0223: A branch that goes elsewhere than its target.
mod w0223 {
    isaforge::isa! { "specs/pages/w0223/isa.yaml" }
}

/// W0303: Unused choice or record.
mod w0303 {
    isaforge::isa! { "specs/pages/w0303/isa.yaml" }
}

fn main() {}
