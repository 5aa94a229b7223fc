//! `isaforge check --explain`: explains the code of an error or a warning.

use std::io::Write;

use isaforge_compiler::catalogue::{self, BASES, File, Page};
use isaforge_compiler::suggest::did_you_mean;

use crate::failure::{Failure, Status};
use crate::lint;
use crate::output::stdout;
use crate::paint::{BOLD, DIM, ERROR, GOOD, columns, paint, wrap};
use crate::run::pages;

/// The pages on specifications, followed by those on launch files and programs.
pub fn all() -> impl Iterator<Item = Page> {
    catalogue::all().chain(pages::all()).chain(lint::pages::all())
}

/// Prints the page of a code, the list of codes for `list`, or a file that examples build on, such as `document.yaml`,
/// by its name.
///
/// # Errors
/// When the code is unknown, or standard output cannot be written.
pub fn explain_code(code: &str) -> Result<Status, Failure> {
    let code = code.trim();
    let mut out = stdout();
    if code.eq_ignore_ascii_case("list") {
        for page in all() {
            writeln!(out, "{}  {}", paint(BOLD, page.code), page.title)?;
        }
        return Ok(Status::Fine);
    }
    if let Some(base) = BASES.iter().find(|base| base.name.eq_ignore_ascii_case(code)) {
        out.write_all(file(base, "").as_bytes())?;
        return Ok(Status::Fine);
    }
    let Some(page) = page(code) else {
        let list = "`isaforge check --explain list` lists all codes";
        let upper = code.to_ascii_uppercase();
        let help = match did_you_mean(&upper, all().map(|page| page.code)) {
            Some(near) => format!("did you mean `{near}`? {list}"),
            None => list.to_owned(),
        };
        return Err(Failure::usage(format!("no error or warning has the code `{code}`"), help));
    };
    out.write_all(page.as_bytes())?;
    Ok(Status::Fine)
}

/// The page of a code, in colour, wrapped for reading. `None` if no error or warning has it.
pub fn page(code: &str) -> Option<String> {
    all().find(|page| page.code.eq_ignore_ascii_case(code)).map(|page| draw(&page, columns().min(100)))
}

/// Formats a page in colour, wrapped at `width`.
fn draw(page: &Page, width: usize) -> String {
    let mut text = format!("{}\n", paint(BOLD, &format!("{}: {}", page.code, page.title)));
    for paragraph in page.text.split("\n\n") {
        text.push('\n');
        for line in wrap(paragraph, width) {
            text.push_str(&format!("{line}\n"));
        }
    }
    for (files, mark) in [(&page.wrong, paint(ERROR, "wrong")), (&page.right, paint(GOOD, "right"))] {
        for example in files {
            text.push_str(&format!("\n{}", file(example, &format!("{mark}: "))));
        }
    }
    for base in BASES.iter().filter(|base| page.wrong.iter().any(|file| file.text.contains(base.name))) {
        text.push_str(&format!("\n`isaforge check --explain {0}` shows {0}.\n", base.name));
    }
    text
}

/// Formats a file of an example, with a mark before its name.
fn file(file: &File, mark: &str) -> String {
    let mut text = format!("{mark}{}\n", paint(BOLD, file.name));
    for line in file.text.lines() {
        text.push_str(&format!("  {}\n", format!("{} {line}", paint(DIM, "|")).trim_end()));
    }
    text
}
