"""The quasi-identifiers of the rows that a model is fitted to: rows that look the same are counted, not repeated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from discreet.values.coded import Coded, combined


@dataclass(frozen=True, eq=False)
class Seen:
    """The columns of all rows, the look of every row, and a row of each look."""

    quasi: tuple[Coded, ...]
    look: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]

    @classmethod
    def of(cls, quasi: Sequence[Coded]) -> Self:
        look, first = combined([each.codes for each in quasi])
        return cls(tuple(quasi), look.astype(np.int64), first)

    @property
    def looks(self) -> int:
        return self.first.size

    @property
    def distinct(self) -> list[npt.NDArray[Any]]:
        """The codes of every look, column by column."""
        return [each.codes[self.first] for each in self.quasi]
