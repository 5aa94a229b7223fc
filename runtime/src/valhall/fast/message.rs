//! Calls of intrinsics that use a host: messages, with arguments from rows.

use isaforge_valhall::semantics::SEMANTICS;

use crate::exec::vector::effect::Value;
use crate::valhall::operation::Operand;

/// The intrinsics that hosts may execute for all lanes.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Varying,
    Filter,
    Blend,
    /// The coverage stays as it is.
    Coverage,
    /// A texel of an attribute or of an image.
    LoadAttribute,
    LoadImage,
    StoreTexel,
    /// The address or the descriptor of a texel of an image.
    ImageAddress,
    ImageFormat,
    BufferElement,
}

impl Kind {
    /// The kind of an intrinsic, if it is one of them.
    pub fn of(intrinsic: u16) -> Option<Kind> {
        match SEMANTICS.intrinsics.get(usize::from(intrinsic))?.name {
            "varying" => Some(Kind::Varying),
            "texture_filter" => Some(Kind::Filter),
            "blend" => Some(Kind::Blend),
            "alpha_to_coverage" => Some(Kind::Coverage),
            "load_attribute" => Some(Kind::LoadAttribute),
            "load_image" => Some(Kind::LoadImage),
            "store_texel" => Some(Kind::StoreTexel),
            "image_address" => Some(Kind::ImageAddress),
            "image_format" => Some(Kind::ImageFormat),
            "buffer_element" => Some(Kind::BufferElement),
            _ => None,
        }
    }
}

/// A call of an intrinsic.
#[derive(Clone, Debug)]
pub struct Message {
    /// The number of the intrinsic.
    pub intrinsic: u16,
    /// The rows of its arguments.
    pub arguments: Box<[Value]>,
    /// The row of the condition, if there is one.
    pub when: Option<u16>,
    /// The rows of the result, if there is one.
    pub to: Option<Value>,
    /// What may be sent for all lanes at once.
    pub kind: Option<Kind>,
    /// The operands of the word, which may be lists of registers that the intrinsic accesses.
    pub operands: Box<[Operand]>,
    /// The registers of these lists, as bits.
    pub registers: u64,
    /// The index of the word in the program.
    pub pc: u32,
}
