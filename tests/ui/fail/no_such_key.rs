//! Arguments that the macro does not know.

isaforge::isa! { spec: "../pass/specs/w8.yaml", modul: machine }

isaforge::isa! { spec: "../pass/specs/w8.yaml", semantics: requird }

isaforge::isa! { "../pass/specs/w8.yaml", text: yes }

isaforge::isa! {}

fn main() {}
