"""Whole programs: listings, labels, graphs."""

from __future__ import annotations

import copy
import html
import json
import pickle
import random
import weakref
from typing import Any

import numpy
import pyarrow
import pytest
from conftest import ROOT, SEED

import isaforge

LOOP = "top: IADD_IMM.i32 r0, ^r0, #0x1\n.word 0\nBRANCHZ.eq ^r1, top\nNOP.end\n"


def test_a_program_is_a_sequence(valhall: isaforge.Isa) -> None:
    program = valhall.program(LOOP)
    assert len(program) == 4 == len(list(program)) and program[-1].address == 24
    assert [type(entry).__name__ for entry in program[:2]] == ["Instruction", "Invalid"]
    assert program.labels == {0: "l0"} and program.at(16) == program[2]
    for index in (4, -5):
        with pytest.raises(IndexError):
            program[index]
    for address, why in ((1, "within the one at 0x0"), (32, "32 bytes"), (-1, "-1 is no"), (1 << 70, "is no address")):
        with pytest.raises(IndexError, match=why):
            program.at(address)
    branch = program[2]
    assert isinstance(branch, isaforge.Instruction) and branch.target == 0 and branch.flow.conditional


def test_programs_are_values(valhall: isaforge.Isa) -> None:
    program, other = valhall.program(LOOP), valhall.program("NOP.end")
    assert program == valhall.program(program.bytes) != other and len({program, valhall.program(LOOP), other}) == 2
    assert program != program.bytes and bytes(program) == program.bytes and bytes(program[1]) == bytes(8)
    assert repr(other) == "<isaforge.Program of 1 instruction, valhall>"
    assert pickle.loads(pickle.dumps(program)) == program and copy.deepcopy(program) is program
    kept = list(program)
    assert pickle.loads(pickle.dumps(kept)) == copy.deepcopy(kept) == kept


def test_what_an_instruction_consists_of_can_be_copied_and_pickled(valhall: isaforge.Isa) -> None:
    clamped = valhall.parse("FMA.f32.clamp_0_1 r0, ^r0, u1, u0")
    parts = [*clamped.operands, *clamped.modifiers, clamped.flow, *clamped.annotate()]
    parts += [valhall.list()[3], valhall.program(LOOP)[1]]
    for part in parts:
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            again = pickle.loads(pickle.dumps(part, protocol))
            assert again == part and type(again) is type(part) and hash(again) == hash(part)
        assert copy.copy(part) == copy.deepcopy(part) == part and weakref.ref(part)() is part
    assert isaforge.Operand("dest", "register", 0, "r0") == clamped.operands[0]
    program, rows = valhall.program(LOOP), valhall.records(b"")
    for whole in (valhall, clamped, program, program.graph(), valhall.explain(0), rows, rows["text"]):
        assert weakref.ref(whole)() is whole


def test_an_instruction_of_a_program_is_the_one_decoded_alone(command) -> None:  # type: ignore[no-untyped-def]
    # The branch masks lanes, which go on after the end, but the instruction is the same.
    vpu = isaforge.load("vpu")
    program = vpu.program("Branch.z end\nend: Exit")
    run = command("dis", "vpu", "--json", "--raw", "-", given=program.bytes)
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    for entry, row in zip(program, rows, strict=True):
        assert isinstance(entry, isaforge.Instruction)
        assert entry.flow == vpu.decode(entry.word or 0).flow
        assert (entry.flow.kind, entry.flow.conditional) == (row["flow"]["kind"], row["flow"]["conditional"])


def test_what_is_no_instruction_is_kept_with_its_reason(valhall: isaforge.Isa) -> None:
    match valhall.program(LOOP)[1]:
        case isaforge.Invalid(code, error):
            assert code == bytes(8) and "NOP" in error
        case _:
            pytest.fail("a word of zeros is no instruction")


def test_listings_are_read_back(valhall: isaforge.Isa, usc: isaforge.Isa, riscv: isaforge.Isa) -> None:
    code = valhall.assemble(LOOP)
    assert valhall.assemble(valhall.disassemble(code)) == code == valhall.program(code).bytes
    chance = random.Random(SEED)
    for isa in (valhall, usc, riscv, isaforge.load("vpu")):
        for length in (0, 8, 64, 800):
            text = isa.disassemble(chance.randbytes(length))
            try:
                code = isa.assemble(text)
            except isaforge.AssembleError as error:
                # The limits of a set are rules of the assembler, not of the encoding.
                assert "at most" in str(error), isa
            else:
                # Two encodings may share a text; the assembler gives the first.
                assert isa.disassemble(code) == text, isa


def test_a_piece_of_a_word_is_refused_where_it_would_be_lost(valhall: isaforge.Isa) -> None:
    with pytest.raises(isaforge.DecodeError):
        valhall.disassemble(b"123456789")
    cut = valhall.program(b"123456789")
    assert isinstance(cut[-1], isaforge.Invalid) and cut[-1].bytes == b"9" and "1 of 9 bytes" in str(cut)
    assert len(valhall.program(b"")) == 0 and valhall.disassemble(b"") == ""


def test_graphs_have_blocks_edges_and_pictures(valhall: isaforge.Isa) -> None:
    graph = valhall.program(LOOP.replace(".word 0\n", "")).graph()
    first, last = graph.blocks
    assert first.successors == [(1, "next"), (0, "branch")] and last.successors == []
    assert graph.back_edges == [(0, 0)] and first.depth == 1 and last.reachable
    assert [entry.address for entry in last.instructions] == [16]
    assert graph.svg().startswith("<svg") and graph._repr_svg_() == graph.svg()
    assert "b0 -> b1" in graph.dot()


def test_pictures_are_those_of_the_command(command, valhall: isaforge.Isa) -> None:  # type: ignore[no-untyped-def]
    code = valhall.assemble(LOOP)
    drawn = command("graph", "valhall", "--raw", "-", given=code)
    assert drawn.returncode in (0, 1), drawn.stderr
    title = drawn.stdout.decode().split("Control flow of ")[1].split("<")[0]
    assert valhall.program(code).graph().svg(html.unescape(title)).strip() == drawn.stdout.decode().strip()


def test_graphs_that_are_too_large_say_so(valhall: isaforge.Isa) -> None:
    graph = valhall.program("BRANCHZ.eq ^r1, offset:0\n" * 500).graph()
    with pytest.raises(isaforge.Error, match="too many for a picture"):
        graph.svg()
    assert graph._repr_svg_() is None and graph.dot()
    empty = valhall.program(b"").graph()
    assert empty.blocks == () and empty._repr_svg_() is None and empty.dot()
    with pytest.raises(isaforge.Error, match="without instructions"):
        empty.svg()


def test_notebooks_show_bits_fields_and_labels(valhall: isaforge.Isa, usc: isaforge.Isa, riscv: isaforge.Isa) -> None:
    for isa, code in ((valhall, 0x00B2C00000808140), (usc, bytes.fromhex("6490409000000000")), (riscv, 0xFFF28293)):
        instruction = isa.decode(code)
        shown = instruction._repr_html_()
        assert 'class="bits"' in shown and shown.count("<div") == shown.count("</div")
        explained = instruction.explain()._repr_html_()
        assert all(field.name.split(".")[-1] in explained for field in instruction.annotate())
    assert "l0:" in valhall.program(LOOP)._repr_html_()
    assert "<svg" in usc.explain(bytes.fromhex("6490409000000000"))._repr_html_()
    assert 'class="wrong"' in valhall.explain(3 << 30)._repr_html_() or "error" in valhall.explain(3 << 30)._repr_html_()


def test_nothing_in_a_text_becomes_html() -> None:
    modules = isaforge.load(ROOT / "examples/g13")
    assert "<script" not in modules.program(bytes(range(64)))._repr_html_()


@pytest.mark.parametrize("given", [numpy.zeros(1, dtype=kind) for kind in (">u8", "f8", "i8", "u4", "c16", "S8", "O")], ids=repr)
def test_arrays_of_other_numbers_are_not_code(valhall: isaforge.Isa, given: Any) -> None:
    calls = (valhall.program, valhall.disassemble, valhall.decode, valhall.explain, valhall.annotate, valhall.run)
    for call in (*calls, valhall.texts):
        with pytest.raises(TypeError, match="words have 64 bits"):
            call(given)


def test_arrays_of_words_are_code_however_they_lie(valhall: isaforge.Isa, riscv: isaforge.Isa) -> None:
    words = numpy.array(valhall.assemble_words("MOV.i32 r1, r2\nNOP\nNOP.end"), dtype=numpy.uint64)
    expected = "MOV.i32 r1, r2\nNOP.end"
    some: list[Any] = [words[::2], pyarrow.array(words[::2]), tuple(map(int, words[::2])), words[::2].tobytes()]
    for given in some:
        assert str(valhall.program(given)) == expected
    assert valhall.decode(pyarrow.array(words[:1])) == valhall.decode(words[:1]) == valhall.decode(words[0])
    assert str(riscv.program(numpy.array([0x13], dtype=numpy.uint32))) == "nop"
    with pytest.raises(ValueError, match="no null words"):
        valhall.program(pyarrow.array([1, None], type=pyarrow.uint64()))
    with pytest.raises(TypeError, match="expected text, a list of words, bytes, a buffer or an Arrow array, not dict"):
        valhall.program({})  # type: ignore[arg-type]


def test_programs_of_other_sets_are_refused(valhall: isaforge.Isa, riscv: isaforge.Isa) -> None:
    program = valhall.program("NOP.end")
    for call in (riscv.program, riscv.disassemble, riscv.run, riscv.trace, riscv.records):
        with pytest.raises(isaforge.Error, match="the program is one of `valhall`"):
            call(program)
    assert valhall.program(program).bytes == program.bytes
