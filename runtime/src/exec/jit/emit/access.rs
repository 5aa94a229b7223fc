//! Emits accesses to memory, through the windows that may contain their address.

use iced_x86::Register;
use isaforge_core::semantics::{Op as Pure, Type};

use super::{Emit, Target};
use crate::exec::ir::{Op, Value};
use crate::exec::jit::context::WINDOWS;
use crate::exec::jit::emitted::{Exit, Why, Window};
use crate::exec::jit::liveness::Schedule;
use crate::exec::jit::masm::{Binary, Flags, Source, at, indexed};
use crate::exec::jit::regalloc::{CONTEXT, Guest, Values};

impl Emit<'_> {
    /// Accesses memory through the first of its windows that contains the address; if none does, the evaluator makes
    /// the access.
    pub(super) fn access(
        &mut self,
        (number, access, exit): (usize, usize, Exit),
        values: &mut Values<'_>,
        schedule: &Schedule,
        address: Value,
        target: Target,
    ) {
        let region = self.region;
        let block = &region.blocks[number];
        let accesses = &block.accesses;
        let size = accesses[access].size;
        let instruction = accesses[access].instruction;
        let within = accesses[..access].iter().filter(|other| other.instruction == instruction).count() as u32;
        let pc = block.instructions[instruction as usize];
        // Splits the address into a register and a constant.
        let node = block.graph.node(address);
        let (register, sum, ty) = match (schedule.inlined[address.0 as usize], node.op, node.args) {
            (true, Op::Pure(Pure::Add, _), [Some(register), Some(by), _]) => {
                (register, block.graph.number(by).unwrap_or(0), node.ty)
            }
            _ => (address, 0, Type::U64),
        };
        let narrow = ty.bits <= 32;
        // Sums of 32 bits wrap at 4 GiB.
        let reached = |window: &usize| {
            let window = self.windows[*window];
            !narrow || window.base.checked_add(window.size).is_some_and(|end| end <= 1 << 32)
        };
        let windows: Vec<usize> = self.wanted[number][access].iter().copied().filter(reached).collect();
        let base = values.in_register(&mut self.masm, register, &[]);
        let mut but = vec![base];
        let stored = match target {
            Target::Store(value) => match values.source(value, true) {
                Some(number @ Source::Number(_)) => Some(number),
                _ => {
                    let register = values.in_register(&mut self.masm, value, &but);
                    but.push(register);
                    Some(Source::Register(register))
                }
            },
            Target::Load(..) => None,
        };
        let offset = values.temp(&mut self.masm, &but);
        but.push(offset);
        let mut select = self.select(values);
        select.used(register);
        // A loaded value may overwrite the register of its address, because all comparisons come before the load.
        let result = match target {
            Target::Load(_, hint) => select.result(hint, &[offset]),
            Target::Store(value) => {
                select.used(value);
                // A register is needed only for the pointer of a window without a home.
                match windows.iter().all(|window| homes_of(select.values, *window).is_some()) {
                    true => offset,
                    false => select.result(None, &but),
                }
            }
        };
        let done = self.masm.label();
        let mut last = 0;
        for (at_window, window) in windows.iter().enumerate() {
            let Window { base: from, size: bytes, .. } = self.windows[*window];
            last = from;
            self.offset(offset, base, sum, ty, from);
            self.masm.binary(Binary::Cmp, true, offset, Source::Number((bytes - u64::from(size)) as i32));
            let more = at_window + 1 < windows.len();
            let next = match more {
                true => self.masm.label(),
                false => {
                    let why = Why::Miss { pc, access: within, base: from, narrow };
                    self.stub(Exit { why, ..exit }, Some(offset))
                }
            };
            self.masm.jump_if(Flags::A, next);
            let pointer = match homes_of(values, *window) {
                Some(home) => home,
                None => {
                    self.masm.load(8, result, at(CONTEXT, WINDOWS + 8 * *window as i32));
                    result
                }
            };
            match stored {
                None => self.masm.load(size, result, indexed(pointer, offset)),
                Some(Source::Number(number)) => self.masm.store_number(size, indexed(pointer, offset), number),
                Some(Source::Register(from)) => self.masm.store(size, indexed(pointer, offset), from),
                Some(Source::Memory(..)) => values.failed = true,
            }
            if more {
                self.masm.jump(done);
                self.masm.bind(next);
            }
        }
        if windows.is_empty() {
            // No window is known yet.
            self.offset(offset, base, sum, ty, last);
            let why = Why::Miss { pc, access: within, base: last, narrow };
            let out = self.stub(Exit { why, ..exit }, Some(offset));
            self.masm.jump(out);
        }
        self.masm.bind(done);
        if let Target::Load(value, _) = target {
            values.put(result, value);
        }
    }

    /// Computes the offset of an address from another, wrapping, so that an address below it becomes a very large
    /// offset.
    fn offset(&mut self, to: Register, base: Register, number: u64, ty: Type, from: u64) {
        let less = number.wrapping_sub(from);
        if ty.bits <= 32 {
            self.masm.lea(false, to, base, None, less as u32 as i32);
            return;
        }
        match i32::try_from(less as i64) {
            Ok(less) => self.masm.lea(true, to, base, None, less),
            Err(_) => {
                self.masm.number(to, less);
                self.masm.binary(Binary::Add, true, to, Source::Register(base));
            }
        }
    }
}

fn homes_of(values: &Values<'_>, window: usize) -> Option<Register> {
    values.homes().get(Guest::Window(window as u32))
}
