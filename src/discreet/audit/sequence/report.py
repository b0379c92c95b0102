"""What the cross-release auditor tells: of each release, of each pair of them, and of the whole chain."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Channel:
    """One set that is not diverse: in which groups of which releases it was found, and the values that it leaves.

    Releases are counted from 1, groups are numbered as in the files. If it takes knowing in which release of a chain
    somebody first was, that is `since`.
    """

    kind: str
    releases: tuple[int, ...]
    groups: tuple[int, ...]
    values: tuple[tuple[Any, int], ...]
    posterior: float
    since: int | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two releases: how many pairs of groups are compatible, channels by kind, vulnerable rows of the later one."""

    earlier: int
    later: int
    compatible: int
    channels: dict[str, int]
    vulnerable: int
    posterior: float


@dataclass(frozen=True, slots=True)
class Line:
    """The whole chain: what it tells of rows of the last release; `complete` unless there were too many lines."""

    steps: int
    complete: bool
    channels: dict[str, int]
    vulnerable: int
    posterior: float


@dataclass(frozen=True, slots=True)
class Version:
    """One release: its rows, and how many of them are vulnerable to those who also hold the ones before it.

    Pairs and chains count, of each release alike: it is what an audit that ends with this release says of it.
    `by_pairs` are those that pairs of releases show, which is what Byun et al. count.
    """

    release: Path
    rows: int
    groups: int
    vulnerable: int
    by_pairs: int
    posterior: float


@dataclass(frozen=True, slots=True)
class Inferences:
    """What a sequence of releases tells together, and the surest `channels`. A posterior is the largest of any set."""

    guarantee: dict[str, int | float]
    insertions: str
    releases: tuple[Version, ...]
    pairs: tuple[Pair, ...]
    chain: Line
    channels: tuple[Channel, ...]

    @property
    def ok(self) -> bool:
        """Whether nobody learns more from all of them than from one; not if there was too much to look at."""
        channels = (self.chain.channels, *(pair.channels for pair in self.pairs))
        found = any(sum(of.values()) for of in channels) or any(of.vulnerable for of in self.releases)
        return self.chain.complete and not found

    @property
    def vulnerable(self) -> int:
        """How many rows of the last release are vulnerable."""
        return self.releases[-1].vulnerable
