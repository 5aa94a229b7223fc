//! Integers: words, two halves or four bytes of a word, and pairs of words.

use iced_x86::Code;
use isaforge_core::semantics::{Class, Node, Op, Type};

use super::{Cover, Found};
use crate::exec::jit::lanes::graph::{Kind, Relation, Shifted, Value};
use crate::exec::jit::lanes::pieces::Pieces;

/// Returns the instruction for an operation on two integers.
fn binary(op: Op, bits: u8, signed: bool) -> Option<Code> {
    Some(match (op, bits, signed) {
        (Op::Mul, 32, _) => Code::EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32,
        (Op::Min, 32, false) => Code::EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32,
        (Op::Min, 32, true) => Code::EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32,
        (Op::Max, 32, false) => Code::EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32,
        (Op::Max, 32, true) => Code::EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32,
        (Op::RotateLeft, 32, _) => Code::EVEX_Vprolvd_zmm_k1z_zmm_zmmm512b32,
        (Op::RotateRight, 32, _) => Code::EVEX_Vprorvd_zmm_k1z_zmm_zmmm512b32,

        (Op::Add, 16, _) => Code::EVEX_Vpaddw_zmm_k1z_zmm_zmmm512,
        (Op::Sub, 16, _) => Code::EVEX_Vpsubw_zmm_k1z_zmm_zmmm512,
        (Op::Mul, 16, _) => Code::EVEX_Vpmullw_zmm_k1z_zmm_zmmm512,
        (Op::Min, 16, false) => Code::EVEX_Vpminuw_zmm_k1z_zmm_zmmm512,
        (Op::Min, 16, true) => Code::EVEX_Vpminsw_zmm_k1z_zmm_zmmm512,
        (Op::Max, 16, false) => Code::EVEX_Vpmaxuw_zmm_k1z_zmm_zmmm512,
        (Op::Max, 16, true) => Code::EVEX_Vpmaxsw_zmm_k1z_zmm_zmmm512,
        (Op::AddSat, 16, false) => Code::EVEX_Vpaddusw_zmm_k1z_zmm_zmmm512,
        (Op::AddSat, 16, true) => Code::EVEX_Vpaddsw_zmm_k1z_zmm_zmmm512,
        (Op::SubSat, 16, false) => Code::EVEX_Vpsubusw_zmm_k1z_zmm_zmmm512,
        (Op::SubSat, 16, true) => Code::EVEX_Vpsubsw_zmm_k1z_zmm_zmmm512,
        (Op::AddHalfUp, 16, false) => Code::EVEX_Vpavgw_zmm_k1z_zmm_zmmm512,
        (Op::Shl, 16, _) => Code::EVEX_Vpsllvw_zmm_k1z_zmm_zmmm512,
        (Op::Shr, 16, false) => Code::EVEX_Vpsrlvw_zmm_k1z_zmm_zmmm512,
        (Op::Shr, 16, true) => Code::EVEX_Vpsravw_zmm_k1z_zmm_zmmm512,

        (Op::Add, 8, _) => Code::EVEX_Vpaddb_zmm_k1z_zmm_zmmm512,
        (Op::Sub, 8, _) => Code::EVEX_Vpsubb_zmm_k1z_zmm_zmmm512,
        (Op::Min, 8, false) => Code::EVEX_Vpminub_zmm_k1z_zmm_zmmm512,
        (Op::Min, 8, true) => Code::EVEX_Vpminsb_zmm_k1z_zmm_zmmm512,
        (Op::Max, 8, false) => Code::EVEX_Vpmaxub_zmm_k1z_zmm_zmmm512,
        (Op::Max, 8, true) => Code::EVEX_Vpmaxsb_zmm_k1z_zmm_zmmm512,
        (Op::AddSat, 8, false) => Code::EVEX_Vpaddusb_zmm_k1z_zmm_zmmm512,
        (Op::AddSat, 8, true) => Code::EVEX_Vpaddsb_zmm_k1z_zmm_zmmm512,
        (Op::SubSat, 8, false) => Code::EVEX_Vpsubusb_zmm_k1z_zmm_zmmm512,
        (Op::SubSat, 8, true) => Code::EVEX_Vpsubsb_zmm_k1z_zmm_zmmm512,
        (Op::AddHalfUp, 8, false) => Code::EVEX_Vpavgb_zmm_k1z_zmm_zmmm512,
        _ => return None,
    })
}

impl Cover<'_> {
    /// Returns an integer extended to a word, by its sign or by zeros.
    pub(super) fn extended(&mut self, node: u16) -> Option<Value> {
        let ty = self.ty(node)?;
        if ty.class != Class::Signed || ty.size() == 32 {
            return self.word(node, Kind::Word);
        }
        self.sign_extended(node)
    }

    /// The same by the sign, whatever the type is.
    fn sign_extended(&mut self, node: u16) -> Option<Value> {
        let above = 32u32.checked_sub(self.ty(node)?.size())?;
        let raised = self.pieces(node)?.raised(above, 32);
        let raised = self.graph.assemble(&raised, Kind::Word);
        Some(self.graph.shift_by(Shifted::Arithmetic, raised, above))
    }

    pub(super) fn integer(&mut self, node: &Node) -> Option<Found> {
        let ty = node.ty;
        if !ty.is_integer() {
            return None;
        }
        if node.op == Op::Sext {
            return self.sign_extend(node);
        }
        match ty.lanes {
            1 if ty.size() <= 32 => {
                let word = self.scalar(node)?;
                Self::put(word, ty)
            }
            1 if ty.size() == 64 => self.long(node),
            2 | 4 if ty.size() == 32 => {
                let word = self.components(node)?;
                Self::put(word, ty)
            }
            _ => None,
        }
    }

    /// Sign-extends to a wider integer.
    fn sign_extend(&mut self, node: &Node) -> Option<Found> {
        let (from, ty) = (self.ty(node.args[0])?, node.ty);
        if ty.lanes == 1 && from.size() <= 32 {
            let low = self.sign_extended(node.args[0])?;
            let high = self.graph.shift_by(Shifted::Arithmetic, low, 31);
            return Some(Found::Pieces(Pieces::pair([low, high]).slice(0, ty.size())));
        }
        if (from.bits, ty.bits, ty.lanes) != (8, 16, 2) {
            return None;
        }
        let pieces = self.pieces(node.args[0])?;
        let raised = pieces.slice(0, 8).raised(8, 32).with(pieces.slice(8, 8).raised(24, 32));
        let raised = self.graph.assemble(&raised, Kind::Word);
        let word = self.graph.apply_immediate(Code::EVEX_Vpsraw_zmm_k1z_zmmm512_imm8, &[raised], 8);
        Self::put(word, ty)
    }

    /// Computes integers of at most 32 bits in words. Bits above the type's are cut off later.
    fn scalar(&mut self, node: &Node) -> Option<Value> {
        let [a, b, ..] = node.args;
        let (ty, whole) = (node.ty, node.ty.size() == 32);
        let signed = ty.class == Class::Signed;
        match node.op {
            Op::Shl | Op::Shr => {
                let value = self.extended(a)?;
                let count = self.count(b, ty)?;
                let way = match (node.op, signed) {
                    (Op::Shl, _) => Shifted::Left,
                    (_, false) => Shifted::Right,
                    _ => Shifted::Arithmetic,
                };
                Some(self.graph.shift(way, value, count))
            }
            Op::RotateLeft | Op::RotateRight if whole => {
                let (value, count) = (self.extended(a)?, self.count(b, ty)?);
                Some(self.graph.apply(binary(node.op, 32, signed)?, &[value, count]))
            }
            Op::Neg => {
                let (zero, value) = (self.graph.splat(0), self.extended(a)?);
                Some(self.graph.subtract(zero, value))
            }
            Op::Abs if signed => {
                let value = self.extended(a)?;
                Some(self.graph.apply(Code::EVEX_Vpabsd_zmm_k1z_zmmm512b32, &[value]))
            }
            Op::Abs => self.extended(a),
            Op::Add | Op::Sub | Op::Mul | Op::Min | Op::Max => {
                let (a, b) = (self.extended(a)?, self.extended(b)?);
                Some(match node.op {
                    Op::Add => self.graph.add(a, b),
                    Op::Sub => self.graph.subtract(a, b),
                    Op::Mul if self.graph.constant(a) == Some(1) => b,
                    Op::Mul if self.graph.constant(b) == Some(1) => a,
                    op => self.graph.apply(binary(op, 32, signed)?, &[a, b]),
                })
            }
            _ => None,
        }
    }

    /// Returns a shift count, modulo the width of the shifted value.
    fn count(&mut self, node: u16, of: Type) -> Option<Value> {
        if !of.bits.is_power_of_two() || self.ty(node)?.lanes != 1 {
            return None;
        }
        let low = u32::from(of.bits).trailing_zeros();
        let count = self.pieces(node)?.slice(0, low);
        Some(self.graph.assemble(&count, Kind::Word))
    }

    /// Computes two halves or four bytes.
    fn components(&mut self, node: &Node) -> Option<Value> {
        let [a, b, ..] = node.args;
        let (ty, signed) = (node.ty, node.ty.class == Class::Signed);
        match node.op {
            Op::Shl | Op::Shr => {
                let code = binary(node.op, ty.bits, signed)?;
                let of = self.ty(b)?;
                if of.lanes != ty.lanes {
                    return None;
                }
                // The low four bits of each count; there are no such instructions on bytes.
                let (bits, pieces) = (u32::from(of.bits), self.pieces(b)?);
                let counts = pieces.slice(0, 4).with(pieces.slice(bits, 4).raised(16, 32));
                let (value, counts) = (self.word(a, Kind::Word)?, self.graph.assemble(&counts, Kind::Word));
                Some(self.graph.apply(code, &[value, counts]))
            }
            Op::Neg => {
                let (zero, value) = (self.graph.splat(0), self.word(a, Kind::Word)?);
                Some(self.graph.apply(binary(Op::Sub, ty.bits, signed)?, &[zero, value]))
            }
            Op::Abs => {
                let value = self.word(a, Kind::Word)?;
                let code = match (ty.bits, signed) {
                    (_, false) => return Some(value),
                    (16, true) => Code::EVEX_Vpabsw_zmm_k1z_zmmm512,
                    _ => Code::EVEX_Vpabsb_zmm_k1z_zmmm512,
                };
                Some(self.graph.apply(code, &[value]))
            }
            op => {
                let code = binary(op, ty.bits, signed)?;
                if matches!(op, Op::RotateLeft | Op::RotateRight) {
                    return None;
                }
                let (a, b) = (self.word(a, Kind::Word)?, self.word(b, Kind::Word)?);
                Some(self.graph.apply(code, &[a, b]))
            }
        }
    }

    /// Computes integers of 64 bits.
    fn long(&mut self, node: &Node) -> Option<Found> {
        let [a, b, ..] = node.args;
        let words = match node.op {
            Op::Add | Op::Sub => {
                let ([a, b], [c, d]) = (self.words(a)?, self.words(b)?);
                if node.op == Op::Add { self.long_add([a, b], [c, d]) } else { self.long_subtract([a, b], [c, d]) }
            }
            Op::Shl if self.number(b).is_some() => {
                let by = (self.number(b)? & 63) as u32;
                return Some(Found::Pieces(self.pieces(a)?.raised(by, 64)));
            }
            Op::Shr if self.number(b).is_some() && node.ty.class == Class::Unsigned => {
                let by = (self.number(b)? & 63) as u32;
                return Some(Found::Pieces(self.pieces(a)?.slice(by, 64 - by)));
            }
            _ => return None,
        };
        Some(Found::Pieces(Pieces::pair(words)))
    }

    fn long_add(&mut self, [a, b]: [Value; 2], [c, d]: [Value; 2]) -> [Value; 2] {
        let (low, high) = (self.graph.add(a, c), self.graph.add(b, d));
        if [a, c].iter().any(|word| self.graph.constant(*word) == Some(0)) {
            return [low, high];
        }
        let other = if self.graph.constant(c).is_some() { c } else { a };
        let carry = self.graph.compare_unsigned(Relation::Less, low, other);
        let one = self.graph.splat(1);
        let more = self.graph.add(high, one);
        [low, self.graph.select(carry, more, high)]
    }

    fn long_subtract(&mut self, [a, b]: [Value; 2], [c, d]: [Value; 2]) -> [Value; 2] {
        let (low, high) = (self.graph.subtract(a, c), self.graph.subtract(b, d));
        if self.graph.constant(c) == Some(0) {
            return [low, high];
        }
        let borrow = self.graph.compare_unsigned(Relation::Less, a, c);
        let one = self.graph.splat(1);
        let less = self.graph.subtract(high, one);
        [low, self.graph.select(borrow, less, high)]
    }
}
