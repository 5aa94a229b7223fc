//! Reads an instruction of a document, with the table's corrections applied.

use super::condition;
use super::instruction::{Encoding, GENERATIONS, Instruction, Variable, location};
use super::syntax::Syntax;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::Sources;
use crate::yaml::Node;

/// The keys of an instruction; those in the second list affect neither words nor texts.
const KEYS: [&str; 8] = ["kind", "name", "long_name", "description", "definedBy", "assembly", "encoding", "format"];
const SILENT: [&str; 10] = [
    "$schema",
    "access",
    "access_detail",
    "data_independent_timing",
    "pseudoinstructions",
    "hints",
    "operation()",
    "sail()",
    "cert_normative_rules",
    "cert_test_procedures",
];

/// Reads an instruction.
pub(super) fn instruction(
    node: &Node,
    syntax: &Syntax,
    sources: &Sources,
    out: &mut Diagnostics,
) -> Option<Instruction> {
    node.only(&[&KEYS[..], &SILENT].concat(), out);
    let kind = node.needed("kind", out)?.text(out)?;
    if kind.value != "instruction" {
        out.push(Diagnostic::error("E0023", kind.span, format!("`{}` is not an instruction", kind.value)));
        return None;
    }
    let name = node.needed("name", out)?.text(out)?;
    let title = node.key("long_name").and_then(|title| title.text(out)).map_or(String::new(), |title| title.value);
    let doc = node.key("description").and_then(|doc| doc.text(out)).map_or(String::new(), |doc| doc.value);
    let correction = syntax.correction(&name.value);
    let written = match correction.and_then(|correction| correction.key("name")) {
        Some(written) => written.text(out)?.value,
        None => name.value.clone(),
    };
    let assembly = match correction.and_then(|correction| correction.key("assembly")) {
        Some(assembly) => assembly.text(out)?,
        None => node.needed("assembly", out)?.text(out)?,
    };
    let condition = match correction.and_then(|correction| correction.key("definedBy")) {
        Some(condition) => condition,
        None => node.needed("definedBy", out)?,
    };
    let mut encodings = Vec::new();
    for (index, (generation, xlen)) in GENERATIONS.iter().enumerate() {
        if !condition::holds(condition, *xlen, syntax, out) {
            continue;
        }
        let mut made = match (node.key("encoding"), node.key("format")) {
            (Some(encoding), None) => {
                let own = encoding.key(&generation.to_uppercase());
                self::encoding(own.unwrap_or(encoding), sources, out)?
            }
            (None, Some(format)) => syntax.formatted(format, out)?,
            _ => {
                let error = Diagnostic::error("E0042", node.span, "expected either `encoding` or `format`");
                out.push(error);
                return None;
            }
        };
        for (old, new) in correction.and_then(|c| c.key("rename")).map_or(&[][..], |names| names.entries(out)) {
            let new = new.text(out)?.value;
            made.variables
                .iter_mut()
                .filter(|known| known.name == old.value)
                .for_each(|known| known.name.clone_from(&new));
        }
        let width = correction.and_then(|c| c.key("xlen")).and_then(|width| width.number(64, out));
        let here = correction.filter(|_| width.is_none_or(|width| width == *xlen));
        for (variable, values) in here.and_then(|c| c.key("not")).map_or(&[][..], |not| not.entries(out)) {
            let Some(found) = made.variables.iter_mut().find(|known| known.name == variable.value) else {
                let message = format!("`{}` has no variable `{}`", name.value, variable.value);
                out.push(Diagnostic::error("E0101", variable.span, message));
                continue;
            };
            found.not = numbers(values, out);
        }
        encodings.push((index, made));
    }
    Some(Instruction { name, written, title, doc, span: node.span, assembly, encodings })
}

fn numbers(node: &Node, out: &mut Diagnostics) -> Vec<u64> {
    node.items().iter().filter_map(|item| item.number(u64::MAX, out)).collect()
}

fn encoding(node: &Node, sources: &Sources, out: &mut Diagnostics) -> Option<Encoding> {
    node.only(&["match", "variables"], out);
    let pattern = node.needed("match", out)?;
    // YAML parses a pattern that consists only of digits as a number.
    let text = sources.snippet(pattern.span).trim_matches(['"', '\'']);
    if !matches!(text.len(), 16 | 32) || text.bytes().any(|c| !matches!(c, b'0' | b'1' | b'-')) {
        let error = Diagnostic::error("E0030", pattern.span, format!("`{text}` is not a pattern"));
        out.push(error.help("write 16 or 32 of `0`, `1` and `-`, the most significant first"));
        return None;
    }
    let bits = |one: fn(u8) -> bool| text.bytes().fold(0u64, |all, c| all << 1 | u64::from(one(c)));
    let mut made = Encoding {
        bits: text.len() as u16,
        mask: bits(|c| c != b'-'),
        value: bits(|c| c == b'1'),
        variables: Vec::new(),
        span: node.span,
    };
    for item in node.key("variables").map_or(&[][..], Node::items) {
        item.only(&["name", "location", "left_shift", "sign_extend", "not"], out);
        let name = item.needed("name", out)?.text(out)?;
        let pieces = location(item.needed("location", out)?, made.bits, out)?;
        let shift = match item.key("left_shift") {
            Some(shift) => shift.number(31, out)?,
            None => 0,
        };
        let signed = item.key("sign_extend").is_some_and(|signed| signed.truth(out));
        let not = item.key("not").map_or(Vec::new(), |not| numbers(not, out));
        made.variables.push(Variable { name: name.value, pieces, shift, signed, not, span: item.span });
    }
    Some(made)
}
