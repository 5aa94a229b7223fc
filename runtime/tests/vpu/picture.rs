//! Pictures of external memory and of tile buffers.

use isaforge_runtime::vpu::picture::{MAX_PIXELS, Pixel, region, tile};
use isaforge_runtime::vpu::{Memory, Tile, TileSize};

#[test]
fn colours_of_two_bytes_become_four() {
    // White, half-intensity red, opaque black, transparent blue.
    let memory = Memory::with_bytes(&[0xff, 0xff, 0x00, 0xbc, 0x00, 0x80, 0x1f, 0x00], 0);
    let picture = region(&memory, 0, 2, 2, Pixel::Rgb1555).expect("it is small");
    assert_eq!((picture.width, picture.height), (2, 2));
    assert_eq!(picture.rgba, [255, 255, 255, 255, 123, 0, 0, 255, 0, 0, 0, 255, 0, 0, 255, 0]);
}

#[test]
fn what_is_past_the_end_of_memory_is_black() {
    let memory = Memory::with_bytes(&[0x00, 0x3c, 0x00, 0x38, 0x00, 0xbc, 0x01, 0x7e], 0);
    let picture = region(&memory, 0, 1, 2, Pixel::Float).expect("it is small");
    // 1.0, 0.5, -1.0 and NaN; the second pixel is beyond memory.
    assert_eq!(picture.rgba, [255, 128, 0, 0, 0, 0, 0, 0]);
    assert_eq!(region(&memory, usize::MAX, 1, 1, Pixel::Grey).expect("it is small").rgba, [0, 0, 0, 255]);
    assert_eq!(region(&memory, 0, MAX_PIXELS, 2, Pixel::Grey), None);
    assert_eq!(region(&memory, 0, usize::MAX, 2, Pixel::Grey), None);
}

#[test]
fn tile_buffers_are_drawn_row_by_row() {
    let size = TileSize::new(4, 2).expect("4 x 2 is possible");
    let data = (0..8).map(|n| [n, 300, 0, 255]).collect();
    let picture = tile(&Tile { data, locked: vec![false; 8] }, size, Pixel::Integer);
    assert_eq!((picture.width, picture.height), (4, 2));
    assert_eq!(picture.rgba[4 * 5..][..4], [5, 255, 0, 255]);
}
