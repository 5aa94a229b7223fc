//! Shell completion and man pages.
//!
//! The scripts of `isaforge completions` call the command itself for candidates, so that it can propose the
//! instructions of the set named before the cursor, whether built in or a specification.
//!
//! Where a file may stand, the command answers [`FILES`], and the scripts of Bash, Zsh and Fish let the shell complete
//! names of files: it knows how to quote them, and what `~` and variables stand for.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;

use clap::{Arg, CommandFactory, ValueHint};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};
use clap_complete::env::{Bash, CompleteEnv, Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh};

use crate::args::{Cli, Shell, parser};
use crate::failure::Failure;

/// The environment variable that requests completion and names the shell.
const ASKED: &str = "ISAFORGE_COMPLETE";

/// The candidate that stands for names of files. What precedes it is an option with `=`.
const FILES: &str = "<files>";

/// The shells with scripts of our own.
const SCRIPTED: [Scripted<'static>; 3] = [
    Scripted { shell: &Bash, script: include_str!("completion/isaforge.bash") },
    Scripted { shell: &Zsh, script: include_str!("completion/isaforge.zsh") },
    Scripted { shell: &Fish, script: include_str!("completion/isaforge.fish") },
];

const SHELLS: Shells<'static> = Shells(&[&SCRIPTED[0], &SCRIPTED[1], &SCRIPTED[2], &Elvish, &Powershell]);

/// A shell that is answered as clap does, by a script of our own.
struct Scripted<'s> {
    shell: &'s (dyn EnvCompleter + Sync),
    script: &'static str,
}

impl EnvCompleter for Scripted<'_> {
    fn name(&self) -> &'static str {
        self.shell.name()
    }

    fn is(&self, name: &str) -> bool {
        self.shell.is(name)
    }

    fn write_registration(&self, var: &str, _: &str, _: &str, _: &str, to: &mut dyn Write) -> io::Result<()> {
        to.write_all(self.script.replace("ASKED", var).replace("FILES", FILES).as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut clap::Command,
        words: Vec<OsString>,
        folder: Option<&Path>,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        self.shell.write_complete(command, words, folder, to)
    }
}

/// Answers a completion request of a shell. Returns `false` if there is none.
pub fn answered() -> bool {
    let scripted = std::env::var(ASKED).is_ok_and(|shell| SCRIPTED.iter().any(|known| known.is(&shell)));
    let command = || {
        let with_spec = parser::names_specification(&std::env::args_os().skip(2).collect::<Vec<OsString>>());
        let with_files = |argument| with_files(argument, scripted);
        parser::command_line(with_spec).mut_subcommands(|command| command.mut_args(with_files))
    };
    let asked = CompleteEnv::with_factory(command).var(ASKED).shells(SHELLS);
    asked.try_complete(std::env::args_os(), std::env::current_dir().ok().as_deref()).unwrap_or(true)
}

/// Adds names of files to the candidates of an argument that takes a path.
fn with_files(argument: Arg, scripted: bool) -> Arg {
    if argument.get_value_hint() != ValueHint::AnyPath {
        return argument;
    }
    let others = argument.get::<ArgValueCompleter>().cloned();
    argument.add(ArgValueCompleter::new(move |current: &OsStr| {
        let mut all = others.as_ref().map_or_else(Vec::new, |others| others.complete(current));
        if scripted {
            all.push(CompletionCandidate::new(FILES));
        } else {
            all.extend(PathCompleter::any().complete(current));
        }
        all
    }))
}

/// Prints the completion script for a shell.
///
/// # Errors
/// When the script cannot be written.
pub fn script(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    if let Some(shell) = SHELLS.completer(shell.name()) {
        shell.write_registration(ASKED, "isaforge", "isaforge", "isaforge", &mut script)?;
    }
    Ok(io::stdout().write_all(&script)?)
}

/// Writes a man page for each command to a folder.
///
/// # Errors
/// When a page cannot be written.
pub fn pages(folder: &Path) -> Result<(), Failure> {
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Cli::command(), folder));
    written.map_err(Failure::writing(folder))
}
