//! A Debug Adapter Protocol server on standard input and output, for editors.
//!
//! A warp is a thread of the protocol, and a stack has one frame. Each register bank is a scope, its registers are
//! variables, and each lane is a child of a register. Sources are the program's assembly if available, otherwise the
//! disassembly. A separate thread reads requests, so that a running program can be paused.

mod breakpoints;

use std::io::{self, BufRead, Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use isaforge_runtime::machine::{Machine, Register};
use serde_json::{Value, json};

use crate::command::{self, Answer, place};
use crate::listing::format_pc;
use crate::listing::{Listing, number};
use crate::session::{FrontEnd, Reason, Resume, Session, Stop};

use breakpoints::Breakpoints;

/// The arguments of a launch request.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The launch file.
    pub program: Option<PathBuf>,
    /// A specification.
    pub spec: Option<PathBuf>,
    /// The generation of the specification.
    pub generation: Option<String>,
}

/// Creates a machine with its program.
pub type Open<'a> = &'a mut dyn FnMut(&Wanted) -> Result<(Listing, Box<dyn Machine>), String>;

/// The maximum length of a message in bytes.
const MAX_MESSAGE: u64 = 16 << 20;
/// The maximum length of a header line in bytes.
const LINE: u64 = 1 << 12;

/// Serves one editor on standard input and output.
///
/// # Errors
/// When standard output cannot be written, or the input is not the protocol ([`io::ErrorKind::InvalidData`]).
pub fn serve(open: Open<'_>) -> io::Result<()> {
    let (send, requests) = channel();
    let reader = std::thread::spawn(move || -> io::Result<()> {
        let mut input = io::stdin().lock();
        while let Some(request) = read(&mut input)? {
            // If the other thread is gone, no more requests are needed.
            if send.send(request).is_err() {
                break;
            }
        }
        Ok(())
    });
    talk(&requests, &mut io::stdout().lock(), open)?;
    // After a request to disconnect the input may stay open.
    let ended = requests.try_recv() == Err(TryRecvError::Disconnected);
    if ended { reader.join().unwrap_or(Ok(())) } else { Ok(()) }
}

/// Reads a message. `None` at the end of the input.
///
/// # Errors
/// When the input cannot be read, or is not a message of the protocol.
pub fn read(input: &mut dyn BufRead) -> io::Result<Option<Value>> {
    let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    let (mut length, mut first) = (None, true);
    loop {
        let mut line = Vec::new();
        if (&mut *input).take(LINE).read_until(b'\n', &mut line)? == 0 {
            return if first { Ok(None) } else { Err(invalid("the input ends within a message".to_owned())) };
        }
        first = false;
        let line = String::from_utf8_lossy(&line);
        match line.trim().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                let value = value.trim().parse::<u64>();
                length = Some(value.map_err(|_| invalid("`Content-Length` is not a number".to_owned()))?);
            }
            Some(_) => {}
            None if line.trim().is_empty() => break,
            None => return Err(invalid("a header has no value".to_owned())),
        }
    }
    let length = length.ok_or_else(|| invalid("a message has no `Content-Length`".to_owned()))?;
    if length > MAX_MESSAGE {
        return Err(invalid(format!("a message of {length} bytes is too long: at most {MAX_MESSAGE}")));
    }
    let mut body = Vec::new();
    input.take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length {
        return Err(invalid("the input ends within a message".to_owned()));
    }
    serde_json::from_slice(&body).map(Some).map_err(|error| invalid(format!("a message is not JSON: {error}")))
}

/// Answers requests until the editor disconnects.
///
/// # Errors
/// When `out` cannot be written.
pub fn talk(requests: &Receiver<Value>, out: &mut dyn Write, open: Open<'_>) -> io::Result<()> {
    let mut server = Server {
        requests,
        out,
        sequence: 0,
        failed: None,
        entry: true,
        configured: false,
        over: false,
        waiting: None,
        breakpoints: Breakpoints::default(),
    };
    while let Ok(request) = requests.recv() {
        let arguments = &request["arguments"];
        match request["command"].as_str().unwrap_or_default() {
            "initialize" => {
                let can = [
                    "supportsConfigurationDoneRequest",
                    "supportsStepBack",
                    "supportsConditionalBreakpoints",
                    "supportsEvaluateForHovers",
                    "supportsRestartRequest",
                    "supportsTerminateRequest",
                    "supportsReadMemoryRequest",
                    "supportsFunctionBreakpoints",
                    "supportsDataBreakpoints",
                    "supportsDataBreakpointBytes",
                    "supportsCompletionsRequest",
                ];
                let can: Value = can.into_iter().map(|what| (what.to_owned(), Value::Bool(true))).collect();
                server.answer(&request, can);
            }
            "launch" => {
                let text = |key: &str| arguments[key].as_str().map(str::to_owned);
                let wanted = Wanted {
                    program: text("program").map(PathBuf::from),
                    spec: text("spec").map(PathBuf::from),
                    generation: text("generation"),
                };
                server.entry = arguments["stopOnEntry"].as_bool().unwrap_or(true);
                match open(&wanted) {
                    Ok((listing, machine)) => {
                        server.answer(&request, json!({}));
                        server.event("initialized", json!({}));
                        let mut session = Session::new(&*machine, listing);
                        if let Err(reason) = session.run(&mut server) {
                            server.event("output", json!({ "category": "stderr", "output": format!("{reason}\n") }));
                        }
                        server.event("terminated", json!({}));
                        if server.over {
                            break;
                        }
                    }
                    Err(message) => server.refuse(&request, &message),
                }
            }
            "disconnect" | "terminate" => {
                server.answer(&request, json!({}));
                break;
            }
            "threads" => server.answer(&request, json!({ "threads": [] })),
            other => server.refuse(&request, &format!("`{other}` needs a program; `launch` comes first")),
        }
    }
    server.failed.map_or(Ok(()), Err)
}

struct Server<'a> {
    requests: &'a Receiver<Value>,
    out: &'a mut dyn Write,
    sequence: u64,
    failed: Option<io::Error>,
    /// Whether to stop on entry.
    entry: bool,
    /// Whether the editor has set its breakpoints.
    configured: bool,
    /// Whether the editor has disconnected.
    over: bool,
    /// A request that arrived while the program was running.
    waiting: Option<Value>,
    breakpoints: Breakpoints,
}

/// The id of the only stack frame.
const FRAME: u64 = 1;
/// The first reference to a scope; the bank is added.
const BANKS: u64 = 1 << 16;
/// The first reference to a register; bank and number are added.
const REGISTERS: u64 = 1 << 32;

impl Server<'_> {
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

    fn event(&mut self, event: &str, body: Value) {
        self.send(json!({ "type": "event", "event": event, "body": body }));
    }

    fn answer(&mut self, request: &Value, body: Value) {
        self.send(json!({
            "type": "response", "request_seq": request["seq"], "success": true, "command": request["command"], "body": body,
        }));
    }

    fn refuse(&mut self, request: &Value, message: &str) {
        self.send(json!({
            "type": "response", "request_seq": request["seq"], "success": false, "command": request["command"],
            "message": message, "body": { "error": { "id": 1, "format": message } },
        }));
    }

    /// Answers a request at a stop. Returns how to resume, if the request determines it.
    fn serve(&mut self, session: &mut Session<'_>, stop: &Stop<'_>, request: &Value) -> Option<Resume> {
        let arguments = &request["arguments"];
        let resume = match request["command"].as_str().unwrap_or_default() {
            "configurationDone" => {
                self.answer(request, json!({}));
                self.configured = true;
                if !self.entry {
                    return Some(Resume::Continue);
                }
                self.stopped(session, stop);
                return None;
            }
            "setBreakpoints" => {
                let body = self.breakpoints.set_lines(session, arguments);
                self.answer(request, body);
                return None;
            }
            "setFunctionBreakpoints" => {
                let body = self.breakpoints.set_labels(session, arguments);
                self.answer(request, body);
                return None;
            }
            "dataBreakpointInfo" => {
                self.answer(request, breakpoints::information(session, arguments));
                return None;
            }
            "setDataBreakpoints" => {
                let body = self.breakpoints.set_watchpoints(session, arguments);
                self.answer(request, body);
                return None;
            }
            "setExceptionBreakpoints" => {
                self.answer(request, json!({}));
                return None;
            }
            "threads" => {
                let name = if stop.ended { "ended".to_owned() } else { stop.view.origin() };
                self.answer(request, json!({ "threads": [{ "id": thread(stop), "name": name }] }));
                return None;
            }
            "stackTrace" => {
                let body = stack(session, stop);
                self.answer(request, body);
                return None;
            }
            "scopes" => {
                let scope = |(bank, known): (usize, &isaforge_runtime::machine::Bank)| {
                    let name = known.open.trim_end_matches('[');
                    let name = if name.is_empty() { known.name(0) } else { name.to_owned() };
                    json!({ "name": name, "variablesReference": BANKS + bank as u64, "expensive": known.count > 512 })
                };
                let scopes: Vec<Value> = session.machine.banks().iter().enumerate().map(scope).collect();
                self.answer(request, json!({ "scopes": scopes }));
                return None;
            }
            "variables" => {
                let variables = variables(session, stop, arguments["variablesReference"].as_u64().unwrap_or(0));
                self.answer(request, json!({ "variables": variables }));
                return None;
            }
            "completions" => {
                let text = arguments["text"].as_str().unwrap_or_default();
                let column = arguments["column"].as_u64().unwrap_or(1).saturating_sub(1) as usize;
                let before: String = text.chars().take(column).collect();
                let (start, names) = command::completions(session, &before);
                let (start, length) = (before[..start].chars().count(), before[start..].chars().count());
                let target = |name: String| json!({ "label": name, "start": start, "length": length });
                let targets: Vec<Value> = names.into_iter().map(target).collect();
                self.answer(request, json!({ "targets": targets }));
                return None;
            }
            "evaluate" => {
                return self.evaluate(session, stop, request);
            }
            "source" => {
                let text: String = session.listing.lines.iter().map(|line| line.text.clone() + "\n").collect();
                self.answer(request, json!({ "content": text }));
                return None;
            }
            "readMemory" => {
                let body = memory(stop, arguments);
                match body {
                    Some(body) => self.answer(request, body),
                    None => self.refuse(request, "nothing is mapped there"),
                }
                return None;
            }
            "next" => Resume::Over,
            "stepIn" | "stepOut" => Resume::Step(1),
            "stepBack" => Resume::Back(1),
            "continue" => Resume::Continue,
            "reverseContinue" => Resume::Reverse,
            "restart" => Resume::Restart,
            "pause" => {
                self.answer(request, json!({}));
                return None;
            }
            "disconnect" | "terminate" => {
                self.over = request["command"] == "disconnect";
                Resume::Quit
            }
            other => {
                self.refuse(request, &format!("`{other}` is not supported"));
                return None;
            }
        };
        self.answer(request, json!({ "allThreadsContinued": true }));
        Some(resume)
    }

    fn evaluate(&mut self, session: &mut Session<'_>, stop: &Stop<'_>, request: &Value) -> Option<Resume> {
        let text = request["arguments"]["expression"].as_str().unwrap_or_default();
        let named = crate::condition::register(session.machine.banks(), text).is_some();
        let line = if named { format!("print {text}") } else { text.to_owned() };
        // The hovered text is a word of the source, not a command.
        if !named && request["arguments"]["context"] == "hover" {
            self.refuse(request, "this is not a register");
            return None;
        }
        match command::execute(session, stop, &line) {
            Ok(Answer::Text(text)) => {
                self.answer(request, json!({ "result": text.trim_end(), "variablesReference": 0 }))
            }
            Ok(Answer::Resume(resume)) => {
                self.answer(request, json!({ "result": "", "variablesReference": 0 }));
                return Some(resume);
            }
            Err(message) => self.refuse(request, &message),
        }
        None
    }

    fn stopped(&mut self, session: &Session<'_>, stop: &Stop<'_>) {
        let reason = match &stop.reason {
            Reason::Start => "entry",
            Reason::Breakpoint(_) => "breakpoint",
            Reason::Watchpoint(..) => "data breakpoint",
            Reason::Pause => "pause",
            Reason::Failure(_) => "exception",
            Reason::Step | Reason::End | Reason::Refused(_) => "step",
        };
        let body = json!({
            "reason": reason, "threadId": thread(stop), "allThreadsStopped": true,
            "description": stop.reason.to_string(), "text": place(session, stop).trim_end(),
        });
        self.event("stopped", body);
    }
}

impl FrontEnd for Server<'_> {
    fn stopped(&mut self, session: &mut Session<'_>, stop: &Stop<'_>) -> Resume {
        // Editors also send requests while a program runs, and it should not stop for them.
        if stop.reason == Reason::Pause
            && let Some(request) = self.waiting.take_if(|request| request["command"] != "pause")
        {
            return self.serve(session, stop, &request).unwrap_or(Resume::Continue);
        }
        if let Reason::Failure(text) | Reason::Refused(text) = &stop.reason {
            self.event("output", json!({ "category": "stderr", "output": format!("{text}\n") }));
        }
        match stop.reason {
            // Editors do not show a stop at the end; they only need to know that it was reached.
            Reason::End => return Resume::Quit,
            // Wait for the editor to set breakpoints first.
            Reason::Start if !self.configured => {}
            _ => Server::stopped(self, session, stop),
        }
        loop {
            let request = match self.waiting.take() {
                Some(request) => request,
                None => match self.requests.recv() {
                    Ok(request) => request,
                    Err(_) => {
                        self.over = true;
                        return Resume::Quit;
                    }
                },
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
        let category = if stream == 2 { "stderr" } else { "stdout" };
        self.event("output", json!({ "category": category, "output": String::from_utf8_lossy(bytes) }));
    }

    fn wants_pause(&mut self) -> bool {
        match self.requests.try_recv() {
            Ok(request) => {
                self.waiting = Some(request);
                true
            }
            Err(TryRecvError::Empty) => false,
            Err(TryRecvError::Disconnected) => {
                self.over = true;
                true
            }
        }
    }
}

fn thread(stop: &Stop<'_>) -> u64 {
    // Thread ids must be exactly representable as a double.
    stop.view.at().warp % (1 << 48) + 1
}

fn stack(session: &Session<'_>, stop: &Stop<'_>) -> Value {
    let pc = stop.view.at().pc;
    let index = session.listing.at(pc);
    let line = index.and_then(|index| session.listing.lines[index].line);
    let mut frame = json!({
        "id": FRAME, "name": format!("{} {}", format_pc(session.machine, pc), session.listing.text(pc)),
        "line": line.or(index.map(|index| index + 1)).unwrap_or(0), "column": 1,
        "instructionPointerReference": format!("{pc:#x}"),
    });
    frame["source"] = match (&session.listing.path, line) {
        (Some(path), Some(_)) => {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            json!({ "name": path.file_name().map(|name| name.to_string_lossy()), "path": path.to_string_lossy() })
        }
        _ => json!({ "name": "disassembly", "sourceReference": 1 }),
    };
    json!({ "stackFrames": [frame], "totalFrames": 1 })
}

/// The registers of a bank that are not 0 in all lanes, or the lanes of a register.
fn variables(session: &Session<'_>, stop: &Stop<'_>, reference: u64) -> Vec<Value> {
    let banks = session.machine.banks();
    let live: Vec<usize> = (0..session.machine.lanes()).filter(|lane| stop.view.at().live >> lane & 1 != 0).collect();
    let value = |register, lane, width| Some(session.format.show(stop.view.read(register, lane)?, width));
    if let Some(register) = inside(reference) {
        let width = banks.get(usize::from(register.bank)).map_or(32, |bank| bank.width);
        let variable = |lane: &usize| {
            let value = value(register, *lane, width)?;
            Some(json!({ "name": format!("lane {lane}"), "value": value, "variablesReference": 0 }))
        };
        return live.iter().filter_map(variable).collect();
    }
    let Some(bank) = reference.checked_sub(BANKS).and_then(|bank| u16::try_from(bank).ok()) else { return Vec::new() };
    let Some(known) = banks.get(usize::from(bank)) else { return Vec::new() };
    let variable = |index: u32| {
        let register = Register { bank, index };
        let lanes = if known.uniform { &live[..live.len().min(1)] } else { &live[..] };
        let values: Option<Vec<u64>> = lanes.iter().map(|lane| stop.view.read(register, *lane)).collect();
        let values = values.filter(|values| values.iter().any(|value| *value != 0))?;
        let same = values.iter().all(|value| *value == values[0]);
        let shown = if same { session.format.show(values[0], known.width) } else { "differs by lane".to_owned() };
        let inside = if known.uniform { 0 } else { REGISTERS + (u64::from(bank) << 32) + u64::from(index) };
        Some(json!({ "name": known.name(index), "value": shown, "variablesReference": inside }))
    };
    (0..known.count).filter_map(variable).collect()
}

/// Returns the register whose lanes a reference stands for.
fn inside(reference: u64) -> Option<Register> {
    let register = reference.checked_sub(REGISTERS)?;
    Some(Register { bank: (register >> 32) as u16, index: register as u32 })
}

fn memory(stop: &Stop<'_>, arguments: &Value) -> Option<Value> {
    let base = number(arguments["memoryReference"].as_str()?)?;
    let address = base.checked_add_signed(arguments["offset"].as_i64().unwrap_or(0))?;
    let mut bytes = vec![0; usize::try_from(arguments["count"].as_u64()?).ok()?.min(1 << 20)];
    stop.view.memory(0, address, &mut bytes)?;
    Some(json!({ "address": format!("{address:#x}"), "data": STANDARD.encode(&bytes) }))
}
