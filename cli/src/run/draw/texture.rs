//! Textures and samplers of a launch file that draws.

use std::path::Path;

use isaforge_compiler::diagnostic::{Diagnostic, Diagnostics};
use isaforge_compiler::source::Spanned;
use isaforge_runtime::valhall::host::{Compare, Filter, Format, Sampler, Shape, Texel, Texture, Wrap};

use super::launch::{CompareName, FilterName, ShapeName, TextureContent, WrapName};
use super::plan::{colour, floats, format, mistake};
use crate::picture::read_png;
use crate::run::buffers::read_file;

/// A texture and how it is looked up; `None` after mistakes, which are in `out`.
pub fn read(given: &TextureContent, folder: &Path, out: &mut Diagnostics) -> Option<(Texture, Sampler)> {
    let format = format(given.format.as_ref(), out)?;
    let shape = given.shape.unwrap_or(ShapeName::Two);
    let (size, bytes) = match (&given.file, &given.words) {
        (Some(file), None) => {
            let bytes = content(file, folder, out)?;
            if bytes.starts_with(b"\x89PNG") { picture(file, &bytes, out)? } else { (size(given, shape, out)?, bytes) }
        }
        (None, Some(words)) => {
            let bytes = words.iter().flat_map(|word| word.0.to_le_bytes()).collect();
            (size(given, shape, out)?, bytes)
        }
        _ => {
            mistake(given.span, "a texture needs one of `file` and `words`", out);
            return None;
        }
    };
    let (shape, faces) = match shape {
        ShapeName::One => (Shape::One, 1),
        ShapeName::Two => (Shape::Two, 1),
        ShapeName::Three => (Shape::Three, 1),
        ShapeName::Cube => (Shape::Cube, 6),
    };
    let layers = given.layers.as_ref().map_or(1, |layers| layers.value).saturating_mul(faces);
    let levels = given.levels.as_ref().map_or(1, |levels| levels.value);
    let levels = split(bytes, size, layers, levels, format);
    let texture = Texture::new(shape, size, layers, format, levels);
    let texture = texture.map_err(|error| mistake(given.span, error.to_string(), out)).ok()?;
    Some((texture, sampler(given, format, out)?))
}

fn content(file: &Spanned<String>, folder: &Path, out: &mut Diagnostics) -> Option<Vec<u8>> {
    let path = folder.join(&file.value);
    let report = |error| {
        let message = format!("`{}` cannot be read: {error}", path.display());
        out.push(Diagnostic::error("L0005", file.span, message));
    };
    read_file(&path).map_err(report).ok()
}

/// The size and the texels of a PNG file.
fn picture(file: &Spanned<String>, bytes: &[u8], out: &mut Diagnostics) -> Option<([u32; 3], Vec<u8>)> {
    let report = |error| out.push(Diagnostic::error("L0005", file.span, format!("`{}`: {error}", file.value)));
    let (width, pixels) = read_png(bytes).map_err(report).ok()?;
    Some(([width, pixels.len() as u32 / width.max(1), 1], pixels.concat()))
}

/// Width, height and depth.
fn size(given: &TextureContent, shape: ShapeName, out: &mut Diagnostics) -> Option<[u32; 3]> {
    let Some(size) = &given.size else {
        mistake(given.span, "a texture that is no PNG file needs a `size`", out);
        return None;
    };
    let (count, what) = match shape {
        ShapeName::One => (1, "one number"),
        ShapeName::Two => (2, "a width and a height"),
        ShapeName::Cube => (2, "a width and a height, which are the same"),
        ShapeName::Three => (3, "a width, a height and a depth"),
    };
    if size.len() != count {
        let message = format!("the size of a `{}` texture is {what}, not {} numbers", shape.as_str(), size.len());
        mistake(size.span, message, out);
        return None;
    }
    let number = |axis: usize| size.get(axis).copied().unwrap_or(1);
    Some([number(0), number(1), number(2)])
}

/// The bytes of each level. The last one has all that is left, so that too many or too few are noticed.
fn split(mut bytes: Vec<u8>, size: [u32; 3], layers: u32, levels: u32, format: Format) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    // No texture has more levels than a size has bits.
    for level in 1..levels.min(33) {
        let of = |n: u32| u64::from((n >> (level - 1)).max(1));
        let texels = size.into_iter().map(of).fold(layers.into(), u64::saturating_mul);
        let len = usize::try_from(texels.saturating_mul(format.size() as u64)).unwrap_or(usize::MAX);
        let rest = bytes.split_off(len.min(bytes.len()));
        parts.push(std::mem::replace(&mut bytes, rest));
    }
    parts.push(bytes);
    parts
}

fn sampler(given: &TextureContent, format: Format, out: &mut Diagnostics) -> Option<Sampler> {
    let plain = Sampler::default();
    let filter = given.filter.map_or(plain.min, filter);
    let wrap = match given.wrap.unwrap_or(WrapName::Clamp) {
        WrapName::Clamp => Wrap::Clamp,
        WrapName::Repeat => Wrap::Repeat,
        WrapName::Mirror => Wrap::Mirror,
        WrapName::MirrorOnce => Wrap::MirrorOnce,
        WrapName::Border => Wrap::Border,
    };
    let lod_range = match &given.range {
        None => plain.lod_range,
        Some(range) => match floats(range)[..] {
            [least, greatest] => [least, greatest],
            _ => {
                mistake(range.span, "a range of levels has two numbers, the least and the greatest", out);
                return None;
            }
        },
    };
    Some(Sampler {
        min: filter,
        mag: filter,
        mip: given.mip.map(self::filter),
        wrap: [wrap; 3],
        compare: given.compare.map(compare),
        lod_bias: given.bias.map_or(0.0, |bias| bias.0),
        lod_range,
        border: Texel::floats(colour(given.border.as_ref(), out)?).to(format.class()).channels,
    })
}

fn filter(name: FilterName) -> Filter {
    match name {
        FilterName::Nearest => Filter::Nearest,
        FilterName::Linear => Filter::Linear,
    }
}

fn compare(name: CompareName) -> Compare {
    match name {
        CompareName::Never => Compare::Never,
        CompareName::Less => Compare::Less,
        CompareName::Equal => Compare::Equal,
        CompareName::LessEqual => Compare::LessEqual,
        CompareName::Greater => Compare::Greater,
        CompareName::NotEqual => Compare::NotEqual,
        CompareName::GreaterEqual => Compare::GreaterEqual,
        CompareName::Always => Compare::Always,
    }
}
