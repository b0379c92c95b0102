"""A model of the sensitive value given the quasi-identifiers, learned from the groups of a release alone.

First an ensemble of models whose likelihood is that of the groups (`learn/ensemble.py`): of few rows many members, and
their probabilities are averaged, as groups leave much open. Of many rows few members are enough to start from, and the
finer model of `guessing/model.py` takes over by expectation and maximisation in turns (Dempster, Laird and Rubin 1977):
how many rows of each look hold each value, expected over all assignments of every group's values to its rows, then the
model that explains these best, as if they were known. Where groups do not show that values go with anything
(`learn/score.py`), nothing is learned: the model knows the shares of all values only. At most `FITTED` rows are learned
from, of whole groups taken at random.
Cost: that of the ensemble; then of a turn rows x values of a group, and a fit over the different looks.
Claim: a_model_learned_from_groups_nears_that_of_people — where groups differ in what they hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.audit.attacks.attack import Progress
from discreet.audit.guessing.model import FEW, FITTED, Model, Singles
from discreet.audit.guessing.posterior import Histograms
from discreet.audit.guessing.seen import Seen
from discreet.learn.ensemble import EPOCHS, ensemble
from discreet.learn.features import Features, features
from discreet.learn.kinds import Kinds
from discreet.learn.logit import Evidence
from discreet.learn.logit import Model as Shape
from discreet.learn.score import Score
from discreet.learn.swaps import expect, swap
from discreet.learn.view import View
from discreet.values.coded import Coded, combined, narrow

MEMBERS = {True: 40, False: 4}  # of the ensemble, of few rows or of many
TURNS = {True: 0, False: 4}
ROUNDS = 4  # of scaling, in each turn
LIKELY = 0.5  # that there is a relation at all
STEPS = EPOCHS + TURNS[False] + 2  # how often it is told what is being done, at most
SWEEPS, THREADS = 30, 2

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Members:
    """The mean of the probabilities of an ensemble."""

    known: Features
    shape: Shape
    numbers: Singles  # members x features x numbers of a feature

    def chances(self, columns: Sequence[npt.NDArray[np.integer]]) -> Singles:
        rows = self.known.of(columns)
        found = np.zeros((len(rows), self.shape.base.size), np.float32)
        for numbers in self.numbers:
            found += np.exp(self.shape.chances(rows, numbers))
        return np.log(found / len(self.numbers) + np.float32(1e-12))


def learn(view: View, progress: Progress) -> Model:
    """Fit a model to the groups of a view."""
    kinds, group, chance = Kinds.among(view.held, view.values), _some(view), np.random.default_rng(0)
    sizes = np.diff(view.starts)[group]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    rows = np.repeat(view.starts[group] - starts[:-1], sizes) + np.arange(starts[-1])
    seen = Seen.of([Coded(each.codes[rows], each.values) for each in view.quasi.values()])
    held = Histograms.of(starts, kinds.of[view.held[rows]])
    alone = features(seen.quasi, pairs=0)
    value, count = held.value.astype(np.int32), held.several.astype(np.float32)
    evidence = Evidence(starts, seen.look.astype(np.int32), alone.of(seen.distinct), held.first, value, count)
    score = Score.of(evidence, kinds.size, alone, chance)
    if score.related <= LIKELY:
        return Model(kinds, view.held, (), strength=0.0)
    known, few = features(seen.quasi, score.columns), rows.size <= FEW
    evidence, shape = replace(evidence, features=known.of(seen.distinct)), Shape.of(known, kinds)

    def told(epoch: int) -> None:
        progress(f"learning, {epoch} of {EPOCHS}")

    drawn = ensemble(evidence, shape, MEMBERS[few], chance, progress=told)
    model = Model(kinds, view.held, ((1.0, Members(known, shape, drawn.numbers)),))
    for turn in range(TURNS[few]):
        progress(f"learning in detail, {turn + 1} of {TURNS[few]}")
        model = Model.of(seen, _expected(evidence, model.chances(seen.distinct)), kinds, view.held)
    return model


def _some(view: View) -> Ints:
    """Groups to learn from: all, or some at random that have at most `FITTED` rows; one at least."""
    order = np.random.default_rng(0).permutation(view.groups)
    many = int(np.searchsorted(np.cumsum(np.diff(view.starts)[order]), FITTED, side="right"))
    return np.sort(order[: max(many, 1)])


def _expected(e: Evidence, chances: Singles) -> Singles:
    """How many rows of every look are expected to hold each kind."""
    found, rows = np.empty_like(chances), np.empty(len(chances), np.float32)
    even = np.ones(e.groups, np.float32)
    expect(e.starts, e.combination, e.first, e.kind, e.count, even, chances, ROUNDS, found, rows)
    return found


def tables(view: View, model: Model, many: int, secret: int) -> npt.NDArray[Any]:
    """So many tables that the release allows, each as likely as the model says (tables x rows)."""
    codes = np.empty((many, view.rows), narrow(len(view.values)))
    codes[:] = view.held
    look, first = combined([each.codes for each in view.quasi.values()])
    chances = model.chances([each.codes[first] for each in view.quasi.values()])
    seeds = np.random.default_rng(secret).integers(0, 2**64, many, dtype=np.uint64)

    def draw(at: int) -> None:
        swap(view.starts, look.astype(np.int32), model.kinds.of, chances, seeds[at], SWEEPS, codes[at])

    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(draw, range(many)))
    return codes
