//! The crate that examples are for, the examples found so far, and how their code is written.

use isaforge_core::Tables;
use isaforge_core::machine::Hardware;
use isaforge_core::semantics::Semantics;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, ImplItem, Item, parse_quote};

use crate::backend::rust::options::SemanticsStyle;
use crate::expression::scope::Library;

/// The maximum length of assembly in examples, in characters.
const MAX_TEXT: usize = 60;

/// The crate that examples are for.
#[derive(Clone, Copy)]
pub struct Crate<'a> {
    /// Its name in Rust.
    pub name: &'a str,
    /// How instructions are encoded.
    pub tables: Tables,
    /// The meaning of instructions, and the machine that executes them.
    pub meaning: Option<(&'static Semantics, Option<&'static Hardware>)>,
    /// The names that texts of the specification may use.
    pub library: Option<&'a Library>,
    /// The style of its stubs.
    pub style: SemanticsStyle,
}

/// Examples, each with the item that it documents: `decode`, `Instruction::encode`.
#[derive(Default)]
pub struct Examples(Vec<(String, String)>);

impl Examples {
    pub(super) fn add(&mut self, item: impl Into<String>, code: impl AsRef<str>) {
        self.0.push((item.into(), block(code.as_ref())));
    }

    /// Adds the examples to the documentation of their items.
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
                // The macro of the core that defines `Machine` takes doc attributes as its first input.
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

pub(super) const END: &str = "# Ok::<(), Box<dyn std::error::Error>>(())\n";

/// Formats code as a Markdown block. It may use `?`.
pub(super) fn block(code: &str) -> String {
    let end = if code.contains('?') { END } else { "" };
    format!("```\n{code}{end}```")
}

/// Formats a text as a Rust literal.
pub(super) fn literal(text: &str) -> String {
    format!("{text:?}")
}

/// Formats bytes as elements of an array.
pub(super) fn bytes(all: &[u8]) -> String {
    all.iter().map(|byte| format!("{byte:#04x}")).collect::<Vec<_>>().join(", ")
}

/// Hides lines of an example, which are compiled but not shown.
pub(super) fn hidden(code: &str) -> String {
    code.lines().map(|line| format!("# {}\n", line.strip_prefix("# ").unwrap_or(line))).collect()
}

/// Formats a statement, on several lines if needed.
pub(super) fn tidy(statement: &str) -> String {
    let Ok(file) = syn::parse_str(&format!("fn statement() {{ {statement} }}")) else {
        return format!("{statement}\n");
    };
    let text = prettyplease::unparse(&file);
    let lines = text.lines().filter_map(|line| line.strip_prefix("    "));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Those whose assembly is short enough, longest first, since long lines show the most.
pub(super) fn telling<T>(all: impl Iterator<Item = (T, String)>) -> Vec<(T, String)> {
    let mut all: Vec<(T, String)> = all.filter(|(_, text)| text.len() <= MAX_TEXT && text.is_ascii()).collect();
    all.sort_by_key(|(_, text)| std::cmp::Reverse(text.len()));
    all
}
