//! Tests of the decoder and of execution in the pages, for example sets and built-in ones.

use std::path::Path;

use isaforge_compiler::backend::manual::facts::Book;
use isaforge_compiler::backend::manual::{Subject, engine, manual, search};
use isaforge_compiler::{Settings, check_spec};
use isaforge_page::Page;
use serde_json::Value;

fn subject(example: &str) -> Subject {
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(example).join("isa.yaml");
    let isa = check_spec(&Settings::new(spec)).expect("the example has no mistakes").isa;
    Subject {
        tables: isaforge_compiler::lower::lower(&isa).tables(),
        semantics: isa.semantics.as_ref().map(isaforge_compiler::semantics::lower),
        hardware: isaforge_compiler::machine::lower(&isa),
        since: None,
    }
}

fn page(subject: &Subject) -> Page {
    Page::new(&engine::data(subject, &search::records(&Book::new(subject)))).expect("the bytes are a manual's data")
}

fn ask(page: &mut Page, command: &str, about: &str) -> Value {
    serde_json::from_str(&page.answer(&format!("{command}\n{about}"))).expect("JSON")
}

fn code(page: &mut Page, text: &str) -> String {
    let found = ask(page, "program", text);
    let rows = found["rows"].as_array().unwrap_or_else(|| panic!("{found}"));
    rows.iter().filter_map(|row| row["code"].as_str()).collect::<Vec<_>>().join("\n")
}

fn value(state: &Value, register: &str) -> Option<String> {
    let found = state["registers"].as_array()?.iter().find(|it| it["name"] == register)?;
    Some(found["values"][0].as_str()?.to_owned())
}

#[test]
fn a_program_runs_forwards_and_back() {
    let subject = subject("riscv");
    let mut page = page(&subject);
    let code = code(&mut page, "addi x5, x0, 7\naddi x6, x5, 1\naddi x5, x6, 4\n");
    let start = ask(&mut page, "start", &code);
    assert_eq!((&start["steps"], &start["error"]), (&Value::from(0), &Value::Null), "{start}");
    let first = ask(&mut page, "step", "1");
    let names = |state: &Value| -> Vec<String> {
        let all = state["registers"].as_array().expect("registers").iter();
        all.filter_map(|it| it["name"].as_str().map(str::to_owned)).collect()
    };
    let five = names(&first).into_iter().next().expect("a register was written");
    assert_eq!(value(&first, &five).as_deref(), Some("7"), "{first}");
    let last = ask(&mut page, "step", "2");
    assert_eq!(value(&last, &five).as_deref(), Some("c"), "{last}");
    assert_eq!(last["pc"], 12, "{last}");
    let back = ask(&mut page, "back", "1");
    assert_eq!((value(&back, &five).as_deref(), &back["steps"]), (Some("7"), &Value::from(2)), "{back}");
    // There is no instruction past the end; stepping there is harmless.
    let end = ask(&mut page, "step", "1000");
    assert_ne!(end["ended"], "", "{end}");
}

#[test]
fn programs_of_a_stream_are_decoded_with_their_targets() {
    let subject = subject("riscv");
    let mut page = page(&subject);
    let found = ask(&mut page, "program", "start: addi x5, x5, -1\nbne x5, x0, start\n");
    assert_eq!(found["rows"][1]["target"], 0, "{found}");
    let code = found["rows"][0]["code"].as_str().expect("a code").to_owned();
    let again = ask(&mut page, "program", &code);
    assert_eq!(again["rows"][0]["text"], found["rows"][0]["text"]);
    let explained = ask(&mut page, "explain", &code);
    assert!(explained["parts"][0]["fields"].as_array().is_some_and(|fields| fields.len() > 3), "{explained}");
    assert!(explained["does"].as_str().is_some_and(|text| !text.is_empty()), "{explained}");
}

#[test]
fn a_specification_of_its_own_gets_a_whole_manual() {
    for example in ["riscv", "lanes"] {
        let files = manual(&subject(example));
        assert!(files.contains_key("opcodes.html") && files.contains_key("registers.html"), "{example}");
        let bare: Vec<&String> = files
            .iter()
            .filter(|(path, page)| path.starts_with("i/") && !page.contains("class=\"bits\""))
            .map(|(path, _)| path)
            .collect();
        assert!(bare.is_empty(), "{example}: no diagram on {bare:?}");
    }
}

mod sets;

#[test]
fn programs_of_valhall_run_lane_by_lane() {
    let subjects = sets::subjects();
    let mut page = sets::page(&subjects[0].1);
    let code =
        code(&mut page, "loop: IADD_IMM.i32 r1, r1, #0x1\nISUB.s32 r2, r1, lane_id\nBRANCHZ r2, loop\nNOP.end\n");
    let start = ask(&mut page, "start", &code);
    assert_eq!(start["error"], Value::Null, "{start}");
    let lanes = |state: &Value, register: &str| -> Vec<String> {
        let all = state["registers"].as_array().expect("registers").iter();
        let found = all.filter(|it| it["name"] == register).flat_map(|it| it["values"].as_array().unwrap());
        found.take(4).filter_map(|value| value.as_str().map(str::to_owned)).collect()
    };
    let first = ask(&mut page, "step", "2");
    assert_eq!(lanes(&first, "r1"), ["1", "1", "1", "1"], "{first}");
    assert_eq!(lanes(&first, "r2"), ["1", "0", "ffffffff", "fffffffe"], "{first}");
    let second = ask(&mut page, "step", "1");
    // Lane 1 is done and waits after the loop.
    assert_eq!(second["pc"], 0, "{second}");
    let third = ask(&mut page, "step", "1");
    assert_eq!(lanes(&third, "r1"), ["2", "1", "2", "2"], "{third}");
}

#[test]
fn a_thread_ends_as_its_revision_says_it() {
    for (set, text) in [("valhall", "NOP.end\nNOP\n"), ("valhall-2021", "NOP.return\nNOP\n")] {
        let subjects = sets::subjects();
        let (_, subject) = subjects.iter().find(|(name, _)| *name == set).expect("one of them");
        let mut page = sets::page(subject);
        let code = code(&mut page, text);
        ask(&mut page, "start", &code);
        let state = ask(&mut page, "step", "100");
        assert_eq!(
            (&state["ended"], &state["steps"]),
            (&Value::from("the program has ended"), &Value::from(1)),
            "{set}: {state}"
        );
    }
}

#[test]
fn programs_of_the_vpu_run_with_threads_masked() {
    let subjects = sets::subjects();
    let (_, vpu) = subjects.iter().find(|(name, _)| *name == "vpu").expect("one of them");
    let mut page = sets::page(vpu);
    let text = "LoadPosition.zero r0.x___\nBranch.x 3\nAddInt16 r1.x___, r0.xxxx, r0.xxxx\nSync\n\
                AddInt16 s0.x___, r0.xxxx, r0.xxxx\nThreadGroupAllocate\n";
    // The flag for zero is set in thread 0, which continues; the others wait for `Sync`.
    let start = {
        let code = code(&mut page, text);
        ask(&mut page, "start", &code)
    };
    assert_eq!((&start["error"], &start["idle"]), (&Value::Null, &serde_json::json!(["", "", "", ""])), "{start}");
    let find = |state: &Value, name: &str| {
        let found = state["registers"].as_array().expect("registers").iter().find(|it| it["name"] == name)?;
        Some((found["values"].clone(), found["changed"].clone()))
    };
    let changed = |values: &[&str]| Some((serde_json::json!(values), Value::from(true)));
    let state = ask(&mut page, "step", "1");
    assert_eq!(find(&state, "r0"), changed(&["0", "1", "2", "3"]), "{state}");
    assert_eq!(find(&state, "flag"), changed(&["1", "0", "0", "0"]), "{state}");
    let state = ask(&mut page, "step", "1");
    assert_eq!(
        (&state["pc"], &state["idle"]),
        (&Value::from(24), &serde_json::json!(["", "masked", "masked", "masked"]))
    );
    // The four threads share the register, and the highest one wins.
    let state = ask(&mut page, "step", "2");
    assert_eq!(find(&state, "s0"), changed(&["6"]), "{state}");
    let state = ask(&mut page, "step", "1");
    assert!(state["ended"].as_str().is_some_and(|why| why.contains("only one program runs here")), "{state}");
    let back = ask(&mut page, "back", "3");
    assert_eq!(back["idle"][1], "masked", "{back}");
}

#[test]
fn groups_run_with_instances_that_stay_together() {
    let subjects = sets::subjects();
    let (_, usc) = subjects.iter().find(|(name, _)| *name == "usc").expect("one of them");
    let mut page = sets::page(usc);
    let text = "0 : mbyp ft0, sr51\n    mov r1, ft0\n1 : unpck.u32 ft0, r1.e0\n    mov r2, ft0\n2 : fexp r3, r2\n\
                3 : (ignorepe)\n    cndst 0, r20, c0, 1\nstep:\n4 : umadd32 ft0, r0, c1, c1, _\n\
                tstl.u32 ftt, p0, ft0, r1\n    mov r0, ft0\n5 : (ignorepe)\n    cndlt 1, r20, p0, r20, 1\n\
                6 : if(p0)\n    br step\n7 : st.writeback r0, 2, drc0, 1, r4\n";
    let start = {
        let code = code(&mut page, text);
        ask(&mut page, "start", &code)
    };
    assert_eq!(start["error"], Value::Null, "{start}");
    let find = |state: &Value, name: &str| {
        let found = state["registers"].as_array().expect("registers").iter().find(|it| it["name"] == name);
        found.and_then(|found| found["values"].as_array()).map(|values| serde_json::json!(values[..4]))
    };
    // Each instance knows its index; a function computes two to its power.
    let state = ask(&mut page, "step", "3");
    assert_eq!(find(&state, "r1"), Some(serde_json::json!(["0", "1", "2", "3"])), "{state}");
    assert_eq!(
        find(&state, "r3"),
        Some(serde_json::json!(["3f800000", "40000000", "40800000", "41000000"])),
        "{state}"
    );
    // Instances that have left the loop wait for the last one.
    let state = ask(&mut page, "step", "5");
    assert_eq!(find(&state, "pe"), Some(serde_json::json!(["0", "0", "1", "1"])), "{state}");
    let state = ask(&mut page, "step", "3");
    assert_eq!(find(&state, "pe"), Some(serde_json::json!(["0", "0", "0", "1"])), "{state}");
    let back = ask(&mut page, "back", "3");
    assert_eq!(find(&back, "pe"), Some(serde_json::json!(["0", "0", "1", "1"])), "{back}");
    assert!(find(&back, "ft0").is_none() && find(&back, "c1").is_none(), "{back}");
}

#[test]
fn the_data_path_of_a_group_is_drawn() {
    let subjects = sets::subjects();
    let (_, usc) = subjects.iter().find(|(name, _)| *name == "usc").expect("one of them");
    let mut page = sets::page(usc);
    let code = code(&mut page, "fmad ft0, sh5, i3, sh9 | mov r0, ft0");
    let found = ask(&mut page, "explain", &code);
    let picture = found["picture"].as_str().expect("a picture");
    for part in ["S0: sh5", "S1: i3", "S2: sh9", "p0: FMAD", "W0: r0", ">ft0<"] {
        assert!(picture.contains(part), "{part} in {picture}");
    }
    // Three sources lead to the phase, and its result leads on; there are no other links.
    assert_eq!(picture.matches("class=\"head\"").count(), 4, "{picture}");
}

#[test]
fn all_lanes_of_the_hardware_run() {
    let subjects = sets::subjects();
    for (set, text) in
        [("valhall", "IADD_IMM.i32 r1, r1, #0x1\nNOP.end\n"), ("usc", "0 : mbyp ft0, sr51\n    mov r1, ft0\n")]
    {
        let (_, subject) = subjects.iter().find(|(name, _)| *name == set).expect("one of them");
        let lanes = usize::from(subject.hardware.expect("a machine").lanes);
        assert!(lanes > 4, "{set}");
        let mut page = sets::page(subject);
        let code = code(&mut page, text);
        ask(&mut page, "start", &code);
        let state = ask(&mut page, "step", "1");
        let found = state["registers"].as_array().expect("registers").iter().find(|it| it["name"] == "r1");
        assert_eq!(found.and_then(|it| it["values"].as_array()).map(Vec::len), Some(lanes), "{set}: {state}");
    }
}

#[test]
fn a_run_that_reaches_the_limit_says_so() {
    let subject = subject("riscv");
    let mut page = page(&subject);
    let code = code(&mut page, "start: jal x0, start\n");
    ask(&mut page, "start", &code);
    assert_eq!(ask(&mut page, "step", "10")["limit"], "");
    let state = ask(&mut page, "step", "100000");
    assert_eq!(state["limit"], "stopped at the limit of 100000 instructions", "{state}");
}
