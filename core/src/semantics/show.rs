//! Prints shapes as text, in the language of the specification.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;

use super::immediate::{AtomicOp, Comparison, Special};
use super::instantiate::{Shape, for_each_argument};
use super::node::{NONE, Node, Op};
use super::primitive::component;
use super::table::Semantics;
use super::types::{Class, Type};

/// Prints a shape, one statement per line: what an instruction does once its modifiers are known.
///
/// `operand` gives the name of an operand. Values that are used more than once are named `a`, `b` and so on, skipping
/// the names of operands and states. The text follows the syntax of specifications and compiles to the same graph.
///
/// # Examples
///
/// ```
/// use isaforge_core::semantics::{instantiate, show};
/// use isaforge_vpu::{Opcode, semantics::SEMANTICS};
///
/// let info = Opcode::MultiplyHiInt16u.info();
/// let operation = &SEMANTICS.operations[Opcode::MultiplyHiInt16u as usize];
/// let shape = instantiate(SEMANTICS, operation, |_| 0);
/// println!("{}", show(SEMANTICS, &shape, |operand| info.operands[usize::from(operand)].name));
/// ```
pub fn show<'a>(semantics: &Semantics, shape: &Shape, operand: impl Fn(u16) -> &'a str) -> String {
    let mut uses = alloc::vec![0u32; shape.nodes.len()];
    for node in &shape.nodes {
        for_each_argument(node, &shape.lists, |argument| {
            if let Some(uses) = uses.get_mut(usize::from(argument)) {
                *uses += 1;
            }
        });
    }
    let named = shape.nodes.iter().filter(|node| matches!(node.op, Op::Operand | Op::Write));
    let taken: Vec<&str> = named.map(|node| operand(node.args[0])).collect();
    let mut writer = Writer { semantics, shape, texts: Vec::new(), names: 0 };
    let mut lines: Vec<String> = Vec::new();
    for (at, node) in shape.nodes.iter().enumerate() {
        let mut text = writer.node(node, &operand);
        let leaf = matches!(node.op, Op::Const | Op::Operand | Op::Special);
        let kept = matches!(node.op, Op::Load | Op::Atomic) || node.op == Op::Intrinsic && uses[at] > 0;
        if node.op == Op::State && node.args[1] == NONE && uses[at] <= 1 {
            // Read in place.
        } else if node.op.is_effect() && !kept {
            lines.push(writer.guarded(node, text.0));
            text = (String::new(), 0);
        } else if kept || !leaf && uses[at] > 1 && !(node.op == Op::Canonical && is_name(&writer.plain(node.args[0]))) {
            let name = writer.name(&taken);
            lines.push(format!("let {name} = {}", text.0));
            text = (name, ATOM);
        }
        writer.texts.push(text);
    }
    if lines.is_empty() {
        lines.push("nop".to_string());
    }
    lines.join("\n")
}

/// Whether a text is a name, or a number.
fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The precedence of a name or a call, which binds most tightly.
const ATOM: u8 = 10;

struct Writer<'s> {
    semantics: &'s Semantics,
    shape: &'s Shape,
    /// The text of each node so far, and its precedence.
    texts: Vec<(String, u8)>,
    names: u32,
}

impl Writer<'_> {
    /// Names run from `a` to `z`, then from `a1`, skipping those of operands and states.
    fn name(&mut self, operands: &[&str]) -> String {
        loop {
            let (letter, round) = (self.names % 26, self.names / 26);
            self.names += 1;
            let mut name = String::from(char::from(b'a' + letter as u8));
            if round > 0 {
                let _ = write!(name, "{round}");
            }
            let mut others = operands.iter().copied().chain(self.semantics.states.iter().map(|state| state.name));
            if others.all(|other| other != name) {
                return name;
            }
        }
    }

    fn text(&self, node: u16, least: u8) -> String {
        match self.texts.get(usize::from(node)) {
            Some((text, binds)) if *binds >= least => text.clone(),
            Some((text, _)) => format!("({text})"),
            None => String::new(),
        }
    }

    fn plain(&self, node: u16) -> String {
        self.text(node, 0)
    }

    fn ty(&self, node: u16) -> Type {
        self.shape.nodes.get(usize::from(node)).map_or(Type::BOOL, |node| node.ty)
    }

    fn guarded(&self, node: &Node, text: String) -> String {
        match node.op.condition().map(|k| node.args[k]) {
            Some(condition) if condition != NONE => format!("if {} {{ {text} }}", self.plain(condition)),
            _ => text,
        }
    }

    fn call(&self, name: &str, arguments: &[u16]) -> (String, u8) {
        let arguments: Vec<String> = arguments.iter().map(|node| self.plain(*node)).collect();
        (format!("{name}({})", arguments.join(", ")), ATOM)
    }

    fn converted(&self, name: &str, node: &Node, extra: &str) -> (String, u8) {
        (format!("{name}({}, {}{extra})", node.ty, self.plain(node.args[0])), ATOM)
    }

    fn infix(&self, sign: &str, binds: u8, a: u16, b: u16) -> (String, u8) {
        (format!("{} {sign} {}", self.text(a, binds), self.text(b, binds + 1)), binds)
    }

    fn rounded(&self, name: &str, node: &Node, arguments: usize) -> (String, u8) {
        let mut text: Vec<String> = node.args[..arguments].iter().map(|node| self.plain(*node)).collect();
        text.extend(rounding(node.imm).map(str::to_string));
        (format!("{name}({})", text.join(", ")), ATOM)
    }

    fn node<'a>(&self, node: &Node, operand: &impl Fn(u16) -> &'a str) -> (String, u8) {
        let [a, b, c, _] = node.args;
        let arithmetic = |sign: &str, binds, name: &str| match rounding(node.imm) {
            Some(round) if node.ty.is_float() => {
                (format!("{name}({}, {}, {round})", self.plain(a), self.plain(b)), ATOM)
            }
            _ => self.infix(sign, binds, a, b),
        };
        match node.op {
            Op::Const => {
                let value = self.shape.constants.get(usize::from(a)).copied().unwrap_or(0);
                literal(node.ty, value)
            }
            Op::Operand if b == 0 && !self.has_elements(a) => (operand(a).to_string(), ATOM),
            Op::Operand => (format!("{}[{b}]", operand(a)), ATOM),
            Op::State => {
                let name = self.semantics.states.get(usize::from(a)).map_or("?", |state| state.name);
                (if b == NONE { name.to_string() } else { format!("{name}[{}]", self.plain(b)) }, ATOM)
            }
            Op::Special => {
                (Special::ALL.get(usize::from(node.imm)).map_or("?", |special| special.as_str()).to_string(), ATOM)
            }
            Op::Pick | Op::Is | Op::Modifier => ("?".to_string(), ATOM),
            Op::Neg => (format!("-{}", self.text(a, ATOM)), 9),
            Op::Not if node.ty.class == Class::Bool => (format!("!{}", self.text(a, ATOM)), 9),
            Op::Not => (format!("~{}", self.text(a, ATOM)), 9),
            Op::Add => arithmetic("+", 7, "add"),
            Op::Sub => arithmetic("-", 7, "sub"),
            Op::Mul => arithmetic("*", 8, "mul"),
            Op::Div => arithmetic("/", 8, "div"),
            Op::Rem => self.infix("%", 8, a, b),
            Op::And if node.ty.class == Class::Bool => self.infix("&&", 1, a, b),
            Op::Or if node.ty.class == Class::Bool => self.infix("||", 0, a, b),
            Op::And => self.infix("&", 5, a, b),
            Op::Xor => self.infix("^", 4, a, b),
            Op::Or => self.infix("|", 3, a, b),
            Op::Shl => self.infix("<<", 6, a, b),
            Op::Shr => self.infix(">>", 6, a, b),
            Op::Abs => self.call("abs", &[a]),
            Op::MulHigh => self.call("mulhi", &[a, b]),
            Op::RotateLeft => self.call("rotl", &[a, b]),
            Op::RotateRight => self.call("rotr", &[a, b]),
            Op::LeadingZeros => self.call("clz", &[a]),
            Op::TrailingZeros => self.call("ctz", &[a]),
            Op::CountOnes => self.call("popcount", &[a]),
            Op::ReverseBits => self.call("bitrev", &[a]),
            Op::Min => self.call("min", &[a, b]),
            Op::Max => self.call("max", &[a, b]),
            Op::AddSat => self.call("sat_add", &[a, b]),
            Op::SubSat => self.call("sat_sub", &[a, b]),
            Op::MulSat => self.call("sat_mul", &[a, b]),
            Op::AddHalf => self.call("hadd", &[a, b]),
            Op::AddHalfUp => self.call("rhadd", &[a, b]),
            Op::Fma => self.rounded("fma", node, 3),
            Op::FmaScaled => self.rounded("fma_scaled", node, 4),
            Op::Sqrt => self.rounded("sqrt", node, 1),
            Op::Ldexp => self.rounded("ldexp", node, 2),
            Op::RoundIntegral => self.rounded("round", node, 1),
            // Canonicalisation of NaNs applies to all arithmetic; do not repeat it each time.
            Op::Canonical => self.texts.get(usize::from(a)).cloned().unwrap_or_default(),
            Op::Bits => (format!("{} as {}", self.text(a, ATOM), node.ty), ATOM),
            Op::Zext => self.converted("zext", node, ""),
            Op::Sext => self.converted("sext", node, ""),
            Op::Trunc => self.converted("trunc", node, ""),
            Op::Convert => {
                let widens = node.imm == super::primitive::WIDEN;
                let extra = rounding(node.imm).map_or(String::new(), |round| format!(", {round}"));
                self.converted(if widens { "widen" } else { "cvt" }, node, if widens { "" } else { &extra })
            }
            Op::Compare => match Comparison::ALL.get(usize::from(node.imm)) {
                Some(Comparison::NotEqual) => self.infix("!=", 2, a, b),
                Some(Comparison::Less) => self.infix("<", 2, a, b),
                Some(Comparison::LessEqual) => self.infix("<=", 2, a, b),
                Some(Comparison::Apart) => self.call("apart", &[a, b]),
                Some(Comparison::Unordered) => self.call("unordered", &[a, b]),
                Some(Comparison::TotalLessEqual) => self.call("total_le", &[a, b]),
                _ => self.infix("==", 2, a, b),
            },
            Op::Select if self.ty(a).lanes > 1 => self.call("select", &[a, b, c]),
            Op::Select => {
                let text = format!("if {} {{ {} }} else {{ {} }}", self.plain(a), self.plain(b), self.plain(c));
                (text, 0)
            }
            Op::Get if node.imm < 4 => {
                (format!("{}.{}", self.text(a, ATOM), ["x", "y", "z", "w"][usize::from(node.imm)]), ATOM)
            }
            Op::Get => (format!("{}[{}]", self.text(a, ATOM), node.imm), ATOM),
            Op::Slice => (self.slice(node), ATOM),
            Op::Pack => {
                let list = self.shape.lists.get(usize::from(a)..).unwrap_or_default();
                let parts: Vec<String> = list.iter().take(b.into()).map(|node| self.plain(*node)).collect();
                (format!("[{}]", parts.join(", ")), ATOM)
            }
            Op::Splat => self.converted("splat", node, ""),
            Op::Concat => self.call("concat", &[b, a]),
            Op::Permute => self.call("permute", &[a, b]),
            Op::Ballot => self.call("ballot", &[a]),
            Op::Load => (format!("load({}{}, {})", node.ty, self.space(node.imm), self.plain(a)), ATOM),
            Op::Store => {
                let (space, address, value) = (self.space(node.imm), self.plain(a), self.plain(b));
                (format!("store({}{space}, {address}, {value})", node.ty), ATOM)
            }
            Op::Atomic => {
                let name = match AtomicOp::ALL.get(usize::from(node.imm >> 8)) {
                    _ if c != NONE => "compare_exchange",
                    Some(AtomicOp::Add) => "atomic_add",
                    Some(AtomicOp::Sub) => "atomic_sub",
                    Some(AtomicOp::And) => "atomic_and",
                    Some(AtomicOp::Or) => "atomic_or",
                    Some(AtomicOp::Xor) => "atomic_xor",
                    Some(AtomicOp::Min) => "atomic_min",
                    Some(AtomicOp::Max) => "atomic_max",
                    _ => "atomic_exchange",
                };
                let expected = if c == NONE { String::new() } else { format!(", {}", self.plain(c)) };
                let (space, address, value) = (self.space(node.imm & 0xff), self.plain(a), self.plain(b));
                (format!("{name}({}{space}, {address}{expected}, {value})", node.ty), ATOM)
            }
            Op::Write if b == 0 && !self.has_elements(a) => (format!("{} = {}", operand(a), self.plain(c)), 0),
            Op::Write => (format!("{}[{b}] = {}", operand(a), self.plain(c)), 0),
            Op::SetState => {
                let name = self.semantics.states.get(usize::from(a)).map_or("?", |state| state.name);
                let place = if b == NONE { name.to_string() } else { format!("{name}[{}]", self.plain(b)) };
                (format!("{place} = {}", self.plain(c)), 0)
            }
            Op::Branch => self.call("branch", &[a]),
            Op::Slot => (format!("slot{}()", node.imm), ATOM),
            Op::Commit => ("commit()".to_string(), ATOM),
            Op::Barrier => ("barrier()".to_string(), ATOM),
            Op::End => ("end()".to_string(), ATOM),
            Op::Fault => {
                let name = self.semantics.faults.get(usize::from(node.imm)).copied().unwrap_or("?");
                (format!("fault({name}, {})", self.plain(a)), ATOM)
            }
            Op::Intrinsic => {
                let name = self.semantics.intrinsics.get(usize::from(a)).map_or("?", |intrinsic| intrinsic.name);
                let list = self.shape.lists.get(usize::from(b)..).unwrap_or_default();
                let list: Vec<u16> = list.iter().take(c.into()).copied().collect();
                self.call(name, &list)
            }
        }
    }

    /// Whether the shape accesses more than the first element of an operand.
    fn has_elements(&self, operand: u16) -> bool {
        let of = |node: &Node| matches!(node.op, Op::Operand | Op::Write) && node.args[0] == operand;
        self.shape.nodes.iter().any(|node| of(node) && node.args[1] > 0)
    }

    fn slice(&self, node: &Node) -> String {
        let (of, low, bits) = (self.text(node.args[0], ATOM), u32::from(node.imm), u32::from(node.ty.bits));
        let letter = match bits {
            8 => "b",
            16 => "h",
            32 => "w",
            _ => return format!("{of}[{}:{low}]", low + bits - 1),
        };
        if low.is_multiple_of(bits) {
            format!("{of}.{letter}{}", low / bits)
        } else {
            format!("{of}[{}:{low}]", low + bits - 1)
        }
    }

    fn space(&self, space: u16) -> String {
        match self.semantics.spaces.get(usize::from(space)) {
            Some(name) if self.semantics.spaces.len() > 1 => format!(", {name}"),
            _ => String::new(),
        }
    }
}

fn rounding(imm: u16) -> Option<&'static str> {
    match imm {
        0 => None,
        1 => Some("rtp"),
        2 => Some("rtn"),
        3 => Some("rtz"),
        _ => Some("rna"),
    }
}

/// A constant and its precedence.
fn literal(ty: Type, value: u64) -> (String, u8) {
    let first = component(value, ty, 0);
    let alike = (1..u32::from(ty.lanes)).all(|i| component(value, ty, i) == first);
    // A number before `as` is of that type, so bits need a type of their own.
    let bits = || (format!("{value:#x} as u{} as {ty}", ty.size()), ATOM);
    if !alike {
        return bits();
    }
    match ty.class {
        Class::Bool => ((if first != 0 { "true" } else { "false" }).to_string(), ATOM),
        Class::Float => {
            let number = match ty.bits {
                32 => f64::from(f32::from_bits(first as u32)),
                64 => f64::from_bits(first),
                _ => {
                    let wide = crate::float::convert(
                        crate::float::Format::F16,
                        crate::float::Format::F64,
                        first,
                        crate::float::Round::NearestEven,
                    );
                    f64::from_bits(wide)
                }
            };
            let text = format!("{number:?}");
            // Infinities and NaNs have no literal, and very large and small numbers would need many digits.
            if number.is_finite() && text.len() <= 12 && !text.contains('e') {
                let binds = if number.is_sign_negative() { 9 } else { ATOM };
                (text, binds)
            } else {
                bits()
            }
        }
        Class::Signed => {
            let number = super::primitive::extend(first, ty.bits.into()) as i64;
            (format!("{number}"), if number < 0 { 9 } else { ATOM })
        }
        Class::Unsigned if first < 256 => (format!("{first}"), ATOM),
        Class::Unsigned => (format!("{first:#x}"), ATOM),
    }
}
