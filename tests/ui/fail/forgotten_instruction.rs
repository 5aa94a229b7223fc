//! Where semantics are required, an instruction without a method is an error.

isaforge::isa! { "../pass/specs/w8.yaml", semantics: required }

struct Machine;

impl w8::Semantics for Machine {
    type Output = ();
    fn go(&mut self, _: w8::Go) {}
}

fn main() {}
