//! `isaforge gen`: generates a crate from a specification.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use isaforge_compiler::backend::rust::Options;
use isaforge_compiler::build::taken_crate_name;
use isaforge_compiler::{Settings, compile};

use clap::ValueEnum;

use crate::args::{GenArgs, Semantics};
use crate::failure::{Failure, Status};
use crate::output::{say, write_whole};
use crate::paint::{ERROR, GOOD, HELP, paint};
use crate::specification;
use crate::watch;

/// Runs `gen`.
///
/// # Errors
/// When a file cannot be read or written.
pub fn generate(args: &GenArgs) -> Result<Status, Failure> {
    let (jobs, member) = match (&args.spec, &args.output) {
        (Some(spec), Some(output)) => (vec![(spec.clone(), output.clone())], false),
        _ => {
            let root = project_root()?;
            // Where the specifications are those of isaforge itself, its workspace says where the crates' dependencies
            // are.
            (all(&root)?, is_workspace_of_core(&root))
        }
    };
    if args.watch {
        return watch::watch(jobs.into_iter().map(|(spec, output)| again(spec, &output, args)).collect());
    }
    if member && args.core.is_some() {
        let help = "leave out `--core`";
        return Err(Failure::usage("the workspace's Cargo.toml already says where isaforge-core is", help));
    }
    let mut wrong = 0;
    let total = jobs.len();
    for (spec, output) in jobs {
        let command = if args.all { "isaforge gen --all".to_owned() } else { command(&spec, &output, args) };
        let (generation, core) = (args.generation.clone(), args.core.clone());
        let semantics = args.semantics;
        let job = Job { spec, generation, output, semantics, core, check: args.check, member, command };
        if job.run()? == Status::Mistakes {
            wrong += 1;
        }
    }
    if total > 1 && wrong > 0 {
        let what = if args.check { "are not up to date" } else { "were not written" };
        say(&format!("{}: {wrong} of {total} crates {what}", paint(ERROR, "error")));
    }
    Ok(Status::mistakes_if(wrong > 0))
}

/// The job that regenerates the crate whenever the specification changes.
fn again(spec: PathBuf, output: &Path, args: &GenArgs) -> watch::Job {
    let what = if args.all { vec!["--all".into()] } else { vec![spec.clone().into(), "-o".into(), output.into()] };
    let style = args.semantics.to_possible_value().map(|style| ["--semantics".into(), style.get_name().into()]);
    let generation = args.generation.iter().flat_map(|generation| ["--generation".into(), generation.into()]);
    let core = args.core.iter().flat_map(|core| {
        let mut path = OsString::from("path=");
        path.push(core);
        ["--core".into(), path]
    });
    watch::Job {
        spec,
        arguments: what.into_iter().chain(style.into_iter().flatten()).chain(generation).chain(core).collect(),
    }
}

/// The command line that generates the crate.
fn command(spec: &Path, output: &Path, args: &GenArgs) -> String {
    let mut command = format!("isaforge gen {} -o {}", quoted(spec), quoted(output));
    if let Some(generation) = &args.generation {
        command.push_str(&format!(" --generation {}", quoted(Path::new(generation))));
    }
    match args.semantics {
        Semantics::Default => {}
        Semantics::Required => command.push_str(" --semantics required"),
        Semantics::None => command.push_str(" --semantics none"),
    }
    command
}

/// Quotes a path for a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@%=,~".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// The current folder or its nearest ancestor that contains `specs/`.
fn project_root() -> Result<PathBuf, Failure> {
    let here = std::env::current_dir().map_err(Failure::reading(Path::new(".")))?;
    here.ancestors().find(|folder| !specs_in(folder).is_empty()).map(Path::to_owned).ok_or_else(|| {
        let help = "run it in the project's folder, or name one specification: `isaforge gen SPEC -o DIR`";
        Failure::usage("there is no folder `specs/` with specifications here or above", help)
    })
}

/// Whether a folder holds a workspace that gives its members a version and isaforge-core.
fn is_workspace_of_core(root: &Path) -> bool {
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap_or_default();
    let has = |start: &str| manifest.lines().any(|line| line.trim_start().starts_with(start));
    has("[workspace.package]") && has("[workspace.dependencies]") && has("isaforge-core")
}

/// The names of the specifications in `root/specs`, sorted.
pub fn specs_in(root: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(root.join("specs")) else { return Vec::new() };
    let with_spec = entries.filter_map(Result::ok).filter(|entry| entry.path().join("isa.yaml").is_file());
    let mut names: Vec<String> = with_spec.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

fn all(root: &Path) -> Result<Vec<(PathBuf, PathBuf)>, Failure> {
    // Relative paths are shorter in messages and can be copied.
    let base = if std::env::current_dir().is_ok_and(|here| here == root) { Path::new("") } else { root };
    let job = |name: String| (base.join("specs").join(&name).join("isa.yaml"), base.join("generated").join(&name));
    Ok(specs_in(root).into_iter().map(job).collect())
}

/// A specification to compile.
struct Job {
    spec: PathBuf,
    /// The hardware generation, if one was selected.
    generation: Option<String>,
    output: PathBuf,
    semantics: Semantics,
    /// The folder of isaforge-core, if not taken from the registry.
    core: Option<PathBuf>,
    check: bool,
    /// Whether the crate is a member of the project's workspace.
    member: bool,
    command: String,
}

impl Job {
    fn run(&self) -> Result<Status, Failure> {
        let options = Options { semantics: self.semantics.style(), ..Options::default() };
        let settings =
            Settings { options, generation: self.generation.clone(), ..specification::settings(&self.spec)? };
        let compiled = match compile(&settings) {
            Ok(compiled) => compiled,
            Err(failure) => {
                specification::render(&failure.diagnostics, &failure.sources);
                specification::summarise_failure(&settings.spec, &failure.diagnostics);
                return Ok(Status::Mistakes);
            }
        };
        specification::render(&compiled.checked.diagnostics, &compiled.checked.sources);
        let not_rust = |error: &dyn std::fmt::Display| {
            let help = "this is a mistake of isaforge: please report it together with the specification";
            Failure::usage(format!("{}: the generated code is not Rust: {error}", settings.spec.display()), help)
        };
        let name = self.package_name(&compiled.checked.isa.name).replace('-', "_");
        let source = compiled.source(Some(&name)).map_err(|error| not_rust(&error))?;
        let semantics = compiled.semantics_source(&name).map_err(|error| not_rust(&error))?;
        let isa = &compiled.checked.isa;
        let mut status = Status::Fine;
        let manifest = self.output.join("Cargo.toml");
        if !self.check {
            self.write_manifest(&manifest, &isa.name, &isa.doc, semantics.is_some())?;
        } else if !manifest.exists() {
            // An existing one belongs to the user.
            status = self.outdated(&format!("{} does not exist", manifest.display()));
        }
        for (name, text) in [("lib.rs", Some(source)), ("semantics.rs", semantics)] {
            let Some(text) = text else { continue };
            let file = self.output.join("src").join(name);
            if self.check {
                if self.compare(&file, &text)? == Status::Mistakes {
                    status = Status::Mistakes;
                }
            } else {
                write_source(&file, &text)?;
            }
        }
        Ok(status)
    }

    fn compare(&self, file: &Path, source: &str) -> Result<Status, Failure> {
        let problem = match fs::read(file) {
            Ok(old) if old == source.as_bytes() => {
                say(&format!("{}: {}", file.display(), paint(GOOD, "up to date")));
                return Ok(Status::Fine);
            }
            Ok(old) => {
                let old = String::from_utf8_lossy(&old);
                let same = old.lines().zip(source.lines()).take_while(|(old, new)| old == new).count();
                format!("{} is not what `{}` gives: line {} differs", file.display(), self.spec.display(), same + 1)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => format!("{} does not exist", file.display()),
            Err(error) => return Err(Failure::reading(file)(error)),
        };
        Ok(self.outdated(&problem))
    }

    fn outdated(&self, problem: &str) -> Status {
        say(&format!("{}: {problem}\n  {}: {}", paint(ERROR, "error"), paint(HELP, "run"), self.command));
        Status::Mistakes
    }

    fn write_manifest(&self, manifest: &Path, name: &str, doc: &str, semantics: bool) -> Result<(), Failure> {
        let folder = self.output.join("src");
        fs::create_dir_all(&folder).map_err(Failure::writing(&folder))?;
        if manifest.exists() {
            let text = fs::read_to_string(manifest).unwrap_or_default();
            if let Some(line) = self.dependency().filter(|line| !text.contains(line.as_str())) {
                let help = paint(HELP, "help");
                say(&format!(
                    "{} is kept\n  {help}: to use this folder, write in it\n\n    {line}\n",
                    manifest.display()
                ));
            }
        } else {
            write_whole(manifest, self.manifest(name, doc, semantics).as_bytes())?;
            say(&format!("wrote {}", manifest.display()));
            if !self.member && self.core.is_none() {
                say(&format!(
                    "{}: to build it with a checkout of isaforge instead of the registry's isaforge-core, add to its \
                     Cargo.toml\n\n    [patch.crates-io]\n    isaforge-core = {{ path = \"isaforge/core\" }}\n\nor write it \
                     with `--core path=isaforge/core`",
                    paint(HELP, "help")
                ));
            }
        }
        Ok(())
    }

    /// The name of the package.
    fn package_name(&self, isa: &str) -> String {
        if self.member { format!("isaforge-{isa}") } else { package_name(&self.output, isa) }
    }

    /// The dependency on isaforge-core in the folder that was given, if one was.
    fn dependency(&self) -> Option<String> {
        let core = self.core.as_ref()?;
        let path = std::path::absolute(core).unwrap_or_else(|_| core.clone());
        let (version, path) = (env!("CARGO_PKG_VERSION"), toml_text(&path.display().to_string()));
        Some(format!("isaforge-core = {{ version = \"{version}\", path = {path} }}"))
    }

    fn manifest(&self, name: &str, doc: &str, semantics: bool) -> String {
        let features =
            if semantics { "[features]\n# What the instructions do, as typed graphs.\nsemantics = []\n\n" } else { "" };
        let version = env!("CARGO_PKG_VERSION");
        if self.member {
            return format!(
                "[package]\nname = \"isaforge-{name}\"\ndescription = {}\nversion.workspace = true\n\
                 edition.workspace = true\nrust-version.workspace = true\nlicense.workspace = true\n\
                 repository.workspace = true\n\n{features}[dependencies]\nisaforge-core.workspace = true\n\n\
                 [lints]\nworkspace = true\n",
                toml_text(&format!("{} Generated from specs/{name} by isaforge.", sentence(doc)))
            );
        }
        let core = self.dependency().unwrap_or_else(|| format!("isaforge-core = {{ version = \"{version}\" }}"));
        let apart = if in_workspace(&self.output) {
            "\n# Not a member of the workspace around it; remove this line to make it one.\n[workspace]\n"
        } else {
            ""
        };
        format!(
            "[package]\nname = {}\ndescription = {}\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             {features}[dependencies]\n{core}\n{apart}",
            toml_text(&self.package_name(name)),
            toml_text(&format!("{} Generated by isaforge.", sentence(doc)))
        )
    }
}

fn write_source(file: &Path, source: &str) -> Result<(), Failure> {
    if fs::read(file).is_ok_and(|old| old == source.as_bytes()) {
        say(&format!("{}: {}", file.display(), paint(GOOD, "up to date")));
    } else {
        write_whole(file, source.as_bytes())?;
        say(&format!("wrote {}", file.display()));
    }
    Ok(())
}

/// Whether an ancestor contains a package or workspace, of which Cargo would take the new crate for a member.
fn in_workspace(folder: &Path) -> bool {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.ancestors().skip(1).any(|above| above.join("Cargo.toml").is_file())
}

/// The first line of a doc comment, with a full stop.
fn sentence(doc: &str) -> String {
    let first = doc.lines().next().unwrap_or_default().trim().trim_end_matches('.');
    if first.is_empty() { "An instruction set.".to_owned() } else { format!("{first}.") }
}

/// The package name: that of the folder if a crate can have it, else that of the instruction set.
fn package_name(folder: &Path, isa: &str) -> String {
    let good = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
            && taken_crate_name(name).is_none()
    };
    let folder = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let tidy = |name: &str| name.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    if good(folder) { folder.to_owned() } else { format!("isa-{}", tidy(isa)) }
}

/// Formats a TOML basic string.
fn toml_text(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04x}", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
