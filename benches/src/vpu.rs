//! The triangles of `examples/vpu` on a larger screen.

use isaforge_runtime::vpu::scene::{Scene, Work};
use isaforge_runtime::vpu::{Config, Machine, Rectangle, SetupError, TileSize, assemble};

/// The width and height of the screen. The triangles are in the first 64 columns and rows, but all positions are run.
const SIDE: u16 = 256;
/// The number of threads of a group.
pub const THREADS: u64 = 4;

/// Returns the scene and its program.
///
/// # Panics
/// When the example has errors.
pub fn rasteriser() -> (Scene, Vec<u64>) {
    let mut scene = Scene::from_json(include_str!("../data/triangle.json")).expect("the example is a scene");
    scene.work = Work::Rectangle { rectangle: screen(), entry: 0 };
    scene.tile_size = TileSize::new(SIDE.into(), SIDE.into()).expect("tiles can be this large");
    let words = assemble(include_str!("../data/triangle.vpu")).expect("the example is a program");
    (scene, words)
}

fn screen() -> Rectangle {
    Rectangle { x: 0, y: 0, width: SIDE.into(), height: SIDE.into() }
}

/// Creates a machine with the screen distributed over its cores.
///
/// # Errors
/// When the machine cannot be created.
pub fn machine(scene: &Scene, words: &[u64], cores: usize) -> Result<Machine, SetupError> {
    let config = Config { cores, tile_size: scene.tile_size, memory: scene.external.len(), ..Config::default() };
    let mut machine = Machine::new(&config)?;
    machine.load(words)?;
    machine.memory().write(0, &scene.external);
    for core in 0..cores {
        *machine.bank_mut(core, scene.bank)? = scene.global;
    }
    machine.spread_rectangle(screen(), 0, scene.bank)?;
    Ok(machine)
}
