"""Texts that look like something else: numbers with a decimal comma, dates, numbers beside marks for no value.

Types are never guessed across such doubts: the column stays text, and the steward is told which key of `[csv]` reads it
as what it seems to be. Cost: the distinct values of a column, and only a thousand of them if those look like text.
Claim: looks_are_of_every_value — a column looks like something only if every value of it does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from discreet.table.digits import WHOLE, grouped, is_like, number
from discreet.values.toml import as_toml
from discreet.values.written import THOUSANDS

if TYPE_CHECKING:
    from discreet.table.table import Table

MARKS = (
    *("na", "n/a", "n.a.", "nan", "null", "none", "nil", "-", "--", ".", "..", "...", "?", "#n/a"),
    *("k.a.", "k. a.", "keine angabe", "unbekannt", "n.d.", "n/d", "n.r.", "n/r", "s.o.", "s/o", "non renseigné"),
    *("inconnu", "no consta", "desconocido", "unknown", "not known", "missing"),
    *(AMONG_NUMBERS := ("x", "nd", "nr", "nc", "ns")),  # among texts they may well be values
)
FIRST = 1_000  # values
_MARK = "|".join(mark.replace(".", r"\.").replace("?", r"\?") for mark in ("", *MARKS))
_DAY, _MONTH = r"(0?[1-9]|[12]\d|3[01])", r"(0?[1-9]|1[012])"
_BETWEEN = {".": "points", ",": "commas", "'": "apostrophes", "\u2019": "apostrophes"}  # the others are spaces


def _fits(pattern: str) -> Callable[[str], object]:
    """The same as `is_like`, of a text at hand."""
    return re.compile(pattern, re.IGNORECASE | re.ASCII).fullmatch


@dataclass(frozen=True, slots=True)
class Style:
    """A way of writing values: every value matches `every`, some value each of `some`, and `keys` read them."""

    like: str
    keys: Mapping[str, Any]
    every: str
    some: tuple[str, ...] = ()

    @property
    def patterns(self) -> tuple[str, ...]:
        return self.every, *self.some

    def every_is_like(self, texts: Sequence[str]) -> bool:
        return all(map(_fits(self.every), texts))

    def some_are_like(self, texts: Sequence[str]) -> bool:
        return all(any(map(_fits(pattern), texts)) for pattern in self.some)

    def beside_marks(self) -> Style:
        """The same, where some fields are marks for no value."""
        every = f"{self.every}|{_MARK}"
        return replace(
            self, every=every, some=(*(self.some or (self.every,)), _MARK), keys={**self.keys, "missing": []}
        )


def _thousands(sign: str, decimal: str) -> Style:
    """Numbers with a sign between thousands. That their decimals have a comma must be seen, but where it must be."""
    some = (rf"{grouped(sign)}(\{decimal}\d+)?", *([r".*,\d+"] if decimal == "," and sign != "." else []))
    keys = {**({"decimal": ","} if decimal == "," else {}), "thousands": sign}
    what = _BETWEEN.get(sign, "spaces")
    return Style(f"numbers with {what} between thousands", keys, number(decimal, sign), some)


def _dates(pattern: str, sign: str) -> Style:
    parts = {"DD": _DAY, "MM": _MONTH, "YYYY": r"\d{4}"}
    return Style(
        "dates", {"dates": pattern.replace(" ", sign)}, rf"\{sign}".join(map(parts.__getitem__, pattern.split()))
    )


_NUMBERS = (
    Style("numbers with a decimal comma", {"decimal": ","}, number(","), (rf"{WHOLE},\d+",)),
    *(_thousands(sign, decimal) for sign in THOUSANDS for decimal in ".," if sign != decimal),
)
_DATES = (
    *(_dates(pattern, sign) for pattern in ("DD MM YYYY", "MM DD YYYY") for sign in "./-"),
    _dates("YYYY MM DD", "/"),
)
_PLAIN = Style("numbers", {}, number("."))
_STYLES = (*_NUMBERS, *_DATES, *(style.beside_marks() for style in (_PLAIN, *_NUMBERS, *_DATES)))


@dataclass(frozen=True, slots=True)
class Look:
    """What the texts of a column look like, and the keys of `[csv]` that read them so; several if it may be either.

    A column that is not of a CSV file has no keys.
    """

    column: str
    like: str
    keys: tuple[Mapping[str, Any], ...]

    @property
    def advice(self) -> str:
        told = (" and ".join(f"{key} = {as_toml(value)}" for key, value in keys.items()) for keys in self.keys)
        return f"set {' or '.join(told)} under [csv] in the policy" if self.keys else "turn it into these first"


def looks(table: Table, names: Sequence[str] | None = None) -> Iterator[Look]:
    """What columns of text look like, of all columns or of some; those that look like text are left out."""
    for name in names or table.names():
        if table[name].kind == "string":
            first, every = table.different(name, FIRST)
            texts = [text for text in first if text is not None]
            like = [style for style in _STYLES if texts and style.every_is_like(texts)]
            if every:
                like = [style for style in like if style.some_are_like(texts)]
            elif like:
                like = _like(table, name, like)
            if like:
                yield _look(table, name, like)


def _like(table: Table, name: str, tried: Sequence[Style]) -> list[Style]:
    """Those of some styles that every value is written in."""
    value = exp.column(name, quoted=True)
    counts = [exp.CountIf(this=is_like(value, pattern)) for style in tried for pattern in style.patterns]
    number, *found = table.over_values(name, [exp.Count(this=value), *counts])
    like, counted = [], iter(found)
    for style in tried:
        every, *some = islice(counted, len(style.patterns))
        if every == number > 0 and all(some):
            like.append(style)
    return like


def _look(table: Table, name: str, like: Sequence[Style]) -> Look:
    """What a column looks like; all that it may be, if the same texts may be either."""
    first = like[0]
    what = first.like if all(style.like == first.like for style in like) else "numbers with commas"
    found = marks(table, name) if "missing" in first.keys else []
    if found:
        what = f"{what} beside {as_toml(found)}"
    in_csv = table.path is not None and table.path.suffix.lower() != ".parquet"
    return Look(name, what, tuple(_keys(table, style, found) for style in like) if in_csv else ())


def _keys(table: Table, style: Style, found: Sequence[str]) -> Mapping[str, Any]:
    """The keys that read a column, with the marks that were found; a mark that has not helped so far is in quotes."""
    keys = {key: value for key, value in style.keys.items() if key != "missing"}
    named = [mark for mark in found if mark and mark not in table.csv.missing]
    missing = {"missing": [*table.csv.missing, *named]} if named else {}
    return {**keys, **missing, **({"missing_quoted": True} if len(named) < len(found) else {})}


def marks(table: Table, name: str) -> list[str]:
    """The values of a column of text that may stand for no value."""
    value = exp.column(name, quoted=True)
    query = exp.select(value.copy()).distinct().from_(table.select([name]).subquery("rows"))
    return sorted(table.engine.run(query.where(is_like(value, _MARK))).column(0).to_pylist())
