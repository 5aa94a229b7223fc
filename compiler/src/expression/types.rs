//! The syntax of types.

use isaforge_core::semantics::{Class, Type};

/// Parses `bool`, `u32`, `i12`, `f16x2`. `None` for anything else.
pub fn parse_type(text: &str) -> Option<Type> {
    let (component, lanes) = match text.split_once('x') {
        Some((component, lanes)) => (component, number(lanes).filter(|n| (2..=64).contains(n))?),
        None => (text, 1),
    };
    let ty = match component.split_at_checked(1)? {
        _ if component == "bool" => Type::BOOL,
        ("u", bits) => Type { class: Class::Unsigned, bits: number(bits).filter(|n| (1..=64).contains(n))?, lanes: 1 },
        ("i", bits) => Type { class: Class::Signed, bits: number(bits).filter(|n| (1..=64).contains(n))?, lanes: 1 },
        ("f", "16") => Type::float(16),
        ("f", "32") => Type::float(32),
        ("f", "64") => Type::float(64),
        _ => return None,
    };
    let ty = ty.times(lanes);
    (ty.size() <= 64).then_some(ty)
}

fn number(text: &str) -> Option<u8> {
    if text.starts_with('0') || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_reads_as_it_prints() {
        for text in ["bool", "u32", "i12", "f16", "f64", "u8x4", "f16x4", "boolx2", "i1"] {
            assert_eq!(parse_type(text).map(|ty| ty.to_string()), Some(text.to_owned()));
        }
        for text in ["", "u", "u0", "u65", "f8", "u32x3", "u032", "x", "boolx65", "u8x1", "int"] {
            assert_eq!(parse_type(text), None, "{text}");
        }
    }
}
