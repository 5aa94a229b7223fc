//! Programs: sequences of groups.

use crate::group::decode::decode;
use crate::group::error::GroupError;
use crate::group::table::{Derive, GroupIsa, Target, Test, When};
use crate::group::value::Group;

/// Whether a group is the last of a program.
pub fn is_last(isa: &GroupIsa, group: &Group) -> bool {
    let holds = |when: &When| {
        when.iter().all(|(field, set)| {
            let value = group.get(isa, 0, *field as usize);
            (0..64).contains(&value) && set >> value & 1 != 0
        })
    };
    isa.program.ends.iter().any(holds)
}

/// The groups of a program with their offsets, in byte order.
///
/// The iterator stops after an error, since the start of the next group is then unknown. It continues after the group
/// that ends the program, as long as there are bytes.
///
/// # Examples
///
/// ```
/// use isaforge_core::group::program::walk;
/// use isaforge_usc::ISA;
///
/// let group = [0x64, 0x90, 0x40, 0x90, 0x00, 0x00, 0x00, 0x00];
/// let program = [group, group].concat();
/// let starts: Vec<usize> = walk(ISA, &program).map(|(at, _)| at).collect();
/// assert_eq!(starts, [0, 8]);
/// ```
pub fn walk<'a>(isa: &'a GroupIsa, bytes: &'a [u8]) -> Walk<'a> {
    Walk { isa, bytes, at: 0, failed: false }
}

/// See [`walk`].
#[derive(Clone, Debug)]
pub struct Walk<'a> {
    isa: &'a GroupIsa,
    bytes: &'a [u8],
    at: usize,
    failed: bool,
}

impl Iterator for Walk<'_> {
    type Item = (usize, Result<Group, GroupError>);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty() && !self.failed)?;
        let at = self.at;
        let group = decode(self.isa, rest);
        match &group {
            Ok(group) => self.at += group.len(),
            Err(_) => self.failed = true,
        }
        Some((at, group))
    }
}

/// The number of bytes, at the start of `bytes`, that form one invalid group: the length in the header if there is one
/// and enough bytes follow; otherwise all bytes, up to the length of the longest group.
pub fn extent(isa: &GroupIsa, bytes: &[u8]) -> usize {
    let most = bytes.len().min(isa.longest.into());
    let mut first = [0; 8];
    first.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    let word = u64::from_le_bytes(first);
    let header = isa.slots.first().and_then(|slot| {
        let start = *slot.first.get((word & 0xff) as usize)? as usize;
        let tests = slot.tests.get(start..)?;
        let count = tests.iter().position(|t: &Test| t.last).map_or(tests.len(), |i| i + 1);
        tests.get(..count)?.iter().find(|t| word & t.mask == t.value)
    });
    let length = header.and_then(|test| isa.plans.get(test.record as usize)).and_then(|plan| {
        let length = plan.derived.iter().find(|d| d.rule == Derive::Length)?;
        let units = length.encoding.value(length.bits.get(word, 0), length.bits.width());
        Some(units.unsigned_abs() as usize * usize::from(isa.unit))
    });
    length.filter(|length| (1..=most).contains(length)).unwrap_or(most)
}

/// The lengths that the last two groups of a program need so that the last one is aligned at both ends.
///
/// `start` is the offset of the second-to-last group, or of the last group if it is the only one. The lengths passed in
/// are the minimum lengths. The first result is for the second-to-last group.
pub fn seal(isa: &GroupIsa, start: usize, before: Option<usize>, last: usize) -> (Option<usize>, usize) {
    let align = usize::from(isa.program.align.max(1));
    let before = before.map(|length| (start + length).next_multiple_of(align) - start);
    (before, last.next_multiple_of(align))
}

/// Where `group` holds the target of a branch.
pub(super) fn branch<'i>(isa: &'i GroupIsa, group: &Group) -> Option<&'i Target> {
    isa.program.targets.iter().find(|target| {
        let record = group.record(isa, target.slot.into());
        record.is_some_and(|record| record.has(target.field))
    })
}

/// The target offset of a branch in `group`, which starts at `start`. `None` when it does not branch.
pub fn target(isa: &GroupIsa, group: &Group, start: usize) -> Option<i64> {
    let target = branch(isa, group)?;
    let offset = group.get(isa, target.slot as usize, target.field as usize);
    let absolute = group.get(isa, target.slot as usize, target.absolute as usize) != 0;
    Some(if absolute { offset } else { offset + start as i64 })
}
