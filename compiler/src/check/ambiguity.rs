//! One word, one meaning.
//!
//! E0106: two instructions match one word. E0110: two readings of an operand match the same bits. Both are proved: the
//! constant bits of two patterns either differ somewhere, or a word that has both is the witness.

use isaforge_core::bits::ones;

use crate::check::runs_text;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{Form, Isa, Kind};

/// Looks at all pairs.
pub fn check(isa: &Isa, out: &mut Diagnostics) {
    let patterns: Vec<(u64, u64)> = isa.forms.iter().map(Form::pattern).collect();
    for (i, &(mask, value)) in patterns.iter().enumerate() {
        if mask == 0 && isa.forms.len() > 1 {
            let form = &isa.forms[i];
            let message = format!("`{}` has no constant bits that tell it from others", form.name);
            out.push(Diagnostic::error("E0106", form.span, message).help("add its opcode to `fixed`"));
            continue;
        }
        for (j, &(other_mask, other_value)) in patterns[..i].iter().enumerate() {
            if other_mask != 0 && (value ^ other_value) & mask & other_mask == 0 {
                ambiguous(isa, &isa.forms[i], &isa.forms[j], out);
            }
        }
    }
    for kind in &isa.kinds {
        check_kind(isa, kind, out);
    }
}

fn ambiguous(isa: &Isa, form: &Form, other: &Form, out: &mut Diagnostics) {
    let ((mask, value), (other_mask, other_value)) = (form.pattern(), other.pattern());
    let constant = |f: &Form| f.fixed.iter().fold(0, |v, x| v | x.value);
    let witness = value | other_value | constant(form) | constant(other);
    let digits = usize::from(isa.word_bits.div_ceil(4));
    let free = ones(u32::from(isa.word_bits)) & !mask & !other_mask;
    let mut error = Diagnostic::error("E0106", form.span, format!("`{}` and `{}` match the same word", form.name, other.name))
        .label(format!("matches 0x{witness:0digits$x}"))
        .secondary(other.span, "and so does this")
        .note(format!("for example 0x{witness:0digits$x} is both"));
    if mask != other_mask {
        let only = mask ^ other_mask;
        error = error.note(format!("only one of them has constant {}", runs_text(only)));
    }
    let suggestion = if mask == other_mask {
        "one of the two has the wrong opcode, or they are one instruction".to_owned()
    } else {
        format!("give both constant bits that differ; free in both are {}", runs_text(free))
    };
    error = error.help(suggestion);
    out.push(error);
}

fn check_kind(isa: &Isa, kind: &Kind, out: &mut Diagnostics) {
    for (i, a) in kind.alternatives.iter().enumerate() {
        for b in &kind.alternatives[..i] {
            let by_bits = (a.value ^ b.value) & a.mask & b.mask != 0;
            let by_shared = a.when.iter().any(|(s, v)| b.when.iter().any(|(t, w)| s == t && v != w));
            if !by_bits && !by_shared {
                let message = format!("`{}` and `{}` read the same bits of a `{}`", a.name, b.name, kind.name);
                let shared = isa.shared.first().map(|s| format!(", or a different `when: {{ {}: … }}`", s.name));
                out.push(
                    Diagnostic::error("E0110", a.span, message)
                        .secondary(b.span, "the other reading")
                        .note(format!("for example {:#x} is both", a.value | b.value))
                        .help(format!("give them different `fixed` bits{}", shared.unwrap_or_default())),
                );
            }
        }
    }
}
