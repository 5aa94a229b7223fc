//! Whole programs: shaders with the colours they must give, kernels with the memory they must leave.

use std::collections::BTreeMap;

use isaforge_runtime::{Deadline, Execution, Launch, Memory, valhall};
use serde::Deserialize;

use super::rule::Rule;

/// Instructions after which a program is taken to be caught in a loop.
const BUDGET: u64 = 2_000_000_000;
/// The same for one thread of a shader.
const SHADER_BUDGET: u64 = 1_000_000;
/// How far a channel of a colour may be off.
const TOLERANCE: f64 = 0.01;

/// A shader that draws one pixel, and its runs.
#[derive(Debug, Deserialize)]
pub struct Shader {
    /// Where it comes from.
    pub name: String,
    /// The words, in hexadecimal.
    pub words: Vec<String>,
    /// What to run it with, and what it must give.
    pub runs: Vec<ShaderRun>,
}

/// One run of a shader.
#[derive(Debug, Deserialize)]
pub struct ShaderRun {
    /// Its number.
    pub k: u64,
    /// The colour; a channel that is `null` may be anything.
    pub expect: Vec<Option<f64>>,
    /// The uniform words, in hexadecimal.
    pub fau: Vec<String>,
}

impl Shader {
    /// Reads a shader from a line of JSON.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn read(line: &str) -> Result<Shader, String> {
        serde_json::from_str(line).map_err(|error| error.to_string())
    }

    /// Runs it as often as it says. Returns what came of each run.
    pub fn replay(&self) -> Vec<Result<(), String>> {
        let program = words(&self.words);
        let outcome = |run: &ShaderRun| {
            let outcome = program.clone().and_then(|program| run.check(&program));
            outcome.map_err(|reason| format!("{}, run {}: {reason}", self.name, run.k))
        };
        self.runs.iter().map(outcome).collect()
    }
}

impl ShaderRun {
    fn check(&self, program: &[u64]) -> Result<(), String> {
        let outcome = valhall::run_fragment(program, &halves(&self.fau)?, SHADER_BUDGET);
        let color = outcome.map_err(|error| error.to_string())?.colour.map(f32::from_bits);
        let off = |(found, expected): (&f32, &Option<f64>)| {
            // A channel that is no number is off, whatever was expected.
            expected.is_some_and(|expected| (f64::from(found.clamp(0.0, 1.0)) - expected).abs() > TOLERANCE)
                || expected.is_some() && found.is_nan()
        };
        if color.iter().zip(&self.expect).any(off) {
            return Err(format!("the colour is {color:?}, not {:?}", self.expect));
        }
        Ok(())
    }
}

/// A compute kernel with its launch and what it must leave in memory.
#[derive(Debug, Deserialize)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Threads of a workgroup.
    pub local_size: [u32; 3],
    /// Workgroups.
    pub groups: [u32; 3],
    /// Bytes that a workgroup shares.
    pub shared_bytes: u32,
    /// The words, in hexadecimal.
    pub words: Vec<String>,
    /// The uniform words, in hexadecimal.
    pub fau: Vec<String>,
    /// Addresses of the buffers.
    pub ssbo_base: BTreeMap<String, String>,
    /// Contents of the buffers before the run, in words.
    pub ssbo_in: BTreeMap<String, Vec<String>>,
    /// The buffer that is compared.
    pub out_ssbo: String,
    /// What it must hold.
    pub expected: Option<Vec<String>>,
    /// What another emulator left there; it counts where nothing else is known.
    #[serde(default)]
    pub emu_out: Option<Vec<String>>,
    /// How to compare.
    #[serde(default)]
    pub compare: String,
}

impl Kernel {
    /// Reads a kernel from JSON.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn read(text: &str) -> Result<Kernel, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// Runs it and compares by its own rule.
    ///
    /// # Errors
    /// Says where its memory differs, or why it did not run.
    pub fn replay(&self) -> Result<(), String> {
        self.check().map_err(|reason| format!("{}: {reason}", self.name))
    }

    fn check(&self) -> Result<(), String> {
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
        valhall::run_on(Execution::best(), &launch, &mut memory).map_err(|error| error.to_string())?;
        let bytes = memory.unmap(out).unwrap_or_default();
        let found: Vec<u32> = bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
        self.compare(&found)
    }

    fn compare(&self, found: &[u32]) -> Result<(), String> {
        let expected = self.expected.as_ref().or(self.emu_out.as_ref()).ok_or("nothing is known to compare with")?;
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
