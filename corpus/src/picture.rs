//! An answer as a bar chart.

use std::fmt::Write;

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};

use crate::error::{Error, Result};
use crate::output::{cell, printable};

/// The maximum number of rows in a chart.
const MAX_BARS: usize = 60;

const ROW: usize = 20;
const BAR: f64 = 480.0;
/// The approximate width of a character in the font.
const CHARACTER: usize = 8;

/// A bar for each row: the first column that is not a number labels it, the first number is its length.
///
/// # Errors
/// When no column is a number.
pub fn bars(rows: &RecordBatch) -> Result<String> {
    let numbers = rows.columns().iter().position(|column| column.data_type().is_numeric());
    let Some(number) = numbers else {
        return Err(Error::usage(
            "a picture of bars needs a column of numbers",
            "`--format table` shows the answer as it is",
        ));
    };
    let label = rows.columns().iter().position(|column| !column.data_type().is_numeric());
    // Without a text column, the first number labels the bars and the second is their length.
    let second = rows.columns().iter().skip(number + 1).position(|column| column.data_type().is_numeric());
    let (label, number) = match (label, second) {
        (Some(label), _) => (Some(label), number),
        (None, Some(second)) => (Some(number), number + 1 + second),
        (None, None) => (None, number),
    };
    let values = cast(rows.column(number), &DataType::Float64)?;
    let values = values.as_primitive::<Float64Type>();
    let shown = rows.num_rows().min(MAX_BARS);
    let most = (0..shown).filter(|row| values.is_valid(*row)).map(|row| values.value(row)).fold(0.0, f64::max);
    let name = |row| match label {
        Some(label) => Ok::<_, Error>(cell(rows.column(label).as_ref(), row)?.unwrap_or_default()),
        None => Ok((row + 1).to_string()),
    };
    let names: Vec<String> = (0..shown).map(name).collect::<Result<_>>()?;
    let left = names.iter().map(|name| name.chars().count()).max().unwrap_or(0) * CHARACTER + 16;
    let rest = rows.num_rows() - shown;
    let height = (shown + usize::from(rest > 0)) * ROW + 36;
    let schema = rows.schema();
    let title = schema.field(number).name();
    let width = left + BAR as usize + 120;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"monospace\" \
         font-size=\"13\" role=\"img\" aria-label=\"{0}\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{left}\" y=\"18\" fill=\"#555\">{0}</text>\n",
        escaped(title)
    );
    for (row, name) in names.iter().enumerate() {
        let (y, text) = (28 + row * ROW, 28 + row * ROW + 14);
        let value = if values.is_valid(row) { values.value(row).max(0.0) } else { 0.0 };
        let bar = if most > 0.0 { value / most * BAR } else { 0.0 };
        let end = left as f64 + bar + 6.0;
        let shown = cell(rows.column(number).as_ref(), row)?.unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{text}\" text-anchor=\"end\">{}</text><rect x=\"{left}\" y=\"{y}\" width=\"{bar:.1}\" \
             height=\"16\" fill=\"#3b76b8\"/><text x=\"{end:.1}\" y=\"{text}\" fill=\"#555\">{}</text>",
            left - 8,
            escaped(name),
            escaped(&shown),
        );
    }
    if rest > 0 {
        let _ =
            writeln!(svg, "<text x=\"{left}\" y=\"{}\" fill=\"#555\">… and {rest} more</text>", 28 + shown * ROW + 14);
    }
    svg.push_str("</svg>\n");
    Ok(svg)
}

fn escaped(text: &str) -> String {
    printable(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
