"""Partitions: which rows share a group. One algorithm per file; this is their registry.

Every file `NAME.py` has an `assign(quasi, sensitive, guarantee, secret)`: it sees integer codes
only and returns the group of every row, numbered from 0 without a gap. It may assume that the
whole table, as one group, meets the guarantee.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.guarantees import Guarantee
    from discreet.partition.kernels import IntArray
    from discreet.partition.secret import Secret


@dataclass(frozen=True, slots=True)
class Partition:
    """A way to form groups: whether it looks at quasi-identifiers, and which promises it keeps, if not all.

    The one that it `needs` decides about its groups.
    """

    name: str
    uses_quasi: bool = False
    keeps: tuple[str, ...] = ()
    needs: str | None = None

    def assign(self, quasi: Sequence[IntArray], sensitive: IntArray, guarantee: Guarantee, secret: Secret) -> IntArray:
        """The group of every row. Kernels are compiled when first used, so the import waits until here."""
        groups: IntArray = import_module(f"discreet.partition.{self.name}").assign(quasi, sensitive, guarantee, secret)
        return groups


RANGES = ("min_sum", "min_max", "max_groups", "tightest", "random", "min_max_exact")
PARTITIONS = {
    partition.name: partition
    for partition in (
        Partition("anatomize", keeps=("k", "l", "distinct_l"), needs="l"),
        Partition("deal"),
        Partition("local", uses_quasi=True),
        *(Partition(name, keeps=("k", "e"), needs="e") for name in RANGES),
    )
}
