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
