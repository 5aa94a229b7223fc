use crate::support::{ask, made, project, shaders};

/// The physical plan of a query.
fn plan(lake: &str, sql: &str) -> String {
    let rows = ask(lake, &format!("EXPLAIN {sql}"));
    rows.into_iter().find(|row| row[0] == "physical_plan").expect("there is a plan")[1].clone()
}

#[test]
fn only_columns_that_are_asked_for_are_computed() {
    let plan = plan(shaders(), "SELECT opcode, count(*) FROM instructions GROUP BY opcode");
    assert!(plan.contains("InstructionsExec: columns=[opcode]\n"), "{plan}");
    assert!(plan.contains("projection=[isa, code]"), "{plan}");
    let plan = self::plan(shaders(), "SELECT count(*) FROM instructions");
    assert!(plan.contains("InstructionsExec: columns=[]"), "{plan}");
}

#[test]
fn a_filter_on_forms_is_evaluated_over_the_forms() {
    let plan = plan(shaders(), "SELECT pc FROM instructions WHERE mnemonic LIKE 'FMA%'");
    assert!(plan.contains("InstructionsExec: columns=[pc], forms: "), "{plan}");
    assert!(plan.contains(" of 238 of valhall)"), "{plan}");
    assert!(!plan.contains("FilterExec"), "{plan}");
}

#[test]
fn a_filter_on_programs_reaches_their_files() {
    let plan = plan(shaders(), "SELECT text FROM instructions WHERE program = 'x' AND mnemonic = 'MOV.i32' AND pc > 8");
    let (above, below) = plan.split_once("InstructionsExec").expect("it is there");
    assert!(above.contains("FilterExec: pc@"), "{plan}");
    assert!(below.contains("forms: mnemonic@1 = MOV.i32 (1 of 238 of valhall)"), "{plan}");
    assert!(below.contains("predicate=name@0 = x") || below.contains("FilterExec: name@"), "{plan}");
    assert!(!above.contains("MOV.i32"), "{plan}");
}

#[test]
fn a_limit_reaches_the_instructions() {
    let plan = plan(shaders(), "SELECT text FROM instructions LIMIT 7");
    assert!(plan.contains("limit=7"), "{plan}");
}

#[test]
fn filters_on_the_names_of_groups_are_evaluated_on_groups() {
    let (_folder, lake) = made("usc", &[&project("compiler/tests/data/usc/programs.tsv")]);
    let plan = plan(&lake, "SELECT pc FROM instructions WHERE mnemonic = 'x'");
    assert!(plan.contains("FilterExec: mnemonic@"), "{plan}");
}
