//! Fields of a layout: their bits, computed values, and notation.
//!
//! - here: the layout under construction, and a field of any kind
//! - `operands`: fields that are operands or modifiers, and how they are written
//! - `computed`: expressions over the fields: computed values, arguments and conditions
//!
//! Fields are added to a draft one after another. Once it has them all, its expressions are built.

mod computed;
mod operands;

use isaforge_core::bits::ones;
use isaforge_core::semantics::{Comparison, NONE, Node, Op, Type as ValueType};
use isaforge_core::stream::{Input, MAX_FIELDS, Notation, Piece, Wide};
use isaforge_core::table::Target;

use super::STORED;
use super::model::{Expr, Field, Layout, Source, Token, Type};
use crate::diagnostic::{Diagnostic, count};
use crate::keys::Named;
use crate::resolve::resolver::Resolver;
use crate::source::{Span, Spanned};
use crate::spec::{self, BitList, EncodeSpec, FieldSpec, Notation as Word, NotationSpec, NumberSpec, TargetWord};

/// A layout under construction, with data for its template that the model does not need.
pub(super) struct Draft {
    pub layout: Layout,
    /// How each field is written where the template refers to it; empty for fields that it cannot refer to.
    pub shown: Vec<Vec<Token>>,
    /// The fields that `{modifiers}` stands for, in print order.
    pub modifiers: Vec<usize>,
    /// Computed values whose expressions are built once all names are known.
    waiting: Vec<Waiting>,
    /// Arguments of operands that are sets, which are bound then, too.
    arguments: Vec<Passed>,
}

/// A field that is a set, with its arguments and its place.
type Passed = (usize, Option<Named<Spanned<String>>>, Span);

struct Waiting {
    field: usize,
    value: Spanned<String>,
    encode: Option<EncodeSpec>,
    /// The field that holds its own bits.
    raw: Option<usize>,
}

/// The keys that fields and operands have in common.
#[derive(Default)]
struct Parts<'s> {
    bits: Option<&'s BitList>,
    at: Option<&'s Spanned<u8>>,
    bank: Option<&'s Spanned<String>>,
    kind: Option<&'s Spanned<String>>,
    names: Option<&'s Spanned<String>>,
    number: Option<&'s NumberSpec>,
    value: Option<&'s Spanned<String>>,
    encode: Option<&'s EncodeSpec>,
    default: Option<&'s Spanned<i128>>,
    with: Option<&'s Named<Spanned<String>>>,
    target: Option<Target>,
}

impl Draft {
    pub(super) fn new(layout: Layout) -> Self {
        Draft { layout, shown: Vec::new(), modifiers: Vec::new(), waiting: Vec::new(), arguments: Vec::new() }
    }

    /// The field with this name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.layout.fields.iter().position(|field| field.name == name)
    }

    fn push(&mut self, field: Field, shown: Vec<Token>) -> usize {
        self.layout.fields.push(field);
        self.shown.push(shown);
        self.layout.fields.len() - 1
    }
}

impl Expr {
    /// A comparison of a field with a number.
    pub(super) fn compares(field: usize, how: Comparison, value: u64, text: String) -> Expr {
        let node = |op, imm, ty, args| Node { op, imm, ty, args };
        let leaf = |op| node(op, 0, ValueType::U64, [0, NONE, NONE, NONE]);
        let compare = node(Op::Compare, how as u16, ValueType::BOOL, [0, 1, NONE, NONE]);
        Expr {
            text,
            nodes: vec![leaf(Op::Operand), leaf(Op::Const), compare],
            lists: Vec::new(),
            constants: vec![value],
            inputs: vec![Input::Field(field as u8)],
        }
    }
}

/// The notation of a number, and whether it is in two's complement.
fn notation(number: &NumberSpec, target: Option<Target>) -> (Notation, bool) {
    match number {
        NumberSpec::Word(Word::Decimal) => (Notation { target, ..Notation::DECIMAL }, false),
        NumberSpec::Word(Word::Signed) => (Notation { target, ..Notation::DECIMAL }, true),
        NumberSpec::Word(Word::Hex) => (Notation { target, upper: true, ..Notation::HEX }, false),
        NumberSpec::Full(full) => {
            let radix = full.base.as_ref().map_or(10, |base| base.value);
            let prefix =
                full.prefix.clone().unwrap_or_else(|| if radix == 16 { "0x".to_owned() } else { String::new() });
            let notation = Notation {
                radix,
                upper: full.capitals.unwrap_or(false),
                digits: full.digits.as_ref().map_or(1, |digits| digits.value),
                prefix: crate::leak::text(&prefix),
                plus: full.plus.unwrap_or(false),
                quiet_zero: full.quiet.unwrap_or(false),
                wraps: full.wraps.unwrap_or(false),
                target,
                call: false,
            };
            (notation, full.signed.unwrap_or(false))
        }
    }
}

impl Resolver<'_> {
    /// Converts bits to pieces, least significant first.
    pub(super) fn pieces(&mut self, list: &BitList) -> Option<Vec<Piece>> {
        let mut pieces = Vec::new();
        let mut seen = Wide::ZERO;
        for piece in list.pieces.iter().rev() {
            match &piece.value {
                spec::Piece::Run { high, low } => {
                    let own = Piece { at: u16::from(*low), width: high - low + 1 };
                    let bits = Layout::bits_of(&[own]);
                    if !(bits & seen).is_zero() {
                        self.out.push(Diagnostic::error("E0107", piece.span, "duplicate bits in a field"));
                        return None;
                    }
                    seen |= bits;
                    pieces.push(own);
                }
                spec::Piece::Shared(name) => {
                    let error = Diagnostic::error("E0030", piece.span, format!("`{name}` is not a run of bits"));
                    self.out.push(
                        error.help("a stream has no `shared` fields; an operand learns of others through `with`"),
                    );
                    return None;
                }
            }
        }
        let width: u32 = pieces.iter().map(|piece| u32::from(piece.width)).sum();
        if width > 64 {
            let message = format!("a field of {width} bits, but a value has at most 64");
            self.out.push(Diagnostic::error("E0108", list.span, message));
            return None;
        }
        Some(pieces)
    }

    /// Adds a field and returns its index.
    pub(super) fn stream_field(
        &mut self,
        draft: &mut Draft,
        name: &Spanned<String>,
        spec: &FieldSpec,
    ) -> Option<usize> {
        if let Some(table) = &spec.constants {
            let error = Diagnostic::error("E0130", table.span, "a stream has no tables of constants");
            self.out.push(error.help("compute the value: `value: …`"));
            return None;
        }
        let parts = Parts {
            bits: spec.bits.as_ref(),
            bank: spec.bank.as_ref(),
            kind: spec.kind.as_ref(),
            names: spec.r_enum.as_ref(),
            number: spec.number.as_ref(),
            value: spec.value.as_ref(),
            encode: spec.encode.as_ref(),
            default: spec.default.as_ref(),
            with: spec.with.as_ref(),
            target: self.target_of(spec.target, spec.bits.as_ref()),
            ..Parts::default()
        };
        self.add(draft, name, spec.doc.clone().unwrap_or_default(), &parts, "")
    }

    /// How a branch target is computed; warns if that is not specified precisely.
    fn target_of(&mut self, spec: Option<TargetWord>, bits: Option<&BitList>) -> Option<Target> {
        let unit = u16::from(self.isa.stream().map_or(1, |stream| stream.unit));
        if let (Some(target), Some(bits)) = (spec, bits) {
            target.doubt(bits.pieces.len(), unit, self.out);
        }
        spec.map(|target| target.target_in(unit))
    }

    fn add(
        &mut self,
        draft: &mut Draft,
        name: &Spanned<String>,
        doc: String,
        parts: &Parts<'_>,
        prefix: &str,
    ) -> Option<usize> {
        if let Some(known) = draft.find(&name.value) {
            let message = format!("two fields are called `{}`", name.value);
            self.out.push(
                Diagnostic::error("E0102", name.span, message).secondary(draft.layout.fields[known].span, "the other"),
            );
            return None;
        }
        let mut pieces = match parts.bits {
            Some(bits) => Some(self.pieces(bits)?),
            None => None,
        };
        let (mut signed, mut set) = (false, None);
        let ty = if let Some(bank) = parts.bank {
            let banks = &self.isa.stream()?.banks;
            let names = banks.iter().map(|b| (b.name.as_str(), Some(b.span)));
            Type::Register(Resolver::find(self.out, "bank", bank, names)?)
        } else if let Some(kind) = parts.kind {
            let sets = &self.isa.stream()?.sets;
            let names = sets.iter().skip(1).map(|s| (s.name.as_str(), Some(s.span)));
            let index = Resolver::find(self.out, "kind", kind, names)? + 1;
            if self.out.pass_over(kind) {
                return None;
            }
            let width = sets[index].bits;
            if let Some(at) = parts.at {
                pieces = Some(vec![Piece { at: at.value.into(), width: width as u8 }]);
            }
            set = Some(width);
            Type::Set(index, Vec::new())
        } else if let Some(names) = parts.names {
            let otherwise = parts.number.map(|number| notation(number, parts.target));
            signed = otherwise.is_some_and(|(_, signed)| signed);
            Type::Enum(self.enum_index(names)?, otherwise.map(|(notation, _)| notation))
        } else {
            let decimal = NumberSpec::Word(Word::Decimal);
            match parts.number.unwrap_or(&decimal) {
                NumberSpec::Full(full) if full.float.is_some() => {
                    let width = full.float.as_ref().map_or(32, |width| width.value);
                    if !matches!(width, 16 | 32 | 64) {
                        let error = Diagnostic::error("E0033", full.span, format!("a float cannot have {width} bits"));
                        self.out.push(error.help("write 16, 32 or 64"));
                        return None;
                    }
                    Type::Float(width)
                }
                number => {
                    if let NumberSpec::Full(full) = number
                        && let Some(base) = full.base.as_ref().filter(|base| !matches!(base.value, 2 | 8 | 10 | 16))
                    {
                        let message = format!("numbers cannot have the base {}", base.value);
                        self.out.push(Diagnostic::error("E0033", base.span, message).help("write 2, 8, 10 or 16"));
                        return None;
                    }
                    if let NumberSpec::Full(NotationSpec { digits: Some(digits), .. }) = number {
                        self.in_range("the least number of digits", digits, 1, 64);
                    }
                    let (notation, is_signed) = notation(number, parts.target);
                    signed = is_signed;
                    Type::Number(notation)
                }
            }
        };
        let width: u32 = pieces.iter().flatten().map(|piece| u32::from(piece.width)).sum();
        if let (Some(wanted), Some(_)) = (set, &pieces)
            && width != u32::from(wanted)
            && parts.value.is_none()
        {
            let message = format!("the kind takes {wanted} bits, but `{}` has {width}", name.value);
            self.out.push(Diagnostic::error("E0108", name.span, message));
            return None;
        }
        if pieces.is_none() && parts.value.is_none() {
            let error = Diagnostic::error("E0022", name.span, "neither `bits` nor `value` is given");
            self.out.push(error.help("give its position, `bits: 7..0`, or compute it: `value: …`"));
            return None;
        }
        if parts.encode.is_some() && parts.value.is_none() {
            let message = format!("`encode` inverts a `value`, but `{}` has only bits", name.value);
            let error = Diagnostic::error("E0130", name.span, message);
            self.out.push(error.help("compute it from other fields, `value: …`, or leave out `encode`"));
        }
        if let (Type::Float(wanted), Some(_), None) = (&ty, &pieces, parts.value)
            && width != u32::from(*wanted)
        {
            let message = format!("a float of {wanted} bits, but `{}` has {width}", name.value);
            self.out.push(Diagnostic::error("E0108", name.span, message).help("compute its bits: `value: …`"));
        }
        let default = parts.default.map_or(0, |default| default.value as u64);
        let mut shown =
            vec![Token::Field(draft.layout.fields.len() + usize::from(pieces.is_some() && parts.value.is_some()))];
        if !prefix.is_empty() {
            shown.insert(0, Token::Text(prefix.to_owned()));
        }
        let plain = Field {
            name: name.value.clone(),
            doc,
            span: name.span,
            source: Source::Bits(Vec::new()),
            width: width.max(1) as u8,
            signed,
            default,
            ty,
        };
        self.names_are_no_numbers(&plain);
        let index = match (pieces, parts.value) {
            (Some(pieces), None) => draft.push(Field { source: Source::Bits(pieces), ..plain }, shown),
            (pieces, value) => {
                let raw = pieces.map(|pieces| {
                    let raw = Field {
                        name: format!("{}{STORED}", name.value),
                        source: Source::Bits(pieces),
                        ty: Type::Number(Notation::DECIMAL),
                        ..plain.clone()
                    };
                    draft.push(raw, Vec::new())
                });
                let index = draft.push(Field { width: 64, default: 0, ..plain }, shown);
                let (value, encode) = (value.cloned()?, parts.encode.cloned());
                draft.waiting.push(Waiting { field: index, value, encode, raw });
                index
            }
        };
        if matches!(draft.layout.fields[index].ty, Type::Set(..)) {
            draft.arguments.push((index, parts.with.cloned(), name.span));
        }
        if draft.layout.fields.len() > MAX_FIELDS {
            let message = format!("a layout has at most {MAX_FIELDS} fields");
            self.out.push(Diagnostic::error("E0034", name.span, message));
            return None;
        }
        if default & ones(width) != default && (default as i64) >= 0 && width > 0 && width < 64 {
            let message = format!("the default {default} does not fit {}", count(width as usize, "bit"));
            self.out.push(Diagnostic::error("E0108", name.span, message));
        }
        Some(index)
    }

    /// Reports names of values that parse as the number of an unnamed value.
    fn names_are_no_numbers(&mut self, field: &Field) {
        let Type::Enum(names, Some(notation)) = field.ty else { return };
        let names = &self.isa.enums[names];
        let least = if field.signed { -1i128 << (field.width - 1) } else { 0 };
        let possible = least..least + (1i128 << field.width);
        let is_unnamed = |number: i128| {
            let bits = number as u64 & ones(field.width.into());
            possible.contains(&number) && names.values.iter().all(|value| value.bits != bits)
        };
        for value in &names.values {
            for word in value.words() {
                let Some((number, len)) = notation.read(word) else { continue };
                if len == word.len() && is_unnamed(number) {
                    let message = format!("`{word}` is {} in `{}`, and reads as {number}", value.bits, names.name);
                    let error = Diagnostic::error("E0114", value.span, message);
                    self.out.push(
                        error
                            .secondary(field.span, "values without a name are written as numbers here")
                            .help("give it a name that is not a number"),
                    );
                }
            }
        }
    }
}
