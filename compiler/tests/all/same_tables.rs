//! Prose has no effect: a document with other descriptions compiles to the same tables.

use std::path::Path;

use isaforge_compiler::backend::rust::{Options, emit};
use isaforge_compiler::lower::lower;
use isaforge_compiler::model::Isa;
use isaforge_compiler::{Settings, check_spec};

/// The generated code of a specification without its prose.
fn code(spec: &Path) -> String {
    let mut isa = match check_spec(&Settings::new(spec)) {
        Ok(checked) => checked.isa,
        Err(failure) => panic!("{failure}"),
    };
    without_prose(&mut isa);
    emit(&lower(&isa), &Options::default()).to_string()
}

fn without_prose(isa: &mut Isa) {
    isa.enums.iter_mut().for_each(|e| {
        e.doc.clear();
        e.values.iter_mut().for_each(|v| v.doc.clear());
    });
    isa.constants.iter_mut().for_each(|c| {
        c.doc.clear();
        c.values.iter_mut().for_each(|v| v.1.clear());
    });
    for form in &mut isa.forms {
        for text in [&mut form.title, &mut form.doc, &mut form.note, &mut form.source] {
            text.clear();
        }
        form.operands.iter_mut().for_each(|o| o.doc.clear());
        form.modifiers.iter_mut().for_each(|m| m.doc.clear());
    }
}

#[test]
fn other_words_in_the_document_change_no_table() {
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/valhall");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let xml = std::fs::read_to_string(specs.join("isa.xml")).expect("isa.xml is part of the repository");
    // Every description is replaced by one of another length, so lines move too.
    let changed =
        xml.replace("<desc>", "<desc>\n\n Something else entirely.\n ").replace(" desc=\"", " desc=\"Or not: ");
    assert_ne!(xml, changed);
    std::fs::write(folder.path().join("isa.xml"), changed).expect("the folder is writable");
    std::fs::copy(specs.join("isa.yaml"), folder.path().join("isa.yaml")).expect("the folder is writable");
    std::fs::create_dir(folder.path().join("semantics")).expect("the folder is writable");
    for file in std::fs::read_dir(specs.join("semantics")).expect("the graphs are part of the repository") {
        let file = file.expect("the folder can be listed");
        std::fs::copy(file.path(), folder.path().join("semantics").join(file.file_name()))
            .expect("the folder is writable");
    }
    assert!(code(&specs.join("isa.yaml")) == code(&folder.path().join("isa.yaml")));
}
