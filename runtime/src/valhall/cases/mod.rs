//! Recorded cases: compute, fragment and vertex programs with their expected buffers and pictures.

mod compare;
mod error;
mod record;

use super::host::{
    Attribute, Between, Buffer, Class, Component, Format, Handle, Image, Plane, Resources, Target, Texel, Varying,
};
use super::observe::Observer;
use super::{Fragments, Vertices};
use crate::engine::Execution;
use crate::memory::Memory;
use crate::valhall::compute::run_with;
use crate::valhall::launch::{Launch, check_limit};
pub use error::CaseError;
use record::{BLOCK, Record, Stage, address, bytes, class, components, flags, format, packed, rows, words};

/// The number of instructions after which a program is assumed to loop forever.
const BUDGET: u64 = 200_000_000;
/// The first addresses of images, uniform buffers, attributes and the blocks of vertices.
const PLACES: [u64; 4] = [1 << 44, 2 << 44, 3 << 44, 4 << 44];
/// The distance between the addresses of resources.
const STEP: u64 = 1 << 32;
/// The number of blocks after a vertex's block that programs may still write.
const BLOCKS_AFTER: usize = 4;
/// The table and index of the blocks.
const BLOCKS: Handle = Handle { table: 61, index: 0 };

/// A recorded case.
#[derive(Debug)]
pub struct Case {
    record: Record,
}

/// A case after its run.
#[derive(Debug)]
pub struct Finished {
    /// Its name.
    pub name: String,
    /// The pictures that it has drawn, with the names of their targets or images.
    pub pictures: Vec<(String, Target)>,
    /// The number of thread instructions executed.
    pub instructions: u64,
    /// The differences from the expected results; empty when the case passes.
    pub problems: Vec<String>,
}

impl Finished {
    /// Reads a case from JSON, runs it and compares the results.
    ///
    /// # Errors
    /// When it is not a case, or cannot be run.
    pub fn of(text: &str) -> Result<Finished, CaseError> {
        Case::read(text)?.run(())
    }
}

impl Case {
    /// Reads a case from JSON.
    ///
    /// # Errors
    /// When it is not a case.
    pub fn read(text: &str) -> Result<Case, CaseError> {
        serde_json::from_str(text).map(|record| Case { record }).map_err(|error| CaseError::Json(error.to_string()))
    }

    /// Returns the words of its program.
    ///
    /// # Errors
    /// When they are not words.
    pub fn program(&self) -> Result<Vec<u64>, CaseError> {
        words(&self.record.words, 16, |word| word)
    }

    /// The numbers of workgroups in x, y and z, and of threads of a workgroup, for a compute program.
    pub fn grid(&self) -> [[u32; 3]; 2] {
        [self.record.groups, self.record.local_size]
    }

    /// Runs the case with an observer, and compares the results.
    ///
    /// # Errors
    /// When it cannot be run, or the observer stops it.
    pub fn run<O: Observer>(&self, observer: O) -> Result<Finished, CaseError> {
        self.run_by(if O::WATCHES { By::Reference(observer) } else { By::Engine(Execution::best()) })
    }

    /// Runs the case by an engine, and compares the results.
    ///
    /// # Errors
    /// When it cannot be run.
    pub fn run_on(&self, execution: Execution) -> Result<Finished, CaseError> {
        self.run_by(By::<()>::Engine(execution))
    }

    fn run_by(&self, by: By<impl Observer>) -> Result<Finished, CaseError> {
        let record = &self.record;
        if !record.expects() {
            return Err(CaseError::Shape("the case has no expected results".to_owned()));
        }
        let mut scene = Scene::new(record)?;
        let instructions = match record.stage {
            Stage::Compute => scene.compute(record, by)?,
            Stage::Fragment => scene.fragments(record, by)?,
            Stage::Vertex => return scene.vertices(record, by),
        };
        let problems = scene.compare(record)?;
        Ok(Finished { name: record.name.clone(), pictures: scene.pictures(record)?, instructions, problems })
    }
}

/// The way to run a case.
enum By<O> {
    /// By the reference, with an observer.
    Reference(O),
    /// By an engine.
    Engine(Execution),
}

/// Everything that a case needs to run.
struct Scene {
    memory: Memory,
    host: Resources,
    program: Vec<u64>,
    uniforms: Vec<u32>,
}

impl Scene {
    fn new(record: &Record) -> Result<Self, CaseError> {
        let mut scene = Scene {
            memory: Memory::new(),
            host: Resources::default(),
            program: words(&record.words, 16, |word| word)?,
            uniforms: words(&record.fau, 8, |word| word as u32)?,
        };
        for buffer in &record.buffers {
            scene.memory.map(address(&buffer.base)?, to_bytes(&words(&buffer.words, 8, |word| word as u32)?))?;
        }
        for (place, buffer) in (PLACES[1]..).step_by(STEP as usize).zip(&record.ubos) {
            let mut bytes = to_bytes(&words(&buffer.words, 8, |word| word as u32)?);
            // A block consists of whole vectors, whatever its last member is.
            bytes.resize(bytes.len().next_multiple_of(16), 0);
            let described = Buffer { address: place, len: bytes.len() as u64, stride: 0 };
            scene.host.buffers.insert(Handle::new(buffer.table, buffer.index), described);
            scene.memory.map(place, bytes)?;
        }
        for (place, image) in (PLACES[0]..).step_by(STEP as usize).zip(&record.images) {
            let content = bytes(image.data.first().map_or("", String::as_str))?;
            let described = Image { address: place, size: image.size, format: format(&image.format)? };
            scene.host.images.insert(Handle::new(image.table, image.index), described);
            scene.memory.map(place, content)?;
        }
        for texture in &record.textures {
            let looked_up = texture.texture()?;
            if let Some(sampler) = &texture.sampler {
                let described = sampler.sampler(looked_up.format().class())?;
                scene.host.samplers.insert(Handle::new(sampler.table, sampler.index), described);
            }
            scene.host.textures.insert(Handle::new(texture.table, texture.index), looked_up);
        }
        Ok(scene)
    }

    fn compute(&mut self, record: &Record, by: By<impl Observer>) -> Result<u64, CaseError> {
        let launch = Launch {
            program: self.program.clone(),
            groups: record.groups,
            local_size: record.local_size,
            uniforms: self.uniforms.clone(),
            shared_bytes: record.shared_bytes,
            budget: BUDGET,
            ..Launch::default()
        };
        let Scene { memory, host, .. } = self;
        let outcome = match by {
            By::Reference(observer) => run_with(&launch, memory, host, observer),
            By::Engine(execution) => super::run_hosted(execution, &launch, memory, host),
        };
        Ok(outcome?.thread_instructions)
    }

    fn fragments(&mut self, record: &Record, by: By<impl Observer>) -> Result<u64, CaseError> {
        let (width, height) = (record.width, record.height);
        let pixels = u64::from(width) * u64::from(height);
        check_limit("the number of pixels", pixels, 1, Target::MAX_PIXELS)?;
        for varying in &record.varyings {
            let varying = self::varying(varying, width, height)?;
            self.host.varyings.0.push(varying);
        }
        if !record.frag_z.is_empty() {
            let values = rows(&record.frag_z, height as usize, width as usize)?;
            self.host.depth_and_w[0] = Some(Component::Pixels { width, values, between: Between::Even });
        }
        self.host.depth_and_w[1] = record.frag_w.map(|w| Component::Flat(w.to_bits()));
        let target = |format: Format, clear: Texel| {
            let wrong = || CaseError::Shape(format!("a target cannot have {width} x {height} pixels"));
            Target::new(format, width, height, clear).ok_or_else(wrong)
        };
        for expected in &record.expected.rts {
            // A target is only as large as the expected picture.
            rows(&expected.rows, height as usize, 4 * width as usize)?;
            let format = format(&expected.format)?;
            let clear = packed(&expected.clear, 4)?;
            let clear = Texel { channels: [clear[0], clear[1], clear[2], clear[3]], class: format.class() };
            let number = expected.target as usize;
            if number >= 8 {
                return Err(CaseError::Shape(format!("there are 8 render targets, none has the number {number}")));
            }
            self.host.targets.resize(self.host.targets.len().max(number + 1), None);
            self.host.targets[number] = Some(target(format, clear)?);
        }
        if let Some(depth) = &record.expected.depth {
            rows(&depth.rows, height as usize, width as usize)?;
            self.host.depth = Some(target(Format::R32F, Texel::floats([depth.clear; 4]))?);
        }
        let pixels = |texts: &[String]| flags(texts, width as usize, height as usize);
        let fragments = Fragments {
            uniforms: self.uniforms.clone(),
            coverage: pixels(&record.coverage)?.into_iter().map(u16::from).collect(),
            back: pixels(&record.front_facing)?.into_iter().map(|front| !front).collect(),
            budget: BUDGET,
            ..Fragments::new(self.program.clone(), width, height)
        };
        let Scene { memory, host, .. } = self;
        let outcome = match by {
            By::Reference(observer) => super::draw_observed(&fragments, memory, host, observer),
            By::Engine(execution) => super::draw_on(execution, &fragments, memory, host),
        };
        Ok(outcome?.thread_instructions)
    }

    fn vertices(mut self, record: &Record, mut by: By<impl Observer>) -> Result<Finished, CaseError> {
        for (place, attribute) in (PLACES[2]..).step_by(STEP as usize).zip(&record.attributes) {
            let content = rows(&attribute.rows, record.vertex_count as usize, components(attribute.components)?)?;
            let letters = match class(&attribute.kind)? {
                Class::Float => "F",
                Class::Unsigned => "UI",
                Class::Signed => "I",
            };
            let channels = "RGBA".get(..attribute.components).unwrap_or_default();
            let format = format(&format!("{channels}32{letters}"))?;
            let described = Attribute { address: place, stride: format.size() as u32, per_instance: false, format };
            self.host.attributes.insert(Handle::new(attribute.table, attribute.index), described);
            self.memory.map(place, to_bytes(&content))?;
        }
        if record.vertex_count == 0 || record.vertex_count > Vertices::MAX / 8 {
            return Err(CaseError::Shape(format!("invalid number of vertices: {}", record.vertex_count)));
        }
        // A program stores the size of a point where another vertex has its position, so each vertex runs with blocks
        // of its own.
        let size = (record.vertex_count as usize + BLOCKS_AFTER) * BLOCK;
        self.host.buffers.insert(BLOCKS, Buffer { address: PLACES[3], len: size as u64, stride: BLOCK as u32 });
        self.memory.map(PLACES[3], vec![0; size])?;
        let (mut problems, mut instructions) = (Vec::new(), 0);
        let mut run = |scene: &mut Scene, start: u32| -> Result<Vec<u8>, CaseError> {
            let mut vertices = Vertices {
                start,
                uniforms: scene.uniforms.clone(),
                budget: BUDGET,
                ..Vertices::new(scene.program.clone(), 1)
            };
            let mut blocks = Vec::new();
            for number in 0..record.vertex_count {
                vertices.first = number;
                let Scene { memory, host, .. } = scene;
                let outcome = match &mut by {
                    By::Reference(observer) => super::run_vertices_observed(&vertices, memory, host, observer),
                    By::Engine(execution) => super::run_vertices_on(*execution, &vertices, memory, host),
                };
                instructions += outcome?.thread_instructions;
                let own = number as usize * BLOCK;
                let region = scene.memory.region(PLACES[3]).unwrap_or_default();
                let used = region.get(own..own + (1 + BLOCKS_AFTER) * BLOCK).unwrap_or_default();
                blocks.extend_from_slice(used.get(..BLOCK).unwrap_or_default());
                let clean = vec![0; used.len()];
                let cleaned = scene.memory.write(PLACES[3] + own as u64, &clean);
                cleaned.map_err(|error| CaseError::Shape(error.to_string()))?;
            }
            Ok(blocks)
        };
        let blocks = run(&mut self, record.position_start)?;
        let position = &record.expected.screen_position;
        if !position.is_empty() {
            let kind = (Class::Float, record.tolerance);
            problems.extend(compare::vertices("the position", (&blocks, 0), (position, 4), kind)?);
        }
        if record.varying_start.is_none() && !record.expected.varyings.is_empty() {
            let message = "varyings are expected, but there is no `varying_start` to run for them";
            return Err(CaseError::Shape(message.to_owned()));
        }
        if let Some(start) = record.varying_start {
            let blocks = run(&mut self, start)?;
            for varying in &record.expected.varyings {
                problems.extend(compare::vertices(
                    &format!("the varying `{}`", varying.name),
                    (&blocks, varying.offset as usize),
                    (&varying.rows, components(varying.components)?),
                    (class(&varying.kind)?, record.tolerance),
                )?);
            }
        }
        problems.extend(self.compare(record)?);
        Ok(Finished { name: record.name.clone(), pictures: Vec::new(), instructions, problems })
    }

    /// Returns the differences from the expected results.
    fn compare(&self, record: &Record) -> Result<Vec<String>, CaseError> {
        let mut problems = compare::pixels(record, &self.host)?;
        // For fragment programs, the tolerance applies to pictures only.
        let tolerance = if record.stage == Stage::Compute { record.tolerance } else { 0.0 };
        for buffer in &record.buffers {
            let base = address(&buffer.base)?;
            problems.extend(compare::buffer(buffer, base, self.memory.region(base).unwrap_or_default(), tolerance)?);
        }
        for image in &record.images {
            problems.extend(compare::image(image, self.image(image)?, record.tolerance)?);
        }
        Ok(problems)
    }

    /// The bytes of an image.
    fn image(&self, image: &record::ImageRecord) -> Result<&[u8], CaseError> {
        let described = self.host.images.get(&Handle::new(image.table, image.index));
        Ok(described.and_then(|image| self.memory.region(image.address)).unwrap_or_default())
    }

    /// Returns the targets or, if there are none, the images that were written.
    fn pictures(&self, record: &Record) -> Result<Vec<(String, Target)>, CaseError> {
        let targets = self.host.targets.iter().enumerate();
        let mut pictures: Vec<(String, Target)> =
            targets.filter_map(|(n, target)| Some((format!("target{n}"), target.clone()?))).collect();
        for image in record.images.iter().filter(|image| image.expected.is_some()) {
            let (format, [width, height, _]) = (format(&image.format)?, image.size);
            let Some(mut target) = Target::new(format, width, height, Texel::floats([0.0; 4])) else { continue };
            let texels = self.image(image)?.chunks_exact(format.size()).take(target.pixels().len());
            for (index, texel) in texels.enumerate() {
                let (x, y) = (index as u32 % width, index as u32 / width);
                target.draw([x, y], format.decode(texel));
            }
            pictures.push((image.name.clone(), target));
        }
        Ok(pictures)
    }
}

fn to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn varying(record: &record::VaryingRecord, width: u32, height: u32) -> Result<Varying, CaseError> {
    let count = components(record.components)?;
    let words = rows(&record.per_pixel, height as usize, width as usize * count)?;
    let component = |index: usize| {
        let values: Vec<u32> = words.iter().skip(index).step_by(count).copied().collect();
        let part = |of: &[f32]| of.get(index).copied();
        let plane = record.affine.as_ref().and_then(|affine| {
            let (origin, dx, dy) =
                (part(&affine.at_window_origin)?, part(&affine.per_pixel_x)?, part(&affine.per_pixel_y)?);
            Some(Plane { origin, dx, dy })
        });
        let flat = record.interpolation == "flat";
        let between = match plane {
            _ if flat => Between::Nearest,
            Some(plane) => Between::Plane(plane),
            None => Between::Even,
        };
        Component::Pixels { width, values, between }
    };
    let offset = record.offset.saturating_add(record.first_component.saturating_mul(4));
    Ok(Varying { offset, components: (0..count).map(component).collect() })
}
