"""The plausible tables of a release as relations of the engine that answers: one each, over codes that they share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from discreet.answer.limits import unpacks
from discreet.answer.prepared import Hurry
from discreet.engines import Engine
from discreet.errors import QueryError
from discreet.learn.student import quantile
from discreet.release.layouts.file import column, named
from discreet.release.release import Release
from discreet.values.names import fresh

TOGETHER = "plausible tables"
ENOUGH = 10  # tables whose spread is known well enough to count it twice


@dataclass(frozen=True)
class Tables:
    """The names of the relations, and what is to be said beside what they tell."""

    engine: Engine
    names: tuple[str, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, engine: Engine, release: Release, hurry: Hurry) -> Tables:
        """Draw them, or find those that the release carries; `hurry` raises when there is no time left."""
        if unpacks(release):
            raise QueryError(
                "the rows of the release take far more memory than its files are worth",
                hint="use estimator `even`, which keeps to the memory limit",
            )
        carried = release.promise.plausible
        found = release.plausible(progress=hurry) if carried is None else release.plausible(carried.tables)
        columns = [fresh(f"drawn {number}", found.shown.column_names) for number in range(1, len(found) + 1)]
        engine.load(TOGETHER, found.beside(columns), keep=False)
        names = tuple(f"plausible {number}" for number in range(1, len(found) + 1))
        for name, drawn in zip(names, columns, strict=True):
            shown = [column(each) for each in found.shown.column_names]
            query = exp.select(*shown, exp.alias_(column(drawn), found.sensitive, quoted=True)).from_(named(TOGETHER))
            engine.load(name, query, keep=False)
        return cls(engine, names, (*found.notes, *_few(len(found))))

    @contextmanager
    def beside(self, given: Mapping[str, pa.Table]) -> Iterator[None]:
        """With tables of the user's own, for as long as a question takes."""
        try:
            for name, table in given.items():
                self.engine.load(as_given(name), table, keep=False)
            yield
        finally:
            for name in given:
                self.engine.forget(as_given(name))


def as_given(name: str) -> str:
    """The relation of a table that was given by name."""
    return f"given {name.lower()}"


def _few(tables: int) -> Iterator[str]:
    """How many stderr to take where few tables tell how far they spread, by Student's distribution."""
    if tables < ENOUGH:
        reach = quantile(0.975, tables - 1)
        yield f"there are only {tables} plausible tables: to be as sure as with 2 stderr, take {reach:.1f}"
