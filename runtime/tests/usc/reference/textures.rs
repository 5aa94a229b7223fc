//! Iterated coordinates, textures, and quads.

use super::*;

/// A quad of pixels at (10, 20), and a texture.
fn picture() -> (Machine<Software>, Task) {
    let texels = (0..16).map(|n| [n as f32, n as f32 / 16.0, 0.5, 1.0]).collect();
    let textures = vec![Texture::new(4, 4, texels)];
    let mut machine = Machine::new(Software { textures, ..Software::default() });
    let mut task = Task::new(4).expect("4");
    for i in 0..4 {
        task.place(i, 10 + i as u32 % 2, 20 + i as u32 / 2).expect("an instance");
    }
    for n in 0..16 {
        machine.set(register(&format!("sh{n}")), 0).expect("shared");
    }
    // cf0: 1/w. cf4 and cf8: u / w and v / w.
    for (n, value) in [(2, 0.5f32), (4, 0.1), (6, 0.0), (9, 0.2), (10, 1.0)] {
        task.fill(register(&format!("cf{n}")), value.to_bits()).expect("a coefficient");
    }
    (machine, task)
}

#[test]
fn coordinates_are_iterated_and_textures_sampled() {
    let (mut machine, task) = picture();
    let mut tasks = [task];
    let iterate = program("0 : fitr.pixel r0, drc0, cf4, cf0, 2;\n1 : wdf drc0");
    machine.run(&iterate, &mut tasks, 10).expect("it ends");
    let value = |tasks: &[Task], name: &str, i: usize| f(tasks[0].get(register(name), i).expect("a register"));
    for i in 0..4 {
        let (x, y) = ((10 + i % 2) as f32 + 0.5, (20 + i / 2) as f32 + 0.5);
        assert!((value(&tasks, "r0", i) - 0.1 * x).abs() < 1e-6);
        assert!((value(&tasks, "r1", i) - (0.2 * y + 1.0)).abs() < 1e-6);
    }
    // With perspective, values are multiplied by w, which is 1 / 0.5.
    let (mut machine, task) = picture();
    let mut tasks = [task];
    machine.run(&program("0 : fitrp.pixel r0, drc0, cf4, cf0, 2\n1 : wdf drc0"), &mut tasks, 10).expect("it ends");
    assert!((value(&tasks, "r0", 0) - 2.0 * 0.1 * 10.5).abs() < 1e-6);
    // Iteration and sampling in one group: (0.25, 0.75) of a 4 x 4 texture is texel (1, 3).
    let (mut machine, mut task) = picture();
    for (n, constant) in [(4, 0.0f32), (6, 0.3), (9, 0.0), (10, 0.8)] {
        task.fill(register(&format!("cf{n}")), constant.to_bits()).expect("a coefficient");
    }
    let mut tasks = [task];
    let text = "0 : (ignorepe)\n{\n itrsmp2d.pixel.fcnorm.schedwdf r0, 1, drc0, cf4, sh4, sh0, 4, cf0, \n}";
    // Perspective control 1 multiplies by w = 2, so the coordinates are (0.6, 1.6), beyond the edge.
    machine.run(&program(text), &mut tasks, 10).expect("it ends");
    assert_eq!((value(&tasks, "r0", 0), value(&tasks, "r3", 3)), (3.0 * 4.0 + 2.0, 1.0));
    // The examples of SMP, with coordinates in r1 and r2.
    let (mut machine, mut task) = picture();
    task.fill(register("r1"), 2).expect("a temporary");
    task.fill(register("r2"), 1).expect("a temporary");
    let mut tasks = [task];
    let text = "3 : smp2d.fcnorm.replace.integer drc0, sh4, r1, sh0, sh11, r0, 4;\n4 : wdf drc0";
    machine.run(&program(text), &mut tasks, 10).expect("it ends");
    assert_eq!(value(&tasks, "r0", 0), 6.0);
    for (text, data, wanted) in [
        ("smp2d.fcnorm.array drc0, sh4, r1, sh0, _, r0, 4;", vec![0.3, 0.6, 0.0], 9.0),
        ("if(!p0)\n{\nsmp2d.fcnorm.soo drc0, sh8, r32, sh0, _, r0, 4;\n}", vec![0.3, 0.6], 9.0),
    ] {
        let (mut machine, mut task) = picture();
        let first = if text.contains("r32") { 32 } else { 1 };
        for (n, value) in data.iter().enumerate() {
            task.fill(register(&format!("r{}", first + n)), f32::to_bits(*value)).expect("a temporary");
        }
        if text.contains("soo") {
            // One texel to the right and one up: ivec2(1, -1), with 6 bits each.
            task.fill(register("r34"), 0xfc1).expect("a temporary");
        }
        let mut tasks = [task];
        machine.run(&program(text), &mut tasks, 10).expect("it ends");
        let offset = if text.contains("soo") { 1.0 - 4.0 } else { 0.0 };
        assert_eq!(value(&tasks, "r0", 2), wanted + offset, "{text}");
    }
}

/// The example of a shadow sampler: the instruction returns the texels of the footprint, which the program compares,
/// and their weights.
#[test]
fn a_shadow_sample_gives_texels_and_shares() {
    let (mut machine, mut task) = picture();
    for (n, value) in [(1, 0.3f32), (2, 0.6)] {
        task.fill(register(&format!("r{n}")), value.to_bits()).expect("a temporary");
    }
    let mut tasks = [task];
    machine.run(&program("smp2d.fcnorm.both drc0, sh12, r1, sh4, _, r0, 1;"), &mut tasks, 10).expect("it ends");
    let value = |n: usize| f(tasks[0].get(register(&format!("r{n}")), 0).expect("a register"));
    // 0.3 is 0.7 texels after the centre of texel 0, and 0.6 is 0.9 texels after that of texel 1.
    assert_eq!([0, 1, 2, 3].map(value), [4.0, 8.0, 5.0, 9.0]);
    let (u, v) = (value(8), value(9));
    assert!((u - 0.7).abs() < 1e-6 && (v - 0.9).abs() < 1e-6, "{u}, {v}");
    let mixed = (value(0) * (1.0 - u) + value(2) * u) * (1.0 - v) + (value(1) * (1.0 - u) + value(3) * u) * v;
    assert!((mixed - 8.3).abs() < 1e-5, "{mixed}");
}

/// One round of range reduction suffices, as its predicate shows.
#[test]
fn a_reduction_wants_no_further_round() {
    let text = "0 : mbyp ft0, c1\n    tstgz.u32 ftt, p0, ft0\n1 : fred.cos i1, i0, p0, 3, sh0,\n2 : if(!p0)\n    mbyp ft0, c1\n    mov r0, ft0";
    assert_eq!(run(&program(text), &[("sh0", 0x4120_0000)], &["r0"]), [1]);
}

/// Iteration by the control group: values with and without 1/W, which is stored and used again; halves; indices.
#[test]
fn coefficients_are_iterated_without_the_alu() {
    let at = |name: &str, tasks: &[Task]| f(tasks[0].get(register(name), 3).expect("a register"));
    // Pixel (11, 21): 1/w is 0.5, the values are 0.1 * 11.5 and 0.2 * 21.5 + 1.
    let (u, v) = (0.1f32 * 11.5, 0.2f32 * 21.5 + 1.0);
    let near = |a: f32, b: f32| (a - b).abs() < 2e-3 * b.abs();
    for (perspective, factor) in [(0, 1.0), (1, 2.0), (2, 2.0)] {
        let (mut machine, task) = picture();
        let mut tasks = [task];
        let text = format!(
            "0 : ditr.pixel r10, drc0, cf4, 2, {perspective}, cf0\n1 : wdf drc0\n2 : ditr.sample r20, drc0, cf4, 1, 3, cf0"
        );
        machine.run(&program(&text), &mut tasks, 10).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert!(near(at("r10", &tasks), factor * u) && near(at("r11", &tasks), factor * v), "{perspective}");
        // The previously stored value is 1.
        let kept = if perspective == 2 { 2.0 } else { 1.0 };
        assert!(near(at("r20", &tasks), kept * u), "{perspective}: {}", at("r20", &tasks));
    }
    let (mut machine, mut task) = picture();
    task.fill(register("idx0"), 3).expect("an index");
    let mut tasks = [task];
    let text = "0 : ditr.centroid.sat r10.f16, drc0, cf4, 2, 0, cf0\n1 : ditr.pixel r20, drc0, cf4[idx0], 1, 0, cf0";
    machine.run(&program(text), &mut tasks, 10).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(tasks[0].get(register("r10"), 0), Some(0x3c00_3c00), "both are above 1");
    // The plane at cf7: 0, 0, 0.2.
    assert!(near(at("r20", &tasks), 0.2));
    // The backend's form saturates too, for up to 16 values.
    let (mut machine, task) = picture();
    let mut tasks = [task];
    machine.run(&program("0 : fitr.pixel.sat r10, drc0, cf4, 16\n1 : wdf drc0"), &mut tasks, 10).expect("it ends");
    assert_eq!((at("r10", &tasks), at("r11", &tasks), at("r25", &tasks)), (1.0, 1.0, 0.0));
}

#[test]
fn differences_within_a_quad() {
    let texts = [("fdsx", 1.0, 1.0), ("fdsy", 10.0, 10.0), ("fdsxf", 1.0, 7.0), ("fdsyf", 10.0, 16.0)];
    for (name, upper, lower) in texts {
        let text = format!("{name} ft0, r2\n{name} ft1, r3\nmov r0, ft0;\nmov r1, ft1;");
        let mut machine = Machine::new(Software::default());
        let mut task = Task::new(4).expect("4");
        for (i, value) in [1.0f32, 2.0, 11.0, 18.0].into_iter().enumerate() {
            task.set(register("r2"), i, value.to_bits()).expect("a temporary");
            task.set(register("r3"), i, (-value).to_bits()).expect("a temporary");
        }
        let mut tasks = [task];
        machine.run(&program(&text), &mut tasks, 10).expect("it ends");
        let value = |name: &str, i: usize| f(tasks[0].get(register(name), i).expect("a register"));
        let last = if name == "fdsy" { upper } else { lower };
        assert_eq!((value("r0", 0), value("r0", 3), value("r1", 3)), (upper, last, -last), "{name}");
    }
}
