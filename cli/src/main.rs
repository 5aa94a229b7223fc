//! The `isaforge` command.

fn main() -> std::process::ExitCode {
    isaforge_cli::main()
}
