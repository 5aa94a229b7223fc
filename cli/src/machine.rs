//! What executes programs: with [`run::vpu`](crate::run::vpu), [`run::draw`](crate::run::draw) and
//! [`run::resources`](crate::run::resources), all that knows the runtime.

pub use isaforge_runtime::exec::jit::engine::Compiler;
use isaforge_runtime::valhall::cases::{self, Finished};
use isaforge_runtime::valhall::compare::compare;
pub use isaforge_runtime::valhall::host::Resources;
use isaforge_runtime::valhall::host::{self, Target};
use isaforge_runtime::valhall::observe::{self, Observer};
pub use isaforge_runtime::{Deadline, Engine, Execution, Level};
use isaforge_runtime::{Launch, Memory, Outcome, RunError, usc, valhall, vpu};

use isaforge_core::semantics::facts;
pub use isaforge_runtime::observe::{Profile, Row};
use isaforge_runtime::usc::fidelity::Fidelity;
use isaforge_runtime::valhall::fidelity::Evidence;
pub use isaforge_runtime::valhall::fidelity::{Class, Entry};

/// A program and how to launch it.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// The words of the program.
    pub program: &'a [u64],
    /// Workgroups in each direction.
    pub groups: [u32; 3],
    /// Threads of a workgroup in each direction.
    pub local_size: [u32; 3],
    /// The uniform words.
    pub uniforms: &'a [u32],
    /// What it names by table and index.
    pub resources: &'a Resources,
    /// Bytes of memory that the threads of a workgroup share.
    pub shared_bytes: u32,
    /// The most instructions to execute, those of all threads together.
    pub budget: u64,
    /// Until when they may run.
    pub deadline: Deadline,
    /// What executes it; the fastest if nobody has asked for one.
    pub execution: Option<Execution>,
}

/// The most bytes of all memory of a launch together.
pub const MAX_MEMORY: u64 = Memory::MAX_BYTES as u64;

/// Memory that a program sees: addresses and contents.
pub type Regions = Vec<(u64, Vec<u8>)>;

/// Red, green, blue and opacity.
pub type Color = [f32; 4];

/// Runs a job on memory. Returns the number of instructions that threads executed.
pub type RunJob = fn(&Job<'_>, &mut Regions) -> Result<u64, String>;

/// Runs a job on memory. Returns the number of instructions that threads executed, and the machine code that was made.
pub type ListJob = fn(&Job<'_>, &mut Regions) -> Result<(u64, String), String>;

/// Runs one thread of a shader: its words, the uniforms, the most instructions. Returns its colour.
pub type RunShader = fn(&[u64], &[u32], u64) -> Result<Color, String>;

/// What a run reports, watched or not.
#[derive(Debug)]
pub struct WatchReport<T = u64> {
    /// What the run gives, of a job the number of instructions that threads executed; or why it ended before its end.
    pub ended: Result<T, String>,
    /// What was executed until then, if that was wanted.
    pub profile: Option<Profile>,
}

impl<T> WatchReport<T> {
    /// The report of a run that was not watched.
    pub fn unwatched(ended: Result<T, String>) -> Self {
        WatchReport { ended, profile: None }
    }
}

/// Runs a job on memory and counts what is executed.
pub type CountJob = fn(&Job<'_>, &mut Regions) -> WatchReport;

/// A picture that a program has drawn.
#[derive(Clone, Debug)]
pub struct Picture {
    /// What it is a picture of.
    pub name: String,
    /// Pixels in a row.
    pub width: u32,
    /// The pixels, row by row from the top.
    pub pixels: Vec<Color>,
}

/// A recorded case after its run.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// What it has drawn.
    pub pictures: Vec<Picture>,
    /// Instructions that threads have executed.
    pub instructions: u64,
    /// What is not as the case says.
    pub problems: Vec<String>,
}

/// Runs a recorded case, given as JSON.
pub type RunCase = fn(&str) -> Result<Case, String>;

/// Runs a recorded case and counts what is executed.
pub type CountCase = fn(&str) -> WatchReport<Case>;

/// Runs a job on all engines, each on memory of its own. Returns how it ended on all of them.
///
/// An error says which of them differs first, and where.
pub type CompareJob = fn(&Job<'_>, &mut Regions) -> Result<Result<u64, String>, String>;

/// What can execute the programs of an instruction set.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// Runs a job.
    pub run: RunJob,
    /// Runs a job on what compiles, and returns the machine code that was made beside the number of instructions.
    pub list: ListJob,
    /// Runs a job and counts what is executed.
    pub count: CountJob,
    /// Runs a job on all engines.
    pub compare: CompareJob,
    /// Runs one thread of a shader.
    pub shader: RunShader,
    /// Runs a recorded case with textures, varyings and the like.
    pub case: RunCase,
    /// The accuracy of each instruction, in the order of the instruction set.
    pub fidelity: fn() -> Vec<Entry>,
    /// Runs a recorded case and counts what is executed.
    pub count_case: CountCase,
}

/// Judges one recorded case, given as its line. Says what is not as the line says.
pub type Judge = fn(&str) -> Result<(), String>;

/// Recorded cases whose form only the runtime of an instruction set understands.
#[derive(Clone, Copy, Debug)]
pub struct Judges {
    /// JSON with `words`, `start` and `expect`: a program with the state that it starts from and must end in.
    pub program: Option<Judge>,
    /// A word, its instruction's name, and the values of its fields.
    pub fields: Option<Judge>,
    /// A word that must be refused, and the reason.
    pub refused: Option<Judge>,
    /// An operation, its modifiers, its inputs, the result that it must give, and why.
    pub operation: Option<Judge>,
    /// JSON with `bytes`, `outputs` and `runs`: a program with the inputs of its runs and the outputs that they must give.
    pub runs: Option<JudgeRuns>,
}

/// Judges the runs of one recorded program, given as its line: for each what is not as the line says.
///
/// An error says why the line cannot be used.
pub type JudgeRuns = fn(&str) -> Result<Vec<Result<(), String>>, String>;

/// Executes Valhall programs.
pub static VALHALL: Machine = Machine {
    run: run_valhall,
    list: list_valhall,
    count: count_valhall,
    compare: compare_valhall,
    shader: shade_valhall,
    case: |text| run_valhall_case(text, ()),
    count_case: |text| counted(|profile| run_valhall_case(text, profile)),
    fidelity: valhall_fidelity,
};

/// The accuracy of Valhall's instructions.
pub fn valhall_fidelity() -> Vec<Entry> {
    valhall::fidelity::entries()
}

/// The accuracy of USC's operations.
pub fn usc_fidelity() -> Vec<Entry> {
    let entry = |operation: &isaforge_usc::Operation| {
        let (class, evidence) = match usc::fidelity::of(*operation) {
            Fidelity::Exact => (Class::Exact, Evidence(facts::Evidence::Documented)),
            Fidelity::Rounded => (Class::Approximate("no bound is public"), Evidence(facts::Evidence::Documented)),
            Fidelity::Chosen(text) => (Class::Choice(text), Evidence(facts::Evidence::Nothing)),
            Fidelity::Unsupported(reason) => (Class::Unsupported(reason), Evidence(facts::Evidence::Nothing)),
        };
        Entry { mnemonic: operation.info().name, class, evidence, measured: None, note: operation.info().no_encoding }
    };
    isaforge_usc::Operation::ALL.iter().map(entry).collect()
}

/// Cases of the VPU.
pub static VPU_CASES: Judges = Judges {
    program: Some(judge_vpu_program),
    fields: Some(vpu::conform::valid),
    refused: Some(vpu::conform::invalid),
    operation: None,
    runs: None,
};

/// Cases of the USC.
pub static USC_CASES: Judges =
    Judges { program: None, fields: None, refused: None, operation: None, runs: Some(judge_usc_runs) };

/// Cases of Valhall.
pub static VALHALL_CASES: Judges =
    Judges { program: None, fields: None, refused: None, operation: Some(judge_valhall_operation), runs: None };

fn judge_valhall_operation(line: &str) -> Result<(), String> {
    valhall::conform::vector(line).map_err(|error| error.to_string())
}

fn judge_vpu_program(line: &str) -> Result<(), String> {
    let verdict = vpu::conform::program(line).map_err(|error| error.to_string())?;
    match verdict.problems.first() {
        None => Ok(()),
        Some(first) => {
            let more = verdict.problems.len() - 1;
            let more = if more == 0 { String::new() } else { format!(" (and {more} more)") };
            Err(format!("{}: {first}{more}", verdict.name))
        }
    }
}

/// Whether only the reference has what a job names.
pub fn needs_reference(resources: &Resources) -> bool {
    let Resources { textures, images, buffers, .. } = resources;
    !(textures.is_empty() && images.is_empty() && buffers.is_empty())
}

fn run_valhall(job: &Job<'_>, regions: &mut Regions) -> Result<u64, String> {
    if !needs_reference(job.resources) {
        let execution = job.execution.unwrap_or_else(Execution::best);
        return on_memory(job, regions, |launch, memory| valhall::run_on(execution, launch, memory));
    }
    on_memory(job, regions, |launch, memory| valhall::run_with(launch, memory, &mut job.resources.clone(), ()))
}

fn list_valhall(job: &Job<'_>, regions: &mut Regions) -> Result<(u64, String), String> {
    let level = job.execution.unwrap_or_else(Execution::best).level();
    let mut listing = String::new();
    let executed = on_memory(job, regions, |launch, memory| {
        let (outcome, text) = valhall::fast::run_listed(launch, memory, level)?;
        listing = text;
        Ok(outcome)
    })?;
    Ok((executed, listing))
}

fn count_valhall(job: &Job<'_>, regions: &mut Regions) -> WatchReport {
    counted(|profile| {
        let mut resources = job.resources.clone();
        on_memory(job, regions, |launch, memory| valhall::run_with(launch, memory, &mut resources, profile))
    })
}

fn compare_valhall(job: &Job<'_>, regions: &mut Regions) -> Result<Result<u64, String>, String> {
    let memory = map_regions(regions)?;
    match compare(&launch(job), &memory, &Execution::available()) {
        Ok(Ok(outcome)) => Ok(Ok(outcome.thread_instructions)),
        Ok(Err(error)) => Ok(Err(error.to_string())),
        Err(difference) => Err(difference.to_string()),
    }
}

/// Runs something and counts what is executed.
pub fn counted<T>(run: impl FnOnce(&mut Option<Profile>) -> Result<T, String>) -> WatchReport<T> {
    let mut profile = Some(observe::profile());
    let ended = run(&mut profile);
    WatchReport { ended, profile }
}

/// Lays out memory, runs a job, and takes memory back. Gives the number of instructions that threads executed.
fn on_memory(
    job: &Job<'_>,
    regions: &mut Regions,
    run: impl FnOnce(&Launch, &mut Memory) -> Result<Outcome, RunError>,
) -> Result<u64, String> {
    let mut memory = map_regions(regions)?;
    let outcome = run(&launch(job), &mut memory);
    taken_back(memory, regions);
    Ok(outcome.map_err(|error| error.to_string())?.thread_instructions)
}

/// A job as the runtime has it.
pub fn launch(job: &Job<'_>) -> Launch {
    Launch {
        program: job.program.to_vec(),
        groups: job.groups,
        local_size: job.local_size,
        uniforms: job.uniforms.to_vec(),
        shared_bytes: job.shared_bytes,
        budget: job.budget,
        deadline: job.deadline,
    }
}

/// Maps all regions, and leaves them empty.
pub fn map_regions(regions: &mut Regions) -> Result<Memory, String> {
    let mut memory = Memory::new();
    for (base, bytes) in regions.iter_mut().filter(|(_, bytes)| !bytes.is_empty()) {
        memory.map(*base, std::mem::take(bytes)).map_err(|error| error.to_string())?;
    }
    Ok(memory)
}

/// Puts what memory holds back into the regions.
pub fn taken_back(mut memory: Memory, regions: &mut Regions) {
    for (base, bytes) in regions.iter_mut() {
        *bytes = memory.unmap(*base).unwrap_or_default();
    }
}

fn shade_valhall(program: &[u64], uniforms: &[u32], budget: u64) -> Result<Color, String> {
    let outcome = valhall::run_fragment(program, uniforms, budget).map_err(|error| error.to_string())?;
    Ok(outcome.colour.map(f32::from_bits))
}

fn judge_usc_runs(line: &str) -> Result<Vec<Result<(), String>>, String> {
    let verdict = usc::conform::program(line).map_err(|error| error.to_string())?;
    let outcome = |(number, problems): (usize, &Vec<String>)| match &problems[..] {
        [] => Ok(()),
        problems => Err(format!("{}, run {number}: {}", verdict.name, problems.join("; "))),
    };
    Ok(verdict.runs.iter().enumerate().map(outcome).collect())
}

fn run_valhall_case(text: &str, observer: impl Observer) -> Result<Case, String> {
    let finished = cases::Case::read(text).and_then(|case| case.run(observer)).map_err(|error| error.to_string())?;
    let pictures = finished.pictures.iter().map(|(name, target)| picture(name, target)).collect();
    let Finished { name, instructions, problems, .. } = finished;
    Ok(Case { name, pictures, instructions, problems })
}

/// A target as a picture. Channels whose numbers mostly cannot be seen, because they are whole or lie outside 0 to 1,
/// are stretched from the least number to the greatest. Numbers on the curve of sRGB are shown on it.
pub fn picture(name: &str, target: &Target) -> Picture {
    let [width, _] = target.size();
    let (format, class) = (target.format(), target.format().class());
    let shown = format.without_curve();
    let values = |pixel: &[u32; 4]| {
        let mut texel = host::Texel { channels: *pixel, class };
        if shown != format {
            let (bytes, size) = format.encode(texel);
            texel = shown.decode(&bytes[..size]);
        }
        texel.to(host::Class::Float).channels.map(f32::from_bits)
    };
    let range = |channel: usize| {
        let values = target.pixels().iter().map(|pixel| values(pixel)[channel]);
        let outside = values.clone().filter(|value| !(0.0..=1.0).contains(value)).count();
        if class == host::Class::Float && outside * 4 <= target.pixels().len() * 3 {
            return (0.0, 1.0);
        }
        let least = values.clone().fold(f32::INFINITY, f32::min);
        (least, values.fold(f32::NEG_INFINITY, f32::max))
    };
    let ranges: [(f32, f32); 4] = std::array::from_fn(range);
    let color = |pixel: &[u32; 4]| {
        let values = values(pixel);
        let stretched = |(least, greatest): (f32, f32), value: f32| (value - least) / (greatest - least);
        std::array::from_fn(|c| if c == 3 { values[c] } else { stretched(ranges[c], values[c]) })
    };
    // The first row of a target is its lowest.
    let pixels = target.pixels().chunks(width as usize).rev().flatten().map(color).collect();
    Picture { name: name.to_owned(), width, pixels }
}
