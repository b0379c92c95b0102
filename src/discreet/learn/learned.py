"""The model `learned`: fit the value given the quasi-identifiers to groups, then draw who in a group holds which value.

Parameters are drawn from at most `FITTED` rows, of groups taken at random; tables are drawn for all of them, piece by
piece. The model's two ensembles start from different spreads, and are watched at two times; see `rhat`. Where it is
doubtful that there is a relation (see `score`), as many tables as that is unlikely are drawn in twos, by parameters and
by their opposite. By the prior both are as likely, so the mean of the two is nearly that of even tables, and their
spread has in it what a relation that groups do not show would do.
Cost: see `ensemble`; then tables x (rows x sweeps + combinations x features x kinds), with memory for a piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InternalError
from discreet.learn.drawn import Draws, Fit, Progress, told_apart
from discreet.learn.ensemble import EPOCHS, Ensemble, ensemble
from discreet.learn.even import evenly
from discreet.learn.features import Features, Floats, Ints, features
from discreet.learn.kinds import Kinds
from discreet.learn.logit import Evidence, Model
from discreet.learn.score import Score
from discreet.learn.swaps import Longs, swap
from discreet.learn.view import View
from discreet.values.coded import Coded, combined, narrow

FITTED, PIECE = 60_000, 50_000  # rows
MEMBERS = (10, 40)  # fewest, most
SCALES = (1.2, 0.8)  # of the spreads at which the two ensembles start
SWEEPS = 30
THREADS = 2
SAID = 40  # how often progress in drawing is told
LARGE = f"every group has more than {FITTED:,} rows, too many to learn from: tables were drawn evenly"
DOUBTFUL = (
    "the groups say little of whether values go with quasi-identifiers: {fitted} of {tables} tables were drawn by the"
    " model as it was fitted, the others by it and by its opposite in turn, so that estimates are nearly even ones"
)


def learned(view: View, tables: int, random: np.random.Generator, progress: Progress, *, epochs: int = EPOCHS) -> Draws:
    """Draw tables by a model that is fitted to the view alone."""
    progress("fitting")
    kinds, columns = Kinds.among(view.held, view.values), [*view.quasi.values()]
    chosen = _sample(view, random)
    if not chosen.size:
        return evenly(view, tables, random, Fit("learned", notes=(LARGE,)))
    evidence, known, related = _evidence(view, kinds, columns, chosen, random)
    fitted = round(related * tables)
    model = Model.of(known, kinds)
    half = -(-min(max(tables, MEMBERS[0]), MEMBERS[1]) // 2)
    one, other = random.spawn(2)

    def told(epoch: int) -> None:
        progress(f"fitting, {epoch} of {epochs}")

    with ThreadPoolExecutor(1) as beside:
        second = beside.submit(ensemble, evidence, model, half, other, scale=SCALES[1], epochs=epochs)
        first = ensemble(evidence, model, half, one, scale=SCALES[0], epochs=epochs, progress=told)
        both = first, second.result()
    members = np.stack([each.numbers for each in both], 1).reshape(2 * half, *first.numbers.shape[1:])
    drawing = _Drawing(view, kinds, known, model, _in_turn(members, fitted, tables))
    notes = _notes(view, kinds, rhat(both))
    if fitted < tables:
        notes = (DOUBTFUL.format(fitted=fitted, tables=tables), *notes)
    return Draws(_draw(drawing, tables, random, progress), Fit("learned", epochs, rhat(both), notes))


def _in_turn(members: Floats, fitted: int, tables: int) -> Floats:
    """The parameters of each table: so many as fitted, then in twos and with both signs; of one that is left, none."""
    twos = (tables - fitted) // 2
    which = [*range(fitted), *np.repeat(np.arange(twos), 2), *[0] * ((tables - fitted) % 2)]
    signs = [*[1] * fitted, *[1, -1] * twos, *[0] * ((tables - fitted) % 2)]
    taken = members[np.array(which, np.int64) % len(members)]
    found: Floats = taken * np.array(signs, members.dtype).reshape(-1, *[1] * (members.ndim - 1))
    return found


def rhat(ensembles: Sequence[Ensemble]) -> float:
    """The largest R-hat (Gelman & Rubin 1992) of what was watched, of ensembles at two times each; 1 if they agree."""
    chains = np.concatenate([np.stack(each.watched) for each in ensembles])
    n = chains.shape[1]
    inside, between = chains.var(1, ddof=1).mean(0), chains.mean(1).var(0, ddof=1)
    moves = inside + between > 1e-12
    ratio = ((n - 1) / n * inside + between)[moves] / np.maximum(inside[moves], 1e-12)
    return float(np.sqrt(ratio.max(initial=1.0)))


def _notes(view: View, kinds: Kinds, apart: float) -> tuple[str, ...]:
    notes = [*told_apart(apart)]
    if kinds.size < len(view.values):
        notes.append(
            f"the {len(view.values):,} values of `{view.sensitive}` were told apart as {kinds.size} kinds; those of one"
            " kind fall to its rows in a group at random"
        )
    return tuple(notes)


def _sample(view: View, random: np.random.Generator) -> Longs:
    """Groups to learn from, ascending: all, or as many as have `FITTED` rows; none that has more by itself."""
    order, sizes = random.permutation(view.groups), np.diff(view.starts)
    order = order[sizes[order] <= FITTED]
    return np.sort(order[np.cumsum(sizes[order]) <= FITTED])


def _evidence(
    view: View, kinds: Kinds, columns: Sequence[Coded], chosen: Longs, random: np.random.Generator
) -> tuple[Evidence, Features, float]:
    """What is learned from, features with pairs of the columns that tell most, and how likely there is a relation."""
    sizes = np.diff(view.starts)[chosen]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    rows = np.repeat(view.starts[chosen] - starts[:-1], sizes) + np.arange(starts[-1])
    distinct, combination = _distinct([column.codes[rows] for column in columns])
    group = np.repeat(np.arange(chosen.size), sizes)
    pairs, counts = np.unique(group * kinds.size + kinds.of[view.held[rows]], return_counts=True)
    first = np.searchsorted(pairs, np.arange(chosen.size + 1) * kinds.size)
    alone = features(columns, pairs=0)
    evidence = Evidence(
        starts,
        combination,
        alone.of(distinct),
        first.astype(np.int64),
        (pairs % kinds.size).astype(np.int32),
        counts.astype(np.float32),
    )
    score = Score.of(evidence, kinds.size, alone, random)
    known = features(columns, score.columns)
    return replace(evidence, features=known.of(distinct)), known, score.related


def _distinct(columns: Sequence[npt.NDArray[Any]]) -> tuple[list[npt.NDArray[Any]], Ints]:
    """The distinct combinations of codes, column by column, and which of them every row has."""
    combination, first = combined(columns)
    return [column[first] for column in columns], combination


@dataclass(frozen=True, eq=False)
class _Drawing:
    """All that it takes to draw tables for any groups."""

    view: View
    kinds: Kinds
    known: Features
    model: Model
    members: Floats  # the parameters of each table

    def draw(self, groups: slice, seeds: npt.NDArray[np.uint64], codes: npt.NDArray[Any]) -> None:
        """Draw the groups' part of every table into `codes`, which hold an assignment already."""
        starts = self.view.starts[groups.start : groups.stop + 1]
        rows = slice(int(starts[0]), int(starts[-1]))
        distinct, combination = _distinct([column.codes[rows] for column in self.view.quasi.values()])
        known, starts = self.known.of(distinct), starts - starts[0]
        for i, (seed, table) in enumerate(zip(seeds, codes, strict=True)):
            chances = self.model.chances(known, self.members[i])
            swap(starts, combination, self.kinds.of, chances, seed, SWEEPS, table[rows])
            if not keeps(starts, self.view.held[rows], table[rows], seed):
                raise InternalError("a plausible table does not hold the values of its groups; nothing was drawn")


def keeps(starts: Longs, held: Ints, table: npt.NDArray[Any], seed: np.uint64) -> bool:
    """Whether every group has its values, by sums of a random number for each: wrong by chance once in 2**64."""
    number = np.random.default_rng(seed).integers(0, 2**64, int(held.max(initial=0)) + 1, dtype=np.uint64)
    if table.max(initial=0) >= number.size:
        return False
    return bool((np.add.reduceat(number[held], starts[:-1]) == np.add.reduceat(number[table], starts[:-1])).all())


def _draw(drawing: _Drawing, tables: int, random: np.random.Generator, progress: Progress) -> npt.NDArray[Any]:
    view = drawing.view
    codes = np.empty((tables, view.rows), narrow(len(view.values)))
    codes[:] = view.held
    edges = np.unique(np.searchsorted(view.starts, [*range(0, view.rows, PIECE), view.rows]))
    seeds = random.integers(0, 2**64, (edges.size - 1, tables), dtype=np.uint64)
    pieces = [slice(int(a), int(b)) for a, b in pairwise(edges)]
    with ThreadPoolExecutor(THREADS) as threads:
        drawn = threads.map(lambda piece, seed: drawing.draw(piece, seed, codes), pieces, seeds)
        for done, _ in enumerate(drawn):
            if done % (1 + len(pieces) // SAID) == 0:
                progress(f"drawing, {done + 1} of {len(pieces)}")
    return codes
