//! `isaforge check --explain`: the page on the code of an error or a warning.

use std::io::Write;

use isaforge_compiler::suggest::did_you_mean;

use crate::failure::{Failure, Status};
use crate::paint::{BOLD, DIM, ERROR, GOOD, columns, paint, wrap};
use crate::run::pages::{self, Page};

/// Prints the page on a code, or the list of all codes for `list`.
///
/// # Errors
/// When there is no such code, or standard output cannot be written to.
pub fn explain_code(code: &str) -> Result<Status, Failure> {
    let mut out = anstream::stdout().lock();
    if code.eq_ignore_ascii_case("list") {
        for page in pages::ALL {
            writeln!(out, "{}  {}", paint(BOLD, page.code), page.title)?;
        }
        return Ok(Status::Fine);
    }
    let code = code.trim().to_ascii_uppercase();
    let Some(page) = pages::ALL.iter().find(|page| page.code == code) else {
        let help = match did_you_mean(&code, pages::ALL.iter().map(|page| page.code)) {
            Some(near) => format!("did you mean `{near}`? `isaforge check --explain list` has them all"),
            None => "`isaforge check --explain list` has them all".to_owned(),
        };
        return Err(Failure::usage(format!("no error and no warning has the code `{code}`"), help));
    };
    out.write_all(draw(page, columns().min(100)).as_bytes())?;
    Ok(Status::Fine)
}

fn draw(page: &Page, width: usize) -> String {
    let mut text = format!("{}\n\n", paint(BOLD, &format!("{}: {}", page.code, page.title)));
    for line in wrap(page.text, width) {
        text.push_str(&format!("{line}\n"));
    }
    for (mark, piece) in [(paint(ERROR, "wrong"), page.wrong), (paint(GOOD, "right"), page.right)] {
        text.push_str(&format!("\n{mark}\n"));
        for line in piece.lines() {
            text.push_str(&format!("  {} {line}\n", paint(DIM, "|")));
        }
    }
    text
}
