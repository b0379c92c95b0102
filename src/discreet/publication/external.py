"""The public table that a joined release draws on: which of its people are not in the private one.

Every person counts once. Rows of people who are in the private table too are not needed; where they
disagree with it, or where the public table lists somebody twice, the steward is warned: the promise
holds only if the public rows are real people, each listed once under the right identifier.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from discreet.errors import DiscreetWarning, InputError
from discreet.policy import Policy
from discreet.publication.axes import Axis, axis_of, present
from discreet.table import Table
from discreet.table.table import RELATION
from discreet.values.codes import encode
from discreet.values.columns import UNORDERED
from discreet.words import nearest

PLACE = "place in the table"
Warn: TypeAlias = Callable[[DiscreetWarning], None]


def joint_axes(table: Table, public: Table, policy: Policy, warn: Warn) -> list[Axis]:
    """The quasi-identifiers of all people: first the private rows, then those who are only in the public table."""
    _check_columns(table, public, policy)
    mine, key = _columns(table, policy, present(policy)), policy.join or ""
    _check_private(mine[key], key)
    theirs = _once(public, policy, warn)
    theirs = theirs.set_column(0, key, _as(theirs[key], mine[key].type, key))
    shared = pc.index_in(theirs[key], value_set=mine[key])
    _warn_of_difference(mine, theirs, shared, policy, warn)
    everyone = table.engine.run(table.select([key])).column(0)  # those who are withheld, too, are no strangers
    others = theirs.filter(pc.invert(pc.is_in(theirs[key], value_set=everyone)))
    if not len(others):
        warn(_doubt("nobody", "the public table has nobody who is not in the microdata: nobody is hidden by it"))
    found = []
    for name in policy.quasi:
        column = pa.chunked_array([*mine[name].chunks, *_as(others[name], mine[name].type, name).chunks])
        ordered = table[name].kind not in UNORDERED or name in policy.ordered
        found.append(axis_of(policy, name, encode(column), ordered=ordered))
    return found


def _columns(table: Table, policy: Policy, present_: str | None) -> pa.Table:
    names: Sequence[str] = [policy.join or "", *policy.quasi]
    return table.engine.run(table.select(names, present=present_))


def _check_columns(table: Table, public: Table, policy: Policy) -> None:
    names = public.names()
    for name in (policy.join or "", *policy.quasi):
        if name not in names:
            role = "the identifier" if name == policy.join else "the quasi-identifier"
            raise InputError(f"the public table has no column `{name}`, {role}", hint=nearest(name, names))
        ours, theirs = table[name], public[name]
        if ours.kind is None:
            raise InputError(f"the column `{name}` has the type {ours.type}, by which people cannot be looked up")
        if ours.kind != theirs.kind or (
            ours.kind == "timestamp" and (ours.type.tz is None) != (theirs.type.tz is None)
        ):
            raise InputError(
                f"the column `{name}` holds {ours.type} in the microdata and {theirs.type} in the public table",
                hint="give both the same type",
            )


def _check_private(identifiers: pa.ChunkedArray, name: str) -> None:
    """A person has one row, and an identifier: else somebody could count twice."""
    if identifiers.null_count:
        raise InputError(f"the identifier `{name}` is missing in some rows", hint="a join needs it in every row")
    if pc.count_distinct(identifiers).as_py() != len(identifiers):
        raise InputError(f"some people have several rows with the same `{name}`", hint="keep one row per person")


def _once(public: Table, policy: Policy, warn: Warn) -> pa.Table:
    """The rows of people who are listed under an identifier, each once."""
    found, key = _columns(public, policy, None), policy.join or ""
    column = exp.column(key, quoted=True)
    tally = exp.select(exp.Count(this=exp.Distinct(expressions=[column])), exp.Count(this=column.copy()))
    (distinct, named), *_ = (row.values() for row in public.engine.run(tally.from_(RELATION)).to_pylist())
    if named < len(found):
        warn(
            _doubt(
                "unnamed", f"the public table has rows without `{key}`; they are left out, since they may be anybody"
            )
        )
        found = found.filter(pc.is_valid(found[key]))
    if distinct < named:
        what = f"the public table lists some people twice under the same `{key}`; only the first row is used"
        warn(_doubt("twice", what))
        placed = found.append_column(PLACE, pa.array(np.arange(len(found))))
        found = found.take(placed.group_by(key).aggregate([(PLACE, "min")])[f"{PLACE}_min"])
    return found


def _warn_of_difference(mine: pa.Table, theirs: pa.Table, shared: pa.ChunkedArray, policy: Policy, warn: Warn) -> None:
    """Warn if the two tables tell different things about the same person."""
    both = pc.is_valid(shared)
    ours, yours = mine.take(shared.filter(both)), theirs.filter(both)
    for name in policy.quasi:
        one, other = ours[name], _as(yours[name], ours[name].type, name)
        same = pc.or_kleene(pc.equal(one, other), pc.and_(pc.is_null(one), pc.is_null(other)))
        if not pc.all(pc.fill_null(same, False)).as_py() and len(one):
            what = f"the public table disagrees with the microdata about `{name}` of some people; the microdata is used"
            warn(_doubt(name, what))


def _as(column: pa.ChunkedArray, kind: pa.DataType, name: str) -> pa.ChunkedArray:
    try:
        return column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(
            f"the public table has values of `{name}` that do not fit the type of the microdata, {kind}",
            hint="give both the same type",
        ) from None


def _doubt(about: str, message: str) -> DiscreetWarning:
    """A warning about the public table."""
    return DiscreetWarning(f"public.{about}", message)
