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
from discreet.learn.swaps import Longs, expect, swap

EPOCHS, STEPS, TURNS = 20, 5, 12
RATE, SLOWEST, FRICTION, FARTHEST = 0.8, 0.01, 0.5, 0.5
FRACTION, LEAST, NEAR, MOST = 0.3, 0.05, 0.03, 0.5
ROUNDS = 2
LOOKS, SWEEPS, MEMORY = 20, 3, 5
SPREADS = {
    False: (0.4, 0.15),
    True: (0.1, 0.05),
}  # of a single column, of a pair: along curves over kinds, of each kind
BEFORE, NARROWEST, WIDEST, CONSTANT = 2, 0.01, 2.0, 0.5


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
        initial[0] = CONSTANT
        if kinds.curves.size:
            initial[pairs, 1] = 0  # a pair bends the curves only
        else:
            initial[:, 1] = initial[:, 0]
        base = np.log(np.maximum(kinds.share, 1e-9)).astype(np.float32)
        return cls(base, over, family, initial)

    @property
    def curves(self) -> int:
        return int(self.over.shape[0] - self.over.shape[1])

    @property
    def parts(self) -> tuple[slice, slice]:
        """Which numbers are along curves, and which of each kind."""
        return slice(0, self.curves), slice(self.curves, None)

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
    """Members' numbers (members x features x numbers of a feature), and what was watched of each."""

    numbers: Floats
    spread: npt.NDArray[np.float64]
    watched: npt.NDArray[np.float64]


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
    climb = _Climb.of(evidence, model)
    spread, fraction = np.clip(model.initial * scale, 0, WIDEST), FRACTION
    at, each = np.zeros((1, *climb.shape), np.float32), model.each(spread)
    short, speed, rate = _Short.of(evidence, 1), np.zeros(climb.shape, np.float32), RATE
    for epoch in range(epochs):
        metric = climb.metric(spread, fraction)
        rate = climb.walk(at[0], speed, rate, each, metric, short)
        climb.look(short, at * each, random)
        fraction = climb.fraction(at[0], each, metric, random)
        spread = _spreads(at[0], climb.metric(spread, fraction), model, spread)
        before, each = each, model.each(spread)
        change = before / np.maximum(each, NARROWEST / 2)  # numbers stay; their unit is another
        at *= change
        speed *= change
        progress(epoch + 1)
    metric = climb.metric(spread, fraction)
    pull = _centred(random.standard_normal((members, *climb.shape), dtype=np.float32))
    weights = _centred(random.standard_normal((members, evidence.groups), dtype=np.float32))
    weights *= np.float32((1 - min(metric.fitted() / evidence.groups, MOST)) ** -0.5)
    for m in range(members):
        pull[m] += (climb.slope(at[0] * each, weights[m]) @ model.over.T) * each
    numbers = np.stack([at[0] + climb.solved(at[0], one, each, metric, TURNS) for one in pull]) * each
    return Ensemble(numbers, spread, np.stack([climb.watch(one) for one in numbers]))


def _centred(drawn: Floats) -> Floats:
    """Draws with a mean of exactly 0, and the variance that they had."""
    found: Floats = (drawn - drawn.mean(0)) * np.float32((len(drawn) / max(len(drawn) - 1, 1)) ** 0.5)
    return found


def _spreads(at: Floats, metric: _Metric, model: Model, spread: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The spread of each family from the mean square of its numbers and of what is not known of them: a step of EM."""
    found, squares = spread.copy(), at.astype(np.float64) ** 2 + metric.variance()
    for part, own in enumerate(model.parts):
        for family in range(len(spread)):
            square = squares[model.family == family, own]
            if family and square.size and spread[family, part]:  # the first are the constants of kinds
                seen = spread[family, part] ** 2 * square.sum() + BEFORE * model.initial[family, part] ** 2
                found[family, part] = np.clip((seen / (square.size + BEFORE)) ** 0.5, NARROWEST, WIDEST)
    return found


@dataclass(eq=False)
class _Short:
    """What expected counts are short of those of tables drawn by swaps, by feature and kind, and a table per member."""

    amiss: Floats | None
    tables: npt.NDArray[np.int32]
    looked: int = 0

    @classmethod
    def of(cls, evidence: Evidence, members: int, amiss: Floats | None = None) -> _Short:
        places = np.repeat(evidence.kind, evidence.count.astype(np.int64))
        return cls(amiss, np.tile(places, (members, 1)))


@dataclass(frozen=True, eq=False)
class _Metric:
    """About how sharply groups and prior together fix numbers: by part, eigenvectors of features, and the inverse."""

    parts: list[tuple[slice, Floats, Floats]]
    worth: list[Floats]

    def steps(self, slope: Floats) -> Floats:
        found = np.empty_like(slope)
        for own, vectors, inverse in self.parts:
            found[:, own] = vectors @ (inverse * (vectors.T @ slope[:, own]))
        return found

    def variance(self) -> Floats:
        return np.concatenate([vectors**2 @ inverse for _, vectors, inverse in self.parts], 1)

    def fitted(self) -> float:
        """How many numbers groups fix, beside the prior."""
        return float(sum((1 - inverse).sum() for _, _, inverse in self.parts))

    def known(self, numbers: Floats) -> float:
        """The square of numbers in the second derivative if every row's value were known."""
        parts = zip(self.parts, self.worth, strict=True)
        return float(sum((worth * (vectors.T @ numbers[:, own]) ** 2).sum() for (own, vectors, _), worth in parts))


@dataclass(frozen=True, eq=False)
class _Climb:
    """Steps towards a maximum, in units of the prior's spread."""

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
        sharp = model.over**2 @ (share * (1 - share))
        return cls(evidence, model, rows, gram.astype(np.float64), sharp.astype(np.float32))

    @property
    def shape(self) -> tuple[int, int]:
        return self.evidence.features.shape[1], self.model.over.shape[0]

    @property
    def once(self) -> Floats:
        return np.ones(self.evidence.groups, np.float32)

    def metric(self, spread: npt.NDArray[np.float64], fraction: float) -> _Metric:
        """With groups worth such a fraction of what rows would be whose values were known."""
        parts, worths = [], []
        for part, own in enumerate(self.model.parts):
            each = spread[self.model.family, part]
            found, vectors = np.linalg.eigh(self.gram * each[:, None] * each)
            worth = (np.maximum(found, 0)[:, None] * self.sharp[None, own]).astype(np.float32)
            parts.append((own, vectors.astype(np.float32), 1 / (np.float32(fraction) * worth + 1)))
            worths.append(worth)
        return _Metric(parts, worths)

    def fraction(self, at: Floats, each: Floats, metric: _Metric, random: np.random.Generator) -> float:
        """How much groups tell beside rows whose values are known, along a direction at random (Hutchinson)."""
        along = random.standard_normal(at.shape, dtype=np.float32)
        along[self.model.family == 0] = 0  # what groups tell of constants they tell in full
        bend = float(np.vdot(along, self._bent(at, self.slope(at * each, self.once), each, along) - along))
        return float(np.clip(bend / max(metric.known(along), 1e-9), LEAST, 1))

    def walk(self, at: Floats, speed: Floats, rate: float, each: Floats, metric: _Metric, short: _Short) -> float:
        """Take some steps with momentum, in place; downhill, begin anew with shorter ones. Return their length."""
        gentle = self.gentle(at * each)
        for _ in range(STEPS):
            slope = self.slopes(at[None], each, short)[0]
            falls = bool(np.vdot(slope, speed) < 0)
            rate = max(rate / 2, SLOWEST) if falls else min(rate * 1.1, RATE)
            if falls:
                speed[:] = 0
            speed *= 1 - FRICTION
            speed += np.float32(rate) * gentle * metric.steps(gentle * slope)
            np.clip(speed, -FARTHEST, FARTHEST, out=speed)
            at += speed
        return rate

    def gentle(self, numbers: Floats) -> Floats:
        """How much shorter steps are where kinds are likelier than among all rows, as slopes change faster there."""
        likely = np.exp(self.model.chances(self.evidence.features, numbers))
        likely *= (1 - likely) * self.rows[:, None]
        found = np.ones(numbers.shape, np.float32)
        usual = 1.5 * np.maximum(np.diag(self.gram), 1e-9)[:, None] * self.sharp[None, self.model.curves :]
        found[:, self.model.curves :] = np.sqrt(
            np.minimum(1, usual / np.maximum((self.evidence.features**2).T @ likely, 1e-9))
        )
        return found

    def slopes(self, at: Floats, each: Floats, short: _Short) -> Floats:
        """Of every member the derivative of the posterior, in units of the prior's spread."""
        found = np.stack([self.slope(one * each, self.once) for one in at])
        if short.amiss is not None:
            found += short.amiss
        return found @ self.model.over.T * each - at

    def solved(self, at: Floats, right: Floats, each: Floats, metric: _Metric, turns: int) -> Floats:
        """The step whose change of the slope there is `right`, by conjugate gradients (Hestenes & Stiefel 1952)."""
        here, found, left = self.slope(at * each, self.once), np.zeros_like(right), right.copy()
        gentle = self.gentle(at * each)
        along = close = gentle * metric.steps(gentle * left)
        worth = float(np.vdot(left, close))
        for _ in range(turns):
            bent = self._bent(at, here, each, along)
            bend = float(np.vdot(along, bent))
            if bend <= 0 or worth <= 0:
                break
            found += np.float32(worth / bend) * along
            left -= np.float32(worth / bend) * bent
            close = gentle * metric.steps(gentle * left)
            before, worth = worth, float(np.vdot(left, close))
            along = close + np.float32(worth / before) * along
        return found

    def _bent(self, at: Floats, here: Floats, each: Floats, along: Floats) -> Floats:
        """How fast the slope falls along a direction."""
        far = np.float32(NEAR / max(float(np.sqrt((along**2).mean())), 1e-9))
        ahead = self.slope((at + far * along) * each, self.once)
        return along + (here - ahead) @ self.model.over.T * each / far

    def look(self, short: _Short, numbers: Floats, random: np.random.Generator) -> None:
        """Draw tables of every member by swaps and compare; what was seen before counts, too."""
        e, kinds = self.evidence, np.arange(self.model.over.shape[1], dtype=np.int32)
        looks = LOOKS
        found = []
        for mine, table in zip(numbers, short.tables, strict=True):
            chances = self.model.chances(e.features, mine)
            held, _ = self._expected(chances, self.once)
            counts = np.zeros(chances.size)
            for seed in random.integers(0, 2**64, looks, dtype=np.uint64):
                swap(e.starts, e.combination, kinds, chances, seed, SWEEPS, table)
                counts += np.bincount(e.combination.astype(np.int64) * kinds.size + table, minlength=chances.size)
            found.append(e.features.T @ ((counts / looks).reshape(chances.shape).astype(np.float32) - held))
        short.looked = min(short.looked + 1, MEMORY)
        before = np.zeros_like(found[0]) if short.amiss is None else short.amiss
        short.amiss = before + (np.mean(found, axis=0) - before) / short.looked

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
