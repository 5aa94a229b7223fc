//! Step counter for complexity tests, which compare the effort of analyses for programs of different lengths.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts a step, such as a visit of a block.
pub(crate) fn step() {
    #[cfg(test)]
    STEPS.set(STEPS.get() + 1);
}

/// The number of steps that some work takes.
#[cfg(test)]
pub(crate) fn of(work: impl FnOnce()) -> u64 {
    let before = STEPS.get();
    work();
    STEPS.get() - before
}

#[cfg(test)]
mod tests {
    use isaforge_core::Tables;
    use isaforge_valhall::ISA;
    use isaforge_valhall::semantics::SEMANTICS;

    use super::of;
    use crate::{Graph, Program, Set, lint};

    /// A program of about `count` blocks.
    type Shape = (&'static str, fn(usize) -> String);

    fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
        (0..count).map(line).collect()
    }

    const SHAPES: [Shape; 12] = [
        ("loops of one block", |n| lines(n, |k| format!("l{k}:\nBRANCHZ.eq r0, l{k}\n"))),
        ("branches back to the first block", |n| format!("l:\n{}", lines(n, |_| "BRANCHZ.eq r0, l\n".to_owned()))),
        ("branches ahead to the last block", |n| lines(n, |_| "BRANCHZ.eq r0, l\n".to_owned()) + "l:\nNOP.end\n"),
        ("each branch over the next", |n| {
            lines(n, |k| format!("BRANCHZ.eq r0, l{}\nl{k}:\n", k + 1)) + &format!("l{n}:\n")
        }),
        ("nested loops", |n| {
            let heads = lines(n, |k| format!("l{k}:\nIADD.u32 r{0}, r{0}, u0\n", k % 60));
            heads + &lines(n, |k| format!("BRANCHZ.eq r{}, l{}\n", k % 60, n - 1 - k))
        }),
        ("branches to as many targets", |n| {
            lines(n, |k| format!("BRANCHZ.eq r0, l{k}\n")) + &lines(n, |k| format!("BRANCHZ.eq r0, l{k}\nl{k}:\n"))
        }),
        ("two branches to each target", |n| {
            let branches = lines(n, |k| format!("BRANCHZ.eq r0, l{k}\n"));
            format!("{branches}{branches}NOP.end\n{}", lines(n, |k| format!("l{k}:\nNOP.end\n")))
        }),
        ("a straight line of messages", |n| {
            lines(n, |k| format!("LOAD.i32.unsigned.slot0 @r{}, r62, offset:0\n", k % 60))
        }),
        ("messages and branches", |n| {
            lines(n, |k| format!("LOAD.i32.unsigned.slot0 @r{}, r62, offset:0\nBRANCHZ.eq r{}, l\n", k % 60, k % 60))
                + "l:\n"
        }),
        ("barriers between branches", |n| {
            let first = "BRANCHZ.eq r60, l\nMOV.i32 r0, r1\nl:\n".to_owned();
            first + &lines(n, |_| "BARRIER.slot7.wait\nBRANCHZ.eq r1, e\n".to_owned()) + "e:\nNOP.end\n"
        }),
        ("last reads before a long tail", |n| {
            let reads = lines(n, |k| format!("BRANCHZ.eq r1, l{k}\nMOV.i32 r2, ^r0\nBRANCHZ.eq 0x0, t\nl{k}:\n"));
            format!("{reads}t:\n{}MOV.i32 r3, r0\n", lines(n, |_| "BRANCHZ.eq r1, e\n".to_owned())) + "e:\nNOP.end\n"
        }),
        ("no branches", |n| lines(n, |k| format!("IADD.u32 r{}, r{}, r{}\n", k % 60, k % 59, k % 58))),
    ];

    /// Twice as many blocks take at most about twice as many steps.
    #[test]
    fn effort_is_linear_in_the_length_of_a_program() {
        let set = Set::new(Tables::Words(ISA), Some(SEMANTICS), None);
        for (name, shape) in SHAPES {
            let steps = |count: usize| {
                let source = set.tables.assemble(&shape(count));
                assert!(source.errors.is_empty(), "{name}: {:?}", source.errors.first());
                of(|| {
                    let program = Program::read(&set, &source.bytes);
                    drop(lint(&program, &Graph::new(&program)));
                })
            };
            let (once, twice) = (steps(300), steps(600));
            assert!(twice < 5 * once / 2, "{name}: {once}, then {twice}");
            assert!(once < 300 * 1000, "{name}: {once}");
        }
    }

    /// Nested loops are counted once each, also when several branches lead back to the first block.
    #[test]
    fn loops_nest() {
        let set = Set::new(Tables::Words(ISA), Some(SEMANTICS), None);
        let text =
            "NOP\na: NOP\nb: NOP\nBRANCHZ.eq r0, b\nBRANCHZ.eq r0, a\nc: BRANCHZ.eq r0, c\nBRANCHZ.eq r0, a\nNOP.end\n";
        let program = Program::read(&set, &set.tables.assemble(text).bytes);
        let depths: Vec<usize> = Graph::new(&program).blocks.iter().map(|block| block.depth).collect();
        assert_eq!(depths, [0, 1, 2, 1, 2, 1, 0]);
    }
}
