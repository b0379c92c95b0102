"""The quasi-identifiers of a table as axes of a space: codes, places on a line, hierarchies.

Numbers, dates and times have an order and distances. Texts have neither, unless the policy says that
they are `ordered`: then their places are their ranks. The labels of an ordered category have the order of the
category, by which similar people are found; boxes show them as sets, since a text has no ends in any other order than
its own. Where the policy has a hierarchy, it decides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.errors import InputError
from discreet.hierarchies import Hierarchy, Levels, load
from discreet.partition import PARTITIONS
from discreet.partition.spatial.columns import halves, on_a_line, with_missing
from discreet.partition.spatial.space import Dimension
from discreet.policy import Policy
from discreet.publication import PUBLICATIONS
from discreet.table import Table
from discreet.values.codes import Codes
from discreet.values.columns import UNORDERED

FARTHEST = np.finfo(np.float64).max / 4  # distances are added up


@dataclass(frozen=True)
class Axis:
    """One quasi-identifier: its codes, its hierarchy if it has one, and whether its values have an order.

    Where rows were left out, `ranks` says where its values stood among those of all rows. `order` has the rank of every
    value in an order that is not that of the codes: of a category's labels.
    """

    name: str
    codes: Codes
    hierarchy: Hierarchy | None
    ordered: bool
    ranks: npt.NDArray[np.int32] | None = None
    order: npt.NDArray[np.int32] | None = None

    @cached_property
    def levels(self) -> Levels | None:
        """The hierarchy over the values that occur."""
        return None if self.hierarchy is None else self.hierarchy.levels(self.codes.domain, self.name)

    @property
    def labelled(self) -> bool:
        """Whether boxes show it by a label, and not from one value to another."""
        if self.levels is None:
            return not self.ordered or self.order is not None
        return self.levels.lows is None

    def kept(self, rows: npt.NDArray[np.bool_]) -> Axis:
        """The axis of some rows alone: nothing of it tells which values the others had."""
        codes = self.codes.codes[rows]
        there = np.bincount(codes, minlength=self.codes.size) > 0
        held, codes = np.flatnonzero(there), (np.cumsum(there, dtype=np.int32) - 1)[codes]
        missing = self.codes.missing and bool(held.size) and int(held[-1]) == len(self.codes.domain)
        values = held[: held.size - missing]
        domain = self.codes.domain.take(pa.array(values))
        order = None if self.order is None else np.argsort(np.argsort(self.order[values])).astype(np.int32)
        return replace(self, codes=Codes(codes, domain, missing), ranks=values.astype(np.int32), order=order)

    @cached_property
    def dimension(self) -> Dimension:
        """What a partition sees of it."""
        codes = self.codes
        levels = None if self.levels is None else with_missing(self.levels.nodes, missing=codes.missing)
        places = on_a_line(codes) if self.ordered and levels is None else None
        if places is not None and self.order is not None:
            ranks = np.append(self.order, np.int32(len(self.order)))  # what is missing stays last
            return Dimension(ranks[codes.codes], codes.size, places, None, codes.missing)
        return Dimension(codes.codes, codes.size, places, levels, codes.missing)

    @cached_property
    def halved(self) -> Dimension:
        """The same with neighbours together, two, four and so on, where there is no hierarchy."""
        if self.levels is not None or not self.ordered:
            return self.dimension
        return Dimension(
            self.codes.codes,
            self.codes.size,
            levels=with_missing(self.halves, missing=self.codes.missing),
            missing=self.codes.missing,
        )

    @property
    def halves(self) -> npt.NDArray[np.int32]:
        """The node of every value if neighbours are put together, two, four and so on up to all."""
        ranks = np.arange(len(self.codes.domain), dtype=np.int32) if self.ranks is None else self.ranks
        return halves(ranks, others=self.ranks is not None)


def present(policy: Policy) -> str | None:
    """The column whose missing values keep a row out of the release, if any."""
    return policy.sensitive if policy.missing_sensitive == "withhold" else None


def axes(table: Table, policy: Policy) -> list[Axis]:
    """The axes of all quasi-identifiers, in the order of the policy."""
    return [axis(table, policy, name) for name in policy.quasi]


def axis(table: Table, policy: Policy, name: str) -> Axis:
    codes = table.codes(name, present=present(policy))
    found = axis_of(policy, name, codes, ordered=table[name].kind not in UNORDERED or name in policy.ordered)
    labels = table[name].order
    if labels is None or found.hierarchy is not None:
        return found
    if PARTITIONS[policy.grouping].sees == "hierarchies":
        raise InputError(
            f"`{name}` is an ordered category, whose order `{policy.grouping}` cannot use",
            hint="give it a hierarchy, or pass the column as plain text to halve its alphabetical order",
        )
    place = {label: i for i, label in enumerate(labels)}
    order = np.argsort(np.argsort([place[label] for label in codes.domain.to_pylist()])).astype(np.int32)
    return replace(found, ordered=True, order=order)


def axis_of(policy: Policy, name: str, codes: Codes, *, ordered: bool) -> Axis:
    """The axis of a column as the policy wants it seen."""
    boxed = PUBLICATIONS[policy.publication].boxed or PARTITIONS[policy.grouping].spatial
    if boxed and pa.types.is_floating(codes.domain.type) and len(codes.domain):
        ends = codes.domain.to_numpy()[[0, -1]]  # in the order of values
        if not np.isfinite(ends).all():
            raise InputError(
                f"the column `{name}` holds infinite values", hint="a box needs ends: leave those rows out"
            )
        if ends[1] / 2 - ends[0] / 2 > FARTHEST / 2:
            raise InputError(
                f"the values of `{name}` lie too far apart to measure distances", hint="divide the column by a constant"
            )
    hierarchy = load(policy.hierarchies[name], name) if name in policy.hierarchies else None
    return Axis(name, codes, hierarchy, ordered)
