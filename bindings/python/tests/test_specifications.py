"""Specifications of one's own, and documents of others."""

from __future__ import annotations

import copy
import json
import multiprocessing
import pickle
from pathlib import Path

import pytest
from conftest import ROOT, Command

import isaforge
from isaforge import SourceSpan, SpecError

SPEC = """isa: tiny
doc: One instruction.
word: 16
provenance: document
banks: { r: { count: 16, prints: "r{n}", doc: A register. } }
instructions:
  MOV:
    doc: Copies.
    fixed: { 15..8: 1 }
    operands:
      dst: { bank: r, bits: 7..4, access: write }
      src: { bank: r, bits: 3..0 }
"""


def test_mistakes_have_code_place_and_help(tmp_path: Path) -> None:
    spec = tmp_path / "tiny.yaml"
    spec.write_text(SPEC.replace("bits: 3..0", "bitz: 3..0").replace("access: write", "acess: write"))
    with pytest.raises(SpecError) as caught:
        isaforge.load(spec)
    errors = caught.value.errors
    assert len(errors) >= 2 and all(error.code.startswith("E") for error in errors)
    first = errors[0]
    assert isinstance(first.span, SourceSpan) and first.span.line == 11
    named = SPEC.encode()
    assert first.span.end > first.span.start and first.span.end <= len(named) + 2
    assert "access" in first.help and "acess" in first.message
    assert first.code in caught.value.rendered and str(caught.value) == caught.value.rendered


def test_what_is_no_specification_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "empty.yaml").write_text("")
    (tmp_path / "bomb.yaml").write_text("a: &a [x, x]\n" + "".join(f"{c}: &{c} [*{p}, *{p}]\n" for p, c in zip("abcdefghij", "bcdefghijk", strict=True)))
    (tmp_path / "deep.yaml").write_text("[" * 10_000)
    for name in ("binary.yaml", "empty.yaml", "bomb.yaml", "deep.yaml", "none.yaml", ""):
        with pytest.raises(SpecError):
            isaforge.load(tmp_path / name)
    for name in ("valhal", "", "/dev/zero", "\0"):
        with pytest.raises((SpecError, ValueError)):
            isaforge.load(name)
    with pytest.raises(SpecError) as caught:
        isaforge.load("valhal")
    assert caught.value.help == "did you mean `valhall`?"


def test_a_specification_that_changed_is_read_again(tmp_path: Path) -> None:
    spec = tmp_path / "tiny.yaml"
    spec.write_text(SPEC)
    first, second = isaforge.load(spec), isaforge.load(spec)
    assert first.decode(0x0112) == second.decode(0x0112)
    spec.write_text(SPEC.replace("MOV:", "COPY:"))
    assert isaforge.load(spec).disassemble(0x0112) == "COPY r1, r2" and first.disassemble(0x0112) == "MOV r1, r2"
    with pytest.raises(isaforge.DecodeError, match="before it changed and was loaded again"):
        isaforge.load(spec).explain(first.decode(0x0112))


def test_copies_do_not_read_the_specification_again(tmp_path: Path) -> None:
    spec = tmp_path / "tiny.yaml"
    spec.write_text(SPEC)
    isa = isaforge.load(spec)
    instruction, program = isa.decode(0x0112), isa.program([0x0112])
    spec.unlink()
    for whole in (isa, instruction, program):
        assert copy.copy(whole) is whole and copy.deepcopy([whole])[0] is whole


DATA = ROOT / "compiler/tests/data"


def test_generations_are_chosen_by_name_or_number(command: Command) -> None:
    for document, generation, wrong in (("isaspec/loom.xml", "2", "1"), ("bifrost.xml", "fma", "7"), ("riscv-unified-db", "rv32", "rv33")):
        isa = isaforge.load(DATA / document, generation=generation)
        given = bytes(index * 73 & 0xFF for index in range(256))
        run = command("dis", "--spec", str(DATA / document), "--generation", generation, "--raw", "-", given=given)
        assert isa.disassemble(given) == run.stdout.decode()
        listed = command("list", "--spec", str(DATA / document), "--generation", generation, "--json").stdout
        assert [form.mnemonic for form in isa.list()] == [json.loads(row)["mnemonic"] for row in listed.splitlines()]
        for other in (None, wrong):
            with pytest.raises(SpecError, match="generation"):
                isaforge.load(DATA / document, generation=other)
    with pytest.raises(SpecError):
        isaforge.load("valhall", generation="1")
    with pytest.raises(SpecError):
        isaforge.load(ROOT / "examples/riscv", generation="none")


def test_sequences_of_operands_have_no_bits_to_speak_of() -> None:
    isa = isaforge.load(DATA / "spirv.json")
    code = isa.assemble('OpName %1 "name"')
    assert isa.disassemble(code) == 'OpName %1 "name"'
    uses = [isa.decode, isa.program, isa.texts, isa.records, isa.explain, isa.opcodes, isa.annotate]
    for use in uses:
        with pytest.raises(isaforge.Error, match="sequences of operands"):
            use(code)
    for hostile in (b"", bytes(3), bytes(4), b"\xff" * 64):
        with pytest.raises(isaforge.DecodeError):
            isa.disassemble(hostile)


def test_sets_go_to_other_processes(tmp_path: Path) -> None:
    loom = isaforge.load(DATA / "isaspec/loom.xml", "2")
    for isa in (loom, isaforge.load("mali"), isaforge.load(ROOT / "examples/riscv")):
        assert pickle.loads(pickle.dumps(isa)) == isa and len({isa, pickle.loads(pickle.dumps(isa))}) == 1
    assert loom != isaforge.load(DATA / "isaspec/loom.xml", "3")


def test_instructions_and_programs_go_to_other_processes(valhall: isaforge.Isa, usc: isaforge.Isa, riscv: isaforge.Isa) -> None:
    loop = valhall.program("top: IADD_IMM.i32 r0, ^r0, #0x1\nBRANCHZ.eq ^r1, top\nNOP.end")
    group = usc.decode(bytes.fromhex("6490409000000000"))
    for instruction in (*loop, *riscv.program("top: addi a0, a0, 5\nbnez a0, top"), group):
        assert isinstance(instruction, isaforge.Instruction)
        again = pickle.loads(pickle.dumps(instruction))
        assert again == instruction and hash(again) == hash(instruction)
        facts = [(one.operands, one.reads, one.writes, one.flow, one.target, one.address) for one in (again, instruction)]
        assert facts[0] == facts[1]
    again = pickle.loads(pickle.dumps(loop))
    assert list(again) == list(loop) and again.labels == loop.labels == {0: "l0"}
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(str, list(loop)) == [str(instruction) for instruction in loop]


def test_long_words_of_streams() -> None:
    volta = isaforge.load(ROOT / "examples/sm75")
    assert volta.kind == "stream" and volta.unit == 16 and volta.word_bits is None
    form = next(form for form in volta.list() if volta.explain(form.mnemonic).text)
    explained = volta.explain(form.mnemonic)
    code = bytes.fromhex(explained.code)
    assert len(code) == 16 and volta.decode(int.from_bytes(code, "little")) == volta.decode(code)
    assert sum(high - low + 1 for field in explained.fields for high, low in field.bits) == 128
