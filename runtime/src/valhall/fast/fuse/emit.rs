//! From a graph to machine code: a loop over the warps that have active lanes.
//!
//! The code is called as [`machine`](super::machine) says: `rdi` points to the rows, `rsi` to the active lanes of the
//! warps, `edx` has a bit for each warp to be executed, `rcx` points to pointers to places in memory, and `r8` to where
//! the lanes that jump are written. In the loop `rax` is the place of the warp's columns in a row. Values stay in vector registers from where they are made to
//! their last use; what is the same for all warps is made before the loop. There is no spilling: a graph that needs too
//! many registers is refused.
//!
//! There are two functions. One is for bundles all lanes of which are active: it writes whole rows, two warps at a time
//! where registers suffice, so that the processor finds more to do while it waits for results. The other writes the active
//! lanes only.

use iced_x86::{Code, Encoder, IcedError, Instruction, MemoryOperand, Register};

use super::super::super::warp::Column;
use super::super::bundle::{Row, WARPS};
use super::graph::{Graph, Node, Operation, Value};
use super::window::PLACES;

/// What the code has to do.
#[derive(Debug)]
pub struct Wanted {
    /// What it computes.
    pub graph: Graph,
    /// The rows to write.
    pub rows: Vec<(u32, Value)>,
    /// The mask of lanes that jump.
    pub jumps: Option<Value>,
    /// How many places in memory it accesses.
    pub places: usize,
}

/// The last vector register is for what is about to be stored.
const VECTORS: u8 = 31;
const STORED: Register = Register::ZMM31;
/// The first mask register cannot be used as a mask. The last two have the lanes that jump in all warps and in any, or
/// the last has the lanes that are not active.
const MASKS: std::ops::Range<u8> = 1..6;
const ALL: Register = Register::K6;
const ANY: Register = Register::K7;
const INACTIVE: Register = Register::K7;
/// Registers that may be taken for what is the same for all warps.
const SHARED: usize = 18;

/// The registers that point to places in memory.
const POINTERS: [Register; PLACES] = [Register::RSI, Register::RDX, Register::R10, Register::R11];

/// Machine code, which touches the rows below a number only.
pub struct Emitted {
    code: Vec<u8>,
    rows: usize,
    places: usize,
}

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

    /// The bytes.
    pub fn code(&self) -> &[u8] {
        &self.code
    }

    /// How many places in memory there have to be.
    pub fn places(&self) -> usize {
        self.places
    }

    /// How many rows there have to be.
    pub fn rows(&self) -> usize {
        self.rows
    }
}

impl Wanted {
    /// One more than the last row that is read or written.
    fn touched(&self) -> usize {
        let read = self.graph.nodes().iter().filter_map(|node| match node {
            Node::Row(row) => Some(*row),
            _ => None,
        });
        read.chain(self.rows.iter().map(|(row, _)| *row)).max().map_or(0, |last| last as usize + 1)
    }
}

/// The code that writes whole rows, so many warps at a time.
fn full(wanted: &Wanted, ways: usize) -> Option<Vec<u8>> {
    use Register::{EAX, ECX, R8, R9D, R10D, RAX};
    let mut out = Emitter::new(wanted, ways)?;
    for (index, &pointer) in POINTERS.get(..wanted.places)?.iter().enumerate() {
        let place = MemoryOperand::with_base_displ(Register::RCX, 8 * index as i64);
        out.push(Instruction::with2(Code::Mov_r64_rm64, pointer, place))?;
    }
    out.push(Instruction::with2(Code::Xor_r32_rm32, EAX, EAX))?;
    out.push(Instruction::with2(Code::Mov_r32_imm32, ECX, (WARPS / ways) as u32))?;
    if wanted.jumps.is_some() {
        out.push(Instruction::with3(Code::VEX_Kxorw_kr_kr_kr, ANY, ANY, ANY))?;
        out.push(Instruction::with3(Code::VEX_Kxnorw_kr_kr_kr, ALL, ALL, ALL))?;
    }
    let start = out.place;
    out.body(wanted, None)?;
    if let Some(jumps) = wanted.jumps {
        for way in 0..ways {
            let jumps = out.registers[jumps.index()][way]?;
            let note = MemoryOperand::with_base_displ(R8, 2 * way as i64);
            out.push(Instruction::with2(Code::VEX_Kmovw_m16_kr, note, jumps))?;
            out.push(Instruction::with3(Code::VEX_Korw_kr_kr_kr, ANY, ANY, jumps))?;
            out.push(Instruction::with3(Code::VEX_Kandw_kr_kr_kr, ALL, ALL, jumps))?;
        }
        out.push(Instruction::with2(Code::Add_rm64_imm8, R8, 2 * ways as i32))?;
    }
    out.push(Instruction::with2(Code::Add_rm64_imm32, RAX, (ways * size_of::<Column>()) as i32))?;
    out.push(Instruction::with1(Code::Dec_rm32, ECX))?;
    out.push(Instruction::with_branch(Code::Jne_rel32_64, start))?;
    if wanted.jumps.is_some() {
        out.push(Instruction::with2(Code::VEX_Knotw_kr_kr, ALL, ALL))?;
        out.push(Instruction::with2(Code::VEX_Kmovw_r32_kr, R9D, ANY))?;
        out.push(Instruction::with2(Code::VEX_Kmovw_r32_kr, R10D, ALL))?;
    }
    out.finish()
}

/// The code that writes the active lanes of some warps. In its loop `ecx` is the warp and `r11d` has its active lanes.
fn part(wanted: &Wanted) -> Option<Vec<u8>> {
    use Register::{AX, EAX, ECX, EDX, R8, R9D, R10D, R11D, RSI};
    let mut out = Emitter::new(wanted, 1)?;
    out.push(Instruction::with2(Code::Xor_r32_rm32, R9D, R9D))?;
    out.push(Instruction::with2(Code::Xor_r32_rm32, R10D, R10D))?;
    let start = out.place;
    out.push(Instruction::with2(Code::Tzcnt_r32_rm32, ECX, EDX))?;
    out.push(Instruction::with2(Code::VEX_Blsr_r32_rm32, EDX, EDX))?;
    out.push(Instruction::with3(Code::Imul_r32_rm32_imm8, EAX, ECX, size_of::<Column>() as i32))?;
    out.push(Instruction::with2(Code::Movzx_r32_rm16, R11D, halfword(RSI)))?;
    out.push(Instruction::with2(Code::VEX_Kmovw_kr_r32, INACTIVE, R11D))?;
    out.push(Instruction::with2(Code::VEX_Knotw_kr_kr, INACTIVE, INACTIVE))?;
    out.body(wanted, Some(INACTIVE))?;
    if let Some(jumps) = wanted.jumps {
        let jumps = out.registers[jumps.index()][0]?;
        out.push(Instruction::with2(Code::VEX_Kmovw_r32_kr, EAX, jumps))?;
        out.push(Instruction::with2(Code::And_r32_rm32, EAX, R11D))?;
        out.push(Instruction::with2(Code::Mov_rm16_r16, halfword(R8), AX))?;
        out.push(Instruction::with2(Code::Or_r32_rm32, R9D, EAX))?;
        out.push(Instruction::with2(Code::Xor_r32_rm32, EAX, R11D))?;
        out.push(Instruction::with2(Code::Or_r32_rm32, R10D, EAX))?;
    }
    out.push(Instruction::with2(Code::Test_rm32_r32, EDX, EDX))?;
    out.push(Instruction::with_branch(Code::Jne_rel32_64, start))?;
    out.finish()
}

/// The column of the warp in a row, or of the one so many behind it.
fn column(row: u32, way: usize) -> MemoryOperand {
    let displacement = i64::from(row) * size_of::<Row>() as i64 + (way * size_of::<Column>()) as i64;
    MemoryOperand::new(Register::RDI, Register::RAX, 1, displacement, 1, false, Register::None)
}

/// The words of the warp in a place in memory, or of the one so many behind it.
fn words(place: usize, way: usize) -> MemoryOperand {
    let displacement = (way * size_of::<Column>()) as i64;
    MemoryOperand::new(POINTERS[place], Register::RAX, 1, displacement, 1, false, Register::None)
}

/// The word of 16 bits that belongs to the warp.
fn halfword(base: Register) -> MemoryOperand {
    MemoryOperand::with_base_index_scale(base, Register::RCX, 2)
}

/// Where something is stored.
#[derive(Clone, Copy)]
enum Store {
    /// In a row.
    Row(u32),
    /// In a place in memory.
    Place(usize),
}

/// When values are used for the last time.
struct Plan {
    /// Twice the index of the node that uses a value last; one more where a store behind that node does.
    last: Vec<Option<usize>>,
    /// What is stored behind each node.
    stores: Vec<Vec<(Store, Value)>>,
    /// Values that are the same for all warps.
    shared: Vec<bool>,
}

impl Plan {
    fn new(wanted: &Wanted) -> Self {
        let nodes = wanted.graph.nodes();
        let used = used(wanted);
        let (last, stores) = (vec![None; nodes.len()], vec![vec![]; nodes.len()]);
        let mut plan = Plan { last, stores, shared: shared(nodes, &used) };
        for (index, node) in nodes.iter().enumerate().filter(|(index, _)| used[*index]) {
            for argument in arguments(node) {
                plan.use_at(argument, 2 * index);
            }
        }
        for &(row, value) in &wanted.rows {
            // Not before what the row was has been read.
            let read = nodes.iter().position(|node| *node == Node::Row(row)).filter(|&load| used[load]);
            let place = read.unwrap_or(0).max(value.index());
            plan.stores[place].push((Store::Row(row), value));
            plan.use_at(value, 2 * place + 1);
        }
        for &(behind, place, value) in wanted.graph.stores() {
            // The value is one of these nodes.
            let node = behind - 1;
            plan.stores[node].push((Store::Place(place), value));
            plan.use_at(value, 2 * node + 1);
        }
        if let Some(jumps) = wanted.jumps {
            plan.use_at(jumps, usize::MAX);
        }
        plan
    }

    fn use_at(&mut self, value: Value, moment: usize) {
        let last = &mut self.last[value.index()];
        *last = (*last).max(Some(moment));
    }

    fn is_used(&self, index: usize) -> bool {
        self.last[index].is_some()
    }

    /// Whether a node is the last to use a value.
    fn ends(&self, value: Value, index: usize) -> bool {
        self.last[value.index()] == Some(2 * index) && !self.shared[value.index()]
    }
}

/// Which nodes something that is wanted depends on; a node comes after its arguments.
fn used(wanted: &Wanted) -> Vec<bool> {
    let nodes = wanted.graph.nodes();
    let mut used = vec![false; nodes.len()];
    let stored = wanted.graph.stores().iter().map(|(_, _, value)| value);
    for value in wanted.rows.iter().map(|(_, value)| value).chain(stored).chain(&wanted.jumps) {
        used[value.index()] = true;
    }
    for (index, node) in nodes.iter().enumerate().rev() {
        if used[index] {
            arguments(node).for_each(|argument| used[argument.index()] = true);
        }
    }
    used
}

/// Which nodes are the same for all warps, and worth a register.
fn shared(nodes: &[Node], used: &[bool]) -> Vec<bool> {
    let splat = |node: &Node| matches!(node, Node::Splat(_));
    let mut all: Vec<bool> = nodes.iter().map(splat).collect();
    for (index, node) in nodes.iter().enumerate() {
        if let Node::Operation(operation) = node {
            all[index] = !operation.is_mask && arguments(node).all(|argument| all[argument.index()]);
        }
    }
    let count = all.iter().zip(used).filter(|(shared, used)| **shared && **used).count();
    if count > SHARED { nodes.iter().map(splat).collect() } else { all }
}

/// What a node depends on.
fn arguments(node: &Node) -> impl Iterator<Item = Value> {
    let (arguments, mask) = match node {
        Node::Operation(Operation { arguments, mask, .. }) => (*arguments, *mask),
        _ => Default::default(),
    };
    arguments.into_iter().chain([mask]).flatten()
}

/// The code so far, and the registers that are free.
struct Emitter {
    encoder: Encoder,
    /// The bytes so far.
    place: u64,
    vectors: Vec<Register>,
    masks: Vec<Register>,
    /// Where values are, for each warp of those executed together.
    registers: Vec<[Option<Register>; 2]>,
    plan: Plan,
    ways: usize,
}

impl Emitter {
    /// Begins with what is the same for all warps.
    fn new(wanted: &Wanted, ways: usize) -> Option<Self> {
        let nodes = wanted.graph.nodes();
        let mut out = Emitter {
            encoder: Encoder::new(64),
            place: 0,
            vectors: (0..VECTORS).rev().map(|number| Register::ZMM0 + u32::from(number)).collect(),
            masks: MASKS.rev().map(|number| Register::K0 + u32::from(number)).collect(),
            registers: vec![[None; 2]; nodes.len()],
            plan: Plan::new(wanted),
            ways,
        };
        for (index, node) in nodes.iter().enumerate() {
            if !out.plan.is_used(index) || !out.plan.shared[index] {
                continue;
            }
            match node {
                Node::Splat(word) => {
                    let to = out.take(Value::of(index), false, 0)?;
                    out.push(Instruction::with2(Code::Mov_r32_imm32, Register::EAX, *word))?;
                    out.push(Instruction::with2(Code::EVEX_Vpbroadcastd_zmm_k1z_r32, to, Register::EAX))?;
                }
                Node::Operation(operation) => out.operation(index, operation, 0)?,
                Node::Row(_) | Node::Memory(..) => {}
            }
            out.registers[index][1] = out.registers[index][0];
        }
        Some(out)
    }

    /// What the graph computes, for one warp or two; `inactive` has the lanes that are not written.
    fn body(&mut self, wanted: &Wanted, inactive: Option<Register>) -> Option<()> {
        for (index, node) in wanted.graph.nodes().iter().enumerate() {
            if self.plan.is_used(index) && !self.plan.shared[index] {
                for way in 0..self.ways {
                    match node {
                        Node::Splat(_) => {}
                        Node::Row(_) | Node::Memory(..) => {
                            let from = match node {
                                Node::Memory(place, _) => words(*place, way),
                                Node::Row(row) => column(*row, way),
                                _ => return None,
                            };
                            let to = self.take(Value::of(index), false, way)?;
                            self.push(Instruction::with2(Code::EVEX_Vmovdqu32_zmm_k1z_zmmm512, to, from))?;
                        }
                        Node::Operation(operation) => self.operation(index, operation, way)?,
                    }
                }
            }
            for (to, value) in std::mem::take(&mut self.plan.stores[index]) {
                let is_done = self.plan.last[value.index()] == Some(2 * index + 1) && !self.plan.shared[value.index()];
                for way in 0..self.ways {
                    self.store(to, value, way, inactive)?;
                    self.done(value, is_done, way);
                }
            }
        }
        Some(())
    }

    /// The end: as a result, the lanes that jump below and those that do not above.
    fn finish(mut self) -> Option<Vec<u8>> {
        use Register::{EAX, R9D, R10D};
        self.push(Instruction::with3(Code::Imul_r32_rm32_imm32, EAX, R10D, 0x1_0000))?;
        self.push(Instruction::with2(Code::Or_r32_rm32, EAX, R9D))?;
        self.push(Ok(Instruction::with(Code::VEX_Vzeroupper)))?;
        self.push(Ok(Instruction::with(Code::Retnq)))?;
        Some(self.encoder.take_buffer())
    }

    /// Adds an instruction; nothing when there is no such instruction, which would be a mistake of ours.
    fn push(&mut self, instruction: Result<Instruction, IcedError>) -> Option<()> {
        let written = instruction.and_then(|instruction| self.encoder.encode(&instruction, self.place));
        debug_assert!(written.is_ok(), "{written:?}");
        self.place += written.ok()? as u64;
        Some(())
    }

    /// A register for a value.
    fn take(&mut self, value: Value, is_mask: bool, way: usize) -> Option<Register> {
        let register = if is_mask { &mut self.masks } else { &mut self.vectors }.pop()?;
        self.registers[value.index()][way] = Some(register);
        Some(register)
    }

    /// A value is not needed any more, if so.
    fn done(&mut self, value: Value, is_done: bool, way: usize) {
        if is_done && let Some(register) = self.registers[value.index()][way].take() {
            if register.is_k() { &mut self.masks } else { &mut self.vectors }.push(register);
        }
    }

    fn operation(&mut self, index: usize, operation: &Operation, way: usize) -> Option<()> {
        let mut code = operation.code;
        let mut arguments = operation.arguments;
        let all = || operation.arguments.into_iter().chain([operation.mask]).flatten();
        let ending: Vec<Value> = all().filter(|&value| self.plan.ends(value, index)).collect();
        let dying = |value: Value| ending.contains(&value);
        if let (Some(on_addend), [Some(a), Some(b), Some(c)]) = (on_addend(code), arguments) {
            // The result takes the place of an argument: one that nobody needs any more, if there is one.
            if !dying(a) && dying(b) && b != c {
                arguments = [Some(b), Some(a), Some(c)];
            } else if !dying(a) && dying(c) && c != a && c != b {
                code = on_addend;
                arguments = [Some(c), Some(a), Some(b)];
            }
        }
        let mut registers = [None; 3];
        for (register, argument) in registers.iter_mut().zip(arguments) {
            *register = match argument {
                Some(argument) => Some(self.registers[argument.index()][way]?),
                None => None,
            };
        }
        let mask = match operation.mask {
            Some(mask) => self.registers[mask.index()][way]?,
            None => Register::None,
        };
        let to;
        if replaces(code) {
            let (first, from) = (arguments[0]?, registers[0]?);
            if dying(first) && !arguments[1..].contains(&Some(first)) {
                to = from;
                self.registers[first.index()][way] = None;
                self.registers[index][way] = Some(to);
            } else {
                to = self.take(Value::of(index), false, way)?;
                self.push(Instruction::with2(Code::EVEX_Vmovdqa32_zmm_k1z_zmmm512, to, from))?;
            }
            all().for_each(|argument| self.done(argument, dying(argument), way));
            registers.rotate_left(1);
            registers[2] = None;
        } else {
            all().for_each(|argument| self.done(argument, dying(argument), way));
            to = self.take(Value::of(index), operation.is_mask, way)?;
        }
        let operands = operands(code, to, registers);
        let number = operation.immediate.map(u32::from);
        let mut instruction = match (operands, number) {
            ([a, Some(b), None, None], None) => Instruction::with2(code, a?, b),
            ([a, Some(b), None, None], Some(n)) => Instruction::with3(code, a?, b, n),
            ([a, Some(b), Some(c), None], None) => Instruction::with3(code, a?, b, c),
            ([a, Some(b), Some(c), None], Some(n)) => Instruction::with4(code, a?, b, c, n),
            _ => return None,
        };
        if let Ok(instruction) = &mut instruction {
            instruction.set_op_mask(mask);
            instruction.set_rounding_control(operation.rounding);
        }
        self.push(instruction)
    }

    fn store(&mut self, to: Store, value: Value, way: usize, inactive: Option<Register>) -> Option<()> {
        let mut from = self.registers[value.index()][way]?;
        let to = match to {
            Store::Row(row) => column(row, way),
            Store::Place(place) => words(place, way),
        };
        if let Some(inactive) = inactive {
            // A masked store would keep the next load waiting.
            let mut blend = Instruction::with3(Code::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32, STORED, from, to);
            if let Ok(blend) = &mut blend {
                blend.set_op_mask(inactive);
            }
            self.push(blend)?;
            from = STORED;
        }
        self.push(Instruction::with2(Code::EVEX_Vmovdqu32_zmmm512_k1z_zmm, to, from))
    }
}

/// The operands of an instruction in their sizes, the result first.
fn operands(code: Code, to: Register, from: [Option<Register>; 3]) -> [Option<Register>; 4] {
    let half = |register: Register| Register::YMM0 + (register as u32 - Register::ZMM0 as u32);
    let [a, b, c] = from;
    match code {
        Code::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae | Code::EVEX_Vpmovzxwd_zmm_k1z_ymmm256 => {
            [Some(to), a.map(half), b, c]
        }
        Code::EVEX_Vextracti32x8_ymmm256_k1z_zmm_imm8
        | Code::EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae
        | Code::EVEX_Vpmovdw_ymmm256_k1z_zmm => [Some(half(to)), a, b, c],
        Code::EVEX_Vinserti32x8_zmm_k1z_zmm_ymmm256_imm8 => [Some(to), a, b.map(half), c],
        _ => [Some(to), a, b, c],
    }
}

/// For a fused product whose result takes the place of a factor: the instruction whose result takes that of the addend.
fn on_addend(code: Code) -> Option<Code> {
    Some(match code {
        Code::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er => Code::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfmsub213ps_zmm_k1z_zmm_zmmm512b32_er => Code::EVEX_Vfmsub231ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er => Code::EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfnmsub213ps_zmm_k1z_zmm_zmmm512b32_er => Code::EVEX_Vfnmsub231ps_zmm_k1z_zmm_zmmm512b32_er,
        _ => return None,
    })
}

/// Whether the result takes the place of the first argument.
fn replaces(code: Code) -> bool {
    code == Code::EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8
        || on_addend(code).is_some()
        || matches!(
            code,
            Code::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er
                | Code::EVEX_Vfmsub231ps_zmm_k1z_zmm_zmmm512b32_er
                | Code::EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er
                | Code::EVEX_Vfnmsub231ps_zmm_k1z_zmm_zmmm512b32_er
        )
}
