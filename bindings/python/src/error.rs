//! Converts errors to the exceptions of `isaforge.errors`.

use isaforge_compiler::diagnostic::{Diagnostic, Severity, Style};
use isaforge_compiler::load::Refusal;
use isaforge_compiler::source::Sources;
use isaforge_core::program::ProgramError;
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// The maximum number of mistakes in a text or specification that become exceptions of their own.
const MAX_ERRORS: usize = 1000;

fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("isaforge.errors")?.getattr(name)
}

/// Creates an exception with a message, a help text and further arguments.
fn build<'py>(
    py: Python<'py>,
    name: &str,
    message: &str,
    help: &str,
    more: &[(&str, Bound<'py, PyAny>)],
) -> PyResult<Bound<'py, PyAny>> {
    let named = PyDict::new(py);
    for (key, value) in more {
        named.set_item(key, value)?;
    }
    class(py, name)?.call((message, help), Some(&named))
}

/// The exception that was created, or the one raised by creating it.
fn raised(built: PyResult<Bound<'_, PyAny>>) -> PyErr {
    match built {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}

/// Creates an exception with a position, given by the name and the arguments of its class, if there is one.
fn spanned<'py>(
    py: Python<'py>,
    kind: &str,
    message: &str,
    help: &str,
    (span, place): (&str, Option<impl PyCallArgs<'py>>),
) -> PyResult<Bound<'py, PyAny>> {
    let span = place.map(|place| class(py, span)?.call1(place)).transpose()?;
    let more: Vec<_> = span.into_iter().map(|span| ("span", span)).collect();
    build(py, kind, message, help, &more)
}

/// An `Error` without a position.
pub fn plain(py: Python<'_>, message: &str, help: &str) -> PyErr {
    raised(build(py, "Error", message, help, &[]))
}

/// The place of a `RunError`: the position of the instruction, its text, the workgroup, the thread, the lane, and the
/// address of an access to memory.
pub type RunPlace = (u64, String, Option<(u32, u32, u32)>, Option<(u32, u32, u32)>, Option<u8>, Option<u64>);

/// A `RunError`, with its place if it has one.
pub fn run(py: Python<'_>, message: &str, help: &str, place: Option<RunPlace>) -> PyErr {
    raised(spanned(py, "RunError", message, help, ("RunSpan", place)))
}

/// A `DecodeError`, with the highest and the lowest of the wrong bits, if particular bits are wrong.
pub fn decode(py: Python<'_>, message: &str, help: &str, bits: Option<(u8, u8)>) -> PyErr {
    raised(spanned(py, "DecodeError", message, help, ("BitSpan", bits)))
}

/// An `AssembleError` without a position, for a text that is not one instruction.
pub fn not_one(py: Python<'_>, message: &str, help: &str) -> PyErr {
    raised(build(py, "AssembleError", message, help, &[]))
}

/// An `AssembleError` for all mistakes in a text.
pub fn assemble(py: Python<'_>, errors: &[ProgramError]) -> PyErr {
    let one = |error: &ProgramError, more: Option<Bound<'_, PyAny>>| -> PyResult<Bound<'_, PyAny>> {
        let span = class(py, "TextSpan")?.call1((error.line, error.column, error.len))?;
        let mut keys = vec![("span", span)];
        keys.extend(more.map(|errors| ("errors", errors.clone().unbind().into_bound(py))));
        build(py, "AssembleError", &error.message, &error.help, &keys)
    };
    let all = || {
        let Some(first) = errors.first() else {
            return build(py, "AssembleError", "the text is not a program", "", &[]);
        };
        if errors.len() == 1 {
            return one(first, None);
        }
        let each: Vec<_> = errors.iter().take(MAX_ERRORS).map(|error| one(error, None)).collect::<PyResult<_>>()?;
        one(first, Some(PyTuple::new(py, each)?.into_any()))
    };
    raised(all())
}

/// A `SpecError` without a position.
pub fn no_set(py: Python<'_>, message: &str, help: &str) -> PyErr {
    raised(build(py, "SpecError", message, help, &[]))
}

/// A `SpecError` for all diagnostics of a specification.
pub fn specification(py: Python<'_>, refusal: &Refusal) -> PyErr {
    let failure = match refusal {
        Refusal::Generation { message, help } => return no_set(py, message, help),
        Refusal::Mistakes(failure) => failure,
    };
    let all = || {
        let found = || failure.diagnostics.iter().filter(|found| found.severity == Severity::Error);
        let mut each = Vec::new();
        for diagnostic in found().take(MAX_ERRORS) {
            let keys = finding(py, diagnostic, &failure.sources)?;
            each.push(build(py, "SpecError", &diagnostic.message, &diagnostic.help.join("; "), &keys)?);
        }
        let Some(first) = found().next() else { return build(py, "SpecError", "the specification is wrong", "", &[]) };
        let mut keys = finding(py, first, &failure.sources)?;
        keys.push(("errors", PyTuple::new(py, each)?.into_any()));
        keys.push(("rendered", failure.render(Style::default()).into_pyobject(py)?.into_any()));
        build(py, "SpecError", &first.message, &first.help.join("; "), &keys)
    };
    raised(all())
}

/// The code and the position of a diagnostic.
fn finding<'py>(
    py: Python<'py>,
    diagnostic: &Diagnostic,
    sources: &Sources,
) -> PyResult<Vec<(&'static str, Bound<'py, PyAny>)>> {
    let mut keys = vec![("code", diagnostic.code.into_pyobject(py)?.into_any())];
    if let Some(span) = diagnostic.primary {
        let (line, column) = sources.line_column(span);
        let file = sources.path(span.file).display().to_string();
        keys.push(("span", class(py, "SourceSpan")?.call1((file, line, column, span.start, span.end))?));
    }
    Ok(keys)
}
