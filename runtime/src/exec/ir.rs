//! The executor's working form of instructions that follow one another.
//!
//! Values are bit patterns with zeros above the bits that they have; operations have types. A [`Graph`] holds each value
//! once. A [`Block`] says in which order effects happen, and where execution goes on.

use isaforge_core::bits::ones;
use isaforge_core::semantics::{self, Type};
use rustc_hash::FxHashMap;

/// A value, by its number in a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A constant.
    Const(u64),
    /// What a slot of the register file held when the block began.
    Slot(u32),
    /// What an access, by its number, finds in memory at the address that is the first argument.
    Load(u32),
    /// An operation of values alone, and what else it is told.
    Pure(semantics::Op, u16),
}

/// A value: an operation and its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// The operation.
    pub op: Op,
    /// The type in which it is computed. For comparisons it is that of what is compared.
    pub ty: Type,
    /// Its arguments, as many as the operation has.
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
    /// How many values there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// What a value is.
    pub fn node(&self, value: Value) -> Node {
        self.nodes[value.0 as usize]
    }

    /// Adds a value, or finds it. Loads are never the same.
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

    /// What a slot of this width in bits held when the block began.
    pub fn slot(&mut self, slot: u32, bits: u8) -> Value {
        self.add(Node { op: Op::Slot(slot), ty: Type::unsigned(bits), args: [None; 3] })
    }

    /// The number that a value is, if it is one.
    pub fn number(&self, value: Value) -> Option<u64> {
        match self.node(value).op {
            Op::Const(number) => Some(number),
            _ => None,
        }
    }

    /// How many bits a value may have.
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

    /// The same without looking at arguments, so that it takes no time.
    fn bits_of_leaf(&self, value: Value) -> u32 {
        let node = self.node(value);
        match node.op {
            Op::Const(number) => 64 - number.leading_zeros(),
            Op::Pure(semantics::Op::Compare, _) => 1,
            _ => node.ty.bits.into(),
        }
    }

    /// Ones in all bits that a value may have.
    pub fn mask(&self, value: Value) -> u64 {
        ones(self.bits(value))
    }
}

/// An access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The instruction, by its number in the block.
    pub instruction: u32,
    /// Bytes, 1 to 8.
    pub size: u8,
    /// Whether it is a store.
    pub writes: bool,
}

/// What happens, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The instruction with this number begins.
    Begin(u32),
    /// The instruction is left to the evaluator unless a condition is as said.
    Guard(Value, bool),
    /// A value is computed here at the latest: guards before it have seen that it can be.
    Compute(Value),
    /// Memory is read. The value is an [`Op::Load`].
    Load(Value),
    /// Memory is written.
    Store {
        /// The access.
        access: u32,
        /// Where.
        address: Value,
        /// What.
        value: Value,
    },
    /// A slot of the register file gets a value.
    Write(u32, Value),
}

/// Where execution goes on after a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// At an address.
    Goto(u64),
    /// At one address if a condition holds, else at another.
    Branch(Value, u64, u64),
    /// At an address that is computed.
    Indirect(Value),
    /// At an instruction that the evaluator has to execute.
    Leave(u64),
}

/// Instructions that are executed one after another.
#[derive(Debug)]
pub struct Block {
    /// Their addresses.
    pub instructions: Vec<u64>,
    /// The values.
    pub graph: Graph,
    /// What happens.
    pub effects: Vec<Effect>,
    /// The accesses to memory.
    pub accesses: Vec<Access>,
    /// Where execution goes on.
    pub end: End,
}
