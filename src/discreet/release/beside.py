"""What a release in a server has beside its tables, so that no question has to compute it anew.

Which groups hold the same values, and which values these are (`signatures` and `signature_values` of
`answer/plan/base_tables.py`): made of the tables when these are, and of nothing else.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from discreet.engines import session_in
from discreet.errors import VerificationError
from discreet.release.layouts import layout_of
from discreet.release.manifest import Manifest

if TYPE_CHECKING:
    from discreet.engines.postgres.store import Stored

BESIDE = {"signatures": "discreet_signatures", "signature_values": "discreet_signature_values"}


def prepare(connection: Any, schema: str, manifest: Manifest) -> None:
    """Lay down beside the tables what every question would compute of them anew: groups with the same values."""
    from discreet.answer.plan.base_tables import base, describe, made_of

    promise = manifest.discreet
    relations = base(layout_of(promise).relations(promise))
    if promise.sensitive is None or not {"qit", "st"} <= relations.keys():
        return
    engine = session_in(connection, tables_of(schema, manifest))
    for name, relation in relations.items():
        engine.load(name, relation.query, keep=relation.keep)
    for name, relation in made_of(describe(engine, relations, promise)).items():
        if name in BESIDE:
            engine.create(schema, BESIDE[name], relation.query)
        else:
            engine.keep(name, relation.query)


def prepared(schema: str, tables: Collection[str]) -> dict[str, tuple[str, str]]:
    """Such tables of a schema, by the names that questions have for them."""
    return {name: (schema, table) for name, table in BESIDE.items() if {*BESIDE.values()} <= {*tables}}


def tables_of(schema: str, manifest: Manifest) -> dict[str, tuple[str, str]]:
    """The tables of a release, by the names that its layout has for files."""
    return {f"{each.name} file": (schema, each.name) for each in manifest.resources}


def check_prepared(stored: Stored, manifest: Manifest) -> None:
    """Raise unless what was laid down beside the tables for questions says what they say."""
    beside, promise = prepared(stored.schema, stored.tables()), manifest.discreet
    if not beside:
        return
    engine = session_in(stored.connection, {**tables_of(stored.schema, manifest), **beside})
    for name, relation in layout_of(promise).relations(promise).items():
        engine.load(name, relation, keep=False)
    told = exp.select("s.grp", "v.value", "CAST(v.n AS BIGINT)", "v.below", "s.size").from_("signatures AS s")
    told = told.join("signature_values AS v", on="s.signature = v.signature")
    below = "SUM(n) OVER (PARTITION BY grp ORDER BY value NULLS LAST ROWS UNBOUNDED PRECEDING) - n"
    meant = exp.select("grp", "value", "CAST(n AS BIGINT)", below, "SUM(n) OVER (PARTITION BY grp)").from_("st")
    for one, other in ((told, meant), (meant, told)):
        apart = exp.Except(this=one.copy(), expression=other.copy(), distinct=False)
        if engine.run(exp.select("COUNT(*)").from_(exp.Subquery(this=apart, alias="apart"))).column(0)[0].as_py():
            raise VerificationError(
                f"what the release `{stored.schema}` has in the database to answer questions does not fit its rows",
                hint="drop the schema, and load the release again",
            )
