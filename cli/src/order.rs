//! The byte order of hexadecimal digits.

/// The byte order of hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Order {
    /// Bytes in memory order.
    Memory,
    /// The value of a number, stored with its least significant byte first.
    Value,
}
