//! The vector instructions of the host, and their properties.

use iced_x86::{Code, Instruction, Register};

use super::row::LANES;
use crate::level::{Kind, Level};

/// The vector extension that code uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Host {
    /// Registers of sixteen words, and masks in registers of their own.
    #[default]
    Avx512,
    /// Registers of eight words. A mask is such a register, with all ones in the components where it holds.
    Avx2,
}

impl Host {
    /// The number of hosts.
    pub const COUNT: usize = 2;

    /// Returns the extension of a level; `None` if it has no machine code.
    pub fn of(level: Level) -> Option<Self> {
        match level.kind() {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => Some(Host::Avx512),
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => Some(Host::Avx2),
            Kind::Portable => None,
        }
    }

    /// Returns the words of a register.
    pub fn lanes(self) -> usize {
        match self {
            Host::Avx512 => LANES,
            Host::Avx2 => LANES / 2,
        }
    }

    /// Returns the number of registers that hold a column.
    pub fn pieces(self) -> usize {
        LANES / self.lanes()
    }

    /// Returns the number of vector registers.
    pub fn registers(self) -> u8 {
        match self {
            Host::Avx512 => 32,
            Host::Avx2 => 16,
        }
    }

    /// Returns a vector register.
    pub fn register(self, number: u8) -> Register {
        let first = match self {
            Host::Avx512 => Register::ZMM0,
            Host::Avx2 => Register::YMM0,
        };
        first + u32::from(number)
    }

    /// Returns the register for values that are about to be stored: the last.
    pub fn stored(self) -> Register {
        self.register(self.registers() - 1)
    }
}

/// Returns the name of a register's lower half.
pub fn half(register: Register) -> Register {
    let first = if register.is_zmm() { Register::YMM0 } else { Register::XMM0 };
    first + register.number() as u32
}

/// Returns the AVX2 instruction that does the same in each lane as an AVX-512 instruction.
pub fn in_avx2(code: Code) -> Option<Code> {
    Some(match code {
        // Instructions that are only selected for AVX2.
        Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256
        | Code::VEX_Vpcmpeqw_ymm_ymm_ymmm256
        | Code::VEX_Vpcmpeqb_ymm_ymm_ymmm256
        | Code::VEX_Vpcmpgtd_ymm_ymm_ymmm256
        | Code::VEX_Vpcmpgtw_ymm_ymm_ymmm256
        | Code::VEX_Vpcmpgtb_ymm_ymm_ymmm256
        | Code::VEX_Vpand_ymm_ymm_ymmm256
        | Code::VEX_Vpandn_ymm_ymm_ymmm256
        | Code::VEX_Vpor_ymm_ymm_ymmm256
        | Code::VEX_Vpxor_ymm_ymm_ymmm256
        | Code::VEX_Vpblendvb_ymm_ymm_ymmm256_ymm
        | Code::VEX_Vpackusdw_ymm_ymm_ymmm256
        | Code::VEX_Vpermq_ymm_ymmm256_imm8
        | Code::VEX_Vperm2i128_ymm_ymm_ymmm256_imm8
        | Code::VEX_Vpalignr_ymm_ymm_ymmm256_imm8
        | Code::VEX_Vpshufd_ymm_ymmm256_imm8
        | Code::VEX_Vpblendd_ymm_ymm_ymmm256_imm8
        | Code::VEX_Vrsqrtps_ymm_ymmm256
        | Code::VEX_Vfmadd132ps_ymm_ymm_ymmm256
        | Code::VEX_Vfmsub132ps_ymm_ymm_ymmm256
        | Code::VEX_Vfnmadd132ps_ymm_ymm_ymmm256
        | Code::VEX_Vfnmsub132ps_ymm_ymm_ymmm256 => code,

        Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er => Code::VEX_Vaddps_ymm_ymm_ymmm256,
        Code::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er => Code::VEX_Vsubps_ymm_ymm_ymmm256,
        Code::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er => Code::VEX_Vmulps_ymm_ymm_ymmm256,
        Code::EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er => Code::VEX_Vdivps_ymm_ymm_ymmm256,
        Code::EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er => Code::VEX_Vsqrtps_ymm_ymmm256,
        Code::EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae => Code::VEX_Vminps_ymm_ymm_ymmm256,
        Code::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae => Code::VEX_Vmaxps_ymm_ymm_ymmm256,
        Code::EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er => Code::VEX_Vcvtdq2ps_ymm_ymmm256,
        Code::EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae => Code::VEX_Vcvttps2dq_ymm_ymmm256,
        Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32 => Code::VEX_Vpaddd_ymm_ymm_ymmm256,
        Code::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32 => Code::VEX_Vpsubd_ymm_ymm_ymmm256,
        Code::EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32 => Code::VEX_Vpmulld_ymm_ymm_ymmm256,
        Code::EVEX_Vpabsd_zmm_k1z_zmmm512b32 => Code::VEX_Vpabsd_ymm_ymmm256,
        Code::EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32 => Code::VEX_Vpminud_ymm_ymm_ymmm256,
        Code::EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32 => Code::VEX_Vpminsd_ymm_ymm_ymmm256,
        Code::EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32 => Code::VEX_Vpmaxud_ymm_ymm_ymmm256,
        Code::EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32 => Code::VEX_Vpmaxsd_ymm_ymm_ymmm256,
        Code::EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32 => Code::VEX_Vpsllvd_ymm_ymm_ymmm256,
        Code::EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32 => Code::VEX_Vpsrlvd_ymm_ymm_ymmm256,
        Code::EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32 => Code::VEX_Vpsravd_ymm_ymm_ymmm256,
        Code::EVEX_Vpaddw_zmm_k1z_zmm_zmmm512 => Code::VEX_Vpaddw_ymm_ymm_ymmm256,
        Code::EVEX_Vpsubw_zmm_k1z_zmm_zmmm512 => Code::VEX_Vpsubw_ymm_ymm_ymmm256,
        Code::EVEX_Vpmullw_zmm_k1z_zmm_zmmm512 => Code::VEX_Vpmullw_ymm_ymm_ymmm256,
        Code::EVEX_Vpabsw_zmm_k1z_zmmm512 => Code::VEX_Vpabsw_ymm_ymmm256,
        Code::EVEX_Vpminuw_zmm_k1z_zmm_zmmm512 => Code::VEX_Vpminuw_ymm_ymm_ymmm256,
        Code::EVEX_Vpminsw_zmm_k1z_zmm_zmmm512 => Code::VEX_Vpminsw_ymm_ymm_ymmm256,
        Code::EVEX_Vpmaxuw_zmm_k1z_zmm_zmmm512 => Code::VEX_Vpmaxuw_ymm_ymm_ymmm256,
        Code::EVEX_Vpmaxsw_zmm_k1z_zmm_zmmm512 => Code::VEX_Vpmaxsw_ymm_ymm_ymmm256,
        Code::EVEX_Vpaddusw_zmm_k1z_zmm_zmmm512 => Code::VEX_Vpaddusw_ymm_ymm_ymmm256,
        Code::EVEX_Vpaddsw_zmm_k1z_zmm_zmmm512 => Code::VEX_Vpaddsw_ymm_ymm_ymmm256,
        Code::EVEX_Vpsubusw_zmm_k1z_zmm_zmmm512 => Code::VEX_Vpsubusw_ymm_ymm_ymmm256,
        Code::EVEX_Vpsubsw_zmm_k1z_zmm_zmmm512 => Code::VEX_Vpsubsw_ymm_ymm_ymmm256,
        Code::EVEX_Vpavgw_zmm_k1z_zmm_zmmm512 => Code::VEX_Vpavgw_ymm_ymm_ymmm256,
        Code::EVEX_Vpaddb_zmm_k1z_zmm_zmmm512 => Code::VEX_Vpaddb_ymm_ymm_ymmm256,
        Code::EVEX_Vpsubb_zmm_k1z_zmm_zmmm512 => Code::VEX_Vpsubb_ymm_ymm_ymmm256,
        Code::EVEX_Vpabsb_zmm_k1z_zmmm512 => Code::VEX_Vpabsb_ymm_ymmm256,
        Code::EVEX_Vpminub_zmm_k1z_zmm_zmmm512 => Code::VEX_Vpminub_ymm_ymm_ymmm256,
        Code::EVEX_Vpminsb_zmm_k1z_zmm_zmmm512 => Code::VEX_Vpminsb_ymm_ymm_ymmm256,
        Code::EVEX_Vpmaxub_zmm_k1z_zmm_zmmm512 => Code::VEX_Vpmaxub_ymm_ymm_ymmm256,
        Code::EVEX_Vpmaxsb_zmm_k1z_zmm_zmmm512 => Code::VEX_Vpmaxsb_ymm_ymm_ymmm256,
        Code::EVEX_Vpaddusb_zmm_k1z_zmm_zmmm512 => Code::VEX_Vpaddusb_ymm_ymm_ymmm256,
        Code::EVEX_Vpaddsb_zmm_k1z_zmm_zmmm512 => Code::VEX_Vpaddsb_ymm_ymm_ymmm256,
        Code::EVEX_Vpsubusb_zmm_k1z_zmm_zmmm512 => Code::VEX_Vpsubusb_ymm_ymm_ymmm256,
        Code::EVEX_Vpsubsb_zmm_k1z_zmm_zmmm512 => Code::VEX_Vpsubsb_ymm_ymm_ymmm256,
        Code::EVEX_Vpavgb_zmm_k1z_zmm_zmmm512 => Code::VEX_Vpavgb_ymm_ymm_ymmm256,
        Code::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er => Code::VEX_Vfmadd213ps_ymm_ymm_ymmm256,
        Code::EVEX_Vfmsub213ps_zmm_k1z_zmm_zmmm512b32_er => Code::VEX_Vfmsub213ps_ymm_ymm_ymmm256,
        Code::EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er => Code::VEX_Vfnmadd213ps_ymm_ymm_ymmm256,
        Code::EVEX_Vfnmsub213ps_zmm_k1z_zmm_zmmm512b32_er => Code::VEX_Vfnmsub213ps_ymm_ymm_ymmm256,
        Code::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er => Code::VEX_Vfmadd231ps_ymm_ymm_ymmm256,
        Code::EVEX_Vfmsub231ps_zmm_k1z_zmm_zmmm512b32_er => Code::VEX_Vfmsub231ps_ymm_ymm_ymmm256,
        Code::EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er => Code::VEX_Vfnmadd231ps_ymm_ymm_ymmm256,
        Code::EVEX_Vfnmsub231ps_zmm_k1z_zmm_zmmm512b32_er => Code::VEX_Vfnmsub231ps_ymm_ymm_ymmm256,
        Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32 => Code::VEX_Vpand_ymm_ymm_ymmm256,
        Code::EVEX_Vpord_zmm_k1z_zmm_zmmm512b32 => Code::VEX_Vpor_ymm_ymm_ymmm256,
        Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32 => Code::VEX_Vpxor_ymm_ymm_ymmm256,
        Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae => Code::VEX_Vcmpps_ymm_ymm_ymmm256_imm8,
        Code::EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae => Code::VEX_Vroundps_ymm_ymmm256_imm8,
        Code::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae => Code::VEX_Vcvtph2ps_ymm_xmmm128,
        Code::EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae => Code::VEX_Vcvtps2ph_xmmm128_ymm_imm8,
        Code::EVEX_Vpmovzxwd_zmm_k1z_ymmm256 => Code::VEX_Vpmovzxwd_ymm_xmmm128,
        Code::EVEX_Vextracti32x8_ymmm256_k1z_zmm_imm8 => Code::VEX_Vextracti128_xmmm128_ymm_imm8,
        Code::EVEX_Vinserti32x8_zmm_k1z_zmm_ymmm256_imm8 => Code::VEX_Vinserti128_ymm_ymm_xmmm128_imm8,
        Code::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8 => Code::VEX_Vpslld_ymm_ymm_imm8,
        Code::EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8 => Code::VEX_Vpsrld_ymm_ymm_imm8,
        Code::EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8 => Code::VEX_Vpsrad_ymm_ymm_imm8,
        Code::EVEX_Vpsraw_zmm_k1z_zmmm512_imm8 => Code::VEX_Vpsraw_ymm_ymm_imm8,
        _ => return None,
    })
}

/// Whether the last argument of an AVX2 instruction may be in memory.
pub fn reads_memory(code: Code) -> bool {
    !matches!(
        code,
        Code::VEX_Vpslld_ymm_ymm_imm8
            | Code::VEX_Vpsrld_ymm_ymm_imm8
            | Code::VEX_Vpsrad_ymm_ymm_imm8
            | Code::VEX_Vpsraw_ymm_ymm_imm8
            | Code::VEX_Vextracti128_xmmm128_ymm_imm8
            | Code::VEX_Vcvtps2ph_xmmm128_ymm_imm8
    )
}

/// For a fused multiply-add whose result overwrites a factor: returns the AVX2 instruction that reads the other
/// factor last.
pub fn on_factor(code: Code) -> Option<Code> {
    Some(match code {
        Code::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er => Code::VEX_Vfmadd132ps_ymm_ymm_ymmm256,
        Code::EVEX_Vfmsub213ps_zmm_k1z_zmm_zmmm512b32_er => Code::VEX_Vfmsub132ps_ymm_ymm_ymmm256,
        Code::EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er => Code::VEX_Vfnmadd132ps_ymm_ymm_ymmm256,
        Code::EVEX_Vfnmsub213ps_zmm_k1z_zmm_zmmm512b32_er => Code::VEX_Vfnmsub132ps_ymm_ymm_ymmm256,
        _ => return None,
    })
}

/// Returns the operands of an instruction in their sizes, the result first.
pub fn operands(code: Code, to: Register, from: [Option<Register>; 3]) -> [Option<Register>; 4] {
    let [a, b, c] = from;
    match code {
        Code::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae
        | Code::EVEX_Vpmovzxwd_zmm_k1z_ymmm256
        | Code::EVEX_Vpmovsxwd_zmm_k1z_ymmm256 => [Some(to), a.map(half), b, c],
        Code::EVEX_Vextracti32x8_ymmm256_k1z_zmm_imm8
        | Code::EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae
        | Code::EVEX_Vpmovdw_ymmm256_k1z_zmm => [Some(half(to)), a, b, c],
        Code::EVEX_Vinserti32x8_zmm_k1z_zmm_ymmm256_imm8 => [Some(to), a, b.map(half), c],
        _ => [Some(to), a, b, c],
    }
}

/// Whether the result is a register of full width whose mask has one bit for each word; the masks of instructions on
/// bytes, half words or double words have one for each of those.
pub fn masks_words(code: Code) -> bool {
    let mut instruction = Instruction::default();
    instruction.set_code(code);
    let from = instruction.memory_size();
    let is_narrow = from.size() == 64 && from.element_size() < 4;
    let is_wide = from.element_size() > 4;
    !is_narrow && !is_wide && operands(code, Register::ZMM0, [None; 3])[0] == Some(Register::ZMM0)
}

/// For a fused multiply-add whose result overwrites a factor: returns the instruction whose result overwrites the
/// addend.
pub fn on_addend(code: Code) -> Option<Code> {
    Some(match code {
        Code::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er => Code::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfmsub213ps_zmm_k1z_zmm_zmmm512b32_er => Code::EVEX_Vfmsub231ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er => Code::EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfnmsub213ps_zmm_k1z_zmm_zmmm512b32_er => Code::EVEX_Vfnmsub231ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfmadd213ph_zmm_k1z_zmm_zmmm512b16_er => Code::EVEX_Vfmadd231ph_zmm_k1z_zmm_zmmm512b16_er,
        Code::EVEX_Vfmsub213ph_zmm_k1z_zmm_zmmm512b16_er => Code::EVEX_Vfmsub231ph_zmm_k1z_zmm_zmmm512b16_er,
        Code::EVEX_Vfnmadd213ph_zmm_k1z_zmm_zmmm512b16_er => Code::EVEX_Vfnmadd231ph_zmm_k1z_zmm_zmmm512b16_er,
        Code::EVEX_Vfnmsub213ph_zmm_k1z_zmm_zmmm512b16_er => Code::EVEX_Vfnmsub231ph_zmm_k1z_zmm_zmmm512b16_er,
        _ => return None,
    })
}

/// Whether the result overwrites the first argument.
pub fn replaces(code: Code) -> bool {
    code == Code::EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8
        || on_addend(code).is_some()
        || matches!(
            code,
            Code::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er
                | Code::EVEX_Vfmsub231ps_zmm_k1z_zmm_zmmm512b32_er
                | Code::EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er
                | Code::EVEX_Vfnmsub231ps_zmm_k1z_zmm_zmmm512b32_er
                | Code::EVEX_Vfmadd231ph_zmm_k1z_zmm_zmmm512b16_er
                | Code::EVEX_Vfmsub231ph_zmm_k1z_zmm_zmmm512b16_er
                | Code::EVEX_Vfnmadd231ph_zmm_k1z_zmm_zmmm512b16_er
                | Code::EVEX_Vfnmsub231ph_zmm_k1z_zmm_zmmm512b16_er
                | Code::VEX_Vfmadd132ps_ymm_ymm_ymmm256
                | Code::VEX_Vfmsub132ps_ymm_ymm_ymmm256
                | Code::VEX_Vfnmadd132ps_ymm_ymm_ymmm256
                | Code::VEX_Vfnmsub132ps_ymm_ymm_ymmm256
        )
}
