//! Observable machines for Valhall programs.

use std::fmt;
use std::ops::ControlFlow;
use std::rc::Rc;

use isaforge_valhall::Register as Valhall;

use super::compute::run_with;
use super::fast;
use super::group::{Group, group_number, warp_number};
use super::host::Host;
use super::observe::{Moment, Observer, TERMS};
use super::space::{THREADS, WORKGROUP};
use super::warp::LANES;
use crate::deadline::Deadline;
use crate::level::Level;
pub use crate::machine::Watched;
use crate::machine::{self, Access, AccessObserver, At, Bank, Properties, Register, View};
use crate::memory::Memory;
use crate::valhall::launch::{Launch, Stage};

/// The index of the bank of a thread's registers.
const REGISTERS: u16 = 0;
impl<'a> Watched<'a> {
    /// Creates a machine for a Valhall program. `start` runs it from its start on the reference with a given observer,
    /// and returns the memory that it leaves. The grid has the numbers of workgroups in x, y and z, and of threads of a
    /// workgroup.
    pub fn valhall(
        program: &[u64],
        grid: [[u32; 3]; 2],
        start: impl Fn(&mut Told<'_>) -> Result<Memory, String> + 'a,
    ) -> Self {
        let properties = Properties {
            terms: TERMS,
            lanes: LANES,
            banks: vec![
                Bank::new("r", Valhall::COUNT as u32, 32).titled("registers"),
                Bank::new("u", Launch::MAX_UNIFORMS as u32, 32).shared().titled("uniforms"),
            ],
            spaces: Vec::new(),
            group_memory: Some(WORKGROUP..THREADS),
            unit: 8,
            base: 0,
            code: program.iter().flat_map(|word| word.to_le_bytes()).collect(),
            fetches: Vec::new(),
        };
        Watched::new(properties, move |observer| {
            let memory = start(&mut Told { observer, grid })?;
            Ok(move |address, into: &mut [u8]| memory.read(address, into).ok())
        })
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
        let mut watched = Watched::valhall(&words, grid, start);
        watched.start_accesses = Some(Box::new(start_accesses));
        watched
    }
}

/// Forwards what an observer of Valhall sees to an observer of any machine.
pub struct Told<'a> {
    observer: &'a mut dyn machine::Observer,
    grid: [[u32; 3]; 2],
}

impl fmt::Debug for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Told").field("grid", &self.grid).finish_non_exhaustive()
    }
}

impl Observer for Told<'_> {
    fn before(&mut self, moment: &Moment<'_>) -> ControlFlow<()> {
        self.observer.before(&Seen { moment, grid: self.grid })
    }

    fn after(&mut self, moment: &Moment<'_>) -> ControlFlow<()> {
        self.observer.after(&Seen { moment, grid: self.grid })
    }

    fn barrier(&mut self, group: [u32; 3]) {
        self.observer.barrier(group_number(group, self.grid[0]));
    }
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
