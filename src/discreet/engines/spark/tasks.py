"""Tasks of Spark, one for each number, and the files that they write.

A task may be run twice, or again after its executor was lost: so whatever it makes follows from its number, and its
files get their names at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa

from discreet.engines.spark.errors import translating
from discreet.errors import EngineError

NEEDED = ("discreet", "numba", "numpy", "pyarrow")
SAME = "install `discreet` in the Python of every executor as it is here, or send an environment with it there"
SAME += " (`spark.addArtifacts`, or `spark.archives`)"
SHARED = "publish to a folder on a disk that this process and every executor see under the same path"


@cache
def versions() -> tuple[tuple[str, str], ...]:
    """What this process makes blocks by; another version of it might draw otherwise."""
    return tuple((name, version(name)) for name in NEEDED)


@cache
def check_here(wanted: tuple[tuple[str, str], ...]) -> None:
    """Raise on an executor that has other versions than the process that sent it its task: once in each process."""
    for (name, there), (_, here) in zip(wanted, versions(), strict=True):
        if there != here:
            raise EngineError(f"the executors of Spark have `{name}` {here}, and this process {there}", hint=SAME)


def of_numbers(session: Any, n: int, make: Callable[[int], Iterator[pa.RecordBatch]], schema: str) -> Any:
    """A frame of what is made of every number from 0, each by a task."""
    wanted = versions()

    def made(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        check_here(wanted)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from make(number)

    return session.range(0, n, 1, n).mapInArrow(made, schema)


def each_number(session: Any, n: int, make: Callable[[int], pa.RecordBatch], schema: str) -> pa.Table:
    """What the tasks of all numbers tell, a batch each."""
    with translating():
        return of_numbers(session, n, lambda number: iter([make(number)]), schema).toArrow()


@contextmanager
def at_once(path: Path) -> Iterator[Path]:
    """Another name to write a file under; it gets its own at the end. Whoever else writes it writes the same."""
    drafted = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        yield drafted
        drafted.replace(path)
    finally:
        drafted.unlink(missing_ok=True)
