"""Code and texts at random, most of them nearly right: everything answers or raises, and nothing panics."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

import pytest
from conftest import ROOT, SEED

import isaforge
from isaforge import Isa

SECONDS = 1.0
EXAMPLES = [ROOT / "examples" / name for name in ("riscv", "sm75", "g13", "lanes")]
T = TypeVar("T")
REFUSALS = (isaforge.Error, ValueError, TypeError, OverflowError)


def attempt(call: Callable[[], T]) -> T | None:
    """What a call gives; `None` where it is refused properly."""
    try:
        return call()
    except REFUSALS:
        return None


def look_at(isa: Isa, code: bytes) -> None:
    """Asks for everything that there is to know of some code."""
    instruction = attempt(lambda: isa.decode(code))
    if instruction is not None:
        assert instruction.bytes == code and str(instruction) == str(isa.decode(instruction.bytes))
        parts = (instruction.operands, instruction.modifiers, instruction.reads, instruction.writes, instruction.flow)
        assert all(part is not None for part in parts) and instruction._repr_html_()
    explained = attempt(lambda: isa.explain(code))
    if explained is not None:
        assert str(explained) and explained._repr_html_() and bool(explained.text) != bool(explained.error)
    for column in (isa.texts, isa.mnemonics, isa.opcodes):
        values = attempt(lambda column=column: column(code))  # type: ignore[misc]
        assert values is None or len(list(values)) == len(values)
    program = isa.program(code)
    assert b"".join(entry.bytes for entry in program) == code
    assert str(program) or not code
    graph = program.graph()
    assert graph.dot() and (graph._repr_svg_() or not code) and program._repr_html_()
    assert sum(len(block.instructions) for block in graph.blocks) == len(program)
    attempt(lambda: isa.decode(int.from_bytes(code, "little")))
    attempt(lambda: isa.run(code, budget=1000, time_limit=1.0))


@pytest.mark.parametrize("name", [*isaforge.sets(), *EXAMPLES], ids=lambda name: str(name).rsplit("/", 1)[-1])
def test_code_and_texts_at_random(name: str) -> None:
    isa, chance = isaforge.load(name), random.Random(SEED)
    known = [found for form in isa.list() if (found := attempt(lambda form=form: isa.explain(form.mnemonic)))]  # type: ignore[misc]
    turned = -1 if isa.kind == "words" else 1
    valid = [(bytes.fromhex(found.code)[::turned], found.text) for found in known if found.text]
    assert valid
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        pieces = (chance.choice(valid)[0] if chance.random() < 0.7 else chance.randbytes(chance.randrange(20)) for _ in range(chance.randrange(6)))
        code = bytearray(b"".join(pieces))
        if code and chance.random() < 0.5:
            code[chance.randrange(len(code))] ^= 1 << chance.randrange(8)
        look_at(isa, bytes(code))
        lines = [chance.choice(valid)[1] for _ in range(chance.randrange(1, 4))]
        text = "\n".join(lines)
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice("\0\t\n,.:;#@\x7fé\u202e😀") + text[at + chance.randrange(3) :]
        for use in (isa.assemble, isa.parse, isa.explain):
            attempt(lambda use=use: use(text))  # type: ignore[misc]
