//! From the model of semantics to the tables of `isaforge-core`.

use isaforge_core::semantics as core;

use super::model::{Path, Semantics};
use crate::expression::Built;
use crate::expression::scope::Parameter;
use crate::leak::{slice, text};

/// Lowers the semantics. The tables live until the program ends, like those of [`crate::lower`].
pub fn lower(semantics: &Semantics) -> &'static core::Semantics {
    let library = &semantics.library;
    let nan = |width: u8| semantics.nan.iter().find(|(bits, _)| *bits == width).map(|(_, nan)| *nan);
    let operations = semantics.operations.iter().map(|operation| match operation {
        Some(operation) => lower_graph(&operation.text, &operation.built),
        None => core::Operation { text: "", nodes: &[], lists: &[], constants: &[], modifiers: &[], intrinsics: &[] },
    });
    Box::leak(Box::new(core::Semantics {
        operations: slice(operations),
        intrinsics: slice(library.intrinsics.iter().map(|intrinsic| core::Intrinsic {
            name: text(&intrinsic.name),
            doc: text(&intrinsic.doc),
            parameters: slice(intrinsic.parameters.iter().map(|parameter| match parameter {
                Parameter::Value(ty) => *ty,
                Parameter::Operand => core::Type::unsigned(16),
            })),
            result: intrinsic.result,
            effects: intrinsic.effects,
            registers: slice(intrinsic.registers.iter().copied()),
        })),
        states: slice(library.states.iter().map(|state| core::State {
            name: text(&state.name),
            doc: text(&state.doc),
            ty: state.ty,
            count: state.count,
        })),
        spaces: slice(library.spaces.iter().map(|name| text(name))),
        faults: slice(library.faults.iter().map(|name| text(name))),
        nan16: nan(16).map(|nan| nan as u16),
        nan32: nan(32).map(|nan| nan as u32),
        nan64: nan(64),
        pc_bits: library.pc.map_or(32, |ty| ty.bits),
        path: semantics.path.as_ref().map(lower_path),
        fidelity: slice(semantics.facts.fidelity.iter().copied()),
        preloads: slice(semantics.facts.preloads.iter().copied()),
        callees: slice(semantics.facts.callees.iter().copied()),
        flow: slice(semantics.facts.flow.iter().copied()),
        last_read: semantics.facts.last_read,
    }))
}

/// Lowers a graph and its text.
pub(crate) fn lower_graph(source: &str, built: &Built) -> core::Operation {
    core::Operation {
        text: text(source),
        nodes: slice(built.nodes.iter().copied()),
        lists: slice(built.lists.iter().copied()),
        constants: slice(built.constants.iter().copied()),
        modifiers: slice(built.modifiers.iter().copied()),
        intrinsics: slice(built.intrinsics.iter().copied()),
    }
}

fn lower_path(path: &Path) -> core::group::DataPath {
    let fields = |fields: &[(usize, Vec<i64>)]| {
        slice(fields.iter().map(|(field, values)| (*field as u8, slice(values.iter().copied()))))
    };
    core::group::DataPath {
        path: lower_graph(&path.operation.text, &path.operation.built),
        roles: slice(path.roles.iter().map(|role| text(role))),
        wires: slice(path.wires.iter().map(|(operand, state)| (*operand as u8, *state as u16))),
        local: path.local as u16,
        repeats: (0, path.repeats as u8),
        stays: slice(path.stays.iter().map(|stays| core::group::Stays {
            operands: stays.operands.iter().fold(0, |set, operand| set | 1 << (operand & 63)),
            slot: stays.slot as u8,
            when: fields(&stays.when),
            unless: fields(&stays.unless),
        })),
        before: path.before.as_ref().map(|before| lower_graph(&before.text, &before.built)),
        mask: path.mask.map(|state| state as u16),
        everyone: fields(&path.everyone),
        in_turn: fields(&path.in_turn),
    }
}
