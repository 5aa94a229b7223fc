//! Plans the values of a graph: when they are used, and where they are kept.

use std::collections::HashSet;
use std::ops::Range;

use crate::exec::jit::lanes::graph::{Graph, Indexed, Node, Stored, Value, fixed};
use crate::exec::jit::lanes::host::{Host, masks_words, on_addend, replaces};

/// A part of a graph that is executed from its first node to its last, and its results.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Its nodes, without those that all parts share.
    pub nodes: Range<usize>,
    /// The rows to write.
    pub rows: Vec<(u32, Value)>,
    /// The mask of the lanes that jump at its end.
    pub mask: Option<Value>,
    /// The sets to change at its end.
    pub sets: Vec<(u16, Value)>,
}

impl Segment {
    /// Iterates over the masks that are needed at its end.
    pub fn masks(&self) -> impl Iterator<Item = Value> {
        self.mask.into_iter().chain(self.sets.iter().map(|(_, lanes)| *lanes))
    }

    /// Whether its results depend on some of the rows.
    pub fn reads(&self, graph: &Graph, is_wanted: impl Fn(u32) -> bool) -> bool {
        let used = used(graph, std::iter::once(self));
        let nodes = graph.nodes().iter().zip(used);
        nodes.filter(|(_, used)| *used).any(|(node, _)| matches!(node, Node::Row(row, _) if is_wanted(*row)))
    }
}

/// The destination of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// A row.
    Row(u32),
    /// A window of memory, at an offset from the address of a lane.
    Memory(usize, i32),
}

/// The location of a node's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// A register, from where the segment computes it to its last use there.
    Segment,
    /// A register before all segments, up to the last shared value that is computed from it.
    Before,
    /// A register of its own, throughout all segments.
    Register,
    /// Memory written before all segments, from which each use loads it.
    Slot(usize),
    /// The constants after the code.
    Constant,
}

impl Location {
    /// Returns the location of a constant, if the host reads constants from memory.
    pub fn of_constant(graph: &Graph, index: usize) -> Option<Self> {
        let is_constant = graph.host() == Host::Avx2 && graph.constant(Value::of(index)).is_some();
        is_constant.then_some(Location::Constant)
    }
}

/// Returns the locations of values that several segments share: constants are after the code, and values that all
/// warps share in registers.
pub fn locations<'a>(graph: &Graph, used: &[bool], segments: impl Iterator<Item = &'a Segment>) -> Vec<Location> {
    let (fixed, read) = shared(graph, used, segments, |_| false);
    let location = |index: usize| match Location::of_constant(graph, index) {
        Some(constant) => constant,
        None if !fixed[index] || !used[index] => Location::Segment,
        None if read[index] => Location::Register,
        None => Location::Before,
    };
    (0..fixed.len()).map(location).collect()
}

/// A segment of a trace: values that it computes are known in the segments after it.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// What it computes.
    pub segment: &'a Segment,
    /// Rows that are written only in the active lanes, as bits.
    pub masked: u64,
}

/// The last uses of a trace's values.
pub struct Plan {
    /// Twice the index of the node that uses a value last; plus one if the last use is a store after that node, or
    /// the branch at the end of its segment.
    last: Vec<Option<usize>>,
    /// The stores after each node of the trace.
    stores: Vec<Vec<(Store, Value)>>,
    first: usize,
    /// The end of its nodes.
    end: usize,
    /// Values that keep their registers for good.
    kept: Vec<bool>,
    /// Values that are computed in the register of a pinned row, and whether only in the active lanes.
    at_home: Vec<Option<(u32, bool)>>,
}

impl Plan {
    /// Plans a trace, whose segments are contiguous. `used` marks the nodes that results depend on; `pinned` rows
    /// stay in registers from one trace to the next. `None` if one of several segments has no nodes.
    pub fn new(graph: &Graph, trace: &[Part<'_>], used: &[bool], homes: &[Location], pinned: &[u32]) -> Option<Self> {
        let nodes = graph.nodes();
        let all = trace.first()?.segment.nodes.start..trace.last()?.segment.nodes.end;
        let first = all.start;
        let mut plan = Plan {
            last: vec![None; nodes.len()],
            stores: vec![vec![]; all.len().max(1)],
            first,
            end: all.end,
            kept: homes.iter().map(|home| *home == Location::Register).collect(),
            at_home: vec![None; nodes.len()],
        };
        let made = |index: &usize| used[*index] && homes[*index] == Location::Segment;
        for scatter in graph.scatters().iter().filter(|scatter| all.contains(&scatter.index())) {
            plan.use_at(*scatter, 2 * scatter.index() + 1);
        }
        for index in all.clone().filter(made) {
            for argument in nodes[index].arguments() {
                plan.use_at(argument, 2 * index);
            }
        }
        for (at, part) in trace.iter().enumerate() {
            let is_last = at + 1 == trace.len();
            if trace.len() > 1 && part.segment.nodes.is_empty() {
                return None;
            }
            for mask in part.segment.masks() {
                plan.use_at(mask, if is_last { usize::MAX } else { 2 * part.segment.nodes.end - 1 });
            }
        }
        let writes = |row: u32| {
            let written = move |part: &&Part<'_>| part.segment.rows.iter().any(|(written, _)| *written == row);
            trace.iter().filter(written)
        };
        for part in trace {
            let own = &part.segment.nodes;
            // Lanes that leave before must find the old content of the row.
            let begin = if trace.len() > 1 { own.start } else { first };
            let last = own.end.max(begin + 1) - 1;
            for &(row, value) in &part.segment.rows {
                // The old content of the row must be read before.
                let read = all.clone().find(|&index| graph.is_old_row(index, row)).filter(|&load| used[load]);
                let is_first = writes(row).next().is_some_and(|first| std::ptr::eq(first, part));
                let is_only = writes(row).count() == 1;
                let mut place = read.unwrap_or(0).max(value.index()).max(begin);
                let is_pinned = pinned.contains(&row);
                if let Some(read) = read.filter(|_| is_pinned && is_first) {
                    let is_moved =
                        trace.iter().any(|part| part.segment.rows.iter().any(|(_, value)| value.index() == read));
                    // The old content is copied if it is read after the write.
                    let read_last = plan.last[read].map_or(place, |last| place.max(last / 2));
                    if !is_moved && read_last <= last {
                        plan.kept[read] = true;
                        place = read_last;
                    }
                }
                if is_pinned
                    && is_only
                    && place == value.index()
                    && homes[place] == Location::Segment
                    && let masked = part.masked & bit(row) != 0
                    && plan.can_be_at_home(graph, value, read, masked)
                {
                    plan.at_home[value.index()] = Some((row, masked));
                    plan.kept[value.index()] = true;
                    continue;
                }
                if place > last {
                    return None;
                }
                plan.stores[place - first].push((Store::Row(row), value));
                plan.use_at(value, 2 * place + 1);
            }
        }
        for index in all {
            if let Node::Row(row, _) = nodes[index]
                && pinned.contains(&row)
                && writes(row).next().is_none()
            {
                plan.kept[index] = true;
            }
        }
        for &Stored { after, window, offset, value } in graph.stores() {
            // The value is one of these nodes.
            let node = after - 1;
            plan.stores[node - first].push((Store::Memory(window, offset), value));
            plan.use_at(value, 2 * node + 1);
        }
        if graph.host() == Host::Avx2 && trace.len() == 1 {
            for &row in pinned {
                plan.stay_at_home(graph, row, homes);
            }
        }
        Some(plan)
    }

    /// Computes values in the register of a row between the last use of its old content and the computation of its new
    /// content there, because AVX2 has few registers.
    fn stay_at_home(&mut self, graph: &Graph, row: u32, homes: &[Location]) {
        let new = self.at_home.iter().position(|home| *home == Some((row, false)));
        let old = (self.first..self.end).find(|&index| graph.is_old_row(index, row) && self.kept[index]);
        let (Some(new), Some(mut content)) = (new, old) else { return };
        // The first node that does not need the content, or the last one that does.
        let free = |plan: &Self, index: usize| plan.last[index].map(|moment| moment.div_ceil(2));
        for (index, home) in homes.iter().enumerate().take(new).skip(self.first) {
            let is_free = free(self, content).is_some_and(|free| free <= index);
            let fits = *home == Location::Segment && free(self, index).is_some_and(|free| free <= new);
            if is_free
                && fits
                && self.can_be_at_home(graph, Value::of(index), Some(content), false)
                && self.overwrites(graph, new, index)
            {
                self.at_home[index] = Some((row, false));
                self.kept[index] = true;
                content = index;
            }
        }
    }

    /// Whether an operation may be computed in the register of a value that it reads last.
    fn overwrites(&self, graph: &Graph, index: usize, content: usize) -> bool {
        let Node::Operation(operation) = &graph.nodes()[index] else { return false };
        let reads = operation.arguments[1..].iter().flatten().any(|argument| argument.index() == content);
        !replaces(operation.code) || on_addend(operation.code).is_some() || !reads
    }

    /// Whether a value can be computed in the register of a row, where `old` is the row's current content; `masked`
    /// if only in the active lanes.
    fn can_be_at_home(&self, graph: &Graph, value: Value, old: Option<usize>, masked: bool) -> bool {
        let Node::Operation(operation) = &graph.nodes()[value.index()] else { return false };
        let is_free = self.at_home[value.index()].is_none() && !self.kept[value.index()];
        is_free
            && !operation.is_mask
            && (!masked || graph.host() == Host::Avx512)
            && (!masked || !replaces(operation.code) && operation.mask.is_none() && masks_words(operation.code))
            && old.is_none_or(|old| self.overwrites(graph, value.index(), old))
    }

    fn use_at(&mut self, value: Value, moment: usize) {
        let last = &mut self.last[value.index()];
        *last = (*last).max(Some(moment));
    }

    /// Whether something in the trace uses a value.
    pub fn is_used(&self, index: usize) -> bool {
        self.last[index].is_some() || self.at_home[index].is_some()
    }

    /// Whether a value keeps its register for good.
    pub fn is_kept(&self, index: usize) -> bool {
        self.kept[index]
    }

    /// Returns the row in whose register a value is computed, and whether only in the active lanes.
    pub fn home(&self, index: usize) -> Option<(u32, bool)> {
        self.at_home[index]
    }

    /// Whether a node is the last use of a value.
    pub fn ends(&self, value: Value, index: usize) -> bool {
        self.last[value.index()] == Some(2 * index) && !self.kept[value.index()]
    }

    /// Whether a store after a node is the last use of a value.
    pub fn ends_after(&self, value: Value, index: usize) -> bool {
        self.last[value.index()] == Some(2 * index + 1) && !self.kept[value.index()]
    }

    /// Whether the branch at the end of a segment is the last use of a mask.
    pub fn ends_with(&self, mask: Value, segment: &Segment) -> bool {
        let is_last = segment.nodes.end == self.end;
        self.last[mask.index()] == Some(if is_last { usize::MAX } else { 2 * segment.nodes.end - 1 })
    }

    /// Returns the stores after a node.
    pub fn stores(&self, index: usize) -> &[(Store, Value)] {
        &self.stores[index - self.first]
    }

    /// Returns the number of registers each warp needs for temporary values.
    pub fn pressure(&self, graph: &Graph, nodes: Range<usize>, homes: &[Location]) -> usize {
        let mut most = 0;
        let mut live = HashSet::new();
        let has_masks = graph.host() == Host::Avx512;
        let is_constant = |value: &Value| homes[value.index()] == Location::Constant;
        for index in nodes {
            if self.is_used(index) && homes[index] == Location::Segment {
                let node = &graph.nodes()[index];
                live.extend(node.arguments().filter(|value| matches!(homes[value.index()], Location::Slot(_))));
                let constants = node.arguments().filter(is_constant).count();
                let more = match node {
                    // The words that lanes load are not where their offsets are. AVX2 gathers them with a mask of
                    // their own, and stores half of them from another register.
                    Node::Indexed(Indexed { value, .. }) => constants + 1 + usize::from(value.is_none() && !has_masks),
                    // Most constants are read from memory, but there must be registers to load all of them.
                    _ => constants.saturating_sub(1),
                };
                most = most.max(live.len() + more);
                live.retain(|&value| !self.ends(value, index));
                if !(self.kept[index] || node.is_mask() && has_masks) {
                    live.insert(Value::of(index));
                    most = most.max(live.len());
                }
            }
            for (_, value) in &self.stores[index - self.first] {
                if is_constant(value) {
                    most = most.max(live.len() + 1);
                    continue;
                }
                live.insert(*value);
                most = most.max(live.len());
            }
            live.retain(|&value| !self.ends_after(value, index));
        }
        most
    }
}

/// Returns which nodes the results depend on; a node comes after its arguments.
pub fn used<'a>(graph: &Graph, segments: impl Iterator<Item = &'a Segment>) -> Vec<bool> {
    let nodes = graph.nodes();
    let mut used = vec![false; nodes.len()];
    let stored = graph.stores().iter().map(|stored| stored.value);
    let wanted = segments.flat_map(|segment| segment.rows.iter().map(|(_, value)| *value).chain(segment.masks()));
    for value in wanted.chain(stored).chain(graph.scatters().iter().copied()) {
        used[value.index()] = true;
    }
    for (index, node) in nodes.iter().enumerate().rev() {
        if used[index] {
            node.arguments().for_each(|argument| used[argument.index()] = true);
        }
    }
    used
}

/// Returns which nodes have the same value in all warps and iterations, including those that are `given`, and which
/// of these are read by nodes that vary.
pub fn shared<'a>(
    graph: &Graph,
    used: &[bool],
    segments: impl Iterator<Item = &'a Segment>,
    given: impl Fn(&Node) -> bool,
) -> (Vec<bool>, Vec<bool>) {
    let fixed = fixed(graph.nodes(), given);
    let mut read = vec![false; fixed.len()];
    let varies = |index: &usize| used[*index] && !fixed[*index];
    for node in (0..fixed.len()).filter(varies).map(|index| &graph.nodes()[index]) {
        node.arguments().for_each(|argument| read[argument.index()] = fixed[argument.index()]);
    }
    for (_, value) in segments.flat_map(|segment| &segment.rows) {
        read[value.index()] = fixed[value.index()];
    }
    for stored in graph.stores() {
        read[stored.value.index()] = fixed[stored.value.index()];
    }
    (fixed, read)
}

/// Returns the bit of a row that may be written in only some lanes: one of the first 64 rows. All others are written
/// in all lanes.
pub fn bit(row: u32) -> u64 {
    1u64.checked_shl(row).unwrap_or(0)
}
