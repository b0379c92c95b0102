"""Answers held against the truth: errors, how often two standard errors reach it, and what is exact or vague."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple, get_args

import numpy as np

from discreet.answer.estimators import ESTIMATORS
from discreet.audit.utility.workload import Query
from discreet.errors import QueryError
from discreet.release import Release
from discreet.release.layouts import layout_of
from discreet.release.manifest import Estimator

NEAR = 1e-9  # of what is compared, for rounding


@dataclass(frozen=True, slots=True)
class Answered:
    """What a release answered to a question whose truth is known; an end that is missing is no bound."""

    query: Query
    estimate: float
    stderr: float | None
    low: float | None
    high: float | None

    @property
    def exact(self) -> bool:
        return self.low is not None and self.low == self.high

    @property
    def error(self) -> float:
        return abs(self.estimate - self.query.truth) / self.query.scale

    @property
    def width(self) -> float | None:
        return None if self.low is None or self.high is None else (self.high - self.low) / self.query.scale

    @property
    def covered(self) -> bool | None:
        """Whether the truth lies within two standard errors, if there is one."""
        if self.stderr is None:
            return None
        return abs(self.estimate - self.query.truth) <= 2 * self.stderr + NEAR * self.query.scale

    @property
    def outside(self) -> bool:
        """Whether the truth lies outside the bounds."""
        truth, ends = self.query.truth, [end for end in (self.low, self.high) if end is not None]
        slack = NEAR * max(self.query.scale, *map(abs, ends), abs(truth))
        below, above = self.low is not None and truth < self.low - slack, self.high is not None
        return below or (above and truth > (self.high or 0) + slack)


class Answers(NamedTuple):
    """The answers of a release to a workload, the seconds that each took, and why a question had none."""

    found: list[Answered]
    seconds: list[float]
    unanswered: str | None


def valid(release: Release, *, learned: bool) -> list[str]:
    """The estimators that a release can be asked by, and that a manifest may name."""
    promise = release.promise
    if layout_of(promise).matching != "counted":
        return ["even"]
    names = [name for name in get_args(Estimator) if ESTIMATORS[name].why_not(promise) is None]
    return sorted((name for name in names if learned or name != "learned"), key=[*ESTIMATORS].index)


def answers(release: Release, asked: Sequence[Query], estimator: str | None) -> Answers:
    """Ask a release every question of a workload by one estimator."""
    found, seconds, why = [], [], None
    for query in asked:
        start = perf_counter()
        try:
            estimate, stderr, low, high = release.ask(query.sql, estimator=estimator).rows()[0].values()
        except QueryError as error:
            why = error.message
            continue
        seconds.append(perf_counter() - start)
        if estimate is None:
            why = "nobody may match" if why is None else why
            continue
        found.append(Answered(query, float(estimate), _number(stderr), _number(low), _number(high)))
    return Answers(found, seconds, why)


def summed_up(answers: Sequence[Answered]) -> dict[str, Any]:
    """What an outcome says of all answers; exact ones are counted, and are no part of its errors."""
    doubtful = [each for each in answers if not each.exact]
    found: dict[str, Any] = {
        "answered": len(answers),
        "exact": len(answers) - len(doubtful),
        "outside": sum(each.outside for each in answers),
    }
    if not doubtful:
        return found
    errors = np.array([each.error for each in doubtful])
    kinds = sorted({each.query.kind for each in doubtful})
    lows = [each.low for each in doubtful if each.low is not None and each.query.kind not in {"sum", "avg"}]
    return found | {
        "error": float(np.median(errors)),
        "error_90": float(np.percentile(errors, 90)),
        "worst": float(errors.max()),
        "best": float(errors.min()),
        "errors": {kind: float(np.median([e.error for e in doubtful if e.query.kind == kind])) for kind in kinds},
        "coverage": _mean([each.covered for each in doubtful]),
        "width": _mean([each.width for each in doubtful]),
        "vague": _mean([low <= 0 for low in lows]),
    }


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
