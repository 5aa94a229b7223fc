//! The fields of a layout, and templates that refer to them.

use isaforge_core::bits::ones;
use isaforge_core::stream::{Input, Notation};
use isaforge_core::table::{Base, Target};

use super::instruction::Variable;
use super::syntax::{ImpliedRegister, REGISTER_BITS, Rule, Shown, Syntax};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::expression::Choices;
use crate::source::{Span, Spanned};
use crate::stream::STORED;
use crate::stream::expressions::{Name, Want, expression};
use crate::stream::model::{Expr, Field, Layout, Operand, Source, Token, Type};
use crate::stream::template::{Part, parts};

/// A layout under construction.
pub(super) struct Draft<'a> {
    pub layout: Layout,
    pub syntax: &'a Syntax,
    pub out: &'a mut Diagnostics,
    /// The fields that templates may refer to.
    names: Vec<Name>,
}

impl<'a> Draft<'a> {
    pub fn new(layout: Layout, syntax: &'a Syntax, out: &'a mut Diagnostics) -> Self {
        Draft { layout, syntax, out, names: Vec::new() }
    }

    fn push(&mut self, name: &str, span: Span, source: Source, width: u8, signed: bool, ty: Type) -> usize {
        let index = self.layout.fields.len();
        let input = Input::Field(index as u8);
        self.names.push(Name { name: name.to_owned(), signed, choices: Choices::Number(64), input, span });
        let (name, doc) = (name.to_owned(), String::new());
        self.layout.fields.push(Field { name, doc, span, source, width, signed, default: 0, ty });
        index
    }

    fn find(&self, name: &str) -> Option<usize> {
        let known = self.names.iter().find(|known| known.name == name)?;
        match known.input {
            Input::Field(index) => Some(index.into()),
            _ => None,
        }
    }

    /// Adds the fields of a variable: its bits, and values computed from them.
    pub fn variable(&mut self, instruction: &str, variable: &Variable, xlen: u64) -> Option<()> {
        let syntax = self.syntax;
        let rule = syntax.rule(instruction, variable, xlen);
        let plain = Shown::default();
        let shown = rule.map_or(&plain, |rule| &rule.shown);
        let span = variable.span;
        let signed = variable.signed || shown.signed;
        let value = match &shown.value {
            Some(value) => Some(value.clone()),
            None if variable.shift > 0 => Some(Spanned::new(format!("bits << {}", variable.shift), span)),
            None => None,
        };
        let bits = Source::Bits(variable.pieces.clone());
        let ty = self.ty(shown)?;
        let field = match value {
            None => self.push(&variable.name, span, bits, variable.width(), signed, ty),
            Some(value) => {
                let number = Type::Number(Notation::DECIMAL);
                let raw = self.push("bits", span, bits, variable.width(), signed, number);
                let value = self.value(&value)?;
                // The name belongs to the computed value instead.
                self.names.pop();
                self.layout.fields[raw].name = format!("{}{STORED}", variable.name);
                self.computed(&variable.name, span, value, ty)
            }
        };
        self.excluded(variable, field)?;
        for (name, shown) in rule.map_or(&[][..], |rule| &rule.fields) {
            let value = self.value(shown.value.as_ref()?)?;
            let ty = self.ty(shown)?;
            self.computed(&name.value, name.span, value, ty);
        }
        Some(())
    }

    fn value(&mut self, text: &Spanned<String>) -> Option<(Expr, bool)> {
        expression(text, &self.names, Want::Number, self.out)
    }

    fn computed(&mut self, name: &str, span: Span, (value, signed): (Expr, bool), ty: Type) -> usize {
        self.push(name, span, Source::Computed { value, inverse: Vec::new() }, 64, signed, ty)
    }

    fn ty(&mut self, shown: &Shown) -> Option<Type> {
        let target = shown.target.then_some(Target { base: Base::This, unit: 1 });
        let number = Notation { target, ..Notation::DECIMAL };
        if let Some(register) = &shown.register {
            return match self.syntax.registers.iter().position(|(name, _)| name.value == register.value) {
                Some(bank) => Some(Type::Register(bank)),
                None => self.unknown(register),
            };
        }
        if shown.names.is_empty() {
            return Some(Type::Number(number));
        }
        // A combination of lists is an enum of its own.
        let wanted = || shown.names.iter().map(|name| &name.value);
        let index = self.syntax.lists.iter().position(|list| list.iter().eq(wanted()))?;
        Some(Type::Enum(index, shown.otherwise.then_some(number)))
    }

    fn unknown<T>(&mut self, name: &Spanned<String>) -> Option<T> {
        self.out.push(Diagnostic::error("E0101", name.span, format!("unknown name `{}`", name.value)));
        None
    }

    /// Adds a condition for the values that a variable may not have.
    fn excluded(&mut self, variable: &Variable, field: usize) -> Option<()> {
        let (Some(low), Some(high)) = (variable.not.iter().min(), variable.not.iter().max()) else { return Some(()) };
        let name = &variable.name;
        let run = high - low + 1 == variable.not.len() as u64;
        let width = variable.width();
        let text = if low == high {
            format!("{name} != {low}")
        } else if run {
            format!("({name} < {low}) || ({name} > {high})")
        } else if width <= 6 && variable.shift == 0 {
            let mask =
                variable.not.iter().fold(0u64, |mask, value| mask | 1u64.checked_shl(*value as u32).unwrap_or(0));
            format!("((({mask:#x} as u64) >> ({name} as u64)) & 1) == 0")
        } else {
            let each: Vec<String> = variable.not.iter().map(|value| format!("({name} != {value})")).collect();
            each.join(" && ")
        };
        // Omits the test for values below zero, which never holds.
        let text = text.strip_prefix(&format!("({name} < 0) || ")).map_or(text.clone(), str::to_owned);
        let condition = self.condition(&Spanned::new(text, variable.span))?;
        self.layout.conditions.push(condition);
        if variable.not.contains(&0) && !self.layout.fields[field].signed {
            self.layout.fields[field].default =
                (0..=ones(width.into())).find(|v| !variable.not.contains(v)).unwrap_or(0);
        }
        Some(())
    }

    /// Adds the registers that the instruction accesses without showing them, as operands that no text has.
    pub fn implied(&mut self, instruction: &str) -> Option<()> {
        let syntax = self.syntax;
        for implied in syntax.implied(instruction) {
            if !implied.variables.iter().all(|variable| self.find(variable).is_some()) {
                continue;
            }
            let field = match &implied.register {
                ImpliedRegister::Of(variable) => match self.find(&variable.value) {
                    Some(field) => field,
                    None => return self.unknown(variable),
                },
                ImpliedRegister::Fixed(bank, number) => {
                    let Some(index) = syntax.registers.iter().position(|(name, _)| name.value == bank.value) else {
                        return self.unknown(bank);
                    };
                    let value = self.value(number)?;
                    self.computed(&format!("{}{}", bank.value, number.value), number.span, value, Type::Register(index))
                }
            };
            let sized = match &implied.when {
                None => None,
                Some(when) => {
                    let text = format!("if {} {{ {REGISTER_BITS} }} else {{ 0 }}", when.value);
                    let value = self.value(&Spanned::new(text, when.span))?;
                    let name = format!("{}{field}", when.value);
                    Some(self.computed(&name, when.span, value, Type::Number(Notation::DECIMAL)))
                }
            };
            self.layout.operands.push(Operand { field, access: implied.access, size: REGISTER_BITS, sized });
        }
        Some(())
    }

    fn condition(&mut self, text: &Spanned<String>) -> Option<Expr> {
        expression(text, &self.names, Want::Condition, self.out).map(|(expr, _)| expr)
    }

    /// The tokens of a template.
    pub fn template(&mut self, text: &Spanned<String>) -> Option<Vec<Token>> {
        let parts = parts(text, self.out)?;
        self.tokens(&parts, text.span)
    }

    fn tokens(&mut self, parts: &[Part], span: Span) -> Option<Vec<Token>> {
        let mut tokens = Vec::new();
        for part in parts {
            tokens.push(match part {
                Part::Text(text) => Token::Text(text.clone()),
                Part::Column(column) => Token::Column(*column),
                Part::Name(name) => match self.find(name) {
                    Some(field) => Token::Field(field),
                    None => return self.unknown(&Spanned::new(name.clone(), span)),
                },
                Part::If(condition, parts) => {
                    let condition = self.condition(condition)?;
                    Token::If(condition, self.tokens(parts, span)?)
                }
            });
        }
        Some(tokens)
    }

    /// Generates the text: the name with its suffixes, then `assembly` with operands in place of variables.
    pub fn text(
        &mut self,
        instruction: &str,
        written: &str,
        assembly: &Spanned<String>,
        variables: &[Variable],
        xlen: u64,
    ) -> Option<()> {
        let mut text = vec![Token::Text(written.to_owned())];
        let syntax = self.syntax;
        for (needed, template) in &syntax.suffixes {
            if needed.iter().all(|needed| variables.iter().any(|variable| variable.name == *needed)) {
                text.extend(self.template(template)?);
            }
        }
        let mut before = " ".to_owned();
        let mut rest = assembly.value.as_str();
        while !rest.is_empty() {
            let word = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
            if word == 0 {
                let other = rest.chars().next()?;
                before.push(other);
                rest = &rest[other.len_utf8()..];
                continue;
            }
            let (name, tail) = rest.split_at(word);
            rest = tail;
            let Some(variable) = variables.iter().find(|variable| variable.name == name) else {
                before.push_str(name);
                continue;
            };
            let rule = syntax.rule(instruction, variable, xlen);
            let field = self.find(name)?;
            let when = rule.and_then(|rule| rule.when.as_ref());
            if when.is_some() {
                // The comma before it belongs to the condition, too.
                let separator = before.split_off(before.rfind(',').unwrap_or(0));
                text.push(Token::Text(std::mem::replace(&mut before, separator)));
            }
            let mut tokens = vec![Token::Text(std::mem::take(&mut before))];
            match rule.and_then(|rule| rule.text.as_ref()) {
                Some(template) => tokens.extend(self.template(template)?),
                None => tokens.push(Token::Field(field)),
            }
            match when {
                Some(when) => {
                    let condition = self.condition(when)?;
                    text.push(Token::If(condition, tokens));
                }
                None => text.extend(tokens),
            }
            let access = rule.map_or(crate::spec::Access::None, |rule: &Rule| match rule.shown.register {
                Some(_) => rule.access,
                None => crate::spec::Access::None,
            });
            let count = rule.map_or(1, |rule| rule.count);
            let is_register = matches!(self.layout.fields[field].ty, Type::Register(_));
            let size = if is_register { count * REGISTER_BITS } else { 0 };
            self.layout.operands.push(Operand { field, access, size, sized: None });
        }
        if !before.trim().is_empty() {
            text.push(Token::Text(before));
        }
        self.layout.text = joined(text);
        Some(())
    }
}

/// Merges adjacent texts.
fn joined(tokens: Vec<Token>) -> Vec<Token> {
    let mut joined: Vec<Token> = Vec::new();
    for token in tokens {
        match (joined.last_mut(), token) {
            (Some(Token::Text(last)), Token::Text(text)) => last.push_str(&text),
            (_, token) => joined.push(token),
        }
    }
    joined
}
