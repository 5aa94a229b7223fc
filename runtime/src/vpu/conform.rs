//! Conformance: programs with known results, words with known fields, words that must be refused.

use std::fmt;

use isaforge_core::annotate::Role;
use isaforge_vpu::decode;
use serde_json::Value;

use crate::engine::Execution;
use crate::vpu::error::RunError;
use crate::vpu::machine::{Config, Machine};
use crate::vpu::processor::Ended;
use crate::vpu::program::{assemble, refusal, text};
use crate::vpu::scene::{Scene, SceneError, hex_bytes, number, tiles};

/// Why a line of the corpus cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConformError {
    /// It is not JSON.
    #[error("not JSON: {0}")]
    Json(String),
    /// Something is missing or malformed.
    #[error("`{0}` is missing or malformed")]
    Shape(&'static str),
    /// Its start state cannot be set up.
    #[error(transparent)]
    Scene(#[from] SceneError),
}

/// How a program was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To completion.
    Completion,
    /// Cycle by cycle.
    Cycles,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Way::Completion => "to completion",
            Way::Cycles => "cycle by cycle",
        })
    }
}

/// The result of running a program of the corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The program's name.
    pub name: String,
    /// Its kind, `a` to `e`.
    pub kind: String,
    /// Its family.
    pub family: String,
    /// Instructions issued.
    pub steps: u64,
    /// Everything that differs from the expectation; empty when the program passes.
    pub problems: Vec<String>,
}

impl Verdict {
    /// Whether everything is as expected.
    pub fn passes(&self) -> bool {
        self.problems.is_empty()
    }
}

/// The maximum number of problems that are reported for one run.
const MAX_PROBLEMS: usize = 20;

/// Runs a line of `programs.jsonl` both ways and compares the results; its text must also assemble to the same words.
///
/// # Errors
/// When the line is malformed.
pub fn program(line: &str) -> Result<Verdict, ConformError> {
    program_with(Execution::best(), line, &Config::default())
}

/// Does the same as [`program`] with the given engine, on a machine of this configuration, except that tile size and
/// memory come from the line.
///
/// # Errors
/// When the line is malformed.
pub fn program_with(execution: Execution, line: &str, config: &Config) -> Result<Verdict, ConformError> {
    let value: Value = serde_json::from_str(line).map_err(|e| ConformError::Json(e.to_string()))?;
    let string = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let words = value["words"].as_array().ok_or(ConformError::Shape("words"))?;
    let word = |v: &Value| v.as_str().and_then(|s| u64::from_str_radix(s, 16).ok());
    let words: Vec<u64> = words.iter().map(word).collect::<Option<_>>().ok_or(ConformError::Shape("words"))?;
    let expect = value.get("expect").filter(|e| e.is_object()).ok_or(ConformError::Shape("expect"))?;
    let scene = Scene::from_value(&value["start"])?;
    let mut verdict = Verdict {
        name: string("name"),
        kind: string("kind"),
        family: string("family"),
        steps: 0,
        problems: Vec::new(),
    };
    for way in [Way::Completion, Way::Cycles] {
        let mut machine = scene.machine(&words, config)?;
        machine.set_execution(execution);
        let report = match way {
            Way::Completion => machine.run(),
            Way::Cycles => machine.run_cycles(),
        };
        verdict.steps = report.as_ref().map_or(0, |r| r.steps);
        let problems = compare(&machine, report.err(), expect)?;
        verdict.problems.extend(problems.into_iter().take(MAX_PROBLEMS).map(|p| format!("{way}: {p}")));
    }
    verdict.problems.extend(reassembles(&words));
    Ok(verdict)
}

fn reassembles(words: &[u64]) -> Option<String> {
    let source: String = words.iter().map(|w| text(*w) + "\n").collect();
    match assemble(&source) {
        Ok(again) if again == words => None,
        Ok(again) => {
            let at = (0..words.len()).find(|i| again.get(*i) != Some(&words[*i])).unwrap_or(0);
            Some(format!("the text `{}` assembles to another word than {:016x}", text(words[at]), words[at]))
        }
        Err(errors) => errors.first().map(|e| format!("the text does not assemble: {e}")),
    }
}

fn compare(machine: &Machine, error: Option<RunError>, expect: &Value) -> Result<Vec<String>, ConformError> {
    let mut problems: Vec<String> = error.iter().map(ToString::to_string).collect();
    for (buffer, data) in tiles_expected(machine, expect)? {
        let found = machine.tiles(0).map_or(&[][..], |t| &t[buffer].data);
        let width = machine.tile_size().width();
        for (i, (found, expected)) in found.iter().zip(&data).enumerate() {
            differ(&mut problems, &format!("tile {buffer} at ({}, {})", i % width, i / width), *found, expected);
        }
    }
    if let Some(value) = expect.get("external") {
        let expected = hex_bytes(value, "external")?;
        let found = machine.memory().bytes();
        if let Some(at) = (0..expected.len().max(found.len())).find(|i| expected.get(*i) != found.get(*i)) {
            let byte = |bytes: &[u8]| bytes.get(at).map_or("nothing".to_owned(), |b| format!("{b:02x}"));
            problems.push(format!("external memory at {at:#x}: {} instead of {}", byte(&found), byte(&expected)));
        }
    }
    if expect.get("local").is_some() {
        match machine.ended(0) {
            [ended] => compare_group(&mut problems, ended, expect)?,
            _ => problems.push("the group has not ended".to_owned()),
        }
    }
    Ok(problems)
}

/// An expected element; `None` stands for any NaN.
type Expected = [Option<u16>; 4];

fn expected(value: &Value) -> Result<Expected, ConformError> {
    let items = value.as_array().filter(|a| a.len() == 4).ok_or(ConformError::Shape("expect"))?;
    let mut result = [None; 4];
    for (to, item) in result.iter_mut().zip(items) {
        let text = item.as_str().ok_or(ConformError::Shape("expect"))?;
        *to = match text {
            "nan" => None,
            _ => Some(u16::from_str_radix(text, 16).map_err(|_| ConformError::Shape("expect"))?),
        };
    }
    Ok(result)
}

fn tiles_expected(machine: &Machine, expect: &Value) -> Result<Vec<(usize, Vec<Expected>)>, ConformError> {
    let Some(value) = expect.get("tile") else { return Ok(Vec::new()) };
    let any_nan = value.to_string().contains("\"nan\"");
    if !any_nan {
        let tiles = tiles(Some(value), machine.tile_size())?;
        return Ok(tiles.into_iter().map(|(n, data)| (n, data.into_iter().map(|e| e.map(Some)).collect())).collect());
    }
    let map = value.as_object().ok_or(ConformError::Shape("tile"))?;
    let mut result = Vec::new();
    for (name, tile) in map {
        let buffer = name.parse().ok().filter(|n| *n < 4).ok_or(ConformError::Shape("tile"))?;
        let data = tile["data"].as_array().ok_or(ConformError::Shape("tile"))?;
        result.push((buffer, data.iter().map(expected).collect::<Result<_, _>>()?));
    }
    Ok(result)
}

fn differ(problems: &mut Vec<String>, what: &str, found: [u16; 4], expected: &Expected) {
    for (c, (found, expected)) in found.iter().zip(expected).enumerate() {
        let same = match expected {
            Some(bits) => found == bits,
            None => found & 0x7fff > 0x7c00,
        };
        if !same {
            let wanted = expected.map_or("a NaN".to_owned(), |bits| format!("{bits:04x}"));
            problems.push(format!("{what}.{}: {found:04x} instead of {wanted}", ["x", "y", "z", "w"][c]));
        }
    }
}

fn compare_group(problems: &mut Vec<String>, ended: &Ended, expect: &Value) -> Result<(), ConformError> {
    let rows = |value: &Value| value.as_array().cloned().ok_or(ConformError::Shape("expect"));
    for (t, (thread, found)) in rows(&expect["local"])?.iter().zip(&ended.registers.local).enumerate() {
        for (r, (row, found)) in rows(thread)?.iter().zip(found).enumerate() {
            differ(problems, &format!("thread {t} r{r}"), *found, &expected(row)?);
        }
    }
    for (r, (row, found)) in rows(&expect["shared"])?.iter().zip(&ended.registers.shared).enumerate() {
        differ(problems, &format!("s{r}"), *found, &expected(row)?);
    }
    for (t, (row, found)) in rows(&expect["flags"])?.iter().zip(&ended.registers.flags).enumerate() {
        for (c, flag) in rows(row)?.iter().enumerate() {
            let wanted = number(flag, "flags", 1)?;
            if u64::from(found >> c & 1) != wanted {
                problems.push(format!("thread {t} flag {}: not {wanted}", ["x", "y", "z", "w"][c.min(3)]));
            }
        }
    }
    if let Some(steps) = expect.get("steps").and_then(Value::as_u64)
        && ended.steps != steps
    {
        problems.push(format!("{} steps instead of {steps}", ended.steps));
    }
    Ok(())
}

/// Whether a line is a comment or empty.
pub fn is_blank(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with('#')
}

/// Checks a line of `valid.tsv`: the word must decode to these fields, and its exact text must assemble to it.
///
/// # Errors
/// What differs from the line.
pub fn valid(line: &str) -> Result<(), String> {
    let columns: Vec<&str> = line.trim_end().split('\t').collect();
    let word = columns.first().and_then(|w| u64::from_str_radix(w, 16).ok()).ok_or("no word")?;
    let instruction =
        decode(word).map_err(|e| format!("{word:016x}: {}", refusal(word).unwrap_or_else(|| e.to_string())))?;
    let wrong = |what: &str, found: &str, wanted: &str| Err(format!("{word:016x}: {what} is {found}, not {wanted}"));
    let name = instruction.opcode().mnemonic();
    let (wanted, raw) = match columns[..] {
        [_, "Branch", mask, target] => (branch_texts(mask, target)?, vec![mask.to_owned(), target.to_owned()]),
        [_, _, spawn, dst, mode, b, b_select, a, a_select, flags] => {
            let columns = [spawn, dst, mode, b, b_select, a, a_select, flags];
            (standard_texts(columns)?, columns.map(ToOwned::to_owned).to_vec())
        }
        _ => return Err("a line has 4 or 10 columns".to_owned()),
    };
    if Some(&name) != columns.get(1) {
        return wrong("the name", name, columns.get(1).unwrap_or(&""));
    }
    let found = raw_fields(word, name == "Branch");
    if found != raw {
        return wrong("the word", &found.join(" "), &raw.join(" "));
    }
    let mut result = Ok(());
    instruction.annotate(|note| {
        if matches!(note.role, Role::Operand | Role::Modifier) {
            // Operands share bits under different names, so any text of the line for these bits may be the operand's.
            let text = note.text.as_str();
            let meant = wanted.iter().filter(|(bit, _)| *bit == note.low).map(|(_, text)| text);
            let meant: Vec<&String> = meant.collect();
            if result.is_ok() && !meant.is_empty() && !meant.iter().any(|m| *m == text) {
                result = wrong(note.name, text, meant[0]);
            }
        }
    });
    result?;
    match assemble(&text(word)) {
        Ok(again) if again == [word] => Ok(()),
        _ => Err(format!("{word:016x}: the text `{}` does not assemble to it", text(word))),
    }
}

/// Returns the fields of a word as the corpus writes them, by position.
fn raw_fields(word: u64, branch: bool) -> Vec<String> {
    let bits = |high: u32, low: u32| word >> low & ((1 << (high - low + 1)) - 1);
    let select =
        |low: u32| (0..4).rev().map(|c| ['x', 'y', 'z', 'w'][bits(low + 2 * c + 1, low + 2 * c) as usize]).collect();
    if branch {
        let mask = (52..56).map(|bit| if bits(bit, bit) == 1 { '1' } else { '0' }).collect();
        return vec![mask, bits(41, 32).to_string()];
    }
    let modes = [48, 46, 44, 42].map(|low| bits(low + 1, low).to_string()).concat();
    let (b, a) = (bits(41, 36).to_string(), bits(27, 22).to_string());
    vec![
        bits(55, 55).to_string(),
        bits(54, 50).to_string(),
        modes,
        b,
        select(28),
        a,
        select(14),
        bits(13, 12).to_string(),
    ]
}

/// Returns what operands and modifiers must print according to a line, each with its lowest bit.
fn standard_texts(columns: [&str; 8]) -> Result<Vec<(u8, String)>, String> {
    let [spawn, dst, mode, b, b_select, a, a_select, flags] = columns;
    let register = |text: &str| text.parse::<u32>().map_err(|e| format!("`{text}`: {e}"));
    let source = |text: &str, select: &str| {
        Ok::<_, String>(match register(text)? {
            n @ 0..16 => format!("r{n}.{select}"),
            n @ 16..32 => format!("s{}.{select}", n - 16),
            n => format!("g{}.{select}", n - 32),
        })
    };
    let modes: String = mode
        .chars()
        .zip(["x", "y", "z", "w"])
        .map(|(mode, c)| match mode {
            '0' => format!("{c}?"),
            '1' => format!("{c}!"),
            '2' => "_".to_owned(),
            _ => c.to_owned(),
        })
        .collect();
    let destination = match (spawn, register(dst)?) {
        ("1", n) => format!("new.g{n}.{modes}"),
        (_, n @ 0..16) => format!("r{n}.{modes}"),
        (_, n) => format!("s{}.{modes}", n - 16),
    };
    let update = ["keep", "sign", "zero", "sign_or_zero"].get(register(flags)? as usize).copied().unwrap_or_default();
    let texts = [
        (42, destination),
        (42, modes),
        (28, source(b, b_select)?),
        (14, source(a, a_select)?),
        (12, update.to_owned()),
    ];
    Ok(texts.into())
}

fn branch_texts(mask: &str, target: &str) -> Result<Vec<(u8, String)>, String> {
    let names: String = mask.chars().zip("xyzw".chars()).filter(|(bit, _)| *bit == '1').map(|(_, c)| c).collect();
    let condition = if names.is_empty() { "always".to_owned() } else { names };
    Ok(vec![(52, condition), (32, target.to_owned())])
}

/// Checks a line of `invalid.tsv`: the word must be refused for this reason.
///
/// # Errors
/// What the word gives instead.
pub fn invalid(line: &str) -> Result<(), String> {
    let (word, reason) = line.trim_end().split_once('\t').ok_or("a line has two columns")?;
    let bits = u64::from_str_radix(word, 16).map_err(|e| format!("`{word}`: {e}"))?;
    match refusal(bits) {
        Some(found) if found == reason => Ok(()),
        Some(found) => Err(format!("{word}: refused with `{found}`, not `{reason}`")),
        None => Err(format!("{word}: accepted as `{}`, not refused with `{reason}`", text(bits))),
    }
}
