//! Output of Arm's offline compiler for Mali.
//!
//! Arm publishes no description; reverse-engineered layouts are found in public tools that dump such files. A file
//! consists of blocks, each with a name of four characters and usually a size: `MBS2` (size, version, blocks), which
//! some versions wrap in `MPB1`. Blocks for a stage (`CVER`, `CFRA`, `CCOM`) precede the code, which is the content of
//! an `OBJC`. The size of most other blocks, among them `MPB1`, is known only for some versions, so the file is
//! searched for the names of these few. All blocks start at multiples of four.

use crate::part::{Container, Holds, Part};
use crate::read::{run, word};

/// Blocks that announce the following stage.
const STAGES: [(&[u8], &str); 5] =
    [(b"CVER", "vertex"), (b"CFRA", "fragment"), (b"CCOM", "compute"), (b"CGEO", "geometry"), (b"KERN", "kernel")];

/// The maximum number of wrong sizes to report.
const MAX_DAMAGE: usize = 8;

/// Opens an `MBS2` file.
pub fn open(bytes: &[u8]) -> Option<Container<'_>> {
    if !bytes.starts_with(b"MBS2") && !bytes.starts_with(b"MPB1") {
        return None;
    }
    let (mut parts, mut damage, mut stage, mut at) = (Vec::new(), Vec::new(), "shader", 0);
    while let Some(name) = run(bytes, at, 4) {
        if let Some((_, found)) = STAGES.iter().find(|(block, _)| *block == name) {
            stage = found;
        }
        let size = word(bytes, at + 4).filter(|_| matches!(name, b"OBJC" | b"MBS2"));
        let has = bytes.len().saturating_sub(at + 8);
        // The blocks in another one are its content. What follows the first of all is in none.
        let differs = |size: u32| if at == 0 { size as usize != has } else { size as usize > has };
        if let Some(size) = size.filter(|size| differs(*size))
            && damage.len() < MAX_DAMAGE
        {
            let name = String::from_utf8_lossy(name);
            damage.push(format!("its block `{name}` at {at:#x} has {size} bytes by its head, and {has} in the file"));
        }
        at += match size.and_then(|size| run(bytes, at + 8, size as usize)) {
            Some(code) if name == b"OBJC" => {
                parts.push(Part::new(format!("{stage}{}", parts.len()), at + 8, code, Holds::Code));
                8 + code.len().next_multiple_of(4)
            }
            _ => 4,
        };
    }
    Some(Container { damage, ..Container::new("output of Arm's offline compiler (MBS2)", parts) })
}
