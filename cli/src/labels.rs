//! Renames the labels of a listing: to symbols of the file, or to names that are unique among several shaders.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use isaforge_analysis::Set;
use isaforge_analysis::entry::places;
use isaforge_core::Tables;

use crate::code::Symbols;

/// Whether a line of a listing starts an instruction. A group takes several lines, the first of which has its number.
pub fn starts_instruction(tables: Tables, line: &str) -> bool {
    match tables {
        Tables::Groups(_) => line.split_once(" : ").is_some_and(|(number, _)| is_number(number)),
        _ => !(line.trim().is_empty() || line.ends_with(':') || line.starts_with('#')),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A generated label: with the number of one of several shaders, and different from all symbols of the file.
pub fn unique(label: &str, shader: Option<usize>, taken: &HashSet<&str>) -> String {
    let mut unique = shader.map_or_else(|| label.to_owned(), |shader| format!("{label}_{shader}"));
    while taken.contains(unique.as_str()) {
        unique.push('_');
    }
    unique
}

/// A listing of a program with its symbols as labels; `taken` are the symbols of the whole file. For one of several
/// shaders, all other labels contain its number, so that the listings can be concatenated.
pub fn renamed(
    set: &Set,
    bytes: &[u8],
    text: &str,
    (symbols, taken): (&Symbols, &HashSet<&str>),
    shader: Option<usize>,
) -> String {
    // Symbols at branch targets replace the generated labels; the others are added as labels.
    let mut names: HashMap<&str, String> = HashMap::new();
    let mut added: HashMap<usize, &str> = HashMap::new();
    let mut addresses = places(set, bytes).chain([bytes.len()]);
    let mut waiting = Vec::new();
    for (number, line) in text.lines().enumerate().chain([(usize::MAX, "")]) {
        if let Some(label) = line.strip_suffix(':') {
            waiting.push(label);
        } else if number == usize::MAX || starts_instruction(set.tables, line) {
            let symbol = addresses.next().and_then(|at| symbols.get(&at));
            if let Some(symbol) = symbol.filter(|_| waiting.is_empty()) {
                added.insert(number, symbol);
            }
            for label in waiting.drain(..) {
                names.insert(label, symbol.cloned().unwrap_or_else(|| unique(label, shader, taken)));
            }
        }
    }
    let mut out = String::with_capacity(text.len());
    for (number, line) in text.lines().enumerate() {
        if let Some(name) = added.get(&number) {
            let _ = writeln!(out, "{name}:");
        }
        let comment = if matches!(set.tables, Tables::Groups(_)) { "#" } else { "//" };
        let (mut rest, comment) = line.split_at(line.find(comment).unwrap_or(line.len()));
        while !rest.is_empty() {
            let is_name = |c: char| c.is_alphanumeric() || c == '_';
            let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            out.push_str(names.get(name).map_or(name, String::as_str));
            let next = after.find(is_name).unwrap_or(after.len());
            out.push_str(&after[..next]);
            rest = &after[next..];
        }
        out.push_str(comment);
        out.push('\n');
    }
    out
}
