//! Computed values, and the ways back from them.

use super::*;

#[test]
fn a_way_back_may_be_given() {
    let spec = "isa: masks\nword: 24\nprovenance: document\ninstructions:\n  \
                m: { doc: M., fixed: { 23..5: 1 }, operands: { mask: { immediate: { base: 16 }, bits: 4..0, value: '2 << bits', \
                encode: '62 - clz(value)', prefix: '' } } }\n";
    let engine = of_text("masks", spec, 0).unwrap_or_else(|why| panic!("{why}"));
    both_ways(engine, &[("230000", "m 0x10"), ("3f0000", "m 0x100000000")]);
    assert!(assembled(engine, "m 0x11").is_err());
}

#[test]
fn a_computed_number_is_as_signed_as_it_is_declared() {
    let spec = "isa: offsets\nword: 24\nprovenance: document\ninstructions:\n  a:\n    doc: A.\n    fixed: { 23..8: 1 }\n    \
                fields: { hi: { bits: 7..4, number: decimal }, lo: { bits: 3..0, number: decimal } }\n    \
                operands: { v: { immediate: signed, value: '(hi << 4) + lo - 8' } }\n";
    let engine = of_text("offsets", spec, 0).unwrap_or_else(|why| panic!("{why}"));
    both_ways(engine, &[("000100", "a #-8"), ("080100", "a #0"), ("ff0100", "a #247")]);
    assert!(assembled(engine, "a #-9").is_err() && assembled(engine, "a #248").is_err());
}

const HALVES: &str = r#"
isa: halves
word: [32]
provenance: document
kinds:
  source:
    width: 8
    parameters: [FULL]
    alternatives:
      half: { where: FULL == 0, fields: { n: { bits: 7..0, number: decimal } }, text: "hr{n}" }
      full: { where: FULL != 0, fields: { n: { bits: 7..0, number: decimal } }, text: "r{n}" }
instructions:
  mov:
    doc: Moves.
    fixed: { 31..17: 1 }
    fields: { full: { bits: 16 } }
    operands:
      dst: { kind: source, at: 8, with: { FULL: full }, access: write }
      src: { kind: source, at: 0, with: { FULL: full } }
"#;

#[test]
fn what_is_read_of_an_operand_flows_back_to_its_parameters() {
    let engine = of_text("halves", HALVES, 0).unwrap_or_else(|why| panic!("{why}"));
    both_ways(engine, &[("05030200", "mov hr3, hr5"), ("05030300", "mov r3, r5")]);
    assert!(assembled(engine, "mov r3, hr5").is_err(), "one flag cannot be both");
}

#[test]
fn ranges_and_groups_of_bytes_in_the_other_order() {
    let spec = "isa: ranges\nword: [32]\nswap: 4\nprovenance: document\nevery: { unused: zero }\ninstructions:\n  \
                load: { doc: L., fixed: { 31..16: 7 }, fields: { first: { bits: 7..0 }, last: { value: first + 3 } }, syntax: \"load v[{first}:{last}]\" }\n";
    let engine = of_text("ranges", spec, 0).unwrap_or_else(|why| panic!("{why}"));
    both_ways(engine, &[("00 07 00 04", "load v[4:7]")]);
    assert!(assembled(engine, "load v[4:8]").is_err(), "a range of four");
}

const SPECIAL: &str = r#"
isa: special
word: 8
provenance: document
enums:
  Colour: { bits: 2, values: [red, green, blue, none] }
  Dye: { bits: 2, values: [red, green, blue, ~] }
kinds:
  colour: { width: 2, alternatives: { c: { fields: { c: { bits: 1..0, enum: Colour } }, text: "{c}" } } }
  dye: { width: 2, alternatives: { c: { fields: { c: { bits: 1..0, enum: Dye } }, text: "{c}" } } }
instructions:
  dye: { doc: Dyes., fixed: { 7..4: 1 }, operands: { cloth: { kind: colour, at: 2, access: write }, by: { kind: dye, at: 0 } } }
  bleach: { doc: Bleaches., fixed: { 7..4: 1, 1..0: 3 }, operands: { cloth: { kind: colour, at: 2, access: write } } }
"#;

#[test]
fn one_who_means_a_special_case_is_told_how_to_say_so() {
    let told = of_text("special", SPECIAL, 0).expect_err("nothing says which one is meant");
    assert!(told.contains("E0106") && told.contains("`bleach` is a special case of `dye`"), "{told}");
    let said = SPECIAL.replace("dye: { doc: Dyes.,", "dye: { doc: Dyes., where: by != 3,");
    let engine = of_text("special-said", &said, 0).unwrap_or_else(|why| panic!("{why}"));
    both_ways(engine, &[("17", "bleach green"), ("16", "dye green, blue")]);
}

#[test]
fn bitmask_immediates_are_computed_both_ways() {
    let engine = fixture("bitmask.yaml");
    both_ways(
        engine,
        &[
            ("20 1c 40 92", "and x0, x1, #0xff"),
            ("20 f0 00 92", "and x0, x1, #0x5555555555555555"),
            ("20 cc 04 92", "and x0, x1, #0xf0f0f0f0f0f0f0f0"),
            ("20 04 41 92", "and x0, x1, #0x8000000000000001"),
            ("83 7c 40 b2", "orr x3, x4, #0xffffffff"),
        ],
    );
    assert!(assembled(engine, "and x0, x1, #0x1234").is_err_and(|why| why.contains("0x1234")));
    // All bits set is not a valid immediate, nor is a value without a size.
    for none in ["20 fc 40 92", "20 fc 00 92", "20 f8 00 92"] {
        assert!(text(engine, none).is_err(), "{none}");
    }
    let mut values = std::collections::BTreeSet::new();
    for bits in 0..1u32 << 13 {
        let word = 0x9200_0020 | bits << 10;
        let Ok(decoded) = engine.decode(&word.to_le_bytes()) else { continue };
        let scope = engine.scope(&decoded);
        let immediate = scope.layout.fields.iter().position(|field| field.name == "imm").expect("it is there");
        let value = scope.value(immediate as u8);
        values.insert(value);
        // Each pattern has a single encoding whose rotation is less than its length.
        if bits % 97 == 0 {
            let text = format!("and x0, x1, #{value:#x}");
            let parsed = engine.parse(&text).expect("it assembles").decoded;
            assert_eq!(engine.scope(&parsed).value(immediate as u8), value, "{text}");
        }
    }
    assert_eq!(values.len(), 5334);
}

/// An instruction with one computed operand.
fn computed(name: &str, fields: &str) -> Result<Engine, String> {
    let spec = format!(
        "isa: {name}\nword: 64\nprovenance: document\nevery: {{ unused: zero }}\ninstructions:\n  m: {{ doc: M., fixed: {{ 63..56: 1 }}, {fields} }}\n"
    );
    of_text(name, &spec, 0)
}

#[test]
fn wide_values_that_are_sums_of_bits_or_scaled_numbers_need_no_way_back() {
    let accepted = [
        ("scaled", "operands: { f: { immediate: signed, bits: 39..0, value: bits * -12 + 7 } }"),
        (
            "shifted",
            "fields: { a: { bits: 31..0 }, b: { bits: 47..32 } }, operands: { f: { immediate: decimal, value: '(a << 20) + (b ^ (a & 15))' } }",
        ),
        (
            "turned",
            "operands: { f: { immediate: { base: 16 }, bits: 31..0, value: 'bits << 7 & 0xffffffff | bits >> 25' } }",
        ),
        (
            "chosen",
            "fields: { s: { bits: 40 } }, operands: { f: { immediate: { base: 16 }, bits: 31..0, value: 'bits | (if s != 0 { 0x100000000 } else { 0 }) | 1 << 40' } }",
        ),
        (
            "given",
            "operands: { f: { immediate: { base: 16 }, bits: 31..0, value: bits ^ bits >> 16, encode: value ^ value >> 16 } }",
        ),
        ("negated", "operands: { f: { immediate: signed, bits: 39..0, value: 0 - bits, encode: 0 - value } }"),
        (
            "bounded",
            "where: high < 0x100, fields: { low: { bits: 31..0 }, high: { bits: 47..32 }, f: { number: decimal, value: 'low + high * 0x100000000 + 5', \
             encode: { low: 'value - 5 & 0xffffffff', high: '(value - 5) >> 32' } } }, syntax: '{mnemonic} {f}'",
        ),
    ];
    for (name, fields) in accepted {
        let engine = computed(name, fields).unwrap_or_else(|why| panic!("{name}: {why}"));
        for low in [0u64, 1, 0x1234_5678, 0xffff_ffff] {
            let mut word = [0; 32];
            word[..8].copy_from_slice(&(low | 1 << 56).to_le_bytes());
            let decoded = engine.decode(&word[..8]).expect("it is one");
            let mut line = Line::new();
            engine.print(&decoded, &mut line);
            assert_eq!(engine.parse(line.as_str()).map(|read| read.decoded), Ok(decoded), "{name}: {}", line.as_str());
        }
    }
}

#[test]
fn a_number_times_a_factor_plus_an_offset_has_a_way_back_at_any_width() {
    for (bits, value, texts) in [
        ("31..0", "bits * 3 + 7", ["7", "10", "12884901892"]),
        ("19..0", "bits * 5", ["0", "5", "5242875"]),
        ("16..0", "bits + 7", ["7", "8", "131078"]),
        ("39..8", "100 - bits * 3", ["100", "97", "6442451044"]),
    ] {
        let number = if value.starts_with("100") { "signed" } else { "decimal" };
        let fields = format!("operands: {{ f: {{ immediate: {number}, bits: {bits}, value: '{value}' }} }}");
        let engine = computed("line", &fields).expect(value);
        for text in texts {
            let text = format!("m #{text}");
            let parsed = engine.parse(&text).unwrap_or_else(|error| panic!("{value}: {text}: {error}"));
            let mut line = Line::new();
            engine.print(&parsed.decoded, &mut line);
            assert_eq!(line.as_str(), text, "{value}");
        }
        let between = if value.contains('+') && !value.contains('*') { "m #6" } else { "m #9" };
        assert!(engine.parse(between).is_err(), "{value}");
    }
}

#[test]
fn a_wide_value_without_a_way_back_is_refused_at_its_place() {
    // Few words show that these are wrong: only one in four billion values cannot be encoded.
    let refused = [
        (
            "product",
            "fields: { a: { bits: 19..0 }, b: { bits: 39..20 } }, operands: { f: { immediate: decimal, value: a * b } }",
        ),
        (
            "rare",
            "operands: { f: { immediate: decimal, bits: 31..0, value: 'if bits == 0x12345678 { 5000000000 } else { bits }' } }",
        ),
        (
            "carried",
            "fields: { a: { bits: 19..0 }, b: { bits: 39..20 } }, operands: { f: { immediate: decimal, value: '(a << 20) + b + 1' } }",
        ),
        (
            "given",
            "operands: { f: { immediate: decimal, bits: 31..0, value: 'if bits == 0x12345678 { 5000000000 } else { bits }', encode: value } }",
        ),
        (
            "other",
            "operands: { f: { immediate: decimal, bits: 19..0, value: bits ^ bits >> 9, encode: 'if value == 777777 { 0 } else { value ^ value >> 9 ^ value >> 18 }' } }",
        ),
        ("lossy", "operands: { f: { immediate: decimal, bits: 31..0, value: bits ^ bits >> 16, encode: value } }"),
    ];
    for (name, fields) in refused {
        let told = computed(name, fields).expect_err(name);
        assert!(told.contains("E0132") && told.contains(":6:") && told.contains("`f` of `m`"), "{name}: {told}");
    }
}

#[test]
fn values_are_tried_within_bounds_in_all_of_a_specification() {
    let mut spec = "isa: many\nword: 128\nprovenance: document\nevery: { unused: zero }\ninstructions:\n".to_owned();
    for number in 0..60 {
        spec += &format!("  m{number}: {{ doc: M., fixed: {{ 127..120: {number} }}, fields: {{ ");
        for field in 0..5 {
            let low = field * 20;
            let (value, encode) =
                (format!("bits * 5 + (bits >> 1) + {number}"), format!("((value - {number}) * 2 + 1) / 11"));
            spec += &format!("v{field}: {{ bits: {}..{low}, value: {value}, encode: {encode} }}, ", low + 19);
        }
        spec += "}, syntax: '{mnemonic} {v0}, {v1}, {v2}, {v3}, {v4}' }\n";
    }
    let start = std::time::Instant::now();
    let told = of_text("many", &spec, 0).expect_err("there are too many to try them all");
    // Only the first ones are tried.
    assert!(told.contains("E0132") && !told.contains("`v0` of `m0`"), "{told}");
    assert!(start.elapsed().as_secs() < 120, "{:?}", start.elapsed());
}

/// Checks that every word decodes to the wanted value or not at all, and that its text assembles to a word with that
/// value.
fn every_word(engine: Engine, words: impl Iterator<Item = u32>, wanted: impl Fn(u32) -> Option<u64>) -> usize {
    let value = |decoded: &isaforge_core::stream::Decoded| {
        let scope = engine.scope(decoded);
        scope.value(scope.layout.fields.iter().position(|field| field.name == "imm").expect("it is there") as u8)
    };
    let mut values = std::collections::BTreeSet::new();
    for word in words {
        let decoded = engine.decode(&word.to_le_bytes()).ok();
        assert_eq!(decoded.as_ref().map(value), wanted(word), "{word:#x}");
        let Some(decoded) = decoded.filter(|decoded| values.insert(value(decoded))) else { continue };
        let mut line = Line::new();
        engine.print(&decoded, &mut line);
        let read = engine.parse(line.as_str()).unwrap_or_else(|why| panic!("{}: {why}", line.as_str())).decoded;
        assert_eq!(value(&read), value(&decoded), "{}", line.as_str());
    }
    values.len()
}

#[test]
fn modified_immediates_are_computed_both_ways() {
    let engine = fixture("modified.yaml");
    both_ways(
        engine,
        &[
            ("00 10 6e 1e", "fmov d0, #1.000000"),
            ("00 f0 7d 1e", "fmov d0, #-0.968750"),
            ("25 e4 00 2f", "movi d5, #0xff"),
            ("20 e5 01 2f", "movi d0, #0xff00ff0000ff"),
            ("ff 00 a0 e3", "mov r0, #255"),
            ("ff 14 a0 e3", "mov r1, #4278190080"),
        ],
    );
    assert!(assembled(engine, "mov r0, #257").is_err_and(|why| why.contains("257")));
    assert!(assembled(engine, "fmov d0, #0.1").is_err());
    let floats = every_word(engine, (0..256).map(|byte| 0x1e60_1000 | byte << 13), |word| {
        let byte = word >> 13 & 255;
        let scale = [2.0, 4.0, 8.0, 16.0, 0.125, 0.25, 0.5, 1.0][(byte >> 4 & 7) as usize];
        let size = scale * f64::from(16 + (byte & 15)) / 16.0;
        Some((if byte > 127 { -size } else { size }).to_bits())
    });
    assert_eq!(floats, 256);
    let turned = every_word(engine, (0..4096).map(|bits| 0xe3a0_0000 | bits), |word| {
        Some((word & 255).rotate_right(word >> 7 & 30).into())
    });
    assert_eq!(turned, 3073);
    let spread = |byte: u32| (0..8).filter(|at| byte >> at & 1 != 0).fold(0, |all, at| all | 0xff << (8 * at));
    let words = (0..1u32 << 13).map(|bits| {
        0x0f00_0400 | (bits & 31) << 5 | (bits >> 5 & 7) << 16 | (bits >> 8 & 15) << 12 | (bits >> 12) << 29
    });
    let lanes = every_word(engine, words, |word| {
        let (byte, op) = (word >> 11 & 0xe0 | word >> 5 & 31, word >> 29 & 1);
        let lane = match (word >> 12 & 15, op) {
            (14, 1) => return Some(spread(byte)),
            (_, 1) | (1 | 3 | 5 | 7 | 9 | 11, _) => return None,
            (mode @ 0..=6, _) => byte << (4 * mode),
            (8, _) => byte * 0x1_0001,
            (10, _) => (byte << 8) * 0x1_0001,
            (12, _) => byte << 8 | 0xff,
            (13, _) => byte << 16 | 0xffff,
            (14, _) => byte * 0x101_0101,
            _ => {
                let exponent = [2.0, 4.0, 8.0, 16.0, 0.125, 0.25, 0.5, 1.0][(byte >> 4 & 7) as usize];
                let size: f32 = exponent * (16 + (byte & 15)) as f32 / 16.0;
                (if byte > 127 { -size } else { size }).to_bits()
            }
        };
        Some(u64::from(lane) << 32 | u64::from(lane))
    });
    assert!(lanes > 2000, "{lanes}");
}

/// The encoding of a field may depend on other fields.
#[test]
fn a_way_back_names_other_fields() {
    let shown = "fields: { size: { bits: 21..20 } }, syntax: 'set.{size} {n}', \
                 operands: { n: { immediate: decimal, prefix: '', bits: 19..0, value: bits << size, encode: value >> size } }";
    let spec = |rest: &str| tabled(rest).replace("23..8: 1", "23..22: 1");
    both_ways(
        of_text("scaled", &spec(shown), 0).expect("it is right"),
        &[("05 00 40", "set.0 5"), ("05 00 50", "set.1 10"), ("ff ff 7f", "set.3 8388600")],
    );
    // In sequence: the exponent is the smallest with which the number fits.
    let float = "fields: { e: { bits: 21..18 }, m: { bits: 11..0 } }, ignored: 17..12, operands: { n: { immediate: decimal, \
                 prefix: '', value: m << e, encode: { e: 'if value < 0x1000 { 0 } else { 52 - clz(value) }', m: value >> e } } }";
    let engine = of_text("floating", &spec(float), 0).expect("it is right");
    both_ways(engine, &[("ff 0f 40", "set 4095"), ("01 08 44", "set 4098"), ("ff 0f 7c", "set 134184960")]);
    assert!(assembled(engine, "set 4097").is_err());
    let mistakes = [
        (
            shown.replace("value >> size", "value >> other").replace("size: {", "other: { bits: 22 }, size: {"),
            "does not follow from `other`",
        ),
        (float.replace("value >> e", "value >> e, x: 1"), "`x`"),
        (float.replace("52 - clz(value)", "m"), "`m` is not known yet"),
    ];
    for (rest, message) in mistakes {
        let told = of_text("mistaken_way", &spec(&rest), 0).map(drop).expect_err(message);
        assert!(told.contains(message), "{message}: {told}");
    }
}

/// A number takes as many bytes as it needs; the encoder, too, treats bits after the last byte as 0.
#[test]
fn ways_back_know_which_bits_are_there() {
    let spec = "isa: leb\nprovenance: document\nword: [8, 16, 24, 32]\ninstructions:\n  const:\n    doc: C.\n    word: 32\n    \
        length: 'if c0 == 0 { 2 } else if c1 == 0 { 3 } else { 4 }'\n    fixed: { 7..0: 0x41 }\n    where: c2 == 0\n    \
        fields:\n      b0: { bits: 14..8 }\n      c0: { bits: 15 }\n      b1: { bits: 22..16 }\n      c1: { bits: 23 }\n      \
        b2: { bits: 30..24 }\n      c2: { bits: 31 }\n      n: { value: b0 | b1 << 7 | b2 << 14, encode: { b0: value & 127, \
        c0: 'if value >= 128 { 1 } else { 0 }', b1: value >> 7 & 127, c1: 'if value >= 0x4000 { 1 } else { 0 }', b2: value >> 14 } }\n    \
        syntax: 'const {n}'\n  end: { doc: E., word: 8, fixed: { 7..0: 11 }, syntax: end }\n";
    let engine = of_text("leb", spec, 0).expect("it is right");
    both_ways(engine, &[("41 05", "const 5"), ("41 80 01", "const 128"), ("41 ff ff 7f", "const 2097151")]);
    assert!(assembled(engine, "const 2097152").is_err());
}
