"""A hierarchy of labels: each value of a list has a path to the root, and each label one parent.

Cost: one pass over the values of the hierarchy and of the column, per level.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from discreet.errors import InputError
from discreet.hierarchies.levels import Levels, Nodes, renumbered, shown
from discreet.hierarchies.match import keys, reader, respelled, texts


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """The values of a hierarchy and, in a row per level above them, the number of each one's label.

    `places` says where each value stands in the `source`.
    """

    source: str
    values: Sequence[str]
    nodes: Nodes
    names: Sequence[Sequence[str]]
    places: Sequence[str]

    def levels(self, domain: pa.Array, column: str) -> Levels:
        """The hierarchy over the values of a column. Values that the column's type cannot hold are left out."""
        found = self._read(domain.type, column)
        rows = self._find(found, domain, column)
        nodes = np.vstack([np.arange(len(found), dtype=np.int32), self.nodes[:, list(found.values())]])
        spelled = respelled(list(found), domain.type)
        kept = [renumbered(level) for level in nodes]
        dense = np.array([numbers for numbers, _ in kept], np.int32).reshape(nodes.shape)
        names = [spelled, *self.names]
        labels = shown([[names[i][node] for node in used] for i, (_, used) in enumerate(kept)], dense)
        return over(rows, dense, labels, spelled)

    def _read(self, type_: pa.DataType, column: str) -> dict[Hashable, int]:
        """Which row of the hierarchy has each value that the column can hold."""
        read = reader(type_, column)
        found: dict[Hashable, int] = {}
        for i, text in enumerate(self.values):
            value = read(text)
            if value is None:
                continue
            first = found.setdefault(value, i)
            if first != i and not np.array_equal(self.nodes[:, first], self.nodes[:, i]):
                raise InputError(
                    f"{self.source}: {quoted(self.values[first])} ({self.places[first]}) and {quoted(text)} "
                    f"({self.places[i]}) are the same value in the column `{column}`, but have different paths",
                    hint="leave only one of the two",
                )
        return found

    def _find(self, found: dict[Hashable, int], domain: pa.Array, column: str) -> Nodes:
        """The place in `found` of every value of the column."""
        place = {value: i for i, value in enumerate(found)}
        rows = np.array([place.get(value, -1) for value in keys(domain)], np.int32)
        if (rows < 0).any():
            # which ones they are is not said: they are cells of single people
            lost = texts(domain.take(pa.array(np.flatnonzero(rows < 0))))
            known = {_plain(text) for text in self.values}
            alike = sum(_plain(text) in known for text in lost)
            close = f"; {alike:,} of them would have one but for capitals or spaces" if alike else ""
            raise InputError(
                f"{self.source}: {len(lost):,} of the {len(domain):,} values of the column `{column}` "
                f"{'has' if len(lost) == 1 else 'have'} no path to the root{close}",
                hint="hold the distinct values of the column against the hierarchy, and add those that it lacks; the "
                "spelling of texts must agree, capitals and spaces included",
            )
        return rows


def over(rows: Nodes, nodes: Nodes, labels: Sequence[Sequence[str]], spelled: Sequence[str]) -> Levels:
    """The levels over some of a hierarchy's values; its labels stand for all of them."""
    values: dict[str, tuple[str, ...]] = {}
    here, names = [], []
    for level, names_ in zip(nodes, labels, strict=True):
        numbers, used = renumbered(level[rows])
        here.append(numbers)
        names.append(tuple(names_[node] for node in used))
        ordered = [spelled[i] for i in np.argsort(level, kind="stable").tolist()]
        ends = np.cumsum(np.bincount(level, minlength=1)).tolist()
        for node, label in zip(used, names[-1], strict=True):
            if label not in values:
                values[label] = tuple(ordered[ends[node - 1] if node else 0 : ends[node]])
    return Levels(np.array(here, np.int32).reshape(len(nodes), len(rows)), tuple(names), values)


def _plain(text: str) -> str:
    return "".join(text.casefold().split())


def quoted(text: str) -> str:
    """A text as messages show it."""
    return f"`{text}`" if len(text) <= 60 else f"`{text[:57]}…`"


def arrows(path: Sequence[str]) -> str:
    """A path as messages show it."""
    return " → ".join(quoted(label) for label in path)
