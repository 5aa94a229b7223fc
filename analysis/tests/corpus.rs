//! The lint over compiled shaders of good quality: each finding is either correct, or an error of the lint.

use std::fs::File;
use std::io::Read;

use flate2::read::GzDecoder;
use isaforge_analysis::lint::{Check, lint};
use isaforge_analysis::{Graph, Program, Set};
use isaforge_core::Tables;
use isaforge_valhall::ISA;
use isaforge_valhall::semantics::{HARDWARE, SEMANTICS};

/// `README.md` says what is known of these findings. The same test of the command is `cli/tests/cli/shaders.rs`.
#[test]
fn findings_in_compiled_shaders_are_known() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/valhall/shaders.tsv.gz");
    let mut text = String::new();
    GzDecoder::new(File::open(path).expect("the data is there")).read_to_string(&mut text).expect("it is text");
    let set = Set::new(Tables::Words(ISA), Some(SEMANTICS), Some(HARDWARE));
    let (mut shaders, mut second) = (0, 0);
    let mut others = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [name, _, _, stage, words] = line.split('\t').collect::<Vec<&str>>()[..] else { panic!("{line}") };
        let words = words.split(' ').map(|word| u64::from_str_radix(word, 16).expect("a word"));
        let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        let mut program = Program::read(&set, &bytes);
        shaders += 1;
        assert!(Graph::new(&program).computed().is_none(), "{name}: all computed branches are calls");
        while let Some(entry) =
            lint(&program, &Graph::new(&program)).iter().find(|finding| finding.check == Check::Unreachable)
        {
            assert!(stage == "vertex" && program.entry_points.len() < 3, "{name}");
            second += usize::from(program.entry_points.len() == 1);
            program.enter(entry.entry);
        }
        others.extend(
            lint(&program, &Graph::new(&program)).into_iter().map(|finding| (name, finding.check, finding.entry)),
        );
    }
    assert_eq!((shaders, second), (2499, 808));
    let known = [
        ("S00266", Check::Needless, 2),
        ("S00268", Check::Needless, 2),
        ("S01525", Check::Unread, 32),
        ("S02448", Check::Unread, 18),
        ("S02513", Check::Needless, 2),
    ];
    assert_eq!(others, known);
}

/// Programs of Mesa's compiler for the other set: nothing is found.
#[test]
fn compiled_groups_have_no_findings() {
    let text = include_str!("../../compiler/tests/data/usc/programs.tsv");
    let semantics = isaforge_usc::semantics::SEMANTICS;
    let set = Set::new(Tables::Groups(isaforge_usc::ISA), Some(semantics), Some(isaforge_usc::semantics::HARDWARE));
    let mut programs = 0;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [name, _, digits] = line.split('\t').collect::<Vec<&str>>()[..] else { panic!("{line}") };
        let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).expect("two digits");
        let bytes: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect();
        let program = Program::read(&set, &bytes);
        assert_eq!(lint(&program, &Graph::new(&program)), [], "{name}");
        programs += 1;
    }
    assert!(programs > 200, "{programs}");
}
