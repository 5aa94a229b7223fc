//! Values and the fields that hold them.
//!
//! E0103: two values with the same bits. E0108: a value that the field cannot hold.

use std::collections::HashMap;

use isaforge_core::bits::ones;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{Isa, Modifier, Type};

/// Applies the rules.
pub fn check(isa: &Isa, out: &mut Diagnostics) {
    for e in &isa.enums {
        let mut first = HashMap::new();
        for value in &e.values {
            if let Some(earlier) = first.insert(value.bits, value.span) {
                let message = format!("two values of `{}` are {}", e.name, value.bits);
                out.push(Diagnostic::error("E0103", value.span, message).secondary(earlier, "the other one"));
            }
            if let Some(width) = e.bits
                && value.bits > ones(u32::from(width))
            {
                let message = format!("the value `{}` is {} and does not fit {width} bits", value.name, value.bits);
                out.push(Diagnostic::error("E0108", value.span, message).secondary(e.span, "the enum says so"));
            }
        }
    }
    let mut told = std::collections::HashSet::new();
    for modifier in isa.forms.iter().flat_map(|f| f.modifiers.iter().chain(f.operands.iter().flat_map(|o| &o.suffixes))) {
        if told.insert((modifier.span, modifier.bits.clone())) {
            check_field(isa, modifier, out);
        }
    }
}

fn check_field(isa: &Isa, modifier: &Modifier, out: &mut Diagnostics) {
    let width = modifier.bits.width();
    match modifier.ty {
        Type::Flag if width != 1 => {
            let message = format!("the flag `{}` has {width} bits", modifier.name);
            out.push(Diagnostic::error("E0108", modifier.span, message).help("give one bit, or name an `enum`"));
        }
        Type::Enum(e) => {
            let e = &isa.enums[e];
            if let Some(value) = e.values.iter().find(|v| v.bits > ones(width)) {
                let message = format!("`{}` has {width} bits, but the value `{}` is {}", modifier.name, value.name, value.bits);
                out.push(Diagnostic::error("E0108", modifier.span, message).secondary(value.span, "this value does not fit"));
            }
            if let Some(declared) = e.bits.filter(|b| u32::from(*b) != width) {
                let message = format!("`{}` has {width} bits, but `{}` has {declared}", modifier.name, e.name);
                out.push(Diagnostic::error("E0108", modifier.span, message).secondary(e.span, "the enum says so"));
            }
        }
        _ => {}
    }
}
