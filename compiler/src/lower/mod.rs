//! From the model to the tables of `isaforge-core`.
//!
//! There is a single lowering. A back end prints the tables as Rust code; a specification used without generated code
//! works on the same values in memory. They live until the program ends: a specification is small and lowered once.
//!
//! - `common`: definitions that words share with groups and streams
//! - `tree`: the decision tree that decodes
//! - `fast`, `quick`, `script`: the same as look-ups, validity as a test of masks, and printing as a list of look-ups

pub(crate) mod common;
mod fast;
mod quick;
mod script;
mod tree;

use isaforge_core::Tables;
use isaforge_core::bits as core_bits;
use isaforge_core::decode::Fast;
use isaforge_core::group::GroupIsa;
use isaforge_core::stream::{Engine, Stream};
use isaforge_core::table as core;
use isaforge_core::text::{Label, Line, Text};

use crate::leak::{slice, text};
use crate::model::{self, Bits, Encoding, Isa, Type};
use common::{access, enumeration_with, provenance};

/// The tables of a specification, by how its instructions are encoded.
#[derive(Clone, Copy, Debug)]
pub enum Lowered {
    /// Words of one length.
    Words(Words),
    /// Groups of records.
    Groups(&'static GroupIsa),
    /// A stream of bytes.
    Stream(&'static Stream),
}

/// The tables of an instruction set with words of one length.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// The instructions and their parts.
    pub isa: &'static core::Isa,
    /// The fast path of decoding.
    pub fast: Fast,
}

impl Lowered {
    /// The tables in the form that the algorithms of the core take. A stream decodes as its last generation.
    pub fn tables(&self) -> Tables {
        match *self {
            Lowered::Words(words) => Tables::Words(words.isa),
            Lowered::Groups(groups) => Tables::Groups(groups),
            Lowered::Stream(stream) => Tables::Streams(Engine { stream, generation: stream.generations.1 }),
        }
    }

    /// The tables of words. Returns `None` if instructions are groups or a stream.
    pub fn words(&self) -> Option<Words> {
        match *self {
            Lowered::Words(words) => Some(words),
            Lowered::Groups(_) | Lowered::Stream(_) => None,
        }
    }

    /// The tables of groups. Returns `None` if instructions are words or a stream.
    pub fn groups(&self) -> Option<&'static GroupIsa> {
        match *self {
            Lowered::Groups(groups) => Some(groups),
            Lowered::Words(_) | Lowered::Stream(_) => None,
        }
    }

    /// The tables of a stream. Returns `None` if instructions are words or groups.
    pub fn stream(&self) -> Option<&'static Stream> {
        match *self {
            Lowered::Stream(stream) => Some(stream),
            Lowered::Words(_) | Lowered::Groups(_) => None,
        }
    }
}

/// Lowers a model that has passed its checks.
pub fn lower(isa: &Isa) -> Lowered {
    match &isa.encoding {
        Encoding::Words => Lowered::Words(words(isa)),
        Encoding::Groups(groups) => Lowered::Groups(crate::group::lower::lower(isa, groups)),
        Encoding::Stream(stream) => Lowered::Stream(crate::stream::lower::lower(isa, stream)),
    }
}

/// Lowers a model of words that has passed its checks.
pub fn words(isa: &Isa) -> Words {
    let enums = slice(isa.enums.iter().map(|e| enumeration(isa, e)));
    let mut forms: Vec<core::Form> = isa.forms.iter().map(form).collect();
    let shared = slice(isa.shared.iter().map(|s| core::Shared {
        name: text(&s.name),
        bits: bits(&s.bits),
        default: s.default,
        printed: s.printed.is_some(),
        words: slice(s.words.iter().map(|(word, value, _)| (text(word), *value))),
    }));
    let plain = core::Isa {
        name: text(&isa.name),
        doc: text(&isa.doc),
        word_bits: isa.word_bits,
        enums,
        constants: slice(isa.constants.iter().map(|c| core::Constants {
            name: text(&c.name),
            doc: text(&c.doc),
            values: slice(c.values.iter().map(|(value, doc)| core::Constant { value: *value, doc: text(doc) })),
        })),
        banks: slice(isa.banks.iter().map(|b| core::Bank {
            name: text(&b.name),
            doc: text(&b.doc),
            count: b.count,
            width: b.width,
        })),
        kinds: slice((0..isa.kinds.len()).map(|i| kind(isa, i, (&[], &[])))),
        shared,
        forms: &[],
        decoder: tree::decoder(isa),
        names: names(isa),
        usual_mask: shared.iter().fold(0, |mask, s| mask | s.bits.mask(0)),
        usual_value: shared.iter().fold(0, |word, s| s.bits.set(word, 0, s.default)),
        labels: &[],
        limits: slice(isa.limits.iter().map(|l| core::Limit {
            name: text(&l.name),
            doc: text(&l.doc),
            kind: l.kind as u16,
            alternatives: l.alternatives,
            drop: l.drop,
        })),
    };
    // The texts of operands are computed with the tables that lack them.
    let plain: &'static core::Isa = Box::leak(Box::new(plain));
    let mut room = MAX_TEXTS;
    let kinds = slice((0..isa.kinds.len()).map(|i| kind(isa, i, tabulate(plain, i, &mut room))));
    let mut labels = script::Labels::default();
    for form in &mut forms {
        form.initial = initial(form, shared);
        form.script = script::script(enums, kinds, form, &mut labels);
    }
    let isa: &'static core::Isa = Box::leak(Box::new(core::Isa {
        kinds,
        forms: slice(forms),
        labels: slice(labels.texts.iter().map(|t| Label::new(t))),
        ..*plain
    }));
    let (quick, planes) = quick::tests(isa);
    let fast = fast::fast(isa, slice(quick), slice(planes));
    Words { isa, fast }
}

fn bits(bits: &Bits) -> core_bits::Bits {
    let piece = |p: &model::Piece| core_bits::Piece { at: p.at, width: p.width, shared: p.shared.is_some() };
    match &bits.0[..] {
        [] => core_bits::Bits::new(0, 0),
        [low, high @ ..] => core_bits::Bits { low: piece(low), high: slice(high.iter().map(piece)) },
    }
}

fn ty(ty: Type) -> core::Type {
    match ty {
        Type::Flag => core::Type::Flag,
        Type::Decimal => core::Type::Decimal,
        Type::Hex => core::Type::Hex,
        Type::Signed => core::Type::Signed,
        Type::Enum(i) => core::Type::Enum(i as u16),
        Type::Constant(i) => core::Type::Constant(i as u16),
        Type::Register(i) => core::Type::Register(i as u16),
    }
}

/// The width of the widest field that holds an enum.
fn enum_width(isa: &Isa, index: usize) -> u32 {
    let own = isa.forms.iter().flat_map(|f| f.modifiers.iter().chain(f.operands.iter().flat_map(|o| &o.suffixes)));
    let modifiers = own.filter(|m| m.ty == Type::Enum(index)).map(|m| m.bits.width());
    let fields = isa.kinds.iter().flat_map(|k| &k.alternatives).flat_map(|a| &a.fields);
    let fields = fields.filter(|f| f.ty == Type::Enum(index)).map(|f| f.bits.width());
    modifiers.chain(fields).max().unwrap_or(0)
}

fn enumeration(isa: &Isa, e: &model::Enum) -> core::Enum {
    let index = isa.enums.iter().position(|other| std::ptr::eq(other, e)).unwrap_or(0);
    let greatest = e.values.iter().map(|v| v.bits).max().unwrap_or(0);
    // A wide field with few names must not need a table of all its values.
    enumeration_with(e, greatest.saturating_add(1).min(1 << enum_width(isa, index).clamp(1, 12)))
}

fn tokens(tokens: &[model::Token]) -> &'static [core::Token] {
    slice(tokens.iter().map(|t| match t {
        model::Token::Text(s) => core::Token::Text(Text::new(text(s))),
        model::Token::Field(i) => core::Token::Field(*i as u8),
        model::Token::Mnemonic => core::Token::Mnemonic,
        model::Token::Modifiers => core::Token::Modifiers,
        model::Token::Modifier(i) => core::Token::Modifier(*i as u8),
        model::Token::Operand(i) => core::Token::Operand(*i as u8),
    }))
}

fn kind(isa: &Isa, index: usize, (texts, slots): (&'static [Text], &'static [u16])) -> core::Kind {
    let k = &isa.kinds[index];
    let (limited_mask, limited_value) = limited(isa, index);
    let alternative = |a: &model::Alternative| core::Alternative {
        name: text(&a.name),
        doc: text(&a.doc),
        mask: a.mask,
        value: a.value,
        when: slice(a.when.iter().map(|(s, v)| (*s as u8, *v))),
        uses: {
            let fields = a.fields.iter().flat_map(|f| f.bits.shared());
            a.when.iter().map(|(s, _)| *s).chain(fields).fold(0, |set, s| set | 1 << s)
        },
        fields: slice(a.fields.iter().map(|f| core::Field { name: text(&f.name), bits: bits(&f.bits), ty: ty(f.ty) })),
        text: tokens(&a.text),
        also: slice(a.also.iter().map(|s| core::Spelling {
            text: tokens(&s.text),
            with: slice(s.with.iter().map(|(field, value)| (*field as u8, *value))),
        })),
    };
    core::Kind {
        name: text(&k.name),
        doc: text(&k.doc),
        width: k.width,
        alternatives: slice(k.alternatives.iter().map(alternative)),
        texts,
        slots,
        limited_mask,
        limited_value,
    }
}

/// The constant bits that all alternatives checked by limits have in common, and their value.
fn limited(isa: &Isa, index: usize) -> (u64, u64) {
    let looked_at = isa.limits.iter().filter(|l| l.kind == index).fold(0, |set, l| set | l.alternatives);
    let mut readings =
        isa.kinds[index].alternatives.iter().enumerate().filter(|(i, _)| looked_at & 1 << i != 0).map(|(_, a)| a);
    let Some(first) = readings.next() else { return (0, 1) };
    let mask = readings.fold(first.mask, |mask, a| mask & a.mask & !(a.value ^ first.value));
    (mask, first.value & mask)
}

/// A first bit for operands of a kind such that they do not overlap the shared fields; `None` if the kind is too wide
/// for a table.
fn clear_place(isa: &core::Isa, width: u8) -> Option<u8> {
    let own = core_bits::ones(u32::from(width));
    (width <= 8).then(|| (0..=64 - width).find(|at| (own << at) & isa.usual_mask == 0)).flatten()
}

/// The text of an operand for each of its values, with the shared fields as in `word`.
fn kind_texts(isa: &'static core::Isa, index: usize, at: u8, word: u64) -> Vec<String> {
    let own = core_bits::ones(u32::from(isa.kinds[index].width));
    let text = |raw: u64| {
        let mut line = Line::new();
        isaforge_core::print::print_kind(isa, index, at, word | raw << at, &mut line);
        line.as_str().to_owned()
    };
    (0..=own).map(text).collect()
}

/// The limit on the number of texts in tables of kinds; kinds that exceed the rest of it have no tables.
const MAX_TEXTS: u64 = 1 << 22;

/// The tables of a kind's texts, for printing and for parsing.
fn tabulate(isa: &'static core::Isa, index: usize, room: &mut u64) -> (&'static [Text], &'static [u16]) {
    let width = isa.kinds[index].width;
    let Some(at) = clear_place(isa, width) else { return (&[], &[]) };
    let texts = 1u64 << (u32::from(width) + Some(isa.usual_mask.count_ones()).filter(|bits| *bits <= 8).unwrap_or(0));
    let Some(left) = room.checked_sub(texts) else { return (&[], &[]) };
    *room = left;
    let texts = kind_texts(isa, index, at, isa.usual_value);
    // The texts for other values of the shared fields.
    let mut others = Vec::new();
    if isa.usual_mask.count_ones() <= 8 {
        let next = |word: &u64| Some(word.wrapping_sub(isa.usual_mask) & isa.usual_mask).filter(|word| *word != 0);
        others.extend(std::iter::successors(Some(0), next).flat_map(|word| kind_texts(isa, index, at, word)));
    }
    others.sort_unstable();
    others.dedup();
    let mut slots = vec![core::Decoder::NONE; (texts.len() * 2).next_power_of_two()];
    for (raw, text) in texts.iter().enumerate() {
        // Parsing stops at the first byte that ends a word, so no longer text may continue with such a byte.
        let begins = |other: &String| other.as_bytes().get(text.len()).is_some_and(|byte| *byte < b'0');
        let from = others.partition_point(|other| other <= text);
        let longer = others[from..].iter().take_while(|other| other.starts_with(text.as_str())).any(begins);
        let reads =
            isaforge_core::parse::parse_kind(isa, index, at, text) == Some(isa.usual_value | (raw as u64) << at);
        if !text.is_empty() && reads && !longer {
            insert(&mut slots, text, raw as u16);
        }
    }
    (slice(texts.iter().map(|t| Text::new(text(t)))), slice(slots))
}

/// Inserts an entry into an open-addressed hash table that has free slots.
fn insert(slots: &mut [u16], text: &str, entry: u16) {
    let mut slot = core::hash_name(text.as_bytes()) as usize & (slots.len() - 1);
    while slots[slot] != core::Decoder::NONE {
        slot = (slot + 1) & (slots.len() - 1);
    }
    slots[slot] = entry;
}

fn modifier(m: &model::Modifier) -> core::Modifier {
    let flag = m.ty == Type::Flag;
    core::Modifier {
        name: text(&m.name),
        doc: text(&m.doc),
        bits: bits(&m.bits),
        ty: ty(m.ty),
        default: m.default,
        flag: if flag { Text::new(text(&format!(".{}", m.prints))) } else { Text::EMPTY },
        also: if flag && m.prints != m.name { text(&m.name) } else { "" },
    }
}

/// The word with every modifier at its default, or 0 if it has none, and the shared fields at their defaults.
fn initial(form: &core::Form, shared: &[core::Shared]) -> u64 {
    let suffixes = form.operands.iter().flat_map(|o| o.suffixes);
    let modifiers = form.modifiers.iter().chain(suffixes);
    let word = modifiers.fold(form.fixed_value, |word, m| m.bits.set(word, 0, m.default.unwrap_or(0)));
    let free = shared.iter().filter(|s| s.bits.mask(0) & form.fixed_mask == 0);
    free.fold(word, |word, s| s.bits.set(word, 0, s.default))
}

/// Mask and value of the modifiers when none is printed. If one is always printed, a mask of 0 and a value of 1, which
/// never match.
fn quiet(modifiers: &[model::Modifier]) -> (u64, u64) {
    if modifiers.iter().any(|m| m.default.is_none()) {
        return (0, 1);
    }
    modifiers
        .iter()
        .fold((0, 0), |(mask, value), m| (mask | m.bits.mask(0), bits(&m.bits).set(value, 0, m.default.unwrap_or(0))))
}

fn operand(o: &model::Operand) -> core::Operand {
    let shape = match &o.shape {
        model::Shape::One { kind, at } => core::Shape::One { kind: *kind as u16, at: *at },
        model::Shape::List { kind, at, count, open, separator, align } => core::Shape::List {
            kind: *kind as u16,
            at: *at,
            count: core::Count { bits: count.bits.as_ref().map(bits), name: text(&count.name), plus: count.plus },
            open: text(open),
            separator: text(separator),
            align: (*align).max(1),
        },
        model::Shape::Number { bits: b, ty: t, prefix, target } => {
            core::Shape::Number { bits: bits(b), ty: ty(*t), prefix: text(prefix), target: *target }
        }
    };
    let (quiet_mask, quiet_value) = quiet(&o.suffixes);
    core::Operand {
        name: text(&o.name),
        doc: text(&o.doc),
        access: access(o.access),
        size: o.size,
        shape,
        suffixes: slice(o.suffixes.iter().map(modifier)),
        quiet_mask,
        quiet_value,
    }
}

fn form(f: &model::Form) -> core::Form {
    let (match_mask, match_value) = f.pattern();
    let (fixed_mask, fixed_value) = f.fixed.iter().fold((0, 0), |(m, v), x| (m | x.mask, v | x.value));
    let (quiet_mask, quiet_value) = quiet(&f.modifiers);
    core::Form {
        name: Text::new(text(&f.name)),
        title: text(&f.title),
        doc: text(&f.doc),
        unit: text(&f.unit),
        source: text(&f.source),
        provenance: provenance(f.provenance),
        note: text(&f.note),
        match_mask,
        match_value,
        fixed_mask,
        fixed_value,
        ignored: f.ignored,
        initial: 0,
        modifiers: slice(f.modifiers.iter().map(modifier)),
        quiet_mask,
        quiet_value,
        operands: slice(f.operands.iter().map(operand)),
        syntax: tokens(&f.syntax),
        placed: f.syntax.iter().fold(0, |set, t| if let model::Token::Modifier(i) = t { set | 1 << i } else { set }),
        limits: slice(f.limits.iter().copied()),
        // Filled in once the texts of all kinds are known.
        script: core::Script { mask: 0, value: 1, short: &[], long: &[], scans: false },
    }
}

fn names(isa: &Isa) -> core::Names {
    let size = (isa.forms.len() * 8).next_power_of_two().max(4);
    let mut slots = vec![core::Decoder::NONE; size];
    for (i, form) in isa.forms.iter().enumerate() {
        insert(&mut slots, &form.name, i as u16);
    }
    let dots = isa.forms.iter().map(|f| f.name.matches('.').count()).max().unwrap_or(0);
    core::Names { slots: slice(slots), dots: dots.min(14) as u8 }
}
