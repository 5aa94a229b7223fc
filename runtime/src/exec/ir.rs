//! The executor's intermediate representation of consecutive instructions.
//!
//! Values are bit patterns, zero above their width; operations have types. A [`Graph`] holds each value once. A
//! [`Block`] defines the order of effects, and where execution continues.

use isaforge_core::bits::ones;
use isaforge_core::semantics::{self, Type};
use rustc_hash::FxHashMap;

/// A value, by its number in a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

/// How a value is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A constant.
    Const(u64),
    /// The content of a slot of the register file at the start of the block.
    Slot(u32),
    /// The result of a load, by the number of its access; the address is the first argument.
    Load(u32),
    /// An operation on values alone, and its immediate.
    Pure(semantics::Op, u16),
}

/// A value: an operation and its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// The operation.
    pub op: Op,
    /// The type in which it is computed; for comparisons, the type of the compared values.
    pub ty: Type,
    /// The arguments of the operation.
    pub args: [Option<Value>; 3],
}

impl Node {
    /// The arguments.
    pub fn args(&self) -> impl Iterator<Item = Value> + use<> {
        self.args.into_iter().flatten()
    }
}

/// The values of a block.
#[derive(Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    known: FxHashMap<Node, Value>,
}

impl Graph {
    /// The number of values.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the node of a value.
    pub fn node(&self, value: Value) -> Node {
        self.nodes[value.0 as usize]
    }

    /// Adds a value, or returns the equal one that exists. Loads are never equal.
    pub fn add(&mut self, node: Node) -> Value {
        if let Some(known) = self.known.get(&node) {
            return *known;
        }
        let value = Value(self.nodes.len() as u32);
        self.nodes.push(node);
        if !matches!(node.op, Op::Load(_)) {
            self.known.insert(node, value);
        }
        value
    }

    /// A constant.
    pub fn constant(&mut self, value: u64) -> Value {
        self.add(Node { op: Op::Const(value), ty: Type::U64, args: [None; 3] })
    }

    /// The content of a slot of this width in bits at the start of the block.
    pub fn slot(&mut self, slot: u32, bits: u8) -> Value {
        self.add(Node { op: Op::Slot(slot), ty: Type::unsigned(bits), args: [None; 3] })
    }

    /// Returns the number that a value is, or `None` if it is no constant.
    pub fn number(&self, value: Value) -> Option<u64> {
        match self.node(value).op {
            Op::Const(number) => Some(number),
            _ => None,
        }
    }

    /// Returns an upper bound of a value's width in bits.
    pub fn bits(&self, value: Value) -> u32 {
        let node = self.node(value);
        let bits = u32::from(node.ty.bits);
        let number = |k: usize| node.args[k].and_then(|argument| self.number(argument));
        match node.op {
            Op::Const(number) => 64 - number.leading_zeros(),
            Op::Pure(semantics::Op::Compare, _) => 1,
            Op::Pure(semantics::Op::And, _) => {
                let of = |k: usize| node.args[k].map_or(bits, |argument| self.bits_of_leaf(argument));
                of(0).min(of(1)).min(bits)
            }
            Op::Pure(semantics::Op::Shr, _) if node.ty.class == semantics::Class::Unsigned => {
                number(1).map_or(bits, |count| bits - (count % u64::from(bits)) as u32)
            }
            _ => bits,
        }
    }

    /// The same without looking at arguments, which bounds the cost.
    fn bits_of_leaf(&self, value: Value) -> u32 {
        let node = self.node(value);
        match node.op {
            Op::Const(number) => 64 - number.leading_zeros(),
            Op::Pure(semantics::Op::Compare, _) => 1,
            _ => node.ty.bits.into(),
        }
    }

    /// Returns a mask of all bits that may be set in a value.
    pub fn mask(&self, value: Value) -> u64 {
        ones(self.bits(value))
    }
}

/// An access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The index of the instruction in the block.
    pub instruction: u32,
    /// The size in bytes, 1 to 8.
    pub size: u8,
    /// Whether it is a store.
    pub writes: bool,
}

/// An effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The instruction with this index begins.
    Begin(u32),
    /// Leaves the instruction to the evaluator unless the condition has this value.
    Guard(Value, bool),
    /// Computes a value here at the latest: the guards before it make sure that it can be computed.
    Compute(Value),
    /// Reads memory. The value is an [`Op::Load`].
    Load(Value),
    /// Writes memory.
    Store {
        /// The access.
        access: u32,
        /// The address.
        address: Value,
        /// The stored value.
        value: Value,
    },
    /// Writes a value to a slot of the register file.
    Write(u32, Value),
}

/// Where execution continues after a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// At an address.
    Goto(u64),
    /// At one address if a condition holds, else at another.
    Branch(Value, u64, u64),
    /// At a computed address.
    Indirect(Value),
    /// At an instruction that the evaluator has to execute.
    Leave(u64),
}

/// A sequence of instructions that are executed in order.
#[derive(Debug)]
pub struct Block {
    /// The addresses of the instructions.
    pub instructions: Vec<u64>,
    /// The values.
    pub graph: Graph,
    /// The effects, in order.
    pub effects: Vec<Effect>,
    /// The accesses to memory.
    pub accesses: Vec<Access>,
    /// Where execution continues.
    pub end: End,
}
