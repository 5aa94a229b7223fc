//! The examples that `--help` shows.

/// Below the list of commands.
pub const TOP: &str = "\
Examples:
  isaforge isas                                   which instruction sets there are
  isaforge dis valhall shader.bin                 words to text
  isaforge asm valhall shader.s -o shader.hex     text to words
  isaforge list valhall shift                     the instructions that a word describes
  isaforge explain valhall 0091c10000000002       every bit of a word
  isaforge graph valhall shader.bin -o shader.svg the control flow as a picture
  isaforge lint valhall shader.bin                mistakes in a program
  isaforge check specs/valhall                    is a specification right?
  isaforge gen specs/valhall -o my-crate          a specification to a crate
  isaforge diff valhall-2021 valhall              what changed between two revisions
  isaforge translate valhall-2021 valhall old.s   a program from one revision to another
  isaforge run launch.yaml                        a program with its memory
  isaforge fidelity valhall                       how true the runtime is to the hardware
  isaforge demo                                   all of it once, with a picture

`isaforge COMMAND --help` has more of them.
Exit status: 0 all is well, 1 the input has mistakes, 2 wrong usage or an unreadable file.";

/// Below the options of `dis`.
pub const DIS: &str = "\
Examples:
  isaforge dis valhall shader.bin                 raw words, least significant byte first
  echo 0091c10000000002 | isaforge dis valhall    hexadecimal, most significant digit first
  isaforge dis valhall --tsv words.hex            word, ok or invalid, text or reason
  isaforge dis valhall shader.bin --json | jq .reads    one JSON object an instruction
  isaforge dis valhall a.bin | isaforge asm valhall --out bin > b.bin    there and back
  xxd shader.bin | isaforge dis valhall           what xxd, hexdump -C or objdump print
  echo '02 00 00 00 00 c1 91 00' | isaforge dis valhall --order memory
  isaforge dis --spec specs/mine.yaml a.bin       a specification before it is compiled

In hexadecimal `0x`, white space, commas and underscores are free: only the digits count. Dumps,
listings with addresses or comments and arrays of C are read too, and the code in an ELF file; a
note says how where that is not plain.
A word that is no instruction prints as `.word 0x… // reason`, which `asm` takes back; the exit
status is then 1. Places that branches lead to get labels. With `--tsv` and `--json` a text is the
instruction alone, with numbers; `--json-schema` describes the objects.

Of usc, hexadecimal is bytes in the order of memory, groups one after another. The text is a
program, `N : …` with labels; bytes that are no group print as `.byte 0x… # reason`.";

/// Below the options of `asm`.
pub const ASM: &str = "\
Examples:
  isaforge asm valhall shader.s                   hexadecimal, one word a line
  isaforge asm valhall shader.s --out bin -o shader.bin
  echo 'MOV.i32 r1, r2' | isaforge asm valhall -
  isaforge asm --spec specs/mine.yaml shader.s    for an instruction set that is not built in

A line holds an instruction, `label:`, or `.word NUMBER`; comments start with `//` or `;`.
Of usc, `N :` starts a group, parts stand on lines of their own or between `|`, comments start
with `#`, and bytes are `.byte 0x…`. Branches take a label in place of a distance. All mistakes are
reported as `file:line:column: error: …`; the exit status is then 1 and no file is written.";

/// Below the options of `list`.
pub const LIST: &str = "\
Examples:
  isaforge list valhall                           all instructions, one a line
  isaforge list valhall convert float             those that convert floats
  isaforge list usc --json | jq .mnemonic         one JSON object an instruction
  isaforge list --spec specs/mine.yaml            a specification before it is compiled

A line has the name, the unit, a few words, the operands that are written and read, and how true the
runtime is to the hardware. In JSON, `operation` is the text that says what the instruction does, or
null where the specification has none, and `intrinsics` are the names that the text uses.";

/// Below the options of `explain`.
pub const EXPLAIN: &str = "\
Examples:
  isaforge explain valhall 0x0091c10000000002     a word
  isaforge explain valhall 'MOV.i32 r1, r2'       a text
  isaforge explain valhall MOV.i32                a name: the instruction with an example
  isaforge explain valhall FMA                    a part of a name: what it could be
  isaforge explain valhall convert float          words: what they describe
  isaforge explain valhall Flow                   an enum: its values
  isaforge explain valhall                        what programs find in registers, what flow does
  isaforge explain valhall 0091c10000000102 | less
  isaforge explain usc 44a08005000000ff           the bytes of a group
  isaforge explain --spec specs/mine.yaml MOV     what a specification says while it is written

A word that is no instruction is explained, too, as far as its opcode says which it would be.";

/// Below the options of `graph`.
pub const GRAPH: &str = "\
Examples:
  isaforge graph valhall shader.bin -o shader.svg   blocks, branches and loops as a picture
  isaforge graph valhall shader.s -o shader.dot     the same for Graphviz
  isaforge graph --spec specs/mine.yaml a.bin -o a.svg

Blocks in loops are orange, edges that close a loop too; branches are blue. Code that cannot be
reached has a dashed frame. The picture follows the reader's choice of light or dark.";

/// Below the options of `lint`.
pub const LINT: &str = "\
Examples:
  isaforge lint valhall shader.bin                what is likely wrong, with its address
  isaforge lint valhall shader.s --json           one JSON object a finding
  isaforge lint valhall shader.s --pressure       how many registers are live, line by line
  isaforge check --explain P0003                  the page on a finding

All of it follows from what the specification says of operands, branches and operations.
Exit status: 0 nothing to say, 1 findings, 2 wrong usage or an unreadable file.";

/// Below the options of `check`.
pub const CHECK: &str = "\
Examples:
  isaforge check specs/valhall/isa.yaml
  isaforge check specs/valhall                    the same
  isaforge check my.yaml --deny-warnings          for scripts: warnings count as errors
  isaforge check --explain E0021                  the page on a code
  isaforge check --explain list                   all codes
  isaforge check --schema > isa.schema.json       for editors that complete and check YAML";

/// Below the options of `gen`.
pub const GEN: &str = "\
Examples:
  isaforge gen my.yaml -o my-isa                  writes src/lib.rs, and Cargo.toml if there is none
  isaforge gen my.yaml -o my-isa --check          is it up to date? (exit status 1 if not)
  isaforge gen my.yaml -o my-isa --watch          again after each save, with what changed
  isaforge gen my.yaml -o my-isa --semantics required
  isaforge gen ir3.xml -o a6xx --generation 630   one of the generations of a document
  isaforge gen --all                              every specs/NAME/isa.yaml to generated/NAME
  isaforge gen --all --check";

/// Below the options of `diff`.
pub const DIFF: &str = "\
Examples:
  isaforge diff valhall-2021 valhall              two that are built in
  isaforge diff valhall specs/mine.yaml           what does my revision change?
  isaforge diff valhall specs/mine.yaml --format markdown >> $GITHUB_STEP_SUMMARY
  isaforge diff old.yaml new.yaml --format json | jq .instructions
  isaforge diff ir3.xml ir3.xml --old-generation 630 --new-generation 730

Every instruction whose words read differently comes with such a word and both of its texts.
Exit status: 0 old binaries decode the same (that is proved), 1 they do not or it is not certain,
2 there is nothing to compare: wrong usage, or a specification with mistakes.";

/// Below the options of `manual`.
pub const MANUAL: &str = "\
Examples:
  isaforge manual valhall -o manual                 then open manual/index.html
  isaforge manual valhall -o manual --since valhall-2021
  isaforge manual specs/mine.yaml -o manual         also a document of Mesa, Arm, LLVM or RISC-V
  isaforge manual specs/mine.yaml --serve           write, save, look

The pages need neither a network nor a server. The decoder and the search run in the page;
everything else can be read without JavaScript.";

/// Below the options of `translate`.
pub const TRANSLATE: &str = "\
Examples:
  isaforge translate valhall-2021 valhall shader.s             text to text
  isaforge translate valhall-2021 valhall a.bin -o b.bin       words to words
  isaforge translate valhall-2021 valhall a.bin --out asm      words to text
  isaforge translate valhall specs/mine.yaml shader.s
  isaforge translate ir3.xml ir3.xml a.s --from-generation 630 --to-generation 730

Instructions, modifiers and operands of the same name mean the same, wherever their bits are.
Whatever the other revision cannot say is reported by name, all of it; the exit status is then 1
and nothing is written. Comments and labels of a text are not kept: branches have their distance.";

/// Below the options of `conform`.
pub const CONFORM: &str = "\
Examples:
  isaforge conform valhall words.tsv shaders.tsv
  isaforge conform valhall random-words.tsv --failures 10
  isaforge conform valhall piglit-programs.jsonl kernels/*.json
  isaforge conform valhall semantic-vectors.tsv --failures 5

Formats, recognised by their content:
  word TAB text                                   each must give the other
  word TAB text TAB class TAB status TAB result   random words, read or refused for the right reason
  id TAB source TAB name TAB stage TAB words      whole programs, to text and back
  word TAB text TAB versions TAB verdict TAB text TAB result    assembler cases
  text TAB reason                                 lines to refuse, with a column and a message
  operation TAB modifiers TAB inputs TAB result TAB basis    single operations of valhall
  JSON lines with `words` and `runs`              shaders and their colours; each run counts
  JSON with `words`, `groups` and `ssbo_base`     a kernel and the memory it must leave
  JSON with `words`, `fau` and `stage`            a program with textures, varyings, images and what
                                                  it must draw; `run` writes its pictures
Of vpu, besides:
  JSON lines with `words`, `start` and `expect`   programs and their final state, run both ways
  word TAB name TAB fields…                       words and the values of their fields
  word TAB reason                                 words that must be refused for this reason

Of usc:
  TAB table with a column `hex`                   groups: to values, to text, and back
  TAB table with `record`, `fields`, `hex_mesa`   records, field by field
  JSON lines with `bytes`, or hexadecimal         whole programs, to text and back
  the same with `runs` and `outputs`              besides, what they give; each run counts

Files may be packed with gzip.

Prints `FILE: P passed, F failed` for each file and `P passed, F failed` at the end; the exit
status is 1 if any failed.";

/// Below the options of `run`.
pub const RUN: &str = "\
A launch file for a program that doubles 256 numbers:

  isa: valhall
  program: { file: double.s }             # .s .asm: assembly, .hex: hexadecimal, .bin: raw words
  groups: 4                               # up to three numbers
  local size: 64
  uniforms:
    - { address: numbers }                # two words, the low one first
    - 2.0                                 # a float; whole numbers are integers
  buffers:
    numbers: { file: in.bin }             # or words: [1, 2], f32: [1.5], size: 1024 (zeros)
  outputs:
    - print: { buffer: numbers, as: f32, count: 8 }
    - raw: { buffer: numbers, file: out.bin }
    # - png: { buffer: numbers, file: out.png, width: 16, height: 16, format: grey }

Further keys: `shared bytes`, `budget`, `address` of a buffer, `from` of a print, `limit` of a png,
`textures`, `images`, `uniform buffers`; a program can stand in the launch file itself, as lines
after `program: |`.
Pixel formats: palette, grey, rgba8, rgba32f. Paths are relative to the launch file.

A launch file with a `size` runs a fragment program for pixels and writes what it draws:

  isa: valhall
  program: { file: shader.s }
  size: [256, 256]
  varyings:
    - { offset: 0, corners: [[0, 0], [1, 0], [0, 1]] }   # lower left, lower right, upper left
  textures:
    - { file: bricks.png, filter: linear, wrap: repeat }
  targets:
    - { file: picture.png }

Examples:
  isaforge run launch.yaml
  isaforge run --init double.s            writes double.yaml, with all keys that it could have
  isaforge run launch.yaml --quiet        only what the launch file prints
  isaforge run launch.yaml --trace        (0,0,0) warp 0    3 ++++xxxxxxxxxxxx, then the text
  isaforge run launch.yaml --break 4 --break 7      stop at the first that a warp comes to
  isaforge run launch.yaml --profile      a table
  isaforge run launch.yaml --profile-svg bars.svg   the same as a picture
  isaforge run launch.yaml --compare      do all engines of this processor give the same?
  isaforge run launch.yaml --engine handlers --level avx2
  isaforge run launch.yaml --time-limit 10          ten seconds at most, besides the budget
  isaforge run launch.yaml --fidelity     what it met that is not exact on this runtime
  isaforge run case.json                  a recorded case (see `conform`): writes NAME.png, or
                                          NAME-targetN.png if it draws several pictures
  isaforge run case.json --trace          pixel (6,0)    3 ++h+++++xxxxxxxx, then the text
  isaforge run --sheet sheet.png cases/*.json       all their pictures on one

All engines leave the same bits. `--compare` runs a launch on each at each level, and prints the
first instruction after which one differs: word, text, lane, register or address, both values; the
exit status is then 1. What `--trace`, `--break` and `--profile` see is the reference's doing.
ISAFORGE_ENGINE and ISAFORGE_LEVEL stand for `--engine` and `--level`. Machine code is decoded again
and checked before it runs; `--unchecked` leaves that out.

With `--spec` the program is one of a specification that says what its instructions do, in an ELF
file of 32 bits or in a launch file with `program`, `address`, `registers`, `buffers`, `show`,
`outputs`:
  isaforge run --spec examples/riscv sieve.elf     the exit status is the program's; 2 after a trap
  isaforge run --spec examples/riscv --quiet --signature words.txt test.elf
  isaforge run --spec mine.yaml --break 0x18 launch.yaml

In a trace and at a break there is a sign for each lane of the warp: `+` executes the instruction,
`h` does so as a helper, `.` is elsewhere, `x` has ended or does not exist. `r3=1:00000007` is r3
in lane 1, `r3=00000007` the same value in several lanes. After a break the program does not
go on and no output is made. Of the USC instances have the signs, and places are offsets of groups
in bytes: `--break 0x2a`.";

/// Below the options of `fidelity`.
pub const FIDELITY: &str = "\
Examples:
  isaforge fidelity valhall                       all instructions by class
  isaforge fidelity valhall FMA FRCP              these, with all that is known
  isaforge fidelity usc choice                    where nobody says what the hardware does
  isaforge fidelity valhall --tsv | cut -f1,2

Classes: `exact`, the same bits as far as it is known; `approximate`, the hardware approximates and
the runtime rounds the function itself once; `choice`, nobody says what the hardware does;
`unsupported`, a run ends there. Distances in ulp (units in the last place) are the worst over all
inputs, measured by `cargo run --release -p isaforge-runtime --example measure`.
`isaforge run --fidelity` says which of them a program met.";

/// Below the options of `demo`.
pub const DEMO: &str = "\
Examples:
  isaforge demo                           writes mandelbrot.png
  isaforge demo --size 2048 -o large.png";

/// Below the options of `completions`.
pub const COMPLETIONS: &str = "\
Examples:
  isaforge completions bash > ~/.local/share/bash-completion/completions/isaforge
  isaforge completions zsh > ~/.zfunc/_isaforge
  isaforge completions fish > ~/.config/fish/completions/isaforge.fish";

/// Examples of `man`.
pub const MAN: &str = "\
Examples:
  isaforge man -o ~/.local/share/man/man1
  isaforge man -o pages";

#[cfg(test)]
mod tests {
    #[test]
    fn no_line_is_wider_than_the_help_is_drawn() {
        let source = include_str!("help.rs");
        for line in source.lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}
