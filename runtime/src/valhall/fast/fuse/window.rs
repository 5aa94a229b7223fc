//! Where machine code finds the memory that its instructions access.

use std::marker::PhantomData;

use super::super::super::warp::LANES;
use super::super::bundle::{Bundle, WARPS};
use super::super::handler::{Body, Fields, Op, handler};
use super::super::reach;
use super::super::world::World;
use crate::level::Level;

/// How many places code may access.
pub const PLACES: usize = 4;
/// Bytes of a word of all lanes.
const BYTES: usize = 4 * WARPS * LANES;

/// A place that instructions access, each lane a word behind that of the lane before.
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

/// The memory of some accesses: [`BYTES`] bytes each, and as many for each time they move further, for as long as the world is borrowed.
#[derive(Debug)]
pub struct Windows<'a> {
    places: [*mut u8; PLACES],
    len: usize,
    world: PhantomData<&'a mut [u8]>,
}

impl<'a> Windows<'a> {
    /// No memory.
    pub const NONE: Self = Windows { places: [std::ptr::null_mut(); PLACES], len: 0, world: PhantomData };

    /// Finds the memory, and how often it may be accessed, of so many times, when each time is so much further than the one
    /// before; nothing where lanes are not one behind the other, or where there is none.
    #[inline(always)]
    pub fn find(
        bundle: &mut Bundle,
        world: &'a mut World<'_>,
        accesses: &[Access],
        strides: &[u32],
        times: u32,
    ) -> Option<(Self, u32)> {
        let mut windows = Windows { len: accesses.len().min(PLACES), ..Windows::NONE };
        let mut times = times;
        for (index, (place, access)) in windows.places.iter_mut().zip(accesses).enumerate() {
            if !access.reach.run(true, bundle, world) {
                return None;
            }
            let (pc, start, group) = (access.reach.pc(), bundle.start_of_access, bundle.homes[0].group);
            let left;
            (*place, left) = if access.writes {
                let (base, bytes) = world.around_mut(pc, group, start, BYTES)?;
                let bytes = bytes.get_mut((start - base) as usize..)?;
                (bytes.as_mut_ptr(), bytes.len())
            } else {
                let (base, bytes) = world.around(pc, group, start, BYTES)?;
                let bytes = bytes.get((start - base) as usize..)?;
                (bytes.as_ptr().cast_mut(), bytes.len())
            };
            let stride = strides.get(index).copied().unwrap_or(0) as usize;
            if let Some(more) = left.checked_sub(BYTES)?.checked_div(stride) {
                times = times.min(u32::try_from(more).unwrap_or(u32::MAX).saturating_add(1));
            }
        }
        Some((windows, times))
    }

    /// How many places there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The places, one behind the other.
    pub fn as_ptr(&self) -> *const *mut u8 {
        self.places.as_ptr()
    }
}
