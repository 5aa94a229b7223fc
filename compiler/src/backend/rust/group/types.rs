//! Typed views: an enum for each enum, a struct for each choice, the parts of a group, and the group itself.

use isaforge_core::group::table::{Choice, Encoding, Field, GroupIsa, Type};
use isaforge_core::table::{Enum, Value};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use crate::backend::rust::idents::{Namespace, TAKEN, code, doc_text, pascal, snake};
use crate::backend::rust::options::Options;

/// The identifiers of all generated items.
pub(crate) struct Names {
    /// Enums.
    pub enums: Vec<Ident>,
    /// Choices.
    pub choices: Vec<Ident>,
    /// The fields of the generated `Parts`, one for each slot.
    pub slots: Vec<Ident>,
    /// Operations: variant and method.
    pub operations: Vec<(Ident, Ident)>,
}

impl Names {
    pub(crate) fn new(isa: &GroupIsa) -> Self {
        let mut types = Namespace::with(TAKEN);
        let choices = isa.choices.iter().map(|c| types.take(pascal(c.name), "Part")).collect();
        let enums = isa.enums.iter().map(|e| types.take(pascal(e.name), "Value")).collect();
        // The names of variables in generated code.
        let mut parts = Namespace::with(&["body", "parts", "values"]);
        let slots = isa.slots.iter().map(|s| parts.take(snake(s.name), "_part")).collect();
        let (mut variants, mut methods) = (Namespace::with(&["Self"]), Namespace::with(&["dispatch"]));
        let operations = isa
            .operations
            .iter()
            .map(|o| (variants.take(pascal(o.name), "Op"), methods.take(snake(o.name), "_op")))
            .collect();
        Names { enums, choices, slots, operations }
    }
}

/// The values of an enum as variants.
pub(crate) fn values(e: &Enum) -> Vec<Ident> {
    let mut taken = Namespace::with(&["Self"]);
    e.values.iter().map(|v| taken.take(pascal(v.name), "Value")).collect()
}

/// The fields of a choice as fields of its type.
pub(crate) fn fields(c: &Choice) -> Vec<Ident> {
    let mut taken = Namespace::default();
    c.fields.iter().map(|f| taken.take(snake(f.name), "_field")).collect()
}

fn enumeration(isa: &GroupIsa, names: &Names, index: usize) -> TokenStream {
    let (e, name) = (&isa.enums[index], &names.enums[index]);
    let variants = values(e);
    let doc = |v: &Value| format!("{}{}{}", code(v.text), if v.doc.is_empty() { "." } else { ": " }, v.doc);
    let docs = e.values.iter().map(|v| doc_text(&doc(v)));
    let bits: Vec<Literal> = e.values.iter().map(|v| Literal::i64_unsuffixed(v.bits as i64)).collect();
    let doc = doc_text(e.doc);
    quote! {
        #[doc = #doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum #name { #(#[doc = #docs] #variants = #bits),* }

        impl #name {
            /// All named values.
            pub const ALL: &'static [Self] = &[#(#name::#variants),*];
            /// Returns the value with this number; `None` if it has no name.
            pub const fn from_number(number: i64) -> Option<Self> {
                match number { #(#bits => Some(#name::#variants),)* _ => None }
            }
            /// Returns the number of the value.
            pub const fn number(self) -> i64 {
                self as i64
            }
        }
    }
}

/// The Rust type of a field.
fn ty(names: &Names, field: &Field) -> TokenStream {
    match (field.ty, field.encoding) {
        (Type::Flag, _) => quote!(bool),
        (Type::Enum(index), _) => {
            let name = &names.enums[usize::from(index)];
            quote!(#name)
        }
        (_, Encoding::SignedTimes(_)) => quote!(i32),
        _ => quote!(u32),
    }
}

/// An expression for the typed value of the number in `value`.
fn typed(isa: &GroupIsa, names: &Names, field: &Field) -> TokenStream {
    match (field.ty, field.encoding) {
        (Type::Flag, _) => quote!(value != 0),
        (Type::Enum(index), _) => {
            let name = &names.enums[usize::from(index)];
            // A decoded field always has a named value; the default replaces a number without a name.
            let named = isa.enums[usize::from(index)].values.iter().find(|v| v.bits as i64 == field.default);
            let first = named.or(isa.enums[usize::from(index)].values.first());
            let first = Literal::i64_unsuffixed(first.map_or(0, |v| v.bits as i64));
            quote!(match #name::from_number(value) { Some(value) => value, None => #name::ALL[#name::position(#first)] })
        }
        (_, Encoding::SignedTimes(_)) => quote!(value as i32),
        _ => quote!(value as u32),
    }
}

fn choice(isa: &GroupIsa, names: &Names, index: usize) -> TokenStream {
    let (c, name) = (&isa.choices[index], &names.choices[index]);
    let fields = fields(c);
    let docs = c.fields.iter().map(|f| if f.doc.is_empty() { doc_text(f.name) } else { doc_text(f.doc) });
    let types = c.fields.iter().map(|f| ty(names, f));
    let numbers: Vec<Literal> = (0..c.fields.len()).map(Literal::usize_unsuffixed).collect();
    let read = c.fields.iter().zip(&numbers).map(|(f, number)| {
        let typed = typed(isa, names, f);
        quote!({ let value = values.get(&tables::ISA, slot, #number); #typed })
    });
    let write = c.fields.iter().zip(&fields).map(|(f, field)| match f.ty {
        Type::Enum(_) => quote!(self.#field.number()),
        _ => quote!(i64::from(self.#field)),
    });
    let doc = doc_text(c.doc);
    let index = Literal::usize_unsuffixed(index);
    let unused = c.fields.is_empty().then(|| quote!(let _ = (values, slot);));
    let unused_write = unused.clone().map(|_| quote!(let _ = (self, values, slot);));
    quote! {
        #[doc = #doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct #name { #(#[doc = #docs] pub #fields: #types),* }

        impl #name {
            fn read(values: &__rt::group::Values, slot: usize) -> Self {
                #unused
                #name { #(#fields: #read),* }
            }

            fn write(&self, values: &mut __rt::group::Values, slot: usize) {
                #unused_write
                #(values.set(&tables::ISA, slot, #numbers, #write);)*
            }
        }

        /// Every field at its default.
        impl Default for #name {
            fn default() -> Self {
                let values = __rt::group::Values::new(&tables::ISA);
                let slot = tables::ISA.slots.iter().position(|s| s.choice == #index).unwrap_or(0);
                Self::read(&values, slot)
            }
        }
    }
}

/// All types, and the group.
pub(super) fn emit(isa: &GroupIsa, names: &Names, options: &Options) -> TokenStream {
    let enums = (0..isa.enums.len()).map(|i| enumeration(isa, names, i));
    let positions = names.enums.iter().map(|name| {
        quote! {
            impl #name {
                #[allow(dead_code, reason = "an enum that no field uses")]
                const fn position(number: i64) -> usize {
                    let mut i = 0;
                    while i < Self::ALL.len() {
                        if Self::ALL[i].number() == number {
                            return i;
                        }
                        i += 1;
                    }
                    0
                }
            }
        }
    });
    let choices = (0..isa.choices.len()).map(|i| choice(isa, names, i));
    let parts = parts(isa, names);
    let text = options.text.then(text);
    quote! {
        #(#enums)*
        #(#positions)*
        #(#choices)*
        #parts
        #text
    }
}

fn parts(isa: &GroupIsa, names: &Names) -> TokenStream {
    let Some((header, rest)) = names.slots.split_first() else { return quote!() };
    let type_of = |slot: usize| &names.choices[usize::from(isa.slots[slot].choice)];
    let header_type = type_of(0);
    let types: Vec<&Ident> = (1..isa.slots.len()).map(type_of).collect();
    let docs = isa.slots[1..].iter().map(|s| if s.doc.is_empty() { doc_text(s.name) } else { doc_text(s.doc) });
    let numbers: Vec<Literal> = (1..isa.slots.len()).map(Literal::usize_unsuffixed).collect();
    let constants: Vec<Ident> = names.slots.iter().map(|s| format_ident!("{}", s.to_string().to_uppercase())).collect();
    let all: Vec<Literal> = (0..isa.slots.len()).map(Literal::usize_unsuffixed).collect();
    let doc = doc_text(isa.doc);
    let header_doc = format!("{} What follows from the parts, such as the length, is computed.", isa.slots[0].doc);
    let header_doc = doc_text(&header_doc);

    quote! {
        /// The indices of a group's slots, by name.
        pub mod slot {
            #(#[doc = "The slot."] pub const #constants: usize = #all;)*
        }

        #[doc = #doc]
        ///
        /// A group consists of its bytes, which are always valid.
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct Group(__rt::group::Group);

        /// Decodes the group at the start of `bytes`; further bytes are ignored.
        ///
        /// # Errors
        /// Returns the first mistake.
        #[inline]
        pub fn decode(bytes: &[u8]) -> Result<Group, GroupError> {
            __rt::group::decode(&tables::ISA, bytes).map(Group)
        }

        /// Decodes the groups of a program, each with its offset; ends after an error.
        pub fn walk(bytes: &[u8]) -> impl Iterator<Item = (usize, Result<Group, GroupError>)> + '_ {
            __rt::group::program::walk(&tables::ISA, bytes).map(|(at, group)| (at, group.map(Group)))
        }

        /// The tables of the instruction set, for tools.
        pub static ISA: &__rt::group::GroupIsa = &tables::ISA;

        impl Group {
            /// Returns its bytes, including padding.
            #[inline]
            pub fn as_bytes(&self) -> &[u8] {
                self.0.as_bytes()
            }
            /// Returns the untyped group.
            pub fn raw(&self) -> &__rt::group::Group {
                &self.0
            }
            /// Returns its typed parts.
            pub fn parts(&self) -> Parts {
                Parts::read(&self.0.values(&tables::ISA))
            }
            /// Returns the choices that its encoder made.
            pub fn form(&self) -> Form {
                self.0.form()
            }
            /// Returns the group re-encoded in its shortest form.
            ///
            /// # Errors
            /// Never for a decoded group, unless it has values that only a longer form can encode.
            pub fn canonical(&self) -> Result<Group, BuildError> {
                __rt::group::canonical(&tables::ISA, &self.0.values(&tables::ISA)).map(Group)
            }
            /// Whether it is the last group of a program.
            pub fn is_last(&self) -> bool {
                __rt::group::program::is_last(&tables::ISA, &self.0)
            }
            /// Returns the target of its branch if it starts at `start`; `None` if it has no branch.
            pub fn target(&self, start: usize) -> Option<i64> {
                __rt::group::program::target(&tables::ISA, &self.0, start)
            }
            /// Returns its operations in the order of the text, each with its slot.
            pub fn operations(&self) -> impl Iterator<Item = (usize, Operation)> {
                __rt::group::info::operations(&tables::ISA, &self.0).filter_map(|(slot, index, _)| Some((slot, *Operation::ALL.get(index)?)))
            }
            /// Calls `found` for each register that it reads.
            pub fn reads(&self, found: impl FnMut(GroupRegister)) {
                __rt::group::info::registers(&tables::ISA, &self.0, false, found);
            }
            /// Calls `found` for each register that it writes.
            pub fn writes(&self, found: impl FnMut(GroupRegister)) {
                __rt::group::info::registers(&tables::ISA, &self.0, true, found);
            }
            /// Calls `found` with the meaning of each of its bits.
            pub fn annotate(&self, found: impl FnMut(GroupBits)) {
                __rt::group::info::annotate(&tables::ISA, &self.0, found);
            }
        }

        /// The parts of a group. Encoding fails if they cannot be combined.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct Parts {
            #[doc = #header_doc]
            pub #header: #header_type,
            #(#[doc = #docs] pub #rest: Option<#types>,)*
        }

        impl Parts {
            fn read(values: &__rt::group::Values) -> Self {
                Parts {
                    #header: #header_type::read(values, 0),
                    #(#rest: if values.has(#numbers) { Some(#types::read(values, #numbers)) } else { None },)*
                }
            }

            /// Returns the parts as plain numbers, slot by slot.
            pub fn values(&self) -> __rt::group::Values {
                let mut values = __rt::group::Values::new(&tables::ISA);
                self.#header.write(&mut values, 0);
                #(if let Some(part) = &self.#rest {
                    part.write(&mut values, #numbers);
                    values.insert(#numbers);
                })*
                values
            }

            /// Returns their operations in the order of the text, each with its slot.
            pub fn operations(&self) -> impl Iterator<Item = (usize, Operation)> {
                __rt::group::info::operations_of(&tables::ISA, self.values()).filter_map(|(slot, index, _)| Some((slot, *Operation::ALL.get(index)?)))
            }

            /// Encodes the shortest group with these parts, as the vendor's compiler does.
            ///
            /// # Errors
            /// When the parts cannot be combined, a value fits no encoding, or the group is too long.
            pub fn encode(&self) -> Result<Group, BuildError> {
                __rt::group::canonical(&tables::ISA, &self.values()).map(Group)
            }

            /// Encodes a group with these parts in a given form.
            ///
            /// # Errors
            /// As for [`encode`](Parts::encode), and when the parts do not fit the form.
            pub fn encode_in(&self, form: &Form) -> Result<Group, BuildError> {
                __rt::group::encode(&tables::ISA, &self.values(), form).map(Group)
            }
        }
    }
}

fn text() -> TokenStream {
    quote! {
        /// Prints the group in one line.
        impl core::fmt::Display for Group {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let mut line = __rt::text::Line::new();
                let separator = if f.alternate() { "\n" } else { __rt::group::text::SEPARATOR };
                __rt::group::print(&tables::ISA, &self.0, separator, &mut line);
                f.write_str(line.as_str())
            }
        }

        /// Prints the meaning of the parts in one line, whether or not they have an encoding.
        impl core::fmt::Display for Parts {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let mut line = __rt::text::Line::new();
                let separator = if f.alternate() { "\n" } else { __rt::group::text::SEPARATOR };
                __rt::group::text::describe(&tables::ISA, &self.values(), separator, true, &mut line);
                f.write_str(line.as_str())
            }
        }

        /// Parses parts, which need not have an encoding.
        impl core::str::FromStr for Parts {
            type Err = TextError;

            fn from_str(text: &str) -> Result<Self, TextError> {
                __rt::group::assemble(&tables::ISA, text).map(|read| Parts::read(&read.values))
            }
        }

        impl core::fmt::Debug for Group {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, "Group({self})")
            }
        }

        /// Why a text is not a group with an encoding.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ParseError {
            /// The text cannot be parsed.
            Text(TextError),
            /// The text can be parsed, but not encoded.
            Build(BuildError),
        }

        impl core::fmt::Display for ParseError {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self {
                    ParseError::Text(error) => error.fmt(f),
                    ParseError::Build(error) => error.fmt(f),
                }
            }
        }

        impl core::error::Error for ParseError {}

        impl core::str::FromStr for Group {
            type Err = ParseError;

            fn from_str(text: &str) -> Result<Self, ParseError> {
                let read = __rt::group::assemble(&tables::ISA, text).map_err(ParseError::Text)?;
                read.encode(&tables::ISA).map(Group).map_err(ParseError::Build)
            }
        }
    }
}
