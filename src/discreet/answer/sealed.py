"""A release in an engine that can touch nothing else: its files, the tables made of them, and what is known of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from threading import RLock
from typing import Any

import pyarrow as pa
from sqlglot import exp

from discreet.answer.accelerate.accelerator import Choice
from discreet.answer.estimators import Estimator
from discreet.answer.left_out import LeftOut
from discreet.answer.limits import memory_of
from discreet.answer.matches import Counted, Matches
from discreet.answer.matches.of_release import OfRelease
from discreet.answer.occurring import Occurring
from discreet.answer.plan.base_tables import Layout, Statistics, base, describe, ends, needed
from discreet.answer.plan.kept import looked_up
from discreet.answer.prepared import Asking, Hurry, Prepared
from discreet.answer.question.own import Own
from discreet.engines.engine import Relation
from discreet.errors import EngineError, QueryError, ReleaseError
from discreet.release.layouts import layout_of
from discreet.release.layouts.file import named
from discreet.release.release import Release
from discreet.values.columns import ARROW

BESIDE = 16  # tables of the user's own


class Sealed:
    """What questions are answered from; whoever uses it holds its `lock`."""

    def __init__(self, release: Release, *, accelerate: bool | None = None) -> None:
        self.release, self.promise = release, release.promise
        self.lock = RLock()
        self.made: set[str] = set()
        self._beside: list[str] = []
        self._estimators: dict[type[Estimator], Estimator] = {}
        self._closed = False
        promise = release.promise
        self.left_out = LeftOut.of(promise)
        self.engine = release.attached(memory_of(release) if release.in_files else None)
        try:
            self._seen = release.look()
            relations = layout_of(promise).relations(promise)
            if any(resource.name == "labels" for resource in release.manifest.resources):
                relations["labels"] = exp.select("*").from_(named("labels file"))
            self._base = base(relations)
            self.statistics = self._described()
            self.matches = OfRelease(promise, self.statistics.types, self._ends)
            self.accelerator: Choice | None = None
            if accelerate is not False and release.in_files:
                self.accelerator = Choice(self.engine, release, must=accelerate is True)
        except BaseException:
            self.engine.close()
            raise

    def _described(self) -> Statistics:
        found, there = describe(self.engine, self._base, self.promise), self.release.beside
        if "signature_arrays" not in there:
            return found
        return replace(found, kept=looked_up(self.engine, there))

    def close(self) -> None:
        with self.lock:
            self._closed = True
            self.engine.close()

    def check_open(self) -> None:
        """Raise if the session is closed, or a data file is no longer the one that was opened."""
        if self._closed:
            raise QueryError("the session is closed", hint="open the release again")
        try:
            same = self.release.look() == self._seen
        except OSError:
            same = False
        if not same:
            raise ReleaseError(
                f"the files of `{self.release.path}` have changed since it was opened",
                hint="open it again, and check it with `discreet verify`",
            )

    def layout(self, matches: Matches) -> Layout:
        return Layout(self.promise.group, self.promise.sensitive, self._base, matches, self.left_out)

    def files(self) -> dict[str, Relation]:
        """The files as they lie in the folder of the release."""
        return {
            f"{each.name} file": Relation(
                exp.select("*").from_(self.engine.scan([*map(Path, each.paths)], each.kinds())),
                keep=each.format == "csv",
            )
            for each in self.release.manifest.resources
        }

    def run(self, query: exp.Expr, matches: Matches | None = None) -> pa.Table:
        """Run a query over the tables that questions are answered from, whichever it needs."""
        with self.lock:
            self._make(needed([query], self.layout(matches or self.matches.own).tables(self.statistics)))
            return self.engine.run(query)

    def make(self, *names: str) -> None:
        """Make tables that are little more than the files: `qit`, `st`."""
        self._make({name: self._base[name] for name in names})

    def _make(self, tables: Mapping[str, Relation]) -> None:
        for name, table in tables.items():
            if name not in self.made:
                self.engine.load(name, table.query, keep=table.keep)
                self.made.add(name)

    def asking(self, prepared: Prepared, matches: Matches, hurry: Hurry = lambda _: None) -> Asking:
        """A question with all that an estimator needs to answer it."""
        accelerator = self.accelerator if isinstance(matches, Counted) else None
        return Asking(prepared, self.engine, self.left_out, accelerator, partial(self._ready, prepared), hurry)

    def _ready(self, prepared: Prepared) -> None:
        """Make the tables of a question, and refuse it where it asks too much of them."""
        self._make(prepared.plan.tables)
        for guard, sql in zip(prepared.plan.guards, prepared.guards, strict=True):
            found = self.engine.run(sql).column(0)[0].as_py()
            if found > guard.most:
                raise QueryError(guard.message.format(found, guard.most), hint=guard.hint)

    def estimator(self, kind: type[Estimator]) -> Estimator:
        """An estimator of this release, opened when it is first asked for."""
        if kind not in self._estimators:
            self._estimators[kind] = kind.of(self.engine, self.release)
        return self._estimators[kind]

    def put_beside(self, tables: Iterable[Own]) -> None:
        """Let the engine see tables of one's own, which stay in memory; the latest few are kept."""
        for each in tables:
            if each.relation not in self._beside:
                while len(self._beside) >= BESIDE:
                    oldest = next(iter(self._beside))
                    self.engine.forget(oldest)
                    self._beside.remove(oldest)
                self.engine.load(each.relation, each.loaded(), keep=False)
                self._beside.append(each.relation)

    @cached_property
    def occurring(self) -> Occurring:
        """Which values the release shows."""
        boxes = self.promise.boxes or ()
        types = {**self.statistics.types, **{each.name: ARROW[each.type] for each in boxes}}
        return Occurring(self.release.manifest, types, self.engine.run)

    def _ends(self, names: Sequence[str]) -> dict[str, tuple[Any, Any]]:
        """The smallest and the largest value of columns, looked up once, when boxes are first asked."""
        with self.lock:
            return ends(self.engine, self._base["qit"], names)


class NotComputedError(QueryError):
    """A question that could be read, and that the engine could not compute."""


@contextmanager
def computed() -> Iterator[None]:
    """What the engine cannot compute, the question is refused for."""
    try:
        yield
    except EngineError as error:
        raise NotComputedError(
            f"the question cannot be computed: {error.message}",
            hint="compare columns with values of their own type, dates as '1999-12-31', or CAST them",
        ) from None
