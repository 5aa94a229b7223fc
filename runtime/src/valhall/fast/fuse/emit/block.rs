//! A block: a loop over the warps that have active lanes.
//!
//! The code is called as [`machine`](super::super::machine) says: `rdi` points to the rows, `rsi` to the active lanes of
//! the warps, `edx` has a bit for each warp to be executed, `rcx` points to pointers to places in memory, and `r8` to where
//! the lanes that jump are written. In the loop `rax` is the place of the warp's columns in a row. What is the same for all
//! warps is made before the loop.
//!
//! There are two functions. One is for bundles all lanes of which are active: it writes whole rows, two warps at a time
//! where registers suffice. The other writes the active lanes only.

use iced_x86::{Code, Instruction, MemoryOperand, Register};

use super::super::super::super::warp::Column;
use super::super::super::bundle::WARPS;
use super::super::graph::{Graph, Node, fixed};
use super::plan::{Home, Plan, Segment, Staying, used};
use super::{Access, Emitted, Emitter, LANES, POINTERS, columns, touched};

/// What the code has to do.
#[derive(Debug)]
pub struct Wanted {
    /// What it computes.
    pub graph: Graph,
    /// All of it.
    pub segment: Segment,
    /// How many places in memory it accesses.
    pub places: usize,
}

/// The last two masks have the lanes that jump in all warps and in any; or the last has the lanes that are not active.
const MASKS: std::ops::Range<u8> = 1..6;
const ALL: Register = Register::K6;
const ANY: Register = Register::K7;
/// Registers that may be taken for what is the same for all warps.
const SHARED: usize = 18;

impl Emitted {
    /// The code for bundles all lanes of which are active; nothing where registers do not suffice.
    pub fn full(wanted: &Wanted) -> Option<Self> {
        let code = full(wanted, 2).or_else(|| full(wanted, 1))?;
        Some(Emitted { code, rows: wanted.touched(), places: wanted.places })
    }

    /// The code that writes the active lanes only; nothing where memory is accessed, for some of the lanes may be anywhere.
    pub fn part(wanted: &Wanted) -> Option<Self> {
        let code = if wanted.places == 0 { part(wanted)? } else { return None };
        Some(Emitted { code, rows: wanted.touched(), places: 0 })
    }
}

impl Wanted {
    fn touched(&self) -> usize {
        touched(&self.graph, std::iter::once(&self.segment))
    }
}

/// The code so far, with what is the same for all warps; the plan, and where values are.
fn begin(wanted: &Wanted, ways: usize, access: Access) -> Option<(Emitter, Plan, Vec<Home>)> {
    let (graph, segment) = (&wanted.graph, &wanted.segment);
    let used = used(graph, std::iter::once(segment));
    let homes = shared(graph.nodes(), &used);
    let plan = Plan::new(graph, segment, &used, &homes, Staying::default());
    let mut out = Emitter::new(graph, ways, access, MASKS);
    for index in (0..homes.len()).filter(|&index| homes[index] == Home::Register && used[index]) {
        out.shared(graph, index, &plan, &homes)?;
    }
    Some((out, plan, homes))
}

/// What is the same for all warps, and worth a register.
fn shared(nodes: &[Node], used: &[bool]) -> Vec<Home> {
    let all = fixed(nodes);
    let is_much = all.iter().zip(used).filter(|(fixed, used)| **fixed && **used).count() > SHARED;
    let is_kept = |index: usize| if is_much { matches!(nodes[index], Node::Splat(_)) } else { all[index] };
    (0..nodes.len()).map(|index| if is_kept(index) { Home::Register } else { Home::Segment }).collect()
}

/// The code that writes whole rows, so many warps at a time.
fn full(wanted: &Wanted, ways: usize) -> Option<Vec<u8>> {
    use Register::{EAX, ECX, R8, R9D, R10D, RAX};
    let (mut out, mut plan, homes) = begin(wanted, ways, Access::Whole)?;
    for (index, &pointer) in POINTERS.get(..wanted.places)?.iter().enumerate() {
        let place = MemoryOperand::with_base_displ(Register::RCX, 8 * index as i64);
        out.push(Instruction::with2(Code::Mov_r64_rm64, pointer, place))?;
    }
    out.push(Instruction::with2(Code::Xor_r32_rm32, EAX, EAX))?;
    out.push(Instruction::with2(Code::Mov_r32_imm32, ECX, (WARPS / ways) as u32))?;
    let mask = wanted.segment.mask;
    if mask.is_some() {
        out.push(Instruction::with3(Code::VEX_Kxorw_kr_kr_kr, ANY, ANY, ANY))?;
        out.push(Instruction::with3(Code::VEX_Kxnorw_kr_kr_kr, ALL, ALL, ALL))?;
    }
    let start = out.label();
    out.put(start);
    out.body(&wanted.graph, &wanted.segment, &mut plan, &homes)?;
    if let Some(mask) = mask {
        for way in 0..ways {
            let jumps = out.operand(mask, way, &homes)?;
            let note = MemoryOperand::with_base_displ(R8, 2 * way as i64);
            out.push(Instruction::with2(Code::VEX_Kmovw_m16_kr, note, jumps))?;
            out.push(Instruction::with3(Code::VEX_Korw_kr_kr_kr, ANY, ANY, jumps))?;
            out.push(Instruction::with3(Code::VEX_Kandw_kr_kr_kr, ALL, ALL, jumps))?;
        }
        out.push(Instruction::with2(Code::Add_rm64_imm8, R8, 2 * ways as i32))?;
    }
    out.push(Instruction::with2(Code::Add_rm64_imm32, RAX, columns(ways) as i32))?;
    out.push(Instruction::with1(Code::Dec_rm32, ECX))?;
    out.jump(Code::Jne_rel32_64, start)?;
    if mask.is_some() {
        out.push(Instruction::with2(Code::VEX_Knotw_kr_kr, ALL, ALL))?;
        out.push(Instruction::with2(Code::VEX_Kmovw_r32_kr, R9D, ANY))?;
        out.push(Instruction::with2(Code::VEX_Kmovw_r32_kr, R10D, ALL))?;
    }
    end(out)
}

/// The code that writes the active lanes of some warps. In its loop `ecx` is the warp and `r11d` has its active lanes.
fn part(wanted: &Wanted) -> Option<Vec<u8>> {
    use Register::{AX, EAX, ECX, EDX, R8, R9D, R10D, R11D, RSI};
    let (mut out, mut plan, homes) = begin(wanted, 1, Access::But)?;
    out.push(Instruction::with2(Code::Xor_r32_rm32, R9D, R9D))?;
    out.push(Instruction::with2(Code::Xor_r32_rm32, R10D, R10D))?;
    let start = out.label();
    out.put(start);
    out.push(Instruction::with2(Code::Tzcnt_r32_rm32, ECX, EDX))?;
    out.push(Instruction::with2(Code::VEX_Blsr_r32_rm32, EDX, EDX))?;
    out.push(Instruction::with3(Code::Imul_r32_rm32_imm8, EAX, ECX, size_of::<Column>() as i32))?;
    out.push(Instruction::with2(Code::Movzx_r32_rm16, R11D, halfword(RSI)))?;
    out.push(Instruction::with2(Code::VEX_Kmovw_kr_r32, LANES, R11D))?;
    out.push(Instruction::with2(Code::VEX_Knotw_kr_kr, LANES, LANES))?;
    out.body(&wanted.graph, &wanted.segment, &mut plan, &homes)?;
    if let Some(mask) = wanted.segment.mask {
        let jumps = out.operand(mask, 0, &homes)?;
        out.push(Instruction::with2(Code::VEX_Kmovw_r32_kr, EAX, jumps))?;
        out.push(Instruction::with2(Code::And_r32_rm32, EAX, R11D))?;
        out.push(Instruction::with2(Code::Mov_rm16_r16, halfword(R8), AX))?;
        out.push(Instruction::with2(Code::Or_r32_rm32, R9D, EAX))?;
        out.push(Instruction::with2(Code::Xor_r32_rm32, EAX, R11D))?;
        out.push(Instruction::with2(Code::Or_r32_rm32, R10D, EAX))?;
    }
    out.push(Instruction::with2(Code::Test_rm32_r32, EDX, EDX))?;
    out.jump(Code::Jne_rel32_64, start)?;
    end(out)
}

/// The end: as a result, the lanes that jump below and those that do not above.
fn end(mut out: Emitter) -> Option<Vec<u8>> {
    use Register::{EAX, R9D, R10D};
    out.push(Instruction::with3(Code::Imul_r32_rm32_imm32, EAX, R10D, 0x1_0000))?;
    out.push(Instruction::with2(Code::Or_r32_rm32, EAX, R9D))?;
    out.push(Ok(Instruction::with(Code::VEX_Vzeroupper)))?;
    out.push(Ok(Instruction::with(Code::Retnq)))?;
    out.finish()
}

/// The word of 16 bits that belongs to the warp.
fn halfword(base: Register) -> MemoryOperand {
    MemoryOperand::with_base_index_scale(base, Register::RCX, 2)
}
