//! Programs of the VPU as machines that observers can inspect.

use std::rc::Rc;

use crate::deadline::Deadline;
use crate::level::Level;
pub use crate::machine::Watched;
use crate::machine::{AccessObserver, Bank, Properties, forward_accesses};
use crate::observe::Terms;
use crate::vpu::group::THREADS;
use crate::vpu::machine::Machine;
use crate::vpu::seen::read;

impl<'a> Watched<'a> {
    /// Creates a machine for a program of the VPU. `start` creates the machine that has loaded it, with its work.
    pub fn vpu(program: &[u64], start: impl Fn() -> Result<Machine, String> + 'a) -> Self {
        // A register has four components of 16 bits, X lowest; flags are one bit for each component.
        let banks = vec![
            Bank::new("r", 16, 64).titled("local registers"),
            Bank::new("s", 16, 64).shared().titled("shared registers"),
            Bank::new("g", 32, 64).shared().titled("global registers"),
            Bank { names: vec!["flags".to_owned()], ..Bank::new("", 1, 4) },
        ];
        let terms = Terms { instruction: "instruction", step: "instruction", thread: "thread", warp: "group" };
        let code = program.iter().flat_map(|word| word.to_le_bytes()).collect();
        let properties = Properties {
            terms,
            lanes: THREADS,
            banks,
            spaces: Vec::new(),
            group_memory: None,
            unit: 8,
            base: 0,
            code,
            fetches: Vec::new(),
        };
        let start = Rc::new(start);
        let (fast_start, fast_properties) = (start.clone(), properties.clone());
        let start_accesses = move |observer: &mut dyn AccessObserver, level: Level, until: Deadline| {
            forward_accesses(&at(Some(level), fast_properties.clone(), fast_start.clone()), observer, until)
        };
        let mut watched = at(None, properties, start);
        watched.start_accesses = Some(Box::new(start_accesses));
        watched
    }
}

/// Creates a machine with the handlers of a level, or without one with the reference.
fn at<'a>(
    level: Option<Level>,
    properties: Properties,
    start: Rc<impl Fn() -> Result<Machine, String> + 'a>,
) -> Watched<'a> {
    Watched::new(properties, move |observer| {
        let mut machine = start()?;
        machine.set_level(level);
        machine.run_observed(observer).map_err(|error| error.to_string())?;
        Ok(move |address, into: &mut [u8]| read(machine.memory(), address, into))
    })
}
