//! Drawings on several host threads are those of one thread: pixels, memory, counts and errors.

use std::num::NonZero;

use isaforge_core::sample::Random;
use isaforge_runtime::valhall::host::{Format, Host, Primitive, Resources, Target, Texel, Triangle};
use isaforge_runtime::valhall::{self, Fragments, fast};
use isaforge_runtime::{Execution, Level, Memory, Outcome, RunError};

use super::assemble;
use super::seed::{rounds, seed};
use super::together::{pick, program, resources};

/// How a drawing ended, and what it left.
type Left = (Result<Outcome, RunError>, Vec<Option<Target>>, [Option<Target>; 2], Memory);

/// What a drawing leaves on one thread, which is also what it leaves on several.
fn left(fragments: &Fragments, memory: &Memory, resources: &Resources, text: &str) -> Left {
    let left = |draw: &dyn Fn(&mut Memory, &mut Resources) -> Result<Outcome, RunError>| {
        let (mut memory, mut on) = (memory.clone(), resources.clone());
        let ended = draw(&mut memory, &mut on);
        (ended, on.targets, [on.depth, on.stencil], memory)
    };
    let expected = left(&|memory, on| valhall::draw_on(Execution::best(), fragments, memory, on));
    for threads in [1, 2, 3, 50].map(|threads| NonZero::new(threads).unwrap()) {
        let found = left(&|memory, on| fast::draw_parallel(fragments, memory, on, Level::best(), threads));
        assert_eq!(found.0, expected.0, "{threads} threads\n{text}");
        assert!(found.1 == expected.1, "{threads} threads: another picture\n{text}");
        assert!(found.2 == expected.2, "{threads} threads: another depth or stencil\n{text}");
        assert!(found.3 == expected.3, "{threads} threads: another memory\n{text}");
    }
    expected
}

/// Pixels that are covered here and there, within a primitive or everywhere.
fn fragments(random: &mut Random, [width, height]: [u32; 2], samples: u32, text: &str) -> Fragments {
    let words = assemble(text);
    if random.below(3) == 0 {
        let mut corner = || [width, height].map(|n| random.below(u64::from(n) * 2) as f32 - n as f32 / 2.0);
        let (a, b, c) = (corner(), corner(), corner());
        return Fragments::of(&Primitive::Triangle(Triangle([a, b, c])), samples, words, width, height);
    }
    let mut fragments = Fragments::new(words, width, height);
    let holes = pick(random, &[0, 1, 8, 100]);
    for coverage in &mut fragments.coverage {
        *coverage = if holes > 0 && random.below(holes + 1) == 0 { 0 } else { random.next() as u16 | 1 };
    }
    fragments
}

#[test]
fn random_pictures_are_the_same_on_several_threads() {
    let mut random = Random(seed(43));
    let (mut late, mut ended) = (0, 0);
    for _ in 0..60 * rounds() {
        let [width, height] = [0; 2].map(|_| 30 + random.below(90) as u32);
        let mut resources = resources(&mut random, width, height);
        // Rows of the target may be missing, or beyond the picture.
        if random.below(4) == 0 {
            let size = [width, 1 + random.below(150) as u32];
            let target = Target::multisampled(Format::RGBA8, size, 1, Texel::floats([0.5; 4]));
            resources.targets = vec![target];
        }
        let clear = |format| Target::new(Format::parse(format).unwrap(), width, height, Texel::floats([0.5; 4]));
        (resources.depth, resources.stencil) = (clear("R32F"), clear("R8UI"));
        let mut text = program(&mut random, &resources);
        if random.below(2) == 0 {
            text = format!("ZS_EMIT.z.stencil.slot0 @r60, r59, r59, r60\n{text}");
        }
        // From some pixel on, a texture does not exist.
        let [x, y] = [width, height].map(|n| random.below(n.into()));
        if random.below(3) == 0 {
            text = format!(
                "IADD_IMM.i32 r22, 0x0, #{:#x}\nICMP.u32.gt.m1 r22, r59, r22, 0x0\nBRANCHZ.eq.reconverge r22, there
                 IADD_IMM.i32 r22, 0x0, #0x20001877\nTEX_SINGLE.slot1.f.32.2d.zero @r4:r5:r6:r7, @r0:r1, r22
                 there: NOP\n{text}",
                y << 16 | x
            );
        }
        let mut fragments = fragments(&mut random, [width, height], resources.samples(), &text);
        let (outcome, ..) = left(&fragments, &Memory::new(), &resources, &text);
        let Ok(outcome) = outcome else {
            late += usize::from(y > 10);
            continue;
        };
        ended += 1;
        let all = outcome.thread_instructions;
        for budget in [all, all.saturating_sub(1), random.below(all + 1)] {
            fragments.budget = budget;
            let (outcome, ..) = left(&fragments, &Memory::new(), &resources, &text);
            assert_eq!(outcome.is_ok(), budget == all, "{budget} of {all}\n{text}");
        }
    }
    assert!(ended > 10 && late > 5, "{ended} pictures, {late} failures below the first rows");
}

#[test]
fn pixels_that_store_to_one_place_do_so_in_order() {
    let text = "IADD_IMM.i32 r2, 0x0, #0x1000\nMOV.i32 r3, 0x0\nSTORE.i32.slot0 @r59, r2, offset:0
                BLEND.slot0.v4.f32.end @r4:r5:r6:r7, blend_descriptor_0.w0, r60, target:0x0";
    let fragments = Fragments::new(assemble(text), 100, 100);
    let mut memory = Memory::new();
    memory.map(0x1000, vec![0; 4]).unwrap();
    let target = Target::new(Format::RGBA8, 100, 100, Texel::floats([0.5; 4]));
    let resources = Resources { targets: vec![target], ..Resources::default() };
    let (outcome, .., memory) = left(&fragments, &memory, &resources, text);
    assert_eq!(outcome.unwrap().thread_instructions, 4 * 10_000);
    assert_eq!(memory.region(0x1000), Some(&[99, 0, 99, 0][..]));
}
