//! What the macro says. `fail` holds a crate for each mistake with the message it must give beside it, and `pass` crates that
//! must run. `TRYBUILD=overwrite cargo test -p isaforge-ui-tests` writes the messages anew, for the diff to show.

#[test]
fn specifications_with_mistakes_get_an_answer() {
    trybuild::TestCases::new().compile_fail("fail/*.rs");
}

#[test]
fn unusual_specifications_compile_and_run() {
    trybuild::TestCases::new().pass("pass/*.rs");
}

#[test]
fn no_message_depends_on_the_machine() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fail");
    let files = std::fs::read_dir(folder).expect("the folder is part of the repository");
    let messages: Vec<_> = files
        .flatten()
        .map(|file| file.path())
        .filter(|file| file.extension().is_some_and(|e| e == "stderr"))
        .collect();
    assert!(messages.len() >= 12, "only {} messages", messages.len());
    for path in messages {
        let text = std::fs::read_to_string(&path).expect("it is text");
        for machine in [env!("CARGO_MANIFEST_DIR"), "/target/", "/tmp/", "/home/", "C:\\"] {
            assert!(!text.contains(machine), "{} contains `{machine}`:\n{text}", path.display());
        }
    }
}
