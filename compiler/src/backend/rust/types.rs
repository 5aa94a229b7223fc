//! Rust types for enums, register banks, tables of constants and kinds of operands.

use isaforge_core::bits::{Bits, ones};
use isaforge_core::table::{Alternative, Enum, Field, Isa, Kind, Type, Value};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::idents::{Namespace, TAKEN, code, doc_text, pascal, snake};
use super::tables::hex;

/// The identifiers of the generated types, by index.
pub(super) struct Names {
    pub enums: Vec<Ident>,
    pub enum_values: Vec<Vec<Ident>>,
    pub constants: Vec<Ident>,
    pub banks: Vec<Ident>,
    pub kinds: Vec<Ident>,
    pub forms: Vec<Ident>,
}

impl Names {
    pub(super) fn new(isa: &Isa) -> Self {
        let mut taken = Namespace::with(TAKEN);
        Names {
            enums: isa.enums.iter().map(|e| taken.take(pascal(e.name), "Value")).collect(),
            enum_values: isa
                .enums
                .iter()
                .map(|e| {
                    let mut taken = Namespace::with(&["Self"]);
                    distinct(e).map(|v| taken.take(pascal(v.name), "_")).collect()
                })
                .collect(),
            constants: isa.constants.iter().map(|c| taken.take(pascal(c.name), "Entry")).collect(),
            banks: isa.banks.iter().map(|b| taken.take(pascal(b.name), "Index")).collect(),
            kinds: isa.kinds.iter().map(|k| taken.take(pascal(k.name), "Operand")).collect(),
            forms: isa.forms.iter().map(|f| taken.take(pascal(f.name.str), "Form")).collect(),
        }
    }
}

/// The smallest unsigned integer of at least `width` bits.
pub(super) fn unsigned(width: u32) -> (Ident, u32) {
    let size = [8, 16, 32, 64].into_iter().find(|s| width <= *s).unwrap_or(64);
    (format_ident!("u{size}"), size)
}

pub(super) fn signed(width: u32) -> (Ident, u32) {
    let size = [8, 16, 32, 64].into_iter().find(|s| width <= *s).unwrap_or(64);
    (format_ident!("i{size}"), size)
}

/// An expression for the bits of a field of `word` (of type `u64`), in an operand that starts at the bit given by the
/// expression `at`.
pub(super) fn extract(word: &TokenStream, bits: &Bits, at: Option<&TokenStream>) -> TokenStream {
    let mut parts = Vec::new();
    for (piece, shift) in bits.pieces() {
        let low = Literal::u8_unsuffixed(piece.at);
        let mask = hex(ones(u32::from(piece.width)));
        let place = match at.filter(|_| !piece.shared) {
            Some(at) if piece.at == 0 => quote!(#at),
            Some(at) => quote!((#at + #low)),
            None => quote!(#low),
        };
        let value = match (piece.width, place.to_string() == "0") {
            (64, _) => quote!(#word),
            (_, true) => quote!(#word & #mask),
            _ => quote!(#word >> #place & #mask),
        };
        let shift = Literal::u32_unsuffixed(shift);
        parts.push(if parts.is_empty() { value } else { quote!((#value) << #shift) });
    }
    quote!(#(#parts)|*)
}

/// The Rust type of a field's value.
pub(super) fn value_type(names: &Names, ty: Type, width: u32) -> TokenStream {
    match ty {
        Type::Flag => quote!(bool),
        Type::Decimal | Type::Hex => {
            let (t, _) = unsigned(width);
            quote!(#t)
        }
        Type::Signed => {
            let (t, _) = signed(width);
            quote!(#t)
        }
        Type::Enum(i) => {
            let t = &names.enums[i as usize];
            quote!(#t)
        }
        Type::Constant(i) => {
            let t = &names.constants[i as usize];
            quote!(#t)
        }
        Type::Register(i) => {
            let t = &names.banks[i as usize];
            quote!(#t)
        }
    }
}

/// An expression for the value of a field, from an expression of type `u64` for its raw bits.
pub(super) fn from_raw(names: &Names, ty: Type, width: u32, raw: &TokenStream) -> TokenStream {
    match ty {
        Type::Flag => quote!((#raw) != 0),
        Type::Decimal | Type::Hex => {
            let (t, _) = unsigned(width);
            quote!((#raw) as #t)
        }
        Type::Signed => {
            let (t, _) = signed(width);
            let width = Literal::u32_unsuffixed(width);
            quote!(__rt::bits::sign_extend(#raw, #width) as #t)
        }
        Type::Enum(_) | Type::Constant(_) | Type::Register(_) => {
            let t = value_type(names, ty, width);
            quote!(#t::from_raw(#raw))
        }
    }
}

/// An expression for the raw bits of a field's value, as a `u64`.
pub(super) fn to_raw(ty: Type, width: u32, value: &TokenStream) -> TokenStream {
    match ty {
        Type::Enum(_) | Type::Constant(_) | Type::Register(_) => quote!(#value.raw()),
        // The bits of a number that fits; otherwise a value with too many bits, which the builder rejects.
        Type::Signed if width < 64 => {
            let (mask, width) = (hex(ones(width)), Literal::u32_unsuffixed(width));
            quote!(if __rt::bits::fits_signed(#value as i64, #width) { #value as u64 & #mask } else { u64::MAX })
        }
        _ => quote!(#value as u64),
    }
}

/// Whether every value of the Rust type fits the field.
pub(super) fn always_fits(isa: &Isa, ty: Type, width: u32) -> bool {
    match ty {
        Type::Flag => true,
        Type::Enum(e) => isa.enums[e as usize].values.iter().all(|v| v.bits <= ones(width)),
        Type::Constant(c) => isa.constants[c as usize].values.len() as u64 <= ones(width).saturating_add(1),
        Type::Register(b) => u64::from(isa.banks[b as usize].count) <= ones(width).saturating_add(1),
        Type::Decimal | Type::Hex | Type::Signed => unsigned(width).1 == width,
    }
}

fn doc(text: &str, otherwise: &str) -> String {
    if text.trim().is_empty() { otherwise.to_owned() } else { doc_text(text) }
}

/// The names of an alternative's fields. Patterns bind them next to `values` of [`emit_kind`].
pub(super) fn field_names(alternative: &Alternative) -> Vec<Ident> {
    let mut taken = Namespace::with(&["values"]);
    alternative.fields.iter().map(|f| taken.take(snake(f.name), "_field")).collect()
}

pub(super) fn emit(isa: &Isa, names: &Names) -> TokenStream {
    let enums = (0..isa.enums.len()).map(|i| emit_enum(isa, names, i));
    let banks = isa.banks.iter().zip(&names.banks).map(|(bank, name)| {
        let (ty, _) = unsigned(32 - (bank.count.max(1) - 1).leading_zeros());
        let text = doc(bank.doc, " A register.");
        let count = Literal::u32_unsuffixed(bank.count);
        let wide = Literal::u64_unsuffixed(u64::from(bank.count));
        quote! {
            #[doc = #text]
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct #name(#ty);
            impl #name {
                /// The number of registers.
                pub const COUNT: usize = #count;
                /// Returns register `index`; `None` beyond the last.
                pub const fn new(index: usize) -> Option<Self> {
                    if index < Self::COUNT { Some(#name(index as #ty)) } else { None }
                }
                /// Returns the index of the register.
                pub const fn index(self) -> usize { self.0 as usize }
                #[inline]
                const fn from_raw(raw: u64) -> Self { #name((raw % #wide) as #ty) }
                const fn raw(self) -> u64 { self.0 as u64 }
            }
        }
    });
    let constants = isa.constants.iter().zip(&names.constants).enumerate().map(|(i, (table, name))| {
        let text = doc(table.doc, " An entry of a table of constants.");
        let count = Literal::usize_unsuffixed(table.values.len());
        let wide = Literal::u64_unsuffixed(table.values.len().max(1) as u64);
        let i = Literal::usize_unsuffixed(i);
        let values = table.values.iter().map(|c| hex(c.value));
        quote! {
            #[doc = #text]
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct #name(u16);
            impl #name {
                /// The number of entries in the table.
                pub const COUNT: usize = #count;
                /// Returns entry `index`; `None` beyond the last.
                pub const fn new(index: usize) -> Option<Self> {
                    if index < Self::COUNT { Some(#name(index as u16)) } else { None }
                }
                /// Returns the first entry with this value.
                pub fn find(value: u64) -> Option<Self> {
                    let index = ISA.constants[#i].values.iter().position(|c| c.value == value)?;
                    Self::new(index)
                }
                /// Returns the index of the entry.
                pub const fn index(self) -> usize { self.0 as usize }
                /// Returns the value of the constant.
                #[inline]
                pub fn value(self) -> u64 {
                    static VALUES: [u64; #count] = [#(#values),*];
                    VALUES.get(self.index()).copied().unwrap_or(0)
                }
                #[inline]
                const fn from_raw(raw: u64) -> Self { #name((raw % #wide) as u16) }
                const fn raw(self) -> u64 { self.0 as u64 }
            }
        }
    });
    let kinds = isa.kinds.iter().enumerate().map(|(i, kind)| emit_kind(isa, names, i, kind));
    quote!(#(#enums)* #(#banks)* #(#constants)* #(#kinds)*)
}

/// The values of an enum without the further spellings that follow them.
pub(super) fn distinct(e: &Enum) -> impl Iterator<Item = &Value> {
    e.values.iter().enumerate().filter(|(i, v)| *i == 0 || e.values[i - 1].bits != v.bits).map(|(_, v)| v)
}

fn emit_enum(isa: &Isa, names: &Names, index: usize) -> TokenStream {
    let (e, name, variants) = (&isa.enums[index], &names.enums[index], &names.enum_values[index]);
    let text = doc(e.doc, " Values of a field.");
    let values: Vec<&Value> = distinct(e).collect();
    let (ty, _) = unsigned(64 - values.last().map_or(0, |v| v.bits).leading_zeros());
    let docs = values
        .iter()
        .map(|v| doc_text(&if v.doc.is_empty() { code(v.text) } else { format!("{}: {}", code(v.text), v.doc) }));
    let bits: Vec<_> = values.iter().map(|v| hex(v.bits)).collect();
    let texts = values.iter().map(|v| v.text);
    let last = variants.last();
    let head = &variants[..variants.len().saturating_sub(1)];
    let head_bits = &bits[..head.len()];
    let Some(last) = last else { return TokenStream::new() };
    let default = e.default.and_then(|d| values.iter().position(|v| v.bits == d)).map(|i| {
        let variant = &variants[i];
        quote! {
            impl Default for #name {
                fn default() -> Self { #name::#variant }
            }
        }
    });
    quote! {
        #[doc = #text]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(#ty)]
        pub enum #name { #(#[doc = #docs] #variants = #bits),* }
        impl #name {
            /// All named values.
            pub const ALL: &'static [Self] = &[#(#name::#variants),*];
            /// Returns the value with these bits; `None` if they have no name.
            pub const fn from_bits(bits: u64) -> Option<Self> {
                match bits { #(#bits => Some(#name::#variants),)* _ => None }
            }
            /// Returns the bits of the value.
            pub const fn bits(self) -> u64 { self as u64 }
            /// Returns the spelling in assembly.
            pub const fn as_str(self) -> &'static str {
                match self { #(#name::#variants => #texts),* }
            }
            // Decoding has rejected bits without a name, so the last arm is the last named value.
            #[inline]
            #[allow(dead_code, reason = "an enum that no field uses")]
            const fn from_raw(raw: u64) -> Self {
                match raw { #(#head_bits => #name::#head,)* _ => #name::#last }
            }
            #[allow(dead_code, reason = "an enum that no field uses")]
            const fn raw(self) -> u64 { self as u64 }
        }
        impl ::core::fmt::Display for #name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result { f.pad(self.as_str()) }
        }
        #default
    }
}

/// The field of a kind that consists of just one; its accessors use the field's own type.
pub(super) fn plain(kind: &Kind) -> Option<&'static Field> {
    match kind.alternatives {
        [only] => match only.fields {
            [field] => Some(field),
            _ => None,
        },
        _ => None,
    }
}

/// The Rust type of an operand of a kind.
pub(super) fn kind_type(names: &Names, index: usize, kind: &Kind) -> TokenStream {
    match plain(kind) {
        Some(field) => value_type(names, field.ty, field.bits.width()),
        None => {
            let name = &names.kinds[index];
            quote!(#name)
        }
    }
}

/// The constant bits common to the first two alternatives, if there are more than two and both are a register of the
/// first bank in the same bits.
fn registers(kind: &Kind) -> Option<u64> {
    let [first, second, _, ..] = kind.alternatives else { return None };
    let ([a], [b]) = (first.fields, second.fields) else { return None };
    let alike = first.mask == second.mask && first.when.is_empty() && second.when.is_empty();
    let differs = first.value ^ second.value;
    let same = a.ty == Type::Register(0) && b.ty == a.ty && a.bits == b.bits;
    (alike && same && differs.is_power_of_two()).then_some(first.mask & !differs)
}

/// The alternatives of a kind as variants.
pub(super) fn variants(kind: &Kind) -> Vec<Ident> {
    let mut taken = Namespace::with(&["Self"]);
    kind.alternatives.iter().map(|a| taken.take(pascal(a.name), "_")).collect()
}

fn emit_kind(isa: &Isa, names: &Names, index: usize, kind: &Kind) -> TokenStream {
    if plain(kind).is_some() {
        return TokenStream::new();
    }
    let name = &names.kinds[index];
    let text = doc(kind.doc, " An operand.");
    let variants = variants(kind);
    let at = quote!(at);
    let declared = kind.alternatives.iter().zip(&variants).map(|(a, v)| {
        let text = doc(a.doc, " One reading of the operand.");
        let fields = a.fields.iter().map(|f| value_type(names, f.ty, f.bits.width()));
        match a.fields {
            [] => quote!(#[doc = #text] #v),
            [_] => quote!(#[doc = #text] #v(#(#fields)*)),
            _ => {
                let names = field_names(a);
                let docs = a.fields.iter().map(|f| doc_text(&format!("The field {}.", code(f.name))));
                quote!(#[doc = #text] #v { #(#[doc = #docs] #names: #fields),* })
            }
        }
    });
    let construct = |a: &Alternative, v: &Ident| {
        let values =
            a.fields.iter().map(|f| from_raw(names, f.ty, f.bits.width(), &extract(&quote!(word), &f.bits, Some(&at))));
        match a.fields {
            [] => quote!(#name::#v),
            [_] => quote!(#name::#v(#(#values)*)),
            _ => {
                let fields = field_names(a);
                quote!(#name::#v { #(#fields: #values),* })
            }
        }
    };
    let pairs: Vec<_> = kind.alternatives.iter().zip(&variants).collect();
    let Some(((last_a, last_v), init)) = pairs.split_last() else { return TokenStream::new() };
    let tests: Vec<TokenStream> = init
        .iter()
        .map(|(a, v)| {
            let (mask, value) = (hex(a.mask), hex(a.value));
            let when = a.when.iter().map(|(s, value)| {
                let (bits, value) = (extract(&quote!(word), &isa.shared[usize::from(*s)].bits, None), hex(*value));
                quote!(&& (#bits) == #value)
            });
            let make = construct(a, v);
            quote!(if (word >> at) & #mask == #value #(#when)* { return #make; })
        })
        .collect();
    let otherwise = construct(last_a, last_v);
    let read = match registers(kind) {
        Some(mask) => {
            // Most operands are registers. Other alternatives are handled in a separate function, so that accessors
            // stay small.
            let (mask, zero) = (hex(mask), hex(kind.alternatives[0].value & mask));
            let (last, others) = (construct(pairs[1].0, pairs[1].1), &tests[2..]);
            let first = &tests[0];
            quote! {
                #[inline]
                fn read(word: u64, at: u8) -> Self {
                    if (word >> at) & #mask == #zero {
                        #first
                        return #last;
                    }
                    Self::read_unusual(word, at)
                }
                #[inline(never)]
                fn read_unusual(word: u64, at: u8) -> Self {
                    #(#others)*
                    #otherwise
                }
            }
        }
        None => quote! {
            #[inline]
            fn read(word: u64, at: u8) -> Self {
                #(#tests)*
                #otherwise
            }
        },
    };
    let most = Literal::usize_unsuffixed(isaforge_core::parse::MAX_FIELDS);
    let parts = pairs.iter().enumerate().map(|(i, (a, v))| {
        let i = Literal::usize_unsuffixed(i);
        let names = field_names(a);
        let set = a.fields.iter().enumerate().map(|(k, f)| {
            let j = Literal::usize_unsuffixed(k);
            let value = &names[k];
            let raw = to_raw(f.ty, f.bits.width(), &quote!(#value));
            quote!(values[#j] = #raw;)
        });
        match a.fields {
            [] => quote!(#name::#v => #i,),
            [_] => quote!(#name::#v(#(#names)*) => { #(#set)* #i }),
            _ => quote!(#name::#v { #(#names),* } => { #(#set)* #i }),
        }
    });
    quote! {
        #[doc = #text]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum #name { #(#declared),* }
        impl #name {
            #read
            fn set(self, builder: &mut __rt::encode::Builder, index: usize) -> Result<(), EncodeError> {
                let (alternative, values) = self.parts();
                builder.set_operand(index, alternative, &values)
            }
            fn parts(self) -> (usize, [u64; #most]) {
                #[allow(unused_mut, reason = "a reading without fields sets none")]
                let mut values = [0; #most];
                let alternative = match self { #(#parts)* };
                (alternative, values)
            }
        }
    }
}
