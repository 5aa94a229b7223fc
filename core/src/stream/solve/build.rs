//! Builds instructions from values of their fields.

use super::{Frame, Steps, asked, solve};
use crate::bits::ones;
use crate::stream::decode::{Decoded, Engine, Scope};
use crate::stream::table::{Layout, Role, Source};
use crate::stream::wide::Wide;

impl Engine {
    /// Builds the instruction of a layout from values of its fields; other fields have their defaults. `None` when a
    /// value does not fit or conflicts with others.
    pub fn build(&self, layout: u16, values: &[(u8, u64)]) -> Option<Decoded> {
        let found = self.stream.layouts.get(usize::from(layout))?;
        self.complete(layout, Frame::new(found), values)
    }

    /// Builds the bits of an operand from values of the fields of its layout, in an instruction of `len` bytes; other
    /// fields have their defaults. `None` when a value does not fit or conflicts with others.
    pub fn build_operand(&self, layout: &'static Layout, len: u8, values: &[(u8, u64)]) -> Option<u64> {
        let frame = Frame { len: Some(len), ..Frame::new(layout) }.given(values)?;
        let mut found = None;
        solve(*self, &Steps::default(), &frame, &mut |frame| {
            found = Some(frame.word().get(0, 64));
            true
        });
        found
    }

    /// Changes the value of one field of an instruction. `None` when this is impossible.
    pub fn with(&self, decoded: &Decoded, field: u8, value: u64) -> Option<Decoded> {
        let scope = self.scope(decoded);
        let fields = scope.layout.fields;
        // Fields that the inverse depends on keep their values.
        let leaves = fields.get(usize::from(field))?.leaves & !asked(*self, scope.layout, field);
        let others =
            fields.iter().zip(0u8..).filter(|(f, i)| matches!(f.source, Source::Bits(_)) && leaves >> i & 1 == 0);
        let mut frame = Frame::new(scope.layout);
        others.for_each(|(_, i)| _ = frame.set(i, scope.value(i)));
        let made = self.complete(decoded.layout, frame, &[(field, value)])?;
        let kept = scope.layout.ignored;
        Some(Decoded { word: made.word & !kept | decoded.word & kept, ..made })
    }

    fn complete(&self, layout: u16, frame: Frame, values: &[(u8, u64)]) -> Option<Decoded> {
        let frame = frame.given(values)?;
        let mut found = None;
        solve(*self, &Steps::default(), &frame, &mut |frame| {
            found = frame.settled(*self, layout);
            found.is_some()
        });
        found
    }
}

impl Frame {
    /// The frame with values of its fields. `None` when a value does not fit or conflicts with others.
    fn given(mut self, values: &[(u8, u64)]) -> Option<Frame> {
        let fits = |field: u8, value: u64| {
            let field = self.layout.fields.get(usize::from(field));
            field.is_some_and(|field| field.extended(value & ones(field.width.into())) == value)
        };
        let fit = values.iter().all(|(field, value)| fits(*field, *value));
        (fit && values.iter().all(|(field, value)| self.set(*field, *value))).then_some(self)
    }

    /// The instruction with these values, if it decodes to the layout that was read.
    pub(in crate::stream) fn settled(&self, engine: Engine, index: u16) -> Option<Decoded> {
        let layout = self.layout;
        let mut word = self.word();
        let len = self.length(engine, &word)?;
        word = word & Wide::ones(8 * u32::from(len));
        let (own, own_len) = engine.find(&word).ok()?;
        let decoded = Decoded { layout: own, word, len };
        let scope = engine.scope(&decoded);
        let same = match layout.role {
            Role::Own => own == index,
            _ => scope.layout.opcode == layout.opcode,
        };
        let read = Scope { layout, ..scope };
        (same && own_len == len && read.fits() && self.holds(&read) && scope.validate().is_ok()).then_some(decoded)
    }

    /// The length in bytes that a word has in this layout.
    pub(super) fn length(&self, engine: Engine, word: &Wide) -> Option<u8> {
        let layout = self.layout;
        let scope = Scope { engine, layout, word, len: (layout.bits / 8) as u8, outer: None };
        match layout.length {
            None => Some(scope.len),
            Some(length) => u8::try_from(scope.expression(length)).ok().filter(|len| *len <= engine.stream.longest),
        }
    }
}
