"""Slicing: blocks of quasi-identifiers, each in a file of its own, and the table that counts values per group.

Inside a group, rows of a block are as they were, and nothing links those of two blocks. Anatomy is the case of one
block of all quasi-identifiers, full permutation that of single columns.
Source: Li, Li, Zhang and Molloy, "Slicing: a new approach for privacy preserving data publishing", TKDE 2012.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict
from sqlglot import exp

from discreet.release.layouts.file import File, column, link, named, quoted
from discreet.release.layouts.layout import Layout, Order
from discreet.release.manifest import Manifest, Promise
from discreet.values.names import fresh

if TYPE_CHECKING:
    pass


class Slicing(BaseModel):
    """The quasi-identifiers that are kept together: every one stands in one block."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    together: tuple[tuple[str, ...], ...]


def blocks(promise: Promise) -> tuple[tuple[str, ...], ...]:
    return promise.member(Slicing).together


def file_of(block: int) -> str:
    """The name of the file of a block, which are numbered from 0."""
    return f"block_{block + 1}"


def _files(promise: Promise) -> dict[str, File]:
    group, count = promise.group, promise.count
    files = {
        file_of(i): File((*block, group), (group,), (link(group, "st"),)) for i, block in enumerate(blocks(promise))
    }
    return {**files, "st": File((group, promise.sensitive_column, count), (group, count))}


def _orders(promise: Promise) -> list[Order]:
    rows: list[Order] = [((file_of(i),), (promise.group, *block), False) for i, block in enumerate(blocks(promise))]
    return [*rows, (("st",), (promise.group, promise.sensitive_column), True)]


def _relations(promise: Promise) -> dict[str, exp.Select]:
    """Rows of `qit` are put together by their places, which say nothing: each block is sorted by itself."""
    place, group = fresh("place", promise.columns), promise.group
    counts = {"grp": group, "value": promise.sensitive_column, "n": promise.count}
    st = exp.select(*(exp.alias_(column(name), alias) for alias, name in counts.items())).from_(named("st file"))
    shown = [column(name, file_of(i)) for i, block in enumerate(blocks(promise)) for name in block]
    order = {name: i for i, name in enumerate(promise.quasi)}
    qit = exp.select(*sorted(shown, key=lambda each: order[each.name]), column(group, file_of(0)))
    for i, block in enumerate(blocks(promise)):
        rows = _numbered(file_of(i), block, group, place).subquery(file_of(i))
        same = [exp.EQ(this=column(name, file_of(0)), expression=column(name, file_of(i))) for name in (group, place)]
        qit = qit.from_(rows) if i == 0 else qit.join(rows, on=exp.and_(*same))
    return {"qit": qit.order_by(column(group, file_of(0)), column(place, file_of(0))), "st": st}


def _numbered(file: str, block: tuple[str, ...], group: str, place: str) -> exp.Select:
    """The rows of a block with their places in their groups."""
    ascending = exp.Order(expressions=[exp.Ordered(this=column(name), nulls_first=False) for name in block])
    number = exp.Window(this=exp.RowNumber(), partition_by=[column(group)], order=ascending)
    rows = exp.select(*map(column, (*block, group)), exp.alias_(number, place, quoted=True))
    return rows.from_(named(f"{file} file"))


def _readme(manifest: Manifest) -> str:
    promise = manifest.discreet
    st, group, count = manifest.resource("st").pattern, quoted(promise.group), quoted(promise.count)
    sensitive, parts = quoted(promise.sensitive_column), range(1, len(blocks(promise)) + 1)
    paths = [manifest.resource(file_of(i - 1)).pattern for i in parts]
    files = "".join(
        f"- `{path}`: {', '.join(map(quoted, block))}, and the number of the group.\n"
        for path, block in zip(paths, blocks(promise), strict=True)
    )
    shares = ",\n".join(
        f"share_{i} AS (\n  SELECT {group} AS grp, AVG(CASE WHEN TRUE THEN 1.0 ELSE 0.0 END) AS share FROM '{path}' GROUP BY {group}\n)"  # noqa: E501, S608
        for i, path in zip(parts, paths, strict=True)
    )
    product = " * ".join(f"share_{i}.share" for i in parts)
    joins = "\n".join(f"JOIN share_{i} ON share_{i}.grp = held.grp" for i in parts)
    return f"""A sliced table of {promise.rows} people in {promise.groups} groups, with the guarantee {promise.told()}.

Each file of a block has as many rows as people. A row holds what one person of the group has in these columns; which
rows of two files belong to one person is not published, and their order says nothing of it.

{files}- `{st}`: how many people of each group hold each value of {sensitive}.

The expected number of people of each value, for a condition on each block in the place of its TRUE, in DuckDB or any
other SQL engine that reads the files. Inside a group the blocks are taken to be independent of each other.

```sql
WITH {shares}
SELECT held.{sensitive}, SUM(held.{count} * {product}) AS estimate
FROM (SELECT {group} AS grp, {sensitive}, {count} FROM '{st}') AS held
{joins}
GROUP BY held.{sensitive} ORDER BY estimate DESC;
```
"""  # noqa: S608 - a text to read; names are quoted


def _faults(promise: Promise) -> Iterator[str]:
    """Blocks must be the quasi-identifiers, each once, in the order of the table: no other order can hide in them."""
    order = {name: i for i, name in enumerate(promise.quasi)}
    names = [name for block in blocks(promise) for name in block]
    places = [[order.get(name, -1) for name in block] for block in blocks(promise)]
    if sorted(names) != sorted(promise.quasi) or places != sorted(map(sorted, places)):
        yield "its blocks are not its quasi-identifiers, each in one of them and in their order"


SLICING = Layout(
    _files,
    _orders,
    _relations,
    _readme,
    matching="margins",
    blocks=blocks,
    on_spark=False,
    member=Slicing,
    faults=_faults,
)
