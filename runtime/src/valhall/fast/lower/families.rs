//! The shapes of the less common instructions: how they read and put. Which rule it is, is said where they are used.

/// A rule whose direction of rounding is a const parameter.
macro_rules! directed {
    ($s:ident, $mode:expr, $put:ident::<$rule:ident>($($arg:expr),*)) => {
        match $mode {
            RoundMode::Rte => $s.$put::<convert::$rule<{ direction::EVEN }>>($($arg),*),
            RoundMode::Rtp => $s.$put::<convert::$rule<{ direction::UP }>>($($arg),*),
            RoundMode::Rtn => $s.$put::<convert::$rule<{ direction::DOWN }>>($($arg),*),
            RoundMode::Rtz => $s.$put::<convert::$rule<{ direction::ZERO }>>($($arg),*),
        }
    };
}

/// One f32 source with its modifiers, an f32 result or bits.
macro_rules! float_functions {
    ($($name:ident $form:ident $put:ident $rule:ty;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Lowered {
            let a = float!(self, i, 0);
            let sources = [self.settle::<float::Sign>(0, a)];
            settled!($put, self, i, $rule, &sources)
        }
    )* };
}

/// One plain word, an f32 result or bits.
macro_rules! word_functions {
    ($($name:ident $form:ident $put:ident $rule:ty;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Lowered {
            let sources = [take!(self.word(i.src0()))];
            settled!($put, self, i, $rule, &sources)
        }
    )* };
}

/// One source of two halves, with signs.
macro_rules! half_functions {
    ($($name:ident $form:ident $rule:ty;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Lowered {
            let a = halves!(self, i, 0);
            let sources = [self.settle::<half::Sign>(0, a)];
            self.put::<$rule>(i.dest(), i.dest_half(), &sources, [0; 2])
        }
    )* };
}

/// How a result is put.
macro_rules! settled {
    (float, $s:ident, $i:ident, $rule:ty, $sources:expr) => {
        $s.put_float::<$rule>($i.dest(), $i.dest_half(), Clamp::None, $sources, [0; 2])
    };
    (bits, $s:ident, $i:ident, $rule:ty, $sources:expr) => {
        $s.put::<$rule>($i.dest(), $i.dest_half(), $sources, [0; 2])
    };
}

/// `FMA_RSCALE`.
macro_rules! scaled_products {
    ($($name:ident $form:ident $zero:ident $bits:literal;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Lowered {
            let (Signed(a, x), Signed(b, y)) = (whole!(self, i, 0), whole!(self, i, 1));
            let (Signed(c, z), d) = (whole!(self, i, 2), take!(self.word(i.src3())));
            self.put_float::<special::FmaScaled<{ special::zero::$zero }, $bits>>(
                i.dest(), i.dest_half(), i.clamp(), &[a, b, c, d], [x | y << 2 | z << 4, 0]
            )
        }
    )* };
}

/// `FREXPM` and `FREXPE`.
macro_rules! mantissas {
    ($($name:ident $form:ident $put:ident $rule:ident;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Lowered {
            let Signed(a, _) = take!(self.float(0, i.src0(), i.src0_swizzle(), false, false));
            match (i.log(), i.sqrt()) {
                (true, _) => settled!($put, self, i, special::$rule<{ special::range::LOG }>, &[a]),
                (false, true) => settled!($put, self, i, special::$rule<{ special::range::ROOT }>, &[a]),
                (false, false) => settled!($put, self, i, special::$rule<{ special::range::HALF }>, &[a]),
            }
        }
    )* };
}

/// The same on halves.
macro_rules! half_mantissas {
    ($($name:ident $form:ident $rule:ident;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Lowered {
            let Signed(a, _) = take!(self.halves(0, i.src0(), i.src0_swizzle(), false, false));
            let range = match (i.log(), i.sqrt()) {
                (true, _) => special::range::LOG,
                (false, true) => special::range::ROOT,
                (false, false) => special::range::HALF,
            };
            self.put::<special::$rule>(i.dest(), i.dest_half(), &[a], [range, 0])
        }
    )* };
}

/// What helps with cube maps: three f32, or two and a word.
macro_rules! cubes {
    ($($name:ident $form:ident $put:ident $rule:ident $third:ident;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Lowered {
            let (Signed(a, x), Signed(b, y)) = (whole!(self, i, 0), whole!(self, i, 1));
            let Signed(c, z) = cubes!(@$third self, i);
            let signs = [x | y << 2 | z << 4, 0];
            cubes!(@$put self, i, cube::$rule, &[a, b, c], signs)
        }
    )* };
    (@float $s:ident, $i:ident) => {
        whole!($s, $i, 2)
    };
    (@face $s:ident, $i:ident) => {
        Signed(take!($s.word($i.src2())), 0)
    };
    (@number $s:ident, $i:ident, $rule:ty, $sources:expr, $signs:expr) => {
        $s.put_float::<$rule>($i.dest(), $i.dest_half(), Clamp::None, $sources, $signs)
    };
    (@bits $s:ident, $i:ident, $rule:ty, $sources:expr, $signs:expr) => {
        $s.put::<$rule>($i.dest(), $i.dest_half(), $sources, $signs)
    };
}

/// Halves to and from integers of their width in a direction of rounding.
macro_rules! half_conversions {
    ($(halves $name:ident $form:ident $rule:ident;)* $(shorts $from:ident $from_form:ident $sign:literal $from_rule:ident;)*) => {
        $(fn $name(&mut self, i: v::$form) -> Lowered {
            let a = halves!(self, i, 0);
            let sources = [self.settle::<half::Sign>(0, a)];
            directed!(self, i.roundmode(), put::<$rule>(i.dest(), i.dest_half(), &sources, [0; 2]))
        })*
        $(fn $from(&mut self, i: v::$from_form) -> Lowered {
            let a = take!(self.shorts(0, i.src0(), i.src0_widen(), $sign));
            directed!(self, i.roundmode(), put::<$from_rule>(i.dest(), i.dest_half(), &[a], [0; 2]))
        })*
    };
}

/// Two bytes as halves: integers, or floats by a rule.
macro_rules! byte_pairs {
    ($(integer $name:ident $form:ident $sign:literal;)* $(float $float:ident $float_form:ident $float_sign:literal $rule:ident;)*) => {
        $(fn $name(&mut self, i: v::$form) -> Lowered {
            let a = take!(self.byte_pair(i.src0(), i.src0_halfswizzle(), $sign));
            self.put::<integer::Copy>(i.dest(), i.dest_half(), &[a], [0; 2])
        })*
        $(fn $float(&mut self, i: v::$float_form) -> Lowered {
            let a = take!(self.byte_pair(i.src0(), i.src0_halfswizzle(), $float_sign));
            self.put::<convert::$rule<{ direction::EVEN }>>(i.dest(), i.dest_half(), &[a], [0; 2])
        })*
    };
}

/// Four bytes that are added, subtracted or multiplied.
macro_rules! byte_arithmetic {
    ($($name:ident $form:ident $sign:literal $rule:ident;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Lowered {
            let a = take!(self.bytes(0, i.src0(), i.src0_widen()));
            let b = take!(self.bytes(1, i.src1(), i.src1_widen()));
            let limits = parts::limits(8, $sign, i.saturate());
            self.put::<Each<8, $sign, parts::$rule>>(i.dest(), i.dest_half(), &[a, b], limits)
        }
    )* };
}

/// Halves of sums.
macro_rules! halving_sums {
    ($($name:ident $form:ident $read:ident $sign:literal $rule:ty;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Lowered {
            let a = take!(halving_sums!(@$read self, 0, i.src0(), i.src0_widen(), $sign));
            let b = take!(halving_sums!(@$read self, 1, i.src1(), i.src1_widen(), $sign));
            self.put::<$rule>(i.dest(), i.dest_half(), &[a, b], [i.rhadd().into(), 0])
        }
    )* };
    (@bytes $s:ident, $n:literal, $source:expr, $widen:expr, $sign:literal) => {
        $s.bytes($n, $source, $widen)
    };
    (@$read:ident $s:ident, $n:literal, $source:expr, $widen:expr, $sign:literal) => {
        $s.$read($n, $source, $widen, $sign)
    };
}

/// Shifts of four bytes with logic.
macro_rules! byte_shifts {
    ($($name:ident $form:ident $way:ident $logic:ident;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Lowered {
            let value = take!(self.bytes(0, i.src0(), i.src0_widen()));
            let count = take!(self.byte_counts(i.src1(), i.src1_lanes()));
            let sources = [value, count, take!(self.word(i.src2()))];
            let (dest, half, numbers) = (i.dest(), i.dest_half(), [ones(i.src2_not()), ones(i.not_result())]);
            shifts!(@$way parts, self, i, ShiftBytes, $logic, dest, half, &sources, numbers)
        }
    )* };
}

/// Shifts of pairs with logic.
macro_rules! long_shifts {
    ($($name:ident $form:ident $way:ident $logic:ident;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Lowered {
            let arithmetic = shifts!(@$way i);
            let value = take!(self.long(0, i.src0(), i.src0_widen(), arithmetic));
            let count = take!(self.counts(i.src1(), i.src1_lanes(), false));
            let other = take!(self.pair(i.src2()));
            let [a, b] = long_shifts!(@$way self, i, value, count);
            let numbers = [ones(i.src2_not()), ones(i.not_result())];
            let sources = [a, b, other[0], other[1]];
            self.put_long::<long::LongLogic<{ logic::$logic }>>(i.dest(), i.dest_half(), &sources, numbers)
        }
    )* };
    (@left $s:ident, $i:ident, $value:ident, $count:ident) => {
        $s.shifted::<{ shift::LEFT }>($value, $count)
    };
    (@right $s:ident, $i:ident, $value:ident, $count:ident) => {
        if $i.signed() {
            $s.shifted::<{ shift::ARITHMETIC }>($value, $count)
        } else {
            $s.shifted::<{ shift::RIGHT }>($value, $count)
        }
    };
}

/// Reads from other lanes: bits of a component, how to read the lane numbers.
macro_rules! permutes {
    ($($name:ident $form:ident $bits:literal $read:ident $sign:literal;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Lowered {
            let value = take!(self.word(i.src0()));
            let operand = take!(halving_sums!(@$read self, 1, i.src1(), i.src1_widen(), $sign));
            let numbers = [subgroup(i.subgroup()), cross::inactive(i.inactive_result())];
            let handler = self.permute::<$bits, 1>(i.lane_op());
            self.put_part(handler, i.dest(), i.dest_half(), &[value, operand], numbers)
        }
    )* };
}

/// The same on pairs.
macro_rules! long_permutes {
    ($($name:ident $form:ident $sign:literal;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Lowered {
            let [low, high] = take!(self.pair(i.src0()));
            let [operand, _] = take!(self.long(1, i.src1(), i.src1_widen(), $sign));
            let numbers = [subgroup(i.subgroup()), cross::inactive(i.inactive_result())];
            let handler = self.permute::<32, 2>(i.lane_op());
            self.put_long_part(handler, i.dest(), i.dest_half(), &[low, high, operand], numbers)
        }
    )* };
}
