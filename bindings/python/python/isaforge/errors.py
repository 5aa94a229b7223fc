"""What goes wrong, as exceptions. All of them are an `Error`."""

from __future__ import annotations

from typing import NamedTuple, Union

__all__ = [
    "AssembleError",
    "BitSpan",
    "DecodeError",
    "Error",
    "RunError",
    "RunSpan",
    "SourceSpan",
    "SpecError",
    "TextSpan",
]


class TextSpan(NamedTuple):
    """A place in assembly: line and column from 1, and how many characters."""

    line: int
    column: int
    length: int


class BitSpan(NamedTuple):
    """Bits of an instruction: the highest and the lowest."""

    high: int
    low: int


class SourceSpan(NamedTuple):
    """A place in a file of a specification: line and column from 1, and the bytes from `start` to before `end`."""

    file: str
    line: int
    column: int
    start: int
    end: int


class RunSpan(NamedTuple):
    """A place in a run: `pc` and `text` of the instruction, as in a `Step`; the workgroup, the thread in it and its lane,
    as far as they are known; and the address, if it is an access to memory that failed."""

    pc: int
    text: str
    group: tuple[int, int, int] | None = None
    thread: tuple[int, int, int] | None = None
    lane: int | None = None
    address: int | None = None


Span = Union[TextSpan, BitSpan, SourceSpan, RunSpan]


class Error(Exception):
    """The base of all exceptions of this package.

    `message` says what is wrong, `help` what to do about it (it may be empty), `span` where it is, if it has a place.
    """

    def __init__(self, message: str, help: str = "", span: Span | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.help = help
        self.span = span

    def __str__(self) -> str:
        return f"{self.message} ({self.help})" if self.help else self.message


class DecodeError(Error, ValueError):
    """Bits that are not an instruction. `span` has the bits that are wrong, where certain bits are."""


class AssembleError(Error, ValueError):
    """Text that is not a program. `errors` has every mistake in order; the exception itself speaks of the first."""

    def __init__(
        self, message: str, help: str = "", span: Span | None = None, errors: tuple[AssembleError, ...] = ()
    ) -> None:
        super().__init__(message, help, span)
        self.errors = errors or (self,)

    def __str__(self) -> str:
        place = f"{self.span[0]}:{self.span[1]}: " if self.span else ""
        more = len(self.errors) - 1
        rest = f"; and {more} more" if more else ""
        return f"{place}{super().__str__()}{rest}"


class SpecError(Error, ValueError):
    """A specification that cannot be used. `code` names the rule; `errors` has every finding, and `rendered` all of them
    drawn with their lines, as `isaforge check` does."""

    def __init__(
        self,
        message: str,
        help: str = "",
        span: Span | None = None,
        code: str = "",
        errors: tuple[SpecError, ...] = (),
        rendered: str = "",
    ) -> None:
        super().__init__(message, help, span)
        self.code = code
        self.errors = errors or (self,)
        self.rendered = rendered

    def __str__(self) -> str:
        return self.rendered or super().__str__()


class RunError(Error, RuntimeError):
    """A program that could not continue, or a launch that the machine cannot run. `span` has the place, if the program
    has started. Arguments that are not even those of a launch raise `TypeError`, `ValueError` or `KeyError`."""
