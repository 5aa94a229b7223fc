//! Answers the requests of an editor.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, TryRecvError};

use serde_json::{Value, json};

use super::breakpoints::{self, Breakpoints};
use super::first::First;
use super::state;
use crate::command::{self, Answer, place};
use crate::pieces::Pieces;
use crate::session::{FrontEnd, Reason, Resume, Session, Stop};

pub(super) struct Server<'a> {
    requests: &'a Receiver<Value>,
    out: &'a mut dyn Write,
    sequence: u64,
    pub(super) failed: Option<io::Error>,
    /// Whether to stop on entry.
    entry: bool,
    /// Whether the editor has set its breakpoints.
    configured: bool,
    /// Whether the program starts again.
    restarts: bool,
    /// Whether the editor has disconnected.
    pub(super) over: bool,
    /// A request that arrived while the program was running.
    waiting: Option<Value>,
    /// Requests that arrived while the program was going back, and are answered where it arrives.
    held: VecDeque<Value>,
    breakpoints: Breakpoints,
    first: First,
    /// Standard output and standard error of the program, up to the last whole character.
    written: [Pieces; 2],
    /// The exit status of the program, once it has ended with one.
    status: Option<u64>,
}

/// The requests that interrupt a program that goes back.
const ENDS: [&str; 3] = ["pause", "disconnect", "terminate"];

const CATEGORIES: [&str; 2] = ["stdout", "stderr"];

impl<'a> Server<'a> {
    pub(super) fn new(requests: &'a Receiver<Value>, out: &'a mut dyn Write) -> Self {
        Server {
            requests,
            out,
            sequence: 0,
            failed: None,
            entry: true,
            configured: false,
            restarts: false,
            over: false,
            waiting: None,
            held: VecDeque::new(),
            breakpoints: Breakpoints::default(),
            first: First { line: 1, column: 1 },
            written: Default::default(),
            status: None,
        }
    }

    /// The next request. `None` when the editor is gone.
    pub(super) fn next(&mut self) -> Option<Value> {
        self.held.pop_front().or_else(|| self.requests.recv().ok())
    }

    /// Notes from which number the editor counts lines and columns.
    pub(super) fn counts_from(&mut self, arguments: &Value) {
        let first = |key: &str| arguments[key].as_bool().unwrap_or(true).into();
        self.first = First { line: first("linesStartAt1"), column: first("columnsStartAt1") };
    }

    /// Prepares for a program, which may be the second one.
    pub(super) fn launch(&mut self, entry: bool) {
        self.entry = entry;
        self.configured = false;
        self.restarts = false;
        self.breakpoints = Breakpoints::default();
        self.written = Default::default();
        self.status = None;
    }

    /// Says that the program has ended, or why it could not start.
    pub(super) fn finish(&mut self, reason: Option<String>) {
        for (category, rest) in CATEGORIES.into_iter().zip(std::mem::take(&mut self.written)) {
            self.say(category, &rest.end());
        }
        if let Some(reason) = reason {
            self.say("stderr", &format!("{reason}\n"));
        }
        if let Some(status) = self.status {
            // As the command's own exit status.
            self.event("exited", json!({ "exitCode": status as u8 }));
        }
        self.event("terminated", json!({}));
    }

    fn send(&mut self, mut message: Value) {
        self.sequence += 1;
        message["seq"] = self.sequence.into();
        let body = message.to_string();
        let sent = write!(self.out, "Content-Length: {}\r\n\r\n{body}", body.len()).and_then(|()| self.out.flush());
        if let Err(error) = sent {
            self.failed.get_or_insert(error);
            self.over = true;
        }
    }

    pub(super) fn event(&mut self, event: &str, body: Value) {
        self.send(json!({ "type": "event", "event": event, "body": body }));
    }

    fn say(&mut self, category: &str, text: &str) {
        if !text.is_empty() {
            self.event("output", json!({ "category": category, "output": text }));
        }
    }

    pub(super) fn answer(&mut self, request: &Value, body: Value) {
        self.send(json!({
            "type": "response", "request_seq": request["seq"], "success": true, "command": request["command"],
            "body": body,
        }));
    }

    pub(super) fn refuse(&mut self, request: &Value, message: &str) {
        self.send(json!({
            "type": "response", "request_seq": request["seq"], "success": false, "command": request["command"],
            "message": message, "body": { "error": { "id": 1, "format": message } },
        }));
    }

    /// Answers a request at a stop. Returns how to resume, if the request determines it.
    fn serve(&mut self, session: &mut Session<'_>, stop: &Stop<'_>, request: &Value) -> Option<Resume> {
        let command = request["command"].as_str().unwrap_or_default();
        if let Some(answer) = self.look(session, stop, command, &request["arguments"]) {
            match answer {
                Ok(body) => self.answer(request, body),
                Err(message) => self.refuse(request, &message),
            }
            return None;
        }
        let resume = match command {
            "configurationDone" => {
                self.answer(request, json!({}));
                self.configured = true;
                return self.begin(session, stop);
            }
            "evaluate" => return self.evaluate(session, stop, request),
            "next" => Resume::Over,
            "stepIn" => Resume::Step(1),
            "stepOut" => Resume::Out,
            "stepBack" => Resume::Back(1),
            "continue" => Resume::Continue,
            "reverseContinue" => Resume::Reverse,
            "restart" => {
                self.restarts = true;
                Resume::Restart
            }
            "disconnect" | "terminate" => {
                self.over = command == "disconnect";
                Resume::Quit
            }
            other => {
                self.refuse(request, &format!("`{other}` is not supported"));
                return None;
            }
        };
        self.answer(request, json!({ "allThreadsContinued": true }));
        if resume == Resume::Out && stop.depth == 0 && !stop.ended {
            self.say("console", "no call of this function has been seen: one instruction is executed\n");
        }
        Some(resume)
    }

    /// Answers a request that does not resume the program. `None` if it may.
    fn look(
        &mut self,
        session: &mut Session<'_>,
        stop: &Stop<'_>,
        command: &str,
        arguments: &Value,
    ) -> Option<Result<Value, String>> {
        Some(Ok(match command {
            "setBreakpoints" => self.breakpoints.set_lines(session, arguments, self.first),
            "setFunctionBreakpoints" => self.breakpoints.set_labels(session, arguments),
            "dataBreakpointInfo" => breakpoints::information(session, stop, arguments),
            "setDataBreakpoints" => self.breakpoints.set_watchpoints(session, stop, arguments),
            "threads" => {
                let name = if stop.ended { "ended".to_owned() } else { stop.view.origin() };
                json!({ "threads": [{ "id": thread(stop), "name": name }] })
            }
            "stackTrace" => state::stack(session, stop, arguments, self.first),
            "scopes" => state::scopes(session),
            "variables" => state::variables(session, stop, arguments["variablesReference"].as_u64().unwrap_or(0)),
            "completions" => self.completions(session, arguments),
            "source" => {
                let text: String = session.listing.lines.iter().map(|line| line.text.clone() + "\n").collect();
                json!({ "content": text })
            }
            "readMemory" => return Some(state::memory(session, stop, arguments)),
            "pause" | "setExceptionBreakpoints" => json!({}),
            _ => return None,
        }))
    }

    /// Completes a line of the console. Columns are in units of UTF-16.
    fn completions(&self, session: &Session<'_>, arguments: &Value) -> Value {
        let units = |text: &str| text.encode_utf16().count();
        let text = arguments["text"].as_str().unwrap_or_default();
        let column = self.first.column(arguments["column"].as_u64().unwrap_or(self.first.column));
        let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        let before = ends.map(|end| &text[..end]).take_while(|before| units(before) <= column).last().unwrap_or("");
        let (start, names) = command::completions(session, before);
        let length = units(&before[start..]);
        let start = self.first.shown_column(units(&before[..start]));
        let target = |name: String| json!({ "label": name, "start": start, "length": length });
        let targets: Vec<Value> = names.into_iter().map(target).collect();
        json!({ "targets": targets })
    }

    /// Evaluates an expression. Only the console carries out commands; elsewhere, editors evaluate by themselves.
    fn evaluate(&mut self, session: &mut Session<'_>, stop: &Stop<'_>, request: &Value) -> Option<Resume> {
        let arguments = &request["arguments"];
        let text = arguments["expression"].as_str().unwrap_or_default().trim();
        if arguments["context"] != "repl" {
            match command::value(session, stop, text) {
                Ok((value, address)) => {
                    let mut body = json!({ "result": value, "variablesReference": 0 });
                    state::refer(&mut body, address);
                    self.answer(request, body);
                }
                Err(message) => self.refuse(request, &message),
            }
            return None;
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let is_register = match words[..] {
            [name] | [name, "as" | "lane", ..] => session.names().registers(name).is_ok(),
            _ => false,
        };
        let line = if is_register { format!("print {text}") } else { text.to_owned() };
        let answer = |text: &str| json!({ "result": text, "variablesReference": 0 });
        match command::execute(session, stop, &line) {
            Ok(Answer::Text(text)) => {
                let text = text.trim_end();
                self.answer(request, answer(if is_register { text.trim_start() } else { text }));
            }
            Ok(Answer::Resume(resume)) => {
                self.answer(request, answer(""));
                if resume != Resume::Quit {
                    self.event("continued", json!({ "threadId": thread(stop), "allThreadsContinued": true }));
                }
                return Some(resume);
            }
            Err(message) => self.refuse(request, &message),
        }
        None
    }

    /// Stops at the first instruction, or continues if the editor does not want to stop there.
    fn begin(&mut self, session: &Session<'_>, stop: &Stop<'_>) -> Option<Resume> {
        match session.stops_at(stop.view).map(Reason::Breakpoint) {
            _ if self.entry => self.tell(session, stop, &stop.reason),
            Some(reason) => self.tell(session, stop, &reason),
            None => return Some(Resume::Continue),
        }
        None
    }

    /// Tells the editor of a stop.
    fn tell(&mut self, session: &Session<'_>, stop: &Stop<'_>, reason: &Reason) {
        let kind = match reason {
            Reason::Start => "entry",
            Reason::Breakpoint(_) => "breakpoint",
            Reason::Watchpoint(..) => "data breakpoint",
            Reason::Pause => "pause",
            Reason::Failure(_) => "exception",
            Reason::Step | Reason::End | Reason::Refused(_) => "step",
        };
        let mut body = json!({
            "reason": kind, "threadId": thread(stop), "allThreadsStopped": true,
            "description": reason.to_string(), "text": place(session, stop).trim_end(),
        });
        if let Reason::Breakpoint(number) | Reason::Watchpoint(number, _) = reason {
            body["hitBreakpointIds"] = json!([number]);
        }
        self.event("stopped", body);
    }
}

impl FrontEnd for Server<'_> {
    fn stopped(&mut self, session: &mut Session<'_>, stop: &Stop<'_>) -> Resume {
        self.status = stop.view.exit_status();
        if self.over {
            return Resume::Quit;
        }
        // Editors also send requests while a program runs, and it should not stop for them.
        if stop.reason == Reason::Pause
            && let Some(request) = self.waiting.take()
        {
            let resume = self.serve(session, stop, &request).unwrap_or(Resume::Unchanged);
            if request["command"] != "pause" {
                return resume;
            }
        }
        if let Reason::Failure(text) | Reason::Refused(text) = &stop.reason {
            self.say("stderr", &format!("{text}\n"));
        }
        let restarts = std::mem::take(&mut self.restarts);
        match stop.reason {
            // Editors do not show a stop at the end; they only need to know that it was reached.
            Reason::End => return Resume::Quit,
            // Wait for the editor to set breakpoints first.
            Reason::Start if !self.configured => {}
            Reason::Start if restarts => {
                self.written = Default::default();
                if let Some(resume) = self.begin(session, stop) {
                    return resume;
                }
            }
            _ => self.tell(session, stop, &stop.reason),
        }
        loop {
            let Some(request) = self.next() else {
                self.over = true;
                return Resume::Quit;
            };
            if let Some(resume) = self.serve(session, stop, &request) {
                return resume;
            }
            if self.over {
                return Resume::Quit;
            }
        }
    }

    fn output(&mut self, stream: u64, bytes: &[u8]) {
        let index = usize::from(stream == 2);
        let text = self.written[index].add(bytes);
        self.say(CATEGORIES[index], &text);
    }

    fn wants_pause(&mut self, goes_back: bool) -> bool {
        if !goes_back && let Some(request) = self.held.pop_front() {
            self.waiting = Some(request);
            return true;
        }
        loop {
            match self.requests.try_recv() {
                Ok(request) if goes_back && !ENDS.iter().any(|end| request["command"] == *end) => {
                    self.held.push_back(request);
                }
                Ok(request) => {
                    self.waiting = Some(request);
                    return true;
                }
                Err(TryRecvError::Empty) => return self.over,
                // Requests that were held are answered once the program has arrived.
                Err(TryRecvError::Disconnected) if !self.held.is_empty() => return false,
                Err(TryRecvError::Disconnected) => {
                    self.over = true;
                    return true;
                }
            }
        }
    }
}

pub(super) fn thread(stop: &Stop<'_>) -> u64 {
    // Thread ids must be exactly representable as a double.
    stop.view.at().warp % (1 << 48) + 1
}
