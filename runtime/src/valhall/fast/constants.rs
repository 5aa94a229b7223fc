//! Constants in rows.

use super::row;

/// The constants that handlers read as rows, each only once.
#[derive(Debug)]
pub struct Constants {
    pub words: Vec<u32>,
    /// The constants that were requested, with their rows, by hash; 0 is not the row of a constant.
    known: [(u32, u32); KNOWN],
}

const KNOWN: usize = 64;

impl Constants {
    /// Returns the row that holds a word in all lanes, if it was requested recently.
    #[inline(always)]
    pub fn known(&self, word: u32) -> Option<u32> {
        let (known, row) = self.known[place(word)];
        (known == word && row != 0).then_some(row)
    }

    /// Returns the row that holds a word in all lanes.
    pub fn row(&mut self, word: u32) -> u32 {
        // Even a long program can name only some hundred different words: uniforms and the entries of a table.
        let index = self.words.iter().position(|&other| other == word).unwrap_or_else(|| {
            self.words.push(word);
            self.words.len() - 1
        });
        let row = row::CONSTANTS + index as u32;
        self.known[place(word)] = (word, row);
        row
    }
}

/// Returns the position of a word in the hash table.
#[inline(always)]
fn place(word: u32) -> usize {
    // The highest bits of the product depend on all bits of the word.
    (word.wrapping_mul(0x9e37_79b1) >> 26) as usize % KNOWN
}

impl Default for Constants {
    fn default() -> Self {
        Constants { words: vec![], known: [(0, 0); KNOWN] }
    }
}
