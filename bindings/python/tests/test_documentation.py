"""What is written about the package holds: examples run, and types are those at run time."""

from __future__ import annotations

import doctest
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import isaforge
import isaforge._isaforge

HERE = Path(__file__).resolve().parents[1]
FLAGS = doctest.ELLIPSIS


def documented() -> dict[str, object]:
    """Everything that has a docstring, by name."""
    found: dict[str, object] = {"isaforge": isaforge}
    for name in isaforge.__all__:
        item = getattr(isaforge, name)
        found[name] = item
        if inspect.isclass(item):
            found |= {f"{name}.{key}": value for key, value in vars(item).items() if not key.startswith("_")}
    return found


@pytest.mark.parametrize("name", [name for name, item in documented().items() if ">>>" in (item.__doc__ or "")])
def test_docstrings(name: str) -> None:
    text = documented()[name].__doc__ or ""
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    assert doctest.DocTestRunner(optionflags=FLAGS).run(test).failed == 0


@pytest.mark.parametrize("page", ["README.md", "docs/from-capstone-and-keystone.md"])
def test_pages(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE.parents[1])
    result = doctest.testfile(str(HERE / page), module_relative=False, optionflags=FLAGS, encoding="utf-8")
    assert result.attempted > 3 and result.failed == 0


def test_everything_public_has_a_docstring() -> None:
    missing = [name for name, item in documented().items() if not (item.__doc__ or "").strip()]
    plain = {"__version__", *(f"{kind}.{name}" for kind in ("TextSpan", "BitSpan", "SourceSpan", "RunSpan") for name in dir(tuple))}
    fields = {
        f"{kind}.{name}"
        for kind in ("Operand", "Modifier", "Flow", "Field")
        for name, item in vars(getattr(isaforge, kind)).items()
        if inspect.isgetsetdescriptor(item)
    }
    assert set(missing) - plain - fields == set()


def test_stubs_are_the_truth() -> None:
    run = subprocess.run([sys.executable, "-m", "mypy.stubtest", "isaforge"], capture_output=True, text=True, check=False, cwd=HERE / "tests")
    assert run.returncode == 0, run.stdout + run.stderr


def test_types_are_checked() -> None:
    files = [str(path) for path in (*sorted((HERE / "tests").glob("*.py")), HERE / "bench.py")]
    run = subprocess.run([sys.executable, "-m", "mypy", "--config-file", str(HERE / "pyproject.toml"), *files], capture_output=True, text=True, check=False, cwd=HERE / "tests")
    assert run.returncode == 0, run.stdout + run.stderr
