//! The back end for Rust.
//!
//! [`Options`] say what to generate. [`emit()`] prints the instructions: words here, groups in [`group`], streams in
//! [`stream`]. Of words, `instructions` prints the enum of all of them, `forms` a newtype with accessors for each,
//! and `types` what operands and modifiers are: enums, registers, kinds. `semantics`, `intrinsics` and `machine`
//! print the meaning of instructions and the machine that executes them. Each writes the doc comments of the items it
//! prints; [`examples`] adds the front page and the examples. All of them use `idents` and the literals of `tables`.

pub mod examples;
mod forms;
pub mod group;
pub(crate) mod idents;
mod instructions;
pub(crate) mod intrinsics;
pub(crate) mod machine;
mod options;
pub(crate) mod semantics;
pub mod stream;
pub(crate) mod tables;
mod types;

use proc_macro2::TokenStream;
use quote::quote;

use crate::lower::{Lowered, Words};

pub use options::{Options, SemanticsStyle};

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
