//! "Did you mean": finds the valid name nearest to a misspelt one.

/// The candidate nearest to a mistyped `word`, or `None` if none is near enough.
///
/// Case is ignored. Up to a third of the letters may differ (at least one, unless the word is a single letter), and a
/// swap of neighbours counts as one difference. Longer words with a common beginning are near even if their ends differ
/// more.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest(word, &mut candidates.into_iter())
}

/// Takes a trait object so that it is compiled once, not for each iterator type.
fn nearest<'a>(word: &str, candidates: &mut dyn Iterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.chars().flat_map(char::to_lowercase).take(MAX_NAME + 1).collect();
    // A distance costs the product of the lengths. Names this long are not typed by hand.
    if !(1..=MAX_NAME).contains(&word.len()) {
        return None;
    }
    let own = Letters::of(&word);
    let text = String::from_iter(&word);
    let mut best: Option<(usize, f64, &str)> = None;
    let mut name: Vec<char> = Vec::new();
    for candidate in candidates {
        // A character has at most four bytes.
        if candidate.len() > 4 * MAX_NAME {
            continue;
        }
        name.clear();
        name.extend(candidate.chars().flat_map(char::to_lowercase));
        let longer = word.len().max(name.len());
        if longer > MAX_NAME || name.is_empty() {
            continue;
        }
        let allowed = if longer == 1 { 0 } else { (longer / 3).max(1) };
        let alike = |likeness: f64| word.len() >= 4 && likeness >= LIKE;
        // Most names share too few letters to be near; this test rejects them cheaply.
        let common = own.common(&Letters::of(&name));
        if longer - common > allowed && !alike(most_likeness(&word, &name, common)) {
            continue;
        }
        let spelled = String::from_iter(&name);
        let distance = strsim::osa_distance(&text, &spelled);
        let likeness = strsim::jaro_winkler(&text, &spelled);
        if distance > allowed && !alike(likeness) {
            continue;
        }
        if best.is_none_or(|(least, most, _)| distance < least || (distance == least && likeness > most)) {
            best = Some((distance, likeness, candidate));
        }
    }
    best.map(|(_, _, candidate)| candidate)
}

/// The longest name that is compared, in characters.
const MAX_NAME: usize = 64;
/// The Jaro–Winkler similarity from which two names are near even if their ends differ.
const LIKE: f64 = 0.9;

/// How often each letter occurs. Letters with the same low bits share a count.
struct Letters([u8; 64]);

impl Letters {
    fn of(name: &[char]) -> Self {
        let mut counts = [0; 64];
        name.iter().for_each(|c| counts[*c as usize & 63] += 1);
        Letters(counts)
    }

    /// An upper bound for the number of letters that two names have in common.
    fn common(&self, other: &Letters) -> usize {
        self.0.iter().zip(other.0).map(|(a, b)| usize::from(*a.min(&b))).sum()
    }
}

/// An upper bound for the Jaro–Winkler similarity of two names with `common` letters in common.
fn most_likeness(a: &[char], b: &[char], common: usize) -> f64 {
    let common = common as f64;
    let jaro = (common / a.len() as f64 + common / b.len() as f64 + 1.0) / 3.0;
    let prefix = a.iter().zip(b).take(4).take_while(|(a, b)| a == b).count() as f64;
    jaro + 0.1 * prefix * (1.0 - jaro)
}

/// Joins names to a phrase: `` `a`, `b` or `c` ``. Of more than nine, eight are listed:
/// `` `a`, …, `h`, … and 3 more ``.
pub fn one_of<I>(candidates: I) -> String
where
    I: IntoIterator,
    I::Item: AsRef<str>,
{
    const SHOWN: usize = 8;
    let names: Vec<String> = candidates.into_iter().map(|name| format!("`{}`", name.as_ref())).collect();
    match names.as_slice() {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        // Naming the last one takes no more room than counting it.
        [most @ .., last] if names.len() <= SHOWN + 1 => format!("{} or {last}", most.join(", ")),
        _ => format!("{}, … and {} more", names[..SHOWN].join(", "), names.len() - SHOWN),
    }
}
