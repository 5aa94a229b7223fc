//! What machine code is given, and where it finds it.

use std::mem::offset_of;

use iced_x86::Register;

/// The number of spill slots.
pub const SPILLS: usize = 16;
/// The maximum number of windows of a region.
pub const MAX_WINDOWS: usize = 8;

/// The callee-saved registers of the calling convention.
pub const CALLERS: [Register; 6] =
    [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];

/// What machine code is given.
#[repr(C)]
#[derive(Debug)]
pub struct Context {
    pub(super) file: *mut u64,
    pub(super) left: u64,
    pub(super) next: u64,
    pub(super) miss: u64,
    pub(super) saved: [u64; 6],
    pub(super) spill: [u64; SPILLS],
    pub(super) windows: [*mut u8; MAX_WINDOWS],
}

/// The offset of the pointer to the register file.
pub const FILE: i32 = offset_of!(Context, file) as i32;
/// The offset of the budget.
pub const LEFT_AT: i32 = offset_of!(Context, left) as i32;
/// The offset of the target of a computed jump.
pub const NEXT: i32 = offset_of!(Context, next) as i32;
/// The offset of the slot for the offset of an access that is in no window.
pub const MISS: i32 = offset_of!(Context, miss) as i32;
/// The offset of the saved registers of the caller.
pub const SAVED: i32 = offset_of!(Context, saved) as i32;
/// The offset of the spill slots.
pub const SPILL: i32 = offset_of!(Context, spill) as i32;
/// The offset of the pointers to windows.
pub const WINDOWS: i32 = offset_of!(Context, windows) as i32;
/// The size in bytes.
pub const SIZE: i32 = size_of::<Context>() as i32;
