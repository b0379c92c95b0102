"""A name that nobody has: upper and lower case count as the same, as they do in SQL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def fresh(wanted: str, taken: Iterable[str]) -> str:
    """The name that is wanted, with underscores behind it until it is nobody else's."""
    lower = {name.lower() for name in taken}
    while wanted.lower() in lower:
        wanted += "_"
    return wanted


def numbered(wanted: str, taken: Iterable[str], ends: Sequence[str] = ("",)) -> str:
    """The name that is wanted, with a number behind it if it, with any of `ends`, is somebody else's."""
    lower = {name.lower() for name in taken}
    name, times = wanted, 1
    while any(f"{name}{end}".lower() in lower for end in ends):
        times += 1
        name = f"{wanted}_{times}"
    return name
