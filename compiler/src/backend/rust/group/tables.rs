//! The tables as a `static`.

use isaforge_core::bits::{Bits, Piece};
use isaforge_core::group::table::{
    Check, Choice, Derive, Encoding, GroupIsa, Operand, OperandKind, Operation, Place, Record, Slot, Token, Type, When,
};
use isaforge_core::table::Enum;
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::backend::rust::tables::{hexadecimal, n, provenance};

/// A negative number is an operator followed by a literal.
fn int(value: i64) -> TokenStream {
    let magnitude = Literal::u64_unsuffixed(value.unsigned_abs());
    if value < 0 { quote!(-#magnitude) } else { quote!(#magnitude) }
}

fn piece(piece: &Piece) -> TokenStream {
    let (at, width) = (n(piece.at), n(piece.width));
    quote!(Piece::new(#at, #width))
}

fn bits(bits: &Bits) -> TokenStream {
    if bits.high.is_empty() {
        let (at, width) = (n(bits.low.at), n(bits.low.width));
        return quote!(Bits::new(#at, #width));
    }
    let (low, high) = (piece(&bits.low), bits.high.iter().map(piece));
    quote!(Bits { low: #low, high: &[#(#high),*] })
}

fn place(place: &Place) -> TokenStream {
    let (field, bits, allowed) = (n(place.field), bits(&place.bits), hexadecimal(place.allowed));
    quote!(Place { field: #field, bits: #bits, allowed: #allowed })
}

fn when(when: When) -> TokenStream {
    let all = when.iter().map(|(field, set)| {
        let (field, set) = (n(*field), hexadecimal(*set));
        quote!((#field, #set))
    });
    quote!(&[#(#all),*])
}

fn enumeration(e: &Enum) -> TokenStream {
    let (name, doc) = (e.name, e.doc);
    let values = e.values.iter().map(|v| {
        let (bits, name, text, doc) = (n(v.bits), v.name, v.text, v.doc);
        quote!(Value { bits: #bits, name: #name, text: #text, doc: #doc })
    });
    let default = match e.default {
        Some(default) => {
            let default = n(default);
            quote!(Some(#default))
        }
        None => quote!(None),
    };
    quote!(Enum { name: #name, doc: #doc, values: &[#(#values),*], dotted: &[], default: #default })
}

fn encoding(encoding: Encoding) -> TokenStream {
    match encoding {
        Encoding::Plain => quote!(Encoding::Plain),
        Encoding::Wrap => quote!(Encoding::Wrap),
        Encoding::Minus(by) => {
            let by = n(by);
            quote!(Encoding::Minus(#by))
        }
        Encoding::Times(by) => {
            let by = n(by);
            quote!(Encoding::Times(#by))
        }
        Encoding::SignedTimes(by) => {
            let by = n(by);
            quote!(Encoding::SignedTimes(#by))
        }
    }
}

fn derive(rule: Derive) -> TokenStream {
    match rule {
        Derive::Length => quote!(Derive::Length),
        Derive::Offset { slot, if_any } => {
            let (slot, if_any) = (n(slot), hexadecimal(if_any.into()));
            quote!(Derive::Offset { slot: #slot, if_any: #if_any })
        }
    }
}

fn choice(c: &Choice) -> TokenStream {
    let (name, doc) = (c.name, c.doc);
    let fields = c.fields.iter().map(|f| {
        let (name, doc, default, form) = (f.name, f.doc, int(f.default), f.form);
        let ty = match f.ty {
            Type::Flag => quote!(Type::Flag),
            Type::Decimal => quote!(Type::Decimal),
            Type::Hex => quote!(Type::Hex),
            Type::Enum(index) => {
                let index = n(index);
                quote!(Type::Enum(#index))
            }
        };
        let encoding = encoding(f.encoding);
        quote!(Field { name: #name, doc: #doc, ty: #ty, encoding: #encoding, default: #default, form: #form })
    });
    let records = c.records.iter().map(record);
    quote!(Choice { name: #name, doc: #doc, fields: &[#(#fields),*], records: &[#(#records),*] })
}

fn check(c: &Check) -> TokenStream {
    let (field, bits, allowed) = (n(c.field), bits(&c.bits), hexadecimal(c.allowed));
    quote!(Check { field: #field, bits: #bits, allowed: #allowed })
}

fn record(r: &Record) -> TokenStream {
    let (name, doc, unusable, no_encoding, note, source) = (r.name, r.doc, r.unusable, r.no_encoding, r.note, r.source);
    let says = r.says.iter().map(|f| n(*f));
    let (bytes, mask, value, provenance) =
        (n(r.bytes), hexadecimal(r.mask), hexadecimal(r.value), provenance(r.provenance));
    let places = r.places.iter().map(place);
    let pairs = |list: &[(u8, i64)]| {
        let pairs = list.iter().map(|(field, value)| {
            let (field, value) = (n(*field), int(*value));
            quote!((#field, #value))
        });
        quote!(&[#(#pairs),*])
    };
    let (implies, needs) = (pairs(r.implies), pairs(r.needs));
    let checks = r.checks.iter().map(check);
    quote!(Record {
        name: #name, doc: #doc, bytes: #bytes, mask: #mask, value: #value, places: &[#(#places),*],
        implies: #implies, needs: #needs, checks: &[#(#checks),*], unusable: #unusable, no_encoding: #no_encoding, says: &[#(#says),*], provenance: #provenance, note: #note,
        source: #source,
    })
}

fn slot(s: &Slot) -> TokenStream {
    let (name, doc, filler) = (s.name, s.doc, s.filler);
    let [choice, chain, ends] = [s.choice, s.chain, s.ends].map(n);
    let fields = n(s.fields);
    let records = s.records.iter().map(|r| n(*r));
    let without = s.without.iter().map(|r| n(*r));
    let first = s.first.iter().map(|i| n(*i));
    let tests = s.tests.iter().map(|t| {
        let (mask, value, record, bytes, last) = (hexadecimal(t.mask), hexadecimal(t.value), n(t.record), n(t.bytes), t.last);
        let checks = t.checks.iter().map(check);
        quote!(Test { mask: #mask, value: #value, checks: &[#(#checks),*], record: #record, bytes: #bytes, last: #last })
    });
    let operations = s.operations.iter().map(|o| n(*o));
    let roles = s.roles.iter().map(|(role, operand)| {
        let operand = n(*operand);
        quote!((#role, #operand))
    });
    quote!(Slot {
        name: #name, doc: #doc, choice: #choice, records: &[#(#records),*], without: &[#(#without),*], first: &[#(#first),*],
        tests: &[#(#tests),*], fields: #fields, chain: #chain, ends: #ends, filler: #filler,
        operations: &[#(#operations),*], roles: &[#(#roles),*],
    })
}

fn token(token: &Token) -> TokenStream {
    let words = |words: &[&str]| quote!(&[#(#words),*]);
    match *token {
        Token::Text(text) => quote!(Token::Text(#text)),
        Token::Flag(slot, field, text) => {
            let (slot, field) = (n(slot), n(field));
            quote!(Token::Flag(#slot, #field, #text))
        }
        Token::Suffix(slot, field, optional) => {
            let (slot, field) = (n(slot), n(field));
            quote!(Token::Suffix(#slot, #field, #optional))
        }
        Token::Value(slot, field) => {
            let (slot, field) = (n(slot), n(field));
            quote!(Token::Value(#slot, #field))
        }
        Token::Words(slot, field, list) => {
            let (slot, field, list) = (n(slot), n(field), words(list));
            quote!(Token::Words(#slot, #field, #list))
        }
        Token::Optional(slot, field, text) => {
            let (slot, field) = (n(slot), n(field));
            quote!(Token::Optional(#slot, #field, #text))
        }
        Token::Bits(slot, field, list) => {
            let (slot, field, list) = (n(slot), n(field), words(list));
            quote!(Token::Bits(#slot, #field, #list))
        }
        Token::Operand(index) => {
            let index = n(index);
            quote!(Token::Operand(#index))
        }
        Token::Role(role) => quote!(Token::Role(#role)),
    }
}

fn operation(o: &Operation) -> TokenStream {
    let Operation { name, doc, part, remark, no_encoding, note, source, .. } = o;
    let (slots, unless, writes, provenance) =
        (hexadecimal(o.slots.into()), n(o.unless), hexadecimal(o.writes), provenance(o.provenance));
    let is = o.is.iter().map(|(slot, field, values)| {
        let (slot, field, values) = (n(*slot), n(*field), values.iter().map(|v| int(*v)));
        quote!((#slot, #field, &[#(#values),*]))
    });
    let tokens = |syntax: &[Token]| {
        let tokens = syntax.iter().map(token);
        quote!(&[#(#tokens),*])
    };
    let (syntax, also) = (tokens(o.syntax), o.also.iter().map(|s| tokens(s)));
    quote!(Operation {
        name: #name, doc: #doc, slots: #slots, part: #part, is: &[#(#is),*], unless: #unless, remark: #remark,
        writes: #writes, syntax: #syntax, also: &[#(#also),*], no_encoding: #no_encoding, provenance: #provenance,
        note: #note, source: #source,
    })
}

fn operand(o: &Operand) -> TokenStream {
    let (name, doc) = (o.name, o.doc);
    let kind = match o.kind {
        OperandKind::Wire(wire) => quote!(Wire(#wire)),
        OperandKind::Register(places) => {
            let places = places.iter().map(|p| {
                let [slot, bank, number, count] = [p.slot, p.bank, p.number, p.count.0].map(n);
                let least = int(p.count.1);
                quote!(RegisterPlace { slot: #slot, bank: #bank, number: #number, count: (#count, #least) })
            });
            quote!(Register(&[#(#places),*]))
        }
        OperandKind::Select { slot, field, options, sets } => {
            let (slot, field) = (n(slot), n(field));
            let options = options.iter().map(|(value, operand)| {
                let (value, operand) = (int(*value), n(*operand));
                quote!((#value, #operand))
            });
            quote!(Select { slot: #slot, field: #field, options: &[#(#options),*], sets: #sets })
        }
    };
    quote!(Operand { name: #name, doc: #doc, kind: OperandKind::#kind })
}

/// Generates a module `tables` with `ISA`.
pub(super) fn emit(isa: &GroupIsa) -> TokenStream {
    let (name, doc, unit, longest) = (isa.name, isa.doc, n(isa.unit), n(isa.longest));
    let enums = isa.enums.iter().map(enumeration);
    let constants = isa.constants.iter().map(|c| {
        let (name, doc) = (c.name, c.doc);
        let values = c.values.iter().map(|v| {
            let (value, doc) = (hexadecimal(v.value), v.doc);
            quote!(Constant { value: #value, doc: #doc })
        });
        quote!(Constants { name: #name, doc: #doc, values: &[#(#values),*] })
    });
    let banks = isa.banks.iter().map(|b| {
        let (name, doc, count, width) = (b.name, b.doc, n(b.count), n(b.width));
        quote!(Bank { name: #name, doc: #doc, count: #count, width: #width })
    });
    let choices = isa.choices.iter().map(choice);
    let slots = isa.slots.iter().map(slot);
    let plans = isa.plans.iter().map(|p| {
        let (key, slots, any) = (p.key.iter().map(place), p.slots.iter().map(|s| hexadecimal((*s).into())), hexadecimal(p.any.into()));
        let derived = p.derived.iter().map(|d| {
            let (bits, encoding, rule, field) = (bits(&d.bits), encoding(d.encoding), derive(d.rule), n(d.field));
            quote!(PlannedField { bits: #bits, encoding: #encoding, rule: #rule, field: #field })
        });
        let rules = p.rules.iter().map(|r| n(*r));
        quote!(Plan { key: &[#(#key),*], slots: &[#(#slots),*], any: #any, derived: &[#(#derived),*], rules: &[#(#rules),*] })
    });
    let derived = isa.derived.iter().map(|d| {
        let (slot, field, headers) = (n(d.slot), n(d.field), hexadecimal(d.headers.into()));
        let rule = derive(d.rule);
        quote!(Derived { slot: #slot, field: #field, headers: #headers, rule: #rule })
    });
    let rules = isa.rules.iter().map(|r| {
        let (doc, headers, when, need) = (r.doc, hexadecimal(r.headers.into()), when(r.when), when(r.need));
        quote!(Rule { doc: #doc, headers: #headers, when: #when, need: #need })
    });
    let (odd, first, rest) = (
        hexadecimal(isa.padding.odd.into()),
        hexadecimal(isa.padding.first.into()),
        hexadecimal(isa.padding.rest.into()),
    );
    let (align, ends) = (n(isa.program.align), isa.program.ends.iter().map(|w| when(w)));
    let targets = isa.program.targets.iter().map(|t| {
        let [slot, field, absolute] = [t.slot, t.field, t.absolute].map(n);
        quote!(Target { slot: #slot, field: #field, absolute: #absolute })
    });
    let operations = isa.operations.iter().map(operation);
    let operands = isa.operands.iter().map(operand);
    let registers = isa.registers.iter().map(|r| {
        let [bank, from, to, first, is] = [r.bank, r.from, r.to, r.first, r.is].map(int);
        let (low, through, before, after) = (n(r.low), hexadecimal(r.through), r.before, r.after);
        quote!(RegisterName {
            bank: #bank, from: #from, to: #to, first: #first, low: #low, is: #is, through: #through, before: #before, after: #after,
        })
    });
    let order = isa.order.iter().map(|s| n(*s));
    let computed = hexadecimal(isa.computed);
    let (fillers, chains) = (hexadecimal(isa.fillers.into()), isa.chains.iter().map(|c| hexadecimal((*c).into())));
    let defaults = isa.defaults.iter().map(|d| int(*d));
    let aliases = isa.aliases.iter().map(|(other, own)| quote!((#other, #own)));
    quote! {
        mod tables {
            #[allow(unused_imports, reason = "which of the shapes occur depends on the instruction set")]
            use super::__rt::{bits::{Bits, Piece}, group::table::*, table::{Bank, Constant, Constants, Enum, Provenance, Value}};

            pub(super) static ISA: GroupIsa = GroupIsa {
                name: #name,
                doc: #doc,
                unit: #unit,
                longest: #longest,
                enums: &[#(#enums),*],
                constants: &[#(#constants),*],
                banks: &[#(#banks),*],
                choices: &[#(#choices),*],
                slots: &[#(#slots),*],
                plans: &[#(#plans),*],
                derived: &[#(#derived),*],
                rules: &[#(#rules),*],
                padding: Padding { odd: #odd, first: #first, rest: #rest },
                program: Program { align: #align, ends: &[#(#ends),*], targets: &[#(#targets),*] },
                operations: &[#(#operations),*],
                operands: &[#(#operands),*],
                registers: &[#(#registers),*],
                order: &[#(#order),*], aliases: &[#(#aliases),*], defaults: &[#(#defaults),*],
                fillers: #fillers, chains: &[#(#chains),*], computed: #computed,
            };
        }
    }
}
