//! What can follow a text in sets of words.

use isaforge_core::bits::ones;
use isaforge_core::error::{ParseError, ParseReason, modifier_words};
use isaforge_core::parse::parse_at;
use isaforge_core::table::{Field, Isa, Modifier, Operand, Shape, Token, Type};

use super::{Any, FRESH, Offer, Offers, labels, name_in, starts};
use crate::assembly::Source;

/// A character that never occurs in assembly.
const PROBE: &str = "\u{1}";

/// What the assembler says about a text that something unknown follows.
fn probed(source: &Source, isa: &'static Isa, before: &str) -> Option<ParseError> {
    let error = parse_at(isa, &format!("{before}{PROBE}"), 0, &Any(source)).err()?;
    (error.at >= before.trim_end().len()).then_some(error)
}

/// Whether the assembler reads the whole of a text; what is missing after it does not matter.
fn takes(source: &Source, isa: &'static Isa, text: &str) -> bool {
    match parse_at(isa, text, 0, &Any(source)) {
        Ok(_) => true,
        Err(error) => {
            error.at >= text.trim_end().len()
                || matches!(error.reason, ParseReason::MissingModifier(..) | ParseReason::MissingSuffix(..))
        }
    }
}

/// The modifiers of an instruction, or of the operand that ends here, after a dot.
pub fn suffixes(source: &Source, isa: &'static Isa, before: &str, typed: &str) -> Offers {
    let Some(error) = probed(source, isa, before) else { return Offers::NONE };
    let (modifiers, shared) = match error.reason {
        ParseReason::UnknownModifier(form) => (isa.forms.get(usize::from(form)).map(|form| form.modifiers), isa.shared),
        ParseReason::UnknownSuffix(form, index) => (operand(isa, form, index).map(|operand| operand.suffixes), &[][..]),
        // Some operands, such as masks, follow the name like a modifier.
        _ => return operands(source, isa, before, typed),
    };
    let offer = |modifier: &'static Modifier| {
        modifier_words(isa, modifier).map(|word| Offer {
            name: word.to_owned(),
            title: modifier.name,
            doc: modifier.doc,
        })
    };
    let shared = shared.iter().flat_map(|field| field.words.iter().map(move |(word, _)| (field.name, *word)));
    let shared = shared.map(|(title, word)| Offer { name: word.to_owned(), title, doc: "" });
    let all = modifiers.unwrap_or_default().iter().flat_map(offer).chain(shared);
    Offers::accepted(all, typed, |name| takes(source, isa, &format!("{before}{name}")))
}

fn operand(isa: &'static Isa, form: u16, operand: u8) -> Option<&'static Operand> {
    isa.forms.get(usize::from(form))?.operands.get(usize::from(operand))
}

/// The texts of the operand that is expected after a text.
pub fn operands(source: &Source, isa: &'static Isa, before: &str, typed: &str) -> Offers {
    let Some(error) = probed(source, isa, before) else { return Offers::NONE };
    let takes = |name: &str| takes(source, isa, &format!("{before}{name}"));
    let texts_of = |kind: u16, typed: &str| {
        let mut texts = Texts { isa, found: Vec::new() };
        for alternative in isa.kinds.get(usize::from(kind)).map_or(&[][..], |kind| kind.alternatives) {
            let also = alternative.also.iter().map(|spelling| spelling.text);
            for tokens in std::iter::once(alternative.text).chain(also) {
                let start = Start { text: String::new(), typed, several: 1, before: None };
                texts.add(alternative.fields, tokens, start);
            }
        }
        texts.found
    };
    let (found, begun): (Vec<_>, Vec<_>) = match error.reason {
        ParseReason::Operand(form, index) => match operand(isa, form, index).map(|operand| &operand.shape) {
            Some(Shape::One { kind, .. }) => texts_of(*kind, typed).into_iter().partition(|text| text.whole),
            Some(Shape::List { kind, open, separator, .. }) => {
                let names: Vec<Found> = texts_of(*kind, "");
                let names: Vec<String> = names.into_iter().filter(|text| text.whole).map(|text| text.text).collect();
                let whole = |text: String| Found { text, whole: true, doc: "" };
                (lists(&names, open, separator).map(whole).collect(), Vec::new())
            }
            Some(Shape::Number { prefix, .. }) => {
                let prefix = Found { text: prefix.trim().to_owned(), whole: false, doc: "" };
                (Vec::new(), vec![prefix])
            }
            None => return Offers::NONE,
        },
        ParseReason::Expected(text) => {
            let name = name_in(text).map(|name| Found { text: name.to_owned(), whole: false, doc: "" });
            (Vec::new(), name.into_iter().collect())
        }
        _ => (Vec::new(), Vec::new()),
    };
    let offer = |text: Found| Offer { name: text.text, title: "", doc: text.doc };
    let has_labels = source.assembly.labels.iter().any(|label| starts(&label.name, typed)) && takes(FRESH);
    // The assembler cannot read the beginning of an operand.
    let begun = begun.into_iter().filter(|text| starts(&text.text, typed) && !text.text.is_empty()).map(offer);
    let begun = Offers::accepted(begun, typed, |_| true);
    let mut offers = Offers::accepted(found.into_iter().map(offer), typed, takes);
    offers.all &= begun.all;
    offers.list.extend(begun.list);
    offers.list.extend(labels(source).filter(|_| has_labels));
    offers.list.sort();
    offers
}

/// The maximum length of a list that is offered.
const MAX_LIST: usize = 16;

/// Lists of consecutive registers, short ones first.
fn lists(registers: &[String], open: &str, separator: &str) -> impl Iterator<Item = String> {
    let runs = (1..=MAX_LIST).flat_map(|len| registers.windows(len));
    runs.map(move |run| format!("{open}{}", run.join(separator)))
}

/// A text of an operand.
struct Found {
    text: String,
    /// Whether it is a whole operand; otherwise it ends where too many different texts may follow.
    whole: bool,
    doc: &'static str,
}

/// How far a text has been spelled.
#[derive(Clone)]
struct Start<'t> {
    text: String,
    /// The rest of what was typed.
    typed: &'t str,
    /// How many texts are spelled at the same time.
    several: usize,
    /// The last token.
    before: Option<&'static Token>,
}

impl Start<'_> {
    /// Appends a text, which must agree with what was typed.
    fn then(&self, text: &str) -> Option<Self> {
        let typed = match self.typed.strip_prefix(text) {
            Some(rest) => rest,
            None => text.starts_with(self.typed).then_some("")?,
        };
        Some(Start { text: format!("{}{text}", self.text), typed, ..self.clone() })
    }
}

/// The maximum number of texts that differ in more than one field; beyond, the first of these fields is offered alone.
const MANY: usize = 512;
/// The maximum number of values of a field that are offered.
const VALUES: u64 = 1024;

/// The texts of operands that start as was typed.
struct Texts {
    isa: &'static Isa,
    found: Vec<Found>,
}

impl Texts {
    fn add(&mut self, fields: &'static [Field], tokens: &'static [Token], start: Start<'_>) {
        let Some((token, rest)) = tokens.split_first() else {
            if start.typed.is_empty() {
                self.found.push(Found { text: start.text, whole: true, doc: "" });
            }
            return;
        };
        match token {
            Token::Text(text) => {
                if let Some(next) = start.then(text.str) {
                    self.add(fields, rest, Start { before: Some(token), ..next });
                }
            }
            Token::Field(index) => {
                let Some(field) = fields.get(usize::from(*index)) else { return };
                let values = self.values(field, start.typed);
                // Fields without a text between them, such as the letters of a swizzle, are one name.
                let rest_of_name = rest.iter().map_while(|token| match token {
                    Token::Field(index) => fields.get(usize::from(*index)),
                    _ => None,
                });
                let names = rest_of_name.map(|field| self.values(field, "").len().max(1));
                let several = start.several.saturating_mul(values.len().max(1));
                let begins = !matches!(start.before, Some(Token::Field(_)));
                let many = begins && names.fold(several, usize::saturating_mul) > MANY;
                if values.is_empty() || many && start.several > 1 {
                    if start.typed.is_empty() && !start.text.is_empty() {
                        self.found.push(Found { text: start.text, whole: false, doc: "" });
                    }
                    return;
                }
                for value in values {
                    if let Some(next) = start.then(&value) {
                        self.add(fields, rest, Start { several, before: Some(token), ..next });
                    }
                }
            }
            _ => self.add(fields, rest, start),
        }
    }

    /// The texts of a field that agree with what was typed; none if they are any numbers.
    fn values(&self, field: &'static Field, typed: &str) -> Vec<String> {
        let agrees = |text: &String| typed.starts_with(text.as_str()) || text.starts_with(typed);
        match field.ty {
            Type::Enum(index) => {
                let values = self.isa.enums.get(usize::from(index)).map_or(&[][..], |found| found.values);
                let texts = values.iter().map(|value| value.text.to_owned());
                texts.filter(|text| !text.is_empty() && agrees(text)).collect()
            }
            Type::Constant(index) => {
                let values = self.isa.constants.get(usize::from(index)).map_or(&[][..], |found| found.values);
                values
                    .iter()
                    .map(|value| format!("{:#X}", value.value).replacen("0X", "0x", 1))
                    .filter(agrees)
                    .collect()
            }
            Type::Register(_) | Type::Decimal => {
                let digits = typed.bytes().take_while(u8::is_ascii_digit).count();
                match typed.get(..digits) {
                    // The number has been typed.
                    Some(number) if digits < typed.len() => vec![number.to_owned()],
                    _ => {
                        let most = ones(field.bits.width()).min(self.count(field.ty) - 1);
                        (0..=most).map(|number| number.to_string()).filter(agrees).collect()
                    }
                }
            }
            Type::Flag | Type::Hex | Type::Signed => Vec::new(),
        }
    }

    fn count(&self, ty: Type) -> u64 {
        match ty {
            Type::Register(bank) => {
                self.isa.banks.get(usize::from(bank)).map_or(1, |bank| u64::from(bank.count)).clamp(1, VALUES)
            }
            _ => VALUES,
        }
    }
}
