//! Tables as Rust: `static` values of the types of `isaforge-core`.

use std::collections::HashMap;
use std::fmt::Debug;

use isaforge_core::bits::{Bits, Piece};
use isaforge_core::decode::{Fast, Quick};
use isaforge_core::registers::{self, RegisterField};
use isaforge_core::table::{
    Access, Alternative, Base, Count, Form, Isa, Kind, Modifier, Operand, Provenance, Script, Shape, Step, Target,
    Token, Type,
};
use isaforge_core::text::{Label, Text};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

/// Values that occur in many places become constants, each written once.
#[derive(Default)]
struct Shared {
    names: HashMap<String, proc_macro2::Ident>,
    items: Vec<TokenStream>,
}

impl Shared {
    /// The constant for a value; `make` generates its definition, and is called only the first time.
    fn constant<T: Debug + ?Sized>(
        &mut self,
        prefix: &str,
        ty: TokenStream,
        value: &T,
        make: impl FnOnce(&mut Self, &T) -> TokenStream,
    ) -> TokenStream {
        let key = format!("{prefix} {value:?}");
        if let Some(name) = self.names.get(&key) {
            return quote!(#name);
        }
        let value = make(self, value);
        let name = format_ident!("{prefix}{}", self.names.len());
        self.items.push(quote!(const #name: #ty = #value;));
        self.names.insert(key, name.clone());
        quote!(#name)
    }
}

/// A number in decimal.
pub(crate) fn n(value: impl Into<i128>) -> Literal {
    Literal::i128_unsuffixed(value.into())
}

/// A number in hexadecimal.
pub(crate) fn hexadecimal(value: u64) -> Literal {
    // Digits after `0x` always form a literal.
    format!("{value:#x}").parse().unwrap_or_else(|_| Literal::u64_unsuffixed(value))
}

/// A number, in hexadecimal if it is 10 or more.
pub(crate) fn hex(value: u64) -> Literal {
    if value < 10 { Literal::u64_unsuffixed(value) } else { hexadecimal(value) }
}

fn text(text: &Text) -> TokenStream {
    let str = text.str;
    if str.is_empty() { quote!(Text::EMPTY) } else { quote!(Text::new(#str)) }
}

fn piece(piece: &Piece) -> TokenStream {
    let (at, width) = (Literal::u8_unsuffixed(piece.at), Literal::u8_unsuffixed(piece.width));
    if piece.shared { quote!(Piece::shared(#at, #width)) } else { quote!(Piece::new(#at, #width)) }
}

fn bits(bits: &Bits) -> TokenStream {
    if bits.high.is_empty() && !bits.low.shared {
        let (at, width) = (Literal::u8_unsuffixed(bits.low.at), Literal::u8_unsuffixed(bits.low.width));
        return quote!(Bits::new(#at, #width));
    }
    let (low, high) = (piece(&bits.low), bits.high.iter().map(piece));
    quote!(Bits { low: #low, high: &[#(#high),*] })
}

fn ty(ty: Type) -> TokenStream {
    let index = |i: u16| Literal::u16_unsuffixed(i);
    match ty {
        Type::Flag => quote!(Type::Flag),
        Type::Decimal => quote!(Type::Decimal),
        Type::Hex => quote!(Type::Hex),
        Type::Signed => quote!(Type::Signed),
        Type::Enum(i) => {
            let i = index(i);
            quote!(Type::Enum(#i))
        }
        Type::Constant(i) => {
            let i = index(i);
            quote!(Type::Constant(#i))
        }
        Type::Register(i) => {
            let i = index(i);
            quote!(Type::Register(#i))
        }
    }
}

fn option(value: Option<u64>) -> TokenStream {
    match value {
        Some(value) => {
            let value = hex(value);
            quote!(Some(#value))
        }
        None => quote!(None),
    }
}

fn token(token: &Token) -> TokenStream {
    let index = |i: u8| Literal::u8_unsuffixed(i);
    match token {
        Token::Text(t) => {
            let t = text(t);
            quote!(Token::Text(#t))
        }
        Token::Field(i) => {
            let i = index(*i);
            quote!(Token::Field(#i))
        }
        Token::Mnemonic => quote!(Token::Mnemonic),
        Token::Modifiers => quote!(Token::Modifiers),
        Token::Modifier(i) => {
            let i = index(*i);
            quote!(Token::Modifier(#i))
        }
        Token::Operand(i) => {
            let i = index(*i);
            quote!(Token::Operand(#i))
        }
    }
}

fn modifier(m: &Modifier) -> TokenStream {
    let Modifier { name, doc, also, .. } = m;
    let (bits, ty, default, flag) = (bits(&m.bits), ty(m.ty), option(m.default), text(&m.flag));
    quote!(Modifier { name: #name, doc: #doc, bits: #bits, ty: #ty, default: #default, flag: #flag, also: #also })
}

fn modifiers(shared: &mut Shared, list: &[Modifier]) -> TokenStream {
    let list = list.iter().map(|m| shared.constant("M", quote!(Modifier), m, |_, m| modifier(m))).collect::<Vec<_>>();
    quote!(&[#(#list),*])
}

fn count(count: &Count) -> TokenStream {
    let bits = match &count.bits {
        Some(b) => {
            let b = bits(b);
            quote!(Some(#b))
        }
        None => quote!(None),
    };
    let (name, plus) = (count.name, Literal::u8_unsuffixed(count.plus));
    quote!(Count { bits: #bits, name: #name, plus: #plus })
}

fn shape(shape: &Shape) -> TokenStream {
    match shape {
        Shape::One { kind, at } => {
            let (kind, at) = (Literal::u16_unsuffixed(*kind), Literal::u8_unsuffixed(*at));
            quote!(Shape::One { kind: #kind, at: #at })
        }
        Shape::List { kind, at, count: c, open, separator, align } => {
            let (kind, at) = (Literal::u16_unsuffixed(*kind), Literal::u8_unsuffixed(*at));
            let (count, align) = (count(c), Literal::u8_unsuffixed(*align));
            quote!(Shape::List { kind: #kind, at: #at, count: #count, open: #open, separator: #separator, align: #align })
        }
        Shape::Number { bits: b, ty: t, prefix, target } => {
            let (bits, ty) = (bits(b), ty(*t));
            let target = option_of(target.map(target_value));
            quote!(Shape::Number { bits: #bits, ty: #ty, prefix: #prefix, target: #target })
        }
    }
}

fn option_of(value: Option<TokenStream>) -> TokenStream {
    value.map_or_else(|| quote!(None), |value| quote!(Some(#value)))
}

fn target_value(Target { base, unit }: Target) -> TokenStream {
    let base = match base {
        Base::This => quote!(Base::This),
        Base::Next => quote!(Base::Next),
        Base::Fixed(address) => {
            let address = hex(address);
            quote!(Base::Fixed(#address))
        }
    };
    let unit = Literal::u16_unsuffixed(unit);
    quote!(Target { base: #base, unit: #unit })
}

fn operand(shared: &mut Shared, o: &Operand) -> TokenStream {
    let Operand { name, doc, .. } = o;
    let access = match o.access {
        Access::None => quote!(None),
        Access::Read => quote!(Read),
        Access::Write => quote!(Write),
        Access::ReadWrite => quote!(ReadWrite),
    };
    let size = Literal::u16_unsuffixed(o.size);
    let (shape, suffixes) = (shape(&o.shape), modifiers(shared, o.suffixes));
    let (quiet_mask, quiet_value) = (hex(o.quiet_mask), hex(o.quiet_value));
    quote!(Operand {
        name: #name, doc: #doc, access: Access::#access, size: #size, shape: #shape, suffixes: #suffixes,
        quiet_mask: #quiet_mask, quiet_value: #quiet_value,
    })
}

fn script(shared: &mut Shared, s: &Script) -> TokenStream {
    let list = |_: &mut Shared, steps: &[Step]| {
        let steps = steps.iter().map(|step| {
            let (first, shift, mask) =
                (Literal::u16_unsuffixed(step.first), Literal::u8_unsuffixed(step.shift), hex(u64::from(step.mask)));
            match step.first {
                Step::NO_LABEL => quote!(Step::operand(#shift)),
                _ => quote!(Step::label(#first, #shift, #mask)),
            }
        });
        quote!(&[#(#steps),*])
    };
    let short = shared.constant("L", quote!(&[Step]), s.short, list);
    let long = shared.constant("L", quote!(&[Step]), s.long, list);
    let (mask, value) = (hex(s.mask), hex(s.value));
    let scans = s.scans;
    quote!(Script { mask: #mask, value: #value, short: #short, long: #long, scans: #scans })
}

/// A [`Provenance`] as code.
pub(crate) fn provenance(provenance: Provenance) -> TokenStream {
    match provenance {
        Provenance::Document => quote!(Provenance::Document),
        Provenance::VendorBinary => quote!(Provenance::VendorBinary),
        Provenance::Driver => quote!(Provenance::Driver),
        Provenance::Assumed => quote!(Provenance::Assumed),
    }
}

fn form(shared: &mut Shared, f: &Form) -> TokenStream {
    let Form { title, doc, unit, source, note, .. } = f;
    let name = text(&f.name);
    let provenance = provenance(f.provenance);
    let [match_mask, match_value, fixed_mask, fixed_value, ignored, initial] =
        [f.match_mask, f.match_value, f.fixed_mask, f.fixed_value, f.ignored, f.initial].map(hex);
    let [quiet_mask, quiet_value] = [f.quiet_mask, f.quiet_value].map(hex);
    let mods = modifiers(shared, f.modifiers);
    let operands: Vec<_> = f.operands.iter().map(|o| shared.constant("O", quote!(Operand), o, operand)).collect();
    let syntax = shared.constant("S", quote!(&[Token]), f.syntax, |_, syntax| {
        let syntax = syntax.iter().map(token);
        quote!(&[#(#syntax),*])
    });
    let placed = hex(u64::from(f.placed));
    let limits = f.limits.iter().map(|l| Literal::u8_unsuffixed(*l));
    let script = script(shared, &f.script);
    quote!(Form {
        name: #name, title: #title, doc: #doc, unit: #unit, source: #source, provenance: #provenance,
        note: #note, match_mask: #match_mask, match_value: #match_value, fixed_mask: #fixed_mask,
        fixed_value: #fixed_value, ignored: #ignored, initial: #initial, modifiers: #mods, quiet_mask: #quiet_mask,
        quiet_value: #quiet_value, operands: &[#(#operands),*], syntax: #syntax, placed: #placed, limits: &[#(#limits),*],
        script: #script,
    })
}

/// The fields of a form's words that hold numbers of registers it reads or writes.
fn register_fields(shared: &mut Shared, fields: &[RegisterField]) -> TokenStream {
    shared.constant("R", quote!(&[RegisterField]), fields, |shared, fields| {
        let fields = fields.iter().map(|field| {
            shared.constant("F", quote!(RegisterField), field, |_, field| {
                let (mask, value, first) = (hex(field.mask), hex(field.value), bits(field.first));
                let (base, operand) = (Literal::u8_unsuffixed(field.base), Literal::u8_unsuffixed(field.operand));
                let (plus, bank) = (Literal::u16_unsuffixed(field.plus), Literal::u16_unsuffixed(field.bank));
                let count = option_of(field.count.map(bits).map(|count| quote!(&#count)));
                quote!(RegisterField {
                    mask: #mask, value: #value, first: &#first, base: #base, count: #count, plus: #plus, bank: #bank,
                    operand: #operand,
                })
            })
        });
        let fields: Vec<_> = fields.collect();
        quote!(&[#(#fields),*])
    })
}

fn alternative(a: &Alternative) -> TokenStream {
    let Alternative { name, doc, .. } = a;
    let (mask, value, uses) = (hex(a.mask), hex(a.value), hex(u64::from(a.uses)));
    let when = a.when.iter().map(|(s, v)| {
        let (s, v) = (Literal::u8_unsuffixed(*s), hex(*v));
        quote!((#s, #v))
    });
    let fields = a.fields.iter().map(|f| {
        let (name, bits, ty) = (f.name, bits(&f.bits), ty(f.ty));
        quote!(Field { name: #name, bits: #bits, ty: #ty })
    });
    let text = a.text.iter().map(token);
    let also = a.also.iter().map(|spelling| {
        let text = spelling.text.iter().map(token);
        let with = spelling.with.iter().map(|(field, value)| {
            let (field, value) = (Literal::u8_unsuffixed(*field), hex(*value));
            quote!((#field, #value))
        });
        quote!(Spelling { text: &[#(#text),*], with: &[#(#with),*] })
    });
    quote!(Alternative {
        name: #name, doc: #doc, mask: #mask, value: #value, when: &[#(#when),*], uses: #uses,
        fields: &[#(#fields),*], text: &[#(#text),*], also: &[#(#also),*],
    })
}

fn kind(k: &Kind) -> TokenStream {
    let Kind { name, doc, .. } = k;
    let width = Literal::u8_unsuffixed(k.width);
    let (alternatives, texts) = (k.alternatives.iter().map(alternative), k.texts.iter().map(text));
    let (limited_mask, limited_value) = (hex(k.limited_mask), hex(k.limited_value));
    let slots = k.slots.iter().map(|slot| hex(u64::from(*slot)));
    quote!(Kind { name: #name, doc: #doc, width: #width, alternatives: &[#(#alternatives),*], texts: &[#(#texts),*], limited_mask: #limited_mask, limited_value: #limited_value, slots: &[#(#slots),*] })
}

fn quick(q: &Quick) -> TokenStream {
    let (mask, value, boxes) = (hex(q.mask), hex(q.value), hex(q.boxes));
    let plane = Literal::u16_unsuffixed(q.plane);
    quote!(Quick { mask: #mask, value: #value, boxes: #boxes, plane: #plane })
}

/// Generates a module `tables` with `ISA`, `FAST` and `REGISTERS`.
pub(super) fn emit(isa: &'static Isa, fast: &Fast) -> TokenStream {
    let mut shared = Shared::default();
    let Isa { name, doc, .. } = isa;
    let word_bits = Literal::u8_unsuffixed(isa.word_bits);
    let enums = isa.enums.iter().map(|e| {
        let (name, doc, default) = (e.name, e.doc, option(e.default));
        let values = e.values.iter().map(|v| {
            let (bits, name, text, doc) = (hex(v.bits), v.name, v.text, v.doc);
            quote!(Value { bits: #bits, name: #name, text: #text, doc: #doc })
        });
        let dotted = e.dotted.iter().map(text);
        quote!(Enum { name: #name, doc: #doc, values: &[#(#values),*], dotted: &[#(#dotted),*], default: #default })
    });
    let constants = isa.constants.iter().map(|c| {
        let (name, doc) = (c.name, c.doc);
        let values = c.values.iter().map(|v| {
            let (value, doc) = (hex(v.value), v.doc);
            quote!(Constant { value: #value, doc: #doc })
        });
        quote!(Constants { name: #name, doc: #doc, values: &[#(#values),*] })
    });
    let banks = isa.banks.iter().map(|b| {
        let (name, doc) = (b.name, b.doc);
        let (count, width) = (Literal::u32_unsuffixed(b.count), Literal::u16_unsuffixed(b.width));
        quote!(Bank { name: #name, doc: #doc, count: #count, width: #width })
    });
    let kinds = isa.kinds.iter().map(kind);
    let shared_fields = isa.shared.iter().map(|s| {
        let (name, bits, default, printed) = (s.name, bits(&s.bits), hex(s.default), s.printed);
        let words = s.words.iter().map(|(word, value)| {
            let value = hex(*value);
            quote!((#word, #value))
        });
        quote!(Shared { name: #name, bits: #bits, default: #default, printed: #printed, words: &[#(#words),*] })
    });
    let forms: Vec<_> = isa.forms.iter().map(|f| form(&mut shared, f)).collect();
    let registers: Vec<_> = isa
        .forms
        .iter()
        .map(|form| {
            let [reads, writes] = [false, true].map(|write| {
                let fields: Vec<_> = registers::fields(isa, form, write).collect();
                register_fields(&mut shared, &fields)
            });
            quote!((#reads, #writes))
        })
        .collect();
    let forms_len = Literal::usize_unsuffixed(isa.forms.len());
    let nodes = isa.decoder.nodes.iter().map(|n| {
        let (shift, width) = (Literal::u8_unsuffixed(n.shift), Literal::u8_unsuffixed(n.width));
        let first = Literal::u32_unsuffixed(n.first);
        quote!(Node { shift: #shift, width: #width, first: #first })
    });
    let branches = isa.decoder.branches.iter().map(|b| hex(u64::from(*b)));
    let tree = quote!(Decoder { nodes: &[#(#nodes),*], branches: &[#(#branches),*] });
    // The fast path needs the tree only if its own look-ups do not reach every form.
    let (decoder_item, decoder, deep) = if fast.deep.nodes.is_empty() {
        (quote!(), tree, quote!(Decoder { nodes: &[], branches: &[] }))
    } else {
        (quote!(const DECODER: Decoder = #tree;), quote!(DECODER), quote!(DECODER))
    };
    let (usual_mask, usual_value) = (hex(isa.usual_mask), hex(isa.usual_value));
    let labels = isa.labels.iter().map(Label::as_str);
    let slots = isa.names.slots.iter().map(|s| hex(u64::from(*s)));
    let dots = Literal::u8_unsuffixed(isa.names.dots);
    let limits = isa.limits.iter().map(|l| {
        let (name, doc, kind) = (l.name, l.doc, Literal::u16_unsuffixed(l.kind));
        let (alternatives, drop) = (hex(u64::from(l.alternatives)), Literal::u8_unsuffixed(l.drop));
        quote!(Limit { name: #name, doc: #doc, kind: #kind, alternatives: #alternatives, drop: #drop })
    });
    let quick: Vec<_> = fast.quick.iter().map(quick).collect();
    let (shift, mask) = (Literal::u8_unsuffixed(fast.shift), hex(fast.mask));
    let primary = fast.primary.iter().map(|p| hex(*p));
    let secondary = fast.secondary.iter().map(|s| hex(u64::from(*s)));
    let planes = fast.planes.iter().map(|plane| {
        let bytes = plane.iter().map(|values| {
            if values.iter().all(|outside| *outside == 0) {
                return quote!([0; 256]);
            }
            let values = values.iter().map(|outside| hex(*outside));
            quote!([#(#values),*])
        });
        quote!([#(#bytes),*])
    });
    let [primary_len, secondary_len, quick_len, planes_len] =
        [fast.primary.len(), fast.secondary.len(), fast.quick.len(), fast.planes.len()].map(Literal::usize_unsuffixed);
    let items = &shared.items;
    quote! {
        mod tables {
            #[allow(unused_imports, reason = "which of the shapes occur depends on the instruction set")]
            use super::__rt::{
                bits::{Bits, Piece}, decode::{Fast, Plane, Quick}, registers::RegisterField, table::*, text::{Label, Text},
            };

            #(#items)*
            #decoder_item

            pub(super) static ISA: Isa = Isa {
                name: #name,
                doc: #doc,
                word_bits: #word_bits,
                enums: &[#(#enums),*],
                constants: &[#(#constants),*],
                banks: &[#(#banks),*],
                kinds: &[#(#kinds),*],
                shared: &[#(#shared_fields),*],
                forms: &[#(#forms),*],
                decoder: #decoder,
                names: Names { slots: &[#(#slots),*], dots: #dots },
                usual_mask: #usual_mask,
                usual_value: #usual_value,
                labels: &[#(Label::new(#labels)),*],
                limits: &[#(#limits),*],
            };

            /// The registers that each form reads and writes. Separate from `ISA`, so that programs that do not use it
            /// do not contain it.
            pub(super) static REGISTERS: [(&[RegisterField], &[RegisterField]); #forms_len] = [#(#registers),*];

            static PRIMARY: [u64; #primary_len] = [#(#primary),*];
            static SECONDARY: [u16; #secondary_len] = [#(#secondary),*];
            static QUICK: [Quick; #quick_len] = [#(#quick),*];
            static PLANES: [Plane; #planes_len] = [#(#planes),*];

            // A constant, so that its sizes are known wherever decoding is inlined.
            pub(super) const FAST: Fast = Fast {
                shift: #shift,
                mask: #mask,
                primary: &PRIMARY,
                secondary: &SECONDARY,
                quick: &QUICK,
                planes: &PLANES,
                deep: #deep,
            };
        }
    }
}
