"""Plausible tables, checked from the files alone: each could be the table that the release was made of.

Shares nothing with the code that draws them. Cost: per table one grouping of its rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp, parse_one

from discreet.engines import Engine
from discreet.release.layouts.file import column, named
from discreet.release.layouts.plausible import NAME, drawn
from discreet.release.manifest import Promise
from discreet.release.verify.check import Check, check


def plausible(engine: Engine, promise: Promise) -> Iterator[Check]:
    """The rows are those of the release, and in every table every group holds its values, as often as it has them."""
    if promise.plausible is None:
        return
    tables, shown = drawn(promise), [column(name) for name in (promise.group, *promise.shown)]
    rows = exp.select(*shown, "1 AS n").from_("qit")
    held = exp.select(column("grp"), column("value"), column("n")).from_("st")
    wrong = None
    if not _same_types(engine, promise):
        wrong = "its columns have other types than the files that they were drawn from"
    elif _unlike(engine, rows, [promise.group, *promise.shown]):
        wrong = "its rows are not the rows of the release"
    else:
        broken = sum(_unlike(engine, held, [promise.group, name]) > 0 for name in tables)
        if broken:
            wrong = f"in {broken} of {len(tables)} tables a group holds other values than its own"
    yield check("plausible", wrong, f"{len(tables)} tables, each with the rows of the release and the values of groups")


def _same_types(engine: Engine, promise: Promise) -> bool:
    types, rows = engine.schema(f"{NAME} file"), engine.schema("qit")
    value = engine.schema("st").field("value").type
    return all(types.field(name).type == rows.field(name).type for name in promise.quasi) and all(
        types.field(name).type == value for name in drawn(promise)
    )


def _unlike(engine: Engine, meant: exp.Select, names: list[str]) -> int:
    """How many combinations there are not as often in the columns of plausible tables as they should be."""
    found = exp.select(*map(column, names), "-1").from_(named(f"{NAME} file"))
    both = exp.union(meant, found, distinct=False).subquery("both")
    keys = [exp.Literal.number(number) for number in range(1, len(names) + 1)]
    counted = exp.select(*(column(each) for each in meant.named_selects[:-1])).from_(both)
    counted = counted.group_by(*keys).having(parse_one("SUM(n) <> 0", dialect="duckdb"))
    [[number]] = engine.run(exp.select("COUNT(*)").from_(counted.subquery("uneven"))).to_pydict().values()
    return int(number)
