"""What a release teaches by its design if one also learns how much values differ: nearer to the truth, with some bias.

A regression that is unbiased whatever the data (`design.py`) pays for it where values hardly differ. Write D = diag(n),
x = D^½ m, f = D^-½ e and M = D^-½ A D^-½. If all values have nearly one variance s², then f = M x + noise of covariance
s² (M - M²). Take it that the means of values differ by chance as those of any rows do, and beyond that by a relation
that explains the share r of the variance:

    x ~ mean of all + N(0, (1 - r) v I + r v D^½ K D^½)      s² = (1 - r) v,  v the variance of all rows

K says which values are alike: none, or neighbours, over a third of the rows or over a twentieth. Then everything is
normal, and the mean and variance of a total given f are known. Several r and K are tried, and count by how well they
explain f (Bayes). If r = 0 the mean is what `even` expects, exactly; if r grows it becomes that of `design`. So on a
table without a relation it is as good as `even`, and elsewhere nearer than `design`.

Where it and `design` are further apart than its model allows, what is beyond counts as bias in the stderr.
Source: Efron and Morris, "Data analysis using Stein's estimator and its generalizations" (1975).
Cost: to open, the cube of the values, a few times; per row of an answer the square of the values.
Claim: shrunk_is_even_without_a_relation — with r = 0 alone, estimates are those of `even`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.learn.design import NOTHING, Design, Floats

SHARES = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.8)  # r, beside 0
NONE = 0.8  # how likely r = 0 is before anything is seen: most questions are about things that hardly matter
REACH = (1 / 3, 1 / 20)  # of rows, over which neighbours are alike
LEAST = 1e-12  # variance


@dataclass(frozen=True, eq=False)
class Alike:
    """One K: `roots` of M^½ W M^½ (W = D^½ K D^½), with Qᵀ M^-½, Qᵀ M^½ and Qᵀ M^½ W in its eigenvectors, and W."""

    roots: Floats
    whiten: Floats
    plain: Floats
    related: Floats
    between: Floats


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """The models of one design; values in `order` may have neighbours."""

    design: Design
    ordered: bool
    shares: tuple[float, ...] = SHARES

    def totals(self, wanted: Floats, mean: Floats, squares: Floats) -> tuple[Floats, Floats]:
        """Totals and their variances, in rows: what is wanted of values, and by `design` their mean and mean square."""
        cells, values, n = self.design.cells, self.design.values, self._n
        wanted, mean, squares = (each.reshape(-1, cells, values) for each in (wanted, mean, squares))
        rows = np.maximum(n.sum(axis=1), 1)
        centre = (mean * n).sum(axis=2) / rows
        every = np.maximum((squares * n).sum(axis=2) / rows - centre**2, LEAST)
        scale = self.design.parts[2]
        off = np.einsum("rci,cij->rcj", (mean - centre[:, :, None]), self.design.gram) * scale
        start, target = (wanted.sum(axis=2) * centre).sum(axis=1), wanted * scale
        found = [self._model(kind, share, target, off, every) for kind, share in self._models]
        likely, estimate, variance = (np.array(each) for each in zip(*found, strict=True))
        likely = likely + np.log(self._before)[:, None]
        weight = np.exp(likely - likely.max(axis=0))
        weight /= weight.sum(axis=0)
        best = (weight * estimate).sum(axis=0)
        spread = (weight * (variance + (estimate - best) ** 2)).sum(axis=0)
        return start + best, np.maximum(spread, 0)

    def _model(
        self, kind: Alike, share: float, target: Floats, off: Floats, every: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """How likely f is by one model, up to a constant; the total beyond the mean of all, and its variance."""
        own, more = (1 - share) * every[:, :, None], share * every[:, :, None]
        seen = np.einsum("rci,cji->rcj", off, kind.whiten)
        spread = own + more * kind.roots
        likely = -0.5 * (np.log(spread) + seen**2 / spread).sum(axis=(1, 2))
        along = own * np.einsum("rci,cji->rcj", target, kind.plain)
        along += more * np.einsum("rci,cji->rcj", target, kind.related)
        between = np.einsum("rci,cij,rcj->rc", target, kind.between, target, optimize=True)
        before = own[:, :, 0] * (target**2).sum(axis=2) + more[:, :, 0] * between
        variance = before.sum(axis=1) - (along**2 / spread).sum(axis=(1, 2))
        return likely, (along * seen / spread).sum(axis=(1, 2)), np.maximum(variance, 0)

    @cached_property
    def _n(self) -> Floats:
        return self.design.totals.reshape(self.design.cells, self.design.values)

    @cached_property
    def _models(self) -> list[tuple[Alike, float]]:
        """No relation, then each K with each share."""
        kinds = [self._alike(None), *(self._alike(reach) for reach in REACH if self.ordered)]
        return [(kinds[0], 0.0), *((kind, share) for kind in kinds for share in self.shares)]

    @cached_property
    def _before(self) -> Floats:
        others = len(self._models) - 1
        return np.array([NONE, *([(1 - NONE) / max(others, 1)] * others)])

    def _alike(self, reach: float | None) -> Alike:
        """The matrices of one K, which is about contrasts alone, and has a mean variance of 1 over rows."""
        n, (found, vectors, _) = self._n, self.design.parts
        share = n / np.maximum(n.sum(axis=1, keepdims=True), 1)
        place = np.cumsum(share, axis=1) - share / 2
        apart = np.abs(place[:, :, None] - place[:, None, :])
        kernel = np.broadcast_to(np.eye(self.design.values), apart.shape) if reach is None else np.exp(-apart / reach)
        centred = np.eye(self.design.values) - share[:, None, :]
        kernel = centred @ kernel @ centred.transpose(0, 2, 1)
        every = np.einsum("ci,cii->c", share, kernel)
        kernel = kernel / np.where(every > 0, every, 1)[:, None, None]
        between = np.sqrt(n)[:, :, None] * kernel * np.sqrt(n)[:, None, :]
        told = np.where(found > NOTHING, found, 0)
        root = (vectors * np.sqrt(told)[:, None, :]) @ vectors.transpose(0, 2, 1)
        over = np.divide(1, np.sqrt(told), out=np.zeros_like(told), where=told > 0)
        inverse = (vectors * over[:, None, :]) @ vectors.transpose(0, 2, 1)
        roots, turned = np.linalg.eigh(root @ between @ root)
        turn = turned.transpose(0, 2, 1)
        return Alike(np.maximum(roots, 0), turn @ inverse, turn @ root, turn @ root @ between, between)
