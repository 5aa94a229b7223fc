//! A fast validity test for each form, which accepts exactly its valid words.
//!
//! The words that a form forbids (a reserved value of an enum, a misaligned list of registers, an operand with
//! undefined codes, a shared field that no operand uses) are a union of *boxes*: a word is in a box when each of its
//! bytes is in the box's set for that byte. Each box is a bit, and 64 of them form a [`Plane`]; a word is tested by
//! looking up each of its bytes once, whatever the form. A form with a rule on too many bits is left to the exact path.

use std::collections::HashMap;

use isaforge_core::bits::{Bits, ones};
use isaforge_core::decode::{BYTES, Plane, Quick, alternative_of, operand_is_valid};
use isaforge_core::table::{Field, Form, Isa, Kind, Shape, Type};

/// The maximum number of bits that a rule may involve: all their values are enumerated.
const MAX_BITS: u32 = 14;

/// A set of values of a byte.
type Set = [u64; 4];

/// A byte of the word with a set of values.
type ByteSet = (usize, Set);

/// A set of values for each byte of the word, lowest byte first.
type Box = [Set; BYTES];

const ALL: Set = [u64::MAX; 4];

/// The tests of all forms, and the planes of boxes that they share.
pub(super) fn tests(isa: &'static Isa) -> (Vec<Quick>, Vec<Plane>) {
    let mut rules = Rules { isa, known: HashMap::new(), unused: HashMap::new() };
    let mut boxes = Boxes::default();
    let forbidden: Vec<Option<Vec<usize>>> =
        isa.forms.iter().map(|form| Some(boxes.numbers(&rules.of(form)?))).collect();
    // Mask and value never match, so the exact path decides.
    let undecided = Quick { mask: 0, value: 1, boxes: 0, plane: 0 };
    let mut quick = vec![undecided; isa.forms.len()];
    let mut planes = Vec::new();
    let mut open: Vec<(usize, &[usize])> = Vec::new();
    open.extend(forbidden.iter().enumerate().filter_map(|(i, boxes)| Some((i, boxes.as_deref()?))));
    while !open.is_empty() {
        let bits = assign(&open, boxes.list.len());
        let before = open.len();
        open.retain(|(index, needed)| {
            let found = needed.iter().try_fold(0, |found, b| Some(found | 1 << bits[*b]?));
            if let Some(boxes) = found {
                let form = &isa.forms[*index];
                quick[*index] =
                    Quick { mask: form.fixed_mask, value: form.fixed_value, boxes, plane: planes.len() as u16 };
            }
            found.is_none()
        });
        if open.len() == before {
            // Each of the remaining forms needs more boxes than a plane holds.
            break;
        }
        planes.push(plane(&boxes.list, &bits));
    }
    (quick, planes)
}

/// The distinct boxes.
#[derive(Default)]
struct Boxes {
    list: Vec<Box>,
    known: HashMap<Box, usize>,
}

impl Boxes {
    fn numbers(&mut self, boxes: &[Box]) -> Vec<usize> {
        let number = |b: &Box| {
            *self.known.entry(*b).or_insert_with(|| {
                self.list.push(*b);
                self.list.len() - 1
            })
        };
        boxes.iter().map(number).collect()
    }
}

/// Assigns bits of a plane to boxes: repeatedly takes the form with the fewest boxes missing, until no bits are left.
fn assign(forms: &[(usize, &[usize])], boxes: usize) -> Vec<Option<u32>> {
    let mut bits = vec![None; boxes];
    let mut used = 0;
    let mut forms: Vec<&[usize]> = forms.iter().map(|(_, needed)| *needed).collect();
    loop {
        let missing = |needed: &[usize]| needed.iter().filter(|b| bits[**b].is_none()).count();
        forms.retain(|needed| missing(needed) > 0);
        match forms.iter().min_by_key(|needed| missing(needed)) {
            Some(needed) if used as usize + missing(needed) <= 64 => {
                for b in *needed {
                    if bits[*b].is_none() {
                        bits[*b] = Some(used);
                        used += 1;
                    }
                }
            }
            _ => return bits,
        }
    }
}

fn plane(boxes: &[Box], bits: &[Option<u32>]) -> Plane {
    let mut plane = [[0; 256]; BYTES];
    for (b, bit) in boxes.iter().zip(bits).filter_map(|(b, bit)| Some((b, (*bit)?))) {
        for (set, values) in b.iter().zip(&mut plane) {
            for (value, outside) in values.iter_mut().enumerate() {
                *outside |= u64::from(set[value / 64] >> (value % 64) & 1 == 0) << bit;
            }
        }
    }
    plane
}

/// A rule, with everything that determines what it forbids.
#[derive(PartialEq, Eq, Hash)]
enum Rule {
    /// A field holds a value that is defined in the enum.
    Defined(u16, Bits),
    /// An operand of a kind, its first bit, the bits of shared fields that are free, and the value of the others.
    Operand(u16, u8, u64, u64),
    /// A list of registers: kind, first bit, field of the count, the number added to it, alignment.
    List(u16, u8, Option<Bits>, u8, u8),
}

/// The boxes of rules, cached because few distinct rules occur in many forms.
struct Rules {
    isa: &'static Isa,
    known: HashMap<Rule, Option<Vec<Box>>>,
    /// Results of [`without`], by kind, first bit, shared field and word.
    unused: HashMap<(u16, u8, usize, u64), Option<ByteSet>>,
}

impl Rules {
    /// What a form forbids besides wrong fixed bits; `None` when the rules involve too many bits.
    fn of(&mut self, form: &'static Form) -> Option<Vec<Box>> {
        let isa = self.isa;
        let mut forbidden = Vec::new();
        let suffixes = form.operands.iter().flat_map(|o| o.suffixes);
        for modifier in form.modifiers.iter().chain(suffixes) {
            if let Type::Enum(e) = modifier.ty {
                let bits = modifier.bits;
                let wrong = |word| !isa.enums[usize::from(e)].defines(bits.get(word, 0));
                forbidden.extend(self.boxes(Rule::Defined(e, bits), bits.mask(0), 0, &wrong)?);
            }
        }
        let shared = isa.shared.iter().fold(0, |mask, s| mask | s.bits.mask(0));
        let (free, fixed) = (shared & !form.fixed_mask, shared & form.fixed_value);
        for operand in form.operands {
            let wrong = |word| !operand_is_valid(isa, form, operand, word);
            let (rule, mask) = match &operand.shape {
                Shape::Number { .. } => continue,
                Shape::One { kind, .. } if is_total(isa, &isa.kinds[usize::from(*kind)]) => continue,
                Shape::One { kind, at } => {
                    let own = ones(u32::from(isa.kinds[usize::from(*kind)].width)) << at;
                    (Rule::Operand(*kind, *at, free, fixed), own | free)
                }
                Shape::List { kind, at, count, align, .. } => {
                    let register = isa.kinds[usize::from(*kind)].alternatives[0].fields[0].bits.mask(*at);
                    let counter = count.bits.map_or(0, |bits| bits.mask(0));
                    (Rule::List(*kind, *at, count.bits, count.plus, *align), register | counter)
                }
            };
            forbidden.extend(self.boxes(rule, mask, fixed, &wrong)?);
        }
        for index in 0..isa.shared.len() {
            forbidden.extend(self.unused(form, index));
        }
        Some(forbidden)
    }

    /// The boxes of the words for which `wrong` is true, over all values of the bits in `mask`, with the other bits as
    /// in `base`.
    fn boxes(&mut self, rule: Rule, mask: u64, base: u64, wrong: &dyn Fn(u64) -> bool) -> Option<&[Box]> {
        let found =
            self.known.entry(rule).or_insert_with(|| (mask.count_ones() <= MAX_BITS).then(|| split(mask, base, wrong)));
        found.as_deref()
    }

    /// The words in which a shared field is not at its default although no operand uses it. An operand whose bits span
    /// several bytes is not tested: words with any other value count.
    fn unused(&mut self, form: &'static Form, index: usize) -> Vec<Box> {
        let isa = self.isa;
        let shared = &isa.shared[index];
        let mask = shared.bits.mask(0);
        if shared.printed || mask & (form.fixed_mask | form.ignored) != 0 {
            return Vec::new();
        }
        let mut boxes: Vec<Box> = Vec::new();
        for value in subsets(mask).filter(|word| shared.bits.get(*word, 0) != shared.default) {
            let mut b = [ALL; BYTES];
            for (byte, set) in b.iter_mut().enumerate() {
                *set = with(mask >> (8 * byte) & 0xff, value >> (8 * byte) & 0xff);
            }
            for operand in form.operands {
                let Shape::One { kind, at } = operand.shape else { continue };
                let known = self.unused.entry((kind, at, index, value));
                if let Some((byte, set)) = *known.or_insert_with(|| without(isa, kind, at, index, value)) {
                    b[byte].iter_mut().zip(set).for_each(|(a, b)| *a &= b);
                }
            }
            // Two boxes that differ in only one byte are merged.
            let differ = |other: &Box| (0..BYTES).filter(|byte| other[*byte] != b[*byte]).count();
            match boxes.iter_mut().find(|other| differ(other) <= 1) {
                Some(other) => other.iter_mut().flatten().zip(b.iter().flatten()).for_each(|(a, b)| *a |= b),
                None => boxes.push(b),
            }
        }
        boxes
    }
}

/// Whether all values of a kind's bits are valid: its alternatives, which never overlap, cover all of them, and all
/// values of their fields are valid.
fn is_total(isa: &Isa, kind: &Kind) -> bool {
    let any = |f: &Field| match f.ty {
        Type::Enum(e) => f.bits.width() <= 16 && (0..=ones(f.bits.width())).all(|v| isa.enums[e as usize].defines(v)),
        Type::Register(b) => f.bits.width() < 32 && 1 << f.bits.width() <= isa.banks[b as usize].count,
        Type::Constant(_) => false,
        Type::Flag | Type::Decimal | Type::Hex | Type::Signed => true,
    };
    let covered: u128 =
        kind.alternatives.iter().map(|a| 1 << (u32::from(kind.width).saturating_sub(a.mask.count_ones()))).sum();
    covered == 1 << kind.width && kind.alternatives.iter().all(|a| a.when.is_empty() && a.fields.iter().all(any))
}

/// The words for which `wrong` is true, as boxes. Splits by the lowest or the highest byte first, whichever gives fewer
/// boxes.
fn split(mask: u64, base: u64, wrong: &dyn Fn(u64) -> bool) -> Vec<Box> {
    let order: Vec<u32> = (0..BYTES as u32).filter(|byte| mask >> (8 * byte) & 0xff != 0).collect();
    let reversed: Vec<u32> = order.iter().rev().copied().collect();
    let (up, down) = (split_by(&order, mask, base, wrong), split_by(&reversed, mask, base, wrong));
    if down.len() < up.len() { down } else { up }
}

/// Values of the first byte that lead to the same boxes are merged.
fn split_by(order: &[u32], mask: u64, base: u64, wrong: &dyn Fn(u64) -> bool) -> Vec<Box> {
    let Some((&byte, order)) = order.split_first() else {
        return if wrong(base) { vec![[ALL; BYTES]] } else { Vec::new() };
    };
    let own = mask & 0xff << (8 * byte);
    let mut groups: Vec<(Set, Vec<Box>)> = Vec::new();
    for part in subsets(own) {
        let rest = split_by(order, mask & !own, base | part, wrong);
        if rest.is_empty() {
            continue;
        }
        let set = with(own >> (8 * byte), part >> (8 * byte));
        match groups.iter_mut().find(|(_, r)| *r == rest) {
            Some((all, _)) => all.iter_mut().zip(set).for_each(|(a, b)| *a |= b),
            None => groups.push((set, rest)),
        }
    }
    let narrow = |(set, rest): (Set, Vec<Box>)| {
        rest.into_iter().map(move |mut b| {
            b[byte as usize] = set;
            b
        })
    };
    groups.into_iter().flat_map(narrow).collect()
}

/// All words without bits outside `mask`.
fn subsets(mask: u64) -> impl Iterator<Item = u64> {
    let next = move |subset: &u64| Some(subset.wrapping_sub(mask) & mask).filter(|next| *next != 0);
    std::iter::successors(Some(0), next)
}

/// The values of a byte in which the bits of `mask` are `value`.
fn with(mask: u64, value: u64) -> Set {
    let mut set = [0; 4];
    for free in subsets(0xff & !mask) {
        let byte = free | value;
        set[(byte / 64) as usize] |= 1 << (byte % 64);
    }
    set
}

/// The byte of an operand, and those of its valid values that do not use a shared field, in a word with this value of
/// the field. Invalid values are forbidden by another rule.
fn without(isa: &'static Isa, kind: u16, at: u8, shared: usize, word: u64) -> Option<ByteSet> {
    let kind = &isa.kinds[usize::from(kind)];
    let mask = ones(u32::from(kind.width)) << at;
    let byte = usize::from(at / 8);
    if mask >> (8 * byte) > 0xff {
        return None;
    }
    let mut set = [0; 4];
    for own in subsets(mask) {
        let found = alternative_of(isa, kind.alternatives, at, word | own);
        if found.is_some_and(|a| a.uses & 1 << shared == 0) {
            let values = with(mask >> (8 * byte), own >> (8 * byte));
            set.iter_mut().zip(values).for_each(|(a, b)| *a |= b);
        }
    }
    Some((byte, set))
}
