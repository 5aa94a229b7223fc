//! Names of the spec language as Rust identifiers.

use std::collections::HashSet;

use proc_macro2::{Ident, Span};

/// Words of a name: split where it is not alphanumeric, each with a capital first; all-capital words are lowered.
fn words(name: &str) -> impl Iterator<Item = String> + '_ {
    name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).map(|word| {
        let shouting = !word.chars().any(|c| c.is_ascii_lowercase());
        let mut chars = word.chars();
        let first = chars.next().map(|c| c.to_ascii_uppercase());
        let rest = chars.map(|c| if shouting { c.to_ascii_lowercase() } else { c });
        first.into_iter().chain(rest).collect()
    })
}

/// `GLOW.f32` as `GlowF32`, `Swizzles (16-bit)` as `Swizzles16Bit`, `16.32` as `_16_32`.
pub(crate) fn pascal(name: &str) -> String {
    let mut result = String::new();
    for word in words(name) {
        // Two numbers side by side would run together.
        if result.ends_with(|c: char| c.is_ascii_digit()) && word.starts_with(|c: char| c.is_ascii_digit()) {
            result.push('_');
        }
        result.push_str(&word);
    }
    if result.is_empty() || result.starts_with(|c: char| c.is_ascii_digit()) {
        result.insert(0, '_');
    }
    result
}

/// `GLOW.f32` as `glow_f32`, `DimFloat16` as `dim_float16`.
pub(crate) fn snake(name: &str) -> String {
    let mut result = String::new();
    for word in name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()) {
        let mixed = word.chars().any(|c| c.is_ascii_lowercase());
        if !result.is_empty() {
            result.push('_');
        }
        let mut before = 'A';
        for c in word.chars() {
            if mixed && c.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit()) {
                result.push('_');
            }
            result.push(c.to_ascii_lowercase());
            before = c;
        }
    }
    if result.is_empty() || result.starts_with(|c: char| c.is_ascii_digit()) {
        result.insert(0, '_');
    }
    result
}

/// An identifier; a keyword gets an underscore behind it.
pub(crate) fn ident(name: &str) -> Ident {
    match syn::parse_str::<Ident>(name) {
        Ok(ident) => ident,
        Err(_) => Ident::new(&format!("{name}_"), Span::call_site()),
    }
}

/// Hands out identifiers, each once: a name that is taken gets a suffix.
#[derive(Default)]
pub(crate) struct Namespace(HashSet<String>);

impl Namespace {
    pub(crate) fn with(reserved: &[&str]) -> Self {
        Namespace(reserved.iter().map(|s| (*s).to_owned()).collect())
    }

    pub(crate) fn take(&mut self, name: String, suffix: &str) -> Ident {
        let mut name = name;
        while !self.0.insert(name.clone()) {
            name.push_str(suffix);
        }
        ident(&name)
    }

    /// An accessor and its setter, `with_` and the name; neither is taken.
    pub(crate) fn take_with_setter(&mut self, name: String, suffix: &str) -> (Ident, Ident) {
        let mut name = name;
        let setter = |name: &str| format!("with_{name}");
        while self.0.contains(&name) || self.0.contains(&setter(&name)) {
            name.push_str(suffix);
        }
        self.0.insert(setter(&name));
        let setter = ident(&setter(&name));
        (self.take(name, suffix), setter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers() {
        assert_eq!(pascal("GLOW.f32"), "GlowF32");
        assert_eq!(pascal("V2X32_TO_V2X16"), "V2x32ToV2x16");
        assert_eq!(pascal("Swizzles (16-bit)"), "Swizzles16Bit");
        assert_eq!(pascal("16.32"), "_16_32");
        assert_eq!(pascal("DimFloat16"), "DimFloat16");
        assert_eq!(snake("DimFloat16"), "dim_float16");
        assert_eq!(snake("SET_ALL_AT_ONCE.f32"), "set_all_at_once_f32");
        assert_eq!(snake("BrightenInt16u"), "brighten_int16u");
        assert_eq!(ident("type").to_string(), "type_");
    }

    #[test]
    fn an_accessor_leaves_room_for_its_setter() {
        let mut names = Namespace::default();
        let pairs = ["a", "with_a", "with_b", "b", "type"].map(|name| {
            let (getter, setter) = names.take_with_setter(name.to_owned(), "_x");
            format!("{getter} {setter}")
        });
        assert_eq!(
            pairs,
            ["a with_a", "with_a_x with_with_a_x", "with_b with_with_b", "b_x with_b_x", "type_ with_type"]
        );
    }

    #[test]
    fn a_taken_name_gets_a_suffix() {
        let mut names = Namespace::with(&["Opcode"]);
        assert_eq!(names.take("Opcode".into(), "Form").to_string(), "OpcodeForm");
        assert_eq!(names.take("Mux".into(), "Form").to_string(), "Mux");
        assert_eq!(names.take("Mux".into(), "Form").to_string(), "MuxForm");
    }
}
