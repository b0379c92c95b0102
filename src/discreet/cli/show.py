"""Print for people and for programs: data on stdout, progress on stderr."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.errors import DiscreetWarning

Step = Callable[[str], None]


def as_json(value: Any) -> None:
    """Print a value as one JSON document."""

    def plain(item: Any) -> Any:
        if is_dataclass(item) and not isinstance(item, type):
            return asdict(item)
        return str(item) if isinstance(item, Path) or not hasattr(item, "item") else item.item()

    print(json.dumps(_finite(json.loads(json.dumps(value, default=plain))), indent=2, ensure_ascii=False))


def _finite(value: Any) -> Any:
    """JSON knows neither infinity nor what is no number: both become null."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> None:
    """Print a table, its first `left` columns flush left."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for i, column in enumerate(columns):
        table.add_column(Text(column), justify="left" if i < left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    wide = None if sys.stdout.isatty() else 10_000
    Console(width=wide, highlight=False).print(table)


@contextmanager
def warnings() -> Iterator[None]:
    """Say what is doubtful on stderr, in a line each, when all is done."""
    from warnings import catch_warnings, simplefilter

    from discreet.errors import DiscreetWarning

    with catch_warnings(record=True) as found:
        simplefilter("always", DiscreetWarning)
        yield
    for warning in found:
        print(f"warning: {warning.message}", file=sys.stderr)


def warning(found: DiscreetWarning) -> dict[str, Any]:
    """A warning as JSON has it; `accepted` is the reason in the policy, if there is one."""
    return {"name": found.name, "message": found.message, "hint": found.hint, "accepted": found.reason or None}


@contextmanager
def steps(total: int) -> Iterator[Step]:
    """A progress bar on a terminal: call what is yielded with the name of each step as it starts."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=total + 1)

        def step(name: str) -> None:
            bar.update(task, description=name, advance=1)

        yield step
