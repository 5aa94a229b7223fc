//! Blocks whose texels are known from the specifications of the formats.

use super::*;

/// The texels of a block, row by row.
fn decoded(name: &str, block: &[u8]) -> Vec<[f32; 4]> {
    let blocks = Blocks::parse(name).unwrap_or_else(|| panic!("{name}"));
    let [width, height] = blocks.footprint();
    assert_eq!(block.len(), blocks.bytes(), "{name}");
    let texels = blocks.decode(block, [width, height], 1);
    let format = blocks.format().without_curve();
    texels.chunks(format.size()).map(|texel| format.decode(texel).channels.map(f32::from_bits)).collect()
}

/// The texels of a block as 8-bit colours.
fn bytes(name: &str, block: &[u8]) -> Vec<[u8; 4]> {
    decoded(name, block).iter().map(|texel| texel.map(|channel| (channel * 255.0).round() as u8)).collect()
}

#[test]
fn every_format_decodes_blocks_of_any_bits() {
    let names: Vec<String> = NAMES.iter().map(|(name, ..)| (*name).to_owned()).collect();
    let astc = FOOTPRINTS.iter().flat_map(|(w, h)| ["RGBA", "SRGB8_ALPHA8"].map(|c| format!("{c}_ASTC_{w}x{h}")));
    let mut random = isaforge_core::sample::Random(3);
    for name in names.into_iter().chain(astc) {
        let blocks = Blocks::parse(&name).unwrap();
        assert_eq!(Blocks::parse(&format!("COMPRESSED_{name}_EXT")), Some(blocks));
        let bytes: Vec<u8> = (0..600 * blocks.bytes()).map(|_| random.below(256) as u8).collect();
        let [width, height] = blocks.footprint();
        let texels = blocks.decode(&bytes, [20 * width, 30 * height], 1);
        assert_eq!(texels.len(), 600 * width * height * blocks.format().size());
        assert_eq!(blocks.size_of([20 * width as u32 - 1, 30 * height as u32, 1]), bytes.len() as u64);
    }
    for wrong in ["RGBA_ASTC_7x7", "ASTC_4x4", "BC8", "RGBA_ASTC_04x4", "COMPRESSED_", "RGBA8", "rgb8_etc2"] {
        assert_eq!(Blocks::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn a_block_that_reaches_beyond_the_edge_is_cut_off() {
    // Alternating white and black.
    let block = [0xff, 0xff, 0, 0, 0x44, 0x44, 0x44, 0x44];
    let texels = Blocks::parse("BC1").unwrap().decode(&block.repeat(4), [5, 2], 2);
    assert_eq!(texels.len(), 5 * 2 * 2 * 4);
    let reds: Vec<u8> = texels.chunks(4).map(|texel| texel[0]).collect();
    assert_eq!(reds, [255, 0, 255, 0, 255].repeat(4));
}

#[test]
fn bc1_to_bc3_mix_two_colours() {
    // Red, blue, and two colours between them; then three colours and a transparent one, in the opposite order.
    let four = [0x00, 0xf8, 0x1f, 0x00, 0b11_10_01_00, 0, 0xff, 0b01_01_01_01];
    let found = bytes("BC1", &four);
    assert_eq!(found[..4], [[255, 0, 0, 255], [0, 0, 255, 255], [170, 0, 85, 255], [85, 0, 170, 255]]);
    assert_eq!([found[4], found[8], found[15]], [[255, 0, 0, 255], [85, 0, 170, 255], [0, 0, 255, 255]]);
    let three = [0x1f, 0x00, 0x00, 0xf8, 0b11_10_01_00, 0, 0, 0];
    let hole = |name| bytes(name, &three)[..4].to_vec();
    assert_eq!(hole("RGBA_S3TC_DXT1"), [[0, 0, 255, 255], [255, 0, 0, 255], [128, 0, 128, 255], [0; 4]]);
    assert_eq!(hole("SRGB_S3TC_DXT1")[3], [0, 0, 0, 255]);
    // BC2 has 4 bits of alpha per texel, BC3 a ramp of eight values; both have four colours in any order.
    let with_alpha = |alpha: [u8; 8]| [alpha, three].concat();
    let found = bytes("BC2", &with_alpha([0xf0, 0x53, 0, 0, 0, 0, 0, 0]));
    assert_eq!(found[..4], [[0, 0, 255, 0], [255, 0, 0, 255], [85, 0, 170, 51], [170, 0, 85, 85]]);
    let indices = |first: u64| first.to_le_bytes();
    let [a, b, c, ..] = indices(0b111_110_001_000);
    let found = bytes("BC3", &with_alpha([210, 0, a, b, c, 0, 0, 0]));
    assert_eq!(found.iter().map(|texel| texel[3]).take(5).collect::<Vec<_>>(), [210, 0, 60, 30, 210]);
    let found = bytes("BC3", &with_alpha([0, 200, a, b, c, 0, 0, 0]));
    assert_eq!(found.iter().map(|texel| texel[3]).take(4).collect::<Vec<_>>(), [0, 200, 0, 255]);
}

#[test]
fn bc4_and_bc5_keep_more_than_8_bits() {
    let ramp = [255, 0, 0b10_001_000, 0b0000_0001, 0, 0, 0, 0];
    let found = decoded("BC4", &ramp);
    assert_eq!(found[..3], [[1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0], [2.0 / 7.0, 0.0, 0.0, 1.0]]);
    // -128 counts as -127.
    let signed = [0x80, 0x7f, 0b10_001_000, 0b0000_0011, 0, 0, 0, 0];
    let reds: Vec<f32> = decoded("SIGNED_RED_RGTC1", &signed).iter().map(|texel| texel[0]).take(3).collect();
    assert_eq!(reds, [-1.0, 1.0, -1.0]);
    let both = [ramp, [0, 51, 0b10_001_000, 0b0000_0011, 0, 0, 0, 0]].concat();
    assert_eq!(decoded("BC5", &both)[1], [0.0, 0.2, 0.0, 1.0]);
}

/// Builds a block from numbers and their widths in bits, starting at the lowest bit.
fn packed(parts: &[(u128, u32)]) -> [u8; 16] {
    let (mut word, mut at) = (0, 0);
    for &(value, bits) in parts {
        word |= value << at;
        at += bits;
    }
    assert!(at <= 128);
    word.to_le_bytes()
}

#[test]
fn bc6h_has_halves_with_and_without_a_sign() {
    // Mode 11: one region, 10 bits a channel: both endpoints, then 4-bit indices, the first of which has 3 bits.
    let block = |first: [u128; 3], second: [u128; 3]| {
        let [a, b] = [first, second].map(|ends| ends.map(|end| (end, 10)));
        packed(&[&[(3, 5)][..], &a, &b, &[(0, 3), (15, 4), (0, 4)]].concat())
    };
    let halves = |name, block: [u8; 16]| decoded(name, &block)[..3].to_vec();
    // The minimum and the maximum: 0 and 31/32 of the bits of infinity, which is 65504.
    let found = halves("BC6H_UFLOAT", block([0, 0x3ff, 0], [0x3ff, 0, 0]));
    assert_eq!(found, [[0.0, 65504.0, 0.0, 1.0], [65504.0, 0.0, 0.0, 1.0], [0.0, 65504.0, 0.0, 1.0]]);
    let found = halves("BC6H_SFLOAT", block([0x1ff, 0x200, 0], [0x201, 0x1ff, 0]));
    assert_eq!(found[..2], [[65504.0, -65504.0, 0.0, 1.0], [-65504.0, 65504.0, 0.0, 1.0]]);
    // Without a sign, 0x200 of 0x400 becomes 0x8020 of 0x10000, and 31/64 of that are the bits of a half.
    let half = half::f16::from_bits(((0x8020u32 * 31) >> 6) as u16).to_f32();
    assert_eq!(halves("BC6H_UFLOAT", block([0x200, 0, 0], [0, 0, 0]))[0][0], half);
}

#[test]
fn bc7_has_ends_with_their_lowest_bit_apart() {
    // Mode 6: two endpoints with 7 bits for each of four channels, a shared lowest bit each, and 4-bit indices, the
    // first of which has 3 bits.
    let channel = |first: u128, second: u128| [(first, 7), (second, 7)];
    let ends = [channel(127, 0), channel(0, 127), channel(64, 64), channel(127, 127)].concat();
    let block = packed(&[&[(1 << 6, 7)][..], &ends, &[(1, 1), (0, 1), (0, 3), (15, 4), (8, 4)]].concat());
    let found = bytes("BC7", &block);
    assert_eq!(found[..2], [[255, 1, 129, 255], [0, 254, 128, 254]]);
    // Index 8 of 15 has weight 34 of 64.
    let between = |from: u32, to: u32| ((from * 30 + to * 34 + 32) >> 6) as u8;
    assert_eq!(found[2], [between(255, 0), between(1, 254), between(129, 128), between(255, 254)]);
    assert_eq!(bytes("SRGB_ALPHA_BPTC_UNORM", &block), found);
    assert_eq!(bytes("BC7", &[0; 16])[0], [0; 4]);
}

#[test]
fn etc2_has_halves_two_palettes_and_a_plane() {
    // Individual mode: 4-bit bases 0xff and 0x11, tables 0 and 7; texel 0 has index 0, texel 12 (x = 3) index 3.
    let found = bytes("RGB8_ETC2", &[0xf1, 0xf1, 0xf1, 7 << 2, 0x10, 0x00, 0x10, 0x00]);
    assert_eq!([found[0], found[2]], [[255; 4], [17 + 47, 17 + 47, 17 + 47, 255]]);
    assert_eq!(found[3], [0, 0, 0, 255]);
    // Differential mode: base 16 of 32 and one less, in the upper and lower half.
    let found = bytes("RGB8_ETC2", &[0x87, 0x87, 0x87, 0b11, 0, 0, 0, 0]);
    assert_eq!([found[0], found[8]], [[134, 134, 134, 255], [125, 125, 125, 255]]);
    // T mode, since red would be 31 + 3: colours 0xff and 0x88, distance 3.
    let t = [0xfb, 0xff, 0x88, 0x80 | 0b10, 0x00, 0x20, 0x00, 0x10];
    let found = bytes("RGB8_ETC2", &t);
    assert_eq!([found[0], found[1]], [[255; 4], [136 + 3, 136 + 3, 136 + 3, 255]]);
    // Planar mode, since blue would be less than 0: black at the origin, and red grows rightwards to 252 at column 4.
    let plane = [0, 0, 0b0000_0100, 0b0111_1110 | 1, 0, 0, 0, 0];
    let reds: Vec<u8> = bytes("RGB8_ETC2", &plane).iter().map(|texel| texel[0]).take(5).collect();
    assert_eq!(reds, [0, 64, 128, 191, 0]);
    // Transparent texels are black, whatever their colour is.
    let found = bytes("RGB8_PUNCHTHROUGH_ALPHA1_ETC2", &[0x80, 0x80, 0x80, 0, 0x00, 0x01, 0x00, 0x10]);
    assert_eq!([found[0], found[1]], [[0; 4], [140, 140, 140, 255]]);
    let solid = bytes("SRGB8_PUNCHTHROUGH_ALPHA1_ETC2", &[0x80, 0x80, 0x80, 2, 0, 1, 0, 0]);
    assert_eq!(solid[0], [130, 130, 130, 255]);
}

#[test]
fn eac_has_11_bits() {
    // Base 100, multiplier 1, table 13; texel 0 has index 7, texel 1 (below it) index 4, and all others 0.
    let block = [100, 0x1d, 0b1111_0000, 0, 0, 0, 0, 0];
    let reds = |name: &str, block: [u8; 8]| decoded(name, &block).iter().map(|texel| texel[0]).collect::<Vec<_>>();
    let found = reds("R11_EAC", block);
    assert_eq!([found[0], found[4], found[1]], [876.0, 804.0, 796.0].map(|n: f32| n / 2047.0));
    let found = reds("SIGNED_R11_EAC", block);
    assert_eq!([found[0], found[4], found[1]], [872.0, 800.0, 792.0].map(|n: f32| n / 1023.0));
    // With a multiplier of 0 steps are eighths; -128 counts as -127.
    let found = reds("SIGNED_R11_EAC", [0x80, 0x0d, 0b1111_0000, 0, 0, 0, 0, 0]);
    assert_eq!([found[0], found[4]], [-1007.0 / 1023.0, -1016.0 / 1023.0]);
    assert_eq!(reds("R11_EAC", [255, 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), [1.0; 16]);
    let both = decoded("RG11_EAC", &[block, [0; 8]].concat());
    assert_eq!(both[0], [876.0 / 2047.0, 1.0 / 2047.0, 0.0, 1.0]);
    // The same codes with 8 bits are alpha values.
    let colour = [0x80, 0x80, 0x80, 0, 0, 0, 0, 0];
    let found = bytes("RGBA8_ETC2_EAC", &[block, colour].concat());
    assert_eq!([found[0][3], found[4][3], found[1][3]], [109, 100, 99]);
}

#[test]
fn astc_has_blocks_of_one_colour_and_mixes_of_two() {
    // A void extent without coordinates, for 16-bit colours.
    let ones = (u128::from(u64::MAX), 52);
    let colours = [(0xffff, 16), (0x8000, 16), (0x00ff, 16), (0xff00, 16)];
    let void = packed(&[&[(0b1_1101_1111_1100 & 0xfff, 12), ones][..], &colours].concat());
    for (width, height) in FOOTPRINTS {
        let found = decoded(&format!("RGBA_ASTC_{width}x{height}"), &void);
        let expected = [1.0, 0.5, 255.0 / 65536.0, 255.0 / 256.0];
        assert_eq!(found, vec![expected; usize::from(width) * usize::from(height)]);
    }
    assert_eq!(bytes("SRGB8_ALPHA8_ASTC_4x4", &void)[0], [255, 128, 0, 255]);
    // 4 by 4 weights of two bits; one region; luminance from 20 to 220. Weights are stored in reverse at the end of the
    // block.
    let weights = 3u32 | 3 << 8 | 1 << 16;
    let mut block = packed(&[(0b000_0100_0010, 11), (0, 2), (0, 4), (20, 8), (220, 8)]);
    block[12..].copy_from_slice(&weights.reverse_bits().to_le_bytes());
    let found = bytes("RGBA_ASTC_4x4", &block);
    let grey = |n: u8| [n, n, n, 255];
    // Weight 1 is 21 of 64.
    assert_eq!([found[0], found[1], found[4], found[8]], [grey(220), grey(20), grey(220), grey(86)]);
    assert_eq!(bytes("SRGB8_ALPHA8_ASTC_4x4", &block), found);
    // An invalid block is magenta.
    assert_eq!(bytes("RGBA_ASTC_4x4", &[0; 16])[15], [255, 0, 255, 255]);
}

/// Blocks with 6-bit weights, endpoints with digits that are stored in part, and colours above 1 in one partition.
#[test]
fn astc_texels_are_those_of_an_encoder() {
    let texel = |words: [u32; 4], at: usize| {
        let block: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes("RGBA_ASTC_8x8", &block)[at]
    };
    assert_eq!(texel([0xb93a_1403, 0x2b40_e634, 0x9fa0_c193, 0xd5a6_7eeb], 0)[3], 113);
    assert_eq!(texel([0x9cff_6d7d, 0x3d6f_a752, 0xb8e0_67fc, 0xd8c4_46f7], 4), [125, 235, 225, 255]);
}

/// The other library reads valid blocks right, but must not get others.
#[test]
fn astc_texels_are_those_of_another_decoder() {
    let mut random = isaforge_core::sample::Random(11);
    let (mut blocks, mut texels) = (0, 0);
    for round in 0..20_000 {
        let (width, height) = FOOTPRINTS[round % FOOTPRINTS.len()];
        let mut block = u128::from(random.next()) << 64 | u128::from(random.next());
        // Half of the blocks have one partition, for others are rarely valid.
        if round % 2 == 0 {
            block &= !(3 << 11);
        }
        let mut own = Vec::new();
        astc::decode(block, [width, height].map(usize::from), false, |_, colour| own.push(colour));
        if own.contains(&[u16::MAX, 0, u16::MAX, u16::MAX]) || block & 0x1ff == 0x1fc {
            continue;
        }
        let mut other = vec![0; own.len()];
        let bytes = block.to_le_bytes();
        texture2ddecoder::decode_astc_block(&bytes, width.into(), height.into(), &mut other);
        for (own, other) in own.into_iter().zip(other) {
            let [blue, green, red, alpha] = other.to_le_bytes();
            let own = own.map(|channel| ((u32::from(channel) * 255 + 0x8000) >> 16) as u8);
            assert_eq!(own, [red, green, blue, alpha], "{width}x{height} {block:#034x}");
            texels += 1;
        }
        blocks += 1;
    }
    assert!(blocks > 1_500 && texels > 50_000, "{blocks} {texels}");
}

#[test]
fn numbers_of_65536ths_are_halves_rounded_down() {
    for number in 0..u16::MAX {
        let (down, exact) = (half::f16::from_bits(half(number)).to_f64(), f64::from(number) / 65536.0);
        let next = half::f16::from_bits(half(number) + 1).to_f64();
        assert!(down <= exact && exact < next, "{number}");
    }
    assert_eq!(half(u16::MAX), 0x3c00);
}
