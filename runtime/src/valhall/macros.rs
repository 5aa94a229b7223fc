//! The shapes that the methods of families of instructions share: which sources they read and how the result is written.
//! What differs, the rule, is written where they are used.

/// An f32 source with its modifiers.
macro_rules! float {
    ($s:ident, $i:ident, 0) => {
        $s.float($i.src0(), $i.src0_swizzle(), $i.src0_abs(), $i.src0_neg())
    };
    ($s:ident, $i:ident, 1) => {
        $s.float($i.src1(), $i.src1_swizzle(), $i.src1_abs(), $i.src1_neg())
    };
    ($s:ident, $i:ident, 2) => {
        $s.float($i.src2(), $i.src2_swizzle(), $i.src2_abs(), $i.src2_neg())
    };
}

/// An f32 source that cannot be half a register.
macro_rules! whole {
    ($s:ident, $i:ident, 0) => {
        $s.float($i.src0(), Widen::None, $i.src0_abs(), $i.src0_neg())
    };
    ($s:ident, $i:ident, 1) => {
        $s.float($i.src1(), Widen::None, $i.src1_abs(), $i.src1_neg())
    };
    ($s:ident, $i:ident, 2) => {
        $s.float($i.src2(), Widen::None, $i.src2_abs(), $i.src2_neg())
    };
}

/// A source of two f16 with its modifiers.
macro_rules! halves {
    ($s:ident, $i:ident, 0) => {
        $s.halves($i.src0(), $i.src0_swizzle(), $i.src0_abs(), $i.src0_neg())
    };
    ($s:ident, $i:ident, 1) => {
        $s.halves($i.src1(), $i.src1_swizzle(), $i.src1_abs(), $i.src1_neg())
    };
    ($s:ident, $i:ident, 2) => {
        $s.halves($i.src2(), $i.src2_swizzle(), $i.src2_abs(), $i.src2_neg())
    };
}

/// Methods with an f32 result: sources, rule, limit.
macro_rules! floats {
    ($($name:ident $form:ident ($($read:ident $n:tt)*) $clamp:ident $rule:expr;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Done {
            let sources = [$(&$read!(self, i, $n)),*];
            let rule = $rule;
            let values = self.each(sources, |sources| rule(i, sources));
            self.put_float(i.dest(), i.dest_half(), clamp!(i, $clamp), &values)
        }
    )* };
}

/// The `clamp` modifier, for instructions that have one.
macro_rules! clamp {
    ($i:ident, clamp) => {
        $i.clamp()
    };
    ($i:ident, free) => {
        Clamp::None
    };
}

/// Methods with a result of two f16: sources, rule for one half, limit.
macro_rules! half_floats {
    ($($name:ident $form:ident ($($n:tt)*) $clamp:ident $rule:expr;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Done {
            let sources = [$(&halves!(self, i, $n)),*];
            let rule = $rule;
            let values = self.each_half(sources, |sources| rule(i, sources));
            self.put_halves(i.dest(), i.dest_half(), clamp!(i, $clamp), &values)
        }
    )* };
}

/// Methods with two integer sources that can be widened: how to read them, and the rule with its flag.
macro_rules! integers {
    ($($lanes:ident $read:ident: $($name:ident $form:ident $rule:ident $flag:ident),*;)*) => { $( $(
        fn $name(&mut self, i: v::$form) -> Done {
            let a = self.$read(i.src0(), i.src0_widen(), integer::$lanes.signed);
            let b = self.$read(i.src1(), i.src1_widen(), integer::$lanes.signed);
            let flag = i.$flag();
            let values = self.each([&a, &b], |[a, b]| integer::$rule(integer::$lanes, a, b, flag));
            self.put(i.dest(), i.dest_half(), &values)
        }
    )* )* };
}

/// Methods on 64-bit integers: signedness and rule.
macro_rules! longs {
    ($($name:ident $form:ident $signed:literal $rule:expr;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Done {
            let a = self.long(i.src0(), i.src0_widen(), $signed);
            let b = self.long(i.src1(), i.src1_widen(), $signed);
            let values = self.each([&a, &b], $rule);
            self.put_long(i.dest(), i.dest_half(), &values)
        }
    )* };
}

/// Integer comparisons.
macro_rules! compares {
    ($($name:ident $form:ident $lanes:ident $read:ident;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Done {
            let a = self.$read(i.src0(), i.src0_widen(), integer::$lanes.signed);
            let b = self.$read(i.src1(), i.src1_widen(), integer::$lanes.signed);
            let c = self.word(i.src2());
            let (condition, result, third) = (i.cmp(), i.result_type(), compare::Third::new(i.and(), i.seq()));
            let rule = |[a, b, c]: [u32; 3]| compare::compare_integers(integer::$lanes, condition, third, result, a, b, c);
            let values = self.each([&a, &b, &c], rule);
            self.put(i.dest(), i.dest_half(), &values)
        }
    )* };
}

/// Methods with plain 32-bit sources: how many, and the rule.
macro_rules! words {
    ($($name:ident $form:ident ($($src:ident)*) $rule:expr;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Done {
            let sources = [$(&self.word(i.$src())),*];
            let rule = $rule;
            let values = self.each(sources, |sources| rule(i, sources));
            self.put(i.dest(), i.dest_half(), &values)
        }
    )* };
}

/// Methods whose single source is read in their own way: the column and the rule.
macro_rules! singles {
    ($($name:ident $form:ident $put:ident |$s:ident, $i:ident| $source:expr, $rule:expr;)*) => { $(
        fn $name(&mut self, $i: v::$form) -> Done {
            let $s = &*self;
            let source = $source;
            let rule = $rule;
            let values = $s.each([&source], |[a]| rule($i, a));
            put!($put, self, $i, &values)
        }
    )* };
}

/// How a result is written: as bits, or as an f32 that a half register narrows.
macro_rules! put {
    (bits, $s:ident, $i:ident, $values:expr) => {
        $s.put($i.dest(), $i.dest_half(), $values)
    };
    (float, $s:ident, $i:ident, $values:expr) => {
        $s.put_float($i.dest(), $i.dest_half(), Clamp::None, $values)
    };
}

/// Shifts with logic.
macro_rules! shifts {
    ($($name:ident $form:ident $kind:ident $logic:ident $bits:literal $read:ident;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Done {
            let kind = kind!(i, $kind);
            let values = self.$read(i.src0(), i.src0_widen(), kind == Shift::Arithmetic);
            let counts = self.counts(i.src1(), i.src1_lanes());
            let other = if $bits == 64 { self.pair(i.src2()) } else { self.word(i.src2()).map(u64::from) };
            let other = other.map(|value| if i.src2_not() { !value } else { value });
            let values: Column<u64> = std::array::from_fn(|lane| {
                let (value, counts, other) = (values[lane].into(), counts[lane], other[lane]);
                shift::shift_logic(kind, Logic::$logic, $bits, value, counts, other, i.not_result())
            });
            if $bits == 64 {
                return self.put_long(i.dest(), i.dest_half(), &values);
            }
            self.put(i.dest(), i.dest_half(), &values.map(|value| value as u32))
        }
    )* };
}

/// The shift of an instruction: right ones can be arithmetic.
macro_rules! kind {
    ($i:ident, left) => {
        Shift::Left
    };
    ($i:ident, right) => {
        if $i.signed() { Shift::Arithmetic } else { Shift::Right }
    };
}

/// Reads from other lanes: bits of a component, how to read the lane numbers.
macro_rules! permutes {
    ($($name:ident $form:ident $lanes:ident $read:ident;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Done {
            let values = self.word(i.src0());
            let operands = self.$read(i.src1(), i.src1_widen(), integer::$lanes.signed);
            let subgroup = (i.subgroup(), i.lane_op(), i.inactive_result());
            let values = self.permute(integer::$lanes, &values, &operands, subgroup);
            self.put(i.dest(), i.dest_half(), &values)
        }
    )* };
}

/// The same on 64-bit values.
macro_rules! long_permutes {
    ($($name:ident $form:ident $signed:literal;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Done {
            let values = self.pair(i.src0());
            let operands = self.long(i.src1(), i.src1_widen(), $signed).map(|operand| operand as u32);
            let subgroup = (i.subgroup(), i.lane_op(), i.inactive_result());
            let part = |shift: u32| values.map(|value| (value >> shift) as u32);
            let low = self.permute(integer::U32, &part(0), &operands, subgroup);
            let high = self.permute(integer::U32, &part(32), &operands, subgroup);
            let joined = std::array::from_fn(|lane| u64::from(high[lane]) << 32 | u64::from(low[lane]));
            self.put_long(i.dest(), i.dest_half(), &joined)
        }
    )* };
}

/// Loads and stores: size in bytes and, for loads, the part of the register.
macro_rules! memory {
    (
        $(load $name:ident $form:ident $size:literal |$i:ident| $into:expr;)*
        $(store $store:ident $store_form:ident $store_size:literal;)*
        $(buffer $buffer:ident $buffer_form:ident $buffer_size:literal |$b:ident| $buffer_into:expr;)*
    ) => {
        $(fn $buffer(&mut self, $b: v::$buffer_form) -> Done {
            Done(self.load_buffer($b.sr(), ($b.src0(), $b.src1()), $buffer_size, $buffer_into, $b.unsigned()))
        })*
        $(fn $name(&mut self, $i: v::$form) -> Done {
            Done(self.load($i.sr(), ($i.src0(), $i.offset()), $size, $into, $i.unsigned()))
        })*
        $(fn $store(&mut self, i: v::$store_form) -> Done {
            Done(self.store(i.sr(), (i.src0(), i.offset()), $store_size, i.memory_access()))
        })*
    };
}

/// `FMA_RSCALE` in its modes: what a zero factor does, and the bits of the exponent that count.
macro_rules! rscales {
    ($($name:ident $form:ident $zero:ident $bits:literal;)*) => { $(
        fn $name(&mut self, i: v::$form) -> Done {
            let sources = [&whole!(self, i, 0), &whole!(self, i, 1), &whole!(self, i, 2), &self.word(i.src3())];
            let rule = |[a, b, c, d]: [u32; 4]| {
                float32::fma_rscale(a, b, c, number(d, $bits, true) as i32, ZeroProduct::$zero)
            };
            let values = self.each(sources, rule);
            self.put_float(i.dest(), i.dest_half(), i.clamp(), &values)
        }
    )* };
}

/// Atomics: width, what is done, registers written and read.
macro_rules! atomics {
    ($($name:ident $form:ident $wide:literal |$i:ident| $atomic:expr, $results:expr, $operands:expr;)*) => { $(
        fn $name(&mut self, $i: v::$form) -> Done {
            Done(self.atomic($atomic, $wide, $results, $operands, ($i.src0(), $i.offset())))
        }
    )* };
}

/// Resources by table, first with the table in the instruction, then with a handle in the last source.
macro_rules! resources {
    ($($does:ident $fixed:ident $fixed_form:ident $free:ident $free_form:ident;)*) => { $(
        fn $fixed(&mut self, i: v::$fixed_form) -> Done {
            let handles = [immediate(i.table(), i.index()); 16];
            resource!(self, $does, i, handles)
        }

        fn $free(&mut self, i: v::$free_form) -> Done {
            let handles = self.handles(i.src2());
            resource!(self, $does, i, handles)
        }
    )* };
}

/// What is done with a resource: loads convert, addresses do not.
macro_rules! resource {
    ($s:ident, load_attribute, $i:ident, $handles:ident) => {
        resource!(load $s, load_attribute, $i, $handles)
    };
    ($s:ident, load_image, $i:ident, $handles:ident) => {
        resource!(load $s, load_image, $i, $handles)
    };
    (load $s:ident, $does:ident, $i:ident, $handles:ident) => {
        Done($s.$does($i.sr(), &$handles, ($i.src0(), $i.src1()), $i.regfmt().into(), channels($i.vecsize())))
    };
    ($s:ident, $does:ident, $i:ident, $handles:ident) => {
        Done($s.$does($i.sr(), &$handles, ($i.src0(), $i.src1())))
    };
}

/// Varyings in the buffer of the vertices, at a byte in the instruction or in a source: whether the results are halves.
macro_rules! varyings {
    ($($fixed:ident $fixed_form:ident $free:ident $free_form:ident $half:literal;)*) => { $(
        fn $fixed(&mut self, i: v::$fixed_form) -> Done {
            let bytes = [u32::from(i.index()); 16];
            let how = Interpolation::new(i.sample(), i.update(), i.src0());
            Done(self.buffer_varying(i.sr(), &bytes, (i.source_format(), $half), how, channels(i.vecsize())))
        }

        fn $free(&mut self, i: v::$free_form) -> Done {
            let bytes = self.word(i.src1());
            let how = Interpolation::new(i.sample(), i.update(), i.src0());
            Done(self.buffer_varying(i.sr(), &bytes, (i.source_format(), $half), how, channels(i.vecsize())))
        }
    )* };
}

/// What a texture instruction looks up: its texel offset, whether it compares, its levels.
macro_rules! query {
    ($i:ident, $offset:expr, $shadow:expr, $lods:expr) => {
        Query { dimension: $i.dimension(), array: $i.array_enable(), offset: $offset, shadow: $shadow, lods: $lods }
    };
}

/// Texture look-ups with coordinates in registers: whether they compare, their levels.
macro_rules! textures {
    ($($name:ident $form:ident |$i:ident| $shadow:expr, $lods:expr;)*) => { $(
        fn $name(&mut self, $i: v::$form) -> Done {
            let query = query!($i, $i.texel_offset(), $shadow, $lods);
            let wide = $i.wide_indices();
            let names = |pair: u64| if wide { Names::wide(pair) } else { Names::narrow(pair as u32) };
            let names = self.pair($i.src0()).map(names);
            let output = Output::new($i.sr_write(), $i.register_type(), $i.register_width(), $i.write_mask().bits());
            Done(self.texture(query, [Some(&names), None], $i.sr_read(), [output; 2]))
        }
    )* };
}

/// Texture look-ups at varyings: whether these are in a table, their levels. `dual` ones look two textures up.
macro_rules! varying_textures {
    (
        $(single $name:ident $form:ident $table:literal |$i:ident| $lods:expr;)*
        $(dual $dual:ident $dual_form:ident $dual_table:literal |$d:ident| $dual_lods:expr;)*
    ) => {
        $(fn $name(&mut self, $i: v::$form) -> Done {
            let query = query!($i, false, $i.shadow(), $lods);
            let from = VaryingQuery { source: $i.src1(), table: $table, how: $i.sample_and_update().into() };
            let names = self.pair($i.src0()).map(|pair| Names::narrow(pair as u32));
            let [width, _] = widths($i.vartex_register_width());
            let output = Output::new($i.sr(), $i.register_type(), width, 0xf);
            Done(self.varying_texture(query, [Some(&names), None], from, [output; 2]))
        })*
        $(fn $dual(&mut self, $d: v::$dual_form) -> Done {
            let query = query!($d, false, $d.shadow(), $dual_lods);
            let from = VaryingQuery { source: $d.src1(), table: $dual_table, how: $d.sample_and_update().into() };
            let names = self.pair($d.src0());
            let names = [0, 32].map(|shift| names.map(|pair| Names::narrow((pair >> shift) as u32)));
            let [width, second] = widths($d.vartex_register_width());
            let first = Output::new($d.sr(), $d.register_type(), width, 0xf);
            Done(self.varying_texture(query, [Some(&names[0]), Some(&names[1])], from, [first, first.second(second)]))
        })*
    };
}
