//! `isaforge run --init`: a launch file for a program, with all keys that it could have.

use std::fmt::Write;
use std::path::Path;

use isaforge_compiler::reader::{KeyDoc, Vocabulary};
use isaforge_core::Tables;
use isaforge_core::group::listing::assemble_program;
use isaforge_core::program::assemble;

use super::launch::LaunchFile;
use super::{usc, vpu};
use crate::builtin::{self, Builtin};
use crate::failure::{Failure, Status};
use crate::input::Input;
use crate::output::say;

/// The widest line of a remark.
const WIDTH: usize = 100;

/// Writes a launch file beside a program.
///
/// # Errors
/// When the program cannot be read, no set knows it, or the launch file is there already.
pub fn init(program: &Path) -> Result<Status, Failure> {
    let input = Input::read(Some(program))?;
    let name = program.display();
    let Some(isa) = set_of(input.body()) else {
        let message = format!("`{name}` is no assembly of a built-in set");
        let help = "write `isa: SET` and `program: { file: … }` into a launch file; `isaforge run --help` shows one";
        return Err(Failure::usage(message, help));
    };
    let launch = program.with_extension("yaml");
    if launch.exists() {
        return Err(Failure::usage(format!("`{}` is there already", launch.display()), "move it away first"));
    }
    let file = program.file_name().unwrap_or_default().to_string_lossy();
    std::fs::write(&launch, text(isa, &file)).map_err(Failure::writing(&launch))?;
    say(&format!("{}: fill in what the program needs, then `isaforge run {}`", launch.display(), launch.display()));
    Ok(Status::Fine)
}

/// What a program that is run as if it were a launch file should have been; `None` if it is no program.
pub fn mistaken(launch: &Path) -> Option<Failure> {
    let extension = launch.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let program = match extension {
        "yaml" | "yml" | "json" => false,
        "s" | "asm" | "hex" | "bin" => true,
        _ => set_of(Input::read(Some(launch)).ok()?.body()).is_some(),
    };
    let name = launch.display();
    program.then(|| {
        let message = format!("`{name}` is a program, and `run` takes a launch file, which says what it is run on");
        Failure::usage(message, format!("`isaforge run --init {name}` writes one"))
    })
}

/// The first set whose assembly a text is.
fn set_of(text: &[u8]) -> Option<&'static Builtin> {
    let text = std::str::from_utf8(text).ok().filter(|text| !text.trim().is_empty())?;
    builtin::ALL.iter().find(|found| match found.tables {
        Tables::Words(isa) => assemble(isa, text).is_ok_and(|words| !words.is_empty()),
        Tables::Groups(isa) => assemble_program(isa, text).is_ok_and(|bytes| !bytes.is_empty()),
        Tables::Streams(_) => false,
    })
}

/// The keys of launch files of a set, and what they begin with beside set and program.
fn keys(isa: &Builtin) -> (Vec<KeyDoc>, &'static str) {
    match isa.name {
        usc::NAME => (usc::launch::UscLaunch::keys(), ""),
        vpu::NAME => (vpu::launch::VpuLaunch::keys(), "rectangle: [0, 0, 32, 32]\n"),
        _ => (LaunchFile::keys(), ""),
    }
}

fn text(isa: &Builtin, file: &str) -> String {
    // Names of files are text in YAML whatever is in them.
    let file = serde_json::Value::from(file);
    let (keys, start) = keys(isa);
    let mut text = format!("isa: {}\nprogram: {{ file: {file} }}\n{start}\n# What else there is:\n", isa.name);
    let is_said = |key: &KeyDoc| key.required || start.starts_with(&format!("{}:", key.name));
    for key in keys.iter().filter(|key| !is_said(key)) {
        let mut line = format!("# {}:  #", key.name);
        for word in format!("{} ({})", key.doc, key.expected).split_whitespace() {
            if line.chars().count() + word.chars().count() >= WIDTH {
                // A string takes everything.
                let _ = writeln!(text, "{line}");
                line = "#     #".to_owned();
            }
            line.push(' ');
            line.push_str(word);
        }
        let _ = writeln!(text, "{line}");
    }
    text
}
