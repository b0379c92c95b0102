"""Permutation: the table with its sensitive values shuffled inside each group, and which row is in which group.

Source: Koudas et al. (ICDE 2007), sections 4 and 5.2.
"""

from __future__ import annotations

from sqlglot import exp

from discreet.release.layouts.file import File, column, link, named, quoted
from discreet.release.layouts.layout import Layout, Order
from discreet.release.manifest import Manifest, Promise


def _files(promise: Promise) -> dict[str, File]:
    row, group = promise.row, promise.group
    return {
        "permuted": File(
            (row, *promise.shown, promise.sensitive_column),
            (row, *promise.shown[len(promise.quasi) :]),
            (link(row, "mapping"),),
        ),
        "mapping": File((row, group), (row, group)),
    }


def _orders(promise: Promise) -> list[Order]:
    content = (promise.group, *promise.shown, promise.sensitive_column)
    return [
        (("permuted",), (promise.row,), True),
        (("mapping",), (promise.row,), True),
        (("permuted", "mapping"), content, False),
    ]


def _relations(promise: Promise) -> dict[str, exp.Select]:
    same_row = exp.EQ(this=column(promise.row, "permuted file"), expression=column(promise.row, "mapping file"))

    def joined(*columns: exp.Expr | str) -> exp.Select:
        return exp.select(*columns).from_(named("permuted file")).join(named("mapping file"), on=same_row)

    quasi = [column(name, "permuted file") for name in promise.shown]
    group, value = column(promise.group, "mapping file"), column(promise.sensitive_column, "permuted file")
    counts = joined(exp.alias_(group, "grp"), exp.alias_(value, "value"), "COUNT(*) AS n")
    return {
        "qit": joined(*quasi, group.copy()).order_by(column(promise.row, "permuted file")),
        "st": counts.group_by(group.copy(), value.copy()),
    }


def _readme(manifest: Manifest) -> str:
    promise = manifest.discreet
    permuted, mapping = manifest.resource("permuted").pattern, manifest.resource("mapping").pattern
    row, group, sensitive = (quoted(name) for name in (promise.row, promise.group, promise.sensitive_column))
    rows = "one row per person"
    if promise.person is not None:
        rows = f"all rows of each person ({quoted(promise.person)}, numbered by chance)"
    return f"""A permuted table of {promise.about} in {promise.groups} groups, with the guarantee {promise.told()}.

- `{permuted}`: {rows}, with the quasi-identifiers as they are and a value of {sensitive} that
  belongs to somebody in the person's group: inside each group the values were shuffled.
- `{mapping}`: the group of every row. A row's number is its place in these files and says nothing else.

For any condition on the quasi-identifiers, bounds of the smallest value, in DuckDB or any other SQL engine
that reads the files: count the hits of every group, and look up what that many hits can hold at best and at worst.

```sql
WITH help AS (
  SELECT {group} AS grp, {sensitive} AS val,
         ROW_NUMBER() OVER (PARTITION BY {group} ORDER BY {sensitive} DESC NULLS LAST) AS hits,
         MIN({sensitive}) OVER (PARTITION BY {group}) AS least
  FROM '{permuted}' AS permuted JOIN '{mapping}' AS mapping ON permuted.{row} = mapping.{row}
), hit AS (
  SELECT {group} AS grp, COUNT(*) AS hits
  FROM '{permuted}' AS permuted JOIN '{mapping}' AS mapping ON permuted.{row} = mapping.{row}
  WHERE TRUE GROUP BY {group}
)
SELECT MIN(help.least) AS low, MIN(help.val) AS high FROM hit JOIN help ON help.grp = hit.grp AND help.hits = hit.hits;
```
"""  # noqa: S608 - a text to read; names are quoted


PERMUTATION = Layout(_files, _orders, _relations, _readme, people=True)
