"""Generalization: a row per person that shows the box of the group, the group, and a sensitive value.

Of a column with an order, a box shows the ends; of the others a label, and `labels` says which values
it stands for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlglot import exp

from discreet.release.layouts.file import File, column, named, quoted
from discreet.release.layouts.layout import ALONE, MISNAMED, Layout, Order
from discreet.release.manifest import BoxColumn, Manifest, Promise
from discreet.values.names import fresh

if TYPE_CHECKING:
    from discreet.engines import Engine
    from discreet.release.verify.check import Check

LABELS = ("column", "label", "value")
PEOPLE = ("people", "most")  # of a group: how many it has, and how many rows at most one of them has in it


def box(promise: Promise) -> tuple[str, ...]:
    """The columns that show boxes."""
    return tuple(name for side in promise.boxes or () for name in side.columns)


def _files(promise: Promise) -> dict[str, File]:
    files = {"generalized": File((*box(promise), promise.group, promise.sensitive_column), (promise.group,))}
    files |= {"labels": File(LABELS, ())} if labelled(promise) else {}
    return files | ({"people": File(of_people(promise), of_people(promise))} if promise.lots is not None else {})


def _orders(promise: Promise) -> list[Order]:
    rows = (("generalized",), (promise.group, promise.sensitive_column), False)
    people: list[Order] = [(("people",), of_people(promise)[:1], True)] if promise.lots is not None else []
    return [rows, *([(("labels",), LABELS, True)] if labelled(promise) else []), *people]


def of_people(promise: Promise) -> tuple[str, ...]:
    """The columns that say of each group how many people it has, and the most rows of one."""
    return (promise.group, *(fresh(name, promise.columns) for name in PEOPLE))


def _relations(promise: Promise) -> dict[str, exp.Select]:
    group, value = column(promise.group), column(promise.sensitive_column)
    shown = [column(name) for name in box(promise)]
    counts = exp.select(exp.alias_(group, "grp"), exp.alias_(value, "value"), "COUNT(*) AS n")
    file = named("generalized file")
    return {
        "qit": exp.select(*shown, group.copy()).from_(file),
        "st": counts.from_(file.copy()).group_by(group.copy(), value.copy()),
    }


def _readme(manifest: Manifest) -> str:
    promise = manifest.discreet
    path = manifest.resource("generalized").pattern
    group, sensitive = quoted(promise.group), quoted(promise.sensitive_column)
    several = promise.lots is not None
    size = f"{promise.about} in {promise.groups} groups"
    each, held = ("one row for each row of the table", "rows") if several else ("one row per person", "people")
    text = f"""A generalized table of {size}, with the guarantee {promise.told()}.

- `{path}`: {each}, with the box of the person's group: {", ".join(map(told_side, promise.boxes or ()))};
  and the person's own {sensitive}. Inside a group, rows cannot be told apart by their quasi-identifiers.
"""
    if several:
        path_of_people = manifest.resource("people").pattern
        text += f"""- `{path_of_people}`: how many people each group has, and the most rows that one of them has in it.
  Somebody has rows in at most {promise.lots} of the lots that these releases grew by, and the promise is about all of
  them together.
"""
    if labelled(promise):
        text += f"- `{manifest.resource('labels').pattern}`: the values that each label stands for.\n"
    return (
        text
        + f"""
How many {held} of each group hold each value, in DuckDB or any other SQL engine that reads the files; a group
counts for a condition wholly if its box lies inside, not at all if outside, and else by the part of the box inside:

```sql
SELECT {group}, {sensitive}, COUNT(*) FROM '{path}' GROUP BY ALL ORDER BY ALL;
```
"""  # noqa: S608 - a text to read; names are quoted
    )


def labelled(promise: Promise) -> bool:
    """Whether boxes show labels."""
    return any(side.label is not None for side in promise.boxes or ())


def told_side(side: BoxColumn) -> str:
    """How a box shows a column, in words."""
    if side.label is not None:
        return f"{quoted(side.name)} as a label"
    return f"{quoted(side.name)} from {quoted(side.low or '')} to {quoted(side.high or '')}"


def box_names(promise: Promise) -> Iterator[tuple[str, str]]:
    """The usual names of the columns that show ends, and the names they have."""
    for side in promise.boxes or ():
        ends = {f"{side.name}_low": side.low, f"{side.name}_high": side.high, f"{side.name}_missing": side.missing}
        yield from ((usual, name) for usual, name in ends.items() if name is not None)


def box_types(promise: Promise) -> dict[str, str]:
    """The types of the columns that show boxes."""
    sides = promise.boxes or ()
    types: dict[str, str] = {name: side.type for side in sides for name in (side.low, side.high) if name is not None}
    types |= {side.missing: "boolean" for side in sides if side.missing is not None}
    return types | {side.label: "string" for side in sides if side.label is not None}


def box_faults(promise: Promise) -> Iterator[str]:
    """What is wrong with how boxes are said to show the quasi-identifiers."""
    sides = promise.boxes or ()
    if [side.name for side in sides] != list(promise.quasi):
        yield ALONE["boxes"]
    for side in sides:
        if (side.low is None) != (side.high is None) or (side.low is None) == (side.label is None):
            yield "an entry of `boxes` must have either `low` and `high`, or `label`"
        if side.label not in (None, side.name):
            yield MISNAMED


def box_checks(engine: Engine, promise: Promise) -> Iterator[Check]:
    from discreet.release.verify.boxes import boxes
    from discreet.release.verify.people import people_of_boxes

    yield from boxes(engine, promise)
    if promise.lots is not None:
        yield from people_of_boxes(engine, promise, *of_people(promise))


GENERALIZATION = Layout(
    _files,
    _orders,
    _relations,
    _readme,
    matching="boxes",
    members=("boxes",),
    names=box_names,
    types=box_types,
    faults=box_faults,
    checks=box_checks,
)
