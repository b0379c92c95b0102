"""Find where on its line a condition on one ordered column holds, with the help of the engine.

The engine knows the value of a constant like `DATE '2020-01-01' + INTERVAL 1 YEAR`, the rank of a text, and
whether `YEAR(born) % 4 = 0` holds: a condition that compares with constants is read, and any other is tried
on all values that boxes of the release may hold, if they are not too many.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import pyarrow as pa
from sqlglot import exp

from discreet.answer.matches.boxes.lines import Line
from discreet.answer.matches.boxes.regions import Place, Region, constants, readable, region, runs
from discreet.answer.matches.boxes.truths import part
from discreet.errors import EngineError

Run: TypeAlias = Callable[[exp.Expr], pa.Table]

MOST_TRIED = 100_000  # values of a column that a condition is tried on, one by one
MOST_RUNS = 2_000  # of values in a row for which it holds


@dataclass(frozen=True)
class Located:
    """A region: whether the engine sees it just so, and whether it is known beyond the boxes of the release."""

    region: Region
    exact: bool = True
    complete: bool = True


def located(condition: exp.Expr, number: int, line: Line, run: Run) -> Located | None:
    """The region of a condition on the column of that number; None if it cannot be found."""
    try:
        found = _read(condition, number, line, run) if readable(condition) else None
        return _tried(condition, number, line, run) if found is None and line.form != "length" else found
    except EngineError:  # the condition itself will say what is wrong with it
        return None


def _read(condition: exp.Expr, number: int, line: Line, run: Run) -> Located | None:
    """The region by the constants of a condition; None if one of them has no place."""
    asked = list(dict.fromkeys(constants(condition)))
    told = _numbers(asked, number, line, run)
    places: dict[exp.Expr, Place | None] = {}
    for constant, (value, missing) in zip(asked, told, strict=True):
        places[constant] = None if missing else line.located(value)
        if places[constant] is None and not missing:
            return None
    # other than we do, the engine may round a whole number before it compares it with a float
    exact = line.form == "whole" and not any(isinstance(value, float) for value, _ in told)
    return Located(region(condition, places.__getitem__), exact=exact)


def _numbers(asked: Sequence[exp.Expr], number: int, line: Line, run: Run) -> list[tuple[Any, bool]]:
    """What constants come to on a line, and whether they are missing."""
    found: dict[exp.Expr, tuple[Any, bool]] = {}
    if line.form != "ranked" and not line.temporal:
        found = {constant: (Fraction(constant.sql()), False) for constant in asked if _is_plain(constant)}
    others = [constant for constant in asked if constant not in found]
    if others:
        pairs = [(_asked(each, number, line), part("(:c) IS NULL", c=each)) for each in others]
        query = exp.select(
            *(exp.alias_(each, f"c{i}") for i, each in enumerate(each for pair in pairs for each in pair))
        )
        told = list(run(query).to_pylist()[0].values())
        found |= dict(zip(others, zip(told[::2], told[1::2], strict=True), strict=True))
    return [found[constant] for constant in asked]


def _is_plain(constant: exp.Expr) -> bool:
    """Whether a constant is a number that needs no engine to be read."""
    return re.fullmatch(r"-?\d+(\.\d+)?", constant.sql()) is not None


def _asked(constant: exp.Expr, number: int, line: Line) -> exp.Expr:
    """The number of a constant, as SQL; on a ranked line its rank, or halfway between two."""
    if line.form != "ranked":
        return line.number(constant)
    rank = part("(COUNT(*) FILTER (WHERE value <= :c) + COUNT(*) FILTER (WHERE value < :c) + 1) / 2", c=constant)
    return exp.Subquery(this=exp.select(rank).from_(f"known_{number}"))


def _tried(condition: exp.Expr, number: int, line: Line, run: Run) -> Located | None:
    """The region by trying all values that boxes of the release may hold; None if they are many."""
    ends = f"CAST(MIN(start_{number}) AS VARCHAR) AS low", f"CAST(MAX(stop_{number}) AS VARCHAR) AS high"
    low, high = run(exp.select(*ends).from_("boxes")).to_pylist()[0].values()
    if low is None or int(high) - int(low) >= MOST_TRIED or max(-int(low), int(high)) > 2**62:
        return None
    if line.form == "ranked":
        values = exp.select("place", "value").from_(f"known_{number}")
    else:
        places = exp.select(f"UNNEST(RANGE({low}, {int(high) + 1})) AS place").subquery("places")
        values = exp.select("place", exp.alias_(line.value(exp.column("place")), "value")).from_(places)
    missing = exp.select(exp.null(), exp.cast(exp.null(), line.kind.type, dialect="duckdb"))
    tried = exp.union(values, missing, distinct=False).subquery("tried")
    holds = condition.transform(lambda node: exp.column("value") if isinstance(node, exp.Column) else node)
    query = exp.select("CAST(place AS BIGINT) AS place").from_(tried).where(holds).order_by("place NULLS LAST")
    held = run(query).column(0)
    found = runs(held.drop_null().to_pylist(), missing=held.null_count > 0)
    exact = line.form == "whole"
    return Located(found, exact=exact, complete=False) if len(found.intervals) <= MOST_RUNS else None
