"""The minimality attack: who knows the partition can ask why a cut was not made, from the released files alone.

A partition that looks at sensitive values refuses a cut if one side would break the guarantee. Rows and groups are
shown, so its cuts can be played again (`replay`), and each one that was refused rules out values (`refusals`). A
person is *certain* if only one value is left for its row. Attacked are the fitted cuts of `local` and of `mondrian`
where `l` is promised, with or without `k`: of `mondrian` all cuts if every column has an order and no hierarchy, else
the last ones in those that have. `cluster`, `compact`, `topdown` and `full_domain` look as well if they are fitted, but
what they decide depends on chance or on hierarchies: nobody is named there, which proves nothing, and `publish` refuses
them unless the policy accepts that. How much they tell is found by playing other tables (`worlds`).

Source: Wong, Fu, Wang and Pei, "Minimality attack in privacy preserving data publishing", VLDB 2007.
Cost: rows x quasi-identifiers x log(rows).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.audit.files import read_tables
from discreet.audit.replay.local import replay_local
from discreet.audit.replay.mondrian import replay_last, replay_ranges
from discreet.audit.replay.refusals import ALL, Scratch, Shown, certain, scratch_for
from discreet.release import Release
from discreet.values.codes import Codes, encode
from discreet.values.columns import is_ordered
from discreet.values.positions import measured

Ints = npt.NDArray[np.int32]
Points = npt.NDArray[Any]
COARSE = 1 << 18  # rows below which a cell is left to one thread


@dataclass(frozen=True)
class Found:
    """Whether the value of each row is `certain`, and that value, in the order of the file.

    `blind` is the share of rows whose value a guess inside the group gets right, at most one in l.
    """

    certain: npt.NDArray[np.bool_]
    values: pa.Array  # missing where nothing is certain
    unique: npt.NDArray[np.bool_]  # whether no other row looks like it
    blind: float
    supposing: str | None = None  # what the release does not say, and certainty stands on

    @property
    def people(self) -> int:
        """How many people's values are certain."""
        return int(np.count_nonzero(self.certain))

    @property
    def named(self) -> int:
        """How many of them are the only ones who look as they do."""
        return int(np.count_nonzero(self.unique & self.certain))


def attack(release: Release) -> Found | None:
    """Find who is certain in a release; nothing if it cannot be attacked so."""
    promise = release.promise
    if promise.publication not in WHOLE_ROWS or promise.person is not None:
        return None
    if not attackable(promise.partition, promise.guarantee, blind=promise.cuts == "blind"):
        return None
    tables = read_tables(release)
    columns = [tables.qit[name] for name in promise.quasi]
    encoded = [encode(column) for column in columns]
    quasi = [each.codes for each in encoded]
    values = encode(tables.st["value"])
    _, groups = np.unique(tables.qit[promise.group].to_numpy(), return_inverse=True)
    _, held_in = np.unique(tables.st["grp"].to_numpy(), return_inverse=True)
    order = np.lexsort((values.codes, held_in))
    counts = tables.st["n"].to_numpy()[order]
    ordered = [each for each, column in zip(encoded, columns, strict=True) if is_ordered(column.type)]
    seen = [each.codes for each in ordered] if promise.partition == "mondrian" else quasi
    places = lines(ordered) if len(ordered) == len(quasi) else None  # as if options were the usual ones
    histograms = held_in[order], values.codes[order], counts
    known = find(promise.partition, seen, groups, histograms, promise.guarantee, places)
    shown = values.decode(np.where(known < 0, len(values.domain), known))
    right = float(np.sum(counts.astype(np.float64) ** 2 / np.bincount(groups)[histograms[0]]) / groups.size)
    return Found(known >= 0, shown, unique(quasi), right, SUPPOSED.get(promise.partition))


def attackable(partition: str, guarantee: Mapping[str, Any], *, blind: bool) -> bool:
    """Whether the attack knows how to play the partition again, and why it refused a cut."""
    return partition in ATTACKED and not blind and "l" in guarantee and guarantee.keys() <= {"k", "l"}


def find(
    partition: str,
    quasi: Sequence[Ints],
    groups: npt.NDArray[np.integer[Any]],
    histograms: tuple[Points, Points, Points],
    guarantee: Mapping[str, Any],
    places: Points | None = None,
) -> Ints:
    """The code of every row's value if it is certain, else -1.

    `quasi` are codes in the order of values, groups are numbered from 0 without a gap, and `histograms` are groups,
    values and counts, ordered by group. With `places` (see `lines`) all cuts of `mondrian` are played again.
    """
    held_in, values, counts = histograms
    sizes = np.bincount(groups)
    starts = np.searchsorted(held_in, np.arange(sizes.size + 1))
    fewest = max(guarantee["l"], guarantee.get("k", 1))
    shown = Shown(starts, values.astype(np.int32), counts.astype(np.int32), sizes, int(guarantee["l"]), int(fewest))
    possible = np.full(groups.size, ALL)
    if quasi:
        ATTACKED[partition](quasi, groups.astype(np.int32), shown, possible, places)
    known: Ints = certain(np.argsort(groups, kind="stable"), shown, possible)
    return known


def lines(columns: Sequence[Codes]) -> Points:
    """Where the codes of each column lie, in extents from the first; a missing value lies one extent beyond."""
    places = np.zeros((len(columns), max((column.size for column in columns), default=0)))
    for line, column in zip(places, columns, strict=True):
        found = measured(column.domain) if is_ordered(column.domain.type) else np.arange(len(column.domain) * 1.0)
        extent = (found[-1] - found[0] if found.size else 0.0) or 1.0
        line[: found.size] = (found - found[:1]) / extent
        if column.missing and found.size:
            line[found.size] = (found[-1] + extent - found[0]) / extent
    return places


def _local(quasi: Sequence[Ints], groups: Ints, shown: Shown, possible: Points, _: Points | None) -> None:
    n, scratch = groups.size, scratch_for(shown)
    spans = np.array([max(int(column.max()), 1) for column in quasi], np.int64)
    points = np.empty((n, len(quasi)), np.uint16 if spans.max() < 2**16 else np.uint32)
    for j, column in enumerate(quasi):
        points[:, j] = column
    here, rows = groups.copy(), np.arange(n, dtype=np.int32)

    def replay(low: int, high: int, coarse: int) -> list[tuple[int, int]]:
        own = Scratch(scratch.left, np.zeros_like(scratch.most))  # groups are those of one cell, values are of all
        cells: list[tuple[int, int]] = replay_local(points, here, rows, low, high, coarse, spans, shown, own, possible)
        return cells

    with ThreadPoolExecutor() as threads:
        cells = replay(0, n, COARSE)
        list(threads.map(lambda cell: replay(cell[0], cell[1], 0), cells))


def _mondrian(quasi: Sequence[Ints], groups: Ints, shown: Shown, possible: Points, places: Points | None) -> None:
    rows = np.argsort(groups, kind="stable").astype(np.int32)
    points = np.column_stack(quasi)[rows]
    replay_last(points, np.concatenate(([0], np.cumsum(shown.sizes))), rows, shown, possible)
    if places is not None:
        replay_ranges(points, groups[rows], rows, places, shown, scratch_for(shown), possible)


def unique(quasi: Sequence[Ints]) -> npt.NDArray[np.bool_]:
    """Whether no other row looks like each row."""
    looks = np.zeros(len(quasi[0]) if quasi else 0, np.int64)
    for column in quasi:
        looks = np.unique(looks * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
    alone: npt.NDArray[np.bool_] = np.bincount(looks)[looks] == 1
    return alone


WHOLE_ROWS = ("anatomy", "permutation")
ATTACKED = {"local": _local, "mondrian": _mondrian}
SUPPOSED = {"mondrian": "`mondrian` cut by its usual options, and numbers and dates had no hierarchy"}
