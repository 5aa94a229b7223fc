//! The layout of rows of lanes in memory.

/// The lanes of a column: as many as a vector register has words.
pub const LANES: usize = 16;
/// The bytes of a column.
pub const COLUMN: usize = 4 * LANES;

/// One word for each lane of several columns. Rows are contiguous and aligned for vectors of the host.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Row<const COLUMNS: usize>(pub [[u32; LANES]; COLUMNS]);

impl<const COLUMNS: usize> Row<COLUMNS> {
    /// Returns a row with the same word in every lane.
    pub fn splat(word: u32) -> Self {
        Row([[word; LANES]; COLUMNS])
    }

    /// Returns the word that all lanes hold, or `None` if they differ.
    pub fn same(&self) -> Option<u32> {
        let words = self.0.as_flattened();
        let first = *words.first()?;
        // A loop over all lanes without an early exit is compiled to vector instructions.
        let differ = words.iter().fold(0, |differ, word| differ | (word ^ first));
        (differ == 0).then_some(first)
    }
}
