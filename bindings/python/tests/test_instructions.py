"""One instruction at a time."""

from __future__ import annotations

import copy
import json
import pickle

import numpy
import pytest
from conftest import ROOT, first_column

import isaforge
from isaforge import AssembleError, BitSpan, DecodeError, Instruction, Operand

FMA = 0x00B2_C000_0080_8140


def test_numbers_and_bytes_decode_to_the_same(valhall: isaforge.Isa) -> None:
    number = valhall.decode(FMA)
    code = FMA.to_bytes(8, "little")
    for same in (code, bytearray(code), memoryview(code), numpy.frombuffer(code, numpy.uint8), numpy.uint64(FMA)):
        assert valhall.decode(same) == number and valhall.annotate(same) == number.annotate()
    assert valhall.disassemble(numpy.uint64(FMA)) == str(number)
    assert hash(valhall.decode(code)) == hash(number)
    assert number != valhall.decode(FMA + 1) and number != FMA
    assert number.word == FMA and number.bytes == code == bytes(number)


def test_an_instruction_says_what_it_is(valhall: isaforge.Isa) -> None:
    fma = valhall.decode(FMA)
    assert str(fma) == "FMA.f32 r0, ^r0, u1, u0" and fma.mnemonic == "FMA.f32"
    assert valhall.list()[fma.opcode or 0].mnemonic == "FMA.f32"
    assert [(o.name, o.kind, o.value, o.text) for o in fma.operands][:2] == [
        ("dest", "register", 0, "r0"),
        ("src0", "last_use", 0, "^r0"),
    ]
    assert fma.reads == ("r0", "u1", "u0") and fma.writes == ("r0",)
    assert fma.flow.kind == "next" and fma.target is None
    clamped = valhall.parse("FMA.f32.clamp_0_1 r0, ^r0, u1, u0")
    assert [(m.name, m.text) for m in clamped.modifiers] == [("clamp", "clamp_0_1")]


def test_instructions_match_patterns(valhall: isaforge.Isa) -> None:
    match valhall.decode(FMA):
        case Instruction("FMA.f32", (Operand("register", into), *_), ()):
            assert into == 0
        case _:
            pytest.fail("it is an FMA")
    match valhall.parse("BRANCHZ.eq ^r1, offset:1").flow:
        case isaforge.Flow("branch", conditional):
            assert conditional
        case _:
            pytest.fail("it is a branch")


def test_text_comes_back_to_the_same_word(valhall: isaforge.Isa) -> None:
    text = valhall.disassemble(FMA)
    assert valhall.parse(text).word == FMA
    assert valhall.assemble_words(text) == [FMA] and valhall.assemble(text) == FMA.to_bytes(8, "little")


@pytest.mark.parametrize("text", ["", "// nothing", "MOV.i32 r1, r2\nMOV.i32 r1, r2", "top:", "MOV"])
def test_one_instruction_is_one_line(valhall: isaforge.Isa, text: str) -> None:
    for use in (valhall.parse, valhall.explain, valhall.annotate):
        with pytest.raises(AssembleError):
            use(text)


def test_data_is_no_instruction(valhall: isaforge.Isa, riscv: isaforge.Isa) -> None:
    for isa, text in ((valhall, ".word 0"), (riscv, ".byte 1")):
        with pytest.raises(AssembleError, match="data"):
            isa.parse(text)
    assert valhall.explain(".word 0").error
    with pytest.raises(AssembleError, match="2 instructions"):
        riscv.parse("nop\nnop")


def test_exactly_one_instruction_is_explained(valhall: isaforge.Isa, usc: isaforge.Isa, riscv: isaforge.Isa) -> None:
    group = bytes.fromhex("6490409000000000")
    pair = riscv.assemble("nop\nnop")
    for isa, code in ((valhall, b""), (usc, b""), (riscv, b""), (usc, 2 * group), (riscv, pair)):
        with pytest.raises(DecodeError):
            isa.explain(code)


def test_a_wrong_word_names_the_bits(valhall: isaforge.Isa) -> None:
    with pytest.raises(DecodeError) as caught:
        valhall.decode(1 << 62 | 3 << 30 | FMA)
    assert caught.value.span == BitSpan(31, 30) and "31..30" in caught.value.message
    assert caught.value.help == "must be zero"
    assert isinstance(caught.value, isaforge.Error) and isinstance(caught.value, ValueError)


@pytest.mark.parametrize("code", [-1, 1 << 64, 1 << 300, b"", b"1234567", b"123456789", b"0" * 16])
def test_what_is_no_word_is_refused(valhall: isaforge.Isa, code: int | bytes) -> None:
    with pytest.raises(DecodeError):
        valhall.decode(code)


@pytest.mark.parametrize("code", [None, 1.5, "MOV", [1], object()])
def test_other_objects_are_refused(valhall: isaforge.Isa, code: object) -> None:
    with pytest.raises(TypeError):
        valhall.decode(code)  # type: ignore[arg-type]


def test_refusals_name_what_is_wrong(valhall: isaforge.Isa, riscv: isaforge.Isa) -> None:
    for isa in (valhall, riscv):
        with pytest.raises(DecodeError, match="not -1$"):
            isa.decode(-1)
    with pytest.raises(DecodeError, match=r"^\[1\]: .* not -1$"):
        valhall.program([0, -1])
    for given in (1.5, "NOP"):
        with pytest.raises(TypeError, match=rf"\[1\] is of the type {type(given).__name__}"):
            valhall.program([0, given])  # type: ignore[list-item]
    for name in (None, b"valhall", 1):
        with pytest.raises(TypeError, match="`name` is a string or a path"):
            isaforge.load(name)  # type: ignore[arg-type]


def test_every_mistake_of_a_text_has_a_place(valhall: isaforge.Isa) -> None:
    with pytest.raises(AssembleError) as caught:
        valhall.assemble("MOV.i32 r1, r2\n  MOV.i32 r1, r99\nFMA.f33 r0, r1, r2, r3")
    assert [error.span for error in caught.value.errors] == [(2, 16, 2), (3, 1, 7)]
    assert caught.value.span == isaforge.TextSpan(2, 16, 2)
    assert "FMA.f32" in caught.value.errors[1].help


def test_many_mistakes_take_bounded_time(valhall: isaforge.Isa) -> None:
    with pytest.raises(AssembleError) as caught:
        valhall.assemble("NONSENSE r0\n" * 100_000)
    assert len(caught.value.errors) == 1000
    for text in ("x" * 1_000_000, "\0", "\n" * 1000 + "top:", "a:\na:", ".word 0x" + "f" * 1000, "\u202e"):
        try:
            valhall.assemble(text)
        except AssembleError as error:
            assert error.message


def test_every_bit_is_explained_once(valhall: isaforge.Isa) -> None:
    fields = valhall.annotate(FMA)
    bits = [bit for field in fields if field.role != "shared" for high, low in field.bits for bit in range(low, high + 1)]
    shared = {bit for field in fields if field.role == "shared" for high, low in field.bits for bit in range(low, high + 1)}
    assert len(bits) == len(set(bits)) and sorted(set(bits) | shared) == list(range(64))
    assert fields == valhall.decode(FMA).annotate() == valhall.explain(FMA).fields


def test_explain_takes_names_texts_and_wrong_words(valhall: isaforge.Isa, usc: isaforge.Isa) -> None:
    assert valhall.explain("FMA.f32").mnemonic == valhall.explain("FMA.f32 r0, r1, r2, r3").mnemonic == "FMA.f32"
    assert "fma(" in valhall.explain("FMA.f32").does
    assert "FMA.f32" in str(valhall.explain("FMA.f32"))
    wrong = valhall.explain(3 << 30 | FMA)
    assert wrong.error and not wrong.text and any(field.wrong for field in wrong.fields)
    assert len(usc.explain("fadd").parts) > 1
    with pytest.raises(AssembleError):
        valhall.explain("no such thing")


def test_what_was_decoded_is_explained_and_printed_again(valhall: isaforge.Isa, usc: isaforge.Isa) -> None:
    fma = valhall.decode(FMA)
    assert str(valhall.explain(fma)) == str(fma.explain()) and valhall.annotate(fma) == fma.annotate()
    assert valhall.decode(fma) == fma and valhall.disassemble(fma) == str(fma)
    group = usc.decode(bytes.fromhex("6490409000000000"))
    assert str(usc.explain(group)) == str(group.explain()) and usc.disassemble(group) == str(group)
    invalid = valhall.program(bytes(8))[0]
    assert isinstance(invalid, isaforge.Invalid) and valhall.explain(invalid).error == invalid.error
    with pytest.raises(DecodeError, match="one of `valhall`, not of `usc`"):
        usc.explain(fma)


def test_the_list_has_all_instructions(valhall: isaforge.Isa) -> None:
    assert len(valhall.list()) == 238
    found = valhall.list("fused", "f32")
    assert "FMA.f32" in [form.mnemonic for form in found]
    fma = next(form for form in found if form.mnemonic == "FMA.f32")
    assert fma.reads == ["src0", "src1", "src2"] and fma.writes == ["dest"] and fma.does and fma.source


SETS = [*isaforge.sets(), *(f"examples/{name}" for name in ("riscv", "sm75", "g13", "lanes"))]


def loaded(name: str) -> tuple[isaforge.Isa, list[str]]:
    """A set, and the arguments of the command for it."""
    if name in isaforge.sets():
        return isaforge.load(name), [name]
    return isaforge.load(ROOT / name), ["--spec", str(ROOT / name)]


@pytest.mark.parametrize("name", SETS)
def test_the_list_is_that_of_the_command(command, name: str) -> None:  # type: ignore[no-untyped-def]
    isa, arguments = loaded(name)
    for words in ([], ["add"], ["shift", "p0"], ["sfu", "approximate"]):
        rows = [json.loads(line) for line in command("list", *arguments, *words, "--json").stdout.splitlines()]
        keys = ("mnemonic", "title", "doc", "unit", "reads", "writes", "intrinsics", "fidelity", "source")
        listed = [{key: getattr(form, key) for key in keys} | {"operation": form.does or None} for form in isa.list(*words)]
        assert listed == rows
    assert [form.opcode for form in isa.list()] == list(range(len(isa.list())))


@pytest.mark.parametrize("name", SETS)
def test_fields_are_those_of_the_command(command, name: str) -> None:  # type: ignore[no-untyped-def]
    isa, arguments = loaded(name)
    for form in isa.list()[::10]:
        try:
            explained = isa.explain(form.mnemonic)
        except isaforge.Error:
            continue  # Without a public encoding, it has no example.
        found = json.loads(command("explain", *arguments, form.mnemonic, "--json").stdout.splitlines()[0])["fields"]
        expected = [(str(field["bits"]), field["name"], field["text"], field["meaning"]) for field in found]
        own = []
        for part in explained.parts:
            for field in part.fields:
                # The command writes the slot of a group, and the operand, before the name of a field.
                names = [name for name in (part.title.split(" (")[0], field.operand, field.name) if name]
                own.append((str([list(run) for run in field.bits]), ".".join(names), field.text, field.meaning))
        assert sorted(own) == sorted(expected), form


def test_explanations_have_their_sources(valhall: isaforge.Isa, usc: isaforge.Isa, riscv: isaforge.Isa) -> None:
    fma = valhall.explain("FMA.f32")
    form = valhall.list("FMA.f32")[0]
    assert (fma.unit, fma.source) == (form.unit, form.source) and fma.provenance == "driver"
    assert fma.modifiers["clamp"] == ["none", "clamp_0_inf", "clamp_m1_1", "clamp_0_1"]
    assert fma.modifiers["src0.neg"] == []
    assert f"source: {form.source}" in str(fma)
    group = usc.explain(bytes.fromhex("6490409000000000"))
    assert [line.split(": ")[0] for line in group.source.splitlines()] == ["BYP.imm16", "BYP.shift", "CBS"]
    assert riscv.explain("beq").provenance == "document"
    assert valhall.explain(valhall.decode(FMA)) == valhall.explain(FMA) != valhall.explain(0)
    assert len({valhall.explain(FMA), valhall.explain(FMA)}) == 1
    again: isaforge.Explanation = pickle.loads(pickle.dumps(fma))
    assert again == fma and copy.deepcopy(fma) == fma


def test_flow_is_unknown_where_the_specification_says_nothing(valhall: isaforge.Isa) -> None:
    silent = isaforge.load(ROOT / "examples/sm75")
    flow = silent.parse("EXIT;").flow
    assert flow.kind is None and not flow.conditional and str(flow) == "unknown"
    assert silent.records(silent.assemble("EXIT;"))["flow"].to_list() == [None]
    assert silent.program("EXIT;\nEXIT;").graph().unknown == 2 and valhall.program("NOP.end").graph().unknown == 0


def test_exact_text_assembles_to_the_same_bytes(command, valhall: isaforge.Isa, riscv: isaforge.Isa) -> None:  # type: ignore[no-untyped-def]
    words = [int(word, 16) for word in first_column("tests/data/valhall/random-words.tsv.gz")]
    code = numpy.array(words, dtype=numpy.uint64).tobytes()
    with pytest.raises(AssembleError):
        valhall.assemble(valhall.disassemble(code))
    assert valhall.assemble(valhall.disassemble(code, exact=True)) == code
    printed = command("dis", "valhall", "--exact", "--raw", "-", given=code)
    assert printed.stdout.decode() == valhall.disassemble(code, exact=True)
    for entry in valhall.program(code)[:200]:
        if isinstance(entry, Instruction):
            assert valhall.assemble(valhall.disassemble(entry, exact=True)) == entry.bytes
            assert valhall.disassemble(entry.word or 0, exact=True) == valhall.disassemble(entry, exact=True)
    short = riscv.decode(0x0001)
    assert riscv.assemble(riscv.disassemble(short, exact=True)) == short.bytes


def test_groups_hold_several_operations(usc: isaforge.Isa) -> None:
    group = usc.decode(bytes.fromhex("6490409000000000"))
    assert group.mnemonic == "BYP.imm16 | BYP.shift | CBS" and group.opcode is None and group.word is None
    assert usc.assemble(str(group)) == group.bytes
    with pytest.raises(TypeError):
        usc.decode(1)
    with pytest.raises(DecodeError):
        usc.decode(b"\xff" * 32)
    with pytest.raises(isaforge.Error):
        usc.assemble_words("nop")


def test_streams_take_numbers_of_any_length(riscv: isaforge.Isa) -> None:
    assert str(riscv.decode(0xFFF28293)) == str(riscv.decode(bytes.fromhex("9382f2ff"))) == "add t0, t0, -1"
    short = riscv.decode(0x0001)
    assert len(short.bytes) == 2 and short.opcode is not None
    for number in (-1, 1 << 256, 0xFFF28293 | 1 << 40):
        with pytest.raises(DecodeError):
            riscv.decode(number)
    assert riscv.explain(0xFFF28293).fields


def test_sets_have_the_names_of_the_command(command) -> None:  # type: ignore[no-untyped-def]
    assert [line.split()[0] for line in command("isas").stdout.decode().splitlines()] == list(isaforge.sets())
    for alias in ("mali", "v9", "rogue", "powervr", "valhall-v9-2021"):
        assert isaforge.load(alias).name in isaforge.sets()
    assert isaforge.load(ROOT / "specs/vpu").word_bits == 64
