//! The inputs of a row.

use std::str::FromStr;

use super::error::VectorError;

/// An input, and whether it is written with more than 32 bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input {
    pub value: u64,
    pub wide: bool,
}

impl Input {
    pub fn word(value: u32) -> Self {
        Input { value: value.into(), wide: false }
    }
}

impl FromStr for Input {
    type Err = VectorError;

    fn from_str(text: &str) -> Result<Self, VectorError> {
        let text = text.trim();
        let value = digits(text).ok_or_else(|| VectorError::Input(text.to_owned()))?;
        Ok(Input { value, wide: text.len() > 8 })
    }
}

/// Parses one to sixteen hexadecimal digits.
pub(super) fn digits(text: &str) -> Option<u64> {
    let valid = text.len() <= 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    u64::from_str_radix(text, 16).ok().filter(|_| valid)
}
