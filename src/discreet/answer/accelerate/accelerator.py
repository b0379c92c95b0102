"""When a compiled pass answers, and when the plan: the faster of the two, as measured.

To load compiled code takes a third of a second, to compile it the first time ever some ten; to plan and run takes less
where rows are few. So releases of few rows are left to the plan, those of more from the second question on are not, and
those of many from the first on; but a first question that is exactly answered by the rows as they are is the engine's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from discreet.answer.limits import unpacks
from discreet.answer.question.question import Question
from discreet.engines import Engine
from discreet.release.layouts import layout_of
from discreet.release.release import Release

FEW, MANY = 500_000, 2_000_000  # rows; see docs/decisions/0012-one-compiled-pass.md


@dataclass(frozen=True, eq=False)
class Held:
    """Of group g, the entries `offsets[g]` to `offsets[g + 1]`: a key of quasi-identifiers, and `amounts` of its rows.

    These are how many rows match; of an argument how many have a value, and of numbers the sum, and that of the
    squares. `names` are the keys in the order of their numbers.
    """

    offsets: npt.NDArray[np.int64]
    keys: npt.NDArray[np.int32]
    amounts: npt.NDArray[np.float64]
    names: pa.Table

    @property
    def count(self) -> int:
        """How many keys there are."""
        return max(len(self.names), 1)


class Accelerator(Protocol):
    """Another way to the relations that the layout of an answer is made from: `frame`, and `answer_0` and so on."""

    def answers(self, question: Question, *, keep: bool = False) -> dict[str, pa.Table] | None:
        """These relations; None if the question is left to the plan. If told to `keep`, `held` may be asked next."""
        ...

    def held(self, question: Question, argument: exp.Expr | None) -> Held | None:
        """What groups hold of a question that was just answered; None if it was not."""
        ...


class Choice:
    """An accelerator that is loaded when it first pays, or from the first question on if it `must` be."""

    def __init__(self, engine: Engine, release: Release, *, must: bool) -> None:
        self._engine, self._release, self._must = engine, release, must
        self._asked = False
        self._pass: Accelerator | None = None

    @property
    def pays(self) -> bool:
        """Whether most questions about the release are worth it."""
        return self._must or self._release.promise.rows >= FEW

    def answers(self, question: Question, *, keep: bool = False) -> dict[str, pa.Table] | None:
        first, self._asked = not self._asked, True
        if not self._must and not self._pays(question, first=first):
            return None
        if self._pass is None:
            from discreet.answer.accelerate.compiled import CompiledPass

            self._pass = CompiledPass(self._engine, self._release)
        return self._pass.answers(question, keep=keep)

    def held(self, question: Question, argument: exp.Expr | None) -> Held | None:
        return None if self._pass is None else self._pass.held(question, argument)

    def _pays(self, question: Question, *, first: bool) -> bool:
        promise = self._release.promise
        if unpacks(self._release):  # then the engine, which keeps to its limit, answers
            return False
        exact = all(question.untouched(aggregate) for aggregate in question.aggregates)
        if first and exact and layout_of(promise).in_a_file:  # elsewhere rows have to be put together with their groups
            return False
        return promise.rows >= (MANY if first else FEW)
