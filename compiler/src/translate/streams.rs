//! Translates programs of one revision or generation of a stream to another.
//!
//! An instruction is taken apart by its names (instruction, fields, enum values, alternatives of kinds) and assembled
//! from the same names. Computed values follow from that, or are inverted where they are computed differently. If the
//! length of an instruction changes, branches within the program still lead to the same instructions; one into the
//! middle of an instruction has no translation, since its bytes may change.
//!
//! An instruction that the other revision lacks may have the text of another one that it has: a short and a long `mv`.
//! The source revision takes instructions of different lengths with one text for the same, so the other one is
//! translated in its place.

mod instruction;

use std::collections::HashMap;

use isaforge_core::program::ProgramError;
use isaforge_core::stream::listing::parts;
use isaforge_core::stream::program::assemble;
use isaforge_core::stream::{DecodeError, Decoded, Engine, Field, Layout, Role, Source, target as target_of};
use isaforge_core::text::Line;

use instruction::Translation;

/// Why an instruction has no translation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// The bytes are not an instruction of the source revision.
    #[error("not an instruction of {isa}: {error}")]
    Decode {
        /// The revision.
        isa: &'static str,
        /// What is wrong with the bytes.
        error: DecodeError,
    },
    /// The other revision has no such instruction.
    #[error("{isa} has no instruction `{name}`")]
    Instruction {
        /// The other revision.
        isa: &'static str,
        /// The instruction.
        name: &'static str,
    },
    /// The other revision's instruction has no such field, and it is not at its default.
    #[error("{isa} has no `{field}` for `{name}`, which is `{value}` here")]
    Field {
        /// The other revision.
        isa: &'static str,
        /// The instruction.
        name: &'static str,
        /// The field; `operand.field` within an operand.
        field: String,
        /// Its value.
        value: String,
    },
    /// The other revision has the field, but no such value of it.
    #[error("{isa} has no value `{value}` for `{field}` of `{name}`")]
    Value {
        /// The other revision.
        isa: &'static str,
        /// The instruction.
        name: &'static str,
        /// The field; `operand.field` within an operand.
        field: String,
        /// The value.
        value: String,
    },
    /// The operand has no such alternative in the other revision.
    #[error("{isa} has no `{value}` ({reading}) for `{field}` of `{name}`")]
    Reading {
        /// The other revision.
        isa: &'static str,
        /// The instruction.
        name: &'static str,
        /// The field.
        field: String,
        /// The alternative.
        reading: &'static str,
        /// The operand as written in the source revision.
        value: String,
    },
    /// All parts can be expressed, but not in combination.
    #[error("this combination cannot be encoded as one `{name}` in {isa}")]
    Together {
        /// The other revision.
        isa: &'static str,
        /// The instruction.
        name: &'static str,
    },
    /// A branch leads into the middle of an instruction.
    #[error("`{field}` of `{name}` leads to byte {address:#x}, where no instruction starts")]
    Branch {
        /// The instruction.
        name: &'static str,
        /// The field.
        field: String,
        /// Its target.
        address: u64,
    },
    /// The lengths of instructions and the addresses of branch targets do not converge.
    #[error("the lengths of instructions and the positions of branches do not converge")]
    Unsettled,
}

/// The maximum number of iterations until addresses converge.
const TURNS: usize = 100;
/// The number of iterations in which instructions may become shorter again; after that, addresses must converge soon.
const SHRINKING: usize = 10;

/// The address of an instruction in the source and in the target, and the map from source to target addresses.
struct AddressMap<'a> {
    this: u64,
    new_this: u64,
    moved: &'a dyn Fn(u64) -> Option<u64>,
    /// The least length of the instruction in the target, in bytes.
    least: u8,
}

/// Translates a program of revision `from` to bytes of revision `to`.
///
/// # Errors
/// Returns everything that cannot be translated, each with its offset in bytes.
pub fn translate_bytes(from: Engine, to: Engine, bytes: &[u8]) -> Result<Vec<u8>, Vec<(usize, StreamError)>> {
    let mut errors = Vec::new();
    let mut program: Vec<(u64, Decoded)> = Vec::new();
    for part in parts(from, bytes) {
        match part.decoded {
            Ok(decoded) => program.push((part.at as u64, decoded)),
            Err(error) => errors.push((part.at, StreamError::Decode { isa: from.stream.name, error })),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let end = bytes.len() as u64;
    let mut places: HashMap<u64, u64> = program.iter().map(|(at, _)| (*at, *at)).collect();
    places.insert(end, end);
    let mut least = vec![0; program.len()];
    for turn in 0..TURNS {
        // Code outside of the program is unknown, so branches to it keep their target address.
        let moved = |address: u64| places.get(&address).copied().or((address > end).then_some(address));
        let (mut out, mut next) = (Vec::new(), HashMap::new());
        for ((at, decoded), least) in program.iter().zip(&mut least) {
            let new_this = places.get(at).copied().unwrap_or(*at);
            next.insert(*at, out.len() as u64);
            match place(from, to, decoded, &AddressMap { this: *at, new_this, moved: &moved, least: *least }) {
                Ok(made) => {
                    *least = if turn < SHRINKING { 0 } else { made.len };
                    out.extend(to.store(made.word).iter().take(made.len.into()));
                }
                Err(error) => {
                    out.extend(std::iter::repeat_n(0, decoded.len.into()));
                    errors.push((*at as usize, error));
                }
            }
        }
        next.insert(end, out.len() as u64);
        if next == places {
            return if errors.is_empty() { Ok(out) } else { Err(errors) };
        }
        errors.clear();
        places = next;
    }
    Err(vec![(0, StreamError::Unsettled)])
}

/// Translates a program in the text of revision `from` to bytes of revision `to`.
///
/// # Errors
/// Returns the mistakes in the text, or else everything that cannot be translated, each with its line.
pub fn translate_text(from: Engine, to: Engine, text: &str) -> Result<Vec<u8>, Vec<ProgramError>> {
    let bytes = assemble(from, text)?;
    translate_bytes(from, to, &bytes).map_err(|errors| {
        // Labels are resolved in the whole program; here it matters only how many instructions a line has.
        let instructions = |line: &str| assemble(from, line).map_or(1, |bytes| parts(from, &bytes).count());
        let lines = text.lines().enumerate();
        let mut lines = lines.flat_map(|line| std::iter::repeat_n(line, instructions(line.1)));
        let mut places = parts(from, &bytes).map(|part| (part.at, lines.next().unwrap_or_default()));
        let located = |(at, error): (usize, StreamError)| {
            let (number, line) = places.find(|(start, _)| *start == at).map_or((0, ""), |(_, line)| line);
            let column = line.chars().take_while(|c| c.is_whitespace()).count() + 1;
            let len = line.trim().chars().count().max(1);
            ProgramError { line: number + 1, column, len, message: error.to_string(), help: String::new() }
        };
        errors.into_iter().map(located).collect()
    })
}

/// Translates an instruction at its place in the target, or another one with the same text.
fn place(from: Engine, to: Engine, decoded: &Decoded, place: &AddressMap<'_>) -> Result<Decoded, StreamError> {
    let missing = match by_name(from, to, decoded, place) {
        Err(error @ StreamError::Instruction { .. }) => error,
        result => return result,
    };
    // The texts of an existing decoder need not tell instructions apart.
    if from.stream.exclusive {
        return Err(missing);
    }
    let mut text = Line::new();
    from.print(decoded, &mut text);
    let own = from.scope(decoded).layout.opcode;
    let others = (0..from.stream.instructions.len() as u16).filter(|opcode| *opcode != own);
    let alike = others.filter_map(|opcode| from.parse_as(opcode, text.as_str()));
    // Of one length, one of them could never be written: nothing says that they mean the same.
    let alike = alike.filter(|other| other.len != decoded.len);
    // A target is a number in this text, which may be counted from elsewhere.
    let mut alike = alike.filter(|other| target_of(from, other, place.this) == target_of(from, decoded, place.this));
    alike.find_map(|other| by_name(from, to, &other, place).ok()).ok_or(missing)
}

/// Translates an instruction by its name.
fn by_name(from: Engine, to: Engine, decoded: &Decoded, place: &AddressMap<'_>) -> Result<Decoded, StreamError> {
    let scope = from.scope(decoded);
    let name =
        from.stream.instructions.get(usize::from(scope.layout.opcode)).map_or("", |instruction| instruction.name);
    let mut error = StreamError::Instruction { isa: to.stream.name, name };
    for (index, layout) in counterparts(from, to, name, scope.layout) {
        // Where a branch counts from the next instruction, its target depends on its own length.
        let mut len = (layout.bits / 8) as u8;
        for _ in 0..2 {
            let next = place.new_this.wrapping_add(len.into());
            let translation = Translation { from, to, name, place, len: decoded.len, next };
            match translation.make(&scope, index, layout) {
                Ok(made) if made.len < place.least => break,
                Ok(made) if made.len == len => return Ok(made),
                Ok(made) => len = made.len,
                Err(first) => {
                    // The first counterpart is the likeliest, so its error is the most helpful.
                    if matches!(error, StreamError::Instruction { .. }) {
                        error = first;
                    }
                    break;
                }
            }
        }
    }
    Err(error)
}

/// Whether a layout is used for decoding in a generation.
fn decodes(engine: Engine, layout: &Layout) -> bool {
    layout.role == Role::Own && (layout.since..=layout.until).contains(&engine.generation)
}

/// The layouts for an instruction in the other revision, likeliest first: those of the same name, or of the same
/// pattern if each name is unknown to the other revision.
fn counterparts(from: Engine, to: Engine, name: &'static str, layout: &'static Layout) -> Vec<(u16, &'static Layout)> {
    let called = |engine: Engine, layout: &Layout| {
        engine.stream.instructions.get(usize::from(layout.opcode)).map_or("", |instruction| instruction.name)
    };
    let known = |engine: Engine, name: &str| {
        engine.stream.layouts_of(0).iter().any(|layout| decodes(engine, layout) && called(engine, layout) == name)
    };
    let same = |other: &Layout| (other.mask, other.value) == (layout.mask, layout.value);
    let first = to.stream.sets.first().map_or(0, |set| set.first);
    let all = to.stream.layouts_of(0).iter().zip(first..).filter(|(other, _)| decodes(to, other));
    let renamed = !known(to, name);
    let mut found: Vec<(u16, &'static Layout)> = all
        .filter(|(other, _)| match renamed {
            false => called(to, other) == name,
            true => same(other) && !known(from, called(to, other)) && same_members(layout, other),
        })
        .map(|(other, index)| (index, other))
        .collect();
    found.sort_by_key(|(_, other)| (!same(other), other.bits != layout.bits));
    found
}

/// Whether two layouts have fields of the same names in the same bits.
fn same_members(a: &Layout, b: &Layout) -> bool {
    let alike = |(x, y): (&Field, &Field)| x.name == y.name && x.width == y.width && below(x) == below(y);
    a.fields.len() == b.fields.len() && a.fields.iter().zip(b.fields).all(alike)
}

fn below(field: &Field) -> Option<&'static [isaforge_core::stream::Piece]> {
    match field.source {
        Source::Bits(pieces) => Some(pieces),
        _ => None,
    }
}
