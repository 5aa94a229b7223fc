//! Reads a launch file into a drawing. Loads files and checks sizes.

use std::ops::Range;
use std::path::{self, Path, PathBuf};

use isaforge_compiler::diagnostic::{Diagnostic, Diagnostics};
use isaforge_compiler::keys::{FromNode, OneOrMany, Reader};
use isaforge_compiler::source::{Sources, Span, Spanned};
use isaforge_compiler::yaml::Node;
use isaforge_runtime::valhall::host::{
    Blend, Component, Equation, Factor, Operation, Primitive, Resources, Target, Texel, Triangle, Varying, samples,
};
use isaforge_runtime::{Deadline, Launch};

use super::launch::{BlendContent, ChannelName, DrawLaunch, PrimitiveName, TargetContent, VaryingContent};
use super::primitives::{Drawn, primitives};
use crate::run::buffers::Buffers;
use crate::run::launch::{Float, Output};
use crate::run::launched::Launched;
use crate::run::program;
use crate::run::valhall::resources::{self, colour, floats, format, mistake};

/// The values of a varying.
#[derive(Clone, Debug)]
pub enum Source {
    /// The same everywhere.
    Flat(Vec<u32>),
    /// Values at three corners of the picture.
    Corners(Vec<Vec<f32>>),
    /// Values at the vertices.
    Vertices(Vec<Vec<f32>>),
}

impl Source {
    /// The number of its components, of four bytes each.
    fn components(&self) -> usize {
        match self {
            Source::Flat(words) => words.len(),
            Source::Corners(values) | Source::Vertices(values) => values.first().map_or(0, Vec::len),
        }
    }
}

/// A drawing that can be run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The words of the program.
    pub program: Vec<u64>,
    /// The uniform words.
    pub uniforms: Vec<u32>,
    /// Width and height.
    pub size: [u32; 2],
    /// The primitives; empty to draw the whole picture.
    pub primitives: Vec<Drawn>,
    /// The byte offsets and values of the varyings.
    pub varyings: Vec<(u32, Source)>,
    /// Textures and targets.
    pub resources: Resources,
    /// The files of the targets.
    pub files: Vec<PathBuf>,
    /// The memory.
    pub buffers: Buffers,
    /// The outputs to produce after the run.
    pub outputs: Vec<Output>,
    /// The folder to which paths are relative.
    pub folder: PathBuf,
    /// The maximum number of instructions.
    pub budget: u64,
    /// The time limit.
    pub deadline: Deadline,
}

impl Plan {
    /// The varyings of a primitive, or of the whole picture.
    pub fn varyings(&self, drawn: Option<&Drawn>) -> Vec<Varying> {
        let [width, height] = self.size.map(|n| n as f32);
        let picture = Primitive::Triangle(Triangle([[0.0, 0.0], [width, 0.0], [0.0, height]]));
        let whole = Drawn { primitive: picture, vertices: [0, 1, 2] };
        let components = |at: &[Vec<f32>], drawn: &Drawn| {
            let count = at.first().map_or(0, Vec::len);
            let value = |vertex: usize, c: usize| {
                let values = at.get(drawn.vertices[vertex]);
                values.and_then(|values| values.get(c)).copied().unwrap_or(0.0)
            };
            (0..count).map(|c| drawn.primitive.component(|vertex| value(vertex, c))).collect::<Vec<_>>()
        };
        let of = |source: &Source| match source {
            Source::Flat(words) => words.iter().map(|&word| Component::Flat(word)).collect(),
            Source::Corners(values) => components(values, &whole),
            Source::Vertices(values) => components(values, drawn.unwrap_or(&whole)),
        };
        let varying = |(offset, source): &(u32, Source)| Varying { offset: *offset, components: of(source) };
        self.varyings.iter().map(varying).collect()
    }
}

/// Reads a launch file in `folder` from YAML. `None` after errors, which are in `out`.
pub fn read(node: &Node, folder: &Path, sources: &mut Sources, out: &mut Diagnostics) -> Option<Box<dyn Launched>> {
    let launch = DrawLaunch::from_node(node, &mut Reader { sources, out })?;
    let program = program::load_words(isaforge_valhall::ISA, &launch.program, folder, sources, out);
    let size = size(&launch.size, out);
    let name = launch.primitive.as_ref().map_or(PrimitiveName::Triangles, |name| name.value);
    if let Some(given) = launch.primitive.as_ref().filter(|_| launch.vertices.is_none()) {
        mistake(given.span, "a primitive has `vertices`, but there are none", out);
    }
    if let Some(given) = launch.point_size.as_ref().filter(|_| name != PrimitiveName::Points) {
        mistake(given.span, "only `primitive: points` has a `point size`", out);
    }
    let primitives = launch
        .vertices
        .as_ref()
        .map_or(Vec::new(), |vertices| primitives(vertices, name, launch.point_size.as_ref(), out));
    let vertices = launch.vertices.as_ref().map_or(0, |vertices| vertices.len());
    let samples = launch.samples.as_ref().map_or(1, |samples| samples.value);
    if let Some(given) = launch.samples.as_ref().filter(|_| samples::places(samples).is_none()) {
        mistake(given.span, format!("a pixel has 1, 2, 4, 8 or 16 samples, not {samples}"), out);
        return None;
    }
    let given = launch.varyings.unwrap_or_default();
    let varyings = varyings(&given, vertices, out);
    let buffers = Buffers::read(launch.buffers.as_deref().map_or(&[], Vec::as_slice), folder, out);
    let mut resources = resources::read(
        launch.textures.as_deref().unwrap_or_default(),
        launch.images.as_deref().unwrap_or_default(),
        launch.uniform_buffers.as_deref().unwrap_or_default(),
        &buffers,
        folder,
        out,
    );
    if launch.targets.is_empty() || launch.targets.len() > 8 {
        let message = format!("a program draws on one to eight targets, not {}", launch.targets.len());
        out.push(Diagnostic::error("L0003", launch.targets.span, message));
    }
    let pixels = size.map_or(0, |size| size.iter().map(|&n| u64::from(n)).product::<u64>());
    if pixels.saturating_mul(launch.targets.len() as u64).saturating_mul(samples.into()) > Target::MAX_PIXELS {
        let most = Target::MAX_PIXELS;
        mistake(
            launch.size.span,
            format!("all targets together have at most {most} pixels, every sample counted"),
            out,
        );
        return None;
    }
    for content in launch.targets.iter().take(8) {
        resources.targets.push(size.and_then(|size| target(content, size, samples, launch.size.span, out)));
    }
    let uniforms = buffers.uniforms(launch.uniforms.as_ref(), out);
    let outputs = launch.outputs.unwrap_or_default();
    for output in &outputs {
        buffers.check_output(output, out);
    }
    let files = files(&launch.targets, folder, out);
    if out.has_errors() {
        return None;
    }
    let plan = Plan {
        program: program?,
        uniforms,
        size: size?,
        primitives,
        varyings,
        resources,
        files,
        buffers,
        outputs,
        folder: folder.to_owned(),
        budget: launch.budget.unwrap_or(Launch::DEFAULT_BUDGET),
        deadline: Deadline::NONE,
    };
    Some(Box::new(plan))
}

fn size(given: &Spanned<Vec<u32>>, out: &mut Diagnostics) -> Option<[u32; 2]> {
    let &[width, height] = given.as_slice() else {
        mistake(given.span, format!("a size is a width and a height, not {} numbers", given.len()), out);
        return None;
    };
    Some([width, height])
}

/// The files of targets, each of which has its own.
fn files(targets: &[TargetContent], folder: &Path, out: &mut Diagnostics) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    for target in targets {
        let file = folder.join(&target.file.value);
        // `./a` is `a`.
        let file = file.components().filter(|part| *part != path::Component::CurDir).collect();
        if let Some(other) = files.iter().position(|known| *known == file) {
            let error = Diagnostic::error("L0003", target.file.span, "two targets have the same file");
            out.push(error.label("this one").secondary(targets[other].file.span, "and this one"));
        }
        files.push(file);
    }
    files
}

/// The byte offsets and values of varyings.
fn varyings(given: &[VaryingContent], vertices: usize, out: &mut Diagnostics) -> Vec<(u32, Source)> {
    let mut taken: Vec<(Range<u64>, Span)> = Vec::new();
    let mut varyings = Vec::new();
    for varying in given {
        let Some(source) = source(varying, vertices, out) else { continue };
        let (offset, components) = (u64::from(varying.offset.value), source.components() as u64);
        let (bytes, span) = (offset..offset + 4 * components, varying.offset.span);
        if offset % 4 != 0 || bytes.end > 1 << 32 {
            mistake(span, "the offset of a varying is a multiple of 4, and all of it has offsets below 2^32", out);
        }
        let overlaps = |(other, _): &&(Range<u64>, Span)| bytes.start < other.end && other.start < bytes.end;
        if let Some((_, other)) = taken.iter().find(overlaps) {
            let error = Diagnostic::error("L0003", span, "two varyings overlap").label("this one");
            out.push(error.secondary(*other, "and this one"));
        }
        taken.push((bytes, span));
        varyings.push((varying.offset.value, source));
    }
    varyings
}

fn source(given: &VaryingContent, vertices: usize, out: &mut Diagnostics) -> Option<Source> {
    let lists = |list: &Spanned<Vec<OneOrMany<Float>>>, wanted: usize, out: &mut Diagnostics| {
        let values: Vec<Vec<f32>> = list.iter().map(|values| floats(values)).collect();
        let count = values.first().map_or(0, Vec::len);
        if values.len() != wanted || values.iter().any(|values| values.len() != count) {
            mistake(list.span, format!("{wanted} values are needed, all with the same number of components"), out);
        }
        values
    };
    match (&given.flat, &given.corners, &given.values) {
        (Some(words), None, None) => Some(Source::Flat(words.iter().map(|word| word.0).collect())),
        (None, Some(corners), None) => Some(Source::Corners(lists(corners, 3, out))),
        (None, None, Some(values)) if vertices > 0 => Some(Source::Vertices(lists(values, vertices, out))),
        (None, None, Some(values)) => {
            mistake(values.span, "values belong to `vertices`, but there are none", out);
            None
        }
        _ => {
            mistake(given.span, "a varying needs one of `corners`, `values` and `flat`", out);
            None
        }
    }
}

fn target(given: &TargetContent, size: [u32; 2], samples: u32, span: Span, out: &mut Diagnostics) -> Option<Target> {
    let format = format(given.format.as_ref(), out)?;
    let clear = colour(given.clear.as_ref(), out)?;
    let blend = match &given.blend {
        Some(given) => Some(blend(given, out)?),
        None => None,
    };
    let mut target = Target::multisampled(format, size, samples, Texel::floats(clear));
    if let Some(target) = &mut target {
        target.blend = blend;
        if let Some(channels) = &given.write {
            let all = [ChannelName::Red, ChannelName::Green, ChannelName::Blue, ChannelName::Alpha];
            target.write = all.map(|channel| channels.contains(&channel));
        }
    } else {
        mistake(span, format!("a picture has 1 to {} pixels", Target::MAX_PIXELS), out);
    }
    target
}

fn blend(given: &BlendContent, out: &mut Diagnostics) -> Option<Blend> {
    // The default is blending over the existing colour.
    let over = Equation { operation: Operation::Add, source: Factor::SrcAlpha, destination: Factor::OneMinusSrcAlpha };
    let colours = equation(over, [&given.operation, &given.source, &given.destination], out)?;
    let alpha = match &given.alpha {
        Some(alpha) => equation(colours, [&alpha.operation, &alpha.source, &alpha.destination], out)?,
        None => colours,
    };
    Some(Blend { colour: colours, alpha, constant: colour(given.constant.as_ref(), out)? })
}

/// Replaces the given parts of a blend equation: operation, source factor, destination factor.
fn equation(
    other: Equation,
    [operation, source, destination]: [&Option<Spanned<String>>; 3],
    out: &mut Diagnostics,
) -> Option<Equation> {
    Some(Equation {
        operation: named(operation, other.operation, Operation::parse, Operation::NAMES, out)?,
        source: named(source, other.source, Factor::parse, Factor::NAMES, out)?,
        destination: named(destination, other.destination, Factor::parse, Factor::NAMES, out)?,
    })
}

fn named<T>(
    given: &Option<Spanned<String>>,
    default: T,
    parse: fn(&str) -> Option<T>,
    names: &[&str],
    out: &mut Diagnostics,
) -> Option<T> {
    let Some(name) = given else { return Some(default) };
    let found = parse(&name.value);
    if found.is_none() {
        let error = Diagnostic::error("L0003", name.span, format!("nothing is blended by `{}`", name.value));
        out.push(error.help(format!("one of {}", names.join(", "))));
    }
    found
}
