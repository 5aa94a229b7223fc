//! Blocks of ASTC with two dimensions and colours from 0 to 1, by the data format specification of Khronos.
//!
//! A block has its mode and the partitions' seed at its low end, the weights at its high end with their bits in reverse
//! order, and the endpoints of each partition's colours in between. Invalid blocks are magenta, and so are partitions
//! whose colours exceed 1.

/// The error colour.
const MAGENTA: [u16; 4] = [u16::MAX, 0, u16::MAX, u16::MAX];
/// The most weights, of one plane or two.
const WEIGHTS: usize = 64;
/// The most numbers that endpoints are made of.
const VALUES: usize = 18;

/// Numbers from 0 to a maximum: bits, below a digit to base 3 or 5 if there is one.
#[derive(Clone, Copy)]
struct Range {
    base: u32,
    bits: u32,
}

impl Range {
    /// The number of bits that a sequence takes. Five digits to base 3 share 8 bits, three to base 5 share 7.
    fn size(self, count: u32) -> u32 {
        let digits = match self.base {
            3 => (8 * count).div_ceil(5),
            5 => (7 * count).div_ceil(3),
            _ => 0,
        };
        digits + self.bits * count
    }

    /// Reads a sequence: the digit and the bits of each number.
    fn read(self, from: u128, numbers: &mut [(u32, u32)]) {
        // Digits that are not stored are read from zeros.
        let mut left = from & !(u128::MAX.checked_shl(self.size(numbers.len() as u32)).unwrap_or(0));
        let mut take = |bits: u32| {
            let taken = field(left, 0, bits);
            left >>= bits;
            taken
        };
        // How the bits of the digits are spread over the numbers.
        let spread: &[u32] = match self.base {
            3 => &[2, 2, 1, 2, 1],
            5 => &[3, 2, 2],
            _ => &[0],
        };
        for numbers in numbers.chunks_mut(spread.len()) {
            let (mut digits, mut at) = (0, 0);
            for (index, width) in spread.iter().enumerate() {
                let bits = take(self.bits);
                digits |= take(*width) << at;
                at += width;
                if let Some(number) = numbers.get_mut(index) {
                    *number = (0, bits);
                }
            }
            let digits = match self.base {
                3 => trits(digits),
                5 => quints(digits),
                _ => [0; 5],
            };
            numbers.iter_mut().zip(digits).for_each(|(number, digit)| number.0 = digit);
        }
    }

    /// The numbers that the lowest bit, repeated, is combined with, as the factor of the digit and the pattern of the
    /// other bits: each letter, from `b` on, is one of them. `None` if there is no digit, or nothing but one.
    fn scaled(self, table: &[(u32, u32, u32, &'static str)]) -> Option<(u32, &'static str)> {
        let row = table.iter().find(|(base, bits, ..)| (*base, *bits) == (self.base, self.bits))?;
        Some((row.2, row.3))
    }
}

/// A number of at most 16 bits, which begins at bit `low`.
fn field(word: impl Into<u128>, low: u32, bits: u32) -> u32 {
    (word.into() >> low & ((1 << bits) - 1)) as u32
}

/// Decodes five digits to base 3 from 8 bits.
fn trits(word: u32) -> [u32; 5] {
    let (code, fourth, fifth) = if field(word, 2, 3) == 7 {
        (field(word, 5, 3) << 2 | field(word, 0, 2), 2, 2)
    } else if field(word, 5, 2) == 3 {
        (field(word, 0, 5), field(word, 7, 1), 2)
    } else {
        (field(word, 0, 5), field(word, 5, 2), field(word, 7, 1))
    };
    let bit = |at: u32| field(code, at, 1);
    let [first, second, third] = if field(code, 0, 2) == 3 {
        [bit(3) << 1 | bit(2) & !bit(3), bit(4), 2]
    } else if field(code, 2, 2) == 3 {
        [field(code, 0, 2), 2, 2]
    } else {
        [bit(1) << 1 | bit(0) & !bit(1), field(code, 2, 2), bit(4)]
    };
    [first, second, third, fourth, fifth]
}

/// Decodes three digits to base 5 from 7 bits.
fn quints(word: u32) -> [u32; 5] {
    let field = |low: u32, bits: u32| field(word, low, bits);
    if field(1, 2) == 3 && field(5, 2) == 0 {
        let low = field(0, 1);
        return [4, 4, low << 2 | (field(4, 1) & !low) << 1 | field(3, 1) & !low, 0, 0];
    }
    let (code, third) = match field(1, 2) {
        3 => (field(3, 2) << 3 | (!field(5, 2) & 3) << 1 | field(0, 1), 4),
        _ => (field(0, 5), field(5, 2)),
    };
    match code & 7 {
        5 => [code >> 3, 4, third, 0, 0],
        low => [low, code >> 3, third, 0, 0],
    }
}

/// How colours with a digit become bytes: base, bits, factor, pattern.
const COLOURS: [(u32, u32, u32, &str); 11] = [
    (3, 1, 204, "000000000"),
    (3, 2, 93, "b000b0bb0"),
    (3, 3, 44, "cb000cbcb"),
    (3, 4, 22, "dcb000dcb"),
    (3, 5, 11, "edcb000ed"),
    (3, 6, 5, "fedcb000f"),
    (5, 1, 113, "000000000"),
    (5, 2, 54, "b0000bb00"),
    (5, 3, 26, "cb0000cbc"),
    (5, 4, 13, "dcb0000dc"),
    (5, 5, 6, "edcb0000e"),
];

/// How weights with a digit become numbers of six bits.
const SCALES: [(u32, u32, u32, &str); 5] =
    [(3, 1, 50, "0000000"), (3, 2, 23, "b000b0b"), (3, 3, 11, "cb000cb"), (5, 1, 28, "0000000"), (5, 2, 13, "b0000b0")];

/// Scales a number to `width` bits.
fn unquantized(range: Range, (digit, bits): (u32, u32), width: u32, table: &[(u32, u32, u32, &'static str)]) -> u32 {
    let Some((factor, pattern)) = range.scaled(table) else {
        return match range.base {
            3 => [0, 32, 63][digit as usize % 3],
            5 => [0, 16, 32, 47, 63][digit as usize % 5],
            // The bits are repeated.
            _ => (0..width).fold(0, |all, at| all << 1 | bits >> (range.bits - 1 - at % range.bits) & 1),
        };
    };
    let bit = |letter: u8| if letter == b'0' { 0 } else { bits >> (letter - b'a') & 1 };
    let others = pattern.bytes().fold(0, |all, letter| all << 1 | bit(letter));
    let lowest = if bits & 1 == 0 { 0 } else { (1 << (width + 1)) - 1 };
    let mixed = (digit * factor + others) ^ lowest;
    lowest & 1 << (width - 1) | mixed >> 2
}

/// The ranges of endpoints' numbers, from the largest.
const RANGES: [(u32, u32); 17] = [
    (0, 8),
    (3, 6),
    (5, 5),
    (0, 7),
    (3, 5),
    (5, 4),
    (0, 6),
    (3, 4),
    (5, 3),
    (0, 5),
    (3, 3),
    (5, 2),
    (0, 4),
    (3, 2),
    (5, 1),
    (0, 3),
    (3, 1),
];

/// The columns and rows of the grid of weights, their range, and whether there are two planes of them. `None` for
/// reserved modes.
fn mode(word: u32) -> Option<([usize; 2], Range, bool)> {
    let field = |low: u32, bits: u32| field(word, low, bits) as usize;
    let (a, b) = (field(5, 2), field(7, 2));
    let (low, mut precise, mut dual) = (field(0, 2), field(9, 1) != 0, field(10, 1) != 0);
    let (size, range) = if low != 0 {
        let size = match (field(2, 2), field(8, 1)) {
            (0, _) => [b + 4, a + 2],
            (1, _) => [b + 8, a + 2],
            (2, _) => [a + 2, b + 8],
            (_, 0) => [a + 2, field(7, 1) + 6],
            _ => [field(7, 1) + 2, a + 2],
        };
        (size, low << 1 | field(4, 1))
    } else {
        let size = match b {
            0 => [12, a + 2],
            1 => [a + 2, 12],
            2 => {
                (precise, dual) = (false, false);
                [a + 6, field(9, 2) + 6]
            }
            _ if a == 0 => [6, 10],
            _ if a == 1 => [10, 6],
            _ => return None,
        };
        (size, field(2, 2) << 1 | field(4, 1))
    };
    let (base, bits) = match (range, precise) {
        (2, false) => (0, 1),
        (3, false) => (3, 0),
        (4, false) => (0, 2),
        (5, false) => (5, 0),
        (6, false) => (3, 1),
        (7, false) => (0, 3),
        (2, true) => (5, 1),
        (3, true) => (3, 2),
        (4, true) => (0, 4),
        (5, true) => (5, 2),
        (6, true) => (3, 3),
        (7, true) => (0, 5),
        _ => return None,
    };
    Some((size, Range { base, bits }, dual))
}

/// The partition of a texel.
fn partition(seed: u32, [x, y]: [u32; 2], count: u32, is_small: bool) -> usize {
    let [x, y] = [x, y].map(|n| if is_small { n << 1 } else { n });
    let mut hash = seed + (count - 1) * 1024;
    hash ^= hash >> 15;
    hash = hash.wrapping_sub(hash << 17);
    hash = hash.wrapping_add(hash << 7);
    hash = hash.wrapping_add(hash << 4);
    hash ^= hash >> 5;
    hash = hash.wrapping_add(hash << 16);
    hash ^= hash >> 7;
    hash ^= hash >> 3;
    hash ^= hash << 6;
    hash ^= hash >> 17;
    let by_seed = if seed & 2 != 0 { 4 } else { 5 };
    let by_count = if count == 3 { 6 } else { 5 };
    let shifts = if seed & 1 != 0 { [by_seed, by_count] } else { [by_count, by_seed] };
    // The slopes of four planes, along x and along y.
    let slope = |index: u32| {
        let nibble = hash >> (4 * index) & 15;
        (nibble * nibble) >> shifts[index as usize % 2]
    };
    let plane = |index: u32| {
        let offset = hash >> (14 - 4 * index);
        slope(2 * index).wrapping_mul(x).wrapping_add(slope(2 * index + 1).wrapping_mul(y)).wrapping_add(offset) & 63
    };
    // The highest plane, and of those the first.
    (0..count).max_by_key(|index| (plane(*index), u32::MAX - index)).unwrap_or(0) as usize
}

/// The endpoints of a partition's colours. `None` for modes of colours above 1.
fn endpoints(mode: u32, values: &[i32]) -> Option<[[i32; 4]; 2]> {
    let mut v = [0; 8];
    v.iter_mut().zip(values).for_each(|(to, from)| *to = *from);
    // A number of seven bits, and a signed one of six.
    let offset = |base: i32, offset: i32| {
        let signed = offset >> 1 & 0x3f;
        (base >> 1 | offset & 0x80, if signed & 0x20 != 0 { signed - 0x40 } else { signed })
    };
    let contracted = |[r, g, b, a]: [i32; 4]| [(r + b) >> 1, (g + b) >> 1, b, a];
    let grey = |l: i32, a: i32| [l, l, l, a];
    let opaque = mode < 12;
    Some(match mode {
        0 => [grey(v[0], 255), grey(v[1], 255)],
        1 => {
            let low = v[0] >> 2 | v[1] & 0xc0;
            [grey(low, 255), grey((low + (v[1] & 0x3f)).min(255), 255)]
        }
        4 => [grey(v[0], v[2]), grey(v[1], v[3])],
        5 => {
            let ((l, more), (a, further)) = (offset(v[0], v[1]), offset(v[2], v[3]));
            [grey(l, a), grey(l + more, a + further)]
        }
        6 | 10 => {
            let scaled = |colour: i32| (colour * v[3]) >> 8;
            let [low, high] = if mode == 6 { [255; 2] } else { [v[4], v[5]] };
            [[scaled(v[0]), scaled(v[1]), scaled(v[2]), low], [v[0], v[1], v[2], high]]
        }
        8 | 12 => {
            let [first, second] = [0, 1].map(|n| [v[n], v[2 + n], v[4 + n], if opaque { 255 } else { v[6 + n] }]);
            let sum = |[r, g, b, _]: [i32; 4]| r + g + b;
            if sum(second) >= sum(first) { [first, second] } else { [contracted(second), contracted(first)] }
        }
        9 | 13 => {
            let pairs = [0, 2, 4, 6].map(|n| offset(v[n], v[n + 1]));
            let alpha = |a: i32| if opaque { 255 } else { a };
            let [r, g, b, a] = pairs.map(|(base, _)| base);
            let first = [r, g, b, alpha(a)];
            let [r, g, b, a] = pairs.map(|(base, more)| base + more);
            let second = [r, g, b, alpha(a)];
            let sum: i32 = pairs[..3].iter().map(|(_, more)| more).sum();
            if sum >= 0 { [first, second] } else { [contracted(second), contracted(first)] }
        }
        _ => return None,
    })
    .map(|ends| ends.map(|end| end.map(|channel| channel.clamp(0, 255))))
}

/// Decodes a block row by row: the 16 bits of each channel, of which colours with a curve use the upper half.
pub(super) fn decode(block: u128, [columns, rows]: [usize; 2], srgb: bool, mut texel: impl FnMut(usize, [u16; 4])) {
    let texels = columns * rows;
    let field = |low: u32, bits: u32| field(block, low, bits);
    if field(0, 9) == 0b1_1111_1100 {
        let colour = if is_void(block) { [64, 80, 96, 112].map(|at| field(at, 16) as u16) } else { MAGENTA };
        return (0..texels).for_each(|at| texel(at, colour));
    }
    let Some(parts) = Parts::of(block, [columns, rows]) else {
        return (0..texels).for_each(|at| texel(at, MAGENTA));
    };
    let is_small = texels < 31;
    for at in 0..texels {
        let place = [at % columns, at / columns];
        let index = match parts.count {
            1 => 0,
            count => partition(field(13, 10), place.map(|n| n as u32), count, is_small),
        };
        let Some([first, second]) = parts.ends[index] else {
            texel(at, MAGENTA);
            continue;
        };
        let weights = parts.weights_at(place, [columns, rows]);
        texel(
            at,
            std::array::from_fn(|channel| {
                let weight = weights[usize::from(parts.plane == Some(channel))];
                let wide = |end: i32| end << 8 | if srgb { 0x80 } else { end };
                ((wide(first[channel]) * (64 - weight) + wide(second[channel]) * weight + 32) >> 6) as u16
            }),
        );
    }
}

/// Whether a block of one colour is valid: reserved bits are set, and so are all coordinates, or they are in order.
fn is_void(block: u128) -> bool {
    let field = |low: u32, bits: u32| field(block, low, bits);
    let ends = [12, 25, 38, 51].map(|at| field(at, 13));
    field(9, 3) == 0b110 && (ends == [0x1fff; 4] || ends[0] < ends[1] && ends[2] < ends[3])
}

/// What a block is made of.
struct Parts {
    /// The number of partitions.
    count: u32,
    ends: [Option<[[i32; 4]; 2]>; 4],
    /// The columns and rows of the grid of weights.
    grid: [usize; 2],
    weights: [i32; WEIGHTS],
    /// The channel with weights of its own, in a second plane.
    plane: Option<usize>,
}

impl Parts {
    /// Returns `None` for an invalid block.
    fn of(block: u128, [columns, rows]: [usize; 2]) -> Option<Parts> {
        let field = |low: u32, bits: u32| field(block, low, bits);
        let (grid, range, dual) = mode(field(0, 11))?;
        let total = grid[0] * grid[1] * if dual { 2 } else { 1 };
        let size = range.size(total as u32);
        let count = field(11, 2) + 1;
        let fits = grid[0] <= columns && grid[1] <= rows && total <= WEIGHTS && (24..=96).contains(&size);
        if !fits || dual && count == 4 {
            return None;
        }
        let mut numbers = [(0, 0); WEIGHTS];
        range.read(block.reverse_bits(), &mut numbers[..total]);
        let weights = numbers.map(|number| {
            let weight = unquantized(range, number, 6, &SCALES) as i32;
            if weight > 32 { weight + 1 } else { weight }
        });
        // Above the endpoints are what is left of their modes, and the channel with weights of its own.
        let (mut modes, mut from, mut until) = ([0; 4], 17, 128 - size);
        if count == 1 {
            modes[0] = field(13, 4);
        } else {
            let packed = field(23, 6);
            from = 29;
            if packed & 3 == 0 {
                modes = [packed >> 2; 4];
            } else {
                until -= 3 * count - 4;
                let packed = packed | field(until, 3 * count - 4) << 6;
                for (index, mode) in (0..count).zip(&mut modes) {
                    let class = (packed & 3) - 1 + (packed >> (2 + index) & 1);
                    *mode = class << 2 | packed >> (2 + count + 2 * index) & 3;
                }
            }
        }
        let plane = dual.then(|| {
            until -= 2;
            field(until, 2) as usize
        });
        let modes = &modes[..count as usize];
        let values = |mode: u32| 2 * (mode >> 2) + 2;
        let needed = modes.iter().map(|mode| values(*mode)).sum::<u32>();
        let room = until.checked_sub(from)?;
        if needed > VALUES as u32 {
            return None;
        }
        let ranges = RANGES.map(|(base, bits)| Range { base, bits });
        let range = ranges.into_iter().find(|range| range.size(needed) <= room)?;
        let mut numbers = [(0, 0); VALUES];
        range.read(block >> from, &mut numbers[..needed as usize]);
        let numbers = numbers.map(|number| unquantized(range, number, 8, &COLOURS) as i32);
        let (mut ends, mut left) = ([None; 4], &numbers[..]);
        for (mode, ends) in modes.iter().zip(&mut ends) {
            let (own, rest) = left.split_at(values(*mode) as usize);
            (*ends, left) = (endpoints(*mode, own), rest);
        }
        Some(Parts { count, ends, grid, weights, plane })
    }

    /// The weights of a texel in both planes, between those of the grid around it.
    fn weights_at(&self, place: [usize; 2], size: [usize; 2]) -> [i32; 2] {
        let along = |axis: usize| {
            let scale = (1024 + size[axis] / 2) / (size[axis] - 1);
            let at = (scale * place[axis] * (self.grid[axis] - 1) + 32) >> 6;
            (at >> 4, (at & 15) as i32)
        };
        let ((x, right), (y, down)) = (along(0), along(1));
        let both = (right * down + 8) >> 4;
        let around = [(0, 0, 16 - right - down + both), (1, 0, right - both), (0, 1, down - both), (1, 1, both)];
        let planes = if self.plane.is_some() { 2 } else { 1 };
        let weight = |plane: usize| {
            let of = |(dx, dy, factor): (usize, usize, i32)| {
                let index = planes * (x + dx + (y + dy) * self.grid[0]) + plane;
                // Beyond the grid the factor is 0.
                factor * self.weights.get(index).copied().unwrap_or(0)
            };
            (around.into_iter().map(of).sum::<i32>() + 8) >> 4
        };
        [weight(0), weight(planes - 1)]
    }
}
