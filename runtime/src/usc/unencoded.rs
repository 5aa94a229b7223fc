//! Operations of the main unit that no public encoding holds: they execute from typed values, see
//! [`Program::of_parts`](crate::usc::Program::of_parts).

use isaforge_usc::{Extra, ExtraOp, F64Type, Sop};

use crate::usc::error::Trap;
use crate::usc::exec::{Cpu, Wires};
use crate::usc::host::{Host, Place};
use crate::usc::lanes::{Column, LANES, Mask, each, map, zip};
use crate::usc::program::{Main, Wire};
use crate::usc::rules::{float, sop};

/// The double that a word is, low and high half.
pub(super) fn to_f64(of: F64Type, word: u32) -> [u32; 2] {
    let double = match of {
        F64Type::F32 => f64::from(f32::from_bits(float::canonical(word))),
        F64Type::S32 => f64::from(word as i32),
        F64Type::U32 => f64::from(word),
    };
    [double.to_bits() as u32, (double.to_bits() >> 32) as u32]
}

/// What a double becomes: the nearest float, or the integer towards zero, held at the ends of its range; 0 for a NaN.
pub(super) fn from_f64(of: F64Type, low: u32, high: u32) -> u32 {
    let double = f64::from_bits(u64::from(high) << 32 | u64::from(low));
    match of {
        F64Type::F32 => float::canonical((double as f32).to_bits()),
        F64Type::S32 => double as i32 as u32,
        F64Type::U32 => double as u32,
    }
}

/// Drives W0 and W1 with sums of products.
pub(super) fn sum(op: &Sop, s: &[Column; 6], wires: &mut Wires, plain: &Column) {
    let (mut w0, mut w1) = (*plain, [0; LANES]);
    for i in 0..LANES {
        let sums = sop::sums(op, s.map(|column| column[i]));
        w0[i] = (plain[i] & !sums.mask) | (sums.w0 & sums.mask);
        w1[i] = sums.w1;
    }
    wires.direct = [Some(w0), Some(w1)];
}

impl<H: Host> Cpu<'_, H> {
    pub(super) fn extra(
        &mut self,
        op: &Extra,
        main: &Main,
        s: &[Column; 6],
        wires: &mut Wires,
        active: Mask,
    ) -> Result<(), Trap> {
        match op.op {
            ExtraOp::Sopmov | ExtraOp::SopmovU8 => wires.direct[1] = Some(s[3]),
            ExtraOp::Sopu8madmov => wires.direct[1] = Some(s[0]),
            ExtraOp::Tof64 => {
                let from = *wires.get(main.is3);
                wires.ft0 = map(&from, |word| to_f64(op.f64_type, word)[0]);
                wires.ft2 = map(&from, |word| to_f64(op.f64_type, word)[1]);
            }
            ExtraOp::Fadd | ExtraOp::Fmul => {
                let left = float::Modifiers { floor: false, abs: op.leftabs, neg: op.leftneg };
                let right = float::Modifiers { abs: op.rightabs, ..float::Modifiers::default() };
                let of = if op.op == ExtraOp::Fadd { float::add } else { float::mul };
                let result = |a, b| {
                    let result = of(left.apply(a), right.apply(b));
                    if op.sat { float::saturate(result) } else { result }
                };
                wires.ft2 = zip(wires.get(main.is3), wires.get(Wire::Fte), result);
            }
            ExtraOp::Gta => {
                let (mut low, mut rest, mut outside) = ([0; LANES], [0; LANES], 0);
                for i in each(active) {
                    let texture = self.take_state(main.sources[0], i)?;
                    let layer = if op.array { s[5][i] & 0xffff } else { 0 };
                    let place = self.host.place(self.who(i), s[3][i], texture, [s[1][i], s[4][i], layer]);
                    let place = place.map_err(Trap::Host)?;
                    [low[i], rest[i]] = place.packed();
                    outside |= Mask::from(place.outside) << i;
                }
                wires.direct = [Some(low), Some(rest)];
                if op.pwen {
                    self.set_predicate(outside, active);
                }
            }
        }
        Ok(())
    }

    /// Stores as many words as the place in W0 and W1 has, from a source on.
    pub(super) fn store_texel(&mut self, main: &Main, wires: &Wires, active: Mask) -> Result<(), Trap> {
        each(active).try_for_each(|i| {
            let place = Place::unpacked([wires.w0[i], wires.w1[i]]);
            self.store_at(place.address, main.sources[2], place.count, place.size, i)
        })
    }
}
