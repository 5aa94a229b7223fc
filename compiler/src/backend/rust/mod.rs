//! The back end that prints Rust.
//!
//! [`emit()`] prints the instructions: words here, groups in [`group`], streams in [`stream`]. `semantics`, `intrinsics` and
//! `machine` print what instructions do and what executes them. Each writes the doc comments of the items it prints;
//! [`examples`] adds the front page and the examples. All share `idents` and the literals of `tables`.

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

/// How the semantic stubs are generated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SemanticsStyle {
    /// Each method has a body that returns `Unimplemented`: for an emulator in progress.
    #[default]
    Default,
    /// No method has a body: forgetting one is a compile error.
    Required,
    /// No trait.
    None,
}

/// What to generate.
#[derive(Clone, Debug)]
pub struct Options {
    /// Path of `isaforge-core` in the generated code.
    pub runtime: String,
    /// The semantic stubs.
    pub semantics: SemanticsStyle,
    /// Whether instructions print and parse.
    pub text: bool,
    /// Whether property tests are generated along.
    pub tests: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { runtime: "::isaforge_core".to_owned(), semantics: SemanticsStyle::default(), text: true, tests: true }
    }
}

/// The items of the generated module. The same tables and options give the same tokens.
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

/// What an enum of instructions says of its variants, which stand in the order of the specification: an index by unit. Takes
/// the unit, the name and the variant of each; says nothing where there is one unit or none.
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
