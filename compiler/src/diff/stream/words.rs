//! How the words of an instruction decode: by proof, by a counterexample, or by sampling.

use isaforge_core::explain::streams::{enum_name, enums};
use isaforge_core::sample::Random;
use isaforge_core::stream::{Engine, Field, Layout, MAX_NESTING, Role, Source, Type, Wide, insert};
use isaforge_core::table::Enum;
use isaforge_core::text::Line;

use super::alike::{Alike, meet, open};
use super::generation::{Entry, active};
use crate::diff::difference::{Decoding, Reading};

/// A layout with at most this many open bits has all its words tried.
const MAX_OPEN: u32 = 16;
/// The number of words drawn at random if no proof is possible.
const DRAWS: usize = 512;
/// How many values of a field are tried.
const VALUES: u64 = 64;

/// The result for all words of an instruction.
pub(super) struct Judgement {
    pub decoding: Decoding,
    /// Bytes that read differently.
    pub example: Option<Vec<u8>>,
    /// The instructions of the other revision that decode words of this one, as far as words were tried.
    pub readers: Vec<u16>,
}

/// Two revisions, to be compared in this direction.
pub(super) struct Pair {
    pub old: Engine,
    pub new: Engine,
    alike: Alike,
}

/// How a revision decodes the bytes of one instruction.
pub(super) fn reading(engine: Engine, bytes: &[u8]) -> Reading {
    match engine.decode(bytes) {
        Ok(decoded) if usize::from(decoded.len) != bytes.len() => {
            Reading::Invalid(format!("the instruction has {} bytes", decoded.len))
        }
        Ok(decoded) => {
            let mut line = Line::new();
            engine.print(&decoded, &mut line);
            Reading::Text(line.as_str().to_owned())
        }
        Err(error) => Reading::Invalid(error.to_string()),
    }
}

impl Pair {
    pub(super) fn new(old: Engine, new: Engine) -> Pair {
        Pair { old, new, alike: Alike::new(old, new) }
    }

    /// Judges all words of an instruction of the old revision.
    pub(super) fn judge(&self, entry: &Entry) -> Judgement {
        let mut judgement = Judgement { decoding: Decoding::Alike, example: None, readers: Vec::new() };
        for layout in &entry.own {
            if self.alike.instruction(layout) {
                continue;
            }
            let complete = layout.length.is_none() && open(layout).count_ones() <= MAX_OPEN;
            let found = if complete {
                self.look(entry, all(layout), &mut judgement)
            } else {
                self.look(entry, self.draw(entry, layout).into_iter(), &mut judgement)
            };
            if found {
                judgement.decoding = Decoding::Different;
                return judgement;
            }
            if !complete {
                judgement.decoding = Decoding::Unproven;
            }
        }
        judgement
    }

    /// Looks for a word of the instruction that reads differently.
    fn look(&self, entry: &Entry, words: impl Iterator<Item = Wide>, judgement: &mut Judgement) -> bool {
        for word in words {
            let bytes = self.old.store(word);
            let Ok(decoded) = self.old.decode(&bytes) else { continue };
            if self.old.scope(&decoded).layout.opcode != entry.opcode {
                continue;
            }
            let bytes = bytes.get(..usize::from(decoded.len)).unwrap_or_default();
            if let Ok(other) = self.new.decode(bytes) {
                let reader = self.new.scope(&other).layout.opcode;
                if !judgement.readers.contains(&reader) {
                    judgement.readers.push(reader);
                }
            }
            if reading(self.old, bytes) != reading(self.new, bytes) {
                judgement.example = Some(bytes.to_vec());
                return true;
            }
        }
        false
    }

    /// The values of a field to which the revisions give different names; for a kind, the operands that hold one.
    fn renamed(&self, ty: Type, depth: u8) -> Vec<u64> {
        match ty {
            Type::Enum(index, _) => {
                let Some(own) = self.old.stream.enums.get(usize::from(index)) else { return Vec::new() };
                let name = enum_name(self.old, own);
                let other = enums(self.new).map(|(_, other)| other).find(|other| other.name == name);
                let named = |names: &Enum, bits: u64| names.value(bits).map(|value| value.text);
                let values = own.values.iter().chain(other.as_ref().map_or(&[][..], |other| other.values));
                let bits = values.map(|value| value.bits);
                bits.filter(|bits| named(own, *bits) != other.as_ref().and_then(|other| named(other, *bits))).collect()
            }
            Type::Set(set, _) if depth < MAX_NESTING => {
                let layouts = self.old.stream.layouts_of(set.into()).iter();
                let fields = layouts.flat_map(|layout| layout.fields.iter().map(move |field| (layout, field)));
                let operands = |(layout, field): (&'static Layout, &'static Field)| {
                    let Source::Bits(pieces) = field.source else { return Vec::new() };
                    let operand = |value| {
                        let mut word = layout.fixed_value;
                        insert(&mut word, pieces, value);
                        word.get(0, 64)
                    };
                    self.renamed(field.ty, depth + 1).into_iter().map(operand).collect()
                };
                fields.flat_map(operands).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Words that are likely to show a difference: values of each field, first those that have another name, the
    /// patterns of instructions that might decode them in the new revision, and random ones. They need not be valid.
    fn draw(&self, entry: &Entry, layout: &Layout) -> Vec<Wide> {
        let mut random = Random(0x0d1f_f000 | u64::from(entry.opcode));
        let open = open(layout);
        let mut drawn = |mask: Wide, value: Wide| {
            let word = Wide(std::array::from_fn(|_| random.next()));
            (word & !mask | value & mask) & open | layout.fixed_value
        };
        let mut words = vec![layout.fixed_value, layout.fixed_value | open];
        words.extend((0..DRAWS).map(|_| drawn(Wide::ZERO, Wide::ZERO)));
        // A valid word usually stays valid if one field changes.
        let valid = words.iter().copied().find(|word| {
            let decoded = self.old.decode(&self.old.store(*word));
            decoded.is_ok_and(|decoded| self.old.scope(&decoded).layout.opcode == entry.opcode)
        });
        for field in layout.fields {
            let Source::Bits(pieces) = field.source else { continue };
            let mut with = |value: u64| {
                let (mut mask, mut bits) = (Wide::ZERO, Wide::ZERO);
                insert(&mut mask, pieces, u64::MAX);
                insert(&mut bits, pieces, value);
                words.extend(valid.map(|word| (word & !mask | bits) & open | layout.fixed_value));
                words.push(drawn(mask, bits));
            };
            self.renamed(field.ty, 0).into_iter().for_each(&mut with);
            let width: u32 = pieces.iter().map(|piece| u32::from(piece.width)).sum();
            for turn in 0..VALUES.min(1 << width.min(6)) {
                let value = match turn {
                    _ if width <= 6 => turn,
                    0 => 0,
                    1 => u64::MAX,
                    2 => 1 << (width - 1).min(63),
                    3..32 => turn - 2,
                    _ => turn.wrapping_mul(0x9e37_79b9_7f4a_7c15),
                };
                with(value);
            }
        }
        let others = self.new.stream.layouts_of(0).iter();
        let rivals =
            others.filter(|other| other.role != Role::Assembler && active(self.new, other) && meet(layout, other));
        for rival in rivals {
            words.extend(valid.map(|word| (word & !rival.mask | rival.value) & open | layout.fixed_value));
            words.extend((0..16).map(|_| drawn(rival.mask, rival.value)));
        }
        words
    }
}

/// All words of a layout.
fn all(layout: &Layout) -> impl Iterator<Item = Wide> {
    let fixed = layout.fixed_value;
    let bits: Vec<u32> = open(layout).runs().flat_map(|(at, width)| at..at + width).collect();
    (0..1u64 << bits.len()).map(move |value| {
        let mut word = fixed;
        for (index, at) in bits.iter().enumerate() {
            word.set(*at, 1, value >> index & 1);
        }
        word
    })
}
