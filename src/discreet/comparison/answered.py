"""Answers held against the truth: errors, how often two standard errors reach it, and what is exact or vague."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.comparison.workload import Query

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
