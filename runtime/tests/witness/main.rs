//! Recorded results of single instructions: what the runtime once computed, it computes still.
//!
//! The vectors were recorded from the plain interpreters, over all instructions, their modifiers, and classes of values.
//! `WITNESS=record cargo test --release -p isaforge-runtime --test witness` records them anew, which is right only when
//! an instruction is meant to do something else; `WITNESS=all` replays every case, also by the fast path, in place of a
//! part.

mod effect;
mod file;
mod random;
mod set;
mod usc;
mod valhall;
mod values;
mod vpu;

#[test]
fn valhall_instructions_do_what_was_recorded() {
    set::check(&mut valhall::Valhall::new(), 4, 16);
}

#[test]
fn vpu_instructions_do_what_was_recorded() {
    set::check(&mut vpu::Vpu::new(), 2, 1);
}

/// One instruction of this number is broken; `WITNESS=all` breaks all of them.
#[test]
fn breaking_a_text_is_noticed_where_the_instruction_is_named() {
    let every = if std::env::var("WITNESS").as_deref() == Ok("all") { 1 } else { 16 };
    valhall::mutants::check(&mut valhall::Valhall::new(), every);
}

/// Compares every 16th case, of the VPU every fourth; `WITNESS=all` compares all of them.
#[test]
fn a_machine_from_the_specification_alone_does_what_the_reference_does() {
    let every = if std::env::var("WITNESS").as_deref() == Ok("all") { 1 } else { 16 };
    valhall::derived::check(&mut valhall::Valhall::new(), every);
    vpu::derived::check(&vpu::Vpu::new(), every.min(4));
    usc::derived::check(&mut usc::Usc::new(), every.min(8));
}

#[test]
fn usc_groups_do_what_was_recorded() {
    set::check(&mut usc::Usc::new(), 4, 8);
}
