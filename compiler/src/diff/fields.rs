//! An instruction and the one that decodes its words in the other revision, with all shared fields fixed: its fields,
//! by independent groups.

use isaforge_core::sample::Random;
use isaforge_core::table::{Form, Isa};

use super::identity::same_parts;
use super::parts::{Piece, pieces};
use super::verdict::{Cube, Pair, Verdict};

/// Groups of fields with at most this many bits are enumerated.
const MAX_BITS: u32 = 16;
/// How many choices of a group are measured to find the shortest text.
const MEASURED: usize = 64;

/// A value of a group that is valid in the old revision.
struct Choice {
    bits: u64,
    old_uses: u32,
    new_uses: u32,
    new_valid: bool,
    /// The length of the old text in bytes: the shortest makes the simplest example. Known for the first choices only.
    length: usize,
}

/// Fields that share bits in either revision.
struct Group {
    mask: u64,
    choices: Vec<Choice>,
    /// Whether all choices are listed.
    complete: bool,
    /// Whether both revisions have identical fields here, so that no value can decode differently.
    same: bool,
}

/// A section of an instruction's text.
enum Stretch {
    Text(String),
    Group(usize, Vec<Piece>),
}

/// The words of an old instruction with certain bits fixed, and the new instruction that decodes them.
pub(super) struct Case {
    pair: Pair,
    form: &'static Form,
    reader: Option<&'static Form>,
    cube: Cube,
    groups: Vec<Group>,
    old_parts: Vec<Piece>,
    new_parts: Vec<Piece>,
    /// Non-printing shared fields that some operand must use for a word to be valid.
    old_needs: u32,
    new_needs: u32,
}

impl Case {
    pub(super) fn new(pair: Pair, form: &'static Form, reader: Option<&'static Form>, cube: Cube) -> Self {
        let old_parts = pieces(pair.old, form);
        let new_parts = reader.map(|r| pieces(pair.new, r)).unwrap_or_default();
        let old_needs = needs(pair.old, form, cube);
        let new_needs = reader.map_or(0, |r| needs(pair.new, r, cube));
        let mut case =
            Case { pair, form, reader, cube, groups: Vec::new(), old_parts, new_parts, old_needs, new_needs };
        let mut masks: Vec<u64> = Vec::new();
        let old = case.old_parts.iter().map(|p| p.mask);
        let new = case.new_parts.iter().map(|p| p.mask);
        for mask in old.chain(new).chain(bits(reader.map_or(0, |r| r.fixed_mask))) {
            let mut mask = mask & !cube.mask;
            if mask != 0 {
                masks.retain(|m| {
                    let apart = m & mask == 0;
                    mask |= if apart { 0 } else { *m };
                    apart
                });
                masks.push(mask);
            }
        }
        masks.sort_by_key(|m| m.trailing_zeros());
        case.groups = masks.into_iter().map(|m| case.group(m)).collect();
        case
    }

    fn group(&self, mask: u64) -> Group {
        let mut random = Random(mask);
        let mut candidates = Vec::new();
        let mut complete = true;
        if mask.count_ones() <= MAX_BITS {
            let mut value = 0u64;
            loop {
                candidates.push(value);
                if value == mask {
                    break;
                }
                value = value.wrapping_sub(mask) & mask;
            }
        } else {
            complete = self.same_number(mask);
            candidates.extend([0, mask, mask & mask.wrapping_neg(), mask & 0xaaaa_aaaa_aaaa_aaaa, mask & (mask >> 1)]);
            candidates.extend(bits(mask));
            candidates.extend(bits(mask).map(|b| mask & !b));
            candidates.extend((0..256).map(|_| random.next() & mask));
        }
        let same = complete && self.same_fields(mask);
        let choices = candidates.into_iter().filter_map(|bits| self.choice(mask, bits, same));
        let mut choices: Vec<Choice> = choices.collect();
        for choice in choices.iter_mut().take(MEASURED) {
            let parts = self.old_parts.iter().filter(|p| p.mask & mask != 0);
            choice.length = parts.map(|p| p.part.text(self.pair.old, self.cube.value | choice.bits).len()).sum();
        }
        Group { mask, choices, complete, same }
    }

    /// Whether a group that is too wide to enumerate is a single number with the same notation in both revisions.
    fn same_number(&self, mask: u64) -> bool {
        let of = |parts: &[Piece]| -> Vec<Piece> { parts.iter().filter(|p| p.mask & mask != 0).copied().collect() };
        let fixed = self.reader.map_or(0, |r| r.fixed_mask) & mask;
        match (&of(&self.old_parts)[..], &of(&self.new_parts)[..]) {
            ([old], [new]) => fixed == 0 && old.part.number().is_some() && old.part.number() == new.part.number(),
            _ => false,
        }
    }

    fn same_fields(&self, mask: u64) -> bool {
        let of = |parts: &[Piece]| -> Vec<Piece> { parts.iter().filter(|p| p.mask & mask != 0).copied().collect() };
        self.reader.is_some_and(|r| r.fixed_mask & mask == 0)
            && same_parts(self.pair.old, self.pair.new, &of(&self.old_parts), &of(&self.new_parts))
    }

    fn choice(&self, mask: u64, bits: u64, same: bool) -> Option<Choice> {
        let word = self.cube.value | bits;
        let Pair { old, new } = self.pair;
        let mut choice = Choice { bits, old_uses: 0, new_uses: 0, new_valid: true, length: usize::MAX };
        for Piece { part, .. } in self.old_parts.iter().filter(|p| p.mask & mask != 0) {
            if !part.is_valid(old, self.form, word) {
                return None;
            }
            choice.old_uses |= part.uses(old, word);
        }
        let Some(reader) = self.reader.filter(|_| !same) else {
            choice.new_uses = choice.old_uses;
            return Some(choice);
        };
        choice.new_valid = (word ^ reader.fixed_value) & reader.fixed_mask & mask == 0;
        for Piece { part, .. } in self.new_parts.iter().filter(|p| p.mask & mask != 0) {
            choice.new_valid &= part.is_valid(new, reader, word);
            choice.new_uses |= part.uses(new, word);
        }
        Some(choice)
    }

    /// A valid old word: `forced` fixes the choice of one group, `allowed` restricts the choices of the others.
    fn word(&self, forced: Option<(usize, usize)>, allowed: &dyn Fn(&Choice) -> bool) -> Option<u64> {
        let mut chosen = Vec::with_capacity(self.groups.len());
        for (g, group) in self.groups.iter().enumerate() {
            chosen.push(match forced {
                Some((forced, choice)) if forced == g => group.choices.get(choice)?,
                _ => group.choices.iter().filter(|c| allowed(c)).min_by_key(|c| c.length)?,
            });
        }
        let constant = self.old_parts.iter().filter(|p| p.mask & !self.cube.mask == 0);
        let constant = constant.fold(0, |uses, p| uses | p.part.uses(self.pair.old, self.cube.value));
        for need in bits(u64::from(self.old_needs & !constant)) {
            let need = need as u32;
            if chosen.iter().any(|c| c.old_uses & need != 0) {
                continue;
            }
            let free = self.groups.iter().enumerate().filter(|(g, _)| forced.is_none_or(|(f, _)| f != *g));
            let (g, choice) = free
                .filter_map(|(g, group)| {
                    let fit = group.choices.iter().filter(|c| allowed(c) && c.old_uses & need != 0);
                    Some((g, fit.min_by_key(|c| c.length)?))
                })
                .min_by_key(|(_, c)| c.length)?;
            chosen[g] = choice;
        }
        Some(chosen.iter().fold(self.cube.value, |word, c| word | c.bits))
    }

    /// Whether a failure to find a word is conclusive: with two needs at once, `word` may miss one.
    fn exact(&self) -> bool {
        self.old_needs.count_ones() <= 1
    }

    pub(super) fn judge(&self, random: &mut Random) -> Verdict {
        // Parts with all bits fixed decide immediately.
        let given = |p: &&Piece| p.mask & !self.cube.mask == 0;
        let Pair { old, new } = self.pair;
        if !self.old_parts.iter().filter(given).all(|p| p.part.is_valid(old, self.form, self.cube.value)) {
            return Verdict::Empty;
        }
        let Some(plain) = self.word(None, &|_| true) else {
            return if self.exact() { Verdict::Empty } else { Verdict::Unproven };
        };
        let Some(reader) = self.reader else { return self.verified(Some(plain)).unwrap_or(Verdict::Unproven) };
        let mut proved = self.groups.iter().all(|g| g.complete);
        let wrong = (self.cube.value ^ reader.fixed_value) & reader.fixed_mask & self.cube.mask != 0;
        let invalid = || self.new_parts.iter().filter(given).any(|p| !p.part.is_valid(new, reader, self.cube.value));
        if wrong || invalid() {
            return self.verified(Some(plain)).unwrap_or(Verdict::Unproven);
        }
        for verdict in [self.validity(), self.needs(), self.texts(random)] {
            match verdict {
                Some(Verdict::Differs(word)) => return Verdict::Differs(word),
                Some(_) => proved = false,
                None => {}
            }
        }
        if proved { Verdict::Alike } else { Verdict::Unproven }
    }

    /// `Differs` if the word decodes differently, `Unproven` if it unexpectedly does not, `None` without a word.
    fn verified(&self, word: Option<u64>) -> Option<Verdict> {
        let word = word?;
        Some(if self.pair.differs(word) { Verdict::Differs(word) } else { Verdict::Unproven })
    }

    /// Looks for values that the new instruction rejects.
    fn validity(&self) -> Option<Verdict> {
        let mut result = None;
        for (g, group) in self.groups.iter().enumerate() {
            for (c, _) in group.choices.iter().enumerate().filter(|(_, c)| !c.new_valid) {
                match self.verified(self.word(Some((g, c)), &|_| true)) {
                    Some(Verdict::Differs(word)) => return Some(Verdict::Differs(word)),
                    None if self.exact() => {}
                    _ => result = Some(Verdict::Unproven),
                }
            }
        }
        result
    }

    /// Looks for words that use a shared field in the old revision but not in the new one, which then requires its
    /// default.
    fn needs(&self) -> Option<Verdict> {
        let constant = self.new_parts.iter().filter(|p| p.mask & !self.cube.mask == 0);
        let constant = constant.fold(0, |uses, p| uses | p.part.uses(self.pair.new, self.cube.value));
        let mut result = None;
        for need in bits(u64::from(self.new_needs & !constant)) {
            let idle = |c: &Choice| c.new_uses & need as u32 == 0;
            let mut found = self.verified(self.word(None, &idle));
            for (g, group) in self.groups.iter().enumerate() {
                let user = group.choices.iter().position(|c| idle(c) && c.old_uses & self.old_needs != 0);
                if let (None, Some(c)) = (found, user) {
                    found = self.verified(self.word(Some((g, c)), &idle));
                }
            }
            match found {
                Some(Verdict::Differs(word)) => return Some(Verdict::Differs(word)),
                None if self.exact() => {}
                _ => result = Some(Verdict::Unproven),
            }
        }
        result
    }

    /// Looks for values that print differently.
    fn texts(&self, random: &mut Random) -> Option<Verdict> {
        let (old, new) =
            (self.stretches(&self.old_parts, self.pair.old), self.stretches(&self.new_parts, self.pair.new));
        let aligned = old.len() == new.len()
            && old.iter().zip(&new).all(|pair| match pair {
                (Stretch::Text(a), Stretch::Text(b)) => a == b,
                (Stretch::Group(a, _), Stretch::Group(b, _)) => a == b,
                _ => false,
            });
        if !aligned {
            return Some(self.search(random));
        }
        let mut result = None;
        for (old, new) in old.iter().zip(&new) {
            let (Stretch::Group(g, old), Stretch::Group(_, new)) = (old, new) else { continue };
            if self.groups[*g].same {
                continue;
            }
            for (c, choice) in self.groups[*g].choices.iter().enumerate() {
                let word = self.cube.value | choice.bits;
                if self.text(old, self.pair.old, word) == self.text(new, self.pair.new, word) {
                    continue;
                }
                match self.verified(self.word(Some((*g, c)), &|_| true)) {
                    Some(Verdict::Differs(word)) => return Some(Verdict::Differs(word)),
                    None if self.exact() => {}
                    _ => result = Some(Verdict::Unproven),
                }
            }
        }
        result
    }

    fn text(&self, parts: &[Piece], isa: &'static Isa, word: u64) -> String {
        parts.iter().map(|p| p.part.text(isa, word)).collect()
    }

    /// Joins the parts into sections: constant text, and runs of parts in the same group. Parts that never print are
    /// left out.
    fn stretches(&self, parts: &[Piece], isa: &'static Isa) -> Vec<Stretch> {
        let mut stretches: Vec<Stretch> = Vec::new();
        for piece in parts {
            let part = piece.part;
            let mask = piece.mask & !self.cube.mask;
            let group = self.groups.iter().position(|g| g.mask & mask != 0);
            let group = group.filter(|g| {
                self.groups[*g].choices.iter().any(|c| !part.text(isa, self.cube.value | c.bits).is_empty())
            });
            match (group, stretches.last_mut()) {
                (None, _) if mask != 0 => {}
                (None, Some(Stretch::Text(text))) => text.push_str(&part.text(isa, self.cube.value)),
                (None, _) => {
                    let text = part.text(isa, self.cube.value);
                    if !text.is_empty() {
                        stretches.push(Stretch::Text(text));
                    }
                }
                (Some(g), Some(Stretch::Group(last, parts))) if *last == g => parts.push(*piece),
                (Some(g), _) => stretches.push(Stretch::Group(g, vec![*piece])),
            }
        }
        stretches
    }

    /// Looks for a word that decodes differently: every value of every group once, and random combinations.
    fn search(&self, random: &mut Random) -> Verdict {
        let differs = |word: Option<u64>| word.filter(|w| self.pair.differs(*w));
        for (g, group) in self.groups.iter().enumerate() {
            for c in 0..group.choices.len().min(512) {
                if let Some(word) = differs(self.word(Some((g, c)), &|_| true)) {
                    return Verdict::Differs(word);
                }
            }
        }
        for _ in 0..512 {
            let word = self.groups.iter().fold(self.cube.value, |word, group| {
                word | group.choices.get(random.below(group.choices.len() as u64) as usize).map_or(0, |c| c.bits)
            });
            let valid = isaforge_core::decode::decode(self.pair.old, word).is_ok();
            if let Some(word) = differs(Some(word).filter(|_| valid)) {
                return Verdict::Differs(word);
            }
        }
        Verdict::Unproven
    }
}

/// The non-printing shared fields that are not at their default.
fn needs(isa: &'static Isa, form: &'static Form, cube: Cube) -> u32 {
    let named = form.fixed_mask | form.ignored;
    let needed = isa
        .shared
        .iter()
        .enumerate()
        .filter(|(_, s)| !s.printed && s.bits.mask(0) & named == 0 && s.bits.get(cube.value, 0) != s.default);
    needed.fold(0, |set, (i, _)| set | 1 << i)
}

/// The set bits of a mask, one at a time.
fn bits(mask: u64) -> impl Iterator<Item = u64> {
    (0..64).map(|i| 1 << i).filter(move |bit| mask & bit != 0)
}
