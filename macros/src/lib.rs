//! The `isa!` macro: a thin door to the [spec compiler](isaforge_compiler). Crates take it from the facade, `isaforge`.
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
/// The path is relative to the root of the crate, or else to the folder of the source file. The module is called as the
/// specification says under `isa:`, with `_` for `-`. It is compiled anew whenever a file of the specification changes.
///
/// Mistakes in the specification are compile errors with the place in the specification and what to do about it; its
/// warnings are warnings of the compiler, one for each kind (as uses of something deprecated, for want of a better way:
/// `#![allow(deprecated)]` in a module around the macro silences them).
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
/// | `spec` | a path | the entry of the specification; a path alone may also stand first, without the key |
/// | `module` | a name | what the module is called |
/// | `semantics` | `default` | the trait `Semantics` has bodies that return `Unimplemented`, for an emulator in progress |
/// | | `required` | it has none, and forgetting an instruction is a compile error |
/// | | `none` | there is no such trait |
/// | `text` | `true`, `false` | whether instructions print and parse; they do if nothing is said |
/// | `tests` | `true`, `false` | whether property tests are generated along, which `cargo test` runs; they are if nothing is said |
/// | `core` | a path | where `isaforge_core` is, for crates that do not depend on `isaforge`; else `::isaforge::core` |
///
/// # To see what it expands to
///
/// With the environment variable `ISAFORGE_EXPAND_DIR` set to a folder, the module is written to a file there and taken
/// from it, so that messages of the Rust compiler point at lines that can be read. A relative path counts from the root of
/// the workspace.
#[proc_macro]
pub fn isa(input: TokenStream) -> TokenStream {
    // Where the source file is; an editor that keeps the text in memory may not know.
    let file = proc_macro::Span::call_site().local_file();
    match syn::parse::<input::Input>(input) {
        Ok(input) => expand::expand(&input, file.as_deref()),
        Err(error) => error.to_compile_error(),
    }
    .into()
}
