//! Operations by name, and the semantics stubs.

use isaforge_core::group::table::{GroupIsa, Operation};
use proc_macro2::TokenStream;
use quote::quote;

use crate::backend::rust::group::types::Names;
use crate::backend::rust::idents::{by_unit, code, doc_text};
use crate::backend::rust::options::{Options, SemanticsStyle};

/// The operations with an effect: not those that only describe wires, and not the header.
pub(crate) fn own(isa: &GroupIsa) -> Vec<usize> {
    (0..isa.operations.len()).filter(|i| !isa.operations[*i].remark && isa.operations[*i].slots != 1).collect()
}

pub(super) fn emit(isa: &GroupIsa, names: &Names, options: &Options) -> TokenStream {
    let variants: Vec<_> = names.operations.iter().map(|(v, _)| v).collect();
    let docs: Vec<String> = isa
        .operations
        .iter()
        .map(|o| {
            let encoding = if o.no_encoding.is_empty() {
                String::new()
            } else {
                format!(" No public encoding: {}.", o.no_encoding)
            };
            doc_text(&format!("{}: {}{encoding} ({})", code(o.name), o.doc, o.source))
        })
        .collect();
    let place = |operation: &Operation| {
        let slot = isa.slots.get(operation.slots.trailing_zeros() as usize);
        slot.and_then(|slot| isa.choices.get(usize::from(slot.choice))).map_or("", |choice| choice.name)
    };
    let places = by_unit(isa.operations.iter().zip(&variants).map(|(o, name)| (place(o), o.name, *name)));
    let semantics = match options.semantics {
        SemanticsStyle::None => quote!(),
        style => {
            let own = own(isa);
            let methods = own.iter().map(|i| {
                let (_, method) = &names.operations[*i];
                let (doc, name) = (&docs[*i], isa.operations[*i].name);
                let body = match style {
                    SemanticsStyle::Default => {
                        quote!({ let _ = (parts, slot); __rt::Unimplemented { mnemonic: #name }.into() })
                    }
                    _ => quote!(;),
                };
                quote!(#[doc = #doc] fn #method(&mut self, parts: &Parts, slot: usize) -> Self::Output #body)
            });
            let (own_variants, own_methods): (Vec<_>, Vec<_>) =
                own.iter().map(|i| (&names.operations[*i].0, &names.operations[*i].1)).unzip();
            let bound = match style {
                SemanticsStyle::Default => quote!(
                    type Output: From<__rt::Unimplemented>;
                ),
                _ => quote!(
                    type Output;
                ),
            };
            quote! {
                /// The meaning of the operations: one method for each. The default methods return
                /// [`Unimplemented`](__rt::Unimplemented). Operations without a public encoding have a method, too.
                pub trait Semantics {
                    /// The result of a method.
                    #bound
                    #(#methods)*
                }

                /// Calls the method of an operation, see [`Parts::operations`]; `None` for an operation without an
                /// effect of its own.
                pub fn dispatch<S: Semantics + ?Sized>(operation: Operation, parts: &Parts, slot: usize, to: &mut S) -> Option<S::Output> {
                    Some(match operation {
                        #(Operation::#own_variants => to.#own_methods(parts, slot),)*
                        #[allow(unreachable_patterns, reason = "an instruction set without remarks")]
                        _ => return None,
                    })
                }
            }
        }
    };
    quote! {
        /// The operations, in the order of the specification.
        #(#[doc = #places])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Operation { #(#[doc = #docs] #variants),* }

        impl Operation {
            /// All operations.
            pub const ALL: &'static [Self] = &[#(Operation::#variants),*];

            /// Returns what the specification states about the operation.
            pub fn info(self) -> &'static __rt::group::table::Operation {
                &tables::ISA.operations[self as usize]
            }
        }

        #semantics
    }
}
