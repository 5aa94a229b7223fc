//! Expressions over the fields of a layout, which are built once all fields have names.

use isaforge_core::bits::ones;
use isaforge_core::semantics::{Class as ValueClass, Op};
use isaforge_core::stream::Input;

use super::{Draft, Waiting};
use crate::diagnostic::Diagnostic;
use crate::expression::Choices;
use crate::model::Isa;
use crate::resolve::resolver::Resolver;
use crate::source::Spanned;
use crate::spec::EncodeSpec;
use crate::stream::expressions::{Name, Want, expression};
use crate::stream::model::{Expr, Field, Source, Type};

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

impl Draft {
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

impl Resolver<'_> {
    /// Builds the expressions of computed fields and binds the arguments of sets, once all fields have names.
    pub(in crate::stream) fn settle(&mut self, draft: &mut Draft) -> Option<()> {
        let mut complete = Some(());
        for Waiting { field, value, encode, raw } in std::mem::take(&mut draft.waiting) {
            let mut names = draft.names(&self.isa);
            let whole = names[field].clone();
            if let Some(raw) = raw {
                names.insert(0, Name { name: "bits".to_owned(), ..names[raw].clone() });
            }
            let Some((expr, signed)) = expression(&self.sources.inside_quotes(&value), &names, Want::Number, self.out)
            else {
                complete = None;
                continue;
            };
            // A number that is declared as signed is, whatever it is computed from.
            let signed = signed || whole.signed;
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
                    match expression(&self.sources.inside_quotes(&text), &back, Want::Number, self.out) {
                        Some((expr, _)) => inverse.push((raw, expr)),
                        None => complete = None,
                    }
                }
                Some(EncodeSpec::Fields(fields)) => {
                    for (name, text) in fields.iter() {
                        let known = draft.layout.fields.iter().map(|f| (f.name.as_str(), Some(f.span)));
                        let found = Resolver::find(self.out, "field", name, known);
                        let built = expression(&self.sources.inside_quotes(text), &back, Want::Number, self.out);
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
    pub(in crate::stream) fn stream_conditions<'t>(
        &mut self,
        draft: &Draft,
        texts: impl Iterator<Item = &'t Spanned<String>>,
    ) -> Option<Vec<Expr>> {
        let names = draft.names(&self.isa);
        let conditions = texts.map(|text| {
            let text = self.sources.inside_quotes(text);
            expression(&text, &names, Want::Condition, self.out).map(|(expr, _)| expr)
        });
        conditions.collect()
    }

    /// Builds an expression for a number over the fields of a layout.
    pub(in crate::stream) fn number_of(&mut self, draft: &Draft, text: &Spanned<String>) -> Option<Expr> {
        expression(&self.sources.inside_quotes(text), &draft.names(&self.isa), Want::Number, self.out)
            .map(|(expr, _)| expr)
    }
}
