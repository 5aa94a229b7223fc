//! Which kind prints an operand of a class, and the arguments it needs.
//!
//! `operands.tsv` has two sorts of rows. `kind` defines a kind of `printers.yaml` with its parameters and their
//! sources. `class` selects the kind that prints the operands of a class, overrides parameters, and may define how the
//! kind's bits are computed from the operand's. The source of a parameter is a number, or one of the forms in
//! [`Value`].

use std::collections::HashMap;
use std::sync::OnceLock;

const TABLE: &str = include_str!("operands.tsv");

/// The numbers of processors from which classes are printed differently.
const LATER: [u32; 6] = [910, 942, 1010, 1100, 1200, 1250];

/// The source of a parameter's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// A constant.
    Is(u64),
    /// `own.N`: a bit of the operand's modifiers, if the text contains them.
    Own(u8),
    /// `NAME.N`: a bit of another operand; 0 if the record does not have it.
    Bit(String, u8),
    /// `NAME.N=D`: the same, with another default.
    BitOr(String, u8, u64),
    /// `half`: the bit that selects a half of a 16-bit register: bit 2 of the modifiers; for a result, bit 3 of the
    /// first source's modifiers.
    Half,
    /// `literal`: the word after the instruction.
    Literal,
    /// `sources`: the number of sources.
    Sources,
    /// `selects`: whether the result has a bit that selects its half.
    Selects,
    /// `stores`: whether the instruction writes memory and returns no value.
    Stores,
    /// `atomic`: whether the instruction writes memory and returns a value.
    Atomic,
    /// `packed`: whether the text has sources without modifiers.
    Packed,
    /// `operand NAME`: the value of another operand; 0 if the record does not have it.
    Operand(String),
}

/// How operands of a class are printed.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    /// The kind.
    pub kind: String,
    /// Its parameters.
    pub parameters: Vec<(String, Value)>,
    /// The bits of the kind, as an expression over `bits` and other operands.
    pub map: Option<String>,
    /// Constant bits of the operand: lowest bit, width, value. The kind has the bits below them.
    pub fixed: Option<(u8, u8, u64)>,
    /// A condition for a word to be the instruction, with `$` for the operand.
    pub condition: Option<String>,
    /// Whether every bit of the operand is printed separately, by the kind's name followed by the bit.
    pub each: bool,
    /// Whether the operand's bits are those of its parameters.
    pub apart: bool,
    /// The text if the lowest bit is constant.
    pub always: Option<String>,
    /// The number of registers, for kinds that have no parameter for it.
    pub registers: u16,
}

/// All classes. Rows may have a condition: `CLASS@PREFIX` applies to mnemonics with that prefix, `CLASS#1200` to
/// processors from that number on.
pub(super) struct Bindings {
    classes: HashMap<&'static str, Vec<(&'static str, Binding)>>,
}

impl Bindings {
    /// The table.
    pub fn get() -> &'static Bindings {
        static BINDINGS: OnceLock<Bindings> = OnceLock::new();
        BINDINGS.get_or_init(Bindings::read)
    }

    /// How an operand of a class is printed in an instruction with this mnemonic.
    pub fn of(&self, class: &str, mnemonic: &str, generation: u32) -> Option<&Binding> {
        let later = LATER.iter().filter(|number| **number <= generation);
        let rows = later.rev().find_map(|number| self.classes.get(&format!("{class}#{number}")[..]));
        let rows = rows.or_else(|| self.classes.get(class))?;
        let special = rows.iter().find(|(prefix, _)| !prefix.is_empty() && mnemonic.starts_with(prefix));
        special.or_else(|| rows.iter().find(|(prefix, _)| prefix.is_empty())).map(|(_, binding)| binding)
    }

    fn read() -> Bindings {
        let mut kinds: HashMap<&str, Vec<(String, Value)>> = HashMap::new();
        let mut classes: HashMap<&'static str, Vec<(&'static str, Binding)>> = HashMap::new();
        for line in TABLE.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let cells: Vec<&'static str> = line.split('\t').collect();
            let settings = cells.get(2).copied().unwrap_or_default();
            let pairs = settings.split(' ').filter_map(|pair| pair.split_once('='));
            if let Some(kind) = cells[0].strip_prefix("kind ") {
                kinds.insert(kind, pairs.map(|(name, text)| (name.to_owned(), value(text))).collect());
                continue;
            }
            let kind = cells.get(1).copied().unwrap_or_default();
            let mut parameters = kinds.get(kind).cloned().unwrap_or_default();
            let mut binding = Binding {
                kind: kind.to_owned(),
                parameters: Vec::new(),
                map: None,
                fixed: None,
                condition: None,
                each: false,
                apart: false,
                always: None,
                registers: 1,
            };
            for (name, text) in pairs {
                match parameters.iter_mut().find(|(known, _)| known == name) {
                    Some((_, known)) => *known = value(text),
                    None => parameters.push((name.to_owned(), value(text))),
                }
            }
            binding.parameters = parameters;
            for extra in cells.iter().skip(3) {
                match extra.split_once('=') {
                    Some(("map", text)) => binding.map = Some(text.to_owned()),
                    Some(("fixed", text)) => {
                        let mut numbers = text.split(' ').filter_map(|number| number.parse::<u64>().ok());
                        if let (Some(low), Some(count), Some(is)) = (numbers.next(), numbers.next(), numbers.next()) {
                            binding.fixed = Some((low as u8, count as u8, is));
                        }
                    }
                    Some(("where", text)) => binding.condition = Some(text.to_owned()),
                    Some(("registers", text)) => binding.registers = text.parse().unwrap_or(1),
                    Some(("always", text)) => binding.always = Some(text.to_owned()),
                    _ => {
                        binding.each = *extra == "each";
                        binding.apart = *extra == "apart";
                    }
                }
            }
            for class in cells[0].split(' ') {
                let (class, prefix) = class.split_once('@').unwrap_or((class, ""));
                classes.entry(class).or_default().push((prefix, binding.clone()));
            }
        }
        Bindings { classes }
    }
}

fn value(text: &str) -> Value {
    if let Ok(number) = text.parse() {
        return Value::Is(number);
    }
    match text {
        "half" => Value::Half,
        "literal" => Value::Literal,
        "sources" => Value::Sources,
        "selects" => Value::Selects,
        "packed" => Value::Packed,
        "stores" => Value::Stores,
        "atomic" => Value::Atomic,
        _ => match text.split_once('.') {
            None => Value::Operand(text.to_owned()),
            Some(("own", bit)) => Value::Own(bit.parse().unwrap_or(0)),
            Some((name, bit)) => match bit.split_once(':') {
                Some((bit, otherwise)) => {
                    Value::BitOr(name.to_owned(), bit.parse().unwrap_or(0), otherwise.parse().unwrap_or(0))
                }
                None => Value::Bit(name.to_owned(), bit.parse().unwrap_or(0)),
            },
        },
    }
}
