//! Binds the names in the templates of instructions, aliases and alternatives.

use crate::diagnostic::Diagnostic;
use crate::resolve::resolver::Resolver;
use crate::source::{Span, Spanned};
use crate::stream::fields::Draft;
use crate::stream::model::{Layout, Token, Type};
use crate::stream::template::{Part, parts, unknown};

impl Resolver<'_> {
    /// Reports a text that repeats the prefix of a register's name before the register: `r{n}` would print `rr5`.
    pub(super) fn named_once(&mut self, layout: &Layout, tokens: &[Token], span: Span) -> Option<()> {
        let banks = &self.isa.stream()?.banks;
        let twice = tokens.windows(2).find_map(|pair| {
            let [Token::Text(text), Token::Field(index)] = pair else { return None };
            let field = layout.fields.get(*index)?;
            let Type::Register(bank) = field.ty else { return None };
            let first = banks[bank].prints.0.as_str();
            let before = text.strip_suffix(first).filter(|_| !first.is_empty())?;
            (!before.ends_with(char::is_alphanumeric)).then_some((first, field.name.as_str()))
        });
        let Some((first, name)) = twice else { return Some(()) };
        let message =
            format!("`{first}{{{name}}}` writes `{first}` twice: `{{{name}}}` is the whole name of a register");
        self.out.push(Diagnostic::error("E0046", span, message).help(format!("write `{{{name}}}`")));
        None
    }

    /// The tokens of a template; `{operands}` stands for the operands not in `said`.
    pub(super) fn tokens(
        &mut self,
        draft: &Draft,
        template: &Spanned<String>,
        owner: Span,
        mnemonic: &str,
        said: &[usize],
    ) -> Option<Vec<Token>> {
        let parts = parts(&self.sources.inside_quotes(template), self.out)?;
        let mut tokens = self.bind(draft, template.span, owner, mnemonic, said, &parts)?;
        // A general template leaves a trailing blank if an instruction has no operands.
        if let Some(Token::Text(last)) = tokens.last_mut() {
            *last = last.trim_end().to_owned();
            if last.is_empty() {
                tokens.pop();
            }
        }
        Some(tokens)
    }

    fn bind(
        &mut self,
        draft: &Draft,
        template: Span,
        owner: Span,
        mnemonic: &str,
        said: &[usize],
        parts: &[Part],
    ) -> Option<Vec<Token>> {
        let mut tokens: Vec<Token> = Vec::new();
        let text = |tokens: &mut Vec<Token>, text: &str| match tokens.last_mut() {
            _ if text.is_empty() => {}
            Some(Token::Text(last)) => last.push_str(text),
            _ => tokens.push(Token::Text(text.to_owned())),
        };
        let extend = |tokens: &mut Vec<Token>, more: &[Token]| {
            for token in more {
                match token {
                    Token::Text(more) => text(tokens, more),
                    token => tokens.push(token.clone()),
                }
            }
        };
        for part in parts {
            match part {
                Part::Text(more) => text(&mut tokens, more),
                Part::Column(column) => tokens.push(Token::Column(*column)),
                Part::If(condition, inner) => {
                    let condition = self.stream_conditions(draft, std::iter::once(condition))?.pop()?;
                    let inner = self.bind(draft, template, owner, mnemonic, said, inner)?;
                    tokens.push(Token::If(condition, inner));
                }
                Part::Name(name) => match (name.as_str(), draft.find(name)) {
                    (_, Some(field)) => extend(&mut tokens, &draft.shown[field]),
                    ("mnemonic", _) if !mnemonic.is_empty() => text(&mut tokens, mnemonic),
                    ("modifiers", _) if !mnemonic.is_empty() => {
                        let placed = |m: &usize| {
                            parts.iter().any(|p| matches!(p, Part::Name(n) if *n == draft.layout.fields[*m].name))
                        };
                        for modifier in draft.modifiers.iter().filter(|m| !placed(m)) {
                            extend(&mut tokens, &draft.shown[*modifier]);
                        }
                    }
                    ("operands", _) if !mnemonic.is_empty() => {
                        let open = draft.layout.operands.iter().filter(|o| !said.contains(&o.field));
                        for (i, operand) in open.enumerate() {
                            text(&mut tokens, if i > 0 { ", " } else { "" });
                            extend(&mut tokens, &draft.shown[operand.field]);
                        }
                    }
                    _ => {
                        let fixed = ["mnemonic", "modifiers", "operands"];
                        let fields =
                            draft.layout.fields.iter().zip(&draft.shown).filter(|(_, shown)| !shown.is_empty());
                        let fields = fields.map(|(field, _)| field.name.as_str());
                        let names: Vec<&str> =
                            fixed.into_iter().filter(|_| !mnemonic.is_empty()).chain(fields).collect();
                        unknown(self.out, template, owner, name, &names);
                        return None;
                    }
                },
            }
        }
        Some(tokens)
    }
}
