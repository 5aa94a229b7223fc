//! What a generated instruction set does, whichever door it came through: each crate here runs these tests on its own.

use std::collections::HashSet;

use door::blink::{
    self, Colour, Curve, Fade, Instruction, Jump, Lamp, Level, Nop, Opcode, Sensor, SetU8, Steps, Swap, Turn, Wait,
    When,
};
use door::rt::annotate::{Note, Role};
use door::rt::error::ParseReason;
use door::rt::print::Style;
use door::rt::program::{assemble, disassemble};
use door::rt::registers::RegisterUse;
use door::rt::{DecodeError, EncodeError, Unimplemented};
use door::strict;

fn lamp(index: usize) -> Lamp {
    Lamp::new(index).expect("there are eight lamps")
}

fn read(text: &str) -> Instruction {
    text.parse().unwrap_or_else(|error| panic!("`{text}`: {error}"))
}

/// Every instruction with every kind of operand, its word and its customary text.
const CASES: [(u16, &str); 17] = [
    (0x0000, "NOP"),
    (0x2dc8, "SET.u8.lit l3, #200"),
    (0x3c00, "SET.u8 l7, #0"),
    (0x41f4, "WAIT 500 ms"),
    (0x57ff, "WAIT.dark 2047 ms"),
    (0x6603, "FADE.linear l3, l3"),
    (0x6f15, "FADE.smooth l7, 0x24"),
    (0x6082, "FADE.linear.dark l0, l2"),
    (0x6020, "FADE.linear l0, dusk[0]"),
    (0x617f, "FADE.smooth.lit l0, clock[7]"),
    (0x7003, "JUMP 3"),
    (0x77ff, "JUMP.lit -1"),
    (0x8240, "SWAP l1 <-> l1"),
    (0x8e08, "SWAP.mirror l7 <-> l0"),
    (0x9087, "TURN l1, #7"),
    (0x9c65, "TURN l0.blue, #-3"),
    (0x9800, "TURN l0, #-16"),
];

#[test]
fn words_and_text_are_views_of_one_instruction() {
    for (word, text) in CASES {
        let instruction = blink::decode(word).unwrap_or_else(|error| panic!("{word:#06x} ({text}): {error}"));
        assert_eq!(instruction.encode(), word);
        assert_eq!(instruction.to_string(), text, "{word:#06x}");
        assert_eq!(read(text), instruction, "{text}");
        assert_eq!(format!("{instruction:?}"), text);
        assert_eq!(u16::from(instruction), word);
        assert_eq!(Instruction::try_from(word), Ok(instruction));
    }
}

#[test]
fn of_all_words_each_is_an_instruction_that_encodes_to_it_or_an_error() {
    let (mut valid, mut seen) = (0, HashSet::new());
    for word in 0..=u16::MAX {
        let Ok(instruction) = blink::decode(word) else { continue };
        valid += 1;
        seen.insert(instruction.opcode());
        assert_eq!(instruction.encode(), word);
        // The exact text says even what ignored bits are; the customary text is the same for all of them.
        assert_eq!(read(&format!("{instruction:#}")).encode(), word, "{instruction:#}");
        let ignored = instruction.info().ignored as u16;
        assert_eq!(read(&instruction.to_string()).encode(), word & !ignored, "{instruction}");
    }
    // NOP 256 · SET.u8 8·3·256 · WAIT 3·2048 · FADE 8·2·3·(8+10+3·8) · JUMP 3·1024 · SWAP 64·2·4 · TURN 8·4·32
    assert_eq!(valid, 256 + 6144 + 6144 + 2016 + 3072 + 512 + 1024);
    assert_eq!(seen.len(), Opcode::COUNT);
    let mut count = 0;
    blink::decode_all(&[0x0000, 0x2fc8], |index, result| {
        assert_eq!(result.is_ok(), index == 0);
        count += 1;
    });
    assert_eq!(count, 2);
}

#[test]
fn fields_have_types() {
    let Instruction::SetU8(set) = read("SET.u8.lit l3, #200") else { panic!("it is SET.u8") };
    assert_eq!((set.dst(), set.level(), set.when()), (lamp(3), 200, When::Lit));
    let Instruction::Fade(fade) = read("FADE.smooth l7, clock[5]") else { panic!("it is FADE") };
    assert_eq!((fade.dst(), fade.curve()), (lamp(7), Curve::Smooth));
    assert_eq!(fade.to(), Level::Sensor { name: Sensor::Clock, channel: 5 });
    let Instruction::Turn(turn) = read("TURN l0.red, #-3") else { panic!("it is TURN") };
    assert_eq!((turn.by(), turn.dst_colour()), (-3i8, Colour::Red));
    let Instruction::Jump(jump) = read("JUMP -512") else { panic!("it is JUMP") };
    assert_eq!(jump.target(), -512i16);
    let Instruction::Swap(swap) = read("SWAP.mirror l1 <-> l2") else { panic!("it is SWAP") };
    assert_eq!((swap.a(), swap.b(), swap.mirror()), (lamp(1), lamp(2), true));
    assert_eq!(When::default(), When::Always);
    assert_eq!(Steps::find(36).map(Steps::index), Some(5));
    assert_eq!((Lamp::new(8), Steps::new(10)), (None, None));
}

#[test]
fn setters_change_one_thing() {
    let Instruction::SetU8(set) = read("SET.u8.lit l3, #200") else { panic!("it is SET.u8") };
    let text = |i: SetU8| Instruction::from(i).to_string();
    assert_eq!(text(set.with_dst(lamp(7))), "SET.u8.lit l7, #200");
    assert_eq!(text(set.with_level(0)), "SET.u8.lit l3, #0");
    assert_eq!(text(set.with_when(When::Always)), "SET.u8 l3, #200");
    let Instruction::Turn(turn) = read("TURN l0.red, #-3") else { panic!("it is TURN") };
    assert_eq!(turn.with_by(15).map(Turn::by), Ok(15));
    let error = EncodeError::OutOfRange { field: "by", least: -16, greatest: 15 };
    assert_eq!(turn.with_by(16), Err(error));
    assert_eq!(turn.with_by(-17), Err(error));
    assert_eq!(turn.with_dst_colour(Colour::White).dst_colour(), Colour::White);
    let Instruction::Swap(swap) = read("SWAP l1 <-> l2") else { panic!("it is SWAP") };
    assert!(swap.with_mirror(true).mirror());
}

#[test]
fn builders_take_the_operands_and_what_has_no_default() -> Result<(), EncodeError> {
    let built: [(Instruction, &str); 7] = [
        (Nop::new()?.into(), "NOP"),
        (SetU8::new(lamp(3), 200)?.with_when(When::Lit).into(), "SET.u8.lit l3, #200"),
        (Wait::new(500)?.into(), "WAIT 500 ms"),
        (
            Fade::new(lamp(0), Level::Step(Steps::new(5).expect("ten steps")), Curve::Linear)?.into(),
            "FADE.linear l0, 0x24",
        ),
        (Jump::new(-2)?.with_when(When::Dark).into(), "JUMP.dark -2"),
        (Swap::new(lamp(1), lamp(2))?.into(), "SWAP l1 <-> l2"),
        (Turn::new(lamp(1), 7)?.into(), "TURN l1, #7"),
    ];
    for (instruction, text) in built {
        assert_eq!(instruction.to_string(), text);
        assert_eq!(blink::decode(instruction.encode()), Ok(instruction));
    }
    assert_eq!(Wait::new(2048), Err(EncodeError::OutOfRange { field: "ms", least: 0, greatest: 2047 }));
    let channel = Level::Sensor { name: Sensor::Dusk, channel: 8 };
    assert!(Fade::new(lamp(0), channel, Curve::Linear).is_err());
    Ok(())
}

#[test]
fn the_specification_is_there_as_tables() {
    assert_eq!(blink::ISA.name, "blink");
    assert_eq!(blink::ISA.word_bits, 16);
    assert_eq!(Opcode::from_mnemonic("FADE"), Some(Opcode::Fade));
    assert_eq!(Opcode::from_mnemonic("FADES"), None);
    let info = Opcode::SetU8.info();
    assert_eq!((info.title, info.doc), ("set", "Sets a lamp's brightness."));
    assert!(info.source.starts_with("blink.yaml:"), "{}", info.source);
    assert_eq!(info.operands[0].doc, "The lamp.");
    assert_eq!(Opcode::ALL.map(|o| o.mnemonic()), ["NOP", "SET.u8", "WAIT", "FADE", "JUMP", "SWAP", "TURN"]);
}

#[test]
fn registers_read_and_written_are_known() {
    let lamps = |uses: Vec<RegisterUse>| uses.iter().map(|u| (u.first, u.count)).collect::<Vec<_>>();
    let cases: [(&str, &[(u16, u16)], &[(u16, u16)]); 5] = [
        ("NOP", &[], &[]),
        ("SET.u8 l3, #1", &[], &[(3, 1)]),
        ("SWAP l1 <-> l2", &[(1, 1), (2, 1)], &[(1, 1), (2, 1)]),
        ("FADE.linear l4, l5", &[(4, 1), (5, 1)], &[(4, 1)]),
        ("FADE.linear l4, dusk[1]", &[(4, 1)], &[(4, 1)]),
    ];
    for (text, reads, writes) in cases {
        let instruction = read(text);
        assert_eq!(lamps(instruction.reads().collect()), reads, "{text} reads");
        assert_eq!(lamps(instruction.writes().collect()), writes, "{text} writes");
    }
}

#[test]
fn annotations_account_for_every_bit() {
    for (word, text) in CASES {
        let mut notes: Vec<Note> = Vec::new();
        read(text).annotate(|note| notes.push(note));
        let mut covered = 0u32;
        for note in &notes {
            let mask = ((1u32 << (note.high - note.low + 1)) - 1) << note.low;
            assert_eq!(covered & mask, 0, "{text}: {note:?} is told twice");
            covered |= mask;
        }
        assert_eq!(covered, 0xffff, "{text} ({word:#06x})");
    }
    let mut found = Vec::new();
    read("SET.u8.lit l3, #200")
        .annotate(|note| found.push((note.high, note.low, note.name, note.role, note.text.as_str().to_owned())));
    let lit = (9, 8, "when", Role::Modifier, "lit".to_owned());
    assert!(found.contains(&lit), "{found:?}");
    assert!(found.contains(&(7, 0, "level", Role::Operand, "#200".to_owned())), "{found:?}");
}

#[test]
fn a_word_that_is_no_instruction_is_refused_with_the_reason() {
    let refused = |word: u16| blink::decode(word).expect_err("it is no instruction");
    assert_eq!(refused(0x2fc8), DecodeError::Reserved { form: "SET.u8", operand: "", field: "when", found: 3 });
    assert_eq!(refused(0x2fc8).to_string(), "SET.u8: reserved value 3 in `when`");
    assert_eq!(
        refused(0x9008),
        DecodeError::Fixed { form: "TURN", bits: (4, 3), expected: 0, found: 1 },
        "a bit that must be zero"
    );
    assert_eq!(refused(0x6008), DecodeError::Operand { form: "FADE", operand: "to", found: 8 });
    assert_eq!(refused(0x601a), DecodeError::OutOfRange { form: "FADE", operand: "to", found: 10, count: 10 });
    assert_eq!(refused(0x6030).to_string(), "FADE: reserved value 2 in `name` of operand `to`");
    assert!(matches!(refused(0xf000), DecodeError::UnknownOpcode(_)));
    assert!(matches!(refused(0x0100), DecodeError::UnknownOpcode(_) | DecodeError::Fixed { .. }));
}

#[test]
fn ignored_bits_are_kept() {
    assert_eq!(blink::decode(0x00ff).map(Instruction::encode), Ok(0x00ff));
    assert_eq!(blink::decode(0x8230).map(|i| i.to_string()).as_deref(), Ok("SWAP l1 <-> l0"));
}

#[test]
fn bad_text_is_refused_at_a_column_with_advice() {
    let refused = |text: &str| {
        let error = text.parse::<Instruction>().expect_err(text);
        (error.column(), error.to_string(), error.help().to_string(), error.reason)
    };
    let (column, message, help, reason) = refused("SETT.u8 l3, #200");
    assert_eq!((column, reason), (1, ParseReason::UnknownMnemonic));
    assert_eq!(message, "no instruction is called `SETT.u8`");
    assert_eq!(help, "did you mean `SET.u8`?");
    let (column, message, help, _) = refused("SET.u8.lid l3, #200");
    assert_eq!((column, message.as_str()), (8, "SET.u8 has no modifier `lid`"));
    assert_eq!(help, "did you mean `lit`?");
    let (column, message, ..) = refused("SET.u8 l3, #256");
    assert_eq!((column, message.as_str()), (13, "`256` is out of range for `level`: 0 to 255 is allowed"));
    assert_eq!(refused("SET.u8 l8, #0").0, 9);
    let (column, message, help, _) = refused("FADE l0, l1");
    assert_eq!((column, message.as_str()), (5, "FADE needs the modifier `curve`"));
    assert_eq!(help, "write one of `.linear` `.smooth`");
    assert_eq!(refused("SWAP l1, l2").1, "expected `<->`, found `,`");
    assert_eq!(refused("NOP nop").3, ParseReason::Trailing);
    assert_eq!(refused("JUMP nowhere").3, ParseReason::UnknownLabel);
    assert_eq!(refused("WAIT 1 s").1, "expected `ms`, found `s`");
}

#[test]
fn text_is_forgiven_what_the_machine_has_no_opinion_on() {
    for text in ["SET.u8.lit l3, #200", "  SET.u8.lit  l3 ,#0xC8  ", "SET.u8.lit l3,#0b1100_1000"] {
        assert_eq!(read(text).encode(), 0x2dc8, "{text}");
    }
    assert_eq!(read("FADE.lit.smooth l0, clock[7]").encode(), 0x617f, "modifiers in another order");
    assert_eq!(
        read("WAIT.always 500ms".replace("500ms", "500 ms").as_str()).encode(),
        0x41f4,
        "a default may be written"
    );
}

const PROGRAM: &str = "
start:  SET.u8 l0, #255        // on
again:  WAIT 500 ms
        SWAP l0 <-> l1         ; and around
        JUMP.lit again
        .word 0x00ff
        JUMP start
";

#[test]
fn programs_have_labels() {
    let words = assemble(blink::ISA, PROGRAM).expect("it is a program");
    assert_eq!(words, [0x20ff, 0x41f4, 0x8040, 0x77fd, 0x00ff, 0x73fa]);
    let mut text = String::new();
    assert_eq!(disassemble(blink::ISA, &words, Style::Customary, &mut text), Ok(0));
    assert_eq!(text, "l0:\nSET.u8 l0, #255\nl1:\nWAIT 500 ms\nSWAP l0 <-> l1\nJUMP.lit l1\nNOP\nJUMP l0\n");
    // The bits that NOP ignores are no part of its text.
    assert_eq!(assemble(blink::ISA, &text), Ok(vec![0x20ff, 0x41f4, 0x8040, 0x77fd, 0x0000, 0x73fa]));
    text.clear();
    assert_eq!(disassemble(blink::ISA, &[0x2fc8], Style::Customary, &mut text), Ok(1));
    assert_eq!(text, ".word 0x2fc8 // SET.u8: reserved value 3 in `when`\n");
    assert_eq!(assemble(blink::ISA, &text), Ok(vec![0x2fc8]));
    let errors = assemble(blink::ISA, "again: NOP\n  JUMP agan\n  WAIT 9999 ms\n").expect_err("two mistakes");
    let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "2:8: the label `agan` is not defined (did you mean `again`?)",
            "3:8: `9999` is out of range for `ms`: 0 to 2047 is allowed"
        ]
    );
}

/// A machine that knows two instructions.
#[derive(Default)]
struct Lamps([u8; Lamp::COUNT]);

impl blink::Semantics for Lamps {
    type Output = Result<(), Unimplemented>;

    fn set_u8(&mut self, i: SetU8) -> Self::Output {
        self.0[i.dst().index()] = i.level();
        Ok(())
    }

    fn swap(&mut self, i: Swap) -> Self::Output {
        self.0.swap(i.a().index(), i.b().index());
        Ok(())
    }
}

#[test]
fn an_emulator_in_progress_says_what_it_lacks() {
    let mut lamps = Lamps::default();
    for text in ["SET.u8 l3, #200", "SWAP l3 <-> l5"] {
        assert_eq!(blink::dispatch(read(text), &mut lamps), Ok(()));
    }
    assert_eq!(lamps.0, [0, 0, 0, 0, 0, 200, 0, 0]);
    let missing = blink::dispatch(read("WAIT 1 ms"), &mut lamps).expect_err("not written yet");
    assert_eq!(missing.to_string(), "WAIT is not implemented");
}

/// A machine that must know all of them; `forgotten.md` shows what happens otherwise.
struct Names;

impl strict::Semantics for Names {
    type Output = &'static str;

    fn nop(&mut self, _: strict::Nop) -> &'static str {
        "nop"
    }
    fn set_u8(&mut self, _: strict::SetU8) -> &'static str {
        "set"
    }
    fn wait(&mut self, _: strict::Wait) -> &'static str {
        "wait"
    }
    fn fade(&mut self, _: strict::Fade) -> &'static str {
        "fade"
    }
    fn jump(&mut self, _: strict::Jump) -> &'static str {
        "jump"
    }
    fn swap(&mut self, _: strict::Swap) -> &'static str {
        "swap"
    }
    fn turn(&mut self, _: strict::Turn) -> &'static str {
        "turn"
    }
}

#[test]
fn a_complete_emulator_returns_what_it_likes() {
    let names = ["nop", "set", "wait", "fade", "jump", "swap", "turn"];
    for (opcode, name) in [0x0000, 0x2000, 0x4000, 0x6000, 0x7000, 0x8000, 0x9000].into_iter().zip(names) {
        let instruction = strict::decode(opcode).expect("all its fields may be 0");
        assert_eq!(strict::dispatch(instruction, &mut Names), name);
    }
}
