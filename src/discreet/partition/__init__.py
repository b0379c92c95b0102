"""Partitions: which rows share a group. This is their registry.

    histogram/  planned on how often each sensitive value occurs, and on nothing else
    ranges/     neighbours among the sorted sensitive values, for k distinct values and a range of e
    spatial/    rows that lie near each other; a partition of several files is a folder of its own

The file of each has an `assign(quasi, sensitive, guarantee, secret)`: it sees integer codes
only and returns the group of every row, numbered from 0 without a gap. It may assume that the
whole table, as one group, meets the guarantee. A `spatial` one looks at distances or hierarchies: it sees the
quasi-identifiers as dimensions (see `space`), takes options, and may leave rows out (group -1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.guarantees import Guarantee
    from discreet.partition.kernels import IntArray
    from discreet.partition.spatial.space import Dimension
    from discreet.values.random import RandomSource


SHARE = "a share from 0 to 1"
NUMBER = "a whole number from 1 to 100"


@dataclass(frozen=True, slots=True)
class Partition:
    """A way to form groups: whether it looks at quasi-identifiers, and which promises it keeps, if not all.

    The one that it `needs` decides about its groups. `options` are what a policy may choose: one of
    several words, the first unless another is given, or a share, or a number.
    """

    name: str
    home: str  # the folder of its file
    uses_quasi: bool = False
    keeps: tuple[str, ...] = ()
    needs: str | None = None
    spatial: bool = False
    trees: bool = False  # whether every quasi-identifier must have a hierarchy
    selects: bool = False  # whether it can be told that only some rows are needed
    options: Mapping[str, tuple[str, ...] | str] = field(default_factory=dict)

    def assign(
        self, quasi: Sequence[IntArray], sensitive: IntArray, guarantee: Guarantee, secret: RandomSource
    ) -> IntArray:
        """The group of every row. Kernels are compiled when first used, so the import waits until here."""
        groups: IntArray = self._module.assign(quasi, sensitive, guarantee, secret)
        return groups

    def place(
        self,
        space: Sequence[Dimension],
        sensitive: IntArray,
        guarantee: Guarantee,
        secret: RandomSource,
        options: Mapping[str, Any],
        needed: int | None = None,
    ) -> IntArray:
        """The group of every row of a space, -1 for those left out.

        If only the first so many rows are `needed`, groups without one of them may be left out, too.
        """
        chosen = {name: value for name, value in options.items() if name in self.options}
        if self.selects:
            chosen["needed"] = needed
        groups: IntArray = self._module.assign(space, sensitive, guarantee, secret, **chosen)
        return groups

    @property
    def _module(self) -> Any:
        return import_module(f"discreet.partition.{self.home}.{self.name}")


GONE = {"min_max_exact": "min_max"}  # what a policy may still name, and what to use instead
RANGES = ("min_sum", "min_max", "max_groups", "tightest", "random")
CUTS = {"dimension": ("widest", "round_robin"), "median": ("strict", "relaxed")}
PARTITIONS = {
    partition.name: partition
    for partition in (
        Partition("anatomize", "histogram", keeps=("k", "l", "distinct_l"), needs="l"),
        Partition("deal", "histogram"),
        Partition("local", "spatial", uses_quasi=True),
        Partition(
            "cluster",
            "spatial.cluster",
            uses_quasi=True,
            spatial=True,
            options={"boundary": ("moved", "fixed"), "tries": NUMBER},
        ),
        Partition("mondrian", "spatial.mondrian", uses_quasi=True, spatial=True, options=CUTS),
        Partition("topdown", "spatial.topdown", uses_quasi=True, spatial=True, selects=True),
        Partition(
            "full_domain",
            "spatial.full_domain",
            uses_quasi=True,
            spatial=True,
            trees=True,
            options={"loss": ("ncp", "discernibility"), "suppression": SHARE},
        ),
        *(Partition(name, "ranges", keeps=("k", "e"), needs="e") for name in RANGES),
    )
}
