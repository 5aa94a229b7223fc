//! Seeds of random tests: fresh in each run, printed when a test fails, and replayed through an environment variable.

use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// The environment variable with the seed of all tests, in decimal, or in hexadecimal after `0x`.
const VARIABLE: &str = "ISAFORGE_SEED";

/// Returns the seed of a test's own stream of random numbers.
///
/// # Panics
/// When the variable does not hold a number.
pub fn seed(stream: u64) -> u64 {
    static BASE: OnceLock<u64> = OnceLock::new();
    let base = *BASE.get_or_init(|| match std::env::var(VARIABLE) {
        Ok(text) => number(&text).unwrap_or_else(|| panic!("{VARIABLE}={text} is no number")),
        Err(_) => SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_nanos() as u64),
    });
    // The harness shows this output for failing tests.
    println!("{VARIABLE}={base} replays this (stream {stream})");
    let mixed = (base ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    // Generators must not start with 0.
    (mixed ^ mixed >> 31).max(1)
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The factor by which random tests do more than by default: `ISAFORGE_ROUNDS`, or 1.
#[allow(dead_code, reason = "not every test has rounds")]
pub fn rounds() -> u64 {
    std::env::var("ISAFORGE_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}
