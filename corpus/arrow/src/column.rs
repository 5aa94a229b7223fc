//! The columns of the instruction table.

use std::sync::Arc;

use arrow_array::{ArrayRef, StringViewArray};
use arrow_schema::{DataType, Field, FieldRef, Schema};

/// A column of the instruction table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Column {
    /// The name of the program.
    Program,
    /// The hash of the program's code, which is the key of the program table.
    Hash,
    /// The name of the instruction set.
    Isa,
    /// The address of the instruction in bytes from the start of the program.
    Pc,
    /// The word, if instructions are words; null for an incomplete word at the end of the program.
    Word,
    /// The bytes in memory order, if instructions are not words, and for an incomplete word.
    Bytes,
    /// The index of the form; null for groups, which have several operations, and for invalid instructions.
    Opcode,
    /// The mnemonic of the instruction; for a group, the names of its operations.
    Mnemonic,
    /// The modifiers that are not at their defaults, in text order.
    Modifiers,
    /// Where execution continues: `next`, `branch`, `jump`, `call` or `end`.
    Flow,
    /// The registers that written operands of a word name, or that a group or an instruction of a stream writes, without
    /// duplicates. A word may name more than it writes: a list may be longer than what is loaded.
    Dst,
    /// The registers that read operands of a word name, or that a group or an instruction of a stream reads, without
    /// duplicates.
    Src,
    /// The assembly.
    Text,
    /// Why it is not an instruction; null for valid instructions.
    Error,
}

impl Column {
    /// All columns in table order.
    pub const ALL: [Column; 14] = [
        Column::Program,
        Column::Hash,
        Column::Isa,
        Column::Pc,
        Column::Word,
        Column::Bytes,
        Column::Opcode,
        Column::Mnemonic,
        Column::Modifiers,
        Column::Flow,
        Column::Dst,
        Column::Src,
        Column::Text,
        Column::Error,
    ];

    /// The name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Column::Program => "program",
            Column::Hash => "hash",
            Column::Isa => "isa",
            Column::Pc => "pc",
            Column::Word => "word",
            Column::Bytes => "bytes",
            Column::Opcode => "opcode",
            Column::Mnemonic => "mnemonic",
            Column::Modifiers => "modifiers",
            Column::Flow => "flow",
            Column::Dst => "dst",
            Column::Src => "src",
            Column::Text => "text",
            Column::Error => "error",
        }
    }

    /// The Arrow type.
    pub fn data_type(self) -> DataType {
        match self {
            Column::Pc => DataType::UInt32,
            Column::Word => DataType::UInt64,
            Column::Bytes => DataType::Binary,
            Column::Opcode => DataType::UInt16,
            Column::Modifiers | Column::Dst | Column::Src => DataType::List(element()),
            _ => DataType::Utf8View,
        }
    }

    /// Whether all instructions of a program have the same value.
    pub fn is_of_program(self) -> bool {
        matches!(self, Column::Program | Column::Hash | Column::Isa)
    }

    /// Whether the value depends only on the form, for sets with one form per instruction.
    pub fn is_of_form(self) -> bool {
        matches!(self, Column::Opcode | Column::Mnemonic)
    }

    /// The field in a schema.
    pub fn field(self) -> Field {
        let nullable = !(self.is_of_program() || self == Column::Pc);
        Field::new(self.name(), self.data_type(), nullable)
    }
}

/// The field of list elements.
pub(crate) fn element() -> FieldRef {
    Arc::new(Field::new("item", DataType::Utf8View, true))
}

/// The schema for these columns.
pub fn schema(columns: &[Column]) -> Schema {
    Schema::new(columns.iter().map(|column| column.field()).collect::<Vec<_>>())
}

/// A column of texts in which every row is null.
pub(crate) fn nothing(rows: usize) -> ArrayRef {
    Arc::new(StringViewArray::new_null(rows))
}
