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

/// The fidelity of an operation. An operation that is not named here does not compile.
pub fn of(operation: Operation) -> Fidelity {
    use Fidelity::{Chosen, Exact, Rounded, Unsupported};
    use Operation as O;
    const NO_WORDS: &str = "memory; what the caches do between accesses is not seen";
    const SOP: &str = "the half is rounded once, a byte is a fraction of 255, a word without a part is a 32-bit float";
    match operation {
        O::Mbyp | O::Fdsx | O::Fdsy | O::Fdsxf | O::Fdsyf => Exact,
        O::Fmad | O::Fadd | O::Fmul | O::FaddSecond | O::FmulSecond => {
            Chosen("denormals are kept, low precision is full, NaNs are one NaN")
        }
        O::Frcp | O::Frsq | O::Flog | O::Fexp | O::Gcmp | O::Gexp | O::Fsinc | O::Farctanc | O::Fsqrt => Rounded,
        O::Flogcn => Chosen("nothing tells it from FLOG"),
        O::Fred => {
            Chosen("the whole reduction is in part A, whose second result is the reduced angle in quarter turns")
        }
        O::Mov | O::Movc | O::DriveW0 | O::DriveW1 | O::DriveW1Alone => Exact,
        O::Pck | O::Unpck => Chosen("offset formats, F32MASK and COVERAGEMASK; fields lie from the lowest bit"),
        O::Uadd8 | O::Umul8 | O::Umad8 | O::Iadd8 | O::Imul8 | O::Imad8 | O::Uadd16 | O::Umul16 | O::Umad16 => PARTS,
        O::Iadd16 | O::Imul16 | O::Imad16 => PARTS,
        O::Add64 | O::Uadd6432 | O::Sadd6432 | O::Umadd32 | O::Smadd32 | O::Umadd64 | O::Smadd64 => Chosen(
            "a 32-bit source is negated as the 64-bit number it becomes; each word of a 64-bit one changes for itself",
        ),
        O::Tstz | O::Tstgz | O::Tstgez | O::Tste | O::Tstg | O::Tstge | O::Tstne | O::Tstl | O::Tstle => Exact,
        O::Tstmin | O::Tstmax => Exact,
        O::Tstc => Chosen("the carry of a product and sum is that of the addition"),
        O::And | O::Or | O::Xor | O::Nand | O::Nor | O::Xnor | O::BypLogic | O::Msk | O::Byp => Exact,
        O::BypImm16 | O::BypImm32 | O::Shfl | O::Rev | O::Lsl | O::BypShift | O::Cbs | O::Ftb | O::BypCount => Exact,
        O::FtbShi | O::FtbMsb | O::LslSecond | O::Shr | O::Rol | O::Cps | O::Asr | O::Tz | O::Tnz => Exact,
        O::ResultFt5ToW0 | O::ResultFt4ToW0 | O::ResultFt1ToW0 | O::ResultFt3ToW1 => Exact,
        O::UvswWrite | O::UvswWriteReg | O::UvswWriteEmitEndtask | O::UvswWriteEmitEndtaskReg => Exact,
        O::UvswEmitCut | O::UvswEmitEndtask | O::UvswEmit | O::UvswCut | O::UvswEndtask => Exact,
        O::Tessw => Chosen("an address and a value go to the host; the reference names no operation of it"),
        O::Atst => Chosen(
            "the state word's lowest three bits are the comparison; a fragment stays if a test without IFB has let it pass \
             and none has not",
        ),
        O::Depthf => Chosen("a fragment whose depth is fed back stays"),
        O::Fitr | O::Fitrp | O::Ditr => {
            Chosen("one sample a pixel, at its centre; coordinates count from the screen's corner")
        }
        O::Ld | O::LdReg | O::St | O::StReg | O::Atom => Chosen(NO_WORDS),
        O::StTiled | O::StRegTiled => Chosen("addresses are those of memory; the coverage mask's lowest bit decides"),
        O::StTexelmode | O::Gta => Chosen("where a texel lies the host says; how two registers hold it is our choice"),
        O::Smp1d | O::Smp2d | O::Smp3d => Chosen(
            "state words are those of the software host, the order of data that of Mesa; raw texels and filter coefficients \
             come in an order of our own",
        ),
        O::Itrsmp1d | O::Itrsmp2d | O::Itrsmp3d => {
            Chosen("state words are those of the software host; a reference is the last value that is iterated")
        }
        O::Emitpix => Chosen("the pixel outputs go to the host; what the two sources say is not public"),
        O::Savmsk => Chosen(
            "ICM are the running instances, ICMI the others, ICMOC the running ones that no test has failed; CAXY has their \
             places besides",
        ),
        O::Movmsk | O::MovmskSm => Chosen("the first instance's mask says which instances run"),
        O::Phas | O::PhasReg => Chosen(
            "the task goes on at the address, in bytes from the program's start, or ends; rates and common temporaries make \
             no difference with one sample a pixel",
        ),
        O::Setl => Chosen("the first active instance's result"),
        O::Group => Exact,
        O::Ba | O::Bal | O::Br | O::Brl => Chosen("ANYINST is taken when any instance has its condition"),
        O::Bpret => Chosen("the host says where a breakpoint was"),
        O::Lapc | O::Savl | O::Cndst | O::Cndef | O::Cndsm | O::Cndlt | O::Cndend | O::Cndlpc => Exact,
        O::Cndsetl => Chosen("part B does all of it"),
        O::Sbo => Chosen("the offset counts registers and replaces the one before"),
        O::Idf | O::Wdf | O::Wop | O::Nop => Exact,
        O::Mutex => Chosen("a sleeping task goes on behind the group when it is woken"),
        O::F16sop | O::F16sopU8 => Chosen(SOP),
        O::F16sopMad | O::F16sopU8mad => Chosen("as F16SOP; x is added to b and w to c, as the formulas have it"),
        O::Sopmov | O::SopmovU8 | O::Sopu8madmov => Exact,
        O::Converttof64 => Exact,
        O::Convertfromf64 => Chosen("integers are rounded towards zero and held at the ends of their range"),
        O::Uniq | O::Fetch => Unsupported("only its name is public, not what it does"),
    }
}

const PARTS: Fidelity = Fidelity::Chosen("results are extended to a word; without saturation they wrap");

#[cfg(test)]
mod tests {
    use isaforge_usc::Parts;

    use super::*;
    use crate::usc::Program;

    #[test]
    fn what_is_refused_is_said_to_be() {
        for operation in Operation::ALL {
            let info = operation.info();
            if matches!(of(*operation), Fidelity::Unsupported(_)) {
                let parts: Parts = info.name.to_lowercase().parse().expect("it is written as its name");
                assert!(Program::of_parts(&[parts]).is_err(), "{}", info.name);
            }
        }
    }
}
