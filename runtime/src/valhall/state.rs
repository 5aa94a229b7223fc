//! The state of a single warp in plain numbers, for [`single`](super::single).

use isaforge_valhall::Register;

use crate::memory::Memory;

use super::group::Group;
use super::warp::LANES;

/// A warp about to execute a word, and everything that it can access.
#[derive(Clone, Debug)]
pub struct State {
    /// The general registers, a column of 16 lanes each.
    pub registers: Box<[[u32; LANES]; Register::COUNT]>,
    /// The word that each lane executes next. The live lanes with the lowest word execute; the others wait.
    pub pcs: [u32; LANES],
    /// Lanes that have not ended.
    pub live: u16,
    /// The fast-access uniforms; uniforms beyond these read as 0.
    pub uniforms: Vec<u32>,
    /// The number of words of the program, at most [`Launch::MAX_WORDS`](crate::Launch::MAX_WORDS). All words but the
    /// executed one are no instructions.
    pub words: u32,
    /// The number of the warp in its workgroup.
    pub warp: u32,
    /// The number of warps in the workgroup, greater than `warp`.
    pub warps: u32,
    /// Mapped memory.
    pub memory: Memory,
    /// Memory of the workgroup.
    pub shared: Vec<u8>,
    /// Memory of the threads of the workgroup, [`THREAD_BYTES`](super::THREAD_BYTES) for each of the 16 lanes of a
    /// warp; may be empty.
    pub private: Vec<u8>,
    /// The pixels of the lanes, in a fragment program.
    pub quads: Option<Quads>,
}

/// The pixels of the lanes of a fragment program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quads {
    /// Helper lanes: they execute only for their neighbours, and have no visible effects.
    pub helpers: u16,
    /// The pixel of each lane.
    pub pixels: [[u32; 2]; LANES],
    /// The position within its pixel at which each lane last interpolated: the distance from the corner in 1/256 pixel.
    pub places: [[i16; 2]; LANES],
}

/// How the warp continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// At its program counters.
    Onward,
    /// After the barrier at its program counters, once all warps of the workgroup are there.
    Barrier,
}

/// Creates a workgroup of `warps` warps along x.
pub(super) fn group(warps: u32) -> Group {
    Group { id: [0; 3], size: [warps * LANES as u32, 1, 1] }
}
