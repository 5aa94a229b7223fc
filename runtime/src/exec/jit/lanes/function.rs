//! Machine code in memory that may be executed, and its calls, which are `unsafe`.
//!
//! What is called here was made by [`Emitted`], and [`check`] has seen that it keeps to this: it reads and writes columns of the warps it is
//! told of, in rows below [`Emitted::rows`]; a block reads their active lanes and writes their lanes that jump, and it reads
//! and writes what [`Emitted::windows`] say, as often as it may be executed; a loop reads and writes its
//! state; it changes no register that a caller of `sysv64` relies on, no stack and no mode of the processor.

#![allow(unsafe_code, reason = "calls of machine code that was made while running")]

use memmap2::{Mmap, MmapMut};

use super::check::{Kind, check};
use super::emit::{Emitted, FlowState, State, Times};
use super::host::Host;
use super::row::{COLUMN, Row};
use super::window::{Memory, Window, Windows};
use crate::exec::jit::listing::{Marks, listing};
use crate::level::Level;
use abi::{Block, Flow, Loop};

/// The types of the functions. On other processors there are none.
#[cfg(target_arch = "x86_64")]
mod abi {
    use super::{FlowState, State, Times};

    pub type Block = unsafe extern "sysv64" fn(*mut u8, *const u16, u32, *const *mut u8, *mut u16, &mut Times) -> u32;
    pub type Loop = unsafe extern "sysv64" fn(*mut u8, &mut State, usize);
    pub type Flow = unsafe extern "sysv64" fn(*mut u8, &mut FlowState);
}

#[cfg(not(target_arch = "x86_64"))]
mod abi {
    use super::{FlowState, State, Times};

    pub type Block = unsafe extern "C" fn(*mut u8, *const u16, u32, *const *mut u8, *mut u16, &mut Times) -> u32;
    pub type Loop = unsafe extern "C" fn(*mut u8, &mut State, usize);
    pub type Flow = unsafe extern "C" fn(*mut u8, &mut FlowState);
}

/// Code in memory that may be executed.
#[derive(Debug)]
struct Executable {
    bytes: Mmap,
    constants: usize,
    marks: Marks,
    columns: usize,
    rows: usize,
}

impl Executable {
    /// The code in memory, where this level can execute it and the system allows it. Code that a check refuses is none: the
    /// handlers do as well.
    fn new(emitted: &Emitted, kind: Kind, level: Level) -> Option<Self> {
        level.compiles_after(0)?;
        if level.checks()
            && let Err(refused) = check(emitted, kind, Host::of(level), level.computes_halves())
        {
            debug_assert!(false, "{refused}");
            return None;
        }
        let mut code = MmapMut::map_anon(emitted.code().len()).ok()?;
        code.copy_from_slice(emitted.code());
        Some(Executable {
            bytes: code.make_exec().ok()?,
            constants: emitted.constants(),
            marks: emitted.marks().clone(),
            columns: emitted.columns(),
            rows: emitted.rows(),
        })
    }

    fn listing(&self, text: impl Fn(u64) -> String) -> String {
        listing(&self.bytes[..self.constants], &self.marks, text)
    }
}

/// A block's function.
#[derive(Debug)]
pub struct BlockFn {
    code: Executable,
    windows: Vec<Window>,
}

/// A loop's function.
#[derive(Debug)]
pub struct LoopFn {
    code: Executable,
    ways: usize,
}

/// A region's function.
#[derive(Debug)]
pub struct FlowFn {
    code: Executable,
}

impl BlockFn {
    /// The code as text, behind the instructions that it comes from.
    pub fn listing(&self, text: impl Fn(u64) -> String) -> String {
        self.code.listing(text)
    }

    /// The code of a block, where this level can execute it and the system allows it.
    pub fn new(emitted: &Emitted, level: Level) -> Option<Self> {
        let code = Executable::new(emitted, Kind::Block, level)?;
        Some(BlockFn { code, windows: emitted.windows().to_vec() })
    }

    /// The memory that it accesses.
    pub fn windows(&self) -> &[Window] {
        &self.windows
    }

    /// Executes it for the warps with a bit in `busy`, or for all if it is for full bundles; as often as it goes on and has
    /// memory, at most `most` times. For each of them the lanes that jump are written to `jumps`, if it ends in a branch.
    ///
    /// Returns how often it was executed; for each lane whether it jumps in any warp; and whether it does not in any. `None`
    /// where memory is not found, and nothing was done.
    #[inline(always)]
    pub fn run<const COLUMNS: usize>(
        &self,
        rows: &mut [Row<COLUMNS>],
        active: &[u16; COLUMNS],
        busy: u32,
        jumps: &mut [u16; COLUMNS],
        memory: &mut impl Memory,
        most: u32,
    ) -> Option<(u32, [u16; 2])> {
        let is_known = COLUMNS == self.code.columns && busy < 1 << COLUMNS && rows.len() >= self.code.rows;
        if busy == 0 || most == 0 || !is_known {
            return None;
        }
        let mut windows = Windows::NONE;
        let all = windows.find(memory, &self.windows, COLUMNS, most)?;
        let mut times = Times { all, left: all };
        let (rows, active, jumps) = (rows.as_mut_ptr().cast(), active.as_ptr(), jumps.as_mut_ptr());
        // SAFETY: the function lies at the beginning of the code, which lives as long as `self`, and is of that type. There are as
        // many rows as it touches, and bytes as it accesses so often, in memory that `windows` has borrowed, and `busy` names
        // columns that there are.
        let both = unsafe {
            let function = std::mem::transmute::<*const u8, Block>(self.code.bytes.as_ptr());
            function(rows, active, busy, windows.as_ptr(), jumps, &mut times)
        };
        Some(((all - times.left).max(1), [both as u16, (both >> 16) as u16]))
    }
}

impl BlockFn {
    /// Executes code for one column on rows of several: each of their columns is a row. Returns whether it was; else memory is
    /// not found, and nothing was done.
    #[inline(always)]
    pub fn run_flat<const COLUMNS: usize>(&self, rows: &mut [Row<COLUMNS>], memory: &mut impl Memory) -> bool {
        let mut windows = Windows::NONE;
        if self.code.columns != 1
            || rows.len() * COLUMNS < self.code.rows
            || windows.find(memory, &self.windows, 1, 1).is_none()
        {
            return false;
        }
        let (active, mut jumps, mut times) = ([u16::MAX], [0], Times { all: 1, left: 1 });
        let rows = rows.as_mut_ptr().cast();
        // SAFETY: the function lies at the beginning of the code, which lives as long as `self`, and is of that type. There are as
        // many columns, one after another, as it touches rows of one column, and bytes as it accesses in memory that `windows`
        // has borrowed.
        unsafe {
            let function = std::mem::transmute::<*const u8, Block>(self.code.bytes.as_ptr());
            function(rows, active.as_ptr(), 1, windows.as_ptr(), jumps.as_mut_ptr(), &mut times);
        }
        true
    }
}

impl LoopFn {
    /// The code as text, behind the instructions that it comes from.
    pub fn listing(&self, text: impl Fn(u64) -> String) -> String {
        self.code.listing(text)
    }

    /// The code of a loop that executes `ways` warps side by side.
    pub fn new(emitted: &Emitted, ways: usize, level: Level) -> Option<Self> {
        Some(LoopFn { code: Executable::new(emitted, Kind::Loop(ways), level)?, ways })
    }

    /// How many warps it executes side by side.
    pub fn ways(&self) -> usize {
        self.ways
    }

    /// Executes it for the warps from one on, as the state says.
    pub fn run<const COLUMNS: usize>(&self, rows: &mut [Row<COLUMNS>], first: usize, state: &mut State) {
        if COLUMNS != self.code.columns || rows.len() < self.code.rows || first + self.ways > COLUMNS {
            return;
        }
        // SAFETY: the function lies at the beginning of the code, which lives as long as `self`, and is of that type. There are as
        // many rows as it touches, and warps in them; it may do with the state as it likes.
        unsafe {
            let function = std::mem::transmute::<*const u8, Loop>(self.code.bytes.as_ptr());
            function(rows.as_mut_ptr().cast(), state, first * COLUMN);
        }
    }
}

impl FlowFn {
    /// The code as text, behind the instructions that it comes from.
    pub fn listing(&self, text: impl Fn(u64) -> String) -> String {
        self.code.listing(text)
    }

    /// The code of a region, where this level can execute it and the system allows it.
    pub fn new(emitted: &Emitted, level: Level) -> Option<Self> {
        Some(FlowFn { code: Executable::new(emitted, Kind::Flow, level)? })
    }

    /// Executes it from its first block on, as the state says. Returns whether it was.
    pub fn run<const COLUMNS: usize>(&self, rows: &mut [Row<COLUMNS>], state: &mut FlowState) -> bool {
        if COLUMNS != self.code.columns || rows.len() < self.code.rows {
            return false;
        }
        // SAFETY: the function lies at the beginning of the code, which lives as long as `self`, and is of that type. There are as
        // many rows as it touches; it may do with the state as it likes.
        unsafe {
            let function = std::mem::transmute::<*const u8, Flow>(self.code.bytes.as_ptr());
            function(rows.as_mut_ptr().cast(), state);
        }
        true
    }
}
