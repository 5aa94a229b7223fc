//! Reads a file: a program in any format of the command, a listing of many, compiler output, or a container.

use std::path::Path;

use isaforge_arrow::Set;
use isaforge_cli::code::{self, How};
use isaforge_cli::input::Input;
use isaforge_cli::mistakes::{Place, report};
use isaforge_cli::order::Order;
use isaforge_cli::program;
use isaforge_cli::words::{Encoding, detect};
use isaforge_core::Tables;
use isaforge_core::assembly::Assembly;
use serde_json::Value;

use super::walk::Found;

/// A program and its origin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// Its source: as stated in a listing, or the path that was given.
    pub source: String,
    /// The file that contains it.
    pub file: String,
    /// Its stage; empty if it is not known.
    pub stage: String,
    /// Its code in memory order.
    pub code: Vec<u8>,
}

/// Suffixes of file names that denote a stage.
const STAGES: [(&str, &str); 9] = [
    ("frag", "fragment"),
    ("fs", "fragment"),
    ("vert", "vertex"),
    ("vs", "vertex"),
    ("comp", "compute"),
    ("cs", "compute"),
    ("geom", "geometry"),
    ("tesc", "tessellation control"),
    ("tese", "tessellation evaluation"),
];

/// The stage that a name ends with, ignoring extensions for the format of code.
fn stage_of(name: &str) -> &'static str {
    let parts = name.rsplit(['.', '-', '_']);
    parts.take(3).find_map(|part| STAGES.iter().find(|(ending, _)| *ending == part)).map_or("", |(_, stage)| stage)
}

/// Appends the programs in a file to `programs`, including those before a mistake. Returns how the file was read, if it
/// was not a plain program.
///
/// # Errors
/// When the file cannot be read, or contains no code of the set.
pub fn file(set: &Set, found: &Found, programs: &mut Vec<Program>) -> Result<Option<String>, String> {
    let name = found.path.display().to_string();
    let of_file = || Program {
        name: found.name.clone(),
        source: found.source.clone(),
        file: name.clone(),
        stage: stage_of(&found.name).to_owned(),
        code: Vec::new(),
    };
    let path = Some(found.path.as_path()).filter(|path| path.as_os_str() != "-");
    let input = Input::read(path).map_err(|error| error.to_string())?;
    if input.bytes.is_empty() {
        programs.push(of_file());
        return Ok(None);
    }
    let text = std::str::from_utf8(input.body()).ok().filter(|text| !text.contains('\0'));
    let unpacked = found.path.to_str().unwrap_or_default();
    let unpacked = Path::new(unpacked.strip_suffix(".gz").unwrap_or(unpacked));
    if let Some(text) = text {
        if unpacked.extension().is_some_and(|ending| ["s", "S", "asm"].iter().any(|known| ending == *known)) {
            let code = assembled(&input, text, set.tables().assemble(text))?;
            programs.push(Program { code, ..of_file() });
            return Ok(None);
        }
        if let Some(entries) = entries(text) {
            return objects(set, entries, &of_file(), programs).map(|()| None);
        }
        if let Some(columns) = Columns::of(text) {
            return listing(set, text, &columns, &of_file(), programs).map(|()| None);
        }
        if text.contains("MESA_SHADER_") {
            return log(set, text, &of_file(), programs).map(|()| None);
        }
    }
    let read = code::read(set.tables(), &input, How::default()).map_err(|error| error.to_string())?;
    match read.mistake {
        // The bytes after the last complete word are kept, since the program may have been cut off.
        Some(mistake) if matches!(mistake.place, Place::Byte(_)) && input.bytes.starts_with(&read.code.bytes) => {
            programs.push(Program { code: input.bytes, ..of_file() });
        }
        Some(mistake) => match program::assembly_in(set.tables(), &input, &mistake) {
            Some((text, assembly)) => programs.push(Program { code: assembled(&input, text, assembly)?, ..of_file() }),
            None => return Err(format!("{}: {}", mistake.place, mistake.message)),
        },
        None if read.shaders.is_empty() => programs.push(Program { code: read.code.bytes, ..of_file() }),
        None => programs.extend(read.shaders.into_iter().map(|shader| Program {
            name: format!("{}: {}", found.name, shader.name),
            code: read.code.bytes.get(shader.bytes).unwrap_or_default().to_vec(),
            ..of_file()
        })),
    }
    Ok(read.note)
}

/// The code of assembly. Its errors are reported.
fn assembled(input: &Input, text: &str, assembly: Assembly) -> Result<Vec<u8>, String> {
    if assembly.errors.is_empty() {
        return Ok(assembly.bytes);
    }
    report(&input.name, text, &assembly.errors);
    Err("it has mistakes".to_owned())
}

/// Converts digits to code: words by value unless `order` says otherwise, or for other sets bytes in memory order.
fn code_of(set: &Set, digits: &str, order: Option<Order>) -> Result<Vec<u8>, String> {
    let input = Input::new(String::new(), digits.as_bytes().to_vec());
    if detect(&input.bytes) != Encoding::Hex {
        return Err("the code is not hexadecimal text".to_owned());
    }
    let how = How { encoding: Some(Encoding::Hex), order, ..How::default() };
    let read = code::read(set.tables(), &input, how).map_err(|error| error.to_string())?;
    read.mistake.map_or(Ok(read.code.bytes), |mistake| Err(mistake.message))
}

/// The columns of a tab-separated listing.
#[derive(Debug, Default)]
struct Columns {
    name: Option<usize>,
    source: Option<usize>,
    stage: Option<usize>,
    id: Option<usize>,
    code: usize,
}

impl Columns {
    /// The columns of a listing, which has a program per line with the code in the last column. A first line that
    /// begins with `#` names the columns.
    fn of(text: &str) -> Option<Columns> {
        let mut columns = Columns::default();
        let mut lines = text.lines();
        let mut first = lines.next()?;
        if let Some(head) = first.strip_prefix('#') {
            for (index, name) in head.split('\t').enumerate() {
                let place = match name.trim() {
                    "name" => &mut columns.name,
                    "source" => &mut columns.source,
                    "stage" => &mut columns.stage,
                    "shader" | "id" | "program" => &mut columns.id,
                    _ => continue,
                };
                *place = Some(index);
            }
            first = lines.find(|line| !line.starts_with('#'))?;
        } else {
            columns.name = Some(0);
        }
        columns.code = first.matches('\t').count();
        let code = first.rsplit('\t').next()?;
        let is_code = code.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b' ');
        // The lines of a dump begin with an address.
        let is_dump = first.split('\t').next().is_some_and(|address| address.ends_with(':'));
        (columns.code > 0 && is_code && !is_dump).then_some(columns)
    }
}

fn listing(
    set: &Set,
    text: &str,
    columns: &Columns,
    of_file: &Program,
    programs: &mut Vec<Program>,
) -> Result<(), String> {
    let mut wrong = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        let fields: Vec<&str> = line.split('\t').collect();
        let field = |place: Option<usize>| place.and_then(|place| fields.get(place)).copied();
        let code = fields.get(columns.code).ok_or("a line has fewer columns than the first".to_owned());
        match code.and_then(|code| code_of(set, code, None)) {
            Ok(code) => programs.push(Program {
                name: field(columns.name).or(field(columns.id)).unwrap_or(&of_file.name).to_owned(),
                source: field(columns.source).unwrap_or(&of_file.source).to_owned(),
                stage: field(columns.stage).unwrap_or_default().to_owned(),
                file: of_file.file.clone(),
                code,
            }),
            Err(reason) => wrong.push((format!("line {}", index + 1), reason)),
        }
    }
    are_wrong(&wrong)
}

/// Reports the lines of a listing, or the elements of a list, that could not be read.
fn are_wrong(wrong: &[(String, String)]) -> Result<(), String> {
    match wrong {
        [] => Ok(()),
        [(place, reason)] => Err(format!("{place}: {reason}")),
        [(place, reason), rest @ ..] => Err(format!("{place}: {reason}; and {} more", rest.len())),
    }
}

/// An object with a program, or the reason why it cannot be read, and its place.
type Entry = (String, Result<Value, String>);

/// The objects of a JSON text, if those are programs: a list, one object, or one a line.
fn entries(text: &str) -> Option<Vec<Entry>> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let lines = || {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines.map(|(index, line)| {
            (format!("line {}", index + 1), serde_json::from_str(line).map_err(|error| error.to_string()))
        })
    };
    let entries: Vec<Entry> = match serde_json::from_str(text) {
        Ok(Value::Array(all)) => {
            all.into_iter().enumerate().map(|(index, one)| (format!("element {}", index + 1), Ok(one))).collect()
        }
        Ok(one) => vec![("the object".to_owned(), Ok(one))],
        Err(_) => lines().collect(),
    };
    // Those of `isaforge dis --json` are instructions, with `bytes` but without a name.
    let is_program =
        |object: &Value| !object["words"].is_null() || object["name"].is_string() && !object["bytes"].is_null();
    entries.iter().any(|(_, object)| object.as_ref().is_ok_and(is_program)).then_some(entries)
}

/// Reads objects: `words` is a list of texts or a text, and so is `bytes`, in memory order; `name` and `stage` are
/// optional.
fn objects(set: &Set, entries: Vec<Entry>, of_file: &Program, programs: &mut Vec<Program>) -> Result<(), String> {
    let mut wrong = Vec::new();
    for (place, object) in entries {
        let read = || -> Result<Program, String> {
            let object = object?;
            let (key, order) = match object["words"] {
                Value::Null => ("bytes", Some(Order::Memory)),
                _ => ("words", None),
            };
            let digits = match &object[key] {
                Value::String(digits) => digits.clone(),
                Value::Array(words) => texts(words)?.join(" "),
                Value::Null => return Err("it has neither `words` nor `bytes`".to_owned()),
                other => return Err(format!("`{key}` is neither a text nor a list of texts: {}", short(other))),
            };
            let text = |key: &str| match &object[key] {
                Value::Null => Ok(String::new()),
                Value::String(text) => Ok(text.clone()),
                other => Err(format!("`{key}` is not a text: {}", short(other))),
            };
            let name = Some(text("name")?).filter(|name| !name.is_empty()).unwrap_or_else(|| of_file.name.clone());
            Ok(Program { name, stage: text("stage")?, code: code_of(set, &digits, order)?, ..of_file.clone() })
        };
        match read() {
            Ok(program) => programs.push(program),
            Err(reason) => wrong.push((place, reason)),
        }
    }
    are_wrong(&wrong)
}

/// The words as texts. Numbers are rejected: it is unclear whether their digits denote a word or bytes in memory order,
/// and many JSON writers round numbers of more than 53 bits.
fn texts(words: &[Value]) -> Result<Vec<&str>, String> {
    let others: Vec<&Value> = words.iter().filter(|word| !word.is_string()).collect();
    match others.first() {
        None => Ok(words.iter().filter_map(Value::as_str).collect()),
        Some(first) => {
            Err(format!("{} of {} words are not texts; the first is {}", others.len(), words.len(), short(first)))
        }
    }
}

/// A value as written in the file, truncated if it is long.
fn short(value: &Value) -> String {
    const MAX_SHOWN: usize = 40;
    let text = value.to_string();
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}

/// Reads the output of Mesa's compilers for a run of shader-db: shaders in intermediate forms, instructions as bytes
/// followed by text, and statistics. A program is a sequence of lines with bytes; its blocks are separated by blank
/// lines.
fn log(set: &Set, text: &str, of_file: &Program, programs: &mut Vec<Program>) -> Result<(), String> {
    let size = match set.tables() {
        Tables::Words(_) => set.tables().unit(),
        _ => 1,
    };
    let (mut name, mut stage) = (String::new(), String::new());
    let mut open: Option<Program> = None;
    let first = programs.len();
    for line in text.lines() {
        if let Some(bytes) = bytes_of(line, size) {
            let number = programs.len() - first;
            let program = open.get_or_insert_with(|| Program {
                name: if name.is_empty() { format!("{}#{number}", of_file.name) } else { name.clone() },
                stage: stage.clone(),
                ..of_file.clone()
            });
            program.code.extend(bytes);
            continue;
        }
        if line.trim().is_empty() {
            continue;
        }
        programs.extend(open.take());
        if let Some(known) = stage_in(line) {
            stage = known;
            // Statistics follow their program, and are the only line that names it.
            if let Some((before, _)) = line.split_once(" - MESA_SHADER_")
                && let Some(last) = programs[first..].last_mut()
            {
                last.name = before.rsplit(": ").next().unwrap_or(before).trim().to_owned();
                last.stage.clone_from(&stage);
            }
        } else if let Some(known) = line.trim().strip_prefix("name: ") {
            name = known.trim().to_owned();
        }
    }
    programs.extend(open.take());
    match programs.len() > first {
        true => Ok(()),
        false => Err("it has no instructions as bytes; `BIFROST_MESA_DEBUG=shaders,verbose` prints them".to_owned()),
    }
}

/// The stage named in a line, in Mesa's form.
fn stage_in(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("MESA_SHADER_")?;
    let end = rest.find(|c: char| !c.is_ascii_uppercase() && c != '_').unwrap_or(rest.len());
    Some(rest[..end].to_ascii_lowercase().replace('_', " ")).filter(|stage| !stage.is_empty())
}

/// The bytes at the beginning of a line, if they form an instruction.
fn bytes_of(line: &str, size: usize) -> Option<Vec<u8>> {
    let code = line.trim_start().split("  ").next()?;
    let byte = |digits: &str| (digits.len() == 2).then(|| u8::from_str_radix(digits, 16).ok()).flatten();
    let bytes: Vec<u8> = code.split(' ').map(byte).collect::<Option<_>>()?;
    (bytes.len().is_multiple_of(size) && (size > 1 || bytes.len() > 1)).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_their_stage() {
        let stages = ["a.frag.hex", "b/vs-fma.shader_test", "c.comp", "d.bin"].map(stage_of);
        assert_eq!(stages, ["fragment", "", "compute", ""]);
    }
}
