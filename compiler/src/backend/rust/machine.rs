//! Tables of machines as Rust.

use isaforge_core::machine::{Divergence, Hardware, Register, Service};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::backend::rust::semantics::{helpers, operation, option};

/// Generates a static `HARDWARE` and a type `Machine`, for a module next to one with a static `SEMANTICS`.
pub fn emit(hardware: &Hardware) -> TokenStream {
    let lanes = Literal::u8_unsuffixed(hardware.lanes);
    let lane_count = Literal::usize_unsuffixed(hardware.lanes.into());
    let divergence = match hardware.divergence {
        Divergence::Refused => quote!(Refused),
        Divergence::LowestFirst => quote!(LowestFirst),
        Divergence::Masked => quote!(Masked),
        Divergence::Together => quote!(Together),
    };
    let (unit, aligned) = (Literal::u8_unsuffixed(hardware.unit), hardware.aligned);
    let elf = option(hardware.elf.map(|elf| {
        let elf = Literal::u16_unsuffixed(elf);
        quote!(#elf)
    }));
    let banks = hardware.banks.iter().map(|bank| {
        let (count, width) = (Literal::u32_unsuffixed(bank.count), Literal::u16_unsuffixed(bank.width));
        let (open, close, names, uniform) = (bank.open, bank.close, bank.names, bank.uniform);
        let also = bank.also.iter().map(|(name, index)| {
            let index = Literal::u32_unsuffixed(*index);
            quote!((#name, #index))
        });
        let zero = option(bank.zero.map(|zero| {
            let zero = Literal::u32_unsuffixed(zero);
            quote!(#zero)
        }));
        let holds = bank.holds.iter().map(|(number, value)| {
            let (number, value) = (Literal::u32_unsuffixed(*number), Literal::u64_unsuffixed(*value));
            quote!((#number, #value))
        });
        let (fixed, stays, live_out) = (bank.fixed, bank.stays, bank.live_out);
        let plus = option(bank.plus.map(|state| {
            let state = Literal::u16_unsuffixed(state);
            quote!(#state)
        }));
        quote! {
            machine::Bank {
                count: #count,
                width: #width,
                open: #open,
                close: #close,
                names: &[#(#names),*],
                also: &[#(#also),*],
                zero: #zero,
                uniform: #uniform,
                holds: &[#(#holds),*],
                fixed: #fixed,
                stays: #stays,
                live_out: #live_out,
                plus: #plus,
            }
        }
    });
    let aliases = hardware.aliases.iter().map(|(state, alias)| {
        let (state, alias) = (Literal::u16_unsuffixed(*state), register(*alias));
        quote!((#state, #alias))
    });
    let bits = hardware.bits.iter().map(|(state, of)| {
        let (state, of) = (Literal::u16_unsuffixed(*state), Literal::u16_unsuffixed(*of));
        quote!((#state, #of))
    });
    let uniform = hardware.uniform.iter().map(|state| Literal::u16_unsuffixed(*state));
    let readings = hardware.readings.iter().map(|reading| {
        let kind = Literal::u16_unsuffixed(reading.kind);
        let alternative = reading.alternative;
        let operation = operation(&reading.operation);
        quote!(machine::Reading { kind: #kind, alternative: #alternative, operation: #operation })
    });
    let calls = hardware.calls.iter().map(|call| {
        let (intrinsic, number) = (Literal::u16_unsuffixed(call.intrinsic), register(call.number));
        let services = call.services.iter().map(|(number, known)| {
            let (number, known) = (Literal::u64_unsuffixed(*number), service(*known));
            quote!((#number, #known))
        });
        quote!(machine::Call { intrinsic: #intrinsic, number: #number, services: &[#(#services),*] })
    });
    let program = Literal::u32_unsuffixed(hardware.program);
    let discards = hardware.discards.iter().map(|(kind, alternative)| {
        let kind = Literal::u16_unsuffixed(*kind);
        quote!((#kind, #alternative))
    });
    let spaces = hardware.spaces.iter().map(|space| {
        let (index, size) = (Literal::u16_unsuffixed(space.space), Literal::u32_unsuffixed(space.size));
        let open = space.open;
        quote!(machine::Space { space: #index, size: #size, open: #open })
    });
    let intrinsics = hardware.intrinsics.iter().map(|performed| {
        let intrinsic = Literal::u16_unsuffixed(performed.intrinsic);
        let operation = operation(&performed.operation);
        quote!(machine::Performed { intrinsic: #intrinsic, operation: #operation })
    });
    let bursts = hardware.bursts.iter().map(|burst| {
        let (intrinsic, stores) = (Literal::u16_unsuffixed(burst.intrinsic), burst.stores);
        quote!(machine::Burst { intrinsic: #intrinsic, stores: #stores })
    });
    let unmasks = option(hardware.unmasks.map(|intrinsic| {
        let intrinsic = Literal::u16_unsuffixed(intrinsic);
        quote!(#intrinsic)
    }));
    let start = option(hardware.start.as_ref().map(operation));
    let named = hardware.named.iter().map(|named| {
        option(named.map(|named| {
            let (first, index) = (register(named.first), option(named.index.map(register)));
            quote!(machine::Named { first: #first, index: #index })
        }))
    });
    let texts = !(hardware.readings.is_empty() && hardware.intrinsics.is_empty()) || hardware.start.is_some();
    let helpers = texts.then(helpers);
    quote! {
        /// The machine that executes programs: everything that the meaning of instructions leaves open.
        pub static HARDWARE: &super::__rt::machine::Hardware = &{
            use super::__rt::machine;
            #helpers
            machine::Hardware {
                lanes: #lanes,
                divergence: machine::Divergence::#divergence,
                unit: #unit,
                aligned: #aligned,
                elf: #elf,
                program: #program,
                banks: &[#(#banks),*],
                aliases: &[#(#aliases),*],
                bits: &[#(#bits),*],
                uniform: &[#(#uniform),*],
                readings: &[#(#readings),*],
                discards: &[#(#discards),*],
                spaces: &[#(#spaces),*],
                calls: &[#(#calls),*],
                intrinsics: &[#(#intrinsics),*],
                bursts: &[#(#bursts),*],
                unmasks: #unmasks,
                start: #start,
                named: &[#(#named),*],
            }
        };
        super::__rt::define_machine!(super::ISA, SEMANTICS, HARDWARE, #lane_count);
    }
}

fn register(register: Register) -> TokenStream {
    let (bank, index) = (Literal::u16_unsuffixed(register.bank), Literal::u32_unsuffixed(register.index));
    quote!(machine::Register { bank: #bank, index: #index })
}

fn service(known: Service) -> TokenStream {
    match known {
        Service::Write { stream, address, size, result } => {
            let (stream, result) = (option(stream.map(register)), option(result.map(register)));
            let (address, size) = (register(address), register(size));
            quote!(machine::Service::Write { stream: #stream, address: #address, size: #size, result: #result })
        }
        Service::Exit { status } => {
            let status = register(status);
            quote!(machine::Service::Exit { status: #status })
        }
    }
}
