"""Where questions are answered: the door to a release in a sealed engine, for any thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
from sqlglot import exp

from discreet.answer.advised import advised
from discreet.answer.answer import Answer
from discreet.answer.estimators import check_known
from discreet.answer.given import read_given
from discreet.answer.limits import check_timeout, within
from discreet.answer.matches import Matches
from discreet.answer.matches.boxes import Given
from discreet.answer.question.own import Own
from discreet.answer.question.parse import names_of
from discreet.answer.sealed import Sealed
from discreet.answer.ways import Asked, Ways
from discreet.release.release import Release, open_release


def ask(
    release: Release | str | Path,
    question: str,
    *,
    generalized: bool | Given = False,
    timeout: float | None = None,
    estimator: str | None = None,
    tables: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Answer:
    """Answer an SQL aggregate from a release, or from the folder that holds one; see `Release.ask`."""
    opened = release if isinstance(release, Release) else open_release(release)
    return opened.ask(
        question, generalized=generalized, timeout=timeout, estimator=estimator, tables=tables, progress=progress
    )


class Session:
    """Answers questions about one release, from any thread; the engine is sealed before the first is read.

    Unless it is told whether to `accelerate`, a compiled pass answers in place of the plan wherever that pays.
    """

    def __init__(self, release: Release, *, accelerate: bool | None = None) -> None:
        self.release = release
        self.sealed = Sealed(release, accelerate=accelerate)
        self.ways = Ways(self.sealed)

    def ask(
        self,
        sql: str,
        *,
        generalized: bool | Given = False,
        timeout: float | None = None,
        estimator: str | None = None,
        tables: Mapping[str, Any] | None = None,
        progress: Callable[[str], None] = lambda _: None,
    ) -> Answer:
        """Answer one question, in `timeout` seconds if given; if `generalized`, from the boxes of the groups alone."""
        check_timeout(timeout)
        check_known(estimator)
        promise = self.release.promise
        given = read_given(tables, names_of(promise))
        own = {name.lower(): Own(name, table) for name, table in given.items()}
        with self.sealed.lock, within(self.sealed.engine, timeout, progress) as hurry:
            self.sealed.check_open()
            asked = Asked(sql, promise, self.matches(generalized=generalized), estimator, given, own, hurry)
            with advised(self.sealed, self.ways, asked):
                return self.ways.read(asked).answer()

    def explain(self, sql: str, *, generalized: bool | Given = False, estimator: str | None = None) -> str:
        """The statements that make a question's tables from the files, its guards, and the query that answers it."""
        check_known(estimator)
        with self.sealed.lock:
            self.sealed.check_open()
            asked = Asked(sql, self.release.promise, self.matches(generalized=generalized), estimator)
            with advised(self.sealed, self.ways, asked):
                return self.ways.explain(asked)

    def planned(self, sql: str, *, estimator: str | None = None) -> str:
        """The one query that answers a question; it is refused if it is computed otherwise."""
        check_known(estimator)
        with self.sealed.lock:
            self.sealed.check_open()
            asked = Asked(sql, self.release.promise, self.matches(), estimator)
            with advised(self.sealed, self.ways, asked):
                return self.ways.core.read(asked).planned().sql

    def run(self, query: exp.Expr, matches: Matches | None = None) -> pa.Table:
        """Run a query over the tables that questions are answered from, whichever it needs."""
        return self.sealed.run(query, matches)

    def matches(self, *, generalized: bool | Given = False) -> Matches:
        """How rows match: as the release shows them, or by their boxes alone."""
        return self.sealed.matches.asked(generalized=generalized)

    def close(self) -> None:
        self.sealed.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
