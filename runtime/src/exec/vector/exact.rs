//! Any pure operation, computed lane by lane by its definition.

use isaforge_core::semantics::primitive::primitive;
use isaforge_core::semantics::{Class, Op, Type};

use super::code::{Micro, NO_ROW};
use super::handler::Body;
use super::{Family, Member, bits_of, mask_of, slot};

/// An operation with its types; the number of a [`Micro`] is its index in the code's table.
#[derive(Clone, Debug)]
pub(crate) struct Exact {
    pub op: Op,
    pub imm: u16,
    pub ty: Type,
    pub types: [Type; 4],
}

/// The handler of all [`Exact`] operations.
pub(super) struct ByDefinition;

/// The same for values that may be wider than a slot, each in two rows.
pub(super) struct WideByDefinition;

impl Body for WideByDefinition {
    #[inline(always)]
    fn run<const K: usize, F: Family<K>>(op: &Micro<K, F>, exact: &[Exact], members: &mut [F::Member<'_>]) {
        let Some(exact) = exact.get(op.number as usize) else { return };
        let lanes = 2 * K;
        for member in members {
            for part in (0..F::PARTS).filter(|_| F::SLOT == 32) {
                if !member.is_busy(part) {
                    continue;
                }
                let (mut low, mut high) = ([0; K], [0; K]);
                for lane in 0..lanes {
                    let at = part * lanes + lane;
                    let mut args = [0; 4];
                    for (k, arg) in args.iter_mut().enumerate().take(usize::from(op.reads) / 2) {
                        let found = slot::<K, F>(member, op.from[2 * k], at);
                        let above = slot::<K, F>(member, op.from[2 * k + 1], at);
                        let ty = exact.types[k];
                        *arg = match ty.class {
                            Class::Bool => bits_of(found, ty.lanes, F::SLOT),
                            _ => found | above << 32,
                        };
                    }
                    let Exact { op: what, imm, ty, types } = *exact;
                    let value = primitive(what, imm, ty, types, args) & ty.mask();
                    let value = if ty.class == Class::Bool { mask_of(value, ty.lanes, F::SLOT) } else { value };
                    let (low, high): (&mut [u32], &mut [u32]) =
                        (bytemuck::must_cast_slice_mut(&mut low), bytemuck::must_cast_slice_mut(&mut high));
                    (low[lane], high[lane]) = (value as u32, (value >> 32) as u32);
                }
                member.put(op.to, part, &low, op.keep[0]);
                if op.high != NO_ROW {
                    member.put(op.high, part, &high, op.keep[1]);
                }
            }
        }
    }
}

impl Body for ByDefinition {
    #[inline(always)]
    fn run<const K: usize, F: Family<K>>(op: &Micro<K, F>, exact: &[Exact], members: &mut [F::Member<'_>]) {
        let Some(exact) = exact.get(op.number as usize) else { return };
        let lanes = K * 64 / F::SLOT as usize;
        for member in members {
            for part in 0..F::PARTS {
                if !member.is_busy(part) {
                    continue;
                }
                let mut result = [0; K];
                for lane in 0..lanes {
                    let mut args = [0; 4];
                    for (k, arg) in args.iter_mut().enumerate().take(op.reads.into()) {
                        let found = slot::<K, F>(member, op.from[k], part * lanes + lane);
                        let ty = exact.types[k];
                        *arg = if ty.class == Class::Bool { bits_of(found, ty.lanes, F::SLOT) } else { found };
                    }
                    let Exact { op: what, imm, ty, types } = *exact;
                    let value = primitive(what, imm, ty, types, args) & ty.mask();
                    let value = if ty.class == Class::Bool { mask_of(value, ty.lanes, F::SLOT) } else { value };
                    if F::SLOT == 64 {
                        result[lane] = value;
                    } else {
                        let slots: &mut [u32] = bytemuck::must_cast_slice_mut(&mut result);
                        slots[lane] = value as u32;
                    }
                }
                member.put(op.to, part, &result, op.keep[0]);
            }
        }
    }
}
