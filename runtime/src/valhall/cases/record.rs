//! The format of recorded cases: JSON, with hexadecimal numbers whose most significant digit is first.

use serde::Deserialize;

use super::error::CaseError;
use crate::valhall::host::{Class, Compare, Filter, Format, Sampler, Shape, Storage, Texture, Wrap};

/// Bytes for the position and the varyings of a vertex.
pub(super) const BLOCK: usize = 1024;

/// A program with everything that it needs to run, and the expected results.
#[derive(Debug, Deserialize)]
pub(super) struct Record {
    pub name: String,
    pub stage: Stage,
    pub words: Vec<String>,
    pub fau: Vec<String>,
    #[serde(default)]
    pub ubos: Vec<Uniforms>,
    #[serde(default)]
    pub textures: Vec<TextureRecord>,
    #[serde(default)]
    pub images: Vec<ImageRecord>,
    #[serde(default)]
    pub buffers: Vec<BufferRecord>,
    #[serde(default)]
    pub tolerance: f64,
    #[serde(default)]
    pub exclude_pixels: Vec<usize>,
    #[serde(default)]
    pub max_bad_pixels: usize,
    #[serde(default)]
    pub expected: Expected,

    // Compute.
    #[serde(default = "ones")]
    pub local_size: [u32; 3],
    #[serde(default = "ones")]
    pub groups: [u32; 3],
    #[serde(default)]
    pub shared_bytes: u32,

    // Fragments.
    #[serde(default)]
    pub width: u32,
    #[serde(default)]
    pub height: u32,
    #[serde(default)]
    pub varyings: Vec<VaryingRecord>,
    #[serde(default)]
    pub coverage: Vec<String>,
    #[serde(default)]
    pub front_facing: Vec<String>,
    #[serde(default)]
    pub frag_z: Vec<String>,
    pub frag_w: Option<f32>,

    // Vertices.
    #[serde(default)]
    pub vertex_count: u32,
    #[serde(default)]
    pub position_start: u32,
    pub varying_start: Option<u32>,
    #[serde(default)]
    pub attributes: Vec<AttributeRecord>,
}

impl Record {
    /// Whether it expects any results.
    pub fn expects(&self) -> bool {
        let Expected { rts, depth, screen_position, varyings } = &self.expected;
        let drawn = !rts.is_empty() || depth.is_some() || !screen_position.is_empty() || !varyings.is_empty();
        let stored = self.buffers.iter().any(|buffer| !buffer.expected.is_empty());
        drawn || stored || self.images.iter().any(|image| image.expected.is_some())
    }
}

fn ones() -> [u32; 3] {
    [1; 3]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Stage {
    Compute,
    Fragment,
    Vertex,
}

#[derive(Debug, Deserialize)]
pub(super) struct Uniforms {
    pub table: u8,
    pub index: u32,
    pub words: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct TextureRecord {
    pub name: String,
    pub dim: String,
    pub size: [u32; 3],
    pub format: String,
    pub data: Vec<String>,
    pub table: u8,
    pub index: u32,
    pub sampler: Option<SamplerRecord>,
}

#[derive(Debug, Deserialize)]
pub(super) struct SamplerRecord {
    pub table: u8,
    pub index: u32,
    pub min: String,
    pub mag: String,
    pub mip: Option<String>,
    pub wrap_s: String,
    pub wrap_t: Option<String>,
    pub wrap_r: Option<String>,
    pub compare: Option<String>,
    #[serde(default)]
    pub lod_bias: f32,
    pub min_lod: Option<f32>,
    pub max_lod: Option<f32>,
    /// The border colour: red, green, blue and alpha, as numbers of the texture's class.
    #[serde(default)]
    pub border: [f64; 4],
}

#[derive(Debug, Deserialize)]
pub(super) struct ImageRecord {
    pub name: String,
    pub size: [u32; 3],
    pub format: String,
    pub data: Vec<String>,
    pub table: u8,
    pub index: u32,
    pub expected: Option<OneOrMore>,
}

/// The only level, or a list of all levels.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl OneOrMore {
    pub fn first(&self) -> Option<&str> {
        match self {
            OneOrMore::One(only) => Some(only),
            OneOrMore::More(all) => all.first().map(String::as_str),
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct BufferRecord {
    pub base: String,
    pub words: Vec<String>,
    #[serde(default)]
    pub expected: Vec<String>,
    #[serde(default)]
    pub ignore_words: Vec<usize>,
}

#[derive(Debug, Deserialize)]
pub(super) struct VaryingRecord {
    pub components: usize,
    pub interpolation: String,
    pub offset: u32,
    #[serde(default)]
    pub first_component: u32,
    pub per_pixel: Vec<String>,
    pub affine: Option<Affine>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Affine {
    pub at_window_origin: Vec<f32>,
    pub per_pixel_x: Vec<f32>,
    pub per_pixel_y: Vec<f32>,
}

#[derive(Debug, Deserialize)]
pub(super) struct AttributeRecord {
    pub table: u8,
    pub index: u32,
    pub components: usize,
    #[serde(rename = "type")]
    pub kind: String,
    pub rows: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Expected {
    #[serde(default)]
    pub rts: Vec<TargetRecord>,
    pub depth: Option<DepthRecord>,
    #[serde(default)]
    pub screen_position: Vec<String>,
    #[serde(default)]
    pub varyings: Vec<VertexVarying>,
}

#[derive(Debug, Deserialize)]
pub(super) struct TargetRecord {
    pub target: u32,
    pub format: String,
    pub clear: String,
    pub rows: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct DepthRecord {
    pub clear: f32,
    pub rows: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct VertexVarying {
    pub name: String,
    pub components: usize,
    #[serde(rename = "type")]
    pub kind: String,
    pub offset: u32,
    pub rows: Vec<String>,
}

/// Parses the words of a list.
pub(super) fn words<T>(texts: &[String], digits: usize, from: impl Fn(u64) -> T) -> Result<Vec<T>, CaseError> {
    texts.iter().map(|text| word(text, digits).map(&from)).collect()
}

fn word(text: &str, digits: usize) -> Result<u64, CaseError> {
    let valid = text.len() <= digits && !text.starts_with('+');
    let parsed = valid.then(|| u64::from_str_radix(text, 16).ok()).flatten();
    parsed.ok_or_else(|| CaseError::Shape(format!("`{}` is not a word of {digits} digits", start(text))))
}

/// Parses 32-bit words without separators.
pub(super) fn packed(text: &str, count: usize) -> Result<Vec<u32>, CaseError> {
    if count.checked_mul(8) != Some(text.len()) || !text.is_ascii() {
        return Err(CaseError::Shape(format!("`{}` is not {count} words of 8 digits", start(text))));
    }
    let part = |at: usize| word(&text[8 * at..8 * at + 8], 8).map(|word| word as u32);
    (0..count).map(part).collect()
}

/// Parses rows of words, which form a picture.
pub(super) fn rows(texts: &[String], height: usize, words: usize) -> Result<Vec<u32>, CaseError> {
    if texts.len() != height {
        return Err(CaseError::Shape(format!("{} rows are given, not {height}", texts.len())));
    }
    let rows: Vec<Vec<u32>> = texts.iter().map(|row| packed(row, words)).collect::<Result<_, _>>()?;
    Ok(rows.concat())
}

/// Checks the number of components of a varying or an attribute.
pub(super) fn components(count: usize) -> Result<usize, CaseError> {
    match count {
        1..=4 => Ok(count),
        _ => Err(CaseError::Shape(format!("1 to 4 components are possible, not {count}"))),
    }
}

/// Parses rows of digits, where 1 means true. Without rows, all flags are true.
pub(super) fn flags(texts: &[String], width: usize, height: usize) -> Result<Vec<bool>, CaseError> {
    if texts.is_empty() {
        return Ok(vec![true; width * height]);
    }
    if texts.len() != height || texts.iter().any(|row| row.len() != width) {
        return Err(CaseError::Shape(format!("a row of flags is missing, or does not have {width} digits")));
    }
    Ok(texts.iter().flat_map(|row| row.bytes().map(|flag| flag == b'1')).collect())
}

/// Parses bytes in memory order.
pub(super) fn bytes(text: &str) -> Result<Vec<u8>, CaseError> {
    let wrong = || CaseError::Shape(format!("`{}` is not a list of bytes", start(text)));
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return Err(wrong());
    }
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).map_err(|_| wrong());
    (0..text.len()).step_by(2).map(byte).collect()
}

/// The beginning of a text, for messages.
fn start(text: &str) -> String {
    text.chars().take(20).collect()
}

pub(super) fn address(text: &str) -> Result<u64, CaseError> {
    word(text.trim_start_matches("0x"), 16)
}

pub(super) fn format(name: &str) -> Result<Format, CaseError> {
    let known = "formats have names like `RGBA8`, `RG16F`, `R32UI`, `SRGB8_ALPHA8`, `RGB10_A2` and `D32F`";
    Format::parse(name).ok_or_else(|| CaseError::Shape(format!("`{name}` is not a format; {known}")))
}

impl TextureRecord {
    pub fn texture(&self) -> Result<Texture, CaseError> {
        let [width, height, depth] = self.size;
        let (shape, size, layers) = match self.dim.as_str() {
            "1d" | "buffer" => (Shape::One, [width, 1, 1], 1),
            "1darray" => (Shape::One, [width, 1, 1], height.max(depth)),
            "2d" => (Shape::Two, [width, height, 1], 1),
            "2darray" => (Shape::Two, [width, height, 1], depth),
            "3d" => (Shape::Three, [width, height, depth], 1),
            "cube" | "cubearray" => (Shape::Cube, [width, height, 1], depth),
            other => {
                let kinds = "1d, 1darray, 2d, 2darray, 3d, cube, cubearray, buffer";
                return Err(CaseError::Shape(format!("`{other}` is not a kind of texture; there are {kinds}")));
            }
        };
        let levels = self.data.iter().map(|level| bytes(level)).collect::<Result<_, _>>()?;
        let storage = match Storage::parse(&self.format) {
            Some(storage) => storage,
            None => format(&self.format)?.into(),
        };
        Texture::new(shape, size, layers, storage, levels)
            .map_err(|error| CaseError::Shape(format!("texture `{}`: {error}", self.name)))
    }
}

impl SamplerRecord {
    /// Returns the sampler for a texture whose channels have this class.
    pub fn sampler(&self, class: Class) -> Result<Sampler, CaseError> {
        let border = |&number: &f64| match class {
            Class::Float => (number as f32).to_bits(),
            Class::Unsigned => number as u32,
            Class::Signed => number as i32 as u32,
        };
        let [least, greatest] = Sampler::default().lod_range;
        let wrap_s = wrap(&self.wrap_s)?;
        // A missing wrap mode is that of s.
        let other = |name: &Option<String>| name.as_ref().map_or(Ok(wrap_s), |name| wrap(name));
        let [wrap_t, wrap_r] = [other(&self.wrap_t)?, other(&self.wrap_r)?];
        Ok(Sampler {
            min: filter(&self.min)?,
            mag: filter(&self.mag)?,
            mip: self.mip.as_ref().map(|name| filter(name)).transpose()?,
            wrap: [wrap_s, wrap_t, wrap_r],
            compare: self.compare.as_ref().map(|name| compare(name)).transpose()?,
            lod_bias: self.lod_bias,
            lod_range: [self.min_lod.unwrap_or(least), self.max_lod.unwrap_or(greatest)],
            border: self.border.each_ref().map(border),
        })
    }
}

fn one_of<T: Copy>(name: &str, known: &[(&str, T)]) -> Result<T, CaseError> {
    let found = known.iter().find(|(known, _)| *known == name);
    let names = || known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let missing = || CaseError::Shape(format!("a sampler has no `{name}`; there are {}", names()));
    found.map(|&(_, value)| value).ok_or_else(missing)
}

fn filter(name: &str) -> Result<Filter, CaseError> {
    one_of(name, &[("nearest", Filter::Nearest), ("linear", Filter::Linear)])
}

fn wrap(name: &str) -> Result<Wrap, CaseError> {
    let known = [
        ("clamp", Wrap::Clamp),
        ("clamp_to_edge", Wrap::Clamp),
        ("repeat", Wrap::Repeat),
        ("mirror", Wrap::Mirror),
        ("mirrored_repeat", Wrap::Mirror),
        ("mirror_clamp", Wrap::MirrorOnce),
        ("mirror_clamp_to_edge", Wrap::MirrorOnce),
        ("border", Wrap::Border),
        ("clamp_to_border", Wrap::Border),
    ];
    one_of(name, &known)
}

fn compare(name: &str) -> Result<Compare, CaseError> {
    let known = [
        ("never", Compare::Never),
        ("less", Compare::Less),
        ("equal", Compare::Equal),
        ("lequal", Compare::LessEqual),
        ("greater", Compare::Greater),
        ("notequal", Compare::NotEqual),
        ("gequal", Compare::GreaterEqual),
        ("always", Compare::Always),
    ];
    one_of(name, &known)
}

/// Returns the class of the numbers of an attribute or a varying: `f32`, `s32`, `u32`, their first letters, or a GLSL
/// type.
pub(super) fn class(kind: &str) -> Result<Class, CaseError> {
    match kind.bytes().next() {
        Some(b'f' | b'v') => Ok(Class::Float),
        Some(b'u') => Ok(Class::Unsigned),
        Some(b's' | b'i') => Ok(Class::Signed),
        _ => Err(CaseError::Shape(format!("`{kind}` is not a kind of number"))),
    }
}
