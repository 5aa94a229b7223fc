//! `isaforge demo`: a tour from the specification to a picture.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use isaforge_compiler::compile;
use isaforge_core::Isa;
use isaforge_core::decode::decode;
use isaforge_core::print::Style;
use isaforge_core::program::{assemble, disassemble};
use isaforge_runtime::{Deadline, Execution, Launch, Memory, valhall};
use serde::Deserialize;

use crate::args::DemoArgs;
use crate::builtin;
use crate::failure::{Failure, Status};
use crate::output::{count, stdout, thousands};
use crate::paint::{BOLD, DIM, GOOD, paint};
use crate::picture::{color_counts, write_png};
use crate::specification;

/// A shader compiled from GLSL by Mesa, with its launch parameters.
const SHADER: &str = include_str!("../assets/mandelbrot.json");
const ISA: &str = "valhall";
/// The number of lines of the shader that are printed.
const SHOWN: usize = 8;
/// The view: its centre, and the size of the picture in the complex plane.
const CENTER: [f32; 2] = [-0.68, 0.0];
const SIDE: f32 = 2.7;
/// The number of steps after which a point counts as part of the set.
const STEPS: u32 = 128;
/// Samples per pixel in each direction; one is all a debug build has time for.
const OVERSAMPLING: u32 = if cfg!(debug_assertions) { 1 } else { 2 };

/// The shader asset.
#[derive(Debug, Deserialize)]
struct Shader {
    source: String,
    local_size: [u32; 3],
    words: Vec<String>,
    fau_layout: Vec<String>,
}

/// Runs `demo`.
///
/// # Errors
/// When the picture or standard output cannot be written, or the specification has errors.
pub fn demo(args: &DemoArgs) -> Result<Status, Failure> {
    let broken = |what: String| Failure::usage(format!("the demo is broken: {what}"), "please report it");
    let builtin = builtin::find(ISA).ok_or_else(|| broken(format!("`{ISA}` is not built in")))?;
    let isa = builtin.words().ok_or_else(|| broken(format!("`{ISA}` has no words")))?;
    let shader: Shader = serde_json::from_str(SHADER).map_err(|error| broken(error.to_string()))?;
    let words = shader.words.iter().map(|word| u64::from_str_radix(word, 16)).collect::<Result<Vec<u64>, _>>();
    let words = words.map_err(|error| broken(error.to_string()))?;

    let mut demo = Demo { step: 0 };
    if demo.specification()? == Status::Mistakes {
        return Ok(Status::Mistakes);
    }
    demo.shader(isa, &shader, &words)?;
    let side = args.size * OVERSAMPLING;
    let counts = demo.launch(&shader, words, side)?;
    demo.picture(&counts, side as usize, args)?;
    Ok(Status::Fine)
}

/// Prints the steps of the tour.
struct Demo {
    step: u32,
}

impl Demo {
    fn tell(&mut self, what: &str, since: Instant) -> Result<(), Failure> {
        self.step += 1;
        let took = format!("{:.1?}", since.elapsed());
        let mut out = stdout();
        writeln!(out, "{} {what} {}", paint(GOOD, &format!("{}.", self.step)), paint(DIM, &format!("({took})")))?;
        out.flush()?;
        Ok(())
    }

    fn specification(&mut self) -> Result<Status, Failure> {
        let started = Instant::now();
        let Some(spec) = find_specification() else {
            let text = format!("There is no folder `specs/{ISA}` here; using the built-in tables.");
            self.tell(&text, started)?;
            return Ok(Status::Fine);
        };
        let compiled = match compile(&specification::settings(&spec)?) {
            Ok(compiled) => compiled,
            Err(failure) => {
                specification::render(&failure.diagnostics, &failure.sources);
                specification::summarise_failure(&spec, &failure.diagnostics);
                return Ok(Status::Mistakes);
            }
        };
        let (isa, found) = (&compiled.checked.isa, &compiled.checked.diagnostics);
        let text = format!(
            "Compiled {}: {} and {} checked, {}, {}.",
            paint(BOLD, &shown(&spec)),
            count(isa.forms.len() as u64, "instruction"),
            count(isa.enums.len() as u64, "enum"),
            count(found.error_count() as u64, "error"),
            count(found.warning_count() as u64, "warning"),
        );
        self.tell(&text, started)?;
        Ok(Status::Fine)
    }

    fn shader(&mut self, isa: &'static Isa, shader: &Shader, words: &[u64]) -> Result<(), Failure> {
        let started = Instant::now();
        let mut text = String::new();
        let _ = disassemble(isa, words, Style::Customary, &mut text);
        let valid = words.iter().filter(|word| decode(isa, **word).is_ok()).count();
        let back = assemble(isa, &text).is_ok_and(|back| back == words);
        let what = format!(
            "Disassembled {}, compiled by Mesa: {valid} of {} are instructions{}.",
            paint(BOLD, &shader.source),
            count(words.len() as u64, "word"),
            if back { ", and the text assembles to the same words" } else { "" },
        );
        self.tell(&what, started)?;
        let mut out = stdout();
        // Labels are on lines of their own.
        let instructions = text.lines().filter(|line| !line.ends_with(':'));
        for (word, line) in words.iter().zip(instructions).take(SHOWN) {
            writeln!(out, "     {}  {line}", paint(DIM, &format!("{word:016x}")))?;
        }
        let rest = words.len().saturating_sub(SHOWN);
        if rest > 0 {
            writeln!(out, "     {}", paint(DIM, &format!("… and {rest} more")))?;
        }
        Ok(())
    }

    fn launch(&mut self, shader: &Shader, program: Vec<u64>, side: u32) -> Result<Vec<u32>, Failure> {
        let started = Instant::now();
        let step = SIDE / side as f32;
        // The first sample is at the centre of the first pixel.
        let origin = CENTER.map(|center| center - SIDE / 2.0 + step / 2.0);
        let address = 0x10_0000u64;
        let [width, height, _] = shader.local_size;
        // Only whole workgroups run, so some threads lie beyond the right edge; rows in memory are wide enough for
        // them.
        let row = side.next_multiple_of(width.max(1));
        let uniform = |name: &String| match name.as_str() {
            "uniform word 0" => origin[0].to_bits(),
            "uniform word 1" => origin[1].to_bits(),
            "uniform word 2" | "uniform word 3" => step.to_bits(),
            "uniform word 4" => row,
            "uniform word 5" => STEPS,
            "ssbo0.addr_lo" => address as u32,
            _ => (address >> 32) as u32,
        };
        let uniforms: Vec<u32> = shader.fau_layout.iter().map(uniform).collect();
        let groups = [side.div_ceil(width.max(1)), side.div_ceil(height.max(1)), 1];
        let failed = |reason: String| Failure::usage(format!("the shader failed: {reason}"), "please report it");
        let mut memory = Memory::new();
        let bytes = vec![0; (row * groups[1] * height) as usize * 4];
        memory.map(address, bytes).map_err(|error| failed(error.to_string()))?;
        let launch = Launch {
            program,
            groups,
            local_size: shader.local_size,
            uniforms,
            shared_bytes: 0,
            budget: u64::MAX,
            deadline: Deadline::NONE,
        };
        let outcome = valhall::run_on(Execution::best(), &launch, &mut memory);
        let executed = outcome.map_err(|error| failed(error.to_string()))?.thread_instructions;
        let seconds = started.elapsed().as_secs_f64().max(1e-9);
        let threads = groups.iter().chain(&shader.local_size).map(|&number| u64::from(number)).product();
        let what = format!(
            "Ran it: {} executed {} instructions, {} million per second.",
            count(threads, "thread"),
            thousands(executed),
            thousands((executed as f64 / seconds / 1e6) as u64),
        );
        self.tell(&what, started)?;
        let bytes = memory.unmap(address).unwrap_or_default();
        let counts = bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]));
        let inside = counts.enumerate().filter(|(index, _)| index % row as usize <= (side - 1) as usize);
        Ok(inside.map(|(_, count)| count).take((side * side) as usize).collect())
    }

    fn picture(&mut self, counts: &[u32], side: usize, args: &DemoArgs) -> Result<(), Failure> {
        let started = Instant::now();
        let pixels = color_counts(counts, side, STEPS, OVERSAMPLING as usize);
        write_png(&args.output, args.size, args.size, &pixels)?;
        let name = paint(BOLD, &args.output.display().to_string());
        self.tell(&format!("Wrote {name}, {} x {} pixels.", args.size, args.size), started)
    }
}

/// The specification in the current folder or an ancestor.
fn find_specification() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|folder| folder.join("specs").join(ISA).join("isa.yaml")).find(|spec| spec.is_file())
}

/// A path relative to the current folder, if it lies inside.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).unwrap_or(path).display().to_string()
}
