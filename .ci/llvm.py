#!/usr/bin/env python3
"""Compares texts with those of llvm-mc on words that nobody wrote down: known ones with bits changed, and random ones.

    .ci/llvm.py path/to/isaforge gfx1100 [--count 20000] [--seed N]
    .ci/llvm.py path/to/isaforge rv64

Documents and known words are those beside the project, ../shared. Each class of differences is printed with examples: words
that one of the two refuses, other texts, and texts that assemble to other bytes. Words that llvm-mc itself does not assemble
back are counted apart ("lossy"). Debian's package llvm-22 has the version of the documents."""

import argparse
import collections
import gzip
import pathlib
import random
import re
import subprocess
import tarfile
import tempfile

SHARED = pathlib.Path(__file__).resolve().parents[2] / "shared"
LLVM = "llvm-mc-22"
# All extensions that riscv-unified-db has and that do not exclude each other.
EXTENSIONS = """m a f d q c v h zfh zba zbb zbc zbs zbkb zbkc zbkx zkne zknd zknh zksed zksh zicond zimop zcmop zcb zfa zabha
    zacas zawrs zicbom zicbop zicboz zfbfmin zvfbfmin zvfbfwma zvbb zvbc zvkg zvkned zvknhb zvksed zvksh zvfh zicsr zifencei
    zalrsc zaamo svinval smrnmi zihintntl experimental-zicfilp experimental-zicfiss zalasr smctr ssctr sdext"""


def run(command, lines):
    """Standard output and errors of a command that reads lines."""
    done = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True)
    return done.stdout, done.stderr


def listed(data):
    return "[" + " ".join(f"{byte:#04x}" for byte in data) + "]"


def encoding(line):
    """The text and the bytes of a line that llvm-mc prints with its encoding."""
    found = re.match(r"\t(.*?)\s*[;#] encoding: \[([^\]]*)\]", line)
    if not found or not re.fullmatch(r"(0x[0-9a-f]{2},?)+", found.group(2)):
        return None
    return found.group(1).replace("\t", " "), bytes(int(byte, 16) for byte in found.group(2).split(","))


class Llvm:
    """llvm-mc for one processor. `mark` gives bytes and text of an instruction for a number, which stands behind each word."""

    def __init__(self, arguments, mark):
        self.arguments, self.mark, self.crashes = arguments, mark, set()


    def assemble_all(self, texts):
        out, errors = run([LLVM, *self.arguments, "-show-encoding"], texts)
        wrong = {int(line) for line in re.findall(r"^<stdin>:(\d+):\d+: error", errors, re.M)}
        found = [encoding(line) for line in out.splitlines() if "encoding: [" in line]
        right = [at for at in range(len(texts)) if at + 1 not in wrong]
        if len(found) != len(right):
            # Some texts are several instructions, or it stopped: one by one.
            if len(texts) == 1:
                return [None]
            half = len(texts) // 2
            return self.assemble_all(texts[:half]) + self.assemble_all(texts[half:])
        result = [None] * len(texts)
        for at, pair in zip(right, found):
            result[at] = pair and pair[1]
        return result

    def disassemble(self, words):
        """Text and bytes of the instruction at the start of each word, or None."""
        result = []
        for at in range(0, len(words), 1000):
            result += self.part(words[at : at + 1000])
        return result

    def part(self, words):
        marks = [self.mark(at) for at in range(len(words))]
        lines = [line for word, mark in zip(words, marks) for line in (listed(word), listed(mark[0]))]
        out, errors = run([LLVM, *self.arguments, "--disassemble", "-show-encoding"], lines)
        # The second column is the first byte of a word.
        wrong = {(int(line) - 1) // 2 for line in re.findall(r"^<stdin>:(\d+):2: warning: invalid", errors, re.M)}
        result, first, at = [None] * len(words), None, 0
        for pair in filter(None, map(encoding, out.splitlines())):
            if at < len(words) and pair == (marks[at][1], marks[at][0]):
                result[at], first, at = None if at in wrong else first, None, at + 1
            elif first is None:
                first = pair
        if at == len(words):
            return result
        # It crashed, and what it wrote last may be lost.
        if len(words) == 1:
            self.crashes.add(words[0])
            return [None]
        half = len(words) // 2
        return self.part(words[:half]) + self.part(words[half:])


def changed(source, known):
    """A known word with bits flipped, replaced, or taken from another one."""
    word = source.choice(known)
    bits = 8 * len(word)
    low, number = source.randrange(bits), int.from_bytes(word, "little")
    run_of = lambda most: ((1 << source.randrange(1, most)) - 1) << low
    kind = source.random()
    if kind < 0.5:
        for _ in range(source.choice((1, 1, 2, 3, 5))):
            number ^= 1 << source.randrange(bits)
    elif kind < 0.8:
        mask = run_of(24)
        number = number & ~mask | int.from_bytes(source.choice(known), "little") & mask
    else:
        mask = run_of(12)
        number = number & ~mask | source.getrandbits(256) & mask
    return (number & ((1 << bits) - 1)).to_bytes(len(word), "little")


def shape(theirs, ours):
    """What differs between two texts, with numbers left out."""
    bare = lambda text: re.sub(r"\d+", "N", re.sub(r"0x[0-9a-f]+", "X", text))
    a, b = theirs.split(), ours.split()
    if a[0] != b[0]:
        return f"{a[0]} → {b[0]}"
    length = max(len(a), len(b))
    pairs = [pair for pair in zip(a + [""] * (length - len(a)), b + [""] * (length - len(b))) if pair[0] != pair[1]]
    return " → ".join(bare(" ".join(pair[side] for pair in pairs))[:60] for side in (0, 1))


def processor(name, folder):
    """Options of isaforge, llvm-mc, known words, what makes texts comparable, bytes of the longest instruction."""
    if name.startswith("gfx"):
        arguments = ["-triple=amdgcn", f"-mcpu={name}"]
        # gfx1100 and gfx1150 see halves of registers here.
        arguments += ["-mattr=+real-true16"] if name in ("gfx1100", "gfx1150") else []
        mark = lambda at: ((0xBF800000 | at).to_bytes(4, "little"), f"s_nop {at if at <= 64 else hex(at)}")
        rows = gzip.open(SHARED / "corpora/other/amdgpu.tsv.gz", "rt").read()
        document, column, generations = SHARED / "documents/llvm-tablegen-amdgpu/amdgpu-instructions.jsonl.gz", 3, [name]
        alike, longest = lambda text: re.sub(" +", " ", text), 20
    else:
        attributes = ",".join("+" + extension for extension in EXTENSIONS.split())
        arguments = [f"-triple=riscv{name[2:]}", f"-mattr={attributes}", "-M", "no-aliases"]
        mark = lambda at: ((0xFB7 | at << 12).to_bytes(4, "little"), f"lui t6, {at}")
        rows = (SHARED / "corpora/other/riscv.tsv").read_text()
        with tarfile.open(SHARED / "documents/riscv-unified-db/inst-and-schemas.tar.gz") as archive:
            archive.extractall(folder, filter="data")
        document, column, generations = pathlib.Path(folder) / "spec/std/isa/inst", 2, [name, "rv64"]

        def alike(text):
            text = re.sub(r"0x[0-9a-f]+", lambda number: str(int(number.group(), 16)), text.lower())
            return re.sub(r",\s+", ",", text)

        longest = 4
    cells = (line.split("\t") for line in rows.splitlines() if not line.startswith("#"))
    known = [bytes.fromhex(row[0]) for row in cells if row[column] in generations]
    options = ["--spec", str(document), "--generation", name, "--order", "memory", "--tsv", "-"]
    return options, Llvm(arguments, mark), known, alike, longest


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("isaforge")
    parser.add_argument("processor")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--count", type=int, default=20000, help="how many words")
    parser.add_argument("--show", type=int, default=3, help="how many examples of each class")
    asked = parser.parse_args()
    print("seed", asked.seed)
    source = random.Random(asked.seed)
    with tempfile.TemporaryDirectory() as folder:
        options, llvm, known, alike, longest = processor(asked.processor, folder)

        def ours(command, lines):
            out, errors = run([asked.isaforge, command, *options], lines)
            rows = [line.split("\t") for line in out.splitlines()]
            assert len(rows) == len(lines), errors[:500]
            return rows

        words = [changed(source, known) if source.random() < 0.93 else source.randbytes(8) for _ in range(asked.count)]
        words = [(word + source.randbytes(longest))[:longest] for word in words]
        theirs = llvm.disassemble(words)
        again = iter(llvm.assemble_all([pair[0] for pair in theirs if pair]))
        taken = [(*pair, next(again)) for pair in theirs if pair]
        classes = collections.defaultdict(list)
        same = back = lenient = 0
        rows = zip(taken, ours("dis", [data.hex() for _, data, _ in taken]), ours("asm", [text for text, _, _ in taken]))
        for (text, data, encoded), read, written in rows:
            exact, right = encoded == data, read[1] == "ok"
            found = read[2] if len(read) > 2 else ""
            same += right and alike(found) == alike(text)
            lenient += not right and not exact
            if right and alike(found) != alike(text):
                classes[f"{'text' if exact else 'lossy'}: {shape(text, found)}"].append((data.hex(), text, found))
            if not right and exact:
                classes["refused: " + re.sub(r"0x[0-9a-f]+|\d+", "N", found)[:90]].append((data.hex(), text, found))
            if exact:
                back += data.hex() in written
                if data.hex() not in written:
                    classes["asm: " + re.sub(r"0x[0-9a-f]+|\d+", "N", written[-1])].append((data.hex(), text, written[-1]))
        refused = [word for word, pair in zip(words, theirs) if not pair and word not in llvm.crashes]
        for length in sorted({2, 4, 8, 12, longest}):
            for word, row in zip(refused, ours("dis", [word[:length].hex() for word in refused])):
                # Two instructions in a line are written `\n`.
                if row[1] == "ok" and r"\n" not in row[2]:
                    classes["accepted: " + row[2].split()[0]].append((word[:length].hex(), "-", row[2]))
        print(f"{len(words)} words, {len(taken)} of them instructions of llvm-mc: {same} have its text; {lenient} that it does")
        print(f"not assemble back are refused. {back} of {sum(data == encoded for _, data, encoded in taken)} texts assemble alike.")
        print(f"It crashes at {len(llvm.crashes)} words. {sum(map(len, classes.values()))} differences:")
        for name, examples in sorted(classes.items(), key=lambda item: -len(item[1])):
            print(f"{len(examples):6} {name}")
            for example in examples[: asked.show]:
                print("        ", "  ".join(example))


main()
