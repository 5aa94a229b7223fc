//! The fields of a word, and the table of their values.

use isaforge_core::Isa;
use isaforge_core::annotate::{Note, Role, annotate};
use isaforge_core::bits::ones;

use crate::paint::{BOLD, DIM, ERROR, paint, wrap};

/// A field of a word: where it lies, what it holds, what that means.
#[derive(Clone, Debug)]
pub struct Field {
    /// The runs of bits it takes: highest and lowest bit of each.
    pub runs: Vec<(u8, u8)>,
    /// Its name.
    pub name: String,
    /// The operand it belongs to; empty for the instruction's own.
    pub operand: String,
    /// What it is; `None` for bits that no instruction is known for.
    pub role: Option<Role>,
    /// Its value.
    pub value: u64,
    /// The value as assembly has it.
    pub text: String,
    /// What the value means.
    pub meaning: String,
    /// Whether this is what makes the word invalid.
    pub wrong: bool,
    /// What stands for it in the diagram.
    pub key: char,
}

impl Field {
    fn new(note: &Note) -> Field {
        Field {
            runs: vec![(note.high, note.low)],
            name: note.name.to_owned(),
            operand: note.operand.to_owned(),
            role: Some(note.role),
            value: note.value,
            text: note.text.as_str().to_owned(),
            meaning: note.meaning.to_owned(),
            wrong: false,
            key: ' ',
        }
    }

    /// Bits that make a word invalid.
    pub fn wrong(bits: (u8, u8), name: &str, value: u64, meaning: &str) -> Field {
        Field {
            runs: vec![bits],
            name: name.to_owned(),
            operand: String::new(),
            role: None,
            value,
            text: format!("{value:#X}").replacen("0X", "0x", 1),
            meaning: meaning.to_owned(),
            wrong: true,
            key: ' ',
        }
    }

    /// Makes this the field that makes the word invalid.
    pub fn blame(&mut self, meaning: &str) {
        self.wrong = true;
        self.meaning = meaning.to_owned();
    }

    /// Whether it takes exactly these bits.
    pub fn has_bits(&self, bits: (u8, u8)) -> bool {
        self.runs == [bits]
    }

    /// Number of bits.
    pub fn width(&self) -> u32 {
        self.runs.iter().map(|(high, low)| u32::from(high - low) + 1).sum()
    }

    /// The colour for it.
    pub fn color(&self) -> &'static str {
        match self.role {
            _ if self.wrong => ERROR,
            Some(Role::Opcode) => "\x1b[1;35m",
            Some(Role::Modifier) => "\x1b[33m",
            Some(Role::Operand) => "\x1b[32m",
            Some(Role::Suffix) => "\x1b[36m",
            Some(Role::Shared) => "\x1b[34m",
            Some(Role::Fixed | Role::Ignored) | None => DIM,
        }
    }

    /// The name, with that of the operand before it.
    pub fn full_name(&self) -> String {
        if self.operand.is_empty() { self.name.clone() } else { format!("{}.{}", self.operand, self.name) }
    }

    fn bits(&self) -> String {
        let run = |(high, low): &(u8, u8)| if high == low { format!("{low}") } else { format!("{high}..{low}") };
        self.runs.iter().map(run).collect::<Vec<_>>().join(", ")
    }

    fn binary(&self) -> String {
        let width = self.width().clamp(1, 64);
        let value = self.value & ones(width);
        if width > 10 { format!("{value:#x}") } else { format!("{value:0width$b}", width = width as usize) }
    }
}

/// The fields of a word that is, or nearly is, an instruction, the highest bit first.
pub fn of_instruction(isa: &'static Isa, opcode: u16, word: u64) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    annotate(isa, opcode, word, &mut |note| {
        let own = matches!(note.role, Role::Modifier | Role::Operand | Role::Suffix | Role::Shared);
        let same = |f: &&mut Field| f.name == note.name && f.operand == note.operand && f.role == Some(note.role);
        match fields.iter_mut().find(|f| own && same(f)) {
            // A field in several pieces, the most significant first.
            Some(field) => field.runs.insert(0, (note.high, note.low)),
            None => fields.push(Field::new(&note)),
        }
    });
    for field in &mut fields {
        match field.role {
            Some(Role::Opcode) if field.meaning.is_empty() => field.meaning = "tells the instruction".to_owned(),
            Some(Role::Fixed) if field.meaning.is_empty() => field.meaning = "must be so".to_owned(),
            Some(Role::Ignored) if field.meaning.is_empty() => field.meaning = "may be anything".to_owned(),
            _ => {}
        }
    }
    fields
}

/// Marks whatever else is wrong with a word beside the first thing that decoding reports.
pub fn blame_the_obvious(isa: &'static Isa, opcode: u16, fields: &mut [Field]) {
    let form = &isa.forms[opcode as usize];
    for field in fields.iter_mut().filter(|field| !field.wrong) {
        match field.role {
            Some(Role::Fixed) => {
                let run = field.runs.first().copied();
                let expected = run.map(|(high, low)| form.fixed_value >> low & ones(u32::from(high - low) + 1));
                match expected {
                    Some(0) if field.value != 0 => field.blame("must be zero"),
                    Some(expected) if field.value != expected => field.blame(&format!("must be {expected:#x}")),
                    _ => {}
                }
            }
            Some(Role::Modifier | Role::Suffix) if field.text.is_empty() => field.blame("reserved value"),
            Some(Role::Operand) if field.text.is_empty() => field.blame("reserved encoding"),
            _ => {}
        }
    }
}

/// Takes bits away from the fields that hold them.
pub fn cut(fields: &mut Vec<Field>, (high, low): (u8, u8), word: u64) {
    let mut pieces = Vec::new();
    for field in fields.iter_mut() {
        let Some(&(top, bottom)) = field.runs.first().filter(|run| run.0 >= high && run.1 <= low) else { continue };
        let mut piece = |top: u8, bottom: u8| {
            let value = word >> bottom & ones(u32::from(top - bottom) + 1);
            let text = format!("{value:#X}").replacen("0X", "0x", 1);
            pieces.push(Field { runs: vec![(top, bottom)], value, text, ..field.clone() });
        };
        if top > high {
            piece(top, high + 1);
        }
        if bottom < low {
            piece(low - 1, bottom);
        }
        field.runs.clear();
    }
    fields.retain(|field| !field.runs.is_empty());
    fields.append(&mut pieces);
}

/// Sorts the fields by place and gives each a letter.
pub fn name_keys(fields: &mut [Field]) {
    fields.sort_by_key(|field| std::cmp::Reverse(field.runs.first().map(|run| run.0)));
    let mut keys = ('a'..='z').chain('A'..='Z').chain('0'..='9');
    for field in fields {
        field.key = keys.next().unwrap_or('*');
    }
}

/// The table of fields, in colour.
pub fn table(fields: &[Field], width: usize) -> String {
    let mut out = String::new();
    if fields.is_empty() {
        return out;
    }
    let widest = |head: &str, cells: &dyn Fn(&Field) -> String| {
        let longest = fields.iter().map(|field| cells(field).chars().count()).max().unwrap_or(0);
        longest.max(head.len())
    };
    let bits = widest("bits", &Field::bits);
    let name = widest("field", &Field::full_name);
    let value = widest("value", &Field::binary);
    let text = widest("text", &|field| field.text.clone()).min(28);
    let indent = 3 + bits + 2 + name + 2 + value + 2 + text + 2;
    let room = width.saturating_sub(indent).max(24);
    let head = format!("   {:bits$}  {:name$}  {:>value$}  {:text$}  {}", "bits", "field", "value", "text", "meaning");
    out.push_str(&format!("{}\n", paint(DIM, &head)));
    for field in fields {
        let color = field.color();
        let lines = wrap(&field.meaning, room);
        let pad = |text: &str, wide: usize| " ".repeat(wide.saturating_sub(text.chars().count()));
        let cell = |text: &str, wide: usize| format!("{text}{}", pad(text, wide));
        let (number, full_name, bits_text) = (field.binary(), field.full_name(), field.bits());
        out.push_str(&format!(
            "{}  {}  {}  {}{}  {}",
            paint(color, &field.key.to_string()),
            cell(&bits_text, bits),
            paint(color, &cell(&full_name, name)),
            pad(&number, value),
            paint(DIM, &number),
            paint(BOLD, &field.text),
        ));
        if let Some(first) = lines.first().filter(|first| !first.is_empty()) {
            let meaning = if field.wrong { paint(ERROR, first) } else { first.clone() };
            out.push_str(&format!("{}  {meaning}", pad(&field.text, text)));
        }
        out.push('\n');
        for line in lines.iter().skip(1) {
            let line = if field.wrong { paint(ERROR, line) } else { line.clone() };
            out.push_str(&format!("{}{line}\n", " ".repeat(indent)));
        }
    }
    out
}
