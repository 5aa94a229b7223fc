//! The registers that a group accesses, repetitions included.

use std::ops::Range;

use isaforge_core::group::Group;
use isaforge_core::group::info::{self, GroupRegister};
use isaforge_core::group::table::GroupIsa;
use isaforge_core::group::value::Values;
use isaforge_core::machine::{self, Hardware, Named, group_register, register_of};
use isaforge_core::semantics::{self as intrinsic, Effects, NONE, Node, Op, Shape, Type};

use crate::access::Found;
use crate::registers::Register;
use crate::set::Set;

/// The maximum number of consecutive registers that a call accesses.
const MAX_REGISTERS: u32 = 64;

/// The registers that a group accesses.
#[derive(Debug)]
pub(super) struct Registers<'g> {
    set: &'g Set,
    isa: &'static GroupIsa,
    pub found: Found,
    /// Ranges of a bank that it may read besides: where an index leads, and what follows the first register of a call.
    pub may_read: Vec<(u16, Range<u32>)>,
    /// Whether an index selects a register that it writes.
    pub writes_indexed: bool,
    /// The registers that earlier repetitions have written completely.
    known: Vec<Register>,
}

/// The registers that the operands of a group name, and whether the group writes them.
pub(super) fn named(isa: &'static GroupIsa, group: &Group) -> Vec<(GroupRegister, bool)> {
    let mut found = Vec::new();
    for written in [false, true] {
        info::registers(isa, group, written, |register| found.push((register, written)));
    }
    found
}

impl<'g> Registers<'g> {
    /// Finds the registers of a group: those of its graph or, without one, those that its operands name. `whole` tells
    /// whether all active lanes execute it.
    pub fn of(
        (set, isa): (&'g Set, &'static GroupIsa),
        values: &Values,
        named: &[(GroupRegister, bool)],
        shape: Option<&Shape>,
        whole: bool,
    ) -> Self {
        let mut found = Registers {
            set,
            isa,
            found: Found::default(),
            may_read: Vec::new(),
            writes_indexed: false,
            known: Vec::new(),
        };
        let Some(shape) = shape else {
            named.iter().for_each(|(register, written)| found.access(*register, 0, written.then_some(whole)));
            return found;
        };
        for node in &shape.nodes {
            let register = || info::register_of(isa, values, u8::try_from(node.args[0]).ok()?);
            let element = u32::from(node.args[1]);
            match node.op {
                Op::Operand => {
                    register().into_iter().for_each(|register| found.access(register, element, None));
                }
                Op::Write => {
                    let whole = whole && node.args[3] == NONE;
                    register().into_iter().for_each(|register| found.access(register, element, Some(whole)));
                }
                Op::Intrinsic => found.call(node, shape, values, named),
                Op::Commit => {
                    let whole = found.found.writes.iter().filter(|(_, whole)| *whole);
                    found.known = whole.map(|(register, _)| *register).collect();
                }
                _ => {}
            }
        }
        found
    }

    /// Adds the register `offset` after a named one: a read, or a write and whether it is of the whole register.
    fn access(&mut self, named: GroupRegister, offset: u32, write_whole: Option<bool>) {
        let operand = self.isa.operands.get(usize::from(named.operand)).map_or("", |operand| operand.name);
        self.access_by(operand, named, offset, write_whole);
    }

    /// The same for a register that `operand` names.
    fn access_by(&mut self, operand: &'static str, named: GroupRegister, offset: u32, write_whole: Option<bool>) {
        let place = self.set.hardware.and_then(|hardware| {
            let place = register_of(self.isa, hardware, named.bank, named.number)?;
            Some((hardware, place, hardware.banks.get(usize::from(place.first.bank))?))
        });
        let mut register = None;
        let mut whole = write_whole;
        match place {
            Some((hardware, Named { first, index: None }, bank)) => {
                let offset = if bank.stays { 0 } else { offset };
                register =
                    self.register(hardware, machine::Register { index: first.index.saturating_add(offset), ..first });
            }
            Some((hardware, Named { first, index: Some(index) }, _)) => {
                self.register(hardware, index).into_iter().for_each(|index| self.read(operand, index));
                whole = whole.map(|_| false);
                match write_whole {
                    Some(_) => self.writes_indexed = true,
                    None => self.may_read.extend(self.ranges(hardware, first.bank)),
                }
            }
            None => {}
        }
        let register = register.unwrap_or_else(|| {
            let low = self.isa.registers.iter().find(|name| name.bank == named.bank).map_or(0, |name| name.low.min(16));
            let number = named.number.max(0) as u32;
            Register { bank: named.bank as u16, index: number.saturating_add(offset << low) }
        });
        match whole {
            Some(whole) => self.found.write(operand, register, whole),
            None => self.read(operand, register),
        }
    }

    fn read(&mut self, operand: &'static str, register: Register) {
        if !self.known.contains(&register) {
            self.found.read(operand, register);
        }
    }

    /// The name that groups have for a register of the machine.
    fn register(&self, hardware: &Hardware, of: machine::Register) -> Option<Register> {
        let (bank, number) = group_register(self.isa, hardware, of)?;
        Some(Register { bank: bank.try_into().ok()?, index: number.try_into().ok()? })
    }

    /// The names that groups have for the registers of a bank of the machine.
    fn ranges(&self, hardware: &Hardware, bank: u16) -> Vec<(u16, Range<u32>)> {
        let names = self.isa.registers.iter().zip(hardware.named);
        let names = names.filter(|(_, named)| named.is_some_and(|n| n.index.is_none() && n.first.bank == bank));
        names
            .map(|(name, _)| {
                let end = |number: i64| u32::try_from((number << name.low.min(16)) | name.is).unwrap_or(u32::MAX);
                (name.bank as u16, end(name.from)..end(name.to).saturating_add(1))
            })
            .collect()
    }

    /// Adds the registers that an intrinsic accesses: those that its declaration says. Without any, they are those of the
    /// operands that are passed to it and, if it has effects of its own, all that the group names.
    fn call(&mut self, node: &Node, shape: &Shape, values: &Values, named: &[(GroupRegister, bool)]) {
        let called = self.set.semantics.and_then(|semantics| semantics.intrinsics.get(usize::from(node.args[0])));
        let Some(called) = called.filter(|called| called.effects != Effects::default()) else { return };
        let argument = |k: usize| shape.constant(*shape.lists.get(usize::from(node.args[1]) + k)?);
        let bursts = self.set.hardware.map_or(&[][..], |hardware| hardware.bursts);
        if let Some(burst) = bursts.iter().find(|burst| burst.intrinsic == node.args[0]) {
            let writes = !burst.stores;
            let burst = intrinsic::Registers { first: 0, name: "", bank: None, count: Some(2), times: 1, writes };
            return self.transfer(&burst, values, argument);
        }
        if !called.registers.is_empty() {
            return called.registers.iter().for_each(|registers| self.transfer(registers, values, argument));
        }
        let parameters = called.parameters.iter().enumerate().filter(|(_, ty)| **ty == Type::unsigned(16));
        let passed: Vec<u64> = parameters.filter_map(|(k, _)| argument(k)).collect();
        for (register, written) in named {
            let passed = passed.iter().find(|passed| **passed as u8 == register.operand);
            let first = passed.map_or(0, |passed| (passed >> 8) as u32);
            self.access(*register, first, written.then_some(false));
            self.read_from(*register, first, MAX_REGISTERS);
        }
    }

    /// Adds consecutive registers that an intrinsic accesses. An argument that is an operand is its index, with an offset
    /// in the high byte.
    fn transfer(&mut self, registers: &intrinsic::Registers, values: &Values, argument: impl Fn(usize) -> Option<u64>) {
        let Some(first) = argument(registers.first.into()) else { return };
        let found = match registers.bank {
            None => info::register_of(self.isa, values, first as u8).map(|found| (found, (first >> 8) as u32)),
            Some(bank) => self.set.hardware.and_then(|hardware| {
                let (bank, number) =
                    group_register(self.isa, hardware, machine::Register { bank, index: first as u32 })?;
                Some((GroupRegister { operand: u8::MAX, bank, number }, 0))
            }),
        };
        let Some((register, first)) = found else { return };
        let count = registers.count.map_or(Some(1), |count| argument(count.into()));
        let count = count.map(|count| (count as u32).saturating_mul(registers.times.into()));
        let operand =
            self.isa.operands.get(usize::from(register.operand)).map_or(registers.name, |operand| operand.name);
        let written = registers.writes.then_some(false);
        match count {
            Some(count) if count <= MAX_REGISTERS => {
                (first..first + count).for_each(|offset| self.access_by(operand, register, offset, written));
            }
            _ if registers.writes => self.access_by(operand, register, first, written),
            None => {
                self.access_by(operand, register, first, written);
                self.read_from(register, first, MAX_REGISTERS);
            }
            Some(count) => self.read_from(register, first, count),
        }
    }

    /// Adds that `count` registers from one on may be read.
    fn read_from(&mut self, register: GroupRegister, offset: u32, count: u32) {
        let from = (register.number.max(0) as u32).saturating_add(offset);
        self.may_read.push((register.bank as u16, from..from.saturating_add(count)));
    }
}
