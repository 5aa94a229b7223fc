//! What a word does in each lane: its shape, and where its operands are.

use isaforge_core::semantics::{Op, Special, Type};
use isaforge_valhall::semantics::SEMANTICS;
use isaforge_valhall::{FauSpecialPage0, FauSpecialPage1, FauSpecialPage3, Source};

use super::super::super::operation::Operand;
use super::super::super::program::register;
use super::super::super::source::descriptor;
use super::super::super::space;
use super::super::code::{Code, row};
use super::super::handler::Fields;
use super::live::bit;
use super::window::{Access, PLACES};
use crate::exec::jit::lanes::demand;
use crate::exec::jit::lanes::graph::Graph;
use crate::exec::jit::lanes::select::{self, Binding, Place, Selected, Target};

/// What can be said of a word before anything is compiled.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// Registers that it reads, as bits.
    pub reads: u64,
    /// Those of them whose NaN payloads it sees.
    pub exact: u64,
    /// Registers that it writes, in all lanes.
    pub writes: u64,
    /// Whether it accesses memory.
    pub accesses: bool,
}

/// Finds the operands of a word.
struct Operands<'a, 'c> {
    code: &'a Code<'c>,
    pc: usize,
    operands: &'a [Operand],
    accesses: &'a mut Vec<Access>,
}

/// Adds what a word computes to a graph, and where it accesses memory. `None` where it cannot be compiled.
pub fn select(code: &Code<'_>, pc: usize, graph: &mut Graph, accesses: &mut Vec<Access>) -> Option<Selected> {
    let operation = code.operation(pc)?;
    let mut operands = Operands { code, pc, operands: operation.operands(), accesses };
    select::select(SEMANTICS, operation.shape(), &mut operands, graph)
}

impl Word {
    /// A word of a program; `None` where it cannot be compiled. The graph is one to try it in.
    pub fn new(code: &Code<'_>, pc: usize, graph: &mut Graph) -> Option<Self> {
        let operation = code.operation(pc)?;
        let mut accesses = Vec::new();
        graph.clear();
        let selected = select(code, pc, graph, &mut accesses)?;
        let mut operands = Operands { code, pc, operands: operation.operands(), accesses: &mut accesses };
        let mut word = Word { reads: 0, exact: 0, writes: 0, accesses: selected.accesses };
        let shape = operation.shape();
        for (node, exact) in shape.nodes.iter().zip(demand::exact(shape)) {
            let wide = node.ty.size() > 32;
            match node.op {
                Op::Operand => {
                    let [low, high] = operands.operand(node.args[0], node.args[1], node.ty)?;
                    let rows = [low, if wide { high } else { Place::Number(0) }];
                    let read = rows.iter().fold(0, |all, place| match place {
                        Place::Row(row) => all | bit(*row),
                        Place::Number(_) => all,
                    });
                    word.reads |= read;
                    word.exact |= if exact { read } else { 0 };
                }
                Op::Write => {
                    if let Target::Row(row) = operands.target(node.args[0], node.args[1])? {
                        word.writes |= bit(row) | if wide { bit(row + 1) } else { 0 };
                    }
                }
                _ => {}
            }
        }
        Some(word)
    }
}

impl Operands<'_, '_> {
    /// A source, as a pair of words.
    fn pair(&self, source: Source) -> Option<[Place; 2]> {
        let number = |value: u64| [Place::Number(value as u32), Place::Number((value >> 32) as u32)];
        let given = &self.code.given;
        let uniform = |index: usize| Place::Number(given.uniforms.get(index).copied().unwrap_or(0));
        Some(match source {
            Source::Uniform(u) => [uniform(u.index()), uniform(u.index() + 1)],
            Source::Constant(c) => number(c.value()),
            Source::Special0 { name: FauSpecialPage0::WarpId, .. } => {
                [Place::Row(row::WARP), Place::Number(given.warps.saturating_sub(1))]
            }
            Source::Special0 { name: FauSpecialPage0::FramebufferSize, .. } => number(given.framebuffer_size),
            Source::Special0 { name, .. } => number(descriptor(name)),
            Source::Special1 { name, .. } => match name {
                FauSpecialPage1::ThreadLocalPointer => [Place::Row(row::THREAD), Place::Row(row::THREAD + 1)],
                FauSpecialPage1::WorkgroupLocalPointer => number(space::WORKGROUP),
                FauSpecialPage1::ResourceTablePointer => number(0),
            },
            Source::Special3 { name, .. } => match name {
                FauSpecialPage3::LaneId => [Place::Row(row::LANE), Place::Number(0)],
                FauSpecialPage3::CoreId => number(0),
                FauSpecialPage3::ProgramCounter => number(8 * self.pc as u64),
            },
            Source::Register(_) | Source::LastUse(_) => registers(register(source)? as u32),
        })
    }
}

/// A register and the next, which is 0 behind the last.
fn registers(low: u32) -> [Place; 2] {
    let high = if low + 1 < row::REGISTERS { Place::Row(low + 1) } else { Place::Number(0) };
    [Place::Row(low), high]
}

impl Binding for Operands<'_, '_> {
    fn operand(&mut self, operand: u16, element: u16, ty: Type) -> Option<[Place; 2]> {
        let element = usize::from(element);
        Some(match self.operands.get(usize::from(operand))? {
            Operand::Source(source) => {
                let [low, high] = self.pair(*source)?;
                let second = match source {
                    Source::Special0 { word, .. } | Source::Special1 { word, .. } | Source::Special3 { word, .. } => {
                        word & 1 != 0
                    }
                    _ => false,
                };
                if ty.size() <= 32 && second { [high, low] } else { [low, high] }
            }
            Operand::Register(register) => registers(u32::try_from(register.index() + element).ok()?),
            // Those beyond the end of a list read 0.
            Operand::List(list) => match list.iter().nth(element) {
                Some(index) => [Place::Row(u32::try_from(index).ok()?), Place::Number(0)],
                None => [Place::Number(0); 2],
            },
            Operand::Number(number) => [Place::Number(*number as u32), Place::Number((number >> 32) as u32)],
        })
    }

    fn target(&mut self, operand: u16, element: u16) -> Option<Target> {
        let element = usize::from(element);
        let index = match self.operands.get(usize::from(operand))? {
            Operand::Register(register) => Some(register.index() + element),
            Operand::List(list) => list.iter().nth(element),
            Operand::Source(_) | Operand::Number(_) => return None,
        };
        Some(match index {
            Some(index) => Target::Row(u32::try_from(index).ok()?),
            None => Target::Dropped,
        })
    }

    fn state(&mut self, state: u16) -> Option<Place> {
        let name = SEMANTICS.states.get(usize::from(state))?.name;
        // Threads of compute programs help nobody.
        (name == "helper" && !self.code.given.draws).then_some(Place::Number(0))
    }

    fn special(&mut self, special: Special) -> Option<[Place; 2]> {
        match special {
            Special::Pc => Some([Place::Number(self.pc as u32), Place::Number(0)]),
            Special::Next => Some([Place::Number(self.pc as u32 + 1), Place::Number(0)]),
            Special::Lane => Some([Place::Row(row::LANE), Place::Number(0)]),
            Special::Active => None,
        }
    }

    fn access(&mut self, access: select::Access) -> Option<usize> {
        let [low, high] = access.rows;
        let sources = [low, high, row::RESULT, row::RESULT];
        let fields =
            Fields { dest: row::RESULT, sources, numbers: [access.offset as u32, 0], pc: u32::try_from(self.pc).ok()? };
        let known = self.accesses.iter().position(|access| access.is_like(&fields));
        let place = known.unwrap_or_else(|| {
            self.accesses.push(Access::new(fields, access.writes, self.code.level));
            self.accesses.len() - 1
        });
        self.accesses[place].writes |= access.writes;
        (place < PLACES).then_some(place)
    }
}
