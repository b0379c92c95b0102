"""The model `even`: all assignments are equally likely, as the papers take it."""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt

from discreet.learn.drawn import Draws, Fit
from discreet.learn.view import View
from discreet.values.coded import narrow


def evenly(view: View, tables: int, random: np.random.Generator, fit: Fit) -> Draws:
    """The values of each group in a uniformly random order; `fit` says why."""
    codes = np.empty((tables, view.rows), narrow(len(view.values)))
    for table in codes:
        table[:] = view.held
        _shuffle(view.starts, table, random.random(view.rows))
    return Draws(codes, fit)


@nb.njit(cache=True, nogil=True)
def _shuffle(starts: npt.NDArray[np.int64], codes: npt.NDArray[Any], chance: npt.NDArray[np.float64]) -> None:
    """Fisher and Yates inside every group."""
    for g in range(starts.size - 1):
        first = starts[g]
        for i in range(starts[g + 1] - 1, first, -1):
            j = first + int(chance[i] * (i - first + 1))
            codes[i], codes[j] = codes[j], codes[i]
