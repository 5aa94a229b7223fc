//! From the model to the tables of `isaforge-core`.

use isaforge_core::semantics as core;

use super::Semantics;
use crate::expression::scope::Parameter;

/// The tables. They live as long as the program, as those of [`crate::lower`] do.
pub fn lower(semantics: &Semantics) -> &'static core::Semantics {
    let library = &semantics.library;
    let nan = |width: u8| semantics.nan.iter().find(|(bits, _)| *bits == width).map(|(_, nan)| *nan);
    let operations = semantics.operations.iter().map(|operation| match operation {
        Some(operation) => core::Operation {
            text: text(&operation.text),
            nodes: slice(operation.built.nodes.iter().copied()),
            lists: slice(operation.built.lists.iter().copied()),
            constants: slice(operation.built.constants.iter().copied()),
            modifiers: slice(operation.built.modifiers.iter().copied()),
            intrinsics: slice(operation.built.intrinsics.iter().copied()),
        },
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
    }))
}

fn text(s: &str) -> &'static str {
    Box::leak(s.to_owned().into_boxed_str())
}

fn slice<T>(items: impl Iterator<Item = T>) -> &'static [T] {
    Box::leak(items.collect::<Vec<_>>().into_boxed_slice())
}
