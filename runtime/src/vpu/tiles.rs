//! Tile buffers: storage for each pixel, with a lock for each position.

/// The number of tile buffers of a core.
pub const TILE_BUFFERS: usize = 4;
/// The maximum number of elements of a tile buffer: as many as a 16-bit address can name.
pub const MAX_TILE: usize = 1 << 16;

/// The size of the tile buffers: both dimensions are powers of two, the width is at least 4, and there are at most
/// [`MAX_TILE`] elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileSize {
    width: u16,
    height: u16,
}

impl Default for TileSize {
    /// 32 × 32.
    fn default() -> Self {
        TileSize { width: 32, height: 32 }
    }
}

impl TileSize {
    /// Creates a size; `None` unless it is possible.
    pub fn new(width: u32, height: u32) -> Option<Self> {
        let fits = width.checked_mul(height).is_some_and(|n| n as usize <= MAX_TILE);
        let possible = width >= 4 && width.is_power_of_two() && height.is_power_of_two() && fits;
        // Neither dimension reaches 2^16: a width of 4 leaves 2^14 for the height, a height of 1 needs a width of 2^16.
        possible.then_some(())?;
        Some(TileSize { width: u16::try_from(width).ok()?, height: u16::try_from(height).ok()? })
    }

    /// Elements per row.
    pub fn width(self) -> usize {
        self.width.into()
    }

    /// The number of rows.
    pub fn height(self) -> usize {
        self.height.into()
    }

    /// The number of elements.
    pub fn elements(self) -> usize {
        self.width() * self.height()
    }

    /// Returns the coordinates of a position within its tile.
    pub(crate) fn offset(self, x: u16, y: u16) -> (u16, u16) {
        (x & (self.width - 1), y & (self.height - 1))
    }

    pub(crate) fn element(self, x: u16, y: u16) -> usize {
        let (x, y) = self.offset(x, y);
        usize::from(y) * self.width() + usize::from(x)
    }
}

/// One tile buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// The components X, Y, Z, W of each element, row by row.
    pub data: Vec<[u16; 4]>,
    /// Which elements are locked.
    pub locked: Vec<bool>,
}

impl Tile {
    pub(crate) fn new(size: TileSize) -> Self {
        Tile { data: vec![[0; 4]; size.elements()], locked: vec![false; size.elements()] }
    }
}
