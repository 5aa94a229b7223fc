//! The code that runs in the pages of a manual, compiled to WebAssembly: an interpreter of tables, for any instruction
//! set. The tables are loaded as data.
//!
//! ```text
//! data ──Page::new──▶ Page ──answer(request)──▶ JSON
//! ```
//!
//! A request consists of a command and, after a line break, its argument. `input` classifies pasted text, `program`
//! lists it, `explain` explains a single instruction, `run` executes a program, and [`search`] ranks the records of the
//! manual. `abi` is the interface for JavaScript. Everything else is ordinary Rust, and tests on the host call the same
//! functions.

#[cfg(target_arch = "wasm32")]
mod abi;
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
        let mut json = Json::default();
        match command {
            "search" => self.search(about, &mut json),
            "program" => program::answer(self.architecture.tables, about, &mut json),
            "explain" => explain::answer(&self.architecture, about, &mut json),
            "set" => explain::set(&self.architecture, about, &mut json),
            "start" => self.start(about, &mut json),
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

    fn start(&mut self, code: &str, json: &mut Json) {
        match Run::new(&self.architecture, code) {
            Ok(run) => run.state(json),
            Err(why) => json.object(|json| json.field("error", |json| json.text(why))),
        }
        self.run = Run::new(&self.architecture, code).ok();
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
