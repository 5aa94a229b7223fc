//! Launch files for Valhall: compute launches, drawings, and recorded cases of both.

pub mod cases;
pub mod compute;
pub mod draw;
pub mod resources;
mod results;

use isaforge_compiler::keys::Vocabulary;

use super::document::folder;
use super::launch::LaunchFile;
use super::launched::Launches;

/// The launch files of Valhall.
pub static LAUNCHES: Launches = Launches {
    read: |node, path, sources, out| match draw::matches(node) {
        true => draw::plan::read(node, folder(path), sources, out),
        false => compute::read(node, folder(path), sources, out),
    },
    recorded: cases::read,
    keys: LaunchFile::keys,
};
