//! Resources that programs name by table and index: textures with samplers, images, uniform buffers.

pub mod launch;

use std::path::Path;

use isaforge_compiler::diagnostic::{Diagnostic, Diagnostics};
use isaforge_compiler::source::{Span, Spanned};
use isaforge_runtime::valhall::host::{
    Blocks, Buffer, Compare, Filter, Format, Handle, Image, Resources, Sampler, Shape, Storage, Texel, Texture, Wrap,
    table,
};

use self::launch::{CompareName, FilterName, ImageContent, ShapeName, TextureContent, WrapName};
use crate::picture::read_png;
use crate::run::buffers::{Buffers, read_file};
use crate::run::launch::Float;

/// Fills the resource tables from a launch file in `folder`, in the layout of Mesa's OpenGL driver. Errors are in
/// `out`.
pub fn read(
    textures: &[TextureContent],
    images: &[ImageContent],
    uniform_buffers: &[Spanned<String>],
    buffers: &Buffers,
    folder: &Path,
    out: &mut Diagnostics,
) -> Resources {
    let mut resources = Resources::default();
    for (index, content) in (0..).zip(textures) {
        let Some((texture, sampler)) = texture(content, folder, out) else { continue };
        resources.textures.insert(Handle::new(table::TEXTURES, index), texture);
        resources.samplers.insert(Handle::new(table::SAMPLERS, index), sampler);
    }
    for (index, content) in (0..).zip(images) {
        let Some(image) = image(content, buffers, out) else { continue };
        resources.images.insert(Handle::new(table::IMAGES, index), image);
    }
    for (index, name) in (0..).zip(uniform_buffers) {
        let Some((address, len)) = buffers.find(name, out) else { continue };
        resources.buffers.insert(Handle::new(table::UNIFORMS, index), Buffer { address, len, stride: 0 });
    }
    resources
}

/// Reports an error.
pub fn mistake(span: Span, message: impl Into<String>, out: &mut Diagnostics) {
    out.push(Diagnostic::error("L0003", span, message));
}

/// The values of a list.
pub fn floats(given: &[Float]) -> Vec<f32> {
    given.iter().map(|float| float.0).collect()
}

/// Finds a format by name; `RGBA8` if none is given.
pub fn format(given: Option<&Spanned<String>>, out: &mut Diagnostics) -> Option<Format> {
    let Some(name) = given else { return Some(Format::RGBA8) };
    let format = Format::parse(name);
    if format.is_none() && Blocks::parse(name).is_some() {
        let error = Diagnostic::error("L0003", name.span, format!("`{}` is compressed", name.value));
        out.push(error.help("only textures are; what is written to needs a format like `RGBA8`"));
    } else if format.is_none() {
        unknown_format(name, out);
    }
    format
}

/// Finds the format of a texture, which may be compressed; `RGBA8` if none is given.
fn storage(given: Option<&Spanned<String>>, out: &mut Diagnostics) -> Option<Storage> {
    let Some(name) = given else { return Some(Format::RGBA8.into()) };
    let storage = Storage::parse(name);
    if storage.is_none() {
        unknown_format(name, out);
    }
    storage
}

fn unknown_format(name: &Spanned<String>, out: &mut Diagnostics) {
    let error = Diagnostic::error("L0003", name.span, format!("`{}` is not a format", name.value));
    out.push(error.help(
        "formats have names like `RGBA8`, `RG16F`, `R32UI` and `SRGB8_ALPHA8`, those of textures also like `BC7`, `RGB8_ETC2` \
         and `RGBA_ASTC_6x6`",
    ));
}

/// Reads four numbers; zeros if none are given.
pub fn colour(given: Option<&Spanned<Vec<Float>>>, out: &mut Diagnostics) -> Option<[f32; 4]> {
    let Some(given) = given else { return Some([0.0; 4]) };
    let channels = <[f32; 4]>::try_from(floats(given));
    channels.map_err(|_| mistake(given.span, "a colour has four numbers: red, green, blue, opacity", out)).ok()
}

fn image(given: &ImageContent, buffers: &Buffers, out: &mut Diagnostics) -> Option<Image> {
    let format = format(given.format.as_ref(), out)?;
    let (address, len) = buffers.find(&given.buffer, out)?;
    if given.size.is_empty() || given.size.len() > 3 {
        mistake(given.size.span, format!("a size has one to three numbers, not {}", given.size.len()), out);
        return None;
    }
    let number = |axis: usize| given.size.get(axis).copied().unwrap_or(1);
    let size = [number(0), number(1), number(2)];
    let texels = size.iter().map(|&n| u64::from(n)).fold(1, u64::saturating_mul);
    let needs = texels.saturating_mul(format.size() as u64);
    if needs > len {
        let error =
            Diagnostic::error("L0003", given.size.span, format!("the image needs {needs} bytes, the buffer has {len}"));
        out.push(error.secondary(given.buffer.span, "this buffer"));
        return None;
    }
    Some(Image { address, size, format })
}

/// The signature of PNG files.
const PNG: &[u8] = b"\x89PNG";

/// Reads a texture and its sampler. `None` after errors, which are in `out`.
fn texture(given: &TextureContent, folder: &Path, out: &mut Diagnostics) -> Option<(Texture, Sampler)> {
    let storage = storage(given.format.as_ref(), out)?;
    let shape = given.shape.unwrap_or(ShapeName::Two);
    let (size, bytes) = match (&given.file, &given.words) {
        (Some(file), None) => {
            let bytes = content(file, folder, out)?;
            match &given.format {
                Some(name) if bytes.starts_with(PNG) && matches!(storage, Storage::Blocks(_)) => {
                    mistake(name.span, "the texels of a PNG file are not compressed in blocks", out);
                    return None;
                }
                // Texels in their memory layout have a size.
                _ if bytes.starts_with(PNG) || (given.size.is_none() && is_named_png(file)) => {
                    picture(file, &bytes, out)?
                }
                _ => (size(given, shape, out)?, bytes),
            }
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
    if let Some(given) = given.levels.as_ref().filter(|_| levels == 0) {
        mistake(given.span, "a texture has at least one level", out);
        return None;
    }
    let levels = split(bytes, size, layers, levels, storage);
    let texture = Texture::new(shape, size, layers, storage, levels);
    let texture = texture.map_err(|error| mistake(given.span, error.to_string(), out)).ok()?;
    Some((texture, sampler(given, storage.format(), out)?))
}

fn is_named_png(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png"))
}

fn content(file: &Spanned<String>, folder: &Path, out: &mut Diagnostics) -> Option<Vec<u8>> {
    let path = folder.join(&file.value);
    let report = |error| {
        let message = format!("`{}` cannot be read: {error}", path.display());
        out.push(Diagnostic::error("L0005", file.span, message));
    };
    read_file(&path).map_err(report).ok()
}

/// Decodes a PNG file to its size and texels.
fn picture(file: &Spanned<String>, bytes: &[u8], out: &mut Diagnostics) -> Option<([u32; 3], Vec<u8>)> {
    let report = |error| {
        let message = format!("`{}` is not a valid PNG file: {error}", file.value);
        out.push(Diagnostic::error("L0005", file.span, message));
    };
    let (width, pixels) = read_png(bytes).map_err(report).ok()?;
    Some(([width, pixels.len() as u32 / width.max(1), 1], pixels.concat()))
}

/// Width, height and depth.
fn size(given: &TextureContent, shape: ShapeName, out: &mut Diagnostics) -> Option<[u32; 3]> {
    let Some(size) = &given.size else {
        mistake(given.span, "a texture that is not a PNG file needs a `size`", out);
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

/// Splits the bytes into levels. The last level gets the remainder, so that a wrong total size is noticed.
fn split(mut bytes: Vec<u8>, size: [u32; 3], layers: u32, levels: u32, storage: Storage) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    // A texture has at most as many levels as its size has bits.
    for level in 1..levels.min(33) {
        let size = size.map(|n| (n >> (level - 1)).max(1));
        let len = usize::try_from(storage.size_of(size).saturating_mul(layers.into())).unwrap_or(usize::MAX);
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
            [least, greatest] if least <= greatest => [least, greatest],
            _ => {
                mistake(range.span, "a range of levels has two numbers, the least and the greatest in this order", out);
                return None;
            }
        },
    };
    if let Some(bias) = given.bias.as_ref().filter(|bias| bias.value.0.is_nan()) {
        mistake(bias.span, "a bias is a number", out);
        return None;
    }
    Some(Sampler {
        min: filter,
        mag: filter,
        mip: given.mip.map(self::filter),
        wrap: [wrap; 3],
        compare: given.compare.map(compare),
        lod_bias: given.bias.as_ref().map_or(0.0, |bias| bias.value.0),
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
