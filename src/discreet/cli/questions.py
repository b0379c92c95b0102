"""Questions as they come to `ask`: as an argument, in a file or on stdin, several of them with `;` between."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import typer

from discreet.errors import InputError, QueryError

LONGEST = 10_000_000  # characters of all questions together


class Asked(NamedTuple):
    """One question, and the line on which it starts."""

    sql: str
    line: int


def given(question: str | None, file: Path | None) -> str | None:
    """The text of the questions; None where a person at a terminal is to be asked for them."""
    if question is not None and file is not None:
        raise typer.BadParameter("give a question or --file, not both", param_hint="--file")
    if file is not None:
        return _read(file)
    if question not in (None, "-"):
        return question
    at_terminal = question is None and sys.stdin is not None and sys.stdin.isatty()
    if at_terminal and sys.stdout.isatty():
        return None
    try:
        data = b"" if at_terminal or sys.stdin is None else sys.stdin.buffer.read()
    except OSError:  # it was closed
        data = b""
    if not data:
        raise typer.BadParameter("give a question, --file FILE, or questions on stdin", param_hint="QUESTION")
    return _decoded(data, "stdin")


def split(text: str) -> list[Asked]:
    """The questions of a text. One that cannot be read is left whole, to be refused as any question is."""
    if len(text) > LONGEST:
        raise QueryError(
            f"the questions have {len(text):,} characters, more than {LONGEST:,}", hint="split them into several files"
        )
    found = [Asked(text[start:end].strip(), text.count("\n", 0, start) + 1) for start, end in _spans(text) or ()]
    if not found:
        raise QueryError("there is no question", hint="write one, such as SELECT COUNT(*) FROM microdata")
    return found


def is_complete(text: str) -> bool:
    """Whether a text ends with the `;` of its last question."""
    tokens = _tokens(text) or [(0, 0, "")]
    return tokens[-1][2] == ";"


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Where each question starts and ends; comments before its first word do not belong to it."""
    tokens = _tokens(text)
    if tokens is None:
        start = len(text) - len(text.lstrip())
        yield start, len(text)
        return
    inside: list[int] = []
    for start, end, sign in [*tokens, (len(text), len(text), ";")]:
        if sign != ";":
            inside += [start, end]
        elif inside:
            yield inside[0], inside[-1]
            inside = []


def _tokens(text: str) -> list[tuple[int, int, str]] | None:
    """The words of a text without its comments: start, end, and the sign of those that are one; None if unreadable."""
    from sqlglot import TokenType, tokenize
    from sqlglot.errors import TokenError

    try:
        found = tokenize(text, dialect="duckdb")
    except TokenError:
        return None
    return [(token.start, token.end + 1, ";" if token.token_type is TokenType.SEMICOLON else "") for token in found]


def _read(path: Path) -> str:
    try:
        return _decoded(path.read_bytes(), f"`{path}`")
    except FileNotFoundError:
        raise InputError(f"there is no file `{path}`", hint="check the path and the spelling") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise InputError(f"`{path}` cannot be read: {reason}", hint="give a text file with questions in SQL") from None


def _decoded(data: bytes, source: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{source} is not UTF-8 text", hint="save the questions as UTF-8") from None
