//! A single instruction: its bits, fields, registers and semantics.

use isaforge_analysis::Set;
use isaforge_analysis::entry::entries;
use isaforge_core::Tables;
use isaforge_core::annotate::Role;
use isaforge_core::data::Architecture;
use isaforge_core::decode::decode;
use isaforge_core::explain::picture::picture;
use isaforge_core::explain::{Field, groups, hex, name_keys, words};
use isaforge_core::group::info::operations;
use isaforge_core::group::text::SEPARATOR;
use isaforge_core::number;
use isaforge_core::parse::parse;
use isaforge_core::print::{Style, print};
use isaforge_core::stream::{self, Engine, Source, Wide, annotate};
use isaforge_core::text::Line;
use isaforge_core::{Isa, group};

use crate::input::{Pasted, Unit, read, value};
use crate::json::Json;

/// The bits of one record, or of the whole word.
struct Part {
    title: String,
    doc: String,
    /// Offset of its first bit in the code.
    start: usize,
    bits: u16,
    digits: String,
    fields: Vec<Field>,
}

/// Everything in an answer.
#[derive(Default)]
struct Answer {
    code: String,
    text: String,
    name: String,
    error: String,
    parts: Vec<Part>,
    reads: Vec<String>,
    writes: Vec<String>,
    does: String,
    here: String,
    picture: String,
}

/// The number of hexadecimal digits in a word.
pub fn digits(isa: &Isa) -> usize {
    usize::from(isa.word_bits).div_ceil(4).max(1)
}

/// What the instructions of a set consist of.
pub fn unit(tables: Tables) -> Unit {
    match tables {
        Tables::Words(isa) => Unit::Word(digits(isa)),
        Tables::Groups(_) => Unit::Byte { values: false },
        Tables::Streams(_) => Unit::Byte { values: true },
    }
}

/// Parses bytes in hexadecimal.
pub fn bytes(code: &str) -> Option<Vec<u8>> {
    match read(code, Unit::Byte { values: true }) {
        Pasted::Bytes(digits) => Some(digits.chunks(2).map(|pair| value(pair) as u8).collect()),
        _ => None,
    }
}

/// The code and text of the instruction in a query, which is either all of its digits or assembly.
pub fn code_of(tables: Tables, query: &str) -> Option<(String, String)> {
    let query = query.trim();
    let text = query.contains(char::is_whitespace);
    let mut line = Line::new();
    let code = match tables {
        Tables::Words(isa) => {
            let (opcode, word) = match read(query, unit(tables)) {
                Pasted::Words(word) if query.len() >= digits(isa) && word.len() == digits(isa) => {
                    let word = value(&word);
                    (decode(isa, word).ok()?, word)
                }
                Pasted::Text(_) if text => parse(isa, query).ok()?,
                _ => return None,
            };
            print(isa, opcode, word, Style::Customary, &mut line);
            format!("{word:0width$x}", width = digits(isa))
        }
        Tables::Groups(isa) => {
            let group = match bytes(query) {
                Some(bytes) => group::decode(isa, &bytes).ok().filter(|group| group.len() == bytes.len())?,
                None if text => group::assemble(isa, query).ok()?.encode(isa).ok()?,
                None => return None,
            };
            group::print(isa, &group, SEPARATOR, &mut line);
            hex(group.as_bytes())
        }
        Tables::Streams(engine) => {
            let decoded = match bytes(query) {
                Some(bytes) => engine.decode(&bytes).ok().filter(|found| usize::from(found.len) == bytes.len())?,
                None if text => engine.parse(query).ok()?.decoded,
                None => return None,
            };
            engine.print(&decoded, &mut line);
            hex(engine.store(decoded.word).get(..usize::from(decoded.len))?)
        }
    };
    Some((code, line.as_str().to_owned()))
}

/// Explains the instruction with these digits.
pub fn answer(architecture: &Architecture, code: &str, json: &mut Json) {
    let mut answer = match architecture.tables {
        Tables::Words(isa) => of_word(architecture, isa, code),
        Tables::Groups(isa) => of_group(architecture, isa, code),
        Tables::Streams(engine) => of_stream(architecture, engine, code),
    };
    add_registers(architecture, &mut answer);
    write(&answer, json);
}

/// Adds the registers and states that the instruction accesses.
fn add_registers(architecture: &Architecture, answer: &mut Answer) {
    let set = Set::new(architecture.tables, architecture.semantics, architecture.hardware);
    let code = bytes(&memory(architecture.tables)(&answer.code)).unwrap_or_default();
    let Some(instruction) = entries(&set, &code).next().and_then(|entry| entry.instruction.ok()) else { return };
    let texts = |write| instruction.accesses(&set, write).iter().map(ToString::to_string).collect();
    (answer.reads, answer.writes) = (texts(false), texts(true));
}

/// Sets bits and answers with the digits, which are as many as before, or says why the value is refused. The lines of
/// the request are the digits, the runs of bits (`high low`, most significant run first), and the value.
pub fn set(tables: Tables, request: &str, json: &mut Json) {
    let mut lines = request.lines();
    let (code, runs, value) = (lines.next().unwrap_or(""), lines.next().unwrap_or(""), lines.next().unwrap_or(""));
    let runs: Vec<usize> = runs.split_whitespace().filter_map(|bit| bit.parse().ok()).collect();
    let runs: Vec<(usize, usize)> = runs.chunks_exact(2).map(|run| (run[0].max(run[1]), run[1])).collect();
    let width = runs.iter().map(|(high, low)| high - low + 1).sum();
    let all = Some(code).map(memory(tables)).and_then(|code| bytes(&code));
    let all = all.ok_or_else(|| "these are not hexadecimal digits".to_owned());
    let set = all.and_then(|mut all| {
        let mut rest = fitting(value.trim(), width)?;
        for (high, low) in runs.iter().rev() {
            for bit in *low..=*high {
                if let Some(byte) = all.get_mut(bit / 8) {
                    *byte = *byte & !(1 << (bit % 8)) | ((rest & 1) as u8) << (bit % 8);
                }
                rest >>= 1;
            }
        }
        Ok(all)
    });
    json.object(|json| match set {
        Ok(all) => json.field("code", |json| {
            let code = memory(tables)(&hex(&all));
            let skipped = if let Tables::Words(isa) = tables { code.len().saturating_sub(digits(isa)) } else { 0 };
            json.text(&code[skipped..]);
        }),
        Err(why) => json.field("refused", |json| json.text(&why)),
    });
}

/// Parses a number for a field of `bits` bits: decimal, or with `0x` or `0b`; it may have a sign.
fn fitting(text: &str, bits: usize) -> Result<i128, String> {
    let (negative, magnitude) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let parsed = number::parse(magnitude).map(i128::from);
    let value = parsed.ok_or_else(|| format!("`{text}` is no number: write it like 12, 0x1f or 0b101"))?;
    let value = if negative { -value } else { value };
    let bits = bits.clamp(1, 64);
    let (least, most) = (-(1 << (bits - 1)), (1 << bits) - 1);
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    Err(format!("`{text}` does not fit in {bits} bits: write a number from {least} to {most}"))
}

/// The value of a field as it is shown: with a sign where the text has a negative number.
fn shown(field: &Field) -> String {
    let width = field.width().clamp(1, 64);
    let value = isaforge_core::bits::sign_extend(field.value, width);
    let minus = field.text.split('-').skip(1).any(|after| after.starts_with(|c: char| c.is_ascii_digit()));
    if minus && value < 0 { value.to_string() } else { format!("{:#x}", field.value) }
}

/// Converts between the digits of a word and its bytes in memory, which are in opposite order.
fn memory(tables: Tables) -> impl Fn(&str) -> String {
    move |code| match tables {
        Tables::Words(isa) => {
            let width = digits(isa).next_multiple_of(2);
            let mut pairs = bytes(&format!("{code:0>width$}")).unwrap_or_default();
            pairs.reverse();
            hex(&pairs)
        }
        _ => code.to_owned(),
    }
}

fn of_word(architecture: &Architecture, isa: &'static Isa, code: &str) -> Answer {
    let digits = digits(isa);
    let Some(word) = u64::from_str_radix(code.trim().trim_start_matches("0x"), 16).ok() else {
        return Answer { error: "these are not hexadecimal digits".to_owned(), ..Answer::default() };
    };
    let word = word & isaforge_core::bits::ones(isa.word_bits.into());
    let found = words::explain(isa, word);
    let mut answer = Answer { code: format!("{word:0digits$x}"), ..Answer::default() };
    if let Some(form) = found.opcode.and_then(|opcode| isa.forms.get(usize::from(opcode))) {
        answer.name = form.name.str.to_owned();
    }
    match &found.decoded {
        Ok(opcode) => {
            let mut line = Line::new();
            print(isa, *opcode, word, Style::Customary, &mut line);
            answer.text = line.as_str().to_owned();
            if let Some((does, here)) =
                architecture.semantics.and_then(|known| words::operation(isa, known, *opcode, word))
            {
                (answer.does, answer.here) = (does.to_owned(), here);
            }
        }
        Err(error) => answer.error = error.to_string(),
    }
    answer.parts.push(Part {
        title: String::new(),
        doc: String::new(),
        start: 0,
        bits: isa.word_bits.into(),
        digits: binary(word, isa.word_bits.into()),
        fields: found.fields,
    });
    answer
}

fn binary(word: u64, bits: u16) -> String {
    (0..bits).rev().map(|bit| if word >> bit & 1 == 0 { '0' } else { '1' }).collect()
}

/// The bits of an invalid instruction, so that a bit flipped by mistake can be flipped back.
fn plain(bytes: &[u8]) -> Part {
    let bytes = bytes.get(..32).unwrap_or(bytes);
    let digits: String = bytes.iter().rev().map(|byte| format!("{byte:08b}")).collect();
    Part { title: String::new(), doc: String::new(), start: 0, bits: digits.len() as u16, digits, fields: Vec::new() }
}

fn of_group(architecture: &Architecture, isa: &'static group::GroupIsa, code: &str) -> Answer {
    let bytes = bytes(code).unwrap_or_default();
    let mut answer = Answer { code: hex(&bytes), ..Answer::default() };
    let found = match group::decode(isa, &bytes) {
        Ok(found) => found,
        Err(error) => {
            answer.error = error.to_string();
            answer.parts.push(plain(&bytes));
            return answer;
        }
    };
    let mut line = Line::new();
    group::print(isa, &found, SEPARATOR, &mut line);
    answer.text = line.as_str().to_owned();
    answer.code = hex(found.as_bytes());
    answer.picture = picture(isa, architecture.semantics, &found);
    answer.name = operations(isa, &found).map(|(_, _, operation)| operation.name).next().unwrap_or("").to_owned();
    for (index, slot) in isa.slots.iter().enumerate() {
        let Some(record) = found.record(isa, index).filter(|record| record.bytes > 0) else { continue };
        let mut fields = groups::fields(isa, &found, index, record);
        name_keys(&mut fields);
        let bits = u16::from(record.bytes) * 8;
        answer.parts.push(Part {
            title: format!("{} ({})", slot.name, record.name),
            doc: slot.doc.to_owned(),
            start: found.start(index) * 8,
            bits,
            digits: binary(found.word(index), bits),
            fields,
        });
    }
    answer
}

fn of_stream(architecture: &Architecture, engine: Engine, code: &str) -> Answer {
    let bytes = bytes(code).unwrap_or_default();
    let mut answer = Answer { code: hex(&bytes), ..Answer::default() };
    let decoded = match engine.decode(&bytes) {
        Ok(decoded) => decoded,
        Err(error) => {
            answer.error = error.to_string();
            answer.parts.push(plain(&bytes));
            return answer;
        }
    };
    let mut line = Line::new();
    engine.print(&decoded, &mut line);
    answer.text = line.as_str().to_owned();
    answer.code = hex(bytes.get(..usize::from(decoded.len)).unwrap_or_default());
    let layout = engine.scope(&decoded).layout;
    if let Some(instruction) = engine.stream.instructions.get(usize::from(layout.opcode)) {
        answer.name = instruction.name.to_owned();
    }
    let bits = u16::from(decoded.len) * 8;
    let mut fields = Vec::new();
    annotate(engine, &decoded, &mut |note| {
        let runs = |bits: Wide| bits.runs().map(|(at, width)| ((at + width - 1) as u8, at as u8)).collect::<Vec<_>>();
        let Some(field) = note.field else {
            let role = if note.constant { Role::Opcode } else { Role::Ignored };
            for (at, width) in note.bits.runs() {
                let value = note.value.get(at, width.min(64));
                fields.push(Field::new(vec![((at + width - 1) as u8, at as u8)], "", role, value));
            }
            return;
        };
        if field.name.ends_with(" in bits") {
            return;
        }
        let index = layout.fields.iter().position(|other| std::ptr::eq(other, field));
        let operand = layout.operands.iter().any(|operand| Some(usize::from(operand.field)) == index);
        let mut places = match field.source {
            Source::Bits(pieces) => {
                // A short form of the instruction may lack some of them.
                let pieces = pieces.iter().filter(|piece| piece.width > 0 && piece.at < bits);
                let high = |piece: &stream::Piece| (piece.at + u16::from(piece.width)).min(bits) - 1;
                pieces.map(|piece| (high(piece) as u8, piece.at as u8)).collect()
            }
            _ => runs(note.bits),
        };
        places.reverse();
        let role = if operand { Role::Operand } else { Role::Modifier };
        let mut entry = Field::new(places, field.name, role, note.value.get(0, 64));
        entry.text = note.text.as_str().to_owned();
        entry.meaning = field.doc.to_owned();
        fields.push(entry);
    });
    name_keys(&mut fields);
    answer.parts.push(Part {
        title: String::new(),
        doc: String::new(),
        start: 0,
        bits,
        digits: (0..u32::from(bits)).rev().map(|bit| if decoded.word.get(bit, 1) == 0 { '0' } else { '1' }).collect(),
        fields,
    });
    let meaning = architecture.semantics.and_then(|known| known.operations.get(usize::from(layout.opcode)));
    answer.does = meaning.map_or(String::new(), |operation| operation.text.to_owned());
    answer
}

fn role(field: &Field) -> &'static str {
    match field.role {
        _ if field.wrong => "wrong",
        Some(Role::Opcode) => "opcode",
        Some(Role::Fixed) => "fixed",
        Some(Role::Modifier) => "modifier",
        Some(Role::Operand) => "operand",
        Some(Role::Suffix) => "suffix",
        Some(Role::Shared) => "shared",
        Some(Role::Ignored) | None => "ignored",
    }
}

fn write(answer: &Answer, json: &mut Json) {
    json.object(|json| {
        let texts = [
            ("code", &answer.code),
            ("text", &answer.text),
            ("name", &answer.name),
            ("error", &answer.error),
            ("does", &answer.does),
            ("here", &answer.here),
            ("picture", &answer.picture),
        ];
        for (name, text) in texts {
            json.field(name, |json| json.text(text));
        }
        for (name, list) in [("reads", &answer.reads), ("writes", &answer.writes)] {
            json.field(name, |json| json.array(|json| list.iter().for_each(|text| json.text(text))));
        }
        json.field("parts", |json| json.array(|json| answer.parts.iter().for_each(|part| write_part(part, json))));
    });
}

fn write_part(part: &Part, json: &mut Json) {
    json.object(|json| {
        json.field("title", |json| json.text(&part.title));
        json.field("doc", |json| json.text(&part.doc));
        json.field("start", |json| json.number(part.start as i64));
        json.field("bits", |json| json.number(part.bits.into()));
        json.field("digits", |json| json.text(&part.digits));
        json.field("fields", |json| {
            json.array(|json| {
                for field in &part.fields {
                    json.object(|json| {
                        json.field("key", |json| json.text(&field.key.to_string()));
                        json.field("name", |json| json.text(&field.full_name()));
                        json.field("role", |json| json.text(role(field)));
                        json.field("value", |json| json.text(&shown(field)));
                        json.field("text", |json| json.text(&field.text));
                        json.field("meaning", |json| json.text(&field.meaning));
                        json.field("runs", |json| {
                            json.array(|json| {
                                for (high, low) in &field.runs {
                                    json.array(|json| {
                                        json.number((*high).into());
                                        json.number((*low).into());
                                    });
                                }
                            });
                        });
                    });
                }
            });
        });
    });
}
