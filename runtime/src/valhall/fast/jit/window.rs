//! Where machine code finds the memory that its instructions access.

use super::super::super::warp::LANES;
use super::super::bundle::{Bundle, WARPS};
use super::super::handler::{Body, Fields, Op, handler};
use super::super::reach;
use super::super::world::World;
use crate::exec::jit::lanes::window::{self, Bytes, WINDOWS};
use crate::level::Level;

/// Bytes of a word of all lanes.
const BYTES: usize = 4 * WARPS * LANES;

/// Memory that instructions access, contiguous words of all lanes.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Finds out whether they do.
    reach: Op,
    /// Whether it is written.
    pub writes: bool,
}

impl Access {
    /// The access of an instruction that has its address in two rows, and the offset in its first number.
    pub fn new(fields: Fields, writes: bool, level: Level) -> Self {
        Access { reach: handler::<Reach>(level).with(fields), writes }
    }

    /// The rows of the address.
    pub fn rows(&self) -> [u32; 2] {
        self.reach.fields().sources
    }

    /// Whether an instruction accesses the same place.
    pub fn is_like(&self, fields: &Fields) -> bool {
        let own = self.reach.fields();
        own.sources == fields.sources && own.numbers == fields.numbers
    }
}

/// Finds out where a full bundle accesses a word a lane, one behind the other; false when it does not.
struct Reach;

impl Body for Reach {
    #[inline(always)]
    fn run<const WHOLE: bool>(bundle: &mut Bundle, world: &mut World<'_>, op: &Fields) -> bool {
        let start = reach::bundle(bundle, world, op, 4);
        bundle.start_of_access = start.unwrap_or_default();
        start.is_some()
    }
}

/// The memory that a full bundle accesses.
pub struct Memory<'m, 'w> {
    world: &'m mut World<'w>,
    /// For each access its word and its address.
    starts: [(u32, u64); WINDOWS],
    group: usize,
}

impl<'m, 'w> Memory<'m, 'w> {
    /// Finds out where a full bundle accesses it. Returns `None` where lanes are not contiguous.
    #[inline(always)]
    pub fn find(bundle: &mut Bundle, world: &'m mut World<'w>, accesses: &[Access]) -> Option<Self> {
        let mut starts = [(0, 0); WINDOWS];
        for (start, access) in starts.iter_mut().zip(accesses) {
            if !access.reach.run(true, bundle, world) {
                return None;
            }
            *start = (access.reach.pc(), bundle.start_of_access);
        }
        Some(Memory { world, starts, group: bundle.homes[0].group })
    }
}

impl window::Memory for Memory<'_, '_> {
    #[inline(always)]
    fn window(&mut self, access: usize, writes: bool) -> Option<Bytes<'_>> {
        let (pc, start) = *self.starts.get(access)?;
        Some(if writes {
            let (base, bytes) = self.world.around_mut(pc, self.group, start, BYTES)?;
            Bytes::Write(bytes.get_mut((start - base) as usize..)?)
        } else {
            let (base, bytes) = self.world.around(pc, self.group, start, BYTES)?;
            Bytes::Read(bytes.get((start - base) as usize..)?)
        })
    }
}
