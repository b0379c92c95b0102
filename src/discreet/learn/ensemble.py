"""Draw the parameters of a model of the sensitive value given the quasi-identifiers, from groups alone.

What the release says is who is in a group and which values it has; its likelihood is the sum over all assignments. One
fit finds the likeliest numbers, and on the way the spreads of families, from mean squares (empirical Bayes, by EM; a
spread counts as if `BEFORE` numbers of the usual size had been seen). Each member is one draw around it, by the normal
approximation of the posterior: its slope there is disturbed by chance, and the step that this makes is a draw. The
disturbance is a number of variance 1 for every number (the prior), and the slopes of groups by random weights (Newton &
Raftery 1994), with the usual correction for how many numbers were fitted to them (MacKinnon & White 1985). Where the
release says nothing a member is a draw from the prior. Disturbances of an ensemble sum to 0, so that its mean is the
fit. The weights must not enter the fit itself: with as many numbers as groups each member would follow its own noise,
and all of them would say too little of a relation.
Cost of a slope: rows x values of a group + combinations x features x kinds; the fit takes about `EPOCHS` x 8 slopes,
and a member `climb.TURNS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.learn.climb import RATE, Climb, Metric, Short
from discreet.learn.features import Floats
from discreet.learn.logit import Evidence, Model

EPOCHS = 20
FRACTION = 0.3  # of what rows would tell, groups are taken to tell at first
BEFORE, NARROWEST, WIDEST = 2, 0.01, 2.0  # spreads
MOST = 0.5  # of groups, numbers are taken to be fitted to


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Members' numbers (members x features x numbers of a feature), and what was watched of each.

    It is watched twice: around the fit as it was after three quarters of the epochs, and at the end.
    """

    numbers: Floats
    watched: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]


def ensemble(
    evidence: Evidence,
    model: Model,
    members: int,
    random: np.random.Generator,
    *,
    scale: float = 1.0,
    epochs: int = EPOCHS,
    progress: Callable[[int], None] = lambda _: None,
) -> Ensemble:
    """Draw so many members; spreads start at `scale` times the usual ones."""
    climb, short, rate = Climb.of(evidence, model), Short.of(evidence, model), RATE
    spread, fraction = np.clip(model.initial * scale, 0, WIDEST), FRACTION
    at, speed, each = np.zeros(climb.shape, np.float32), np.zeros(climb.shape, np.float32), model.each(spread)
    earlier = at * each
    for epoch in range(epochs):
        metric = climb.metric(spread).told(fraction)
        rate = climb.walk(at, speed, rate, each, metric, short)
        climb.look(short, at * each, random)
        fraction = climb.fraction(at, each, metric, random)
        spread = _spreads(at, metric.told(fraction), model, spread)
        before, each = each, model.each(spread)
        change = before / np.maximum(each, NARROWEST / 2)  # numbers stay; their unit is another
        at *= change
        speed *= change
        if epoch + 1 == epochs * 3 // 4:
            earlier = at * each
        progress(epoch + 1)
    metric = climb.metric(spread).told(fraction)
    pull = _centred(random.standard_normal((members, *climb.shape), dtype=np.float32))
    weights = _centred(random.standard_normal((members, evidence.groups), dtype=np.float32))
    weights *= np.float32((1 - min(metric.fitted / evidence.groups, MOST)) ** -0.5)
    numbers = np.empty_like(pull)
    for m in range(members):
        pull[m] += climb.by_number(climb.slope(at * each, weights[m]), each)
        numbers[m] = (at + climb.solved(at, pull[m], each, metric)) * each
    earlier -= at * each
    then, now = (np.stack([climb.watch(one + moved) for one in numbers]) for moved in (earlier, np.float32(0)))
    return Ensemble(numbers, (then, now))


def _centred(drawn: Floats) -> Floats:
    """Draws with a mean of exactly 0, and the variance that they had."""
    found: Floats = (drawn - drawn.mean(0)) * np.float32((len(drawn) / max(len(drawn) - 1, 1)) ** 0.5)
    return found


def _spreads(at: Floats, metric: Metric, model: Model, spread: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The spread of each family from the mean square of its numbers and of what is not known of them: a step of EM."""
    found, squares = spread.copy(), at.astype(np.float64) ** 2 + metric.variance
    for part, own in enumerate(model.parts):
        for family in range(1, len(spread)):  # the first are constants
            square = squares[model.family == family, own]
            if square.size and spread[family, part]:
                seen = spread[family, part] ** 2 * square.sum() + BEFORE * model.initial[family, part] ** 2
                found[family, part] = np.clip((seen / (square.size + BEFORE)) ** 0.5, NARROWEST, WIDEST)
    return found
