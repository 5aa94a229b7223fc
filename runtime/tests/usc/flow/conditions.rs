//! Conditional instructions.

use super::*;

/// The state of one instance for conditional instructions, as in the reference.
struct One {
    counter: u32,
    runs: bool,
    predicate: bool,
}

/// Executes a conditional instruction by the reference's text, with the corrections to CNDLT.
fn condition(name: &str, all: &mut [One], condition: &dyn Fn(&One) -> bool, s2: &[u32], adjust: u32, link: &mut u32) {
    let someone = all.iter().any(|one| condition(one) && one.runs);
    let first = all.iter().position(|one| one.runs);
    if let (Some(first), "cndsetl.b") = (first, name) {
        *link = s2[first];
    }
    for (i, one) in all.iter_mut().enumerate() {
        let holds = condition(one);
        let s0 = one.counter;
        let mut set = |counter: u32, runs: bool| (one.counter, one.runs) = (counter, runs);
        match name {
            "cndst" => {
                if holds && s0 == 0 {
                    set(0, true);
                } else {
                    set(s0 + adjust, false);
                }
            }
            "cndef" => {
                if s0 == 0 {
                    set(s0 + adjust, adjust == 0);
                } else if holds && s0 == 1 {
                    set(0, true);
                } else {
                    set(s0, false);
                }
            }
            "cndsm" => {
                if holds && s0 == 0 {
                    set(s2[i], s2[i] == 0);
                } else {
                    set(s0, s0 == 0);
                }
            }
            "cndlt" => {
                if !someone {
                    if s0 > adjust {
                        set(s0 - adjust, false);
                    } else {
                        set(0, true);
                    }
                } else if !holds && s0 == 0 {
                    set(adjust, false);
                } else {
                    set(s0, s0 == 0);
                }
                one.predicate = someone;
            }
            "cndend" => {
                if s0 > adjust {
                    set(s0 - adjust, false);
                } else {
                    set(0, true);
                }
            }
            "cndsetl.a" => {}
            "cndsetl.b" => {
                if s0 == 0 && first.is_some_and(|first| s2[i] != s2[first]) {
                    set(1, false);
                } else {
                    set(s0, s0 == 0);
                }
            }
            _ => match s0 {
                0 => set(2, false),
                1 => set(0, true),
                _ => set(s0, false),
            },
        }
    }
}

/// Tests sequences of conditional instructions with 1 to 32 instances.
#[test]
fn conditional_instructions_do_what_the_reference_says() {
    const NAMES: [&str; 8] = ["cndst", "cndef", "cndsm", "cndlt", "cndend", "cndsetl.a", "cndsetl.b", "cndlpc"];
    let mut random = Random::new(seed(41));
    for round in 0..400 {
        let instances = 1 + round % LANES;
        let mut text = "1 : (ignorepe)\ncndst 0, r90, c0, 1".to_owned();
        let (s2, bits): (Vec<u32>, Vec<u32>) = (0..instances).map(|_| (random.below(3), random.word())).unzip();
        let mut all: Vec<One> = (0..instances).map(|_| One { counter: 0, runs: true, predicate: false }).collect();
        let mut link = 0;
        for step in 0..12 {
            // P0 of the running instances is a bit of r1.
            if random.below(2) == 0 {
                text += &format!(
                    "\n1 : byp ft0, ft1, c0, c0\nbyp ft2, r1\nbyp ft3, ft2\nor ft4, _, ft2, _, c0\nshr ft5, ft4, c{step}\nmov r2, ft5\
                     \n1 : byp ft0, ft1, c0, c0\nbyp ft2, r2\nbyp ft3, ft2\nand ft4, _, ft2, _, c1\nlsl ft5, ft4, c0\ntnz p0, ft5"
                );
                for (one, bits) in all.iter_mut().zip(&bits).filter(|(one, _)| one.runs) {
                    one.predicate = bits >> step & 1 != 0;
                }
            }
            let name = NAMES[random.below(8) as usize];
            let (pcnd, adjust) = (random.below(4), random.below(4));
            text += "\n1 : (ignorepe)\n";
            text += &match name {
                "cndst" | "cndef" => format!("{name} {pcnd}, r90, r90, {adjust}"),
                "cndlt" => format!("{name} {pcnd}, r90, p0, r90, {adjust}"),
                "cndsm" => format!("{name} {pcnd}, r90, r90, r3"),
                "cndend" => format!("{name} r90, r90, {adjust}"),
                "cndlpc" => format!("{name} r90, r90"),
                _ => format!("{name} r90, r90, r3"),
            };
            let holds: &dyn Fn(&One) -> bool = match pcnd {
                0 => &|_| true,
                1 => &|one| one.predicate,
                2 => &|_| false,
                _ => &|one| !one.predicate,
            };
            condition(name, &mut all, holds, &s2, adjust, &mut link);
        }
        text += "\n1 : (ignorepe)\nsavl r4";
        let task = run(&text, task(instances, &[("r1", &|i| bits[i]), ("r3", &|i| s2[i])]));
        for (i, one) in all.iter().enumerate() {
            let found = (task.get(register("r90"), i), task.runs(i), task.predicate(i));
            assert_eq!(found, (Some(one.counter), one.runs, one.predicate), "instance {i} of {instances}\n{text}");
        }
        assert_eq!(values(&task, "r4"), vec![link; instances], "{text}");
    }
}
