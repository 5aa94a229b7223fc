//! A block that only computes, and is executed by all lanes of a bundle a number of times that is known in advance.
//!
//! The code is called like that of a [block](super::block). It executes all iterations for some warps, and then for
//! the next ones, so that rows stay in registers from one iteration to the next.

use std::mem::offset_of;

use iced_x86::{Code, Instruction, MemoryOperand, Register};

use super::block::{begin, end};
use super::{Access, Emitted, Made, Times, WAYS, Wanted};
use crate::exec::jit::lanes::row::COLUMN;

impl Emitted {
    /// Returns the code for a block without accesses to memory and without a branch. `None` on register pressure.
    pub fn counted(wanted: &Wanted) -> Option<Self> {
        let made = [4, 2, 1].into_iter().find_map(|warps| counted(wanted, warps))?;
        Some(Emitted { counted: true, ..Emitted::new(made, wanted.columns, wanted.touched(), vec![]) })
    }
}

/// Emits the code for `warps` warps side by side.
fn counted(wanted: &Wanted, warps: usize) -> Option<Made> {
    use Register::{EAX, ECX, EDX, R9, RAX};
    let Wanted { graph, segment, columns, again } = wanted;
    let ways = warps * graph.host().pieces();
    if !columns.is_multiple_of(warps) || ways > WAYS {
        return None;
    }
    let rows: Vec<u32> = segment.rows.iter().map(|(row, _)| *row).collect();
    let (mut out, plan, homes) = begin(wanted, &[], ways, Access::Whole, &rows)?;
    out.push(Instruction::with2(Code::Xor_r32_rm32, EAX, EAX))?;
    out.push(Instruction::with2(Code::Mov_r32_imm32, ECX, (columns / warps) as u32))?;
    let [start, iteration] = [out.label(), out.label()];
    out.put(start);
    out.load_pinned()?;
    let all = MemoryOperand::with_base_displ(R9, offset_of!(Times, all) as i64);
    out.push(Instruction::with2(Code::Mov_r32_rm32, EDX, all))?;
    out.put(iteration);
    out.body(graph, segment, &plan, &homes)?;
    out.push(Instruction::with1(Code::Dec_rm32, EDX))?;
    out.jump(Code::Jne_rel32_64, iteration)?;
    for way in 0..ways {
        for &row in &rows {
            out.save(out.column(row, way), out.home(row, way)?)?;
        }
    }
    out.push(Instruction::with2(Code::Add_rm64_imm32, RAX, (warps * COLUMN) as i32))?;
    out.push(Instruction::with1(Code::Dec_rm32, ECX))?;
    out.jump(Code::Jne_rel32_64, start)?;
    if let Some(again) = again {
        out.advance(again, |out, to| out.push(Instruction::with2(Code::Mov_r32_rm32, to, all)))?;
    }
    end(out)
}
