//! Vulkan pipeline caches.
//!
//! The header is defined by the Vulkan specification (`VkPipelineCacheHeaderVersionOne`): its size, 32; its version, 1;
//! vendor, device, and sixteen bytes that the driver chooses. The rest belongs to the driver. Mesa's drivers share a
//! layout (`vk_pipeline_cache.c`): the number of objects, then for each, from a multiple of four bytes, its type, the
//! sizes of key and content, the key, and, from the next multiple of eight bytes, the content. In PanVK's shaders, the
//! code follows the driver's metadata and is preceded by its size (`panvk_vX_shader.c`).

use crate::part::{Container, Holds, Part};
use crate::read::{hexadecimal, run, word};

/// Vendors by their numbers in the PCI and Khronos registries.
const VENDORS: [(u32, &str); 7] = [
    (0x13b5, "Arm"),
    (0x1010, "Imagination"),
    (0x5143, "Qualcomm"),
    (0x1002, "AMD"),
    (0x10de, "NVIDIA"),
    (0x8086, "Intel"),
    (0x10005, "Mesa"),
];

/// Opens a pipeline cache.
pub fn open(bytes: &[u8]) -> Option<Container<'_>> {
    const HEAD: usize = 32;
    if word(bytes, 0) != Some(HEAD as u32) || word(bytes, 4) != Some(1) || bytes.len() < HEAD {
        return None;
    }
    let (vendor, device) = (word(bytes, 8)?, word(bytes, 12)?);
    let vendor = VENDORS
        .iter()
        .find(|(number, _)| *number == vendor)
        .map_or(format!("vendor {vendor:#x}"), |(_, name)| (*name).to_owned());
    let kind = format!("a Vulkan pipeline cache of {vendor}, device {device:#x}");
    let (mut parts, mut end) = (Vec::new(), HEAD + 4);
    // Like Mesa, keep the objects before one that is cut off, and pass over what follows the last one.
    for _ in 0..word(bytes, HEAD).unwrap_or(0) {
        let Some(part) = object(bytes, end.next_multiple_of(4)) else { break };
        end = part.offset + part.stored.len();
        parts.push(part);
    }
    let unread = if parts.is_empty() { 0 } else { bytes.len() - end };
    Some(Container { unread, ..Container::new(kind, parts) })
}

/// An object of a cache in Mesa's layout.
fn object(bytes: &[u8], at: usize) -> Option<Part<'_>> {
    let (key, content) = (word(bytes, at + 4)? as usize, word(bytes, at + 8)? as usize);
    let name = hexadecimal(run(bytes, at + 12, key)?);
    let offset = (at + 12 + key).next_multiple_of(8);
    let content = run(bytes, offset, content)?;
    Some(Part::new(name, offset, content, Holds::Shader))
}
