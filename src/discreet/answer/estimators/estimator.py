"""What every estimator offers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Protocol, Self, runtime_checkable

import pyarrow as pa

from discreet.answer.answer import Answer, Basis
from discreet.answer.prepared import Asking, Hurry
from discreet.engines import Engine
from discreet.release.manifest import Promise
from discreet.release.release import Release


class Refused(NamedTuple):
    """Why an estimator is not valid for a release, and what to use instead."""

    why: str
    instead: str


@dataclass(frozen=True)
class Estimated:
    """An answer as laid out, what is to be said beside it, and aggregates (by number) that `others` had a part in."""

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

    def explain(self, asking: Asking) -> list[str]:
        """What it does beside the plan's query, as SQL and comments."""
        ...


@runtime_checkable
class OfAnything(Protocol):
    """An estimator that can be asked what has no bounds, too."""

    def spelled(self, sql: str, given: Collection[str] = ()) -> str:
        """What is run for such a question."""
        ...

    def beyond(self, sql: str, given: Mapping[str, pa.Table], hurry: Hurry) -> Answer:
        """Answer any SELECT over the table, and over tables that are `given` by name."""
        ...
