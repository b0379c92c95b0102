"""Words for people: the one that was meant, how many there are of something, and tables of them in plain text."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence


def closest(word: str, valid: Iterable[str]) -> str | None:
    """The valid word that was probably meant, if one is near."""
    by_lower = {option.lower(): option for option in valid}
    if word.lower() in by_lower:
        return by_lower[word.lower()]
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


def aligned(columns: Sequence[str], rows: Sequence[Sequence[str]], *, left: int) -> Iterator[str]:
    """The lines of a table, its first `left` columns flush left, the others flush right."""
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    for row in (columns, *rows):
        padded = (
            (cell, width, "<" if i < left else ">") for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(f"{cell:{side}{width}}" for cell, width, side in padded).rstrip()
