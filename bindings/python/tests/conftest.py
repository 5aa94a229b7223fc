"""What the tests share: the repository's corpora and its command."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import isaforge

ROOT = Path(__file__).resolve().parents[3]
Command = Callable[..., subprocess.CompletedProcess[bytes]]


# Random tests take another seed every time; ISAFORGE_SEED replays one.
SEED = int(os.environ.get("ISAFORGE_SEED", random.randrange(1 << 32)))


def pytest_report_header() -> str:
    return f"random tests: ISAFORGE_SEED={SEED}"


def lines(path: str) -> list[str]:
    """The lines of a file of the repository that are no comments."""
    file = ROOT / path
    text = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    return [line for line in text.decode().splitlines() if line and not line.startswith("#")]


def first_column(path: str) -> list[str]:
    """The first column of a table of the repository."""
    return [line.split("\t")[0] for line in lines(path)]


@pytest.fixture(scope="session")
def command() -> Command:
    """Runs the `isaforge` command: that of the variable ISAFORGE, else the one that the repository has built."""
    program = os.environ.get("ISAFORGE", str(ROOT / "target/release/isaforge"))
    if not Path(program).exists():
        pytest.skip("the command is not built: cargo build --release -p isaforge-cli")

    # Its lines are as long as they are, whatever pytest says of the terminal.
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}

    def run(*arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        command = [program, *arguments]
        return subprocess.run(command, input=given, capture_output=True, timeout=120, check=False, env=environment)

    return run


@pytest.fixture(scope="session")
def valhall() -> isaforge.Isa:
    return isaforge.load("valhall")


@pytest.fixture(scope="session")
def usc() -> isaforge.Isa:
    return isaforge.load("usc")


@pytest.fixture(scope="session")
def riscv() -> isaforge.Isa:
    return isaforge.load(ROOT / "examples/riscv")
