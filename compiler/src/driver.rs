//! From a specification to generated code in one call: the common entry point of the macro, the command line and
//! `build.rs`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;

use crate::backend::rust::examples::{Crate, examples, front};
use crate::backend::rust::{Options, SemanticsStyle, emit};
use crate::check::{check, check_definitions};
use crate::diagnostic::{Diagnostic, Diagnostics, Style};
use crate::lower::{Lowered, lower};
use crate::model::{Encoding, Isa};
use crate::read::{self, Request};
use crate::resolve::resolve;
use crate::semantics;
use crate::source::Sources;
use crate::stream::model::NoGeneration;

/// What to compile and how.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The entry of the specification.
    pub spec: PathBuf,
    /// Paths in messages are relative to this.
    pub root: Option<PathBuf>,
    /// The generation to compile. A reader of a foreign format may read only that part of a document. A specification
    /// in isaforge's own format is read and checked whole, and only the output is limited to the generation.
    pub generation: Option<String>,
    /// What to generate.
    pub options: Options,
    /// Whether a warning stops compilation.
    pub deny_warnings: bool,
    /// Texts that replace files, keyed by canonical path: unsaved editor contents, or a specification from a pipe.
    pub unsaved: HashMap<PathBuf, String>,
}

impl Settings {
    /// Settings for the specification at `spec`, with defaults for everything else.
    pub fn new(spec: impl Into<PathBuf>) -> Self {
        Settings { spec: spec.into(), ..Settings::default() }
    }

    /// The format of the entry; `None` for a specification of our own.
    pub fn format(&self) -> Option<&'static read::Format> {
        let unsaved = std::path::absolute(&self.spec).ok().and_then(|path| self.unsaved.get(&path));
        match unsaved {
            Some(text) => read::format_of_text(&self.spec, text.as_bytes()),
            None => read::format_of(&self.spec),
        }
    }
}

/// A specification that passed its checks.
#[derive(Debug)]
pub struct Checked {
    /// The model.
    pub isa: Isa,
    /// Every file that was read, the entry first.
    pub files: Vec<PathBuf>,
    /// Warnings.
    pub diagnostics: Diagnostics,
    /// The texts that warnings point into.
    pub sources: Sources,
}

/// Why a specification did not compile.
#[derive(Debug)]
pub struct Failure {
    /// What is wrong.
    pub diagnostics: Diagnostics,
    /// The texts that the diagnostics point into.
    pub sources: Sources,
}

impl Failure {
    /// Renders all messages as text.
    pub fn render(&self, style: Style) -> String {
        self.diagnostics.render(&self.sources, style)
    }

    /// Every file that was read before compilation failed.
    pub fn files(&self) -> Vec<PathBuf> {
        self.sources.paths().map(Path::to_owned).collect()
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.render(Style::default()))
    }
}

impl std::error::Error for Failure {}

/// Reads and checks a specification.
///
/// # Errors
/// Returns every mistake found in it.
pub fn check_spec(settings: &Settings) -> Result<Checked, Box<Failure>> {
    let mut sources = match &settings.root {
        Some(root) => Sources::with_root(root),
        None => Sources::new(),
    };
    sources.unsaved.clone_from(&settings.unsaved);
    let mut diagnostics = Diagnostics::default();
    let isa = match settings.format() {
        Some(format) => {
            let generation = settings.generation.as_deref();
            (format.read)(Request { path: &settings.spec, generation, sources: &mut sources, out: &mut diagnostics })
        }
        None => resolve(&settings.spec, &mut sources, &mut diagnostics),
    };
    if let Some(isa) = isa {
        match &isa.encoding {
            Encoding::Words => check(&isa, &mut diagnostics),
            // The checks would report the gaps that earlier mistakes left in groups and layouts as further mistakes.
            Encoding::Groups(_) | Encoding::Stream(_) if diagnostics.has_errors() => {}
            Encoding::Groups(groups) => {
                check_definitions(&isa, &mut diagnostics);
                crate::group::check::check(&isa, groups, &mut diagnostics);
            }
            Encoding::Stream(stream) => {
                check_definitions(&isa, &mut diagnostics);
                crate::stream::check::check(&isa, stream, &mut diagnostics);
            }
        }
        if let Some(found) = isa.semantics.as_ref().filter(|_| !diagnostics.has_errors()) {
            semantics::check::unused(&isa, found, &mut diagnostics);
            semantics::branches::check(&isa, found, &mut diagnostics);
        }
        if settings.deny_warnings {
            diagnostics.warnings_as_errors();
        }
        diagnostics.finish();
        if !diagnostics.has_errors() {
            let files = sources.paths().map(Path::to_owned).collect();
            return Ok(Checked { isa, files, diagnostics, sources });
        }
    }
    diagnostics.finish();
    Err(Box::new(Failure { diagnostics, sources }))
}

/// A compiled specification.
#[derive(Debug)]
pub struct Compiled {
    /// The checked specification.
    pub checked: Checked,
    /// The tables in memory.
    pub lowered: Lowered,
    /// The meaning of the instructions, if the specification defines it.
    pub semantics: Option<&'static isaforge_core::semantics::Semantics>,
    /// The machine that executes programs, if the specification defines what instructions do.
    pub hardware: Option<&'static isaforge_core::machine::Hardware>,
    /// The style of the semantics stubs; `None` where instructions neither print nor parse, so that there are no
    /// examples.
    documented: Option<SemanticsStyle>,
    /// The items of the generated module.
    pub tokens: TokenStream,
    /// The same items without the meaning of the instructions.
    decoding: TokenStream,
    /// The meaning of the instructions, and the machine.
    meaning: TokenStream,
}

impl Compiled {
    /// Whether the generated module has a `Machine`.
    fn has_machine(&self) -> bool {
        self.checked.isa.machine.as_ref().is_some_and(|machine| machine.declared)
    }

    /// The input for the examples of a crate called `name`.
    fn krate<'a>(&'a self, name: &'a str) -> Option<Crate<'a>> {
        let hardware = self.hardware.filter(|_| self.has_machine());
        Some(Crate {
            name,
            tables: self.lowered.tables(),
            meaning: self.semantics.map(|semantics| (semantics, hardware)),
            library: self.checked.isa.semantics.as_ref().map(|semantics| &semantics.library),
            style: self.documented?,
        })
    }

    /// Returns the generated module as formatted source with a header. If a crate name is given, the source is the root
    /// of a crate of that name, with crate attributes and a front page.
    ///
    /// # Errors
    /// When the generated code is not valid Rust, which would be a bug in this crate.
    pub fn source(&self, crate_name: Option<&str>) -> Result<String, syn::Error> {
        let tokens = if crate_name.is_some() { &self.decoding } else { &self.tokens };
        let mut file: syn::File = syn::parse2(tokens.clone())?;
        let mut text = String::new();
        if let Some(of) = crate_name.and_then(|name| self.krate(name)) {
            examples(of).attach(&mut file.items);
            let page = front(of, &self.checked.isa.doc);
            page.lines().for_each(|line| text.push_str(&format!("//!{line}\n")));
        }
        text.push_str("// @generated by isaforge from a specification. Do not edit; change the specification.\n");
        if crate_name.is_some() {
            text.push_str("#![no_std]\n#![forbid(unsafe_code)]\n#![allow(non_camel_case_types, clippy::all, reason = \"generated\")]\n");
            // Generated files keep the compiler's formatting.
            text.push_str("#![cfg_attr(rustfmt, rustfmt_skip)]\n\n");
        }
        if crate_name.is_some() && self.semantics.is_some() {
            text.push_str("#[cfg(feature = \"semantics\")]\npub mod semantics;\n");
            if self.has_machine() {
                text.push_str(
                    "#[cfg(feature = \"semantics\")]\nisaforge_core::with_machine! { pub use semantics::Machine; }\n",
                );
            }
        }
        text.push_str(&prettyplease::unparse(&file));
        Ok(text)
    }

    /// Returns the meaning of the instructions as a separate file, `semantics.rs`, next to a crate's root. `None` when
    /// the specification does not define it.
    ///
    /// # Errors
    /// When the generated code is not valid Rust, which would be a bug in this crate.
    pub fn semantics_source(&self, crate_name: &str) -> Result<Option<String>, syn::Error> {
        if self.semantics.is_none() {
            return Ok(None);
        }
        let mut file: syn::File = syn::parse2(self.meaning.clone())?;
        if let Some(of) = self.krate(crate_name) {
            examples(of).attach(&mut file.items);
        }
        let header = "//! What the instructions do.\n\
                      // @generated by isaforge from a specification. Do not edit; change the specification.\n\
                      #![cfg_attr(rustfmt, rustfmt_skip)]\n\n";
        Ok(Some(format!("{header}{}", prettyplease::unparse(&file))))
    }
}

/// Compiles a specification: the common entry point of the macro, the command line and `build.rs`.
///
/// # Errors
/// Returns every mistake found in the specification.
pub fn compile(settings: &Settings) -> Result<Compiled, Box<Failure>> {
    let mut checked = check_spec(settings)?;
    if let Err(refusal) = one_crate(&mut checked.isa, settings.generation.as_deref()) {
        let mut diagnostics = Diagnostics::default();
        diagnostics.push(*refusal);
        diagnostics.finish();
        return Err(Box::new(Failure { diagnostics, sources: checked.sources }));
    }
    let lowered = lower(&checked.isa);
    let found = checked.isa.semantics.as_ref().map(semantics::lower);
    let decoding = emit(&lowered, &settings.options);
    let hardware = crate::machine::lower(&checked.isa);
    let mut meaning = found.map(crate::backend::rust::semantics::emit).unwrap_or_default();
    if let Some(semantics) = &checked.isa.semantics {
        meaning.extend(crate::backend::rust::intrinsics::emit_intrinsics(&semantics.library));
    }
    let mut compiled = Compiled {
        checked,
        lowered,
        semantics: found,
        hardware,
        documented: settings.options.text.then_some(settings.options.semantics),
        tokens: decoding.clone(),
        decoding,
        meaning,
    };
    if let Some(hardware) = hardware.filter(|_| compiled.has_machine()) {
        compiled.meaning.extend(crate::backend::rust::machine::emit(hardware));
        compiled.tokens.extend(quote::quote!(__rt::with_machine! { pub use semantics::Machine; }));
    }
    if found.is_some() {
        let meaning = &compiled.meaning;
        compiled.tokens.extend(quote::quote! {
            /// What the instructions do.
            pub mod semantics { #meaning }
        });
    }
    Ok(compiled)
}

/// Reduces the model to the contents of one crate: all of it, or only the requested generation.
fn one_crate(isa: &mut Isa, wanted: Option<&str>) -> Result<(), Box<Diagnostic>> {
    if let Some(stream) = isa.stream().filter(|stream| stream.sequence.is_some()) {
        let message = "cannot generate a crate for instructions that are sequences of operands";
        let error = match stream.sets.first() {
            Some(set) => Diagnostic::error("E0035", set.span, message).label("the instructions have no layout of bits"),
            None => Diagnostic::error_without_place("E0035", message),
        };
        return Err(Box::new(error.help("`isaforge dis` and `isaforge asm` read and write them with `--spec`")));
    }
    let Some(wanted) = wanted else { return Ok(()) };
    let generation = isa.generation(Some(wanted)).map_err(|NoGeneration { message, help }| {
        Diagnostic::error_without_place("E0101", format!("`{}` {message}", isa.name)).help(help)
    })?;
    if let Some(stream) = isa.stream_mut() {
        stream.keep(generation);
    }
    Ok(())
}
