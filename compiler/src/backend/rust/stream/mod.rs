//! From the tables of a stream to Rust.

mod tables;

use isaforge_core::stream::{Field, Layout, Role, Stream};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::options::Options;
use crate::backend::rust::idents::{Namespace, by_unit, doc_text, pascal, snake};

/// Methods that every instruction has; accessors of fields must have other names.
const METHODS: [&str; 6] = ["new", "instruction", "from", "into", "fmt", "eq"];

/// Generates the items of the module. The same tables and options always give the same tokens.
pub fn emit(stream: &'static Stream, options: &Options) -> TokenStream {
    let runtime: TokenStream = options.runtime.parse().unwrap_or_else(|_| quote!(::isaforge_core));
    let names = names(stream);
    let common = common(stream, &names, options);
    let forms = names.iter().enumerate().map(|(opcode, name)| form(stream, opcode, name));
    let tables = tables::emit(stream);
    let tests = (options.tests && options.text).then(tests);
    quote! {
        #[doc(hidden)]
        pub use #runtime as __rt;
        pub use __rt::registers::RegisterUse;
        pub use __rt::stream::{DecodeError, ParseError};
        #common
        #(#forms)*
        #tables
        #tests
    }
}

/// The identifiers of instructions, used for types and variants.
pub(crate) fn names(stream: &Stream) -> Vec<Ident> {
    let mut taken = Namespace::with(&["Opcode", "Instruction", "Kind", "DecodeError", "ParseError", "Self"]);
    stream.instructions.iter().map(|i| taken.take(pascal(i.name), "Form")).collect()
}

fn common(stream: &Stream, names: &[Ident], options: &Options) -> TokenStream {
    let numbers = (0..names.len()).map(Literal::usize_unsuffixed);
    let docs = stream.instructions.iter().map(|i| {
        let title = if i.title.is_empty() { i.doc } else { i.title };
        doc_text(&format!("`{}`: {title}", i.name))
    });
    let units = by_unit(stream.instructions.iter().zip(names).map(|(i, name)| (i.unit, i.name, name)));
    let (first, last) = stream.generations;
    let (first, last) = (Literal::u32_unsuffixed(first), Literal::u32_unsuffixed(last));
    let longest = Literal::usize_unsuffixed(stream.longest.into());
    let text = options.text.then(|| {
        quote! {
            impl ::core::fmt::Display for Instruction {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut line = __rt::text::Line::new();
                    self.engine().print(&self.decoded, &mut line);
                    f.pad(line.as_str())
                }
            }
            impl ::core::str::FromStr for Instruction {
                type Err = ParseError;
                fn from_str(text: &str) -> Result<Self, ParseError> { parse(LAST_GENERATION, text) }
            }
            /// Parses the text of an instruction of a generation.
            ///
            /// # Errors
            /// Returns where the text stops being a valid instruction, and what was expected there.
            pub fn parse(generation: u32, text: &str) -> Result<Instruction, ParseError> {
                let decoded = engine(generation).parse(text)?.decoded;
                Ok(Instruction { decoded, generation })
            }
        }
    });
    quote! {
        /// The tables of the instruction set.
        pub static ISA: &__rt::stream::Stream = &tables::STREAM;
        /// The first generation that the specification distinguishes.
        pub const FIRST_GENERATION: u32 = #first;
        /// The last generation that the specification distinguishes, which is the default.
        pub const LAST_GENERATION: u32 = #last;
        /// The length of the longest instruction in bytes.
        pub const LONGEST: usize = #longest;

        /// The instructions.
        #(#[doc = #units])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Opcode { #(#[doc = #docs] #names = #numbers),* }
        impl Opcode {
            /// All instructions, in the order of their numbers.
            pub const ALL: &'static [Self] = &[#(Opcode::#names),*];
            /// Returns what the specification states about the instruction.
            pub fn info(self) -> &'static __rt::stream::Instruction { &tables::STREAM.instructions[self as usize] }
        }

        /// An instruction: its bits, their decoded meaning, and its generation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Instruction {
            decoded: __rt::stream::Decoded,
            generation: u32,
        }

        fn engine(generation: u32) -> __rt::stream::Engine {
            __rt::stream::Engine { stream: &tables::STREAM, generation }
        }

        /// Decodes the instruction at the start of `bytes`, which may be longer; [`Instruction::len`] returns how many
        /// bytes it takes.
        ///
        /// # Errors
        /// Returns why the bytes do not start with an instruction.
        pub fn decode(bytes: &[u8]) -> Result<Instruction, DecodeError> { decode_in(LAST_GENERATION, bytes) }

        /// Decodes an instruction of a generation.
        ///
        /// # Errors
        /// As for [`decode`].
        pub fn decode_in(generation: u32, bytes: &[u8]) -> Result<Instruction, DecodeError> {
            let decoded = engine(generation).decode(bytes)?;
            Ok(Instruction { decoded, generation })
        }

        /// Decodes the instructions of a program in sequence, each with its address in bytes. Ends after the first
        /// error.
        pub fn stream(bytes: &[u8]) -> impl Iterator<Item = (usize, Result<Instruction, DecodeError>)> {
            let mut at = Some(0);
            ::core::iter::from_fn(move || {
                let start = at?;
                let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
                let found = decode(rest);
                at = found.as_ref().ok().map(|instruction| start + instruction.len());
                Some((start, found))
            })
        }

        #[allow(clippy::len_without_is_empty, reason = "no instruction is empty")]
        impl Instruction {
            fn engine(&self) -> __rt::stream::Engine { engine(self.generation) }
            fn own(&self) -> __rt::stream::Scope<'_> { self.engine().scope(&self.decoded) }
            /// Returns the opcode.
            pub fn opcode(&self) -> Opcode {
                // Decoding yields no other numbers.
                Opcode::ALL[usize::from(self.own().layout.opcode)]
            }
            /// Returns the generation that it was decoded for.
            pub fn generation(&self) -> u32 { self.generation }
            /// Returns its length in bytes.
            pub fn len(&self) -> usize { self.decoded.len.into() }
            /// Returns its bytes in memory order; those beyond its length are 0.
            pub fn bytes(&self) -> [u8; LONGEST] {
                let bytes = self.engine().store(self.decoded.word);
                ::core::array::from_fn(|i| bytes[i])
            }
            /// Returns the value of a field by name; `None` if there is no such field.
            pub fn field(&self, name: &str) -> Option<u64> {
                let own = self.own();
                let index = own.layout.fields.iter().position(|field| field.name == name)?;
                Some(own.value(index as u8))
            }
            /// Returns the instruction with another value in a field; `None` if there is no such instruction.
            pub fn with_field(&self, name: &str, value: u64) -> Option<Self> {
                let index = self.own().layout.fields.iter().position(|field| field.name == name)?;
                let decoded = self.engine().with(&self.decoded, index as u8, value)?;
                Some(Instruction { decoded, ..*self })
            }
            /// Calls `tell` for each register that it reads.
            pub fn reads(&self, tell: &mut dyn FnMut(RegisterUse)) {
                __rt::stream::registers(self.engine(), &self.decoded, false, tell);
            }
            /// Calls `tell` for each register that it writes.
            pub fn writes(&self, tell: &mut dyn FnMut(RegisterUse)) {
                __rt::stream::registers(self.engine(), &self.decoded, true, tell);
            }
            /// Calls `tell` with the meaning of its bits.
            pub fn annotate(&self, tell: &mut dyn FnMut(__rt::stream::Note)) {
                __rt::stream::annotate(self.engine(), &self.decoded, tell);
            }
            /// Returns the instruction as its own type.
            pub fn kind(self) -> Kind {
                match self.opcode() { #(Opcode::#names => Kind::#names(#names(self)),)* }
            }
        }
        #text

        /// An instruction as its own type.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "as in `Opcode`")]
        pub enum Kind { #(#names(#names)),* }
    }
}

/// The fields that all layouts of an instruction share by name, if the specification named them.
fn fields(layouts: &[&'static Layout]) -> Vec<&'static Field> {
    let Some((first, others)) = layouts.split_first() else { return Vec::new() };
    let shared = |field: &&'static Field| {
        !field.name.contains(' ')
            && others.iter().all(|l| l.fields.iter().any(|f| f.name == field.name && f.signed == field.signed))
    };
    first.fields.iter().filter(shared).collect()
}

fn form(stream: &'static Stream, opcode: usize, name: &Ident) -> TokenStream {
    let own = stream.layouts_of(0).iter().filter(|l| l.role == Role::Own && usize::from(l.opcode) == opcode);
    let layouts: Vec<&'static Layout> = own.collect();
    let mut taken = Namespace::with(&METHODS);
    let accessors = fields(&layouts).into_iter().map(|field| {
        let (getter, setter) = taken.take_with_setter(snake(field.name), "_field");
        let what = field.name;
        let doc = doc_text(&if field.doc.is_empty() { format!("The field `{what}`.") } else { field.doc.to_owned() });
        let set_doc = format!(" With another `{what}`. Returns `None` if it cannot have this value.");
        // A single layout has the field at a fixed index.
        let value = match layouts[..] {
            [only] => {
                let index = only.fields.iter().position(|f| f.name == what).unwrap_or(0);
                let index = Literal::usize_unsuffixed(index);
                quote!(self.0.own().value(#index))
            }
            _ => quote!(self.0.field(#what).unwrap_or(0)),
        };
        let (ty, value) = if field.signed { (quote!(i64), quote!(#value as i64)) } else { (quote!(u64), value) };
        quote! {
            #[doc = #doc]
            pub fn #getter(self) -> #ty { #value }
            #[doc = #set_doc]
            #[must_use]
            pub fn #setter(self, value: #ty) -> Option<Self> { self.0.with_field(#what, value as u64).map(#name) }
        }
    });
    let accessors: Vec<TokenStream> = accessors.collect();
    let info = &stream.instructions[opcode];
    let doc = doc_text(&format!("`{}`: {}", info.name, if info.title.is_empty() { info.doc } else { info.title }));
    let source = format!(" Specified in {}; provenance: {}.", info.source, info.provenance.as_str());
    quote! {
        #[doc = #doc]
        #[doc = ""]
        #[doc = #source]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct #name(Instruction);
        impl #name {
            /// Returns the untyped instruction.
            pub fn instruction(self) -> Instruction { self.0 }
            #(#accessors)*
        }
    }
}

/// A property test: random bytes that decode also print and parse back.
fn tests() -> TokenStream {
    quote! {
        #[cfg(test)]
        mod tests {
            #[test]
            fn what_decodes_prints_and_reads_back() {
                super::__rt::stream::sample::check_identities(super::engine(super::LAST_GENERATION), 20);
            }
        }
    }
}
