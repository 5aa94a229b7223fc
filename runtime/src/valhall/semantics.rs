//! What each instruction does: its sources, its rule, its destination.

use isaforge_valhall::{self as v, RegisterList, Semantics};

use super::host::VaryingSource;
use super::messages::{
    Atomic, Interpolation, Into, Lods, Names, Output, Query, VaryingQuery, channels, immediate, widths,
};
use super::rules::compare;
use super::step::{Control, Done, Fault, Step};
use super::warp::lanes;

impl Semantics for Step<'_> {
    type Output = Done;

    fn nop(&mut self, _: v::Nop) -> Done {
        Done::NEXT
    }

    // Jumps and barriers.

    fn branchz(&mut self, i: v::Branchz) -> Done {
        let taken = self.taken(i.src0(), i.src0_combine(), i.eq());
        let target = i64::from(self.warp.pc) + 1 + i64::from(i.offset());
        Done(self.jump(taken, |_| Ok(target)))
    }

    fn branchzi(&mut self, i: v::Branchzi) -> Done {
        let taken = self.taken(i.src0(), i.src0_combine(), i.eq());
        let (targets, next) = (self.word(i.src1()), i64::from(self.warp.pc) + 1);
        Done(self.jump(taken, |lane| match targets[lane] {
            distance if !i.absolute() => Ok(next + i64::from(distance as i32)),
            address if address % 8 == 0 => Ok(i64::from(address / 8)),
            address => Err(Fault::Misaligned { lane, address: address.into() }),
        }))
    }

    fn barrier(&mut self, _: v::Barrier) -> Done {
        Done(Ok(Control::Barrier))
    }

    // Pixels.

    fn discard_f32(&mut self, i: v::DiscardF32) -> Done {
        let (a, b, condition) = (float!(self, i, 0), float!(self, i, 1), i.cmp());
        let discarded = |lane: &usize| compare::holds_f32(condition, a[*lane], b[*lane]);
        let discarded = lanes(self.warp.active).filter(discarded).fold(0, |mask, lane| mask | 1 << lane);
        Done(self.discard(discarded))
    }

    fn atest(&mut self, i: v::Atest) -> Done {
        self.test_alpha(i.sr(), i.src0());
        Done::NEXT
    }

    fn zs_emit(&mut self, i: v::ZsEmit) -> Done {
        let (depth, stencil) = (i.z().then(|| i.src0()), i.stencil().then(|| i.src1()));
        Done(Ok(self.emit_depth(i.sr(), depth, stencil, i.src2())))
    }

    fn blend(&mut self, i: v::Blend) -> Done {
        let colour = (i.regfmt().into(), channels(i.vecsize()));
        Done(self.blend_colour(i.sr(), (i.src0(), i.src1()), colour, i.target(), i.flow()))
    }

    fn ld_tile(&mut self, i: v::LdTile) -> Done {
        Done(self.load_tile(i.sr(), i.src0(), i.regfmt().into(), channels(i.vecsize())))
    }

    fn st_tile(&mut self, i: v::StTile) -> Done {
        Done(self.store_tile(i.sr(), (i.src0(), i.src1()), i.regfmt().into(), channels(i.vecsize())))
    }

    // Memory.

    memory! {
        load load_i8 LoadI8 1 |i| i.load_lane_8_bit().into();
        load load_i16 LoadI16 2 |i| i.load_lane_16_bit().into();
        load load_i24 LoadI24 3 |i| Into::Words(1);
        load load_i32 LoadI32 4 |i| i.load_lane_32_bit().into();
        load load_i48 LoadI48 6 |i| Into::Words(2);
        load load_i64 LoadI64 8 |i| Into::Words(2);
        load load_i96 LoadI96 12 |i| Into::Words(3);
        load load_i128 LoadI128 16 |i| Into::Words(4);
        store store_i8 StoreI8 1;
        store store_i16 StoreI16 2;
        store store_i24 StoreI24 3;
        store store_i32 StoreI32 4;
        store store_i48 StoreI48 6;
        store store_i64 StoreI64 8;
        store store_i96 StoreI96 12;
        store store_i128 StoreI128 16;
        buffer ld_buffer_i8 LdBufferI8 1 |i| i.load_lane_8_bit().into();
        buffer ld_buffer_i16 LdBufferI16 2 |i| i.load_lane_16_bit().into();
        buffer ld_buffer_i24 LdBufferI24 3 |i| Into::Words(1);
        buffer ld_buffer_i32 LdBufferI32 4 |i| i.load_lane_32_bit().into();
        buffer ld_buffer_i48 LdBufferI48 6 |i| Into::Words(2);
        buffer ld_buffer_i64 LdBufferI64 8 |i| Into::Words(2);
        buffer ld_buffer_i96 LdBufferI96 12 |i| Into::Words(3);
        buffer ld_buffer_i128 LdBufferI128 16 |i| Into::Words(4);
    }

    fn lea_buf_imm(&mut self, i: v::LeaBufImm) -> Done {
        Done(self.buffer_address(i.sr(), immediate(i.table(), i.index()), i.src0()))
    }

    resources! {
        load_attribute ld_attr_imm LdAttrImm ld_attr LdAttr;
        load_image ld_tex_imm LdTexImm ld_tex LdTex;
        attribute_address lea_attr_imm LeaAttrImm lea_attr LeaAttr;
        image_address lea_tex_imm LeaTexImm lea_tex LeaTex;
    }

    fn st_cvt(&mut self, i: v::StCvt) -> Done {
        let texel = (i.regfmt().into(), channels(i.vecsize()));
        Done(self.store_converted(i.sr(), (i.src0(), i.offset()), i.src1(), texel, i.memory_access()))
    }

    // Varyings.

    varyings! {
        ld_var_buf_imm_f32 LdVarBufImmF32 ld_var_buf_f32 LdVarBufF32 false;
        ld_var_buf_imm_f16 LdVarBufImmF16 ld_var_buf_f16 LdVarBufF16 true;
    }

    fn ld_var(&mut self, i: v::LdVar) -> Done {
        let sources = self.handles(i.src1()).map(VaryingSource::Table);
        let how = Interpolation::new(i.sample(), i.update(), i.src0());
        Done(self.varying(i.sr(), &sources, how, i.regfmt().into(), channels(i.vecsize())))
    }

    fn ld_var_imm(&mut self, i: v::LdVarImm) -> Done {
        let sources = [VaryingSource::Table(immediate(i.table(), i.index())); 16];
        let how = Interpolation::new(i.sample(), i.update(), i.src0());
        Done(self.varying(i.sr(), &sources, how, i.regfmt().into(), channels(i.vecsize())))
    }

    fn ld_var_flat(&mut self, i: v::LdVarFlat) -> Done {
        let sources = self.handles(i.src0()).map(VaryingSource::Table);
        Done(self.flat_varying(i.sr(), &sources, i.regfmt().into(), channels(i.vecsize())))
    }

    fn ld_var_flat_imm(&mut self, i: v::LdVarFlatImm) -> Done {
        let sources = [VaryingSource::Table(immediate(i.table(), i.index())); 16];
        Done(self.flat_varying(i.sr(), &sources, i.regfmt().into(), channels(i.vecsize())))
    }

    fn ld_var_special(&mut self, i: v::LdVarSpecial) -> Done {
        let how = Interpolation::new(i.sample(), i.update(), i.src0());
        Done(self.special_varying(i.sr(), i.index(), how, i.regfmt().into(), channels(i.vecsize())))
    }

    // Textures.

    textures! {
        tex_single TexSingle |i| i.shadow(), Lods::Filter(i.lod_mode());
        tex_fetch TexFetch |i| false, Lods::Fetch;
        tex_gather TexGather |i| i.shadow(),
            Lods::Gather { channel: i.fetch_component().bits() as usize, integer: i.integer_coordinates() };
    }

    fn tex_dual(&mut self, i: v::TexDual) -> Done {
        if i.wide_indices() {
            return Done(Err(Fault::Unsupported("a dual look-up with wide indices")));
        }
        let query = query!(i, i.texel_offset(), i.shadow(), Lods::Filter(i.lod_mode()));
        let names = self.pair(i.src0());
        let first = Output::new(i.sr_write(), i.register_type(), i.register_width(), i.write_mask().bits());
        let outputs = [first, first.second(i.secondary_register_width())];
        let names = [0, 32].map(|shift| names.map(|pair| Names::narrow((pair >> shift) as u32)));
        Done(self.texture(query, [Some(&names[0]), Some(&names[1])], i.sr_read(), outputs))
    }

    varying_textures! {
        single var_tex_single VarTexSingle true |i| Lods::Filter(i.lod_mode());
        single var_tex_buf_single VarTexBufSingle false |i| Lods::Filter(i.lod_mode());
        single var_tex_gather VarTexGather true
            |i| Lods::Gather { channel: i.fetch_component().bits() as usize, integer: i.integer_coordinates() };
        single var_tex_buf_gather VarTexBufGather false
            |i| Lods::Gather { channel: i.fetch_component().bits() as usize, integer: i.integer_coordinates() };
        single var_tex_gradient VarTexGradient true
            |i| Lods::Gradient { bias: !i.lod_bias_disable(), range: !i.lod_clamp_disable() };
        single var_tex_buf_gradient VarTexBufGradient false
            |i| Lods::Gradient { bias: !i.lod_bias_disable(), range: !i.lod_clamp_disable() };
        dual var_tex_dual VarTexDual true |i| Lods::Filter(i.lod_mode());
        dual var_tex_buf_dual VarTexBufDual false |i| Lods::Filter(i.lod_mode());
    }

    atomics! {
        atom_i32 AtomI32 false |i| Atomic::With(i.atom_opc()), RegisterList::new(0, 0), i.sr();
        atom_i64 AtomI64 true |i| Atomic::With(i.atom_opc()), RegisterList::new(0, 0), i.sr();
        atom1_return_i32 Atom1ReturnI32 false |i| Atomic::WithOne(i.atom_opc_1()), i.sr(), RegisterList::new(0, 0);
        atom1_return_i64 Atom1ReturnI64 true |i| Atomic::WithOne(i.atom_opc_1()), i.sr(), RegisterList::new(0, 0);
        atom_return_i32 AtomReturnI32 false |i| Atomic::new(i.atom_opc(), i.compare()), i.sr_write(), i.sr_read();
        atom_return_i64 AtomReturnI64 true |i| Atomic::new(i.atom_opc(), i.compare()), i.sr_write(), i.sr_read();
    }
}
