//! "Did you mean": the candidate nearest to a misspelt word, without allocation.

use core::fmt;

const MAX_NAME: usize = 40;

/// Edit distance of two words, ignoring case: bytes that are inserted, deleted, replaced or swapped with the next one.
/// `None` when either is too long.
pub fn distance(a: &str, b: &str) -> Option<usize> {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() > MAX_NAME || b.len() > MAX_NAME {
        return None;
    }
    let mut older = [0usize; MAX_NAME + 1];
    let mut old: [usize; MAX_NAME + 1] = core::array::from_fn(|j| j);
    for i in 0..a.len() {
        let mut row = [i + 1; MAX_NAME + 1];
        for j in 0..b.len() {
            let same = |x: usize, y: usize| a[x].eq_ignore_ascii_case(&b[y]);
            row[j + 1] = (old[j] + usize::from(!same(i, j))).min(row[j] + 1).min(old[j + 1] + 1);
            if i > 0 && j > 0 && same(i, j - 1) && same(i - 1, j) {
                row[j + 1] = row[j + 1].min(older[j - 1] + 1);
            }
        }
        (older, old) = (old, row);
    }
    Some(old[b.len()])
}

/// The candidate nearest to `word`, if it is close enough to be a likely intention.
///
/// # Examples
///
/// ```
/// use isaforge_core::suggest::nearest;
///
/// assert_eq!(nearest("destinaton", ["source", "destination"]), Some("destination"));
/// assert_eq!(nearest("colour", ["source", "destination"]), None);
/// ```
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let worst = (word.len() / 3).max(1);
    candidates
        .into_iter()
        .filter_map(|c| Some((distance(word, c)?, c)))
        .filter(|(d, _)| *d <= worst)
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

/// Writes the names that are a word and a type, as `MOV.i32` is for `MOV`, or else those with a letter or two more, as
/// `FADD.f32` has for `ADD`: at most three of them, and nothing if there is none.
pub(crate) fn longer(
    f: &mut fmt::Formatter<'_>,
    word: &str,
    names: impl Iterator<Item = &'static str> + Clone,
) -> fmt::Result {
    let has = |stem: &str| stem.as_bytes().windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()));
    let mut named = 0;
    for more in 0..=if word.len() < 2 { 0 } else { 2 } {
        let mut before = "";
        for name in names.clone() {
            let stem = name.split('.').next().unwrap_or(name);
            // Of each longer name, one form is enough.
            if word.is_empty() || stem.len() != word.len() + more || !has(stem) || more > 0 && stem == before {
                continue;
            }
            before = stem;
            f.write_str(if named == 0 { "did you mean " } else { ", " })?;
            write!(f, "`{name}`")?;
            named += 1;
            if named == 3 {
                return f.write_str("?");
            }
        }
        if named > 0 {
            return f.write_str("?");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_slip_of_the_finger_and_nothing_far() {
        let names = ["GLOW.f32", "GLOW.v2f16", "DIMS.u32"];
        assert_eq!(nearest("GLO.f32", names), Some("GLOW.f32"));
        assert_eq!(nearest("dims.u32", names), Some("DIMS.u32"));
        assert_eq!(distance("GLOW.f32", "LGOW.f23"), Some(2));
        assert_eq!(nearest("BRANCH", names), None);
        assert_eq!(nearest("x", [""; 0]), None);
    }
}
