"""What the auditor of releases that show rows tells: each release alone, all of them together, and the truth."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Alone:
    """One release: its rows and groups, what it promises, and the largest share that a value has in a group."""

    release: Path
    rows: int
    groups: int
    guarantee: dict[str, int | float]
    posterior: float


@dataclass(frozen=True, slots=True)
class Score:
    """Held against the private table: how many pinned people have the value, and how many of all the likeliest one."""

    pinned: int
    guessed: int


@dataclass(frozen=True, slots=True)
class Composed:
    """What several releases tell together of the `people` who are recognised in at least two of them.

    `pinned` people have one value left, `vulnerable` ones less than all releases promise (`promise`: the weakest
    threshold of each kind). `posterior` is the largest probability of a value of anybody, `guess` the average of
    everybody's likeliest value; what ends in `_alone` is what the most telling single release gives. For `impossible`
    people no value is left: they are others in the other release, or their value changed. `span` is the shortest range
    of what is left of anybody, where a range is promised. `counted` says whether heads were counted too, which needs
    `same_people`. `linked` has a row per combination of the quasi-identifiers that are shown by all.
    """

    promise: dict[str, int | float]
    same_people: bool
    quasi: tuple[str, ...]
    releases: tuple[Alone, ...]
    people: int
    pinned: int
    pinned_alone: int
    vulnerable: int
    posterior: float
    posterior_alone: float
    guess: float
    guess_alone: float
    impossible: int
    span: float | None
    counted: bool
    truth: Score | None
    linked: pa.Table = field(repr=False, compare=False)

    @property
    def ok(self) -> bool:
        """Whether of nobody more is told than all releases promise: where they differ, than the weakest."""
        return not self.vulnerable
