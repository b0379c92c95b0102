"""How many rows of a group satisfy a condition: what every way of counting them offers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp

from discreet.answer.question.question import Aggregate, Question

if TYPE_CHECKING:
    from discreet.answer.plan.context import Context


@dataclass(frozen=True)
class Guard:
    """A query of one number that must not exceed `most`; else the question is refused."""

    query: exp.Select
    most: int
    message: str
    hint: str


class Matches(Protocol):
    """One way in which a release shows rows.

    `columns` are those of `draws` that say how many rows match: `matched`; where they are not counted, the `fewest`
    and the most (`matched`); where they are expected, the probabilities `overlap` and `tie`.
    If there are none, nothing is drawn.
    """

    @property
    def columns(self) -> tuple[str, ...]: ...

    @property
    def key(self) -> Hashable:
        """What tells it from other ways in the same session."""
        ...

    @property
    def exact(self) -> bool:
        """Whether the rows of one side are shown as they are."""
        ...

    @property
    def opaque(self) -> bool:
        """Whether conditions are left to the engine as they are, so that their constants change no plan."""
        ...

    @property
    def blocks(self) -> tuple[tuple[str, ...], ...] | None:
        """The columns that were shuffled together, if there are more than two such sides."""
        ...

    @property
    def cut(self) -> str | None:
        """In SQL how the condition cuts through boxes: 0 not at all, 1 between ends, 2 through labels; None without.

        Where it does, the estimate takes values to lie evenly over a box.
        """
        ...

    def check(self, question: Question) -> Question:
        """The question, if it can be answered in this way."""
        ...

    def tables(self) -> Mapping[str, exp.Expr]:
        """The queries that make the tables it needs, in order."""
        ...

    def guards(self, context: Context) -> tuple[Guard, ...]:
        """What must hold of the data before the question is asked."""
        ...

    def relations(self, context: Context) -> dict[str, exp.Query]:
        """How many rows of each group match."""
        ...

    def frame(self, context: Context) -> exp.Select:
        """Every combination of keys that may occur."""
        ...

    def draws(self, context: Context) -> dict[str, exp.Query]:
        """For each side that subjects are about: how many candidates are drawn from which populations."""
        ...

    def answer(self, context: Context, aggregate: Aggregate, number: int) -> dict[str, exp.Query]:
        """The relations that compute an aggregate that is not exact, the last of them `answer_NUMBER`."""
        ...
