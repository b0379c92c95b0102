"""Draw plausible tables: complete assignments of each group's values to its rows.

Every table is consistent with the release to the last row. Which of those assignments are likely is what a model says:
`learned` fits one of the sensitive value given the quasi-identifiers to the files alone; `even` takes all as equally
likely, as the papers do.
Claim: draws_keep_groups — in every table every group holds exactly its own values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt

from discreet.errors import InputError
from discreet.learn.drawn import Draws, Fit, Name, Progress
from discreet.learn.learned import learned
from discreet.learn.view import View
from discreet.release.layouts.plausible import LEAST, MOST
from discreet.values.coded import narrow
from discreet.values.random import RandomSource

__all__ = ["MODELS", "Draws", "Fit", "Name", "Progress", "check_tables", "draw"]

VERSION = 1  # of the models: another draws other tables by the same secret
STEPS = 100  # how often a model says what it is doing


def draw(
    view: View, tables: int, *, model: Name = "learned", secret: int | None = None, progress: Progress = lambda _: None
) -> Draws:
    """Draw so many tables; the same view, model and `secret` give the same ones.

    `progress` is told what is being done, at most `STEPS` times in all.
    """
    check_tables(tables)
    if model not in MODELS:
        raise InputError(f"there is no model `{model}`", hint=f"choose one of {', '.join(MODELS)}")
    way = MODELS["even" if view.groups == 1 else model]  # one group alone tells nothing of its rows
    drawn = way(view, tables, np.random.default_rng(RandomSource(secret).words(4)), progress)
    return replace(drawn, fit=replace(drawn.fit, model=model))


def check_tables(tables: int) -> None:
    """Raise unless there is a spread between so many tables, and room for them."""
    if not isinstance(tables, int) or isinstance(tables, bool) or not LEAST <= tables <= MOST:
        raise InputError(
            f"plausible tables are {LEAST} to {MOST:,}, got {tables!r}: a standard error is their spread",
            hint="20 are enough for most questions",
        )


def even(view: View, tables: int, random: np.random.Generator, progress: Progress) -> Draws:
    """All assignments are equally likely: the values of each group in a uniformly random order."""
    progress("drawing")
    codes = np.empty((tables, view.rows), narrow(len(view.values)))
    for table in codes:
        table[:] = view.held
        _shuffle(view.starts, table, random.random(view.rows))
    return Draws(codes, Fit("even"))


@nb.njit(cache=True, nogil=True)
def _shuffle(starts: npt.NDArray[np.int64], codes: npt.NDArray[Any], chance: npt.NDArray[np.float64]) -> None:
    """Fisher and Yates inside every group."""
    for g in range(starts.size - 1):
        first = starts[g]
        for i in range(starts[g + 1] - 1, first, -1):
            j = first + int(chance[i] * (i - first + 1))
            codes[i], codes[j] = codes[j], codes[i]


MODELS: dict[str, Callable[[View, int, np.random.Generator, Progress], Draws]] = {
    "learned": learned,
    "even": even,
}
