//! Whether every valid word of an instruction reads the same in another revision.
//!
//! The words of an instruction are split by the constant bits of the other revision's instructions until each part is
//! decoded by one of them, or by none. Within a part, fields that share no bits are independent, so that each group of
//! fields is checked separately, value by value: whether it is valid in the other revision, and whether it prints the
//! same. A value that fails is completed to a whole word, which both revisions then decode; only a word that actually
//! reads differently counts. If none is found and no value was skipped, all words are proved to read the same.

use isaforge_core::bits::ones;
use isaforge_core::decode::decode;
use isaforge_core::sample::{Random, sample};
use isaforge_core::table::Form;

use super::fields::Case;
use super::identity::identical;
use super::verdict::{Cube, Pair, Verdict, worse};

/// A verdict, and the instructions of the other revision that decode the words.
pub(super) struct Judgement {
    pub verdict: Verdict,
    pub readers: Vec<u16>,
}

/// The maximum number of parts that the words of an instruction are split into, and of bits of shared fields in a part.
const MAX_PARTS: usize = 1024;
const MAX_SHARED: u32 = 6;
/// The number of words drawn at random if no proof is possible.
const DRAWS: u64 = 2048;

impl Pair {
    /// Judges all words of the old instruction `opcode`.
    pub(super) fn judge(self, opcode: u16) -> Judgement {
        let form = &self.old.forms[opcode as usize];
        let mut parts = Vec::new();
        let all: Vec<u16> = (0..self.new.forms.len() as u16).collect();
        let beyond = !ones(u32::from(self.old.word_bits));
        let cube = Cube { mask: form.fixed_mask | beyond, value: form.fixed_value };
        let complete = self.split(cube, &all, &mut parts);
        let mut judgement = Judgement { verdict: Verdict::Empty, readers: Vec::new() };
        if let ([(_, Some(reader))], true) = (&parts[..], complete)
            && identical(self.old, self.new, form, &self.new.forms[*reader as usize])
        {
            return Judgement { verdict: Verdict::Alike, readers: vec![*reader] };
        }
        let mut random = Random(0x0d1f_f000 | u64::from(opcode));
        for (cube, reader) in parts {
            // Another word that reads differently would say nothing new.
            let known = reader.is_none_or(|reader| judgement.readers.contains(&reader));
            if known && matches!(judgement.verdict, Verdict::Differs(_)) {
                continue;
            }
            let verdict = match shared_bits(self, cube) {
                Some(shared) => self.cases(form, reader, cube, shared, &mut random),
                None => Verdict::Unproven,
            };
            let reads = reader.filter(|r| verdict != Verdict::Empty && !judgement.readers.contains(r));
            judgement.readers.extend(reads);
            judgement.verdict = worse(judgement.verdict, verdict);
        }
        if !complete {
            judgement.verdict = worse(judgement.verdict, Verdict::Unproven);
        }
        if judgement.verdict == Verdict::Unproven
            && let Some(word) = self.draw(opcode, &mut random)
        {
            judgement.verdict = Verdict::Differs(word);
        }
        judgement
    }

    /// Splits a cube until each part belongs to one instruction of the new revision. False when that takes too many
    /// parts.
    fn split(self, cube: Cube, candidates: &[u16], parts: &mut Vec<(Cube, Option<u16>)>) -> bool {
        let form = |f: u16| &self.new.forms[f as usize];
        let meeting: Vec<u16> =
            candidates.iter().copied().filter(|f| cube.intersects(form(*f).match_mask, form(*f).match_value)).collect();
        let open =
            meeting.iter().map(|f| form(*f).match_mask & !cube.mask).filter(|m| *m != 0).min_by_key(|m| m.count_ones());
        let Some(open) = open else {
            // If one is a special case of another, the instruction with the most constant bits decodes the word.
            parts.push((cube, meeting.iter().copied().max_by_key(|f| form(*f).match_mask.count_ones())));
            return parts.len() <= MAX_PARTS;
        };
        let bit = open & open.wrapping_neg();
        parts.len() <= MAX_PARTS
            && self.split(cube.with(bit, 0), &meeting, parts)
            && self.split(cube.with(bit, bit), &meeting, parts)
    }

    /// Checks each assignment of the shared fields separately.
    fn cases(self, form: &'static Form, reader: Option<u16>, cube: Cube, shared: u64, random: &mut Random) -> Verdict {
        let reader = reader.map(|r| &self.new.forms[r as usize]);
        let mut verdict = Verdict::Empty;
        let mut value = 0u64;
        loop {
            let case = Case::new(self, form, reader, cube.with(shared, value));
            verdict = worse(verdict, case.judge(random));
            if matches!(verdict, Verdict::Differs(_)) || value == shared {
                return verdict;
            }
            value = value.wrapping_sub(shared) & shared;
        }
    }

    /// Looks for a word that reads differently among random ones.
    fn draw(self, opcode: u16, random: &mut Random) -> Option<u64> {
        (0..DRAWS)
            .map(|_| sample(self.old, opcode, random))
            .find(|w| decode(self.old, *w) == Ok(opcode) && self.differs(*w))
    }
}

/// The bits of shared fields that are free in a cube; `None` when there are too many.
fn shared_bits(pair: Pair, cube: Cube) -> Option<u64> {
    let shared = pair.old.shared.iter().chain(pair.new.shared);
    let bits = shared.fold(0, |m, s| m | s.bits.mask(0)) & !cube.mask;
    (bits.count_ones() <= MAX_SHARED).then_some(bits)
}
