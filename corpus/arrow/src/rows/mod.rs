//! Converts instructions to batches, one row each.
//!
//! - `keep`: which instructions become rows
//! - `words`: rows of words; `entries`: those of instructions that are groups or parts of a stream

mod entries;
mod keep;
mod words;

pub use keep::Keep;

use std::sync::Arc;

use arrow_array::builder::StringViewBuilder;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, SchemaRef};

use crate::column::{Column, schema};
use crate::set::Set;

/// The rows of some programs.
///
/// [`push`](Rows::push) decodes and stores; [`finish`](Rows::finish) builds only the requested columns.
#[derive(Debug)]
pub struct Rows {
    set: Arc<Set>,
    columns: Vec<Column>,
    schema: SchemaRef,
    keep: Option<Keep>,
    programs: Vec<OfProgram>,
    len: usize,
    found: Found,
}

/// The rows of a program in a batch.
#[derive(Debug)]
struct OfProgram {
    name: String,
    hash: String,
    rows: usize,
}

/// The instructions found so far.
#[derive(Debug)]
enum Found {
    Words(words::Words),
    Entries(Vec<entries::Row>),
}

impl Rows {
    /// Creates an empty set of rows. Without `keep`, all instructions are kept.
    pub fn new(set: &Arc<Set>, columns: &[Column], keep: Option<Keep>) -> Rows {
        let found = match set.word_bytes() {
            Some(_) => Found::Words(words::Words::default()),
            None => Found::Entries(Vec::new()),
        };
        let schema = Arc::new(schema(columns));
        let keep = keep.filter(|_| set.has_opcodes());
        Rows { set: Arc::clone(set), columns: columns.to_vec(), schema, keep, programs: Vec::new(), len: 0, found }
    }

    /// The set of the programs.
    pub fn set(&self) -> &Arc<Set> {
        &self.set
    }

    /// The schema of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends the instructions of a program, starting at byte `from`, until there are about `most` rows. Returns the
    /// byte to continue from; `None` at the end of the program. A program is read to its end before the next.
    pub fn push(&mut self, program: &str, hash: &str, code: &[u8], from: usize, most: usize) -> Option<usize> {
        let before = self.len;
        let next = match &mut self.found {
            Found::Words(words) => {
                let next = words.push(&self.set, self.keep.as_ref(), &self.columns, code, from, most);
                self.len = words.len();
                next
            }
            Found::Entries(rows) => {
                let next = entries::push(&self.set, self.keep.as_ref(), rows, code, from, most);
                self.len = rows.len();
                next
            }
        };
        let rows = self.len - before;
        if rows > 0 {
            // Programs are short, so copying texts that are not requested would take as long as decoding.
            let text =
                |column, text: &str| if self.columns.contains(&column) { text.to_owned() } else { String::new() };
            let (name, hash) = (text(Column::Program, program), text(Column::Hash, hash));
            self.programs.push(OfProgram { name, hash, rows });
        }
        next
    }

    /// Builds a batch from all rows, and removes them.
    ///
    /// # Errors
    /// Returns errors from Arrow.
    pub fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        let programs = std::mem::take(&mut self.programs);
        let columns: Vec<ArrayRef> = self
            .columns
            .iter()
            .map(|column| match column {
                Column::Program => repeated(&programs, self.len, |program| &program.name),
                Column::Hash => repeated(&programs, self.len, |program| &program.hash),
                Column::Isa => repeated(&programs, self.len, |_| &self.set.name),
                column => match &self.found {
                    Found::Words(words) => words.column(&self.set, *column),
                    Found::Entries(rows) => entries::column(&self.set, rows, *column),
                },
            })
            .collect();
        match &mut self.found {
            Found::Words(words) => words.clear(),
            Found::Entries(rows) => rows.clear(),
        }
        let options = RecordBatchOptions::new().with_row_count(Some(std::mem::take(&mut self.len)));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
    }
}

/// A text of each program, repeated for each of its rows.
fn repeated<'p>(programs: &'p [OfProgram], rows: usize, text: impl Fn(&'p OfProgram) -> &'p str) -> ArrayRef {
    let mut builder = StringViewBuilder::with_capacity(rows);
    for program in programs {
        let text = text(program);
        if text.len() <= 12 {
            (0..program.rows).for_each(|_| builder.append_value(text));
            continue;
        }
        // All rows share one copy of the text.
        let block = builder.append_block(text.as_bytes().to_vec().into());
        let len = text.len() as u32;
        for _ in 0..program.rows {
            if builder.try_append_view(block, 0, len).is_err() {
                builder.append_value(text);
            }
        }
    }
    Arc::new(builder.finish())
}
