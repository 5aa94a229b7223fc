//! What is behind the codes of mistakes in launch files, for `isaforge check --explain`.

/// A page on a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// The code, as it stands in brackets behind `error`.
    pub code: &'static str,
    /// What is wrong, in one line.
    pub title: &'static str,
    /// Why that matters, and what to do.
    pub text: &'static str,
    /// A piece of a launch file that has it.
    pub wrong: &'static str,
    /// The piece without it.
    pub right: &'static str,
}

/// A page for each code.
pub static ALL: &[Page] = &[
    Page {
        code: "L0001",
        title: "the instruction set of a launch file cannot be run",
        text: "`isa` names one of the instruction sets that `isaforge isas` lists, and one that this program can execute: \
               some can only be read and written.",
        wrong: "isa: valhal",
        right: "isa: valhall",
    },
    Page {
        code: "L0002",
        title: "the program of a launch file cannot be read",
        text: "A program stands in the launch file as lines of assembly, or in a file: `.s` and `.asm` are assembly, `.hex` \
               is hexadecimal text, `.bin` holds raw words, least significant byte first. Mistakes in assembly are \
               reported where they are, in the launch file or in the other one. Paths are relative to the launch file.",
        wrong: "program: { file: double.txt }",
        right: "program: { file: double.s }",
    },
    Page {
        code: "L0003",
        title: "a size or a content is not possible",
        text: "`groups` and `local size` have one to three numbers, none of them zero. A buffer has one content (`words`, \
               `f32` or `file`), or only a `size` and then zeros; a size may be larger than the content, but not \
               smaller. Buffers must not overlap and must end before the last address; one without an `address` gets a \
               free place.",
        wrong: "buffers:\n  numbers: { words: [1, 2, 3], size: 4 }",
        right: "buffers:\n  numbers: { words: [1, 2, 3], size: 64 }",
    },
    Page {
        code: "L0004",
        title: "there is no buffer of this name",
        text: "Uniforms and outputs name a buffer that is described under `buffers`.",
        wrong: "uniforms: [{ address: number }]\nbuffers: { numbers: { size: 64 } }",
        right: "uniforms: [{ address: numbers }]\nbuffers: { numbers: { size: 64 } }",
    },
    Page {
        code: "L0005",
        title: "a file cannot be read",
        text: "The launch file, or the file with the content of a buffer, is not there or cannot be opened; the message \
               has the answer of the operating system. Paths are relative to the launch file.",
        wrong: "buffers: { numbers: { file: in.bim } }",
        right: "buffers: { numbers: { file: in.bin } }",
    },
    Page {
        code: "L0006",
        title: "an output does not fit its buffer",
        text: "Each output says one thing to do: `png`, `raw` or `print`. A picture needs 4 bytes a pixel (`rgba32f`: 16), \
               a print must begin and end inside of the buffer.",
        wrong: "buffers: { numbers: { size: 64 } }\noutputs:\n  - print: { buffer: numbers, from: 12, count: 8 }",
        right: "buffers: { numbers: { size: 64 } }\noutputs:\n  - print: { buffer: numbers, from: 8, count: 8 }",
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn every_code_has_a_page_and_every_page_a_code() {
        let sources = [include_str!("plan.rs"), include_str!("program.rs"), include_str!("outputs.rs")];
        let codes =
            sources.iter().flat_map(|source| source.match_indices("\"L0").map(|(at, _)| &source[at + 1..at + 6]));
        let codes: BTreeSet<&str> = codes.collect();
        assert_eq!(codes, super::ALL.iter().map(|page| page.code).collect());
    }
}
