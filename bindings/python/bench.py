"""Speed beside capstone and keystone: prints a table. `pip install capstone keystone-engine numpy pyarrow` first.

Every figure is the best of several runs. What one thread does is measured in CPU time, so that others on the machine matter
less; what several do at once, in time on the wall, where they matter.
"""

from __future__ import annotations

import gzip
import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy
import pyarrow

import isaforge

ROOT = Path(__file__).resolve().parents[2]
WORDS = 1_000_000
TURNS = 5

# AArch64 as compilers write it, for the peers: capstone knows no Mali.
AARCH64 = """
stp x29, x30, [sp, #-16]!
mov x29, sp
add x0, x1, x2
ldr w3, [x0, #8]
madd w4, w3, w2, w1
fmul s0, s1, s2
fmadd s3, s0, s1, s2
cmp w4, #16
b.ne #64
ldp x29, x30, [sp], #16
ret
""".strip()


def corpus() -> list[int]:
    """Valid words of compiled shaders, each once."""
    with gzip.open(ROOT / "tests/data/valhall/words.tsv.gz", "rt") as lines:
        return [int(line.split("\t")[0], 16) for line in lines if line[0] != "#"]


def best(run: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """Seconds of the fastest of several runs."""
    times = []
    for _ in range(TURNS):
        start = clock()
        run()
        times.append(clock() - start)
    return min(times)


def alone(raw: bytes) -> int:
    """The texts of all words, without sending them anywhere."""
    return len(isaforge.load("valhall").texts(raw))


def row(what: str, value: str, goal: str = "", ratio: str = "") -> None:
    print(f"{what:44} {value:>16}  {goal:16} {ratio}")


def main() -> None:
    isa = isaforge.load("valhall")
    some = [word for word in corpus() if isa.opcodes(word.to_bytes(8, "little"))[0] is not None]
    words = numpy.resize(numpy.array(some, dtype=numpy.uint64), WORDS)
    raw = words.tobytes()

    row("isaforge", "", "goal")
    row("10^6 words to opcodes", f"{best(lambda: isa.opcodes(words)) * 1e3:.1f} ms", "15 ms")
    row("10^6 words to mnemonics", f"{best(lambda: isa.mnemonics(words)) * 1e3:.1f} ms")
    texts = best(lambda: pyarrow.array(isa.texts(words)))
    row("10^6 words to an Arrow string column", f"{texts * 1e3:.1f} ms", "130 ms")
    row("10^5 words to a record batch", f"{best(lambda: isa.records(words[:100_000])) * 1e3:.1f} ms")

    numbers = some[:10_000]

    def calls(one: Callable[[int], object]) -> Callable[[], None]:
        def run() -> None:
            for number in numbers:
                one(number)

        return run

    single = best(calls(isa.disassemble)) / len(numbers)
    row("one call, a number to text", f"{single * 1e6:.2f} us", "0.7 us")
    row("one call, a number to an instruction", f"{best(calls(isa.decode)) / len(numbers) * 1e6:.2f} us", "0.7 us")

    # Without labels, as each has its place.
    lines = "".join(f"{text}\n" for text in isa.texts(raw[: 8 * 100_000]))
    assembling = 100_000 / best(lambda: isa.assemble(lines))
    row("assembling", f"{assembling / 1e6:.1f} M lines/s", "2 M lines/s")

    # Two threads against one, each with all of the words.
    def threads(count: int) -> float:
        def run() -> None:
            running = [threading.Thread(target=isa.texts, args=(words,)) for _ in range(count)]
            for thread in running:
                thread.start()
            for thread in running:
                thread.join()

        return best(run, time.perf_counter)

    one, two = threads(1), threads(2)
    row("texts in two threads beside one", f"{2 * one / two:.2f} times", f"{os.cpu_count()} cores")
    # What the machine gives to two of whatever: two processes share nothing.
    with multiprocessing.get_context("fork").Pool(2) as pool:
        single, both = (best(lambda: pool.map(alone, given, 1), time.perf_counter) for given in ([raw], [raw, raw]))
        row("the same in two processes", f"{2 * single / both:.2f} times")
    peers(isa, raw, lines)


def peers(isa: isaforge.Isa, raw: bytes, lines: str) -> None:
    """The same work by capstone and keystone, on AArch64; isaforge's turn comes right before or after each."""
    try:
        import capstone
        import keystone
    except ImportError as error:
        print(f"NOT RUN: capstone and keystone ({error})")
        return
    print()
    row("beside capstone and keystone, AArch64", "", "goal", "isaforge, theirs")
    ks = keystone.Ks(keystone.KS_ARCH_ARM64, keystone.KS_MODE_LITTLE_ENDIAN)
    encoded, count = ks.asm(AARCH64)
    code = bytes(encoded)
    cs = capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_LITTLE_ENDIAN)
    arm = [code[at : at + 4] for at in range(0, len(code), 4)]
    numbers = [int.from_bytes(raw[at : at + 8], "little") for at in range(0, 8 * len(arm) * 100, 8)]

    def theirs() -> None:
        for _ in range(100):
            for word in arm:
                for _ in cs.disasm_lite(word, 0):
                    pass

    def ours() -> None:
        for number in numbers:
            isa.disassemble(number)

    mine, other = best(ours) / len(numbers), best(theirs) / len(numbers)
    row("one call, to text", f"{other / mine:.1f} times", "3 times", f"{mine * 1e6:.2f} us, {other * 1e6:.2f} us")

    many = code * (100_000 // len(arm) + 1)
    batch = len(many) // 4
    mine = best(lambda: pyarrow.array(isa.texts(raw[: 8 * batch]))) / batch
    other = best(lambda: list(cs.disasm_lite(many, 0))) / batch
    row("a batch, to text", f"{other / mine:.1f} times", "20 times", f"{mine * 1e9:.0f} ns, {other * 1e9:.0f} ns a word")

    program = "\n".join([AARCH64] * 200)
    our_lines = "".join(lines.splitlines(keepends=True)[: 200 * count])
    mine = best(lambda: isa.assemble(our_lines)) / (200 * count)
    other = best(lambda: ks.asm(program)) / (200 * count)
    row("assembling", f"{other / mine:.1f} times", "", f"{mine * 1e9:.0f} ns, {other * 1e9:.0f} ns a line")


if __name__ == "__main__":
    main()
