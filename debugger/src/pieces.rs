//! Incremental UTF-8 decoding: text of which only some bytes are known so far.

/// Bytes that a program writes, as text: a character may be in several pieces.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    /// The start of a character.
    rest: Vec<u8>,
}

impl Pieces {
    /// Adds bytes. Returns the text up to the last whole character. What is not UTF-8 becomes U+FFFD.
    pub fn add(&mut self, bytes: &[u8]) -> String {
        self.rest.extend_from_slice(bytes);
        let whole = self.rest.len() - unfinished(&self.rest);
        let text = String::from_utf8_lossy(&self.rest[..whole]).into_owned();
        self.rest.drain(..whole);
        text
    }

    /// What is left when there are no further pieces.
    pub fn end(self) -> String {
        String::from_utf8_lossy(&self.rest).into_owned()
    }
}

/// The number of bytes at the end that are the start of a character.
fn unfinished(bytes: &[u8]) -> usize {
    for (before, byte) in bytes.iter().rev().take(3).enumerate() {
        let length = match byte {
            0x80..=0xbf => continue,
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => 1,
        };
        return if length > before + 1 { before + 1 } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_may_be_cut_anywhere() {
        let text = "aé€😀 b";
        for cut in 0..text.len() {
            let mut pieces = Pieces::default();
            let read = pieces.add(&text.as_bytes()[..cut]) + &pieces.add(&text.as_bytes()[cut..]) + &pieces.end();
            assert_eq!(read, text, "{cut}");
        }
    }

    #[test]
    fn what_is_no_text_does_not_wait_for_more() {
        let mut pieces = Pieces::default();
        assert_eq!(pieces.add(b"\x80\x80\x80\x80"), "\u{fffd}".repeat(4));
        assert_eq!(pieces.add(b"\xff"), "\u{fffd}");
        assert_eq!(pieces.add(b"\xf0\x9f"), "");
        assert_eq!(pieces.end(), "\u{fffd}");
    }
}
