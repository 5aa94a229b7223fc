//! The examples in the output of `--help`.

mod execution;

use crate::builtin;
use crate::example::{LABEL, first_branch};

pub use execution::{CONFORM, RUN, run};

/// The examples below the list of commands.
pub const TOP: &str = "\
Examples:
  isaforge isas                                   list the built-in instruction sets
  isaforge dis valhall shader.bin                 disassemble
  isaforge asm valhall shader.s -o shader.hex     assemble
  isaforge list valhall shift                     find instructions
  isaforge explain valhall 0091c10000000002       explain every bit of a word
  isaforge graph valhall shader.bin -o a.svg      draw the control flow
  isaforge lint valhall shader.bin                find mistakes in a program
  isaforge lsp                                    run a language server for an editor
  isaforge check specs/valhall                    check a specification
  isaforge gen specs/valhall -o my-crate          generate a crate from it
  isaforge diff valhall-2021 valhall              compare two revisions
  isaforge translate valhall-2021 valhall old.s   port a program to another revision
  isaforge run launch.yaml                        run a program
  isaforge fidelity valhall                       show how accurate the runtime is
  isaforge corpus import --isa valhall shaders/ -o lake/    a corpus to query in SQL
  isaforge demo                                   a tour that ends in a picture

See `isaforge COMMAND --help` for more examples. `-` is standard input wherever a file is read;
paths in a specification that is read from it are relative to the current folder.
Exit status: 0 success, 1 errors in the input, 2 wrong usage or an unreadable file.";

/// Below the options of `isas`.
pub const ISAS: &str = "\
Examples:
  isaforge isas                                   names and descriptions
  isaforge isas --json | jq .aliases              one JSON object per set";

/// Below the options of `dis`.
pub const DIS: &str = "\
Examples:
  isaforge dis valhall shader.bin                 raw words, least significant byte first
  echo 0091c10000000002 | isaforge dis valhall    hexadecimal, most significant digit first
  isaforge dis valhall --tsv words.hex            word, ok or invalid, text or reason, shader
  isaforge dis valhall shader.bin --comments      addresses, words, messages waited for
  isaforge dis valhall shader.bin --json | jq .reads    one JSON object per instruction
  isaforge dis valhall a.bin | isaforge asm valhall --out bin > b.bin    round trip
  xxd shader.bin | isaforge dis valhall           output of xxd, hexdump -C or objdump
  echo '02 00 00 00 00 c1 91 00' | isaforge dis valhall --order memory
  isaforge dis --spec specs/mine.yaml a.bin       a specification before it is compiled

ELF files, output of Arm's offline compiler, Mesa's shader caches, and Vulkan pipeline caches with
its shaders are searched for code. OpenCL program binaries and PowerVR's compiled shaders are not
read: those of Mesa and PoCL hold no GPU code, and the vendors do not publish the layouts.

In hexadecimal input, white space, commas and underscores are ignored. Each `0x` number is a word,
unless all of them are bytes or half-words. Dumps, listings with addresses or comments, such as
those of IDA and Ghidra, Intel HEX, base64, C arrays, JSON, strings with `\\x`, decimal bytes and
data of GNU as are accepted too, also behind counters or the marks of mail and `diff`, in UTF-16,
and compressed with gzip; a note on standard error says how ambiguous input was read, also where all
of it decodes in both byte orders.
An invalid word prints as `.word 0x… // reason`, which `asm` accepts; the exit status is then 1.
With `--exact`, valid words that the assembler would reject are printed this way too, with their
text in the comment.
Branch targets get labels, the names of symbols if an ELF file has them. `--tsv` and `--json` print
each instruction alone, with numbers in place of labels; if the file holds several shaders, each
line names its shader. `--json-schema` describes the objects. Everything is read before anything is
printed, because a branch anywhere in the program may lead to its first instruction.

For usc, hexadecimal is bytes in memory order, one group after another. The output is a program,
`N : …` with labels; invalid bytes print as `.byte 0x… # reason`.";

/// Below the options of `asm`, before the examples with labels.
const ASM: &str = "\
Examples:
  isaforge asm valhall shader.s                   hexadecimal, one word per line
  isaforge asm valhall shader.s --out bin -o shader.bin
  echo 'MOV.i32 r1, r2' | isaforge asm valhall -
  isaforge asm --spec specs/mine.yaml shader.s    an instruction set of your own
LABELS
A line holds an instruction, `label:`, or `.word NUMBER`; comments start with `//` or `;`. Where
instructions have several lengths, raw bytes are `.byte 0x1, 0x2`. For usc, `N :` starts a group,
parts stand on lines of their own or between `|`, comments start with `#`, and bytes are
`.byte 0x…`. Branches take a label or a distance. All errors are reported as
`file:line:column: error: …`; the exit status is then 1 and no file is written.";

/// Below the options of `list`.
pub const LIST: &str = "\
Examples:
  isaforge list valhall                           all instructions, one per line
  isaforge list valhall convert float             instructions that convert floats
  isaforge list valhall sfu approximate           by unit and class of accuracy
  isaforge list usc --json | jq .mnemonic         one JSON object per instruction
  isaforge list --spec specs/mine.yaml            a specification before it is compiled

Each line shows the mnemonic, unit, title, operands written and read, and the accuracy of the
runtime. In JSON, `operation` is the instruction's semantics as written in the specification, or
null if it has none, and `intrinsics` are the named functions that the text uses.";

/// Below the options of `explain`.
pub const EXPLAIN: &str = "\
Examples:
  isaforge explain valhall 0x0091c10000000002     a word
  isaforge explain valhall 'MOV.i32 r1, r2'       assembly
  isaforge explain valhall MOV.i32                a mnemonic: the instruction, with an example
  isaforge explain valhall FMA.f32 clamp          one of its fields: values, bits, effects
  isaforge explain valhall FMA                    part of a mnemonic: list the candidates
  isaforge explain valhall convert float          words: search the descriptions
  isaforge explain valhall Flow                   an enum: list its values
  isaforge explain valhall                        calling convention and control flow
  isaforge explain valhall --json                 the same as a JSON object
  isaforge explain valhall 0091c10000000102 | less    a word that is not an instruction
  isaforge explain usc 44a08005000000ff           the bytes of a group
  isaforge explain valhall MOV.i32 --json         all fields as JSON
  isaforge explain --spec specs/mine.yaml MOV     a specification you are writing

Invalid words are explained as far as their opcode identifies an instruction.";

/// Below the options of `graph`.
pub const GRAPH: &str = "\
Examples:
  isaforge graph valhall shader.bin -o shader.svg   basic blocks, branches and loops
  isaforge graph valhall shader.s -o shader.dot     the same for Graphviz
  isaforge graph --spec specs/mine.yaml a.bin -o a.svg
  isaforge run --json launch.yaml | isaforge graph valhall shader.s --profile - -o hot.svg
                                                    blocks coloured by how often they ran

Blocks in loops and back edges are orange, branches are blue, and instructions at which diverged
threads reconverge are green. Unreachable blocks have a dashed border. The picture follows the
viewer's light or dark theme.";

/// Below the options of `grammar`.
pub const GRAMMAR: &str = "\
Examples:
  isaforge grammar valhall -o valhall.tmLanguage.json
  isaforge grammar usc | jq .scopeName
  isaforge grammar --spec specs/mine.yaml -o mine.tmLanguage.json

Visual Studio Code, Sublime Text, JetBrains IDEs, Zed and Shiki read TextMate grammars. The grammar
lists the instructions, modifiers and registers of the instruction set.";

/// Below the options of `lint`.
pub const LINT: &str = "\
Examples:
  isaforge lint valhall shader.bin                findings by address; in assembly, by line
  isaforge lint valhall shader.s --json           one JSON object per finding
  isaforge lint valhall shader.s --pressure       live registers, line by line
  isaforge check --explain P0003                  explain a finding's code

All findings follow from the operands, branches and semantics in the specification.
Exit status: 0 no findings, 1 findings, 2 wrong usage or an unreadable file.";

/// Below the options of `lsp`.
pub const LSP: &str = "\
Examples:
  isaforge lsp                                    started by an editor, over stdin and stdout

Neovim (0.11), in init.lua; `asm` is its file type for `.s`:
  vim.filetype.add({ extension = { valhall = 'asm', vpu = 'asm', usc = 'asm' } })
  vim.lsp.config('isaforge', { cmd = { 'isaforge', 'lsp' }, filetypes = { 'asm', 'yaml', 'xml' } })
  vim.lsp.enable('isaforge')
Helix, in languages.toml:
  [language-server.isaforge]
  command = 'isaforge'
  args = ['lsp']
  [[language]]
  name = 'gas'
  language-servers = ['isaforge']
Emacs, with eglot:
  (with-eval-after-load 'eglot
    (add-to-list 'eglot-server-programs '((asm-mode yaml-mode) . (\"isaforge\" \"lsp\"))))
Visual Studio Code: an extension that is a client for any language server, with the command
  `isaforge lsp` for `yaml` and for the language of your assembly files.

For assembly: diagnostics of `asm` and `lint`, encoded words as inlay hints, hover with every bit,
completion, labels (definition, references, rename) and register references. The instruction set
comes from a comment in the first lines (`// isa: valhall`, `; isa: ../mine.yaml`,
`# isa: ir3.xml 630`), else from the file extension (`shader.valhall`, `shader.valhall.s`), else
from the name that the editor has for the language, else from `isa` and `generation` in the
initialization options; a path there is relative to the workspace folder, one in a comment to the
file.
For specifications: diagnostics of `check`, unsaved changes included, hover on keys, an outline, and
go to definition, from names and from imported files. A file counts as a specification if its root
has `isa` but not `program` (a launch file), or if one beside or above it imports it; XML and JSON
count only as such parts. Unnamed documents are not checked.
Files that change on disk are read again when the editor saves a document or reports the change.
Exit status: 0 if the editor shut the server down or has ended, or if the input ended, 1 if the
editor violated the protocol.";

/// Below the options of `check`.
pub const CHECK: &str = "\
Examples:
  isaforge check specs/valhall/isa.yaml
  isaforge check specs/valhall                    the same
  isaforge check my.yaml --deny-warnings          fail on warnings, for scripts
  isaforge check - < my.yaml                      its imports are relative to the current folder
  isaforge check --explain E0021                  explain a diagnostic code
  isaforge check --explain list                   list all codes
  isaforge check --schema > isa.schema.json       for editors with YAML completion";

/// Below the options of `gen`.
pub const GEN: &str = "\
Examples:
  isaforge gen my.yaml -o my-isa                  writes src/lib.rs, and Cargo.toml if there is none
  isaforge gen my.yaml -o my-isa --check          exit with status 1 if it is out of date
  isaforge gen my.yaml -o my-isa --watch          regenerate after each save
  isaforge gen my.yaml -o my-isa --semantics required
  isaforge gen ir3.xml -o a6xx --generation 630   one generation of a document
  isaforge gen --all                              every specs/NAME/isa.yaml into generated/NAME
  isaforge gen --all --check";

/// Below the options of `diff`.
pub const DIFF: &str = "\
Examples:
  isaforge diff valhall-2021 valhall              two built-in revisions
  isaforge diff valhall specs/mine.yaml           a revision of your own
  isaforge diff - new.yaml < old.yaml             the older one may come from `git show`
  isaforge diff valhall specs/mine.yaml --format markdown >> $GITHUB_STEP_SUMMARY
  isaforge diff old.yaml new.yaml --format json | jq .instructions
  isaforge diff ir3.xml ir3.xml --old-generation 630 --new-generation 730

Each instruction that decodes differently is listed with an example word and both disassemblies,
and each one that does something else with its old and new operation. Operations are compared as
graphs: new names and functions with the same content are no change, but changing a function changes
every instruction that calls it, and `b + a` is not `a + b`. Properties of the machine are listed.
Sets of words, streams and sets of groups are compared, each with its own kind. In groups, each
operation counts as an instruction, and the header of all groups as one more.
Exit status: 0 old binaries provably decode the same, 1 they do not or it cannot be proved, 2 wrong
usage or an invalid specification.";

/// Below the options of `manual`.
pub const MANUAL: &str = "\
Examples:
  isaforge manual valhall -o manual                 then open manual/index.html
  isaforge manual valhall -o manual --since valhall-2021
  isaforge manual specs/mine.yaml -o manual         also documents of Mesa, Arm, LLVM or RISC-V
  isaforge manual specs/mine.yaml --serve           live preview while you write

The pages need neither a network nor a server. Search and decoder run in the page; everything else
works without JavaScript.";

/// Below the options of `translate`.
pub const TRANSLATE: &str = "\
Examples:
  isaforge translate valhall-2021 valhall old.s                assembly to assembly
  isaforge translate valhall-2021 valhall a.bin -o b.bin       binary to binary
  isaforge translate valhall-2021 valhall a.bin --out asm      binary to assembly
  isaforge translate valhall specs/mine.yaml shader.s
  isaforge translate ir3.xml ir3.xml a.s --from-generation 630 --to-generation 730

Instructions, modifiers and operands of the same name are taken to mean the same, wherever their
bits are, and branches lead to the same instructions. Everything that the other revision cannot
express is reported by name, and so is a branch into the middle of an instruction; the exit status
is then 1 and nothing is written. Comments are not kept, and labels get new names. Works on words
and on streams, but not on sets of groups.";

/// Below the options of `fidelity`.
pub const FIDELITY: &str = "\
Examples:
  isaforge fidelity valhall                       all instructions by class
  isaforge fidelity valhall FMA FRCP              details of these instructions
  isaforge fidelity usc choice                    where the hardware's behaviour is unknown
  isaforge fidelity valhall --tsv | cut -f1,2
  isaforge fidelity --spec specs/valhall FMA      what a specification says

Classes: `exact`, the same bits as far as is known; `approximate`, the hardware approximates and the
runtime rounds the exact result once; `choice`, the hardware's behaviour is not documented;
`unsupported`, the run stops. Errors in ulp (units in the last place) are the largest over all
inputs, measured by `cargo run --release -p isaforge-runtime --example measure`.
`isaforge run --fidelity` reports the classes that a program executes.";

/// Below the arguments of `corpus`.
pub const CORPUS: &str = "\
Examples:
  isaforge corpus import --isa valhall shaders/ -o lake/
  isaforge corpus query lake/ 'SELECT mnemonic, count(*) FROM instructions GROUP BY mnemonic'

`isaforge-corpus` is a command of its own because it contains a query engine: `cargo install --path
corpus` in the project's folder installs it.";

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

/// The examples of `man`.
pub const MAN: &str = "\
Examples:
  isaforge man -o ~/.local/share/man/man1
  isaforge man -o pages";

/// Below the options of `debug`.
pub const DEBUG: &str = "\
Examples:
  isaforge debug launch.yaml                          in the terminal; `?` shows the keys
  isaforge debug --spec examples/riscv examples/riscv/programs/sieve.elf    for a specification
  isaforge debug launch.yaml --commands script.txt    without a terminal
  echo 'break 4 if r2 > 1.0
  continue
  registers as f32' | isaforge debug launch.yaml --commands -
  isaforge debug --dap                                for an editor, over stdin and stdout

With `--dap`, the launch request has `program`, the launch file (with `spec` also an ELF file),
and optionally `spec`, `generation`, `stopOnEntry` (true unless it says false) and `noDebug`.

Commands, one per line; `help` lists all of them:
  step 10            back                continue            reverse             out
  to loop            break loop if r0 == 3 && r1:i32 < 0 in lane 4
  watch r3 lane 2    watch 0x1000 16     registers as f32    memory 0x1000 8
  watch shared:0x10  memory shared:0x10  in an address space `shared` with a memory of its own
A place is a label, a word index, or (for variable-length instructions) an address.
A step on the last instruction of a warp stops at the next instruction of any warp.
Stepping back runs the program again from its start up to that point.

Exit status: 0 all commands succeeded, 1 a line of `--commands` was wrong or the program failed at
the last stop, 2 the program could not be started.";

/// The help of `asm`: the examples with labels are the first branches of the sets.
pub fn asm() -> String {
    let example = |set: &builtin::Builtin| {
        let branch = first_branch(set.tables)?;
        Some(format!("  printf '{}:\\n{branch}\\n' | isaforge asm {} -\n", LABEL, set.name))
    };
    let examples: String = builtin::ALL.iter().filter_map(example).collect();
    ASM.replace("LABELS", &examples)
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_line_is_wider_than_the_help_is_drawn() {
        let sources = [include_str!("help.rs"), include_str!("help/execution.rs")];
        for line in sources.into_iter().flat_map(str::lines) {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}
