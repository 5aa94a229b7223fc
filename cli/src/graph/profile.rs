//! The execution counts of a run, from the output of `isaforge run --json`.

use std::path::Path;

use isaforge_analysis::profile::{Profile, Times};
use isaforge_analysis::{Entry, Program};
use serde::Deserialize;
use serde_json::Value;

use crate::failure::Failure;
use crate::input::Input;
use crate::output::count;

/// An instruction of the result; see `run.schema.json`.
#[derive(Deserialize)]
struct ProfiledInstruction {
    text: String,
    warps: u64,
    threads: u64,
}

/// Reads the counts of a program. Steps and stops before the result are skipped.
///
/// # Errors
/// When the file cannot be read, or does not contain a result of this program.
pub fn read(path: &Path, program: &Program<'_>) -> Result<Profile, Failure> {
    let input = Input::read(Some(path))?;
    let wrong = |why: &str| {
        let help = "`isaforge run --json LAUNCH > counts.json` writes one";
        Failure::usage(format!("`{}` is not a profile of this program: {why}", input.name), help)
    };
    let mut places = None;
    for object in serde_json::Deserializer::from_slice(input.body()).into_iter::<Value>() {
        let mut object = object.map_err(|error| wrong(&error.to_string()))?;
        if object["kind"] == "result" {
            places = Some(object["places"].take());
        }
    }
    let places = places.ok_or_else(|| wrong("it contains no result of a run"))?;
    let places: Vec<ProfiledInstruction> = serde_json::from_value(places).map_err(|error| wrong(&error.to_string()))?;
    if places.len() != program.entries.len() {
        let of = |number: usize| count(number as u64, "instruction");
        return Err(wrong(&format!("it counts {}, but there are {}", of(places.len()), of(program.entries.len()))));
    }
    let other = places.iter().zip(&program.entries).position(|(place, entry)| !is_of(place, entry));
    if let Some(index) = other {
        let text = program.entries[index].instruction.as_ref().map_or("", |instruction| &instruction.text);
        return Err(wrong(&format!("instruction {index} is `{}` there and `{text}` here", places[index].text)));
    }
    let times = places.iter().map(|one| Times { warps: one.warps, threads: one.threads });
    Ok(Profile { times: times.collect() })
}

/// Whether a place of the result is this instruction. In the result, the text of a branch is followed by its target.
fn is_of(place: &ProfiledInstruction, entry: &Entry) -> bool {
    match &entry.instruction {
        Ok(instruction) => place
            .text
            .strip_prefix(instruction.text.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with("  ")),
        Err(_) => true,
    }
}
