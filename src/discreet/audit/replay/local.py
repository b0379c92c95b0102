"""Play the cuts of a partition again, as far as rows and groups show them, and learn from those that were refused.

`local` cuts a cell near the median of its widest quasi-identifier, or else of the next. A cut between two values that
no group crosses was made: each side consists of groups that keep `l`, so it keeps it, too. A cut that a group crosses
was refused. Where the rows of one value may have fallen on both sides at random, nobody can tell for certain, and the
cell is left alone. Those of `mondrian` are in `replay_mondrian`.
Cost: rows x quasi-identifiers x log(rows), as of the partition. Conclusions are drawn in cells of up to `LARGE` rows;
larger ones have rows to spare.
Claim: replay_names_only_the_certain — whoever is named holds the value in every table that gives the same groups.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from discreet.audit.replay.refusals import narrow

LARGE = 128
REFUSED, UNCERTAIN = 0, -1  # what became of a cut, if it was not made


@nb.njit(cache=True, nogil=True)
def replay_local(points, groups, rows, low, high, coarse, spans, shown, scratch, possible):  # type: ignore[no-untyped-def]
    """Replay the cuts of rows low..high, which are moved; return where cells of at most `coarse` rows start and end."""
    d = points.shape[1]
    least, most = np.empty(d, np.int64), np.empty(d, np.int64)
    histogram = np.zeros(4 * 1024, np.int64)
    on_left = np.empty(high - low, np.bool_)
    spare_points, spare = np.empty((high - low, d), points.dtype), np.empty(high - low, np.int32)
    cells = [(low, low) for _ in range(0)]
    stack = [(low, high)]
    while stack:
        a, b = stack.pop()
        if b - a <= coarse:
            cells.append((a, b))
            continue
        if b - a < 2 * shown.fewest:
            continue
        least[:], most[:] = points[a], points[a]
        for i in range(a + 1, b):
            for j in range(d):
                c = points[i, j]
                least[j] = min(least[j], c)
                most[j] = max(most[j], c)
        size = REFUSED
        side, here = on_left[: b - a], groups[a:b]
        for j in np.argsort(-(most - least) / spans):
            if most[j] == least[j] or size != REFUSED:
                break
            if most[j] - least[j] >= histogram.size:
                histogram = np.zeros(2 * (most[j] - least[j] + 1), np.int64)
            codes = points[a:b, j]
            code, under, at = _median(codes, least[j], most[j], histogram)
            size = _try(codes, code, under, at, here, rows[a:b], side, shown, scratch, possible)
        if size > 0:
            _move(points[a:b], side, spare_points)
            _move(here, side, spare)
            _move(rows[a:b], side, spare)
            stack.append((a + size, b))
            stack.append((a, a + size))
    return cells


@nb.njit(cache=True, nogil=True)
def _median(codes, least, most, histogram):  # type: ignore[no-untyped-def]
    """The median code, the rows under it, and the rows at it."""
    half = codes.size // 2
    if most - least > 4 * codes.size:
        ordered = np.sort(codes)
        under = np.searchsorted(ordered, ordered[half], side="left")
        upto = np.searchsorted(ordered, ordered[half], side="right")
        return np.int64(ordered[half]), np.int64(under), np.int64(upto - under)
    histogram[: most - least + 1] = 0
    for c in codes:
        histogram[c - least] += 1
    under, at = 0, 0
    while under + histogram[at] <= half:
        under += histogram[at]
        at += 1
    return np.int64(least + at), np.int64(under), np.int64(histogram[at])


@nb.njit(cache=True, nogil=True)
def _try(codes, code, under, at, groups, rows, side, shown, scratch, possible):  # type: ignore[no-untyped-def]
    """The rows on the left of the cut that was made in a dimension, which `side` then tells; or REFUSED, or UNCERTAIN.

    The edges of the median value were tried, the nearest first, and then the middle itself.
    """
    n = codes.size
    half = n // 2
    nearest_is_under = half - under <= under + at - half
    for attempt in range(2):
        upto = code if (attempt == 0) == nearest_is_under else code + 1
        size = under if upto == code else under + at
        if min(size, n - size) < shown.fewest:
            continue
        for i in range(n):
            side[i] = codes[i] < upto
        if not _crossed(groups, side, shown, scratch):
            return size
        if n <= LARGE:
            narrow(np.unique(groups), groups, side, shown, scratch, rows, possible)
    if under < half < under + at and min(half, n - half) >= shown.fewest:
        return _ties(codes, code, half, groups, scratch)
    return REFUSED


@nb.njit(cache=True, nogil=True)
def _crossed(groups, side, shown, scratch):  # type: ignore[no-untyped-def]
    """Whether a group has rows on both sides."""
    crossed = False
    for i in range(groups.size):
        scratch.left[groups[i]] += side[i]
    for g in groups:
        crossed = crossed or 0 < scratch.left[g] < shown.sizes[g]
    for g in groups:
        scratch.left[g] = 0
    return crossed


@nb.njit(cache=True, nogil=True)
def _ties(codes, code, half, groups, scratch):  # type: ignore[no-untyped-def]
    """UNCERTAIN if the middle may have been cut, the rows of the median value on either side; else REFUSED."""
    n, below, above, crossed = codes.size, 0, 0, False
    for i in range(n):
        if codes[i] < code:
            scratch.left[groups[i]] = 1
    for i in range(n):
        crossed = crossed or (codes[i] > code and scratch.left[groups[i]] == 1)
        if codes[i] > code:
            scratch.left[groups[i]] = 2
    for g in groups:
        if scratch.left[g] == 1:
            below += 1
        elif scratch.left[g] == 2:
            above += 1
    for g in groups:
        scratch.left[g] = 0
    return REFUSED if crossed or below > half or above > n - half else UNCERTAIN


@nb.njit(cache=True, nogil=True)
def _move(lines, side, spare):  # type: ignore[no-untyped-def]
    """Bring those on the left to the front."""
    left, right = 0, 0
    for i in range(side.size):
        if side[i]:
            lines[left] = lines[i]
            left += 1
        else:
            spare[right] = lines[i]
            right += 1
    lines[left:] = spare[:right]
