"""A publication: all that the private side must know to check a policy for it and to make its files, as one object."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from discreet.errors import Mistake
from discreet.guarantees import Guarantee, gaps, sentences
from discreet.words import counted

if TYPE_CHECKING:
    from discreet.policy import Policy
    from discreet.policy.meant import Meant
    from discreet.publication.draft import Draft, Grouped, Prepared
    from discreet.release.manifest import Promise
    from discreet.release.write import FileToWrite


def by_ranges(guarantee: Mapping[str, Any]) -> str:
    """The partition that fits a guarantee where values are told of each group."""
    return "min_sum" if "e" in guarantee and guarantee.keys() <= {"k", "e"} else "local"


def by_partition(prepared: Prepared) -> Grouped:
    """The groups that the policy's partition makes."""
    from discreet.publication.group import by_partition as group

    return group(prepared)


def together(policy: Policy) -> Sequence[Sequence[str]]:
    """All quasi-identifiers, as they stood on a row of the table."""
    return (policy.quasi,)


def in_groups(promise: Promise) -> Iterator[str]:
    """How large a release is, and what it promises of its groups."""
    of_people = "" if promise.people is None else f" of {counted(promise.people, 'person', 'people')}"
    yield f"{promise.rows:,} rows{of_people} in {promise.groups:,} groups, verified"
    several = promise.people is not None or promise.lots is not None
    told = sentences(promise.guarantee, promise.spared, several=several)
    yield from (f"promised: {sentence}" for sentence in told)
    yield from (f"not promised: {gap}" for gap in gaps(promise.guarantee, promise.spared))
    if promise.largest_share is not None:
        yield f"the largest share of one value: {promise.told_share()}"
    if promise.sensitive is None:
        yield "not promised: that the people of a group differ; where they do not, their values are known"


@dataclass(frozen=True, slots=True)
class Publication:
    """How one publication is made. What is left out is as of most publications.

    `check` finds mistakes in a policy that may have others; `options` are as a partition's, and
    `partition` is what "auto" stands for. `files` are the data files to write, `members` what the manifest says of
    this publication alone, and `told` what the steward is told of a release, the first line after its name.
    """

    files: Callable[[Draft], Sequence[FileToWrite]]
    check: Callable[[Meant], Iterator[Mistake]] = lambda _: iter(())
    options: Mapping[str, tuple[str, ...] | str] = field(default_factory=dict)
    partition: Callable[[Mapping[str, Any]], str] = by_ranges
    compared: tuple[str, ...] = ()  # the partitions that are compared with others' unless methods are named
    ranges: tuple[str, ...] = ()  # and those where ranges are promised
    group: Callable[[Prepared], Grouped] = by_partition
    of_values: Callable[[Policy, Guarantee], Guarantee] = lambda _, guarantee: guarantee
    blocks: Callable[[Policy], Sequence[Sequence[str]]] = together  # what stands on one row; nothing links two blocks
    members: Callable[[Draft], Mapping[str, Any]] = lambda _: {}
    told: Callable[[Promise], Iterator[str]] = in_groups
    boxed: bool = False  # whether quasi-identifiers are shown as boxes
    numeric: bool = False  # whether sensitive values must have an order and distances
    grouped: bool = True  # false for a baseline: it forms no groups, and promises nothing
    people: bool = False  # whether it can show people who have several rows
    needs_sensitive: bool = True
    needs_public: bool = False
