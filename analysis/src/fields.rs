//! The meaning of an instruction's bits, as a table of the same layout for every kind of instruction set.

use isaforge_core::annotate::Role;
use isaforge_core::bits::word_of;
use isaforge_core::explain::{Field as Explained, bits_text, groups, words};
use isaforge_core::group;
use isaforge_core::stream::{Decoded, Engine, STORED, Source, annotate};
use isaforge_core::table::{Enum, Form, Operand};
use isaforge_core::{Isa, Tables};

/// A field: some bits of an instruction and their meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The runs of bits, highest first, each as its highest and lowest bit. In groups, bits are numbered within the
    /// record.
    pub runs: Vec<(u16, u16)>,
    /// Its name, prefixed with the name of the operand or of the slot in a group.
    pub name: String,
    /// Its value as written in assembly; empty if it is not written.
    pub text: String,
    /// The meaning of the value.
    pub meaning: String,
}

impl Field {
    /// The bits as text, such as `47..40, 3`.
    pub fn bits(&self) -> String {
        bits_text(self.runs.iter().copied())
    }

    fn explained(slot: &str, field: &Explained) -> Field {
        let name = if slot.is_empty() { field.full_name() } else { format!("{slot}.{}", field.full_name()) };
        let runs = field.runs.iter().map(|(high, low)| (u16::from(*high), u16::from(*low))).collect();
        Field { runs, name, text: field.text.clone(), meaning: field.meaning.clone() }
    }
}

/// Returns the fields of one instruction. An invalid word is read as the nearest instruction.
///
/// # Examples
///
/// ```
/// use isaforge_core::Tables;
///
/// let bytes = 0x0091_c100_0000_0002_u64.to_le_bytes();
/// let fields = isaforge_analysis::fields::fields(Tables::Words(isaforge_valhall::ISA), &bytes);
/// let dest = fields.iter().find(|field| field.name == "dest").expect("it has one");
/// assert_eq!((dest.bits().as_str(), dest.text.as_str()), ("45..40", "r1"));
/// ```
pub fn fields(tables: Tables, bytes: &[u8]) -> Vec<Field> {
    match tables {
        Tables::Words(isa) => {
            let word = word_of(bytes);
            words::explain(isa, word).fields.iter().map(|field| Field::explained("", field)).collect()
        }
        Tables::Groups(isa) => {
            let Ok(group) = group::decode::decode(isa, bytes) else { return Vec::new() };
            let mut all = Vec::new();
            for (index, slot) in isa.slots.iter().enumerate() {
                let Some(record) = group.record(isa, index) else { continue };
                let mut found = groups::fields(isa, &group, index, record);
                found.sort_by_key(|field| std::cmp::Reverse(field.runs.first().map(|run| run.0)));
                all.extend(found.iter().map(|field| Field::explained(slot.name, field)));
            }
            all
        }
        Tables::Streams(engine) => {
            let Ok(decoded) = engine.decode(bytes) else { return Vec::new() };
            of_stream(engine, &decoded).iter().map(|field| Field::explained("", field)).collect()
        }
    }
}

/// The bits of an instruction of a stream: constant bits, the fields in the order of the specification, then bits
/// without meaning. Values are cut to 64 bits.
pub fn of_stream(engine: Engine, decoded: &Decoded) -> Vec<Explained> {
    let layout = engine.scope(decoded).layout;
    let is_operand = |name: &str| {
        let mut fields = layout.operands.iter().filter_map(|operand| layout.fields.get(usize::from(operand.field)));
        fields.any(|field| field.name == name.strip_suffix(STORED).unwrap_or(name))
    };
    let mut all = Vec::new();
    annotate(engine, decoded, &mut |note| {
        let (name, role, meaning) = match note.field {
            // What is computed has no bits.
            Some(field) if !matches!(field.source, Source::Bits(_)) => return,
            Some(field) if is_operand(field.name) => (field.name, Role::Operand, field.doc),
            Some(field) => (field.name, Role::Modifier, field.doc),
            None if note.constant => ("constant", Role::Fixed, "must have this value"),
            None => ("ignored", Role::Ignored, "may be anything"),
        };
        let mut runs: Vec<(u8, u8)> = note.bits.runs().map(|(at, width)| ((at + width - 1) as u8, at as u8)).collect();
        runs.reverse();
        let (text, meaning) = (note.text.as_str().to_owned(), meaning.to_owned());
        all.push(Explained { text, meaning, ..Explained::new(runs, name, role, note.value.get(0, 64)) });
    });
    all
}

/// The modifiers of the instructions of a form and of its operands, each with the enum of its values; `None` for one
/// that is written or not.
pub fn modifiers(isa: &'static Isa, form: &'static Form) -> Vec<(String, Option<&'static Enum>)> {
    let own = form.modifiers.iter().map(|modifier| (modifier.name.to_owned(), isa.enum_of(modifier.ty)));
    let of = |operand: &'static Operand| {
        operand.suffixes.iter().map(|suffix| (format!("{}.{}", operand.name, suffix.name), isa.enum_of(suffix.ty)))
    };
    own.chain(form.operands.iter().flat_map(of)).collect()
}
