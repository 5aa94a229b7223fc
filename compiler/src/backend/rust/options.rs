//! What to generate.

/// The style of the generated semantics stubs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SemanticsStyle {
    /// Methods have default bodies that return `Unimplemented`, for an emulator in progress.
    #[default]
    Default,
    /// Methods have no default bodies, so that omitting one is a compile error.
    Required,
    /// No trait.
    None,
}

/// What to generate.
#[derive(Clone, Debug)]
pub struct Options {
    /// The path of `isaforge-core` in the generated code.
    pub runtime: String,
    /// The semantics stubs.
    pub semantics: SemanticsStyle,
    /// Whether instructions print and parse.
    pub text: bool,
    /// Whether to generate property tests.
    pub tests: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { runtime: "::isaforge_core".to_owned(), semantics: SemanticsStyle::default(), text: true, tests: true }
    }
}
