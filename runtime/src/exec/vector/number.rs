//! What the rules on floats of all widths share.

/// Defines what floats of all widths share: functions on their bits, and the operations with defined NaN results.
macro_rules! number {
    ($u:ident, $i:ident, $mantissa:literal, $of:ident) => {
        const SIGN: $u = 1 << ($u::BITS - 1);
        const INFINITY: $u = SIGN - (1 << $mantissa);
        const QUIET: $u = 1 << ($mantissa - 1);

        fn ones(holds: bool) -> $u {
            if holds { $u::MAX } else { 0 }
        }

        #[inline(always)]
        fn is_nan(bits: $u) -> bool {
            bits & !SIGN > INFINITY
        }

        /// Returns an integer that orders like the number, with -0 before +0.
        #[inline(always)]
        fn rank(bits: $u) -> $i {
            (bits ^ ((bits as $i >> ($u::BITS - 1)) as $u >> 1)) as $i
        }

        /// Returns the other operand if one is a NaN, or the first one made quiet if both are.
        #[inline(always)]
        fn without_nan(a: $u, b: $u, number: $u) -> $u {
            let (is_a, is_b) = (is_nan(a), is_nan(b));
            let either = if is_b { a } else { number };
            let loser = if is_a { b } else { either };
            if is_a && is_b { a | QUIET } else { loser }
        }

        $crate::exec::vector::rule::operations! { $u, $of, plain(Op);
            Op::Canonical => Canonical(a; nan) if is_nan(a) { nan as $u } else { a };
            Op::Min => Min(a, b; _) without_nan(a, b, if rank(b) < rank(a) { b } else { a });
            Op::Max => Max(a, b; _) without_nan(a, b, if rank(b) > rank(a) { b } else { a });
            Op::Neg => Neg(a; _) a ^ SIGN;
            Op::Abs => Abs(a; _) a & !SIGN;
        }
    };
}
pub(super) use number;

/// Defines the operations of floats that the processor computes.
macro_rules! float {
    ($f:ident, $u:ident, $of:ident) => {
        #[inline(always)]
        #[allow(clippy::unnecessary_cast, reason = "the same for floats of any width")]
        fn canonical(value: $f, nan: u64) -> $u {
            if value.is_nan() { nan as $u } else { value.to_bits() }
        }

        #[inline(always)]
        fn f(bits: $u) -> $f {
            $f::from_bits(bits)
        }

        $crate::exec::vector::rule::operations! { $u, $of, arithmetic(Op);
            Op::Add => Add(a, b; nan) canonical(f(a) + f(b), nan);
            Op::Sub => Sub(a, b; nan) canonical(f(a) - f(b), nan);
            Op::Mul => Mul(a, b; nan) canonical(f(a) * f(b), nan);
            Op::Div => Div(a, b; nan) canonical(f(a) / f(b), nan);
            Op::Sqrt => Sqrt(a; nan) canonical(f(a).sqrt(), nan);
            Op::Fma => Fma(a, b, c; nan) canonical(f(a).mul_add(f(b), f(c)), nan);
        }

        $crate::exec::vector::rule::operations! { $u, $of, compare(Comparison);
            Comparison::Equal => Equal(a, b; _) ones(f(a) == f(b));
            Comparison::NotEqual => NotEqual(a, b; _) ones(f(a) != f(b));
            Comparison::Less => Less(a, b; _) ones(f(a) < f(b));
            Comparison::LessEqual => LessEqual(a, b; _) ones(f(a) <= f(b));
            Comparison::Apart => Apart(a, b; _) ones(f(a) < f(b) || f(a) > f(b));
            Comparison::Unordered => Unordered(a, b; _) ones(is_nan(a) || is_nan(b));
            Comparison::TotalLessEqual => Total(a, b; _) ones(rank(a) <= rank(b));
        }
    };
}
pub(super) use float;
