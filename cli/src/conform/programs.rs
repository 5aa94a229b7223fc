//! Whole programs: shaders with expected colours, kernels with expected memory contents.

use std::collections::BTreeMap;

use isaforge_runtime::{Deadline, Execution, Launch, Memory, valhall};
use serde::Deserialize;

use super::rule::Rule;

/// The instruction limit; a program that exceeds it is assumed to loop forever.
const BUDGET: u64 = 2_000_000_000;
/// The same limit for one thread of a shader.
const SHADER_BUDGET: u64 = 1_000_000;
/// The maximum error of a colour channel.
const TOLERANCE: f64 = 0.01;

/// A shader that draws one pixel, and its runs.
#[derive(Debug, Deserialize)]
pub struct Shader {
    /// Its origin.
    pub name: String,
    /// The words, in hexadecimal.
    pub words: Vec<String>,
    /// The inputs and expected results of its runs.
    pub runs: Vec<ShaderRun>,
}

/// One run of a shader.
#[derive(Debug, Deserialize)]
pub struct ShaderRun {
    /// Its number.
    pub k: u64,
    /// The expected colour; a channel that is `null` is not compared.
    pub expect: Vec<Option<f64>>,
    /// The uniform words, in hexadecimal.
    pub fau: Vec<String>,
}

impl Shader {
    /// Reads a shader from a line of JSON.
    ///
    /// # Errors
    /// When the line is not a valid shader.
    pub fn read(line: &str) -> Result<Shader, String> {
        serde_json::from_str(line).map_err(|error| error.to_string())
    }

    /// Executes all runs by an engine and returns the result of each.
    pub fn replay(&self, execution: Execution) -> Vec<Result<(), String>> {
        let program = words(&self.words);
        let outcome = |run: &ShaderRun| {
            let outcome = program.clone().and_then(|program| run.check(execution, &program));
            outcome.map_err(|reason| format!("{}, run {}: {reason}", self.name, run.k))
        };
        self.runs.iter().map(outcome).collect()
    }
}

impl ShaderRun {
    fn check(&self, execution: Execution, program: &[u64]) -> Result<(), String> {
        let limits = (SHADER_BUDGET, Deadline::NONE);
        let outcome = valhall::run_fragment_on(execution, program, &halves(&self.fau)?, limits);
        let color = outcome.map_err(|error| error.to_string())?.colour.map(f32::from_bits);
        let off = |(found, expected): (&f32, &Option<f64>)| {
            // A NaN channel is always wrong.
            expected.is_some_and(|expected| (f64::from(found.clamp(0.0, 1.0)) - expected).abs() > TOLERANCE)
                || expected.is_some() && found.is_nan()
        };
        if color.iter().zip(&self.expect).any(off) {
            return Err(format!("the colour is {color:?}, not {:?}", self.expect));
        }
        Ok(())
    }
}

/// A compute kernel with its launch and the expected memory contents.
#[derive(Debug, Deserialize)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// The number of threads of a workgroup.
    pub local_size: [u32; 3],
    /// The number of workgroups.
    pub groups: [u32; 3],
    /// The size of a workgroup's shared memory in bytes.
    pub shared_bytes: u32,
    /// The words, in hexadecimal.
    pub words: Vec<String>,
    /// The uniform words, in hexadecimal.
    pub fau: Vec<String>,
    /// The addresses of the buffers.
    pub ssbo_base: BTreeMap<String, String>,
    /// Contents of the buffers before the run, in words.
    pub ssbo_in: BTreeMap<String, Vec<String>>,
    /// The buffer that is compared.
    pub out_ssbo: String,
    /// Its expected contents.
    pub expected: Option<Vec<String>>,
    /// The contents that another emulator produced; used only if nothing else is known.
    #[serde(default)]
    pub emu_out: Option<Vec<String>>,
    /// The comparison rule.
    #[serde(default)]
    pub compare: String,
}

impl Kernel {
    /// Reads a kernel from JSON.
    ///
    /// # Errors
    /// When the text is not a valid kernel.
    pub fn read(text: &str) -> Result<Kernel, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// Runs the kernel by an engine and compares its result by its own rule.
    ///
    /// # Errors
    /// When the memory differs, or the kernel could not be run.
    pub fn replay(&self, execution: Execution) -> Result<(), String> {
        self.check(execution).map_err(|reason| format!("{}: {reason}", self.name))
    }

    fn check(&self, execution: Execution) -> Result<(), String> {
        let mut memory = Memory::new();
        let mut out = None;
        for (name, base) in &self.ssbo_base {
            let base = base.strip_prefix("0x").unwrap_or(base);
            let base = u64::from_str_radix(base, 16).map_err(|_| format!("`{base}` is not an address"))?;
            let content = self.ssbo_in.get(name).map_or(Ok(Vec::new()), |content| halves(content))?;
            if *name == self.out_ssbo {
                out = Some(base);
            }
            let bytes: Vec<u8> = content.iter().flat_map(|word| word.to_le_bytes()).collect();
            memory.map(base, bytes).map_err(|error| error.to_string())?;
        }
        let out = out.ok_or_else(|| format!("there is no buffer `{}` to compare", self.out_ssbo))?;
        let launch = Launch {
            program: words(&self.words)?,
            groups: self.groups,
            local_size: self.local_size,
            uniforms: halves(&self.fau)?,
            shared_bytes: self.shared_bytes,
            budget: BUDGET,
            deadline: Deadline::NONE,
        };
        valhall::run_on(execution, &launch, &mut memory).map_err(|error| error.to_string())?;
        let bytes = memory.unmap(out).unwrap_or_default();
        let found: Vec<u32> = bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
        self.compare(&found)
    }

    fn compare(&self, found: &[u32]) -> Result<(), String> {
        let expected =
            self.expected.as_ref().or(self.emu_out.as_ref()).ok_or("there is no expected memory to compare with")?;
        let expected = halves(expected)?;
        if expected.len() > found.len() {
            return Err(format!("{} words are expected of a buffer of {}", expected.len(), found.len()));
        }
        let rule = Rule::new(&self.compare);
        let differs = |&index: &usize| !rule.agrees(found[index], expected[index]);
        let differing: Vec<usize> = (0..expected.len()).filter(differs).collect();
        if rule.is_met_by(expected.len() - differing.len(), expected.len()) {
            return Ok(());
        }
        let first = differing.first().copied().unwrap_or(0);
        Err(format!(
            "{} of {} words differ, the first is word {first}: {:08x}, not {:08x}",
            differing.len(),
            expected.len(),
            found[first],
            expected[first]
        ))
    }
}

fn words(texts: &[String]) -> Result<Vec<u64>, String> {
    texts.iter().map(|text| u64::from_str_radix(text, 16).map_err(|_| format!("`{text}` is not a word"))).collect()
}

fn halves(texts: &[String]) -> Result<Vec<u32>, String> {
    texts.iter().map(|text| u32::from_str_radix(text, 16).map_err(|_| format!("`{text}` is not a word"))).collect()
}
