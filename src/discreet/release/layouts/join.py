"""Join: boxes that hold private and public rows alike, and the sensitive values of groups of them.

Source: Sacharidis et al. (TKDE 2010), section 3.2. Nothing says which rows are private.
"""

from __future__ import annotations

from sqlglot import exp

from discreet.release.layouts.file import File, column, link, named, quoted
from discreet.release.layouts.generalization import LABELS, box, labelled, told_side
from discreet.release.manifest import Manifest, Promise


class Joined:
    """The files `joined` and `si`, and `labels` if there are any."""

    def files(self, promise: Promise) -> dict[str, File]:
        own, count = _group(promise), promise.count
        files = {
            "joined": File((*box(promise), promise.group, own), (promise.group, own), (link(own, "si"),)),
            "si": File((own, promise.sensitive_column, count), (own, count)),
        }
        return {**files, **({"labels": File(LABELS, ())} if labelled(promise) else {})}

    def orders(self, promise: Promise) -> list[tuple[tuple[str, ...], tuple[str, ...], bool]]:
        own = _group(promise)
        orders = [(("joined",), (promise.group, own), False), (("si",), (own, promise.sensitive_column), True)]
        return [*orders, *([(("labels",), LABELS, True)] if labelled(promise) else [])]

    def tables(self, promise: Promise) -> dict[str, exp.Select]:
        """Groups of `qit` are those of rows, groups of `st` those of sensitive values."""
        own = _group(promise)
        rows = [column(name) for name in (*box(promise), promise.group, own)]
        counts = {"grp": own, "value": promise.sensitive_column, "n": promise.count}
        return {
            "qit": exp.select(*rows).from_(named("joined file")),
            "st": exp.select(*(exp.alias_(column(name), alias) for alias, name in counts.items())).from_(
                named("si file")
            ),
        }

    def readme(self, manifest: Manifest) -> str:
        promise = manifest.discreet
        joined, si = manifest.resource("joined").path, manifest.resource("si").path
        own, sensitive, count = (quoted(name) for name in (_group(promise), promise.sensitive_column, promise.count))
        people = 0 if promise.join is None else promise.join.people
        text = f"""A table about {people} people among {promise.rows}, with the guarantee {promise.told()}.

- `{joined}`: one row for each of {promise.rows} real people, with the box of the person's group: {", ".join(map(told_side, promise.boxes or ()))};
  and the group of sensitive values that may belong to somebody in it. The table is about {people} of these people;
  the others stand in a public table, and nothing says which is which.
- `{si}`: how often each {sensitive} occurs in each group of sensitive values.
"""  # noqa: E501
        if labelled(promise):
            text += f"- `{manifest.resource('labels').path}`: the values that each label stands for.\n"
        return (
            text
            + f"""
How many people hold each value, in DuckDB or any other SQL engine that reads the files:

```sql
SELECT {sensitive}, SUM({count}) FROM '{si}' GROUP BY ALL ORDER BY ALL;
```

How many rows of each group of sensitive values there are, of which some are the people of the table:

```sql
SELECT {own}, COUNT(*) FROM '{joined}' GROUP BY ALL ORDER BY ALL;
```
"""  # noqa: S608 - a text to read; names are quoted
        )


def _group(promise: Promise) -> str:
    """The column of the sensitive group."""
    return "" if promise.join is None else promise.join.group
