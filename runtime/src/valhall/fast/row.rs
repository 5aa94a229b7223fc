//! The rows of every bundle: the registers, and those after them that handlers use.

/// General registers.
pub const REGISTERS: u32 = 64;
/// For unread results.
pub const RESULT: u32 = REGISTERS;
/// The number of the lane.
pub const LANE: u32 = RESULT + 1;
/// The number of the warp in its workgroup.
pub const WARP: u32 = LANE + 1;
/// The address of the thread's private memory, in two rows.
pub const THREAD: u32 = WARP + 1;
/// The position of the thread in its workgroup: x, y and z, and x and y as two halves.
pub const PLACES: u32 = THREAD + 2;
pub const PACKED: u32 = PLACES + 3;
pub const ZERO: u32 = PACKED + 1;
/// The address of the current word, if the word uses it.
pub const COUNTER: u32 = ZERO + 1;
/// Ones in the helper lanes of a fragment program.
pub const HELPER: u32 = COUNTER + 1;
/// Where in their pixels the lanes of a fragment program last interpolated: x in the low half, y in the high half.
pub const PLACE: u32 = HELPER + 1;
/// Values within an instruction.
pub const TEMPORARIES: std::ops::Range<u32> = PLACE + 1..PLACE + 65;
/// Constants that are the same in all lanes.
pub const CONSTANTS: u32 = TEMPORARIES.end;

/// Returns the bit of a row, or 0 if it is not a register.
pub fn bit(row: u32) -> u64 {
    if row < REGISTERS { 1 << row } else { 0 }
}
