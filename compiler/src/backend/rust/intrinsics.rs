//! The trait that a machine implements: one method for each intrinsic, with the types from the specification.

use isaforge_core::semantics::{Class, Type};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::idents::{Namespace, doc_text, ident};
use crate::expression::scope::{IntrinsicInfo, Library, Parameter};

/// Generates the trait `Intrinsics` and the function that calls its methods by index. Empty if there are no intrinsics.
pub fn emit_intrinsics(library: &Library) -> TokenStream {
    if library.intrinsics.is_empty() {
        return TokenStream::new();
    }
    let methods = library.intrinsics.iter().map(method);
    let arms = library.intrinsics.iter().enumerate().map(|(number, intrinsic)| arm(number as u16, intrinsic));
    quote! {
        /// The functions that texts of the specification call and do not define. A machine must implement a method for
        /// each.
        ///
        /// An argument is a column with a value for each of the `L` lanes; an operand is passed as its index. `mask`
        /// holds the lanes that execute the intrinsic, bit 0 for lane 0. The results of other lanes are ignored.
        pub trait Intrinsics<const L: usize> {
            /// The reason why execution stops.
            type Fault;
            #(#methods)*
        }

        /// Calls an intrinsic by its index in [`SEMANTICS`]. Returns zeros if the intrinsic has no result.
        ///
        /// # Errors
        /// As for the intrinsic.
        pub fn call<const L: usize, M: Intrinsics<L> + ?Sized>(
            machine: &mut M,
            intrinsic: u16,
            arguments: &[[u64; L]],
            mask: u64,
        ) -> Result<[u64; L], M::Fault> {
            #[allow(unused_imports, reason = "not every set converts values")]
            use super::__rt::semantics::evaluate::each;
            let zeros = [0; L];
            #[allow(unused_variables, reason = "not every set passes values")]
            let argument = |k: usize| arguments.get(k).unwrap_or(&zeros);
            match intrinsic {
                #(#arms)*
                _ => Ok(zeros),
            }
        }
    }
}

fn method(intrinsic: &IntrinsicInfo) -> TokenStream {
    let (signature, doc) = (signature(intrinsic), doc_text(&intrinsic.doc));
    quote! {
        #[doc = #doc]
        ///
        /// # Errors
        /// When the intrinsic cannot be executed.
        #[allow(clippy::too_many_arguments)]
        #signature;
    }
}

fn signature(intrinsic: &IntrinsicInfo) -> TokenStream {
    let name = ident(&intrinsic.name);
    let mut names = Namespace::with(&["mask", "L"]);
    let parameters = intrinsic.parameters.iter().enumerate().map(|(k, parameter)| {
        let name = intrinsic.names.get(k).cloned().flatten();
        let name = names.take(name.unwrap_or_else(|| format!("argument_{k}")), "_");
        match parameter {
            Parameter::Operand => quote!(#name: u16),
            Parameter::Value(ty) => {
                let ty = rust(*ty);
                quote!(#name: [#ty; L])
            }
        }
    });
    let result = match intrinsic.result {
        Some(ty) => {
            let ty = rust(ty);
            quote!([#ty; L])
        }
        None => quote!(()),
    };
    quote!(fn #name(&mut self, #(#parameters,)* mask: u64) -> Result<#result, Self::Fault>)
}

/// Methods of the trait as source, for a machine whose faults are texts: each fails with the name of its intrinsic.
pub(crate) fn refusing(library: &Library) -> impl Iterator<Item = String> {
    library.intrinsics.iter().map(|intrinsic| {
        let (method, name) = (signature(intrinsic), &intrinsic.name);
        let file = syn::parse2(quote!(impl Refusing { #method { Err(#name) } }));
        let text = file.map_or_else(|_| String::new(), |file| prettyplease::unparse(&file));
        let lines = text.lines().map(str::trim);
        let method: Vec<&str> = lines.skip(1).collect();
        method.join(" ").trim_end_matches([' ', '}']).to_owned() + " }"
    })
}

fn arm(number: u16, intrinsic: &IntrinsicInfo) -> TokenStream {
    let (number, name) = (Literal::u16_unsuffixed(number), ident(&intrinsic.name));
    let arguments = intrinsic.parameters.iter().enumerate().map(|(k, parameter)| {
        let k = Literal::usize_unsuffixed(k);
        match parameter {
            Parameter::Operand => quote!(argument(#k).first().map_or(0, |operand| *operand as u16)),
            Parameter::Value(ty) => match ty.class {
                _ if is_u64(*ty) => quote!(*argument(#k)),
                Class::Bool if ty.lanes == 1 => quote!(each(argument(#k), |value| value != 0)),
                Class::Float if ty.lanes == 1 && ty.bits == 32 => {
                    quote!(each(argument(#k), |bits| f32::from_bits(bits as u32)))
                }
                Class::Float if ty.lanes == 1 && ty.bits == 64 => quote!(each(argument(#k), f64::from_bits)),
                _ => {
                    let ty = rust(*ty);
                    quote!(each(argument(#k), |value| value as #ty))
                }
            },
        }
    });
    let call = quote!(machine.#name(#(#arguments,)* mask));
    match intrinsic.result {
        None => quote!(#number => #call.map(|()| [0; L]),),
        Some(ty) if is_u64(ty) => quote!(#number => #call,),
        Some(ty) => {
            let bits = match ty.class {
                Class::Float if ty.lanes == 1 && ty.bits > 16 => quote!(|value| u64::from(value.to_bits())),
                Class::Signed if ty.lanes == 1 => {
                    let unsigned = format_ident!("u{}", ty.bits.next_power_of_two().max(8));
                    quote!(|value| u64::from(value as #unsigned))
                }
                _ => quote!(u64::from),
            };
            quote!(#number => Ok(each(&#call?, #bits)),)
        }
    }
}

fn is_u64(ty: Type) -> bool {
    rust_name(ty) == "u64"
}

fn rust(ty: Type) -> proc_macro2::Ident {
    format_ident!("{}", rust_name(ty))
}

/// The Rust type of a value. Vectors and half floats are passed as their bits.
fn rust_name(ty: Type) -> &'static str {
    match (ty.class, ty.lanes, ty.size()) {
        (Class::Bool, 1, _) => "bool",
        (Class::Float, 1, 32) => "f32",
        (Class::Float, 1, 64) => "f64",
        (Class::Signed, 1, 8) => "i8",
        (Class::Signed, 1, 16) => "i16",
        (Class::Signed, 1, 32) => "i32",
        (Class::Signed, 1, 64) => "i64",
        (_, _, ..=8) => "u8",
        (_, _, ..=16) => "u16",
        (_, _, ..=32) => "u32",
        _ => "u64",
    }
}
