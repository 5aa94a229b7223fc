//! Machine code in memory that may be executed, and its calls, which are `unsafe`.
//!
//! What is called here was made by [`Emitted`] alone, which keeps to this: it reads and writes columns of the warps it is
//! told of, in rows below [`Emitted::rows`]; it reads their active lanes and writes their lanes that jump; for full bundles
//! it reads and writes a word for each lane in places below [`Emitted::places`]; it changes no register that a caller of
//! `sysv64` relies on, no stack and no mode of the processor.

#![allow(unsafe_code, reason = "calls of machine code that was made while running")]

use memmap2::{Mmap, MmapMut};

use super::super::bundle::{Row, WARPS};
use super::emit::Emitted;
use super::window::Windows;
use crate::level::Level;

/// A function made while running.
#[derive(Debug)]
pub struct Machine {
    code: Mmap,
    rows: usize,
    places: usize,
}

impl Machine {
    /// The code, where this level can execute it and the system allows it.
    pub fn new(emitted: &Emitted, level: Level) -> Option<Self> {
        level.compiles_after(0)?;
        let mut code = MmapMut::map_anon(emitted.code().len()).ok()?;
        code.copy_from_slice(emitted.code());
        Some(Machine { code: code.make_exec().ok()?, rows: emitted.rows(), places: emitted.places() })
    }

    /// Executes it for the warps with a bit in `busy`, or for all if it is for full bundles. For each of them the lanes that
    /// jump are written to `jumps`, if it ends in a branch; the result says for each lane whether it jumps in any warp, and
    /// whether it does not in any.
    #[inline(always)]
    pub fn run(
        &self,
        rows: &mut [Row],
        active: &[u16; WARPS],
        busy: u8,
        jumps: &mut [u16; WARPS],
        windows: &Windows<'_>,
    ) -> [u16; 2] {
        if busy == 0 || rows.len() < self.rows || windows.len() < self.places {
            return [0; 2];
        }
        // SAFETY: the function lies at the beginning of the code, which lives as long as `self`. There are as many rows and places as
        // they touch, the places being memory of the world that `windows` has borrowed, and `busy` names warps below eight.
        let both = unsafe {
            call(
                self.code.as_ptr(),
                rows.as_mut_ptr(),
                active.as_ptr(),
                busy.into(),
                windows.as_ptr(),
                jumps.as_mut_ptr(),
            )
        };
        [both as u16, (both >> 16) as u16]
    }
}

/// Calls a function that was made.
///
/// # Safety
/// What is called must have been made by [`Emitted`] for this processor, and the arguments must be what that relies on.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn call(
    code: *const u8,
    rows: *mut Row,
    active: *const u16,
    busy: u32,
    places: *const *mut u8,
    jumps: *mut u16,
) -> u32 {
    type Function = unsafe extern "sysv64" fn(*mut Row, *const u16, u32, *const *mut u8, *mut u16) -> u32;
    // SAFETY: by what the caller promises, this is a function of that type, and may be called so.
    unsafe { std::mem::transmute::<*const u8, Function>(code)(rows, active, busy, places, jumps) }
}

/// Other processors have no code to call.
///
/// # Safety
/// None is needed.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn call(_: *const u8, _: *mut Row, _: *const u16, _: u32, _: *const *mut u8, _: *mut u16) -> u32 {
    0
}
