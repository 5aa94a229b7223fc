//! Parses the arguments of `isa!`.

use isaforge_compiler::backend::rust::{Options, SemanticsStyle};
use isaforge_compiler::suggest::{did_you_mean, one_of};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Ident, LitBool, LitStr, Path, Token};

/// The keys, in the order of the documentation.
const KEYS: [&str; 6] = ["spec", "module", "semantics", "text", "tests", "core"];
const STYLES: [&str; 3] = ["default", "required", "none"];

/// The arguments of the macro.
pub struct Input {
    /// The path of the specification; errors point here.
    pub spec: LitStr,
    /// The name of the module, if it differs from that of the specification.
    pub module: Option<Ident>,
    /// The options for code generation.
    pub options: Options,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut spec: Option<LitStr> = None;
        let mut module = None;
        let mut options = Options { runtime: isaforge_compiler::build::FACADE_CORE.to_owned(), ..Options::default() };
        let mut seen: Vec<Ident> = Vec::new();
        if input.peek(LitStr) {
            spec = Some(input.parse()?);
            comma(input)?;
        }
        while !input.is_empty() {
            let key = Ident::parse_any(input).map_err(|error| {
                syn::Error::new(
                    error.span(),
                    format!("expected the path of a specification, or a key: {}", one_of(KEYS)),
                )
            })?;
            let name = key.to_string();
            if !KEYS.contains(&name.as_str()) {
                return Err(unknown(&key, "key", &KEYS));
            }
            if seen.contains(&key) || (name == "spec" && spec.is_some()) {
                return Err(syn::Error::new(key.span(), format!("`{name}` is given twice")));
            }
            seen.push(key);
            input.parse::<Token![:]>()?;
            match name.as_str() {
                "spec" => spec = Some(input.parse()?),
                "module" => module = Some(input.parse()?),
                "semantics" => options.semantics = style(input)?,
                "text" => options.text = input.parse::<LitBool>()?.value,
                "tests" => options.tests = input.parse::<LitBool>()?.value,
                // `KEYS` has no other key.
                _ => options.runtime = input.parse::<Path>()?.to_token_stream().to_string(),
            }
            comma(input)?;
        }
        let spec = spec.ok_or_else(|| {
            syn::Error::new(input.span(), "no specification is named: write its path, such as \"specs/mine.yaml\"")
        })?;
        Ok(Input { spec, module, options })
    }
}

/// Parses a comma, which is optional at the end.
fn comma(input: ParseStream<'_>) -> syn::Result<()> {
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
    }
    Ok(())
}

fn style(input: ParseStream<'_>) -> syn::Result<SemanticsStyle> {
    let word = Ident::parse_any(input)?;
    match word.to_string().as_str() {
        "default" => Ok(SemanticsStyle::Default),
        "required" => Ok(SemanticsStyle::Required),
        "none" => Ok(SemanticsStyle::None),
        _ => Err(unknown(&word, "kind of semantics", &STYLES)),
    }
}

fn unknown(word: &Ident, what: &str, names: &[&str]) -> syn::Error {
    let mut message = format!("there is no {what} `{word}`");
    match did_you_mean(&word.to_string(), names.iter().copied()) {
        Some(near) => message.push_str(&format!(", did you mean `{near}`?")),
        None => message.push_str(&format!(": write {}", one_of(names))),
    }
    syn::Error::new(word.span(), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str) -> String {
        match syn::parse_str::<Input>(text) {
            Ok(_) => panic!("`{text}` is accepted"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_path_is_enough() {
        for text in [r#""a.yaml""#, r#""a.yaml","#, r#"spec: "a.yaml""#] {
            let input: Input = syn::parse_str(text).expect(text);
            assert_eq!(input.spec.value(), "a.yaml");
            assert!(input.module.is_none() && input.options.text && input.options.tests);
            assert_eq!(input.options.runtime, "::isaforge::core");
            assert_eq!(input.options.semantics, SemanticsStyle::Default);
        }
    }

    #[test]
    fn every_key_is_read() {
        let text = r#"spec: "a.yaml", module: b, semantics: none, text: false, tests: false, core: ::c::d"#;
        let input: Input = syn::parse_str(text).expect(text);
        assert_eq!(input.module.expect("given").to_string(), "b");
        assert_eq!(input.options.semantics, SemanticsStyle::None);
        assert!(!input.options.text && !input.options.tests);
        assert_eq!(input.options.runtime.replace(' ', ""), "::c::d");
    }

    #[test]
    fn options_may_follow_a_path_without_its_key() {
        let input: Input = syn::parse_str(r#""a.yaml", semantics: required"#).expect("a path and a key");
        assert_eq!(input.options.semantics, SemanticsStyle::Required);
    }

    #[test]
    fn mistakes_are_answered_with_what_was_meant() {
        assert_eq!(refused(r#""a.yaml", modul: b"#), "there is no key `modul`, did you mean `module`?");
        assert_eq!(
            refused(r#""a.yaml", semantics: requird"#),
            "there is no kind of semantics `requird`, did you mean `required`?"
        );
        assert_eq!(refused(r#""a.yaml", spec: "b.yaml""#), "`spec` is given twice");
        assert_eq!(refused(r#""a.yaml", text: true, text: false"#), "`text` is given twice");
        assert!(refused("").starts_with("no specification is named"));
        assert!(refused("42").starts_with("expected the path of a specification"));
        assert!(refused(r#""a.yaml", xyzzy: 1"#).ends_with("or `core`"));
    }
}
