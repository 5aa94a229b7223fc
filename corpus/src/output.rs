//! Writes batches for people and for programs.

use std::io::Write;

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::csv::WriterBuilder;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::json::WriterBuilder as JsonWriter;
use datafusion::arrow::json::writer::{JsonArray, LineDelimited};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use isaforge_core::text::is_unseen;

use crate::error::{Error, Result};
use crate::lake::{hex, parquet};
use crate::picture;

/// The format of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A table for people.
    #[default]
    Table,
    /// Comma-separated values with a header line.
    Csv,
    /// Tab-separated values with a header line.
    Tsv,
    /// One JSON array of objects.
    Json,
    /// One JSON object per line.
    Ndjson,
    /// A Parquet file.
    Parquet,
    /// A bar chart: the first column labels the bars, the first number is their length.
    Svg,
}

/// The maximum number of rows in a table for people.
const MAX_ROWS: usize = 10_000;

/// The maximum number of rows in a file or chart that is built as a whole.
const MAX_WHOLE: usize = 1 << 24;

/// Writes an answer while it is computed, and returns the number of rows.
///
/// # Errors
/// Returns errors from the query and from the writer.
pub async fn write(mut rows: SendableRecordBatchStream, format: Format, out: &mut (dyn Write + Send)) -> Result<usize> {
    let schema = rows.schema();
    let mut count = 0;
    match format {
        Format::Table | Format::Parquet | Format::Svg => {
            let mut kept = Vec::new();
            let most = if format == Format::Table { MAX_ROWS } else { MAX_WHOLE };
            let mut held = 0;
            while let Some(batch) = rows.next().await.transpose()? {
                count += batch.num_rows();
                if held < most {
                    let batch = batch.slice(0, batch.num_rows().min(most - held));
                    held += batch.num_rows();
                    kept.push(batch);
                }
            }
            if format == Format::Parquet && held < count {
                return Err(Error::usage(
                    format!("an answer of {count} rows is too long for a file"),
                    "`--format csv` has no limit",
                ));
            }
            whole(&schema, &kept, format, out)?;
            if format == Format::Table && held < count {
                writeln!(out, "… and {} more rows; `--format csv` writes all", count - held)?;
            }
        }
        Format::Csv | Format::Tsv => {
            let tab = format == Format::Tsv;
            let mut first = true;
            while let Some(batch) = rows.next().await.transpose()? {
                count += batch.num_rows();
                values(&batch, tab, first, out)?;
                first = false;
            }
            if first {
                values(&RecordBatch::new_empty(schema), tab, true, out)?;
            }
        }
        Format::Json => {
            let mut writer = json().build::<_, JsonArray>(&mut *out);
            while let Some(batch) = rows.next().await.transpose()? {
                count += batch.num_rows();
                writer.write(&batch)?;
            }
            writer.finish()?;
            writeln!(out)?;
        }
        Format::Ndjson => {
            let mut writer = json().build::<_, LineDelimited>(&mut *out);
            while let Some(batch) = rows.next().await.transpose()? {
                count += batch.num_rows();
                writer.write(&batch)?;
            }
            writer.finish()?;
        }
    }
    Ok(count)
}

/// The settings of JSON: all objects have the same keys.
fn json() -> JsonWriter {
    JsonWriter::new().with_explicit_nulls(true)
}

fn whole(schema: &SchemaRef, rows: &[RecordBatch], format: Format, out: &mut dyn Write) -> Result<()> {
    let all = datafusion::arrow::compute::concat_batches(schema, rows)?;
    match format {
        Format::Parquet => out.write_all(&parquet(&all)?)?,
        Format::Svg => out.write_all(picture::bars(&all)?.as_bytes())?,
        _ => writeln!(out, "{}", printable(&pretty_format_batches(&[texts(&all)?])?.to_string()))?,
    }
    Ok(())
}

/// The text with replacements for characters that would change how a terminal or a picture shows their neighbours.
pub fn printable(text: &str) -> String {
    let moves = |c| matches!(c, '\t' | '\r') || is_unseen(c);
    text.chars().map(|c| if moves(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

fn values(batch: &RecordBatch, tab: bool, header: bool, out: &mut dyn Write) -> Result<()> {
    let delimiter = if tab { b'\t' } else { b',' };
    let mut writer = WriterBuilder::new().with_header(header).with_delimiter(delimiter).build(out);
    Ok(writer.write(&texts(batch)?)?)
}

/// Converts lists and bytes in a batch to texts: elements are separated by spaces, bytes are digits.
fn texts(batch: &RecordBatch) -> Result<RecordBatch> {
    let mut fields = Vec::new();
    let mut columns = Vec::new();
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        let nested = column.data_type().is_nested() || column.data_type().is_binary();
        if !nested && !matches!(column.data_type(), DataType::BinaryView) {
            fields.push(field.as_ref().clone());
            columns.push(column.clone());
            continue;
        }
        let texts: Vec<Option<String>> =
            (0..column.len()).map(|row| cell(column.as_ref(), row)).collect::<Result<_, ArrowError>>()?;
        fields.push(field.as_ref().clone().with_data_type(DataType::Utf8));
        columns.push(std::sync::Arc::new(datafusion::arrow::array::StringArray::from(texts)) as _);
    }
    let schema = datafusion::arrow::datatypes::Schema::new(fields);
    let options = datafusion::arrow::array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(std::sync::Arc::new(schema), columns, &options)?)
}

/// A value as text; `None` if it is null.
pub fn cell(column: &dyn Array, row: usize) -> Result<Option<String>, ArrowError> {
    if column.is_null(row) {
        return Ok(None);
    }
    let joined = |inner: &dyn Array| {
        let parts = (0..inner.len()).map(|at| Ok(cell(inner, at)?.unwrap_or_default()));
        Ok::<_, ArrowError>(parts.collect::<Result<Vec<_>, ArrowError>>()?.join(" "))
    };
    Ok(Some(match column.data_type() {
        DataType::List(_) => joined(column.as_list::<i32>().value(row).as_ref())?,
        DataType::Struct(_) => {
            let parts =
                column.as_struct().columns().iter().map(|part| Ok(cell(part.as_ref(), row)?.unwrap_or_default()));
            parts.collect::<Result<Vec<_>, ArrowError>>()?.join(":")
        }
        DataType::Binary => hex(column.as_binary::<i32>().value(row)),
        DataType::BinaryView => hex(column.as_binary_view().value(row)),
        _ => ArrayFormatter::try_new(column, &FormatOptions::default())?.value(row).to_string(),
    }))
}
