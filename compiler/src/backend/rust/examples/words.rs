//! Examples for sets of words.

use std::collections::BTreeSet;

use isaforge_core::bits::{ones, sign_extend};
use isaforge_core::decode::{alternative_of, decode, list_len};
use isaforge_core::explain::words;
use isaforge_core::print::{Style, print};
use isaforge_core::program::disassemble;
use isaforge_core::table::{Alternative, Form, Isa, Operand, Shape, Type, Value};
use isaforge_core::text::Line;

use super::common::{Crate, Examples, hidden, literal, telling, tidy};
use crate::backend::rust::forms::{Field, Part, fields};
use crate::backend::rust::instructions::methods;
use crate::backend::rust::options::SemanticsStyle;
use crate::backend::rust::types::{Names, distinct, field_names, plain, variants};

/// A word of an instruction, with its text.
pub(super) struct Sample {
    pub opcode: u16,
    pub word: u64,
    pub text: String,
}

/// Words whose text parses back to them, best examples first.
pub(super) fn samples(isa: &'static Isa) -> Vec<Sample> {
    let all = (0..isa.forms.len() as u16).map(|opcode| {
        let (word, mut line) = (words::example(isa, opcode), Line::new());
        print(isa, opcode, word, Style::Customary, &mut line);
        ((opcode, word), line.as_str().to_owned())
    });
    let own = all.filter(|((opcode, word), text)| isaforge_core::parse::parse(isa, text) == Ok((*opcode, *word)));
    telling(own).into_iter().map(|((opcode, word), text)| Sample { opcode, word, text }).collect()
}

/// The strings that examples are assembled from.
struct Written {
    /// The name of the crate.
    name: String,
    variant: String,
    mnemonic: String,
    word: String,
    text: String,
    /// Code that builds the instruction: the types it uses, and a statement that may use `?`.
    built: (BTreeSet<String>, String),
}

fn written(isa: &'static Isa, of: Crate, sample: &Sample) -> Written {
    let names = Names::new(isa);
    Written {
        name: of.name.to_owned(),
        variant: names.forms[usize::from(sample.opcode)].to_string(),
        mnemonic: literal(isa.forms[usize::from(sample.opcode)].name.str),
        word: format!("{:#x}", sample.word),
        text: literal(&sample.text),
        built: built(isa, &names, sample),
    }
}

/// A `use` declaration for these items and types of the crate.
fn imports(name: &str, items: &[&str], types: &BTreeSet<String>) -> String {
    let mut all: BTreeSet<&str> = items.iter().copied().collect();
    all.extend(types.iter().map(String::as_str));
    tidy(&format!("use {name}::{{{}}};", all.into_iter().collect::<Vec<_>>().join(", ")))
}

pub(super) fn front(isa: &'static Isa, of: Crate) -> Option<String> {
    let sample = samples(isa).into_iter().next()?;
    let Written { name, variant, word, text, built: (types, built), .. } = written(isa, of, &sample);
    let count = isa.forms.len();
    let mut listing = String::new();
    disassemble(isa, &[sample.word, sample.word], Style::Customary, &mut listing).ok()?;
    let (listing, imports) =
        (literal(&listing), imports(&name, &["ISA", "Instruction", "Opcode", &variant, "decode"], &types));
    let opcode = sample.opcode;
    Some(format!(
        "{imports}\n\
         // Decode: a word, an instruction and a line of assembly are three views of one thing.\n\
         let instruction = decode({word})?;\n\
         assert_eq!(instruction.to_string(), {text});\n\n\
         // Match: each instruction is a type of its own, with an accessor for every operand and modifier.\n\
         let Instruction::{variant}(found) = instruction else {{ unreachable!() }};\n\
         println!(\"{{found:?}}: {{}} registers read\", instruction.reads().count());\n\n\
         // Build.\n\
         {built}\
         assert_eq!(built, found);\n\
         assert_eq!(built.encode(), {word});\n\n\
         // Assemble.\n\
         assert_eq!({text}.parse::<Instruction>()?, instruction);\n\n\
         // List: a program as text, and the instructions that there are.\n\
         use isaforge_core::{{print::Style, program::disassemble}};\n\
         let mut listing = String::new();\n\
         disassemble(ISA, &[{word}, {word}], Style::Customary, &mut listing)?;\n\
         assert_eq!(listing, {listing});\n\
         assert_eq!((Opcode::ALL.len(), Opcode::ALL[{opcode}]), ({count}, Opcode::{variant}));\n"
    ))
}

pub(super) fn examples(isa: &'static Isa, of: Crate, out: &mut Examples) {
    let Some(sample) = samples(isa).into_iter().next() else { return };
    let w = written(isa, of, &sample);
    let Written { name, variant, mnemonic, word, text, built: (types, built) } = &w;
    let (opcode, own) = (sample.opcode, sample.word);
    let form = &isa.forms[usize::from(opcode)];
    out.add(
        "ISA",
        format!(
            "use {name}::ISA;\n\n\
             assert_eq!((ISA.name, ISA.word_bits, ISA.forms.len()), ({}, {}, {}));\n\
             for form in ISA.forms {{\n    println!(\"{{}}: {{}}\", form.name.str, form.title);\n}}\n",
            literal(isa.name),
            isa.word_bits,
            isa.forms.len()
        ),
    );
    out.add(
        "Opcode",
        format!(
            "use {name}::Opcode;\n\n\
             assert_eq!(Opcode::{variant} as u16, {opcode});\n\
             assert_eq!(Opcode::ALL[{opcode}], Opcode::{variant});\n\
             assert_eq!(Opcode::{variant}.to_string(), {mnemonic});\n"
        ),
    );
    out.add(
        "Opcode::mnemonic",
        format!("use {name}::Opcode;\n\nassert_eq!(Opcode::{variant}.mnemonic(), {mnemonic});\n"),
    );
    out.add(
        "Opcode::info",
        format!(
            "use {name}::Opcode;\n\n\
             let form = Opcode::{variant}.info();\n\
             assert_eq!((form.name.str, form.operands.len()), ({mnemonic}, {}));\n",
            form.operands.len()
        ),
    );
    out.add(
        "Opcode::from_mnemonic",
        format!(
            "use {name}::Opcode;\n\n\
             assert_eq!(Opcode::from_mnemonic({mnemonic}), Some(Opcode::{variant}));\n\
             assert_eq!(Opcode::from_mnemonic(\"no such instruction\"), None);\n"
        ),
    );
    out.add(
        "Instruction",
        format!(
            "use {name}::{{Instruction, decode}};\n\n\
             let instruction: Instruction = {text}.parse()?;\n\
             assert_eq!(instruction, decode({word})?);\n\
             match instruction {{\n    \
                 Instruction::{variant}(found) => assert_eq!(found.encode(), {word}),\n    \
                 other => println!(\"{{other}}\"),\n\
             }}\n\
             // The other text says everything, so that it always assembles to the same word.\n\
             assert_eq!(format!(\"{{instruction:#}}\").parse::<Instruction>()?, instruction);\n"
        ),
    );
    let decoded = format!("use {name}::decode;\n\nlet instruction = decode({word})?;\n");
    out.add("Instruction::encode", format!("{decoded}assert_eq!(instruction.encode(), {word});\n"));
    out.add(
        "Instruction::opcode",
        format!("use {name}::{{Opcode, decode}};\n\nassert_eq!(decode({word})?.opcode(), Opcode::{variant});\n"),
    );
    out.add("Instruction::info", format!("{decoded}assert_eq!(instruction.info().name.str, {mnemonic});\n"));
    for (method, write) in [("reads", false), ("writes", true)] {
        let uses: Vec<_> = isaforge_core::registers::registers(isa, opcode, own, write).collect();
        let first = uses.first().map_or_else(String::new, |first| {
            let bank = literal(isa.banks[usize::from(first.bank)].name);
            format!(
                "let first = registers[0];\n\
                 assert_eq!((ISA.banks[usize::from(first.bank)].name, first.first, first.count), ({bank}, {}, {}));\n",
                first.first, first.count
            )
        });
        let items = if first.is_empty() { "decode" } else { "{ISA, decode}" };
        out.add(
            format!("Instruction::{method}"),
            format!(
                "use {name}::{items};\n\n\
                 // {}\n\
                 let registers: Vec<_> = decode({word})?.{method}().collect();\n\
                 assert_eq!(registers.len(), {});\n{first}",
                sample.text,
                uses.len()
            ),
        );
    }
    let mut notes = 0;
    isaforge_core::annotate::annotate(isa, opcode, own, &mut |_| notes += 1);
    out.add(
        "Instruction::annotate",
        format!(
            "use {name}::decode;\n\n\
             let mut notes = Vec::new();\n\
             decode({word})?.annotate(|note| {{\n    \
                 notes.push(format!(\"{{}}..{{}} {{}}: {{}}\", note.high, note.low, note.name, note.text.as_str()));\n\
             }});\n\
             assert_eq!(notes.len(), {notes});\n"
        ),
    );
    out.add(
        "Instruction::print",
        format!(
            "use isaforge_core::text::Line;\nuse {name}::decode;\n\n\
             let mut line = Line::new();\n\
             decode({word})?.print(&mut line);\n\
             assert_eq!(line.as_str(), {text});\n"
        ),
    );
    let wrong = wrong(isa);
    let refused = wrong.as_ref().map_or_else(String::new, |(word, error)| {
        format!(
            "\n// Other words are errors that say why.\nassert_eq!(decode({word:#x}).unwrap_err().to_string(), {});\n",
            literal(error)
        )
    });
    out.add("decode", format!("{decoded}assert_eq!(instruction.to_string(), {text});\n{refused}"));
    let (list, good) = match &wrong {
        Some((other, _)) => (format!("{word}, {other:#x}, {word}"), 2),
        None => (format!("{word}, {word}"), 2),
    };
    out.add(
        "decode_all",
        format!(
            "use {name}::decode_all;\n\n\
             let mut good = 0;\n\
             decode_all(&[{list}], |index, found| match found {{\n    \
                 Ok(_) => good += 1,\n    \
                 Err(error) => println!(\"word {{index}}: {{error}}\"),\n\
             }});\n\
             assert_eq!(good, {good});\n"
        ),
    );
    types_of_fields(isa, &w, out);
    let changed = changed(isa, &Names::new(isa), form, own).map_or_else(String::new, |(field, value)| {
        let Field { getter, setter, .. } = field;
        format!("\n// The same with one thing changed.\nassert_eq!(built.{setter}({value}).{getter}(), {value});\n")
    });
    let (mut getters, mut all_types) = (String::new(), types.clone());
    for Field { getter, part, .. } in fields(form) {
        let Some((used, value)) = value_of(isa, &Names::new(isa), &part, own) else { continue };
        getters.push_str(&format!("assert_eq!(built.{getter}(), {value});\n"));
        all_types.extend(used);
    }
    out.add(
        variant,
        format!(
            "{}\n{built}{getters}{changed}\n\
             // As one of all instructions.\n\
             assert_eq!(Instruction::from(built).to_string(), {text});\n",
            imports(name, &["Instruction", variant], &all_types)
        ),
    );
    out.add(
        format!("{variant}::new"),
        format!("{}\n{built}assert_eq!(built.encode(), {word});\n", imports(name, &[variant], types)),
    );
    stubs(isa, of, &w, opcode, out);
}

/// A modifier of an instruction, with an expression for another value of it.
fn changed(isa: &Isa, names: &Names, form: &Form, word: u64) -> Option<(Field, String)> {
    fields(form).into_iter().find_map(|field| {
        let Part::Modifier(modifier, _) = &field.part else { return None };
        let (raw, width) = (modifier.bits.get(word, 0), modifier.bits.width());
        let value = match modifier.ty {
            Type::Flag => (raw == 0).to_string(),
            Type::Enum(index) => {
                let index = usize::from(index);
                let other = |value: &&Value| value.bits != raw && value.bits <= ones(width);
                let at = distinct(&isa.enums[index]).position(|value| other(&value))?;
                format!("{}::{}", names.enums[index], names.enum_values[index][at])
            }
            _ => return None,
        };
        Some((field, value))
    })
}

/// A word that does not decode, and the reason.
fn wrong(isa: &'static Isa) -> Option<(u64, String)> {
    let all = ones(isa.word_bits.into());
    [all, 0, all >> 1, 1].into_iter().find_map(|word| Some((word, decode(isa, word).err()?.to_string())))
}

/// The stubs: a machine that counts, and code that calls its methods.
fn stubs(isa: &'static Isa, of: Crate, w: &Written, opcode: u16, out: &mut Examples) {
    let (methods, names) = (methods(isa), Names::new(isa));
    let Written { name, variant, word, .. } = w;
    let method = &methods[usize::from(opcode)];
    let (output, done) = match of.style {
        SemanticsStyle::Default => ("Result<(), isaforge_core::Unimplemented>", "Ok(())"),
        SemanticsStyle::Required => ("()", "()"),
        SemanticsStyle::None => return,
    };
    let others: String = match of.style {
        SemanticsStyle::Required => (0..methods.len())
            .filter(|i| *i != usize::from(opcode))
            .map(|i| format!("#     fn {}(&mut self, _: {name}::{}) {{}}\n", methods[i], names.forms[i]))
            .collect(),
        _ => String::new(),
    };
    let machine = format!(
        "struct Counter(u32);\n\n\
         impl Semantics for Counter {{\n    \
             type Output = {output};\n\n    \
             fn {method}(&mut self, i: {variant}) -> Self::Output {{\n        \
                 println!(\"{{i:?}}\");\n        \
                 self.0 += 1;\n        \
                 {done}\n    \
             }}\n{others}}}\n"
    );
    let takes = format!("use {name}::{{Semantics, {variant}, decode, dispatch}};\n\n");
    let calls = format!(
        "let mut counter = Counter(0);\n\
         assert_eq!(dispatch(decode({word})?, &mut counter), {done});\n\
         assert_eq!(counter.0, 1);\n"
    );
    out.add("Semantics", format!("{takes}{machine}\n{calls}"));
    out.add("dispatch", format!("{}{calls}", hidden(&format!("{takes}{machine}"))));
}

/// Examples for one enum, one bank and one table of constants; the others work alike.
fn types_of_fields(isa: &'static Isa, w: &Written, out: &mut Examples) {
    let (names, krate) = (Names::new(isa), &w.name);
    let with_values = isa.enums.iter().position(|e| distinct(e).next().is_some());
    if let Some(index) = with_values {
        let (name, variant) = (&names.enums[index], &names.enum_values[index][0]);
        let Some(value) = distinct(&isa.enums[index]).next() else { return };
        out.add(
            name.to_string(),
            format!(
                "use {krate}::{name};\n\n\
                 assert_eq!({name}::from_bits({bits}), Some({name}::{variant}));\n\
                 assert_eq!({name}::{variant}.bits(), {bits});\n\
                 assert_eq!({name}::{variant}.as_str(), {text});\n\
                 assert_eq!({name}::ALL.len(), {count});\n",
                bits = value.bits,
                text = literal(value.text),
                count = names.enum_values[index].len()
            ),
        );
    }
    if let (Some(bank), Some(name)) = (isa.banks.first(), names.banks.first()) {
        let last = bank.count.saturating_sub(1);
        out.add(
            name.to_string(),
            format!(
                "use {krate}::{name};\n\n\
                 let last = {name}::new({last}).unwrap();\n\
                 assert_eq!((last.index(), {name}::COUNT), ({last}, {}));\n\
                 assert_eq!({name}::new({name}::COUNT), None);\n",
                bank.count
            ),
        );
    }
    if let (Some(table), Some(name)) = (isa.constants.first(), names.constants.first()) {
        let Some(first) = table.values.first() else { return };
        out.add(
            name.to_string(),
            format!(
                "use {krate}::{name};\n\n\
                 let first = {name}::new(0).unwrap();\n\
                 assert_eq!((first.index(), first.value(), {name}::COUNT), (0, {value:#x}, {count}));\n\
                 assert_eq!({name}::find({value:#x}), Some(first));\n\
                 assert_eq!({name}::new({name}::COUNT), None);\n",
                value = first.value,
                count = table.values.len()
            ),
        );
    }
}

/// A statement that builds the instruction of a word, and the types that it uses.
fn built(isa: &'static Isa, names: &Names, sample: &Sample) -> (BTreeSet<String>, String) {
    let form = &isa.forms[usize::from(sample.opcode)];
    let (mut types, mut arguments, mut setters) = (BTreeSet::new(), Vec::new(), String::new());
    for Field { setter, part, .. } in fields(form) {
        let Some((used, value)) = value_of(isa, names, &part, sample.word) else { continue };
        match part {
            Part::Modifier(modifier, _) if modifier.default == Some(modifier.bits.get(sample.word, 0)) => continue,
            Part::Modifier(modifier, _) if modifier.default.is_some() => {
                setters.push_str(&format!(".{setter}({value})"));
            }
            _ => arguments.push(value),
        }
        types.extend(used);
    }
    let variant = &names.forms[usize::from(sample.opcode)];
    (types, tidy(&format!("let built = {variant}::new({})?{setters};", arguments.join(", "))))
}

/// An expression for a part of a valid word, and the types that it uses.
fn value_of(isa: &'static Isa, names: &Names, part: &Part, word: u64) -> Option<(Vec<String>, String)> {
    let mut types = Vec::new();
    let value = match part {
        Part::Modifier(modifier, _) => {
            value(isa, names, modifier.ty, modifier.bits.get(word, 0), modifier.bits.width(), &mut types)
        }
        Part::Operand(_, operand) => operand_of(isa, names, operand, word, &mut types)?,
    };
    Some((types, value))
}

fn operand_of(
    isa: &'static Isa,
    names: &Names,
    operand: &'static Operand,
    word: u64,
    types: &mut Vec<String>,
) -> Option<String> {
    Some(match &operand.shape {
        Shape::Number { bits, ty, .. } => value(isa, names, *ty, bits.get(word, 0), bits.width(), types),
        Shape::List { kind, at, count, .. } => {
            let field = isa.kinds[usize::from(*kind)].alternatives.first()?.fields.first()?;
            types.push("RegisterList".to_owned());
            format!("RegisterList::new({}, {})", field.bits.get(word, *at), list_len(count, word))
        }
        Shape::One { kind, at } => {
            let known = &isa.kinds[usize::from(*kind)];
            if let Some(field) = plain(known) {
                return Some(value(isa, names, field.ty, field.bits.get(word, *at), field.bits.width(), types));
            }
            let found: &'static Alternative = alternative_of(isa, known.alternatives, *at, word)?;
            let index = known.alternatives.iter().position(|known| std::ptr::eq(known, found))?;
            let (name, variant) = (names.kinds[usize::from(*kind)].to_string(), &variants(known)[index]);
            let mut values = Vec::new();
            for field in found.fields {
                values.push(value(isa, names, field.ty, field.bits.get(word, *at), field.bits.width(), types));
            }
            types.push(name.clone());
            match &values[..] {
                [] => format!("{name}::{variant}"),
                [only] => format!("{name}::{variant}({only})"),
                _ => {
                    let fields = field_names(found);
                    let fields: Vec<String> =
                        fields.iter().zip(&values).map(|(field, value)| format!("{field}: {value}")).collect();
                    format!("{name}::{variant} {{ {} }}", fields.join(", "))
                }
            }
        }
    })
}

/// An expression for the value of a field.
fn value(isa: &Isa, names: &Names, ty: Type, raw: u64, width: u32, types: &mut Vec<String>) -> String {
    match ty {
        Type::Flag => (raw != 0).to_string(),
        Type::Decimal => raw.to_string(),
        Type::Hex => format!("{raw:#x}"),
        Type::Signed => sign_extend(raw, width).to_string(),
        Type::Enum(index) => {
            let index = usize::from(index);
            let at = distinct(&isa.enums[index]).position(|value| value.bits == raw).unwrap_or(0);
            types.push(names.enums[index].to_string());
            format!("{}::{}", names.enums[index], names.enum_values[index][at])
        }
        Type::Constant(index) => {
            let name = names.constants[usize::from(index)].to_string();
            let text = format!("{name}::new({raw}).unwrap()");
            types.push(name);
            text
        }
        Type::Register(index) => {
            let name = names.banks[usize::from(index)].to_string();
            let text = format!("{name}::new({raw}).unwrap()");
            types.push(name);
            text
        }
    }
}
