//! "Did you mean": the candidate nearest to a misspelt word, without allocation.

const MAX_NAME: usize = 40;

/// Edit distance (insertions, deletions, replacements) of two words, ignoring case; `None` when either is too long.
fn distance(a: &[u8], b: &[u8]) -> Option<usize> {
    if a.len() > MAX_NAME || b.len() > MAX_NAME {
        return None;
    }
    let mut row = [0usize; MAX_NAME + 1];
    for (j, cell) in row.iter_mut().enumerate().take(b.len() + 1) {
        *cell = j;
    }
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replace = diagonal + !x.eq_ignore_ascii_case(y) as usize;
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
        }
    }
    Some(row[b.len()])
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
        .filter_map(|c| Some((distance(word.as_bytes(), c.as_bytes())?, c)))
        .filter(|(d, _)| *d <= worst)
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_slip_of_the_finger_and_nothing_far() {
        let names = ["GLOW.f32", "GLOW.v2f16", "DIMS.u32"];
        assert_eq!(nearest("GLO.f32", names), Some("GLOW.f32"));
        assert_eq!(nearest("dims.u32", names), Some("DIMS.u32"));
        assert_eq!(nearest("BRANCH", names), None);
        assert_eq!(nearest("x", [""; 0]), None);
    }
}
