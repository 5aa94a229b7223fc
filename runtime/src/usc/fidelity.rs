//! How near the execution of each operation is to the hardware, as far as public sources tell.

use isaforge_usc::Operation;

/// How near.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fidelity {
    /// As the reference and compilers have it, bit for bit.
    Exact,
    /// The hardware approximates; here the result is that of 64-bit arithmetic, rounded to 32 bits.
    Rounded,
    /// It is executed, but a part of what it does is our choice; the text says which.
    Chosen(&'static str),
    /// It is not executed; the text says why. A program with it is refused when it is loaded, or cannot be written.
    Unsupported(&'static str),
}

/// The fidelity of an operation.
pub fn of(operation: Operation) -> Fidelity {
    by_name(operation.info().name)
}

fn by_name(name: &str) -> Fidelity {
    use Fidelity::{Chosen, Exact, Rounded, Unsupported};
    const MASK: &str = "what it does with masks is not public";
    const SOP: &str = "the half-precision sums of products have no encoding and are not executed yet";
    match name {
        "FRCP" | "FRSQ" | "FLOG" | "FEXP" | "GCMP" | "GEXP" | "FSINC" | "FARCTANC" | "FSQRT" => Rounded,
        "FRED" => Chosen("the whole reduction is in part A, whose second result is the reduced angle in quarter turns"),
        "FLOGCN" => Chosen("nothing tells it from FLOG"),
        "FMAD" | "FADD" | "FMUL" => Chosen("denormals are kept, low precision is full, NaNs are one NaN"),
        "PCK" | "UNPCK" => Chosen("offset formats, F32MASK and COVERAGEMASK; fields lie from the lowest bit"),
        "UADD8" | "UMUL8" | "UMAD8" | "IADD8" | "IMUL8" | "IMAD8" | "UADD16" | "UMUL16" | "UMAD16" | "IADD16"
        | "IMUL16" | "IMAD16" => Chosen("results are extended to a word; without saturation they wrap"),
        "TSTC" => Chosen("the carry of a product and sum is that of the addition"),
        "ATST" => Chosen("the state word's lowest three bits are the comparison"),
        "FITR" | "FITRP" | "DITR" => {
            Chosen("one sample a pixel, at its centre; coordinates count from the screen's corner")
        }
        "SMP1D" | "SMP2D" | "SMP3D" | "ITRSMP1D" | "ITRSMP2D" | "ITRSMP3D" => Chosen(
            "state words and the order of data are those of the software host; levels of detail are handed to it",
        ),
        "ST.tiled" | "ST.reg.tiled" => Chosen("addresses are those of memory; the coverage mask's lowest bit decides"),
        "SAVMSK" => Chosen("masks of valid, of running and of other instances; the other modes are refused"),
        "BA" | "BAL" | "BR" | "BRL" => Chosen("ANYINST is taken when any instance has its condition"),
        "SBO" => Chosen("the offset counts registers and replaces the one before"),
        "CNDSETL" => Chosen("part B does all of it"),
        "MUTEX" => Chosen("a sleeping task goes on behind the group when it is woken"),
        "SETL" => Chosen("the first active instance's result"),
        "PHAS" | "PHAS.reg" => Unsupported("what a change of phase does is not public"),
        "MOVMSK" | "MOVMSK.sm" => Unsupported(MASK),
        "F16SOP" | "F16SOP.MAD" | "F16SOP.U8" | "F16SOP.U8MAD" | "SOPMOV" | "SOPMOV.U8" | "SOPU8MADMOV" => {
            Unsupported(SOP)
        }
        "CONVERTTOF64" | "GTA" | "TESSW" | "ST.TEXELMODE" | "BPRET" | "UNIQ" | "FETCH" => {
            Unsupported("no encoding is public, and it is not executed")
        }
        _ => Exact,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = include_str!("fidelity.rs");

    #[test]
    fn every_name_of_the_table_is_an_operation() {
        let table =
            SOURCE.split("match name {").nth(1).and_then(|rest| rest.split("_ => Exact").next()).expect("it is there");
        let names = table.split('"').skip(1).step_by(2).filter(|text| !text.contains(' '));
        let known = |name: &str| Operation::ALL.iter().any(|operation| operation.info().name == name);
        let unknown: Vec<&str> = names.filter(|name| !known(name)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn what_is_refused_is_said_to_be() {
        for (text, refused) in [("movmsk", true), ("savmsk.caxy _, _", true), ("wop", false)] {
            let program = isaforge_core::group::listing::assemble_program(isaforge_usc::ISA, text);
            let Ok(bytes) = program else { continue };
            assert_eq!(crate::usc::Program::load(&bytes).is_err(), refused, "{text}");
        }
        let unsupported = |name: &str| matches!(by_name(name), Fidelity::Unsupported(_));
        assert!(unsupported("MOVMSK") && unsupported("F16SOP") && !unsupported("FMAD"));
    }
}
