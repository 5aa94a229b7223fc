"""Execution: memory in arrays, traces, what goes wrong."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import struct
import threading
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy
import pytest
from conftest import ROOT, Command

import isaforge
from isaforge import Isa, RunError


STORE = "IADD_IMM.i32 r0, 0x0, #0x2a\nSTORE.i32.slot0.end @r0, u0, offset:0"
ENDLESS = "top: IADD_IMM.i32 r0, ^r0, #0x1\nBRANCHZ.eq 0x0, top"


def test_results_are_visible_in_arrays(valhall: Isa) -> None:
    out = numpy.zeros(4, dtype=numpy.uint32)
    outcome = valhall.run(STORE, uniforms=[out])
    assert out.tolist() == [42, 0, 0, 0] and outcome.instructions == 2 == sum(outcome.mnemonics.values())
    explicit = numpy.zeros(2, dtype=numpy.float32)
    valhall.run(STORE, uniforms=[0x4000, 0], buffers={0x4000: explicit})
    assert explicit.view(numpy.uint32).tolist() == [42, 0]
    part = numpy.zeros(8, dtype=numpy.uint8)
    valhall.run(valhall.assemble(STORE), uniforms=[part[4:]])
    assert part.tolist() == [0, 0, 0, 0, 42, 0, 0, 0]
    valhall.run(valhall.assemble_words(STORE), uniforms=[out[1:]])
    assert out.tolist() == [42, 42, 0, 0]


@pytest.mark.parametrize("engine", ["reference", "handlers", None])
def test_a_run_is_that_of_the_command(command: Command, valhall: Isa, tmp_path: Path, engine: str | None) -> None:
    program = "IADD.u32 r1, r60, u2\nSHADDX.u64 r4, u0, r60.w0, shift:0x2\nSTORE.i32.slot0.end @r1, ^r4, offset:0"
    out = numpy.zeros(64, dtype=numpy.uint32)
    outcome = valhall.run(program, groups=1, local_size=[64], uniforms=[out, 7], engine=engine)  # type: ignore[arg-type]
    launch = tmp_path / "launch.yaml"
    body = "".join(f"  {line}\n" for line in program.splitlines())
    launch.write_text(
        f"isa: valhall\nprogram: |\n{body}local size: 64\nbuffers: {{ out: {{ size: 256 }} }}\n"
        "uniforms: [{ address: out }, 7]\noutputs: [{ raw: { buffer: out, file: out.bin } }]\n"
    )
    run = command("run", str(launch))
    assert run.returncode == 0, run.stderr.decode()
    assert (tmp_path / "out.bin").read_bytes() == out.tobytes() and out[3] == 10
    assert f"{outcome.instructions} instructions" in (run.stdout + run.stderr).decode()


def test_a_trace_is_that_of_the_command(command: Command, valhall: Isa, tmp_path: Path) -> None:
    out = bytearray(4)
    trace = valhall.trace(STORE, uniforms=[out], local_size=2)
    assert trace.outcome is None
    steps = list(trace)
    assert out == struct.pack("<I", 42) and trace.outcome is not None and trace.outcome.instructions == 4
    assert (steps[0].pc, steps[0].lanes, steps[0].group, steps[0].warp) == (0, 3, (0, 0, 0), 0)
    assert steps[0].writes == {"r0": {0: 42, 1: 42}} and list(trace) == []
    assert trace.outcome.registers == {} == valhall.run(STORE, uniforms=[out], local_size=2).registers
    launch = tmp_path / "launch.yaml"
    body = "".join(f"  {line}\n" for line in STORE.splitlines())
    launch.write_text(
        f"isa: valhall\nprogram: |\n{body}local size: 2\nbuffers: {{ out: {{ size: 4 }} }}\nuniforms: [{{ address: out }}]\n"
    )
    run = command("run", "--trace", str(launch))
    lines = run.stdout.decode().splitlines()
    assert len(lines) == len(steps), run.stderr.decode()
    for line, step in zip(lines, steps):
        # The command also says what is stored.
        assert line.startswith(str(step)), (line, step)


def test_a_trace_takes_bounded_memory_and_stops_when_it_is_dropped(valhall: Isa) -> None:
    before = threading.active_count()
    trace = valhall.trace(ENDLESS, budget=1 << 40)
    assert [next(trace).pc for _ in range(1000)] == [0, 1] * 500
    del trace
    gc.collect()
    assert threading.active_count() == before


def test_programs_that_fail_say_where(valhall: Isa) -> None:
    out = numpy.zeros(1, dtype=numpy.uint32)
    with pytest.raises(RunError, match=r"word 1 .STORE.*nothing is mapped"):
        valhall.run(STORE, uniforms=[0, 0])
    with pytest.raises(RunError, match="budget of 1000"):
        valhall.run(ENDLESS, budget=1000)
    with pytest.raises(RunError, match="time limit"):
        valhall.run(ENDLESS, budget=1 << 60, time_limit=0.05)
    with pytest.raises(RunError):
        valhall.run(b"\0" * 8)
    steps = []
    with pytest.raises(RunError, match="nothing is mapped"):
        for step in valhall.trace(STORE, uniforms=[0, 0]):
            steps.append(step.pc)
    assert steps == [0]
    with pytest.raises(RunError):
        valhall.run(STORE, uniforms=[out], local_size=[1 << 20])
    with pytest.raises(RunError):
        valhall.run("")


def test_what_was_written_before_a_failure_stays(valhall: Isa) -> None:
    out = numpy.zeros(1, dtype=numpy.uint32)
    program = STORE.replace(".end", "") + "\n" + ENDLESS
    with pytest.raises(RunError, match="budget"):
        valhall.run(program, uniforms=[out], budget=100)
    assert out[0] == 42


@pytest.mark.parametrize(
    "launch",
    [
        {"uniforms": [1 << 40]},
        {"uniforms": [numpy.zeros((4, 4), dtype=numpy.uint32)[:, 1]]},
        {"uniforms": [numpy.zeros(0, dtype=numpy.uint32)]},
        {"uniforms": [0] * 1000},
        {"uniforms": ["text"]},
        {"uniforms": 7},
        {"buffers": {0: bytearray(0)}},
        {"buffers": {-1: bytearray(1)}},
        {"buffers": {"out": bytearray(1)}},
        {"groups": [1, 2, 3, 4]},
        {"groups": -1},
        {"groups": "many"},
        {"local_size": []},
        {"time_limit": -1.0},
        {"time_limit": float("nan")},
        {"engine": "steam"},
        {"registers": {"r0": 1}},
        {"budget": -1},
        {"nonsense": 1},
    ],
    ids=str,
)
def test_wrong_launches_are_refused(valhall: Isa, launch: dict[str, object]) -> None:
    with pytest.raises((TypeError, ValueError, OverflowError)):
        valhall.run(STORE, **launch)  # type: ignore[arg-type]
    with pytest.raises((TypeError, ValueError, OverflowError)):
        valhall.trace(STORE, **launch)  # type: ignore[arg-type]


def test_arrays_that_share_memory_are_refused(valhall: Isa) -> None:
    whole = numpy.zeros(8, dtype=numpy.uint32)
    with pytest.raises(ValueError, match="share memory"):
        valhall.run(STORE, uniforms=[whole[:5], whole[4:]])
    assert valhall.run(STORE, uniforms=[whole, whole]).instructions == 2
    with pytest.raises(RunError):
        valhall.run(STORE, buffers={0x1000: bytearray(16), 0x1008: bytearray(16)}, uniforms=[0x1000, 0])


def test_read_only_arrays_are_inputs(valhall: Isa) -> None:
    with pytest.raises(RunError, match="read-only"):
        valhall.run(STORE, uniforms=[bytes(4)])
    assert valhall.run("LOAD.i32.unsigned.slot0 @r0, u0, offset:0\nNOP.end", uniforms=[b"1234"]).instructions == 2


def test_floats_are_uniforms(valhall: Isa) -> None:
    out = numpy.zeros(2, dtype=numpy.float32)
    program = "MOV.i32 r0, u2\nMOV.i32 r1, u3\nSTORE.i64.slot0.end @r0:r1, u0, offset:0"
    valhall.run(program, uniforms=[out, 1.5, numpy.float32(-2.0)])
    assert out.tolist() == [1.5, -2.0]


def test_machines_of_specifications(riscv: Isa) -> None:
    memory = numpy.zeros(4, dtype=numpy.uint32)
    program = "loop: add a0, a0, a1\naddi a1, a1, -1\nbnez a1, loop\nsw a0, 0(a2)\n"
    engines: tuple[Literal["reference"] | None, ...] = ("reference", None)
    for engine in engines:
        memory[:] = 0
        outcome = riscv.run(program, registers={"a1": 10, "a2": 0x8000}, buffers={0x8000: memory}, engine=engine)
        assert memory[0] == 55 and outcome.registers["a0"] == [55] and outcome.instructions == 31
    steps = list(riscv.trace(program, registers={"a1": 2, "a2": 0x8000}, buffers={0x8000: memory}))
    assert steps[0].writes == {"a0": {0: 2}} and steps[-1].stores == [(0x8000, 4, 3)] and memory[0] == 3
    with pytest.raises(KeyError):
        riscv.run(program, registers={"nothing": 1})
    with pytest.raises(RunError, match="nothing is mapped"):
        riscv.run(program, registers={"a1": 1, "a2": 0xF0000})
    with pytest.raises(TypeError):
        riscv.run(program, local_size=3)
    with pytest.raises(RunError, match="used up its budget"):
        riscv.run("here: j here", budget=100)
    with pytest.raises(RunError, match="time limit"):
        riscv.run("here: j here", budget=1 << 60, time_limit=0.05)


def interrupted(run: Callable[[], object]) -> float:
    """How long a run still takes once it is interrupted."""
    # Whoever starts the tests in the background may have the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.2, interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run()
        return time.monotonic() - sent[0]
    finally:
        timer.cancel()
        timer.join()
        signal.signal(signal.SIGINT, before)


# Without optimisation, engines are far slower between two looks at signals.
PATIENCE = 5.0


@pytest.mark.parametrize("engine", ["reference", "handlers", "compiled"])
@pytest.mark.parametrize(
    ("program", "launch"),
    [
        ("top: BRANCHZ.eq 0x0, top", {}),
        (ENDLESS, {}),
        (ENDLESS, {"groups": 100}),
        ("IADD_IMM.i32 r0, ^r0, #0x1\nNOP.end", {"groups": [65535, 65535, 10]}),
    ],
    ids=["branch", "loop", "groups", "grid"],
)
def test_every_engine_can_be_interrupted(valhall: Isa, engine: Any, program: str, launch: dict[str, Any]) -> None:
    late = interrupted(lambda: valhall.run(program, engine=engine, budget=1 << 60, time_limit=20, **launch))
    assert late < PATIENCE
    # Nothing remains of it.
    assert valhall.run("NOP.end", engine=engine).instructions == 1


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_machines_can_be_interrupted(riscv: Isa, engine: Any) -> None:
    assert interrupted(lambda: riscv.run("here: j here", engine=engine, budget=1 << 60, time_limit=20)) < PATIENCE
    lanes = isaforge.load(ROOT / "examples/lanes")
    assert interrupted(lambda: lanes.run("top: lane r0\nbne r0, #-1, top", budget=1 << 60, time_limit=20)) < PATIENCE


def test_a_handler_may_run_a_program_and_go_on(valhall: Isa) -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(valhall.run("NOP.end").instructions))
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(RunError, match="time limit of 0.5 s"):
        valhall.run(ENDLESS, budget=1 << 60, time_limit=0.5)
    timer.join()
    signal.signal(signal.SIGINT, before)
    assert seen == [1]


@pytest.mark.parametrize("kind", ["O", ">O", "?", "U4", "c8", [("a", "u4"), ("b", "O")], "V4", "S4"], ids=str)
def test_memory_is_plain_numbers(valhall: Isa, riscv: Isa, kind: Any) -> None:
    array = numpy.zeros(4, dtype=kind)
    with pytest.raises(TypeError, match="memory of a program is bytes, whole numbers or floats"):
        riscv.run("sw a1, 0(a0)", registers={"a0": 4096, "a1": 0x01020304}, buffers={4096: array})
    with pytest.raises(TypeError, match="memory of a program is bytes, whole numbers or floats"):
        valhall.run(STORE, uniforms=[array])
    assert array.tolist() == numpy.zeros(4, dtype=kind).tolist()


@pytest.mark.parametrize("kind", ["u1", "i1", "u2", "<i4", ">u4", "i8", "f2", "f4", ">f8"])
def test_memory_is_of_any_number(valhall: Isa, kind: str) -> None:
    array = numpy.zeros(8, dtype=kind)
    valhall.run(STORE, uniforms=[array])
    assert array.tobytes()[:5] == b"\x2a\0\0\0\0"


def test_memory_is_of_ctypes(valhall: Isa) -> None:
    words, text = (ctypes.c_uint32 * 4)(), ctypes.create_string_buffer(16)
    valhall.run(STORE, uniforms=[words])
    valhall.run(STORE, uniforms=[text])
    assert list(words) == [42, 0, 0, 0] and text.raw == b"*" + bytes(15)
    with pytest.raises(TypeError, match="whole numbers or floats"):
        valhall.run(STORE, uniforms=[(ctypes.py_object * 4)()])
    with pytest.raises(TypeError, match="whole numbers or floats"):
        valhall.run(STORE, uniforms=[(ctypes.c_void_p * 4)()])


@pytest.mark.parametrize(
    ("value", "bits"),
    [(7, 7), (-1, 0xFFFFFFFF), (2**32 - 1, 2**32 - 1), (1.5, 0x3FC00000), (numpy.float32(1.5), 0x3FC00000), (numpy.uint32(7), 7)],
)
def test_registers_hold_numbers_of_their_width(riscv: Isa, value: Any, bits: int) -> None:
    assert riscv.run("nop", registers={"a1": value}).registers == {"a1": [bits]}
    assert riscv.run("nop", registers={"a1": [value]}).registers == {"a1": [bits]}


@pytest.mark.parametrize("value", [2**32, 2**63, 2**64, 2**200, -(2**31) - 1, 1e300, [2**32 + 7]])
def test_numbers_that_do_not_fit_are_refused(valhall: Isa, riscv: Isa, value: Any) -> None:
    with pytest.raises(ValueError, match="`a1`: .* does not fit"):
        riscv.run("nop", registers={"a1": value})
    if not isinstance(value, list):
        with pytest.raises(ValueError, match="`uniforms`: .* does not fit"):
            valhall.run(STORE, uniforms=[value])


@pytest.mark.parametrize(
    ("argument", "value", "error"),
    [
        ("budget", -1, ValueError),
        ("budget", 2**64, ValueError),
        ("budget", 1.5, TypeError),
        ("shared_bytes", -1, ValueError),
        ("local_size", -1, ValueError),
        ("local_size", 2**40, ValueError),
        ("groups", [1, -1], ValueError),
        ("groups", 1.5, TypeError),
        ("buffers", {-1: bytearray(1)}, ValueError),
    ],
)
def test_wrong_numbers_name_their_argument(valhall: Isa, argument: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=f"`{argument}`"):
        valhall.run(STORE, **{argument: value})


def test_arguments_are_of_any_kind_that_fits(valhall: Isa, riscv: Isa) -> None:
    memory = types.MappingProxyType({0x8000: numpy.zeros(1, dtype=numpy.uint32)})
    registers = types.MappingProxyType({"a0": numpy.uint32(0x8000), "a1": numpy.array([7])})
    riscv.run("sw a1, 0(a0)", registers=registers, buffers=memory, budget=numpy.int64(9), address=numpy.uint8(4))
    assert memory[0x8000][0] == 7
    out = numpy.zeros(1, dtype=numpy.uint32)
    launch = valhall.run(STORE, uniforms=(value for value in (out, 7)), groups=numpy.uint32(2), local_size=(numpy.int64(3), 1))
    assert launch.instructions == 12 and out[0] == 42


def test_states_are_set_and_read_like_registers(riscv: Isa) -> None:
    launch = riscv.run("csrrw a0, mscratch, a1", registers={"csr[832]": 7, "a1": 9})
    assert launch.registers == {"a0": [7], "a1": [9], "csr[832]": [9]}
    for name, wrong in (("csr", r"one of `csr\[0\]` to `csr\[4095\]`"), ("csr[4096]", "no register or state"), ("sp[0]", "no register")):
        with pytest.raises(KeyError, match=wrong):
            riscv.run("nop", registers={name: 1})


def test_wrong_places_name_their_argument(riscv: Isa) -> None:
    with pytest.raises(ValueError, match="`address`"):
        riscv.run("nop", address=-4)
    with pytest.raises(ValueError, match="the last address of the program counter, 0xffffffff"):
        riscv.run("nop", address=2**32 + 0x40)
    with pytest.raises(RunError, match="overlaps the program"):
        riscv.run("nop", buffers={0: bytearray(4)})


def test_the_budget_is_that_of_the_command(command: Command) -> None:
    stated = " ".join(command("help", "run").stdout.decode().split())
    assert "its default is 100 billion, 2^32 with a `size`, and ten billion" in stated
    assert "100 billion on Valhall and ten billion elsewhere" in " ".join((Isa.run.__doc__ or "").split())


def test_errors_have_a_place(valhall: Isa, riscv: Isa) -> None:
    with pytest.raises(RunError) as failed:
        valhall.run(STORE, uniforms=[64, 0])
    text = "STORE.i32.slot0.end @r0, u0, offset:0"
    assert failed.value.span == isaforge.RunSpan(1, text, (0, 0, 0), (0, 0, 0), 0, 64)
    with pytest.raises(RunError) as failed:
        riscv.run("nop\nlw a0, 0(a1)", registers={"a1": 0x8000})
    assert failed.value.span == isaforge.RunSpan(2, "lw a0, 0(a1)", address=0x8000)
    with pytest.raises(RunError) as failed:
        list(riscv.trace("here: j here", budget=3))
    assert failed.value.span == isaforge.RunSpan(0, "j 0")
    with pytest.raises(RunError) as failed:
        valhall.run("")
    assert failed.value.span is None


def test_a_trace_counts_by_mnemonic(riscv: Isa) -> None:
    trace = riscv.trace("loop: addi a1, a1, -1\nbnez a1, loop\nnop", registers={"a1": 3})
    names = [step.text.split()[0] for step in trace]
    assert trace.outcome is not None and trace.outcome.instructions == len(names) == 7
    assert sum(trace.outcome.mnemonics.values()) == 7 and sorted(trace.outcome.mnemonics.values()) == [1, 3, 3]


def test_machines_with_lanes() -> None:
    lanes = isaforge.load(ROOT / "examples/lanes")
    outcome = lanes.run("lane r0\nmov r1, #1\nadd r2, r0, r1")
    assert outcome.registers["r2"] == list(range(1, 33))
    steps = list(lanes.trace("lane r0"))
    assert steps[0].lanes == (1 << 32) - 1 and steps[0].writes["r0"][31] == 31
    given = list(range(32))
    assert lanes.run("mov r1, #1\nadd r2, r0, r1", registers={"r0": given}).registers["r2"] == list(range(1, 33))
    with pytest.raises(ValueError):
        lanes.run("lane r0", registers={"r0": [1, 2]})


def test_runs_in_threads_do_not_see_each_other(valhall: Isa) -> None:
    outs = [numpy.zeros(1, dtype=numpy.uint32) for _ in range(4)]

    def run(index: int) -> None:
        for _ in range(20):
            valhall.run(STORE.replace("#0x2a", f"#{index:#x}"), uniforms=[outs[index]])

    threads = [threading.Thread(target=run, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [int(out[0]) for out in outs] == [0, 1, 2, 3]
