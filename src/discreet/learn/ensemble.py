"""Draw the parameters of a model of the sensitive value given the quasi-identifiers, from groups alone.

A row with features f holds a value of kind v with a probability proportional to exp(base[v] + f · B[:, v]): a
multinomial logit. B = A · curves + A', so that kinds which are neighbours in an order can share what is learned; every
number of A and A' has a normal prior with mean 0 whose spread is shared inside a family of features.

What the release says is who is in a group and which values it has; its likelihood is the sum over all assignments
(`swaps.expect` gives its derivative). Each member of the ensemble is one draw of all parameters by perturbing and
optimising (Newton & Raftery 1994; Papandreou & Yuille 2010): groups get random weights, the prior a random mean, and
the maximum then is a draw from the posterior, exactly for a linear model and near it for many groups. Where the release
says nothing a member stays where the prior put it, so that the spread is the prior's; no chain has to walk there.
Spreads of families are found on the way from the members' mean squares (empirical Bayes, by EM).
Cost of a step: rows x values of a group + combinations x features x kinds, for each member.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.learn.features import Features, Floats, Ints
from discreet.learn.kinds import Kinds
from discreet.learn.swaps import Longs, expect

EPOCHS, STEPS = 12, 5
RATE, SLOWEST, FRICTION, FARTHEST = 0.8, 0.01, 0.2, 0.5
ROUNDS = 2
SPREADS = {
    False: (0.4, 0.15),
    True: (0.1, 0.05),
}  # of a single column, of a pair: along curves over kinds, of each kind
NARROWEST, WIDEST = 0.01, 2.0


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is learned from: groups with the combination of every row, the features of combinations, kinds per group."""

    starts: Longs
    combination: Ints
    features: Floats  # combinations x features
    first: Longs
    kind: Ints
    count: Floats

    @property
    def groups(self) -> int:
        return self.starts.size - 1


@dataclass(frozen=True, eq=False)
class Model:
    """The shape of the logit: base of each kind, rows of numbers A over kinds, and the family of every feature."""

    base: Floats
    over: Floats  # (curves and kinds) x kinds
    family: Ints
    initial: npt.NDArray[np.float64]  # families x 2: spread along curves, and of each kind

    @classmethod
    def of(cls, features: Features, kinds: Kinds) -> Model:
        over = np.concatenate([kinds.curves, np.eye(kinds.size, dtype=np.float32)])
        pairs, family = features.families
        initial = np.array([SPREADS[pair] for pair in pairs])
        if kinds.curves.size:
            initial[pairs, 1] = 0  # a pair bends the curves only
        else:
            initial[:, 1] = initial[:, 0]
        base = np.log(np.maximum(kinds.share, 1e-9)).astype(np.float32)
        return cls(base, over, family, initial)

    @property
    def curves(self) -> int:
        return int(self.over.shape[0] - self.over.shape[1])

    def each(self, spread: npt.NDArray[np.float64]) -> Floats:
        """The spread of every number."""
        of = spread[self.family]
        return np.concatenate(
            [np.repeat(of[:, :1], self.curves, 1), np.repeat(of[:, 1:], self.over.shape[1], 1)], 1
        ).astype(np.float32)

    def chances(self, features: Floats, numbers: Floats) -> Floats:
        """The log-probability of every kind for rows with these features."""
        found: Floats = features @ (numbers @ self.over)
        found += self.base
        found -= found.max(1, keepdims=True)
        found -= np.log(np.exp(found).sum(1, keepdims=True))
        return found


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Members' numbers (members x features x numbers of a feature), and what was watched at two times, for each."""

    numbers: Floats
    spread: npt.NDArray[np.float64]
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
    shape = (members, evidence.features.shape[1], model.over.shape[0])
    drawn = random.standard_normal(shape, dtype=np.float32)
    weights = random.standard_exponential((members, evidence.groups), dtype=np.float32)
    at, speed, rate = drawn.copy(), np.zeros(shape, np.float32), [RATE] * members
    spread = np.clip(model.initial * scale, 0, WIDEST)
    climb = _Climb.of(evidence, model)
    watched = []
    for epoch in range(epochs):
        each, metric = model.each(spread), climb.metric(spread)
        for m in range(members):
            rate[m] = climb.walk(at[m], speed[m], rate[m], drawn[m], weights[m], each, metric)
        if epoch >= 2:
            spread = _spreads(at, model, spread)
            change = each / np.maximum(model.each(spread), NARROWEST / 2)  # numbers stay; their unit is another
            at *= change
            speed *= change
        if epoch in (epochs - 1 - (epochs - 1) // 4, epochs - 1):
            each = model.each(spread)
            watched.append(np.stack([climb.watch(at[m] * each) for m in range(members)]))
        progress(epoch + 1)
    return Ensemble(at * model.each(spread), spread, (watched[0], watched[-1]))


def _spreads(at: Floats, model: Model, spread: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The spread of each family from the mean square of its numbers: one step of EM."""
    found = spread.copy()
    squares = (at.astype(np.float64) ** 2).mean(0)
    for part, own in enumerate((slice(0, model.curves), slice(model.curves, None))):
        for family in range(len(spread)):
            square = squares[model.family == family, own]
            if square.size and spread[family, part]:
                ratio = (square.sum() + 2) / (square.size + 2)
                found[family, part] = np.clip(spread[family, part] * ratio**0.5, NARROWEST, WIDEST)
    return found


@dataclass(frozen=True, eq=False)
class _Climb:
    """Steps towards a member's maximum, in units of the prior's spread.

    The metric is the second derivative if every row's value were known: never smaller than the true one by much.
    """

    evidence: Evidence
    model: Model
    rows: Floats  # of every combination
    gram: npt.NDArray[np.float64]
    sharp: Floats  # of every number of a feature: how sharply all rows together fix it

    @classmethod
    def of(cls, evidence: Evidence, model: Model) -> _Climb:
        rows = np.bincount(evidence.combination, minlength=len(evidence.features)).astype(np.float32)
        gram = (evidence.features * rows[:, None]).T @ evidence.features
        share = np.exp(model.base)
        sharp = 1.5 * (model.over**2 @ (share * (1 - share)))
        return cls(evidence, model, rows, gram.astype(np.float64), sharp.astype(np.float32))

    def metric(self, spread: npt.NDArray[np.float64]) -> list[tuple[slice, Floats, Floats]]:
        """For both parts of the numbers, eigenvectors and the inverse of what they are worth."""
        found = []
        for part, own in enumerate((slice(0, self.model.curves), slice(self.model.curves, None))):
            each = spread[self.model.family, part]
            worth, vectors = np.linalg.eigh(self.gram * each[:, None] * each)
            inverse = 1 / (np.maximum(worth, 0)[:, None] * self.sharp[None, own] + 2)
            found.append((own, vectors.astype(np.float32), inverse.astype(np.float32)))
        return found

    def walk(
        self,
        at: Floats,
        speed: Floats,
        rate: float,
        drawn: Floats,
        weight: Floats,
        each: Floats,
        metric: list[tuple[slice, Floats, Floats]],
    ) -> float:
        """Take some steps with momentum, in place; downhill, begin anew with shorter ones. Return their length."""
        gentle = self._gentle(at * each)
        for _ in range(STEPS):
            slope = self.slope(at * each, weight) @ self.model.over.T
            slope *= each
            slope -= at - drawn
            falls = bool(np.vdot(slope, speed) < 0)
            rate = max(rate / 2, SLOWEST) if falls else min(rate * 1.1, RATE)
            if falls:
                speed[:] = 0
            speed *= 1 - FRICTION
            slope *= gentle
            for own, vectors, inverse in metric:
                speed[:, own] += np.float32(rate) * gentle[:, own] * (vectors @ (inverse * (vectors.T @ slope[:, own])))
            np.clip(speed, -FARTHEST, FARTHEST, out=speed)
            at += speed
        return rate

    def _gentle(self, numbers: Floats) -> Floats:
        """How much shorter steps are where kinds are likelier than among all rows, as slopes change faster there."""
        likely = np.exp(self.model.chances(self.evidence.features, numbers))
        likely *= (1 - likely) * self.rows[:, None]
        found = np.ones(numbers.shape, np.float32)
        usual = np.maximum(np.diag(self.gram), 1e-9)[:, None] * self.sharp[None, self.model.curves :]
        found[:, self.model.curves :] = np.sqrt(
            np.minimum(1, usual / np.maximum((self.evidence.features**2).T @ likely, 1e-9))
        )
        return found

    def slope(self, numbers: Floats, weight: Floats) -> Floats:
        """The derivative of the log-likelihood by the logits of features and kinds."""
        chances = self.model.chances(self.evidence.features, numbers)
        held, rows = self._expected(chances, weight)
        held -= rows[:, None] * np.exp(chances)
        return self.evidence.features.T @ held

    def _expected(self, chances: Floats, weight: Floats) -> tuple[Floats, Floats]:
        held, rows = np.empty_like(chances), np.empty(len(chances), np.float32)
        e = self.evidence
        expect(e.starts, e.combination, e.first, e.kind, e.count, weight, chances, ROUNDS, held, rows)
        return held, rows

    def watch(self, numbers: Floats) -> npt.NDArray[np.float64]:
        """What members should agree on: for each family, how strongly features and kinds go together in its table."""
        chances = self.model.chances(self.evidence.features, numbers)
        held, rows = self._expected(chances, np.ones(self.evidence.groups, np.float32))
        share = np.exp(self.model.base)
        held -= rows[:, None] * share
        kinds = self.model.over[: self.model.curves] if self.model.curves else self.model.over
        together = (self.evidence.features.T @ held @ kinds.T).astype(np.float64)
        strength = np.bincount(self.model.family, (together**2).sum(1))
        found: npt.NDArray[np.float64] = np.log(strength + 1e-9)
        return found
