"""What a steward should look at before a vault releases: the checks of `publish`, over all rows that would be shown.

Whoever holds a release of a vault can ask of it what can be asked of any other, so what `publish` refuses or warns of
is refused or warned of here, in the same words. What depends on the policy alone is said when the vault is made, too.
Nothing of it is written into a release.
Cost: every row that is shown is read once, in parts; then as of the checks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.errors import DiscreetWarning
from discreet.guarantees import Guarantee, Histograms
from discreet.policy import Policy
from discreet.publication.draft import Draft, Prepared
from discreet.publication.people import People
from discreet.table import read
from discreet.values.positions import values_at
from discreet.values.random import RandomSource
from discreet.vault.rows import KEY
from discreet.vault.store.store import SENSITIVE, VaultStore
from discreet.vault.terms import rule
from discreet.warnings.checks import BEFORE, OF_VALUES
from discreet.warnings.minimality import looked, unseen

BLIND = "let it cut without looking (leave options.cuts out),"


def of_policy(policy: Policy) -> Iterator[DiscreetWarning]:
    """What is doubtful whatever the rows are: how groups grow, and that they are cut by looking at values."""
    if policy.options.get("growth") == "insert":
        yield DiscreetWarning(
            "insert",
            'with growth = "insert" heads are not counted, and rows wait until those near them are diverse together:'
            " who knows everybody in a group, when each came and who had to wait can find out more than is promised",
            hint='leave growth out, or accept it in the policy: [accept] insert = "the reason"',
        )
    cuts = rule(policy).cuts
    if cuts == "fitted":
        yield from unseen(policy.grouping, policy.guarantee, BLIND)
    elif cuts == "least_loss" and policy.person is None:  # of people, groups are made without looking
        yield from looked("a vault looks", policy.guarantee)


def of_rows(store: VaultStore, policy: Policy, schema: pa.Schema) -> Iterator[DiscreetWarning]:
    """What is doubtful about the rows that the next release shows."""
    groups, rows = _shown(store, policy, schema)
    secret, people = RandomSource(), None if policy.person is None else _people(store, groups)
    with read(rows) as table:
        sensitive = table.codes(policy.sensitive_column)
        prepared = Prepared(table, policy, sensitive, Guarantee.of(policy.guarantee), secret, people=people)
        for check in BEFORE:
            yield from check(prepared)
        draft = Draft(table, policy, sensitive, groups, Histograms.of(groups, sensitive.codes), secret, people=people)
        for check_groups in OF_VALUES:
            yield from check_groups(draft)


def _shown(store: VaultStore, policy: Policy, schema: pa.Schema) -> tuple[npt.NDArray[np.int32], pa.Table]:
    """The group of every row that is shown, numbered from 0; and its columns, identifiers if they are several."""
    nodes, points, sensitive = store.members()
    columns = {}
    for at, column in enumerate(store.columns):
        if column.ordered:
            columns[column.name] = values_at(points[:, at], column.type)
        else:
            columns[column.name] = _coded(points[:, at], store.values(at, column.type))
    name = policy.sensitive_column
    columns[name] = _coded(sensitive, store.values(SENSITIVE, schema.field(name).type))
    if len(policy.identifiers) > 1:  # one alone cannot repeat in a vault
        columns |= _identifiers(store, policy)
    return np.unique(nodes, return_inverse=True)[1].astype(np.int32), pa.table(columns)


def _coded(codes: npt.NDArray[Any], values: pa.Array) -> pa.Array:
    """The values that have these codes; texts stand once."""
    if pa.types.is_string(values.type) and not values.null_count:
        return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), values)
    return values.take(pa.array(codes.astype(np.int64)))


def _people(store: VaultStore, groups: npt.NDArray[np.int32]) -> People:
    """Whose each row that is shown is; who comes back in another lot counts as somebody else, in a group of its own."""
    keys = store.member_keys().combine_chunks().dictionary_encode()
    pairs = groups.astype(np.int64) * len(keys.dictionary) + keys.indices.to_numpy()
    return People(np.unique(pairs, return_inverse=True)[1].astype(np.int32) + np.int32(1))


def _identifiers(store: VaultStore, policy: Policy) -> dict[str, pa.Array]:
    """Each identifier of the rows that are shown, out of the keys that they were joined to; whatever tells it apart."""
    parts = [f"i{number}" for number in range(len(policy.identifiers))]
    pattern = r"\|".join(f"(?P<{part}>{KEY})" for part in parts)
    found = pc.extract_regex(store.member_keys(), f"^{pattern}$")
    columns = {name: pc.struct_field(found, part) for name, part in zip(policy.identifiers, parts, strict=True)}
    return {name: pc.if_else(pc.equal(part, "\\0"), None, part) for name, part in columns.items()}
