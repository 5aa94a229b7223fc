//! Text is complete and unambiguous.
//!
//! E0109: modifiers that print alike. E0111: more than the tables or a line can hold. E0112: a syntax that omits a part
//! of the instruction.

use std::collections::{HashMap, HashSet};

use isaforge_core::parse::MAX_FIELDS;
use isaforge_core::text::LINE_CAPACITY;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{Alternative, Enum, Form, Isa, Kind, Modifier, Shape, Spelling, Token, Type};
use crate::source::Span;

/// Applies the rules.
pub fn check(isa: &Isa, out: &mut Diagnostics) {
    for value in isa.enums.iter().flat_map(|e| &e.values).filter(|value| value.bits > MAX_NAMED) {
        let message = format!("the value {} of `{}` is too large for a name", value.bits, value.name);
        out.push(
            Diagnostic::error("E0111", value.span, message)
                .label(format!("only values up to {MAX_NAMED} can have names")),
        );
    }
    for kind in &isa.kinds {
        if kind.alternatives.len() > 32 {
            let message = format!("`{}` has more than 32 alternatives", kind.name);
            out.push(Diagnostic::error("E0111", kind.span, message));
        }
        for alternative in &kind.alternatives {
            if alternative.fields.len() > MAX_FIELDS {
                let message = format!("`{}` has more than {MAX_FIELDS} fields", alternative.name);
                out.push(Diagnostic::error("E0111", alternative.span, message));
            }
            let written = |text: &[Token], i: usize| text.iter().filter(|token| **token == Token::Field(i)).count();
            let given = |s: &Spelling, i: usize| s.with.iter().filter(|(field, _)| *field == i).count();
            let mut all = vec![(alternative.text_span, &alternative.text, None)];
            all.extend(alternative.also.iter().map(|s| (s.span, &s.text, Some(s))));
            for (span, text, spelling) in all {
                for (i, field) in alternative.fields.iter().enumerate() {
                    if written(text, i) + spelling.map_or(0, |s| given(s, i)) != 1 {
                        let message = format!(
                            "the text of `{}` must contain its field `{}` exactly once",
                            alternative.name, field.name
                        );
                        let error = Diagnostic::error("E0112", span, message).secondary(field.span, "this field");
                        out.push(error.help(format!("write `{{{}}}`", field.name)));
                    }
                }
            }
        }
    }
    let mut told = HashSet::new();
    let mut words = Words::new(isa);
    for form in &isa.forms {
        check_form(form, &mut words, &mut told, out);
    }
    shared_words(isa, out);
    for (what, count, most) in [
        ("shared fields", isa.shared.len(), 32),
        ("instructions", isa.forms.len(), usize::from(u16::MAX / 2)),
        ("enums", isa.enums.len(), usize::from(u16::MAX)),
        ("kinds", isa.kinds.len(), usize::from(u16::MAX)),
    ] {
        if count > most {
            let message = format!("{count} {what} exceed the limit of {most}");
            out.push(match isa.span {
                Some(span) => Diagnostic::error("E0111", span, message),
                None => Diagnostic::error_without_place("E0111", message),
            });
        }
    }
}

/// The largest value that may have a name: the tables list the names by value.
const MAX_NAMED: u64 = 4095;

fn check_form<'a>(form: &'a Form, words: &mut Words<'a>, told: &mut HashSet<(Span, Span)>, out: &mut Diagnostics) {
    alike(words, &form.modifiers, form, told, out);
    for operand in &form.operands {
        alike(words, &operand.suffixes, form, told, out);
    }
    let places = |token: &Token| form.syntax.iter().filter(|t| *t == token).count();
    let mut wrong = |message: String, other: Option<(Span, &str)>, help: &str| {
        let error = Diagnostic::error("E0112", form.syntax_span, message);
        let error = other.into_iter().fold(error, |error, (span, text)| error.secondary(span, text));
        out.push(error.help(help));
    };
    for (i, operand) in form.operands.iter().enumerate() {
        if places(&Token::Operand(i)) != 1 {
            let message =
                format!("the syntax of `{}` must contain the operand `{}` exactly once", form.name, operand.name);
            wrong(
                message,
                Some((operand.span, "this operand")),
                &format!("write `{{{}}}`, or `{{operands}}` for all of them", operand.name),
            );
        }
    }
    let rest = places(&Token::Modifiers);
    for (i, modifier) in form.modifiers.iter().enumerate() {
        let own = places(&Token::Modifier(i));
        if own + rest.min(1) == 0 {
            let message = format!("the syntax of `{}` leaves out the modifier `{}`", form.name, modifier.name);
            wrong(
                message,
                Some((modifier.span, "this modifier")),
                &format!("write `{{{}}}`, or `{{modifiers}}` for all of them", modifier.name),
            );
        } else if own > 1 {
            let message =
                format!("the syntax of `{}` contains the modifier `{}` more than once", form.name, modifier.name);
            wrong(message, Some((modifier.span, "this modifier")), "keep one of them");
        }
    }
    if rest > 1 {
        wrong(
            format!("the syntax of `{}` contains `{{modifiers}}` more than once", form.name),
            None,
            "keep one of them",
        );
    }
    if form.syntax.first() != Some(&Token::Mnemonic) || places(&Token::Mnemonic) > 1 {
        let message = format!("the syntax of `{}` must start with `{{mnemonic}}` and contain it once", form.name);
        wrong(message, None, "for example `{mnemonic}{modifiers} {operands}`");
    }
    if form.modifiers.len() > 32 || form.operands.len() > 16 || longest(words, form) > LINE_CAPACITY {
        let message = format!("`{}` is too large", form.name);
        let limits = format!("at most 32 modifiers, 16 operands and {LINE_CAPACITY} bytes of text");
        out.push(Diagnostic::error("E0111", form.span, message).note(limits));
    }
}

/// Words of shared fields must differ from those of modifiers.
fn shared_words(isa: &Isa, out: &mut Diagnostics) {
    if isa.shared.iter().all(|shared| shared.words.is_empty()) {
        return;
    }
    let mut known: HashMap<&str, (&Form, &Modifier)> = HashMap::new();
    let mut seen = HashSet::new();
    for (form, m) in isa.forms.iter().flat_map(|form| form.modifiers.iter().map(move |m| (form, m))) {
        let is_new = match m.ty {
            Type::Enum(e) => seen.insert((e, m.default)),
            _ => true,
        };
        if is_new {
            words(isa, m).for_each(|word| _ = known.entry(word).or_insert((form, m)));
        }
    }
    for (word, _, span) in isa.shared.iter().flat_map(|shared| &shared.words) {
        let Some((form, m)) = known.get(word.as_str()) else { continue };
        let message = format!("`.{word}` is also a word of the modifier `{}` of `{}`", m.name, form.name);
        let error = Diagnostic::error("E0109", *span, message).label("never read there");
        out.push(error.secondary(m.declared.unwrap_or(m.span), format!("`{}`", m.name)).help("give it another word"));
    }
}

/// Two modifiers may share words only if both are enums without a default, since both are then always printed, in
/// order. Two flags may print the same if their names, which the assembler also accepts, distinguish them. A word with
/// a dot must not consist of words of other modifiers.
fn alike<'a>(
    vocabulary: &mut Words<'a>,
    modifiers: &'a [Modifier],
    form: &Form,
    told: &mut HashSet<(Span, Span)>,
    out: &mut Diagnostics,
) {
    let isa = vocabulary.isa;
    let mut report = |a: &Modifier, b: &Modifier, message: String| {
        // A mistake in a definition that many instructions share is reported once.
        let place = |m: &Modifier| m.declared.unwrap_or(m.span);
        if !told.insert((place(a), place(b))) {
            return;
        }
        let mut error = Diagnostic::error("E0109", place(a), message).label(format!("`{}`", a.name));
        for m in [a, b] {
            if m.declared.is_some() {
                error = error.secondary(m.span, format!("`{}` used here", m.name));
            }
        }
        if place(b) != place(a) {
            error = error.secondary(place(b), format!("`{}`", b.name));
        }
        out.push(error.help("rename a value, or give flags a `prints` of their own"));
    };
    for (i, a) in modifiers.iter().enumerate() {
        for b in &modifiers[..i] {
            let ordered = a.ty == b.ty && a.default.is_none() && b.default.is_none() && a.ty != Type::Flag;
            let named = a.ty == Type::Flag
                && b.ty == Type::Flag
                && a.name != b.name
                && a.prints != a.name
                && b.prints != b.name;
            let Some(word) = vocabulary.common(a, b) else { continue };
            if !ordered && !named {
                report(a, b, format!("two modifiers of `{}` can both print `.{word}`", form.name));
            }
        }
        for word in words(isa, a).filter(|word| word.contains('.')) {
            // A modifier cannot be written twice.
            let mut taken: Vec<usize> = Vec::new();
            let all = word.split('.').all(|part| {
                let mut has = |i: &usize| !taken.contains(i) && vocabulary.has(&modifiers[*i], part);
                let found = (0..modifiers.len()).find(|i| has(i));
                taken.extend(found);
                found.is_some()
            });
            if let (true, Some(part)) = (all, taken.first()) {
                report(a, &modifiers[*part], format!("`.{word}` of `{}` looks like several modifiers", form.name));
            }
        }
    }
}

/// What modifiers print and how long it gets, computed once for all instructions with the same modifiers.
struct Words<'a> {
    isa: &'a Isa,
    /// The words of an enum, without that of the default.
    of_enums: HashMap<(usize, Option<u64>), HashSet<&'a str>>,
    /// A word that the modifiers of two pairs of enum and default have in common.
    common: HashMap<[(usize, Option<u64>); 2], Option<&'a str>>,
    /// The length of the longest text of each enum's values, and of each kind.
    longest_value: Vec<usize>,
    longest_operand: Vec<usize>,
}

impl<'a> Words<'a> {
    fn new(isa: &'a Isa) -> Self {
        let longest = |e: &Enum| e.values.iter().map(|v| v.text.len()).max().unwrap_or(0);
        let longest_value: Vec<usize> = isa.enums.iter().map(longest).collect();
        let text = |t: &Token, a: &Alternative| match t {
            Token::Text(t) => t.len(),
            Token::Field(i) => match a.fields[*i].ty {
                Type::Enum(e) => longest_value[e],
                Type::Register(b) => isa.banks[b].count.to_string().len(),
                _ => 24,
            },
            _ => 0,
        };
        let alternative = |a: &Alternative| a.text.iter().map(|t| text(t, a)).sum::<usize>();
        let operand = |kind: &Kind| kind.alternatives.iter().map(alternative).max().unwrap_or(0);
        let longest_operand = isa.kinds.iter().map(operand).collect();
        Words { isa, of_enums: HashMap::new(), common: HashMap::new(), longest_value, longest_operand }
    }

    /// Whether a modifier prints a word.
    fn has(&mut self, modifier: &'a Modifier, word: &str) -> bool {
        match modifier.ty {
            Type::Enum(e) => self.of_enum(e, modifier).contains(word),
            _ => words(self.isa, modifier).any(|own| own == word),
        }
    }

    fn of_enum(&mut self, index: usize, modifier: &'a Modifier) -> &HashSet<&'a str> {
        let isa = self.isa;
        self.of_enums.entry((index, modifier.default)).or_insert_with(|| words(isa, modifier).collect())
    }

    /// The first word of a modifier that the other prints as well.
    fn common(&mut self, a: &'a Modifier, b: &'a Modifier) -> Option<&'a str> {
        let key = match (a.ty, b.ty) {
            (Type::Enum(first), Type::Enum(second)) => Some([(first, a.default), (second, b.default)]),
            _ => None,
        };
        if let Some(known) = key.and_then(|key| self.common.get(&key)) {
            return *known;
        }
        let isa = self.isa;
        let found = match (a.ty, b.ty) {
            // Starts with the flag, which has fewer words than an enum.
            (Type::Enum(_), other) if !matches!(other, Type::Enum(_)) => {
                let own = words(isa, b).filter(|word| self.has(a, word)).collect::<Vec<_>>();
                own.first().copied()
            }
            _ => words(isa, a).find(|word| self.has(b, word)),
        };
        if let Some(key) = key {
            self.common.insert(key, found);
        }
        found
    }
}

fn words<'a>(isa: &'a Isa, modifier: &'a Modifier) -> impl Iterator<Item = &'a str> {
    let values = match modifier.ty {
        Type::Enum(e) => &isa.enums[e].values[..],
        _ => &[],
    };
    let default = modifier.default;
    let printed = values.iter().filter(move |v| default != Some(v.bits)).flat_map(|v| v.words());
    let flag = (modifier.ty == Type::Flag).then_some(modifier.prints.as_str());
    printed.chain(flag)
}

/// The maximum number of bytes that a form prints.
fn longest(words: &Words<'_>, form: &Form) -> usize {
    let modifier = |m: &Modifier| match m.ty {
        Type::Enum(e) => words.longest_value[e] + 1,
        _ => m.prints.len() + 1,
    };
    let operand = |o: &crate::model::Operand| {
        let own = match &o.shape {
            Shape::One { kind, .. } => words.longest_operand[*kind],
            Shape::List { kind, count, open, separator, .. } => {
                let most = usize::from(count.plus) + count.bits.as_ref().map_or(0, |b| (1 << b.width().min(8)) - 1);
                open.len() + most * (words.longest_operand[*kind] + separator.len())
            }
            Shape::Number { prefix, .. } => prefix.len() + 24,
        };
        own + o.suffixes.iter().map(modifier).sum::<usize>()
    };
    let fixed: usize = form.syntax.iter().map(|t| if let Token::Text(t) = t { t.len() } else { 0 }).sum();
    let modifiers: usize = form.modifiers.iter().map(modifier).sum();
    let ignored = if form.ignored == 0 { 0 } else { 20 };
    form.name.len() + fixed + modifiers + ignored + form.operands.iter().map(operand).sum::<usize>()
}
