//! What the help of commands that execute programs says below their options.

use crate::builtin;
use crate::names::affixes_of;

/// Below the options of `conform`.
pub const CONFORM: &str = "\
Examples:
  isaforge conform valhall words.tsv shaders.tsv
  isaforge conform valhall random-words.tsv --failures 10
  isaforge conform valhall piglit-programs.jsonl kernels/*.json
  isaforge conform valhall semantic-vectors.tsv --failures 5
  isaforge conform valhall kernels/*.json --engine handlers --level portable
  isaforge conform --spec examples/riscv rows.tsv

Formats, detected from the content:
  word TAB text                                   must disassemble and assemble to each other
  word TAB text TAB class TAB status TAB result   random words, accepted or rejected correctly
  id TAB source TAB name TAB stage TAB words      whole programs, round trip
  word TAB text TAB versions TAB verdict TAB text TAB result    assembler cases
  text TAB reason                                 lines to reject, with a column and a message
  operation TAB modifiers TAB inputs TAB result TAB basis    single operations of valhall
  JSON lines with `words` and `runs`              shaders and their colours; each run counts
  JSON with `words`, `groups` and `ssbo_base`     a kernel and the memory it must produce
  JSON with `words`, `fau` and `stage`            a program with textures, varyings, images and
                                                  expected pictures; `run` writes its pictures
For vpu, also:
  JSON lines with `words`, `start` and `expect`   programs and their final state, on both engines
  word TAB name TAB fields…                       words and the values of their fields
  word TAB reason                                 words to reject for this reason

For usc:
  tab-separated table with a column `hex`         groups: values and text, round trip
  the same with `record`, `fields`, `hex_mesa`    records, field by field
  JSON lines with `bytes`, or hexadecimal         whole programs, round trip
  the same with `runs` and `outputs`              also expected outputs; each run counts

For streams, whose instructions vary in length:
  bytes TAB text                                  round trip; if several words share a text, any
                                                  of them passes
  bytes TAB ok|invalid TAB text                   the same, as `dis --tsv --order memory` writes it

Files may be compressed with gzip.

Prints `FILE: P passed, F failed` for each file and `P passed, F failed` at the end; the exit
status is 1 if any failed. Cases that are executed run on the fastest engine, shaders on the
reference. `--engine` and `--level`, or ISAFORGE_ENGINE and ISAFORGE_LEVEL, select another one,
which the line before the last then names.";

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
`textures`, `images`, `uniform buffers`. A program can be inline, as lines after `program: |`.
Pixel formats: palette, grey, rgba8, rgba32f. Paths are relative to the launch file. `budget` is the
number of instructions (for USC, of groups) after which a run stops; its default is 100 billion,
2^32 with a `size`, and ten billion for VPU and USC. All threads share it, and engines differ in
the order in which these spend it (see below).

A launch file with a `size` runs a fragment program for each pixel and writes the picture:

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
  sed s/1.5/2.5/ launch.yaml | isaforge run -       paths are relative to the current folder
  isaforge run --init double.s            write a commented double.yaml; with `--spec`, too
  isaforge run launch.yaml --quiet        only the outputs of the launch file
  isaforge run launch.yaml --trace        workgroup, warp, place, lanes, then the text
  isaforge run launch.yaml --trace --thread 1,2 --register r3
  isaforge run launch.yaml --break loop --break '7 if r2 > 1.0'     registers at each stop
  isaforge run launch.yaml --json         the result, memory that was written, counts
  isaforge run launch.yaml --profile      a table; `--profile=listing` counts beside the program
  isaforge run launch.yaml --flame flame.svg        loops and instructions as a flame graph
  isaforge run launch.yaml --profile=folded | inferno-flamegraph > flame.svg
  isaforge run --coverage a.yaml b.yaml   the instructions that no launch executes
  isaforge run launch.yaml --profile-svg bars.svg   the same as a bar chart
  isaforge run launch.yaml --races        find data races
  isaforge run launch.yaml --compare      check that all engines agree
  isaforge run launch.yaml --engine handlers --level portable
  isaforge run launch.yaml --threads 2    the workgroups or bands of rows on two host threads
  isaforge run launch.yaml --time-limit 10          stop after ten seconds
  isaforge run launch.yaml --fidelity     executed instructions grouped by accuracy
  isaforge run case.json                  a recorded case (see `conform`): writes NAME.png, or
                                          NAME-targetN.png for several targets
  isaforge run case.json --trace          pixel, place, lanes, then the text
  isaforge run --sheet sheet.png cases/*.json       all their pictures on one sheet

All engines produce the same bits, unless threads race (see `--races`) or the budget runs out:
`handlers` and `compiled` run several workgroups at once, so they stop at another place than
`reference`, with other memory, and may run out of the budget before they come to an instruction
that fails there. `--compare` runs a launch on every engine and level and prints the first
instruction after which one differs: word, text, lane, register or address, both values; the exit
status is then 1. Where the budget runs out, it prints how each engine ended instead.
`--trace`, `--break` and counts observe the reference; afterwards the program runs on the selected
engine for its outputs, unless counts by place were all that was wanted.
ISAFORGE_ENGINE and ISAFORGE_LEVEL stand for `--engine` and `--level` where these are not given.
They are preferences: a set without that engine or level runs on what it has, while the options are
refused. `--threads` gives what one thread gives, unless workgroups race. Machine code is decoded
and verified before it runs; `--unchecked` skips that.

With `--spec`, the program is a 32-bit ELF file or a launch file with these keys; the specification
must define semantics:

  program: { file: sieve.s }              # the only key that is needed
  address: 0x100                          # load address and entry point; labels count from here
  registers:                              # at the start; the others are 0
    r1: 100                               # in each lane; also -1, 0xff
    r2: [0, 1, 2, 3]                      # one number for each lane
    r3: 1.5                               # a float as wide as the register: 16, 32 or 64 bits
    carry: 1                              # a state; `stack[3]` is one element of a state array
  buffers:                                # memory, by names of your choice
    in: { address: 0x1000, words: [1, -1, 0xff], size: 64 }    # 32 bits each, then zeros
    more: { address: 0x2000, file: in.bin }                    # or f32: [1.5]
    out: { address: 0x3000, size: 64 }                         # bytes, which are zero
  budget: 100000                          # instructions; default ten billion
  show: [r1, carry]                       # registers and states to print at the end
  outputs:
    - print: { buffer: out, as: u16, from: 0, count: 8 }       # from and count in elements
    - raw: { buffer: out, file: out.bin }

Sets of one lane have the engines `reference` and `compiled`, sets of several lanes `reference`
alone; neither has levels. Launch files of the built-in set `valhall-2021` have the same keys after
`isa: valhall-2021`, without `--spec`: a program runs as one warp.

Numbers print as u8, i8, u16, i16, f16, u32, i32, f32 or hex (32-bit words). A number that does not
fit its register is an error.
  isaforge run --spec examples/riscv examples/riscv/programs/sieve.elf
                                          exits with the program's status, or 2 on a trap
  isaforge run --spec examples/riscv --signature words.txt examples/riscv/programs/random.elf
  isaforge run --spec examples/lanes --break 0x18 examples/lanes/power.yaml

Traces and breakpoints show one mark per lane of the warp: `+` executes the instruction, `.` is
inactive, `x` has ended or does not exist. `r3=1:00000007` is r3 in lane 1, `r3=00000007` the same
value in several lanes, `[00001000]=1:00000007` a store of lane 1. For USC, marks denote instances
and locations are byte offsets of groups: `--break 0x2a`.";

/// The help of `run`: what programs find in registers comes from the specifications.
pub fn run() -> String {
    let mut text = format!("{}\n\nRegister contents at the start of programs:\n", RUN.trim_end());
    for set in builtin::ALL.iter().filter(|set| set.launch.is_some()) {
        let preloads = set.semantics.map_or(&[][..], |semantics| semantics.preloads);
        for preload in preloads.iter().filter(|preload| !preload.values.is_empty()) {
            let values = preload.values.iter().zip(preload.first..);
            let (before, after) = affixes_of(set.tables);
            let names = values.map(|((name, _), number)| format!("{before}{number}{after} {name}"));
            let values: Vec<String> = names.collect();
            text.push_str(&format!("  {}, {}: {}\n", set.name, preload.name, values.join(", ")));
        }
    }
    text.push_str("`isaforge explain ISA` describes them.");
    text
}
