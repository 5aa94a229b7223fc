//! Recorded cases in formats that only the runtime of one instruction set understands.

use isaforge_runtime::valhall::cases::Case;
use isaforge_runtime::vpu::Config;
use isaforge_runtime::{Execution, usc, valhall, vpu};

use super::programs::{Kernel, Shader};

/// Judges one recorded case, given as a line or a file, by the selected engine or else by the usual one. The error
/// describes the difference.
pub type Judge = fn(&str, Option<Execution>) -> Result<(), String>;

/// Judges the runs of one recorded program like [`Judge`], given as a line. Returns the result of each run.
///
/// The outer error says why the line cannot be used.
pub type JudgeRuns = fn(&str, Option<Execution>) -> Result<Vec<Result<(), String>>, String>;

/// The judges of an instruction set, by format.
#[derive(Clone, Copy, Debug)]
pub struct Judges {
    /// JSON with `words`, `start` and `expect`: a program with its initial state and expected final state.
    pub program: Option<Judge>,
    /// A word, the name of its instruction, and the values of its fields.
    pub fields: Option<Judge>,
    /// A word that must be rejected, and the reason.
    pub refused: Option<Judge>,
    /// An operation, its modifiers and inputs, the expected result, and the basis for it.
    pub operation: Option<Judge>,
    /// JSON with `bytes`, `outputs` and `runs`: a program with the inputs and expected outputs of each run.
    pub runs: Option<JudgeRuns>,
    /// JSON with `name`, `words` and `runs`: a shader of one pixel and the expected colour of each run.
    pub shader: Option<JudgeRuns>,
    /// A JSON file with a compute kernel and the expected memory contents.
    pub kernel: Option<Judge>,
    /// A JSON file with a program, all its inputs, and the expected results.
    pub case: Option<Judge>,
}

impl Judges {
    const NONE: Judges = Judges {
        program: None,
        fields: None,
        refused: None,
        operation: None,
        runs: None,
        shader: None,
        kernel: None,
        case: None,
    };
}

/// The selected engine, or else the fastest.
fn usual(selected: Option<Execution>) -> Execution {
    selected.unwrap_or_else(Execution::best)
}

/// Cases of Valhall.
pub static VALHALL: Judges = Judges {
    operation: Some(|line, by| valhall::conform::vector_on(usual(by), line).map_err(|error| error.to_string())),
    // One thread gains nothing from the engines, so the reference is the usual one.
    shader: Some(|line, by| Shader::read(line).map(|shader| shader.replay(by.unwrap_or_else(Execution::reference)))),
    kernel: Some(|text, by| Kernel::read(text)?.replay(usual(by))),
    case: Some(|text, by| {
        let finished = Case::read(text).and_then(|case| case.run_on(usual(by))).map_err(|error| error.to_string())?;
        if finished.problems.is_empty() { Ok(()) } else { Err(finished.problems.join("; ")) }
    }),
    ..Judges::NONE
};

/// Cases of the VPU.
pub static VPU: Judges = Judges {
    program: Some(|line, by| {
        let verdict =
            vpu::conform::program_with(usual(by), line, &Config::default()).map_err(|error| error.to_string())?;
        let Some(first) = verdict.problems.first() else { return Ok(()) };
        let more = verdict.problems.len() - 1;
        let more = if more == 0 { String::new() } else { format!(" (and {more} more)") };
        Err(format!("{}: {first}{more}", verdict.name))
    }),
    fields: Some(|line, _| vpu::conform::valid(line)),
    refused: Some(|line, _| vpu::conform::invalid(line)),
    ..Judges::NONE
};

/// Cases of the USC.
pub static USC: Judges = Judges {
    runs: Some(|line, by| {
        let verdict = usc::conform::program_on(usual(by), line).map_err(|error| error.to_string())?;
        let outcome = |(number, problems): (usize, &Vec<String>)| match &problems[..] {
            [] => Ok(()),
            problems => Err(format!("{}, run {number}: {}", verdict.name, problems.join("; "))),
        };
        Ok(verdict.runs.iter().enumerate().map(outcome).collect())
    }),
    ..Judges::NONE
};
