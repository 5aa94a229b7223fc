//! A machine: cores with a common memory, and the two ways to run it.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::deadline::Deadline;
use crate::engine::{Engine, Execution};
use crate::level::Level;
use crate::machine::Observer;
use crate::vpu::error::{Place, RunError, SetupError, Warning};
use crate::vpu::group::{Registers, Start};
use crate::vpu::memory::{MAX_MEMORY, Memory};
use crate::vpu::processor::{Core, Ended, Rectangle};
use crate::vpu::program::Program;
use crate::vpu::tiles::{TILE_BUFFERS, Tile, TileSize};
use crate::vpu::world::{Bank, Outside, Palette};

/// The configuration of a machine.
#[derive(Clone, Debug)]
pub struct Config {
    /// The number of cores, 1 to 64.
    pub cores: usize,
    /// The size of the tile buffers.
    pub tile_size: TileSize,
    /// The size of external memory in bytes.
    pub memory: usize,
    /// The seed that varies latencies and turns; 0 for no variation. A run is reproducible for each seed.
    pub seed: u64,
    /// The number of instructions that all groups together may issue.
    pub budget: u64,
}

impl Default for Config {
    /// One core, 32 × 32 tiles, no external memory, 100 million steps.
    fn default() -> Self {
        Config { cores: 1, tile_size: TileSize::default(), memory: 0, seed: 0, budget: 100_000_000 }
    }
}

/// The result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The number of instructions issued.
    pub steps: u64,
    /// The number of groups that ran.
    pub groups: u64,
    /// The number of cycles; 0 if they were not counted.
    pub cycles: u64,
}

/// A VPU.
pub struct Machine {
    program: Arc<Program>,
    cores: Vec<Core>,
    memory: Memory,
    palettes: Box<[Palette; 2]>,
    budget: u64,
    full_budget: u64,
    deadline: Deadline,
    cycle: u64,
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine").field("cores", &self.cores.len()).field("cycle", &self.cycle).finish_non_exhaustive()
    }
}

impl Machine {
    /// Creates an idle machine: registers, tiles, memory and program are 0.
    ///
    /// # Errors
    /// When the configuration is impossible.
    pub fn new(config: &Config) -> Result<Self, SetupError> {
        if !(1..=64).contains(&config.cores) {
            return Err(SetupError::Cores(config.cores));
        }
        if config.memory > MAX_MEMORY {
            return Err(SetupError::Memory(config.memory));
        }
        let level = Some(Level::best());
        Ok(Machine {
            program: Program::load(&[], config.tile_size, level)?,
            cores: (0..config.cores).map(|n| Core::new(n, config.tile_size, config.seed, level)).collect(),
            memory: Memory::new(config.memory),
            palettes: Box::new([[[0; 4]; 256]; 2]),
            budget: config.budget,
            full_budget: config.budget,
            deadline: Deadline::NONE,
            cycle: 0,
        })
    }

    /// Replaces program memory.
    ///
    /// # Errors
    /// When there are more than 1,024 words.
    pub fn load(&mut self, words: &[u64]) -> Result<(), SetupError> {
        let level = self.cores.first().and_then(|core| core.world.level);
        self.program = Program::load(words, self.tile_size(), level)?;
        self.cores.iter_mut().for_each(|core| core.set_constants(&self.program.constants));
        Ok(())
    }

    /// Returns the machine code that the program was compiled to so far, as text.
    pub fn listing(&self) -> String {
        self.program.listing()
    }

    /// Sets how many instructions all groups together may issue from now on.
    pub fn set_budget(&mut self, budget: u64) {
        (self.budget, self.full_budget) = (budget, budget);
    }

    /// Sets the engine that executes instructions, by default the fastest. All engines give the same results.
    pub fn set_execution(&mut self, execution: Execution) {
        self.set_level((execution.engine() != Engine::Reference).then(|| execution.level()));
    }

    /// Sets the level whose handlers execute instructions, or without one the reference.
    pub(crate) fn set_level(&mut self, level: Option<Level>) {
        self.program = self.program.at(level);
        self.cores.iter_mut().for_each(|core| core.world.level = level);
    }

    /// Sets the deadline of [`Machine::run`].
    pub fn set_deadline(&mut self, deadline: Deadline) {
        self.deadline = deadline;
    }

    /// Returns the number of cores.
    pub fn cores(&self) -> usize {
        self.cores.len()
    }

    fn core(&mut self, core: usize) -> Result<&mut Core, SetupError> {
        self.cores.get_mut(core).ok_or(SetupError::Core(core))
    }

    /// Returns the external memory.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns the two palettes.
    pub fn palettes_mut(&mut self) -> &mut [Palette; 2] {
        &mut self.palettes
    }

    /// Returns a global bank of a core; `None` when there is no such core or bank.
    pub fn bank(&self, core: usize, bank: usize) -> Option<&Bank> {
        self.cores.get(core)?.world.banks.get(bank)
    }

    /// Returns a global bank of a core for writing.
    ///
    /// # Errors
    /// When there is no such core or bank.
    pub fn bank_mut(&mut self, core: usize, bank: usize) -> Result<&mut Bank, SetupError> {
        self.core(core)?.world.banks.get_mut(bank).ok_or(SetupError::Bank(bank))
    }

    /// Returns the tile buffers of a core; `None` when there is no such core.
    pub fn tiles(&self, core: usize) -> Option<&[Tile; TILE_BUFFERS]> {
        self.cores.get(core).map(|c| &c.world.tiles)
    }

    /// Fills a tile buffer of a core, row by row from its first element; elements beyond `data` keep their content.
    ///
    /// # Errors
    /// When there is no such core.
    pub fn set_tile(&mut self, core: usize, buffer: usize, data: &[[u16; 4]]) -> Result<(), SetupError> {
        let core = self.core(core)?;
        if let Some(tile) = core.world.tiles.get_mut(buffer) {
            tile.data.iter_mut().zip(data).for_each(|(to, from)| *to = *from);
        }
        Ok(())
    }

    /// Returns the size of the tile buffers.
    pub fn tile_size(&self) -> TileSize {
        self.cores.first().map(|c| c.world.tile_size).unwrap_or_default()
    }

    /// Gives a core's spawner a rectangle to cover with groups that start at `entry` and use a global bank.
    ///
    /// # Errors
    /// When the core or the bank does not exist, or the rectangle exceeds the coordinates.
    pub fn start_rectangle(
        &mut self,
        core: usize,
        rectangle: Rectangle,
        entry: u16,
        bank: usize,
    ) -> Result<(), SetupError> {
        self.core(core)?.add_job(rectangle, entry, bank)
    }

    /// Gives each core a band of rows of a rectangle, as [`start_rectangle`](Self::start_rectangle) does for one core.
    ///
    /// # Errors
    /// When the bank does not exist, or the rectangle exceeds the coordinates.
    pub fn spread_rectangle(&mut self, rectangle: Rectangle, entry: u16, bank: usize) -> Result<(), SetupError> {
        let cores = self.cores.len() as u64;
        let row = |core: u64| u64::from(rectangle.height) * core / cores;
        for core in 0..cores {
            let (first, end) = (row(core), row(core + 1));
            let Ok(y) = u16::try_from(u64::from(rectangle.y) + first) else {
                return Err(SetupError::Rectangle(u64::from(rectangle.y) + end));
            };
            let band = Rectangle { y, height: (end - first) as u32, ..rectangle };
            self.start_rectangle(core as usize, band, entry, bank)?;
        }
        Ok(())
    }

    /// Queues one group with these registers and all four threads alive; [`ended`](Self::ended) returns its final
    /// state.
    ///
    /// # Errors
    /// When the core or the bank does not exist, or the queue is full.
    pub fn start_group(
        &mut self,
        core: usize,
        entry: u16,
        position: (u16, u16),
        bank: usize,
        registers: Registers,
    ) -> Result<(), SetupError> {
        let (x, y) = position;
        let start = Start { entry, x, y, living: 15, bank: 0, registers: Some(Box::new(registers)) };
        self.core(core)?.add_group(start, bank)
    }

    /// Returns the final states of the groups that the host started one by one on a core, in the order in which they
    /// ended.
    pub fn ended(&self, core: usize) -> &[Ended] {
        self.cores.get(core).map_or(&[], |c| &c.ended)
    }

    /// Returns the misuse so far, which changed no result.
    pub fn warnings(&self) -> Vec<Warning> {
        self.cores.iter().flat_map(Core::warnings).collect()
    }

    fn is_alive(&self) -> bool {
        self.cores.iter().any(Core::is_alive)
    }

    fn report(&self) -> Report {
        let sum = |f: fn(&Core) -> u64| self.cores.iter().map(f).sum();
        Report { steps: sum(|c| c.issued), groups: sum(Core::started), cycles: self.cycle }
    }

    fn deadlock(&self) -> RunError {
        RunError::Deadlock(self.cores.iter().flat_map(|c| c.places(&self.program)).collect())
    }

    fn exhausted(&self) -> RunError {
        RunError::Budget { budget: self.full_budget, running: self.running() }
    }

    /// Returns the places of the active groups.
    fn running(&self) -> Vec<Place> {
        let running = self.cores.iter().flat_map(|c| c.places(&self.program));
        running.map(|place| Place { wait: None, ..place }).collect()
    }

    /// Runs until no group is left, without counting cycles.
    ///
    /// # Errors
    /// A deadlock, a word that is not an instruction, an exhausted budget, or a passed deadline.
    pub fn run(&mut self) -> Result<Report, RunError> {
        let Machine { program, cores, memory, palettes, budget, deadline, .. } = self;
        let out = Outside { memory, palettes, clock: None };
        while cores.iter().any(Core::is_alive) {
            if let Some(limit) = deadline.passed() {
                return Err(RunError::Time { limit, running: self.running() });
            }
            let mut issued = 0;
            for core in cores.iter_mut() {
                core.fill(program);
                issued += core.pass(program, out, budget)?;
            }
            if issued == 0 && cores.iter().any(Core::is_alive) {
                return Err(if self.budget == 0 { self.exhausted() } else { self.deadlock() });
            }
        }
        Ok(self.report())
    }

    /// Like [`run`](Self::run), with a thread for each core, for programs whose results do not depend on the order of
    /// memory accesses by different cores. The budget is divided among the cores.
    ///
    /// # Errors
    /// As [`run`](Self::run); if several cores fail, the error of the first.
    pub fn run_parallel(&mut self) -> Result<Report, RunError> {
        let Machine { program, cores, memory, palettes, budget, .. } = self;
        let share = *budget / cores.len() as u64;
        let out = Outside { memory, palettes, clock: None };
        let program = &*program;
        let results: Vec<(Result<bool, RunError>, u64)> = std::thread::scope(|scope| {
            let run = |core: &'_ mut Core| {
                let mut left = share;
                while core.is_alive() {
                    core.fill(program);
                    match core.pass(program, out, &mut left) {
                        Ok(0) if core.is_alive() => return (Ok(left == 0), left),
                        Ok(_) => {}
                        Err(error) => return (Err(error), left),
                    }
                }
                (Ok(false), left)
            };
            let threads: Vec<_> = cores.iter_mut().map(|core| scope.spawn(move || run(core))).collect();
            // A panic of a thread continues in the caller.
            threads.into_iter().map(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        });
        self.budget = results.iter().map(|(_, left)| left).sum();
        let mut exhausted = false;
        for (result, _) in results {
            exhausted |= result?;
        }
        match self.is_alive() {
            false => Ok(self.report()),
            true => Err(if exhausted { self.exhausted() } else { self.deadlock() }),
        }
    }

    /// Runs until no group is left, cycle by cycle.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_cycles(&mut self) -> Result<Report, RunError> {
        while self.advance(None)? {}
        Ok(self.report())
    }

    /// Runs until no group is left, cycle by cycle, with an observer. An instruction that stalls is observed before
    /// each attempt.
    ///
    /// # Errors
    /// As [`run`](Self::run), and [`RunError::Stopped`] when the observer ends the run.
    pub fn run_observed(&mut self, observer: &mut dyn Observer) -> Result<Report, RunError> {
        while self.advance(Some(observer))? {}
        Ok(self.report())
    }

    /// Runs one cycle on every core that has something to do. Returns false if no group was left.
    fn advance(&mut self, mut observer: Option<&mut dyn Observer>) -> Result<bool, RunError> {
        if !self.is_alive() {
            return Ok(false);
        }
        let now = self.cycle;
        for number in 0..self.cores.len() {
            let exhausted = (self.budget == 0).then(|| self.exhausted());
            let out = Outside { memory: &self.memory, palettes: &self.palettes, clock: Some(now) };
            let observer = observer.as_mut().map(|observer| &mut **observer as &mut dyn Observer);
            if let Some(exhausted) = exhausted {
                // Observers see where the program is, as before an instruction that fails.
                let (before, after) = self.cores.split_at_mut(number);
                let mut cores = after.iter_mut().chain(before);
                let seen = observer.and_then(|seen| cores.find_map(|core| core.observe(&self.program, out, seen)));
                return Err(if seen == Some(ControlFlow::Break(())) { RunError::Stopped } else { exhausted });
            }
            self.budget -= u64::from(self.cores[number].cycle(&self.program, out, observer)?);
        }
        self.cycle += 1;
        let mut alive = self.cores.iter().filter(|c| c.is_alive()).peekable();
        if alive.peek().is_some() && alive.all(Core::is_stuck) {
            return Err(self.deadlock());
        }
        Ok(true)
    }
}
