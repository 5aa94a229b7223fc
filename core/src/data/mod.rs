//! Tables as bytes, for programs that load their instruction set at startup.
//!
//! [`write()`] serialises an [`Architecture`] and [`read()`] restores it. Tables that only speed up decoding and printing
//! are left out: the restored tables give the same results on the slow path.
//!
//! The submodules `words`, `groups`, `streams` and `semantics` list the fields of every table once, and both directions
//! follow from that list. A table with a new field does not compile until the field is listed. Integers are written in
//! groups of seven bits, and each distinct text is written once.

mod groups;
mod semantics;
mod streams;
mod words;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::Tables;
use crate::machine::Hardware;
use crate::semantics::Semantics;

/// An instruction set, with what its instructions do and the machine that executes them.
#[derive(Clone, Copy, Debug)]
pub struct Architecture {
    /// The instruction set.
    pub tables: Tables,
    /// The semantics of its instructions, if known.
    pub semantics: Option<&'static Semantics>,
    /// The machine that executes its programs, if known.
    pub hardware: Option<&'static Hardware>,
}

/// The magic number. Its last byte is the format version, which changes with the tables.
const HEAD: &[u8] = b"isaforge\x02";

/// Serialises tables.
///
/// # Examples
///
/// ```
/// use isaforge_core::Tables;
/// use isaforge_core::data::{Architecture, read, write};
///
/// let bytes = write(&Architecture { tables: Tables::Words(isaforge_vpu::ISA), semantics: None, hardware: None });
/// let Some(Architecture { tables: Tables::Words(isa), .. }) = read(&bytes) else { unreachable!() };
/// assert_eq!((isa.name, isa.forms.len()), ("vpu", isaforge_vpu::Opcode::COUNT));
/// ```
pub fn write(architecture: &Architecture) -> Vec<u8> {
    let mut writer = Writer::default();
    architecture.tables.write(&mut writer);
    architecture.semantics.write(&mut writer);
    architecture.hardware.write(&mut writer);
    let mut out = HEAD.to_vec();
    number(writer.texts.len() as u64, &mut out);
    for text in &writer.texts {
        number(text.len() as u64, &mut out);
        out.extend_from_slice(text.as_bytes());
    }
    out.extend_from_slice(&writer.bytes);
    out
}

/// Restores tables from bytes written by [`write()`]. They are never freed. Returns `None` for any other bytes.
pub fn read(bytes: &[u8]) -> Option<Architecture> {
    let bytes: &'static [u8] = Box::leak(bytes.to_vec().into_boxed_slice());
    let mut reader = Reader { bytes: bytes.strip_prefix(HEAD)?, texts: Vec::new() };
    let count = reader.number()?;
    for _ in 0..count {
        let len = usize::try_from(reader.number()?).ok()?;
        let (text, rest) = reader.bytes.split_at_checked(len)?;
        reader.bytes = rest;
        reader.texts.push(core::str::from_utf8(text).ok()?);
    }
    let architecture = Architecture {
        tables: Data::read(&mut reader)?,
        semantics: Data::read(&mut reader)?,
        hardware: Data::read(&mut reader)?,
    };
    reader.bytes.is_empty().then_some(architecture)
}

/// Collects the output.
#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    texts: Vec<&'static str>,
    known: BTreeMap<&'static str, usize>,
}

/// Holds the remaining input.
struct Reader {
    bytes: &'static [u8],
    texts: Vec<&'static str>,
}

impl Reader {
    fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

fn number(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A value that can be written and read.
trait Data: Sized {
    fn write(&self, to: &mut Writer);
    fn read(from: &mut Reader) -> Option<Self>;
}

/// Implements [`Data`] for structs, given the list of their fields.
macro_rules! records {
    ($($name:ident { $($field:ident),* $(,)? })*) => { $(
        impl Data for $name {
            fn write(&self, to: &mut Writer) {
                let $name { $($field),* } = self;
                $(Data::write($field, to);)*
            }

            fn read(from: &mut Reader) -> Option<Self> {
                Some($name { $($field: Data::read(from)?),* })
            }
        }
    )* };
}

/// Implements [`Data`] for enums, given the list of their variants. Fields of tuple variants are named by number.
macro_rules! choices {
    ($($name:ident { $($number:literal: $variant:ident { $($field:tt: $bound:ident),* }),* $(,)? })*) => { $(
        impl Data for $name {
            fn write(&self, to: &mut Writer) {
                match self {
                    $($name::$variant { $($field: $bound),* } => {
                        to.bytes.push($number);
                        $(Data::write($bound, to);)*
                    })*
                }
            }

            fn read(from: &mut Reader) -> Option<Self> {
                let (number, rest) = from.bytes.split_first()?;
                from.bytes = rest;
                match number {
                    $($number => Some($name::$variant { $($field: Data::read(from)?),* }),)*
                    _ => None,
                }
            }
        }
    )* };
}

use {choices, records};

macro_rules! integers {
    ($($name:ty)*) => { $(
        impl Data for $name {
            fn write(&self, to: &mut Writer) {
                number(u64::from(*self), &mut to.bytes);
            }

            fn read(from: &mut Reader) -> Option<Self> {
                from.number()?.try_into().ok()
            }
        }
    )* };
}

integers!(u8 u16 u32 u64);

impl Data for i64 {
    fn write(&self, to: &mut Writer) {
        number(((*self << 1) ^ (*self >> 63)) as u64, &mut to.bytes);
    }

    fn read(from: &mut Reader) -> Option<Self> {
        let value = from.number()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }
}

impl Data for bool {
    fn write(&self, to: &mut Writer) {
        to.bytes.push((*self).into());
    }

    fn read(from: &mut Reader) -> Option<Self> {
        match from.number()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Data for &'static str {
    fn write(&self, to: &mut Writer) {
        let next = to.texts.len();
        let index = *to.known.entry(self).or_insert(next);
        if index == next {
            to.texts.push(self);
        }
        number(index as u64, &mut to.bytes);
    }

    fn read(from: &mut Reader) -> Option<Self> {
        let index = usize::try_from(from.number()?).ok()?;
        from.texts.get(index).copied()
    }
}

impl<T: Data> Data for &'static [T] {
    fn write(&self, to: &mut Writer) {
        number(self.len() as u64, &mut to.bytes);
        self.iter().for_each(|item| item.write(to));
    }

    fn read(from: &mut Reader) -> Option<Self> {
        let count = from.number()?;
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(T::read(from)?);
        }
        Some(Box::leak(items.into_boxed_slice()))
    }
}

impl<T: Data> Data for Option<T> {
    fn write(&self, to: &mut Writer) {
        self.is_some().write(to);
        self.iter().for_each(|value| value.write(to));
    }

    fn read(from: &mut Reader) -> Option<Self> {
        Some(if bool::read(from)? { Some(T::read(from)?) } else { None })
    }
}

impl<T: Data> Data for &'static T {
    fn write(&self, to: &mut Writer) {
        T::write(self, to);
    }

    fn read(from: &mut Reader) -> Option<Self> {
        Some(Box::leak(Box::new(T::read(from)?)))
    }
}

impl<T: Data, const N: usize> Data for [T; N] {
    fn write(&self, to: &mut Writer) {
        self.iter().for_each(|item| item.write(to));
    }

    fn read(from: &mut Reader) -> Option<Self> {
        let mut items = Vec::new();
        for _ in 0..N {
            items.push(T::read(from)?);
        }
        items.try_into().ok()
    }
}

impl<A: Data, B: Data> Data for (A, B) {
    fn write(&self, to: &mut Writer) {
        self.0.write(to);
        self.1.write(to);
    }

    fn read(from: &mut Reader) -> Option<Self> {
        Some((A::read(from)?, B::read(from)?))
    }
}

impl<A: Data, B: Data, C: Data> Data for (A, B, C) {
    fn write(&self, to: &mut Writer) {
        self.0.write(to);
        self.1.write(to);
        self.2.write(to);
    }

    fn read(from: &mut Reader) -> Option<Self> {
        Some((A::read(from)?, B::read(from)?, C::read(from)?))
    }
}

choices! {
    Tables { 0: Words { 0: isa }, 1: Groups { 0: isa }, 2: Streams { 0: engine } }
}
