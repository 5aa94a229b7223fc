//! Rows of instructions that are groups or parts of a stream.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, ListBuilder, StringViewBuilder};
use arrow_array::{ArrayRef, UInt16Array, UInt32Array, UInt64Array};
use isaforge_analysis::{Instruction, Program, Register};
use isaforge_core::Tables;

use super::keep::Keep;
use crate::column::{Column, element, nothing};
use crate::set::Set;

/// An instruction, or invalid bytes.
#[derive(Debug)]
pub struct Row {
    pc: usize,
    bytes: Vec<u8>,
    opcode: Option<u16>,
    instruction: Result<Instruction, String>,
}

/// How many bytes are analysed at once, since the analysis takes far more memory than the bytes.
const WINDOW: usize = 1 << 14;

/// The maximum length of an instruction. Instructions that may be cut by the end of a window are analysed again with
/// the next one.
const MAX_LENGTH: usize = 256;

pub fn push(
    set: &Set,
    keep: Option<&Keep>,
    rows: &mut Vec<Row>,
    code: &[u8],
    mut from: usize,
    most: usize,
) -> Option<usize> {
    while from < code.len() && rows.len() < most {
        let rest = &code[from..];
        let window = &rest[..rest.len().min(WINDOW)];
        let whole = window.len() == rest.len();
        let program = Program::read(&set.analysis, window);
        let mut end = 0;
        for entry in program.entries {
            if !whole && entry.bytes.end + MAX_LENGTH > window.len() && end > 0 {
                break;
            }
            end = entry.bytes.end;
            let bytes = window.get(entry.bytes.clone()).unwrap_or_default();
            let opcode = match set.tables() {
                Tables::Streams(engine) if engine.stream.sequence.is_none() => {
                    engine.decode(bytes).ok().map(|found| engine.scope(&found).layout.opcode)
                }
                _ => None,
            };
            if keep.is_none_or(|keep| keep.takes(opcode)) {
                let pc = from + entry.bytes.start;
                rows.push(Row { pc, bytes: bytes.to_vec(), opcode, instruction: entry.instruction });
            }
        }
        from += end.max(1);
    }
    (from < code.len()).then_some(from)
}

fn texts<'r>(rows: &'r [Row], text: impl Fn(&'r Instruction) -> &'r str) -> ArrayRef {
    let mut builder = StringViewBuilder::with_capacity(rows.len());
    rows.iter().for_each(|row| builder.append_option(row.instruction.as_ref().ok().map(&text)));
    Arc::new(builder.finish())
}

fn lists(rows: &[Row], of: impl Fn(&Instruction) -> Vec<String>) -> ArrayRef {
    let mut builder = ListBuilder::new(StringViewBuilder::new()).with_field(element());
    for row in rows {
        if let Ok(found) = &row.instruction {
            of(found).into_iter().for_each(|text| builder.values().append_value(text));
        }
        builder.append(row.instruction.is_ok());
    }
    Arc::new(builder.finish())
}

pub fn column(set: &Set, rows: &[Row], column: Column) -> ArrayRef {
    let names = |registers: &mut dyn Iterator<Item = Register>| registers.map(|one| set.analysis.name(one)).collect();
    match column {
        Column::Pc => {
            Arc::new(rows.iter().map(|row| u32::try_from(row.pc).unwrap_or(u32::MAX)).collect::<UInt32Array>())
        }
        Column::Word => Arc::new(UInt64Array::new_null(rows.len())),
        Column::Bytes => {
            let mut builder = BinaryBuilder::new();
            rows.iter().for_each(|row| builder.append_value(&row.bytes));
            Arc::new(builder.finish())
        }
        Column::Opcode => Arc::new(rows.iter().map(|row| row.opcode).collect::<UInt16Array>()),
        Column::Mnemonic => texts(rows, |found| &found.mnemonic),
        Column::Modifiers => {
            lists(rows, |found| found.modifiers.iter().map(|modifier| modifier.text.clone()).collect())
        }
        Column::Flow => texts(rows, |found| found.flow.name()),
        Column::Dst => lists(rows, |found| names(&mut found.writes.iter().map(|(register, _)| *register))),
        Column::Src => lists(rows, |found| names(&mut found.reads.iter().copied())),
        Column::Text => texts(rows, |found| &found.text),
        Column::Error => {
            let mut builder = StringViewBuilder::with_capacity(rows.len());
            rows.iter().for_each(|row| builder.append_option(row.instruction.as_ref().err()));
            Arc::new(builder.finish())
        }
        Column::Program | Column::Hash | Column::Isa => nothing(rows.len()),
    }
}
