//! The enum of all instructions, opcodes, and the semantics stubs.

use isaforge_core::table::Isa;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::forms::{emit_form, heading};
use super::idents::{Namespace, by_unit, code, doc_text, snake};
use super::options::{Options, SemanticsStyle};
use super::types::Names;

pub(super) fn emit(isa: &Isa, names: &Names, options: &Options) -> TokenStream {
    let word = format_ident!("u{}", isa.word_bits);
    let forms = isa.forms.iter().enumerate().map(|(i, f)| emit_form(isa, names, i, f, &word));
    let common = emit_common(isa, names, &word, options);
    let semantics = emit_semantics(isa, names, options);
    quote!(#common #(#forms)* #semantics)
}

fn emit_common(isa: &Isa, names: &Names, word: &Ident, options: &Options) -> TokenStream {
    let forms = &names.forms;
    let docs: Vec<String> = isa.forms.iter().map(heading).collect();
    let indices = (0..isa.forms.len()).map(|i| Literal::u16_unsuffixed(i as u16));
    let count = Literal::usize_unsuffixed(isa.forms.len());
    let title = format!(" An instruction of {}: a word that has been validated once.", isa.name);
    let units = by_unit(isa.forms.iter().zip(forms).map(|(f, name)| (f.unit, f.name.str, name)));
    let text = options.text.then(|| {
        quote! {
            impl ::core::fmt::Display for Instruction {
                /// `{}` prints the customary text, `{:#}` a text that always assembles to the same word.
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    __rt::print::Display { isa: &ISA, opcode: self.opcode() as u16, word: u64::from(self.encode()) }.fmt(f)
                }
            }
            impl ::core::str::FromStr for Instruction {
                type Err = ParseError;
                fn from_str(text: &str) -> Result<Self, ParseError> {
                    let (opcode, word) = __rt::parse::parse(&ISA, text)?;
                    Ok(Instruction::from_parts(opcode, word as #word))
                }
            }
            impl Instruction {
                /// Appends the customary text to a line, which is faster than formatting.
                #[inline]
                pub fn print(self, line: &mut __rt::text::Line) {
                    __rt::print::print(&ISA, self.opcode() as u16, u64::from(self.encode()), __rt::print::Style::Customary, line);
                }
            }
        }
    });
    let mnemonic_display = quote! {
        impl ::core::fmt::Display for Opcode {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result { f.pad(self.mnemonic()) }
        }
    };
    let debug = if options.text {
        quote!(::core::fmt::Display::fmt(&Instruction::from(*self), f))
    } else {
        quote!(write!(f, "{:#x}", self.0))
    };
    let quick = match isa.word_bits {
        64 => quote!(word),
        _ => quote!(u64::from(word)),
    };
    let decode = quote! {
        match tables::FAST.opcode(#quick) {
            Some(opcode) => Ok(Instruction::from_parts(opcode, word)),
            None => decode_exactly(word),
        }
    };
    quote! {
        /// The tables of the instruction set.
        pub static ISA: &__rt::Isa = &tables::ISA;

        /// The instructions by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Opcode { #(#[doc = #docs] #forms),* }

        impl Opcode {
            /// The number of instructions.
            pub const COUNT: usize = #count;
            /// All instructions, in the order of the specification.
            pub const ALL: [Opcode; #count] = [#(Opcode::#forms),*];
            /// Returns the mnemonic.
            pub fn mnemonic(self) -> &'static str { self.info().name.str }
            /// Returns what the specification states about the instruction.
            pub fn info(self) -> &'static __rt::table::Form { &ISA.forms[self as usize] }
            /// Returns the instruction with this mnemonic.
            pub fn from_mnemonic(name: &str) -> Option<Self> {
                Self::ALL.get(usize::from(__rt::parse::find_name(&ISA, name.as_bytes())?)).copied()
            }
        }
        #mnemonic_display

        #[doc = #title]
        #(#[doc = #units])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u16)]
        pub enum Instruction { #(#[doc = #docs] #forms(#forms)),* }

        impl Instruction {
            // `opcode` is the index of the form that the word was decoded to.
            #[inline]
            fn from_parts(opcode: u16, word: #word) -> Self {
                match opcode {
                    #(#indices => Instruction::#forms(#forms(word)),)*
                    _ => unreachable!("an opcode is an index into the forms"),
                }
            }
            // Always inlined: a call would load in one piece what was just stored in parts, and stall.
            /// Returns the word.
            #[inline(always)]
            pub const fn encode(self) -> #word {
                match self { #(Instruction::#forms(i) => i.0),* }
            }
            /// Returns the opcode.
            #[inline(always)]
            pub const fn opcode(self) -> Opcode {
                match self { #(Instruction::#forms(_) => Opcode::#forms),* }
            }
            /// Returns what the specification states about the instruction.
            pub fn info(self) -> &'static __rt::table::Form { self.opcode().info() }
            /// Returns the registers that the operands name and the instruction reads. What it accesses without naming
            /// it, such as a stack pointer, is part of what it does.
            #[inline]
            pub fn reads(self) -> impl Iterator<Item = __rt::registers::RegisterUse> {
                __rt::registers::at(tables::REGISTERS[self.opcode() as usize].0, u64::from(self.encode()))
            }
            /// Returns the registers that the operands name and the instruction writes, as for [`reads`](Self::reads).
            #[inline]
            pub fn writes(self) -> impl Iterator<Item = __rt::registers::RegisterUse> {
                __rt::registers::at(tables::REGISTERS[self.opcode() as usize].1, u64::from(self.encode()))
            }
            /// Calls `each` with the meaning of every run of bits.
            pub fn annotate(self, mut each: impl FnMut(__rt::annotate::Note)) {
                __rt::annotate::annotate(&ISA, self.opcode() as u16, u64::from(self.encode()), &mut each);
            }
        }

        /// Decodes a word strictly: every bit is checked, and a word that decodes encodes back to the same bits.
        ///
        /// # Errors
        /// Returns what is wrong: an unknown opcode, a reserved value, bits that must be zero.
        #[inline]
        pub fn decode(word: #word) -> Result<Instruction, DecodeError> {
            #decode
        }

        #[cold]
        #[inline(never)]
        fn decode_exactly(word: #word) -> Result<Instruction, DecodeError> {
            __rt::decode::decode(&ISA, u64::from(word)).map(|opcode| Instruction::from_parts(opcode, word))
        }

        /// Decodes words in order, and calls `each` with the index and the result of each.
        #[inline]
        pub fn decode_all(words: &[#word], mut each: impl FnMut(usize, Result<Instruction, DecodeError>)) {
            for (index, word) in words.iter().copied().enumerate() {
                // Like `decode`, which is too long to be inlined at every call.
                each(index, #decode);
            }
        }

        impl TryFrom<#word> for Instruction {
            type Error = DecodeError;
            fn try_from(word: #word) -> Result<Self, DecodeError> { decode(word) }
        }
        impl From<Instruction> for #word {
            fn from(instruction: Instruction) -> #word { instruction.encode() }
        }
        impl ::core::fmt::Debug for Instruction {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self { #(Instruction::#forms(i) => i.fmt(f)),* }
            }
        }
        #text

        macro_rules! __form {
            ($name:ident) => {
                impl $name {
                    /// The opcode of the instruction.
                    pub const OPCODE: Opcode = Opcode::$name;
                    /// Returns the word.
                    #[inline]
                    pub const fn encode(self) -> #word { self.0 }
                    fn building() -> __rt::encode::Builder {
                        __rt::encode::Builder::new(&ISA, Opcode::$name as u16)
                    }
                    #[allow(dead_code, reason = "an instruction without operands replaces none")]
                    fn replacing(self, index: usize) -> __rt::encode::Builder {
                        __rt::encode::Builder::replacing(&ISA, Opcode::$name as u16, u64::from(self.0), index)
                    }
                }
                impl From<$name> for Instruction {
                    fn from(form: $name) -> Instruction { Instruction::$name(form) }
                }
                impl ::core::fmt::Debug for $name {
                    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result { #debug }
                }
            };
        }
    }
}

/// The methods of the trait `Semantics`, in opcode order.
pub(super) fn methods(isa: &Isa) -> Vec<Ident> {
    let mut taken = Namespace::default();
    isa.forms.iter().map(|f| taken.take(snake(f.name.str), "_")).collect()
}

fn emit_semantics(isa: &Isa, names: &Names, options: &Options) -> TokenStream {
    if options.semantics == SemanticsStyle::None {
        return TokenStream::new();
    }
    let forms = &names.forms;
    let methods = methods(isa);
    let docs: Vec<String> = isa
        .forms
        .iter()
        .map(|f| {
            let text = if f.doc.is_empty() { f.title } else { f.doc };
            doc_text(&format!("{}{}{text}", code(f.name.str), if text.is_empty() { "" } else { ": " }))
        })
        .collect();
    let (output, bodies, about) = match options.semantics {
        SemanticsStyle::Required => (
            quote!(
                type Output;
            ),
            methods.iter().map(|_| quote!(;)).collect::<Vec<_>>(),
            " What each instruction does: one method per instruction. Forgetting one is a compile error.",
        ),
        _ => (
            quote!(
                type Output: From<__rt::Unimplemented>;
            ),
            isa.forms
                .iter()
                .map(|f| {
                    let name = f.name.str;
                    quote!({ let _ = i; __rt::Unimplemented { mnemonic: #name }.into() })
                })
                .collect(),
            " What each instruction does: one method per instruction. A method left out returns [`Unimplemented`](__rt::Unimplemented).",
        ),
    };
    quote! {
        #[doc = #about]
        pub trait Semantics {
            /// The result of executing an instruction.
            #output
            #(#[doc = #docs] fn #methods(&mut self, i: #forms) -> Self::Output #bodies)*
        }

        /// Executes an instruction by calling its method.
        #[inline]
        pub fn dispatch<S: Semantics + ?Sized>(instruction: Instruction, semantics: &mut S) -> S::Output {
            match instruction { #(Instruction::#forms(i) => semantics.#methods(i)),* }
        }
    }
}
