"""Find mistakes in how a release is to be made: keys that do not go together, hierarchies, options, the join.

Every check looks only at what it needs, and leaves alone what cannot be told (see `meant`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from discreet.errors import Mistake
from discreet.guarantees import PROMISES
from discreet.partition import PARTITIONS, Partition
from discreet.policy.meant import Meant
from discreet.words import nearest


def method_mistakes(meant: Meant) -> Iterator[Mistake]:
    """Combinations that make no sense."""
    guarantee = meant.guarantee or {}
    if meant.sensitive is None and meant.publication == "full_permutation":
        yield from _without_sensitive(meant, guarantee)
    if not meant.grouped:
        yield from _windows(meant, guarantee)
    elif "e" in guarantee and "k" not in guarantee:
        yield Mistake("guarantee.e", "is promised together with k, the number of distinct values; add it")
    if "e" in guarantee and meant.missing_sensitive == "value":
        yield Mistake("missing_sensitive", 'a missing value has no place in a range; use "withhold" or leave e out')
    partition = PARTITIONS.get(meant.partition or "") if meant.grouped else None
    if partition is not None and guarantee:
        yield from _partition(partition, guarantee)
    yield from _hierarchies(meant)
    yield from _trees(meant, partition)
    yield from _join(meant)


def _without_sensitive(meant: Meant, guarantee: Mapping[str, Any]) -> Iterator[Mistake]:
    """Where every column is sensitive, groups can only be large."""
    if any(name in PROMISES and name != "k" for name in guarantee):
        what = "without `sensitive`, only the size of groups can be promised"
        yield Mistake("guarantee", f"{what}; write {{ k = 5 }}, or name the sensitive column")
    if meant.missing_sensitive not in ("error", None):
        yield Mistake("missing_sensitive", "there is no `sensitive` column; leave it out")


def _windows(meant: Meant, guarantee: Mapping[str, Any]) -> Iterator[Mistake]:
    """What does not go with a publication that swaps values inside windows."""
    if guarantee and guarantee.keys() != {"k", "e"}:
        what = "sizes its windows by k and e, by both and nothing else, and promises neither"
        yield Mistake("guarantee", f"`{meant.publication}` {what}; write {{ k = 4, e = 100 }}")


def _partition(partition: Partition, guarantee: Mapping[str, Any]) -> Iterator[Mistake]:
    """Promises that a partition cannot do without, or cannot keep."""
    others = "use `deal` or `local`"
    if partition.needs is not None and partition.needs not in guarantee:
        yield Mistake("partition", f"`{partition.name}` needs the guarantee `{partition.needs}`; add it, or {others}")
    for name in guarantee if partition.keeps else ():
        if name in PROMISES and name not in partition.keeps:
            yield Mistake("partition", f"`{partition.name}` cannot keep the promise `{name}`; {others}")
    sound = {name: least for name, least in guarantee.items() if name in partition.keeps and is_number(least)}
    rows = sound.get("l", 0) if partition.name == "anatomize" else 0
    if rows >= PROMISES["l"].least and any(threshold > rows for threshold in sound.values()):
        what = f"makes groups of l = {rows} rows, too few for the other promises"
        yield Mistake("partition", f"`{partition.name}` {what}; {others}")


def _hierarchies(meant: Meant) -> Iterator[Mistake]:
    hierarchies, ordered = meant.hierarchies or {}, meant.ordered or ()
    for key, names in (("hierarchies", hierarchies), ("ordered", ordered)):
        for name in names:
            if meant.quasi is not None and name not in meant.quasi:
                yield Mistake(key, f"`{name}` is no quasi-identifier; {nearest(str(name), meant.quasi)}")
    for name in ordered:
        if name in hierarchies:
            yield Mistake("ordered", f"`{name}` has a hierarchy, which decides; take it out of one of them")
    for name, spec in hierarchies.items():
        if not isinstance(spec, str | Mapping):
            yield Mistake(f"hierarchies.{name}", f"expected a file or a table, got {shown(spec)}")


def _trees(meant: Meant, partition: Partition | None) -> Iterator[Mistake]:
    """Quasi-identifiers without a hierarchy where one is needed."""
    if partition is None or not partition.trees or meant.hierarchies is None or meant.ordered is None:
        return
    for name in meant.quasi or ():
        if name not in meant.hierarchies and name not in meant.ordered:
            what = f"`{partition.name}` needs a hierarchy of every quasi-identifier, and `{name}` has none"
            yield Mistake("hierarchies", f"{what}; add one, or list it in `ordered` to halve its order")


def _join(meant: Meant) -> Iterator[Mistake]:
    """What publishing together with a public table needs."""
    if meant.publication != "join":
        if meant.join is not None and meant.publication is not None:
            yield Mistake("join", "belongs to the publication `join`")
        return
    if meant.join is None:
        yield Mistake("join", "is missing: the identifier by which rows of the public table are found")
    elif meant.join and meant.identifiers is not None and meant.join not in meant.identifiers:
        yield Mistake("join", f"`{meant.join}` is not among the `identifiers`")
    if meant.guarantee is not None and ("k" not in meant.guarantee or "e" in meant.guarantee):
        yield Mistake("guarantee", "a join promises k, and k alone or with l or distinct_l; write { k = 5 }")
    if meant.partition not in {"auto", "mondrian", "topdown", None}:
        yield Mistake("partition", "a join is made with `mondrian` or `topdown`")


def is_number(value: Any, *, whole: bool = True) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (not whole and isinstance(value, float) and math.isfinite(value))


def shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"a {type(value).__name__}"
