//! Texture look-ups, with coordinates from staging registers or directly from varyings.
//!
//! The registers of a look-up hold, in this order and as far as they apply: x, y, z; the layer; the reference of a
//! shadow look-up; a word of texel offsets; the level of detail or its bias. For a cube, two words replace x, y and z:
//! the first has the face in its high three bits in place of the highest bits of s, and the second is t.

use isaforge_core::semantics::evaluate::each;
use isaforge_valhall::{Dimension, LodMode, RegisterList, RegisterType, RegisterWidth};

use super::{Layout, blame};
use crate::valhall::host::{
    Coordinates, Handle, Lod, Lods as LodsTogether, Lookup, Lookups, Request, Shape, Texel, cube,
};
use crate::valhall::step::{Fault, Step};
use crate::valhall::warp::{Column, lanes};

/// The kind of a look-up.
#[derive(Clone, Copy, Debug)]
pub(in crate::valhall) struct Query {
    dimension: Dimension,
    array: bool,
    offset: bool,
    shadow: bool,
    lods: Lods,
}

/// The part of a look-up that concerns levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::valhall) enum Lods {
    /// Returns a texel of the level in the offset word.
    Fetch,
    /// Returns four texels of level 0.
    Gather(Gather),
    /// Returns a filtered value.
    Filter(LodMode),
    /// Returns the level of detail.
    Level(Levels),
}

impl Lods {
    /// A filtered look-up with the bits of a level-of-detail mode.
    pub fn filter(mode: u32) -> Self {
        // Any word that decodes has one of the modes.
        Lods::Filter(LodMode::from_bits(mode.into()).unwrap_or(LodMode::Zero))
    }
}

/// A gather of one channel of four texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::valhall) struct Gather {
    pub channel: usize,
    /// Whether coordinates are in texels.
    pub texels: bool,
}

/// The fields of the sampler that apply to a returned level of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::valhall) struct Levels {
    pub bias: bool,
    pub range: bool,
}

impl Query {
    /// Decodes a query from the word that describes its shape: the dimension in bits 0 and 1, and above them whether
    /// there are layers, offsets and a reference.
    pub fn new(shape: u32, lods: Lods) -> Self {
        Query {
            dimension: Dimension::from_bits((shape & 3).into()).unwrap_or(Dimension::_2d),
            array: shape & 4 != 0,
            offset: shape & 8 != 0,
            shadow: shape & 16 != 0,
            lods,
        }
    }

    fn shape(&self) -> Shape {
        match self.dimension {
            Dimension::_1d => Shape::One,
            Dimension::_2d => Shape::Two,
            Dimension::_3d => Shape::Three,
            Dimension::Cube => Shape::Cube,
        }
    }

    fn whole_numbers(&self) -> bool {
        matches!(self.lods, Lods::Fetch | Lods::Gather(Gather { texels: true, .. }))
    }

    /// Performs the look-ups of the lanes of some masks, given the words of their coordinates; the coordinates of
    /// `active` lanes have differences. `None` for cubes, comparisons and other requests than filtered texels.
    pub fn together(
        &self,
        [texture, sampler]: [Handle; 2],
        words: [&[Column]; 7],
        (active, masks): (&[u16], &[u16]),
        look_up: impl FnOnce(&Lookups<'_>) -> Option<()>,
    ) -> Option<()> {
        let Lods::Filter(mode) = self.lods else { return None };
        let axes = match self.dimension {
            Dimension::_1d => 1,
            Dimension::_2d => 2,
            Dimension::_3d | Dimension::Cube => return None,
        };
        if self.shadow {
            return None;
        }
        let mut words = words.into_iter();
        let mut next = || words.next().unwrap_or_default();
        let at = [next(), if axes == 2 { next() } else { &[] }];
        let layer: Option<Vec<_>> = self.array.then(|| next().iter().map(|layer| each(layer, nearest_layer)).collect());
        let offset: Option<[Vec<_>; 2]> = self.offset.then(|| {
            let offsets = next();
            let along =
                |shift: u32| offsets.iter().map(move |word| each(word, |word| i32::from((word >> shift) as i8)));
            [0, 8].map(|shift| along(shift).collect())
        });
        let reads_level = !matches!(mode, LodMode::Zero | LodMode::Computed);
        let levels: Vec<_> = if reads_level { next().iter().map(|word| each(word, level)).collect() } else { vec![] };
        let lod = match mode {
            LodMode::Zero => LodsTogether::Base,
            LodMode::Computed => LodsTogether::Computed { active, bias: None },
            LodMode::ComputedBias => LodsTogether::Computed { active, bias: Some(&levels) },
            LodMode::Explicit | LodMode::Grdesc => LodsTogether::Explicit(&levels),
        };
        let offset = offset.as_ref().map(|offset| offset.each_ref().map(Vec::as_slice));
        let (layer, shape) = (layer.as_deref(), self.shape());
        look_up(&Lookups { texture, sampler, shape, masks, at, layer, offset, lod })
    }
}

/// The destination of results.
#[derive(Clone, Copy, Debug)]
pub(in crate::valhall) struct Output {
    pub list: RegisterList,
    pub layout: Layout,
    /// The channels to write, red in bit 0. They are packed without gaps.
    pub mask: u32,
    /// The index of the first register of the list to write.
    pub first: usize,
}

impl Output {
    /// Decodes the destination from a word: the type in bits 0 and 1, whether it is 32 bits wide in bit 2, the channels
    /// in bits 3 to 6, then the index of the first register.
    pub fn new(list: RegisterList, word: u32) -> Self {
        let kind = RegisterType::from_bits((word & 3).into()).unwrap_or(RegisterType::F);
        let width = if word & 4 == 0 { RegisterWidth::_16 } else { RegisterWidth::_32 };
        Output { list, layout: Layout::texture(kind, width), mask: word >> 3 & 0xf, first: (word >> 7) as usize }
    }
}

/// The arguments of a look-up in one lane.
#[derive(Clone, Copy, Debug, Default)]
struct Arguments {
    /// Coordinates: the bits of f32 or integers.
    at: [u32; 3],
    face: u32,
    layer: i32,
    reference: Option<f32>,
    offset: [i32; 3],
    /// The level, from the highest byte of the offset word.
    level: u32,
    /// The level of detail or the bias, from the last word.
    lod: f32,
}

impl Arguments {
    fn read(query: &Query, words: &[u32]) -> Self {
        let mut words = words.iter().copied();
        let mut next = || words.next().unwrap_or(0);
        let mut read = Arguments::default();
        let first = next();
        match query.dimension {
            Dimension::_1d => read.at = [first, 0, 0],
            Dimension::_2d => read.at = [first, next(), 0],
            Dimension::_3d => read.at = [first, next(), next()],
            Dimension::Cube => {
                read.face = first >> 29;
                read.at = [first & 0x1fff_ffff | 0x2000_0000, next(), 0];
            }
        }
        if query.array {
            let layer = next();
            read.layer = if query.lods == Lods::Fetch { layer as i32 } else { nearest_layer(layer) };
        }
        if query.shadow {
            read.reference = Some(f32::from_bits(next()));
        }
        if query.offset {
            let [x, y, z, level] = next().to_le_bytes();
            read.offset = [x, y, z].map(|byte| (byte as i8).into());
            read.level = level.into();
        }
        read.lod = level(next());
        read
    }

    fn place(&self) -> [f32; 3] {
        self.at.map(f32::from_bits)
    }
}

impl Step<'_> {
    /// Performs a look-up with the coordinates in `words`. The handles are words, of the texture and of the sampler.
    pub fn texture(
        &mut self,
        query: Query,
        [texture, sampler]: [&Column; 2],
        words: [&Column; 7],
        (list, result): (RegisterList, u32),
        mask: u16,
    ) -> Result<(), Fault> {
        let arguments = std::array::from_fn(|lane| Arguments::read(&query, &words.map(|column| column[lane])));
        let output = Output::new(list, result);
        for lane in lanes(mask) {
            let handles = [texture, sampler].map(|handle| Handle::from_word(handle[lane]));
            self.look_up(query, handles, &arguments, output, lane)?;
        }
        Ok(())
    }

    fn look_up(
        &mut self,
        query: Query,
        [texture, sampler]: [Handle; 2],
        arguments: &Column<Arguments>,
        output: Output,
        lane: usize,
    ) -> Result<(), Fault> {
        let given = &arguments[lane];
        let lookup = Lookup {
            texture,
            sampler,
            shape: query.shape(),
            at: match query.whole_numbers() {
                true => Coordinates::Texels(given.at.map(|at| at as i32)),
                false => Coordinates::Normalised(given.place()),
            },
            face: given.face,
            layer: given.layer,
            reference: given.reference,
            offset: given.offset,
            request: match query.lods {
                Lods::Fetch => Request::Fetch { level: given.level },
                Lods::Gather(Gather { channel, .. }) => Request::Gather { channel },
                Lods::Filter(mode) => Request::Filter(self.lod(mode, arguments, lane)),
                Lods::Level(_) => Request::Filter(self.lod(LodMode::Computed, arguments, lane)),
            },
        };
        if let (Lods::Level(Levels { bias, range }), Request::Filter(lod)) = (query.lods, lookup.request) {
            let level = self.space.host.level_of_detail(&lookup, lod, bias, range).map_err(blame(lane));
            let level = self.excused(lane, level)?;
            self.put_words(output.list, output.first, lane, &[fixed(level), 0]);
            return Ok(());
        }
        let texel = self.excused(lane, self.space.host.look_up(&lookup).map(Some).map_err(blame(lane)))?;
        let texel = texel.unwrap_or(Texel::floats([0.0; 4]));
        let channels = (0..4).filter(|channel| output.mask >> channel & 1 != 0);
        self.put_texel(output.list, output.first, lane, output.layout, texel, channels);
        Ok(())
    }

    /// The level of detail of one lane.
    fn lod(&self, mode: LodMode, arguments: &Column<Arguments>, lane: usize) -> Lod {
        let computed = |bias: f32| Lod::Computed {
            dx: self.change(arguments, lane, 1),
            dy: self.change(arguments, lane, 2),
            bias,
        };
        match mode {
            LodMode::Zero => Lod::Base,
            LodMode::Computed => computed(0.0),
            LodMode::ComputedBias => computed(arguments[lane].lod),
            // The level of detail of a gradient is in the low half of its first word.
            LodMode::Explicit | LodMode::Grdesc => Lod::Explicit(arguments[lane].lod),
        }
    }

    /// The difference of the coordinates between the two lanes of a quad whose numbers differ in `bit`; the lane
    /// without it is the left or lower one. It is 0 if one of them is inactive.
    fn change(&self, arguments: &Column<Arguments>, lane: usize, bit: usize) -> [f32; 3] {
        let (from, to) = (lane & !bit, lane | bit);
        if self.warp.active >> from & self.warp.active >> to & 1 == 0 {
            return [0.0; 3];
        }
        let [from, to] = [&arguments[from], &arguments[to]];
        // Positions on other faces are projected onto the plane of this face.
        let face = arguments[lane].face;
        let seen = |at: &Arguments| {
            let [s, t, _] = at.place();
            let direction = cube::direction(at.face, s, t);
            if at.face == face { Some([s, t, 0.0]) } else { cube::project(face, direction).map(|[s, t]| [s, t, 0.0]) }
        };
        match [seen(from), seen(to)] {
            [Some(_), Some(_)] if from.face == to.face && from.face == face => {
                std::array::from_fn(|axis| to.place()[axis] - from.place()[axis])
            }
            [Some(from), Some(to)] => std::array::from_fn(|axis| to[axis] - from[axis]),
            _ => [0.0; 3],
        }
    }
}

/// Returns the layer in a word: rounded to nearest. Numbers out of range saturate, and NaN becomes 0.
fn nearest_layer(word: u32) -> i32 {
    (f32::from_bits(word) + 0.5).floor() as i32
}

/// Returns the level of detail or the bias in the low half of a word.
fn level(word: u32) -> f32 {
    f32::from(word as i16) / 256.0
}

/// Encodes a level of detail as a signed number with 8 fraction bits, in the low half of a word.
fn fixed(level: f32) -> u32 {
    u32::from((level * 256.0).round().clamp(-32768.0, 32767.0) as i16 as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_come_in_a_fixed_order() {
        let query = Query {
            dimension: Dimension::_2d,
            array: true,
            offset: true,
            shadow: true,
            lods: Lods::Filter(LodMode::Explicit),
        };
        let bits = f32::to_bits;
        let read = Arguments::read(&query, &[bits(0.25), bits(0.5), bits(2.6), bits(0.75), 0x0001_ff02, 0xfff0_0180]);
        assert_eq!(read.place(), [0.25, 0.5, 0.0]);
        assert_eq!((read.layer, read.reference, read.offset), (3, Some(0.75), [2, -1, 1]));
        assert_eq!(read.lod, 1.5);
        let cube = Query { dimension: Dimension::Cube, array: false, offset: false, shadow: false, ..query };
        let read = Arguments::read(&cube, &[bits(0.75) & 0x1fff_ffff | 5 << 29, bits(0.125), 0xff00]);
        assert_eq!((read.face, read.place(), read.lod), (5, [0.75, 0.125, 0.0], -1.0));
    }
}
