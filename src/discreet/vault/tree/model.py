"""What a vault is made of: boxes, cuts, nodes, leaves, published states, rows; and how the core reads them.

The core (forest, inference, grow) never writes. It reads nodes, leaves, rows and states one by one through `Store`,
works on its own copies, and hands back what is to be written, which the store carries out as a whole or not at all:
`grow.append(store, rows, rule)` gives the `Changes` that new rows make, and `history.states(store, release, rule)` the
`State`s that a release records; once these are saved, their leaves are marked as unchanged.

A row is a point (`values/boxes.py`). Codes, of columns without an order and of the sensitive column, are given at
first sight and never change, so a vector of counts may be shorter than a later one: what lacks at its end is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from discreet.values.boxes import Box
from discreet.values.columns import Column

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

EVERYBODY = -1  # a stratum that no pattern of missing values is


@dataclass(frozen=True, slots=True)
class Cut:
    """Two sides of a column that never meet: all values up to `low_end` and from `high_start`, or two sets of codes."""

    column: int
    low_end: float = 0.0
    high_start: float = 0.0
    left: int = 0
    right: int = 0


@dataclass(frozen=True, slots=True)
class Node:
    """A place in the tree of a stratum: cut in two, or a leaf. `depth` of a root is 0.

    A group that settled is a node of its own below the leaf where its rows waited, but neither its left nor its right
    side: no row is ever led there.
    """

    id: int
    parent: int | None
    stratum: int
    depth: int
    cut: Cut | None = None
    left: int | None = None
    right: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """A group as it would be released now, without its rows: their sensitive counts and box; and who waits.

    `box` is None if it has no members; `reach` is the box of all rows that were led here. `changed`: it is not as it
    was last released.
    """

    node: int
    counts: Ints
    box: Box | None
    reach: Box
    waiting: int
    changed: bool

    @property
    def size(self) -> int:
        return int(self.counts.sum())


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """A group as it was released: the number of the release that first showed it so, its box and sensitive counts.

    `chain` has a line of counts for each cohort of people, first published with the release in `cohorts`: what all
    releases together leave open about them. Only the newest state of a node is ever asked for its chain.
    """

    node: int
    release: int
    box: Box
    counts: Ints
    cohorts: Ints
    chain: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows of a leaf, or new rows: ids, points (a line per row), sensitive codes, since when they wait, membership."""

    ids: Ints
    points: Floats
    sensitive: Ints
    since: Ints
    member: Flags

    def __len__(self) -> int:
        return len(self.ids)

    def some(self, chosen: Ints | Flags) -> Rows:
        """Some of the rows."""
        return Rows(
            self.ids[chosen], self.points[chosen], self.sensitive[chosen], self.since[chosen], self.member[chosen]
        )

    def and_(self, *others: Rows) -> Rows:
        """These rows and others after them."""
        found = [self, *(rows for rows in others if len(rows))]
        if len(found) == 1:
            return self
        return Rows(
            np.concatenate([rows.ids for rows in found]),
            np.concatenate([rows.points for rows in found]),
            np.concatenate([rows.sensitive for rows in found]),
            np.concatenate([rows.since for rows in found]),
            np.concatenate([rows.member for rows in found]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Root:
    """A tree: its stratum (bit j: range column j is missing), root, and what is known of all its rows ever taken in.

    The stratum `EVERYBODY` has rows of all kinds: those of a vault whose groups settle.
    """

    stratum: int
    node: int
    space: Box
    counts: Ints
    leaves: int


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Where rows are now: every new row, and every older one whose node or membership changed."""

    ids: Ints
    nodes: Ints
    member: Flags


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """All that an append changes: roots, nodes and leaves as they are now, by their ids.

    `inner` are nodes that are leaves no more: their `Leaf` goes, the node stays. `gone` are nodes that go with their
    leaf: groups that were never released and have been made anew.
    """

    roots: Sequence[Root]
    nodes: Sequence[Node]
    leaves: Sequence[Leaf]
    inner: Sequence[int]
    gone: Sequence[int]
    placed: Placed
    joined: int = 0  # rows that became members


class Store(Protocol):
    """What the core asks of the place where a vault is kept."""

    @property
    def columns(self) -> Sequence[Column]:
        """The quasi-identifiers, in the order of the columns of points."""
        ...

    @property
    def next_node(self) -> int:
        """The smallest number that no node has had; the core numbers new nodes from here on."""
        ...

    def root(self, stratum: int) -> Root | None:
        """The tree of a stratum, if it has one."""
        ...

    def node(self, node: int) -> Node: ...

    def leaf(self, node: int) -> Leaf:
        """The summary of a leaf."""
        ...

    def rows(self, *nodes: int) -> Rows:
        """All rows of some leaves, members and waiting, in the order of their ids. As dear as the leaves are large.

        Only for a leaf that may be cut: an increment of 1,000 touches most leaves of a million rows.
        """
        ...

    def waiting(self, node: int) -> Rows:
        """The waiting rows of a leaf alone, in the order of their ids: few, and read without its members."""
        ...

    def states(self, node: int) -> Sequence[State]:
        """The published states of a node itself, oldest first; also of one that has been cut since."""
        ...

    def unpublished(self) -> Rows:
        """All rows that no release has shown, members or waiting, in the order of their ids."""
        ...

    def rooms(self) -> Sequence[int]:
        """The leaves in which rows wait."""
        ...

    def changed(self) -> Sequence[int]:
        """The leaves that have members and are marked as changed."""
        ...
