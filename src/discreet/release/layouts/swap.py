"""Swap: the table with sensitive values swapped between rows of near rank, and how far each may come from.

It carries no guarantee: it is a baseline for comparison (see `discreet.comparison.swap`).
Source: Koudas et al. (ICDE 2007), section 7.1 (6).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlglot import exp

from discreet.release.layouts.file import File, column, named, quoted
from discreet.release.layouts.layout import Layout, Order
from discreet.release.manifest import Manifest, Promise, Window

if TYPE_CHECKING:
    from discreet.engines import Engine
    from discreet.release.verify.check import Check


def _files(promise: Promise) -> dict[str, File]:
    ends = (promise.count, *ends_of(promise))
    return {
        "swapped": File((*promise.quasi, promise.sensitive_column), ()),
        "windows": File((promise.sensitive_column, *ends), ends),
    }


def _orders(promise: Promise) -> list[Order]:
    return [
        (("swapped",), (*promise.quasi, promise.sensitive_column), False),
        (("windows",), (promise.sensitive_column,), True),
    ]


def _relations(promise: Promise) -> dict[str, exp.Select]:
    quasi = [column(name) for name in promise.quasi]
    one = exp.cast(exp.Literal.number(1), "INTEGER")
    counts = {"value": promise.sensitive_column, "n": promise.count}
    columns = [exp.alias_(column(name), alias) for alias, name in counts.items()]
    group = exp.alias_(one.copy(), promise.group, quoted=True)
    return {
        "qit": exp.select(*quasi, group).from_(named("swapped file")),
        "st": exp.select(exp.alias_(one, "grp"), *columns).from_(named("windows file")),
    }


def _readme(manifest: Manifest) -> str:
    promise = manifest.discreet
    swapped, windows = manifest.resource("swapped").pattern, manifest.resource("windows").pattern
    sensitive, count, low, high = map(quoted, (promise.sensitive_column, promise.count, *ends_of(promise)))
    window = promise.member(Window, "window")
    sized = f"k = {window.k}, e = {window.e}"
    return f"""A swapped table of {promise.rows} people. **It promises nothing**: swapping is a baseline for comparison, and some
people's own values may stand beside them. Do not publish it where a guarantee is wanted.

- `{swapped}`: one row per person, with the quasi-identifiers as they are and a value of {sensitive} that
  belongs to somebody near in rank: rows swapped values, two and two.
- `{windows}`: for each value how many rows show it, and between which ranks, counted from 1 in ascending
  order, the value lies that such a row really holds. Windows are sized to {sized}, which is no guarantee.

For any condition on the quasi-identifiers, bounds of the smallest value, in DuckDB: give the rows the least and the
largest different ranks that their windows allow, and look up the values of these. Other aggregates likewise.

```sql
WITH ranked AS (
  SELECT {sensitive} AS val, {low} AS low, {high} AS high, SUM({count}) OVER (ORDER BY {sensitive}) AS upto FROM '{windows}'
), shown AS (
  SELECT ranked.low, ranked.high, ROW_NUMBER() OVER (ORDER BY ranked.val) AS place
  FROM '{swapped}' AS swapped JOIN ranked ON swapped.{sensitive} = ranked.val WHERE TRUE
), bounds AS (
  SELECT place + MAX(low - place) OVER (ORDER BY place) AS least,
         place + MIN(high - place) OVER (ORDER BY place DESC) AS most
  FROM shown
)
SELECT MIN(below.val) AS low, MIN(above.val) AS high
FROM bounds ASOF JOIN ranked AS below ON bounds.least <= below.upto ASOF JOIN ranked AS above ON bounds.most <= above.upto;
```
"""  # noqa: E501, S608 - a text to read; names are quoted


def ends_of(promise: Promise) -> tuple[str, str]:
    """The columns that hold the ends of windows."""
    window = promise.member(Window, "window")
    return window.low, window.high


def _names(promise: Promise) -> Iterator[tuple[str, str]]:
    yield from zip(("low", "high"), ends_of(promise), strict=True)


def _faults(promise: Promise) -> Iterator[str]:
    """A swapped table promises nothing, and must not seem to; all its rows are one group."""
    if promise.guarantee or promise.partition != "none":
        yield "it states a guarantee or a partition, which a swapped table does not have"
    if promise.window is None or promise.window.k < 2 or promise.window.e < 0:
        yield "its `window` must have k of at least 2 and e of at least 0"


def _checks(engine: Engine, promise: Promise) -> Iterator[Check]:
    from discreet.release.verify.windows import swapped

    yield from swapped(engine, promise)


SWAP = Layout(
    _files,
    _orders,
    _relations,
    _readme,
    matching="swapped",
    promises=False,
    members=("window",),
    names=_names,
    faults=_faults,
    checks=_checks,
)
