//! The search in the pages of a manual.

use isaforge_core::number;
use isaforge_core::suggest::distance;

/// A searchable item.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its kind: `instruction`, `values`, `operand`, `registers`, `group`.
    pub kind: String,
    /// The path of its page, relative to the folder of the manual.
    pub page: String,
    /// Its name.
    pub name: String,
    /// A title of a few words.
    pub title: String,
    lower: String,
    stems: Vec<String>,
    title_words: Vec<String>,
    words: Vec<String>,
    text: Vec<String>,
}

/// Parses records: one per line, six columns separated by tabs. Other lines are skipped.
pub fn records(text: &str) -> Vec<Record> {
    let record = |line: &str| {
        let columns: Vec<&str> = line.split('\t').collect();
        let [kind, page, name, title, words, text] = columns.as_slice() else { return None };
        let lower = name.to_lowercase();
        Some(Record {
            kind: (*kind).to_owned(),
            page: (*page).to_owned(),
            name: (*name).to_owned(),
            title: (*title).to_owned(),
            stems: split(&apart(name).to_lowercase()),
            lower,
            title_words: split(&title.to_lowercase()),
            words: words.to_lowercase().split_whitespace().map(str::to_owned).collect(),
            text: split(&text.to_lowercase()),
        })
    };
    text.lines().filter_map(record).collect()
}

/// Words that are ignored in queries.
const IDLE: [&str; 14] =
    ["a", "an", "the", "of", "to", "in", "for", "from", "with", "and", "instruction", "how", "is", "what"];

/// Synonyms in descriptions of instructions: all words of a list are searched for any one of them.
const ALIKE: [&[&str]; 24] = [
    &["int", "integer", "ints", "s32", "i32"],
    &["float", "floating", "f32", "fp32", "single"],
    &["half", "f16", "fp16"],
    &["convert", "conversion", "cvt", "cast"],
    &["multiply", "mul", "product", "multiplication"],
    &["add", "sum", "addition", "plus"],
    &["subtract", "sub", "difference", "minus"],
    &["divide", "div", "division", "quotient"],
    &["load", "read", "fetch", "ld"],
    &["store", "write", "st"],
    &["branch", "jump", "goto", "br"],
    &["compare", "comparison", "cmp", "less", "greater", "equal"],
    &["minimum", "min", "smaller"],
    &["maximum", "max", "larger"],
    &["shift", "shl", "shr", "lsl", "lsr"],
    &["texture", "tex", "sample", "sampler"],
    &["reciprocal", "rcp", "recip", "frcp"],
    &["sqrt", "root", "rsq", "square"],
    &["logarithm", "log", "log2"],
    &["exponent", "exp", "exp2", "power"],
    &["select", "mux", "choose", "conditional", "csel"],
    &["copy", "move", "mov"],
    &["barrier", "sync", "synchronise", "wait"],
    &["absolute", "abs", "magnitude"],
];

/// Inserts blanks between the words of a name at capitals: `AddFloat16` has two words.
fn apart(name: &str) -> String {
    let mut out = String::new();
    let mut small = false;
    for c in name.chars() {
        if c.is_uppercase() && small {
            out.push(' ');
        }
        small = c.is_lowercase() || c.is_ascii_digit() && small;
        out.push(c);
    }
    out
}

fn split(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !(c.is_alphanumeric())).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// The best `most` records for a query, best first.
pub fn search<'r>(records: &'r [Record], query: &str, most: usize) -> Vec<&'r Record> {
    let query = query.trim().to_lowercase();
    let tokens: Vec<&str> = query.split_whitespace().collect();
    let useful: Vec<&str> = tokens.iter().copied().filter(|token| !IDLE.contains(token)).collect();
    let tokens = if useful.is_empty() { tokens } else { useful };
    if tokens.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<(u32, &Record)> = Vec::new();
    for record in records {
        let scores: Vec<u32> = tokens.iter().map(|token| score(record, token)).collect();
        let hits = scores.iter().filter(|score| **score > 0).count() as u32;
        let mut total: u32 = scores.iter().sum();
        if total == 0 {
            continue;
        }
        // A record that matches more words is better, however well another one matches fewer.
        total += 400 * hits;
        total += u32::from(record.kind == "instruction") * 60;
        if record.lower == query {
            total += 1000;
        } else if tokens.len() > 1 && record.title.to_lowercase().contains(&query) {
            total += 150;
        }
        found.push((total, record));
    }
    if found.is_empty() {
        return similar(records, &tokens, most);
    }
    // The shortest name is usually the basic instruction; ties keep the order of the records.
    found.sort_by_key(|(score, record)| (std::cmp::Reverse(*score), record.lower.len()));
    found.into_iter().take(most).map(|(_, record)| record).collect()
}

/// The records with a name, or a word of it, that is a typing mistake away from a word of the query, nearest first.
fn similar<'r>(records: &'r [Record], tokens: &[&str], most: usize) -> Vec<&'r Record> {
    let nearest = |record: &Record| {
        let names = || {
            let bare = record.lower.split('.').next();
            let words = record.stems.iter().chain(&record.title_words).map(String::as_str);
            words.chain([record.lower.as_str()]).chain(bare)
        };
        let pairs = tokens.iter().flat_map(|token| names().map(move |name| (token, name)));
        pairs.filter_map(|(token, name)| mistakes(token, name)).min()
    };
    let mut found: Vec<(usize, &Record)> =
        records.iter().filter_map(|record| Some((nearest(record)?, record))).collect();
    found.sort_by_key(|(mistakes, record)| (*mistakes, record.kind != "instruction", record.lower.len()));
    found.into_iter().take(most).map(|(_, record)| record).collect()
}

/// The number of letters that are wrong, missing, added or swapped with the next one, if they are few for the length.
fn mistakes(token: &str, name: &str) -> Option<usize> {
    let allowed = match token.chars().count() {
        0..4 => return None,
        4..7 => 1,
        _ => 2,
    };
    if token.len().abs_diff(name.len()) > allowed {
        return None;
    }
    distance(token, name).filter(|mistakes| *mistakes <= allowed)
}

/// The score of a record for a word of the query; 0 if it does not match.
fn score(record: &Record, token: &str) -> u32 {
    let own = exact(record, token);
    let alike = ALIKE.iter().filter(|list| list.contains(&token)).flat_map(|list| list.iter());
    // A synonym is nearly as good.
    let other = alike.filter(|word| **word != token).map(|word| exact(record, word) * 3 / 4).max().unwrap_or(0);
    own.max(other)
}

fn exact(record: &Record, token: &str) -> u32 {
    let bare = token.trim_start_matches('.');
    let number = number(token);
    let any = |words: &[String], fits: &dyn Fn(&str) -> bool| words.iter().any(|word| fits(word));
    let is = |word: &str| word == bare;
    let begins = |word: &str| bare.len() >= 2 && word.starts_with(bare);
    let near = |word: &str| bare.len() >= 5 && word.len() >= 5 && word.as_bytes()[..5] == bare.as_bytes()[..5];
    if record.lower == token {
        200
    } else if record.stems.first().is_some_and(|stem| stem == bare) {
        150
    } else if record.lower.starts_with(token) {
        120
    } else if any(&record.stems, &is) {
        110
    } else if any(&record.words, &|word| number.is_some() && self::number(word) == number) {
        105
    } else if any(&record.title_words, &is) {
        90
    } else if any(&record.words, &is) {
        80
    } else if any(&record.stems, &begins) || token.len() >= 3 && record.lower.contains(token) {
        70
    } else if any(&record.title_words, &begins) {
        60
    } else if any(&record.title_words, &near) {
        50
    } else if any(&record.words, &begins) {
        40
    } else if any(&record.text, &is) {
        30
    } else if any(&record.text, &begins) || any(&record.text, &near) {
        15
    } else {
        0
    }
}

/// Parses a number with a hexadecimal prefix; without the prefix, a word could also be a name.
fn number(token: &str) -> Option<u64> {
    token.strip_prefix("0x").and_then(|_| number::parse(token))
}
