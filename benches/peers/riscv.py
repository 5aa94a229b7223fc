#!/usr/bin/env python3
"""Compares the RISC-V engine with qemu-riscv32 and unicorn; prints a table in Markdown. See README.md."""

import argparse
import os
import pathlib
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SPEC = ROOT / "examples" / "riscv"

# User programs cannot have the lowest pages, and the sieve has its flags here.
CODE, FLAGS, FLAGS_SIZE = 0x10000, 0x20000, 0x10000
# The loops of src/riscv.rs: the row, the text and how many rounds.
LOOPS = [("riscv integer loop", "INTEGERS", 1 << 28), ("riscv sieve", "SIEVE", 1 << 10)]


def program(isaforge, text, rounds):
    """The code of a loop, which ends with the low byte of its result."""
    start = f"lui a0, {rounds + 0x800 >> 12:#x}\naddi a0, a0, {(rounds + 0x800 & 0xfff) - 0x800}\n"
    text = start + text.replace("addi a7, zero, 93", "andi a0, a1, 255\naddi a7, zero, 93")
    made = subprocess.run([isaforge, "asm", "--spec", SPEC, "--out", "bin", "-"], input=text.encode(), stdout=subprocess.PIPE, check=True)
    return made.stdout


def elf(code):
    """An executable of the code and of zeros for the flags."""
    header = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 2, 243, 1, CODE, 52, 0, 0, 52, 32, 2, 0, 0, 0)
    offset = 0x1000
    segments = struct.pack("<8I", 1, offset, CODE, CODE, len(code), len(code), 5, 0x1000)
    segments += struct.pack("<8I", 1, offset + 0x1000, FLAGS, FLAGS, 0, FLAGS_SIZE, 6, 0x1000)
    return (header + segments).ljust(offset, b"\0") + code.ljust(0x1000, b"\0")


def command(*line):
    """What runs an executable by a command: the seconds of the processor, and the exit status."""
    def run(path, _):
        before = os.times()
        status = subprocess.run([*line, path], stdout=subprocess.DEVNULL).returncode
        after = os.times()
        return after.children_user - before.children_user + after.children_system - before.children_system, status
    return run


def unicorn(_, code):
    """The same by unicorn."""
    from unicorn import UC_ARCH_RISCV, UC_MODE_RISCV32, Uc
    from unicorn.riscv_const import UC_RISCV_REG_A0
    machine = Uc(UC_ARCH_RISCV, UC_MODE_RISCV32)
    machine.mem_map(CODE, 0x1000)
    machine.mem_map(FLAGS, FLAGS_SIZE)
    machine.mem_write(CODE, code)
    before = time.process_time()
    machine.emu_start(CODE, CODE + len(code) - 4)
    return time.process_time() - before, machine.reg_read(UC_RISCV_REG_A0) & 255


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often the contenders take turns (default: 5)")
    parser.add_argument("--isaforge", type=pathlib.Path, help="the command (default: built from this folder)")
    options = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    isaforge = options.isaforge
    if not isaforge:
        subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "isaforge-cli"], check=True, cwd=ROOT)
        isaforge = ROOT / "target" / "release" / "isaforge"
    peers = {"isaforge": command(isaforge, "run", "--spec", SPEC, "--quiet")}
    if shutil.which("qemu-riscv32"):
        peers["qemu-riscv32"] = command("qemu-riscv32")
    else:
        print("qemu-riscv32 is missing: apt-get install qemu-user", file=sys.stderr)
    try:
        import unicorn as _
        peers["unicorn"] = unicorn
    except ImportError:
        print("unicorn is missing: pip install unicorn", file=sys.stderr)
    source = (HERE.parent / "src" / "riscv.rs").read_text()
    print("| loop |" + "".join(f" {peer} |" for peer in peers) + "\n|---|" + "---|" * len(peers))
    with tempfile.TemporaryDirectory() as folder:
        for name, text, rounds in LOOPS:
            text = re.search(rf'const {text}: &str = "(.*?)";', source, re.S)[1]
            # What a contender needs to start is in both, and so in neither.
            programs = []
            for count in (rounds // 8, rounds):
                code = program(isaforge, text, count)
                path = pathlib.Path(folder) / f"{count}.elf"
                path.write_bytes(elf(code))
                path.chmod(0o755)
                programs.append((path, code))
            seconds = {peer: [] for peer in peers}
            for _ in range(max(1, options.rounds)):
                ends = set()
                for peer, run in peers.items():
                    (short, _), (long, status) = (run(*of) for of in programs)
                    seconds[peer].append(long - short)
                    ends.add(status)
                if len(ends) != 1:
                    sys.exit(f"{name}: the results differ: {ends}")
            ours = seconds["isaforge"]
            row = []
            for peer, times in seconds.items():
                ratio = statistics.median(time / own for time, own in zip(times, ours))
                each = statistics.median(times) * 1e9 / (rounds - rounds // 8)
                row.append(f"{each:.3g} ns" if peer == "isaforge" else f"{each:.3g} ns ({ratio:.2f} x)")
            print(f"| {name}, a round | " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
