"""What drawing gives: tables as codes, and what is to be said of how they came about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy.typing as npt

APART = 1.2  # R-hat from which ensembles are said not to have come together
Name: TypeAlias = Literal["learned", "even"]
Progress: TypeAlias = Callable[[str], None]


@dataclass(frozen=True)
class Fit:
    """What is to be said of how tables were drawn: the model, its steps, and whether its chains agree."""

    model: Name
    iterations: int = 0
    rhat: float | None = None  # the largest of what was watched: 1 if chains agree; none where there are no chains
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Draws:
    """`codes[m, i]` is the code of the value that row i of the view holds in table m."""

    codes: npt.NDArray[Any]
    fit: Fit


def told_apart(rhat: float | None) -> Iterator[str]:
    """What is to be said of how far the ensembles of a model are apart, if they are."""
    if rhat is not None and rhat > APART:
        yield (
            f"the two ensembles of the model have not come together (R-hat {rhat:.2f}, 1 if they had): the groups say"
            " little of who holds what, and estimates lean on the model's prior"
        )
