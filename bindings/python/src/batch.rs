//! Columns of many instructions.

use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, Int64Builder, ListBuilder, StringBuilder, StringDictionaryBuilder, UInt16Builder, UInt64Builder,
};
use arrow_array::types::UInt16Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, StringArray, StructArray, UInt16Array};
use arrow_buffer::{Buffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use isaforge_analysis::Program;
use isaforge_core::Tables;
use isaforge_core::decode::decode;
use isaforge_core::print::{Style, print};
use isaforge_core::text::Line;

use crate::input::{CHUNK, Items};
use crate::instruction::kind;
use crate::set::Set;

/// Calls `each` with every word, its index, and whether it is valid (not null).
fn words(items: &Items, mut each: impl FnMut(usize, u64, bool)) {
    let mut chunk = [0u64; CHUNK];
    let mut from = 0;
    loop {
        let count = items.read(from, &mut chunk);
        for (index, word) in chunk[..count].iter().enumerate() {
            each(from + index, *word, items.is_valid(from + index));
        }
        from += count;
        if count < CHUNK {
            return;
        }
    }
}

/// The opcodes of words; null for a word that is not an instruction.
pub fn opcodes(set: &'static Set, isa: &'static isaforge_core::Isa, items: &Items) -> UInt16Array {
    let mut values = Vec::with_capacity(items.len);
    let mut nulls = NullBufferBuilder::new(items.len);
    let plain = items.nulls.is_none();
    words(items, |_, word, valid| {
        let opcode = if plain || valid { set.opcode(isa, word) } else { None };
        values.push(opcode.unwrap_or(0));
        nulls.append(opcode.is_some());
    });
    UInt16Array::new(ScalarBuffer::from(values), nulls.finish())
}

/// The mnemonics for opcodes.
pub fn named(set: &Set, opcodes: UInt16Array) -> DictionaryArray<UInt16Type> {
    DictionaryArray::new(opcodes, set.mnemonics.clone())
}

/// The texts of words; null for a word that is not an instruction. `None` if they exceed 2 GiB.
pub fn texts(set: &'static Set, isa: &'static isaforge_core::Isa, items: &Items) -> Option<StringArray> {
    let mut bytes: Vec<u8> = Vec::with_capacity(items.len.saturating_mul(28));
    let mut offsets: Vec<i32> = Vec::with_capacity(items.len + 1);
    let mut nulls = NullBufferBuilder::new(items.len);
    let mut line = Line::new();
    let mut whole = true;
    offsets.push(0);
    words(items, |_, word, valid| {
        let opcode = if valid && whole { set.opcode(isa, word) } else { None };
        if let Some(opcode) = opcode {
            line.clear();
            print(isa, opcode, word, Style::Customary, &mut line);
            bytes.extend_from_slice(line.as_bytes());
        }
        nulls.append(opcode.is_some());
        match i32::try_from(bytes.len()) {
            Ok(end) => offsets.push(end),
            Err(_) => whole = false,
        }
    });
    whole.then(|| {
        StringArray::new(OffsetBuffer::new(ScalarBuffer::from(offsets)), Buffer::from_vec(bytes), nulls.finish())
    })
}

/// The columns under construction, with one row for each instruction of a program.
struct Rows {
    address: UInt64Builder,
    word: UInt64Builder,
    bytes: BinaryBuilder,
    opcode: UInt16Builder,
    mnemonic: StringDictionaryBuilder<UInt16Type>,
    modifiers: ListBuilder<StringBuilder>,
    flow: StringDictionaryBuilder<UInt16Type>,
    target: Int64Builder,
    reads: ListBuilder<StringBuilder>,
    writes: ListBuilder<StringBuilder>,
    text: StringBuilder,
    error: StringBuilder,
}

/// The maximum number of names in a dictionary of instructions; the name of a group combines several.
const MAX_NAMES: usize = 1 << 16;

/// The records of a program. `items` are words, or the bytes of a program in a set of another kind.
///
/// # Errors
/// When a column would become too large.
pub fn records(set: &'static Set, items: &Items) -> Result<StructArray, String> {
    let mut rows = Rows {
        address: UInt64Builder::new(),
        word: UInt64Builder::new(),
        bytes: BinaryBuilder::new(),
        opcode: UInt16Builder::new(),
        mnemonic: StringDictionaryBuilder::new(),
        modifiers: ListBuilder::new(StringBuilder::new()),
        flow: StringDictionaryBuilder::new(),
        target: Int64Builder::new(),
        reads: ListBuilder::new(StringBuilder::new()),
        writes: ListBuilder::new(StringBuilder::new()),
        text: StringBuilder::new(),
        error: StringBuilder::new(),
    };
    let tables = set.tables();
    match tables {
        Tables::Words(isa) => {
            // The analysis of an instruction takes far more memory than its row, so words are processed in chunks.
            let size = tables.unit();
            let mut chunk = [0u64; CHUNK];
            let mut from = 0;
            loop {
                let count = items.read(from, &mut chunk);
                let code: Vec<u8> =
                    chunk[..count].iter().flat_map(|word| word.to_le_bytes().into_iter().take(size)).collect();
                let placed = set.analysis.clone().at((from * size) as u64);
                let program = Program::read(&placed, &code);
                for (index, entry) in program.entries.iter().enumerate() {
                    let (word, address) = (chunk[index], ((from + index) * size) as u64);
                    let opcode = decode(isa, word).ok();
                    let to = entry.target().map(|target| placed.address(target));
                    if items.is_valid(from + index) {
                        rows.word.append_value(word);
                        rows.push(set, address, opcode, to, &entry.instruction)?;
                    } else {
                        rows.word.append_null();
                        rows.push(set, address, None, None, &Err("the word is null".to_owned()))?;
                    }
                }
                from += count;
                if count < CHUNK {
                    break;
                }
            }
        }
        _ => {
            let code = items.to_vec();
            let program = Program::read(&set.analysis, &code);
            for entry in &program.entries {
                let bytes = code.get(entry.bytes.clone()).unwrap_or_default();
                let opcode = match tables {
                    Tables::Streams(engine) => {
                        engine.decode(bytes).ok().map(|found| engine.scope(&found).layout.opcode)
                    }
                    _ => None,
                };
                rows.bytes.append_value(bytes);
                let to = entry.target();
                rows.push(set, entry.bytes.start as u64, opcode, to, &entry.instruction)?;
            }
        }
    }
    Ok(rows.finish(matches!(tables, Tables::Words(_))))
}

impl Rows {
    fn push(
        &mut self,
        set: &Set,
        address: u64,
        opcode: Option<u16>,
        target: Option<u64>,
        found: &Result<isaforge_analysis::Instruction, String>,
    ) -> Result<(), String> {
        // Offsets have 31 bits.
        if self.text.values_slice().len() > 1 << 30 {
            return Err("the texts have more than 1 GiB".to_owned());
        }
        self.address.append_value(address);
        self.opcode.append_option(opcode);
        self.target.append_option(target.map(|target| target as i64));
        match found {
            Ok(found) => {
                let named = self.mnemonic.append(&found.mnemonic);
                named.map_err(|_| format!("there are more than {MAX_NAMES} different names"))?;
                self.flow.append_option(kind(&found.flow));
                self.text.append_value(&found.text);
                self.error.append_null();
                found.modifiers.iter().for_each(|modifier| self.modifiers.values().append_value(&modifier.text));
                let name = |register| set.analysis.name(register);
                found.reads.iter().for_each(|register| self.reads.values().append_value(name(*register)));
                found.writes.iter().for_each(|(register, _)| self.writes.values().append_value(name(*register)));
            }
            Err(reason) => {
                self.mnemonic.append_null();
                self.flow.append_null();
                self.text.append_null();
                self.error.append_value(reason);
            }
        }
        for list in [&mut self.modifiers, &mut self.reads, &mut self.writes] {
            list.append(found.is_ok());
        }
        Ok(())
    }

    fn finish(mut self, words: bool) -> StructArray {
        let code: (&str, ArrayRef) =
            if words { ("word", Arc::new(self.word.finish())) } else { ("bytes", Arc::new(self.bytes.finish())) };
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("address", Arc::new(self.address.finish())),
            code,
            ("opcode", Arc::new(self.opcode.finish())),
            ("mnemonic", Arc::new(self.mnemonic.finish())),
            ("modifiers", Arc::new(self.modifiers.finish())),
            ("flow", Arc::new(self.flow.finish())),
            ("target", Arc::new(self.target.finish())),
            ("reads", Arc::new(self.reads.finish())),
            ("writes", Arc::new(self.writes.finish())),
            ("text", Arc::new(self.text.finish())),
            ("error", Arc::new(self.error.finish())),
        ];
        let field = |name: &str, ty: &DataType| Arc::new(Field::new(name, ty.clone(), name != "address"));
        let columns = columns.into_iter().map(|(name, column)| (field(name, column.data_type()), column));
        StructArray::from(columns.collect::<Vec<_>>())
    }
}

/// A column of a program whose instructions are not words, from the entries of its listing: names and texts.
///
/// # Errors
/// When a column would become too large.
pub fn column(set: &'static Set, items: &Items, name: &str) -> Result<ArrayRef, String> {
    let rows = records(set, items)?;
    rows.column_by_name(name).cloned().ok_or_else(|| format!("there is no column {name}"))
}
