//! How both revisions name what they refer to: types, enums that were renamed, and bits.

use isaforge_core::bits::Bits;
use isaforge_core::table::{Enum, Isa, Type};

/// The two revisions that names refer to.
pub(super) struct Compare {
    pub old: &'static Isa,
    pub new: &'static Isa,
}

impl Compare {
    pub(super) fn type_text(&self, isa: &'static Isa, ty: Type) -> String {
        match ty {
            Type::Flag => "a flag".to_owned(),
            Type::Decimal => "a decimal number".to_owned(),
            Type::Hex => "a hexadecimal number".to_owned(),
            Type::Signed => "a signed number".to_owned(),
            Type::Enum(e) => format!("`{}`", isa.enums[e as usize].name),
            Type::Constant(c) => format!("`{}`", isa.constants[c as usize].name),
            Type::Register(b) => format!("`{}`", isa.banks[b as usize].name),
        }
    }

    /// Whether types are the same: by name, or because an enum was only renamed.
    pub(super) fn same_type(&self, a: Type, b: Type) -> bool {
        match (a, b) {
            (Type::Enum(x), Type::Enum(y)) => {
                let (x, y) = (&self.old.enums[x as usize], &self.new.enums[y as usize]);
                x.name == y.name || renamed_enum(self.old, self.new, x).is_some_and(|r| std::ptr::eq(r, y))
            }
            _ => self.type_text(self.old, a) == self.type_text(self.new, b),
        }
    }
}

/// Formats bits, most significant piece first.
pub(in crate::diff) fn bits_text(bits: &Bits) -> String {
    let mut runs: Vec<String> = bits
        .pieces()
        .map(|(p, _)| match p.width {
            1 => p.at.to_string(),
            width => format!("{}..{}", (p.at + width).saturating_sub(1), p.at),
        })
        .collect();
    runs.reverse();
    match &runs[..] {
        [only] if bits.width() == 1 => format!("bit {only}"),
        [only] => format!("bits {only}"),
        _ => format!("bits [{}]", runs.join(", ")),
    }
}

/// The new enum with the same values as an old one that no longer exists, if its own name is new.
pub(super) fn renamed_enum(old: &'static Isa, new: &'static Isa, e: &Enum) -> Option<&'static Enum> {
    let values = |e: &Enum| e.values.iter().map(|v| (v.bits, v.name)).collect::<Vec<_>>();
    let known = |isa: &'static Isa, name: &str| isa.enums.iter().any(|e| e.name == name);
    let same = |n: &&Enum| !known(old, n.name) && values(n) == values(e) && n.default == e.default;
    if known(new, e.name) { None } else { new.enums.iter().find(same) }
}
