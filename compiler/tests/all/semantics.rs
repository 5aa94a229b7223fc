//! Semantics texts: from a specification to graphs that execute.

use isaforge_core::semantics::evaluate::{Column, Environment, Scratch, evaluate};
use isaforge_core::semantics::{AtomicOp, Modifier, NONE, Op, Semantics, Shape, Special, Type, instantiate};

use crate::support::compiled;

const HEAD: &str = "
isa: t
word: 16
provenance: document
banks: { x: { count: 8, width: 32, prints: \"x{n}\" } }
enums:
  Half: { values: [none, h0, h1, ~], default: none }
  Round: { values: [rte, rtp, rtn, rtz], default: rte }
";

/// A specification of one instruction `T` with this text; `semantics` is the content of that section.
fn spec(semantics: &str, text: &str) -> String {
    format!(
        "{HEAD}semantics:\n  pc: u32\n{semantics}\ninstructions:\n  T:\n    doc: Does something.\n    fixed: {{ 15: 1 }}\n    \
         modifiers: {{ neg: {{ bits: 14 }}, half: {{ enum: Half, bits: 13..12 }}, round: {{ enum: Round, bits: 11..10 }} }}\n    \
         operands:\n      d: {{ bank: x, bits: 9..7, access: write }}\n      a: {{ bank: x, bits: 6..4, access: read }}\n      \
         b: {{ bank: x, bits: 3..1, access: read }}\n    ignored: [0]\n    does: \"{text}\"\n"
    )
}

/// The three registers of `T`, which are `d`, `a` and `b`; memory is one word at 16.
struct Registers {
    values: [u64; 3],
    memory: u64,
    went: Option<u64>,
}

impl Environment<1> for Registers {
    type Fault = String;

    fn active(&self) -> u64 {
        1
    }

    fn operand(&mut self, operand: u16, _: u16, _: Type) -> Result<Column<1>, String> {
        Ok([self.values[usize::from(operand)]])
    }

    fn write(&mut self, operand: u16, _: u16, _: Type, value: &Column<1>, _: u64) -> Result<(), String> {
        self.values[usize::from(operand)] = value[0];
        Ok(())
    }

    fn state(&mut self, _: u16, _: Option<&Column<1>>) -> Result<Column<1>, String> {
        Ok([7])
    }

    fn set_state(&mut self, _: u16, _: Option<&Column<1>>, value: &Column<1>, _: u64) -> Result<(), String> {
        self.memory = value[0];
        Ok(())
    }

    fn special(&mut self, special: Special) -> Column<1> {
        [if special == Special::Pc { 100 } else { 102 }]
    }

    fn load(&mut self, _: u16, ty: Type, address: &Column<1>, _: u64) -> Result<Column<1>, String> {
        if address[0] == 16 { Ok([self.memory & ty.mask()]) } else { Err(format!("nothing at {}", address[0])) }
    }

    fn store(&mut self, _: u16, _: Type, _: &Column<1>, value: &Column<1>, _: u64) -> Result<(), String> {
        self.memory = value[0];
        Ok(())
    }

    fn atomic(
        &mut self,
        op: AtomicOp,
        _: u16,
        ty: Type,
        _: &Column<1>,
        value: &Column<1>,
        _: Option<&Column<1>>,
        _: u64,
    ) -> Result<Column<1>, String> {
        let old = self.memory;
        self.memory = op.apply(ty, old, value[0]);
        Ok([old])
    }

    fn branch(&mut self, target: &Column<1>, _: u64) -> Result<(), String> {
        self.went = Some(target[0]);
        Ok(())
    }

    fn barrier(&mut self, _: u64) -> Result<(), String> {
        Ok(())
    }

    fn end(&mut self, _: u64) -> Result<(), String> {
        Ok(())
    }

    fn fault(&mut self, _: u16, datum: &Column<1>, _: u64) -> Result<(), String> {
        Err(format!("fault {}", datum[0]))
    }

    fn intrinsic(&mut self, _: u16, arguments: &[Column<1>], _: u64) -> Result<Column<1>, String> {
        Ok([arguments.iter().map(|column| column[0]).sum()])
    }
}

/// The shape for the modifiers `neg`, `half` and `round`.
fn shape(semantics: &Semantics, modifiers: [u64; 3]) -> Shape {
    let operation = &semantics.operations[0];
    instantiate(semantics, operation, |m| match operation.modifiers[usize::from(m)] {
        Modifier::Form(i) => modifiers[usize::from(i)],
        Modifier::Suffix(..) => 0,
        _ => unreachable!("words have no fields of groups"),
    })
}

fn run(semantics: &str, text: &str, modifiers: [u64; 3], a: u64, b: u64) -> Result<Registers, String> {
    let compiled = compiled(&spec(semantics, text))?;
    let semantics = compiled.semantics.expect("the specification says what T does");
    let shape = shape(semantics, modifiers);
    let mut registers = Registers { values: [0xdead, a, b], memory: 5, went: None };
    evaluate(semantics, &shape, &mut Scratch::default(), &mut registers)?;
    Ok(registers)
}

fn result(text: &str, modifiers: [u64; 3], a: u64, b: u64) -> u64 {
    run("", text, modifiers, a, b).unwrap_or_else(|message| panic!("{text}: {message}")).values[0]
}

#[test]
fn arithmetic_has_the_precedence_of_other_languages() {
    assert_eq!(result("d = a + b * 3", [0; 3], 2, 5), 17);
    assert_eq!(result("d = (a | 0x10) ^ b & 6", [0; 3], 1, 7), 0x17);
    assert_eq!(result("d = a << 4 >> 2", [0; 3], 1, 7), 4);
    assert_eq!(result("d = -a", [0; 3], 1, 0), 0xffff_ffff);
    assert_eq!(result("d = zext(u32, a < b)", [0; 3], 1, 2), 1);
    assert_eq!(result("d = if (a as i32) < (b as i32) { 1 } else { 0 }", [0; 3], 0xffff_ffff, 2), 1);
}

#[test]
fn a_modifier_chooses_an_arm_and_leaves_no_other_behind() {
    let text = "d = match half { none => a, h0 => zext(u32, a.h0), h1 => zext(u32, a.h1) }";
    for (half, expected) in [(0, 0x1234_5678), (1, 0x5678), (2, 0x1234)] {
        assert_eq!(result(text, [0, half, 0], 0x1234_5678, 0), expected);
    }
    let compiled = compiled(&spec("", text)).unwrap();
    let shape = shape(compiled.semantics.unwrap(), [0, 0, 0]);
    assert_eq!(shape.nodes.len(), 2, "an operand and a write: {:?}", shape.nodes);
}

#[test]
fn functions_are_expanded_where_they_are_called() {
    let functions = "  functions:\n    sign(x, n): \"if n { -x } else { x }\"\n    twice(x): \"let y = x + x; y\"\n";
    let text = "let y = a; d = twice(sign(y, neg)) + y";
    assert_eq!(run(functions, text, [1, 0, 0], 3, 0).unwrap().values[0], 0xffff_fffd);
    let message = run("  functions:\n    f(x): \"x + a\"\n    g(x): f(x)\n", "d = g(b)", [0; 3], 1, 2);
    assert_eq!(message.unwrap().values[0], 3);
    let message = run("  functions:\n    f(x): \"f(x)\"\n", "d = f(b)", [0; 3], 1, 2).err().unwrap();
    assert!(message.contains("E0127"), "{message}");
}

#[test]
fn a_writer_assigns_the_operand_that_it_is_given() {
    let writer = "  functions:\n    low(d) = v: \"d = zext(u32, v.h0)\"\n";
    assert_eq!(run(writer, "low(d) = a + b", [0; 3], 0x1_0002, 3).unwrap().values[0], 5);
    let message = run(writer, "low(a) = b; d = b", [0; 3], 1, 2).err().unwrap();
    assert!(message.contains("E0126"), "{message}");
}

#[test]
fn an_operand_is_read_in_another_size() {
    // The registers of this machine return all of their bits, whatever the size.
    assert_eq!(result("d = read(u64, a).w1", [0; 3], 7 << 32 | 5, 0), 7);
    let message = compiled(&spec("", "d = read(u64, a + b).w1")).err().unwrap();
    assert!(message.contains("E0123"), "{message}");
}

#[test]
fn a_rounding_follows_a_modifier() {
    let mode = "  functions:\n    mode(m): \"match m { rte => rne, rtp => rtp, rtn => rtn, rtz => rtz }\"\n";
    let text = "d = cvt(i32, a as f32, mode(round)) as u32";
    for (round, expected) in [(0, 2), (1, 3), (2, 2), (3, 2)] {
        assert_eq!(run(mode, text, [0, 0, round], 2.5f32.to_bits().into(), 0).unwrap().values[0], expected);
    }
}

#[test]
fn the_rule_on_nans_applies_to_results_of_arithmetic_alone() {
    let nan = "  nan: { f32: 0x7fc00000 }\n";
    let (a, inf) = (0xffc1_2345, 0x7f80_0000);
    assert_eq!(run(nan, "d = (a as f32) + (b as f32)", [0; 3], a, 0).unwrap().values[0], 0x7fc0_0000);
    assert_eq!(run(nan, "d = (a as f32) - (b as f32)", [0; 3], inf, inf).unwrap().values[0], 0x7fc0_0000);
    assert_eq!(run(nan, "d = -(a as f32)", [0; 3], a, 0).unwrap().values[0], 0x7fc1_2345);
    assert_eq!(run(nan, "d = widen(f32, a.h0 as f16)", [0; 3], 0x7e01, 0).unwrap().values[0], 0x7fc0_2000);
}

#[test]
fn effects_happen_under_their_conditions() {
    let text = "if a != 0 { store(u32, 16 as u64, b); branch(pc + a) } else { d = load(u32, 16 as u64) }";
    let went = run("", text, [0; 3], 4, 9).unwrap();
    assert_eq!((went.memory, went.went, went.values[0]), (9, Some(104), 0xdead));
    let stayed = run("", text, [0; 3], 0, 9).unwrap();
    assert_eq!((stayed.memory, stayed.went, stayed.values[0]), (5, None, 5));
}

#[test]
fn a_fault_leaves_registers_as_they_were() {
    let fault = "  faults: [odd]\n";
    let text = "d = a; if (b & 1) != 0 { fault(odd, zext(u64, b)) }";
    assert_eq!(run(fault, text, [0; 3], 4, 9).err().unwrap(), "fault 9");
    assert_eq!(run(fault, text, [0; 3], 4, 8).unwrap().values[0], 4);
}

#[test]
fn what_is_read_after_an_assignment_was_assigned() {
    let states = "  states: { s: { type: u32 } }\n";
    let ran = run(states, "s = a; if neg { s = b }; d = s + 1", [0; 3], 4, 9).unwrap();
    assert_eq!((ran.values[0], ran.memory), (5, 4));
    let ran = run(states, "s = a; if neg { s = b }; d = s + 1", [1, 0, 0], 4, 9).unwrap();
    assert_eq!((ran.values[0], ran.memory), (10, 9));
    let two = "  states: { s: { type: u32 }, t: { type: u32 } }\n";
    let ran = run(two, "s = a; t = a; s = b; let old = d; d = t; if neg { d = old }", [0; 3], 4, 9).unwrap();
    assert_eq!(ran.values[0], 4, "`s` and `t` held the same value for a while");
    let ran = run(two, "s = a; t = s; let old = d; d = t; if neg { d = old }", [1, 0, 0], 4, 9).unwrap();
    assert_eq!(ran.values[0], 0xdead);
    assert_eq!(run("", "let x = a; for i in 0..4 { x = x + b }; d = x", [0; 3], 1, 2).unwrap().values[0], 9);
}

#[test]
fn vectors_work_component_by_component() {
    assert_eq!(result("d = ((a as u8x4) + (b as u8x4)) as u32", [0; 3], 0xff01_02ff, 0x0101_0101), 0x0002_0300);
    assert_eq!(result("d = [a.h1, a.h0] as u32", [0; 3], 0x1234_5678, 0), 0x5678_1234);
    assert_eq!(result("d = [for i in 0..4: a.b0] as u32", [0; 3], 0x12, 0), 0x1212_1212);
    assert_eq!(result("d = sum(i32, (a as i8x4)) as u32", [0; 3], 0xff01_02ff, 0), 1);
    assert_eq!(
        result("d = select((a as u16x2) == 0, b as u16x2, a as u16x2) as u32", [0; 3], 7, 0x1111_2222),
        0x1111_0007
    );
    assert_eq!(result("d = zext(u32, concat(a[3:0], b[7:4], true))", [0; 3], 0xa, 0x50), 0x14b);
}

/// Texts with an error, and the code and the marked words of the error.
#[test]
fn a_mistake_is_marked_in_the_text() {
    for (text, code, marked) in [
        ("d = c", "E0121", "c"),
        ("d = a +", "E0120", ""),
        ("d = a + 1.5", "E0122", "1.5"),
        ("d = a.h0", "E0122", "a.h0"),
        ("d = min(a)", "E0123", "min"),
        ("d = match half { none => a, h0 => b }", "E0124", "match half { none => a, h0 => b }"),
        ("d = match half { none => a, h2 => b, _ => a }", "E0124", "h2"),
        ("d = match half { _ => a, h0 => b }", "E0124", "h0"),
        ("d = 0x1_0000_0000", "E0125", "0x1_0000_0000"),
        ("a = b; d = a", "E0126", "a"),
        ("d = a; b", "E0126", "b"),
        ("d = store(u32, zext(u64, a), b)", "E0126", "store(u32, zext(u64, a), b)"),
        ("d = a < b < a", "E0120", "<"),
        ("d = if a { b } else { a }", "E0122", "a"),
        ("d = half", "E0122", "half"),
        ("d = @", "E0120", "@"),
        ("branch(a)", "E0128", ""),
    ] {
        let message = compiled(&spec("", text)).err().unwrap_or_else(|| panic!("{text} is accepted"));
        assert!(message.contains(code), "{text}: {message}");
        // The marks are below the text and as long as the marked words.
        if !marked.is_empty() {
            let marks = message.lines().find(|line| line.trim_start_matches([' ', '|']).starts_with('^'));
            let marks = marks.unwrap_or_else(|| panic!("{message}")).matches('^').count();
            assert_eq!(marks, marked.chars().count(), "{text}: {message}");
        }
    }
}

/// What those write first who know another language is answered with what to write instead.
#[test]
fn a_mistake_of_the_first_hour_has_a_help() {
    for (text, help) in [
        ("t = a; d = t", "`let t = …` gives a new value a name"),
        ("let t = a d = t", "statements are separated by `;`"),
        ("if neg { d = a let t = b }", "statements are separated by `;`"),
        ("d = a; d += b", "`n += 1` is written `n = n + 1`"),
    ] {
        let message = compiled_message(&spec("", text));
        assert!(message.contains(help), "{text}: {message}");
    }
    let message = compiled_message(&spec("  states: { match: { type: u32 } }\n", "d = a + b"));
    assert!(message.contains("a state cannot be called `match`"), "{message}");
    // The name of something else cannot be assigned, but it is known.
    assert!(!compiled_message(&spec("", "half = a; d = a")).contains("let half"));
}

/// The specification in the chapter of `specs/README.md` on texts must be valid.
#[test]
fn the_example_of_the_document_compiles() {
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/README.md");
    let document = std::fs::read_to_string(document).unwrap();
    let (_, chapter) = document.split_once("## What instructions do").unwrap();
    let (_, example) = chapter.split_once("```yaml\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let compiled = compiled(example).unwrap();
    assert_eq!(compiled.semantics.unwrap().operations.len(), 3);
    let checked = &compiled.checked;
    assert!(checked.diagnostics.is_empty(), "{}", checked.diagnostics.render(&checked.sources, Default::default()));
}

#[test]
fn a_part_of_an_operand_is_written_by_itself() {
    let text = "if neg { d.h1 = a.h0 }; d.h0 = b.h0";
    let compiled = compiled(&spec("", text)).unwrap();
    let writes = |modifiers| {
        let shape = shape(compiled.semantics.unwrap(), modifiers);
        let writes = shape.nodes.iter().filter(|node| node.op == Op::Write);
        writes.map(|node| (node.ty.to_string(), node.args[1])).collect::<Vec<_>>()
    };
    assert_eq!(writes([1, 0, 0]), [("u16".to_owned(), 1), ("u16".to_owned(), 0)]);
    for (text, message) in [
        ("d = a; d.h0 = b.h0", "assigned, as a whole"),
        ("d.h0 = a.h0; d.b1 = b.b0", "other parts"),
        ("d.h0 = a.h0; d = a", "other parts"),
        ("d.h2 = a.h0", "no part `h2`"),
        ("d.h0 = a", "expected `u16`"),
        ("d.h0 = a.h0; d.h1 = d.h0", "is read after a part"),
        ("a.h0 = b.h0", "read-only"),
    ] {
        let found = compiled_message(&spec("", text));
        assert!(found.contains(message), "{text}: {found}");
    }
}

/// A family of two, whose operands are of a kind with a field that all readings have.
const FAMILY: &str = "
isa: t
word: 16
provenance: document
banks: { x: { count: 4, width: 32, prints: \"x{n}\" }, y: { count: 4, width: 32, prints: \"y{n}\" } }
enums: { Half: { values: [low, high] } }
kinds:
  source:
    width: 4
    alternatives:
      x: { fixed: { 3: 0 }, fields: { index: { bank: x, bits: 2..1 }, half: { enum: Half, bits: 0 } }, text: \"{index}.{half}\" }
      y: { fixed: { 3: 1 }, fields: { index: { bank: y, bits: 2..1 }, half: { enum: Half, bits: 0 } }, text: \"{index}.{half}\" }
instructions:
  T{N}:
    family: { parameter: N, count: 2, bits: 15 }
    doc: Takes half a register and adds {N}.
    fixed: { 14..6: 0 }
    operands: { d: { bank: x, bits: 5..4, access: write }, a: { kind: source, at: 0 } }
    does: \"d = zext(u32, match a.half { low => a.h0, high => a.h1 }) + N\"
";

#[test]
fn texts_choose_by_fields_of_kinds_and_know_the_number_of_their_family() {
    let compiled = compiled(FAMILY).unwrap();
    let semantics = compiled.semantics.unwrap();
    for (opcode, word) in [(0usize, 0b0000u64), (0, 0b1001), (1, 0b1001 | 1 << 15)] {
        let operation = &semantics.operations[opcode];
        let form = &compiled.lowered.words().expect("it has words").isa.forms[opcode];
        let shape = instantiate(semantics, operation, |m| {
            operation.modifiers[usize::from(m)].bits(compiled.lowered.words().expect("it has words").isa, form, word)
        });
        let mut registers = Registers { values: [0, 0x2222_1111, 0], memory: 0, went: None };
        evaluate(semantics, &shape, &mut Scratch::default(), &mut registers).unwrap();
        let half = if word & 1 == 0 { 0x1111 } else { 0x2222 };
        assert_eq!(registers.values[0], half + opcode as u64);
    }
    let message = compiled_message(&FAMILY.replace("high => a.h1", "up => a.h1"));
    assert!(message.contains("E0124"), "{message}");
}

fn compiled_message(source: &str) -> String {
    compiled(source).err().unwrap_or_else(|| panic!("it is accepted"))
}

#[test]
fn a_mistake_of_some_rows_says_of_which() {
    let rows = |rows: &str, text: &str| {
        compiled_message(&format!(
            "{HEAD}semantics:\n  pc: u32\ninstructions:\n  t:\n    doc: Does something.\n    fixed: {{ 15..14: 2, 11..10: $op }}\n    \
             operands:\n      d: {{ bank: x, bits: 9..7, access: write }}\n      a: {{ bank: x, bits: 6..4, access: read }}\n    \
             ignored: [13..12, 3..0]\n    rows: {{ {rows} }}\n    does: \"{text}\"\n"
        ))
    };
    let some = rows("one: { op: 0, how: a + 1 }, two: { op: 1, how: a + c }, three: { op: 2, how: c }", "d = $how");
    assert!(some.contains("of `two`, `three`") && some.matches("error[").count() == 1, "{some}");
    let all = rows("one: { op: 0 }, two: { op: 1 }", "d = a + c");
    assert!(!all.contains("of `one`") && all.matches("error[").count() == 1, "{all}");
}

#[test]
fn parts_of_a_store_are_one_access() {
    // The machine of this test has a word at 16, which is replaced by the last part stored.
    let stored =
        run("", "d = a; store_part(u32, 12 as u64, 0, 8, a); store_part(u32, 12 as u64, 4, 8, b)", [0; 3], 4, 9)
            .unwrap();
    assert_eq!(stored.memory, 9);
    assert_eq!(run("", "d = load_part(u32, 12 as u64, 4, 8)", [0; 3], 0, 0).unwrap().values[0], 5);
    let unfinished = "store_part(u32, 16 as u64, 0, 8, a); store_part(u32, 12 as u64, 4, 8, b); d = a";
    assert!(run("", unfinished, [0; 3], 4, 9).err().unwrap().contains("E0125"));
    for text in [
        "d = load_part(u32, 12 as u64, 8, 8)",
        "d = load_part(u32, 12 as u64, 2, 8)",
        "d = load_part(u32, 0 as u64, 0, 64)",
    ] {
        assert!(run("", text, [0; 3], 0, 0).err().unwrap().contains("E0125"), "{text}");
    }
}

#[test]
fn an_atomic_may_say_what_memory_has_to_be() {
    let expected = "  spaces: [here, there]\n";
    // The memory of this test accepts any access; the graph shows whether `b` is requested.
    for (text, expects) in [
        ("d = atomic_add(u32, 16 as u64, a)", false),
        ("d = atomic_add(u32, there, 16 as u64, a)", false),
        ("d = atomic_add(u32, 16 as u64, a, b)", true),
        ("d = atomic_add(u32, there, 16 as u64, a, b)", true),
    ] {
        let compiled = compiled(&spec(expected, text)).unwrap_or_else(|message| panic!("{text}: {message}"));
        let nodes = shape(compiled.semantics.unwrap(), [0; 3]).nodes;
        let atomic = nodes.iter().find(|node| node.op == Op::Atomic).unwrap();
        assert_eq!(atomic.args[2] != NONE, expects, "{text}");
        assert_eq!(atomic.imm & 0xff, u16::from(text.contains("there")), "{text}");
    }
    let message = run(expected, "d = atomic_add(u32, 16 as u64, a, b, a)", [0; 3], 1, 2).err().unwrap();
    assert!(message.contains("E0123"), "{message}");
}

#[test]
fn the_trait_of_intrinsics_has_the_names_and_types_of_the_specification() {
    let glow = "  intrinsics:\n    \"glow(brightness: f32, operand, u1) -> bool\": { doc: Looks. }\n";
    let named = compiled(&spec(glow, "if glow(a as f32, b, neg as u1) { d = a } else { d = b }")).unwrap();
    let source = named.semantics_source("mine").unwrap().unwrap();
    let tidy: String = source.split_whitespace().collect::<Vec<_>>().join(" ");
    let method = "fn glow( &mut self, brightness: [f32; L], argument_1: u16, argument_2: [u8; L], mask: u64, ) \
                  -> Result<[bool; L], Self::Fault>;";
    assert!(tidy.contains(method), "{tidy}");
    // Words of Rust, and the mask that every method has.
    let glow = "  intrinsics: { \"self(mask: u32, self: u32)\": { doc: G. } }\n";
    let named = compiled(&spec(glow, "self(a, b); d = a")).unwrap();
    let source = named.semantics_source("mine").unwrap().unwrap();
    let tidy: String = source.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(tidy.contains("fn self_( &mut self, mask_: [u32; L], self_: [u32; L], mask: u64, )"), "{tidy}");
}

#[test]
fn facts_are_tables_and_their_mistakes_are_told() {
    let facts = "  fidelity: [{ instructions: [T], is: approximate, as: within 1 ulp, known: tested, within: 1 }]\n  \
                 preloads: { all: { doc: All of them., first: 3, values: { lane: Its number. } } }\n  \
                 flow: { modifier: half, values: { h1: { waits: [0, 2] }, h0: { ends: true } }, messages: { modifier: half, slots: {}, instructions: { T: 1 } } }\n";
    let compiled_facts = compiled(&spec(facts, "d = a + b")).unwrap_or_else(|message| panic!("{message}"));
    let semantics = compiled_facts.semantics.unwrap();
    let [fidelity] = semantics.fidelity else { panic!("{:?}", semantics.fidelity) };
    assert_eq!((fidelity.instructions, fidelity.detail), (&[0][..], "within 1 ulp"));
    assert_eq!(fidelity.evidence, "tested on hardware, within 1 ulp");
    assert_eq!((semantics.preloads[0].first, semantics.preloads[0].values[0].0), (3, "lane"));
    let [sends, waits, ends] = semantics.flow else { panic!("{:?}", semantics.flow) };
    assert_eq!((sends.instruction, sends.modifier, sends.sends), ("T", "", 2));
    assert_eq!((waits.modifier, waits.name, waits.value, waits.waits, ends.ends), ("half", "h1", 2, 5, true));
    for (facts, code) in [
        ("  fidelity: [{ instructions: [T, T], is: exact, known: tested }]\n", "E0102"),
        ("  fidelity: [{ instructions: [U], is: exact, known: tested }]\n", "E0101"),
        ("  fidelity: [{ instructions: [T], is: choice, known: tested }]\n", "E0102"),
        ("  flow: { modifier: speed, values: {} }\n", "E0101"),
        ("  flow: { modifier: half, values: { h9: {} } }\n", "E0101"),
        (
            "  flow: { modifier: half, values: {}, messages: { modifier: half, slots: {}, instructions: { U: 1 } } }\n",
            "E0101",
        ),
        (
            "  flow: { modifier: half, values: {}, messages: { modifier: half, slots: {}, waits: { U: half } } }\n",
            "E0101",
        ),
        (
            "  flow: { modifier: half, values: {}, messages: { modifier: half, slots: {}, waits: { T: speed } } }\n",
            "E0101",
        ),
        ("  flow: { modifier: half, values: {}, messages: { modifier: half } }\n", "E0101"),
    ] {
        let message = compiled(&spec(facts, "d = a + b")).err().unwrap_or_else(|| panic!("{facts}"));
        assert!(message.contains(code), "{facts}: {message}");
    }
}
