//! Texture look-ups: beyond edges, between texels, at levels, across faces, and into registers.

use isaforge_runtime::valhall::host::{Compare, Filter, Format, Handle, Sampler, Shape, Texture, Varying, Wrap, table};

use super::host::{channel, draw, plane, resources, with_texture};
use super::to_bytes;

/// Scales r0 and r1 by 1/4, so that four pixels span a texture, and performs a look-up.
const QUARTER: &str = "
    FMA.f32 r2, r0, 0x3E800000, 0x0.neg
    FMA.f32 r3, r1, 0x3E800000, 0x0.neg
    TEX_SINGLE.slot1.f.32.2d.zero @r4:r5:r6:r7, @r2:r3, r20
";

/// `QUARTER` with a constant that is not in the table.
fn quarter() -> String {
    QUARTER.replace("0x3E800000", "r21").replacen("\n", "\n    IADD_IMM.i32 r21, 0x0, #0x3E800000\n", 1)
}

#[test]
fn the_nearest_texel_repeats_mirrors_clamps_or_ends_beyond_the_edge() {
    for (wrap, expected) in [
        (Wrap::Clamp, [1.0, 2.0, 3.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0]),
        (Wrap::Repeat, [1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0, 1.0, 2.0]),
        (Wrap::Mirror, [1.0, 2.0, 3.0, 4.0, 4.0, 3.0, 2.0, 1.0, 1.0, 2.0]),
        (Wrap::MirrorOnce, [1.0, 2.0, 3.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0]),
        (Wrap::Border, [1.0, 2.0, 3.0, 4.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0]),
    ] {
        let mut resources = resources(10, 1);
        let sampler = Sampler { wrap: [wrap; 3], border: [9.0f32.to_bits(); 4], ..Sampler::default() };
        with_texture(&mut resources, Shape::Two, [4, 1, 1], 1, &[&[1.0, 2.0, 3.0, 4.0]], sampler);
        assert_eq!(channel(&draw(&quarter(), &mut resources).unwrap(), 0), expected, "{wrap:?}");
    }
}

#[test]
fn a_linear_filter_mixes_in_proportion() {
    let linear = Sampler { min: Filter::Linear, mag: Filter::Linear, ..Sampler::default() };
    // A texel is two pixels wide, so pixels are a quarter of a texel away from the texel's centre.
    let body = quarter().replace("#0x3E800000", "#0x3E000000");
    let mut resources = resources(8, 8);
    with_texture(&mut resources, Shape::Two, [4, 4, 1], 1, &[&std::array::from_fn::<f32, 16, _>(|i| i as f32)], linear);
    let found = channel(&draw(&body, &mut resources).unwrap(), 0);
    let along = [0.0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3.0];
    assert_eq!(found[..8], along);
    assert_eq!(found[16..24], along.map(|x| x + 0.75 * 4.0));
}

#[test]
fn a_block_is_mixed_in_all_directions_and_a_layer_is_rounded() {
    let linear = Sampler { min: Filter::Linear, mag: Filter::Linear, ..Sampler::default() };
    let mut block = resources(1, 1);
    with_texture(&mut block, Shape::Three, [2, 2, 2], 1, &[&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]], linear);
    // (0.5, 0.5, 0.375): the centre, a quarter of the way towards the second slice.
    let body = "IADD_IMM.i32 r2, 0x0, #0x3EC00000
        TEX_SINGLE.slot1.f.32.3d.zero @r4:r5:r6:r7, @r0:r1:r2, r20";
    assert_eq!(draw(body, &mut block).unwrap(), [[2.5, 0.0, 0.0, 1.0]]);
    for (layer, expected) in [("0x3FB00000", 1.0), ("0x3FD00000", 2.0), ("0x42000000", 2.0), ("0xC0000000", 0.0)] {
        let mut array = resources(1, 1);
        with_texture(&mut array, Shape::Two, [1, 1, 1], 3, &[&[0.0, 1.0, 2.0]], Sampler::default());
        let body = format!(
            "IADD_IMM.i32 r2, 0x0, #{layer}
             TEX_SINGLE.slot1.f.32.2d.array_enable.zero @r4:r5:r6:r7, @r0:r1:r2, r20"
        );
        assert_eq!(draw(&body, &mut array).unwrap()[0][0], expected, "{layer}");
    }
}

#[test]
fn four_texels_are_gathered_row_by_row() {
    let mut square = resources(1, 1);
    with_texture(&mut square, Shape::Two, [2, 2, 1], 1, &[&[1.0, 2.0, 3.0, 4.0]], Sampler::default());
    let body = "TEX_GATHER.slot1.f.32.2d.gather4_r @r4:r5:r6:r7, @r0:r1, r20";
    assert_eq!(draw(body, &mut square).unwrap(), [[1.0, 2.0, 3.0, 4.0]]);
    // One texel to the right, clamped.
    let body = "IADD_IMM.i32 r2, 0x0, #0x1
        TEX_GATHER.slot1.f.32.2d.texel_offset.gather4_r @r4:r5:r6:r7, @r0:r1:r2, r20";
    assert_eq!(draw(body, &mut square).unwrap(), [[2.0, 2.0, 4.0, 4.0]]);
    // Integer coordinates name the first of the four texels.
    let body = "IADD_IMM.i32 r2, 0x0, #0x1
        MOV.i32 r3, 0x0
        TEX_GATHER.slot1.f.32.2d.integer_coordinates.gather4_r @r4:r5:r6:r7, @r2:r3, r20";
    assert_eq!(draw(body, &mut square).unwrap(), [[2.0, 2.0, 4.0, 4.0]]);
    square
        .samplers
        .insert(Handle::new(table::SAMPLERS, 0), Sampler { compare: Some(Compare::Less), ..Sampler::default() });
    let body = "IADD_IMM.i32 r2, 0x0, #0x40200000
        TEX_GATHER.slot1.f.32.2d.gather4_g.shadow @r4:r5:r6:r7, @r0:r1:r2, r20";
    assert_eq!(draw(body, &mut square).unwrap(), [[0.0, 0.0, 1.0, 1.0]]);
}

#[test]
fn shadows_are_compared_before_they_are_mixed() {
    let depths = [0.25, 0.5, 0.5, 0.75];
    for (compare, nearest, mixed) in [
        (Compare::Less, 0.0, 0.25),
        (Compare::LessEqual, 0.0, 0.75),
        (Compare::Equal, 0.0, 0.5),
        (Compare::Greater, 1.0, 0.25),
        (Compare::GreaterEqual, 1.0, 0.75),
        (Compare::NotEqual, 1.0, 0.5),
        (Compare::Always, 1.0, 1.0),
        (Compare::Never, 0.0, 0.0),
    ] {
        for (filter, at, expected) in [(Filter::Nearest, "#0xBE800000", nearest), (Filter::Linear, "#0x0", mixed)] {
            let mut resources = resources(1, 1);
            let sampler = Sampler { min: filter, mag: filter, compare: Some(compare), ..Sampler::default() };
            with_texture(&mut resources, Shape::Two, [2, 2, 1], 1, &[&depths], sampler);
            let body = format!(
                "FADD_IMM.f32 r2, r0, {at}
                 FADD_IMM.f32 r3, r1, {at}
                 MOV.i32 r8, r2
                 MOV.i32 r9, r3
                 IADD_IMM.i32 r10, 0x0, #0x3F000000
                 TEX_SINGLE.slot1.f.32.2d.shadow.zero @r4:r5:r6:r7, @r8:r9:r10, r20"
            );
            assert_eq!(draw(&body, &mut resources).unwrap()[0], [expected, 0.0, 0.0, 1.0], "{compare:?} {filter:?}");
        }
    }
}

#[test]
fn a_reference_beyond_what_a_depth_can_be_is_cut_off() {
    for (format, texel, expected) in [("D16", vec![0xff, 0xff], 1.0), ("D32F", to_bytes(&[0x3f80_0000]), 0.0)] {
        let mut resources = resources(1, 1);
        let texture = Texture::new(Shape::Two, [1, 1, 1], 1, Format::parse(format).unwrap(), vec![texel]).unwrap();
        resources.textures.insert(Handle::new(table::TEXTURES, 0), texture);
        let sampler = Sampler { compare: Some(Compare::LessEqual), ..Sampler::default() };
        resources.samplers.insert(Handle::new(table::SAMPLERS, 0), sampler);
        let body = "IADD_IMM.i32 r2, 0x0, #0x40000000
            TEX_SINGLE.slot1.f.32.2d.shadow.zero @r4:r5:r6:r7, @r0:r1:r2, r20";
        assert_eq!(draw(body, &mut resources).unwrap()[0][0], expected, "{format}");
    }
}

#[test]
fn the_level_of_detail_is_given_computed_or_biased() {
    let levels: [&[f32]; 4] = [&[0.0; 64], &[1.0; 16], &[2.0; 4], &[3.0]];
    let look = |body: &str, mip: Option<Filter>, scale: &str| {
        let mut resources = resources(4, 4);
        with_texture(&mut resources, Shape::Two, [8, 8, 1], 1, &levels, Sampler { mip, ..Sampler::default() });
        let body = format!(
            "IADD_IMM.i32 r21, 0x0, #{scale}\nFMA.f32 r2, r0, r21, 0x0.neg\nFMA.f32 r3, r1, r21, 0x0.neg\n{body}"
        );
        let found = channel(&draw(&body, &mut resources).unwrap(), 0);
        assert!(found.iter().all(|value| *value == found[0]), "{found:?}");
        found[0]
    };
    let explicit = |lod: &str| {
        format!(
            "MOV.i32 r8, r2\nMOV.i32 r9, r3\nIADD_IMM.i32 r10, 0x0, #{lod}\n\
             TEX_SINGLE.slot1.f.32.2d.explicit @r4:r5:r6:r7, @r8:r9:r10, r20"
        )
    };
    let (nearest, linear) = (Some(Filter::Nearest), Some(Filter::Linear));
    // With 8 fraction bits: 1.25, -1, 1.5, 2.75, 100.
    let given = ["0x140", "0xFF00", "0x180", "0x2C0", "0x6400"];
    assert_eq!(given.map(|lod| look(&explicit(lod), nearest, "0x3E000000")), [1.0, 0.0, 1.0, 3.0, 3.0]);
    assert_eq!(given.map(|lod| look(&explicit(lod), linear, "0x3E000000")), [1.25, 0.0, 1.5, 2.75, 3.0]);
    assert_eq!(given.map(|lod| look(&explicit(lod), None, "0x3E000000")), [0.0; 5]);
    // Pixels that are one, two, four and half a texel wide.
    let computed = "TEX_SINGLE.slot1.f.32.2d.computed @r4:r5:r6:r7, @r2:r3, r20";
    let scales = ["0x3E000000", "0x3E800000", "0x3F000000", "0x3D800000"];
    assert_eq!(scales.map(|scale| look(computed, linear, scale)), [0.0, 1.0, 2.0, 0.0]);
    let biased = |bias: &str| explicit(bias).replace("explicit", "computed_bias");
    assert_eq!(["0x80", "0xFF80"].map(|bias| look(&biased(bias), linear, "0x3E800000")), [1.5, 0.5]);
    assert_eq!(look("TEX_SINGLE.slot1.f.32.2d.zero @r4:r5:r6:r7, @r2:r3, r20", linear, "0x3F000000"), 0.0);
}

#[test]
fn a_fetch_takes_a_texel_of_a_level_and_zeros_outside() {
    let mut resources = resources(1, 1);
    with_texture(&mut resources, Shape::Two, [2, 2, 1], 1, &[&[1.0, 2.0, 3.0, 4.0], &[5.0]], Sampler::default());
    let fetch = |x: i32, y: i32, offset: u32| {
        format!(
            "IADD_IMM.i32 r8, 0x0, #{:#x}\nIADD_IMM.i32 r9, 0x0, #{:#x}\nIADD_IMM.i32 r10, 0x0, #{offset:#x}
             TEX_FETCH.slot1.f.32.2d.texel_offset @r4:r5:r6:r7, @r8:r9:r10, r20",
            x as u32, y as u32
        )
    };
    let mut look = |x, y, offset| draw(&fetch(x, y, offset), &mut resources).unwrap()[0];
    assert_eq!(look(1, 0, 0), [2.0, 0.0, 0.0, 1.0]);
    assert_eq!(look(0, 0, 0x0101), [4.0, 0.0, 0.0, 1.0]);
    assert_eq!(look(0, 0, 0x0100_0000), [5.0, 0.0, 0.0, 1.0]);
    for (x, y, offset) in [(2, 0, 0), (-1, 0, 0), (0, 0, 0xff00), (0, 0, 0x0900_0000), (i32::MIN, i32::MAX, 0x7f80)] {
        assert_eq!(look(x, y, offset), [0.0; 4]);
    }
}

#[test]
fn a_cube_goes_on_across_its_edges() {
    // Each face has a single value; a linear filter mixes two faces at an edge and three at a corner.
    let linear = Sampler { min: Filter::Linear, mag: Filter::Linear, ..Sampler::default() };
    let mut resources = resources(1, 1);
    let texels: Vec<f32> = (0..6).flat_map(|face| [face as f32 * 12.0; 4]).collect();
    with_texture(&mut resources, Shape::Cube, [2, 2, 1], 6, &[&texels], linear);
    let mut look = |face: u32, s: f32, t: f32| {
        let first = face << 29 | s.to_bits() & 0x1fff_ffff;
        let body = format!(
            "IADD_IMM.i32 r8, 0x0, #{first:#x}\nIADD_IMM.i32 r9, 0x0, #{:#x}
             TEX_SINGLE.slot1.f.32.cube.zero @r4:r5:r6:r7, @r8:r9, r20",
            t.to_bits()
        );
        draw(&body, &mut resources).unwrap()[0][0]
    };
    for face in 0..6 {
        assert_eq!(look(face, 0.5, 0.5), face as f32 * 12.0);
    }
    // The right edge of +X is adjacent to -Z, the left one to +Z, the upper one to +Y, the lower one to -Y.
    let edges = [look(0, 1.0, 0.5), look(0, 0.0, 0.5), look(0, 0.5, 0.0), look(0, 0.5, 1.0)];
    assert_eq!(edges, [30.0, 24.0, 12.0, 18.0]);
    // A corner of +X, +Y and +Z: each has a quarter, and the missing texel is their mean.
    assert_eq!(look(0, 0.0, 0.0), (0.0 + 24.0 + 48.0) / 3.0);
}

#[test]
fn results_come_packed_by_mask_and_width() {
    let mut resources = resources(1, 1);
    let levels = vec![to_bytes(&[0x40ff_8000])];
    let texture = Texture::new(Shape::Two, [1, 1, 1], 1, Format::RGBA8, levels).unwrap();
    resources.textures.insert(Handle::new(4, 0), texture);
    resources.samplers.insert(Handle::new(3, 0), Sampler::default());
    let byte = |value: u32| value as f32 / 255.0;
    let found = draw("TEX_SINGLE.slot1.f.32.ba.2d.zero @r4:r5, @r0:r1, r20", &mut resources).unwrap()[0];
    assert_eq!(found, [1.0, byte(64), 0.0, 0.0]);
    let body = "TEX_SINGLE.slot1.f.16.2d.zero @r8:r9, @r0:r1, r20
        F16_TO_F32 r4, r8.h0\nF16_TO_F32 r5, r8.h1\nF16_TO_F32 r6, r9.h0\nF16_TO_F32 r7, r9.h1";
    let found = draw(body, &mut resources).unwrap()[0];
    assert!([0.0, byte(128), 1.0, byte(64)].iter().zip(found).all(|(a, b)| (a - b).abs() < 1e-3), "{found:?}");
}

#[test]
fn a_fused_look_up_takes_its_place_from_a_varying() {
    let mut resources = resources(2, 1);
    with_texture(&mut resources, Shape::Two, [2, 1, 1], 1, &[&[1.0, 2.0]], Sampler::default());
    let second = Texture::new(Shape::Two, [2, 1, 1], 1, Format::R32F, vec![to_bytes(&[4.0f32, 8.0].map(f32::to_bits))]);
    resources.textures.insert(Handle::new(4, 1), second.unwrap());
    let components = vec![plane(0.0, 0.5, 0.0), plane(0.0, 0.0, 1.0)];
    resources.varyings.0.push(Varying { offset: 32, components });
    let body = "MOV.i32 r21, 0x0\nIADD_IMM.i32 r22, 0x0, #0x20
        VAR_TEX_BUF_SINGLE.slot1.center_store.f.32.2d.zero @r4:r5:r6:r7, r20, r22";
    assert_eq!(channel(&draw(body, &mut resources).unwrap(), 0), [1.0, 2.0]);
    // The same slot as entry 2 of a table; a second texture in the high word.
    let body = "IADD_IMM.i32 r21, 0x0, #0x20011800\nIADD_IMM.i32 r22, 0x0, #0x2
        VAR_TEX_SINGLE.slot1.center_store.f.32.2d.zero @r4:r5:r6:r7, r20, r22
        VAR_TEX_DUAL.slot1.center_store.f.32.2d.zero @r8:r9:r10:r11:r12:r13:r14:r15, r20, r22
        MOV.i32 r5, r8\nMOV.i32 r6, r12";
    assert_eq!(draw(body, &mut resources).unwrap(), [[1.0, 1.0, 4.0, 1.0], [2.0, 2.0, 8.0, 1.0]]);
    let body = "IADD_IMM.i32 r21, 0x0, #0x20011800
        FMA.f32 r2, r0, 0x38000000.h1, 0x0.neg\nMOV.i32 r3, r1
        TEX_DUAL.slot1.f.32.32.2d.zero @r4:r5:r6:r7:r8:r9:r10:r11, @r2:r3, r20\nMOV.i32 r5, r8";
    assert_eq!(channel(&draw(body, &mut resources).unwrap(), 1), [4.0, 8.0]);
    // A gradient holds the level of detail, which the look-up uses.
    let mut levels = super::host::resources(2, 2);
    with_texture(
        &mut levels,
        Shape::Two,
        [4, 4, 1],
        1,
        &[&[0.0; 16], &[1.0; 4], &[2.0]],
        Sampler { mip: Some(Filter::Linear), ..Sampler::default() },
    );
    levels.varyings.0.push(Varying { offset: 32, components: vec![plane(0.0, 0.5, 0.0), plane(0.0, 0.0, 0.5)] });
    let body = "MOV.i32 r21, 0x0\nIADD_IMM.i32 r22, 0x0, #0x20
        VAR_TEX_BUF_GRADIENT.slot1.center_store.f.32.2d @r10:r11, r20, r22
        MOV.i32 r8, r0\nMOV.i32 r9, r1
        TEX_SINGLE.slot1.f.32.2d.grdesc @r4:r5:r6:r7, @r8:r9:r10:r11, r20";
    assert_eq!(channel(&draw(body, &mut levels).unwrap(), 0), [1.0; 4]);
}

#[test]
fn whole_numbers_are_never_mixed() {
    let linear = Sampler { min: Filter::Linear, mag: Filter::Linear, mip: Some(Filter::Linear), ..Sampler::default() };
    let mut resources = resources(1, 1);
    let levels = vec![to_bytes(&[4, 8, 12, 16]), to_bytes(&[100])];
    let texture = Texture::new(Shape::Two, [2, 2, 1], 1, Format::parse("R32UI").unwrap(), levels).unwrap();
    resources.textures.insert(Handle::new(table::TEXTURES, 0), texture);
    resources.samplers.insert(Handle::new(table::SAMPLERS, 0), linear);
    // At the centre, half a level up.
    let body = "MOV.i32 r8, r0\nMOV.i32 r9, r1\nIADD_IMM.i32 r10, 0x0, #0x80
        TEX_SINGLE.slot1.u.32.2d.explicit @r4:r5:r6:r7, @r8:r9:r10, r20
        U32_TO_F32 r4, r4\nMOV.i32 r5, 0x0\nMOV.i32 r6, 0x0\nMOV.i32 r7, 0x0";
    assert_eq!(draw(body, &mut resources).unwrap()[0][0], 16.0);
}

#[test]
fn a_fetch_from_a_layer_that_is_not_there_gives_zeros() {
    let mut resources = resources(1, 1);
    with_texture(&mut resources, Shape::Two, [1, 1, 1], 2, &[&[1.0, 2.0]], Sampler::default());
    for (layer, expected) in [("0x1", [2.0, 0.0, 0.0, 1.0]), ("0x2", [0.0; 4]), ("0xFFFFFFFF", [0.0; 4])] {
        let body = format!(
            "MOV.i32 r8, 0x0\nMOV.i32 r9, 0x0\nIADD_IMM.i32 r10, 0x0, #{layer}
             TEX_FETCH.slot1.f.32.2d.array_enable @r4:r5:r6:r7, @r8:r9:r10, r20"
        );
        assert_eq!(draw(&body, &mut resources).unwrap(), [expected], "{layer}");
    }
}

#[test]
fn a_lane_whose_neighbours_went_elsewhere_sees_no_change() {
    let mut resources = resources(2, 2);
    let linear = Sampler { mip: Some(Filter::Linear), ..Sampler::default() };
    with_texture(&mut resources, Shape::Two, [4, 4, 1], 1, &[&[0.0; 16], &[1.0; 4], &[2.0]], linear);
    // Two texels per pixel select level 1; lane 3 performs its look-up alone.
    let body = "IADD_IMM.i32 r21, 0x0, #0x3F000000\nFMA.f32 r2, r0, r21, 0x0.neg\nFMA.f32 r3, r1, r21, 0x0.neg
        MOV.i32 r5, 0x0\nMOV.i32 r6, 0x0\nMOV.i32 r7, 0x0
        IADD_IMM.i32 r22, lane_id.w0, #0xFFFFFFFD
        BRANCHZ.eq r22, offset:2
        TEX_SINGLE.slot1.f.32.2d.computed @r4:r5:r6:r7, @r2:r3, r20
        BRANCHZ.eq 0x0, offset:1
        TEX_SINGLE.slot1.f.32.2d.computed @r4:r5:r6:r7, @r2:r3, r20";
    // Lane 2 only has a neighbour along y, and lane 1 only one along x; for both it is lane 0.
    assert_eq!(channel(&draw(body, &mut resources).unwrap(), 0), [1.0, 1.0, 1.0, 0.0]);
}
