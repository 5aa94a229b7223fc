//! Conformance: single operations with known results.
//!
//! A row is `operation TAB modifiers TAB inputs TAB expected TAB basis`. The operation has the name from later
//! documents of the instruction set or the name used here. Modifiers are words separated by blanks, dots, commas and
//! brackets. Inputs are hexadecimal words separated by commas, or `-` for none. Operations that v9 encodes are executed
//! as instructions; the others (rotations, `mask`, `FLUSH`, rounding away from zero, propagated NaNs) are computed
//! directly.

mod beyond;
mod build;
mod error;
mod input;

use isaforge_core::float::Format;

use crate::engine::Execution;
use crate::memory::Memory;
use crate::valhall::launch::Launch;
pub use error::VectorError;
use input::{Input, digits};

/// The expected result.
#[derive(Clone, Copy, Debug)]
enum Expected {
    /// Any NaN of this format.
    Nan(Format),
    /// A float near zero.
    NearZero,
    /// The low `bits` bits of a value.
    Bits { value: u64, bits: usize, floats: Option<Floats> },
}

/// The comparison of float results: each float separately, with all NaNs equal.
#[derive(Clone, Copy, Debug)]
struct Floats {
    /// The format of the floats.
    format: Format,
    /// The width of a float in bits.
    width: usize,
    /// The tolerance in units in the last place.
    ulps: u32,
}

impl Floats {
    /// Returns the comparison for an operation. `None` when its result is not a float.
    fn new(operation: &str, basis: &str) -> Option<Self> {
        let (base, ty) = operation.split_once('.').unwrap_or((operation, ""));
        let floats = match base {
            "FCMP" | "FCMP_AND" | "FCMP_OR" | "CSEL" | "FREXPE" | "FPCLASS" => return None,
            _ if base.ends_with("TO_F32") || base == "CUBEFACE1" || base.ends_with("_TABLE") => "f32",
            _ if base.ends_with("F16") => "f16",
            _ => ty,
        };
        let ulps = tolerance(basis);
        match floats {
            "f32" => Some(Floats { format: Format::F32, width: 32, ulps }),
            "f16" | "v2f16" => Some(Floats { format: Format::F16, width: 16, ulps }),
            _ => None,
        }
    }

    /// Whether two floats are equal within the tolerance.
    fn alike(self, a: u64, b: u64) -> bool {
        let nan = |value: u64| self.format.is_nan(value);
        a == b || nan(a) && nan(b) || self.ulps > 0 && distance(a, b, self.width) <= u64::from(self.ulps)
    }
}

impl Expected {
    fn new(operation: &str, text: &str, basis: &str) -> Result<Self, VectorError> {
        let floats = Floats::new(operation, basis);
        let (word, _) = text.split_once(' ').unwrap_or((text, ""));
        match word {
            "NaN" => Ok(Expected::Nan(floats.map_or(Format::F32, |floats| floats.format))),
            "~0" => Ok(Expected::NearZero),
            _ => {
                let value = digits(word).ok_or_else(|| VectorError::Expected(text.to_owned()))?;
                Ok(Expected::Bits { value, bits: 4 * word.len(), floats })
            }
        }
    }

    /// Whether a result is as expected.
    fn allows(self, found: u64) -> bool {
        match self {
            Expected::Nan(format) => format.is_nan(found & format.mask()),
            Expected::NearZero => f32::from_bits(found as u32).abs() < 1e-6,
            Expected::Bits { value, bits, floats } => {
                let cut = |value: u64, at: usize, bits: usize| value >> at & (u64::MAX >> (64 - bits));
                // Fewer digits than a float has are its low bits, and are compared as bits.
                let parts = floats.filter(|floats| floats.width <= bits);
                parts.map_or(cut(found, 0, bits) == cut(value, 0, bits), |floats| {
                    let parts = (0..bits).step_by(floats.width);
                    parts.into_iter().all(|at| floats.alike(cut(found, at, floats.width), cut(value, at, floats.width)))
                })
            }
        }
    }
}

/// The units in the last place that a basis such as `rule (2 ulp; …)` allows.
fn tolerance(basis: &str) -> u32 {
    let before = basis.split_once(" ulp").map_or("", |(before, _)| before);
    before.rsplit(|c: char| !c.is_ascii_digit()).next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The distance of two floats in units in the last place; the two zeros are one apart.
fn distance(a: u64, b: u64, bits: usize) -> u64 {
    let sign = 1u64 << (bits - 1);
    let key = |value: u64| if value & sign == 0 { value as i64 } else { -1 - (value & (sign - 1)) as i64 };
    key(a).abs_diff(key(b))
}

/// A description of how a result was computed, for messages, and the result.
type Answer = (String, u64);

/// Checks a row.
///
/// # Errors
/// When the result differs from the expected one, or the row cannot be checked.
pub fn vector(row: &str) -> Result<(), VectorError> {
    vector_on(Execution::best(), row)
}

/// Checks a row like [`vector`], with the given engine.
///
/// # Errors
/// As [`vector`].
pub fn vector_on(execution: Execution, row: &str) -> Result<(), VectorError> {
    let columns: Vec<&str> = row.trim_end_matches(['\r', '\n']).split('\t').collect();
    let [operation, modifiers, inputs, wanted, basis] = columns[..] else {
        return Err(VectorError::Columns(columns.len()));
    };
    let (operation, modifiers) = (plain(operation), words(modifiers));
    let modifiers: Vec<&str> = modifiers.iter().map(String::as_str).collect();
    let inputs: Vec<Input> = match inputs.trim() {
        "-" | "" => Vec::new(),
        given => given.split(',').map(str::parse).collect::<Result<_, _>>()?,
    };
    let expected = Expected::new(operation, wanted.trim(), basis)?;
    let answers = match beyond::ask(operation, &modifiers, &inputs)? {
        Some(found) => vec![([&[operation], &modifiers[..]].concat().join("."), found)],
        None => build::instructions(operation, &modifiers, &inputs)?
            .into_iter()
            .map(|built| execute(execution, built.word, &built.inputs).map(|found| (built.text, found)))
            .collect::<Result<Vec<Answer>, _>>()?,
    };
    for (what, found) in answers {
        if !expected.allows(found) {
            let digits = match expected {
                Expected::Bits { bits, .. } => bits / 4,
                _ => 8,
            };
            let mask = u64::MAX >> (64 - 4 * digits);
            let found = format!("{:0digits$X}", found & mask);
            return Err(VectorError::Different { what, found, expected: wanted.trim().to_owned() });
        }
    }
    Ok(())
}

/// The name of an operation without trailing remarks.
fn plain(operation: &str) -> &str {
    let end = [" with ", " ("].iter().filter_map(|remark| operation.find(remark)).min();
    operation[..end.unwrap_or(operation.len())].trim()
}

/// The words of the modifiers, without those that only describe the inputs.
fn words(modifiers: &str) -> Vec<String> {
    const REMARKS: [&str; 3] = ["=", "shift", "bytes"];
    let remark = |word: &str| {
        let about = ["src", "accum", "lane"].iter().any(|input| word.starts_with(input));
        REMARKS.contains(&word) || about && word.contains(['=', ':'])
    };
    // The byte selection of a shift count belongs to the second source.
    let modifiers = modifiers.replace("shift bytes ", "shift bytes src1.");
    let words = modifiers.split([' ', ',', '(', ')']).filter(|word| !word.is_empty() && !remark(word));
    let parts = words.flat_map(|word| match word.split_once('.') {
        Some((operand, choice)) if operand.starts_with("src") || operand == "dest" => {
            choice.split('.').map(|choice| format!("{operand}.{choice}")).collect()
        }
        _ => word.split('.').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>(),
    });
    parts.collect()
}

/// The address to which a program under test writes.
const OUT: u64 = 0x1000;

/// Executes one instruction with its inputs in r0, r2, r4 … (and the registers after them). Returns r20 and r21.
fn execute(execution: Execution, word: u64, inputs: &[Input]) -> Result<u64, VectorError> {
    let mut uniforms = vec![OUT as u32, (OUT >> 32) as u32];
    let mut program = Vec::new();
    for (register, word) in inputs.iter().flat_map(|i| [i.value as u32, (i.value >> 32) as u32]).enumerate() {
        program.push(build::load_uniform(register as u64, uniforms.len() as u64)?);
        uniforms.push(word);
    }
    program.push(word);
    program.push(build::store_result()?);
    let mut memory = Memory::new();
    memory.map(OUT, vec![0; 8])?;
    let launch = Launch { program, uniforms, budget: 1000, ..Launch::default() };
    crate::valhall::run_on(execution, &launch, &mut memory)?;
    let mut bytes = [0; 8];
    // This succeeds, since the region was mapped above with eight bytes.
    bytes.copy_from_slice(memory.region(OUT).unwrap_or(&[0; 8]));
    Ok(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tolerance_is_read_from_the_basis() {
        assert_eq!(tolerance("hw-tested rule (2 ulp; flushes subnormal input)"), 2);
        assert_eq!(tolerance("rule (12 ulp)"), 12);
        assert_eq!(tolerance("documented rule"), 0);
        let of = |operation, text, basis, found| Expected::new(operation, text, basis).unwrap().allows(found);
        let near = |text, basis, found| of("FRCP.f32", text, basis, found);
        assert!(near("3F800000", "1 ulp", 0x3f80_0001) && !near("3F800000", "1 ulp", 0x3f80_0002));
        assert!(near("00000000", "1 ulp", 0x8000_0000) && !near("00000000", "", 0x8000_0000));
        let halves = |text, found| of("FMA.v2f16", text, "2 ulp", found);
        assert!(halves("3C00", 0x3bfe) && !halves("3C00", 0x3bfd));
        assert!(halves("3C003C00", 0x3bff_3c02) && !halves("3C003C00", 0x3bff_3c03));
        assert!(halves("7E003C00", 0xfe01_3c00) && !halves("7E003C00", 0x7c00_3c00));
        assert!(!of("IADD.s32", "7FC00000", "2 ulp", 0x7fc0_0001) && near("7FC00001", "", 0x7fc0_0000));
        assert!(near("NaN", "", 0xffff_ffff) && !near("NaN", "", 0x7f80_0000));
        assert!(of("F32_TO_F16", "NaN", "", 0x7e00) && !of("F16_TO_F32", "NaN", "", 0x7e00));
    }

    #[test]
    fn remarks_are_no_modifiers() {
        assert_eq!(words("lt.m1 (and, accum=0)"), ["lt", "m1", "and"]);
        assert_eq!(words("shift bytes b02 = lane0:17 lane1:1"), ["src1.b02"]);
        assert_eq!(words("src1=byte, src2=0"), [""; 0]);
        assert_eq!(words("src0.h1.neg clamp_0_1"), ["src0.h1", "src0.neg", "clamp_0_1"]);
        assert_eq!(plain("FADD_LSCALE.f32 with src0 = -0"), "FADD_LSCALE.f32");
        assert_eq!(plain("F32_TO_F16 (narrowing write)"), "F32_TO_F16");
        assert_eq!(plain("IMUL 32x32->64 s"), "IMUL 32x32->64 s");
    }
}
