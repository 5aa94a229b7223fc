//! A newtype for each instruction, with its accessors.

use isaforge_core::bits::Bits;
use isaforge_core::table::{Form, Isa, Modifier, Operand, Shape};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::idents::{Namespace, code, doc_text, snake};
use super::tables::hex;
use super::types::{Names, always_fits, extract, from_raw, kind_type, plain, to_raw, value_type};

/// Methods that every instruction has; accessors of fields must have other names.
const METHODS: [&str; 7] = ["new", "encode", "building", "replacing", "from", "into", "fmt"];

/// A part of an instruction that has accessors.
pub(super) enum Part {
    /// The operand with this index.
    Operand(usize, &'static Operand),
    /// A modifier, with the name of its operand if it belongs to one.
    Modifier(&'static Modifier, Option<&'static str>),
}

/// A part of an instruction with the names of its accessors.
pub(super) struct Field {
    pub getter: Ident,
    pub setter: Ident,
    pub part: Part,
}

/// The parts of an instruction, in the order in which `new` takes them.
pub(super) fn fields(f: &Form) -> Vec<Field> {
    let mut taken = Namespace::with(&METHODS);
    let mut found = Vec::new();
    let mut push = |name: String, suffix: &str, part| {
        let (getter, setter) = taken.take_with_setter(name, suffix);
        found.push(Field { getter, setter, part });
    };
    for (i, operand) in f.operands.iter().enumerate() {
        push(snake(operand.name), "_operand", Part::Operand(i, operand));
        for suffix in operand.suffixes {
            let name = format!("{}_{}", snake(operand.name), snake(suffix.name));
            push(name, "_suffix", Part::Modifier(suffix, Some(operand.name)));
        }
    }
    for modifier in f.modifiers {
        push(snake(modifier.name), "_modifier", Part::Modifier(modifier, None));
    }
    found
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

pub(super) fn emit_form(isa: &Isa, names: &Names, index: usize, f: &Form, word: &Ident) -> TokenStream {
    let name = &names.forms[index];
    let docs = form_doc(f);
    let mut accessors = Vec::new();
    let mut arguments = Vec::new();
    let mut sets = Vec::new();
    let own = own_word(isa);
    let cast = (isa.word_bits != 64).then(|| quote!(as #word));
    for Field { getter, setter, part } in fields(f) {
        match part {
            Part::Operand(i, operand) => {
                let n = Literal::usize_unsuffixed(i);
                let text = described(operand.doc, "operand", operand.name);
                let set_text = doc_text(&format!("With another {}.", code(operand.name)));
                let Accessor { ty, get, set, checked } = accessor(isa, names, operand, &n, &own);
                let argument = set(&quote!(#getter));
                arguments.push(quote!(#getter: #ty));
                sets.push(quote!(#argument?;));
                let value = set(&quote!(value));
                // If every value of the type fits, setting it cannot fail.
                let result = if checked { quote!(Result<Self, EncodeError>) } else { quote!(Self) };
                let body = if checked {
                    quote!(#value?; Ok(#name(__b.word() #cast)))
                } else {
                    quote!(let _ = #value; #name(__b.word() #cast))
                };
                let attributes = if checked {
                    quote!(#[doc = ""] #[doc = " # Errors"] #[doc = " When the value does not fit, or conflicts with the other operands."])
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
            }
            Part::Modifier(modifier, of) => {
                let text = match of {
                    Some(operand) => doc_text(&format!("{} of {}.", code(modifier.name), code(operand))),
                    None => described(modifier.doc, "modifier", modifier.name),
                };
                accessors.push(emit_modifier(isa, names, name, word, (&getter, &setter), modifier, &text));
                required(names, modifier, &getter, &mut arguments, &mut sets);
            }
        }
    }
    let mutable = (!sets.is_empty()).then(|| quote!(mut));
    quote! {
        #(#[doc = #docs])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct #name(#word);
        __form!(#name);
        impl #name {
            /// Creates the instruction from its operands and the modifiers without a default.
            ///
            /// # Errors
            /// When a value does not fit, or operands cannot be combined.
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

/// Like [`own_word`] where no operator follows, so that no parentheses are needed.
fn own_argument(isa: &Isa) -> TokenStream {
    if isa.word_bits == 64 { quote!(self.0) } else { quote!(self.0 as u64) }
}

/// The code that reads and sets an operand.
struct Accessor {
    ty: TokenStream,
    get: TokenStream,
    /// Code that sets it in `__b` to the value of an expression.
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

/// Makes a modifier without a default an argument of `new`.
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
    // A reference to results of calls is `'static` only within a constant.
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

/// The name and the title of an instruction.
pub(super) fn heading(f: &Form) -> String {
    doc_text(&format!("{}{}{}", code(f.name.str), if f.title.is_empty() { "" } else { ": " }, f.title))
}
