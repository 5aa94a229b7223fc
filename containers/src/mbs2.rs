//! Output of Arm's offline compiler for Mali.
//!
//! Arm publishes no description; reverse-engineered layouts are found in public tools that dump such files. A file
//! consists of blocks, each with a name of four characters and usually a size: `MBS2` (size, version, blocks), which
//! some versions wrap in `MPB1`. Blocks for a stage (`CVER`, `CFRA`, `CCOM`) precede the code, which is the content of
//! an `OBJC`. The size of most other blocks is known only for some versions, so the file is searched for the names of
//! these few. All blocks start at multiples of four.

use std::borrow::Cow;

use crate::read::{run, word};
use crate::{Container, Holds, Part};

/// Blocks that announce the following stage.
const STAGES: [(&[u8], &str); 5] =
    [(b"CVER", "vertex"), (b"CFRA", "fragment"), (b"CCOM", "compute"), (b"CGEO", "geometry"), (b"KERN", "kernel")];

/// Opens an `MBS2` file.
pub fn open(bytes: &[u8]) -> Option<Container<'_>> {
    if !bytes.starts_with(b"MBS2") && !bytes.starts_with(b"MPB1") {
        return None;
    }
    let (mut parts, mut stage, mut at) = (Vec::new(), "shader", 0);
    while let Some(name) = run(bytes, at, 4) {
        if let Some((_, found)) = STAGES.iter().find(|(block, _)| *block == name) {
            stage = found;
        }
        if name == b"OBJC"
            && let Some(code) = word(bytes, at + 4).and_then(|size| run(bytes, at + 8, size as usize))
        {
            let name = format!("{stage}{}", parts.len());
            parts.push(Part { name, offset: at + 8, bytes: Cow::Borrowed(code), holds: Holds::Code });
            at += 8 + code.len().next_multiple_of(4);
        } else {
            at += 4;
        }
    }
    Some(Container::new("output of Arm's offline compiler (MBS2)", parts))
}
