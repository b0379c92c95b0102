"""Print for people and for programs: data on stdout, progress on stderr, and nothing that steers a terminal."""

from __future__ import annotations

import json
import math
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import asdict, is_dataclass
from decimal import Decimal
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal

from discreet.errors import DiscreetError, DiscreetWarning, PolicyError, ProblemsError, QueryError, UnacceptedError
from discreet.visible import in_a_cell, in_json, visible

if TYPE_CHECKING:
    import pyarrow as pa

STEWARD = "These are statistics of the private table: they are for its steward, and not to be published."
Step = Callable[[str], None]
PLAIN = re.compile(r'[^\s",](?:[^",\r\n]*[^\s",])?')  # a field of CSV that needs no quotes


def as_json(value: Any) -> None:
    """Print a value as one JSON document."""

    def plain(item: Any) -> Any:
        if is_dataclass(item) and not isinstance(item, type):
            return asdict(item)
        return str(item) if isinstance(item, Path) or not hasattr(item, "item") else item.item()

    print(in_json(json.dumps(_finite(json.loads(json.dumps(value, default=plain))), indent=2, ensure_ascii=False)))


def _finite(value: Any) -> Any:
    """JSON knows neither infinity nor what is no number: both become null."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> None:
    """Print a table, its first `left` columns flush left; on a terminal, so that no number is cut in two.

    Texts of more than 200 characters are shortened.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from discreet.cli.narrow import Laid, as_records, laid_out

    console = Console(file=_terminal(sys.stdout), width=None if sys.stdout.isatty() else 10_000, highlight=False)
    cells = [[in_a_cell(cell) for cell in row] for row in rows]
    whole = Laid([in_a_cell(column) for column in columns], cells, left)
    laid = laid_out(whole, console.width)
    if laid is None:
        console.print(Text("\n".join(as_records(whole, console.width))), overflow="fold")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for i, (column, width) in enumerate(zip(laid.columns, laid.widths(), strict=True)):
        number = laid.numeric(i)
        side: Literal["left", "right"] = "left" if i < left else "right"
        table.add_column(
            Text(column), justify=side, overflow="fold", no_wrap=number, min_width=width if number else None
        )
    for row in laid.rows:
        table.add_row(*map(Text, row))
    console.print(table)


def as_csv(table: pa.Table) -> None:
    """Print a table as RFC 4180 has it, every digit of its numbers, and nothing where a value is missing.

    To a file or a pipe texts go as they are; a terminal is shown what would steer it.
    """
    out, end = (sys.stdout, "\n") if sys.stdout.isatty() else (_terminal(sys.stdout), "\r\n")
    out.write(",".join(map(_field, table.column_names)) + end)
    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
        out.write(",".join(map(_field, row)) + end)


def _field(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    text = f"{value:f}" if isinstance(value, Decimal) else str(value)
    return text if isinstance(value, int | float | Decimal) or PLAIN.fullmatch(text) else f'"{_doubled(text)}"'


def _doubled(text: str) -> str:
    return text.replace('"', '""')


def quoted(word: str) -> str:
    """A word of a command as a shell takes it; in double quotes where that is easier to read and means the same."""
    inside = word.replace('"', r"\"")
    return f'"{inside}"' if "'" in word and not re.search(r"[$`\\!]", word) else quote(word)


def failure(error: DiscreetError, *, in_json: bool) -> None:
    """Say on stderr what went wrong."""
    print(json.dumps({"error": about(error)}) if in_json else f"error: {error}", file=sys.stderr)


def about(error: DiscreetError) -> dict[str, Any]:
    """An error as JSON has it."""
    told: dict[str, Any] = {"type": type(error).__name__, "message": error.message, "hint": error.hint}
    if isinstance(error, PolicyError):
        told["mistakes"] = [
            {"key": mistake.key, "line": mistake.line, "message": mistake.message} for mistake in error.mistakes
        ]
    if isinstance(error, PolicyError | ProblemsError):
        told["problems"] = [about(each) for each in error.problems]
    if isinstance(error, QueryError):
        told["instead"] = error.instead or None
    if isinstance(error, UnacceptedError):
        told["warnings"] = [warning(each) for each in error.warnings]
    return told


@contextmanager
def nothing_that_steers() -> Iterator[None]:
    """Whatever is printed inside, names and values of others among it, steers no terminal."""
    with redirect_stdout(_Visible(sys.stdout)), redirect_stderr(_Visible(sys.stderr)):
        yield


class _Visible:
    """A stream on which signs that steer a terminal are spelled out; Rich writes to the one behind it."""

    def __init__(self, behind: Any) -> None:
        self.behind = behind

    def write(self, text: str) -> int:
        self.behind.write(visible(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.behind, name)


def _terminal(stream: Any) -> Any:
    """Where Rich may put its own signs: it is given visible texts only."""
    return stream.behind if isinstance(stream, _Visible) else stream


@contextmanager
def warnings() -> Iterator[None]:
    """Say what is doubtful on stderr, in a line each, when all is done."""
    from warnings import catch_warnings, simplefilter

    with catch_warnings(record=True) as found:
        simplefilter("always", DiscreetWarning)
        yield
    for warning in found:
        print(f"warning: {warning.message}", file=sys.stderr)


def warning(found: DiscreetWarning) -> dict[str, Any]:
    """A warning as JSON has it; `accepted` is the reason in the policy, if there is one."""
    return {"name": found.name, "message": found.message, "hint": found.hint, "accepted": found.reason or None}


@contextmanager
def steps(total: int, *, logged: bool = False) -> Iterator[Step]:
    """A progress bar on a terminal: call what is yielded with the name of each step as it starts.

    `grouping: column 3 of 7` tells how far the step `grouping` is, and is no step of its own. Where nobody watches,
    nothing is told, unless it is `logged`: then all that is told is a line each, with its time.
    """
    if not sys.stderr.isatty():
        yield _line if logged else lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from discreet.cli.compiling import Compiling

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    console = Console(file=_terminal(sys.stderr))
    with closing(Compiling()) as compiling, Progress(*columns, compiling, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=total + 1)

        def step(name: str) -> None:
            bar.update(task, description=name, advance=0 if ": " in name else 1)

        yield step


def _line(told: str) -> None:
    """A line of a log on stderr; a log that cannot be written ends no long job."""
    with suppress(OSError):
        print(time.strftime("%Y-%m-%d %H:%M:%S"), told, file=sys.stderr, flush=True)
