//! "Did you mean": the nearest of the names that would have been right.

/// The candidate nearest to a mistyped `word`, or `None` if none is near enough to be what was meant.
///
/// Case does not count. Up to a third of the letters may differ (at least one, unless the word is a single letter), a swap of
/// neighbours counts once, and longer words that share a beginning are near even if their ends differ more.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let letters = word.chars().count();
    // A distance costs the product of the lengths; nobody mistypes a name of this size.
    if !(1..=64).contains(&letters) {
        return None;
    }
    let mut best: Option<(usize, f64, &str)> = None;
    for candidate in candidates {
        let name = candidate.to_lowercase();
        let length = name.chars().count();
        if length > 64 {
            continue;
        }
        let distance = strsim::damerau_levenshtein(&word, &name);
        let likeness = strsim::jaro_winkler(&word, &name);
        let allowed = if letters.max(length) == 1 { 0 } else { (letters.max(length) / 3).max(1) };
        if distance > allowed && (letters < 4 || likeness < 0.9) {
            continue;
        }
        if best.is_none_or(|(least, most, _)| distance < least || (distance == least && likeness > most)) {
            best = Some((distance, likeness, candidate));
        }
    }
    best.map(|(_, _, candidate)| candidate)
}

/// The names as a phrase: `` `a`, `b` or `c` ``. Beyond eight, the rest is counted: `` `a`, …, `h`, … and 3 more ``.
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
        // Counting one name takes as much room as naming it.
        [most @ .., last] if names.len() <= SHOWN + 1 => format!("{} or {last}", most.join(", ")),
        _ => format!("{}, … and {} more", names[..SHOWN].join(", "), names.len() - SHOWN),
    }
}
