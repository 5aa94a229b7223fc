//! The numbers of registers for the data and the address of an image instruction, which depend on its other operands.
//!
//! LLVM has a record for every number and corrects the one that its tables find. Here one record represents all of
//! them, and the number is computed. `images.tsv` lists what parts of the mnemonic add to the address.

use super::records::Record;

const PARTS: &str = include_str!("images.tsv");
/// The number of coordinates of each dimension, four bits each, lowest first.
const COORDINATES: u64 = 0x4332_3321;
/// The number of derivatives of each dimension, likewise.
const DERIVATIVES: u64 = 0x4442_4642;

/// Expressions for the numbers of registers.
pub(super) struct Counts {
    /// For the data.
    pub data: String,
    /// For the address; `None` if the record defines it.
    pub address: Option<String>,
    /// The number of addresses with registers of their own; 0 if the registers are consecutive.
    pub listed: usize,
}

/// The register counts of an image instruction; `None` if the record defines them.
pub(super) fn counts(record: &Record, mnemonic: &str, generation: u32) -> Option<Counts> {
    let has = |name: &str| record.text.contains(&format!("${name}"));
    if !record.name.starts_with("IMAGE_") || !has("dmask") {
        return None;
    }
    let (mut extra, mut coordinates, mut lod, mut derivatives, mut short) = (0u64, true, 0u64, false, false);
    let mut four = false;
    for part in mnemonic.split('_').skip(1) {
        let Some(row) = PARTS.lines().find(|line| line.split('\t').next() == Some(part)) else { continue };
        for word in row.split('\t').skip(1) {
            // `four@1100` applies from that processor on.
            let (word, since) = word.split_once('@').unwrap_or((word, "0"));
            if since.parse().is_ok_and(|since: u32| generation < since) {
                continue;
            }
            match word {
                "extra" => extra += 1,
                "lod" => lod = 1,
                "derivatives" => derivatives = true,
                "short" => short = true,
                "four" => four = true,
                "alone" => coordinates = false,
                _ => {}
            }
        }
    }
    let bit = |name: &str| if has(name) { name.to_owned() } else { "0".to_owned() };
    let values = if four { "4".to_owned() } else { "max(popcount(dmask), 1)".to_owned() };
    let data = format!("(({values} + {d16}) / (1 + {d16}) + {tfe}) & 31", d16 = bit("d16"), tfe = bit("tfe"));
    let looked = |table: u64| format!("({table} >> (dim * 4) & 15)");
    let components = if coordinates { format!("{} + {lod}", looked(COORDINATES)) } else { lod.to_string() };
    let a16 = bit("a16");
    let mut address = format!("{extra} + ({components} + {a16}) / (1 + {a16})");
    if derivatives {
        let table = looked(DERIVATIVES);
        match short {
            true => address.push_str(&format!(" + (({table} / 2 + 1) & 254)")),
            false => address.push_str(&format!(" + {table}")),
        }
    }
    let listed = (0..16).take_while(|i| record.class(&format!("vaddr{i}")).is_some()).count();
    let address = format!("({address}) & 31");
    // Before gfx1010, instructions do not encode the number of dimensions.
    let address = has("dim").then_some(address);
    Some(Counts { data, address, listed: if listed > 1 { listed } else { 0 } })
}
