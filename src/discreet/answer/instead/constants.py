"""Dates and numbers as a file has them, `24.12.2025` and `12,50`: in their place, as SQL writes them."""

from __future__ import annotations

import datetime as dt
import re

from sqlglot import exp

from discreet.answer.instead.shown import Shown

COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Between, exp.In)
_DATE = re.compile(r"(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})([ T]\d.*)?")
_NUMBER = re.compile(r"([+-]?)(\d{1,3}(?:[.' \u00a0\u202f\u2019]?\d{3})*)(?:,(\d+))?")


def written(statement: exp.Expr, shown: Shown) -> exp.Expr | None:
    """Texts that are compared with a column of dates or numbers become dates and numbers."""
    found = statement.copy()
    for node in found.find_all(*COMPARED):
        columns = [each for each in _sides(node) if isinstance(each, exp.Column)]
        for literal in [each for each in _sides(node) if isinstance(each, exp.Literal) and each.is_string]:
            for column in columns[:1]:
                if (new := _as_sql(literal.this, column.name, shown)) is not None:
                    literal.replace(new)
    for cast in found.find_all(exp.Cast):
        if cast.to.is_type("date", "timestamp") and isinstance(cast.this, exp.Literal) and cast.this.is_string:
            day = iso(cast.this.this)
            cast.set("this", exp.Literal.string(day or cast.this.this))
    return found if found != statement else None


def _sides(node: exp.Expr) -> list[exp.Expr]:
    """All that a comparison names."""
    sides = [node.this, node.args.get("expression"), node.args.get("low"), node.args.get("high"), *node.expressions]
    return [each.unnest() for each in sides if isinstance(each, exp.Expr)]


def _as_sql(text: str, column: str, shown: Shown) -> exp.Expr | None:
    if shown.is_date(column):
        day = iso(text)
        return None if day is None else exp.Literal.string(day)
    number = _NUMBER.fullmatch(text.strip()) if shown.is_number(column) else None
    if number is None or text.strip().replace(".", "").isdigit():  # 1.500 may be either
        return None
    sign, whole, decimals = number.groups()
    digits = exp.Literal.number(re.sub(r"\D", "", whole) + (f".{decimals}" if decimals else ""))
    return exp.Neg(this=digits) if sign == "-" else digits


def iso(text: str) -> str | None:
    """A date as SQL writes it, with its time; None for what is no date, or may be one of two.

    `3.4.2025` is the third of April, `12/31/2025` the last day of December, `3/4/2025` either.
    """
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return None
    first, sign, second, last, time = found.groups()
    orders = [(first, second, last)] if len(first) == 4 else [(last, second, first), (last, first, second)]
    days = [day for parts in orders[: 1 if sign == "." else None] if (day := _day(*parts)) is not None]
    return None if len({*days}) != 1 else days[0].isoformat() + (time or "")


def _day(year: str, month: str, day: str) -> dt.date | None:
    try:
        return dt.date(int(year), int(month), int(day)) if len(year) == 4 else None
    except ValueError:
        return None
