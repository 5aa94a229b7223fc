//! From the model to the tables of `isaforge-core`.

use isaforge_core::semantics as core;

use super::Semantics;
use crate::expression::Built;
use crate::expression::scope::Parameter;

/// The tables. They live as long as the program, as those of [`crate::lower`] do.
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
        fidelity: slice(semantics.facts.fidelity.iter().copied()),
        preloads: slice(semantics.facts.preloads.iter().copied()),
        flow: slice(semantics.facts.flow.iter().copied()),
    }))
}

/// A graph and its text.
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

pub(crate) fn text(s: &str) -> &'static str {
    Box::leak(s.to_owned().into_boxed_str())
}

pub(crate) fn slice<T>(items: impl Iterator<Item = T>) -> &'static [T] {
    Box::leak(items.collect::<Vec<_>>().into_boxed_slice())
}
