//! HTML for instructions and programs in notebooks. The diagrams are those of the manual.

use isaforge_compiler::backend::manual::diagram;
use isaforge_compiler::backend::manual::facts::Run;
use isaforge_core::annotate::Role;

use crate::explain::{Bits, Explanation, role, row};

/// Colours by role, for light and dark themes, limited to elements of the class `isaforge`.
const STYLE: &str = "<style>\
.isaforge{--paper:#fff;--line:#d9dde3;--ink:#1b2026;--soft:#56606b;--opcode:#f3e3fa;--fixed:#eceff2;--modifier:#fdf0d3;\
--operand:#dff3e2;--suffix:#d9f2f4;--shared:#e0eafc;--wrong:#fbdcd8}\
@media(prefers-color-scheme:dark){.isaforge{--paper:#14171b;--line:#333b45;--ink:#e4e8ec;--soft:#a3adb8;--opcode:#3a2345;\
--fixed:#262c33;--modifier:#40310f;--operand:#17361f;--suffix:#103639;--shared:#1c2f52;--wrong:#4a1e19}}\
.isaforge{color:var(--ink);background:var(--paper);padding:.4em;overflow-x:auto}\
.isaforge table{border-collapse:collapse;margin:.4em 0}\
.isaforge .bits table{table-layout:fixed;width:100%;min-width:calc(var(--bits)*1.4em)}\
.isaforge td{border:1px solid var(--line);padding:.1em .4em;text-align:left;color:var(--ink);background:var(--paper)}\
.isaforge .bits td{text-align:center;overflow:hidden}\
.isaforge .bits thead td{border:0;padding:0 .1em;color:var(--soft);font-size:.7em}\
.isaforge .bits thead span:nth-child(1){float:left}.isaforge .bits thead span:nth-child(2){float:right}\
.isaforge td.opcode{background:var(--opcode)}.isaforge td.fixed{background:var(--fixed)}\
.isaforge td.modifier{background:var(--modifier)}.isaforge td.operand{background:var(--operand)}\
.isaforge td.suffix{background:var(--suffix)}.isaforge td.shared{background:var(--shared)}\
.isaforge td.wrong,.isaforge .error{background:var(--wrong)}\
.isaforge .label td{border:0;font-weight:700}.isaforge .soft{color:var(--soft)}\
.isaforge svg rect{fill:var(--fixed);stroke:var(--line)}.isaforge svg text{fill:var(--ink);text-anchor:middle;font:12px monospace}\
.isaforge svg path{fill:none;stroke:var(--soft)}.isaforge svg path.head{fill:var(--soft)}\
</style>";

/// Escapes a text for HTML.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A description from the specification, with text in backticks as code.
fn prose(text: &str) -> String {
    let part = |(index, part): (usize, &str)| match index % 2 {
        0 => escaped(part),
        _ => format!("<code>{}</code>", escaped(part)),
    };
    text.split('`').enumerate().map(part).collect()
}

/// Wraps HTML in an element of the class `isaforge`, with the style sheet.
pub fn shell(inner: &str) -> String {
    format!("{STYLE}<div class=\"isaforge\">{inner}</div>")
}

/// The diagram of a part.
fn drawn(part: &Bits, label: &str) -> String {
    let mut runs: Vec<Run> = Vec::new();
    for field in &part.fields {
        for (high, low) in &field.runs {
            let role = field.role.unwrap_or(Role::Opcode);
            let constant = matches!(role, Role::Opcode | Role::Fixed | Role::Ignored);
            let (high, low) = (u16::from(*high), u16::from(*low));
            let from = usize::from(part.count.saturating_sub(high + 1));
            let digits = part.digits.get(from..from + usize::from(high - low + 1)).filter(|_| constant);
            let name = if constant { String::new() } else { field.full_name() };
            runs.push(Run { high, low, role, name, digits: digits.unwrap_or_default().to_owned() });
        }
    }
    runs.sort_by_key(|run| std::cmp::Reverse(run.high));
    // Bits that operands share have a field for each operand.
    runs.dedup_by(|next, kept| next.high >= kept.low);
    diagram(part.count, runs, label)
}

/// The fields of a part as a table.
fn table(part: &Bits) -> String {
    let rows = part.fields.iter().map(|field| {
        let [bits, name, text, meaning] = row(field).map(|text| escaped(&text));
        let class = if field.wrong { "wrong" } else { role(field) };
        format!(
            "<tr><td class=\"{class}\">{bits}</td><td>{name}</td><td><code>{text}</code></td><td>{meaning}</td></tr>"
        )
    });
    format!("<table>{}</table>", rows.collect::<String>())
}

fn head(found: &Explanation) -> String {
    let code = escaped(&found.code);
    match found.error.as_str() {
        "" => format!("<p><code class=\"soft\">{code}</code> <code><b>{}</b></code></p>", escaped(&found.text)),
        error => format!("<p><code class=\"soft\">{code}</code> <span class=\"error\">{}</span></p>", escaped(error)),
    }
}

/// An instruction: its text and its diagram.
pub fn instruction(found: &Explanation) -> String {
    let parts = found.bits().iter().map(|part| titled(part) + &drawn(part, &found.mnemonic));
    shell(&(head(found) + &parts.collect::<String>()))
}

fn titled(part: &Bits) -> String {
    if part.title.is_empty() { String::new() } else { format!("<p><b>{}</b></p>", escaped(&part.title)) }
}

/// The explanation of an instruction.
pub fn explanation(found: &Explanation) -> String {
    let mut out = head(found);
    if !found.title.is_empty() || !found.doc.is_empty() {
        out.push_str(&format!("<p><b>{}</b> {}</p>", escaped(&found.title), prose(&found.doc)));
    }
    for part in found.bits() {
        out.push_str(&(titled(part) + &drawn(part, &found.mnemonic) + &table(part)));
    }
    for (name, list) in found.uses().into_iter().filter(|(_, list)| !list.is_empty()) {
        out.push_str(&format!("<p><span class=\"soft\">{name}</span> {}</p>", escaped(&list.join(", "))));
    }
    for text in [&found.does, &found.here].into_iter().filter(|text| !text.is_empty()) {
        out.push_str(&format!("<pre>{}</pre>", escaped(text)));
    }
    out.push_str(&found.picture);
    shell(&out)
}
