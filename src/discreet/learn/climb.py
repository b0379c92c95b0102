"""Towards the likeliest parameters of a model, and how sharply groups fix them.

All numbers are in units of the prior's spread. The slope of the likelihood needs who is expected to hold what in each
group. `swaps.expect` computes that nearly: relations come out a little too weak. As groups tell only a part of what
rows would whose values are known, a fit would be too weak by several times as much. So tables are drawn by swaps, too,
and what expected counts are short of them by is added to the slope (`Short`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.learn.features import Floats
from discreet.learn.logit import Evidence, Model
from discreet.learn.swaps import expect, swap

STEPS, TURNS = 5, 12
RATE, SLOWEST, FRICTION, FARTHEST = 0.8, 0.01, 0.5, 0.5  # of steps; FARTHEST in units of the prior's spread
NEAR = 0.03  # how far apart two slopes are, from which a bend is told
LEAST = 0.05  # of what rows would tell, groups are taken to tell
ENOUGH = 1e-4  # of what was to be solved, squared, may be left
ROUNDS = 2
LOOKS, SWEEPS, MEMORY = 20, 3, 5


@dataclass(frozen=True, eq=False)
class Metric:
    """About how sharply groups and prior fix numbers.

    By part of the numbers: eigenvectors of features, what rows would be worth if their values were known, and the
    inverse of what groups and prior are worth together.
    """

    parts: list[tuple[slice, Floats, Floats, Floats]]

    def told(self, fraction: float) -> Metric:
        """With groups that are worth such a fraction of what rows would be whose values were known."""
        share, one = np.float32(fraction), np.float32(1)
        return Metric([(own, vectors, worth, one / (share * worth + one)) for own, vectors, worth, _ in self.parts])

    def step(self, slope: Floats) -> Floats:
        """From a slope about to where it is none."""
        found = np.empty_like(slope)
        for own, vectors, _, inverse in self.parts:
            found[:, own] = vectors @ (inverse * (vectors.T @ slope[:, own]))
        return found

    @property
    def variance(self) -> Floats:
        """Of each number."""
        return np.concatenate([vectors**2 @ inverse for _, vectors, _, inverse in self.parts], 1)

    @property
    def fitted(self) -> float:
        """How many numbers are fixed by groups rather than by the prior."""
        return float(sum((1 - inverse).sum() for *_, inverse in self.parts))

    def of_rows(self, along: Floats) -> float:
        """The second derivative along a direction if the values of all rows were known."""
        return float(sum((worth * (vectors.T @ along[:, own]) ** 2).sum() for own, vectors, worth, _ in self.parts))


@dataclass(eq=False)
class Short:
    """What expected counts are short of those of tables drawn by swaps, by feature and kind; and such a table."""

    by: Floats
    table: npt.NDArray[np.int32]
    looked: int = 0

    @classmethod
    def of(cls, evidence: Evidence, model: Model) -> Short:
        places = np.repeat(evidence.kind, evidence.count.astype(np.int64))
        return cls(np.zeros((evidence.features.shape[1], model.over.shape[1]), np.float32), places)


@dataclass(frozen=True, eq=False)
class Climb:
    """The posterior of a model's numbers, given groups: slopes, bends, and the way up."""

    evidence: Evidence
    model: Model
    rows: Floats  # of every combination
    gram: npt.NDArray[np.float64]
    sharp: Floats  # of every number of a feature: how sharply all rows together fix it
    once: Floats  # the weight of every group

    @classmethod
    def of(cls, evidence: Evidence, model: Model) -> Climb:
        rows = np.bincount(evidence.combination, minlength=len(evidence.features)).astype(np.float32)
        gram = ((evidence.features * rows[:, None]).T @ evidence.features).astype(np.float64)
        share = np.exp(model.base)
        sharp = (model.over**2 @ (share * (1 - share))).astype(np.float32)
        return cls(evidence, model, rows, gram, sharp, np.ones(evidence.groups, np.float32))

    @property
    def shape(self) -> tuple[int, int]:
        return self.evidence.features.shape[1], self.model.over.shape[0]

    def metric(self, spread: npt.NDArray[np.float64]) -> Metric:
        """As if the values of all rows were known; see `Metric.told`."""
        parts = []
        for part, own in enumerate(self.model.parts):
            each = spread[self.model.family, part]
            found, vectors = np.linalg.eigh(self.gram * each[:, None] * each)
            worth = (np.maximum(found, 0)[:, None] * self.sharp[None, own]).astype(np.float32)
            parts.append((own, vectors.astype(np.float32), worth, 1 / (worth + 1)))
        return Metric(parts)

    def fraction(self, at: Floats, each: Floats, metric: Metric, random: np.random.Generator) -> float:
        """How much groups tell beside rows whose values are known, along a direction at random (Hutchinson 1989)."""
        along = random.standard_normal(at.shape, dtype=np.float32)
        along[self.model.family == 0] = 0  # of constants they tell all
        bend = float(np.vdot(along, self._bend(at, self.slope(at * each, self.once), each, along) - along))
        return float(np.clip(bend / max(metric.of_rows(along), 1e-9), LEAST, 1))

    def walk(self, at: Floats, speed: Floats, rate: float, each: Floats, metric: Metric, short: Short) -> float:
        """Take some steps up with momentum, in place; downhill, begin anew with shorter ones. Return their length."""
        gentle = self._gentle(at * each)
        for _ in range(STEPS):
            slope = self.by_number(self.slope(at * each, self.once) + short.by, each) - at
            falls = bool(np.vdot(slope, speed) < 0)
            rate = max(rate / 2, SLOWEST) if falls else min(rate * 1.1, RATE)
            if falls:
                speed[:] = 0
            speed *= 1 - FRICTION
            speed += np.float32(rate) * gentle * metric.step(gentle * slope)
            np.clip(speed, -FARTHEST, FARTHEST, out=speed)
            at += speed
        return rate

    def solved(self, at: Floats, right: Floats, each: Floats, metric: Metric) -> Floats:
        """The step over which the slope falls by `right`, by conjugate gradients (Hestenes & Stiefel 1952)."""
        here, gentle = self.slope(at * each, self.once), self._gentle(at * each)
        found, left = np.zeros_like(right), right.copy()
        along = close = gentle * metric.step(gentle * left)
        worth = first = float(np.vdot(left, close))
        for _ in range(TURNS):
            if worth <= ENOUGH * first:
                break
            bent = self._bend(at, here, each, along)
            if np.vdot(along, bent) < np.vdot(along, along):
                bent = along  # groups never tell less than nothing
            bend = float(np.vdot(along, bent))
            found += np.float32(worth / bend) * along
            left -= np.float32(worth / bend) * bent
            close = gentle * metric.step(gentle * left)
            before, worth = worth, float(np.vdot(left, close))
            along = close + np.float32(worth / before) * along
        return found

    def _bend(self, at: Floats, here: Floats, each: Floats, along: Floats) -> Floats:
        """How fast the slope falls along a direction, given the slope `here`."""
        far = np.float32(NEAR / max(float(np.sqrt((along**2).mean())), 1e-9))
        ahead = self.slope((at + far * along) * each, self.once)
        return along + self.by_number(here - ahead, each) / far

    def _gentle(self, numbers: Floats) -> Floats:
        """How much shorter steps are where kinds are likelier than among all rows, as slopes change faster there."""
        likely = np.exp(self.model.chances(self.evidence.features, numbers))
        likely *= (1 - likely) * self.rows[:, None]
        found = np.ones(numbers.shape, np.float32)
        usual = 1.5 * np.maximum(np.diag(self.gram), 1e-9)[:, None] * self.sharp[None, self.model.curves :]
        actual = np.maximum((self.evidence.features**2).T @ likely, 1e-9)
        found[:, self.model.curves :] = np.sqrt(np.minimum(1, usual / actual))
        return found

    def slope(self, numbers: Floats, weight: Floats) -> Floats:
        """The derivative of the log-likelihood by the logits of features and kinds, with such weights of groups."""
        chances = self.model.chances(self.evidence.features, numbers)
        held, rows = self._expected(chances, weight)
        held -= rows[:, None] * np.exp(chances)
        return self.evidence.features.T @ held

    def by_number(self, slope: Floats, each: Floats) -> Floats:
        """The same by numbers, in units of their spreads."""
        found: Floats = slope @ self.model.over.T
        found *= each
        return found

    def _expected(self, chances: Floats, weight: Floats) -> tuple[Floats, Floats]:
        held, rows = np.empty_like(chances), np.empty(len(chances), np.float32)
        e = self.evidence
        expect(e.starts, e.combination, e.first, e.kind, e.count, weight, chances, ROUNDS, held, rows)
        return held, rows

    def look(self, short: Short, numbers: Floats, random: np.random.Generator) -> None:
        """Draw tables by swaps and compare; what was seen the last few times counts, too."""
        e, kinds = self.evidence, np.arange(self.model.over.shape[1], dtype=np.int32)
        chances = self.model.chances(e.features, numbers)
        held, _ = self._expected(chances, self.once)
        at, counts = e.combination.astype(np.int64) * kinds.size, np.zeros(chances.size)
        for seed in random.integers(0, 2**64, LOOKS, dtype=np.uint64):
            swap(e.starts, e.combination, kinds, chances, seed, SWEEPS, short.table)
            counts += np.bincount(at + short.table, minlength=chances.size)
        found = e.features.T @ ((counts / LOOKS).reshape(chances.shape).astype(np.float32) - held)
        short.looked = min(short.looked + 1, MEMORY)
        short.by += (found - short.by) / short.looked

    def watch(self, numbers: Floats) -> npt.NDArray[np.float64]:
        """What members should agree on: for each family, how strongly features and kinds go together in its table."""
        chances = self.model.chances(self.evidence.features, numbers)
        held, rows = self._expected(chances, self.once)
        held -= rows[:, None] * np.exp(self.model.base)
        kinds = self.model.over[: self.model.curves] if self.model.curves else self.model.over
        together = (self.evidence.features.T @ held @ kinds.T).astype(np.float64)
        found: npt.NDArray[np.float64] = np.log(np.bincount(self.model.family, (together**2).sum(1)) + 1e-9)
        return found
