//! Runs commands without a terminal: one command per line, plain output.

use std::io::{self, BufRead, Write};

use crate::command::{Answer, execute, place};
use crate::session::{FrontEnd, Reason, Resume, Session, Stop};

/// The outcome of a script.
#[derive(Debug, Default)]
pub struct Done {
    /// The number of lines with errors.
    pub mistakes: usize,
    /// Whether the program failed at the last stop.
    pub failed: bool,
    /// The error that ended the input early.
    pub unread: Option<io::Error>,
    /// The error that ended the output early.
    pub error: Option<io::Error>,
}

/// Executes the commands of `input`. Output goes to `out`, and errors, with the number of their line, to `complain`.
/// Empty lines and lines that start with `#` are ignored. The end of the input means `quit`.
///
/// # Errors
/// Why the program cannot start.
pub fn run(
    session: &mut Session<'_>,
    input: &mut dyn BufRead,
    out: &mut dyn Write,
    complain: &mut dyn FnMut(usize, &str),
) -> Result<Done, String> {
    let mut script = Script { input, out, complain, line: 0, done: Done::default() };
    session.run(&mut script)?;
    Ok(script.done)
}

struct Script<'a> {
    input: &'a mut dyn BufRead,
    out: &'a mut dyn Write,
    complain: &'a mut dyn FnMut(usize, &str),
    line: usize,
    done: Done,
}

impl Script<'_> {
    fn next(&mut self) -> Option<String> {
        let mut bytes = Vec::new();
        self.line += 1;
        let read = self.input.read_until(b'\n', &mut bytes).unwrap_or_else(|error| {
            self.done.unread = Some(error);
            0
        });
        (read > 0).then(|| String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    fn stop(&mut self, session: &mut Session<'_>, stop: &Stop<'_>) -> io::Result<Resume> {
        match &stop.reason {
            Reason::Start | Reason::Step => {}
            Reason::End => {}
            reason => writeln!(self.out, "{reason}")?,
        }
        self.out.write_all(place(session, stop).as_bytes())?;
        self.out.flush()?;
        while let Some(line) = self.next() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match execute(session, stop, &line) {
                Ok(Answer::Text(text)) => self.out.write_all(text.as_bytes())?,
                Ok(Answer::Resume(resume)) => return Ok(resume),
                Err(message) => {
                    self.done.mistakes += 1;
                    self.out.flush()?;
                    (self.complain)(self.line, &message);
                }
            }
            self.out.flush()?;
        }
        Ok(Resume::Quit)
    }
}

impl FrontEnd for Script<'_> {
    fn stopped(&mut self, session: &mut Session<'_>, stop: &Stop<'_>) -> Resume {
        self.done.failed = matches!(stop.reason, Reason::Failure(_));
        if let (Reason::Refused(text), line) = (&stop.reason, self.line) {
            self.done.mistakes += 1;
            (self.complain)(line, text);
        }
        let again = Stop { reason: Reason::Step, ..*stop };
        let stop = if matches!(stop.reason, Reason::Refused(_)) { &again } else { stop };
        self.stop(session, stop).unwrap_or_else(|error| {
            self.done.error = Some(error);
            Resume::Quit
        })
    }

    fn output(&mut self, _: u64, bytes: &[u8]) {
        if let Err(error) = self.out.write_all(bytes) {
            self.done.error.get_or_insert(error);
        }
    }
}
