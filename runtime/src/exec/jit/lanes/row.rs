//! How rows of lanes lie in memory.

/// Lanes of a column: as many words as a vector register has.
pub const LANES: usize = 16;
/// Bytes of a column.
pub const COLUMN: usize = 4 * LANES;

/// A word for each lane of some columns. Rows are contiguous, and begin where vectors of the host do.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Row<const COLUMNS: usize>(pub [[u32; LANES]; COLUMNS]);

impl<const COLUMNS: usize> Row<COLUMNS> {
    /// The same word everywhere.
    pub fn splat(word: u32) -> Self {
        Row([[word; LANES]; COLUMNS])
    }

    /// The word that is the same everywhere, if there is one.
    pub fn same(&self) -> Option<u32> {
        let words = self.0.as_flattened();
        let first = *words.first()?;
        // A loop over all lanes at once becomes vector instructions.
        let differ = words.iter().fold(0, |differ, word| differ | (word ^ first));
        (differ == 0).then_some(first)
    }
}
