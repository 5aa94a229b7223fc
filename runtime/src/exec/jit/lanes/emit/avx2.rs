//! Emits AVX2 instructions. The last argument of most may be in memory, so constants after the code need no register.

use iced_x86::{Code, Instruction, MemoryOperand, OpKind, Register};

use super::Emitter;
use super::plan::{Location, Plan};
use crate::exec::jit::lanes::graph::{Graph, Operation, Value};
use crate::exec::jit::lanes::host::{in_avx2, on_addend, on_factor, operands, reads_memory, replaces};

/// The location of an argument.
#[derive(Clone, Copy)]
enum Argument {
    Register(Register),
    Memory(MemoryOperand),
}

impl Emitter {
    pub(super) fn operation_of_avx2(
        &mut self,
        graph: &Graph,
        value: Value,
        way: usize,
        plan: &Plan,
        homes: &[Location],
    ) -> Option<()> {
        let (index, operation) = (value.index(), graph.operation_of(value)?);
        let home = plan.home(index).and_then(|(row, _)| self.home(row, way));
        let is_constant = |value: Value| homes[value.index()] == Location::Constant;
        let all = || operation.arguments.into_iter().chain([operation.mask]).flatten();
        for argument in all().filter(|argument| !is_constant(*argument)) {
            self.operand(graph, argument, way, homes)?;
        }
        let at = |value: Value| self.registers[value.index()][way];
        let ends = |value: Value| !is_constant(value) && plan.ends(value, index);
        let gives = |value: Value| if home.is_some() { at(value) == home } else { ends(value) };
        let (code, arguments) = order(operation, home.is_some(), gives, is_constant);
        let mask = operation.mask.and_then(at);
        let (has, replaces) = (in_avx2(of_masks(code))?, replaces(code));
        let count = arguments.iter().flatten().count();
        let (mut places, mut loaded) = ([None; 3], Vec::new());
        for (nth, argument) in arguments.into_iter().enumerate() {
            let Some(argument) = argument else { continue };
            places[nth] = match graph.constant(argument).filter(|_| is_constant(argument)) {
                Some(word) => {
                    let memory = self.constant([word; 8]);
                    let in_memory = nth == 0 && replaces || nth + 1 == count && reads_memory(has);
                    Some(if in_memory {
                        Argument::Memory(memory)
                    } else {
                        // Loads it into a register for this instruction only.
                        let register = self.vector()?;
                        self.load(register, memory)?;
                        loaded.push(register);
                        Argument::Register(register)
                    })
                }
                None => Some(Argument::Register(self.registers[argument.index()][way]?)),
            };
        }
        if code == Code::VEX_Knotw_kr_kr {
            places[1] = Some(Argument::Memory(self.constant([u32::MAX; 8])));
        }
        let to;
        if replaces {
            let (first, from) = (arguments[0]?, places[0]?);
            match from {
                Argument::Register(from) if home.is_none() && ends(first) && !arguments[1..].contains(&Some(first)) => {
                    to = from;
                    self.registers[first.index()][way] = None;
                    self.registers[index][way] = Some(to);
                }
                Argument::Register(from) => {
                    to = self.target(value, home, false, way)?;
                    if to != from {
                        self.copy(to, from)?;
                    }
                }
                Argument::Memory(from) => {
                    to = self.target(value, home, false, way)?;
                    self.load(to, from)?;
                }
            }
            all().for_each(|argument| self.done(argument, ends(argument), way));
            places.rotate_left(1);
            places[2] = None;
        } else {
            all().for_each(|argument| self.done(argument, ends(argument), way));
            to = self.target(value, home, operation.is_mask, way)?;
        }
        self.push(Ok(instruction(code, has, to, places, mask, operation.immediate)))?;
        self.vectors.extend(loaded);
        Some(())
    }
}

/// Builds the AVX2 instruction with operands of the right sizes.
fn instruction(
    code: Code,
    has: Code,
    to: Register,
    places: [Option<Argument>; 3],
    mask: Option<Register>,
    immediate: Option<u8>,
) -> Instruction {
    let registers = places.map(|place| match place {
        Some(Argument::Register(register)) => Some(register),
        _ => None,
    });
    let sized = operands(code, to, registers);
    let mut instruction = Instruction::default();
    instruction.set_code(has);
    instruction.set_op0_register(sized[0].unwrap_or(to));
    let mut next = 1;
    for (place, register) in places.into_iter().zip(&sized[1..]) {
        match (place, register) {
            (Some(Argument::Memory(memory)), _) => {
                instruction.set_op_kind(next, OpKind::Memory);
                instruction.set_memory_base(memory.base);
                instruction.set_memory_displacement64(memory.displacement as u64);
                instruction.set_memory_displ_size(8);
            }
            (Some(_), Some(register)) => instruction.set_op_register(next, *register),
            _ => continue,
        }
        next += 1;
    }
    if let Some(mask) = mask {
        instruction.set_op_register(next, mask);
        next += 1;
    }
    if let Some(immediate) = immediate {
        instruction.set_op_kind(next, OpKind::Immediate8);
        instruction.set_immediate8(immediate);
    }
    instruction
}

/// Returns the instruction on words that computes an instruction on masks.
fn of_masks(code: Code) -> Code {
    match code {
        Code::VEX_Knotw_kr_kr => Code::VEX_Vpxor_ymm_ymm_ymmm256,
        Code::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32
        | Code::EVEX_Vpblendmw_zmm_k1z_zmm_zmmm512
        | Code::EVEX_Vpblendmb_zmm_k1z_zmm_zmmm512 => Code::VEX_Vpblendvb_ymm_ymm_ymmm256_ymm,
        code => code,
    }
}

/// Returns the order in which a fused multiply-add takes its arguments, so that its result replaces one that is
/// already in place or no longer needed, and a constant comes last.
fn order(
    operation: &Operation,
    at_home: bool,
    gives: impl Fn(Value) -> bool,
    is_constant: impl Fn(Value) -> bool,
) -> (Code, [Option<Value>; 3]) {
    let Operation { code, arguments, .. } = *operation;
    let [Some(a), Some(b), Some(c)] = arguments else { return (code, arguments) };
    let (Some(on_addend), Some(on_factor)) = (on_addend(code), on_factor(code)) else { return (code, arguments) };
    if !gives(a) && gives(b) && (at_home || b != c) {
        return (code, [Some(b), Some(a), Some(c)]);
    }
    if !gives(a) && gives(c) && (at_home || c != a && c != b) {
        return (on_addend, [Some(c), Some(a), Some(b)]);
    }
    if is_constant(b) && !is_constant(c) {
        return (on_factor, [Some(a), Some(c), Some(b)]);
    }
    (code, arguments)
}
