//! A newtype for each instruction, the enum over them, opcodes, and the semantic stubs.

use isaforge_core::bits::Bits;
use isaforge_core::table::{Form, Isa, Modifier, Operand, Shape};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::idents::{Namespace, code, doc_text, snake};
use super::tables::hex;
use super::types::{Names, always_fits, extract, from_raw, kind_type, plain, to_raw, value_type};
use super::{Options, SemanticsStyle};

/// Methods that every instruction has; accessors of fields must not be called so.
const METHODS: [&str; 7] = ["new", "encode", "building", "replacing", "from", "into", "fmt"];

pub(super) fn emit(isa: &Isa, names: &Names, options: &Options) -> TokenStream {
    let word = format_ident!("u{}", isa.word_bits);
    let forms = isa.forms.iter().enumerate().map(|(i, f)| emit_form(isa, names, i, f, &word));
    let common = emit_common(isa, names, &word, options);
    let semantics = emit_semantics(isa, names, options);
    quote!(#common #(#forms)* #semantics)
}

/// The name of an instruction and what it is called in full.
fn heading(f: &Form) -> String {
    doc_text(&format!("{}{}{}", code(f.name.str), if f.title.is_empty() { "" } else { ": " }, f.title))
}

fn form_doc(f: &Form) -> Vec<String> {
    let mut lines = vec![heading(f)];
    if !f.doc.is_empty() {
        lines.extend([String::new(), doc_text(f.doc)]);
    }
    let source = format!("Specified in {}; provenance: {}.", f.source, f.provenance.as_str());
    lines.extend([String::new(), doc_text(&source)]);
    for line in f.note.lines() {
        lines.extend([String::new(), doc_text(line)]);
    }
    lines
}

fn emit_form(isa: &Isa, names: &Names, index: usize, f: &Form, word: &Ident) -> TokenStream {
    let name = &names.forms[index];
    let docs = form_doc(f);
    let mut taken = Namespace::with(&METHODS);
    let mut accessors = Vec::new();
    let mut arguments = Vec::new();
    let mut sets = Vec::new();
    let own = own_word(isa);
    let cast = (isa.word_bits != 64).then(|| quote!(as #word));
    for (i, operand) in f.operands.iter().enumerate() {
        let n = Literal::usize_unsuffixed(i);
        let (getter, setter) = taken.take_with_setter(snake(operand.name), "_operand");
        let text = described(operand.doc, "operand", operand.name);
        let set_text = doc_text(&format!("With another {}.", code(operand.name)));
        let Accessor { ty, get, set, checked } = accessor(isa, names, operand, &n, &own);
        let argument = set(&quote!(#getter));
        arguments.push(quote!(#getter: #ty));
        sets.push(quote!(#argument?;));
        let value = set(&quote!(value));
        // When every value of the type fits, setting it cannot fail.
        let result = if checked { quote!(Result<Self, EncodeError>) } else { quote!(Self) };
        let body = if checked {
            quote!(#value?; Ok(#name(__b.word() #cast)))
        } else {
            quote!(let _ = #value; #name(__b.word() #cast))
        };
        let attributes = if checked {
            quote!(#[doc = ""] #[doc = " # Errors"] #[doc = " When the value does not fit, or does not go with the other operands."])
        } else {
            quote!(#[must_use])
        };
        accessors.push(quote! {
            #[doc = #text]
            #[inline]
            pub fn #getter(self) -> #ty { #get }
            #[doc = #set_text]
            #attributes
            pub fn #setter(self, value: #ty) -> #result {
                let mut __b = self.replacing(#n);
                #body
            }
        });
        for suffix in operand.suffixes {
            let (getter, setter) =
                taken.take_with_setter(format!("{}_{}", snake(operand.name), snake(suffix.name)), "_suffix");
            let text = doc_text(&format!("{} of {}.", code(suffix.name), code(operand.name)));
            accessors.push(emit_modifier(isa, names, name, word, (&getter, &setter), suffix, &text));
            required(names, suffix, &getter, &mut arguments, &mut sets);
        }
    }
    for modifier in f.modifiers {
        let (getter, setter) = taken.take_with_setter(snake(modifier.name), "_modifier");
        let text = described(modifier.doc, "modifier", modifier.name);
        accessors.push(emit_modifier(isa, names, name, word, (&getter, &setter), modifier, &text));
        required(names, modifier, &getter, &mut arguments, &mut sets);
    }
    let mutable = (!sets.is_empty()).then(|| quote!(mut));
    quote! {
        #(#[doc = #docs])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct #name(#word);
        __form!(#name);
        impl #name {
            /// The instruction with these operands and the modifiers that have no default.
            ///
            /// # Errors
            /// When a value does not fit, or operands do not go together.
            #[allow(clippy::too_many_arguments, reason = "one for each operand")]
            pub fn new(#(#arguments),*) -> Result<Self, EncodeError> {
                let #mutable __b = Self::building();
                #(#sets)*
                Ok(#name(__b.word() #cast))
            }
            #(#accessors)*
        }
    }
}

/// The documentation of an accessor.
fn described(doc: &str, what: &str, name: &str) -> String {
    if doc.trim().is_empty() { doc_text(&format!("The {what} {}.", code(name))) } else { doc_text(doc) }
}

/// The word of `self` as a `u64`.
fn own_word(isa: &Isa) -> TokenStream {
    if isa.word_bits == 64 { quote!(self.0) } else { quote!((self.0 as u64)) }
}

/// The same where no operator follows, and parentheses would be too many.
fn own_argument(isa: &Isa) -> TokenStream {
    if isa.word_bits == 64 { quote!(self.0) } else { quote!(self.0 as u64) }
}

/// How an operand is read and set.
struct Accessor {
    ty: TokenStream,
    get: TokenStream,
    /// Sets it in `__b` to the value of an expression.
    set: Box<dyn Fn(&TokenStream) -> TokenStream>,
    /// Whether setting can fail.
    checked: bool,
}

fn accessor(isa: &Isa, names: &Names, operand: &'static Operand, n: &Literal, own: &TokenStream) -> Accessor {
    let n = n.clone();
    match &operand.shape {
        Shape::One { kind, at } => {
            let k = &isa.kinds[*kind as usize];
            let ty = kind_type(names, *kind as usize, k);
            let base = Literal::u8_unsuffixed(*at);
            let Some(field) = plain(k) else {
                let own = own_argument(isa);
                let get = quote!(#ty::read(#own, #base));
                return Accessor { ty, get, set: Box::new(move |v| quote!(#v.set(&mut __b, #n))), checked: true };
            };
            let moved = |p: isaforge_core::bits::Piece| isaforge_core::bits::Piece {
                at: if p.shared { p.at } else { p.at + at },
                ..p
            };
            let high: Vec<_> = field.bits.high.iter().map(|p| moved(*p)).collect();
            let bits = Bits { low: moved(field.bits.low), high: Box::leak(high.into_boxed_slice()) };
            let get = from_raw(names, field.ty, field.bits.width(), &extract(own, &bits, None));
            let checked = !always_fits(isa, field.ty, field.bits.width());
            let set = move |v: &TokenStream| {
                let raw = to_raw(field.ty, field.bits.width(), v);
                quote!(__b.set_operand(#n, 0, &[#raw]))
            };
            Accessor { ty, get, set: Box::new(set), checked }
        }
        Shape::List { kind, at, count, .. } => {
            let field = &isa.kinds[*kind as usize].alternatives[0].fields[0];
            let base = Literal::u8_unsuffixed(*at);
            let first = extract(own, &field.bits, Some(&quote!(#base)));
            let plus = Literal::u16_unsuffixed(u16::from(count.plus));
            let length = count
                .bits
                .map(|bits| extract(own, &bits, None))
                .map_or_else(|| quote!(#plus), |raw| quote!((#raw) as u16 + #plus));
            Accessor {
                ty: quote!(RegisterList),
                get: quote!(RegisterList::new((#first) as u16, #length)),
                set: Box::new(move |v| quote!(__b.set_list(#n, u64::from(#v.first), u64::from(#v.count)))),
                checked: true,
            }
        }
        Shape::Number { bits, ty, .. } => {
            let (bits, ty) = (*bits, *ty);
            let get = from_raw(names, ty, bits.width(), &extract(own, &bits, None));
            let set = move |v: &TokenStream| match bits.width() {
                64 => quote!(__b.set_whole(#n, #v as u64)),
                _ => quote!(__b.set_number(#n, #v as i64)),
            };
            Accessor {
                ty: value_type(names, ty, bits.width()),
                get,
                set: Box::new(set),
                checked: !always_fits(isa, ty, bits.width()),
            }
        }
    }
}

/// A modifier without default is an argument of `new`.
fn required(
    names: &Names,
    modifier: &Modifier,
    getter: &Ident,
    arguments: &mut Vec<TokenStream>,
    sets: &mut Vec<TokenStream>,
) {
    if modifier.default.is_some() {
        return;
    }
    let ty = value_type(names, modifier.ty, modifier.bits.width());
    arguments.push(quote!(#getter: #ty));
    let raw = to_raw(modifier.ty, modifier.bits.width(), &quote!(#getter));
    let bits = bits_value(&modifier.bits);
    sets.push(quote!(__b.set_bits(#bits, #raw);));
}

fn bits_value(bits: &Bits) -> TokenStream {
    let piece = |p: &isaforge_core::bits::Piece| {
        let (at, width) = (Literal::u8_unsuffixed(p.at), Literal::u8_unsuffixed(p.width));
        quote!(__rt::bits::Piece::new(#at, #width))
    };
    let (low, high) = (piece(&bits.low), bits.high.iter().map(piece));
    // A reference to the results of calls is `'static` only if a constant holds them.
    let high = if bits.high.is_empty() { quote!(&[]) } else { quote!(const { &[#(#high),*] }) };
    quote!(__rt::bits::Bits { low: #low, high: #high })
}

fn emit_modifier(
    isa: &Isa,
    names: &Names,
    form: &Ident,
    word: &Ident,
    (getter, setter): (&Ident, &Ident),
    m: &Modifier,
    text: &str,
) -> TokenStream {
    let ty = value_type(names, m.ty, m.bits.width());
    let own = own_word(isa);
    let get = from_raw(names, m.ty, m.bits.width(), &extract(&own, &m.bits, None));
    let raw = to_raw(m.ty, m.bits.width(), &quote!(value));
    let cast = (isa.word_bits != 64).then(|| quote!(as #word));
    let single = m.bits.high.is_empty();
    let set = if single {
        let mask = hex(!m.bits.mask(0) & isaforge_core::bits::ones(u32::from(isa.word_bits)));
        let at = Literal::u8_unsuffixed(m.bits.low.at);
        match cast {
            Some(cast) => quote!(#form((#own & #mask | (#raw) << #at) #cast)),
            None => quote!(#form(#own & #mask | (#raw) << #at)),
        }
    } else {
        let bits = bits_value(&m.bits);
        let own = own_argument(isa);
        quote!(#form(#bits.set(#own, 0, #raw) as #word))
    };
    let konst = single.then(|| quote!(const));
    let set_text = doc_text(&format!("With another {}.", code(m.name)));
    quote! {
        #[doc = #text]
        #[inline]
        pub #konst fn #getter(self) -> #ty { #get }
        #[doc = #set_text]
        #[must_use]
        pub #konst fn #setter(self, value: #ty) -> Self { #set }
    }
}

fn emit_common(isa: &Isa, names: &Names, word: &Ident, options: &Options) -> TokenStream {
    let forms = &names.forms;
    let docs: Vec<String> = isa.forms.iter().map(heading).collect();
    let indices = (0..isa.forms.len()).map(|i| Literal::u16_unsuffixed(i as u16));
    let count = Literal::usize_unsuffixed(isa.forms.len());
    let title = format!(" An instruction of {}: a word that has been validated once.", isa.name);
    let text = options.text.then(|| {
        quote! {
            impl ::core::fmt::Display for Instruction {
                /// `{}` is the customary text, `{:#}` one that always assembles to the very same word.
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
                /// Appends the customary text to a line: faster than formatting.
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
    quote! {
        /// Everything the specification says, as tables.
        pub static ISA: &__rt::Isa = &tables::ISA;

        /// The instructions by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Opcode { #(#[doc = #docs] #forms),* }

        impl Opcode {
            /// How many instructions there are.
            pub const COUNT: usize = #count;
            /// All of them, in the order of the specification.
            pub const ALL: [Opcode; #count] = [#(Opcode::#forms),*];
            /// The name in assembly.
            pub fn mnemonic(self) -> &'static str { self.info().name.str }
            /// What the specification says of the instruction.
            pub fn info(self) -> &'static __rt::table::Form { &ISA.forms[self as usize] }
            /// The instruction of this name.
            pub fn from_mnemonic(name: &str) -> Option<Self> {
                Self::ALL.get(usize::from(__rt::parse::find_name(&ISA, name.as_bytes())?)).copied()
            }
        }
        #mnemonic_display

        #[doc = #title]
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u16)]
        pub enum Instruction { #(#[doc = #docs] #forms(#forms)),* }

        impl Instruction {
            // The index is that of a form whose word this is.
            #[inline]
            fn from_parts(opcode: u16, word: #word) -> Self {
                match opcode {
                    #(#indices => Instruction::#forms(#forms(word)),)*
                    _ => unreachable!("an opcode is an index into the forms"),
                }
            }
            /// The word.
            #[inline]
            pub const fn encode(self) -> #word {
                match self { #(Instruction::#forms(i) => i.0),* }
            }
            /// Which instruction it is.
            #[inline]
            pub const fn opcode(self) -> Opcode {
                match self { #(Instruction::#forms(_) => Opcode::#forms),* }
            }
            /// What the specification says of it.
            pub fn info(self) -> &'static __rt::table::Form { self.opcode().info() }
            /// The registers it reads.
            pub fn reads(self) -> impl Iterator<Item = __rt::registers::RegisterUse> {
                __rt::registers::registers(&ISA, self.opcode() as u16, u64::from(self.encode()), false)
            }
            /// The registers it writes.
            pub fn writes(self) -> impl Iterator<Item = __rt::registers::RegisterUse> {
                __rt::registers::registers(&ISA, self.opcode() as u16, u64::from(self.encode()), true)
            }
            /// Calls `each` for every run of bits and what it means.
            pub fn annotate(self, mut each: impl FnMut(__rt::annotate::Note)) {
                __rt::annotate::annotate(&ISA, self.opcode() as u16, u64::from(self.encode()), &mut each);
            }
        }

        /// Decodes a word, strictly: every bit is checked, and what decodes encodes back to the same bits.
        ///
        /// # Errors
        /// Says what is wrong: an unknown opcode, a reserved value, bits that must be zero.
        #[inline]
        pub fn decode(word: #word) -> Result<Instruction, DecodeError> {
            match tables::FAST.opcode(#quick) {
                Some(opcode) => Ok(Instruction::from_parts(opcode, word)),
                None => decode_exactly(word),
            }
        }

        #[cold]
        #[inline(never)]
        fn decode_exactly(word: #word) -> Result<Instruction, DecodeError> {
            __rt::decode::decode(&ISA, u64::from(word)).map(|opcode| Instruction::from_parts(opcode, word))
        }

        /// Decodes many words, in order, and hands each result to `each` with its index.
        #[inline]
        pub fn decode_all(words: &[#word], mut each: impl FnMut(usize, Result<Instruction, DecodeError>)) {
            for (index, word) in words.iter().enumerate() {
                each(index, decode(*word));
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
                    /// Its opcode.
                    pub const OPCODE: Opcode = Opcode::$name;
                    /// The word.
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

fn emit_semantics(isa: &Isa, names: &Names, options: &Options) -> TokenStream {
    if options.semantics == SemanticsStyle::None {
        return TokenStream::new();
    }
    let forms = &names.forms;
    let mut taken = Namespace::default();
    let methods: Vec<Ident> = isa.forms.iter().map(|f| taken.take(snake(f.name.str), "_")).collect();
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
            " What each instruction does: one method an instruction. Forgetting one is a compile error.",
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
            " What each instruction does: one method an instruction. A method left out returns [`Unimplemented`](__rt::Unimplemented).",
        ),
    };
    quote! {
        #[doc = #about]
        pub trait Semantics {
            /// What executing an instruction gives.
            #output
            #(#[doc = #docs] fn #methods(&mut self, i: #forms) -> Self::Output #bodies)*
        }

        /// Executes an instruction: calls its method.
        #[inline]
        pub fn dispatch<S: Semantics + ?Sized>(instruction: Instruction, semantics: &mut S) -> S::Output {
            match instruction { #(Instruction::#forms(i) => semantics.#methods(i)),* }
        }
    }
}
