//! The elements of the document as plain data. Unknown elements are errors, so that none of their contents is silently
//! lost; `<Description>` and elements about data formats are skipped.

use isaforge_core::stream::{Piece, Wide};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{Span, Spanned};
use crate::suggest::{did_you_mean, one_of};
use crate::xml::Element;

/// A document.
pub(super) struct Description {
    pub span: Span,
    /// The name of the architecture.
    pub name: String,
    pub encodings: Vec<Encoding>,
    pub instructions: Vec<Instruction>,
    pub types: Vec<OperandType>,
}

/// The layout of words for some instructions.
pub(super) struct Encoding {
    pub name: Spanned<String>,
    pub bits: u16,
    /// The bits that distinguish encodings and operations, with their value for each operation.
    pub mask: Wide,
    pub identifiers: Vec<Wide>,
    /// The names of conditions under which it is used.
    pub conditions: Vec<Spanned<String>>,
    pub fields: Vec<Field>,
}

/// A field, least significant piece first.
pub(super) struct Field {
    pub name: Spanned<String>,
    pub pieces: Vec<Piece>,
}

impl Field {
    pub fn width(&self) -> u8 {
        self.pieces.iter().map(|piece| piece.width).sum()
    }
}

/// An instruction.
pub(super) struct Instruction {
    pub name: Spanned<String>,
    pub doc: String,
    pub branches: bool,
    /// The functional group.
    pub group: String,
    pub forms: Vec<Form>,
}

/// An instruction in one of its encodings.
pub(super) struct Form {
    pub encoding: Spanned<String>,
    pub condition: Option<Spanned<String>>,
    pub opcode: u64,
    pub operands: Vec<Operand>,
    pub span: Span,
}

/// An operand.
pub(super) struct Operand {
    /// The field; `None` if the type alone determines the operand.
    pub field: Option<Spanned<String>>,
    pub ty: Spanned<String>,
    pub size: u16,
    pub input: bool,
    pub output: bool,
    pub order: u64,
}

/// The type of an operand, with its values.
pub(super) struct OperandType {
    pub name: Spanned<String>,
    pub values: Vec<(u64, Spanned<String>)>,
}

/// Reads elements.
pub(super) struct Reader<'a> {
    pub out: &'a mut Diagnostics,
}

impl Reader<'_> {
    pub fn document(&mut self, root: &Element) -> Option<Description> {
        let isa = self.children(root, &["Document", "ISA"]).into_iter().find(|child| child.name.as_str() == "ISA");
        let Some(isa) = isa else {
            self.out.push(Diagnostic::error("E0051", root.span, "`<Spec>` has no `<ISA>`"));
            return None;
        };
        let parts = ["Architecture", "Encodings", "Instructions", "DataFormats", "OperandTypes", "FunctionalGroups"];
        let mut found = Description {
            span: root.span,
            name: String::new(),
            encodings: Vec::new(),
            instructions: Vec::new(),
            types: Vec::new(),
        };
        for part in self.children(isa, &parts) {
            match part.name.as_str() {
                "Architecture" => {
                    found.name = self.text(part, "ArchitectureName").map_or_else(String::new, |t| t.value)
                }
                "Encodings" => {
                    for child in self.children(part, &["Encoding"]) {
                        found.encodings.extend(self.encoding(child));
                    }
                }
                "Instructions" => {
                    for child in self.children(part, &["Instruction"]) {
                        found.instructions.extend(self.instruction(child));
                    }
                }
                "OperandTypes" => {
                    for child in self.children(part, &["OperandType"]) {
                        found.types.extend(self.operand_type(child));
                    }
                }
                _ => {}
            }
        }
        Some(found)
    }

    fn encoding(&mut self, element: &Element) -> Option<Encoding> {
        let known = [
            "EncodingName",
            "BitCount",
            "EncodingIdentifierMask",
            "EncodingIdentifiers",
            "EncodingConditions",
            "Description",
            "MicrocodeFormat",
        ];
        let children = self.children(element, &known);
        let name = self.text(element, "EncodingName")?;
        let count = self.text(element, "BitCount")?;
        let bits = self.number(&count, 10, Wide::BYTES as u64 * 8)? as u16;
        if bits == 0 || !bits.is_multiple_of(8) {
            let message = format!("`{}` has {bits} bits, but words have whole bytes", name.value);
            self.out.push(Diagnostic::error("E0030", count.span, message));
            return None;
        }
        let mask = self.text(element, "EncodingIdentifierMask")?;
        let mask = self.pattern(&mask, bits)?;
        let mut encoding =
            Encoding { name, bits, mask, identifiers: Vec::new(), conditions: Vec::new(), fields: Vec::new() };
        for child in children {
            match child.name.as_str() {
                "EncodingIdentifiers" => {
                    for identifier in self.children(child, &["EncodingIdentifier"]) {
                        encoding.identifiers.extend(self.pattern(&identifier.text, bits));
                    }
                }
                "EncodingConditions" => {
                    for condition in self.children(child, &["EncodingCondition"]) {
                        encoding.conditions.extend(self.text(condition, "ConditionName"));
                    }
                }
                "MicrocodeFormat" => {
                    for map in self.children(child, &["Description", "BitMap"]) {
                        for field in self.children(map, &["Field"]) {
                            encoding.fields.extend(self.field(field, bits));
                        }
                    }
                }
                _ => {}
            }
        }
        Some(encoding)
    }

    fn field(&mut self, element: &Element, bits: u16) -> Option<Field> {
        let name = self.text(element, "FieldName")?;
        let mut pieces = Vec::new();
        for layout in self.children(element, &["FieldName", "Description", "BitLayout"]) {
            for range in layout.children.iter().filter(|child| child.name.as_str() == "Range") {
                let order = match range.attribute("Order") {
                    Some(order) => self.number(&order.clone(), 10, 64)?,
                    None => 0,
                };
                let (count, offset) = (self.text(range, "BitCount")?, self.text(range, "BitOffset")?);
                let width = self.number(&count, 10, 64)? as u8;
                let at = self.number(&offset, 10, u64::from(bits))? as u16;
                if width == 0 || at + u16::from(width) > bits {
                    let message = format!("`{}` lies outside the {bits} bits of its encoding", name.value);
                    self.out.push(Diagnostic::error("E0104", offset.span, message));
                    return None;
                }
                pieces.push((order, Piece { at, width }));
            }
        }
        pieces.sort_by_key(|(order, _)| *order);
        let pieces: Vec<Piece> = pieces.into_iter().map(|(_, piece)| piece).collect();
        let width: u32 = pieces.iter().map(|piece| u32::from(piece.width)).sum();
        if width == 0 || width > 64 {
            let message = format!("`{}` has {width} bits, but a field has 1 to 64", name.value);
            self.out.push(Diagnostic::error("E0030", name.span, message));
            return None;
        }
        Some(Field { name, pieces })
    }

    fn instruction(&mut self, element: &Element) -> Option<Instruction> {
        let known = [
            "InstructionFlags",
            "InstructionName",
            "AliasedInstructionNames",
            "Description",
            "InstructionEncodings",
            "FunctionalGroup",
        ];
        let children = self.children(element, &known);
        let name = self.text(element, "InstructionName")?;
        let child = |name: &str| children.iter().copied().find(|child| child.name.as_str() == name);
        let doc = child("Description").map_or_else(String::new, |doc| doc.text.value.clone());
        let branches = child("InstructionFlags").is_some_and(|flags| is_true(flags, "IsBranch"));
        let group =
            child("FunctionalGroup").and_then(|group| group.children.iter().find(|c| c.name.as_str() == "Name"));
        let group = group.map_or_else(String::new, |group| group.text.value.clone());
        let mut forms = Vec::new();
        if let Some(encodings) = child("InstructionEncodings") {
            for form in self.children(encodings, &["InstructionEncoding"]) {
                forms.extend(self.form(form));
            }
        }
        Some(Instruction { name, doc, branches, group, forms })
    }

    fn form(&mut self, element: &Element) -> Option<Form> {
        let known = ["EncodingName", "EncodingCondition", "Opcode", "Operands"];
        let children = self.children(element, &known);
        let encoding = self.text(element, "EncodingName")?;
        let opcode = self.text(element, "Opcode")?;
        let radix = element.children.iter().find(|child| child.name.as_str() == "Opcode");
        let radix =
            if radix.and_then(|child| child.attribute("Radix")).is_some_and(|r| r.as_str() == "2") { 2 } else { 10 };
        let opcode = self.number(&opcode, radix, u64::MAX)?;
        let condition = children.iter().find(|child| child.name.as_str() == "EncodingCondition");
        let condition = condition.map(|condition| condition.text.clone());
        let mut operands = Vec::new();
        for list in children.iter().filter(|child| child.name.as_str() == "Operands") {
            for operand in self.children(list, &["Operand"]) {
                let implicit =
                    operand.attribute("IsImplicit").is_some_and(|flag| flag.as_str().eq_ignore_ascii_case("true"));
                if !implicit {
                    operands.extend(self.operand(operand));
                }
            }
        }
        operands.sort_by_key(|operand| operand.order);
        Some(Form { encoding, condition, opcode, operands, span: element.span })
    }

    fn operand(&mut self, element: &Element) -> Option<Operand> {
        self.children(element, &["FieldName", "DataFormatName", "OperandType", "OperandSize"]);
        let field = element.children.iter().find(|child| child.name.as_str() == "FieldName");
        let field = field.map(|field| field.text.clone()).filter(|field| !field.value.is_empty());
        let ty = self.text(element, "OperandType")?;
        let size = self.text(element, "OperandSize")?;
        let size = self.number(&size, 10, 65_535)? as u16;
        let flag = |name: &str| element.attribute(name).is_some_and(|flag| flag.as_str().eq_ignore_ascii_case("true"));
        let order = match element.attribute("Order") {
            Some(order) => self.number(&order.clone(), 10, 64)?,
            None => 0,
        };
        Some(Operand { field, ty, size, input: flag("Input"), output: flag("Output"), order })
    }

    fn operand_type(&mut self, element: &Element) -> Option<OperandType> {
        let known = ["OperandTypeName", "Description", "Subtypes", "OperandPredefinedValues", "MicrocodeFormat"];
        let children = self.children(element, &known);
        let name = self.text(element, "OperandTypeName")?;
        let mut values: Vec<(u64, Spanned<String>)> = Vec::new();
        for list in children.iter().filter(|child| child.name.as_str() == "OperandPredefinedValues") {
            for value in self.children(list, &["OperandPredefinedValue"]) {
                let (word, number) = (self.text(value, "Name")?, self.text(value, "Value")?);
                let number = self.number(&number, 10, u64::MAX)?;
                // A value may have several names; the first is printed.
                if !values.iter().any(|(known, _)| *known == number) {
                    values.push((number, word));
                }
            }
        }
        values.sort_by_key(|(number, _)| *number);
        Some(OperandType { name, values })
    }

    /// The children of an element, which must have one of these names.
    fn children<'x>(&mut self, element: &'x Element, known: &[&str]) -> Vec<&'x Element> {
        let (mine, others): (Vec<_>, Vec<_>) =
            element.children.iter().partition(|child| known.contains(&child.name.as_str()));
        for other in others {
            let message = format!("`<{}>` is not expected in `<{}>`", other.name.value, element.name.value);
            let error = Diagnostic::error("E0050", other.name.span, message);
            self.out.push(match did_you_mean(other.name.as_str(), known.iter().copied()) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help(format!("write {}", one_of(known.iter().copied()))),
            });
        }
        mine
    }

    /// The text of a required child.
    fn text(&mut self, element: &Element, name: &str) -> Option<Spanned<String>> {
        let found = element.children.iter().find(|child| child.name.as_str() == name);
        if found.is_none() {
            let message = format!("`<{}>` has no `<{name}>`", element.name.value);
            self.out.push(Diagnostic::error("E0051", element.span, message));
        }
        found.map(|child| child.text.clone())
    }

    fn number(&mut self, text: &Spanned<String>, radix: u32, most: u64) -> Option<u64> {
        let number = u64::from_str_radix(text.value.trim(), radix).ok().filter(|number| *number <= most);
        if number.is_none() {
            let message = format!("`{}` is not a number up to {most}", text.value);
            self.out.push(Diagnostic::error("E0053", text.span, message));
        }
        number
    }

    /// Parses a binary number as bits of a word; blanks and underscores between digits are allowed.
    fn pattern(&mut self, text: &Spanned<String>, bits: u16) -> Option<Wide> {
        let digits: Vec<u8> = text.value.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'_').collect();
        let mut found = Wide::ZERO;
        for (at, digit) in digits.iter().rev().enumerate() {
            match digit {
                b'1' if at < usize::from(bits) => found.set(at as u32, 1, 1),
                b'0' => {}
                _ => {
                    let message = format!("`{}` is not a number of {bits} binary digits", text.value);
                    self.out.push(Diagnostic::error("E0053", text.span, message));
                    return None;
                }
            }
        }
        Some(found)
    }
}

fn is_true(element: &Element, name: &str) -> bool {
    element.children.iter().any(|child| child.name.as_str() == name && child.text.value.eq_ignore_ascii_case("true"))
}
