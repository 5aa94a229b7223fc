//! The constant that the assembler suggests in place of a float is that float to the instruction.

use half::f16;
use isaforge_core::explain::words::example;
use isaforge_core::print::{Style, print};
use isaforge_core::sample::Random;
use isaforge_core::table::{Access, Form, Operand, Shape};
use isaforge_core::text::Line;
use isaforge_core::{Tables, parse::parse};
use isaforge_runtime::valhall::{self, Fragments};
use isaforge_runtime::{Execution, Memory};
use isaforge_valhall::{ISA, semantics::SEMANTICS};

use super::assemble;
use super::host::resources;
use super::seed::seed;
use super::vectors::execute;

const FLOATS: [&str; 14] =
    ["0.0", "-0.0", "0.1", "0.25", "0.5", "1.0", "-1.0", "2.0", "4.0", "0.3", "3.14159265", "65536.0", "1.5", "-0.5"];

/// The constant that the error of a line suggests.
fn suggested(line: &str) -> Option<String> {
    let read = Tables::Words(ISA).assemble_with(line, 0, Some(SEMANTICS));
    let help = &read.errors.first()?.help;
    let (constant, _) = help.strip_prefix("write `")?.split_once("`, which this operand reads as ")?;
    Some(constant.to_owned())
}

/// Executes one instruction with its inputs in r0, r2 and so on. Returns r20 or, if it writes nothing, whether the
/// pixel that it belongs to is drawn.
fn result(form: &Form, text: &str, inputs: &[u64]) -> u32 {
    if form.operands.iter().any(|operand| operand.access == Access::Write) {
        return execute(text, inputs) as u32;
    }
    let set = |(i, input): (usize, &u64)| format!("IADD_IMM.i32 r{}, 0x0, #{input:#x}\n", 2 * i);
    let inputs: String = inputs.iter().enumerate().map(set).collect();
    let blend = "BLEND.slot0.v4.f32.end @r4:r5:r6:r7, blend_descriptor_0.w0, r60, target:0x0";
    let program = assemble(&format!("{inputs}{text}\nMOV.i32 r4, 0x3f800000\n{blend}"));
    let mut drawn = resources(1, 1);
    let fragments = Fragments::new(program, 1, 1);
    valhall::draw_on(Execution::reference(), &fragments, &mut Memory::new(), &mut drawn).expect("it can be drawn");
    drawn.targets[0].as_ref().expect("it is there").pixels()[0][0]
}

/// The text of an instruction whose destination is r20 and whose sources are r0, r2 and so on, with another text in
/// place of one source. `None` where operands are not written like that.
fn text(form: &Form, opcode: u16, source: usize, other: &str) -> Option<String> {
    let (name, pieces) = pieces(opcode);
    let operand = |(k, operand): (usize, &Operand)| match operand.access {
        _ if k == source => other.to_owned(),
        _ if !matches!(operand.shape, Shape::One { .. }) => pieces.get(k).cloned().unwrap_or_default(),
        Access::Write => "r20".to_owned(),
        _ => format!("r{}", 2 * k),
    };
    let operands: Vec<String> = form.operands.iter().enumerate().map(operand).collect();
    (!pieces.is_empty()).then(|| format!("{name} {}", operands.join(", ")))
}

/// The number that an f32 source reads from a constant.
fn value(constant: &str) -> f32 {
    let (bits, half) = constant.split_once('.').unwrap_or((constant, ""));
    let bits = u32::from_str_radix(&bits[2..], 16).expect("it is hexadecimal");
    match half {
        "" => f32::from_bits(bits),
        "h0" => f16::from_bits(bits as u16).to_f32(),
        "h1" => f16::from_bits((bits >> 16) as u16).to_f32(),
        _ => panic!("{constant}: its suffix"),
    }
}

/// An example of an instruction, with another text in place of one operand.
fn own(opcode: u16, operand: usize, other: &str) -> String {
    let (name, mut pieces) = pieces(opcode);
    if let Some(piece) = pieces.get_mut(operand) {
        other.clone_into(piece);
    }
    format!("{name} {}", pieces.join(", "))
}

/// The mnemonic of an example of an instruction, with its modifiers, and its operands.
fn pieces(opcode: u16) -> (String, Vec<String>) {
    let mut line = Line::new();
    print(ISA, opcode, example(ISA, opcode), Style::Customary, &mut line);
    let (name, operands) = line.as_str().split_once(' ').unwrap_or((line.as_str(), ""));
    (name.to_owned(), operands.split(", ").filter(|text| !text.is_empty()).map(str::to_owned).collect())
}

#[test]
fn a_suggested_constant_is_the_float_that_was_written() {
    let mut random = Random(seed(31));
    let (mut suggestions, mut forms) = (0, 0);
    for (opcode, form) in (0..).zip(ISA.forms) {
        let before = suggestions;
        for k in 0..form.operands.len() {
            let with = |other: &str| text(form, opcode, k, other);
            // These are messages, with f32 sources, which only shaders of a frame can send.
            let is_message = ["ATEST", "ZS_EMIT"].contains(&form.name.str);
            let Some(register) = with("r12").filter(|text| !is_message && parse(ISA, text).is_ok()) else {
                for float in FLOATS {
                    if let Some(found) = suggested(&own(opcode, k, float)) {
                        let name = format!("{} {}: {found}", form.name.str, form.operands[k].name);
                        assert!(is_message, "{name} is claimed and not executed");
                        assert_eq!(value(&found).to_bits(), float.parse::<f32>().unwrap().to_bits(), "{name}");
                    }
                }
                continue;
            };
            for float in FLOATS {
                let Some(constant) = with(float).and_then(|text| suggested(&text)) else { continue };
                let constant = with(&constant).expect("it is written like a register");
                suggestions += 1;
                let value: f32 = float.parse().expect("it is a float");
                let (from, _) = form.name.str.split_once("_TO_").unwrap_or(("", ""));
                let (_, of) = form.name.str.rsplit_once('.').unwrap_or(("", ""));
                let bits = match if from.is_empty() { of } else { from } {
                    "f32" | "F32" | "V2F32" => value.to_bits(),
                    "f16" | "v2f16" | "F16" | "V2F16" => u32::from(f16::from_f32(value).to_bits()) * 0x1_0001,
                    _ => panic!("{}: the type of its numbers", form.name.str),
                };
                for _ in 0..8 {
                    // Comparisons need equal numbers, too.
                    let mut input = || if random.next() & 1 == 0 { bits.into() } else { random.next() & 0xffff_ffff };
                    let inputs = [input(), input(), input(), input(), input(), input(), bits.into()];
                    let (expected, found) = (result(form, &register, &inputs), result(form, &constant, &inputs));
                    assert_eq!(found, expected, "{constant} for {float}, of {inputs:x?}");
                }
            }
        }
        forms += usize::from(suggestions > before);
    }
    println!("{suggestions} suggestions for {forms} instructions");
    assert!(forms > 10 && suggestions > 100, "{suggestions} suggestions for {forms} instructions");
}

#[test]
fn a_float_is_answered_by_how_the_operand_reads_it() {
    for (line, expected) in [
        ("FADD.f32 r1, r2, 0.5", Some("0x38000000.h1")),
        ("FADD.f32 r1, r2, 1.0", Some("0x3f800000")),
        ("FADD.f32 r1, r2, -1.0", Some("0x3f800000.neg")),
        ("FADD.v2f16 r1, r2, 1.0", Some("0x3c000000.h11")),
        ("FADD.f32 r1, r2, 0.7", None),
        // An integer instruction reads bits.
        ("IADD.u32 r1, r2, 1.0", None),
    ] {
        assert_eq!(suggested(line).as_deref(), expected, "{line}");
    }
}
