//! The channels of texels.

/// The encoding of a channel in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A fraction from 0 to 1.
    Unorm,
    /// A fraction from -1 to 1.
    Snorm,
    /// A fraction from 0 to 1; red, green and blue are sRGB-encoded.
    Srgb,
    /// A float; with 10 or 11 bits, one without a sign.
    Float,
    /// An unsigned integer.
    Uint,
    /// A signed integer in two's complement.
    Sint,
    /// A float whose exponent is shared by all channels and follows them.
    SharedExponent,
}

/// The bits of a channel in a texel that is read as a little-endian number; `bits` is 0 if the channel is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChannelBits {
    pub at: u8,
    pub bits: u8,
}

impl ChannelBits {
    pub fn take(self, texel: u128) -> u32 {
        (texel >> self.at) as u32 & self.mask()
    }

    /// A mask of `bits` ones; `bits` is at least one.
    pub fn mask(self) -> u32 {
        u32::MAX >> (32 - u32::from(self.bits))
    }
}
