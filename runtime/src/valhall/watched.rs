//! Observable machines for Valhall programs.

use std::fmt;
use std::ops::ControlFlow;
use std::rc::Rc;

use isaforge_valhall::Register as Valhall;

use super::fast;
use super::group::Group;
use super::host::Host;
use super::observe::{Moment, Observer, TERMS};
use super::run_with;
use super::warp::LANES;
use crate::deadline::Deadline;
use crate::engine::{Engine, Execution};
use crate::level::Level;
use crate::machine::{self, Access, AccessObserver, At, Bank, Ended, Machine, Properties, Register, View};
use crate::memory::Memory;
use crate::valhall::launch::{Launch, Stage};

/// The index of the bank of a thread's registers.
const REGISTERS: u16 = 0;
/// The maximum number of warps of a workgroup.
const WARPS: u64 = Launch::MAX_THREADS / LANES as u64;

/// Runs a program from its start and returns the memory that it leaves.
pub type Start<'a> = Box<dyn Fn(&mut Told<'_>) -> Result<Memory, String> + 'a>;

/// Runs a program on the fast engine, and tells an observer of all accesses to memory.
type StartAccesses<'a> = Box<dyn Fn(&mut dyn AccessObserver, Level, Deadline) -> Result<(), String> + 'a>;

/// A Valhall program with everything that it runs on.
pub struct Watched<'a> {
    properties: Properties,
    /// The numbers of workgroups in x, y and z, and of threads of a workgroup.
    grid: [[u32; 3]; 2],
    start: Start<'a>,
    /// `None` if only the reference can be observed.
    start_accesses: Option<StartAccesses<'a>>,
}

impl fmt::Debug for Watched<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched").field("grid", &self.grid).finish_non_exhaustive()
    }
}

impl<'a> Watched<'a> {
    /// Creates a machine from a function that runs the program on the reference with a given observer.
    pub fn new(program: &[u64], start: Start<'a>) -> Self {
        let properties = Properties {
            terms: TERMS,
            lanes: LANES,
            banks: vec![
                Bank::new("r", Valhall::COUNT as u32, 32),
                Bank::new("u", Launch::MAX_UNIFORMS as u32, 32).shared(),
            ],
            unit: 8,
            base: 0,
            code: program.iter().flat_map(|word| word.to_le_bytes()).collect(),
        };
        Watched { properties, grid: [[1; 3]; 2], start, start_accesses: None }
    }

    /// Returns the machine with another grid: the numbers of workgroups in x, y and z, and of threads of a workgroup.
    pub fn with_grid(self, grid: [[u32; 3]; 2]) -> Self {
        Watched { grid, ..self }
    }

    /// Creates a machine for a launch with memory and the resources of a host.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// use isaforge_runtime::machine::{Machine, Observer, View};
    /// use isaforge_runtime::valhall::{host::Resources, watched::Watched};
    /// use isaforge_runtime::{Launch, Memory};
    ///
    /// struct Count(usize);
    ///
    /// impl Observer for Count {
    ///     fn before(&mut self, view: &dyn View) -> ControlFlow<()> {
    ///         self.0 += view.at().active.count_ones() as usize;
    ///         ControlFlow::Continue(())
    ///     }
    /// }
    ///
    /// let source = "IADD_IMM.i32 r0, 0x0, #0x2a\nNOP.end";
    /// let program = isaforge_core::program::assemble(isaforge_valhall::ISA, source).unwrap();
    /// let launch = Launch { program, local_size: [4, 1, 1], ..Launch::default() };
    /// let machine = Watched::launch(launch, Memory::new(), Resources::default());
    /// let mut count = Count(0);
    /// machine.run(&mut count)?;
    /// assert_eq!(count.0, 8);
    /// # Ok::<(), String>(())
    /// ```
    pub fn launch(launch: Launch, memory: Memory, host: impl Host + Clone + 'a) -> Self {
        let words = launch.program.clone();
        let grid = [launch.groups, launch.local_size];
        let (launch, memory) = (Rc::new(launch), Rc::new(memory));
        let (fast_launch, fast_memory, fast_host) = (launch.clone(), memory.clone(), host.clone());
        let start = move |told: &mut Told<'_>| {
            let (mut memory, mut host) = (Memory::clone(&memory), host.clone());
            match run_with(&launch, &mut memory, &mut host, told) {
                Ok(_) => Ok(memory),
                Err(error) => Err(error.to_string()),
            }
        };
        let start_accesses = move |observer: &mut dyn AccessObserver, level: Level, deadline: Deadline| {
            let launch = Launch { deadline, ..Launch::clone(&fast_launch) };
            let (mut memory, mut host) = (Memory::clone(&fast_memory), fast_host.clone());
            let ended = fast::run_logged(&launch, &mut memory, &mut host, level, observer);
            ended.map(|_| ()).map_err(|error| error.to_string())
        };
        let watched = Watched::new(&words, Box::new(start)).with_grid(grid);
        Watched { start_accesses: Some(Box::new(start_accesses)), ..watched }
    }
}

impl Machine for Watched<'_> {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn run(&self, observer: &mut dyn machine::Observer) -> Result<(), String> {
        let mut told = Told { observer, grid: self.grid, stopped: false };
        match (self.start)(&mut told) {
            Ok(memory) => told.observer.end(&Ended(|address, into: &mut [u8]| memory.read(address, into).ok())),
            Err(_) if told.stopped => {}
            Err(reason) => return Err(reason),
        }
        Ok(())
    }

    fn run_accesses(
        &self,
        observer: &mut dyn AccessObserver,
        execution: Execution,
        until: Deadline,
    ) -> Result<(), String> {
        match &self.start_accesses {
            Some(start) if execution.engine() != Engine::Reference => start(observer, execution.level(), until),
            _ => machine::forward_accesses(self, observer, until),
        }
    }
}

/// Forwards what an observer of Valhall sees to an observer of any machine.
pub struct Told<'a> {
    observer: &'a mut dyn machine::Observer,
    grid: [[u32; 3]; 2],
    stopped: bool,
}

impl fmt::Debug for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Told").field("stopped", &self.stopped).finish_non_exhaustive()
    }
}

impl Told<'_> {
    fn keep(&mut self, flow: ControlFlow<()>) -> ControlFlow<()> {
        self.stopped |= flow.is_break();
        flow
    }
}

impl Observer for Told<'_> {
    fn before(&mut self, moment: &Moment<'_>) -> ControlFlow<()> {
        let flow = self.observer.before(&Seen { moment, grid: self.grid });
        self.keep(flow)
    }

    fn after(&mut self, moment: &Moment<'_>) -> ControlFlow<()> {
        let flow = self.observer.after(&Seen { moment, grid: self.grid });
        self.keep(flow)
    }

    fn barrier(&mut self, group: [u32; 3]) {
        self.observer.barrier(group_number(group, self.grid[0]));
    }
}

/// The number of a warp among all warps of a run: the one with this number in a workgroup.
pub(super) fn warp_number(group: u64, warp: u64) -> u64 {
    group.wrapping_mul(WARPS).wrapping_add(warp)
}

/// The number of a workgroup in a grid, with x fastest.
pub(super) fn group_number([x, y, z]: [u32; 3], [width, height, _]: [u32; 3]) -> u64 {
    let [x, y, z, width, height] = [x, y, z, width, height].map(u64::from);
    z.wrapping_mul(height).wrapping_add(y).wrapping_mul(width).wrapping_add(x)
}

struct Seen<'m> {
    moment: &'m Moment<'m>,
    grid: [[u32; 3]; 2],
}

impl View for Seen<'_> {
    fn at(&self) -> At {
        let Moment { stage, group, warp, pc, lanes, .. } = *self.moment;
        let warp = match stage {
            Stage::Compute => warp_number(group_number(group, self.grid[0]), warp.into()),
            _ => u64::from(group[1]) << 32 | u64::from(group[0]),
        };
        At { warp, pc: pc as u64, live: lanes.live.into(), active: lanes.active.into() }
    }

    fn origin(&self) -> String {
        self.moment.stage.warp(self.moment.group, self.moment.warp)
    }

    fn thread(&self, lane: usize) -> [u32; 3] {
        let lane = lane % LANES;
        match self.moment.stage {
            Stage::Compute => {
                let group = Group { id: self.moment.group, size: self.grid[1] };
                group.global(self.moment.space.first_thread + lane)
            }
            Stage::Fragment => {
                let [x, y] = self.moment.pixels[lane];
                [x, y, 0]
            }
            Stage::Vertex => [self.moment.group[0].wrapping_add(lane as u32), 0, 0],
        }
    }

    fn group(&self) -> u64 {
        match self.moment.stage {
            Stage::Compute => group_number(self.moment.group, self.grid[0]),
            _ => self.at().warp,
        }
    }

    fn read(&self, register: Register, lane: usize) -> Option<u64> {
        let index = register.index as usize;
        match register.bank {
            REGISTERS => self.moment.registers.get(index)?.get(lane).copied().map(u64::from),
            _ => Some(self.moment.uniforms.get(index).copied().unwrap_or(0).into()),
        }
    }

    fn memory(&self, lane: usize, address: u64, into: &mut [u8]) -> Option<()> {
        self.moment.space.read(lane, address, into).ok()
    }

    fn accesses(&self) -> &[Access] {
        self.moment.accesses
    }
}
