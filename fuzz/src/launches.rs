//! Launch files: any text is either a valid launch file or yields errors with places.

use std::path::Path;

use isaforge_cli::run::open::read;
use isaforge_compiler::diagnostic::{Diagnostics, Style};
use isaforge_compiler::source::Sources;
use isaforge_compiler::yaml::read_yaml;

/// Initial examples, one of each kind.
pub const LAUNCHES: [&str; 5] = [
    include_str!("../../cli/tests/data/launch.yaml"),
    include_str!("../../examples/usc/julia.yaml"),
    include_str!("../../examples/valhall/tiles.yaml"),
    include_str!("../../examples/vpu/triangle.yaml"),
    include_str!("../../examples/vpu/blend.yaml"),
];

/// Reads a launch file as `isaforge run` does. Nothing is executed, since that may take long, and nothing is written.
pub fn launch(data: &[u8]) {
    let text = String::from_utf8_lossy(data).into_owned();
    let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
    let file = sources.add("launch.yaml", text);
    let path = Path::new("no such folder/launch.yaml");
    let planned =
        read_yaml(&sources, file, &mut out).is_some_and(|node| read(&node, path, &mut sources, &mut out).is_some());
    out.finish();
    let drawn = out.render(&sources, Style { cap: 5, ..Style::default() });
    assert!(planned || out.has_errors() && !drawn.is_empty(), "it is refused without a reason");
    assert!(out.iter().all(|found| found.primary.is_some()), "a mistake without a place:\n{drawn}");
}
