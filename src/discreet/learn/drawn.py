"""What drawing gives: tables as codes, and what is to be said of how they came about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy.typing as npt

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
