//! Observable machines for USC programs.

pub use crate::machine::Watched;
use crate::machine::{Bank, Properties};
use crate::usc::host::Host;
use crate::usc::host::Software;
use crate::usc::lanes::LANES;
use crate::usc::seen::{BANKS, CONSTANTS, Numbered};
use crate::usc::watch::{TERMS, Watch};

impl<'a> Watched<'a> {
    /// Creates a machine for a USC program with these bytes. `start` runs it from its start with the given watch, and
    /// returns the host as the program leaves it.
    pub fn usc(code: &[u8], start: impl Fn(&mut Watch<'_>) -> Result<Software, String> + 'a) -> Self {
        let bank = |&(open, title, count, uniform, _): &(&str, &str, usize, bool, Numbered)| {
            let constant = open == CONSTANTS;
            Bank { uniform, constant, ..Bank::new(open, count as u32, 32).titled(title) }
        };
        let masks = ["p", "pe"].map(|name| Bank { names: vec![name.to_owned()], ..Bank::new("", 1, 1) });
        let banks = BANKS.iter().map(bank).chain(masks).collect();
        let properties = Properties {
            terms: TERMS,
            lanes: LANES,
            banks,
            spaces: Vec::new(),
            group_memory: None,
            unit: 1,
            base: 0,
            code: code.to_vec(),
            fetches: Vec::new(),
        };
        Watched::new(properties, move |observer| {
            let mut watch = Watch::default();
            watch.observer = Some(observer);
            let host = start(&mut watch)?;
            Ok(move |address, into: &mut [u8]| host.peek(address, into))
        })
    }
}
