//! Any pure operation, computed lane by lane by its definition.

use isaforge_core::semantics::Class;
use isaforge_core::semantics::primitive::primitive;

use super::handler::{Body, Exact, Micro, NO_ROW};
use super::{Family, Member, bits_of, mask_of, slot};

/// The handler of all [`Exact`] operations; if `WIDE`, values may be wider than a slot, and each is in two rows.
pub(super) struct ByDefinition<const WIDE: bool>;

impl<const WIDE: bool> Body for ByDefinition<WIDE> {
    #[inline(always)]
    fn run<const K: usize, F: Family<K>>(op: &Micro<K, F>, exact: &[Exact], members: &mut [F::Member<'_>]) {
        let Some(exact) = exact.get(op.number as usize) else { return };
        let (lanes, rows) = (K * 64 / F::SLOT as usize, 1 + usize::from(WIDE));
        for member in members {
            for part in (0..F::PARTS).filter(|_| !WIDE || F::SLOT == 32) {
                if !member.is_busy(part) {
                    continue;
                }
                let (mut low, mut high) = ([0; K], [0; K]);
                for lane in 0..lanes {
                    let at = part * lanes + lane;
                    let mut args = [0; 4];
                    for (k, arg) in args.iter_mut().enumerate().take(usize::from(op.reads) / rows) {
                        let found = slot::<K, F>(member, op.from[rows * k], at);
                        let ty = exact.types[k];
                        *arg = match ty.class {
                            Class::Bool => bits_of(found, ty.lanes, F::SLOT),
                            _ if WIDE => found | slot::<K, F>(member, op.from[rows * k + 1], at) << 32,
                            _ => found,
                        };
                    }
                    let Exact { op: what, imm, ty, types } = *exact;
                    let value = primitive(what, imm, ty, types, args) & ty.mask();
                    let value = if ty.class == Class::Bool { mask_of(value, ty.lanes, F::SLOT) } else { value };
                    if F::SLOT == 64 {
                        low[lane] = value;
                    } else {
                        for (row, word) in [(&mut low, value), (&mut high, value >> 32)] {
                            let slots: &mut [u32] = bytemuck::must_cast_slice_mut(row);
                            slots[lane] = word as u32;
                        }
                    }
                }
                member.put(op.to, part, &low, op.keep[0]);
                if WIDE && op.high != NO_ROW {
                    member.put(op.high, part, &high, op.keep[1]);
                }
            }
        }
    }
}
