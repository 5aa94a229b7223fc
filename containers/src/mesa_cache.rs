//! An item of Mesa's cache: a file under `mesa_shader_cache`, or a record in one of its databases.
//!
//! The layout is defined by Mesa's `util/disk_cache.c` and `disk_cache_os.c`. First comes a description of the target:
//! a one, the names of driver and GPU, each terminated by a zero byte, the size of a pointer, and eight bytes of flags.
//! At the next multiple of four follow the type of the item (1: a list of keys follows), a checksum, the uncompressed
//! size, and the content, compressed with zstd or zlib. The checksum is the CRC-32 of the compressed content, or of the
//! uncompressed one in files of older versions. The driver defines the content: Panfrost stores the size of the
//! code, the code, and its metadata (`pan_disk_cache.c`).

use crate::part::{Container, Holds, Packing, Part};
use crate::read::{Room, is_checksum, run, unpack, word};

/// The maximum length of the name of a driver or GPU.
const NAME: usize = 256;

/// Opens a file that is a single item.
pub fn open(bytes: &[u8]) -> Option<Container<'_>> {
    let (driver, _) = head(bytes)?;
    let kind = format!("an item of Mesa's cache for {driver}");
    Some(Container::new(kind, vec![part("shader".to_owned(), 0, bytes, None)]))
}

/// An item as a part of a file, which may have a checksum of the whole item.
pub(crate) fn part(name: String, offset: usize, item: &[u8], checksum: Option<u32>) -> Part<'_> {
    let packing = Packing { checksum, deflated: None, item: true };
    Part { packing, ..Part::new(name, offset, item, Holds::Shader) }
}

/// The content of an item, if it can be decompressed, and whether its checksum is right.
pub(crate) struct Item {
    pub content: Option<Vec<u8>>,
    pub is_intact: bool,
}

/// Decompresses an item. What is none has no content.
pub(crate) fn content(bytes: &[u8], room: &mut Room) -> Item {
    let Some((checksum, size, packed)) = packed(bytes) else { return Item { content: None, is_intact: true } };
    let content = unpack(packed, size as usize, room);
    let is_intact =
        is_checksum(checksum, packed) || content.as_ref().is_some_and(|content| is_checksum(checksum, content));
    Item { content, is_intact }
}

/// The checksum of an item, the size of its content, and the content as it is stored.
fn packed(bytes: &[u8]) -> Option<(u32, u32, &[u8])> {
    let (_, mut at) = head(bytes)?;
    if word(bytes, at)? == 1 {
        at += 4 + 20 * word(bytes, at + 4)? as usize;
    }
    Some((word(bytes, at + 4)?, word(bytes, at + 8)?, bytes.get(at + 12..)?))
}

/// The driver and GPU of an item, and the offset of its type.
fn head(bytes: &[u8]) -> Option<(String, usize)> {
    let mut at = 1;
    let mut name = || {
        let rest = bytes.get(at..)?;
        let end = rest.iter().take(NAME).position(|byte| *byte == 0)?;
        at += end + 1;
        let name = std::str::from_utf8(rest.get(..end)?).ok()?;
        name.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()).then_some(name)
    };
    let (driver, gpu) = (name()?, name()?);
    let pointer = *bytes.get(at)?;
    let known = bytes.first() == Some(&1) && !gpu.is_empty() && matches!(pointer, 4 | 8);
    let at = (at + 9).next_multiple_of(4);
    let kind = word(bytes, at)?;
    run(bytes, at, 12)?;
    let driver = if driver.len() < 32 { format!("{gpu} ({driver})") } else { gpu.to_owned() };
    (known && kind <= 1).then_some((driver, at))
}
