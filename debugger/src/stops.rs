//! Breakpoints that show the state and continue.

use std::io::{self, Write};

use isaforge_runtime::machine::Register;
use serde_json::Value;

use crate::command::{Answer, execute, place};
use crate::session::{FrontEnd, Reason, Resume, Session, Stop};
use crate::trace;

/// Shows the state at each stop, as text or as one JSON object per line.
pub struct Stops<'o> {
    out: &'o mut dyn Write,
    json: bool,
    most: usize,
    /// The number of stops so far.
    pub count: usize,
    /// The error that ended output early.
    pub error: Option<io::Error>,
}

impl std::fmt::Debug for Stops<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stops").field("count", &self.count).finish_non_exhaustive()
    }
}

impl<'o> Stops<'o> {
    /// Shows at most `most` stops.
    pub fn new(out: &'o mut dyn Write, json: bool, most: usize) -> Self {
        Stops { out, json, most, count: 0, error: None }
    }

    fn show(&mut self, session: &mut Session<'_>, stop: &Stop<'_>) -> io::Result<()> {
        if self.json {
            return writeln!(self.out, "{}", object(session, stop));
        }
        self.out.write_all(place(session, stop).as_bytes())?;
        match execute(session, stop, "registers") {
            Ok(Answer::Text(text)) => self.out.write_all(text.as_bytes()),
            _ => Ok(()),
        }
    }
}

/// The place and the nonzero registers, by lane.
fn object(session: &Session<'_>, stop: &Stop<'_>) -> Value {
    let (machine, view) = (session.machine, stop.view);
    let at = view.at();
    let line = session.listing.find(view, at.pc);
    let (label, text) = line.as_ref().map_or((None, ""), |line| (line.label.as_deref(), &line.text));
    let mut object = trace::place("stop", &view.origin(), at, (label, text));
    let mut registers = serde_json::Map::new();
    for (index, bank) in machine.banks().iter().enumerate().filter(|(_, bank)| !bank.constant) {
        let lanes = if bank.uniform { 0..1 } else { 0..machine.lanes() };
        for number in 0..bank.count {
            let register = Register { bank: index as u16, index: number };
            let lives = |lane: &usize| bank.uniform || at.live >> lane & 1 != 0;
            let read = |lane| Some((lane, view.read(register, lane)?));
            let values: trace::Values = lanes.clone().filter(lives).filter_map(read).collect();
            if values.iter().any(|(_, value)| *value != 0) {
                registers.insert(bank.name(number), trace::lanes(&values, bank.width));
            }
        }
    }
    object.insert("registers".into(), Value::Object(registers));
    Value::Object(object)
}

impl FrontEnd for Stops<'_> {
    fn stopped(&mut self, session: &mut Session<'_>, stop: &Stop<'_>) -> Resume {
        let here = match stop.reason {
            Reason::Start => !session.stops_at(stop.view).is_empty(),
            Reason::Hits(_) => true,
            _ => return Resume::Quit,
        };
        if here {
            self.count += 1;
            if let Err(error) = self.show(session, stop) {
                self.error = Some(error);
                return Resume::Quit;
            }
            if self.count >= self.most {
                return Resume::Quit;
            }
        }
        Resume::Continue
    }
}
