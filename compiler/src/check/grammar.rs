//! E0114: printed text can be parsed back.
//!
//! The assembler parses with the tables that print, from left to right and without backtracking: a number takes as many
//! letters and digits as possible, among several words the longest is taken, and among several alternatives of an
//! operand the one that consumes the most. A text parses back to what printed it if no two adjacent parts run together.
//! That follows from the bytes that each part can begin with.

use std::collections::{BTreeMap, HashSet};

use crate::check::language::{Automaton, Bytes, Common, Side, common};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{Alternative, Field, Form, Isa, Kind, Modifier, Operand, Shape, Token, Type};
use crate::source::Span;

/// The bytes that a piece of text can begin with, and whether it can be empty.
#[derive(Clone, Copy, Default)]
struct Start {
    bytes: Bytes,
    empty: bool,
}

impl Start {
    fn text(text: &str) -> Self {
        let bytes = text.bytes().next().map_or(Bytes::default(), Bytes::one);
        Start { bytes, empty: text.is_empty() }
    }

    fn nothing() -> Self {
        Start { bytes: Bytes::default(), empty: true }
    }

    fn or(self, other: Start) -> Start {
        Start { bytes: self.bytes.or(other.bytes), empty: self.empty || other.empty }
    }

    /// This start, followed by the next one if this may be empty.
    fn then(self, next: impl FnOnce() -> Start) -> Start {
        if !self.empty {
            return self;
        }
        let next = next();
        Start { bytes: self.bytes.or(next.bytes), empty: next.empty }
    }
}

/// The limit on the work of comparing the texts of all kinds, which takes some seconds. The largest known list (five
/// thousand values in two alternatives) takes a hundredth of it.
const MAX_STEPS: usize = 1 << 25;

/// Applies the rule.
pub fn check(isa: &Isa, out: &mut Diagnostics) {
    let mut grammar =
        Grammar { isa, told: HashSet::new(), follows: BTreeMap::new(), starts: Vec::new(), steps: MAX_STEPS, out };
    grammar.starts = isa.kinds.iter().map(|kind| grammar.kind_start(kind)).collect();
    for form in &isa.forms {
        grammar.form(form);
    }
    for (index, kind) in isa.kinds.iter().enumerate() {
        grammar.kind(index, kind);
    }
}

struct Grammar<'a> {
    isa: &'a Isa,
    told: HashSet<(Span, String)>,
    /// The bytes that can follow an operand of a kind without its suffixes, and the words that can.
    follows: BTreeMap<usize, (Bytes, HashSet<String>)>,
    /// The bytes that an operand of each kind can begin with.
    starts: Vec<Start>,
    /// The remainder of [`MAX_STEPS`].
    steps: usize,
    out: &'a mut Diagnostics,
}

impl Grammar<'_> {
    fn report(&mut self, span: Span, message: String, label: &str, other: Option<(Span, String)>, help: &str) {
        if self.told.insert((span, message.clone())) {
            let error = Diagnostic::error("E0114", span, message).label(label);
            let error = other.into_iter().fold(error, |error, (span, text)| error.secondary(span, text));
            self.out.push(error.help(help));
        }
    }

    // ------------------------------------------------------------------------------------------------- instructions

    fn form(&mut self, form: &Form) {
        for (i, token) in form.syntax.iter().enumerate() {
            let follow = self.start_of(form, &form.syntax[i + 1..]).bytes;
            let place = form.syntax_span;
            match token {
                Token::Mnemonic => {
                    self.separate(form, "the name of the instruction", follow.and(Bytes::word()), place, None);
                    let next =
                        form.syntax[i + 1..].iter().skip_while(|t| matches!(t, Token::Text(t) if t.trim().is_empty()));
                    let next: Vec<Token> = next.cloned().collect();
                    if self.start_of(form, &next).bytes.intersects(Bytes::one(b':')) {
                        let message = format!("`{}` followed by `:` is a label", form.name);
                        self.report(place, message, "in this syntax", None, "write something else after the name");
                    }
                }
                Token::Modifiers | Token::Modifier(_) => {
                    let clash = follow.and(Bytes::word().or(Bytes::one(b'.')));
                    let what = match token {
                        Token::Modifier(m) => format!("the modifier `{}`", form.modifiers[*m].name),
                        _ => "the modifiers".to_owned(),
                    };
                    let span = if let Token::Modifier(m) = token { Some(form.modifiers[*m].span) } else { None };
                    self.separate(form, &what, clash, place, span);
                }
                Token::Operand(o) => self.operand(form, &form.operands[*o], follow),
                Token::Text(_) | Token::Field(_) => {}
            }
        }
    }

    /// Reports that a part of a text cannot be separated from what follows it.
    fn separate(&mut self, form: &Form, what: &str, clash: Bytes, place: Span, other: Option<Span>) {
        if clash != Bytes::default() {
            let message = format!(
                "{what} of `{}` cannot be told apart from what follows, which may begin with {}",
                form.name,
                clash.shown()
            );
            let other = other.filter(|span| *span != place).map(|span| (span, what.to_owned()));
            self.report(place, message, "in this syntax", other, "put a space or a sign between them");
        }
    }

    fn operand(&mut self, form: &Form, operand: &Operand, follow: Bytes) {
        let what = format!("the operand `{}`", operand.name);
        let clash = follow.and(Bytes::word().or(Bytes::one(b'.')));
        self.separate(form, &what, clash, form.syntax_span, Some(operand.span));
        let place = operand.declared.unwrap_or(operand.span);
        let leading = |text: &str| text.starts_with(char::is_whitespace);
        match &operand.shape {
            Shape::One { kind, .. } => {
                let suffixes = operand.suffixes.iter().flat_map(|m| self.words(m));
                let words: Vec<String> = suffixes.map(|word| format!(".{word}")).collect();
                let known = self.follows.entry(*kind).or_default();
                known.0 = known.0.or(follow);
                known.1.extend(words);
            }
            Shape::Number { prefix, .. } => {
                if leading(prefix) {
                    let message = format!(
                        "the prefix of `{}` begins with a space, which is skipped before matching",
                        operand.name
                    );
                    self.report(place, message, "this operand", None, "put the space into the syntax");
                }
            }
            Shape::List { kind, open, separator, count, .. } => {
                if leading(open) {
                    let message =
                        format!("the list `{}` begins with a space, which is skipped before matching", operand.name);
                    self.report(place, message, "this list", None, "put the space into the syntax");
                }
                let register = self.starts[*kind];
                if !register.bytes.without(Bytes::word()).eq(&Bytes::default()) || register.empty {
                    let message =
                        format!("a register in the list `{}` must begin with a letter or a digit", operand.name);
                    self.report(place, message, "this list", None, "write what precedes it in `open`");
                }
                let several = count.bits.is_some() || count.plus > 1;
                let start = Start::text(separator.trim_start());
                if several && (start.empty || start.bytes.intersects(Bytes::word())) {
                    let message = format!("the registers of the list `{}` cannot be told apart", operand.name);
                    self.report(place, message, "this list", None, "give a separator that begins with a sign");
                } else if several && follow.intersects(start.bytes) {
                    let message = format!(
                        "what follows the list `{}` in `{}` may look like its next register",
                        operand.name, form.name
                    );
                    let text = format!("also written `{separator}`");
                    self.report(place, message, "this list", Some((form.syntax_span, text)), "use another separator");
                }
            }
        }
    }

    /// The words that a modifier is printed with.
    fn words(&self, modifier: &Modifier) -> Vec<String> {
        match modifier.ty {
            Type::Enum(e) => self.isa.enums[e].values.iter().map(|value| value.text.clone()).collect(),
            _ => vec![modifier.prints.clone(), modifier.name.clone()],
        }
    }

    fn start_of(&self, form: &Form, tokens: &[Token]) -> Start {
        tokens.iter().rev().fold(Start::nothing(), |next, token| {
            let own = match token {
                Token::Text(text) => Start::text(text),
                Token::Mnemonic => Start { bytes: Bytes::word(), empty: false },
                Token::Modifiers => {
                    let free = |i: &usize| !form.syntax.contains(&Token::Modifier(*i));
                    let all = (0..form.modifiers.len()).filter(free).map(|i| self.modifier_start(&form.modifiers[i]));
                    all.fold(Start::nothing(), |start, m| start.then(|| m))
                }
                Token::Modifier(i) => self.modifier_start(&form.modifiers[*i]),
                Token::Operand(i) => self.operand_start(&form.operands[*i]),
                Token::Field(_) => Start::nothing(),
            };
            own.then(|| next)
        })
    }

    fn modifier_start(&self, modifier: &Modifier) -> Start {
        Start { bytes: Bytes::one(b'.'), empty: modifier.default.is_some() }
    }

    fn operand_start(&self, operand: &Operand) -> Start {
        let own = match &operand.shape {
            Shape::One { kind, .. } => self.starts[*kind],
            Shape::List { kind, open, .. } => Start::text(open).then(|| self.starts[*kind].or(Start::nothing())),
            Shape::Number { prefix, ty, .. } => Start::text(prefix).then(|| number_start(*ty)),
        };
        own.then(|| operand.suffixes.iter().fold(Start::nothing(), |start, m| start.then(|| self.modifier_start(m))))
    }

    fn kind_start(&self, kind: &Kind) -> Start {
        let texts = kind.alternatives.iter().flat_map(|a| a.texts().map(move |(text, _)| (a, text)));
        let starts = texts.map(|(a, text)| self.text_start(a, text));
        starts.reduce(Start::or).unwrap_or(Start::nothing())
    }

    fn text_start(&self, alternative: &Alternative, tokens: &[Token]) -> Start {
        tokens.iter().rev().fold(Start::nothing(), |next, token| {
            let own = match token {
                Token::Text(text) => Start::text(text),
                Token::Field(i) => alternative.fields.get(*i).map_or(Start::nothing(), |field| self.field_start(field)),
                _ => Start::nothing(),
            };
            own.then(|| next)
        })
    }

    fn field_start(&self, field: &Field) -> Start {
        match field.ty {
            Type::Enum(e) => {
                let values = self.isa.enums[e].values.iter().map(|value| Start::text(&value.text));
                values.reduce(Start::or).unwrap_or(Start::nothing())
            }
            ty => number_start(ty),
        }
    }

    // -------------------------------------------------------------------------------------------------------- kinds

    fn kind(&mut self, index: usize, kind: &Kind) {
        let (follow, words) = self.follows.get(&index).cloned().unwrap_or_default();
        // Texts that are only parsed are compared with the others as if they were printed, since they must parse as
        // what they stand for.
        let texts: Vec<_> = kind
            .alternatives
            .iter()
            .enumerate()
            .flat_map(|(i, a)| a.texts().map(move |(text, span)| (i, a, text, span)))
            .collect();
        for (_, alternative, text, span) in &texts {
            self.alternative(alternative, text, *span, follow, &words);
        }
        let automata =
            |side| texts.iter().map(|(_, a, text, _)| Automaton::of(self.isa, a, text, side)).collect::<Vec<_>>();
        let (writers, readers) = (automata(Side::Writes), automata(Side::Reads));
        let after = if words.is_empty() { follow } else { follow.or(Bytes::one(b'.')) }.without(Bytes::word());
        for (i, (own, a, _, place)) in texts.iter().enumerate() {
            for (j, (_, b, _, other)) in texts.iter().enumerate().filter(|(_, (other, ..))| other != own) {
                let (text, whole) = match common(&writers[i], &readers[j], after, &mut self.steps) {
                    Common::Text(text, whole) => (text, whole),
                    Common::None => continue,
                    Common::Unknown => return self.too_large(kind),
                };
                // Of two alternatives with the same text, the first is parsed.
                if whole && j > i {
                    continue;
                }
                let message = if whole {
                    format!("`{text}` is both `{}` and `{}`", a.name, b.name)
                } else {
                    format!("after `{text}` of `{}`, what follows may be mistaken for `{}`", a.name, b.name)
                };
                let label = if whole { "this text is never read" } else { "this text" };
                let other =
                    Some((*other, if whole { "the assembler takes this one" } else { "this one reads on" }.to_owned()));
                self.report(*place, message, label, other, "write something unique to one of them");
            }
        }
    }

    /// Rejects a kind whose texts cannot be compared in reasonable time.
    fn too_large(&mut self, kind: &Kind) {
        let message = format!("`{}` has too many texts to check that they can be told apart", kind.name);
        let help = "begin each alternative with a sign of its own, or list fewer values";
        self.report(kind.span, message, "this kind", None, help);
    }

    fn alternative(
        &mut self,
        alternative: &Alternative,
        text: &[Token],
        place: Span,
        follow: Bytes,
        words: &HashSet<String>,
    ) {
        if self.text_start(alternative, text).bytes.intersects(Bytes::space()) {
            let message =
                format!("the text of `{}` begins with a space, which is skipped before matching", alternative.name);
            self.report(place, message, "this text", None, "put the space into the syntax");
        }
        for (i, token) in text.iter().enumerate() {
            let Token::Field(f) = token else { continue };
            let Some(field) = alternative.fields.get(*f) else { continue };
            let rest = &text[i + 1..];
            let next = self.text_start(alternative, rest).bytes;
            let clash = match field.ty {
                Type::Enum(e) => {
                    let texts: Vec<&str> = self.isa.enums[e].values.iter().map(|value| value.text.as_str()).collect();
                    self.longer_word(alternative, rest, &texts, follow, words)
                }
                Type::Constant(_) if next.intersects(Bytes::word().or(Bytes::one(b'['))) => {
                    Some(next.and(Bytes::word().or(Bytes::one(b'['))).shown())
                }
                Type::Constant(_) => None,
                _ => Some(next.and(Bytes::word())).filter(|clash| *clash != Bytes::default()).map(Bytes::shown),
            };
            if let Some(clash) = clash {
                let message = format!(
                    "the field `{}` of `{}` cannot be told apart from what follows, which may begin with {clash}",
                    field.name, alternative.name
                );
                let other = Some((field.span, format!("`{}`", field.name)));
                self.report(place, message, "in this text", other, "put a sign between them");
            }
        }
    }

    /// Whether a word followed by more text looks like a longer word of the same field.
    fn longer_word(
        &self,
        alternative: &Alternative,
        rest: &[Token],
        texts: &[&str],
        follow: Bytes,
        words: &HashSet<String>,
    ) -> Option<String> {
        let mut texts = texts.to_vec();
        texts.sort_unstable();
        texts.dedup();
        // In sorted order, longer words directly follow their prefix.
        for (i, short) in texts.iter().enumerate() {
            for ending in texts[i + 1..].iter().map_while(|long| long.strip_prefix(short)) {
                if self.may_begin(alternative, rest, ending, follow, words) {
                    return Some(format!("`{ending}`, and `{short}{ending}` is another word"));
                }
            }
        }
        None
    }

    /// Whether the text of some tokens, followed by the text after the operand, may begin with `text`.
    fn may_begin(
        &self,
        alternative: &Alternative,
        tokens: &[Token],
        text: &str,
        follow: Bytes,
        words: &HashSet<String>,
    ) -> bool {
        let Some(first) = text.bytes().next() else { return true };
        let Some((token, rest)) = tokens.split_first() else {
            return follow.without(Bytes::word()).intersects(Bytes::one(first))
                || words.iter().any(|word| word.starts_with(text) || text.starts_with(word.as_str()));
        };
        let one = |written: &str| match text.strip_prefix(written) {
            Some(left) => self.may_begin(alternative, rest, left, follow, words),
            None => written.starts_with(text),
        };
        match token {
            Token::Text(written) => one(written),
            Token::Field(i) => match alternative.fields.get(*i).map(|field| field.ty) {
                Some(Type::Enum(e)) => self.isa.enums[e].values.iter().any(|value| one(&value.text)),
                Some(ty) => number_start(ty).bytes.intersects(Bytes::one(first)),
                None => false,
            },
            _ => self.may_begin(alternative, rest, text, follow, words),
        }
    }
}

fn number_start(ty: Type) -> Start {
    let digits = Bytes::range(b'0', b'9');
    Start { bytes: if ty == Type::Signed { digits.or(Bytes::one(b'-')) } else { digits }, empty: false }
}
