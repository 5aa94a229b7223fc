//! A fast test for each layout of instructions: its conditions and valid values as constant bits, and as tables over
//! the bits they depend on.
//!
//! [Diagrams](super::validity) represent what a layout requires. Bits that must have a certain value are compared with
//! the pattern. The rest becomes a table, or a tree if it depends on more than [`MAX_BITS`] bits. A layout for which
//! something is unknown, or that needs more than [`MAX_LOOKS`] nodes in a tree, is left to the exact path.

use std::collections::{BTreeSet, HashMap};

use isaforge_core::stream::{Branch, Constants, Lookup, More, Piece, Quick, Role, Stream, Tested, Tree, Wide};

use super::diagram::{Diagrams, Node};
use super::validity::Validity;
use crate::leak::slice;

/// The maximum number of bits that index a table.
const MAX_BITS: usize = 13;
/// The maximum width of a tree node's field in bits.
const MAX_NODE_BITS: u16 = 8;
/// The maximum number of nodes in a tree.
const MAX_LOOKS: usize = 64;
/// The maximum number of generations with tests.
const MAX_GENERATIONS: usize = 32;

/// The tests of all layouts of instructions, and their assignment to layouts for each generation.
pub(super) fn tests(stream: &'static Stream) -> (&'static [Quick], &'static [Tested]) {
    let count = stream.sets.first().map_or(0, |set| set.count);
    let mut tables = Tables {
        stream,
        validity: Validity::new(stream),
        rows: HashMap::new(),
        lookups: HashMap::new(),
        lists: HashMap::new(),
        trees: HashMap::new(),
        lengths: HashMap::new(),
    };
    let mut quick: Vec<Quick> = Vec::new();
    let mut tested = Vec::new();
    for generation in generations(stream) {
        tables.validity.turn(generation);
        let tests = (0..count).map(|index| {
            let mut test = tables.test(index, generation);
            if tables.validity.diagrams.is_full() {
                // Retries with empty diagrams, so that this test has all the room.
                tables.clear();
                test = tables.test(index, generation);
            }
            if tables.validity.diagrams.is_full() {
                tables.clear();
                test = None;
            }
            match test {
                Some(Some(_)) if quick.len() >= usize::from(Tested::NEVER) => Tested::EXACT,
                Some(Some(test)) => {
                    quick.push(test);
                    quick.len() as u16 - 1
                }
                Some(None) => Tested::NEVER,
                None => Tested::EXACT,
            }
        });
        tested.push(Tested { generation, tests: slice(tests.collect::<Vec<_>>()) });
    }
    (slice(quick), slice(tested))
}

/// The generations with tests: those with names, and the first and the last.
fn generations(stream: &Stream) -> BTreeSet<u32> {
    let named = stream.generation_names.iter().map(|(_, generation)| *generation);
    let (first, last) = stream.generations;
    named.chain([first, last]).filter(|generation| (first..=last).contains(generation)).take(MAX_GENERATIONS).collect()
}

struct Tables {
    stream: &'static Stream,
    validity: Validity,
    /// Tables by their rows, since many layouts have the same.
    rows: HashMap<Vec<u64>, &'static [u64]>,
    lookups: HashMap<Node, Lookup>,
    /// Lists of tables, by the addresses of the tables.
    lists: HashMap<Vec<([Piece; Lookup::PIECES], usize)>, &'static [Lookup]>,
    trees: HashMap<Node, Option<Tree>>,
    /// Trees for lengths, by their bits. Few differ, and one that many instructions share stays in the processor's
    /// caches.
    lengths: HashMap<Vec<Node>, Option<&'static Tree>>,
}

impl Tables {
    fn clear(&mut self) {
        self.validity.clear();
        self.lookups.clear();
        self.trees.clear();
        self.lengths.clear();
    }

    /// The test of a layout: `Some(None)` if it matches no word, `None` if only the exact path can decide.
    fn test(&mut self, index: u16, generation: u32) -> Option<Option<Quick>> {
        let layout = self.stream.layouts.get(usize::from(index))?;
        if !(layout.since..=layout.until).contains(&generation) {
            return Some(None);
        }
        if layout.role != Role::Own || self.validity.is_told_a_length(layout, false) {
            return None;
        }
        let mut demands = Demands { mask: layout.mask, value: layout.value, ..Demands::default() };
        let place = self.validity.place(index, layout.mask, layout.value)?;
        for condition in layout.conditions {
            let condition = self.validity.condition(&place, *condition);
            if !self.demand(&mut demands, condition)? {
                return Some(None);
            }
        }
        if !demands.trees.is_empty() {
            return None;
        }
        let (conditions, seen) = (demands.lookups, demands.seen);
        let both = demands.mask & layout.fixed_mask;
        if demands.value & both != layout.fixed_value & both {
            return None;
        }
        let mask = demands.mask;
        let (fixed, value) = (mask | layout.fixed_mask, demands.value | layout.fixed_value & layout.fixed_mask);
        let mut demands = Demands { mask: fixed, value, seen, ..Demands::default() };
        let place = self.validity.place(index, fixed, value)?;
        let fields = if layout.simple { 0 } else { layout.fields.len() };
        for field in 0..fields {
            let field = self.validity.field(&place, field as u8);
            if !self.demand(&mut demands, field)? {
                return None;
            }
        }
        let Demands { mask: fixed, value, lookups: checks, trees, seen } = demands;
        let lengths = match layout.length {
            None => None,
            Some(length) => {
                // The length is tested before the pattern.
                let place = self.validity.place(index, Wide::ZERO, Wide::ZERO)?;
                let bits = self.validity.expression(&place, length);
                let lengths = self.lengths(&bits)?;
                let all = bits.iter().fold(seen | fixed, |seen, bit| seen | self.support(*bit));
                // Bits beyond the end of the instruction must not be tested.
                let shortest = lengths.branches.iter().filter_map(|branch| match branch {
                    Branch::One(len) => Some(*len),
                    _ => None,
                });
                if all.width() > 8 * u32::from(shortest.min()?) {
                    return None;
                }
                Some(lengths)
            }
        };
        let chunk = |i: usize| Constants { mask: mask.0[i], fixed: fixed.0[i], value: value.0[i] };
        let high = (fixed.width() as usize).div_ceil(64).max(1);
        let more = More { high: slice((1..high).map(chunk)), trees: slice(trees) };
        Some(Some(Quick {
            low: chunk(0),
            conditions: u8::try_from(conditions.len()).ok()?,
            lookups: self.lookups_of(conditions.into_iter().chain(checks).collect()),
            len: (layout.bits / 8) as u8,
            lengths,
            more: if more.high.is_empty() && more.trees.is_empty() { None } else { slice([more]).first() },
        }))
    }

    /// Adds a requirement; `Some(false)` when it can never be satisfied.
    fn demand(&mut self, demands: &mut Demands, node: Node) -> Option<bool> {
        if node == Node::FALSE {
            return Some(false);
        }
        if self.validity.diagrams.is_unknown(node) {
            return None;
        }
        demands.seen |= self.support(node);
        let (constants, rest) = self.validity.diagrams.constants(node);
        for (bit, value) in constants {
            let known = demands.mask.get(bit.into(), 1) != 0;
            if known && (demands.value.get(bit.into(), 1) != 0) != value {
                return Some(false);
            }
            demands.mask.set(bit.into(), 1, 1);
            demands.value.set(bit.into(), 1, value.into());
        }
        if rest != Node::TRUE {
            match self.lookup(rest) {
                Some(lookup) => demands.lookups.push(lookup),
                None => demands.trees.push(self.tree(rest)?),
            }
        }
        Some(true)
    }

    /// Converts a function to a table.
    fn lookup(&mut self, node: Node) -> Option<Lookup> {
        if let Some(known) = self.lookups.get(&node) {
            return Some(*known);
        }
        let diagrams: &Diagrams = &self.validity.diagrams;
        let bits = diagrams.support(node);
        if bits.len() > MAX_BITS {
            return None;
        }
        let pieces = pieces(&bits)?;
        let mut rows = vec![0; (1usize << bits.len()).div_ceil(64)];
        for value in 0..1usize << bits.len() {
            let is_set = |bit: u16| bits.binary_search(&bit).is_ok_and(|i| value >> i & 1 != 0);
            rows[value / 64] |= u64::from(diagrams.holds(node, is_set)) << (value % 64);
        }
        let allowed = *self.rows.entry(rows).or_insert_with_key(|rows| slice(rows.iter().copied()));
        let lookup = Lookup { pieces, allowed };
        self.lookups.insert(node, lookup);
        Some(lookup)
    }

    /// The bits that a function depends on, as a mask.
    fn support(&self, node: Node) -> Wide {
        let mut bits = Wide::ZERO;
        self.validity.diagrams.support(node).into_iter().for_each(|bit| bits.set(bit.into(), 1, 1));
        bits
    }

    /// Converts a function of more bits than a table can have to a tree.
    fn tree(&mut self, node: Node) -> Option<Tree> {
        if let Some(known) = self.trees.get(&node) {
            return *known;
        }
        let tree = self.new_tree(&[node], &|holds| holds as u16);
        self.trees.insert(node, tree);
        tree
    }

    /// Shares equal lists of tables between layouts.
    fn lookups_of(&mut self, list: Vec<Lookup>) -> &'static [Lookup] {
        let key = |lookup: &Lookup| (lookup.pieces, lookup.allowed.as_ptr().addr());
        self.lists.entry(list.iter().map(key).collect()).or_insert_with(|| slice(list))
    }

    /// The tree for a length.
    fn lengths(&mut self, bits: &[Node]) -> Option<&'static Tree> {
        if let Some(known) = self.lengths.get(bits) {
            return *known;
        }
        let (longest, unit) = (u64::from(self.stream.longest), u64::from(self.stream.unit.max(1)));
        let right = |len: u64| if len <= longest && len.is_multiple_of(unit) { len as u16 } else { 0 };
        let tree = self.new_tree(bits, &right).and_then(|tree| slice([tree]).first());
        self.lengths.insert(bits.to_vec(), tree);
        tree
    }

    /// Converts a number whose bits are functions to a tree. Its leaves are the results of `meant` other than 0.
    fn new_tree(&self, number: &[Node], meant: &dyn Fn(u64) -> u16) -> Option<Tree> {
        let diagrams = &self.validity.diagrams;
        if number.iter().any(|bit| diagrams.is_unknown(*bit)) {
            return None;
        }
        let support = |number: &[Node]| number.iter().flat_map(|bit| diagrams.support(*bit)).collect::<BTreeSet<u16>>();
        let bits = support(number);
        let (mut looks, mut branches) = (Vec::new(), Vec::new());
        // A branch to a node temporarily holds the index of that node, until all nodes are known.
        let mut open = vec![number.to_vec()];
        while let Some(at) = open.get(looks.len()).cloned() {
            let from = support(&at).first().copied().unwrap_or(0);
            let last = bits.range(..from + MAX_NODE_BITS).next_back().copied().unwrap_or(0);
            let width = last + 1 - from;
            let first = branches.len() as u32;
            looks.push(Branch::Look { shift: u8::try_from(from).ok()?, width: width as u8, first });
            for value in 0..1u64 << width {
                let next: Vec<Node> = at.iter().map(|bit| diagrams.follow(*bit, from, width, value)).collect();
                let constant = |all, (i, bit): (usize, &Node)| match *bit {
                    Node::FALSE => Some(all),
                    Node::TRUE => Some(all | 1 << i),
                    _ => None,
                };
                let known = next.iter().enumerate().try_fold(0, constant).map(meant);
                branches.push(match known {
                    Some(0) => Ok(Branch::Nothing),
                    Some(known) => Ok(Branch::One(known)),
                    None => Err(number_of(&mut open, next)),
                });
            }
            if open.len() > MAX_LOOKS {
                return None;
            }
        }
        let branches =
            branches.into_iter().map(|branch| branch.or_else(|look: usize| looks.get(look).copied().ok_or(look)));
        Some(Tree { root: *looks.first()?, branches: slice(branches.collect::<Result<Vec<_>, _>>().ok()?), lists: &[] })
    }
}

/// The index of an item in a list, to which it is added if it is missing.
fn number_of<T: PartialEq>(list: &mut Vec<T>, item: T) -> usize {
    list.iter().position(|known| *known == item).unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    })
}

/// The requirements for a word: constant bits, tables, and trees.
#[derive(Default)]
struct Demands {
    mask: Wide,
    value: Wide,
    lookups: Vec<Lookup>,
    trees: Vec<Tree>,
    /// All bits that are tested.
    seen: Wide,
}

/// Bits in ascending order as runs; `None` if there are too many.
fn pieces(bits: &[u16]) -> Option<[Piece; Lookup::PIECES]> {
    let mut pieces = [Piece { at: 0, width: 0 }; Lookup::PIECES];
    for (index, run) in bits.chunk_by(|bit, next| bit + 1 == *next).enumerate() {
        *pieces.get_mut(index)? = Piece { at: *run.first()?, width: run.len() as u8 };
    }
    Some(pieces)
}
