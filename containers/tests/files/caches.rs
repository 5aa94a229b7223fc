//! Builds files of Mesa's caches, and of others, from the published layouts.

use std::io::Write;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

/// The CRC-32 of bytes as Mesa computes it: without the final complement.
pub fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    !crc.sum()
}

pub fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Panfrost's data for a shader: size, code, and more.
pub fn panfrost(code: &[u8]) -> Vec<u8> {
    [&words(&[code.len() as u32])[..], code, &[7; 40]].concat()
}

pub fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A zstd frame with one uncompressed block, as in RFC 8878.
pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    let size = u8::try_from(bytes.len()).unwrap();
    let block = ((u32::from(size) << 3) | 1).to_le_bytes();
    [&[0x28, 0xb5, 0x2f, 0xfd, 0x20, size][..], &block[..3], bytes].concat()
}

/// An item of Mesa's cache, with a list of `keys` keys if there is one.
pub fn item(content: &[u8], packed: &[u8], keys: Option<u32>) -> Vec<u8> {
    let mut item = [b"\x01panfrost\0Mali-G57\0\x08".as_slice(), &[0; 8]].concat();
    item.resize(item.len().next_multiple_of(4), 0);
    item.extend(words(&[u32::from(keys.is_some())]));
    if let Some(keys) = keys {
        item.extend(words(&[keys]));
        item.extend(vec![9; 20 * keys as usize]);
    }
    item.extend(words(&[checksum(packed), content.len() as u32]));
    item.extend(packed);
    item
}

/// A database of Mesa's cache: items with keys of twenty equal bytes, and their checksums.
pub fn mesa_db(items: &[(u8, u32, &[u8])]) -> Vec<u8> {
    let mut file = [b"MESA_DB\0".as_slice(), &words(&[1, 7, 8])].concat();
    for (key, sum, item) in items {
        file.extend([*key; 20]);
        file.extend(words(&[*sum, item.len() as u32]));
        file.extend(*item);
    }
    file
}

/// A Fossilize database with one entry: its name, whether it is compressed, its checksum, its size, its content.
pub fn fossilize(name: &str, is_packed: bool, sum: u32, size: usize, content: &[u8]) -> Vec<u8> {
    let head = words(&[content.len() as u32, 1 + u32::from(is_packed), sum, size as u32]);
    [b"\x81FOSSILIZEDB\0\0\0\x06", name.as_bytes(), &head, content].concat()
}

/// A Vulkan pipeline cache of PanVK with one shader.
pub fn pipeline_cache(code: &[u8]) -> Vec<u8> {
    let mut file = [&words(&[32, 1, 0x13b5, 0x9091, 1, 2, 3, 4])[..], &words(&[1])].concat();
    // PanVK's metadata comes first.
    let content = [&[7; 20][..], &words(&[code.len() as u32]), code, &words(&[0, 0])].concat();
    file.extend(words(&[0xffff_ffff, 5, content.len() as u32]));
    file.extend([0xaa; 5]);
    file.resize(file.len().next_multiple_of(8), 0);
    file.extend(&content);
    file
}

/// Output of Arm's offline compiler: blocks with names.
pub fn mbs2(blocks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let block = |name: &[u8], content: &[u8]| [name, &words(&[content.len() as u32]), content].concat();
    let blocks: Vec<u8> = blocks.iter().flat_map(|(name, content)| block(*name, content)).collect();
    block(b"MBS2", &[&words(&[5])[..], &blocks].concat())
}
