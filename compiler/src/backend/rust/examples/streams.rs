//! Examples for sets of streams.

use isaforge_core::explain::streams;
use isaforge_core::stream::Engine;
use isaforge_core::stream::listing::disassemble;
use isaforge_core::text::Line;

use super::common::{Crate, Examples, bytes, literal, telling};
use crate::backend::rust::stream::names;

/// An instruction with its text.
pub(super) struct Sample {
    opcode: usize,
    /// One of its fields, with the value.
    field: Option<(&'static str, u64)>,
    pub bytes: Vec<u8>,
    pub text: String,
}

/// Instructions whose text parses back to them, best examples first.
pub(super) fn samples(engine: Engine) -> impl Iterator<Item = Sample> {
    let count = engine.stream.sets.first().map_or(0, |set| set.count);
    let all = engine.stream.layouts.iter().take(count.into()).filter_map(|layout| {
        let found = engine.decode(engine.store(streams::example(engine, layout)).as_ref()).ok()?;
        let mut line = Line::new();
        engine.print(&found, &mut line);
        let bytes = engine.store(found.word).get(..usize::from(found.len))?.to_vec();
        let scope = engine.scope(&found);
        let mut fields = scope.layout.fields.iter().enumerate();
        let field = fields.find(|(_, field)| !field.name.is_empty());
        let field = field.map(|(index, field)| (field.name, scope.value(index as u8)));
        Some(((usize::from(scope.layout.opcode), field, bytes), line.as_str().to_owned()))
    });
    let own = all.filter(|((_, _, bytes), text)| {
        let read = engine.parse(text).ok().map(|read| read.decoded);
        let read =
            read.and_then(|read| Some(engine.store(read.word).get(..usize::from(read.len))? == bytes.as_slice()));
        read == Some(true)
    });
    let sample = |((opcode, field, bytes), text)| Sample { opcode, field, bytes, text };
    telling(own).into_iter().map(sample)
}

pub(super) fn front(engine: Engine, of: Crate) -> Option<String> {
    let Sample { opcode, bytes: own, text, field } = samples(engine).next()?;
    let variant = &names(engine.stream)[opcode];
    let mut listing = String::new();
    disassemble(engine, &own.repeat(2), &mut listing);
    let (own, text, listing) = (bytes(&own), literal(&text), literal(&listing));
    let (name, count) = (of.name, engine.stream.instructions.len());
    let built = field.map_or_else(String::new, |(field, value)| {
        let field = literal(field);
        format!(
            "// Build: the same instruction with another value of a field.\n\
             assert_eq!(instruction.with_field({field}, {value:#x}), Some(instruction));\n\n"
        )
    });
    Some(format!(
        "use {name}::{{Instruction, Kind, LAST_GENERATION, Opcode, decode}};\n\n\
         // Decode: bytes, an instruction and a line of assembly are three views of one thing.\n\
         let bytes = [{own}];\n\
         let instruction = decode(&bytes)?;\n\
         assert_eq!(instruction.to_string(), {text});\n\n\
         // Match: each instruction is a type of its own, with an accessor for every field.\n\
         let Kind::{variant}(found) = instruction.kind() else {{ unreachable!() }};\n\
         println!(\"{{found:?}}\");\n\n\
         {built}\
         // Assemble.\n\
         assert_eq!({text}.parse::<Instruction>()?.bytes()[..bytes.len()], bytes);\n\n\
         // List: a program as text, and the instructions that there are.\n\
         use isaforge_core::stream::{{Engine, listing::disassemble}};\n\
         let (mut listing, engine) = (String::new(), Engine {{ stream: {name}::ISA, generation: LAST_GENERATION }});\n\
         disassemble(engine, &[bytes, bytes].concat(), &mut listing);\n\
         assert_eq!(listing, {listing});\n\
         assert_eq!(Opcode::ALL.len(), {count});\n"
    ))
}

pub(super) fn examples(engine: Engine, of: Crate, out: &mut Examples) {
    let Some(Sample { opcode, field, bytes: all, text }) = samples(engine).next() else { return };
    let variant = &names(engine.stream)[opcode];
    let (name, own, text) = (of.name, bytes(&all), literal(&text));
    let (length, mnemonic) = (all.len(), literal(engine.stream.instructions[opcode].name));
    let decoded = format!("use {name}::decode;\n\nlet instruction = decode(&[{own}])?;\n");
    let uses = |items: &str| format!("use {name}::{{{items}}};\n\n");
    out.add("ISA", format!("use {name}::ISA;\n\nassert_eq!(ISA.instructions[{opcode}].name, {mnemonic});\n"));
    out.add("Opcode", format!("use {name}::Opcode;\n\nassert_eq!(Opcode::ALL[{opcode}], Opcode::{variant});\n"));
    out.add("Opcode::info", format!("use {name}::Opcode;\n\nassert_eq!(Opcode::{variant}.info().name, {mnemonic});\n"));
    out.add("decode", format!("{decoded}assert_eq!(instruction.to_string(), {text});\n"));
    out.add(
        "decode_in",
        format!(
            "{}let instruction = decode_in(LAST_GENERATION, &[{own}])?;\nassert_eq!(instruction, decode(&[{own}])?);\n",
            uses("LAST_GENERATION, decode, decode_in")
        ),
    );
    out.add(
        "parse",
        format!(
            "{}assert_eq!(parse(LAST_GENERATION, {text})?.bytes()[..{length}], [{own}]);\n",
            uses("LAST_GENERATION, parse")
        ),
    );
    out.add(
        "stream",
        format!(
            "use {name}::stream;\n\n\
             let bytes = [{own}];\n\
             for (at, instruction) in stream(&[bytes, bytes].concat()) {{\n    \
                 println!(\"{{at}}: {{}}\", instruction?);\n\
             }}\n"
        ),
    );
    out.add(
        "Instruction",
        format!(
            "{}let instruction: Instruction = {text}.parse()?;\n\
             match instruction.kind() {{\n    \
                 Kind::{variant}(found) => assert_eq!(found.instruction(), instruction),\n    \
                 other => println!(\"{{other:?}}\"),\n\
             }}\n",
            uses("Instruction, Kind")
        ),
    );
    out.add(
        "Kind",
        format!("{}assert!(matches!(decode(&[{own}])?.kind(), Kind::{variant}(_)));\n", uses("Kind, decode")),
    );
    out.add(
        "Instruction::opcode",
        format!("{}assert_eq!(decode(&[{own}])?.opcode(), Opcode::{variant});\n", uses("Opcode, decode")),
    );
    out.add(
        "Instruction::generation",
        format!("{}assert_eq!(decode(&[{own}])?.generation(), LAST_GENERATION);\n", uses("LAST_GENERATION, decode")),
    );
    out.add("Instruction::len", format!("{decoded}assert_eq!(instruction.len(), {length});\n"));
    out.add("Instruction::bytes", format!("{decoded}assert_eq!(instruction.bytes()[..{length}], [{own}]);\n"));
    let (known, other) = match field {
        Some((field, value)) => (
            format!("assert_eq!(instruction.field({}), Some({value:#x}));\n", literal(field)),
            format!("assert_eq!(instruction.with_field({}, {value:#x}), Some(instruction));\n", literal(field)),
        ),
        None => (String::new(), String::new()),
    };
    out.add("Instruction::field", format!("{decoded}{known}assert_eq!(instruction.field(\"no such field\"), None);\n"));
    out.add(
        "Instruction::with_field",
        format!("{decoded}{other}assert_eq!(instruction.with_field(\"no such field\", 0), None);\n"),
    );
    for method in ["reads", "writes"] {
        out.add(
            format!("Instruction::{method}"),
            format!("{decoded}instruction.{method}(&mut |register| println!(\"{{register:?}}\"));\n"),
        );
    }
    out.add("Instruction::annotate", format!("{decoded}instruction.annotate(&mut |note| println!(\"{{note:?}}\"));\n"));
    out.add(
        "Instruction::kind",
        format!("{}assert!(matches!(decode(&[{own}])?.kind(), Kind::{variant}(_)));\n", uses("Kind, decode")),
    );
    out.add(
        format!("{variant}::instruction"),
        format!(
            "{}let Kind::{variant}(found) = decode(&[{own}])?.kind() else {{ unreachable!() }};\n\
             assert_eq!(found.instruction(), decode(&[{own}])?);\n",
            uses("Kind, decode")
        ),
    );
}
