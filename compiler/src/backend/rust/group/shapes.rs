//! The combinations of parts that headers allow, as types that cannot represent invalid combinations.
//!
//! The slots of each kind of header are divided into independent factors. A factor is an enum with a variant for each
//! combination of its slots, named after the values of the header's fields that announce it.

use isaforge_core::bits::ones;
use isaforge_core::group::table::{GroupIsa, Plan, Type};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::backend::rust::group::types::Names;
use crate::backend::rust::idents::{Namespace, TAKEN, doc_text, pascal, snake};

/// Slots whose presence is determined together.
struct Factor {
    name: Ident,
    field: Ident,
    slots: u32,
    variants: Vec<(Ident, u32)>,
}

/// A kind of header.
struct Family {
    name: Ident,
    doc: &'static str,
    always: u32,
    factors: Vec<Factor>,
}

/// The combinations that a header allows: key and slots, without the header itself.
fn combinations(plan: &Plan) -> Vec<(u64, u32)> {
    let legal = plan.slots.iter().enumerate().filter(|(_, slots)| **slots != Plan::NONE);
    legal.map(|(key, slots)| (key as u64, slots & !1)).collect()
}

fn members(slots: u32) -> impl Iterator<Item = usize> + Clone {
    (0..32).filter(move |slot| slots >> slot & 1 != 0)
}

/// The fields of a key that determine some slots, as a bit set.
fn deciding(plan: &Plan, keys: &[(u64, u32)], slots: u32) -> u32 {
    let mut shift = 0;
    let mut found = 0;
    for (index, place) in plan.key.iter().enumerate() {
        let bits = ones(place.bits.width()) << shift;
        shift += place.bits.width();
        let differ = |a: &(u64, u32), b: &(u64, u32)| (a.0 ^ b.0) & !bits == 0 && (a.1 ^ b.1) & slots != 0;
        if keys.iter().any(|a| keys.iter().any(|b| differ(a, b))) {
            found |= 1 << index;
        }
    }
    found
}

/// Groups slots that are determined by the same fields; returns all slots as one group if the groups are not
/// independent.
fn independent(plan: &Plan, keys: &[(u64, u32)], all: u32) -> Vec<u32> {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for slot in members(all) {
        let mut joined = (deciding(plan, keys, 1 << slot), 1 << slot);
        found.retain(|(fields, slots)| {
            let apart = fields & joined.0 == 0;
            if !apart {
                joined = (joined.0 | fields, joined.1 | slots);
            }
            apart
        });
        found.push(joined);
    }
    let mut found: Vec<u32> = found.into_iter().map(|(_, slots)| slots).collect();
    found.sort_unstable();
    let sets: Vec<u32> = keys.iter().map(|(_, slots)| *slots).collect();
    let product: usize = found.iter().map(|mask| projections(&sets, *mask).len()).product();
    if product == projections(&sets, all).len() { found } else { vec![all] }
}

fn projections(sets: &[u32], mask: u32) -> Vec<u32> {
    let mut found: Vec<u32> = sets.iter().map(|s| s & mask).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn families(isa: &GroupIsa, names: &Names, taken: &mut Namespace) -> Vec<Family> {
    let Some(header) = isa.slots.first() else { return Vec::new() };
    let choice = &isa.choices[usize::from(header.choice)];
    let all: Vec<(usize, Vec<(u64, u32)>)> =
        header.records.iter().map(|r| (usize::from(*r), combinations(&isa.plans[usize::from(*r)]))).collect();
    let says = |a: &[(u64, u32)], b: &[(u64, u32)]| b.iter().all(|(_, s)| a.iter().any(|(_, t)| s == t));
    let mut variants = Namespace::with(&["Self"]);
    let mut families = Vec::new();
    for (i, (record, keys)) in all.iter().enumerate() {
        // A header that cannot begin a group has no parts.
        if keys.is_empty() {
            continue;
        }
        // Skips a header whose combinations all exist with a longer one.
        if all.iter().enumerate().any(|(j, (_, other))| says(other, keys) && (j > i || !says(keys, other))) {
            continue;
        }
        let plan = &isa.plans[*record];
        let record = &choice.records[*record];
        let sets: Vec<u32> = keys.iter().map(|(_, slots)| *slots).collect();
        let always = sets.iter().fold(u32::MAX, |a, b| a & b) & !1;
        let some = sets.iter().fold(0, |a, b| a | b) & !always;
        let widths = plan.key.iter().map(|place| place.bits.width());
        let shifts: Vec<u32> = widths.scan(0, |at, width| Some(std::mem::replace(at, *at + width))).collect();
        // Names that patterns bind next to the slots.
        let mut fields_taken = Namespace::with(&["body", "parts"]);
        names.slots.iter().for_each(|slot| _ = fields_taken.take(slot.to_string(), "_"));
        let factors = independent(plan, keys, some).into_iter().map(|mask| {
            let decides = deciding(plan, keys, mask);
            let fields: Vec<usize> = (0..plan.key.len()).filter(|index| decides >> index & 1 != 0).collect();
            let field_name = |index: &usize| choice.fields[usize::from(plan.key[*index].field)].name;
            let joined: Vec<&str> = fields.iter().map(field_name).collect();
            let joined = joined.join("_");
            let mut variant_names = Namespace::with(&["Self"]);
            let variant = |slots: u32| {
                let key = keys.iter().find(|(_, s)| s & mask == slots).map_or(0, |(key, _)| *key);
                let word = |index: &usize| {
                    let place = &plan.key[*index];
                    let field = &choice.fields[usize::from(place.field)];
                    let value =
                        field.encoding.value(key >> shifts[*index] & ones(place.bits.width()), place.bits.width());
                    match field.ty {
                        Type::Enum(e) => isa.enums[usize::from(e)]
                            .value(value as u64)
                            .map_or(String::new(), |v| format!("{}_", v.name)),
                        _ if value != 0 => format!("{}_", field.name),
                        _ => String::new(),
                    }
                };
                let name: String = fields.iter().map(word).collect();
                (variant_names.take(pascal(if name.is_empty() { "nothing" } else { &name }), "Parts"), slots)
            };
            Factor {
                name: taken.take(pascal(&format!("{}_{joined}", record.name)), "Parts"),
                field: fields_taken.take(snake(&joined), "_parts"),
                slots: mask,
                variants: projections(&sets, mask).into_iter().map(variant).collect(),
            }
        });
        let factors = factors.collect();
        families.push(Family { name: variants.take(pascal(record.name), "Header"), doc: record.doc, always, factors });
    }
    families
}

pub(super) fn emit(isa: &GroupIsa, names: &Names) -> TokenStream {
    let mut taken = Namespace::with(TAKEN);
    names.choices.iter().chain(&names.enums).for_each(|name| _ = taken.take(name.to_string(), "Parts"));
    let families = families(isa, names, &mut taken);
    let (Some(header), Some(header_type)) = (names.slots.first(), type_of(isa, names, 0)) else { return quote!() };
    let factors = families.iter().flat_map(|family| &family.factors).map(|f| factor(isa, names, f));
    let variants = families.iter().map(|family| {
        let (name, doc) = (&family.name, doc_text(family.doc));
        let fields = family.factors.iter().map(|f| {
            let (field, ty) = (&f.field, &f.name);
            quote!(#[doc = " The parts that these fields of the header select."] #field: #ty)
        });
        let always = members(family.always).map(|slot| {
            let (field, ty, doc) = (&names.slots[slot], type_of(isa, names, slot), doc_of(isa, slot));
            quote!(#[doc = #doc] #field: #ty)
        });
        quote!(#[doc = #doc] #name { #(#fields,)* #(#always,)* })
    });
    let put = families.iter().map(|family| {
        let name = &family.name;
        let fields: Vec<&Ident> = family.factors.iter().map(|f| &f.field).collect();
        let always: Vec<&Ident> = members(family.always).map(|slot| &names.slots[slot]).collect();
        quote!(Body::#name { #(#fields,)* #(#always,)* } => {
            #(#fields.put(&mut parts);)*
            #(parts.#always = Some(#always);)*
        })
    });
    let get = families.iter().map(|family| {
        let name = &family.name;
        let fields: Vec<&Ident> = family.factors.iter().map(|f| &f.field).collect();
        let types = family.factors.iter().map(|f| &f.name);
        let always: Vec<&Ident> = members(family.always).map(|slot| &names.slots[slot]).collect();
        let own = family.factors.iter().fold(family.always, |a, f| a | f.slots) | 1;
        let others = (0..isa.slots.len()).filter(|slot| own >> slot & 1 == 0).map(|slot| &names.slots[slot]);
        quote! {
            if true #(&& self.#others.is_none())* {
                // A single pattern, because crates of older editions cannot chain conditions with patterns.
                if let ((), #(Some(#fields),)* #(Some(#always),)* ()) = ((), #(#types::of(self),)* #(self.#always,)* ()) {
                    return Some(Body::#name { #(#fields,)* #(#always,)* });
                }
            }
        }
    });
    quote! {
        #(#factors)*

        /// The parts of a group after the header, in the valid combinations only.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Body { #(#variants),* }

        impl Parts {
            /// Combines a header and the parts that follow it. The fields of the header that depend on the parts are
            /// computed.
            pub fn of(#header: #header_type, body: Body) -> Parts {
                let mut parts = Parts { #header, ..Parts::default() };
                match body { #(#put)* }
                parts
            }

            /// Returns the parts after the header; `None` when no group has this combination of parts.
            #[allow(irrefutable_let_patterns, reason = "a group may have no parts that must be there")]
            pub fn body(&self) -> Option<Body> {
                #(#get)*
                None
            }
        }
    }
}

fn type_of<'n>(isa: &GroupIsa, names: &'n Names, slot: usize) -> Option<&'n Ident> {
    names.choices.get(usize::from(isa.slots.get(slot)?.choice))
}

fn doc_of(isa: &GroupIsa, slot: usize) -> String {
    let slot = &isa.slots[slot];
    if slot.doc.is_empty() { doc_text(slot.name) } else { doc_text(slot.doc) }
}

fn factor(isa: &GroupIsa, names: &Names, factor: &Factor) -> TokenStream {
    let name = &factor.name;
    let chained = |slot: &usize| isa.slots[*slot].chain != 0;
    let definitions = factor.variants.iter().map(|(variant, slots)| {
        let fields = members(*slots).map(|slot| {
            let (field, ty, doc) = (&names.slots[slot], type_of(isa, names, slot), doc_of(isa, slot));
            if chained(&slot) {
                quote!(#[doc = #doc] #[doc = " At least one part of a chain is present."] #field: Option<#ty>)
            } else {
                quote!(#[doc = #doc] #field: #ty)
            }
        });
        let doc = members(*slots).map(|slot| isa.slots[slot].name).collect::<Vec<_>>().join(", ");
        let doc = doc_text(&if doc.is_empty() { "Nothing.".to_owned() } else { format!("The slots {doc}.") });
        quote!(#[doc = #doc] #variant { #(#fields),* })
    });
    let put = factor.variants.iter().map(|(variant, slots)| {
        let fields: Vec<&Ident> = members(*slots).map(|slot| &names.slots[slot]).collect();
        let values = members(*slots).map(|slot| {
            let field = &names.slots[slot];
            if chained(&slot) { quote!(#field) } else { quote!(Some(#field)) }
        });
        quote!(#name::#variant { #(#fields),* } => { #(parts.#fields = #values;)* })
    });
    let get = factor.variants.iter().map(|(variant, slots)| {
        let fields: Vec<&Ident> = members(*slots).map(|slot| &names.slots[slot]).collect();
        let absent = members(factor.slots & !slots).map(|slot| &names.slots[slot]);
        let patterns = members(*slots).map(|slot| {
            let field = &names.slots[slot];
            if chained(&slot) { quote!(#field) } else { quote!(Some(#field)) }
        });
        let chain: Vec<&Ident> = members(*slots).filter(chained).map(|slot| &names.slots[slot]).collect();
        let chain = (!chain.is_empty()).then(|| quote!(&& (false #(|| parts.#chain.is_some())*)));
        quote! {
            if true #(&& parts.#absent.is_none())* #chain {
                if let ((), #(#patterns,)* ()) = ((), #(parts.#fields,)* ()) {
                    return Some(#name::#variant { #(#fields),* });
                }
            }
        }
    });
    quote! {
        /// Parts of a group that occur together.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum #name { #(#definitions),* }

        impl #name {
            fn put(self, parts: &mut Parts) {
                let _ = &parts;
                match self { #(#put)* }
            }

            #[allow(irrefutable_let_patterns, reason = "parts of chains may be there or not")]
            fn of(parts: &Parts) -> Option<Self> {
                #(#get)*
                None
            }
        }
    }
}
