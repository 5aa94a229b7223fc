//! Prints machine code as text, with the instructions it was compiled from.

use std::fmt::Write;

use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter};

/// The code offsets at which the code of an instruction begins, in order, with its address. `None` is for code of no
/// instruction.
pub type Marks = Vec<(usize, Option<u64>)>;

/// Prints machine code, one instruction per line, after the instruction of the program that it was compiled from;
/// `text` formats that instruction.
pub(crate) fn listing(code: &[u8], marks: &Marks, text: impl Fn(u64) -> String) -> String {
    let mut listed = String::new();
    let mut formatter = IntelFormatter::new();
    let mut marks = marks.iter().peekable();
    for instruction in Decoder::with_ip(64, code, 0, DecoderOptions::NONE) {
        let mut mark = None;
        while let Some((_, pc)) = marks.next_if(|(at, _)| *at as u64 <= instruction.ip()) {
            mark = Some(pc);
        }
        match mark {
            Some(Some(pc)) => listed.push_str(&text(*pc)),
            Some(None) => listed.push_str("..."),
            None => {}
        }
        if mark.is_some() {
            listed.push('\n');
        }
        let mut line = String::new();
        formatter.format(&instruction, &mut line);
        let _ = writeln!(listed, "  {:5x}  {line}", instruction.ip());
    }
    listed
}
