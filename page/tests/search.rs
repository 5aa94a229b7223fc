//! Tests of the search results.

mod sets;

use serde_json::Value;

#[test]
fn what_users_type_is_among_the_first_three_hits() {
    let mut pages: Vec<_> = sets::subjects().iter().map(|(name, subject)| (*name, sets::page(subject))).collect();
    let (mut count, mut missed) = (0, Vec::new());
    for line in include_str!("queries.tsv").lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [set, query, wanted] = columns.as_slice() else { panic!("three columns: {line}") };
        let (_, page) = pages.iter_mut().find(|(name, _)| name == set).expect("a set");
        let hits: Value = serde_json::from_str(&page.answer(&format!("search\n{query}"))).expect("JSON");
        let names: Vec<&str> =
            hits.as_array().expect("a list").iter().filter_map(|hit| hit["name"].as_str()).take(3).collect();
        count += 1;
        if !names.iter().any(|name| name.starts_with(wanted)) {
            missed.push(format!("{set}: `{query}` should find {wanted}, finds {names:?}"));
        }
    }
    assert!(count >= 60, "{count} queries");
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn an_instruction_is_found_by_its_code_and_by_its_text() {
    let subjects = sets::subjects();
    let mut page = sets::page(&subjects[0].1);
    let found: Value = serde_json::from_str(&page.answer("program\nFADD.f32 r0, r1, r2")).expect("JSON");
    let code = found["rows"][0]["code"].as_str().expect("a code").to_owned();
    for query in [code.clone(), format!("0x{code}"), "FADD.f32 r0, r1, r2".to_owned()] {
        let hits: Value = serde_json::from_str(&page.answer(&format!("search\n{query}"))).expect("JSON");
        assert_eq!(hits[0]["kind"], "decode", "{query}");
        assert_eq!(hits[0]["page"], format!("decoder.html#{code}"), "{query}");
    }
}

#[test]
fn any_text_gives_an_answer() {
    for (_, subject) in sets::subjects() {
        let mut page = sets::page(&subject);
        for request in
            ["", "search", "search\n\u{0}\t", "program\n0x", "explain\nzz", "set\n\n\n", "step\n-1", "start\nxyz", "🦀"]
        {
            let answer = page.answer(request);
            assert!(serde_json::from_str::<Value>(&answer).is_ok(), "{request:?}: {answer}");
        }
    }
}

#[test]
fn a_typing_mistake_is_forgiven_where_nothing_else_is_found() {
    let subjects = sets::subjects();
    let mut page = sets::page(&subjects[0].1);
    for (query, wanted) in [("BRNACHZ", "BRANCHZ"), ("IAAD_IMM", "IADD_IMM"), ("brunchz", "BRANCHZ")] {
        let hits: Value = serde_json::from_str(&page.answer(&format!("search\n{query}"))).expect("JSON");
        assert!(hits[0]["name"].as_str().is_some_and(|name| name.starts_with(wanted)), "{query}: {hits}");
    }
    assert_eq!(page.answer("search\nqqqqqqqq"), "[]");
}
