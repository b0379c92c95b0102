"""What every estimator offers, and what it is given of a question that is being answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Protocol, Self

import pyarrow as pa

from discreet.answer.answer import Basis
from discreet.answer.question.question import Question
from discreet.engines import Engine
from discreet.release.manifest import Promise
from discreet.release.release import Release


class Refused(NamedTuple):
    """Why an estimator is not valid for a release, and what to use instead."""

    why: str
    instead: str


class Asking(Protocol):
    """A question under way, planned already.

    `relations` are `frame`, a row for every combination of keys (`key_0` and so on), and per aggregate `answer_0` and
    so on: by key the `estimate` and `stderr` of `even`, `low`, `high`, and how many rows match at `least`.
    """

    @property
    def question(self) -> Question: ...

    def direct(self) -> pa.Table:
        """The answer by `even`, without a stop at its relations."""
        ...

    def relations(self) -> dict[str, pa.Table]: ...

    def laid_out(self, relations: Mapping[str, pa.Table]) -> pa.Table:
        """The answer, sorted and cut as asked, from relations in which another estimator put its own figures."""
        ...


@dataclass(frozen=True)
class Estimated:
    """An answer as it was laid out, what is to be said beside it, and which aggregates (by number) another estimated."""

    table: pa.Table
    notes: tuple[str, ...] = ()
    others: Mapping[int, str] = field(default_factory=dict)


class Estimator(Protocol):
    """One way to estimate; a session opens it once, when it is first asked for."""

    basis: ClassVar[Basis]  # its name, and what it stands on

    @classmethod
    def why_not(cls, promise: Promise) -> Refused | None:
        """Why a release that shows its rows cannot be estimated by it; None if it can."""
        ...

    @classmethod
    def of(cls, engine: Engine, release: Release) -> Self:
        """Made ready for a release whose files the engine holds as `NAME file`, and as `qit` and `st`."""
        ...

    def answer(self, asking: Asking) -> Estimated: ...
