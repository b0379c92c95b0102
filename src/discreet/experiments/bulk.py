"""Thousands of COUNT questions to one release at once: the papers' estimates, from the released files alone.

`release.ask` answers one question in some milliseconds, with standard error and bounds; a workload of a paper has ten
thousand. The estimates here are computed by other code, from the same files; the first of every workload are asked in
SQL as well, and must agree, so that what is measured is what the product answers.
Cost: one pass over rows or boxes per question, on all cores.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import numba as nb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.audit.files import numbers, read_tables
from discreet.audit.metrics.margins import read_margins
from discreet.errors import InternalError
from discreet.release import Release
from discreet.release.layouts import layout_of

Question: TypeAlias = Mapping[str, Sequence[int]]  # the values wanted of each column
Floats: TypeAlias = npt.NDArray[np.float64]
CHECKED, ONE_IN, NEAR = 5, 100, 1e-6
MARKS = 4_096  # that one look-up may be among: they stay in the cache of a core


def sql(question: Question) -> str:
    """The question as a person would ask it."""
    listed = [f'"{name}" IN ({", ".join(map(str, values))})' for name, values in question.items()]
    return f"SELECT COUNT(*) AS n FROM microdata WHERE {' AND '.join(listed)}"  # noqa: S608 - whole numbers only


def truths(table: pa.Table, asked: Sequence[Question]) -> Floats:
    """What the private table answers: people who are alike are looked at once."""
    alike = table.group_by(table.column_names).aggregate([([], "count_all")])
    rows, each = _Coded(alike, table.column_names), np.arange(len(alike), dtype=np.int32)
    people = numbers(alike["count_all"]).astype(np.float64)
    return _each(lambda question: rows.summed(question, each, people), asked)


def estimates(release: Release, asked: Sequence[Question]) -> Floats:
    """What the release answers; of every hundred questions one is asked in SQL too, up to five."""
    found = _each(DESKS[layout_of(release.promise).matching](release), asked)
    for question, estimate in zip(asked[: min(CHECKED, -(-len(asked) // ONE_IN))], found, strict=False):
        told = release.ask(sql(question)).rows()[0]["n"]
        if abs(told - estimate) > NEAR * max(abs(told), 1):
            raise InternalError(f"the release answers {told} where its files say {estimate}")
    return found


def relative_error(found: Floats, truth: Floats) -> float:
    """The average relative error over the questions that somebody matches."""
    kept = truth > 0
    return float(np.mean(np.abs(found[kept] - truth[kept]) / truth[kept]))


def _counted(release: Release) -> Callable[[Question], float]:
    """Rows as they are: the matching share of each group's rows, times its matching values."""
    tables, promise = read_tables(release), release.promise
    order, group = np.unique(numbers(tables.qit[promise.group]), return_inverse=True)
    sizes, values = np.bincount(group).astype(np.float64), _Values(tables.st, order)
    rows, owner = _Coded(tables.qit, promise.quasi), np.asarray(group, np.int32)

    def estimate(question: Question) -> float:
        conditions = {name: of for name, of in question.items() if name != promise.sensitive}
        return rows.summed(conditions, owner, values.of(question.get(promise.sensitive_column)) / sizes)

    return estimate


def _boxes(release: Release) -> Callable[[Question], float]:
    """Boxes: the share of the box's points that match, times the group's matching values."""
    promise, tables = release.promise, read_tables(release)
    group = numbers(tables.qit[promise.group])
    order, first = np.unique(group, return_index=True)
    labels = pq.read_table(release.file("labels")) if any(side.label for side in promise.boxes or ()) else None
    sides = {side.name: _sides(side, tables.qit.take(first), labels) for side in promise.boxes or ()}
    values = _Values(tables.st, order)

    def estimate(question: Question) -> float:
        share = values.of(question.get(promise.sensitive_column))
        for name, wanted in question.items():
            if name in sides:
                points, box = sides[name]
                share = share * (points @ _mask(wanted, points.shape[1]) / points.sum(axis=1))[box]
        return float(share.sum())

    return estimate


def _sides(side: Any, boxes: pa.Table, labels: pa.Table | None) -> tuple[Floats, npt.NDArray[np.int64]]:
    """The different sides of boxes in one column as marks of the values they hold, and the side of every box."""
    if side.label is not None and labels is not None:
        meaning: dict[str, list[int]] = {}
        for name, label, value in zip(*(labels[of].to_pylist() for of in ("column", "label", "value")), strict=True):
            if name == side.name:
                meaning.setdefault(label, []).append(int(value))
        listed, box = np.unique(np.array(boxes[side.label].to_pylist()), return_inverse=True)
        held = [meaning.get(str(label)) or [int(label)] for label in listed]
    else:
        ends = np.stack([numbers(boxes[side.low]), numbers(boxes[side.high])])
        listed, box = np.unique(ends, axis=1, return_inverse=True)
        held = [list(range(low, high + 1)) for low, high in listed.T]
    points = np.zeros((len(held), max(map(max, held)) + 1))
    for number, values in enumerate(held):
        points[number, values] = 1.0
    return points, box.reshape(-1)


def _margins(release: Release) -> Callable[[Question], float]:
    """Columns shuffled one by one: the shares of all columns, multiplied."""
    margins = read_margins(release)
    if margins is None or margins.value is None:
        raise InternalError("no columns that are shuffled one by one")
    sizes, shown = (
        margins.sizes.astype(np.float64),
        {**margins.columns, release.promise.sensitive_column: margins.value},
    )
    lines = {name: (numbers(of.domain)[of.values], of.groups, of.counts.astype(float)) for name, of in shown.items()}

    def estimate(question: Question) -> float:
        expected = sizes
        for name, wanted in question.items():
            value, group, count = lines[name]
            found = _mask(wanted, int(value.max()) + 1)[value]
            expected = expected * np.bincount(group, weights=count * found, minlength=sizes.size) / sizes
        return float(expected.sum())

    return estimate


DESKS = {"counted": _counted, "boxes": _boxes, "margins": _margins}


class _Values:
    """How many people of each group hold wanted sensitive values."""

    def __init__(self, st: pa.Table, order: npt.NDArray[np.int64]) -> None:
        self.group, self.groups = np.searchsorted(order, numbers(st["grp"])).astype(np.int32), order.size
        self.value, self.count = numbers(st["value"]).astype(np.int32), numbers(st["n"]).astype(np.float64)
        self.size = int(self.value.max()) + 1

    def of(self, wanted: Sequence[int] | None) -> Floats:
        mask = np.ones(self.size) if wanted is None else _mask(wanted, self.size)
        return np.asarray(_held(self.group, self.value, self.count, mask, self.groups))


class _Coded:
    """Rows as codes of several columns together, so that a question looks up few marks per row."""

    def __init__(self, table: pa.Table, names: Sequence[str]) -> None:
        columns = {name: numbers(table[name]) for name in names}
        self.sizes = {name: int(column.max()) + 1 for name, column in columns.items()}
        self.blocks: list[list[str]] = []
        for name in sorted(names, key=self.sizes.__getitem__):
            if self.blocks and math.prod(self.sizes[of] for of in (*self.blocks[-1], name)) <= MARKS:
                self.blocks[-1].append(name)
            else:
                self.blocks.append([name])
        self.codes = np.zeros((len(self.blocks), len(table)), np.int32)
        for number, block in enumerate(self.blocks):
            for name in block:
                self.codes[number] = self.codes[number] * self.sizes[name] + columns[name]

    def summed(self, question: Question, group: npt.NDArray[np.int32], weight: Floats) -> float:
        """The weights of the groups of all rows that match."""
        chosen = [number for number, block in enumerate(self.blocks) if any(name in question for name in block)]
        marks = np.zeros((len(chosen), MARKS), np.float64)
        for line, number in enumerate(chosen):
            mark = np.ones(1)
            for name in self.blocks[number]:
                size = self.sizes[name]
                mark = np.outer(mark, _mask(question[name], size) if name in question else np.ones(size)).reshape(-1)
            marks[line, : mark.size] = mark
        return float(_summed(self.codes, np.array(chosen, np.int64), marks, group, weight))


def _mask(wanted: Sequence[int], size: int) -> Floats:
    mask = np.zeros(max(size, max(wanted, default=0) + 1))
    mask[np.asarray(wanted, np.int64)] = 1.0
    return mask[:size]


@nb.njit(cache=True, nogil=True)
def _summed(codes: Any, chosen: Any, marks: Any, group: Any, weight: Any) -> float:
    total = 0.0
    for row in range(codes.shape[1]):
        kept = weight[group[row]]
        for line in range(chosen.size):
            kept *= marks[line, codes[chosen[line], row]]
        total += kept
    return total


@nb.njit(cache=True, nogil=True)
def _held(group: Any, value: Any, count: Any, mask: Any, groups: int) -> Any:
    held = np.zeros(groups)
    for line in range(group.size):
        held[group[line]] += count[line] * mask[value[line]]
    return held


def _each(answer: Callable[[Question], float], asked: Sequence[Question]) -> Floats:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return np.array(list(pool.map(answer, asked)))
