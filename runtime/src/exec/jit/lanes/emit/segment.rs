//! Emits the computation of a segment: its values, which stay in registers, and its stores.

use std::ops::Range;

use iced_x86::{Instruction, MemoryOperand, Register};

use super::plan::{Location, Plan, Segment, Store};
use super::{Access, Emitter, WAYS, flow, slot};
use crate::exec::jit::lanes::graph::{Graph, Node, Operation, Value};
use crate::exec::jit::lanes::host::{Host, on_addend, operands, replaces};
use crate::exec::jit::lanes::row::COLUMN;
use crate::exec::jit::lanes::window::Window;

/// How many ways an instruction is executed for at a time, if there are more.
const STRIP: usize = 4;

impl Emitter {
    /// Emits the computation of a segment, for each way. If there are many, each instruction is executed for some of
    /// them and then for the others, which takes fewer registers for temporary values.
    pub(super) fn body(&mut self, graph: &Graph, segment: &Segment, plan: &Plan, homes: &[Location]) -> Option<()> {
        let Range { start, end } = segment.nodes;
        if self.ways <= STRIP {
            self.nodes(graph, (start..end, 0..self.ways), plan, homes)?;
        } else {
            let mut first = start;
            while first < end {
                let origin = graph.origin(first);
                let next = (first..end).find(|index| graph.origin(*index) != origin).unwrap_or(end);
                for way in (0..self.ways).step_by(STRIP) {
                    self.nodes(graph, (first..next, way..way + STRIP), plan, homes)?;
                }
                first = next;
            }
        }
        self.mark(None);
        Some(())
    }

    /// Emits the computation of some nodes for some of the ways.
    fn nodes(
        &mut self,
        graph: &Graph,
        (nodes, ways): (Range<usize>, Range<usize>),
        plan: &Plan,
        homes: &[Location],
    ) -> Option<()> {
        let first = nodes.start;
        let is_made = |index: usize| nodes.contains(&index) && plan.is_used(index) && homes[index] == Location::Segment;
        // Masks are few: one that only the next node needs is used at once for each way, and so is the next node's
        // own mask.
        let is_passed_on = |index: usize| {
            is_made(index)
                && is_made(index + 1)
                && graph.nodes()[index].is_mask()
                && plan.ends(Value::of(index), index + 1)
                && plan.stores(index).is_empty()
                && graph.origin(index) == graph.origin(index + 1)
        };
        let mut next = first;
        for index in first..nodes.end.max(first + 1) {
            if is_made(index) && index >= next {
                self.mark(graph.origin(index));
                next = index + 1;
                while is_passed_on(next - 1) {
                    next += 1;
                }
                for way in ways.clone() {
                    for index in index..next {
                        self.node(graph, index, way, plan, homes)?;
                    }
                }
            }
            // Stores everything that is masked for one way before the mask register is reused for another.
            let stores = plan.stores(index);
            for way in ways.clone() {
                for (nth, &(to, value)) in stores.iter().enumerate() {
                    let is_last = stores[nth + 1..].iter().all(|(_, other)| *other != value);
                    self.begin_node(index, std::iter::once(value));
                    let from = self.operand(graph, value, way, homes)?;
                    self.store(to, from, way)?;
                    let is_constant = homes[value.index()] == Location::Constant;
                    self.done(value, is_constant || is_last && plan.ends_after(value, index), way);
                }
            }
        }
        Some(())
    }

    /// Emits the values that all warps share.
    pub(super) fn fixed(&mut self, graph: &Graph, plan: &Plan, homes: &[Location]) -> Option<()> {
        let nodes = graph.nodes();
        let is_made = |home: Location| !matches!(home, Location::Segment | Location::Constant);
        let fixed: Vec<usize> = (0..homes.len()).filter(|&index| is_made(homes[index])).collect();
        for (at, &index) in fixed.iter().enumerate() {
            self.node(graph, index, 0, plan, homes)?;
            for argument in nodes[index].arguments() {
                let again = |later: &usize| nodes[*later].arguments().any(|other| other == argument);
                let is_done = match homes[argument.index()] {
                    Location::Before => !fixed[at + 1..].iter().any(again),
                    home => matches!(home, Location::Slot(_)),
                };
                self.done(argument, is_done, 0);
            }
            if let Location::Slot(to) = homes[index] {
                let from = self.registers[index][0]?;
                self.save(slot(to), from)?;
                self.done(Value::of(index), true, 0);
            }
        }
        for &index in fixed.iter().filter(|&&index| homes[index] == Location::Register) {
            self.registers[index] = [self.registers[index][0]; WAYS];
        }
        Some(())
    }

    fn node(&mut self, graph: &Graph, index: usize, way: usize, plan: &Plan, homes: &[Location]) -> Option<()> {
        let node = &graph.nodes()[index];
        let value = Value::of(index);
        self.begin_node(index, node.arguments());
        match node {
            Node::Operation(operation) => match self.host {
                Host::Avx512 => self.operation(graph, value, operation, way, plan, homes),
                Host::Avx2 => self.operation_of_avx2(graph, value, way, plan, homes),
            },
            Node::Splat(word) => {
                let to = self.take(value, false, way)?;
                self.splat(to, *word)
            }
            Node::Memory(window, offset, _) => {
                let to = self.take(value, false, way)?;
                let from = self.words(*window, *offset, way)?;
                match self.windows.get(*window)?.contiguous {
                    true => self.load(to, from),
                    false => self.load_splat(to, from),
                }
            }
            Node::Set(set, _) => {
                let to = self.take(value, true, way)?;
                if self.access != Access::From {
                    return None;
                }
                let lanes = self.set(*set, way)?;
                self.load_mask(to, lanes)
            }
            Node::Lanes(lanes, _) => {
                let to = self.take(value, true, way)?;
                self.load_lanes(to, *lanes, way)
            }
            Node::Reach(reach, extent) => {
                let to = self.take(value, false, way)?;
                self.load_splat(to, flow::extent(*reach, *extent))
            }
            Node::Indexed(indexed) => self.indexed(graph, value, indexed, way, plan, homes),
            Node::Active if self.keeps_active => {
                self.registers[index][way] = Some(self.active(way));
                Some(())
            }
            Node::Active => {
                let to = self.take(value, true, way)?;
                self.load_mask(to, self.active_bits(way))
            }
            Node::Row(row, _) => {
                let home = self.home(*row, way);
                if let (Some(home), true) = (home, plan.is_kept(index)) {
                    self.registers[index][way] = Some(home);
                    return Some(());
                }
                let to = self.take(value, false, way)?;
                match home {
                    Some(home) => self.copy(to, home),
                    None => self.load(to, self.column(*row, way)),
                }
            }
        }
    }

    /// Returns the lanes of a set that belong to a way.
    pub(super) fn set(&self, set: u16, way: usize) -> Option<MemoryOperand> {
        flow::set(set, self.first + way, self.host)
    }

    /// Returns the part of a row that belongs to a way.
    pub(super) fn column(&self, row: u32, way: usize) -> MemoryOperand {
        let first = i64::from(row) * self.bytes(self.columns * self.pieces);
        let displacement = first + self.bytes(self.first + way);
        match self.access {
            Access::Active | Access::From => MemoryOperand::with_base_displ(Register::RDI, displacement),
            _ => MemoryOperand::new(Register::RDI, Register::RAX, 1, displacement, 1, false, Register::None),
        }
    }

    /// Returns the words of a window that belong to a way.
    fn words(&self, window: usize, offset: i32, way: usize) -> Option<MemoryOperand> {
        let (pointer, window) = (*self.pointers.get(window)?, self.windows.get(window)?);
        let (way, pieces) = (self.first + way, self.pieces);
        let within = if window.contiguous { self.bytes(way % pieces) } else { 0 };
        let further = (way / pieces) as i64 * i64::from(window.column) + within;
        let further = i64::from(offset) - i64::from(window.from) + further;
        if self.access != Access::But || window.column == 0 {
            return Some(MemoryOperand::with_base_displ(pointer, further));
        }
        // The warp is not known in advance: the offset of its columns in rows gives their offset in the window, if a
        // scale can convert it.
        let scale = window.column / COLUMN as u32;
        let fits = [1, 2, 4, 8].contains(&scale) && scale * COLUMN as u32 == window.column;
        fits.then(|| MemoryOperand::new(pointer, Register::RAX, scale, further, 1, false, Register::None))
    }

    /// Pins rows to registers.
    pub(super) fn pin(&mut self, rows: &[u32]) -> Option<()> {
        for &row in rows {
            let mut home = [Register::None; WAYS];
            for home in home.iter_mut().take(self.ways) {
                *home = self.vectors.pop()?;
            }
            self.homes.push((row, home));
        }
        Some(())
    }

    /// Loads the pinned rows.
    pub(super) fn load_pinned(&mut self) -> Option<()> {
        for (row, home) in self.homes.clone() {
            for (way, home) in home.into_iter().enumerate().take(self.ways) {
                self.load(home, self.column(row, way))?;
            }
        }
        Some(())
    }

    /// Returns the register of a pinned row.
    pub(super) fn home(&self, row: u32, way: usize) -> Option<Register> {
        self.homes.iter().find(|(other, _)| *other == row).map(|(_, home)| home[way])
    }

    /// Allocates a register for a value.
    pub(super) fn take(&mut self, value: Value, is_mask: bool, way: usize) -> Option<Register> {
        let has_masks = self.host == Host::Avx512;
        // The mask of a branch is no operand of other instructions.
        let spare = if self.leaving == Some(value) && way + 1 == self.ways { self.spare.take() } else { None };
        let register = match spare {
            Some(register) => register,
            None if is_mask && has_masks => self.masks.pop()?,
            None => self.vector()?,
        };
        self.registers[value.index()][way] = Some(register);
        Some(register)
    }

    /// Returns the register of a value, which is loaded if its location is in memory.
    pub(super) fn operand(&mut self, graph: &Graph, value: Value, way: usize, homes: &[Location]) -> Option<Register> {
        let from = match (self.registers[value.index()][way], homes[value.index()]) {
            (None, _) if let Some(place) = self.spill(value) => place,
            (None, Location::Slot(at)) => slot(at),
            (None, Location::Constant) => self.constant([graph.constant(value)?; 8]),
            (register, _) => return register,
        };
        let to = self.take(value, false, way)?;
        self.load(to, from)?;
        Some(to)
    }

    /// Frees the register of a value, if `is_done`.
    pub(super) fn done(&mut self, value: Value, is_done: bool, way: usize) {
        if let Some(spills) = self.spills.as_mut().filter(|_| is_done) {
            spills.done(value);
        }
        if is_done && let Some(register) = self.registers[value.index()][way].take() {
            match register {
                Register::K0 => self.spare = Some(register),
                _ if self.keeps_active && register == self.active(way) => {}
                _ if register.is_k() => self.masks.push(register),
                _ => self.vectors.push(register),
            }
        }
    }

    fn operation(
        &mut self,
        graph: &Graph,
        value: Value,
        operation: &Operation,
        way: usize,
        plan: &Plan,
        homes: &[Location],
    ) -> Option<()> {
        let mut code = operation.code;
        let mut arguments = operation.arguments;
        let index = value.index();
        let all = || operation.arguments.into_iter().chain([operation.mask]).flatten();
        let (row, is_masked) = plan.home(index).unzip();
        let (home, is_masked) = (row.and_then(|row| self.home(row, way)), is_masked == Some(true));
        for argument in all() {
            self.operand(graph, argument, way, homes)?;
        }
        let at = |value: Value| self.registers[value.index()][way];
        // Some instructions overwrite an argument: it should be one that is already in place, or that is no longer
        // needed.
        let ends = |value: Value| plan.ends(value, index);
        let gives = |value: Value| if home.is_some() { at(value) == home } else { ends(value) };
        if let (Some(on_addend), [Some(a), Some(b), Some(c)]) = (on_addend(code), arguments)
            && !gives(a)
        {
            if gives(b) && (home.is_some() || b != c) {
                arguments = [Some(b), Some(a), Some(c)];
            } else if gives(c) && (home.is_some() || c != a && c != b) {
                code = on_addend;
                arguments = [Some(c), Some(a), Some(b)];
            }
        }
        let mut registers = [None; 3];
        for (register, argument) in registers.iter_mut().zip(arguments) {
            *register = match argument {
                Some(argument) => Some(at(argument)?),
                None => None,
            };
        }
        let mask = match operation.mask {
            Some(mask) => at(mask)?,
            None => Register::None,
        };
        let to;
        if replaces(code) {
            let (first, from) = (arguments[0]?, registers[0]?);
            if home.is_none() && ends(first) && !arguments[1..].contains(&Some(first)) {
                to = from;
                self.registers[first.index()][way] = None;
                self.registers[index][way] = Some(to);
            } else {
                to = self.target(value, home, false, way)?;
                if to != from {
                    self.copy(to, from)?;
                }
            }
            all().for_each(|argument| self.done(argument, plan.ends(argument, index), way));
            registers.rotate_left(1);
            registers[2] = None;
        } else {
            all().for_each(|argument| self.done(argument, plan.ends(argument, index), way));
            to = self.target(value, home, operation.is_mask, way)?;
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
        if is_masked {
            self.load_active(way)?;
        }
        if let Ok(instruction) = &mut instruction {
            instruction.set_op_mask(if is_masked { self.active(way) } else { mask });
            instruction.set_rounding_control(operation.rounding);
        }
        self.push(instruction)
    }

    /// Returns the register in which a value is computed.
    pub(super) fn target(
        &mut self,
        value: Value,
        home: Option<Register>,
        is_mask: bool,
        way: usize,
    ) -> Option<Register> {
        if home.is_some() {
            self.registers[value.index()][way] = home;
            return home;
        }
        self.take(value, is_mask, way)
    }

    fn store(&mut self, to: Store, from: Register, way: usize) -> Option<()> {
        let to = match to {
            Store::Row(row) => {
                if let Some(home) = self.home(row, way) {
                    return self.move_home(row, home, from, way);
                }
                if self.loose.contains(&row) {
                    self.seek_nan(from)?;
                }
                self.column(row, way)
            }
            // If several lanes store to the same address, handlers do it.
            Store::Memory(window, offset) => {
                let Window { contiguous, column, .. } = self.windows.get(window)?;
                if !contiguous || (*column as usize) < COLUMN {
                    return None;
                }
                self.words(window, offset, way)?
            }
        };
        self.store_masked(to, from, way)
    }
}
