"""Columns of many instructions, and what they are made from."""

from __future__ import annotations

import ctypes
import importlib
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy
import pyarrow
import pytest
from conftest import SEED, first_column

import isaforge
from isaforge import DecodeError, Instruction, Isa


Words = numpy.ndarray[tuple[int], numpy.dtype[numpy.uint64]]


@pytest.fixture(scope="module")
def words() -> Words:
    """Valid words of shaders, and as many at random that mostly are none."""
    some = [int(word, 16) for word in first_column("tests/data/valhall/words.tsv.gz")[::7]]
    chance = random.Random(SEED)
    return numpy.array(some + [chance.getrandbits(64) for _ in some], dtype=numpy.uint64)


def single(isa: Isa, word: int) -> Instruction | None:
    try:
        return isa.decode(word)
    except DecodeError:
        return None


def test_columns_say_what_single_calls_say(valhall: Isa, words: Words) -> None:
    expected = [single(valhall, int(word)) for word in words]
    assert sum(one is None for one in expected) > 100
    assert pyarrow.array(valhall.opcodes(words)).to_pylist() == [one and one.opcode for one in expected]
    assert pyarrow.array(valhall.mnemonics(words)).to_pylist() == [one and one.mnemonic for one in expected]
    assert pyarrow.array(valhall.texts(words)).to_pylist() == [one and str(one) for one in expected]
    rows = pyarrow.record_batch(valhall.records(words)).to_pylist()
    assert [row["word"] for row in rows] == words.tolist()
    for index, (row, one) in enumerate(zip(rows, expected, strict=True)):
        assert row["address"] == 8 * index
        if one is None:
            with pytest.raises(DecodeError) as caught:
                valhall.decode(row["word"])
            assert row["error"] == caught.value.message
            assert row["text"] is row["opcode"] is row["mnemonic"] is row["reads"] is row["flow"] is None
            continue
        assert row["error"] is None
        assert (row["opcode"], row["mnemonic"], row["text"]) == (one.opcode, one.mnemonic, str(one))
        assert (tuple(row["reads"]), tuple(row["writes"])) == (one.reads, one.writes)
        assert (row["flow"], row["modifiers"]) == (one.flow.kind, [m.text for m in one.modifiers])
        assert row["target"] == (None if one.target is None else one.target + 8 * index)


def test_every_kind_of_input_gives_the_same(valhall: Isa, words: Words) -> None:
    expected = valhall.opcodes(words).to_list()
    raw = words.tobytes()
    shifted = numpy.frombuffer(b"x" + raw, dtype=numpy.uint8)[1:]
    sparse = numpy.zeros(2 * len(words), dtype=numpy.uint64)
    sparse[::2] = words
    inputs = [
        raw,
        bytearray(raw),
        memoryview(raw),
        memoryview(raw).cast("Q"),
        words.view(numpy.uint8),
        words.reshape(-1, 2) if len(words) % 2 == 0 else words,
        shifted,
        shifted.view(numpy.dtype("<u8")),
        sparse[::2],
        words[::-1].copy()[::-1],
        pyarrow.array(words),
        pyarrow.array(numpy.concatenate([words[:3], words]))[3:],
        numpy.asfortranarray(words),
    ]
    for given in inputs:
        assert valhall.opcodes(given).to_list() == expected, type(given)


def test_results_need_no_arrow_library(valhall: Isa) -> None:
    code = valhall.assemble("MOV.i32 r1, r2\n.word 0")
    assert valhall.texts(code).to_list() == ["MOV.i32 r1, r2", None]
    column = valhall.mnemonics(code)
    assert (len(column), column.null_count, column[0], column[-1], list(column)) == (2, 1, "MOV.i32", None, ["MOV.i32", None])
    with pytest.raises(IndexError):
        column[2]
    rows = valhall.records(code)
    assert rows["reads"].to_list() == [["r2"], None] and len(rows) == 2
    assert rows.columns[0] == "address"
    with pytest.raises(KeyError):
        rows["nothing"]


def test_columns_have_slices_and_batches_have_rows(valhall: Isa, riscv: Isa) -> None:
    code = valhall.assemble("top: MOV.i32 r1, r2\n.word 0\nBRANCHZ.eq ^r1, top\nNOP.end")
    rows = valhall.records(code)
    assert rows["target"].to_list() == [None, None, 0, None] == [row["target"] for row in rows]
    assert rows.to_list() == list(rows) == pyarrow.record_batch(rows).to_pylist() and len(list(rows)) == len(rows)
    assert riscv.records(riscv.assemble("top: addi a0, a0, 5\nbnez a0, top"))["target"][1] == 0
    for column in (rows[name] for name in rows.columns):
        values = column.to_list()
        for bounds in ((1, 3), (None, None, -1), (None, None, 2), (3, 1), (-2, None), (9, 12)):
            part = slice(*bounds)
            assert column[part].to_list() == values[part] == pyarrow.array(column[part]).to_pylist()
        assert column[:] == column and column[1:] != column and column != values
    assert rows == valhall.records(code) != valhall.records(code[8:])
    assert repr(valhall.records(code[:8])).startswith("<isaforge.RecordBatch of 1 row: ")


def test_a_piece_of_a_word_is_a_decode_error(valhall: Isa) -> None:
    for use in (valhall.texts, valhall.opcodes, valhall.records, valhall.disassemble):
        with pytest.raises(DecodeError, match="3 of 3 bytes are left over"):
            use(b"abc")


def test_arrow_types_are_as_promised(valhall: Isa) -> None:
    code = valhall.assemble("MOV.i32 r1, r2")
    assert pyarrow.array(valhall.opcodes(code)).type == pyarrow.uint16()
    assert pyarrow.array(valhall.mnemonics(code)).type == pyarrow.dictionary(pyarrow.uint16(), pyarrow.utf8())
    assert pyarrow.array(valhall.texts(code)).type == pyarrow.utf8()
    for column in (valhall.opcodes(code), valhall.mnemonics(code), valhall.texts(code)):
        pyarrow.array(column).validate(full=True)
    pyarrow.record_batch(valhall.records(code)).validate(full=True)
    assert pyarrow.schema(valhall.records(code)).names == list(valhall.records(code).columns)


def test_nulls_stay_null(valhall: Isa) -> None:
    move = valhall.assemble_words("MOV.i32 r1, r2")[0]
    given = pyarrow.array([move, None, move, 0], type=pyarrow.uint64())
    assert valhall.mnemonics(given).to_list() == ["MOV.i32", None, "MOV.i32", None]
    assert valhall.texts(given[1:]).to_list() == [None, "MOV.i32 r1, r2", None]
    rows = pyarrow.record_batch(valhall.records(given)).to_pylist()
    assert rows[1]["word"] is None and rows[1]["error"] == "the word is null" and rows[3]["word"] == 0


def test_nothing_in_gives_nothing_out(valhall: Isa, usc: Isa) -> None:
    for isa in (valhall, usc):
        for given in (b"", bytearray(), numpy.array([], dtype=numpy.uint8)):
            assert len(isa.texts(given)) == len(isa.mnemonics(given)) == len(isa.records(given)) == 0
            pyarrow.record_batch(isa.records(given)).validate(full=True)
    assert pyarrow.array(valhall.opcodes(numpy.array([], dtype=numpy.uint64))).to_pylist() == []


COLUMNS: list[Callable[[Isa], Callable[[object], object]]] = [
    lambda isa: isa.opcodes,  # type: ignore[list-item, return-value]
    lambda isa: isa.mnemonics,  # type: ignore[list-item, return-value]
    lambda isa: isa.texts,  # type: ignore[list-item, return-value]
    lambda isa: isa.records,  # type: ignore[list-item, return-value]
]


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize(
    "given",
    [
        numpy.zeros(4, dtype=numpy.int64),
        numpy.zeros(4, dtype=numpy.uint32),
        numpy.zeros(4, dtype=numpy.float64),
        numpy.zeros(4, dtype=">u8"),
        numpy.zeros(4, dtype=object),
        numpy.zeros(4, dtype=[("a", "u4"), ("b", "u4")]),
        numpy.array(["text"]),
        pyarrow.array([1, 2], type=pyarrow.int64()),
        pyarrow.array(["text"]),
        pyarrow.chunked_array([pyarrow.array([1], type=pyarrow.int64())]),
        numpy.ma.array(numpy.zeros(4, dtype=numpy.uint64), mask=[False, True, False, False]),
        numpy.float64(2.0),
        "text",
        None,
        7,
        [1, 2, 3],
    ],
    ids=repr,
)
def test_wrong_types_are_refused(valhall: Isa, column: Callable[[Isa], Callable[[object], object]], given: object) -> None:
    with pytest.raises((TypeError, ValueError, BufferError)):
        column(valhall)(given)


@pytest.mark.parametrize(
    ("given", "help"),
    [
        ("MOV.i32 r1, r2", "`parse` and `assemble` read text"),
        ([1, 2, 3], "numpy.array makes a buffer of a list"),
        ((1, 2, 3), "numpy.array makes a buffer of a list"),
        (numpy.ma.array([1], mask=[True], dtype=numpy.uint64), "`filled` replaces them"),
        (numpy.array([1.0, numpy.nan]), "a column with nulls becomes floats"),
    ],
    ids=lambda given: str(type(given)),
)
def test_what_is_nearly_right_is_helped(valhall: Isa, given: object, help: str) -> None:
    with pytest.raises(TypeError, match=help):
        valhall.opcodes(given)  # type: ignore[arg-type]


def test_columns_and_foreign_buffers_are_read(valhall: Isa) -> None:
    words = valhall.assemble_words("MOV.i32 r1, r2\nNOP.end")
    chunks = pyarrow.chunked_array([pyarrow.array([word], type=pyarrow.uint64()) for word in words])
    foreign = (ctypes.c_uint64 * 2)(*words)
    program = valhall.program(words)
    given: list[Any] = [chunks, foreign, pyarrow.py_buffer(program.bytes), program]
    for package in ("polars", "pandas"):
        try:
            series = importlib.import_module(package).Series
        except ImportError:
            continue
        given.append(series(numpy.array(words, dtype=numpy.uint64)))
    for code in given:
        assert valhall.texts(code).to_list() == ["MOV.i32 r1, r2", "NOP.end"], type(code)
        assert valhall.program(code).bytes == program.bytes, type(code)
    with pytest.raises(isaforge.Error, match="of `valhall`, not of `vpu`"):
        isaforge.load("vpu").texts(program)


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize(
    "given",
    [
        b"1234567",
        numpy.zeros(15, dtype=numpy.uint8),
        numpy.zeros(32, dtype=numpy.uint8)[::2],
        numpy.zeros((4, 4), dtype=numpy.uint64)[:, ::2],
        numpy.broadcast_to(numpy.uint64(0), 1 << 40),
        numpy.lib.stride_tricks.as_strided(numpy.zeros(4, dtype=numpy.uint64), (1 << 40,), (1,)),
    ],
    ids=lambda given: str(type(given)),
)
def test_wrong_shapes_are_refused(valhall: Isa, column: Callable[[Isa], Callable[[object], object]], given: object) -> None:
    with pytest.raises(ValueError):
        column(valhall)(given)


def test_capsules_that_are_none_are_refused(valhall: Isa) -> None:
    class Liar:
        def __init__(self, answer: object) -> None:
            self.answer = answer

        def __arrow_c_array__(self, requested_schema: object = None) -> object:
            return self.answer

    schema, array = valhall.opcodes(b"").__arrow_c_array__()
    for answer in (None, (), (1, 2), (array, schema), "ab"):
        with pytest.raises((TypeError, ValueError)):
            valhall.opcodes(Liar(answer))  # type: ignore[arg-type]
    words = pyarrow.array([1], type=pyarrow.uint64()).__arrow_c_array__()
    assert len(valhall.opcodes(Liar(words))) == 1  # type: ignore[arg-type]
    with pytest.raises((TypeError, ValueError)):
        # What has been taken out of a capsule is not there a second time.
        valhall.opcodes(Liar(words))  # type: ignore[arg-type]


def test_groups_and_streams_have_columns_too(usc: Isa, riscv: Isa) -> None:
    with pytest.raises(isaforge.Error, match="several operations"):
        usc.opcodes(b"\0" * 8)
    for isa, code in ((usc, bytes.fromhex("6490409000000000ffff")), (riscv, bytes.fromhex("9382f2ff0100ffff"))):
        program = isa.program(code)
        rows = pyarrow.record_batch(isa.records(code)).to_pylist()
        assert [row["bytes"] for row in rows] == [entry.bytes for entry in program]
        assert [row["address"] for row in rows] == [entry.address for entry in program]
        texts = [str(entry) if isinstance(entry, Instruction) else None for entry in program]
        assert [row["text"] for row in rows] == texts == isa.texts(code).to_list()
        names = [entry.mnemonic if isinstance(entry, Instruction) else None for entry in program]
        assert [row["mnemonic"] for row in rows] == names == isa.mnemonics(numpy.frombuffer(code, numpy.uint8)).to_list()


def test_words_of_other_sizes_come_in_arrays_of_their_own(tmp_path) -> None:  # type: ignore[no-untyped-def]
    spec = tmp_path / "blink.yaml"
    spec.write_text(
        'isa: blink\ndoc: Lamps.\nword: 16\nprovenance: document\nbanks: { lamp: { count: 8, prints: "l{n}", doc: A lamp. } }\n'
        "instructions:\n  SET.u8:\n    doc: Sets a lamp.\n    fixed: { 15..11: 0b00100 }\n    operands:\n"
        "      dst: { bank: lamp, bits: 10..8, access: write }\n      level: { immediate: decimal, bits: 7..0 }\n"
    )
    isa = isaforge.load(spec)
    words = numpy.array([0x2000, 0x23C8, 0xFFFF], dtype=numpy.uint16)
    texts = ["SET.u8 l0, #0", "SET.u8 l3, #200", None]
    for given in (words, words.tobytes(), pyarrow.array(words), words[::-1].copy()[::-1]):
        assert isa.texts(given).to_list() == texts
    assert isa.decode(0x23C8).bytes == b"\xc8\x23" and isa.assemble_words("SET.u8 l3, #200") == [0x23C8]
    for wrong in (1 << 16, -1):
        with pytest.raises(DecodeError):
            isa.decode(wrong)
    with pytest.raises(TypeError):
        isa.texts(words.astype(numpy.uint64))


def test_threads_give_the_same_answers(valhall: Isa, words: Words) -> None:
    expected = valhall.texts(words).to_list()
    wrong: list[int] = []

    def run(number: int) -> None:
        for _ in range(5):
            if valhall.texts(words).to_list() != expected or str(valhall.decode(int(words[0]))) != expected[0]:
                wrong.append(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_batches_leave_the_interpreter_to_others(valhall: Isa, words: Words) -> None:
    many = numpy.resize(words, 2_000_000)
    stop = threading.Event()
    turns = 0

    def count() -> None:
        nonlocal turns
        while not stop.is_set():
            turns += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before = turns
    valhall.texts(many)
    during = turns - before
    stop.set()
    thread.join()
    assert during > 5


def test_an_array_may_change_meanwhile(valhall: Isa, words: Words) -> None:
    """What comes out then is of old or of new words, and nothing breaks."""
    many = numpy.resize(words, 500_000)
    stop = threading.Event()

    def scramble() -> None:
        chance = numpy.random.default_rng(SEED)
        while not stop.is_set():
            many[chance.integers(0, len(many), 1000)] = chance.integers(0, 1 << 63, 1000, dtype=numpy.uint64)

    thread = threading.Thread(target=scramble)
    thread.start()
    try:
        for _ in range(3):
            pyarrow.array(valhall.texts(many)).validate(full=True)
            pyarrow.array(valhall.mnemonics(many)).validate(full=True)
    finally:
        stop.set()
        thread.join()
