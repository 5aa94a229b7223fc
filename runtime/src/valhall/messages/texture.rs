//! Textures: from staging registers, or from varyings directly.
//!
//! The registers of a look-up hold, in this order and only what is there: x, y, z; the layer; the reference of a shadow
//! look-up; a word of texel offsets; the level of detail or its bias. A cube has two words instead of x, y and z: the
//! face in the high three bits of the first, above s without its highest bits, and t.

use isaforge_valhall::{
    Dimension, LodMode, RegisterList, RegisterType, RegisterWidth, Source, VaryingTextureRegisterWidth,
};

use super::{Interpolation, Layout, blame};
use crate::valhall::host::{Coordinates, Handle, Lod, Lookup, Request, Shape, Texel, VaryingSource, cube};
use crate::valhall::step::{Control, Fault, Step};
use crate::valhall::warp::{Column, lanes};

/// What kind of look-up an instruction is.
#[derive(Clone, Copy, Debug)]
pub(in crate::valhall) struct Query {
    pub dimension: Dimension,
    pub array: bool,
    pub offset: bool,
    pub shadow: bool,
    pub lods: Lods,
}

/// What is wanted of the levels of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::valhall) enum Lods {
    /// A texel of the level in the offset word.
    Fetch,
    /// Four texels of level 0, a channel of each; coordinates may be whole numbers.
    Gather { channel: usize, integer: bool },
    /// A filtered value.
    Filter(LodMode),
    /// The level of detail itself, with or without the sampler's bias and range.
    Gradient { bias: bool, range: bool },
}

impl Query {
    fn shape(&self) -> Shape {
        match self.dimension {
            Dimension::_1d => Shape::One,
            Dimension::_2d => Shape::Two,
            Dimension::_3d => Shape::Three,
            Dimension::Cube => Shape::Cube,
        }
    }

    fn whole_numbers(&self) -> bool {
        matches!(self.lods, Lods::Fetch | Lods::Gather { integer: true, .. })
    }
}

/// Texture and sampler.
#[derive(Clone, Copy, Debug)]
pub(in crate::valhall) struct Names {
    texture: Handle,
    sampler: Handle,
}

impl Names {
    /// Both in one word: the sampler's index in bits 0 to 10, its table in 11 to 15, the texture's above in the same way.
    pub fn narrow(word: u32) -> Self {
        let handle = |half: u32| Handle::new((half >> 11 & 0x1f) as u8, half & 0x7ff);
        Names { texture: handle(word >> 16), sampler: handle(word) }
    }

    /// A handle each: the sampler's in the low word.
    pub fn wide(pair: u64) -> Self {
        Names { texture: Handle::from_word((pair >> 32) as u32), sampler: Handle::from_word(pair as u32) }
    }
}

/// Where results go.
#[derive(Clone, Copy, Debug)]
pub(in crate::valhall) struct Output {
    list: RegisterList,
    kind: RegisterType,
    width: RegisterWidth,
    /// Channels that are written, red in bit 0. They are packed without gaps.
    mask: u64,
    /// The first register of the list that is written.
    first: usize,
}

impl Output {
    pub fn new(list: RegisterList, kind: RegisterType, width: RegisterWidth, mask: u64) -> Self {
        Output { list, kind, width, mask, first: 0 }
    }

    /// The result of a second look-up, behind this one's.
    pub fn second(self, width: RegisterWidth) -> Self {
        let count = self.mask.count_ones() as usize;
        let first = if self.width == RegisterWidth::_16 { count.div_ceil(2) } else { count };
        Output { width, first, ..self }
    }
}

/// The widths of the results of a fused instruction: of its look-up, and of a second one.
pub(in crate::valhall) fn widths(width: VaryingTextureRegisterWidth) -> [RegisterWidth; 2] {
    match width {
        VaryingTextureRegisterWidth::_16 => [RegisterWidth::_16; 2],
        VaryingTextureRegisterWidth::_32 | VaryingTextureRegisterWidth::_32_32 => [RegisterWidth::_32; 2],
        VaryingTextureRegisterWidth::_16_32 => [RegisterWidth::_16, RegisterWidth::_32],
    }
}

/// Where the coordinates of a fused instruction come from.
#[derive(Clone, Copy, Debug)]
pub(in crate::valhall) struct VaryingQuery {
    /// The byte of the buffer or the handle.
    pub source: Source,
    /// Whether it is a handle.
    pub table: bool,
    pub how: Interpolation,
}

/// What one lane looks up.
#[derive(Clone, Copy, Debug, Default)]
struct Arguments {
    /// Coordinates; the bits of f32 or whole numbers.
    at: [u32; 3],
    face: u32,
    layer: i32,
    reference: Option<f32>,
    offset: [i32; 3],
    /// The highest byte of the offset word.
    level: u32,
    /// The last word.
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
            // The nearest; numbers that are none saturate or become 0.
            let nearest = (f32::from_bits(layer) + 0.5).floor() as i32;
            read.layer = if query.lods == Lods::Fetch { layer as i32 } else { nearest };
        }
        if query.shadow {
            read.reference = Some(f32::from_bits(next()));
        }
        if query.offset {
            let [x, y, z, level] = next().to_le_bytes();
            read.offset = [x, y, z].map(|byte| (byte as i8).into());
            read.level = level.into();
        }
        read.lod = f32::from(next() as i16) / 256.0;
        read
    }

    fn place(&self) -> [f32; 3] {
        self.at.map(f32::from_bits)
    }
}

impl Step<'_> {
    /// Looks one or two textures up with the coordinates in a list of registers.
    pub fn texture(
        &mut self,
        query: Query,
        names: [Option<&Column<Names>>; 2],
        list: RegisterList,
        outputs: [Output; 2],
    ) -> Result<Control, Fault> {
        let arguments = std::array::from_fn(|lane| {
            let words: [u32; 8] = self.staged(list, lane);
            Arguments::read(&query, &words)
        });
        self.look_up_all(query, names, &arguments, outputs)
    }

    /// Looks textures up at varyings: two components and what else the look-up needs, three for a cube. There is nothing
    /// to say a level of detail or a bias, so they are 0.
    pub fn varying_texture(
        &mut self,
        query: Query,
        names: [Option<&Column<Names>>; 2],
        from: VaryingQuery,
        outputs: [Output; 2],
    ) -> Result<Control, Fault> {
        let sources = self.word(from.source).map(|word| match from.table {
            true => VaryingSource::Table(Handle::from_word(word)),
            false => VaryingSource::Buffer { byte: word, half: false },
        });
        let spots = self.spots(from.how);
        let coordinates = match query.dimension {
            Dimension::_1d => 1,
            Dimension::_2d => 2,
            Dimension::_3d | Dimension::Cube => 3,
        };
        let count = coordinates + usize::from(query.array) + usize::from(query.shadow);
        let mut arguments = [Arguments::default(); 16];
        for lane in lanes(self.warp.active) {
            let component = |c: usize| self.component(lane, sources[lane], c, spots[lane]);
            let mut words = (0..count).map(component).collect::<Result<Vec<u32>, Fault>>()?;
            if query.dimension == Dimension::Cube {
                let direction = [words[0], words[1], words[2]].map(f32::from_bits);
                let face = cube::face(direction);
                // The direction points at this face, unless it is none.
                let [s, t] = cube::project(face, direction).unwrap_or([0.5; 2]).map(f32::to_bits);
                words.splice(..3, [face << 29 | s & 0x1fff_ffff, t]);
            }
            arguments[lane] = Arguments::read(&query, &words);
        }
        self.look_up_all(query, names, &arguments, outputs)
    }

    fn look_up_all(
        &mut self,
        query: Query,
        names: [Option<&Column<Names>>; 2],
        arguments: &Column<Arguments>,
        outputs: [Output; 2],
    ) -> Result<Control, Fault> {
        for (names, output) in names.into_iter().zip(outputs) {
            if let Some(names) = names {
                self.look_up(query, names, arguments, output)?;
            }
        }
        Ok(Control::Next)
    }

    fn look_up(
        &mut self,
        query: Query,
        names: &Column<Names>,
        arguments: &Column<Arguments>,
        output: Output,
    ) -> Result<(), Fault> {
        for lane in lanes(self.warp.active) {
            let given = &arguments[lane];
            let lookup = Lookup {
                texture: names[lane].texture,
                sampler: names[lane].sampler,
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
                    Lods::Gather { channel, .. } => Request::Gather { channel },
                    Lods::Filter(mode) => Request::Filter(self.lod(mode, arguments, lane)),
                    Lods::Gradient { .. } => Request::Filter(self.lod(LodMode::Computed, arguments, lane)),
                },
            };
            let layout = Layout::texture(output.kind, output.width);
            if let (Lods::Gradient { bias, range }, Request::Filter(lod)) = (query.lods, lookup.request) {
                let level = self.space.host.level_of_detail(&lookup, lod, bias, range).map_err(blame(lane));
                let level = self.excused(lane, level)?;
                self.put_words(output.list, output.first, lane, &[fixed(level), 0]);
                continue;
            }
            let texel = self.excused(lane, self.space.host.look_up(&lookup).map(Some).map_err(blame(lane)))?;
            let texel = texel.unwrap_or(Texel::floats([0.0; 4]));
            let channels = (0..4).filter(|channel| output.mask >> channel & 1 != 0);
            self.put_texel(output.list, output.first, lane, layout, texel, channels);
        }
        Ok(())
    }

    /// The level of detail in one lane.
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
            // The low half of a gradient's first word is the level of detail.
            LodMode::Explicit | LodMode::Grdesc => Lod::Explicit(arguments[lane].lod),
        }
    }

    /// How much the coordinates change between the two lanes of a quad whose numbers differ in `bit`: the one without it
    /// is the left or the lower one. No change where one of them does not take part.
    fn change(&self, arguments: &Column<Arguments>, lane: usize, bit: usize) -> [f32; 3] {
        let (from, to) = (lane & !bit, lane | bit);
        if self.warp.active >> from & self.warp.active >> to & 1 == 0 {
            return [0.0; 3];
        }
        let [from, to] = [&arguments[from], &arguments[to]];
        // Places on other faces count as seen on the plane of this one.
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

/// A level of detail as a signed number with 8 bits behind the point, in the low half of a word.
fn fixed(level: f32) -> u32 {
    u32::from((level * 256.0).round().clamp(-32768.0, 32767.0) as i16 as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_handles_fit_in_a_word() {
        let names = Names::narrow(0x2001_1801);
        assert_eq!([names.texture, names.sampler], [Handle::new(4, 1), Handle::new(3, 1)]);
        let names = Names::wide(0x0400_0102_0300_0007);
        assert_eq!([names.texture, names.sampler], [Handle::new(4, 0x102), Handle::new(3, 7)]);
    }

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
