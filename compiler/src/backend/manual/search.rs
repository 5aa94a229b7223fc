//! The records that queries are matched with.

use super::facts::{Book, Values};

/// Returns one record per line, with six tab-separated columns: kind, page, name, title, words, text. The search on the
/// page and the tests both read this format.
pub fn records(book: &Book) -> String {
    let mut out = String::new();
    let mut add = |fields: [&str; 6]| {
        let clean = |field: &str| field.replace(['\t', '\n', '\r'], " ");
        let fields: Vec<String> = fields.into_iter().map(clean).collect();
        out.push_str(&fields.join("\t"));
        out.push('\n');
    };
    for entry in &book.entries {
        let page = format!("i/{}.html", entry.slug);
        let mut words: Vec<&str> = vec![&entry.unit];
        for part in &entry.parts {
            words.push(&part.name);
            if let Values::Flag(text) = &part.values {
                words.push(text.trim_start_matches('.'));
            }
        }
        let opcode =
            book.opcodes.iter().find(|opcode| book.entries.get(opcode.entry).is_some_and(|e| e.slug == entry.slug));
        let code = opcode.map_or(String::new(), |found| codes(found.mask, found.value));
        words.push(&code);
        add(["instruction", &page, &entry.name, &entry.title, &words.join(" "), &entry.doc]);
    }
    for names in &book.enums {
        let page = format!("values.html#{}", names.slug);
        let words: Vec<&str> = names.values.iter().map(|(_, text, _)| text.as_str()).collect();
        add(["values", &page, &names.name, &names.doc, &words.join(" "), ""]);
    }
    for kind in &book.kinds {
        let page = format!("operands.html#{}", kind.slug);
        let words: Vec<&str> = kind.readings.iter().map(|reading| reading.name.as_str()).collect();
        add(["operand", &page, &kind.name, &kind.doc, &words.join(" "), ""]);
    }
    for bank in &book.banks {
        add(["registers", "registers.html", &bank.name, &bank.doc, &format!("{} {}", bank.ends.0, bank.ends.1), ""]);
    }
    for slot in &book.slots {
        add(["group", "groups.html", &slot.name, &slot.doc, "", ""]);
    }
    out
}

/// The opcode bits as numbers that someone may search for: each run of them in hexadecimal.
fn codes(mask: u64, value: u64) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut rest = mask;
    while rest != 0 {
        let low = rest.trailing_zeros();
        let width = (rest >> low).trailing_ones();
        let bits = value >> low & isaforge_core::bits::ones(width);
        if width >= 3 {
            out.push(format!("0x{bits:x}"));
        }
        rest &= !(isaforge_core::bits::ones(width) << low);
    }
    out.join(" ")
}
