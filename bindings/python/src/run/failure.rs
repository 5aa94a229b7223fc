//! Why a run ended early.

use isaforge_core::machine::{Reason, Trap};
use isaforge_runtime::{MemoryFault, RunError};
use pyo3::prelude::*;

use crate::error;

/// Why a run ended early, and where.
#[derive(Debug, Default)]
pub struct Failure {
    message: String,
    place: Option<Place>,
}

/// Where a run ended.
#[derive(Debug, Default)]
struct Place {
    pc: u64,
    text: String,
    group: Option<[u32; 3]>,
    thread: Option<[u32; 3]>,
    lane: Option<u8>,
    address: Option<u64>,
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Failure { message, place: None }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let address = match &error {
            RunError::Memory { fault, .. } => match *fault {
                MemoryFault::Unmapped { address, .. } | MemoryFault::Straddles { address, .. } => Some(address),
            },
            _ => None,
        };
        let place = error.place().map(|place| Place {
            pc: place.pc as u64,
            text: place.text.clone(),
            group: Some(place.group),
            thread: place.thread,
            lane: place.lane,
            address,
        });
        Failure { message: error.to_string(), place }
    }
}

impl Failure {
    /// The failure of an instruction, whose text is empty if there is none at its address.
    pub fn trap(trap: &Trap, text: String) -> Self {
        let quoted = if text.is_empty() { String::new() } else { format!(" (`{text}`)") };
        let address = match trap.reason {
            Reason::Memory { address, .. } | Reason::Misaligned { address, .. } => Some(address),
            _ => None,
        };
        let place = Place { pc: trap.pc, text, address, ..Place::default() };
        Failure { message: format!("{trap}{quoted}"), place: Some(place) }
    }

    /// A failure before an instruction.
    pub fn before(pc: u64, text: String, why: &str) -> Self {
        let place = Place { pc, text, ..Place::default() };
        Failure { message: format!("at {pc:#x}: {why}"), place: Some(place) }
    }

    /// The exception for it.
    pub fn raise(self, py: Python<'_>) -> PyErr {
        let span = self.place.map(|place| {
            let Place { pc, text, group, thread, lane, address } = place;
            (pc, text, group.map(Into::into), thread.map(Into::into), lane, address)
        });
        error::run(py, &self.message, "", span)
    }
}
