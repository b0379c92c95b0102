"""What core questions run, spelled out: the tables made of the files, guards, and queries."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from discreet.answer.estimators import Estimator
from discreet.answer.matches import Counted, Matches
from discreet.answer.prepared import Prepared
from discreet.answer.sealed import Sealed
from discreet.release.layouts.file import named

FASTER = "-- asked of this release, a compiled pass computes the same in place of this query"


def spelled_out(sealed: Sealed, questions: Sequence[Prepared], matches: Matches, estimator: type[Estimator]) -> str:
    """The statements that make the tables of questions from the files, then the guards and the query of each."""
    tables = {name: table for each in questions for name, table in each.plan.tables.items()}
    statements = [
        exp.Create(this=named(name), kind="TABLE" if table.keep else "VIEW", expression=table.query.copy())
        for name, table in ({} if sealed.engine.carries else {**sealed.files(), **tables}).items()
    ]
    made = [f"{each.sql(dialect=sealed.engine.dialect, pretty=True)};" for each in (*sealed.engine.opened, *statements)]
    faster = isinstance(matches, Counted) and sealed.accelerator is not None and sealed.accelerator.pays
    for each in questions:
        guards = (
            f"-- not answered if this is above {guard.most:,}\n{query};"
            for guard, query in zip(each.plan.guards, each.guards, strict=True)
        )
        more = sealed.estimator(estimator).explain(sealed.asking(each, matches))
        made += [*guards, *[FASTER] * faster, f"{each.sql};", *more]
    return "\n".join(made)
