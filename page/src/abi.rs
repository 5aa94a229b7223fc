//! The interface for JavaScript: one buffer for input, one for output.
//!
//! The page allocates a buffer with `input`, writes UTF-8 or a manual's data to it, calls `load` or `answer`, and reads as
//! many bytes as that returned from `output`. This side does not dereference raw pointers: both buffers are ordinary
//! vectors, which are not reallocated between the call that returns their address and the next call.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Page;

struct State {
    input: Vec<u8>,
    output: String,
    page: Option<Page>,
}

static STATE: Mutex<State> = Mutex::new(State { input: Vec::new(), output: String::new(), page: None });

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Allocates an input buffer of `bytes` bytes and returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn input(bytes: usize) -> *mut u8 {
    let mut state = state();
    state.input = vec![0; bytes];
    state.input.as_mut_ptr()
}

/// Loads the manual's data in the input buffer. Returns 1 if it is valid, otherwise 0.
#[unsafe(no_mangle)]
pub extern "C" fn load() -> u32 {
    let mut state = state();
    let input = std::mem::take(&mut state.input);
    state.page = Page::new(&input);
    state.page.is_some().into()
}

/// Answers the request in the input buffer. Returns the length of the answer in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> usize {
    let mut state = state();
    let input = std::mem::take(&mut state.input);
    let request = String::from_utf8_lossy(&input);
    let answer = state.page.as_mut().map_or(String::from("null"), |page| page.answer(&request));
    state.output = answer;
    state.output.len()
}

/// Returns the address of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    state().output.as_ptr()
}
