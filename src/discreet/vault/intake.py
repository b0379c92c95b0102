"""Look at new rows before a vault takes them in: columns, types, identifiers, missing values.

The first rows decide on the types. Later ones may hold whole numbers of another width, or where the vault has
fractions, if every value fits; nothing else is converted. Errors tell rows by their place, never by what they hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from discreet.errors import InputError, PolicyError
from discreet.policy import Policy
from discreet.table import Table
from discreet.table.table import RELATION
from discreet.values.columns import Column, is_ordered
from discreet.values.positions import positions
from discreet.vault.rows import keys
from discreet.vault.store.store import SENSITIVE, VaultStore
from discreet.words import counted


@dataclass(frozen=True, slots=True)
class Increment:
    """New rows whose columns are those of the vault; `withheld` more lack a sensitive value, and were left out."""

    rows: pa.Table
    keys: pa.ChunkedArray | None
    withheld: int

    @property
    def size(self) -> int:
        return int(self.rows.num_rows)


def kept(policy: Policy) -> tuple[str, ...]:
    """The columns that a vault keeps."""
    return (*told_apart(policy), *policy.quasi, policy.sensitive_column)


def told_apart(policy: Policy) -> tuple[str, ...]:
    """The columns by which people are told apart: the person, where one may have several rows."""
    return tuple(policy.identifiers) if policy.person is None else (policy.person,)


def quasi(policy: Policy, schema: pa.Schema) -> list[Column]:
    """The quasi-identifiers as the core sees them."""
    return [Column(name, schema.field(name).type) for name in policy.quasi]


def looked_at(table: Table, policy: Policy, schema: pa.Schema | None) -> Increment:
    """The rows of a table as a vault of this policy takes them; `schema` has the types of its rows, if it has any."""
    try:
        policy.fit([_known(column, schema) for column in table.columns], vault=True)
    except PolicyError as error:
        raise PolicyError(error.mistakes, source="the table, checked against the policy of the vault,") from None
    names = kept(policy)
    table.hold(names)
    found = table.engine.run(exp.select(*(exp.column(name, quoted=True) for name in names)).from_(RELATION))
    table.check_unchanged()
    if found.num_rows == 0:
        raise InputError("the table has no rows", hint="there is nothing to append")
    if schema is not None:
        columns = [_fitted(found.column(name), schema.field(name)) for name in names]
        found = pa.table(columns, schema=schema)
    present = pc.is_valid(found.column(policy.sensitive_column))
    withheld = found.num_rows - (pc.sum(present).as_py() or 0)
    if withheld and policy.missing_sensitive == "error":
        raise InputError(
            f"the sensitive column `{policy.sensitive}` has {counted(withheld, 'missing value')}",
            hint="fill them in, or append those rows later, when they are known",
        )
    named = _identified(found, told_apart(policy), once=policy.person is None)
    if not withheld or policy.missing_sensitive == "value":
        return Increment(found, named, 0)
    if withheld == found.num_rows:
        raise InputError(f"every value of the sensitive column `{policy.sensitive}` is missing")
    return Increment(found.filter(present), None if named is None else named.filter(present), withheld)


def _known(column: Column, schema: pa.Schema | None) -> Column:
    """A column of later rows; if nothing in it tells its type, with that of the rows before."""
    if schema is None or column.name not in schema.names or not pa.types.is_null(column.type):
        return column
    return Column(column.name, schema.field(column.name).type)


def _fitted(values: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    """A column in the type that the vault has for it."""
    kind = field.type
    if values.type == kind:
        return values
    roomy = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if values.null_count == len(values):
        return pa.chunked_array([pa.nulls(len(values), kind)])
    if roomy and pa.types.is_integer(values.type):
        try:
            return values.cast(kind)
        except pa.ArrowInvalid:
            raise InputError(
                f"the column `{field.name}` holds numbers that do not fit the vault's type, {kind}",
                hint="a vault keeps the types of its first rows",
            ) from None
    raise InputError(
        f"the column `{field.name}` holds {values.type}, expected {kind} as in the vault",
        hint="a vault keeps the types of its first rows: read the file into a frame with these types, and append that",
    )


def _identified(found: pa.Table, identifiers: Sequence[str], *, once: bool) -> pa.ChunkedArray | None:
    """The identifiers of the rows, each row with its own if a person has one row; those of its person else."""
    if not identifiers:
        return None
    named = keys([found.column(name) for name in identifiers])
    what = ", ".join(f"`{name}`" for name in identifiers)
    if named.null_count:
        first = int(pc.index(pc.is_null(named), pa.scalar(True)).as_py()) + 1
        raise InputError(
            f"{counted(named.null_count, 'row has', 'rows have')} no identifier ({what}){_at(named.null_count, first)}",
            hint="a vault takes in every person once: give every row its identifier"
            if once
            else "it cannot be known whose they are: fill it in, or leave those rows out",
        )
    distinct = len(named.unique())
    if once and distinct < len(named):
        again = len(named) - distinct
        first = _first_repeated(named) + 1
        raise InputError(
            f"{counted(again, 'row repeats', 'rows repeat')} the identifier ({what}) of an earlier row"
            f"{_at(again, first)}",
            hint="a vault takes in every person once: leave the repeated rows out",
        )
    return named


def _at(rows: int, first: int) -> str:
    return f": row {first:,}" if rows == 1 else f", the first of them row {first:,}"


def _first_repeated(named: pa.ChunkedArray) -> int:
    codes = named.combine_chunks().dictionary_encode().indices.to_numpy()
    first = np.zeros(codes.size, np.bool_)
    first[np.unique(codes, return_index=True)[1]] = True
    return int(np.argmin(first))


def check_unknown(increment: Increment, store: VaultStore, identifiers: Sequence[str]) -> None:
    """Raise if the vault has somebody of the increment already."""
    if increment.keys is not None and (taken := store.taken(increment.keys)):
        what = ", ".join(f"`{name}`" for name in identifiers)
        raise InputError(
            f"{taken:,} of {counted(increment.size, 'row')} {'has' if taken == 1 else 'have'} an identifier ({what})"
            " that is in the vault already",
            hint="append only rows that are new; a vault cannot yet correct or delete one",
        )


def check_lots(increment: Increment, store: VaultStore, person: str, lots: int) -> None:
    """Raise if somebody of the increment has been shown with as many lots as the promise allows."""
    if increment.keys is None or not (people := store.shown_in(increment.keys.unique(), lots)):
        return
    rows = pc.sum(pc.is_in(increment.keys, people)).as_py()
    often = "a release" if lots == 1 else f"{lots} releases, as many as `lots` allows,"
    whom = f"{counted(len(people), 'person who has', 'people who have')} rows in {often} already"
    raise InputError(
        f"{rows:,} of {counted(increment.size, 'row')} {'is' if rows == 1 else 'are'} of {whom} (told apart by"
        f" `{person}`)",
        hint="append the other rows: what was shown of these people and what is new would tell more together than is"
        " promised; a vault to which people come back is made with the option `lots`",
    )


def whose(keys: pa.ChunkedArray, points: npt.NDArray[np.float64], policy: Policy) -> npt.NDArray[np.int32]:
    """A number from 0 for the person of every row of a lot; raise if somebody's quasi-identifiers differ in it."""
    found = keys.combine_chunks().dictionary_encode()
    people: npt.NDArray[np.int32] = found.indices.to_numpy()
    first = np.unique(people, return_index=True)[1]
    unlike = ~((points == points[first][people]) | (np.isnan(points) & np.isnan(points[first][people])))
    told = [
        f"`{name}` differs from row to row of {counted(np.unique(people[unlike[:, at]]).size, 'person', 'people')}"
        for at, name in enumerate(policy.quasi)
        if unlike[:, at].any()
    ]
    if told:
        raise InputError(
            f"{'; '.join(told)} (told apart by `{policy.person}`), among the rows that no release has shown",
            hint="make it the same in all rows of a person that come between two releases, or begin a vault without it",
        )
    return people


def encoded(
    increment: Increment, store: VaultStore, policy: Policy
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """The points and sensitive codes of new rows; values that were never seen are given codes."""
    points = np.empty((increment.size, len(policy.quasi)), np.float64)
    for at, name in enumerate(policy.quasi):
        column = increment.rows.column(name)
        points[:, at] = positions(column, name) if is_ordered(column.type) else _coded(column, at, store)
    return points, _coded(increment.rows.column(policy.sensitive_column), SENSITIVE, store)


def _coded(column: pa.ChunkedArray, at: int, store: VaultStore) -> npt.NDArray[np.int64]:
    found = column.combine_chunks().dictionary_encode(null_encoding="encode")
    codes: npt.NDArray[np.int64] = store.codes(at, found.dictionary)[found.indices.to_numpy()]
    return codes
