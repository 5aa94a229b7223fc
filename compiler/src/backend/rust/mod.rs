//! The back end for Rust.
//!
//! [`emit()`] prints the instructions: words here, groups in [`group`], streams in [`stream`]. Of words, `instructions`
//! prints the enum of all of them, `forms` a newtype with accessors for each, and `types` what operands and modifiers
//! are: enums, registers, kinds. `semantics`, `intrinsics` and `machine` print the meaning of instructions and the
//! machine that executes them. Each writes the doc comments of the items it prints; [`examples`] adds the front page
//! and the examples. All of them use `idents` and the literals of `tables`.

pub mod examples;
mod forms;
pub mod group;
pub(crate) mod idents;
mod instructions;
pub(crate) mod intrinsics;
pub(crate) mod machine;
pub(crate) mod semantics;
pub mod stream;
pub(crate) mod tables;
mod types;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use self::idents::{code, doc_text};
use crate::lower::{Lowered, Words};

/// The style of the generated semantics stubs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SemanticsStyle {
    /// Methods have default bodies that return `Unimplemented`, for an emulator in progress.
    #[default]
    Default,
    /// Methods have no default bodies, so that omitting one is a compile error.
    Required,
    /// No trait.
    None,
}

/// What to generate.
#[derive(Clone, Debug)]
pub struct Options {
    /// The path of `isaforge-core` in the generated code.
    pub runtime: String,
    /// The semantics stubs.
    pub semantics: SemanticsStyle,
    /// Whether instructions print and parse.
    pub text: bool,
    /// Whether to generate property tests.
    pub tests: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { runtime: "::isaforge_core".to_owned(), semantics: SemanticsStyle::default(), text: true, tests: true }
    }
}

/// Generates the items of the module. The same tables and options always give the same tokens.
pub fn emit(lowered: &Lowered, options: &Options) -> TokenStream {
    match lowered {
        Lowered::Words(generated) => words(generated, options),
        Lowered::Groups(isa) => group::emit(isa, options),
        Lowered::Stream(found) => stream::emit(found, options),
    }
}

fn words(generated: &Words, options: &Options) -> TokenStream {
    let names = types::Names::new(generated.isa);
    let runtime: TokenStream = options.runtime.parse().unwrap_or_else(|_| quote!(::isaforge_core));
    let tables = tables::emit(generated.isa, &generated.fast);
    let types = types::emit(generated.isa, &names);
    let instructions = instructions::emit(generated.isa, &names, options);
    let errors =
        if options.text { quote!(DecodeError, EncodeError, ParseError) } else { quote!(DecodeError, EncodeError) };
    let tests = (options.tests && options.text).then(|| {
        quote! {
            #[cfg(test)]
            mod tests {
                #[test]
                fn every_form_encodes_decodes_prints_and_parses_to_itself() {
                    super::__rt::sample::check_identities(super::ISA, 100, |word| {
                        let word = word.try_into().ok()?;
                        super::decode(word).ok().map(|instruction| instruction.encode().into())
                    });
                }
            }
        }
    });
    quote! {
        #[doc(hidden)]
        pub use #runtime as __rt;
        pub use __rt::registers::RegisterList;
        pub use __rt::{#errors};
        #types
        #instructions
        #tables
        #tests
    }
}

/// The documentation of an enum of instructions: an index of its variants by unit. Takes the unit, the name and the
/// variant of each; empty if there are fewer than two units.
fn by_unit<'a>(all: impl Iterator<Item = (&'a str, &'a str, &'a Ident)>) -> Vec<String> {
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
