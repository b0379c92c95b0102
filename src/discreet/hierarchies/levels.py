"""A hierarchy over the values of one column: the node of every value, from the value itself up to the root.

Claim: levels_nest — values that share a node share one at every level above, and the root is shared by all.
Claim: labels_partition — at every level the labels' values are a partition of the hierarchy's values.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

ROOT = "*"

Node = TypeVar("Node", bound=Hashable)
Nodes = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Levels:
    """The values of a column, ascending, under a hierarchy. Level 0 is the values, the last level the root.

    `nodes` has a row per level: the node of every value, numbered from 0 in the order in which they
    first occur. `labels` has the text of every node. The same text may stand at several levels, but
    always for the same values: `values` has them all, also those that the table does not hold.
    A hierarchy of intervals has the first and the last value of every node instead, and no `values`:
    `lows` and `highs`, missing at the root, are of the column's type; else they are None.
    """

    nodes: Nodes
    labels: tuple[tuple[str, ...], ...]
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lows: tuple[pa.Array, ...] | None = None
    highs: tuple[pa.Array, ...] | None = None

    @property
    def height(self) -> int:
        """How many levels there are above the values."""
        return len(self.nodes) - 1


class Hierarchy(Protocol):
    """Anything that says which values of a column belong together."""

    def levels(self, domain: pa.Array, column: str) -> Levels:
        """The hierarchy over the distinct values of `column`, given in ascending order."""
        ...


def numbered(nodes: Iterable[Node]) -> tuple[Nodes, list[Node]]:
    """Nodes as numbers from 0 in the order in which they first occur, and the node of each number."""
    numbers: dict[Node, int] = {}
    found = [numbers.setdefault(node, len(numbers)) for node in nodes]
    return np.array(found, np.int32), list(numbers)


def renumbered(nodes: npt.NDArray[np.integer]) -> tuple[Nodes, list[int]]:
    """The same for nodes that are numbers already."""
    found = pa.array(nodes).dictionary_encode()
    return found.indices.to_numpy(), found.dictionary.to_pylist()


def shown(texts: Sequence[Sequence[str]], nodes: Nodes) -> list[list[str]]:
    """The text of every node as it is published: one that already stands for other values gets its level's number."""
    raw = {text for level in texts for text in level}
    known: dict[str, dict[tuple[int, int], str]] = {}
    labels: list[list[str]] = []
    for i, (level, row) in enumerate(zip(texts, nodes, strict=True)):
        labels.append([])
        # Levels nest, so the first value and their number tell a node's values from any other's.
        firsts = np.unique(row, return_index=True)[1].tolist()
        for text, *values in zip(level, firsts, np.bincount(row).tolist(), strict=True):
            meanings = known.setdefault(text, {})
            label = text
            while meanings and (label in raw or label in known):
                label += f" (level {i})"
            label = meanings.setdefault((values[0], values[1]), label)
            known.setdefault(label, {})
            labels[-1].append(label)
    return labels
