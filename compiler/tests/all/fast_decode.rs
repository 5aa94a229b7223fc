//! The fast tests of streams agree with exact decoding: on random words of every layout of every available set, whole
//! and truncated, including errors.

use std::path::{Path, PathBuf};

use isaforge_compiler::{Settings, compile};
use isaforge_core::sample::Random;
use isaforge_core::stream::{Engine, Stream, Tested, Wide};

use crate::seed;

/// The number of words of each layout.
const ROUNDS: u64 = 24;

fn compiled(document: PathBuf, generation: Option<&str>) -> Option<&'static Stream> {
    if !document.exists() {
        println!("not compared: there is no {}", document.display());
        return None;
    }
    let settings = Settings { generation: generation.map(str::to_owned), ..Settings::new(&document) };
    let compiled = compile(&settings).unwrap_or_else(|failure| panic!("{failure}"));
    Some(compiled.lowered.stream().expect("it is a stream"))
}

/// Compares both ways in all generations that have fast tests, and returns the number of valid words.
fn compare(stream: &'static Stream, random: &mut Random) -> usize {
    let exact: &'static Stream = Box::leak(Box::new(Stream { quick: &[], tested: &[], ..*stream }));
    let mut valid = 0;
    for Tested { generation, .. } in stream.tested {
        let [fast, slow] = [stream, exact].map(|stream| Engine { stream, generation: *generation });
        let layouts = stream.layouts_of(0).iter().filter(|l| (l.since..=l.until).contains(generation));
        for layout in layouts {
            for round in 0..ROUNDS {
                // Values with a meaning often have few bits set.
                let chunk = |_| (0..round % 4).fold(random.next(), |all, _| all & random.next());
                let word = Wide(std::array::from_fn(chunk));
                let mut word = word & !layout.fixed_mask | layout.fixed_value;
                if round % 7 == 3 {
                    word.set((random.next() % u64::from(layout.bits.max(1))) as u32, 1, random.next());
                }
                let bytes = fast.store(word);
                let len = if round % 11 == 5 { random.next() as usize % bytes.len() } else { bytes.len() };
                let (found, wanted) = (fast.decode(&bytes[..len]), slow.decode(&bytes[..len]));
                assert_eq!(found, wanted, "{} of {} in {generation}: {word:x}", layout.name, stream.name);
                valid += usize::from(found.is_ok());
            }
        }
    }
    valid
}

#[test]
fn the_fast_tests_say_what_the_exact_way_says() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let documents = own.join("../shared/documents");
    let amdgpu = documents.join("llvm-tablegen-amdgpu/amdgpu-instructions.jsonl.gz");
    let bifrost = documents.join("mali-mesa-25.0.7/bifrost-ISA.xml");
    let cases: [(PathBuf, Option<&str>); 13] = [
        (own.join("examples/g13/isa.yaml"), None),
        (own.join("tests/specs/nova.yaml"), None),
        (own.join("tests/specs/modified.yaml"), None),
        (bifrost.clone(), Some("fma")),
        (bifrost, Some("add")),
        (own.join("examples/riscv/isa.yaml"), None),
        (own.join("examples/sm75/isa.yaml"), None),
        (own.join("tests/specs/rv32imc.yaml"), None),
        (documents.join("isaspec-mesa-25.0.7/ir3/ir3.xml"), None),
        (documents.join("isaspec-mesa-25.0.7/afuc/afuc.xml"), None),
        (documents.join("isaspec-mesa-25.0.7/etnaviv/etnaviv.xml"), None),
        (amdgpu.clone(), Some("gfx1100")),
        (amdgpu, Some("gfx908")),
    ];
    let mut random = Random(seed::seed(17));
    for (document, generation) in cases {
        if let Some(stream) = compiled(document, generation) {
            assert!(!stream.tested.is_empty(), "{} has fast tests", stream.name);
            assert!(compare(stream, &mut random) > 0, "no word of {} is valid", stream.name);
        }
    }
}

/// An override with conditions on the upper bits of a wide field and on another field, too much for a single test.
const WIDE_CONDITION: &str = r##"<isa>
  <bitset name="#instruction" size="32">
    <field name="FULL" pos="31" type="bool" display="(full)"/>
    <field name="SRC" low="0" high="15" type="uint"/>
    <pattern low="16" high="30">000000000000001</pattern>
  </bitset>
  <bitset name="move" extends="#instruction">
    <display>{FULL}{NAME} {SRC}</display>
    <override>
      <expr>(({SRC} &gt;&gt; 10) &amp; 0xf) == 10 &amp;&amp; {FULL}</expr>
      <display>{NAME} other {SRC}</display>
    </override>
  </bitset>
</isa>"##;

#[test]
fn conditions_on_many_bits_are_tested_part_by_part() {
    let folder = tempfile::tempdir().expect("a folder");
    let document = folder.path().join("wide.xml");
    std::fs::write(&document, WIDE_CONDITION).expect("the document is written");
    let stream = compiled(document, None).expect("it is there");
    let tests: Vec<u16> = stream.tested.iter().flat_map(|tested| tested.tests).copied().collect();
    assert!(tests.len() >= 2 && !tests.contains(&Tested::EXACT), "{tests:?}");
    assert!(compare(stream, &mut Random(seed::seed(18))) > 0);
}
