//! What the instructions of the host are like.

use iced_x86::{Code, Instruction, Register};

/// The operands of an instruction in their sizes, the result first.
pub fn operands(code: Code, to: Register, from: [Option<Register>; 3]) -> [Option<Register>; 4] {
    let half = |register: Register| Register::YMM0 + (register as u32 - Register::ZMM0 as u32);
    let [a, b, c] = from;
    match code {
        Code::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae
        | Code::EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae
        | Code::EVEX_Vpmovzxwd_zmm_k1z_ymmm256 => [Some(to), a.map(half), b, c],
        Code::EVEX_Vextracti32x8_ymmm256_k1z_zmm_imm8
        | Code::EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae
        | Code::EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er
        | Code::EVEX_Vpmovdw_ymmm256_k1z_zmm => [Some(half(to)), a, b, c],
        Code::EVEX_Vinserti32x8_zmm_k1z_zmm_ymmm256_imm8 => [Some(to), a, b.map(half), c],
        _ => [Some(to), a, b, c],
    }
}

/// Whether the result is a register of full width whose mask has a bit for each word: that of an instruction on bytes,
/// half words or double words has one for each of those.
pub fn masks_words(code: Code) -> bool {
    let mut instruction = Instruction::default();
    instruction.set_code(code);
    let from = instruction.memory_size();
    let is_narrow = from.size() == 64 && from.element_size() < 4;
    let is_wide = from.element_size() > 4 || code == Code::EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae;
    !is_narrow && !is_wide && operands(code, Register::ZMM0, [None; 3])[0] == Some(Register::ZMM0)
}

/// For a fused product whose result takes the place of a factor: the instruction whose result takes that of the addend.
pub fn on_addend(code: Code) -> Option<Code> {
    Some(match code {
        Code::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er => Code::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfmsub213ps_zmm_k1z_zmm_zmmm512b32_er => Code::EVEX_Vfmsub231ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er => Code::EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfnmsub213ps_zmm_k1z_zmm_zmmm512b32_er => Code::EVEX_Vfnmsub231ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er => Code::EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vfnmadd213pd_zmm_k1z_zmm_zmmm512b64_er => Code::EVEX_Vfnmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
        _ => return None,
    })
}

/// Whether the result takes the place of the first argument.
pub fn replaces(code: Code) -> bool {
    code == Code::EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8
        || on_addend(code).is_some()
        || matches!(
            code,
            Code::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er
                | Code::EVEX_Vfmsub231ps_zmm_k1z_zmm_zmmm512b32_er
                | Code::EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er
                | Code::EVEX_Vfnmsub231ps_zmm_k1z_zmm_zmmm512b32_er
                | Code::EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er
                | Code::EVEX_Vfnmadd231pd_zmm_k1z_zmm_zmmm512b64_er
        )
}
