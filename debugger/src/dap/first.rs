//! Lines and columns as an editor counts them.

/// The numbers of the first line and the first column for an editor: 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct First {
    pub line: u64,
    pub column: u64,
}

impl First {
    /// The number of a line that is counted from 1, as the editor counts.
    pub(super) fn shown_line(self, line: usize) -> u64 {
        (line as u64 + self.line).saturating_sub(1)
    }

    /// A line of the editor, counted from 1.
    pub(super) fn line(self, shown: u64) -> usize {
        usize::try_from(shown).unwrap_or(usize::MAX).saturating_add(1 - self.line as usize)
    }

    /// A column of the editor, counted from 0.
    pub(super) fn column(self, shown: u64) -> usize {
        usize::try_from(shown).unwrap_or(usize::MAX).saturating_sub(self.column as usize)
    }

    /// The number of a column that is counted from 0, as the editor counts.
    pub(super) fn shown_column(self, column: usize) -> u64 {
        column as u64 + self.column
    }
}
