//! Recorded results of single instructions, which the runtime must still compute.
//!
//! The vectors were recorded with the plain interpreters, over all instructions, their modifiers, and classes of
//! values. `WITNESS=record cargo test --release -p isaforge-runtime --test witness` records them again, which is
//! correct only if an instruction is meant to change. `WITNESS=all` replays every case, also by the fast path, instead
//! of a part.

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

/// Breaks one of this number of instructions; `WITNESS=all` breaks all of them.
#[test]
fn breaking_a_text_is_noticed_where_the_instruction_is_named() {
    let every = if std::env::var("WITNESS").as_deref() == Ok("all") { 1 } else { 16 };
    valhall::mutants::check(&mut valhall::Valhall::new(), every);
}

/// Compares every 16th case, and every fourth of the VPU; `WITNESS=all` compares all of them.
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
