"""An oracle for `min_max`: groups whose ranges may overlap, the widest of which is as narrow as possible.

Source: Koudas et al., "Aggregate query answering on anonymized tables", ICDE 2007, section 6.2. By lemma 6.2
no value needs to lie in the ranges of more than two groups, so a sweep over the values keeps at most two open.
Cost: up to the fifth power of the rows, so at most LIMIT of them. It is itself judged by every partition of a small set.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from discreet.partition.kernels import IntArray, MarkArray
from discreet.partition.ranges import min_max

LIMIT = 40


class Open(NamedTuple):
    """A group on its way: its first value, and how many it has, counted up to k."""

    first: int
    distinct: int


class Step(NamedTuple):
    """One way to deal with a value: the open groups before, who gets a row, who closes, and the widest so far."""

    before: tuple[Open, ...]
    gets: tuple[bool, ...]
    closes: tuple[bool, ...]
    widest: Any


def plan(counts: IntArray, marks: MarkArray, k: int, e: float) -> IntArray:
    """The group of the i-th row when rows are sorted by value."""
    groups = min_max.plan(counts, marks, k, e)
    rows = np.repeat(marks, counts)
    bound = max(np.ptp(rows[groups == group]).item() for group in range(groups.max() + 1))
    return _lay_out(counts.tolist(), _sweep(counts.tolist(), marks.tolist(), k, e, bound))


def _sweep(counts: list[int], marks: list[Any], k: int, e: float, bound: Any) -> list[Step]:
    """The best way to deal with every value, in ascending order; no group need be wider than `bound`.

    For every set of groups that may be open after a value, keep the way that leaves the least widest.
    """

    def hopeless(group: Open, v: int) -> bool:
        left = len(marks) - 1 - v
        return left == 0 or group.distinct + left < k or marks[v + 1] - marks[group.first] > bound

    levels: list[dict[tuple[Open, ...], Step]] = []
    reached: dict[tuple[Open, ...], Any] = {(): 0}
    for v, rows in enumerate(counts):
        level: dict[tuple[Open, ...], Step] = {}
        for before, widest in reached.items():
            for after, step in _ways(before, widest, v, rows, marks, k, e):
                if any(hopeless(group, v) for group in after):
                    continue
                if after not in level or step.widest < level[after].widest:
                    level[after] = step
        levels.append(level)
        reached = {after: step.widest for after, step in level.items()}
    steps: list[Step] = []
    for level in reversed(levels):
        steps.append(level[steps[-1].before if steps else ()])
    return steps[::-1]


def _ways(
    before: tuple[Open, ...], widest: Any, v: int, rows: int, marks: list[Any], k: int, e: float
) -> Iterator[tuple[tuple[Open, ...], Step]]:
    """Every way to deal with a value, and the groups that are open after it."""
    for new in range(3 - len(before)):
        groups = before + (Open(v, 0),) * new
        for gets in _choices(len(groups), at_least=1, at_most=rows):
            if not all(gets[len(before) :]):
                continue  # a group opens with its first row
            now = [Open(g.first, min(g.distinct + got, k)) for g, got in zip(groups, gets, strict=True)]
            spans = [marks[v] - marks[g.first] for g in now]
            may = [got and g.distinct >= k and span >= e for g, got, span in zip(now, gets, spans, strict=True)]
            for closes in _choices(len(groups), at_least=0, at_most=len(groups)):
                if any(closing and not allowed for closing, allowed in zip(closes, may, strict=True)):
                    continue
                after = tuple(g for g, closing in zip(now, closes, strict=True) if not closing)
                most = max([widest, *(span for span, closing in zip(spans, closes, strict=True) if closing)])
                yield after, Step(before, gets, closes, most)


def _choices(n: int, *, at_least: int, at_most: int) -> Iterator[tuple[bool, ...]]:
    """Every choice of some of n groups."""
    for size in range(at_least, min(n, at_most) + 1):
        for chosen in combinations(range(n), size):
            yield tuple(i in chosen for i in range(n))


def _lay_out(counts: list[int], steps: list[Step]) -> IntArray:
    """Give the rows of every value to the groups that get some, evenly."""
    out: list[int] = []
    numbers: list[int] = []  # of the open groups
    made = 0
    for rows, step in zip(counts, steps, strict=True):
        new = len(step.gets) - len(step.before)
        numbers += range(made, made + new)
        made += new
        getters = [number for number, got in zip(numbers, step.gets, strict=True) if got]
        out += sorted(getters[i % len(getters)] for i in range(rows))
        numbers = [number for number, closing in zip(numbers, step.closes, strict=True) if not closing]
    return np.array(out, np.int32)
