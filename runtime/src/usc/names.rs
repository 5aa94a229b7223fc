//! What the states, operands and intrinsics that graphs name stand for.

use std::sync::LazyLock;

use isaforge_core::machine::functions;
use isaforge_usc::ISA;
use isaforge_usc::semantics::SEMANTICS;

use crate::usc::error::Trap;
use crate::usc::register::Register;
use crate::usc::step::{Action, Step};

/// The implementation of a state of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    Predicate,
    Runs,
    Executes,
    Link,
    CoefficientBase,
    SharedBase,
    Kept,
    Failed,
    Instances,
    Runners,
    Losers,
    Spot,
    /// A wire, which composed shapes do not contain.
    Wire,
}

pub static STATES: LazyLock<Vec<Name>> = LazyLock::new(|| {
    let name = |name: &str| match name {
        "p0" => Name::Predicate,
        "pe" => Name::Runs,
        "executes" => Name::Executes,
        "link_register" => Name::Link,
        "coefficient_base" => Name::CoefficientBase,
        "shared_base" => Name::SharedBase,
        "kept" => Name::Kept,
        "failed" => Name::Failed,
        "instances" => Name::Instances,
        "runners" => Name::Runners,
        "losers" => Name::Losers,
        "place" => Name::Spot,
        _ => Name::Wire,
    };
    SEMANTICS.states.iter().map(|state| name(state.name)).collect()
});

/// A source or a result of a group.
#[derive(Clone, Copy, Debug)]
enum Port {
    Source(usize),
    Result(usize),
    None,
}

static PORTS: LazyLock<Vec<Port>> = LazyLock::new(|| {
    let port = |name: &str| match *name.as_bytes() {
        [b'S', digit @ b'0'..=b'5'] => Port::Source((digit - b'0').into()),
        [b'W', digit @ b'0'..=b'1'] => Port::Result((digit - b'0').into()),
        _ => Port::None,
    };
    ISA.operands.iter().map(|operand| port(operand.name)).collect()
});

/// A set of instances that a task stores as a bit mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Set {
    Predicate,
    Runs,
    Executes,
    Kept,
    Failed,
}

impl Set {
    /// The set with this number.
    pub fn numbered(number: u16) -> Set {
        let all = [Set::Predicate, Set::Runs, Set::Executes, Set::Kept, Set::Failed];
        all.get(usize::from(number)).copied().unwrap_or(Set::Executes)
    }

    /// Whether a group may change it.
    pub fn is_writable(self) -> bool {
        self != Set::Executes
    }
}

/// Returns the set that a state of the specification refers to.
pub fn set_of(state: u16) -> Option<Set> {
    match STATES.get(usize::from(state))? {
        Name::Predicate => Some(Set::Predicate),
        Name::Runs => Some(Set::Runs),
        Name::Executes => Some(Set::Executes),
        Name::Kept => Some(Set::Kept),
        Name::Failed => Some(Set::Failed),
        _ => None,
    }
}

/// Returns the register `element` places after the one that an operand of a group names.
pub fn operand(step: &Step, operand: u16, element: u16) -> Result<Register, Trap> {
    let (sources, results) = ports(&step.action);
    let first = match port(operand) {
        Port::Source(number) => sources[number],
        Port::Result(number) => results[number].ok_or(Trap::Fixed)?,
        Port::None => return Err(Trap::Fixed),
    };
    first.plus(element).ok_or(Trap::Burst(element.into()))
}

/// Returns the registers that an action names.
pub fn ports(action: &Action) -> (&[Register; 6], [Option<Register>; 2]) {
    match action {
        Action::Main(main) => (&main.sources, main.results),
        Action::Bitwise(bitwise) => (&bitwise.sources, bitwise.results),
        Action::Control(control) => (&control.sources, [control.result, None]),
    }
}

/// Returns the function that a pure intrinsic computes in an instance.
pub fn function(intrinsic: u16) -> Option<functions::Function> {
    functions::function(SEMANTICS.intrinsics.get(usize::from(intrinsic))?)
}

fn port(operand: u16) -> Port {
    PORTS.get(usize::from(operand)).copied().unwrap_or(Port::None)
}
