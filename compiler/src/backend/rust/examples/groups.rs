//! Examples for sets of groups.

use std::collections::BTreeSet;

use isaforge_core::explain::groups;
use isaforge_core::group::listing::disassemble;
use isaforge_core::group::table::{GroupIsa, Type};
use isaforge_core::group::text::SEPARATOR;
use isaforge_core::group::{self, Group, Values, decode};
use isaforge_core::text::Line;

use super::common::{Crate, Examples, bytes, hidden, literal, telling, tidy};
use crate::backend::rust::group::operations::own;
use crate::backend::rust::group::types::{Names, fields, values};
use crate::backend::rust::options::SemanticsStyle;

/// Groups whose text parses back to them, preferring those with a long line.
pub(super) fn samples(isa: &'static GroupIsa) -> Vec<(Group, String)> {
    let all = isa.operations.iter().filter_map(|operation| {
        let (group, mut line) = (groups::example(isa, operation)?, Line::new());
        group::print(isa, &group, SEPARATOR, &mut line);
        Some((group, line.as_str().to_owned()))
    });
    let own = all.filter(|(group, text)| {
        let read = group::assemble(isa, text).ok().and_then(|values| values.encode(isa).ok());
        read.is_some_and(|read| read.as_bytes() == group.as_bytes())
            && group::canonical(isa, &group.values(isa)).is_ok_and(|same| same == *group)
    });
    telling(own)
}

pub(super) fn front(isa: &'static GroupIsa, of: Crate) -> Option<String> {
    let (group, text) = samples(isa).into_iter().next()?;
    let (types, built) = built(isa, &Names::new(isa), &group.values(isa));
    let program = [group.as_bytes(), group.as_bytes()].concat();
    let (listing, own) = (literal(&disassemble(isa, &program)), bytes(group.as_bytes()));
    let (name, text, count) = (of.name, literal(&text), isa.operations.len());
    let (_, _, operation) = group::info::operations(isa, &group).next()?;
    let at = isa.operations.iter().position(|known| std::ptr::eq(known, operation))?;
    let operation = &Names::new(isa).operations[at].0;
    let imports = tidy(&format!("use {name}::{{Group, ISA, Operation, Parts, decode, walk{types}}};"));
    Some(format!(
        "{imports}\n\
         // Decode: bytes, a group and a line of assembly are three views of one thing.\n\
         let bytes = [{own}];\n\
         let group = decode(&bytes)?;\n\
         assert_eq!(group.to_string(), {text});\n\n\
         // Match: the operations of the group, and its parts.\n\
         for (slot, operation) in group.operations() {{\n    \
             match operation {{\n        \
                 Operation::{operation} => println!(\"slot {{slot}}: {{:?}}\", group.parts()),\n        \
                 other => println!(\"slot {{slot}}: {{other:?}}\"),\n    \
             }}\n\
         }}\n\n\
         // Build.\n\
         {built}\
         assert_eq!(parts.encode()?, group);\n\n\
         // Assemble.\n\
         assert_eq!({text}.parse::<Group>()?, group);\n\n\
         // List: a program is one group after the other.\n\
         let program = [bytes, bytes].concat();\n\
         assert_eq!(walk(&program).map(|(at, _)| at).collect::<Vec<_>>(), [0, bytes.len()]);\n\
         assert_eq!(isaforge_core::group::listing::disassemble(ISA, &program), {listing});\n\
         assert_eq!(Operation::ALL.len(), {count});\n"
    ))
}

/// A statement that builds the parts of a group, and the types that it uses, each preceded by a comma.
fn built(isa: &GroupIsa, names: &Names, of: &Values) -> (String, String) {
    let (mut types, mut text) = (BTreeSet::new(), "Parts {\n".to_owned());
    let defaults = Values::new(isa);
    for (slot, known) in isa.slots.iter().enumerate().filter(|(slot, _)| of.has(*slot)) {
        let (name, choice) = (&names.slots[slot], &isa.choices[usize::from(known.choice)]);
        let ty = names.choices[usize::from(known.choice)].to_string();
        let differ = (0..choice.fields.len()).zip(fields(choice)).filter_map(|(index, field)| {
            let value = of.get(isa, slot, index);
            // Fields of the header that are computed from the parts.
            let follows = slot == 0 && isa.computed >> index & 1 != 0;
            if follows || value == defaults.get(isa, slot, index) {
                return None;
            }
            let value = match choice.fields[index].ty {
                Type::Flag => (value != 0).to_string(),
                Type::Decimal => value.to_string(),
                Type::Hex if value >= 0 => format!("{value:#x}"),
                Type::Hex => value.to_string(),
                Type::Enum(of) => {
                    let e = &isa.enums[usize::from(of)];
                    let at = e.values.iter().position(|known| known.bits as i64 == value)?;
                    let (name, variant) = (names.enums[usize::from(of)].to_string(), &values(e)[at]);
                    let text = format!("{name}::{variant}");
                    types.insert(name);
                    text
                }
            };
            Some(format!("{field}: {value}, "))
        });
        let differ: String = differ.collect();
        if slot == 0 && differ.is_empty() {
            continue;
        }
        let part = if differ.is_empty() {
            format!("{ty}::default()")
        } else {
            format!("{ty} {{ {differ}..{ty}::default() }}")
        };
        types.insert(ty);
        text.push_str(&if slot == 0 {
            format!("    {name}: {part},\n")
        } else {
            format!("    {name}: Some({part}),\n")
        });
    }
    text.push_str("    ..Parts::default()\n}");
    (types.iter().map(|ty| format!(", {ty}")).collect(), tidy(&format!("let parts = {text};")))
}

pub(super) fn examples(isa: &'static GroupIsa, of: Crate, out: &mut Examples) {
    let Some((group, text)) = samples(isa).into_iter().next() else { return };
    let names = Names::new(isa);
    let (types, built) = built(isa, &names, &group.values(isa));
    let (name, own, text) = (of.name, bytes(group.as_bytes()), literal(&text));
    let (length, operations) = (group.len(), group::info::operations(isa, &group).count());
    let operation = group::info::operations(isa, &group).next();
    let Some((slot, index, _)) = operation else { return };
    let variant = &names.operations[index].0;
    let decoded = format!("use {name}::decode;\n\nlet group = decode(&[{own}])?;\n");
    out.add(
        "ISA",
        format!(
            "use {name}::ISA;\n\n\
             assert_eq!((ISA.name, ISA.longest, ISA.operations.len()), ({}, {}, {}));\n\
             for operation in ISA.operations {{\n    println!(\"{{}}: {{}}\", operation.name, operation.doc);\n}}\n",
            literal(isa.name),
            isa.longest,
            isa.operations.len()
        ),
    );
    let wrong = [0xff, 0].into_iter().find_map(|byte| Some((byte, decode(isa, &[byte; 32]).err()?.to_string())));
    let refused = wrong.map_or_else(String::new, |(byte, error)| {
        format!(
            "\n// Other bytes are errors that say why.\nassert_eq!(decode(&[{byte:#04x}; 32]).unwrap_err().to_string(), {});\n",
            literal(&error)
        )
    });
    out.add("decode", format!("{decoded}assert_eq!(group.to_string(), {text});\n{refused}"));
    out.add(
        "walk",
        format!(
            "use {name}::walk;\n\n\
             let group = [{own}];\n\
             for (at, found) in walk(&[group, group].concat()) {{\n    \
                 println!(\"{{at}}: {{}}\", found?);\n\
             }}\n"
        ),
    );
    out.add(
        "Group",
        format!(
            "use {name}::{{Group, decode}};\n\n\
             let group: Group = {text}.parse()?;\n\
             assert_eq!(group, decode(&[{own}])?);\n\
             assert_eq!(group.to_string(), {text});\n\
             // One operation per line.\n\
             println!(\"{{group:#}}\");\n"
        ),
    );
    out.add("Group::as_bytes", format!("{decoded}assert_eq!(group.as_bytes(), [{own}]);\n"));
    out.add("Group::raw", format!("{decoded}assert_eq!(group.raw().len(), {length});\n"));
    out.add("Group::parts", format!("{decoded}assert_eq!(group.parts().encode()?, group);\n"));
    out.add("Group::form", format!("{decoded}assert_eq!(group.parts().encode_in(&group.form())?, group);\n"));
    out.add(
        "Group::canonical",
        format!("{decoded}// It is the shortest form already.\nassert_eq!(group.canonical()?, group);\n"),
    );
    let last = group::program::is_last(isa, &group);
    out.add("Group::is_last", format!("{decoded}assert!({}group.is_last());\n", if last { "" } else { "!" }));
    let target = group::program::target(isa, &group, 0);
    out.add("Group::target", format!("{decoded}assert_eq!(group.target(0), {target:?});\n"));
    out.add(
        "Group::operations",
        format!(
            "use {name}::{{Operation, decode}};\n\n\
             let group = decode(&[{own}])?;\n\
             assert_eq!(group.operations().count(), {operations});\n\
             assert_eq!(group.operations().next(), Some(({slot}, Operation::{variant})));\n"
        ),
    );
    for (method, write) in [("reads", false), ("writes", true)] {
        let mut count = 0;
        group::info::registers(isa, &group, write, |_| count += 1);
        out.add(
            format!("Group::{method}"),
            format!(
                "{decoded}let mut registers = Vec::new();\n\
                 group.{method}(|register| registers.push((register.bank, register.number)));\n\
                 assert_eq!(registers.len(), {count});\n"
            ),
        );
    }
    let mut notes = 0;
    group::info::annotate(isa, &group, |_| notes += 1);
    out.add(
        "Group::annotate",
        format!("{decoded}let mut notes = 0;\ngroup.annotate(|_| notes += 1);\nassert_eq!(notes, {notes});\n"),
    );
    let imports = tidy(&format!("use {name}::{{Parts, decode{types}}};"));
    let takes = format!("{imports}\n{built}");
    let parts = format!("use {name}::{{Parts, decode}};\n\nlet parts: Parts = {text}.parse()?;\n");
    out.add(
        "Parts",
        format!("{takes}assert_eq!(parts.encode()?, decode(&[{own}])?);\n// Text describes the same, and need not have an encoding.\nassert_eq!({text}.parse::<Parts>()?.encode()?, parts.encode()?);\n"),
    );
    out.add("Parts::encode", format!("{parts}assert_eq!(parts.encode()?, decode(&[{own}])?);\n"));
    out.add(
        "Parts::encode_in",
        format!("{parts}let group = decode(&[{own}])?;\nassert_eq!(parts.encode_in(&group.form())?, group);\n"),
    );
    out.add(
        "Parts::values",
        format!("use {name}::Parts;\n\nlet parts: Parts = {text}.parse()?;\nassert!(parts.values().has({slot}));\n"),
    );
    out.add(
        "Parts::operations",
        format!(
            "use {name}::{{Operation, Parts}};\n\n\
             let parts: Parts = {text}.parse()?;\n\
             assert_eq!(parts.operations().next(), Some(({slot}, Operation::{variant})));\n"
        ),
    );
    for method in ["of", "body"] {
        out.add(
            format!("Parts::{method}"),
            format!(
                "{}// The parts after the header as one value, and the same parts made from it.\n\
                 let parts = decode(&[{own}])?.parts();\n\
                 let body = parts.body().unwrap();\n\
                 assert_eq!(Parts::of(parts.{header}, body).encode()?, parts.encode()?);\n",
                format_args!("use {name}::{{Parts, decode}};\n\n"),
                header = names.slots[0]
            ),
        );
    }
    let info = isa.operations[index].name;
    out.add(
        "Operation",
        format!(
            "use {name}::Operation;\n\n\
             assert_eq!(Operation::{variant} as u16, {index});\n\
             assert_eq!(Operation::ALL[{index}], Operation::{variant});\n"
        ),
    );
    out.add(
        "Operation::info",
        format!("use {name}::Operation;\n\nassert_eq!(Operation::{variant}.info().name, {});\n", literal(info)),
    );
    let constant = names.slots[slot].to_string().to_uppercase();
    out.add("slot", format!("use {name}::slot;\n\nassert_eq!(slot::{constant}, {slot});\n"));
    if let Some((e, name)) = isa.enums.iter().zip(&names.enums).find(|(e, _)| !e.values.is_empty()) {
        let (variant, number) = (&values(e)[0], e.values[0].bits as i64);
        out.add(
            name.to_string(),
            format!(
                "use {}::{name};\n\n\
                 assert_eq!({name}::from_number({number}), Some({name}::{variant}));\n\
                 assert_eq!({name}::{variant}.number(), {number});\n\
                 assert_eq!({name}::ALL.len(), {});\n",
                of.name,
                e.values.len()
            ),
        );
    }
    stubs(isa, of, &names, (index, &own), out);
}

/// The stubs: a machine that counts, and code that calls its methods.
fn stubs(isa: &GroupIsa, of: Crate, names: &Names, (index, bytes): (usize, &str), out: &mut Examples) {
    let all = own(isa);
    let (name, method) = (of.name, &names.operations[index].1);
    if !all.contains(&index) {
        return;
    }
    let (output, done) = match of.style {
        SemanticsStyle::Default => ("Result<(), isaforge_core::Unimplemented>", "Ok(())"),
        SemanticsStyle::Required => ("()", "()"),
        SemanticsStyle::None => return,
    };
    let others: String = match of.style {
        SemanticsStyle::Required => all
            .iter()
            .filter(|i| **i != index)
            .map(|i| format!("#     fn {}(&mut self, _: &Parts, _: usize) {{}}\n", names.operations[*i].1))
            .collect(),
        _ => String::new(),
    };
    let machine = format!(
        "use {name}::{{Parts, Semantics, decode, dispatch}};\n\n\
         struct Counter(u32);\n\n\
         impl Semantics for Counter {{\n    \
             type Output = {output};\n\n    \
             fn {method}(&mut self, parts: &Parts, slot: usize) -> Self::Output {{\n        \
                 println!(\"slot {{slot}} of {{parts}}\");\n        \
                 self.0 += 1;\n        \
                 {done}\n    \
             }}\n{others}}}\n"
    );
    let calls = format!(
        "let (mut counter, parts) = (Counter(0), decode(&[{bytes}])?.parts());\n\
         for (slot, operation) in parts.operations() {{\n    \
             let _ = dispatch(operation, &parts, slot, &mut counter);\n\
         }}\n\
         assert_eq!(counter.0, {});\n",
        "1"
    );
    out.add("Semantics", format!("{machine}\n{calls}"));
    out.add("dispatch", format!("{}{calls}", hidden(&machine)));
}
