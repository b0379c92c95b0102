"""Find mistakes in how a release is to be made: hierarchies, orders, options, and the join with a public table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from discreet.errors import Mistake
from discreet.partition import NUMBER, PARTITIONS
from discreet.publication import PUBLICATIONS
from discreet.words import nearest


def method_mistakes(values: Mapping[str, Any]) -> Iterator[Mistake]:
    """Every mistake of this kind, in a policy that has no other."""
    tables = [key for key in ("hierarchies", "options") if not isinstance(values.get(key, {}), Mapping)]
    yield from (Mistake(key, f"expected a table, got {shown(values[key])}") for key in tables)
    if not tables:
        yield from _hierarchies(values)
        yield from _trees(values)
        yield from _options(values)
        yield from _join(values)


def _hierarchies(values: Mapping[str, Any]) -> Iterator[Mistake]:
    quasi, hierarchies, ordered = list(values["quasi"]), values.get("hierarchies", {}), values.get("ordered", ())
    for key, names in (("hierarchies", hierarchies), ("ordered", ordered)):
        for name in names:
            if name not in quasi:
                yield Mistake(key, f"`{name}` is no quasi-identifier; {nearest(str(name), quasi)}")
    for name in ordered:
        if name in hierarchies:
            yield Mistake("ordered", f"`{name}` has a hierarchy, which decides; take it out of one of them")
    for name, spec in hierarchies.items():
        if not isinstance(spec, str | Mapping):
            yield Mistake(f"hierarchies.{name}", f"expected a file or a table, got {shown(spec)}")


def _trees(values: Mapping[str, Any]) -> Iterator[Mistake]:
    """Quasi-identifiers without a hierarchy where one is needed."""
    partition = PARTITIONS.get(str(values.get("partition")))
    if partition is None or not partition.trees:
        return
    for name in values["quasi"]:
        if name not in values.get("hierarchies", {}) and name not in values.get("ordered", ()):
            what = f"`{partition.name}` needs a hierarchy of every quasi-identifier, and `{name}` has none"
            yield Mistake("hierarchies", f"{what}; add one, or list it in `ordered` to halve its order")


def _options(values: Mapping[str, Any]) -> Iterator[Mistake]:
    publication = PUBLICATIONS.get(values.get("publication", "anatomy"))
    name = grouping(values.get("publication", "anatomy"), values.get("partition", "auto"), values["guarantee"])
    partition = PARTITIONS.get(str(name))
    known = {**(partition.options if partition else {}), **(publication.options if publication else {})}
    for key, value in values.get("options", {}).items():
        if key not in known:
            expected = nearest(str(key), known) if known else f"`{name}` has none"
            yield Mistake(f"options.{key}", f"is not an option here; {expected}")
        elif known[key] == NUMBER:
            if not is_number(value) or not 1 <= value <= 100:
                yield Mistake(f"options.{key}", f"expected {known[key]}, got {shown(value)}")
        elif isinstance(known[key], str):
            if not is_number(value, whole=False) or not 0 <= value <= 1:
                yield Mistake(f"options.{key}", f"expected {known[key]}, got {shown(value)}")
        elif value not in known[key]:
            yield Mistake(f"options.{key}", f"got {shown(value)}; {nearest(str(value), known[key])}")


def _join(values: Mapping[str, Any]) -> Iterator[Mistake]:
    """What publishing together with a public table needs."""
    joins = values.get("publication") == "join"
    if "join" in values and not joins:
        yield Mistake("join", "belongs to the publication `join`")
    if not joins:
        return
    if "join" not in values:
        yield Mistake("join", "is missing: the identifier by which rows of the public table are found")
    elif values["join"] not in values.get("identifiers", ()):
        yield Mistake("join", f"`{values['join']}` is not among the `identifiers`")
    if "k" not in values["guarantee"] or "e" in values["guarantee"]:
        yield Mistake("guarantee", "a join promises k, and k alone or with l or distinct_l; write { k = 5 }")
    if values.get("partition", "auto") not in {"auto", "mondrian", "topdown"}:
        yield Mistake("partition", "a join is made with `mondrian` or `topdown`")


def grouping(publication: str, partition: str, guarantee: Mapping[str, Any]) -> str:
    """A partition by its own name: what "auto" stands for, and "none" where there are no groups."""
    if publication == "swap":
        return "none"
    if partition != "auto":
        return partition
    if publication in {"generalization", "join"}:
        return "mondrian"
    if publication == "full_permutation":
        return "cluster"
    return "min_sum" if "e" in guarantee and guarantee.keys() <= {"k", "e"} else "local"


def is_number(value: Any, *, whole: bool = True) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (not whole and isinstance(value, float) and math.isfinite(value))


def shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"a {type(value).__name__}"
