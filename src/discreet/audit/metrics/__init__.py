"""How much a release blurs: metrics computed from the released files alone.

    ncp             certainty penalty as a perimeter: twice the sides of the boxes, over all rows
                    (Sacharidis et al., TKDE 2010, section 2)
    ncp_normalised  each side as a share of its column's extent, over all rows and columns
                    (Xu et al., KDD 2006; Li et al. 2015, definition 3)
    ncp_share       the same, divided by rows and columns: from 0, all exact, to 1, nothing told
    il              information loss of the average row: rows of a group x sum of shares, over all
                    groups, divided by the rows (Byun et al. 2006, definition 7 and section 5)
    dm              discernibility: the sum over groups of the square of their rows (Bayardo and Agrawal 2005)
    average_group   rows in a group
    c_avg           the same divided by the k that is promised (LeFevre et al. 2006)
    rce             re-construction error: how far rows rebuilt from the release lie from the real ones (Xiao and
                    Tao, VLDB 2006, equations 10 to 13). A row whose box holds V points adds 1 - S / V, where S is 1
                    if the row shows its sensitive value, and else the sum of the squared shares of its group's values
    value_rce       the same of sensitive values alone, as if all quasi-identifiers were shown: a group of N rows with
                    counts c adds N - sum(c^2) / N. No l-diverse anatomy of n rows has less than n (1 - 1/l)
    largest_share   the largest share of a group that holds one sensitive value; where values are harmless, of the rows
                    that hold none of these

In a `join`, boxes hold public rows too, and only private ones count. By `refinement` each box is taken
to hold its expected number of them: the people of its sensitive group, shared out over the group's boxes
by their rows. How many a box of `direct` holds nobody can tell, and what depends on it is None; so is
all that has no meaning: a swapped table has no groups. Rows that were left out are not in a release, so
they do not count. A quasi-identifier that is shown as it is costs nothing. A full permutation has the boxes of the
generalized table with the same groups (see `margins`), and so has a slicing; only where every column is a block by
itself is there `presence` (see there), which can be held against the truth.
Claim: metrics_are_those_of_the_rows — the same as summed row by row and group by group.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.audit.metrics.boxes import BoxSpans, Counts, Floats, read_boxes
from discreet.audit.metrics.margins import implied, read_margins
from discreet.audit.metrics.presence import Presence, presence, real_presence
from discreet.errors import InputError, VerificationError
from discreet.release import Release, open_release
from discreet.release.harmless import harmless_values
from discreet.release.layouts import layout_of
from discreet.release.manifest import Promise
from discreet.release.relations import loaded


@dataclass(frozen=True, slots=True)
class Metrics:
    """What a release costs those who use it; the module's docstring says what each is."""

    publication: str
    partition: str
    rows: int
    groups: int | None
    ncp: float | None = None
    ncp_normalised: float | None = None
    ncp_share: float | None = None
    il: float | None = None
    dm: float | None = None
    average_group: float | None = None
    c_avg: float | None = None
    rce: float | None = None
    value_rce: float | None = None
    largest_share: float | None = None
    presence: Presence | None = None


def metrics(release: Release | str | Path, *, truth: str | Path | Any = None) -> Metrics:
    """Measure a release, or the folder that holds one, from its files.

    With the `truth`, the private table as a file or a frame, presence in a full permutation is that of real people.
    """
    opened = release if isinstance(release, Release) else open_release(release)
    promise, margins = opened.promise, read_margins(opened)
    alone = margins is not None and all(len(block) == 1 for block in layout_of(promise).blocks(promise))
    if truth is not None and not alone:
        raise InputError(
            f"`{promise.publication}` cannot be compared with the truth: not every column is shuffled by itself",
            hint="leave the truth out",
        )
    found = Metrics(promise.publication, promise.partition, promise.rows, None, 0.0, 0.0, 0.0, 0.0)
    if not layout_of(promise).promises:
        return found
    st, boxes = _counts(opened), read_boxes(opened) if margins is None else implied(margins)
    if int(_numbers(st, "n").sum()) != layout_of(promise).tally(promise).people:
        raise VerificationError(
            f"`{opened.path}` holds other rows than its manifest says", hint="check it with `discreet verify`"
        )
    average, k = promise.rows / promise.groups, promise.guarantee.get("k")
    c_avg = None if k is None else average / k
    found = replace(found, groups=promise.groups, average_group=average, c_avg=c_avg, value_rce=_value_rce(st))
    found = replace(found, largest_share=_largest_share(st, promise))
    if margins is not None and alone:
        about = presence(margins) if truth is None else real_presence(opened, margins, truth)
        found = replace(found, presence=about)
    if promise.sensitive is None:
        found = replace(found, value_rce=None, largest_share=None)
    if boxes is None:
        return replace(found, rce=found.value_rce, dm=dm(_sizes(_numbers(st, "grp"), _numbers(st, "n"))))
    counts = _private(boxes, st, promise)
    if counts is None:
        return replace(found, ncp=None, ncp_normalised=None, ncp_share=None, il=None)
    normalised, people = ncp(boxes.shares, counts), float(counts.sum())
    return replace(
        found,
        ncp=perimeter(boxes.spans, counts),
        ncp_normalised=normalised,
        ncp_share=normalised / (people * boxes.shares.shape[1]),
        il=normalised / people,
        dm=dm(_sizes(boxes.groups, counts)),
        rce=None if margins is not None else _rce(boxes, counts, st),
    )


def perimeter(spans: Floats, counts: Counts | Floats) -> float | None:
    """The raw certainty penalty of boxes whose sides have these lengths, of so many rows each.

    None if no column has lengths, or one of them is not known.
    """
    total = 2 * ncp(spans, counts)
    return total if spans.shape[1] and np.isfinite(total) else None


def ncp(sides: Floats, counts: Counts | Floats) -> float:
    """The certainty penalty of boxes: a line of `sides` each, in whatever unit, and a number of rows."""
    return float(counts @ sides.sum(axis=1))


def dm(sizes: Counts | Floats) -> float:
    """The discernibility of groups of these sizes."""
    return float(np.sum(np.square(sizes, dtype=np.float64)))


def _counts(release: Release) -> pa.Table:
    """How many rows of each group hold each sensitive value."""
    with loaded(release) as engine:
        return engine.run(layout_of(release.promise).relations(release.promise)["st"])


def _rce(boxes: BoxSpans, counts: Counts | Floats, st: pa.Table) -> float:
    """Of boxes with so many private rows each; sensitive values stand beside the rows, or apart in sensitive groups."""
    shown = np.ones(counts.size)
    if boxes.parts is not None:
        groups, sizes, squares = _squares(st)
        shown = (squares / sizes**2)[np.searchsorted(groups, boxes.parts)]
    return float(np.sum(counts * (1 - shown / boxes.points)))


def _value_rce(st: pa.Table) -> float:
    _, sizes, squares = _squares(st)
    return float(np.sum(sizes - squares / sizes))


def _squares(st: pa.Table) -> tuple[Counts, Floats, Floats]:
    """The groups, the rows of each, and the sum of the squares of how often its values occur."""
    counts = _numbers(st, "n").astype(np.float64)
    groups, at = np.unique(_numbers(st, "grp"), return_inverse=True)
    sizes, squares = (np.asarray(np.bincount(at, weights=of), np.float64) for of in (counts, counts * counts))
    return groups, sizes, squares


def _largest_share(st: pa.Table, promise: Promise) -> float:
    """The largest share of a group that one value has, without the rows that hold harmless ones."""
    if promise.harmless:
        spared = harmless_values(promise.harmless, st["value"].type)
        st = st.filter(pc.invert(pc.is_in(st["value"], value_set=spared)))
    counts, (_, group) = _numbers(st, "n"), np.unique(_numbers(st, "grp"), return_inverse=True)
    return float((counts / np.bincount(group, weights=counts)[group]).max(initial=0))


def _private(boxes: BoxSpans, st: pa.Table, promise: Promise) -> Counts | Floats | None:
    """How many private rows each box holds, or is expected to; None if nobody can tell."""
    if promise.join is None or boxes.parts is None:
        return boxes.sizes
    if promise.join.variant == "direct":
        return None
    parts, at = np.unique(boxes.parts, return_inverse=True)
    people = np.zeros(parts.size)
    listed = np.searchsorted(parts, _numbers(st, "grp"))
    np.add.at(people, listed, _numbers(st, "n"))
    return np.asarray(people[at] * boxes.sizes / np.bincount(at, weights=boxes.sizes)[at])


def _sizes(groups: Counts, counts: Counts | Floats) -> Floats:
    """The rows of each group, of which there are several lines."""
    _, at = np.unique(groups, return_inverse=True)
    return np.asarray(np.bincount(at, weights=counts), np.float64)


def _numbers(table: pa.Table, name: str) -> Counts:
    return np.asarray(table[name].cast(pa.int64()), np.int64)
