//! Which instructions become rows.

/// A filter on instructions that depends only on their forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Whether each form is kept, by opcode.
    pub forms: Vec<bool>,
    /// Whether invalid instructions are kept.
    pub invalid: bool,
}

impl Keep {
    #[inline(always)]
    pub(super) fn takes(&self, opcode: Option<u16>) -> bool {
        match opcode {
            Some(opcode) => self.forms.get(usize::from(opcode)).is_some_and(|kept| *kept),
            None => self.invalid,
        }
    }
}
