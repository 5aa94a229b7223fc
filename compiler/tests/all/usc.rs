//! The USC specification, compared with the output of the vendor's and Mesa's compilers.

use std::path::Path;

use isaforge_compiler::{Settings, compile};
use isaforge_core::group::listing::{assemble_program, disassemble};
use isaforge_core::group::program::{is_last, seal, target, walk};
use isaforge_core::group::table::{Choice, Encoding, Record, Type};
use isaforge_core::group::text::SEPARATOR;
use isaforge_core::group::{BuildError, Form, GroupIsa, Values, assemble, canonical, decode, encode, print};
use isaforge_core::text::Line;

fn isa() -> &'static GroupIsa {
    let settings = Settings::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/usc/isa.yaml"));
    let compiled = compile(&settings).unwrap_or_else(|failure| panic!("{failure}"));
    compiled.lowered.groups().expect("USC is an instruction set of groups")
}

fn data(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/usc").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    let pair =
        |p: &[u8]| u8::from_str_radix(std::str::from_utf8(p).expect("ascii"), 16).expect("two hexadecimal digits");
    digits.chunks(2).map(pair).collect()
}

/// The choice and the record that the vectors call `name`.
fn record(isa: &'static GroupIsa, name: &str) -> (&'static Choice, &'static Record) {
    let (set, record) = name.split_once('.').expect("a set and a record");
    let found = |c: &&Choice| match set {
        "src" => matches!(c.name, "lower" | "upper"),
        "igrp_hdr" => c.name == "header",
        "dst" => matches!(c.name, "single" | "dual"),
        "bitwise" => c.name.starts_with('b'),
        "main" => matches!(c.name, "alu" | "mov" | "tst" | "pck"),
        "ctrl" => !matches!(c.name, "header" | "lower" | "upper" | "backend"),
        _ => c.name == set,
    };
    let choices = isa.choices.iter().filter(found);
    let mut records = choices.filter_map(|c| Some((c, &c.records[c.record(record)?])));
    records.next().unwrap_or_else(|| panic!("no record {name}"))
}

/// Maps a field name of the vectors to the index of the field.
fn field(choice: &Choice, record: &Record, name: &str) -> usize {
    let name = match name {
        "dN" => "d",
        "dbN" => "db",
        "cachemode_ld" | "cachemode_st" if record.name.starts_with("smp") => "cachemode",
        "tiled" => "nottiled",
        name => name,
    };
    choice.field(name).unwrap_or_else(|| panic!("{}: no field {name}", record.name))
}

fn value(isa: &GroupIsa, choice: &Choice, field: usize, text: &str) -> i64 {
    if let Ok(number) = text.parse::<i64>() {
        // Offsets are written as 32 bits.
        let signed = matches!(choice.fields[field].encoding, Encoding::SignedTimes(_));
        return if signed { i64::from(number as u32 as i32) } else { number };
    }
    match choice.fields[field].ty {
        Type::Enum(e) => {
            let cache = ["write_through", "write_back", "write_back_lazy"].iter().position(|n| *n == text);
            let text = if text == "gradients" { "gradient" } else { text };
            let named = isa.enums[e as usize].values.iter().find(|v| v.name == text).map(|v| v.bits as i64);
            named
                .or(cache.map(|c| c as i64))
                .unwrap_or_else(|| panic!("{}: no value {text}", choice.fields[field].name))
        }
        _ => {
            let bit = |e| match e {
                "p0" | "e0" => 1,
                "p1" | "e1" => 2,
                "p2" | "e2" => 4,
                "e3" => 8,
                "eall" => 15,
                _ => panic!("{text}"),
            };
            text.split(['|', '+']).map(bit).sum()
        }
    }
}

#[test]
fn every_vector_reads_and_writes_field_by_field() {
    let isa = isa();
    let text = data("encode-vectors.tsv");
    let (mut count, mut apart) = (0, 0);
    for line in text.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [_, name, fields, mesa, corrected, ..] = columns[..] else { panic!("{line}") };
        let expected = bytes(if corrected.is_empty() { mesa } else { corrected });
        let (choice, record) = record(isa, name);
        assert_eq!(expected.len(), usize::from(record.bytes), "{line}");
        let mut padded = expected.clone();
        padded.resize(8, 0);
        let word = u64::from_le_bytes(padded.try_into().expect("eight bytes"));
        let mut values: Vec<i64> = choice.fields.iter().map(|f| f.default).collect();
        for (field, value) in record.implies {
            values[usize::from(*field)] = *value;
        }
        let raw = fields.starts_with("raw:");
        let mut built = record.value;
        for pair in fields.split(' ').filter(|p| p.contains('=')) {
            let (key, text) = pair.split_once('=').expect("key and value");
            let index = field(choice, record, key);
            let place = record.places.iter().find(|p| usize::from(p.field) == index);
            let bits = place.unwrap_or_else(|| panic!("{line}: {key} has no bits")).bits;
            if raw {
                let stored: u64 = text.parse().expect("a number");
                assert_eq!(bits.get(word, 0), stored, "{line}: {key}");
                built = bits.set(built, 0, stored);
            } else {
                values[index] = value(isa, choice, index, text);
                assert_eq!(record.get(choice, index, word), values[index], "{line}: {key}");
            }
        }
        if raw {
            // Bits without a name in the older tables are reserved or have their default.
            let named: u64 = record.places.iter().map(|p| p.bits.mask(0)).fold(0, |a, b| a | b);
            assert_eq!(word & !named, record.value, "{line}");
            assert_eq!(built & !word, 0, "{line}");
        } else {
            // Mesa's vectors omit fields that its tables do not have.
            for place in record
                .places
                .iter()
                .filter(|p| !fields.contains(&format!("{}=", choice.fields[usize::from(p.field)].name)))
            {
                values[usize::from(place.field)] = record.get(choice, place.field.into(), word);
            }
            assert!(record.matches(word), "{line}");
            // Each field of the layout accepts every code, whether or not an operation has a layout of its own.
            let written = record.places.iter().fold(record.value, |written, place| {
                let index = usize::from(place.field);
                let stored = choice.fields[index].encoding.stored(values[index], place.bits.width());
                place.bits.set(written, 0, stored.unwrap_or_else(|| panic!("{line}: {index}")))
            });
            assert_eq!(format!("{written:x}"), format!("{word:x}"), "{line}");
            match record.build(choice, &values, 0) {
                Ok(built) => assert_eq!(built, word, "{line}"),
                Err(_) => {
                    assert!(record.reserved(word).is_some(), "{line}");
                    apart += 1;
                }
            }
        }
        count += 1;
    }
    // Gamma, packing, range reduction and sums of products are in the layout of the others there, too.
    assert_eq!((count, apart), (2548, 5));
}

pub fn all_groups() -> Vec<(String, Vec<u8>)> {
    let files = ["img", "pco-shader", "pco-random", "pco-multiphase"];
    let lines =
        |f: &&str| data(&format!("{f}-groups.txt")).lines().map(|l| (format!("{f} {l}"), bytes(l))).collect::<Vec<_>>();
    files.iter().flat_map(lines).collect()
}

#[test]
fn every_group_decodes_and_encodes_to_the_same_bytes() {
    let isa = isa();
    let mut failures = Vec::new();
    let groups = all_groups();
    for (line, bytes) in &groups {
        match decode(isa, bytes) {
            Ok(group) if group.as_bytes() != &bytes[..] => failures.push(format!("{line}: {} bytes", group.len())),
            Ok(group) => match encode(isa, &group.values(isa), &group.form()) {
                Ok(again) if again == group => {}
                Ok(again) => failures.push(format!("{line}: {again:?}")),
                Err(error) => failures.push(format!("{line}: {error}")),
            },
            Err(error) => failures.push(format!("{line}: {error}")),
        }
    }
    let shown = failures.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} of {} fail:\n{shown}", failures.len(), groups.len());
    assert_eq!(groups.len(), 54 + 2495 + 1914 + 3000);
}

#[test]
fn the_canonical_form_is_the_vendors_choice() {
    let isa = isa();
    for line in data("img-groups.txt").lines() {
        let group = decode(isa, &bytes(line)).unwrap_or_else(|error| panic!("{line}: {error}"));
        let shortest = canonical(isa, &group.values(isa)).unwrap_or_else(|error| panic!("{line}: {error}"));
        // Padding at the end of a program belongs to the program.
        let form = Form { length: group.len() as u8, ..Form::CANONICAL };
        let again = encode(isa, &group.values(isa), &form).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(again, group, "{line}");
        assert!(shortest.len() <= group.len(), "{line}");
    }
}

#[test]
fn programs_walk_to_their_end_and_are_sealed_alike() {
    let isa = isa();
    let mut programs = 0;
    for line in data("programs.tsv").lines() {
        let [name, count, hex] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let program = bytes(hex);
        let mut groups = Vec::new();
        for (at, group) in walk(isa, &program) {
            groups.push((at, group.unwrap_or_else(|error| panic!("{name} at {at}: {error}"))));
        }
        assert!(count == "-" || groups.len() == count.parse::<usize>().expect("a number"), "{name}");
        let (start, last) = groups.last().expect("a group");
        assert_eq!(start + last.len(), program.len(), "{name}");
        assert!(is_last(isa, last), "{name}: the last group ends the program");
        assert!(groups.iter().rev().skip(1).all(|(_, g)| !is_last(isa, g)), "{name}: no other does");
        // Canonical lengths, with the program's padding, equal the actual lengths.
        let vendor = name.starts_with("img-");
        let length = |i: usize| canonical(isa, &groups[i].1.values(isa)).expect("a group").len();
        let n = groups.len();
        let before = n.checked_sub(2).map(|i| (groups[i].0, length(i)));
        let (sealed, end) = seal(isa, before.map_or(*start, |b| b.0), before.map(|b| b.1), length(n - 1));
        if vendor {
            assert_eq!(end, last.len(), "{name}");
            assert_eq!(sealed, n.checked_sub(2).map(|i| groups[i].1.len()), "{name}");
        }
        programs += 1;
    }
    assert_eq!(programs, 210);
}

/// Values whose parts are each legal, in a combination that some header allows.
pub fn arbitrary(isa: &'static GroupIsa, random: &mut impl FnMut() -> usize) -> Values {
    let mut values = Values::new(isa);
    let header = isa.slots[0].records[random() % isa.slots[0].records.len()];
    // Two operations have a code in the header but no encoding.
    let encodes = |s: &u32| (0..isa.slots.len()).all(|i| s >> i & 1 == 0 || !isa.slots[i].records.is_empty());
    let plan = &isa.plans[usize::from(header)];
    let legal: Vec<u32> = plan.slots.iter().copied().filter(|s| *s != 0 && encodes(s)).collect();
    values.present = legal[random() % legal.len()];
    // Any part of a chain may be missing, but not all of them.
    let chain: Vec<usize> = (0..isa.slots.len()).filter(|s| values.has(*s) && isa.slots[*s].chain != 0).collect();
    if !chain.is_empty() {
        let keep = chain[random() % chain.len()];
        for slot in chain.into_iter().filter(|s| *s != keep) {
            values.present &= !((random() as u32 & 1) << slot);
        }
    }
    let present = values.present;
    for slot in (0..isa.slots.len()).filter(|s| present >> s & 1 != 0) {
        let choice = &isa.choices[usize::from(isa.slots[slot].choice)];
        let records = isa.slots[slot].records;
        let record = if slot == 0 { header } else { records[random() % records.len()] };
        let record = &choice.records[usize::from(record)];
        for (field, value) in record.needs.iter().chain(record.implies) {
            values.set(isa, slot, usize::from(*field), *value);
        }
        for place in record.places {
            let width = place.bits.width();
            let stored = loop {
                // Small numbers are as likely as large ones.
                let stored = random() as u64 & (u64::MAX >> (64 - width)) >> (random() as u32 % width);
                if place.allows(stored) {
                    break stored;
                }
            };
            let field = usize::from(place.field);
            values.set(isa, slot, field, choice.fields[field].encoding.value(stored, width));
        }
    }
    values
}

/// Returns a generator of pseudo-random numbers.
pub fn numbers() -> impl FnMut() -> usize {
    let mut state = 0x5eed_cafe_f00d_1234u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as usize
    }
}

#[test]
fn arbitrary_legal_groups_encode_decode_print_and_assemble_to_themselves() {
    let isa = isa();
    let mut random = numbers();
    let (mut legal, mut raw) = (0, Vec::new());
    for _ in 0..30_000 {
        let values = arbitrary(isa, &mut random);
        let group = match canonical(isa, &values) {
            Ok(group) => group,
            // The remaining causes are groups that are too long, records that no header announces, and rules of the
            // header.
            Err(BuildError::TooLong { .. } | BuildError::Unusable { .. } | BuildError::Rule { .. }) => continue,
            Err(error) => panic!("{error}: {values:?}"),
        };
        legal += 1;
        let decoded = decode(isa, group.as_bytes()).unwrap_or_else(|error| panic!("{group:?}: {error}"));
        assert_eq!(decoded, group);
        assert_eq!(canonical(isa, &decoded.values(isa)), Ok(group), "the canonical form is canonical");
        let mut line = Line::new();
        print(isa, &group, SEPARATOR, &mut line);
        let again = assemble(isa, line.as_str()).map(|read| read.encode(isa));
        assert!(matches!(again, Ok(Ok(again)) if again == group), "{group:?}\n{}\n{again:?}", line.as_str());
        if line.as_str().starts_with("bytes") {
            raw.push(format!("{group:?}"));
        }
    }
    assert!(legal > 20_000, "{legal}");
    assert!(raw.len() * 100 < legal, "{} of {legal} have no text:\n{}", raw.len(), raw.join("\n"));
}

/// Bytes that are not a group may be between groups, and have a text too.
#[test]
fn any_bytes_become_a_listing_that_assembles_to_them() {
    let isa = isa();
    let groups = all_groups();
    let mut state = 99u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize
    };
    let mut wrong = 0;
    for round in 0..400 {
        let mut program = Vec::new();
        for _ in 0..random() % 12 {
            let group = &groups[random() % groups.len()].1;
            program.extend_from_slice(&group[..if random() % 9 == 0 { random() % group.len() } else { group.len() }]);
            if random() % 8 == 0 {
                program.extend((0..random() % 40).map(|_| random() as u8));
            }
        }
        let text = disassemble(isa, &program);
        wrong += text.matches(".byte").count();
        let again = assemble_program(isa, &text).unwrap_or_else(|errors| panic!("{round}: {errors:?}\n{text}"));
        assert_eq!(again, program, "{text}");
    }
    assert!(wrong > 300, "{wrong}");
}

/// Arbitrary and damaged bytes decode or fail, and groups that decode encode to the same bytes.
#[test]
fn arbitrary_bytes_never_panic() {
    let isa = isa();
    let mut state = 0x1234_5678_9abc_def1u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let groups = all_groups();
    let mut decoded = 0;
    for i in 0..200_000usize {
        let mut bytes = groups[i % groups.len()].1.clone();
        match i % 4 {
            0 => bytes.iter_mut().for_each(|b| *b = random() as u8),
            1 => {
                let at = random() as usize % bytes.len();
                bytes[at] ^= 1 << (random() % 8);
            }
            2 => bytes.truncate(random() as usize % (bytes.len() + 1)),
            _ => {
                let at = random() as usize % bytes.len();
                bytes[at] = random() as u8;
            }
        }
        if let Ok(group) = decode(isa, &bytes) {
            decoded += 1;
            assert_eq!(group.as_bytes(), &bytes[..group.len()]);
            let again = encode(isa, &group.values(isa), &group.form());
            assert_eq!(again.as_ref(), Ok(&group), "{group:?}");
            if let Ok(short) = canonical(isa, &group.values(isa)) {
                assert_eq!(short.values(isa).without_form(isa).present, group.present());
            }
        }
    }
    assert!(decoded > 10_000, "{decoded}");
}

#[test]
fn every_group_prints_and_assembles_to_the_same_bytes() {
    let isa = isa();
    let (mut raw, mut marked, mut failures) = (Vec::new(), 0, Vec::new());
    let groups = all_groups();
    let mut show = std::env::var("SHOW").ok().and_then(|n| n.parse::<usize>().ok()).unwrap_or(0);
    for (i, (line, bytes)) in groups.iter().enumerate() {
        let group = decode(isa, bytes).unwrap_or_else(|error| panic!("{line}: {error}"));
        let mut text = Line::new();
        print(isa, &group, SEPARATOR, &mut text);
        if show > 0 && i % 37 == 0 {
            show -= 1;
            println!("{line}\n    {}", text.as_str());
        }
        raw.extend(text.as_str().starts_with("bytes").then(|| line.clone()));
        marked += usize::from(text.as_str().contains("with "));
        let again = assemble(isa, text.as_str()).map(|read| encode(isa, &read.values, &read.form));
        if !matches!(again, Ok(Ok(again)) if again == group) {
            failures.push(format!("{line}: {}", text.as_str()));
        }
    }
    println!("{} of {} with marks, {} as bytes", marked, groups.len(), raw.len());
    let shown = raw.iter().take(30).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(raw.is_empty(), "{} groups have no text:\n{shown}", raw.len());
}

#[test]
fn the_generated_crate_is_fresh() {
    let mut settings = Settings::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/usc/isa.yaml"));
    settings.root = Some(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    let compiled = compile(&settings).unwrap_or_else(|failure| panic!("{failure}"));
    let fresh = compiled.source(Some("isaforge_usc")).expect("generated code is Rust");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../generated/usc/src/lib.rs");
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        std::fs::write(path, fresh).expect("the generated crate can be written");
        return;
    }
    let stale =
        "generated/usc is stale: UPDATE_GOLDENS=1 cargo test -p isaforge-compiler --test all generated_crate_is_fresh";
    assert!(std::fs::read_to_string(path).unwrap_or_default() == fresh, "{stale}");
}

#[test]
fn programs_disassemble_and_assemble_to_the_same_bytes() {
    let isa = isa();
    for line in data("programs.tsv").lines() {
        let [name, _, hex] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let program = bytes(hex);
        let text = disassemble(isa, &program);
        let again = assemble_program(isa, &text).unwrap_or_else(|errors| panic!("{name}: {errors:?}\n{text}"));
        assert_eq!(again, program, "{name}\n{text}");
        assert!(!text.contains("bytes"), "{name}\n{text}");
        if name.starts_with("img-") {
            assert!(!text.contains("length="), "{name}: the end of a program follows\n{text}");
        }
    }
}

#[test]
fn labels_and_the_end_of_a_program_follow() {
    let isa = isa();
    let text = "0 : mov ft0, vi0\n    mov r0, ft0\nagain:\n1 : if(p0)\n    br again;\n2 : br out\nout:\n3 : nop.end\n";
    let program = assemble_program(isa, text).expect("a program");
    let groups: Vec<_> = walk(isa, &program).map(|(at, g)| (at, g.expect("a group"))).collect();
    assert_eq!(
        groups.iter().map(|(at, g)| target(isa, g, *at)).collect::<Vec<_>>(),
        [None, Some(groups[1].0 as i64), Some(groups[3].0 as i64), None]
    );
    assert_eq!((groups[3].0 % 8, program.len() % 8), (0, 0));
    let listing = disassemble(isa, &program);
    assert_eq!(assemble_program(isa, &listing), Ok(program));
    let refuse = |text: &str| {
        let errors = assemble_program(isa, text).expect_err(text);
        errors.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    // Rows that end with the same word are distinguished.
    let twice = refuse("0 : mbyp ft0, fte\n    mbyp ft1, fte\n    mov r0, ft0\n");
    assert!(twice[0].starts_with("1:15: these are not the operands"), "{twice:?}");
    assert_eq!(refuse("0 : br nowhere\nnowhen:\n"), ["1:8: there is no label `nowhere` (did you mean `nowhen`?)"]);
    assert_eq!(
        refuse("0 : fad ft0, r0, r1\n    mov r0, ft0\n1 : bra l0\nl0:\n2 : fadd ft0, r0, r1, r2\n3 : nop\nl0:\n"),
        [
            "1:5: unknown operation `fad ft0, r0, r1` (did you mean `fmad`?)",
            "3:5: unknown operation `bra l0` (did you mean `ba`?)",
            "5:21: these are not the operands of `fadd` (it is written `fadd{.lp}{.sat} ft0, <S0>{.abs}{.neg}{.flr}, <S1>{.abs}`)",
            "7:1: the label `l0` is defined twice",
        ]
    );
    assert_eq!(refuse("0 : mov ft0, r0\n    mov r0, l0\nl0:\n1 : nop.end\n").len(), 1);
}
