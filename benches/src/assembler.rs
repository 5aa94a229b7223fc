//! GNU as, run as a process on the disassembly of real code.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use disarm64::{InsnDisplay, decoder};
use iced_x86::{Decoder, DecoderOptions, Formatter, GasFormatter};

use crate::code::X86;

/// GNU as with a file to assemble, which is deleted on drop.
#[derive(Debug)]
pub struct GnuAs {
    command: &'static str,
    arguments: &'static [&'static str],
    folder: PathBuf,
    source: PathBuf,
    /// The number of lines of the file.
    pub lines: u64,
}

impl GnuAs {
    /// Sets up the assembler for x86-64, which is present if a linker is, with at least `least` lines of the
    /// disassembly of `code`.
    ///
    /// # Errors
    /// When the comparison is not possible here; the text gives the reason.
    pub fn x86(code: &X86, least: usize) -> Result<Self, String> {
        Self::new("as", &["--64"], x86_listing(code), least)
    }

    /// Sets up the assembler for A64, if Debian's `binutils-aarch64-linux-gnu` or an equivalent is installed.
    ///
    /// # Errors
    /// When the comparison is not possible here; the text gives the reason.
    pub fn a64(words: &[u32], least: usize) -> Result<Self, String> {
        Self::new("aarch64-linux-gnu-as", &[], a64_listing(words), least)
    }

    /// Writes a file that the assembler accepts without complaints.
    fn new(
        command: &'static str,
        arguments: &'static [&'static str],
        mut once: Vec<String>,
        least: usize,
    ) -> Result<Self, String> {
        let version = Command::new(command).arg("--version").output();
        let version = version.map_err(|e| format!("cannot run `{command}`: {e}"))?;
        if !String::from_utf8_lossy(&version.stdout).contains("GNU assembler") {
            return Err(format!("`{command}` is not GNU as"));
        }
        let folder = std::env::temp_dir().join(format!("isaforge-benches-{}-{command}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|e| format!("cannot write to {}: {e}", folder.display()))?;
        let source = folder.join("code.s");
        let mut gnu = GnuAs { command, arguments, folder, source, lines: 0 };
        let mut wrong = HashSet::new();
        // Lines that it rejects (data within code, a spelling of its own) are dropped, since they are not measured.
        for _ in 0..3 {
            gnu.write(once.iter())?;
            wrong = gnu.complaints()?;
            if wrong.is_empty() {
                break;
            }
            let mut number = 0;
            once.retain(|_| {
                number += 1;
                !wrong.contains(&number)
            });
        }
        if !wrong.is_empty() || once.is_empty() {
            return Err(format!("`{command}` does not take the disassembly"));
        }
        gnu.write(once.iter().cycle().take(least.next_multiple_of(once.len())))?;
        Ok(gnu)
    }

    fn write<'a>(&mut self, lines: impl Iterator<Item = &'a String>) -> Result<(), String> {
        let mut text = String::new();
        self.lines = 0;
        for line in lines {
            text.push('\t');
            text.push_str(line);
            text.push('\n');
            self.lines += 1;
        }
        std::fs::write(&self.source, text).map_err(|e| format!("cannot write {}: {e}", self.source.display()))
    }

    fn run(&self) -> Result<Output, String> {
        let mut command = Command::new(self.command);
        command.args(self.arguments).args([Path::new("-o"), &self.folder.join("code.o"), &self.source]);
        command.output().map_err(|e| format!("cannot run `{}`: {e}", self.command))
    }

    /// Returns the lines that the assembler rejects.
    fn complaints(&self) -> Result<HashSet<usize>, String> {
        let output = self.run()?;
        if output.status.success() {
            return Ok(HashSet::new());
        }
        let text = String::from_utf8_lossy(&output.stderr);
        let number = |line: &str| line.split(": Error:").next()?.rsplit(':').next()?.trim().parse().ok();
        let wrong: HashSet<usize> = text.lines().filter(|l| l.contains(": Error:")).filter_map(number).collect();
        if wrong.is_empty() { Err(format!("`{}` failed: {text}", self.command)) } else { Ok(wrong) }
    }

    /// Assembles the file in a new process, and returns the number of lines.
    pub fn assemble(&self) -> u64 {
        match self.run() {
            Ok(output) if output.status.success() => self.lines,
            _ => 0,
        }
    }
}

impl Drop for GnuAs {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The code as `objdump -d` prints it, in the syntax of GNU as.
fn x86_listing(code: &X86) -> Vec<String> {
    let mut formatter = GasFormatter::new();
    let decoder = Decoder::with_ip(64, &code.bytes, code.address, DecoderOptions::NONE);
    let valid = decoder.into_iter().filter(|instruction| !instruction.is_invalid());
    valid
        .map(|instruction| {
            let mut line = String::new();
            formatter.format(&instruction, &mut line);
            line
        })
        .collect()
}

fn a64_listing(words: &[u32]) -> Vec<String> {
    let text = |(i, word): (usize, &u32)| {
        let mut line = String::new();
        let opcode = decoder::decode(*word)?;
        write!(line, "{}", opcode.display_at(4 * i as u64)).ok()?;
        Some(line)
    };
    words.iter().enumerate().filter_map(text).collect()
}
