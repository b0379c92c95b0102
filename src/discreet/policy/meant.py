"""What a policy means, as far as that can be told while it still has mistakes in it.

A misspelt key or word is taken for the one that it is nearest to, so that what depends on it is checked in the same go.
What cannot be read at all is None, and what depends on it is not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from discreet.partition import PARTITIONS
from discreet.publication import PUBLICATIONS
from discreet.values.written import CSV_KEYS, EXCEL_KEYS, csv_faults, excel_faults
from discreet.words import closest

Faults: TypeAlias = Callable[[Mapping[str, Any]], Iterable[tuple[str, str]]]

KEYS = (
    *("name", "identifiers", "person", "quasi", "sensitive", "drop"),
    *("guarantee", "partition", "publication", "missing_sensitive"),
    *("hierarchies", "ordered", "options", "join", "together", "accept", "harmless"),
    *("csv", "excel", "about"),
)
WORDS: dict[str, Sequence[str]] = {
    "partition": ("auto", *PARTITIONS),
    "publication": tuple(PUBLICATIONS),
    "missing_sensitive": ("error", "value", "withhold"),
}


@dataclass(frozen=True, slots=True)
class Meant:
    """The keys of a policy, each sound or None; `drop` is also None where the rest is dropped.

    A text that is not given is None, too, and one that cannot be read is empty.
    """

    quasi: tuple[str, ...] | None
    identifiers: tuple[str, ...] | None
    drop: tuple[str, ...] | None
    ordered: tuple[str, ...] | None
    sensitive: str | None
    person: str | None
    join: str | None
    together: tuple[tuple[str, ...], ...] | None
    partition: str | None
    publication: str | None
    missing_sensitive: str | None
    guarantee: Mapping[str, Any] | None
    harmless: tuple[Any, ...] | None
    hierarchies: Mapping[str, Any] | None
    options: Mapping[str, Any] | None
    csv: Mapping[str, Any] | None
    excel: Mapping[str, Any] | None

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Meant:
        given = dict(values)
        for key in values:
            near = closest(str(key), KEYS)
            if near is not None:
                given.setdefault(near, values[key])
        return cls(
            quasi=_names(given.get("quasi")) or None,
            identifiers=_names(given.get("identifiers", ())),
            drop=None if isinstance(given.get("drop"), str) else _names(given.get("drop", ())),
            ordered=_names(given.get("ordered", ())),
            sensitive=_text("sensitive", given),
            person=_text("person", given),
            join=_text("join", given),
            together=_blocks(given.get("together")),
            partition=_word("partition", given),
            publication=_word("publication", given, "anatomy"),
            missing_sensitive=_word("missing_sensitive", given),
            guarantee=_table(given.get("guarantee")) or None,
            harmless=_list(given.get("harmless", ())),
            hierarchies=_table(given.get("hierarchies", {})),
            options=_table(given.get("options", {})),
            csv=_sound(given.get("csv", {}), CSV_KEYS, csv_faults),
            excel=_sound(given.get("excel", {}), EXCEL_KEYS, excel_faults),
        )

    @property
    def grouped(self) -> bool:
        """Whether the publication forms groups, as all but one do."""
        return self.publication is None or PUBLICATIONS[self.publication].grouped

    @property
    def grouping(self) -> str | None:
        """The partition by its own name, if that can be told."""
        if self.grouped and (self.partition is None or (self.partition == "auto" and self.publication is None)):
            return None
        chosen = self.publication or "", self.partition or "auto"
        return grouping(*chosen, self.guarantee or {}, several=self.person is not None)


def grouping(publication: str, partition: str, guarantee: Mapping[str, Any], *, several: bool = False) -> str:
    """A partition by its own name: what "auto" stands for, and "none" where there are no groups.

    Where people have `several` rows, that is one that can group people, if the publication can show them.
    """
    found = PUBLICATIONS.get(publication)
    if found is None or (partition != "auto" and found.grouped):
        return partition
    usual = found.partition(guarantee)
    return "local" if several and found.people and not PARTITIONS[usual].people else usual


def _names(value: Any) -> tuple[str, ...] | None:
    """The names in a list; a name that stands alone is a list of one."""
    if isinstance(value, list | tuple):
        return tuple(name for name in value if isinstance(name, str) and name)
    return (value,) if isinstance(value, str) and value else None


def _list(value: Any) -> tuple[Any, ...] | None:
    return tuple(value) if isinstance(value, list | tuple) else None


def _blocks(value: Any) -> tuple[tuple[str, ...], ...] | None:
    """The names in lists of lists."""
    if isinstance(value, list | tuple):
        return tuple(names for names in map(_names, value) if names is not None)
    return None if value is None else ()


def _text(key: str, given: Mapping[str, Any]) -> str | None:
    value = given.get(key)
    return value if isinstance(value, str) or key not in given else ""


def _word(key: str, given: Mapping[str, Any], default: str | None = None) -> str | None:
    words = WORDS[key]
    value = given.get(key, default or words[0])
    return value if isinstance(value, str) and value in words else closest(str(value), words)


def _sound(value: Any, keys: Collection[str], faults: Faults) -> Mapping[str, Any] | None:
    """The options of a file, if there is no fault in them."""
    sound = isinstance(value, Mapping) and value.keys() <= set(keys) and next(iter(faults(value)), None) is None
    return value if sound else None


def _table(value: Any) -> Mapping[str, Any] | None:
    return value if isinstance(value, Mapping) else None
