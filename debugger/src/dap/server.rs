//! Answers the requests of an editor.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, TryRecvError};

use serde_json::{Value, json};

use super::breakpoints::{self, Breakpoints};
use super::disassembly;
use super::first::First;
use super::paths::Paths;
use super::state::{self, DISASSEMBLY, FRAME};
use crate::command::{self, Answer, place};
use crate::pieces::Pieces;
use crate::session::{FrontEnd, Hit, Reason, Resume, Session, Stop};

pub(super) struct Server<'a> {
    requests: &'a Receiver<Value>,
    out: &'a mut dyn Write,
    sequence: u64,
    pub(super) failed: Option<io::Error>,
    /// Whether to stop on entry.
    entry: bool,
    /// Whether to stop at all.
    debugs: bool,
    /// Whether the editor has set its breakpoints.
    configured: bool,
    /// Whether the program starts again.
    restarts: bool,
    /// Whether the editor knows that the program has ended. It may still go back, or start the program again.
    terminated: bool,
    /// Whether the editor has disconnected.
    pub(super) over: bool,
    /// A request that arrived while the program was running.
    waiting: Option<Value>,
    /// Requests that arrived while the program was going back, and are answered where it arrives.
    held: VecDeque<Value>,
    breakpoints: Breakpoints,
    first: First,
    pub(super) paths: Paths,
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
            debugs: true,
            configured: false,
            restarts: false,
            terminated: false,
            over: false,
            waiting: None,
            held: VecDeque::new(),
            breakpoints: Breakpoints::default(),
            first: First { line: 1, column: 1 },
            paths: Paths::default(),
            written: Default::default(),
            status: None,
        }
    }

    /// The next request. `None` when the editor is gone.
    pub(super) fn next(&mut self) -> Option<Value> {
        self.held.pop_front().or_else(|| self.requests.recv().ok())
    }

    /// Notes from which number the editor counts lines and columns, and how it writes paths.
    ///
    /// # Errors
    /// When it writes paths in another way.
    pub(super) fn initialize(&mut self, arguments: &Value) -> Result<(), String> {
        let first = |key: &str| arguments[key].as_bool().unwrap_or(true).into();
        self.paths = Paths::named(arguments["pathFormat"].as_str().unwrap_or("path"))?;
        self.first = First { line: first("linesStartAt1"), column: first("columnsStartAt1") };
        Ok(())
    }

    /// Prepares for a program, which may be the second one.
    pub(super) fn launch(&mut self, entry: bool, debugs: bool) {
        (self.entry, self.debugs) = (entry, debugs);
        self.terminated = false;
        self.configured = false;
        self.restarts = false;
        self.breakpoints = Breakpoints::default();
        self.written = Default::default();
        self.status = None;
    }

    /// Says once that the program has ended, or why it could not start.
    pub(super) fn finish(&mut self, reason: Option<String>) {
        if std::mem::replace(&mut self.terminated, true) {
            return;
        }
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

    /// Answers a request that succeeds. Where nothing is to be said, `body` is null.
    pub(super) fn answer(&mut self, request: &Value, body: Value) {
        let mut response = json!({
            "type": "response", "request_seq": request["seq"], "success": true, "command": request["command"],
        });
        if !body.is_null() {
            response["body"] = body;
        }
        self.send(response);
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
        let answer = match self.check(stop, command, &request["arguments"]) {
            Ok(()) => self.look(session, stop, command, &request["arguments"]),
            Err(message) => Some(Err(message)),
        };
        if let Some(answer) = answer {
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
            "restart" => Resume::Restart,
            "disconnect" => {
                self.answer(request, Value::Null);
                self.over = true;
                return Some(Resume::Quit);
            }
            "terminate" => {
                self.answer(request, Value::Null);
                self.finish(None);
                return None;
            }
            // Another program.
            "initialize" | "launch" if self.terminated => {
                self.held.push_front(request.clone());
                return Some(Resume::Quit);
            }
            "launch" => {
                self.refuse(request, "a program is being debugged; `restart` starts it again");
                return None;
            }
            "attach" => {
                self.refuse(request, "`attach` is not supported; use `launch`");
                return None;
            }
            other => {
                self.refuse(request, &format!("`{other}` is not supported"));
                return None;
            }
        };
        if let Err(message) = self.leaves(resume) {
            self.refuse(request, &message);
            return None;
        }
        self.restarts = resume == Resume::Restart;
        self.answer(request, if command == "continue" { json!({ "allThreadsContinued": true }) } else { Value::Null });
        if stop.ended && !matches!(resume, Resume::Restart | Resume::Back(_) | Resume::Reverse) {
            self.finish(None);
            return None;
        }
        if resume == Resume::Out && stop.depth == 0 && !stop.ended {
            self.say("console", "no call of this function has been seen: one instruction is executed\n");
        }
        Some(resume)
    }

    /// Checks that a request is about what has stopped.
    fn check(&self, stop: &Stop<'_>, command: &str, arguments: &Value) -> Result<(), String> {
        let is = |wanted: &Value, known: u64| wanted.is_null() || wanted.as_u64() == Some(known);
        let (asked, frame) = (&arguments["threadId"], &arguments["frameId"]);
        match command {
            "stackTrace" | "next" | "stepIn" | "stepOut" | "stepBack" if !stop.ended && !is(asked, thread(stop)) => {
                Err(format!("thread {asked} is not the one that has stopped, which is {}", thread(stop)))
            }
            "scopes" | "evaluate" | "completions" if !is(frame, FRAME) => Err(format!("there is no frame {frame}")),
            _ => Ok(()),
        }
    }

    /// Checks that a program can resume. One that has ended can only go back.
    fn leaves(&mut self, resume: Resume) -> Result<(), String> {
        match resume {
            Resume::Restart | Resume::Back(_) | Resume::Reverse => self.terminated = false,
            Resume::Quit => {}
            _ if self.terminated => {
                return Err("the program has ended; `restart` starts it again, `stepBack` goes back".to_owned());
            }
            _ => {}
        }
        Ok(())
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
            "setBreakpoints" | "setFunctionBreakpoints" | "setDataBreakpoints" if !self.debugs => {
                breakpoints::refused(arguments, "the program runs without being debugged")
            }
            "setBreakpoints" => self.breakpoints.set_lines(session, arguments, (self.first, self.paths)),
            "setFunctionBreakpoints" => self.breakpoints.set_labels(session, arguments),
            "dataBreakpointInfo" => breakpoints::information(session, stop, arguments),
            "setDataBreakpoints" => self.breakpoints.set_watchpoints(session, stop, arguments),
            "threads" if self.terminated => json!({ "threads": [] }),
            "threads" => {
                let name = if stop.ended { "ended".to_owned() } else { stop.view.origin() };
                json!({ "threads": [{ "id": thread(stop), "name": name }] })
            }
            "stackTrace" => state::stack(session, stop, arguments, (self.first, self.paths)),
            "scopes" => state::scopes(session),
            "variables" => state::variables(session, stop, arguments["variablesReference"].as_u64().unwrap_or(0)),
            "completions" => self.completions(session, arguments),
            "source" => {
                let wanted = [&arguments["sourceReference"], &arguments["source"]["sourceReference"]];
                let wanted = wanted.into_iter().find(|wanted| !wanted.is_null()).unwrap_or(&Value::Null);
                match wanted {
                    Value::Null => return Some(Err("the request names no source".to_owned())),
                    wanted if wanted.as_u64() != Some(DISASSEMBLY) => {
                        return Some(Err(format!("there is no source {wanted}")));
                    }
                    _ => {}
                }
                let text: String = session.listing.lines.iter().map(|line| line.text.clone() + "\n").collect();
                json!({ "content": text })
            }
            "disassemble" => {
                return Some(disassembly::disassemble(session, stop, arguments, (self.first, self.paths)));
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
            match command::value(session, stop, text).or_else(|message| command::holds(session, stop, text, message)) {
                Ok((value, address)) => {
                    let mut body = json!({ "result": value, "variablesReference": 0 });
                    state::refer(stop, &mut body, address);
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
        if let Ok((holds, _)) = command::holds(session, stop, text, String::new()) {
            self.answer(request, answer(&holds));
            return None;
        }
        match command::execute(session, stop, &line) {
            Ok(Answer::Text(text)) => {
                let text = text.trim_end();
                self.answer(request, answer(if is_register { text.trim_start() } else { text }));
            }
            Ok(Answer::Resume(resume)) => {
                if let Err(message) = self.leaves(resume) {
                    self.refuse(request, &message);
                    return None;
                }
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
        let hits = session.stops_at(stop.view);
        if self.debugs && self.entry {
            self.tell(session, stop, &stop.reason);
        } else if self.debugs && !hits.is_empty() {
            self.tell(session, stop, &Reason::Hits(hits));
        } else {
            return Some(Resume::Continue);
        }
        None
    }

    /// Answers requests until one determines how to resume.
    fn wait(&mut self, session: &mut Session<'_>, stop: &Stop<'_>) -> Resume {
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

    /// Tells the editor of a stop.
    fn tell(&mut self, session: &Session<'_>, stop: &Stop<'_>, reason: &Reason) {
        let kind = match reason {
            Reason::Start => "entry",
            Reason::Hits(hits) if hits.iter().all(|hit| matches!(hit, Hit::Breakpoint(_))) => "breakpoint",
            Reason::Hits(_) => "data breakpoint",
            Reason::Pause => "pause",
            Reason::Failure(_) => "exception",
            Reason::Step | Reason::End | Reason::Refused(_) => "step",
        };
        let mut body = json!({
            "reason": kind, "threadId": thread(stop), "allThreadsStopped": true,
            "description": reason.to_string().replace('\n', "; "), "text": place(session, stop).trim_end(),
        });
        if let Reason::Hits(hits) = reason {
            body["hitBreakpointIds"] = hits.iter().map(Hit::number).collect();
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
            let resume = self.serve(session, stop, &request);
            match resume {
                Some(resume) => return resume,
                None if self.terminated => return self.wait(session, stop),
                None if request["command"] != "pause" => return Resume::Unchanged,
                None => {}
            }
        }
        if let Reason::Failure(text) | Reason::Refused(text) = &stop.reason {
            self.say("stderr", &format!("{text}\n"));
        }
        let restarts = std::mem::take(&mut self.restarts);
        match stop.reason {
            // Editors do not show a stop at the end; they only need to know that it was reached.
            Reason::End => self.finish(None),
            Reason::Failure(_) if !self.debugs => self.finish(None),
            Reason::Refused(_) if self.terminated => {}
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
        self.wait(session, stop)
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
