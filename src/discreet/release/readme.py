"""The README of a release: how to use it with nothing but a database, written from the manifest alone."""

from __future__ import annotations

from discreet.release.manifest import Manifest

NAME = "README.md"


def readme(manifest: Manifest) -> str:
    """The text; the same manifest always gives the same text."""
    promise = manifest.discreet
    qit, st = manifest.resource("qit").path, manifest.resource("st").path
    guarantee = ", ".join(f"{name} = {threshold}" for name, threshold in promise.guarantee.items())
    warning = "" if promise.for_publication else "\n**Made with a fixed seed, for tests only: do not publish.**\n"
    group, count, sensitive = (_quoted(name) for name in (promise.group, promise.count, promise.sensitive))
    return f"""# {promise.table}
{warning}
An anatomized table of {promise.rows} people in {promise.groups} groups, with the guarantee {guarantee}.

- `{qit}`: one row per person, with the quasi-identifiers as they are and the number of the person's group.
- `{st}`: how many people of each group hold each value of {sensitive}.

Which person of a group holds which value is not published. The expected number of people of each
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

`discreet ask` adds standard errors and bounds that contain the truth; `discreet verify` checks the
guarantee from these files.
"""  # noqa: S608 - a text to read; names are quoted


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
