"""Play the cuts of `mondrian` again where columns are ranges, and learn from those that were refused.

It cuts the widest column as near to the middle as the guarantee allows, between two values; else the next widest. A
place that no group crosses could be cut: both sides consist of groups that keep `l`. So of the places in the order in
which they are tried, the first such one was cut, and those before it were refused. A group is left whole only if
every place was. Where a column is no range, or its distances are not known, only that last fact is used.
Cost: rows x quasi-identifiers x log(rows), as of the partition; of cells up to `LARGE` rows also each refused place.
Claim: mondrian_names_only_the_certain — whoever is named holds the value in every table that gives the same groups.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from discreet.audit.replay.local import LARGE
from discreet.audit.replay.refusals import narrow, rule_out_by_trying

SMALL = 7  # rows whose values are tried in every order, at most 5,040


@nb.njit(cache=True, nogil=True)
def replay_ranges(points, groups, rows, places, shown, scratch, possible):  # type: ignore[no-untyped-def]
    """Replay all cuts; rows are moved. `places` has a line per column: where each of its codes lies, in extents."""
    n, d = points.shape
    widths, uncrossed = np.empty(d), np.empty(n + 1, np.bool_)
    stack = [(0, n)]
    while stack:
        a, b = stack.pop()
        if b - a < 2 * shown.fewest:
            continue
        here = points[a:b]
        for j in range(d):
            low, high = here[:, j].min(), here[:, j].max()
            widths[j] = min(max(places[j, high] - places[j, low], 1e-300), 1.0) if low < high else 0.0
        for _ in range(d):
            widest = np.argmax(widths)
            if widths[widest] <= 0:
                break
            widths[widest] = -1.0
            by_code = np.argsort(here[:, widest], kind="mergesort")
            codes = here[by_code, widest]
            _free(groups[a:b], by_code, shown, scratch, uncrossed)
            size = _made(codes, uncrossed, shown.fewest)
            if b - a <= LARGE:
                _learn(here[:, widest].copy(), codes, size, groups[a:b], rows[a:b], shown, scratch, possible)
            if size:
                points[a:b], groups[a:b], rows[a:b] = here[by_code], groups[a:b][by_code], rows[a:b][by_code]
                stack.append((a, a + size))
                stack.append((a + size, b))
                break


@nb.njit(cache=True, nogil=True)
def _free(groups, order, shown, scratch, uncrossed):  # type: ignore[no-untyped-def]
    """Write for every number of rows, in this order, whether no group has some of its rows among them and some not."""
    started = 0
    for i in range(order.size):
        g = groups[order[i]]
        scratch.left[g] += 1
        started += (scratch.left[g] == 1) - (scratch.left[g] == shown.sizes[g])
        uncrossed[i + 1] = started == 0
    for g in groups:
        scratch.left[g] = 0


@nb.njit(cache=True, nogil=True)
def _made(codes, uncrossed, fewest):  # type: ignore[no-untyped-def]
    """The rows on the left of the cut that was made, nearest to the middle; 0 if none was."""
    n = codes.size
    half = n // 2
    for far in range(half - fewest + 1):
        for size in (half - far, n - half + far):
            if codes[size - 1] != codes[size] and uncrossed[size]:
                return size
    return 0


@nb.njit(cache=True, nogil=True)
def _learn(column, codes, made, groups, rows, shown, scratch, possible):  # type: ignore[no-untyped-def]
    """Strike out what cannot be, since all places that come before the one that was made were refused."""
    n, cell = codes.size, np.unique(groups)
    half = n // 2
    for far in range(half - shown.fewest + 1):
        for size in (half - far, n - half + far):
            if size == made:
                return
            if codes[size - 1] != codes[size]:
                narrow(cell, groups, column < codes[size], shown, scratch, rows, possible)


@nb.njit(cache=True, nogil=True)
def replay_last(points, edges, rows, shown, possible):  # type: ignore[no-untyped-def]
    """Every place between two values of a group's rows was tried; rows lie by group, those of g from edges[g] on.

    Small groups are tried in every order of their values; in larger ones there are rows to spare.
    """
    cuts, values, may = (
        np.empty((SMALL * points.shape[1], SMALL), np.bool_),
        np.empty(SMALL, np.int64),
        np.empty(SMALL, np.uint64),
    )
    for g in range(edges.size - 1):
        a, n, first = edges[g], edges[g + 1] - edges[g], shown.starts[g]
        if not 2 * shown.fewest <= n <= SMALL:
            continue
        found = 0
        for j in range(points.shape[1]):
            codes = points[a : a + n, j]
            ordered = np.sort(codes)
            for size in range(shown.fewest, n - shown.fewest + 1):
                if ordered[size - 1] != ordered[size]:
                    cuts[found, :n] = codes < ordered[size]
                    found += 1
        if found:
            at = 0
            for entry in range(first, shown.starts[g + 1]):
                values[at : at + shown.counts[entry]] = entry - first
                at += shown.counts[entry]
            rule_out_by_trying(values[:n], cuts[:found, :n], shown.l, may[:n])
            for i in range(n):
                possible[rows[a + i]] &= may[i]
