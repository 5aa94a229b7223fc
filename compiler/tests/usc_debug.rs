use isaforge_core::group::{assemble, decode, encode};
use isaforge_core::text::Line;
use std::path::Path;
#[test]
fn debug() {
    let settings = isaforge_compiler::Settings::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/usc/isa.yaml"));
    let isa = isaforge_compiler::compile(&settings).unwrap().groups.unwrap();
    for hex in std::env::var("HEX").unwrap().split_whitespace() {
        let bytes: Vec<u8> = (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect();
        let g = decode(isa, &bytes).unwrap();
        let v = g.values(isa);
        let mut t = Line::new();
        isaforge_core::group::text::describe(isa, &v, " | ", &mut t);
        println!("{hex}: {}", t.as_str());
        match assemble(isa, t.as_str()) {
            Err(e) => println!("   {e:?} {e}"),
            Ok(a) => println!("   present {:x} read {:x} {:?}", v.present, a.values.present, encode(isa, &a.values, &a.form)),
        }
        let mut t = Line::new();
        isaforge_core::group::print(isa, &g, " | ", &mut t);
        println!("   {}", t.as_str());
    }
}
#[test]
fn seed() {
    let settings = isaforge_compiler::Settings::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/usc/isa.yaml"));
    let isa = isaforge_compiler::compile(&settings).unwrap().groups.unwrap();
    for text in std::fs::read_to_string("/tmp/usc-gen/seed.txt").unwrap().split("\n\n") {
        println!("{}", text.trim());
        match assemble(isa, text) {
            Err(e) => println!("   !!! {e}"),
            Ok(a) if a.no_encoding.is_some() => println!("   no encoding {}", a.no_encoding.unwrap().name),
            Ok(a) => match encode(isa, &a.values, &a.form) {
                Err(e) => println!("   !!! encode: {e}"),
                Ok(g) => {
                    let mut t = Line::new();
                    isaforge_core::group::print(isa, &g, " | ", &mut t);
                    println!("   {g:?}\n   {}", t.as_str());
                }
            },
        }
    }
}
