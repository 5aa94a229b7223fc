//! Generations, and numbers given by name.

use super::model::{Field, Type};
use super::resolve::entry_span;
use crate::diagnostic::Diagnostic;
use crate::resolve::resolver::Resolver;
use crate::source::Span;
use crate::spec::{Constant, GenerationsSpec};

/// The first and the last generation, and the named generations.
type Generations = ((u32, u32), Vec<(String, u32)>);

impl Resolver<'_> {
    /// The first and the last generation, and the named generations in numerical order.
    pub(super) fn generations(&mut self, spec: Option<&GenerationsSpec>) -> Option<Generations> {
        let names = match spec {
            None => return Some(((0, 0), Vec::new())),
            Some(GenerationsSpec::Range(numbers)) => match &numbers[..] {
                [first, last] if first.value <= last.value => return Some(((first.value, last.value), Vec::new())),
                _ => {
                    let span = spec.and_then(GenerationsSpec::span).unwrap_or_else(|| entry_span(self));
                    let error = Diagnostic::error("E0033", span, "expected the first and the last generation");
                    self.out.push(error.help("write `generations: [5, 7]`, or `{ v5: 5, v7: 7 }`"));
                    return None;
                }
            },
            Some(GenerationsSpec::Names(names)) => names,
        };
        let mut named: Vec<(String, u32)> = Vec::new();
        for (name, number) in names.iter() {
            if let Some((other, _)) = named.iter().find(|(_, known)| *known == number.value) {
                let message = format!("`{other}` and `{}` are the same generation", name.value);
                self.out.push(Diagnostic::error("E0102", number.span, message).help("give each a number of its own"));
            }
            named.push((name.value.clone(), number.value));
        }
        named.sort_by_key(|(_, number)| *number);
        let [(_, first), ..] = named[..] else {
            let message = "no generation is given";
            self.out.push(Diagnostic::error("E0033", entry_span(self), message).help("write `generations: { v5: 5 }`"));
            return None;
        };
        let last = named.last().map_or(first, |(_, last)| *last);
        Some(((first, last), named))
    }

    /// The first and the last generation of something.
    pub(super) fn lifetime(&mut self, since: Option<&Constant<u32>>, until: Option<&Constant<u32>>) -> (u32, u32) {
        let [first, last] = [since, until].map(|given| Some((self.generation(given?)?, given?.span())));
        self.has_a_generation(first, last);
        (first.map_or(0, |(since, _)| since), last.map_or(u32::MAX, |(until, _)| until))
    }

    /// Warns about something that exists in no generation of the set; `since` and `until` have their places.
    fn has_a_generation(&mut self, since: Option<(u32, Span)>, until: Option<(u32, Span)>) {
        let Some(stream) = self.isa.stream() else { return };
        let ((first, last), names) = (stream.generations, &stream.generation_names[..]);
        let from = since.map_or(first, |(since, _)| since.max(first));
        let to = until.map_or(last, |(until, _)| until.min(last));
        let exists = if names.is_empty() { from <= to } else { names.iter().any(|(_, n)| (from..=to).contains(n)) };
        let warning = match (since, until) {
            _ if exists => return,
            (Some((since, span)), Some((until, other))) => {
                let message = format!("no generation is in the range from {since} to {until}");
                Diagnostic::warning("W0212", span, message).rival(other, "")
            }
            (Some((since, span)), None) => Diagnostic::warning("W0212", span, format!("no generation since {since}")),
            (None, Some((until, span))) => Diagnostic::warning("W0212", span, format!("no generation until {until}")),
            (None, None) => return,
        };
        let known = match names {
            [] => format!("{first} to {last}"),
            names => names.iter().map(|(name, number)| format!("`{name}` ({number})")).collect::<Vec<_>>().join(", "),
        };
        self.out.push(warning.help(format!("the set has the generations {known}")));
    }

    /// The number of a generation.
    fn generation(&mut self, given: &Constant<u32>) -> Option<u32> {
        let stream = self.isa.stream()?;
        if stream.generations == (0, 0) {
            let error = Diagnostic::error("E0130", given.span(), "the set has no generations");
            self.out.push(error.help("declare them, `generations: [first, last]`, or leave this out"));
            return None;
        }
        match given {
            Constant::Number(number) => Some(number.value),
            Constant::Name(name) => {
                let names = stream.generation_names.iter().map(|(name, _)| (name.as_str(), None));
                let index = Resolver::find(self.out, "generation", name, names)?;
                stream.generation_names.get(index).map(|(_, number)| *number)
            }
        }
    }

    /// The number for a field of a layout.
    pub(super) fn constant_of(&mut self, field: &Field, given: &Constant<i128>) -> Option<i128> {
        let name = match given {
            Constant::Number(number) => return Some(number.value),
            Constant::Name(name) => name,
        };
        match field.ty {
            Type::Enum(index, _) => {
                let values = &self.isa.enums[index].values;
                let found = Resolver::find(self.out, "value", name, values.iter().map(|v| (v.name.as_str(), None)))?;
                Some(values[found].bits.into())
            }
            Type::Register(bank) => {
                let bank = &self.isa.stream()?.banks[bank];
                let found = bank.number_of(&name.value);
                if found.is_none() {
                    let message = format!("there is no register `{}` in `{}`", name.value, bank.name);
                    self.out.push(Diagnostic::error("E0101", name.span, message).secondary(bank.span, "the bank"));
                }
                found.map(i128::from)
            }
            _ => {
                let message = format!("`{}` has numbered values, none named `{}`", field.name, name.value);
                let error = Diagnostic::error("E0101", name.span, message);
                self.out.push(error.secondary(field.span, "the field").help("write the number"));
                None
            }
        }
    }
}
