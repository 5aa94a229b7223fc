//! A Debug Adapter Protocol server on standard input and output, for editors.
//!
//! A warp is a thread of the protocol, and a stack has one frame. Each register bank is a scope, its registers are
//! variables, and each lane is a child of a register. Sources are the program's assembly if available, otherwise the
//! disassembly. A separate thread reads requests, so that a running program can be paused.
//!
//! Registers cannot be set. A machine shows its state to an observer, which cannot change it, and a program goes back by
//! running again from its start: a change would be lost there, or the run would no longer be the one that was observed.
//!
//! - `protocol`: messages
//! - `server`: answers requests at stops, and while the program runs
//! - `breakpoints`: what an editor has set
//! - `disassembly`: the instructions around a place
//! - `first`: lines and columns as an editor counts them
//! - `paths`: paths as an editor writes them
//! - `state`: frames, variables and memory

mod breakpoints;
mod disassembly;
mod first;
mod paths;
mod protocol;
mod server;
mod state;

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use isaforge_runtime::machine::Machine;
use serde_json::{Value, json};

use crate::listing::Listing;
use crate::session::Session;

use paths::Paths;
pub use protocol::read;
use server::Server;

/// The arguments of a launch request.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The launch file.
    pub program: Option<PathBuf>,
    /// A specification.
    pub spec: Option<PathBuf>,
    /// The generation of the specification.
    pub generation: Option<String>,
    /// Whether to stop before the first instruction: unless the editor says no.
    stops: bool,
    /// Whether to stop at all.
    debugs: bool,
}

impl Wanted {
    /// Reads the arguments of a launch request. Editors add some of their own.
    fn read(arguments: &Value, paths: Paths) -> Result<Self, String> {
        let text = |key: &str| match &arguments[key] {
            Value::Null => Ok(None),
            Value::String(text) => Ok(Some(text.clone())),
            other => Err(format!("`{key}` is a text, not `{other}`")),
        };
        let path = |key: &str| Ok::<_, String>(text(key)?.map(|path| paths.read(&path)));
        let flag = |key: &str, default: bool| match &arguments[key] {
            Value::Null => Ok(default),
            Value::Bool(flag) => Ok(*flag),
            other => Err(format!("`{key}` is true or false, not `{other}`")),
        };
        Ok(Wanted {
            program: path("program")?,
            spec: path("spec")?,
            generation: text("generation")?,
            stops: flag("stopOnEntry", true)?,
            debugs: !flag("noDebug", false)?,
        })
    }
}

/// Creates a machine with its program.
pub type Open<'a> = &'a mut dyn FnMut(&Wanted) -> Result<(Listing, Box<dyn Machine>), String>;

/// What the server can do.
const CAPABILITIES: [&str; 13] = [
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
    "supportsDisassembleRequest",
    // Every step is one of an instruction.
    "supportsSteppingGranularity",
];

/// Serves one editor on standard input and output. Messages that are no requests cannot be answered: `complain` is
/// called with a description of each.
///
/// # Errors
/// When standard output cannot be written, or the input is not the protocol ([`io::ErrorKind::InvalidData`]).
pub fn serve(open: Open<'_>, complain: fn(&str)) -> io::Result<()> {
    let (send, requests) = channel();
    let reader = std::thread::spawn(move || -> io::Result<()> {
        let mut input = io::stdin().lock();
        while let Some(request) = read(&mut input)? {
            if let Some(reason) = protocol::refusal(&request) {
                complain(&reason);
                continue;
            }
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

/// Answers requests until the editor disconnects.
///
/// # Errors
/// When `out` cannot be written.
pub fn talk(requests: &Receiver<Value>, out: &mut dyn Write, open: Open<'_>) -> io::Result<()> {
    let mut server = Server::new(requests, out);
    while let Some(request) = server.next() {
        let arguments = &request["arguments"];
        match request["command"].as_str().unwrap_or_default() {
            "initialize" => match server.initialize(arguments) {
                Ok(()) => {
                    let can = CAPABILITIES.into_iter().map(|what| (what.to_owned(), Value::Bool(true)));
                    server.answer(&request, can.collect());
                }
                Err(message) => server.refuse(&request, &message),
            },
            "launch" => {
                let wanted = Wanted::read(arguments, server.paths);
                match wanted.and_then(|wanted| Ok((open(&wanted)?, wanted))) {
                    Ok(((listing, machine), wanted)) => {
                        server.launch(wanted.stops, wanted.debugs);
                        server.answer(&request, json!({}));
                        server.event("initialized", json!({}));
                        let ended = Session::new(&*machine, listing).run(&mut server);
                        server.finish(ended.err());
                        if server.over {
                            break;
                        }
                    }
                    Err(message) => server.refuse(&request, &message),
                }
            }
            "disconnect" => {
                server.answer(&request, Value::Null);
                break;
            }
            "terminate" => server.answer(&request, Value::Null),
            "attach" => server.refuse(&request, "`attach` is not supported; use `launch`"),
            "threads" => server.answer(&request, json!({ "threads": [] })),
            other => server.refuse(&request, &format!("`{other}` needs a program; `launch` comes first")),
        }
    }
    server.failed.map_or(Ok(()), Err)
}
