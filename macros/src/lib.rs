//! The `isa!` macro, a thin wrapper around the [spec compiler](isaforge_compiler). Crates use it through the facade,
//! `isaforge`.
#![forbid(unsafe_code)]

mod expand;
mod input;

use proc_macro::TokenStream;

/// Compiles the specification of an instruction set into a module.
///
/// ```
/// isaforge::isa! { "../tests/specs/blink.yaml" }
///
/// let set: blink::Instruction = "SET.u8.lit l3, #200".parse()?;
/// assert_eq!(blink::decode(set.encode())?, set);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The path is relative to the root of the crate, or else to the folder of the source file. The module is named after
/// the `isa:` of the specification, with `_` for `-`. It is recompiled whenever a file of the specification changes.
///
/// Errors in the specification become compile errors with the place in the specification and a suggestion. Its warnings
/// become compiler warnings, one for each kind. These are reported as uses of a deprecated item, for want of a better
/// way; `#![allow(deprecated)]` in a module around the macro silences them.
///
/// # Options
///
/// ```
/// isaforge::isa! {
///     spec: "../tests/specs/blink.yaml",
///     module: lamps,
///     semantics: required,
///     tests: false,
/// }
///
/// assert_eq!(lamps::Opcode::COUNT, 7);
/// ```
///
/// | key | value | |
/// |---|---|---|
/// | `spec` | a path | the entry of the specification; the path may also come first, without the key |
/// | `module` | a name | the name of the module |
/// | `semantics` | `default` | the trait `Semantics` has bodies that return `Unimplemented`, for an emulator in progress |
/// | | `required` | its methods have no bodies, so a missing instruction is a compile error |
/// | | `none` | there is no such trait; nor has a set of groups or of instructions of several lengths one |
/// | `text` | `true`, `false` | whether instructions print and parse; true by default |
/// | `tests` | `true`, `false` | whether property tests are generated, for `cargo test` to run; true by default |
/// | `core` | a path | the path of `isaforge_core`, for crates without `isaforge`; `::isaforge::core` by default |
///
/// # Inspecting the expansion
///
/// If the environment variable `ISAFORGE_EXPAND_DIR` is set to a folder, the module is written to a file there and
/// compiled from it, so that messages of the Rust compiler refer to lines that can be read. A relative path is relative
/// to the root of the workspace.
#[proc_macro]
pub fn isa(input: TokenStream) -> TokenStream {
    // The path of the source file. An editor that keeps the text in memory may not know it.
    let file = proc_macro::Span::call_site().local_file();
    match syn::parse::<input::Input>(input) {
        Ok(input) => expand::expand(&input, file.as_deref()),
        Err(error) => error.to_compile_error(),
    }
    .into()
}
