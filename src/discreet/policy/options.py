"""Find mistakes in options: those that nobody knows, whose value is none of theirs, or that a command would ignore."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from discreet.errors import Mistake
from discreet.partition import CELLS, NUMBER, PARTITIONS, SHARE
from discreet.policy.meant import Meant
from discreet.policy.method import SHOWN_BY_A_VAULT, is_number, shown
from discreet.publication import PUBLICATIONS
from discreet.words import nearest

Known = Mapping[str, tuple[str, ...] | str]
# A policy does not know what it will be used for: these are options of a vault, and of nothing else.
OF_A_VAULT: Known = {"withheld": SHARE, "growth": ("settle", "insert"), "lots": NUMBER}
WHOLE = {NUMBER: (1, 100), CELLS: (2, 1000)}


def option_mistakes(meant: Meant) -> Iterator[Mistake]:
    """Every option that does not belong to the publication, the partition, or a vault; and every wrong value."""
    known = _known(meant)
    if meant.person is not None and "cuts" in (meant.options or {}):
        yield Mistake("options.cuts", "does nothing with `person`, whose cuts are always blind; leave it out")
    for key, value in (meant.options or {}).items():
        if key not in known:
            expected = nearest(str(key), known) if known else f"`{meant.grouping}` has none"
            yield Mistake(f"options.{key}", f"is not an option here; {expected}")
            continue
        values = known[key]
        if not isinstance(values, str):
            if value not in values:
                yield Mistake(f"options.{key}", f"got {shown(value)}; {nearest(str(value), values)}")
        elif not _within(value, values):
            yield Mistake(f"options.{key}", f"expected {values}, got {shown(value)}")


def ignored_mistakes(options: Mapping[str, Any]) -> Iterator[Mistake]:
    """Options that only a vault would use."""
    for key in options:
        if key in OF_A_VAULT:
            yield Mistake(f"options.{key}", "is an option of a vault, and does nothing here; leave it out")


def _known(meant: Meant) -> Known:
    """The options that may be meant: all, where the publication or the partition cannot be told."""
    publications = [meant.publication] if meant.publication is not None else list(PUBLICATIONS)
    partitions = [meant.grouping] if meant.grouping is not None else list(PARTITIONS)
    found: dict[str, tuple[str, ...] | str] = {}
    for partition in partitions:
        found.update(PARTITIONS[partition].options if partition in PARTITIONS else {})
    for publication in publications:
        found.update(PUBLICATIONS[publication].options)
        found.update(OF_A_VAULT if publication == SHOWN_BY_A_VAULT else {})
    return found


def _within(value: Any, values: str) -> bool:
    if values in WHOLE:
        least, most = WHOLE[values]
        return is_number(value) and least <= value <= most
    return is_number(value, whole=False) and 0 <= value <= 1
