//! `isaforge check`: checks a specification.

use std::io::Write;

use isaforge_compiler::model::{Encoding, Enum, Isa};
use isaforge_compiler::stream::model::NoGeneration;
use isaforge_compiler::{Settings, check_spec};

use crate::args::CheckArgs;
use crate::explain_code::explain_code;
use crate::failure::{Failure, Status};
use crate::json;
use crate::output::{count, stdout};
use crate::paint::{GOOD, WARNING, paint};
use crate::specification::{render, settings, summarise_failure};

/// Runs `check`.
///
/// # Errors
/// When the specification cannot be opened, or the code has no explanation.
pub fn check(args: &CheckArgs) -> Result<Status, Failure> {
    if args.schema {
        stdout().write_all(isaforge_compiler::schema::schema().as_bytes())?;
        return Ok(Status::Fine);
    }
    if args.json_schema {
        return json::schema(json::DIAGNOSTIC);
    }
    let spec = match (&args.explain, &args.spec) {
        (Some(code), _) => return explain_code(code),
        (None, Some(spec)) => spec,
        (None, None) => return Err(Failure::usage("no specification is named", "")),
    };
    let generation = args.generation.clone();
    let settings = Settings { deny_warnings: args.deny_warnings, generation, ..settings(spec)? };
    let exists = |isa: &Isa| match &settings.generation {
        Some(wanted) => isa.generation(Some(wanted)).map(drop).map_err(|NoGeneration { message, help }| {
            Failure::usage(format!("`{}` {message}", settings.spec.display()), help)
        }),
        None => Ok(()),
    };
    if args.json {
        let (found, sources, status) = match check_spec(&settings) {
            Ok(checked) => {
                exists(&checked.isa)?;
                (checked.diagnostics, checked.sources, Status::Fine)
            }
            Err(failure) => (failure.diagnostics, failure.sources, Status::Mistakes),
        };
        let mut out = stdout();
        for one in found.iter() {
            writeln!(out, "{}", json::diagnostic(one, &sources))?;
        }
        return Ok(status);
    }
    match check_spec(&settings) {
        Ok(checked) => {
            exists(&checked.isa)?;
            render(&checked.diagnostics, &checked.sources);
            let warnings = checked.diagnostics.warning_count() as u64;
            let forms = match &checked.isa.encoding {
                Encoding::Words => count(checked.isa.forms.len() as u64, "instruction"),
                Encoding::Groups(groups) => count(groups.operations.len() as u64, "operation"),
                Encoding::Stream(stream) => count(stream.instructions.len() as u64, "instruction"),
            };
            // One whose values differ between generations has a part for each range of generations.
            let all = &checked.isa.enums;
            let is_part = |part: &Enum, whole: &Enum| {
                whole.span == part.span
                    && part.name.strip_prefix(&whole.name).is_some_and(|rest| rest.starts_with(" since "))
            };
            let enums = all.iter().filter(|part| !all.iter().any(|whole| is_part(part, whole))).count() as u64;
            let warned = if warnings == 0 { "no warnings".to_owned() } else { count(warnings, "warning") };
            let mark = if warnings == 0 { paint(GOOD, "ok") } else { paint(WARNING, "ok") };
            let enums = count(enums, "enum");
            let mut out = stdout();
            writeln!(out, "{}: {mark}: {forms}, {enums}, {warned}", settings.spec.display())?;
            Ok(Status::Fine)
        }
        Err(failure) => {
            render(&failure.diagnostics, &failure.sources);
            summarise_failure(&settings.spec, &failure.diagnostics);
            Ok(Status::Mistakes)
        }
    }
}
