//! Covers a shape with vector operations.
//!
//! `None` if some part of a shape has no operation here; the evaluator or handlers execute such an instruction.
//! Covered operations compute the same bits as the evaluator.
//!
//! - here: operands, components, and the choice of one of two values
//! - [`truth`]: conditions are masks, whose negation is free
//! - [`bitwise`]: a function of three words is one operation
//! - [`integer`]: words, components of words, and pairs of words
//! - [`float`], [`half`]: single and half precision
//! - [`effect`]: memory, control flow, and writes

mod bitwise;
mod effect;
mod float;
mod half;
mod integer;
mod truth;

use isaforge_core::semantics::instantiate::{canonical, for_each_argument};
use isaforge_core::semantics::primitive::primitive;
use isaforge_core::semantics::{Class, NONE, Node, Op, Semantics, Shape, Special, Type};

use super::graph::{Graph, Kind, Value};
use super::pieces::Pieces;
pub(crate) use truth::Truth;

/// The location of 32 bits of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// In a row.
    Row(u32),
    /// A constant, the same in all lanes.
    Number(u32),
}

/// Where a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A row, and the next one if the value has more than 32 bits.
    Row(u32),
    /// The same for a value of this many bits; one of fewer than 32 is zero-extended, and other values have no place.
    Exact(u32, u32),
    /// Nowhere.
    Dropped,
}

/// A memory access of some words per lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    /// The rows with the low and the high word of the address.
    pub rows: [u32; 2],
    /// The offset that is added to it.
    pub offset: i32,
    /// The size in bytes.
    pub bytes: u16,
    /// Whether memory is written.
    pub writes: bool,
}

/// Locates operands and states.
pub(crate) trait Binding {
    /// Returns where the words of an operand's element are read; the second is for types of more than 32 bits.
    fn operand(&mut self, operand: u16, element: u16, ty: Type) -> Option<[Location; 2]>;
    /// Returns where an operand's element is written.
    fn target(&mut self, operand: u16, element: u16) -> Option<Target>;
    /// Returns the lanes that execute; in the others, rows and sets keep their content. `None` if writes go to all
    /// lanes.
    fn active(&self) -> Option<Truth> {
        None
    }
    /// Returns the lanes in which a state that is a condition holds.
    fn set(&mut self, state: u16, graph: &mut Graph) -> Option<Truth> {
        let _ = (state, graph);
        None
    }
    /// Returns the set to which a state that is a condition is written.
    fn set_target(&mut self, state: u16) -> Option<u16> {
        let _ = state;
        None
    }
    /// Returns where a state is read.
    fn state(&mut self, state: u16) -> Option<Location>;
    /// Returns where a state that is no condition is written.
    fn state_target(&mut self, state: u16) -> Option<Target> {
        let _ = state;
        None
    }
    /// Returns the words of a property of the thread.
    fn special(&mut self, special: Special) -> Option<[Location; 2]>;
    /// Returns the window of memory that all lanes access. `None` if that is not known.
    fn access(&mut self, access: Access) -> Option<usize>;
    /// Returns the reach of memory in which lanes access any address of an address space, and whether the access is only
    /// located. `None` if addresses follow a pattern, which [`access`](Binding::access) looks for.
    fn reach(&mut self, space: u16, writes: bool) -> Option<(usize, bool)> {
        let _ = (space, writes);
        None
    }
}

/// The results of a shape besides those in the graph.
#[derive(Debug, Default)]
pub(crate) struct Selected {
    /// The lanes that jump; or, with `true`, those that do not.
    pub branch: Option<(Value, bool)>,
    /// Where they jump, if that is a number.
    pub target: Option<u64>,
    /// Pairs of rows that are increased by a constant: the first row, the sum, and the constant.
    pub increments: Vec<(u32, [Value; 2], u64)>,
    /// Whether memory is accessed.
    pub accesses: bool,
    /// Where lanes access memory at any address.
    pub located: Option<Located>,
}

/// The addresses of lanes that access memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Located {
    /// The reach of memory.
    pub reach: usize,
    /// The low and the high word of the addresses.
    pub low: Value,
    pub high: Option<Value>,
    /// The offsets in the reach.
    pub offset: Value,
    /// The lanes; without it, all.
    pub lanes: Option<Value>,
}

/// Adds the computations of a shape to a graph.
pub(crate) fn select(
    semantics: &Semantics,
    shape: &Shape,
    binding: &mut dyn Binding,
    graph: &mut Graph,
) -> Option<Selected> {
    let count = shape.nodes.len();
    let mut canonicalized = vec![true; count];
    for node in &shape.nodes {
        for_each_argument(node, &shape.lists, |argument| {
            if let Some(made) = canonicalized.get_mut(usize::from(argument)) {
                *made &= node.op == Op::Canonical;
            }
        });
    }
    // Forgets what earlier attempts lacked.
    graph.take_missing();
    let (found, selected) = (Vec::with_capacity(count), Selected::default());
    let mut cover = Cover { semantics, shape, binding, graph, found, canonicalized, selected };
    let mut written = 0;
    for (at, node) in shape.nodes.iter().enumerate() {
        let found = match node.op {
            Op::Write | Op::SetState => Found::None,
            Op::Commit => {
                cover.write(written..at)?;
                written = at;
                Found::None
            }
            op if op.is_effect() => cover.effect(node)?,
            _ => cover.value(at, node).unwrap_or(Found::None),
        };
        cover.found.push(found);
    }
    cover.write(written..count)?;
    let selected = cover.selected;
    (!graph.take_missing()).then_some(selected)
}

/// The value of a node.
#[derive(Clone, Debug)]
enum Found {
    /// No value, or no operation for it.
    None,
    Pieces(Pieces),
    Truth(Truth),
}

struct Cover<'a> {
    semantics: &'a Semantics,
    shape: &'a Shape,
    binding: &'a mut dyn Binding,
    graph: &'a mut Graph,
    found: Vec<Found>,
    /// Whether every use of a node is by [`Op::Canonical`].
    canonicalized: Vec<bool>,
    selected: Selected,
}

/// Returns how the bits of a type are read.
fn kind(ty: Type) -> Kind {
    match (ty.class, ty.bits, ty.lanes) {
        (Class::Float, 32, 1) => Kind::Float,
        (Class::Float, 16, _) => Kind::Halves,
        _ => Kind::Word,
    }
}

impl<'a> Cover<'a> {
    fn node(&self, node: u16) -> Option<&'a Node> {
        self.shape.nodes.get(usize::from(node))
    }

    fn ty(&self, node: u16) -> Option<Type> {
        self.node(node).map(|node| node.ty)
    }

    fn pieces(&self, node: u16) -> Option<&Pieces> {
        match self.found.get(usize::from(node))? {
            Found::Pieces(pieces) => Some(pieces),
            _ => None,
        }
    }

    /// Returns a value of at most 32 bits, zero-extended, for a reader of a kind.
    fn word(&mut self, node: u16, kind: Kind) -> Option<Value> {
        if self.ty(node)?.size() > 32 {
            return None;
        }
        let pieces = self.pieces(node)?.clone();
        Some(self.graph.assemble(&pieces, kind))
    }

    /// Returns a value as a low and a high word.
    fn words(&mut self, node: u16) -> Option<[Value; 2]> {
        let pieces = self.pieces(node)?.clone();
        Some([0, 32].map(|from| self.graph.assemble(&pieces.slice(from, 32), Kind::Word)))
    }

    /// Returns the number that a node is, if that is known.
    fn number(&self, node: u16) -> Option<u64> {
        match self.found.get(usize::from(node))? {
            Found::Pieces(pieces) => self.graph.number(pieces),
            Found::Truth(Truth::Known(holds)) => Some((*holds).into()),
            _ => None,
        }
    }

    /// Returns a result in the low bits of a word.
    fn put(value: Value, ty: Type) -> Option<Found> {
        (ty.size() <= 32).then(|| Found::Pieces(Pieces::of(value, ty.size())))
    }

    fn put_number(&mut self, number: u64, ty: Type) -> Option<Found> {
        if ty == Type::BOOL {
            return Some(Found::Truth(Truth::Known(number & 1 != 0)));
        }
        if ty.class == Class::Bool {
            return None;
        }
        let words = [number as u32, (number >> 32) as u32].map(|word| self.graph.splat(word));
        Some(Found::Pieces(Pieces::pair(words).slice(0, ty.size())))
    }

    fn put_places(&mut self, [low, high]: [Location; 2], ty: Type) -> Found {
        let mut read = |place: Location| match place {
            Location::Row(row) => self.graph.read(row),
            Location::Number(number) => self.graph.splat(number),
        };
        let low = read(low);
        let pieces = if ty.size() > 32 { Pieces::pair([low, read(high)]) } else { Pieces::of(low, 32) };
        Found::Pieces(pieces.slice(0, ty.size()))
    }

    fn value(&mut self, at: usize, node: &Node) -> Option<Found> {
        let [a, b, ..] = node.args;
        let ty = node.ty;
        if let Some(number) = self.folded(node) {
            return self.put_number(number, ty);
        }
        match node.op {
            Op::Operand => {
                let places = self.binding.operand(a, b, ty)?;
                Some(self.put_places(places, ty))
            }
            Op::State if b == NONE => match self.binding.state(a) {
                Some(Location::Number(number)) => self.put_number(number.into(), ty),
                _ if ty == Type::BOOL => self.binding.set(a, self.graph).map(Found::Truth),
                row => Some(self.put_places([row?, Location::Number(0)], ty)),
            },
            Op::Special => {
                let places = self.binding.special(*Special::ALL.get(usize::from(node.imm))?)?;
                Some(self.put_places(places, ty))
            }
            Op::Bits if self.is_bool(a)? == (ty.class == Class::Bool) => self.found.get(usize::from(a)).cloned(),
            Op::Get | Op::Slice | Op::Pack | Op::Splat | Op::Concat | Op::Zext | Op::Trunc
                if !self.is_bool_like(node)? =>
            {
                self.parts(node)
            }
            Op::Canonical => self.canonical(node),
            Op::Compare => self.compare(node),
            Op::Select => self.choice(node),
            Op::Zext | Op::Sext | Op::Bits if self.ty(a)? == Type::BOOL => self.truth_as_number(node),
            Op::And | Op::Or | Op::Xor | Op::Not if ty.class == Class::Bool => self.truths(node),
            Op::And | Op::Or | Op::Xor | Op::Not => self.bitwise(at, node),
            Op::Convert => self.convert(at, node),
            _ if ty.is_float() && ty.bits == 32 && ty.lanes == 1 => self.float(at, node),
            _ if ty.is_float() => self.halves(at, node),
            _ => self.integer(node),
        }
    }

    fn is_bool(&self, node: u16) -> Option<bool> {
        Some(self.ty(node)?.class == Class::Bool)
    }

    /// Whether a node splits or joins booleans.
    fn is_bool_like(&self, node: &Node) -> Option<bool> {
        Some(node.ty.class == Class::Bool || node.op != Op::Pack && self.is_bool(node.args[0])?)
    }

    /// Evaluates a node whose arguments are numbers.
    fn folded(&self, node: &Node) -> Option<u64> {
        if node.op == Op::Const {
            return self.shape.constants.get(usize::from(node.args[0])).copied();
        }
        if !node.op.is_pure() {
            return None;
        }
        if node.op == Op::Pack {
            let (first, count) = (usize::from(node.args[0]), usize::from(node.args[1]));
            let list = self.shape.lists.get(first..first + count)?;
            return list.iter().enumerate().try_fold(0, |all, (i, part)| {
                Some(all | self.number(*part)? << (usize::from(node.ty.bits) * i).min(63))
            });
        }
        let (mut types, mut args) = ([Type::BOOL; 4], [0; 4]);
        for k in (0..4).filter(|k| node.op.node_arguments() >> k & 1 != 0) {
            args[k] = self.number(node.args[k])?;
            types[k] = self.ty(node.args[k])?;
        }
        Some(match node.op {
            Op::Canonical => canonical(self.semantics, node.ty, args[0]),
            _ => primitive(node.op, node.imm, node.ty, types, args),
        })
    }

    /// Handles components and parts, which only move bits.
    fn parts(&mut self, node: &Node) -> Option<Found> {
        let [a, b, ..] = node.args;
        let (ty, bits) = (node.ty, u32::from(node.ty.bits));
        if node.op == Op::Pack {
            let list = self.shape.lists.get(usize::from(a)..usize::from(a) + usize::from(b))?;
            let mut all = Pieces::default();
            for (part, at) in list.iter().zip((0..).step_by(bits as usize)) {
                all = all.with(self.pieces(*part)?.slice(0, bits).raised(at, ty.size()));
            }
            return Some(Found::Pieces(all));
        }
        let (from, pieces) = (self.ty(a)?, self.pieces(a)?);
        let each = |width: u32| {
            let part = |i: u32| pieces.slice(u32::from(from.bits) * i, width).raised(bits * i, ty.size());
            (0..ty.lanes.into()).fold(Pieces::default(), |all, i| all.with(part(i)))
        };
        Some(Found::Pieces(match node.op {
            Op::Get => pieces.slice(u32::from(node.imm) * u32::from(from.bits), ty.size()),
            Op::Slice => pieces.slice((node.imm & 0xff).into(), ty.size()),
            Op::Splat => {
                let one = pieces.slice(0, bits);
                (0..ty.lanes.into()).fold(Pieces::default(), |all, i| all.with(one.raised(bits * i, ty.size())))
            }
            Op::Concat => {
                let high = self.pieces(b)?.raised(from.size(), ty.size());
                pieces.clone().with(high)
            }
            Op::Zext => each(from.bits.into()),
            _ => each(bits),
        }))
    }

    /// Replaces any NaN by the canonical one.
    fn canonical(&mut self, node: &Node) -> Option<Found> {
        let kind = kind(node.ty);
        if kind == Kind::Word {
            return None;
        }
        let word = self.word(node.args[0], kind)?;
        let word = self.graph.canonical(word, kind);
        Self::put(word, node.ty)
    }

    /// Selects one of two values.
    fn choice(&mut self, node: &Node) -> Option<Found> {
        let [when, yes, no, _] = node.args;
        let truth = match self.found.get(usize::from(when))? {
            Found::Truth(Truth::Known(holds)) => {
                return self.found.get(usize::from(if *holds { yes } else { no })).cloned();
            }
            Found::Truth(truth) => *truth,
            _ => return None,
        };
        if node.ty.class == Class::Bool {
            return self.choose_truth(truth, yes, no);
        }
        if node.ty.size() > 32 {
            let (yes, no) = (self.words(yes)?, self.words(no)?);
            let mut words = yes;
            for (word, no) in words.iter_mut().zip(no) {
                *word = self.blend(truth, *word, no)?;
            }
            return Some(Found::Pieces(Pieces::pair(words).slice(0, node.ty.size())));
        }
        let exact = [self.word(yes, Kind::Word)?, self.word(no, Kind::Word)?];
        let exact = self.blend(truth, exact[0], exact[1])?;
        if node.ty.size() == 32 && node.ty.lanes == 1 {
            let loose = [self.word(yes, Kind::Float)?, self.word(no, Kind::Float)?];
            let loose = self.blend(truth, loose[0], loose[1])?;
            self.graph.loosely(exact, Kind::Float, loose);
        }
        Self::put(exact, node.ty)
    }
}
