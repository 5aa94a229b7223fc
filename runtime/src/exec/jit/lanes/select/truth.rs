//! Conditions: a mask of the lanes in which they hold, or do not hold.

use iced_x86::Code;
use isaforge_core::semantics::{Class, Comparison, Node, Op, Type};

use super::{Cover, Found};
use crate::exec::jit::lanes::graph::{Kind, Ordering, Relation, Value};

/// A condition for each lane, or for each component of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    /// The same in all lanes.
    Known(bool),
    /// Holds in the lanes of the mask; or, if `inverted`, in the others.
    Mask {
        mask: Value,
        inverted: bool,
        /// The number of components of a word: 1, 2 or 4.
        parts: u8,
    },
}

impl Truth {
    /// Returns the condition of a mask.
    pub(crate) fn of(mask: Value) -> Self {
        Truth::Mask { mask, inverted: false, parts: 1 }
    }

    /// Returns the opposite.
    pub(crate) fn not(self) -> Self {
        match self {
            Truth::Known(holds) => Truth::Known(!holds),
            Truth::Mask { mask, inverted, parts } => Truth::Mask { mask, inverted: !inverted, parts },
        }
    }
}

/// Returns the instruction on masks with one bit for each component.
fn on_masks(op: Op, parts: u8) -> Option<Code> {
    Some(match (op, parts) {
        (Op::And, 1) => Code::VEX_Kandw_kr_kr_kr,
        (Op::And, 2) => Code::VEX_Kandd_kr_kr_kr,
        (Op::And, 4) => Code::VEX_Kandq_kr_kr_kr,
        // `!a & b`.
        (Op::Not, 1) => Code::VEX_Kandnw_kr_kr_kr,
        (Op::Not, 2) => Code::VEX_Kandnd_kr_kr_kr,
        (Op::Not, 4) => Code::VEX_Kandnq_kr_kr_kr,
        (Op::Or, 1) => Code::VEX_Korw_kr_kr_kr,
        (Op::Or, 2) => Code::VEX_Kord_kr_kr_kr,
        (Op::Or, 4) => Code::VEX_Korq_kr_kr_kr,
        (Op::Xor, 1) => Code::VEX_Kxorw_kr_kr_kr,
        (Op::Xor, 2) => Code::VEX_Kxord_kr_kr_kr,
        (Op::Xor, 4) => Code::VEX_Kxorq_kr_kr_kr,
        _ => return None,
    })
}

impl Cover<'_> {
    pub(super) fn truth(&self, node: u16) -> Option<Truth> {
        match self.found.get(usize::from(node))? {
            Found::Truth(truth) => Some(*truth),
            _ => None,
        }
    }

    /// Returns the mask of a condition, and whether it is inverted.
    pub(super) fn mask(&mut self, truth: Truth) -> (Value, bool) {
        match truth {
            Truth::Mask { mask, inverted, .. } => (mask, inverted),
            Truth::Known(holds) => {
                let zero = self.graph.splat(0);
                (self.graph.compare_unsigned(Relation::Equal, zero, zero), !holds)
            }
        }
    }

    /// Returns `yes` where a condition holds, else `no`.
    pub(super) fn blend(&mut self, truth: Truth, yes: Value, no: Value) -> Option<Value> {
        Some(match truth {
            Truth::Known(true) => yes,
            Truth::Known(false) => no,
            _ if yes == no => yes,
            Truth::Mask { mask, inverted, parts } => {
                let (yes, no) = if inverted { (no, yes) } else { (yes, no) };
                match parts {
                    1 => self.graph.select(mask, yes, no),
                    2 => self.graph.blend(Code::EVEX_Vpblendmw_zmm_k1z_zmm_zmmm512, mask, yes, no),
                    _ => self.graph.blend(Code::EVEX_Vpblendmb_zmm_k1z_zmm_zmmm512, mask, yes, no),
                }
            }
        })
    }

    /// Combines conditions logically.
    pub(super) fn truths(&mut self, node: &Node) -> Option<Found> {
        let a = self.truth(node.args[0])?;
        if node.op == Op::Not {
            return Some(Found::Truth(a.not()));
        }
        let b = self.truth(node.args[1])?;
        self.combine(node.op, a, b).map(Found::Truth)
    }

    pub(super) fn combine(&mut self, op: Op, a: Truth, b: Truth) -> Option<Truth> {
        let (one, other, parts) = match (op, a, b) {
            (Op::And, Truth::Known(holds), other) | (Op::And, other, Truth::Known(holds)) => {
                return Some(if holds { other } else { Truth::Known(false) });
            }
            (Op::Or, Truth::Known(holds), other) | (Op::Or, other, Truth::Known(holds)) => {
                return Some(if holds { Truth::Known(true) } else { other });
            }
            (Op::Xor, Truth::Known(holds), other) | (Op::Xor, other, Truth::Known(holds)) => {
                return Some(if holds { other.not() } else { other });
            }
            (_, Truth::Mask { mask: a, inverted: x, parts }, Truth::Mask { mask: b, inverted: y, parts: others })
                if parts == others =>
            {
                ((a, x), (b, y), parts)
            }
            _ => return None,
        };
        let done = |mask, inverted| Some(Truth::Mask { mask, inverted, parts });
        match (op, one, other) {
            (Op::Xor, (a, x), (b, y)) => {
                let mask = self.graph.test(on_masks(op, parts)?, &[a, b], None);
                done(mask, x ^ y)
            }
            (Op::And, (a, false), (b, false)) => {
                let within = self.graph.test_within(a, b).or_else(|| self.graph.test_within(b, a));
                let mask = match within {
                    Some(mask) => mask,
                    None => self.graph.test(on_masks(Op::And, parts)?, &[a, b], None),
                };
                done(mask, false)
            }
            (Op::And, (a, true), (b, true)) => {
                let mask = self.graph.test(on_masks(Op::Or, parts)?, &[a, b], None);
                done(mask, true)
            }
            (Op::And, (b, false), (a, true)) | (Op::And, (a, true), (b, false)) => {
                let mask = self.graph.test(on_masks(Op::Not, parts)?, &[a, b], None);
                done(mask, false)
            }
            (Op::Or, ..) => self.combine(Op::And, a.not(), b.not()).map(Truth::not),
            _ => None,
        }
    }

    /// Selects one of two conditions.
    pub(super) fn choose_truth(&mut self, when: Truth, yes: u16, no: u16) -> Option<Found> {
        let (yes, no) = (self.truth(yes)?, self.truth(no)?);
        self.either(when, yes, no).map(Found::Truth)
    }

    /// Returns `yes` where a condition holds, else `no`.
    pub(super) fn either(&mut self, when: Truth, yes: Truth, no: Truth) -> Option<Truth> {
        match when {
            Truth::Known(true) => return Some(yes),
            Truth::Known(false) => return Some(no),
            Truth::Mask { .. } => {}
        }
        let yes = self.combine(Op::And, when, yes)?;
        let no = self.combine(Op::And, when.not(), no)?;
        self.combine(Op::Or, yes, no)
    }

    /// Converts a condition to a number.
    pub(super) fn truth_as_number(&mut self, node: &Node) -> Option<Found> {
        let truth = self.truth(node.args[0])?;
        if !node.ty.is_integer() || node.ty.lanes != 1 || node.ty.size() > 32 {
            return None;
        }
        let yes = if node.op == Op::Sext { node.ty.mask() as u32 } else { 1 };
        let (yes, no) = (self.graph.splat(yes), self.graph.splat(0));
        let word = self.blend(truth, yes, no)?;
        Self::put(word, node.ty)
    }

    pub(super) fn compare(&mut self, node: &Node) -> Option<Found> {
        let [a, b, ..] = node.args;
        let ty = self.ty(a)?;
        let how = *Comparison::ALL.get(usize::from(node.imm))?;
        let equality = matches!(how, Comparison::Equal | Comparison::NotEqual);
        if ty == Type::BOOL && equality {
            let (a, b) = (self.truth(a)?, self.truth(b)?);
            let differ = self.combine(Op::Xor, a, b)?;
            return Some(Found::Truth(if how == Comparison::Equal { differ.not() } else { differ }));
        }
        let truth = if ty.class == Class::Float {
            if ty.bits != 32 || ty.lanes != 1 {
                return None;
            }
            Truth::of(self.compare_float(how, a, b)?)
        } else if ty.lanes == 1 && equality && self.number(b) == Some(0) && ty.size() <= 32 {
            let differs = self.is_some(a)?;
            if how == Comparison::Equal { differs.not() } else { differs }
        } else {
            self.compare_integer(ty, how, a, b)?
        };
        Some(Found::Truth(truth))
    }

    /// Returns where a value is not zero.
    fn is_some(&mut self, node: u16) -> Option<Truth> {
        if let Some((word, from, bits)) = self.pieces(node)?.single() {
            if bits == 32
                && let Some((mask, inverted)) = self.graph.made_from(word)
            {
                return Some(Truth::Mask { mask, inverted, parts: 1 });
            }
            let word = self.graph.read_as(word, Kind::Word);
            let wanted =
                if bits == 32 { word } else { self.graph.splat((isaforge_core::bits::ones(bits) << from) as u32) };
            return Some(Truth::of(self.graph.intersects(word, wanted)));
        }
        let word = self.word(node, Kind::Word)?;
        Some(Truth::of(self.graph.intersects(word, word)))
    }

    fn compare_integer(&mut self, ty: Type, how: Comparison, a: u16, b: u16) -> Option<Truth> {
        let relation = match how {
            Comparison::Equal => Relation::Equal,
            Comparison::NotEqual | Comparison::Apart => Relation::Different,
            Comparison::Less => Relation::Less,
            Comparison::LessEqual | Comparison::TotalLessEqual => Relation::LessOrEqual,
            Comparison::Unordered => return Some(Truth::Known(false)),
        };
        let signed = ty.class == Class::Signed;
        if ty.lanes == 1 {
            let (a, b) = (self.extended(a)?, self.extended(b)?);
            return Some(Truth::of(match signed {
                true => self.graph.compare_signed(relation, a, b),
                false => self.graph.compare_unsigned(relation, a, b),
            }));
        }
        let (code, parts) = match (ty.bits, ty.lanes, signed) {
            (16, 2, false) => (Code::EVEX_Vpcmpuw_kr_k1_zmm_zmmm512_imm8, 2),
            (16, 2, true) => (Code::EVEX_Vpcmpw_kr_k1_zmm_zmmm512_imm8, 2),
            (8, 4, false) => (Code::EVEX_Vpcmpub_kr_k1_zmm_zmmm512_imm8, 4),
            (8, 4, true) => (Code::EVEX_Vpcmpb_kr_k1_zmm_zmmm512_imm8, 4),
            _ => return None,
        };
        let (a, b) = (self.word(a, Kind::Word)?, self.word(b, Kind::Word)?);
        let mask = self.graph.test(code, &[a, b], Some(relation as u8));
        Some(Truth::Mask { mask, inverted: false, parts })
    }

    fn compare_float(&mut self, how: Comparison, a: u16, b: u16) -> Option<Value> {
        let ordering = match how {
            Comparison::Equal => Ordering::Equal,
            Comparison::NotEqual => Ordering::Different,
            Comparison::Less => Ordering::Less,
            Comparison::LessEqual => Ordering::LessOrEqual,
            Comparison::Apart => Ordering::Apart,
            Comparison::Unordered => Ordering::Unordered,
            Comparison::TotalLessEqual => {
                let (a, b) = (self.word(a, Kind::Word)?, self.word(b, Kind::Word)?);
                let (a, b) = (self.order_key(a), self.order_key(b));
                return Some(self.graph.compare_signed(Relation::LessOrEqual, a, b));
            }
        };
        let (a, b) = (self.word(a, Kind::Float)?, self.word(b, Kind::Float)?);
        Some(self.graph.compare_floats(ordering, a, b))
    }
}
