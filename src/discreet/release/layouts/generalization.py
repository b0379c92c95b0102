"""Generalization: a row per person that shows the box of the group, the group, and a sensitive value.

Of a column with an order, a box shows the ends; of the others a label, and `labels` says which values
it stands for.
"""

from __future__ import annotations

from sqlglot import exp

from discreet.release.layouts.file import File, column, named, quoted
from discreet.release.manifest import Manifest, Promise, Side

LABELS = ("column", "label", "value")


def box(promise: Promise) -> tuple[str, ...]:
    """The columns that show boxes."""
    return tuple(name for side in promise.boxes or () for name in side.columns)


class Generalization:
    """The file `generalized`, and `labels` if there are any."""

    def files(self, promise: Promise) -> dict[str, File]:
        files = {"generalized": File((*box(promise), promise.group, promise.sensitive_column), (promise.group,))}
        return {**files, **({"labels": File(LABELS, ())} if labelled(promise) else {})}

    def orders(self, promise: Promise) -> list[tuple[tuple[str, ...], tuple[str, ...], bool]]:
        rows = (("generalized",), (promise.group, promise.sensitive_column), False)
        return [rows, *([(("labels",), LABELS, True)] if labelled(promise) else [])]

    def tables(self, promise: Promise) -> dict[str, exp.Select]:
        group, value = column(promise.group), column(promise.sensitive_column)
        shown = [column(name) for name in box(promise)]
        counts = exp.select(exp.alias_(group, "grp"), exp.alias_(value, "value"), "COUNT(*) AS n")
        file = named("generalized file")
        return {
            "qit": exp.select(*shown, group.copy()).from_(file),
            "st": counts.from_(file.copy()).group_by(group.copy(), value.copy()),
        }

    def readme(self, manifest: Manifest) -> str:
        promise = manifest.discreet
        path = manifest.resource("generalized").path
        group, sensitive = quoted(promise.group), quoted(promise.sensitive_column)
        size = f"{promise.rows} people in {promise.groups} groups"
        text = f"""A generalized table of {size}, with the guarantee {promise.told()}.

- `{path}`: one row per person, with the box of the person's group: {", ".join(map(told_side, promise.boxes or ()))};
  and the person's own {sensitive}. Inside a group, rows cannot be told apart by their quasi-identifiers.
"""
        if labelled(promise):
            text += f"- `{manifest.resource('labels').path}`: the values that each label stands for.\n"
        return (
            text
            + f"""
How many people of each group hold each value, in DuckDB or any other SQL engine that reads the files; a group
counts for a condition wholly if its box lies inside, not at all if outside, and else by the part of the box inside:

```sql
SELECT {group}, {sensitive}, COUNT(*) FROM '{path}' GROUP BY ALL ORDER BY ALL;
```
"""  # noqa: S608 - a text to read; names are quoted
        )


def labelled(promise: Promise) -> bool:
    """Whether boxes show labels."""
    return any(side.label is not None for side in promise.boxes or ())


def told_side(side: Side) -> str:
    """How a box shows a column, in words."""
    if side.label is not None:
        return f"{quoted(side.name)} as a label"
    return f"{quoted(side.name)} from {quoted(side.low or '')} to {quoted(side.high or '')}"
