//! The code that runs in the pages of a manual, compiled to WebAssembly: an interpreter of tables, for any instruction
//! set. The tables are loaded as data.
//!
//! ```text
//! data ──Page::new──▶ Page ──answer(request)──▶ JSON
//! ```
//!
//! A request consists of a command and, after a line break, its argument. The byte order of words may follow the
//! command. `input` classifies pasted text, `program` lists it, `edit` changes an instruction in it, `explain` explains
//! a single instruction, `run` executes a program, and [`search`] ranks the records of the manual. `abi` is the
//! interface for JavaScript. Everything else is ordinary Rust, and tests on the host call the same functions.

#[cfg(target_arch = "wasm32")]
mod abi;
mod edit;
mod explain;
mod input;
mod json;
mod program;
mod run;
pub mod search;

use isaforge_core::data::{self, Architecture};

use json::Json;
use run::Run;
use search::Record;

/// The tables and search records of one manual.
pub struct Page {
    architecture: Architecture,
    records: Vec<Record>,
    run: Option<Run>,
}

impl std::fmt::Debug for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Page").field("isa", &self.architecture.tables.name()).finish_non_exhaustive()
    }
}

impl Page {
    /// Loads the bytes embedded in a manual: the length of the search records, the records, then the tables. `None`
    /// when the bytes are invalid.
    pub fn new(bytes: &[u8]) -> Option<Page> {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let (records, tables) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let records = search::records(std::str::from_utf8(records).ok()?);
        Some(Page { architecture: data::read(tables)?, records, run: None })
    }

    /// Answers a request with JSON.
    pub fn answer(&mut self, request: &str) -> String {
        let (command, about) = request.split_once('\n').unwrap_or((request, ""));
        let (command, order) = command.split_once(' ').unwrap_or((command, ""));
        let (tables, swapped) = (self.architecture.tables, program::order(order));
        let mut json = Json::default();
        match command {
            "search" => self.search(about, &mut json),
            "program" => program::answer(tables, about, swapped, &mut json),
            "explain" => explain::answer(&self.architecture, about, &mut json),
            "set" => explain::set(tables, about, &mut json),
            "edit" => edit::answer(tables, about, swapped, &mut json),
            "start" => self.start(about, swapped, &mut json),
            "step" | "back" => self.step(command == "step", about, &mut json),
            _ => json.object(|json| json.field("error", |json| json.text("there is no such command"))),
        }
        json.out
    }

    /// Lists the instruction that the query is, if it is one, followed by matches in the manual.
    fn search(&self, query: &str, json: &mut Json) {
        let code = explain::code_of(self.architecture.tables, query);
        json.array(|json| {
            if let Some((code, text)) = code {
                json.object(|json| {
                    json.field("kind", |json| json.text("decode"));
                    json.field("page", |json| json.text(&format!("decoder.html#{code}")));
                    json.field("name", |json| json.text(&text));
                    json.field("title", |json| json.text(&code));
                });
            }
            for record in search::search(&self.records, query, 12) {
                json.object(|json| {
                    json.field("kind", |json| json.text(&record.kind));
                    json.field("page", |json| json.text(&record.page));
                    json.field("name", |json| json.text(&record.name));
                    json.field("title", |json| json.text(&record.title));
                });
            }
        });
    }

    fn start(&mut self, program: &str, swapped: Option<bool>, json: &mut Json) {
        self.run = None;
        let listing = program::list(self.architecture.tables, program, swapped);
        let code = listing.map(|listing| listing.bytes).map_err(|_| "this is no program");
        match code.and_then(|code| Run::new(&self.architecture, code)) {
            Ok(run) => self.run.insert(run).state(json),
            Err(why) => json.object(|json| json.field("error", |json| json.text(why))),
        }
    }

    fn step(&mut self, forward: bool, count: &str, json: &mut Json) {
        let count = count.trim().parse().unwrap_or(1);
        match &mut self.run {
            Some(run) => {
                run.go(&self.architecture, forward, count);
                run.state(json);
            }
            None => json.object(|json| json.field("error", |json| json.text("no program is loaded"))),
        }
    }
}
