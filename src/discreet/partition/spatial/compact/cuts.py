"""Cut points in two where most is saved, and the parts again: the best column and place by the boxes of both sides.

A cut parts the first values of a column from the others, in the order of a range, in that of the children of a tree's
lowest common node, or in that of a set's values; of a tree or a set it may also part one from all others. What it saves
is what the box around all rows costs them less what the tight boxes of both sides do, in all columns. Of cuts that save
alike the less even is preferred (saved x evenness^-0.3): it peels off rows that lie far out, and combinations that are
frequent, and even cuts were worse wherever it was measured.

Points are different rows with their `weights`, and `first` says where the values of their people stand. A wide range is
looked at in as many steps as are worth it. If cuts are blind, a side needs as many rows as keep the promises whichever
they are (`surely`), and a cut may pass through the rows of one value; else both sides must keep the rule as they are.
Kernels are compiled for what is asked: a rule that is `sure` to be kept or one to `fit`, and columns that are no range.
Cost: points x columns^2 for a level of cuts, beside rows x columns where values are looked at.
Claim: cuts_save_most — no cut between two values of ranges saves more, weighed by its evenness, if all steps are seen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.partition.kernels import divide
from discreet.partition.spatial.compact.costs import add_costs_of_sets, costs_of_steps
from discreet.partition.spatial.compact.steps import (
    ENDS,
    LINES,
    ORDER,
    ROWS,
    STEPS,
    arrange,
    merge,
    number_steps,
    tabulate,
)
from discreet.partition.spatial.packed import RANGE, TREE, Frame
from discreet.partition.spatial.space import Codes
from discreet.values.kernel import kernel
from discreet.values.rule import Rule, keeps, surely, sweep

UNEVEN = 0.3
BEFORE, ALONE, THROUGH = 0, 1, 2  # which rows go left: up to a step, those of a step, or up to some rows of it
DEEP = 64  # parts that wait: the smaller side is cut first, so there are fewer


class Scratch(NamedTuple):
    """What cutting writes down, allocated once: of columns, points, steps (see `steps`), and values."""

    steps: npt.NDArray[np.int64]
    box: Codes
    side: npt.NDArray[np.float64]
    step_of: Codes
    goes: npt.NDArray[np.bool_]
    slots: Codes
    number: Codes
    lines: Codes
    boxes: Codes
    sums: npt.NDArray[np.float64]  # what boxes cost: up to a step, from it on, of it alone, of all others
    held: Codes
    works: npt.NDArray[np.bool_]
    counts: Codes


def _scratch(points: Codes, rows: int, kinds: int, frame: Frame) -> Scratch:
    m, d = points.shape

    def whole(*shape: int) -> Codes:
        return np.empty(shape, np.int32)

    return Scratch(
        steps=np.empty(d, np.int64),
        box=whole(2, d),
        side=np.empty(d),
        step_of=whole(m, d),
        goes=np.empty(m, np.bool_),
        slots=whole(STEPS + 4 * m + 1),
        number=np.full(frame.sizes.max(initial=1), -1, np.int32),
        lines=whole(LINES, m + 1),
        boxes=whole(4, m + 1, d),
        sums=np.empty((4, m)),
        held=whole(rows),
        works=np.empty(rows + 1, np.bool_),
        counts=np.zeros(kinds, np.int32),
    )


def cut_up(
    points: Codes,
    weights: Codes,
    first: Codes,
    values: Codes,
    kinds: int,
    frame: Frame,
    rule: Rule | None,
    least: int,
    blind: bool,  # noqa: FBT001
    edges: npt.NDArray[np.bool_],
) -> None:
    """Order points so that parts stand together, and mark in `edges` where each starts.

    Without a rule, `least` rows are all that a part needs.
    """
    scratch = _scratch(points, values.size, kinds, frame)
    asked = (rule if blind else None, None if blind else rule, True if (frame.forms != RANGE).any() else None)
    _cut_up(points, weights, first, values, frame, least, edges, scratch, *asked)


@kernel
def _cut_up(points, weights, first, values, frame, least, edges, scratch, sure, fit, others):  # type: ignore[no-untyped-def]
    waiting, top = np.empty((DEEP, 2), np.int64), 1
    waiting[0, 0], waiting[0, 1] = 0, points.shape[0]
    while top:
        top -= 1
        a, b = waiting[top, 0], waiting[top, 1]
        edges[a] = True
        x, w, f, step_of, goes = points[a:b], weights[a:b], first[a:b], scratch.step_of[: b - a], scratch.goes[: b - a]
        total, fewest = np.int64(0), np.int64(least)
        for p in range(b - a):
            total += w[p]
        if sure is not None and total >= 2 * fewest:
            for p in range(b - a):
                scratch.held[p] = values[f[p]]
            fewest = max(fewest, surely(scratch.held[: b - a], sure, scratch.counts))
        if total < 2 * fewest:
            continue
        number_steps(x, step_of, frame, scratch)
        found = _best(x, w, f, values, step_of, total, fewest, frame, scratch, sure, fit, others)
        column, way, low, high, take = found
        if column < 0:
            continue
        size = a
        for p in range(b - a):
            s = step_of[p, column]
            goes[p] = s > high or (way == ALONE and s < low)
            if way == THROUGH and s == high:
                goes[p] = take <= 0
                take -= 1
            size += not goes[p]
        divide(x, goes, scratch.boxes[0])
        divide(w, goes, scratch.lines[0])
        divide(f, goes, scratch.lines[0])
        left = top + (2 * (size - a) < b - a)  # the smaller side is cut first, so that few wait
        right = 2 * top + 1 - left
        waiting[left, 0], waiting[left, 1], waiting[right, 0], waiting[right, 1] = a, size, size, b
        top += 2


@kernel
def _best(x, w, f, values, step_of, total, fewest, frame, scratch, sure, fit, others):  # type: ignore[no-untyped-def]
    """The column of the best cut, how it parts the steps, from which to which, and how many rows of it go left.

    The column is -1 if no cut saves anything.
    """
    sums, rows, ends, held = scratch.sums, scratch.lines[ROWS], scratch.lines[ENDS], scratch.held
    column, way, best, whole = -1, BEFORE, 0.0, 0.0
    low, high, take = np.int64(0), np.int64(0), np.int64(0)
    for m in range(x.shape[1]):
        number = scratch.steps[m]
        if number < 2:
            continue
        unordered = frame.forms[m] != RANGE
        tabulate(x, w, step_of, m, number, scratch)
        if fit is not None:
            arrange(step_of, m, number, scratch)
            at = 0
            for i in range(x.shape[0]):
                p = scratch.lines[ORDER, i]
                for r in range(f[p], f[p] + w[p]):
                    held[at] = values[r]
                    at += 1
            sweep(held[:total], fit, scratch.counts, scratch.works)
        elif others is not None and unordered:
            arrange(step_of, m, number, scratch)
        level = frame.roots[m]
        while number > 1:
            costs_of_steps(number, unordered, frame, scratch)
            if others is not None:
                add_costs_of_sets(step_of, m, number, unordered, frame, scratch)
            whole = sums[0, number - 1]
            before, start = np.int64(0), np.int64(0)
            for s in range(number):
                own, end = np.int64(rows[s]), np.int64(ends[s])
                upto = before + own
                if s + 1 < number and min(upto, total - upto) >= fewest:
                    score = _score(total * whole - upto * sums[0, s] - (total - upto) * sums[1, s + 1], upto, total)
                    if score > best and (fit is None or scratch.works[upto]):
                        best, column, way, low, high = score, m, BEFORE, start, end
                if others is not None and unordered and min(own, total - own) >= fewest:
                    score = _score(total * whole - own * sums[2, s] - (total - own) * sums[3, s], own, total)
                    if score > best and (fit is None or _stand(held, before, upto, total, fit, scratch.counts)):
                        best, column, way, low, high = score, m, ALONE, start, end
                if sure is not None and before < fewest and total - upto < fewest and start == end:
                    for size in (fewest, total - fewest):
                        saved = total * whole - size * sums[0, s] - (total - size) * sums[1, s]
                        score = _score(saved, size, total)
                        if score > best and before < size < upto:
                            best, column, way, low, high, take = score, m, THROUGH, start, start, size - before
                before, start = upto, end + 1
            if frame.forms[m] != TREE:
                break
            if others is not None:
                fine = number
                while fine == number and number > 1:
                    level += frame.sizes[m]
                    number = merge(number, m, level, frame, scratch)
    if best <= 1e-9 * total * whole:
        column = -1
    return column, way, low, high, take


@kernel
def _score(saved, size, total):  # type: ignore[no-untyped-def]
    """What a cut saves, and more if it is uneven."""
    return saved * (min(size, total - size) / total) ** -UNEVEN if saved > 0 else 0.0


@kernel
def _stand(held, a, b, total, rule, counts):  # type: ignore[no-untyped-def]
    """Whether rows a..b keep the promises, and so do all others."""
    if not keeps(held[a:b], rule, counts):
        return False
    others = np.empty(total - (b - a), np.int32)
    for i in range(a):
        others[i] = held[i]
    for i in range(b, total):
        others[i - (b - a)] = held[i]
    return keeps(others, rule, counts)
