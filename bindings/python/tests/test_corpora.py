"""The repository's corpora: every column beside what the command prints."""

from __future__ import annotations

import json

import pyarrow
import pytest
from conftest import ROOT, Command, first_column, lines

import isaforge


def rows_of(command: Command, isa: str, *arguments: str, given: bytes) -> list[tuple[str, str, str]]:
    """What `dis --tsv` prints: code, `ok` or `invalid`, text or reason."""
    run = command("dis", *isa.split(), "--tsv", *arguments, given=given)
    assert run.returncode in (0, 1), run.stderr.decode()
    return [tuple(line.split("\t", 2)) for line in run.stdout.decode().splitlines()]  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("valhall", ["tests/data/valhall/words.tsv.gz", "tests/data/valhall/random-words.tsv.gz"]),
        ("valhall-2021", ["tests/data/valhall-2021/words.tsv", "tests/data/valhall/words.tsv.gz"]),
        ("vpu", ["runtime/tests/data/vpu/valid.tsv", "runtime/tests/data/vpu/invalid.tsv"]),
    ],
)
def test_words(command: Command, name: str, files: list[str]) -> None:
    isa = isaforge.load(name)
    digits = [word for file in files for word in first_column(file)]
    expected = rows_of(command, name, "--in", "hex", "--order", "value", "-", given="\n".join(digits).encode())
    assert len(expected) == len(digits)
    code = b"".join(int(word, 16).to_bytes(8, "little") for word in digits)
    texts = [text if status == "ok" else None for _, status, text in expected]
    reasons = [None if status == "ok" else text for _, status, text in expected]
    assert isa.texts(code).to_list() == texts
    rows = pyarrow.record_batch(isa.records(code))
    assert rows.column("text").to_pylist() == texts and rows.column("error").to_pylist() == reasons
    assert rows.column("opcode").to_pylist() == isa.opcodes(code).to_list()
    assert rows.column("mnemonic").to_pylist() == isa.mnemonics(code).to_list()
    forms = isa.list()
    for opcode, mnemonic in zip(isa.opcodes(code), isa.mnemonics(code), strict=True):
        assert (opcode is None) == (mnemonic is None) and (opcode is None or forms[opcode].mnemonic == mnemonic)
    for word, text, reason in list(zip(digits, texts, reasons, strict=True))[::23]:
        try:
            assert isa.disassemble(int(word, 16)) == text
        except isaforge.DecodeError as error:
            assert error.message == reason


@pytest.mark.parametrize("file", ["img-groups.txt", "pco-shader-groups.txt", "pco-multiphase-groups.txt"])
def test_groups(command: Command, usc: isaforge.Isa, file: str) -> None:
    digits = lines(f"compiler/tests/data/usc/{file}")
    expected = rows_of(command, "usc", "--order", "memory", "-", given="\n".join(digits).encode())
    assert len(expected) == len(digits)
    for digits_of_one, row in zip(digits, expected, strict=True):
        code = bytes.fromhex(digits_of_one)
        status, text = row[-2:]
        if status == "ok":
            group = usc.decode(code)
            assert str(group) == text and str(usc.parse(text)) == text
            assert usc.texts(code).to_list() == [text]
        else:
            with pytest.raises(isaforge.DecodeError):
                usc.decode(code)


def objects(command: Command, *target: str, given: bytes) -> list[dict[str, object]]:
    run = command("dis", *target, "--json", "--raw", "-", given=given)
    assert run.returncode in (0, 1), run.stderr.decode()
    return [json.loads(line) for line in run.stdout.decode().splitlines()]


def check_objects(isa: isaforge.Isa, expected: list[dict[str, object]], code: bytes) -> None:
    program = isa.program(code)
    rows = pyarrow.record_batch(isa.records(code)).to_pylist()
    assert len(program) == len(expected) == len(rows)
    for entry, known, row in zip(program, expected, rows, strict=True):
        assert (entry.address, entry.bytes.hex()) == (known["address"], known["bytes"])
        assert program.labels.get(entry.address) == known["label"]
        if isinstance(entry, isaforge.Invalid):
            assert [entry.error] == known["errors"] and row["error"] == entry.error
            continue
        assert (str(entry), entry.mnemonic) == (known["text"], known["mnemonic"]) == (row["text"], row["mnemonic"])
        operands = [{"name": o.name, "kind": o.kind, "value": o.value, "text": o.text} for o in entry.operands]
        assert operands == known["operands"]
        modifiers = [{"name": m.name, "value": m.value, "text": m.text} for m in entry.modifiers]
        assert modifiers == known["modifiers"] and [m["text"] for m in modifiers] == row["modifiers"]
        assert list(entry.reads) == known["reads"] == row["reads"]
        assert list(entry.writes) == known["writes"] == row["writes"]
        flow = entry.flow
        assert known["flow"] == {
            "kind": flow.kind,
            "conditional": flow.conditional,
            "waits": flow.waits,
            "reconverges": flow.reconverges,
            "discards": flow.discards,
            "barrier": flow.barrier,
        }
        assert entry.target == known["target_address"] == row["target"] and row["flow"] == flow.kind


def test_what_instructions_say_of_words(command: Command, valhall: isaforge.Isa) -> None:
    words = first_column("tests/data/valhall/words.tsv.gz")[::9]
    code = b"".join(int(word, 16).to_bytes(8, "little") for word in words)
    check_objects(valhall, objects(command, "valhall", given=code), code)


def test_what_instructions_say_of_groups(command: Command, usc: isaforge.Isa) -> None:
    for digits in lines("compiler/tests/data/usc/pco-multiphase-groups.txt")[:40]:
        code = bytes.fromhex(digits)
        check_objects(usc, objects(command, "usc", given=code), code)


def test_what_instructions_say_of_streams(command: Command, riscv: isaforge.Isa) -> None:
    spec = str(ROOT / "examples/riscv")
    code = riscv.assemble("top: addi t0, t0, -1\nbnez t0, top\nc.nop\nret\n") + b"\xff\xff"
    check_objects(riscv, objects(command, "--spec", spec, given=code), code)


@pytest.mark.parametrize("spec", ["examples/riscv", "examples/sm75", "examples/g13", "examples/lanes"])
def test_listings_of_specifications(command: Command, spec: str) -> None:
    isa = isaforge.load(ROOT / spec)
    code = bytes(index * 37 & 0xFF for index in range(512))
    run = command("dis", "--spec", str(ROOT / spec), "--raw", "-", given=code)
    assert isa.disassemble(code) == run.stdout.decode(), run.stderr.decode()
