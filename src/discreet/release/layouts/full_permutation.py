"""Full permutation: the quasi-identifiers of each group, every column shuffled by itself, and its sensitive values.

Source: Li et al., "Permutation anonymization", J. Intell. Inf. Syst. 2015, definition 1. Without a sensitive
column there is only the first file, and nobody's value counts as known.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from discreet.release.layouts.file import File, column, link, named, quoted
from discreet.release.layouts.layout import Layout, Order
from discreet.release.manifest import Manifest, Promise


def _files(promise: Promise) -> dict[str, File]:
    group = promise.group
    if promise.sensitive is None:
        return {"pqt": File((*promise.quasi, group), (group,))}
    return {
        "pqt": File((*promise.quasi, group), (group,), (link(group, "pst"),)),
        "pst": File((group, promise.sensitive), (group,)),
    }


def _orders(promise: Promise) -> list[Order]:
    rows = (("pqt",), (promise.group, *promise.quasi), False)
    if promise.sensitive is None:
        return [rows]
    return [rows, (("pst",), (promise.group, promise.sensitive), False)]


def _relations(promise: Promise) -> dict[str, exp.Select]:
    group, file = column(promise.group), named("pqt file" if promise.sensitive is None else "pst file")
    value = exp.cast(exp.null(), "INTEGER") if promise.sensitive is None else column(promise.sensitive)
    keys = [group] if promise.sensitive is None else [group, value]
    counts = exp.select(exp.alias_(group.copy(), "grp"), exp.alias_(value.copy(), "value"), "COUNT(*) AS n")
    return {
        "qit": exp.select(*map(column, (*promise.quasi, promise.group))).from_(named("pqt file")),
        "st": counts.from_(file).group_by(*(key.copy() for key in keys)),
    }


def _readme(manifest: Manifest) -> str:
    promise = manifest.discreet
    pqt, group = manifest.resource("pqt").pattern, quoted(promise.group)
    pst = None if promise.sensitive is None else manifest.resource("pst").pattern
    text = f"""A table of {promise.rows} people in {promise.groups} groups, with every column shuffled inside each group, and the guarantee {promise.told()}.

- `{pqt}`: as many rows as people, and the number of their group. Each column by itself has the values that the
  people of the group have; which of them belong to one person is not published. **A row is nobody's row.**
"""  # noqa: E501
    if promise.sensitive is not None:
        text += f"- `{pst}`: the values of {quoted(promise.sensitive)} of the people of each group.\n"
    shares = ",\n         ".join(f"AVG(CASE WHEN TRUE THEN 1.0 ELSE 0.0 END) AS share_{i}" for i in _places(promise))
    product = " * ".join(f"shares.share_{i}" for i in _places(promise))
    text += f"""
The expected number of people, for conditions on one column each, in DuckDB or any other SQL engine that reads the
files. The first TRUE is the place of a condition on {_listed(promise)}.
Inside a group the columns are taken to be independent of each other.

```sql
WITH shares AS (
  SELECT {group} AS grp, COUNT(*) AS size,
         {shares}
  FROM '{pqt}' GROUP BY {group}
)"""  # noqa: S608 - a text to read; names are quoted
    if promise.sensitive is None:
        return f"{text}\nSELECT SUM(shares.size * {product}) AS estimate FROM shares;\n```\n"
    value = quoted(promise.sensitive)
    held = f"""
SELECT held.val AS {value}, SUM(held.n * {product}) AS estimate
FROM shares JOIN (SELECT {group} AS grp, {value} AS val, COUNT(*) AS n FROM '{pst}' GROUP BY ALL) AS held
  ON held.grp = shares.grp
GROUP BY held.val ORDER BY estimate DESC;
```
"""  # noqa: S608 - a text to read; names are quoted
    return text + held


def _listed(promise: Promise) -> str:
    first, *others = map(quoted, promise.quasi)
    return first + "".join(f", the next of one on {name}" for name in others)


def _places(promise: Promise) -> range:
    return range(1, len(promise.quasi) + 1)


def _blocks(promise: Promise) -> tuple[tuple[str, ...], ...]:
    return tuple((name,) for name in promise.quasi)


def _faults(promise: Promise) -> Iterator[str]:
    if promise.sensitive is None and (promise.guarantee.keys() != {"k"} or promise.missing_sensitive != "error"):
        yield "without a sensitive column it can promise k and nothing else"


FULL_PERMUTATION = Layout(
    _files, _orders, _relations, _readme, matching="margins", blocks=_blocks, needs_sensitive=False, faults=_faults
)
