//! From the name of an operation and its modifiers to a word.

use isaforge_core::bits::Bits;
use isaforge_core::encode::Builder;
use isaforge_core::suggest::nearest;
use isaforge_core::table::{Access, Form, Kind, Modifier, Operand, Shape, Type};
use isaforge_core::{EncodeError, parse};
use isaforge_valhall::{ISA, Opcode, decode};

use super::error::VectorError;
use super::input::Input;

/// An instruction and the input words for r0, r2, r4 …
pub(super) struct Built {
    pub word: u64,
    pub text: String,
    pub inputs: Vec<Input>,
}

/// An operation, in the names of this architecture.
struct Request {
    name: String,
    modifiers: Vec<String>,
    inputs: Vec<Input>,
}

const RESULT: u64 = 20;
const MINUS_ZERO: u32 = 0x8000_0000;
const MINUS_ZEROS: u32 = 0x8000_8000;
const ONE: u32 = 0x3f80_0000;

/// Builds all instructions that must give the result of an operation.
pub(super) fn instructions(operation: &str, modifiers: &[&str], inputs: &[Input]) -> Result<Vec<Built>, VectorError> {
    requests(operation, modifiers, inputs).iter().map(Request::build).collect()
}

/// Translates an operation to the names of this architecture. Later documents use other names, and some of their
/// operations are special cases of others.
fn requests(operation: &str, modifiers: &[&str], inputs: &[Input]) -> Vec<Request> {
    let renamed = |word: &&str| {
        let word = match *word {
            "sat" => "saturate",
            "round_up" => "rtp",
            "round_down" => "rtn",
            "round_zero" => "rtz",
            // These are the defaults.
            "none" | "nan_suppress" | "or" => return None,
            word => word,
        };
        Some(word.to_owned())
    };
    let mut modifiers: Vec<String> = modifiers.iter().filter_map(renamed).collect();
    let mut inputs = inputs.to_vec();
    let (base, ty) = operation.split_once('.').unwrap_or((operation, ""));
    let mut name = operation.to_owned();
    let zero = if ty == "v2f16" { MINUS_ZEROS } else { MINUS_ZERO };
    match base {
        _ if base.starts_with("ARSHIFT_") => {
            name = operation[1..].to_owned();
            modifiers.push("signed".into());
        }
        "ICMP_MULTI" => {
            name = format!("ICMP.{ty}");
            modifiers.push("seq".into());
            if let Some(word) = modifiers.iter_mut().find(|word| *word == "c") {
                *word = "u1".into();
            }
        }
        "ICMP_AND" | "FCMP_AND" => {
            name = operation.replacen("_AND", "", 1);
            modifiers.push("and".into());
        }
        "ICMP_OR" | "FCMP_OR" => name = operation.replacen("_OR", "", 1),
        "IDPADD" => name = format!("IDP.{ty}"),
        "IMUL 32x32->64 u" => name = "IMULD.u64".into(),
        "CLPER inactive result" => {
            name = "CLPER.i32".into();
            modifiers = inactive_result(modifiers);
            // Lane 7 does not exist in a workgroup of one thread.
            inputs = vec![Input::word(0), Input::word(7)];
        }
        "FMUL" => {
            name = format!("FMA.{ty}");
            inputs.push(Input::word(zero));
        }
        "FABS" | "FNEG" => {
            name = format!("FADD.{ty}");
            modifiers.push(base[1..].to_lowercase());
            inputs.push(Input::word(zero));
        }
        "F32_TO_F16" => return to_half(&modifiers, &inputs),
        _ => {}
    }
    vec![Request { name, modifiers, inputs }]
}

/// Turns `code 3` into the modifier with this number.
fn inactive_result(words: Vec<String>) -> Vec<String> {
    let code = |word: &String| if word == "code" { None } else { Some(format!("inactive_result={word}")) };
    words.iter().filter_map(code).collect()
}

/// Rounds to half precision. There is an instruction for it, and any other f32 result written to half a register is
/// also rounded to nearest.
fn to_half(modifiers: &[String], inputs: &[Input]) -> Vec<Request> {
    let request = |name: &str, more: &[u32]| Request {
        name: name.to_owned(),
        modifiers: modifiers.iter().cloned().chain(["dest.h0".to_owned()]).collect(),
        inputs: inputs.iter().copied().chain(more.iter().map(|&word| Input::word(word))).collect(),
    };
    let mut all = vec![request("V2F32_TO_V2F16", &[0])];
    if modifiers.is_empty() {
        all.push(request("FADD.f32", &[MINUS_ZERO]));
        all.push(request("FMA.f32", &[ONE, MINUS_ZERO]));
    }
    all
}

impl Request {
    fn build(&self) -> Result<Built, VectorError> {
        let opcode = find(&self.name)?;
        let form = &ISA.forms[opcode as usize];
        let operation = form.name.str.to_owned();
        let failed = |error: EncodeError| VectorError::Encode { operation: operation.clone(), error };
        let mut builder = Builder::new(ISA, opcode);
        let mut inputs = self.inputs.clone();
        let takes = form.operands.iter().filter(|operand| is_register(operand, Access::Read)).count();
        // Comparisons combine their result with a third source, which rows omit when it is not needed.
        if takes == 3 && inputs.len() == 2 && form.modifiers.iter().any(|modifier| modifier.name == "result_type") {
            inputs.push(Input::word(0));
        }
        if inputs.len() != takes {
            return Err(VectorError::Inputs { operation, takes, given: inputs.len() });
        }
        let mut sources = 0;
        let mut writes = false;
        for (index, operand) in form.operands.iter().enumerate() {
            if is_register(operand, Access::Write) {
                set_register(&mut builder, index, RESULT).map_err(failed)?;
                writes = true;
            } else if is_register(operand, Access::Read) {
                set_register(&mut builder, index, 2 * sources as u64).map_err(failed)?;
                if operand.size == 64 && !inputs[sources].wide {
                    // A word for a pair is extended, if the source supports that.
                    if let Some((bits, value)) = choice(operand.suffixes, "w0") {
                        builder.set_bits(bits, value);
                    }
                }
                sources += 1;
            }
        }
        if !writes {
            return Err(VectorError::NoResult(operation));
        }
        for modifier in &self.modifiers {
            set_modifier(&mut builder, form, modifier)
                .ok_or_else(|| VectorError::Modifier { operation: operation.clone(), modifier: modifier.clone() })?;
        }
        let word = builder.word();
        let text = decode(word).map_or_else(|error| error.to_string(), |instruction| instruction.to_string());
        Ok(Built { word, text, inputs })
    }
}

/// Finds the instruction with this name. Where signedness does not matter, instructions of either signedness match.
fn find(name: &str) -> Result<u16, VectorError> {
    let (base, ty) = name.split_once('.').unwrap_or((name, ""));
    let respelt = |sign: &str| format!("{base}.{}", ty.replacen(['i', 'u'], sign, 1));
    let names = [name.to_owned(), respelt("i"), respelt("u")];
    let found = names.iter().find_map(|name| parse::find_name(ISA, name.as_bytes()));
    found.ok_or_else(|| VectorError::Operation {
        name: name.to_owned(),
        near: nearest(name, Opcode::ALL.iter().map(|opcode| opcode.mnemonic())),
    })
}

fn kind(operand: &Operand) -> Option<&'static Kind> {
    match &operand.shape {
        Shape::One { kind, .. } => ISA.kinds.get(usize::from(*kind)),
        _ => None,
    }
}

/// The index of the reading of an operand as a register.
fn register(operand: &Operand) -> Option<usize> {
    kind(operand)?.alternatives.iter().position(|a| a.fields.iter().any(|f| matches!(f.ty, Type::Register(_))))
}

fn is_register(operand: &Operand, access: Access) -> bool {
    operand.access == access && register(operand).is_some()
}

fn set_register(builder: &mut Builder, index: usize, number: u64) -> Result<(), EncodeError> {
    let operand = builder.form().operands.get(index).ok_or(EncodeError::NoSuchOperand)?;
    builder.set_operand(index, register(operand).ok_or(EncodeError::NoSuchOperand)?, &[number])
}

/// Finds the flag or the value of a modifier that a word names, and returns its bits and value.
fn choice(modifiers: &[Modifier], word: &str) -> Option<(Bits, u64)> {
    modifiers.iter().find_map(|modifier| {
        let value = match modifier.ty {
            Type::Flag => (modifier.name == word || modifier.also == word).then_some(1),
            Type::Enum(index) => {
                let values = ISA.enums.get(usize::from(index))?.values;
                values.iter().find(|value| value.name == word || value.text == word).map(|value| value.bits)
            }
            _ => None,
        };
        Some((modifier.bits, value?))
    })
}

/// Sets the modifier that a word names: `word` itself, `operand.word` for one operand, or `name=number`.
fn set_modifier(builder: &mut Builder, form: &'static Form, word: &str) -> Option<()> {
    if let Some((name, number)) = word.split_once('=') {
        let number: u64 = number.parse().ok()?;
        if let Some(index) = form.operands.iter().position(|operand| operand.name == name) {
            return builder.set_number(index, i64::try_from(number).ok()?).ok();
        }
        let modifier = form.modifiers.iter().find(|modifier| modifier.name == name)?;
        let Type::Enum(index) = modifier.ty else { return None };
        ISA.enums.get(usize::from(index))?.value(number)?;
        builder.set_bits(modifier.bits, number);
        return Some(());
    }
    let (bits, value) = match word.split_once('.') {
        Some((name, word)) => choice(form.operands.iter().find(|operand| operand.name == name)?.suffixes, word)?,
        None => choice(form.modifiers, word)
            .or_else(|| form.operands.iter().find_map(|operand| choice(operand.suffixes, word)))?,
    };
    builder.set_bits(bits, value);
    Some(())
}

/// Assembles a copy of a uniform into a register.
pub(super) fn load_uniform(register: u64, uniform: u64) -> Result<u64, VectorError> {
    helper(&format!("MOV.i32 r{register}, u{uniform}"))
}

/// Assembles a store of the result at the address in u0 and u1, which ends the thread.
pub(super) fn store_result() -> Result<u64, VectorError> {
    helper(&format!("STORE.i64.slot0.end @r{RESULT}:r{}, u0, offset:0", RESULT + 1))
}

fn helper(text: &str) -> Result<u64, VectorError> {
    let unknown = |_| VectorError::Operation { name: text.to_owned(), near: None };
    parse::parse(ISA, text).map(|(_, word)| word).map_err(unknown)
}
