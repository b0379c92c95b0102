"""A layout: all that anyone who holds a release must know of its publication, as one object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from pydantic import BaseModel
from sqlglot import exp

from discreet.release.layouts.file import File
from discreet.release.manifest import Manifest, Promise

if TYPE_CHECKING:
    from discreet.engines import Engine
    from discreet.release.verify.check import Check

# What a manifest says of some publications only, and who says it wrongly.
ALONE = {
    "window": "the member `window` must be there for `swap`, and for no other publication",
    "join": "the member `join` must be there for `join`, and for no other publication",
    "boxes": "the member `boxes` must be there, an entry per quasi-identifier, for publications of boxes and no other",
}
MISNAMED = "a column that the release adds, or its partition, does not have the name that `discreet` gives it"
# Files laid side by side, the columns their rows are sorted by, and whether no two rows agree in them.
Order: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], bool]
# How it is known which rows of a group match a condition: they are counted; only the blocks of columns are; only
# what a box covers; or values may stand on other rows of near rank.
Matching: TypeAlias = Literal["counted", "margins", "boxes", "swapped"]


@dataclass(frozen=True, slots=True)
class Tally:
    """How many people and groups the sensitive values are of, and what is promised of those groups.

    They are the groups of rows, unless values stand `apart` from them in groups of their own.
    """

    people: int
    groups: int
    guarantee: Mapping[str, int | float]
    apart: bool = False


def _tally(promise: Promise) -> Tally:
    return Tally(promise.rows, promise.groups, promise.guarantee)


def _together(promise: Promise) -> tuple[tuple[str, ...], ...]:
    return (promise.quasi,)


@dataclass(frozen=True, slots=True)
class Layout:
    """How one publication lays out a release. What is left out is as of most publications.

    `relations` are the queries that read the files, each there as `NAME file`: `qit`, one row per person with the
    quasi-identifiers, or what a box shows of them, and the group; and `st`, how many people (`n`) of each group
    (`grp`) hold each sensitive value (`value`).
    """

    files: Callable[[Promise], dict[str, File]]
    orders: Callable[[Promise], list[Order]]
    relations: Callable[[Promise], dict[str, exp.Select]]
    readme: Callable[[Manifest], str]
    matching: Matching = "counted"
    # The quasi-identifiers that stand on one row as they did in the table; inside a group nothing links two blocks.
    blocks: Callable[[Promise], tuple[tuple[str, ...], ...]] = _together
    tally: Callable[[Promise], Tally] = _tally
    in_a_file: bool = False  # whether a row of `qit` stands in one file as it is, with its group
    on_spark: bool = True  # whether it can be verified in Spark
    promises: bool = True  # false for a baseline, whose guarantee is empty
    people: bool = False  # whether it can show people who have several rows
    needs_sensitive: bool = True
    members: tuple[str, ...] = ()  # of `ALONE`, what its manifest has
    member: type[BaseModel] | None = None  # what its manifest has under the name of the publication
    names: Callable[[Promise], Iterable[tuple[str, str]]] = (
        lambda _: ()
    )  # its own columns: the usual name, and as it is
    types: Callable[[Promise], Mapping[str, str]] = lambda _: {}  # of columns that show something otherwise
    faults: Callable[[Promise], Iterator[str]] = lambda _: iter(())  # what is wrong with what the manifest says of it
    checks: Callable[[Engine, Promise], Iterator[Check]] = lambda *_: iter(())  # of the loaded files, by `verify`
