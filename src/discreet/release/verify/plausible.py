"""Plausible tables, checked from the files alone: each could be the table that the release was made of.

Shares nothing with the code that draws them. Cost: per table one grouping of its rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from discreet.engines import Engine
from discreet.release.layouts.file import column, named
from discreet.release.layouts.plausible import NAME, drawn
from discreet.release.manifest import Promise
from discreet.release.verify.check import Check, check


def plausible(engine: Engine, promise: Promise) -> Iterator[Check]:
    """The rows are those of the release, and in every table every group holds its values, as often as it has them."""
    if promise.plausible is None:
        return
    tables, shown = drawn(promise), [promise.group, *promise.shown]
    rows, held = _counted("qit", shown, exp.Literal.number(1)), _counted("st", ["grp", "value"], column("n"))
    wrong = None
    if not _same_types(engine, promise):
        wrong = "its columns have other types than the files that they were drawn from"
    elif _unlike(engine, rows, shown):
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


def _counted(relation: str, names: list[str], times: exp.Expr) -> exp.Select:
    """How often there is what under names of our own: a column of the table may have any, `n` too."""
    keys = [exp.alias_(column(name), f"key_{at}") for at, name in enumerate(names)]
    return exp.select(*keys, exp.alias_(times, "n")).from_(named(relation))


def _unlike(engine: Engine, meant: exp.Select, names: list[str]) -> int:
    """How many combinations there are not as often in the columns of plausible tables as they should be."""
    both = exp.union(meant, _counted(f"{NAME} file", names, exp.Literal.number(-1)), distinct=False).subquery("both")
    keys = [f"key_{at}" for at in range(len(names))]
    counted = exp.select(*keys).from_(both).group_by(*keys).having("SUM(n) <> 0")
    [[number]] = engine.run(exp.select("COUNT(*)").from_(counted.subquery("uneven"))).to_pydict().values()
    return int(number)
