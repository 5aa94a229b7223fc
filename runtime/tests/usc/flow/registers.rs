//! Banks, indexes into them, and registers that repetitions step.

use super::*;

/// Each instance has index registers of its own. They reach every bank, and trap beyond its end.
#[test]
fn indexes_reach_into_every_bank() {
    for (bank, size) in [("r", 248), ("vi", 248), ("cf", 4096), ("cfa", 4096), ("sh", 4096), ("dc", 16384)] {
        for index in ["idx0", "idx1"] {
            let text =
                format!("1 : mbyp ft0, r0\nmov idx{}[{index}], ft0\n1 : mbyp ft0, {bank}12[{index}]\nmov r1, ft0", 0);
            let mut machine = Machine::new(Software::default());
            let mut task = task(32, &[("r0", &|i| 3 + (i as u32 * 7) % 32)]);
            let value = |n: u32| n.wrapping_mul(0x9e37_79b9);
            for n in 10..60 {
                let to = register(&format!("{bank}{n}"));
                if matches!(to, Register::Shared(_) | Register::Dynamic(_)) {
                    machine.set(to, value(n)).expect("the machine's");
                } else {
                    task.fill(to, value(n)).expect("the task's");
                }
            }
            let mut tasks = [task];
            machine.run(&program(&text), &mut tasks, 10).expect("it ends");
            let wanted: Vec<u32> = (0..32).map(|i| value(12 + 3 + (i * 7) % 32)).collect();
            assert_eq!(values(&tasks[0], "r1"), wanted, "{text}");
            let past = self::task(2, &[("r0", &|i| i as u32 * (size - 12))]);
            let error = refused(&text, past);
            let outside = matches!(error.trap, Trap::Index { instance: 1, number, .. } if number == u64::from(size));
            assert!(outside, "{bank}: {error}");
        }
    }
    // Writes through an index work too, except to constants.
    let text = "1 : mbyp ft0, r0\nmov idx0[idx1], ft0\n1 : mbyp ft0, c9\nmov r20[idx1], ft0\n1 : mbyp ft0, c7\nmov o1[idx1], ft0";
    let task = run(text, task(4, &[("r0", &|i| i as u32)]));
    assert_eq!([0, 1, 2, 3].map(|i| task.get(register(&format!("r{}", 20 + i)), i)), [Some(9); 4]);
    assert_eq!([0, 1, 2, 3].map(|i| task.pixel_outputs(i)[1 + i]), [7; 4]);
    let error = Program::load(&assemble("1 : mbyp ft0, c9\nmov dc1[idx0], ft0")).expect_err("constants are read only");
    assert!(matches!(error, LoadError::Fixed { .. }), "{error}");
}

/// Slot registers replace internal registers from the last one downwards, and all instances share them.
#[test]
fn slots_are_shared_by_a_task() {
    let text = "1 : if(p0)\nmbyp ft0, r0\nmov i7, ft0\n1 : if(p0)\nmbyp ft0, r0\nmov i0, ft0\n1 : mbyp ft0, i7\nmbyp ft1, i0\nmov r1, ft0\nmov r2, ft1";
    let text = format!("1 : mbyp ft0, r3\ntstgz.u32 ftt, p0, ft0\n{text}");
    let bytes = assemble(&text);
    let given = task(4, &[("r0", &|i| 40 + i as u32), ("r3", &|i| u32::from(i == 2))]);
    for (slots, wanted) in [(0, [0, 0, 42, 0]), (1, [42; 4]), (7, [42; 4])] {
        let mut tasks = [given.clone()];
        let program = Program::load_with_slots(&bytes, slots).expect("it loads");
        Machine::new(Software::default()).run(&program, &mut tasks, 10).expect("it ends");
        assert_eq!(values(&tasks[0], "r1"), wanted, "{slots} slots");
        assert_eq!(values(&tasks[0], "r2"), [0, 0, 42, 0], "internal register 0 is each instance's own");
        assert_eq!(tasks[0].get(register("sl0"), 0), Some(if slots > 0 { 42 } else { 0 }));
    }
}

/// A repetition does not step from internal registers into slots.
#[test]
fn slots_end_the_internal_registers() {
    let bytes = assemble("1 : repeat 2\nmbyp ft0, r0\nmov i5, ft0");
    assert!(Program::load_with_slots(&bytes, 1).is_ok());
    let error = Program::load_with_slots(&bytes, 2).expect_err("i6 is a slot");
    assert!(matches!(error, LoadError::Steps { by: 1, .. }), "{error}");
}

/// A repeated group steps its registers; constants stay the same.
#[test]
fn repetitions_step_registers() {
    let text = "1 : repeat 4\nfmad ft0, r0, c66, r10\nmov r20, ft0\n1 : repeat 3\nuvsw.write sh5, 9\n\
                1 : repeat 2\nmbyp ft0, i2\nmov o2, ft0\n1 : repeat 2\nmbyp ft0, r20\nmbyp ft1, c64\nmov r30, ft0\nmov r32, ft1";
    let mut machine = Machine::new(Software::default());
    let mut given = task(2, &[("i2", &|i| 70 + i as u32), ("i3", &|i| 80 + i as u32)]);
    for n in 0..4u32 {
        given.fill(register(&format!("r{n}")), (n as f32).to_bits()).expect("a register");
        given.fill(register(&format!("r{}", 10 + n)), 100f32.to_bits()).expect("a register");
        machine.set(register(&format!("sh{}", 5 + n)), 500 + n).expect("a shared register");
    }
    let mut tasks = [given];
    machine.run(&program(text), &mut tasks, 10).expect("it ends");
    let at = |name: &str| tasks[0].get(register(name), 1).expect("a register");
    assert_eq!([20, 21, 22, 23].map(|n| at(&format!("r{n}"))), [100.0, 104.0, 108.0, 112.0].map(f32::to_bits));
    assert_eq!([at("r30"), at("r31"), at("r32"), at("r33")], [100.0, 104.0, 1.0, 1.0].map(f32::to_bits));
    assert_eq!(tasks[0].pixel_outputs(1)[..4], [0, 0, 71, 81]);
    let written: Vec<_> =
        machine.host.vertex_outputs.iter().filter(|w| w.0.instance == 0).map(|w| (w.1, w.2)).collect();
    assert_eq!(written, [(9, 500), (10, 501), (11, 502)]);
    // Stepping past the end of a bank is an error of the program.
    let error = Program::load(&assemble("1 : repeat 4\nmbyp ft0, r245\nmov r0, ft0")).expect_err("r248 does not exist");
    assert!(matches!(error, LoadError::Steps { by: 3, .. }), "{error}");
}

/// The constants of the reference's appendix.
#[test]
fn special_constants_are_those_of_the_appendix() {
    let powers = (0..11).map(|n| f32::powi(2.0, n).to_bits()).chain((1..15).map(|n| f32::powi(2.0, -n).to_bits()));
    let others: [u32; 39] = [
        0x402df854, 0x3ebc5ab2, 0x3fb504f3, 0x3f3504f3, 0x3f490fdb, 0x3fc90fdb, 0x40490fdb, 0x3ea2f983, 0x3f22f983,
        0x3fa2f983, 0x40c90fdb, 0x41490fdb, 0x41c90fdb, 0x37800000, 0x38000000, 0x3b4d2e1c, 0x414eb852, 0x3ed55555,
        0x3f870a3d, 0x3d6147ae, 0x80000000, 0x7f800000, 0xffffffff, 0x7fff7fff, 0x3e9a209b, 0x3f317218, 0x0000007f,
        0x7f7fffff, 0x4b000000, 0x4b800000, 0x3f860a92, 0x3eaaaaab, 0x3e2aaaab, 0x40549a78, 0x3fb8aa3b, 0x3d25aee6,
        0x3d9e8391, 0x3f72a76f, 0x4019999a,
    ];
    let numbers = (0..32).chain(64..96).chain(128..160);
    let all: Vec<(u32, u32)> = numbers.zip((0..32).chain(powers).chain(others)).collect();
    assert_eq!(all.len(), 96);
    for (number, value) in all {
        let task = run(&format!("1 : mbyp ft0, c{number}\nmov r0, ft0"), task(2, &[]));
        assert_eq!(values(&task, "r0"), [value; 2], "c{number}");
        assert!(Task::new(1).expect("one").set(Register::special(number).expect("it is there"), 0, 1).is_err());
        let write =
            assemble_program(isaforge_usc::ISA, &format!("1 : mbyp ft0, r0\nmov c{number}, ft0\n1 : nop.end\n"));
        assert!(write.map_or(true, |bytes| Program::load(&bytes).is_err()), "c{number} is read only");
    }
}

/// Banks have the right sizes and owners.
#[test]
fn banks_end_where_they_say_and_are_shared_as_they_say() {
    for (inside, outside) in [("r247", "r248"), ("vi247", "vi248")] {
        assert!(Program::load(&assemble(&format!("1 : mbyp ft0, {inside}\nmov r0, ft0"))).is_ok());
        let error = Program::load(&assemble(&format!("1 : mbyp ft0, {outside}\nmov r0, ft0"))).expect_err("too far");
        assert!(matches!(error, LoadError::Register { number: 248, .. }), "{error}");
    }
    // Instances write their own temporaries, coefficients of the task, and registers shared by all tasks.
    let text = "1 : mbyp ft0, r0\nmov r1, ft0\n1 : mbyp ft0, r0\nmov cf3, ft0\n1 : mbyp ft0, r0\nmov cfa3, ft0\n\
                1 : mbyp ft0, r0\nmov sh3, ft0\n1 : mbyp ft0, r0\nmov g3, ft0";
    let mut machine = Machine::new(Software::default());
    let mut tasks = [task(3, &[("r0", &|i| 10 + i as u32)]), task(2, &[("r0", &|i| 20 + i as u32)])];
    machine.run(&program(text), &mut tasks, 100).expect("it ends");
    assert_eq!(values(&tasks[0], "r1"), [10, 11, 12]);
    for name in ["cf3", "cfa3"] {
        assert_eq!(tasks.each_ref().map(|task| task.get(register(name), 0)), [Some(12), Some(21)], "{name}");
    }
    assert_eq!([machine.get(register("sh3")), machine.get(register("g3"))], [Some(21); 2]);
}

/// SBO sets the base of coefficients and shared registers.
#[test]
fn bases_are_added_to_numbers() {
    let text = "1 : sbo.shared 100\n1 : mbyp ft0, sh3\nmov r0, ft0\n1 : mbyp ft0, c9\nmov sh4, ft0\n1 : sbo.coeff 8\n\
                1 : mbyp ft0, cf1\nmov r1, ft0\n1 : sbo.shared 0\n1 : mbyp ft0, sh3\nmov r2, ft0";
    let mut machine = Machine::new(Software::default());
    machine.set(register("sh103"), 77).expect("a shared register");
    machine.set(register("sh3"), 66).expect("a shared register");
    let mut tasks = [task(1, &[])];
    tasks[0].fill(register("cf9"), 55).expect("a coefficient");
    machine.run(&program(text), &mut tasks, 100).expect("it ends");
    assert_eq!(["r0", "r1", "r2"].map(|name| tasks[0].get(register(name), 0)), [Some(77), Some(55), Some(66)]);
    assert_eq!(machine.get(register("sh104")), Some(9));
}
