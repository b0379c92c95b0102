"""`even`: the papers' estimate, by which every pairing of a group's rows and values is equally likely.

Its stderr is the spread of the answer if that were so. It says nothing of how far the truth is from there.
"""

from __future__ import annotations

from typing import ClassVar, Self

from discreet.answer.answer import DRAWN, Basis
from discreet.answer.estimators.estimator import Estimated, Refused
from discreet.answer.prepared import Asking
from discreet.engines import Engine
from discreet.release.manifest import Promise
from discreet.release.release import Release


class Even:
    """What the plan computes; valid for every release, as far as it goes."""

    basis: ClassVar[Basis] = DRAWN

    @classmethod
    def why_not(cls, promise: Promise) -> Refused | None:  # noqa: ARG003
        return None

    @classmethod
    def of(cls, engine: Engine, release: Release) -> Self:  # noqa: ARG003
        return cls()

    def answer(self, asking: Asking) -> Estimated:
        return Estimated(asking.direct())

    def explain(self, asking: Asking) -> list[str]:  # noqa: ARG002
        return []
