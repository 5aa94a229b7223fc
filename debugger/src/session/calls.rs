//! The calls that the lanes of each warp are in, as seen since the start of the program.

use std::collections::{HashMap, VecDeque};

use isaforge_runtime::machine::At;

use crate::listing::Line;

/// The maximum number of return addresses that are kept for a lane. A return address that repeats, as in a recursion,
/// counts once.
const MAX_ADDRESSES: usize = 4096;

/// The calls that lanes are in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Stack {
    /// Return addresses, outermost first, each with the number of calls in a row that return there.
    addresses: VecDeque<(u64, u64)>,
    /// The number of calls.
    depth: u64,
    /// Whether the outermost return addresses have been forgotten.
    is_cut: bool,
}

impl Stack {
    fn push(&mut self, address: u64) {
        self.depth += 1;
        match self.addresses.back_mut() {
            Some((last, times)) if *last == address => *times += 1,
            _ => self.addresses.push_back((address, 1)),
        }
        if self.addresses.len() > MAX_ADDRESSES
            && let Some((_, times)) = self.addresses.pop_front()
        {
            self.depth -= times;
            self.is_cut = true;
        }
    }

    /// Leaves the innermost call if it returns to this address.
    fn pop(&mut self, address: u64) {
        let Some((_, times)) = self.addresses.back_mut().filter(|(last, _)| *last == address) else { return };
        self.depth -= 1;
        *times -= 1;
        if *times == 0 {
            self.addresses.pop_back();
        }
    }
}

/// Lanes of a warp with the same calls.
#[derive(Clone, Debug)]
struct Group {
    lanes: u64,
    stack: Stack,
    /// The instruction that they have executed last, until it is known where it led.
    last: Option<Last>,
}

/// An executed instruction: the place after it, its branch target, and whether it may return.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Last {
    next: Option<u64>,
    target: Option<u64>,
    calls: bool,
}

/// The calls that the lanes of each warp are in.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// The warp that is executing.
    warp: u64,
    groups: Vec<Group>,
    others: HashMap<u64, Vec<Group>>,
    /// The instruction that is executing.
    current: Last,
}

impl Calls {
    /// Notes that a warp is about to execute an instruction, which is `None` if it is not known.
    pub(super) fn before(&mut self, at: At, line: Option<&Line>) {
        self.turn_to(at);
        for group in self.groups.iter_mut().filter(|group| group.lanes & at.active != 0) {
            let Some(last) = group.last.take() else { continue };
            // Only a branch to a computed place returns: others may lead to what follows a call, too.
            match last.next {
                Some(next) if next == at.pc => {}
                Some(next) if last.calls => group.stack.push(next),
                _ if last.target == Some(at.pc) => {}
                _ => group.stack.pop(at.pc),
            }
        }
        self.current =
            line.map_or(Last::default(), |line| Last { next: Some(line.next), target: line.target, calls: line.calls });
        if self.groups.len() > 1 {
            merge(&mut self.groups, at.active);
        }
    }

    /// Notes that a warp has executed an instruction.
    pub(super) fn after(&mut self, at: At) {
        self.turn_to(at);
        for group in self.groups.iter_mut().filter(|group| group.lanes & at.active != 0) {
            group.last = Some(self.current);
        }
        // Lanes that have ended are in no call.
        self.groups.retain_mut(|group| {
            group.lanes &= at.live;
            group.lanes != 0
        });
    }

    /// Turns to the groups of a warp, so that each is active or not.
    fn turn_to(&mut self, at: At) {
        if self.warp != at.warp {
            let groups = self.others.remove(&at.warp).unwrap_or_default();
            let groups = std::mem::replace(&mut self.groups, groups);
            if !groups.is_empty() {
                self.others.insert(self.warp, groups);
            }
            self.warp = at.warp;
        }
        let is_divided = matches!(&self.groups[..], [group] if group.lanes == at.active);
        if !is_divided {
            split(&mut self.groups, at.active);
        }
    }

    /// The group of the first of these lanes of the warp that is executing.
    fn first(&self, lanes: u64) -> Option<&Group> {
        let first = lanes & lanes.wrapping_neg();
        self.groups.iter().find(|group| group.lanes & first != 0)
    }

    /// The number of calls that the first of these lanes is in.
    pub(super) fn depth(&self, lanes: u64) -> u64 {
        self.first(lanes).map_or(0, |group| group.stack.depth)
    }

    /// Where the innermost call of the first of these lanes returns to.
    pub(super) fn innermost(&self, lanes: u64) -> Option<u64> {
        self.first(lanes)?.stack.addresses.back().map(|(address, _)| *address)
    }

    /// Whether one of these lanes, which is active, is in at most `depth` calls. Where return addresses have been
    /// forgotten, being at `place` is enough.
    pub(super) fn is_within(&self, at: At, lanes: u64, depth: u64, place: Option<u64>) -> bool {
        self.groups.iter().filter(|group| group.lanes & lanes & at.active != 0).any(|group| match group.stack.is_cut {
            true => place == Some(at.pc),
            false => group.stack.depth <= depth,
        })
    }
}

/// Divides groups, so that each is within these lanes or beside them, and adds one for lanes that are in none.
fn split(groups: &mut Vec<Group>, lanes: u64) {
    let known = groups.iter().fold(0, |all, group| all | group.lanes);
    if lanes & !known != 0 {
        groups.push(Group { lanes: lanes & !known, stack: Stack::default(), last: None });
    }
    for index in 0..groups.len() {
        let group = &mut groups[index];
        let inside = group.lanes & lanes;
        if inside != 0 && inside != group.lanes {
            let other = Group { lanes: group.lanes & !lanes, ..group.clone() };
            group.lanes = inside;
            groups.push(other);
        }
    }
}

/// Unites the groups within these lanes that have the same calls.
fn merge(groups: &mut Vec<Group>, lanes: u64) {
    let mut index = 0;
    while index < groups.len() {
        let group = &groups[index];
        let same = |other: &Group| other.lanes & lanes != 0 && other.last == group.last && other.stack == group.stack;
        let found = groups[..index].iter().position(same).filter(|_| group.lanes & lanes != 0);
        match found {
            Some(first) => {
                groups[first].lanes |= groups[index].lanes;
                groups.swap_remove(index);
            }
            None => index += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call at 0 of a function at 8, which calls itself at 12 and returns at 20.
    fn line(pc: u64) -> Line {
        let target = match pc {
            0 | 12 => Some(8),
            8 => Some(16),
            _ => None,
        };
        Line { pc, next: pc + 4, calls: pc == 0 || pc == 12, target, ..Line::default() }
    }

    /// The depth before each of the instructions that these lanes execute.
    fn depths(calls: &mut Calls, lanes: u64, places: &[u64]) -> Vec<u64> {
        let one = |pc: &u64| {
            let at = At { warp: 0, pc: *pc, live: 3, active: lanes };
            calls.before(at, Some(&line(*pc)));
            let depth = calls.depth(lanes);
            calls.after(at);
            depth
        };
        places.iter().map(one).collect()
    }

    #[test]
    fn each_call_of_a_recursion_is_left_by_its_own_return() {
        // The innermost call branches over the call to the place where it would return.
        let places = [0, 8, 12, 8, 12, 8, 16, 20, 16, 20, 16, 20, 4];
        assert_eq!(depths(&mut Calls::default(), 3, &places), [0, 1, 1, 2, 2, 3, 3, 3, 2, 2, 1, 1, 0]);
    }

    #[test]
    fn lanes_that_part_are_in_calls_of_their_own() {
        let mut calls = Calls::default();
        assert_eq!(depths(&mut calls, 3, &[0, 8]), [0, 1]);
        assert_eq!(depths(&mut calls, 1, &[16, 20, 4]), [1, 1, 0]);
        assert_eq!(depths(&mut calls, 2, &[12, 8]), [1, 2]);
        assert_eq!(calls.depth(1), 0);
        assert_eq!(depths(&mut calls, 2, &[16, 20, 16, 20, 4]), [2, 2, 1, 1, 0]);
        depths(&mut calls, 3, &[4]);
        assert_eq!(calls.groups.len(), 1);
        let other = At { warp: 7, pc: 0, live: 1, active: 1 };
        calls.before(other, Some(&line(0)));
        assert_eq!(depths(&mut calls, 3, &[0, 8]), [0, 1]);
        calls.after(At { live: 0, ..other });
        assert!(calls.groups.is_empty() && calls.others.len() == 1);
    }

    #[test]
    fn deep_recursions_take_bounded_memory() {
        let mut stack = Stack::default();
        for turn in 0..100_000 {
            stack.push(turn % 2);
        }
        assert_eq!((stack.addresses.len(), stack.is_cut), (MAX_ADDRESSES, true));
        let mut stack = Stack::default();
        (0..100_000).for_each(|_| stack.push(4));
        assert_eq!((stack.addresses.len(), stack.depth, stack.is_cut), (1, 100_000, false));
    }
}
