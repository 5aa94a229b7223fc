//! Examples for the meaning of instructions and for the machine.

use isaforge_core::Tables;
use isaforge_core::machine::{Encoding, Hardware, Machine, Register};
use isaforge_core::semantics::Semantics;

use super::common::{Crate, Examples, bytes, hidden, literal};
use super::{groups, streams, words};
use crate::backend::rust::intrinsics::refusing;

/// An instruction that a machine without an environment can execute: its bytes and its text.
fn runs(tables: Tables, semantics: &'static Semantics, hardware: &'static Hardware) -> Option<(Vec<u8>, String)> {
    let does = |encoding: Encoding, bytes: &[u8]| {
        let mut machine = Machine::<64>::new(encoding, semantics, hardware);
        machine.boot(bytes).is_ok() && machine.step(&mut ()).is_ok()
    };
    match tables {
        Tables::Words(isa) => words::samples(isa).into_iter().find_map(|sample| {
            let bytes = sample.word.to_le_bytes().get(..usize::from(isa.word_bits / 8))?.to_vec();
            does(isa.into(), &bytes).then_some((bytes, sample.text))
        }),
        Tables::Streams(engine) => {
            let found = streams::samples(engine).find(|sample| does(engine.into(), &sample.bytes));
            found.map(|sample| (sample.bytes, sample.text))
        }
        Tables::Groups(isa) => {
            let mut samples = groups::samples(isa).into_iter().map(|(group, text)| (group.as_bytes().to_vec(), text));
            samples.find(|(bytes, _)| does(isa.into(), bytes))
        }
    }
}

/// Executes an instruction, if there is a machine and an instruction that it can execute.
fn execution(of: Crate) -> Option<String> {
    let (semantics, Some(hardware)) = of.meaning? else { return None };
    let ((own, line), name) = (runs(of.tables, semantics, hardware)?, of.name);
    let register = hardware.banks.iter().enumerate().find_map(|(bank, known)| {
        let index = (0..known.count).find(|index| known.zero != Some(*index))?;
        let name = hardware.name(Register { bank: bank as u16, index }).to_string();
        hardware.register(&name)?;
        Some(literal(&name))
    })?;
    let own = bytes(&own);
    Some(format!(
        "use {name}::Machine;\n\n\
         // Execute: {line}\n\
         let mut machine = Machine::new();\n\
         machine.boot(&[{own}])?;\n\
         let register = machine.register({register}).unwrap();\n\
         machine.write(register, 0, 1).unwrap();\n\
         machine.step(&mut ())?;\n\
         assert_eq!(machine.executed(), 1);\n\
         println!(\"{{:?}} is what the register holds now\", machine.read(register, 0));\n"
    ))
}

pub(super) fn front(of: Crate) -> Option<String> {
    execution(of).or_else(|| operation(of))
}

/// Shows the text of an operation.
fn operation(of: Crate) -> Option<String> {
    let (semantics, _) = of.meaning?;
    let (index, operation) =
        semantics.operations.iter().enumerate().find(|(_, operation)| !operation.text.is_empty())?;
    let (name, count) = (of.name, operation.nodes.len());
    Some(format!(
        "use {name}::semantics::SEMANTICS;\n\n\
         let operation = &SEMANTICS.operations[{index}];\n\
         println!(\"{{}}\", operation.text);\n\
         assert_eq!(operation.nodes.len(), {count});\n"
    ))
}

pub(super) fn examples(of: Crate, out: &mut Examples) {
    if let Some(code) = operation(of) {
        out.add("SEMANTICS", code);
    }
    if let Some(code) = execution(of) {
        out.add("Machine", code);
    }
    let name = of.name;
    if let Some((_, Some(hardware))) = of.meaning {
        let (lanes, banks) = (hardware.lanes, hardware.banks.len());
        out.add(
            "HARDWARE",
            format!(
                "use {name}::semantics::HARDWARE;\n\nassert_eq!((HARDWARE.lanes, HARDWARE.banks.len()), ({lanes}, {banks}));\n"
            ),
        );
    }
    let Some(first) = of.library.and_then(|library| library.intrinsics.first()) else { return };
    let Some(library) = of.library else { return };
    let (intrinsic, mut methods) = (literal(&first.name), refusing(library));
    let method = methods.next().unwrap_or_default();
    let others: String = methods.map(|method| format!("#     {method}\n")).collect();
    let machine = format!(
        "use {name}::semantics::{{Intrinsics, SEMANTICS, call}};\n\n\
         struct Refusing;\n\n\
         impl<const L: usize> Intrinsics<L> for Refusing {{\n    \
             type Fault = &'static str;\n    \
             {method}\n\
             {others}}}\n"
    );
    let calls = format!(
        "let number = SEMANTICS.intrinsics.iter().position(|known| known.name == {intrinsic}).unwrap();\n\
         assert_eq!(call::<1, _>(&mut Refusing, number as u16, &[], 1), Err({intrinsic}));\n"
    );
    out.add("Intrinsics", format!("// Each method refuses with the intrinsic's name.\n{machine}\n{calls}"));
    out.add("call", format!("{}{calls}", hidden(&machine)));
}
