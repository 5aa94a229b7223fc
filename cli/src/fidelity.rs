//! `isaforge fidelity`: how accurately the runtime models each instruction.

use std::fmt::Write as _;
use std::io::Write;

use isaforge_core::semantics::facts;
use isaforge_runtime::usc;
use isaforge_runtime::usc::fidelity::Fidelity;
use isaforge_runtime::valhall::fidelity::Evidence;
pub use isaforge_runtime::valhall::fidelity::{Class, Entry, entries as valhall};
use serde_json::{Value, json};

use crate::args::FidelityArgs;
use crate::failure::{Failure, Status};
use crate::output::{count, thousands};
use crate::paint::{BOLD, DIM, columns, paint, wrap};

/// The accuracy of USC's operations.
pub fn usc() -> Vec<Entry> {
    let entry = |operation: &isaforge_usc::Operation| {
        let (class, evidence) = match usc::fidelity::of(*operation) {
            Fidelity::Exact => (Class::Exact, Evidence(facts::Evidence::Documented)),
            Fidelity::Rounded => (Class::Approximate("no bound is public"), Evidence(facts::Evidence::Documented)),
            Fidelity::Chosen(text) => (Class::Choice(text), Evidence(facts::Evidence::Nothing)),
            Fidelity::Unsupported(reason) => (Class::Unsupported(reason), Evidence(facts::Evidence::Nothing)),
        };
        Entry { mnemonic: operation.info().name, class, evidence, measured: None, note: operation.info().no_encoding }
    };
    isaforge_usc::Operation::ALL.iter().map(entry).collect()
}

/// Runs `fidelity`.
///
/// # Errors
/// When nothing executes the instruction set, a name fits nothing, or standard output cannot be written to.
pub fn fidelity(args: &FidelityArgs) -> Result<Status, Failure> {
    let name = args.isa.name;
    let unknown = || Failure::usage(format!("nothing is known of how programs of {name} run"), "");
    let all = args.isa.fidelity.ok_or_else(unknown)?();
    for wanted in &args.names {
        // There may be none of a class.
        if !Class::NAMES.contains(&wanted.as_str()) && !all.iter().any(|entry| matches(entry, wanted)) {
            let help = format!("classes are {}; `isaforge fidelity {name} --tsv` lists all", Class::NAMES.join(", "));
            return Err(Failure::usage(format!("`{wanted}` is no class, and no instruction of {name}"), help));
        }
    }
    let meant = |entry: &Entry| args.names.is_empty() || args.names.iter().any(|wanted| matches(entry, wanted));
    let entries: Vec<Entry> = all.into_iter().filter(meant).collect();
    let text = if args.tsv {
        table(&entries)
    } else if args.json {
        format!("{:#}\n", Value::Array(entries.iter().map(object).collect()))
    } else if args.names.is_empty() {
        summary(&entries, None)
    } else {
        entries.iter().map(description).collect()
    };
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(Status::Fine)
}

fn matches(entry: &Entry, wanted: &str) -> bool {
    entry.class.name() == wanted || entry.mnemonic.starts_with(wanted)
}

/// Six decimals, without zeros at their end.
fn decimal(ulps: f64) -> String {
    let text = format!("{ulps:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn table(entries: &[Entry]) -> String {
    let mut text = "# instruction\tclass\tdetail\tevidence\tworst ulp over all inputs\tremarks\n".to_owned();
    for Entry { mnemonic, class, evidence, measured, note } in entries {
        let ulps = measured.map_or(String::new(), |worst| decimal(worst.ulps));
        let (class, detail) = (class.name(), class.detail());
        let _ = writeln!(text, "{mnemonic}\t{class}\t{detail}\t{evidence}\t{ulps}\t{note}");
    }
    text
}

fn object(entry: &Entry) -> Value {
    json!({
        "instruction": entry.mnemonic,
        "class": entry.class.name(),
        "detail": entry.class.detail(),
        "evidence": entry.evidence.to_string(),
        "worst_ulp": entry.measured.map(|worst| worst.ulps),
        "remarks": entry.note,
    })
}

/// All that is known of an instruction.
fn description(entry: &Entry) -> String {
    let Entry { mnemonic, class, evidence, measured, note } = entry;
    let mut text = format!("{}  {}\n", paint(BOLD, mnemonic), class.name());
    let detail = match class {
        Class::Exact => String::new(),
        Class::Approximate(bound) => format!("The hardware: {bound}."),
        Class::Choice(what) => format!("Here: {what}."),
        Class::Unsupported(why) => format!("Not here: {why}."),
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

/// The instructions of each class; only those that were executed and how often by threads, when that is known.
pub fn summary(entries: &[Entry], executed: Option<&[(&str, u64)]>) -> String {
    let shown = |entry: &Entry| match executed {
        None => Some(entry.mnemonic.to_owned()),
        Some(executed) => {
            let (name, times) = executed.iter().find(|(name, _)| *name == entry.mnemonic)?;
            Some(format!("{name}({})", thousands(*times)))
        }
    };
    let mut text = String::new();
    for class in Class::NAMES {
        // What is to be said of several is said once.
        let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
        for entry in entries.iter().filter(|entry| entry.class.name() == class) {
            let (Some(name), detail) = (shown(entry), entry.class.detail()) else { continue };
            match groups.iter_mut().find(|(known, _)| *known == detail) {
                Some((_, names)) => names.push(name),
                None => groups.push((detail, vec![name])),
            }
        }
        let total: usize = groups.iter().map(|(_, names)| names.len()).sum();
        if total > 0 {
            let total = format!("({})", count(total as u64, "instruction"));
            let _ = writeln!(text, "{} {}", paint(BOLD, class), paint(DIM, &total));
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
