//! Fields of a layout: their bits, computed values, and notation.

use isaforge_core::bits::ones;
use isaforge_core::semantics::{Class as ValueClass, Comparison, NONE, Node, Op, Type as ValueType};
use isaforge_core::stream::{Input, Notation, Piece, Wide};
use isaforge_core::table::Target;

use super::STORED;
use super::expressions::{Name, Want, expression};
use super::model::{Expr, Field, Layout, Source, Token, Type};
use crate::diagnostic::Diagnostic;
use crate::expression::Choices;
use crate::keys::Named;
use crate::model::Isa;
use crate::resolve::Resolver;
use crate::source::{Span, Spanned};
use crate::spec::{
    self, BitList, Constant, EncodeSpec, FieldSpec, ModifierSpec, Notation as Word, NumberSpec, OperandSpec, TargetWord,
};

/// The maximum number of fields in a layout.
const MOST_FIELDS: usize = isaforge_core::stream::MAX_FIELDS;

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

    /// The names that expressions of this layout may use.
    fn names(&self, isa: &Isa) -> Vec<Name> {
        let fields = self.layout.fields.iter().enumerate();
        let name = |(i, f): (usize, &Field)| Name {
            name: f.name.clone(),
            signed: f.signed,
            choices: match f.ty {
                Type::Enum(names, None) => {
                    let values = isa.enums.get(names).into_iter().flat_map(|names| &names.values);
                    Choices::Values(values.map(|value| (value.name.clone(), value.bits)).collect())
                }
                _ => Choices::Number(f.width),
            },
            input: Input::Field(i as u8),
            span: f.span,
        };
        fields.map(name).collect()
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
                prefix: crate::lower::text(&prefix),
                plus: full.plus.unwrap_or(false),
                quiet_zero: full.quiet.unwrap_or(false),
                target,
                call: false,
            };
            (notation, full.signed.unwrap_or(false))
        }
    }
}

/// An upper bound for the value of an expression over unsigned numbers.
fn greatest(expr: &Expr, fields: &[Field]) -> u64 {
    let mut all: Vec<u64> = Vec::new();
    for node in &expr.nodes {
        let of = |k: usize| all.get(usize::from(node.args[k])).copied().unwrap_or(u64::MAX);
        let (a, b) = (of(0), of(1));
        let fill = |value: u64| ones(64 - value.leading_zeros());
        let constant = |k: usize| {
            let node = expr.nodes.get(usize::from(node.args[k])).filter(|node| node.op == Op::Const)?;
            expr.constants.get(usize::from(node.args[0])).copied()
        };
        let signed =
            |k: usize| expr.nodes.get(usize::from(node.args[k])).is_none_or(|node| node.ty.class == ValueClass::Signed);
        let most = match node.op {
            Op::Const => expr.constants.get(usize::from(node.args[0])).copied(),
            Op::Operand => match expr.inputs.get(usize::from(node.args[0])) {
                Some(Input::Field(field)) => {
                    let field = fields.get(usize::from(*field)).filter(|field| !field.signed);
                    field.map(|field| ones(field.width.into()))
                }
                Some(Input::Length) => Some(u64::from(u8::MAX)),
                Some(Input::Generation) => Some(u64::from(u32::MAX)),
                None => None,
            },
            Op::Add => a.checked_add(b),
            Op::Mul => a.checked_mul(b),
            Op::Shl => constant(1).and_then(|count| 1u64.checked_shl(u32::try_from(count).ok()?)?.checked_mul(a)),
            Op::Shr if !signed(0) => Some(constant(1).and_then(|count| a.checked_shr(count as u32)).unwrap_or(a)),
            Op::And => Some(a.min(b)),
            Op::Or | Op::Xor => Some(fill(a | b)),
            Op::Select => Some(b.max(of(2))),
            Op::Zext | Op::Trunc => Some(a),
            Op::Bits if !signed(0) => Some(a),
            _ => None,
        };
        all.push(most.unwrap_or(u64::MAX).min(node.ty.mask()));
    }
    all.pop().unwrap_or(u64::MAX)
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

    /// Adds an operand with its suffixes.
    pub(super) fn stream_operand(
        &mut self,
        draft: &mut Draft,
        name: &Spanned<String>,
        spec: &OperandSpec,
    ) -> Option<()> {
        let target = self.target_of(spec.target, spec.bits.as_ref());
        let parts = Parts {
            bits: spec.bits.as_ref(),
            at: spec.at.as_ref(),
            bank: spec.bank.as_ref(),
            kind: spec.kind.as_ref(),
            names: spec.r_enum.as_ref(),
            number: spec.immediate.as_ref(),
            value: spec.value.as_ref(),
            encode: spec.encode.as_ref(),
            default: spec.default.as_ref(),
            with: spec.with.as_ref(),
            target,
        };
        let is_number = spec.bank.is_none() && spec.kind.is_none();
        let prefix = spec.prefix.clone().unwrap_or_else(|| if is_number { "#".to_owned() } else { String::new() });
        let index = self.add(draft, name, spec.doc.clone().unwrap_or_default(), &parts, &prefix)?;
        let of_kind = self.suffixes_of_kind(spec)?;
        let own = spec.suffixes.iter().flat_map(|s| s.iter().cloned());
        for (suffix, spec) in of_kind.into_iter().chain(own) {
            let name = Spanned::new(format!("{}.{}", name.value, suffix.value), suffix.span);
            let prints = spec.prints.clone().unwrap_or_else(|| suffix.value.clone());
            let suffix = self.add_modifier(draft, &name, &prints, &spec)?;
            let tokens = draft.shown[suffix].clone();
            draft.shown[index].extend(tokens);
        }
        let width = match draft.layout.fields[index].ty {
            Type::Register(bank) => self.isa.stream().map_or(0, |stream| stream.banks[bank].width),
            Type::Set(..) => 32,
            _ => 0,
        };
        let access = spec.access.unwrap_or(if is_number { spec::Access::None } else { spec::Access::Read });
        let (size, sized) = match &spec.size {
            None => (width, None),
            Some(Constant::Number(size)) => (size.value, None),
            Some(Constant::Name(name)) => {
                let fields = draft.layout.fields.iter().map(|f| (f.name.as_str(), Some(f.span)));
                (width, Some(Resolver::find(self.out, "field", name, fields)?))
            }
        };
        draft.layout.operands.push(super::model::Operand { field: index, access, size, sized });
        Some(())
    }

    /// The suffixes of an operand's kind, with their bits relative to the instruction.
    fn suffixes_of_kind(&mut self, spec: &OperandSpec) -> Option<Vec<(Spanned<String>, ModifierSpec)>> {
        let Some(kind) = &spec.kind else { return Some(Vec::new()) };
        let kinds = self.all(|file| &file.kinds);
        let suffixes = kinds.into_iter().find(|(name, _)| name.value == kind.value).and_then(|(_, kind)| kind.suffixes);
        let Some(suffixes) = suffixes else { return Some(Vec::new()) };
        let Some(at) = &spec.at else {
            let message =
                format!("operands of the kind `{}` are followed by suffixes, so they need a position", kind.value);
            self.out.push(Diagnostic::error("E0022", kind.span, message).help("give its start: `at: 0`"));
            return None;
        };
        let moved = |(name, spec): &(Spanned<String>, ModifierSpec)| {
            let mut spec = spec.clone();
            for piece in &mut spec.bits.pieces {
                if let spec::Piece::Run { high, low } = &mut piece.value {
                    (*high, *low) = (high.saturating_add(at.value), low.saturating_add(at.value));
                }
            }
            (name.clone(), spec)
        };
        Some(suffixes.iter().map(moved).collect())
    }

    /// Adds a modifier and returns its index.
    pub(super) fn stream_modifier(
        &mut self,
        draft: &mut Draft,
        name: &Spanned<String>,
        spec: &ModifierSpec,
    ) -> Option<usize> {
        let prints = spec.prints.clone().unwrap_or_else(|| name.value.clone());
        let index = self.add_modifier(draft, name, &prints, spec)?;
        draft.modifiers.push(index);
        Some(index)
    }

    fn add_modifier(
        &mut self,
        draft: &mut Draft,
        name: &Spanned<String>,
        prints: &str,
        spec: &ModifierSpec,
    ) -> Option<usize> {
        let parts = Parts { bits: Some(&spec.bits), names: spec.r_enum.as_ref(), ..Parts::default() };
        let index = self.add(draft, name, spec.doc.clone().unwrap_or_default(), &parts, "")?;
        draft.layout.modifiers.push(index);
        let mut default = None;
        if let Type::Enum(e, _) = draft.layout.fields[index].ty {
            let names = &self.isa.enums[e];
            default = match &spec.default {
                Some(word) => match names.values.iter().find(|value| value.name == word.value) {
                    Some(value) => Some(value.bits),
                    None => {
                        let message = format!("`{}` has no value called `{}`", names.name, word.value);
                        self.out.push(Diagnostic::error("E0101", word.span, message));
                        return None;
                    }
                },
                None => names.default,
            };
        }
        let text = match draft.layout.fields[index].ty {
            Type::Enum(..) => vec![Token::Text(".".to_owned()), Token::Field(index)],
            _ => vec![Token::Text(format!(".{prints}"))],
        };
        let is_flag = !matches!(draft.layout.fields[index].ty, Type::Enum(..));
        if spec.prints.is_some() && !is_flag {
            self.no_meaning(name.span.to(spec.span), "prints", "a choice, whose values have words of their own");
        }
        if spec.implied.is_some() {
            self.no_meaning(name.span.to(spec.span), "implied", "a modifier outside of an `xml` section");
        }
        draft.layout.fields[index].default = default.unwrap_or(0);
        draft.shown[index] = match default.or(is_flag.then_some(0)) {
            Some(quiet) => {
                let text_of = format!("{} != {quiet}", name.value);
                vec![Token::If(Expr::compares(index, Comparison::NotEqual, quiet, text_of), text)]
            }
            None => text,
        };
        Some(index)
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
        if draft.layout.fields.len() > MOST_FIELDS {
            let message = format!("a layout has at most {MOST_FIELDS} fields");
            self.out.push(Diagnostic::error("E0034", name.span, message));
            return None;
        }
        if default & ones(width) != default && (default as i64) >= 0 && width > 0 && width < 64 {
            let message = format!("the default {default} does not fit {width} bits");
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

    /// Builds the expressions of computed fields and binds the arguments of sets, once all fields have names.
    pub(super) fn settle(&mut self, draft: &mut Draft) -> Option<()> {
        let mut complete = Some(());
        for Waiting { field, value, encode, raw } in std::mem::take(&mut draft.waiting) {
            let mut names = draft.names(&self.isa);
            let whole = names[field].clone();
            if let Some(raw) = raw {
                names.insert(0, Name { name: "bits".to_owned(), ..names[raw].clone() });
            }
            let Some((expr, signed)) = expression(&value, &names, Want::Number, self.out) else {
                complete = None;
                continue;
            };
            let mut back = draft.names(&self.isa);
            back.insert(0, Name { name: "value".to_owned(), signed, ..whole });
            let mut inverse = Vec::new();
            match encode {
                None => {}
                Some(EncodeSpec::Own(text)) => {
                    let Some(raw) = raw else {
                        let error = Diagnostic::error("E0022", text.span, "it has no bits of its own to encode");
                        self.out.push(error.help("give the values of other fields: `encode: { field: … }`"));
                        complete = None;
                        continue;
                    };
                    match expression(&text, &back, Want::Number, self.out) {
                        Some((expr, _)) => inverse.push((raw, expr)),
                        None => complete = None,
                    }
                }
                Some(EncodeSpec::Fields(fields)) => {
                    for (name, text) in fields.iter() {
                        let known = draft.layout.fields.iter().map(|f| (f.name.as_str(), Some(f.span)));
                        let found = Resolver::find(self.out, "field", name, known);
                        let built = expression(text, &back, Want::Number, self.out);
                        match (found, built) {
                            (Some(field), Some((expr, _))) => inverse.push((field, expr)),
                            _ => complete = None,
                        }
                    }
                }
            }
            // Parameters take the width of their arguments, so a narrow width leaves fewer values to try.
            let width = if signed { 64 } else { 64 - greatest(&expr, &draft.layout.fields).leading_zeros() };
            let target = &mut draft.layout.fields[field];
            (target.signed, target.width) = (signed, width.max(1) as u8);
            target.source = Source::Computed { value: expr, inverse };
        }
        for (field, with, span) in std::mem::take(&mut draft.arguments) {
            let Type::Set(set, _) = draft.layout.fields[field].ty else { continue };
            let parameters = self.isa.stream()?.sets[set].parameters.clone();
            let with = with.unwrap_or_default();
            for (name, _) in with.iter().filter(|(name, _)| !parameters.contains(&name.value)) {
                let message = format!("the kind has no parameter `{}`", name.value);
                self.out.push(Diagnostic::error("E0101", name.span, message));
                complete = None;
            }
            let mut arguments = Vec::new();
            for parameter in &parameters {
                // A field with the name of a parameter is its default argument.
                let given = with.iter().find(|(name, _)| name.value == *parameter).map(|(_, field)| field.clone());
                let named = given.unwrap_or_else(|| Spanned::new(parameter.clone(), span));
                let known = draft.layout.fields.iter().map(|f| (f.name.as_str(), Some(f.span)));
                match Resolver::find(self.out, "field", &named, known) {
                    Some(found) => arguments.push(found),
                    None => complete = None,
                }
            }
            draft.layout.fields[field].ty = Type::Set(set, arguments);
        }
        complete
    }

    /// Builds the conditions of a layout.
    pub(super) fn stream_conditions<'t>(
        &mut self,
        draft: &Draft,
        texts: impl Iterator<Item = &'t Spanned<String>>,
    ) -> Option<Vec<Expr>> {
        let names = draft.names(&self.isa);
        let conditions = texts.map(|text| expression(text, &names, Want::Condition, self.out).map(|(expr, _)| expr));
        conditions.collect()
    }

    /// Builds an expression for a number over the fields of a layout.
    pub(super) fn number_of(&mut self, draft: &Draft, text: &Spanned<String>) -> Option<Expr> {
        expression(text, &draft.names(&self.isa), Want::Number, self.out).map(|(expr, _)| expr)
    }
}
