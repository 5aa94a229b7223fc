//! Compilation within a Cargo build: the code shared by the macro and build scripts, and the entry point for build
//! scripts.
//!
//! A build script of three lines compiles a specification into `OUT_DIR`:
//!
//! ```no_run
//! fn main() {
//!     isaforge_compiler::build::generate("specs/mine.yaml");
//! }
//! ```
//!
//! and the crate takes the module from there with `isaforge::include_isa!("mine")`, or by hand:
//! `include!(concat!(env!("OUT_DIR"), "/mine.rs"));`.
#![allow(clippy::needless_doctest_main, reason = "a build script is shown whole")]

use std::path::{Path, PathBuf};
use std::{env, fs, process};

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::backend::rust::Options;
use crate::backend::rust::idents::{code, doc_text};
use crate::crate_name::is_keyword;
use crate::diagnostic::{Diagnostics, Severity, Style};
use crate::driver::{Compiled, Failure, Settings, compile};
use crate::suggest::{did_you_mean, one_of};

pub use crate::crate_name::{module_name, taken_crate_name};

/// The path of `isaforge-core` for a crate that depends only on the facade `isaforge`.
pub const FACADE_CORE: &str = "::isaforge::core";

/// Compiles a specification from a build script: writes `OUT_DIR/NAME.rs` with a module `NAME`, named after the
/// specification's `isa:`, and tells Cargo which files it depends on.
///
/// If the specification has mistakes, prints them and ends the process with status 1. [`Build`] offers options.
///
/// ```no_run
/// isaforge_compiler::build::generate("specs/mine.yaml");
/// ```
pub fn generate(spec: impl Into<PathBuf>) {
    Build::new(spec).generate();
}

/// A compilation run by a build script, with options.
///
/// ```no_run
/// use isaforge_compiler::build::Build;
/// use isaforge_compiler::backend::rust::SemanticsStyle;
///
/// let mut build = Build::new("specs/mine.yaml");
/// build.module = Some("machine".to_owned());
/// build.options.semantics = SemanticsStyle::Required;
/// build.generate();
/// ```
#[derive(Clone, Debug)]
pub struct Build {
    /// The entry of the specification, or the folder with its `isa.yaml`, relative to the root of the package.
    pub spec: PathBuf,
    /// The name of the module and of the file; defaults to the specification's name.
    pub module: Option<String>,
    /// What to generate. The default reaches `isaforge-core` through the facade, `::isaforge::core`.
    pub options: Options,
    /// Whether warnings stop the build.
    pub deny_warnings: bool,
}

/// What a build script wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The generated file.
    pub path: PathBuf,
    /// The name of the module in it.
    pub module: String,
    /// The files of the specification.
    pub files: Vec<PathBuf>,
    /// Warnings, one line each.
    pub warnings: Vec<String>,
}

/// Why a build script produced no module.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The specification was not found at the given path.
    #[error("{0}")]
    Missing(String),
    /// The specification has mistakes.
    #[error("{}", mistakes(spec, failure))]
    Spec {
        /// The specification's path, as given.
        spec: PathBuf,
        /// What is wrong.
        failure: Box<Failure>,
    },
    /// The name is not a valid name for a Rust module.
    #[error("{0}")]
    Name(String),
    /// The generated code is not valid Rust, which is a bug in the compiler.
    #[error("the generated code is not Rust, which is a bug in isaforge: {0}")]
    Code(syn::Error),
    /// The file cannot be written.
    #[error("`{}` cannot be written: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error from the operating system.
        error: std::io::Error,
    },
}

/// How diagnostics are rendered in build output.
pub const MESSAGE_STYLE: Style = Style { color: false, cap: 30, width: 120 };

impl Build {
    /// A build of the specification at `spec`, with defaults for everything else.
    pub fn new(spec: impl Into<PathBuf>) -> Self {
        let options = Options { runtime: FACADE_CORE.to_owned(), ..Options::default() };
        Build { spec: spec.into(), module: None, options, deny_warnings: false }
    }

    /// Does the same as [`generate`].
    pub fn generate(self) {
        let Some(out) = env::var_os("OUT_DIR") else {
            eprintln!("isaforge: OUT_DIR is not set; `generate` is made for build scripts");
            process::exit(1);
        };
        // Cargo runs build scripts in the root of the package. The variable still names it if the current directory was
        // changed.
        let root = env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from);
        let result = self.write(&root, Path::new(&out));
        let files = match &result {
            Ok(written) => written.files.clone(),
            Err(BuildError::Spec { failure, .. }) => failure.files(),
            Err(_) => vec![root.join(&self.spec)],
        };
        // Cargo's directive format cannot express a path with a line break.
        let can_be_told = |file: &PathBuf| !file.to_string_lossy().contains(['\n', '\r']);
        for file in files.into_iter().filter(can_be_told) {
            println!("cargo::rerun-if-changed={}", file.display());
        }
        match result {
            Ok(written) => written.warnings.iter().for_each(|warning| println!("cargo::warning={warning}")),
            Err(error) => {
                eprintln!("\nisaforge: {error}");
                process::exit(1);
            }
        }
    }

    /// Compiles, and writes the result into the directory `out`. Paths are relative to `root`. Prints nothing.
    ///
    /// # Errors
    /// See [`BuildError`]. If an error occurs, no file is written.
    ///
    /// ```
    /// use isaforge_compiler::build::Build;
    ///
    /// let folder = std::env::temp_dir().join("isaforge-build-example");
    /// std::fs::create_dir_all(&folder)?;
    /// let spec = "isa: tiny\nword: 8\ninstructions: { HALT: { title: stops, fixed: { 7..0: 0 } } }\n";
    /// std::fs::write(folder.join("tiny.yaml"), spec)?;
    /// let written = Build::new("tiny.yaml").write(&folder, &folder)?;
    /// assert_eq!(written.module, "tiny");
    /// assert!(std::fs::read_to_string(folder.join("tiny.rs"))?.contains("pub mod tiny {"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write(&self, root: &Path, out: &Path) -> Result<Written, BuildError> {
        let place = SearchFolder { folder: root.to_owned(), what: "in the root of the package".to_owned() };
        let spec = find(&self.spec, &[place]).map_err(BuildError::Missing)?.spec;
        let settings = Settings {
            root: Some(root.to_owned()),
            options: self.options.clone(),
            deny_warnings: self.deny_warnings,
            ..Settings::new(spec)
        };
        let compiled = compile(&settings).map_err(|failure| BuildError::Spec { spec: self.spec.clone(), failure })?;
        let name = match &self.module {
            Some(name) => name.clone(),
            None => module_name(&compiled.checked.isa.name),
        };
        let ident = module_ident(&name, Span::call_site()).map_err(BuildError::Name)?;
        let source = module_source(&compiled, &ident).map_err(BuildError::Code)?;
        let path = out.join(format!("{name}.rs"));
        write_if_changed(&path, &source).map_err(|error| BuildError::Write { path: path.clone(), error })?;
        Ok(Written { path, module: name, warnings: warnings(&compiled), files: compiled.checked.files })
    }
}

/// Formats the errors of the specification `spec` as a message with a heading. Warnings are not shown until it
/// compiles.
pub fn mistakes(spec: &Path, failure: &Failure) -> String {
    let mut errors = Diagnostics::new();
    errors.extend(failure.diagnostics.iter().filter(|found| found.severity == Severity::Error).cloned());
    let count = match errors.error_count() {
        1 => "a mistake".to_owned(),
        count => format!("{count} mistakes"),
    };
    let drawn = errors.render(&failure.sources, MESSAGE_STYLE);
    format!("the specification `{}` has {count}\n\n{drawn}\n", spec.display())
}

/// Writes a file unless it already has this text, so that its modification time changes only when the text does.
///
/// # Errors
/// Returns the error from the operating system.
pub fn write_if_changed(path: &Path, text: &str) -> std::io::Result<()> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    // A concurrent compiler may be reading the file; it must never see a partial one.
    let draft = path.with_extension(format!("{}.draft", process::id()));
    fs::write(&draft, text)?;
    fs::rename(&draft, path)
}

/// The warnings of a compilation, one line each: `isa.yaml:3:5: W0203: …`.
pub fn warnings(compiled: &Compiled) -> Vec<String> {
    let (sources, found) = (&compiled.checked.sources, &compiled.checked.diagnostics);
    let warnings = found.iter().filter(|found| found.severity == Severity::Warning);
    // Text after a line break in a message would be taken as another directive to Cargo.
    let in_one_line = |text: String| text.replace(['\n', '\r'], " ");
    let lines = warnings.map(|found| match found.primary {
        Some(span) => {
            let (line, column) = sources.line_column(span);
            format!("{}:{line}:{column}: {}: {}", sources.path(span.file).display(), found.code, found.message)
        }
        None => format!("{}: {}", found.code, found.message),
    });
    lines.map(in_one_line).collect()
}

/// Parses the name of a module as an identifier.
///
/// # Errors
/// When the name cannot be that of a module: it is a keyword, or starts with a digit.
pub fn module_ident(name: &str, span: Span) -> Result<Ident, String> {
    let ident = syn::parse_str(name).ok().filter(|_| !is_keyword(name));
    let mut ident: Ident =
        ident.ok_or_else(|| format!("`{name}` is not a valid module name: give another with `module`"))?;
    ident.set_span(span);
    Ok(ident)
}

/// The generated code as a module called `name`, with documentation and with the surrounding crate's lints switched
/// off.
pub fn module(compiled: &Compiled, name: &Ident) -> TokenStream {
    let attributes = module_attributes(compiled);
    let items = &compiled.tokens;
    quote! {
        #attributes
        pub mod #name { #items }
    }
}

/// The attributes of [`module`].
pub fn module_attributes(compiled: &Compiled) -> TokenStream {
    let Compiled { checked, .. } = compiled;
    let title = doc_text(if checked.isa.doc.trim().is_empty() { &checked.isa.name } else { &checked.isa.doc });
    let entry = checked.files.first().and_then(|file| file.file_name()).map(|name| name.to_string_lossy().into_owned());
    let source = doc_text(&format!("Generated by isaforge from {}.", code(&entry.unwrap_or_default())));
    // The surrounding crate's lints may be strict, but its author cannot fix generated code and need not use all of it.
    quote! {
        #[doc = #title]
        #[doc = ""]
        #[doc = #source]
        #[forbid(unsafe_code)]
        #[allow(
            dead_code,
            non_camel_case_types,
            unreachable_pub,
            unused_imports,
            unused_parens,
            unused_qualifications,
            clippy::all,
            clippy::pedantic,
            clippy::nursery,
            reason = "generated"
        )]
    }
}

/// [`module`] as formatted source.
///
/// # Errors
/// When the generated code is not valid Rust, which would be a bug in this crate.
pub fn module_source(compiled: &Compiled, name: &Ident) -> Result<String, syn::Error> {
    let file: syn::File = syn::parse2(module(compiled, name))?;
    let note = "// @generated by isaforge from a specification. Do not edit; change the specification.\n";
    Ok(format!("{note}{}", prettyplease::unparse(&file)))
}

/// A place to look for a specification.
#[derive(Clone, Debug)]
pub struct SearchFolder {
    /// The folder that its path is relative to.
    pub folder: PathBuf,
    /// A description of the folder for the message that reports a missing specification: "in the root of the crate".
    pub what: String,
}

/// Where a specification was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The entry.
    pub spec: PathBuf,
    /// The folder that its path was relative to.
    pub folder: PathBuf,
}

/// Looks for a specification in several places and returns the first match. A folder stands for its `isa.yaml`.
///
/// # Errors
/// Returns a message that lists all places, and suggests a file found there with a similar name.
pub fn find(path: &Path, places: &[SearchFolder]) -> Result<Found, String> {
    for SearchFolder { folder, .. } in places {
        let spec = folder.join(path);
        let inside = spec.join("isa.yaml");
        if let Some(spec) = [spec, inside].into_iter().find(|file| file.is_file()) {
            return Ok(Found { spec, folder: folder.clone() });
        }
    }
    let what: Vec<&str> = places.iter().map(|place| place.what.as_str()).collect();
    let places_text = match what.as_slice() {
        [] => "anywhere".to_owned(),
        [only] => (*only).to_owned(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    };
    let mut message = format!("there is no specification `{}` {places_text}", path.display());
    let near = similar_files(path, places);
    let names = near.iter().map(String::as_str);
    if let Some(name) = did_you_mean(&path.to_string_lossy(), names.clone()) {
        message.push_str(&format!("\ndid you mean `{name}`?"));
    } else if !near.is_empty() {
        message.push_str(&format!("\nthere is {}", one_of(names)));
    }
    Err(message)
}

/// The YAML files in the folders where the specification should be, as paths that `find` accepts.
fn similar_files(path: &Path, places: &[SearchFolder]) -> Vec<String> {
    let mut names = Vec::new();
    for SearchFolder { folder, .. } in places {
        let parent = path.parent().unwrap_or(Path::new(""));
        let Ok(entries) = fs::read_dir(folder.join(parent)) else { continue };
        let yaml = entries.flatten().map(|entry| parent.join(entry.file_name()));
        let yaml = yaml.filter(|file| file.extension().is_some_and(|e| e == "yaml" || e == "yml"));
        names.extend(yaml.map(|file| file.display().to_string()));
    }
    // The order of directory entries is unspecified.
    names.sort();
    names.dedup();
    names
}
