"""Draw plausible tables: complete assignments of each group's values to its rows.

Every table is consistent with the release to the last row. Which of those assignments are likely is what a model says:
`learned` fits one of the sensitive value given the quasi-identifiers to the files alone; `even` takes all as equally
likely, as the papers do.
Claim: draws_keep_groups — in every table every group holds exactly its own values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from discreet.errors import InputError
from discreet.learn.drawn import Draws, Fit, Name, Progress
from discreet.learn.even import evenly
from discreet.learn.learned import learned
from discreet.learn.view import View
from discreet.release.layouts.plausible import LEAST, MOST
from discreet.values.random import RandomSource

__all__ = ["MODELS", "Draws", "Fit", "Name", "Progress", "check_tables", "draw"]

VERSION = 5  # of the models: another draws other tables by the same secret
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
    """All assignments are equally likely."""
    progress("drawing")
    return evenly(view, tables, random, Fit("even"))


MODELS: dict[str, Callable[[View, int, np.random.Generator, Progress], Draws]] = {
    "learned": learned,
    "even": even,
}
