//! Names of the spec language as Rust identifiers, and its texts as doc comments.

use std::collections::HashSet;

use proc_macro2::Ident;
use quote::format_ident;

use crate::crate_name::is_keyword;

/// Splits a name into words at characters that are not alphanumeric, and capitalises each; words in capitals are
/// lowered first.
fn words(name: &str) -> impl Iterator<Item = String> + '_ {
    name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).map(|word| {
        let shouting = !word.chars().any(|c| c.is_ascii_lowercase());
        let mut chars = word.chars();
        let first = chars.next().map(|c| c.to_ascii_uppercase());
        let rest = chars.map(|c| if shouting { c.to_ascii_lowercase() } else { c });
        first.into_iter().chain(rest).collect()
    })
}

/// `GLOW.f32` as `GlowF32`, `Swizzles (16-bit)` as `Swizzles16Bit`, `16.32` as `_16_32`.
pub(crate) fn pascal(name: &str) -> String {
    let mut result = String::new();
    for word in words(name) {
        // Keeps two adjacent numbers apart.
        if result.ends_with(|c: char| c.is_ascii_digit()) && word.starts_with(|c: char| c.is_ascii_digit()) {
            result.push('_');
        }
        result.push_str(&word);
    }
    if result.is_empty() || result.starts_with(|c: char| c.is_ascii_digit()) {
        result.insert(0, '_');
    }
    result
}

/// `GLOW.f32` as `glow_f32`, `DimFloat16` as `dim_float16`.
pub(crate) fn snake(name: &str) -> String {
    let mut result = String::new();
    for word in name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()) {
        let mixed = word.chars().any(|c| c.is_ascii_lowercase());
        if !result.is_empty() {
            result.push('_');
        }
        let mut before = 'A';
        for c in word.chars() {
            if mixed && c.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit()) {
                result.push('_');
            }
            result.push(c.to_ascii_lowercase());
            before = c;
        }
    }
    if result.is_empty() || result.starts_with(|c: char| c.is_ascii_digit()) {
        result.insert(0, '_');
    }
    result
}

/// The identifier for a result of [`pascal`] or [`snake`]; appends an underscore to a keyword.
pub(crate) fn ident(name: &str) -> Ident {
    if is_keyword(name) { format_ident!("{name}_") } else { format_ident!("{name}") }
}

/// Converts a text of a specification to documentation of generated code, line by line, with a space before each line.
///
/// No part of it may become a code block, which rustdoc would compile and run as a test of the generated crate, so
/// fences are escaped and indentation is removed. Brackets are no links, and angle brackets no HTML.
pub(crate) fn doc_text(text: &str) -> String {
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let line = plain(&words.join(" ").replace("```", "\\`\\`\\`").replace("~~~", "\\~\\~\\~"));
        if line.is_empty() { line } else { format!(" {line}") }
    };
    let lines: Vec<String> = text.trim().lines().map(line).collect();
    lines.join("\n")
}

/// Escapes what would be a link or HTML outside of code.
fn plain(line: &str) -> String {
    let (mut out, mut code) = (String::with_capacity(line.len()), false);
    for (at, c) in line.char_indices() {
        let rest = &line[at + c.len_utf8()..];
        let named = rest.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '/' | '!'));
        match c {
            // A single backtick begins no code.
            '`' => code = !code && rest.contains('`'),
            '[' if !code && named && rest.contains(']') => out.push('\\'),
            '<' if !code && named && rest.contains('>') => out.push('\\'),
            _ => {}
        }
        out.push(c);
    }
    out
}

/// A name in documentation, as code.
pub(crate) fn code(name: &str) -> String {
    format!("`{}`", name.replace('`', "'"))
}

/// Names that generated code uses from the prelude or imports, and that its types must not have.
pub(crate) const TAKEN: &[&str] = &[
    "Body",
    "BuildError",
    "DecodeError",
    "Default",
    "EncodeError",
    "Err",
    "FnMut",
    "Form",
    "From",
    "Group",
    "GroupBits",
    "GroupError",
    "GroupRegister",
    "ISA",
    "Instruction",
    "Iterator",
    "None",
    "Ok",
    "Opcode",
    "Operation",
    "Option",
    "ParseError",
    "Parts",
    "RegisterList",
    "Result",
    "Semantics",
    "Machine",
    "Sized",
    "Some",
    "TextError",
    "TryFrom",
    "Word",
];

/// Issues unique identifiers: a name that is already taken gets a suffix.
#[derive(Default)]
pub(crate) struct Namespace(HashSet<String>);

impl Namespace {
    pub(crate) fn with(reserved: &[&str]) -> Self {
        Namespace(reserved.iter().map(|s| (*s).to_owned()).collect())
    }

    pub(crate) fn take(&mut self, name: String, suffix: &str) -> Ident {
        // Compares names as they will be written: `type` becomes `type_`, and would clash with that.
        let mut name = ident(&name).to_string();
        while !self.0.insert(name.clone()) {
            name.push_str(suffix);
        }
        format_ident!("{name}")
    }

    /// Returns names for an accessor and its setter (`with_` and the name), neither of which is taken.
    pub(crate) fn take_with_setter(&mut self, name: String, suffix: &str) -> (Ident, Ident) {
        let mut name = name;
        let getter = |name: &str| ident(name).to_string();
        // The underscore before a digit is needed only at the start of a name.
        let setter = |name: &str| match name.strip_prefix('_') {
            Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => format!("with_{rest}"),
            _ => format!("with_{name}"),
        };
        while self.0.contains(&getter(&name)) || self.0.contains(&setter(&name)) {
            name.push_str(suffix);
        }
        self.0.insert(setter(&name));
        let setter = format_ident!("{}", setter(&name));
        (self.take(name, suffix), setter)
    }
}

/// The documentation of an enum of instructions: an index of its variants by unit. Takes the unit, the name and the
/// variant of each; empty if there are fewer than two units.
pub(crate) fn by_unit<'a>(all: impl Iterator<Item = (&'a str, &'a str, &'a Ident)>) -> Vec<String> {
    let mut units: Vec<(&str, Vec<String>)> = Vec::new();
    for (unit, name, variant) in all {
        let link = format!("[{}](Self::{variant})", code(name));
        match units.iter_mut().find(|(known, _)| *known == unit) {
            Some((_, links)) => links.push(link),
            None => units.push((unit, vec![link])),
        }
    }
    if units.len() < 2 {
        return Vec::new();
    }
    let index = units.iter().map(|(unit, links)| {
        let unit = if unit.is_empty() { " Others".to_owned() } else { doc_text(&code(unit)) };
        format!(" -{unit} ({}): {}", links.len(), links.join(", "))
    });
    [String::new(), " By the unit that executes them:".to_owned(), String::new()].into_iter().chain(index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setters_of_names_with_a_digit_first_have_one_underscore() {
        let mut taken = Namespace::default();
        let (getter, setter) = taken.take_with_setter(snake("3D"), "_field");
        assert_eq!((getter.to_string().as_str(), setter.to_string().as_str()), ("_3d", "with_3d"));
        let (_, other) = taken.take_with_setter(snake("3d"), "_field");
        assert_eq!(other.to_string(), "with_3d_field");
    }

    #[test]
    fn names_become_identifiers() {
        assert_eq!(pascal("GLOW.f32"), "GlowF32");
        assert_eq!(pascal("V2X32_TO_V2X16"), "V2x32ToV2x16");
        assert_eq!(pascal("Swizzles (16-bit)"), "Swizzles16Bit");
        assert_eq!(pascal("16.32"), "_16_32");
        assert_eq!(pascal("DimFloat16"), "DimFloat16");
        assert_eq!(snake("DimFloat16"), "dim_float16");
        assert_eq!(snake("SET_ALL_AT_ONCE.f32"), "set_all_at_once_f32");
        assert_eq!(snake("BrightenInt16u"), "brighten_int16u");
        assert_eq!(ident("type").to_string(), "type_");
    }

    #[test]
    fn an_accessor_leaves_room_for_its_setter() {
        let mut names = Namespace::default();
        let pairs = ["a", "with_a", "with_b", "b", "type"].map(|name| {
            let (getter, setter) = names.take_with_setter(name.to_owned(), "_x");
            format!("{getter} {setter}")
        });
        assert_eq!(
            pairs,
            ["a with_a", "with_a_x with_with_a_x", "with_b with_with_b", "b_x with_b_x", "type_ with_type"]
        );
    }

    #[test]
    fn a_taken_name_gets_a_suffix() {
        let mut names = Namespace::with(&["Opcode"]);
        assert_eq!(names.take("Opcode".into(), "Form").to_string(), "OpcodeForm");
        assert_eq!(names.take("Mux".into(), "Form").to_string(), "Mux");
        assert_eq!(names.take("Mux".into(), "Form").to_string(), "MuxForm");
    }
}
