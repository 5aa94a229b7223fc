//! Three lines for a module with everything as usual, a few more for another.
use isaforge_compiler::build::{Build, generate};
use isaforge_compiler::backend::rust::SemanticsStyle;

fn main() {
    generate("../../specs/blink.yaml");

    let mut strict = Build::new("../../specs/blink.yaml");
    strict.module = Some("strict".to_owned());
    strict.options.semantics = SemanticsStyle::Required;
    strict.options.tests = false;
    strict.generate();
}
