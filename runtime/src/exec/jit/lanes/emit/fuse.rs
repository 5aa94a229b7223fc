//! Fuses functions that are called in a known order into one.
//!
//! If it is known in advance which functions are called, for which lanes, and where each accesses memory, no loop
//! over columns is needed: each register of a row becomes a row of its own. Values of all columns stay in registers
//! from one function to the next, and there are no jumps. Memory that is not read afterwards need not be accessed at
//! all: a load from it becomes a move of lanes between the registers that would have been stored there.

use std::ops::Range;
use std::sync::Arc;

use iced_x86::Code;

use super::plan::{Segment, used};
use super::{Emitted, LoopPlan, Wanted};
use crate::exec::jit::lanes::graph::{Graph, Node, Operation, Relation, Value};
use crate::exec::jit::lanes::host::Host;
use crate::exec::jit::lanes::row::{COLUMN, LANES};
use crate::exec::jit::lanes::window::{WINDOWS, Window};

/// The most nodes: more code would not stay in the caches of the processor.
const NODES: usize = 1 << 11;
/// The most values that the words of one load come from.
const SOURCES: usize = 4;

/// A call of a function.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// What the function computes.
    pub wanted: &'a Wanted,
    /// The windows that it accesses, and the start of each.
    pub windows: &'a [Window],
    pub begins: &'a [Begin],
    /// The active lanes of each column.
    pub active: &'a [u16],
    /// The number of consecutive executions.
    pub times: u32,
}

/// The start of a function's window, as a byte offset.
#[derive(Clone, Copy, Debug)]
pub enum Begin {
    /// Into a window of the fused function.
    Window(usize, i64),
    /// Into scratch memory, which is zero before and not read afterwards.
    Scratch(i64),
}

/// A fusion of functions.
#[derive(Debug)]
pub struct Fusion {
    graph: Graph,
    /// The number of registers of a row, and the lanes of each.
    registers: usize,
    lanes: usize,
    windows: Vec<Window>,
    /// The words of scratch memory: each is a lane of a value, or zero.
    scratch: Vec<Option<(Value, usize)>>,
}

/// The words of a load that come from the same value.
struct Source {
    value: Value,
    /// The distance from the lane that receives a word up to the lane it is read from; `None` if the value is the
    /// same in all lanes.
    above: Option<isize>,
    /// The lanes that receive it.
    lanes: u16,
}

impl Fusion {
    /// Creates a fusion without functions, for rows of `columns` columns, with `scratch` bytes of scratch memory.
    pub fn new(graph: Graph, columns: usize, scratch: usize) -> Self {
        let (registers, lanes) = (columns * graph.host().pieces(), graph.host().lanes());
        Fusion { graph, registers, lanes, windows: vec![], scratch: vec![None; scratch.div_ceil(4)] }
    }

    /// Adds a window of some bytes, which all lanes access at the same address unless it is contiguous. Returns its
    /// number, or `None` if there are too many.
    pub fn window(&mut self, contiguous: bool, bytes: usize) -> Option<usize> {
        let column = if contiguous { COLUMN } else { 0 } as u32;
        let window = Window { contiguous, column, ..Window::default() };
        let span = u32::try_from((bytes as u64).checked_sub(window.bytes(1))?).ok()?;
        self.windows.push(Window { span, ..window });
        (self.windows.len() <= WINDOWS).then(|| self.windows.len() - 1)
    }

    /// Adds a call. `None` if it cannot be fused.
    pub fn call(&mut self, call: &Call<'_>) -> Option<()> {
        let Wanted { graph, segment, again, .. } = call.wanted;
        // The lanes that jump are not needed.
        let segment = &Segment { mask: None, ..segment.clone() };
        let used = used(graph, std::iter::once(segment));
        for time in 0..call.times {
            for register in 0..self.registers {
                let (column, piece) = self.place(register);
                let active = call.active.get(column)? >> (piece * self.lanes) & self.all();
                if active != 0 {
                    self.register(call, &used, (time, register, active))?;
                }
            }
        }
        let Some(again) = again else { return Some(()) };
        let is_full = call.active.iter().all(|active| *active == u16::MAX);
        is_full.then(|| (0..self.registers).for_each(|register| self.increase(again, call.times, register)))
    }

    /// Stores some lanes of a row to scratch memory, each at its offset.
    pub fn put(&mut self, row: u32, lanes: impl Iterator<Item = (usize, usize, usize)>) -> Option<()> {
        for (column, lane, at) in lanes {
            let register = column * self.graph.host().pieces() + lane / self.lanes;
            let value = self.graph.read(self.row(row, register));
            *self.scratch.get_mut(word(at as i64)?)? = Some((value, lane % self.lanes));
        }
        Some(())
    }

    /// Returns the code, which is for one register, and the rows that it reads: each register of a row counts as a
    /// row. The code leaves the given columns of rows, and otherwise only what it stores; the `spare` rows hold values
    /// when registers do not suffice. `None` on register pressure, or if the host lacks an operation.
    pub fn finish(
        mut self,
        left: impl Iterator<Item = (u32, usize)>,
        spare: Range<u32>,
    ) -> Option<(Emitted, Vec<u32>)> {
        let mut rows: Vec<(u32, Value)> = Vec::new();
        let pieces = self.graph.host().pieces();
        for (row, register) in left.flat_map(|(row, column)| (0..pieces).map(move |at| (row, column * pieces + at))) {
            let row = self.row(row, register);
            let value = self.graph.read(row);
            if !self.graph.is_row(value, row) && !rows.contains(&(row, value)) {
                rows.push((row, value));
            }
        }
        if self.graph.take_missing() {
            return None;
        }
        let segment = Segment { nodes: self.graph.end_segment(), rows, mask: None, sets: vec![] };
        let used = used(&self.graph, std::iter::once(&segment));
        let nodes = self.graph.nodes().iter().zip(used).filter(|(_, used)| *used);
        let read = nodes.filter_map(|(node, _)| match node {
            Node::Row(row, _) => Some(row / self.registers as u32),
            _ => None,
        });
        let read: Vec<u32> = read.collect();
        // AVX-512 has twice as many registers.
        let spare = if self.graph.host() == Host::Avx2 { spare } else { 0..0 };
        if read.iter().any(|row| spare.contains(row)) {
            return None;
        }
        let spare = self.row(spare.start, 0)..self.row(spare.end, 0);
        let wanted = Wanted { graph: Arc::new(self.graph), segment, columns: 1, again: None };
        Some((Emitted::flat(&wanted, &self.windows, spare)?, read))
    }

    /// Returns the row that stands for a register.
    fn row(&self, row: u32, register: usize) -> u32 {
        row * self.registers as u32 + register as u32
    }

    /// Returns the column that a register belongs to, and the number of its registers before it.
    fn place(&self, register: usize) -> (usize, usize) {
        let pieces = self.graph.host().pieces();
        (register / pieces, register % pieces)
    }

    /// Returns all lanes of a register.
    fn all(&self) -> u16 {
        u16::MAX >> (LANES - self.lanes)
    }

    /// Adds what a function does in the lanes of a register.
    fn register(&mut self, call: &Call<'_>, used: &[bool], (time, register, active): (u32, usize, u16)) -> Option<()> {
        let Wanted { graph, segment, .. } = call.wanted;
        let (column, piece) = self.place(register);
        let within = 4 * (piece * self.lanes) as i64;
        let place = |window: usize, offset: i32| {
            let window_of = call.windows.get(window)?;
            let further = column as i64 * i64::from(window_of.column) + i64::from(time) * i64::from(window_of.stride);
            let further = further + i64::from(offset) - i64::from(window_of.from);
            let further = further + if window_of.contiguous { within } else { 0 };
            Some((call.begins.get(window)?.further(further), window_of.contiguous))
        };
        let nodes = graph.nodes();
        let mut values: Vec<Option<Value>> = vec![None; nodes.len()];
        let (mut stores, mut origin) = (graph.stores().iter().peekable(), None);
        for index in 0..=nodes.len() {
            while let Some(stored) = stores.next_if(|stored| stored.after <= index) {
                let (begin, contiguous) = place(stored.window, stored.offset)?;
                let value = values.get(stored.value.index()).copied()??;
                contiguous.then(|| self.store(begin, value, active))??;
            }
            let Some(node) = nodes.get(index).filter(|_| used[index]) else { continue };
            if graph.origin(index) != origin {
                origin = graph.origin(index);
                self.graph.begin(origin?);
            }
            values[index] = Some(match node {
                Node::Row(row, _) => self.graph.read(self.row(*row, register)),
                Node::Splat(word) => self.graph.splat(*word),
                Node::Memory(window, offset, _) => {
                    let (begin, contiguous) = place(*window, *offset)?;
                    self.load(begin, contiguous, active)?
                }
                Node::Operation(operation) => {
                    let of = |value: Value| values.get(value.index()).copied().flatten();
                    let mask = match operation.mask {
                        Some(mask) => Some(of(mask)?),
                        None => None,
                    };
                    let mut arguments = [None; 3];
                    for (to, from) in arguments.iter_mut().zip(operation.arguments) {
                        *to = match from {
                            Some(from) => Some(of(from)?),
                            None => None,
                        };
                    }
                    self.graph.node(Node::Operation(Operation { arguments, mask, ..*operation }))
                }
                Node::Set(..) | Node::Lanes(..) | Node::Active | Node::Reach(..) | Node::Indexed(_) => return None,
            });
        }
        for (row, value) in &segment.rows {
            let (row, value) = (self.row(*row, register), values.get(value.index()).copied()??);
            let value = if active == self.all() {
                value
            } else {
                let old = self.graph.read(row);
                self.choose(active, value, old)
            };
            self.graph.write(row, value);
        }
        (self.graph.nodes().len() <= NODES).then_some(())
    }

    /// Adds the increments of registers that are not written in each iteration.
    fn increase(&mut self, again: &LoopPlan, times: u32, register: usize) {
        for &(row, stride) in &again.pairs {
            let more = u64::from(stride) * u64::from(times);
            let [low, high] = [row, row + 1].map(|row| self.row(row, register));
            let by = self.graph.splat(more as u32);
            let sum = self.graph.read(low);
            let sum = self.graph.add(sum, by);
            let is_carried = self.graph.compare_unsigned(Relation::Less, sum, by);
            let [with, without] = [1, 0].map(|carry| self.graph.splat(((more >> 32) as u32).wrapping_add(carry)));
            let by = self.graph.select(is_carried, with, without);
            let above = self.graph.read(high);
            let above = self.graph.add(above, by);
            self.graph.write(low, sum);
            self.graph.write(high, above);
        }
        for &(row, step) in &again.words {
            let row = self.row(row, register);
            let by = self.graph.splat(step.wrapping_mul(times));
            let sum = self.graph.read(row);
            let sum = self.graph.add(sum, by);
            self.graph.write(row, sum);
        }
    }

    /// Returns `new` in some lanes, `old` in the others.
    fn choose(&mut self, lanes: u16, new: Value, old: Value) -> Value {
        if lanes == self.all() || new == old {
            return new;
        }
        if self.graph.host() == Host::Avx2 {
            let blend = Code::VEX_Vpblendd_ymm_ymm_ymmm256_imm8;
            return self.graph.apply_immediate(blend, &[old, new], lanes as u8);
        }
        let mask = self.graph.lanes(lanes);
        self.graph.select(mask, new, old)
    }

    /// Loads for some lanes; the content of the others is unspecified.
    fn load(&mut self, begin: Begin, contiguous: bool, active: u16) -> Option<Value> {
        let at = match begin {
            Begin::Scratch(at) => word(at)?,
            Begin::Window(window, at) => {
                let is_alike = self.windows.get(window)?.contiguous == contiguous;
                return is_alike.then(|| Some(self.graph.load(window, i32::try_from(at).ok()?)))?;
            }
        };
        let zero = self.graph.splat(0);
        if !contiguous {
            let (value, lane) = self.scratch.get(at)?.unwrap_or((zero, 0));
            return Some(self.spread(value, lane));
        }
        let mut sources: Vec<Source> = Vec::new();
        for lane in (0..self.lanes).filter(|lane| active >> lane & 1 != 0) {
            let (value, from) = self.scratch.get(at.checked_add_signed(lane as isize)?)?.unwrap_or((zero, lane));
            let above = self.graph.constant(value).is_none().then(|| from as isize - lane as isize);
            match sources.iter_mut().find(|source| source.value == value && source.above == above) {
                Some(source) => source.lanes |= 1 << lane,
                None => sources.push(Source { value, above, lanes: 1 << lane }),
            }
        }
        if sources.len() > SOURCES {
            return None;
        }
        if let [one, other] = &sources[..]
            && let Some(both) = self.joined(one, other).or_else(|| self.joined(other, one))
        {
            return Some(both);
        }
        let mut loaded = None;
        for Source { value, above, lanes } in sources {
            let value = self.shifted(value, above.unwrap_or(0));
            loaded = Some(match loaded {
                Some(others) => self.choose(lanes, value, others),
                None => value,
            });
        }
        loaded
    }

    /// Stores one word for each active lane, contiguously.
    fn store(&mut self, begin: Begin, value: Value, active: u16) -> Option<()> {
        let (window, at) = match begin {
            Begin::Window(window, at) => (window, i32::try_from(at).ok()?),
            Begin::Scratch(at) => {
                let at = word(at)? as isize;
                for lane in (0..self.lanes).filter(|lane| active >> lane & 1 != 0) {
                    *self.scratch.get_mut(usize::try_from(at + lane as isize).ok()?)? = Some((value, lane));
                }
                return Some(());
            }
        };
        self.windows.get_mut(window).filter(|window| window.contiguous)?.writes = true;
        let value = if active == self.all() {
            value
        } else {
            let old = self.graph.load(window, at);
            self.choose(active, value, old)
        };
        self.graph.store(window, at, value);
        Some(())
    }

    /// Joins the lanes of two values, where one continues after the end of the other.
    fn joined(&mut self, below: &Source, above: &Source) -> Option<Value> {
        let by = match (below.above, above.above) {
            (Some(by), Some(other)) if other == by - self.lanes as isize => by,
            (Some(by), None) => by,
            (None, Some(other)) => other + self.lanes as isize,
            _ => return None,
        };
        let by = usize::try_from(by).ok().filter(|by| (1..self.lanes).contains(by))?;
        let first = self.all() >> by;
        let fits = below.lanes & !first == 0 && above.lanes & first == 0;
        fits.then(|| self.align(above.value, below.value, by))
    }

    /// Rotates the lanes of a value down.
    fn shifted(&mut self, value: Value, by: isize) -> Value {
        match by.rem_euclid(self.lanes as isize) {
            0 => value,
            by => self.align(value, value, by as usize),
        }
    }

    /// Returns the lanes of a value starting at `from`, followed by those of another.
    fn align(&mut self, above: Value, below: Value, from: usize) -> Value {
        if self.graph.host() == Host::Avx2 {
            // The upper half of the lower register, followed by the lower half of the upper one.
            let between = self.graph.apply_immediate(Code::VEX_Vperm2i128_ymm_ymm_ymmm256_imm8, &[below, above], 0x21);
            let bytes = (4 * from) as u8;
            let (above, below, bytes) = match bytes {
                16 => return between,
                0..16 => (between, below, bytes),
                _ => (above, between, bytes - 16),
            };
            return self.graph.apply_immediate(Code::VEX_Vpalignr_ymm_ymm_ymmm256_imm8, &[above, below], bytes);
        }
        self.graph.apply_immediate(Code::EVEX_Valignd_zmm_k1z_zmm_zmmm512b32_imm8, &[above, below], from as u8)
    }

    /// Returns the word of a lane in all lanes.
    fn spread(&mut self, value: Value, lane: usize) -> Value {
        if self.graph.constant(value).is_some() {
            return value;
        }
        // Each two bits of the immediates select a quarter of the register, or a word of a quarter.
        let everywhere = |of: usize| (of * 0b0101_0101) as u8;
        if self.graph.host() == Host::Avx2 {
            let quarters = Code::VEX_Vpermq_ymm_ymmm256_imm8;
            let value = self.graph.apply_immediate(quarters, &[value], everywhere(lane / 2));
            return self.graph.apply_immediate(Code::VEX_Vpshufd_ymm_ymmm256_imm8, &[value], everywhere(lane % 2));
        }
        let quarters = Code::EVEX_Vshufi32x4_zmm_k1z_zmm_zmmm512b32_imm8;
        let value = self.graph.apply_immediate(quarters, &[value, value], everywhere(lane / 4));
        self.graph.apply_immediate(Code::EVEX_Vpshufd_zmm_k1z_zmmm512b32_imm8, &[value], everywhere(lane % 4))
    }
}

impl Begin {
    /// Advances by some bytes.
    fn further(self, bytes: i64) -> Self {
        match self {
            Begin::Window(window, at) => Begin::Window(window, at + bytes),
            Begin::Scratch(at) => Begin::Scratch(at + bytes),
        }
    }
}

/// Returns the word at a byte offset. `None` if it is not aligned.
fn word(at: i64) -> Option<usize> {
    usize::try_from(at).ok().filter(|at| at % 4 == 0).map(|at| at / 4)
}
