//! Tables of semantics as Rust.

use isaforge_core::semantics::facts::{Callee, Fidelity, Flow, Preload};
use isaforge_core::semantics::group::{DataPath, Fields};
use isaforge_core::semantics::{Class, Effects, Modifier, Node, Operation, Registers, Semantics, Type};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use crate::backend::rust::tables::hex;

/// Generates a static `SEMANTICS` in its own module.
pub fn emit(semantics: &Semantics) -> TokenStream {
    let operations = semantics.operations.iter().map(operation);
    let intrinsics = semantics.intrinsics.iter().map(|intrinsic| {
        let (name, doc) = (intrinsic.name, intrinsic.doc);
        let parameters = intrinsic.parameters.iter().map(|ty| type_of(*ty));
        let result = match intrinsic.result {
            Some(ty) => {
                let ty = type_of(ty);
                quote!(Some(#ty))
            }
            None => quote!(None),
        };
        let Effects { reads, writes, waits, flow } = intrinsic.effects;
        let registers = intrinsic.registers.iter().map(registers);
        quote! {
            Intrinsic {
                name: #name,
                doc: #doc,
                parameters: &[#(#parameters),*],
                result: #result,
                effects: Effects { reads: #reads, writes: #writes, waits: #waits, flow: #flow },
                registers: &[#(#registers),*],
            }
        }
    });
    let states = semantics.states.iter().map(|state| {
        let (name, doc, ty) = (state.name, state.doc, type_of(state.ty));
        let count = Literal::u32_unsuffixed(state.count);
        quote!(State { name: #name, doc: #doc, ty: #ty, count: #count })
    });
    let (spaces, faults) = (semantics.spaces, semantics.faults);
    let option = |nan: Option<u64>| match nan {
        Some(nan) => {
            let nan = hex(nan);
            quote!(Some(#nan))
        }
        None => quote!(None),
    };
    let (nan16, nan32) = (option(semantics.nan16.map(u64::from)), option(semantics.nan32.map(u64::from)));
    let nan64 = option(semantics.nan64);
    let helpers = helpers();
    let path = match &semantics.path {
        Some(found) => {
            let found = path(found);
            quote!(Some(#found))
        }
        None => quote!(None),
    };
    let facts = facts(semantics);
    let pc_bits = Literal::u8_unsuffixed(semantics.pc_bits);
    quote! {
        /// The meaning of the instructions, as typed graphs.
        pub static SEMANTICS: &super::__rt::semantics::Semantics = &{
            #helpers
            Semantics {
                operations: &[#(#operations),*],
                intrinsics: &[#(#intrinsics),*],
                states: &[#(#states),*],
                spaces: &[#(#spaces),*],
                faults: &[#(#faults),*],
                nan16: #nan16,
                nan32: #nan32,
                nan64: #nan64,
                pc_bits: #pc_bits,
                path: #path,
                #facts
            }
        };
    }
}

/// Registers that an intrinsic accesses.
fn registers(registers: &Registers) -> TokenStream {
    let Registers { first, name, bank, count, times, writes } = *registers;
    let (first, times) = (Literal::u8_unsuffixed(first), Literal::u8_unsuffixed(times));
    let bank = option(bank.map(Literal::u16_unsuffixed).map(|bank| quote!(#bank)));
    let count = option(count.map(Literal::u8_unsuffixed).map(|count| quote!(#count)));
    quote! {
        super::__rt::semantics::Registers {
            first: #first, name: #name, bank: #bank, count: #count, times: #times, writes: #writes
        }
    }
}

/// The items that generated operations use.
pub(crate) fn helpers() -> TokenStream {
    quote! {
        // Some operations and types have the same name. The types take precedence, since they are imported by name.
        #[allow(unused_imports, reason = "not every set has them all")]
        use super::__rt::semantics::{
            Class, Effects, Intrinsic, Modifier, Node, Op, Operation, Semantics, State, Type,
        };
        use Op::*;
        const fn n(op: Op, imm: u16, ty: Type, args: [u16; 4]) -> Node {
            Node { op, imm, ty, args }
        }
        #[allow(dead_code, reason = "not every set has them all")]
        const fn b(bits: u8, lanes: u8) -> Type {
            Type { class: Class::Bool, bits, lanes }
        }
        #[allow(dead_code, reason = "not every set has them all")]
        const fn u(bits: u8, lanes: u8) -> Type {
            Type { class: Class::Unsigned, bits, lanes }
        }
        #[allow(dead_code, reason = "not every set has them all")]
        const fn i(bits: u8, lanes: u8) -> Type {
            Type { class: Class::Signed, bits, lanes }
        }
        #[allow(dead_code, reason = "not every set has them all")]
        const fn f(bits: u8, lanes: u8) -> Type {
            Type { class: Class::Float, bits, lanes }
        }
    }
}

/// Generates an operation, which uses the items of [`helpers`].
pub(crate) fn operation(operation: &Operation) -> TokenStream {
    let text = operation.text;
    let nodes = operation.nodes.iter().map(node);
    let lists = operation.lists.iter().map(|n| Literal::u16_unsuffixed(*n));
    let constants = operation.constants.iter().map(|c| hex(*c));
    let modifiers = operation.modifiers.iter().map(|modifier| match modifier {
        Modifier::Form(i) => {
            let i = Literal::u8_unsuffixed(*i);
            quote!(Modifier::Form(#i))
        }
        Modifier::Suffix(k, j) => {
            let (k, j) = (Literal::u8_unsuffixed(*k), Literal::u8_unsuffixed(*j));
            quote!(Modifier::Suffix(#k, #j))
        }
        Modifier::Field(slot, field) => {
            let (slot, field) = (Literal::u8_unsuffixed(*slot), Literal::u8_unsuffixed(*field));
            quote!(Modifier::Field(#slot, #field))
        }
        Modifier::Present(slot) => {
            let slot = Literal::u8_unsuffixed(*slot);
            quote!(Modifier::Present(#slot))
        }
        Modifier::Repetition => quote!(Modifier::Repetition),
        Modifier::Repetitions => quote!(Modifier::Repetitions),
    });
    let intrinsics = operation.intrinsics.iter().map(|n| Literal::u16_unsuffixed(*n));
    quote! {
        Operation {
            text: #text,
            nodes: &[#(#nodes),*],
            lists: &[#(#lists),*],
            constants: &[#(#constants),*],
            modifiers: &[#(#modifiers),*],
            intrinsics: &[#(#intrinsics),*],
        }
    }
}

fn path(path: &DataPath) -> TokenStream {
    let fields = |fields: Fields| {
        let fields = fields.iter().map(|(field, values)| {
            let field = Literal::u8_unsuffixed(*field);
            let values = values.iter().map(|value| Literal::i64_unsuffixed(*value));
            quote!((#field, &[#(#values),*]))
        });
        quote!(&[#(#fields),*])
    };
    let before = option(path.before.as_ref().map(operation));
    let mask = option(path.mask.map(|state| {
        let state = Literal::u16_unsuffixed(state);
        quote!(#state)
    }));
    let (everyone, in_turn) = (fields(path.everyone), fields(path.in_turn));
    let operation = operation(&path.path);
    let roles = path.roles;
    let wires = path.wires.iter().map(|(operand, state)| {
        let (operand, state) = (Literal::u8_unsuffixed(*operand), Literal::u16_unsuffixed(*state));
        quote!((#operand, #state))
    });
    let local = Literal::u16_unsuffixed(path.local);
    let (slot, field) = (Literal::u8_unsuffixed(path.repeats.0), Literal::u8_unsuffixed(path.repeats.1));
    let stays = path.stays.iter().map(|stays| {
        let (operands, slot) = (hex(stays.operands), Literal::u8_unsuffixed(stays.slot));
        let (when, unless) = (fields(stays.when), fields(stays.unless));
        quote!(super::__rt::semantics::group::Stays { operands: #operands, slot: #slot, when: #when, unless: #unless })
    });
    quote! {
        super::__rt::semantics::group::DataPath {
            path: #operation,
            roles: &[#(#roles),*],
            wires: &[#(#wires),*],
            local: #local,
            repeats: (#slot, #field),
            stays: &[#(#stays),*],
            before: #before,
            mask: #mask,
            everyone: #everyone,
            in_turn: #in_turn,
        }
    }
}

fn node(node: &Node) -> TokenStream {
    let op = format_ident!("{}", format!("{:?}", node.op));
    let imm = Literal::u16_unsuffixed(node.imm);
    let ty = type_of(node.ty);
    let args = node.args.iter().map(|arg| Literal::u16_unsuffixed(*arg));
    quote!(n(#op, #imm, #ty, [#(#args),*]))
}

fn type_of(ty: Type) -> TokenStream {
    let name = match ty.class {
        Class::Bool => quote!(b),
        Class::Unsigned => quote!(u),
        Class::Signed => quote!(i),
        Class::Float => quote!(f),
    };
    let (bits, lanes) = (Literal::u8_unsuffixed(ty.bits), Literal::u8_unsuffixed(ty.lanes));
    quote!(#name(#bits, #lanes))
}

/// Tokens for the fields of the static tables that hold the facts.
fn facts(semantics: &Semantics) -> TokenStream {
    let fidelity = semantics.fidelity.iter().map(|found| {
        let Fidelity { instructions, class, detail, evidence, note } = found;
        let instructions = instructions.iter().map(|opcode| Literal::u16_unsuffixed(*opcode));
        let class = format_ident!("{}", format!("{class:?}"));
        quote! {
            super::__rt::semantics::facts::Fidelity {
                instructions: &[#(#instructions),*],
                class: super::__rt::semantics::facts::FidelityClass::#class,
                detail: #detail,
                evidence: #evidence,
                note: #note,
            }
        }
    });
    let preloads = semantics.preloads.iter().map(|preload| {
        let Preload { name, doc, first, values, uniform } = preload;
        let first = Literal::u16_unsuffixed(*first);
        let uniform = uniform.iter().map(|register| Literal::u16_unsuffixed(*register));
        let values = values.iter().map(|(name, doc)| quote!((#name, #doc)));
        quote! {
            super::__rt::semantics::facts::Preload {
                name: #name,
                doc: #doc,
                first: #first,
                values: &[#(#values),*],
                uniform: &[#(#uniform),*]
            }
        }
    });
    let callees = semantics.callees.iter().map(|callee| {
        let Callee { name, doc, instruction, target, addresses, link, clobbers } = callee;
        let addresses = addresses.iter().map(|(name, values)| quote!((#name, &[#(#values),*])));
        let link = Literal::u16_unsuffixed(*link);
        let clobbers = clobbers.iter().map(|register| Literal::u16_unsuffixed(*register));
        quote! {
            super::__rt::semantics::facts::Callee {
                name: #name,
                doc: #doc,
                instruction: #instruction,
                target: #target,
                addresses: &[#(#addresses),*],
                link: #link,
                clobbers: &[#(#clobbers),*]
            }
        }
    });
    let flow = semantics.flow.iter().map(|flow| {
        let Flow { instruction, modifier, value, name, sends, waits, waits_for_itself, reconverges, discards, ends } =
            *flow;
        let value = Literal::u64_unsuffixed(value);
        let [sends, waits] = [sends, waits].map(Literal::u8_unsuffixed);
        quote! {
            super::__rt::semantics::facts::Flow {
                instruction: #instruction,
                modifier: #modifier,
                value: #value,
                name: #name,
                sends: #sends,
                waits: #waits,
                waits_for_itself: #waits_for_itself,
                reconverges: #reconverges,
                discards: #discards,
                ends: #ends,
            }
        }
    });
    let last_read = semantics.last_read;
    quote! {
        fidelity: &[#(#fidelity),*],
        preloads: &[#(#preloads),*],
        callees: &[#(#callees),*],
        flow: &[#(#flow),*],
        last_read: #last_read,
    }
}

pub(super) fn option(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(Some(#value)),
        None => quote!(None),
    }
}
