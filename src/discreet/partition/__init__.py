"""Partitions: which rows share a group. This is their registry.

    histogram/  planned on how often each sensitive value occurs, and on nothing else
    ranges/     neighbours among the sorted sensitive values, for k distinct values and a range of e
    people/     people who may have several rows, by `deal` and `local`: an `assign` of its own, of whole people
    spatial/    rows that lie near each other; a partition of several files is a folder of its own

The file of each has an `assign(seen, sensitive, guarantee, secret)`: it sees integer codes
only and returns the group of every row, numbered from 0 without a gap. It may assume that the
whole table, as one group, meets the guarantee. What is `seen` of the quasi-identifiers is its own
choice (see `SIGHTS`). One that sees a space may take options, and may leave rows out (group -1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from discreet.guarantees import Guarantee
    from discreet.partition.kernels import IntArray
    from discreet.partition.spatial.space import Dimension
    from discreet.release.manifest import Estimator, Randomness
    from discreet.values.codes import Codes
    from discreet.values.random import RandomSource


SHARE = "a share from 0 to 1"
NUMBER = "a whole number from 1 to 100"
CELLS = "a whole number from 2 to 1,000"
Sight: TypeAlias = Literal["nothing", "codes", "space", "hierarchies"]


class Quasi(Protocol):
    """A quasi-identifier, as whoever asks for groups holds it."""

    @property
    def codes(self) -> Codes: ...

    @property
    def dimension(self) -> Dimension: ...

    @property
    def halved(self) -> Dimension: ...


SIGHTS: dict[Sight, Callable[[Quasi], Any]] = {
    "codes": lambda quasi: quasi.codes.codes,
    "space": lambda quasi: quasi.dimension,
    "hierarchies": lambda quasi: quasi.halved,  # each a tree; where none is given, an order is halved
}


@dataclass(frozen=True, slots=True)
class Placed:
    """The group of every row and, if cells were cut first, how many groups each has: they are numbered cell by cell."""

    groups: IntArray
    cells: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Partition:
    """A way to form groups: what it `sees` of quasi-identifiers, and which promises it `keeps`, if not all.

    The one that it `needs` decides about its groups. `options` are what a policy may choose: one of
    several words, the first unless another is given, or a share, or a number. `randomness` is by what chance rows of
    different people come to their groups (see `release/manifest.py`), if that can be said, and `estimator` what
    answers are then best estimated by.
    """

    name: str
    home: str  # the folder of its file
    sees: Sight = "nothing"
    keeps: tuple[str, ...] = ()
    needs: str | None = None
    people: bool = False  # whether it can group people who have several rows
    selects: bool = False  # whether it can be told that only some rows are needed
    options: Mapping[str, tuple[str, ...] | str] = field(default_factory=dict)
    randomness: Randomness | None = None
    estimator: Estimator = "even"

    @property
    def spatial(self) -> bool:
        """Whether distances or hierarchies matter, and so does every value's place."""
        return self.sees in {"space", "hierarchies"}

    def chosen(self, options: Mapping[str, Any]) -> Partition:
        """What options make of it: to cut cells it sees quasi-identifiers; if rows may be left out, nothing is said."""
        if options.get("cells") is not None:
            return replace(self, sees="codes", randomness="cells")
        return replace(self, randomness=None) if options.get("suppression") else self

    def cuts(self, options: Mapping[str, Any]) -> str | None:
        """Whether its cuts are blind or fitted to the values of the parts, by the options; none if it makes none."""
        known = self.options.get("cuts")
        return options.get("cuts", known[0]) if isinstance(known, tuple) else None

    def view(self, quasi: Sequence[Quasi]) -> list[Any]:
        """What it sees of quasi-identifiers."""
        return [] if self.sees == "nothing" else list(map(SIGHTS[self.sees], quasi))

    def assign(
        self,
        seen: Sequence[Any],
        sensitive: IntArray,
        guarantee: Guarantee,
        secret: RandomSource,
        options: Mapping[str, Any] | None = None,
        needed: int | None = None,
    ) -> IntArray:
        """The group of every row, -1 for those left out; see `place`."""
        return self.place(seen, sensitive, guarantee, secret, options, needed).groups

    def place(
        self,
        seen: Sequence[Any],
        sensitive: IntArray,
        guarantee: Guarantee,
        secret: RandomSource,
        options: Mapping[str, Any] | None = None,
        needed: int | None = None,
    ) -> Placed:
        """The group of every row, -1 for those left out, and the cells that they were cut into, if they were.

        If only the first so many rows are `needed`, groups without one of them may be left out, too.
        Kernels are compiled when first used, so the import waits until here.
        """
        chosen = {name: value for name, value in (options or {}).items() if name in self.options}
        if self.selects:
            chosen["needed"] = needed
        module = import_module(f"discreet.partition.{self.home}.{self.name}")
        if self.keeps and guarantee.harmless is not None:  # it does not ask the rule, which knows them
            spread = import_module("discreet.partition.spread")
            return Placed(spread.around(module.assign, sensitive, guarantee, secret))
        found: IntArray | Placed = module.assign(seen, sensitive, guarantee, secret, **chosen)
        return found if isinstance(found, Placed) else Placed(found)


GONE = {"min_max_exact": "min_max"}  # what a policy may still name, and what to use instead
RANGES = ("min_sum", "min_max", "max_groups", "tightest", "random")
BLIND = {"cuts": ("blind", "fitted")}  # whether cuts are made without looking at the values of the halves
MEDIANS = {"dimension": ("widest", "round_robin"), "median": ("strict", "relaxed")}
PARTITIONS = {
    partition.name: partition
    for partition in (
        Partition("anatomize", "histogram", keeps=("k", "l", "distinct_l"), needs="l"),
        Partition("deal", "histogram", people=True, randomness="dealt"),
        Partition(
            "mixed",
            "histogram",
            options={"rounds": NUMBER, "cells": CELLS},
            randomness="dealt",
            estimator="design",
        ),
        Partition(
            "local",
            "spatial",
            sees="codes",
            people=True,
            options=BLIND,
            randomness="near",
        ),
        Partition(
            "cluster",
            "spatial.cluster",
            sees="space",
            options={**BLIND, "boundary": ("moved", "fixed"), "tries": NUMBER},
            randomness="near",
        ),
        Partition("mondrian", "spatial.mondrian", sees="space", options={**BLIND, **MEDIANS}, randomness="near"),
        Partition("compact", "spatial.compact", sees="space", options=BLIND, randomness="near"),
        Partition("topdown", "spatial.topdown", sees="space", selects=True, options=BLIND, randomness="near"),
        Partition(
            "full_domain",
            "spatial.full_domain",
            sees="hierarchies",
            options={
                "cuts": ("fitted", "blind"),
                "loss": ("ncp", "lm", "geometric", "discernibility"),
                "suppression": SHARE,
            },
            randomness="near",
        ),
        *(Partition(name, "ranges", keeps=("k", "e"), needs="e") for name in RANGES),
    )
}
