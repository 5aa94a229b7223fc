//! Texture look-ups of all kinds, compared with a separate sampler that uses double precision and shares no code
//! between its cases with the runtime's.

use isaforge_runtime::valhall::host::{Compare, Filter, Format, Handle, Sampler, Shape, Texture, Wrap, table};

use super::host::{Random, draw, resources};
use super::seed::seed;

/// A look-up with its texture and sampler.
#[derive(Clone, Debug)]
struct Case {
    shape: Shape,
    size: [u32; 3],
    /// The number of layers, or of cubes.
    layers: u32,
    /// Values by level, layer or face, slice, row and column.
    levels: Vec<Vec<f32>>,
    sampler: Sampler,
    array: bool,
    shadow: bool,
    offset: Option<[i8; 3]>,
    /// Explicit; `None` selects level 0.
    lod: Option<f64>,
    gather: bool,
    at: [f64; 3],
    face: u32,
    layer: f64,
    reference: f64,
}

impl Case {
    fn new(random: &mut Random) -> Case {
        let mut pick = |n: u64| (random.next() >> 20) % n;
        let shape = [Shape::One, Shape::Two, Shape::Two, Shape::Three, Shape::Cube][pick(5) as usize];
        let gather = matches!(shape, Shape::Two | Shape::Cube) && pick(4) == 0;
        let array = shape != Shape::Three && pick(2) == 0;
        let side = |pick: &mut dyn FnMut(u64) -> u64| [4, 8, 5][pick(3) as usize];
        let (width, height, depth) = (side(&mut pick), side(&mut pick), side(&mut pick));
        let size: [u32; 3] = match shape {
            Shape::One => [width, 1, 1],
            Shape::Two => [width, height, 1],
            Shape::Three => [width, height, depth],
            Shape::Cube => [width, width, 1],
        };
        let layers = if array { 3 } else { 1 };
        let faces = if shape == Shape::Cube { 6 } else { 1 };
        let count = size.iter().max().unwrap().ilog2() + 1;
        let texels = |level: u32| size.map(|n| (n >> level).max(1)).iter().product::<u32>() * layers * faces;
        let mut levels: Vec<Vec<f32>> = Vec::new();
        for level in 0..count {
            levels.push((0..texels(level)).map(|_| pick(64) as f32 / 64.0).collect());
        }
        let filter = |pick: &mut dyn FnMut(u64) -> u64| [Filter::Nearest, Filter::Linear][pick(2) as usize];
        let wraps = [Wrap::Clamp, Wrap::Repeat, Wrap::Mirror, Wrap::MirrorOnce, Wrap::Border];
        let compares = [Compare::Less, Compare::LessEqual, Compare::Greater, Compare::GreaterEqual];
        let shadow = shape != Shape::Three && pick(3) == 0;
        let sampler = Sampler {
            min: filter(&mut pick),
            mag: filter(&mut pick),
            mip: [None, Some(Filter::Nearest), Some(Filter::Linear)][pick(3) as usize],
            wrap: [0, 1, 2].map(|_| wraps[pick(5) as usize]),
            compare: shadow.then(|| compares[pick(4) as usize]),
            lod_bias: [0.0, 0.5, -1.125][pick(3) as usize],
            lod_range: [[-1000.0, 0.375, 1.25][pick(3) as usize], [1000.0, 1.75][pick(2) as usize]],
            border: [0.625f32.to_bits(); 4],
        };
        // Positions are slightly off the boundaries of texels.
        let mut place = |least: f64, greatest: f64| {
            let part = (pick(1 << 10) as f64 + 0.37) / f64::from(1 << 10);
            f64::from((least + part * (greatest - least)) as f32)
        };
        let at = match shape {
            Shape::Cube => [place(0.01, 0.99), place(0.01, 0.99), 0.0],
            _ => [place(-1.5, 2.5), place(-1.5, 2.5), place(-1.5, 2.5)],
        };
        let offset = (shape != Shape::Cube && pick(2) == 0).then(|| [0, 1, 2].map(|_| pick(16) as i8 - 8));
        Case {
            lod: (!gather && pick(2) == 0).then(|| (pick(5) as f64 - 1.0) + [0.25, 0.75, 0.0][pick(3) as usize]),
            face: pick(6) as u32,
            layer: [-2.0, 0.25, 1.0, 1.75, 2.25, 9.0][pick(6) as usize],
            reference: (pick(64) as f64 + 0.5) / 64.0,
            ..Case {
                shape,
                size,
                layers,
                levels,
                sampler,
                array,
                shadow,
                offset,
                lod: None,
                gather,
                at,
                face: 0,
                layer: 0.0,
                reference: 0.0,
            }
        }
    }

    /// The result of the runtime.
    fn found(&self) -> [f32; 4] {
        let mut resources = resources(1, 1);
        let bytes = |level: &Vec<f32>| level.iter().flat_map(|value| value.to_le_bytes()).collect();
        let faces = if self.shape == Shape::Cube { 6 } else { 1 };
        let levels = self.levels.iter().map(bytes).collect();
        let texture = Texture::new(self.shape, self.size, self.layers * faces, Format::R32F, levels).unwrap();
        resources.textures.insert(Handle::new(table::TEXTURES, 0), texture);
        resources.samplers.insert(Handle::new(table::SAMPLERS, 0), self.sampler.clone());
        let bits = |value: f64| (value as f32).to_bits();
        let [x, y, z] = self.at.map(bits);
        let (mut words, dimension) = match self.shape {
            Shape::One => (vec![x], "1d"),
            Shape::Two => (vec![x, y], "2d"),
            Shape::Three => (vec![x, y, z], "3d"),
            Shape::Cube => (vec![self.face << 29 | x & 0x1fff_ffff, y], "cube"),
        };
        let mut marks = format!(".{dimension}");
        if self.array {
            words.push(bits(self.layer));
            marks += ".array_enable";
        }
        if self.shadow {
            words.push(bits(self.reference));
        }
        if let Some([x, y, z]) = self.offset {
            words.push(u32::from_le_bytes([x as u8, y as u8, z as u8, 0]));
            marks += ".texel_offset";
        }
        if self.gather {
            marks += ".gather4_r";
        }
        if self.shadow {
            marks += ".shadow";
        }
        let name = match (self.gather, self.lod) {
            (true, _) => "TEX_GATHER",
            (false, None) => {
                marks += ".zero";
                "TEX_SINGLE"
            }
            (false, Some(lod)) => {
                words.push((lod * 256.0) as i32 as u16 as u32);
                marks += ".explicit";
                "TEX_SINGLE"
            }
        };
        let loads: String =
            (8..).zip(&words).map(|(r, word)| format!("IADD_IMM.i32 r{r}, 0x0, #{word:#x}\n")).collect();
        let list: Vec<String> = (8..8 + words.len()).map(|r| format!("r{r}")).collect();
        let body = format!("{loads}{name}.slot1.f.32{marks} @r4:r5:r6:r7, @{}, r20", list.join(":"));
        draw(&body, &mut resources).unwrap_or_else(|error| panic!("{error}\n{body}"))[0]
    }

    /// The expected result.
    fn expected(&self) -> [f64; 4] {
        if self.gather {
            let [i, j] = [0, 1].map(|axis| (self.at[axis] * f64::from(self.size[axis]) - 0.5).floor() as i64);
            return [[0, 0], [1, 0], [0, 1], [1, 1]].map(|[x, y]| self.texel(0, [i + x, j + y, 0]));
        }
        let last = self.levels.len() as f64 - 1.0;
        // An instruction without a level uses level 0, independent of the sampler.
        let [least, greatest] = self.sampler.lod_range.map(f64::from);
        let lod = self.lod.map_or(0.0, |lod| (lod + f64::from(self.sampler.lod_bias)).max(least).min(greatest));
        let filter = if lod > 0.0 { self.sampler.min } else { self.sampler.mag };
        let lod = lod.clamp(0.0, last);
        let value = match self.sampler.mip {
            None => self.level(0, filter),
            // Halfway between two levels, the lower one is used.
            Some(Filter::Nearest) => self.level((lod - 0.5).ceil() as usize, filter),
            Some(Filter::Linear) => {
                let [low, high] = [lod.floor(), lod.ceil()].map(|level| self.level(level as usize, filter));
                low * (1.0 - lod.fract()) + high * lod.fract()
            }
        };
        [value, 0.0, 0.0, 1.0]
    }

    fn level(&self, level: usize, filter: Filter) -> f64 {
        let size = self.size.map(|n| (n >> level).max(1));
        let axes = match self.shape {
            Shape::One => 1,
            Shape::Two | Shape::Cube => 2,
            Shape::Three => 3,
        };
        if filter == Filter::Nearest {
            return self.texel(
                level,
                [0, 1, 2].map(|a| if a < axes { (self.at[a] * f64::from(size[a])).floor() as i64 } else { 0 }),
            );
        }
        // All corners of the cell between texel centres, with their weights.
        let mut sum = 0.0;
        for corner in 0..1 << axes {
            let (mut share, mut place) = (1.0, [0; 3]);
            for axis in 0..axes {
                let centre = self.at[axis] * f64::from(size[axis]) - 0.5;
                let upper = corner >> axis & 1 != 0;
                place[axis] = centre.floor() as i64 + i64::from(upper);
                share *= if upper { centre - centre.floor() } else { 1.0 - (centre - centre.floor()) };
            }
            sum += share * self.texel(level, place);
        }
        sum
    }

    /// Returns a texel, after the comparison if there is one.
    fn texel(&self, level: usize, place: [i64; 3]) -> f64 {
        let compared = |value: f64| match self.sampler.compare.filter(|_| self.shadow) {
            None => value,
            Some(Compare::Less) => f64::from(u8::from(self.reference < value)),
            Some(Compare::LessEqual) => f64::from(u8::from(self.reference <= value)),
            Some(Compare::Greater) => f64::from(u8::from(self.reference > value)),
            Some(_) => f64::from(u8::from(self.reference >= value)),
        };
        let [w, h, d] = self.size.map(|n| i64::from((n >> level).max(1)));
        let layer = if self.array { (self.layer.round() as i64).clamp(0, i64::from(self.layers) - 1) } else { 0 };
        let value = |layer: i64, [x, y, z]: [i64; 3]| {
            f64::from(self.levels[level][(((layer * d + z) * h + y) * w + x) as usize])
        };
        if self.shape == Shape::Cube {
            let on = |face: i64, x: i64, y: i64| compared(value(layer * 6 + face, [x, y, 0]));
            let (x, y) = (place[0], place[1]);
            let outside = |at: i64| at < 0 || at >= w;
            return match (outside(x), outside(y)) {
                (false, false) => on(self.face.into(), x, y),
                (true, true) => {
                    let (x, y) = (x.clamp(0, w - 1), y.clamp(0, w - 1));
                    let across = |place: (i64, i64)| {
                        let (face, x, y) = neighbour(self.face.into(), place, w);
                        on(face, x, y)
                    };
                    (on(self.face.into(), x, y) + across((place[0], y)) + across((x, place[1]))) / 3.0
                }
                _ => {
                    let (face, x, y) = neighbour(self.face.into(), (x, y), w);
                    on(face, x, y)
                }
            };
        }
        let offset = self.offset.unwrap_or_default().map(i64::from);
        let sizes = [w, h, d];
        let axes = match self.shape {
            Shape::One => 1,
            Shape::Two => 2,
            _ => 3,
        };
        let mut at = [0; 3];
        for axis in 0..axes {
            let (mut i, n) = (place[axis] + offset[axis], sizes[axis]);
            match self.sampler.wrap[axis] {
                Wrap::Repeat => {
                    while i < 0 {
                        i += n;
                    }
                    i %= n;
                }
                // Reflects repeatedly until it is inside.
                Wrap::Mirror => {
                    while i < 0 || i >= n {
                        i = if i < 0 { -1 - i } else { 2 * n - 1 - i };
                    }
                }
                Wrap::MirrorOnce if i < 0 => i = (-1 - i).min(n - 1),
                Wrap::Border if i < 0 || i >= n => return compared(0.625),
                _ => i = i.max(0).min(n - 1),
            }
            at[axis] = i;
        }
        compared(value(layer, at))
    }
}

/// Returns the face and texel beyond an edge, by the table of OpenGL: the major axis, then the axes of s and of t with
/// their signs.
fn neighbour(face: i64, (x, y): (i64, i64), n: i64) -> (i64, i64, i64) {
    const FACES: [[(usize, i64); 3]; 6] = [
        [(0, 1), (2, -1), (1, -1)],
        [(0, -1), (2, 1), (1, -1)],
        [(1, 1), (0, 1), (2, 1)],
        [(1, -1), (0, 1), (2, -1)],
        [(2, 1), (0, 1), (1, -1)],
        [(2, -1), (0, -1), (1, -1)],
    ];
    // In half texels from the centre of the cube: faces are at n, centres of texels at odd positions.
    let mut at = [0; 3];
    let [(major, sign), (s, s_sign), (t, t_sign)] = FACES[face as usize];
    at[major] = sign * n;
    at[s] = s_sign * (2 * x + 1 - n);
    at[t] = t_sign * (2 * y + 1 - n);
    // Positions beyond the edge are folded over it: half a texel above the new face becomes half a texel inwards.
    let over = (0..3).find(|&axis| axis != major && at[axis].abs() > n).unwrap();
    let other = 2 * over + usize::from(at[over] < 0);
    at[over] = at[over].signum() * n;
    at[major] = sign * (n - 1);
    let [_, (s, s_sign), (t, t_sign)] = FACES[other];
    (other as i64, (s_sign * at[s] - 1 + n) / 2, (t_sign * at[t] - 1 + n) / 2)
}

#[test]
fn look_ups_of_every_kind_agree_with_the_definition() {
    let mut random = Random(seed(0x2545_f491_4f6c_dd1d));
    for number in 0..4000 {
        let case = Case::new(&mut random);
        let (found, expected) = (case.found(), case.expected());
        let close = found.iter().zip(expected).all(|(&found, expected)| (f64::from(found) - expected).abs() < 1e-4);
        assert!(close, "{number}: {found:?}, not {expected:?}\n{case:#?}");
    }
}

/// The texels of each level are its number, so the result is the level of detail.
#[test]
fn the_level_comes_from_the_longer_change_across_a_quad() {
    let mut random = Random(seed(0x9e37_79b9_7f4a_7c15));
    let mut pick = |n: u64| (random.next() >> 20) % n;
    for _ in 0..200 {
        let shape = [Shape::One, Shape::Two, Shape::Three, Shape::Cube][pick(4) as usize];
        let (axes, dimension) = match shape {
            Shape::One => (1, "1d"),
            Shape::Two => (2, "2d"),
            Shape::Three => (3, "3d"),
            Shape::Cube => (2, "cube"),
        };
        let (side, faces) = (32, if shape == Shape::Cube { 6 } else { 1 });
        let size = [0, 1, 2].map(|axis| if axis < axes { side >> (axis * usize::from(axes == 3)) } else { 1u32 });
        let texels = |level: u32| size.map(|n| (n >> level).max(1)).iter().product::<u32>() * faces;
        let levels: Vec<Vec<f32>> = (0..6).map(|level| vec![level as f32; texels(level) as usize]).collect();
        let sampler = Sampler {
            min: [Filter::Nearest, Filter::Linear][pick(2) as usize],
            mip: Some(Filter::Linear),
            ..Sampler::default()
        };
        let mut resources = resources(4, 4);
        let levels: Vec<&[f32]> = levels.iter().map(Vec::as_slice).collect();
        super::host::with_texture(&mut resources, shape, size, faces, &levels, sampler);
        // Coordinates change by multiples of 1/1024 per pixel, at most by an eighth, and stay on their face.
        let mut change = || (pick(256) as f64 - 128.0) / 1024.0;
        let slopes: Vec<[f64; 2]> = (0..axes).map(|_| [change(), change()]).collect();
        let (bias, face) = (if pick(2) == 0 { 0.0 } else { pick(64) as f64 / 16.0 - 2.0 }, pick(6) as u32);
        let mut body = String::new();
        for (axis, [dx, dy]) in slopes.iter().enumerate() {
            let bits = |value: f64| (value as f32).to_bits();
            let at = 8 + axis;
            body += &format!(
                "FADD_IMM.f32 r30, r0, #0xC0000000\nFADD_IMM.f32 r31, r1, #0xC0000000
                 IADD_IMM.i32 r{at}, 0x0, #0x3F000000
                 IADD_IMM.i32 r22, 0x0, #{:#x}\nFMA.f32 r{at}, r30, r22, r{at}
                 IADD_IMM.i32 r22, 0x0, #{:#x}\nFMA.f32 r{at}, r31, r22, r{at}\n",
                bits(*dx),
                bits(*dy)
            );
        }
        if shape == Shape::Cube {
            body += &format!(
                "IADD_IMM.i32 r22, 0x0, #0x1FFFFFFF\nLSHIFT_AND.i32 r8, r8, 0x0.b00, r22
                 IADD_IMM.i32 r22, 0x0, #{:#x}\nLSHIFT_OR.i32 r8, r8, 0x0.b00, r22\n",
                face << 29
            );
        }
        let mut words = axes;
        if bias != 0.0 {
            body += &format!("IADD_IMM.i32 r{}, 0x0, #{:#x}\n", 8 + words, (bias * 256.0) as i32 as u16);
            words += 1;
        }
        let list: Vec<String> = (8..8 + words).map(|r| format!("r{r}")).collect();
        let mode = if bias != 0.0 { "computed_bias" } else { "computed" };
        body += &format!("TEX_SINGLE.slot1.f.32.{dimension}.{mode} @r4:r5:r6:r7, @{}, r20", list.join(":"));
        let length =
            |d: usize| (0..axes).map(|axis| (slopes[axis][d] * f64::from(size[axis])).powi(2)).sum::<f64>().sqrt();
        let expected = (length(0).max(length(1)).log2() + bias).clamp(0.0, 5.0);
        for colour in draw(&body, &mut resources).unwrap_or_else(|error| panic!("{error}\n{body}")) {
            assert!((f64::from(colour[0]) - expected).abs() < 2e-3, "{shape:?}: {}, not {expected}\n{body}", colour[0]);
        }
    }
}
