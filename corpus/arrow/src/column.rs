//! The columns of the table of instructions.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Schema};

/// A column of the table of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Column {
    /// The name of the program.
    Program,
    /// The hash of the program's code, the key of the table of programs.
    Hash,
    /// The name of the instruction set.
    Isa,
    /// The address of the instruction: bytes from the start of the program.
    Pc,
    /// The word, where instructions are words; null for a piece of a word at the program's end.
    Word,
    /// The bytes in the order of memory, where instructions are no words, and of a piece of a word.
    Bytes,
    /// The index of the form; null for groups, which have several operations, and for what is no instruction.
    Opcode,
    /// The name of the instruction; of a group those of its operations.
    Mnemonic,
    /// Modifiers that are not at their defaults, in the order of the text.
    Modifiers,
    /// Where execution goes on: `next`, `branch`, `jump`, `call`, `end`.
    Flow,
    /// The registers that are written, each once.
    Dst,
    /// The registers that are read, each once.
    Src,
    /// The assembly.
    Text,
    /// Why it is no instruction; null for all that are.
    Error,
}

impl Column {
    /// All of them, in the order of the table.
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

    /// Its type.
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

    /// Whether its value is the same for all instructions of a program.
    pub fn is_of_program(self) -> bool {
        matches!(self, Column::Program | Column::Hash | Column::Isa)
    }

    /// Whether its value depends on the form alone, where a set has one form for each instruction.
    pub fn is_of_form(self) -> bool {
        matches!(self, Column::Opcode | Column::Mnemonic)
    }

    /// The field of a schema.
    pub fn field(self) -> Field {
        let nullable = !(self.is_of_program() || self == Column::Pc);
        Field::new(self.name(), self.data_type(), nullable)
    }
}

/// The field of the elements of lists.
pub(crate) fn element() -> FieldRef {
    Arc::new(Field::new("item", DataType::Utf8View, true))
}

/// The schema of these columns.
pub fn schema(columns: &[Column]) -> Schema {
    Schema::new(columns.iter().map(|column| column.field()).collect::<Vec<_>>())
}
