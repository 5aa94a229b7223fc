//! Expands the macro's arguments to a module.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use isaforge_compiler::build::{
    MESSAGE_STYLE, SearchFolder, find, mistakes, module, module_attributes, module_ident, module_name, write_if_changed,
};
use isaforge_compiler::diagnostic::{Diagnostics, Severity, Style};
use isaforge_compiler::{Compiled, Failure, Settings, compile};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::LitStr;

use crate::input::Input;

/// The environment variable with the folder for expansions.
const EXPAND_DIR: &str = "ISAFORGE_EXPAND_DIR";

/// Expands the macro, called from `file`.
pub fn expand(input: &Input, file: Option<&Path>) -> TokenStream {
    let places = places(file);
    let found = match find(Path::new(&input.spec.value()), &places) {
        Ok(found) => found,
        Err(message) => return error(&input.spec, &message, input.module.as_ref(), &[]),
    };
    let settings =
        Settings { spec: found.spec, root: Some(found.folder), options: input.options.clone(), ..Settings::default() };
    match compile(&settings) {
        Ok(compiled) => expand_compiled(input, &compiled),
        Err(failure) => {
            let name = input.module.clone().or_else(|| declared_name(&failure, &input.spec));
            let message = mistakes(Path::new(&input.spec.value()), &failure);
            error(&input.spec, &message, name.as_ref(), &failure.files())
        }
    }
}

/// The places to search for the specification: the root of the crate, then the folder of the source file.
fn places(file: Option<&Path>) -> Vec<SearchFolder> {
    let root = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let root = root.map(|folder| SearchFolder { folder, what: "in the root of the crate".to_owned() });
    let beside = file.and_then(|file| {
        let what = format!("beside `{}`", file.file_name()?.to_string_lossy());
        // A relative path is relative to the compiler's working directory, which is also ours.
        Some(SearchFolder { folder: std::path::absolute(file).ok()?.parent()?.to_owned(), what })
    });
    root.into_iter().chain(beside).collect()
}

fn expand_compiled(input: &Input, compiled: &Compiled) -> TokenStream {
    let files = &compiled.checked.files;
    let fallback = || module_ident(&module_name(&compiled.checked.isa.name), input.spec.span());
    let name = match input.module.clone().map_or_else(fallback, Ok) {
        Ok(name) => name,
        Err(message) => return error(&input.spec, &message, None, files),
    };
    let module = match env::var_os(EXPAND_DIR).filter(|folder| !folder.is_empty()) {
        Some(folder) => match module_in_file(Path::new(&folder), compiled, &name) {
            Ok(module) => module,
            Err(message) => return error(&input.spec, &message, Some(&name), files),
        },
        None => module(compiled, &name),
    };
    let dependencies = dependencies(files);
    let warnings = warnings(&input.spec, compiled);
    quote! {
        #module
        const _: () = {
            #dependencies
            #warnings
        };
    }
}

/// Writes the module to a file and declares it with that path.
fn module_in_file(folder: &Path, compiled: &Compiled, name: &Ident) -> Result<TokenStream, String> {
    let problem = |what: &dyn std::fmt::Display| format!("{EXPAND_DIR} is set, but its file cannot be written: {what}");
    let folder = std::path::absolute(folder).map_err(|error| problem(&error))?;
    // Two crates, or a crate and its tests, may have modules with the same name.
    let owner = env::var("CARGO_CRATE_NAME").unwrap_or_else(|_| "crate".to_owned());
    let path = folder.join(format!("{owner}-{name}.rs"));
    let text = compiled.source(None).map_err(|error| problem(&error))?;
    std::fs::create_dir_all(&folder).map_err(|error| problem(&error))?;
    write_if_changed(&path, &text).map_err(|error| problem(&error))?;
    let path = path.to_str().ok_or_else(|| problem(&"its path is not text"))?;
    let attributes = module_attributes(compiled);
    // Unlike `include!`, this is also allowed in a function.
    Ok(quote! {
        #attributes
        #[path = #path]
        pub mod #name;
    })
}

/// Makes the crate depend on the files of the specification.
fn dependencies(files: &[PathBuf]) -> TokenStream {
    // A path that is not UTF-8 cannot be written in Rust.
    let files = files.iter().filter_map(|file| file.to_str());
    quote! {
        #(const _: &[u8] = ::core::include_bytes!(#files);)*
        const _: ::core::option::Option<&str> = ::core::option_env!(#EXPAND_DIR);
    }
}

/// Turns the warnings of a specification into compiler warnings, one for each code. On stable, the only way for a macro
/// to warn is to use something deprecated.
fn warnings(spec: &LitStr, compiled: &Compiled) -> TokenStream {
    let mut by_code: BTreeMap<&str, Diagnostics> = BTreeMap::new();
    for found in compiled.checked.diagnostics.iter().filter(|found| found.severity == Severity::Warning) {
        by_code.entry(found.code).or_default().push(found.clone());
    }
    let items = by_code.into_iter().map(|(code, found)| {
        let name = format_ident!("{code}", span = spec.span());
        // A few examples are enough; `isaforge check` shows them all.
        let style = Style { cap: 3, ..MESSAGE_STYLE };
        let text = format!("\n{}\n", found.render(&compiled.checked.sources, style));
        quote_spanned! { spec.span() =>
            #[deprecated(note = #text)]
            struct #name;
            let _ = #name;
        }
    });
    quote!(#(#items)*)
}

/// A compile error at the path of the specification, and an empty module to avoid follow-up errors.
fn error(spec: &LitStr, message: &str, module: Option<&Ident>, files: &[PathBuf]) -> TokenStream {
    let module = module.map(|name| {
        quote! {
            /// Empty, because the specification has mistakes.
            pub mod #name {}
        }
    });
    let dependencies = dependencies(files);
    let error = quote_spanned! { spec.span() => ::core::compile_error! { #message } };
    quote! {
        #error
        #module
        const _: () = { #dependencies };
    }
}

/// The name in a specification with errors, found without parsing the YAML.
fn declared_name(failure: &Failure, spec: &LitStr) -> Option<Ident> {
    let text = std::fs::read_to_string(failure.files().first()?).ok()?;
    let name = text.lines().find_map(|line| line.strip_prefix("isa:"))?;
    let name = name.split('#').next()?.trim().trim_matches(['"', '\'']);
    module_ident(&module_name(name), spec.span()).ok()
}
