"""Anatomy: the quasi-identifier table with groups, and the sensitive table that counts values per group."""

from __future__ import annotations

from sqlglot import exp

from discreet.release.layouts.file import File, column, link, named, quoted
from discreet.release.layouts.layout import Layout, Order
from discreet.release.manifest import Manifest, Promise


def _files(promise: Promise) -> dict[str, File]:
    group, count = promise.group, promise.count
    return {
        "qit": File((*promise.shown, group), (*promise.shown[len(promise.quasi) :], group), (link(group, "st"),)),
        "st": File((group, promise.sensitive_column, count), (group, count)),
    }


def _orders(promise: Promise) -> list[Order]:
    group = promise.group
    return [(("qit",), (group, *promise.shown), False), (("st",), (group, promise.sensitive_column), True)]


def _relations(promise: Promise) -> dict[str, exp.Select]:
    counts = {"grp": promise.group, "value": promise.sensitive_column, "n": promise.count}
    columns = [exp.alias_(column(name), alias) for alias, name in counts.items()]
    rows = [column(name) for name in (*promise.shown, promise.group)]
    return {"qit": exp.select(*rows).from_(named("qit file")), "st": exp.select(*columns).from_(named("st file"))}


def _readme(manifest: Manifest) -> str:
    promise = manifest.discreet
    qit, st = manifest.resource("qit").pattern, manifest.resource("st").pattern
    group, count, sensitive = (quoted(name) for name in (promise.group, promise.count, promise.sensitive_column))
    rows, counted = "one row per person", "people"
    if promise.person is not None:
        rows, counted = f"all rows of each person ({quoted(promise.person)}, numbered by chance)", "rows"
    return f"""An anatomized table of {promise.about} in {promise.groups} groups, with the guarantee {promise.told()}.

- `{qit}`: {rows}, with the quasi-identifiers as they are and the number of the person's group.
- `{st}`: how many {counted} of each group hold each value of {sensitive}.

Which person of a group holds which value is not published. The expected number of {counted} of each
value, for any condition on the quasi-identifiers, in DuckDB or any other SQL engine that reads the files:

```sql
WITH hit AS (
  SELECT {group} AS grp, COUNT(*) AS hits FROM '{qit}' WHERE TRUE GROUP BY {group}
), held AS (
  SELECT {group} AS grp, {sensitive} AS val, {count} AS n, SUM({count}) OVER (PARTITION BY {group}) AS size FROM '{st}'
)
SELECT held.val AS {sensitive}, SUM(held.n * hit.hits / CAST(held.size AS DOUBLE)) AS estimate
FROM held JOIN hit ON held.grp = hit.grp
GROUP BY held.val ORDER BY estimate DESC;
```
"""  # noqa: S608 - a text to read; names are quoted


ANATOMY = Layout(_files, _orders, _relations, _readme, in_a_file=True, people=True)
