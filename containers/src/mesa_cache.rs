//! An item of Mesa's cache: a file under `mesa_shader_cache`, or a record in one of its databases.
//!
//! The layout is defined by Mesa's `util/disk_cache.c` and `disk_cache_os.c`. First comes a description of the target:
//! a one, the names of driver and GPU, each terminated by a zero byte, the size of a pointer, and eight bytes of flags.
//! At the next multiple of four follow the type of the item (1: a list of keys follows), a checksum, the uncompressed
//! size, and the content, compressed with zstd or zlib. The driver defines the content: Panfrost stores the size of the
//! code, the code, and its metadata (`pan_disk_cache.c`).

use std::borrow::Cow;

use crate::read::{Room, run, unpack, word};
use crate::{Container, Holds, Part};

/// The maximum length of the name of a driver or GPU.
const NAME: usize = 256;

/// Opens a file that is a single item.
pub fn open(bytes: &[u8]) -> Option<Container<'_>> {
    let (driver, _) = head(bytes)?;
    let mut room = Room::new();
    let part = item("shader".to_owned(), 0, Cow::Borrowed(bytes), &mut room);
    let kind = format!("an item of Mesa's cache for {driver}");
    Some(Container { too_large: room.refused, ..Container::new(kind, vec![part]) })
}

/// An item as a part of another file. An item that cannot be decompressed has the contents [`Holds::Other`].
pub fn item<'a>(name: String, offset: usize, bytes: Cow<'a, [u8]>, room: &mut Room) -> Part<'a> {
    match content(&bytes, room) {
        Some((_, content)) => Part { name, offset, bytes: Cow::Owned(content), holds: Holds::Shader },
        None => Part { name, offset, bytes, holds: Holds::Other },
    }
}

/// The target of an item, and its content.
fn content(bytes: &[u8], room: &mut Room) -> Option<(String, Vec<u8>)> {
    let (driver, mut at) = head(bytes)?;
    if word(bytes, at)? == 1 {
        at += 4 + 20 * word(bytes, at + 4)? as usize;
    }
    let unpacked = word(bytes, at + 8)?;
    Some((driver, unpack(bytes.get(at + 12..)?, unpacked as usize, room)?))
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
