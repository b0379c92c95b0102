"""What is published and counted for the figures of Sacharidis et al., and what each loses."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.errors import InputError
from discreet.experiments.data import IPUMS, Data, uniform
from discreet.experiments.experiment import (
    Row,
    Settings,
)
from discreet.guarantees import Guarantee
from discreet.partition import PARTITIONS
from discreet.partition.spatial.join.join import join
from discreet.partition.spatial.space import Dimension
from discreet.values.codes import encode
from discreet.values.random import RandomSource

PAPER = "Sacharidis et al., k-Anonymity in the Presence of External Databases, TKDE 2010, section 5"
COLUMNS = tuple(IPUMS)
OPTIONS: dict[str, Row] = {"mondrian": {"dimension": "round_robin"}, "topdown": {}}
FEW = 400  # rows of a warm-up
NAMES = {"mondrian": "Mondrian", "topdown": "TopDown"}
Floats = npt.NDArray[np.float64]


def space_of(people: pa.Table, columns: Sequence[str]) -> list[Dimension]:
    """People as points, the private ones first."""
    coded = [encode(people[name]) for name in columns]
    return [Dimension(c.codes, c.size, c.domain.to_numpy().astype(float)) for c in coded]


def _places(dimension: Dimension) -> Floats:
    return np.zeros(0) if dimension.places is None else dimension.places


class Boxes:
    """What a release of some rows shows, and how many private rows, which come first, each box has."""

    def __init__(self, space: Sequence[Dimension], groups: Any, parts: Any, private: int) -> None:
        shown, count = groups >= 0, groups.max() + 1
        self.low, self.high = np.full((count, len(space)), np.inf), np.full((count, len(space)), -np.inf)
        for j, d in enumerate(space):
            np.minimum.at(self.low[:, j], groups[shown], _places(d)[d.codes[shown]])
            np.maximum.at(self.high[:, j], groups[shown], _places(d)[d.codes[shown]])
        self.rows, self.private = np.bincount(groups[shown]), np.bincount(groups[:private], minlength=count)
        self.part = np.zeros(count, np.int64)
        self.part[groups[shown]] = parts[shown]
        self.extents = np.array([d.extent for d in space])

    def ncp(self) -> float:
        """Modified NCP: over private rows, what share of each column their box covers."""
        return float((self.private * ((self.high - self.low) / self.extents).sum(axis=1)).sum())

    def dm(self) -> float:
        """Modified DM: the squares of private rows of all groups."""
        return float((self.private.astype(float) ** 2).sum())

    def count(self, low: Floats, high: Floats) -> float:
        """The estimate of a range count, from what a release shows."""
        held = np.bincount(self.part, weights=self.private)
        return estimated(self.low, self.high, self.rows, self.part, held, (low, high))


def estimated(low: Any, high: Any, rows: Any, part: Any, held: Any, query: tuple[Floats, Floats]) -> float:
    """Private rows of a sensitive group lie where its published rows do: `held` are the values it has."""
    points = np.minimum(high, query[1]) - np.maximum(low, query[0]) + 1
    share = np.prod(np.clip(points, 0, None) / (high - low + 1), axis=1)
    inside = np.bincount(part, weights=rows * share) / np.bincount(part, weights=rows)
    return float((held * inside).sum())


def released(
    space: Sequence[Dimension], private: int, base: str, k: int, draw: int
) -> Iterator[tuple[str, Boxes, float]]:
    """The boxes of the plain algorithm and of both variants, and the time each took by the processor."""
    alike, guarantee, partition = np.zeros(private, np.int32), Guarantee.of({"k": k}), PARTITIONS[base]
    mine = [Dimension(d.codes[:private], d.size, d.places) for d in space]
    start = time.process_time()
    groups = partition.assign(mine, alike, guarantee, RandomSource(draw), OPTIONS[base])
    yield "plain", Boxes(mine, groups, groups, private), time.process_time() - start
    for variant in ("direct", "refinement"):
        start = time.process_time()
        joined = join(space, alike, guarantee, partition, OPTIONS[base], variant, RandomSource(draw))
        yield variant, Boxes(space, *joined, private), time.process_time() - start


def warm(people: pa.Table, columns: Sequence[str], base: str) -> None:
    """Run everything once on a few of these people, so that no time includes compiling or loading what is compiled."""
    few = people.slice(0, FEW)
    for private in (len(few) // 4, len(few)):  # with a public table, and without
        for _ in released(space_of(few, columns), private, base, 5, 0):
            pass


def queries(space: Sequence[Dimension], private: int, draw: int, share: float) -> Iterator[tuple[Floats, Floats, int]]:
    """Ranges that take about that share of the space, each with somebody inside."""
    chance, columns = np.random.default_rng(draw + 100), [_places(d)[d.codes[:private]] for d in space]
    side = share ** (1 / len(space))
    while True:
        low = np.array([chance.uniform(c.min(), c.max() - side * np.ptp(c)) for c in columns]).round()
        high = np.floor(low + side * np.array([np.ptp(c) for c in columns]))
        truth = int(
            np.count_nonzero(
                np.logical_and.reduce([(c >= a) & (c <= b) for c, a, b in zip(columns, low, high, strict=True)])
            )
        )
        if truth:
            yield low, high, truth


PANELS = {"ratio": "public / private rows", "k": "k", "d": "quasi-identifiers d", "range": "range, % of the space"}


def cells(*panels: str) -> Callable[[Settings], list[Row]]:
    return lambda settings: [{"by": by, "x": x} for by in panels for x in settings[f"{by}s"]]


def losses(base: str, *, uni: bool, count: bool) -> Callable[[Row, Settings, Data], Iterator[Row]]:
    """What each variant loses, on average over the draws; and errors of range counts, if these are asked."""

    def measure(cell: Row, settings: Settings, data: Data) -> Iterator[Row]:
        own = {name: settings[name] for name in ("ratio", "k", "d", "range")} | {cell["by"]: cell["x"]}
        private = settings["private"]
        found: dict[str, list[tuple[float, ...]]] = {}
        wanted, columns = private * own["ratio"], COLUMNS[: own["d"]]
        for draw in range(settings["draws"]):
            people = uniform(wanted, draw, columns) if uni else data.ipums(wanted, draw)
            if len(people) < wanted and cell["by"] == "ratio":
                return
            if len(people) < private:
                raise InputError(
                    f"the real table has {len(people):,} rows, and {private:,} are private",
                    hint=f"set fewer, like --set private={-(-len(people) // 10)}",
                )
            warm(people, columns, base)
            space = space_of(people, columns)
            asked = [
                q for q, _ in zip(queries(space, private, draw, own["range"] / 100), range(100 * count), strict=False)
            ]
            for variant, boxes, seconds in released(space, private, base, own["k"], draw):
                errors = [abs(boxes.count(a, b) - t) / t for a, b, t in asked] if variant != "direct" else []
                mean = float(np.mean(errors)) if errors else np.nan
                found.setdefault(variant, []).append((boxes.ncp(), boxes.dm(), seconds, mean))
        for variant, figures in found.items():
            ncp, dm, seconds, error = np.mean(figures, axis=0)
            row = {
                "panel": PANELS[cell["by"]],
                "x": cell["x"],
                "method": variant,
                "ncp": ncp,
                "dm": dm,
                "seconds": seconds,
            }
            yield {**row, "error": None if np.isnan(error) else error}

    return measure
