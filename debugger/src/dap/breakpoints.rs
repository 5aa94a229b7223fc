//! The breakpoints and watchpoints of an editor.

use std::path::Path;

use serde_json::{Value, json};

use super::first::First;
use super::paths::Paths;
use super::state::{DISASSEMBLY, inside};
use crate::command::watched;
use crate::condition::Condition;
use crate::session::{Session, Stop};

/// The numbers of what an editor has set. Each request replaces everything of its kind; what commands have set stays.
#[derive(Debug, Default)]
pub(super) struct Breakpoints {
    lines: Vec<usize>,
    /// Those on lines of the disassembly.
    disassembled: Vec<usize>,
    labels: Vec<usize>,
    watchpoints: Vec<usize>,
}

/// Replaces breakpoints by the wanted ones. Returns the answer, which says of each why it cannot be set.
fn replace(
    old: &mut Vec<usize>,
    session: &mut Session<'_>,
    arguments: &Value,
    mut set: impl FnMut(&mut Session<'_>, &Value) -> Result<Value, String>,
) -> Value {
    old.drain(..).for_each(|number| _ = session.remove(number));
    let answer = |wanted: &Value| match set(session, wanted) {
        Ok(mut set) => {
            old.extend(set["id"].as_u64().map(|number| number as usize));
            set["verified"] = true.into();
            set
        }
        Err(message) => json!({ "verified": false, "message": message }),
    };
    let answers: Vec<Value> = arguments["breakpoints"].as_array().into_iter().flatten().map(answer).collect();
    json!({ "breakpoints": answers })
}

impl Breakpoints {
    /// Replaces the breakpoints on lines of a source.
    pub(super) fn set_lines(
        &mut self,
        session: &mut Session<'_>,
        arguments: &Value,
        (first, paths): (First, Paths),
    ) -> Value {
        let is_disassembly = match source(session, &arguments["source"], paths) {
            Ok(is_disassembly) => is_disassembly,
            // What is set elsewhere stays.
            Err(message) => {
                return refused(arguments, &message);
            }
        };
        let old = if is_disassembly { &mut self.disassembled } else { &mut self.lines };
        replace(old, session, arguments, |session, wanted| {
            let line = wanted["line"].as_u64().filter(|line| *line >= first.line);
            let line = line.map(|line| first.line(line));
            let line = line.ok_or_else(|| format!("`{}` is not the number of a line", wanted["line"]))?;
            let found = match is_disassembly {
                true => line.checked_sub(1).and_then(|index| session.listing.lines.get(index)),
                false => session.listing.on_line(line),
            };
            let found = found.ok_or("no instruction is there")?;
            let line = if is_disassembly { line } else { found.line.unwrap_or(line) };
            let pc = found.pc;
            let condition = condition(session, wanted)?;
            Ok(json!({ "id": session.stop_at(Some(pc), condition), "line": first.shown_line(line) }))
        })
    }

    /// Replaces the breakpoints on labels.
    pub(super) fn set_labels(&mut self, session: &mut Session<'_>, arguments: &Value) -> Value {
        replace(&mut self.labels, session, arguments, |session, wanted| {
            let pc = session.listing.place(wanted["name"].as_str().unwrap_or_default())?;
            let condition = condition(session, wanted)?;
            Ok(json!({ "id": session.stop_at(Some(pc), condition) }))
        })
    }

    /// Replaces the watchpoints.
    pub(super) fn set_watchpoints(&mut self, session: &mut Session<'_>, stop: &Stop<'_>, arguments: &Value) -> Value {
        replace(&mut self.watchpoints, session, arguments, |session, wanted| {
            let what = watched(session, stop, wanted["dataId"].as_str().unwrap_or_default())?;
            if wanted["accessType"].as_str().is_some_and(|access| access != "write") {
                return Err("a watchpoint stops when a value changes, not when it is read".to_owned());
            }
            if wanted["condition"].as_str().is_some_and(|text| !text.trim().is_empty()) {
                return Err("a watchpoint has no condition; a breakpoint may have one without a place".to_owned());
            }
            Ok(json!({ "id": session.watch(what) }))
        })
    }
}

/// The answer to a request to set breakpoints of which none is set.
pub(super) fn refused(arguments: &Value, message: &str) -> Value {
    let wanted = arguments["breakpoints"].as_array().map_or(0, Vec::len);
    json!({ "breakpoints": vec![json!({ "verified": false, "message": message }); wanted] })
}

/// Whether a source is the disassembly rather than the program's text.
fn source(session: &Session<'_>, source: &Value, paths: Paths) -> Result<bool, String> {
    match source["sourceReference"].as_u64() {
        None | Some(0) => {}
        Some(DISASSEMBLY) => return Ok(true),
        Some(other) => return Err(format!("there is no source {other}")),
    }
    let wanted = source["path"].as_str().ok_or("the request names no file")?;
    let Some(own) = &session.listing.path else {
        return Err(format!("`{wanted}` is not known: the program has no source, only its disassembly"));
    };
    match is_same(own, &paths.read(wanted)) {
        true => Ok(false),
        false => Err(format!("`{wanted}` is not the source of this program, which is `{}`", own.display())),
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
    one == other || whole(one).is_some_and(|one| whole(other) == Some(one))
}

/// The condition of a breakpoint that an editor wants, if it has one.
fn condition(session: &Session<'_>, wanted: &Value) -> Result<Option<Condition>, String> {
    let text = wanted["condition"].as_str().filter(|text| !text.trim().is_empty());
    text.map(|text| Condition::parse(text, session.names())).transpose()
}

/// Describes what an editor wants to watch, in the words of the command `watch`: a variable, a register, or an address.
pub(super) fn information(session: &Session<'_>, stop: &Stop<'_>, arguments: &Value) -> Value {
    let name = arguments["name"].as_str().unwrap_or_default().trim();
    let register = arguments["variablesReference"].as_u64();
    let register = register.and_then(|reference| inside(session.machine.banks(), reference));
    let text = match (register, arguments["bytes"].as_u64()) {
        (Some(register), _) => format!("{} {name}", session.name(register)),
        (None, Some(bytes)) => format!("{name} {bytes}"),
        (None, None) => name.to_owned(),
    };
    match watched(session, stop, &text) {
        Ok(_) => json!({ "dataId": text, "description": text, "accessTypes": ["write"], "canPersist": true }),
        Err(message) => json!({ "dataId": null, "description": message }),
    }
}
