//! Why a host refuses a request.

use thiserror::Error;

use super::handle::{Handle, Kind};
use super::texture::Shape;

/// The reason why a name or a descriptor is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum HostError {
    /// The table has no such entry.
    #[error("there is no {kind} {handle}")]
    Missing {
        /// The kind of the missing resource.
        kind: Kind,
        /// The name.
        handle: Handle,
    },
    /// The texture has another shape than the instruction requires.
    #[error("texture {handle} has the shape {found:?}, not {wanted:?}")]
    Shape {
        /// The name.
        handle: Handle,
        /// The texture's shape.
        found: Shape,
        /// The shape that the instruction requires.
        wanted: Shape,
    },
    /// The access extends beyond the end of a buffer.
    #[error("{size} bytes at {offset:#x} reach beyond buffer {handle}, which has {len}")]
    OutOfBuffer {
        /// The name.
        handle: Handle,
        /// The offset of the first byte.
        offset: u32,
        /// The number of bytes of the access.
        size: usize,
        /// The number of bytes of the buffer.
        len: u64,
    },
    /// There is no varying at this byte.
    #[error("there is no varying at byte {byte:#x}")]
    Varying {
        /// The first byte of the component.
        byte: u32,
    },
    /// There is no such special varying.
    #[error("there is no special varying {index}")]
    Special {
        /// Its number.
        index: u8,
    },
    /// There is no such render target.
    #[error("there is no render target {number}")]
    Target {
        /// Its number.
        number: u32,
    },
    /// The word is not a conversion descriptor.
    #[error("{word:#010x} is not a conversion descriptor")]
    Descriptor {
        /// The word.
        word: u32,
    },
}
