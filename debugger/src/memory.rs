//! Reads partially mapped memory.

use isaforge_runtime::machine::View;

/// Fills the start of `into` with memory from an address on, as a lane sees it. Returns the number of bytes before the
/// first that is not mapped.
pub fn read(view: &dyn View, lane: usize, address: u64, into: &mut [u8]) -> usize {
    let fits = (into.len() as u64).checked_sub(1).is_some_and(|last| address.checked_add(last).is_some());
    if fits && view.memory(lane, address, into).is_some() {
        return into.len();
    }
    if into.len() < 2 {
        return 0;
    }
    // Neighbouring regions cannot be read at once.
    let (left, right) = into.split_at_mut(into.len() / 2);
    let done = read(view, lane, address, left);
    match address.checked_add(done as u64) {
        Some(next) if done == left.len() => done + read(view, lane, next, right),
        _ => done,
    }
}

/// Whether a byte is mapped.
pub fn is_mapped(view: &dyn View, lane: usize, address: u64) -> bool {
    view.memory(lane, address, &mut [0]).is_some()
}
