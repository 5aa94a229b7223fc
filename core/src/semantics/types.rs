//! Types of values.

use core::fmt;

use crate::bits::ones;
use crate::float::Format;

/// The interpretation of a component's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// A boolean of one bit.
    Bool,
    /// An unsigned integer.
    Unsigned,
    /// A signed integer in two's complement.
    Signed,
    /// An IEEE 754 floating-point number.
    Float,
}

/// A scalar or a short vector: `u32`, `f16x2`, `bool`. All components together have at most 64 bits; the first
/// component is in the lowest bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Type {
    /// The interpretation of each component.
    pub class: Class,
    /// Width of a component in bits: 1 to 64 for integers, 16, 32 or 64 for floats, 1 for booleans.
    pub bits: u8,
    /// The number of components.
    pub lanes: u8,
}

impl Type {
    /// A boolean.
    pub const BOOL: Type = Type { class: Class::Bool, bits: 1, lanes: 1 };
    /// A 32-bit word.
    pub const U32: Type = Type::unsigned(32);
    /// A 64-bit word.
    pub const U64: Type = Type::unsigned(64);

    /// An unsigned integer.
    pub const fn unsigned(bits: u8) -> Type {
        Type { class: Class::Unsigned, bits, lanes: 1 }
    }

    /// A signed integer.
    pub const fn signed(bits: u8) -> Type {
        Type { class: Class::Signed, bits, lanes: 1 }
    }

    /// A float.
    pub const fn float(bits: u8) -> Type {
        Type { class: Class::Float, bits, lanes: 1 }
    }

    /// The type of one component.
    #[inline]
    pub const fn component(self) -> Type {
        Type { lanes: 1, ..self }
    }

    /// A vector with `lanes` of these components.
    #[inline]
    pub const fn times(self, lanes: u8) -> Type {
        Type { lanes, ..self }
    }

    /// The type of a comparison of such values: a boolean for each component.
    #[inline]
    pub const fn truth(self) -> Type {
        Type { class: Class::Bool, bits: 1, lanes: self.lanes }
    }

    /// Total width of all components in bits.
    #[inline]
    pub const fn size(self) -> u32 {
        self.bits as u32 * self.lanes as u32
    }

    /// A mask of all bits of a value.
    #[inline]
    pub const fn mask(self) -> u64 {
        ones(self.size())
    }

    /// Whether it is an integer type.
    #[inline]
    pub const fn is_integer(self) -> bool {
        matches!(self.class, Class::Unsigned | Class::Signed)
    }

    /// Whether it is a float type.
    #[inline]
    pub const fn is_float(self) -> bool {
        matches!(self.class, Class::Float)
    }

    /// The format of a float component.
    #[inline]
    pub const fn format(self) -> Format {
        match self.bits {
            16 => Format::F16,
            32 => Format::F32,
            _ => Format::F64,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.class {
            Class::Bool => f.write_str("bool")?,
            Class::Unsigned => write!(f, "u{}", self.bits)?,
            Class::Signed => write!(f, "i{}", self.bits)?,
            Class::Float => write!(f, "f{}", self.bits)?,
        }
        if self.lanes > 1 {
            write!(f, "x{}", self.lanes)?;
        }
        Ok(())
    }
}
