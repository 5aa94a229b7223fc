//! A page for every error and warning: its meaning, a specification with the mistake, and the corrected one.
//!
//! The pages are Markdown files next to this one, named after their codes. Their examples are complete specifications.
//! A test compiles each and checks that the wrong one has exactly that mistake and the right one has none.

use std::fmt::Write;

use crate::suggest::did_you_mean;

/// Specifications that examples build on, under these names: for XML files in Mesa's schema and in Arm's, and for groups.
pub const BASES: [File; 3] = [
    File { language: "yaml", name: "document.yaml", text: include_str!("document.yaml") },
    File { language: "yaml", name: "arm.yaml", text: include_str!("arm.yaml") },
    File { language: "yaml", name: "groups.yaml", text: include_str!("groups.yaml") },
];

/// The documentation of one code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The code: `E0107`.
    pub code: &'static str,
    /// A short summary of the mistake.
    pub title: &'static str,
    /// What it means and why it matters, in Markdown.
    pub text: &'static str,
    /// The files of a specification that has this mistake and no other; the entry is `isa.yaml`.
    pub wrong: Vec<File>,
    /// The files of the corrected specification.
    pub right: Vec<File>,
}

/// A file of an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    /// `yaml` or `xml`.
    pub language: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its contents.
    pub text: &'static str,
}

macro_rules! pages {
    ($($code:ident)*) => {
        /// The pages as stored in their files, by code.
        const PAGES: &[(&str, &str)] = &[$((stringify!($code), include_str!(concat!(stringify!($code), ".md")))),*];
    };
}

pages! {
    E0001 E0002 E0003 E0004 E0005 E0006 E0010 E0011 E0012 E0013 E0014 E0015 E0016 E0017 E0018 E0019
    E0020 E0021 E0022 E0023 E0024 E0030 E0031 E0032 E0033 E0034 E0035 E0040 E0041 E0042 E0043 E0044
    E0045 E0046 E0050 E0051 E0052 E0053 E0054 E0055 E0056 E0057 E0058 E0059 E0060 E0061 E0062 E0063
    E0070 E0071 E0080 E0081 E0082 E0083 E0084 E0101 E0102 E0103 E0104 E0105 E0106 E0107 E0108 E0109
    E0110 E0111 E0112 E0113 E0114 E0115 E0116 E0118 E0120 E0121 E0122 E0123 E0124 E0125 E0126 E0127
    E0128 E0130 E0131 E0132 E0133 E0134 E0301 E0302 E0303 E0304 W0201 W0202 W0203 W0204 W0205 W0206 W0207
    W0208 W0209 W0210 W0211 W0212 W0213 W0220 W0221 W0222 W0223 W0303
}

/// The page of a code such as `E0107`; `None` if there is no such code.
pub fn page(code: &str) -> Option<Page> {
    PAGES.iter().find(|(known, _)| *known == code).map(|(code, text)| read(code, text))
}

/// All pages, by code.
pub fn all() -> impl Iterator<Item = Page> {
    PAGES.iter().map(|(code, text)| read(code, text))
}

/// Returns the page of a code as text for a terminal, ignoring case. The name of one of [`BASES`] returns that
/// specification instead.
///
/// # Errors
/// When there is no such code: a message that suggests a similar one.
///
/// ```
/// let text = isaforge_compiler::catalogue::explain("e0107")?;
/// assert!(text.starts_with("E0107: "));
/// assert!(isaforge_compiler::catalogue::explain("E9999").is_err());
/// # Ok::<(), String>(())
/// ```
pub fn explain(code: &str) -> Result<String, String> {
    let wanted = code.trim();
    if let Some(base) = BASES.iter().find(|base| base.name.eq_ignore_ascii_case(wanted)) {
        return Ok(format!("{} is what examples build on:\n\n{}", base.name, indented(base.text)));
    }
    let codes = || PAGES.iter().map(|(code, _)| *code);
    let Some(page) = codes().find(|known| known.eq_ignore_ascii_case(wanted)).and_then(page) else {
        let near = did_you_mean(wanted, codes()).map(|near| format!(", did you mean `{near}`?"));
        return Err(format!("there is no error or warning `{wanted}`{}", near.unwrap_or_default()));
    };
    Ok(page.to_string())
}

impl std::fmt::Display for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}\n\n{}\n", self.code, self.title, self.text)?;
        for (title, files) in [("Wrong:", &self.wrong), ("Right:", &self.right)] {
            write!(f, "\n{title}\n")?;
            for file in files {
                write!(f, "\n  {}\n\n{}", file.name, indented(file.text))?;
            }
        }
        for base in BASES.iter().filter(|base| self.wrong.iter().any(|file| file.text.contains(base.name))) {
            write!(f, "\n`isaforge check --explain {0}` shows {0}.\n", base.name)?;
        }
        Ok(())
    }
}

fn indented(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        // Avoids trailing spaces.
        let _ = if line.is_empty() { writeln!(out) } else { writeln!(out, "    {line}") };
    }
    out
}

/// Splits a page into its title line, its text, and its fenced blocks. The first line of a block names the language,
/// the file, and the specification that the file belongs to: `wrong`, `right`, or `both`.
fn read(code: &'static str, page: &'static str) -> Page {
    let (first, rest) = page.split_once('\n').unwrap_or((page, ""));
    let title = first.trim_start_matches("# ").trim_start_matches(code).trim_start_matches(": ");
    let mut blocks = rest.split("\n```");
    let text = blocks.next().unwrap_or_default().trim();
    let (mut wrong, mut right) = (Vec::new(), Vec::new());
    for block in blocks {
        // A closing fence also starts a piece, which is empty.
        let Some((info, text)) = block.split_once('\n') else { continue };
        let mut words = info.split(' ');
        let (Some(language), Some(name), Some(side)) = (words.next(), words.next(), words.next()) else { continue };
        // The split removed the line break before the closing fence.
        let file = File { language, name, text };
        if side != "right" {
            wrong.push(file);
        }
        if side != "wrong" {
            right.push(file);
        }
    }
    Page { code, title, text, wrong, right }
}
