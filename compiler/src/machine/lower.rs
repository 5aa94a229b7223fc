//! From the model of machines to the tables of `isaforge-core`.

use isaforge_core::machine as core;

use super::banks::banks;
use crate::leak::{slice, text};
use crate::model::Isa;
use crate::semantics::lower::lower_graph;

/// Lowers the machine. The tables live until the program ends, like those of [`crate::lower`].
///
/// Returns `None` if the specification does not define what instructions do.
pub fn lower(isa: &Isa) -> Option<&'static core::Hardware> {
    let machine = isa.machine.as_ref()?;
    let banks = banks(isa);
    let banks = banks.iter().zip(&machine.banks).map(|(bank, facts)| core::Bank {
        count: bank.count,
        width: bank.width,
        open: text(&bank.prints.0),
        close: text(&bank.prints.1),
        names: slice(bank.names.iter().map(|name| text(name))),
        also: slice(bank.also.iter().map(|(name, index)| (text(name), *index))),
        zero: facts.zero,
        uniform: facts.uniform,
        holds: slice(facts.holds.iter().copied()),
        fixed: facts.fixed,
        stays: facts.stays,
        live_out: facts.live_out,
        plus: facts.plus.map(|state| state as u16),
    });
    Some(Box::leak(Box::new(core::Hardware {
        lanes: machine.lanes,
        divergence: machine.divergence,
        unit: machine.unit,
        aligned: machine.aligned,
        elf: machine.elf,
        program: machine.program,
        banks: slice(banks),
        aliases: slice(machine.aliases.iter().map(|(state, register)| (*state as u16, *register))),
        bits: slice(machine.bits.iter().map(|(state, of)| (*state as u16, *of as u16))),
        uniform: slice(machine.uniform.iter().map(|state| *state as u16)),
        readings: slice(machine.readings.iter().map(|(kind, alternative, built)| core::Reading {
            kind: *kind as u16,
            alternative: text(alternative),
            operation: lower_graph("", built),
        })),
        discards: slice(machine.discards.iter().map(|(kind, alternative)| (*kind as u16, text(alternative)))),
        spaces: slice(machine.spaces.iter().copied()),
        calls: slice(machine.calls.iter().map(|call| core::Call {
            intrinsic: call.intrinsic as u16,
            number: call.number,
            services: slice(call.services.iter().copied()),
        })),
        intrinsics: slice(machine.intrinsics.iter().map(|(intrinsic, built)| core::Performed {
            intrinsic: *intrinsic as u16,
            operation: lower_graph("", built),
        })),
        bursts: slice(machine.bursts.iter().copied()),
        unmasks: machine.unmasks.map(|intrinsic| intrinsic as u16),
        start: machine.start.as_ref().map(|built| lower_graph("", built)),
        named: slice(machine.named.iter().copied()),
    })))
}
