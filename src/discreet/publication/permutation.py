"""Permutation: exact quasi-identifiers, each with a sensitive value drawn from its own group.

Source: Koudas et al., "Aggregate query answering on anonymized tables", ICDE 2007, definition 4.2.
Inside each group the sensitive values are shuffled uniformly, with words of their own. Rows are
numbered after they were sorted by group and by what they show. Cost: one sort of the table in the
engine. Claim: permutation_is_uniform — each row of a group is equally likely to get each of its values.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from sqlglot import exp

from discreet.publication.draft import Draft
from discreet.publication.publication import Publication
from discreet.release.layouts.file import link
from discreet.release.manifest import TableSpec
from discreet.release.rows import ascending, number, store_rows
from discreet.release.write import FileToWrite


def _files(draft: Draft) -> Sequence[FileToWrite]:
    """The permuted table, and the mapping of its rows to groups."""
    row, group, policy = number(draft.row), number(draft.group), draft.policy
    shown = (*map(draft.field, policy.quasi), *map(number, draft.persons), draft.field(policy.sensitive_column))
    permuted = TableSpec(fields=(row, *shown), foreign_keys=(link(draft.row, "mapping"),))
    return (
        FileToWrite("permuted", permuted, lambda path: _store_permuted(draft, path)),
        FileToWrite("mapping", TableSpec(fields=(row, group)), lambda path: _store_mapping(draft, path)),
    )


def _store_permuted(draft: Draft, path: Path) -> None:
    quasi, sensitive = (*draft.policy.quasi, *draft.persons), draft.policy.sensitive_column
    place = exp.alias_(exp.Window(this=exp.RowNumber()), draft.row, quoted=True)
    shown = [exp.column(name, quoted=True) for name in (*quasi, sensitive)]
    values = draft.sensitive.decode(shuffled(draft))
    with draft.rows([*draft.policy.quasi], also={**draft.persons, sensitive: values}) as rows:
        ordered = rows.order_by(*map(ascending, (draft.group, *quasi, sensitive))).subquery("rows in order")
        draft.table.engine.store(exp.select(place, *shown).from_(ordered), path)
    draft.table.check_unchanged()


def _store_mapping(draft: Draft, path: Path) -> None:
    sizes = draft.histograms.sizes
    groups = np.repeat(np.arange(1, sizes.size + 1, dtype=np.int32), sizes)
    store_rows(pa.table({draft.row: np.arange(1, groups.size + 1), draft.group: groups}), path)


def shuffled(draft: Draft) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """The code of the sensitive value that every row gets: each group's own, in a random order."""
    from discreet.partition.kernels import shuffle_by_value

    groups, sizes = draft.groups, draft.histograms.sizes
    given = np.empty_like(draft.sensitive.codes)
    owners = np.argsort(groups, kind="stable")
    given[owners] = draft.sensitive.codes[shuffle_by_value(groups, sizes, draft.secret.words(groups.size))]
    return given


PUBLICATION = Publication(_files, people=True, compared=("local",), ranges=("min_sum", "tightest"), numeric=True)
