//! The table. Every instruction of the generated crate is named in exactly one row; a test sees to it.

use super::Class::{self, Approximate, Choice, Exact};
use super::Evidence::{self, Documented, Nothing, ReliedOn, Tested, TestedInSequence, TestedWithin};

/// Instructions of which the same can be said: names, class, evidence, remarks.
pub(super) type Row = (&'static str, Class, Evidence, &'static str);

pub(super) const ROWS: &[Row] = &[
    // Flow.
    ("NOP", Exact, Documented, ""),
    (
        "BRANCHZ BRANCHZI",
        Exact,
        ReliedOn,
        "The sense of the condition is that of Mesa's compilers; the document's formula is the reverse of its prose. \
         Which of the lanes that have parted goes first is a choice: those with the lowest program counter.",
    ),
    ("BARRIER", Exact, ReliedOn, "In divergent flow it is an error here; the hardware would hang."),
    // Integers.
    (
        "IADD.u32 IADD.v2u16 IADD.v4u8 IADD.s32 IADD.v2s16 IADD.v4s8 ISUB.u32 ISUB.v2u16 ISUB.v4u8 \
         ISUB.s32 ISUB.v2s16 ISUB.v4s8 IABS.s32 IABS.v2s16 IABS.v4s8 CLZ.u32 CLZ.v2u16 CLZ.v4u8 \
         POPCOUNT.i32 BITREV.i32",
        Exact,
        Tested,
        "",
    ),
    (
        "IMUL.i32 IMUL.v2i16 IMUL.v4i8 IMUL.s32 IMUL.v2s16 IMUL.v4s8 HADD.u32 HADD.v2u16 HADD.v4u8 HADD.s32 \
         HADD.v2s16 HADD.v4s8",
        Exact,
        Tested,
        "",
    ),
    (
        "IADD.u64 IADD.s64 ISUB.u64 ISUB.s64 IMULD.u64",
        Exact,
        Tested,
        "That `.saturate` does nothing here is a choice: nobody has seen it.",
    ),
    ("IDP.v4s8 IDP.v4u8", Exact, Tested, ""),
    ("IADD_IMM.i32 IADD_IMM.v2i16 IADD_IMM.v4i8", Exact, Documented, ""),
    ("SHADDX.u64 SHADDX.s64", Exact, Documented, ""),
    ("SEG_ADD.u64", Exact, Documented, "That `preserve_null` is about the first source is a choice."),
    (
        "LSHIFT_AND.i32 LSHIFT_AND.v2i16 LSHIFT_AND.v4i8 LSHIFT_AND.i64 RSHIFT_AND.i32 RSHIFT_AND.v2i16 \
         RSHIFT_AND.v4i8 RSHIFT_AND.i64 LSHIFT_OR.i32 LSHIFT_OR.v2i16 LSHIFT_OR.v4i8 LSHIFT_OR.i64 RSHIFT_OR.i32 \
         RSHIFT_OR.v2i16 RSHIFT_OR.v4i8 RSHIFT_OR.i64 LSHIFT_XOR.i32 LSHIFT_XOR.v2i16 LSHIFT_XOR.v4i8 LSHIFT_XOR.i64 \
         RSHIFT_XOR.i32 RSHIFT_XOR.v2i16 RSHIFT_XOR.v4i8 RSHIFT_XOR.i64",
        Exact,
        Tested,
        "For a narrow first source, that `.signed` extends its sign is a choice.",
    ),
    ("MOV.i32 NOT_OLD.i32 NOT_OLD.i64", Exact, ReliedOn, ""),
    ("MKVEC.v2i16 MKVEC.v2i8", Exact, ReliedOn, ""),
    ("MUX.i32 MUX.v2i16 MUX.v4i8", Exact, Tested, "For bytes `fp_zero` is a choice."),
    (
        "ICMP.u32 ICMP.v2u16 ICMP.v4u8 ICMP.s32 ICMP.v2s16 ICMP.v4s8",
        Exact,
        Tested,
        "Choices: `gtlt` and `total` of integers, `f1` of bytes, `u1` without `.seq`, `.seq` together with `.and`.",
    ),
    ("CSEL.u32 CSEL.v2u16 CSEL.s32 CSEL.v2s16", Exact, Tested, "`gtlt` and `total` of integers are choices."),
    // Floats.
    ("FCMP.f32 FCMP.v2f16 CSEL.f32 CSEL.v2f16", Exact, Tested, ""),
    ("FADD.f32 FADD.v2f16 FMIN.f32 FMIN.v2f16 FMAX.f32 FMAX.v2f16 FADD_LSCALE.f32", Exact, Tested, ANY_NAN),
    ("FADD_IMM.f32 FADD_IMM.v2f16", Exact, Documented, ANY_NAN),
    (
        "FMA.f32 FMA.v2f16",
        Exact,
        TestedWithin(1),
        "One rounding, as the document says; the tests allow a second. Any NaN is the quiet one without payload.",
    ),
    ("FROUND.f32 FROUND.v2f16", Exact, Tested, ANY_NAN),
    (
        "LDEXP.f32 LDEXP.v2f16",
        Exact,
        Documented,
        "Zeros, infinities and NaN are left alone; the document says that special cases differ from a product, not how.",
    ),
    ("FMA_RSCALE.f32 FMA_RSCALE_N.f32 FMA_RSCALE_LEFT.f32", Exact, TestedInSequence, "Rounded once, after scaling."),
    (
        "FMA_RSCALE_SCALE16.f32",
        Choice("FMA_RSCALE with a scale of 16 signed bits"),
        Nothing,
        "Later documents call this mode `n_add` and say no more.",
    ),
    (
        "FREXPM.f32 FREXPM.v2f16 FREXPE.f32 FREXPE.v2f16",
        Exact,
        ReliedOn,
        "Zeros, infinities and NaN are their own mantissa with exponent 0, and so is a subnormal with `.log`: choices.",
    ),
    // Conversions.
    ("F32_TO_S32 F32_TO_U32 F16_TO_F32", Exact, Tested, ""),
    (
        "F16_TO_S32 F16_TO_U32 V2F16_TO_V2S16 V2F16_TO_V2U16 S32_TO_F32 U32_TO_F32 V2S16_TO_V2F16 V2U16_TO_V2F16 \
         S16_TO_F32 U16_TO_F32 S8_TO_F32 U8_TO_F32 V2S8_TO_V2F16 V2U8_TO_V2F16",
        Exact,
        ReliedOn,
        "The same rules as of the conversions that were tested.",
    ),
    (
        "V2F32_TO_V2F16",
        Exact,
        ReliedOn,
        "Limited first, then rounded once. Later architectures' conversion of one number was tested.",
    ),
    ("S16_TO_S32 U16_TO_U32 S8_TO_S32 U8_TO_U32 V2S8_TO_V2S16 V2U8_TO_V2U16", Exact, ReliedOn, ""),
    // Special functions.
    ("FRCP.f32", Approximate("within 1 ulp"), TestedWithin(1), "Subnormals are zero, in and out."),
    ("FRSQ.f32", Approximate("within 2 ulp; documented as 1"), TestedWithin(2), "A subnormal is zero."),
    (
        "FRCP.f16 FRSQ.f16",
        Approximate("how well is not known"),
        ReliedOn,
        "Subnormals are kept. On both halves; that v9 and v10 lose a result for the high half alone is not imitated.",
    ),
    (
        "FLOGD.f32",
        Approximate("base-2 logarithms within 3 ulp, or 2^-21 between 0.5 and 2"),
        TestedInSequence,
        "Of +infinity it is +infinity: a choice.",
    ),
    (
        "FEXP.f32",
        Approximate("exponentials within 3 ulp and 2 more for each power of two"),
        TestedInSequence,
        "A subnormal result is zero. What the second source does besides NaN is relied on by compiled programs.",
    ),
    (
        "FSIN_TABLE.u6 FCOS_TABLE.u6",
        Approximate("sines and cosines within 2^-11"),
        TestedInSequence,
        "The hardware's table may be coarser.",
    ),
    ("FRCP_APPROX.f32", Choice("1 / mantissa in [0.5, 1)"), Nothing, TABLE),
    ("FRSQ_APPROX.f32", Choice("1 / root of the mantissa in [0.25, 1)"), Nothing, TABLE),
    ("FLOG_TABLE.f32", Choice("1 / mantissa in [0.75, 1.5)"), Nothing, TABLE),
    ("FEXP_TABLE.u4", Choice("2 to the power of the low four bits in sixteenths"), Nothing, TABLE),
    ("FSINCOS_OFFSET.u6", Choice("the low six bits times pi/32"), Nothing, TABLE),
    (
        "FATAN_ASSIST.f32",
        Choice("octant and coarse slope of a direction; with `.second` the angle of that slope"),
        Nothing,
        TABLE,
    ),
    ("FPCLASS.f32 FPCLASS.f16", Choice("one of ten bits, in the order of LLVM's is.fpclass"), Nothing, ""),
    // Cube maps.
    ("CUBEFACE1", Exact, TestedWithin(1), ""),
    ("CUBEFACE2", Exact, Tested, ""),
    ("CUBE_SSEL CUBE_TSEL", Exact, ReliedOn, "For the two faces that do not exist: a choice."),
    // Across lanes.
    (
        "CLPER.i32 CLPER.v2u16 CLPER.v4u8 CLPER.s32 CLPER.v2s16 CLPER.v4s8 CLPER.u64 CLPER.s64",
        Exact,
        ReliedOn,
        "`accumulate` is a choice: a step of a prefix operation.",
    ),
    ("WMASK", Exact, ReliedOn, "Counting from the first lane of the subgroup is a choice."),
    // Memory.
    (
        "LOAD.i8 LOAD.i16 LOAD.i24 LOAD.i32 LOAD.i48 LOAD.i64 LOAD.i96 LOAD.i128",
        Exact,
        ReliedOn,
        "A byte that goes to b1 or b3 goes to b0 or b2, as in all hardware (tested). Accesses need no alignment: a choice.",
    ),
    (
        "STORE.i8 STORE.i16 STORE.i24 STORE.i32 STORE.i48 STORE.i64 STORE.i96 STORE.i128",
        Exact,
        ReliedOn,
        "Accesses need no alignment: a choice.",
    ),
    (
        "ATOM1_RETURN.i32 ATOM1_RETURN.i64 ATOM.i32 ATOM.i64 ATOM_RETURN.i32 ATOM_RETURN.i64",
        Exact,
        ReliedOn,
        "In the order of lanes: a choice.",
    ),
    (
        "LD_BUFFER.i8 LD_BUFFER.i16 LD_BUFFER.i24 LD_BUFFER.i32 LD_BUFFER.i48 LD_BUFFER.i64 LD_BUFFER.i96 \
         LD_BUFFER.i128 LEA_BUF_IMM",
        Exact,
        ReliedOn,
        HOST,
    ),
    // What the host has.
    ("LD_ATTR_IMM LD_ATTR LEA_ATTR_IMM LEA_ATTR", Exact, ReliedOn, HOST),
    ("LD_TEX_IMM LD_TEX LEA_TEX_IMM LEA_TEX", Exact, ReliedOn, HOST),
    ("ST_CVT", Exact, ReliedOn, "A conversion descriptor is a number of the runtime, not the hardware's word."),
    (
        "LD_VAR_BUF_IMM.f32 LD_VAR_BUF_IMM.f16 LD_VAR_BUF.f32 LD_VAR_BUF.f16 LD_VAR LD_VAR_IMM",
        Choice("interpolated by the host; the software one computes in single precision"),
        ReliedOn,
        "How finely the hardware interpolates is not known.",
    ),
    ("LD_VAR_FLAT LD_VAR_FLAT_IMM", Exact, ReliedOn, HOST),
    (
        "LD_VAR_SPECIAL",
        Choice("depth, w and the place in a point, as the host has them"),
        ReliedOn,
        "How finely the hardware interpolates is not known.",
    ),
    ("TEX_FETCH", Exact, ReliedOn, HOST),
    (
        "TEX_SINGLE TEX_GATHER VAR_TEX_BUF_SINGLE VAR_TEX_BUF_GATHER VAR_TEX_BUF_GRADIENT VAR_TEX_SINGLE \
         VAR_TEX_GATHER VAR_TEX_GRADIENT",
        Choice(FILTER),
        ReliedOn,
        "How finely the hardware weighs texels and levels is not known.",
    ),
    (
        "TEX_DUAL VAR_TEX_BUF_DUAL VAR_TEX_DUAL",
        Choice(FILTER),
        Documented,
        "How finely the hardware weighs texels and levels is not known. TEX_DUAL with wide indices is refused.",
    ),
    ("DISCARD.f32", Exact, ReliedOn, "Only in fragment programs."),
    (
        "ATEST",
        Choice("the coverage as it is, for a pixel has one sample"),
        ReliedOn,
        "With several samples alpha would change it.",
    ),
    ("ZS_EMIT", Exact, ReliedOn, ""),
    (
        "BLEND",
        Choice("blended by the host; the software one does it as OpenGL says"),
        ReliedOn,
        "The low word of a descriptor is the target's number. There are no blend shaders; their call is jumped over.",
    ),
    ("LD_TILE ST_TILE", Exact, ReliedOn, "Of the current pixel; another one is refused."),
];

const ANY_NAN: &str = "Any NaN is the quiet one without payload: a choice.";
const TABLE: &str = "The function itself, rounded once; the hardware's table is coarser in an unknown way.";
const HOST: &str = "What a table and an index name is asked of the host.";
const FILTER: &str = "as OpenGL ES describes it, in single precision";
