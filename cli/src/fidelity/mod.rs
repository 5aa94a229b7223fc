//! `isaforge fidelity`: how accurately the runtime models each instruction.

pub mod entries;

use std::fmt::Write as _;
use std::io::Write;

use isaforge_core::semantics::facts::{Fidelity, FidelityClass};
use serde_json::{Value, json};

use self::entries::Entry;

use crate::args::FidelityArgs;
use crate::failure::{Failure, Status};
use crate::input;
use crate::json;
use crate::output::{complain, count, stdout, thousands};
use crate::paint::{BOLD, DIM, columns, paint, wrap};

/// Runs `fidelity`.
///
/// # Errors
/// When the specification has no fidelity information, a name matches nothing, or standard output cannot be written.
pub fn fidelity(args: &FidelityArgs) -> Result<Status, Failure> {
    if args.json_schema {
        return json::schema(json::FIDELITY);
    }
    let Some(target) = args.target.open()? else { return Ok(Status::Mistakes) };
    let (name, all) = (&target.name, target.fidelity());
    if all.is_empty() {
        let message = format!("the specification of {name} does not give the accuracy of its instructions");
        return Err(Failure::usage(message, "`fidelity:` under `semantics:` gives it"));
    }
    let known = |wanted: &str| FidelityClass::ALL.iter().any(|class| class.name() == wanted);
    let names = input::words(&args.names)?;
    for wanted in &names {
        // A class may be empty.
        if !known(wanted) && !all.iter().any(|entry| matches(entry, wanted)) {
            let classes = FidelityClass::ALL.map(FidelityClass::name).join(", ");
            let help = format!("classes are {classes}; `isaforge fidelity {name} --tsv` lists all");
            let message = format!("`{wanted}` is neither a class nor an instruction of {name}");
            complain(&Failure::usage(message, help));
            return Ok(Status::Mistakes);
        }
    }
    let meant = |entry: &Entry| names.is_empty() || names.iter().any(|wanted| matches(entry, wanted));
    let entries: Vec<Entry> = all.into_iter().filter(meant).collect();
    let text = if args.tsv {
        table(&entries)
    } else if args.json {
        format!("{:#}\n", Value::Array(entries.iter().map(object).collect()))
    } else if names.is_empty() {
        summary(&entries, None)
    } else {
        entries.iter().map(description).collect()
    };
    let mut out = stdout();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(Status::Fine)
}

fn matches(entry: &Entry, wanted: &str) -> bool {
    entry.fidelity.class.name() == wanted || entry.mnemonic.starts_with(wanted)
}

/// Formats with six decimals, without trailing zeros.
fn decimal(ulps: f64) -> String {
    let text = format!("{ulps:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn table(entries: &[Entry]) -> String {
    let mut text = "# instruction\tclass\tdetail\tevidence\tworst ulp over all inputs\tremarks\n".to_owned();
    for Entry { mnemonic, fidelity, measured, note } in entries {
        let ulps = measured.map_or(String::new(), |worst| decimal(worst.ulps));
        let Fidelity { class, detail, evidence, .. } = fidelity;
        let class = class.name();
        let _ = writeln!(text, "{mnemonic}\t{class}\t{detail}\t{evidence}\t{ulps}\t{note}");
    }
    text
}

fn object(entry: &Entry) -> Value {
    json!({
        "instruction": entry.mnemonic,
        "class": entry.fidelity.class.name(),
        "detail": entry.fidelity.detail,
        "evidence": entry.fidelity.evidence,
        "worst_ulp": entry.measured.map(|worst| worst.ulps),
        "remarks": entry.note,
    })
}

/// Describes an instruction in full.
fn description(entry: &Entry) -> String {
    let Entry { mnemonic, fidelity, measured, note } = entry;
    let Fidelity { class, detail, evidence, .. } = fidelity;
    let mut text = format!("{}  {}\n", paint(BOLD, mnemonic), class.name());
    let detail = match class {
        FidelityClass::Exact => String::new(),
        FidelityClass::Approximate => format!("The hardware: {detail}."),
        FidelityClass::Choice => format!("Here: {detail}."),
        FidelityClass::Unsupported => format!("Not supported: {detail}."),
    };
    let distance = measured.map_or(String::new(), |worst| match worst.ulps {
        0.0 => "Right for all inputs.".to_owned(),
        ulps => format!(
            "At most {} ulp from the function, over all inputs; for example at {:#010x}.",
            decimal(ulps),
            worst.at
        ),
    });
    for line in [detail, format!("Evidence: {evidence}."), distance, (*note).to_owned()] {
        for line in wrap(&line, columns().saturating_sub(4)).into_iter().filter(|line| !line.is_empty()) {
            let _ = writeln!(text, "    {line}");
        }
    }
    text
}

/// Lists the instructions of each class; if execution counts are given, only executed ones, with their counts by
/// threads.
pub fn summary(entries: &[Entry], executed: Option<&[(&str, u64)]>) -> String {
    let shown = |entry: &Entry| match executed {
        None => Some(entry.mnemonic.to_owned()),
        Some(executed) => {
            let (name, times) = executed.iter().find(|(name, _)| *name == entry.mnemonic)?;
            Some(format!("{name}({})", thousands(*times)))
        }
    };
    let mut text = String::new();
    for class in FidelityClass::ALL {
        // Remarks shared by several instructions are printed once.
        let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
        for entry in entries.iter().filter(|entry| entry.fidelity.class == class) {
            let (Some(name), detail) = (shown(entry), entry.fidelity.detail) else { continue };
            match groups.iter_mut().find(|(known, _)| *known == detail) {
                Some((_, names)) => names.push(name),
                None => groups.push((detail, vec![name])),
            }
        }
        let total: usize = groups.iter().map(|(_, names)| names.len()).sum();
        if total > 0 {
            let total = format!("({})", count(total as u64, "instruction"));
            let _ = writeln!(text, "{} {}", paint(BOLD, class.name()), paint(DIM, &total));
        }
        for (detail, names) in groups {
            for line in wrap(&names.join(" "), columns().saturating_sub(2)) {
                let _ = writeln!(text, "  {line}");
            }
            for line in wrap(detail, columns().saturating_sub(6)).iter().filter(|line| !line.is_empty()) {
                let _ = writeln!(text, "      {}", paint(DIM, line));
            }
        }
    }
    text
}
