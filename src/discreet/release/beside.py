"""What a release in a server has beside its tables, so that no question has to compute it anew.

Which groups hold the same values, and which values these are (`signatures` and `signature_values` of
`answer/plan/base_tables.py`), and these values in order and added up (`answer/plan/kept.py`): made of the tables when
these are, and of nothing else.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from discreet.engines import session_in
from discreet.errors import VerificationError
from discreet.release.layouts import layout_of
from discreet.release.manifest import Manifest
from discreet.values.codes import encode

if TYPE_CHECKING:
    from discreet.engines.postgres import Postgres
    from discreet.engines.postgres.store import Stored

Ints: TypeAlias = npt.NDArray[np.int32]
BESIDE = {"signatures": "discreet_signatures", "signature_values": "discreet_signature_values"}
KEPT = {name: f"discreet_{name}" for name in ("signature_arrays", "signature_sums", "signature_squares")}


def prepare(connection: Any, schema: str, manifest: Manifest, held: pa.Table | None = None) -> None:
    """Lay down beside the tables what every question would compute of them anew: groups with the same values.

    Of the rows of `st`, where these are `held` here, ordered by group and value, or of the tables.
    """
    from discreet.answer.plan.base_tables import base, describe, made_of
    from discreet.answer.plan.kept import looked_up, made
    from discreet.answer.plan.sql import piece

    promise = manifest.discreet
    relations = base(layout_of(promise).relations(promise))
    if promise.sensitive is None or not {"qit", "st"} <= relations.keys():
        return
    engine = session_in(connection, tables_of(schema, manifest))
    if held is not None:
        for name, rows in signatures(held).items():
            engine.put(schema, BESIDE[name], rows)
        of_values = held.schema.field(1).type
    else:
        for name, relation in relations.items():
            engine.load(name, relation.query, keep=relation.keep)
        statistics = describe(engine, relations, promise)
        for name, relation in made_of(statistics).items():
            if name in BESIDE:
                engine.create(schema, BESIDE[name], relation.query)
            else:
                engine.keep(name, relation.query)
        of_values = statistics.types[promise.sensitive]
    engine = _session(connection, schema, manifest, BESIDE.values())
    queries = made(engine, of_values)
    for name, query in queries.items():
        engine.create(schema, KEPT[name], query)
    if queries:
        kept = looked_up(engine, queries)
        tables = {KEPT[name]: "signature" for name in queries} if kept.own else {BESIDE["signatures"]: "grp"}
        for table, group in tables.items():
            engine.count(schema, table, piece(kept.first(group)))


def signatures(held: pa.Table) -> dict[str, pa.Table]:
    """What `made_of` has queries for, of groups, their values in order, and how many rows hold each.

    Which groups have the same values is found exactly, by comparing all of them. Cost: a sort of the groups.
    """
    from discreet.answer.plan.base_tables import ALIKE, LOOKED_AT, SAMPLE

    groups, times = (held.column(i).to_numpy().astype(np.int32) for i in (0, 2))
    starts = np.flatnonzero(np.diff(groups, prepend=0))
    own, sizes = groups[starts], np.add.reduceat(times, starts)
    looked_at = min(own.size, SAMPLE)
    alike = looked_at * int(sizes.sum()) <= LOOKED_AT * own.size
    numbers = own
    if alike:
        found = _same(encode(held.column(1)).codes, times, starts)
        alike = looked_at >= ALIKE * np.unique(found[:looked_at]).size
        numbers = found if alike else own
    first = np.zeros(own.size, np.bool_)
    first[np.unique(numbers, return_index=True)[1]] = True
    widths = np.diff(starts, append=groups.size)
    shown, of_entries = np.repeat(first, widths), np.repeat(numbers, widths)
    below = np.cumsum(times, dtype=np.int64) - times
    below -= np.repeat(below[starts], widths)
    columns = {"signature": of_entries, "value": held.column(1), "n": times, "below": below.astype(np.int32)}
    return {
        "signatures": pa.table({"grp": own, "size": sizes.astype(np.int32), "signature": numbers}),
        "signature_values": pa.table(columns).filter(pa.array(shown)),
    }


def _same(codes: npt.NDArray[np.int32], times: npt.NDArray[np.int32], starts: npt.NDArray[np.int64]) -> Ints:
    """A number of every group from 1, the same where groups hold the same values equally often."""
    numbers, last, widths = np.empty(starts.size, np.int32), 1, np.diff(starts, append=codes.size)
    for width in np.unique(widths):
        of_width = np.flatnonzero(widths == width)
        at = starts[of_width, None] + np.arange(width)
        rows = np.ascontiguousarray(np.concatenate([codes[at], times[at]], axis=1))
        whole = rows.view(np.dtype((np.void, rows.shape[1] * rows.itemsize))).ravel()
        different, same = np.unique(whole, return_inverse=True)
        numbers[of_width] = same + last
        last += different.size
    return numbers


def prepared(schema: str, tables: Collection[str]) -> dict[str, tuple[str, str]]:
    """Such tables of a schema, by the names that questions have for them; older releases have fewer, or none."""
    if not {*BESIDE.values()} <= {*tables}:
        return {}
    return {name: (schema, table) for name, table in {**BESIDE, **KEPT}.items() if table in tables}


def tables_of(schema: str, manifest: Manifest) -> dict[str, tuple[str, str]]:
    """The tables of a release, by the names that its layout has for files."""
    return {f"{each.name} file": (schema, each.name) for each in manifest.resources}


def check_prepared(stored: Stored, manifest: Manifest) -> None:
    """Raise unless what was laid down beside the tables for questions says what they say."""
    from discreet.answer.plan.kept import made

    beside = prepared(stored.schema, stored.tables())
    if not beside:
        return
    engine = _session(stored.connection, stored.schema, manifest, stored.tables())
    told = exp.select("s.grp", "v.value", "CAST(v.n AS BIGINT)", "v.below", "s.size").from_("signatures AS s")
    told = told.join("signature_values AS v", on="s.signature = v.signature")
    below = "SUM(n) OVER (PARTITION BY grp ORDER BY value NULLS LAST ROWS UNBOUNDED PRECEDING) - n"
    meant = exp.select("grp", "value", "CAST(n AS BIGINT)", below, "SUM(n) OVER (PARTITION BY grp)").from_("st")
    pairs: list[tuple[exp.Select, exp.Expr]] = [(told, meant)]
    if any(name in beside for name in KEPT):
        made_again = made(engine, engine.schema("signature_values").field("value").type)
        if {*made_again} != beside.keys() & KEPT.keys():
            raise _unfit(stored)
        pairs += [(exp.select("*").from_(name), query) for name, query in made_again.items()]
    for pair in pairs:
        for one, other in (pair, pair[::-1]):
            apart = exp.Except(this=_whole(one), expression=_whole(other), distinct=False)
            if engine.run(exp.select("COUNT(*)").from_(exp.Subquery(this=apart, alias="apart"))).column(0)[0].as_py():
                raise _unfit(stored)


def _session(connection: Any, schema: str, manifest: Manifest, tables: Collection[str]) -> Postgres:
    """A session that knows the tables of a release, those beside them, and the relations that its layout has."""
    engine = session_in(connection, {**tables_of(schema, manifest), **prepared(schema, tables)})
    for name, relation in layout_of(manifest.discreet).relations(manifest.discreet).items():
        engine.load(name, relation, keep=False)
    return engine


def _whole(query: exp.Expr) -> exp.Select:
    """A query that may be sorted, as one side of another."""
    return exp.select("*").from_(exp.Subquery(this=query.copy(), alias="each"))


def _unfit(stored: Stored) -> VerificationError:
    return VerificationError(
        f"what the release `{stored.schema}` has in the database to answer questions does not fit its rows",
        hint="drop the schema, and load the release again",
    )
