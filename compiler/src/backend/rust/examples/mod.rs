//! Examples in the documentation of a generated crate, which rustdoc compiles and runs: the front page, and one on each entry
//! point. They are made of the specification's own instructions.
//!
//! Modules that a macro makes have none: they are parts of crates whose names nobody here knows.

mod groups;
mod meaning;
mod streams;
mod words;

use isaforge_core::Tables;
use isaforge_core::machine::Hardware;
use isaforge_core::semantics::Semantics;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, ImplItem, Item, parse_quote};

use super::SemanticsStyle;
use super::idents::doc_text;
use crate::expression::scope::Library;

/// Characters of the longest assembly that is shown.
const MOST: usize = 60;

/// The crate that examples are for.
#[derive(Clone, Copy)]
pub struct Crate<'a> {
    /// What Rust knows it by.
    pub name: &'a str,
    /// How instructions are encoded.
    pub tables: Tables,
    /// What they do, and what executes them.
    pub meaning: Option<(&'static Semantics, Option<&'static Hardware>)>,
    /// What the texts of the specification may call.
    pub library: Option<&'a Library>,
    /// Which stubs it has.
    pub style: SemanticsStyle,
}

/// Examples, each with the item that it belongs to: `decode`, `Instruction::encode`.
#[derive(Default)]
pub struct Examples(Vec<(String, String)>);

impl Examples {
    fn add(&mut self, item: impl Into<String>, code: impl AsRef<str>) {
        self.0.push((item.into(), block(code.as_ref())));
    }

    /// Adds the examples to the items that they belong to.
    pub fn attach(&self, items: &mut [Item]) {
        for item in items {
            match item {
                Item::Fn(it) => self.document(&it.sig.ident.to_string(), &mut it.attrs),
                Item::Static(it) => self.document(&it.ident.to_string(), &mut it.attrs),
                Item::Struct(it) => self.document(&it.ident.to_string(), &mut it.attrs),
                Item::Enum(it) => self.document(&it.ident.to_string(), &mut it.attrs),
                Item::Trait(it) => self.document(&it.ident.to_string(), &mut it.attrs),
                Item::Mod(it) => self.document(&it.ident.to_string(), &mut it.attrs),
                Item::Impl(it) if it.trait_.is_none() => {
                    let ty = &it.self_ty;
                    let ty = quote!(#ty).to_string();
                    for item in &mut it.items {
                        if let ImplItem::Fn(it) = item {
                            self.document(&format!("{ty}::{}", it.sig.ident), &mut it.attrs);
                        }
                    }
                }
                // The macro of the core that defines `Machine` takes its documentation first.
                Item::Macro(it) if it.mac.path.segments.last().is_some_and(|last| last.ident == "define_machine") => {
                    let mut attributes = Vec::new();
                    self.document("Machine", &mut attributes);
                    let rest: &TokenStream = &it.mac.tokens;
                    it.mac.tokens = quote!(#(#attributes)* #rest);
                }
                _ => {}
            }
        }
    }

    fn document(&self, item: &str, attributes: &mut Vec<Attribute>) {
        let Some((_, code)) = self.0.iter().find(|(known, _)| known == item) else { return };
        let text = format!("\n# Examples\n\n{code}");
        let lines = text.lines().map(|line| if line.is_empty() { String::new() } else { format!(" {line}") });
        let lines = lines.map(|line| -> Attribute { parse_quote!(#[doc = #line]) });
        let at = attributes.iter().rposition(|known| known.path().is_ident("doc")).map_or(0, |last| last + 1);
        attributes.splice(at..at, lines);
    }
}

/// All examples of a crate but that of its front page.
pub fn examples(of: Crate) -> Examples {
    let mut found = Examples::default();
    match of.tables {
        Tables::Words(isa) => words::examples(isa, of, &mut found),
        Tables::Groups(isa) => groups::examples(isa, of, &mut found),
        Tables::Streams(engine) => streams::examples(engine, of, &mut found),
    }
    meaning::examples(of, &mut found);
    found
}

/// The front page of a crate as lines of documentation.
pub fn front(of: Crate, doc: &str) -> String {
    let (summary, example) = match of.tables {
        Tables::Words(isa) => {
            (format!("{} instructions in words of {} bits.", isa.forms.len(), isa.word_bits), words::front(isa, of))
        }
        Tables::Groups(isa) => {
            let (operations, longest) = (isa.operations.len(), isa.longest);
            (format!("{operations} operations, in groups of up to {longest} bytes."), groups::front(isa, of))
        }
        Tables::Streams(engine) => {
            let (count, longest) = (engine.stream.instructions.len(), engine.stream.longest);
            (format!("{count} instructions of up to {longest} bytes."), streams::front(engine, of))
        }
    };
    let doc = doc_text(if doc.trim().is_empty() { of.tables.name() } else { doc });
    let mut text = format!("\n\n{summary}");
    if let Some(code) = example {
        text.push_str(&format!("\n\n{}", block(&code)));
    }
    if let Some(code) = meaning::front(of) {
        text.push_str(&format!(
            "\n\nWith the feature `semantics` it says what they do, too:\n\n```\n# #[cfg(feature = \"semantics\")] {{\n{code}# }}\n{END}```"
        ));
    }
    // The first space of a line is what `//!` has behind it.
    let rest = text.replace('\n', "\n ").replace("\n \n", "\n\n");
    format!("{doc}{rest}")
}

const END: &str = "# Ok::<(), Box<dyn std::error::Error>>(())\n";

/// Code as a block of Markdown. It may use `?`.
fn block(code: &str) -> String {
    let end = if code.contains('?') { END } else { "" };
    format!("```\n{code}{end}```")
}

/// A text as a Rust literal.
fn literal(text: &str) -> String {
    format!("{text:?}")
}

/// Bytes as elements of an array.
fn bytes(all: &[u8]) -> String {
    all.iter().map(|byte| format!("{byte:#04x}")).collect::<Vec<_>>().join(", ")
}

/// Lines that are compiled and not shown.
fn hidden(code: &str) -> String {
    code.lines().map(|line| format!("# {}\n", line.strip_prefix("# ").unwrap_or(line))).collect()
}

/// A statement on as many lines as it takes.
fn tidy(statement: &str) -> String {
    let Ok(file) = syn::parse_str(&format!("fn statement() {{ {statement} }}")) else {
        return format!("{statement}\n");
    };
    let text = prettyplease::unparse(&file);
    let lines = text.lines().filter_map(|line| line.strip_prefix("    "));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Of those whose assembly is short enough, the longest first: they say much in a line.
fn telling<T>(all: impl Iterator<Item = (T, String)>) -> Vec<(T, String)> {
    let mut all: Vec<(T, String)> = all.filter(|(_, text)| text.len() <= MOST && text.is_ascii()).collect();
    all.sort_by_key(|(_, text)| std::cmp::Reverse(text.len()));
    all
}
