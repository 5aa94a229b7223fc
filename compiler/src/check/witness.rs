//! Finds a word that is valid as two instructions.
//!
//! Checking whether two patterns of constant bits agree is easy. Finding a whole word that is valid as both, with all
//! fields, is a search: start from the constant bits of both, repair what either instruction rejects, and give up after
//! a number of steps.

use isaforge_core::bits::ones;
use isaforge_core::sample::Random;

use crate::model::{Alternative, Bits, Form, Isa, Modifier, Shape, Type};

/// How many repairs the search makes at most.
const STEPS: usize = 2000;

/// A word that is valid as both instructions; `None` if the search finds none.
pub(super) fn witness(isa: &Isa, a: &Form, b: &Form) -> Option<u64> {
    let constant = |f: &Form| f.fixed.iter().fold((0, 0), |(m, v), x| (m | x.mask, v | x.value));
    let ((mask, value), (other_mask, other_value)) = (constant(a), constant(b));
    if (value ^ other_value) & mask & other_mask != 0 {
        return None;
    }
    let locked = mask | other_mask;
    let mut word = value | other_value;
    for shared in &isa.shared {
        word = put(&shared.bits, 0, word, shared.default) & !locked | word & locked;
    }
    let mut random = Random(0x0dd5);
    for _ in 0..STEPS {
        let Some(mended) = objection(isa, a, word, &mut random).or_else(|| objection(isa, b, word, &mut random)) else {
            return Some(word);
        };
        word = mended & !locked | word & locked;
    }
    None
}

/// `None` if the word is valid except for constant bits; otherwise the word with the first violation repaired.
fn objection(isa: &Isa, form: &Form, word: u64, random: &mut Random) -> Option<u64> {
    for modifier in &form.modifiers {
        if let Some(mended) = in_modifier(isa, modifier, word, random) {
            return Some(mended);
        }
    }
    let mut used = 0u64;
    for operand in &form.operands {
        match &operand.shape {
            Shape::Number { .. } => {}
            Shape::One { kind, at } => {
                let alternatives = &isa.kinds[*kind].alternatives;
                let chosen = alternatives.iter().find(|a| reads(isa, a, *at, word));
                match chosen.filter(|a| a.fields.iter().all(|f| is_allowed(isa, f.ty, get(&f.bits, *at, word)))) {
                    Some(chosen) => {
                        let fields = chosen.fields.iter().flat_map(|f| f.bits.shared());
                        used =
                            chosen.when.iter().map(|(s, _)| *s).chain(fields).fold(used, |set, s| set | 1 << (s & 63));
                    }
                    None => return random_of(alternatives, random).map(|a| set_alternative(isa, a, *at, word, random)),
                }
            }
            Shape::List { kind, at, count, align, .. } => {
                let field = isa.kinds[*kind].alternatives.first().and_then(|a| a.fields.first())?;
                let Type::Register(bank) = field.ty else { continue };
                let first = get(&field.bits, *at, word);
                let n = u64::from(count.plus) + count.bits.as_ref().map_or(0, |bits| get(bits, 0, word));
                let aligned = n <= 1 || first.is_multiple_of(u64::from(*align).max(1));
                if (n == 0 && first != 0) || !aligned || (n > 0 && first + n > u64::from(isa.banks[bank].count)) {
                    let few = count.bits.as_ref().map_or(word, |bits| put(bits, 0, word, random.below(3)));
                    return Some(put(&field.bits, *at, few, u64::from(*align) * random.below(2)));
                }
            }
        }
        for suffix in &operand.suffixes {
            if let Some(mended) = in_modifier(isa, suffix, word, random) {
                return Some(mended);
            }
        }
    }
    let fixed = form.fixed.iter().fold(form.ignored, |mask, f| mask | f.mask);
    for (i, shared) in isa.shared.iter().enumerate() {
        let idle = shared.printed.is_none() && used >> (i & 63) & 1 == 0 && shared.bits.mask(0) & fixed == 0;
        if idle && get(&shared.bits, 0, word) != shared.default {
            // Constant bits of the other instruction may determine its value; then an operand has to use it.
            let users = users_of(isa, form, i);
            let user = if random.below(2) == 0 { random_of(&users, random) } else { None };
            return Some(match user {
                Some((alternative, at)) => set_alternative(isa, alternative, *at, word, random),
                None => put(&shared.bits, 0, word, shared.default),
            });
        }
    }
    None
}

/// The alternatives that use a shared field, with the positions of the operands that can have them.
fn users_of<'a>(isa: &'a Isa, form: &Form, shared: usize) -> Vec<(&'a Alternative, u8)> {
    let uses = |a: &&Alternative| {
        a.when.iter().any(|(s, _)| *s == shared) || a.fields.iter().any(|f| f.bits.shared().any(|s| s == shared))
    };
    let of_operand = |shape: &Shape| match *shape {
        Shape::One { kind, at } => isa.kinds[kind].alternatives.iter().filter(uses).map(|a| (a, at)).collect(),
        Shape::Number { .. } | Shape::List { .. } => Vec::new(),
    };
    form.operands.iter().flat_map(|operand| of_operand(&operand.shape)).collect()
}

fn in_modifier(isa: &Isa, modifier: &Modifier, word: u64, random: &mut Random) -> Option<u64> {
    let value = get(&modifier.bits, 0, word);
    (!is_allowed(isa, modifier.ty, value)).then(|| put(&modifier.bits, 0, word, some_value(isa, modifier.ty, random)))
}

fn is_allowed(isa: &Isa, ty: Type, value: u64) -> bool {
    match ty {
        Type::Enum(e) => isa.enums[e].values.iter().any(|v| v.bits == value),
        Type::Constant(c) => value < isa.constants[c].values.len() as u64,
        Type::Register(b) => value < u64::from(isa.banks[b].count),
        Type::Flag | Type::Decimal | Type::Hex | Type::Signed => true,
    }
}

fn some_value(isa: &Isa, ty: Type, random: &mut Random) -> u64 {
    match ty {
        Type::Enum(e) => random_of(&isa.enums[e].values, random).map_or(0, |v| v.bits),
        Type::Constant(c) => random.below(isa.constants[c].values.len() as u64),
        Type::Register(b) => random.below(u64::from(isa.banks[b].count)),
        Type::Flag | Type::Decimal | Type::Hex | Type::Signed => random.below(2),
    }
}

fn random_of<'a, T>(items: &'a [T], random: &mut Random) -> Option<&'a T> {
    items.get(random.below(items.len() as u64) as usize)
}

fn reads(isa: &Isa, alternative: &Alternative, at: u8, word: u64) -> bool {
    let own = word.checked_shr(u32::from(at)).unwrap_or(0);
    own & alternative.mask == alternative.value
        && alternative.when.iter().all(|(s, v)| get(&isa.shared[*s].bits, 0, word) == *v)
}

fn set_alternative(isa: &Isa, alternative: &Alternative, at: u8, word: u64, random: &mut Random) -> u64 {
    let shifted = |bits: u64| bits.checked_shl(u32::from(at)).unwrap_or(0);
    let mut word = word & !shifted(alternative.mask) | shifted(alternative.value);
    for (shared, value) in &alternative.when {
        word = put(&isa.shared[*shared].bits, 0, word, *value);
    }
    for field in &alternative.fields {
        word = put(&field.bits, at, word, some_value(isa, field.ty, random));
    }
    word
}

/// The value of a field whose owner starts at `base`.
fn get(bits: &Bits, base: u8, word: u64) -> u64 {
    let mut shift = 0;
    let mut value = 0;
    for piece in &bits.0 {
        let at = u32::from(piece.at) + if piece.shared.is_some() { 0 } else { u32::from(base) };
        let part = word.checked_shr(at).unwrap_or(0) & ones(u32::from(piece.width));
        value |= part.checked_shl(shift).unwrap_or(0);
        shift += u32::from(piece.width);
    }
    value
}

/// Sets a field in the word.
fn put(bits: &Bits, base: u8, word: u64, value: u64) -> u64 {
    let mut word = word & !bits.mask(base);
    let mut rest = value;
    for piece in &bits.0 {
        let at = u32::from(piece.at) + if piece.shared.is_some() { 0 } else { u32::from(base) };
        word |= (rest & ones(u32::from(piece.width))).checked_shl(at).unwrap_or(0);
        rest = rest.checked_shr(u32::from(piece.width)).unwrap_or(0);
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Piece;

    #[test]
    fn fields_in_pieces_are_read_as_they_are_written() {
        let piece = |at, width| Piece { at, width, shared: None };
        let bits = Bits(vec![piece(0, 3), piece(10, 2)]);
        assert_eq!(put(&bits, 2, 0, 0b10_101), 0b10 << 12 | 0b101 << 2);
        assert_eq!(get(&bits, 2, 0b10 << 12 | 0b101 << 2), 0b10_101);
    }
}
