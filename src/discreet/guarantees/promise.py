"""What every guarantee says of itself, so that nobody else needs to know which there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.guarantees.histograms import Histograms

if TYPE_CHECKING:  # it is compiled, and a policy is read without
    from discreet.values.rule import Rule

Counts: TypeAlias = npt.NDArray[np.int64]
Fact: TypeAlias = Literal["scale", "population"]


@dataclass(frozen=True, slots=True)
class Crowd:
    """Of each group, where people may have several rows: how many people it has, and the most rows of one of them."""

    people: Counts
    most: Counts


class Promise(Protocol):
    """One guarantee with its threshold, and with the facts about the sensitive column that it needs.

    These are the `scale` on which its values lie, and the `population`: how many of the released rows hold each.
    """

    name: ClassVar[str]
    promise: ClassVar[str]  # in words, with {threshold}, {less} by one and {more} by one
    of_people: ClassVar[str]  # the same where people have several rows; or nothing, where it is the same
    gap: ClassVar[str]  # what it leaves open though a reader might not think so, in words; or nothing
    stronger: ClassVar[Literal["larger", "smaller"]]  # which thresholds promise more
    integral: ClassVar[bool]
    weakest: ClassVar[float]  # a smaller threshold promises nothing, or, if smaller ones are stronger, cannot be kept
    needs: ClassVar[tuple[Fact, ...]]
    of_values: ClassVar[bool]  # whether it is about sensitive values, and not about rows alone
    spares: ClassVar[bool]  # whether it is about the rows that hold no harmless value, where some are harmless
    monotone: ClassVar[bool]  # whether two groups that keep it keep it as one
    together: ClassVar[Mapping[str, str]]  # what must be promised with it, and what that is then
    beside: ClassVar[Mapping[str, type[Promise]]]  # what others mean beside it
    remedy: ClassVar[str]  # what may help where it cannot be met, apart from less of it or more rows

    def __init__(self, threshold: Any, /, **facts: Any) -> None: ...

    @property
    def threshold(self) -> float: ...

    def holds(self, histograms: Histograms) -> npt.NDArray[np.bool_]:
        """Whether each group keeps the promise."""
        ...

    def holds_of_people(self, histograms: Histograms, crowd: Crowd) -> npt.NDArray[np.bool_]:
        """Whether each group keeps it where people may have several rows (see `partition/people/rule.py`)."""
        ...

    def capped(self, cap: int) -> Promise:
        """What kernels are to keep of people who have at most so many rows each."""
        ...

    def strongest(self, counts: Counts) -> float:
        """The strongest threshold that a table with these sensitive counts could keep at all, as one group."""
        ...

    def why_not(self, counts: Counts, name: str, top: object) -> str:
        """Why such a table cannot keep it; `top` is the most frequent value of the column `name`."""
        ...

    def enter(self, rule: Rule) -> Rule:
        """The rule that keeps this promise, too."""
        ...


class Plain:
    """What most guarantees say of themselves: more is stronger, in whole numbers, and nothing else is needed."""

    of_people: ClassVar[str] = ""
    gap: ClassVar[str] = ""
    stronger: ClassVar[Literal["larger", "smaller"]] = "larger"
    integral: ClassVar[bool] = True
    weakest: ClassVar[float] = 2
    needs: ClassVar[tuple[Fact, ...]] = ()
    of_values: ClassVar[bool] = True
    spares: ClassVar[bool] = True
    monotone: ClassVar[bool] = True
    together: ClassVar[Mapping[str, str]] = {}
    beside: ClassVar[Mapping[str, type[Promise]]] = {}
    remedy: ClassVar[str] = ""
    __slots__ = ()

    def capped(self, cap: int) -> Self:  # noqa: ARG002
        return self
