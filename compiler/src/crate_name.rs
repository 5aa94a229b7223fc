//! Names of generated crates and modules, and which of them Rust allows.

/// The module name for an instruction set: its own name, in lower case, with `_` for characters that Rust names do not
/// allow.
///
/// ```
/// assert_eq!(isaforge_compiler::build::module_name("valhall-2021"), "valhall_2021");
/// ```
pub fn module_name(isa: &str) -> String {
    let letters = isa.chars().map(|c| if c.is_alphanumeric() || c == '_' { c.to_ascii_lowercase() } else { '_' });
    letters.collect()
}

/// Why a crate cannot have a name, although it is made of letters: generated code could not refer to it, or to the
/// crate whose name it takes. `None` if it can.
///
/// ```
/// assert_eq!(isaforge_compiler::build::taken_crate_name("valhall-2021"), None);
/// assert_eq!(isaforge_compiler::build::taken_crate_name("fn"), Some("this is a keyword of Rust"));
/// ```
pub fn taken_crate_name(name: &str) -> Option<&'static str> {
    match module_name(name).as_str() {
        name if is_keyword(name) => Some("this is a keyword of Rust"),
        "alloc" | "core" | "proc_macro" | "std" | "test" => Some("this is a crate of Rust"),
        name if name == "isaforge" || name.starts_with("isaforge_") => Some("this is a crate of isaforge"),
        _ => None,
    }
}

/// The keywords of every edition, including reserved ones, since a generated crate may use any edition.
const KEYWORDS: &[&str] = &[
    "_", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "Self", "static", "struct",
    "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while",
    "yield",
];

/// Whether a name is a keyword in some edition of Rust.
pub(crate) fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}
