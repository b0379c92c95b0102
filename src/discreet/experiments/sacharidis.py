"""Figures 10 to 19 of Sacharidis et al., "k-Anonymity in the Presence of External Databases", TKDE 2010, section 5.

Of people drawn at random some are private, all are public. Mondrian and TopDown on the private rows alone are held
against k-join-anonymity, *Direct* and *Refinement*. A release does not tell how many private rows a box has; whoever
made the groups knows, so NCP and DM are measured where they are formed. The real table has 174,125 people, so that
the ratio of public to private rows goes to 17 there, and not to 100.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.experiments.data import IPUMS, Data, uniform
from discreet.experiments.experiment import (
    Chart,
    Claim,
    Experiment,
    Row,
    Rows,
    Settings,
    beats,
    every,
    falls,
    rises,
    steady,
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


def _in_panel(judge: Callable[[Rows], tuple[bool, str]], by: str) -> Callable[[Rows], tuple[bool, str]]:
    return lambda rows: judge(Rows([row for row in rows.all if row["panel"] == PANELS[by]], rows.chart))


def _factors(y: str, direct: float, refinement: float) -> Callable[[Rows], tuple[bool, str]]:
    """At the largest ratio, at least three quarters of the factors that the paper has."""

    def judge(rows: Rows) -> tuple[bool, str]:
        held = [row for row in rows.all if row["panel"] == PANELS["ratio"]]
        most = max(row["x"] for row in held)
        at = {row["method"]: row[y] for row in held if row["x"] == most}
        got = {name: at["plain"] / at[name] for name in ("direct", "refinement")}
        told = f"at a ratio of {most}: Direct {got['direct']:.2f} times, Refinement {got['refinement']:.2f} times lower"
        return got["direct"] >= 0.75 * direct and got["refinement"] >= 0.75 * refinement, told

    return judge


def _near(rows: Rows, times: float) -> tuple[bool, str]:
    ratios = [max(a / b, b / a) for _, a, b in rows.pairs("ncp", "direct", "refinement")]
    return max(ratios) <= times, f"a factor of {max(ratios):.3g} at most"


def _minutes(rows: Rows) -> tuple[bool, str]:
    most = max(row["seconds"] for row in rows.all)
    return most < 180, f"{most:.3g} seconds at most"


TWICE = "TopDown's boxes overlap, and the paper lets a public person count in several; here each is in one"
FEWER = "the real table allows a ratio of 17, the paper's goes to 100"
COMMON = {"private": 10_000, "ratio": 100, "k": 50, "d": 4, "range": 10, "draws": 5}
SWEEPS = {
    "ratios": [1, 5, 10, 50, 100],
    "ks": [5, 10, 50, 100, 500],
    "ds": [2, 3, 4, 5, 6],
    "ranges": [2, 5, 10, 20, 50],
}
REAL_SWEEPS = {**SWEEPS, "ratios": [1, 5, 10, 17, 50, 100]}
SMALL = {
    "private": 300,
    "ratio": 10,
    "k": 10,
    "draws": 1,
    "ratios": [1, 4, 16],
    "ks": [5, 20],
    "ds": [2, 4],
    "ranges": [5, 20],
}
SCALES = {"quick": SMALL, "medium": {"private": 2_000, "ratio": 17, "draws": 1, "ratios": [1, 5, 17, 50]}}
LABELS = {
    "ncp": "NCP, over private rows",
    "dm": "DM, over private rows",
    "error": "average relative error",
    "seconds": "seconds (processor)",
}


def figure(number: int, base: str, y: str, *claims: Claim, uni: bool = False) -> Experiment:
    panels = ("ratio", "k", "range" if y == "error" else "d")
    title = {
        "ncp": "information loss (NCP)",
        "dm": "information loss (DM)",
        "error": "error of range counts",
        "seconds": "time to form groups",
    }[y]
    sweeps = SWEEPS if uni else REAL_SWEEPS
    parameters = {**COMMON, **{f"{panel}s": sweeps[f"{panel}s"] for panel in panels}}
    scales = {
        scale: {name: value for name, value in own.items() if name in parameters} for scale, own in SCALES.items()
    }
    return Experiment(
        f"sacharidis-{number}",
        PAPER,
        f"{title} of {NAMES[base]}{', uniform data' * uni}",
        parameters,
        cells(*panels),
        losses(base, uni=uni, count=y == "error"),
        Chart("x", y, "panel", y_label=LABELS[y], x_label=" ", log=("x",)),
        claims,
        () if uni else ("IPUMS",),
        scales,
    )


def public_helps(y: str, why: str = "") -> Claim:
    judge = every(*(_in_panel(beats(y, variant, "plain"), by) for variant in ("direct", "refinement") for by in ("k",)))
    return Claim("both variants lose less than the plain algorithm, whatever k", judge, why)


def improves(y: str) -> Claim:
    judge = every(*(_in_panel(falls(y, variant), "ratio") for variant in ("direct", "refinement")))
    return Claim(
        "they improve as the public table grows, and the plain algorithm stays as it is",
        every(judge, _in_panel(steady(y, "plain", 1.5), "ratio")),
    )


def stricter(y: str) -> Claim:
    judge = every(*(_in_panel(rises(y, variant), "k") for variant in ("plain", "direct", "refinement")))
    return Claim("a larger k costs all of them more", judge)


def better(y: str, one: str, other: str, why: str = "") -> Claim:
    return Claim(f"{one.title()} is better than {other.title()}", _in_panel(beats(y, one, other), "k"), why)


REFINED = (
    Claim(
        "Refinement is more accurate than the plain algorithm, whatever k",
        _in_panel(beats("error", "refinement", "plain"), "k"),
    ),
    Claim("the error grows with k", _in_panel(every(rises("error", "plain"), rises("error", "refinement")), "k")),
    Claim(
        "the error falls as the range grows",
        _in_panel(every(falls("error", "plain"), falls("error", "refinement")), "range"),
    ),
)
EXPERIMENTS = (
    figure(
        10,
        "mondrian",
        "ncp",
        public_helps("ncp"),
        improves("ncp"),
        stricter("ncp"),
        better("ncp", "direct", "refinement"),
        Claim(
            "at a ratio of 100 Direct has 3.04 times lower NCP, Refinement 2.15 times",
            _factors("ncp", 3.04, 2.15),
            FEWER,
        ),
    ),
    figure(
        11,
        "mondrian",
        "dm",
        public_helps("dm"),
        improves("dm"),
        stricter("dm"),
        better("dm", "direct", "refinement"),
        Claim(
            "at a ratio of 100 Direct has 14.35 times lower DM, Refinement 4.96 times",
            _factors("dm", 14.35, 4.96),
            FEWER,
        ),
    ),
    figure(
        12,
        "topdown",
        "ncp",
        public_helps("ncp"),
        improves("ncp"),
        stricter("ncp"),
        better("ncp", "refinement", "direct", TWICE),
        Claim(
            "at a ratio of 100 Direct has 2.1 times lower NCP, Refinement 3.51 times",
            _factors("ncp", 2.1, 3.51),
            f"{FEWER}; {TWICE}",
        ),
    ),
    figure(
        13,
        "topdown",
        "dm",
        public_helps("dm"),
        improves("dm"),
        stricter("dm"),
        better("dm", "refinement", "direct", TWICE),
        Claim(
            "at a ratio of 100 Direct has 2.22 times lower DM, Refinement 3.4 times",
            _factors("dm", 2.22, 3.4),
            f"{FEWER}; {TWICE}",
        ),
    ),
    figure(14, "mondrian", "error", *REFINED),
    figure(15, "topdown", "error", *REFINED),
    figure(
        16,
        "mondrian",
        "ncp",
        public_helps("ncp"),
        improves("ncp"),
        stricter("ncp"),
        Claim("Direct and Refinement lose almost the same", lambda rows: _near(rows, 1.2)),
        uni=True,
    ),
    figure(
        17,
        "topdown",
        "ncp",
        public_helps("ncp"),
        improves("ncp"),
        stricter("ncp"),
        Claim("Direct and Refinement lose about the same", lambda rows: _near(rows, 1.5), TWICE),
        uni=True,
    ),
    figure(
        18,
        "mondrian",
        "seconds",
        Claim(
            "joins take longer the larger the public table",
            _in_panel(every(rises("seconds", "direct"), rises("seconds", "refinement")), "ratio"),
        ),
        Claim(
            "Refinement takes longer than Direct",
            _in_panel(beats("seconds", "direct", "refinement"), "ratio"),
            "boxes of public rows are found by one pass here, and not by a range query each",
        ),
    ),
    figure(
        19,
        "topdown",
        "seconds",
        Claim(
            "joins take longer the larger the public table",
            _in_panel(every(rises("seconds", "direct"), rises("seconds", "refinement")), "ratio"),
        ),
        Claim("no run takes more than a few minutes", _minutes),
    ),
)
