//! `isaforge manual --serve`: serves the manual on localhost, and rebuilds it when the specification is saved.
//!
//! Like `gen --watch`, it starts itself as a new process for each build, so that the memory of earlier builds is freed.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::args::ManualArgs;
use crate::builtin;
use crate::failure::{Failure, Status};
use crate::output::say;
use crate::watch::Changes;

/// The path at which pages poll the number of the current build.
const EDITION: &str = "/edition";

/// The script added to each page: it polls the build number and reloads the page when the number grows.
const RELOAD: &str = "<script>(()=>{let n;setInterval(async()=>{try{const t=await(await fetch('/edition')).text();\
                      if(n!==undefined&&t!==n)location.reload();n=t}catch{}},500)})()</script></body>";

/// The maximum length of a request in bytes.
const MAX_REQUEST: u64 = 1 << 14;

#[derive(Default)]
struct Edition {
    number: u64,
    files: BTreeMap<String, Vec<u8>>,
}

type Shared = Arc<Mutex<Edition>>;

/// Serves until the user stops the command.
///
/// # Errors
/// When the port cannot be opened, or files cannot be watched.
pub fn serve(args: &ManualArgs, port: u16) -> Result<Status, Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| {
        Failure::usage(format!("cannot listen on port {port}: {error}"), "choose another with `--serve PORT`")
    })?;
    let shared = Shared::default();
    if !make(args, &shared)? {
        return Ok(Status::Mistakes);
    }
    let port = listener.local_addr().map_or(port, |address| address.port());
    say(&format!("http://127.0.0.1:{port}/ shows the manual; Ctrl+C ends it"));
    let served = Arc::clone(&shared);
    let server = thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let shared = Arc::clone(&served);
            thread::spawn(move || {
                // The client may have closed the connection.
                let _ = answer(stream, &shared);
            });
        }
    });
    if builtin::find(args.spec.to_str().unwrap_or_default()).is_none() {
        let mut changes = Changes::new(&args.spec)?;
        loop {
            changes.next()?;
            make(args, &shared)?;
        }
    }
    // A panic of the server ends the command like a normal return.
    let _ = server.join();
    Ok(Status::Fine)
}

/// Builds the manual in a separate process. Returns whether it succeeded.
fn make(args: &ManualArgs, shared: &Shared) -> Result<bool, Failure> {
    let folder = tempfile::tempdir().map_err(Failure::writing(&std::env::temp_dir()))?;
    let program = std::env::current_exe().map_err(Failure::reading(Path::new("isaforge")))?;
    let mut command = Command::new(&program);
    command.arg("manual").arg(&args.spec).arg("-o").arg(folder.path()).stdin(Stdio::null()).stdout(Stdio::null());
    if let Some(since) = &args.since {
        command.arg("--since").arg(since);
    }
    if let Some(generation) = &args.generation {
        command.arg("--generation").arg(generation);
    }
    let output = command.stderr(Stdio::piped()).output().map_err(Failure::reading(&program))?;
    if !output.status.success() {
        say(String::from_utf8_lossy(&output.stderr).trim_end());
        return Ok(false);
    }
    let mut files = BTreeMap::new();
    for inside in ["", "i"] {
        let path = folder.path().join(inside);
        for entry in fs::read_dir(&path).map_err(Failure::reading(&path))?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(content) = fs::read(entry.path()) else { continue };
            let name = if inside.is_empty() { format!("/{name}") } else { format!("/{inside}/{name}") };
            files.insert(name, content);
        }
    }
    let mut edition = shared.lock().unwrap_or_else(PoisonError::into_inner);
    edition.number += 1;
    edition.files = files;
    say(&format!("edition {}", edition.number));
    Ok(true)
}

/// Answers one request and closes the connection.
fn answer(mut stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut line = String::new();
    let mut lines = BufReader::new((&mut stream).take(MAX_REQUEST));
    lines.read_line(&mut line)?;
    let mut header = String::new();
    while lines.read_line(&mut header)? > 2 {
        header.clear();
    }
    let (mut status, mut kind, mut body) = ("404 Not Found", "text/plain", b"There is no such page.\n".to_vec());
    let mut words = line.split_whitespace();
    if let (Some("GET"), Some(path)) = (words.next(), words.next()) {
        let path = path.split(['?', '#']).next().unwrap_or("/");
        let path = if path == "/" { "/index.html" } else { path };
        let edition = shared.lock().unwrap_or_else(PoisonError::into_inner);
        if path == EDITION {
            (status, body) = ("200 OK", edition.number.to_string().into_bytes());
        } else if let Some(content) = edition.files.get(path) {
            status = "200 OK";
            (kind, body) = match path.rsplit('.').next() {
                Some("html") => {
                    let page = String::from_utf8_lossy(content).replace("</body>", RELOAD);
                    ("text/html; charset=utf-8", page.into_bytes())
                }
                Some("css") => ("text/css; charset=utf-8", content.clone()),
                _ => ("text/javascript; charset=utf-8", content.clone()),
            };
        }
    }
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(&body)
}
