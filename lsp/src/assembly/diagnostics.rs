//! Errors in a program, or, if there are none, what is likely wrong with it.

use isaforge_analysis::{Graph, Program, lint};
use lsp_types::{Diagnostic, DiagnosticSeverity, NumberOrString};

use super::Source;
use crate::specification::{MAX_SHOWN, left_out};

/// All diagnostics: the errors that the assembler prints, or else those of `isaforge lint`.
pub fn diagnostics(source: &Source) -> Vec<Diagnostic> {
    let errors = source.assembly.errors.iter().map(|error| {
        let help = if error.help.is_empty() { String::new() } else { format!("\n{}", error.help) };
        Diagnostic {
            range: source.text.characters(error.line.saturating_sub(1), error.column, error.len),
            severity: Some(DiagnosticSeverity::ERROR),
            source: Some("isaforge".to_owned()),
            message: format!("{}{help}", error.message),
            ..Diagnostic::default()
        }
    });
    let mut found: Vec<Diagnostic> = errors.collect();
    if found.is_empty() {
        found = findings(source);
    }
    let rest = found.len().saturating_sub(MAX_SHOWN);
    found.truncate(MAX_SHOWN);
    found.extend((rest > 0).then(|| left_out(format!("... and {rest} more"))));
    found
}

fn findings(source: &Source) -> Vec<Diagnostic> {
    let program = Program::read(&source.set, &source.assembly.bytes);
    let shown = |finding: isaforge_analysis::Finding| {
        let at = program.entries.get(finding.entry)?.bytes.start;
        let placed = source.assembly.placed.iter().find(|placed| placed.at == at)?;
        let code = source.code(placed.line);
        let start = code.len() - code.trim_start().len();
        Some(Diagnostic {
            range: source.text.range(placed.line, start..code.trim_end().len()),
            severity: Some(DiagnosticSeverity::INFORMATION),
            code: Some(NumberOrString::String(finding.check.code().to_owned())),
            source: Some("isaforge lint".to_owned()),
            message: finding.message,
            ..Diagnostic::default()
        })
    };
    lint(&program, &Graph::new(&program)).into_iter().filter_map(shown).collect()
}
