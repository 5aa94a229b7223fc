//! The breakpoints and watchpoints of an editor.

use serde_json::{Value, json};

use super::inside;
use crate::command::watched;
use crate::condition::Condition;
use crate::session::Session;

/// The numbers of what an editor has set. Each request replaces everything of its kind; what commands have set stays.
#[derive(Debug, Default)]
pub(super) struct Breakpoints {
    lines: Vec<usize>,
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
    /// Replaces the breakpoints on lines.
    pub(super) fn set_lines(&mut self, session: &mut Session<'_>, arguments: &Value) -> Value {
        let has_source = session.listing.lines.iter().any(|line| line.line.is_some());
        replace(&mut self.lines, session, arguments, |session, wanted| {
            let line = wanted["line"].as_u64().unwrap_or(0) as usize;
            let found = match has_source {
                true => session.listing.on_line(line),
                false => session.listing.lines.get(line.saturating_sub(1)),
            };
            let found = found.ok_or("no instruction is there")?;
            let (pc, line) = (found.pc, found.line.unwrap_or(line));
            let condition = condition(session, wanted)?;
            Ok(json!({ "id": session.stop_at(Some(pc), condition), "line": line }))
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
    pub(super) fn set_watchpoints(&mut self, session: &mut Session<'_>, arguments: &Value) -> Value {
        replace(&mut self.watchpoints, session, arguments, |session, wanted| {
            let what = watched(session, wanted["dataId"].as_str().unwrap_or_default())?;
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

/// The condition of a breakpoint that an editor wants, if it has one.
fn condition(session: &Session<'_>, wanted: &Value) -> Result<Option<Condition>, String> {
    let text = wanted["condition"].as_str().filter(|text| !text.trim().is_empty());
    text.map(|text| Condition::parse(text, session.names())).transpose()
}

/// Describes what an editor wants to watch, in the words of the command `watch`: a variable, a register, or an address.
pub(super) fn information(session: &Session<'_>, arguments: &Value) -> Value {
    let name = arguments["name"].as_str().unwrap_or_default().trim();
    let register = arguments["variablesReference"].as_u64().and_then(inside);
    let text = match (register, arguments["bytes"].as_u64()) {
        (Some(register), _) => format!("{} {name}", session.name(register)),
        (None, Some(bytes)) => format!("{name} {bytes}"),
        (None, None) => name.to_owned(),
    };
    match watched(session, &text) {
        Ok(_) => json!({ "dataId": text, "description": text, "accessTypes": ["write"], "canPersist": true }),
        Err(message) => json!({ "dataId": null, "description": message }),
    }
}
