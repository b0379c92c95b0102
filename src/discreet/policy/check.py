"""Find every mistake in a policy, and every column that does not fit it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discreet.errors import Mistake
from discreet.guarantees import PROMISES
from discreet.partition import GONE, PARTITIONS, Partition
from discreet.policy.method import is_number, method_mistakes, shown
from discreet.publication import PUBLICATIONS
from discreet.words import nearest

if TYPE_CHECKING:
    from discreet.policy.policy import Policy

KEYS = (
    *("name", "identifiers", "quasi", "sensitive", "drop"),
    *("guarantee", "partition", "publication", "missing_sensitive"),
    *("hierarchies", "ordered", "options", "join"),
)
MEASURABLE = {"integer", "float", "decimal", "date", "timestamp"}
WORDS: dict[str, Sequence[str]] = {
    "partition": ("auto", *PARTITIONS),
    "publication": tuple(PUBLICATIONS),
    "missing_sensitive": ("error", "value", "withhold"),
}


def mistakes(values: Mapping[str, Any]) -> list[Mistake]:
    """Every mistake in the keys and values of a policy."""
    found = [*_keys(values), *_texts(values), *_roles(values), *_guarantee(values), *_method(values)]
    return found or list(method_mistakes(values))


def _keys(values: Mapping[str, Any]) -> Iterator[Mistake]:
    for key in values:
        if key not in KEYS:
            yield Mistake(key, f"is not a key of a policy; {nearest(key, KEYS)}")
    if "quasi" not in values:
        yield Mistake("quasi", "is missing")
    if "sensitive" not in values:
        yield from _without_sensitive(values)
    if "guarantee" not in values:
        yield Mistake("guarantee", "is missing")


def _without_sensitive(values: Mapping[str, Any]) -> Iterator[Mistake]:
    """Where every column is sensitive, groups can only be large."""
    if values.get("publication") != "full_permutation":
        yield Mistake("sensitive", "is missing: only the publication `full_permutation` can do without")
        return
    guarantee = values.get("guarantee", {})
    if isinstance(guarantee, Mapping) and any(name in PROMISES and name != "k" for name in guarantee):
        what = "without `sensitive`, only the size of groups can be promised"
        yield Mistake("guarantee", f"{what}; write {{ k = 5 }}, or name the sensitive column")
    if values.get("missing_sensitive", "error") != "error":
        yield Mistake("missing_sensitive", "there is no `sensitive` column; leave it out")


def _texts(values: Mapping[str, Any]) -> Iterator[Mistake]:
    for key in ("identifiers", "quasi", "drop", "ordered"):
        value = values.get(key, ())
        if key == "drop" and value == "rest":
            continue
        if isinstance(value, str) or not _is_texts(value):
            also = ' or "rest"' if key == "drop" else ""
            yield Mistake(key, f"expected a list of column names{also}, got {shown(value)}")
    if not values.get("quasi", ("",)):
        yield Mistake("quasi", "expected at least one column, got none")
    for key in ("sensitive", "name", "join"):
        if key in values and not (isinstance(values[key], str) and values[key]):
            yield Mistake(key, f"expected a text, got {shown(values[key])}")
    for key, words in WORDS.items():
        value = values.get(key, words[0])
        if value not in words and not (key == "partition" and _ungrouped(values)):
            gone = f"`{value}` is gone; use `{GONE[value]}`" if key == "partition" and str(value) in GONE else None
            yield Mistake(key, gone or f"got {shown(value)}; {nearest(str(value), words)}")


def _roles(values: Mapping[str, Any]) -> Iterator[Mistake]:
    seen: dict[str, str] = {}
    for key in ("identifiers", "quasi", "sensitive", "drop"):
        value = values.get(key, ())
        columns = [value] if key == "sensitive" else value
        if not _is_texts(columns) or value == "rest":
            continue
        for column in columns:
            if column in seen:
                twice = "twice" if seen[column] == key else f"in `{seen[column]}` too; a column has one role"
                yield Mistake(key, f"the column `{column}` stands {twice}")
            seen.setdefault(column, key)


def _guarantee(values: Mapping[str, Any]) -> Iterator[Mistake]:
    guarantee = values.get("guarantee", {})
    if not isinstance(guarantee, Mapping) or ("guarantee" in values and not guarantee):
        yield Mistake("guarantee", f"expected a table like {{ l = 4 }}, got {shown(guarantee)}")
        return
    for name, threshold in guarantee.items():
        if not isinstance(name, str) or name not in PROMISES:
            yield Mistake(f"guarantee.{name}", f"is not a guarantee; {nearest(str(name), PROMISES)}")
        elif not is_number(threshold, whole=name != "e"):
            expected = "a number" if name == "e" else "a whole number"
            yield Mistake(f"guarantee.{name}", f"expected {expected}, got {shown(threshold)}")
        elif threshold < PROMISES[name].least:
            least = PROMISES[name].least
            yield Mistake(f"guarantee.{name}", f"expected {least} or more, got {threshold}: less promises nothing")


def _method(values: Mapping[str, Any]) -> Iterator[Mistake]:
    """Combinations that make no sense."""
    guarantee = values.get("guarantee", {})
    if not isinstance(guarantee, Mapping):
        return
    if _ungrouped(values):
        yield from _windows(values, guarantee)
    elif "e" in guarantee and "k" not in guarantee:
        yield Mistake("guarantee.e", "is promised together with k, the number of distinct values; add it")
    if "e" in guarantee and values.get("missing_sensitive") == "value":
        yield Mistake("missing_sensitive", 'a missing value has no place in a range; use "withhold" or leave e out')
    partition = PARTITIONS.get(str(values.get("partition")))
    if partition is not None and not _ungrouped(values):
        yield from _partition(partition, guarantee)


def _windows(values: Mapping[str, Any], guarantee: Mapping[str, Any]) -> Iterator[Mistake]:
    """What does not go with a publication that swaps values inside windows."""
    name = values["publication"]
    if guarantee and guarantee.keys() != {"k", "e"}:
        what = "sizes its windows by k and e, by both and nothing else, and promises neither"
        yield Mistake("guarantee", f"`{name}` {what}; write {{ k = 4, e = 100 }}")
    if values.get("partition", "auto") not in ("auto", "none"):
        yield Mistake("partition", f"`{name}` forms no groups; leave partition out")


def _partition(partition: Partition, guarantee: Mapping[str, Any]) -> Iterator[Mistake]:
    """Promises that a partition cannot do without, or cannot keep."""
    others = "use `deal` or `local`"
    if partition.needs is not None and partition.needs not in guarantee:
        yield Mistake("partition", f"`{partition.name}` needs the guarantee `{partition.needs}`; add it, or {others}")
    for name in guarantee if partition.keeps else ():
        if name in PROMISES and name not in partition.keeps:
            yield Mistake("partition", f"`{partition.name}` cannot keep the promise `{name}`; {others}")
    rows = guarantee.get("l") if partition.name == "anatomize" else None
    if is_number(rows) and any(is_number(threshold) and threshold > rows for threshold in guarantee.values()):
        what = f"makes groups of l = {rows} rows, too few for the other promises"
        yield Mistake("partition", f"`{partition.name}` {what}; {others}")


def columns_mistakes(policy: Policy, columns: Mapping[str, Any]) -> list[Mistake]:
    """Every column that a policy names and the table lacks, or the table has and the policy leaves out."""
    named: list[tuple[str, str]] = [
        *(("identifiers", name) for name in policy.identifiers),
        *(("quasi", name) for name in policy.quasi),
        *(("sensitive", name) for name in (policy.sensitive,) if name is not None),
        *(("drop", name) for name in (() if policy.drop == "rest" else policy.drop)),
    ]
    found = [
        Mistake(role, f"the table has no column `{name}`; {nearest(name, columns)}")
        for role, name in named
        if name not in columns
    ]
    if policy.drop != "rest":
        listed = {name for _, name in named}
        found += [
            Mistake("drop", f'the column `{name}` has no role; give it one, list it in `drop`, or set drop = "rest"')
            for name in columns
            if name not in listed
        ]
    sensitive = columns.get(policy.sensitive or "")
    held = f"`{policy.sensitive}` holds {sensitive.type}" if sensitive is not None else ""
    kind = sensitive.kind if sensitive is not None else None
    if kind is not None and kind not in MEASURABLE:
        if PUBLICATIONS[policy.publication].numeric:
            found.append(
                Mistake("publication", f"`{policy.publication}` needs numbers or dates, but {held}; use `anatomy`")
            )
        if "e" in policy.guarantee:
            found.append(Mistake("guarantee.e", f"a range needs numbers or dates, but {held}; use `l` or `distinct_l`"))
    found += [
        Mistake(role, f"the column `{name}` has the type {columns[name].type}, which cannot be published; drop it")
        for role, name in named
        if role in {"quasi", "sensitive"} and name in columns and columns[name].kind is None
    ]
    return found


def _ungrouped(values: Mapping[str, Any]) -> bool:
    """Whether the publication forms no groups."""
    publication = PUBLICATIONS.get(str(values.get("publication")))
    return publication is not None and not publication.grouped


def _is_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) and item for item in value)
