"""The names of columns: every column has one of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from discreet.errors import InputError


def check_names(names: Iterable[str], instead: str = "give every column a name of its own") -> None:
    """Raise unless every column has a name of its own."""
    listed = list(names)
    if not listed:
        raise InputError("the table has no columns")
    if any(not name.strip() for name in listed):
        raise InputError("a column has no name", hint="name every column in the header")
    # Engines take names that differ only in case for the same.
    repeated = [name for name, times in Counter(name.strip().lower() for name in listed).items() if times > 1]
    if repeated:
        raise InputError(
            f"the column name `{repeated[0]}` stands twice (upper and lower case count as the same)",
            hint=instead,
        )
