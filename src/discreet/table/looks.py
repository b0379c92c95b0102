"""Texts that look like something else: numbers with a decimal comma, dates, numbers beside marks for no value.

Types are never guessed across such doubts: the column stays text, and the steward is told which key of `[csv]` reads it
as what it seems to be. Cost: the distinct values of a column, and only a thousand of them if those look like text.
Claim: looks_are_of_every_value — a column looks like something only if every value of it does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from discreet.values.toml import as_toml

if TYPE_CHECKING:
    from discreet.table.table import Table

MARKS = (
    *("na", "n/a", "n.a.", "nan", "null", "none", "nil", "-", "--", ".", "..", "...", "?", "#n/a"),
    *("k.a.", "k. a.", "x"),
)
FIRST = 1_000  # values
_MARK = "|".join(mark.replace(".", r"\.").replace("?", r"\?") for mark in MARKS)
_WHOLE = r"[+-]?(0|[1-9]\d*)"
_GROUPED = r"[+-]?[1-9]\d{0,2}(\.\d{3})+"
_DAY, _MONTH = r"(0?[1-9]|[12]\d|3[01])", r"(0?[1-9]|1[012])"
# Every value must match the first pattern, and some value each of the others.
_PATTERNS: Mapping[str, tuple[str, ...]] = {
    "comma": (rf"{_WHOLE}(,\d+)?", rf"{_WHOLE},\d+"),
    "grouped": (rf"({_WHOLE}|{_GROUPED})(,\d+)?", rf"{_GROUPED}(,\d+)?"),
    "marked": (rf"{_WHOLE}(\.\d+)?|{_MARK}", rf"{_WHOLE}(\.\d+)?", _MARK),
    "marked comma": (rf"{_WHOLE}(,\d+)?|{_MARK}", rf"{_WHOLE},\d+", _MARK),
    "marked grouped": (rf"({_WHOLE}|{_GROUPED})(,\d+)?|{_MARK}", rf"{_GROUPED}(,\d+)?", _MARK),
    **{f"DD{sign}MM{sign}YYYY": (rf"{_DAY}\{sign}{_MONTH}\{sign}\d{{4}}",) for sign in "./-"},
    **{f"MM{sign}DD{sign}YYYY": (rf"{_MONTH}\{sign}{_DAY}\{sign}\d{{4}}",) for sign in "./-"},
    "YYYY/MM/DD": (rf"\d{{4}}/{_MONTH}/{_DAY}",),
}

_NUMBERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "comma": ("numbers with a decimal comma", {"decimal": ","}),
    "grouped": ("numbers with points between thousands", {"decimal": ",", "thousands": "."}),
    "marked": ("numbers", {}),
}


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
            like = _like(table, name, _PATTERNS, FIRST)
            if like and (like := _like(table, name, like, None)):
                yield _look(table, name, like)


def _like(table: Table, name: str, tried: Collection[str], most: int | None) -> list[str]:
    """Those of some patterns that every value matches, or each of the first that are found."""
    counts = [_matching(name, pattern) for look in tried for pattern in _PATTERNS[look]]
    values = exp.select(exp.column(name, quoted=True)).distinct().from_(table.select([name]).subquery("rows"))
    held = exp.Count(this=exp.column(name, quoted=True))
    query = exp.select(held, *counts).from_((values if most is None else values.limit(most)).subquery("texts"))
    number, *found = (int(column[0].as_py() or 0) for column in table.engine.run(query).columns)
    like, counted = [], iter(found)
    for look in tried:
        every, *some = islice(counted, len(_PATTERNS[look]))
        if every == number > 0 and all(some):
            like.append(look)
    return like


def _look(table: Table, name: str, like: Sequence[str]) -> Look:
    """The first of several numbers that it may be, or all dates."""
    in_csv = table.path is not None and table.path.suffix.lower() != ".parquet"
    dates = [look for look in like if "YYYY" in look]
    if dates:
        return Look(name, "dates", tuple({"dates": each} for each in dates) if in_csv else ())
    what, keys = _NUMBERS[like[0].removeprefix("marked ")]
    if like[0].startswith("marked"):
        found = marks(table, name)
        what, keys = f"{what} beside {as_toml(found)}", {**keys, "missing": found}
    return Look(name, what, (keys,) if in_csv else ())


def marks(table: Table, name: str) -> list[str]:
    """The values of a column of text that may stand for no value."""
    value = exp.column(name, quoted=True)
    query = exp.select(value.copy()).distinct().from_(table.select([name]).subquery("rows"))
    return sorted(table.engine.run(query.where(_is_like(value, _MARK))).column(0).to_pylist())


def _matching(name: str, pattern: str) -> exp.Expr:
    """How many values of a column match a pattern."""
    return exp.CountIf(this=_is_like(exp.column(name, quoted=True), pattern))


def _is_like(value: exp.Expr, pattern: str) -> exp.Expr:
    """Whether a value matches a pattern from its first to its last letter, small or capital."""
    return exp.RegexpLike(this=value, expression=exp.Literal.string(f"(?i)^({pattern})$"))
