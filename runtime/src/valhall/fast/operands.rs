//! Locates the operands of a word: in rows, or as constants that are the same in all lanes.

use isaforge_valhall::{FauSpecialPage0, FauSpecialPage1, FauSpecialPage3, Source};

use super::given::Given;
use super::row;
pub(crate) use crate::exec::jit::lanes::select::{Location, Target};
use crate::valhall::operation::Operand;
use crate::valhall::program::register;
use crate::valhall::source::descriptor;
use crate::valhall::space;

/// Returns where the words of an operand's element are read; `wide` if it has more than 32 bits.
pub(crate) fn read(
    given: &Given<'_>,
    pc: usize,
    operand: Operand,
    element: usize,
    wide: bool,
) -> Option<[Location; 2]> {
    Some(match operand {
        Operand::Source(source) => {
            let [low, high] = pair(given, pc, source)?;
            let second = match source {
                Source::Special0 { word, .. } | Source::Special1 { word, .. } | Source::Special3 { word, .. } => {
                    word & 1 != 0
                }
                _ => false,
            };
            if second && !wide { [high, low] } else { [low, high] }
        }
        Operand::Register(register) => registers(u32::try_from(register.index() + element).ok()?),
        // Elements after the end of a list read 0.
        Operand::List(list) => match list.iter().nth(element) {
            Some(index) => [Location::Row(u32::try_from(index).ok()?), Location::Number(0)],
            None => [Location::Number(0); 2],
        },
        Operand::Number(number) => numbers(number),
    })
}

/// Returns where an element of an operand is written.
pub(crate) fn written(operand: Operand, element: usize) -> Option<Target> {
    let index = match operand {
        Operand::Register(register) => Some(register.index() + element),
        Operand::List(list) => list.iter().nth(element),
        Operand::Source(_) | Operand::Number(_) => return None,
    };
    let row = index.map(u32::try_from).transpose().ok()?;
    Some(row.filter(|row| *row < row::REGISTERS).map_or(Target::Dropped, Target::Row))
}

/// Returns a source as a pair of words.
fn pair(given: &Given<'_>, pc: usize, source: Source) -> Option<[Location; 2]> {
    let uniform = |index: usize| Location::Number(given.uniforms.get(index).copied().unwrap_or(0));
    Some(match source {
        Source::Uniform(u) => [uniform(u.index()), uniform(u.index() + 1)],
        Source::Constant(c) => numbers(c.value()),
        Source::Special0 { name: FauSpecialPage0::WarpId, .. } => {
            [Location::Row(row::WARP), Location::Number(given.warps.saturating_sub(1))]
        }
        Source::Special0 { name: FauSpecialPage0::FramebufferSize, .. } => numbers(given.framebuffer_size),
        Source::Special0 { name, .. } => numbers(descriptor(name, given.samples)),
        Source::Special1 { name, .. } => match name {
            FauSpecialPage1::ThreadLocalPointer => [Location::Row(row::THREAD), Location::Row(row::THREAD + 1)],
            FauSpecialPage1::WorkgroupLocalPointer => numbers(space::WORKGROUP),
            FauSpecialPage1::ResourceTablePointer => numbers(0),
        },
        Source::Special3 { name, .. } => match name {
            FauSpecialPage3::LaneId => [Location::Row(row::LANE), Location::Number(0)],
            FauSpecialPage3::CoreId => numbers(0),
            FauSpecialPage3::ProgramCounter => numbers(8 * (pc as u64 + 1)),
        },
        Source::Register(_) | Source::LastUse(_) => registers(register(source)? as u32),
    })
}

fn numbers(value: u64) -> [Location; 2] {
    [Location::Number(value as u32), Location::Number((value >> 32) as u32)]
}

/// Returns a register and the next one; registers after the last read 0.
fn registers(low: u32) -> [Location; 2] {
    [low, low + 1].map(|row| if row < row::REGISTERS { Location::Row(row) } else { Location::Number(0) })
}
