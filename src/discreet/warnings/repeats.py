"""An identifier that repeats though all together do not: perhaps it tells people apart, and these have several rows.

Beside the number of a visit, the number of a patient never repeats, and every visit would be taken for a person.
Cost: one pass over the identifiers in the engine, where there are several.
Claim: repeats_are_found — every identifier of several that stands in two rows is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from discreet.errors import DiscreetWarning
from discreet.publication.axes import present
from discreet.values.toml import as_toml

if TYPE_CHECKING:
    from discreet.policy import Policy
    from discreet.publication.draft import Prepared


def repeats(prepared: Prepared) -> Iterator[DiscreetWarning]:
    """A warning for each of several identifiers that repeats by itself; one that is the only one may not."""
    policy, table = prepared.policy, prepared.table
    if policy.person is not None or len(policy.identifiers) < 2:
        return
    columns = [exp.column(name, quoted=True) for name in policy.identifiers]
    counts = [
        figure
        for column in columns
        for figure in (exp.Count(this=column.copy()), exp.Count(this=exp.Distinct(expressions=[column.copy()])))
    ]
    rows = table.select(policy.identifiers, present=present(policy)).subquery("rows")
    found = [int(column[0].as_py()) for column in table.engine.run(exp.select(*counts).from_(rows)).columns]
    yield from repeating(policy, found[::2], found[1::2])


def repeating(policy: Policy, rows: Sequence[int], values: Sequence[int]) -> Iterator[DiscreetWarning]:
    """The same of identifiers of which is known how many rows have one, and how many different ones there are."""
    for name, there, different in zip(policy.identifiers, rows, values, strict=True):
        if different < there:
            others = [other for other in policy.identifiers if other != name]
            yield DiscreetWarning(
                f"repeats.{name}",
                f"`{name}` has {different:,} different values in {there:,} rows; only together with the other"
                " identifiers does it tell all rows apart, and every row is taken for a person",
                hint=f"if it tells people apart, write two lines: person = {as_toml(name)} and identifiers ="
                f" {as_toml(others)}; if different people share it, like a surname, accept"
                f" `repeats.{name}` with that reason, or list it in `drop`",
                refuses=True,
            )
