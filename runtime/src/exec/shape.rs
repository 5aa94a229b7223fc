//! The shapes of an instruction set's words, each built once.
//!
//! Two words of a form have the same shape if they agree in the bits of the operation's modifiers. All other bits,
//! such as register numbers, only say where operands are, not what is done with them.

use std::sync::Arc;

use isaforge_core::bits::ones;
use isaforge_core::semantics::{Modifier, Semantics, Shape, instantiate};
use isaforge_core::table::{self, Form, Isa};

/// The maximum number of shapes that are kept. Programs have far fewer; a stream of unusual words only causes shapes to
/// be built again.
const MAX_SHAPES: usize = 4096;

/// The shapes of the words seen so far.
#[derive(Debug)]
pub struct Shapes<T> {
    semantics: &'static Semantics,
    isa: &'static Isa,
    /// For each opcode, the bits of a word that determine its shape.
    keys: Box<[u64]>,
    index: Index<MAX_SHAPES>,
    entries: Vec<Entry<T>>,
}

/// A shape, and what an engine stores with it.
#[derive(Clone, Debug)]
pub struct Entry<T> {
    /// The shape.
    pub shape: Arc<Shape>,
    /// What the engine derived from it.
    pub made: T,
}

impl<T> Shapes<T> {
    /// Creates an empty cache for an instruction set whose words have at most 64 bits.
    pub fn new(semantics: &'static Semantics, isa: &'static Isa) -> Self {
        let key = |(operation, form): (&isaforge_core::semantics::Operation, &Form)| {
            operation.modifiers.iter().fold(0, |key, modifier| key | bits(isa, form, *modifier))
        };
        let keys = semantics.operations.iter().zip(isa.forms).map(key).collect();
        Shapes { semantics, isa, keys, index: Index::new(), entries: Vec::new() }
    }

    /// Returns the bits of a word that determine its shape.
    pub fn key(&self, opcode: u16) -> u64 {
        self.keys.get(usize::from(opcode)).copied().unwrap_or(0)
    }

    /// Returns the shape of a word with this opcode. `make` derives what is stored with a new shape. `None` when the
    /// specification does not describe the instruction's semantics.
    #[inline]
    pub fn get(&mut self, opcode: u16, word: u64, make: impl FnOnce(&Arc<Shape>) -> T) -> Option<&Entry<T>> {
        let key = word & self.keys.get(usize::from(opcode))?;
        match self.index.find(opcode.into(), key) {
            Ok(entry) => self.entries.get(entry),
            Err(at) => self.add(at, opcode, key, make),
        }
    }

    #[cold]
    #[inline(never)]
    fn add(&mut self, at: usize, opcode: u16, key: u64, make: impl FnOnce(&Arc<Shape>) -> T) -> Option<&Entry<T>> {
        let (operation, form) =
            (self.semantics.operations.get(usize::from(opcode))?, self.isa.forms.get(usize::from(opcode))?);
        if operation.text.is_empty() {
            return None;
        }
        let modifier = |index: u16| {
            operation.modifiers.get(usize::from(index)).map_or(0, |modifier| modifier.bits(self.isa, form, key))
        };
        let shape = Arc::new(instantiate(self.semantics, operation, modifier));
        let made = make(&shape);
        let mut at = at;
        if self.entries.len() == MAX_SHAPES {
            self.entries.clear();
            self.index.clear();
            at = self.index.find(opcode.into(), key).err()?;
        }
        self.index.set(at, opcode.into(), key, self.entries.len());
        self.entries.push(Entry { shape, made });
        self.entries.last()
    }

    /// The number of shapes.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no shapes.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// A hash index of at most `N` entries, a power of two, by their keys. At least half of the slots are free, which
/// keeps searches short.
#[derive(Debug)]
pub(crate) struct Index<const N: usize>(Box<[[Slot; 2]]>);

#[derive(Clone, Copy, Debug)]
struct Slot {
    key: u64,
    of: u32,
    /// The index of the entry, or [`FREE`](Slot::FREE).
    entry: u32,
}

impl Slot {
    const FREE: Slot = Slot { key: 0, of: 0, entry: u32::MAX };
}

impl<const N: usize> Index<N> {
    /// Creates an empty index.
    pub fn new() -> Self {
        Index(vec![[Slot::FREE; 2]; N].into())
    }

    /// Finds the entry of a key within a kind.
    ///
    /// # Errors
    /// The free slot for the key, if it has no entry.
    #[inline(always)]
    pub fn find(&self, of: u32, key: u64) -> Result<usize, usize> {
        let slots = self.0.as_flattened();
        // The upper half of the product depends on all bits of the key.
        let mut at = ((key ^ u64::from(of)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize;
        loop {
            at %= 2 * N;
            let slot = slots.get(at).copied().unwrap_or(Slot::FREE);
            if slot.entry == Slot::FREE.entry {
                return Err(at);
            }
            if slot.key == key && slot.of == of {
                return Ok(slot.entry as usize);
            }
            at += 1;
        }
    }

    /// Adds the entry of a key at the slot that [`find`](Self::find) returned.
    pub fn set(&mut self, at: usize, of: u32, key: u64, entry: usize) {
        if let Some(slot) = self.0.as_flattened_mut().get_mut(at) {
            *slot = Slot { key, of, entry: entry as u32 };
        }
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.0.fill([Slot::FREE; 2]);
    }
}

/// Returns the bits of a word that a modifier depends on.
fn bits(isa: &Isa, form: &Form, modifier: Modifier) -> u64 {
    match modifier {
        Modifier::Form(index) => form.modifiers.get(usize::from(index)).map_or(0, |modifier| modifier.bits.mask(0)),
        Modifier::Suffix(operand, index) => {
            let Some(operand) = form.operands.get(usize::from(operand)) else { return 0 };
            match operand.suffixes.get(usize::from(index)) {
                Some(suffix) => suffix.bits.mask(0),
                None => reading(isa, operand).into_iter().fold(0, |all, bits| all | bits),
            }
        }
        // Words have no group fields.
        Modifier::Field(..) | Modifier::Present(_) | Modifier::Repetition | Modifier::Repetitions => 0,
    }
}

/// Returns all bits of an operand: those that choose its reading, and the fields of the readings. The first mask is
/// of its own bits, the second of bits it shares with other operands.
pub(crate) fn reading(isa: &Isa, operand: &table::Operand) -> [u64; 2] {
    let table::Shape::One { kind, at } = operand.shape else { return [0; 2] };
    let Some(kind) = isa.kinds.get(usize::from(kind)) else { return [0; 2] };
    let fields = kind.alternatives.iter().flat_map(|alternative| alternative.fields);
    let shared = kind.alternatives.iter().flat_map(|alternative| alternative.when);
    let shared = shared.filter_map(|(index, _)| isa.shared.get(usize::from(*index)));
    let all = fields.fold(0, |all, field| all | field.bits.mask(at))
        | kind.alternatives.iter().fold(0, |all, alternative| all | alternative.mask << at)
        | shared.fold(0, |all, shared| all | shared.bits.mask(0));
    let own = ones(kind.width.into()) << at;
    [all & own, all & !own]
}

#[cfg(all(test, feature = "valhall"))]
mod tests {
    use isaforge_core::sample::{Random, sample};
    use isaforge_valhall::ISA;
    use isaforge_valhall::semantics::SEMANTICS;

    use super::*;

    #[test]
    fn a_word_finds_the_shape_that_its_own_modifiers_give() {
        let (mut shapes, mut random) = (Shapes::new(SEMANTICS, ISA), Random(7));
        for opcode in 0..ISA.forms.len() as u16 {
            let (form, operation) = (&ISA.forms[usize::from(opcode)], &SEMANTICS.operations[usize::from(opcode)]);
            for _ in 0..64 {
                let word = sample(ISA, opcode, &mut random);
                let own = instantiate(SEMANTICS, operation, |index| {
                    operation.modifiers[usize::from(index)].bits(ISA, form, word)
                });
                let found = shapes.get(opcode, word, |_| ()).map(|entry| entry.shape.as_ref().clone());
                assert_eq!(found, (!operation.text.is_empty()).then_some(own), "{} {word:#018x}", form.name.str);
            }
        }
    }

    #[test]
    fn shapes_of_words_that_differ_in_registers_alone_are_one() {
        let mut shapes = Shapes::new(SEMANTICS, ISA);
        let mut made = 0;
        for line in ["FADD.f32 r0, r1, r2", "FADD.f32 r7, r9, u3", "FADD.f32 r7, r9, r1.neg"] {
            let word = line.parse::<isaforge_valhall::Instruction>().unwrap();
            shapes.get(word.opcode() as u16, word.encode(), |_| made += 1).unwrap();
        }
        assert_eq!((made, shapes.len()), (2, 2));
    }

    #[test]
    fn more_shapes_than_are_kept_are_made_anew() {
        let (mut shapes, mut random) = (Shapes::new(SEMANTICS, ISA), Random(11));
        let fma = ISA.forms.iter().position(|form| form.name.str == "FMA.f32").unwrap() as u16;
        for _ in 0..20_000 {
            assert!(shapes.get(fma, sample(ISA, fma, &mut random), |_| ()).is_some());
            assert!(shapes.len() <= MAX_SHAPES);
        }
    }
}
