//! How instructions read their sources, and the shapes of the common ones.

/// Gives up on an instruction whose source has no row.
macro_rules! take {
    ($source:expr) => {
        match $source {
            Some(source) => source,
            None => return Lowered(None),
        }
    };
}

macro_rules! float {
    ($s:ident, $i:ident, 0) => {
        take!($s.float(0, $i.src0(), $i.src0_swizzle(), $i.src0_abs(), $i.src0_neg()))
    };
    ($s:ident, $i:ident, 1) => {
        take!($s.float(1, $i.src1(), $i.src1_swizzle(), $i.src1_abs(), $i.src1_neg()))
    };
    ($s:ident, $i:ident, 2) => {
        take!($s.float(2, $i.src2(), $i.src2_swizzle(), $i.src2_abs(), $i.src2_neg()))
    };
}

macro_rules! whole {
    ($s:ident, $i:ident, 0) => {
        take!($s.float(0, $i.src0(), Widen::None, $i.src0_abs(), $i.src0_neg()))
    };
    ($s:ident, $i:ident, 1) => {
        take!($s.float(1, $i.src1(), Widen::None, $i.src1_abs(), $i.src1_neg()))
    };
    ($s:ident, $i:ident, 2) => {
        take!($s.float(2, $i.src2(), Widen::None, $i.src2_abs(), $i.src2_neg()))
    };
}

macro_rules! halves {
    ($s:ident, $i:ident, 0) => {
        take!($s.halves(0, $i.src0(), $i.src0_swizzle(), $i.src0_abs(), $i.src0_neg()))
    };
    ($s:ident, $i:ident, 1) => {
        take!($s.halves(1, $i.src1(), $i.src1_swizzle(), $i.src1_abs(), $i.src1_neg()))
    };
    ($s:ident, $i:ident, 2) => {
        take!($s.halves(2, $i.src2(), $i.src2_swizzle(), $i.src2_abs(), $i.src2_neg()))
    };
}

/// Two integer sources that can be widened, and the rules that wrap and saturate: one of its own, or of components.
macro_rules! integers {
    ($($name:ident $form:ident $read:ident $sign:literal $flag:ident $rule:ident;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Lowered {
            let a = take!(self.$read(0, i.src0(), i.src0_widen(), $sign));
            let b = take!(self.$read(1, i.src1(), i.src1_widen(), $sign));
            if i.$flag() {
                return Lowered(None);
            }
            self.put::<integer::$rule>(i.dest(), i.dest_half(), &[a, b], [0; 2])
        }
    )* };
}

/// Plain words.
macro_rules! words {
    ($($name:ident $form:ident ($($src:ident)*) $rule:ty;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Lowered {
            let sources = [$(take!(self.word(i.$src()))),*];
            self.put::<$rule>(i.dest(), i.dest_half(), &sources, [0; 2])
        }
    )* };
}

/// Picks the type that stands for a condition and puts the operands in its order.
macro_rules! ordered {
    (@ $order:ty, $a:ident, $b:ident, |$name:ident, $x:ident, $y:ident| $body:expr) => {{
        type $name = $order;
        let ($x, $y) = ($a, $b);
        $body
    }};
    ($condition:expr, $a:ident, $b:ident, unsigned, $($then:tt)*) => {
        match $condition {
            Condition::Eq => ordered!(@ integer::Equal, $a, $b, $($then)*),
            Condition::Ne | Condition::Gtlt => ordered!(@ integer::Different, $a, $b, $($then)*),
            Condition::Lt => ordered!(@ integer::Below, $a, $b, $($then)*),
            Condition::Gt => ordered!(@ integer::Below, $b, $a, $($then)*),
            Condition::Le | Condition::Total => ordered!(@ integer::BelowOrEqual, $a, $b, $($then)*),
            Condition::Ge => ordered!(@ integer::BelowOrEqual, $b, $a, $($then)*),
        }
    };
    ($condition:expr, $a:ident, $b:ident, signed, $($then:tt)*) => {
        match $condition {
            Condition::Eq => ordered!(@ integer::Equal, $a, $b, $($then)*),
            Condition::Ne | Condition::Gtlt => ordered!(@ integer::Different, $a, $b, $($then)*),
            Condition::Lt => ordered!(@ integer::Less, $a, $b, $($then)*),
            Condition::Gt => ordered!(@ integer::Less, $b, $a, $($then)*),
            Condition::Le | Condition::Total => ordered!(@ integer::LessOrEqual, $a, $b, $($then)*),
            Condition::Ge => ordered!(@ integer::LessOrEqual, $b, $a, $($then)*),
        }
    };
    ($condition:expr, $a:ident, $b:ident, float, $($then:tt)*) => {
        match $condition {
            Condition::Eq => ordered!(@ integer::FloatEqual, $a, $b, $($then)*),
            Condition::Ne => ordered!(@ integer::FloatDifferent, $a, $b, $($then)*),
            Condition::Lt => ordered!(@ integer::FloatLess, $a, $b, $($then)*),
            Condition::Gt => ordered!(@ integer::FloatLess, $b, $a, $($then)*),
            Condition::Le => ordered!(@ integer::FloatLessOrEqual, $a, $b, $($then)*),
            Condition::Ge => ordered!(@ integer::FloatLessOrEqual, $b, $a, $($then)*),
            Condition::Gtlt => ordered!(@ integer::FloatApart, $a, $b, $($then)*),
            Condition::Total => ordered!(@ integer::FloatTotal, $a, $b, $($then)*),
        }
    };
}

/// `CSEL`.
macro_rules! selects {
    ($($name:ident $form:ident $kind:ident;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Lowered {
            let (a, b) = (take!(self.word(i.src0())), take!(self.word(i.src1())));
            let (c, d) = (take!(self.word(i.src2())), take!(self.word(i.src3())));
            ordered!(i.cmp(), a, b, $kind, |Order, x, y| {
                self.put::<integer::Select<Order>>(i.dest(), i.dest_half(), &[x, y, c, d], [0; 2])
            })
        }
    )* };
}

/// A comparison of words that have been read.
macro_rules! compare {
    ($s:ident, $i:ident, $a:ident, $b:ident, $c:ident, $kind:ident) => {{
        let value = match $i.result_type() {
            ResultType::I1 | ResultType::U1 => 1,
            ResultType::F1 => 0x3f80_0000,
            ResultType::M1 => u32::MAX,
        };
        let numbers = [value, if $i.and() { u32::MAX } else { 0 }];
        ordered!($i.cmp(), $a, $b, $kind, |Order, x, y| {
            if $c == Operand::Value(0) && !$i.and() {
                $s.put::<integer::Compare<Order>>($i.dest(), $i.dest_half(), &[x, y], numbers)
            } else {
                $s.put::<integer::CompareJoined<Order>>($i.dest(), $i.dest_half(), &[x, y, $c], numbers)
            }
        })
    }};
}

/// Integer comparisons; three-way ones are covered by their texts.
macro_rules! compares {
    ($($name:ident $form:ident $sign:literal $kind:ident;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Lowered {
            if i.seq() {
                return Lowered(None);
            }
            let a = take!(self.integer(0, i.src0(), i.src0_widen(), $sign));
            let b = take!(self.integer(1, i.src1(), i.src1_widen(), $sign));
            let c = take!(self.word(i.src2()));
            compare!(self, i, a, b, c, $kind)
        }
    )* };
}

/// Shifts with logic, on words and on halves.
macro_rules! shifts {
    ($($name:ident $form:ident $way:ident $logic:ident $read:ident $rule:ident;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Lowered {
            let arithmetic = shifts!(@$way i);
            let value = take!(self.$read(0, i.src0(), i.src0_widen(), arithmetic));
            let halves = stringify!($rule) == "ShiftHalves";
            let count = take!(self.counts(i.src1(), i.src1_lanes(), halves));
            let other = take!(self.word(i.src2()));
            let numbers = [ones(i.src2_not()), ones(i.not_result())];
            let sources = [value, count, other];
            let (dest, half) = (i.dest(), i.dest_half());
            if count == Operand::Value(0) {
                return self.put::<integer::$rule<{ shift::NONE }, { logic::$logic }>>(dest, half, &sources, numbers);
            }
            shifts!(@$way integer, self, i, $rule, $logic, dest, half, &sources, numbers)
        }
    )* };
    (@left $i:ident) => {
        false
    };
    (@right $i:ident) => {
        $i.signed()
    };
    (@left $module:ident, $s:ident, $i:ident, $rule:ident, $logic:ident, $($rest:expr),*) => {
        $s.put::<$module::$rule<{ shift::LEFT }, { logic::$logic }>>($($rest),*)
    };
    (@right $module:ident, $s:ident, $i:ident, $rule:ident, $logic:ident, $($rest:expr),*) => {
        if $i.signed() {
            $s.put::<$module::$rule<{ shift::ARITHMETIC }, { logic::$logic }>>($($rest),*)
        } else {
            $s.put::<$module::$rule<{ shift::RIGHT }, { logic::$logic }>>($($rest),*)
        }
    };
}

/// Rules chosen by the direction of rounding.
macro_rules! rounded {
    ($s:ident, $mode:expr, $put:ident($($arg:expr),*), $even:ident $up:ident $down:ident $zero:ident) => {
        match $mode {
            RoundMode::Rte => $s.$put::<float::$even>($($arg),*),
            RoundMode::Rtp => $s.$put::<float::$up>($($arg),*),
            RoundMode::Rtn => $s.$put::<float::$down>($($arg),*),
            RoundMode::Rtz => $s.$put::<float::$zero>($($arg),*),
        }
    };
}
