//! All tests of the compiler in one program, which links once and runs slow tests in parallel with others.

#[path = "../../../runtime/tests/seed/mod.rs"]
mod seed;
mod support;

mod ambiguity;
mod arm_xml;
mod catalogue;
mod declared;
mod diff;
mod diff_operations;
mod diff_streams;
mod emitted;
mod examples;
mod families;
mod fast_decode;
mod front_end;
mod hostile;
mod machine;
mod machine_groups;
mod machine_masked;
mod machine_state;
mod mutations;
mod nesting;
mod opcodes;
mod properties;
mod read_amd_xml;
mod read_amdgpu;
mod read_bifrost;
mod read_isaspec;
mod read_riscv_unified_db;
mod read_spirv;
mod reference;
mod registers;
mod revisions;
mod same_tables;
mod schema;
mod semantics;
mod spellings;
mod streams;
mod suspects;
mod targets;
mod translate;
mod unread;
mod usc;
mod usc_checks;
mod usc_text;
