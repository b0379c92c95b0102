"""Find mistakes in how a release is to be made: keys that do not go together, hierarchies, the publication's own.

Every check looks only at what it needs, and leaves alone what cannot be told (see `meant`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from discreet.errors import Mistake
from discreet.guarantees import PROMISES
from discreet.partition import PARTITIONS, Partition
from discreet.policy.meant import Meant
from discreet.publication import KEYS, PUBLICATIONS
from discreet.words import nearest

SHOWN_BY_A_VAULT = "generalization"


def method_mistakes(meant: Meant) -> Iterator[Mistake]:
    """Combinations that make no sense."""
    guarantee = meant.guarantee or {}
    for name, promise in ((name, PROMISES[name]) for name in guarantee if name in PROMISES):
        for other, what in promise.together.items():
            if meant.grouped and other not in guarantee:
                yield Mistake(f"guarantee.{name}", f"is promised together with {other}, {what}; add it")
        if "scale" in promise.needs and meant.missing_sensitive == "value":
            what = f'a missing value has no place in a range; use "withhold" or leave {name} out'
            yield Mistake("missing_sensitive", what)
        if "population" in promise.needs and _is_share((meant.options or {}).get("suppression", 0)):
            what = f"`{name}` compares groups with the rows that are published, so none may be left out on the way"
            yield Mistake("options.suppression", f"{what}; set it to 0")
    yield from _harmless(meant)
    partition = PARTITIONS.get(meant.partition or "") if meant.grouped else None
    if partition is not None and guarantee:
        yield from _partition(partition, guarantee)
    yield from _people(meant)
    yield from _hierarchies(meant)
    yield from _trees(meant, partition)
    yield from _publication(meant)


def _harmless(meant: Meant) -> Iterator[Mistake]:
    """Harmless values where nothing would come of them."""
    publication = PUBLICATIONS.get(meant.publication or "")
    if not meant.harmless or publication is None:
        return
    if not publication.grouped or publication.needs_public:
        yield Mistake(
            "harmless", f"`{meant.publication}` protects every value alike; leave `harmless` out, or use `anatomy`"
        )
    elif _fitted(meant):
        what = "refuses cuts by what rows hold, and what that tells is not measured where values are harmless"
        yield Mistake("harmless", f"`{meant.grouping}` {what}; use `deal`, or blind cuts")
    elif meant.person is not None:
        yield Mistake("harmless", "with `person`, every value is protected alike; leave `harmless` out")
    elif meant.sensitive is None:
        yield Mistake("harmless", "there is no `sensitive` column; leave it out")
    elif meant.guarantee and not any(PROMISES[name].spares for name in meant.guarantee if name in PROMISES):
        told = " and ".join(f"`{name}`" for name in meant.guarantee)
        what = f"{told} would promise the same without it; leave it out, or promise `l`, `distinct_l`, or `k` and `e`"
        yield Mistake("harmless", what)


def _fitted(meant: Meant) -> bool:
    """Whether cuts are fitted to the values of the halves, by choice or because the partition does so unasked."""
    partition = PARTITIONS.get(meant.grouping or "")
    return partition is not None and partition.cuts(meant.options or {}) == "fitted"


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
    if rows >= PROMISES["l"].weakest and any(threshold > rows for threshold in sound.values()):
        what = f"makes groups of l = {rows} rows, too few for the other promises"
        yield Mistake("partition", f"`{partition.name}` {what}; {others}")


def _people(meant: Meant) -> Iterator[Mistake]:
    """What cannot be had, or not yet, where people have several rows; boxes of them may be meant for a vault."""
    if meant.person is not None and meant.publication != SHOWN_BY_A_VAULT:
        yield from outside_a_vault(meant)


def outside_a_vault(meant: Meant) -> Iterator[Mistake]:
    """What takes every row for a person, of the ways in which a table is published."""
    if meant.person is not None:
        chosen = ("publication", meant.publication, PUBLICATIONS), ("partition", meant.grouping, PARTITIONS)
        yield from _takes_rows((key, name or "", known) for key, name, known in chosen)


def _takes_rows(chosen: Iterable[tuple[str, str, Mapping[str, Any]]]) -> Iterator[Mistake]:
    for key, name, known in chosen:
        if name in known and not known[name].people:
            able = " or ".join(f"`{other}`" for other, each in known.items() if each.people)
            yield Mistake(
                key, f"`{name}` treats every row as a different person, but the policy has a `person`; use {able}"
            )


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
    if partition is None or partition.sees != "hierarchies" or meant.hierarchies is None or meant.ordered is None:
        return
    for name in meant.quasi or ():
        if name not in meant.hierarchies and name not in meant.ordered:
            what = f"`{partition.name}` needs a hierarchy of every quasi-identifier, and `{name}` has none"
            yield Mistake("hierarchies", f"{what}; add one, or list it in `ordered` to halve its order")


def _publication(meant: Meant) -> Iterator[Mistake]:
    """What does not go with the publication, and what goes with another one only."""
    if meant.publication is None:
        return
    for key, publication in KEYS.items():
        if getattr(meant, key) is not None and meant.publication != publication:
            yield Mistake(key, f"belongs to the publication `{publication}`")
    yield from PUBLICATIONS[meant.publication].check(meant)


def _is_share(value: Any) -> bool:
    return is_number(value, whole=False) and 0 < value <= 1


def is_number(value: Any, *, whole: bool = True) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (not whole and isinstance(value, float) and math.isfinite(value))


def shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"a {type(value).__name__}"
