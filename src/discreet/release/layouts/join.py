"""Join: boxes that hold private and public rows alike, and the sensitive values of groups of them.

Source: Sacharidis et al. (TKDE 2010), section 3.2. Nothing says which rows are private.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlglot import exp

from discreet.release.layouts.file import File, column, link, named, quoted
from discreet.release.layouts.generalization import (
    LABELS,
    box,
    box_checks,
    box_faults,
    box_names,
    box_types,
    labelled,
    told_side,
)
from discreet.release.layouts.layout import Layout, Order, Tally
from discreet.release.manifest import Join, Manifest, Promise

if TYPE_CHECKING:
    from discreet.engines import Engine
    from discreet.release.verify.check import Check


def _files(promise: Promise) -> dict[str, File]:
    own, count = _group(promise), promise.count
    files = {
        "joined": File((*box(promise), promise.group, own), (promise.group, own), (link(own, "si"),)),
        "si": File((own, promise.sensitive_column, count), (own, count)),
    }
    return {**files, **({"labels": File(LABELS, ())} if labelled(promise) else {})}


def _orders(promise: Promise) -> list[Order]:
    own = _group(promise)
    orders = [(("joined",), (promise.group, own), False), (("si",), (own, promise.sensitive_column), True)]
    return [*orders, *([(("labels",), LABELS, True)] if labelled(promise) else [])]


def _relations(promise: Promise) -> dict[str, exp.Select]:
    """Groups of `qit` are those of rows, groups of `st` those of sensitive values."""
    own = _group(promise)
    rows = [column(name) for name in (*box(promise), promise.group, own)]
    counts = {"grp": own, "value": promise.sensitive_column, "n": promise.count}
    return {
        "qit": exp.select(*rows).from_(named("joined file")),
        "st": exp.select(*(exp.alias_(column(name), alias) for alias, name in counts.items())).from_(named("si file")),
    }


def _readme(manifest: Manifest) -> str:
    promise = manifest.discreet
    joined, si = manifest.resource("joined").pattern, manifest.resource("si").pattern
    own, sensitive, count = (quoted(name) for name in (_group(promise), promise.sensitive_column, promise.count))
    people = promise.member(Join, "join").people
    text = f"""A table about {people} people among {promise.rows}, with the guarantee {promise.told()}.

- `{joined}`: one row for each of {promise.rows} real people, with the box of the person's group: {", ".join(map(told_side, promise.boxes or ()))};
  and the group of sensitive values that may belong to somebody in it. The table is about {people} of these people;
  the others stand in a public table, and nothing says which is which.
- `{si}`: how often each {sensitive} occurs in each group of sensitive values.
"""  # noqa: E501
    if labelled(promise):
        text += f"- `{manifest.resource('labels').pattern}`: the values that each label stands for.\n"
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
    return promise.member(Join, "join").group


def _tally(promise: Promise) -> Tally:
    """The values of a `direct` join are one group, which k is not about."""
    join = promise.member(Join, "join")
    direct = join.variant == "direct"
    promised = {name: threshold for name, threshold in promise.guarantee.items() if not (direct and name == "k")}
    return Tally(join.people, join.groups, promised, apart=True)


def _names(promise: Promise) -> Iterator[tuple[str, str]]:
    yield "sensitive_group", _group(promise)
    yield from box_names(promise)


def _checks(engine: Engine, promise: Promise) -> Iterator[Check]:
    from discreet.release.verify.join import joined

    yield from joined(engine, promise)
    yield from box_checks(engine, promise)


JOIN = Layout(
    _files,
    _orders,
    _relations,
    _readme,
    matching="boxes",
    tally=_tally,
    members=("boxes", "join"),
    names=_names,
    types=box_types,
    faults=box_faults,
    checks=_checks,
)
