"""Words for people: the one that was meant, and how many there are of something."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def closest(word: str, valid: Iterable[str]) -> str | None:
    """The valid word that was probably meant, if one is near."""
    by_lower = {option.lower(): option for option in valid}
    close = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[close[0]] if close else None


def nearest(word: str, valid: Iterable[str]) -> str:
    """A hint that names the nearest valid word, or all of them when none is near."""
    options = list(valid)
    close = closest(word, options)
    if close is not None:
        return f"did you mean `{close}`?"
    return "expected one of: " + ", ".join(f"`{option}`" for option in options)


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number and what there is of it: `1 row`, `2,000 rows`."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
