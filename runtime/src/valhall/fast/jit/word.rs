//! What a word does in each lane: its shape, and the locations of its operands.

use isaforge_core::semantics::{Op, Special, Type};
use isaforge_valhall::semantics::SEMANTICS;

use crate::exec::jit::lanes::demand;
use crate::exec::jit::lanes::graph::Graph;
use crate::exec::jit::lanes::select::{self, Binding, Location, Selected, Target};
use crate::exec::jit::lanes::window::WINDOWS;
use crate::valhall::fast::code::Code;
use crate::valhall::fast::compiled::access::Access;
use crate::valhall::fast::row::bit;
use crate::valhall::fast::{operands, row};
use crate::valhall::operation::Operand;

/// The properties of a word that are known before anything is compiled.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// The registers that it reads, as bits.
    pub reads: u64,
    /// Those of them whose NaN payloads matter.
    pub exact: u64,
    /// The registers that it writes in all lanes.
    pub writes: u64,
    /// Whether it accesses memory.
    pub accesses: bool,
}

/// Locates the operands of a word.
struct Operands<'a, 'c> {
    code: &'a Code<'c>,
    pc: usize,
    operands: &'a [Operand],
    accesses: &'a mut Vec<Access>,
}

/// Adds the computation of a word to a graph, and its memory accesses to `accesses`. `None` if it cannot be compiled.
pub fn select(code: &Code<'_>, pc: usize, graph: &mut Graph, accesses: &mut Vec<Access>) -> Option<Selected> {
    let operation = code.operation(pc)?;
    let mut operands = Operands { code, pc, operands: operation.operands(), accesses };
    select::select(SEMANTICS, operation.shape(), &mut operands, graph)
}

impl Word {
    /// Analyses a word of a program; `None` if it cannot be compiled. The graph is used as scratch space.
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
                    let rows = [low, if wide { high } else { Location::Number(0) }];
                    let read = rows.iter().fold(0, |all, place| match place {
                        Location::Row(row) => all | bit(*row),
                        Location::Number(_) => all,
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

impl Binding for Operands<'_, '_> {
    fn operand(&mut self, operand: u16, element: u16, ty: Type) -> Option<[Location; 2]> {
        let operand = *self.operands.get(usize::from(operand))?;
        operands::read(&self.code.given, self.pc, operand, element.into(), ty.size() > 32)
    }

    fn target(&mut self, operand: u16, element: u16) -> Option<Target> {
        operands::written(*self.operands.get(usize::from(operand))?, element.into())
    }

    fn state(&mut self, state: u16) -> Option<Location> {
        let name = SEMANTICS.states.get(usize::from(state))?.name;
        // Compute programs have no helper threads.
        (name == "helper" && !self.code.given.draws).then_some(Location::Number(0))
    }

    fn special(&mut self, special: Special) -> Option<[Location; 2]> {
        match special {
            Special::Pc => Some([Location::Number(self.pc as u32), Location::Number(0)]),
            Special::Next => Some([Location::Number(self.pc as u32 + 1), Location::Number(0)]),
            Special::Lane => Some([Location::Row(row::LANE), Location::Number(0)]),
            Special::Active => None,
        }
    }

    fn access(&mut self, access: select::Access) -> Option<usize> {
        let known = self.accesses.iter_mut().position(|known| known.includes(&access));
        let window = match known {
            Some(window) => window,
            None => {
                self.accesses.push(Access::new(&access, u32::try_from(self.pc).ok()?));
                self.accesses.len() - 1
            }
        };
        (window < WINDOWS).then_some(window)
    }
}
