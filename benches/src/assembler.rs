//! GNU as, run as a process on the text of real x86 code.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use iced_x86::{Decoder, DecoderOptions, Formatter, GasFormatter};

use crate::code::X86;

/// GNU as with a file to assemble, deleted when dropped.
#[derive(Debug)]
pub struct GnuAs {
    folder: PathBuf,
    source: PathBuf,
    /// Lines of the file.
    pub lines: u64,
}

impl GnuAs {
    /// Writes at least `least` lines of the disassembly of `code` to a file that the assembler takes without a complaint.
    ///
    /// # Errors
    /// Says why the comparison is not possible here.
    pub fn new(code: &X86, least: usize) -> Result<Self, String> {
        let version = Command::new("as").arg("--version").output().map_err(|e| format!("cannot run `as`: {e}"))?;
        if !String::from_utf8_lossy(&version.stdout).contains("GNU assembler") {
            return Err("`as` is not GNU as".to_owned());
        }
        let folder = std::env::temp_dir().join(format!("isaforge-benches-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|e| format!("cannot write to {}: {e}", folder.display()))?;
        let source = folder.join("code.s");
        let mut gnu = GnuAs { folder, source, lines: 0 };
        let mut once = listing(code);
        let mut wrong = HashSet::new();
        // A line it refuses (data among the code, a spelling of its own) is not what is measured.
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
            return Err("`as` does not take x86 code as iced-x86 writes it".to_owned());
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
        let mut command = Command::new("as");
        command.args([Path::new("--64"), Path::new("-o"), &self.folder.join("code.o"), &self.source]);
        command.output().map_err(|e| format!("cannot run `as`: {e}"))
    }

    /// The lines that the assembler refuses.
    fn complaints(&self) -> Result<HashSet<usize>, String> {
        let output = self.run()?;
        if output.status.success() {
            return Ok(HashSet::new());
        }
        let text = String::from_utf8_lossy(&output.stderr);
        let number = |line: &str| line.split(": Error:").next()?.rsplit(':').next()?.trim().parse().ok();
        let wrong: HashSet<usize> = text.lines().filter(|l| l.contains(": Error:")).filter_map(number).collect();
        if wrong.is_empty() { Err(format!("`as` failed: {text}")) } else { Ok(wrong) }
    }

    /// Assembles the file, as a process from start to end; the number of lines.
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

/// The code as `objdump -d` would show it, in the syntax of GNU as.
fn listing(code: &X86) -> Vec<String> {
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
