//! Conformance: programs with known outputs.

use serde_json::{Map, Value};

use crate::engine::Execution;
use crate::usc::host::Software;
use crate::usc::machine::Machine;
use crate::usc::program::Program;
use crate::usc::register::Register;
use crate::usc::task::Task;

/// The number of groups after which a program is assumed to loop forever.
const BUDGET: u64 = 1_000_000;

/// The reason why a line of the corpus cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConformError {
    /// It is not JSON.
    #[error("not JSON: {0}")]
    Json(String),
    /// A part is missing or malformed.
    #[error("`{0}` is missing or malformed")]
    Shape(&'static str),
    /// Its program cannot be loaded.
    #[error("{0}")]
    Load(String),
}

/// The results of the runs of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The program's name.
    pub name: String,
    /// The differences from the expected results for each run; empty when the run passes.
    pub runs: Vec<Vec<String>>,
}

impl Verdict {
    /// Whether all runs pass.
    pub fn passes(&self) -> bool {
        self.runs.iter().all(Vec::is_empty)
    }
}

/// Executes each run of a line of `programs.jsonl` with one instance, and compares the outputs.
///
/// # Errors
/// When the line is malformed, or its program cannot be loaded.
pub fn program(line: &str) -> Result<Verdict, ConformError> {
    program_on(Execution::best(), line)
}

/// Does the same as [`program`] with the given engine.
///
/// # Errors
/// As [`program`].
pub fn program_on(execution: Execution, line: &str) -> Result<Verdict, ConformError> {
    let value: Value = serde_json::from_str(line).map_err(|e| ConformError::Json(e.to_string()))?;
    let bytes = value["bytes"].as_str().and_then(hex_bytes).ok_or(ConformError::Shape("bytes"))?;
    let program = Program::load(&bytes).map_err(|e| ConformError::Load(e.to_string()))?;
    let outputs = value["outputs"].as_array().ok_or(ConformError::Shape("outputs"))?;
    let outputs: Vec<Output> =
        outputs.iter().map(Output::read).collect::<Option<_>>().ok_or(ConformError::Shape("outputs"))?;
    let runs = value["runs"].as_array().ok_or(ConformError::Shape("runs"))?;
    let runs =
        runs.iter().map(|r| run(execution, &program, &outputs, [&value["specials"], r])).collect::<Result<_, _>>()?;
    Ok(Verdict { name: value["name"].as_str().unwrap_or_default().to_owned(), runs })
}

/// The location of an output.
enum Output {
    Vertex(u32),
    Pixel(Register),
}

impl Output {
    fn read(value: &Value) -> Option<Output> {
        let number = |key: &str| value[key].as_u64().and_then(|n| u32::try_from(n).ok());
        match value["via"].as_str()? {
            "uvsw.write" => number("address").map(Output::Vertex),
            "pixel output" => Register::special(number("special")?).map(Output::Pixel),
            _ => None,
        }
    }

    fn find(&self, host: &Software, task: &Task) -> Option<u32> {
        match self {
            Output::Vertex(address) => {
                host.vertex_outputs.iter().rev().find(|(_, output, _)| output == address).map(|(.., value)| *value)
            }
            Output::Pixel(register) => task.get(*register, 0),
        }
    }
}

fn run(
    execution: Execution,
    program: &Program,
    outputs: &[Output],
    [specials, run]: [&Value; 2],
) -> Result<Vec<String>, ConformError> {
    let mut machine = Machine::new(Software::default()).on(execution);
    let mut task = Task::new(1).map_err(|_| ConformError::Shape("runs"))?;
    for (key, shape) in [("inputs", "inputs"), ("shared", "shared"), ("specials", "specials")] {
        for (register, value) in registers(&run[key]).ok_or(ConformError::Shape(shape))? {
            set(&mut machine, &mut task, register, value).ok_or(ConformError::Shape(shape))?;
        }
    }
    for (name, value) in specials.as_object().into_iter().flatten() {
        // Besides registers, this lists results of operations that are not registers.
        let register = name.split_whitespace().next().and_then(|name| name.parse().ok());
        if let (Some(register), Some(value)) = (register, hex(value)) {
            set(&mut machine, &mut task, register, value).ok_or(ConformError::Shape("specials"))?;
        }
    }
    let mut tasks = [task];
    if let Err(error) = machine.run(program, &mut tasks, BUDGET) {
        return Ok(vec![error.to_string()]);
    }
    let expected = run["expect"].as_array().ok_or(ConformError::Shape("expect"))?;
    let mut problems = Vec::new();
    for expected in expected {
        let index = expected["output"].as_u64().ok_or(ConformError::Shape("output"))? as usize;
        let output = outputs.get(index).ok_or(ConformError::Shape("output"))?;
        match output.find(&machine.host, &tasks[0]) {
            None => problems.push(format!("output {index} was not written")),
            Some(found) => {
                if let Err(why) = judge(found, expected)? {
                    problems.push(format!("output {index}: {why}"));
                }
            }
        }
    }
    Ok(problems)
}

fn set(machine: &mut Machine<Software>, task: &mut Task, register: Register, value: u32) -> Option<()> {
    match register {
        Register::Shared(_) | Register::Global(_) => machine.set(register, value).ok(),
        _ => task.set(register, 0, value).ok(),
    }
}

fn registers(value: &Value) -> Option<Vec<(Register, u32)>> {
    let none = Map::new();
    let map = if value.is_null() { &none } else { value.as_object()? };
    map.iter().map(|(name, value)| Some((name.parse().ok()?, hex(value)?))).collect()
}

fn hex(value: &Value) -> Option<u32> {
    u32::from_str_radix(value.as_str()?, 16).ok()
}

fn hex_bytes(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).ok()).collect()
}

/// Compares a word with the expected one: the same bits, a float that is near enough, or any NaN.
fn judge(found: u32, expected: &Value) -> Result<Result<(), String>, ConformError> {
    let value = f32::from_bits(found);
    if expected["nan"].as_bool() == Some(true) {
        return Ok(if value.is_nan() { Ok(()) } else { Err(format!("{found:08x} ({value:?}) instead of a NaN")) });
    }
    let wanted = hex(&expected["hex32"]).ok_or(ConformError::Shape("hex32"))?;
    let tolerance = &expected["tolerance"];
    let limit = |key: &str| tolerance[key].as_f64();
    let goal = f32::from_bits(wanted);
    let off_by = (f64::from(value) - f64::from(goal)).abs();
    let near = limit("abs").is_some_and(|most| off_by <= most)
        || limit("ulp").is_some_and(|most| !value.is_nan() && !goal.is_nan() && steps(found, wanted) as f64 <= most);
    Ok(if found == wanted || near {
        Ok(())
    } else {
        Err(format!("{found:08x} ({value:?}) instead of {wanted:08x} ({goal:?}), tolerance {tolerance}"))
    })
}

/// The number of steps between two floats.
fn steps(a: u32, b: u32) -> u64 {
    let line = |bits: u32| if bits >> 31 != 0 { -i64::from(bits & 0x7fff_ffff) } else { i64::from(bits) };
    line(a).abs_diff(line(b))
}
