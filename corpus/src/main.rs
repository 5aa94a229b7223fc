//! The `isaforge-corpus` command.

fn main() -> std::process::ExitCode {
    isaforge_corpus::command::main()
}
