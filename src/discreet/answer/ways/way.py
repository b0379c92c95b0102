"""A question as it came in, and what every way to answer it offers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa

from discreet.answer.answer import SWAPPED, Answer, Basis
from discreet.answer.estimators import Estimator, chosen
from discreet.answer.matches import Counted, Matches
from discreet.answer.prepared import Hurry
from discreet.answer.question.own import Own
from discreet.errors import QueryError
from discreet.release.manifest import Promise


@dataclass(frozen=True)
class Asked:
    """A question, how rows are to match, and by what it is to be estimated; `own` are the tables that are `given`."""

    sql: str
    promise: Promise
    matches: Matches
    wanted: str | None = None  # the estimator, if one was named
    given: Mapping[str, pa.Table] = field(default_factory=dict)
    own: Mapping[str, Own] = field(default_factory=dict)
    hurry: Hurry = lambda _: None
    refused: QueryError | None = None  # what the ways before said last

    @property
    def counted(self) -> bool:
        return isinstance(self.matches, Counted)

    @property
    def estimator(self) -> type[Estimator]:
        return chosen(self.wanted, self.promise, counted=self.counted)

    @property
    def basis(self) -> Basis:
        return self.estimator.basis if self.matches.columns else SWAPPED


class Reading(Protocol):
    """A question that was read by the way that answers it."""

    def answer(self) -> Answer: ...

    def check(self) -> None:
        """Raise a `QueryError` if it would be refused when it is answered."""
        ...

    def explain(self) -> str:
        """What is run for it."""
        ...


class Way(Protocol):
    """One way to answer questions about a release."""

    @property
    def bounded(self) -> bool:
        """Whether its figures have low and high."""
        ...

    def read(self, asked: Asked) -> Reading | None:
        """The question, if it is one for this way; None if not, or a `QueryError` that says what is not supported."""
        ...
